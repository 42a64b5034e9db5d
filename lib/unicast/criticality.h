/* SPDX-License-Identifier: BSD-2-Clause */
/* Cost of the loss of one more switch or link. */
#pragma once

#include "event/sweep.h"
#include "unicast/analysis.h"
#include "unicast/engine.h"

struct fab_loss {
	struct fab_fault part;
	uint64_t number;      /* of all parts: switches, then links, in fabric order */
	bool is_leaf;	      /* a switch with a column */
	uint64_t pairs;	      /* of hosts whose path uses it now */
	uint64_t interrupted; /* of these, pairs of other hosts: until rerouted */
	bool is_tried;	      /* the others are known */
	/* pairs of other leaves that had a path and lose it after rerouting; of tables
	 * without an engine: pairs */
	uint64_t unreachable;
	uint64_t unreachable_rerouted; /* pairs of other hosts, after rerouting */
	uint64_t longer;	       /* hops more of pairs that keep a path, added up */
	double load; /* fullest direction when every host sends to every other, in what
			one host sends */
};

struct fab_losses {
	FAB_VEC(struct fab_loss) of;
	uint64_t n_parts; /* of all shards */
};

struct fab_losses_options {
	uint64_t steps;		/* elementary steps that may be taken, see below */
	struct fab_shard shard; /* only every N-th part is tried and listed */
	/* One thread at a time calls it; not 0: stop. NULL: none. */
	fab_progress_fn progress;
	void *progress_context;
};

/*
 * For each live switch and link between switches: the pairs on it by the tables, and the
 * pairs left after its loss and rerouting. minhop repairs only the paths that used the
 * part, with the result of full rerouting; tables without an engine (NULL) are repaired
 * alike, without load. Other engines route all destinations again, as their tables depend
 * on each other (counters of updn, whole lines of vtftr, lanes of vtftr-ib) or are quick
 * to make (xy, algorithm-a). Where it would take more than `steps` elementary steps, only
 * the parts with the most pairs of each kind are tried. Sorted: unreachable, longer,
 * pairs, all descending, then fabric order. The caller frees out->of.v. ECANCELED:
 * progress said stop. At most O(parts * destinations * cables).
 */
int fab_losses_rank(const struct fab_unicast_problem *problem,
		    const struct fab_unicast_engine *engine,
		    const struct fab_routes *routes,
		    const struct fab_losses_options *options, struct fab_losses *out,
		    struct fab_err *err) FAB_MUST_CHECK;
