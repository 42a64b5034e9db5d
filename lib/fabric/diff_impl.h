/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the parts of the comparison. */
#pragma once

#include "base/mem.h"
#include "fabric/diff.h"

struct fab_differ {
	const struct fab_fabric *old, *new;
	struct fab_diff *diff;
	FAB_VEC(struct fab_change) found;
};

void fab_differ_node(struct fab_differ *d, enum fab_change_kind kind, uint32_t old_node,
		     uint32_t new_node);
void fab_differ_cable(struct fab_differ *d, enum fab_change_kind kind, uint32_t old_cable,
		      uint32_t new_cable);

/* diff_match.c: fills new_of, old_of, by_guid. */
void fab_diff_match(struct fab_differ *d);
/* Names that mean the same node. */
bool fab_diff_same_name(const struct fab_differ *d, uint32_t old_node, uint32_t new_node);
/* diff_cables.c: adds the changes of cables. */
void fab_diff_cables(struct fab_differ *d);
