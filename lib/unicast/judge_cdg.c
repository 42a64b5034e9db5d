/* SPDX-License-Identifier: BSD-2-Clause */
/* The channel dependency graph and its cycles. */
#include "unicast/judge_impl.h"

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

struct girth {
	const struct fab_cdg *g;
	uint32_t *from;	 /* [n_channels] the channel before, on the way from the start */
	uint32_t *depth; /* [n_channels] FAB_NONE: not reached; 0 too: done with */
	uint32_t *queue;
	uint32_t n_queue;
	uint64_t n_steps;
	uint32_t *best;
	uint32_t n_best; /* FAB_NONE: no cycle yet */
};

static void keep(struct girth *s, uint32_t start, uint32_t last)
{
	uint32_t n = s->n_best = s->depth[last] + 1;

	for (uint32_t c = last; n; c = s->from[c])
		s->best[--n] = c;
	s->best[0] = start;
}

/* Breadth first from a channel back to it, no further than what is known is long. */
static void cycle_from(struct girth *s, uint32_t start)
{
	bool is_found = false;

	s->n_queue = 0;
	s->queue[s->n_queue++] = start;
	s->depth[start] = 0;
	for (uint32_t head = 0; head < s->n_queue && !is_found; head++) {
		uint32_t c = s->queue[head], at = 0, next;

		if (s->n_best != FAB_NONE && s->depth[c] + 1 >= s->n_best)
			break;
		while ((next = next_of(s->g, c, &at)) != FAB_NONE) {
			s->n_steps++;
			if (next == start) {
				keep(s, start, c);
				is_found = true;
				break;
			}
			if (s->depth[next] != FAB_NONE ||
			    s->g->part[next] != s->g->part[start])
				continue;
			s->depth[next] = s->depth[c] + 1;
			s->from[next] = c;
			s->queue[s->n_queue++] = next;
		}
	}
	/* all cycles through the start are known: it is left out from now on */
	for (uint32_t i = 1; i < s->n_queue; i++)
		s->depth[s->queue[i]] = FAB_NONE;
}

uint32_t *fab_cdg_shortest_cycle(const struct fab_cdg *g, size_t *n)
{
	size_t size = (size_t)g->n_channels + 1;
	struct girth s = {.g = g, .n_best = FAB_NONE};

	s.from = FAB_NEW(size, uint32_t);
	s.depth = FAB_NEW(size, uint32_t);
	s.queue = FAB_NEW(size, uint32_t);
	s.best = FAB_NEW(size, uint32_t);
	memset(s.depth, 0xff, size * sizeof(*s.depth));
	for (uint32_t c = 0; c < g->n_channels; c++) {
		if (g->part[c] == FAB_NONE)
			continue;
		cycle_from(&s, c);
		if (s.n_best == 2 || (s.n_best != FAB_NONE && s.n_steps > MAX_STEPS))
			break;
	}
	free(s.from);
	free(s.depth);
	free(s.queue);
	*n = s.n_best == FAB_NONE ? 0 : s.n_best;
	return s.best;
}
