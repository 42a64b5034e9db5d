/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch fence: algorithm by size by nodes, by formula and on the tables. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "fabric/label.h"
#include "launch.h"

enum { MAX_STEPS = 4096 }; /* that are listed of an item */

struct outcome {
	struct launch_job job;
	struct fab_fence_table t;
};

static int choose_fences(const struct launch_params *p, struct fab_fence_table *t,
			 struct fab_err *err)
{
	for (size_t i = 0; i < p->fences.of.n; i++) {
		const struct fab_chosen *c = &p->fences.of.v[i];
		struct fab_fence_chosen chosen;
		int rc = fab_fence_parse(c->text, c->len, &chosen, err);

		if (rc)
			return rc;
		if (chosen.algorithm != FAB_FENCE_AUTO)
			FAB_PUSH(&t->fences, chosen);
		else if (!p->shard.part.count)
			t->has_auto = true;
		else if (!c->by_all)
			return fab_fail(
				err, EINVAL,
				"--fence=auto does not go with --shard: it needs all the others");
	}
	return 0;
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct launch_params *p = w->params;
	struct outcome *o = w->outcome;
	struct fab_fence_table *t = &o->t;
	size_t n = p->nodes.of.n ? p->nodes.of.n : 1;
	int rc = launch_read_constants(p, err);

	fab_fence_table_begin(t, w->arena);
	t->params = &p->constants;
	t->uses = p->uses;
	t->bytes = p->bytes.v;
	t->n_bytes = p->bytes.n;
	t->model_only = p->model_only;
	t->n_pieces = p->pieces;
	t->shard_text = fab_cli_shard_text(&p->shard);
	t->shard = p->shard.part;
	t->n_threads = p->run.threads;
	if (!rc)
		rc = choose_fences(p, t, err);
	if (!rc)
		rc = launch_job_init(w, &o->job, err);
	if (rc)
		return rc;
	/* contents of files that arguments name: parts with other faults, nodes or
	 * constants do not belong to this whole */
	fab_cli_note_faults(&p->shard, o->job.faults);
	if (o->job.hosts.of.n)
		fab_cli_note_bytes(&p->shard, o->job.hosts.of.v,
				   o->job.hosts.of.n * sizeof(*o->job.hosts.of.v));
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++)
		if (p->uses[i])
			fab_cli_note_bytes(&p->shard, &p->constants.of[i].value,
					   sizeof(p->constants.of[i].value));
	t->routes = o->job.routes;
	/* every order by every number of nodes */
	for (size_t i = 0; i < p->orders.n * n && !rc; i++) {
		struct fab_fence_group g = {.order = p->orders.v[i / n]};

		rc = launch_job_nodes(p, &o->job,
				      p->nodes.of.n ? p->nodes.of.v[i % n] : 0, g.order,
				      w->arena, &g.nodes, err);
		if (!rc)
			FAB_PUSH(&t->groups, g);
	}
	if (!rc)
		rc = fab_cli_count_shard(&p->shard, fab_fence_table_plan(t), "fences",
					 err);
	if (rc)
		return rc;
	t->progress = fab_cli_progress_tick;
	t->progress_context = fab_cli_progress_new(&p->run, "following", "fences");
	rc = fab_fence_table_run(t, err);
	fab_cli_progress_free(t->progress_context);
	return rc;
}

static const struct fab_fence_group *group_of(const struct fab_fence_table *t, size_t i)
{
	return &t->groups.v[i / t->fences.n];
}

/* True if the fence of this item was requested, not added for auto. */
static bool is_shown(const struct fab_fence_table *t, size_t i)
{
	return i % t->fences.n < t->n_shown && t->items.v[i].rows;
}

static void answer_sizes(struct fab_report *r, const struct fab_fence_table *t)
{
	size_t last_size = t->n_bytes - 1;
	uint32_t n = t->groups.v[0].nodes.n;
	const struct fab_fence_item *first = fab_fence_best(t, 0, 0, false);
	const struct fab_fence_item *last = fab_fence_best(t, 0, last_size, false);
	char size[FAB_HUMAN_BYTES], most[FAB_HUMAN_BYTES];
	char us[FAB_HUMAN_BYTES], longest[FAB_HUMAN_BYTES];
	const char *s = n == 1 ? "" : "s";

	if (!first || !last)
		return;
	fab_human_bytes(t->bytes[0], size);
	fab_human_seconds(fab_fence_row_us(&first->rows[0]) / 1e6, us);
	fab_human_bytes(t->bytes[last_size], most);
	fab_human_seconds(fab_fence_row_us(&last->rows[last_size]) / 1e6, longest);
	if (!last_size)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%u node%s, %s each: %s is the fastest fence of those tried, %s.",
			n, s, size, first->name, us);
	else if (first == last)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%u node%s: %s is the fastest fence of those tried both at %s (%s) and at %s (%s).",
			n, s, first->name, size, us, most, longest);
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%u node%s: %s is the fastest fence of those tried at %s (%s), %s at %s (%s).",
			n, s, first->name, size, us, last->name, most, longest);
}

/* The fastest by daemons, which take longer for each message. */
static void answer_daemons(struct fab_report *r, const struct launch_params *p,
			   const struct fab_fence_table *t)
{
	size_t last = t->n_bytes - 1;
	const struct fab_fence_item *first = fab_fence_best(t, 0, 0, true);
	const struct fab_fence_item *big = fab_fence_best(t, 0, last, true);
	char us[FAB_HUMAN_BYTES], longest[FAB_HUMAN_BYTES], size[FAB_HUMAN_BYTES];
	char most[FAB_HUMAN_BYTES];

	if (!first || !big || t->groups.v[0].nodes.n < 2)
		return;
	fab_human_seconds(first->rows[0].daemons_us / 1e6, us);
	fab_human_seconds(big->rows[last].daemons_us / 1e6, longest);
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"By daemons that take %g us for each message (slurmstepd), %s is the fastest at %s (%s)%s%s%s%s%s%s%s.",
		FAB_PARAM(&p->constants, daemon_us), first->name,
		fab_human_bytes(t->bytes[0], size), us, last ? ", " : "",
		last ? big->name : "", last ? " at " : "",
		last ? fab_human_bytes(t->bytes[last], most) : "", last ? " (" : "",
		last ? longest : "", last ? ")" : "");
}

/* The best and the worst order, each with its best fence at the largest size. */
static void answer_orders(struct fab_report *r, const struct launch_params *p,
			  const struct fab_fence_table *t)
{
	size_t n = p->nodes.of.n ? p->nodes.of.n : 1, last = t->n_bytes - 1;
	const struct fab_fence_row *best = NULL, *worst = NULL;

	for (size_t g = 0; g < t->groups.n; g += n) {
		const struct fab_fence_item *x = fab_fence_best(t, g, last, false);
		double us = x ? fab_fence_row_us(&x->rows[last]) : 0;

		if (x && (!best || us < fab_fence_row_us(best)))
			best = &x->rows[last];
		if (x && (!worst || us > fab_fence_row_us(worst)))
			worst = &x->rows[last];
	}
	if (best != worst)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Nodes in the order %s are best: %s; %s takes %.2f times as long there.",
			best->order, best->algorithm, worst->order,
			fab_fence_row_us(worst) / fab_fence_row_us(best));
}

/* The fence with most contention, or the reason why no fence has any. */
static void answer_loads(struct fab_report *r, const struct fab_fence_table *t)
{
	const struct fab_fence_item *worst = NULL;
	const struct fab_fence_group *g;
	uint64_t max = 0, between = 0;
	FAB_AUTOFREE char *where = NULL;

	for (size_t i = 0; i < t->items.n; i++) {
		const struct fab_fence_item *x = &t->items.v[i];

		max = x->load.max > max ? x->load.max : max;
		if (x->load.max_between > between)
			between = x->load.max_between;
		if (x->rows && !isnan(x->load.factor) &&
		    (!worst || x->load.factor > worst->load.factor))
			worst = x;
	}
	if (!worst)
		return;
	g = group_of(t, (size_t)(worst - t->items.v));
	where = t->groups.n > 1
			? fab_format(" of %u nodes in the order %s", g->nodes.n, g->order)
			: fab_strdup("");
	if (worst->load.factor > 1 + 1e-9 && worst->load.max_between > 1)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Contention: %s%s spends %.2f times as long on cables as alone, up to %" PRIu64
			" messages share one.",
			worst->name, where, worst->load.factor, worst->load.max_between);
	else if (worst->load.factor > 1 + 1e-9)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Some cables are slower than the fastest adapter's: %s%s spends %.2f times as long on cables as if all were as fast; no two messages of a step share one between switches.",
			worst->name, where, worst->load.factor);
	else if (between > 1)
		fab_report_answer(
			r, FAB_TONE_GOOD,
			"No cable that messages of a step share takes longer than the nodes' own: there is no contention.");
	else
		fab_report_answer(
			r, FAB_TONE_GOOD,
			"No two messages of a step share a cable%s: there is no contention.",
			max > 1 ? " between switches" : "");
}

struct step_row {
	const char *order, *algorithm;
	char *cable;
	uint32_t nodes;
	uint64_t step, load, between, blocks;
};

static void report_steps(struct fab_report *r, const struct outcome *o)
{
#define AT(member) FAB_AT(struct step_row, member)
	static const struct fab_column columns[] = {
		{"algorithm", FAB_TEXT, "algorithm of the fence", 0, AT(algorithm)},
		{"order", FAB_TEXT, "how nodes are numbered", 0, AT(order)},
		{"nodes", FAB_UINT, "nodes of the job", 0, AT(nodes)},
		{"step", FAB_UINT, "from 0", 0, AT(step)},
		{"load", FAB_UINT, "messages on the fullest direction of a cable", 0,
		 AT(load)},
		{"load_between", FAB_UINT, "load of cables between switches", 0,
		 AT(between)},
		{"cable", FAB_TEXT, "the fullest one", 0, AT(cable)},
		{"blocks", FAB_UINT, "most blocks that a node sends", 0, AT(blocks)},
	};
#undef AT
	const struct fab_fence_table *t = &o->t;

	fab_report_table_begin(r, "steps", "Loads step by step", columns,
			       FAB_COUNT(columns));
	for (size_t i = 0; i < t->items.n; i++) {
		const struct fab_fence_item *x = &t->items.v[i];

		for (uint32_t s = 0;
		     is_shown(t, i) && s < x->load.n_steps && s < MAX_STEPS; s++) {
			const struct fab_fence_step *step = &x->load.step[s];
			struct step_row row = {
				.algorithm = x->name,
				.order = group_of(t, i)->order,
				.nodes = group_of(t, i)->nodes.n,
				.step = s,
				.load = step->load,
				.between = step->load_between,
				.cable = fab_cable_text(o->job.f, x->port[s]),
				.blocks = step->n_blocks};

			fab_report_record(r, &row);
			free(row.cable);
		}
	}
	fab_report_table_end(r);
}

static void report(struct fab_report *r, const struct fab_work *w)
{
#define AT(member) FAB_AT(struct fab_fence_best_range, member)
	static const struct fab_column ranges[] = {
		{"order", FAB_TEXT, "how nodes are numbered", 0, AT(order)},
		{"nodes", FAB_UINT, "nodes of the job", 0, AT(nodes)},
		{"algorithm", FAB_TEXT, "the fastest one", 0, AT(algorithm)},
		{"from_bytes", FAB_REAL, "from this size on, B", 0, AT(from_bytes)},
		{"to_bytes", FAB_REAL, "up to this one, B; null: without end", 0,
		 AT(to_bytes)},
	};
#undef AT
	const struct launch_params *p = w->params;
	const struct outcome *o = w->outcome;
	const struct fab_fence_table *t = &o->t;
	size_t n = 0, n_cut = 0;

	fab_cli_answer_shard(r, &p->shard);
	answer_sizes(r, t);
	launch_answer_range(r, p, t->n_bytes > 1 ? "The last" : "It", &t->seconds);
	answer_daemons(r, p, t);
	answer_orders(r, p, t);
	answer_loads(r, t);
	for (size_t i = 0; i < t->items.n && !t->model_only; i++)
		for (size_t k = 0; t->items.v[i].rows && k < t->n_bytes; k++, n++)
			n_cut += isnan(t->items.v[i].rows[k].simulated_us);
	if (n_cut)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"%zu of %zu times would take too long to simulate: contended_us is used instead, which may be longer.",
			n_cut, n);
	fab_cli_report_shard(r, &p->shard);
	fab_report_text(r, "tables", o->job.algorithm);
	if (!p->model_only)
		fab_report_uint(r, "pieces", p->pieces);
	launch_report_range(r, &t->seconds);
	fab_report_table_begin(r, "results", "Fences", launch_fence_columns,
			       launch_fence_n_columns);
	for (size_t i = 0; i < t->items.n; i++)
		for (size_t k = 0; is_shown(t, i) && k < t->n_bytes; k++)
			fab_report_record(r, &t->items.v[i].rows[k]);
	for (size_t i = 0; i < t->autos.n; i++)
		fab_report_record(r, &t->autos.v[i]);
	fab_report_table_end(r);
	fab_report_table(r, "ranges", "Which algorithm from which size", ranges,
			 FAB_COUNT(ranges), t->ranges.v, sizeof(*t->ranges.v),
			 t->ranges.n);
	if (fab_report_how(r)->format != FAB_FORMAT_TABLE || p->run.verbose)
		report_steps(r, o);
	launch_report_constants(r, p);
}

/* A result for each item, whose parts are sizes; one of another shard has none. */
static void store(struct fab_draft *d, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;
	const struct fab_fence_table *t = &o->t;

	launch_store_begin(d, w, "tables", o->job.algorithm);
	for (size_t i = 0; i < t->items.n; i++) {
		const struct fab_fence_item *x = &t->items.v[i];
		const char *fence =
			fab_fence_text(w->arena, t->fences.v[i % t->fences.n]);

		if (i % t->fences.n >= t->n_shown)
			continue;
		fab_draft_result(
			d,
			fab_arena_format(w->arena, "%s/%s/%u", fence,
					 group_of(t, i)->order, group_of(t, i)->nodes.n),
			launch_fence_columns, x->rows ? launch_fence_n_columns : 0,
			x->rows ? &x->rows[t->n_bytes - 1] : NULL);
		for (size_t k = 0; x->rows && k < t->n_bytes; k++)
			fab_draft_part(
				d, k,
				fab_arena_format(w->arena, "bytes=%" PRIu64, t->bytes[k]),
				launch_fence_columns, launch_fence_n_columns,
				&x->rows[k]);
	}
}

/* The fastest of the first group at the largest size. */
static void draw(struct fab_drawing *d, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;
	const struct fab_fence_table *t = &o->t;
	const struct fab_fence_item *best = fab_fence_best(t, 0, t->n_bytes - 1, false);

	if (best)
		launch_draw_fence(d, w, &o->job, &t->groups.v[0].nodes,
				  t->fences.v[best - t->items.v],
				  t->bytes[t->n_bytes - 1]);
}

LAUNCH_TASK(fence, struct outcome, .solve = solve, .report = report, .draw = draw,
	    .store = store);
