/* SPDX-License-Identifier: BSD-2-Clause */
/* What the loss of one more switch or link costs. */
#pragma once

#include "unicast/analysis.h"
#include "unicast/engine.h"

struct fab_loss {
	struct fab_fault part;
	bool is_leaf;	      /* a switch with a column */
	uint64_t pairs;	      /* of hosts whose path uses it now */
	uint64_t interrupted; /* of these, pairs of other hosts: until rerouted */
	bool is_tried;	      /* the others are known */
	/* pairs of other leaves that had a path and lose it when routed anew; of tables
	 * that nobody makes anew: pairs */
	uint64_t unreachable;
	uint64_t unreachable_rerouted; /* pairs of other hosts, routed anew */
	uint64_t longer;	       /* hops more of pairs that keep a path, added up */
	double load; /* fullest direction when every host sends to every other, in what
			one host sends */
};

struct fab_losses {
	FAB_VEC(struct fab_loss) of;
};

/* How far it is; a thread at a time calls it. */
struct fab_losses_progress {
	int (*tick)(void *context, uint64_t done, uint64_t total); /* NULL: nobody asks */
	void *context;
};

/*
 * For each live switch and link between switches: the pairs on it by the tables, and what
 * remains when it dies and all is routed anew. For minhop only what used the part is
 * routed anew, by shortest paths, and so it is, without load, where engine is NULL:
 * tables that nobody makes anew: the same as if all were routed anew. Other engines
 * route all destinations anew, as their tables depend on each other (counters of updn,
 * whole lines of vtftr, lanes of vtftr-ib) or are quick to make (xy, algorithm-a); of
 * kfats that were whole vtftr-ib looks again only at what led over the part. Where it
 * would take more than `steps` elementary steps, only the parts with the
 * most pairs of each kind are tried. Sorted: unreachable, longer, pairs, all descending,
 * then fabric order. The caller frees out->of.v. At most O(parts * destinations *
 * cables).
 */
int fab_losses_rank(const struct fab_unicast_problem *problem,
		    const struct fab_unicast_engine *engine,
		    const struct fab_routes *routes, uint64_t steps,
		    const struct fab_losses_progress *progress, struct fab_losses *out,
		    struct fab_err *err) FAB_MUST_CHECK;
