/* SPDX-License-Identifier: BSD-2-Clause */
/* Algorithm opensm against a plain form of OpenSM's rules. */
#include "mcast/engine/state.h"
#include "mcast/route.h"
#include "support/routed.h"
#include "support/test.h"

enum { N_SEEDS = 10, N_GROUPS = 60, NO_TREE_DEPTH = 64 };

/* Groups of adapters, of switches and of both, and GUIDs without any order. */
static void random_setting(struct routed *s, uint64_t seed)
{
	struct fab_fabric *f = test_random_fabric(10 + 13 * (uint32_t)seed,
						  4 + 11 * (uint32_t)seed, 3, seed);
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	struct fab_rng rng = test_rng(seed);

	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		f->node_guid[sw] = fab_rng_next(&rng);
	for (uint32_t g = 0; g < N_GROUPS; g++) {
		uint32_t size = 1 + test_below(&rng, 9);

		fab_groups_builder_begin(b, "g", 1);
		for (uint32_t i = 0; i < size; i++) {
			uint32_t from = g % 3 == 0 ? f->n_switches : 0;
			uint32_t to = g % 3 == 1 ? f->n_switches : f->n_nodes;

			fab_groups_builder_add(
				b,
				f->node_first_port[from + test_below(&rng, to - from)]);
		}
	}
	routed_init_builder(s, f, b);
}

/* Hops from a switch to that of a member, one more when that is no member itself. */
static uint32_t hops_to(const struct fab_mcast_problem *p, uint32_t sw, uint32_t group,
			uint32_t member)
{
	const struct fab_groups *g = p->groups;
	uint32_t to = fab_port_switch(p->f, member), more = 1;

	for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++)
		if (p->f->port_node[g->member[m]] == to)
			more = 0;
	return fab_dist_row(p->dist, to)[sw] + more;
}

static uint32_t plain_root(const struct fab_mcast_problem *p, uint32_t group)
{
	const struct fab_groups *g = p->groups;
	uint32_t best = FAB_NONE, best_cost = UINT32_MAX;
	uint64_t best_key = 0;

	for (uint32_t sw = 0; sw < p->f->n_switches; sw++) {
		uint64_t key =
			__builtin_bswap64(p->f->node_guid[sw]); /* last byte first */
		uint32_t cost = 0;

		for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++)
			if (hops_to(p, sw, group, g->member[m]) > cost)
				cost = hops_to(p, sw, group, g->member[m]);
		if (cost < best_cost || (cost == best_cost && key < best_key)) {
			best_key = key;
			best_cost = cost;
			best = sw;
		}
	}
	return best;
}

/* OpenSM's recursion: parents[switch] = the cable by which it is entered. */
static void branch(const struct fab_mcast_problem *p, uint32_t at, uint32_t depth,
		   const uint32_t *member, uint32_t n, uint32_t *parents)
{
	const struct fab_fabric *f = p->f;
	OWN_HEAP uint32_t *part = FAB_NEW(n, uint32_t);

	if (++depth < NO_TREE_DEPTH)
		for (uint32_t a = f->arc_first[at]; a < f->arc_first[at + 1]; a++) {
			uint32_t n_part = 0;

			for (uint32_t i = 0; i < n; i++) {
				const uint8_t *row = fab_dist_row(p->dist, member[i]);
				uint32_t b = f->arc_first[at];

				while (row[at] && row[f->arc_peer[b]] + 1 != row[at])
					b++;
				if (row[at] && b == a)
					part[n_part++] = member[i];
			}
			if (!n_part)
				continue;
			if (depth + 1 < NO_TREE_DEPTH)
				parents[f->arc_peer[a]] = f->arc_cable[a];
			branch(p, f->arc_peer[a], depth, part, n_part, parents);
		}
}

static void check_group(const struct fab_mcast_problem *p,
			const struct fab_mcast_result *r, uint32_t group)
{
	const struct fab_groups *g = p->groups;
	uint32_t root = plain_root(p, group), n = p->f->n_switches;
	OWN_HEAP uint32_t *want = FAB_NEW(n, uint32_t), *got = FAB_NEW(n, uint32_t);

	cr_assert_eq(r->forest.root[group], root, "group %u", group);
	memset(want, 0xff, n * sizeof(*want));
	memset(got, 0xff, n * sizeof(*got));
	branch(p, root, 0, g->sw + g->sw_first[group], fab_group_n_switches(g, group),
	       want);
	for (uint64_t e = r->forest.first[group]; e < r->forest.first[group + 1]; e++)
		got[r->forest.sw[e]] = r->forest.cable[e];
	cr_assert_arr_eq(got, want, n * sizeof(*got), "group %u", group);
}

Test(opensm, root_and_ports_follow_its_rules)
{
	uint32_t n_higher = 0;

	for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
		FAB_AUTO(routed_fini) struct routed s;
		FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result r, least;

		random_setting(&s, seed);
		r = routed_by(&s.problem, &fab_mcast_opensm, NULL);
		least = routed_by(&s.problem, &fab_mcast_minihop, NULL);
		for (uint32_t g = 0; g < s.groups->n; g++) {
			check_group(&s.problem, &r, g);
			n_higher += r.forest.height[g] > least.forest.height[g];
		}
		MUST(fab_mcast_verify(&s.problem, &r, ERR));
	}
	cr_assert(fab_mcast_engine_find("opensm", 6) == &fab_mcast_opensm &&
		  !fab_mcast_opensm.is_in_all);
	/* switches among the members draw the root to the adapters */
	cr_assert_gt(n_higher, 0);
}

/* Beyond 64 hops from the root, 62 switches on each side are in the tree. */
Test(opensm, trees_end_where_it_gives_up)
{
	static const char *const chains[] = {"mesh:dims=125,hosts=1",
					     "mesh:dims=129,hosts=1"};

	for (size_t i = 0; i < FAB_COUNT(chains); i++) {
		struct fab_fabric *f = test_gen_raw(chains[i]);
		struct fab_groups_builder *b = fab_groups_builder_new(f);
		FAB_AUTO(routed_fini) struct routed s;
		FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result r;

		fab_groups_builder_begin(b, "ends", 4);
		fab_groups_builder_add(b, f->node_first_port[f->n_switches]);
		fab_groups_builder_add(b, f->node_first_port[f->n_nodes - 1]);
		routed_init_builder(&s, f, b);
		r = routed_by(&s.problem, &fab_mcast_opensm, NULL);
		check_group(&s.problem, &r, 0);
		cr_assert_eq(fab_forest_size(&r.forest, 0), 124);
		if (!i) {
			MUST(fab_mcast_verify(&s.problem, &r, ERR));
			continue;
		}
		FAILS(fab_mcast_verify(&s.problem, &r, ERR), -EPROTO, "algorithm opensm");
		HAS(test_err.text, "does not reach a member");
	}
}
