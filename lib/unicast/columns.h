/* SPDX-License-Identifier: BSD-2-Clause */
/* Which column of tables leads to a LID, whatever columns stand for. */
#pragma once

#include "unicast/routes.h"

struct fab_columns {
	const struct fab_routes *r;
	uint32_t *first; /* of tables by LID [n_ports], else [n_switches]: the first
			    column that leads there, FAB_NONE */
};

/* The caller frees it; routes are borrowed. O(columns + ports). */
void fab_columns_init(struct fab_columns *columns, const struct fab_routes *routes);
void fab_columns_fini(struct fab_columns *columns);

/*
 * The column of an end port's LID: number `offset`, counted from the first that leads to
 * the port; FAB_NONE: none does. O(1), of tables by LID O(LIDs of a port).
 */
uint32_t fab_columns_of(const struct fab_columns *columns, uint32_t port,
			uint32_t offset);
