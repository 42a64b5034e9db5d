/* SPDX-License-Identifier: BSD-2-Clause */
/* minhop and updn, LID by LID: against a plain count of ports, and what is judged of
 * them. */
#include "unicast/balance.h"

#include "base/rng.h"
#include "support/gen.h"
#include "support/nets.h"
#include "unicast/complete.h"
#include "unicast/destinations.h"
#include "unicast/faults.h"
#include "unicast/judge.h"
#include "unicast/min_hops.h"
#include "unicast/verify.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Some switches and adapters with several LIDs, some dead parts. */
struct net {
	struct fab_fabric *f;
	struct fab_faults *faults;
	struct fab_live live;
	struct fab_destination *all;
	uint32_t n;
};

static struct net net_new(uint64_t seed)
{
	struct net x = {.f = test_random_fabric(12, 14, 3, seed)};
	struct fab_fault_list list = {{0}};
	struct fab_rng rng;

	fab_rng_init(&rng, seed);
	for (uint32_t p = 0; seed % 3 == 0 && p < x.f->n_ports; p++)
		if (x.f->port_node[p] >= x.f->n_switches)
			x.f->port_lmc[p] = (uint8_t)fab_rng_below(&rng, 3);
	x.faults = fab_faults_new(x.f);
	fab_faults_candidates(x.f, FAB_FAULT_ANY, x.faults, &list);
	fab_faults_draw(x.faults, &list, (uint32_t)fab_rng_below(&rng, 4), &rng);
	free(list.of.v);
	fab_live_init(&x.live, x.f, x.faults);
	x.n = fab_destinations(&x.live, &x.all);
	return x;
}

static void net_free(struct net *x)
{
	free(x->all);
	fab_live_fini(&x->live);
	fab_faults_free(x->faults);
	fab_fabric_free(x->f);
}

static struct fab_routes *route(const struct net *x, const struct fab_unicast_engine *e)
{
	const struct fab_unicast_problem problem = {
		.f = x->f, .faults = x->faults, .max_vls = 1, .n_threads = 1};
	struct fab_routes *r = NULL;

	cr_assert_eq(e->route(&problem, &r, NULL), 0);
	return r;
}

/* How many more cables than needed a switch is away; FAB_NONE: not connected. */
static uint32_t hops_between(const struct net *x, uint32_t from, uint32_t to)
{
	uint32_t *dist = FAB_NEW(x->f->n_switches, uint32_t), hops;
	uint32_t *order = FAB_NEW(x->f->n_switches, uint32_t);

	fab_live_search(&x->live, to, dist, order);
	hops = fab_switch_is_live(&x->live, from) ? dist[from] : FAB_NONE;
	free(dist);
	free(order);
	return hops;
}

/* One switch alone, all first LIDs in order: the least used of the shortest ports. */
static void check_switch(const struct net *x, const struct fab_routes *r, uint32_t sw)
{
	const struct fab_fabric *f = x->f;
	uint32_t first = f->arc_first[sw], n = f->arc_first[sw + 1] - first;
	uint32_t *used = FAB_NEW0(n + 1, uint32_t);

	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t best = FAB_NONE, hops = hops_between(x, sw, x->all[i].sw);
		uint16_t got = fab_routes_next(r, x->all[i].column)[sw];

		for (uint32_t a = 0; a < n && hops && hops != FAB_NONE; a++) {
			if (!x->live.arc_is_live[first + a] ||
			    hops_between(x, f->arc_peer[first + a], x->all[i].sw) + 1 !=
				    hops)
				continue;
			if (best == FAB_NONE || used[a] < used[best])
				best = a;
		}
		if (x->all[i].offset) {
			cr_expect((best == FAB_NONE) == (got >= FAB_ARC_BROKEN));
			break;
		}
		if (!hops)
			cr_expect_eq(got, FAB_ARC_HERE);
		else
			cr_expect_eq(got, best == FAB_NONE ? FAB_ARC_NONE : best,
				     "switch %u, port %u", sw, x->all[i].port);
		if (best != FAB_NONE && f->port_node[x->all[i].port] >= f->n_switches)
			used[best]++;
	}
	free(used);
}

Test(balance, each_lid_takes_the_least_used_port)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		struct net x = net_new(seed);
		struct fab_routes *r = route(&x, &fab_unicast_minhop);

		cr_assert_eq(r->n_columns, x.n);
		for (uint32_t s = 0; s < x.f->n_switches; s++)
			check_switch(&x, r, s);
		fab_routes_free(r);
		net_free(&x);
	}
}

/* Adapters by switch, those of many first; ports in order; switches last. */
Test(balance, order_of_destinations)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		struct net x = net_new(seed);
		bool *is_met = FAB_NEW0(x.n + 1, bool);

		for (uint32_t i = 0; i < x.n; i++) {
			const struct fab_destination *d = &x.all[i], *before = d - 1;

			cr_assert_lt(d->column, x.n);
			cr_assert_not(is_met[d->column]);
			is_met[d->column] = true;
			cr_expect_eq(d->sw, fab_port_switch(x.f, d->port));
			if (!i || before->offset != d->offset)
				continue;
			cr_expect_leq(x.f->port_node[before->port] < x.f->n_switches,
				      x.f->port_node[d->port] < x.f->n_switches);
			if (before->sw == d->sw &&
			    x.f->port_node[d->port] >= x.f->n_switches)
				cr_expect_lt(
					x.f->port_num[fab_port_peer(x.f, before->port)],
					x.f->port_num[fab_port_peer(x.f, d->port)]);
		}
		free(is_met);
		net_free(&x);
	}
}

static struct fab_judgement judge_of(const struct fab_routes *r, enum fab_ends ends)
{
	const struct fab_judge_options options = {.ends = ends, .n_threads = 1};
	struct fab_judgement j;
	struct fab_err err = {""};

	cr_assert_eq(fab_judge(r, &options, &j, &err), 0, "%s", err.text);
	cr_assert_eq(fab_unicast_verify(r, ends, &j, &err), 0, "%d: %s", ends, err.text);
	return j;
}

/* What is alive and connected is reached, whatever it is: hosts, switches, all. */
Test(balance, all_ends_are_reached)
{
	for (uint64_t seed = 1; seed < 40; seed++) {
		struct net x = net_new(seed);
		struct fab_routes *minhop = route(&x, &fab_unicast_minhop);
		struct fab_routes *updn = route(&x, &fab_unicast_updn);

		for (int ends = FAB_ENDS_LEAVES; ends <= FAB_ENDS_ALL; ends++) {
			struct fab_judgement j = judge_of(minhop, (enum fab_ends)ends);

			cr_expect_gt(j.pairs, 0);
			cr_expect_eq(j.connected, j.connected_in_graph);
			cr_expect_eq(j.minimal, j.connected);
			fab_judgement_fini(&j);
			j = judge_of(updn, (enum fab_ends)ends);
			fab_judgement_fini(&j);
		}
		fab_routes_free(minhop);
		fab_routes_free(updn);
		net_free(&x);
	}
}

/* Leaves with one host each are their hosts; with two, loops are those of all hosts. */
Test(balance, leaves_answer_for_all_their_hosts)
{
	static const char *const specs[] = {"torus:dims=5x5,hosts=1",
					    "torus:dims=5x5,hosts=2"};

	for (uint32_t i = 0; i < FAB_COUNT(specs); i++) {
		struct fab_fabric *f = test_gen(specs[i]);
		struct fab_unicast_problem problem = {
			.f = f, .max_vls = 1, .n_threads = 1};
		struct fab_routes *r = NULL;
		struct fab_judgement leaves, hosts;

		cr_assert_eq(fab_unicast_minhop.route(&problem, &r, NULL), 0);
		leaves = judge_of(r, FAB_ENDS_LEAVES);
		hosts = judge_of(r, FAB_ENDS_HOSTS);
		cr_expect_eq(leaves.pairs, 25 * 24);
		cr_expect_gt(leaves.cycle_channels, 0);
		cr_expect_eq(leaves.cycle_channels, hosts.cycle_channels);
		cr_expect_gt(leaves.pairs_on_cycles, 0);
		cr_expect_geq(leaves.pairs_on_cycles * (i + 1) * (i + 1),
			      hosts.pairs_on_cycles);
		if (!i)
			cr_expect_eq(leaves.pairs_on_cycles, hosts.pairs_on_cycles);
		fab_judgement_fini(&leaves);
		fab_judgement_fini(&hosts);
		fab_routes_free(r);
		fab_fabric_free(f);
	}
}

/* The hosts of a leaf share the few rows that lead to it. */
Test(balance, columns_share_rows)
{
	struct fab_fabric *f = test_gen("kfat:dims=6x6,hosts=40");
	struct fab_unicast_problem problem = {.f = f, .max_vls = 1, .n_threads = 1};
	struct fab_routes *r = NULL;

	cr_assert_eq(fab_unicast_minhop.route(&problem, &r, NULL), 0);
	cr_expect_eq(r->n_columns, 36 * 41 + 12);
	cr_expect_lt(r->n_rows, r->n_columns / 3, "%u of %u", r->n_rows, r->n_columns);
	fab_routes_free(r);
	fab_fabric_free(f);
}

/* Switches without a column are reached as the exports reach them. */
Test(balance, completed_tables_reach_all)
{
	static const char *const engines[] = {"xy", "vtftr", "vtftr-ib"};
	struct fab_fabric *f = test_gen("kfat:dims=4x4,hosts=2");
	struct fab_faults *faults = fab_faults_new(f);
	struct fab_kfat *kfat = NULL;
	struct fab_unicast_problem problem = {
		.f = f, .faults = faults, .max_vls = 2, .n_threads = 1};

	cr_assert_eq(fab_kfat_recognize(f, &kfat, NULL), 0);
	problem.kfat = kfat;
	for (size_t i = 0; i < FAB_COUNT(engines); i++) {
		struct fab_routes *r = NULL, *whole;
		struct fab_judgement j;

		cr_assert_eq(fab_unicast_engine_find(engines[i], strlen(engines[i]))
				     ->route(&problem, &r, NULL),
			     0);
		j = judge_of(r, FAB_ENDS_ALL);
		cr_expect_gt(j.unreachable, 0);
		fab_judgement_fini(&j);
		whole = fab_routes_complete(r);
		for (int ends = FAB_ENDS_LEAVES; ends <= FAB_ENDS_ALL; ends++) {
			j = judge_of(whole, (enum fab_ends)ends);
			cr_expect_eq(j.unreachable, 0);
			if (ends == FAB_ENDS_LEAVES)
				cr_expect_eq(j.pairs, 16 * 15);
			fab_judgement_fini(&j);
		}
		fab_routes_free(whole);
		fab_routes_free(r);
	}
	fab_kfat_free(kfat);
	fab_faults_free(faults);
	fab_fabric_free(f);
}
