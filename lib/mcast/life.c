/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/life.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>

/* What is known of a member. */
enum { JOINED = 1, LEFT = 2, ROUTED = 4 };

struct group {
	enum fab_life_state state;
	uint32_t visit; /* states entered: tells a time-out of this state from older ones
			 */
	uint32_t count; /* members it is to have */
	uint32_t n_joined, n_left;
	uint32_t n_pending; /* plain: requests whose computation has not ended */
	bool is_unusable;
	uint64_t since_ns; /* when it became so */
	uint64_t unusable_ns;
};

/* A computation, and a time-out. Both stand in the order of their ends. */
struct job {
	uint64_t end_ns;
	uint32_t group, seat;
	bool is_leave;
};

struct timer {
	uint64_t end_ns;
	uint32_t group, visit;
};

struct replay {
	const struct fab_events *events;
	const struct fab_life_options *options;
	const struct fab_life_router *router;
	struct fab_life_outcome *out;
	uint64_t now_ns;
	struct group *groups;
	uint8_t *seats;	   /* [members of all groups] */
	uint32_t *members; /* room for the members of a group */
	FAB_VEC(struct job) jobs;
	FAB_VEC(struct timer) timers;
	size_t next_job, next_timer;
};

static uint64_t add_ns(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void enter(struct replay *r, uint32_t group, enum fab_life_state state)
{
	struct group *g = &r->groups[group];

	g->state = state;
	g->visit++;
	if (r->router->enter)
		r->router->enter(r->router->context, group, state, r->now_ns);
	if (state == FAB_LIFE_RECEIVING_JOIN || state == FAB_LIFE_RECEIVING_LEAVE)
		FAB_PUSH(&r->timers,
			 ((struct timer){add_ns(r->now_ns, r->options->timeout_ns), group,
					 g->visit}));
}

static void set_unusable(struct replay *r, struct group *g, bool is_unusable)
{
	if (g->is_unusable && !is_unusable)
		g->unusable_ns = add_ns(g->unusable_ns, r->now_ns - g->since_ns);
	if (!g->is_unusable && is_unusable)
		g->since_ns = r->now_ns;
	g->is_unusable = is_unusable;
}

/* One computation at a time: this one after those that wait. */
static void compute(struct replay *r, uint32_t group, uint32_t seat, bool is_leave)
{
	uint64_t start = r->now_ns;

	if (r->jobs.n > r->next_job)
		start = r->jobs.v[r->jobs.n - 1].end_ns;
	FAB_PUSH(&r->jobs, ((struct job){add_ns(start, r->options->compute_ns), group,
					 seat, is_leave}));
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

	enter(r, group, FAB_LIFE_DESTROYING);
	set_unusable(r, g, false);
	for (uint64_t s = all->first[group]; s < all->first[group + 1]; s++)
		r->seats[s] = 0;
	route(r, group, JOINED);
	g->count = g->n_joined = g->n_left = 0;
	enter(r, group, FAB_LIFE_ABSENT);
}

/* A member has left a group that is ready, or had left when it became so. */
static void note_left(struct replay *r, uint32_t group)
{
	struct group *g = &r->groups[group];

	if (g->state == FAB_LIFE_READY)
		enter(r, group, FAB_LIFE_RECEIVING_LEAVE);
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
	if (g->state == FAB_LIFE_ABSENT) {
		g->count = e->count;
		set_unusable(r, g, true);
		enter(r, e->group, FAB_LIFE_RECEIVING_JOIN);
	}
	if (g->state != FAB_LIFE_RECEIVING_JOIN || g->count != e->count) {
		r->out->refused++;
		return;
	}
	*seat = JOINED;
	if (++g->n_joined < g->count)
		return;
	enter(r, e->group, FAB_LIFE_COMPUTING);
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
	if (!*seat || g->state == FAB_LIFE_RECEIVING_JOIN) {
		r->out->refused++;
		return;
	}
	*seat |= LEFT;
	g->n_left++;
	if (g->state != FAB_LIFE_COMPUTING)
		note_left(r, e->group);
}

static void batched_computed(struct replay *r, const struct job *job)
{
	route(r, job->group, JOINED);
	set_unusable(r, &r->groups[job->group], false);
	enter(r, job->group, FAB_LIFE_READY);
	if (r->groups[job->group].n_left)
		note_left(r, job->group);
}

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
	set_unusable(r, g, g->n_joined);
	compute(r, e->group, e->seat, e->is_leave);
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
}

/* By a number of its own for each request, so that behaviours can be compared. */
static bool is_lost(const struct replay *r, size_t i)
{
	uint64_t bits = fab_mix64(fab_mix64(r->options->seed) ^ i);

	return r->events->v[i].is_lost ||
	       (double)(bits >> 11) * 0x1p-53 < r->options->loss;
}

static void receive(struct replay *r, size_t i)
{
	const struct fab_event *e = &r->events->v[i];

	r->now_ns = e->time_ns;
	if (is_lost(r, i))
		r->out->lost++;
	else if (r->options->behaviour == FAB_LIFE_PLAIN)
		plain_request(r, e);
	else if (e->is_leave)
		batched_leave(r, e);
	else
		batched_join(r, e);
}

static void end_job(struct replay *r)
{
	struct job job = r->jobs.v[r->next_job++];

	r->now_ns = job.end_ns;
	r->out->recomputations++;
	if (r->options->behaviour == FAB_LIFE_PLAIN)
		plain_computed(r, &job);
	else
		batched_computed(r, &job);
}

static void end_timer(struct replay *r)
{
	struct timer timer = r->timers.v[r->next_timer++];

	r->now_ns = timer.end_ns;
	if (r->groups[timer.group].visit != timer.visit)
		return;
	r->out->timed_out++;
	destroy(r, timer.group);
}

static void run(struct replay *r)
{
	const struct fab_events *e = r->events;
	size_t next = 0;

	for (;;) {
		bool has_job = r->next_job < r->jobs.n;
		bool has_timer = r->next_timer < r->timers.n;
		uint64_t job = has_job ? r->jobs.v[r->next_job].end_ns : UINT64_MAX;
		uint64_t timer =
			has_timer ? r->timers.v[r->next_timer].end_ns : UINT64_MAX;
		uint64_t event = next < e->n ? e->v[next].time_ns : UINT64_MAX;

		if (has_job && job <= event && job <= timer)
			end_job(r);
		else if (next < e->n && event <= timer)
			receive(r, next++);
		else if (has_timer)
			end_timer(r);
		else
			return;
	}
}

static void sum_up(const struct replay *r)
{
	struct fab_life_outcome *o = r->out;
	uint32_t n = r->events->groups->n;

	for (uint32_t i = 0; i < n; i++) {
		const struct group *g = &r->groups[i];
		double seconds = (double)g->unusable_ns / 1e9;

		o->unusable_sum_s += seconds;
		if (seconds > o->unusable_max_s)
			o->unusable_max_s = seconds;
		o->alive += r->options->behaviour == FAB_LIFE_PLAIN
				    ? g->n_joined > 0
				    : g->state != FAB_LIFE_ABSENT;
	}
	o->unusable_mean_s = n ? o->unusable_sum_s / n : 0;
}

void fab_life_replay(const struct fab_events *events,
		     const struct fab_life_options *options,
		     const struct fab_life_router *router, struct fab_life_outcome *out)
{
	const struct fab_groups *g = events->groups;
	struct replay r = {
		.events = events, .options = options, .router = router, .out = out};
	uint32_t widest = 0;

	*out = (struct fab_life_outcome){0};
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
	free(r.timers.v);
}

const char *fab_life_behaviour_name(enum fab_life_behaviour behaviour)
{
	return behaviour == FAB_LIFE_PLAIN ? "plain" : "batched";
}
