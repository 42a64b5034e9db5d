/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When has a network settled (windows of the warm-up), and is it saturated (backlogs of
 * endpoints, counted in bins of the measured time)?
 */
#pragma once

#include "sim/hot.h"

enum sim_steady {
	SIM_UNSETTLED,
	SIM_SETTLED, /* throughput and latency are level */
	SIM_GROWING, /* latency grows with time: no warm-up has an end */
};

/* Packets delivered in a window of the warm-up. */
struct sim_window {
	uint64_t packets, bytes;
	double latency; /* sum, ticks */
};

struct sim_windows {
	FAB_VEC(struct sim_window) of;
	uint64_t ticks;	 /* of each */
	double per_byte; /* ticks of a byte on a host's cable */
};

/* Judge the windows so far. O(windows). */
enum sim_steady sim_windows_judge(const struct sim_windows *w);

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
