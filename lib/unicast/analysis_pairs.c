/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs that deserve a word, by the switches at their ends. */
#include "unicast/analysis_impl.h"
#include "unicast/path.h"

#include <stdlib.h>
#include <string.h>

/* Pairs towards one switch: how many, and where, for each switch that they come from. */
struct towards {
	uint64_t *pairs, left; /* how many of all are still to be found */
	uint32_t *at;
	struct fab_pair_list *list;
};

static void towards_init(struct towards *t, const struct fab_analyser *j, uint64_t n,
			 struct fab_pair_list *list)
{
	t->pairs = FAB_NEW0((size_t)j->n_switches + 1, uint64_t);
	t->at = FAB_NEW0((size_t)j->n_switches + 1, uint32_t);
	t->left = n;
	t->list = list;
}

static void towards_fini(struct towards *t)
{
	free(t->pairs);
	free(t->at);
}

static bool is_done(const struct towards *t)
{
	return !t->left || t->list->n == FAB_PAIRS_MAX;
}

static void add(struct towards *t, uint32_t from, uint32_t at, uint64_t pairs)
{
	if (!t->pairs[from])
		t->at[from] = at;
	t->pairs[from] += pairs;
	t->left -= pairs;
}

static void keep(struct towards *t, const struct fab_analyser *j, uint32_t root)
{
	for (uint32_t u = 0; u < j->n_switches; u++) {
		struct fab_pairs pairs = {t->at[u], u, root, t->pairs[u]};

		if (t->pairs[u] && t->list->n < FAB_PAIRS_MAX)
			FAB_PUSH(t->list, pairs);
		t->pairs[u] = 0;
	}
}

/* Where the path from a switch turns up again. */
static uint32_t turn_of(const struct fab_analyser *j, const struct fab_target *target,
			uint32_t u)
{
	struct fab_path path = fab_path_from(j->r, u, target->column);
	bool goes_down = false;

	for (; fab_path_step(&path); u = path.at) {
		if (goes_down && j->direction[path.arc] == 1)
			break;
		goes_down |= j->direction[path.arc] == 2;
	}
	return u;
}

/* Where packets from a switch end that do not arrive: dropped, or back again. */
static uint32_t end_of(const struct fab_analyser *j, const struct fab_target *target,
		       uint32_t u, uint32_t *seen_by)
{
	struct fab_path path = fab_path_from(j->r, u, target->column);

	do {
		if (seen_by[path.at] == u)
			break;
		seen_by[path.at] = u;
	} while (fab_path_step(&path));
	return path.at;
}

static void add_valleys(struct towards *t, const struct fab_analyser *j,
			const struct fab_target *target, struct fab_analysis_work *w)
{
	if (target->column == FAB_NONE)
		return;
	for (uint32_t i = 1; i < w->walk.n_order; i++) {
		uint32_t u = w->walk.order[i];
		uint64_t pairs =
			(uint64_t)fab_analysis_senders(j, w->sl, u) * target->weight;

		if (w->walk.turns[u] & 2 && pairs)
			add(t, u, turn_of(j, target, u), pairs);
	}
}

/* Those that are not led to the root, or have no service level; path: room for marks. */
static void add_unreachable(struct towards *t, const struct fab_analyser *j,
			    const struct fab_target *target, struct fab_analysis_work *w)
{
	memset(w->walk.path, 0xff, j->n_switches * sizeof(*w->walk.path));
	for (uint32_t u = 0; u < j->n_switches; u++) {
		bool is_led = w->hops[u] < FAB_HOPS_NEVER;
		uint64_t pairs = (uint64_t)j->weight[u] * target->weight;
		uint32_t at = u;

		if (fab_planes_are_parallel(j->planes, j->planes->of_switch[u],
					    j->planes->of_switch[target->root]))
			continue;
		if (u == target->root && (is_led || pairs))
			pairs -= is_led ? pairs : target->weight;
		else if (is_led)
			pairs -= (uint64_t)fab_analysis_senders(j, w->sl, u) *
				 target->weight;
		if (!pairs)
			continue;
		if (target->column == FAB_NONE)
			at = FAB_NONE;
		else if (!is_led)
			at = end_of(j, target, u, w->walk.path);
		add(t, u, at, pairs);
	}
}

void fab_analysis_name_pairs(const struct fab_analyser *j, struct fab_analysis_work *w,
			     struct fab_analysis *out)
{
	size_t first = w->unreachable_target < w->valley_target ? w->unreachable_target
								: w->valley_target;
	struct towards valleys, unreachable;

	towards_init(&valleys, j, out->valley_pairs, &out->valleys);
	towards_init(&unreachable, j, out->unreachable, &out->unreached);
	for (size_t i = first; i < j->targets.n; i++) {
		const struct fab_target *target = &j->targets.v[i];

		fab_analysis_follow(j, target, w->hops, w);
		if (j->has_none)
			fab_analysis_gather_sls(j, i, 1, w);
		if (!is_done(&valleys))
			add_valleys(&valleys, j, target, w);
		if (!is_done(&unreachable))
			add_unreachable(&unreachable, j, target, w);
		if (i + 1 < j->targets.n && j->targets.v[i + 1].root == target->root)
			continue;
		keep(&valleys, j, target->root);
		keep(&unreachable, j, target->root);
		if (is_done(&valleys) && is_done(&unreachable))
			break;
	}
	towards_fini(&valleys);
	towards_fini(&unreachable);
}
