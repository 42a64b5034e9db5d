/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The document as one page of HTML that loads nothing: the answer, a picture that the
 * caller draws, fields and tables as they come, and the command line. Style and script
 * are those of data/report; the content policy names their digests, so that nothing else
 * in the page can run. All texts pass fab_html_put().
 */
#include "present/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "fabric/label.h"
#include "present/writer.h"
#include "report_page.h"

enum { MOST_ROWS = 5000 }; /* of a table; others are counted */

void fab_html_put(FILE *out, const char *text)
{
	static const char *const references[UCHAR_MAX + 1] = {['&'] = "&amp;",
							      ['<'] = "&lt;",
							      ['>'] = "&gt;",
							      ['"'] = "&quot;",
							      ['\''] = "&#39;"};
	FAB_AUTOFREE char *safe = fab_cell_safe_text(text);

	for (const char *c = safe; *c; c++)
		if (references[(unsigned char)*c])
			fputs(references[(unsigned char)*c], out);
		else
			putc(*c, out);
}

void fab_html_put_short(FILE *out, const char *text)
{
	FAB_AUTOFREE char *shortened = fab_label_shorten(text);

	fab_html_put(out, shortened);
}

struct html {
	FILE *out;
	const struct fab_page *page;
	bool has_body;
	FILE *facts; /* fields, written behind the tables: into this text */
	char *text;
	size_t size;
	uint64_t n_rows; /* of the open table */
};

static void put_name(FILE *out, const char *name)
{
	FAB_AUTOFREE char *text = fab_column_human(name);

	fab_html_put(out, text);
}

static void *html_begin(FILE *out, const struct fab_report_options *options)
{
	struct html *h = FAB_NEW0(1, struct html);

	h->out = out;
	h->page = options->page;
	h->facts = fab_text_stream(&h->text, &h->size);
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "script-src '" REPORT_JS_HASH "'; style-src '" REPORT_CSS_HASH
	      "'; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<title>",
	      out);
	fab_html_put(out, h->page->title);
	fputs("</title>\n<style>", out);
	fputs(report_css, out);
	fputs("</style>\n</head>\n<body>\n<main>\n<h1>", out);
	fab_html_put(out, h->page->title);
	fputs("</h1>\n", out);
	return h;
}

static const char *const tones[] = {
	[FAB_TONE_PLAIN] = "",
	[FAB_TONE_GOOD] = "good",
	[FAB_TONE_WARN] = "warn",
	[FAB_TONE_BAD] = "bad",
};

static void html_answer(void *state, enum fab_tone tone, const char *text)
{
	struct html *h = state;

	fprintf(h->out, "<p class=\"answer%s%s\">", *tones[tone] ? " " : "", tones[tone]);
	fab_html_put_short(h->out, text);
	fputs("</p>\n", h->out);
}

/* The picture, behind the answer and before all else. */
static void begin_body(struct html *h)
{
	if (!h->has_body && h->page->draw)
		h->page->draw(h->out, h->page->context);
	h->has_body = true;
}

/* A value as a table for people shows it; texts with the link that they have. */
static void put_value(const struct html *h, FILE *out, const struct fab_column *column,
		      union fab_cell cell)
{
	char id[FAB_ANCHOR_BYTES];
	bool is_link;
	char *text;

	if (column->type != FAB_TEXT || fab_cell_is_null(column, cell)) {
		text = fab_cell_human(column, cell);
		fab_html_put(out, text);
		free(text);
		return;
	}
	is_link = h->page->find && h->page->find(h->page->context, cell.text, id);
	if (is_link)
		fprintf(out, "<a href=\"#%s\">", id);
	fab_html_put_short(out, cell.text);
	if (is_link)
		fputs("</a>", out);
}

static void html_field(void *state, const struct fab_column *column, union fab_cell cell)
{
	struct html *h = state;
	enum fab_tone tone = fab_cell_tone(column, cell);

	begin_body(h);
	fputs("<dt>", h->facts);
	put_name(h->facts, column->name);
	fprintf(h->facts, "</dt><dd%s%s%s>", *tones[tone] ? " class=\"" : "", tones[tone],
		*tones[tone] ? "\"" : "");
	put_value(h, h->facts, column, cell);
	fputs("</dd>\n", h->facts);
}

static bool is_flush_right(const struct fab_column *column)
{
	return column->type == FAB_UINT || column->type == FAB_REAL ||
	       column->type == FAB_NUMBER || column->flags & FAB_COL_RIGHT;
}

static void html_table_begin(void *state, const struct fab_table *table)
{
	struct html *h = state;

	begin_body(h);
	h->n_rows = 0;
	fputs("<section>\n<h2>", h->out);
	if (table->title)
		fab_html_put_short(h->out, table->title);
	else
		put_name(h->out, table->name);
	fputs("</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"",
	      h->out);
	fab_html_put(h->out, table->title ? table->title : table->name);
	fputs("\"><table>\n<thead><tr>", h->out);
	for (size_t i = 0; i < table->n; i++) {
		const struct fab_column *c = table->columns[i];

		fprintf(h->out, "<th scope=\"col\"%s title=\"",
			is_flush_right(c) ? " class=\"n\"" : "");
		fab_html_put(h->out, c->help ? c->help : c->name);
		fputs("\">", h->out);
		put_name(h->out, c->name);
		fputs("</th>", h->out);
	}
	fputs("</tr></thead>\n<tbody>\n", h->out);
}

/* Is the number shown otherwise than as its digits? Then what it is ordered by. */
static bool has_order(const struct fab_column *column, union fab_cell cell)
{
	return !fab_cell_is_null(column, cell) &&
	       (column->type == FAB_REAL || column->type == FAB_NUMBER ||
		column->flags & FAB_COL_BYTES);
}

static void html_row(void *state, const struct fab_table *table,
		     const union fab_cell *cells)
{
	struct html *h = state;

	if (h->n_rows++ >= MOST_ROWS)
		return;
	fputs("<tr>", h->out);
	for (size_t i = 0; i < table->n; i++) {
		const struct fab_column *c = table->columns[i];
		enum fab_tone own = fab_cell_tone(c, cells[i]);
		enum fab_tone tone = i || own > table->tone ? own : table->tone;
		bool is_right = is_flush_right(c), has_class = is_right || *tones[tone];

		fprintf(h->out, "<td%s%s%s%s%s", has_class ? " class=\"" : "",
			is_right ? "n" : "", is_right && *tones[tone] ? " " : "",
			tones[tone], has_class ? "\"" : "");
		if (has_order(c, cells[i]))
			fprintf(h->out, " data-v=\"%.9g\"",
				c->type == FAB_UINT ? (double)cells[i].u : cells[i].real);
		putc('>', h->out);
		put_value(h, h->out, c, cells[i]);
		fputs("</td>", h->out);
	}
	fputs("</tr>\n", h->out);
}

static void html_table_end(void *state, const struct fab_table *table)
{
	struct html *h = state;
	char all[FAB_HUMAN_BYTES];

	(void)table;
	fputs("</tbody></table></div>\n", h->out);
	if (!h->n_rows)
		fputs("<p class=\"note\">(none)</p>\n", h->out);
	if (h->n_rows > MOST_ROWS)
		fprintf(h->out,
			"<p class=\"note\">The first %d of %s rows; --format=csv and --format=json give all.</p>\n",
			MOST_ROWS, fab_human_count(h->n_rows, all));
	fputs("</section>\n", h->out);
}

static void html_finish(void *state)
{
	struct html *h = state;

	begin_body(h);
	fclose(h->facts);
	if (h->size)
		fprintf(h->out, "<section>\n<h2>Facts</h2>\n<dl>\n%s</dl>\n</section>\n",
			h->text);
	fputs("<section>\n<h2>Command</h2>\n<pre>", h->out);
	fab_html_put(h->out, h->page->command);
	fputs("</pre>\n<p class=\"note\">fabkit " FAB_VERSION
	      "</p>\n</section>\n</main>\n<script>",
	      h->out);
	fputs(report_js, h->out);
	fputs("</script>\n</body>\n</html>\n", h->out);
	FAB_FREE_ALL(h->text, h);
}

const struct fab_writer fab_html_writer = {
	.begin = html_begin,
	.answer = html_answer,
	.field = html_field,
	.table_begin = html_table_begin,
	.row = html_row,
	.table_end = html_table_end,
	.finish = html_finish,
};
