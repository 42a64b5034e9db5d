/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FULB-MC (Chen et al. 2022): bottom-up, from each member towards the root by the least
 * loaded of the ports with the fewest hops to it, until the path meets the tree. Two
 * variants follow: fulb-mean and fulb-local.
 */
#include "mcast/engine/state.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The least loaded arc of `sw` one hop nearer to the root; lowest port among equals. */
static uint32_t idlest_arc(const struct fab_fabric *f, const uint32_t *load,
			   const uint8_t *row, uint32_t sw)
{
	uint32_t best = FAB_NONE, best_load = UINT32_MAX;
	int nearer = row[sw] - 1;

	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		if (row[f->arc_peer[a]] != nearer)
			continue;
		if (load[f->arc_cable[a]] < best_load) {
			best_load = load[f->arc_cable[a]];
			best = a;
			if (!best_load)
				break;
		}
	}
	return best;
}

static void grow(struct fab_mcast_state *s, uint32_t group)
{
	const struct fab_fabric *f = s->problem->f;
	const struct fab_groups *g = s->problem->groups;
	const uint8_t *row = fab_dist_row(s->problem->dist, s->forest.root[group]);

	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++)
		for (uint32_t at = g->sw[i]; !fab_mcast_is_joined(s, at);) {
			uint32_t arc = idlest_arc(f, s->load, row, at);

			fab_mcast_join(s, at, f->arc_cable[arc]);
			at = f->arc_peer[arc];
		}
}

const struct fab_mcast_engine fab_mcast_fulb = {
	.name = "fulb",
	.summary = "root used least often, least loaded port of fewest hops",
	.manual = "The root is the candidate that was the root of the fewest "
		  "groups so far. From every member towards it by the least "
		  "loaded of the ports with the fewest hops, until the path meets "
		  "the tree.",
	.root_rule = FAB_ROOT_LEAST_USED,
	.is_in_all = true,
	.grow = grow,
};

const struct fab_mcast_engine fab_mcast_fulb_links = {
	.name = "fulb-links",
	.summary = "fulb from the root of least adjacent load",
	.manual = "The same from the candidate whose own cables carry the least.",
	.root_rule = FAB_ROOT_LEAST_ADJACENT,
	.is_in_all = true,
	.grow = grow,
};

/*
 * fulb-mean: from another root (Chen et al. 2022 leave room for it): of the candidates
 * those with the least mean distance to the members, of these the one used least often.
 */

/* Rows of distances are added whole where one switch in DENSE is a candidate. */
enum { DENSE = 32 };

struct mean {
	uint64_t *nearest; /* candidates with the least sum, a bit each */
	uint32_t *sw;	   /* [n_switches] candidates */
	uint32_t *sum;	   /* [stride of rows] hops of each to all members */
};

static void *mean_new(const struct fab_mcast_problem *problem)
{
	struct mean *x = FAB_NEW0(1, struct mean);

	size_t stride = fab_dist_stride(problem->dist);

	x->nearest = FAB_NEW(stride / 64, uint64_t);
	x->sw = FAB_NEW(problem->f->n_switches, uint32_t);
	x->sum = FAB_NEW(stride, uint32_t);
	return x;
}

static void mean_free(void *scratch)
{
	struct mean *x = scratch;

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

static uint32_t choose_root(struct fab_mcast_state *s, const struct fab_roots *roots,
			    uint32_t group)
{
	struct mean *x = s->scratch;
	uint32_t n = list(x->sw, fab_roots_bits(roots, group), roots->words);
	uint32_t least = UINT32_MAX;

	/* Hops from each of n candidates to all members of the group together. */
	const struct fab_groups *g = s->problem->groups;
	size_t stride = fab_dist_stride(s->problem->dist);
	bool is_dense = n > stride / DENSE;

	if (is_dense)
		memset(x->sum, 0, stride * sizeof(*x->sum));
	for (uint32_t i = 0; i < n && !is_dense; i++)
		x->sum[x->sw[i]] = 0;
	for (uint64_t m = g->sw_first[group]; m < g->sw_first[group + 1]; m++) {
		const uint8_t *row = fab_dist_row(s->problem->dist, g->sw[m]);

		if (is_dense)
			add_row(x->sum, row, stride);
		for (uint32_t i = 0; i < n && !is_dense; i++)
			x->sum[x->sw[i]] += row[x->sw[i]];
	}
	for (uint32_t i = 0; i < n; i++)
		least = x->sum[x->sw[i]] < least ? x->sum[x->sw[i]] : least;
	memset(x->nearest, 0, roots->words * sizeof(*x->nearest));
	for (uint32_t i = 0; i < n; i++)
		if (x->sum[x->sw[i]] == least)
			x->nearest[x->sw[i] / 64] |= (uint64_t)1 << x->sw[i] % 64;
	return fab_root_choose(x->nearest, roots->words, FAB_TIES_SPREAD, s->root_use);
}

/* In a fat tree all candidates are as far from each member: its trees are those of fulb.
 */
static bool differs(const struct fab_mcast_problem *p)
{
	struct fab_shape *own;
	bool is_tree = fab_mcast_shape(p, &own)->kind == FAB_SHAPE_FATTREE;

	fab_shape_free(own);
	return !is_tree;
}

const struct fab_mcast_engine fab_mcast_fulb_mean = {
	.name = "fulb-mean",
	.summary = "fulb from the root of least mean distance",
	.manual = "As `fulb`, but the root is one of the candidates with the least "
		  "mean distance to the members: trees have fewer cables where these "
		  "differ, and fewer roots share all groups.",
	.is_baseline = differs,
	.scratch_new = mean_new,
	.scratch_free = mean_free,
	.choose_root = choose_root,
	.grow = grow,
};

/*
 * fulb-local: on a dragonfly, paths of fewest hops through a third group crowd out others
 * (Chen et al. 2022): of the ports with the fewest hops those with the fewest cables
 * between groups ahead, of these the least loaded.
 */
struct local {
	const struct fab_shape *shape; /* its groups; none: no dragonfly */
	struct fab_shape *own_shape;
	uint8_t *ahead;	 /* [n_switches] least global cables to the root */
	uint32_t *known; /* [n_switches] == stamp of the state: valid */
};

static void *local_new(const struct fab_mcast_problem *problem)
{
	struct local *x = FAB_NEW0(1, struct local);

	x->shape = fab_mcast_shape(problem, &x->own_shape);
	x->ahead = FAB_NEW0(problem->f->n_switches, uint8_t);
	x->known = FAB_NEW0(problem->f->n_switches, uint32_t);
	return x;
}

static void local_free(void *scratch)
{
	struct local *x = scratch;

	fab_shape_free(x->own_shape);
	free(x->ahead);
	free(x->known);
	free(x);
}

static unsigned ahead_of(const struct fab_mcast_state *s, const uint8_t *row,
			 uint32_t sw);

/* Global cables to the root through a neighbour one hop nearer. */
static unsigned ahead_by(const struct fab_mcast_state *s, const uint8_t *row, uint32_t sw,
			 uint32_t peer)
{
	const struct local *x = s->scratch;
	const uint32_t *group = x->shape->group;

	return ahead_of(s, row, peer) + (group && group[sw] != group[peer]);
}

static unsigned ahead_of(const struct fab_mcast_state *s, const uint8_t *row, uint32_t sw)
{
	const struct fab_fabric *f = s->problem->f;
	struct local *x = s->scratch;
	unsigned least = UINT8_MAX;

	if (x->known[sw] == s->stamp)
		return x->ahead[sw];
	for (uint32_t i = f->peer_first[sw]; i < f->peer_first[sw + 1]; i++) {
		unsigned ahead = row[f->peer[i]] + 1 == row[sw]
					 ? ahead_by(s, row, sw, f->peer[i])
					 : UINT8_MAX;

		least = ahead < least ? ahead : least;
	}
	x->known[sw] = s->stamp;
	x->ahead[sw] = (uint8_t)least;
	return least;
}

static void local_grow(struct fab_mcast_state *s, uint32_t group)
{
	const struct fab_fabric *f = s->problem->f;
	const struct fab_groups *g = s->problem->groups;
	struct local *x = s->scratch;
	uint32_t root = s->forest.root[group];
	const uint8_t *row = fab_dist_row(s->problem->dist, root);

	x->known[root] = s->stamp;
	x->ahead[root] = 0;
	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++)
		for (uint32_t at = g->sw[i]; !fab_mcast_is_joined(s, at);) {
			unsigned least = ahead_of(s, row, at);
			uint32_t best = FAB_NONE;

			for (uint32_t a = f->arc_first[at]; a < f->arc_first[at + 1]; a++)
				if (row[f->arc_peer[a]] + 1 == row[at] &&
				    ahead_by(s, row, at, f->arc_peer[a]) == least &&
				    (best == FAB_NONE ||
				     s->load[f->arc_cable[a]] <
					     s->load[f->arc_cable[best]]))
					best = a;
			fab_mcast_join(s, at, f->arc_cable[best]);
			at = f->arc_peer[best];
		}
}

/* Elsewhere its trees are those of fulb. */
static bool is_dragonfly(const struct fab_mcast_problem *problem)
{
	struct fab_shape *own;
	bool has_groups = fab_mcast_shape(problem, &own)->group != NULL;

	fab_shape_free(own);
	return has_groups;
}

const struct fab_mcast_engine fab_mcast_fulb_local = {
	.name = "fulb-local",
	.summary = "fulb on paths with the fewest cables between dragonfly groups",
	.manual =
		"As `fulb`, but on a dragonfly only by ports on paths of fewest hops "
		"with the fewest cables between groups of switches; elsewhere the same.",
	.root_rule = FAB_ROOT_LEAST_USED,
	.is_baseline = is_dragonfly,
	.scratch_new = local_new,
	.scratch_free = local_free,
	.grow = local_grow,
};
