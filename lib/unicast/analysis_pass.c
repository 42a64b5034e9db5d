/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The paths to a target from the far ends to the root, once: loads of cables, and which
 * channels depend on which. Those farthest away come first, so that all that comes
 * through a switch is known when it is its turn.
 */
#include "unicast/analysis_impl.h"

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

/* A packet came by arc and needs a lane that is not told. */
static void note_missed(struct fab_analyser *j, uint32_t sw, uint32_t in, uint32_t out,
			unsigned sl)
{
	uint64_t at = fab_told_at(
		j->r, sw, fab_arc_port(j->r->f, sw, j->r->f->arc_first[sw] + in), out);

	__atomic_store_n(&j->is_missed[at * j->n_sls + sl], 1, __ATOMIC_RELAXED);
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
		if (to == FAB_VL_UNKNOWN)
			note_missed(j, v, in, next[v], s);
		if (to >= FAB_ANALYSIS_DROP)
			continue;
		for (uint32_t vls = w->lanes[(size_t)u * SLS + s]; vls; vls &= vls - 1)
			fab_cdg_add(&j->cdg, arc, (uint32_t)__builtin_ctz(vls), next[v],
				    to);
	}
}

/* The same of levels that keep their lane; bits of lanes. */
static inline void pass_same_lane(struct fab_analyser *j, uint32_t arc, uint32_t out,
				  uint32_t levels)
{
	for (; levels; levels &= levels - 1) {
		uint32_t vl = j->lane_of_sl[__builtin_ctz(levels)];

		fab_cdg_add(&j->cdg, arc, vl, out, vl);
	}
}

/* Levels of a switch's own ends. */
static void find_levels(const struct fab_analyser *j, const uint8_t *sl,
			struct fab_analysis_work *w)
{
	bool is_one = j->r->lanes == FAB_LANES_ONE; /* whatever the level */

	for (uint32_t u = 0; u < j->n_switches; u++)
		w->mask[u] = is_one && w->senders[u];
	for (uint32_t g = 0; g < j->n_groups && !is_one; g++)
		if (fab_analysis_is_level(sl[g]))
			w->mask[j->group_switch[g]] |= 1u << sl[g];
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

void fab_analysis_pass(struct fab_analyser *j, const struct fab_target *target,
		       const uint8_t *sl, struct fab_analysis_work *w)
{
	for (uint32_t u = 0; w->load && u < j->n_switches; u++)
		w->flow[u] = (uint64_t)w->senders[u] * target->weight;
	if (j->options->only_load) {
		for (uint32_t i = w->walk.n_order; --i > 0;)
			pass_flow(w, i);
		return;
	}
	find_levels(j, sl, w);
	if (w->load)
		pass_all(j, w, true);
	else
		pass_all(j, w, false);
}
