/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time until nodes know which of them have failed: a ring of observers, and news that
 * spread over a circulant graph (Bosilca, Bouteiller, Guermouche, Herault, Robert, Sens,
 * Dongarra: Failure detection and propagation in HPC systems, SC 2016).
 *
 * Model. Node i observes node i - 1, around, which sends it a heartbeat each period. If
 * none has arrived for `timeout`, i considers it dead, informs all others, and requests
 * heartbeats from the nearest node before that it does not know to be dead: for the first
 * of those it waits twice the timeout. A node that receives news for the first time sends
 * them to the nodes at distances 1, 2, 4 .. on both sides, sequentially, the farthest
 * first; if the news are about its emitter, it replaces that at once. A message takes
 * `message` and occupies its sender for as long. Failed nodes stay silent; their return
 * is not modelled.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "launch/fence.h"

#include <stdbool.h>

enum {
	FAB_DETECTOR_NODES_MAX = 1 << 22,
	FAB_DETECTOR_FAILURES_MAX = 1 << 10,
	FAB_DETECTOR_PAIRS_MAX = 1 << 26, /* nodes times failures, of 9 bytes */
};

struct fab_detector {
	uint32_t n;	   /* nodes */
	double period_us;  /* eta: between two heartbeats */
	double timeout_us; /* delta: more than period and message together */
	double message_us; /* tau: until a message arrives */
};

struct fab_detection {
	double first_us; /* a node knows of one */
	/* All live nodes know all that failed; INFINITY: some never do, as all nodes that
	 * would inform them have failed. */
	double stable_us;
	double repaired_us; /* the last survivor has a live observer again; 0: there is
			       one survivor, or no observer failed */
	uint64_t news;	    /* messages with news, in all */
	uint32_t most_news; /* of one node */
	double bound_us;    /* proven: see fab_detector_bound_us() */
	bool is_within;
};

/* EINVAL: fewer than two nodes, too many, a timeout not above period and message. O(1).
 */
int fab_detector_check(const struct fab_detector *d, struct fab_err *err) FAB_MUST_CHECK;

/* Microseconds from the first of f failures that overlap until all is known, at most:
 * f (f + 1) timeout + f message + f (f + 1) / 2 * 8 message log2(n). Proven for f below
 * log2(n), rounded down; `is_proven` may be NULL. O(1). */
double fab_detector_bound_us(const struct fab_detector *d, uint32_t f, bool *is_proven);

/*
 * Risk that a node which lives is considered dead. Heartbeats are lost independently, a
 * share `loss`; others are delayed beyond their message by exponentially distributed
 * times of mean `delay_us`. After a heartbeat that came with delay D, the node is
 * suspected if none of those sent a period, two, three .. later arrives within the
 * timeout: the product over all j with j period < D + timeout of
 * loss + (1 - loss) exp(-(D + timeout - j period) / delay), mean over D. Heartbeats that
 * overtake each other are not considered.
 */
struct fab_suspicion {
	double probability; /* for each heartbeat that arrives */
	double every_us; /* mean time between false suspicions among n nodes; INFINITY */
};
/* loss 0 .. below 1, delay_us from 0 to 100 periods: checked by fab_detector_check()'s
 * caller. O(timeout / period), at most 10^5. */
struct fab_suspicion fab_detector_suspicion(const struct fab_detector *d, double delay_us,
					    double loss);
/* A row of the report on a pair of period and timeout: load, speed and risk. */
struct fab_risk_row {
	double heartbeat_s, timeout_s, heartbeats_a_second, detected_s;
	double false_suspicion, false_every_s;
	bool is_present; /* the period and the timeout of the detector */
};
enum { FAB_N_RISKS = 9 };
/* The present pair, the timeout with other periods, the period with other timeouts.
 * EINVAL: a delay above 100 periods. O(1). */
int fab_detector_risks(const struct fab_detector *d, double delay_us, double loss,
		       struct fab_risk_row out[FAB_N_RISKS],
		       struct fab_err *err) FAB_MUST_CHECK;

/* Number of nodes that a node sends news to. O(log n). */
uint32_t fab_detector_degree(uint32_t n);

/*
 * Follow the failures of failed[f], different nodes, f below n, at time 0, when each node
 * sends its last heartbeat. ERANGE: more than FAB_DETECTOR_PAIRS_MAX. O(f n log n).
 */
int fab_detector_run(const struct fab_detector *d, const uint32_t *failed, uint32_t f,
		     struct fab_detection *out, struct fab_err *err) FAB_MUST_CHECK;

/* f failures: adjacent from node 1 on (near), or as far apart as possible. f <= n. O(f).
 */
void fab_detector_place(uint32_t n, uint32_t f, bool is_near, uint32_t *failed);

struct fab_detector_worst {
	uint64_t n_placements; /* followed; none is a rotation of another */
	struct fab_detection worst;
	uint32_t *failed;  /* [f] the placement that takes longest */
	uint64_t n_beyond; /* placements beyond the bound */
};
/* Every placement of f failures, 1 .. n - 1. All is alike from every node, so that a
 * placement takes as long as its rotations: one of each is followed. ERANGE: more than
 * 2^24 placements. O(placements * f n log n). */
int fab_detector_worst(struct fab_arena *memory, const struct fab_detector *d, uint32_t f,
		       struct fab_detector_worst *out,
		       struct fab_err *err) FAB_MUST_CHECK;

/* A row of the report on a placement. The ring of daemons of MPD does not repair itself:
 * it splits where failures are not neighbours. */
struct fab_failure_row {
	const char *placement; /* near, far, worst */
	uint32_t nodes;
	uint64_t failures, news, most_news, placements;
	uint64_t mpd_parts, mpd_largest;	       /* parts; nodes of the largest */
	double first_s, stable_s, repaired_s, bound_s; /* stable_s NaN: never */
	bool within, proven;
};
/* O(n). */
void fab_failure_row_fill(const struct fab_detector *d, const struct fab_detection *x,
			  const uint32_t *failed, uint32_t f,
			  struct fab_failure_row *row);
/* Rows of f failures: near, far, and with is_exhaustive the worst placement. Errors:
 * those of the functions above. */
int fab_detector_table(struct fab_arena *memory, const struct fab_detector *d, uint32_t f,
		       bool is_exhaustive, struct fab_failure_row out[3],
		       struct fab_err *err) FAB_MUST_CHECK;

/*
 * A node that is lost before a fence: which others wait for ever, and the settings of
 * Slurm that end their wait.
 */

/* A fence without one of its nodes. */
struct fab_hang {
	const char *fence;
	/* Of the others, over the nodes that may be lost: those that never end, and
	 * those that wait for the lost one itself, where a trace shows it. */
	uint32_t waiting_least, waiting_most, direct_least, direct_most;
	/* Messages that are still sent before all is silent, as a share of all. */
	double sent_least, sent_most;
};
/*
 * Follow a fence without each of its nodes, or without 64 of them, evenly spread: a node
 * sends the messages of a step when it has received all of earlier steps. Errors: those
 * of fab_fence_plan_make(). O(64 (messages + nodes)), of a ring O(64 nodes).
 */
int fab_hang_find(struct fab_arena *memory, struct fab_fence_chosen fence,
		  const struct fab_fence_job *job, struct fab_hang *out,
		  struct fab_err *err) FAB_MUST_CHECK;

/* A setting that has to do with a lost node, as slurm.conf(5) and mpi.conf(5) of Slurm
 * 22.05 describe it. */
struct fab_hang_setting {
	const char *setting, *file;
	double seconds; /* by the constants; NaN: no time */
	const char *effect;
	bool ends; /* it ends a fence that waits for a lost node */
};
enum { FAB_N_HANG_SETTINGS = 9 };
/* Seconds from the loss until the wait ends: by PMIxTimeout, or by SlurmdTimeout after
 * none to a third of it between two pings; INFINITY: both are 0. O(1). */
void fab_hang_settings(const struct fab_launch_params *params,
		       struct fab_hang_setting out[FAB_N_HANG_SETTINGS], double *least_s,
		       double *most_s);
