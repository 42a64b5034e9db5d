/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces of requests: reading, writing, making them from patterns. */
#include "mcast/events.h"
#include "export/tables.h"
#include "support/test.h"

OWN_POINTER(fab_events)

static int read_text(const struct fab_fabric *f, const char *text,
		     struct fab_events **out, struct fab_err *err)
{
	return fab_events_read(f, NULL, "trace", text, strlen(text), out, err);
}

static struct fab_events *generate(const struct fab_fabric *f, const char *spec)
{
	struct fab_events *e;

	MUST(fab_events_generate(f, spec, 1, &e, ERR));
	return e;
}

Test(events, a_trace)
{
	OWN(fab_fabric) *f = test_ring(6);
	OWN(fab_events) *e = NULL;
	const char *text =
		"\xef\xbb\xbf# six hosts\r\n\n0s join a h0 2\n"
		"0.000000001s\tjoin \"two words\" \"h3\" 0x10 lost # why\n"
		"1ms join a 0x30001 2\r\n1.5s leave a h0 lost\n1.5s leave a h0\n"
		"4000000000s join \"two words\" lid:4 3";

	MUST(read_text(f, text, &e, ERR));
	cr_assert(e->n == 6 && e->groups->n == 2);
	cr_assert_str_eq(fab_group_name(e->groups, 1), "two words");
	cr_assert(fab_group_size(e->groups, 0) == 2 && fab_group_size(e->groups, 1) == 1);
	cr_assert(e->v[1].time_ns == 1 && e->v[1].count == 16);
	cr_assert(e->v[1].is_lost && !e->v[1].is_leave && e->v[1].group == 1);
	cr_assert(e->v[2].time_ns == 1000000 && e->v[2].seat == 1);
	cr_assert(e->v[3].is_lost && e->v[3].is_leave && !e->v[4].is_lost);
	cr_assert(e->v[4].seat == e->v[0].seat && e->v[5].seat == e->v[1].seat);
	cr_assert_eq(e->v[5].time_ns, 4000000000000000000);
}

Test(events, what_is_no_trace)
{
	static const char time[] = "trace:1: expected a time";
	static const char count[] = "trace:1: expected the number of members";
	static const char name[] = "trace:1: expected the name of a group";
	static const char end[] = "trace:1: expected lost or the end of the line";
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "trace: no request, expected lines"},
		{"# nothing\n\n", "trace: no request, expected lines"},
		{"x join a h0 2\n",
		 "1: expected a time with its unit, such as 1.5ms, found \"x\""},
		{"1. join a h0 2\n", time},
		{"0.0000000001s join a h0 2\n", time},
		{"4000000001s join a h0 2\n", time},
		{"99999999999999999999s join a h0 2\n", time},
		{"\"1\" join a h0 2\n", time},
		{"1s\n", "trace:1: expected join or leave, found the end of the line"},
		{"\n1s enter a h0\n", "trace:2: expected join or leave, found \"enter\""},
		{"1s join\n", name},
		{"1s join \"\" h0 2\n", name},
		{"1s join a\n", "trace:1: expected a member, found the end"},
		{"1s join a h9 2\n",
		 "member: no switch, host or adapter is called 'h9'; did you mean 'h0'?"},
		{"1s join a \"\" 2\n", "trace:1: member: expected a name"},
		{"1s join a h0\n", count},
		{"1s join a h0 0\n", count},
		{"1s join a h0 4294967296\n", count},
		{"1s join a h0 2 gone\n", end},
		{"1s join a h0 2 lost 3\n", "trace:1: expected the end of the line"},
		{"1s leave a h0 2\n", end},
		{"1s join \"a h0 2\n", "trace:1: a name begins with a quote"},
		{"2s join a h0 2\n1.9s join a h1 2\n",
		 "trace:2: time 1.9s is before that of line 1, expected ascending"},
	};
	OWN(fab_fabric) *f = test_ring(6);

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		struct fab_events *e = NULL;

		FAILS(read_text(f, cases[i].text, &e, ERR), -EINVAL, cases[i].says);
		cr_assert_null(e);
	}
	cr_assert_eq(fab_events_read(f, NULL, "trace", "1s join\0", 8, NULL, NULL),
		     -EINVAL);
}

/* What is written is what is read again. */
static void round_trip(const struct fab_fabric *f, const struct fab_events *e)
{
	OWN_HEAP char *text = TEXT_BY(out, MUST(fab_export_events(out, f, e, ERR)));
	OWN(fab_events) *again = NULL;

	MUST(read_text(f, text, &again, ERR));
	cr_assert_eq(again->n, e->n);
	for (size_t i = 0; i < e->n; i++) {
		const struct fab_event *a = &e->v[i], *b = &again->v[i];

		cr_assert(a->time_ns == b->time_ns && a->count == b->count);
		cr_assert(a->is_leave == b->is_leave && a->is_lost == b->is_lost);
		cr_assert_eq(e->groups->member[a->seat], again->groups->member[b->seat]);
		cr_assert_str_eq(fab_group_name(e->groups, a->group),
				 fab_group_name(again->groups, b->group));
	}
}

Test(events, are_written_as_they_are_read)
{
	OWN(fab_fabric) *f = test_random_fabric(20, 30, 3, 1);
	OWN(fab_events) *a = generate(f, "grid:4x15,hold=3ms,gap=1ms,loss=0.2,retry=7us");
	OWN(fab_events) *b = NULL;

	round_trip(f, a);
	MUST(read_text(f,
		       "0s join \"two words\" h1 2\n1s join \"\"quote\" h1 2\n"
		       "2s join \"#x\" h2 2\n3s join a: 0x10000 1\n",
		       &b, ERR));
	round_trip(f, b);
}

Test(events, of_a_pattern)
{
	OWN(fab_fabric) *f = test_random_fabric(20, 30, 3, 1);
	OWN(fab_events) *e = generate(f, "grid:6x10,gap=10ms,skew=3ms,hold=1s");
	OWN(fab_events) *at_once = generate(f, "grid:6x10,gap=10ms,skew=0,hold=0");
	OWN(fab_events) *same = NULL;

	MUST(fab_events_generate(f, "grid:6x10,gap=10ms,skew=3ms,hold=1s,seed=1", 9,
				 &same, ERR));
	cr_assert(e->groups->n == 16 && e->n == 2 * 120 && same->n == e->n);
	cr_assert_eq(at_once->n, e->n);
	for (size_t i = 0; i < e->n; i++) {
		const struct fab_event *v = &e->v[i];
		uint64_t from = v->group * 10000000ull;

		from += v->is_leave ? 1003000000 : 0;
		cr_assert(v->time_ns >= from && v->time_ns <= from + 3000000);
		cr_assert(!i || v->time_ns >= v[-1].time_ns);
		cr_assert_eq(v->count,
			     v->is_leave ? 0 : fab_group_size(e->groups, v->group));
		cr_assert(v->time_ns == same->v[i].time_ns && !v->is_lost);
	}
	/* without skew and hold a member joins and leaves at one time: first it joins */
	for (size_t i = 0; i < at_once->n; i += 2) {
		const struct fab_event *v = &at_once->v[i];

		cr_expect(!v[0].is_leave && v[1].is_leave && v[0].seat == v[1].seat);
		cr_expect_eq(v[0].time_ns, v[1].time_ns);
	}
}

/* A lost request is repeated until it is not, eight times in all. */
Test(events, that_are_lost)
{
	static const struct {
		const char *spec;
		size_t n, n_lost_min, n_lost_max;
	} cases[] = {
		{"grid:6x10,loss=1", 120, 120, 120},
		{"grid:6x10,loss=1,retry=1ms", 960, 960, 960},
		{"grid:6x10,loss=0.5", 120, 30, 90},
		{"grid:6x10,loss=0,retry=1s", 120, 0, 0},
		{"grid:6x10,loss=0.3,retry=0", 0, 20, 90}, /* all but 120 are lost */
	};
	OWN(fab_fabric) *f = test_random_fabric(20, 30, 3, 1);

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_events) *e = generate(f, cases[i].spec);
		size_t n_lost = 0;

		for (size_t k = 0; k < e->n; k++)
			n_lost += e->v[k].is_lost;
		cr_assert_eq(e->n, cases[i].n ? cases[i].n : 120 + n_lost, "%s",
			     cases[i].spec);
		cr_assert(n_lost >= cases[i].n_lost_min && n_lost <= cases[i].n_lost_max);
	}
}

Test(events, patterns_that_are_none)
{
	static const struct {
		const char *spec, *says;
	} cases[] = {
		{"", "--events-pattern: --pattern '' is unknown"},
		{"grid:6x10,gap=", "--events-pattern: grid:6x10,gap=: '' is no time"},
		{"grid:6x10,gap=1m", "'1m' is no time"},
		{"grid:6x10,hold=-1s", "'-1s' is no time"},
		{"grid:6x10,hold=1000001s", "time '1000001s' is longer than 1000000s"},
		{"grid:6x10,loss=1.1", "'loss=1.1' is no probability"},
		{"grid:6x10,loss=", "'loss=' is no probability"},
		{"grid:6x10,lose=1", "'lose' is unknown"},
		{"grid:6x10,seed=x", "'seed=x' is not a number"},
		{"ring:4,gap=1s", "--pattern 'ring:4' is unknown"},
	};
	OWN(fab_fabric) *f = test_random_fabric(20, 30, 3, 1);
	OWN(fab_events) *longest = NULL;
	struct fab_events *e;

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		FAILS(fab_events_check_pattern(cases[i].spec, ERR), -EINVAL,
		      cases[i].says);
		cr_assert_eq(fab_events_generate(f, cases[i].spec, 1, &e, ERR), -EINVAL);
	}
	MUST(fab_events_check_pattern("grid:6x10,gap=1s", ERR));
	FAILS(fab_events_generate(f, "grid:7x10", 1, &e, ERR), -EINVAL,
	      "needs 70 processes");
	FAILS(fab_events_generate(f, "random:groups=5000,size=2,gap=1000000s", 1, &e,
				  ERR),
	      -EINVAL, "last longer than 4000000000 s");
	FAILS(fab_events_generate(f, "random:groups=4000,size=2,gap=1000000s,skew=1ns", 1,
				  &e, ERR),
	      -EINVAL, "last longer than");
	longest = generate(f, "random:groups=4000,size=2,gap=1000000s,skew=0");
	cr_expect_eq(longest->v[longest->n - 1].time_ns, 3999ull * 1000000 * 1000000000);
}
