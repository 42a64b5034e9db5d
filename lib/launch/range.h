/* SPDX-License-Identifier: BSD-2-Clause */
/* A figure of the models over the possible values of the constants that are assumed. */
#pragma once

#include "launch/stages.h"

/* The figure by these parameters. 0 or a negative errno with its sentence. */
typedef int fab_launch_figure_fn(void *context, const struct fab_launch_params *params,
				 double *out, struct fab_err *err);

struct fab_launch_range {
	/* Over the constant that moves the figure most, the others as they are. Both NaN:
	 * no assumed constant moves it. */
	double low, high;
	enum fab_launch_constant by; /* FAB_N_LAUNCH_CONSTANTS: none */
	/* Least and most over all of them, one at a time; with none the figure itself.
	 * The constant of the least. */
	double least, most;
	enum fab_launch_constant least_by;
};

/*
 * For each assumed constant with known limits and a set `uses` (NULL: all) the figure at
 * both limits. `base` is the figure as it is: what the limits change is added to it, so
 * that `figure` may be a coarser model of the same. Errors: those of `figure`, called at
 * most 2 * FAB_N_LAUNCH_CONSTANTS + 1 times.
 */
int fab_launch_range_find(const struct fab_launch_params *params, const bool *uses,
			  double base, fab_launch_figure_fn *figure, void *context,
			  struct fab_launch_range *out,
			  struct fab_err *err) FAB_MUST_CHECK;

/* A figure: seconds of a start, its fences by formula. context: the start. */
fab_launch_figure_fn fab_launch_total_of;
