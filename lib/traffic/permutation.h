/* SPDX-License-Identifier: BSD-2-Clause */
/* Permutations: each host sends to one other. One table, a function or a file each. */
#pragma once

#include "base/choice.h"
#include "fabric/kfat.h"
#include "traffic/ends.h"

/* What a permutation is made for. */
struct fab_permutation_problem {
	const struct fab_fabric *f;
	const struct fab_kfat *kfat; /* NULL: it is none */
	const struct fab_flow_ends *ends;
	uint64_t seed;
};

struct fab_permutation {
	const char *form; /* "shift:K": name, and argument if it takes one */
	const char *summary;
	const char *manual; /* as struct fab_choice has it; NULL: the summary */
	/* Is this an argument? NULL: it takes none. Without looking at the fabric. */
	bool (*takes)(const char *argument);
	/* Fill to[ends->n], all FAB_NONE at first, by numbers of ends. EINVAL or ENOENT:
	 * one sentence, of a file with its line. */
	int (*make)(const struct fab_permutation_problem *problem, const char *argument,
		    uint32_t *to, struct fab_err *err);
};

extern const struct fab_permutation *const fab_permutations[];
extern const struct fab_choices fab_permutation_choices;

/* A file adds its row here; in the order in which they are documented. */
#define FAB_PERMUTATIONS(ROW)                                                            \
	ROW(shift)                                                                       \
	ROW(reverse)                                                                     \
	ROW(random)                                                                      \
	ROW(transpose)                                                                   \
	ROW(tornado)                                                                     \
	ROW(neighbour)                                                                   \
	ROW(bitcomp)                                                                     \
	ROW(bitrev)                                                                      \
	ROW(file)

#define FAB_DECLARE(row) extern const struct fab_permutation fab_permutation_##row;
FAB_PERMUTATIONS(FAB_DECLARE)
#undef FAB_DECLARE

/* Is it one of these with its argument? Without looking at the fabric; EINVAL. O(len). */
int fab_permutation_check(const char *spec, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Who sends to whom: to[n] by number of the end, FAB_NONE: sends nothing. The caller
 * frees *to. Errors as of check and make. O(ends), a file O(bytes + nodes).
 */
int fab_permutation_make(const char *spec, const struct fab_permutation_problem *problem,
			 uint32_t **to, struct fab_err *err) FAB_MUST_CHECK;
