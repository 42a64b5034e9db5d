/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths that go down and up again, by the switches at their ends. */
#include "unicast/judge_impl.h"

#include <stdlib.h>
#include <string.h>

/* Where the path from a switch turns up again. */
static uint32_t turn_of(const struct fab_judging *j, const uint16_t *next, uint32_t u)
{
	const struct fab_fabric *f = j->r->f;
	bool goes_down = false;

	for (;;) {
		uint32_t arc = f->arc_first[u] + next[u];

		if (goes_down && j->direction[arc] == 1)
			return u;
		goes_down |= j->direction[arc] == 2;
		u = f->arc_peer[arc];
	}
}

/* Valleys towards one switch: pairs and a turn for each switch that they come from. */
struct towards {
	uint64_t *pairs;
	uint32_t *at;
};

static uint64_t add(const struct fab_judging *j, const struct fab_target *target,
		    const struct fab_judge_work *w, struct towards *t)
{
	uint64_t n = 0;

	for (uint32_t i = 1; i < w->n_order; i++) {
		uint32_t u = w->order[i];
		uint64_t pairs = (uint64_t)j->weight[u] * target->weight;

		if (!(w->turns[u] & 2) || !pairs)
			continue;
		if (!t->pairs[u])
			t->at[u] = turn_of(j, fab_judge_next(j, target), u);
		t->pairs[u] += pairs;
		n += pairs;
	}
	return n;
}

static void keep(const struct fab_judging *j, uint32_t root, struct towards *t,
		 struct fab_judgement *out)
{
	for (uint32_t u = 0; u < j->n_switches; u++) {
		struct fab_valley valley = {t->at[u], u, root, t->pairs[u]};

		if (t->pairs[u] && out->valleys.n < FAB_VALLEYS_MAX)
			FAB_PUSH(&out->valleys, valley);
		t->pairs[u] = 0;
	}
}

void fab_judge_name_valleys(const struct fab_judging *j, size_t first,
			    struct fab_judge_work *w, struct fab_judgement *out)
{
	struct towards t = {.pairs = FAB_NEW0((size_t)j->n_switches + 1, uint64_t),
			    .at = FAB_NEW0((size_t)j->n_switches + 1, uint32_t)};
	uint64_t left = out->valley_pairs;

	for (size_t i = first; i < j->targets.n; i++) {
		const struct fab_target *target = &j->targets.v[i];

		if (fab_judge_follow(j, target, w->hops, w))
			left -= add(j, target, w, &t);
		if (i + 1 < j->targets.n && j->targets.v[i + 1].root == target->root)
			continue;
		keep(j, target->root, &t, out);
		if (!left || out->valleys.n == FAB_VALLEYS_MAX)
			break;
	}
	free(t.pairs);
	free(t.at);
}
