/* SPDX-License-Identifier: BSD-2-Clause */
/* One difference more. */
#include "fabric/diff_impl.h"

void fab_differ_node(struct fab_differ *d, enum fab_change_kind kind, uint32_t old_node,
		     uint32_t new_node)
{
	struct fab_change change = {.kind = kind,
				    .old_node = old_node,
				    .new_node = new_node,
				    .old_cable = FAB_NONE,
				    .new_cable = FAB_NONE};

	FAB_PUSH(&d->found, change);
}

void fab_differ_cable(struct fab_differ *d, enum fab_change_kind kind, uint32_t old_cable,
		      uint32_t new_cable)
{
	struct fab_change change = {.kind = kind,
				    .old_node = FAB_NONE,
				    .new_node = FAB_NONE,
				    .old_cable = old_cable,
				    .new_cable = new_cable};

	FAB_PUSH(&d->found, change);
}
