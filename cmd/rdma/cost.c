/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma cost: the bits of contexts, and how many a memory holds. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/mem.h"
#include "fabric_rdma.h"

struct cost {
	const char *scheme;
	uint64_t window, bits, listed_bits, contexts;
	double bytes;
};

#define AT(member) FAB_AT(struct cost, member)
const struct fab_column rdma_cost_columns[] = {
	{"scheme", FAB_TEXT, "reliability scheme", 0, AT(scheme)},
	{"window", FAB_UINT,
	 "width of its window, packets of the buffer of ssw; null: it has none",
	 FAB_COL_NULL_ZERO, AT(window)},
	{"bits", FAB_UINT, "of a context, both sides, with the identity of the transfer",
	 0, AT(bits)},
	{"listed_bits", FAB_UINT,
	 "of the fields that the paper lists; null: not of the paper", FAB_COL_NULL_ZERO,
	 AT(listed_bits)},
	{"bytes", FAB_REAL, "the bits in bytes", 0, AT(bytes)},
	{"contexts", FAB_UINT, "that the memory holds", 0, AT(contexts)},
};
#undef AT
const size_t rdma_n_cost_columns = FAB_COUNT(rdma_cost_columns);

struct record {
	const char *scheme, *field, *side, *what;
	uint64_t window, bits;
	bool listed;
};

static const struct fab_column field_columns[] = {
	FAB_COLUMN(scheme, TEXT, "reliability scheme"),
	FAB_COLUMN_AS(window, UINT, "width of its window", FAB_COL_NULL_ZERO),
	FAB_COLUMN(field, TEXT, "name of the field"),
	FAB_COLUMN(side, TEXT, "who keeps it"),
	FAB_COLUMN(bits, UINT, "its width"),
	FAB_COLUMN(listed, BOOL, "the paper lists it in the context"),
	FAB_COLUMN(what, TEXT, "what it holds"),
};

/* Calls `print` for every scheme, for those with a window at the first n_windows widths.
 */
static void for_each(const struct rdma_params *p, size_t n_windows, struct fab_report *r,
		     void (*print)(const struct rdma_params *p, struct fab_report *r,
				   const struct fab_rdma_context *c))
{
	for (size_t i = 0; i < fab_rdma_n_costs; i++) {
		const char *scheme = fab_rdma_cost_name(i);
		size_t n = fab_rdma_cost_has_window(scheme) ? n_windows : 1;

		for (size_t k = 0; k < n; k++) {
			struct fab_rdma_context c;

			if (fab_rdma_cost(scheme, p->window[k], &p->widths, &c))
				print(p, r, &c);
		}
	}
}

static void print_cost(const struct rdma_params *p, struct fab_report *r,
		       const struct fab_rdma_context *c)
{
	const struct cost cost = {.scheme = c->scheme,
				  .window = c->window,
				  .bits = c->bits,
				  .listed_bits = c->listed_bits,
				  .bytes = (double)c->bits / 8,
				  .contexts = fab_rdma_contexts_in(p->memory, c->bits)};

	fab_report_record(r, &cost);
}

static void print_fields(const struct rdma_params *p, struct fab_report *r,
			 const struct fab_rdma_context *c)
{
	(void)p;
	for (size_t i = 0; i < c->n; i++) {
		const struct fab_rdma_field *f = &c->field[i];
		const struct record record = {c->scheme, f->name, f->side,     f->what,
					      c->window, f->bits, f->is_listed};

		fab_report_record(r, &record);
	}
}

/* "9664 of rsw with W = 128": of one scheme. */
static void append_contexts(const struct rdma_params *p, char **text, const char *scheme,
			    uint32_t window)
{
	struct fab_rdma_context c;

	if (!fab_rdma_cost(scheme, window, &p->widths, &c))
		return;
	fab_append(text, ", ", "%" PRIu64 " of %s",
		   fab_rdma_contexts_in(p->memory, c.bits), scheme);
	if (fab_rdma_cost_has_window(scheme))
		fab_append(text, "", " with W = %u", window);
}

/* "below W = 31", "at no W", "at any W". */
static char *crossing_text(const struct rdma_params *p, bool listed)
{
	uint32_t w = fab_rdma_cost_crossing("rsw", "rc", listed, &p->widths);

	if (!w)
		return fab_strdup("at no W");
	return w > FAB_RDMA_WINDOW_MAX ? fab_strdup("at any W")
				       : fab_format("below W = %u only", w);
}

/* "256 KiB": as it was written, most likely. */
static char *memory_text(uint64_t bytes)
{
	char text[FAB_HUMAN_BYTES];

	return bytes % 1024 ? fab_strdup(fab_human_bytes(bytes, text))
			    : fab_format("%" PRIu64 " KiB", bytes / 1024);
}

static void answer(const struct rdma_params *p, struct fab_report *r)
{
	char *contexts = NULL, *listed = crossing_text(p, true);
	char *whole = crossing_text(p, false), *memory = memory_text(p->memory);
	struct fab_rdma_context rsw, ssw;

	append_contexts(p, &contexts, "rc", 0);
	for (size_t k = 0; k < p->n_windows; k++)
		append_contexts(p, &contexts, "rsw", p->window[k]);
	append_contexts(p, &contexts, "irn", p->window[p->n_windows - 1]);
	append_contexts(p, &contexts, "ssw", 0);
	fab_report_answer(r, FAB_TONE_PLAIN, "%s of memory hold so many contexts: %s.",
			  memory, contexts);
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "A context of rsw is smaller than one of rc %s with the "
			  "identity of the transfer, %s by the fields that the paper "
			  "lists.",
			  whole, listed);
	if (fab_rdma_cost("rsw", p->window[p->n_windows - 1], &p->widths, &rsw) &&
	    fab_rdma_cost("ssw", 0, &p->widths, &ssw))
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "The buffer of ssw, for one destination, takes %.0f "
				  "times the bits of a context of rsw.",
				  (double)ssw.bits / (double)rsw.bits);
	free(memory);
	free(contexts);
	free(listed);
	free(whole);
}

static void print_crossings(const struct rdma_params *p, struct fab_report *r)
{
	fab_report_uint(r, "rsw_below_rc.listed",
			fab_rdma_cost_crossing("rsw", "rc", true, &p->widths));
	fab_report_uint(r, "rsw_below_rc.with_identity",
			fab_rdma_cost_crossing("rsw", "rc", false, &p->widths));
}

int rdma_cost(const struct rdma_params *p, FILE *out,
	      const struct fab_report_options *options, struct fab_err *err)
{
	struct fab_report *r =
		fab_cli_begin_report(out, options, "fabric-rdma", "results", NULL);

	answer(p, r);
	fab_report_text(r, "verb", "cost");
	fab_report_uint(r, "memory_bytes", p->memory);
	print_crossings(p, r);
	fab_report_table_begin(r, "results", "Contexts", rdma_cost_columns,
			       rdma_n_cost_columns);
	for_each(p, p->n_windows, r, print_cost);
	fab_report_table_end(r);
	fab_report_table_begin(r, "fields", "Fields", field_columns,
			       FAB_COUNT(field_columns));
	/* those of another width differ in that of the window only */
	for_each(p, options->format == FAB_FORMAT_TABLE ? 1 : p->n_windows, r,
		 print_fields);
	fab_report_table_end(r);
	return fab_report_finish(r, err);
}
