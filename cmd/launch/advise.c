/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch advise: which settings save how much, for these nodes of this fabric. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "launch.h"
#include "launch/range.h"
#include "launch/settings.h"

struct outcome {
	struct launch_params p; /* a copy, whose tree_width and fanout are changed */
	struct launch_timing t;
	struct fab_launch_start base;
	struct fab_launch_advice advice;
	struct fab_launch_range total, best; /* of the start as it is, with the advice */
	char *best_text, *best_how;	     /* all settings together */
	/* Those of Slurm and Open MPI, what is not among them, all of the former
	 * together; now, advised and how on the heap. */
	FAB_VEC(struct launch_advise_row) rows;
};

/* Variables that Open MPI's opal/mca/pmix and ompi_mpi_init() read, under srun too. */
static const struct {
	enum fab_launch_wireup wireup;
	const char *how;
} wireups[] = {
	{FAB_WIREUP_BACKGROUND, "export OMPI_MCA_pmix_base_async_modex=1"},
	{FAB_WIREUP_DIRECT,
	 "export OMPI_MCA_pmix_base_async_modex=1 OMPI_MCA_pmix_base_collect_data=0 "
	 "OMPI_MCA_async_mpi_init=1"},
	{FAB_WIREUP_DIRECT_BARRIER,
	 "export OMPI_MCA_pmix_base_async_modex=1 OMPI_MCA_pmix_base_collect_data=0"},
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
		       ? "sbcast --send-libs in the job script, or srun --bcast "
			 "--send-libs"
		       : "a loader cache on each node (such as Spindle), or files on "
			 "local disks";
}

/* A row of a change; what is not worth it is left as it is. Texts are copied. */
static void add(struct outcome *o, struct launch_advise_row row, double saved_s)
{
	/* of the cluster only what is certain */
	bool is_advised = !strcmp(row.verdict, "yes") ||
			  (!strcmp(row.verdict, "depends") && !strcmp(row.scope, "job"));

	row.helps = !strcmp(row.verdict, "yes");
	row.advised = fab_strdup(is_advised ? row.advised : row.now);
	row.how = fab_strdup(is_advised ? row.how : "leave it");
	row.now = fab_strdup(row.now);
	row.saved_s = is_advised ? saved_s : 0;
	row.could_save_s = saved_s;
	row.total_s = o->advice.now.total_s - row.saved_s;
	FAB_PUSH(&o->rows, row);
}

static void add_judged(struct outcome *o, struct launch_advise_row row, bool is_cluster,
		       double saved_s, const struct fab_launch_judgement *j)
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
	add(o, row, saved_s);
}

/* The same of a start that is still to be timed. */
static int add_start(struct outcome *o, struct launch_advise_row row,
		     const struct fab_launch_start *start, struct fab_err *err)
{
	const struct fab_launch_change change = {.start = {o->base, *start}};
	struct fab_launch_judgement j;
	double total_s, now_s = o->advice.now.total_s;
	int rc = fab_stages_total_s(start, &total_s, err);

	if (!rc)
		rc = fab_launch_judge(&o->p.constants, o->p.uses, &change, FAB_WORTH_JOB,
				      now_s - total_s, now_s, &j, err);
	if (!rc)
		add_judged(o, row, false, now_s - total_s, &j);
	return rc;
}

/* Name of a setting, its value, and how to set it; texts on the heap. */
struct words {
	const char *setting;
	char *value, *how;
};

static struct words words_of(enum fab_launch_setting setting,
			     const struct fab_launch_settings *is)
{
	bool is_mixed = is->fence == &fab_fence_slurm_auto;
	const char *fence = is->fence == &fab_fence_ring ? "ring" : "tree";

	switch (setting) {
	case FAB_SETTING_FENCE:
		return (struct words){"SLURM_PMIX_FENCE",
				      fab_strdup(is_mixed ? "mixed" : fence),
				      fab_format("export SLURM_PMIX_FENCE=%s (for good: "
						 "PMIxCollFence=%s in mpi.conf)",
						 fence, fence)};
	case FAB_SETTING_TREE_WIDTH:
		return (struct words){
			"TreeWidth", fab_format("%.0f", is->tree_width),
			fab_format("TreeWidth=%.0f in slurm.conf, for all messages of "
				   "the cluster",
				   is->tree_width)};
	case FAB_SETTING_FANOUT:
		return (struct words){
			"sbcast --fanout", fab_format("%.0f", is->fanout),
			fab_format("sbcast --fanout=%.0f (srun --bcast has 8)",
				   is->fanout)};
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
	rc = add_start(o,
		       (struct launch_advise_row){
			       .setting = "fence algorithm",
			       .now = (char[]){"mixed"},
			       .advised = text,
			       .how = (char[]){"for developers of runtimes: Slurm has "
					       "ring and tree only"}},
		       &s, err);
	free(text);
	return rc;
}

static int advise_sizes(struct outcome *o, struct fab_err *err)
{
	struct fab_launch_start s = o->base;

	s.layout.opts = FAB_SIZE_ALL;
	return add_start(
		o,
		(struct launch_advise_row){
			.setting = "addresses",
			.now = (char[]){"as put"},
			.advised = (char[]){"short"},
			.how = (char[]){"addresses of UCX of 21 bytes in place of 51"}},
		&s, err);
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
	add(o,
	    (struct launch_advise_row){
		    .setting = "order of nodes",
		    .scope = "job",
		    .verdict = now_us - best_us >= FAB_WORTH_JOB * o->advice.now.total_s *
							       1e6 &&
					       best_us < now_us
				       ? "yes"
				       : "no",
		    .now = o->p.orders.v[0],
		    .advised = (char *)(uintptr_t)best,
		    .how = (char[]){"the order of hosts in the file SLURM_HOSTFILE, with "
				    "srun --distribution=arbitrary"},
		    .saved_low_s = (double)NAN,
		    .saved_high_s = (double)NAN},
	    (now_us - best_us) / 1e6);
	return 0;
}

/* Each setting alone. */
static void add_settings(struct outcome *o)
{
	static const enum fab_launch_setting order[FAB_N_SETTINGS] = {
		FAB_SETTING_FENCE, FAB_SETTING_TREE_WIDTH, FAB_SETTING_WIREUP,
		FAB_SETTING_STAGE_IN, FAB_SETTING_FANOUT};

	for (size_t i = 0; i < FAB_N_SETTINGS; i++) {
		enum fab_launch_setting k = order[i];
		const struct fab_launch_timed *best = &o->advice.alone[k];
		struct words now = words_of(k, &o->advice.now.is);
		struct words then = words_of(k, &best->is);

		add_judged(o,
			   (struct launch_advise_row){.setting = now.setting,
						      .now = now.value,
						      .advised = then.value,
						      .how = then.how},
			   fab_launch_worth(k) > FAB_WORTH_JOB,
			   o->advice.now.total_s - best->total_s, &o->advice.of_alone[k]);
		words_fini(&now);
		words_fini(&then);
	}
}

/* All of them together ("pre-staging tree, sbcast --fanout 2"), and how, each with its
 * own effect. */
static void add_together(struct outcome *o)
{
	static const enum fab_launch_setting order[FAB_N_SETTINGS] = {
		FAB_SETTING_STAGE_IN, FAB_SETTING_FANOUT, FAB_SETTING_WIREUP,
		FAB_SETTING_TREE_WIDTH, FAB_SETTING_FENCE};
	const struct fab_launch_timed *best = &o->advice.together;
	char saved[FAB_HUMAN_BYTES];

	for (size_t i = 0; i < FAB_N_SETTINGS; i++) {
		struct words then = words_of(order[i], &best->is);

		if (fab_launch_differs(&best->is, &o->advice.now.is, order[i])) {
			fab_human_seconds(o->advice.own_s[order[i]], saved);
			fab_append(&o->best_text, ", ", "%s %s", then.setting,
				   then.value);
			fab_append(&o->best_how, "; ", "%s saves %s of it", then.how,
				   saved);
		}
		words_fini(&then);
	}
	add(o,
	    (struct launch_advise_row){.setting = "all that is worth it",
				       .scope = "job",
				       .verdict = o->best_text ? "yes" : "no",
				       .now = (char[]){"-"},
				       .advised = (char[]){"together"},
				       .how = o->best_text,
				       .saved_low_s = (double)NAN,
				       .saved_high_s = (double)NAN},
	    o->advice.now.total_s - best->total_s);
}

/* Of a start with all that is worth it. */
static int range_with_advice(struct outcome *o, struct fab_err *err)
{
	const struct fab_launch_timed *best = &o->advice.together;
	struct fab_launch_params params = o->p.constants;
	struct fab_launch_start start = o->base;

	fab_launch_apply(&best->is, &params, &start);
	return fab_launch_range_find(&params, o->p.uses, best->total_s,
				     fab_launch_total_of, &start, &o->best, err);
}

static int compute(struct outcome *o, const struct fab_fabric *f, struct fab_err *err)
{
	int rc = launch_timing_init(&o->p, f, &o->t, err);

	if (rc)
		return rc;
	o->base = launch_start(&o->p, &o->t);
	o->base.stage_in = o->p.stage_in;
	o->base.fence = (struct fab_fence_chosen){&fab_fence_slurm_auto, 0};
	rc = fab_launch_advise(&o->base, &o->p.constants, o->p.uses, &o->advice, err);
	if (rc)
		return rc;
	add_settings(o);
	rc = fab_launch_range_find(&o->p.constants, o->p.uses, o->advice.now.total_s,
				   fab_launch_total_of, &o->base, &o->total, err);
	if (!rc)
		rc = range_with_advice(o, err);
	if (!rc)
		rc = advise_order(o, err);
	if (!rc)
		rc = advise_algorithm(o, err);
	if (!rc)
		rc = advise_sizes(o, err);
	if (!rc)
		add_together(o);
	return rc;
}

/* ", between 1 s and 27 s by fs_ops", or nothing. */
static char *range_text(double low, double high, const char *by)
{
	char least[FAB_HUMAN_BYTES], most[FAB_HUMAN_BYTES];

	if (!by)
		return fab_strdup("");
	fab_human_seconds(fabs(low), least);
	fab_human_seconds(fabs(high), most);
	return fab_format(", %s%s to %s%s by %s", low < 0 ? "-" : "", least,
			  high < 0 ? "-" : "", most, by);
}

/* Settings that are worth a change alone, the one that saves most first. */
static void answer_each(struct fab_report *r, const struct outcome *o)
{
	bool is_told[FAB_N_SETTINGS] = {false};
	size_t n_told = 0;

	for (;; n_told++) {
		const struct launch_advise_row *row = o->rows.v;
		size_t next = FAB_N_SETTINGS;
		char saved[FAB_HUMAN_BYTES], *range;
		const char *depends;

		for (size_t i = 0; i < FAB_N_SETTINGS; i++)
			if (!is_told[i] && row[i].saved_s > 0 &&
			    (next == FAB_N_SETTINGS ||
			     row[i].saved_s > row[next].saved_s))
				next = i;
		if (next == FAB_N_SETTINGS)
			break;
		is_told[next] = true;
		row += next;
		depends = row->depends_on;
		range = range_text(row->saved_low_s, row->saved_high_s, row->range_by);
		fab_human_seconds(row->saved_s, saved);
		fab_report_answer(
			r, depends ? FAB_TONE_WARN : FAB_TONE_PLAIN,
			"Alone, %s %s saves %s%s%s%s%s.", row->setting, row->advised,
			saved, range, depends ? "; measure it, by " : "",
			depends ? depends : "", depends ? " it can also cost time" : "");
		free(range);
	}
	if (n_told < FAB_N_SETTINGS)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Alone, each%s setting of Slurm and Open MPI saves less "
			"than %g %%, or TreeWidth less than %g %%.",
			n_told ? " other" : "", FAB_WORTH_JOB * 100,
			FAB_WORTH_CLUSTER * 100);
}

/* What is worth it and no setting of Slurm or Open MPI; the last row is all of those. */
static void answer_others(struct fab_report *r, const struct outcome *o)
{
	char saved[FAB_HUMAN_BYTES];

	for (size_t i = FAB_N_SETTINGS; i + 1 < o->rows.n; i++) {
		const struct launch_advise_row *row = &o->rows.v[i];

		if (!row->helps || row->saved_s < FAB_WORTH_JOB * o->advice.now.total_s)
			continue;
		fab_human_seconds(row->saved_s, saved);
		fab_report_answer(r, FAB_TONE_PLAIN, "In addition, %s %s saves %s.",
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
	if (!o->best_text) {
		fab_report_answer(r, FAB_TONE_GOOD,
				  "%s in %s by PMIx under Slurm as it is; no setting of "
				  "Slurm or Open MPI saves as much as %g %% of it.",
				  job, now, FAB_WORTH_JOB * 100);
		launch_answer_range(r, p, "It", &o->total);
	} else {
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s in %s by PMIx under Slurm as it is, in %s "
				  "with %s.",
				  job, now, then, o->best_text);
		launch_answer_range(r, p, "As it is, that", &o->total);
		launch_answer_range(r, p, "With these, it", &o->best);
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
	launch_print_range(r, &o->total);
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
