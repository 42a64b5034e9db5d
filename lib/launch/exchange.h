/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Direct exchange: a process asks for the data of those that it talks to, when it needs
 * them, in place of a fence that brings all data to all nodes (direct modex, DBCX).
 *
 * Model. A process gets its peers' data in sequence. Data of its own node costs
 * `local_us`; data that its node has already `get_us`. Data that its node lacks is
 * requested from the node of the peer: a server there answers requests one at a time,
 * `serve_us` each, in the order of their arrival; without a queue a process has the data
 * `remote_us` after its request. Processes that need data which their node has requested
 * already wait for that answer, and `get_us`. Without a cache every process asks itself.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/choice.h"
#include "launch/params.h"

enum {
	FAB_PEERS_PROCESSES_MAX = 1 << 27,
	FAB_PEERS_MAX = 1 << 27, /* of all processes together */
	FAB_PEERS_DIMS_MAX = 8,
};

enum fab_peers_kind {
	FAB_PEERS_RING,
	FAB_PEERS_STENCIL,
	FAB_PEERS_RANDOM,
	FAB_PEERS_ALL,
	FAB_PEERS_FILE,
};

struct fab_peers {
	enum fab_peers_kind kind;
	uint32_t n_nodes, ppn, n; /* processes n = n_nodes * ppn */
	/* peer[first[r] .. first[r + 1] - 1]: of process r, none twice, not itself, in
	 * the order in which it asks for them. Both NULL: all others, from the next one
	 * around. */
	uint64_t *first;
	uint32_t *peer;
};

extern const struct fab_choices fab_peers_choices;
/* EINVAL: none of these with its argument; files and sizes are not checked. O(text). */
int fab_peers_check(const char *spec, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Make a graph of peers, whose data a process needs, in `memory`. Process r is on node
 * r / ppn. The grid of stencil:D closes around, its sizes are as equal as possible.
 * EINVAL: no such spec, K above the number of others, 0 nodes or processes; ERANGE: too
 * many processes or peers; errors of files. O(peers).
 */
int fab_peers_make(struct fab_arena *memory, const char *spec, uint32_t n_nodes,
		   uint32_t ppn, uint64_t seed, struct fab_peers *out,
		   struct fab_err *err) FAB_MUST_CHECK;

/*
 * Read a graph: a line for each process, its rank, then the ranks of its peers, separated
 * by blanks or commas; A-B is all from A to B. # begins a comment. A process without a
 * line has no peers; one with several lines has the peers of all. A repeated rank counts
 * once, the process's own rank is ignored. EINVAL with FILE:LINE: a rank that the job
 * does not have, a range backwards, no number. O(len + peers).
 */
int fab_peers_parse(struct fab_arena *memory, const char *file, const char *text,
		    size_t len, uint32_t n_nodes, uint32_t ppn, struct fab_peers *out,
		    struct fab_err *err) FAB_MUST_CHECK;

/* Peers of a process, number i of them, and their mean number. O(1). */
uint32_t fab_peers_degree(const struct fab_peers *peers, uint32_t process);
uint32_t fab_peers_at(const struct fab_peers *peers, uint32_t process, uint32_t i);
double fab_peers_mean_degree(const struct fab_peers *peers);

struct fab_exchange_costs {
	double get_us;	   /* data that is there */
	double local_us;   /* of another process of the node */
	double remote_us;  /* of another node, in an idle system, including serve_us */
	double serve_us;   /* a request at its server */
	double unpack_ns;  /* a byte received by a fence, at a server */
	bool has_no_cache; /* every process asks for itself */
};

/* Of the constants. O(1). */
struct fab_exchange_costs fab_exchange_costs_of(const struct fab_launch_params *params,
						bool has_no_cache);
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

/* An estimate for `degree` random peers of each process: mean numbers; the time is that
 * of the Gets of one process or of one server, whichever is longer. O(1). */
struct fab_exchange fab_exchange_model(uint32_t n_nodes, uint32_t ppn, double degree,
				       const struct fab_exchange_costs *costs);

/* A full fence, to be compared with direct exchange. */
struct fab_exchange_full {
	double fence_us;
	uint64_t bytes; /* a node gives */
};

/* Until processes with `degree` peers have their data, with a fence that collects all:
 * the fence, unpacking, Gets of what is there. O(1). */
double fab_exchange_full_us(uint32_t n_nodes, double degree,
			    const struct fab_exchange_full *full,
			    const struct fab_exchange_costs *costs);
/* d*: the least degree from which the full fence is no slower than direct exchange with
 * random peers (by the model); FAB_NONE: at no possible degree. O(log processes). */
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
