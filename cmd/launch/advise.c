/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch advise: which settings save how much, for these nodes of this fabric. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "launch.h"

/* Less than this share of a start is not worth a change. */
#define WORTH 0.01
/* Rows of what Slurm and Open MPI can be told, of which any may be together. */
enum { N_SETTINGS = 4 };

struct outcome {
	struct launch_params p; /* a copy, whose tree_width is changed */
	struct launch_timing t;
	struct fab_launch_start base, best;
	double base_s, now_width, best_width;
	char *best_text, *best_how;
	FAB_VEC(struct launch_advise_row) rows; /* advised and how on the heap */
};

static const double widths[] = {2, 4, 8, 16, 32, 50, 64, 128};
static const struct {
	enum fab_launch_wireup wireup;
	const char *how;
} wireups[] = {
	{FAB_WIREUP_BACKGROUND,
	 "Open MPI: --mca pmix_base_async_modex 1 --mca async_mpi_init 1"},
	{FAB_WIREUP_DIRECT,
	 "Open MPI: --mca pmix_base_collect_data 0 --mca async_mpi_init 1"},
	{FAB_WIREUP_DIRECT_BARRIER, "Open MPI: --mca pmix_base_collect_data 0"},
};
static const enum fab_stage_in stage_ins[] = {FAB_STAGE_TREE, FAB_STAGE_CACHE};

static const char *how_of_wireup(enum fab_launch_wireup wireup)
{
	for (size_t i = 0; i < FAB_COUNT(wireups); i++)
		if (wireups[i].wireup == wireup)
			return wireups[i].how;
	return "";
}

static const char *how_of_files(enum fab_stage_in how)
{
	return how == FAB_STAGE_TREE
		       ? "srun --bcast --send-libs, or sbcast in the job script"
		       : "a loader cache a node (such as Spindle), or files on local "
			 "disks";
}

/* A row for a start other than the base. */
static int add(struct outcome *o, const char *setting, const char *now,
	       const char *advised, const char *how, const struct fab_launch_start *with,
	       struct fab_err *err)
{
	struct launch_advise_row row = {.setting = setting, .now = now};
	int rc = fab_stages_total_s(with, &row.total_s, err);

	if (rc)
		return rc;
	row.helps = row.total_s < o->base_s;
	if (!row.helps)
		row.total_s = o->base_s;
	row.saved_s = o->base_s - row.total_s;
	row.advised = fab_strdup(row.helps ? advised : now);
	row.how = fab_strdup(row.helps ? how : "leave it");
	FAB_PUSH(&o->rows, row);
	return 0;
}

/* What Slurm can do by itself: ring, or a tree of its width. */
static int advise_fence(struct outcome *o, struct fab_err *err)
{
	struct fab_fence_chosen ring = {&fab_fence_ring, 0};
	struct fab_fence_chosen tree = {&fab_fence_tree,
					(uint32_t)FAB_PARAM(&o->p.constants, tree_width)};
	struct fab_launch_start a = o->base, b = o->base;
	double a_s, b_s;
	int rc;

	a.fence = ring;
	b.fence = tree;
	rc = fab_stages_total_s(&a, &a_s, err);
	if (!rc)
		rc = fab_stages_total_s(&b, &b_s, err);
	if (rc)
		return rc;
	return add(o, "SLURM_PMIX_FENCE", "auto", a_s < b_s ? "ring" : "tree",
		   a_s < b_s ? "export SLURM_PMIX_FENCE=ring"
			     : "export SLURM_PMIX_FENCE=tree",
		   a_s < b_s ? &a : &b, err);
}

/* The width that starts and spreads fastest. */
static int advise_width(struct outcome *o, struct fab_err *err)
{
	double *width = &o->p.constants.of[FAB_CONST_tree_width].value, now = *width;
	double best = now, best_s = o->base_s, total_s = o->base_s;
	char *was = fab_format("%.0f", now), *text, *how;
	int rc = 0;

	for (size_t i = 0; i < FAB_COUNT(widths) && !rc; i++) {
		*width = widths[i];
		rc = fab_stages_total_s(&o->base, &total_s, err);
		if (!rc && total_s < best_s) {
			best_s = total_s;
			best = widths[i];
		}
	}
	*width = best;
	text = fab_format("%.0f", best);
	how = fab_format("TreeWidth=%.0f in slurm.conf", best);
	if (!rc)
		rc = add(o, "TreeWidth", was, text, how, &o->base, err);
	*width = now;
	if (!rc) {
		o->rows.v[o->rows.n - 1].now_text = was;
		o->rows.v[o->rows.n - 1].now = was;
	} else {
		free(was);
	}
	free(text);
	free(how);
	return rc;
}

static int advise_wireup(struct outcome *o, struct fab_err *err)
{
	size_t best = 0;
	double best_s = INFINITY;
	struct fab_launch_start s = o->base;
	int rc = 0;

	for (size_t i = 0; i < FAB_COUNT(wireups) && !rc; i++) {
		double total_s = 0;

		s.wireup = wireups[i].wireup;
		rc = fab_stages_total_s(&s, &total_s, err);
		if (!rc && total_s < best_s) {
			best_s = total_s;
			best = i;
		}
	}
	s.wireup = wireups[best].wireup;
	return rc ? rc
		  : add(o, "wire-up", "full", fab_launch_wireups.at(s.wireup).form,
			wireups[best].how, &s, err);
}

static int advise_files(struct outcome *o, struct fab_err *err)
{
	struct fab_launch_start tree = o->base, cache = o->base;
	double tree_s, cache_s;
	int rc;

	tree.stage_in = FAB_STAGE_TREE;
	cache.stage_in = FAB_STAGE_CACHE;
	rc = fab_stages_total_s(&tree, &tree_s, err);
	if (!rc)
		rc = fab_stages_total_s(&cache, &cache_s, err);
	if (rc)
		return rc;
	return add(o, "pre-staging", fab_stage_ins.at(o->base.stage_in).form,
		   tree_s <= cache_s ? "tree" : "cache",
		   how_of_files(tree_s <= cache_s ? FAB_STAGE_TREE : FAB_STAGE_CACHE),
		   tree_s <= cache_s ? &tree : &cache, err);
}

/* For runtime developers: a fence that Slurm does not have. */
static int advise_algorithm(struct outcome *o, struct fab_err *err)
{
	struct fab_launch_start s = o->base;
	uint64_t bytes = fab_size_node(&o->p.keys, &s.layout, 0, s.ppn);
	char *text;
	int rc = launch_fastest_fence(&o->t, bytes, &s.fence, err);

	if (rc)
		return rc;
	text = fab_fence_text(s.fence);
	rc = add(o, "fence algorithm", "slurm-auto", text,
		 "for developers of runtimes: Slurm has ring and tree only", &s, err);
	free(text);
	return rc;
}

static int advise_sizes(struct outcome *o, struct fab_err *err)
{
	struct fab_launch_start s = o->base;

	s.layout.opts = FAB_SIZE_ALL;
	return add(o, "addresses", "as put", "short",
		   "addresses of UCX of 21 bytes in place of 51", &s, err);
}

/* Nodes numbered as the fabric has them, or switch by switch. */
static int advise_order(struct outcome *o, struct fab_err *err)
{
	static const char *const orders[] = {"fabric", "name", "switch"};
	const char *best = NULL;
	double us, best_us = INFINITY, now_us;
	uint64_t bytes = fab_size_node(&o->p.keys, &o->base.layout, 0, o->base.ppn);
	struct launch_advise_row row = {.setting = "order of nodes"};

	now_us = launch_fence_us(&o->t, o->base.fence, bytes, err);
	if (now_us < 0)
		return (int)now_us;
	for (size_t i = 0; i < FAB_COUNT(orders); i++) {
		struct launch_timing t = {.p = &o->p, .n_nodes = o->t.n_nodes};
		int rc;

		t.has_fabric = true;
		t.job = o->t.job; /* borrowed */
		rc = launch_job_nodes(&t.job, t.n_nodes, orders[i], &t.nodes, err);
		us = rc ? rc : launch_fence_us(&t, o->base.fence, bytes, err);
		t.job = (struct launch_job){0};
		o->t.n_cut += t.n_cut;
		launch_timing_fini(&t);
		if (us < 0)
			return (int)us;
		if (us < best_us) {
			best_us = us;
			best = orders[i];
		}
	}
	row.now = o->p.orders.v[0];
	row.saved_s = (now_us - best_us) / 1e6;
	row.helps = row.saved_s > 0;
	row.total_s = o->base_s - row.saved_s;
	row.advised = fab_strdup(row.helps ? best : row.now);
	row.how = fab_strdup(row.helps ? "the order of SLURM_JOB_NODELIST: "
					 "topology.conf, or srun --nodelist with "
					 "--distribution=arbitrary"
				       : "leave it");
	FAB_PUSH(&o->rows, row);
	return 0;
}

/* Take a start, if it is faster than all before. */
static int try(struct outcome *o, const struct fab_launch_start *s, double width,
	       double *best_s, struct fab_err *err)
{
	double total_s;
	int rc = fab_stages_total_s(s, &total_s, err);

	if (rc || total_s >= *best_s)
		return rc;
	*best_s = total_s;
	o->best = *s;
	o->best_width = width;
	return 0;
}

/* Of a width, with files and wire-up as given: each fence of Slurm. */
static int try_fences(struct outcome *o, struct fab_launch_start s, double width,
		      double *best_s, struct fab_err *err)
{
	const struct fab_fence_chosen fences[] = {{&fab_fence_slurm_auto, 0},
						  {&fab_fence_ring, 0},
						  {&fab_fence_tree, (uint32_t)width}};
	int rc = 0;

	for (size_t i = 0; i < FAB_COUNT(fences) && !rc; i++) {
		s.fence = fences[i];
		rc = try(o, &s, width, best_s, err);
	}
	return rc;
}

/* Settings hang on each other: a width that is good for daemons may be bad for files.
 * Number 0 of each is as it is. */
static int try_settings(struct outcome *o, double width, double *best_s,
			struct fab_err *err)
{
	struct fab_launch_start s = o->base;
	int rc = 0;

	for (size_t i = 0; i <= FAB_COUNT(stage_ins) && !rc; i++)
		for (size_t k = 0; k <= FAB_COUNT(wireups) && !rc; k++) {
			s.stage_in = i ? stage_ins[i - 1] : o->base.stage_in;
			s.wireup = k ? wireups[k - 1].wireup : o->base.wireup;
			rc = try_fences(o, s, width, best_s, err);
		}
	return rc;
}

/* What is set together ("pre-staging tree, TreeWidth 32"), and how; NULL: nothing. */
static void name_best(struct outcome *o)
{
	const struct fab_launch_start *best = &o->best, *base = &o->base;
	const char *fence = best->fence.algorithm == &fab_fence_ring ? "ring" : "tree";

	if (best->stage_in != base->stage_in) {
		fab_append(&o->best_text, ", ", "pre-staging %s",
			   fab_stage_ins.at(best->stage_in).form);
		fab_append(&o->best_how, "; ", "%s", how_of_files(best->stage_in));
	}
	if (best->wireup != base->wireup) {
		fab_append(&o->best_text, ", ", "wire-up %s",
			   fab_launch_wireups.at(best->wireup).form);
		fab_append(&o->best_how, "; ", "%s", how_of_wireup(best->wireup));
	}
	if (o->best_width < o->now_width || o->best_width > o->now_width) {
		fab_append(&o->best_text, ", ", "TreeWidth %.0f", o->best_width);
		fab_append(&o->best_how, "; ", "TreeWidth=%.0f in slurm.conf",
			   o->best_width);
	}
	if (best->fence.algorithm != base->fence.algorithm) {
		fab_append(&o->best_text, ", ", "SLURM_PMIX_FENCE %s", fence);
		fab_append(&o->best_how, "; ", "export SLURM_PMIX_FENCE=%s", fence);
	}
}

/* The best of what Slurm and Open MPI can be told, together. */
static int advise_all(struct outcome *o, struct fab_err *err)
{
	double *width = &o->p.constants.of[FAB_CONST_tree_width].value;
	double best_s = o->base_s;
	int rc = try_settings(o, o->now_width, &best_s, err);

	for (size_t i = 0; i < FAB_COUNT(widths) && !rc; i++) {
		*width = widths[i];
		rc = try_settings(o, widths[i], &best_s, err);
	}
	*width = o->best_width;
	name_best(o);
	if (!rc)
		rc = add(o, "all of the first four", "-", "together", o->best_text,
			 &o->best, err);
	*width = o->now_width;
	return rc;
}

static int compute(struct outcome *o, const struct fab_fabric *f, struct fab_err *err)
{
	int rc = launch_timing_init(&o->p, f, &o->t, err);

	if (rc)
		return rc;
	o->base = launch_start(&o->p, &o->t);
	o->base.stage_in = o->p.stage_in;
	o->base.fence = (struct fab_fence_chosen){&fab_fence_slurm_auto, 0};
	o->best = o->base;
	o->now_width = o->best_width = FAB_PARAM(&o->p.constants, tree_width);
	rc = fab_stages_total_s(&o->base, &o->base_s, err);
	if (!rc)
		rc = advise_fence(o, err);
	if (!rc)
		rc = advise_width(o, err);
	if (!rc)
		rc = advise_wireup(o, err);
	if (!rc)
		rc = advise_files(o, err);
	if (!rc)
		rc = advise_order(o, err);
	if (!rc)
		rc = advise_algorithm(o, err);
	if (!rc)
		rc = advise_sizes(o, err);
	return rc ? rc : advise_all(o, err);
}

/* The first four that are worth a change, the one that saves most first. */
static void answer_each(struct fab_report *r, const struct outcome *o)
{
	bool is_told[N_SETTINGS] = {false};
	size_t n_told = 0;
	char saved[FAB_HUMAN_BYTES];

	for (; n_told < N_SETTINGS; n_told++) {
		const struct launch_advise_row *row = o->rows.v;
		size_t next = N_SETTINGS;

		for (size_t i = 0; i < N_SETTINGS; i++)
			if (!is_told[i] &&
			    (next == N_SETTINGS || row[i].saved_s > row[next].saved_s))
				next = i;
		if (row[next].saved_s < WORTH * o->base_s)
			break;
		is_told[next] = true;
		fab_human_seconds(row[next].saved_s, saved);
		fab_report_answer(r, FAB_TONE_PLAIN, "Alone, %s %s saves %s.",
				  row[next].setting, row[next].advised, saved);
	}
	if (n_told < N_SETTINGS)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Alone, each%s setting of Slurm and Open MPI saves less "
			"than %g %%.",
			n_told ? " other" : "", WORTH * 100);
}

/* What is worth it and no setting of Slurm or Open MPI; the last row is all of those. */
static void answer_others(struct fab_report *r, const struct outcome *o)
{
	char saved[FAB_HUMAN_BYTES];

	for (size_t i = N_SETTINGS; i + 1 < o->rows.n; i++) {
		const struct launch_advise_row *row = &o->rows.v[i];

		if (!row->helps || row->saved_s < WORTH * o->base_s)
			continue;
		fab_human_seconds(row->saved_s, saved);
		fab_report_answer(r, FAB_TONE_PLAIN, "Beside them, %s %s saves %s.",
				  row->setting, row->advised, saved);
	}
}

static void answer(struct fab_report *r, const struct launch_params *p,
		   const struct outcome *o)
{
	const struct launch_advise_row *all = &o->rows.v[o->rows.n - 1];
	char now[FAB_HUMAN_BYTES], then[FAB_HUMAN_BYTES];
	char *job = launch_job_text(o->t.n_nodes, p->ppn, "start");

	fab_human_seconds(o->base_s, now);
	fab_human_seconds(all->total_s, then);
	if (all->saved_s < WORTH * o->base_s) {
		fab_report_answer(r, FAB_TONE_GOOD,
				  "%s in %s by PMIx under Slurm as it is; no setting of "
				  "Slurm or Open MPI saves as much as %g %% of it.",
				  job, now, WORTH * 100);
	} else {
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s in %s by PMIx under Slurm as it is, in %s "
				  "with %s.",
				  job, now, then, o->best_text);
		fab_report_answer(r, FAB_TONE_PLAIN, "How: %s.", o->best_how);
		answer_each(r, o);
	}
	answer_others(r, o);
	free(job);
}

static void print(struct fab_report *r, const struct launch_params *p, const void *of,
		  enum fab_format format)
{
	static const struct fab_column base = {"total_s", FAB_REAL, "", FAB_COL_SECONDS};
	const struct outcome *o = of;

	(void)format;
	answer(r, p, o);
	launch_answer_cut(r, &o->t);
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "These are models: %u of the constants are assumptions.",
			  launch_count_assumed(p));
	fab_report_text(r, "keys", p->keys_text);
	fab_report_text(r, "tables", o->t.job.algorithm);
	fab_report_uint(r, "nodes", o->t.n_nodes);
	fab_report_uint(r, "ppn", p->ppn);
	fab_report_field(r, &base, (union fab_cell){.real = o->base_s});
	fab_report_table(r, "results", "Settings, each alone", launch_advise_columns,
			 launch_advise_n_columns, o->rows.v, sizeof(*o->rows.v),
			 o->rows.n);
	launch_print_constants(r, p);
}

static void keep(struct fab_draft *d, const struct launch_params *p, const void *of)
{
	const struct outcome *o = of;

	(void)p;
	fab_draft_table(d, launch_advise_columns, launch_advise_n_columns);
	fab_draft_asked(d, "verb", fab_strdup("advise"));
	for (size_t i = 0; i < o->rows.n; i++)
		fab_draft_result(d, o->rows.v[i].setting, launch_advise_columns,
				 launch_advise_n_columns, &o->rows.v[i]);
}

static int run(struct launch_params *p, const struct fab_fabric *f, struct fab_err *err)
{
	struct outcome *o = FAB_NEW0(1, struct outcome);
	struct launch_result result = {"results", print, keep, o};
	int rc;

	launch_use_start_constants(p);
	o->p = *p;
	rc = compute(o, f, err);
	if (!rc)
		rc = launch_finish(p, f, &result, NULL, err);
	for (size_t i = 0; i < o->rows.n; i++) {
		free(o->rows.v[i].advised);
		free(o->rows.v[i].how);
		free(o->rows.v[i].now_text);
	}
	free(o->rows.v);
	free(o->best_text);
	free(o->best_how);
	launch_timing_fini(&o->t);
	free(o);
	return rc;
}

const struct launch_work launch_advise = {launch_advise_columns, &launch_advise_n_columns,
					  run};
