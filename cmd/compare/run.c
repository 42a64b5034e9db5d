/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-compare does once its options are read. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare.h"

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
			rc = fab_fail(err, ENOENT,
				      "%s: no run has the label '%s'%s: expected the "
				      "number of a run, last or a label",
				      p->path, spec->label, compare_among(p));
	}
	fab_store_runs_fini(&runs);
	return rc;
}

static int read_runs(struct compare_params *p, struct fab_store_runs *runs,
		     struct fab_err *err)
{
	uint64_t *ids = FAB_NEW(p->specs.n + 1, uint64_t);
	struct fab_store_filter filter = p->filter;
	enum compare_mode mode = compare_mode_of(p);
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
	filter.names_only =
		mode == COMPARE_PRUNE || (mode == COMPARE_LIST && !p->plot.path);
	filter.before = *p->prune.before ? p->prune.before : NULL;
	filter.keep = p->prune.keep;
	rc = compare_read(p->path, &filter, runs, err);
	free(ids);
	return rc;
}

static int refuse_metric(const struct fab_store_runs *runs, const char *name, int len,
			 struct fab_err *err)
{
	char names[sizeof(err->text)] = "";
	size_t at = 0;

	for (size_t i = 0; i < runs->n_kinds && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s",
				       i ? ", " : "", runs->kinds[i].name);
	fab_fail(err, EINVAL, "--metric: '%.*s' is unknown; there are: %s", len, name,
		 names);
	return FAB_EXIT_USAGE;
}

/* Leave only the metrics that were asked for; *out, which they are then in, is on the
 * heap. */
static int choose_metrics(const char *list, struct fab_store_runs *runs,
			  struct fab_store_kind **out, struct fab_err *err)
{
	FAB_VEC(struct fab_store_kind) chosen = {0};

	for (const char *at = list; at; at = *at ? at + 1 : NULL) {
		size_t len = strcspn(at, ","), i = 0, before = chosen.n;

		for (; i < runs->n_kinds; i++)
			if (strlen(runs->kinds[i].name) == len &&
			    !strncmp(runs->kinds[i].name, at, len))
				FAB_PUSH(&chosen, runs->kinds[i]);
		if (chosen.n == before)
			return refuse_metric(runs, at, (int)len, err);
		at += len;
	}
	if (list) {
		runs->kinds = chosen.v;
		runs->n_kinds = chosen.n;
	}
	*out = chosen.v;
	return 0;
}

static bool has_algorithm(const struct fab_store_run *run, const char *name)
{
	for (size_t i = 0; i < run->n_results; i++)
		if (!strcmp(run->results[i].algorithm, name))
			return true;
	return false;
}

const char *compare_among(const struct compare_params *p)
{
	const struct fab_store_filter *f = &p->filter;

	return f->fabric || f->label || f->command || f->algorithm || *p->prune.before ||
			       p->prune.keep
		       ? " among those that the options choose"
		       : "";
}

static int find_item(const struct compare_params *p, const struct fab_store_runs *runs,
		     const struct compare_spec *spec, struct compare_item *out,
		     struct fab_err *err)
{
	struct compare_item item = {.algorithm = spec->algorithm};

	for (size_t i = 0; i < runs->n; i++)
		if (!spec->id || runs->v[i].id == spec->id)
			item.run = &runs->v[i];
	if (!item.run && spec->id)
		return fab_fail(err, ENOENT, "%s: no run %" PRIu64 "%s", p->path,
				spec->id, compare_among(p));
	if (!item.run)
		return fab_fail(err, ENOENT, "%s: no run%s", p->path, compare_among(p));
	if (item.algorithm && !has_algorithm(item.run, item.algorithm))
		return fab_fail(err, ENOENT, "%s: run %" PRIu64 " has no result of '%s'",
				p->path, item.run->id, item.algorithm);
	*out = item;
	return 0;
}

/* The runs named, or all that were read: into items[n]. */
static int find_items(const struct compare_params *p, const struct fab_store_runs *runs,
		      struct compare_item *items, size_t n, struct fab_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		if (p->specs.n)
			rc = find_item(p, runs, &p->specs.v[i], &items[i], err);
		else
			items[i] = (struct compare_item){.run = &runs->v[i]};
	if (!rc && compare_mode_of(p) == COMPARE_DIFF && n < 2)
		rc = fab_fail(err, ENOENT, "%s: %zu run%s%s: two are needed to compare",
			      p->path, n, n == 1 ? "" : "s", compare_among(p));
	return rc;
}

/* Does --check fail, and why? What is worse stands in the report. */
static bool has_failed_check(const struct compare_params *p,
			     const struct compare_rows *rows)
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

static int print_comparison(const struct compare_params *p,
			    const struct fab_store_runs *runs,
			    const struct compare_item *items, size_t n, FILE *out,
			    const struct fab_report_options *report, bool *has_failed,
			    struct fab_err *err)
{
	char *notes = compare_notes(items, n);
	struct compare_pairs pairs = {0};
	struct compare_rows rows;
	int rc;

	if (notes && report->format == FAB_FORMAT_CSV)
		fab_cli_warn(&p->run, "%s", notes);
	compare_pair_up(items, n, &pairs);
	compare_rows_init(&rows, runs, &pairs, p->tolerance_percent / 100,
			  p->metrics != NULL);
	rc = compare_diff(out, report, items, notes, &pairs, &rows, err);
	if (p->check)
		*has_failed = has_failed_check(p, &rows);
	compare_rows_fini(&rows);
	free(pairs.v);
	free(notes);
	return rc;
}

static int show(const struct compare_params *p, const struct fab_store_runs *runs,
		const struct compare_item *item, FILE *out,
		const struct fab_report_options *report, struct fab_err *err)
{
	struct fab_cli_columns columns = compare_show_columns(runs, item);
	int rc;

	if (p->output.columns &&
	    fab_columns_check(p->output.columns, columns.v, columns.n, err)) {
		fab_err_prefix(err, "--columns");
		return FAB_EXIT_USAGE;
	}
	rc = compare_show(out, report, runs, &columns, item, err);
	compare_show_columns_free(&columns);
	return rc;
}

static int print(const struct compare_params *p, const struct fab_store_runs *runs,
		 const struct compare_item *items, size_t n,
		 struct fab_cli_results *results, struct fab_err *err)
{
	bool has_failed = false;
	struct fab_report_options report;
	FILE *out = fab_cli_open_report(results, &p->output, &report);
	int rc;

	switch (compare_mode_of(p)) {
	case COMPARE_DIFF:
		rc = print_comparison(p, runs, items, n, out, &report, &has_failed, err);
		break;
	case COMPARE_SHOW:
		rc = show(p, runs, &items[0], out, &report, err);
		break;
	case COMPARE_PRUNE:
		rc = compare_prune(out, &report, p->path, &p->prune, runs, &p->run, err);
		break;
	default:
		rc = compare_list(out, &report, runs, err);
	}
	if (!rc)
		rc = fab_cli_commit_results(results, err);
	return rc ? rc : has_failed ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

/* Those of a run that is shown depend on the run. */
static int list_columns(struct compare_params *p, struct fab_err *err)
{
	struct fab_cli_results results = {.n = 0};
	struct fab_cli_columns columns;
	struct fab_store_runs runs;
	struct compare_item item;
	int rc = compare_parse_specs(p, err);

	if (rc)
		return FAB_EXIT_USAGE;
	rc = read_runs(p, &runs, err);
	if (!rc)
		rc = find_item(p, &runs, &p->specs.v[0], &item, err);
	if (rc)
		return rc;
	columns = compare_show_columns(&runs, &item);
	fab_columns_list(fab_cli_open_result(&results, p->output.path), columns.v,
			 columns.n);
	compare_show_columns_free(&columns);
	fab_store_runs_fini(&runs);
	return fab_cli_commit_results(&results, err);
}

int compare_run(void *params, const struct fab_fabric *f, struct fab_err *err)
{
	struct compare_params *p = params;
	struct fab_cli_results results = {.n = 0};
	struct fab_store_kind *chosen;
	struct compare_item *items;
	struct fab_store_runs runs;
	size_t n;
	int rc;

	(void)f;
	if (p->output.list_columns)
		return list_columns(p, err);
	if (p->merge)
		return compare_merge(p, err);
	rc = read_runs(p, &runs, err);
	if (!rc)
		rc = choose_metrics(p->metrics, &runs, &chosen, err);
	if (rc)
		return rc;
	n = p->specs.n ? p->specs.n : runs.n;
	items = FAB_NEW0(n + 1, struct compare_item);
	rc = find_items(p, &runs, items, n, err);
	if (!rc && p->plot.path)
		compare_plot(&p->plot, p->plot_kind, items, n, &results);
	if (!rc)
		rc = print(p, &runs, items, n, &results, err);
	free(items);
	free(chosen);
	fab_store_runs_fini(&runs);
	return rc;
}
