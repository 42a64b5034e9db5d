/* SPDX-License-Identifier: BSD-2-Clause */

#include "fabric/builder.h"
#include "support/node.h"
#include "support/test.h"

/* As far as it is by the plain search of all, with the shape and without. */
static void expect_exact(const struct fab_fabric *f)
{
	uint32_t wanted = fab_fabric_diameter(f, 1);
	OWN(fab_shape) *shape = fab_shape_recognize(f);

	for (int i = 0; i < 2; i++) {
		struct fab_diameter d =
			fab_fabric_diameter_bounds(f, i ? shape : NULL, 1);

		cr_expect(d.hops == wanted && d.at_most == wanted,
			  "%s: %u, at most %u, expected %u", f->source, d.hops, d.at_most,
			  wanted);
	}
}

Test(diameter, generated_shapes)
{
	static const char *const specs[] = {"torus:dims=5x4x3,hosts=1",
					    "torus:dims=1001",
					    "torus:dims=400x3",
					    "mesh:dims=2",
					    "mesh:dims=700",
					    "mesh:dims=300x2x2",
					    "hyperx:dims=5x4,hosts=1",
					    "fattree:radix=8,levels=3",
					    "kfat:dims=4x4,hosts=2",
					    "dragonfly:a=4,p=2,h=2",
					    "fattree:radix=4,levels=1",
					    "random:switches=60,degree=4,hosts=1,seed=3"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen_raw(specs[i]);

		expect_exact(f);
	}
}

/* Trees, and graphs with few and with many more cables than those. */
Test(diameter, random_graphs)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint32_t extra = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 3 : 60;
		OWN(fab_fabric) *f =
			test_random_fabric(20 + (uint32_t)seed * 5, extra, 1, seed);

		expect_exact(f);
	}
}

/* A ring of n switches with `spurs` more that hang on the first ones. */
static struct fab_fabric *ring_with_spurs(uint32_t n, uint32_t spurs)
{
	struct fab_builder *b = fab_builder_new();
	struct fab_fabric *f = NULL;

	for (uint32_t i = 0; i < n + spurs; i++)
		test_node(b, FAB_SWITCH, i + 1, 4, "s");
	for (uint32_t i = 0; i < n; i++)
		fab_builder_add_cable(b, i, 1, (i + 1) % n, 2, 4, FAB_HDR);
	for (uint32_t i = 0; i < spurs; i++)
		fab_builder_add_cable(b, i * (n / spurs), 3, n + i, 1, 4, FAB_HDR);
	MUST(fab_builder_finish(b, "ring", "t", NULL, &f, ERR));
	return f;
}

/* Long and of no shape: single searches, each bounding all. */
Test(diameter, rings_with_spurs)
{
	for (uint32_t spurs = 1; spurs <= 3; spurs++)
		for (uint32_t n = 300; n < 304; n++) {
			OWN(fab_fabric) *f = ring_with_spurs(n, spurs);

			expect_exact(f);
		}
}

/* What cannot be proved in bounded work is told as bounds, which hold. */
Test(diameter, too_long_to_prove)
{
	OWN(fab_fabric) *f = ring_with_spurs(100000, 1);
	struct fab_diameter d = fab_fabric_diameter_bounds(f, NULL, 1);

	cr_assert(d.hops >= 50000 && d.hops <= 50001, "%u", d.hops);
	cr_assert(d.at_most >= 50001 && d.at_most <= 50300, "%u", d.at_most);
}

/* Parts one by one: the same switches, cables and hosts as the whole. */
Test(diameter, parts_are_fabrics_of_their_own)
{
	OWN(plan) plan = plan_tree(4, 2, 3);
	uint32_t leaf = plan_switches(&plan, 3, "more", 8);
	uint32_t top = plan_switch(&plan, "top", 8);
	OWN(fab_summary) *s = NULL;
	OWN(fab_fabric) *f = NULL;

	for (uint32_t i = 0; i < 6; i++)
		plan_host(&plan, leaf + i / 2, "node%03u HCA-1", i + 1);
	for (uint32_t i = 0; i < 3; i++)
		plan_join(&plan, leaf + i, top);
	plan_switch(&plan, "bare", 4);
	f = plan_build(&plan, 5);
	s = fab_summary_new(f, 1);
	cr_assert_eq(s->n_components, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct fab_plane *v = &s->planes->v[i];
		const struct fab_shape *shape = s->parts[i].shape;
		bool is_first = v->n_switches == 6;

		if (v->n_switches == 1) {
			cr_assert_null(shape);
			continue;
		}
		cr_assert(is_first || v->n_switches == 4);
		cr_assert_eq(v->n_hosts, is_first ? 12 : 6);
		cr_assert_eq(v->n_switch_links, is_first ? 8 : 3);
		cr_assert_eq(s->parts[i].diameter, 2);
		cr_assert_eq(shape->kind, FAB_SHAPE_FATTREE);
		cr_assert_eq(shape->n_roots, is_first ? 2 : 1);
	}
}

/* Two tori are no shape together; as planes they have that of each. */
Test(diameter, planes_of_one_shape)
{
	struct plan plan = {0};
	OWN(fab_summary) *s = NULL;
	OWN(fab_fabric) *f = NULL;

	plan_switches(&plan, 10, "s", 8);
	for (uint32_t i = 0; i < 10; i++)
		plan_join(&plan, i, i / 5 * 5 + (i + 1) % 5);
	for (uint32_t i = 0; i < 5; i++)
		plan_join(&plan, 5 + i, plan_host(&plan, i, "h%u HCA-1", i));
	f = plan_end(&plan);
	s = fab_summary_new(f, 1);
	cr_assert(s->planes->n_planes == 2 && s->diameter == 2);
	cr_assert(s->shape->kind == FAB_SHAPE_TORUS && s->shape->dims[0] == 5);
}
