/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch stages: phases of a start by interface and wire-up. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "launch.h"

struct outcome {
	struct launch_timing t;
	struct fab_launch_comparison c;
	struct fab_stages respawn; /* zeroed: not requested */
	struct fab_arena *memory;
};

/* Row of an interface or wire-up. */
#define INTERFACE(x) (fab_launch_interfaces.at((x)->start.interface).form)
#define WIREUP(x) (fab_launch_wireups.at((x)->start.wireup).form)

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct launch_params *p = w->params;
	struct outcome *o = w->outcome;
	struct fab_fence_chosen fastest;
	struct fab_launch_start s;
	uint64_t bytes;
	int rc = launch_read_constants(p, err);

	o->memory = o->c.memory = w->arena;
	o->c.goal_s = p->goal_s;
	if (!rc)
		rc = launch_timing_init(w, &o->t, err);
	if (rc)
		return rc;
	s = launch_start(p, &o->t);
	if (p->respawn && (uint64_t)s.n_nodes * p->ppn < p->respawn)
		return fab_fail(err, EINVAL,
				"--set respawn=%u: the job has only %llu processes",
				p->respawn, (unsigned long long)s.n_nodes * p->ppn);
	bytes = fab_launch_bytes(&s);
	rc = launch_choose_fence(p, &o->t, bytes, &s.fence, err);
	if (!rc)
		rc = fab_fence_fastest(&o->t.clock, bytes, &fastest, err);
	if (!rc)
		rc = fab_launch_compare(&o->c, &s, fastest, &p->ifaces, &p->wireups,
					p->uses, err);
	if (!rc && p->respawn)
		rc = fab_launch_respawn(w->arena, &s, p->respawn, &o->respawn, err);
	return rc;
}

static const char *node_text(const struct outcome *o, uint32_t node)
{
	const struct fab_launch_nodes *nodes = &o->t.nodes;

	if (node == FAB_NONE)
		return "all nodes";
	if (!o->t.clock.nodes)
		return fab_arena_format(o->memory, "node %u", node);
	return fab_node_name(nodes->f, nodes->f->port_node[nodes->port[node]]);
}

/* "stage-in 1.31 s on n7, exchange 1.86 s on all nodes": stretches of the critical path
 * in the order of time, those of at least `share` of it. */
static const char *path_text(const struct outcome *o, const struct fab_launch_case *c,
			     double share)
{
	const struct fab_stages *s = &c->stages;
	const char *last = NULL;
	char *text = NULL;

	for (size_t i = 0; i < s->n_critical; i++) {
		const struct fab_critical *x = &s->critical[i];
		const char *node = node_text(o, x->node);
		char seconds[FAB_HUMAN_BYTES];

		if (x->end_s - x->start_s < share * s->total_s)
			continue;
		fab_human_seconds(x->end_s - x->start_s, seconds);
		fab_append(&text, ", ", "%s %s", fab_phase_name(x->phase), seconds);
		if (!last || strcmp(last, node) != 0)
			fab_append(&text, " ", "on %s", node);
		last = node;
	}
	fab_arena_own(o->memory, free, text);
	return text ? text : "nothing";
}

static struct launch_stages_row row_of(const struct outcome *o, size_t i)
{
	const struct fab_launch_case *c = &o->c.cases.v[i];
	const struct fab_stages *s = &c->stages;
	bool has_fence = c->start.interface == FAB_PMIX && !isnan(s->fence_us);

	return (struct launch_stages_row){
		.interface = INTERFACE(c),
		.wireup = WIREUP(c),
		.stage_in = fab_stage_ins.at(c->start.stage_in).form,
		.fence = has_fence ? fab_fence_text(o->memory, c->start.fence) : NULL,
		.critical_path = path_text(o, c, 0),
		.nodes = c->start.n_nodes,
		.ppn = c->start.ppn,
		.total_s = s->total_s,
		.saved_s = o->c.cases.v[0].stages.total_s - s->total_s,
		.fence_us = s->fence_us,
		.barrier_us = s->barrier_us,
		.bytes = s->bytes,
		.memory_bytes = s->memory_bytes,
		.goal_met = c->goal.is_met,
		.goal_fs_MBps = c->goal.fs_MBps,
		.goal_fs_ops = c->goal.fs_ops,
		.least_s = c->goal.least_s,
	};
}

/* The first start and the shortest one. */
static void answer_total(struct fab_report *r, const struct outcome *o)
{
	const struct fab_launch_case *c = &o->c.cases.v[0], *best = c;
	char total[FAB_HUMAN_BYTES], least[FAB_HUMAN_BYTES];
	const char *other = "";

	for (size_t i = 1; i < o->c.cases.n; i++)
		if (o->c.cases.v[i].stages.total_s < best->stages.total_s)
			best = &o->c.cases.v[i];
	fab_human_seconds(c->stages.total_s, total);
	fab_human_seconds(best->stages.total_s, least);
	if (best != c)
		other = fab_arena_format(o->memory, ", in %s with %s and %s", least,
					 INTERFACE(best), WIREUP(best));
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"%s in %s with %s and %s%s; the critical path%s is mostly %s.",
		launch_job_text(o->memory, c->start.n_nodes, c->start.ppn, "start"),
		total, INTERFACE(c), WIREUP(c), other, *other ? " of the first" : "",
		path_text(o, c, 0.1));
}

/* The goal for the first start. */
static void answer_goal(struct fab_report *r, const struct launch_params *p,
			const struct outcome *o)
{
	const struct fab_launch_case *c = &o->c.cases.v[0];
	char goal[FAB_HUMAN_BYTES], rate[FAB_HUMAN_BYTES], has[FAB_HUMAN_BYTES];
	double fs_MBps = FAB_PARAM(&p->constants, fs_MBps);

	fab_human_seconds(p->goal_s, goal);
	if (!isnan(c->goal.fs_MBps))
		fab_report_answer(
			r, FAB_TONE_GOOD,
			"%s %s with %s and %s: the file system must give %s/s or more (it has %s/s).",
			goal, c->goal.is_met ? "is met" : "can be met", INTERFACE(c),
			WIREUP(c),
			fab_human_bytes((uint64_t)(c->goal.fs_MBps * 1e6), rate),
			fab_human_bytes((uint64_t)(fs_MBps * 1e6), has));
	else if (!isnan(c->goal.fs_ops))
		fab_report_answer(
			r, FAB_TONE_BAD,
			"%s cannot be met with %s and %s at any rate of the file system, only with %s metadata operations a second (it has %s).",
			goal, INTERFACE(c), WIREUP(c),
			fab_human_count((uint64_t)ceil(c->goal.fs_ops), rate),
			fab_human_count((uint64_t)FAB_PARAM(&p->constants, fs_ops), has));
	else
		fab_report_answer(
			r, FAB_TONE_BAD,
			"%s cannot be met with %s and %s by any file system: the rest takes %s.",
			goal, INTERFACE(c), WIREUP(c),
			fab_human_seconds(c->goal.least_s, has));
}

struct phase_row {
	const char *interface, *wireup, *phase, *node;
	double start_s, end_s, first_end_s, critical_s;
};

/* In a table the first start and the one that improvements are on top of. */
static void report_phases(struct fab_report *r, const struct outcome *o, bool all)
{
#define AT(member) FAB_AT(struct phase_row, member)
	static const struct fab_column columns[] = {
		{"interface", FAB_TEXT, "pmi1, pmi2 or pmix", 0, AT(interface)},
		{"wireup", FAB_TEXT, "see --set wireup", 0, AT(wireup)},
		{"phase", FAB_TEXT, "the phase", 0, AT(phase)},
		{"start_s", FAB_REAL, "the first node begins it, s", FAB_COL_SECONDS,
		 AT(start_s)},
		{"first_end_s", FAB_REAL, "end on the first node, s", FAB_COL_SECONDS,
		 AT(first_end_s)},
		{"end_s", FAB_REAL, "end on the last node, s", FAB_COL_SECONDS,
		 AT(end_s)},
		{"critical_s", FAB_REAL, "its part of the critical path, s",
		 FAB_COL_SECONDS, AT(critical_s)},
		{"critical_node", FAB_TEXT, "the node of that part", 0, AT(node)},
	};
#undef AT

	fab_report_table_begin(r, "phases", "Phases", columns, FAB_COUNT(columns));
	for (size_t i = 0; i < o->c.cases.n; i++) {
		const struct fab_launch_case *c = &o->c.cases.v[i];

		if (!all && i && i != o->c.base)
			continue;
		for (enum fab_phase k = 0; k < FAB_N_PHASES; k++) {
			const struct fab_stage *s = &c->stages.phase[k];
			struct phase_row row = {.interface = INTERFACE(c),
						.wireup = WIREUP(c),
						.phase = fab_phase_name(k),
						.node = node_text(o, FAB_NONE),
						.start_s = s->first_start_s,
						.end_s = s->last_end_s,
						.first_end_s = INFINITY,
						.critical_s = (double)NAN};

			if (!s->is_there)
				continue;
			for (uint32_t n = 0; n < c->start.n_nodes; n++)
				row.first_end_s = fmin(row.first_end_s, s->end_s[n]);
			for (size_t n = 0; n < c->stages.n_critical; n++) {
				const struct fab_critical *x = &c->stages.critical[n];

				if (x->phase != k)
					continue;
				row.node = node_text(o, x->node);
				row.critical_s = x->end_s - x->start_s;
			}
			fab_report_record(r, &row);
		}
	}
	fab_report_table_end(r);
}

static void report(struct fab_report *r, const struct fab_work *w)
{
#define AT(member) FAB_AT(struct fab_improvement, member)
	static const struct fab_column improvements[] = {
		{"improvement", FAB_TEXT, "name", 0, AT(name)},
		{"saved_s", FAB_REAL, "saving alone, s; negative: a cost",
		 FAB_COL_SECONDS, AT(saved_s)},
		{"total_s", FAB_REAL, "the start with it, s", FAB_COL_SECONDS,
		 AT(total_s)},
		{"applies", FAB_BOOL, "it changes this start", 0, AT(applies)},
		{"what", FAB_TEXT, "meaning", 0, AT(what)},
	};
#undef AT
	const struct launch_params *p = w->params;
	const struct outcome *o = w->outcome;
	const struct fab_launch_case *base = &o->c.cases.v[o->c.base];
	char total[FAB_HUMAN_BYTES];

	if (o->respawn.n_nodes)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%u process%s on %u node%s of the running job %s replaced by PMI-2 in %s.",
			p->respawn, p->respawn == 1 ? "" : "es", o->respawn.n_nodes,
			o->respawn.n_nodes == 1 ? "" : "s",
			p->respawn == 1 ? "is" : "are",
			fab_human_seconds(o->respawn.total_s, total));
	answer_total(r, o);
	launch_answer_range(r, p, "It", &o->c.total);
	answer_goal(r, p, o);
	launch_answer_cut(r, &o->t);
	fab_report_text(r, "keys", p->keys_text);
	fab_report_text(r, "tables", o->t.job.algorithm);
	fab_report_real(r, "goal_s", FAB_COL_SECONDS, p->goal_s);
	launch_report_range(r, &o->c.total);
	if (o->respawn.n_nodes) {
		fab_report_uint(r, "respawn.processes", p->respawn);
		fab_report_uint(r, "respawn.nodes", o->respawn.n_nodes);
		fab_report_real(r, "respawn.total_s", FAB_COL_SECONDS,
				o->respawn.total_s);
	}
	fab_report_table_begin(r, "results", "Starts", launch_stages_columns,
			       launch_stages_n_columns);
	for (size_t i = 0; i < o->c.cases.n; i++) {
		struct launch_stages_row row = row_of(o, i);

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
	fab_report_table(r, "improvements",
			 fab_arena_format(o->memory,
					  "Each improvement alone, on top of %s with %s",
					  INTERFACE(base), WIREUP(base)),
			 improvements, FAB_COUNT(improvements), o->c.improvements,
			 sizeof(*o->c.improvements), FAB_N_IMPROVEMENTS);
	report_phases(r, o,
		      fab_report_how(r)->format != FAB_FORMAT_TABLE || p->run.verbose);
	launch_report_constants(r, p);
}

static void store(struct fab_draft *d, const struct fab_work *w)
{
	const struct launch_params *p = w->params;
	const struct outcome *o = w->outcome;

	launch_store_begin(d, w, "keys", p->keys_text);
	fab_draft_fact(d, "nodes", o->t.clock.n_nodes);
	for (size_t i = 0; i < o->c.cases.n; i++) {
		struct launch_stages_row row = row_of(o, i);

		fab_draft_result(
			d, fab_arena_format(w->arena, "%s/%s", row.interface, row.wireup),
			launch_stages_columns, launch_stages_n_columns, &row);
	}
}

/* A timeline: phase by phase along the critical path of each start. */
static int write_plot(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct launch_params *p = w->params;
	const struct outcome *o = w->outcome;
	size_t n = o->c.cases.n, n_bars = 0;
	const char **rows = FAB_ARENA_NEW(w->arena, n, const char *);
	struct fab_plot_bar *bars =
		FAB_ARENA_NEW(w->arena, n * FAB_N_PHASES, struct fab_plot_bar);
	const char *phases[FAB_N_PHASES];
	struct fab_picture picture =
		fab_cli_picture(w, &p->plot, "Phases of the start", "");
	char total[FAB_HUMAN_BYTES];

	(void)err;
	for (enum fab_phase i = 0; i < FAB_N_PHASES; i++)
		phases[i] = fab_phase_name(i);
	for (size_t i = 0; i < n; i++) {
		const struct fab_launch_case *c = &o->c.cases.v[i];

		rows[i] =
			fab_arena_format(w->arena, "%s, %s: %s", INTERFACE(c), WIREUP(c),
					 fab_human_seconds(c->stages.total_s, total));
		for (size_t k = 0; k < c->stages.n_critical; k++) {
			const struct fab_critical *x = &c->stages.critical[k];

			bars[n_bars++] = (struct fab_plot_bar){.row = (uint32_t)i,
							       .kind = x->phase,
							       .from = x->start_s,
							       .to = x->end_s};
		}
	}
	fab_curves_write_timeline(out, &picture,
				  "seconds from submission, along the critical path",
				  rows, n, phases, FAB_N_PHASES, bars, n_bars);
	return 0;
}

static const struct fab_task_file files[] = {{"plot", write_plot}, {0}};

static void draw(struct fab_drawing *d, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;
	const struct fab_launch_start *start = &o->c.cases.v[o->c.base].start;

	launch_draw_fence(d, w, &o->t.job, &o->t.nodes, start->fence,
			  fab_launch_bytes(start));
}

LAUNCH_TASK(stages, struct outcome, .solve = solve, .files = files, .report = report,
	    .draw = draw, .store = store);
