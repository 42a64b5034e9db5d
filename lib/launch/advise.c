/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search for the best settings, the verdict on a change over the possible values of
 * the constants, and the report of all changes with the way to make them.
 */
#include "launch/advise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"

/* Values that are tried. */
static const struct {
	uint32_t n, of[8];
} values[FAB_N_SETTINGS] = {
	[FAB_SETTING_TREE_WIDTH] = {8, {2, 4, 8, 16, 32, 50, 64, 128}},
	[FAB_SETTING_STAGE_IN] = {2, {FAB_STAGE_TREE, FAB_STAGE_CACHE}},
	[FAB_SETTING_FANOUT] = {3, {2, 4, 8}},
	[FAB_SETTING_WIREUP] = {3,
				{FAB_WIREUP_BACKGROUND, FAB_WIREUP_DIRECT,
				 FAB_WIREUP_DIRECT_BARRIER}},
	[FAB_SETTING_FENCE] = {2, {FAB_FENCE_TREE, FAB_FENCE_RING}},
};

double fab_launch_worth(enum fab_launch_setting setting)
{
	return setting == FAB_SETTING_TREE_WIDTH ? FAB_WORTH_CLUSTER : FAB_WORTH_JOB;
}

/* Put settings into the start and its parameters. */
static void apply(const struct fab_launch_settings *is, struct fab_launch_params *params,
		  struct fab_launch_start *start)
{
	const uint32_t *of = is->of;

	params->of[FAB_CONST_tree_width].value = of[FAB_SETTING_TREE_WIDTH];
	params->of[FAB_CONST_fanout].value = of[FAB_SETTING_FANOUT];
	start->stage_in = of[FAB_SETTING_STAGE_IN];
	start->wireup = of[FAB_SETTING_WIREUP];
	start->fence.algorithm = of[FAB_SETTING_FENCE];
	start->fence.width =
		of[FAB_SETTING_FENCE] == FAB_FENCE_TREE ? of[FAB_SETTING_TREE_WIDTH] : 0;
}

/* Time that a change saves; with is_share as a share of the start before it. */
struct saving {
	const struct fab_launch_variant *change;
	bool is_share;
};

static int saving_of(void *context, const struct fab_launch_params *params, double *out,
		     struct fab_err *err)
{
	const struct saving *s = context;
	double total_s[2] = {0, 0};
	int rc = 0;

	for (size_t i = 0; i < 2 && !rc; i++) {
		struct fab_launch_params with = *params;
		struct fab_launch_start start = s->change[i].start;

		if (s->change[i].with)
			apply(s->change[i].with, &with, &start);
		rc = fab_launch_total_of(&start, &with, &total_s[i], err);
	}
	*out = (total_s[0] - total_s[1]) / (s->is_share ? total_s[0] : 1);
	return rc;
}

int fab_launch_judge(const struct fab_launch_params *params, const bool *uses,
		     const struct fab_launch_variant change[2], double worth,
		     double saved_s, double total_s, struct fab_launch_judgement *out,
		     struct fab_err *err)
{
	struct saving saving = {.change = change};
	int rc = fab_launch_range_find(params, uses, saved_s, saving_of, &saving,
				       &out->seconds, err);

	saving.is_share = true;
	if (!rc)
		rc = fab_launch_range_find(params, uses, saved_s / total_s, saving_of,
					   &saving, &out->share, err);
	out->verdict = FAB_ADVICE_NO;
	if (!rc && saved_s > 0 && saved_s >= worth * total_s)
		out->verdict = out->share.least < (worth > FAB_WORTH_JOB ? worth : 0)
				       ? FAB_ADVICE_DEPENDS
				       : FAB_ADVICE_YES;
	return rc;
}

/* The start that is searched, and the parameters that it and its timer use. */
struct search {
	const struct fab_launch_start *start;
	struct fab_launch_params *params;
	const bool *uses;
	bool may_change[FAB_N_SETTINGS];
	struct fab_err *err;
};

static int time_with(struct search *s, const struct fab_launch_settings *with,
		     double *total_s)
{
	double width = FAB_PARAM(s->params, tree_width);
	double fanout = FAB_PARAM(s->params, fanout);
	struct fab_launch_start start = *s->start;
	int rc;

	apply(with, s->params, &start);
	rc = fab_stages_total_s(&start, total_s, s->err);
	s->params->of[FAB_CONST_tree_width].value = width;
	s->params->of[FAB_CONST_fanout].value = fanout;
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

/* All values of settings from `setting` on, that of `with` first. */
static int try_all(struct search *s, struct fab_launch_settings with,
		   enum fab_launch_setting setting, struct fab_launch_timed *best)
{
	/* the fan-out has no effect unless files are spread */
	bool is_idle = setting == FAB_SETTING_FANOUT &&
		       with.of[FAB_SETTING_STAGE_IN] != FAB_STAGE_TREE;
	int rc;

	if (setting == FAB_N_SETTINGS)
		return try(s, &with, best);
	rc = try_all(s, with, setting + 1, best);
	for (size_t i = 0; i < values[setting].n && !rc; i++) {
		if (is_idle || !s->may_change[setting])
			break;
		with.of[setting] = values[setting].of[i];
		rc = try_all(s, with, setting + 1, best);
	}
	return rc;
}

/* Undo changes without a gain on top of the others, the one that saves least
 * first. */
static int prune(struct search *s, struct fab_launch_advice *out)
{
	for (int rc = 0;;) {
		enum fab_launch_setting least = FAB_N_SETTINGS;
		struct fab_launch_timed without = {.total_s = INFINITY};

		for (enum fab_launch_setting k = 0; k < FAB_N_SETTINGS; k++) {
			struct fab_launch_timed t = {.is = out->together.is};

			out->own_s[k] = 0;
			if (t.is.of[k] == out->now.is.of[k])
				continue;
			t.is.of[k] = out->now.is.of[k];
			rc = time_with(s, &t.is, &t.total_s);
			if (rc)
				return rc;
			out->own_s[k] = t.total_s - out->together.total_s;
			if (out->own_s[k] < fab_launch_worth(k) * out->now.total_s &&
			    (least == FAB_N_SETTINGS || t.total_s < without.total_s)) {
				least = k;
				without = t;
			}
		}
		if (least == FAB_N_SETTINGS)
			return 0;
		out->together = without;
	}
}

int fab_launch_advise(const struct fab_launch_start *start,
		      struct fab_launch_params *params, const bool *uses,
		      struct fab_launch_advice *out, struct fab_err *err)
{
	const struct fab_launch_settings now = {
		.of = {[FAB_SETTING_TREE_WIDTH] = (uint32_t)FAB_PARAM(params, tree_width),
		       [FAB_SETTING_STAGE_IN] = start->stage_in,
		       [FAB_SETTING_FANOUT] = (uint32_t)FAB_PARAM(params, fanout),
		       [FAB_SETTING_WIREUP] = start->wireup,
		       [FAB_SETTING_FENCE] = start->fence.algorithm}};
	struct search s = {.start = start, .params = params, .uses = uses, .err = err};
	int rc;

	*out = (struct fab_launch_advice){.now = {now, INFINITY},
					  .together = {now, INFINITY}};
	rc = try(&s, &now, &out->now);
	/* each setting alone, and whether it may be taken together with others */
	for (enum fab_launch_setting k = 0; k < FAB_N_SETTINGS && !rc; k++) {
		struct fab_launch_settings with = out->now.is;
		struct fab_launch_timed *best = &out->alone[k];

		best->total_s = INFINITY;
		for (size_t i = 0; i < values[k].n && !rc; i++) {
			with.of[k] = values[k].of[i];
			rc = try(&s, &with, best);
		}
		if (!rc) {
			const struct fab_launch_variant change[] = {
				{*s.start, &out->now.is}, {*s.start, &best->is}};

			rc = fab_launch_judge(s.params, s.uses, change,
					      fab_launch_worth(k),
					      out->now.total_s - best->total_s,
					      out->now.total_s, &out->of_alone[k], s.err);
		}
		s.may_change[k] = fab_launch_worth(k) <= FAB_WORTH_JOB ||
				  out->of_alone[k].verdict == FAB_ADVICE_YES;
	}
	if (!rc)
		rc = try_all(&s, now, 0, &out->together);
	return rc ? rc : prune(&s, out);
}

/* The report. */

/* Add a row; a change without a gain is not advised, one of the cluster only if
 * its verdict is yes. */
static void add(struct fab_launch_report *r, struct fab_launch_advice_row row,
		double saved_s)
{
	bool is_advised = !strcmp(row.verdict, "yes") ||
			  (!strcmp(row.verdict, "depends") && !strcmp(row.scope, "job"));

	row.helps = !strcmp(row.verdict, "yes");
	if (!is_advised) {
		row.advised = row.now;
		row.how = "leave it";
	}
	row.saved_s = is_advised ? saved_s : 0;
	row.could_save_s = saved_s;
	row.total_s = r->advice.now.total_s - row.saved_s;
	r->rows[r->n_rows++] = row;
}

static void add_judged(struct fab_launch_report *r, struct fab_launch_advice_row row,
		       bool is_cluster, double saved_s,
		       const struct fab_launch_judgement *j)
{
	static const char *const verdicts[] = {[FAB_ADVICE_NO] = "no",
					       [FAB_ADVICE_DEPENDS] = "depends",
					       [FAB_ADVICE_YES] = "yes"};

	row.scope = is_cluster ? "cluster" : "job";
	row.verdict = verdicts[j->verdict];
	row.saved_low_s = j->seconds.low;
	row.saved_high_s = j->seconds.high;
	if (j->seconds.by != FAB_N_LAUNCH_CONSTANTS)
		row.range_by = fab_launch_constants.at(j->seconds.by).form;
	if (j->verdict == FAB_ADVICE_DEPENDS)
		row.depends_on = fab_launch_constants.at(j->share.least_by).form;
	add(r, row, saved_s);
}

/* A change to a start that is still to be timed. */
static int add_start(struct fab_launch_report *r, struct fab_launch_advice_row row,
		     const struct fab_launch_start *start, struct fab_err *err)
{
	const struct fab_launch_variant change[] = {{r->start, NULL}, {*start, NULL}};
	struct fab_launch_judgement j;
	double total_s, now_s = r->advice.now.total_s;
	int rc = fab_stages_total_s(start, &total_s, err);

	if (!rc)
		rc = fab_launch_judge(r->params, r->uses, change, FAB_WORTH_JOB,
				      now_s - total_s, now_s, &j, err);
	if (!rc)
		add_judged(r, row, false, now_s - total_s, &j);
	return rc;
}

/* Name of a setting, its value, and the way to set it. */
struct words {
	const char *setting, *value, *how;
};

static struct words words_of(struct fab_arena *a, enum fab_launch_setting setting,
			     const struct fab_launch_settings *is)
{
	/* variables that Open MPI's opal/mca/pmix and ompi_mpi_init() read, under srun
	 * too */
	static const char *const wireups[FAB_WIREUP_INSTANT + 1] = {
		[FAB_WIREUP_FULL] = "",
		[FAB_WIREUP_BACKGROUND] = "export OMPI_MCA_pmix_base_async_modex=1",
		[FAB_WIREUP_DIRECT] =
			"export OMPI_MCA_pmix_base_async_modex=1 OMPI_MCA_pmix_base_collect_data=0 OMPI_MCA_async_mpi_init=1",
		[FAB_WIREUP_DIRECT_BARRIER] =
			"export OMPI_MCA_pmix_base_async_modex=1 OMPI_MCA_pmix_base_collect_data=0",
		[FAB_WIREUP_INSTANT] = ""};
	uint32_t value = is->of[setting];
	const char *fence = value == FAB_FENCE_RING ? "ring" : "tree";

	switch (setting) {
	case FAB_SETTING_FENCE:
		return (struct words){
			"SLURM_PMIX_FENCE",
			value == FAB_FENCE_SLURM_AUTO ? "mixed" : fence,
			fab_arena_format(
				a,
				"export SLURM_PMIX_FENCE=%s (for good: PMIxCollFence=%s in mpi.conf)",
				fence, fence)};
	case FAB_SETTING_TREE_WIDTH:
		return (struct words){
			"TreeWidth", fab_arena_format(a, "%u", value),
			fab_arena_format(
				a,
				"TreeWidth=%u in slurm.conf, for all messages of the cluster",
				value)};
	case FAB_SETTING_FANOUT:
		return (struct words){
			"sbcast --fanout", fab_arena_format(a, "%u", value),
			fab_arena_format(a, "sbcast --fanout=%u (srun --bcast has 8)",
					 value)};
	case FAB_SETTING_WIREUP:
		return (struct words){"wire-up", fab_launch_wireups.at(value).form,
				      wireups[value]};
	default:
		return (struct words){
			"pre-staging", fab_stage_ins.at(value).form,
			value == FAB_STAGE_TREE
				? "sbcast --send-libs in the job script, or srun --bcast --send-libs"
				: "a loader cache on each node (such as Spindle), or files on local disks"};
	}
}

/* Nodes in the fastest of several orders. */
static int add_order(struct fab_launch_report *r, uint64_t bytes, struct fab_err *err)
{
	double now_us = fab_fence_clock_us(r->clock, r->start.fence, bytes, err);
	double best_us = INFINITY, us;
	const char *best = NULL;
	bool is_worth_it;

	if (now_us < 0)
		return (int)now_us;
	for (size_t i = 0; i < r->n_orders; i++, best_us = fmin(best_us, us)) {
		struct fab_fence_clock clock = {.params = r->clock->params,
						.n_nodes = r->clock->n_nodes,
						.nodes = &r->nodes_of[i],
						.routes = r->clock->routes,
						.model_only = r->clock->model_only,
						.memory = r->memory};

		us = fab_fence_clock_us(&clock, r->start.fence, bytes, err);
		r->clock->n_cut += clock.n_cut;
		if (us < 0)
			return (int)us;
		if (us < best_us)
			best = r->orders[i];
	}
	is_worth_it = now_us - best_us >= FAB_WORTH_JOB * r->advice.now.total_s * 1e6 &&
		      best_us < now_us;
	add(r,
	    (struct fab_launch_advice_row){
		    .setting = "order of nodes",
		    .scope = "job",
		    .verdict = is_worth_it ? "yes" : "no",
		    .now = r->order,
		    .advised = best,
		    .how = "the order of hosts in the file SLURM_HOSTFILE, with srun --distribution=arbitrary",
		    .saved_low_s = (double)NAN,
		    .saved_high_s = (double)NAN},
	    (now_us - best_us) / 1e6);
	return 0;
}

/* All settings together, and the way to set each, with its own effect. */
static void add_together(struct fab_launch_report *r)
{
	static const enum fab_launch_setting together[FAB_N_SETTINGS] = {
		FAB_SETTING_STAGE_IN, FAB_SETTING_FANOUT, FAB_SETTING_WIREUP,
		FAB_SETTING_TREE_WIDTH, FAB_SETTING_FENCE};
	const struct fab_launch_timed *now = &r->advice.now, *best = &r->advice.together;
	char saved[FAB_HUMAN_BYTES], *text = NULL, *how = NULL;

	for (size_t i = 0; i < FAB_N_SETTINGS; i++) {
		enum fab_launch_setting k = together[i];
		struct words then = words_of(r->memory, k, &best->is);

		if (best->is.of[k] == now->is.of[k])
			continue;
		fab_human_seconds(r->advice.own_s[k], saved);
		fab_append(&text, ", ", "%s %s", then.setting, then.value);
		fab_append(&how, "; ", "%s saves %s of it", then.how, saved);
	}
	fab_arena_own(r->memory, free, text);
	fab_arena_own(r->memory, free, how);
	r->best_text = text;
	r->best_how = how;
	add(r,
	    (struct fab_launch_advice_row){.setting = "all that is worth it",
					   .scope = "job",
					   .verdict = text ? "yes" : "no",
					   .now = "-",
					   .advised = "together",
					   .how = text,
					   .saved_low_s = (double)NAN,
					   .saved_high_s = (double)NAN},
	    now->total_s - best->total_s);
}

int fab_launch_report_make(struct fab_launch_report *r, struct fab_err *err)
{
	static const enum fab_launch_setting alone[FAB_N_SETTINGS] = {
		FAB_SETTING_FENCE, FAB_SETTING_TREE_WIDTH, FAB_SETTING_WIREUP,
		FAB_SETTING_STAGE_IN, FAB_SETTING_FANOUT};
	uint64_t bytes = fab_launch_bytes(&r->start);
	const struct fab_launch_timed *now = &r->advice.now, *best = &r->advice.together;
	struct fab_launch_start start = r->start;
	struct fab_launch_params params;
	int rc = fab_launch_advise(&r->start, r->params, r->uses, &r->advice, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < FAB_N_SETTINGS; i++) {
		enum fab_launch_setting k = alone[i];
		struct words is = words_of(r->memory, k, &now->is);
		struct words then = words_of(r->memory, k, &r->advice.alone[k].is);

		add_judged(r,
			   (struct fab_launch_advice_row){.setting = is.setting,
							  .now = is.value,
							  .advised = then.value,
							  .how = then.how},
			   fab_launch_worth(k) > FAB_WORTH_JOB,
			   now->total_s - r->advice.alone[k].total_s,
			   &r->advice.of_alone[k]);
	}
	rc = fab_launch_range_find(r->params, r->uses, now->total_s, fab_launch_total_of,
				   &r->start, &r->total, err);
	params = *r->params;
	apply(&best->is, &params, &start);
	if (!rc)
		rc = fab_launch_range_find(&params, r->uses, best->total_s,
					   fab_launch_total_of, &start, &r->best, err);
	if (!rc)
		rc = add_order(r, bytes, err);
	/* beyond the settings of Slurm: a fence that it does not have, and sizes */
	start = r->start;
	if (!rc)
		rc = fab_fence_fastest(r->clock, bytes, &start.fence, err);
	if (!rc)
		rc = add_start(
			r,
			(struct fab_launch_advice_row){
				.setting = "fence algorithm",
				.now = "mixed",
				.advised = fab_fence_text(r->memory, start.fence),
				.how = "for developers of runtimes: Slurm has ring and tree only"},
			&start, err);
	start = r->start;
	start.layout.opts = FAB_SIZE_ALL;
	if (!rc)
		rc = add_start(
			r,
			(struct fab_launch_advice_row){
				.setting = "addresses",
				.now = "as put",
				.advised = "short",
				.how = "addresses of UCX of 21 bytes in place of 51"},
			&start, err);
	if (rc)
		return rc;
	add_together(r);
	return 0;
}
