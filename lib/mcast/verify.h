/* SPDX-License-Identifier: BSD-2-Clause */
/* Is a routing what it claims to be? Found by a second, simpler path. */
#pragma once

#include "mcast/route.h"

/*
 * Checks every tree without using what the engines used: its edges are cables between
 * switches, each switch but the root hangs on exactly one of them (so there is no loop),
 * every member's switch is in it, walking up from every switch ends at the root, the
 * farthest member is `height` hops down the tree, no switch of the fabric is nearer to
 * all members than that (unless the engine says that trees may be higher), and the loads,
 * weighted ones too, are what the trees add up to. Distances are
 * checked against plain searches from the roots. EPROTO with a sentence that names the
 * group and what is wrong. O(tree edges * height + switches * (distinct groups' switches
 * + roots)).
 */
int fab_mcast_verify(const struct fab_mcast_problem *problem,
		     const struct fab_mcast_result *result,
		     struct fab_err *err) FAB_MUST_CHECK;
