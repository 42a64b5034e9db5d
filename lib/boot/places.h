/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists that name nodes, servers and units of a machine alike. */
#pragma once

#include "boot/machine.h"

struct fab_places;
/* The machine is borrowed; the caller frees. O(vertices). */
struct fab_places *fab_places_new(const struct fab_machine *m);
/* NULL is allowed. O(size). */
void fab_places_free(struct fab_places *places);
FAB_AUTO_POINTER(fab_places)

/*
 * Give to `use` the nodes and server interfaces of a list of names, host lists and
 * patterns: nodes, servers for their interfaces, units (racks, switches) for the nodes
 * below them; a pattern stands for units only where it matches no node and no server. May
 * give one several times. ENOENT: there is no such node, server or unit; EINVAL: no list;
 * else what `use` returns. O(list + what it stands for).
 */
typedef int fab_use_place(void *context, bool is_node, uint32_t id, struct fab_err *err);
int fab_places_each(const struct fab_places *places, const char *list, size_t len,
		    fab_use_place *use, void *context,
		    struct fab_err *err) FAB_MUST_CHECK;
