/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FULB-MC (Chen et al. 2022): bottom-up, from each member towards the root by the least
 * loaded of the ports with the fewest hops to it, until the path meets the tree.
 */
#include "mcast/engines.h"

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
