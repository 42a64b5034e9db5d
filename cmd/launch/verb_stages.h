/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-launch stages has computed. */
#pragma once

#include "launch.h"
#include "launch/range.h"

struct stages_case {
	struct fab_launch_start start;
	struct fab_stages stages;
	struct fab_launch_goal goal;
};

struct stages_outcome {
	struct launch_params *p;
	struct launch_timing t;
	struct fab_fence_chosen fence, fastest;
	FAB_VEC(struct stages_case) cases;
	struct fab_launch_range total; /* of the first case */
	size_t base;		       /* the case that improvements are on top of */
	struct fab_improvement improvements[FAB_N_IMPROVEMENTS];
	struct fab_stages respawn; /* zeroed: not asked for */
};

/* The row of a case; the caller frees row->fence and row->critical_path. */
void stages_row(const struct stages_outcome *o, size_t i, struct launch_stages_row *row);
void stages_print(struct fab_report *r, const struct launch_params *p, const void *of,
		  enum fab_format format);
void stages_plot(const struct fab_cli_plot *plot, const struct stages_outcome *o,
		 struct fab_cli_results *results);
