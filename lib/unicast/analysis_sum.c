/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of many sets of faults as one. */
#include "unicast/analysis.h"

#include <string.h>

/* Lists of the first set are those of the sum. */
static void take_lists(struct fab_analysis *sum, struct fab_analysis *j)
{
	sum->deadlock_free = true;
	sum->gaps = j->gaps;
	sum->valleys = j->valleys;
	sum->unreached = j->unreached;
	memset(&j->gaps, 0, sizeof(j->gaps));
	memset(&j->valleys, 0, sizeof(j->valleys));
	memset(&j->unreached, 0, sizeof(j->unreached));
}

static void add_maxima(struct fab_analysis *sum, const struct fab_analysis *j)
{
	if (j->max_hops > sum->max_hops)
		sum->max_hops = j->max_hops;
	if (j->vls > sum->vls)
		sum->vls = j->vls;
	if (j->sls > sum->sls)
		sum->sls = j->sls;
}

static void add_cycles(struct fab_analysis *sum, struct fab_analysis *j)
{
	bool is_certain = (sum->cycle_channels && !sum->is_unknown) ||
			  (j->cycle_channels && !j->is_unknown);

	if (!sum->cycle_channels && j->cycle_channels) {
		sum->cycle.v = j->cycle.v;
		sum->cycle.n = j->cycle.n;
		memset(&j->cycle, 0, sizeof(j->cycle));
	}
	sum->deadlock_free = sum->deadlock_free && j->deadlock_free;
	sum->cycle_channels += j->cycle_channels;
	sum->is_unknown = (sum->is_unknown || j->is_unknown) && !is_certain;
	sum->assumes_sls |= j->assumes_sls;
	sum->assumes_lanes |= j->assumes_lanes;
	sum->pairs_on_cycles += j->pairs_on_cycles;
}

void fab_analysis_add(struct fab_analysis *sum, struct fab_analysis *j, bool is_first)
{
	if (is_first)
		take_lists(sum, j);
	sum->pairs += j->pairs;
	sum->pairs_across_planes += j->pairs_across_planes;
	sum->connected += j->connected;
	sum->unreachable += j->unreachable;
	sum->connected_in_graph += j->connected_in_graph;
	sum->minimal += j->minimal;
	sum->valley_pairs += j->valley_pairs;
	for (size_t i = 0; i < FAB_COUNT(sum->hops); i++)
		sum->hops[i] += j->hops[i];
	add_maxima(sum, j);
	add_cycles(sum, j);
}
