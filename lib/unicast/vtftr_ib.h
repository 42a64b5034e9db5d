/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the tables and the lanes of engine vtftr-ib. */
#pragma once

#include "unicast/phases.h"
#include "unicast/service_levels.h"

enum vtftr_ib_result { VTFTR_IB_DONE, VTFTR_IB_OPEN };

struct vtftr_ib {
	const struct fab_unicast_problem *problem;
	struct fab_live live;
	struct fab_routes *routes;
	uint8_t **way;	       /* [columns][leaf] enum fab_way; NULL: all plain or none */
	uint32_t *source_leaf; /* [columns] leaf number of a column's switch */
	bool *is_longer;       /* [columns] phase order before length */
	bool *is_stuck;	       /* [columns] some pair has no lanes */
	uint64_t n_left, n_stuck; /* pairs against the phase order; without lanes */
};

/*
 * Do all ways that are not plain, put on one lane of their own, close no cycle there?
 * O(columns * switches).
 */
bool vtftr_ib_one_lane_does(const struct vtftr_ib *v);

/*
 * Each way that is not plain gets the lowest service level that has a word of lanes for
 * it which closes no cycle in the exact graph of channel dependencies, one after the
 * other. Fewer levels than by phases; but a later way may find none: then *is_done is
 * false and nothing is of use. O(pairs * levels * words).
 */
int vtftr_ib_place(struct vtftr_ib *v, unsigned n_rounds, bool *is_done,
		   struct fab_err *err) FAB_MUST_CHECK;

/*
 * Lanes for all pairs that are not plain, packed into service levels from 1 on; fills
 * routes->sl, the SL2VL tables, is_stuck and n_stuck. The exact graph of channel
 * dependencies is kept while there are left-overs.
 */
int vtftr_ib_pack(struct vtftr_ib *v, unsigned n_rounds,
		  struct fab_err *err) FAB_MUST_CHECK;
