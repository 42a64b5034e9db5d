/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FULB-MC (Chen et al. 2022): bottom-up, from each member towards the root by the least
 * loaded of the ports with the fewest hops to it, until the path meets the tree. Two
 * variants follow: fulb-mean and fulb-local.
 */
#include "mcast/engine/state.h"

static void grow(struct fab_mcast_state *s, uint32_t group)
{
	const struct fab_fabric *f = s->problem->f;
	const struct fab_groups *g = s->problem->groups;
	const uint8_t *row = fab_dist_row(s->problem->dist, s->forest.root[group]);

	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++)
		for (uint32_t at = g->sw[i]; !fab_mcast_is_joined(s, at);) {
			uint32_t best = FAB_NONE, least = UINT32_MAX;
			int nearer = row[at] - 1;

			/* The least loaded arc one hop nearer to the root; the lowest
			 * port among equals. */
			for (uint32_t a = f->arc_first[at];
			     a < f->arc_first[at + 1] && least; a++)
				if (row[f->arc_peer[a]] == nearer &&
				    s->load[f->arc_cable[a]] < least) {
					least = s->load[f->arc_cable[a]];
					best = a;
				}
			fab_mcast_join(s, at, f->arc_cable[best]);
			at = f->arc_peer[best];
		}
}

const struct fab_mcast_engine fab_mcast_fulb = {
	.name = "fulb",
	.summary = "root used least often, least loaded port of fewest hops",
	.manual =
		"The root is the candidate used least often so far. From each member towards it by the least loaded port with the fewest hops, until the path meets the tree.",
	.root_rule = FAB_ROOT_LEAST_USED,
	.is_in_all = true,
	.grow = grow,
};

const struct fab_mcast_engine fab_mcast_fulb_links = {
	.name = "fulb-links",
	.summary = "fulb from the root of least adjacent load",
	.manual = "As `fulb`; root: the candidate whose own cables carry least.",
	.root_rule = FAB_ROOT_LEAST_ADJACENT,
	.is_in_all = true,
	.grow = grow,
};

/* In a fat tree all candidates are as far from each member: its trees are those of fulb.
 */
static bool differs(const struct fab_mcast_problem *p)
{
	FAB_AUTO(fab_shape_free_at) struct fab_shape *own = NULL;

	return fab_mcast_shape(p, &own)->kind != FAB_SHAPE_FATTREE;
}

const struct fab_mcast_engine fab_mcast_fulb_mean = {
	.name = "fulb-mean",
	.summary = "fulb from the root of least mean distance",
	.manual =
		"As `fulb`, but from candidates with the least mean distance to the members: where these differ trees have fewer cables, and fewer roots share all groups.",
	.is_baseline = differs,
	.scratch_new = fab_mean_new,
	.choose_root = fab_mean_choose_root,
	.grow = grow,
};

/*
 * fulb-local: on a dragonfly, paths of fewest hops through a third group crowd out others
 * (Chen et al. 2022): of the ports with the fewest hops those with the fewest cables
 * between groups ahead, of these the least loaded.
 */
struct local {
	const struct fab_shape *shape; /* its groups; none: no dragonfly */
	uint8_t *ahead;		       /* [n_switches] least global cables to the root */
	uint32_t *known;	       /* [n_switches] == stamp of the state: valid */
};

static void release_shape(void *shape)
{
	fab_shape_free(shape);
}

static void *local_new(const struct fab_mcast_problem *problem, struct fab_arena *a)
{
	struct local *x = FAB_ARENA_NEW(a, 1, struct local);
	struct fab_shape *own;

	x->shape = fab_mcast_shape(problem, &own);
	fab_arena_own(a, release_shape, own);
	x->ahead = FAB_ARENA_NEW0(a, problem->f->n_switches, uint8_t);
	x->known = FAB_ARENA_NEW0(a, problem->f->n_switches, uint32_t);
	return x;
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
	FAB_AUTO(fab_shape_free_at) struct fab_shape *own = NULL;

	return fab_mcast_shape(problem, &own)->group != NULL;
}

const struct fab_mcast_engine fab_mcast_fulb_local = {
	.name = "fulb-local",
	.summary = "fulb on paths with the fewest cables between dragonfly groups",
	.manual =
		"As `fulb`, but on a dragonfly only by ports on paths of fewest hops with the fewest cables between groups of switches.",
	.root_rule = FAB_ROOT_LEAST_USED,
	.is_baseline = is_dragonfly,
	.scratch_new = local_new,
	.grow = local_grow,
};
