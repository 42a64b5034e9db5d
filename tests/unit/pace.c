/* SPDX-License-Identifier: BSD-2-Clause */
/* When trees are balanced again: each reason, the interval, and the budgets of ports. */
#include "opensm/pace.h"

#include "support/test.h"

OWN_POINTER(fab_pace)

static const struct fab_pace_limits none = {0};

static uint64_t change(struct fab_pace *p, const struct fab_pace_limits *l, uint64_t guid,
		       double now)
{
	return fab_pace_change(p, l, &guid, 1, now);
}

Test(pace, nothing_is_due_without_a_reason)
{
	OWN(fab_pace) *p = fab_pace_new();
	const struct fab_pace_limits all = {3, 60, 60, 100};

	cr_expect(isinf(fab_pace_due(p, &all, 5)));
	change(p, &none, 1, 5);
	cr_expect(isinf(fab_pace_due(p, &none, 1e9)));
}

Test(pace, changes_and_seconds)
{
	const struct fab_pace_limits l = {.changes = 3, .seconds = 60};
	OWN(fab_pace) *p = fab_pace_new();

	change(p, &l, 1, 100);
	cr_expect_float_eq(fab_pace_due(p, &l, 100), 60, 1e-9);
	change(p, &l, 2, 130);
	cr_expect_float_eq(fab_pace_due(p, &l, 130), 30, 1e-9, "after the first one");
	cr_expect_eq(fab_pace_due(p, &l, 160), 0);
	cr_expect_eq(fab_pace_due(p, &l, 170), 0);
	change(p, &l, 3, 131);
	cr_expect_eq(fab_pace_due(p, &l, 131), 0, "three changes");
	fab_pace_begin(p, 131);
	cr_expect(isinf(fab_pace_due(p, &l, 131)), "they are done with");
	change(p, &l, 1, 140);
	cr_expect_float_eq(fab_pace_due(p, &l, 140), 60, 1e-9);
}

/* However often it is asked, and whatever changes. */
Test(pace, the_interval_holds)
{
	const struct fab_pace_limits l = {.changes = 1, .min_interval_s = 60};
	OWN(fab_pace) *p = fab_pace_new();

	fab_pace_ask(p);
	cr_expect_eq(fab_pace_due(p, &l, 1000), 0, "the first time at once");
	fab_pace_begin(p, 1000);
	cr_expect(isinf(fab_pace_due(p, &l, 1000)));
	fab_pace_ask(p);
	change(p, &l, 1, 1010);
	cr_expect_float_eq(fab_pace_due(p, &l, 1010), 50, 1e-9);
	cr_expect_eq(fab_pace_due(p, &l, 1060), 0);
	fab_pace_begin(p, 1060);
	cr_expect(isinf(fab_pace_due(p, &l, 1200)));
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

/* The last change within a budget counts, too. */
Test(pace, the_whole_budget)
{
	const struct fab_pace_limits l = {.seconds = 1, .port_changes = 2};
	OWN(fab_pace) *p = fab_pace_new();

	change(p, &l, 7, 10);
	fab_pace_begin(p, 10);
	change(p, &l, 7, 11);
	cr_expect_float_eq(fab_pace_due(p, &l, 11), 1, 1e-9);
	fab_pace_begin(p, 12);
	change(p, &l, 7, 12);
	cr_expect(isinf(fab_pace_due(p, &l, 12)));
}

Test(pace, no_budget_is_no_limit)
{
	const struct fab_pace_limits l = {.changes = 1000};
	OWN(fab_pace) *p = fab_pace_new();

	for (int i = 0; i < 1000; i++)
		cr_expect_eq(change(p, &l, 7, 10), 0);
	cr_expect_eq(fab_pace_due(p, &l, 10), 0);
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
