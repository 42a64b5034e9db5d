/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes that make booting faster: servers, capacities. */
#pragma once

#include "boot/mapping.h"
#include "boot/transfer.h"

/* How many servers a time takes. */
struct fab_servers_needed {
	uint32_t n;	/* 0: no number of servers is enough, something else limits */
	uint32_t n_up;	/* servers that are up */
	uint32_t n_new; /* of n, those beyond the ones that are up: to be bought */
	/* fewer cannot send all images in the time, with images of several sizes; else n
	 */
	uint32_t n_least;
	/* servers have several interfaces: n are enough, fewer may do */
	bool is_estimate;
	/* images differ, and n is 0: whether any number is enough is not known */
	bool is_unknown;
};

/*
 * The fewest servers with which the best mapping boots the batch in `seconds` by equal
 * shares, where images differ as if all were the largest: of those that are up, else all
 * of them and new ones that are like the median one and hang where servers hang. The
 * limits of the machine count (boot/share.h), and the time of requests. Exact but for
 * is_estimate: between n_least and n. O(vertices log
 * servers), for an estimate O(servers * fab_mapping_attains()).
 */
struct fab_servers_needed fab_advice_servers(const struct fab_machine *m,
					     const struct fab_batch *batch,
					     const struct fab_transfer_options *options,
					     double seconds);

struct fab_advice {
	uint32_t levels;       /* bit l: level l; fab_limit_bit(): a limit */
	double bandwidth_mbps; /* of the slowest node by `balanced` */
	double seconds;	       /* until the last node is done with it */
};

enum { FAB_ADVICE_MAX = FAB_MACHINE_LEVELS_MAX + 4 };

/*
 * Each level with a capacity, and each limit that the machine has: `balanced` is run on
 * the machine with all of it twice as fast, and measured by equal shares, with
 * problem->timed by transfers through time. Where none alone helps, also those that have
 * to be raised together. out: [FAB_ADVICE_MAX]; *n of them, the greatest gain first, of
 * equal ones the level with the fewest segments. EINVAL as fab_transfer_run(). O(levels *
 * (balanced + transfers)).
 */
int fab_advice_raise(const struct fab_mapping_problem *problem,
		     const struct fab_transfer_options *options, struct fab_advice *out,
		     uint32_t *n, struct fab_err *err) FAB_MUST_CHECK;
