/* SPDX-License-Identifier: BSD-2-Clause */
/* One part of the graph of switches as a fabric of its own. */
#pragma once

#include "fabric/planes.h"

/* Copies the parts of a fabric one by one. */
struct fab_excerpts;

/* `f` and `planes` are borrowed until the end. O(switches + nodes). */
struct fab_excerpts *fab_excerpts_new(const struct fab_fabric *f,
				      const struct fab_planes *planes);
/* NULL is allowed. */
void fab_excerpts_free(struct fab_excerpts *excerpts);

/*
 * The switches of a part, what hangs on them and all cables between these: the same
 * names, GUIDs, LIDs and port numbers, numbered anew in the same order. NULL for a part
 * without a cable. The caller frees. O(ports of the part).
 */
struct fab_fabric *fab_excerpt(struct fab_excerpts *excerpts, uint32_t part);
