/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs side by side: the answer, for scripts a row for each number, for people metrics
 * down and runs across.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "compare.h"

enum { MAX_TEXT = 40, MAX_PARTS = 50, PER_RUN = 3 };

static const char *verdict_name(enum compare_verdict verdict)
{
	static const char *const names[] = {NULL, "same", "better", "worse"};

	return names[verdict];
}

/* A value of the row with its unit. */
static char *value_text(struct fab_arena *arena, const struct compare_row *row,
			double value)
{
	struct fab_column column = compare_metric_column("", row->kind);
	char *text = isinf(value)
			     ? fab_strdup("never")
			     : fab_cell_human(&column, (union fab_cell){.real = value});

	fab_arena_own(arena, free, text);
	return text;
}

static char *number_text(struct fab_arena *arena, const char *name, double value)
{
	return isnan(value) ? fab_arena_strdup(arena, "none")
			    : compare_fact_text(arena,
						&(struct fab_store_number){name, value});
}

static void differ_in_number(struct fab_arena *arena, char **list, const char *name,
			     double a, double b)
{
	if (!(fabs(a - b) <= 0))
		fab_append(list, "; ", "%s %s and %s", name, number_text(arena, name, a),
			   number_text(arena, name, b));
}

static void differ_in_text(char **list, const char *name, const char *a, const char *b)
{
	if ((!a && !b) || (a && b && !strcmp(a, b)))
		return;
	fab_append(list, "; ", "%s %.*s%s and %.*s%s", name, MAX_TEXT, a ? a : "none",
		   a && strlen(a) > MAX_TEXT ? "..." : "", MAX_TEXT, b ? b : "none",
		   b && strlen(b) > MAX_TEXT ? "..." : "");
}

static double fact_of(const struct fab_store_run *run, const char *name)
{
	return fab_store_number_get(run->facts, run->n_facts, name);
}

/* NULL: it was not asked for. */
static const char *asked_of(const struct fab_store_run *run, const char *name)
{
	for (size_t i = 0; i < run->n_asked; i++)
		if (!strcmp(run->asked[i].name, name))
			return run->asked[i].value;
	return NULL;
}

static void note_of(struct fab_arena *arena, char **notes,
		    const struct fab_store_run *base, const struct fab_store_run *run)
{
	FAB_AUTOFREE char *list = NULL;

	if (strcmp(base->command, run->command) != 0) {
		fab_append(notes, ". ",
			   "Runs %" PRIu64 " and %" PRIu64
			   " are of different commands: %s and %s",
			   base->id, run->id, base->command, run->command);
		return;
	}
	if (run->fabric.fingerprint != base->fabric.fingerprint)
		fab_append(notes, ". ",
			   "Runs %" PRIu64 " and %" PRIu64
			   " are of different fabrics: %s and %s",
			   base->id, run->id, base->fabric.source, run->fabric.source);
	/* facts and requests in which the runs differ */
	differ_in_text(&list, "shard", compare_shard_text(arena, base),
		       compare_shard_text(arena, run));
	for (size_t i = 0; i < base->n_facts; i++)
		differ_in_number(arena, &list, base->facts[i].name, base->facts[i].value,
				 fact_of(run, base->facts[i].name));
	for (size_t i = 0; i < base->n_asked; i++)
		differ_in_text(&list, base->asked[i].name, base->asked[i].value,
			       asked_of(run, base->asked[i].name));
	for (size_t i = 0; i < run->n_facts; i++)
		if (isnan(fact_of(base, run->facts[i].name)))
			differ_in_number(arena, &list, run->facts[i].name, NAN,
					 run->facts[i].value);
	for (size_t i = 0; i < run->n_asked; i++)
		if (!asked_of(base, run->asked[i].name))
			differ_in_text(&list, run->asked[i].name, NULL,
				       run->asked[i].value);
	if (list)
		fab_append(notes, ". ",
			   "Runs %" PRIu64 " and %" PRIu64
			   " were asked for different things: %s",
			   base->id, run->id, list);
}

/* Does --check fail, and why? What is worse stands in the report. */
static bool has_failed_check(const struct compare_params *p,
			     const struct compare_outcome *o)
{
	const struct compare_counts *c = &o->counts, *parts = &o->parts;

	if (c->vanished || parts->vanished)
		fab_cli_warn(&p->run, "--check: %" PRIu64 " values of the base are gone",
			     c->vanished + parts->vanished);
	if (!c->better && !c->worse && !c->same) {
		fab_cli_warn(&p->run, "--check: nothing could be compared");
		return true;
	}
	return c->worse || parts->worse || c->vanished || parts->vanished;
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	const struct compare_params *p = w->params;
	struct compare_outcome *o = w->outcome;
	char *notes = NULL;
	int rc = compare_find(w, false, err);

	if (!rc && o->n_items < 2)
		rc = fab_fail(err, ENOENT, "%s: %zu run%s%s: two are needed to compare",
			      p->path, o->n_items, o->n_items == 1 ? "" : "s",
			      compare_among(p));
	if (rc)
		return rc;
	for (size_t i = 1; i < o->n_items; i++)
		note_of(w->arena, &notes, o->items[0].run, o->items[i].run);
	fab_arena_own(w->arena, free, notes);
	o->notes = notes;
	if (notes && p->output.format == FAB_FORMAT_CSV)
		fab_cli_warn(&p->run, "%s", notes);
	compare_pair_up(p, o, w->arena);
	return p->check && has_failed_check(p, o) ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

/* How far apart, of the larger; what becomes 0 or was 0 is 1. */
static double change_of(const struct compare_row *row)
{
	double larger = fmax(fabs(row->base), fabs(row->value));

	return larger > 0 ? fabs(row->value - row->base) / larger : 0;
}

/* The first of the largest changes of this verdict. */
static void answer_most(struct fab_report *r, const struct fab_work *w,
			enum compare_verdict verdict)
{
	const struct compare_outcome *o = w->outcome;
	const struct compare_row *most = NULL;

	for (size_t i = 0; i < o->rows.n; i++) {
		const struct compare_row *row = &o->rows.v[i];

		if (row->verdict == verdict && !row->part && !row->kind->is_time &&
		    (!most || change_of(row) > change_of(most)))
			most = row;
	}
	if (!most)
		return;
	fab_report_answer(r, FAB_TONE_PLAIN, "Most %s: %s of %s, from %s to %s.",
			  verdict_name(verdict), most->metric,
			  most->pair->other->algorithm,
			  value_text(w->arena, most, most->base),
			  value_text(w->arena, most, most->value));
}

/* A row for scripts. */
struct record {
	const char *metric, *part, *base_algorithm, *algorithm, *verdict;
	uint64_t base_run, run;
	double base_value, value, ratio;
};

static const struct fab_column columns[] = {
	FAB_COLUMN(metric, TEXT, "what is compared"),
	FAB_COLUMN_AS(base_run, UINT, "number of the first run", FAB_COL_EXTRA),
	FAB_COLUMN(base_algorithm, TEXT, "algorithm of it"),
	FAB_COLUMN(base_value, NUMBER, "what it had; null: nothing"),
	FAB_COLUMN(run, UINT, "number of the other run"),
	FAB_COLUMN(algorithm, TEXT, "algorithm of it"),
	FAB_COLUMN(value, NUMBER, "what it had; null: nothing"),
	FAB_COLUMN(ratio, REAL, "value divided by base_value"),
	FAB_COLUMN_AS(verdict, TEXT, "better, worse or same; null: neither is better",
		      FAB_COL_VERDICT),
	/* from here on of parts only */
	FAB_COLUMN(part, TEXT,
		   "set of faults, number of faults, batch, segment of a batch"),
};
enum { N_COLUMNS = FAB_COUNT(columns) - 1 };

static void put_rows(struct fab_report *r, const char *name, const char *title,
		     size_t n_columns, const struct compare_outcome *o, bool are_parts)
{
	fab_report_table_begin(r, name, title, columns, n_columns);
	for (size_t i = 0; i < o->rows.n; i++)
		if ((o->rows.v[i].part != NULL) == are_parts) {
			const struct compare_row *row = &o->rows.v[i];
			const struct compare_pair *p = row->pair;
			const struct record record = {
				.metric = row->metric,
				.part = row->part,
				.base_run = p->base_item->run->id,
				.base_algorithm = p->base ? p->base->algorithm : NULL,
				.base_value = row->base,
				.run = p->item->run->id,
				.algorithm = p->other ? p->other->algorithm : NULL,
				.value = row->value,
				.ratio = row->base > 0 ? row->value / row->base
						       : (double)NAN,
				.verdict = verdict_name(row->verdict),
			};

			fab_report_record(r, &record);
		}
	fab_report_table_end(r);
}

/* A result of the base and all that is compared with it. */
struct block {
	const struct compare_outcome *o;
	struct fab_arena *arena;
	const struct compare_pair *first;
	FAB_VEC(size_t) pairs;
	bool is_one_name; /* all of one algorithm */
};

/* Rows of the table: cells [line][pair of the block], NULL: none. */
struct lines {
	const struct compare_row **cells;
	size_t n, cap, width;
};

static const struct compare_row **add_line(struct lines *l)
{
	if (l->n == l->cap) {
		l->cap = fab_grow(l->cap, l->n + 1);
		l->cells = fab_realloc(l->cells, l->cap * l->width, sizeof(*l->cells));
	}
	memset(l->cells + l->n * l->width, 0, l->width * sizeof(*l->cells));
	return l->cells + l->n++ * l->width;
}

static const struct compare_row *row_of(const struct lines *l, size_t line)
{
	const struct compare_row *const *cells = l->cells + line * l->width;
	size_t i = 0;

	while (!cells[i])
		i++;
	return cells[i];
}

/* The text of a column of a run: value, ratio or verdict. */
static const char *text_of(struct fab_arena *arena, const struct compare_row *row,
			   size_t which)
{
	const char *verdict;

	if (!row)
		return "-";
	if (which == 0)
		return value_text(arena, row, row->value);
	if (which == 1)
		return row->base > 0 && isfinite(row->base) && isfinite(row->value)
			       ? fab_arena_format(arena, "%.4g", row->value / row->base)
			       : "-";
	verdict = row->has_vanished ? "gone" : verdict_name(row->verdict);
	if (verdict && row->kind->is_time)
		return fab_arena_format(arena, "(%s)", verdict);
	return verdict ? verdict : "-";
}

static char *heading_of(const struct block *b, const struct compare_item *item,
			const struct fab_store_result *r)
{
	return b->is_one_name ? fab_arena_format(b->arena, "run %" PRIu64, item->run->id)
			      : fab_arena_format(b->arena, "%" PRIu64 ":%s",
						 item->run->id, r->algorithm);
}

/* The lines as a table of texts: part (if any), metric, value of the base, and for each
 * run value, ratio and verdict. */
static void print_lines(struct fab_report *r, const char *title, const struct lines *l,
			const struct block *b)
{
	size_t own = row_of(l, 0)->part ? 3 : 2, n = own + PER_RUN * l->width;
	struct fab_column *heads = FAB_ARENA_NEW0(b->arena, n, struct fab_column);
	union fab_cell *line = FAB_ARENA_NEW(b->arena, n, union fab_cell);

	heads[0] = (struct fab_column){"part", FAB_TEXT};
	heads[own - 2] = (struct fab_column){"metric", FAB_TEXT};
	heads[own - 1] =
		(struct fab_column){heading_of(b, b->first->base_item, b->first->base),
				    FAB_TEXT, "", FAB_COL_RIGHT};
	for (size_t k = 0; k < l->width; k++) {
		const struct compare_pair *pair = &b->o->pairs.v[b->pairs.v[k]];
		struct fab_column *of_run = &heads[own + PER_RUN * k];

		of_run[0] = (struct fab_column){heading_of(b, pair->item, pair->other),
						FAB_TEXT, "", FAB_COL_RIGHT};
		of_run[1] = (struct fab_column){"ratio", FAB_TEXT, "", FAB_COL_RIGHT};
		of_run[2] = (struct fab_column){"verdict", FAB_TEXT, "", FAB_COL_VERDICT};
	}
	fab_report_table_begin(r, "sides", title, heads, n);
	for (size_t i = 0; i < l->n; i++) {
		const struct compare_row *row = row_of(l, i);

		line[0].text = row->part;
		line[own - 2].text = row->metric;
		line[own - 1].text = value_text(b->arena, row, row->base);
		for (size_t c = own; c < n; c++)
			line[c].text = text_of(
				b->arena, l->cells[i * l->width + (c - own) / PER_RUN],
				(c - own) % PER_RUN);
		fab_report_row(r, line);
	}
	fab_report_table_end(r);
}

static void print_block(struct fab_report *r, const struct block *b)
{
	struct lines metrics = {.width = b->pairs.n}, parts = {.width = b->pairs.n};
	const char *name = b->first->base->algorithm;
	size_t n_left_out;
	size_t n;
	size_t n_kept = 0;

	/* The metrics of all pairs; a line for each name. */
	for (size_t k = 0; k < b->pairs.n; k++)
		for (size_t i = b->o->first[b->pairs.v[k]];
		     i < b->o->first[b->pairs.v[k] + 1]; i++) {
			const struct compare_row *row = &b->o->rows.v[i];
			size_t at = 0;

			if (row->part)
				continue;
			while (at < metrics.n &&
			       strcmp(row_of(&metrics, at)->metric, row->metric) != 0)
				at++;
			(at < metrics.n ? metrics.cells + at * metrics.width
					: add_line(&metrics))[k] = row;
		}
	if (metrics.n)
		print_lines(r,
			    b->is_one_name ? name
					   : fab_arena_format(b->arena,
							      "Compared with %s", name),
			    &metrics, b);
	/* Parts of the base, in the same order for every pair; then parts that it lacks.
	 */
	for (size_t k = 0; k < b->pairs.n; k++) {
		size_t at = 0;

		for (size_t i = b->o->first[b->pairs.v[k]];
		     i < b->o->first[b->pairs.v[k] + 1]; i++) {
			const struct compare_row *row = &b->o->rows.v[i];

			if (!row->part)
				continue;
			if (isnan(row->base) || !k)
				add_line(&parts)[k] = row;
			else
				parts.cells[at++ * parts.width + k] = row;
		}
	}
	/* Leave the lines where something changed, at most MAX_PARTS; how many go. */
	n = parts.n;
	for (size_t i = 0; i < n && n > MAX_PARTS; i++) {
		bool has_changed = false;

		for (size_t k = 0; k < parts.width; k++) {
			const struct compare_row *row = parts.cells[i * parts.width + k];

			has_changed |= row && (row->verdict >= COMPARE_BETTER ||
					       isnan(row->base) != isnan(row->value));
		}
		if (!has_changed || n_kept == MAX_PARTS)
			continue;
		memmove(parts.cells + n_kept++ * parts.width,
			parts.cells + i * parts.width,
			parts.width * sizeof(*parts.cells));
	}
	if (n > MAX_PARTS)
		parts.n = n_kept;
	n_left_out = n - parts.n;
	if (parts.n)
		print_lines(r, fab_arena_format(b->arena, "Parts of %s", name), &parts,
			    b);
	if (n_left_out)
		fab_report_text(
			r, "left_out",
			fab_arena_format(
				b->arena,
				"%zu rows of parts of %s, of %zu: those that did not change and more; --format=json has all",
				n_left_out, name, n_left_out + parts.n));
	free(metrics.cells);
	free(parts.cells);
}

/* Names of results that only one of two runs has. */
static void print_single(struct fab_report *r, const struct fab_work *w, size_t first,
			 bool of_base)
{
	const struct compare_outcome *o = w->outcome;
	const struct compare_item *item = o->pairs.v[first].item;
	FAB_AUTOFREE char *text = NULL;

	for (size_t i = first; i < o->pairs.n && o->pairs.v[i].item == item; i++) {
		const struct compare_pair *p = &o->pairs.v[i];
		const struct fab_store_result *one = of_base ? p->base : p->other;

		if (!(of_base ? p->other : p->base))
			fab_append(&text, ", ", "%s", one->algorithm);
	}
	if (text)
		fab_report_text(r,
				fab_arena_format(w->arena,
						 of_base ? "missing_in_run_%" PRIu64
							 : "only_in_run_%" PRIu64,
						 item->run->id),
				text);
}

/* For people: a block for each result of the base that another is compared with. */
static void print_sides(struct fab_report *r, const struct fab_work *w)
{
	const struct compare_outcome *o = w->outcome;
	size_t n = o->pairs.n;

	for (size_t i = 0; i < n; i++)
		if (!i || o->pairs.v[i].item != o->pairs.v[i - 1].item) {
			print_single(r, w, i, true);
			print_single(r, w, i, false);
		}
	for (size_t i = 0; i < n; i++) {
		struct block b = {.o = o,
				  .arena = w->arena,
				  .first = &o->pairs.v[i],
				  .is_one_name = true};
		bool is_first = b.first->base && b.first->other;

		for (size_t k = 0; k < i && is_first; k++)
			is_first = o->pairs.v[k].base != b.first->base ||
				   !o->pairs.v[k].other;
		for (size_t k = i; k < n && is_first; k++) {
			const struct compare_pair *p = &o->pairs.v[k];

			if (p->base != b.first->base || !p->other)
				continue;
			FAB_PUSH(&b.pairs, k);
			b.is_one_name &= !strcmp(p->base->algorithm, p->other->algorithm);
		}
		if (is_first)
			print_block(r, &b);
		free(b.pairs.v);
	}
}

static void put_counts(struct fab_report *r, const char *prefix,
		       const struct compare_counts *c)
{
	const struct {
		const char *name;
		uint64_t n;
	} all[] = {{"better", c->better},
		   {"worse", c->worse},
		   {"same", c->same},
		   {"vanished", c->vanished}};

	for (size_t i = 0; i < FAB_COUNT(all); i++) {
		FAB_AUTOFREE char *name = fab_format("%s%s", prefix, all[i].name);

		fab_report_uint(r, name, all[i].n);
	}
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	static const struct fab_column notes_column = {
		"notes", FAB_TEXT, "differences of command, fabric and job",
		FAB_COL_EXTRA};
	const struct compare_outcome *o = w->outcome;
	const struct compare_item *base = &o->items[0];
	const struct fab_store_run *run = base->run;
	bool is_for_people = fab_report_how(r)->format == FAB_FORMAT_TABLE;
	const struct compare_counts *c = &o->counts, *p = &o->parts;
	uint64_t vanished = c->vanished + p->vanished;
	char better[FAB_HUMAN_BYTES], same[FAB_HUMAN_BYTES];

	fab_human_count(c->better, better);
	fab_human_count(c->same, same);
	if (!c->better && !c->worse && !c->same)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"Nothing was compared: no metric with a better and a worse is on both sides.");
	else
		fab_report_answer(
			r, c->worse ? FAB_TONE_BAD : FAB_TONE_PLAIN,
			"Compared with the base %s became worse, %s better, %s the same (times apart).",
			fab_human_counted(w->arena, c->worse, "metric", NULL), better,
			same);
	if (vanished)
		fab_report_answer(r, FAB_TONE_BAD,
				  "%s of the base %s missing in other runs.",
				  fab_human_counted(w->arena, vanished, "value", NULL),
				  vanished == 1 ? "is" : "are");
	answer_most(r, w, COMPARE_WORSE);
	answer_most(r, w, COMPARE_BETTER);
	if (p->better || p->worse || p->same)
		fab_report_answer(
			r, p->worse ? FAB_TONE_BAD : FAB_TONE_PLAIN,
			"Of the parts (sets of faults, batches, segments) %s became worse, %s better, %s the same.",
			fab_human_counted(w->arena, p->worse, "value", NULL),
			fab_human_count(p->better, better),
			fab_human_count(p->same, same));
	if (o->notes)
		fab_report_answer(r, FAB_TONE_WARN, "%s.", o->notes);
	fab_report_text(r, "base",
			fab_arena_format(w->arena, "%" PRIu64 "%s%s %s %s%s%s", run->id,
					 base->algorithm ? ":" : "",
					 base->algorithm ? base->algorithm : "",
					 run->time, run->fabric.source,
					 run->label ? ", " : "",
					 run->label ? run->label : ""));
	fab_report_field(r, &notes_column, (union fab_cell){.text = o->notes});
	/* columns that are named are those for scripts */
	if (is_for_people && !fab_report_how(r)->columns)
		print_sides(r, w);
	else
		put_rows(r, "comparison", "Compared with the base", N_COLUMNS, o, false);
	if (is_for_people)
		return;
	put_rows(r, "parts", "Parts compared with those of the base", FAB_COUNT(columns),
		 o, true);
	put_counts(r, "", &o->counts);
	put_counts(r, "parts_", &o->parts);
}

const struct fab_task compare_diff = {
	.primary = "comparison",
	.columns = columns,
	.n_columns = &(const size_t){N_COLUMNS},
	.outcome_bytes = sizeof(struct compare_outcome),
	.solve = solve,
	.files = compare_files,
	.report = report,
	.fini = compare_fini,
};
