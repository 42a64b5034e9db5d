/* SPDX-License-Identifier: BSD-2-Clause */
/* Values at the edges: exactly full, exactly one. */
#include "boot/share.h"
#include "support/boots.h"
#include "support/test.h"
#include "support/unicast_check.h"

/* A host is lost with the last of its adapters. A path from switch to switch: neither is
 * a port, but they are not one end. */
Test(edges, adapters_and_switches_as_ends)
{
	struct plan plan = {0};
	OWN(fab_fabric) *f = NULL;
	OWN(fab_faults) *faults = NULL;
	OWN(fab_routes) *r = NULL;
	struct fab_endpoint ends[2];
	struct fab_lost lost;

	plan_switch(&plan, "A", 8);
	plan_switch(&plan, "B", 8);
	plan_join(&plan, 0, 1);
	plan_host(&plan, 0, "h1 HCA-1");
	plan_host(&plan, 1, "h1 HCA-2");
	plan_host(&plan, 1, "h2 HCA-1");
	f = plan_end(&plan);
	faults = test_faults(f, "A");
	r = test_tables(f, NULL, "minhop", 1);
	lost = fab_lost_count(faults, NULL, FAB_ENDS_HOSTS, NULL);
	cr_expect(lost.adapters == 1 && lost.hosts == 0);
	fab_faults_kill_switch(faults, 1);
	lost = fab_lost_count(faults, NULL, FAB_ENDS_HOSTS, NULL);
	cr_expect(lost.adapters == 3 && lost.hosts == 2);
	for (uint32_t i = 0; i < 2; i++) {
		FAB_AUTO(fab_trace_fini) struct fab_trace t;

		MUST(fab_trace_end_of(f, f->node_first_port[i], &ends[i], ERR));
		fab_trace_init(&t, r, &ends[i], &ends[0]);
		cr_expect(!t.stopped && t.hops.n == i, "%s", t.stopped);
	}
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
	cr_expect(shape->kind != FAB_SHAPE_MESH && shape->kind != FAB_SHAPE_TORUS);
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

/* Batches of all units, and of units that begin at the same node and end at others. */
Test(edges, batches)
{
	static const char *const specs[] = {"first:6:board", "first:24",
					    "unit:board0,pod0",
					    "unit:pod1,board3,board1"};
	static const uint32_t n[] = {24, 24, 12, 16};
	OWN(fab_machine) *m = boots_machine("pod=2,board=3,cpu=4,servers=2");

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_batch) b = boots_batch(m, specs[i]);

		cr_expect_eq(b.n, n[i], "%s", specs[i]);
	}
}
