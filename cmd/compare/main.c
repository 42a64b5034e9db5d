/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-compare: results that were kept: list, show, put side by side, draw, remove,
 * merge. Its options, and reading the runs that they ask for. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/num.h"
#include "base/units.h"
#include "compare.h"

enum { MAX_SPECS = 1000 };

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
	{"command", "NAME", "Runs of this command", FAB_TAKES_TEXT, TO(filter.command)},
	{"algorithm", "LIST", "Only results of these algorithms, separated by commas",
	 FAB_TAKES_TEXT, TO(filter.algorithm), .everyday = true},
	{"metric", "LIST",
	 "Only these metrics, separated by commas, in this order, such as max_efi",
	 FAB_TAKES_TEXT, TO(metrics), .everyday = true},

	{.help = "What to do (default: list the runs, or show the one named, or compare those named):"},
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
	{"plot", "FILE", "Draw the runs into FILE.svg or FILE.png (needs gnuplot)",
	 FAB_TAKES_PLOT, TO(plot), .everyday = true},
	{"plot-kind", "KIND",
	 "distribution (default): cables that carry at least so many trees; or seconds: max_efi against time",
	 FAB_TAKES_ONE, TO(plot_kind),
	 .choices = FAB_NAME_LIST([FAB_PLOT_DISTRIBUTION] = "distribution",
				  [FAB_PLOT_SECONDS] = "seconds")},
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
	FAB_PART(fab_cli_run_rows, struct compare_params, run),
	{0},
};

static const struct fab_relation relations[] = {
	{"merge", FAB_EXCLUDES, "compare,prune,check,tolerance,metric,plot,algorithm"},
	{"prune", FAB_EXCLUDES, "compare,plot"},
	{"older-than,keep-last,yes", FAB_GOES_WITH, "prune"},
	{"plot-kind", FAB_GOES_WITH, "plot"},
	{0},
};

static bool is_day(const char *arg)
{
	static const char form[] = "dddd-dd-dd";
	size_t i;

	for (i = 0; form[i] && arg[i]; i++)
		if (form[i] == 'd' ? arg[i] < '0' || arg[i] > '9' : arg[i] != form[i])
			return false;
	return !form[i] && !arg[i];
}

/* --older-than: a day, or an age from now. */
static int take_age(void *params, const char *arg, struct fab_err *err)
{
	struct compare_params *p = params;
	struct tm utc;
	uint64_t age_ns;
	time_t then;

	if (is_day(arg)) {
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

static int add_spec(struct compare_params *p, const char *arg, struct fab_err *err)
{
	size_t len = strcspn(arg, ":");
	struct compare_spec spec = {0};

	if (arg[strspn(arg, "0123456789")] == '\0' &&
	    !fab_parse_u64(arg, len, 1, INT64_MAX, &spec.id))
		return fab_fail(
			err, EINVAL,
			"'%s' is no run: expected a number from 1 on, last or a label",
			arg);
	if (!(len == 4 && !strncmp(arg, "last", 4)) &&
	    !fab_parse_u64(arg, len, 1, INT64_MAX, &spec.id)) {
		spec.label = arg;
	} else if (arg[len]) {
		spec.algorithm = arg + len + 1;
		if (!*spec.algorithm)
			return fab_fail(err, EINVAL, "'%s': the algorithm is empty", arg);
	}
	if (p->specs.n == MAX_SPECS)
		return fab_fail(err, EINVAL, "more than %d runs", MAX_SPECS);
	FAB_PUSH(&p->specs, spec);
	return 0;
}

static int parse_specs(struct compare_params *p, struct fab_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < p->args.n && !rc; i++)
		rc = add_spec(p, p->args.v[i], err);
	return rc;
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
	int rc = p->merge ? 0 : parse_specs(p, err);

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

int compare_read(const char *path, const struct fab_store_filter *filter,
		 struct fab_store_runs *runs, struct fab_err *err)
{
	struct fab_store *store;
	int rc = fab_store_open(path, FAB_STORE_READ, &store, err);

	if (rc)
		return rc;
	rc = fab_store_read(store, filter, runs, err);
	fab_store_close(store);
	return rc;
}

/* The newest run with this label, `len` bytes; 0: none. */
static uint64_t newest_labelled(const struct fab_store_runs *runs, const char *label,
				size_t len)
{
	uint64_t id = 0;

	for (size_t i = 0; i < runs->n; i++) {
		const char *own = runs->v[i].label;

		if (own && strlen(own) == len && !memcmp(own, label, len))
			id = runs->v[i].id;
	}
	return id;
}

/* LABEL or LABEL:ALGORITHM becomes the newest run with that label. */
static int find_labels(struct compare_params *p, struct fab_err *err)
{
	struct fab_store_filter filter = p->filter;
	struct fab_store_runs runs = {0};
	int rc = 0;

	filter.names_only = true;
	for (size_t i = 0; i < p->specs.n && !rc; i++) {
		struct compare_spec *spec = &p->specs.v[i];
		const char *colon = spec->label ? strrchr(spec->label, ':') : NULL;

		if (!spec->label)
			continue;
		if (!runs.v)
			rc = compare_read(p->path, &filter, &runs, err);
		if (rc)
			break;
		spec->id = newest_labelled(&runs, spec->label, strlen(spec->label));
		if (!spec->id && colon && colon[1]) {
			spec->id = newest_labelled(&runs, spec->label,
						   (size_t)(colon - spec->label));
			spec->algorithm = colon + 1;
		}
		if (!spec->id)
			rc = fab_fail(
				err, ENOENT,
				"%s: no run has the label '%s'%s: expected the number of a run, last or a label",
				p->path, spec->label, compare_among(p));
	}
	fab_store_runs_fini(&runs);
	return rc;
}

static int read_runs(struct compare_params *p, bool names_only,
		     struct fab_store_runs *runs, struct fab_err *err)
{
	uint64_t *ids = FAB_NEW(p->specs.n + 1, uint64_t);
	struct fab_store_filter filter = p->filter;
	int rc = find_labels(p, err);

	if (rc) {
		free(ids);
		return rc;
	}
	filter.ids = p->specs.n ? ids : NULL;
	for (size_t i = 0; i < p->specs.n; i++)
		if (p->specs.v[i].id)
			ids[filter.n_ids++] = p->specs.v[i].id;
		else
			filter.last = true;
	filter.names_only = names_only;
	filter.before = *p->older_than ? p->older_than : NULL;
	filter.keep = p->keep_last;
	rc = compare_read(p->path, &filter, runs, err);
	free(ids);
	return rc;
}

/* Leave only the metrics that were asked for, in the arena. */
static int choose_metrics(struct fab_arena *arena, const char *list,
			  struct fab_store_runs *runs, struct fab_err *err)
{
	FAB_VEC(struct fab_store_kind) chosen = {0};

	for (const char *at = list; at; at = *at ? at + 1 : NULL) {
		size_t len = strcspn(at, ","), before = chosen.n;

		for (size_t i = 0; i < runs->n_kinds; i++)
			if (strlen(runs->kinds[i].name) == len &&
			    !strncmp(runs->kinds[i].name, at, len))
				FAB_PUSH(&chosen, runs->kinds[i]);
		if (chosen.n == before) {
			char *names = NULL;

			for (size_t i = 0; i < runs->n_kinds; i++)
				fab_append(&names, ", ", "%s", runs->kinds[i].name);
			fab_fail(err, EINVAL,
				 "--metric: '%.*s' is unknown; there are: %s", (int)len,
				 at, names ? names : "");
			free(names);
			free(chosen.v);
			return FAB_EXIT_USAGE;
		}
		at += len;
	}
	if (list) {
		runs->kinds = chosen.v;
		runs->n_kinds = chosen.n;
		fab_arena_own(arena, free, chosen.v);
	}
	return 0;
}

const char *compare_among(const struct compare_params *p)
{
	const struct fab_store_filter *f = &p->filter;

	return f->fabric || f->label || f->command || f->algorithm || *p->older_than ||
			       p->keep_last
		       ? " among those that the options choose"
		       : "";
}

static int find_item(const struct compare_params *p, const struct fab_store_runs *runs,
		     const struct compare_spec *spec, struct compare_item *out,
		     struct fab_err *err)
{
	struct compare_item item = {.algorithm = spec->algorithm};
	bool has_algorithm = false;

	for (size_t i = 0; i < runs->n; i++)
		if (!spec->id || runs->v[i].id == spec->id)
			item.run = &runs->v[i];
	if (!item.run && spec->id)
		return fab_fail(err, ENOENT, "%s: no run %" PRIu64 "%s", p->path,
				spec->id, compare_among(p));
	if (!item.run)
		return fab_fail(err, ENOENT, "%s: no run%s", p->path, compare_among(p));
	for (size_t i = 0; item.algorithm && i < item.run->n_results && !has_algorithm;
	     i++)
		has_algorithm = !strcmp(item.run->results[i].algorithm, item.algorithm);
	if (item.algorithm && !has_algorithm)
		return fab_fail(err, ENOENT, "%s: run %" PRIu64 " has no result of '%s'",
				p->path, item.run->id, item.algorithm);
	*out = item;
	return 0;
}

int compare_find(struct fab_work *w, bool names_only, struct fab_err *err)
{
	struct compare_params *p = w->params;
	struct compare_outcome *o = w->outcome;
	int rc = p->output.list_columns ? parse_specs(p, err) : 0;

	if (rc)
		return FAB_EXIT_USAGE;
	rc = read_runs(p, names_only, &o->runs, err);
	if (!rc)
		rc = choose_metrics(w->arena, p->metrics, &o->runs, err);
	if (rc)
		return rc;
	o->n_items = p->specs.n ? p->specs.n : o->runs.n;
	o->items = FAB_ARENA_NEW0(w->arena, o->n_items + 1, struct compare_item);
	for (size_t i = 0; i < o->n_items && !rc; i++)
		if (p->specs.n)
			rc = find_item(p, &o->runs, &p->specs.v[i], &o->items[i], err);
		else
			o->items[i].run = &o->runs.v[i];
	return rc;
}

void compare_fini(void *outcome)
{
	struct compare_outcome *o = outcome;

	free(o->rows.v);
	free(o->pairs.v);
	fab_store_runs_fini(&o->runs);
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

static const struct fab_command command = {
	.name = "fabric-compare",
	.args = "DATABASE [RUN[:ALGORITHM]...]\nDATABASE --merge [FILE...]",
	.doc = "List the results that --store=DATABASE has kept, show one run, put runs side by side with ratios and what got better or worse, or draw them.",
	.parts = parts,
	.relations = relations,
	.argument = argument,
	.complete = complete,
	.choose = choose,
};

int main(int argc, char **argv)
{
	struct compare_params p = {0};
	int status = fab_cli_main(&command, argc, argv, &p);

	free(p.args.v);
	free(p.specs.v);
	return status;
}
