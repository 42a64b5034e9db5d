/* SPDX-License-Identifier: BSD-2-Clause */
/* Host lists as Slurm writes them: node[001-128,130]. */
#pragma once

#include "base/macros.h"

/*
 * Fold different names into one list: names that differ only in the number at their end
 * (of at most 6 digits, not the end of a GUID) share brackets, runs of numbers become
 * ranges, leading zeros are kept. Sorted as people count, whatever the order of `names`.
 * Names must be free of blanks, commas and brackets. The caller frees. O(n log n).
 */
char *fab_hostlist_fold(const char *const *names, size_t n);
