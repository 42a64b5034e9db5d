/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/fence_sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/schedule.h"
#include "launch/fence_lists.h"
#include "launch/fence_ticks.h"

enum {
	EVENTS_BITS = 26, /* of max_events unless told */
	KEPT = 8,	  /* repeats whose times are compared */
	TRIED = 64,	  /* repeats of a plan that is too long, to find symmetry in */
};

/* A message on its way: pieces of it go one after the other. */
struct flight {
	uint32_t message, piece;
	uint64_t ended; /* on the cable before */
};

struct state {
	uint64_t processor; /* free from then on */
	struct fence_progress progress;
};

struct sim {
	const struct fab_fence_plan *plan;
	const struct fab_fence_paths *paths;
	const struct fab_fence_job *job;
	struct fence_ticks ticks;
	uint32_t n_pieces, n_repeats;
	struct fence_lists lists;
	uint32_t *came; /* [messages] so often */
	struct state *node;
	uint64_t *free_at; /* [n_cables] */
	FAB_VEC(struct flight) flights;
	FAB_VEC(uint32_t) free_flights;
	struct fab_schedule schedule;
	uint64_t end, events, max_events;
	/* When each node had the last message of a repeat, of the last KEPT ones. */
	uint64_t *had; /* [KEPT * n_nodes]; NULL: not asked for */
	uint32_t n_had[KEPT];
	uint32_t oldest; /* repeat that is not over on all nodes */
	bool is_late;	 /* ticks have run out */
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What a piece, or with piece = n_pieces the message, holds. */
static double bytes_of(const struct sim *s, uint32_t message)
{
	return (double)s->plan->messages.v[message].n_blocks * (double)s->job->bytes;
}

static uint64_t wire_of(const struct sim *s, const struct flight *flight, uint32_t cable)
{
	double us = bytes_of(s, flight->message) * s->job->costs.G_ns / 1e3 *
		    s->paths->slowness[cable];

	return fence_ticks_of(&s->ticks, us * (flight->piece + 1) / s->n_pieces) -
	       fence_ticks_of(&s->ticks, us * flight->piece / s->n_pieces);
}

/* A head comes to cable number `hop` of its path: when it begins there. */
static uint64_t enter(struct sim *s, struct flight *flight, uint64_t now, uint32_t hop)
{
	uint32_t cable = s->paths->cable[s->paths->first[flight->message] + hop];
	uint64_t wire = wire_of(s, flight, cable), begins;

	begins = later(now, s->free_at[cable]);
	s->free_at[cable] = begins + wire;
	flight->ended = later(flight->ended, begins + wire);
	if (flight->ended >> 62)
		s->is_late = true;
	s->events++;
	return begins;
}

static void go_on(struct sim *s, uint32_t flight, uint64_t time, uint32_t hop)
{
	fab_schedule_add(&s->schedule, time, 0, (uint64_t)hop << 32 | flight);
}

/* Its pieces go to the node's own cable as soon as the processor has done its part. */
static void send(struct sim *s, uint32_t message)
{
	struct state *node = &s->node[s->plan->messages.v[message].from];
	uint64_t at = node->processor += s->ticks.o;

	for (uint32_t piece = 0; piece < s->n_pieces; piece++) {
		struct flight flight = {.message = message, .piece = piece};
		uint32_t id;

		at = enter(s, &flight, at, 0);
		if (s->free_flights.n) {
			id = s->free_flights.v[--s->free_flights.n];
			s->flights.v[id] = flight;
		} else {
			id = (uint32_t)s->flights.n;
			FAB_PUSH(&s->flights, flight);
		}
		go_on(s, id, at, 1);
	}
}

static void send_what_can_be(struct sim *s, uint32_t i)
{
	struct fence_progress *p = &s->node[i].progress;
	uint32_t message;

	while ((message = fence_lists_next(&s->lists, i, p, s->n_repeats)) != FAB_NONE) {
		p->n_sent++;
		send(s, message);
	}
}

/* A node has all of a repeat. */
static void note_repeat(struct sim *s, uint32_t i, uint64_t repeat)
{
	if (repeat >= s->oldest + (uint64_t)KEPT) { /* too far ahead of others */
		free(s->had);
		s->had = NULL;
		return;
	}
	s->had[repeat % KEPT * s->plan->n_nodes + i] = s->node[i].processor;
	s->n_had[repeat % KEPT]++;
}

static void receive(struct sim *s, uint32_t message, uint64_t tail)
{
	uint32_t i = s->plan->messages.v[message].to;
	struct state *node = &s->node[i];
	uint32_t n = s->lists.receives_first[i + 1] - s->lists.receives_first[i];
	uint64_t before = node->progress.n_received / n;

	node->processor = later(node->processor, tail + s->ticks.L) + s->ticks.o +
			  fence_ticks_of(&s->ticks,
					 bytes_of(s, message) * s->job->costs.C_ns / 1e3);
	s->end = later(s->end, node->processor);
	s->came[message]++;
	fence_lists_advance(&s->lists, i, &node->progress, s->came);
	for (; s->had && before < node->progress.n_received / n; before++)
		note_repeat(s, i, before);
	send_what_can_be(s, i);
}

static void handle(struct sim *s, const struct fab_due *due)
{
	uint32_t id = (uint32_t)due->item, hop = (uint32_t)(due->item >> 32);
	struct flight *flight = &s->flights.v[id];
	uint32_t message = flight->message, piece = flight->piece;
	uint64_t n = s->paths->first[message + 1] - s->paths->first[message];
	uint64_t begins = enter(s, flight, due->time, hop), tail = flight->ended;

	if (hop + 1 < n) {
		go_on(s, id, begins, hop + 1);
		return;
	}
	FAB_PUSH(&s->free_flights, id);
	if (piece + 1 == s->n_pieces)
		receive(s, message, tail);
}

/* The times of a repeat, kept, less those of `back` before: the same for all nodes? */
static bool repeats(const struct sim *s, uint64_t repeat, uint32_t back, uint64_t *period)
{
	const uint64_t *a = s->had + (repeat - back) % KEPT * s->plan->n_nodes;
	const uint64_t *b = s->had + repeat % KEPT * s->plan->n_nodes;

	*period = b[0] - a[0];
	for (uint32_t i = 1; i < s->plan->n_nodes; i++)
		if (b[i] - a[i] != *period)
			return false;
	return true;
}

/*
 * Repeats that are over on all nodes: have the last three taken the same time each, on
 * each node? Then so will all others: *end is when the last of them is over.
 */
static bool is_symmetric(struct sim *s, uint64_t *end)
{
	uint64_t period, before, last;

	while (s->had && s->n_had[s->oldest % KEPT] == s->plan->n_nodes) {
		last = s->oldest++;
		s->n_had[last % KEPT] = 0;
		if (last < 3 || !repeats(s, last, 1, &period) ||
		    !repeats(s, last - 1, 1, &before) || before != period ||
		    !repeats(s, last - 2, 1, &before) || before != period)
			continue;
		*end = 0;
		for (uint32_t i = 0; i < s->plan->n_nodes; i++)
			*end = later(*end, s->had[last % KEPT * s->plan->n_nodes + i]);
		*end += period * (s->n_repeats - 1 - last);
		return true;
	}
	return false;
}

/* Of a plan that would have more: as many as show whether it is symmetric. */
static uint64_t most_events(const struct sim *s, uint64_t most)
{
	uint64_t once = s->paths->first[s->plan->messages.n] * s->n_pieces;

	if (once && s->n_repeats > most / once && once * TRIED < most)
		return once * TRIED;
	return most;
}

static void sim_init(struct sim *s, const struct fab_fence_sim_options *options)
{
	uint32_t n_nodes = s->plan->n_nodes;

	s->n_repeats = s->plan->n_repeats;
	s->n_pieces = options->n_pieces ? options->n_pieces : 1;
	s->max_events = most_events(s, options->max_events ? options->max_events
							   : (uint64_t)1 << EVENTS_BITS);
	fence_lists_init(&s->lists, s->plan);
	s->came = FAB_NEW0(s->plan->messages.n + 1, uint32_t);
	s->node = FAB_NEW0((size_t)n_nodes + 1, struct state);
	s->free_at = FAB_NEW0((size_t)s->paths->n_cables + 1, uint64_t);
	if (!options->without_symmetry && s->n_repeats > KEPT)
		s->had = FAB_NEW((size_t)KEPT * n_nodes, uint64_t);
}

static void sim_fini(struct sim *s)
{
	fence_lists_fini(&s->lists);
	free(s->came);
	free(s->node);
	free(s->free_at);
	free(s->flights.v);
	free(s->free_flights.v);
	free(s->had);
	fab_schedule_fini(&s->schedule);
}

static void run(struct sim *s, struct fab_fence_sim *out)
{
	struct fab_due due;

	for (uint32_t i = 0; i < s->plan->n_nodes; i++)
		send_what_can_be(s, i);
	while (fab_schedule_take(&s->schedule, &due)) {
		handle(s, &due);
		if (s->had && is_symmetric(s, &s->end)) {
			out->by_symmetry = true;
			break;
		}
		if (s->events > s->max_events || s->is_late)
			break;
	}
	out->is_cut = s->events > s->max_events && !out->by_symmetry;
	out->n_followed = out->by_symmetry ? s->oldest : s->n_repeats;
	out->events = s->events;
	out->us = out->is_cut ? NAN : (double)s->end / s->ticks.per_us;
}

int fab_fence_simulate(const struct fab_fence_plan *plan,
		       const struct fab_fence_paths *paths,
		       struct fab_fence_line contended, const struct fab_fence_job *job,
		       const struct fab_fence_sim_options *options,
		       struct fab_fence_sim *out, struct fab_err *err)
{
	struct sim s = {.plan = plan,
			.paths = paths,
			.job = job,
			.ticks = fence_ticks_for(contended, job)};
	int rc = fab_fence_job_check(job, err);

	*out = (struct fab_fence_sim){0};
	if (rc)
		return rc;
	if (options->n_pieces > FAB_FENCE_PIECES_MAX)
		return fab_fail(err, EINVAL, "%u pieces of a message: expected 1 to %d",
				options->n_pieces, FAB_FENCE_PIECES_MAX);
	sim_init(&s, options);
	run(&s, out);
	if (s.is_late)
		rc = fab_fail(err, ERANGE, "the fence takes longer than can be counted");
	sim_fini(&s);
	return rc;
}
