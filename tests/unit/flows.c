/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows of a permutation by tables that were read. */
#include "support/test.h"
#include "unicast/lfts.h"

/* Of hosts h3 and h4 on A, h5 on B, which are called by their LIDs, each sends to the
 * next one. A switch forwards by its table between its own ports, too. */
Test(flows, own_hosts_without_an_entry_are_lost)
{
	static const struct {
		const char *table_a;
		uint64_t lost;
	} cases[] = {
		{"0x0001 000\n0x0002 001\n0x0003 002\n0x0004 003\n0x0005 001\n5", 0},
		{"0x0001 000\n0x0002 001\n0x0003 002\n0x0005 001\n4", 1},
		{"0x0001 000\n0x0002 001\n0x0003 002\n0x0004 002\n0x0005 001\n5", 1},
	};
	struct plan plan = {0};
	OWN(fab_fabric) *f = NULL;
	const uint32_t to[] = {1, 2, 0};
	OWN(fab_flow_ends) ends;

	plan_switch(&plan, "A", 4);
	plan_switch(&plan, "B", 4);
	plan_join(&plan, 0, 1);
	plan_host(&plan, 0, "h3 HCA-1");
	plan_host(&plan, 0, "h4 HCA-1");
	plan_host(&plan, 1, "h5 HCA-1");
	f = plan_end(&plan);
	fab_flow_ends_init(&ends, f, NULL, NULL);
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN_HEAP char *text = fab_format(
			"Unicast lids [0-7] of switch Lid 1 guid 0x%lx ('A'):\n"
			"%s lids dumped\n"
			"Unicast lids [0-7] of switch Lid 2 guid 0x%lx ('B'):\n"
			"0x0001 001\n0x0002 000\n0x0003 001\n0x0004 001\n0x0005 002\n"
			"5 lids dumped\n",
			f->node_guid[0], cases[i].table_a, f->node_guid[1]);
		OWN(fab_routes) *r = NULL;
		struct fab_flow_load load;

		MUST(fab_routes_from_lfts(f, NULL, "t", text, strlen(text), &r, ERR));
		fab_permutation_load(r, &ends, to, &load);
		cr_expect_eq(load.flows, 3);
		cr_expect_eq(load.lost, cases[i].lost);
		cr_expect_eq(load.max, 1);
		cr_expect(cases[i].lost || fabs(load.mean - 1) < 1e-12);
	}
}
