/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A graph that stays without cycles while edges are added: a topological order that is
 * mended locally, after a search from both ends of an edge at once that is over as soon
 * as one of them is (Alpern, Hoover, Rosen, Sweeney, Zadeck 1990), kept as labels with
 * room between them (Dietz 1982).
 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

struct fab_channel_order;

/*
 * n vertices, no edges. key[v]: the order to begin with, equal keys by number; edges that
 * run from lower to higher keys cost nothing. An edge is looked up by its slot, which the
 * caller gives: edges that share one are searched one after the other. The caller frees.
 * O(n log n + slots).
 */
struct fab_channel_order *fab_channel_order_new(uint32_t n, const uint32_t *key,
						uint32_t n_slots);
void fab_channel_order_free(struct fab_channel_order *order);

enum fab_edge { FAB_EDGE_NEW, FAB_EDGE_KNOWN, FAB_EDGE_CYCLE };
/*
 * Add an edge unless it closes a cycle; *id gets its number for fab_channel_order_drop()
 * when it is new. O(vertices and edges between the two in the order): as many as the
 * smaller of both searches has, twice; at times all labels anew.
 */
enum fab_edge fab_channel_order_add(struct fab_channel_order *order, uint32_t slot,
				    uint32_t from, uint32_t to, uint32_t *id);
/* Is the edge there? O(edges of the slot). */
bool fab_channel_order_has(const struct fab_channel_order *order, uint32_t slot,
			   uint32_t from, uint32_t to);
/* Take a new edge back; cheapest in the reverse order of adding. O(1). */
void fab_channel_order_drop(struct fab_channel_order *order, uint32_t id);
