/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A copy of the loads and uses of a state, for one that looks for trees while others
 * change the state: fab_mcast_state_count() and fab_mcast_state_drop() keep it up to
 * date. It has no trees.
 */
#pragma once

#include "mcast/engine.h"

/* Room for a copy; nothing is in it. O(1). */
void fab_view_init(struct fab_mcast_state *view, const struct fab_mcast_state *state);
void fab_view_fini(struct fab_mcast_state *view);
/* As they are now. O(switches + cables). */
void fab_view_copy(struct fab_mcast_state *view, const struct fab_mcast_state *state);
