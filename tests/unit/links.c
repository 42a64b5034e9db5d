/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments of hashed links, reserved parts, and services: laws, brute force, closed
 * forms. */
#include "boot/relay.h"
#include "support/boots.h"
#include "support/test.h"

/* A node after the other: its path by ancestors, each link counted by itself. */
static double share_by_ancestors(const struct fab_machine *m, const struct fab_batch *b,
				 const uint32_t *of)
{
	double least = INFINITY;

	for (uint32_t v = 1; v < m->n_vertices; v++) {
		uint32_t n[3][2] = {{0}}; /* by link and direction */

		for (uint32_t i = 0; i < b->n; i++) {
			uint32_t node = b->node[i], at = of[node];
			bool to = node >= m->first_node[v] && node < m->end_node[v];
			bool from =
				at >= m->first_interface[v] && at < m->end_interface[v];
			uint32_t link = fab_link_of(m, v, m->node_vertex[node],
						    m->interface_vertex[at]);

			if (to != from)
				n[link - v * fab_links_most(m)][from]++;
		}
		for (uint32_t k = 0; k < 6; k++)
			if (n[k / 2][k % 2])
				least = fmin(least, m->capacity_mbps[v] /
							    fab_links_of(m, v) /
							    n[k / 2][k % 2]);
	}
	return least;
}

Test(links, shares_and_transfers_agree_with_brute_force)
{
	const struct fab_transfer_options options = {.image_bytes = 1000000,
						     .n_files = 1};
	uint32_t n_slower = 0;

	for (uint64_t seed = 0; seed < 100; seed++) {
		OWN(fab_machine) *m = boots_random_machine(seed);
		OWN(fab_batch) all = boots_batch(m, "all");
		FAB_AUTO(fab_transfer_fini) struct fab_transfer t = {0};
		FAB_AUTOFREE uint32_t *of = FAB_NEW(m->n_nodes, uint32_t);
		struct fab_rng rng = test_rng(seed);
		double pipe, share;

		for (uint32_t i = 0; i < m->n_nodes; i++)
			of[i] = test_below(&rng, m->n_interfaces);
		pipe = boots_share(m, &all, of);
		for (uint32_t l = 1; l < m->n_levels; l++) {
			m->limits.links[l] = 1 + test_below(&rng, 3);
			m->limits.most_links = 3;
		}
		m->limits.hash_seed = seed;
		share = boots_share(m, &all, of);
		cr_expect_float_eq(share, share_by_ancestors(m, &all, of), 1e-9);
		cr_expect_float_eq(share, fab_share_slowest_brute(m, &all, of), 1e-9);
		cr_expect_leq(share, pipe * (1 + 1e-9));
		n_slower += share < pipe * 0.99;
		MUST(fab_transfer_run(m, &all, of, &options, &t, ERR));
		cr_expect_float_eq(t.last_s, 8 / share, 1e-6 * t.last_s, "%g, not %g",
				   t.last_s, 8 / share);
	}
	cr_expect_gt(n_slower, 50);
}

Test(links, hash_is_even_and_one_for_a_level)
{
	OWN(fab_machine) *m = boots_machine("rack=20@1G,node=50@1G/server=8@1G");
	uint32_t n[4] = {0}, n_same = 0;

	m->limits = (struct fab_limits){.links = {0, 4}, .most_links = 4};
	for (uint32_t to = 0; to < 1000; to++)
		for (uint32_t from = 0; from < 8; from++) {
			uint32_t link = fab_link_of(m, 1, to, from) - 4;

			cr_assert_lt(link, 4);
			n[link]++;
			/* vertex 52 is the next rack */
			cr_expect_eq(fab_link_of(m, 52, to, from) - 4 * 52, link);
			m->limits.hash_seed = 7;
			n_same += fab_link_of(m, 1, to, from) - 4 == link;
			m->limits.hash_seed = 0;
		}
	/* 2000 each, with a deviation of 39 */
	for (int k = 0; k < 4; k++)
		cr_expect(n[k] > 1800 && n[k] < 2200);
	cr_expect(n_same > 1800 && n_same < 2200);
}

Test(links, reserved_is_not_there)
{
	OWN(fab_machine)
	*m = boots_machine("rack=2@10G,node=4@1G/group=2@4G,server=2@1G"),
	*less = boots_machine("rack=2@10G,node=4@1G/group=2@3G,server=2@750M");
	struct fab_limits limits = {0};

	MUST(fab_limits_parse(m, NULL, "server:0.25,group:1G", &limits, ERR));
	fab_limits_apply(m, &limits, 1);
	for (uint32_t v = 1; v < m->n_vertices; v++)
		cr_expect_float_eq(m->capacity_mbps[v], less->capacity_mbps[v], 1e-9);
}

Test(links, lists_that_are_wrong)
{
	static const char *const lists[] = {"rack", "rack:1", "rack:65", "rack:2,",
					    "nobody:2", "rack:2x", ":2", "rack:-2",
					    /* reserved */
					    "rack:1", "rack:10G", "server:1G", "rack:-1",
					    "rack:0.5x",
					    "rack:", "server:0.5,server:500M"};
	OWN(fab_machine) *m = boots_machine("rack=2@10G,node=4@1G/server=2@1G");

	for (size_t i = 0; i < FAB_COUNT(lists); i++) {
		const char *hashed = i < 8 ? lists[i] : NULL;
		const char *reserved = i < 8 ? NULL : lists[i];
		struct fab_limits limits = {0};

		FAILS(fab_limits_parse(m, hashed, reserved, &limits, ERR), -EINVAL,
		      hashed ? "--set hashed: " : "--set reserved: ");
	}
}

Test(links, services_are_limited_by_cables_or_windows)
{
	OWN(fab_machine) *m = boots_machine("rack=2@10G,node=4@1G/server=8@1G");
	OWN(fab_batch) all = boots_batch(m, "all");
	FAB_AUTOFREE uint32_t *of = boots_map(m, "bcda", &all);
	const struct fab_transfer_options options = {.image_bytes = 50000000,
						     .n_files = 1};
	struct fab_share share;

	MUST(fab_share_of(m, &all, of, &share, ERR));
	cr_assert_float_eq(share.bandwidth_mbps, 250, 1e-9);
	for (size_t i = 0; i < fab_n_services; i++) {
		const struct fab_service *s = &fab_services[i];
		struct fab_service_time t =
			fab_service_time(s, &share, &options, 1, 200e-6);
		double cable = 250.0 * s->payload / s->wire;
		double window = s->window_bytes * 8 / 200.0;

		cr_expect_float_eq(t.limit_mbps, window, 1e-9);
		cr_expect_eq(t.is_limited, window < cable, "%s", s->name);
		cr_expect_float_eq(t.seconds,
				   400 / fmin(cable, window) +
					   200e-6 * s->trips * s->n_files,
				   1e-9, "%s", s->name);
	}
}
