/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbered sets of faults: drawn by chance or all there are. What dies in a set follows
 * from its number alone, so that sets can be made in any order and by several threads.
 */
#pragma once

#include "unicast/faults.h"

struct fab_fault_sets {
	const struct fab_faults *always;  /* dead in every set */
	struct fab_fault_list candidates; /* what else may die */
	uint32_t k;			  /* so many of them do */
	bool is_exhaustive;		  /* every combination; else by chance */
	uint64_t n;			  /* sets */
	uint64_t seed;			  /* of those by chance */
};

/*
 * Sets of k more of a kind. `always` and the fabric are borrowed; the caller frees *out
 * with fab_fault_sets_fini(). EINVAL: there are fewer than k. O(ports).
 */
int fab_fault_sets_random(const struct fab_fabric *f, const struct fab_faults *always,
			  enum fab_fault_kind kind, uint32_t k, uint64_t n, uint64_t seed,
			  struct fab_fault_sets *out, struct fab_err *err) FAB_MUST_CHECK;
/* Every one; sets->n is UINT64_MAX when they are more. */
int fab_fault_sets_all(const struct fab_fabric *f, const struct fab_faults *always,
		       enum fab_fault_kind kind, uint32_t k, struct fab_fault_sets *out,
		       struct fab_err *err) FAB_MUST_CHECK;
void fab_fault_sets_fini(struct fab_fault_sets *sets);

/* What a thread needs to make sets, one after the other. */
struct fab_fault_maker {
	const struct fab_fault_sets *sets;
	struct fab_faults *faults; /* the set that was made last */
	struct fab_fault_list list;
	size_t *pick;
};
void fab_fault_maker_init(struct fab_fault_maker *m, const struct fab_fault_sets *sets);
void fab_fault_maker_fini(struct fab_fault_maker *m);
/* Set `number`, 0 .. n-1, into m->faults, which is valid until the next call. O(k +
 * ports of what dies), of all sets O(candidates). */
void fab_fault_maker_make(struct fab_fault_maker *m, uint64_t number);

/* n choose k, or UINT64_MAX when it is more. O(k). */
uint64_t fab_faults_combinations(uint64_t n, uint64_t k);
/* Combination `number` of k indices below n, in lexicographic order: pick[0 .. k-1]
 * ascending. O(n). */
void fab_faults_combination(uint64_t number, size_t k, size_t n, size_t *pick);
