/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts that die while packets are under way, and what follows.
 *
 * At a time switches and cables die. Packets in dead switches and with their heads on
 * dead cables are lost, and so is all that is sent to them: their neighbours send on as
 * long as they have credits, which do not come back. After the detection delay the
 * neighbours know that their ports are down: what waits for these ports, and what comes
 * for them from then on, is dropped as in InfiniBand, or handed on by local dodging
 * (unicast/reliability.h); hosts that are cut off send no more. A trap tells the subnet
 * manager, which computes tables and writes them in blocks of 64 destinations, switch by
 * switch in the order of their numbers, those blocks alone that change. A switch forwards
 * by its new table when its last block is written. When all are, hosts know the new
 * service levels, and which hosts are cut off.
 *
 * With dodging the lane of a hop follows from its phase (row, column, row, column; lanes
 * 0, 0, 1, 1), whatever the table: phases of a packet ascend, and channels of one phase
 * lead up to a line's switch, then down, so there is no cycle, whichever tables and
 * detours are mixed. A packet that would need more phases is dropped.
 */
#pragma once

#include "base/choice.h"
#include "base/mem.h"
#include "fabric/kfat.h"
#include "unicast/routes.h"

enum fab_sim_dodge { FAB_SIM_DODGE_NONE, FAB_SIM_DODGE_LISTS, FAB_SIM_DODGE_SEARCH };
extern const struct fab_choices fab_sim_dodge_choices; /* none, lists, search */

/* A mean latency up to this factor above that before the failure counts as recovered. */
#define FAB_SIM_CALM 1.1

/* All is borrowed. Times are ticks. */
struct fab_sim_failure {
	const struct fab_faults *dead;	/* that die, and those that were dead before */
	const struct fab_routes *after; /* the tables that come */
	const struct fab_kfat *kfat;	/* for dodging */
	enum fab_sim_dodge dodge;	/* of at most two dead leaf switches */
	uint64_t at;			/* from the begin of the measured time on */
	uint64_t detection;		/* after that; UINT64_MAX: never */
	uint64_t trap, computation; /* the second after the first, after the detection */
	uint64_t block;		    /* to write a block of a table */
	uint64_t interval;	    /* of the moments of the result, > 0 */
};

/* Can packets dodge around what dies: one or two leaf switches of a kfat of two
 * dimensions with one level of switches in its lines (kfat NULL: of none)? O(switches).
 */
bool fab_sim_can_dodge(const struct fab_kfat *kfat, const struct fab_faults *dead);

/* An interval of the measured time. */
struct fab_sim_moment {
	uint64_t packets, bytes;	    /* delivered */
	uint64_t latency_sum, latency_most; /* of these */
	uint64_t lost;			    /* of live hosts */
};

/* Times are ticks after the begin of the measured time; UINT64_MAX: not in the run. */
struct fab_sim_recovery {
	bool has_failed;
	uint64_t failed, noticed, first_table, last_table;
	/* Packets: in what died, or sent to it before the neighbours knew; at ports that
	 * are known to be down, without a way around. Others without an entry count as
	 * unroutable, and those that hosts did not send as lost. */
	uint64_t lost_dead, lost_down;
	uint64_t lost_live;	   /* of all: from and to hosts that are not cut off */
	uint64_t last_loss;	   /* of these */
	uint64_t dodged;	   /* packets that a switch handed to another leaf */
	uint64_t switches, blocks; /* of tables that change */
	uint64_t cut_ends;	   /* endpoints */
	/* Mean latencies: before, the highest of an interval after, and that of the last
	 * fifth of the measured time, where all tables are changed; NaN: none. */
	double latency_before, latency_peak, latency_after;
	/* From the failure until nothing is lost of live hosts any more, and no interval
	 * has a mean latency 10 % above the highest before the failure, or latency_after;
	 * UINT64_MAX: not in the measured time. */
	uint64_t recovered;
	uint64_t interval;
	FAB_VEC(struct fab_sim_moment) moments;
};

struct fab_sim_problem;
/*
 * Can packets wait for each other in a circle while some switches have the tables before
 * and others those after, and packets have the service levels of either? Every entry that
 * a packet can meet on its way counts. O(rows * levels * channels). Dodging: false.
 */
bool fab_sim_mixed_has_cycle(const struct fab_sim_problem *problem);
