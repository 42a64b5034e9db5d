/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphs of peers, and what direct exchange over them takes. */
#include "launch/exchange.h"

#include "support/test.h"

static struct fab_arena memory = FAB_ARENA_INIT; /* ends with the process */

static const struct fab_exchange_costs costs = {
	.get_us = 6, .local_us = 75, .remote_us = 220, .serve_us = 25, .unpack_ns = 1};

static struct fab_peers make(const char *spec, uint32_t n_nodes, uint32_t ppn)
{
	struct fab_peers p;

	cr_assert_eq(fab_peers_make(&memory, spec, n_nodes, ppn, 1, &p, ERR), 0, "%s: %s",
		     spec, test_err.text);
	return p;
}

static struct fab_peers parse(const char *text, uint32_t n_nodes, uint32_t ppn)
{
	struct fab_peers p;

	MUST(fab_peers_parse(&memory, "f", text, strlen(text), n_nodes, ppn, &p, ERR));
	return p;
}

static struct fab_exchange run(const struct fab_peers *p,
			       const struct fab_exchange_costs *c)
{
	struct fab_exchange e;

	MUST(fab_exchange_run(p, c, &e, ERR));
	return e;
}

static bool has(const struct fab_peers *p, uint32_t r, uint32_t peer)
{
	for (uint32_t i = 0; i < fab_peers_degree(p, r); i++)
		if (fab_peers_at(p, r, i) == peer)
			return true;
	return false;
}

/* No process has itself or anybody twice; graphs that are mutual are. */
static void check(const struct fab_peers *p, bool is_mutual)
{
	for (uint32_t r = 0; r < p->n; r++)
		for (uint32_t i = 0; i < fab_peers_degree(p, r); i++) {
			uint32_t peer = fab_peers_at(p, r, i);

			cr_assert_lt(peer, p->n);
			cr_assert_neq(peer, r);
			for (uint32_t k = 0; k < i; k++)
				cr_assert_neq(fab_peers_at(p, r, k), peer);
			cr_assert(!is_mutual || has(p, peer, r));
		}
}

Test(exchange, graphs_of_peers)
{
	static const struct {
		const char *spec;
		uint32_t n_nodes, ppn;
		double degree;
		bool is_mutual;
	} rows[] = {{"ring", 5, 3, 2, true},	  {"ring", 1, 2, 1, true},
		    {"ring", 1, 1, 0, true},	  {"stencil:1", 4, 4, 2, true},
		    {"stencil:2", 4, 4, 4, true}, {"stencil:3", 8, 8, 6, true},
		    {"stencil:3", 4, 2, 3, true}, {"stencil:8", 7, 1, 2, true},
		    {"random:3", 6, 4, 3, false}, {"random:23", 6, 4, 23, true},
		    {"all", 3, 4, 11, true},	  {"stencil:2", 3, 5, 4, true}};

	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		struct fab_peers p = make(rows[i].spec, rows[i].n_nodes, rows[i].ppn);

		cr_assert_eq(fab_peers_mean_degree(&p), rows[i].degree, "%s: %g",
			     rows[i].spec, fab_peers_mean_degree(&p));
		check(&p, rows[i].is_mutual);
	}
}

/* Each other process is as likely. */
Test(exchange, random_peers_are_even)
{
	uint32_t seen[16] = {0};

	for (uint64_t seed = 0; seed < 4000; seed++) {
		struct fab_peers p;

		MUST(fab_peers_make(&memory, "random:5", 4, 4, seed, &p, ERR));
		for (uint32_t i = 0; i < 5; i++)
			seen[fab_peers_at(&p, 3, i)]++;
	}
	cr_assert_eq(seen[3], 0);
	for (uint32_t i = 0; i < 16; i++)
		cr_assert(i == 3 || fabs(seen[i] - 4000 / 3.) < 6 * sqrt(4000 / 3.),
			  "%u: %u", i, seen[i]);
}

Test(exchange, file_of_peers)
{
	static const char text[] = "# who needs whom\n"
				   "0 1,2 3-5\n"
				   "\n"
				   "7 0 7 0-1, 1 # itself does not count\n"
				   "0 4-6\r\n"
				   "3\n";
	struct fab_peers p = parse(text, 4, 2);

	cr_assert_eq(fab_peers_degree(&p, 0), 6);
	for (uint32_t i = 0; i < 6; i++)
		cr_assert_eq(fab_peers_at(&p, 0, i), i + 1);
	cr_assert_eq(fab_peers_degree(&p, 7), 2);
	cr_assert(has(&p, 7, 0) && has(&p, 7, 1));
	cr_assert_eq(fab_peers_mean_degree(&p), 1);
	check(&p, false);
}

Test(exchange, bad_files_of_peers)
{
	static const struct {
		const char *text, *says;
	} rows[] = {{"0 1\n0 8\n", "f:2: rank 8: the job has 8 processes, 0 to 7"},
		    {"8 1\n", "f:1: rank 8"},
		    {"0 1-8\n", "f:1: rank 8"},
		    {"0 5-3\n", "f:1: '5-3': the range runs backwards"},
		    {"0 -3\n", "f:1: '-3': expected a rank"},
		    {"0 3-\n", "f:1: '3-': expected a rank"},
		    {"x 1\n", "f:1: 'x': expected a rank"},
		    {"0 1e3\n", "f:1: '1e3': expected a rank"},
		    {",\n", "f:1: expected a rank and its peers"},
		    {"99999999999999999999 1\n", "f:1: '9999"}};
	struct fab_peers p;

	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		FAILS(fab_peers_parse(&memory, "f", rows[i].text, strlen(rows[i].text), 4,
				      2, &p, ERR),
		      -EINVAL, rows[i].says);
}

Test(exchange, bad_specs)
{
	static const char *const bad[] = {
		"",	     "rings",	 "ring:1", "stencil", "stencil:0", "stencil:9",
		"stencil:x", "random:0", "random", "all:2",   "file",	   "file:"};
	struct fab_peers p;

	for (size_t i = 0; i < FAB_COUNT(bad); i++) {
		cr_assert_eq(fab_peers_check(bad[i], NULL), -EINVAL, "%s", bad[i]);
		cr_assert_lt(fab_peers_make(&memory, bad[i], 2, 2, 1, &p, NULL), 0, "%s",
			     bad[i]);
	}
	FAILS(fab_peers_make(&memory, "random:4", 2, 2, 1, &p, ERR), -EINVAL,
	      "only 3 others");
	cr_assert_eq(fab_peers_make(&memory, "ring", 2, 0, 1, &p, NULL), -EINVAL);
	cr_assert_eq(fab_peers_make(&memory, "ring", 0, 2, 1, &p, NULL), -EINVAL);
	cr_assert_eq(fab_peers_make(&memory, "ring", 1 << 20, 1 << 10, 1, &p, NULL),
		     -ERANGE);
	cr_assert_eq(fab_peers_make(&memory, "random:2000", 1 << 10, 1 << 7, 1, &p, NULL),
		     -ERANGE);
}

/* Requests by counting pairs of a node and a process of another. */
static uint64_t count(const struct fab_peers *p, bool each)
{
	FAB_AUTOFREE uint8_t *asked = FAB_NEW0((size_t)p->n_nodes * p->n, uint8_t);
	uint64_t n = 0;

	for (uint32_t r = 0; r < p->n; r++)
		for (uint32_t i = 0; i < fab_peers_degree(p, r); i++) {
			uint32_t peer = fab_peers_at(p, r, i), node = r / p->ppn;
			uint8_t *a = &asked[(size_t)node * p->n + peer];

			if (peer / p->ppn != node && (each || !*a))
				n++;
			*a = 1;
		}
	return n;
}

Test(exchange, requests_are_counted)
{
	static const char *const specs[] = {"ring", "stencil:2", "random:7", "all"};
	struct fab_exchange_costs without = costs;

	without.has_no_cache = true;
	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		for (uint32_t ppn = 1; ppn <= 16; ppn *= 4) {
			struct fab_peers p = make(specs[i], 9, ppn);
			struct fab_exchange e = run(&p, &costs), w = run(&p, &without);

			cr_assert_eq(e.requests, count(&p, false));
			cr_assert_eq(w.requests, count(&p, true));
			cr_assert_eq(e.gets, e.local + e.requests + e.shared);
			cr_assert_eq(w.gets, w.local + w.requests);
			cr_assert_eq(w.gets, e.gets);
			cr_assert_eq((double)e.gets, fab_peers_mean_degree(&p) * p.n);
			cr_assert(e.total_us >= (double)e.most_served * costs.serve_us);
			cr_assert(e.mean_us <= e.total_us && e.busy_share <= 1);
		}
}

/* Small cases by hand. */
Test(exchange, a_server_answers_one_by_one)
{
	struct fab_peers p = parse("1 0\n2 0\n3 0\n4 0\n5 0\n", 6, 1);
	struct fab_exchange e = run(&p, &costs);
	struct fab_exchange_costs without = costs;

	cr_assert_eq(e.total_us, 220 + 4 * 25);
	cr_assert_eq(e.longest_wait_us, 4 * 25);
	cr_assert_float_eq(e.mean_us, (5 * 220 + 25 * (1 + 2 + 3 + 4)) / 6., 1e-9);
	cr_assert_eq(e.most_served, 5);
	cr_assert_eq(e.busiest, 0);
	/* the first goes on to a server that is free: the longest wait was before */
	p = parse("1 0 5\n2 0\n3 0\n", 6, 1);
	e = run(&p, &costs);
	cr_assert_eq(e.requests, 4);
	cr_assert_eq(e.total_us, 2 * 220);
	cr_assert_eq(e.longest_wait_us, 2 * 25);
	/* three of one node want the same: one request, the others wait for it */
	p = parse("3 0\n4 0\n5 0 4\n", 2, 3);
	e = run(&p, &costs);
	cr_assert_eq(e.requests, 1);
	cr_assert_eq(e.shared, 2);
	cr_assert_eq(e.local, 1);
	cr_assert_eq(e.total_us, 220 + 6 + 75);
	without.has_no_cache = true;
	e = run(&p, &without);
	cr_assert_eq(e.requests, 3);
	cr_assert_eq(e.total_us, 220 + 2 * 25 + 75);
}

/* The model without following Gets is near the truth, however many peers there are. */
Test(exchange, model_is_near)
{
	static const uint32_t degree[] = {1, 4, 16, 64, 256};

	for (size_t i = 0; i < FAB_COUNT(degree); i++) {
		char spec[32];
		struct fab_peers p;
		struct fab_exchange e, m;

		snprintf(spec, sizeof(spec), "random:%u", degree[i]);
		p = make(spec, 64, 8);
		e = run(&p, &costs);
		m = fab_exchange_model(64, 8, degree[i], &costs);
		cr_assert(m.is_model && !e.is_model);
		cr_assert_eq(m.gets, e.gets);
		cr_assert(fabs((double)m.requests / (double)e.requests - 1) < 0.02,
			  "%u: %llu, %llu", degree[i], (unsigned long long)m.requests,
			  (unsigned long long)e.requests);
		cr_assert(m.total_us <= e.total_us * 1.05 &&
				  m.total_us > e.total_us / 2.2,
			  "%u: %g instead of %g", degree[i], m.total_us, e.total_us);
	}
}

/* Of any degree, shared Gets are what is left of all, never more than there are. */
Test(exchange, model_counts_no_more_than_there_are)
{
	for (unsigned has_no_cache = 0; has_no_cache < 2; has_no_cache++)
		for (uint32_t n_nodes = 1; n_nodes < 5; n_nodes++)
			for (uint32_t ppn = 1; ppn < 5; ppn++)
				for (double degree = 0; degree <= n_nodes * ppn - 1;
				     degree += 0.1) {
					struct fab_exchange_costs c = costs;
					struct fab_exchange e;

					c.has_no_cache = has_no_cache > 0;
					e = fab_exchange_model(n_nodes, ppn, degree, &c);
					cr_assert_leq(e.shared, e.gets,
						      "%u nodes of %u, degree %g",
						      n_nodes, ppn, degree);
				}
}

/* A job of one process asks nobody. */
Test(exchange, one_process)
{
	struct fab_exchange_full full = {.fence_us = 5, .bytes = 100};
	struct fab_exchange m = fab_exchange_model(1, 1, 0, &costs);
	struct fab_peers p = make("all", 1, 1);
	struct fab_exchange e = run(&p, &costs);

	cr_assert_eq(m.total_us, 0);
	cr_assert_eq(m.requests, 0);
	cr_assert_eq(e.total_us, 0);
	cr_assert_eq(e.gets, 0);
	cr_assert_eq(fab_exchange_crossing(1, 1, &full, &costs), FAB_NONE);
}

Test(exchange, very_many_gets_are_not_followed)
{
	struct fab_peers p = make("all", 1000, 32);
	struct fab_exchange e = run(&p, &costs);

	cr_assert(e.is_model);
	cr_assert_eq(e.gets, 32000ull * 31999);
	cr_assert_eq(e.requests, 1000ull * 999 * 32);
	cr_assert(isnan(e.longest_wait_us));
	cr_assert_float_eq(e.total_us, 999 * 32 * 25. + 195, 1e-6);
}

/* d*: below it direct exchange is faster, from it on the fence. */
Test(exchange, degree_from_which_the_fence_wins)
{
	struct fab_exchange_full full = {.fence_us = 1950, .bytes = 4000};
	uint32_t d = fab_exchange_crossing(108, 64, &full, &costs);

	cr_assert(d > 1 && d < 108 * 64);
	for (uint32_t i = d - 1; i <= d; i++)
		cr_assert_eq(fab_exchange_full_us(108, i, &full, &costs) <=
				     fab_exchange_model(108, 64, i, &costs).total_us,
			     i == d);
	cr_assert_float_eq(fab_exchange_full_us(108, 10, &full, &costs),
			   1950 + 108 * 4000 * 1e-3 + 60, 1e-9);
	full.fence_us = 1e9;
	cr_assert_eq(fab_exchange_crossing(108, 64, &full, &costs), FAB_NONE);
	full = (struct fab_exchange_full){0};
	cr_assert_eq(fab_exchange_crossing(108, 64, &full, &costs), 0);
}

Test(exchange, memory_of_a_node)
{
	struct fab_peers p = make("ring", 10, 4);
	struct fab_exchange e = run(&p, &costs);
	struct fab_exchange_memory m = fab_exchange_memory(10, 4, 400, &e);

	cr_assert_eq(m.full, 4000);
	cr_assert_eq(m.full_each, 16000);
	cr_assert_eq(m.direct, 400 + 2 * 100);
}

Test(exchange, bad_costs)
{
	struct fab_peers p = make("ring", 2, 1);
	struct fab_exchange_costs bad[] = {costs, costs, costs};
	struct fab_exchange e;

	bad[0].get_us = -1;
	bad[1].serve_us = 221;
	bad[2].serve_us = NAN;
	for (size_t i = 0; i < FAB_COUNT(bad); i++)
		cr_assert_eq(fab_exchange_run(&p, &bad[i], &e, NULL), -EINVAL);
}
