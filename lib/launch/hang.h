/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A node that is lost before a fence: which others wait for ever, and the settings of
 * Slurm that end their wait.
 */
#pragma once

#include "launch/fence.h"

/* A fence without one of its nodes. */
struct fab_hang {
	const char *fence;
	/* Of the others, over the nodes that may be lost: those that never end, and
	 * those that wait for the lost one itself, where a trace shows it. */
	uint32_t waiting_least, waiting_most, direct_least, direct_most;
	/* Messages that are still sent before all is silent, as a share of all. */
	double sent_least, sent_most;
};
/*
 * Follow a fence without each of its nodes, or without 64 of them, evenly spread: a node
 * sends the messages of a step when it has received all of earlier steps. Errors: those
 * of fab_fence_plan_make(). O(64 (messages + nodes)), of a ring O(64 nodes).
 */
int fab_hang_find(struct fab_arena *memory, struct fab_fence_chosen fence,
		  const struct fab_fence_job *job, struct fab_hang *out,
		  struct fab_err *err) FAB_MUST_CHECK;

/* A setting that has to do with a lost node, as slurm.conf(5) and mpi.conf(5) of Slurm
 * 22.05 describe it. */
struct fab_hang_setting {
	const char *setting, *file;
	double seconds; /* by the constants; NaN: no time */
	const char *effect;
	bool ends; /* it ends a fence that waits for a lost node */
};
enum { FAB_N_HANG_SETTINGS = 9 };
/* Seconds from the loss until the wait ends: by PMIxTimeout, or by SlurmdTimeout after
 * none to a third of it between two pings; INFINITY: both are 0. O(1). */
void fab_hang_settings(const struct fab_launch_params *params,
		       struct fab_hang_setting out[FAB_N_HANG_SETTINGS], double *least_s,
		       double *most_s);
