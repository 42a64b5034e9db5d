/* SPDX-License-Identifier: BSD-2-Clause */
/* What the loss of one more switch or link costs. */
#pragma once

#include "unicast/engine.h"
#include "unicast/judge.h"

struct fab_loss {
	struct fab_fault part;
	bool is_leaf;	      /* a switch with a column */
	uint64_t pairs;	      /* of hosts whose way uses it now */
	bool is_tried;	      /* the others are known */
	uint64_t unreachable; /* pairs of other leaves that had a way and lose it */
	uint64_t longer;      /* hops more of the pairs that keep one, added up */
	double load;	      /* fullest direction when every host sends to every other,
				 in what one host sends */
};

struct fab_losses {
	FAB_VEC(struct fab_loss) of;
};

/*
 * For each live switch and link between switches: the pairs on it by the tables, and what
 * remains when it dies and the engine routes anew (engine NULL: tables that nobody makes
 * anew: all its pairs are lost). Where that would take more than `steps` elementary
 * steps, only those with the most pairs of each kind are tried. Sorted: unreachable,
 * longer, pairs, all descending, then fabric order. The caller frees out->of.v.
 */
int fab_losses_rank(const struct fab_unicast_problem *problem,
		    const struct fab_unicast_engine *engine,
		    const struct fab_routes *routes, uint64_t steps,
		    struct fab_losses *out, struct fab_err *err) FAB_MUST_CHECK;
