/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/boot: what mappings, shares and relays have in common. */
#pragma once

#include "base/mem.h"
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

/* Climb from vertex `to` and vertex `from` to where they meet: vertices of a lower number
 * are higher up or aside. Count `more` transfers on each segment, [n_vertices] down and
 * up; returns the least share. O(levels). */
double fab_share_climb(const struct fab_machine *m, uint32_t *down, uint32_t *up,
		       uint32_t to, uint32_t from, uint32_t more);
