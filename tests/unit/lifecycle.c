/* SPDX-License-Identifier: BSD-2-Clause */
/* The lifecycle of groups against a simulation that does everything tick by tick. */
#include "mcast/events.h"
#include "support/test.h"

enum { GROUPS = 3, SEATS = 5, EVENTS = 80, MAX_LOG = 1000, N_SEEDS = 400 };

/* What was routed for a group, a bit for each member, and the states that it entered,
 * each with its time, in the order of time. */
struct log {
	uint32_t n[GROUPS], n_states[GROUPS];
	uint32_t members[GROUPS][MAX_LOG];
	uint64_t states[GROUPS][MAX_LOG];
};

static uint32_t n_bits(uint32_t members)
{
	return (uint32_t)__builtin_popcount(members);
}

/* Every call counts 3 and its members as changes. */
static uint64_t log_route(struct log *log, uint32_t group, uint32_t members)
{
	cr_assert_lt(log->n[group], MAX_LOG);
	log->members[group][log->n[group]++] = members;
	return 3 + n_bits(members);
}

static uint64_t route(void *context, uint32_t group, const fab_port_id *member,
		      uint32_t n)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < n; i++)
		bits |= 1u << (member[i] - group * SEATS);
	cr_assert_eq(n_bits(bits), n);
	return log_route(context, group, bits);
}

static void enter(void *context, uint32_t group, enum fab_lifecycle_state state,
		  uint64_t now_ns)
{
	struct log *log = context;

	cr_assert_lt(log->n_states[group], MAX_LOG);
	log->states[group][log->n_states[group]++] = 8 * now_ns + state;
}

/* A trace over three groups of five seats; a group wants 1 to 5 members. */
struct trace {
	struct fab_groups groups;
	uint64_t first[GROUPS + 1];
	uint32_t member[GROUPS * SEATS];
	struct fab_event v[EVENTS];
	struct fab_events events;
};

static void trace_init(struct trace *t, uint64_t seed)
{
	uint32_t count[GROUPS];
	struct fab_rng rng = test_rng(seed);
	uint64_t now = 0;

	for (uint32_t i = 0; i < GROUPS * SEATS; i++)
		t->member[i] = i;
	for (uint32_t g = 0; g < GROUPS; g++) {
		count[g] = 1 + test_below(&rng, SEATS);
		t->first[g + 1] = (g + 1) * SEATS;
	}
	t->first[0] = 0;
	for (uint32_t i = 0; i < EVENTS; i++) {
		uint32_t g = test_below(&rng, GROUPS);
		uint32_t seat = test_below(&rng, count[g]);

		now += fab_rng_below(&rng, 1 + seed % 7);
		t->v[i] = (struct fab_event){.time_ns = now,
					     .group = g,
					     .seat = g * SEATS + seat,
					     .count = count[g],
					     .is_leave = fab_rng_below(&rng, 5) < 2,
					     .is_lost = fab_rng_below(&rng, 9) == 0};
		t->v[i].count += fab_rng_below(&rng, 20) == 0;
	}
	t->groups =
		(struct fab_groups){.n = GROUPS, .first = t->first, .member = t->member};
	t->events = (struct fab_events){.groups = &t->groups, .v = t->v, .n = EVENTS};
}

/* The same, tick by tick, with nothing kept but what the page tells. */
struct naive {
	const struct fab_lifecycle_options *options;
	struct naive_group {
		enum fab_lifecycle_state state;
		uint64_t entered, unusable;
		uint32_t count, joined, left, routed;
		bool is_dirty;
		/* of the one measure: is it complete, since when, and its first join */
		bool is_complete;
		uint64_t complete, first;
	} group[GROUPS];
	uint32_t n_jobs, n_dirty, dirty[GROUPS];
	struct naive_job {
		uint32_t group, change;
		uint64_t ticks_left;
	} jobs[EVENTS];
	struct fab_lifecycle_outcome out; /* means are sums until the end */
	struct log log;
};

static bool is_by(const struct naive *s, enum fab_lifecycle_behaviour behaviour)
{
	return s->options->behaviour == behaviour;
}

static void naive_set(struct naive *s, uint32_t g, enum fab_lifecycle_state state,
		      uint64_t now)
{
	s->group[g].state = state;
	s->group[g].entered = now;
	enter(&s->log, g, state, now);
}

static void naive_destroy(struct naive *s, uint32_t g, uint64_t now)
{
	naive_set(s, g, FAB_LIFECYCLE_DESTROYING, now);
	s->group[g].joined = s->group[g].left = 0;
	s->group[g].is_complete = false;
	s->out.table_updates += log_route(&s->log, g, 0);
	naive_set(s, g, FAB_LIFECYCLE_ABSENT, now);
}

static void naive_compute(struct naive *s, uint32_t g, uint32_t change)
{
	s->jobs[s->n_jobs++] = (struct naive_job){g, change, s->options->compute_ns};
}

static void naive_left(struct naive *s, uint32_t group, uint64_t now)
{
	struct naive_group *g = &s->group[group];

	if (g->state == FAB_LIFECYCLE_READY && g->left)
		naive_set(s, group, FAB_LIFECYCLE_RECEIVING_LEAVE, now);
	if (g->state == FAB_LIFECYCLE_RECEIVING_LEAVE && g->left == g->joined)
		naive_destroy(s, group, now);
}

/* Coalesced: all groups that changed, in their order, with the members of now. */
static void naive_pass(struct naive *s)
{
	if (!is_by(s, FAB_LIFECYCLE_COALESCED) || s->n_jobs || !s->n_dirty)
		return;
	for (uint32_t i = 0; i < s->n_dirty; i++) {
		naive_compute(s, s->dirty[i], s->group[s->dirty[i]].joined);
		s->group[s->dirty[i]].is_dirty = false;
	}
	s->n_dirty = 0;
	s->out.passes++;
}

/* All that have joined have routes. */
static void naive_measure(struct naive *s, struct naive_group *g, uint64_t now)
{
	double seconds = (double)(now - g->complete) / 1e9;
	uint64_t asked = g->first;

	if (!g->is_complete || g->joined & ~g->routed)
		return;
	g->is_complete = false;
	s->out.routed++;
	s->out.routed_mean_s += seconds;
	s->out.routed_max_s = fmax(s->out.routed_max_s, seconds);
	if (!is_by(s, FAB_LIFECYCLE_BATCHED))
		return;
	if (s->options->poll_ns)
		do {
			asked += s->options->poll_ns;
			s->out.polls++;
		} while (asked < now);
	else
		asked = now;
	seconds = (double)(asked + s->options->notify_ns - g->complete) / 1e9;
	s->out.told_mean_s += seconds;
	s->out.told_max_s = fmax(s->out.told_max_s, seconds);
}

static void naive_joined(struct naive *s, const struct fab_event *e)
{
	struct naive_group *g = &s->group[e->group];

	if (n_bits(g->joined) == 1)
		g->first = e->time_ns;
	if (n_bits(g->joined) != e->count)
		return;
	g->is_complete = true;
	g->complete = e->time_ns;
	s->out.completed++;
}

/* Jobs at the head of the queue that have had their time. */
static void naive_end_jobs(struct naive *s, uint64_t now)
{
	while (s->n_jobs && !s->jobs[0].ticks_left) {
		struct naive_job job = s->jobs[0];
		struct naive_group *g = &s->group[job.group];

		memmove(&s->jobs[0], &s->jobs[1], --s->n_jobs * sizeof(job));
		s->out.recomputations++;
		if (is_by(s, FAB_LIFECYCLE_PLAIN))
			g->routed ^= job.change;
		else
			g->routed =
				is_by(s, FAB_LIFECYCLE_BATCHED) ? g->joined : job.change;
		s->out.table_updates += log_route(&s->log, job.group, g->routed);
		naive_measure(s, g, now);
		naive_pass(s);
		if (is_by(s, FAB_LIFECYCLE_BATCHED)) {
			naive_set(s, job.group, FAB_LIFECYCLE_READY, now);
			naive_left(s, job.group, now);
		}
	}
}

static void naive_join(struct naive *s, const struct fab_event *e, uint32_t bit)
{
	struct naive_group *g = &s->group[e->group];

	if (g->joined & bit && !(g->left & bit)) {
		s->out.repeated++;
		return;
	}
	if (g->state == FAB_LIFECYCLE_ABSENT) {
		naive_set(s, e->group, FAB_LIFECYCLE_RECEIVING_JOIN, e->time_ns);
		g->count = e->count;
	}
	if (g->state != FAB_LIFECYCLE_RECEIVING_JOIN || g->count != e->count) {
		s->out.refused++;
		return;
	}
	g->joined |= bit;
	naive_joined(s, e);
	if (n_bits(g->joined) < g->count)
		return;
	naive_set(s, e->group, FAB_LIFECYCLE_COMPUTING, e->time_ns);
	naive_compute(s, e->group, 0);
}

static void naive_leave(struct naive *s, const struct fab_event *e, uint32_t bit)
{
	struct naive_group *g = &s->group[e->group];

	if (g->left & bit) {
		s->out.repeated++;
	} else if (!(g->joined & bit) || g->state == FAB_LIFECYCLE_RECEIVING_JOIN) {
		s->out.refused++;
	} else {
		g->left |= bit;
		g->is_complete = false;
		naive_left(s, e->group, e->time_ns);
	}
}

static void naive_receive(struct naive *s, const struct fab_event *e)
{
	struct naive_group *g = &s->group[e->group];
	uint32_t bit = 1u << (e->seat - e->group * SEATS);
	bool is_in = g->joined & bit;

	if (e->is_lost) {
		s->out.lost++;
	} else if (is_by(s, FAB_LIFECYCLE_BATCHED)) {
		(e->is_leave ? naive_leave : naive_join)(s, e, bit);
	} else if (is_in != e->is_leave) {
		s->out.refused += e->is_leave;
		s->out.repeated += !e->is_leave;
	} else {
		g->joined ^= bit;
		if (e->is_leave)
			g->is_complete = false;
		else
			naive_joined(s, e);
		if (is_by(s, FAB_LIFECYCLE_PLAIN))
			naive_compute(s, e->group, bit);
		else if (!g->is_dirty)
			s->dirty[s->n_dirty++] = e->group;
		g->is_dirty = is_by(s, FAB_LIFECYCLE_COALESCED);
		naive_pass(s);
	}
}

static bool naive_is_unusable(const struct naive *s, uint32_t g)
{
	bool is_waiting = s->group[g].is_dirty;

	if (is_by(s, FAB_LIFECYCLE_BATCHED))
		return s->group[g].state == FAB_LIFECYCLE_RECEIVING_JOIN ||
		       s->group[g].state == FAB_LIFECYCLE_COMPUTING;
	for (uint32_t i = 0; i < s->n_jobs; i++)
		is_waiting |= s->jobs[i].group == g;
	return is_waiting && s->group[g].joined;
}

static void naive_run(struct naive *s, const struct fab_events *events)
{
	uint64_t end = events->v[events->n - 1].time_ns +
		       EVENTS * (s->options->compute_ns + s->options->timeout_ns + 1);
	struct fab_lifecycle_outcome *o = &s->out;
	size_t next = 0;

	o->routed_max_s = o->told_max_s = NAN;
	for (uint64_t now = 0; now <= end; now++) {
		naive_end_jobs(s, now);
		while (next < events->n && events->v[next].time_ns == now) {
			naive_receive(s, &events->v[next++]);
			naive_end_jobs(s, now);
		}
		for (uint32_t g = 0; g < GROUPS; g++) {
			enum fab_lifecycle_state state = s->group[g].state;
			bool waits = state == FAB_LIFECYCLE_RECEIVING_JOIN ||
				     state == FAB_LIFECYCLE_RECEIVING_LEAVE;

			if (waits &&
			    now - s->group[g].entered >= s->options->timeout_ns) {
				s->out.timed_out++;
				naive_destroy(s, g, now);
			}
			s->group[g].unusable += naive_is_unusable(s, g);
		}
		if (s->n_jobs)
			s->jobs[0].ticks_left--;
	}
	for (uint32_t g = 0; g < GROUPS; g++) {
		double unusable = (double)s->group[g].unusable / 1e9;

		o->alive += s->group[g].joined != 0;
		o->unusable_sum_s += unusable;
		o->unusable_max_s = fmax(o->unusable_max_s, unusable);
	}
	o->unusable_mean_s = o->unusable_sum_s / GROUPS;
	/* NaN where there was none */
	o->routed_mean_s /= (double)o->routed;
	o->told_mean_s /= is_by(s, FAB_LIFECYCLE_BATCHED) ? (double)o->routed : 0;
}

static bool is_near(double a, double b)
{
	return isnan(a) ? isnan(b) : fabs(a - b) < 1e-12;
}

static void compare(const struct naive *naive, const struct fab_lifecycle_outcome *got,
		    const struct log *log)
{
	const struct fab_lifecycle_outcome *want = &naive->out;

	cr_assert(got->recomputations == want->recomputations &&
		  got->table_updates == want->table_updates &&
		  got->timed_out == want->timed_out && got->lost == want->lost &&
		  got->repeated == want->repeated && got->refused == want->refused &&
		  got->alive == want->alive && got->passes == want->passes &&
		  got->completed == want->completed && got->routed == want->routed &&
		  got->polls == want->polls);
	cr_assert(is_near(got->routed_mean_s, want->routed_mean_s) &&
		  is_near(got->routed_max_s, want->routed_max_s) &&
		  is_near(got->told_mean_s, want->told_mean_s) &&
		  is_near(got->told_max_s, want->told_max_s) &&
		  is_near(got->unusable_sum_s, want->unusable_sum_s) &&
		  is_near(got->unusable_mean_s, want->unusable_mean_s) &&
		  is_near(got->unusable_max_s, want->unusable_max_s));
	cr_assert_arr_eq(log, &naive->log, sizeof(*log));
}

/* All behaviours, with computations and time-outs from none to long. */
Test(lifecycle, as_a_simulation_tick_by_tick)
{
	uint64_t timed_out = 0, batched = 0, routed = 0, gathered = 0;

	for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
		struct fab_lifecycle_options options = {
			.behaviour = (enum fab_lifecycle_behaviour)(
				seed % FAB_LIFECYCLE_N_BEHAVIOURS),
			.compute_ns = seed / 2 % 5,
			.timeout_ns = seed / 10 % 30,
			.poll_ns = seed / 3 % 4,
			.notify_ns = seed % 5};
		struct log log = {.n = {0}};
		struct fab_lifecycle_router router = {route, enter, &log};
		struct naive naive = {.options = &options};
		struct fab_lifecycle_outcome out;
		struct trace t;

		trace_init(&t, seed);
		fab_lifecycle_replay(&t.events, &options, &router, &out);
		naive_run(&naive, &t.events);
		compare(&naive, &out, &log);
		timed_out += out.timed_out;
		batched += is_by(&naive, FAB_LIFECYCLE_BATCHED) ? out.recomputations : 0;
		routed += out.routed;
		gathered += is_by(&naive, FAB_LIFECYCLE_COALESCED) &&
			    out.passes < out.recomputations;
	}
	/* the traces are such that much happens */
	cr_assert(timed_out > N_SEEDS / 2 && batched > N_SEEDS / 8 && routed > N_SEEDS);
	cr_assert_gt(gathered, N_SEEDS / 6);
}

static struct fab_lifecycle_outcome replayed(const struct trace *t, double loss,
					     uint64_t compute_ns, int behaviour)
{
	struct log log = {.n = {0}};
	const struct fab_lifecycle_router router = {.route = route, .context = &log};
	const struct fab_lifecycle_options options = {
		.behaviour = (enum fab_lifecycle_behaviour)behaviour,
		.compute_ns = compute_ns,
		.timeout_ns = FAB_MAX_SPAN_NS,
		.loss = loss};
	struct fab_lifecycle_outcome out;

	fab_lifecycle_replay(&t->events, &options, &router, &out);
	return out;
}

/* All or some requests are lost, the same in all behaviours. Times at the ends of their
 * ranges neither wrap nor hang. */
Test(lifecycle, losses_and_the_longest_times)
{
	struct fab_lifecycle_outcome out;
	struct trace t;
	uint64_t lost;

	trace_init(&t, 3);
	lost = replayed(&t, 0.25, 1, FAB_LIFECYCLE_BATCHED).lost;
	cr_assert(lost > EVENTS / 8 && lost < EVENTS / 2);
	for (size_t i = 0; i < EVENTS; i++)
		t.v[i].time_ns += FAB_MAX_EVENT_NS - 1000;
	for (int b = FAB_LIFECYCLE_BATCHED; b < FAB_LIFECYCLE_N_BEHAVIOURS; b++) {
		out = replayed(&t, 1, 1, b);
		cr_assert(out.lost == EVENTS && !out.recomputations && !out.alive);
		cr_assert_float_eq(out.unusable_sum_s, 0, 1e-12);
		cr_assert_eq(replayed(&t, 0.25, 1, b).lost, lost);
		out = replayed(&t, 0, FAB_MAX_SPAN_NS, b);
		cr_assert(out.unusable_max_s >= 1e6 && out.unusable_max_s < 1e9);
		cr_assert_eq(replayed(&t, 0, UINT64_MAX /* more than can be added */, b)
				     .recomputations,
			     out.recomputations);
	}
}
