/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks without a fabric: fabric-rdma cost, the bits of contexts and how many a memory
 * holds; fabric-rdma trace, the window after each arrival.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/mem.h"
#include "fabric_rdma.h"

static int solve(struct fab_work *w, struct fab_err *err)
{
	(void)w;
	(void)err;
	return FAB_EXIT_DONE;
}

/* Cost */

struct cost {
	const char *scheme;
	uint64_t window, bits, listed_bits, contexts;
	double bytes;
};

#define AT(member) FAB_AT(struct cost, member)
static const struct fab_column cost_columns[] = {
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
struct field {
	const char *scheme, *field, *side, *what;
	uint64_t window, bits;
	bool listed;
};

#define AT(member) FAB_AT(struct field, member)
static const struct fab_column field_columns[] = {
	{"scheme", FAB_TEXT, "reliability scheme", 0, AT(scheme)},
	{"window", FAB_UINT, "width of its window", FAB_COL_NULL_ZERO, AT(window)},
	{"field", FAB_TEXT, "name of the field", 0, AT(field)},
	{"side", FAB_TEXT, "who keeps it", 0, AT(side)},
	{"bits", FAB_UINT, "its width", 0, AT(bits)},
	{"listed", FAB_BOOL, "the paper lists it in the context", 0, AT(listed)},
	{"what", FAB_TEXT, "what it holds", 0, AT(what)},
};
#undef AT

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
		const struct field record = {c->scheme, f->name, f->side,     f->what,
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

/* "256 KiB", most likely as on the command line. */
static char *memory_text(uint64_t bytes)
{
	char text[FAB_HUMAN_BYTES];

	return bytes % 1024 ? fab_strdup(fab_human_bytes(bytes, text))
			    : fab_format("%" PRIu64 " KiB", bytes / 1024);
}

static void answer_cost(const struct rdma_params *p, struct fab_report *r)
{
	char *contexts = NULL, *listed = crossing_text(p, true);
	char *whole = crossing_text(p, false), *memory = memory_text(p->memory);
	struct fab_rdma_context rsw, ssw;

	append_contexts(p, &contexts, "rc", 0);
	for (size_t k = 0; k < p->n_windows; k++)
		append_contexts(p, &contexts, "rsw", p->window[k]);
	append_contexts(p, &contexts, "irn", p->window[p->n_windows - 1]);
	append_contexts(p, &contexts, "ssw", 0);
	fab_report_answer(r, FAB_TONE_PLAIN, "Contexts in %s of memory: %s.", memory,
			  contexts);
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"A context of rsw is smaller than one of rc %s with the identity of the transfer, %s by the fields that the paper lists.",
		whole, listed);
	if (fab_rdma_cost("rsw", p->window[p->n_windows - 1], &p->widths, &rsw) &&
	    fab_rdma_cost("ssw", 0, &p->widths, &ssw))
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"The buffer of ssw, for one destination, takes %.0f times the bits of a context of rsw.",
			(double)ssw.bits / (double)rsw.bits);
	free(memory);
	free(contexts);
	free(listed);
	free(whole);
}

static void report_cost(struct fab_report *r, const struct fab_work *w)
{
	const struct rdma_params *p = w->params;
	bool is_table = fab_report_how(r)->format == FAB_FORMAT_TABLE;

	answer_cost(p, r);
	fab_report_text(r, "verb", "cost");
	fab_report_uint(r, "memory_bytes", p->memory);
	fab_report_uint(r, "rsw_below_rc.listed",
			fab_rdma_cost_crossing("rsw", "rc", true, &p->widths));
	fab_report_uint(r, "rsw_below_rc.with_identity",
			fab_rdma_cost_crossing("rsw", "rc", false, &p->widths));
	fab_report_table_begin(r, "results", "Contexts", cost_columns,
			       FAB_COUNT(cost_columns));
	for_each(p, p->n_windows, r, print_cost);
	fab_report_table_end(r);
	fab_report_table_begin(r, "fields", "Fields", field_columns,
			       FAB_COUNT(field_columns));
	/* those of another width differ in that of the window only */
	for_each(p, is_table ? 1 : p->n_windows, r, print_fields);
	fab_report_table_end(r);
}

const struct fab_task rdma_cost_task = {
	.primary = "results",
	FAB_TASK_COLUMNS(cost_columns),
	.solve = solve,
	.report = report_cost,
};

/* Trace */

struct record {
	uint64_t arrival, wbase;
	const char *action, *state, *expected;
	struct fab_numbers wvec;
	bool right;
};

static const struct fab_column trace_columns[] = {
	FAB_COLUMN(arrival, UINT, "number of the packet that arrives"),
	FAB_COLUMN(
		action, TEXT,
		"written (new, its data go to memory), duplicate (nothing to do) or beyond (above WBASE + W: dropped, asked for again)"),
	FAB_COLUMN(wbase, UINT, "lowest number that has not arrived, after it"),
	FAB_COLUMN(wvec, NUMBERS, "bits that are set: WBASE + i has arrived"),
	FAB_COLUMN(state, TEXT, "both: {WBASE;bits of WVEC}"),
	FAB_COLUMN_AS(right, BOOL, "it is as it should be",
		      FAB_COL_EXTRA | FAB_COL_BAD_IF_NO),
	FAB_COLUMN_AS(expected, TEXT, "what it should be", FAB_COL_EXTRA),
};

/* A window, and its bits as a list and a text. */
struct view {
	struct fab_rdma_window w;
	uint32_t *bits;
	size_t n_bits;
	char *text;
};

static void view_init(struct view *v, uint32_t width)
{
	fab_rdma_window_init(&v->w, width,
			     FAB_NEW(fab_rdma_window_words(width), uint64_t));
	v->bits = FAB_NEW(width, uint32_t);
	v->text = NULL;
}

static void view_update(struct view *v)
{
	free(v->text);
	v->text = fab_format("{%u;", v->w.base);
	v->n_bits = 0;
	for (uint32_t i = 1; i <= v->w.width; i++)
		if (fab_rdma_window_bit(&v->w, i)) {
			fab_append(&v->text, "", v->n_bits ? ",%u" : "%u", i);
			v->bits[v->n_bits++] = i;
		}
	fab_append(&v->text, "", "}");
}

static void view_fini(struct view *v)
{
	free(v->w.ring);
	free(v->bits);
	free(v->text);
}

/* First error of the printed rule. */
struct fault {
	size_t at; /* arrival, from 1; 0: nowhere */
	uint32_t number, base, right_base;
	bool has_arrived; /* WBASE, which is asked for again and again */
};

/* One arrival to both windows; false: they differ. */
static bool step(const struct rdma_params *p, struct view *shown, struct view *right,
		 uint32_t number, enum fab_rdma_arrival *what)
{
	*what = p->as_printed ? fab_rdma_window_take_as_printed(&shown->w, number)
			      : fab_rdma_window_take(&shown->w, number);
	fab_rdma_window_take(&right->w, number);
	view_update(shown);
	view_update(right);
	return !strcmp(shown->text, right->text);
}

static void print_states(const struct rdma_params *p, struct fab_report *r)
{
	static const char *const action[] = {[FAB_RDMA_PLACED] = "written",
					     [FAB_RDMA_DUPLICATE] = "duplicate",
					     [FAB_RDMA_BEYOND] = "beyond"};
	struct view shown, right;

	view_init(&shown, p->window[0]);
	view_init(&right, p->window[0]);
	fab_report_table_begin(r, "states", "Window after each arrival", trace_columns,
			       FAB_COUNT(trace_columns));
	for (size_t i = 0; i < p->arrivals.number.n; i++) {
		uint32_t number = p->arrivals.number.v[i];
		enum fab_rdma_arrival what;
		bool same = step(p, &shown, &right, number, &what);
		const struct record record = {.arrival = number,
					      .action = action[what],
					      .wbase = shown.w.base,
					      .wvec = {shown.bits, shown.n_bits},
					      .state = shown.text,
					      .right = same,
					      .expected = right.text};

		fab_report_record(r, &record);
	}
	fab_report_table_end(r);
	view_fini(&shown);
	view_fini(&right);
}

/* All arrivals: where it goes wrong, and what is there at the end. */
static struct fault examine(const struct rdma_params *p, struct view *shown,
			    struct view *right)
{
	struct fault fault = {0};

	for (size_t i = 0; i < p->arrivals.number.n; i++) {
		uint32_t number = p->arrivals.number.v[i];
		enum fab_rdma_arrival what;

		if (step(p, shown, right, number, &what) || fault.at)
			continue;
		fault = (struct fault){i + 1, number, shown->w.base, right->w.base,
				       fab_rdma_window_has(&right->w, shown->w.base)};
	}
	return fault;
}

static void answer_fault(struct fab_report *r, const struct fault *fault)
{
	if (!fault->at) {
		fab_report_answer(
			r, FAB_TONE_WARN,
			"The printed rule makes no error here: WBASE itself has not arrived.");
		return;
	}
	fab_report_answer(
		r, FAB_TONE_BAD,
		"The printed rule, WBASE = WBASE + LOC(WVEC), goes wrong at arrival %zu (packet %u): WBASE becomes %u%s; right is %u, by WBASE = WBASE + LOC + 1.",
		fault->at, fault->number, fault->base,
		fault->has_arrived
			? ", which has arrived and would be asked for again for ever"
			: "",
		fault->right_base);
}

static void answer_trace(const struct rdma_params *p, struct fab_report *r)
{
	struct view shown, right;
	struct fault fault;

	view_init(&shown, p->window[0]);
	view_init(&right, p->window[0]);
	fault = examine(p, &shown, &right);
	if (p->as_printed)
		answer_fault(r, &fault);
	if (right.w.base)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"After %zu arrivals all packets below %u are there, and %zu beyond it.",
			p->arrivals.number.n, right.w.base, right.n_bits);
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"After %zu arrivals packet 0 is missing, and %zu beyond it are there.",
			p->arrivals.number.n, right.n_bits);
	view_fini(&shown);
	view_fini(&right);
}

static void report_trace(struct fab_report *r, const struct fab_work *w)
{
	const struct rdma_params *p = w->params;

	answer_trace(p, r);
	fab_report_text(r, "verb", "trace");
	fab_report_uint(r, "window", p->window[0]);
	fab_report_text(r, "rule", p->as_printed ? "as printed" : "corrected");
	print_states(p, r);
}

const struct fab_task rdma_trace_task = {
	.primary = "states",
	FAB_TASK_COLUMNS(trace_columns),
	.solve = solve,
	.report = report_trace,
};
