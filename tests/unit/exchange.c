/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphs of peers, and what direct exchange over them takes. */
#include "launch/exchange.h"
#include "support/fences.h"
#include "support/test.h"

static struct fab_arena memory = FAB_ARENA_INIT; /* ends with the process */

static const struct fab_exchange_costs costs = {
	.get_us = 6, .local_us = 75, .remote_us = 220, .serve_us = 25, .unpack_ns = 1};

static struct fab_peers make(const char *spec, uint32_t n_nodes, uint32_t ppn)
{
	struct fab_peers p;

	MUST(fab_peers_make(&memory, spec, n_nodes, ppn, 1, &p, ERR));
	return p;
}

static struct fab_peers parse(const char *text, uint32_t n_nodes, uint32_t ppn)
{
	struct fab_peers p;

	MUST(fab_peers_parse(&memory, "f", text, strlen(text), n_nodes, ppn, &p, ERR));
	return p;
}

static struct fab_exchange run(const struct fab_peers *p, bool has_no_cache)
{
	struct fab_exchange_costs c = costs;
	struct fab_exchange e;

	c.has_no_cache = has_no_cache;
	MUST(fab_exchange_run(p, &c, &e, ERR));
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

			cr_assert(peer < p->n && peer != r);
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

		cr_assert_eq(fab_peers_mean_degree(&p), rows[i].degree, "%s",
			     rows[i].spec);
		check(&p, rows[i].is_mutual);
	}
}

Test(exchange, files_of_peers)
{
	static const char text[] = "# who needs whom\n0 1,2 3-5\n\n"
				   "7 0 7 0-1, 1 # itself does not count\n0 4-6\r\n3\n";
	static const struct {
		const char *text, *says;
	} bad[] = {{"0 1\n0 8\n", "f:2: rank 8: the job has 8 processes, 0 to 7"},
		   {"8 1\n", "f:1: rank 8"},
		   {"0 5-3\n", "f:1: '5-3': the range runs backwards"},
		   {"0 -3\n", "f:1: '-3': expected a rank"},
		   {"x 1\n", "f:1: 'x': expected a rank"},
		   {"0 1e3\n", "f:1: '1e3': expected a rank"},
		   {",\n", "f:1: expected a rank and its peers"},
		   {"99999999999999999999 1\n", "f:1: '9999"}};
	struct fab_peers p = parse(text, 4, 2);

	cr_assert_eq(fab_peers_degree(&p, 0), 6);
	for (uint32_t i = 0; i < 6; i++)
		cr_assert_eq(fab_peers_at(&p, 0, i), i + 1);
	cr_assert(fab_peers_degree(&p, 7) == 2 && has(&p, 7, 0) && has(&p, 7, 1));
	cr_assert_eq(fab_peers_mean_degree(&p), 1);
	check(&p, false);
	for (size_t i = 0; i < FAB_COUNT(bad); i++)
		FAILS(fab_peers_parse(&memory, "f", bad[i].text, strlen(bad[i].text), 4,
				      2, &p, ERR),
		      -EINVAL, bad[i].says);
}

Test(exchange, bad_specs_and_costs)
{
	char bad[] =
		"|rings|ring:1|stencil|stencil:0|stencil:9|stencil:x|random:0|random|"
		"all:2|file|file:";
	static const struct {
		const char *spec;
		uint32_t n_nodes, ppn;
		int error;
		const char *says;
	} rows[] = {{"random:4", 2, 2, -EINVAL, "only 3 others"},
		    {"ring", 2, 0, -EINVAL, ""},
		    {"ring", 0, 2, -EINVAL, ""},
		    {"ring", 1 << 20, 1 << 10, -ERANGE, ""},
		    {"random:2000", 1 << 10, 1 << 7, -ERANGE, ""}};
	struct fab_exchange_costs dear[] = {costs, costs, costs};
	struct fab_exchange e;
	struct fab_peers p;

	for (char *list = bad, *spec; (spec = strsep(&list, "|"));) {
		cr_assert_eq(fab_peers_check(spec, NULL), -EINVAL, "%s", spec);
		FAILS(fab_peers_make(&memory, spec, 2, 2, 1, &p, ERR), 0, "");
	}
	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		FAILS(fab_peers_make(&memory, rows[i].spec, rows[i].n_nodes, rows[i].ppn,
				     1, &p, ERR),
		      rows[i].error, rows[i].says);
	p = make("ring", 2, 1);
	dear[0].get_us = -1;
	dear[1].serve_us = 221;
	dear[2].serve_us = NAN;
	for (size_t i = 0; i < FAB_COUNT(dear); i++)
		cr_assert_eq(fab_exchange_run(&p, &dear[i], &e, NULL), -EINVAL);
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

	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		for (uint32_t ppn = 1; ppn <= 16; ppn *= 4) {
			struct fab_peers p = make(specs[i], 9, ppn);
			struct fab_exchange e = run(&p, false), w = run(&p, true);

			cr_assert_eq(e.requests, count(&p, false));
			cr_assert_eq(w.requests, count(&p, true));
			cr_assert_eq(e.gets, e.local + e.requests + e.shared);
			cr_assert(w.gets == w.local + w.requests && w.gets == e.gets);
			cr_assert_eq((double)e.gets, fab_peers_mean_degree(&p) * p.n);
			cr_assert(e.total_us >= (double)e.most_served * costs.serve_us);
			cr_assert(e.mean_us <= e.total_us && e.busy_share <= 1);
		}
}

/* A server answers one by one, by hand. */
Test(exchange, small_cases)
{
	static const struct {
		const char *text;
		uint32_t n_nodes, ppn;
		bool has_no_cache;
		uint32_t requests, shared, local, total_us, longest_wait_us;
	} rows[] = {
		{"1 0\n2 0\n3 0\n4 0\n5 0\n", 6, 1, false, 5, 0, 0, 220 + 4 * 25, 4 * 25},
		/* the first goes on to a free server: the longest wait was before */
		{"1 0 5\n2 0\n3 0\n", 6, 1, false, 4, 0, 0, 2 * 220, 2 * 25},
		/* three of one node want the same: one request, the others wait for it */
		{"3 0\n4 0\n5 0 4\n", 2, 3, false, 1, 2, 1, 220 + 6 + 75, 0},
		{"3 0\n4 0\n5 0 4\n", 2, 3, true, 3, 0, 1, 220 + 2 * 25 + 75, 2 * 25},
		/* one process asks nobody */
		{"0 0\n", 1, 1, false, 0, 0, 0, 0, 0}};
	struct fab_peers p;
	struct fab_exchange e;
	struct fab_exchange_memory m;

	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		p = parse(rows[i].text, rows[i].n_nodes, rows[i].ppn);
		e = run(&p, rows[i].has_no_cache);
		cr_assert(e.requests == rows[i].requests && e.shared == rows[i].shared &&
				  e.local == rows[i].local,
			  "%zu", i);
		cr_assert_eq(e.total_us, rows[i].total_us, "%zu", i);
		cr_assert_eq(e.longest_wait_us, rows[i].longest_wait_us, "%zu", i);
		if (i)
			continue;
		cr_assert_float_eq(e.mean_us, (5 * 220 + 25 * (1 + 2 + 3 + 4)) / 6.,
				   1e-9);
		cr_assert(e.most_served == 5 && e.busiest == 0);
	}
	e = fab_exchange_model(1, 1, 0, &costs);
	cr_assert(e.total_us <= 0 && !e.requests);
	p = make("ring", 10, 4);
	e = run(&p, false);
	m = fab_exchange_memory(10, 4, 400, &e);
	cr_assert(m.full == 4000 && m.full_each == 16000 && m.direct == 400 + 2 * 100);
}

/* The model without following Gets is near the truth, however many peers there are. */
Test(exchange, model_is_near)
{
	for (uint32_t degree = 1; degree <= 256; degree *= 4) {
		OWN_HEAP char *spec = fab_format("random:%u", degree);
		struct fab_peers p = make(spec, 64, 8);
		struct fab_exchange e = run(&p, false);
		struct fab_exchange m = fab_exchange_model(64, 8, degree, &costs);

		cr_assert(m.is_model && !e.is_model && m.gets == e.gets);
		test_near((double)m.requests, (double)e.requests, 0.02);
		cr_assert(m.total_us <= e.total_us * 1.05 &&
				  m.total_us > e.total_us / 2.2,
			  "%u", degree);
	}
}

/* Shared Gets are what is left of all, never more than there are. */
Test(exchange, model_counts_no_more_than_there_are)
{
	struct fab_exchange_costs c = costs;

	for (uint32_t k = 0; k < 32; k++) {
		uint32_t n_nodes = 1 + k % 4, ppn = 1 + k / 4 % 4;

		c.has_no_cache = k / 16;
		for (double degree = 0; degree <= n_nodes * ppn - 1; degree += 0.1) {
			struct fab_exchange e =
				fab_exchange_model(n_nodes, ppn, degree, &c);

			cr_assert(e.shared <= e.gets, "%u, %u, %g", n_nodes, ppn, degree);
		}
	}
}

Test(exchange, very_many_gets_are_not_followed)
{
	struct fab_peers p = make("all", 1000, 32);
	struct fab_exchange e = run(&p, false);

	cr_assert(e.is_model && isnan(e.longest_wait_us) && e.gets == 32000ull * 31999);
	cr_assert_eq(e.requests, 1000ull * 999 * 32);
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
	cr_assert_eq(fab_exchange_crossing(1, 1, &full, &costs), FAB_NONE);
	full = (struct fab_exchange_full){0};
	cr_assert_eq(fab_exchange_crossing(108, 64, &full, &costs), 0);
}
