/* SPDX-License-Identifier: BSD-2-Clause */
/* All about one run. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct fab_column histogram_columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm", 0},
	{"efi", FAB_UINT, "number of trees on a cable", 0},
	{"cables", FAB_UINT, "switch-to-switch cables with that number", 0},
};

static bool is_wanted(const struct compare_item *item, const struct fab_store_result *r)
{
	return !item->algorithm || !strcmp(item->algorithm, r->algorithm);
}

static bool has_column(const struct fab_column *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].name, name))
			return true;
	return false;
}

static size_t count_metrics(const struct fab_store_run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n_results; i++)
		n += run->results[i].n_metrics;
	return n;
}

/* The known metrics that the run has, in reading order. Others have no explanation. */
struct compare_columns compare_show_columns(const struct fab_store_runs *runs,
					    const struct compare_item *item)
{
	const struct fab_store_run *run = item->run;
	struct fab_column *v = FAB_NEW0(1 + count_metrics(run), struct fab_column);
	size_t n = 0;

	v[n++] = (struct fab_column){"algorithm", FAB_TEXT, "name", 0};
	for (size_t k = 0; k < runs->n_kinds; k++)
		for (size_t i = 0; i < run->n_results; i++) {
			const struct fab_store_result *r = &run->results[i];
			const char *name = runs->kinds[k].name;

			if (strcmp(runs->kinds[k].command, run->command) != 0 ||
			    isnan(fab_store_number_get(r->metrics, r->n_metrics, name)) ||
			    has_column(v, n, name))
				continue;
			v[n++] = (struct fab_column){name, FAB_NUMBER,
						     runs->kinds[k].help, 0};
		}
	return (struct compare_columns){v, n};
}

void compare_show_columns_free(struct compare_columns *columns)
{
	free((void *)(uintptr_t)columns->v);
}

static void put_fact(struct fab_report *r, const struct fab_store_run *run,
		     const char *name)
{
	fab_report_field(r, &(struct fab_column){.name = name, .type = FAB_NUMBER},
			 (union fab_cell){.real = fab_store_number_get(
						  run->facts, run->n_facts, name)});
}

/* `command` and `version` of the document are those of fabric-compare. */
static void print_fields(struct fab_report *r, const struct fab_store_run *run)
{
	fab_report_uint(r, "run", run->id);
	fab_report_text(r, "time", run->time);
	fab_report_text(r, "label", run->label);
	fab_report_text(r, "host", run->host);
	fab_report_text(r, "run_command", run->command);
	fab_report_text(r, "run_version", run->version);
	fab_report_text(r, "arguments", run->arguments);
	fab_report_text(r, "fabric.source", run->source);
	fab_report_field(
		r, &(struct fab_column){.name = "fabric.fingerprint", .type = FAB_GUID},
		(union fab_cell){.u = run->fingerprint});
	fab_report_uint(r, "fabric.switches", run->switches);
	fab_report_uint(r, "fabric.adapters", run->adapters);
	fab_report_uint(r, "fabric.aggregation_nodes", run->aggregation_nodes);
	fab_report_uint(r, "fabric.hosts", run->hosts);
	fab_report_uint(r, "fabric.switch_links", run->switch_links);
	fab_report_uint(r, "fabric.host_links", run->host_links);
	put_fact(r, run, "groups");
	put_fact(r, run, "members");
}

static void print_results(struct fab_report *r, const struct compare_columns *columns,
			  const struct compare_item *item)
{
	union fab_cell *cells = FAB_NEW(columns->n, union fab_cell);

	fab_report_table_begin(r, "results", "Algorithms", columns->v, columns->n);
	for (size_t i = 0; i < item->run->n_results; i++) {
		const struct fab_store_result *result = &item->run->results[i];

		if (!is_wanted(item, result))
			continue;
		cells[0].text = result->algorithm;
		for (size_t k = 1; k < columns->n; k++)
			cells[k].real = fab_store_number_get(
				result->metrics, result->n_metrics, columns->v[k].name);
		fab_report_row(r, cells);
	}
	fab_report_table_end(r);
	free(cells);
}

static void print_histogram(struct fab_report *r, const struct compare_item *item)
{
	fab_report_table_begin(r, "histogram",
			       "Switch-to-switch cables by number of trees",
			       histogram_columns, FAB_COUNT(histogram_columns));
	for (size_t i = 0; i < item->run->n_results; i++) {
		const struct fab_store_result *result = &item->run->results[i];

		for (size_t k = 0; k < result->n_bins && is_wanted(item, result); k++) {
			const union fab_cell cells[] = {{.text = result->algorithm},
							{.u = result->bins[k].load},
							{.u = result->bins[k].links}};

			fab_report_row(r, cells);
		}
	}
	fab_report_table_end(r);
}

int compare_show(FILE *out, const struct fab_report_options *options,
		 const struct fab_store_runs *runs, const struct compare_columns *columns,
		 const struct compare_item *item, struct fab_err *err)
{
	struct fab_report *r =
		fab_report_new(out, options, "fabric-compare", "results", NULL);

	compare_show_answer(r, runs, item);
	print_fields(r, item->run);
	print_results(r, columns, item);
	print_histogram(r, item);
	return fab_report_finish(r, err);
}
