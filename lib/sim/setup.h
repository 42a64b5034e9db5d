/* SPDX-License-Identifier: BSD-2-Clause */
/* Beginning and end of a run. */
#pragma once

#include "sim/state.h"

/* Nothing has happened yet. The caller ends *s, also after an error; the rest is
 * borrowed. O(ports * lanes + queues). */
int sim_setup(struct sim *s, const struct fab_sim_problem *problem,
	      const struct fab_sim_params *params, const struct fab_messages *messages,
	      struct fab_err *err) FAB_MUST_CHECK;
void sim_fini(struct sim *s);

/* Add up what the parts counted. O(ports * lanes + parts). */
void sim_results(struct sim *s, struct fab_sim_result *result);

/* The first packets hop by hop: result->trace. O(steps log steps). */
void sim_take_trace(const struct sim *s, struct fab_sim_result *result);

/* What can never move again: result->cycle, stuck_packets, stuck_channels,
 * is_deadlocked. O(cells + ports * lanes). */
void sim_find_deadlock(const struct sim *s, struct fab_sim_result *result);
