/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma trace: what a window holds after each arrival. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fabric_rdma.h"

struct record {
	uint64_t arrival, wbase;
	const char *action, *state, *expected;
	struct fab_numbers wvec;
	bool right;
};

const struct fab_column rdma_trace_columns[] = {
	FAB_COLUMN(arrival, UINT, "number of the packet that arrives"),
	FAB_COLUMN(action, TEXT,
		   "written (new, its data go to memory), duplicate (nothing to do) or "
		   "beyond (above WBASE + W: dropped, asked for again)"),
	FAB_COLUMN(wbase, UINT, "lowest number that has not arrived, after it"),
	FAB_COLUMN(wvec, NUMBERS, "bits that are set: WBASE + i has arrived"),
	FAB_COLUMN(state, TEXT, "both: {WBASE;bits of WVEC}"),
	FAB_COLUMN_AS(right, BOOL, "it is as it should be",
		      FAB_COL_EXTRA | FAB_COL_BAD_IF_NO),
	FAB_COLUMN_AS(expected, TEXT, "what it should be", FAB_COL_EXTRA),
};
const size_t rdma_n_trace_columns = FAB_COUNT(rdma_trace_columns);

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

/* Where the rule as it is printed first goes wrong. */
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
	fab_report_table_begin(r, "states", "Window after each arrival",
			       rdma_trace_columns, rdma_n_trace_columns);
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
		fab_report_answer(r, FAB_TONE_WARN,
				  "By the rule as it is printed nothing went wrong here: "
				  "WBASE itself has not arrived.");
		return;
	}
	fab_report_answer(r, FAB_TONE_BAD,
			  "The rule as it is printed, WBASE = WBASE + LOC(WVEC), goes "
			  "wrong at arrival %zu (packet %u): WBASE becomes %u%s; right "
			  "is %u, by WBASE = WBASE + LOC + 1.",
			  fault->at, fault->number, fault->base,
			  fault->has_arrived ? ", which has arrived and would be asked "
					       "for again for ever"
					     : "",
			  fault->right_base);
}

static void answer(const struct rdma_params *p, struct fab_report *r)
{
	struct view shown, right;
	struct fault fault;

	view_init(&shown, p->window[0]);
	view_init(&right, p->window[0]);
	fault = examine(p, &shown, &right);
	if (p->as_printed)
		answer_fault(r, &fault);
	if (right.w.base)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "After %zu arrivals all packets below %u are there, "
				  "and %zu beyond it.",
				  p->arrivals.number.n, right.w.base, right.n_bits);
	else
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "After %zu arrivals packet 0 is missing, and %zu "
				  "beyond it are there.",
				  p->arrivals.number.n, right.n_bits);
	view_fini(&shown);
	view_fini(&right);
}

int rdma_trace(const struct rdma_params *p, FILE *out,
	       const struct fab_report_options *options, struct fab_err *err)
{
	struct fab_report *r =
		fab_cli_begin_report(out, options, "fabric-rdma", "states", NULL);

	answer(p, r);
	fab_report_text(r, "verb", "trace");
	fab_report_uint(r, "window", p->window[0]);
	fab_report_text(r, "rule", p->as_printed ? "as printed" : "corrected");
	print_states(p, r);
	return fab_report_finish(r, err);
}
