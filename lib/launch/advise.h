/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changes that an administrator or the owner of a job can make to a start by PMIx under
 * Slurm and Open MPI, each on top of those before it: first those of the job, which are
 * searched together, as they depend on each other, then the order of its nodes, then
 * settings of the cluster.
 */
#pragma once

#include "launch/stages.h"

enum fab_launch_setting {
	FAB_SETTING_STAGE_IN,	/* enum fab_stage_in: tree or cache */
	FAB_SETTING_FANOUT,	/* --fanout of sbcast; a part of the stage-in tree */
	FAB_SETTING_TOPOLOGY,	/* 1: one process of a node finds its hardware */
	FAB_SETTING_WIREUP,	/* enum fab_launch_wireup: all but full and instant */
	FAB_SETTING_FENCE,	/* SLURM_PMIX_FENCE: slurm-auto (mixed), ring or tree */
	FAB_SETTING_ORDER,	/* number of an order of the nodes; 0: the present one */
	FAB_SETTING_TREE_WIDTH, /* TreeWidth of slurm.conf: of the whole cluster */
	FAB_N_SETTINGS,
	/* those before it are of the job and searched together */
	FAB_N_SEARCHED = FAB_SETTING_ORDER,
};
/* The value of each setting. */
struct fab_launch_settings {
	uint32_t of[FAB_N_SETTINGS];
};

/* Share of the start that a change must save. */
#define FAB_ADVICE_WORTH 0.05

/* An order of the nodes. */
struct fab_launch_order {
	const char *name;
	struct fab_launch_nodes nodes;
};
/* All is borrowed. */
struct fab_launch_advice_input {
	struct fab_launch_start start; /* its fence is slurm-auto, ring or tree */
	/* Constants of `start` and `clock`; TreeWidth and the fan-out are changed
	 * meanwhile. */
	struct fab_launch_params *params;
	const bool *uses;		      /* as fab_launch_range_find() */
	const struct fab_fence_clock *clock;  /* of `start`; NULL: no orders */
	const struct fab_launch_order *order; /* [n_orders], the present one first */
	size_t n_orders;
	struct fab_arena *memory; /* for texts and times of fences */
};

struct fab_launch_timed {
	struct fab_launch_settings is;
	double total_s; /* of a start with these */
};
enum { FAB_ADVICE_MAX = FAB_N_SETTINGS + 1, FAB_N_TO_MEASURE = 3 };
/* A change, on top of those before it. */
struct fab_launch_advice_row {
	const char *setting, *scope, *verdict;
	const char *range_by; /* NULL: no assumed constant changes its saving */
	const char *now, *advised, *how, *costs;
	/* With the changes up to this one; saved by this one; the least and the most
	 * over the possible values of one assumed constant at a time. */
	double total_s, saved_s, saved_low_s, saved_high_s;
	bool is_alternative; /* in place of the row before it */
	struct fab_launch_settings is;
};
struct fab_launch_advice {
	struct fab_launch_timed now;	       /* those of the start */
	struct fab_launch_timed then;	       /* with all rows but alternatives */
	struct fab_launch_range now_s, then_s; /* of these, over the assumed constants */
	/* Those of the job from the one that saves most, then those of the cluster. */
	struct fab_launch_advice_row rows[FAB_ADVICE_MAX];
	size_t n_rows;
	/* True if ranges of rows overlap, or the saving of one is not certain: their
	 * sequence depends on constants that are assumed. */
	bool is_open;
	/* The constants that change the savings most, the most effective one first. */
	enum fab_launch_constant measure[FAB_N_TO_MEASURE];
	size_t n_measure;
	uint32_t n_cut; /* fences in other orders that take too long to simulate */
};
/*
 * A change is a row if it saves FAB_ADVICE_WORTH of the present start on top of the rows
 * before it; one of the cluster must save that for all possible values of the assumed
 * constants. Verdicts: yes: no possible value makes it a cost; depends: some do. Errors:
 * those of fab_stages_total_s() and of the clock. O(1000 stages).
 */
int fab_launch_advise(const struct fab_launch_advice_input *input,
		      struct fab_launch_advice *out, struct fab_err *err) FAB_MUST_CHECK;
