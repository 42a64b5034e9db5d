/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-compare: results that were kept: list, show, put side by side, draw, remove,
 * merge. Its options. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "compare.h"

/* The task, by the options and the number of arguments. */
enum mode { LIST, SHOW, DIFF, PRUNE, MERGE };

static int take_age(void *params, const char *arg, struct fab_err *err);

#define TO(member) FAB_TO(struct compare_params, member)
static const struct fab_option options[] = {
	{.help = "Which runs:"},
	{"fabric", "FABRIC",
	 "Runs on this fabric: its fingerprint (0x...) or a pattern for its source",
	 FAB_TAKES_TEXT, TO(filter.fabric), .everyday = true},
	{"label", "PATTERN", "Runs whose label matches (* ? [..])", FAB_TAKES_TEXT,
	 TO(filter.label), .everyday = true},
	{"command", "NAME", "Runs of this command", FAB_TAKES_TEXT, TO(filter.command),
	 .offers =
		 "fabric-topo fabric-mcroute fabric-faults fabric-sim fabric-rdma fabric-launch fabric-bootplan"},
	{"algorithm", "LIST", "Only results of these algorithms, separated by commas",
	 FAB_TAKES_TEXT, TO(filter.algorithm), .everyday = true},
	{"metric", "LIST",
	 "Only these metrics, separated by commas, in this order, such as max_efi",
	 FAB_TAKES_TEXT, TO(metrics), .everyday = true},

	{.help = "Task (default: list the runs, or show the one named, or compare those named):"},
	{"compare", NULL,
	 "Put side by side all runs that the other options choose, the oldest as base",
	 FAB_TAKES_NOTHING, TO(compare), .everyday = true},
	{"check", NULL,
	 "Exit status 1 when something but a time is worse than in the base",
	 FAB_TAKES_NOTHING, TO(check), .everyday = true},
	{"tolerance", "PERCENT",
	 "Differences up to PERCENT of the base count as none (default 0)",
	 FAB_TAKES_REAL, TO(tolerance_percent), .flag = TO(has_tolerance), .high = 1000},
	{"merge", NULL,
	 "Put the shards of a sweep (--shard) together as one run in DATABASE: those of the files named behind it, or its own, whose place the run takes",
	 FAB_TAKES_NOTHING, TO(merge), .everyday = true},
	{"plot", "FILE", "Draw the runs into FILE.svg or FILE.png", FAB_TAKES_PLOT,
	 TO(plot), .everyday = true},
	{"prune", NULL,
	 "Remove the runs named, or all that the other options choose; without --yes say only which",
	 FAB_TAKES_NOTHING, TO(prune)},
	{"older-than", "AGE",
	 "With --prune: runs that ended before a day (2026-01-31, UTC), or so long ago: hours, days, weeks, years as 12h, 30d, 8w, 1y",
	 FAB_TAKES_OTHER, .take = take_age},
	{"keep-last", "N",
	 "With --prune: the newest N of each label stay; those without a label are one",
	 FAB_TAKES_NUMBER, TO(keep_last), .min = 1, .max = INT64_MAX},
	{"yes", NULL, "With --prune: do remove them", FAB_TAKES_NOTHING, TO(yes)},
	{0},
};

static const struct fab_part parts[] = {
	{options, 0},
	FAB_PART(fab_cli_output_rows, struct compare_params, output),
	FAB_PART_BUT(fab_cli_run_rows, struct compare_params, run, "threads"),
	{0},
};

static const struct fab_relation relations[] = {
	{"merge", FAB_EXCLUDES, "compare,prune,check,tolerance,metric,plot,algorithm"},
	{"prune", FAB_EXCLUDES, "compare,plot"},
	{"report", FAB_EXCLUDES, "prune,merge", "they change the database"},
	{"older-than,keep-last,yes", FAB_GOES_WITH, "prune"},
	{"plot-kind", FAB_GOES_WITH, "plot"},
	{0},
};

/* --older-than: a day, or an age from now. */
static int take_age(void *params, const char *arg, struct fab_err *err)
{
	struct compare_params *p = params;
	struct tm utc;
	uint64_t age_ns;
	time_t then;
	int n = 0;

	sscanf(arg, "%*4[0-9]-%*2[0-9]-%*2[0-9]%n", &n);
	if (n == 10 && !arg[n]) {
		snprintf(p->older_than, sizeof(p->older_than), "%sT00:00:00Z", arg);
		return 0;
	}
	if (fab_parse_time_ns(arg, strlen(arg), UINT64_MAX, &age_ns, NULL))
		return fab_fail(
			err, EINVAL,
			"'%s' is no age as 12h, 30d, 8w or 1y, and no day as 2026-01-31",
			arg);
	then = time(NULL) - (time_t)(age_ns / UINT64_C(1000000000));
	strftime(p->older_than, sizeof(p->older_than), "%Y-%m-%dT%H:%M:%SZ",
		 gmtime_r(&then, &utc));
	return 0;
}

static int argument(void *params, const char *arg, struct fab_err *err)
{
	struct compare_params *p = params;

	if (p->path) {
		FAB_PUSH(&p->args, arg);
		return 0;
	}
	if (!*arg)
		return fab_fail(err, EINVAL, "DATABASE: the value is empty");
	fab_cli_note_input("DATABASE", arg);
	p->path = arg;
	return 0;
}

static enum mode mode_of(const struct compare_params *p)
{
	if (p->prune)
		return PRUNE;
	if (p->merge)
		return MERGE;
	if (p->compare || p->args.n > 1)
		return DIFF;
	return p->args.n ? SHOW : LIST;
}

/* A missing argument must not remove everything, or half a run. */
static int check_prune(const struct compare_params *p, struct fab_err *err)
{
	const struct fab_store_filter *f = &p->filter;

	if (!p->specs.n && !*p->older_than && !p->keep_last && !f->fabric && !f->label &&
	    !f->command && !f->algorithm)
		return fab_fail(
			err, EINVAL,
			"--prune needs runs, --older-than, --keep-last or one of --fabric, --label, --command, --algorithm");
	for (size_t i = 0; i < p->specs.n; i++)
		if (p->specs.v[i].algorithm)
			return fab_fail(err, EINVAL,
					"--prune removes whole runs: RUN without ':%s'",
					p->specs.v[i].algorithm);
	return 0;
}

static int complete(void *params, struct fab_err *err)
{
	struct compare_params *p = params;
	enum mode mode = mode_of(p);
	int rc = p->merge ? 0 : compare_parse_specs(p, err);

	/* behind DATABASE come files */
	for (size_t i = 0; i < p->args.n && p->merge; i++) {
		if (!*p->args.v[i])
			return fab_fail(err, EINVAL, "FILE: the file name is empty");
		fab_cli_note_input("FILE", p->args.v[i]);
	}
	if (rc)
		return rc;
	if (!p->path)
		return fab_fail(err, EINVAL,
				"DATABASE is missing: the FILE of --store=FILE");
	if (p->compare && p->specs.n)
		return fab_fail(
			err, EINVAL,
			"--compare takes all runs that the options choose: name none");
	if ((p->check || p->has_tolerance) && mode != DIFF)
		return fab_fail(err, EINVAL, "%s needs two runs or --compare",
				p->check ? "--check" : "--tolerance");
	if (p->metrics && (mode == LIST || mode == PRUNE))
		return fab_fail(err, EINVAL, "--metric needs a run or --compare");
	return p->prune ? check_prune(p, err) : 0;
}

static const struct fab_task *choose(const void *params)
{
	static const struct fab_task *const tasks[] = {
		[LIST] = &compare_list,	  [SHOW] = &compare_show,
		[DIFF] = &compare_diff,	  [PRUNE] = &compare_prune,
		[MERGE] = &compare_merge,
	};

	return tasks[mode_of(params)];
}

/* Completions: runs of the database, their labels, algorithms and metrics. */
static void offer(struct fab_offers *to, const char *option, const char *file,
		  const char *begun)
{
	const struct fab_store_filter filter = {.names_only = option == NULL};
	bool is_label = !option || !strcmp(option, "label");
	bool is_algorithm = option && !strcmp(option, "algorithm");
	bool is_part = !option && strchr(begun, ':');
	struct fab_store *store;
	struct fab_store_runs runs = {0};
	struct fab_err err;

	if (!option)
		fab_cli_offer(to, "last", "the newest run");
	if (!file || fab_store_open(file, FAB_STORE_READ, &store, &err))
		return;
	if (fab_store_read(store, &filter, &runs, &err))
		runs.n = runs.n_kinds = 0;
	for (size_t i = 0; i < runs.n; i++) {
		const struct fab_store_run *run = &runs.v[i];
		FAB_AUTOFREE char *number = fab_format("%" PRIu64, run->id);

		if (!option)
			fab_cli_offer(to, number, run->arguments);
		if (is_label && run->label)
			fab_cli_offer(to, run->label, run->arguments);
		for (size_t k = 0; k < run->n_results; k++) {
			const char *name = run->results[k].algorithm;
			FAB_AUTOFREE char *part =
				fab_format("%" PRIu64 ":%s", run->id, name);

			if (is_algorithm)
				fab_cli_offer(to, name, NULL);
			else if (is_part)
				fab_cli_offer(to, part, NULL);
		}
	}
	for (size_t i = 0; option && !strcmp(option, "metric") && i < runs.n_kinds; i++)
		fab_cli_offer(to, runs.kinds[i].name, runs.kinds[i].help);
	fab_store_runs_fini(&runs);
	fab_store_close(store);
}

static const struct fab_command command = {
	.name = "fabric-compare",
	.args = "DATABASE [RUN[:ALGORITHM]...]\nDATABASE --merge [FILE...]",
	.doc = "List the results that --store=DATABASE has kept, show one run, put runs side by side with ratios and what got better or worse, or draw them.",
	.parts = parts,
	.relations = relations,
	.argument = argument,
	.complete = complete,
	.choose = choose,
	.offer = offer,
	.settings = compare_settings,
};

int main(int argc, char **argv)
{
	struct compare_params p = {0};
	int status = fab_cli_main(&command, argc, argv, &p);

	free(p.args.v);
	free(p.specs.v);
	return status;
}
