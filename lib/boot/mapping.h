/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which server interface boots which node: mapping algorithms in one table.
 *
 * A mapping is interface_of[node] for all nodes of the machine, FAB_NONE for a node that
 * has none: only `loaded` leaves nodes out, those that the file does not name and those
 * whose server is down. Interfaces of servers that are down are never given. Segments and
 * limits count as boot/share.h has them.
 */
#pragma once

#include "base/choice.h"
#include "boot/batch.h"

struct fab_transfer_options;

/* Batches that `balanced` is best for. */
enum fab_mapping_purpose {
	FAB_FOR_BATCH, /* the batch at hand; other batches may take as long as they like
			*/
	FAB_FOR_ALL,   /* the whole machine */
	FAB_FOR_PREFIXES, /* the first nodes, however many, by one mapping */
	FAB_N_PURPOSES,
};

struct fab_mapping_problem {
	const struct fab_machine *m;
	const struct fab_batch *batch; /* the batch at hand: for `balanced` */
	uint32_t argument;	       /* of the algorithm: N of block:N */
	const uint32_t *loaded;	       /* [n_nodes] what a site has now, or NULL */
	/* [n_servers] servers that were down before something changed; NULL: as now */
	bool *was_down;
	enum fab_mapping_purpose purpose;
	/* by max-min: transfers through time, where these can end later than by equal
	 * shares (fab_transfer_is_timed()); NULL: by equal shares */
	const struct fab_transfer_options *timed;
	uint64_t seed;
};

/* Fill interface_of [n_nodes]. */
typedef int fab_map_nodes(const struct fab_mapping_problem *problem,
			  uint32_t *interface_of, struct fab_err *err);

struct fab_mapping_engine {
	const char *form; /* "scda"; with a number as argument "block:N" */
	const char *summary;
	const char *manual; /* as struct fab_choice has it */
	bool needs_loaded;
	bool keeps;	   /* starts from what was before: `loaded` */
	bool is_for_batch; /* the answer depends on the batch, and on the purpose */
	bool is_in_all;
	fab_map_nodes *map;
};

extern const struct fab_mapping_engine fab_mapping_engines[];
extern const size_t fab_mapping_n_engines;
extern const struct fab_choices fab_mapping_choices; /* the same, by name */

/* One chosen algorithm: "block:16". */
struct fab_mapping_choice {
	const struct fab_mapping_engine *engine;
	uint32_t argument;
	char name[32];
};
/* As fab_choices_parse() gives it. EINVAL: the argument is no number of nodes. O(1). */
int fab_mapping_choose(const struct fab_chosen *chosen, struct fab_mapping_choice *out,
		       struct fab_err *err) FAB_MUST_CHECK;

/*
 * A mapping that a site has now: lines `NODE SERVER` (blank or comma between), #
 * comments; names as in boot/machine.h, NODE also a host list or pattern, SERVER a
 * server or interface. EINVAL, ENOENT: file and line, unknown node or server, a node
 * twice with other servers. Nodes not named get FAB_NONE. interface_of [n_nodes] is the
 * caller's. O(bytes + nodes).
 */
int fab_mapping_read(const struct fab_machine *m, const char *file, const char *text,
		     size_t len, uint32_t *interface_of,
		     struct fab_err *err) FAB_MUST_CHECK;

/*
 * Give an interface to each node of the batch that has none (FAB_NONE), so that the
 * slowest node of the batch gets the most that is possible by equal shares while all
 * others keep theirs; where images differ, one by one, those with the largest first. As
 * fab_mapping_upper_bound_mbps(), and O(batch * levels).
 */
void fab_mapping_complete(const struct fab_machine *m, const struct fab_batch *batch,
			  uint32_t *interface_of);

/*
 * The most that any mapping gives the slowest node of the batch (Mb/s) by equal shares,
 * limits included: that of `balanced`. Where images differ an upper bound of
 * fab_share_pace(), also by max-min while all nodes start at once. O(vertices *
 * log(nodes)), with servers of several interfaces that have a limit in common as many
 * maximum flows.
 */
double fab_mapping_upper_bound_mbps(const struct fab_machine *m,
				    const struct fab_batch *batch);

/* Does a mapping give every node of the batch `mbps` by equal shares, whatever its image?
 * As one step of fab_mapping_upper_bound_mbps(). */
bool fab_mapping_attains(const struct fab_machine *m, const struct fab_batch *batch,
			 double mbps);

/*
 * A second server for each node of the batch, for the loss of any one server: where its
 * nodes go so that the slowest node gets the most while all others keep theirs.
 */
struct fab_seconds {
	uint32_t n_losses;     /* servers with nodes */
	uint32_t n_at_bound;   /* of these: no mapping gives the slowest node more */
	uint32_t worst_server; /* by whose loss the slowest node gets the least */
	double bandwidth_mbps; /* of the slowest node then, by fab_share_pace() */
	double bound_mbps;     /* the most that any mapping gives it then */
	uint32_t most_nodes;   /* on one server after any loss */
	uint32_t even_nodes;   /* nodes / servers left, rounded up */
};
/*
 * second_of[n_nodes] is the caller's; FAB_NONE outside of the batch. EINVAL: a node
 * without a server, one server only. O(servers * fab_mapping_complete()).
 */
int fab_mapping_seconds(const struct fab_machine *m, const struct fab_batch *batch,
			const uint32_t *interface_of, uint32_t *second_of,
			struct fab_seconds *out, struct fab_err *err) FAB_MUST_CHECK;

/*
 * By a simpler path: every node of the batch has an interface of a server that is up.
 * EINVAL with the first node that has not. O(batch).
 */
int fab_mapping_verify(const struct fab_machine *m, const struct fab_batch *batch,
		       const uint32_t *interface_of, struct fab_err *err) FAB_MUST_CHECK;
