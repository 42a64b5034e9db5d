/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-compare: results that were kept: list, show, put side by side, draw. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "compare.h"

enum {
	OPT_FABRIC = 0x100,
	OPT_LABEL,
	OPT_COMMAND,
	OPT_ALGORITHM,
	OPT_METRIC,
	OPT_COMPARE,
	OPT_CHECK,
	OPT_TOLERANCE,
	OPT_PLOT,
	OPT_PLOT_KIND,
	OPT_MERGE,
	MAX_ITEMS = 1000,
};

enum mode { MODE_LIST, MODE_SHOW, MODE_COMPARE, MODE_PRUNE, MODE_MERGE };

/* RUN or RUN:ALGORITHM as it was given. */
struct item_spec {
	uint64_t id; /* 0: the last one */
	const char *algorithm;
};

struct params {
	struct fab_cli_output output;
	struct fab_cli_run run;
	const char *path;
	FAB_VEC(const char *) args; /* behind DATABASE: runs, or files of --merge */
	FAB_VEC(struct item_spec) items;
	bool merge;
	struct fab_store_filter filter;
	const char *metrics; /* comma list; NULL: all */
	bool compare, check;
	bool has_tolerance;
	double tolerance;
	const char *plot;
	enum fab_plot_terminal terminal;
	enum fab_plot_kind plot_kind;
	bool has_plot_kind;
	struct compare_prune prune;
};

static const struct argp_option options[] = {
	{.doc = "Which runs:", .group = 1},
	{"fabric", OPT_FABRIC, "FABRIC", 0,
	 "Runs on this fabric: its fingerprint (0x...) or a pattern for its source", 1},
	{"label", OPT_LABEL, "PATTERN", 0, "Runs whose label matches (* ? [..])", 1},
	{"command", OPT_COMMAND, "NAME", 0, "Runs of this command", 1},
	{"algorithm", OPT_ALGORITHM, "LIST", 0,
	 "Only results of these algorithms, separated by commas", 1},
	{"metric", OPT_METRIC, "LIST", 0,
	 "Only these metrics, separated by commas, in this order, such as max_efi", 1},
	{.doc = "What to do (default: list the runs, or show the one named, or compare "
		"those named):",
	 .group = 2},
	{"compare", OPT_COMPARE, NULL, 0,
	 "Put side by side all runs that pass, the oldest as base", 2},
	{"check", OPT_CHECK, NULL, 0,
	 "Exit status 1 when something but a time is worse than in the base", 2},
	{"tolerance", OPT_TOLERANCE, "PERCENT", 0,
	 "Differences up to PERCENT of the base count as none (default 0)", 2},
	{"merge", OPT_MERGE, NULL, 0,
	 "Put the shards of a sweep (--shard) together as one run in DATABASE: those of "
	 "the files named behind it, or its own, whose place the run takes",
	 2},
	{"plot", OPT_PLOT, "FILE", 0,
	 "Draw the runs into FILE.svg or FILE.png (needs gnuplot)", 2},
	{"plot-kind", OPT_PLOT_KIND, "KIND", 0,
	 "distribution (default): cables that carry at least so many trees; or seconds: "
	 "max_efi against "
	 "time",
	 2},
	{0},
};

static void add_item(struct params *p, const char *arg, struct argp_state *state)
{
	size_t len = strcspn(arg, ":");
	struct item_spec item = {0};

	if (!(len == 4 && !strncmp(arg, "last", 4)) &&
	    !fab_parse_u64(arg, len, 1, INT64_MAX, &item.id))
		argp_error(state,
			   "'%s' is no run: expected a number or last, as RUN or "
			   "RUN:ALGORITHM",
			   arg);
	if (arg[len]) {
		item.algorithm = arg + len + 1;
		if (!*item.algorithm)
			argp_error(state, "'%s': the algorithm is empty", arg);
	}
	if (p->items.n == MAX_ITEMS)
		argp_error(state, "more than %d runs", MAX_ITEMS);
	FAB_PUSH(&p->items, item);
}

static void parse_tolerance(struct params *p, const char *arg, struct argp_state *state)
{
	char *end;

	errno = 0;
	p->tolerance = strtod(arg, &end) / 100;
	if (errno || end == arg || *end || !(p->tolerance >= 0 && p->tolerance <= 10))
		argp_error(state, "--tolerance: '%s' is not a number from 0 to 1000",
			   arg);
	p->has_tolerance = true;
}

static void parse_plot_kind(struct params *p, const char *arg, struct argp_state *state)
{
	if (!strcmp(arg, "distribution"))
		p->plot_kind = FAB_PLOT_DISTRIBUTION;
	else if (!strcmp(arg, "seconds"))
		p->plot_kind = FAB_PLOT_SECONDS;
	else
		argp_error(state, "--plot-kind: '%s' is not distribution or seconds",
			   arg);
	p->has_plot_kind = true;
}

static const char *not_empty(const char *name, const char *arg, struct argp_state *state)
{
	if (!*arg)
		argp_error(state, "--%s: the value is empty", name);
	return arg;
}

static const char *database_name(const char *arg, struct argp_state *state)
{
	fab_cli_note_input("DATABASE", not_empty("DATABASE", arg, state));
	return arg;
}

/* What stands behind DATABASE: files, or runs. */
static void parse_args(struct params *p, struct argp_state *state)
{
	for (size_t i = 0; i < p->args.n; i++)
		if (p->merge)
			fab_cli_note_input("FILE",
					   not_empty("merge", p->args.v[i], state));
		else
			add_item(p, p->args.v[i], state);
	if (p->merge &&
	    (p->compare || p->prune.is_asked || p->check || p->has_tolerance ||
	     p->metrics || p->plot || p->filter.algorithm))
		argp_error(state, "--merge goes with --fabric, --label and --command "
				  "only");
}

static enum mode mode_of(const struct params *p)
{
	if (p->prune.is_asked)
		return MODE_PRUNE;
	if (p->merge)
		return MODE_MERGE;
	if (p->compare || p->items.n > 1)
		return MODE_COMPARE;
	return p->items.n ? MODE_SHOW : MODE_LIST;
}

static void check_columns(const struct params *p, const struct compare_columns *columns)
{
	struct fab_err err;

	if (p->output.columns &&
	    fab_columns_check(p->output.columns, columns->v, columns->n, &err))
		fab_cli_exit(FAB_EXIT_USAGE, "--columns: %s", err.text);
}

/* Nobody removes everything, or half a run, by leaving out a word. */
static void check_prune(const struct params *p, struct argp_state *state)
{
	const struct fab_store_filter *f = &p->filter;

	if (p->compare || p->plot)
		argp_error(state, "--prune and --%s do not go together",
			   p->compare ? "compare" : "plot");
	if (!p->items.n && !*p->prune.before && !p->prune.keep && !f->fabric &&
	    !f->label && !f->command && !f->algorithm)
		argp_error(state, "--prune needs runs, --older-than, --keep-last or one "
				  "of --fabric, --label, --command, --algorithm");
	for (size_t i = 0; i < p->items.n; i++)
		if (p->items.v[i].algorithm)
			argp_error(state, "--prune removes whole runs: RUN without ':%s'",
				   p->items.v[i].algorithm);
}

/* Columns that do not depend on the runs. */
static struct compare_columns columns_of(const struct params *p)
{
	switch (mode_of(p)) {
	case MODE_MERGE:
		return compare_merge_columns();
	case MODE_COMPARE:
		return compare_diff_columns();
	default:
		return compare_list_columns();
	}
}

static void check_complete(const struct params *p, struct argp_state *state)
{
	struct compare_columns columns = columns_of(p);
	struct fab_err err;

	if (mode_of(p) != MODE_SHOW && p->output.columns &&
	    fab_columns_check(p->output.columns, columns.v, columns.n, &err))
		argp_error(state, "--columns: %s", err.text);
	if (!p->path && !p->output.list_columns)
		argp_error(state, "DATABASE is missing: the FILE of --store=FILE");
	if (p->compare && p->items.n)
		argp_error(state, "--compare takes all runs that pass: name none");
	if ((p->check || p->has_tolerance) && mode_of(p) != MODE_COMPARE)
		argp_error(state, "%s needs two runs or --compare",
			   p->check ? "--check" : "--tolerance");
	if (p->metrics && (mode_of(p) == MODE_LIST || mode_of(p) == MODE_PRUNE))
		argp_error(state, "--metric needs a run or --compare");
	if (p->prune.is_asked)
		check_prune(p, state);
	if (p->has_plot_kind && !p->plot)
		argp_error(state, "--plot-kind goes with --plot only");
}

static error_t parse_filter(int key, char *arg, struct argp_state *state)
{
	struct fab_store_filter *filter = &((struct params *)state->input)->filter;

	switch (key) {
	case OPT_FABRIC:
		filter->fabric = not_empty("fabric", arg, state);
		return 0;
	case OPT_LABEL:
		filter->label = not_empty("label", arg, state);
		return 0;
	case OPT_COMMAND:
		filter->command = not_empty("command", arg, state);
		return 0;
	case OPT_ALGORITHM:
		filter->algorithm = not_empty("algorithm", arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct params *p = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &p->output;
		state->child_inputs[1] = &p->run;
		state->child_inputs[2] = &p->prune;
		return 0;
	case OPT_METRIC:
		p->metrics = not_empty("metric", arg, state);
		return 0;
	case OPT_COMPARE:
		p->compare = true;
		return 0;
	case OPT_MERGE:
		p->merge = true;
		return 0;
	case OPT_CHECK:
		p->check = true;
		return 0;
	case OPT_TOLERANCE:
		parse_tolerance(p, arg, state);
		return 0;
	case OPT_PLOT:
		p->plot = fab_cli_parse_plot(arg, &p->terminal, state);
		return 0;
	case OPT_PLOT_KIND:
		parse_plot_kind(p, arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (p->path)
			FAB_PUSH(&p->args, arg);
		else
			p->path = database_name(arg, state);
		return 0;
	case ARGP_KEY_END:
		parse_args(p, state);
		check_complete(p, state);
		return 0;
	default:
		return parse_filter(key, arg, state);
	}
}

static const struct argp_child children[] = {
	{&fab_cli_output_argp, 0, NULL, 0},
	{&fab_cli_run_plain_argp, 0, NULL, 0},
	{&compare_prune_argp, 0, NULL, 0},
	{0},
};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "DATABASE [RUN[:ALGORITHM]...]\nDATABASE --merge [FILE...]",
	.doc = "List the results that --store=DATABASE has kept, show one run, put runs "
	       "side by side with ratios and what got better or worse, or draw them.",
	.children = children,
};

void compare_read(const char *path, const struct fab_store_filter *filter,
		  const struct fab_cli_run *run, struct fab_store_runs *runs)
{
	struct fab_store *store;
	struct fab_err err;
	char *note;

	if (fab_store_open(path, FAB_STORE_READ, &store, &err) != 0 ||
	    fab_store_read(store, filter, runs, &err) != 0)
		fab_cli_die(&err);
	note = fab_store_note(store);
	if (note)
		fab_cli_note(run, "%s", note);
	free(note);
	fab_store_close(store);
}

static void read_runs(const struct params *p, struct fab_store_runs *runs)
{
	uint64_t *ids = FAB_NEW(p->items.n + 1, uint64_t);
	struct fab_store_filter filter = p->filter;

	filter.ids = p->items.n ? ids : NULL;
	for (size_t i = 0; i < p->items.n; i++)
		if (p->items.v[i].id)
			ids[filter.n_ids++] = p->items.v[i].id;
		else
			filter.last = true;
	filter.names_only =
		mode_of(p) == MODE_PRUNE || (mode_of(p) == MODE_LIST && !p->plot);
	filter.before = *p->prune.before ? p->prune.before : NULL;
	filter.keep = p->prune.keep;
	compare_read(p->path, &filter, &p->run, runs);
	free(ids);
}

static _Noreturn void refuse_metric(const struct fab_store_runs *runs, const char *name,
				    int len)
{
	char names[768] = "";
	size_t at = 0;

	for (size_t i = 0; i < runs->n_kinds && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s",
				       i ? ", " : "", runs->kinds[i].name);
	fab_cli_exit(FAB_EXIT_USAGE, "--metric: '%.*s' is unknown; there are: %s", len,
		     name, names);
}

/* Leave only the metrics that were asked for; the new array is on the heap. */
static struct fab_store_kind *choose_metrics(const char *list,
					     struct fab_store_runs *runs)
{
	FAB_VEC(struct fab_store_kind) chosen = {0};

	for (const char *at = list; at; at = *at ? at + 1 : NULL) {
		size_t len = strcspn(at, ","), i = 0, before = chosen.n;

		for (; i < runs->n_kinds; i++)
			if (strlen(runs->kinds[i].name) == len &&
			    !strncmp(runs->kinds[i].name, at, len))
				FAB_PUSH(&chosen, runs->kinds[i]);
		if (chosen.n == before)
			refuse_metric(runs, at, (int)len);
		at += len;
	}
	if (list) {
		runs->kinds = chosen.v;
		runs->n_kinds = chosen.n;
	}
	return chosen.v;
}

static bool has_algorithm(const struct fab_store_run *run, const char *name)
{
	for (size_t i = 0; i < run->n_results; i++)
		if (!strcmp(run->results[i].algorithm, name))
			return true;
	return false;
}

static struct compare_item find_item(const struct params *p,
				     const struct fab_store_runs *runs,
				     const struct item_spec *spec)
{
	struct compare_item item = {.algorithm = spec->algorithm};

	for (size_t i = 0; i < runs->n; i++)
		if (!spec->id || runs->v[i].id == spec->id)
			item.run = &runs->v[i];
	if (!item.run && spec->id)
		fab_cli_exit(FAB_EXIT_ERROR, "%s: no run %" PRIu64 " that passes",
			     p->path, spec->id);
	if (!item.run)
		fab_cli_exit(FAB_EXIT_ERROR, "%s: no run that passes", p->path);
	if (item.algorithm && !has_algorithm(item.run, item.algorithm))
		fab_cli_exit(FAB_EXIT_ERROR, "%s: run %" PRIu64 " has no result of '%s'",
			     p->path, item.run->id, item.algorithm);
	return item;
}

/* The runs named, or all that were read; on the heap. */
static struct compare_item *find_items(const struct params *p,
				       const struct fab_store_runs *runs, size_t *n)
{
	size_t room = (p->items.n > runs->n ? p->items.n : runs->n) + 1;
	struct compare_item *items = FAB_NEW0(room, struct compare_item);

	*n = p->items.n ? p->items.n : runs->n;
	for (size_t i = 0; i < *n; i++)
		items[i] = p->items.n ? find_item(p, runs, &p->items.v[i])
				      : (struct compare_item){.run = &runs->v[i]};
	if (mode_of(p) == MODE_COMPARE && *n < 2)
		fab_cli_exit(FAB_EXIT_ERROR,
			     "%s: %zu run passes: two are needed to compare", p->path,
			     *n);
	return items;
}

/* Does --check fail, and why? What is worse stands in the report. */
static bool has_failed_check(const struct params *p, const struct compare_rows *rows)
{
	const struct compare_counts *c = &rows->counts, *parts = &rows->parts;

	if (c->vanished || parts->vanished)
		fab_cli_warn(&p->run, "--check: %" PRIu64 " values of the base are gone",
			     c->vanished + parts->vanished);
	if (!c->better && !c->worse && !c->same) {
		fab_cli_warn(&p->run, "--check: nothing could be compared");
		return true;
	}
	return c->worse || parts->worse || c->vanished || parts->vanished;
}

static int print_comparison(const struct params *p, const struct fab_store_runs *runs,
			    const struct compare_item *items, size_t n, FILE *out,
			    const struct fab_report_options *report, bool *has_failed,
			    struct fab_err *err)
{
	struct compare_pairs pairs = {0};
	struct compare_rows rows;
	int rc;

	compare_pair_up(items, n, &pairs);
	compare_rows_init(&rows, runs, &pairs, p->tolerance, p->metrics != NULL);
	rc = compare_diff(out, report, items, &pairs, &rows, err);
	if (p->check)
		*has_failed = has_failed_check(p, &rows);
	compare_rows_fini(&rows);
	free(pairs.v);
	return rc;
}

static int print(const struct params *p, const struct fab_store_runs *runs,
		 const struct compare_item *items, size_t n, FILE *out,
		 const struct fab_report_options *report, bool *has_failed,
		 struct fab_err *err)
{
	struct compare_columns columns;
	int rc;

	switch (mode_of(p)) {
	case MODE_COMPARE:
		compare_warn(&p->run, items, n);
		return print_comparison(p, runs, items, n, out, report, has_failed, err);
	case MODE_SHOW:
		columns = compare_show_columns(runs, &items[0]);
		check_columns(p, &columns);
		rc = compare_show(out, report, runs, &columns, &items[0], err);
		compare_show_columns_free(&columns);
		return rc;
	case MODE_PRUNE:
		return compare_prune(out, report, p->path, &p->prune, runs, &p->run, err);
	default:
		return compare_list(out, report, runs, err);
	}
}

/* Those of a run that is shown depend on the run. */
static void list_columns(const struct params *p)
{
	struct compare_columns columns = columns_of(p);
	struct fab_store_runs runs;
	struct compare_item item;

	if (mode_of(p) != MODE_SHOW) {
		fab_columns_list(stdout, columns.v, columns.n);
		return;
	}
	read_runs(p, &runs);
	item = find_item(p, &runs, &p->items.v[0]);
	columns = compare_show_columns(&runs, &item);
	fab_columns_list(stdout, columns.v, columns.n);
	compare_show_columns_free(&columns);
	fab_store_runs_fini(&runs);
}

int main(int argc, char **argv)
{
	bool has_failed = false;
	struct fab_report_options report;
	struct compare_item *items;
	struct fab_store_kind *chosen;
	struct fab_store_runs runs;
	struct fab_cli_results results = {.n = 0};
	struct params p = {0};
	struct fab_err err;
	FILE *file;
	size_t n;

	fab_cli_init("fabric-compare");
	fab_cli_parse(&argp, argc, argv, &p);
	if (p.output.list_columns) {
		list_columns(&p);
		free(p.items.v);
		free(p.args.v);
		return FAB_EXIT_DONE;
	}
	if (p.merge) {
		compare_merge(&(struct compare_merge){p.path, p.args.v, p.args.n,
						      &p.filter, &p.run},
			      &p.output);
		free(p.args.v);
		return FAB_EXIT_DONE;
	}
	read_runs(&p, &runs);
	chosen = choose_metrics(p.metrics, &runs);
	items = find_items(&p, &runs, &n);
	if (p.plot)
		compare_plot(p.plot, p.plot_kind, p.terminal, items, n, &results);
	file = fab_cli_open_result(&results, p.output.path);
	report = fab_cli_report_options(&p.output, &results.sinks[results.n - 1]);
	if (print(&p, &runs, items, n, file, &report, &has_failed, &err) != 0)
		fab_cli_die(&err);
	fab_cli_commit_results(&results);
	free(items);
	free(chosen);
	free(p.items.v);
	free(p.args.v);
	fab_store_runs_fini(&runs);
	return has_failed ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}
