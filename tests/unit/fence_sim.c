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

static struct pair ideal(const char *name, uint32_t n, uint64_t bytes,
			 struct fab_launch_costs costs, bool without_symmetry)
{
	struct fab_fence_job job = {
		.n_nodes = n, .bytes = bytes, .is_collecting = true, .costs = costs};
	struct fab_fence_sim_options options = {.without_symmetry = without_symmetry};
	struct fab_fence_plan plan;
	struct fab_fence_paths paths;
	struct fab_fence_sim sim;
	struct pair p;

	cr_assert_eq(fab_fence_plan_make(chosen(name), &job, &plan, NULL), 0);
	cr_assert_eq(fab_fence_paths_init(&paths, &plan, NULL, NULL, NULL), 0);
	cr_assert_eq(fab_fence_simulate(&plan, &paths, &job, &options, &sim, NULL), 0);
	p = (struct pair){fab_fence_model_us(chosen(name), &job, &plan), sim.us,
			  sim.by_symmetry};
	fab_fence_paths_fini(&paths);
	fab_fence_plan_fini(&plan);
	return p;
}

Test(fence_sim, is_the_closed_form_without_contention)
{
	static const uint64_t bytes[] = {0, 1, 1000, 100000};

	for (uint32_t n = 1; n <= 257; n += n < 20 ? 1 : 17)
		for (size_t i = 0; i < FAB_COUNT(names); i++)
			for (size_t k = 0; k < FAB_COUNT(bytes); k++) {
				struct pair p = ideal(names[i], n, bytes[k],
						      fab_launch_costs_default(), false);

				cr_expect(fabs(p.model - p.simulated) <= 1e-9 * p.model,
					  "%s of %u nodes, %llu B: %.12g, simulated %.12g",
					  names[i], n, (unsigned long long)bytes[k],
					  p.model, p.simulated);
			}
}
