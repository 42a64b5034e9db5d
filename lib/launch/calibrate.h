/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constants measured on this machine by loops of our own: copying, a lock, a cache line
 * that moves, data that is read, a thread shift, a process that starts, a request over a
 * socket; and, in a program built with it, through libpmix: PMIx_Init, Put, Commit, Fence
 * and Get, by a server and clients of our own. Each is measured several times; the median
 * counts, half the range is the spread.
 */
#pragma once

#include "launch/params.h"

struct fab_calibration {
	struct fab_launch_params params;	  /* with host, cores, steal and date */
	bool is_measured[FAB_N_LAUNCH_CONSTANTS]; /* the others are as they were */
	char libpmix[48]; /* version of the library that was measured, too; empty: */
	char pmix_problem[160]; /* why it was not */
};

/* Processors that are there, and the share of their time that others took since `before`
 * (of /proc/stat, as fab_steal_read() gives it), in percent; NaN: not known.
 * O(processors). */
uint32_t fab_cores(void);
struct fab_steal {
	uint64_t stolen, all;
};
struct fab_steal fab_steal_read(void);
double fab_steal_percent(struct fab_steal before);

/*
 * Measure, `seconds` for each constant and time; `out->params` holds what is to be kept
 * of constants that are not measured; servers of libpmix have their files in tmp_dir.
 * EAGAIN and others: no thread, socket or process. What goes wrong with libpmix is told
 * in `pmix_problem`. Takes about 5 `seconds` for each constant of our own loops, with
 * libpmix some seconds more; forks, so that no other threads should be there.
 */
int fab_calibrate(double seconds, const char *tmp_dir, struct fab_calibration *out,
		  struct fab_err *err) FAB_MUST_CHECK;
