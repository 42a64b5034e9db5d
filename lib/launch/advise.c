/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search: of the changes that are left, the one that saves most is added to those
 * before it, until none saves enough. Then the words for each: the way to make it, and
 * its costs.
 */
#include "launch/advise.h"

#include <math.h>
#include <string.h>

/* Values that are tried; of orders their numbers. */
static const struct {
	uint32_t n, of[8];
} values[FAB_N_SETTINGS] = {
	[FAB_SETTING_STAGE_IN] = {3, {FAB_STAGE_TREE, FAB_STAGE_CACHE, FAB_STAGE_STORM}},
	[FAB_SETTING_FANOUT] = {3, {2, 4, 8}},
	[FAB_SETTING_TOPOLOGY] = {1, {1}},
	[FAB_SETTING_WIREUP] = {3,
				{FAB_WIREUP_BACKGROUND, FAB_WIREUP_DIRECT,
				 FAB_WIREUP_DIRECT_BARRIER}},
	[FAB_SETTING_FENCE] = {2, {FAB_FENCE_TREE, FAB_FENCE_RING}},
	[FAB_SETTING_TREE_WIDTH] = {8, {2, 4, 8, 16, 32, 50, 64, 128}},
};

struct search {
	const struct fab_launch_advice_input *in;
	struct fab_launch_advice *out;
	struct fab_fence_clock *clock;	      /* [n_orders] */
	double width[FAB_N_LAUNCH_CONSTANTS]; /* the most of any row */
	struct fab_err *err;
};

/* Put settings into the start and its parameters. */
static void apply(const struct fab_launch_settings *is, struct fab_launch_params *params,
		  struct fab_launch_start *start)
{
	const uint32_t *of = is->of;

	params->of[FAB_CONST_tree_width].value = of[FAB_SETTING_TREE_WIDTH];
	params->of[FAB_CONST_fanout].value = of[FAB_SETTING_FANOUT];
	start->stage_in = of[FAB_SETTING_STAGE_IN];
	if (of[FAB_SETTING_TOPOLOGY])
		start->does |= FAB_DOES_TOPOLOGY;
	start->wireup = of[FAB_SETTING_WIREUP];
	start->fence.algorithm = of[FAB_SETTING_FENCE];
	start->fence.width =
		of[FAB_SETTING_FENCE] == FAB_FENCE_TREE ? of[FAB_SETTING_TREE_WIDTH] : 0;
}

static int time_with(struct search *s, const struct fab_launch_settings *with,
		     double *total_s)
{
	struct fab_launch_params *params = s->in->params;
	double width = FAB_PARAM(params, tree_width), fanout = FAB_PARAM(params, fanout);
	struct fab_launch_start start = s->in->start;
	int rc;

	apply(with, params, &start);
	if (with->of[FAB_SETTING_ORDER])
		start.timer.context = &s->clock[with->of[FAB_SETTING_ORDER]];
	rc = fab_stages_total_s(&start, total_s, s->err);
	params->of[FAB_CONST_tree_width].value = width;
	params->of[FAB_CONST_fanout].value = fanout;
	return rc;
}

/* Take these settings, if they are faster than all before. */
static int try(struct search *s, const struct fab_launch_settings *with,
	       struct fab_launch_timed *best)
{
	double total_s;
	int rc = time_with(s, with, &total_s);

	if (!rc && total_s < best->total_s)
		*best = (struct fab_launch_timed){*with, total_s};
	return rc;
}

/* The best other value of a setting, but for one (FAB_NONE: all); a tree of files also
 * with each fan-out. */
static int try_setting(struct search *s, struct fab_launch_settings with,
		       enum fab_launch_setting setting, uint32_t but,
		       struct fab_launch_timed *best)
{
	uint32_t now = with.of[setting], fanout = with.of[FAB_SETTING_FANOUT];
	bool is_order = setting == FAB_SETTING_ORDER;
	size_t n = is_order ? s->in->n_orders : values[setting].n;
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		uint32_t value = is_order ? (uint32_t)i : values[setting].of[i];

		if (value == now || value == but)
			continue;
		with.of[setting] = value;
		rc = try(s, &with, best);
		if (rc || setting != FAB_SETTING_STAGE_IN || value != FAB_STAGE_TREE)
			continue;
		rc = try_setting(s, with, FAB_SETTING_FANOUT, FAB_NONE, best);
		with.of[FAB_SETTING_FANOUT] = fanout;
	}
	return rc;
}

/* Seconds that a change saves; with is_share as a share of the start before it. */
struct saving {
	const struct search *s;
	const struct fab_launch_settings *from, *to;
	bool is_share;
};

/* Fences by formula. Of orders, these are compared with each step waiting for its fullest
 * cable. */
static int saving_of(void *context, const struct fab_launch_params *params, double *out,
		     struct fab_err *err)
{
	const struct saving *x = context;
	const struct fab_launch_settings *const is[] = {x->from, x->to};
	const struct fab_launch_advice_input *in = x->s->in;
	bool has_order = x->from->of[FAB_SETTING_ORDER] != x->to->of[FAB_SETTING_ORDER];
	double total_s[2] = {0, 0};
	int rc = 0;

	for (size_t i = 0; i < 2 && !rc; i++) {
		FAB_AUTO(fab_arena_free) struct fab_arena memory = FAB_ARENA_INIT;
		struct fab_launch_params with = *params;
		struct fab_launch_start start = in->start;
		struct fab_fence_clock clock = {.params = &with,
						.n_nodes = start.n_nodes,
						.model_only = true,
						.memory = &memory};

		apply(is[i], &with, &start);
		start.params = &with;
		start.timer.us = NULL;
		if (has_order) {
			clock.nodes = &in->order[is[i]->of[FAB_SETTING_ORDER]].nodes;
			clock.routes = in->clock->routes;
			start.timer =
				(struct fab_launch_timer){fab_fence_clock_us, &clock};
		}
		rc = fab_stages_total_s(&start, &total_s[i], err);
	}
	*out = (total_s[0] - total_s[1]) / (x->is_share ? total_s[0] : 1);
	return rc;
}

/* Constants by which an order of nodes matters. */
static void uses_of_order(const bool *uses, bool out[FAB_N_LAUNCH_CONSTANTS])
{
	static const enum fab_launch_constant of_fences[] = {
		FAB_CONST_daemon_us, FAB_CONST_latency_us, FAB_CONST_gap_ns_per_B,
		FAB_CONST_copy_ns_per_B};

	memset(out, 0, FAB_N_LAUNCH_CONSTANTS * sizeof(*out));
	for (size_t i = 0; i < FAB_COUNT(of_fences); i++)
		out[of_fences[i]] = !uses || uses[of_fences[i]];
}

/* The words of a change: its name and both values, the way to make it, its costs. */

static void describe_files(struct fab_arena *a, const struct fab_launch_params *params,
			   const struct fab_launch_settings *from,
			   const struct fab_launch_settings *to,
			   struct fab_launch_advice_row *row)
{
	uint32_t fanout = to->of[FAB_SETTING_FANOUT];
	bool has_fanout = fanout != from->of[FAB_SETTING_FANOUT];

	row->setting = "pre-staging";
	row->now = fab_stage_ins.at(from->of[FAB_SETTING_STAGE_IN]).form;
	row->advised = fab_stage_ins.at(to->of[FAB_SETTING_STAGE_IN]).form;
	if (to->of[FAB_SETTING_STAGE_IN] == FAB_STAGE_CACHE) {
		row->how = "Job script: start it under a loader cache such as Spindle";
		row->costs = "software on all nodes, and the files in their memory";
		return;
	}
	if (to->of[FAB_SETTING_STAGE_IN] == FAB_STAGE_STORM) {
		row->how = "Job script: no sbcast, programs are opened where they are";
		row->costs = "load of the file system";
		return;
	}
	row->how =
		"Job script: sbcast --send-libs PROGRAM /tmp/PROGRAM (or srun --bcast --send-libs)";
	if (has_fanout) {
		row->advised = fab_arena_format(a, "tree, fan-out %u", fanout);
		row->how = fab_arena_format(
			a,
			"Job script: sbcast --send-libs --fanout=%u PROGRAM /tmp/PROGRAM",
			fanout);
	}
	row->costs = fab_arena_format(a, "%.4g MB of memory or local disk on each node",
				      FAB_PARAM(params, image_MB));
}

static void describe_wireup(const struct fab_launch_settings *from,
			    const struct fab_launch_settings *to,
			    struct fab_launch_advice_row *row)
{
	/* variables that Open MPI's opal/mca/pmix and ompi_mpi_init() read, under srun
	 * too */
	static const struct {
		const char *how, *costs;
	} of[] = {
		[FAB_WIREUP_BACKGROUND] =
			{"Job script: export OMPI_MCA_pmix_base_async_modex=1",
			 "a process may leave MPI_Init before others have begun it"},
		[FAB_WIREUP_DIRECT] =
			{"Job script: export OMPI_MCA_pmix_base_async_modex=1 OMPI_MCA_pmix_base_collect_data=0 OMPI_MCA_async_mpi_init=1",
			 "the first message to each further peer waits for a request"},
		[FAB_WIREUP_DIRECT_BARRIER] = {
			"Job script: export OMPI_MCA_pmix_base_async_modex=1 OMPI_MCA_pmix_base_collect_data=0",
			"the first message to each further peer waits for a request"}};
	uint32_t value = to->of[FAB_SETTING_WIREUP];

	row->setting = "wire-up";
	row->now = fab_launch_wireups.at(from->of[FAB_SETTING_WIREUP]).form;
	row->advised = fab_launch_wireups.at(value).form;
	row->how = of[value].how;
	row->costs = of[value].costs;
}

static const char *fence_text(uint32_t value)
{
	return value == FAB_FENCE_SLURM_AUTO ? "mixed"
	       : value == FAB_FENCE_RING     ? "ring"
					     : "tree";
}

static void describe(const struct search *s, enum fab_launch_setting setting,
		     const struct fab_launch_settings *from,
		     const struct fab_launch_settings *to,
		     struct fab_launch_advice_row *row)
{
	struct fab_arena *a = s->in->memory;
	uint32_t was = from->of[setting], value = to->of[setting];

	switch (setting) {
	case FAB_SETTING_STAGE_IN:
		describe_files(a, s->in->params, from, to, row);
		return;
	case FAB_SETTING_TOPOLOGY:
		row->setting = "topology";
		row->now = "each process";
		row->advised = "once a node";
		row->how =
			"Job script: srun --ntasks-per-node=1 lstopo /tmp/node.xml, then export HWLOC_XMLFILE=/tmp/node.xml HWLOC_THISSYSTEM=1";
		row->costs = "a job step; the file must be of this node";
		return;
	case FAB_SETTING_WIREUP:
		describe_wireup(from, to, row);
		return;
	case FAB_SETTING_FENCE:
		row->setting = "SLURM_PMIX_FENCE";
		row->now = fence_text(was);
		row->advised = fence_text(value);
		row->how = fab_arena_format(
			a,
			"Job script: export SLURM_PMIX_FENCE=%s (of all jobs: PMIxCollFence=%s in mpi.conf)",
			row->advised, row->advised);
		row->costs = "fences of other sizes may take longer";
		return;
	case FAB_SETTING_ORDER:
		row->setting = "order of nodes";
		row->now = s->in->order[was].name;
		row->advised = s->in->order[value].name;
		row->how =
			"Job script: hosts in this order in the file SLURM_HOSTFILE, and srun --distribution=arbitrary";
		row->costs = "ranks are placed by that file alone";
		return;
	default:
		row->setting =
			setting == FAB_SETTING_FANOUT ? "sbcast --fanout" : "TreeWidth";
		row->now = fab_arena_format(a, "%u", was);
		row->advised = fab_arena_format(a, "%u", value);
		row->how = fab_arena_format(
			a,
			setting == FAB_SETTING_FANOUT
				? "Job script: sbcast --fanout=%u"
				: "slurm.conf: TreeWidth=%u, then scontrol reconfigure",
			value);
		row->costs = setting == FAB_SETTING_FANOUT
				     ? "a slow node delays more of those behind it"
				     : "all messages of the cluster use it";
	}
}

/* Add the change from one to the other as a row. One of the cluster only if it saves
 * enough for all possible values. */
static int add(struct search *s, enum fab_launch_setting setting,
	       const struct fab_launch_timed *from, const struct fab_launch_timed *to,
	       bool is_alternative, bool *is_added)
{
	struct fab_launch_advice *out = s->out;
	struct fab_launch_advice_row *row = &out->rows[out->n_rows];
	struct saving saving = {s, &from->is, &to->is, false};
	double saved_s = from->total_s - to->total_s;
	bool of_order[FAB_N_LAUNCH_CONSTANTS];
	bool is_cluster = setting == FAB_SETTING_TREE_WIDTH;
	const bool *uses = s->in->uses;
	struct fab_launch_range range, share;
	int rc;

	if (setting == FAB_SETTING_ORDER) {
		uses_of_order(uses, of_order);
		uses = of_order;
	}
	rc = fab_launch_range_find(s->in->params, uses, saved_s, saving_of, &saving,
				   &range, s->err);
	saving.is_share = true;
	if (!rc && is_cluster)
		rc = fab_launch_range_find(s->in->params, uses, saved_s / from->total_s,
					   saving_of, &saving, &share, s->err);
	*is_added = !rc && !(is_cluster && share.least < FAB_ADVICE_WORTH);
	if (!*is_added)
		return rc;
	*row = (struct fab_launch_advice_row){
		.scope = is_cluster ? "cluster" : "job",
		.verdict = range.least < 0 ? "depends" : "yes",
		.range_by = range.by == FAB_N_LAUNCH_CONSTANTS
				    ? NULL
				    : fab_launch_constants.at(range.by).form,
		.total_s = to->total_s,
		.saved_s = saved_s,
		.saved_low_s = range.least,
		.saved_high_s = range.most,
		.is_alternative = is_alternative,
		.is = to->is};
	describe(s, setting, &from->is, &to->is, row);
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++)
		s->width[i] = fmax(s->width[i], range.width[i]);
	out->n_rows++;
	return 0;
}

/* The change that saves most of the settings `first` up to `end` that are unchanged,
 * and its alternative; false in *found: none saves enough. */
static int step(struct search *s, enum fab_launch_setting first,
		enum fab_launch_setting end, bool *found)
{
	struct fab_launch_advice *out = s->out;
	const struct fab_launch_timed from = out->then;
	const uint32_t *is = from.is.of, *was = out->now.is.of;
	double worth_s = FAB_ADVICE_WORTH * out->now.total_s;
	enum fab_launch_setting setting = end;
	struct fab_launch_timed best = {.total_s = INFINITY}, other = best;
	int rc = 0;

	*found = false;
	for (enum fab_launch_setting k = first; k < end && !rc; k++) {
		struct fab_launch_timed of = {.total_s = INFINITY};

		if (is[k] != was[k])
			continue;
		rc = try_setting(s, from.is, k, FAB_NONE, &of);
		if (!rc && of.total_s < best.total_s) {
			best = of;
			setting = k;
		}
	}
	if (rc || !(from.total_s - best.total_s >= worth_s) || !(worth_s > 0))
		return rc;
	rc = add(s, setting, &from, &best, false, found);
	if (rc || !*found)
		return rc;
	out->then = best;
	if (setting != FAB_SETTING_STAGE_IN)
		return 0;
	rc = try_setting(s, from.is, setting, best.is.of[setting], &other);
	if (!rc && from.total_s - other.total_s >= worth_s) {
		bool is_added;

		rc = add(s, setting, &from, &other, true, &is_added);
	}
	return rc;
}

/* The order of nodes on top of the job's settings, the cluster's setting on top of all.
 */
static int search(struct search *s)
{
	static const struct {
		enum fab_launch_setting first, end;
	} parts[] = {{0, FAB_N_SEARCHED},
		     {FAB_SETTING_ORDER, FAB_SETTING_ORDER + 1},
		     {FAB_SETTING_TREE_WIDTH, FAB_SETTING_TREE_WIDTH + 1}};
	int rc = 0;

	for (size_t i = 0; i < FAB_COUNT(parts) && !rc; i++)
		for (bool found = true; found && !rc;)
			rc = step(s, parts[i].first, parts[i].end, &found);
	return rc;
}

/* Constants by the most that they change the saving of a row. */
static void find_open(struct fab_launch_advice *out, const double *width)
{
	for (size_t i = 0; i < out->n_rows; i++) {
		const struct fab_launch_advice_row *a = &out->rows[i];

		out->is_open |= a->saved_low_s < 0;
		for (size_t k = 0; k < i; k++)
			out->is_open |= a->saved_low_s < out->rows[k].saved_high_s &&
					out->rows[k].saved_low_s < a->saved_high_s;
	}
	for (; out->n_measure < FAB_N_TO_MEASURE; out->n_measure++) {
		enum fab_launch_constant widest = FAB_N_LAUNCH_CONSTANTS;

		for (enum fab_launch_constant i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++) {
			bool is_taken = !(width[i] > 0);

			for (size_t k = 0; k < out->n_measure; k++)
				is_taken |= out->measure[k] == i;
			if (!is_taken && (widest == FAB_N_LAUNCH_CONSTANTS ||
					  width[i] > width[widest]))
				widest = i;
		}
		if (widest == FAB_N_LAUNCH_CONSTANTS)
			break;
		out->measure[out->n_measure] = widest;
	}
}

int fab_launch_advise(const struct fab_launch_advice_input *in,
		      struct fab_launch_advice *out, struct fab_err *err)
{
	const struct fab_launch_settings now = {
		.of = {[FAB_SETTING_STAGE_IN] = in->start.stage_in,
		       [FAB_SETTING_FANOUT] = (uint32_t)FAB_PARAM(in->params, fanout),
		       [FAB_SETTING_WIREUP] = in->start.wireup,
		       [FAB_SETTING_FENCE] = in->start.fence.algorithm,
		       [FAB_SETTING_TREE_WIDTH] =
			       (uint32_t)FAB_PARAM(in->params, tree_width)}};
	struct search s = {.in = in, .out = out, .err = err};
	struct fab_launch_params params = *in->params;
	struct fab_launch_start start = in->start;
	int rc;

	s.clock = FAB_ARENA_NEW0(in->memory, in->n_orders + 1, struct fab_fence_clock);
	for (size_t i = 0; i < in->n_orders; i++)
		s.clock[i] = (struct fab_fence_clock){.params = in->params,
						      .n_nodes = in->clock->n_nodes,
						      .nodes = &in->order[i].nodes,
						      .routes = in->clock->routes,
						      .model_only = in->clock->model_only,
						      .memory = in->memory};
	*out = (struct fab_launch_advice){.now = {now, INFINITY}};
	rc = try(&s, &now, &out->now);
	out->then = out->now;
	if (!rc)
		rc = search(&s);
	if (!rc)
		rc = fab_launch_range_find(in->params, in->uses, out->now.total_s,
					   fab_launch_total_of, &start, &out->now_s, err);
	apply(&out->then.is, &params, &start);
	if (!rc)
		rc = fab_launch_range_find(&params, in->uses, out->then.total_s,
					   fab_launch_total_of, &start, &out->then_s,
					   err);
	for (size_t i = 0; i < in->n_orders; i++)
		out->n_cut += s.clock[i].n_cut;
	find_open(out, s.width);
	return rc;
}
