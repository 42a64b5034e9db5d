/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings of Slurm and Open MPI for a start by PMIx, and which of them make it faster:
 * each alone, and those together that are worth it, as they depend on each other.
 */
#pragma once

#include "launch/range.h"

/* In the order in which they are searched: the fan-out after what it spreads. */
enum fab_launch_setting {
	FAB_SETTING_TREE_WIDTH, /* TreeWidth of slurm.conf: of the whole cluster */
	FAB_SETTING_STAGE_IN,	/* tree or cache */
	FAB_SETTING_FANOUT,	/* --fanout of sbcast */
	FAB_SETTING_WIREUP,	/* all but full and instant */
	FAB_SETTING_FENCE,	/* SLURM_PMIX_FENCE: ring or tree, not mixed */
	FAB_N_SETTINGS,
};

/* A setting of a job that saves less than this share of the start is not worth it, and
 * one of the cluster, which all jobs share, not below the second. */
#define FAB_WORTH_JOB 0.01
#define FAB_WORTH_CLUSTER 0.05
/* FAB_WORTH_CLUSTER for TreeWidth, else FAB_WORTH_JOB. O(1). */
double fab_launch_worth(enum fab_launch_setting setting);

struct fab_launch_settings {
	/* slurm-auto (mixed), ring, or tree, which is of tree_width */
	const struct fab_fence_algorithm *fence;
	double tree_width, fanout;
	enum fab_launch_wireup wireup;
	enum fab_stage_in stage_in;
};

/* Have both another value of a setting? O(1). */
bool fab_launch_differs(const struct fab_launch_settings *a,
			const struct fab_launch_settings *b,
			enum fab_launch_setting setting);
/* Put settings into the parameters and the start that they are of. O(1). */
void fab_launch_apply(const struct fab_launch_settings *is,
		      struct fab_launch_params *params, struct fab_launch_start *start);

/* A change of a start: both, and settings that are put into them; NULL: none. */
struct fab_launch_change {
	struct fab_launch_start start[2];
	const struct fab_launch_settings *with[2];
};

enum fab_launch_verdict {
	FAB_ADVICE_NO,	    /* not worth it by the constants as they are */
	FAB_ADVICE_DEPENDS, /* worth it by these, not by all possible ones */
	FAB_ADVICE_YES,
};

struct fab_launch_judgement {
	enum fab_launch_verdict verdict;
	struct fab_launch_range seconds; /* saved */
	struct fab_launch_range share;	 /* saved, of the start */
};

/*
 * Is a change that saves `saved_s` of `total_s` worth the share `worth`, whatever the
 * assumed constants are? One of FAB_WORTH_CLUSTER must save that by all possible values,
 * others must never cost anything. `uses` and errors as fab_launch_range_find(). O(150
 * stages).
 */
int fab_launch_judge(const struct fab_launch_params *params, const bool *uses,
		     const struct fab_launch_change *change, double worth, double saved_s,
		     double total_s, struct fab_launch_judgement *out,
		     struct fab_err *err) FAB_MUST_CHECK;

struct fab_launch_timed {
	struct fab_launch_settings is;
	double total_s; /* of a start with these */
};

struct fab_launch_advice {
	struct fab_launch_timed now; /* as the start has it */
	/* The best other value of one setting, the rest as it is; it may be worse. */
	struct fab_launch_timed alone[FAB_N_SETTINGS];
	struct fab_launch_judgement of_alone[FAB_N_SETTINGS];
	/* The best of all, without settings of the cluster whose verdict alone is not
	 * yes, and without those that save less than they are worth on top of the others;
	 * of equals the first, `now`. */
	struct fab_launch_timed together;
	/* Seconds that each change in `together` saves on top of the others; 0: none. */
	double own_s[FAB_N_SETTINGS];
};

/*
 * `params` are those of `start`, and those of its timer: TreeWidth and the fan-out are
 * changed there while others are tried, and are as before in the end, also after an
 * error. The fence of `start` is slurm-auto, ring or tree. `uses` as
 * fab_launch_range_find(). Errors: those of fab_stages_total_s(). O(1400 stages).
 */
int fab_launch_advise(const struct fab_launch_start *start,
		      struct fab_launch_params *params, const bool *uses,
		      struct fab_launch_advice *out, struct fab_err *err) FAB_MUST_CHECK;
