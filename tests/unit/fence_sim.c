/* SPDX-License-Identifier: BSD-2-Clause */
/* Fences through time: without contention the closed form, with it what cables allow. */
#include "launch/fence_sim.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"ring",  "tree:1", "tree:2",     "tree:16",
				    "bruck", "leaf",   "bruck-even", "recdbl"};

static struct fab_fence_chosen chosen(const char *name)
{
	struct fab_fence_chosen c;

	cr_assert_eq(fab_fence_parse(name, strlen(name), &c, NULL), 0);
	return c;
}

struct pair {
	double model, simulated;
	bool by_symmetry;
};

static struct pair ideal_of(const char *name, const uint32_t *leaf, uint32_t n,
			    uint64_t bytes, struct fab_launch_costs costs,
			    bool without_symmetry)
{
	struct fab_fence_job job = {.n_nodes = n,
				    .bytes = bytes,
				    .leaf = leaf,
				    .is_collecting = true,
				    .costs = costs};
	struct fab_fence_sim_options options = {.without_symmetry = without_symmetry};
	struct fab_fence_plan plan;
	struct fab_fence_paths paths;
	struct fab_fence_load load;
	struct fab_fence_sim sim;
	struct pair p;

	cr_assert_eq(fab_fence_plan_make(chosen(name), &job, &plan, NULL), 0);
	cr_assert_eq(fab_fence_paths_init(&paths, &plan, NULL, NULL, NULL), 0);
	fab_fence_load_init(&load, &plan, &paths);
	cr_assert_eq(fab_fence_simulate(&plan, &paths, fab_fence_contended(&load, &costs),
					&job, &options, &sim, NULL),
		     0);
	fab_fence_load_fini(&load);
	p = (struct pair){fab_fence_model_us(chosen(name), &job, &plan), sim.us,
			  sim.by_symmetry};
	fab_fence_paths_fini(&paths);
	fab_fence_plan_fini(&plan);
	return p;
}

static struct pair ideal(const char *name, uint32_t n, uint64_t bytes,
			 struct fab_launch_costs costs, bool without_symmetry)
{
	return ideal_of(name, NULL, n, bytes, costs, without_symmetry);
}

Test(fence_sim, is_the_closed_form_without_contention)
{
	static const uint64_t bytes[] = {0, 1, 1000, 100000};

	for (uint32_t n = 1; n <= 257; n += n < 20 ? 1 : 17)
		for (size_t i = 0; i < FAB_COUNT(names); i++)
			for (size_t k = 0; k < FAB_COUNT(bytes); k++) {
				struct pair p = ideal(names[i], n, bytes[k],
						      fab_launch_costs_default(), false);

				cr_expect(
					fabs(p.model - p.simulated) <= 1e-9 * p.model,
					"%s of %u nodes, %llu B: %.12g, simulated %.12g",
					names[i], n, (unsigned long long)bytes[k],
					p.model, p.simulated);
			}
}

/* Leaf switches of unlike sizes: some nodes send while others still collect, and what
 * comes early is taken early. Costs from nearly nothing to a second. */
Test(fence_sim, is_the_closed_form_whatever_the_leaf_switches)
{
	static const struct fab_launch_costs costs[] = {{1, 1.5, 0.1, 0.1},
							{1, 1.5, 0.1, 0},
							{0, 0, 0.3, 0.1},
							{2.7, 0.3, 0, 1.7},
							{1000, 0.3, 50, 1.7}};
	static const uint64_t bytes[] = {0, 1, 7000};
	uint32_t leaf[257];

	for (uint32_t n = 2; n <= 257; n += n < 30 ? 1 : 19)
		for (uint32_t size = 1; size < 12; size += 2)
			for (size_t i = 0; i < FAB_COUNT(costs) * FAB_COUNT(bytes); i++) {
				uint64_t b = bytes[i % FAB_COUNT(bytes)];
				struct pair p;

				for (uint32_t k = 0; k < n; k++) /* by chance at last */
					leaf[k] = size == 11 ? k * 2654435761u >> 28
							     : k / size;
				p = ideal_of("leaf", leaf, n, b,
					     costs[i / FAB_COUNT(bytes)], false);
				cr_expect(fabs(p.model - p.simulated) <= 1e-9 * p.model,
					  "%u nodes, %u a leaf, %llu B: %.12g, %.12g", n,
					  size, (unsigned long long)b, p.model,
					  p.simulated);
			}
}
