/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees that come and go against routing all groups at once and plain counting. */
#include "mcast/live.h"

#include "base/mem.h"
#include "base/rng.h"
#include "mcast/route.h"
#include "support/nets.h"
#include "support/routed.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { N_STEPS = 300, MAX_SIZE = 20 };

static void setting_init(struct routed *s, uint64_t seed)
{
	static const char *const patterns[] = {"random:groups=60,size=2-14", "grid:6x10",
					       NULL};
	uint32_t n = (uint32_t)seed;

	routed_init_patterns(s, test_random_fabric(20 + 17 * n, 40, 3, seed), patterns,
			     seed);
}

static uint64_t route(struct fab_live *live, const struct routed *s, uint32_t group)
{
	const struct fab_groups *g = s->groups;

	return fab_live_route(live, group, g->member + g->first[group],
			      fab_group_size(g, group));
}

/* The trees and loads now; the caller frees both. */
static void result(const struct fab_live *live, const struct routed *s,
		   struct fab_groups **groups, struct fab_mcast_result *r)
{
	struct fab_err err = {""};

	cr_assert_eq(fab_live_result(live, s->groups, groups, r, &err), 0, "%s",
		     err.text);
}

static void expect_equal(const struct routed *s, const struct fab_mcast_result *a,
			 const struct fab_mcast_result *b)
{
	uint64_t n = a->forest.first[s->groups->n];

	cr_assert_eq(b->forest.first[s->groups->n], n, "%s", a->engine->name);
	cr_assert_arr_eq(a->load, b->load, s->f->n_switch_links * sizeof(uint32_t), "%s",
			 a->engine->name);
	cr_assert_arr_eq(a->forest.root, b->forest.root, s->groups->n * sizeof(uint32_t));
	cr_assert_arr_eq(a->forest.height, b->forest.height, s->groups->n);
	cr_assert_arr_eq(a->forest.cable, b->forest.cable, n * sizeof(uint32_t));
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
			struct fab_mcast_result at_once, one_by_one;
			struct fab_mcast_problem problem;
			struct fab_groups *groups;
			struct fab_live *live;
			struct fab_efi efi;
			struct routed s;
			double seconds;

			setting_init(&s, seed);
			problem = (struct fab_mcast_problem){s.f, s.dist, s.groups};
			cr_assert_eq(fab_mcast_route(&problem, &fab_mcast_engines[i], 1,
						     &options, &at_once, &seconds, NULL),
				     0);
			live = fab_live_new(s.f, s.dist, s.groups->n,
					    fab_mcast_engines[i], options.root_ties);
			for (uint32_t g = 0; g < s.groups->n; g++)
				route(live, &s, g);
			result(live, &s, &groups, &one_by_one);
			expect_equal(&s, &at_once, &one_by_one);
			fab_efi_of(&problem, &at_once, &efi);
			cr_assert_eq(fab_live_peak(live), efi.max);
			fab_groups_free(groups);
			fab_mcast_result_fini(&at_once);
			fab_mcast_result_fini(&one_by_one);
			fab_live_free(live);
			routed_fini(&s);
		}
}

/* The port of a switch by which packets come to a member: its own, if it is a switch. */
static uint32_t leaves_by(const struct fab_fabric *f, uint32_t member)
{
	return fab_node_is_switch(f, f->port_node[member]) ? member
							   : fab_port_peer(f, member);
}

/* Does the group's tree use this port of a switch? */
static void mark_ports(const struct routed *s, const struct fab_groups *groups,
		       const struct fab_mcast_result *r, uint32_t group, bool *uses)
{
	const struct fab_fabric *f = s->f;

	memset(uses, 0, f->n_ports);
	for (uint32_t i = 0; groups && i < groups->n; i++) {
		if (strcmp(fab_group_name(groups, i), fab_group_name(s->groups, group)) !=
			    0 ||
		    fab_group_size(groups, i) < 2)
			continue;
		for (uint64_t e = r->forest.first[i]; e < r->forest.first[i + 1]; e++) {
			uses[f->cable_a[r->forest.cable[e]]] = true;
			uses[f->cable_b[r->forest.cable[e]]] = true;
		}
		for (uint64_t m = groups->first[i]; m < groups->first[i + 1]; m++)
			uses[leaves_by(f, groups->member[m])] = true;
	}
}

static uint64_t count_changes(const struct fab_fabric *f, const bool *before,
			      const bool *after)
{
	uint64_t n = 0;

	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		uint32_t first = f->node_first_port[sw];

		n += memcmp(before + first, after + first,
			    f->node_first_port[sw + 1] - first) != 0;
	}
	return n;
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
	if (fab_rng_below(rng, 3) == 0) {
		uint32_t sw = (uint32_t)fab_rng_below(rng, s->f->n_switches);

		member[n++] = s->f->node_first_port[sw];
	}
	return n;
}

static void churn(const struct routed *s, struct fab_live *live, uint64_t seed)
{
	bool *before = FAB_NEW(s->f->n_ports, bool),
	     *after = FAB_NEW(s->f->n_ports, bool);
	struct fab_rng rng;

	fab_rng_init(&rng, seed);
	for (int step = 0; step < N_STEPS; step++) {
		uint32_t group = (uint32_t)fab_rng_below(&rng, s->groups->n), n;
		fab_port_id member[MAX_SIZE];
		struct fab_mcast_result r;
		struct fab_groups *groups;
		struct fab_err err = {""};
		uint64_t changed;

		result(live, s, &groups, &r);
		mark_ports(s, groups, &r, group, before);
		fab_mcast_result_fini(&r);
		fab_groups_free(groups);
		n = draw(s, &rng, group, member);
		changed = fab_live_route(live, group, member, n);
		result(live, s, &groups, &r);
		mark_ports(s, groups, &r, group, after);
		cr_assert_eq(changed, count_changes(s->f, before, after));
		if (groups && step % 20 == 0) {
			struct fab_mcast_problem p = {s->f, s->dist, groups};

			cr_assert_eq(fab_mcast_verify(&p, &r, &err), 0, "%s", err.text);
		}
		fab_mcast_result_fini(&r);
		fab_groups_free(groups);
	}
	free(before);
	free(after);
}

/* What is left is sound at any time, and nothing is left when all have gone. */
Test(live, groups_that_come_and_go)
{
	for (size_t i = 0; i < fab_mcast_n_engines; i++) {
		struct fab_mcast_result r;
		struct fab_groups *groups;
		struct fab_live *live;
		struct routed s;

		setting_init(&s, 1);
		live = fab_live_new(s.f, s.dist, s.groups->n, fab_mcast_engines[i],
				    FAB_TIES_SPREAD);
		churn(&s, live, i);
		for (uint32_t g = 0; g < s.groups->n; g++)
			fab_live_route(live, g, NULL, 0);
		result(live, &s, &groups, &r);
		cr_assert_null(groups);
		for (uint32_t c = 0; c < s.f->n_switch_links; c++)
			cr_assert_eq(r.load[c], 0);
		cr_assert_gt(fab_live_peak(live), 0);
		fab_mcast_result_fini(&r);
		/* as if nothing had been there before: roots are as little used, too */
		cr_assert_gt(route(live, &s, 0), 0);
		cr_assert_eq(route(live, &s, 0), 0);
		fab_live_free(live);
		routed_fini(&s);
	}
}

/* Cables of the group's tree with so many trees; loads are counted afresh. */
static uint32_t edges_at(const struct fab_live *live, const struct routed *s,
			 uint32_t group, uint32_t at_least)
{
	uint32_t *load = FAB_NEW0(s->f->n_switch_links, uint32_t), n = 0;
	struct fab_live_tree t = fab_live_tree_of(live, group);

	for (uint32_t g = 0; g < s->groups->n; g++) {
		struct fab_live_tree other = fab_live_tree_of(live, g);

		for (uint32_t e = 0; e < other.n_edges; e++)
			load[other.cable[e]]++;
	}
	for (uint32_t e = 0; e < t.n_edges; e++)
		n += load[t.cable[e]] >= at_least;
	free(load);
	return n;
}

/* Route the group again, and put its tree back where that is no better. */
static bool try_again(struct fab_live *live, const struct routed *s, uint32_t group,
		      uint32_t max)
{
	struct fab_live_tree old = fab_live_tree_of(live, group);
	uint32_t before = edges_at(live, s, group, max), sw[512], cable[512];

	if (!before)
		return false;
	cr_assert_leq(old.n_edges, 512);
	memcpy(sw, old.sw, old.n_edges * sizeof(*sw));
	memcpy(cable, old.cable, old.n_edges * sizeof(*cable));
	route(live, s, group);
	if (!edges_at(live, s, group, max + 1) && edges_at(live, s, group, max) < before)
		return true;
	old.member = s->groups->member + s->groups->first[group];
	old.sw = sw;
	old.cable = cable;
	fab_live_adopt(live, group, &old);
	return false;
}

/* As fab_live_improve() says, by nothing but the other functions. */
static uint32_t improve_plainly(struct fab_live *live, const struct routed *s,
				uint32_t max_moved, uint32_t *moved)
{
	bool *is_moved = FAB_NEW0(s->groups->n, bool), goes_on = true;
	uint32_t n = 0;

	while (goes_on) {
		uint32_t max = fab_live_max_load(live);

		goes_on = false;
		for (uint32_t g = 0; g < s->groups->n; g++) {
			if ((is_moved[g] || n < max_moved) &&
			    try_again(live, s, g, max)) {
				goes_on = true;
				if (!is_moved[g])
					moved[n++] = g;
				is_moved[g] = true;
			}
		}
	}
	free(is_moved);
	return n;
}

/* Trees that crowd on the same cables, to begin with. */
static struct fab_live *crowded(const struct routed *s)
{
	struct fab_live *live =
		fab_live_new(s->f, s->dist, s->groups->n,
			     fab_mcast_engine_find("fulb-links", 10), FAB_TIES_SPREAD);
	struct fab_live *worse =
		fab_live_new(s->f, s->dist, s->groups->n,
			     fab_mcast_engine_find("minihop", 7), FAB_TIES_LOWEST);

	for (uint32_t g = 0; g < s->groups->n; g++) {
		struct fab_live_tree t;

		route(worse, s, g);
		t = fab_live_tree_of(worse, g);
		fab_live_adopt(live, g, &t);
	}
	fab_live_free(worse);
	return live;
}

/* Trees on the fullest cables are routed again: no more than asked, each once in the
 * list, the same as by plain means; better ones are found. */
Test(live, fullest_cables_are_relieved)
{
	const uint32_t limits[] = {0, 1, 8, 24, 48, UINT32_MAX};
	uint32_t n_better = 0, n_of_one = 0;

	for (uint64_t i = 0; i < 5 * FAB_COUNT(limits); i++) {
		uint32_t limit = limits[i % FAB_COUNT(limits)], n, n_plain, before, peak;
		struct fab_live *live, *plain;
		uint32_t *moved, *moved_plain;
		struct fab_mcast_result a, b;
		struct fab_groups *ga, *gb;
		struct routed s;

		setting_init(&s, i / FAB_COUNT(limits));
		moved = FAB_NEW(s.groups->n, uint32_t);
		moved_plain = FAB_NEW(s.groups->n, uint32_t);
		live = crowded(&s);
		plain = crowded(&s);
		before = fab_live_max_load(live);
		peak = fab_live_peak(live);
		cr_assert_eq(fab_live_improve(live, limit, moved, routed_stop, NULL), 0);
		n = fab_live_improve(live, limit, moved, NULL, NULL);
		n_plain = improve_plainly(plain, &s, limit, moved_plain);
		cr_assert_eq(n, n_plain);
		cr_assert_leq(n, limit);
		cr_assert_arr_eq(moved, moved_plain, n * sizeof(*moved));
		cr_assert_leq(fab_live_max_load(live), before);
		cr_assert_eq(fab_live_peak(live), peak);
		result(live, &s, &ga, &a);
		result(plain, &s, &gb, &b);
		expect_equal(&s, &a, &b);
		n_better += fab_live_max_load(live) < before;
		n_of_one += limit == 1 && n == 1;
		fab_mcast_result_fini(&a);
		fab_mcast_result_fini(&b);
		fab_groups_free(ga);
		fab_groups_free(gb);
		fab_live_free(live);
		fab_live_free(plain);
		free(moved);
		free(moved_plain);
		routed_fini(&s);
	}
	cr_assert_gt(n_better, 0);
	cr_assert_gt(n_of_one, 0);
}
