/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nodes of a job: its hosts in a fabric, and the order in which they are numbered.
 * Hosts of other jobs are not in it, and send nothing.
 */
#pragma once

#include "base/arena.h"
#include "base/choice.h"
#include "unicast/routes.h"

enum { FAB_NODE_AXES_MAX = 24 };

/* The order in which nodes are numbered. */
enum fab_node_order_kind {
	FAB_NODES_FABRIC, /* of the hosts of the fabric */
	FAB_NODES_NAME,	  /* by name, numbers in it by value */
	FAB_NODES_SWITCH, /* those of a switch together, near switches too */
	FAB_NODES_RANDOM,
	FAB_NODES_AXES, /* by coordinates of a grid */
};
struct fab_node_order {
	enum fab_node_order_kind kind;
	uint64_t seed;			 /* random */
	uint8_t axis[FAB_NODE_AXES_MAX]; /* axes: the fastest first; numbers of
					    fabric/shape.h, the largest axis is 0 */
	unsigned n_axes;
};
/* Names of the orders. */
extern const struct fab_choices fab_node_order_choices;
/* "fabric", "name", "switch", "random", "axes:1,2,0". `seed` is for random. EINVAL.
 * O(len). */
int fab_node_order_parse(const char *text, uint64_t seed, struct fab_node_order *out,
			 struct fab_err *err) FAB_MUST_CHECK;

struct fab_launch_nodes {
	const struct fab_fabric *f; /* borrowed */
	uint32_t n;
	uint32_t *host;		       /* [n] by number of the node */
	uint32_t *port;		       /* [n] its end port */
	uint32_t *sw;		       /* [n] its switch: leaf of struct fab_fence_job */
	uint32_t n_rails;	       /* of a node, all used */
	struct fab_launch_nodes *next; /* the same hosts by their next rail; NULL */
};
enum { FAB_LAUNCH_RAILS_MAX = 16 };
struct fab_launch_choice {
	/* Hosts of the job [n_hosts]; NULL: all that are alive and have a cable to a
	 * switch. */
	const uint32_t *host;
	uint32_t n_hosts;
	uint32_t n_nodes; /* only the first ones; 0: all of them */
	/* End ports of each host that are used, by the names of its adapters; 0: 1. */
	uint32_t n_rails;
	struct fab_node_order order;
};
/*
 * The nodes of a job, in `memory`. Faults NULL: nothing is dead. EINVAL: more nodes than
 * hosts, no hosts, a repeated host, an order by axes without a grid; ENOTCONN: hosts that
 * are dead or have fewer live cables to switches than rails, or are in parts of the
 * fabric that no live cable joins. O(hosts log hosts + ports).
 */
int fab_launch_nodes_make(struct fab_arena *memory, const struct fab_fabric *f,
			  const struct fab_faults *faults,
			  const struct fab_launch_choice *choice,
			  struct fab_launch_nodes *out,
			  struct fab_err *err) FAB_MUST_CHECK;
