/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks without a fabric: fabric-rdma cost, the bits of contexts and how many a memory
 * holds; fabric-rdma trace, the window after each arrival.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "fabric_rdma.h"

static int solve(struct fab_work *w, struct fab_err *err)
{
	(void)w;
	(void)err;
	return FAB_EXIT_DONE;
}

/* Cost */

struct cost {
	struct fab_rdma_context c;
	uint64_t contexts, receiver_contexts;
	double bytes;
};

#define AT(member) FAB_AT(struct cost, member)
static const struct fab_column cost_columns[] = {
	{"scheme", FAB_TEXT, "reliability scheme", 0, AT(c.scheme)},
	{"window", FAB_UINT,
	 "width of its window, packets of the buffer of ssw; null: it has none",
	 FAB_COL_NULL_ZERO, AT(c.window)},
	{"bits", FAB_UINT,
	 "of a context, both sides, with addresses and the identity of the transfer", 0,
	 AT(c.bits)},
	{"receiver_bits", FAB_UINT, "of these at the receiver", 0, AT(c.receiver_bits)},
	{"listed_bits", FAB_UINT,
	 "of the fields that the paper lists; null: not of the paper", FAB_COL_NULL_ZERO,
	 AT(c.listed_bits)},
	{"bytes", FAB_REAL, "the bits in bytes", FAB_COL_EXTRA, AT(bytes)},
	{"contexts", FAB_UINT, "that the memory holds", 0, AT(contexts)},
	{"receiver_contexts", FAB_UINT, "that it holds of receivers alone", 0,
	 AT(receiver_contexts)},
};
#undef AT
struct field {
	const char *scheme;
	uint64_t window;
	struct fab_rdma_field f;
};

#define AT(member) FAB_AT(struct field, member)
static const struct fab_column field_columns[] = {
	{"scheme", FAB_TEXT, "reliability scheme", 0, AT(scheme)},
	{"window", FAB_UINT, "width of its window", FAB_COL_NULL_ZERO, AT(window)},
	{"field", FAB_TEXT, "name of the field", 0, AT(f.name)},
	{"side", FAB_TEXT, "side that keeps it", 0, AT(f.side)},
	{"bits", FAB_UINT, "its width", 0, AT(f.bits)},
	{"listed", FAB_BOOL, "the paper lists it in the context", 0, AT(f.is_listed)},
	{"what", FAB_TEXT, "its meaning", 0, AT(f.what)},
	{"why", FAB_TEXT, "sentence that requires it", 0, AT(f.why)},
};
#undef AT

#define AT(member) FAB_AT(struct fab_rdma_packet_field, member)
static const struct fab_column packet_columns[] = {
	{"packet", FAB_TEXT, "kind of the packet; resend-vec: of rsw-vec", 0, AT(packet)},
	{"field", FAB_TEXT, "name of the field", 0, AT(field)},
	{"bits", FAB_UINT, "its width", 0, AT(bits)},
	{"what", FAB_TEXT, "its meaning", 0, AT(what)},
};
#undef AT

/* Memory of a node in a system of that many. */
struct system {
	uint64_t nodes, ssw_bytes, rsw_bytes;
};

#define AT(member) FAB_AT(struct system, member)
static const struct fab_column system_columns[] = {
	{"nodes", FAB_UINT, "nodes of the system", 0, AT(nodes)},
	{"ssw_bytes", FAB_UINT, "of a node: a buffer of ssw for each receiving node",
	 FAB_COL_BYTES, AT(ssw_bytes)},
	{"rsw_bytes", FAB_UINT, "of a node: the contexts of rsw that a CID distinguishes",
	 FAB_COL_BYTES, AT(rsw_bytes)},
};
#undef AT

/* "9664 of rsw with W = 128": of one scheme. */
static void append_contexts(const struct rdma_params *p, char **text, const char *scheme,
			    uint32_t window)
{
	struct fab_rdma_context c;

	if (!fab_rdma_cost(scheme, window, &p->widths, &c))
		return;
	fab_append(text, ", ", "%" PRIu64 " of %s (%" PRIu64 " of receivers alone)",
		   fab_rdma_contexts_in(p->memory, c.bits), scheme,
		   fab_rdma_contexts_in(p->memory, c.receiver_bits));
	if (fab_rdma_cost_has_window(scheme))
		fab_append(text, "", " with W = %u", window);
}

/* "only below W = 31", "at no W", "at any W". */
static const char *crossing_text(const struct fab_work *w, enum fab_rdma_part part)
{
	const struct rdma_params *p = w->params;
	uint32_t at = fab_rdma_cost_crossing("rsw", "rc", part, &p->widths);

	return !at ? "at no W"
	       : at > FAB_RDMA_WINDOW_MAX
		       ? "at any W"
		       : fab_arena_format(w->arena, "only below W = %u", at);
}

static void answer_cost(const struct fab_work *w, struct fab_report *r,
			const struct system *last)
{
	const struct rdma_params *p = w->params;
	uint32_t widest = p->window[p->n_windows - 1];
	FAB_AUTOFREE char *contexts = NULL;
	char human[2][FAB_HUMAN_BYTES];
	struct fab_rdma_context rsw;

	append_contexts(p, &contexts, "rc", 0);
	for (size_t k = 0; k < p->n_windows; k++)
		append_contexts(p, &contexts, "rsw", p->window[k]);
	append_contexts(p, &contexts, "rsw-vec", widest);
	append_contexts(p, &contexts, "irn", widest);
	append_contexts(p, &contexts, "ssw", 0);
	fab_report_answer(r, FAB_TONE_PLAIN, "Contexts in %s of memory: %s.",
			  p->memory % 1024 ? fab_human_bytes(p->memory, human[0])
					   : fab_arena_format(w->arena, "%" PRIu64 " KiB",
							      p->memory / 1024),
			  contexts);
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"A context of rsw is smaller than one of rc %s with both sides, %s at the receiver, %s by the fields that the paper lists.",
		crossing_text(w, FAB_RDMA_BOTH), crossing_text(w, FAB_RDMA_RECEIVER),
		crossing_text(w, FAB_RDMA_LISTED));
	if (fab_rdma_cost("rsw", widest, &p->widths, &rsw))
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"ssw needs its buffer for each receiving node: %" PRIu64
			" nodes take %s in each node, %.0f contexts of rsw with W = %u take %s in a system of any size.",
			last->nodes, fab_human_bytes(last->ssw_bytes, human[0]),
			(double)(UINT64_C(1) << p->widths.context), widest,
			fab_human_bytes(last->rsw_bytes, human[1]));
}

static void report_cost(struct fab_report *r, const struct fab_work *w)
{
	enum { SYSTEMS = 6 };
	const struct rdma_params *p = w->params;
	bool is_table = fab_report_how(r)->format == FAB_FORMAT_TABLE;
	struct cost *cost =
		FAB_ARENA_NEW0(w->arena, fab_rdma_n_costs * p->n_windows, struct cost);
	struct fab_rdma_packet_field *packet = FAB_ARENA_NEW(
		w->arena, fab_rdma_n_packet_fields, struct fab_rdma_packet_field);
	uint32_t widest = p->window[p->n_windows - 1];
	struct system systems[SYSTEMS];
	struct fab_rdma_context rsw = {.bits = 0};
	size_t n = 0;

	for (size_t i = 0; i < fab_rdma_n_costs; i++) {
		const char *scheme = fab_rdma_cost_name(i);
		size_t n_windows = fab_rdma_cost_has_window(scheme) ? p->n_windows : 1;

		for (size_t k = 0; k < n_windows; k++, n++) {
			struct cost *x = &cost[n];

			(void)fab_rdma_cost(scheme, p->window[k], &p->widths, &x->c);
			x->bytes = (double)x->c.bits / 8;
			x->contexts = fab_rdma_contexts_in(p->memory, x->c.bits);
			x->receiver_contexts =
				fab_rdma_contexts_in(p->memory, x->c.receiver_bits);
		}
	}
	(void)fab_rdma_cost("rsw", widest, &p->widths, &rsw);
	for (int i = 0; i < SYSTEMS; i++) {
		uint64_t nodes = UINT64_C(64) << 2 * i;

		systems[i] = (struct system){
			nodes, nodes * p->widths.buffer * p->widths.mtu,
			(rsw.bits << (p->widths.context < 32 ? p->widths.context : 32)) /
				8};
	}
	answer_cost(w, r, &systems[SYSTEMS - 1]);
	fab_report_text(r, "verb", "cost");
	fab_report_uint(r, "memory_bytes", p->memory);
	fab_report_uint(r, "rsw_below_rc.listed",
			fab_rdma_cost_crossing("rsw", "rc", FAB_RDMA_LISTED, &p->widths));
	fab_report_uint(
		r, "rsw_below_rc.with_identity",
		fab_rdma_cost_crossing("rsw", "rc", FAB_RDMA_RECEIVER, &p->widths));
	fab_report_uint(r, "rsw_below_rc.both_sides",
			fab_rdma_cost_crossing("rsw", "rc", FAB_RDMA_BOTH, &p->widths));
	fab_report_table(r, "results", "Contexts", cost_columns, FAB_COUNT(cost_columns),
			 cost, sizeof(*cost), n);
	fab_report_table_begin(r, "fields", "Fields", field_columns,
			       FAB_COUNT(field_columns));
	for (size_t i = 0; i < n; i++)
		/* those of another width differ in that of the window only */
		for (size_t k = 0;
		     k < cost[i].c.n &&
		     (!is_table || !i || strcmp(cost[i].c.scheme, cost[i - 1].c.scheme));
		     k++)
			fab_report_record(r, &(const struct field){cost[i].c.scheme,
								   cost[i].c.window,
								   cost[i].c.field[k]});
	fab_report_table_end(r);
	for (size_t i = 0; i < fab_rdma_n_packet_fields; i++)
		packet[i] = fab_rdma_packet_field(i, widest, &p->widths);
	fab_report_table(r, "packets", "Packets", packet_columns,
			 FAB_COUNT(packet_columns), packet, sizeof(*packet),
			 fab_rdma_n_packet_fields);
	fab_report_table(r, "systems", "Memory of a node", system_columns,
			 FAB_COUNT(system_columns), systems, sizeof(*systems), SYSTEMS);
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

/* All arrivals to two windows, as asked for and by the right rule: rows of the table, or
 * with `answers` the sentences. */
static void show_arrivals(const struct fab_work *w, struct fab_report *r, bool answers)
{
	static const char *const action[] = {[FAB_RDMA_PLACED] = "written",
					     [FAB_RDMA_DUPLICATE] = "duplicate",
					     [FAB_RDMA_BEYOND] = "beyond"};
	const struct rdma_params *p = w->params;
	const size_t n = p->arrivals.number.n;
	struct view view[2] = {{{0}, NULL, 0, NULL}}, *shown = &view[0],
		    *right = &view[1];
	bool has_failed = false;

	for (int k = 0; k < 2; k++) {
		fab_rdma_window_init(&view[k].w, p->window[0],
				     FAB_ARENA_NEW(w->arena,
						   fab_rdma_window_words(p->window[0]),
						   uint64_t));
		view[k].bits = FAB_ARENA_NEW(w->arena, p->window[0], uint32_t);
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t number = p->arrivals.number.v[i];
		enum fab_rdma_arrival what =
			p->as_printed ? fab_rdma_window_take_as_printed(&shown->w, number)
				      : fab_rdma_window_take(&shown->w, number);
		bool is_right;

		fab_rdma_window_take(&right->w, number);
		view_update(shown);
		view_update(right);
		is_right = !strcmp(shown->text, right->text);
		if (!answers)
			fab_report_record(r, &(const struct record){
						     .arrival = number,
						     .action = action[what],
						     .wbase = shown->w.base,
						     .wvec = {shown->bits, shown->n_bits},
						     .state = shown->text,
						     .right = is_right,
						     .expected = right->text});
		else if (!is_right && !has_failed)
			fab_report_answer(
				r, FAB_TONE_BAD,
				"The printed rule, WBASE = WBASE + LOC(WVEC), goes wrong at arrival %zu (packet %u): WBASE becomes %u%s; right is %u, by WBASE = WBASE + LOC + 1.",
				i + 1, number, shown->w.base,
				fab_rdma_window_has(&right->w, shown->w.base)
					? ", which has arrived and would be asked for again for ever"
					: "",
				right->w.base);
		has_failed |= !is_right;
	}
	if (answers && p->as_printed && !has_failed)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"The printed rule makes no error here: WBASE itself has not arrived.");
	if (answers && right->w.base)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"After %zu arrivals all packets below %u are there, and %zu beyond it.",
			n, right->w.base, right->n_bits);
	else if (answers)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"After %zu arrivals packet 0 is missing, and %zu beyond it are there.",
			n, right->n_bits);
	free(shown->text);
	free(right->text);
}

static void report_trace(struct fab_report *r, const struct fab_work *w)
{
	const struct rdma_params *p = w->params;

	show_arrivals(w, r, true);
	fab_report_text(r, "verb", "trace");
	fab_report_uint(r, "window", p->window[0]);
	fab_report_text(r, "rule", p->as_printed ? "as printed" : "corrected");
	fab_report_table_begin(r, "states", "Window after each arrival", trace_columns,
			       FAB_COUNT(trace_columns));
	show_arrivals(w, r, false);
	fab_report_table_end(r);
}

const struct fab_task rdma_trace_task = {
	.primary = "states",
	FAB_TASK_COLUMNS(trace_columns),
	.solve = solve,
	.report = report_trace,
};
