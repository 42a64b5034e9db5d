/* SPDX-License-Identifier: BSD-2-Clause */
/* Backlogs of endpoints: counted in bins of the measured time, and judged. */
#pragma once

#include "sim/cells.h"

/* Forget all that was counted. O(endpoints). */
void sim_growth_reset(struct sim *s);
/* Fill in r->growth, is_saturated and is_undecided; r->time is there. O(endpoints). */
void sim_growth(const struct sim *s, uint64_t idle_latency, struct fab_sim_result *r);

/* Packets more (created, at `time`) or less (sent, delivered, dropped). Several parts may
 * count for one endpoint at once. O(1). */
static inline void sim_growth_count(const struct sim *s, struct sim_flow *flow,
				    uint64_t time, int32_t packets)
{
	unsigned bin;
	int32_t *change;

	if (!sim_in_window(s, time))
		return;
	bin = (unsigned)((double)(time - s->begin) * s->bins_a_tick);
	change = &flow->change[bin < SIM_BINS ? bin : SIM_BINS - 1];
	if (s->n_parts > 1)
		__atomic_fetch_add(change, packets, __ATOMIC_RELAXED);
	else
		*change += packets;
	if (packets <= 0)
		return;
	if (s->n_parts > 1)
		__atomic_fetch_add(&flow->created, packets, __ATOMIC_RELAXED);
	else
		flow->created += packets;
}

static inline void sim_growth_of_source(const struct sim *s, uint32_t end, uint64_t time,
					int32_t packets)
{
	if (s->flow)
		sim_growth_count(s, &s->flow[end], time, packets);
}

static inline void sim_growth_of_target(const struct sim *s, uint32_t end, uint64_t time,
					int32_t packets)
{
	if (s->flow)
		sim_growth_count(s, &s->flow[s->net.n_ends + end], time, packets);
}
