/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/fit.h"
#include "peer/child.h"
#include "support/process.h"
#include "support/test.h"

#include <sys/stat.h>
#include <unistd.h>

static struct fab_launch_params params;
static struct fab_arena memory = FAB_ARENA_INIT; /* ends with the process */
static struct fab_put one_key = {14, 1, 51};
static const struct fab_puts keys = {.of = {&one_key, 1, 1}};

static struct fab_launch_start start_of(uint32_t n_nodes, uint32_t ppn)
{
	return (struct fab_launch_start){.n_nodes = n_nodes,
					 .ppn = ppn,
					 .interface = FAB_PMIX,
					 .keys = &keys,
					 .layout = {FAB_SIZE_LIBRARY, 10},
					 .degree = (double)NAN,
					 .fence = {FAB_FENCE_SLURM_AUTO, 0},
					 .params = &params};
}

Test(launch_fit, forms)
{
	char bad[] =
		"|2240|2240=3s|2240:=3s|:40=3s|2240:40|2240:40=|2240:40=3|2240:40=0s|"
		"3:4=1s|0:0=1s|4:4:none=1s|4:4:=1s|4:4:cache|-4:4=1s|4:4=-1s|"
		"99999999999:4=1s|4:4=1s |4:4=2d|4:4:cache:1=1s";
	struct fab_fit_start x;

	MUST(fab_fit_parse("2240:40=11.8s", FAB_STAGE_TREE, &x, ERR));
	cr_expect(x.ranks == 2240 && x.nodes == 40 && x.measured_s == 11.8);
	cr_expect_eq(x.stage_in, FAB_STAGE_TREE);
	MUST(fab_fit_parse("7:7:cache=250ms", FAB_STAGE_STORM, &x, ERR));
	cr_expect(x.measured_s == 0.25 && x.stage_in == FAB_STAGE_CACHE);
	for (char *list = bad, *text; (text = strsep(&list, "|"));)
		cr_expect_lt(fab_fit_parse(text, FAB_STAGE_STORM, &x, ERR), 0, "%s",
			     text);
}

/* Starts by constants within their limits: found again, and nothing remains. */
Test(launch_fit, finds_constants_of_a_model)
{
	static const uint32_t jobs[][2] = {{2240, 40}, {64, 1}, {1000, 1000}};
	bool uses[FAB_N_LAUNCH_CONSTANTS] = {
		[FAB_CONST_fs_ops] = true, [FAB_CONST_discover_ms] = true};
	struct fab_fit fit = {.n_starts = 3};
	struct fab_launch_start s;
	double total_s;

	fab_launch_params_init(&params);
	params.of[FAB_CONST_fs_ops].value = 40000;
	params.of[FAB_CONST_discover_ms].value = 110;
	for (size_t i = 0; i < 3; i++) {
		s = start_of(jobs[i][1], (jobs[i][0] - 1) / jobs[i][1] + 1);
		MUST(fab_stages_total_s(&s, &total_s, ERR));
		fit.starts[i] = (struct fab_fit_start){
			.ranks = jobs[i][0], .nodes = jobs[i][1], .measured_s = total_s};
	}
	fab_launch_params_init(&params);
	s = start_of(1, 1);
	MUST(fab_fit_run(&fit, &s, &params, uses, ERR));
	cr_expect_eq(fit.n_constants, 2);
	/* limits pull them a little towards the defaults */
	cr_expect_float_eq(FAB_PARAM(&params, fs_ops), 40000, 2000);
	cr_expect_float_eq(FAB_PARAM(&params, discover_ms), 110, 6);
	cr_expect_lt(fit.sum_after, fit.sum_before);
	for (size_t i = 0; i < 3; i++) {
		const struct fab_fit_start *x = &fit.starts[i];

		cr_expect_lt(x->misfit, 1.05);
		cr_expect_float_eq(x->unexplained_s, x->measured_s - x->after_s, 1e-12);
		cr_expect(x->low_s <= x->before_s && x->high_s >= x->before_s);
	}
	for (size_t i = 0; i < fit.n_constants; i++) {
		const struct fab_fit_constant *c = &fit.constants[i];

		cr_expect(c->low < c->value && c->high > c->value);
		cr_expect_eq(params.of[c->constant].low, c->low);
	}
}

/* The minimum over one constant against a fine grid of the sum as it is documented. */
Test(launch_fit, minimum_by_brute_force)
{
	bool uses[FAB_N_LAUNCH_CONSTANTS] = {[FAB_CONST_discover_ms] = true};
	struct fab_launch_start s = start_of(2, 32);
	double least, at = 0;

	for (double measured = 0.5; measured < 12; measured *= 2) {
		struct fab_fit fit = {.n_starts = 1};

		fit.starts[0] = (struct fab_fit_start){
			.ranks = 64, .nodes = 2, .measured_s = measured};
		fab_launch_params_init(&params);
		MUST(fab_fit_run(&fit, &s, &params, uses, ERR));
		least = INFINITY;
		for (int i = -2000; i <= 2000; i++) {
			double z = i / 2000.0, end = z < 0 ? 2 : 140, total_s, off, sum;
			struct fab_launch_params with = params;

			with.of[FAB_CONST_discover_ms].value =
				70 * pow(end / 70, fabs(z));
			MUST(fab_launch_total_of(&s, &with, &total_s, ERR));
			off = log(total_s / measured) / log(1.1);
			sum = off * off + 4 * z * z;
			if (sum < least)
				at = with.of[FAB_CONST_discover_ms].value;
			least = fmin(least, sum);
		}
		cr_expect_float_eq(fit.sum_after, least, 1e-3);
		cr_expect_float_eq(FAB_PARAM(&params, discover_ms), at, 0.01 * at);
	}
}

/* Published starts: sources are in fabric-launch(1). What no constant explains remains.
 */
Test(launch_fit, published_starts)
{
	static const struct {
		uint32_t nodes, ppn;
		enum fab_stage_in stage_in;
		double published_s;
	} starts[] = {{40, 56, FAB_STAGE_STORM, 11.8},
		      {40, 56, FAB_STAGE_CACHE, 6.7},
		      {1, 256, FAB_STAGE_STORM, 22}};
	struct fab_fit fit = {.n_starts = 1};
	struct fab_launch_start s;
	double total_s;

	fab_launch_params_init(&params);
	for (size_t i = 0; i < FAB_COUNT(starts); i++) {
		s = start_of(starts[i].nodes, starts[i].ppn);
		s.stage_in = starts[i].stage_in;
		MUST(fab_stages_total_s(&s, &total_s, ERR));
		cr_expect_lt(total_s, 1.5 * starts[i].published_s);
		cr_expect_gt(total_s, starts[i].published_s / 1.5);
	}
	s = start_of(1, 1);
	fit.starts[0] =
		(struct fab_fit_start){.ranks = 1, .nodes = 1, .measured_s = 3600};
	MUST(fab_fit_run(&fit, &s, &params, NULL, ERR));
	cr_expect(fit.starts[0].misfit > 1.5 && fit.starts[0].unexplained_s > 1000);
}

/* This program, and files that are none. */
Test(launch_fit, files_of_a_program)
{
	FAB_AUTO(folder_fini) struct folder folder;
	struct fab_loader_files files;
	struct fab_site site;
	struct stat st;

	folder_init(&folder);
	MUST(fab_loader_files(&memory, "/proc/self/exe", &files, ERR));
	cr_expect_gt(files.found.n, 3);
	for (size_t i = 0; i < files.found.n; i++)
		cr_expect_eq(access(files.found.v[i], R_OK), 0);
	for (size_t i = 0; i < files.missing.n; i++)
		cr_expect_neq(access(files.missing.v[i], R_OK), 0);
	MUST(fab_site_measure(files.found.v, files.found.n, files.missing.v,
			      files.missing.n, 2, &site, ERR));
	cr_expect_gt(site.one.opens_per_s, 0);
	cr_expect_float_eq(site.one.open_us * site.one.opens_per_s, 1e6, 1);
	cr_expect_float_eq(site.all.open_us * site.all.opens_per_s, 2e6, 1);
	for (size_t i = 0; i < files.found.n; i++)
		site.bytes -= stat(files.found.v[i], &st) ? 0 : (uint64_t)st.st_size;
	cr_expect_eq(site.bytes, 0);
	/* no program, an empty file, a text */
	cr_expect_lt(fab_loader_files(&memory, folder.path, &files, ERR), 0);
	put("text", "");
	cr_expect_lt(fab_loader_files(&memory, "./text", &files, ERR), 0);
	put("text", "\177ELF junk");
	MUST(fab_loader_files(&memory, "./text", &files, ERR));
	cr_expect_eq(files.found.n, 1);
}

/* Figures become constants; those of a server stay assumptions from that on. */
Test(launch_fit, figures_of_a_site)
{
	struct fab_site site = {.n_files = 10,
				.n_missing = 25,
				.bytes = 40000000,
				.one = {1, 1000, 1000, 200},
				.all = {8, 5e6, 1.6, 900}};

	fab_launch_params_init(&params);
	fab_site_apply(&site, "n1", &params);
	cr_expect(FAB_PARAM(&params, files) == 10 && FAB_PARAM(&params, lookups) == 2.5);
	cr_expect(FAB_PARAM(&params, image_MB) == 40 &&
		  FAB_PARAM(&params, open_us) == 1000);
	cr_expect_eq(FAB_PARAM(&params, node_MBps), 900);
	cr_expect_eq(params.of[FAB_CONST_node_MBps].origin, FAB_MEASURED);
	cr_expect(FAB_PARAM(&params, fs_ops) == 5e6 &&
		  params.of[FAB_CONST_fs_ops].low == 5e6);
	cr_expect_eq(params.of[FAB_CONST_fs_ops].origin, FAB_ASSUMED);
	/* below what is assumed: only the limit moves */
	cr_expect_eq(FAB_PARAM(&params, fs_MBps), 100000);
	cr_expect_eq(params.of[FAB_CONST_fs_MBps].low, 5000);
	site.all.read_MBps = 20000;
	fab_site_apply(&site, "n1", &params);
	cr_expect_eq(params.of[FAB_CONST_fs_MBps].low, 20000);
}
