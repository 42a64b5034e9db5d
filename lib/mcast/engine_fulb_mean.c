/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FULB-MC from another root (Chen et al. 2022 leave room for it): of the candidates those
 * with the least mean distance to the members, of these the one used least often.
 */
#include "mcast/engines.h"

#include "base/mem.h"
#include "mcast/choose.h"
#include "mcast/grow.h"

#include <stdlib.h>
#include <string.h>

/* Rows of distances are added whole where one switch in so many is a candidate. */
enum { DENSE = 32 };

struct scratch {
	uint64_t *nearest; /* candidates with the least sum, a bit each */
	uint32_t *sw;	   /* [n_switches] candidates */
	uint32_t *sum;	   /* [stride of rows] hops of each to all members */
};

static void *scratch_new(const struct fab_mcast_problem *problem)
{
	struct scratch *x = FAB_NEW0(1, struct scratch);

	size_t stride = fab_dist_stride(problem->dist);

	x->nearest = FAB_NEW(stride / 64, uint64_t);
	x->sw = FAB_NEW(problem->f->n_switches, uint32_t);
	x->sum = FAB_NEW(stride, uint32_t);
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

/* The candidates to sw[]; how many. */
static uint32_t list(uint32_t *sw, const uint64_t *bits, size_t words)
{
	uint32_t n = 0;

	for (size_t w = 0; w < words; w++)
		for (uint64_t left = bits[w]; left; left &= left - 1)
			sw[n++] = (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left);
	return n;
}

FAB_WIDE static void add_row(uint32_t *restrict sum, const uint8_t *restrict row,
			     size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum[i] += row[i];
}

/* Hops from each of n candidates to all members of the group together. */
static void add_hops(const struct fab_mcast_problem *p, uint32_t group, struct scratch *x,
		     uint32_t n)
{
	const struct fab_groups *g = p->groups;
	size_t stride = fab_dist_stride(p->dist);
	bool is_dense = n > stride / DENSE;

	if (is_dense)
		memset(x->sum, 0, stride * sizeof(*x->sum));
	for (uint32_t i = 0; i < n && !is_dense; i++)
		x->sum[x->sw[i]] = 0;
	for (uint64_t m = g->sw_first[group]; m < g->sw_first[group + 1]; m++) {
		const uint8_t *row = fab_dist_row(p->dist, g->sw[m]);

		if (is_dense)
			add_row(x->sum, row, stride);
		for (uint32_t i = 0; i < n && !is_dense; i++)
			x->sum[x->sw[i]] += row[x->sw[i]];
	}
}

static uint32_t choose_root(struct fab_mcast_state *s, const struct fab_roots *roots,
			    uint32_t group)
{
	struct scratch *x = s->scratch;
	uint32_t n = list(x->sw, fab_roots_bits(roots, group), roots->words);
	uint32_t least = UINT32_MAX;

	add_hops(s->problem, group, x, n);
	for (uint32_t i = 0; i < n; i++)
		least = x->sum[x->sw[i]] < least ? x->sum[x->sw[i]] : least;
	memset(x->nearest, 0, roots->words * sizeof(*x->nearest));
	for (uint32_t i = 0; i < n; i++)
		if (x->sum[x->sw[i]] == least)
			x->nearest[x->sw[i] / 64] |= (uint64_t)1 << x->sw[i] % 64;
	return fab_root_choose(x->nearest, roots->words, FAB_TIES_SPREAD, s->root_use);
}

/* Candidates of a group, and what is known of switches: at[sw] == set: all of these are
 * as far from it. */
struct distances {
	const uint64_t *bits;
	uint32_t set, n;
	uint32_t *at, *sw;
};

static bool is_as_far(struct distances *d, const uint8_t *row, uint32_t sw)
{
	if (d->at[sw] == d->set)
		return true;
	for (uint32_t i = 1; i < d->n; i++)
		if (row[d->sw[i]] != row[d->sw[0]])
			return false;
	d->at[sw] = d->set;
	return true;
}

/* Are all candidates of a group as far from each member? */
static bool are_as_far(const struct fab_mcast_problem *p, const struct fab_roots *roots,
		       struct distances *d, uint32_t group)
{
	const uint64_t *bits = fab_roots_bits(roots, group);
	size_t words = roots->words;

	if (!d->bits || memcmp(bits, d->bits, words * sizeof(*bits)) != 0) {
		d->n = list(d->sw, bits, words);
		d->set++;
	}
	d->bits = bits;
	for (uint64_t m = p->groups->sw_first[group]; m < p->groups->sw_first[group + 1];
	     m++)
		if (!is_as_far(d, fab_dist_row(p->dist, p->groups->sw[m]),
			       p->groups->sw[m]))
			return false;
	return true;
}

/* Where all candidates are as far from each member, as in a fat tree, its trees are those
 * of fulb. */
static bool differs(const struct fab_mcast_problem *p, int n_threads)
{
	struct distances d = {0};
	bool is_other = false;

	d.at = FAB_NEW0(p->f->n_switches, uint32_t);
	d.sw = FAB_NEW(p->f->n_switches, uint32_t);
	for (uint32_t done = 0; done < p->groups->n && !is_other;) {
		struct fab_roots own = {0};
		const struct fab_roots *roots =
			fab_grow_candidates(p, done, n_threads, &own);

		d.bits = NULL;
		for (uint32_t g = done; g < done + roots->n && !is_other; g++)
			is_other = !are_as_far(p, roots, &d, g);
		done += roots->n;
		fab_roots_fini(&own);
	}
	free(d.at);
	free(d.sw);
	return is_other;
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
	.is_rival = differs,
	.scratch_new = scratch_new,
	.scratch_free = scratch_free,
	.choose_root = choose_root,
	.grow = grow,
};
