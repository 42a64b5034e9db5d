/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The channel dependency graph and its cycles. Its edges are bits, of which there are
 * too many for a list; only those of channels on cycles become a graph in rows.
 */
#include "unicast/analysis_impl.h"

#include "fabric/graph.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STEPS ((uint64_t)1 << 26)

void fab_cdg_init(struct fab_cdg *g, const struct fab_fabric *f, uint32_t n_vls)
{
	uint32_t n_arcs = f->arc_first[f->n_switches];
	uint64_t n = 0;

	*g = (struct fab_cdg){.f = f, .n_vls = n_vls, .n_channels = n_arcs * n_vls};
	g->row_first = FAB_NEW((size_t)n_arcs + 1, uint64_t);
	for (uint32_t a = 0; a < n_arcs; a++) {
		g->row_first[a] = n;
		n += fab_degree(f, f->arc_peer[a]);
	}
	g->row_first[n_arcs] = n;
	g->bits = FAB_NEW0((size_t)(n * n_vls * n_vls / 64 + 1), uint64_t);
}

void fab_cdg_fini(struct fab_cdg *g)
{
	free(g->row_first);
	free(g->bits);
	free(g->part);
}

/* The next channel that follows `channel`; *at: where to go on in the row, from 0. */
static uint32_t next_of(const struct fab_cdg *g, uint32_t channel, uint32_t *at)
{
	uint32_t arc = channel / g->n_vls, sw = g->f->arc_peer[arc];
	uint32_t len = fab_degree(g->f, sw) * g->n_vls;
	uint64_t row = fab_cdg_row(g, arc, channel % g->n_vls);

	while (*at < len) {
		uint64_t bit = row + *at, word = g->bits[bit / 64] >> bit % 64;

		if (word) {
			*at += (uint32_t)__builtin_ctzll(word);
			if (*at >= len)
				break;
			return g->f->arc_first[sw] * g->n_vls + (*at)++;
		}
		*at += 64 - (uint32_t)(bit % 64);
	}
	return FAB_NONE;
}

struct tarjan {
	struct fab_cdg *g;
	uint32_t *index, *low, *at; /* index 0: not seen */
	uint32_t *stack, *calls;
	uint32_t n_seen, n_stack, n_calls, n_parts;
	bool *is_on_stack;
};

static void enter(struct tarjan *t, uint32_t channel)
{
	t->index[channel] = t->low[channel] = ++t->n_seen;
	t->at[channel] = 0;
	t->stack[t->n_stack++] = channel;
	t->is_on_stack[channel] = true;
	t->calls[t->n_calls++] = channel;
}

static void leave(struct tarjan *t, uint32_t channel)
{
	uint32_t n = t->n_stack;

	t->n_calls--;
	if (t->n_calls) {
		uint32_t caller = t->calls[t->n_calls - 1];

		if (t->low[channel] < t->low[caller])
			t->low[caller] = t->low[channel];
	}
	if (t->low[channel] != t->index[channel])
		return;
	while (t->stack[--n] != channel)
		;
	for (uint32_t i = n; i < t->n_stack; i++) {
		t->is_on_stack[t->stack[i]] = false;
		if (t->n_stack - n > 1)
			t->g->part[t->stack[i]] = t->n_parts;
	}
	if (t->n_stack - n > 1) {
		t->g->n_in_parts += t->n_stack - n;
		t->n_parts++;
	}
	t->n_stack = n;
}

static void search_from(struct tarjan *t, uint32_t start)
{
	enter(t, start);
	while (t->n_calls) {
		uint32_t channel = t->calls[t->n_calls - 1];
		uint32_t next = next_of(t->g, channel, &t->at[channel]);

		if (next == FAB_NONE)
			leave(t, channel);
		else if (!t->index[next])
			enter(t, next);
		else if (t->is_on_stack[next] && t->index[next] < t->low[channel])
			t->low[channel] = t->index[next];
	}
}

void fab_cdg_find_parts(struct fab_cdg *g)
{
	size_t n = (size_t)g->n_channels + 1;
	struct tarjan t = {.g = g};

	t.index = FAB_NEW0(n, uint32_t);
	t.low = FAB_NEW(n, uint32_t);
	t.at = FAB_NEW(n, uint32_t);
	t.stack = FAB_NEW(n, uint32_t);
	t.calls = FAB_NEW(n, uint32_t);
	t.is_on_stack = FAB_NEW0(n, bool);
	g->part = FAB_NEW(n, uint32_t);
	memset(g->part, 0xff, n * sizeof(*g->part));
	g->n_in_parts = 0;
	for (uint32_t c = 0; c < g->n_channels; c++)
		if (!t.index[c])
			search_from(&t, c);
	free(t.index);
	free(t.low);
	free(t.at);
	free(t.stack);
	free(t.calls);
	free(t.is_on_stack);
}

uint32_t *fab_cdg_shortest_cycle(const struct fab_cdg *g, uint32_t *n)
{
	FAB_VEC(uint32_t) from = {0}, to = {0};
	struct fab_graph graph;
	uint32_t *cycle;

	for (uint32_t c = 0; c < g->n_channels; c++) {
		uint32_t at = 0, next;

		while (g->part[c] != FAB_NONE &&
		       (next = next_of(g, c, &at)) != FAB_NONE) {
			FAB_PUSH(&from, c);
			FAB_PUSH(&to, next);
		}
	}
	fab_graph_init(&graph, g->n_channels, from.n, from.v, to.v);
	cycle = fab_graph_shortest_cycle(&graph, g->part, MAX_STEPS, n);
	fab_graph_fini(&graph);
	free(from.v);
	free(to.v);
	return cycle;
}
