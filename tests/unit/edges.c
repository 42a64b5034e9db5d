/* SPDX-License-Identifier: BSD-2-Clause */
/* Values at the edges: exactly full, exactly one, of the same number. */
#include "boot/share.h"
#include "fabric/label.h"
#include "support/boots.h"
#include "support/test.h"
#include "support/unicast_check.h"

Test(edges, batches_of_all_units)
{
	OWN(fab_machine) *m = boots_machine("pod=2,board=3,cpu=4,servers=2");
	static const struct {
		const char *spec;
		uint32_t n;
	} cases[] = {{"first:6:board", 24},
		     {"first:24", 24},
		     /* units that begin at the same node and end at others */
		     {"unit:board0,pod0", 12},
		     {"unit:pod1,board3,board1", 16}};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_batch) b = boots_batch(m, cases[i].spec);

		cr_expect_eq(b.n, cases[i].n, "%s", cases[i].spec);
	}
}

/* Two switches with a cable; h1 with an adapter on each, h2 with one on the second. */
static struct plan two_adapters(void)
{
	struct plan plan = {0};

	plan_switch(&plan, "A", 8);
	plan_switch(&plan, "B", 8);
	plan_join(&plan, 0, 1);
	plan_host(&plan, 0, "h1 HCA-1");
	plan_host(&plan, 1, "h1 HCA-2");
	plan_host(&plan, 1, "h2 HCA-1");
	return plan;
}

/* A host is lost with the last of its adapters. */
Test(edges, hosts_that_keep_one_adapter)
{
	struct plan plan = two_adapters();
	OWN(fab_fabric) *f = plan_end(&plan);
	OWN(fab_faults) *faults = test_faults(f, "A");
	struct fab_lost lost = fab_lost_count(faults, NULL, FAB_ENDS_HOSTS, NULL);

	cr_expect(lost.adapters == 1 && lost.hosts == 0);
	fab_faults_kill_switch(faults, 1);
	lost = fab_lost_count(faults, NULL, FAB_ENDS_HOSTS, NULL);
	cr_expect(lost.adapters == 3 && lost.hosts == 2);
}

/* An LMC of 7 is 128 LIDs. */
Test(edges, lids_of_a_port)
{
	for (uint8_t lmc = 0; lmc < 8; lmc++) {
		struct plan plan = two_adapters();
		OWN_HEAP struct fab_destination *list = NULL;
		OWN(fab_fabric) *f = NULL;
		uint32_t n, most = 0;

		plan.nodes.v[4].lmc = lmc;
		plan.nodes.v[4].lid[1] = 128;
		f = plan_end(&plan);
		n = fab_destinations(f, NULL, &list);
		cr_expect_eq(n, 4 + (1u << lmc));
		for (uint32_t i = 0; i < n; i++)
			most = list[i].offset > most ? list[i].offset : most;
		cr_expect_eq(most, (1u << lmc) - 1);
	}
}

/* From switch to switch: neither is a port, but they are not one end. */
Test(edges, paths_between_switches)
{
	struct plan plan = two_adapters();
	OWN(fab_fabric) *f = plan_end(&plan);
	OWN(fab_routes) *r = test_tables(f, NULL, "minhop", 1);
	struct fab_endpoint ends[2];

	for (uint32_t i = 0; i < 2; i++) {
		FAB_AUTO(fab_trace_fini) struct fab_trace t;

		MUST(fab_trace_end_of(f, f->node_first_port[i], &ends[i], ERR));
		fab_trace_init(&t, r, &ends[i], &ends[0]);
		cr_expect_null(t.stopped, "%s", t.stopped);
		cr_expect_eq(t.hops.n, i);
	}
}

/* Tables that send packets to h2 back and forth: nobody's packets use the cable. */
Test(edges, nobody_uses_a_loop)
{
	struct plan plan = two_adapters();
	OWN(fab_fabric) *f = plan_end(&plan);
	OWN(fab_routes) *r = fab_routes_new_by_lid(f, NULL, 1);

	r->column_switch[0] = 1;
	r->column_port[0] = f->node_first_port[4];
	r->column_lid[0] = f->port_lid[r->column_port[0]];
	r->column_row[0] = fab_routes_add_row(r);
	r->next[0] = r->next[1] = 0;
	for (uint32_t c = 0; c < f->n_cables; c++) {
		struct fab_cable_use use[2];

		fab_cable_use_init(use, r, c);
		cr_expect(!use[0].pairs && !use[1].pairs, "cable %u", c);
		fab_cable_use_fini(use);
	}
}

/* A GUID of a node that is that of another node's port, too, means both. */
Test(edges, a_guid_of_two_things)
{
	struct plan plan = two_adapters();
	OWN(fab_resolver) *resolver = NULL;
	OWN(fab_fabric) *f = NULL;
	uint32_t id = 0;

	plan.nodes.v[3].guid = 0xabc1;
	plan.nodes.v[4].port_guid[1] = 0xabc1;
	f = plan_end(&plan);
	resolver = fab_resolver_new(f);
	FAILS(fab_resolve_text(resolver, FAB_WANT_ENDPOINT, "0xabc1", 6, &id, ERR), 0,
	      "each of 2");
}

/* Slurm's names have at most 64 characters and begin with none of "-" and ".". */
Test(edges, plain_names)
{
	enum { LONGEST = 64 };
	struct plan plan = two_adapters();
	FAB_AUTO(fab_plain_names_fini) struct fab_plain_names names;
	OWN(fab_fabric) *f = NULL;

	memset(plan.nodes.v[0].name, 'x', LONGEST);
	plan.nodes.v[0].name[LONGEST] = 0;
	strcpy(plan.nodes.v[1].name, ".hidden");
	f = plan_end(&plan);
	fab_plain_names_init(&names, f);
	cr_expect_eq(strlen(names.of_switch[0]), LONGEST, "%s", names.of_switch[0]);
	cr_expect_str_eq(names.of_switch[1], "hidden");
}

/* Who serves most nodes more than before comes first. */
Test(edges, servers_that_grow)
{
	OWN(fab_machine) *m = boots_machine("board=3,cpu=4,servers=3");
	OWN(fab_batch) all = boots_batch(m, "all");
	OWN_HEAP uint32_t *before = boots_map(m, "scda", &all),
			  *after = boots_map(m, "scda", &all);
	FAB_AUTO(fab_failover_fini) struct fab_failover out;
	uint32_t n_third = 0;

	/* of the third server's nodes one goes to the first, the others to the second */
	for (uint32_t i = 0; i < m->n_nodes; i++)
		if (m->interface_server[before[i]] == 2)
			after[i] = n_third++ ? 1 : 0;
	cr_assert_eq(n_third, 4);
	fab_failover_of(m, &all, before, after, &out);
	cr_assert_eq(out.n, 2);
	cr_expect_eq(out.grown[0].server, 1);
	cr_expect_eq(out.grown[0].nodes - out.grown[0].nodes_before, 3);
	cr_expect_eq(out.grown[1].server, 0);
}

/* A path times a complete graph of four is no mesh, nor a torus. */
Test(edges, products_of_unlike_factors)
{
	struct plan plan = {0};
	OWN(fab_fabric) *f = NULL;
	OWN(fab_shape) *shape = NULL;

	plan_switches(&plan, 12, "s", 8);
	for (uint32_t a = 0; a < 12; a++)
		for (uint32_t b = a + 1; b < 12; b++)
			if (a / 4 == b / 4 || b == a + 4)
				plan_join(&plan, a, b);
	f = plan_end(&plan);
	shape = fab_shape_recognize(f);
	cr_expect_neq(shape->kind, FAB_SHAPE_MESH);
	cr_expect_neq(shape->kind, FAB_SHAPE_TORUS);
}

/* Where one half of the neighbours has two cables and one half one, neither is usual. */
Test(edges, no_usual_number_of_cables)
{
	enum { N = 4 };
	struct plan plan = {0};
	OWN(fab_fabric) *f = NULL;
	OWN(fab_check) *check = NULL;

	plan_switches(&plan, N, "leaf", 36);
	plan_switches(&plan, N, "spine", 36);
	for (uint32_t a = 0; a < N; a++)
		for (uint32_t b = N; b < 2 * N; b++)
			for (uint32_t i = 0; i < 1 + (a + b) % 2; i++)
				plan_join(&plan, a, b);
	for (uint32_t a = 0; a < N; a++)
		plan_host(&plan, a, "h%u HCA-1", a);
	f = plan_end(&plan);
	check = fab_check_new(f);
	cr_expect_eq(check->n_problems, 0);
}
