/* SPDX-License-Identifier: BSD-2-Clause */
/* From bit planes, as a search of many sources at once leaves them, to bytes. */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

enum { FAB_BITPLANES = 8 };

/*
 * For the sources 0 .. 64*used-1 of one switch: out[i] = sum over k < n_planes of
 * bit i of plane k << k, and 255 where bit i of `seen` is 0. Plane k is
 * planes[k*words .. k*words+words-1]. O(used * n_planes).
 */
typedef void (*fab_bitplanes_fn)(const uint64_t *planes, const uint64_t *seen,
				 size_t words, int n_planes, size_t used, uint8_t *out);

/* The fastest conversion of this processor, or the one in plain C. O(1). */
fab_bitplanes_fn fab_bitplanes(bool only_plain);
