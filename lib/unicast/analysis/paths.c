/* SPDX-License-Identifier: BSD-2-Clause */
/* Targets in sequence, each with the tree of paths that lead to it. */
#include "unicast/analysis/impl.h"

#include "fabric/graph.h"

#include <stdlib.h>
#include <string.h>

/* Row of bits of a channel: its first bit. */
static inline uint64_t fab_cdg_row(const struct fab_cdg *g, uint32_t arc, uint32_t vl)
{
	return (g->row_first[arc] * g->n_vls +
		(uint64_t)vl * fab_degree(g->f, g->f->arc_peer[arc])) *
	       g->n_vls;
}

/* Add: from (arc, vl) a packet goes on by the out-th arc of the next switch on lane to.
 * Threads may do so at once. O(1). */
static inline void fab_cdg_add(struct fab_cdg *g, uint32_t arc, uint32_t vl, uint32_t out,
			       uint32_t to)
{
	uint64_t bit = fab_cdg_row(g, arc, vl) + (uint64_t)out * g->n_vls + to;
	uint64_t *word = &g->bits[bit / 64], one = (uint64_t)1 << bit % 64;

	if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & one))
		__atomic_fetch_or(word, one, __ATOMIC_RELAXED);
}

static inline bool fab_cdg_is_on_cycle(const struct fab_cdg *g, uint32_t from,
				       uint32_t to)
{
	return g->part[from] != FAB_NONE && g->part[from] == g->part[to];
}

enum { BLOCK = FAB_ANALYSIS_BLOCK };

bool fab_analysis_follow(const struct fab_analyser *j, const struct fab_target *target,
			 struct fab_analysis_work *w)
{
	w->walk.n_order = 0;
	if (target->column != FAB_NONE)
		return fab_walk_all(&w->walk, fab_analysis_next(j, target), target->root);
	memset(w->hops, 0xff, j->n_switches * sizeof(*w->hops));
	return false;
}

void fab_analysis_gather_sls(const struct fab_analyser *j, size_t at,
			     struct fab_analysis_work *w)
{
	const struct fab_routes *r = j->r;
	size_t first = at - at % BLOCK, n = j->targets.n - first, n_groups = j->n_groups;
	uint32_t column[BLOCK];

	w->sl = w->block_sl + at % BLOCK * j->n_groups;
	if (w->block == first)
		return;
	w->block = first;
	n = n < BLOCK ? n : BLOCK;
	memset(w->block_sl, r->sl ? r->sl_default : 0, n * j->n_groups);
	for (size_t k = 0; k < n; k++)
		column[k] = j->targets.v[first + k].column;
	for (uint32_t g = 0; r->sl && g < n_groups; g++) {
		const uint8_t *row = r->sl;
		uint8_t *to = w->block_sl + g;

		if (j->group_row[g] == FAB_NONE)
			continue;
		row += (size_t)j->group_row[g] * r->n_columns;
		for (size_t k = 0; k < n; k++)
			if (column[k] != FAB_NONE)
				to[k * n_groups] = row[column[k]];
	}
}

/*
 * Pairs towards a target: by hops, with valleys, as short as the live graph allows (dist:
 * hops there), their service levels and those without a known one.
 */
static void count(const struct fab_analyser *j, size_t at, struct fab_analysis_work *w)
{
	const uint8_t *sl = w->sl;
	const struct fab_target *target = &j->targets.v[at];
	uint32_t root = target->root;
	uint64_t n = 0, minimal = 0, here = j->weight[root] ? j->weight[root] - 1 : 0;
	uint64_t valleys = 0, by_hops[256] = {0};

	for (uint32_t i = 1; i < w->walk.n_order; i++) {
		uint32_t u = w->walk.order[i], h = w->hops[u], senders = w->senders[u];

		if (!senders)
			continue;
		n += senders;
		minimal += h == w->dist[u] ? senders : 0;
		valleys += w->walk.turns[u] & 2 ? senders : 0;
		by_hops[h < 255 ? h : 255] += senders;
		w->sum.max_hops = h > w->sum.max_hops ? h : w->sum.max_hops;
	}
	if (valleys && at < w->valley_target)
		w->valley_target = at;
	if (n + here + fab_analysis_ends_beside(j, root) < j->n_ends - 1 &&
	    at < w->unreachable_target)
		w->unreachable_target = at;
	for (uint32_t h = 1; h < 256 && h <= w->sum.max_hops; h++)
		w->sum.hops[h] += by_hops[h] * target->weight;
	w->sum.hops[0] += here * target->weight;
	w->sum.connected += (n + here) * target->weight;
	w->sum.minimal += (minimal + here) * target->weight;
	w->sum.valley_pairs += valleys * target->weight;
	if (w->sls == j->levels && !j->has_unknown)
		return;
	for (uint32_t i = 0; i < w->walk.n_order; i++) {
		uint32_t u = w->walk.order[i], begin = j->group_first[u];

		for (uint32_t g = begin; g < j->group_first[u + 1]; g++) {
			/* the target itself sends as its switch does, or is alone */
			bool has_target =
				!i && (target->alone == FAB_NONE ? g == begin
								 : g == target->alone);

			if (sl[g] == FAB_SL_UNKNOWN)
				w->without_sl +=
					(uint64_t)(j->group_size[g] - has_target) *
					target->weight;
			if (fab_analysis_is_level(sl[g]) && g != target->alone &&
			    (i || j->weight[root] > 1))
				w->sls |= 1u << sl[g];
		}
	}
}

/*
 * The paths to a target from the far ends to the root, once: loads of cables, and which
 * channels depend on which. Those farthest away come first, so that all that comes
 * through a switch is known when it is its turn.
 */

enum { SLS = FAB_ANALYSIS_SLS, ALL = 0xffff, PASSING = 16 };

/* A packet of a service level leaves a switch on a lane. */
static void leaves_on(struct fab_analysis_work *w, uint32_t u, unsigned sl, unsigned vl)
{
	uint16_t *lanes = &w->lanes[(size_t)u * SLS + sl];
	uint32_t bit = 0;

	if (vl < FAB_ANALYSIS_DROP)
		bit = 1u << vl;
	w->drops |= vl == FAB_ANALYSIS_DROP;
	*lanes = (uint16_t)((w->mask[u] >> PASSING >> sl & 1 ? *lanes : 0) | bit);
	w->mask[u] |= 1u << sl << PASSING;
	w->vls |= bit;
}

/* As pass_on() where the lane of a packet is its level, at every switch: mask has those
 * that leave a switch. */
static inline void pass_on_level(struct fab_analyser *j, uint32_t i,
				 struct fab_analysis_work *w)
{
	uint32_t v = w->walk.to[i], sls = w->mask[w->walk.order[i]];

	w->vls |= sls;
	if (v == w->walk.order[0])
		return;
	w->mask[v] |= sls;
	for (sls &= ~(1u << FAB_ANALYSIS_DROP); sls; sls &= sls - 1) {
		uint32_t vl = (uint32_t)__builtin_ctz(sls);

		fab_cdg_add(&j->cdg, w->walk.arc[i], vl, w->walk.next[v], vl);
	}
}

/* The packets of the i-th switch of the walk, by lanes, and through the next one. */
static void pass_on(struct fab_analyser *j, uint32_t i, struct fab_analysis_work *w)
{
	const struct fab_fabric *f = j->r->f;
	const uint16_t *next = w->walk.next;
	uint32_t u = w->walk.order[i], v = w->walk.to[i], arc = w->walk.arc[i], in;

	for (uint32_t own = w->mask[u] & ALL; own; own &= own - 1) {
		unsigned s = (unsigned)__builtin_ctz(own);

		leaves_on(w, u, s, fab_analysis_vl(j, u, fab_degree(f, u), next[u], s));
	}
	if (v == w->walk.order[0])
		return;
	in = f->arc_reverse[arc];
	for (uint32_t sls = w->mask[u] >> PASSING; sls; sls &= sls - 1) {
		unsigned s = (unsigned)__builtin_ctz(sls);
		unsigned to = fab_analysis_vl(j, v, in, next[v], s);

		leaves_on(w, v, s, to);
		if (to == FAB_VL_UNKNOWN) { /* a lane that no file contains */
			uint32_t port = fab_arc_port(f, v, f->arc_first[v] + in);
			uint64_t at = fab_lane_at(j->r, v, port, next[v]);

			__atomic_store_n(&j->is_missed[at * j->n_sls + s], 1,
					 __ATOMIC_RELAXED);
		}
		if (to >= FAB_ANALYSIS_DROP)
			continue;
		for (uint32_t vls = w->lanes[(size_t)u * SLS + s]; vls; vls &= vls - 1)
			fab_cdg_add(&j->cdg, arc, (uint32_t)__builtin_ctz(vls), next[v],
				    to);
	}
}

/* Process the paths of a target from the far ends to the root: loads of cables (w->load),
 * and dependencies of channels unless only load is wanted; w->senders is filled. */
static void pass(struct fab_analyser *j, const struct fab_target *target,
		 struct fab_analysis_work *w)
{
	bool only_load = j->options->only_load, is_one = j->r->lanes == FAB_LANES_ONE;
	bool by_table = j->r->lanes == FAB_LANES_TABLE;
	const uint32_t *order = w->walk.order, *arc = w->walk.arc, *to = w->walk.to;
	uint64_t *load = w->load, *flow = w->flow;

	for (uint32_t u = 0; load && u < j->n_switches; u++)
		flow[u] = (uint64_t)w->senders[u] * target->weight;
	/* Levels of a switch's own ends; with one lane, any represents all. */
	for (uint32_t u = 0; u < j->n_switches && !only_load; u++)
		w->mask[u] = is_one && w->senders[u];
	for (uint32_t g = 0; g < j->n_groups && !is_one && !only_load; g++)
		if (fab_analysis_is_level(w->sl[g]))
			w->mask[j->group_switch[g]] |= 1u << w->sl[g];
	for (uint32_t i = w->walk.n_order; --i > 0;) {
		if (load) {
			load[arc[i]] += flow[order[i]];
			flow[to[i]] += flow[order[i]];
		}
		if (only_load)
			continue;
		if (by_table)
			pass_on(j, i, w);
		else
			pass_on_level(j, i, w);
	}
	w->drops |= w->vls >> FAB_ANALYSIS_DROP & 1;
	w->vls &= ~(1u << FAB_ANALYSIS_DROP);
}

/* Paths against the shortest that the live graph has. */

/* Take the hops of the tables for those of the live graph: they are, where no cable joins
 * switches whose hops differ by more than one. False: they are not. */
static bool take_hops(const struct fab_analyser *j, struct fab_analysis_work *w)
{
	const uint16_t *restrict hops = w->hops;
	uint32_t *restrict dist = w->dist;

	for (uint32_t i = 0; i < j->n_live_pairs; i++)
		if (hops[j->live_pair[i][0]] - hops[j->live_pair[i][1]] + 1U > 2)
			return false;
	for (uint32_t u = 0; u < j->n_switches; u++)
		dist[u] = hops[u] < FAB_HOPS_NEVER ? hops[u] : FAB_NONE;
	return true;
}

void fab_analysis_work_on(struct fab_analyser *j, size_t at, struct fab_analysis_work *w)
{
	const struct fab_graph live = {j->n_switches, j->live_first, j->live_peer};
	const struct fab_target *target = &j->targets.v[at];
	bool only_load = j->options->only_load;
	bool is_led = fab_analysis_follow(j, target, w);

	if (!only_load || j->has_none)
		fab_analysis_gather_sls(j, at, w);
	if (!only_load && w->root != target->root) {
		uint64_t in_graph = 0;

		w->root = w->walk.path[0] = target->root;
		if (!is_led || !take_hops(j, w))
			fab_graph_search(&live, NULL, 1, w->dist, w->walk.path, NULL);
		for (uint32_t u = 0; u < j->n_switches; u++)
			in_graph += w->dist[u] == FAB_NONE ? 0 : j->weight[u];
		w->in_graph = in_graph - (j->weight[w->root] != 0);
	}
	w->sum.connected_in_graph += w->in_graph * target->weight;
	if (!is_led) {
		if (at < w->unreachable_target)
			w->unreachable_target = at;
		return;
	}
	if (j->has_none) {
		/* Ends that send to the target, where not all do. */
		memcpy(w->senders, j->weight, j->n_switches * sizeof(*w->senders));
		for (uint32_t g = 0; g < j->n_groups; g++)
			if (w->sl[g] == FAB_SL_NONE)
				w->senders[j->group_switch[g]] -= j->group_size[g];
	}
	pass(j, target, w);
	if (!only_load)
		count(j, at, w);
}

/*
 * The channel dependency graph and its cycles. Its edges are bits, of which there are
 * too many for a list; only those of channels on cycles become a graph in rows.
 */

#define MAX_STEPS ((uint64_t)1 << 26)

void fab_cdg_init(struct fab_cdg *g, const struct fab_fabric *f, uint32_t n_vls)
{
	uint32_t n_arcs = f->arc_first[f->n_switches];
	uint64_t n;

	*g = (struct fab_cdg){.f = f, .n_vls = n_vls, .n_channels = n_arcs * n_vls};
	g->row_first = FAB_NEW((size_t)n_arcs + 1, uint64_t);
	n = fab_arc_steps(f, g->row_first);
	g->bits = FAB_NEW0((size_t)(n * n_vls * n_vls / 64 + 1), uint64_t);
}

void fab_cdg_fini(struct fab_cdg *g)
{
	FAB_FREE_ALL(g->row_first, g->bits, g->part);
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
	g->part = fab_none_new(n);
	g->n_in_parts = 0;
	for (uint32_t c = 0; c < g->n_channels; c++)
		if (!t.index[c]) {
			enter(&t, c);
			while (t.n_calls) {
				uint32_t channel = t.calls[t.n_calls - 1];
				uint32_t next = next_of(t.g, channel, &t.at[channel]);

				if (next == FAB_NONE)
					leave(&t, channel);
				else if (!t.index[next])
					enter(&t, next);
				else if (t.is_on_stack[next] &&
					 t.index[next] < t.low[channel])
					t.low[channel] = t.index[next];
			}
		}
	FAB_FREE_ALL(t.index, t.low, t.at, t.stack, t.calls, t.is_on_stack);
}

uint32_t *fab_cdg_shortest_cycle(const struct fab_cdg *g, uint32_t *n)
{
	FAB_VEC(uint32_t) from = {0}, to = {0};
	FAB_AUTO(fab_graph_fini) struct fab_graph graph;
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
	free(from.v);
	free(to.v);
	return cycle;
}

/* Whose paths are on credit loops: packets meet a dependency that is part of a cycle. */

/* The channel after arc, on lane vl: by which packets leave the switch at its end. */
static inline uint32_t channel_after(const struct fab_analyser *j, const uint16_t *next,
				     uint32_t arc, unsigned vl)
{
	uint32_t v = j->r->f->arc_peer[arc];

	return (j->r->f->arc_first[v] + next[v]) * j->cdg.n_vls + vl;
}

/*
 * Do packets from u meet a dependency of a cycle behind the next switch v? A bit a
 * service level. lanes[u]: those on which they leave v.
 */
static uint32_t rest_of(const struct fab_analyser *j, const uint16_t *next, uint32_t root,
			uint32_t u, struct fab_analysis_work *w)
{
	const struct fab_fabric *f = j->r->f;
	const struct fab_cdg *g = &j->cdg;
	uint32_t arc = f->arc_first[u] + next[u], v = f->arc_peer[arc], is_on = 0, then;

	if (v == root)
		return 0;
	then = f->arc_first[v] + next[v];
	for (uint32_t sls = w->sls; sls; sls &= sls - 1) {
		unsigned s = (unsigned)__builtin_ctz(sls);
		unsigned vl =
			fab_analysis_vl(j, v, j->r->f->arc_reverse[arc], next[v], s);
		unsigned to = w->lanes[(size_t)v * SLS + s];

		w->lanes[(size_t)u * SLS + s] = (uint16_t)vl;
		if (f->arc_peer[then] != root && vl < g->n_vls && to < g->n_vls &&
		    fab_cdg_is_on_cycle(g, then * g->n_vls + vl,
					channel_after(j, next, then, to)))
			is_on |= 1u << s;
	}
	return w->mask[v] | is_on;
}

static void add_on_cycle(const struct fab_analyser *j, const struct fab_target *target,
			 uint32_t u, uint32_t n, struct fab_analysis_work *w)
{
	uint64_t bit;

	if (!j->has_followers) {
		w->sum.pairs_on_cycles += (uint64_t)n * target->weight;
		return;
	}
	bit = (uint64_t)j->leaf_number[target->root] * j->n_switches + u;
	__atomic_fetch_or(&j->on_cycle[bit / 64], (uint64_t)1 << bit % 64,
			  __ATOMIC_RELAXED);
}

void fab_analysis_find_on_cycles(const struct fab_analyser *j, size_t at,
				 struct fab_analysis_work *w)
{
	const struct fab_target *target = &j->targets.v[at];
	const struct fab_fabric *f = j->r->f;
	const struct fab_cdg *g = &j->cdg;
	const uint16_t *next;

	fab_analysis_gather_sls(j, at, w);
	if (!fab_analysis_follow(j, target, w))
		return;
	next = fab_analysis_next(j, target);
	w->mask[target->root] = 0;
	for (uint32_t i = 1; i < w->walk.n_order; i++) {
		uint32_t u = w->walk.order[i], arc = f->arc_first[u] + next[u];
		bool is_last = f->arc_peer[arc] == target->root;

		w->mask[u] = rest_of(j, next, target->root, u, w);
		for (uint32_t k = j->group_first[u]; k < j->group_first[u + 1]; k++) {
			unsigned s = w->sl[k], to, vl;

			if (!fab_analysis_is_level(w->sl[k]))
				continue;
			to = w->lanes[(size_t)u * SLS + s];
			vl = fab_analysis_vl(j, u, fab_degree(f, u), next[u], s);
			if (w->mask[u] >> s & 1 ||
			    (!is_last && vl < g->n_vls && to < g->n_vls &&
			     fab_cdg_is_on_cycle(g, arc * g->n_vls + vl,
						 channel_after(j, next, arc, to))))
				add_on_cycle(j, target, u, j->group_size[k], w);
		}
	}
}
