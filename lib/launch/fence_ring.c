/* SPDX-License-Identifier: BSD-2-Clause */
/* Each node hands the block on that came last, all around. */
#include "launch/fence.h"

static void plan(const struct fab_fence_job *job, uint32_t width,
		 struct fab_fence_plan *out)
{
	uint32_t n = job->n_nodes;

	(void)width;
	out->n_repeats = out->n_steps = n - 1;
	for (uint32_t i = 0; n > 1 && i < n; i++)
		FAB_PUSH(&out->messages,
			 ((struct fab_fence_message){.from = i,
						     .to = i + 1 < n ? i + 1 : 0,
						     .first = i,
						     .n_blocks = 1}));
}

static double model_us(const struct fab_fence_job *job)
{
	const struct fab_launch_costs *c = &job->costs;

	return (job->n_nodes - 1.0) *
	       (2 * c->o_us + c->L_us + (double)job->bytes * (c->G_ns + c->C_ns) / 1e3);
}

const struct fab_fence_algorithm fab_fence_ring = {
	.form = "ring",
	.summary = "blocks from neighbour to neighbour, N - 1 steps",
	.manual = "Each node hands on to the next one what it got last: N \\- 1 steps of "
		  "one block, as Slurm does to collect data.",
	.is_in_all = true,
	.plan = plan,
	.model_us = model_us,
};
