/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FULB-MC from another root (Chen et al. 2022 leave room for it): of the candidates those
 * with the least mean distance to the members, of these the one used least often.
 */
#include "mcast/engines.h"

#include "base/mem.h"
#include "mcast/choose.h"

#include <stdlib.h>
#include <string.h>

struct scratch {
	uint64_t *nearest;  /* candidates with the least sum, a bit each */
	uint32_t *sw, *sum; /* [n_switches] candidates, their hops to all members */
};

static void *scratch_new(const struct fab_mcast_problem *problem)
{
	struct scratch *x = FAB_NEW0(1, struct scratch);

	x->nearest = FAB_NEW(fab_dist_stride(problem->dist) / 64, uint64_t);
	x->sw = FAB_NEW(problem->f->n_switches, uint32_t);
	x->sum = FAB_NEW(problem->f->n_switches, uint32_t);
	return x;
}

static void scratch_free(void *scratch)
{
	struct scratch *x = scratch;

	free(x->nearest);
	free(x->sw);
	free(x->sum);
	free(x);
}

static uint32_t list(struct scratch *x, const uint64_t *bits, size_t words)
{
	uint32_t n = 0;

	for (size_t w = 0; w < words; w++)
		for (uint64_t left = bits[w]; left; left &= left - 1)
			x->sw[n++] = (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left);
	return n;
}

static uint32_t choose_root(struct fab_mcast_state *s, const struct fab_roots *roots,
			    uint32_t group)
{
	const struct fab_groups *g = s->problem->groups;
	struct scratch *x = s->scratch;
	uint32_t n = list(x, fab_roots_bits(roots, group), roots->words);
	uint32_t least = UINT32_MAX;

	memset(x->sum, 0, n * sizeof(*x->sum));
	for (uint64_t m = g->sw_first[group]; m < g->sw_first[group + 1]; m++) {
		const uint8_t *row = fab_dist_row(s->problem->dist, g->sw[m]);

		for (uint32_t i = 0; i < n; i++)
			x->sum[i] += row[x->sw[i]];
	}
	for (uint32_t i = 0; i < n; i++)
		least = x->sum[i] < least ? x->sum[i] : least;
	memset(x->nearest, 0, roots->words * sizeof(*x->nearest));
	for (uint32_t i = 0; i < n; i++)
		if (x->sum[i] == least)
			x->nearest[x->sw[i] / 64] |= (uint64_t)1 << x->sw[i] % 64;
	return fab_root_choose(x->nearest, roots->words, FAB_TIES_SPREAD, s->root_use);
}

static void grow(struct fab_mcast_state *s, uint32_t group)
{
	fab_mcast_fulb.grow(s, group);
}

const struct fab_mcast_engine fab_mcast_fulb_mean = {
	.name = "fulb-mean",
	.summary = "fulb from the root of least mean distance",
	.manual = "As `fulb`, but the root is one of the candidates with the least "
		  "mean distance to the members: trees have fewer cables where these "
		  "differ, and fewer roots share all groups.",
	.scratch_new = scratch_new,
	.scratch_free = scratch_free,
	.choose_root = choose_root,
	.grow = grow,
};
