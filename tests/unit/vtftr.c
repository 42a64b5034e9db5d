/* SPDX-License-Identifier: BSD-2-Clause */
/* Routing of kfats with dead parts: every pair walked, every dependency counted. */
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/engine.h"

#include <criterion/parameterized.h>

OWN_VALUE(kfat_net, kfat_net_fini)

static struct fab_routes *route_within(const struct kfat_net *n, const char *engine,
				       const struct fab_faults *faults, unsigned max_vls,
				       unsigned max_sls)
{
	struct fab_unicast_problem problem = {
		.f = n->f,
		.faults = faults,
		.kfat = n->k,
		.max_vls = max_vls,
		.max_sls = max_sls,
		.n_threads = 1,
	};

	return test_route(&problem, engine);
}

struct sums {
	uint64_t sets, with_note;
	unsigned vls, sls;
};

/* All that vtftr-ib promises; `shortest`: hops, too. */
static void expect_sound(const struct kfat_net *n, const struct fab_faults *faults,
			 unsigned max_vls, bool shortest, struct sums *sums)
{
	OWN(fab_routes) *r = test_tables(n->f, faults, "vtftr-ib", max_vls);
	struct unicast_check c = unicast_check(r);

	cr_assert_not(c.has_cycle);
	cr_assert_eq(c.connected, c.connected_in_graph, "%zu dead: %lu of %lu pairs: %s",
		     faults->named.n, c.connected, c.connected_in_graph,
		     r->note ? r->note : "");
	if (shortest)
		cr_assert_eq(c.minimal, c.connected, "%zu dead: %lu of %lu shortest: %s",
			     faults->named.n, c.minimal, c.connected,
			     r->note ? r->note : "");
	cr_assert_leq(c.vls, r->n_vls);
	cr_assert_leq(r->n_vls, max_vls);
	cr_assert_leq(c.sls, r->n_sls);
	sums->sets++;
	sums->with_note += r->note != NULL;
	if (r->n_vls > sums->vls)
		sums->vls = r->n_vls;
	if (r->n_sls > sums->sls)
		sums->sls = r->n_sls;
}

/* Sets of dead leaves, one in 29 of all, in full one in seven. */
Test(vtftr, sets_of_4x4)
{
	const uint32_t step = getenv("FAB_TEST_FULL") ? 7 : 29 * TEST_SHARE;
	OWN(kfat_net) n = kfat_net_of(test_gen_raw("kfat:dims=4x4,hosts=1"));
	OWN(fab_faults) *faults = fab_faults_new(n.f);
	struct sums sums = {0};

	for (uint32_t set = 0; set < 65536; set += step) {
		fab_faults_clear(faults);
		for (uint32_t i = 0; i < n.k->n_leaves; i++)
			if (set >> i & 1)
				fab_faults_kill_switch(faults, n.k->leaf[i]);
		expect_sound(&n, faults, 2, true, &sums);
	}
	cr_log_info("%lu sets, %u lanes, %u service levels", sums.sets, sums.vls,
		    sums.sls);
	cr_assert_eq(sums.vls, 2);
	cr_assert_leq(sums.sls, 3);
}

static void draw_sets(const char *spec, enum fab_fault_kind kind, size_t k, unsigned sets,
		      unsigned max_vls, bool shortest, struct sums *sums)
{
	OWN(kfat_net) n = kfat_net_of(test_gen_raw(spec));
	OWN(fab_faults) *faults = fab_faults_new(n.f);
	struct fab_stream rng = fab_stream_of(k * 1000 + max_vls, 0);

	for (unsigned i = 0; i < test_some(sets, 2, 1); i++) {
		test_draw_faults(faults, kind, k, &rng);
		expect_sound(&n, faults, max_vls, shortest, sums);
	}
}

Test(vtftr, faults_of_16x16)
{
	struct sums sums = {0};

	for (size_t k = 29 % test_step(1); k <= 29; k += test_step(1))
		draw_sets("kfat:dims=16x16,hosts=1", FAB_FAULT_LEAVES, k, 2, 2, true,
			  &sums);
	cr_assert_eq(sums.vls, 2);
	cr_assert_eq(sums.sls, 2);
	cr_assert_eq(sums.with_note, 0);
	draw_sets("kfat:dims=16x16,hosts=1", FAB_FAULT_LEAVES, 80, 2, 2, true, &sums);
	cr_assert_leq(sums.sls, 4);
}

/* A dead leaf on every row and column, and some more: no line to detour by is whole. */
Test(vtftr, no_line_is_whole)
{
	enum { SIDE = 16, MORE = 13, SETS = 14 };
	OWN(kfat_net) n = kfat_net_of(test_gen_raw("kfat:dims=16x16,hosts=1"));
	OWN(fab_faults) *faults = fab_faults_new(n.f);
	struct sums sums = {0};
	struct fab_rng rng = test_rng(16);

	for (unsigned set = 0; set < SETS; set += 1 + test_step(1) / 2) {
		uint32_t row[SIDE];

		fab_faults_clear(faults);
		for (uint32_t x = 0; x < SIDE; x++) {
			uint32_t other = test_below(&rng, x + 1);

			row[x] = row[other];
			row[other] = x;
		}
		for (uint32_t x = 0; x < SIDE; x++)
			fab_faults_kill_switch(faults, n.k->leaf[x * SIDE + row[x]]);
		for (uint32_t i = 0; i < set % (MORE + 1); i++)
			fab_faults_kill_switch(
				faults, n.k->leaf[fab_rng_below(&rng, n.k->n_leaves)]);
		expect_sound(&n, faults, 2, true, &sums);
	}
	cr_assert_eq(sums.vls, 2);
	cr_assert_leq(sums.sls, 3);
	cr_assert_eq(sums.with_note, 0);
}

/* The same sets with two service levels and three lanes. */
Test(vtftr, two_levels_where_no_line_is_whole)
{
	enum { SIDE = 16, SETS = 20 };
	OWN(kfat_net) n = kfat_net_of(test_gen_raw("kfat:dims=16x16,hosts=1"));
	OWN(fab_faults) *faults = fab_faults_new(n.f);
	unsigned n_three = 0;

	for (uint32_t set = 0; set < SETS; set += test_step(2)) {
		OWN(fab_routes) *r = NULL;
		struct unicast_check c;

		fab_faults_clear(faults);
		for (uint32_t x = 0; x < SIDE; x++)
			for (uint32_t i = 0; i < 2; i++)
				fab_faults_kill_switch(
					faults,
					n.k->leaf[x * SIDE +
						  (x * (2 * set + 1) + 5 * i) % SIDE]);
		r = route_within(&n, "vtftr-ib", faults, 3, 2);
		c = unicast_check(r);
		cr_assert_not(c.has_cycle, "set %u", set);
		cr_assert_eq(c.connected, c.connected_in_graph, "set %u", set);
		cr_assert_eq(c.minimal, c.connected, "set %u", set);
		cr_assert_leq(c.vls, r->n_vls);
		cr_assert_leq(c.sls, 2, "set %u", set);
		cr_assert_eq(r->n_sls, 2, "set %u", set);
		cr_assert_null(r->note);
		n_three += r->n_vls == 3;
	}
	cr_assert_gt(n_three, 0);
}

/* What needs more than is allowed is said, and no pair goes beyond it. */
Test(vtftr, too_few_levels_are_said)
{
	OWN(kfat_net) n = kfat_net_of(test_gen_raw("kfat:dims=6x6,hosts=1"));
	OWN(fab_faults) *faults = fab_faults_new(n.f);
	OWN(fab_routes) *r = NULL;
	struct unicast_check c;

	fab_faults_kill_switch(faults, n.k->leaf[7]);
	r = route_within(&n, "vtftr-ib", faults, 3, 1);
	c = unicast_check(r);
	cr_assert_not(c.has_cycle);
	cr_assert_eq(r->n_sls, 1);
	cr_assert_lt(c.connected, c.connected_in_graph);
	HAS(r->note, "with 1 service level are too few");
}

Test(vtftr, three_dimensions)
{
	struct sums sums = {0};

	for (size_t k = 0; k <= 8; k++)
		draw_sets("kfat:dims=3x3x3,hosts=1", FAB_FAULT_LEAVES, k, 100, 2, false,
			  &sums);
	cr_assert_eq(sums.vls, 2);
	draw_sets("kfat:dims=4x4x4,hosts=1", FAB_FAULT_LEAVES, 24, 20, 4, false, &sums);
	draw_sets("kfat:dims=2x2x2x2,hosts=1", FAB_FAULT_LEAVES, 4, 50, 4, false, &sums);
}

static const struct {
	const char *spec;
	enum fab_fault_kind kind;
	size_t k;
	unsigned sets, max_vls;
} drawn[] = {
	{"kfat:dims=5x5,hosts=1", FAB_FAULT_ROOTS, 2, 40, 3},
	{"kfat:dims=5x5,hosts=1", FAB_FAULT_LINKS, 6, 100, 3},
	{"kfat:dims=5x5,hosts=1", FAB_FAULT_ANY, 6, 100, 3},
	{"kfat:dims=4x6,hosts=1", FAB_FAULT_ANY, 5, 100, 3},
	{"kfat:dims=5x5,hosts=1,planes=2", FAB_FAULT_ANY, 9, 100, 3},
	{"kfat:dims=4x4x3,hosts=1,planes=2", FAB_FAULT_LEAVES, 7, 100, 3},
	{"kfat:dims=4x3x3,hosts=1,planes=2,levels=2,radix=4", FAB_FAULT_ANY, 9, 100, 3},
	{"kfat:dims=4x4,hosts=1,levels=2,radix=4", FAB_FAULT_LEAVES, 3, 60, 2},
	{"kfat:dims=6x6,hosts=1,levels=2,radix=8", FAB_FAULT_ANY, 6, 60, 3},
};

TEST_EACH(i, FAB_COUNT(drawn), vtftr, roots_links_planes_and_lines_of_two_levels)
{
	struct sums sums = {0};

	draw_sets(drawn[*i].spec, drawn[*i].kind, drawn[*i].k, drawn[*i].sets,
		  drawn[*i].max_vls, false, &sums);
}

/* Two planes: no two dead parts but leaves need a path against the phase order. */
Test(vtftr, planes)
{
	OWN(kfat_net) n = kfat_net_of(test_gen_raw("kfat:dims=4x3,hosts=1,planes=2"));
	OWN(fab_faults) *faults = fab_faults_new(n.f);
	struct fab_fault_list list;
	struct sums sums = {0};
	size_t pick[2];

	cr_assert_eq(n.k->n_planes, 2);
	cr_assert_eq(n.k->n_dims, 2);
	cr_assert_eq(n.k->n_leaves, 12);
	cr_assert_eq(n.k->n_lines, 7);
	fab_faults_candidates(n.f, FAB_FAULT_ANY, NULL, &list);
	cr_assert_eq(list.of.n, 12 + 14 + 48);
	for (uint64_t set = 0; set < fab_faults_combinations(list.of.n, 2);
	     set += test_step(1)) {
		fab_faults_clear(faults);
		fab_faults_combination(set, 2, list.of.n, pick);
		for (size_t i = 0; i < 2; i++)
			fab_faults_kill(faults, list.of.v[pick[i]]);
		expect_sound(&n, faults, 2, true, &sums);
	}
	cr_assert_eq(sums.sets, 74 * 73 / 2 / test_step(1) + (test_step(1) > 1));
	cr_assert_eq(sums.with_note, 0);
	free(list.of.v);
}

static struct unicast_check check_tables(const struct fab_fabric *f,
					 const struct fab_faults *faults,
					 const char *engine, unsigned max_vls)
{
	OWN(fab_routes) *r = test_tables(f, faults, engine, max_vls);

	return unicast_check(r);
}

/* The rivals: what they promise without faults, and where they lose pairs. */
Test(vtftr, other_engines)
{
	static const char *const engines[] = {"xy",	  "algorithm-a",  "vtftr",
					      "vtftr-ib", "intermediate", "minhop"};
	OWN(kfat_net) n = kfat_net_of(test_gen_raw("kfat:dims=5x4,hosts=2"));
	OWN(fab_faults) *faults = fab_faults_new(n.f);
	struct unicast_check c;

	for (size_t i = 0; i < FAB_COUNT(engines); i++) {
		c = check_tables(n.f, faults, engines[i], 2);
		cr_assert_eq(c.pairs, 20 * 19);
		cr_assert_eq(c.minimal, c.pairs, "%s", engines[i]);
		if (i < 5) {
			cr_assert_not(c.has_cycle, "%s", engines[i]);
			cr_assert_eq(c.vls, 1);
		}
	}
	MUST(fab_faults_add_switches(faults, "2.1", ERR));
	c = check_tables(n.f, faults, "xy", 1);
	cr_assert_eq(c.pairs - c.connected, 4 * 3); /* turns at the dead leaf */
	cr_assert_not(c.has_cycle);
	c = check_tables(n.f, faults, "algorithm-a", 1);
	cr_assert_eq(c.pairs, c.connected);
	cr_assert_eq(c.max_hops, 8);
	c = check_tables(n.f, faults, "vtftr", 2);
	cr_assert_eq(c.pairs, c.connected);
	cr_assert_eq(c.minimal, c.pairs);
	cr_assert_not(c.has_cycle);
	cr_assert_eq(c.vls, 2);
}

/* An intermediate switch and a lane for each change: two lanes reach what two rounds of
 * dimension order reach; with one lane it is dimension order. */
Test(vtftr, intermediate_switches)
{
	static const char *const dead[] = {"1.1", "0.0,1.1,2.2,3.3", "0.0,0.1,1.0,2.3"};
	OWN(kfat_net) n = kfat_net_of(test_gen_raw("kfat:dims=5x4,hosts=2"));

	for (size_t i = 0; i < FAB_COUNT(dead); i++) {
		OWN(fab_faults) *faults = fab_faults_new(n.f);
		struct unicast_check xy;

		MUST(fab_faults_add_switches(faults, dead[i], ERR));
		xy = check_tables(n.f, faults, "xy", 1);
		for (unsigned lanes = 1; lanes <= 4; lanes++) {
			OWN(fab_routes) *r =
				test_tables(n.f, faults, "intermediate", lanes);
			struct unicast_check c = unicast_check(r);

			cr_expect_not(c.has_cycle, "%s, %u lanes", dead[i], lanes);
			cr_expect_eq(c.connected,
				     lanes == 1 ? xy.connected : c.connected_in_graph);
			cr_expect_eq(c.vls, lanes == 1 ? 1 : 2);
			cr_expect_eq(r->note != NULL, lanes == 1);
		}
	}
}

/* VTFTR promises all pairs while a row and a column are free of faults. */
Test(vtftr, as_published)
{
	OWN(kfat_net) n = kfat_net_of(test_gen_raw("kfat:dims=6x6,hosts=1"));
	OWN(fab_faults) *faults = fab_faults_new(n.f);
	struct fab_stream rng = fab_stream_of(7, 0);
	unsigned n_promised = 0;

	for (unsigned i = 0; i < test_some(200, 1, 1); i++) {
		bool row[6] = {0}, column[6] = {0};
		unsigned rows = 0, columns = 0;
		struct unicast_check c;

		test_draw_faults(faults, FAB_FAULT_LEAVES, 2 + i % 8, &rng);
		for (size_t j = 0; j < faults->named.n; j++) {
			const uint32_t *xy =
				n.k->coord + n.k->leaf_of[faults->named.v[j].id] * 2;

			column[xy[0]] = row[xy[1]] = true;
		}
		for (unsigned j = 0; j < 6; j++) {
			rows += row[j];
			columns += column[j];
		}
		c = check_tables(n.f, faults, "vtftr", 2);
		cr_assert_not(c.has_cycle);
		cr_assert_leq(c.vls, 2);
		cr_assert_leq(c.max_hops, 6);
		if (rows < 6 || columns < 6) {
			n_promised++;
			cr_assert_eq(c.connected, c.pairs);
		}
	}
	cr_assert_gt(n_promised, test_some(50, 1, 1));
}
