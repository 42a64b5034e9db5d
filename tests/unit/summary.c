/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/summary.h"

#include "support/test.h"

Test(summary, a_tree_in_numbers)
{
	OWN(plan) plan = plan_tree(4, 2, 6);
	OWN(fab_summary) *s = NULL;
	OWN(fab_fabric) *f = NULL;

	/* One leaf with a slow uplink; one host with two adapters; a loop; SHARP. */
	plan.cables.v[0].a.speed = FAB_EDR;
	strcpy(plan.nodes.v[6].name, "twin HCA-1");
	strcpy(plan.nodes.v[12].name, "twin HCA-2");
	strcpy(plan.nodes.v[13].name, "MT4129 ConnectX7   Mellanox Technologies");
	plan.nodes.v[4].n_ports = 9;
	plan_cable(&plan, 4, 7, 4, 8);
	plan_cable(&plan, 4, 9,
		   plan_adapter(&plan, "Mellanox Technologies Aggregation Node"), 1);
	f = plan_build(&plan, 0);
	s = fab_summary_new(f, 1);
	cr_assert_eq(s->n_components, 1);
	cr_assert_eq(s->diameter, 2);
	cr_assert_eq(s->n_unnamed_adapters, 1);

	cr_assert_eq(s->n_rails, 2);
	cr_assert_eq(s->rails[0].n_adapters, 1);
	cr_assert_eq(s->rails[0].n_hosts, 22);
	cr_assert_eq(s->rails[1].n_adapters, 2);
	cr_assert_eq(s->rails[1].n_hosts, 1);

	cr_assert_eq(s->n_links, 5);
	cr_assert(s->links[0].class == FAB_CABLE_SWITCH && s->links[0].speed == FAB_HDR &&
		  s->links[0].n == 7);
	cr_assert(s->links[1].class == FAB_CABLE_SWITCH && s->links[1].speed == FAB_EDR &&
		  s->links[1].n == 1);
	cr_assert(s->links[2].class == FAB_CABLE_HOST && s->links[2].n == 24);
	cr_assert(s->links[3].class == FAB_CABLE_AGGREGATION && s->links[3].n == 1);
	cr_assert(s->links[4].class == FAB_CABLE_OTHER && s->links[4].n == 1);

	cr_assert_eq(s->n_levels, 2);
	cr_assert_eq(s->levels[0].n_switches, 4);
	cr_assert_eq(s->levels[0].n_adapters, 24);
	cr_assert_eq(s->levels[0].n_up, 8);
	cr_assert_eq(s->levels[0].n_down, 0);
	cr_assert_eq(s->levels[0].n_side, 0);
	cr_assert_eq(s->levels[1].n_down, 8);
	cr_assert_eq(s->levels[1].n_blocking, 0);
	/* 6 x 200 down; 2 x 200 up, once 200 + 100 */
	cr_assert_float_eq(s->levels[0].least_blocking, 3, 1e-9);
	cr_assert_float_eq(s->levels[0].most_blocking, 4, 1e-9);
	cr_assert_float_eq(s->levels[0].rate_down / s->levels[0].rate_up, 24. / 7.5,
			   1e-9);
}

Test(summary, cables_within_a_level_count_once)
{
	struct plan plan = {0};
	OWN(fab_summary) *s = NULL;
	OWN(fab_fabric) *f = NULL;

	plan_switches(&plan, 3, "s", 8);
	for (uint32_t i = 0; i < 3; i++) {
		plan_join(&plan, i, (i + 1) % 3);
		plan_host(&plan, i, "x HCA-1");
	}
	f = plan_end(&plan);
	s = fab_summary_new(f, 1);
	cr_assert_eq(s->n_levels, 1);
	cr_assert_eq(s->levels[0].n_side, 3);
}
