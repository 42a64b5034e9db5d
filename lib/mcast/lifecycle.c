/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The replay of a trace (mcast/events.h): requests, ends of computations and time-outs in
 * the order of their times. A seat of a group has flags: a member that joined, left, was
 * taken by a pass, has routes.
 */
#include "mcast/events.h"

#include "base/arena.h"
#include "base/rng.h"
#include "event/schedule.h"
#include "event/stats.h"

#include <stdlib.h>

enum { JOINED = 1, LEFT = 2, ROUTED = 4, TAKEN = 8 };

struct group {
	enum fab_lifecycle_state state;
	uint32_t visit; /* states entered: a time-out holds for its own visit only */
	uint32_t count; /* members it is to have */
	uint32_t n_joined, n_left;
	uint32_t n_pending; /* plain: requests whose computation has not ended */
	uint32_t n_taken;   /* coalesced: those of them that the pass has taken */
	bool is_waiting;    /* coalesced: for the next pass */
	bool is_complete;   /* all have joined, not all are routed */
	bool is_unusable;
	uint64_t first_ns, complete_ns; /* first join of this life, last one */
	uint64_t since_ns, unusable_ns; /* start of being unusable; sum */
};

/* Kinds of events in the order in which they happen at one time. */
enum kind {
	COMPUTED, /* item: in `jobs` */
	REQUEST,  /* item: of the trace */
	TIME_OUT, /* item: group, and its visit in the low half */
};

struct job {
	uint32_t group, seat;
	bool is_leave;
};

struct replay {
	const struct fab_events *events;
	const struct fab_groups *all; /* of the events */
	const struct fab_lifecycle_options *options;
	const struct fab_lifecycle_router *router;
	struct fab_lifecycle_outcome *out;
	struct fab_schedule schedule; /* times in ns */
	struct group *groups;
	uint8_t *seats;	   /* [members of all groups] */
	uint32_t *members; /* room for the members of a group */
	FAB_VEC(struct job) jobs;
	size_t n_computed;			 /* of them: the others wait or run */
	uint64_t free_ns;			 /* end of the last one */
	FAB_VEC(uint32_t) waiting;		 /* coalesced: groups of the next pass */
	struct fab_tally routed, told, unusable; /* seconds */
};

static void enter(struct replay *r, uint32_t group, enum fab_lifecycle_state state)
{
	struct group *g = &r->groups[group];

	g->state = state;
	g->visit++;
	if (r->router->enter)
		r->router->enter(r->router->context, group, state, r->schedule.now);
	if (state == FAB_LIFECYCLE_RECEIVING_JOIN ||
	    state == FAB_LIFECYCLE_RECEIVING_LEAVE)
		fab_schedule_add(&r->schedule,
				 fab_time_add(r->schedule.now, r->options->timeout_ns),
				 TIME_OUT, (uint64_t)group << 32 | g->visit);
}

static void set_unusable(struct replay *r, struct group *g, bool is_unusable)
{
	if (g->is_unusable && !is_unusable)
		g->unusable_ns =
			fab_time_add(g->unusable_ns, r->schedule.now - g->since_ns);
	if (!g->is_unusable)
		g->since_ns = r->schedule.now;
	g->is_unusable = is_unusable;
}

/* One computation at a time: this one after those that wait. */
static void compute(struct replay *r, uint32_t group, uint32_t seat, bool is_leave)
{
	bool is_idle = r->n_computed == r->jobs.n;

	r->free_ns = fab_time_add(is_idle ? r->schedule.now : r->free_ns,
				  r->options->compute_ns);
	fab_schedule_add(&r->schedule, r->free_ns, COMPUTED, r->jobs.n);
	FAB_PUSH(&r->jobs, ((struct job){group, seat, is_leave}));
}

/* A join was received that made `joined` members of `count`. */
static void note_join(struct replay *r, struct group *g, uint32_t joined, uint32_t count)
{
	if (joined == 1)
		g->first_ns = r->schedule.now;
	if (joined != count)
		return;
	g->is_complete = true;
	g->complete_ns = r->schedule.now;
	r->out->completed++;
}

/* All members that have joined have routes. Batched, the first one polls from its join on
 * in steps, and after the step that finds the group ready it notifies the others. */
static void note_routed(struct replay *r, struct group *g)
{
	uint64_t now = r->schedule.now, told = now, poll = r->options->poll_ns;

	if (!g->is_complete)
		return;
	g->is_complete = false;
	fab_tally_add(&r->routed, (double)(now - g->complete_ns) / 1e9);
	if (r->options->behaviour != FAB_LIFECYCLE_BATCHED)
		return;
	if (poll) {
		uint64_t n =
			(now - g->first_ns) / poll + ((now - g->first_ns) % poll != 0);

		n = n ? n : 1;
		r->out->polls += n;
		told = fab_time_add(g->first_ns,
				    n > UINT64_MAX / poll ? UINT64_MAX : n * poll);
	}
	told = fab_time_add(told, r->options->notify_ns);
	fab_tally_add(&r->told, (double)(told - g->complete_ns) / 1e9);
}

/* Seats get the flag `to` if they have the flag `from`, else they lose it. */
static void copy_flag(struct replay *r, uint32_t group, uint8_t from, uint8_t to)
{
	for (uint64_t s = r->all->first[group]; s < r->all->first[group + 1]; s++)
		r->seats[s] = (uint8_t)(r->seats[s] & from ? r->seats[s] | to
							   : r->seats[s] & ~to);
}

/* The members with this flag get routes. */
static void route(struct replay *r, uint32_t group, uint8_t flag)
{
	uint32_t n = 0;

	for (uint64_t s = r->all->first[group]; s < r->all->first[group + 1]; s++)
		if (r->seats[s] & flag)
			r->members[n++] = r->all->member[s];
	r->out->table_updates +=
		r->router->route(r->router->context, group, r->members, n);
}

static void destroy(struct replay *r, uint32_t group)
{
	struct group *g = &r->groups[group];

	enter(r, group, FAB_LIFECYCLE_DESTROYING);
	set_unusable(r, g, false);
	for (uint64_t s = r->all->first[group]; s < r->all->first[group + 1]; s++)
		r->seats[s] = 0;
	route(r, group, JOINED);
	g->count = g->n_joined = g->n_left = 0;
	g->is_complete = false;
	enter(r, group, FAB_LIFECYCLE_ABSENT);
}

/* A member has left a group that is ready, or had left when it became so. */
static void note_left(struct replay *r, uint32_t group)
{
	struct group *g = &r->groups[group];

	if (g->state == FAB_LIFECYCLE_READY)
		enter(r, group, FAB_LIFECYCLE_RECEIVING_LEAVE);
	if (g->n_left == g->count)
		destroy(r, group);
}

/* A request in the state machine of Chen et al. */
static void batched_request(struct replay *r, const struct fab_event *e)
{
	struct group *g = &r->groups[e->group];
	uint8_t *seat = &r->seats[e->seat];

	if (e->is_leave ? *seat & LEFT : *seat == JOINED) {
		r->out->repeated++;
	} else if (e->is_leave) {
		if (!*seat || g->state == FAB_LIFECYCLE_RECEIVING_JOIN) {
			r->out->refused++;
			return;
		}
		*seat |= LEFT;
		g->is_complete = false;
		g->n_left++;
		if (g->state != FAB_LIFECYCLE_COMPUTING)
			note_left(r, e->group);
	} else {
		if (g->state == FAB_LIFECYCLE_ABSENT) {
			g->count = e->count;
			set_unusable(r, g, true);
			enter(r, e->group, FAB_LIFECYCLE_RECEIVING_JOIN);
		}
		if (g->state != FAB_LIFECYCLE_RECEIVING_JOIN || g->count != e->count) {
			r->out->refused++;
			return;
		}
		*seat = JOINED;
		note_join(r, g, ++g->n_joined, g->count);
		if (g->n_joined == g->count) {
			enter(r, e->group, FAB_LIFECYCLE_COMPUTING);
			compute(r, e->group, e->seat, false);
		}
	}
}

/* Nothing is computed and groups wait: a pass over all of them with their present
 * members. */
static void start_pass(struct replay *r)
{
	if (r->n_computed < r->jobs.n || !r->waiting.n)
		return;
	r->out->passes++;
	for (size_t i = 0; i < r->waiting.n; i++) {
		struct group *g = &r->groups[r->waiting.v[i]];

		copy_flag(r, r->waiting.v[i], JOINED, TAKEN);
		g->n_taken = g->n_pending;
		g->is_waiting = false;
		compute(r, r->waiting.v[i], 0, false);
	}
	r->waiting.n = 0;
}

/* InfiniBand: membership changes at once, routes later. */
static void plain_request(struct replay *r, const struct fab_event *e)
{
	struct group *g = &r->groups[e->group];
	uint8_t *seat = &r->seats[e->seat];

	if (e->is_leave != (bool)(*seat & JOINED)) {
		*(e->is_leave ? &r->out->refused : &r->out->repeated) += 1;
		return;
	}
	*seat ^= JOINED;
	g->n_joined += e->is_leave ? UINT32_MAX : 1;
	g->n_pending++;
	if (e->is_leave)
		g->is_complete = false;
	else
		note_join(r, g, g->n_joined, e->count);
	set_unusable(r, g, g->n_joined);
	if (r->options->behaviour == FAB_LIFECYCLE_PLAIN) {
		compute(r, e->group, e->seat, e->is_leave);
		return;
	}
	if (!g->is_waiting)
		FAB_PUSH(&r->waiting, e->group);
	g->is_waiting = true;
	start_pass(r);
}

/* A computation has ended: routes are in effect. */
static void end_job(struct replay *r, const struct job *job)
{
	enum fab_lifecycle_behaviour how = r->options->behaviour;
	struct group *g = &r->groups[job->group];
	uint64_t s = r->all->first[job->group];

	r->n_computed++;
	r->out->recomputations++;
	if (how == FAB_LIFECYCLE_BATCHED) {
		route(r, job->group, JOINED);
		note_routed(r, g);
		set_unusable(r, g, false);
		enter(r, job->group, FAB_LIFECYCLE_READY);
		if (g->n_left)
			note_left(r, job->group);
		return;
	}
	if (how == FAB_LIFECYCLE_COALESCED)
		copy_flag(r, job->group, TAKEN, ROUTED);
	else if (job->is_leave)
		r->seats[job->seat] &= (uint8_t)~ROUTED;
	else
		r->seats[job->seat] |= ROUTED;
	route(r, job->group, ROUTED);
	g->n_pending -= how == FAB_LIFECYCLE_COALESCED ? g->n_taken : 1;
	set_unusable(r, g, g->n_pending && g->n_joined);
	while (s < r->all->first[job->group + 1] &&
	       (r->seats[s] & (JOINED | ROUTED)) != JOINED)
		s++;
	if (s == r->all->first[job->group + 1])
		note_routed(r, g);
	if (how == FAB_LIFECYCLE_COALESCED)
		start_pass(r);
}

/* Groups that are there at the start, with routes. */
static void begin(struct replay *r)
{
	for (uint32_t i = 0; i < r->all->n && r->events->is_initial; i++) {
		struct group *g = &r->groups[i];

		for (uint64_t s = r->all->first[i]; s < r->all->first[i + 1]; s++)
			if (r->events->is_initial[s]) {
				r->members[g->n_joined++] = r->all->member[s];
				r->seats[s] =
					r->options->behaviour == FAB_LIFECYCLE_BATCHED
						? JOINED
						: JOINED | ROUTED;
			}
		if (!g->n_joined)
			continue;
		g->count = g->n_joined;
		g->state = FAB_LIFECYCLE_READY;
		r->router->route(r->router->context, i, r->members, g->n_joined);
	}
}

void fab_lifecycle_replay(const struct fab_events *events,
			  const struct fab_lifecycle_options *options,
			  const struct fab_lifecycle_router *router,
			  struct fab_lifecycle_outcome *out)
{
	const struct fab_groups *all = events->groups;
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct replay r = {.events = events,
			   .all = all,
			   .options = options,
			   .router = router,
			   .out = out,
			   .groups = FAB_ARENA_NEW0(&arena, all->n, struct group),
			   .seats = FAB_ARENA_NEW0(&arena, all->first[all->n], uint8_t)};
	uint32_t widest = 0;
	struct fab_due due;

	*out = (struct fab_lifecycle_outcome){0};
	for (uint32_t i = 0; i < all->n; i++)
		widest =
			fab_group_size(all, i) > widest ? fab_group_size(all, i) : widest;
	r.members = FAB_ARENA_NEW(&arena, widest, uint32_t);
	begin(&r);
	if (events->n)
		fab_schedule_add(&r.schedule, events->v[0].time_ns, REQUEST, 0);
	while (fab_schedule_take(&r.schedule, &due)) {
		uint32_t group = (uint32_t)(due.item >> 32);
		const struct fab_event *e;
		struct job job;
		uint64_t bits;

		switch ((enum kind)fab_due_kind(&due)) {
		case COMPUTED:
			job = r.jobs.v[due.item];
			end_job(&r, &job);
			break;
		case REQUEST:
			/* Lost by a random number of its own each, so that behaviours can
			 * be compared. */
			e = &events->v[due.item];
			bits = fab_mix64(fab_mix64(options->seed) ^ due.item);
			if (e->is_lost || fab_unit(bits) < options->loss)
				out->lost++;
			else if (options->behaviour == FAB_LIFECYCLE_BATCHED)
				batched_request(&r, e);
			else
				plain_request(&r, e);
			if (due.item + 1 < events->n)
				fab_schedule_add(&r.schedule, e[1].time_ns, REQUEST,
						 due.item + 1);
			break;
		case TIME_OUT:
			if (r.groups[group].visit != (uint32_t)due.item)
				break;
			out->timed_out++;
			destroy(&r, group);
			break;
		}
	}
	for (uint32_t i = 0; i < all->n; i++) {
		const struct group *g = &r.groups[i];

		fab_tally_add(&r.unusable, (double)g->unusable_ns / 1e9);
		out->alive += options->behaviour == FAB_LIFECYCLE_BATCHED
				      ? g->state != FAB_LIFECYCLE_ABSENT
				      : g->n_joined > 0;
	}
	out->routed = r.routed.n;
	out->routed_mean_s = fab_tally_mean(&r.routed);
	out->routed_max_s = fab_tally_max(&r.routed);
	out->told_mean_s = fab_tally_mean(&r.told);
	out->told_max_s = fab_tally_max(&r.told);
	out->unusable_sum_s = r.unusable.sum;
	out->unusable_mean_s = fab_tally_mean(&r.unusable);
	out->unusable_max_s = fab_tally_max(&r.unusable);
	free(r.jobs.v);
	free(r.waiting.v);
	fab_schedule_fini(&r.schedule);
}

const char *fab_lifecycle_behaviour_name(enum fab_lifecycle_behaviour behaviour)
{
	static const char *const names[] = {[FAB_LIFECYCLE_BATCHED] = "batched",
					    [FAB_LIFECYCLE_PLAIN] = "plain",
					    [FAB_LIFECYCLE_COALESCED] = "coalesced"};

	return names[behaviour];
}

const char *fab_lifecycle_state_name(enum fab_lifecycle_state state)
{
	static const char *const names[] = {
		[FAB_LIFECYCLE_ABSENT] = "absent",
		[FAB_LIFECYCLE_RECEIVING_JOIN] = "receiving-join",
		[FAB_LIFECYCLE_COMPUTING] = "computing",
		[FAB_LIFECYCLE_READY] = "ready",
		[FAB_LIFECYCLE_RECEIVING_LEAVE] = "receiving-leave",
		[FAB_LIFECYCLE_DESTROYING] = "destroying"};

	return names[state];
}
