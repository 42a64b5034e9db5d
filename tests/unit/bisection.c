/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/bisection.h"

#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/engine.h"
#include "unicast/path.h"

/* Cables of known bisections. */
Test(bisection, of_generated_fabrics)
{
	static const struct {
		const char *spec;
		uint32_t half, cut, flows;
	} cases[] = {
		{"fattree:radix=8,levels=2", 16, 16, 1},
		{"fattree:radix=8,levels=3", 64, 64, 1},
		{"pgft:h=2,m=4/4,w=1/2,p=1/1", 8, 4, 2}, /* 4 hosts, 2 cables up */
		{"torus:dims=6x6,hosts=2", 36, 12, 3},	 /* two rings of 6 */
		{"torus:dims=8,hosts=1", 4, 2, 2},	 /* a ring */
		{"mesh:dims=4x4,hosts=1", 8, 4, 2},
		{"hyperx:dims=4x4,hosts=1", 8, 16, 1}, /* 4 x 2 x 2 */
		{"fattree:radix=6,levels=1", 0, 0, 0}, /* one switch */
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_fabric) *f = test_gen(cases[i].spec);
		OWN(fab_routes) *routes = test_tables(f, NULL, "minhop", 2);
		struct fab_bisection b;

		MUST(fab_bisection_find(routes, 1, &b, ERR));
		cr_expect_eq(b.n_half, cases[i].half, "%s: %u", cases[i].spec, b.n_half);
		cr_expect_eq(b.n_cut, cases[i].cut, "%s: %u", cases[i].spec, b.n_cut);
		cr_expect_eq(b.least_flows, cases[i].flows, "%s: %u", cases[i].spec,
			     b.least_flows);
	}
}

/* Gives a receiver one of the senders that it can have, others another one. */
static bool augment(const bool *uses, uint32_t n, uint32_t to, uint32_t *sender,
		    bool *is_seen)
{
	for (uint32_t from = 0; from < n; from++) {
		uint32_t other = 0;

		if (!uses[from * n + to] || is_seen[from])
			continue;
		is_seen[from] = true;
		while (other < n && sender[other] != from)
			other++;
		if (other < n && !augment(uses, n, other, sender, is_seen))
			continue;
		sender[to] = from;
		return true;
	}
	return false;
}

/* The most pairs without a common end that use the arc, end by end. */
static uint32_t flows_of(const struct fab_routes *r, const struct fab_flow_ends *ends,
			 const uint32_t *column, uint32_t arc)
{
	uint32_t n = ends->n, flows = 0;
	FAB_AUTOFREE bool *uses = FAB_NEW0(n * n, bool);
	FAB_AUTOFREE uint32_t *sender = fab_none_new(n);

	for (uint32_t i = 0; i < n * n; i++) {
		struct fab_path path = fab_path_from(r, ends->sw[i / n], column[i % n]);

		while (i / n != i % n && fab_path_step(&path))
			uses[i] |= path.arc == arc;
	}
	for (uint32_t to = 0; to < n; to++) {
		FAB_AUTOFREE bool *is_seen = FAB_NEW0(n, bool);

		flows += augment(uses, n, to, sender, is_seen);
	}
	return flows;
}

/* The worst permutation, with that of each cable found end by end. */
Test(bisection, worst_permutations_are_those_of_all_cables)
{
	static const char *const specs[] = {
		"fattree:radix=4,levels=3", "pgft:h=2,m=3/4,w=1/2,p=1/1",
		"torus:dims=3x3,hosts=2", "dragonfly:a=3,p=1,h=1"};
	uint32_t n_exact = 0;

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen(specs[i]);
		OWN(fab_routes) *routes = test_tables(f, NULL, "minhop", 2);
		OWN(fab_flow_ends) ends;
		struct fab_bisection b;
		uint32_t most = 0;
		FAB_AUTOFREE uint32_t *column = NULL;

		fab_flow_ends_init(&ends, f, NULL, NULL);
		column = fab_path_columns(routes, ends.n, ends.sw, ends.port);
		MUST(fab_bisection_find(routes, 1, &b, ERR));
		for (uint32_t a = 0; a < f->arc_first[f->n_switches]; a++) {
			uint32_t n = flows_of(routes, &ends, column, a);

			most = n > most ? n : most;
		}
		cr_expect_leq(b.most_flows, most);
		cr_expect(!b.is_exact || b.most_flows == most, "%s: %u of %u", specs[i],
			  b.most_flows, most);
		cr_expect_eq(flows_of(routes, &ends, column, b.arc), b.most_flows);
		cr_expect_leq(b.least_flows, most, "%s: bound %u, found %u", specs[i],
			      b.least_flows, most);
		n_exact += b.is_exact;
	}
	cr_expect_geq(n_exact, 3);
}
