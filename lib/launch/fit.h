/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constants that fit observed starts. Of several that explain the same, the nearest to
 * the present ones: minimised is
 *
 *     sum ((ln predicted - ln measured) / ln 1.1)^2 + sum (2 z)^2
 *
 * over starts and constants, where z is -1 and 1 at the limits of the possible values of
 * a constant and 0 at its present one, by logarithms if its least value is above 0. Thus
 * a start is trusted to 10 %, and limits are two standard deviations away.
 */
#pragma once

#include "launch/stages.h"

enum { FAB_FIT_STARTS_MAX = 64, FAB_FIT_CONSTANTS_MAX = 8 };

/* An observed start. */
struct fab_fit_start {
	const char *text; /* as it was given */
	uint32_t ranks, nodes;
	enum fab_stage_in stage_in;
	double measured_s;
	/* Results: by the present constants with the least and most of one of them at a
	 * time, by those that fit, and what these leave. */
	double before_s, low_s, high_s, after_s, unexplained_s;
	double misfit; /* after_s and measured_s, the greater by the other */
};
/* A constant that was fitted; low, high: where the sum above is 1 more, the others
 * unchanged. */
struct fab_fit_constant {
	enum fab_launch_constant constant;
	double was, value, low, high;
};
struct fab_fit {
	struct fab_fit_start starts[FAB_FIT_STARTS_MAX];
	size_t n_starts;
	/* Those with limits that change any start most, at most FAB_FIT_CONSTANTS_MAX. */
	struct fab_fit_constant constants[FAB_FIT_CONSTANTS_MAX];
	size_t n_constants;
	double sum_before, sum_after;
};
/* "2240:40=11.8s", "2240:40:cache=6.7s": ranks, nodes, stage-in (default `stage_in`) and
 * time. EINVAL. O(len). */
int fab_fit_parse(const char *text, enum fab_stage_in stage_in, struct fab_fit_start *out,
		  struct fab_err *err) FAB_MUST_CHECK;
/*
 * Fit the constants in `params` that `uses` has to the starts, and put them there. `base`
 * is a start by these with any nodes and processes; fences are by formula. Nodes have the
 * same number of processes, rounded up. Errors: those of fab_stages_total_s().
 * O(constants * starts * 1000 stages).
 */
int fab_fit_run(struct fab_fit *fit, const struct fab_launch_start *base,
		struct fab_launch_params *params, const bool *uses,
		struct fab_err *err) FAB_MUST_CHECK;
