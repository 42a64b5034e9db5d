/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which cables the messages of a fence take through the tables of a fabric, and how full
 * that makes them, step by step.
 */
#pragma once

#include "launch/fence.h"
#include "launch/nodes.h"

/*
 * Cables are directions of cables: the adapters' own ones first (node i sends on i,
 * receives on N + i), then those between switches that any message takes.
 */
struct fab_fence_paths {
	uint32_t n_nodes, n_cables;
	uint64_t *first; /* [messages + 1] into cable */
	uint32_t *cable; /* of a message, from its sender on */
	uint32_t
		*port; /* [n_cables] port of the fabric that sends; FAB_NONE: no fabric */
	/* [n_cables] time of a byte, as a multiple of G: 1 for the fastest adapter cable
	 * of the job and where rates are not told. */
	double *slowness;
};

/*
 * The paths of a plan's messages. nodes NULL: no fabric, a node has a cable to all
 * others, and nothing is shared but that. Hosts on one switch meet there. The caller ends
 * it. EHOSTUNREACH: tables without a path between two nodes, which are named; EINVAL:
 * nodes and plan differ in number. O(columns + messages * hops).
 */
int fab_fence_paths_init(struct fab_fence_paths *paths, const struct fab_fence_plan *plan,
			 const struct fab_launch_nodes *nodes,
			 const struct fab_routes *routes,
			 struct fab_err *err) FAB_MUST_CHECK;
void fab_fence_paths_fini(struct fab_fence_paths *paths);

/* A step, if all its messages were on their way at once. */
struct fab_fence_step {
	uint64_t load;	       /* messages on the fullest direction of a cable */
	uint64_t load_between; /* the same of cables between switches */
	uint32_t cable;	       /* that is the fullest: of struct fab_fence_paths */
	uint64_t n_blocks;     /* the most that a node sends in it */
	uint32_t most_sent, most_received; /* messages of a node */
	/* Blocks * slowness on the cable that takes longest, that a node copies. */
	double wire_blocks, copied_blocks;
};

struct fab_fence_load {
	uint32_t n_steps; /* of the messages: of a ring 1, which is repeated */
	uint32_t n_repeats;
	struct fab_fence_step *step; /* [n_steps] */
	uint64_t max;		     /* load of the fullest step */
	uint64_t max_between;
	/* Wire time with contention over that without: sum of wire_blocks over that of
	 * what nodes send or receive, the most of a step. 1: no contention. NaN: nothing
	 * is sent. */
	double factor;
};

/* The caller ends it. O(messages * hops). */
void fab_fence_load_init(struct fab_fence_load *load, const struct fab_fence_plan *plan,
			 const struct fab_fence_paths *paths);
void fab_fence_load_fini(struct fab_fence_load *load);

/*
 * Microseconds when each step waits for its fullest cable, as a line over the size of a
 * block: fixed + bytes * each. Of ring and bruck steps (2 o + L) + (N - 1) b (F G + C).
 * O(steps).
 */
struct fab_fence_line {
	double fixed_us, byte_us;
};
struct fab_fence_line fab_fence_contended(const struct fab_fence_load *load,
					  const struct fab_launch_costs *costs);
/* At one size. O(1). */
static inline double fab_fence_line_us(struct fab_fence_line line, uint64_t bytes)
{
	return line.fixed_us + line.byte_us * (double)bytes;
}
