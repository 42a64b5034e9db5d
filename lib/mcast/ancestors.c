/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/ancestors.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void fab_ancestors_init(struct fab_ancestors *x, uint32_t n)
{
	*x = (struct fab_ancestors){.sw = FAB_NEW(n + 1, uint32_t),
				    .arc_first = FAB_NEW(n + 1, uint32_t),
				    .mark = FAB_NEW0(n, uint32_t),
				    .next = FAB_NEW(n, uint32_t)};
}

void fab_ancestors_fini(struct fab_ancestors *x)
{
	free(x->sw);
	free(x->arc_first);
	free(x->arc);
	free(x->mark);
	free(x->next);
}

/* Each is written, and stays if it is new: no branch to be guessed. */
static void list(struct fab_ancestors *x, uint32_t sw)
{
	x->sw[x->n] = sw;
	x->n += x->mark[sw] != x->stamp;
	x->mark[sw] = x->stamp;
}

/* The arcs of a switch to those one hop nearer, behind the `at` that there are, in the
 * same manner; returns how many there are then. */
static uint32_t find_arcs(struct fab_ancestors *x, const struct fab_fabric *f,
			  const uint8_t *row, uint32_t sw, uint32_t at)
{
	uint32_t first = f->arc_first[sw], end = f->arc_first[sw + 1];
	int nearer = row[sw] - 1;

	if (at + (end - first) > x->room) {
		x->room = 2 * (at + (end - first));
		x->arc = fab_realloc(x->arc, x->room, sizeof(*x->arc));
	}
	for (uint32_t a = first; a < end; a++) {
		x->arc[at] = a;
		at += row[f->arc_peer[a]] == nearer;
	}
	return at;
}

void fab_ancestors_list(struct fab_ancestors *x, const struct fab_mcast_problem *p,
			uint32_t group, const uint8_t *row, unsigned height)
{
	const struct fab_fabric *f = p->f;
	const struct fab_groups *g = p->groups;
	uint32_t member[FAB_HOPS_UNREACHABLE], n_arcs = 0, i = 0;

	x->stamp++;
	x->n = 0;
	memset(member, 0xff, (height + 1) * sizeof(*member));
	for (uint64_t m = g->sw_first[group]; m < g->sw_first[group + 1]; m++) {
		x->next[g->sw[m]] = member[row[g->sw[m]]];
		member[row[g->sw[m]]] = g->sw[m];
	}
	for (unsigned d = height; d > 0; d--) {
		uint32_t end;

		for (uint32_t sw = member[d]; sw != FAB_NONE; sw = x->next[sw])
			list(x, sw);
		for (end = x->n; i < end; i++) {
			uint32_t a = n_arcs;

			x->arc_first[i] = a;
			n_arcs = find_arcs(x, f, row, x->sw[i], a);
			for (; a < n_arcs && d > 1; a++)
				list(x, f->arc_peer[x->arc[a]]);
		}
	}
	x->arc_first[x->n] = n_arcs;
}
