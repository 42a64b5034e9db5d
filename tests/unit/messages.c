/* SPDX-License-Identifier: BSD-2-Clause */
/* Sources of messages: who sends what, how often, and when finite ones are over. */
#include "event/schedule.h"
#include "event/stream.h"
#include "support/process.h"
#include "support/test.h"
#include "traffic/traffic.h"

enum { WIRE = 100, HOSTS = 12 };

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
	(void)context;
	(void)end;
	(void)to_group;
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
	cr_assert(pull(s, e, now));
	cr_assert_eq(s->m.target, target);
}

Test(messages, specs_are_told_by_name_and_argument)
{
	static const struct {
		const char *spec;
		bool ok;
	} cases[] = {
		{"uniform", true},
		{"uniform:1", false},
		{"permutation:shift:8", true},
		{"permutation", false},
		{"permutation:", false},
		{"permutation:shift", false},
		{"hotspot:4:0.2", true},
		{"hotspot:4", false},
		{"hotspot:0:0.2", false},
		{"hotspot:4:1.5", false},
		{"hotspot", false},
		{"incast:3", true},
		{"incast:0", false},
		{"incast", false},
		{"groups", true},
		{"groups:all", true},
		{"groups:some", false},
		{"alltoall", true},
		{"alltoall:random", true},
		{"alltoall:", false},
		{"allreduce:ring", true},
		{"allreduce:recdbl", true},
		{"allreduce:tree", true},
		{"allreduce", false},
		{"allreduce:star", false},
		{"trace:x", true},
		{"trace:", false},
		{"trace", false},
		{"", false},
		{"unifrom", false},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		const struct fab_traffic_kind *kind = NULL;
		const char *argument = NULL;
		int rc = fab_traffic_check(cases[i].spec, &kind, &argument, ERR);

		cr_assert_eq(rc, cases[i].ok ? 0 : -EINVAL, "'%s'", cases[i].spec);
		cr_assert_eq(*test_err.text == '\0', cases[i].ok);
	}
}

/* Open loops: births in order, as many as the rate says, never to itself. */
Test(messages, open_loops_keep_their_rate)
{
	static const enum fab_arrivals arrivals[] = {FAB_ARRIVALS_POISSON,
						     FAB_ARRIVALS_BERNOULLI};
	static const uint64_t slots[] = {0, 1};
	enum { N = 20000 };

	for (size_t i = 0; i < 2 * FAB_COUNT(arrivals); i++) {
		uint64_t before = 0, bytes = 0;
		unsigned to[HOSTS] = {0};
		FAB_AUTO(end) struct setup s;

		begin(&s, "torus:dims=6,hosts=2");
		s.p.how.arrivals = arrivals[i / 2];
		s.p.how.slot = slots[i % 2];
		s.p.how.n_sizes = 2;
		make(&s, "uniform");
		cr_assert_eq(s.t.n_senders, HOSTS);
		for (unsigned k = 0; k < N; k++) {
			cr_assert(pull(&s, 5, 0));
			cr_assert_geq(s.m.time, before);
			cr_assert_neq(s.m.target, 5);
			cr_assert_lt(s.m.target, HOSTS);
			cr_assert(s.m.bytes == s.size[0] || s.m.bytes == s.size[1]);
			if (arrivals[i / 2] == FAB_ARRIVALS_BERNOULLI)
				cr_assert_eq(s.m.time % (slots[i % 2] ? 1 : WIRE), 0);
			to[s.m.target]++;
			bytes += s.m.bytes;
			before = s.m.time;
		}
		/* 4 standard deviations and more */
		cr_assert_float_eq((double)bytes / (double)before, 0.5, 0.02);
		for (unsigned e = 0; e < HOSTS; e++)
			cr_assert_float_eq(to[e], e == 5 ? 0 : N / 11.0, 170);
	}
}

/* Whole rate by Bernoulli: a message in every slot. */
Test(messages, all_of_a_cable)
{
	FAB_AUTO(end) struct setup s;

	begin(&s, "torus:dims=6,hosts=2");
	s.p.how.arrivals = FAB_ARRIVALS_BERNOULLI;
	s.p.how.rate = 1;
	make(&s, "uniform");
	for (uint64_t k = 0; k < 100; k++) {
		cr_assert(pull(&s, 0, 0));
		cr_assert_eq(s.m.time, k * WIRE);
	}
}

/* A window of two: two at once, then one for each that has arrived, after a think time.
 */
Test(messages, closed_loops_wait)
{
	struct fab_delivery d = {.time = 500};
	FAB_AUTO(end) struct setup s;

	begin(&s, "torus:dims=6,hosts=2");
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
	cr_assert(pull(&s, 3, 500));
	cr_assert_eq(s.m.time, 530);
	cr_assert(pull(&s, 3, 500));
	cr_assert_eq(s.m.time, 531);
	cr_assert_not(pull(&s, 3, 600));
	cr_assert(pull(&s, 2, 600));
}

Test(messages, few_targets)
{
	unsigned hot = 0, sends = 0;
	FAB_AUTO(folder_fini) struct folder folder;
	FAB_AUTO(end) struct setup s;

	folder_init(&folder);
	put("twice", "h1 h2\nh1 h3\n");
	begin(&s, "torus:dims=6,hosts=2");
	make(&s, "hotspot:2:0.25");
	for (unsigned k = 0; k < 20000; k++) {
		cr_assert(pull(&s, 1, 0));
		cr_assert_neq(s.m.target, 1);
		hot += s.m.target == 0 || s.m.target == 6;
	}
	/* the share, and of the rest two of eleven */
	cr_assert_float_eq(hot / 20000.0, 0.25 + 0.75 * 2 / 11, 0.015);
	for (unsigned k = 0; k < 1000; k++) { /* nor does a hot one send to itself */
		cr_assert(pull(&s, 6, 0));
		cr_assert_neq(s.m.target, 6);
	}
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
	cr_assert_eq(fab_traffic_make("incast:12", &s.p, &s.t, ERR), -EINVAL);
	cr_assert_eq(fab_traffic_make("hotspot:13:0.5", &s.p, &s.t, ERR), -EINVAL);
	FAILS_AS(fab_traffic_make("permutation:file:twice", &s.p, &s.t, ERR), -EINVAL,
		 "twice:2: 'h1' sends twice");
	FAILS(fab_traffic_make("permutation:shift:12", &s.p, &s.t, ERR), -EINVAL,
	      "no host sends anything");
	cr_assert_eq(fab_traffic_make("groups", &s.p, &s.t, ERR), -EINVAL);
}

/* Group 0: 3 5 7; group 1: dead, 5, 9; group 2: one live member; group 3: 5, 3. */
Test(messages, groups_are_sent_to_by_their_first)
{
	static const uint64_t first[] = {0, 3, 6, 8, 10};
	static const uint32_t member[] = {3, 5, 7, FAB_NONE, 5, 9, 8, FAB_NONE, 5, 3};
	static const uint32_t turns[] = {1, 3, 1, 3}, all[] = {0, 1, 3, 0};
	FAB_AUTO(end) struct setup s;

	begin(&s, "torus:dims=6,hosts=2");
	s.p.n_groups = 4;
	s.p.group_first = first;
	s.p.group_end = member;
	make(&s, "groups");
	cr_assert_eq(s.t.n_senders, 2);
	cr_assert_eq(s.t.n_left_out, 1);
	expect_target(&s, 3, 0, 0);
	cr_assert(s.m.to_group);
	for (unsigned k = 0; k < FAB_COUNT(turns); k++)
		expect_target(&s, 5, 0, turns[k]);
	cr_assert_not(pull(&s, 8, 0));
	make(&s, "groups:all");
	cr_assert_eq(s.t.n_senders, 4);
	for (unsigned k = 0; k < FAB_COUNT(all); k++)
		expect_target(&s, 5, 0, all[k]);
}

/* Each pair once, in an order of its own or by shifts. */
Test(messages, each_to_each_once)
{
	static const char *const specs[] = {"alltoall", "alltoall:random"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		unsigned in_shifts = 0;
		FAB_AUTO(end) struct setup s;

		begin(&s, "torus:dims=7,hosts=3");
		make(&s, specs[i]);
		cr_assert(s.t.kind->is_finite);
		cr_assert_eq(fab_traffic_unfinished(&s.t), s.ends.n);
		for (uint32_t e = 0; e < s.ends.n; e++) {
			bool seen[32] = {false};

			for (uint32_t k = 1; k < s.ends.n; k++) {
				cr_assert(pull(&s, e, 0));
				cr_assert_neq(s.m.target, e);
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

/* Messages that take a time by chance, so that they come out of order: all is done in
 * the end, and no rank sends before what it waits for is there. */
static void run_allreduce(const char *spec, uint32_t n, unsigned seed)
{
	FAB_AUTO(fab_schedule_fini) struct fab_schedule queue = {0};
	struct fab_stream chance = fab_stream_of(seed, 0);
	uint64_t sent = 0;
	FAB_AUTOFREE uint64_t *last = FAB_NEW0(n * (size_t)n, uint64_t);
	struct fab_due due;
	char fabric[64];
	FAB_AUTO(end) struct setup s;

	snprintf(fabric, sizeof(fabric), "torus:dims=%u,hosts=1", n);
	begin(&s, fabric);
	make(&s, spec);
	for (uint32_t e = 0; e < n; e++)
		while (pull(&s, e, 0)) {
			cr_assert_eq(s.m.time, 0);
			fab_schedule_add(&queue, 1 + s.m.tag, 0,
					 (uint64_t)s.m.target << 32 | s.m.tag);
			sent++;
		}
	while (fab_schedule_take(&queue, &due)) {
		uint32_t e = (uint32_t)(due.item >> 32);
		struct fab_delivery d = {.time = due.time, .tag = (uint16_t)due.item};

		s.t.messages.received(s.t.messages.context, e, &d);
		while (pull(&s, e, due.time)) {
			/* of one pair they come in order */
			uint64_t *pair = &last[(size_t)e * n + s.m.target];
			uint64_t at = due.time + 1 + fab_stream_below(&chance, 50);

			cr_assert_eq(s.m.time, due.time);
			*pair = at > *pair ? at : *pair + 1;
			fab_schedule_add(&queue, *pair, 0,
					 (uint64_t)s.m.target << 32 | s.m.tag);
			sent++;
		}
	}
	cr_assert_eq(fab_traffic_unfinished(&s.t), 0, "%s of %u", spec, n);
	if (!strcmp(spec, "allreduce:ring"))
		cr_assert_eq(sent, 2 * (n - 1) * (uint64_t)n);
	if (!strcmp(spec, "allreduce:tree"))
		cr_assert_eq(sent, 2 * (n - 1));
}

Test(messages, allreduces_come_to_their_end)
{
	static const char *const specs[] = {"allreduce:ring", "allreduce:recdbl",
					    "allreduce:tree"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		for (uint32_t n = 3; n < 21; n++)
			run_allreduce(specs[i], n, n);
}

/* What is lost is missed: the others wait, and it is known how many. */
Test(messages, an_allreduce_that_lost_a_message_is_not_done)
{
	FAB_AUTO(end) struct setup s;

	begin(&s, "torus:dims=6,hosts=2");
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
	FAB_AUTO(end) struct setup s;

	folder_init(&folder);
	put("t", "0 h2 h0 0\n1ns h1 h0 5\n2ns h2 h1 3000000000\n9ns h2 h3 1\n");
	begin(&s, "torus:dims=6,hosts=2");
	make(&s, "trace:t");
	cr_assert_eq(s.t.n_senders, 2);
	cr_assert_not(pull(&s, 0, 0));
	cr_assert(pull(&s, 2, 0) && s.m.time == 0 && s.m.bytes == 1 && s.m.target == 0);
	for (unsigned k = 0; k < 2; k++)
		cr_assert(pull(&s, 2, 0) && s.m.time == 2000 &&
			  s.m.bytes == FAB_MESSAGE_BYTES_MAX && s.m.target == 1);
	cr_assert(pull(&s, 2, 0) && s.m.bytes == 3000000000 - (2u << 30));
	cr_assert(pull(&s, 2, 0) && s.m.time == 9000 && s.m.target == 3);
	cr_assert_not(pull(&s, 2, 0));
	cr_assert_eq(fab_traffic_unfinished(&s.t), 1);
	cr_assert(pull(&s, 1, 0) && s.m.bytes == 5);
	cr_assert_eq(fab_traffic_unfinished(&s.t), 0);
}
