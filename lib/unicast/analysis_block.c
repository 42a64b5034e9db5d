/* SPDX-License-Identifier: BSD-2-Clause */
/* Targets one after the other, each with the tree of paths that lead to it. */
#include "unicast/analysis_impl.h"

#include <string.h>

/* Up to so many hops are counted one number after the other, many switches at once. */
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

/* Levels of some groups towards targets first .. first + n - 1: sl[n][TILE]. */
static void gather_tile(const struct fab_analyser *j, uint32_t group, uint32_t n_groups,
			size_t first, size_t n, uint8_t sl[][TILE])
{
	const struct fab_routes *r = j->r;
	uint32_t column[BLOCK];
	bool are_beside = n == BLOCK;

	for (size_t k = 0; k < n; k++) {
		column[k] = j->targets.v[first + k].column;
		are_beside =
			are_beside && column[k] != FAB_NONE && column[k] == column[0] + k;
		memset(sl[k], r->sl_default, n_groups);
	}
	for (uint32_t i = 0; i < n_groups; i++) {
		uint32_t from = j->group_row[group + i];
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

/* What of a row of hops is counted for all switches at once. */
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

/* Pairs by hops, but those from the root itself. */
static void count_hops(const struct fab_analyser *j, const struct fab_target *target,
		       const uint16_t *hops, uint32_t most, struct fab_analysis_work *w)
{
	if (most > w->max_hops)
		w->max_hops = most;
	for (uint32_t h = 1; h <= most && most <= HOPS_AT_ONCE; h++)
		w->hist[h] += (uint64_t)count_at(hops, w->senders, j->n_switches, h) *
			      target->weight;
	for (uint32_t i = 1; i < w->walk.n_order && most > HOPS_AT_ONCE; i++) {
		uint32_t u = w->walk.order[i], h = hops[u] < 255 ? hops[u] : 255;

		w->hist[h] += (uint64_t)w->senders[u] * target->weight;
	}
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

	count_hops(j, target, hops, t.most, w);
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
				w->sls |= level_bit(sl[g]);
	}
}

/* Ends that send to the target at hand, where not all do. */
static void find_senders(const struct fab_analyser *j, const uint8_t *sl,
			 struct fab_analysis_work *w)
{
	memcpy(w->senders, j->weight, j->n_switches * sizeof(*w->senders));
	for (uint32_t g = 0; g < j->n_groups; g++)
		if (sl[g] == FAB_SL_NONE)
			w->senders[j->group_switch[g]] -= j->group_size[g];
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
		if (j->has_none)
			find_senders(j, sl, w);
		fab_analysis_pass(j, target, sl, w);
		if (only_load)
			continue;
		count(j, first + k, hops, w);
		count_sls(j, target, sl, w);
		if (j->has_unknown)
			count_unknown(j, target, sl, w);
	}
	if (!only_load)
		fab_analysis_measure(j, first, n, w);
}
