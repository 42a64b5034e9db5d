/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recursive doubling (Thakur, Rabenseifner, Gropp 2005): partners whose numbers differ in
 * one bit swap all they have. Of a number of nodes that is no power of two, the first
 * ones make pairs, of which one gives its block to the other before and gets all after.
 */
#include "launch/fence.h"

/* A pair counts as one among `pow`; its blocks lie side by side. */
static uint32_t start(uint32_t rest, uint32_t v)
{
	return v < rest ? 2 * v : v + rest;
}

static void add(struct fab_fence_plan *out, uint32_t from, uint32_t to, uint32_t first,
		uint32_t n_blocks)
{
	FAB_PUSH(&out->messages,
		 ((struct fab_fence_message){out->n_steps, from, to, first, n_blocks}));
}

static void plan(const struct fab_fence_job *job, uint32_t width,
		 struct fab_fence_plan *out)
{
	uint32_t n = job->n_nodes, pow = 1u << (31 - (uint32_t)__builtin_clz(n));
	uint32_t rest = n - pow;

	(void)width;
	for (uint32_t i = 0; i < rest; i++)
		add(out, 2 * i + 1, 2 * i, 2 * i + 1, 1);
	out->n_steps += rest > 0;
	for (uint32_t bit = 1; bit < pow; bit *= 2, out->n_steps++)
		for (uint32_t v = 0; v < pow; v++) {
			uint32_t low = v & ~(bit - 1), first = start(rest, low);

			add(out, start(rest, v), start(rest, v ^ bit), first,
			    start(rest, low + bit) - first);
		}
	for (uint32_t i = 0; i < rest; i++)
		add(out, 2 * i, 2 * i + 1, 0, n);
	out->n_steps += rest > 0;
}

const struct fab_fence_algorithm fab_fence_recdbl = {
	.form = "recdbl",
	.summary = "partners swap all they have",
	.manual = "Recursive doubling: partners swap what they have, 1, 2, 4 ... blocks. "
		  "Where N is no power of two, nodes in pairs do that as one: two steps "
		  "more.",
	.is_in_all = true,
	.plan = plan,
};
