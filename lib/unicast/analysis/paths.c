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

/* Up to HOPS_AT_ONCE hops are counted number by number, many switches at once. */
enum { BLOCK = FAB_ANALYSIS_BLOCK, TILE = 64, HOPS_AT_ONCE = 16 };

bool fab_analysis_follow(const struct fab_analyser *j, const struct fab_target *target,
			 uint16_t *hops, struct fab_analysis_work *w)
{
	w->walk.hops = hops;
	w->walk.n_order = 0;
	if (target->column != FAB_NONE)
		return fab_walk_all(&w->walk, fab_analysis_next(j, target), target->root);
	memset(hops, 0xff, j->n_switches * sizeof(*hops));
	return false;
}

/* Is it the level of most: so in all of a block of columns side by side? */
static inline bool are_default(const uint8_t *sl, uint8_t level)
{
	uint64_t eight, differs = 0;

	for (int i = 0; i < BLOCK; i += 8) {
		memcpy(&eight, sl + i, sizeof(eight));
		differs |= eight ^ UINT64_C(0x0101010101010101) * level;
	}
	return !differs;
}

void fab_analysis_gather_sls(const struct fab_analyser *j, size_t first, size_t n,
			     struct fab_analysis_work *w)
{
	uint8_t sl[BLOCK][TILE];

	if (!j->r->sl) {
		memset(w->sl, 0, n * j->n_groups);
		return;
	}
	for (uint32_t g = 0; g < j->n_groups; g += TILE) {
		uint32_t here = j->n_groups - g < TILE ? j->n_groups - g : TILE;
		const struct fab_routes *r = j->r;
		uint32_t column[BLOCK];
		bool are_beside = n == BLOCK;

		/* Levels of some groups towards targets first .. first + n - 1:
		 * sl[n][TILE]. */
		for (size_t k = 0; k < n; k++) {
			column[k] = j->targets.v[first + k].column;
			are_beside = are_beside && column[k] != FAB_NONE &&
				     column[k] == column[0] + k;
			memset(sl[k], r->sl_default, here);
		}
		for (uint32_t i = 0; i < here; i++) {
			uint32_t from = j->group_row[g + i];
			const uint8_t *row;

			if (from == FAB_NONE)
				continue;
			row = r->sl + (size_t)from * r->n_columns;
			if (are_beside && are_default(row + column[0], r->sl_default))
				continue;
			for (size_t k = 0; k < n; k++)
				if (column[k] != FAB_NONE)
					sl[k][i] = row[column[k]];
		}
		for (size_t k = 0; k < n; k++)
			memcpy(w->sl + k * j->n_groups + g, sl[k], here);
	}
}

/* Pairs that are connected, but no file says with which service level. */
static void count_unknown(const struct fab_analyser *j, const struct fab_target *target,
			  const uint8_t *sl, struct fab_analysis_work *w)
{
	for (uint32_t i = 0; i < w->walk.n_order; i++) {
		uint32_t u = w->walk.order[i], first = j->group_first[u];

		for (uint32_t g = first; g < j->group_first[u + 1]; g++) {
			/* the target itself sends as its switch does, or is alone */
			bool has_target =
				!i && (target->alone == FAB_NONE ? g == first
								 : g == target->alone);

			if (sl[g] == FAB_SL_UNKNOWN)
				w->without_sl +=
					(uint64_t)(j->group_size[g] - has_target) *
					target->weight;
		}
	}
}

/* Counts of a row of hops. */
struct tally {
	uint32_t arrived, valleys, most;
};

FAB_WIDE static struct tally tally(const uint16_t *hops, const uint8_t *turns,
				   const uint32_t *senders, uint32_t n)
{
	struct tally t = {0};

	for (uint32_t u = 0; u < n; u++) {
		uint32_t here = hops[u] < FAB_HOPS_NEVER ? senders[u] : 0;
		uint32_t h = here ? hops[u] : 0;

		t.arrived += here;
		t.valleys += turns[u] & 2 ? here : 0;
		t.most = h > t.most ? h : t.most;
	}
	return t;
}

FAB_WIDE static uint32_t count_at(const uint16_t *hops, const uint32_t *senders,
				  uint32_t n, uint32_t h)
{
	uint32_t sum = 0;

	for (uint32_t u = 0; u < n; u++)
		sum += hops[u] == h ? senders[u] : 0;
	return sum;
}

/* Count those who arrive: pairs by hops, valleys. */
static void count(const struct fab_analyser *j, size_t at, const uint16_t *hops,
		  struct fab_analysis_work *w)
{
	const struct fab_target *target = &j->targets.v[at];
	uint32_t root = target->root;
	struct tally t = tally(hops, w->walk.turns, w->senders, j->n_switches);
	uint64_t n = t.arrived - w->senders[root];
	uint64_t here = j->weight[root] ? j->weight[root] - 1 : 0;

	/* Pairs by hops, but those from the root itself. */
	if (t.most > w->max_hops)
		w->max_hops = t.most;
	for (uint32_t h = 1; h <= t.most && t.most <= HOPS_AT_ONCE; h++)
		w->hist[h] += (uint64_t)count_at(hops, w->senders, j->n_switches, h) *
			      target->weight;
	for (uint32_t i = 1; i < w->walk.n_order && t.most > HOPS_AT_ONCE; i++) {
		uint32_t u = w->walk.order[i], h = hops[u] < 255 ? hops[u] : 255;

		w->hist[h] += (uint64_t)w->senders[u] * target->weight;
	}
	if (t.valleys && at < w->valley_target)
		w->valley_target = at;
	if (n + here + fab_analysis_ends_beside(j, root) < j->n_ends - 1 &&
	    at < w->unreachable_target)
		w->unreachable_target = at;
	w->hist[0] += here * target->weight;
	w->connected += (n + here) * target->weight;
	w->valley_pairs += (uint64_t)t.valleys * target->weight;
}

static void count_sls(const struct fab_analyser *j, const struct fab_target *target,
		      const uint8_t *sl, struct fab_analysis_work *w)
{
	if (w->sls == j->levels)
		return; /* there are no others to be found */
	for (uint32_t i = 0; i < w->walk.n_order; i++) {
		uint32_t u = w->walk.order[i];

		if (!i && j->weight[target->root] < 2)
			continue;
		for (uint32_t g = j->group_first[u]; g < j->group_first[u + 1]; g++)
			if (g != target->alone)
				w->sls |= fab_analysis_is_level(sl[g]) ? 1u << sl[g] : 0;
	}
}

/*
 * The paths to a target from the far ends to the root, once: loads of cables, and which
 * channels depend on which. Those farthest away come first, so that all that comes
 * through a switch is known when it is its turn.
 */

enum { SLS = FAB_ANALYSIS_SLS, ALL = 0xffff, PASSING = 16 };

/* A packet of a service level leaves a switch on a lane. */
static inline void leaves_on(struct fab_analysis_work *w, uint32_t u, unsigned sl,
			     unsigned vl)
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

/* The i-th switch of the walk, levels whose lane is another from port to port. */
static void pass_by_table(struct fab_analyser *j, uint32_t i, struct fab_analysis_work *w)
{
	const struct fab_fabric *f = j->r->f;
	const uint16_t *next = w->walk.next;
	uint32_t u = w->walk.order[i], v = w->walk.to[i], arc = w->walk.arc[i], in;

	for (uint32_t own = w->mask[u] & ALL & ~j->same_lane; own; own &= own - 1) {
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
		if (to == FAB_VL_UNKNOWN) {
			uint64_t at = fab_told_at(
				j->r, v,
				fab_arc_port(j->r->f, v, j->r->f->arc_first[v] + in),
				next[v]);

			/* A packet came by arc and needs a lane that no file contains. */
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

/* Dependencies of levels that keep their lane. */
static inline void pass_same_lane(struct fab_analyser *j, uint32_t arc, uint32_t out,
				  uint32_t levels)
{
	for (; levels; levels &= levels - 1) {
		uint32_t vl = j->lane_of_sl[__builtin_ctz(levels)];

		fab_cdg_add(&j->cdg, arc, vl, out, vl);
	}
}

static inline void pass_flow(struct fab_analysis_work *w, uint32_t i)
{
	uint64_t flow = w->flow[w->walk.order[i]];

	w->load[w->walk.arc[i]] += flow;
	w->flow[w->walk.to[i]] += flow;
}

/* Levels of the i-th switch: to the next one, and what depends on what there. Returns
 * those that keep their lane. */
static inline uint32_t pass_levels(struct fab_analyser *j, uint32_t i,
				   struct fab_analysis_work *w)
{
	uint32_t v = w->walk.to[i], levels = w->mask[w->walk.order[i]];
	uint32_t same = levels & j->same_lane;

	if (levels & ~j->same_lane)
		pass_by_table(j, i, w);
	if (v == w->walk.order[0])
		return same;
	w->mask[v] |= same;
	pass_same_lane(j, w->walk.arc[i], w->walk.next[v], same);
	return same;
}

static void pass_all(struct fab_analyser *j, struct fab_analysis_work *w, bool with_load)
{
	uint32_t used = 0;

	for (uint32_t i = w->walk.n_order; --i > 0;) {
		if (with_load)
			pass_flow(w, i);
		used |= pass_levels(j, i, w);
	}
	for (; used; used &= used - 1)
		w->vls |= 1u << j->lane_of_sl[__builtin_ctz(used)];
}

/* Process the paths of a target from the far ends to the root: loads of cables (w->load),
 * and dependencies of channels unless only load is wanted. sl: of its groups; w->senders
 * is filled. */
static void pass(struct fab_analyser *j, const struct fab_target *target,
		 const uint8_t *sl, struct fab_analysis_work *w)
{
	bool is_one; /* whatever the level */

	for (uint32_t u = 0; w->load && u < j->n_switches; u++)
		w->flow[u] = (uint64_t)w->senders[u] * target->weight;
	if (j->options->only_load) {
		for (uint32_t i = w->walk.n_order; --i > 0;)
			pass_flow(w, i);
		return;
	}
	/* Levels of a switch's own ends. */
	is_one = j->r->lanes == FAB_LANES_ONE;
	for (uint32_t u = 0; u < j->n_switches; u++)
		w->mask[u] = is_one && w->senders[u];
	for (uint32_t g = 0; g < j->n_groups && !is_one; g++)
		if (fab_analysis_is_level(sl[g]))
			w->mask[j->group_switch[g]] |= 1u << sl[g];
	if (w->load)
		pass_all(j, w, true);
	else
		pass_all(j, w, false);
}

/* Paths against the shortest that the live graph has, a block of targets at a time. */

/*
 * Make distances of upper bounds [n_switches * BLOCK]: sweeps over the cables until
 * nothing changes. Bounds that are exact already need one sweep.
 */
FAB_WIDE static bool sweep(const struct fab_analyser *j, uint16_t *nearest,
			   uint8_t *is_shorter)
{
	uint16_t changed = 0;

	for (uint32_t u = 0; u < j->n_switches; u++) {
		uint16_t *own = nearest + (size_t)u * BLOCK, least[BLOCK], differs = 0;

		memcpy(least, own, sizeof(least));
		for (uint32_t i = j->live_first[u]; i < j->live_first[u + 1]; i++) {
			const uint16_t *peer = nearest + (size_t)j->live_peer[i] * BLOCK;

			for (int k = 0; k < BLOCK; k++) {
				uint16_t h = (uint16_t)(peer[k] + 1);

				least[k] = h < least[k] ? h : least[k];
			}
		}
		for (int k = 0; k < BLOCK; k++)
			differs |= (uint16_t)(least[k] ^ own[k]);
		memcpy(own, least, sizeof(least));
		is_shorter[u] |= differs != 0;
		changed |= differs;
	}
	return changed;
}

/* Sources connected in the graph. */
FAB_WIDE static void add_row(const uint16_t *row, uint32_t weight, uint32_t *sum)
{
	for (int k = 0; k < BLOCK; k++)
		sum[k] += row[k] < FAB_HOPS_NEVER ? weight : 0;
}

static void count_nearest(const struct fab_analyser *j, size_t first, size_t n,
			  struct fab_analysis_work *w)
{
	uint32_t in_graph[BLOCK] = {0}, minimal[BLOCK] = {0};

	for (uint32_t u = 0; u < j->n_switches; u++) {
		const uint16_t *row = w->nearest + (size_t)u * BLOCK;

		if (!j->weight[u])
			continue;
		add_row(row, j->weight[u], in_graph);
		if (j->has_none || w->is_shorter[u]) {
			/* Those of a switch whose paths are as short as can be, where
			 * hops differ from the nearest or not all of the ends send. */
			for (size_t k = 0; k < n; k++) {
				uint16_t h = w->nearest[(size_t)u * BLOCK + k];

				if (h >= FAB_HOPS_NEVER ||
				    h != w->hops[k * j->n_switches + u])
					continue;
				minimal[k] +=
					u == j->targets.v[first + k].root
						? j->weight[u]
						: fab_analysis_senders(
							  j, w->sl + k * j->n_groups, u);
			}
		} else
			add_row(row, j->weight[u], minimal);
	}
	for (size_t k = 0; k < n; k++) { /* no end sends to itself */
		const struct fab_target *target = &j->targets.v[first + k];
		uint32_t itself = j->weight[target->root] != 0;
		bool is_led = w->hops[k * j->n_switches + target->root] == 0;

		w->connected_in_graph +=
			(uint64_t)(in_graph[k] - itself) * target->weight;
		w->minimal +=
			(uint64_t)(minimal[k] - (is_led ? itself : 0)) * target->weight;
	}
}

/* Hops of the tables against those of the live graph, for a block of targets. */
static void measure(const struct fab_analyser *j, size_t first, size_t n,
		    struct fab_analysis_work *w)
{
	/* The hops of the tables, by switch; the root is there whatever the tables say.
	 */
	for (uint32_t u = 0; u < j->n_switches; u++) {
		uint16_t *row = w->nearest + (size_t)u * BLOCK;

		for (size_t k = 0; k < BLOCK; k++) {
			uint16_t h =
				k < n ? w->hops[k * j->n_switches + u] : FAB_HOPS_PENDING;

			/* one more must not come round to 0 */
			row[k] = h < FAB_HOPS_NEVER - 1 ? h : FAB_HOPS_PENDING;
		}
		w->is_shorter[u] = 0;
	}
	for (size_t k = 0; k < n; k++) {
		uint32_t root = j->targets.v[first + k].root;

		w->is_shorter[root] |= w->hops[k * j->n_switches + root] != 0;
		w->nearest[(size_t)root * BLOCK + k] = 0;
	}
	while (sweep(j, w->nearest, w->is_shorter))
		;
	count_nearest(j, first, n, w);
}

void fab_analysis_block(struct fab_analyser *j, size_t first, size_t n,
			struct fab_analysis_work *w)
{
	bool only_load = j->options->only_load;

	if (!only_load || j->has_none)
		fab_analysis_gather_sls(j, first, n, w);
	for (size_t k = 0; k < n; k++) {
		const struct fab_target *target = &j->targets.v[first + k];
		const uint8_t *sl = w->sl + k * j->n_groups;
		uint16_t *hops = w->hops + k * j->n_switches;

		if (!fab_analysis_follow(j, target, hops, w)) {
			if (first + k < w->unreachable_target)
				w->unreachable_target = first + k;
			continue;
		}
		if (j->has_none) {
			/* Ends that send to the target at hand, where not all do. */
			memcpy(w->senders, j->weight,
			       j->n_switches * sizeof(*w->senders));
			for (uint32_t g = 0; g < j->n_groups; g++)
				if (sl[g] == FAB_SL_NONE)
					w->senders[j->group_switch[g]] -=
						j->group_size[g];
		}
		pass(j, target, sl, w);
		if (only_load)
			continue;
		count(j, first + k, hops, w);
		count_sls(j, target, sl, w);
		if (j->has_unknown)
			count_unknown(j, target, sl, w);
	}
	if (!only_load)
		measure(j, first, n, w);
}

/*
 * The channel dependency graph and its cycles. Its edges are bits, of which there are
 * too many for a list; only those of channels on cycles become a graph in rows.
 */

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
		w->pairs_on_cycles += (uint64_t)n * target->weight;
		return;
	}
	bit = (uint64_t)j->leaf_number[target->root] * j->n_switches + u;
	__atomic_fetch_or(&j->on_cycle[bit / 64], (uint64_t)1 << bit % 64,
			  __ATOMIC_RELAXED);
}

static void count_cycles(const struct fab_analyser *j, const struct fab_target *target,
			 const uint8_t *sl, struct fab_analysis_work *w)
{
	const struct fab_fabric *f = j->r->f;
	const struct fab_cdg *g = &j->cdg;
	const uint16_t *next = fab_analysis_next(j, target);

	w->mask[target->root] = 0;
	for (uint32_t i = 1; i < w->walk.n_order; i++) {
		uint32_t u = w->walk.order[i], arc = f->arc_first[u] + next[u];
		bool is_last = f->arc_peer[arc] == target->root;

		w->mask[u] = rest_of(j, next, target->root, u, w);
		for (uint32_t k = j->group_first[u]; k < j->group_first[u + 1]; k++) {
			unsigned s = sl[k], to, vl;

			if (!fab_analysis_is_level(sl[k]))
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

void fab_analysis_block_cycles(const struct fab_analyser *j, size_t first, size_t n,
			       struct fab_analysis_work *w)
{
	fab_analysis_gather_sls(j, first, n, w);
	for (size_t k = 0; k < n; k++)
		if (fab_analysis_follow(j, &j->targets.v[first + k], w->hops, w))
			count_cycles(j, &j->targets.v[first + k], w->sl + k * j->n_groups,
				     w);
}
