/* SPDX-License-Identifier: BSD-2-Clause */
/* Is a flow saturated: one of many, by how little, and when that cannot be decided. */
#include "event/stream.h"
#include "support/simulated.h"
#include "support/test.h"

/* Until then a message of one packet, of 16 ticks, each so many ticks; 0: none. */
struct phase {
	uint64_t until;
	double every;
};

/* The first `n_senders` endpoints send to the last one, others to their neighbour. */
struct flows {
	uint32_t n_ends, n_senders;
	struct phase of[4];
	double other;	 /* ticks between messages of the neighbours; 0: none */
	uint64_t seed;	 /* 0: at equal distances */
	uint32_t around; /* > 0: all send so many further */
	uint64_t sent[512];
	double at[512];
};

static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *m)
{
	struct flows *s = context;
	bool to_last = e < s->n_senders;
	struct fab_stream stream = fab_stream_of(s->seed, e);
	const struct phase *phase = s->of;
	double every;

	(void)now;
	while (phase->until <= (uint64_t)s->at[e])
		phase++;
	every = to_last ? phase->every : s->other;
	if (every <= 0 || (e == s->n_ends - 1 && !s->around))
		return false;
	*m = (struct fab_message){.time = (uint64_t)s->at[e],
				  .bytes = 16,
				  .target = s->around ? (e + s->around) % s->n_ends
					    : to_last ? s->n_ends - 1
						      : (e + 1) % (s->n_ends - 1)};
	stream.draw = s->sent[e]++;
	s->at[e] += s->seed ? fab_stream_exponential(&stream, every) : every;
	return true;
}

static void run(const struct simulated *s, const struct fab_sim_params *params,
		struct flows flows, struct fab_sim_result *r)
{
	struct fab_messages messages = {.context = &flows, .next = next};

	flows.n_ends = s->ends.n;
	MUST(fab_sim_run(&s->problem, params, &messages, r, ERR));
	simulated_balance(r);
}

static struct fab_sim_params flits(uint64_t time)
{
	struct fab_sim_params params = simulated_flits(VOQ, 16, 8, time);

	params.warmup = 5000;
	return params;
}

/* Two senders of 127 hosts want 80 % each of one cable; nothing else is sent, or all
 * others send half of what they can: the flows that are full are found, and no other. */
Test(sim_growth, one_receiver_of_many)
{
	struct fab_sim_params params = flits(20000);
	OWN(simulated) s;

	simulated_init(&s, "pgft:h=2,m=16/8,w=1/16,p=1/1", "minhop");
	for (int i = 0; i < 8; i++) {
		struct flows flows = {.n_senders = 2,
				      /* 160 %, 76 % */
				      .of = {{UINT64_MAX, i & 1 ? 20 : 42}},
				      .other = i & 2 ? 32 : 0,
				      .seed = i & 4 ? 1 : 0};
		OWN(fab_sim_result) r;
		const struct fab_sim_growth *g = &r.growth;

		run(&s, &params, flows, &r);
		cr_expect_eq(r.is_saturated, i & 1, "%d", i);
		cr_expect_not(r.is_undecided, "%d", i);
		cr_expect_eq(g->n_targets, i & 1, "%d", i);
		cr_expect_leq(g->n_sources, i & 1 ? 2 : 0, "%d", i);
		cr_expect_float_eq(g->least_carried, i & 1 ? 0.62 : 1, 0.03);
		if (!(i & 1))
			continue;
		cr_expect(g->worst_is_target && g->worst == s.ends.n - 1);
		cr_expect_float_eq(g->worst_share, 0.375, 0.03, "%g", g->worst_share);
	}
}

/*
 * On one switch, whose cables carry a packet in 16 ticks; bins have 1000 ticks, measured
 * from 5000 on. At equal distances 2 % too much is certain, 1 % too little is not
 * saturated. A backlog that grows by less than 1 % of what was created, only in the first
 * half of the measured time, or for a short time, is not saturated for certain; in the
 * last case that is certain. One side alone can be saturated: a receiver whose packets
 * wait in large buffers; a source that creates more than its own cable carries, the
 * unsent packets of which count for its receiver, too.
 */
Test(sim_growth, kinds_of_growth)
{
	static const struct {
		uint32_t n_senders, buffer;
		struct phase of[4];
		bool is_saturated, is_undecided;
		int n_sources, n_targets; /* -1: any */
	} all[] = {
		{2, 8, {{UINT64_MAX, 32 / 1.02}}, true, false, -1, -1},
		{2, 8, {{UINT64_MAX, 32 / 0.99}}, false, false, 0, 0},
		{2, 8, {{UINT64_MAX, 32 / 1.005}}, false, false, 0, 0},
		{2, 8, {{14000, 32 / 1.05}, {UINT64_MAX, 32}}, false, true, 0, 0},
		{2, 8, {{18000, 64}, {18900, 16}, {UINT64_MAX, 0}}, false, false, 0, 0},
		{2, 1000, {{UINT64_MAX, 32 / 1.2}}, true, false, 0, 1},
		{1, 8, {{UINT64_MAX, 16 / 1.2}}, true, false, 1, 1},
	};
	struct fab_sim_params params = flits(15000);
	OWN(simulated) s;

	simulated_init(&s, "fattree:radix=4,levels=1", "minhop");
	for (size_t i = 0; i < FAB_COUNT(all); i++) {
		struct flows flows = {.n_senders = all[i].n_senders};
		OWN(fab_sim_result) r;

		memcpy(flows.of, all[i].of, sizeof(flows.of));
		params.buffer = all[i].buffer;
		run(&s, &params, flows, &r);
		cr_expect_eq(r.is_saturated, all[i].is_saturated, "%zu", i);
		cr_expect_eq(r.is_undecided, all[i].is_undecided, "%zu", i);
		if (all[i].n_sources < 0)
			continue;
		cr_expect_eq(r.growth.n_sources, all[i].n_sources, "%zu", i);
		cr_expect_eq(r.growth.n_targets, all[i].n_targets, "%zu", i);
	}
}

/* Nothing is judged of a run that stalls, though most bins ended before: all packets go
 * three switches of eight round the same way. */
Test(sim_growth, stalled)
{
	struct flows busy_late = {.of = {{30000, 160}, {UINT64_MAX, 16}}, .around = 6};
	struct fab_sim_params params = flits(30000);
	OWN(fab_sim_result) r;
	OWN(simulated) s;

	simulated_init(&s, "torus:dims=8,hosts=2", "minhop");
	busy_late.n_senders = s.ends.n;
	run(&s, &params, busy_late, &r);
	cr_expect(r.is_stalled && r.is_undecided && !r.is_saturated);
	cr_expect_gt(r.time, 15000, "%zu", r.time);
	cr_expect_eq(r.growth.packets, 0);
}

/* Packets that are under way, or were dropped, are no backlog; where none can have
 * arrived that is not decided. */
Test(sim_growth, packets_under_way)
{
	struct flows flows = {.n_senders = 2, .of = {{UINT64_MAX, 64}}};
	OWN(simulated) s;
	size_t n;

	simulated_init(&s, "fattree:radix=8,levels=2", "minhop");
	n = s.routes->column_row ? s.routes->n_rows : s.routes->n_columns;
	for (int i = 0; i < 3; i++) {
		struct fab_sim_params params = flits(4000);
		OWN(fab_sim_result) r;

		params.warmup = i ? 30000 : 0;
		params.host_delay = i < 2 ? 6000 : 0;
		for (size_t k = 0; i == 2 && k < n * s.f->n_switches; k++)
			if (s.routes->next[k] != FAB_ARC_HERE)
				s.routes->next[k] = FAB_ARC_NONE;
		run(&s, &params, flows, &r);
		cr_expect_eq(r.is_undecided, i == 0);
		cr_expect_not(r.is_saturated);
		cr_expect_eq(r.unroutable > 100, i == 2);
	}
}
