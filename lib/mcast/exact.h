/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees of the least largest level by branch and bound over all trees of all groups, for
 * problems of a few switches and groups.
 *
 * Parallel cables are one link. How low the levels of its cables can be for each set of
 * groups is found beforehand, so that a partial choice of trees is a set of groups for
 * each link. A choice is given up when a link reaches the best level so far, when a
 * remaining group has no tree left, or when the remaining groups need more capacity
 * between the parts of some division of the switches than is left there.
 */
#pragma once

#include "mcast/engine.h"

/* Larger problems are not tried. Groups with members on one switch do not count. */
enum { FAB_EXACT_SWITCHES = 8, FAB_EXACT_GROUPS = 8 };

/*
 * Improve the trees in `state` to the least largest level (fab_mcast_level()) of all
 * trees whose heights are at most options->height_slack above the least. Without an
 * improvement the trees stay. FAB_ENDED_EXACT: none are better; FAB_ENDED_DONE: the
 * problem is too large, nothing was done; FAB_ENDED_TIME and FAB_ENDED_STOPPED: the
 * search was ended by the options, with the best trees so far. Exponential.
 */
enum fab_mcast_ended fab_exact_solve(struct fab_mcast_state *state,
				     const struct fab_mcast_options *options);
