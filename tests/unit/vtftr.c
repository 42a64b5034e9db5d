/* SPDX-License-Identifier: BSD-2-Clause */
/* Routing of kfats with dead parts: every pair walked, every dependency counted. */
#include "support/test.h"
#include "support/unicast_check.h"

/* Of all tables that the test has checked, the most. */
static struct {
	uint64_t with_note;
	unsigned vls, sls;
} most;

/* By vtftr-ib; max_sls 0: any. */
static struct fab_routes *route_within(const struct kfat_net *n, unsigned max_vls,
				       unsigned max_sls)
{
	const struct fab_unicast_problem problem = {.f = n->f,
						    .faults = n->faults,
						    .kfat = n->k,
						    .max_vls = max_vls,
						    .max_sls = max_sls,
						    .n_threads = 1};

	return test_route(&problem, "vtftr-ib");
}

/* All that vtftr-ib promises; `shortest`: hops, too. */
static void expect_sound(const struct kfat_net *n, unsigned max_vls, unsigned max_sls,
			 bool shortest)
{
	OWN(fab_routes) *r = route_within(n, max_vls, max_sls);
	OWN(fab_analysis) c = test_verified(r, FAB_ENDS_LEAVES);
	const char *note = r->note ? r->note : "";

	cr_assert(c.deadlock_free);
	cr_assert_eq(c.connected, c.connected_in_graph, "%zu dead: %lu of %lu pairs: %s",
		     n->faults->named.n, c.connected, c.connected_in_graph, note);
	cr_assert(!shortest || c.minimal == c.connected,
		  "%zu dead: %lu of %lu shortest: %s", n->faults->named.n, c.minimal,
		  c.connected, note);
	cr_assert_leq(c.vls, r->n_vls);
	cr_assert_leq(r->n_vls, max_vls);
	cr_assert_leq(c.sls, r->n_sls);
	for (size_t i = 0; i < (size_t)r->n_sl_sources * r->n_columns; i++)
		cr_assert(r->sl[i] < r->n_sls || r->sl[i] == FAB_SL_NONE);
	for (size_t i = 0; r->sl2vl && i < r->vl_first[n->f->n_switches]; i++)
		cr_assert(r->sl2vl[i] < r->n_vls || r->sl2vl[i] == FAB_VL_UNKNOWN);
	cr_assert(!max_sls || r->n_sls <= max_sls);
	most.with_note += *note != '\0';
	most.vls = r->n_vls > most.vls ? r->n_vls : most.vls;
	most.sls = r->n_sls > most.sls ? r->n_sls : most.sls;
}

/* Sets of dead leaves, one in 29 of all, in full one in seven. */
Test(vtftr, sets_of_4x4)
{
	const uint32_t step = getenv("FAB_TEST_FULL") ? 7 : 29 * TEST_SHARE;
	OWN(kfat_net) n = kfat_net("kfat:dims=4x4,hosts=1", NULL);

	for (uint32_t set = 0; set < 65536; set += step) {
		fab_faults_clear(n.faults);
		for (uint32_t i = 0; i < n.k->n_leaves; i++)
			if (set >> i & 1)
				fab_faults_kill_switch(n.faults, n.k->leaf[i]);
		expect_sound(&n, 2, 0, true);
	}
	cr_assert_eq(most.vls, 2);
	cr_assert_leq(most.sls, 3);
}

/* What needs more than is allowed is said, and no pair goes beyond it. */
Test(vtftr, too_few_levels_are_said)
{
	OWN(kfat_net) n = kfat_net("kfat:dims=6x6,hosts=1", "leaf-1.1");
	OWN(fab_routes) *r = route_within(&n, 3, 1);
	OWN(fab_analysis) c = test_verified(r, FAB_ENDS_LEAVES);

	cr_assert(c.deadlock_free);
	cr_assert_eq(r->n_sls, 1);
	cr_assert_lt(c.connected, c.connected_in_graph);
	HAS(r->note, "with 1 service level are too few");
}

/* Lines of several levels of switches: two service levels by turns would close a cycle.
 */
Test(vtftr, turns_in_deep_lines)
{
	OWN(kfat_net)
	n = kfat_net("kfat:dims=5x5,hosts=1,levels=2,radix=4",
		     "0.0,1.4,2.3,3.1,3.2,4.2,4.3");
	OWN(fab_routes) *r = route_within(&n, 3, 2);
	OWN(fab_analysis) j = test_analysis(r, FAB_ENDS_LEAVES);

	cr_expect(j.deadlock_free);
	cr_expect_leq(r->n_sls, 2);
	cr_expect_leq(r->n_vls, 3);
	cr_expect(r->note || j.connected == j.connected_in_graph);
}

static const struct {
	const char *spec;
	enum fab_fault_kind kind;
	size_t from, to; /* faults */
	unsigned sets, max_vls;
	unsigned sls; /* at most, by shortest paths; 0: any, by any */
	unsigned max_sls;
} drawn[] = {
	{"kfat:dims=5x5,hosts=1", FAB_FAULT_ROOTS, 2, 2, 40, 3, 0},
	{"kfat:dims=5x5,hosts=1", FAB_FAULT_LINKS, 6, 6, 100, 3, 0},
	{"kfat:dims=5x5,hosts=1", FAB_FAULT_ANY, 6, 6, 100, 3, 0},
	{"kfat:dims=4x6,hosts=1", FAB_FAULT_ANY, 5, 5, 100, 3, 0},
	{"kfat:dims=5x5,hosts=1,planes=2", FAB_FAULT_ANY, 9, 9, 100, 3, 0},
	/* no two dead parts but leaves need a path against the phase order */
	{"kfat:dims=4x3,hosts=1,planes=2", FAB_FAULT_ANY, 2, 2, 5400, 2, 2},
	{"kfat:dims=3x3x3,hosts=1", FAB_FAULT_LEAVES, 0, 8, 100, 2, 0},
	{"kfat:dims=4x4x4,hosts=1", FAB_FAULT_LEAVES, 24, 24, 20, 4, 0},
	{"kfat:dims=2x2x2x2,hosts=1", FAB_FAULT_LEAVES, 4, 4, 50, 4, 0},
	{"kfat:dims=4x4x3,hosts=1,planes=2", FAB_FAULT_LEAVES, 7, 7, 100, 3, 0},
	{"kfat:dims=4x3x3,hosts=1,planes=2,levels=2,radix=4", FAB_FAULT_ANY, 9, 9, 100, 3,
	 0},
	{"kfat:dims=4x4,hosts=1,levels=2,radix=4", FAB_FAULT_LEAVES, 3, 3, 60, 2, 0},
	{"kfat:dims=6x6,hosts=1,levels=2,radix=8", FAB_FAULT_ANY, 6, 6, 60, 3, 0},
	{"kfat:dims=16x16,hosts=1", FAB_FAULT_LEAVES, 0, 29, 2, 2, 2},
	/* no line to detour by is whole */
	{"kfat:dims=16x16,hosts=1", FAB_FAULT_LEAVES, 80, 80, 2, 2, 4},
	{"kfat:dims=16x16,hosts=1", FAB_FAULT_LEAVES, 50, 53, 4, 3, 2, 2},
	{"kfat:dims=8x8,hosts=1", FAB_FAULT_LEAVES, 16, 24, 4, 3, 2, 2},
};

TEST_EACH(i, FAB_COUNT(drawn), vtftr, dimensions_parts_planes_and_lines_of_two_levels)
{
	uint32_t step = drawn[*i].to < 29 ? 1 : test_step(1);

	for (size_t k = drawn[*i].from; k <= drawn[*i].to; k += step) {
		OWN(kfat_net) n = kfat_net(drawn[*i].spec, NULL);
		struct fab_stream rng = fab_stream_of(k * 1000 + drawn[*i].max_vls, 0);

		for (unsigned set = 0; set < test_some(drawn[*i].sets, 2, 1); set++) {
			test_draw_faults(n.faults, drawn[*i].kind, k, &rng);
			expect_sound(&n, drawn[*i].max_vls, drawn[*i].max_sls,
				     drawn[*i].sls);
		}
	}
	cr_assert(drawn[*i].to < 8 || drawn[*i].from || most.vls == 2);
	cr_assert(!drawn[*i].sls || most.sls <= drawn[*i].sls);
	cr_assert(drawn[*i].sls != 2 || most.with_note == 0);
}

static struct fab_analysis analysis_by(const struct kfat_net *n, const char *engine,
				       unsigned max_vls)
{
	OWN(fab_routes) *r = test_tables(n->f, n->faults, engine, max_vls);

	return test_verified(r, FAB_ENDS_LEAVES);
}

/* An intermediate switch and a lane for each change: two lanes reach what two rounds of
 * dimension order reach; with one lane it is dimension order. */
Test(vtftr, intermediate_switches)
{
	static const char *const dead[] = {"1.1", "0.0,1.1,2.2,3.3", "0.0,0.1,1.0,2.3"};

	for (size_t i = 0; i < FAB_COUNT(dead); i++) {
		OWN(kfat_net) n = kfat_net("kfat:dims=5x4,hosts=2", dead[i]);
		OWN(fab_analysis) xy = analysis_by(&n, "xy", 1);

		for (unsigned lanes = 1; lanes <= 4; lanes++) {
			OWN(fab_routes) *r =
				test_tables(n.f, n.faults, "intermediate", lanes);
			OWN(fab_analysis) c = test_verified(r, FAB_ENDS_LEAVES);

			cr_expect(c.deadlock_free, "%s, %u lanes", dead[i], lanes);
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
	OWN(kfat_net) n = kfat_net("kfat:dims=6x6,hosts=1", NULL);
	struct fab_stream rng = fab_stream_of(7, 0);
	unsigned n_promised = 0;

	for (unsigned i = 0; i < test_some(200, 1, 1); i++) {
		unsigned rows = 0, columns = 0;
		OWN(fab_analysis) c;

		test_draw_faults(n.faults, FAB_FAULT_LEAVES, 2 + i % 8, &rng);
		for (size_t j = 0; j < n.faults->named.n; j++) {
			uint32_t leaf = n.k->leaf_of[n.faults->named.v[j].id];

			columns |= 1u << n.k->coord[leaf * 2];
			rows |= 1u << n.k->coord[leaf * 2 + 1];
		}
		c = analysis_by(&n, "vtftr", 2);
		cr_assert(c.deadlock_free);
		cr_assert_leq(c.vls, 2);
		cr_assert_leq(c.max_hops, 6);
		if (rows == 077 && columns == 077)
			continue;
		n_promised++;
		cr_assert_eq(c.connected, c.pairs);
	}
	cr_assert_gt(n_promised, test_some(50, 1, 1));
}
