/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of a calibration share. */
#pragma once

#include "launch/calibrate.h"

enum { FAB_CALIBRATION_TIMES = 5 }; /* that everything is measured */

/*
 * Keep a constant that was measured FAB_CALIBRATION_TIMES times: the median, half the
 * range as the spread; `times` is sorted. Nothing when one of them is NaN. O(times).
 */
void fab_calibration_keep(struct fab_calibration *c, enum fab_launch_constant constant,
			  double times[FAB_CALIBRATION_TIMES], const char *source);

/*
 * Constants of libpmix, by a server and clients of our own in processes of their own;
 * begin before there are other threads. Files of the server are in a folder of their own
 * in tmp_dir while it lives. Sets `libpmix` or `pmix_problem`, never fails.
 * Takes a few seconds, at most PATIENCE_S (calibrate_pmix.c) for each time.
 */
void fab_calibrate_pmix(const char *tmp_dir, struct fab_calibration *out);
