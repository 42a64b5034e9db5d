/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MINIHOP-MC (Chen et al. 2022; OpenSM's default): top-down, every member leaves a switch
 * by the lowest-numbered port among those with the fewest hops to it.
 *
 * The path of a member does not depend on the other members, and paths that meet have
 * take the same path: if w lies on the chosen paths of two members, both chose the
 * smallest sequence of ports from the root to w. So walking member by member gives the
 * tree of the recursive definition.
 */
#include "mcast/engines.h"
#include "mcast/minihop.h"

/* The arc of `sw` with the lowest port number one hop nearer to the row's switch. */
static uint32_t lowest_arc(const struct fab_fabric *f, const uint8_t *row, uint32_t sw)
{
	uint32_t a = f->arc_first[sw];

	while (row[f->arc_peer[a]] + 1 != row[sw])
		a++;
	return a;
}

void fab_minihop_grow(struct fab_mcast_state *s, uint32_t group, uint32_t max_hops)
{
	const struct fab_fabric *f = s->problem->f;
	const struct fab_groups *g = s->problem->groups;
	uint32_t root = s->forest.root[group];

	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++) {
		const uint8_t *row = fab_dist_row(s->problem->dist, g->sw[i]);

		for (uint32_t at = root, hops = 0; row[at] && hops < max_hops; hops++) {
			uint32_t arc = lowest_arc(f, row, at);

			at = f->arc_peer[arc];
			if (!fab_mcast_is_joined(s, at))
				fab_mcast_join(s, at, f->arc_cable[arc]);
		}
	}
}

static void grow(struct fab_mcast_state *s, uint32_t group)
{
	fab_minihop_grow(s, group, UINT32_MAX);
}

const struct fab_mcast_engine fab_mcast_minihop = {
	.name = "minihop",
	.summary = "first root, lowest port of fewest hops; balances nothing",
	.manual = "The root is the candidate that comes first. From it every "
		  "member is reached by the lowest-numbered port among those with "
		  "the fewest hops. Balances nothing.",
	.root_rule = FAB_ROOT_FIRST,
	.is_in_all = true,
	.grow = grow,
};

const struct fab_mcast_engine fab_mcast_minihop_new = {
	.name = "minihop-new",
	.summary = "minihop from the root used least often",
	.manual = "The same from the candidate that was the root of the fewest "
		  "groups so far.",
	.root_rule = FAB_ROOT_LEAST_USED,
	.is_in_all = true,
	.grow = grow,
};
