/* SPDX-License-Identifier: BSD-2-Clause */
/* minhop and updn, LID by LID: against a plain count of ports, and the analysis of
 * them. */

#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/criticality.h"
#include "unicast/engine.h"

struct net {
	struct fab_fabric *f;
	struct fab_faults *faults;
	struct fab_destination *all;
	uint32_t n;
};

/* With n dead parts. */
static struct net net_of(struct fab_fabric *f, uint32_t n, struct fab_stream *rng)
{
	struct net x = {.f = f, .faults = fab_faults_new(f)};

	test_draw_faults(x.faults, FAB_FAULT_ANY, n, rng);
	x.n = fab_destinations(f, x.faults, &x.all);
	return x;
}

/* Some switches and adapters with several LIDs, some dead parts. */
static struct net net_drawn(uint64_t seed)
{
	struct fab_fabric *f = test_random_fabric(12, 14, 3, seed);
	struct fab_stream rng = fab_stream_of(seed, 0);

	for (uint32_t p = 0; seed % 3 == 0 && p < f->n_ports; p++)
		if (f->port_node[p] >= f->n_switches)
			f->port_lmc[p] = (uint8_t)fab_stream_below(&rng, 3);
	return net_of(f, fab_stream_below(&rng, 4), &rng);
}

/* Where every path is the only shortest one: rings and trees. */
static struct net net_without_choice(uint32_t n)
{
	struct fab_fabric *f = n % 2 ? test_ring(5 + n) : test_random_fabric(15, 0, 3, n);

	return net_of(f, 0, NULL);
}

static void net_free(struct net *x)
{
	free(x->all);
	fab_faults_free(x->faults);
	fab_fabric_free(x->f);
}

/* One switch alone, all first LIDs in order: the least used of the shortest ports. */
static void check_switch(const struct net *x, const struct fab_routes *r, uint32_t sw)
{
	const struct fab_fabric *f = x->f;
	uint32_t first = f->arc_first[sw];
	FAB_AUTOFREE uint32_t *used = FAB_NEW0(fab_degree(f, sw) + 1, uint32_t);
	FAB_AUTOFREE uint32_t *dist = FAB_NEW(f->n_switches, uint32_t);
	FAB_AUTOFREE uint32_t *order = FAB_NEW(f->n_switches, uint32_t);

	for (uint32_t i = 0; i < x->n; i++) {
		const struct fab_destination *to = &x->all[i];
		uint16_t got = fab_routes_next(r, to->column)[sw];
		uint32_t best = FAB_NONE;

		fab_faults_search(f, x->faults, to->sw, dist, order);
		FAB_EACH_ARC(f, sw, a)
			if (fab_arc_is_live(x->faults, a) && dist[sw] != FAB_NONE &&
			    dist[f->arc_peer[a]] + 1 == dist[sw] &&
			    (best == FAB_NONE || used[a - first] < used[best]))
				best = a - first;
		if (to->offset) {
			cr_expect_eq(best == FAB_NONE, got >= FAB_ARC_BROKEN);
			break;
		}
		if (to->sw == sw && fab_switch_is_live(x->faults, sw))
			cr_expect_eq(got, FAB_ARC_HERE);
		else
			cr_expect_eq(got, best == FAB_NONE ? FAB_ARC_NONE : best,
				     "switch %u, port %u", sw, to->port);
		if (best != FAB_NONE && f->port_node[to->port] >= f->n_switches)
			used[best]++;
	}
}

/* What is alive and connected is reached, whatever it is: hosts, switches, all. */
Test(balance, each_lid_takes_the_least_used_port)
{
	static const char *const engines[] = {"minhop", "updn"};

	for (uint64_t i = 2; i < 80; i++) {
		FAB_AUTO(net_free) struct net x = net_drawn(i / 2);
		OWN(fab_routes) *r = test_tables(x.f, x.faults, engines[i % 2], 1);

		cr_assert_eq(r->n_columns, x.n);
		for (uint32_t s = 0; i % 2 == 0 && s < x.f->n_switches; s++)
			check_switch(&x, r, s);
		for (int ends = FAB_ENDS_LEAVES; ends <= FAB_ENDS_ALL; ends++) {
			OWN(fab_analysis) j = test_verified(r, (enum fab_ends)ends);

			cr_expect_gt(j.pairs, 0);
			cr_expect_eq(j.connected, j.connected_in_graph);
			cr_expect(i % 2 || j.minimal == j.connected);
		}
	}
}

/* The hosts of a leaf share the few rows that lead to it. */
Test(balance, columns_share_rows)
{
	OWN(fab_fabric) *f = test_gen("kfat:dims=6x6,hosts=40");
	OWN(fab_routes) *r = test_tables(f, NULL, "minhop", 1);
	OWN(fab_analysis) j = test_verified(r, FAB_ENDS_LEAVES);

	cr_expect_eq(j.minimal, 36 * 35);
	cr_expect_eq(r->n_columns, 36 * 41 + 12);
	cr_expect_lt(r->n_rows, r->n_columns / 3, "%u of %u", r->n_rows, r->n_columns);
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

	for (uint32_t i = 0; i < x->n * x->n; i++) {
		const struct fab_destination *from = &x->all[i % x->n];
		const struct fab_destination *to = &x->all[i / x->n];
		const uint16_t *next = fab_routes_next(r, to->column);
		uint32_t at = from->sw;
		bool uses = false;

		if (from->offset || f->port_node[from->port] < f->n_switches ||
		    f->port_node[to->port] < f->n_switches ||
		    (!part.is_cable && (from->sw == part.id || to->sw == part.id)))
			continue;
		while (next[at] < FAB_ARC_BROKEN) {
			uint32_t arc = f->arc_first[at] + next[at];

			uses |= part.id == (part.is_cable ? f->arc_cable[arc] : at);
			at = f->arc_peer[arc];
		}
		n += uses && next[at] == FAB_ARC_HERE;
	}
	return n;
}

/* Every single loss: as routing everything anew has it; the load, too, where every path
 * is the only shortest one. */
Test(balance, losses_are_those_of_routing_all_anew)
{
	/* the same engine by another name: everything is routed anew */
	const struct fab_unicast_engine anew = {.name = "anew",
						.route = fab_unicast_minhop.route};
	uint64_t unreachable = 0, longer = 0;

	for (uint32_t seed = 1; seed < 36; seed++) {
		FAB_AUTO(net_free)
		struct net x = seed < 25 ? net_drawn(seed) : net_without_choice(seed);
		OWN(fab_routes) *r = test_tables(x.f, x.faults, "minhop", 1);
		FAB_AUTOFREE struct fab_losses a, b, c;

		a = rank_all(&x, &fab_unicast_minhop, r, 2);
		b = rank_all(&x, &anew, r, 1);
		c = rank_all(&x, NULL, r, 1);
		cr_assert(a.of.n == b.of.n && a.of.n == c.of.n);
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
			cr_expect(seed < 25 || fabs(p->load - q->load) < 1e-9);
			unreachable += p->unreachable;
			longer += p->longer;
		}
	}
	cr_expect(unreachable > 0 && longer > 0);
}
