/* SPDX-License-Identifier: BSD-2-Clause */
/* A fence on a fabric, for any size of blocks: prepared once, timed often. */
#pragma once

#include "launch/fence_sim.h"

/* An algorithm with all that does not depend on the size of a block. */
struct fab_fence_setup {
	struct fab_fence_chosen chosen; /* as asked for */
	struct fab_fence_chosen is;	/* what it stands for */
	struct fab_fence_job job;	/* borrows leaf */
	struct fab_fence_plan plan;
	struct fab_fence_paths paths;
	struct fab_fence_load load;
	struct fab_fence_line contended; /* each step waits for its fullest cable */
};

struct fab_fence_time {
	double model_us;     /* without contention */
	double contended_us; /* of the line over bytes */
	double simulated_us; /* NaN: not known, too many events, or nobody asked */
	struct fab_fence_sim sim;
};

/*
 * Prepare a fence that is not `auto`; job->bytes decides what slurm-auto stands for. The
 * caller ends it, and keeps job->leaf. nodes NULL: no fabric, no contention. Errors:
 * those of fab_fence_plan_make() and fab_fence_paths_init(). O(messages * hops).
 */
int fab_fence_setup_init(struct fab_fence_setup *setup, struct fab_fence_chosen chosen,
			 const struct fab_fence_job *job,
			 const struct fab_launch_nodes *nodes,
			 const struct fab_routes *routes,
			 struct fab_err *err) FAB_MUST_CHECK;
/* Zeroed is allowed. O(size). */
void fab_fence_setup_fini(struct fab_fence_setup *setup);

/* How long it takes with blocks of so many bytes; options NULL: not simulated. Errors:
 * those of fab_fence_simulate(), and its time. May be called by several threads for one
 * setup. */
int fab_fence_setup_time(const struct fab_fence_setup *setup, uint64_t bytes,
			 const struct fab_fence_sim_options *options,
			 struct fab_fence_time *out, struct fab_err *err) FAB_MUST_CHECK;

/* The time that counts: simulated, else of the contended line. O(1). */
double fab_fence_best_known_us(const struct fab_fence_time *time);

/*
 * Bytes from which on `b` is no slower than `a` by simulation, up to `most`, to one part
 * in 1000; INFINITY: at no size up to there; 0: at 1 byte already. By halving: where the
 * times cross several times it is one of these sizes. Errors: those of the simulation,
 * EOVERFLOW: one of them is not known. O(simulation * log most).
 */
int fab_fence_crossing_simulated(const struct fab_fence_setup *a,
				 const struct fab_fence_setup *b, uint64_t most,
				 const struct fab_fence_sim_options *options,
				 double *bytes, struct fab_err *err) FAB_MUST_CHECK;

/* Whom `auto` tries, in this order. */
extern const struct fab_fence_chosen fab_fence_candidates[];
extern const size_t fab_n_fence_candidates;
