/* SPDX-License-Identifier: BSD-2-Clause */
/* Prices of servers, NICs and uplinks, and the cheapest machine that boots in time. */
#pragma once

#include "boot/transfer.h"

enum { FAB_PRICES_MAX = 64 };

/* A NIC of a server, or one of the links that a segment of a level consists of. */
struct fab_price {
	uint32_t level; /* of an uplink; of a NIC FAB_NONE */
	double mbps, price;
};

struct fab_prices {
	double server; /* each, without its NIC */
	uint32_t n_nics, n_uplinks;
	struct fab_price nic[FAB_PRICES_MAX], uplink[FAB_PRICES_MAX];
	double efficiency; /* that the capacities of the machine are scaled by */
};

/*
 * Lines `server PRICE`, `nic RATE PRICE` and `uplink LEVEL RATE PRICE` (unit or segment
 * of a level between nodes and servers), # comments; one server and a nic at least.
 * EINVAL: file and line, what was expected. O(len).
 */
int fab_prices_read(const struct fab_machine *m, const char *file, const char *text,
		    size_t len, struct fab_prices *out,
		    struct fab_err *err) FAB_MUST_CHECK;

/* Uplinks of one level of a plan. */
struct fab_cost_uplinks {
	uint32_t level, n;   /* links of each segment */
	uint32_t n_segments; /* that reach a node of the batch or a server */
	double mbps, price;  /* of one link */
};

/*
 * A plan: n servers, as even as possible over the places where servers hang now (those
 * earlier in the tree have one more), each with the same NIC, and the same links on each
 * segment of a level with prices that reaches a node of the batch or a server. Levels
 * without prices stay and cost nothing.
 */
struct fab_cost_plan {
	uint32_t n_servers;
	double nic_mbps;
	uint32_t n_levels;
	struct fab_cost_uplinks uplinks[FAB_MACHINE_LEVELS_MAX];
	double cost;
	double seconds; /* by the best mapping and equal shares */
	bool is_exact;	/* no plan is cheaper; false: the search was cut */
};

/*
 * The cheapest plan that boots the batch in `seconds`, by equal shares under the limits
 * of the machine (hashed links are taken for pipes); of equal costs the first found. `m`
 * has its limits applied. False: no plan does.
 *
 * Kinds of NICs and numbers of servers are gone through; with fixed ones each level needs
 * some links even where all others have most, and the first of the vectors from there on,
 * by cost, that is enough is the cheapest, as more links never hurt. Numbers of servers
 * end where they alone cost as much as a plan that was found. O(NICs * (servers tried) *
 * levels * log(links) * fab_mapping_attains()).
 */
bool fab_cost_cheapest(const struct fab_machine *m, const struct fab_batch *batch,
		       const struct fab_transfer_options *options,
		       const struct fab_prices *prices, double seconds,
		       struct fab_cost_plan *out);

/*
 * Cost against time: the cheapest plan of all, then the cheapest at half of its time and
 * so on, at most `most` of them, each quicker and more expensive than the one before.
 * Returns the number. As fab_cost_cheapest() for each.
 */
uint32_t fab_cost_frontier(const struct fab_machine *m, const struct fab_batch *batch,
			   const struct fab_transfer_options *options,
			   const struct fab_prices *prices, uint32_t most,
			   struct fab_cost_plan *out);
