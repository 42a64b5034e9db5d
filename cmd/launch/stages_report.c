/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of fabric-launch stages. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "verb_stages.h"

static char *node_text(const struct stages_outcome *o, uint32_t node)
{
	const struct fab_launch_nodes *nodes = &o->t.nodes;

	if (node == FAB_NONE)
		return fab_strdup("all nodes");
	if (!o->t.has_fabric)
		return fab_format("node %u", node);
	return fab_strdup(
		fab_node_name(o->t.job.f, nodes->f->port_node[nodes->port[node]]));
}

/* "stage-in 1.31 s on n7, exchange 1.86 s on all nodes": stretches of the critical path
 * in the order of time, those of at least `share` of it; on the heap. */
static char *path_text(const struct stages_outcome *o, const struct stages_case *c,
		       double share)
{
	const struct fab_stages *s = &c->stages;
	const char *last = NULL;
	char *text = NULL;

	for (size_t i = 0; i < s->n_critical; i++) {
		const struct fab_critical *x = &s->critical[i];
		char seconds[FAB_HUMAN_BYTES], *node;

		if (x->end_s - x->start_s < share * s->total_s)
			continue;
		node = node_text(o, x->node);
		fab_human_seconds(x->end_s - x->start_s, seconds);
		fab_append(&text, ", ", "%s %s", fab_phase_name(x->phase), seconds);
		if (!last || strcmp(last, node) != 0)
			fab_append(&text, " ", "on %s", node);
		free((char *)(uintptr_t)last);
		last = node;
	}
	free((char *)(uintptr_t)last);
	return text ? text : fab_strdup("nothing");
}

void stages_row(const struct stages_outcome *o, size_t i, struct launch_stages_row *row)
{
	const struct stages_case *c = &o->cases.v[i];
	const struct fab_stages *s = &c->stages;

	*row = (struct launch_stages_row){
		.interface = fab_launch_interfaces.at(c->start.interface).form,
		.wireup = fab_launch_wireups.at(c->start.wireup).form,
		.stage_in = fab_stage_ins.at(c->start.stage_in).form,
		.nodes = c->start.n_nodes,
		.ppn = c->start.ppn,
		.total_s = s->total_s,
		.saved_s = o->cases.v[0].stages.total_s - s->total_s,
		.fence_us = s->fence_us,
		.barrier_us = s->barrier_us,
		.bytes = s->bytes,
		.memory_bytes = s->memory_bytes,
		.goal_met = c->goal.is_met,
		.goal_fs_MBps = c->goal.fs_MBps,
		.goal_fs_ops = c->goal.fs_ops,
		.least_s = c->goal.least_s,
	};
	if (c->start.interface == FAB_PMIX && !isnan(s->fence_us))
		row->fence = fab_fence_text(c->start.fence);
	row->critical_path = path_text(o, c, 0);
}

static void answer_total(struct fab_report *r, const struct stages_outcome *o)
{
	const struct stages_case *c = &o->cases.v[0], *best = c;
	char total[FAB_HUMAN_BYTES], least[FAB_HUMAN_BYTES];
	char *path = path_text(o, c, 0.1);
	char *job = launch_job_text(c->start.n_nodes, c->start.ppn, "start");

	for (size_t i = 1; i < o->cases.n; i++)
		if (o->cases.v[i].stages.total_s < best->stages.total_s)
			best = &o->cases.v[i];
	fab_human_seconds(c->stages.total_s, total);
	fab_human_seconds(best->stages.total_s, least);
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "%s in %s with %s and %s; the critical path is mostly %s.", job,
			  total, fab_launch_interfaces.at(c->start.interface).form,
			  fab_launch_wireups.at(c->start.wireup).form, path);
	free(job);
	free(path);
	launch_answer_range(r, o->p, "It", &o->total);
	if (best != c)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "The shortest start is that with %s and %s: %s.",
				  fab_launch_interfaces.at(best->start.interface).form,
				  fab_launch_wireups.at(best->start.wireup).form, least);
}

/* What was asked for first. */
static void answer_respawn(struct fab_report *r, const struct stages_outcome *o)
{
	char total[FAB_HUMAN_BYTES];

	fab_human_seconds(o->respawn.total_s, total);
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "%u process%s on %u node%s of the running job %s replaced by "
			  "PMI-2 in %s.",
			  o->p->respawn, o->p->respawn == 1 ? "" : "es",
			  o->respawn.n_nodes, o->respawn.n_nodes == 1 ? "" : "s",
			  o->p->respawn == 1 ? "is" : "are", total);
}

/* Where the first start misses the goal: who keeps it as it is. */
static void answer_met(struct fab_report *r, const struct stages_outcome *o)
{
	const struct stages_case *met = NULL;

	for (size_t i = 1; i < o->cases.n && !o->cases.v[0].goal.is_met; i++)
		if (o->cases.v[i].goal.is_met &&
		    (!met || o->cases.v[i].stages.total_s < met->stages.total_s))
			met = &o->cases.v[i];
	if (met)
		fab_report_answer(r, FAB_TONE_GOOD,
				  "With %s and %s it is met without a change.",
				  fab_launch_interfaces.at(met->start.interface).form,
				  fab_launch_wireups.at(met->start.wireup).form);
}

/* Of the first start. */
static void answer_goal(struct fab_report *r, const struct stages_outcome *o)
{
	const struct stages_case *c = &o->cases.v[0];
	const char *interface = fab_launch_interfaces.at(c->start.interface).form;
	const char *wireup = fab_launch_wireups.at(c->start.wireup).form;
	char goal[FAB_HUMAN_BYTES], rate[FAB_HUMAN_BYTES], least[FAB_HUMAN_BYTES];

	fab_human_seconds(o->p->goal_s, goal);
	fab_human_seconds(c->goal.least_s, least);
	if (!isnan(c->goal.fs_MBps))
		fab_report_answer(
			r, FAB_TONE_GOOD,
			"%s %s with %s and %s: the file system must give %s/s or more "
			"(it has %s/s).",
			goal, c->goal.is_met ? "is met" : "can be met", interface, wireup,
			fab_human_bytes((uint64_t)(c->goal.fs_MBps * 1e6), rate),
			fab_human_bytes(
				(uint64_t)(FAB_PARAM(&o->p->constants, fs_MBps) * 1e6),
				least));
	else if (!isnan(c->goal.fs_ops))
		fab_report_answer(r, FAB_TONE_BAD,
				  "%s cannot be met with %s and %s at any rate of the "
				  "file system, only with %.3g metadata operations a "
				  "second (it has %.3g).",
				  goal, interface, wireup, c->goal.fs_ops,
				  FAB_PARAM(&o->p->constants, fs_ops));
	else
		fab_report_answer(r, FAB_TONE_BAD,
				  "%s cannot be met with %s and %s by any file system: "
				  "the rest takes %s.",
				  goal, interface, wireup, least);
	answer_met(r, o);
}

struct phase_row {
	const char *interface, *wireup, *phase;
	char *node; /* on the heap */
	double start_s, end_s, first_end_s, critical_s;
};

static double first_end(const struct fab_stage *s, uint32_t n)
{
	double first = INFINITY;

	for (uint32_t i = 0; i < n; i++)
		first = fmin(first, s->end_s[i]);
	return first;
}

/* Seconds of the critical path in a phase, and where it runs. */
static double critical_of(const struct fab_stages *s, enum fab_phase phase,
			  uint32_t *node)
{
	for (size_t i = 0; i < s->n_critical; i++)
		if (s->critical[i].phase == phase) {
			*node = s->critical[i].node;
			return s->critical[i].end_s - s->critical[i].start_s;
		}
	return (double)NAN;
}

/* In a table the first start and the one that improvements are on top of. */
static void print_phases(struct fab_report *r, const struct stages_outcome *o, bool all)
{
#define AT(member) FAB_AT(struct phase_row, member)
	static const struct fab_column columns[] = {
		{"interface", FAB_TEXT, "pmi1, pmi2 or pmix", 0, AT(interface)},
		{"wireup", FAB_TEXT, "as --wireup has it", 0, AT(wireup)},
		{"phase", FAB_TEXT, "the phase", 0, AT(phase)},
		{"start_s", FAB_REAL, "when the first node begins it, s", FAB_COL_SECONDS,
		 AT(start_s)},
		{"first_end_s", FAB_REAL, "when the first node has it done, s",
		 FAB_COL_SECONDS, AT(first_end_s)},
		{"end_s", FAB_REAL, "when the last one has, s", FAB_COL_SECONDS,
		 AT(end_s)},
		{"critical_s", FAB_REAL, "its part of the critical path, s",
		 FAB_COL_SECONDS, AT(critical_s)},
		{"critical_node", FAB_TEXT, "the node on which that runs", 0, AT(node)},
	};
#undef AT

	fab_report_table_begin(r, "phases", "Phases", columns, FAB_COUNT(columns));
	for (size_t i = 0; i < o->cases.n; i++) {
		const struct stages_case *c = &o->cases.v[i];

		if (!all && i && i != o->base)
			continue;
		for (enum fab_phase k = 0; k < FAB_N_PHASES; k++) {
			const struct fab_stage *s = &c->stages.phase[k];
			uint32_t node = FAB_NONE;
			struct phase_row row;

			if (!s->is_there)
				continue;
			row = (struct phase_row){
				.interface =
					fab_launch_interfaces.at(c->start.interface).form,
				.wireup = fab_launch_wireups.at(c->start.wireup).form,
				.phase = fab_phase_name(k),
				.start_s = s->first_start_s,
				.end_s = s->last_end_s,
				.first_end_s = first_end(s, c->start.n_nodes),
				.critical_s = critical_of(&c->stages, k, &node),
			};
			row.node = node_text(o, node);
			fab_report_record(r, &row);
			free(row.node);
		}
	}
	fab_report_table_end(r);
}

static void print_improvements(struct fab_report *r, const struct stages_outcome *o)
{
#define AT(member) FAB_AT(struct fab_improvement, member)
	static const struct fab_column columns[] = {
		{"improvement", FAB_TEXT, "its name", 0, AT(name)},
		{"saved_s", FAB_REAL, "what it saves alone, s; negative: it costs",
		 FAB_COL_SECONDS, AT(saved_s)},
		{"total_s", FAB_REAL, "the start with it, s", FAB_COL_SECONDS,
		 AT(total_s)},
		{"applies", FAB_BOOL, "it changes this start", 0, AT(applies)},
		{"what", FAB_TEXT, "what it is", 0, AT(what)},
	};
#undef AT

	const struct stages_case *base = &o->cases.v[o->base];
	char *title = fab_format("Each improvement alone, on top of %s with %s",
				 fab_launch_interfaces.at(base->start.interface).form,
				 fab_launch_wireups.at(base->start.wireup).form);

	fab_report_table(r, "improvements", title, columns, FAB_COUNT(columns),
			 o->improvements, sizeof(*o->improvements), FAB_N_IMPROVEMENTS);
	free(title);
}

static void print_respawn(struct fab_report *r, const struct stages_outcome *o)
{
	static const struct fab_column fields[] = {
		{"respawn.processes", FAB_UINT, "", 0},
		{"respawn.nodes", FAB_UINT, "", 0},
		{"respawn.total_s", FAB_REAL, "", FAB_COL_SECONDS},
	};

	if (!o->respawn.n_nodes)
		return;
	fab_report_field(r, &fields[0], (union fab_cell){.u = o->p->respawn});
	fab_report_field(r, &fields[1], (union fab_cell){.u = o->respawn.n_nodes});
	fab_report_field(r, &fields[2], (union fab_cell){.real = o->respawn.total_s});
}

void stages_print(struct fab_report *r, const struct launch_params *p, const void *of,
		  enum fab_format format)
{
	static const struct fab_column goal = {"goal_s", FAB_REAL, "", FAB_COL_SECONDS};
	const struct stages_outcome *o = of;

	if (o->respawn.n_nodes)
		answer_respawn(r, o);
	answer_total(r, o);
	answer_goal(r, o);
	launch_answer_cut(r, &o->t);
	fab_report_text(r, "keys", p->keys_text);
	fab_report_text(r, "tables", o->t.job.algorithm);
	fab_report_field(r, &goal, (union fab_cell){.real = p->goal_s});
	launch_print_range(r, &o->total);
	print_respawn(r, o);
	fab_report_table_begin(r, "results", "Starts", launch_stages_columns,
			       launch_stages_n_columns);
	for (size_t i = 0; i < o->cases.n; i++) {
		struct launch_stages_row row;

		stages_row(o, i, &row);
		fab_report_record(r, &row);
		free(row.fence);
		free(row.critical_path);
	}
	fab_report_table_end(r);
	print_improvements(r, o);
	print_phases(r, o, format != FAB_FORMAT_TABLE || p->run.verbose);
	launch_print_constants(r, p);
}
