/* SPDX-License-Identifier: BSD-2-Clause */
/* Who passes the image on to whom: laws of the plans, closed forms, and all plans of
 * small machines. */
#include "boot/relay.h"
#include "support/boots.h"
#include "support/test.h"

enum { N_WAYS = FAB_RELAY_DOUBLING + 1, STATES = 1 << 9 };

static uint32_t log2_up(uint32_t n)
{
	uint32_t k = 0;

	while (1U << k < n)
		k++;
	return k;
}

/* Every node gets it once, from a server or from a node that has it by then. */
static void expect_sound(const struct fab_batch *b, const struct fab_relay *r)
{
	FAB_AUTOFREE uint32_t *got = FAB_NEW0(b->n ? b->node[b->n - 1] + 1 : 1, uint32_t);

	cr_assert_eq(r->n, b->n);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct fab_relay_hop *h = &r->hop[i];

		cr_assert(!i || h[-1].step <= h->step);
		cr_assert_eq(got[h->to], 0, "node %u gets it twice", h->to);
		cr_assert(h->is_from_server || (got[h->from] && got[h->from] <= h->step));
		got[h->to] = h->step + 1;
	}
}

/* Time with the best number of servers, with or without the plan. */
static double best(const struct fab_machine *m, const struct fab_batch *b,
		   enum fab_relay_way way, double image_mbit, double chunk_mbit)
{
	FAB_AUTO(fab_relay_fini) struct fab_relay r;
	double seconds = fab_relay_best(m, b, way, image_mbit, chunk_mbit, &r);

	expect_sound(b, &r);
	return seconds;
}

/* Most transfers on any segment and direction in one step. */
static uint32_t most_shared(const struct fab_machine *m, const struct fab_relay *r)
{
	uint32_t most = 0;

	for (uint32_t step = 0; step < r->n_steps; step++)
		for (uint32_t v = 1; v < m->n_vertices; v++) {
			uint32_t in = 0, out = 0;

			for (uint32_t i = 0; i < r->n; i++) {
				const struct fab_relay_hop *h = &r->hop[i];
				bool to = h->to >= m->first_node[v] &&
					  h->to < m->end_node[v];
				bool from =
					h->is_from_server
						? h->from >= m->first_interface[v] &&
							  h->from < m->end_interface[v]
						: h->from >= m->first_node[v] &&
							  h->from < m->end_node[v];

				in += h->step == step && to && !from;
				out += h->step == step && from && !to;
			}
			most = in > most ? in : most;
			most = out > most ? out : most;
		}
	return most;
}

Test(relay, plans_are_sound)
{
	for (uint64_t seed = 0; seed < 60; seed++) {
		OWN(fab_machine) *m = boots_random_machine(seed);
		OWN(fab_batch) all = boots_batch(m, "all");

		for (int way = 0; way < N_WAYS; way++)
			for (uint32_t n = 1; n <= 4; n++) {
				FAB_AUTO(fab_relay_fini) struct fab_relay r;

				fab_relay_make(m, &all, (enum fab_relay_way)way, n, &r);
				cr_expect_leq(r.n_servers, n);
				expect_sound(&all, &r);
			}
	}
}

/* One server: the fewest steps, and no segment is used twice in a step and direction. */
Test(relay, doubling_takes_the_fewest_steps_and_shares_nothing)
{
	OWN(fab_machine) *m = boots_machine("group=3@2G,rack=3@2G,node=5@1G/server=2@1G");
	char text[20];

	for (uint32_t n = 1; n <= m->n_nodes; n++) {
		OWN(fab_batch) b = {0};
		FAB_AUTO(fab_relay_fini) struct fab_relay r;

		snprintf(text, sizeof(text), "first:%u", n);
		b = boots_batch(m, text);
		fab_relay_make(m, &b, FAB_RELAY_DOUBLING, 1, &r);
		cr_expect_eq(r.n_steps, log2_up(n + 1), "%u nodes", n);
		cr_expect_eq(most_shared(m, &r), 1, "%u nodes", n);
		expect_sound(&b, &r);
	}
}

Test(relay, times_of_the_machine_of_the_paper)
{
	OWN(fab_machine) *m = boots_machine("preset:taihulight");
	OWN(fab_batch) all = boots_batch(m, "all");
	FAB_AUTO(fab_relay_fini) struct fab_relay r;

	cr_expect_float_eq(fab_relay_stream_seconds(m, &all, 400, 0), 0.4, 1e-9);
	cr_expect_float_eq(fab_relay_stream_seconds(m, &all, 400, 0.5), 0.6, 1e-9);
	cr_expect_float_eq(best(m, &all, FAB_RELAY_DOUBLING, 400, 0), 9 * 0.4, 1e-9);
	/* one server: 40960 nodes in 16 steps */
	fab_relay_make(m, &all, FAB_RELAY_DOUBLING, 1, &r);
	cr_expect_float_eq(fab_relay_seconds(m, &r, 400, 0), 16 * 0.4, 1e-9);
	/* 256 nodes in a row at the full rate of the boards */
	cr_expect_float_eq(best(m, &all, FAB_RELAY_CHAIN, 400, 1), (400 + 255) / 1000.0,
			   1e-9);
	cr_expect_float_eq(best(m, &all, FAB_RELAY_CHAIN, 400, 0), 256 * 0.4, 1e-9);
}

/* A rack: a tree of 15 nodes has 4 steps; its server sends to one node, a node to two. */
Test(relay, tree_of_a_rack)
{
	OWN(fab_machine) *m = boots_machine("rack=1,node=15@1G/server=1@1G");
	OWN(fab_batch) all = boots_batch(m, "all");
	FAB_AUTO(fab_relay_fini) struct fab_relay r;

	fab_relay_make(m, &all, FAB_RELAY_TREE, 1, &r);
	cr_expect_eq(r.n_steps, 4);
	cr_expect_float_eq(fab_relay_seconds(m, &r, 100, 0), 0.1 + 3 * 0.2, 1e-9);
	cr_expect_float_eq(fab_relay_seconds(m, &r, 100, 10), (100 + 30) / 500.0, 1e-9);
	cr_expect_float_eq(fab_relay_seconds(m, &r, 100, 500), 400 / 500.0, 1e-9);
}

/* The slowest hop decides, wherever it stands; no server is left without a node. */
Test(relay, unlike_nodes)
{
	static const char text[] = "n0 - 1000 node\nn1 - 100 node\nn2 - 1000 node\n"
				   "s0 - 1000 server\ns1 - 1000 server\n"
				   "s2 - 1000 server\ns3 - 1000 server\n";
	OWN(fab_machine) *m = NULL;
	OWN(fab_batch) all = {0};
	FAB_AUTO(fab_relay_fini) struct fab_relay r;

	MUST(fab_machine_read("text", text, strlen(text), &m, ERR));
	all = boots_batch(m, "all");
	fab_relay_make(m, &all, FAB_RELAY_TREE, 1, &r);
	cr_expect_float_eq(fab_relay_seconds(m, &r, 100, 10), 110 / 100.0, 1e-9);
	cr_expect_float_eq(fab_relay_seconds(m, &r, 100, 0), 0.1 + 1, 1e-9);
	fab_relay_fini(&r);
	fab_relay_make(m, &all, FAB_RELAY_CHAIN, 4, &r);
	cr_expect_eq(r.n_servers, 3);
}

/* The least time of one step that gives the nodes of `to` the image from those of `have`
 * (bits; servers above nodes), each holder to one at most; INFINITY: impossible. */
static double step_of(const struct fab_machine *m, uint32_t have, uint32_t to,
		      struct fab_relay *r)
{
	double best = INFINITY;
	uint32_t node = (uint32_t)__builtin_ctz(to | 1U << 31);

	if (!to)
		return fab_relay_seconds(m, r, 1000, 0);
	for (uint32_t bits = have; bits; bits &= bits - 1) {
		uint32_t from = (uint32_t)__builtin_ctz(bits);
		bool is_server = from >= m->n_nodes;

		r->hop[r->n++] = (struct fab_relay_hop){
			is_server ? from - m->n_nodes : from, node, 0, is_server};
		best = fmin(best, step_of(m, have & ~(1U << from), to & (to - 1), r));
		r->n--;
	}
	return best;
}

/* The least time of all plans in which a step begins when the one before is over, and a
 * holder sends to one node at a time. */
static double least_of_all(const struct fab_machine *m)
{
	uint32_t full = (1U << m->n_nodes) - 1;
	uint32_t servers = ((1U << m->n_interfaces) - 1) << m->n_nodes;
	struct fab_relay_hop hop[16];
	double least[STATES];

	cr_assert(full < STATES);
	for (uint32_t have = 0; have <= full; have++)
		least[have] = have ? (double)INFINITY : 0;
	for (uint32_t have = 0; have < full; have++)
		for (uint32_t to = full & ~have; to; to = (to - 1) & ~have & full) {
			struct fab_relay r = {.hop = hop};
			double t;

			if (isinf(least[have]) ||
			    __builtin_popcount(to) > __builtin_popcount(have | servers))
				continue;
			t = least[have] + step_of(m, have | servers, to, &r);
			least[have | to] = fmin(least[have | to], t);
		}
	return least[full];
}

/* No plan is quicker where all nodes are alike; elsewhere none is as quick as the least.
 */
Test(relay, no_plan_in_steps_is_quicker)
{
	static const char *const alike[] = {
		"rack=1,node=6@1G/server=1@1G", "rack=2@1G,node=3@1G/server=1@1G",
		"rack=3@1G,node=2@1G/server=1@1G", "rack=2@2G,node=3@1G/server=2@1G"};

	for (size_t i = 0; i < FAB_COUNT(alike); i++) {
		OWN(fab_machine) *m = boots_machine(alike[i]);
		OWN(fab_batch) all = boots_batch(m, "all");

		cr_expect_float_eq(best(m, &all, FAB_RELAY_DOUBLING, 1000, 0),
				   least_of_all(m), 1e-9, "%s", alike[i]);
	}
	for (uint64_t seed = 0; seed < 10; seed++) {
		OWN(fab_machine) *m = boots_random_machine(seed);
		OWN(fab_batch) all = boots_batch(m, "all");

		cr_expect_geq(best(m, &all, FAB_RELAY_DOUBLING, 1000, 0) * (1 + 1e-9),
			      least_of_all(m));
	}
}
