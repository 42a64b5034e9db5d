/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs side by side for people: metrics down, runs across. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

enum { MAX_PARTS = 50, PER_RUN = 3 };

/* A result of the base and all that is compared with it. */
struct block {
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

static const struct compare_row **line_of_metric(struct lines *l, const char *metric)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(row_of(l, i)->metric, metric))
			return l->cells + i * l->width;
	return add_line(l);
}

static void collect_metrics(struct lines *l, const struct block *b,
			    const struct compare_rows *rows)
{
	for (size_t k = 0; k < b->pairs.n; k++)
		for (size_t i = rows->first[b->pairs.v[k]];
		     i < rows->first[b->pairs.v[k] + 1]; i++)
			if (!rows->of.v[i].part)
				line_of_metric(l, rows->of.v[i].metric)[k] =
					&rows->of.v[i];
}

/* What the base has comes in the same order for every pair; then what it lacks. */
static void collect_parts(struct lines *l, const struct block *b,
			  const struct compare_rows *rows)
{
	for (size_t k = 0; k < b->pairs.n; k++) {
		size_t at = 0, first = rows->first[b->pairs.v[k]];

		for (size_t i = first; i < rows->first[b->pairs.v[k] + 1]; i++) {
			const struct compare_row *row = &rows->of.v[i];

			if (!row->part)
				continue;
			if (isnan(row->base) || !k)
				add_line(l)[k] = row;
			else
				l->cells[at++ * l->width + k] = row;
		}
	}
}

/* Leave the lines where something changed, at most MAX_PARTS; how many go. */
static size_t shorten(struct lines *l)
{
	size_t n = l->n, n_kept = 0;

	for (size_t i = 0; i < n && n > MAX_PARTS; i++) {
		bool has_changed = false;

		for (size_t k = 0; k < l->width; k++) {
			const struct compare_row *row = l->cells[i * l->width + k];

			has_changed |= row && (row->verdict >= COMPARE_BETTER ||
					       isnan(row->base) != isnan(row->value));
		}
		if (!has_changed || n_kept == MAX_PARTS)
			continue;
		memmove(l->cells + n_kept++ * l->width, l->cells + i * l->width,
			l->width * sizeof(*l->cells));
	}
	if (n > MAX_PARTS)
		l->n = n_kept;
	return n - l->n;
}

char *compare_value_text(const struct compare_row *row, double value)
{
	struct fab_column column = compare_metric_column("", row->kind);

	if (isinf(value))
		return fab_strdup("never");
	return fab_cell_human(&column, (union fab_cell){.real = value});
}

/* The text of a column of a run: value, ratio or verdict; on the heap. */
static char *text_of(const struct compare_row *row, size_t which)
{
	const char *verdict;

	if (!row)
		return fab_strdup("-");
	if (which == 0)
		return compare_value_text(row, row->value);
	if (which == 1)
		return row->base > 0 && isfinite(row->base) && isfinite(row->value)
			       ? fab_format("%.4g", row->value / row->base)
			       : fab_strdup("-");
	verdict = row->has_vanished ? "gone" : compare_verdict_name(row->verdict);
	if (verdict && row->kind->is_time)
		return fab_format("(%s)", verdict);
	return fab_strdup(verdict ? verdict : "-");
}

static char *heading_of(const struct block *b, const struct compare_item *item,
			const struct fab_store_result *r)
{
	return b->is_one_name ? fab_format("run %" PRIu64, item->run->id)
			      : fab_format("%" PRIu64 ":%s", item->run->id, r->algorithm);
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t width_and_free(char *text)
{
	size_t width = strlen(text);

	free(text);
	return width;
}

static double base_of(const struct lines *l, size_t line)
{
	return row_of(l, line)->base;
}

/* Columns of the terminal that name and base take. */
static size_t width_of_base(const struct lines *l, const struct block *b)
{
	size_t part = 0, metric = 6,
	       base = width_and_free(heading_of(b, b->first->base_item, b->first->base));

	for (size_t i = 0; i < l->n; i++) {
		const struct compare_row *row = row_of(l, i);

		part = larger(part, row->part ? strlen(row->part) + 1 : 0);
		metric = larger(metric, strlen(row->metric));
		base = larger(base, width_and_free(compare_value_text(row, row->base)));
	}
	return part + metric + 1 + base;
}

static size_t width_of_run(const struct lines *l, const struct block *b,
			   const struct compare_pair *pair, size_t k)
{
	size_t width[PER_RUN] = {width_and_free(heading_of(b, pair->item, pair->other)),
				 5, 7};

	for (size_t i = 0; i < l->n; i++)
		for (size_t w = 0; w < PER_RUN; w++)
			width[w] = larger(
				width[w],
				width_and_free(text_of(l->cells[i * l->width + k], w)));
	return width[0] + width[1] + width[2] + PER_RUN;
}

static void put_line(struct fab_report *r, const struct lines *l, size_t line,
		     size_t first, size_t n, bool has_parts)
{
	union fab_cell *cells = FAB_NEW(3 + PER_RUN * n, union fab_cell);
	const struct compare_row *row = row_of(l, line);
	size_t at = 0, own;

	if (has_parts)
		cells[at++].text = row->part;
	cells[at++].text = row->metric;
	own = at;
	cells[at++].text = compare_value_text(row, base_of(l, line));
	for (size_t k = first; k < first + n; k++)
		for (size_t w = 0; w < PER_RUN; w++)
			cells[at++].text = text_of(l->cells[line * l->width + k], w);
	fab_report_row(r, cells);
	while (at > own)
		free((char *)(uintptr_t)cells[--at].text);
	free(cells);
}

/* Some of the runs, all lines. */
static void print_some(struct fab_report *r, const char *title, const struct lines *l,
		       const struct block *b, const struct compare_pairs *pairs,
		       size_t first, size_t n)
{
	struct fab_column *columns = FAB_NEW0(3 + PER_RUN * n, struct fab_column);
	bool has_parts = row_of(l, 0)->part;
	char **headings = FAB_NEW(n + 1, char *);
	size_t at = 0;

	headings[n] = heading_of(b, b->first->base_item, b->first->base);
	if (has_parts)
		columns[at++] = (struct fab_column){"part", FAB_TEXT};
	columns[at++] = (struct fab_column){"metric", FAB_TEXT};
	columns[at++] = (struct fab_column){headings[n], FAB_TEXT, "", FAB_COL_RIGHT};
	for (size_t k = 0; k < n; k++) {
		const struct compare_pair *pair = &pairs->v[b->pairs.v[first + k]];

		headings[k] = heading_of(b, pair->item, pair->other);
		columns[at++] =
			(struct fab_column){headings[k], FAB_TEXT, "", FAB_COL_RIGHT};
		columns[at++] = (struct fab_column){"ratio", FAB_TEXT, "", FAB_COL_RIGHT};
		columns[at++] =
			(struct fab_column){"verdict", FAB_TEXT, "", FAB_COL_VERDICT};
	}
	fab_report_table_begin(r, "sides", title, columns, at);
	for (size_t i = 0; i < l->n; i++)
		put_line(r, l, i, first, n, has_parts);
	fab_report_table_end(r);
	for (size_t k = 0; k <= n; k++)
		free(headings[k]);
	free(headings);
	free(columns);
}

/* As many runs side by side as the width has room for, at least one. */
static void print_lines(struct fab_report *r, unsigned width, const char *title,
			const struct lines *l, const struct block *b,
			const struct compare_pairs *pairs)
{
	size_t least = width_of_base(l, b);

	for (size_t first = 0, n; first < l->width; first += n) {
		size_t used = least;

		for (n = 0; first + n < l->width; n++) {
			used += width_of_run(l, b, &pairs->v[b->pairs.v[first + n]],
					     first + n);
			if (n && width && used > width)
				break;
		}
		print_some(r, first ? "" : title, l, b, pairs, first, n);
	}
}

static void print_block(struct fab_report *r, unsigned width, const struct block *b,
			const struct compare_pairs *pairs,
			const struct compare_rows *rows)
{
	struct lines metrics = {.width = b->pairs.n}, parts = {.width = b->pairs.n};
	const char *name = b->first->base->algorithm;
	char *title = fab_format("Parts of %s", name);
	char *against = fab_format("Beside %s", name);
	size_t n_left_out;

	collect_metrics(&metrics, b, rows);
	if (metrics.n)
		print_lines(r, width, b->is_one_name ? name : against, &metrics, b,
			    pairs);
	collect_parts(&parts, b, rows);
	n_left_out = shorten(&parts);
	if (parts.n)
		print_lines(r, width, title, &parts, b, pairs);
	if (n_left_out) {
		char *text = fab_format("%zu rows of parts of %s, of %zu: those that did "
					"not change and more; --format=json has all",
					n_left_out, name, n_left_out + parts.n);

		fab_report_text(r, "left_out", text);
		free(text);
	}
	free(title);
	free(against);
	free(metrics.cells);
	free(parts.cells);
}

/* Names of results that only one of two runs has. */
static void print_single(struct fab_report *r, const struct compare_pairs *pairs,
			 size_t first, bool of_base)
{
	const struct compare_item *item = pairs->v[first].item;
	char *text = NULL, *name;

	for (size_t i = first; i < pairs->n && pairs->v[i].item == item; i++) {
		const struct compare_pair *p = &pairs->v[i];
		const struct fab_store_result *one = of_base ? p->base : p->other;

		if (!(of_base ? p->other : p->base))
			fab_append(&text, ", ", "%s", one->algorithm);
	}
	name = fab_format(of_base ? "missing_in_run_%" PRIu64 : "only_in_run_%" PRIu64,
			  item->run->id);
	if (text)
		fab_report_text(r, name, text);
	free(name);
	free(text);
}

static void block_init(struct block *b, const struct compare_pairs *pairs, size_t first)
{
	*b = (struct block){.first = &pairs->v[first], .is_one_name = true};
	for (size_t i = first; i < pairs->n; i++) {
		const struct compare_pair *p = &pairs->v[i];

		if (p->base != b->first->base || !p->other)
			continue;
		FAB_PUSH(&b->pairs, i);
		b->is_one_name &= !strcmp(p->base->algorithm, p->other->algorithm);
	}
}

static bool is_first_of_base(const struct compare_pairs *pairs, size_t at)
{
	if (!pairs->v[at].base || !pairs->v[at].other)
		return false;
	for (size_t i = 0; i < at; i++)
		if (pairs->v[i].base == pairs->v[at].base && pairs->v[i].other)
			return false;
	return true;
}

void compare_print_sides(struct fab_report *r, unsigned width,
			 const struct compare_pairs *pairs,
			 const struct compare_rows *rows)
{
	for (size_t i = 0; i < pairs->n; i++)
		if (!i || pairs->v[i].item != pairs->v[i - 1].item) {
			print_single(r, pairs, i, true);
			print_single(r, pairs, i, false);
		}
	for (size_t i = 0; i < pairs->n; i++)
		if (is_first_of_base(pairs, i)) {
			struct block b;

			block_init(&b, pairs, i);
			print_block(r, width, &b, pairs, rows);
			free(b.pairs.v);
		}
}
