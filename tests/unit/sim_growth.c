/* SPDX-License-Identifier: BSD-2-Clause */
/* Is a flow saturated: one of many, by how little, and when that cannot be decided. */
#include "event/stream.h"
#include "support/simulated.h"
#include "support/test.h"

/* All endpoints up to `n_senders` send to the last one, others to their neighbour. */
struct source {
	uint32_t n_ends, n_senders, size;
	double every, other; /* ticks between messages; of the neighbours; 0: nothing */
	uint64_t seed;	     /* 0: at equal distances */
	uint64_t sent[512];
	double at[512];
};

static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *m)
{
	struct source *s = context;
	bool to_last = e < s->n_senders;
	double every = to_last ? s->every : s->other;
	struct fab_stream stream = fab_stream_of(s->seed, e);

	(void)now;
	if (every <= 0 || e == s->n_ends - 1)
		return false;
	stream.draw = s->sent[e]++;
	s->at[e] += s->seed ? fab_stream_exponential(&stream, every) : every;
	*m = (struct fab_message){.time = (uint64_t)s->at[e],
				  .bytes = s->size,
				  .target = to_last ? s->n_ends - 1
						    : (e + 1) % (s->n_ends - 1)};
	return true;
}

/* Sources whose rate changes: the first `n_senders` endpoints send to the last one, or
 * all to the endpoint at the other end of a ring. */
struct phase {
	uint64_t until;
	double every; /* ticks between messages of one packet; 0: none */
};

struct phases {
	uint32_t n_ends, n_senders; /* n_senders == n_ends: around a ring */
	const struct phase *of;
	double at[512];
};

static bool next_of_phase(void *context, uint32_t e, uint64_t now, struct fab_message *m)
{
	struct phases *s = context;
	const struct phase *phase = s->of;

	(void)now;
	while (phase->until <= (uint64_t)s->at[e])
		phase++;
	if (e >= s->n_senders || phase->every <= 0)
		return false;
	*m = (struct fab_message){.time = (uint64_t)s->at[e],
				  .bytes = 16,
				  .target = s->n_senders == s->n_ends
						    ? (e + s->n_ends / 2) % s->n_ends
						    : s->n_ends - 1};
	s->at[e] += phase->every;
	return true;
}

static struct fab_sim_params flits(uint64_t time)
{
	struct fab_sim_params params = fab_sim_defaults_by_flit();

	params.time = time;
	params.warmup = time / 4;
	params.drain = 0;
	params.n_threads = 1;
	return params;
}

static void run(const struct simulated *s, const struct fab_sim_params *params,
		struct source source, struct fab_sim_result *r)
{
	struct fab_messages messages = {.context = &source, .next = next};

	source.n_ends = s->ends.n;
	source.size = 16;
	MUST(fab_sim_run(&s->problem, params, &messages, r, ERR));
}

static void run_phases(const struct simulated *s, const struct fab_sim_params *params,
		       uint32_t n_senders, const struct phase *of,
		       struct fab_sim_result *r)
{
	struct phases phases = {.n_ends = s->ends.n, .n_senders = n_senders, .of = of};
	struct fab_messages messages = {.context = &phases, .next = next_of_phase};

	MUST(fab_sim_run(&s->problem, params, &messages, r, ERR));
}

/* Two senders of 127 hosts want 80 % each of one cable; nothing else is sent, or all
 * others send half of what they can: the flows that are full are found, and no other. */
Test(sim_growth, one_receiver_of_many)
{
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "pgft:h=2,m=16/8,w=1/16,p=1/1", "minhop");
	for (int i = 0; i < 8; i++) {
		struct fab_sim_params params = flits(20000);
		struct source source = {.n_senders = 2,
					.every = i & 1 ? 20 : 42, /* 160 %, 76 % */
					.other = i & 2 ? 32 : 0,
					.seed = i & 4 ? 1 : 0};
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;

		run(&s, &params, source, &r);
		cr_expect_eq(r.is_saturated, i & 1, "%d", i);
		cr_expect_not(r.is_undecided, "%d", i);
		if (i & 1) {
			cr_expect_eq(r.growth.n_targets, 1, "%d", i);
			cr_expect_leq(r.growth.n_sources, 2, "%d", i);
			cr_expect_eq(r.growth.worst, s.ends.n - 1);
			cr_expect(r.growth.worst_is_target);
			cr_expect_float_eq(r.growth.worst_share, 0.375, 0.03, "%g",
					   r.growth.worst_share);
			cr_expect_float_eq(r.growth.least_carried, 0.62, 0.03, "%g",
					   r.growth.least_carried);
		} else {
			cr_expect_eq(r.growth.n_targets + r.growth.n_sources, 0, "%d", i);
			cr_expect_eq(r.growth.least_carried, 1);
		}
	}
}

/* 2 % too much at equal distances is certain, 1 % too little is not saturated; a flow by
 * chance that has 90, 99 or 100 % of a cable never is for certain, and with 130 % is. */
Test(sim_growth, near_saturation)
{
	struct fab_sim_params params = flits(20000);
	struct fab_sim_result r;
	FAB_AUTO(simulated_fini) struct simulated s;
	int n_undecided = 0;

	simulated_init(&s, "fattree:radix=4,levels=1", "minhop");
	run(&s, &params, (struct source){.n_senders = 2, .every = 32 / 1.02}, &r);
	cr_expect(r.is_saturated);
	fab_sim_result_fini(&r);
	run(&s, &params, (struct source){.n_senders = 2, .every = 32 / 0.99}, &r);
	cr_expect_not(r.is_saturated || r.is_undecided);
	fab_sim_result_fini(&r);
	for (uint64_t seed = 1; seed <= 60; seed++) {
		static const double loads[] = {0.9, 0.99, 1, 1.3};
		double load = loads[seed % 4];
		struct source source = {.n_senders = 2, .every = 32 / load, .seed = seed};

		run(&s, &params, source, &r);
		cr_expect_eq(r.is_saturated, load > 1, "%zu: %g", seed, load);
		n_undecided += r.is_undecided;
		fab_sim_result_fini(&r);
	}
	cr_expect_gt(n_undecided, 5, "%d", n_undecided);
	cr_expect_lt(n_undecided, 40, "%d", n_undecided);
}

/* A backlog that grows by less than 1 % of what was created, only in the first half of
 * the measured time, or for a short time, is not saturated for certain; in the last case
 * that is certain. Bins have 1000 ticks, measured from 5000 on; the cable carries a
 * packet in 16. */
Test(sim_growth, kinds_of_growth)
{
	static const struct {
		struct phase of[4];
		bool is_undecided;
	} all[] = {
		{{{UINT64_MAX, 32 / 1.005}}, false},
		{{{5000 + 9000, 32 / 1.05}, {UINT64_MAX, 32}}, true},
		{{{5000 + 13000, 64}, {5000 + 13900, 16}, {UINT64_MAX, 0}}, false},
	};
	struct fab_sim_params params = flits(15000);
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "fattree:radix=4,levels=1", "minhop");
	params.warmup = 5000;
	for (size_t i = 0; i < FAB_COUNT(all); i++) {
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;

		run_phases(&s, &params, 2, all[i].of, &r);
		cr_expect_not(r.is_saturated, "%zu", i);
		cr_expect_eq(r.is_undecided, all[i].is_undecided, "%zu: %g", i,
			     r.growth.share);
	}
}

/* One side alone can be saturated: a receiver whose packets wait in large buffers; a
 * source that creates more than its own cable carries, the unsent packets of which count
 * for its receiver, too. */
Test(sim_growth, one_side)
{
	struct fab_sim_params params = flits(15000);
	FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "fattree:radix=4,levels=1", "minhop");
	params.buffer = 1000;
	run_phases(&s, &params, 2, (const struct phase[]){{UINT64_MAX, 32 / 1.2}}, &r);
	cr_expect(r.is_saturated);
	cr_expect_eq(r.growth.n_sources, 0, "%u", r.growth.n_sources);
	cr_expect_eq(r.growth.n_targets, 1, "%u", r.growth.n_targets);
	fab_sim_result_fini(&r);
	run_phases(&s, &params, 1, (const struct phase[]){{UINT64_MAX, 16 / 1.2}}, &r);
	cr_expect(r.is_saturated);
	cr_expect_eq(r.growth.n_sources, 1, "%u", r.growth.n_sources);
	cr_expect_eq(r.growth.n_targets, 1, "%u", r.growth.n_targets);
}

/* Nothing is judged of a run that stalls, though most bins ended before. */
Test(sim_growth, stalled)
{
	static const struct phase busy_late[] = {{30000, 160}, {UINT64_MAX, 16}};
	struct fab_sim_params params = flits(30000);
	FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "torus:dims=6,hosts=2", "minhop");
	for (uint32_t c = 0; c < s.routes->n_columns; c++)
		simulated_turn_right(&s, c);
	params.warmup = 5000;
	run_phases(&s, &params, s.ends.n, busy_late, &r);
	cr_expect(r.is_stalled);
	cr_expect(r.is_undecided && !r.is_saturated);
	cr_expect_gt(r.time, 15000, "%zu", r.time);
	cr_expect_eq(r.growth.packets, 0);
}

/* Packets that are under way, or were dropped, are no backlog; where none can have
 * arrived that is not decided. */
Test(sim_growth, packets_under_way)
{
	struct fab_sim_params params = flits(4000);
	struct source source = {.n_senders = 2, .every = 64};
	FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
	FAB_AUTO(simulated_fini) struct simulated s;
	size_t n;

	simulated_init(&s, "fattree:radix=8,levels=2", "minhop");
	params.warmup = 0;
	params.host_delay = 6000;
	run(&s, &params, source, &r);
	cr_expect(r.is_undecided && !r.is_saturated);
	fab_sim_result_fini(&r);
	params.warmup = 30000;
	run(&s, &params, source, &r);
	cr_expect_not(r.is_undecided || r.is_saturated);
	fab_sim_result_fini(&r);
	params.host_delay = 0;
	n = s.routes->column_row ? s.routes->n_rows : s.routes->n_columns;
	for (size_t i = 0; i < n * s.f->n_switches; i++)
		if (s.routes->next[i] != FAB_ARC_HERE)
			s.routes->next[i] = FAB_ARC_NONE;
	run(&s, &params, source, &r);
	cr_expect_gt(r.unroutable, 100);
	cr_expect_not(r.is_undecided || r.is_saturated);
}
