/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/forest.h"

#include "base/mem.h"

#include <stdlib.h>

void fab_forest_init(struct fab_forest *forest, uint32_t n)
{
	*forest = (struct fab_forest){.n = n};
	forest->root = FAB_NEW(n, uint32_t);
	forest->height = FAB_NEW(n, uint8_t);
	forest->first = FAB_NEW0((size_t)n + 1, uint64_t);
	/* lists that exist: trees without a cable point into them, too */
	fab_forest_reserve(forest, 0, 1);
}

void fab_forest_fini(struct fab_forest *forest)
{
	free(forest->root);
	free(forest->height);
	free(forest->first);
	free(forest->sw);
	free(forest->cable);
	*forest = (struct fab_forest){0};
}

void fab_forest_reserve(struct fab_forest *forest, uint64_t at, uint64_t more)
{
	if (at + more <= forest->cap)
		return;
	forest->cap = fab_grow(forest->cap, at + more);
	forest->sw = fab_realloc(forest->sw, forest->cap, sizeof(*forest->sw));
	forest->cable = fab_realloc(forest->cable, forest->cap, sizeof(*forest->cable));
}
