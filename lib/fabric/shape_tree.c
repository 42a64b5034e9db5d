/* SPDX-License-Identifier: BSD-2-Clause */
/* Levelled fabrics: the levels are the ranks of their switches. */
#include "fabric/shape_impl.h"

#include "base/mem.h"
#include "fabric/ranks.h"

#include <stdlib.h>
#include <string.h>

bool fab_shape_try_tree(const struct fab_fabric *f, const uint32_t *hosts,
			struct fab_shape *shape)
{
	struct fab_ranks r;
	bool is_tree = fab_ranks_find(&r, f, hosts, FAB_LEAVES_APART) &&
		       r.n_ranks < FAB_SHAPE_LEVELS_MAX;

	if (is_tree) {
		shape->kind = FAB_SHAPE_FATTREE;
		shape->n_levels = r.n_ranks;
		shape->n_roots = r.n_roots;
		shape->level = FAB_NEW(f->n_switches, uint8_t);
		shape->is_root = FAB_NEW(f->n_switches, bool);
		memcpy(shape->is_root, r.is_root, f->n_switches * sizeof(bool));
		for (uint32_t s = 0; s < f->n_switches; s++)
			shape->level[s] = r.rank[s] == FAB_NONE ? FAB_SHAPE_NO_LEVEL
								: (uint8_t)r.rank[s];
	}
	fab_ranks_fini(&r);
	return is_tree;
}
