/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose paths are on credit loops: packets meet a dependency that is part of a cycle. */
#include "unicast/analysis_impl.h"

enum { SLS = FAB_ANALYSIS_SLS };

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
