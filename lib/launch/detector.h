/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How soon nodes know which of them have failed: a ring of observers, and news that go
 * over a circulant graph (Bosilca, Bouteiller, Guermouche, Herault, Robert, Sens,
 * Dongarra: Failure detection and propagation in HPC systems, SC 2016); and the ring of
 * daemons of MPD, which does not mend itself.
 *
 * Model. Node i observes node i - 1, around, which sends it a heartbeat each period. When
 * none has come for `timeout`, i takes it for dead, tells all others, and asks the next
 * one before that it does not know to be dead for heartbeats: for the first of those it
 * waits twice the timeout. Who hears news for the first time sends them to the nodes at
 * distances 1, 2, 4 .. on both sides, the farthest first, one after the other; who hears
 * that the node it observes is dead goes on to the next one at once. A message takes
 * `message` and occupies its sender as long. Failed nodes say nothing more;
 * that they come back is not modelled.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

enum {
	FAB_DETECTOR_NODES_MAX = 1 << 22,
	FAB_DETECTOR_FAILURES_MAX = 1 << 10,
	FAB_DETECTOR_PAIRS_MAX = 1 << 26, /* nodes times failures, of 9 bytes */
};

struct fab_detector {
	uint32_t n;	   /* nodes */
	double period_us;  /* eta: between two heartbeats */
	double timeout_us; /* delta: more than period and message together */
	double message_us; /* tau: until a message is there */
};

struct fab_failure {
	uint32_t node;
	double time_us;
};

struct fab_detection {
	double first_us; /* a node knows of one */
	/* All nodes that live know all that failed; INFINITY: some never do, as all that
	 * would tell them have failed. */
	double stable_us;
	double repaired_us; /* the last survivor has an observer that lives; 0: it is
			       alone, or nobody lost his */
	uint64_t news;	    /* messages with news, in all */
	uint32_t most_news; /* of one node */
	double bound_us;    /* proven: see fab_detector_bound_us() */
	bool is_within;
};

/* EINVAL: fewer than two nodes, too many, a timeout not above period and message. O(1).
 */
int fab_detector_check(const struct fab_detector *d, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Microseconds from the first of f failures that overlap until all is known, at most:
 * f (f + 1) timeout + f message + f (f + 1) / 2 * 8 message log2(n). Proven for f below
 * log2(n), rounded down; `is_proven` NULL: who does not ask. O(1).
 */
double fab_detector_bound_us(const struct fab_detector *d, uint32_t f, bool *is_proven);

/* Heartbeats that a node sends in a second; it receives as many. O(1). */
double fab_detector_heartbeats(const struct fab_detector *d);
/* Nodes that a node sends news to. O(log n). */
uint32_t fab_detector_degree(uint32_t n);

/*
 * Follow failures. Times from 0; heartbeats are sent at the multiples of the period, the
 * last one at the moment of failing. EINVAL: as check, a node that there is not or twice,
 * nobody left, too many failures, a time that is none; ERANGE: more than
 * FAB_DETECTOR_PAIRS_MAX. O(f n log n).
 */
int fab_detector_run(const struct fab_detector *d, const struct fab_failure *failures,
		     uint32_t f, struct fab_detection *out,
		     struct fab_err *err) FAB_MUST_CHECK;

/* f failures at time 0: side by side from node 1 on (near), or as far apart as can be. f
 * <= n. O(f). */
void fab_detector_place(uint32_t n, uint32_t f, bool is_near,
			struct fab_failure *failures);

struct fab_detector_worst {
	uint64_t n_placements; /* that were followed: no two turn into each other */
	struct fab_detection worst;
	struct fab_failure *failures; /* [f] the placement that takes longest */
	uint64_t n_beyond;	      /* placements beyond the bound */
};

/*
 * Every placement of f failures at one time. The ring, the graph of the news and the
 * order in which they are sent are the same from every node, so that a placement takes as
 * long as any that is turned out of it: one of each is followed. The caller frees
 * out->failures. ERANGE: more than 2^24 placements. O(placements * f n log n).
 */
int fab_detector_worst(const struct fab_detector *d, uint32_t f,
		       struct fab_detector_worst *out,
		       struct fab_err *err) FAB_MUST_CHECK;

/* Nodes first .. last, around, that are still joined. */
struct fab_ring_part {
	uint32_t first, last, n;
};
struct fab_ring_parts {
	FAB_VEC(struct fab_ring_part) of; /* by `first` */
};
/*
 * What is left of a ring of n daemons (MPD) when some have failed: with none or one it is
 * in one part, as with any that are neighbours; else each gap parts it. The caller frees
 * out->of.v. EINVAL: a node that there is not, or twice. O(n).
 */
int fab_mpd_parts(uint32_t n, const uint32_t *failed, uint32_t f,
		  struct fab_ring_parts *out, struct fab_err *err) FAB_MUST_CHECK;
