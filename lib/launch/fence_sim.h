/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fence followed through time, message by message, over the paths of the fabric's
 * tables.
 *
 * Model. A node's processor does one thing at a time, in the order in which it is asked:
 * o for each message to send, o + bytes * C for each that has come. Then the message goes
 * to the node's cable, and from cable to cable. A cable carries one message at a time, in
 * the order in which their heads come to it; a message is not stored on its path (cut-
 * through): its head goes on as soon as the next cable is free, its tail is there no
 * sooner than on the cable before; a cable that is faster carries others meanwhile.
 * Buffers are endless. L later than its tail the receiver has it. When a node has all
 * messages of its earlier steps, it sends those of the next one.
 * With messages in pieces, pieces of several messages take turns on a cable: the smaller
 * the pieces, the nearer to packets.
 *
 * Without contention it is the closed form, of every algorithm. With it, beside packets
 * through switches with output queues (fence_packets.h): the same where no cable is
 * shared. Where some are, packets of all messages take turns, whole messages do not: the
 * first ones are there sooner, and their receivers go on while others wait. So packets
 * took 1.00 to 1.07 times as long of ring, 1.00 to 1.10 of trees, 0.97 to 1.09 of leaf,
 * 0.92 to 1.21 of bruck and 0.93 to 1.14 of recdbl, on 17 tori, trees (tapered, too),
 * dragonflies and random graphs, 64 B to 16 KiB a node, nodes in order and by chance; in
 * 16 pieces 0.91 to 1.11 of all. Switches with input queues take up to 20 % longer.
 *
 * Times are whole ticks (fence_ticks.h).
 */
#pragma once

#include "launch/fence_paths.h"

enum { FAB_FENCE_PIECES_MAX = 64 };

struct fab_fence_sim_options {
	/* Pieces that a message is cut into, 1 .. FAB_FENCE_PIECES_MAX; 0: 1. */
	uint32_t n_pieces;
	/* Messages entering cables, at most; 0: 2^26. Of a ring that would have more only
	 * the first 64 rounds are followed, to see whether it is symmetric. */
	uint64_t max_events;
	/* Go through all repeats of a plan even when they repeat to the tick. */
	bool without_symmetry;
};

struct fab_fence_sim {
	double us; /* until the last node has all; NaN: not known (is_cut) */
	uint64_t events;
	uint32_t n_followed; /* repeats of the plan that were followed */
	/* The last ones that were followed took the same time on every node, to the tick;
	 * so do all that come. */
	bool by_symmetry;
	bool is_cut; /* there were more events than max_events */
};

/* `contended`: fab_fence_contended() of plan, paths and costs. ERANGE: it would take
 * longer than can be counted. O(messages * hops * log messages). */
int fab_fence_simulate(const struct fab_fence_plan *plan,
		       const struct fab_fence_paths *paths,
		       struct fab_fence_line contended, const struct fab_fence_job *job,
		       const struct fab_fence_sim_options *options,
		       struct fab_fence_sim *out, struct fab_err *err) FAB_MUST_CHECK;
