/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/boot: what mappings, shares and relays have in common. */
#pragma once

#include "base/mem.h"
#include "base/rng.h"
#include "boot/mapping.h"

/* A file adds its row here; in the order in which they are documented. */
#define FAB_MAPPING_ENGINES(ROW)                                                         \
	ROW(scda)                                                                        \
	ROW(bcda)                                                                        \
	ROW(block)                                                                       \
	ROW(local)                                                                       \
	ROW(robust)                                                                      \
	ROW(stable)                                                                      \
	ROW(balanced)                                                                    \
	ROW(keep)                                                                        \
	ROW(loaded)

#define FAB_DECLARE(row) extern const struct fab_mapping_engine fab_mapping_##row;
FAB_MAPPING_ENGINES(FAB_DECLARE)
#undef FAB_DECLARE

static inline bool fab_interface_is_up(const struct fab_machine *m, uint32_t interface)
{
	return !m->server_is_down[m->interface_server[interface]];
}

/* Interfaces of servers that are up, ascending, on the heap; *n of them, at least 1. */
uint32_t *fab_interfaces_up(const struct fab_machine *m, uint32_t *n);

/*
 * Interfaces that are up in an order in which neighbours are far apart: round by round
 * through the branches of the tree, each round beginning one branch further; faster
 * interfaces come more often in proportion. On the heap. O(interfaces * levels).
 */
uint32_t *fab_interfaces_spread(const struct fab_machine *m, uint32_t *n);

/*
 * Segments as links: those of a vertex are numbered from vertex * fab_links_most() on. A
 * transfer between two vertices takes one of them, by a hash that switches of one level
 * have in common. O(1).
 */
static inline uint32_t fab_links_most(const struct fab_machine *m)
{
	return m->limits.most_links ? m->limits.most_links : 1;
}

static inline uint32_t fab_links_of(const struct fab_machine *m, uint32_t vertex)
{
	uint32_t n = m->limits.links[m->level_of[vertex]];

	return n ? n : 1;
}

static inline uint32_t fab_link_of(const struct fab_machine *m, uint32_t vertex,
				   uint32_t to, uint32_t from)
{
	uint64_t flow = (uint64_t)to << 32 | from;
	uint32_t n = fab_links_of(m, vertex), first = vertex * fab_links_most(m);

	if (n == 1)
		return first;
	flow = fab_mix64(flow ^ fab_mix64(m->limits.hash_seed + m->level_of[vertex]));
	return first + (uint32_t)(flow % n);
}

static inline double fab_link_mbps(const struct fab_machine *m, uint32_t vertex)
{
	return m->capacity_mbps[vertex] / fab_links_of(m, vertex);
}

/* Climb from vertex `to` and vertex `from` to where they meet: vertices of a lower number
 * are higher up or aside. Count `more` transfers on each link, [n_vertices *
 * fab_links_most()] down and up; returns the least share. O(levels). */
double fab_share_climb(const struct fab_machine *m, uint32_t *down, uint32_t *up,
		       uint32_t to, uint32_t from, uint32_t more);

/*
 * Give an interface to the nodes of the batch that have none (FAB_NONE), one by one, each
 * to where it is best then; in their order, or those with the largest images first.
 * O(nodes * levels * children of a vertex, and vertices * sizes of images).
 */
void fab_mapping_fill(const struct fab_machine *m, const struct fab_batch *batch,
		      bool largest_first, uint32_t *interface_of);
