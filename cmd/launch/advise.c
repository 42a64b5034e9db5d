/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch advise: which settings save how much, for these nodes of this fabric. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "launch.h"
#include "launch/settings.h"

/* Less than this share of a start is not worth a change. */
#define WORTH 0.01

struct outcome {
	struct launch_params p; /* a copy, whose tree_width is changed */
	struct launch_timing t;
	struct fab_launch_start base;
	struct fab_launch_advice advice;
	char *best_text, *best_how; /* all settings together */
	/* Those of Slurm and Open MPI, what is beside them, all of the former together;
	 * now, advised and how on the heap. */
	FAB_VEC(struct launch_advise_row) rows;
};

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

/* A row of what saves so much, or nothing. */
static void add(struct outcome *o, const char *setting, const char *now,
		const char *advised, const char *how, double saved_s)
{
	bool helps = saved_s > 0;
	struct launch_advise_row row = {.setting = setting,
					.now = fab_strdup(now),
					.advised = fab_strdup(helps ? advised : now),
					.how = fab_strdup(helps ? how : "leave it"),
					.saved_s = helps ? saved_s : 0,
					.helps = helps};

	row.total_s = o->advice.now.total_s - row.saved_s;
	FAB_PUSH(&o->rows, row);
}

/* The same of a start that is still to be timed. */
static int add_start(struct outcome *o, const char *setting, const char *now,
		     const char *advised, const char *how,
		     const struct fab_launch_start *start, struct fab_err *err)
{
	double total_s;
	int rc = fab_stages_total_s(start, &total_s, err);

	if (!rc)
		add(o, setting, now, advised, how, o->advice.now.total_s - total_s);
	return rc;
}

/* How a setting is called, what it is, and how that is set; texts on the heap. */
struct words {
	const char *setting;
	char *value, *how;
};

static struct words words_of(enum fab_launch_setting setting,
			     const struct fab_launch_settings *is)
{
	bool is_auto = is->fence == &fab_fence_slurm_auto;
	const char *fence = is->fence == &fab_fence_ring ? "ring" : "tree";

	switch (setting) {
	case FAB_SETTING_FENCE:
		return (struct words){"SLURM_PMIX_FENCE",
				      fab_strdup(is_auto ? "auto" : fence),
				      fab_format("export SLURM_PMIX_FENCE=%s", fence)};
	case FAB_SETTING_TREE_WIDTH:
		return (struct words){
			"TreeWidth", fab_format("%.0f", is->tree_width),
			fab_format("TreeWidth=%.0f in slurm.conf", is->tree_width)};
	case FAB_SETTING_WIREUP:
		return (struct words){"wire-up",
				      fab_strdup(fab_launch_wireups.at(is->wireup).form),
				      fab_strdup(how_of_wireup(is->wireup))};
	default:
		return (struct words){"pre-staging",
				      fab_strdup(fab_stage_ins.at(is->stage_in).form),
				      fab_strdup(how_of_files(is->stage_in))};
	}
}

static void words_fini(struct words *w)
{
	free(w->value);
	free(w->how);
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
	rc = add_start(o, "fence algorithm", "slurm-auto", text,
		       "for developers of runtimes: Slurm has ring and tree only", &s,
		       err);
	free(text);
	return rc;
}

static int advise_sizes(struct outcome *o, struct fab_err *err)
{
	struct fab_launch_start s = o->base;

	s.layout.opts = FAB_SIZE_ALL;
	return add_start(o, "addresses", "as put", "short",
			 "addresses of UCX of 21 bytes in place of 51", &s, err);
}

/* Nodes numbered as the fabric has them, or switch by switch. */
static int advise_order(struct outcome *o, struct fab_err *err)
{
	static const char *const orders[] = {"fabric", "name", "switch"};
	const char *best = NULL;
	double us, best_us = INFINITY, now_us;
	uint64_t bytes = fab_size_node(&o->p.keys, &o->base.layout, 0, o->base.ppn);

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
	add(o, "order of nodes", o->p.orders.v[0], best,
	    "the order of SLURM_JOB_NODELIST: topology.conf, or srun --nodelist with "
	    "--distribution=arbitrary",
	    (now_us - best_us) / 1e6);
	return 0;
}

/* Each setting alone. */
static void add_settings(struct outcome *o)
{
	static const enum fab_launch_setting order[FAB_N_SETTINGS] = {
		FAB_SETTING_FENCE, FAB_SETTING_TREE_WIDTH, FAB_SETTING_WIREUP,
		FAB_SETTING_STAGE_IN};

	for (size_t i = 0; i < FAB_N_SETTINGS; i++) {
		const struct fab_launch_timed *best = &o->advice.alone[order[i]];
		struct words now = words_of(order[i], &o->advice.now.is);
		struct words then = words_of(order[i], &best->is);

		add(o, now.setting, now.value, then.value, then.how,
		    o->advice.now.total_s - best->total_s);
		words_fini(&now);
		words_fini(&then);
	}
}

/* All of them together ("pre-staging tree, TreeWidth 32"), and how. */
static void add_together(struct outcome *o)
{
	static const enum fab_launch_setting order[FAB_N_SETTINGS] = {
		FAB_SETTING_STAGE_IN, FAB_SETTING_WIREUP, FAB_SETTING_TREE_WIDTH,
		FAB_SETTING_FENCE};
	const struct fab_launch_timed *best = &o->advice.together;

	for (size_t i = 0; i < FAB_N_SETTINGS; i++) {
		struct words now = words_of(order[i], &o->advice.now.is);
		struct words then = words_of(order[i], &best->is);

		if (strcmp(now.value, then.value)) {
			fab_append(&o->best_text, ", ", "%s %s", then.setting,
				   then.value);
			fab_append(&o->best_how, "; ", "%s", then.how);
		}
		words_fini(&now);
		words_fini(&then);
	}
	add(o, "all of the first four", "-", "together", o->best_text ? o->best_text : "",
	    o->advice.now.total_s - best->total_s);
}

static int compute(struct outcome *o, const struct fab_fabric *f, struct fab_err *err)
{
	int rc = launch_timing_init(&o->p, f, &o->t, err);

	if (rc)
		return rc;
	o->base = launch_start(&o->p, &o->t);
	o->base.stage_in = o->p.stage_in;
	o->base.fence = (struct fab_fence_chosen){&fab_fence_slurm_auto, 0};
	rc = fab_launch_advise(&o->base, &o->p.constants, &o->advice, err);
	if (rc)
		return rc;
	add_settings(o);
	rc = advise_order(o, err);
	if (!rc)
		rc = advise_algorithm(o, err);
	if (!rc)
		rc = advise_sizes(o, err);
	if (!rc)
		add_together(o);
	return rc;
}

/* The first four that are worth a change, the one that saves most first. */
static void answer_each(struct fab_report *r, const struct outcome *o)
{
	bool is_told[FAB_N_SETTINGS] = {false};
	size_t n_told = 0;
	char saved[FAB_HUMAN_BYTES];

	for (; n_told < FAB_N_SETTINGS; n_told++) {
		const struct launch_advise_row *row = o->rows.v;
		size_t next = FAB_N_SETTINGS;

		for (size_t i = 0; i < FAB_N_SETTINGS; i++)
			if (!is_told[i] && (next == FAB_N_SETTINGS ||
					    row[i].saved_s > row[next].saved_s))
				next = i;
		if (row[next].saved_s < WORTH * o->advice.now.total_s)
			break;
		is_told[next] = true;
		fab_human_seconds(row[next].saved_s, saved);
		fab_report_answer(r, FAB_TONE_PLAIN, "Alone, %s %s saves %s.",
				  row[next].setting, row[next].advised, saved);
	}
	if (n_told < FAB_N_SETTINGS)
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

	for (size_t i = FAB_N_SETTINGS; i + 1 < o->rows.n; i++) {
		const struct launch_advise_row *row = &o->rows.v[i];

		if (!row->helps || row->saved_s < WORTH * o->advice.now.total_s)
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

	fab_human_seconds(o->advice.now.total_s, now);
	fab_human_seconds(all->total_s, then);
	if (all->saved_s < WORTH * o->advice.now.total_s) {
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
	fab_report_field(r, &base, (union fab_cell){.real = o->advice.now.total_s});
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
		free(o->rows.v[i].now);
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
