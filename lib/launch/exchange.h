/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Direct exchange: a process asks for the data of those that it talks to, when it needs
 * them, in place of a fence that brings all data to all nodes (direct modex, DBCX).
 *
 * Model. A process gets its peers' data one after the other. Data of its own node costs
 * `local_us`; data that its node has already `get_us`. What its node lacks is asked for
 * at the node of the peer: a server there answers requests one by one, `serve_us` each,
 * in the order in which they come; without a queue a process has it `remote_us` after it
 * asked. Processes that want what their node has asked for already wait for that answer,
 * and `get_us`. Without a cache every process asks itself.
 */
#pragma once

#include "launch/peers.h"

struct fab_exchange_costs {
	double get_us;	   /* data that is there */
	double local_us;   /* of another process of the node */
	double remote_us;  /* of another node, in an idle system, serve_us included */
	double serve_us;   /* of a server, a request */
	double unpack_ns;  /* a server, a byte that a fence has brought */
	bool has_no_cache; /* of a node */
};

/* EINVAL: negative, no number, remote_us below serve_us. O(1). */
int fab_exchange_costs_check(const struct fab_exchange_costs *costs,
			     struct fab_err *err) FAB_MUST_CHECK;

struct fab_exchange {
	uint64_t gets;		/* of all processes */
	uint64_t local;		/* of these: of the own node */
	uint64_t requests;	/* between nodes */
	uint64_t shared;	/* answered by what another process had asked for */
	uint64_t most_served;	/* requests of the server that has most */
	uint32_t busiest;	/* its node */
	double total_us;	/* until the last process has all */
	double mean_us;		/* of a process */
	double longest_wait_us; /* of a request, before it is served */
	double busy_share;	/* of the time, of the busiest server; NaN: total is 0 */
	bool is_model;		/* too many Gets to follow: total_us and mean_us by
				   fab_exchange_model(), longest_wait_us NaN */
};

enum { FAB_EXCHANGE_GETS_MAX = 1 << 24 }; /* that are followed one by one */

/* Follow all Gets; start at time 0 together. EINVAL: costs. O(gets log processes). */
int fab_exchange_run(const struct fab_peers *peers,
		     const struct fab_exchange_costs *costs, struct fab_exchange *out,
		     struct fab_err *err) FAB_MUST_CHECK;

/*
 * The same for peers by chance, `degree` of each process, without following them: mean
 * numbers; the time is that of the Gets of one process or that of one server, whichever
 * is longer. O(1).
 */
struct fab_exchange fab_exchange_model(uint32_t n_nodes, uint32_t ppn, double degree,
				       const struct fab_exchange_costs *costs);

/* What a full fence costs a job, beside the fence itself. */
struct fab_exchange_full {
	double fence_us;   /* with data */
	double barrier_us; /* an empty one: what direct exchange takes in its
			      place; 0: none */
	uint64_t bytes;	   /* a node gives */
};

/* Until processes with `degree` peers have their data, with a fence that collects all:
 * the fence, unpacking, Gets of what is there. O(1). */
double fab_exchange_full_us(uint32_t n_nodes, double degree,
			    const struct fab_exchange_full *full,
			    const struct fab_exchange_costs *costs);
/*
 * d*: the least degree from which the full fence is no slower than direct exchange with
 * peers by chance (by the model); FAB_NONE: at no degree there can be. O(log processes).
 */
uint32_t fab_exchange_crossing(uint32_t n_nodes, uint32_t ppn,
			       const struct fab_exchange_full *full,
			       const struct fab_exchange_costs *costs);

/* Bytes that a node keeps when a node gives `bytes`: the whole job's; with a copy for
 * each process (PMI-1) times ppn; what direct exchange brings. O(1). */
struct fab_exchange_memory {
	double full, full_each, direct;
};
struct fab_exchange_memory fab_exchange_memory(uint32_t n_nodes, uint32_t ppn,
					       uint64_t bytes,
					       const struct fab_exchange *exchange);
