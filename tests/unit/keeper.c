/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees of a subnet that changes: plain checks of each tree, and of the loads. */
#include "opensm/keeper.h"

#include "base/mem.h"
#include "base/rng.h"
#include "fabric/builder.h"
#include "support/nets.h"
#include "support/scarce.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { N_GROUPS = 40, N_STEPS = 200, MAX_SIZE = 12, N_ROUNDS = 6 };

/* Who is in which group, as the test has it. */
struct wanted {
	uint32_t n[N_GROUPS];
	uint64_t guid[N_GROUPS][MAX_SIZE];
};

static uint64_t any_adapter(const struct fab_fabric *f, struct fab_rng *rng)
{
	uint32_t node = f->n_switches + (uint32_t)fab_rng_below(rng, f->n_adapters);

	return f->port_guid[fab_node_first_connected_port(f, node)];
}

static void draw(const struct fab_fabric *f, struct fab_rng *rng, struct wanted *w,
		 uint32_t g)
{
	w->n[g] = (uint32_t)fab_rng_below(rng, MAX_SIZE + 1);
	for (uint32_t i = 0; i < w->n[g]; i++) /* some twice */
		w->guid[g][i] = any_adapter(f, rng);
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

static int renew(struct fab_keeper *k, struct fab_fabric *f, const struct wanted *w,
		 struct fab_keeper_counts *counts)
{
	struct fab_membership m = membership(w);
	int rc = fab_keeper_renew(k, f, &m, counts, NULL);

	free(m.first);
	free(m.guid);
	return rc;
}

/* The same fabric without some cables between switches, one in `one_of`. */
static struct fab_fabric *without(const struct fab_fabric *f, uint32_t one_of,
				  struct fab_rng *rng)
{
	struct fab_builder *b = fab_builder_new();
	uint32_t *id = FAB_NEW(f->n_nodes, uint32_t);
	struct fab_host_options hosts = {0};
	struct fab_fabric *out;

	for (uint32_t n = 0; n < f->n_nodes; n++)
		id[n] = fab_builder_copy_node(b, f, n);
	for (uint32_t c = 0; c < f->n_cables; c++)
		if (c >= f->n_switch_links || fab_rng_below(rng, one_of))
			fab_builder_copy_cable(b, f, c, id);
	free(id);
	cr_assert_eq(fab_builder_finish(b, "less", "test", &hosts, &out, NULL), 0);
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

/* Every group has its members and a tree of them, and the largest load is that of all. */
static void expect_sound(const struct fab_keeper *k, const struct wanted *w)
{
	const struct fab_fabric *f = fab_keeper_fabric(k);
	uint32_t *load = FAB_NEW0(f->n_switch_links, uint32_t), max = 0;

	for (uint32_t g = 0; g < N_GROUPS; g++) {
		struct fab_live_tree t = fab_keeper_tree(k, g);

		if (t.root == FAB_NONE)
			continue;
		for (uint32_t i = 0; i < w->n[g]; i++)
			cr_assert(has_guid(f, &t, w->guid[g][i]));
		cr_assert_eq(count_reached(f, &t), t.n_edges + 1);
		for (uint32_t e = 0; e < t.n_edges; e++)
			if (++load[t.cable[e]] > max)
				max = load[t.cable[e]];
	}
	cr_assert_eq(fab_keeper_max_efi(k), max);
	free(load);
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
		uint32_t g = (uint32_t)fab_rng_below(rng, N_GROUPS);
		struct fab_err err = {""};
		int rc;

		draw(fab_keeper_fabric(k), rng, w, g);
		rc = fab_keeper_route(k, g, w->guid[g], w->n[g], &err);
		cr_assert(rc >= 0 || rc == -EHOSTUNREACH, "%s", err.text);
		if (rc < 0)
			cr_assert_eq(fab_keeper_tree(k, g).root, FAB_NONE);
		else /* asked again: nothing is new */
			cr_assert_eq(fab_keeper_route(k, g, w->guid[g], w->n[g], NULL),
				     0);
	}
	expect_sound(k, w);
}

/* Balance, take over, and see that it is what the plan promised. */
static void balance(struct fab_keeper *k, struct wanted *w, uint32_t max_moved,
		    struct fab_rng *rng)
{
	const struct fab_plan_options o = {.engine = fab_mcast_engine_find("balanced", 8),
					   .max_moved = max_moved,
					   .time_limit_ms = 60000};
	struct fab_plan *plan = fab_keeper_plan(k);
	uint32_t *moved, n, before = fab_keeper_max_efi(k), g;
	struct fab_plan_result r;
	struct fab_err err = {""};

	if (!plan)
		return;
	cr_assert_eq(fab_plan_solve(plan, &o, &r, &err), 0, "%s", err.text);
	cr_assert_eq(r.before, before);
	cr_assert_leq(r.after, before);
	cr_assert_geq(r.after, r.bound);
	cr_assert_leq(r.n_moved, max_moved);
	moved = FAB_NEW(r.n_moved, uint32_t);
	if (fab_rng_below(rng, 2)) { /* a group changes meanwhile: it keeps its tree */
		g = (uint32_t)fab_rng_below(rng, N_GROUPS);
		w->n[g] = 0;
		cr_assert_geq(fab_keeper_route(k, g, NULL, 0, NULL), 0);
		n = fab_keeper_take(k, plan, moved);
		cr_assert_geq(n + 1, r.n_moved);
		cr_assert_eq(fab_keeper_tree(k, g).root, FAB_NONE);
	} else {
		n = fab_keeper_take(k, plan, moved);
		cr_assert_eq(n, r.n_moved);
		cr_assert_eq(fab_keeper_max_efi(k), r.after);
	}
	expect_sound(k, w);
	free(moved);
	fab_plan_free(plan);
}

Test(keeper, trees_follow_the_subnet)
{
	for (uint64_t seed = 0; seed < 5; seed++) {
		struct fab_fabric *f =
			test_random_fabric(30 + 10 * (uint32_t)seed, 60, 3, seed);
		struct fab_keeper *k = fab_keeper_new(N_GROUPS);
		struct fab_keeper_counts counts;
		struct wanted w = {0};
		struct fab_rng rng;
		uint32_t kept = 0, routed = 0;

		fab_rng_init(&rng, seed);
		for (uint32_t g = 0; g < N_GROUPS; g++)
			draw(f, &rng, &w, g);
		cr_assert_eq(renew(k, without(f, UINT32_MAX, &rng), &w, &counts), 0);
		cr_assert_eq(counts.kept, 0);
		cr_assert_eq(counts.left, 0);
		cr_assert_eq(counts.routed, n_trees(k));
		expect_sound(k, &w);
		for (uint32_t round = 0; round < N_ROUNDS; round++) {
			balance(k, &w, round % 2 ? UINT32_MAX : round, &rng);
			churn(k, &w, &rng);
			cr_assert_eq(renew(k, without(f, 6 + 20 * (round % 3), &rng), &w,
					   &counts),
				     0);
			cr_assert_eq(counts.kept + counts.routed, n_trees(k));
			kept += counts.kept;
			routed += counts.routed;
			expect_sound(k, &w);
		}
		cr_assert_gt(kept, 0);
		cr_assert_gt(routed, 0);
		fab_keeper_free(k);
		fab_fabric_free(f);
	}
}

/* Nothing changed: every tree stays as it is, though nodes are numbered otherwise. */
Test(keeper, trees_stay_in_the_same_subnet)
{
	struct fab_fabric *f = test_random_fabric(40, 60, 3, 7);
	struct fab_keeper *k = fab_keeper_new(N_GROUPS);
	struct fab_keeper_counts counts;
	struct wanted w = {0};
	struct fab_rng rng;
	uint32_t n, max;

	fab_rng_init(&rng, 7);
	for (uint32_t g = 0; g < N_GROUPS; g++)
		draw(f, &rng, &w, g);
	cr_assert_eq(renew(k, without(f, UINT32_MAX, &rng), &w, &counts), 0);
	n = counts.routed;
	max = fab_keeper_max_efi(k);
	cr_assert_eq(renew(k, f, &w, &counts), 0);
	cr_assert_eq(counts.kept, n);
	cr_assert_eq(counts.routed, 0);
	cr_assert_eq(fab_keeper_max_efi(k), max);
	expect_sound(k, &w);
	fab_keeper_free(k);
}

Test(keeper, what_is_not_known_has_no_tree)
{
	struct fab_keeper *k = fab_keeper_new(N_GROUPS);
	struct fab_fabric *f = test_ring(6);
	struct fab_keeper_counts counts;
	struct wanted w = {.n = {2, 2, 1}};
	struct fab_err err = {""};
	uint64_t guid[2];

	guid[0] = f->port_guid[fab_node_first_connected_port(f, f->n_switches)];
	guid[1] = 0x1234;
	memcpy(w.guid[0], guid, sizeof(guid));
	w.guid[1][0] = w.guid[1][1] = w.guid[2][0] = guid[0];
	cr_assert_eq(fab_keeper_route(k, 0, guid, 2, &err), -ENXIO);
	cr_assert_eq(renew(k, f, &w, &counts), 0);
	cr_assert_eq(counts.left, 1);
	cr_assert_eq(counts.routed, 0);
	cr_assert_eq(fab_keeper_route(k, 0, guid, 2, &err), -ENOENT);
	cr_assert_str_eq(err.text, "port 0x0000000000001234 is on no switch that does "
				   "multicast");
	cr_assert_eq(fab_keeper_route(k, N_GROUPS, guid, 1, &err), -ENXIO);
	cr_assert_null(fab_keeper_plan(k));
	fab_keeper_clear(k);
	cr_assert_null(fab_keeper_fabric(k));
	fab_keeper_free(k);
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
	const struct fab_plan_options o = {.engine = fab_mcast_engine_find("balanced", 8),
					   .max_moved = UINT32_MAX,
					   .time_limit_ms = 60000};
	struct fab_membership m = membership(&l->w);
	struct fab_keeper_counts counts;
	struct fab_plan_result r;
	struct fab_fabric *f = l->f;

	l->f = NULL; /* the keeper's from here on */
	(void)!fab_keeper_renew(l->k, f, &m, &counts, NULL);
	for (uint32_t g = 0; g < N_GROUPS; g += 3)
		(void)!fab_keeper_route(l->k, g, l->w.guid[(g + 1) % N_GROUPS],
					l->w.n[(g + 1) % N_GROUPS], NULL);
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
	struct fab_rng rng;
	bool has_failed;

	fab_rng_init(&rng, 3);
	*l = (struct life){.k = fab_keeper_new(N_GROUPS)};
	for (uint32_t g = 0; g < N_GROUPS; g++)
		draw(f, &rng, &l->w, g);
	l->f = f;
	l->less = without(f, 5, &rng);
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
	struct life *l = FAB_NEW0(1, struct life);
	int64_t n = 0;

	scarce_may_lose();
	while (live_without(n, l))
		n += n < 100 ? 1 : 11;
	cr_assert_gt(n, 1000);
	free(l);
}
