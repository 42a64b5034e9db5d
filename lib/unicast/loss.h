/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single losses under shortest paths: only destinations that used the lost part are
 * repaired, and of these only the switches whose entry is no longer a shortest one.
 */
#pragma once

#include "base/arena.h"
#include "fabric/planes.h"
#include "unicast/analysis.h"
#include "unicast/routes.h"

/* State before the loss; read only. */
struct fab_loss_base {
	struct fab_arena arena;
	const struct fab_routes *r;
	uint32_t n_switches, n_rows;
	bool *is_leaf;		  /* [n_switches] */
	uint32_t *hosts;	  /* [n_switches] live ports of host adapters */
	uint64_t n_hosts, n_lids; /* of hosts */
	struct fab_planes *planes;
	uint64_t *plane_hosts, *plane_lids; /* [planes->n_planes] */
	/* switches that are destinations: leaves, and others with hosts */
	uint32_t n_targets, *target;
	uint16_t *dist;	   /* [n_targets * n_switches] 0xffff: no path */
	uint16_t *parents; /* [n_targets * n_switches] live ports of fewest hops */
	/* trees: rows of the tables by the destination that they lead to */
	uint32_t *row_first; /* [n_targets + 1] into row */
	uint32_t *row;	     /* [n_rows] */
	uint32_t *row_lids;  /* [n_rows] LIDs of hosts that use a row */
	/* By switch, then by row in the order of `row`, n_trees of them: one switch is
	 * asked about many rows. What it does with its packets, and the hosts whose path
	 * passes it. */
	uint32_t n_trees;
	uint16_t *port;
	uint32_t *flow;
	uint64_t *load;	 /* [arcs] pairs of hosts */
	uint32_t *count; /* [arcs] LIDs of hosts */
};

/* routes are borrowed. The caller frees it. O(targets * arcs + rows * switches). */
void fab_loss_base_init(struct fab_loss_base *b, const struct fab_routes *routes);
void fab_loss_base_fini(struct fab_loss_base *b);

struct fab_loss_effect {
	uint64_t interrupted; /* pairs of other hosts whose path uses the part */
	uint64_t unreachable; /* pairs of other leaves that have no path any more */
	uint64_t host_pairs;  /* the same in pairs of hosts */
	uint64_t longer;      /* hops more of the pairs of leaves that keep one */
	uint64_t max_load;    /* pairs of hosts on the fullest direction then */
	uint64_t ends, pairs; /* hosts that are left; of these, but across planes */
};

/* Pairs of other hosts whose path uses a live part. O(rows), of a cable O(ports). */
uint64_t fab_loss_interrupted(const struct fab_loss_base *b, struct fab_fault part);

/* Working memory of a thread. The caller frees. */
struct fab_loss_work;
struct fab_loss_work *fab_loss_work_new(const struct fab_loss_base *b);
void fab_loss_work_free(struct fab_loss_work *w);

/*
 * A live part dies. With `rerouted` the tables are those of shortest paths, and max_load
 * is set: a switch that needs another port takes the one of fewest hops with the fewest
 * LIDs. O(targets + LIDs that used it * (its neighbours + hops) + what is cut off).
 */
void fab_loss_try(const struct fab_loss_base *b, struct fab_loss_work *w,
		  struct fab_fault part, bool rerouted, struct fab_loss_effect *out);
