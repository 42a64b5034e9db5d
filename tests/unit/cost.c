/* SPDX-License-Identifier: BSD-2-Clause */
/* The cheapest plans of small machines, beside all plans with all mappings. */
#include "boot/cost.h"
#include "boot/share.h"
#include "support/boots.h"
#include "support/test.h"

enum { STRIDE = TEST_SHARE > 1 ? 5 : 1 }; /* of cases that are tried */

static const struct fab_transfer_options options = {.image_bytes = 1000000, .n_files = 1};

enum { SERVERS = 5, LINKS = 7, TARGETS = 6 };

/* A machine but for its servers and the rates of its switches: lines NAME PARENT, of
 * switches on tiers 1 and 2, and of nodes; servers hang on the places in turn. */
struct small {
	const char *sw[6][2];
	uint32_t n_places;
	const char *place[3], *nodes;
};

static const struct small machines[] = {
	/* nodes and servers apart */
	{{{"a", "-"}, {"b", "-"}, {"c", "b"}, {"d", "b"}},
	 2,
	 {"c", "d"},
	 "n0 a 1000 node\nn1 a 1000 node\nn2 a 500 node\n"},
	/* together */
	{{{"a", "-"}, {"b", "-"}, {"c", "a"}, {"d", "a"}},
	 2,
	 {"c", "b"},
	 "n0 b 1000 node\nn1 c 1000 node\nn2 d 1000 node\nn3 d 1000 node\n"},
	/* right at the core */
	{{{"a", "-"}, {"b", "-"}, {"c", "a"}, {"d", "b"}},
	 1,
	 {"-"},
	 "n0 c 1000 node\nn1 c 1000 node\nn2 d 1000 node\nn3 b 1000 node\n"},
};

/* fab_machine_free() */
static struct fab_machine *make(const struct small *s, uint32_t n_servers, double nic,
				const double tier[2])
{
	OWN_HEAP char *text = fab_strdup("");

	for (uint32_t i = 0; s->sw[i][0]; i++)
		fab_append(&text, "", "%s %s %g\n", s->sw[i][0], s->sw[i][1],
			   tier[*s->sw[i][1] != '-']);
	for (uint32_t i = 0; i < n_servers; i++)
		fab_append(&text, "", "s%u %s %g server\n", i, s->place[i % s->n_places],
			   nic);
	fab_append(&text, "", "%s", s->nodes);
	return boots_read(text);
}

/* Segments of a tier that reach a node or a server. */
static uint32_t in_use(const struct fab_machine *m, uint32_t level)
{
	uint32_t n = 0;

	for (uint32_t v = 1; v < m->n_vertices; v++)
		n += m->level_of[v] == level &&
		     (m->end_node[v] > m->first_node[v] ||
		      m->end_interface[v] > m->first_interface[v]);
	return n;
}

/* The least cost of all plans for each target. */
static void cheapest_of_all(const struct small *s, const struct fab_prices *p,
			    const double *target, double *least)
{
	for (uint32_t c = 0; c < p->n_nics * SERVERS * LINKS * LINKS * 4; c++) {
		uint32_t at = c, k[2], kind[2], nic = at % p->n_nics, n;
		uint32_t of[4] = {FAB_NONE, FAB_NONE, FAB_NONE, FAB_NONE};
		OWN(fab_machine) *m = NULL;
		OWN(fab_batch) all = {0};
		double tier[2], cost, seconds;

		at /= p->n_nics;
		n = 1 + at % SERVERS;
		at /= SERVERS;
		for (int t = 0; t < 2; t++) {
			k[t] = 1 + at % LINKS;
			at /= LINKS;
			kind[t] = 2 * (uint32_t)t + at % 2;
			at /= 2;
			tier[t] = k[t] * p->uplink[kind[t]].mbps;
		}
		cost = n * (p->server + p->nic[nic].price);
		m = make(s, n, p->nic[nic].mbps, tier);
		all = boots_batch(m, "all");
		seconds = 8 / boots_best(m, &all, of, 0);
		for (int t = 0; t < 2; t++)
			cost += in_use(m, p->uplink[kind[t]].level) * k[t] *
				p->uplink[kind[t]].price;
		for (uint32_t i = 0; i < TARGETS; i++)
			if (seconds <= target[i] * (1 + 1e-9))
				least[i] = fmin(least[i], cost);
	}
}

Test(cost, no_plan_is_cheaper)
{
	const double target[TARGETS] = {1, 0.05, 0.025, 0.02, 0.0161, 0.001};
	uint32_t n_kept = 0, n_missed = 0;

	for (uint32_t c = 0; c < 3 * FAB_COUNT(machines); c += STRIDE) {
		const struct small *s = &machines[c / 3];
		OWN(fab_machine) *m = make(s, s->n_places, 1000, (double[]){1, 1});
		OWN(fab_batch) all = boots_batch(m, "all");
		struct fab_rng rng = test_rng(c);
		double least[TARGETS];
		struct fab_prices p = {.server = 1 + test_below(&rng, 20),
				       .n_nics = 2,
				       .nic = {{FAB_NONE, 300, 1 + test_below(&rng, 5)},
					       {FAB_NONE, 800, 3 + test_below(&rng, 20)}},
				       .n_uplinks = 4,
				       .efficiency = 1};

		for (uint32_t i = 0; i < 4; i++) {
			char tier[8];

			snprintf(tier, sizeof(tier), "tier%u", 1 + i / 2);
			p.uplink[i] = (struct fab_price){
				fab_machine_find_level(m, tier, strlen(tier)),
				i % 2 ? 1000 : 300, 1 + test_below(&rng, i % 2 ? 20 : 8)};
		}
		for (uint32_t i = 0; i < TARGETS; i++)
			least[i] = INFINITY;
		cheapest_of_all(s, &p, target, least);
		for (uint32_t i = 0; i < TARGETS; i++) {
			struct fab_cost_plan plan;
			bool is_kept = fab_cost_cheapest(m, &all, &options, &p, target[i],
							 &plan);

			cr_expect_eq(is_kept, isfinite(least[i]), "%u: %g s", c,
				     target[i]);
			cr_expect(plan.is_exact);
			n_kept += is_kept;
			n_missed += !is_kept;
			if (!is_kept)
				continue;
			cr_expect_float_eq(plan.cost, least[i], 1e-6,
					   "%u: %g s: %g, not %g", c, target[i],
					   plan.cost, least[i]);
			cr_expect_leq(plan.seconds, target[i] * (1 + 1e-6));
		}
	}
	cr_expect(n_kept > 20 / TEST_SHARE && n_missed > 5 / TEST_SHARE);
}

/* The frontier begins with the cheapest of all; each costs more and halves the time. */
Test(cost, frontier_rises)
{
	OWN(fab_machine) *m =
		boots_machine("rack=8@1G,node=16@1G/group=4@1G,server=2@1G");
	OWN(fab_batch) all = boots_batch(m, "all"), rack = boots_batch(m, "first:1:rack");
	static const char text[] = "# prices\nserver 100\nnic 1Gbps 5\nnic 10Gbps 50\n"
				   "uplink rack 1Gbps 7\nuplink groups 10Gbps 30\n";
	struct fab_cost_plan plan[16];
	struct fab_prices p;
	uint32_t n;

	MUST(fab_prices_read(m, "text", text, strlen(text), &p, ERR));
	n = fab_cost_frontier(m, &all, &options, &p, FAB_COUNT(plan), plan);
	cr_assert_gt(n, 4);
	/* a server, 8 racks and one group */
	cr_expect_float_eq(plan[0].cost, 100 + 5 + 8 * 7 + 30, 1e-9);
	cr_expect_float_eq(plan[0].seconds, 128 * 8e-3, 1e-6);
	for (uint32_t i = 1; i < n; i++) {
		cr_expect_gt(plan[i].cost, plan[i - 1].cost);
		cr_expect_leq(plan[i].seconds, plan[i - 1].seconds / 2 * (1 + 1e-6));
	}
	/* no node is quicker than its own cable */
	cr_expect_geq(plan[n - 1].seconds, 8e-3 * (1 - 1e-9));
	cr_expect_lt(plan[n - 1].seconds, 16e-3);
	/* of a batch of one rack the others cost nothing */
	cr_assert(fab_cost_cheapest(m, &rack, &options, &p, 1e6, plan));
	cr_expect_float_eq(plan[0].cost, 100 + 5 + 7 + 30, 1e-9);
	/* efficiency and what is reserved make them slower */
	p.efficiency = 0.5;
	m->limits.reserved[m->level_of[m->interface_vertex[0]]] = 0.5;
	cr_assert(fab_cost_cheapest(m, &rack, &options, &p, 1e6, plan));
	cr_expect_float_eq(plan[0].seconds, 4 * 16 * 8e-3, 1e-6);
}

Test(cost, files_that_are_wrong)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{"", "prices: no line has the price of a server"},
		{"server 1\n", "prices: no line has the price of a nic"},
		{"server 1\nserver 2\nnic 1G 1\n", "prices:2: "},
		{"server -1\n", "prices:1: '-1': expected a price"},
		{"server 1e13\n", "prices:1: '1e13': expected a price"},
		{"server 1 2\n", "prices:1: 'server 1 2': expected server PRICE"},
		{"nic 1 1\n", "prices:1: "},
		{"nic 0G 1\n", "prices:1: "},
		{"uplink rack 1G\n", "prices:1: "},
		{"uplink node 1G 1\n", "prices:1: 'node': expected a level between"},
		{"uplink server 1G 1\n", "prices:1: 'server': expected a level between"},
		{"uplink core 1G 1\n", "prices:1: "},
		{"uplink rack 1G 1 1\n", "prices:1: "},
		{"switch 1\n", "prices:1: "},
	};
	OWN(fab_machine) *m = boots_machine("rack=2@1G,node=2@1G/server=2@1G");
	struct fab_prices p;

	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		FAILS(fab_prices_read(m, "prices", cases[i].text, strlen(cases[i].text),
				      &p, ERR),
		      -EINVAL, cases[i].error);
}
