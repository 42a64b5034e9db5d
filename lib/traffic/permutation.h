/* SPDX-License-Identifier: BSD-2-Clause */
/* Permutations: each host sends to one other. */
#pragma once

#include "base/choice.h"
#include "fabric/kfat.h"
#include "traffic/ends.h"

/* Hosts that a permutation is made for. */
struct fab_permutation_problem {
	const struct fab_fabric *f;
	const struct fab_kfat *kfat; /* NULL: no kfat */
	const struct fab_flow_ends *ends;
	uint64_t seed;
};

extern const struct fab_choices fab_permutation_choices;

/* Is this a permutation with its argument? Without looking at the fabric; EINVAL. O(len).
 */
int fab_permutation_check(const char *spec, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Targets: to[n] by number of the end, FAB_NONE: sends nothing. The caller frees *to.
 * EINVAL or ENOENT with a sentence, of a file with its line. O(ends), of a file O(bytes +
 * nodes).
 */
int fab_permutation_make(const char *spec, const struct fab_permutation_problem *problem,
			 uint32_t **to, struct fab_err *err) FAB_MUST_CHECK;
