/* SPDX-License-Identifier: BSD-2-Clause */
/* Fat trees against their closed forms. */
#include "source/reader.h"
#include "support/test.h"

/* PGFT in numbers: what the test expects, computed apart from the generator. */
struct tree {
	const char *spec;
	uint32_t h, m[4], w[4], p[4];
};

static const struct tree trees[] = {
	{"fattree:radix=40,levels=3", 3, {20, 20, 40}, {1, 20, 20}, {1, 1, 1}},
	{"fattree:radix=36,levels=2", 2, {18, 36}, {1, 18}, {1, 1}},
	{"fattree:radix=4,levels=4", 4, {2, 2, 2, 4}, {1, 2, 2, 2}, {1, 1, 1, 1}},
	{"fattree:radix=6,levels=1", 1, {6}, {1}, {1}},
	{"fattree:radix=2,levels=3", 3, {1, 1, 2}, {1, 1, 1}, {1, 1, 1}},
	{"fattree:radix=16", 3, {8, 8, 16}, {1, 8, 8}, {1, 1, 1}},
	{"fattree:radix=8,levels=2,hosts=2", 2, {2, 8}, {1, 4}, {1, 1}},
	{"pgft:m=3/4/5,w=1/2/3,p=1/4/2", 3, {3, 4, 5}, {1, 2, 3}, {1, 4, 2}},
	{"pgft:m=8,w=1", 1, {8}, {1}, {1}},
	{"bluelight", 3, {16, 16, 34}, {1, 8, 2}, {1, 2, 4}},
	{"taihulight", 3, {16, 16, 160}, {1, 16, 2}, {1, 1, 2}},
};

static uint32_t level_size(const struct tree *t, uint32_t l)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < t->h; i++)
		n *= i < l ? t->w[i] : t->m[i];
	return n;
}

/* Counts, and every switch by its level: hosts, neighbours, cables. Leaves come first. */
static void check_levels(const struct tree *t, const struct fab_fabric *f)
{
	const char *radix = strstr(t->spec, "radix=");
	uint32_t sw = 0, cables = 0;

	for (uint32_t l = 1; l <= t->h; l++) {
		uint32_t down = l > 1 ? t->m[l - 1] : 0, up = l < t->h ? t->w[l] : 0;
		uint32_t up_cables = up ? up * t->p[l] : 0;

		cables += level_size(t, l) * up_cables;
		for (uint32_t i = 0; i < level_size(t, l); i++, sw++) {
			cr_assert_eq(test_n_hosts_on(f, sw), l == 1 ? t->m[0] : 0, "%s",
				     t->spec);
			cr_assert_eq(test_degree(f, sw), up + down, "%s", t->spec);
			cr_assert_eq(fab_degree(f, sw), down * t->p[l - 1] + up_cables);
			cr_assert(!radix || f->node_n_ports[sw] == atoi(radix + 6));
		}
	}
	test_counts(f, sw, level_size(t, 0), cables);
	cr_assert_eq(f->n_host_links, level_size(t, 0), "%s", t->spec);
	cr_assert_eq(fab_fabric_diameter(f, 1), 2 * (t->h - 1), "%s", t->spec);
}

Test(gen_tree, closed_forms)
{
	for (size_t i = 0; i < FAB_COUNT(trees); i++) {
		const struct tree *t = &trees[i];
		OWN(fab_fabric) *f = test_gen(t->spec);
		uint64_t expected = 1;

		check_levels(t, f);
		/* Shortest paths between each leaf and each top switch: the product of p
		 * above leaves. Switches of an upper level have higher numbers. */
		for (uint32_t l = 1; l < t->h; l++)
			expected *= t->p[l];
		for (uint32_t k = 1; k <= level_size(t, t->h); k++) {
			OWN_HEAP uint64_t *paths = FAB_NEW0(f->n_switches, uint64_t);

			paths[f->n_switches - k] = 1;
			for (uint32_t s = f->n_switches - k; s-- > 0;)
				for (uint32_t a = f->arc_first[s];
				     a < f->arc_first[s + 1]; a++)
					if (f->arc_peer[a] > s)
						paths[s] += paths[f->arc_peer[a]];
			for (uint32_t leaf = 0; leaf < level_size(t, 1); leaf++)
				cr_assert_eq(paths[leaf], expected, "%s", t->spec);
		}
	}
}

/* Two leaves a host: two planes that only the hosts join. */
Test(gen_tree, rails)
{
	OWN(fab_fabric) *f = test_gen_raw("pgft:m=4/3,w=2/2,p=1/1");
	OWN(fab_fabric) *parallel = test_gen_raw("pgft:m=4/3,w=1/2,p=3/1");
	OWN_HEAP uint32_t *component = FAB_NEW(f->n_switches, uint32_t);

	test_counts(f, 6 + 4, 12, 12);
	cr_assert_eq(f->n_adapters, 24);
	cr_assert_eq(fab_fabric_components(f, component), 2);
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		uint32_t in[2] = {0};

		FAB_EACH_ADAPTER(f, h, i)
			in[component[fab_port_switch(
				f,
				fab_node_first_connected_port(f, f->host_adapter[i]))]]++;
		cr_assert(in[0] == 1 && in[1] == 1);
	}
	cr_assert_str_eq(fab_node_name(f, f->n_switches + 3), "h1 HCA-2");
	test_counts(parallel, 3 + 2, 12, 6);
	cr_assert_eq(parallel->n_adapters, 36);
	cr_assert_eq(test_n_hosts_on(parallel, 0), 12);
}
