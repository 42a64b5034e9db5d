/* SPDX-License-Identifier: BSD-2-Clause */
/* Torus, mesh, HyperX and high-dimension fat trees against their closed forms. */
#include "support/test.h"

static void coords(uint32_t i, const uint32_t *dims, uint32_t n, uint32_t *v)
{
	for (uint32_t d = n; d-- > 0; i /= dims[d])
		v[d] = i % dims[d];
}

static uint32_t product(const uint32_t *dims, uint32_t n)
{
	uint32_t all = 1;

	for (uint32_t d = 0; d < n; d++)
		all *= dims[d];
	return all;
}

struct grid {
	const char *spec;
	uint32_t n, dims[5], hosts;
};

static const struct grid tori[] = {
	{"torus:dims=30x20x20,hosts=2", 3, {30, 20, 20}, 2},
	{"torus:dims=8x8x8", 3, {8, 8, 8}, 1},
	{"torus:dims=5", 1, {5}, 1},
	{"torus:dims=2", 1, {2}, 1},
	{"torus:dims=3x2x1x4,hosts=3", 4, {3, 2, 1, 4}, 3},
	{"torus:dims=2x2x2x2x2,hosts=0", 5, {2, 2, 2, 2, 2}, 0},
};

Test(gen_grid, torus_closed_forms)
{
	for (size_t i = 0; i < FAB_COUNT(tori); i++) {
		const struct grid *t = &tori[i];
		uint32_t all = product(t->dims, t->n), cables = 0, diameter = 0;
		uint32_t degree = 0;
		OWN(fab_fabric) *f = test_gen(t->spec);

		for (uint32_t d = 0; d < t->n; d++) {
			uint32_t size = t->dims[d];

			cables += all / size * (size > 2 ? size : size - 1);
			diameter += size / 2;
			degree += size > 2 ? 2 : size - 1;
		}
		cr_assert_eq(f->n_switches, all, "%s", t->spec);
		cr_assert_eq(f->n_hosts, all * t->hosts, "%s", t->spec);
		cr_assert_eq(f->n_switch_links, cables, "%s", t->spec);
		cr_assert_eq(fab_fabric_diameter(f, 1), diameter, "%s", t->spec);
		for (uint32_t s = 0; s < all; s++) {
			cr_assert_eq(test_degree(f, s), degree, "%s", t->spec);
			cr_assert_eq(test_n_hosts_on(f, s), t->hosts, "%s", t->spec);
			cr_assert_eq(f->node_n_ports[s], t->hosts + 2 * t->n);
		}
	}
}

static uint32_t ring_distance(uint32_t a, uint32_t b, uint32_t size, bool wraps)
{
	uint32_t d = a > b ? a - b : b - a;

	return wraps && size - d < d ? size - d : d;
}

/* Distances of all pairs by coordinates: `line_hops` for each that differs (0: a ring or
 * a line). */
static void check_distances(const char *spec, const uint32_t *dims, uint32_t n,
			    bool wraps, uint32_t line_hops)
{
	OWN(fab_fabric) *f = test_gen(spec);
	OWN(fab_dist) *dist = test_dist(f);
	uint32_t all = product(dims, n), a[5], b[5];

	for (uint32_t i = 0; i < all; i++)
		for (uint32_t j = 0; j < all; j++) {
			uint32_t hops = 0;

			coords(i, dims, n, a);
			coords(j, dims, n, b);
			for (uint32_t d = 0; d < n; d++)
				hops += line_hops ? line_hops * (a[d] != b[d])
						  : ring_distance(a[d], b[d], dims[d],
								  wraps);
			cr_assert_eq(fab_dist_row(dist, i)[j], hops, "%s: %u to %u", spec,
				     i, j);
		}
}

Test(gen_grid, distances_follow_coordinates)
{
	check_distances("torus:dims=5x4x3", (uint32_t[]){5, 4, 3}, 3, true, 0);
	check_distances("torus:dims=2x3x2x4", (uint32_t[]){2, 3, 2, 4}, 4, true, 0);
	check_distances("mesh:dims=5x4x3", (uint32_t[]){5, 4, 3}, 3, false, 0);
	check_distances("mesh:dims=7", (uint32_t[]){7}, 1, false, 0);
	check_distances("hyperx:dims=4x3x2", (uint32_t[]){4, 3, 2}, 3, false, 1);
	check_distances("hyperx:dims=9", (uint32_t[]){9}, 1, false, 1);
	check_distances("kfat:dims=5x4x3", (uint32_t[]){5, 4, 3}, 3, false, 2);
}

Test(gen_grid, mesh_and_hyperx_counts)
{
	OWN(fab_fabric) *f = test_gen("mesh:dims=6x5x4,hosts=3");

	cr_assert_eq(f->n_switch_links, 5 * 20 + 4 * 24 + 3 * 30);
	cr_assert_eq(f->n_hosts, 360);
	cr_assert_eq(fab_fabric_diameter(f, 1), 5 + 4 + 3);
	fab_fabric_free(f);
	f = test_gen("hyperx:dims=8x8,hosts=8");
	cr_assert_eq(f->n_switches, 64);
	cr_assert_eq(f->n_hosts, 512);
	cr_assert_eq(f->n_switch_links, 64 * 14 / 2);
	cr_assert_eq(fab_fabric_diameter(f, 1), 2);
	for (uint32_t s = 0; s < 64; s++)
		cr_assert_eq(f->node_n_ports[s], 8 + 14);
}

Test(gen_grid, torus_ports)
{
	OWN(fab_fabric) *f = test_gen("torus:dims=4x2,hosts=2");
	uint32_t sw = test_switch(f, "sw-3.1");
	uint32_t next = fab_port_peer(f, fab_port_find(f, sw, 3));
	uint32_t before = fab_port_peer(f, fab_port_find(f, sw, 4));
	uint32_t other = fab_port_peer(f, fab_port_find(f, sw, 6));

	cr_assert_str_eq(fab_node_name(f, f->port_node[next]), "sw-0.1");
	cr_assert_eq(f->port_num[next], 4);
	cr_assert_str_eq(fab_node_name(f, f->port_node[before]), "sw-2.1");
	cr_assert_eq(f->port_num[before], 3);
	cr_assert_str_eq(fab_node_name(f, f->port_node[other]), "sw-3.0");
	cr_assert_eq(f->port_num[other], 5);
	cr_assert_eq(fab_port_find(f, sw, 5), FAB_NONE);
}

Test(gen_grid, hyperx_ports_in_order_of_the_peer)
{
	OWN(fab_fabric) *f = test_gen("hyperx:dims=3x4,hosts=1");
	uint32_t sw = test_switch(f, "sw-1.2");
	static const char *const peers[] = {"sw-0.2", "sw-2.2", "sw-1.0", "sw-1.1",
					    "sw-1.3"};

	for (uint32_t i = 0; i < FAB_COUNT(peers); i++) {
		uint32_t q = fab_port_peer(f, fab_port_find(f, sw, 2 + i));

		cr_assert_str_eq(fab_node_name(f, f->port_node[q]), peers[i]);
	}
}

static const struct grid kfats[] = {
	{"kfat:dims=16x16,hosts=16", 2, {16, 16}, 16},
	{"kfat:dims=72x72,hosts=4", 2, {72, 72}, 4},
	{"kfat:dims=5x4x3,hosts=2", 3, {5, 4, 3}, 2},
	{"kfat:dims=7", 1, {7}, 1},
	{"kfat:dims=2x2x2x2", 4, {2, 2, 2, 2}, 1},
};

Test(gen_grid, kfat_closed_forms)
{
	for (size_t i = 0; i < FAB_COUNT(kfats); i++) {
		const struct grid *k = &kfats[i];
		uint32_t leaves = product(k->dims, k->n), sw = leaves, lines = 0;
		OWN(fab_fabric) *f = test_gen(k->spec);

		for (uint32_t d = 0; d < k->n; d++)
			lines += leaves / k->dims[d];
		cr_assert_eq(f->n_switches, leaves + lines, "%s", k->spec);
		cr_assert_eq(f->n_hosts, leaves * k->hosts, "%s", k->spec);
		cr_assert_eq(f->n_switch_links, leaves * k->n, "%s", k->spec);
		/* The farthest are two roots of one dimension: they differ in all others,
		 * so that a way between them has n - 1 segments more than its ends. */
		cr_assert_eq(fab_fabric_diameter(f, 1), 2 * k->n, "%s", k->spec);
		for (uint32_t s = 0; s < leaves; s++)
			cr_assert_eq(test_degree(f, s), k->n, "%s", k->spec);
		for (uint32_t d = 0; d < k->n; d++)
			for (uint32_t j = 0; j < leaves / k->dims[d]; j++)
				cr_assert_eq(test_degree(f, sw++), k->dims[d], "%s",
					     k->spec);
	}
}

Test(gen_grid, kfat_names_are_coordinates)
{
	static const char *const roots[] = {"root-x.7",	 "root-3.x",  "root0-x.7",
					    "root0-3.x", "root1-x.7", "root1-3.x"};

	for (uint32_t planes = 1; planes <= 2; planes++) {
		OWN(fab_fabric) *f =
			test_gen(planes == 1 ? "kfat:dims=5x9,hosts=3"
					     : "kfat:dims=5x9,hosts=3,planes=2");
		uint32_t leaf = test_switch(f, "leaf-3.7");

		cr_assert_eq(f->n_switches, 45 + planes * (5 + 9));
		cr_assert_eq(leaf, 3 * 9 + 7);
		for (uint32_t i = 0; i < 2 * planes; i++) {
			uint32_t q = fab_port_peer(f, fab_port_find(f, leaf, 4 + i));

			cr_assert_str_eq(fab_node_name(f, f->port_node[q]),
					 roots[2 * planes - 2 + i]);
			cr_assert_eq(f->port_num[q], (i % 2 ? 7 : 3) + 1);
			cr_assert_eq(f->node_n_ports[f->port_node[q]], i % 2 ? 9 : 5);
		}
	}
}

Test(gen_grid, kfat_of_two_level_lines)
{
	OWN(fab_fabric) *f = test_gen("kfat:dims=16x8,hosts=2,levels=2,radix=8");
	OWN(fab_dist) *dist = test_dist(f);

	/* 8 lines of 4 low and 2 top switches, 16 lines of 2 and 1 */
	cr_assert_eq(f->n_switches, 128 + 8 * 6 + 16 * 3);
	cr_assert_eq(f->n_switch_links, 2 * 128 + 8 * 16 + 16 * 8);
	for (uint32_t s = 128; s < f->n_switches; s++)
		cr_assert_eq(f->arc_first[s + 1] - f->arc_first[s], 8, "%s",
			     fab_node_name(f, s));
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

/* Two adapters a host, on leaves next to each other along x; trees with less up than
 * down. */
Test(gen_grid, kfat_of_rails_and_tapered_lines)
{
	OWN(fab_fabric) *f = test_gen("kfat:dims=4x3,hosts=2,rails=3,planes=2");

	cr_assert_eq(f->n_hosts, 4 * 3 * 2);
	cr_assert_eq(f->n_host_links, f->n_hosts * 3);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t node = f->port_node[p], host;

		if (fab_node_is_switch(f, node))
			continue;
		host = f->node_host[node];
		cr_expect_eq(fab_port_switch(f, p) % 3, host / 2 % 3);
		for (uint32_t q = 0; q < p; q++)
			cr_expect(fab_node_is_switch(f, f->port_node[q]) ||
				  f->node_host[f->port_node[q]] != host ||
				  fab_port_switch(f, q) != fab_port_switch(f, p));
	}
	fab_fabric_free(f);
	f = test_gen("kfat:dims=8x8,levels=2,radix=6,up=2");
	/* 16 lines of 2 low switches with 4 leaves each, 1 cable to each of 2 tops */
	cr_assert_eq(f->n_switches, 64 + 16 * (2 + 1));
	cr_assert_eq(f->n_switch_links, 128 + 16 * 4);
	fab_fabric_free(f);
	f = test_gen("kfat:dims=11x2,levels=2,radix=8,up=3");
	/* 2 lines of 3 low switches (5 5 1 leaves): 2 cables to a top would not divide 3
	 * ports, 1 to each of 3 tops; 11 lines of 1 low switch, 3 cables to 1 top */
	cr_assert_eq(f->n_switches, 22 + 2 * (3 + 3) + 11 * (1 + 1));
	cr_assert_eq(f->n_switch_links, 44 + 2 * 9 + 11 * 3);
}

/* Lines that do not fill their switches. */
Test(gen_grid, kfat_of_ragged_lines)
{
	OWN(fab_fabric) *f = test_gen("kfat:dims=11x2,levels=2,radix=6");

	/* 2 lines of 4 low switches (3 3 3 2 leaves), each 1 cable to 3 tops;
	 * 11 lines of 1 low switch, all 3 cables to 1 top */
	cr_assert_eq(f->n_switches, 22 + 2 * (4 + 3) + 11 * (1 + 1));
	cr_assert_eq(f->n_switch_links, 44 + 2 * 12 + 11 * 3);
}
