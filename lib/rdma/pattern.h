/* SPDX-License-Identifier: BSD-2-Clause */
/* Who transfers to whom, by a spec: NAME, or NAME:ARGUMENT. */
#pragma once

#include "fabric/kfat.h"
#include "rdma/rdma.h"

/* What a pattern is made for. */
struct fab_rdma_pattern_problem {
	const struct fab_fabric *f;
	const struct fab_kfat *kfat; /* NULL: it is none */
	const struct fab_flow_ends *ends;
	uint64_t bytes;	  /* of a transfer; files have their own */
	uint32_t repeats; /* transfers of each pair, >= 1; files: of each line */
	bool is_read;
	uint64_t seed; /* of what is left to chance */
};

struct fab_rdma_transfers {
	FAB_VEC(struct fab_rdma_transfer) of;
	/* of a trace: lines left out, to their own source or without bytes; of a
	 * connection matrix: priorities, which count for nothing */
	uint64_t n_left_out, n_priorities;
};

struct fab_rdma_pattern {
	const char *form; /* "incast:K" */
	const char *summary;
	const char *manual;		      /* as struct fab_choice has it */
	bool argument_is_optional, has_sizes; /* of its own */
	/* Is this an argument? Without looking at the fabric. NULL: it takes none. EINVAL
	 * with what was expected. */
	int (*check)(const char *argument, struct fab_err *err);
	int (*make)(const struct fab_rdma_pattern_problem *p, const char *argument,
		    struct fab_rdma_transfers *out, struct fab_err *err);
};

extern const struct fab_choices fab_rdma_pattern_choices;
/* The pattern of a well-formed spec, and its argument ("" without one). EINVAL with one
 * sentence. Without looking at the fabric. O(spec). */
int fab_rdma_pattern_check(const char *spec, const struct fab_rdma_pattern **pattern,
			   const char **argument, struct fab_err *err) FAB_MUST_CHECK;
/* Are the transfers of a well-formed spec drawn by the seed, one of many such sets?
 * O(spec). */
bool fab_rdma_pattern_is_drawn(const char *spec);
/*
 * The transfers, in an order that is the same for the same spec and fabric. The caller
 * frees out->of.v. EINVAL, ENOENT, EIO: one sentence, of a file with its line; EINVAL
 * also when there is nothing to transfer, or more than FAB_RDMA_TRANSFERS_MAX. O(ends +
 * transfers), pair O(switches^2), files O(bytes).
 */
int fab_rdma_pattern_make(const char *spec, const struct fab_rdma_pattern_problem *p,
			  struct fab_rdma_transfers *out,
			  struct fab_err *err) FAB_MUST_CHECK;
