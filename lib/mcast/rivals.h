/* SPDX-License-Identifier: BSD-2-Clause */
/* For engines that revise trees: what others would have. */
#pragma once

#include "mcast/engine.h"

/*
 * Put the trees of the engine of `all` whose largest load is the smallest in the place of
 * those in `state`, if it is smaller than theirs, unless these reach the bound. Engines
 * stop at the first tree that shows they have none. Returns whether there were any. As
 * the engines say, side by side.
 */
bool fab_mcast_take_rival(const struct fab_mcast_problem *problem,
			  struct fab_mcast_state *state,
			  const struct fab_mcast_options *options);
