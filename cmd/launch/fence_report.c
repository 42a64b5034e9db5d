/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of fabric-launch fence. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/human.h"
#include "fabric/label.h"
#include "verb_fence.h"

static void answer_sizes(struct fab_report *r, const struct fence_outcome *o)
{
	size_t n = o->p->bytes.n;
	uint32_t n_nodes = o->groups.v[0].nodes.n;
	const struct fence_item *first = fence_best(o, 0, 0),
				*last = fence_best(o, 0, n - 1);
	char size[FAB_HUMAN_BYTES], most[FAB_HUMAN_BYTES];
	char us[FAB_HUMAN_BYTES], longest[FAB_HUMAN_BYTES];

	if (!first || !last)
		return;
	fab_human_bytes(o->p->bytes.v[0], size);
	fab_human_seconds(fence_us(&first->rows.v[0]) / 1e6, us);
	fab_human_bytes(o->p->bytes.v[n - 1], most);
	fab_human_seconds(fence_us(&last->rows.v[n - 1]) / 1e6, longest);
	if (n == 1)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%u node%s, %s each: %s is the fastest fence of those "
				  "tried, %s.",
				  n_nodes, n_nodes == 1 ? "" : "s", size, first->name,
				  us);
	else if (first == last)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%u node%s: %s is the fastest fence of those tried "
				  "both at %s (%s) and at %s (%s).",
				  n_nodes, n_nodes == 1 ? "" : "s", first->name, size, us,
				  most, longest);
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%u node%s: %s is the fastest fence of those tried at %s "
			"(%s), %s at %s (%s).",
			n_nodes, n_nodes == 1 ? "" : "s", first->name, size, us,
			last->name, most, longest);
}

/* The first two orders that differ at the largest size, by the same algorithm. */
static void answer_orders(struct fab_report *r, const struct fence_outcome *o)
{
	size_t n = o->p->nodes.of.n ? o->p->nodes.of.n : 1, last = o->p->bytes.n - 1;
	const struct launch_fence_row *best = NULL, *worst = NULL;

	for (size_t g = 0; g < o->groups.n; g += n) {
		const struct fence_item *x = fence_best(o, g, last);

		if (!x)
			continue;
		if (!best || fence_us(&x->rows.v[last]) < fence_us(best))
			best = &x->rows.v[last];
		if (!worst || fence_us(&x->rows.v[last]) > fence_us(worst))
			worst = &x->rows.v[last];
	}
	if (best && worst && best != worst)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Nodes in the order %s are best: %s; %s takes %.2f times "
			"as long there.",
			best->order, best->algorithm, worst->order,
			fence_us(worst) / fence_us(best));
}

/* The fence of all groups that cables hold up most; NULL: none is there, or none sends
 * anything. */
static const struct fence_item *worst_load(const struct fence_outcome *o, size_t *number)
{
	const struct fence_item *worst = NULL;

	for (size_t i = 0; i < o->items.n; i++) {
		const struct fence_item *x = &o->items.v[i];

		if (x->is_there && !isnan(x->load.factor) &&
		    (!worst || x->load.factor > worst->load.factor)) {
			worst = x;
			*number = i;
		}
	}
	return worst;
}

/* Nothing takes longer than on cables of its own: why? */
static void answer_no_contention(struct fab_report *r, const struct fence_outcome *o)
{
	uint64_t max = 0, between = 0;

	for (size_t i = 0; i < o->items.n; i++) {
		const struct fab_fence_load *load = &o->items.v[i].load;

		max = load->max > max ? load->max : max;
		between = load->max_between > between ? load->max_between : between;
	}
	if (between > 1)
		fab_report_answer(r, FAB_TONE_GOOD,
				  "No cable that messages of a step share takes longer "
				  "than the nodes' own: there is no contention.");
	else
		fab_report_answer(r, FAB_TONE_GOOD,
				  "No two messages of a step share a cable%s: there is "
				  "no contention.",
				  max > 1 ? " between switches" : "");
}

/* Does anything share a cable? */
static void answer_loads(struct fab_report *r, const struct fence_outcome *o)
{
	size_t number = 0;
	const struct fence_item *worst = worst_load(o, &number);
	double factor;
	char *where;

	if (!worst)
		return;
	factor = worst->load.factor;
	if (!(factor > 1 + 1e-9)) {
		answer_no_contention(r, o);
		return;
	}
	where = o->groups.n > 1 ? fab_format(" of %u nodes in the order %s",
					     fence_group_of(o, number)->nodes.n,
					     fence_group_of(o, number)->order)
				: fab_strdup("");
	if (worst->load.max_between > 1)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Contention: %s%s spends %.2f times as long on cables as "
			"alone, up to %" PRIu64 " messages share one.",
			worst->name, where, factor, worst->load.max_between);
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Some cables are slower than the fastest adapter's: %s%s "
			"spends %.2f times as long on cables as if all were as "
			"fast; no two messages of a step share one between "
			"switches.",
			worst->name, where, factor);
	free(where);
	if (worst->load.max_between > 1 && !o->p->model_only && o->p->pieces == 1)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Messages were simulated whole; packets that take turns "
			"take 0.9 to 1.2 times as long (--pieces=16).");
}

/* Times that are not simulated stand beside others that are. */
static void answer_cut(struct fab_report *r, const struct fence_outcome *o)
{
	size_t n = 0, n_cut = 0;

	for (size_t i = 0; i < o->items.n && !o->p->model_only; i++)
		for (size_t k = 0; k < o->items.v[i].rows.n; k++) {
			n++;
			n_cut += isnan(o->items.v[i].rows.v[k].simulated_us);
		}
	if (n_cut)
		fab_report_answer(r, FAB_TONE_WARN,
				  "%zu of %zu times would take too long to simulate: "
				  "contended_us stands for them, by which they may look "
				  "slower than they are.",
				  n_cut, n);
}

static void print_ranges(struct fab_report *r, const struct fence_outcome *o)
{
#define AT(member) FAB_AT(struct fence_range, member)
	static const struct fab_column columns[] = {
		{"order", FAB_TEXT, "how nodes are numbered", 0, AT(order)},
		{"nodes", FAB_UINT, "nodes of the job", 0, AT(nodes)},
		{"algorithm", FAB_TEXT, "the fastest one", 0, AT(algorithm)},
		{"from_bytes", FAB_REAL, "from this size on, B", 0, AT(from_bytes)},
		{"to_bytes", FAB_REAL, "up to this one, B; null: for good", 0,
		 AT(to_bytes)},
		{"simulated_to_bytes", FAB_REAL,
		 "where the next one is faster when simulated, B; null: not simulated", 0,
		 AT(simulated_to_bytes)},
	};
#undef AT

	fab_report_table(r, "ranges", "Which algorithm from which size", columns,
			 FAB_COUNT(columns), o->ranges.v, sizeof(*o->ranges.v),
			 o->ranges.n);
}

struct step_row {
	const char *order, *algorithm;
	char *cable;
	uint32_t nodes;
	uint64_t step, load, between, blocks;
};

static void print_steps(struct fab_report *r, const struct fence_outcome *o)
{
#define AT(member) FAB_AT(struct step_row, member)
	static const struct fab_column columns[] = {
		{"algorithm", FAB_TEXT, "algorithm of the fence", 0, AT(algorithm)},
		{"order", FAB_TEXT, "how nodes are numbered", 0, AT(order)},
		{"nodes", FAB_UINT, "nodes of the job", 0, AT(nodes)},
		{"step", FAB_UINT, "from 0", 0, AT(step)},
		{"load", FAB_UINT, "messages on the fullest direction of a cable", 0,
		 AT(load)},
		{"load_between", FAB_UINT, "the same between switches", 0, AT(between)},
		{"cable", FAB_TEXT, "that one", 0, AT(cable)},
		{"blocks", FAB_UINT, "blocks that a node sends, the most", 0, AT(blocks)},
	};
#undef AT

	fab_report_table_begin(r, "steps", "Loads step by step", columns,
			       FAB_COUNT(columns));
	for (size_t i = 0; i < o->items.n; i++) {
		const struct fence_item *x = &o->items.v[i];

		for (uint32_t s = 0; fence_is_shown(o, i) && x->is_there &&
				     s < x->load.n_steps && s < 4096;
		     s++) {
			const struct fab_fence_step *step = &x->load.step[s];
			struct step_row row = {
				.algorithm = x->name,
				.order = fence_group_of(o, i)->order,
				.nodes = fence_group_of(o, i)->nodes.n,
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

void fence_print(struct fab_report *r, const struct launch_params *p, const void *of,
		 enum fab_format format)
{
	const struct fence_outcome *o = of;

	fab_cli_answer_shard(r, &o->p->shard);
	answer_sizes(r, o);
	launch_answer_range(r, p, p->bytes.n > 1 ? "The last" : "It", &o->seconds);
	answer_orders(r, o);
	answer_loads(r, o);
	answer_cut(r, o);
	fab_cli_report_shard(r, &o->p->shard);
	fab_report_text(r, "tables", o->job.algorithm);
	if (!p->model_only)
		fab_report_uint(r, "pieces", p->pieces);
	launch_print_range(r, &o->seconds);
	fab_report_table_begin(r, "results", "Fences", launch_fence_columns,
			       launch_fence_n_columns);
	for (size_t i = 0; i < o->items.n; i++)
		for (size_t k = 0; fence_is_shown(o, i) && k < o->items.v[i].rows.n; k++)
			fab_report_record(r, &o->items.v[i].rows.v[k]);
	for (size_t i = 0; i < o->autos.n; i++)
		fab_report_record(r, &o->autos.v[i]);
	fab_report_table_end(r);
	print_ranges(r, o);
	if (format != FAB_FORMAT_TABLE || p->run.verbose)
		print_steps(r, o);
	launch_print_constants(r, p);
}
