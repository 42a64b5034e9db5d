/* SPDX-License-Identifier: BSD-2-Clause */
/* Fences: what their plans move, and what it takes by the closed form. */
#include "launch/fence.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum { NODES_MAX = 257 };

static const char *const names[] = {"ring",    "tree:1",     "tree:2",	  "tree:3",
				    "tree:16", "tree:65533", "bruck",	  "bruck-even",
				    "recdbl",  "leaf",	     "slurm-auto"};

static struct fab_fence_chosen chosen(const char *name)
{
	struct fab_fence_chosen c;
	struct fab_err err;

	cr_assert_eq(fab_fence_parse(name, strlen(name), &c, &err), 0, "%s", err.text);
	return c;
}

static struct fab_fence_job job_of(uint32_t n, uint64_t bytes)
{
	return (struct fab_fence_job){.n_nodes = n,
				      .bytes = bytes,
				      .is_collecting = true,
				      .costs = fab_launch_costs_default()};
}

static uint32_t log_up(uint32_t n)
{
	uint32_t log = 0;

	while ((uint64_t)1 << log < n)
		log++;
	return log;
}

/* has[node * n + whose block] */
static void send(const struct fab_fence_plan *p, const struct fab_fence_message *m,
		 uint32_t repeat, const bool *has, bool *gets)
{
	uint32_t n = p->n_nodes;

	cr_assert(m->from < n && m->to < n && m->from != m->to && m->first < n &&
		  m->n_blocks <= n);
	for (uint32_t i = 0; i < m->n_blocks; i++) {
		uint32_t at = (m->first + n - repeat % n + i) % n;
		uint32_t block = fab_fence_node_at(p, at);

		cr_assert(has[(size_t)m->from * n + block],
			  "%u sends block %u, which it has not", m->from, block);
		gets[(size_t)m->to * n + block] = true;
	}
}

/* All steps: what is sent must be there before. */
static void run(const struct fab_fence_plan *p)
{
	size_t n = p->n_nodes;
	bool *has = FAB_NEW0(n * n, bool), *before = FAB_NEW(n * n, bool);
	uint32_t n_steps = 0;

	for (size_t i = 0; i < n; i++)
		has[i * n + i] = true;
	for (uint32_t repeat = 0; repeat < p->n_repeats; repeat++)
		for (size_t i = 0; i < p->messages.n;) {
			const struct fab_fence_message *m = p->messages.v;
			uint32_t step = m[i].step;

			n_steps++;
			memcpy(before, has, n * n);
			for (; i < p->messages.n && m[i].step == step; i++) {
				cr_assert(!i || m[i - 1].step <= step);
				cr_assert(!i || m[i - 1].step < step ||
					  m[i - 1].from <= m[i].from);
				send(p, &m[i], repeat, before, has);
			}
		}
	cr_assert_eq(n_steps, p->n_steps);
	for (size_t i = 0; i < n * n; i++)
		cr_assert(has[i], "node %zu lacks block %zu", i / n, i % n);
	free(before);
	free(has);
}

static void run_all(uint32_t n, const uint32_t *leaf)
{
	for (size_t i = 0; i < FAB_COUNT(names); i++) {
		struct fab_fence_job job = job_of(n, 8);
		struct fab_fence_plan p;

		job.leaf = leaf;
		cr_assert_eq(fab_fence_plan_make(chosen(names[i]), &job, &p, NULL), 0);
		run(&p);
		fab_fence_plan_fini(&p);
	}
}

/* Nodes by leaf switches: all on one, each on its own, runs, by chance. */
Test(fence, every_block_comes_to_every_node, .timeout = 300)
{
	uint32_t *leaf = FAB_NEW(NODES_MAX, uint32_t);
	struct fab_rng rng;

	fab_rng_init(&rng, 1);
	for (uint32_t n = 1; n <= NODES_MAX; n++) {
		for (uint32_t i = 0; i < n; i++)
			leaf[i] = n % 4 == 0   ? 7
				  : n % 4 == 1 ? i / 5
				  : n % 4 == 2 ? FAB_NONE - 2 - i
					       : (uint32_t)fab_rng_below(&rng, 9);
		run_all(n, leaf);
	}
	free(leaf);
}

Test(fence, every_block_comes_to_every_node_on_one_leaf)
{
	for (uint32_t n = 1; n <= 40; n++)
		run_all(n, NULL);
}

/* Steps and bytes of a node are those of the books. */
Test(fence, steps_and_bytes)
{
	static const struct {
		const char *name;
		bool is_log;
	} exact[] = {{"ring", false}, {"bruck", true}, {"bruck-even", true}};

	for (uint32_t n = 1; n <= NODES_MAX; n++)
		for (size_t i = 0; i < FAB_COUNT(exact); i++) {
			struct fab_fence_job job = job_of(n, 100);
			struct fab_fence_plan p;
			struct fab_fence_volume v;

			cr_assert_eq(fab_fence_plan_make(chosen(exact[i].name), &job, &p,
							 NULL),
				     0);
			v = fab_fence_volume_of(&p, job.bytes);
			cr_assert_eq(p.n_steps, exact[i].is_log ? log_up(n) : n - 1);
			cr_assert_eq(v.most_sent, (n - 1) * 100);
			cr_assert_eq(v.most_received, (n - 1) * 100);
			cr_assert_eq(v.sum, (uint64_t)n * (n - 1) * 100);
			fab_fence_plan_fini(&p);
		}
}

static double model(const char *name, uint32_t n, uint64_t bytes, bool by_plan)
{
	struct fab_fence_job job = job_of(n, bytes);
	struct fab_fence_plan p;
	double us;

	cr_assert_eq(fab_fence_plan_make(chosen(name), &job, &p, NULL), 0);
	us = by_plan ? fab_fence_model_of_plan(&p, &job)
		     : fab_fence_model_us(chosen(name), &job, &p);
	fab_fence_plan_fini(&p);
	return us;
}

static void near(double is, double should_be, double share)
{
	cr_assert(fabs(is - should_be) <= share * should_be, "%.12g instead of %.12g", is,
		  should_be);
}

Test(fence, closed_form_of_108_nodes)
{
	near(model("bruck", 108, 0, false), 24.5, 1e-9);
	near(model("ring", 108, 0, false), 374.5, 1e-9);
	for (uint64_t b = 1; b <= 1 << 20; b *= 4)
		near(model("ring", 108, b, false) - model("bruck", 108, b, false), 350,
		     1e-9);
	near(model("ring", 108, 1024, false), 396.4136, 1e-7);
}

/* Published figures to the microsecond: trees of 108 nodes. */
Test(fence, trees_of_108_nodes)
{
	static const struct {
		const char *name;
		double us[3]; /* blocks of 1, 1024, 16384 bytes */
	} rows[] = {{"tree:2", {52, 265, 3542}},
		    {"tree:16", {52, 300, 4304}},
		    {"tree:50", {112, 665, 9692}}};
	static const uint64_t bytes[] = {1, 1024, 16384};

	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		for (size_t k = 0; k < FAB_COUNT(bytes); k++) {
			double us = model(rows[i].name, 108, bytes[k], false);

			cr_expect(fabs(us - rows[i].us[k]) < 1, "%s of %llu B: %g us",
				  rows[i].name, (unsigned long long)bytes[k], us);
		}
}

/* The formula and going through the plan agree. */
Test(fence, formula_is_the_plan)
{
	static const char *const formula[] = {"ring", "bruck", "bruck-even"};

	for (uint32_t n = 1; n <= NODES_MAX; n++)
		for (size_t i = 0; i < FAB_COUNT(formula); i++)
			near(model(formula[i], n, 5000, true),
			     model(formula[i], n, 5000, false), 1e-9);
}

Test(fence, slurm_goes_around_a_ring_with_data_only)
{
	struct fab_fence_job job = job_of(100, 10);
	struct fab_fence_chosen is;

	is = fab_fence_stands_for(chosen("slurm-auto"), &job);
	cr_assert_eq(is.algorithm, &fab_fence_ring);
	job.is_collecting = false;
	is = fab_fence_stands_for(chosen("slurm-auto"), &job);
	cr_assert_eq(is.algorithm, &fab_fence_tree);
	cr_assert_eq(is.width, FAB_FENCE_TREE_WIDTH);
	job = job_of(100, 0);
	job.tree_width = 50;
	is = fab_fence_stands_for(chosen("slurm-auto"), &job);
	cr_assert_eq(is.algorithm, &fab_fence_tree);
	cr_assert_eq(is.width, 50);
}

Test(fence, names)
{
	static const char *const bad[] = {"",		"rong",	    "tree",    "tree:0",
					  "tree:65534", "tree:x",   "tree:-1", "ring:2",
					  "bruck:1",	"tree:2:3", "tree:",   "auto:1"};
	struct fab_fence_chosen c;
	struct fab_err err;

	for (size_t i = 0; i < FAB_COUNT(bad); i++)
		cr_assert_lt(fab_fence_parse(bad[i], strlen(bad[i]), &c, &err), 0, "%s",
			     bad[i]);
	for (size_t i = 0; i < FAB_COUNT(names); i++) {
		char *text = fab_fence_text(chosen(names[i]));

		cr_assert_str_eq(text, names[i]);
		free(text);
	}
}

Test(fence, bad_jobs)
{
	struct fab_fence_job job = job_of(0, 8);
	struct fab_fence_plan p;
	struct fab_err err;

	cr_assert_lt(fab_fence_plan_make(chosen("ring"), &job, &p, &err), 0);
	cr_assert(strstr(err.text, "0 nodes"));
	job = job_of(FAB_FENCE_NODES_MAX + 1, 8);
	cr_assert_lt(fab_fence_plan_make(chosen("ring"), &job, &p, NULL), 0);
	job = job_of(2, FAB_FENCE_BYTES_MAX + 1);
	cr_assert_lt(fab_fence_plan_make(chosen("ring"), &job, &p, NULL), 0);
	job = job_of(2, 8);
	cr_assert_lt(fab_fence_plan_make(chosen("auto"), &job, &p, NULL), 0);
	job.costs.L_us = -1;
	cr_assert_lt(fab_fence_plan_make(chosen("ring"), &job, &p, NULL), 0);
	job.costs.L_us = NAN;
	cr_assert_lt(fab_fence_plan_make(chosen("ring"), &job, &p, &err), 0);
	cr_assert(strstr(err.text, "L:"));
}
