/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees of a subnet that changes: plain checks of each tree, and of the loads. */
#include "opensm/keeper.h"
#include "support/scarce.h"
#include "support/test.h"

#include <setjmp.h>

OWN_POINTER(fab_keeper)
OWN_POINTER(fab_plan)

enum { N_GROUPS = 40, N_STEPS = 200, MAX_SIZE = 12, N_ROUNDS = 6 };

/* Who is in which group, as the test has it. */
struct wanted {
	uint32_t n[N_GROUPS];
	uint64_t guid[N_GROUPS][MAX_SIZE];
};

static uint64_t guid_of(const struct fab_fabric *f, uint32_t adapter)
{
	return f->port_guid[fab_node_first_connected_port(f, f->n_switches + adapter)];
}

/* Members of a group: so many, some twice. */
static void draw(const struct fab_fabric *f, struct fab_rng *rng, struct wanted *w,
		 uint32_t g, uint32_t n)
{
	w->n[g] = n;
	for (uint32_t i = 0; i < n; i++)
		w->guid[g][i] = guid_of(f, test_below(rng, f->n_adapters));
}

static void draw_all(const struct fab_fabric *f, struct fab_rng *rng, struct wanted *w)
{
	for (uint32_t g = 0; g < N_GROUPS; g++)
		draw(f, rng, w, g, test_below(rng, MAX_SIZE + 1));
}

static int route(struct fab_keeper *k, const struct wanted *w, uint32_t g)
{
	return fab_keeper_route(k, g, w->guid[g], w->n[g], false, ERR);
}

static struct fab_keeper_counts renew(struct fab_keeper *k, struct fab_fabric *f,
				      const struct wanted *w)
{
	uint64_t first[N_GROUPS + 1] = {0}, guid[N_GROUPS * MAX_SIZE];
	const struct fab_membership m = {.n = N_GROUPS, .first = first, .guid = guid};
	struct fab_keeper_counts counts;

	for (uint32_t g = 0; g < N_GROUPS; g++) {
		memcpy(guid + first[g], w->guid[g], w->n[g] * sizeof(*guid));
		first[g + 1] = first[g] + w->n[g];
	}
	MUST(fab_keeper_renew(k, f, &m, &counts, ERR));
	return counts;
}

/* Two of the cables from first on exchange their far ends. */
static void exchange(struct plan *p, uint32_t first, uint32_t end, struct fab_rng *rng)
{
	struct plan_cable *x = &p->cables.v[first + test_below(rng, end - first)];
	struct plan_cable *y = &p->cables.v[first + test_below(rng, end - first)];
	struct plan_end far = x->b;

	/* no cable from a switch to itself, no adapter on an adapter */
	if (x->a.node == y->b.node || y->a.node == far.node ||
	    p->nodes.v[x->a.node].kind != p->nodes.v[y->a.node].kind)
		return;
	x->b = y->b;
	y->b = far;
}

/* The same nodes in another order, a few cables between switches plugged otherwise, a few
 * adapters moved to other switches, and one adapter without its cable. */
static struct fab_fabric *plugged(const struct fab_fabric *f, uint32_t n_changes,
				  struct fab_rng *rng)
{
	OWN(plan) p = plan_from_fabric(f);

	for (uint32_t i = 0; i < n_changes; i++) {
		exchange(&p, 0, f->n_switch_links, rng);
		exchange(&p, f->n_switch_links, f->n_cables, rng);
	}
	p.cables.v[f->n_cables - 1].is_gone = n_changes > 0;
	return plan_build(&p, 1 + test_below(rng, 9));
}

/* Walk the tree from its root over its cables only: all switches and members are met. */
static void expect_tree(const struct fab_fabric *f, const struct fab_live_tree *t)
{
	OWN_HEAP bool *is_met = FAB_NEW0(f->n_switches, bool);
	uint32_t n = 0, n_before;

	is_met[t->root] = true;
	do {
		n_before = n;
		for (uint32_t e = 0; e < t->n_edges; e++) {
			uint32_t a = f->port_node[f->cable_a[t->cable[e]]];
			uint32_t b = f->port_node[f->cable_b[t->cable[e]]];

			n += is_met[a] != is_met[b];
			is_met[a] = is_met[b] = is_met[a] || is_met[b];
		}
	} while (n > n_before);
	cr_assert_eq(n, t->n_edges);
	for (uint32_t m = 0; m < t->n_members; m++)
		cr_assert(is_met[fab_port_switch(f, t->member[m])]);
}

static bool has(const uint64_t *list, uint32_t n, uint64_t guid)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i] == guid)
			return true;
	return false;
}

/* Every group has its members, each once, no others, and a tree of them, and the largest
 * load is that of all. Returns how many trees there are. */
static uint32_t expect_sound(const struct fab_keeper *k, const struct wanted *w)
{
	const struct fab_fabric *f = fab_keeper_fabric(k);
	OWN_HEAP uint32_t *load = FAB_NEW0(f->n_switch_links, uint32_t);
	uint32_t max = 0, n_trees = 0;

	for (uint32_t g = 0; g < N_GROUPS; g++) {
		struct fab_live_tree t = fab_keeper_tree(k, g);
		uint64_t guid[MAX_SIZE];

		if (t.root == FAB_NONE)
			continue;
		n_trees++;
		for (uint32_t m = 0; m < t.n_members; m++) {
			guid[m] = f->port_guid[t.member[m]];
			cr_assert(has(w->guid[g], w->n[g], guid[m]));
			cr_assert(!has(guid, m, guid[m]), "twice");
		}
		for (uint32_t i = 0; i < w->n[g]; i++)
			cr_assert(has(guid, t.n_members, w->guid[g][i]));
		expect_tree(f, &t);
		for (uint32_t e = 0; e < t.n_edges; e++)
			if (++load[t.cable[e]] > max)
				max = load[t.cable[e]];
	}
	cr_assert_eq(fab_keeper_max_efi(k), max);
	return n_trees;
}

/* Members change at random; `f` has them all. */
static void churn(struct fab_keeper *k, const struct fab_fabric *f, struct wanted *w,
		  struct fab_rng *rng)
{
	for (int step = 0; step < N_STEPS; step++) {
		uint32_t g = test_below(rng, N_GROUPS);
		int rc;

		draw(f, rng, w, g, test_below(rng, MAX_SIZE + 1));
		rc = route(k, w, g);
		if (rc < 0) {
			cr_assert(rc == -EHOSTUNREACH || rc == -ENOENT);
			cr_assert_eq(fab_keeper_tree(k, g).root, FAB_NONE);
		} else { /* asked again: nothing is new */
			MUST(route(k, w, g));
		}
	}
	expect_sound(k, w);
}

/* All trees that `balanced` moves. */
static struct fab_plan_options all_balanced(void)
{
	return (struct fab_plan_options){.engine = fab_mcast_engine_find("balanced", 8),
					 .max_moved = UINT32_MAX,
					 .time_limit_ms = 60000};
}

/* Balance, take over, and see that it is what the plan promised. */
static void balance(struct fab_keeper *k, const struct fab_fabric *f, struct wanted *w,
		    uint32_t max_moved, struct fab_rng *rng)
{
	struct fab_plan_options o = all_balanced();
	OWN(fab_plan) *plan = fab_keeper_plan(k);
	uint32_t moved[N_GROUPS], before = fab_keeper_max_efi(k);
	struct fab_plan_result r;

	if (!plan)
		return;
	o.max_moved = max_moved;
	if (max_moved != UINT32_MAX)
		o.engine = NULL;
	MUST(fab_plan_solve(plan, &o, &r, ERR));
	cr_assert(r.before == before && r.after <= before);
	/* trees that are higher than needed may have less than the bound */
	cr_assert((r.after >= r.bound || r.after == r.before) && r.n_moved <= max_moved);
	/* all trees move only for a smaller load */
	cr_assert(!o.engine || r.after < before || !r.n_moved);
	if (fab_rng_below(rng, 2)) {
		/* groups change meanwhile: as many other members, or none */
		for (uint32_t g = 0; g < N_GROUPS; g += 2) {
			draw(f, rng, w, g, g % 8 ? w->n[g] : 0);
			(void)!route(k, w, g);
		}
		cr_assert_geq(fab_keeper_take(k, plan, moved) + N_GROUPS / 2, r.n_moved);
	} else {
		cr_assert_eq(fab_keeper_take(k, plan, moved), r.n_moved);
		cr_assert_eq(fab_keeper_max_efi(k), r.after);
	}
	expect_sound(k, w);
}

/* Members come and go one by one, some between two sweeps, plans are taken, cables fail,
 * cables and adapters are plugged otherwise: what there is is sound, what is asked for
 * again is not new, and many trees stay, all of them where nothing changed. */
Test(keeper, trees_follow_the_subnet)
{
	uint32_t kept = 0, routed = 0, left = 0;

	for (uint64_t seed = 0; seed < 8; seed++) {
		OWN(fab_fabric) *f =
			test_random_fabric(30 + 10 * (uint32_t)(seed % 5), 60, 3, seed);
		OWN(fab_keeper) *k = fab_keeper_new(N_GROUPS);
		struct fab_keeper_counts counts;
		struct wanted w = {0};
		struct fab_rng rng = test_rng(seed);
		uint32_t max;

		draw_all(f, &rng, &w);
		counts = renew(k, test_without(f, 0, NULL), &w);
		cr_assert(counts.kept + counts.left == 0 &&
			  counts.routed == expect_sound(k, &w));
		max = fab_keeper_max_efi(k);
		counts = renew(k, plugged(f, 0, &rng), &w);
		cr_assert(counts.kept == expect_sound(k, &w) && counts.routed == 0);
		cr_assert_eq(fab_keeper_max_efi(k), max);
		for (uint32_t round = 0; round < N_ROUNDS; round++) {
			uint32_t n_left = 0;

			balance(k, f, &w, round % 2 ? UINT32_MAX : round, &rng);
			churn(k, f, &w, &rng);
			for (uint32_t g = round; g < N_GROUPS; g += 8)
				draw(f, &rng, &w, g, test_below(&rng, MAX_SIZE + 1));
			for (uint32_t g = round + 4; g < N_GROUPS; g += 8)
				w.n[g] -= w.n[g] > 2; /* one goes, nobody comes */
			counts = renew(
				k,
				(seed + round) % 2
					? plugged(f, round % 3, &rng)
					: test_without(f, 6 + 20 * (round % 3), &rng),
				&w);
			for (uint32_t g = 0; g < N_GROUPS; g++) {
				int rc = route(k, &w, g);

				cr_assert_leq(rc, 0);
				n_left += rc < 0;
			}
			cr_assert_eq(counts.left, n_left);
			cr_assert_eq(counts.kept + counts.routed, expect_sound(k, &w));
			kept += counts.kept;
			routed += counts.routed;
			left += n_left;
		}
	}
	cr_assert(kept > 200 && routed > 200 && left > 20);
}

/* A tree without a cable, whoever the members are. */
static void grow_nothing(struct fab_mcast_state *state, uint32_t group)
{
	(void)state, (void)group;
}

/* What the tree of a group is: equal numbers are equal trees. */
static void mark_trees(const struct fab_keeper *k, uint64_t mark[N_GROUPS])
{
	for (uint32_t g = 0; g < N_GROUPS; g++) {
		struct fab_live_tree t = fab_keeper_tree(k, g);

		mark[g] = t.root;
		for (uint32_t e = 0; t.root != FAB_NONE && e < t.n_edges; e++)
			mark[g] =
				(mark[g] + t.cable[e] + 1) * UINT64_C(0x9e3779b97f4a7c15);
	}
}

/* No tree moves to those of an engine that is worse than what is there, or whose trees
 * are none. Trees that are moved are others than before, and no others change. A plan
 * that is as old as the subnet before moves none. */
Test(keeper, what_moves_becomes_another)
{
	static const struct fab_mcast_engine wrong = {.name = "wrong",
						      .grow = grow_nothing};
	const struct fab_mcast_engine *engines[] = {fab_mcast_engine_find("minihop", 7),
						    &wrong, all_balanced().engine};
	OWN(fab_fabric) *f = test_random_fabric(30, 20, 3, 11);
	OWN(fab_keeper) *k = fab_keeper_new(N_GROUPS);
	OWN(fab_plan) *plan = NULL;
	struct fab_plan_options o = all_balanced();
	struct fab_rng rng = test_rng(11);
	uint64_t before[N_GROUPS], after[N_GROUPS];
	uint32_t moved[N_GROUPS], n = 0;
	bool is_moved[N_GROUPS] = {false};
	struct fab_plan_result r;
	struct wanted w;
	int rc;

	draw_all(f, &rng, &w);
	renew(k, test_without(f, 0, NULL), &w);
	mark_trees(k, before);
	for (uint32_t i = 0; i < 3; i++) {
		fab_plan_free(plan);
		plan = fab_keeper_plan(k);
		o.engine = engines[i];
		rc = fab_plan_solve(plan, &o, &r, ERR);
		cr_assert(i == 1 ? test_reaches(rc == -EPROTO) : !rc);
		n = fab_keeper_take(k, plan, moved);
		cr_assert_eq(n, r.n_moved);
		cr_assert(i == 1 ? !n : test_reaches((n > 0) == (i == 2)));
		cr_assert(i == 1 || (r.after < r.before) == (n > 0));
	}
	mark_trees(k, after);
	for (uint32_t i = 0; i < n; i++)
		is_moved[moved[i]] = true;
	for (uint32_t g = 0; g < N_GROUPS; g++)
		cr_expect_eq(is_moved[g], before[g] != after[g]);
	renew(k, test_without(f, 0, NULL), &w);
	cr_assert_eq(fab_keeper_take(k, plan, moved), 0);
	mark_trees(k, before);
	cr_assert_arr_eq(before, after, sizeof(before));
}

/* Switches 0 and 1 with an adapter each; 2 has three cables to 1 and one to each of 0, 3
 * and 4, which have one to 0 each: three cables leave each side, but only one of 0 leads
 * to 1 by the shortest path. The bound of a plan knows that trees are of least height. */
Test(keeper, bound_of_plans)
{
	static const uint32_t cable[][2] = {{0, 2}, {0, 3}, {0, 4}, {1, 2},
					    {1, 2}, {1, 2}, {2, 3}, {2, 4}};
	const struct fab_plan_options o = all_balanced();
	OWN(fab_keeper) *k = fab_keeper_new(N_GROUPS);
	OWN(fab_plan) *plan = NULL;
	struct plan narrow = {0};
	struct fab_plan_result r;
	struct fab_fabric *f;
	struct wanted w;

	plan_switches(&narrow, 5, "s", 8);
	for (size_t c = 0; c < FAB_COUNT(cable); c++)
		plan_join(&narrow, cable[c][0], cable[c][1]);
	plan_host(&narrow, 0, "a");
	plan_host(&narrow, 1, "b");
	f = plan_end(&narrow);
	for (uint32_t g = 0; g < N_GROUPS; g++) {
		w.n[g] = 2;
		w.guid[g][0] = guid_of(f, 0);
		w.guid[g][1] = guid_of(f, 1);
	}
	renew(k, f, &w);
	plan = fab_keeper_plan(k);
	MUST(fab_plan_solve(plan, &o, &r, ERR));
	cr_expect_eq(r.bound, N_GROUPS, "%u", r.bound);
	cr_expect_eq(r.after, N_GROUPS);
}

Test(keeper, what_is_not_known_has_no_tree)
{
	OWN(fab_keeper) *k = fab_keeper_new(N_GROUPS);
	struct fab_fabric *f = test_ring(6);
	const uint64_t known = guid_of(f, 0);
	const struct wanted w = {.n = {2, 2, 1},
				 .guid = {{known, 0x1234}, {known, known}, {known}}};
	struct fab_keeper_counts counts;

	cr_assert_eq(route(k, &w, 0), -ENXIO);
	counts = renew(k, f, &w);
	cr_assert(counts.left == 1 && counts.routed == 0);
	FAILS_AS(route(k, &w, 0), -ENOENT,
		 "port 0x0000000000001234 is on no switch that supports multicast");
	cr_assert_eq(fab_keeper_route(k, N_GROUPS, &known, 1, false, ERR), -ENXIO);
	cr_assert_null(fab_keeper_plan(k));
	fab_keeper_clear(k);
	cr_assert_null(fab_keeper_fabric(k));
}

static jmp_buf out_of_memory;

static void leave(size_t bytes)
{
	(void)bytes;
	longjmp(out_of_memory, 1);
}

/* What a plug-in does in its life, in which the allocation after `n` fails; false: there
 * are not so many. What was in work is lost, but what is left can be ended. */
static bool live_without(int64_t n)
{
	static struct wanted w;
	static struct fab_plan *plan;
	const struct fab_plan_options o = all_balanced();
	struct fab_rng rng = test_rng(3);
	struct fab_fabric *f = test_random_fabric(12, 14, 3, 3), *less;
	struct fab_keeper *k = fab_keeper_new(N_GROUPS);
	uint32_t moved[N_GROUPS];
	struct fab_plan_result r;
	bool has_failed;

	draw_all(f, &rng, &w);
	less = test_without(f, 5, &rng);
	plan = NULL;
	fab_oom_handle(leave);
	if (!setjmp(out_of_memory)) {
		scarce_after(n);
		renew(k, f, &w);
		for (uint32_t g = 0; g < N_GROUPS; g += 3)
			(void)!fab_keeper_route(k, g, w.guid[(g + 1) % N_GROUPS],
						w.n[(g + 1) % N_GROUPS], false, NULL);
		plan = fab_keeper_plan(k);
		if (plan && !fab_plan_solve(plan, &o, &r, NULL))
			fab_keeper_take(k, plan, moved);
		renew(k, less, &w);
	}
	fab_oom_handle(NULL);
	has_failed = scarce_failed();
	scarce_after(-1);
	fab_plan_free(plan);
	fab_keeper_free(k);
	return has_failed;
}

/* Wherever memory runs out, the keeper can still be ended. */
Test(keeper, memory_runs_out_anywhere)
{
	int64_t n = 0;

	scarce_may_lose();
	while (live_without(n))
		n += n < 100 / TEST_SHARE ? 1 : test_step(11) + 2;
	cr_assert_gt(n, 1000);
}
