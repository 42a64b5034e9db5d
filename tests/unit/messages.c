/* SPDX-License-Identifier: BSD-2-Clause */
/* Sources of messages: who sends what, how often, and when finite ones are over. */
#include "support/process.h"
#include "support/test.h"
#include "traffic/traffic.h"

enum { WIRE = 100, HOSTS = 12 };
static const char twelve[] = "torus:dims=6,hosts=2";

/* A fabric with its ends, and what a traffic is made for. */
struct setup {
	struct fab_fabric *f;
	struct fab_flow_ends ends;
	struct fab_traffic_problem p;
	uint32_t size[2];
	struct fab_traffic t;
	struct fab_message m; /* the last that was pulled */
};

/* So many ticks a byte, and for each message. */
static uint64_t wire(const void *context, uint32_t end, uint32_t bytes, bool to_group)
{
	(void)context, (void)end, (void)to_group;
	return bytes;
}

static void begin(struct setup *s, const char *fabric)
{
	*s = (struct setup){.f = test_gen(fabric), .size = {WIRE, 3 * WIRE}};
	fab_flow_ends_init(&s->ends, s->f, NULL, NULL);
	s->p = (struct fab_traffic_problem){.f = s->f, .ends = &s->ends, .wire = wire};
	s->p.how = (struct fab_traffic_options){.rate = 0.5,
						.window = 1,
						.size = s->size,
						.n_sizes = 1,
						.mtu = WIRE,
						.seed = 7};
}

static void end(struct setup *s)
{
	fab_traffic_fini(&s->t);
	fab_flow_ends_fini(&s->ends);
	fab_fabric_free(s->f);
}
OWN_VALUE(setup, end)

/* Replaces the traffic that there is. */
static void make(struct setup *s, const char *spec)
{
	fab_traffic_fini(&s->t);
	cr_assert_eq(fab_traffic_make(spec, &s->p, &s->t, ERR), 0, "%s: %s", spec,
		     test_err.text);
}

static bool pull(struct setup *s, uint32_t e, uint64_t now)
{
	return s->t.messages.next(s->t.messages.context, e, now, &s->m);
}

static void expect_target(struct setup *s, uint32_t e, uint64_t now, uint32_t target)
{
	cr_assert(pull(s, e, now) && s->m.target == target);
}

Test(messages, specs_are_told_by_name_and_argument)
{
	static const char *const good[] = {
		"uniform", "permutation:shift:8", "hotspot:4:0.2",  "incast:3",
		"groups",  "groups:all",	  "alltoall",	    "alltoall:random",
		"trace:x", "allreduce:ring",	  "allreduce:tree", "allreduce:recdbl"};
	static const char *const bad[] = {
		"uniform:1", "permutation",    "permutation:",	"permutation:shift",
		"hotspot:4", "hotspot",	       "hotspot:0:0.2", "hotspot:4:1.5",
		"incast:0",  "incast",	       "groups:some",	"alltoall:",
		"allreduce", "allreduce:star", "trace:",	"trace",
		"",	     "unifrom"};
	const struct fab_traffic_kind *kind;
	const char *argument;

	for (size_t i = 0; i < FAB_COUNT(good); i++)
		cr_assert_eq(fab_traffic_check(good[i], &kind, &argument, ERR), 0, "'%s'",
			     good[i]);
	for (size_t i = 0; i < FAB_COUNT(bad); i++) {
		cr_assert_eq(fab_traffic_check(bad[i], &kind, &argument, ERR), -EINVAL,
			     "'%s'", bad[i]);
		cr_assert(*test_err.text);
	}
}

/* Open loops: births in order, as many as the rate says, never to itself. Whole rate by
 * Bernoulli: a message in every slot. */
Test(messages, open_loops_keep_their_rate)
{
	enum { N = 20000 };

	for (unsigned i = 0; i < 5; i++) {
		uint64_t before = 0, bytes = 0;
		unsigned to[HOSTS] = {0};
		const bool by_slots = i >= 2;
		OWN(setup) s;

		begin(&s, twelve);
		s.p.how.arrivals =
			by_slots ? FAB_ARRIVALS_BERNOULLI : FAB_ARRIVALS_POISSON;
		s.p.how.slot = i % 2;
		s.p.how.rate = i == 4 ? 1 : 0.5;
		s.p.how.n_sizes = i == 4 ? 1 : 2;
		make(&s, "uniform");
		cr_assert_eq(s.t.n_senders, HOSTS);
		for (unsigned k = 0; k < N; k++) {
			cr_assert(pull(&s, 5, 0) && s.m.time >= before);
			cr_assert(i != 4 || s.m.time == k * WIRE);
			cr_assert(s.m.target != 5 && s.m.target < HOSTS);
			cr_assert(s.m.bytes == s.size[0] || s.m.bytes == s.size[1]);
			cr_assert(!by_slots || s.m.time % (i % 2 ? 1 : WIRE) == 0);
			to[s.m.target]++;
			bytes += s.m.bytes;
			before = s.m.time;
		}
		/* 4 standard deviations and more */
		cr_assert_float_eq((double)bytes / (double)before, s.p.how.rate, 0.02);
		for (unsigned e = 0; e < HOSTS; e++)
			cr_assert_float_eq(to[e], e == 5 ? 0 : N / 11.0, 170);
	}
}

/* A window of two: two at once, then one for each that has arrived, after a think time.
 */
Test(messages, closed_loops_wait)
{
	struct fab_delivery d = {.time = 500};
	OWN(setup) s;

	begin(&s, twelve);
	s.p.how.arrivals = FAB_ARRIVALS_CLOSED;
	s.p.how.window = 2;
	s.p.how.think = 30;
	make(&s, "permutation:shift:1");
	for (unsigned k = 0; k < 2; k++) {
		expect_target(&s, 3, 0, 4);
		cr_assert_eq(s.m.time, 0);
	}
	cr_assert_not(pull(&s, 3, 0));
	s.t.messages.completed(s.t.messages.context, 3, &d);
	d.time = 501;
	d.is_lost = true; /* what is lost does not end the loop */
	s.t.messages.completed(s.t.messages.context, 3, &d);
	cr_assert(pull(&s, 3, 500) && s.m.time == 530);
	cr_assert(pull(&s, 3, 500) && s.m.time == 531 && !pull(&s, 3, 600));
	cr_assert(pull(&s, 2, 600));
}

Test(messages, few_targets)
{
	static const char *const bad[][2] = {
		{"incast:12", ""},
		{"hotspot:13:0.5", ""},
		{"permutation:file:twice", "twice:2: 'h1' sends twice"},
		{"permutation:shift:12", "no host sends anything"},
		{"groups", ""},
	};
	unsigned hot = 0, sends = 0;
	FAB_AUTO(folder_fini) struct folder folder;
	OWN(setup) s;

	folder_init(&folder);
	put("twice", "h1 h2\nh1 h3\n");
	begin(&s, twelve);
	make(&s, "hotspot:2:0.25");
	for (unsigned k = 0; k < 20000; k++) {
		cr_assert(pull(&s, 1, 0) && s.m.target != 1);
		hot += s.m.target == 0 || s.m.target == 6;
	}
	/* the share, and of the rest two of eleven */
	cr_assert_float_eq(hot / 20000.0, 0.25 + 0.75 * 2 / 11, 0.015);
	for (unsigned k = 0; k < 1000; k++) /* nor does a hot one send to itself */
		cr_assert(pull(&s, 6, 0) && s.m.target != 6);
	make(&s, "incast:11");
	cr_assert_eq(s.t.n_senders, 11);
	make(&s, "incast:3");
	cr_assert_eq(s.t.n_senders, 3);
	for (uint32_t e = 0; e < HOSTS; e++)
		if (pull(&s, e, 0)) {
			cr_assert_eq(s.m.target, 0);
			cr_assert_eq(e, 1 + sends * 11 / 3); /* evenly apart */
			sends++;
		}
	cr_assert_eq(sends, 3);
	fab_traffic_fini(&s.t);
	for (size_t i = 0; i < FAB_COUNT(bad); i++)
		FAILS(fab_traffic_make(bad[i][0], &s.p, &s.t, ERR), -EINVAL, bad[i][1]);
}

/* Group 0: 3 5 7; group 1: dead, 5, 9; group 2: one live member; group 3: 5, 3. */
Test(messages, groups_are_sent_to_by_their_first)
{
	static const uint64_t first[] = {0, 3, 6, 8, 10};
	static const uint32_t member[] = {3, 5, 7, FAB_NONE, 5, 9, 8, FAB_NONE, 5, 3};
	static const uint32_t turns[] = {1, 3, 1, 3}, all[] = {0, 1, 3, 0};
	OWN(setup) s;

	begin(&s, twelve);
	s.p.n_groups = 4;
	s.p.group_first = first;
	s.p.group_end = member;
	make(&s, "groups");
	cr_assert(s.t.n_senders == 2 && s.t.n_left_out == 1);
	expect_target(&s, 3, 0, 0);
	cr_assert(s.m.to_group);
	for (unsigned k = 0; k < 4; k++)
		expect_target(&s, 5, 0, turns[k]);
	cr_assert_not(pull(&s, 8, 0));
	make(&s, "groups:all");
	cr_assert_eq(s.t.n_senders, 4);
	for (unsigned k = 0; k < 4; k++)
		expect_target(&s, 5, 0, all[k]);
}

/* Each pair once, in an order of its own or by shifts. */
Test(messages, each_to_each_once)
{
	for (unsigned i = 0; i < 2; i++) {
		unsigned in_shifts = 0;
		OWN(setup) s;

		begin(&s, "torus:dims=7,hosts=3");
		make(&s, i ? "alltoall:random" : "alltoall");
		cr_assert(s.t.kind->is_finite);
		cr_assert_eq(fab_traffic_unfinished(&s.t), s.ends.n);
		for (uint32_t e = 0; e < s.ends.n; e++) {
			bool seen[32] = {false};

			for (uint32_t k = 1; k < s.ends.n; k++) {
				cr_assert(pull(&s, e, 0) && s.m.target != e);
				cr_assert_not(seen[s.m.target]);
				seen[s.m.target] = true;
				in_shifts += s.m.target == (e + k) % s.ends.n;
			}
			cr_assert_not(pull(&s, e, 0));
		}
		cr_assert_eq(fab_traffic_unfinished(&s.t), 0);
		cr_assert(i ? in_shifts < 60 : in_shifts == s.ends.n * (s.ends.n - 1));
	}
}

/* What is lost is missed: the others wait, and it is known how many. */
Test(messages, an_allreduce_that_lost_a_message_is_not_done)
{
	OWN(setup) s;

	begin(&s, twelve);
	make(&s, "allreduce:ring");
	for (uint32_t e = 0; e < HOSTS; e++) {
		expect_target(&s, e, 0, (e + 1) % HOSTS);
		cr_assert_not(pull(&s, e, 0));
	}
	cr_assert_eq(fab_traffic_unfinished(&s.t), HOSTS);
}

/* Long messages in parts, those without a byte as one; by source in order. */
Test(messages, traces_are_replayed)
{
	FAB_AUTO(folder_fini) struct folder folder;
	OWN(setup) s;

	folder_init(&folder);
	put("t", "0 h2 h0 0\n1ns h1 h0 5\n2ns h2 h1 3000000000\n9ns h2 h3 1\n");
	begin(&s, twelve);
	make(&s, "trace:t");
	cr_assert(s.t.n_senders == 2 && !pull(&s, 0, 0));
	cr_assert(pull(&s, 2, 0) && s.m.time == 0 && s.m.bytes == 1 && s.m.target == 0);
	for (unsigned k = 0; k < 2; k++)
		cr_assert(pull(&s, 2, 0) && s.m.time == 2000 &&
			  s.m.bytes == FAB_MESSAGE_BYTES_MAX && s.m.target == 1);
	cr_assert(pull(&s, 2, 0) && s.m.bytes == 3000000000 - (2u << 30));
	cr_assert(pull(&s, 2, 0) && s.m.time == 9000 && s.m.target == 3);
	cr_assert(!pull(&s, 2, 0) && fab_traffic_unfinished(&s.t) == 1);
	cr_assert(pull(&s, 1, 0) && s.m.bytes == 5 && fab_traffic_unfinished(&s.t) == 0);
}
