/* SPDX-License-Identifier: BSD-2-Clause */
/* One difference more. */
#include "fabric/diff_impl.h"

void fab_differ_node(struct fab_differ *d, enum fab_change_kind kind, uint32_t old_node,
		     uint32_t new_node)
{
	FAB_PUSH(&d->found,
		 ((struct fab_change){kind, old_node, new_node, FAB_NONE, FAB_NONE}));
}

void fab_differ_cable(struct fab_differ *d, enum fab_change_kind kind, uint32_t old_cable,
		      uint32_t new_cable)
{
	FAB_PUSH(&d->found,
		 ((struct fab_change){kind, FAB_NONE, FAB_NONE, old_cable, new_cable}));
}
