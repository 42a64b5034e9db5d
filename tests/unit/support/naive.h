/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What sim/sim.h says, done the plain way: every tick, every output, lists that are
 * searched from the beginning. Nothing of lib/sim is used but its parameters.
 */
#pragma once

#include "base/mem.h"
#include "sim/sim.h"

struct naive_result {
	FAB_VEC(struct fab_sim_step) starts; /* copies have the number of their packet */
	FAB_VEC(struct fab_sim_delivery) deliveries;
	uint64_t lost, dropped;
	uint64_t idle; /* ticks of packets that could have started and did not */
};

/* All ticks before `end`. */
void naive_run(const struct fab_sim_problem *problem, const struct fab_sim_params *params,
	       const struct fab_messages *messages, uint64_t end,
	       struct naive_result *result);
void naive_fini(struct naive_result *result);
