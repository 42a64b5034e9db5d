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

Test(launch_stages, totals_by_hand)
{
	struct fab_launch_start s = start_of(8, 1);
	struct fab_stages x = stages_of(&s), y;
	double slow_s; /* before a change */

	/* in the background the exchange takes none of the adapter's time */
	s.wireup = FAB_WIREUP_BACKGROUND;
	y = stages_of(&s);
	NEAR(x.total_s - y.total_s,
	     (x.fence_us + x.barrier_us + 2 * 23) * 1e-6 + 8 * (double)x.bytes * 1e-9);
	/* no answer comes sooner than its server has it */
	s = start_of(4, 2);
	s.wireup = FAB_WIREUP_DIRECT;
	set(FAB_CONST_serve_us, 1000);
	set(FAB_CONST_get_remote_us, 1000);
	slow_s = total(&s);
	set(FAB_CONST_get_remote_us, 1);
	cr_assert_eq(total(&s), slow_s);
	/* by PMI-1 every request of every process comes one after the other; files: 40
	 * opens at 1000 a second, 10 MB at 100 MB/s */
	s = start_of(1, 4);
	s.interface = FAB_PMI1;
	NEAR(total(&s), 0.05 + 0.1 + 0.01 + (40 / 1000.0 + 0.1) + 4e-3 +
				(3 + 1 + 2 * 2 + 2) * 4 * 43.5e-6 +
				4 * (14 + 2 + 102) * 1e-9 + 30e-3 + 2 * 100e-6);
	/* processes of a node find its hardware one after the other, or once for all */
	s = start_of(3, 64);
	slow_s = total(&s);
	set(FAB_CONST_discover_ms, 70);
	NEAR(total(&s), slow_s + 64 * 0.07);
	s.does = FAB_DOES_TOPOLOGY;
	NEAR(total(&s), slow_s + 0.07);
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
	/* files are looked for in vain first; a process opens one at a time */
	s.stage_in = FAB_STAGE_STORM;
	set(FAB_CONST_lookups, 2);
	cr_expect_float_eq(files_of(&s, 0), 3 * 0.32 + 0.1, 1e-6);
	set(FAB_CONST_open_us, 1e3);
	cr_expect_float_eq(files_of(&s, 0), 3 * 0.32 + 0.1, 1e-6);
	set(FAB_CONST_open_us, 1e5);
	cr_expect_float_eq(files_of(&s, 0), 30 * 0.1 + 0.1, 1e-6);
}

/* The critical path has no gap, from 0 to the end. Who asks directly waits for the keys
 * of both neighbours; the path goes over the later one, also around the end. */
static uint32_t check_path(const struct fab_launch_start *s)
{
	const struct fab_stages x = stages_of(s);
	const double *ready = x.phase[FAB_PHASE_PUT].end_s;
	uint32_t n = s->n_nodes, n_others = 0;
	bool is_direct =
		s->wireup == FAB_WIREUP_DIRECT || s->wireup == FAB_WIREUP_DIRECT_BARRIER;

	NEAR(x.critical[0].start_s, 0);
	NEAR(x.critical[x.n_critical - 1].end_s, x.total_s);
	for (size_t i = 1; i < x.n_critical; i++) {
		cr_assert_float_eq(x.critical[i].start_s, x.critical[i - 1].end_s, 1e-12,
				   "%d %d, %u nodes: %s", s->interface, s->wireup, n,
				   fab_phase_name(x.critical[i].phase));
		n_others += x.critical[i].phase == FAB_PHASE_CHANNELS &&
			    x.critical[i].node != x.critical[i - 1].node;
	}
	for (uint32_t i = 0; is_direct && i < n; i++)
		cr_assert_eq(
			x.phase[FAB_PHASE_CHANNELS].start_s[i],
			fmax(ready[i], fmax(ready[(i + 1) % n], ready[(i + n - 1) % n])));
	return is_direct ? n_others : 0;
}

Test(launch_stages, critical_paths)
{
	static const uint32_t sizes[] = {1, 2, 3, 7, 57};
	uint32_t n_others = 0;

	for (enum fab_launch_interface a = FAB_PMI1; a <= FAB_PMIX; a++)
		for (enum fab_launch_wireup b = 0; b <= FAB_WIREUP_INSTANT; b++)
			for (uint64_t i = 0; i < 500 / TEST_SHARE; i++) {
				struct fab_launch_start s = start_of(sizes[i % 5], 3);

				if (!fab_launch_knows(a, b))
					continue;
				set(FAB_CONST_skew_ms, 25);
				s.interface = a;
				s.wireup = b;
				s.seed = i / 5;
				s.stage_in = FAB_STAGE_TREE;
				n_others += check_path(&s);
			}
	cr_assert_gt(n_others, 100 / TEST_SHARE);
}

Test(launch_stages, a_goal_is_met_by_what_it_asks_for)
{
	struct fab_launch_start s = start_of(100, 16);
	struct fab_launch_goal goal;

	/* 16 000 opens at 1000 a second: 16 s whatever the rate */
	MUST(fab_launch_goal_find(&s, 10, &goal, ERR));
	cr_expect(!goal.is_met && isnan(goal.fs_MBps) && !isnan(goal.fs_ops));
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
					  const char *name, struct fab_fence_chosen fence)
{
	struct fab_improvement all[FAB_N_IMPROVEMENTS];
	size_t i = 0;

	MUST(fab_launch_improve(s, fence, all, ERR));
	while (i < FAB_N_IMPROVEMENTS - 1 && strcmp(all[i].name, name) != 0)
		i++;
	cr_assert_str_eq(all[i].name, name);
	return all[i];
}

/* Each is one change of a start, and those of PMIx change starts by PMIx only; another
 * width is another fence. */
Test(launch_stages, improvements_are_one_at_a_time)
{
	static const char names[][16] = {"sizes", "shared-store", "background",
					 "instant"};
	static const struct fab_fence_chosen wide = {FAB_FENCE_TREE, 16};
	struct fab_launch_start s, t;

	for (enum fab_launch_interface i = FAB_PMI1; i <= FAB_PMIX; i++) {
		s = start_of(64, 8);
		s.interface = i;
		s.layout.opts = 0;
		s.has_socket_store = true;
		for (size_t k = 0; k < FAB_COUNT(names); k++) {
			struct fab_improvement x = improvement(&s, names[k], bruck);

			cr_expect_eq(x.applies, i == FAB_PMIX, "%s of %d", names[k], i);
			NEAR(x.saved_s, total(&s) - x.total_s);
			cr_expect(i == FAB_PMIX ? k > 1 || x.saved_s > 0
						: fabs(x.saved_s) <= 0);
		}
		cr_expect_eq(improvement(&s, "pmi2", bruck).applies, i == FAB_PMI1);
		cr_expect_eq(improvement(&s, "pmix", bruck).applies, i != FAB_PMIX);
	}
	s.fence = (struct fab_fence_chosen){FAB_FENCE_TREE, 2};
	t = s;
	t.fence = wide;
	cr_expect(improvement(&s, "fence", wide).applies);
	NEAR(improvement(&s, "fence", wide).total_s, total(&t));
	cr_assert_neq(total(&s), total(&t));
}

static double total_with(struct fab_launch_start s, const struct fab_launch_settings *is)
{
	struct fab_launch_params with = params;

	s.params = &with;
	with.of[FAB_CONST_tree_width].value = is->of[FAB_SETTING_TREE_WIDTH];
	with.of[FAB_CONST_fanout].value = is->of[FAB_SETTING_FANOUT];
	s.stage_in = is->of[FAB_SETTING_STAGE_IN];
	s.wireup = is->of[FAB_SETTING_WIREUP];
	s.does |= is->of[FAB_SETTING_TOPOLOGY] ? FAB_DOES_TOPOLOGY : 0;
	s.fence = (struct fab_fence_chosen){is->of[FAB_SETTING_FENCE], 0};
	if (s.fence.algorithm == FAB_FENCE_TREE)
		s.fence.width = is->of[FAB_SETTING_TREE_WIDTH];
	return total(&s);
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

/* A row against both limits of every constant. */
static void check_row(struct fab_launch_start s, const struct fab_launch_settings *from,
		      const struct fab_launch_advice_row *row)
{
	double least = row->saved_s, most = row->saved_s, least_share = INFINITY;

	NEAR(total_with(s, from) - total_with(s, &row->is), row->saved_s);
	cr_expect_eq(total_with(s, &row->is), row->total_s);
	for (size_t i = 0; i < 2 * (size_t)FAB_N_LAUNCH_CONSTANTS; i++) {
		struct fab_launch_value *v = &params.of[i / 2], was = *v;
		double before, saved;

		if (was.origin == FAB_ASSUMED && was.low < was.high)
			v->value = i % 2 ? was.high : was.low;
		before = total_with(s, from);
		saved = before - total_with(s, &row->is);
		*v = was;
		least = fmin(least, saved);
		most = fmax(most, saved);
		least_share = fmin(least_share, saved / before);
	}
	NEAR(row->saved_low_s, least);
	NEAR(row->saved_high_s, most);
	cr_expect_str_eq(row->verdict, least < 0 ? "depends" : "yes");
	if (!strcmp(row->scope, "cluster"))
		cr_expect_geq(least_share, 0.05);
}

/* The rows of advice, each on top of those before it. */
static void check_rows(struct fab_launch_start s, const struct fab_launch_advice *x)
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
}

/* Settings of the job one by one other than those of the advice, and any of them. */
static void check_others(struct fab_launch_start s, const struct fab_launch_advice *x)
{
	const struct fab_launch_settings *at = &x->then.is;
	double best = INFINITY;

	for (uint32_t i = 0; i < N_COMBINATIONS; i += (TEST_SHARE > 1 ? 7 : 1)) {
		struct fab_launch_settings is = combination(i);
		unsigned n_other = 0;

		is.of[FAB_SETTING_TREE_WIDTH] = at->of[FAB_SETTING_TREE_WIDTH];
		best = fmin(best, total_with(s, &is));
		for (unsigned k = 0; k < FAB_N_SEARCHED; k++)
			n_other += is.of[k] != at->of[k];
		if (n_other <= 1 && x->rows[0].total_s > 0 &&
		    at->of[FAB_SETTING_TREE_WIDTH] == 3)
			cr_expect_geq(total_with(s, &is),
				      x->then.total_s - 0.05 * x->now.total_s);
	}
	cr_expect_leq(x->then.total_s, best + 0.09 * x->now.total_s);
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

			s.fence.algorithm = FAB_FENCE_SLURM_AUTO;
			s.stage_in = kind == 3 ? FAB_STAGE_TREE : FAB_STAGE_STORM;
			set(FAB_CONST_tree_width, 3);
			set(FAB_CONST_fanout, 7);
			set(FAB_CONST_fs_ops, n % 2 ? 1e9 : 100);
			/* 1: levels of daemons are all that takes time; 4: perhaps the
			 * queue, too, beside which they take little; 2: fences are, and
			 * the hardware */
			for (size_t i = 0; kind == 1 && i < FAB_N_LAUNCH_CONSTANTS; i++)
				params.of[i].origin = FAB_MEASURED;
			if (kind == 1 || kind == 4) {
				set(FAB_CONST_daemon_ms, 1e4);
				params.of[FAB_CONST_daemon_ms].origin = FAB_MEASURED;
			}
			if (kind == 4)
				params.of[FAB_CONST_submit_ms].high = 1e9;
			if (kind == 2) {
				set(FAB_CONST_daemon_us, 1e4);
				set(FAB_CONST_discover_ms, 100);
			}
			in.start = s;
			MUST(fab_launch_advise(&in, &x, ERR));
			cr_expect_eq(FAB_PARAM(&params, tree_width), 3);
			cr_expect_eq(FAB_PARAM(&params, fanout), 7);
			cr_expect_eq(x.now.total_s, total(&s));
			check_rows(s, &x);
			check_others(s, &x);
			if (kind != 3)
				cr_expect(x.then.is.of[FAB_SETTING_FANOUT] == 7 ||
					  x.then.is.of[FAB_SETTING_STAGE_IN] ==
						  FAB_STAGE_TREE);
			for (size_t i = 0; i < x.n_rows; i++) {
				n_alternatives += x.rows[i].is_alternative;
				n_widths += !strcmp(x.rows[i].scope, "cluster");
				if (kind == 4)
					cr_expect_str_eq(x.rows[i].scope, "job");
			}
			n_several += x.n_rows > 1;
		}
	cr_expect(n_several > 1 && n_alternatives > 0 && n_widths > 0);
}

/* A tenth of a second for any fence. */
static double fence_of_tenth(void *context, struct fab_fence_chosen fence, uint64_t bytes,
			     struct fab_err *err)
{
	(void)context, (void)fence, (void)bytes, (void)err;
	return 1e5;
}

/* The constants to measure next are those with the widest ranges. */
Test(launch_stages, constants_to_measure_next)
{
	struct fab_launch_start s = start_of(8, 16);
	struct fab_launch_advice_input in = {.params = &params, .memory = &memory};
	bool uses[FAB_N_LAUNCH_CONSTANTS] = {false};
	struct fab_launch_advice x;

	s.fence.algorithm = FAB_FENCE_SLURM_AUTO;
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
	cr_expect(x.n_measure == 2 && x.measure[0] == FAB_CONST_files);
	cr_expect_eq(x.measure[1], FAB_CONST_fs_ops);
}

/* A figure over a constant: seconds per unit, by two of them. */
static int figure(void *context, const struct fab_launch_params *p, double *out,
		  struct fab_err *err)
{
	(void)context, (void)err;
	*out = 100 / FAB_PARAM(p, fs_ops) + FAB_PARAM(p, submit_ms);
	return 0;
}

/* The figure is 15, at the limits of its two constants 105 and 6, and 11 and 16. */
Test(launch_stages, ranges)
{
	static const struct {
		double low, high, spread, base; /* of fs_ops */
		bool only_submit;
		double range[2];
	} rows[] = {{1, 100, 0, 20, false, {11, 110}},
		    {0, 0, 6, 15, false, {11.25, 30}}, /* without limits by the spread */
		    {0, 0, 6, 15, true, {11, 16}}};
	static const bool submit[FAB_N_LAUNCH_CONSTANTS] = {[FAB_CONST_submit_ms] = true};
	struct fab_launch_params p;
	struct fab_launch_range range;

	fab_launch_params_init(&p);
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++)
		p.of[i].origin = FAB_MEASURED;
	MUST(fab_launch_range_find(&p, NULL, 7, figure, NULL, &range, ERR));
	cr_expect_eq(range.by, FAB_N_LAUNCH_CONSTANTS);
	cr_expect(isnan(range.low) && range.least == 7 && range.most == 7);
	p.of[FAB_CONST_submit_ms] = (struct fab_launch_value){
		.value = 5, .low = 1, .high = 6, .origin = FAB_ASSUMED};
	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		p.of[FAB_CONST_fs_ops] =
			(struct fab_launch_value){.value = 10,
						  .low = rows[i].low,
						  .high = rows[i].high,
						  .spread = rows[i].spread,
						  .origin = FAB_ASSUMED};
		MUST(fab_launch_range_find(&p, rows[i].only_submit ? submit : NULL,
					   rows[i].base, figure, NULL, &range, ERR));
		cr_expect_eq(range.by, rows[i].only_submit ? FAB_CONST_submit_ms
							   : FAB_CONST_fs_ops);
		NEAR(range.low, rows[i].range[0]);
		NEAR(range.high, rows[i].range[1]);
		NEAR(range.width[range.by], range.high - range.low);
	}
}

Test(launch_stages, respawns_and_what_cannot_be)
{
	struct fab_launch_start s = start_of(1, 2);
	struct fab_stages x;
	double out;

	s.interface = FAB_PMI2;
	s.stage_in = FAB_STAGE_NONE;
	s.is_respawn = true;
	s.all_nodes = 64;
	x = stages_of(&s);
	cr_expect_not(x.phase[FAB_PHASE_SUBMIT].is_there);
	cr_expect_not(x.phase[FAB_PHASE_STAGE_IN].is_there);
	cr_expect(x.phase[FAB_PHASE_FORK].is_there);
	cr_expect_gt(x.barrier_us, 0); /* of all nodes */
	s.wireup = FAB_WIREUP_DIRECT;
	FAILS(fab_stages_total_s(&s, &out, ERR), -EINVAL, "only full");
	s = start_of(0, 2);
	FAILS(fab_stages_total_s(&s, &out, ERR), -EINVAL, "");
	s = start_of(2, 0);
	FAILS(fab_stages_total_s(&s, &out, ERR), -EINVAL, "");
}

/* Each improvement of the exchange alone, on keys of an address and four values. */
Test(launch_stages, improvements_of_the_exchange)
{
	struct fab_put both[] = {{14, 1, 51}, {9, 4, 8}};
	struct fab_puts all = {.of = {both, 2, 2}}, address = {.of = {both, 1, 2}};
	struct fab_puts values = {.of = {both + 1, 1, 1}};
	struct fab_launch_start s = start_of(64, 8), x;
	struct fab_stages stages;

	s.keys = &all;
	x = s;
	for (int i = 0; i < 2; i++) {
		s.does = i ? FAB_DOES_STATIC_PORTS : FAB_DOES_MANAGER_DATA;
		x.keys = i ? &values : &address;
		cr_expect_eq(fab_launch_bytes(&s), fab_launch_bytes(&x));
		NEAR(total(&s), total(&x));
	}
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
	cr_expect_eq(total(&s), total(&x));
	/* nothing is left to exchange; the barrier stays */
	s.does = FAB_DOES_MANAGER_DATA | FAB_DOES_STATIC_PORTS;
	stages = stages_of(&s);
	cr_expect(stages.bytes == 0 && !stages.phase[FAB_PHASE_EXCHANGE].is_there);
	cr_expect(stages.phase[FAB_PHASE_BARRIER].is_there);
	/* PMI-1: strings; the node level is put by one process of a node */
	s.does = 0;
	s.interface = FAB_PMI1;
	x = s;
	x.does = FAB_DOES_MANAGER_DATA;
	cr_expect_eq(fab_launch_bytes(&s) - fab_launch_bytes(&x), 4 * (9 + 2 + 16) * 8);
	both[1].scope = FAB_SCOPE_NODE_LEVEL;
	NEAR(total(&s) - total(&x), 4 * 43.5e-6);
	/* direct requests all at once: the busiest server decides */
	s = start_of(64, 8);
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
	size_t i = 0;

	while (i < m->rows.n && (strcmp(m->rows.v[i].topic, topic) != 0 ||
				 strcmp(m->rows.v[i].name, name) != 0))
		i++;
	cr_assert_lt(i, m->rows.n, "%s %s", topic, name);
	return m->rows.v[i];
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
		struct fab_mechanism full, direct, mpd, slurm;

		s.fence.algorithm = FAB_FENCE_SLURM_AUTO;
		set(FAB_CONST_tree_width, 16);
		MUST(fab_launch_mechanisms(&memory, &s, &d, &m, ERR));
		full = mechanism(&m, "exchange", "pmix");
		direct = mechanism(&m, "exchange", "direct");
		NEAR(full.seconds, total(&s));
		NEAR(full.seconds - direct.seconds,
		     improvement(&s, "direct", bruck).saved_s);
		cr_expect_lt(direct.memory_bytes, full.memory_bytes);
		cr_expect_gt(mechanism(&m, "encoding", "none").bytes,
			     mechanism(&m, "encoding", "all").bytes);
		NEAR(mechanism(&m, "store", "2n").memory_bytes, 2 * 8 * 64);
		NEAR(mechanism(&m, "detection", "1 s / 10 s").seconds, 10.0000035);
		/* root 0, 16 children, their children */
		slurm = mechanism(&m, "manager", "slurm");
		x = s;
		x.fence = (struct fab_fence_chosen){FAB_FENCE_TREE, 16};
		NEAR(slurm.seconds, total(&x));
		cr_expect_str_eq(slurm.risk, "a failure cuts off up to 16 nodes");
		cr_expect(isnan(mechanism(&m, "manager", "gforker").seconds));
		/* a ring of daemons: 10 ms for each node */
		mpd = mechanism(&m, "manager", "mpd");
		HAS(mpd.risk, "two failures");
		cr_expect(n == 64 || mpd.seconds - mpd_s > n / 2 * 10e-3 * 0.9);
		mpd_s = mpd.seconds;
	}
}
