/* SPDX-License-Identifier: BSD-2-Clause */
/* Targets one after the other, each with the tree of paths that lead to it. */
#include "unicast/analysis_impl.h"

#include <string.h>

enum { BLOCK = FAB_ANALYSIS_BLOCK, TILE = 64, SLS = FAB_ANALYSIS_SLS, DATA = 0x7fff };

bool fab_analysis_follow(const struct fab_analyser *j, const struct fab_target *target,
			 uint16_t *hops, struct fab_analysis_work *w)
{
	w->walk.hops = hops;
	w->walk.n_order = 0;
	w->turns[target->root] = 0;
	if (target->column != FAB_NONE)
		return fab_walk_all(&w->walk, fab_analysis_next(j, target), target->root);
	memset(hops, 0xff, j->n_switches * sizeof(*hops));
	return false;
}

/* Levels of some groups towards targets first .. first + n - 1: sl[n][TILE]. */
static void gather_tile(const struct fab_analyser *j, uint32_t group, uint32_t n_groups,
			size_t first, size_t n, uint8_t sl[][TILE])
{
	const struct fab_routes *r = j->r;
	uint8_t none = r->sl ? r->sl_default : 0;

	for (uint32_t i = 0; i < n_groups; i++) {
		uint32_t from = j->group_row[group + i];
		const uint8_t *row =
			from == FAB_NONE ? NULL : r->sl + (size_t)from * r->n_columns;

		for (size_t k = 0; k < n; k++) {
			uint32_t column = j->targets.v[first + k].column;
			bool has = row && column != FAB_NONE;

			sl[k][i] = has ? row[column] : none;
		}
	}
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

		gather_tile(j, g, here, first, n, sl);
		for (size_t k = 0; k < n; k++)
			memcpy(w->sl + k * j->n_groups + g, sl[k], here);
	}
}

static uint32_t level_bit(uint8_t sl)
{
	return fab_analysis_is_level(sl) ? 1u << sl : 0;
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

/* Count those who arrive: pairs by hops, valleys. */
static void count(const struct fab_analyser *j, size_t at, const uint16_t *hops,
		  const uint8_t *sl, struct fab_analysis_work *w)
{
	const struct fab_target *target = &j->targets.v[at];
	const uint16_t *next = fab_analysis_next(j, target);
	uint64_t n = 0, valleys = 0, here;

	for (uint32_t i = 1; i < w->walk.n_order; i++) {
		uint32_t u = w->walk.order[i], weight = fab_analysis_senders(j, sl, u),
			 h = hops[u];

		uint8_t turns = fab_analysis_turn(j, next, u, w);

		if (!weight)
			continue;
		n += weight;
		w->hist[h < 255 ? h : 255] += (uint64_t)weight * target->weight;
		if (h > w->max_hops)
			w->max_hops = h;
		if (turns & 2)
			valleys += weight;
	}
	if (valleys && at < w->valley_target)
		w->valley_target = at;
	here = j->weight[target->root] ? j->weight[target->root] - 1 : 0;
	if (n + here + fab_analysis_ends_beside(j, target->root) < j->n_ends - 1 &&
	    at < w->unreachable_target)
		w->unreachable_target = at;
	w->hist[0] += here * target->weight;
	w->connected += (n + here) * target->weight;
	w->valley_pairs += valleys * target->weight;
}

static void count_load(const struct fab_analyser *j, const struct fab_target *target,
		       const uint16_t *next, const uint8_t *sl,
		       struct fab_analysis_work *w)
{
	const struct fab_fabric *f = j->r->f;

	for (uint32_t i = 0; i < w->walk.n_order; i++)
		w->flow[w->walk.order[i]] =
			(uint64_t)fab_analysis_senders(j, sl, w->walk.order[i]) *
			target->weight;
	for (uint32_t i = w->walk.n_order; --i > 0;) {
		uint32_t u = w->walk.order[i], arc = f->arc_first[u] + next[u];

		w->load[arc] += w->flow[u];
		w->flow[f->arc_peer[arc]] += w->flow[u];
	}
}

/* Dependencies when there is one lane. */
static void depend(struct fab_analyser *j, uint32_t root, const uint8_t *sl,
		   const uint16_t *next, struct fab_analysis_work *w)
{
	const struct fab_fabric *f = j->r->f;

	for (uint32_t i = 0; i < w->walk.n_order; i++)
		w->mask[w->walk.order[i]] =
			fab_analysis_senders(j, sl, w->walk.order[i]) != 0;
	for (uint32_t i = w->walk.n_order; --i > 0;) {
		uint32_t u = w->walk.order[i], arc = f->arc_first[u] + next[u];
		uint32_t v = f->arc_peer[arc];

		if (!w->mask[u])
			continue;
		w->vls |= 1;
		if (v == root)
			continue;
		w->mask[v] = 1;
		fab_cdg_add(&j->cdg, arc, 0, next[v], 0);
	}
}

/* Dependencies when the service level is the lane. */
static void depend_by_sl(struct fab_analyser *j, uint32_t root, const uint8_t *sl,
			 const uint16_t *next, struct fab_analysis_work *w)
{
	const struct fab_fabric *f = j->r->f;
	uint32_t used = 0;

	for (uint32_t i = 0; i < w->walk.n_order; i++) {
		uint32_t u = w->walk.order[i], mask = 0;

		for (uint32_t g = j->group_first[u]; g < j->group_first[u + 1]; g++)
			mask |= level_bit(sl[g]);
		w->mask[u] = (uint16_t)mask;
	}
	for (uint32_t i = w->walk.n_order; --i > 0;) {
		uint32_t u = w->walk.order[i], arc = f->arc_first[u] + next[u];
		uint32_t v = f->arc_peer[arc], mask = w->mask[u] & DATA;

		used |= w->mask[u];
		if (v == root)
			continue;
		w->mask[v] |= w->mask[u];
		for (; mask; mask &= mask - 1) {
			uint32_t vl = (uint32_t)__builtin_ctz(mask);

			fab_cdg_add(&j->cdg, arc, vl, next[v], vl);
		}
	}
	w->vls |= used;
	w->drops |= (used & ~(uint32_t)DATA) != 0;
}

/* A packet of a service level leaves a switch on a lane. */
static inline void leaves_on(struct fab_analysis_work *w, uint32_t u, unsigned sl,
			     unsigned vl)
{
	uint16_t *lanes = &w->lanes[(size_t)u * SLS + sl];

	uint32_t bit;

	if (vl >= FAB_ANALYSIS_DROP) {
		w->drops |= vl == FAB_ANALYSIS_DROP;
		bit = 0;
	} else {
		bit = 1u << vl;
	}
	*lanes = (uint16_t)((w->mask[u] >> sl & 1 ? *lanes : 0) | bit);
	w->mask[u] = (uint16_t)(w->mask[u] | 1u << sl);
	w->vls |= bit;
}

/* A packet came by arc and needs a lane that is not told. */
static void note_missed(struct fab_analyser *j, uint32_t sw, uint32_t in, uint32_t out,
			unsigned sl)
{
	uint64_t at = fab_told_at(
		j->r, sw, fab_arc_port(j->r->f, sw, j->r->f->arc_first[sw] + in), out);

	__atomic_store_n(&j->is_missed[at * j->n_sls + sl], 1, __ATOMIC_RELAXED);
}

/* The ends of a switch send. */
static void depart(const struct fab_analyser *j, const uint8_t *sl, const uint16_t *next,
		   uint32_t u, struct fab_analysis_work *w)
{
	uint32_t d = fab_degree(j->r->f, u);

	for (uint32_t g = j->group_first[u]; g < j->group_first[u + 1]; g++)
		if (fab_analysis_is_level(sl[g]))
			leaves_on(w, u, sl[g], fab_analysis_vl(j, u, d, next[u], sl[g]));
}

/* Dependencies when lanes follow from tables: those farthest away first, so that
 * all that comes through a switch is known when it is its turn. */
static void depend_by_table(struct fab_analyser *j, uint32_t root, const uint8_t *sl,
			    const uint16_t *next, struct fab_analysis_work *w)
{
	const struct fab_fabric *f = j->r->f;

	for (uint32_t i = 0; i < w->walk.n_order; i++)
		w->mask[w->walk.order[i]] = 0;
	for (uint32_t i = w->walk.n_order; --i > 0;) {
		uint32_t u = w->walk.order[i], arc = f->arc_first[u] + next[u];
		uint32_t v = f->arc_peer[arc];

		depart(j, sl, next, u, w);
		if (v == root)
			continue;
		for (uint32_t sls = w->mask[u]; sls; sls &= sls - 1) {
			unsigned s = (unsigned)__builtin_ctz(sls);
			unsigned to = fab_analysis_vl(j, v, j->r->f->arc_reverse[arc],
						      next[v], s);

			leaves_on(w, v, s, to);
			if (to >= FAB_ANALYSIS_DROP) {
				if (to == FAB_VL_UNKNOWN)
					note_missed(j, v, j->r->f->arc_reverse[arc],
						    next[v], s);
				continue;
			}
			for (uint32_t vls = w->lanes[(size_t)u * SLS + s]; vls;
			     vls &= vls - 1)
				fab_cdg_add(&j->cdg, arc, (uint32_t)__builtin_ctz(vls),
					    next[v], to);
		}
	}
}

static void count_sls(const struct fab_analyser *j, const struct fab_target *target,
		      const uint8_t *sl, struct fab_analysis_work *w)
{
	for (uint32_t i = 0; i < w->walk.n_order; i++) {
		uint32_t u = w->walk.order[i];

		if (!i && j->weight[target->root] < 2)
			continue;
		for (uint32_t g = j->group_first[u]; g < j->group_first[u + 1]; g++)
			if (g != target->alone)
				w->sls |= level_bit(sl[g]);
	}
}

/*
 * Make distances of upper bounds [n_switches * BLOCK]: sweeps over the cables until
 * nothing changes. Bounds that are exact already need one sweep.
 */
FAB_WIDE static bool sweep(const struct fab_analyser *j, uint16_t *nearest)
{
	uint16_t changed = 0;

	for (uint32_t u = 0; u < j->n_switches; u++) {
		uint16_t *own = nearest + (size_t)u * BLOCK, least[BLOCK];

		memcpy(least, own, sizeof(least));
		for (uint32_t i = j->live_first[u]; i < j->live_first[u + 1]; i++) {
			const uint16_t *peer = nearest + (size_t)j->live_peer[i] * BLOCK;

			for (int k = 0; k < BLOCK; k++) {
				uint16_t h = (uint16_t)(peer[k] + 1);

				least[k] = h < least[k] ? h : least[k];
			}
		}
		for (int k = 0; k < BLOCK; k++)
			changed |= (uint16_t)(least[k] ^ own[k]);
		memcpy(own, least, sizeof(least));
	}
	return changed;
}

static void count_nearest(const struct fab_analyser *j, size_t first, size_t n,
			  struct fab_analysis_work *w)
{
	for (size_t k = 0; k < n; k++) {
		const struct fab_target *target = &j->targets.v[first + k];
		const uint16_t *hops = w->hops + k * j->n_switches;
		const uint8_t *sl = w->sl + k * j->n_groups;
		uint64_t in_graph = 0, minimal = 0;

		for (uint32_t u = 0; u < j->n_switches; u++) {
			uint32_t weight = j->weight[u] - (u == target->root);
			uint16_t h = w->nearest[(size_t)u * BLOCK + k];

			if (!j->weight[u] || h >= FAB_HOPS_NEVER)
				continue;
			in_graph += weight;
			if (j->has_none && u != target->root)
				weight = fab_analysis_senders(j, sl, u);
			minimal += h == hops[u] ? weight : 0;
		}
		w->connected_in_graph += in_graph * target->weight;
		w->minimal += minimal * target->weight;
	}
}

static void measure(const struct fab_analyser *j, size_t first, size_t n,
		    struct fab_analysis_work *w)
{
	for (uint32_t u = 0; u < j->n_switches; u++) {
		uint16_t *row = w->nearest + (size_t)u * BLOCK;

		for (size_t k = 0; k < BLOCK; k++) {
			uint16_t h =
				k < n ? w->hops[k * j->n_switches + u] : FAB_HOPS_PENDING;

			/* one more must not come round to 0 */
			row[k] = h < FAB_HOPS_NEVER - 1 ? h : FAB_HOPS_PENDING;
		}
	}
	for (size_t k = 0; k < n; k++)
		w->nearest[(size_t)j->targets.v[first + k].root * BLOCK + k] = 0;
	while (sweep(j, w->nearest))
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
		if (w->load)
			count_load(j, target, fab_analysis_next(j, target), sl, w);
		if (only_load)
			continue;
		count(j, first + k, hops, sl, w);
		count_sls(j, target, sl, w);
		if (j->has_unknown)
			count_unknown(j, target, sl, w);
		if (j->r->lanes == FAB_LANES_ONE)
			depend(j, target->root, sl, fab_analysis_next(j, target), w);
		else if (j->r->lanes == FAB_LANES_SL)
			depend_by_sl(j, target->root, sl, fab_analysis_next(j, target),
				     w);
		else
			depend_by_table(j, target->root, sl, fab_analysis_next(j, target),
					w);
	}
	if (!only_load)
		measure(j, first, n, w);
}

/* The channel after arc, on lane vl: by which packets leave the switch at its end. */
static inline uint32_t channel_after(const struct fab_analyser *j, const uint16_t *next,
				     uint32_t arc, unsigned vl)
{
	uint32_t v = j->r->f->arc_peer[arc];

	return (j->r->f->arc_first[v] + next[v]) * j->cdg.n_vls + vl;
}

/*
 * What packets from u meet behind the next switch v: is there a dependency that is part
 * of a cycle? A bit a service level. lanes[u]: those on which they leave v.
 */
static uint16_t rest_of(const struct fab_analyser *j, const uint16_t *next, uint32_t root,
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
	return (uint16_t)(w->mask[v] | is_on);
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
