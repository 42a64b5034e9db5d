/* SPDX-License-Identifier: BSD-2-Clause */
/* The lifecycle of groups against a simulation that does everything tick by tick. */
#include "mcast/events.h"

#include "support/test.h"

enum { GROUPS = 3, SEATS = 5, EVENTS = 80, MAX_LOG = 1000, N_SEEDS = 400 };

/* What was routed for a group: a bit for each member, in the order of time. */
struct log {
	uint32_t n[GROUPS];
	uint32_t members[GROUPS][MAX_LOG];
	enum fab_lifecycle_state state[GROUPS];
	uint64_t now_ns;
};

static void log_route(struct log *log, uint32_t group, uint32_t members)
{
	cr_assert_lt(log->n[group], MAX_LOG);
	log->members[group][log->n[group]++] = members;
}

/* Every call counts 3 and its members as changes. */
static uint64_t route(void *context, uint32_t group, const fab_port_id *member,
		      uint32_t n)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < n; i++)
		bits |= 1u << (member[i] - group * SEATS);
	cr_assert_eq((uint32_t)__builtin_popcount(bits), n);
	log_route(context, group, bits);
	return 3 + n;
}

/* The states that may follow each, as bits. */
static void enter(void *context, uint32_t group, enum fab_lifecycle_state state,
		  uint64_t now_ns)
{
	static const unsigned next[] = {
		[FAB_LIFECYCLE_ABSENT] = 1 << FAB_LIFECYCLE_RECEIVING_JOIN,
		[FAB_LIFECYCLE_RECEIVING_JOIN] =
			1 << FAB_LIFECYCLE_COMPUTING | 1 << FAB_LIFECYCLE_DESTROYING,
		[FAB_LIFECYCLE_COMPUTING] = 1 << FAB_LIFECYCLE_READY,
		[FAB_LIFECYCLE_READY] = 1 << FAB_LIFECYCLE_RECEIVING_LEAVE,
		[FAB_LIFECYCLE_RECEIVING_LEAVE] = 1 << FAB_LIFECYCLE_DESTROYING,
		[FAB_LIFECYCLE_DESTROYING] = 1 << FAB_LIFECYCLE_ABSENT,
	};
	struct log *log = context;

	cr_assert(next[log->state[group]] >> state & 1, "from %d to %d",
		  log->state[group], state);
	cr_assert_geq(now_ns, log->now_ns);
	log->state[group] = state;
	log->now_ns = now_ns;
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

	for (uint32_t g = 0; g <= GROUPS; g++)
		t->first[g] = g * SEATS;
	for (uint32_t i = 0; i < GROUPS * SEATS; i++)
		t->member[i] = i;
	for (uint32_t g = 0; g < GROUPS; g++)
		count[g] = 1 + test_below(&rng, SEATS);
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
	enum fab_lifecycle_state state[GROUPS];
	uint64_t entered[GROUPS];
	uint32_t count[GROUPS], joined[GROUPS], left[GROUPS], routed[GROUPS];
	uint32_t n_jobs;
	struct {
		uint32_t group, change;
		uint64_t ticks_left;
	} jobs[EVENTS];
	uint64_t unusable[GROUPS];
	uint32_t n_dirty, dirty[GROUPS];
	/* of the one measure: since when a group is complete, and its first join */
	bool is_complete[GROUPS];
	uint64_t complete[GROUPS], first[GROUPS];
	double routed_s, routed_max_s, told_s, told_max_s;
	struct fab_lifecycle_outcome out;
	struct log log;
};

static void naive_destroy(struct naive *s, uint32_t g)
{
	s->joined[g] = s->left[g] = 0;
	s->is_complete[g] = false;
	s->state[g] = FAB_LIFECYCLE_ABSENT;
	log_route(&s->log, g, 0);
	s->out.table_updates += 3;
}

static void naive_compute(struct naive *s, uint32_t g, uint32_t change)
{
	s->jobs[s->n_jobs].group = g;
	s->jobs[s->n_jobs].change = change;
	s->jobs[s->n_jobs++].ticks_left = s->options->compute_ns;
}

static void naive_set(struct naive *s, uint32_t g, enum fab_lifecycle_state state,
		      uint64_t now)
{
	s->state[g] = state;
	s->entered[g] = now;
}

static void naive_left(struct naive *s, uint32_t g, uint64_t now)
{
	if (s->state[g] == FAB_LIFECYCLE_READY && s->left[g])
		naive_set(s, g, FAB_LIFECYCLE_RECEIVING_LEAVE, now);
	if (s->state[g] == FAB_LIFECYCLE_RECEIVING_LEAVE && s->left[g] == s->joined[g])
		naive_destroy(s, g);
}

static bool naive_is_dirty(const struct naive *s, uint32_t g)
{
	for (uint32_t i = 0; i < s->n_dirty; i++)
		if (s->dirty[i] == g)
			return true;
	return false;
}

/* Coalesced: all groups that changed, in their order, with the members of now. */
static void naive_pass(struct naive *s)
{
	if (s->options->behaviour != FAB_LIFECYCLE_COALESCED || s->n_jobs || !s->n_dirty)
		return;
	for (uint32_t i = 0; i < s->n_dirty; i++)
		naive_compute(s, s->dirty[i], s->joined[s->dirty[i]]);
	s->n_dirty = 0;
	s->out.passes++;
}

/* All that have joined have routes. */
static void naive_measure(struct naive *s, uint32_t g, uint64_t now)
{
	double routed = (double)(now - s->complete[g]) / 1e9;
	uint64_t asked = s->first[g];

	if (!s->is_complete[g] || s->joined[g] & ~s->routed[g])
		return;
	s->is_complete[g] = false;
	s->out.routed++;
	s->routed_s += routed;
	s->routed_max_s = fmax(s->routed_max_s, routed);
	if (s->options->behaviour != FAB_LIFECYCLE_BATCHED)
		return;
	if (s->options->poll_ns)
		do {
			asked += s->options->poll_ns;
			s->out.polls++;
		} while (asked < now);
	else
		asked = now;
	routed = (double)(asked + s->options->notify_ns - s->complete[g]) / 1e9;
	s->told_s += routed;
	s->told_max_s = fmax(s->told_max_s, routed);
}

static void naive_joined(struct naive *s, const struct fab_event *e)
{
	uint32_t n = (uint32_t)__builtin_popcount(s->joined[e->group]);

	if (n == 1)
		s->first[e->group] = e->time_ns;
	if (n != e->count)
		return;
	s->is_complete[e->group] = true;
	s->complete[e->group] = e->time_ns;
	s->out.completed++;
}

/* Jobs at the head of the queue that have had their time. */
static void naive_end_jobs(struct naive *s, uint64_t now)
{
	while (s->n_jobs && !s->jobs[0].ticks_left) {
		uint32_t g = s->jobs[0].group;

		s->routed[g] ^= s->jobs[0].change;
		if (s->options->behaviour == FAB_LIFECYCLE_COALESCED)
			s->routed[g] = s->jobs[0].change;
		memmove(&s->jobs[0], &s->jobs[1], --s->n_jobs * sizeof(s->jobs[0]));
		s->out.recomputations++;
		if (s->options->behaviour == FAB_LIFECYCLE_BATCHED)
			s->routed[g] = s->joined[g];
		log_route(&s->log, g, s->routed[g]);
		s->out.table_updates += 3 + (uint64_t)__builtin_popcount(s->routed[g]);
		naive_measure(s, g, now);
		naive_pass(s);
		if (s->options->behaviour == FAB_LIFECYCLE_BATCHED) {
			naive_set(s, g, FAB_LIFECYCLE_READY, now);
			naive_left(s, g, now);
		}
	}
}

static void naive_join(struct naive *s, const struct fab_event *e, uint32_t bit)
{
	uint32_t g = e->group;

	if (s->joined[g] & bit && !(s->left[g] & bit)) {
		s->out.repeated++;
		return;
	}
	if (s->state[g] == FAB_LIFECYCLE_ABSENT) {
		naive_set(s, g, FAB_LIFECYCLE_RECEIVING_JOIN, e->time_ns);
		s->count[g] = e->count;
	}
	if (s->state[g] != FAB_LIFECYCLE_RECEIVING_JOIN || s->count[g] != e->count) {
		s->out.refused++;
		return;
	}
	s->joined[g] |= bit;
	naive_joined(s, e);
	if ((uint32_t)__builtin_popcount(s->joined[g]) < s->count[g])
		return;
	naive_set(s, g, FAB_LIFECYCLE_COMPUTING, e->time_ns);
	naive_compute(s, g, 0);
}

static void naive_leave(struct naive *s, const struct fab_event *e, uint32_t bit)
{
	uint32_t g = e->group;

	if (s->left[g] & bit) {
		s->out.repeated++;
	} else if (!(s->joined[g] & bit) || s->state[g] == FAB_LIFECYCLE_RECEIVING_JOIN) {
		s->out.refused++;
	} else {
		s->left[g] |= bit;
		s->is_complete[g] = false;
		naive_left(s, g, e->time_ns);
	}
}

static void naive_receive(struct naive *s, const struct fab_event *e)
{
	uint32_t bit = 1u << (e->seat - e->group * SEATS);
	bool is_in = s->joined[e->group] & bit;

	if (e->is_lost) {
		s->out.lost++;
	} else if (s->options->behaviour == FAB_LIFECYCLE_BATCHED) {
		if (e->is_leave)
			naive_leave(s, e, bit);
		else
			naive_join(s, e, bit);
	} else if (is_in != e->is_leave) {
		s->out.refused += e->is_leave;
		s->out.repeated += !e->is_leave;
	} else {
		s->joined[e->group] ^= bit;
		if (e->is_leave)
			s->is_complete[e->group] = false;
		else
			naive_joined(s, e);
		if (s->options->behaviour == FAB_LIFECYCLE_PLAIN)
			naive_compute(s, e->group, bit);
		else if (!naive_is_dirty(s, e->group))
			s->dirty[s->n_dirty++] = e->group;
		naive_pass(s);
	}
}

static bool naive_is_unusable(const struct naive *s, uint32_t g)
{
	if (s->options->behaviour == FAB_LIFECYCLE_BATCHED)
		return s->state[g] == FAB_LIFECYCLE_RECEIVING_JOIN ||
		       s->state[g] == FAB_LIFECYCLE_COMPUTING;
	for (uint32_t i = 0; i < s->n_jobs; i++)
		if (s->jobs[i].group == g)
			return s->joined[g];
	return naive_is_dirty(s, g) && s->joined[g];
}

static void naive_time_out(struct naive *s, uint32_t g, uint64_t now)
{
	bool waits = s->state[g] == FAB_LIFECYCLE_RECEIVING_JOIN ||
		     s->state[g] == FAB_LIFECYCLE_RECEIVING_LEAVE;

	if (!waits || now - s->entered[g] < s->options->timeout_ns)
		return;
	s->out.timed_out++;
	naive_destroy(s, g);
}

static void naive_run(struct naive *s, const struct fab_events *events)
{
	uint64_t end = events->v[events->n - 1].time_ns +
		       EVENTS * (s->options->compute_ns + s->options->timeout_ns + 1);
	size_t next = 0;

	for (uint64_t now = 0; now <= end; now++) {
		naive_end_jobs(s, now);
		while (next < events->n && events->v[next].time_ns == now) {
			naive_receive(s, &events->v[next++]);
			naive_end_jobs(s, now);
		}
		for (uint32_t g = 0; g < GROUPS; g++)
			naive_time_out(s, g, now);
		for (uint32_t g = 0; g < GROUPS; g++)
			s->unusable[g] += naive_is_unusable(s, g);
		if (s->n_jobs)
			s->jobs[0].ticks_left--;
	}
	for (uint32_t g = 0; g < GROUPS; g++) {
		s->out.alive += s->joined[g] != 0;
		s->out.unusable_sum_s += (double)s->unusable[g] / 1e9;
		s->out.unusable_max_s =
			fmax(s->out.unusable_max_s, (double)s->unusable[g] / 1e9);
	}
}

static void compare(const struct naive *want, const struct fab_lifecycle_outcome *got,
		    const struct log *log)
{
	const struct fab_lifecycle_outcome *o = &want->out;

	cr_assert_eq(got->recomputations, o->recomputations);
	cr_assert_eq(got->table_updates, o->table_updates);
	cr_assert_eq(got->timed_out, o->timed_out);
	cr_assert_eq(got->lost, o->lost);
	cr_assert_eq(got->repeated, o->repeated);
	cr_assert_eq(got->refused, o->refused);
	cr_assert_eq(got->alive, o->alive);
	cr_assert_eq(got->passes, o->passes);
	cr_assert_eq(got->completed, o->completed);
	cr_assert_eq(got->routed, o->routed);
	cr_assert_eq(got->polls, o->polls);
	if (!o->routed) {
		cr_assert(isnan(got->routed_mean_s) && isnan(got->told_mean_s));
	} else {
		double n = (double)o->routed;

		cr_assert_float_eq(got->routed_mean_s, want->routed_s / n, 1e-12);
		cr_assert_float_eq(got->routed_max_s, want->routed_max_s, 1e-12);
	}
	if (!o->routed || want->options->behaviour != FAB_LIFECYCLE_BATCHED) {
		cr_assert(isnan(got->told_mean_s) && isnan(got->told_max_s));
	} else {
		cr_assert_float_eq(got->told_mean_s, want->told_s / (double)o->routed,
				   1e-12);
		cr_assert_float_eq(got->told_max_s, want->told_max_s, 1e-12);
	}
	cr_assert_float_eq(got->unusable_sum_s, o->unusable_sum_s, 1e-12);
	cr_assert_float_eq(got->unusable_max_s, o->unusable_max_s, 1e-12);
	cr_assert_float_eq(got->unusable_mean_s, o->unusable_sum_s / GROUPS, 1e-12);
	for (uint32_t g = 0; g < GROUPS; g++) {
		cr_assert_eq(log->n[g], want->log.n[g]);
		cr_assert_arr_eq(log->members[g], want->log.members[g],
				 log->n[g] * sizeof(uint32_t));
	}
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
		batched += options.behaviour == FAB_LIFECYCLE_BATCHED ? out.recomputations
								      : 0;
		routed += out.routed;
		gathered += options.behaviour == FAB_LIFECYCLE_COALESCED &&
			    out.passes < out.recomputations;
	}
	/* the traces are such that much happens */
	cr_assert_gt(timed_out, N_SEEDS / 2);
	cr_assert_gt(batched, N_SEEDS / 8);
	cr_assert_gt(routed, N_SEEDS);
	cr_assert_gt(gathered, N_SEEDS / 6);
}

static uint64_t no_route(void *context, uint32_t group, const fab_port_id *member,
			 uint32_t n)
{
	(void)context;
	(void)group;
	(void)member;
	return n;
}

static const struct fab_lifecycle_router nobody = {.route = no_route};

static struct fab_events *generate(const char *spec, uint64_t seed)
{
	FAB_AUTO(fab_fabric_free_at)
	struct fab_fabric *f = test_random_fabric(20, 30, 3, 1);
	struct fab_events *events;

	MUST(fab_events_generate(f, spec, seed, &events, ERR));
	return events;
}

Test(lifecycle, without_loss_one_computation_a_group_or_one_a_request)
{
	static const char *const specs[] = {
		"grid:6x10,hold=1s", "grid:4x5x3,hold=1ms,gap=1ms,skew=5ms",
		"random:groups=70,size=1-20,hold=0,skew=1ms", "tree:fanout=4,hold=2s"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		struct fab_events *e = generate(specs[i], i);
		struct fab_lifecycle_options options = {.compute_ns = 1000000,
							.timeout_ns = 1000000000000};
		struct fab_lifecycle_outcome out;

		fab_lifecycle_replay(e, &options, &nobody, &out);
		cr_assert_eq(out.recomputations, e->groups->n);
		cr_assert_eq(out.timed_out + out.lost + out.repeated + out.refused, 0);
		cr_assert_eq(out.alive, 0);
		cr_assert_leq(out.unusable_max_s, out.unusable_sum_s);
		options.behaviour = FAB_LIFECYCLE_PLAIN;
		fab_lifecycle_replay(e, &options, &nobody, &out);
		cr_assert_eq(out.recomputations, e->n);
		cr_assert_eq(out.timed_out + out.lost + out.repeated + out.refused, 0);
		cr_assert_eq(out.alive, 0);
		fab_events_free(e);
	}
}

Test(lifecycle, all_or_nothing_is_lost)
{
	struct fab_events *e = generate("grid:6x10,hold=1s", 1);
	struct fab_lifecycle_options options = {
		.compute_ns = 1000, .timeout_ns = 1000, .loss = 1};
	struct fab_lifecycle_outcome out, again;

	fab_lifecycle_replay(e, &options, &nobody, &out);
	cr_assert_eq(out.lost, e->n);
	cr_assert_eq(out.recomputations + out.timed_out + out.alive, 0);
	cr_assert_float_eq(out.unusable_sum_s, 0, 1e-12);

	/* the same requests in both behaviours, others under another seed */
	options.loss = 0.25;
	fab_lifecycle_replay(e, &options, &nobody, &out);
	cr_assert(out.lost > e->n / 8 && out.lost < e->n / 2);
	options.behaviour = FAB_LIFECYCLE_PLAIN;
	fab_lifecycle_replay(e, &options, &nobody, &again);
	cr_assert_eq(again.lost, out.lost);
	cr_assert_eq(again.timed_out, 0);
	fab_events_free(e);
}

/* Times at the ends of their ranges neither wrap nor hang. */
Test(lifecycle, the_longest_times)
{
	struct trace t;
	struct fab_lifecycle_options options = {.compute_ns = FAB_MAX_SPAN_NS,
						.timeout_ns = FAB_MAX_SPAN_NS};
	struct fab_lifecycle_outcome out;
	uint64_t recomputations;

	trace_init(&t, 3);
	for (size_t i = 0; i < EVENTS; i++)
		t.v[i].time_ns += FAB_MAX_EVENT_NS - 1000;
	for (int b = FAB_LIFECYCLE_BATCHED; b < FAB_LIFECYCLE_N_BEHAVIOURS; b++) {
		options.behaviour = (enum fab_lifecycle_behaviour)b;
		options.compute_ns = FAB_MAX_SPAN_NS;
		fab_lifecycle_replay(&t.events, &options, &nobody, &out);
		recomputations = out.recomputations;
		cr_assert(out.unusable_max_s >= 1e6 && out.unusable_max_s < 1e9);
		options.compute_ns = UINT64_MAX; /* more than can be added */
		fab_lifecycle_replay(&t.events, &options, &nobody, &out);
		cr_assert_eq(out.recomputations, recomputations);
	}
}

/*
 * Closed forms: n members of one group join at 0, 1, 2 ... ns, and one computation takes
 * c
 * >= n. Batched: one computation. Plain: n, one after the other. Coalesced: the first
 * join at once, all others in a second pass.
 */
Test(lifecycle, one_measure_of_all_machines)
{
	struct trace t;
	struct fab_lifecycle_outcome out[FAB_LIFECYCLE_N_BEHAVIOURS];

	for (uint32_t n = 2; n <= SEATS; n++)
		for (uint64_t c = n; c < 20; c += 5) {
			struct fab_lifecycle_options options = {.compute_ns = c,
								.timeout_ns = 1000,
								.poll_ns = 7,
								.notify_ns = 3};
			uint64_t ready = n - 1 + c; /* batched */

			trace_init(&t, 1);
			t.events.n = n;
			for (uint32_t i = 0; i < n; i++)
				t.v[i] = (struct fab_event){
					.time_ns = i, .seat = i, .count = n};
			for (int b = 0; b < FAB_LIFECYCLE_N_BEHAVIOURS; b++) {
				options.behaviour = (enum fab_lifecycle_behaviour)b;
				fab_lifecycle_replay(&t.events, &options, &nobody,
						     &out[b]);
				cr_assert_eq(out[b].completed, 1);
				cr_assert_eq(out[b].routed, 1);
			}
			cr_assert_float_eq(out[FAB_LIFECYCLE_BATCHED].routed_max_s,
					   (double)c / 1e9, 1e-15);
			cr_assert_float_eq(out[FAB_LIFECYCLE_PLAIN].routed_max_s,
					   (double)(n * c - (n - 1)) / 1e9, 1e-15);
			cr_assert_float_eq(out[FAB_LIFECYCLE_COALESCED].routed_max_s,
					   (double)(2 * c - (n - 1)) / 1e9, 1e-15);
			cr_assert_eq(out[FAB_LIFECYCLE_BATCHED].recomputations, 1);
			cr_assert_eq(out[FAB_LIFECYCLE_PLAIN].recomputations, n);
			cr_assert_eq(out[FAB_LIFECYCLE_COALESCED].recomputations, 2);
			cr_assert_eq(out[FAB_LIFECYCLE_COALESCED].passes, 2);
			/* asked at 7, 14 ... until ready, and told 3 later */
			cr_assert_eq(out[FAB_LIFECYCLE_BATCHED].polls, (ready + 6) / 7);
			cr_assert_float_eq(
				out[FAB_LIFECYCLE_BATCHED].told_max_s,
				(double)((ready + 6) / 7 * 7 + 3 - (n - 1)) / 1e9, 1e-15);
			cr_assert(isnan(out[FAB_LIFECYCLE_PLAIN].told_max_s));
		}
}
