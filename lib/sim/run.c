/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run: warm-up, the measured time, what is still under way. Parts work in windows, no
 * longer than what one does can touch another (conservative synchronisation: Chandy,
 * Misra 1979), and read each other's notices in between.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/progress.h"
#include "base/threads.h"
#include "sim/saturation.h"
#include "unicast/path.h"

enum {
	STALL_LATENCIES = 100,
	WARM_LATENCIES = 4, /* a window */
	WARM_MOST = 160,    /* windows at most, or twice the measured time */
	SAMPLE = 64,
	STEPS = 64,	     /* of the measured time, between which it is looked at */
	STEP_ENDS = 1 << 17, /* endpoints times idle latencies of a step, most */
};

/* State of a part between two windows. */
struct moment {
	uint64_t next; /* no event or notice of it is earlier; UINT64_MAX: none */
	bool has_failed;
};

/* Every n-th part from window to window, in parallel with the other threads. */
static void run_windows(struct sim *s, uint32_t first, struct fab_barrier *barrier,
			struct moment *moments, uint64_t limit)
{
	uint32_t n = barrier->n;

	for (unsigned turn = 0;; turn ^= 1) {
		struct moment *now = moments + (size_t)turn * s->n_parts;
		uint64_t start = UINT64_MAX, end;
		bool has_failed = false;

		for (uint32_t i = first; i < s->n_parts; i += n) {
			const struct sim_part *p = &s->part[i];

			now[i] = (struct moment){sim_part_first(p), p->rc};
			for (uint32_t to = 0; to < s->n_parts; to++)
				if (p->post[p->turn][to].first < now[i].next)
					now[i].next = p->post[p->turn][to].first;
		}
		fab_barrier_wait(barrier);
		for (uint32_t i = 0; i < s->n_parts; i++) {
			start = now[i].next < start ? now[i].next : start;
			has_failed |= now[i].has_failed;
		}
		for (uint32_t i = first; i < s->n_parts; i += n) {
			sim_part_read(&s->part[i], s->part[i].turn);
			s->part[i].turn ^= 1;
		}
		if (start >= limit || has_failed)
			return;
		end = start + s->window < limit ? start + s->window : limit;
		for (uint32_t i = first; i < s->n_parts; i += n)
			s->run(&s->part[i], end);
	}
}

/* The threads of a run: the first drives it, the others follow. */
struct team {
	struct sim *s;
	struct fab_barrier barrier;
	struct moment *moments; /* [2 * n_parts], used alternately */
	uint64_t limit;		/* of the windows */
	bool is_over;
};

static uint64_t in_flight(const struct sim *s)
{
	const struct sim_sums sums = sim_all_sums(s);

	return sim_in_flight(&sums);
}

/* The driver of a run. */
struct run {
	struct sim *s;
	struct team team;
	const struct fab_sim_params *params;
	struct fab_sim_result *result;
	uint64_t now, total; /* total: for the progress */
	uint64_t idle_latency, stall;
	bool is_over; /* stopped, stalled, failed, or nothing is left */
};

/* Of the longest of some paths, for want of a better measure. */
static uint64_t idle_latency(const struct sim *s)
{
	const struct fab_sim_problem *p = s->net.problem;
	uint32_t n = s->net.n_ends, most = 2, slowest = 0;

	for (uint32_t i = 0; p->routes && i < SAMPLE; i++) {
		uint32_t from = (uint32_t)((uint64_t)i * n / SAMPLE);
		uint32_t to = (from + n / 2) % n, hops;

		if (s->net.end_row[to] == FAB_NONE)
			continue;
		hops = fab_path_length(p->routes, p->ends->sw[from],
				       s->net.end_column[to]);
		if (hops != FAB_NONE && hops > most)
			most = hops;
	}
	for (uint32_t i = 0; i < s->net.n_all; i++)
		if (s->net.per_byte[i] > slowest)
			slowest = s->net.per_byte[i];
	return (most + 2) * s->hop_delay + s->host_delay +
	       sim_wire(slowest, s->params->mtu + s->params->header);
}

/* Has it come to an end by itself, or to a standstill? */
static void look(struct run *r)
{
	struct sim *s = r->s;
	uint64_t last = 0, left = in_flight(s);
	bool has_ended = true, is_waiting = left && sim_failure_next(s) != UINT64_MAX;

	for (uint32_t i = 0; i < s->n_parts; i++) {
		has_ended = has_ended && sim_part_is_over(&s->part[i]);
		last = s->part[i].last_move > last ? s->part[i].last_move : last;
		if (s->part[i].rc)
			r->is_over = true;
	}
	has_ended = has_ended && !is_waiting;
	if (left && !is_waiting &&
	    (has_ended || (r->now > last && r->now - last >= r->stall))) {
		r->result->is_stalled = true;
		r->is_over = true;
	}
	if (has_ended)
		r->is_over = true;
	if (r->params->progress &&
	    r->params->progress(r->params->progress_context,
				r->now < r->total ? r->now : r->total, r->total)) {
		r->result->is_stopped = true;
		r->is_over = true;
	}
}

/* On to `until`, in steps: no longer ones than an interrupt may wait for. */
static void go_on(struct run *r, uint64_t until, uint64_t step)
{
	uint64_t most = r->idle_latency * (1 + STEP_ENDS / (r->s->net.n_ends + 1));

	step = step < most ? step : most;
	while (r->now < until && !r->is_over) {
		uint64_t change = sim_failure_next(r->s);

		if (r->now == change) {
			sim_failure_step(r->s, r->now);
			continue;
		}
		r->now = until - r->now > step ? r->now + step : until;
		r->now = r->now < change ? r->now : change;
		if (r->s->n_parts == 1) {
			r->s->run(&r->s->part[0], r->now);
		} else {
			r->team.limit = r->now;
			fab_barrier_wait(&r->team.barrier);
			run_windows(r->s, 0, &r->team.barrier, r->team.moments, r->now);
			fab_barrier_wait(&r->team.barrier);
		}
		look(r);
	}
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	const uint64_t most = 1ull << FAB_MESSAGE_TIME_BITS;

	return b > most || a + b > most ? most : a + b;
}

/* Set the measured time before the simulation reaches it: a packet is counted when its
 * last cable takes it, up to an idle latency before it is delivered. */
static void measure_from(struct run *r, uint64_t begin)
{
	struct sim *s = r->s;

	s->begin = begin;
	s->end = r->params->time ? plus(begin, r->params->time) : UINT64_MAX;
	for (uint32_t i = 0; i < s->n_parts; i++) {
		s->part[i].sums.accepted = s->part[i].sums.goodput = 0;
		s->part[i].moment.n = 0;
	}
	sim_growth_reset(s);
}

/* Measuring can begin behind any window: it is longer than a packet takes on its last
 * cable. Where the network does not settle a warm-up is no longer than twice what is
 * measured. */
static void warm_up(struct run *r)
{
	struct sim *s = r->s;
	struct sim_windows w = {.ticks = WARM_LATENCIES * r->idle_latency};
	uint64_t most = 2 * r->params->time / w.ticks;
	struct sim_window before = {0}, now;
	struct sim_sums sums;
	enum sim_steady state = SIM_UNSETTLED;

	for (uint32_t e = 0; e < s->net.n_ends; e++)
		w.per_byte +=
			ldexp(s->net.per_byte[s->net.n_ports + e], -SIM_RATE_SHIFT) /
			s->net.n_ends;
	most = most > WARM_MOST ? most : WARM_MOST;
	for (uint64_t i = 0; i < most && state == SIM_UNSETTLED && !r->is_over; i++) {
		measure_from(r, r->now + w.ticks);
		go_on(r, r->now + w.ticks, w.ticks);
		sums = sim_all_sums(s);
		now = (struct sim_window){sums.delivered, sums.arrived,
					  (double)sums.arrived_latency};
		FAB_PUSH(&w.of, ((struct sim_window){now.packets - before.packets,
						     now.bytes - before.bytes,
						     now.latency - before.latency}));
		before = now;
		state = sim_windows_judge(&w);
	}
	r->result->is_steady = state == SIM_SETTLED;
	free(w.of.v);
}

static bool is_drained(const struct run *r)
{
	const struct sim *s = r->s;

	if (sim_all_sums(s).window_in_flight)
		return false;
	for (uint32_t e = 0; e < s->net.n_ends; e++)
		if (s->source[e].state != SIM_IDLE && s->source[e].birth < s->end)
			return false;
	return true;
}

/* Warm-up, measured time, drain. */
static void run_phases(struct run *r)
{
	const struct fab_sim_params *params = r->params;
	struct sim *s = r->s;
	uint64_t step, end;

	r->result->is_steady = params->warmup != UINT64_MAX;
	if (params->warmup == UINT64_MAX)
		warm_up(r);
	else
		measure_from(r, plus(0, params->warmup));
	go_on(r, s->begin, params->warmup / STEPS + 1);
	s->begin = r->now; /* sooner, if the run has ended */
	sim_failure_begin(s, r->now);
	step = params->time ? params->time / STEPS + 1 : 16 * r->idle_latency;
	r->total = params->time ? s->end : r->total;
	go_on(r, params->time ? s->end : plus(0, UINT64_MAX), step);
	if (!params->time) { /* the time when all of a finite source had arrived */
		uint64_t last = 0;

		for (uint32_t i = 0; i < s->n_parts; i++)
			if (s->part[i].last_delivery > last)
				last = s->part[i].last_delivery;
		s->end = last && !in_flight(s) && !r->result->is_stopped ? last : r->now;
	}
	end = plus(r->now, params->drain == UINT64_MAX ? params->time : params->drain);
	while (params->time && !r->is_over && r->now < end && !is_drained(r))
		go_on(r,
		      plus(r->now, r->idle_latency) < end ? plus(r->now, r->idle_latency)
							  : end,
		      r->idle_latency);
}

/* run_phases() in the first thread of a team, which is started once: there are many
 * steps. */
static void run_together(struct run *r)
{
	struct team *team = &r->team;

	team->moments =
		FAB_ARENA_NEW0(&r->s->net.arena, 2 * r->s->n_parts, struct moment);
	team->barrier.n = 1;
#pragma omp parallel num_threads((int)r->s->n_parts)
	{
		uint32_t thread = 0;

#ifdef _OPENMP
		thread = (uint32_t)omp_get_thread_num();
#pragma omp single
		team->barrier.n = (uint32_t)omp_get_num_threads();
#endif
		if (!thread) {
			run_phases(r);
			team->is_over = true;
			fab_barrier_wait(&team->barrier);
		}
		while (thread && (fab_barrier_wait(&team->barrier), !team->is_over)) {
			run_windows(team->s, thread, &team->barrier, team->moments,
				    team->limit);
			fab_barrier_wait(&team->barrier);
		}
	}
}

int fab_sim_run(const struct fab_sim_problem *problem,
		const struct fab_sim_params *params, const struct fab_messages *messages,
		struct fab_sim_result *result, struct fab_err *err)
{
	struct sim s = {.messages = messages, .least_payload = messages->least_payload};
	struct run r = {.s = &s, .team = {.s = &s}, .params = params, .result = result};
	double begun = fab_now();
	int rc = fab_sim_check(problem, params, err);

	*result = (struct fab_sim_result){.n_ends = problem->ends->n};
	if (rc)
		return rc;
	rc = sim_net_init(&s.net, problem, params, err);
	if (!rc)
		rc = sim_init(&s, params, &sim_message_host, NULL, err);
	if (rc) {
		sim_fini(&s);
		return rc;
	}
	if (problem->failure)
		sim_failure_init(&s);
	r.idle_latency = idle_latency(&s);
	r.stall = params->stall ? params->stall : STALL_LATENCIES * r.idle_latency;
	r.total = plus(0, params->time) + WARM_MOST * WARM_LATENCIES * r.idle_latency;
	for (uint32_t i = 0; i < s.n_parts; i++)
		sim_part_start(&s.part[i]);
	if (s.n_parts == 1)
		run_phases(&r);
	else
		run_together(&r);
	for (uint32_t i = 0; i < s.n_parts && !rc; i++) {
		rc = s.part[i].rc;
		if (rc && err)
			*err = s.part[i].err;
	}
	if (!rc) {
		result->end = params->time ? r.now : s.end;
		for (uint32_t i = 0; i < s.n_parts; i++) /* not that of its last event */
			s.part[i].now = result->end;
		result->is_cut = !is_drained(&r);
		sim_results(&s, result);
		sim_growth(&s, r.idle_latency, result);
		sim_failure_results(&s, result);
		if (result->in_flight && !s.drops)
			sim_find_deadlock(&s, result);
		result->simulate_seconds = fab_now() - begun;
	}
	sim_fini(&s);
	return rc;
}
