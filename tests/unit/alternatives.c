/* SPDX-License-Identifier: BSD-2-Clause */
/* LIDs behind a leaf of a kfat whose lines several switches or cables join. */
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/fault_sweep.h"

static const char *const engines[] = {"xy", "algorithm-a", "vtftr", "vtftr-ib"};

/*
 * Pairs of hosts on the fullest cable when each line has `cables` that share its packets
 * equally, by dimension order: into dimension d those from what agrees with the leaf from
 * d on, to what differs from it in d and agrees before.
 */
static void expect_load(struct kfat_net n, uint64_t hosts, uint64_t cables)
{
	uint64_t most = 0;

	for (uint32_t d = 0; d < n.k->n_dims; d++) {
		uint64_t m = (uint64_t)n.k->n_leaves / n.k->dims[d] * (n.k->dims[d] - 1);

		most = m > most ? m : most;
	}
	for (size_t e = 0; e < FAB_COUNT(engines); e++) {
		OWN(fab_routes) *r = test_tables(n.f, NULL, engines[e], 3);
		OWN(fab_analysis) j = test_verified(r, FAB_ENDS_HOSTS);

		cr_expect_eq(j.unreachable, 0);
		cr_expect(j.deadlock_free);
		cr_expect_eq(j.max_load, most * hosts * hosts / cables, "%s: %s: %llu",
			     n.f->source, engines[e], (unsigned long long)j.max_load);
	}
	kfat_net_fini(&n);
}

/* At last with two cables between each leaf and each of its two roots. */
Test(alternatives, all_to_all_uses_all_planes_and_parallel_cables)
{
	OWN(fab_fabric) *one = test_gen_raw("kfat:dims=3x3,hosts=2");
	struct fab_fabric *f = test_gen_raw("kfat:dims=3x3,hosts=2"), *more;

	expect_load(kfat_net("kfat:dims=4x3,hosts=4,planes=2", NULL), 4, 2);
	expect_load(kfat_net("kfat:dims=4x4,hosts=4,planes=4", NULL), 4, 4);
	expect_load(kfat_net("kfat:dims=5x3,hosts=3,planes=3", NULL), 3, 3);
	expect_load(kfat_net("kfat:dims=2x6,hosts=16,planes=8", NULL), 16, 8);
	for (uint32_t c = 0; c < one->n_switch_links; c++, f = more) {
		more = test_with_cable(f, one->port_node[one->cable_a[c]],
				       one->port_node[one->cable_b[c]]);
		fab_fabric_free(f);
	}
	expect_load(kfat_net_of(f), 2, 2);
}

/* Leaf to leaf with as many hosts as planes: what one host a leaf and one plane have. */
Test(alternatives, permutations_of_leaves)
{
	static const char *const specs[][2] = {{"shift:4", "shift:1"},
					       {"shift:20", "shift:5"},
					       {"transpose", "transpose"}};
	OWN(kfat_net) n = kfat_net("kfat:dims=4x4,hosts=4,planes=4", NULL);
	OWN(kfat_net) one = kfat_net("kfat:dims=4x4,hosts=1", NULL);

	for (size_t i = 0; i < FAB_COUNT(engines) * FAB_COUNT(specs); i++) {
		const char *const *spec = specs[i / FAB_COUNT(engines)];
		const char *engine = engines[i % FAB_COUNT(engines)];
		OWN(fab_routes) *r = test_tables(n.f, NULL, engine, 3);
		OWN(fab_routes) *of_one = test_tables(one.f, NULL, engine, 3);
		struct fab_flow_load load = test_load(&n, r, spec[0]);

		cr_expect_eq(load.lost, 0);
		cr_expect_eq(load.max, test_load(&one, of_one, spec[1]).max, "%s",
			     engine);
	}
}

/* LMC: the LIDs of one port go by different planes, as those of several hosts do. */
Test(alternatives, lids_of_one_port)
{
	OWN(kfat_net) n = kfat_net("kfat:dims=3x3,hosts=1,planes=4", NULL);
	const uint32_t host = fab_host_endpoint(n.f, n.f->n_hosts - 1);
	uint32_t from = n.k->leaf[0], arc[4];
	OWN(fab_routes) *r = NULL;
	OWN(fab_analysis) j;

	for (uint32_t p = 0; p < n.f->n_ports; p++)
		if (!fab_node_is_switch(n.f, n.f->port_node[p])) {
			n.f->port_lmc[p] = 2;
			n.f->port_lid[p] = (uint16_t)(1000 + 4 * p);
		}
	r = test_tables(n.f, NULL, "vtftr-ib", 3);
	for (uint32_t i = 0; i < 4; i++) {
		const struct fab_endpoint to = {
			.port = host,
			.node = n.f->port_node[host],
			.sw = fab_port_switch(n.f, host),
			.lid = (uint16_t)(n.f->port_lid[host] + i)};

		arc[i] = fab_routes_next(r, fab_path_column(r, &to))[from];
		for (uint32_t k = 0; k < i; k++)
			cr_expect_neq(arc[i], arc[k], "LIDs %u and %u", i, k);
	}
	j = test_verified(r, FAB_ENDS_HOSTS);
	cr_expect_eq(j.pairs, 9 * 8 * 4, "each LID is a destination");
}

static void expect_sound(const struct fab_routes *r, bool reaches_all)
{
	for (enum fab_ends ends = FAB_ENDS_LEAVES; ends <= FAB_ENDS_HOSTS; ends++) {
		OWN(fab_analysis) j = test_verified(r, ends);

		cr_assert(j.deadlock_free);
		if (reaches_all)
			cr_assert_eq(j.connected, j.connected_in_graph, "%s",
				     r->note ? r->note : "");
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

	for (size_t i = 0; i < 30 * FAB_COUNT(cases); i++) {
		OWN(kfat_net) n = kfat_net(cases[i / 30].spec, NULL);
		struct fab_stream rng = fab_stream_of(i / 30, i % 30);

		test_draw_faults(n.faults, cases[i / 30].kind, cases[i / 30].n_faults,
				 &rng);
		for (size_t e = 0; e < FAB_COUNT(engines); e++) {
			OWN(fab_routes) *r = NULL;

			/* the one promises no lanes, both two dimensions */
			if (e == 1 || (e == 2 && n.k->n_dims != 2))
				continue;
			r = test_tables(n.f, n.faults, engines[e], 3);
			expect_sound(r, e == 3);
		}
	}
}

static struct fab_faults_result sweep_one(const struct kfat_net *n, const char *engine,
					  bool has_tables, bool needs_tables)
{
	const struct fab_unicast_engine *e =
		fab_unicast_engine_find(engine, strlen(engine));
	struct fab_faults_sweep s = {
		.problem = {.f = n->f, .kfat = n->k, .max_vls = 2, .n_threads = 1},
		.faults = n->faults,
		.engines = &e,
		.n_engines = 1,
		.needs_tables = needs_tables};
	struct fab_faults_result result = {.algorithm = NULL};
	double of_hosts;

	MUST(fab_faults_sweep_init(&s, ERR));
	MUST(fab_faults_sweep_run(&s, &result, ERR));
	cr_assert_eq(result.routes != NULL, has_tables);
	if (has_tables) {
		MUST(fab_uniform_load(result.routes, 1, &of_hosts, ERR));
		cr_expect_eq(result.load, of_hosts);
	}
	fab_faults_sweep_fini(&s);
	fab_routes_free(result.routes);
	result.routes = NULL;
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
		OWN(kfat_net) n = kfat_net(fabrics[i % 3], dead[i / 9]);
		bool is_unlike = i % 3 == 2 || i / 9 == 2;
		const char *engine = engines[i / 3 % 3];
		FAB_AUTO(fab_faults_result_fini)
		struct fab_faults_result a = sweep_one(&n, engine, true, true),
					 b = sweep_one(&n, engine, is_unlike, false);

		test_same_analysis(&a.sum, &b.sum);
		cr_expect_eq(a.changes.entries, b.changes.entries);
		cr_expect_eq(a.changes.switches, b.changes.switches);
		cr_expect_eq(a.max_destinations, b.max_destinations);
		cr_expect_float_eq(a.load, b.load, 1e-12);
		cr_expect_float_eq(a.load_before, b.load_before, 1e-12);
	}
}

/* Where leaf switches are alike, the load of hosts comes from that between leaves:
 * sweep_one() compares both. They differ where a host is gone, or has two LIDs. */
Test(alternatives, leaves_stand_for_hosts)
{
	static const char spec[] = "kfat:dims=4x3,hosts=3";
	OWN(fab_fabric) *f = test_gen(spec);

	for (size_t i = 0; i < 18; i++) {
		OWN(kfat_net)
		n = kfat_net_of(i / 6 == 1 ? test_edited(f, "remove leaf-0.0:1")
					   : test_gen(spec));
		FAB_AUTO(fab_faults_result_fini) struct fab_faults_result a;

		MUST(fab_faults_add_switches(
			n.faults, i / 3 % 2 ? "leaf-3.1,root-x.0" : "leaf-1.1", ERR));
		for (uint32_t p = 0; p < n.f->n_ports && i / 6 == 2; p++)
			if (n.f->node_kind[n.f->port_node[p]] == FAB_ADAPTER)
				n.f->port_lmc[p] = n.f->port_lid[p] % 2;
		a = sweep_one(&n, engines[i % 3], true, true);
		cr_expect_gt(a.load, a.load_before);
	}
}
