/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rip up and reroute: trees that run through the fullest cables are taken out one after
 * the other and grown again around those cables, from the same root or another, until the
 * lower bound is reached or nothing helps any more. The largest load never rises.
 */
#pragma once

#include "mcast/engine.h"

struct fab_rip_up_options {
	uint32_t bound;	   /* stop here: no trees have less */
	uint32_t n_passes; /* stop after so many passes over the groups */
	uint32_t n_stalls; /* or after so many in which nothing became less */
	/* now and then, groups of the pass; non-zero stops, the trees stay sound; may
	 * be NULL */
	fab_progress_fn progress;
	void *progress_context;
};

/*
 * Improve the trees of all groups in `state`, each of minimal height, which they stay.
 * Loads and uses follow. Non-zero: progress stopped it. The same for the same trees and
 * options. O(passes * (edges of
 * all trees + rerouted groups * (candidates + edges * cables of a switch))).
 */
int fab_rip_up(struct fab_mcast_state *state, const struct fab_rip_up_options *options);
