/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths against the shortest that the live graph has, a block of targets at a time. */
#include "unicast/analysis_impl.h"

#include <string.h>

enum { BLOCK = FAB_ANALYSIS_BLOCK };

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

/* The hops of the tables, by switch; the root is there whatever the tables say. */
static void turn_hops(const struct fab_analyser *j, size_t first, size_t n,
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
		w->is_shorter[u] = 0;
	}
	for (size_t k = 0; k < n; k++) {
		uint32_t root = j->targets.v[first + k].root;

		w->is_shorter[root] |= w->hops[k * j->n_switches + root] != 0;
		w->nearest[(size_t)root * BLOCK + k] = 0;
	}
}

/* Who is connected at all. */
FAB_WIDE static void add_row(const uint16_t *row, uint32_t weight, uint32_t *sum)
{
	for (int k = 0; k < BLOCK; k++)
		sum[k] += row[k] < FAB_HOPS_NEVER ? weight : 0;
}

/* Those of a switch whose paths are as short as can be, where hops differ from the
 * nearest or not all of the ends send. */
static void add_minimal(const struct fab_analyser *j, size_t first, size_t n, uint32_t u,
			const struct fab_analysis_work *w, uint32_t *minimal)
{
	for (size_t k = 0; k < n; k++) {
		uint16_t h = w->nearest[(size_t)u * BLOCK + k];

		if (h >= FAB_HOPS_NEVER || h != w->hops[k * j->n_switches + u])
			continue;
		minimal[k] +=
			u == j->targets.v[first + k].root
				? j->weight[u]
				: fab_analysis_senders(j, w->sl + k * j->n_groups, u);
	}
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
		if (j->has_none || w->is_shorter[u])
			add_minimal(j, first, n, u, w, minimal);
		else
			add_row(row, j->weight[u], minimal);
	}
	for (size_t k = 0; k < n; k++) { /* nobody sends to itself */
		const struct fab_target *target = &j->targets.v[first + k];
		uint32_t itself = j->weight[target->root] != 0;
		bool is_led = w->hops[k * j->n_switches + target->root] == 0;

		w->connected_in_graph +=
			(uint64_t)(in_graph[k] - itself) * target->weight;
		w->minimal +=
			(uint64_t)(minimal[k] - (is_led ? itself : 0)) * target->weight;
	}
}

void fab_analysis_measure(const struct fab_analyser *j, size_t first, size_t n,
			  struct fab_analysis_work *w)
{
	turn_hops(j, first, n, w);
	while (sweep(j, w->nearest, w->is_shorter))
		;
	count_nearest(j, first, n, w);
}
