/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nodes of a job: which hosts of a fabric it has, and in which order they are
 * numbered. Hosts of other jobs are not in it, and send nothing.
 */
#pragma once

#include "base/choice.h"
#include "unicast/routes.h"

enum { FAB_NODE_AXES_MAX = 24 };

/* The order in which nodes are numbered. */
enum fab_node_order_kind {
	FAB_NODES_FABRIC, /* as the fabric has its hosts */
	FAB_NODES_NAME,	  /* by name, numbers in it by value */
	FAB_NODES_SWITCH, /* those of a switch side by side, near switches too */
	FAB_NODES_RANDOM,
	FAB_NODES_AXES, /* by coordinates of a grid */
};

struct fab_node_order {
	enum fab_node_order_kind kind;
	uint64_t seed;			 /* random */
	uint8_t axis[FAB_NODE_AXES_MAX]; /* axes: the fastest first; as fabric/shape.h
					    numbers them, the largest is 0 */
	unsigned n_axes;
};

/* Their names, forms with arguments: "axes:A,B,..". */
extern const struct fab_choices fab_node_order_choices;
/* "fabric", "name", "switch", "random", "axes:1,2,0". EINVAL. `seed` is for random.
 * O(len). */
int fab_node_order_parse(const char *text, uint64_t seed, struct fab_node_order *out,
			 struct fab_err *err) FAB_MUST_CHECK;

struct fab_launch_nodes {
	const struct fab_fabric *f; /* borrowed */
	uint32_t n;
	uint32_t *host; /* [n] by number of the node */
	uint32_t *port; /* [n] its end port */
	uint32_t *sw; /* [n] the switch that it hangs on: leaf of struct fab_fence_job */
};

struct fab_launch_choice {
	/* Hosts of the job [n_hosts]; NULL: all that are alive and have a cable to a
	 * switch. */
	const uint32_t *host;
	uint32_t n_hosts;
	uint32_t n_nodes; /* only so many, the first ones; 0: all of them */
	struct fab_node_order order;
};

/*
 * The nodes of a job. Faults NULL: nothing is dead. The caller ends it. EINVAL: more
 * nodes than hosts, none at all, a host twice, an order by axes on what is no grid;
 * ENOTCONN: hosts that are dead or have no cable to a switch; hosts in parts of the
 * fabric that no live cable joins, of which the sentence names some. O(hosts log hosts +
 * ports).
 */
int fab_launch_nodes_init(struct fab_launch_nodes *nodes, const struct fab_fabric *f,
			  const struct fab_faults *faults,
			  const struct fab_launch_choice *choice,
			  struct fab_err *err) FAB_MUST_CHECK;
void fab_launch_nodes_fini(struct fab_launch_nodes *nodes);
