/* SPDX-License-Identifier: BSD-2-Clause */
/* Torus, mesh, HyperX and high-dimension fat trees against their closed forms. */
#include "support/test.h"

static const struct {
	const char *spec;
	uint32_t n, dims[5], hosts;
} grids[] = {
	{"torus:dims=30x20x20,hosts=2", 3, {30, 20, 20}, 2},
	{"torus:dims=8x8x8", 3, {8, 8, 8}, 1},
	{"torus:dims=5", 1, {5}, 1},
	{"torus:dims=2", 1, {2}, 1},
	{"torus:dims=3x2x1x4,hosts=3", 4, {3, 2, 1, 4}, 3},
	{"torus:dims=2x2x2x2x2,hosts=0", 5, {2, 2, 2, 2, 2}, 0},
	{"mesh:dims=6x5x4,hosts=3", 3, {6, 5, 4}, 3},
	{"hyperx:dims=8x8,hosts=8", 2, {8, 8}, 8},
	{"kfat:dims=16x16,hosts=16", 2, {16, 16}, 16},
	{"kfat:dims=72x72,hosts=4", 2, {72, 72}, 4},
	{"kfat:dims=5x4x3,hosts=2", 3, {5, 4, 3}, 2},
	{"kfat:dims=7", 1, {7}, 1},
	{"kfat:dims=2x2x2x2", 4, {2, 2, 2, 2}, 1},
};

Test(gen_grid, closed_forms)
{
	for (size_t i = 0; i < FAB_COUNT(grids); i++) {
		const char *spec = grids[i].spec;
		const uint32_t *dims = grids[i].dims, hosts = grids[i].hosts;
		const bool is_line = *spec == 't' || *spec == 'm', is_kfat = *spec == 'k';
		uint32_t all = 1, lines = 0, cables = 0, diameter = 0;
		OWN(fab_fabric) *f = test_gen(spec);

		for (uint32_t d = 0; d < grids[i].n; d++)
			all *= dims[d];
		for (uint32_t d = 0; d < grids[i].n; d++) {
			const uint32_t size = dims[d], n = all / size;
			const bool is_ring = *spec == 't' && size > 2;

			lines += is_kfat ? n : 0;
			cables += is_kfat   ? all
				  : is_line ? n * (is_ring ? size : size - 1)
					    : n * size * (size - 1) / 2;
			/* The farthest of a kfat are two roots of one dimension: they
			 * differ in all others, so that a way between them has n - 1
			 * segments more than its ends. */
			diameter += is_kfat	   ? 2
				    : !is_line	   ? 1
				    : *spec == 't' ? size / 2
						   : size - 1;
		}
		test_counts(f, all + lines, all * hosts, cables);
		cr_assert_eq(fab_fabric_diameter(f, 1), diameter, "%s", spec);
		for (uint32_t s = 0; s < all; s++) {
			uint32_t degree = (is_kfat ? 1 : 2) * cables / all;

			cr_assert(*spec == 'm' || test_degree(f, s) == degree, "%s",
				  spec);
			cr_assert_eq(test_n_hosts_on(f, s), hosts, "%s", spec);
			/* on lines some ports are free */
			cr_assert_eq(f->node_n_ports[s],
				     hosts + (is_line ? 2 * grids[i].n : degree));
		}
	}
}

/* Where ports of a switch lead, which is named by its coordinates; NULL: they have no
 * cable. */
Test(gen_grid, ports)
{
	static const struct {
		const char *spec, *sw;
		uint32_t port;
		const char *peer;
		uint32_t peer_port;
	} cases[] = {
		{"torus:dims=4x2,hosts=2", "sw-3.1", 3, "sw-0.1", 4},
		{"torus:dims=4x2,hosts=2", "sw-3.1", 4, "sw-2.1", 3},
		{"torus:dims=4x2,hosts=2", "sw-3.1", 5, NULL, 0},
		{"torus:dims=4x2,hosts=2", "sw-3.1", 6, "sw-3.0", 5},
		/* in the order of the peer */
		{"hyperx:dims=3x4,hosts=1", "sw-1.2", 2, "sw-0.2", 2},
		{"hyperx:dims=3x4,hosts=1", "sw-1.2", 4, "sw-1.0", 5},
		{"hyperx:dims=3x4,hosts=1", "sw-1.2", 6, "sw-1.3", 6},
		{"kfat:dims=5x9,hosts=3", "leaf-3.7", 5, "root-3.x", 8},
		{"kfat:dims=5x9,hosts=3,planes=2", "leaf-3.7", 4, "root0-x.7", 4},
		{"kfat:dims=5x9,hosts=3,planes=2", "leaf-3.7", 6, "root1-x.7", 4},
		{"kfat:dims=5x9,hosts=3,planes=2", "leaf-3.7", 7, "root1-3.x", 8},
		/* of trees, down first: leaf-4 is child 1 of subtree 1, whose
		 * second-level switches are 2 and 3; l2-3 is copy 1 of its subtree */
		{"pgft:m=2/3/2,w=1/2/2,p=1/2/1", "leaf-4", 3, "l2-2", 3},
		{"pgft:m=2/3/2,w=1/2/2,p=1/2/1", "leaf-4", 6, "l2-3", 4},
		{"pgft:m=2/3/2,w=1/2/2,p=1/2/1", "l2-3", 7, "l3-2", 2},
		{"pgft:m=2/3/2,w=1/2/2,p=1/2/1", "l2-3", 8, "l3-3", 2}};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_fabric) *f = test_gen(cases[i].spec);
		uint32_t p = fab_port_find(f, test_switch(f, cases[i].sw), cases[i].port);

		cr_assert_eq(p == FAB_NONE, !cases[i].peer, "%zu", i);
		if (p == FAB_NONE)
			continue;
		p = fab_port_peer(f, p);
		cr_expect_str_eq(fab_node_name(f, f->port_node[p]), cases[i].peer);
		cr_expect_eq(f->port_num[p], cases[i].peer_port, "%zu", i);
	}
}

Test(gen_grid, kfat_of_two_level_lines)
{
	OWN(fab_fabric) *f = test_gen("kfat:dims=16x8,hosts=2,levels=2,radix=8");
	OWN(fab_dist) *dist = test_dist(f);

	/* 8 lines of 4 low and 2 top switches, 16 lines of 2 and 1 */
	test_counts(f, 128 + 8 * 6 + 16 * 3, 256, 2 * 128 + 8 * 16 + 16 * 8);
	for (uint32_t s = 128; s < f->n_switches; s++)
		cr_assert_eq(fab_degree(f, s), 8, "%s", fab_node_name(f, s));
	for (uint32_t i = 0; i < 128; i++)
		for (uint32_t j = 0; j < 128; j++) {
			uint32_t x = i / 8, y = i % 8, u = j / 8, v = j % 8, hops = 0;

			if (x != u)
				hops += x / 4 == u / 4 ? 2 : 4;
			if (y != v)
				hops += y / 4 == v / 4 ? 2 : 4;
			cr_assert_eq(fab_dist_row(dist, i)[j], hops, "%u %u", i, j);
		}
}

/* Adapters of a host are on leaves next to each other along x. */
Test(gen_grid, kfat_of_rails)
{
	OWN(fab_fabric) *f = test_gen("kfat:dims=4x3,hosts=2,rails=3,planes=2");

	test_counts(f, 12 + 2 * 7, 24, 2 * 24);
	cr_assert_eq(f->n_host_links, f->n_hosts * 3);
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		const uint32_t *rail = f->host_adapter + f->host_first_adapter[h];
		uint32_t on[3];

		for (uint32_t r = 0; r < 3; r++) {
			on[r] = fab_port_switch(f, f->node_first_port[rail[r]]);
			cr_expect_eq(on[r] % 3, h / 2 % 3);
		}
		cr_expect(on[0] != on[1] && on[0] != on[2] && on[1] != on[2]);
	}
}

/* With less up than down, and lines that do not fill their switches. */
Test(gen_grid, kfat_of_tapered_and_ragged_lines)
{
	OWN(fab_fabric) *tapered = test_gen("kfat:dims=8x8,levels=2,radix=6,up=2");
	OWN(fab_fabric) *uneven = test_gen("kfat:dims=11x2,levels=2,radix=8,up=3");
	OWN(fab_fabric) *ragged = test_gen("kfat:dims=11x2,levels=2,radix=6");

	/* 16 lines of 2 low switches with 4 leaves each, 1 cable to each of 2 tops */
	test_counts(tapered, 64 + 16 * (2 + 1), 64, 128 + 16 * 4);
	/* 2 lines of 3 low switches (5 5 1 leaves): 2 cables to a top would not divide 3
	 * ports, 1 to each of 3 tops; 11 lines of 1 low switch, 3 cables to 1 top */
	test_counts(uneven, 22 + 2 * (3 + 3) + 11 * (1 + 1), 22, 44 + 2 * 9 + 11 * 3);
	/* 2 lines of 4 low switches (3 3 3 2 leaves), each 1 cable to 3 tops;
	 * 11 lines of 1 low switch, all 3 cables to 1 top */
	test_counts(ragged, 22 + 2 * (4 + 3) + 11 * (1 + 1), 22, 44 + 2 * 12 + 11 * 3);
}
