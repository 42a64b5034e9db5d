/* SPDX-License-Identifier: BSD-2-Clause */

#include "fabric/builder.h"
#include "support/node.h"
#include "support/test.h"

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

/* As far as it is by the plain search of all, with the shape and without. Takes it. */
static void expect_exact(struct fab_fabric *f)
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
	fab_fabric_free(f);
}

/* Generated shapes; trees, and graphs with few and with many more cables than those; what
 * is long and of no shape: single searches, each bounding all. */
Test(diameter, as_by_plain_search)
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
	static const uint32_t extra[] = {0, 3, 60};

	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		expect_exact(test_gen_raw(specs[i]));
	for (uint32_t seed = 1; seed <= 60; seed++)
		expect_exact(test_random_fabric(20 + seed * 5, extra[seed % 3], 1, seed));
	for (uint32_t i = 0; i < 12; i++)
		expect_exact(ring_with_spurs(300 + i % 4, 1 + i / 4));
}

/* What cannot be proved in bounded work is told as bounds, which hold. */
Test(diameter, too_long_to_prove)
{
	OWN(fab_fabric) *f = ring_with_spurs(100000, 1);
	struct fab_diameter d = fab_fabric_diameter_bounds(f, NULL, 1);

	cr_assert(d.hops >= 50000 && d.hops <= 50001, "%u", d.hops);
	cr_assert(d.at_most >= 50001 && d.at_most <= 50300, "%u", d.at_most);
}

/* Parts one by one, a switch alone among them. */
Test(diameter, parts_are_fabrics_of_their_own)
{
	static const uint32_t want[][4] = {{6, 12, 8, 2}, {4, 6, 3, 1}, {1, 0, 0, 0}};
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
		const uint32_t *is = want[0];

		while (v->n_switches != is[0])
			is += 4;
		cr_assert(v->n_hosts == is[1] && v->n_switch_links == is[2]);
		cr_assert_eq(s->parts[i].diameter, is[0] == 1 ? 0 : 2);
		cr_assert_eq(shape ? shape->n_roots : 0, is[3]);
		cr_assert(!shape || shape->kind == FAB_SHAPE_FATTREE);
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
