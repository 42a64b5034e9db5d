/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/advise.h"
#include "launch/mechanisms.h"
#include "support/test.h"

static struct fab_launch_params params;
static struct fab_arena memory = FAB_ARENA_INIT; /* ends with the process */
static struct fab_put put = {14, 1, 51};
static const struct fab_puts keys = {.of = {&put, 1, 1}};
static const struct fab_fence_chosen bruck = {FAB_FENCE_BRUCK, 0};

static void set(enum fab_launch_constant constant, double value)
{
	params.of[constant].value = value;
}

/* One node a 100 MB/s, 10 MB of files, each found at once, no skew, no hardware. */
static struct fab_launch_start start_of(uint32_t n_nodes, uint32_t ppn)
{
	fab_launch_params_init(&params);
	set(FAB_CONST_skew_ms, 0);
	set(FAB_CONST_image_MB, 10);
	set(FAB_CONST_node_MBps, 100);
	set(FAB_CONST_fs_MBps, 1000);
	set(FAB_CONST_files, 10);
	set(FAB_CONST_fs_ops, 1000);
	set(FAB_CONST_lookups, 0);
	set(FAB_CONST_open_us, 0);
	set(FAB_CONST_discover_ms, 0);
	set(FAB_CONST_tree_width, 2);
	set(FAB_CONST_fanout, 2);
	return (struct fab_launch_start){.n_nodes = n_nodes,
					 .ppn = ppn,
					 .interface = FAB_PMIX,
					 .keys = &keys,
					 .layout = {FAB_SIZE_LIBRARY, 10},
					 .fence = {FAB_FENCE_RING, 0},
					 .degree = 2,
					 .params = &params};
}

static double total(const struct fab_launch_start *s)
{
	double out;

	MUST(fab_stages_total_s(s, &out, ERR));
	return out;
}

static struct fab_stages stages_of(const struct fab_launch_start *s)
{
	struct fab_stages x;

	MUST(fab_stages_run(&memory, s, &x, ERR));
	return x;
}

/* The same but for rounding. */
#define NEAR(is, should_be) cr_expect_float_eq(is, should_be, 1e-12)

Test(launch_stages, one_node_is_the_sum_of_its_phases)
{
	struct fab_launch_start s = start_of(1, 4);
	/* files: 40 opens at 1000 a second, 10 MB at 100 MB/s */
	double expected = 0.05 + 0.1 + 0.01 + (40 / 1000.0 + 0.1) +
			  (0.23e-3 + 4 * 12.3e-6) + 4e-3 + 9.25e-3 + 89e-6 +
			  264e-9 /* unpacking its own */ +
			  2 * 4 * 23e-6 /* fence, barrier */ +
			  (30e-3 + (2 * 2 * 6 + 2 * 100) * 1e-6);

	NEAR(total(&s), expected);
}

/* PMI-1: every request of every process one after the other. */
Test(launch_stages, pmi1_is_serial)
{
	struct fab_launch_start s = start_of(1, 4);
	double expected = 0.05 + 0.1 + 0.01 + (40 / 1000.0 + 0.1) + 4e-3 +
			  (3 + 1 + 2 * 2 + 2) * 4 * 43.5e-6 + 4 * (14 + 2 + 102) * 1e-9 +
			  30e-3 + 2 * 100e-6;

	s.interface = FAB_PMI1;
	NEAR(total(&s), expected);
}

/* A barrier needs a message of every process, whatever the interface. */
Test(launch_stages, fences_cost_the_daemon_work_per_process)
{
	static const double each_s[] = {
		[FAB_PMI1] = 43.5e-6, [FAB_PMI2] = 10.4e-6, [FAB_PMIX] = 23e-6};

	for (enum fab_launch_interface i = FAB_PMI1; i <= FAB_PMIX; i++) {
		double before_s = 0;

		for (uint32_t ppn = 1; ppn <= 128; ppn *= 2) {
			struct fab_launch_start s = start_of(50, ppn);
			const struct fab_stage *barrier, *exchange;
			struct fab_stages x;
			double length_s;

			s.interface = i;
			x = stages_of(&s);
			barrier = &x.phase[FAB_PHASE_BARRIER];
			exchange = &x.phase[FAB_PHASE_EXCHANGE];
			length_s = barrier->last_end_s - barrier->first_start_s;
			if (ppn > 1)
				NEAR(length_s - before_s, ppn / 2 * each_s[i]);
			before_s = length_s;
			cr_expect_gt(exchange->last_end_s - exchange->first_start_s,
				     ppn * each_s[i] + x.fence_us / 1e6);
		}
	}
}

static double files_of(struct fab_launch_start *s, uint32_t node)
{
	double times[40];

	MUST(fab_stage_in_times(s, times, ERR));
	return times[node];
}

Test(launch_stages, files_by_max_min)
{
	struct fab_launch_start s = start_of(40, 8);

	/* 40 nodes of 100 MB/s share 1000 MB/s: 25 each; 3200 opens */
	cr_expect_float_eq(files_of(&s, 0), 3.2 + 0.4, 1e-6);
	s.stage_in = FAB_STAGE_CACHE;
	cr_expect_float_eq(files_of(&s, 39), 0.4 + 0.4, 1e-6);
	/* one reads in 0.1 s, two at a time share its 100 MB/s: 0.2 s a level */
	s.stage_in = FAB_STAGE_TREE;
	cr_expect_float_eq(files_of(&s, 0), 0.01 + 0.1, 1e-6);
	cr_expect_float_eq(files_of(&s, 2), 0.01 + 0.1 + 0.2, 1e-6);
	cr_expect_float_eq(files_of(&s, 39), 0.01 + 0.1 + 5 * 0.2, 1e-6);
	/* a cable, not the file system, is the limit of few */
	s = start_of(4, 8);
	s.stage_in = FAB_STAGE_CACHE;
	cr_expect_float_eq(files_of(&s, 3), 0.04 + 0.1, 1e-6);
}

/* Files are looked for in vain first; a process opens one at a time. */
Test(launch_stages, opens_of_a_search_path)
{
	struct fab_launch_start s = start_of(4, 8);

	set(FAB_CONST_lookups, 2);
	cr_expect_float_eq(files_of(&s, 0), 3 * 0.32 + 0.1, 1e-6);
	set(FAB_CONST_open_us, 1e3);
	cr_expect_float_eq(files_of(&s, 0), 3 * 0.32 + 0.1, 1e-6);
	set(FAB_CONST_open_us, 1e5);
	cr_expect_float_eq(files_of(&s, 0), 30 * 0.1 + 0.1, 1e-6);
}

/* Processes of a node find its hardware one after the other, or once for all. */
Test(launch_stages, hardware_is_found_by_each_process)
{
	for (enum fab_launch_interface i = FAB_PMI1; i <= FAB_PMIX; i++) {
		struct fab_launch_start s = start_of(3, 64);
		double without_s;

		s.interface = i;
		without_s = total(&s);
		set(FAB_CONST_discover_ms, 70);
		NEAR(total(&s), without_s + 64 * 0.07);
		s.does = FAB_DOES_TOPOLOGY;
		NEAR(total(&s), without_s + 0.07);
	}
}

/* A cache is a step of its own: submitted, allocated, started by the tree of daemons. */
Test(launch_stages, cache_is_started_first)
{
	struct fab_launch_start s = start_of(7, 1);
	double storm_s = total(&s);

	s.stage_in = FAB_STAGE_CACHE; /* of one process the opens are the same */
	NEAR(total(&s), storm_s + 0.05 + 0.1 + 3 * 0.01);
}

Test(launch_stages, depth_of_a_tree)
{
	for (uint32_t width = 1; width < 5; width++)
		for (uint32_t i = 1; i < 100; i++)
			cr_assert_eq(fab_launch_depth(i, width),
				     fab_launch_depth((i - 1) / width, width) + 1);
	cr_expect_eq(fab_launch_depth(0, 3), 0);
}

/* Stretches follow each other, from 0 to the end, and none ends later than its phase. */
Test(launch_stages, the_critical_path_has_no_gap)
{
	for (enum fab_launch_interface a = FAB_PMI1; a <= FAB_PMIX; a++)
		for (enum fab_launch_wireup b = 0; b <= FAB_WIREUP_INSTANT; b++) {
			struct fab_launch_start s = start_of(57, 3);
			struct fab_stages x;

			if (!fab_launch_knows(a, b))
				continue;
			set(FAB_CONST_skew_ms, 25);
			s.interface = a;
			s.wireup = b;
			s.stage_in = FAB_STAGE_TREE;
			x = stages_of(&s);
			NEAR(x.critical[0].start_s, 0);
			NEAR(x.critical[x.n_critical - 1].end_s, x.total_s);
			for (size_t i = 1; i < x.n_critical; i++)
				cr_expect_float_eq(x.critical[i].start_s,
						   x.critical[i - 1].end_s, 1e-12,
						   "%d %d: %s", a, b,
						   fab_phase_name(x.critical[i].phase));
		}
}

static double later_of(double a, double b, double c)
{
	return fmax(a, fmax(b, c));
}

/* Who asks directly waits for the keys of both neighbours; the path goes over the later
 * one, also around the end. */
Test(launch_stages, direct_waits_for_its_neighbours)
{
	static const uint32_t sizes[] = {1, 2, 3, 7};
	uint32_t n_others = 0;

	for (uint64_t seed = 0; seed < 200 / TEST_SHARE; seed++)
		for (size_t k = 0; k < FAB_COUNT(sizes); k++) {
			uint32_t n = sizes[k];
			struct fab_launch_start s = start_of(n, 3);
			struct fab_stages x;
			const double *ready, *start;

			set(FAB_CONST_skew_ms, 25);
			s.seed = seed;
			s.stage_in = FAB_STAGE_TREE;
			s.wireup =
				seed % 2 ? FAB_WIREUP_DIRECT : FAB_WIREUP_DIRECT_BARRIER;
			x = stages_of(&s);
			ready = x.phase[FAB_PHASE_PUT].end_s;
			start = x.phase[FAB_PHASE_CHANNELS].start_s;
			for (uint32_t i = 0; i < n; i++)
				cr_assert_eq(start[i],
					     later_of(ready[i], ready[(i + 1) % n],
						      ready[(i + n - 1) % n]));
			for (size_t i = 1; i < x.n_critical; i++) {
				cr_assert_float_eq(x.critical[i].start_s,
						   x.critical[i - 1].end_s, 1e-12,
						   "seed %llu, %u nodes: %s",
						   (unsigned long long)seed, n,
						   fab_phase_name(x.critical[i].phase));
				n_others += x.critical[i].phase == FAB_PHASE_CHANNELS &&
					    x.critical[i].node != x.critical[i - 1].node;
			}
		}
	cr_assert_gt(n_others, 100 / TEST_SHARE);
}

/* No answer comes sooner than its server has it. */
Test(launch_stages, a_get_takes_no_less_than_its_server)
{
	struct fab_launch_start s = start_of(4, 2);
	double slow, fast;

	s.wireup = FAB_WIREUP_DIRECT;
	set(FAB_CONST_serve_us, 1000);
	set(FAB_CONST_get_remote_us, 1000);
	slow = total(&s);
	set(FAB_CONST_get_remote_us, 1);
	fast = total(&s);
	cr_assert_eq(fast, slow);
}

Test(launch_stages, wireups_leave_out_what_they_should)
{
	struct fab_launch_start s = start_of(57, 3);
	double full = total(&s), background, direct, barrier, instant;

	s.wireup = FAB_WIREUP_BACKGROUND;
	background = total(&s);
	s.wireup = FAB_WIREUP_DIRECT;
	direct = total(&s);
	s.wireup = FAB_WIREUP_DIRECT_BARRIER;
	barrier = total(&s);
	s.wireup = FAB_WIREUP_INSTANT;
	instant = total(&s);
	/* the exchange (ring of 57, less than the adapter's 30 ms) and the barrier */
	cr_expect_lt(background, full);
	cr_expect_gt(barrier, direct);
	cr_expect_lt(instant, direct);
	cr_expect_lt(instant, background);
}

/* With nothing else in the way, the exchange is hidden up to the adapter's time. */
Test(launch_stages, background_hides_the_adapter)
{
	struct fab_launch_start s = start_of(8, 1);
	struct fab_stages x, y;

	x = stages_of(&s);
	s.wireup = FAB_WIREUP_BACKGROUND;
	y = stages_of(&s);
	NEAR(x.total_s - y.total_s,
	     (x.fence_us + x.barrier_us + 2 * 23) * 1e-6 + 8 * (double)x.bytes * 1e-9);
}

Test(launch_stages, a_goal_is_met_by_what_it_asks_for)
{
	struct fab_launch_start s = start_of(100, 16);
	struct fab_launch_goal goal;

	/* 16 000 opens at 1000 a second: 16 s whatever the rate */
	MUST(fab_launch_goal_find(&s, 10, &goal, ERR));
	cr_expect_not(goal.is_met);
	cr_expect(isnan(goal.fs_MBps));
	cr_expect_not(isnan(goal.fs_ops));
	set(FAB_CONST_fs_ops, goal.fs_ops);
	cr_expect_float_eq(total(&s), 10, 1e-3);
	MUST(fab_launch_goal_find(&s, 10.5, &goal, ERR));
	cr_expect(goal.is_met);
	set(FAB_CONST_fs_MBps, goal.fs_MBps);
	cr_expect_float_eq(total(&s), 10.5, 1e-3);
	MUST(fab_launch_goal_find(&s, 0.01, &goal, ERR));
	cr_expect(isnan(goal.fs_MBps) && isnan(goal.fs_ops));
}

static struct fab_improvement improvement(const struct fab_launch_start *s,
					  const char *name)
{
	struct fab_improvement all[FAB_N_IMPROVEMENTS];
	size_t i = 0;

	MUST(fab_launch_improve(s, bruck, all, ERR));
	while (i < FAB_N_IMPROVEMENTS - 1 && strcmp(all[i].name, name) != 0)
		i++;
	cr_assert_str_eq(all[i].name, name);
	return all[i];
}

Test(launch_stages, improvements_are_one_at_a_time)
{
	struct fab_launch_start s = start_of(64, 8), t;
	struct fab_improvement worth[FAB_N_IMPROVEMENTS];

	s.has_socket_store = true;
	s.layout.opts = 0;
	MUST(fab_launch_improve(&s, bruck, worth, ERR));
	for (size_t i = 0; i < FAB_N_IMPROVEMENTS; i++) {
		NEAR(worth[i].saved_s, total(&s) - worth[i].total_s);
		cr_expect(worth[i].applies ||
				  (worth[i].saved_s >= 0 && worth[i].saved_s <= 0),
			  "%s", worth[i].name);
	}
	t = s;
	t.fence.algorithm = FAB_FENCE_BRUCK;
	NEAR(improvement(&s, "fence").total_s, total(&t));
	cr_expect_gt(improvement(&s, "fence").saved_s, 0);
	cr_expect_not(improvement(&s, "pmi2").applies); /* PMIx already */
	/* another width is another fence */
	s.fence = (struct fab_fence_chosen){FAB_FENCE_TREE, 2};
	t = s;
	t.fence.width = 16;
	MUST(fab_launch_improve(&s, t.fence, worth, ERR));
	for (size_t i = 0; i < FAB_N_IMPROVEMENTS; i++)
		if (!strcmp(worth[i].name, "fence")) {
			cr_expect(worth[i].applies);
			NEAR(worth[i].total_s, total(&t));
		}
	cr_assert_neq(total(&s), total(&t));
}

static double total_with(struct fab_launch_start s, const struct fab_launch_settings *is)
{
	double width = params.of[FAB_CONST_tree_width].value;
	double fanout = params.of[FAB_CONST_fanout].value, out;

	set(FAB_CONST_tree_width, is->of[FAB_SETTING_TREE_WIDTH]);
	set(FAB_CONST_fanout, is->of[FAB_SETTING_FANOUT]);
	s.stage_in = is->of[FAB_SETTING_STAGE_IN];
	s.wireup = is->of[FAB_SETTING_WIREUP];
	s.does |= is->of[FAB_SETTING_TOPOLOGY] ? FAB_DOES_TOPOLOGY : 0;
	s.fence = (struct fab_fence_chosen){is->of[FAB_SETTING_FENCE], 0};
	if (s.fence.algorithm == FAB_FENCE_TREE)
		s.fence.width = is->of[FAB_SETTING_TREE_WIDTH];
	out = total(&s);
	set(FAB_CONST_tree_width, width);
	set(FAB_CONST_fanout, fanout);
	return out;
}

enum { N_COMBINATIONS = 3 * 4 * 2 * 4 * 3 };

static struct fab_launch_settings combination(uint32_t i)
{
	static const uint32_t n[] = {3, 4, 2, 4, 3};
	static const uint32_t values[FAB_N_SEARCHED][4] = {
		[FAB_SETTING_STAGE_IN] = {FAB_STAGE_STORM, FAB_STAGE_TREE,
					  FAB_STAGE_CACHE},
		[FAB_SETTING_FANOUT] = {7, 2, 4, 8},
		[FAB_SETTING_TOPOLOGY] = {0, 1},
		[FAB_SETTING_WIREUP] = {FAB_WIREUP_FULL, FAB_WIREUP_BACKGROUND,
					FAB_WIREUP_DIRECT, FAB_WIREUP_DIRECT_BARRIER},
		[FAB_SETTING_FENCE] = {FAB_FENCE_SLURM_AUTO, FAB_FENCE_RING,
				       FAB_FENCE_TREE}};
	struct fab_launch_settings is = {.of = {[FAB_SETTING_TREE_WIDTH] = 3}};

	for (unsigned k = 0; k < FAB_N_SEARCHED; k++, i /= n[k - 1])
		is.of[k] = values[k][i % n[k]];
	return is;
}

/* Saving of one over the other at both limits of an assumed constant. */
static void at_limits(struct fab_launch_start s, const struct fab_launch_settings *now,
		      const struct fab_launch_settings *then, size_t constant,
		      double saved[2], double share[2])
{
	struct fab_launch_value *v = &params.of[constant], was = *v;

	for (size_t i = 0; i < 2; i++) {
		double before;

		if (v->origin == FAB_ASSUMED && was.low < was.high)
			v->value = i ? was.high : was.low;
		before = total_with(s, now);
		saved[i] = before - total_with(s, then);
		share[i] = saved[i] / before;
	}
	*v = was;
}

/* A row against both limits of every constant. */
static void check_row(struct fab_launch_start s, const struct fab_launch_settings *from,
		      const struct fab_launch_advice_row *row)
{
	double least = row->saved_s, most = row->saved_s, least_share = INFINITY;

	NEAR(total_with(s, from) - total_with(s, &row->is), row->saved_s);
	cr_expect_eq(total_with(s, &row->is), row->total_s);
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++) {
		double saved[2], share[2];

		at_limits(s, from, &row->is, i, saved, share);
		least = fmin(least, fmin(saved[0], saved[1]));
		most = fmax(most, fmax(saved[0], saved[1]));
		least_share = fmin(least_share, fmin(share[0], share[1]));
	}
	NEAR(row->saved_low_s, least);
	NEAR(row->saved_high_s, most);
	cr_expect_str_eq(row->verdict, least < 0 ? "depends" : "yes");
	if (!strcmp(row->scope, "cluster"))
		cr_expect_geq(least_share, 0.05);
}

/* The rows of advice, each on top of those before it; returns the end of them. */
static double check_rows(struct fab_launch_start s, const struct fab_launch_advice *x)
{
	struct fab_launch_settings at = x->now.is, before = at;
	double total_s = x->now.total_s;
	bool is_cluster = false, overlap = false;

	for (size_t i = 0; i < x->n_rows; i++) {
		const struct fab_launch_advice_row *row = &x->rows[i];
		bool of_cluster = !strcmp(row->scope, "cluster");

		cr_assert(of_cluster >= is_cluster); /* those of the job come first */
		is_cluster |= of_cluster;
		cr_expect_geq(row->saved_s, 0.05 * x->now.total_s);
		overlap |= row->saved_low_s < 0;
		for (size_t k = 0; k < i; k++)
			overlap |= row->saved_low_s < x->rows[k].saved_high_s &&
				   x->rows[k].saved_low_s < row->saved_high_s;
		check_row(s, row->is_alternative ? &before : &at, row);
		if (row->is_alternative) {
			cr_expect_neq(row->is.of[FAB_SETTING_STAGE_IN],
				      x->rows[i - 1].is.of[FAB_SETTING_STAGE_IN]);
			continue;
		}
		before = at;
		at = row->is;
		total_s -= row->saved_s;
	}
	cr_expect_eq(x->is_open, overlap);
	NEAR(total_s, x->then.total_s);
	return total_s;
}

/* Every row saves 5 %, none is left that does, and no combination of the job's settings
 * is much better than the rows; constants are as before. */
Test(launch_stages, changes_add_up)
{
	uint32_t n_several = 0, n_alternatives = 0, n_widths = 0;

	for (uint32_t n = 2; n < (TEST_SHARE > 1 ? 100 : 400); n = n * 3 + 1)
		for (uint32_t kind = 0; kind < 5; kind++) {
			struct fab_launch_start s = start_of(n, n % 5 ? 2 : 48);
			struct fab_launch_advice_input in = {.params = &params,
							     .memory = &memory};
			struct fab_launch_advice x;
			double best = INFINITY;

			s.fence = (struct fab_fence_chosen){FAB_FENCE_SLURM_AUTO, 0};
			s.stage_in = kind == 3 ? FAB_STAGE_TREE : FAB_STAGE_STORM;
			set(FAB_CONST_tree_width, 3);
			set(FAB_CONST_fanout, 7);
			set(FAB_CONST_fs_ops, n % 2 ? 1e9 : 100);
			if (kind == 1) { /* levels of daemons are all that takes time */
				for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++)
					params.of[i].origin = FAB_MEASURED;
				set(FAB_CONST_daemon_ms, 1e4);
			}
			if (kind ==
			    4) { /* and perhaps the queue, beside which it is little */
				set(FAB_CONST_daemon_ms, 1e4);
				params.of[FAB_CONST_daemon_ms].origin = FAB_MEASURED;
				params.of[FAB_CONST_submit_ms].high = 1e9;
			}
			if (kind == 2) { /* fences are, and the hardware */
				set(FAB_CONST_daemon_us, 1e4);
				set(FAB_CONST_discover_ms, 100);
			}
			in.start = s;
			MUST(fab_launch_advise(&in, &x, ERR));
			cr_expect_eq(FAB_PARAM(&params, tree_width), 3);
			cr_expect_eq(FAB_PARAM(&params, fanout), 7);
			cr_expect_eq(x.now.total_s, total(&s));
			check_rows(s, &x);
			for (uint32_t i = 0; i < N_COMBINATIONS;
			     i += (TEST_SHARE > 1 ? 7 : 1)) {
				struct fab_launch_settings is = combination(i), at;
				unsigned n_other = 0;

				at = x.then.is;
				is.of[FAB_SETTING_TREE_WIDTH] =
					at.of[FAB_SETTING_TREE_WIDTH];
				best = fmin(best, total_with(s, &is));
				for (unsigned k = 0; k < FAB_N_SEARCHED; k++)
					n_other += is.of[k] != at.of[k];
				if (n_other <= 1 && x.rows[0].total_s > 0 &&
				    at.of[FAB_SETTING_TREE_WIDTH] == 3)
					cr_expect_geq(total_with(s, &is),
						      x.then.total_s -
							      0.05 * x.now.total_s);
			}
			cr_expect_leq(x.then.total_s, best + 0.09 * x.now.total_s);
			if (kind != 3)
				cr_expect_eq(x.then.is.of[FAB_SETTING_FANOUT] == 7 ||
						     x.then.is.of[FAB_SETTING_STAGE_IN] ==
							     FAB_STAGE_TREE,
					     true);
			for (size_t i = 0; i < x.n_rows; i++) {
				n_alternatives += x.rows[i].is_alternative;
				n_widths += !strcmp(x.rows[i].scope, "cluster");
				if (kind == 4)
					cr_expect_str_eq(x.rows[i].scope, "job");
			}
			n_several += x.n_rows > 1;
		}
	cr_expect_gt(n_several, 1);
	cr_expect_gt(n_alternatives, 0);
	cr_expect_gt(n_widths, 0);
}

/* A tenth of a second for any fence. */
static double fence_of_tenth(void *context, struct fab_fence_chosen fence, uint64_t bytes,
			     struct fab_err *err)
{
	(void)context;
	(void)fence;
	(void)bytes;
	(void)err;
	return 1e5;
}

/* The constants to measure next are those with the widest ranges. */
Test(launch_stages, constants_to_measure_next)
{
	struct fab_launch_start s = start_of(8, 16);
	struct fab_launch_advice_input in = {.params = &params, .memory = &memory};
	bool uses[FAB_N_LAUNCH_CONSTANTS] = {false};
	struct fab_launch_advice x;

	s.fence = (struct fab_fence_chosen){FAB_FENCE_SLURM_AUTO, 0};
	s.timer.us = fence_of_tenth;
	in.start = s;
	in.uses = uses;
	uses[FAB_CONST_files] = uses[FAB_CONST_fs_ops] = true;
	params.of[FAB_CONST_fs_ops].low = 900;
	params.of[FAB_CONST_fs_ops].high = 1100;
	params.of[FAB_CONST_files].low = 5;
	params.of[FAB_CONST_files].high = 20;
	MUST(fab_launch_advise(&in, &x, ERR));
	cr_assert_gt(x.n_rows, 0);
	cr_expect_str_eq(x.rows[0].setting, "pre-staging");
	cr_expect_eq(x.n_measure, 2);
	cr_expect_eq(x.measure[0], FAB_CONST_files);
	cr_expect_eq(x.measure[1], FAB_CONST_fs_ops);
}

/* A figure over a constant: seconds per unit, by two of them. */
static int figure(void *context, const struct fab_launch_params *p, double *out,
		  struct fab_err *err)
{
	(void)context;
	(void)err;
	*out = 100 / FAB_PARAM(p, fs_ops) + FAB_PARAM(p, submit_ms);
	return 0;
}

Test(launch_stages, ranges)
{
	struct fab_launch_params p;
	struct fab_launch_range range;
	bool uses[FAB_N_LAUNCH_CONSTANTS] = {false};

	fab_launch_params_init(&p);
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++)
		p.of[i].origin = FAB_MEASURED;
	MUST(fab_launch_range_find(&p, NULL, 7, figure, NULL, &range, ERR));
	cr_expect_eq(range.by, FAB_N_LAUNCH_CONSTANTS);
	cr_expect(range.low != range.low && range.least == 7 && range.most == 7);
	cr_expect_eq(range.width[FAB_CONST_fs_ops], 0);
	p.of[FAB_CONST_fs_ops] = (struct fab_launch_value){
		.value = 10, .low = 1, .high = 100, .origin = FAB_ASSUMED};
	p.of[FAB_CONST_submit_ms] = (struct fab_launch_value){
		.value = 5, .low = 1, .high = 6, .origin = FAB_ASSUMED};
	MUST(fab_launch_range_find(&p, NULL, 20, figure, NULL, &range, ERR));
	cr_expect_eq(range.by, FAB_CONST_fs_ops);
	/* the figure is 15, at the limits 105 and 6; 11 and 16 by the other */
	NEAR(range.low, 11);
	NEAR(range.high, 110);
	NEAR(range.least, 11);
	NEAR(range.width[FAB_CONST_submit_ms], 5);
	NEAR(range.width[FAB_CONST_fs_ops], 99);
	/* without limits by the spread */
	p.of[FAB_CONST_fs_ops].low = p.of[FAB_CONST_fs_ops].high = 0;
	p.of[FAB_CONST_fs_ops].spread = 6;
	MUST(fab_launch_range_find(&p, NULL, 15, figure, NULL, &range, ERR));
	cr_expect_eq(range.by, FAB_CONST_fs_ops);
	NEAR(range.low, 11.25);
	NEAR(range.high, 30);
	uses[FAB_CONST_submit_ms] = true;
	MUST(fab_launch_range_find(&p, uses, 15, figure, NULL, &range, ERR));
	cr_expect_eq(range.by, FAB_CONST_submit_ms);
	NEAR(range.low, 11);
	NEAR(range.most, 16);
}

Test(launch_stages, respawn_is_of_new_processes_only)
{
	struct fab_launch_start s = start_of(1, 2);
	struct fab_stages x;

	s.interface = FAB_PMI2;
	s.stage_in = FAB_STAGE_NONE;
	s.is_respawn = true;
	s.all_nodes = 64;
	x = stages_of(&s);
	cr_expect_not(x.phase[FAB_PHASE_SUBMIT].is_there);
	cr_expect_not(x.phase[FAB_PHASE_STAGE_IN].is_there);
	cr_expect(x.phase[FAB_PHASE_FORK].is_there);
	/* the barrier is of all nodes */
	cr_expect_gt(x.barrier_us, 0);
}

Test(launch_stages, what_cannot_be)
{
	struct fab_launch_start s = start_of(4, 2);
	double out;

	s.interface = FAB_PMI1;
	s.wireup = FAB_WIREUP_DIRECT;
	cr_expect_eq(fab_stages_total_s(&s, &out, ERR), -EINVAL);
	cr_expect(strstr(test_err.text, "only full") != NULL);
	s = start_of(0, 2);
	cr_expect_eq(fab_stages_total_s(&s, &out, ERR), -EINVAL);
	s = start_of(2, 0);
	cr_expect_eq(fab_stages_total_s(&s, &out, ERR), -EINVAL);
}

/* Improvements of PMIx change starts by PMIx, and only what they are about. */
Test(launch_stages, improvements_of_pmix_are_for_pmix)
{
	static const char *const names[] = {"sizes",	  "shared-store", "fence",
					    "background", "direct",	  "instant"};

	for (int i = FAB_PMI1; i <= FAB_PMIX; i++) {
		struct fab_launch_start s = start_of(64, 8);

		s.interface = (enum fab_launch_interface)i;
		s.layout.opts = 0;
		s.has_socket_store = true;
		for (size_t k = 0; k < FAB_COUNT(names); k++) {
			struct fab_improvement x = improvement(&s, names[k]);

			cr_expect_eq(x.applies, i == FAB_PMIX, "%s of %d", names[k], i);
			if (i != FAB_PMIX)
				cr_expect_float_eq(x.saved_s, 0, 0);
		}
		cr_expect_eq(improvement(&s, "pmi2").applies, i == FAB_PMI1);
		cr_expect_eq(improvement(&s, "pmix").applies, i != FAB_PMIX);
		if (i == FAB_PMIX) {
			cr_expect_gt(improvement(&s, "sizes").saved_s, 0);
			cr_expect_gt(improvement(&s, "shared-store").saved_s, 0);
			cr_expect_gt(improvement(&s, "fence").saved_s, 0);
		}
	}
}

/* Each improvement of the exchange alone, on keys of an address and four values. */
Test(launch_stages, improvements_of_the_exchange)
{
	struct fab_put both[] = {{14, 1, 51}, {9, 4, 8}};
	struct fab_puts all = {.of = {both, 2, 2}}, address = {.of = {both, 1, 2}};
	struct fab_puts values = {.of = {both + 1, 1, 1}};
	struct fab_launch_start s = start_of(64, 8), x;
	struct fab_stages stages;
	double gets_s;

	s.keys = &all;
	x = s;
	x.keys = &address;
	s.does = FAB_DOES_MANAGER_DATA;
	cr_expect_eq(fab_launch_bytes(&s), fab_launch_bytes(&x));
	NEAR(total(&s), total(&x));
	s.does = FAB_DOES_STATIC_PORTS;
	x.keys = &values;
	cr_expect_eq(fab_launch_bytes(&s), fab_launch_bytes(&x));
	NEAR(total(&s), total(&x));
	/* node-local keys are put all the same */
	s.does = FAB_DOES_SCOPES;
	both[1].scope = FAB_SCOPE_NODE;
	x.keys = &all;
	NEAR(total(&s), total(&x));
	both[1].scope = FAB_SCOPE_GLOBAL;
	/* one Get for each further key that is needed, not one of each of two peers */
	x = s;
	s.does = FAB_DOES_MANAGER_DATA;
	x.does = FAB_DOES_PREDEFINED;
	NEAR(total(&s) - total(&x), 6e-6);
	/* all Gets run while the adapter is opened: 4 of 6 us */
	s.does = 0;
	x.does = FAB_DOES_NONBLOCKING;
	NEAR(total(&s) - total(&x), 4 * 6e-6);
	set(FAB_CONST_nic_init_ms, 0);
	gets_s = total(&s) - total(&x);
	cr_expect_eq(gets_s, 0);
	/* nothing is left to exchange; the barrier stays */
	s.does = FAB_DOES_MANAGER_DATA | FAB_DOES_STATIC_PORTS;
	stages = stages_of(&s);
	cr_expect_eq(stages.bytes, 0);
	cr_expect_not(stages.phase[FAB_PHASE_EXCHANGE].is_there);
	cr_expect(stages.phase[FAB_PHASE_BARRIER].is_there);
	/* PMI-1: strings; the node level is put by one process of a node */
	s.does = 0;
	s.interface = FAB_PMI1;
	x = s;
	x.does = FAB_DOES_MANAGER_DATA;
	cr_expect_eq(fab_launch_bytes(&s) - fab_launch_bytes(&x), 4 * (9 + 2 + 16) * 8);
	both[1].scope = FAB_SCOPE_NODE_LEVEL;
	NEAR(total(&s) - total(&x), 4 * 43.5e-6);
}

/* Direct requests all at once: the busiest server decides. */
Test(launch_stages, direct_requests_at_once)
{
	struct fab_launch_start s = start_of(64, 8), x;

	s.degree = 20;
	s.wireup = FAB_WIREUP_DIRECT;
	x = s;
	x.does = FAB_DOES_NONBLOCKING;
	cr_expect_lt(total(&x), total(&s));
	s.does = FAB_DOES_STATIC_PORTS; /* nothing is requested of other nodes */
	x.does |= FAB_DOES_STATIC_PORTS;
	NEAR(total(&s) - total(&x), 2 * 20 * 6e-6);
}

static struct fab_mechanism mechanism(const struct fab_mechanisms *m, const char *topic,
				      const char *name)
{
	for (size_t i = 0; i < m->rows.n; i++)
		if (!strcmp(m->rows.v[i].topic, topic) &&
		    !strcmp(m->rows.v[i].name, name))
			return m->rows.v[i];
	cr_assert(false, "%s %s", topic, name);
	return m->rows.v[0];
}

/* Rows are the starts that they name; managers by their trees. */
Test(launch_stages, mechanisms)
{
	static const struct fab_detector d = {
		.n = 64, .period_us = 1e6, .timeout_us = 1e7, .message_us = 3.5};
	double mpd_s = 0;

	for (uint32_t n = 64; n <= 256; n *= 2) {
		struct fab_launch_start s = start_of(n, 8), x;
		struct fab_mechanisms m = {0};

		s.fence = (struct fab_fence_chosen){FAB_FENCE_SLURM_AUTO, 0};
		set(FAB_CONST_tree_width, 16);
		MUST(fab_launch_mechanisms(&memory, &s, &d, &m, ERR));
		NEAR(mechanism(&m, "exchange", "pmix").seconds, total(&s));
		NEAR(mechanism(&m, "exchange", "direct").seconds,
		     total(&s) - improvement(&s, "direct").saved_s);
		cr_expect_lt(mechanism(&m, "exchange", "direct").memory_bytes,
			     mechanism(&m, "exchange", "pmix").memory_bytes);
		cr_expect_gt(mechanism(&m, "encoding", "none").bytes,
			     mechanism(&m, "encoding", "all").bytes);
		NEAR(mechanism(&m, "store", "2n").memory_bytes, 2 * 8 * 64);
		NEAR(mechanism(&m, "detection", "1 s / 10 s").seconds, 10.0000035);
		x = s;
		x.fence = (struct fab_fence_chosen){FAB_FENCE_TREE, 16};
		NEAR(mechanism(&m, "manager", "slurm").seconds, total(&x));
		cr_expect(isnan(mechanism(&m, "manager", "gforker").seconds));
		/* a ring of daemons: 10 ms for each node */
		if (mpd_s > 0)
			cr_expect_gt(mechanism(&m, "manager", "mpd").seconds - mpd_s,
				     n / 2 * 10e-3 * 0.9);
		mpd_s = mechanism(&m, "manager", "mpd").seconds;
		cr_expect(strstr(mechanism(&m, "manager", "mpd").risk, "two failures") !=
			  NULL);
		/* root 0, 16 children, their children */
		cr_expect_str_eq(mechanism(&m, "manager", "slurm").risk,
				 "a failure cuts off up to 16 nodes");
	}
}
