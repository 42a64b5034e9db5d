/* SPDX-License-Identifier: BSD-2-Clause */
/* When trees are balanced again: each reason, the interval, and the budgets of ports. */
#include "opensm/pace.h"
#include "support/test.h"

OWN_POINTER(fab_pace)

static uint64_t change(struct fab_pace *p, const struct fab_pace_limits *l, uint64_t guid,
		       double now)
{
	const uint64_t twice[] = {guid, guid}; /* the second one is not looked at */

	return fab_pace_change(p, l, twice, 1, now);
}

/* What happens at a time, and the seconds until work is due after it. */
Test(pace, each_reason)
{
	enum { NEVER = -1 };
	static const struct fab_pace_limits limits[] = {
		{3, 60, 60, 100},
		{0},
		{.changes = 3, .seconds = 60},	      /* after the first change */
		{.changes = 1, .min_interval_s = 60}, /* the first time at once */
		{.seconds = 1, .port_changes = 2},    /* the last change counts, too */
	};
	static const struct {
		uint32_t by;
		enum { NOTHING, CHANGE, ASK, BEGIN } what;
		uint64_t guid;
		double now, due_s;
	} steps[] = {{0, NOTHING, 0, 5, NEVER},	   {1, CHANGE, 1, 5, NEVER},
		     {1, NOTHING, 0, 1e9, NEVER},  {2, CHANGE, 1, 100, 60},
		     {2, CHANGE, 2, 130, 30},	   {2, NOTHING, 0, 160, 0},
		     {2, NOTHING, 0, 170, 0},	   {2, CHANGE, 3, 131, 0},
		     {2, BEGIN, 0, 131, NEVER},	   {2, CHANGE, 1, 140, 60},
		     {3, ASK, 0, 1000, 0},	   {3, BEGIN, 0, 1000, NEVER},
		     {3, ASK, 0, 1000, 60},	   {3, CHANGE, 1, 1010, 50},
		     {3, NOTHING, 0, 1060, 0},	   {3, BEGIN, 0, 1060, NEVER},
		     {3, NOTHING, 0, 1200, NEVER}, {4, CHANGE, 7, 10, 1},
		     {4, BEGIN, 0, 10, NEVER},	   {4, CHANGE, 7, 11, 1},
		     {4, BEGIN, 0, 12, NEVER},	   {4, CHANGE, 7, 12, NEVER}};
	OWN(fab_pace) *p = fab_pace_new();

	for (size_t i = 0; i < FAB_COUNT(steps); i++) {
		const struct fab_pace_limits *l = &limits[steps[i].by];
		double due_s;

		if (i && steps[i].by != steps[i - 1].by) {
			fab_pace_free(p);
			p = fab_pace_new();
		}
		if (steps[i].what == CHANGE)
			change(p, l, steps[i].guid, steps[i].now);
		if (steps[i].what == ASK)
			fab_pace_ask(p);
		if (steps[i].what == BEGIN)
			fab_pace_begin(p, steps[i].now);
		due_s = fab_pace_due(p, l, steps[i].now);
		cr_expect_float_eq(isinf(due_s) ? NEVER : due_s, steps[i].due_s, 1e-9,
				   "%zu", i);
	}
}

/* A port that joins and leaves all the time counts up to its budget, and again in the
 * next minute; others count meanwhile. */
Test(pace, budgets)
{
	const struct fab_pace_limits l = {
		.changes = 1000, .seconds = 1, .port_changes = 5};
	OWN(fab_pace) *p = fab_pace_new();
	uint32_t n_told = 0;
	uint64_t both[] = {7, 8};

	for (int i = 0; i < 50; i++) {
		uint64_t spent = change(p, &l, 7, 10);

		cr_expect(spent == 0 || spent == 7);
		n_told += spent == 7;
		if (i == 4)
			fab_pace_begin(p, 10);
	}
	cr_expect_eq(n_told, 1, "%u", n_told);
	for (int i = 0; i < 50; i++)
		cr_expect_eq(change(p, &l, 9, 11), 0, "one port is told of");
	fab_pace_begin(p, 11);
	cr_expect(isinf(fab_pace_due(p, &l, 20)), "no change counts beyond the budget");
	cr_expect_eq(fab_pace_change(p, &l, both, 2, 20), 0);
	cr_expect_eq(fab_pace_due(p, &l, 21), 0, "another port counts");
	fab_pace_begin(p, 21);
	change(p, &l, 7, 69);
	cr_expect(isinf(fab_pace_due(p, &l, 69)));
	change(p, &l, 7, 70);
	cr_expect_float_eq(fab_pace_due(p, &l, 70), 1, 1e-9, "a new minute");
}

/* A target that takes several steps is gone after while it comes nearer. */
Test(pace, steps_follow_each_other)
{
	const struct fab_pace_limits l = {.min_interval_s = 10};
	static const struct {
		uint32_t max, moved, needed;
		bool goes_on;
	} steps[] = {{14, 5, 12, true}, {14, 5, 7, true},  {14, 5, 7, false},
		     {13, 5, 9, true},	{13, 3, 3, false}, {13, 0, 8, false}};
	OWN(fab_pace) *p = fab_pace_new();

	for (size_t i = 0; i < FAB_COUNT(steps); i++) {
		fab_pace_begin(p, 100);
		fab_pace_end(p, steps[i].max, steps[i].moved, steps[i].needed);
		cr_expect_eq(!isinf(fab_pace_due(p, &l, 100)), steps[i].goes_on, "%zu",
			     i);
	}
}
