/* SPDX-License-Identifier: BSD-2-Clause */
/* All about one run: what it was, its results and what they are made of. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "compare.h"

/* A row of a part of a result. */
struct record {
	const char *algorithm, *batch;
	struct fab_store_bin bin;
	struct fab_store_detail detail;
	struct fab_store_segment segment;
};

#define AT(member) FAB_AT(struct record, member)
static const struct fab_column histogram_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	{"efi", FAB_UINT, "number of trees on a cable", 0, AT(bin.load)},
	{"cables", FAB_UINT, "switch-to-switch cables with that number", 0,
	 AT(bin.links)},
};
static const struct fab_column detail_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "of the result"),
	{"part", FAB_TEXT, "set of faults, or number of faults", 0, AT(detail.part)},
	{"metric", FAB_TEXT, "what is measured", 0, AT(detail.name)},
	{"value", FAB_NUMBER, "what it is", 0, AT(detail.value)},
};
static const struct fab_column segment_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "of the result"),
	FAB_COLUMN(batch, TEXT, "what boots together"),
	{"name", FAB_TEXT, "kind of segment", 0, AT(segment.name)},
	{"capacity_mbps", FAB_NUMBER, "of the tightest one", FAB_COL_MBPS,
	 AT(segment.capacity_mbps)},
	{"max_sharers", FAB_UINT, "most nodes on any one", 0, AT(segment.max_sharers)},
	{"share_mbps", FAB_NUMBER, "least share of a node", FAB_COL_MBPS,
	 AT(segment.share_mbps)},
	{"tightest", FAB_TEXT, "which one that is", 0, AT(segment.tightest)},
};
#undef AT
#define AT(member) FAB_AT(struct fab_store_batch, member)
static const struct fab_column batch_columns[] = {
	{"algorithm", FAB_TEXT, "of the result", 0, AT(algorithm)},
	{"batch", FAB_TEXT, "what boots together", 0, AT(name)},
	{"nodes", FAB_UINT, "nodes of it", 0, AT(nodes)},
	{"servers", FAB_UINT, "that serve them", 0, AT(servers)},
	{"bandwidth_mbps", FAB_NUMBER, "of the slowest node", FAB_COL_MBPS,
	 AT(bandwidth_mbps)},
	{"boot_seconds", FAB_NUMBER, "until all have booted", FAB_COL_SECONDS,
	 AT(boot_seconds)},
	{"bottleneck", FAB_TEXT, "segment with the least share", 0, AT(bottleneck)},
};
#undef AT

struct fab_column compare_metric_column(const char *name,
					const struct fab_store_kind *kind)
{
	struct fab_column column = {name, FAB_NUMBER};

	if (kind) {
		column.help = kind->help;
		column.flags = fab_unit_flags(kind->unit);
		if (kind->merge == FAB_MERGE_ALL)
			column.flags |= FAB_COL_TRUTH;
	}
	return column;
}

static double metric_of(const struct fab_store_result *r, const char *name)
{
	return fab_store_number_get(r->metrics, r->n_metrics, name);
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	const struct compare_outcome *o = w->outcome;
	int rc = compare_find(w, false, err);

	if (!rc) {
		const struct fab_store_run *run = o->items[0].run;
		struct fab_column *v =
			FAB_ARENA_NEW0(w->arena, o->runs.n_kinds + 1, struct fab_column);
		size_t n = 0;

		/* The known metrics that the run has, in reading order. Others have no
		 * explanation. */
		v[n++] = (struct fab_column){"algorithm", FAB_TEXT, "name", 0};
		for (size_t k = 0; k < o->runs.n_kinds; k++) {
			const struct fab_store_kind *kind = &o->runs.kinds[k];
			bool is_there = false;

			for (size_t i = 0; i < run->n_results; i++)
				is_there |=
					!isnan(metric_of(&run->results[i], kind->name));
			if (!strcmp(kind->command, run->command) && is_there &&
			    fab_store_kind_get(&o->runs, run->command, kind->name) ==
				    kind)
				v[n++] = compare_metric_column(kind->name, kind);
		}
		w->columns = (struct fab_cli_columns){v, n};
	}
	return rc;
}

/* The best of a metric's values; NaN: it says nothing of which algorithm to take. */
static double best_of(const struct fab_store_run *run, const struct fab_store_kind *kind)
{
	double best = NAN;
	bool differ = false;

	if (!kind->better || kind->is_time || strcmp(kind->command, run->command))
		return NAN;
	for (size_t i = 0; i < run->n_results; i++) {
		double value = metric_of(&run->results[i], kind->name);

		if (isnan(value))
			continue;
		differ |= !isnan(best) && (value < best || value > best);
		if (isnan(best) || (kind->better < 0 ? value < best : value > best))
			best = value;
	}
	return differ ? best : (double)NAN;
}

/* Half of the 95 % interval of a metric of a result, which another metric holds; 0: it
 * has none. */
static double half_interval(const struct fab_store_result *x, const char *metric)
{
	static const char *const of[][2] = {{"completion_us.mean", "completion_ci95"},
					    {"ratio_to_oracle", "ratio_ci95"},
					    {"behind_oracle_us", "behind_oracle_ci95"}};
	double half = NAN;

	for (size_t i = 0; i < FAB_COUNT(of); i++)
		if (!strcmp(metric, of[i][0]))
			half = metric_of(x, of[i][1]);
	return isnan(half) ? 0 : half;
}

/* Those that have the best value, or whose 95 % interval meets that of one that has it;
 * *is_close: there are such. On the heap. */
static char *best_names(const struct fab_store_run *run, const char *metric, double best,
			bool *is_close)
{
	double half = 0;
	char *names = NULL;

	for (size_t i = 0; i < run->n_results; i++)
		if (fabs(metric_of(&run->results[i], metric) - best) <= 0)
			half = fmax(half, half_interval(&run->results[i], metric));
	for (size_t i = 0; i < run->n_results; i++) {
		const struct fab_store_result *x = &run->results[i];
		double apart = fabs(metric_of(x, metric) - best);

		if (!(apart <= half + half_interval(x, metric)))
			continue;
		*is_close |= apart > 0;
		fab_append(&names, ", ", "%s", x->algorithm);
	}
	return names;
}

/* The first metric in which algorithms differ, and which is best by it; of several whose
 * intervals meet none is. */
static void answer_best(struct fab_report *r, const struct fab_store_runs *runs,
			const struct fab_store_run *run)
{
	double best = NAN;
	bool is_close = false;
	FAB_AUTOFREE char *names = NULL;
	size_t k = 0;

	while (k < runs->n_kinds && isnan(best = best_of(run, &runs->kinds[k])))
		k++;
	if (isnan(best)) {
		if (run->n_results > 1)
			fab_report_answer(
				r, FAB_TONE_PLAIN,
				"They are alike by every metric (times apart).");
		return;
	}
	names = best_names(run, runs->kinds[k].name, best, &is_close);
	if (is_close)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Undecided by %s: the 95 %% intervals of %s meet (best %.4g).",
			runs->kinds[k].name, names, best);
	else
		fab_report_answer(r, FAB_TONE_PLAIN, "Best by %s: %s with %.4g.",
				  runs->kinds[k].name, names, best);
}

static void answer(struct fab_report *r, const struct fab_work *w)
{
	const struct compare_outcome *o = w->outcome;
	const struct fab_store_run *run = o->items[0].run;
	const struct fab_store_shard *s = run->shard;

	fab_report_answer(r, FAB_TONE_PLAIN, "Run %" PRIu64 " of %s: %s on %s, %s.",
			  run->id, run->time, run->command,
			  run->fabric.source ? run->fabric.source : "no fabric",
			  fab_human_counted(w->arena, run->n_results, "result", NULL));
	if (run->n_shard)
		fab_report_answer(r, FAB_TONE_WARN,
				  "It is shard %" PRIu64 " of %" PRIu64 ": %" PRIu64
				  " of %" PRIu64 " %s.",
				  s->number, s->count, s->items, s->all_items, s->unit);
	if (!o->items[0].algorithm)
		answer_best(r, &o->runs, run);
}

/* A name from a database that anybody wrote: can it be that of a field? */
static bool is_field_name(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

static void print_results(struct fab_report *r, const struct fab_work *w)
{
	const struct compare_item *item =
		((const struct compare_outcome *)w->outcome)->items;
	const struct fab_cli_columns *columns = &w->columns;
	union fab_cell *cells = FAB_ARENA_NEW(w->arena, columns->n, union fab_cell);

	fab_report_table_begin(r, "results", "Algorithms", columns->v, columns->n);
	for (size_t i = 0; i < item->run->n_results; i++) {
		const struct fab_store_result *result = &item->run->results[i];

		cells[0].text = result->algorithm;
		for (size_t k = 1; k < columns->n; k++)
			cells[k].real = metric_of(result, columns->v[k].name);
		if (compare_has(item, result->algorithm))
			fab_report_row(r, cells);
	}
	fab_report_table_end(r);
}

/* Cables by number of trees, of all results. */
static void print_histograms(struct fab_report *r, const struct compare_item *item)
{
	fab_report_table_begin(r, "histogram",
			       "Switch-to-switch cables by number of trees",
			       histogram_columns, FAB_COUNT(histogram_columns));
	for (size_t i = 0; i < item->run->n_results; i++) {
		const struct fab_store_result *x = &item->run->results[i];

		for (size_t k = 0; k < x->n_bins && compare_has(item, x->algorithm); k++)
			fab_report_record(r, &(struct record){.algorithm = x->algorithm,
							      .bin = x->bins[k]});
	}
	fab_report_table_end(r);
}

/* Parts of all results, a number a row. */
static void print_details(struct fab_report *r, const struct compare_item *item)
{
	fab_report_table_begin(r, "details", NULL, detail_columns,
			       FAB_COUNT(detail_columns));
	for (size_t i = 0; i < item->run->n_results; i++) {
		const struct fab_store_result *x = &item->run->results[i];

		for (size_t k = 0; k < x->n_details && compare_has(item, x->algorithm);
		     k++)
			fab_report_record(r, &(struct record){.algorithm = x->algorithm,
							      .detail = x->details[k]});
	}
	fab_report_table_end(r);
}

/* For people: parts down, metrics across. */
static void print_parts(struct fab_report *r, struct fab_arena *arena,
			const struct fab_store_runs *runs, const char *command,
			const struct fab_store_result *result)
{
	struct fab_column *columns =
		FAB_ARENA_NEW(arena, runs->n_kinds + 1, struct fab_column);
	union fab_cell *cells = FAB_ARENA_NEW(arena, runs->n_kinds + 1, union fab_cell);
	size_t n = 0, first = 0;

	/* what is measured of the parts, in reading order */
	for (size_t k = 0; k < runs->n_kinds; k++) {
		const struct fab_store_kind *kind = &runs->kinds[k];
		bool is_there = false;

		for (size_t i = 0; i < result->n_details; i++)
			is_there |= !strcmp(kind->name, result->details[i].name);
		if (is_there && !strcmp(kind->command, command))
			columns[++n] = compare_metric_column(kind->name, kind);
	}
	columns[0] = (struct fab_column){"part", FAB_TEXT, NULL, 0};
	fab_report_table_begin(r, "details",
			       fab_arena_format(arena, "Parts of %s", result->algorithm),
			       columns, n + 1);
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
}

/* Batches of fabric-bootplan, then the segments that they use. */
static void print_batches(struct fab_report *r, const struct compare_item *item)
{
	const struct fab_store_run *run = item->run;

	fab_report_table_begin(r, "batches", "Batches", batch_columns,
			       FAB_COUNT(batch_columns));
	for (size_t i = 0; i < run->n_batches; i++)
		if (compare_has(item, run->batches[i].algorithm))
			fab_report_record(r, &run->batches[i]);
	fab_report_table_end(r);
	fab_report_table_begin(r, "segments", "Segments of the batches", segment_columns,
			       FAB_COUNT(segment_columns));
	for (size_t i = 0; i < run->n_batches; i++) {
		const struct fab_store_batch *b = &run->batches[i];

		for (size_t k = 0; k < b->n_segments && compare_has(item, b->algorithm);
		     k++)
			fab_report_record(r, &(struct record){.algorithm = b->algorithm,
							      .batch = b->name,
							      .segment = b->segments[k]});
	}
	fab_report_table_end(r);
}

/* The results and their parts: for people non-empty tables, for scripts all. */
static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct compare_outcome *o = w->outcome;
	const struct compare_item *item = &o->items[0];
	const struct fab_store_run *run = item->run;
	bool is_for_people = fab_report_how(r)->format == FAB_FORMAT_TABLE;
	bool has_bins = false;
	static const char *const old[] = {"groups", "members"};

	answer(r, w);
	/* Facts are below `facts` in JSON, groups and members also at the top; `command`
	 * and `version` of the document are those of fabric-compare. */
	fab_report_uint(r, "run", run->id);
	fab_report_text(r, "time", run->time);
	fab_report_text(r, "label", run->label);
	if (run->n_shard)
		fab_report_text(r, "shard", compare_shard_text(w->arena, run));
	fab_report_text(r, "host", run->host);
	fab_report_text(r, "run_command", run->command);
	fab_report_text(r, "run_version", run->version);
	fab_report_text(r, "arguments", run->arguments);
	fab_report_brief(r, "fabric", &run->fabric);
	for (size_t i = 0; i < FAB_COUNT(old) && !is_for_people; i++)
		fab_report_field(
			r, &(struct fab_column){.name = old[i], .type = FAB_NUMBER},
			(union fab_cell){.real = fab_store_number_get(
						 run->facts, run->n_facts, old[i])});
	for (size_t i = 0; i < run->n_facts; i++) {
		struct fab_column column = compare_fact_column(run->facts[i].name);

		column.name = fab_arena_format(
			w->arena, "%s%s", is_for_people ? "" : "facts.", column.name);
		if (is_field_name(run->facts[i].name))
			fab_report_field(r, &column,
					 (union fab_cell){.real = run->facts[i].value});
	}
	for (size_t i = 0; i < run->n_asked; i++)
		if (is_field_name(run->asked[i].name))
			fab_report_text(r,
					fab_arena_format(w->arena, "asked%c%s",
							 is_for_people ? '_' : '.',
							 run->asked[i].name),
					run->asked[i].value);
	print_results(r, w);
	for (size_t i = 0; i < run->n_results; i++)
		has_bins |= run->results[i].n_bins > 0;
	if (has_bins || !is_for_people)
		print_histograms(r, item);
	if (!is_for_people)
		print_details(r, item);
	for (size_t i = 0; i < run->n_results && is_for_people; i++)
		if (run->results[i].n_details &&
		    compare_has(item, run->results[i].algorithm))
			print_parts(r, w->arena, &o->runs, run->command,
				    &run->results[i]);
	if (run->n_batches || !is_for_people)
		print_batches(r, item);
}

const struct fab_task compare_show = {
	.primary = "results",
	.outcome_bytes = sizeof(struct compare_outcome),
	.solve = solve,
	.files = compare_files,
	.report = report,
	.fini = compare_fini,
};
