/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch advise: changes that save seconds, for these nodes of this fabric. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "launch.h"
#include "launch/advise.h"

struct outcome {
	struct launch_timing t;
	struct fab_launch_advice x;
};

static int solve(struct fab_work *w, struct fab_err *err)
{
	static const char *const others[] = {"fabric", "name", "switch"};
	struct launch_params *p = w->params;
	struct outcome *o = w->outcome;
	struct fab_launch_order *order =
		FAB_ARENA_NEW0(w->arena, 1 + FAB_COUNT(others), struct fab_launch_order);
	struct fab_launch_advice_input in = {.params = &p->constants,
					     .uses = p->uses,
					     .clock = &o->t.clock,
					     .order = order,
					     .memory = w->arena};
	int rc = launch_read_constants(p, err);

	if (!rc)
		rc = launch_timing_init(w, &o->t, err);
	order[in.n_orders++] = (struct fab_launch_order){p->orders.v[0], o->t.nodes};
	for (size_t i = 0; i < FAB_COUNT(others) && !rc; i++) {
		if (!strcmp(others[i], order[0].name))
			continue;
		order[in.n_orders].name = others[i];
		rc = launch_job_nodes(p, &o->t.job, o->t.clock.n_nodes, others[i],
				      w->arena, &order[in.n_orders++].nodes, err);
	}
	if (rc)
		return rc;
	in.start = launch_start(p, &o->t);
	in.start.fence = (struct fab_fence_chosen){FAB_FENCE_SLURM_AUTO, 0};
	return fab_launch_advise(&in, &o->x, err);
}

/* A change: the way to make it, its saving, its costs. */
static void answer_row(struct fab_report *r, const struct fab_work *w, size_t number,
		       const struct fab_launch_advice_row *row)
{
	char saved[FAB_HUMAN_BYTES], low[FAB_HUMAN_BYTES], high[FAB_HUMAN_BYTES];
	const char *range = "";

	fab_human_seconds(fabs(row->saved_low_s), low);
	if (strcmp(low, fab_human_seconds(row->saved_high_s, high)) != 0)
		range = fab_arena_format(w->arena, " (%s%s to %s, most by %s)",
					 row->saved_low_s < 0 ? "-" : "", low, high,
					 row->range_by);
	fab_report_answer(r, row->saved_low_s < 0 ? FAB_TONE_WARN : FAB_TONE_PLAIN,
			  "%zu%s. %s. Saves %s%s, costs %s.", number,
			  row->is_alternative ? ", or" : "", row->how,
			  fab_human_seconds(row->saved_s, saved), range, row->costs);
}

static void answer_measure(struct fab_report *r, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;
	char *text = NULL;

	for (size_t i = 0; i < o->x.n_measure; i++)
		fab_append(&text, ", ", "%s (%s)",
			   fab_launch_constants.at(o->x.measure[i]).form,
			   fab_launch_constant_unit(o->x.measure[i]));
	fab_arena_own(w->arena, free, text);
	if (o->x.is_open && text)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"%s Measure next (fabric-launch calibrate): %s.",
			o->x.n_rows > 1
				? "Which of them saves more is not certain, as their ranges overlap."
				: "Whether it saves anything is not certain.",
			text);
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct launch_params *p = w->params;
	const struct outcome *o = w->outcome;
	const struct fab_launch_advice *x = &o->x;
	char now[FAB_HUMAN_BYTES], then[FAB_HUMAN_BYTES];
	char *job = launch_job_text(w->arena, o->t.clock.n_nodes, p->ppn, "start");
	size_t number = 0;

	fab_human_seconds(x->now.total_s, now);
	if (!x->n_rows)
		fab_report_answer(
			r, FAB_TONE_GOOD,
			"%s in %s by PMIx under Slurm as it is; no setting of Slurm or Open MPI saves as much as %g %% of it.",
			job, now, FAB_ADVICE_WORTH * 100);
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s in %s by PMIx under Slurm as it is, in %s with these changes, each on top of those before it:",
			job, now, fab_human_seconds(x->then.total_s, then));
	for (size_t i = 0; i < x->n_rows; i++) {
		number += !x->rows[i].is_alternative;
		answer_row(r, w, number, &x->rows[i]);
	}
	launch_answer_range(r, p, x->n_rows ? "With all, it" : "It", &x->then_s);
	answer_measure(r, w);
	launch_answer_cut(r, &o->t);
	fab_report_text(r, "keys", p->keys_text);
	fab_report_text(r, "tables", o->t.job.algorithm);
	fab_report_uint(r, "nodes", o->t.clock.n_nodes);
	fab_report_uint(r, "ppn", p->ppn);
	fab_report_real(r, "total_s", FAB_COL_SECONDS, x->now.total_s);
	launch_report_range(r, &x->now_s);
	fab_report_table(r, "results", "Changes", launch_advise_columns,
			 launch_advise_n_columns, x->rows, sizeof(*x->rows), x->n_rows);
	if (fab_report_how(r)->format != FAB_FORMAT_TABLE || p->run.verbose)
		launch_report_constants(r, p);
}

static void store(struct fab_draft *d, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;

	launch_store_begin(d, w, NULL, NULL);
	for (size_t i = 0; i < o->x.n_rows; i++)
		fab_draft_result(d, o->x.rows[i].setting, launch_advise_columns,
				 launch_advise_n_columns, &o->x.rows[i]);
}

/* The present fence. */
static void draw(struct fab_drawing *d, const struct fab_work *w)
{
	struct outcome *o = w->outcome;
	const struct fab_launch_start start = launch_start(w->params, &o->t);

	launch_draw_fence(d, w, &o->t.job, &o->t.nodes,
			  (struct fab_fence_chosen){FAB_FENCE_SLURM_AUTO, 0},
			  fab_launch_bytes(&start));
}

LAUNCH_TASK(advise, struct outcome, .solve = solve, .report = report, .draw = draw,
	    .store = store);
