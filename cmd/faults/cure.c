/* SPDX-License-Identifier: BSD-2-Clause */
/* --cure: the least change that ends a credit loop, as an option that can be pasted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "fabric/label.h"
#include "faults.h"
#include "unicast/cure.h"

/* Processor time of the search: half a minute on two cores. */
static const double CPU_SECONDS = 50;
enum { PAIRS_NAMED = 4 };

struct outcome {
	struct faults_outcome of;	      /* tables of the algorithms */
	const struct fab_faults_result *loop; /* that is to be cured; NULL: none */
	struct fab_cures cures;
};

struct row {
	const char *cure, *apply;
	uint64_t cables, pairs, max_hops, vls, valley_pairs;
	double entries, load;
};

#define AT(member) FAB_AT(struct row, member)
static const struct fab_column columns[] = {
	{"cure", FAB_TEXT,
	 "move: cables to other ports; remove: cables left out; pairs: that must not talk; roots: of updn; engine: another algorithm",
	 0, AT(cure)},
	{"cables", FAB_UINT, "cables that are touched", 0, AT(cables)},
	{"pairs", FAB_UINT, "ordered pairs that must not talk", 0, AT(pairs)},
	{"entries_changed", FAB_NUMBER,
	 "table entries (switch, LID) with another port than now; null: not comparable",
	 FAB_COL_EXTRA, AT(entries)},
	{"max_hops", FAB_UINT, "hops of the longest path then", 0, AT(max_hops)},
	{"vls", FAB_UINT, "virtual lanes that are used then", 0, AT(vls)},
	{"valley_pairs", FAB_UINT, "pairs whose path then turns from down to up",
	 FAB_COL_EXTRA, AT(valley_pairs)},
	{"load", FAB_REAL,
	 "fullest direction of a cable then, when every host sends to every other, in what one host sends",
	 0, AT(load)},
	{"apply", FAB_TEXT,
	 "options of fabric-faults that show it; of pairs, the switches of the hosts", 0,
	 AT(apply)},
};
#undef AT

static const char *const kinds[] = {[FAB_CURE_MOVE] = "move",
				    [FAB_CURE_REMOVE] = "remove",
				    [FAB_CURE_PAIRS] = "pairs",
				    [FAB_CURE_ROOTS] = "roots",
				    [FAB_CURE_ENGINE] = "engine"};

/* As a shell takes it: in '' if it must be; of the arena. */
static const char *quoted(const struct fab_work *w, const char *text)
{
	char *out = NULL;

	if (!text[strcspn(text, " \t;&|<>()$`\\\"'*?[]#~!{}\n")])
		return text;
	fab_append(&out, "", "'");
	for (; *text; text++)
		fab_append(&out, "", *text == '\'' ? "'\\''" : "%c", *text);
	fab_append(&out, "", "'");
	fab_arena_own(w->arena, free, out);
	return out;
}

/* The command that shows the cure: the input as given, and the cure. */
static const char *command_text(const struct fab_work *w, const char *apply)
{
	const struct faults_params *p = w->params;
	const struct outcome *o = w->outcome;
	const struct fab_cli_input *in = &p->input;
	const struct {
		const char *option, *value;
	} given[] = {{"node-name-map", in->node_name_map},
		     {"hca", in->hca},
		     {"subnet", in->subnet},
		     {"endpoints", p->has_ends ? fab_ends_choices.names[p->ends] : NULL}};
	char *text = fab_format("fabric-faults %s", quoted(w, in->fabric));

	for (size_t i = 0; i < FAB_COUNT(given); i++)
		if (given[i].value)
			fab_append(&text, " ", "--%s=%s", given[i].option,
				   quoted(w, given[i].value));
	fab_append(&text, " ", "--algorithm=%s", o->loop->algorithm);
	for (size_t i = 0; i < in->edit.n; i++)
		fab_append(&text, " ", "--edit=%s", quoted(w, in->edit.v[i]));
	fab_append(&text, " ", "%s", apply);
	fab_arena_own(w->arena, free, text);
	return text;
}

/* "--edit='remove A:31'", "hosts of A to those of B, .."; of the arena. */
static const char *apply_text(const struct fab_work *w, const struct fab_cure *c)
{
	const struct fab_fabric *f = w->f;
	char *text = NULL;

	if (c->edit)
		return fab_arena_format(w->arena, "--edit='%s'", c->edit);
	if (c->kind == FAB_CURE_ROOTS)
		return "--algorithm=updn --root-guids=auto";
	if (c->kind == FAB_CURE_ENGINE)
		return fab_arena_format(w->arena, "--algorithm=%s", c->engine->name);
	for (size_t i = 0; i < c->n_switch_pairs && i <= PAIRS_NAMED; i++) {
		char from[FAB_LABEL_SIZE], to[FAB_LABEL_SIZE];

		if (i == PAIRS_NAMED) {
			fab_append(&text, ", ", "..");
			break;
		}
		fab_append(&text, ", ", i ? "%s to %s" : "hosts of %s to those of %s",
			   fab_label_short(fab_node_name(f, c->pairs[i].from), from,
					   sizeof(from)),
			   fab_label_short(fab_node_name(f, c->pairs[i].to), to,
					   sizeof(to)));
	}
	fab_arena_own(w->arena, free, text);
	return text;
}

static int find(struct fab_work *w, struct fab_err *err)
{
	struct faults_params *p = w->params;
	struct outcome *o = w->outcome;
	const struct fab_unicast_problem problem = faults_problem(p, &o->of, NULL);
	struct fab_cli_progress *bar =
		fab_cli_progress_new(&p->run, "trying cures", "sets of cables");
	const struct fab_cure_options options = {.has_ends = p->has_ends,
						 .ends = p->ends,
						 .cpu_seconds = CPU_SECONDS,
						 .progress = fab_cli_progress_tick,
						 .progress_context = bar};
	int rc = fab_cures_find(&problem, o->loop->engine, &o->loop->sum, &options,
				&o->cures, err);

	fab_cli_progress_free(bar);
	return rc ? rc : o->cures.of.n ? FAB_EXIT_DONE : FAB_EXIT_FOUND;
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct faults_params *p = w->params;
	struct outcome *o = w->outcome;
	int rc = faults_set_up(p, w->f, &o->of, err);

	if (!rc)
		rc = faults_sweep(p, &o->of, err);
	for (size_t i = 0; i < o->of.n && !o->loop && !rc; i++)
		if (o->of.results[i].sum.cycle_channels)
			o->loop = &o->of.results[i];
	return rc || !o->loop ? rc : find(w, err);
}

/* The cables, pairs or roots of a cure in words. */
static const char *summary_text(const struct fab_work *w, const struct fab_cure *c)
{
	const char *cables = fab_human_counted(w->arena, c->n_cables, "cable", NULL);

	switch (c->kind) {
	case FAB_CURE_MOVE:
		return fab_arena_format(w->arena, "move %s to other ports", cables);
	case FAB_CURE_REMOVE:
		return !strncmp(c->edit, "move", 4) || strstr(c->edit, "; move")
			       ? fab_arena_format(w->arena, "move or leave out %s",
						  cables)
			       : fab_arena_format(w->arena, "leave out %s", cables);
	case FAB_CURE_PAIRS:
		return fab_arena_format(
			w->arena, "keep %s apart",
			fab_human_counted(w->arena, c->n_pairs, "pair", NULL));
	case FAB_CURE_ROOTS:
		return "updn with roots that it is given";
	default:
		return fab_arena_format(w->arena, "algorithm %s", c->engine->name);
	}
}

static void answer(struct fab_report *r, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;
	const struct fab_analysis *j = o->loop ? &o->loop->sum : NULL;
	const struct fab_cures *cures = &o->cures;
	char pairs[FAB_HUMAN_BYTES];
	FAB_AUTOFREE char *names = NULL;

	for (size_t i = 0; i < o->of.n; i++)
		fab_append(&names, ", ", "%s", o->of.results[i].algorithm);
	if (!j) {
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s: there is no credit loop, nothing is to be cured.",
				  names);
		return;
	}
	fab_report_answer(
		r, FAB_TONE_BAD,
		"%s: credit loop over %zu cables, %s pairs can block each other.",
		o->loop->algorithm, j->cycle.n,
		fab_human_count(j->pairs_on_cycles, pairs));
	if (cures->of.n) {
		const struct fab_cure *best = &cures->of.v[0];

		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Least change: %s; then there is no loop and %s (routed and analysed again).",
			summary_text(w, best),
			best->n_pairs ? "all others keep their path"
				      : "no pair loses its path");
		if (best->edit)
			fab_report_answer(r, FAB_TONE_PLAIN, "Check it: %s",
					  command_text(w, apply_text(w, best)));
	} else {
		fab_report_answer(
			r, FAB_TONE_BAD,
			"No cure was found, by changes of cables or by algorithms of fabkit.");
	}
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "Tried: %s, of up to %u each, on paths that close the loop%s.",
			  fab_human_counted(w->arena, cures->n_tried, "set of cables",
					    "sets of cables"),
			  cures->n_searched,
			  cures->has_given_up ? ", not all of them" : "");
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;

	answer(r, w);
	if (fab_report_how(r)->format == FAB_FORMAT_TABLE)
		fab_report_without_fabric(r);
	fab_report_table_begin(r, "cures", "Cures, the least change first", columns,
			       FAB_COUNT(columns));
	for (size_t i = 0; i < o->cures.of.n; i++) {
		const struct fab_cure *c = &o->cures.of.v[i];
		const struct row row = {
			.cure = kinds[c->kind],
			.cables = c->n_cables,
			.pairs = c->n_pairs,
			.entries = c->entries == UINT64_MAX ? (double)NAN
							    : (double)c->entries,
			.max_hops = c->max_hops,
			.vls = c->vls,
			.valley_pairs = c->valley_pairs,
			.load = c->load,
			.apply = apply_text(w, c),
		};

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

static void fini(void *outcome)
{
	struct outcome *o = outcome;

	fab_cures_fini(&o->cures);
	faults_fini(&o->of);
}

const struct fab_task faults_cure_task = {
	.primary = "cures",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct outcome),
	.solve = solve,
	.report = report,
	.draw = faults_draw,
	.fini = fini,
};
