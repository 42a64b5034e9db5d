/* SPDX-License-Identifier: BSD-2-Clause */
/* Shapes from the graph alone: every family, whatever the order of its nodes. */
#include "fabric/shape.h"
#include "base/progress.h"
#include "support/test.h"

/* Recognise and compare the text; the caller frees. */
static struct fab_shape *expect(const struct fab_fabric *f, const char *text,
				const char *what)
{
	struct fab_shape *shape = fab_shape_recognize(f);
	bool is_kfat = shape->kind == FAB_SHAPE_KFAT;
	char out[128];

	cr_assert_str_eq(fab_shape_text(shape, out, sizeof(out)), text, "%s: %s", what,
			 out);
	cr_assert_eq(shape->n_switches, f->n_switches);
	cr_assert_eq(shape->level != NULL, shape->kind == FAB_SHAPE_FATTREE || is_kfat);
	cr_assert_eq(shape->coords != NULL, shape->n_dims > 0);
	cr_assert_eq(shape->group != NULL, shape->kind == FAB_SHAPE_DRAGONFLY);
	return shape;
}

/* The same of a fabric that is no longer needed. */
static void expect_only(struct fab_fabric *f, const char *text, const char *what)
{
	fab_shape_free(expect(f, text, what));
	fab_fabric_free(f);
}

/* Every cable joins two levels that follow each other; hosts are on level 0. */
static void check_levels(const struct fab_fabric *f, const struct fab_shape *shape)
{
	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		int a = shape->level[f->port_node[f->cable_a[c]]];
		int b = shape->level[f->port_node[f->cable_b[c]]];

		cr_assert_eq(abs(a - b), 1);
	}
	for (uint32_t s = 0; s < f->n_switches; s++) {
		cr_assert_eq(shape->level[s] == 0, test_n_hosts_on(f, s) > 0);
		cr_assert_lt(shape->level[s], shape->n_levels);
	}
}

/* Neighbours differ in one coordinate; how far apart they may be depends on the kind. */
static void check_coords(const struct fab_fabric *f, const struct fab_shape *shape)
{
	uint32_t n = shape->n_dims;
	OWN_HEAP bool *taken = FAB_NEW0(f->n_switches, bool);

	for (uint32_t s = 0; s < f->n_switches; s++) {
		const uint32_t *a = shape->coords + (size_t)s * n;
		uint32_t at = 0;

		for (uint32_t d = 0; d < n; d++) {
			cr_assert_lt(a[d], shape->dims[d]);
			at = at * shape->dims[d] + a[d];
		}
		cr_assert_not(taken[at]);
		taken[at] = true;
		for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1]; i++) {
			const uint32_t *b = shape->coords + (size_t)f->peer[i] * n;
			uint32_t differ = 0;

			for (uint32_t d = 0; d < n; d++) {
				uint32_t by = a[d] > b[d] ? a[d] - b[d] : b[d] - a[d];

				differ += by > 0;
				cr_assert(by <= 1 || shape->kind == FAB_SHAPE_HYPERX ||
					  (shape->kind == FAB_SHAPE_TORUS &&
					   by == shape->dims[d] - 1));
			}
			cr_assert_eq(differ, 1);
		}
	}
}

/* A leaf and a switch of its line agree in all coordinates but the open one. */
static void check_kfat(const struct fab_fabric *f, const struct fab_shape *shape)
{
	uint32_t n = shape->n_dims;

	for (uint32_t s = 0; s < f->n_switches; s++) {
		const uint32_t *a = shape->coords + (size_t)s * n;
		uint32_t open = 0;

		for (uint32_t d = 0; d < n; d++) {
			open += a[d] == FAB_NONE;
			cr_assert(a[d] == FAB_NONE || a[d] < shape->dims[d]);
		}
		cr_assert_eq(open, shape->level[s] > 0);
		for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1]; i++) {
			const uint32_t *b = shape->coords + (size_t)f->peer[i] * n;

			for (uint32_t d = 0; d < n; d++)
				cr_assert(a[d] == b[d] || a[d] == FAB_NONE ||
					  b[d] == FAB_NONE);
		}
	}
}

static void check_groups(const struct fab_fabric *f, const struct fab_shape *shape)
{
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint32_t near = 0;

		cr_assert_lt(shape->group[s], shape->n_groups);
		for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1]; i++)
			near += shape->group[f->peer[i]] == shape->group[s];
		cr_assert_eq(near, shape->group_size - 1);
	}
	cr_assert_eq(shape->n_groups * shape->group_size, f->n_switches);
}

static void check_arrays(const struct fab_fabric *f, const struct fab_shape *shape)
{
	if (shape->level)
		check_levels(f, shape);
	if (shape->kind == FAB_SHAPE_KFAT)
		check_kfat(f, shape);
	else if (shape->coords)
		check_coords(f, shape);
	if (shape->group)
		check_groups(f, shape);
}

struct named {
	const char *spec, *text;
};

static const struct named cases[] = {
	{"fattree:radix=8,levels=1", "fattree levels=1 roots=1"},
	{"fattree:radix=4,levels=5", "fattree levels=5 roots=16"},
	{"fattree:radix=6,levels=3,hosts=1", "fattree levels=3 roots=9"},
	{"pgft:m=3/4/5,w=1/2/3,p=1/4/2", "fattree levels=3 roots=6"},
	{"pgft:m=4/3,w=2/2", "fattree levels=2 roots=4"},
	{"bluelight", "fattree levels=3 roots=16"},
	{"torus:dims=5", "torus 5"},
	{"torus:dims=3", "torus 3"},
	{"torus:dims=4", "torus 4"},
	{"torus:dims=3x3", "torus 3x3"},
	{"torus:dims=3x4x5x6", "torus 6x5x4x3"},
	{"torus:dims=5x2", "torus 5x2"},
	{"torus:dims=2x2x2,hosts=0", "torus 4x2"},
	{"torus:dims=6x3x2x2", "torus 6x4x3"},
	{"mesh:dims=2", "mesh 2"},
	{"mesh:dims=3x7", "mesh 7x3"},
	{"mesh:dims=2x3x2,hosts=3", "mesh 3x2x2"},
	{"hyperx:dims=9", "hyperx 9"},
	{"hyperx:dims=2x5x3", "hyperx 5x3x2"},
	{"hyperx:dims=4x2x2", "hyperx 4x2x2"},
	{"kfat:dims=2x2", "kfat 2x2"},
	{"kfat:dims=3x4x5", "kfat 5x4x3"},
	{"kfat:dims=2x2x2x3", "kfat 3x2x2x2"},
	{"kfat:dims=8x16,levels=2,radix=8", "kfat 16x8 levels=2"},
	{"kfat:dims=9x5x2,levels=2,radix=6", "kfat 9x5x2 levels=2"},
	{"kfat:dims=4x3x2,planes=3,levels=2,radix=4", "kfat 4x3x2 levels=2 planes=3"},
	{"dragonfly:a=4,p=2,h=2", "dragonfly groups=9 a=4"},
	{"dragonfly:a=8,p=4,h=4", "dragonfly groups=33 a=8"},
	{"dragonfly:a=16,p=1,h=2,g=7", "dragonfly groups=7 a=16"},
	/* large ones; those of the papers are in tests/golden/gen-examples */
	{"fattree:radix=40,levels=3", "fattree levels=3 roots=400"},
	{"kfat:dims=72x72,hosts=8", "kfat 72x72"}};

/* As generated, within a second, and, unless it is large, with the nodes in any order. */
Test(shape, every_family)
{
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_fabric) *f = test_gen_raw(cases[i].spec);

		for (uint64_t seed = 0; seed < (f->n_switches > 1700 ? 1 : 4); seed++) {
			OWN(fab_fabric) *other = seed ? test_shuffled(f, seed) : NULL;
			const struct fab_fabric *g = seed ? other : f;
			double start = fab_now();
			OWN(fab_shape) *shape = expect(g, cases[i].text, cases[i].spec);

			cr_assert(seed || fab_now() - start < 1, "%s", cases[i].spec);
			check_arrays(g, shape);
		}
	}
}

/* All numbers of groups: some are a HyperX as well, and are called that. */
Test(shape, dragonflies_of_all_sizes)
{
	unsigned seen = 0;

	for (unsigned a = 5; a <= 8; a++)
		for (unsigned h = 1; h <= 4; h++)
			for (unsigned g = 3; g <= a * h + 1; g++) {
				OWN_HEAP char *spec = fab_format(
					"dragonfly:a=%u,p=1,h=%u,g=%u", a, h, g);
				OWN(fab_fabric) *f = test_gen(spec);
				OWN(fab_shape) *shape = fab_shape_recognize(f);
				bool is_dragonfly = shape->kind == FAB_SHAPE_DRAGONFLY;

				cr_assert(is_dragonfly || shape->kind == FAB_SHAPE_HYPERX,
					  "%s", spec);
				check_arrays(f, shape);
				seen += is_dragonfly;
			}
	cr_assert_gt(seen, 200u, "%u", seen);
}

/* Each of a grid's cables counts: without it, it is no grid; a kfat is a tree. Of a
 * HyperX the lines along the other dimension are still groups with enough cables between.
 */
Test(shape, one_cable_missing)
{
	static const struct named grids[] = {
		{"torus:dims=5x4x3", "none"},
		{"torus:dims=4x4", "none"},
		{"torus:dims=7x2", "none"},
		{"mesh:dims=5x4", "none"},
		{"hyperx:dims=6", "none"},
		{"hyperx:dims=5x5", NULL},
		{"dragonfly:a=4,p=2,h=2", "none"},
		{"torus:dims=6", "mesh 6"},
		{"kfat:dims=4x5", "fattree levels=2 roots=9"},
	};

	for (size_t i = 0; i < FAB_COUNT(grids); i++) {
		OWN(fab_fabric) *f = test_gen(grids[i].spec);

		for (uint32_t c = 0; c < f->n_switch_links; c++) {
			OWN(fab_fabric) *g = test_without_cable(f, c);
			OWN(fab_shape) *shape = fab_shape_recognize(g);
			char text[64];

			fab_shape_text(shape, text, sizeof(text));
			if (grids[i].text)
				cr_assert_str_eq(text, grids[i].text, "%s",
						 grids[i].spec);
			else
				cr_assert(!shape->kind ||
					  shape->kind == FAB_SHAPE_DRAGONFLY);
			check_arrays(g, shape);
		}
	}
}

Test(shape, random_graphs_have_none)
{
	static const char *const specs[] = {
		"switches=20,degree=3", "switches=27,degree=6",	  "switches=64,degree=6",
		"switches=36,degree=7", "switches=500,degree=40",
	};

	for (unsigned i = 0; i < 20 * FAB_COUNT(specs); i++) {
		OWN_HEAP char *spec =
			fab_format("random:%s,seed=%u", specs[i / 20], i % 20);

		expect_only(test_gen_raw(spec), "none", spec);
	}
}

/* Management nodes on switches of the upper levels do not make them leaves, unless there
 * are as many as a quarter of a leaf's, or more than one in eight of all. */
Test(shape, hosts_on_upper_levels)
{
	static const struct {
		const char *spec, *text, *edits, *on[3];
	} more[] = {
		{"fattree:radix=8,levels=3", "fattree levels=3 roots=15", NULL, {"l3-5"}},
		{"fattree:radix=8,levels=3", "fattree levels=3 roots=16", NULL, {"l2-3"}},
		{"fattree:radix=16,levels=3",
		 "fattree levels=3 roots=64",
		 NULL,
		 {"l2-3", "l3-5", "l3-6"}},
		{"fattree:radix=4,levels=2",
		 "fattree levels=2 roots=2",
		 "remove h0",
		 {"l2-0"}},
		{"fattree:radix=4,levels=2", "none", "remove h0; remove h1", {"l2-0"}},
	};

	for (size_t i = 0; i < FAB_COUNT(more); i++) {
		OWN(fab_fabric) *all = test_gen(more[i].spec), *less = NULL;
		const struct fab_fabric *f = all;
		uint32_t on[3], n = 0;

		if (more[i].edits)
			f = less = test_edited(all, more[i].edits);
		for (; n < 3 && more[i].on[n]; n++)
			on[n] = test_switch(f, more[i].on[n]);
		expect_only(test_with_hosts(f, on, n), more[i].text, more[i].on[0]);
	}
}

/* Two cables exchanged: the same degrees, but twisted. A text is cut to fit. */
Test(shape, twisted_torus)
{
	OWN(fab_fabric) *f = test_gen("torus:dims=6x5");
	OWN(fab_shape) *shape = fab_shape_recognize(f);
	char out[8];

	cr_assert_str_eq(fab_shape_text(shape, out, sizeof(out)), "torus 6");
	cr_assert_str_eq(fab_shape_text(shape, out, 1), "");
	expect_only(test_edited(f, "remove sw-0.0:4; remove sw-3.2:4; "
				   "add sw-0.0:4 sw-3.2:4; add sw-0.1:5 sw-3.3:5"),
		    "none", "twisted");
}
