/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Slurm and Open MPI can be told of a start by PMIx, and which of it is the fastest:
 * each setting alone, and all of them together, as they hang on each other (a width that
 * is good for daemons may be bad for files).
 */
#pragma once

#include "launch/stages.h"

enum fab_launch_setting {
	FAB_SETTING_TREE_WIDTH, /* TreeWidth */
	FAB_SETTING_STAGE_IN,	/* tree or cache */
	FAB_SETTING_WIREUP,	/* all but full and instant */
	FAB_SETTING_FENCE,	/* SLURM_PMIX_FENCE: ring or tree, not auto */
	FAB_N_SETTINGS,
};

struct fab_launch_settings {
	/* slurm-auto, ring, or tree, which is of tree_width */
	const struct fab_fence_algorithm *fence;
	double tree_width;
	enum fab_launch_wireup wireup;
	enum fab_stage_in stage_in;
};

struct fab_launch_timed {
	struct fab_launch_settings is;
	double total_s; /* of a start with these */
};

struct fab_launch_advice {
	struct fab_launch_timed now; /* as the start has it */
	/* The best other value of one setting, the rest as it is; it may be worse. */
	struct fab_launch_timed alone[FAB_N_SETTINGS];
	struct fab_launch_timed
		together; /* the best of all; of equals the first, `now` */
};

/*
 * `params` are those of `start`, and what its timer goes by: TreeWidth is changed there
 * while others are tried, and is what it was in the end, also after an error. The fence
 * of `start` is slurm-auto, ring or tree. Errors: those of fab_stages_total_s(). O(324
 * stages).
 */
int fab_launch_advise(const struct fab_launch_start *start,
		      struct fab_launch_params *params, struct fab_launch_advice *out,
		      struct fab_err *err) FAB_MUST_CHECK;
