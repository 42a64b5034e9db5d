/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables that were read: flows of a permutation, service levels of switches. */
#include "support/test.h"
#include "unicast/lfts.h"

/* Switches of LIDs 1 and 2; hosts of LIDs 3 and 4 on the first, 5 on the second. */
static struct fab_fabric *two_switches(void)
{
	struct plan plan = {0};

	plan_switch(&plan, "A", 4);
	plan_switch(&plan, "B", 4);
	plan_join(&plan, 0, 1);
	plan_host(&plan, 0, "h3 HCA-1");
	plan_host(&plan, 0, "h4 HCA-1");
	plan_host(&plan, 1, "h5 HCA-1");
	return plan_end(&plan);
}

/* By the entries of the first switch and of the second. */
static struct fab_routes *tables_of(const struct fab_fabric *f, const char *a,
				    const char *b)
{
	OWN_HEAP char *text =
		fab_format("Unicast lids [0-7] of switch Lid 1 guid 0x%llx ('A'):\n%s"
			   "Unicast lids [0-7] of switch Lid 2 guid 0x%llx ('B'):\n%s",
			   (unsigned long long)f->node_guid[0], a,
			   (unsigned long long)f->node_guid[1], b);
	struct fab_routes *r = NULL;

	MUST(fab_routes_from_lfts(f, NULL, "t", text, strlen(text), &r, ERR));
	return r;
}

/* Each host sends to the next one: h3 to h4, h4 to h5, h5 to h3. */
static struct fab_flow_load load_of(const char *a, const char *b)
{
	OWN(fab_fabric) *f = two_switches();
	struct fab_flow_load load;
	OWN(fab_flow_ends) ends;
	const struct fab_permutation_problem problem = {f, NULL, &ends, 1};
	OWN(fab_routes) *r = tables_of(f, a, b);
	FAB_AUTOFREE uint32_t *to = NULL;

	fab_flow_ends_init(&ends, f, NULL, NULL);
	MUST(fab_permutation_make("shift:1", &problem, &to, ERR));
	fab_permutation_load(r, &ends, to, &load);
	return load;
}

static const char table_a[] = "0x0001 000\n0x0002 001\n0x0003 002\n0x0004 003\n"
			      "0x0005 001\n5 lids dumped\n";
static const char table_b[] = "0x0001 001\n0x0002 000\n0x0003 001\n0x0004 001\n"
			      "0x0005 002\n5 lids dumped\n";

Test(flows, complete_tables_lose_none)
{
	struct fab_flow_load load = load_of(table_a, table_b);

	cr_assert_eq(load.flows, 3);
	cr_assert_eq(load.lost, 0);
	cr_assert_eq(load.max, 1);
	cr_assert_float_eq(load.mean, 1, 1e-12);
}

/* A switch forwards by its table between its own ports, too. */
Test(flows, own_hosts_without_an_entry_are_lost)
{
	struct fab_flow_load none =
		load_of("0x0001 000\n0x0002 001\n0x0003 002\n0x0005 001\n"
			"4 lids dumped\n",
			table_b);
	struct fab_flow_load wrong =
		load_of("0x0001 000\n0x0002 001\n0x0003 002\n0x0004 002\n0x0005 001\n"
			"5 lids dumped\n",
			table_b);

	cr_assert_eq(none.flows, 3);
	cr_assert_eq(none.lost, 1);
	cr_assert_eq(wrong.flows, 3);
	cr_assert_eq(wrong.lost, 1);
}

/* Service level from a node to the LID of h5. */
static unsigned level_of(const struct fab_routes *r, uint32_t node)
{
	for (uint32_t i = 0; i < r->n_sl_sources; i++)
		if (r->sl_source[i] == node)
			return r->sl[(size_t)i * r->n_columns + 4];
	return FAB_NONE;
}

/* A switch without a line of its own counts as its first adapter. */
Test(flows, levels_of_switches_are_those_of_the_first_adapter)
{
	OWN(fab_fabric) *f = two_switches();
	OWN(fab_routes) *r = tables_of(f, table_a, table_b);
	OWN_HEAP char *text = NULL;

	for (uint32_t node = 2; node < 5; node++)
		for (unsigned lid = 1; lid <= 5; lid++)
			fab_append(&text, "", "0x%llx %u %u\n",
				   (unsigned long long)f->node_guid[node], lid, 5 - node);
	MUST(fab_routes_add_path_sl(r, "s", text, strlen(text), ERR));
	cr_expect_eq(level_of(r, 0), 3);
	cr_expect_eq(level_of(r, 3), 2); /* the second adapter keeps its own */
	cr_expect_eq(level_of(r, 1), 1);
}

/*
 * A and B with two cables; h6 of LIDs 6 and 7 on B, of which A
 * knows the first only. A flow to a port takes its first LID.
 */
Test(flows, first_lid_of_a_port)
{
	struct plan plan = {0};
	OWN(fab_fabric) *f = NULL;
	OWN(fab_routes) *r = NULL;
	struct fab_flow_load load;
	OWN(fab_flow_ends) ends;
	uint32_t to[3], n_a = 0;

	plan_switch(&plan, "A", 8);
	plan_switch(&plan, "B", 8);
	plan_join(&plan, 0, 1);
	plan_join(&plan, 0, 1);
	plan_host(&plan, 0, "h3 HCA-1");
	plan_host(&plan, 0, "h4 HCA-1");
	plan_host(&plan, 1, "h6 HCA-1");
	plan.nodes.v[4].lid[1] = 6;
	plan.nodes.v[4].lmc = 1;
	f = plan_end(&plan);
	r = tables_of(f,
		      "0x0003 003\n0x0004 004\n0x0006 001\n0x0007 255\n4 lids dumped\n",
		      "0x0003 001\n0x0004 001\n0x0006 003\n0x0007 003\n4 lids dumped\n");
	fab_flow_ends_init(&ends, f, NULL, NULL);
	cr_assert_eq(ends.n, 3);
	for (uint32_t i = 0; i < ends.n; i++) {
		bool is_last = f->port_lid[ends.port[i]] == 6;

		to[i] = FAB_NONE;
		for (uint32_t k = 0; !is_last && k < ends.n; k++)
			if (f->port_lid[ends.port[k]] == 6)
				to[i] = k;
		n_a += to[i] != FAB_NONE;
	}
	cr_assert_eq(n_a, 2);
	fab_permutation_load(r, &ends, to, &load);
	cr_expect_eq(load.flows, 2);
	cr_expect_eq(load.lost, 0);
	cr_expect_eq(load.max, 2);
}
