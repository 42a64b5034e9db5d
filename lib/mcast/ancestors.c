/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/ancestors.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void fab_ancestors_init(struct fab_ancestors *x, uint32_t n)
{
	*x = (struct fab_ancestors){.next = FAB_NEW(n, uint32_t),
				    .mark = FAB_NEW0(n, uint32_t)};
}

void fab_ancestors_fini(struct fab_ancestors *x)
{
	free(x->next);
	free(x->mark);
}

static void list(struct fab_ancestors *x, const uint8_t *row, uint32_t sw)
{
	if (x->mark[sw] == x->stamp)
		return;
	x->mark[sw] = x->stamp;
	x->next[sw] = x->first[row[sw]];
	x->first[row[sw]] = sw;
}

void fab_ancestors_list(struct fab_ancestors *x, const struct fab_mcast_problem *p,
			uint32_t group, const uint8_t *row, unsigned height)
{
	const struct fab_fabric *f = p->f;

	x->stamp++;
	memset(x->first, 0xff, (height + 1) * sizeof(*x->first));
	for (uint64_t i = p->groups->sw_first[group]; i < p->groups->sw_first[group + 1];
	     i++)
		list(x, row, p->groups->sw[i]);
	for (unsigned d = height; d > 1; d--)
		for (uint32_t v = x->first[d]; v != FAB_NONE; v = x->next[v])
			for (uint32_t i = f->peer_first[v]; i < f->peer_first[v + 1]; i++)
				if (row[f->peer[i]] == d - 1)
					list(x, row, f->peer[i]);
}
