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

#include "base/err.h"
#include "launch/params.h"
#include "launch/stages.h"

#include <stddef.h>
#include <stdint.h>

enum { FAB_FIT_STARTS_MAX = 64, FAB_FIT_CONSTANTS_MAX = 8 };

/* An observed start. */
struct fab_fit_start {
	const char *text; /* as given */
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

/*
 * A file system measured from one node with the files of a program: opens and reads by
 * one core and by all cores. Nothing is written. Data that this node holds is dropped
 * before it is read (posix_fadvise(2)); names and attributes that it holds cannot be, so
 * that opens are those of a node that has opened the files before.
 */

struct fab_site_rates {
	uint32_t n_threads;
	double opens_per_s; /* each with fstat and close, or in vain */
	double open_us;	    /* mean of one */
	double read_MBps;
};
struct fab_site {
	size_t n_files, n_missing; /* opened, and looked for in vain */
	uint64_t bytes;
	struct fab_site_rates one, all; /* by one core, by all */
};
/*
 * Measure opens of found[n_files] and missing[n_missing] and reads of the former, for
 * some tenths of a second each; `n_threads` is "all cores". EIO: a file cannot be opened
 * or read, which is named; EINVAL: no files. O(bytes).
 */
int fab_site_measure(const char *const *found, size_t n_files, const char *const *missing,
		     size_t n_missing, int n_threads, struct fab_site *out,
		     struct fab_err *err) FAB_MUST_CHECK;
/*
 * Put the figures into constants: files, lookups, image_MB, open_us, node_MBps as
 * measured; fs_ops and fs_MBps, of which one node shows a least value only, as
 * assumptions from that on. `host` names this node. O(1).
 */
void fab_site_apply(const struct fab_site *site, const char *host,
		    struct fab_launch_params *params);
