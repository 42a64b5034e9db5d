/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings of Slurm and Open MPI for a start by PMIx, and which of them make it faster:
 * each alone, and together, as they depend on each other.
 */
#pragma once

#include "launch/stages.h"

/* In the order in which they are searched: the fan-out after the stage-in. */
enum fab_launch_setting {
	FAB_SETTING_TREE_WIDTH, /* TreeWidth of slurm.conf: of the whole cluster */
	FAB_SETTING_STAGE_IN,	/* enum fab_stage_in: tree or cache */
	FAB_SETTING_FANOUT,	/* --fanout of sbcast */
	FAB_SETTING_WIREUP,	/* enum fab_launch_wireup: all but full and instant */
	FAB_SETTING_FENCE,	/* SLURM_PMIX_FENCE: slurm-auto (mixed), ring or tree */
	FAB_N_SETTINGS,
};
/* The value of each setting. */
struct fab_launch_settings {
	uint32_t of[FAB_N_SETTINGS];
};

/* A setting of a job must save this share of the start, one of the cluster, which all
 * jobs share, the second. */
#define FAB_WORTH_JOB 0.01
#define FAB_WORTH_CLUSTER 0.05
/* FAB_WORTH_CLUSTER for TreeWidth, else FAB_WORTH_JOB. O(1). */
double fab_launch_worth(enum fab_launch_setting setting);

/* A change of a start: before and after. */
struct fab_launch_variant {
	struct fab_launch_start start;
	const struct fab_launch_settings *with; /* put into it; NULL: none */
};
enum fab_launch_verdict {
	FAB_ADVICE_NO,	    /* no gain by the present constants */
	FAB_ADVICE_DEPENDS, /* a gain by these, not by all possible ones */
	FAB_ADVICE_YES,
};
struct fab_launch_judgement {
	enum fab_launch_verdict verdict;
	struct fab_launch_range seconds; /* saved */
	struct fab_launch_range share;	 /* saved, of the start */
};
/*
 * Whether a change that saves `saved_s` of `total_s` is worth the share `worth`, for all
 * possible values of the assumed constants. A change of FAB_WORTH_CLUSTER must save that
 * share for all values, others must never cost anything. `uses` and errors as
 * fab_launch_range_find(). O(150 stages).
 */
int fab_launch_judge(const struct fab_launch_params *params, const bool *uses,
		     const struct fab_launch_variant change[2], double worth,
		     double saved_s, double total_s, struct fab_launch_judgement *out,
		     struct fab_err *err) FAB_MUST_CHECK;

struct fab_launch_timed {
	struct fab_launch_settings is;
	double total_s; /* of a start with these */
};
struct fab_launch_advice {
	struct fab_launch_timed now; /* those of the start */
	/* The best other value of one setting, the rest unchanged; it may be worse. */
	struct fab_launch_timed alone[FAB_N_SETTINGS];
	struct fab_launch_judgement of_alone[FAB_N_SETTINGS];
	/* The best of all, without settings of the cluster whose verdict alone is not
	 * yes, and without those that save less than they are worth on top of the others.
	 * Of equal ones the first: `now` of all, of two to undo the first setting. */
	struct fab_launch_timed together;
	/* Seconds that each change in `together` saves on top of the others; 0: none. */
	double own_s[FAB_N_SETTINGS];
};
/* `params` are those of `start` and of its timer: TreeWidth and the fan-out are changed
 * there meanwhile. The fence of `start` is slurm-auto, ring or tree. `uses` as
 * fab_launch_range_find(). Errors: those of fab_stages_total_s(). O(1400 stages). */
int fab_launch_advise(const struct fab_launch_start *start,
		      struct fab_launch_params *params, const bool *uses,
		      struct fab_launch_advice *out, struct fab_err *err) FAB_MUST_CHECK;

/* A row of the report on a change. */
struct fab_launch_advice_row {
	const char *setting, *scope, *verdict;
	const char *depends_on; /* the constant by which there is no gain; NULL */
	const char *range_by;	/* NULL: no assumed constant changes its saving */
	const char *now, *advised, *how;
	double total_s, saved_s, could_save_s, saved_low_s, saved_high_s;
	bool helps;
};
struct fab_launch_report {
	/* Set by the caller: the start by PMIx and slurm-auto; its clock and constants,
	 * which are changed meanwhile; the order of its nodes, and other orders. */
	struct fab_launch_start start;
	struct fab_launch_params *params;
	const bool *uses;
	struct fab_fence_clock *clock;
	const char *order;
	const char *const *orders;
	const struct fab_launch_nodes *nodes_of; /* [n_orders] */
	size_t n_orders;
	struct fab_arena *memory; /* for texts of the results */
	/* Results. */
	struct fab_launch_advice advice;
	struct fab_launch_range total, best; /* of the present start, with the advice */
	const char *best_text, *best_how;    /* all settings together; NULL: none */
	/* Settings of Slurm and Open MPI; changes beyond these; all settings together. */
	struct fab_launch_advice_row rows[FAB_N_SETTINGS + 4];
	size_t n_rows;
};
/* Errors: those of fab_launch_advise() and of the clock. */
int fab_launch_report_make(struct fab_launch_report *report,
			   struct fab_err *err) FAB_MUST_CHECK;
