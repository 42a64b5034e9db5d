/* SPDX-License-Identifier: BSD-2-Clause */
/* LIDs behind a leaf of a kfat whose lines several switches or cables join. */
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/engine.h"
#include "unicast/fault_sweep.h"
#include "unicast/path.h"

OWN_VALUE(kfat_net, kfat_net_fini)

/*
 * Pairs of hosts on the fullest cable when each line has `cables` that share its packets
 * equally, by dimension order: into dimension d those from what agrees with the leaf from
 * d on, to what differs from it in d and agrees before.
 */
static uint64_t closed_form(const struct fab_kfat *k, uint64_t hosts, uint64_t cables)
{
	uint64_t most = 0;

	for (uint32_t d = 0; d < k->n_dims; d++) {
		uint64_t n = (uint64_t)k->n_leaves / k->dims[d] * (k->dims[d] - 1);

		most = n > most ? n : most;
	}
	return most * hosts * hosts / cables;
}

static void expect_load(const struct kfat_net *n, const char *engine, uint64_t hosts,
			uint64_t cables)
{
	OWN(fab_routes) *r = test_tables(n->f, NULL, engine, 3);
	OWN(fab_analysis) j = test_verified(r, FAB_ENDS_HOSTS);

	cr_expect_eq(j.unreachable, 0);
	cr_expect(j.deadlock_free);
	cr_expect_eq(j.max_load, closed_form(n->k, hosts, cables),
		     "%s: %s: %llu, not %llu", n->f->source, engine,
		     (unsigned long long)j.max_load,
		     (unsigned long long)closed_form(n->k, hosts, cables));
}

static const char *const engines[] = {"xy", "algorithm-a", "vtftr", "vtftr-ib"};

Test(alternatives, all_to_all_uses_all_planes)
{
	static const struct {
		const char *spec;
		unsigned hosts, planes;
	} nets[] = {{"kfat:dims=4x3,hosts=4,planes=2", 4, 2},
		    {"kfat:dims=4x4,hosts=4,planes=4", 4, 4},
		    {"kfat:dims=5x3,hosts=3,planes=3", 3, 3},
		    {"kfat:dims=2x6,hosts=16,planes=8", 16, 8}};

	for (size_t i = 0; i < FAB_COUNT(nets); i++) {
		OWN(kfat_net) n = kfat_net_of(test_gen_raw(nets[i].spec));

		for (size_t e = 0; e < FAB_COUNT(engines); e++)
			expect_load(&n, engines[e], nets[i].hosts, nets[i].planes);
	}
}

Test(alternatives, parallel_cables_everywhere)
{
	OWN(kfat_net) n;
	struct fab_fabric *f = test_gen_raw("kfat:dims=3x3,hosts=2"),
			  *one = test_gen_raw("kfat:dims=3x3,hosts=2");

	/* Two cables between each leaf and each of its two roots. */
	for (uint32_t c = 0; c < one->n_switch_links; c++) {
		struct fab_fabric *more =
			test_with_cable(f, one->port_node[one->cable_a[c]],
					one->port_node[one->cable_b[c]]);

		cr_assert_not_null(more);
		fab_fabric_free(f);
		f = more;
	}
	fab_fabric_free(one);
	n = kfat_net_of(f);
	cr_assert_eq(n.f->n_switch_links, 36);
	for (size_t e = 0; e < FAB_COUNT(engines); e++)
		expect_load(&n, engines[e], 2, 2);
}

/* The largest load of a permutation. */
static uint64_t load_of(const struct kfat_net *n, const struct fab_routes *r,
			const char *spec)
{
	OWN(fab_flow_ends) ends;
	struct fab_flow_load load;
	const struct fab_permutation_problem problem = {n->f, n->k, &ends, 1};
	FAB_AUTOFREE uint32_t *to = NULL;

	fab_flow_ends_init(&ends, n->f, NULL, NULL);
	MUST(fab_permutation_make(spec, &problem, &to, ERR));
	fab_permutation_load(r, &ends, to, &load);
	cr_assert_eq(load.lost, 0);
	return load.max;
}

/* Leaf to leaf with as many hosts as planes: what one host a leaf and one plane have. */
Test(alternatives, permutations_of_leaves)
{
	OWN(kfat_net) n = kfat_net_of(test_gen_raw("kfat:dims=4x4,hosts=4,planes=4"));
	OWN(kfat_net) one = kfat_net_of(test_gen_raw("kfat:dims=4x4,hosts=1"));

	for (size_t e = 0; e < FAB_COUNT(engines); e++) {
		OWN(fab_routes) *r = test_tables(n.f, NULL, engines[e], 3);
		OWN(fab_routes) *of_one = test_tables(one.f, NULL, engines[e], 3);

		cr_expect_eq(load_of(&n, r, "shift:4"), 1, "%s", engines[e]);
		cr_expect_eq(load_of(&n, r, "shift:4"), load_of(&one, of_one, "shift:1"));
		cr_expect_eq(load_of(&n, r, "shift:20"),
			     load_of(&one, of_one, "shift:5"));
		cr_expect_eq(load_of(&n, r, "transpose"),
			     load_of(&one, of_one, "transpose"));
	}
}

/* A leaf with one LID, and lines with one cable, know nothing of alternatives. */
Test(alternatives, none_where_nothing_is_to_choose)
{
	static const char *const specs[] = {"kfat:dims=4x3,hosts=1,planes=4",
					    "kfat:dims=4x3,hosts=4",
					    "kfat:dims=6x6,hosts=3,levels=2,radix=4"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		for (size_t e = 0; e < FAB_COUNT(engines); e++) {
			OWN(kfat_net) n = kfat_net_of(test_gen_raw(specs[i]));
			OWN(fab_routes) *r = test_tables(n.f, NULL, engines[e], 3);

			cr_expect_null(r->n_alternatives);
			cr_expect_eq(r->n_columns, n.k->n_leaves);
		}
}

/* The arc by which a switch sends to a host's LID. */
static uint16_t arc_to(const struct fab_routes *r, uint32_t sw, uint32_t port,
		       uint32_t offset)
{
	FAB_AUTO(fab_columns_fini) struct fab_columns columns;
	uint16_t arc;

	fab_columns_init(&columns, r);
	arc = fab_routes_next(r, fab_columns_of(&columns, port, offset))[sw];
	return arc;
}

/* LMC: the LIDs of one port go by different planes, as those of several hosts do. */
Test(alternatives, lids_of_one_port)
{
	OWN(kfat_net) n = kfat_net_of(test_gen_raw("kfat:dims=3x3,hosts=1,planes=4"));
	uint32_t host = 0, from = n.k->leaf[0];
	struct fab_endpoint to;
	OWN(fab_routes) *r = NULL;
	OWN(fab_analysis) j;

	for (uint32_t p = 0; p < n.f->n_ports; p++)
		if (!fab_node_is_switch(n.f, n.f->port_node[p])) {
			n.f->port_lmc[p] = 2;
			n.f->port_lid[p] = (uint16_t)(1000 + 4 * p);
			host = p;
		}
	r = test_tables(n.f, NULL, "vtftr-ib", 3);
	to = (struct fab_endpoint){.port = host,
				   .node = n.f->port_node[host],
				   .sw = fab_port_switch(n.f, host)};
	cr_assert_neq(to.sw, from);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t column;

		to.lid = (uint16_t)(n.f->port_lid[host] + i);
		column = fab_path_column(r, &to);
		cr_expect_eq(fab_routes_next(r, column)[from], arc_to(r, from, host, i));
		for (uint32_t k = 0; k < i; k++)
			cr_expect_neq(arc_to(r, from, host, i), arc_to(r, from, host, k),
				      "LIDs %u and %u", i, k);
	}
	j = test_verified(r, FAB_ENDS_HOSTS);
	cr_expect_eq(j.pairs, 9 * 8 * 4, "each LID is a destination");
}

/* A dead root: who used it is spread over the other planes, nobody else moves. */
Test(alternatives, only_those_of_a_dead_root_move)
{
	OWN(kfat_net) n = kfat_net_of(test_gen_raw("kfat:dims=4x4,hosts=4,planes=4"));
	OWN(fab_faults) *faults = fab_faults_new(n.f);
	uint32_t root = test_switch(n.f, "root2-x.1"), used[4] = {0};

	fab_faults_kill_switch(faults, root);
	for (size_t e = 0; e < FAB_COUNT(engines); e++) {
		OWN(fab_routes) *was = test_tables(n.f, NULL, engines[e], 3);
		OWN(fab_routes) *is = test_tables(n.f, faults, engines[e], 3);

		cr_assert_eq(was->n_columns, is->n_columns);
		for (uint32_t c = 0; c < is->n_columns; c++)
			for (uint32_t i = 0; i < n.k->n_leaves; i++) {
				uint32_t sw = n.k->leaf[i];
				uint16_t a = fab_routes_next(was, c)[sw];
				uint16_t b = fab_routes_next(is, c)[sw];
				uint32_t to;

				if (a == b)
					continue;
				cr_expect_eq(n.f->arc_peer[n.f->arc_first[sw] + a], root);
				to = n.f->arc_peer[n.f->arc_first[sw] + b];
				for (uint32_t p = 0; p < 4; p++) {
					char name[16];

					snprintf(name, sizeof(name), "root%u-x.1", p);
					used[p] += to == test_switch(n.f, name);
				}
			}
	}
	cr_expect_eq(used[2], 0);
	cr_expect(used[0] && used[1] && used[3]);
}

static void expect_sound(const struct fab_routes *r, bool reaches_all)
{
	static const enum fab_ends ends[] = {FAB_ENDS_LEAVES, FAB_ENDS_HOSTS};
	struct unicast_check c = unicast_check(r);

	cr_assert_not(c.has_cycle);
	if (reaches_all)
		cr_assert_eq(c.connected, c.connected_in_graph, "%s",
			     r->note ? r->note : "");
	for (size_t i = 0; i < FAB_COUNT(ends); i++) {
		OWN(fab_analysis) j = test_verified(r, ends[i]);

		cr_assert(j.deadlock_free);
		if (reaches_all)
			cr_assert_eq(j.connected, j.connected_in_graph);
		if (ends[i] == FAB_ENDS_LEAVES)
			cr_assert_eq(j.connected, c.connected,
				     "all alternatives of a leaf are analysed alike");
	}
}

/* Whatever dies on several planes: no cycle, and vtftr-ib reaches what is connected. */
Test(alternatives, faults_of_planes)
{
	static const struct {
		const char *spec;
		enum fab_fault_kind kind;
		size_t n_faults;
	} cases[] = {
		{"kfat:dims=4x4,hosts=4,planes=2", FAB_FAULT_ANY, 6},
		{"kfat:dims=4x4,hosts=3,planes=2", FAB_FAULT_ROOTS, 5},
		{"kfat:dims=4x3,hosts=5,planes=3", FAB_FAULT_LINKS, 16},
		{"kfat:dims=4x4,hosts=2,planes=2", FAB_FAULT_LEAVES, 7},
		{"kfat:dims=3x3x2,hosts=2,planes=2", FAB_FAULT_ANY, 5},
		{"kfat:dims=5x4,hosts=2,planes=2,levels=2,radix=4", FAB_FAULT_ANY, 6}};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(kfat_net) n = kfat_net_of(test_gen_raw(cases[i].spec));
		OWN(fab_faults) *faults = fab_faults_new(n.f);

		for (unsigned set = 0; set < 30; set++) {
			struct fab_stream rng = fab_stream_of(i, set);

			test_draw_faults(faults, cases[i].kind, cases[i].n_faults, &rng);
			for (size_t e = 0; e < FAB_COUNT(engines); e++) {
				OWN(fab_routes) *r = NULL;

				/* the one promises no lanes, both two dimensions */
				if (e == 1 || (e == 2 && n.k->n_dims != 2))
					continue;
				r = test_tables(n.f, faults, engines[e], 3);
				expect_sound(r, e == 3);
			}
		}
	}
}

static struct fab_faults_result sweep_one(const struct kfat_net *n, const char *engine,
					  const char *dead, bool needs_tables)
{
	const struct fab_unicast_engine *e =
		fab_unicast_engine_find(engine, strlen(engine));
	struct fab_faults_sweep s = {
		.problem = {.f = n->f, .kfat = n->k, .max_vls = 2, .n_threads = 1},
		.faults = fab_faults_new(n->f),
		.engines = &e,
		.n_engines = 1,
		.needs_tables = needs_tables};
	struct fab_faults_result result = {.algorithm = NULL};

	MUST(fab_faults_add_switches(s.faults, dead, ERR));
	MUST(fab_faults_sweep_init(&s, ERR));
	MUST(fab_faults_sweep_run(&s, &result, ERR));
	cr_assert_eq(result.routes != NULL,
		     needs_tables || strchr(dead, 'r') ||
			     n->f->n_hosts / n->k->n_leaves % n->k->n_planes);
	if (result.routes) {
		double of_hosts;

		MUST(fab_uniform_load(result.routes, 1, &of_hosts, ERR));
		cr_expect_eq(result.load, of_hosts);
	}
	fab_faults_sweep_fini(&s);
	fab_routes_free(result.routes);
	result.routes = NULL;
	fab_faults_free(s.faults);
	return result;
}

/* Planes that are copies are routed once, with the same figures as all of them; not where
 * the hosts of a leaf share them unevenly. */
Test(alternatives, one_plane_stands_for_all)
{
	static const char *const fabrics[] = {"kfat:dims=4x4,hosts=2,planes=2",
					      "kfat:dims=5x4,hosts=6,planes=3",
					      "kfat:dims=4x4,hosts=3,planes=2"};
	static const char *const dead[] = {"leaf-1.1", "leaf-3.1,leaf-2.2,leaf-1.0",
					   "leaf-0.0,root0-x.1"};

	for (size_t i = 0; i < 27; i++) {
		OWN(kfat_net) n = kfat_net_of(test_gen(fabrics[i % 3]));
		const char *engine = engines[i / 3 % 3], *gone = dead[i / 9];
		struct fab_faults_result a, b;

		a = sweep_one(&n, engine, gone, true);
		b = sweep_one(&n, engine, gone, false);
		test_same_analysis(&a.sum, &b.sum);
		cr_expect_eq(a.changes.entries, b.changes.entries);
		cr_expect_eq(a.changes.switches, b.changes.switches);
		cr_expect_eq(a.max_destinations, b.max_destinations);
		cr_expect_float_eq(a.load, b.load, 1e-12);
		cr_expect_float_eq(a.load_before, b.load_before, 1e-12);
		fab_faults_result_fini(&a);
		fab_faults_result_fini(&b);
	}
}

/* Where leaf switches are alike, the load of hosts comes from that between leaves:
 * sweep_one() compares both. They differ where a host is gone, or has two LIDs. */
Test(alternatives, leaves_stand_for_hosts)
{
	static const char *const dead[] = {"leaf-1.1", "leaf-3.1,root-x.0"};
	static const char spec[] = "kfat:dims=4x3,hosts=3";
	OWN(fab_fabric) *f = test_gen(spec);

	for (size_t i = 0; i < 18; i++) {
		OWN(kfat_net)
		n = kfat_net_of(i / 6 == 1 ? test_edited(f, "remove leaf-0.0:1")
					   : test_gen(spec));
		struct fab_faults_result a;

		for (uint32_t p = 0; p < n.f->n_ports && i / 6 == 2; p++)
			if (n.f->node_kind[n.f->port_node[p]] == FAB_ADAPTER)
				n.f->port_lmc[p] = n.f->port_lid[p] % 2;
		a = sweep_one(&n, engines[i % 3], dead[i / 3 % 2], true);
		cr_expect_gt(a.load, a.load_before);
		fab_faults_result_fini(&a);
	}
}
