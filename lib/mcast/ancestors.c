/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/ancestors.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void fab_ancestors_init(struct fab_ancestors *x, uint32_t n)
{
	*x = (struct fab_ancestors){.next = FAB_NEW(n, uint32_t),
				    .mark = FAB_NEW0(n, uint32_t),
				    .arc_first = FAB_NEW(n, uint32_t),
				    .n_arcs = FAB_NEW(n, uint32_t)};
}

void fab_ancestors_fini(struct fab_ancestors *x)
{
	free(x->next);
	free(x->mark);
	free(x->arc_first);
	free(x->n_arcs);
	free(x->arc);
}

static void list(struct fab_ancestors *x, const uint8_t *row, uint32_t sw)
{
	if (x->mark[sw] == x->stamp)
		return;
	x->mark[sw] = x->stamp;
	x->next[sw] = x->first[row[sw]];
	x->first[row[sw]] = sw;
}

/* The arcs of a switch to those one hop nearer, behind the `at` that there are; returns
 * how many there are then. Each is written, and stays if it is one: no branch to be
 * guessed. */
static uint32_t find_arcs(struct fab_ancestors *x, const struct fab_fabric *f,
			  const uint8_t *row, uint32_t sw, uint32_t at)
{
	uint32_t first = f->arc_first[sw], end = f->arc_first[sw + 1], n = at;
	int nearer = row[sw] - 1;

	if (at + (end - first) > x->room) {
		x->room = 2 * (at + (end - first));
		x->arc = fab_realloc(x->arc, x->room, sizeof(*x->arc));
	}
	for (uint32_t a = first; a < end; a++) {
		x->arc[n] = a;
		n += row[f->arc_peer[a]] == nearer;
	}
	x->arc_first[sw] = at;
	x->n_arcs[sw] = n - at;
	return n;
}

void fab_ancestors_list(struct fab_ancestors *x, const struct fab_mcast_problem *p,
			uint32_t group, const uint8_t *row, unsigned height)
{
	const struct fab_fabric *f = p->f;
	uint32_t n = 0;

	x->stamp++;
	memset(x->first, 0xff, (height + 1) * sizeof(*x->first));
	for (uint64_t i = p->groups->sw_first[group]; i < p->groups->sw_first[group + 1];
	     i++)
		list(x, row, p->groups->sw[i]);
	for (unsigned d = height; d > 0; d--)
		for (uint32_t v = x->first[d]; v != FAB_NONE; v = x->next[v]) {
			uint32_t i = n;

			n = find_arcs(x, f, row, v, n);
			for (; i < n && d > 1; i++)
				list(x, row, f->arc_peer[x->arc[i]]);
		}
}
