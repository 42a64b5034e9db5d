/* SPDX-License-Identifier: BSD-2-Clause */
/* The replay of a trace: see mcast/events.h. */
#include "mcast/events.h"

#include "base/mem.h"
#include "base/rng.h"
#include "event/schedule.h"
#include "event/stats.h"

#include <math.h>
#include <stdlib.h>

/* What is known of a member. */
enum { JOINED = 1, LEFT = 2, ROUTED = 4, TAKEN = 8 };

struct group {
	enum fab_lifecycle_state state;
	uint32_t visit; /* states entered: tells a time-out of this state from older ones
			 */
	uint32_t count; /* members it is to have */
	uint32_t n_joined, n_left;
	uint32_t n_pending; /* plain: requests whose computation has not ended */
	uint32_t n_taken;   /* coalesced: those of them that the pass has taken */
	bool is_waiting;    /* coalesced: for the next pass */
	bool is_complete;   /* all have joined, not all are routed */
	uint64_t first_ns, complete_ns; /* first join of this life, last one */
	bool is_unusable;
	uint64_t since_ns; /* when it became so */
	uint64_t unusable_ns;
};

/* What is due, in the order in which it happens at one time. */
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
	const struct fab_lifecycle_options *options;
	const struct fab_lifecycle_router *router;
	struct fab_lifecycle_outcome *out;
	struct fab_schedule schedule; /* times in ns */
	struct group *groups;
	uint8_t *seats;	   /* [members of all groups] */
	uint32_t *members; /* room for the members of a group */
	FAB_VEC(struct job) jobs;
	size_t n_computed;			 /* of them: the others wait or run */
	uint64_t free_ns;			 /* when the last one ends */
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
	if (!g->is_unusable && is_unusable)
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

/* The first member asks for the state in steps, from its join on; the end of step that
 * finds the group ready at `ready`. */
static uint64_t told_at(struct replay *r, uint64_t first, uint64_t ready)
{
	uint64_t poll = r->options->poll_ns, n;

	if (!poll)
		return ready;
	n = (ready - first) / poll + ((ready - first) % poll != 0);
	n = n ? n : 1;
	r->out->polls += n;
	return fab_time_add(first, n > UINT64_MAX / poll ? UINT64_MAX : n * poll);
}

/* The members that have joined have routes. */
static void note_routed(struct replay *r, struct group *g)
{
	uint64_t now = r->schedule.now, told;

	if (!g->is_complete)
		return;
	g->is_complete = false;
	fab_tally_add(&r->routed, (double)(now - g->complete_ns) / 1e9);
	if (r->options->behaviour != FAB_LIFECYCLE_BATCHED)
		return; /* nobody is told */
	told = fab_time_add(told_at(r, g->first_ns, now), r->options->notify_ns);
	fab_tally_add(&r->told, (double)(told - g->complete_ns) / 1e9);
}

/* The members with this flag get routes. */
static void route(struct replay *r, uint32_t group, uint8_t flag)
{
	const struct fab_groups *g = r->events->groups;
	uint32_t n = 0;

	for (uint64_t s = g->first[group]; s < g->first[group + 1]; s++)
		if (r->seats[s] & flag)
			r->members[n++] = g->member[s];
	r->out->table_updates +=
		r->router->route(r->router->context, group, r->members, n);
}

static void destroy(struct replay *r, uint32_t group)
{
	const struct fab_groups *all = r->events->groups;
	struct group *g = &r->groups[group];

	enter(r, group, FAB_LIFECYCLE_DESTROYING);
	set_unusable(r, g, false);
	for (uint64_t s = all->first[group]; s < all->first[group + 1]; s++)
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

static void batched_join(struct replay *r, const struct fab_event *e)
{
	struct group *g = &r->groups[e->group];
	uint8_t *seat = &r->seats[e->seat];

	if (*seat == JOINED) {
		r->out->repeated++;
		return;
	}
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
	if (g->n_joined < g->count)
		return;
	enter(r, e->group, FAB_LIFECYCLE_COMPUTING);
	compute(r, e->group, e->seat, false);
}

static void batched_leave(struct replay *r, const struct fab_event *e)
{
	struct group *g = &r->groups[e->group];
	uint8_t *seat = &r->seats[e->seat];

	if (*seat & LEFT) {
		r->out->repeated++;
		return;
	}
	if (!*seat || g->state == FAB_LIFECYCLE_RECEIVING_JOIN) {
		r->out->refused++;
		return;
	}
	*seat |= LEFT;
	g->is_complete = false;
	g->n_left++;
	if (g->state != FAB_LIFECYCLE_COMPUTING)
		note_left(r, e->group);
}

static void batched_computed(struct replay *r, const struct job *job)
{
	route(r, job->group, JOINED);
	note_routed(r, &r->groups[job->group]);
	set_unusable(r, &r->groups[job->group], false);
	enter(r, job->group, FAB_LIFECYCLE_READY);
	if (r->groups[job->group].n_left)
		note_left(r, job->group);
}

/* Nothing is computed and groups wait: a pass over all of them, members as they are. */
static void start_pass(struct replay *r)
{
	const struct fab_groups *all = r->events->groups;

	if (r->n_computed < r->jobs.n || !r->waiting.n)
		return;
	r->out->passes++;
	for (size_t i = 0; i < r->waiting.n; i++) {
		uint32_t group = r->waiting.v[i];
		struct group *g = &r->groups[group];

		for (uint64_t s = all->first[group]; s < all->first[group + 1]; s++)
			r->seats[s] =
				(uint8_t)(r->seats[s] & JOINED ? r->seats[s] | TAKEN
							       : r->seats[s] & ~TAKEN);
		g->n_taken = g->n_pending;
		g->is_waiting = false;
		compute(r, group, 0, false);
	}
	r->waiting.n = 0;
}

static void wait_for_pass(struct replay *r, uint32_t group)
{
	struct group *g = &r->groups[group];

	if (!g->is_waiting)
		FAB_PUSH(&r->waiting, group);
	g->is_waiting = true;
	start_pass(r);
}

static bool all_are_routed(const struct replay *r, uint32_t group)
{
	const struct fab_groups *all = r->events->groups;

	for (uint64_t s = all->first[group]; s < all->first[group + 1]; s++)
		if (r->seats[s] & JOINED && !(r->seats[s] & ROUTED))
			return false;
	return true;
}

/* InfiniBand: membership changes at once, routes later. */
static void plain_request(struct replay *r, const struct fab_event *e)
{
	struct group *g = &r->groups[e->group];
	uint8_t *seat = &r->seats[e->seat];

	if (e->is_leave && !(*seat & JOINED)) {
		r->out->refused++;
		return;
	}
	if (!e->is_leave && *seat & JOINED) {
		r->out->repeated++;
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
	if (r->options->behaviour == FAB_LIFECYCLE_PLAIN)
		compute(r, e->group, e->seat, e->is_leave);
	else
		wait_for_pass(r, e->group);
}

static void coalesced_computed(struct replay *r, const struct job *job)
{
	const struct fab_groups *all = r->events->groups;
	struct group *g = &r->groups[job->group];

	for (uint64_t s = all->first[job->group]; s < all->first[job->group + 1]; s++)
		r->seats[s] = (uint8_t)(r->seats[s] & TAKEN ? r->seats[s] | ROUTED
							    : r->seats[s] & ~ROUTED);
	route(r, job->group, ROUTED);
	g->n_pending -= g->n_taken;
	set_unusable(r, g, g->n_pending && g->n_joined);
	if (all_are_routed(r, job->group))
		note_routed(r, g);
	start_pass(r);
}

static void plain_computed(struct replay *r, const struct job *job)
{
	struct group *g = &r->groups[job->group];

	if (job->is_leave)
		r->seats[job->seat] &= (uint8_t)~ROUTED;
	else
		r->seats[job->seat] |= ROUTED;
	route(r, job->group, ROUTED);
	g->n_pending--;
	set_unusable(r, g, g->n_pending && g->n_joined);
	if (all_are_routed(r, job->group))
		note_routed(r, g);
}

/* By a number of its own for each request, so that behaviours can be compared. */
static bool is_lost(const struct replay *r, size_t i)
{
	uint64_t bits = fab_mix64(fab_mix64(r->options->seed) ^ i);

	return r->events->v[i].is_lost || fab_unit(bits) < r->options->loss;
}

/* One request of the trace waits at a time, the next one. */
static void expect_request(struct replay *r, size_t i)
{
	if (i < r->events->n)
		fab_schedule_add(&r->schedule, r->events->v[i].time_ns, REQUEST, i);
}

static void receive(struct replay *r, size_t i)
{
	const struct fab_event *e = &r->events->v[i];

	if (is_lost(r, i))
		r->out->lost++;
	else if (r->options->behaviour != FAB_LIFECYCLE_BATCHED)
		plain_request(r, e);
	else if (e->is_leave)
		batched_leave(r, e);
	else
		batched_join(r, e);
	expect_request(r, i + 1);
}

static void end_job(struct replay *r, size_t i)
{
	struct job job = r->jobs.v[i];

	r->n_computed++;
	r->out->recomputations++;
	if (r->options->behaviour == FAB_LIFECYCLE_PLAIN)
		plain_computed(r, &job);
	else if (r->options->behaviour == FAB_LIFECYCLE_COALESCED)
		coalesced_computed(r, &job);
	else
		batched_computed(r, &job);
}

static void end_timer(struct replay *r, uint32_t group, uint32_t visit)
{
	if (r->groups[group].visit != visit)
		return;
	r->out->timed_out++;
	destroy(r, group);
}

static void run(struct replay *r)
{
	struct fab_due due;

	expect_request(r, 0);
	while (fab_schedule_take(&r->schedule, &due))
		switch ((enum kind)fab_due_kind(&due)) {
		case COMPUTED:
			end_job(r, due.item);
			break;
		case REQUEST:
			receive(r, due.item);
			break;
		case TIME_OUT:
			end_timer(r, (uint32_t)(due.item >> 32), (uint32_t)due.item);
			break;
		}
}

static void sum_up(struct replay *r)
{
	struct fab_lifecycle_outcome *o = r->out;

	for (uint32_t i = 0; i < r->events->groups->n; i++) {
		const struct group *g = &r->groups[i];

		fab_tally_add(&r->unusable, (double)g->unusable_ns / 1e9);
		o->alive += r->options->behaviour == FAB_LIFECYCLE_BATCHED
				    ? g->state != FAB_LIFECYCLE_ABSENT
				    : g->n_joined > 0;
	}
	o->routed = r->routed.n;
	o->routed_sum_s = r->routed.sum;
	o->routed_mean_s = fab_tally_mean(&r->routed);
	o->routed_max_s = fab_tally_max(&r->routed);
	o->told_sum_s = r->told.sum;
	o->told_mean_s = fab_tally_mean(&r->told);
	o->told_max_s = fab_tally_max(&r->told);
	o->unusable_sum_s = r->unusable.sum;
	if (r->unusable.n) {
		o->unusable_mean_s = fab_tally_mean(&r->unusable);
		o->unusable_max_s = r->unusable.max;
	}
}

void fab_lifecycle_replay(const struct fab_events *events,
			  const struct fab_lifecycle_options *options,
			  const struct fab_lifecycle_router *router,
			  struct fab_lifecycle_outcome *out)
{
	const struct fab_groups *g = events->groups;
	struct replay r = {
		.events = events, .options = options, .router = router, .out = out};
	uint32_t widest = 0;

	*out = (struct fab_lifecycle_outcome){0};
	for (uint32_t i = 0; i < g->n; i++)
		widest = fab_group_size(g, i) > widest ? fab_group_size(g, i) : widest;
	r.groups = FAB_NEW0(g->n, struct group);
	r.seats = FAB_NEW0(g->first[g->n], uint8_t);
	r.members = FAB_NEW(widest, uint32_t);
	run(&r);
	sum_up(&r);
	free(r.groups);
	free(r.seats);
	free(r.members);
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
