/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run: warm-up, the measured time, what is still under way. Parts work in windows, no
 * longer than what one does can touch another (conservative synchronisation: Chandy,
 * Misra 1979), and read each other's notices in between.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/clock.h"
#include "base/threads.h"
#include "sim/saturation.h"
#include "unicast/path.h"

enum { SLOTS_LEAST = 1 << 9, SLOTS_MOST = 1 << 15, FEW_ENDS = 256 };

/*
 * Parts of about the same number of ports with few cables between them: first the
 * switches with endpoints in the order of their numbers, with the same number of
 * endpoints for each part (neighbours usually have near numbers), then level by level the
 * switches next to them, each to the part of most of its neighbours of lower levels: of
 * several the lightest, and none that has its share.
 */
static void cut(struct sim *s)
{
	const struct fab_fabric *f = s->net.problem->f;
	FAB_AUTOFREE uint32_t *levels = FAB_NEW(s->n_switches + 1, uint32_t);
	FAB_AUTOFREE uint32_t *count = FAB_NEW(s->n_parts + 1, uint32_t);
	uint64_t n_ends = 0;
	FAB_AUTOFREE uint64_t *load = FAB_NEW0(s->n_parts + 1, uint64_t);
	uint64_t share = s->net.n_ports / s->n_parts + 1;
	uint32_t done = 0, before = 0;

	for (uint32_t id = 0; id < s->n_switches; id++) {
		struct sim_switch *sw = &s->sw[id];

		levels[id] = sw->n_ports > sw->n_arcs ? 0 : FAB_NONE;
		if (levels[id])
			continue;
		sw->part = (uint32_t)(n_ends * s->n_parts / s->net.n_ends);
		load[sw->part] += sw->n_ports;
		n_ends += (uint32_t)(sw->n_ports - sw->n_arcs);
		done++;
	}
	for (uint32_t level = 1; done < s->n_switches; level++) {
		bool is_apart = done == before; /* no switch is next to them */

		before = done;
		for (uint32_t id = 0; id < s->n_switches; id++) {
			uint32_t best = FAB_NONE, n_next = 0;

			memset(count, 0, s->n_parts * sizeof(*count));
			for (uint32_t a = f->arc_first[id];
			     a < f->arc_first[id + 1] && levels[id] == FAB_NONE; a++) {
				bool is_next = levels[f->arc_peer[a]] < level;

				n_next += is_next;
				count[is_next ? s->sw[f->arc_peer[a]].part : 0] +=
					is_next;
			}
			if (levels[id] != FAB_NONE || (!is_apart && !n_next))
				continue;
			for (uint32_t i = 0; i < s->n_parts; i++)
				if (load[i] < share &&
				    (best == FAB_NONE || count[i] > count[best] ||
				     (count[i] == count[best] && load[i] < load[best])))
					best = i;
			s->sw[id].part = best == FAB_NONE ? s->n_parts - 1 : best;
			load[s->sw[id].part] += s->sw[id].n_ports;
			levels[id] = level;
			done++;
		}
	}
	for (uint32_t e = 0; e < s->net.n_ends; e++)
		s->end_part[e] = s->sw[s->net.port_sw[s->net.end_port[e]]].part;
	for (uint32_t p = 0; p < s->net.n_all; p++) {
		struct sim_port *port = &s->port[p];
		uint32_t sw = port->sw;

		if (sw == FAB_NONE ||
		    (port->peer != FAB_NONE && s->port[port->peer].sw != FAB_NONE))
			sw = s->port[port->peer].sw;
		port->part = s->sw[sw].part;
	}
}

/* A large array that lives as long as the run. */
static void *huge(struct sim *s, size_t n, size_t size)
{
	void *v = fab_alloc_huge((n + 1) * size);

	fab_arena_own(&s->net.arena, free, v);
	return v;
}

static int init_switches(struct sim *s, struct fab_err *err)
{
	const struct sim_net *net = &s->net;
	const struct fab_fabric *f = net->problem->f;
	uint64_t queues = 0, words = 0;

	s->sw = FAB_ARENA_NEW0(&s->net.arena, net->n_switches + 1, struct sim_switch);
	s->all_small = true;
	for (uint32_t id = 0; id < net->n_switches; id++) {
		struct sim_switch *sw = &s->sw[id];
		uint64_t n = net->port_first[id + 1] - net->port_first[id];
		uint64_t units = n * (s->is_fifo ? s->n_vls : 1);

		*sw = (struct sim_switch){
			.turned = UINT64_MAX,
			.word_first = words,
			.port_first = net->port_first[id],
			.n_ports = (uint16_t)n,
			.n_arcs = (uint16_t)(f->arc_first[id + 1] - f->arc_first[id]),
			.n_units = (uint16_t)units,
			.unit_words = (uint16_t)((units + SIM_WORD - 1) / SIM_WORD),
			.out_words = (uint16_t)((n + SIM_WORD - 1) / SIM_WORD),
			.is_small = units <= SIM_WORD};
		if (units > UINT16_MAX)
			return fab_fail(err, ERANGE,
					"a switch with %" PRIu64
					" ports and %u lanes: too many",
					n, s->n_vls);
		s->all_small &= sw->is_small;
		queues += s->is_fifo ? units : n * n * s->n_vls;
		if (!sw->is_small)
			words += sw->unit_words * (1 + n * s->n_vls) +
				 sw->out_words * (2 + n);
	}
	s->n_queues = queues;
	s->n_words = words;
	s->queue = huge(s, queues, sizeof(*s->queue));
	for (uint64_t i = 0; i < queues; i++)
		s->queue[i].first = FAB_NONE;
	s->word = FAB_ARENA_NEW0(&s->net.arena, words + 1, uint64_t);
	for (struct sim_switch *sw = s->sw; sw < s->sw + net->n_switches; sw++) {
		for (uint32_t unit = 0; unit < sw->n_units; unit++)
			sim_set(sim_free_units(s, sw), unit);
		for (uint32_t out = 0; out < sw->n_ports; out++)
			sim_set(sim_free_outs(s, sw), out);
	}
	return 0;
}

static void init_ports(struct sim *s)
{
	const struct sim_net *net = &s->net;
	size_t lanes = (size_t)net->n_all * s->n_vls;
	uint64_t queues = 0;

	s->port = huge(s, net->n_all, sizeof(*s->port));
	s->lane = huge(s, lanes - net->n_all, sizeof(*s->lane));
	s->sums = huge(s, lanes, sizeof(*s->sums));
	memset(s->sums, 0, lanes * sizeof(*s->sums));
	for (uint32_t p = 0; p < net->n_all; p++) {
		bool is_end = p >= net->n_ports;
		uint32_t sw = is_end ? FAB_NONE : net->port_sw[p];
		bool to_end = net->peer[p] != FAB_NONE && net->peer[p] >= net->n_ports;

		s->port[p] = (struct sim_port){
			.peer = net->peer[p],
			.sw = sw,
			.per_byte = net->per_byte[p],
			.reading = FAB_NONE,
			.queue = queues,
			.local = (uint16_t)(is_end ? 0 : p - net->port_first[sw])};
		if (!is_end)
			queues += s->is_fifo ? s->n_vls : s->sw[sw].n_ports * s->n_vls;
		for (unsigned vl = 0; vl < s->n_vls; vl++)
			*sim_lane(s, p, vl) = (struct sim_lane){
				.credits = to_end ? INT32_MAX : s->credits,
				.far_head = FAB_NONE,
				.far_tail = FAB_NONE};
	}
	s->source = FAB_ARENA_NEW0(&s->net.arena, net->n_ends + 1, struct sim_source);
	for (uint32_t e = 0; e < net->n_ends; e++)
		s->source[e].due = UINT64_MAX;
	if (!s->params->time)
		return;
	s->flow = huge(s, 2 * (size_t)net->n_ends, sizeof(*s->flow));
	s->bins_a_tick = SIM_BINS / (double)s->params->time;
}

/* Slots of the wheel are narrow enough for a few events each, and the wheel is wide
 * enough for most events. */
static void init_parts(struct sim *s, uint32_t slowest)
{
	struct fab_arena *a = &s->net.arena;
	uint64_t span = s->hop_delay +
			2 * sim_wire(slowest, s->params->mtu + s->params->group_header) +
			s->cable_delay;
	uint32_t n_slots = SLOTS_LEAST;
	unsigned slot_bits = 0;

	while (n_slots < s->net.n_ends / s->n_parts && n_slots < SLOTS_MOST)
		n_slots *= 2;
	while (span >> slot_bits > n_slots / 2)
		slot_bits++;
	s->end_part = FAB_ARENA_NEW(a, s->net.n_ends + 1, uint32_t);
	cut(s);
	s->part = FAB_ARENA_NEW0(a, s->n_parts + 1, struct sim_part);
	for (uint32_t i = 0; i < s->n_parts; i++) {
		struct sim_part *p = &s->part[i];

		p->sim = s;
		p->index = i;
		p->dirty = FAB_ARENA_NEW(a, s->n_switches + 1, uint32_t);
		p->choice =
			FAB_ARENA_NEW0(a, s->net.n_ports + SIM_CHOICES_ROOM, uint32_t);
		if (s->params->chooser)
			p->candidate = FAB_ARENA_NEW(a, s->net.n_ports + 1, uint32_t);
		p->free_cell = p->free_message = FAB_NONE;
		fab_wheel_init(&p->wheel, slot_bits, s->params->by_heap ? 0 : n_slots);
		for (unsigned t = 0; t < 2; t++) {
			p->post[t] = FAB_ARENA_NEW0(a, s->n_parts, struct sim_post);
			for (uint32_t to = 0; to < s->n_parts; to++)
				p->post[t][to].first = UINT64_MAX;
		}
		p->group = FAB_ARENA_NEW0(a, s->net.n_groups + 1, struct sim_group_sums);
	}
}

static int setup(struct sim *s, const struct fab_sim_problem *problem,
		 const struct fab_sim_params *params, const struct fab_messages *messages,
		 struct fab_err *err)
{
	uint32_t fastest = UINT32_MAX, slowest = 0, header = params->header;
	uint64_t notice;
	int rc;

	*s = (struct sim){.params = params, .messages = messages};
	rc = sim_net_init(&s->net, problem, params, err);
	if (rc)
		return rc;
	s->one_read = params->kind->one_read;
	s->is_fifo = params->kind->is_fifo;
	s->with_groups = s->net.n_groups;
	s->n_vls = s->net.n_vls;
	s->adaptive_vl = params->chooser ? s->n_vls - 1 : FAB_VL_UNKNOWN;
	s->n_switches = s->net.n_switches;
	s->speedup = params->speedup ? params->speedup : 1;
	s->reads_apart = s->with_groups || s->speedup != 1;
	s->cable_delay = params->cable_delay;
	s->hop_delay = params->cable_delay + params->switch_delay;
	s->host_delay = params->host_delay;
	s->by_units = !params->by_flit;
	s->credits = (int32_t)sim_lane_units(params, s->n_vls);
	s->begin = s->end = UINT64_MAX;
	s->least_payload = messages->least_payload ? messages->least_payload : 1;
	if (s->least_payload > params->mtu)
		s->least_payload = params->mtu;
	for (uint32_t p = 0; p < s->net.n_all; p++) {
		fastest = s->net.per_byte[p] < fastest ? s->net.per_byte[p] : fastest;
		slowest = s->net.per_byte[p] > slowest ? s->net.per_byte[p] : slowest;
	}
	/* lookahead: heads take a hop, credits and notices of deliveries leave when a
	 * tail has left */
	if (s->net.n_groups && params->group_header < header)
		header = params->group_header;
	notice = s->cable_delay + sim_wire(fastest, s->least_payload + header);
	s->window = s->hop_delay < notice ? s->hop_delay : notice;
	rc = init_switches(s, err);
	if (rc)
		return rc;
	s->run = s->one_read && !s->is_fifo && s->n_vls == 1 && !s->reads_apart &&
				 s->all_small
			 ? sim_part_run_plain
			 : sim_part_run;
	init_ports(s);
	s->n_parts = (uint32_t)fab_threads(params->n_threads);
	if (!params->n_threads && s->net.n_ends < FEW_ENDS)
		s->n_parts = 1;
	if (s->n_parts > s->net.n_switches)
		s->n_parts = s->net.n_switches;
	init_parts(s, slowest);
	return 0;
}

static void fini(struct sim *s)
{
	for (uint32_t i = 0; s->part && i < s->n_parts; i++) {
		struct sim_part *p = &s->part[i];

		fab_wheel_fini(&p->wheel);
		FAB_FREE_ALL(p->ring.v, p->ends.v, p->cell.v, p->dirty_ends.v,
			     p->undecided.v, p->message.v);
		for (uint32_t to = 0; to < s->n_parts; to++) {
			free(p->post[0][to].of.v);
			free(p->post[1][to].of.v);
		}
		FAB_FREE_ALL(p->trace.v, p->earliest.v, p->deliveries.v);
	}
	sim_net_fini(&s->net);
}

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

static uint64_t sum(const struct sim *s, size_t member)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->n_parts; i++)
		n += *(const uint64_t *)((const char *)&s->part[i].sums + member);
	return n;
}

#define SUM(s, member) sum(s, offsetof(struct sim_sums, member))

static uint64_t in_flight(const struct sim *s)
{
	return SUM(s, injected) + SUM(s, copied) - SUM(s, delivered) -
	       SUM(s, unroutable) - SUM(s, looped);
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
	bool has_ended = true;

	for (uint32_t i = 0; i < s->n_parts; i++) {
		has_ended = has_ended && sim_part_is_over(&s->part[i]);
		last = s->part[i].last_move > last ? s->part[i].last_move : last;
		if (s->part[i].rc)
			r->is_over = true;
	}
	if (left && (has_ended || (r->now > last && r->now - last >= r->stall))) {
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
		r->now = until - r->now > step ? r->now + step : until;
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
	for (uint32_t i = 0; i < s->n_parts; i++)
		s->part[i].sums.accepted = s->part[i].sums.goodput = 0;
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
	enum sim_steady state = SIM_UNSETTLED;

	for (uint32_t e = 0; e < s->net.n_ends; e++)
		w.per_byte +=
			ldexp(s->net.per_byte[s->net.n_ports + e], -SIM_RATE_SHIFT) /
			s->net.n_ends;
	most = most > WARM_MOST ? most : WARM_MOST;
	for (uint64_t i = 0; i < most && state == SIM_UNSETTLED && !r->is_over; i++) {
		measure_from(r, r->now + w.ticks);
		go_on(r, r->now + w.ticks, w.ticks);
		now = (struct sim_window){SUM(s, delivered), SUM(s, arrived),
					  (double)SUM(s, arrived_latency)};
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

	if (SUM(s, window_in_flight))
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
	struct sim s = {0};
	struct run r = {.s = &s, .team = {.s = &s}, .params = params, .result = result};
	double begun = fab_now();
	int rc = fab_sim_check(problem, params, err);

	*result = (struct fab_sim_result){.n_ends = problem->ends->n};
	if (rc)
		return rc;
	rc = setup(&s, problem, params, messages, err);
	if (rc) {
		fini(&s);
		return rc;
	}
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
		result->is_cut = !is_drained(&r);
		sim_results(&s, result);
		sim_growth(&s, r.idle_latency, result);
		if (result->in_flight)
			sim_find_deadlock(&s, result);
		result->simulate_seconds = fab_now() - begun;
	}
	fini(&s);
	return rc;
}
