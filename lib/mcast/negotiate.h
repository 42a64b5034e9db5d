/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees for a largest load that is set beforehand, one less than there is: trees on
 * cables above it are taken out and grown again by turns, loads may exceed the target
 * meanwhile, and a cable that too many want for long becomes expensive (McMurchie and
 * Ebeling 1995, for the wires of chips). When none is above the target, the next one is
 * one less.
 *
 * Before that all trees may be grown again with few cables where members lie far apart,
 * and paths of all trees swapped at prices that rise smoothly with the load: what is
 * negotiated then starts from less load in all. There paths alone are swapped in most
 * rounds, too.
 */
#pragma once

#include "mcast/engine.h"

/* The trees that it starts from, where members lie far apart. */
enum fab_start {
	FAB_START_THERE,    /* those that there are */
	FAB_START_SEARCHED, /* ones of few cables whatever the loads, by searches */
	FAB_START_NEAR,	    /* ones of few cables by distances, which is quick; where
			       members lie near or groups are large nothing is
			       done at all */
	FAB_START_CHOSEN    /* one of these two, whichever seems better */
};

struct fab_negotiation {
	const struct fab_mcast_options
		*options;    /* bound, seed, until, is_over, progress */
	uint64_t n_steps;    /* stop after so many cables looked at; 0: any number */
	uint32_t n_rounds;   /* give a target up after so many rounds over the groups
				that brought nothing */
	uint32_t n_attempts; /* and stop after so many targets given up */
	enum fab_start start;
	bool is_hasty;	/* targets that seem too far away are given up at once */
	bool has_swaps; /* paths are swapped, too (mcast/path_swap.h) */
	bool is_told;	/* what is reached is reported (base/progress.h) */
};

/*
 * Improve the trees in `state`, which stay of the height that they are. What is left is
 * the best that there was: the least largest load, then on fewest cables; loads and uses
 * follow. Says why it ended. The same for the same trees and options unless time or
 * somebody stops it. O(rounds * (edges of all trees + rerouted groups * (roots tried *
 * tree))).
 */
enum fab_mcast_ended fab_negotiate(struct fab_mcast_state *state,
				   const struct fab_negotiation *negotiation);
