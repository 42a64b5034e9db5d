/* SPDX-License-Identifier: BSD-2-Clause */
/* All about one run. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A row of a part of a result. */
struct record {
	const char *algorithm, *part, *metric, *name, *tightest, *bottleneck;
	uint64_t load, links, nodes, servers, max_sharers;
	double value, capacity_mbps, share_mbps, bandwidth_mbps, boot_seconds;
};

#define AT(member) FAB_AT(struct record, member)
static const struct fab_column histogram_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	{"efi", FAB_UINT, "number of trees on a cable", 0, AT(load)},
	{"cables", FAB_UINT, "switch-to-switch cables with that number", 0, AT(links)},
};
static const struct fab_column detail_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "of the result"),
	FAB_COLUMN(part, TEXT, "set of faults, or number of faults"),
	FAB_COLUMN(metric, TEXT, "what is measured"),
	FAB_COLUMN(value, NUMBER, "what it is"),
};
static const struct fab_column batch_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "of the result"),
	{"batch", FAB_TEXT, "what boots together", 0, AT(part)},
	FAB_COLUMN(nodes, UINT, "nodes of it"),
	FAB_COLUMN(servers, UINT, "that serve them"),
	FAB_COLUMN_AS(bandwidth_mbps, NUMBER, "of the slowest node", FAB_COL_MBPS),
	FAB_COLUMN_AS(boot_seconds, NUMBER, "until all have booted", FAB_COL_SECONDS),
	FAB_COLUMN(bottleneck, TEXT, "segment with the least share"),
};
static const struct fab_column segment_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "of the result"),
	{"batch", FAB_TEXT, "what boots together", 0, AT(part)},
	FAB_COLUMN(name, TEXT, "kind of segment"),
	FAB_COLUMN_AS(capacity_mbps, NUMBER, "of the tightest one", FAB_COL_MBPS),
	FAB_COLUMN(max_sharers, UINT, "most nodes on any one"),
	FAB_COLUMN_AS(share_mbps, NUMBER, "least share of a node", FAB_COL_MBPS),
	FAB_COLUMN(tightest, TEXT, "which one that is"),
};
#undef AT

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
static struct fab_cli_columns columns_of(struct fab_arena *arena,
					 const struct fab_store_runs *runs,
					 const struct compare_item *item)
{
	const struct fab_store_run *run = item->run;
	struct fab_column *v =
		FAB_ARENA_NEW0(arena, 1 + count_metrics(run), struct fab_column);
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
			v[n++] = compare_metric_column(name, &runs->kinds[k]);
		}
	return (struct fab_cli_columns){v, n};
}

/* Of a file that anybody wrote: a name that can be a field's. */
static bool is_field_name(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* In JSON below `facts`; groups and members also as they always were. */
static void put_facts(struct fab_report *r, const struct fab_store_run *run,
		      bool is_for_people)
{
	static const char *const old[] = {"groups", "members"};

	for (size_t i = 0; i < FAB_COUNT(old) && !is_for_people; i++)
		fab_report_field(
			r, &(struct fab_column){.name = old[i], .type = FAB_NUMBER},
			(union fab_cell){.real = fab_store_number_get(
						 run->facts, run->n_facts, old[i])});
	for (size_t i = 0; i < run->n_facts; i++) {
		struct fab_column column = compare_fact_column(run->facts[i].name);
		char *name =
			fab_format("%s%s", is_for_people ? "" : "facts.", column.name);

		column.name = name;
		if (is_field_name(run->facts[i].name))
			fab_report_field(r, &column,
					 (union fab_cell){.real = run->facts[i].value});
		free(name);
	}
	for (size_t i = 0; i < run->n_asked; i++) {
		char *name = fab_format("asked%c%s", is_for_people ? '_' : '.',
					run->asked[i].name);

		if (is_field_name(run->asked[i].name))
			fab_report_text(r, name, run->asked[i].value);
		free(name);
	}
}

/* `command` and `version` of the document are those of fabric-compare. */
static void print_fields(struct fab_report *r, const struct fab_store_run *run,
			 bool is_for_people)
{
	char shard[64];

	fab_report_uint(r, "run", run->id);
	fab_report_text(r, "time", run->time);
	fab_report_text(r, "label", run->label);
	if (run->n_shard)
		fab_report_text(r, "shard",
				compare_shard_text(run, shard, sizeof(shard)));
	fab_report_text(r, "host", run->host);
	fab_report_text(r, "run_command", run->command);
	fab_report_text(r, "run_version", run->version);
	fab_report_text(r, "arguments", run->arguments);
	fab_report_brief(r, "fabric", &run->fabric);
	put_facts(r, run, is_for_people);
}

static void print_results(struct fab_report *r, const struct fab_cli_columns *columns,
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

		for (size_t k = 0; k < result->n_bins && is_wanted(item, result); k++)
			fab_report_record(
				r, &(struct record){.algorithm = result->algorithm,
						    .load = result->bins[k].load,
						    .links = result->bins[k].links});
	}
	fab_report_table_end(r);
}

static void print_details(struct fab_report *r, const struct compare_item *item)
{
	fab_report_table_begin(r, "details", NULL, detail_columns,
			       FAB_COUNT(detail_columns));
	for (size_t i = 0; i < item->run->n_results; i++) {
		const struct fab_store_result *result = &item->run->results[i];

		for (size_t k = 0; k < result->n_details && is_wanted(item, result); k++)
			fab_report_record(
				r, &(struct record){.algorithm = result->algorithm,
						    .part = result->details[k].part,
						    .metric = result->details[k].name,
						    .value = result->details[k].value});
	}
	fab_report_table_end(r);
}

/* Names of what is measured of the parts of a result, in reading order. */
static size_t names_of_parts(const struct fab_store_runs *runs, const char *command,
			     const struct fab_store_result *r, struct fab_column *columns)
{
	size_t n = 0;

	for (size_t k = 0; k < runs->n_kinds; k++)
		for (size_t i = 0; i < r->n_details; i++)
			if (!strcmp(runs->kinds[k].command, command) &&
			    !strcmp(runs->kinds[k].name, r->details[i].name)) {
				columns[n++] = compare_metric_column(runs->kinds[k].name,
								     &runs->kinds[k]);
				break;
			}
	return n;
}

/* For people: parts down, metrics across. */
static void print_parts(struct fab_report *r, const struct fab_store_runs *runs,
			const char *command, const struct fab_store_result *result)
{
	struct fab_column *columns = FAB_NEW(runs->n_kinds + 1, struct fab_column);
	union fab_cell *cells = FAB_NEW(runs->n_kinds + 1, union fab_cell);
	size_t n = names_of_parts(runs, command, result, columns + 1), first = 0;
	char *title = fab_format("Parts of %s", result->algorithm);

	columns[0] = (struct fab_column){"part", FAB_TEXT, NULL, 0};
	fab_report_table_begin(r, "details", title, columns, n + 1);
	for (size_t i = 0; i < result->n_details; i++) {
		const struct fab_store_detail *d = &result->details[i];

		if (i == first) {
			cells[0].text = d->part;
			for (size_t k = 1; k <= n; k++)
				cells[k].real = NAN;
		}
		for (size_t k = 1; k <= n; k++)
			if (!strcmp(columns[k].name, d->name))
				cells[k].real = d->value;
		if (i + 1 < result->n_details && d[1].position == d->position)
			continue;
		fab_report_row(r, cells);
		first = i + 1;
	}
	fab_report_table_end(r);
	free(title);
	free(cells);
	free(columns);
}

static bool has_algorithm(const struct compare_item *item, const char *algorithm)
{
	return !item->algorithm || !strcmp(item->algorithm, algorithm);
}

static void print_batches(struct fab_report *r, const struct compare_item *item)
{
	fab_report_table_begin(r, "batches", "Batches", batch_columns,
			       FAB_COUNT(batch_columns));
	for (size_t i = 0; i < item->run->n_batches; i++) {
		const struct fab_store_batch *b = &item->run->batches[i];

		if (has_algorithm(item, b->algorithm))
			fab_report_record(
				r, &(struct record){.algorithm = b->algorithm,
						    .part = b->name,
						    .nodes = b->nodes,
						    .servers = b->servers,
						    .bandwidth_mbps = b->bandwidth_mbps,
						    .boot_seconds = b->boot_seconds,
						    .bottleneck = b->bottleneck});
	}
	fab_report_table_end(r);
}

static void print_segments(struct fab_report *r, const struct compare_item *item)
{
	fab_report_table_begin(r, "segments", "Segments of the batches", segment_columns,
			       FAB_COUNT(segment_columns));
	for (size_t i = 0; i < item->run->n_batches; i++) {
		const struct fab_store_batch *b = &item->run->batches[i];

		for (size_t k = 0; k < b->n_segments; k++) {
			const struct fab_store_segment *s = &b->segments[k];

			if (has_algorithm(item, b->algorithm))
				fab_report_record(
					r, &(struct record){
						   .algorithm = b->algorithm,
						   .part = b->name,
						   .name = s->name,
						   .tightest = s->tightest,
						   .capacity_mbps = s->capacity_mbps,
						   .share_mbps = s->share_mbps,
						   .max_sharers = s->max_sharers});
		}
	}
	fab_report_table_end(r);
}

/* What the results are made of: for people what there is, for scripts every table. */
static void print_made_of(struct fab_report *r, const struct fab_store_runs *runs,
			  const struct compare_item *item, bool is_for_people)
{
	bool has_bins = false;

	for (size_t i = 0; i < item->run->n_results; i++)
		has_bins |= item->run->results[i].n_bins > 0;
	if (has_bins || !is_for_people)
		print_histogram(r, item);
	if (!is_for_people)
		print_details(r, item);
	for (size_t i = 0; i < item->run->n_results && is_for_people; i++)
		if (item->run->results[i].n_details &&
		    is_wanted(item, &item->run->results[i]))
			print_parts(r, runs, item->run->command, &item->run->results[i]);
	if (item->run->n_batches || !is_for_people) {
		print_batches(r, item);
		print_segments(r, item);
	}
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	const struct compare_outcome *o = w->outcome;
	int rc = compare_find(w, false, err);

	if (!rc)
		w->columns = columns_of(w->arena, &o->runs, &o->items[0]);
	return rc;
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct compare_outcome *o = w->outcome;
	bool is_for_people = fab_report_how(r)->format == FAB_FORMAT_TABLE;

	compare_show_answer(r, &o->runs, &o->items[0]);
	print_fields(r, o->items[0].run, is_for_people);
	print_results(r, &w->columns, &o->items[0]);
	print_made_of(r, &o->runs, &o->items[0], is_for_people);
}

const struct fab_task compare_show = {
	.primary = "results",
	.outcome_bytes = sizeof(struct compare_outcome),
	.solve = solve,
	.files = compare_files,
	.report = report,
	.fini = compare_fini,
};
