/* SPDX-License-Identifier: BSD-2-Clause */
/* Broadcasts, allgathers and barriers by messages, next to a multicast tree. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "fabric_sim.h"

struct row {
	const struct sim_net *net;
	struct fab_sim_summary sum;
	const char *algorithm, *trees; /* trees NULL: by messages */
	double max_utilisation;
};

struct outcome {
	struct sim_outcome sim; /* first */
	struct row *rows;	/* by net, then method */
	size_t n;
};

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct sim_params *p = w->params;
	struct outcome *x = w->outcome;
	struct sim_outcome *o = &x->sim;
	bool fails = false;
	int rc = sim_solve(w, err);

	if (rc)
		return rc;
	x->rows = FAB_ARENA_NEW(o->arena, o->points.of.n + 1, struct row);
	for (uint32_t net = 0; net < o->n_nets; net++)
		for (size_t i = 0; i < o->points.of.n; i++) {
			const struct fab_sim_point *point = &o->points.of.v[i];
			bool by_tree = sim_is_by_tree(p, point->sum.traffic);

			if (point->net != net)
				continue;
			x->rows[x->n++] = (struct row){
				.net = &o->nets[net],
				.sum = point->sum,
				.algorithm = o->nets[net].algorithm,
				.trees = by_tree ? o->trees_by : NULL,
				.max_utilisation =
					fab_sim_cause(&point->first).utilisation};
			fails |= isnan(point->sum.completion);
		}
	return p->check && fails ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

/* "broadcast of 1MiB to 127 hosts" */
static const char *what(const struct sim_outcome *o)
{
	const struct sim_params *p = o->p;
	int len = (int)fab_choice_name_len(p->traffic);
	char hosts[FAB_HUMAN_BYTES];
	const char *size =
		p->texts.sizes && p->n_sizes == 1
			? fab_arena_format(o->arena, " of %.40s", p->texts.sizes)
			: "";

	if (p->traffic_kind == &fab_traffic_broadcast)
		return fab_arena_format(o->arena, "%.*s%s to %s hosts", len, p->traffic,
					size, fab_human_count(o->ends.n - 1, hosts));
	return fab_arena_format(o->arena, "%.*s%s on %s hosts", len, p->traffic,
				p->traffic_kind == &fab_traffic_barrier ? "" : size,
				fab_human_count(o->ends.n, hosts));
}

static void say(struct fab_report *r, const struct sim_outcome *o, const struct row *x,
		size_t n)
{
	const struct row *best = NULL, *tree = NULL;
	double ratio;

	for (size_t i = 0; i < n; i++) {
		const struct row **to = x[i].trees ? &tree : &best;

		if (isnan(x[i].sum.completion))
			fab_report_answer(r, FAB_TONE_BAD, "%s, %s: not finished: %s.",
					  x[i].algorithm, x[i].sum.traffic,
					  x[i].sum.is_deadlocked
						  ? "packets can never move again"
					  : x[i].sum.is_stalled ? "nothing moved any more"
					  : x[i].sum.unroutable + x[i].sum.looped
						  ? "packets have no path"
						  : "not all has arrived");
		else if (!*to || x[i].sum.completion < (*to)->sum.completion)
			*to = &x[i];
	}
	if (!best || !tree) {
		if (best || tree)
			fab_report_answer(
				r, FAB_TONE_PLAIN, "%s, %s: %s %s.", x->algorithm,
				what(o),
				sim_time_text(o, (best ? best : tree)->sum.completion),
				best ? "by messages" : "by the tree");
		return;
	}
	ratio = best->sum.completion / tree->sum.completion;
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"%s, %s: %s by messages (%s), %s by the tree (%s): %s.", x->algorithm,
		what(o), sim_time_text(o, best->sum.completion),
		best->sum.traffic + fab_choice_name_len(best->sum.traffic) + 1,
		sim_time_text(o, tree->sum.completion), tree->trees,
		ratio >= 1.005 ? fab_arena_format(o->arena,
						  "the tree is %.3g times as fast", ratio)
		: ratio <= 0.995
			? fab_arena_format(o->arena, "messages are %.3g times as fast",
					   1 / ratio)
			: "equally fast");
}

#define AT(member) FAB_AT(struct row, member)
static const struct fab_column columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm of messages", 0, AT(algorithm)},
	{"traffic", FAB_TEXT, "collective and method", 0, AT(sum.traffic)},
	{"trees", FAB_TEXT, "algorithm of the tree; null: by messages", 0, AT(trees)},
	{"completion_ns", FAB_REAL,
	 "when all has arrived, ns (flit times by flit); null: not all", FAB_COL_EXACT,
	 AT(sum.completion)},
	{"packets", FAB_UINT, "packets that arrived, copies each", 0, AT(sum.packets)},
	{"copied", FAB_UINT, "packets more that switches made", FAB_COL_EXTRA,
	 AT(sum.copied)},
	{"packet_hops", FAB_UINT, "cables that packets crossed, all together", 0,
	 AT(sum.packet_hops)},
	{"max_utilisation", FAB_REAL, "fullest direction of a cable, share of the time",
	 0, AT(max_utilisation)},
	{"unfinished", FAB_UINT, "hosts that did not come to the end",
	 FAB_COL_EXTRA | FAB_COL_BAD_IF_ANY, AT(sum.unfinished)},
	{"stalled", FAB_BOOL, "nothing moved for as long as --set stall says",
	 FAB_COL_EXTRA | FAB_COL_BAD_IF_ANY, AT(sum.is_stalled)},
	{"deadlock", FAB_BOOL, "packets were seen that can never move again",
	 FAB_COL_EXTRA | FAB_COL_BAD_IF_ANY, AT(sum.is_deadlocked)},
};
#undef AT

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct outcome *x = w->outcome;
	const struct sim_outcome *o = &x->sim;

	for (size_t i = 0; i < x->n; i += o->n_methods)
		say(r, o, &x->rows[i], o->n_methods);
	sim_say_notes(r, o);
	sim_print_parameters(r, o);
	fab_report_table(r, "collectives", "Collectives", w->columns.v, w->columns.n,
			 x->rows, sizeof(*x->rows), x->n);
}

const struct fab_task sim_collectives_task = {
	.primary = "collectives",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct outcome),
	.solve = solve,
	.report = report,
	.fini = sim_outcome_fini,
};
