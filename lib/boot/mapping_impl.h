/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/boot: what mapping algorithms share. */
#pragma once

#include "base/mem.h"
#include "boot/mapping.h"

extern const struct fab_mapping_engine fab_mapping_scda, fab_mapping_bcda;
extern const struct fab_mapping_engine fab_mapping_block, fab_mapping_local;
extern const struct fab_mapping_engine fab_mapping_balanced, fab_mapping_robust;
extern const struct fab_mapping_engine fab_mapping_stable, fab_mapping_loaded;

static inline bool fab_interface_is_up(const struct fab_machine *m, uint32_t interface)
{
	return !m->server_is_down[m->interface_server[interface]];
}

/* Interfaces of servers that are up, ascending, on the heap; *n of them, at least 1. */
uint32_t *fab_interfaces_up(const struct fab_machine *m, uint32_t *n);

/*
 * Interfaces that are up in an order in which neighbours are far apart: round by round
 * through the branches of the tree, each round beginning one branch further; faster
 * interfaces come as many times as they are faster. On the heap. O(interfaces * levels).
 */
uint32_t *fab_interfaces_spread(const struct fab_machine *m, uint32_t *n);
