/* SPDX-License-Identifier: BSD-2-Clause */
/* From bit planes, as a search of many sources at once leaves them, to bytes. */
#pragma once

#include "base/macros.h"

enum { FAB_PLANES = 8 };

/*
 * For the sources 0 .. 64*used-1 of one switch: out[i] = sum over k < n_planes of
 * bit i of plane k << k, and 255 where bit i of `seen` is 0. Plane k is
 * planes[k*words .. k*words+words-1]. The widest vectors that the processor has are
 * chosen at run time. O(used * n_planes).
 */
void fab_planes_to_bytes(const uint64_t *planes, const uint64_t *seen, size_t words,
			 int n_planes, size_t used, uint8_t *out);
