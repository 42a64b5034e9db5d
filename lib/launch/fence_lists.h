/* SPDX-License-Identifier: BSD-2-Clause */
/* What each node of a fence sends and receives, in the order of steps: for simulations.
 */
#pragma once

#include "launch/fence.h"

struct fence_lists {
	/* Messages (numbers) of a node: sends[sends_first[i] .. sends_first[i + 1] - 1],
	 * and those that it receives alike. */
	uint32_t *sends_first, *sends, *receives_first, *receives;
	uint32_t *needs; /* [messages] receives of its sender in the steps before, of the
			    same repeat */
};

/* The caller ends it. O(messages). */
void fence_lists_init(struct fence_lists *l, const struct fab_fence_plan *plan);
void fence_lists_fini(struct fence_lists *l);

/* How far a node is. */
struct fence_progress {
	uint64_t n_received; /* in the order of its list, without gaps; of all repeats */
	uint64_t n_sent;
};

/*
 * The message that node i may send next, FAB_NONE: none, or it waits for others. The
 * caller counts it in n_sent. O(1).
 */
static inline uint32_t fence_lists_next(const struct fence_lists *l, uint32_t i,
					const struct fence_progress *p,
					uint32_t n_repeats)
{
	uint32_t n = l->sends_first[i + 1] - l->sends_first[i], message;
	uint32_t n_in = l->receives_first[i + 1] - l->receives_first[i];

	if (!n || p->n_sent >= (uint64_t)n * n_repeats)
		return FAB_NONE;
	message = l->sends[l->sends_first[i] + p->n_sent % n];
	return p->n_received < p->n_sent / n * n_in + l->needs[message] ? FAB_NONE
									: message;
}

/* Count what has come: came[messages] says how often each did. O(1) amortised. */
static inline void fence_lists_advance(const struct fence_lists *l, uint32_t i,
				       struct fence_progress *p, const uint32_t *came)
{
	uint32_t n = l->receives_first[i + 1] - l->receives_first[i];
	const uint32_t *list = l->receives + l->receives_first[i];

	while (came[list[p->n_received % n]] > p->n_received / n)
		p->n_received++;
}
