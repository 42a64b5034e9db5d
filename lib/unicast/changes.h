/* SPDX-License-Identifier: BSD-2-Clause */
/* What differs between two tables of one fabric. */
#pragma once

#include "unicast/routes.h"

struct fab_changes {
	uint64_t entries;  /* of destinations that both have */
	uint64_t switches; /* that have such an entry */
};

/*
 * Entries of live switches in `now` that differ from `before`, which has all columns of
 * `now`, in the same order, and maybe more. O(columns * switches).
 */
struct fab_changes fab_changes_count(const struct fab_routes *now,
				     const struct fab_routes *before);
