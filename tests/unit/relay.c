/* SPDX-License-Identifier: BSD-2-Clause */
/* Who passes the image on to whom: laws of the plans, closed forms, and all plans of
 * small machines. */
#include "boot/relay.h"
#include "support/boots.h"
#include "support/test.h"

enum { N_WAYS = FAB_RELAY_DOUBLING + 1, STATES = 1 << 9 };

/* Every node gets it once, from a server or from a node that has it by then. */
static void expect_sound(const struct fab_batch *b, const struct fab_relay *r)
{
	FAB_AUTOFREE uint32_t *got = FAB_NEW0(b->node[b->n - 1] + 1, uint32_t);

	cr_assert_eq(r->n, b->n);
	cr_assert_eq(r->n_steps, r->hop[r->n - 1].step + 1);
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

/* All wait for the slowest one. */
Test(relay, unlike_nodes)
{
	static const char text[] = "n0 - 1000 node\nn1 - 100 node\nn2 - 1000 node\n"
				   "s0 - 1000 server\ns1 - 1000 server\n";
	OWN(fab_machine) *m = NULL;
	OWN(fab_batch) all = {0};
	FAB_AUTO(fab_relay_fini) struct fab_relay r;

	MUST(fab_machine_read("text", text, strlen(text), &m, ERR));
	all = boots_batch(m, "all");
	fab_relay_make(m, &all, FAB_RELAY_TREE, 1, &r);
	cr_expect_float_eq(fab_relay_seconds(m, &r, 100, 10), 110 / 100.0, 1e-9);
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

	for (uint64_t i = 0; i < 14; i++) {
		OWN(fab_machine) *m =
			i < 4 ? boots_machine(alike[i]) : boots_random_machine(i - 4);
		OWN(fab_batch) all = boots_batch(m, "all");
		double got = best(m, &all, FAB_RELAY_DOUBLING, 1000, 0);
		double least = least_of_all(m);

		cr_expect_geq(got * (1 + 1e-9), least);
		cr_expect(i >= 4 || got <= least + 1e-9, "%s", alike[i % 4]);
	}
}
