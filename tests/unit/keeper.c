/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees of a subnet that changes: plain checks of each tree, and of the loads. */
#include "opensm/keeper.h"

#include "fabric/builder.h"
#include "support/node.h"
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

static uint64_t any_adapter(const struct fab_fabric *f, struct fab_rng *rng)
{
	uint32_t node = f->n_switches + test_below(rng, f->n_adapters);

	return f->port_guid[fab_node_first_connected_port(f, node)];
}

static void draw(const struct fab_fabric *f, struct fab_rng *rng, struct wanted *w,
		 uint32_t g)
{
	w->n[g] = test_below(rng, MAX_SIZE + 1);
	for (uint32_t i = 0; i < w->n[g]; i++) /* some twice */
		w->guid[g][i] = any_adapter(f, rng);
}

static void draw_all(const struct fab_fabric *f, struct fab_rng *rng, struct wanted *w)
{
	for (uint32_t g = 0; g < N_GROUPS; g++)
		draw(f, rng, w, g);
}

static struct fab_membership membership(const struct wanted *w)
{
	struct fab_membership m = {
		.n = N_GROUPS,
		.first = FAB_NEW0(N_GROUPS + 1, uint64_t),
		.guid = FAB_NEW((size_t)N_GROUPS * MAX_SIZE, uint64_t)};

	for (uint32_t g = 0; g < N_GROUPS; g++) {
		if (w->n[g])
			memcpy(m.guid + m.first[g], w->guid[g],
			       w->n[g] * sizeof(uint64_t));
		m.first[g + 1] = m.first[g] + w->n[g];
	}
	return m;
}

static struct fab_keeper_counts renew(struct fab_keeper *k, struct fab_fabric *f,
				      const struct wanted *w)
{
	struct fab_membership m = membership(w);
	struct fab_keeper_counts counts;

	MUST(fab_keeper_renew(k, f, &m, &counts, ERR));
	free(m.first);
	free(m.guid);
	return counts;
}

/* Cables of a fabric by their ports, to be plugged otherwise. */
struct plugs {
	uint32_t n, *a, *b; /* [n] b FAB_NONE: pulled */
};

/* Two of the cables from first on exchange their far ends. */
static void exchange(struct plugs *p, const struct fab_fabric *f, uint32_t first,
		     uint32_t end, struct fab_rng *rng)
{
	uint32_t x = first + test_below(rng, end - first);
	uint32_t y = first + test_below(rng, end - first);
	uint32_t far = p->b[x];

	/* no cable from a switch to itself, no adapter on an adapter */
	if (f->port_node[p->a[x]] == f->port_node[p->b[y]] ||
	    f->port_node[p->a[y]] == f->port_node[far] ||
	    (f->port_node[p->a[x]] < f->n_switches) !=
		    (f->port_node[p->a[y]] < f->n_switches))
		return;
	p->b[x] = p->b[y];
	p->b[y] = far;
}

/* The same nodes, a few cables between switches plugged otherwise, a few adapters moved
 * to other switches, and one adapter without its cable. */
static struct fab_fabric *plugged(const struct fab_fabric *f, uint32_t n_changes,
				  struct fab_rng *rng)
{
	struct fab_builder *b = fab_builder_new();
	struct fab_host_options hosts = {0};
	struct plugs p = {.n = f->n_cables,
			  .a = FAB_NEW(f->n_cables, uint32_t),
			  .b = FAB_NEW(f->n_cables, uint32_t)};
	uint32_t *id = FAB_NEW(f->n_nodes, uint32_t);
	struct fab_fabric *out;

	memcpy(p.a, f->cable_a, p.n * sizeof(*p.a));
	memcpy(p.b, f->cable_b, p.n * sizeof(*p.b));
	for (uint32_t i = 0; i < n_changes; i++) {
		exchange(&p, f, 0, f->n_switch_links, rng);
		exchange(&p, f, f->n_switch_links, f->n_cables, rng);
	}
	if (n_changes)
		p.b[f->n_cables - 1] = FAB_NONE;
	for (uint32_t n = 0; n < f->n_nodes; n++)
		id[n] = fab_builder_copy_node(b, f, n);
	for (uint32_t c = 0; c < p.n; c++)
		if (p.b[c] != FAB_NONE)
			fab_builder_add_cable(
				b, id[f->port_node[p.a[c]]], f->port_num[p.a[c]],
				id[f->port_node[p.b[c]]], f->port_num[p.b[c]], 4,
				f->port_speed[p.a[c]]);
	free(p.a);
	free(p.b);
	free(id);
	MUST(fab_builder_finish(b, "plugged", "test", &hosts, &out, ERR));
	return out;
}

/* Walk the tree from its root over its cables only: all switches and members are met. */
static uint32_t count_reached(const struct fab_fabric *f, const struct fab_live_tree *t)
{
	bool *is_met = FAB_NEW0(f->n_switches, bool), is_more = true;
	uint32_t n = 1;

	is_met[t->root] = true;
	while (is_more) {
		is_more = false;
		for (uint32_t e = 0; e < t->n_edges; e++) {
			uint32_t a = f->port_node[f->cable_a[t->cable[e]]];
			uint32_t b = f->port_node[f->cable_b[t->cable[e]]];

			if (is_met[a] == is_met[b])
				continue;
			is_met[a] = is_met[b] = is_more = true;
			n++;
		}
	}
	for (uint32_t m = 0; m < t->n_members; m++)
		cr_assert(is_met[fab_port_switch(f, t->member[m])]);
	free(is_met);
	return n;
}

static bool has_guid(const struct fab_fabric *f, const struct fab_live_tree *t,
		     uint64_t guid)
{
	for (uint32_t m = 0; m < t->n_members; m++)
		if (f->port_guid[t->member[m]] == guid)
			return true;
	return false;
}

static uint32_t n_different(const uint64_t *guid, uint32_t n)
{
	uint32_t n_seen = 0;

	for (uint32_t i = 0; i < n; i++) {
		bool is_first = true;

		for (uint32_t k = 0; k < i; k++)
			is_first &= guid[k] != guid[i];
		n_seen += is_first;
	}
	return n_seen;
}

/* Every group has its members, no others, and a tree of them, and the largest load is
 * that of all. */
static void expect_sound(const struct fab_keeper *k, const struct wanted *w)
{
	const struct fab_fabric *f = fab_keeper_fabric(k);
	OWN_HEAP uint32_t *load = FAB_NEW0(f->n_switch_links, uint32_t);
	uint32_t max = 0;

	for (uint32_t g = 0; g < N_GROUPS; g++) {
		struct fab_live_tree t = fab_keeper_tree(k, g);

		if (t.root == FAB_NONE)
			continue;
		for (uint32_t i = 0; i < w->n[g]; i++)
			cr_assert(has_guid(f, &t, w->guid[g][i]));
		cr_assert_eq(t.n_members, n_different(w->guid[g], w->n[g]));
		cr_assert_eq(count_reached(f, &t), t.n_edges + 1);
		for (uint32_t e = 0; e < t.n_edges; e++)
			if (++load[t.cable[e]] > max)
				max = load[t.cable[e]];
	}
	cr_assert_eq(fab_keeper_max_efi(k), max);
}

static uint32_t n_trees(const struct fab_keeper *k)
{
	uint32_t n = 0;

	for (uint32_t g = 0; g < N_GROUPS; g++)
		n += fab_keeper_tree(k, g).root != FAB_NONE;
	return n;
}

static void churn(struct fab_keeper *k, struct wanted *w, struct fab_rng *rng)
{
	for (int step = 0; step < N_STEPS; step++) {
		uint32_t g = test_below(rng, N_GROUPS);
		int rc;

		draw(fab_keeper_fabric(k), rng, w, g);
		rc = fab_keeper_route(k, g, w->guid[g], w->n[g], false, ERR);
		cr_assert(rc >= 0 || rc == -EHOSTUNREACH, "%s", test_err.text);
		if (rc < 0)
			cr_assert_eq(fab_keeper_tree(k, g).root, FAB_NONE);
		else /* asked again: nothing is new */
			MUST(fab_keeper_route(k, g, w->guid[g], w->n[g], false, ERR));
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
static void balance(struct fab_keeper *k, struct wanted *w, uint32_t max_moved,
		    struct fab_rng *rng)
{
	struct fab_plan_options o = all_balanced();
	OWN(fab_plan) *plan = fab_keeper_plan(k);
	uint32_t n, before = fab_keeper_max_efi(k), g;
	OWN_HEAP uint32_t *moved = NULL;
	struct fab_plan_result r;

	if (!plan)
		return;
	o.max_moved = max_moved;
	if (max_moved != UINT32_MAX)
		o.engine = NULL;
	MUST(fab_plan_solve(plan, &o, &r, ERR));
	cr_assert_eq(r.before, before);
	cr_assert_leq(r.after, before);
	/* trees that are higher than needed may have less than the bound */
	cr_assert(r.after >= r.bound || r.after == r.before);
	cr_assert_leq(r.n_moved, max_moved);
	/* all trees move only for a smaller load */
	cr_assert(!o.engine || r.after < before || !r.n_moved);
	moved = FAB_NEW(r.n_moved, uint32_t);
	if (fab_rng_below(rng, 2)) { /* a group changes meanwhile: it keeps its tree */
		g = test_below(rng, N_GROUPS);
		w->n[g] = 0;
		cr_assert_geq(fab_keeper_route(k, g, NULL, 0, false, NULL), 0);
		n = fab_keeper_take(k, plan, moved);
		cr_assert_geq(n + 1, r.n_moved);
		cr_assert_eq(fab_keeper_tree(k, g).root, FAB_NONE);
	} else {
		n = fab_keeper_take(k, plan, moved);
		cr_assert_eq(n, r.n_moved);
		cr_assert_eq(fab_keeper_max_efi(k), r.after);
	}
	expect_sound(k, w);
}

Test(keeper, trees_follow_the_subnet)
{
	for (uint64_t seed = 0; seed < test_some(5, 1, 2); seed++) {
		OWN(fab_fabric) *f =
			test_random_fabric(30 + 10 * (uint32_t)seed, 60, 3, seed);
		OWN(fab_keeper) *k = fab_keeper_new(N_GROUPS);
		struct fab_keeper_counts counts;
		struct wanted w = {0};
		struct fab_rng rng = test_rng(seed);
		uint32_t kept = 0, routed = 0;

		draw_all(f, &rng, &w);
		counts = renew(k, test_without(f, UINT32_MAX, &rng), &w);
		cr_assert_eq(counts.kept, 0);
		cr_assert_eq(counts.left, 0);
		cr_assert_eq(counts.routed, n_trees(k));
		expect_sound(k, &w);
		for (uint32_t round = 0; round < N_ROUNDS; round++) {
			balance(k, &w, round % 2 ? UINT32_MAX : round, &rng);
			churn(k, &w, &rng);
			counts =
				renew(k, test_without(f, 6 + 20 * (round % 3), &rng), &w);
			cr_assert_eq(counts.kept + counts.routed, n_trees(k));
			kept += counts.kept;
			routed += counts.routed;
			expect_sound(k, &w);
		}
		cr_assert_gt(kept, 0);
		cr_assert_gt(routed, 0);
	}
}

/* Nothing changed: every tree stays as it is, though nodes are numbered otherwise. */
Test(keeper, trees_stay_in_the_same_subnet)
{
	struct fab_fabric *f = test_random_fabric(40, 60, 3, 7);
	OWN(fab_keeper) *k = fab_keeper_new(N_GROUPS);
	struct fab_keeper_counts counts;
	struct wanted w = {0};
	struct fab_rng rng = test_rng(7);
	uint32_t n, max;

	draw_all(f, &rng, &w);
	n = renew(k, test_without(f, UINT32_MAX, &rng), &w).routed;
	max = fab_keeper_max_efi(k);
	counts = renew(k, f, &w);
	cr_assert_eq(counts.kept, n);
	cr_assert_eq(counts.routed, 0);
	cr_assert_eq(fab_keeper_max_efi(k), max);
	expect_sound(k, &w);
}

/* Cables and adapters plugged otherwise, members that came and went between two sweeps:
 * what stays is sound, what is asked for again is not new, and many trees do stay. */
Test(keeper, trees_follow_what_is_plugged)
{
	uint32_t kept = 0, left = 0;

	for (uint64_t seed = 0; seed < 8; seed++) {
		OWN(fab_fabric) *f = test_random_fabric(30, 60, 3, seed);
		OWN(fab_keeper) *k = fab_keeper_new(N_GROUPS);
		struct fab_keeper_counts counts;
		struct wanted w = {0};
		struct fab_rng rng = test_rng(seed);

		draw_all(f, &rng, &w);
		renew(k, plugged(f, 0, &rng), &w);
		for (uint32_t round = 0; round < N_ROUNDS; round++) {
			uint32_t n_left = 0;

			for (uint32_t g = round; g < N_GROUPS; g += 8)
				draw(f, &rng, &w, g);
			for (uint32_t g = round + 4; g < N_GROUPS; g += 8)
				w.n[g] -= w.n[g] > 2; /* one goes, nobody comes */
			counts = renew(k, plugged(f, round % 3, &rng), &w);
			expect_sound(k, &w);
			for (uint32_t g = 0; g < N_GROUPS; g++) {
				int rc = fab_keeper_route(k, g, w.guid[g], w.n[g], false,
							  NULL);

				cr_assert_leq(rc, 0);
				n_left += rc < 0;
			}
			cr_assert_eq(counts.left, n_left);
			cr_assert_eq(counts.kept + counts.routed, n_trees(k));
			kept += counts.kept;
			left += n_left;
		}
	}
	cr_assert_gt(kept, 100);
	cr_assert_gt(left, 0);
}

/* A tree without a cable, whoever the members are. */
static void grow_nothing(struct fab_mcast_state *state, uint32_t group)
{
	(void)state;
	(void)group;
}

/* What the trees of all groups are, to be compared. */
struct trees {
	uint32_t root[N_GROUPS], n[N_GROUPS], cable[N_GROUPS][64];
};

static void copy_trees(const struct fab_keeper *k, struct trees *out)
{
	memset(out, 0, sizeof(*out));
	for (uint32_t g = 0; g < N_GROUPS; g++) {
		struct fab_live_tree t = fab_keeper_tree(k, g);

		out->root[g] = t.root;
		out->n[g] = t.root == FAB_NONE ? 0 : t.n_edges;
		cr_assert_lt(out->n[g], 64);
		if (out->n[g])
			memcpy(out->cable[g], t.cable, out->n[g] * sizeof(*t.cable));
	}
}

static bool is_tree_as_before(const struct trees *a, const struct trees *b, uint32_t g)
{
	return a->root[g] == b->root[g] && a->n[g] == b->n[g] &&
	       !memcmp(a->cable[g], b->cable[g], sizeof(a->cable[g]));
}

/* What plans promise and what is taken of them, for one engine. */
struct planned {
	struct fab_keeper *k;
	struct wanted w;
	struct fab_fabric *f;
	struct fab_plan *plan;
	struct fab_plan_result r;
	struct fab_err err;
	int rc;
};

/* NULL: balanced. */
static void plan_by(struct planned *x, const struct fab_mcast_engine *engine)
{
	struct fab_plan_options o = all_balanced();
	struct fab_rng rng = test_rng(11);

	*x = (struct planned){.f = test_random_fabric(30, 20, 3, 11),
			      .k = fab_keeper_new(N_GROUPS)};
	draw_all(x->f, &rng, &x->w);
	renew(x->k, plugged(x->f, 0, &rng), &x->w);
	x->plan = fab_keeper_plan(x->k);
	if (engine)
		o.engine = engine;
	x->rc = fab_plan_solve(x->plan, &o, &x->r, &x->err);
}

static void planned_fini(struct planned *x)
{
	fab_plan_free(x->plan);
	fab_keeper_free(x->k);
	fab_fabric_free(x->f);
}

/* Trees that are moved are others than before, and no others change. */
Test(keeper, what_moves_becomes_another)
{
	struct trees before, after;
	uint32_t moved[N_GROUPS], n;
	bool is_moved[N_GROUPS] = {false};
	FAB_AUTO(planned_fini) struct planned x;

	plan_by(&x, NULL);
	cr_assert_eq(x.rc, 0);
	cr_assert_lt(x.r.after, x.r.before);
	copy_trees(x.k, &before);
	n = fab_keeper_take(x.k, x.plan, moved);
	cr_assert_eq(n, x.r.n_moved);
	copy_trees(x.k, &after);
	for (uint32_t i = 0; i < n; i++)
		is_moved[moved[i]] = true;
	for (uint32_t g = 0; g < N_GROUPS; g++)
		cr_expect_eq(is_moved[g], !is_tree_as_before(&before, &after, g), "%u",
			     g);
}

/* An engine that is worse than what is there, and one whose trees are none. */
Test(keeper, worse_and_wrong_trees_are_not_taken)
{
	static const struct fab_mcast_engine wrong = {.name = "wrong",
						      .grow = grow_nothing};
	FAB_AUTO(planned_fini) struct planned x;

	plan_by(&x, fab_mcast_engine_find("minihop", 7));
	cr_assert_eq(x.rc, 0);
	cr_assert_eq(x.r.n_moved, 0);
	cr_assert_eq(x.r.after, x.r.before);
	planned_fini(&x);
	plan_by(&x, &wrong);
	cr_assert_eq(x.rc, -EPROTO, "%d %s", x.rc, x.err.text);
	cr_assert_eq(x.r.n_moved, 0);
	cr_assert_eq(fab_keeper_take(x.k, x.plan, NULL), 0);
}

/* A plan of a subnet that was renewed since, and of groups whose members are others. */
Test(keeper, old_plans_are_not_taken)
{
	uint32_t moved[N_GROUPS], g;
	struct trees before, after;
	FAB_AUTO(planned_fini) struct planned x;
	struct fab_rng rng = test_rng(1);

	plan_by(&x, NULL);
	cr_assert_gt(x.r.n_moved, 0);
	renew(x.k, plugged(x.f, 0, &rng), &x.w);
	copy_trees(x.k, &before);
	cr_assert_eq(fab_keeper_take(x.k, x.plan, moved), 0);
	copy_trees(x.k, &after);
	cr_assert_eq(memcmp(&before, &after, sizeof(before)), 0);
	planned_fini(&x);

	plan_by(&x, NULL);
	for (g = 0; g < N_GROUPS; g++) /* as many members, others */
		for (uint32_t i = 0; i < x.w.n[g]; i++)
			x.w.guid[g][i] = any_adapter(x.f, &rng);
	for (g = 0; g < N_GROUPS; g++)
		cr_assert_geq(
			fab_keeper_route(x.k, g, x.w.guid[g], x.w.n[g], false, NULL), 0);
	fab_keeper_take(x.k, x.plan, moved);
	expect_sound(x.k, &x.w);
}

/* Switches 0 and 1 with an adapter each; 2 has three cables to 1 and one to each of 0, 3
 * and 4, which have one to 0 each: three cables leave each side, but only one of 0 leads
 * to 1 by the shortest path. */
static struct fab_fabric *narrow_fabric(void)
{
	static const uint32_t cable[][2] = {{0, 2}, {0, 3}, {0, 4}, {1, 2},
					    {1, 2}, {1, 2}, {2, 3}, {2, 4}};
	struct fab_builder *b = fab_builder_new();
	struct fab_host_options hosts = {0};
	uint16_t port[7] = {0};
	struct fab_fabric *f;

	for (uint32_t n = 0; n < 7; n++) {
		test_node(b, n < 5 ? FAB_SWITCH : FAB_ADAPTER, 0x100 + n, 8, "n");
		fab_builder_set_port(b, n, n < 5 ? 0 : 1, 0x200 + n, 0, 0);
	}
	for (size_t c = 0; c < FAB_COUNT(cable); c++)
		fab_builder_add_cable(b, cable[c][0], ++port[cable[c][0]], cable[c][1],
				      ++port[cable[c][1]], 4, 1);
	fab_builder_add_cable(b, 0, ++port[0], 5, 1, 4, 1);
	fab_builder_add_cable(b, 1, ++port[1], 6, 1, 4, 1);
	MUST(fab_builder_finish(b, "narrow", "test", &hosts, &f, ERR));
	return f;
}

/* The bound of a plan knows that trees are of minimal height. */
Test(keeper, bound_of_plans)
{
	const struct fab_plan_options o = all_balanced();
	OWN(fab_keeper) *k = fab_keeper_new(N_GROUPS);
	OWN(fab_plan) *plan = NULL;
	struct fab_plan_result r;
	struct wanted w;

	for (uint32_t g = 0; g < N_GROUPS; g++) {
		w.n[g] = 2;
		w.guid[g][0] = 0x205;
		w.guid[g][1] = 0x206;
	}
	renew(k, narrow_fabric(), &w);
	plan = fab_keeper_plan(k);
	MUST(fab_plan_solve(plan, &o, &r, ERR));
	cr_expect_eq(r.bound, N_GROUPS, "%u", r.bound);
	cr_expect_eq(r.after, N_GROUPS);
}

Test(keeper, what_is_not_known_has_no_tree)
{
	OWN(fab_keeper) *k = fab_keeper_new(N_GROUPS);
	struct fab_fabric *f = test_ring(6);
	struct fab_keeper_counts counts;
	struct wanted w = {.n = {2, 2, 1}};
	uint64_t guid[2];

	guid[0] = f->port_guid[fab_node_first_connected_port(f, f->n_switches)];
	guid[1] = 0x1234;
	memcpy(w.guid[0], guid, sizeof(guid));
	w.guid[1][0] = w.guid[1][1] = w.guid[2][0] = guid[0];
	cr_assert_eq(fab_keeper_route(k, 0, guid, 2, false, ERR), -ENXIO);
	counts = renew(k, f, &w);
	cr_assert_eq(counts.left, 1);
	cr_assert_eq(counts.routed, 0);
	FAILS_AS(fab_keeper_route(k, 0, guid, 2, false, ERR), -ENOENT,
		 "port 0x0000000000001234 is on no switch that supports multicast");
	cr_assert_eq(fab_keeper_route(k, N_GROUPS, guid, 1, false, ERR), -ENXIO);
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

/* What a plug-in does in its life, on the keeper's own heap. */
struct life {
	struct fab_keeper *k;
	struct fab_fabric *f, *less;
	struct wanted w;
	struct fab_plan *plan;
	uint32_t moved[N_GROUPS];
};

static void live_on(struct life *l)
{
	const struct fab_plan_options o = all_balanced();
	struct fab_membership m = membership(&l->w);
	struct fab_keeper_counts counts;
	struct fab_plan_result r;
	struct fab_fabric *f = l->f;

	l->f = NULL; /* the keeper's from here on */
	(void)!fab_keeper_renew(l->k, f, &m, &counts, NULL);
	for (uint32_t g = 0; g < N_GROUPS; g += 3)
		(void)!fab_keeper_route(l->k, g, l->w.guid[(g + 1) % N_GROUPS],
					l->w.n[(g + 1) % N_GROUPS], false, NULL);
	l->plan = fab_keeper_plan(l->k);
	if (l->plan && !fab_plan_solve(l->plan, &o, &r, NULL))
		fab_keeper_take(l->k, l->plan, l->moved);
	f = l->less;
	l->less = NULL;
	(void)!fab_keeper_renew(l->k, f, &m, &counts, NULL);
	free(m.first);
	free(m.guid);
}

/* One life in which the allocation after `n` fails; false: there are not so many. */
static bool live_without(int64_t n, struct life *l)
{
	struct fab_fabric *f = test_random_fabric(12, 14, 3, 3);
	struct fab_rng rng = test_rng(3);
	bool has_failed;

	*l = (struct life){.k = fab_keeper_new(N_GROUPS)};
	draw_all(f, &rng, &l->w);
	l->f = f;
	l->less = test_without(f, 5, &rng);
	fab_oom_handle(leave);
	if (!setjmp(out_of_memory)) {
		scarce_after(n);
		live_on(l);
	}
	fab_oom_handle(NULL);
	has_failed = scarce_failed();
	scarce_after(-1);
	/* what was in work is lost, but what is left can be ended */
	fab_plan_free(l->plan);
	fab_keeper_free(l->k);
	fab_fabric_free(l->f);
	fab_fabric_free(l->less);
	return has_failed;
}

/* Wherever memory runs out, the keeper can still be ended. */
Test(keeper, memory_runs_out_anywhere)
{
	OWN_HEAP struct life *l = FAB_NEW0(1, struct life);
	int64_t n = 0;

	scarce_may_lose();
	while (live_without(n, l))
		n += n < 100 / TEST_SHARE ? 1 : test_step(11) + 2;
	cr_assert_gt(n, 1000);
}
