/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees that come and go against routing all groups at once and plain counting. */
#include "mcast/live.h"
#include "mcast/relief.h"
#include "mcast/route.h"
#include "support/routed.h"
#include "support/test.h"

OWN_POINTER(fab_live)

enum { N_STEPS = 300, MAX_SIZE = 20 };

static void setting_init(struct routed *s, uint64_t seed)
{
	static const char *const patterns[] = {"random:groups=60,size=2-14", "grid:6x10",
					       NULL};
	uint32_t n = (uint32_t)seed;

	routed_init_patterns(s, test_random_fabric(20 + 17 * n, 40, 3, seed), patterns,
			     seed);
}

/* No trees, yet, for n groups that `balanced` will route. */
static struct fab_live *no_trees(const struct fab_fabric *f, const struct fab_dist *dist,
				 uint32_t n)
{
	return fab_live_new(f, dist, n, fab_mcast_engine_find("balanced", 8),
			    FAB_TIES_SPREAD);
}

static uint64_t route(struct fab_live *live, const struct routed *s, uint32_t group)
{
	const struct fab_groups *g = s->groups;

	return fab_live_route(live, group, g->member + g->first[group],
			      fab_group_size(g, group));
}

/* The adapters of n switches of a ring. */
static void members_on(const struct fab_fabric *f, const uint32_t *sw, size_t n,
		       fab_port_id *member)
{
	for (size_t i = 0; i < n; i++)
		member[i] = fab_node_first_connected_port(f, f->n_switches + sw[i]);
}

/* One after the other is the same as all at once. */
Test(live, groups_that_only_come)
{
	for (uint64_t seed = 0; seed < 4; seed++)
		for (size_t i = 0; i < fab_mcast_n_engines; i++) {
			if (fab_mcast_engines[i]->solve)
				continue; /* at once it revises, one by one not */
			struct fab_mcast_options options = {
				.n_threads = 1,
				.root_ties = (enum fab_root_ties)(seed % 2)};
			FAB_AUTO(routed_fini) struct routed s;
			FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result all, each;
			FAB_AUTO(fab_groups_free_at) struct fab_groups *groups = NULL;
			OWN(fab_live) *live = NULL;
			struct fab_efi efi;

			setting_init(&s, seed);
			all = routed_by(&s.problem, fab_mcast_engines[i], &options);
			live = fab_live_new(s.f, s.dist, s.groups->n,
					    fab_mcast_engines[i], options.root_ties);
			for (uint32_t g = 0; g < s.groups->n; g++)
				route(live, &s, g);
			MUST(fab_live_result(live, s.groups, &groups, &each, ERR));
			for (uint32_t g = 0; g < s.groups->n; g++)
				cr_assert(fab_forest_is_same(&all.forest, &each.forest,
							     g) &&
					  all.forest.height[g] == each.forest.height[g]);
			cr_assert_arr_eq(all.load, each.load,
					 s.f->n_switch_links * sizeof(*all.load));
			fab_efi_of(&s.problem, &all, &efi);
			cr_assert_eq(fab_live_peak(live), efi.max);
		}
}

/* All trees are sound, and the largest load is theirs; as high as those of `engine` may
 * be. */
static void expect_sound(const struct routed *s, const struct fab_live *live,
			 const struct fab_mcast_engine *engine)
{
	FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result r;
	FAB_AUTO(fab_groups_free_at) struct fab_groups *groups = NULL;
	struct fab_mcast_problem p = {s->f, s->dist};
	uint32_t max = 0;

	MUST(fab_live_result(live, s->groups, &groups, &r, ERR));
	p.groups = groups;
	r.engine = engine ? engine : r.engine;
	for (uint32_t c = 0; c < s->f->n_switch_links; c++)
		max = r.load[c] > max ? r.load[c] : max;
	cr_assert(fab_live_max_load(live) == max && fab_live_peak(live) >= max);
	if (groups)
		MUST(fab_mcast_verify(&p, &r, ERR));
}

/* The ports of switches that the group's tree uses. */
static bool *ports_of(const struct routed *s, const struct fab_live *live, uint32_t group)
{
	const struct fab_fabric *f = s->f;
	struct fab_live_tree t = fab_live_tree_of(live, group);
	bool *uses = FAB_NEW0(f->n_ports, bool);

	for (uint32_t e = 0; e < t.n_edges; e++)
		uses[f->cable_a[t.cable[e]]] = uses[f->cable_b[t.cable[e]]] = true;
	for (uint32_t m = 0; m < t.n_members && t.n_members > 1; m++) {
		bool is_switch = fab_node_is_switch(f, f->port_node[t.member[m]]);

		uses[is_switch ? t.member[m] : fab_port_peer(f, t.member[m])] = true;
	}
	return uses;
}

/* Some of the members of a group that was drawn, perhaps none, and perhaps a switch. */
static uint32_t draw(const struct routed *s, struct fab_rng *rng, uint32_t group,
		     fab_port_id *member)
{
	const struct fab_groups *g = s->groups;
	uint64_t keep = fab_rng_below(rng, 4);
	uint32_t n = 0;

	for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++)
		if (fab_rng_below(rng, 3) < keep)
			member[n++] = g->member[m];
	if (fab_rng_below(rng, 3) == 0)
		member[n++] = s->f->node_first_port[test_below(rng, s->f->n_switches)];
	return n;
}

/* A member leaves and comes again: the tree only loses, then only gains ports, unless it
 * is routed again, as one of twice the least height is. Returns how often it is not. */
static uint32_t leave_and_join(const struct routed *s, struct fab_live *live, uint32_t g,
			       const fab_port_id *member, uint32_t n)
{
	OWN_HEAP bool *all = ports_of(s, live, g), *fewer = NULL, *again = NULL;
	bool is_kept[2];

	fab_live_change(live, g, member, n - 1);
	fewer = ports_of(s, live, g);
	is_kept[0] = fab_live_tree_of(live, g).n_routed == n;
	fab_live_change(live, g, member, n);
	again = ports_of(s, live, g);
	is_kept[1] = is_kept[0] && fab_live_tree_of(live, g).n_routed == n;
	for (uint32_t p = 0; p < s->f->n_ports; p++)
		cr_assert((!is_kept[0] || all[p] >= fewer[p]) &&
			  (!is_kept[1] || again[p] >= fewer[p]));
	return is_kept[1];
}

/* What is left is sound at any time, and nothing is left when all have gone. */
Test(live, groups_that_come_and_go)
{
	const struct fab_mcast_engine any_height = {.name = "any", .may_be_higher = true};
	uint32_t n_kept = 0;

	for (size_t i = 0; i < 2 * fab_mcast_n_engines; i++) {
		bool is_routed = i % 2;
		struct fab_rng rng = test_rng(i);
		fab_port_id member[MAX_SIZE];
		struct fab_mcast_result r;
		struct fab_groups *groups;
		FAB_AUTO(routed_fini) struct routed s;
		OWN(fab_live) *live = NULL;

		setting_init(&s, i % 3);
		live = fab_live_new(s.f, s.dist, s.groups->n, fab_mcast_engines[i / 2],
				    FAB_TIES_SPREAD);
		for (int step = 0; step < N_STEPS; step++) {
			uint32_t g = test_below(&rng, s.groups->n);
			uint32_t n = draw(&s, &rng, g, member);
			OWN_HEAP bool *before = ports_of(&s, live, g), *after = NULL;
			uint64_t changed = fab_live_route(live, g, member, n);

			after = ports_of(&s, live, g);
			for (uint32_t sw = 0; sw < s.f->n_switches; sw++) {
				uint32_t at = s.f->node_first_port[sw];
				uint32_t end = s.f->node_first_port[sw + 1];

				changed -= memcmp(before + at, after + at, end - at) != 0;
			}
			cr_assert_eq(changed, 0);
			if (!is_routed && n > 3)
				n_kept += leave_and_join(&s, live, g, member, n);
			if (step % 20 == 0)
				expect_sound(&s, live, is_routed ? NULL : &any_height);
		}
		for (uint32_t g = 0; g < s.groups->n; g++)
			fab_live_route(live, g, NULL, 0);
		MUST(fab_live_result(live, s.groups, &groups, &r, ERR));
		cr_assert_null(groups);
		for (uint32_t c = 0; c < s.f->n_switch_links; c++)
			cr_assert_eq(r.load[c], 0);
		cr_assert(fab_live_max_load(live) == 0 && fab_live_peak(live) > 0);
		fab_mcast_result_fini(&r);
		/* as if nothing had been there before: roots are as little used, too */
		cr_assert(route(live, &s, 0) > 0 && route(live, &s, 0) == 0);
	}
	cr_assert_gt(n_kept, 300);
}

/* A group that became much larger or smaller is routed again: as the engine would. A
 * member that is as near to two ends of the tree is joined where there is less load. */
Test(live, groups_that_grow_and_shrink)
{
	static const uint32_t cases[][3] = {
		{8, 9, 8}, {8, 11, 8}, {8, 12, 12}, {8, 5, 8}, {8, 4, 4}};
	OWN(fab_fabric) *f = test_ring(16), *six = test_ring(6);
	OWN(fab_dist) *dist = test_dist(f), *of_six = test_dist(six);
	OWN(fab_live) *live = no_trees(f, dist, FAB_COUNT(cases));
	fab_port_id member[16];

	for (uint32_t i = 0; i < 16; i++)
		members_on(f, &i, 1, &member[i]);
	for (uint32_t i = 0; i < FAB_COUNT(cases); i++) {
		fab_live_route(live, i, member, cases[i][0]);
		fab_live_change(live, i, member, cases[i][1]);
		cr_expect_eq(fab_live_tree_of(live, i).n_routed, cases[i][2], "%u", i);
	}
	for (uint32_t other = 3; other <= 4; other++) {
		OWN(fab_live) *two = no_trees(six, of_six, 2);

		members_on(six, (const uint32_t[]){other, (other + 1) % 6}, 2, member);
		fab_live_route(two, 1, member, 2);
		members_on(six, (const uint32_t[]){0, 1, 2, 4}, 4, member);
		fab_live_route(two, 0, member, 3);
		fab_live_change(two, 0, member, 4);
		cr_expect_eq(fab_live_tree_of(two, 0).n_edges, 4);
		cr_expect_eq(fab_live_max_load(two), 1, "%u", other);
	}
}

/* The cable between two switches of a ring. */
static uint32_t cable_between(const struct fab_fabric *f, uint32_t a, uint32_t b)
{
	for (uint32_t arc = f->arc_first[a]; arc < f->arc_first[a + 1]; arc++)
		if (f->arc_peer[arc] == b)
			return f->arc_cable[arc];
	return FAB_NONE;
}

/* A tree around most of a ring, whose members in the middle leave: the others lie close
 * to each other across the gap, so that it is not kept. */
Test(live, a_long_way_round_is_not_kept)
{
	static const uint32_t all[] = {10, 20, 30, 37, 38, 39, 0};
	static const uint32_t stay[] = {10, 37, 38, 39, 0};
	OWN(fab_fabric) *f = test_ring(40);
	OWN(fab_dist) *dist = test_dist(f);
	OWN(fab_live) *live = no_trees(f, dist, 1);
	fab_port_id member[FAB_COUNT(all)];
	uint32_t cable[30];

	for (uint32_t i = 0; i < 30; i++)
		cable[i] = cable_between(f, 10 + i, (11 + i) % 40);
	members_on(f, all, FAB_COUNT(all), member);
	fab_live_put(live, 0, member, FAB_COUNT(all), cable, 30);
	cr_assert_eq(fab_live_tree_of(live, 0).n_edges, 30);
	members_on(f, stay, FAB_COUNT(stay), member);
	fab_live_change(live, 0, member, FAB_COUNT(stay));
	cr_expect_leq(fab_live_tree_of(live, 0).height, 7);
	cr_expect_eq(fab_live_tree_of(live, 0).n_routed, FAB_COUNT(stay));
}

/* Cables that are a tree of the members stay as they are; a loop is opened, a branch too
 * much is cut, a member that is not reached is joined, and parts that do not hang
 * together are replaced. */
Test(live, trees_of_tables)
{
	enum { N = 8 };
	static const struct {
		uint32_t n, cable[N][2], n_edges;
	} cases[] = {
		{3, {{0, 1}, {1, 2}, {2, 3}}, 3},
		{8, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 0}}, 3},
		{4, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}, 3},
		{2, {{0, 1}, {1, 2}}, 3},
		{2, {{0, 1}, {2, 3}}, 3},
		{0, {{0}}, 3},
	};
	static const uint32_t on[] = {0, 1, 3};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_fabric) *f = test_ring(N);
		uint32_t cable[N], member[FAB_COUNT(on)];
		struct fab_live_tree t;
		OWN(fab_dist) *dist = test_dist(f);
		OWN(fab_live) *live = no_trees(f, dist, 1);

		for (uint32_t k = 0; k < cases[i].n; k++)
			cable[k] = cable_between(f, cases[i].cable[k][0],
						 cases[i].cable[k][1]);
		members_on(f, on, FAB_COUNT(on), member);
		fab_live_put(live, 0, member, FAB_COUNT(on), cable, cases[i].n);
		t = fab_live_tree_of(live, 0);
		cr_expect_geq(t.n_edges, cases[i].n_edges, "%zu", i);
		cr_expect_eq(t.n_edges, i == 1 ? t.n_edges : cases[i].n_edges, "%zu", i);
		cr_expect_lt(t.n_edges, N, "%zu: a loop", i);
		cr_expect_eq(fab_live_max_load(live), 1);
		for (size_t k = 0; k < FAB_COUNT(on); k++) {
			uint32_t e = 0;

			while (e < t.n_edges && t.sw[e] != on[k])
				e++;
			cr_expect(e < t.n_edges || t.root == on[k], "%zu", i);
		}
	}
}
