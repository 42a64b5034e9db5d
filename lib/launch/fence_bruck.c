/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dissemination (Bruck, Ho, Kipnis, Upfal, Weathersby 1997): a node that has the blocks
 * of itself and the nodes behind it gets as many again from the first one that it lacks.
 * Where the number of nodes is no power of two, one step is less than a doubling: the
 * last one, or each a little.
 */
#include <math.h>

#include "launch/fence.h"

static uint32_t n_steps(uint32_t n)
{
	return n > 1 ? 32 - (uint32_t)__builtin_clz(n - 1) : 0;
}

/* Blocks that a node has before a step: powers of two up to N. */
static uint32_t doubled(uint32_t n, uint32_t step)
{
	return step < n_steps(n) ? 1u << step : n;
}

/* The same by halves of N, rounded up, from the end. */
static uint32_t halved(uint32_t n, uint32_t step)
{
	uint32_t part = 1u << (n_steps(n) - step);

	return n / part + (n % part != 0);
}

static void add_steps(uint32_t n, uint32_t (*had)(uint32_t n, uint32_t step),
		      struct fab_fence_plan *out)
{
	out->n_steps = n_steps(n);
	FAB_RESERVE(&out->messages, (size_t)n * out->n_steps);
	for (uint32_t step = 0; step < out->n_steps; step++) {
		uint32_t far = had(n, step), more = had(n, step + 1) - far;

		for (uint32_t i = 0; i < n; i++)
			FAB_PUSH(&out->messages,
				 ((struct fab_fence_message){.step = step,
							     .from = i,
							     .to = i < far ? i + n - far
									   : i - far,
							     .first = i,
							     .n_blocks = more}));
	}
}

static void plan(const struct fab_fence_job *job, uint32_t width,
		 struct fab_fence_plan *out)
{
	(void)width;
	add_steps(job->n_nodes, doubled, out);
}

static void plan_even(const struct fab_fence_job *job, uint32_t width,
		      struct fab_fence_plan *out)
{
	(void)width;
	add_steps(job->n_nodes, halved, out);
}

static double model_us(const struct fab_fence_job *job)
{
	const struct fab_launch_costs *c = &job->costs;

	return n_steps(job->n_nodes) * (2 * c->o_us + c->L_us) +
	       (job->n_nodes - 1.0) * (double)job->bytes * (c->G_ns + c->C_ns) / 1e3;
}

const struct fab_fence_algorithm fab_fence_bruck = {
	.form = "bruck",
	.summary = "twice as many blocks each step, the rest in the last one",
	.manual =
		"Each node sends all it has, 1, 2, 4 ... blocks, so many nodes back; the "
		"last step is for the rest: the fewest steps there can be.",
	.is_in_all = true,
	.plan = plan,
	.model_us = model_us,
};

const struct fab_fence_algorithm fab_fence_bruck_even = {
	.form = "bruck-even",
	.summary = "the same, with the rest spread over all steps",
	.manual = "As `bruck`, but where N is no power of two each step is a little less "
		  "than a doubling: N / 2, N / 4 ... blocks, counted from the last step.",
	.plan = plan_even,
	.model_us = model_us,
};
