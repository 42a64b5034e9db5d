/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file system measured from one node with the files of a program: opens and reads by
 * one core and by all cores. Nothing is written. Data that this node holds is dropped
 * before it is read (posix_fadvise(2)); names and attributes that it holds cannot be, so
 * that opens are those of a node that has opened the files before.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "launch/params.h"

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
