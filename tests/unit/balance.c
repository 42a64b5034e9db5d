/* SPDX-License-Identifier: BSD-2-Clause */
/* minhop and updn, LID by LID: against a plain count of ports, and the analysis of
 * them. */

#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/criticality.h"
#include "unicast/engine.h"

/* Some switches and adapters with several LIDs, some dead parts. */
struct net {
	struct fab_fabric *f;
	struct fab_faults *faults;
	struct fab_destination *all;
	uint32_t n;
};

static struct net net_new(uint64_t seed)
{
	struct net x = {.f = test_random_fabric(12, 14, 3, seed)};
	struct fab_stream rng = fab_stream_of(seed, 0);

	for (uint32_t p = 0; seed % 3 == 0 && p < x.f->n_ports; p++)
		if (x.f->port_node[p] >= x.f->n_switches)
			x.f->port_lmc[p] = (uint8_t)fab_stream_below(&rng, 3);
	x.faults = fab_faults_new(x.f);
	test_draw_faults(x.faults, FAB_FAULT_ANY, fab_stream_below(&rng, 4), &rng);
	x.n = fab_destinations(x.f, x.faults, &x.all);
	return x;
}

static void net_free(struct net *x)
{
	free(x->all);
	fab_faults_free(x->faults);
	fab_fabric_free(x->f);
}

/* How many more cables than needed a switch is away; FAB_NONE: not connected. */
static uint32_t hops_between(const struct net *x, uint32_t from, uint32_t to)
{
	uint32_t hops;
	FAB_AUTOFREE uint32_t *dist = FAB_NEW(x->f->n_switches, uint32_t);
	FAB_AUTOFREE uint32_t *order = FAB_NEW(x->f->n_switches, uint32_t);

	fab_faults_search(x->f, x->faults, to, dist, order);
	hops = fab_switch_is_live(x->faults, from) ? dist[from] : FAB_NONE;
	return hops;
}

Test(balance, each_lid_takes_the_least_used_port)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		FAB_AUTO(net_free) struct net x = net_new(seed);
		OWN(fab_routes) *r = test_tables(x.f, x.faults, "minhop", 1);

		cr_assert_eq(r->n_columns, x.n);
		for (uint32_t s = 0; s < x.f->n_switches; s++) {
			const struct fab_fabric *f = x.f;
			uint32_t first = f->arc_first[s], n = f->arc_first[s + 1] - first;
			FAB_AUTOFREE uint32_t *used = FAB_NEW0(n + 1, uint32_t);

			/* One switch alone, all first LIDs in order: the least used of
			 * the shortest ports. */
			for (uint32_t i = 0; i < x.n; i++) {
				uint32_t best = FAB_NONE,
					 hops = hops_between(&x, s, x.all[i].sw);
				uint16_t got = fab_routes_next(r, x.all[i].column)[s];

				for (uint32_t a = 0; a < n && hops && hops != FAB_NONE;
				     a++) {
					if (!fab_arc_is_live(x.faults, first + a) ||
					    hops_between(&x, f->arc_peer[first + a],
							 x.all[i].sw) +
							    1 !=
						    hops)
						continue;
					if (best == FAB_NONE || used[a] < used[best])
						best = a;
				}
				if (x.all[i].offset) {
					cr_expect((best == FAB_NONE) ==
						  (got >= FAB_ARC_BROKEN));
					break;
				}
				if (!hops)
					cr_expect_eq(got, FAB_ARC_HERE);
				else
					cr_expect_eq(
						got,
						best == FAB_NONE ? FAB_ARC_NONE : best,
						"switch %u, port %u", s, x.all[i].port);
				if (best != FAB_NONE &&
				    f->port_node[x.all[i].port] >= f->n_switches)
					used[best]++;
			}
		}
	}
}

/* What is alive and connected is reached, whatever it is: hosts, switches, all. */
Test(balance, all_ends_are_reached)
{
	for (uint64_t seed = 1; seed < 40; seed++) {
		FAB_AUTO(net_free) struct net x = net_new(seed);
		OWN(fab_routes) *minhop = test_tables(x.f, x.faults, "minhop", 1);
		OWN(fab_routes) *updn = test_tables(x.f, x.faults, "updn", 1);

		for (int ends = FAB_ENDS_LEAVES; ends <= FAB_ENDS_ALL; ends++) {
			OWN(fab_analysis) j = test_verified(minhop, (enum fab_ends)ends);
			OWN(fab_analysis)
			of_updn = test_verified(updn, (enum fab_ends)ends);

			cr_expect_gt(j.pairs, 0);
			cr_expect_eq(j.connected, j.connected_in_graph);
			cr_expect_eq(j.minimal, j.connected);
		}
	}
}

/* The hosts of a leaf share the few rows that lead to it. */
Test(balance, columns_share_rows)
{
	OWN(fab_fabric) *f = test_gen("kfat:dims=6x6,hosts=40");
	OWN(fab_routes) *r = test_tables(f, NULL, "minhop", 1);

	cr_expect_eq(r->n_columns, 36 * 41 + 12);
	cr_expect_lt(r->n_rows, r->n_columns / 3, "%u of %u", r->n_rows, r->n_columns);
}

/* Switches without a column are reached as the exports reach them. */
Test(balance, completed_tables_reach_all)
{
	static const char *const engines[] = {"xy", "vtftr", "vtftr-ib"};
	OWN(fab_fabric) *f = test_gen("kfat:dims=4x4,hosts=2");
	OWN(fab_faults) *faults = fab_faults_new(f);

	for (size_t i = 0; i < FAB_COUNT(engines); i++) {
		OWN(fab_routes) *r = test_tables(f, faults, engines[i], 2);
		OWN(fab_routes) *whole = fab_routes_complete(r);
		OWN(fab_analysis) j = test_verified(r, FAB_ENDS_ALL);

		cr_expect_gt(j.unreachable, 0);
		for (int ends = FAB_ENDS_LEAVES; ends <= FAB_ENDS_ALL; ends++) {
			OWN(fab_analysis) all = test_verified(whole, (enum fab_ends)ends);

			cr_expect_eq(all.unreachable, 0);
			if (ends == FAB_ENDS_LEAVES)
				cr_expect_eq(all.pairs, 16 * 15);
		}
	}
}

static uint64_t key_of(const struct fab_loss *l)
{
	return (uint64_t)l->part.is_cable << 32 | l->part.id;
}

static int by_part(const void *a, const void *b)
{
	uint64_t x = key_of(a), y = key_of(b);

	return (x > y) - (x < y);
}

static struct fab_losses rank_all(const struct net *x, const struct fab_unicast_engine *e,
				  const struct fab_routes *r, int n_threads)
{
	const struct fab_unicast_problem problem = {
		.f = x->f, .faults = x->faults, .max_vls = 1, .n_threads = n_threads};
	const struct fab_losses_options options = {.steps = UINT64_MAX};
	struct fab_losses losses;

	MUST(fab_losses_rank(&problem, e, r, &options, &losses, ERR));
	qsort(losses.of.v, losses.of.n, sizeof(*losses.of.v), by_part);
	return losses;
}

/* Pairs of hosts on other switches that pass a part: every path is walked. */
static uint64_t walk_interrupted(const struct net *x, const struct fab_routes *r,
				 struct fab_fault part)
{
	const struct fab_fabric *f = x->f;
	uint64_t n = 0;

	for (uint32_t i = 0; i < x->n; i++)
		for (uint32_t k = 0; k < x->n; k++) {
			const struct fab_destination *from = &x->all[k], *to = &x->all[i];
			const uint16_t *next = fab_routes_next(r, to->column);
			uint32_t at = from->sw;
			bool uses = false;

			if (from->offset || f->port_node[from->port] < f->n_switches ||
			    f->port_node[to->port] < f->n_switches ||
			    (!part.is_cable &&
			     (from->sw == part.id || to->sw == part.id)))
				continue;
			while (next[at] < FAB_ARC_BROKEN) {
				uint32_t arc = f->arc_first[at] + next[at];

				uses |= part.is_cable ? f->arc_cable[arc] == part.id
						      : at == part.id;
				at = f->arc_peer[arc];
			}
			n += uses && next[at] == FAB_ARC_HERE;
		}
	return n;
}

/* Every single loss: as routing everything anew has it. */
Test(balance, losses_are_those_of_routing_all_anew)
{
	/* the same engine by another name: everything is routed anew */
	const struct fab_unicast_engine anew = {.name = "anew",
						.route = fab_unicast_minhop.route};
	uint64_t unreachable = 0, longer = 0;

	for (uint64_t seed = 1; seed < 25; seed++) {
		FAB_AUTO(net_free) struct net x = net_new(seed);
		OWN(fab_routes) *r = test_tables(x.f, x.faults, "minhop", 1);
		struct fab_losses a = rank_all(&x, &fab_unicast_minhop, r, 2);
		struct fab_losses b = rank_all(&x, &anew, r, 1);
		struct fab_losses c = rank_all(&x, NULL, r, 1);

		cr_assert_eq(a.of.n, b.of.n);
		cr_assert_eq(a.of.n, c.of.n);
		for (size_t i = 0; i < a.of.n; i++) {
			const struct fab_loss *p = &a.of.v[i], *q = &b.of.v[i];

			cr_assert_eq(key_of(p), key_of(q));
			cr_expect_eq(p->pairs, q->pairs);
			cr_expect_eq(p->unreachable, q->unreachable);
			cr_expect_eq(p->unreachable_rerouted, q->unreachable_rerouted);
			cr_expect_eq(p->longer, q->longer);
			cr_expect_eq(p->interrupted, q->interrupted);
			cr_expect_eq(p->interrupted, walk_interrupted(&x, r, p->part));
			cr_expect_eq(c.of.v[i].unreachable, p->pairs);
			cr_expect_eq(c.of.v[i].unreachable_rerouted,
				     p->unreachable_rerouted);
			unreachable += p->unreachable;
			longer += p->longer;
		}
		free(a.of.v);
		free(b.of.v);
		free(c.of.v);
	}
	cr_expect_gt(unreachable, 0);
	cr_expect_gt(longer, 0);
}

/* Where every path is the only shortest one the load is that of routing all anew, too. */
Test(balance, load_after_a_loss)
{
	const struct fab_unicast_engine anew = {.name = "anew",
						.route = fab_unicast_minhop.route};

	for (uint64_t seed = 1; seed < 12; seed++) {
		struct net x = {.f = seed < 6 ? test_ring(5 + 2 * (uint32_t)seed)
					      : test_random_fabric(15, 0, 3, seed)};
		OWN(fab_routes) *r = NULL;
		struct fab_losses a, b;

		x.faults = fab_faults_new(x.f);
		r = test_tables(x.f, x.faults, "minhop", 1);
		a = rank_all(&x, &fab_unicast_minhop, r, 1);
		b = rank_all(&x, &anew, r, 1);
		for (size_t i = 0; i < a.of.n; i++)
			cr_expect_float_eq(a.of.v[i].load, b.of.v[i].load, 1e-9, "%g %g",
					   a.of.v[i].load, b.of.v[i].load);
		free(a.of.v);
		free(b.of.v);
		fab_faults_free(x.faults);
		fab_fabric_free(x.f);
	}
}
