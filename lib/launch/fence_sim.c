/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fence followed through time, message by message, over the paths of the fabric's
 * tables.
 *
 * Model. A node's processor does one thing at a time, in the order of requests: o for
 * each message to send, o + bytes * C for each that has arrived. Then the message enters
 * the node's cable, and passes from cable to cable. A cable carries one message at a
 * time, in the order in which their heads arrive; a message is not stored on its path
 * (cut-through): its head enters the next cable as soon as that is free, its tail leaves
 * it no sooner than the cable before; a faster cable carries others meanwhile. Buffers
 * are endless. The receiver has the message L after its tail. When a node has all
 * messages of its earlier steps, it sends those of the next one. With messages in pieces,
 * pieces of several messages alternate on a cable: the smaller the pieces, the nearer to
 * packets.
 *
 * Without contention it is the closed form, of every algorithm. Compared with packets
 * through switches with output queues, it is the same if no cable is shared. If some are,
 * packets of all messages alternate, whole messages do not: the first ones arrive sooner,
 * and their receivers continue while others wait. Packets took 1.00 to 1.07 times as long
 * for ring, 1.00 to 1.10 for trees, 0.97 to 1.09 for leaf, 0.92 to 1.21 for bruck and
 * 0.93 to 1.14 for recdbl, on 17 tori, trees (also tapered), dragonflies and random
 * graphs, 64 B to 16 KiB a node, nodes in fabric and random order; in 16 pieces 0.91 to
 * 1.11 for all. Switches with input queues take up to 20 % longer.
 *
 * Times are whole ticks of a decimal part of a microsecond, as costs are: messages that
 * arrive at one time do so whatever the order in which their times were added up. Those
 * enter a cable in the order in which they became due.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "event/schedule.h"
#include "launch/fence.h"

/* Ticks of a fence, about; of a microsecond, at most. */
static const double TICKS = 1e15, TICKS_PER_US = 1e12;

enum {
	EVENTS_BITS = 26, /* default of max_events */
	KEPT = 8,	  /* repeats whose times are compared */
	TRIED = 64,	  /* repeats of a plan that is too long, to find symmetry in */
};

/* A message in flight, or a piece of it. */
struct flight {
	uint32_t message, piece;
	uint64_t ended; /* on the cable before */
};

struct node {
	uint64_t free_at;    /* of the processor */
	uint64_t n_received; /* in the order of its list, without gaps; of all repeats */
	uint64_t n_sent;
	/* Messages (numbers) in the order of steps. */
	uint32_t *sends, *receives, n_sends, n_receives;
};

struct sim {
	const struct fab_fence_setup *setup;
	uint64_t bytes;
	double ticks_per_us; /* a power of 10 */
	uint64_t o, L;
	uint32_t n_pieces;
	/* [messages] receives of its sender in earlier steps of the same repeat; times
	 * that it has arrived */
	uint32_t *needs, *n_arrived;
	struct node *node;
	uint64_t *free_at; /* [n_cables] */
	FAB_VEC(struct flight) flights;
	FAB_VEC(uint32_t) free_flights;
	struct fab_schedule schedule;
	uint64_t end, events, max_events;
	/* Time when each node had the last message of a repeat, of the last KEPT ones. */
	uint64_t *had; /* [KEPT * n_nodes]; NULL: not used */
	uint32_t n_had[KEPT];
	uint32_t oldest; /* repeat that has not ended on all nodes */
	bool is_late;	 /* more ticks than can be counted */
	struct fab_arena memory;
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t ticks_of(const struct sim *s, double us)
{
	return (uint64_t)llround(us * s->ticks_per_us);
}

/* Lists of messages of each node, and what each message waits for. */
static void make_lists(struct sim *s)
{
	const struct fab_fence_plan *plan = &s->setup->plan;
	const struct fab_fence_message *m = plan->messages.v;
	size_t n = plan->messages.n, first = 0;
	uint32_t *sends = FAB_ARENA_NEW(&s->memory, n + 1, uint32_t);
	uint32_t *receives = FAB_ARENA_NEW(&s->memory, n + 1, uint32_t);
	FAB_AUTOFREE uint32_t *received = FAB_NEW0((size_t)plan->n_nodes + 1, uint32_t);

	s->node = FAB_ARENA_NEW0(&s->memory, (size_t)plan->n_nodes + 1, struct node);
	s->needs = FAB_ARENA_NEW(&s->memory, n + 1, uint32_t);
	s->n_arrived = FAB_ARENA_NEW0(&s->memory, n + 1, uint32_t);
	for (size_t i = 0; i < n; i++) {
		s->node[m[i].from].n_sends++;
		s->node[m[i].to].n_receives++;
	}
	for (uint32_t i = 0; i < plan->n_nodes; i++) {
		struct node *node = &s->node[i];

		node->sends = sends;
		node->receives = receives;
		sends += node->n_sends;
		receives += node->n_receives;
		node->n_sends = node->n_receives = 0;
	}
	for (size_t i = 0; i < n; i++) {
		struct node *from = &s->node[m[i].from], *to = &s->node[m[i].to];

		from->sends[from->n_sends++] = (uint32_t)i;
		to->receives[to->n_receives++] = (uint32_t)i;
		if (i && m[i].step != m[i - 1].step)
			for (; first < i; first++)
				received[m[first].to]++;
		s->needs[i] = received[m[i].from];
	}
}

/* Bytes of a message. */
static double bytes_of(const struct sim *s, uint32_t message)
{
	return (double)s->setup->plan.messages.v[message].n_blocks * (double)s->bytes;
}

/* The head of a flight reaches cable number `hop` of its path; returns when it enters. */
static uint64_t enter(struct sim *s, struct flight *flight, uint64_t now, uint32_t hop)
{
	const struct fab_fence_paths *paths = &s->setup->paths;
	uint32_t cable = paths->cable[paths->first[flight->message] + hop];
	double us = bytes_of(s, flight->message) * s->setup->job.costs.G_ns / 1e3 *
		    paths->slowness[cable];
	uint64_t wire = ticks_of(s, us * (flight->piece + 1) / s->n_pieces) -
			ticks_of(s, us * flight->piece / s->n_pieces);
	uint64_t begins = later(now, s->free_at[cable]);

	s->free_at[cable] = begins + wire;
	flight->ended = later(flight->ended, begins + wire);
	if (flight->ended >> 62)
		s->is_late = true;
	s->events++;
	return begins;
}

/* Send all messages that a node waits for nothing to send: their pieces enter the node's
 * own cable as soon as the processor has done its part. */
static void send_ready(struct sim *s, struct node *node)
{
	uint64_t n_all = (uint64_t)node->n_sends * s->setup->plan.n_repeats;

	for (; node->n_sent < n_all; node->n_sent++) {
		uint32_t message = node->sends[node->n_sent % node->n_sends], id;
		uint64_t repeat = node->n_sent / node->n_sends, at;

		if (node->n_received < repeat * node->n_receives + s->needs[message])
			return;
		at = node->free_at += s->o;
		for (uint32_t piece = 0; piece < s->n_pieces; piece++) {
			struct flight flight = {.message = message, .piece = piece};

			at = enter(s, &flight, at, 0);
			if (s->free_flights.n) {
				id = s->free_flights.v[--s->free_flights.n];
				s->flights.v[id] = flight;
			} else {
				id = (uint32_t)s->flights.n;
				FAB_PUSH(&s->flights, flight);
			}
			fab_schedule_add(&s->schedule, at, 0, (uint64_t)1 << 32 | id);
		}
	}
}

static void receive(struct sim *s, uint32_t message, uint64_t tail)
{
	struct node *node = &s->node[s->setup->plan.messages.v[message].to];
	uint32_t n = node->n_receives;
	uint64_t repeat = node->n_received / n;

	node->free_at =
		later(node->free_at, tail + s->L) + s->o +
		ticks_of(s, bytes_of(s, message) * s->setup->job.costs.C_ns / 1e3);
	s->end = later(s->end, node->free_at);
	s->n_arrived[message]++;
	while (s->n_arrived[node->receives[node->n_received % n]] > node->n_received / n)
		node->n_received++;
	for (; s->had && repeat < node->n_received / n; repeat++) {
		size_t kept = repeat % KEPT;

		if (repeat >= s->oldest + (uint64_t)KEPT) { /* too far ahead of others */
			s->had = NULL;
			break;
		}
		s->had[kept * s->setup->plan.n_nodes + (size_t)(node - s->node)] =
			node->free_at;
		s->n_had[kept]++;
	}
	send_ready(s, node);
}

/* True if all nodes have had a repeat equally long after the repeat before it. */
static bool is_regular(const struct sim *s, uint64_t repeat, uint64_t *period)
{
	const uint64_t *a = s->had + (repeat - 1) % KEPT * s->setup->plan.n_nodes;
	const uint64_t *b = s->had + repeat % KEPT * s->setup->plan.n_nodes;

	*period = b[0] - a[0];
	for (uint32_t i = 1; i < s->setup->plan.n_nodes; i++)
		if (b[i] - a[i] != *period)
			return false;
	return true;
}

/*
 * True if the last three repeats that have ended on all nodes took the same time on each
 * node. Then all later ones will, too: *end is the end of the last of them.
 */
static bool is_symmetric(struct sim *s, uint64_t *end)
{
	uint64_t period, before, last;

	while (s->had && s->n_had[s->oldest % KEPT] == s->setup->plan.n_nodes) {
		last = s->oldest++;
		s->n_had[last % KEPT] = 0;
		if (last < 3 || !is_regular(s, last, &period) ||
		    !is_regular(s, last - 1, &before) || before != period ||
		    !is_regular(s, last - 2, &before) || before != period)
			continue;
		*end = 0;
		for (uint32_t i = 0; i < s->setup->plan.n_nodes; i++)
			*end = later(*end,
				     s->had[last % KEPT * s->setup->plan.n_nodes + i]);
		*end += period * (s->setup->plan.n_repeats - 1 - last);
		return true;
	}
	return false;
}

static void follow(struct sim *s, struct fab_fence_sim *out)
{
	const struct fab_fence_paths *paths = &s->setup->paths;
	struct fab_due due;

	for (uint32_t i = 0; i < s->setup->plan.n_nodes; i++)
		send_ready(s, &s->node[i]);
	while (fab_schedule_take(&s->schedule, &due)) {
		uint32_t id = (uint32_t)due.item, hop = (uint32_t)(due.item >> 32);
		struct flight *flight = &s->flights.v[id];
		struct flight is = *flight;
		uint64_t begins = enter(s, flight, due.time, hop);

		is.ended = flight->ended;
		if (hop + 1 < paths->first[is.message + 1] - paths->first[is.message]) {
			fab_schedule_add(&s->schedule, begins, 0,
					 (uint64_t)(hop + 1) << 32 | id);
		} else {
			FAB_PUSH(&s->free_flights, id);
			if (is.piece + 1 == s->n_pieces)
				receive(s, is.message, is.ended);
		}
		if (s->had && is_symmetric(s, &s->end)) {
			out->by_symmetry = true;
			break;
		}
		if (s->events > s->max_events || s->is_late)
			break;
	}
	out->is_cut = s->events > s->max_events && !out->by_symmetry;
	out->n_followed = out->by_symmetry ? s->oldest : s->setup->plan.n_repeats;
	out->events = s->events;
	out->us = out->is_cut ? (double)NAN : (double)s->end / s->ticks_per_us;
}

int fab_fence_simulate(const struct fab_fence_setup *setup, uint64_t bytes,
		       const struct fab_fence_sim_options *options,
		       struct fab_fence_sim *out, struct fab_err *err)
{
	const struct fab_fence_plan *plan = &setup->plan;
	struct sim s = {.setup = setup,
			.bytes = bytes,
			.n_pieces = options->n_pieces ? options->n_pieces : 1,
			.max_events = options->max_events ? options->max_events
							  : (uint64_t)1 << EVENTS_BITS};
	uint64_t once = setup->paths.first[plan->messages.n] * s.n_pieces;
	double us = fab_fence_line_us(setup->contended, bytes);

	*out = (struct fab_fence_sim){0};
	if (bytes > FAB_FENCE_BYTES_MAX)
		return fab_fail(err, EINVAL, "%llu bytes a node: expected at most 1 TiB",
				(unsigned long long)bytes);
	if (s.n_pieces > FAB_FENCE_PIECES_MAX)
		return fab_fail(err, EINVAL, "%u pieces of a message: expected 1 to %d",
				options->n_pieces, FAB_FENCE_PIECES_MAX);
	/* of a plan that would have more events, enough to see whether it is symmetric */
	if (once && plan->n_repeats > s.max_events / once && once * TRIED < s.max_events)
		s.max_events = once * TRIED;
	for (s.ticks_per_us = TICKS_PER_US; us * s.ticks_per_us > TICKS;)
		s.ticks_per_us /= 10;
	s.o = ticks_of(&s, setup->job.costs.o_us);
	s.L = ticks_of(&s, setup->job.costs.L_us);
	make_lists(&s);
	s.free_at =
		FAB_ARENA_NEW0(&s.memory, (size_t)setup->paths.n_cables + 1, uint64_t);
	if (!options->without_symmetry && plan->n_repeats > KEPT)
		s.had = FAB_ARENA_NEW(&s.memory, (size_t)KEPT * plan->n_nodes, uint64_t);
	follow(&s, out);
	free(s.flights.v);
	free(s.free_flights.v);
	fab_schedule_fini(&s.schedule);
	fab_arena_free(&s.memory);
	return s.is_late ? fab_fail(err, ERANGE,
				    "the fence takes longer than can be counted")
			 : 0;
}
