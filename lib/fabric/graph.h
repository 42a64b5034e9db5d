/* SPDX-License-Identifier: BSD-2-Clause */
/* The graph of switches in compressed rows; called once by the builder. */
#pragma once

#include "fabric/fabric.h"

/*
 * Fills arc_first, arc_peer, arc_cable, arc_reverse, peer_first and peer of a fabric whose cables are
 * numbered. O(cables + cables of a switch log of it).
 */
void fab_graph_build(struct fab_fabric *f);
