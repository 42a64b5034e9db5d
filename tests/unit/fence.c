/* SPDX-License-Identifier: BSD-2-Clause */
/* Fences without a fabric: blocks that plans move, and time without contention. */
#include "support/fences.h"
#include "support/test.h"

enum { NODES_MAX = 257 };

static struct fab_arena memory = FAB_ARENA_INIT; /* ends with the process */

static const char *const names[] = {"ring",    "tree:1",     "tree:2",	  "tree:3",
				    "tree:16", "tree:65533", "bruck",	  "bruck-even",
				    "recdbl",  "leaf",	     "slurm-auto"};

static struct fab_fence_plan plan_of(struct fab_arena *in, const char *name, uint32_t n,
				     const uint32_t *leaf)
{
	const struct fab_fence_job job = test_fence_job(n, leaf, 8);
	struct fab_fence_plan p;

	MUST(fab_fence_plan_make(in, test_fence(name), &job, &p, ERR));
	return p;
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
		uint32_t block = p->node_at ? p->node_at[at] : at;

		cr_assert(has[(size_t)m->from * n + block],
			  "%u sends block %u, which it has not", m->from, block);
		gets[(size_t)m->to * n + block] = true;
	}
}

/* All steps: what is sent must be there before. */
static void run(const struct fab_fence_plan *p)
{
	size_t n = p->n_nodes;
	FAB_AUTOFREE bool *has = FAB_NEW0(n * n, bool), *before = FAB_NEW(n * n, bool);
	uint32_t n_steps = 0;

	for (size_t i = 0; i < n; i++)
		has[i * n + i] = true;
	for (uint32_t repeat = 0; repeat < p->n_repeats; repeat++)
		for (size_t i = 0; i < p->messages.n; i++) {
			const struct fab_fence_message *m = &p->messages.v[i];

			if (!i || m[-1].step != m->step) {
				cr_assert(!i || m[-1].step < m->step);
				memcpy(before, has, n * n);
				n_steps++;
			} else {
				cr_assert(m[-1].from <= m->from);
			}
			send(p, m, repeat, before, has);
		}
	cr_assert_eq(n_steps, p->n_steps);
	for (size_t i = 0; i < n * n; i++)
		cr_assert(has[i], "node %zu lacks block %zu", i / n, i % n);
}

/* Nodes by leaf switches: all on one, each on its own, runs, by chance; or without. */
Test(fence, every_block_comes_to_every_node, .timeout = 300)
{
	FAB_AUTOFREE uint32_t *leaf = FAB_NEW(NODES_MAX, uint32_t);
	struct fab_rng rng = test_rng(1);

	/* all sizes to 70, then, as under sanitizers, some of each remainder by 4 */
	for (uint32_t n = 1; n <= NODES_MAX;
	     n += test_step(1) == 1 && (n < 70 || getenv("FAB_TEST_FULL")) ? 1 : 7) {
		for (uint32_t i = 0; i < n; i++)
			leaf[i] = n % 4 == 0   ? 7
				  : n % 4 == 1 ? i / 5
				  : n % 4 == 2 ? FAB_NONE - 2 - i
					       : test_below(&rng, 9);
		for (size_t i = 0; i < FAB_COUNT(names) * (n <= 40 ? 2 : 1); i++) {
			FAB_AUTO(fab_arena_free) struct fab_arena in = FAB_ARENA_INIT;
			const char *name = names[i % FAB_COUNT(names)];
			struct fab_fence_plan p =
				plan_of(&in, name, n, i < FAB_COUNT(names) ? leaf : NULL);

			run(&p);
		}
	}
}

/* Blocks of all messages; where it is even each node sends and receives N - 1. */
static uint64_t count_blocks(const struct fab_fence_plan *p, bool is_even)
{
	uint64_t sent[NODES_MAX] = {0}, received[NODES_MAX] = {0}, all = 0;

	for (size_t k = 0; k < p->messages.n; k++) {
		const struct fab_fence_message *m = &p->messages.v[k];
		uint64_t blocks = (uint64_t)m->n_blocks * p->n_repeats;

		sent[m->from] += blocks;
		received[m->to] += blocks;
		all += blocks;
	}
	for (uint32_t k = 0; is_even && k < p->n_nodes; k++)
		cr_assert(sent[k] == p->n_nodes - 1 && received[k] == p->n_nodes - 1);
	return all;
}

/* Steps and bytes of a node are those of the books. Blocks of all messages are as counted
 * in the logs of Slurm 22.05 with TreeWidth 2. */
Test(fence, steps_and_blocks)
{
	static const char *const exact[] = {"ring", "bruck", "bruck-even"};
	static const uint32_t slurm[][3] = {
		{2, 3, 2},   {3, 8, 6},	     {4, 17, 12},     {7, 52, 42},
		{8, 73, 56}, {16, 289, 240}, {32, 1121, 992}, {64, 4353, 4032}};
	struct fab_fence_plan p;

	for (uint32_t n = 1; n <= NODES_MAX; n++)
		for (size_t i = 0; i < FAB_COUNT(exact); i++) {
			p = plan_of(&memory, exact[i], n, NULL);
			cr_assert(i ? 1u << p.n_steps >= n && 1u << p.n_steps < 2 * n
				    : p.n_steps == n - 1);
			count_blocks(&p, true);
		}
	for (size_t i = 0; i < FAB_COUNT(slurm); i++)
		for (int k = 1; k < 3; k++) {
			p = plan_of(&memory, k == 1 ? "tree:2" : "ring", slurm[i][0],
				    NULL);
			cr_expect_eq(count_blocks(&p, false), slurm[i][k], "%u nodes",
				     slurm[i][0]);
		}
}

/* Microseconds of a setup without a fabric, simulated, followed a second time and by the
 * model are the same. */
static void check_times(const char *name, const struct fab_fence_job *job)
{
	struct fab_fence_sim_options options = {0};
	FAB_AUTO(fab_fence_setup_fini) struct fab_fence_setup setup;
	struct fab_fence_time t;

	MUST(fab_fence_setup_init(&setup, test_fence(name), job, NULL, NULL, ERR));
	MUST(fab_fence_setup_time(&setup, job->bytes, &options, &t, ERR));
	test_near(test_fence_plan_us(&setup.plan, job), t.model_us, 1e-9);
	test_near(t.simulated_us, t.model_us, 1e-9);
}

Test(fence, the_simulation_is_the_closed_form)
{
	static const uint64_t bytes[] = {0, 1, 1000, 100000};

	for (uint32_t n = 1; n <= NODES_MAX; n += n < 20 ? 1 : 17)
		for (size_t i = 0; i + 1 < FAB_COUNT(names); i++)
			for (size_t k = 0; k < FAB_COUNT(bytes); k++) {
				struct fab_fence_job job =
					test_fence_job(n, NULL, bytes[k]);

				check_times(names[i], &job);
			}
}

/* Leaf switches of different sizes: some nodes send while others still collect, and early
 * messages are taken early. Costs from nearly nothing to a second. */
Test(fence, the_simulation_is_the_closed_form_whatever_the_leaf_switches)
{
	static const struct fab_launch_costs costs[] = {
		{1, 1.5, 0.1, 0.1}, {1, 1.5, 0.1, 0},	  {0, 0, 0.3, 0.1},
		{2.7, 0.3, 0, 1.7}, {0.1, 0.2, 0.3, 0.7}, {1000, 0.3, 50, 1.7}};
	static const uint64_t bytes[] = {0, 1, 7000};
	/* With some costs and 21, 52, 255, 256 or 257 nodes messages arrive at one time,
	 * after sums of different terms. */
	static const uint32_t large[] = {49, 52, 87, 144, 255, 256, 257};
	uint32_t leaf[NODES_MAX];

	for (uint32_t j = 0; j < 28 + FAB_COUNT(large); j++) {
		const uint32_t n = j < 28 ? j + 2 : large[j - 28];

		for (uint32_t size = 1; size < 12; size += (TEST_SHARE > 1 ? 10 : 2))
			for (size_t i = 0; i < FAB_COUNT(costs) * FAB_COUNT(bytes); i++) {
				struct fab_fence_job job = test_fence_job(
					n, leaf, bytes[i % FAB_COUNT(bytes)]);

				job.costs = costs[i / FAB_COUNT(bytes)];
				for (uint32_t k = 0; k < n; k++) /* random at last */
					leaf[k] = size == 11 ? k * 2654435761u >> 28
							     : k / size;
				check_times("leaf", &job);
			}
	}
}

static double model(const char *name, uint32_t n, uint64_t bytes)
{
	struct fab_fence_job job = test_fence_job(n, NULL, bytes);
	double us;

	MUST(fab_fence_plain_us(test_fence(name), &job, &us, ERR));
	return us;
}

Test(fence, closed_forms_of_108_nodes)
{
	test_near(model("bruck", 108, 0), 24.5, 1e-9);
	test_near(model("ring", 108, 0), 374.5, 1e-9);
	for (uint64_t b = 1; b <= 1 << 20; b *= 4)
		test_near(model("ring", 108, b) - model("bruck", 108, b), 350, 1e-9);
	test_near(model("ring", 108, 1024), 396.4136, 1e-7);
}

Test(fence, slurm_goes_around_a_ring_with_data_only)
{
	static const struct {
		uint32_t bytes, tree_width, algorithm, width;
	} rows[] = {{10, 0, FAB_FENCE_RING, 0},
		    {0, 0, FAB_FENCE_TREE, FAB_FENCE_TREE_WIDTH},
		    {0, 50, FAB_FENCE_TREE, 50}};

	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		struct fab_fence_job job = test_fence_job(100, NULL, rows[i].bytes);
		struct fab_fence_chosen is;

		job.tree_width = rows[i].tree_width;
		is = fab_fence_stands_for(test_fence("slurm-auto"), &job);
		cr_assert_eq(is.algorithm, rows[i].algorithm);
		cr_assert(!rows[i].width || is.width == rows[i].width);
	}
}

Test(fence, names_and_refusals)
{
	char bad[] =
		"|rong|tree|tree:0|tree:65534|tree:x|tree:-1|ring:2|bruck:1|tree:2:3|"
		"tree:|auto:1";
	static const struct {
		const char *fence;
		uint32_t n;
		uint64_t bytes;
		double L_us;
		const char *says;
	} jobs[] = {{"ring", 0, 8, 1, "0 nodes"},
		    {"ring", FAB_FENCE_NODES_MAX + 1, 8, 1, ""},
		    {"ring", 2, FAB_FENCE_BYTES_MAX + 1, 1, ""},
		    {"auto", 2, 8, 1, ""},
		    {"ring", 2, 8, -1, ""},
		    {"ring", 2, 8, (double)NAN, "L:"}};
	struct fab_fence_chosen c;
	struct fab_fence_plan p;

	for (char *list = bad, *name; (name = strsep(&list, "|"));)
		cr_assert_lt(fab_fence_parse(name, strlen(name), &c, ERR), 0, "%s", name);
	for (size_t i = 0; i < FAB_COUNT(names); i++)
		cr_assert_str_eq(fab_fence_text(&memory, test_fence(names[i])), names[i]);
	for (size_t i = 0; i < FAB_COUNT(jobs); i++) {
		struct fab_fence_job job = test_fence_job(jobs[i].n, NULL, jobs[i].bytes);

		job.costs.L_us = jobs[i].L_us;
		FAILS(fab_fence_plan_make(&memory, test_fence(jobs[i].fence), &job, &p,
					  ERR),
		      0, jobs[i].says);
	}
}
