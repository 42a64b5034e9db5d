/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/summary.h"

#include "support/test.h"

/* One leaf with a slow uplink; one host with two adapters; a loop; SHARP. */
Test(summary, a_tree_in_numbers)
{
	static const struct {
		enum fab_cable_class class;
		uint8_t speed;
		uint32_t n;
	} links[] = {{FAB_CABLE_SWITCH, FAB_HDR, 7},
		     {FAB_CABLE_SWITCH, FAB_EDR, 1},
		     {FAB_CABLE_HOST, FAB_HDR, 24},
		     {FAB_CABLE_AGGREGATION, FAB_HDR, 1},
		     {FAB_CABLE_OTHER, FAB_HDR, 1}};
	struct plan plan = plan_tree(4, 2, 6);
	OWN(fab_summary) *s = NULL;
	OWN(fab_fabric) *f = NULL;
	const struct fab_level *l;

	plan.cables.v[0].a.speed = FAB_EDR;
	strcpy(plan.nodes.v[6].name, "twin HCA-1");
	strcpy(plan.nodes.v[12].name, "twin HCA-2");
	strcpy(plan.nodes.v[13].name, "MT4129 ConnectX7   Mellanox Technologies");
	plan.nodes.v[4].n_ports = 9;
	plan_cable(&plan, 4, 7, 4, 8);
	plan_cable(&plan, 4, 9,
		   plan_adapter(&plan, "Mellanox Technologies Aggregation Node"), 1);
	f = plan_end(&plan);
	s = fab_summary_new(f, 1);
	cr_assert(s->n_components == 1 && s->diameter == 2);
	cr_assert_eq(s->n_unnamed_adapters, 1);
	cr_assert_eq(s->n_rails, 2);
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert_eq(s->rails[i].n_adapters, i + 1);
		cr_assert_eq(s->rails[i].n_hosts, i ? 1 : 22);
	}
	cr_assert_eq(s->n_links, FAB_COUNT(links));
	for (size_t i = 0; i < FAB_COUNT(links); i++)
		cr_assert(s->links[i].class == links[i].class &&
				  s->links[i].speed == links[i].speed &&
				  s->links[i].n == links[i].n,
			  "%zu", i);
	cr_assert_eq(s->n_levels, 2);
	l = s->levels;
	cr_assert(l->n_switches == 4 && l->n_adapters == 24);
	cr_assert(l->n_up == 8 && l->n_down == 0 && l->n_side == 0);
	cr_assert(l[1].n_down == 8 && l[1].n_blocking == 0);
	/* 6 x 200 down; 2 x 200 up, once 200 + 100 */
	cr_assert_float_eq(l->least_blocking, 3, 1e-9);
	cr_assert_float_eq(l->most_blocking, 4, 1e-9);
	cr_assert_float_eq(l->rate_down / l->rate_up, 24. / 7.5, 1e-9);
}

Test(summary, cables_within_a_level_count_once)
{
	OWN(fab_fabric) *f = test_ring(3);
	OWN(fab_summary) *s = fab_summary_new(f, 1);

	cr_assert_eq(s->n_levels, 1);
	cr_assert_eq(s->levels[0].n_side, 3);
}
