/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups that a launcher announces: their file, and what becomes of them. */
#include "opensm/announced.h"
#include "support/test.h"

#include <arpa/inet.h>

OWN_POINTER(fab_announced)

enum { N_GROUPS = 8 };

static void take(struct fab_announced *a, const char *text)
{
	struct fab_announcements *list;

	MUST(fab_announcements_parse("f", text, &list, ERR));
	fab_announced_take(a, list);
	fab_announcements_free(list);
}

static struct fab_announced *announced(const char *text)
{
	struct fab_announced *a = fab_announced_new(N_GROUPS);

	take(a, text);
	return a;
}

/* The group has these members, NULL: none, under a number. */
static struct fab_announced_order decide_of(struct fab_announced *a, const char *mgid,
					    uint32_t number, const uint64_t *guid,
					    uint32_t n, double now)
{
	struct fab_mgid raw;

	cr_assert_eq(inet_pton(AF_INET6, mgid, raw.raw), 1);
	return fab_announced_decide(a,
				    &(struct fab_announced_group){.number = number,
								  .mgid = n ? &raw : NULL,
								  .guid = guid,
								  .n = n,
								  .pass = 1},
				    now);
}

/* Members 1 .. n of ff12::1 under number 5. */
static struct fab_announced_order decide(struct fab_announced *a, uint32_t n, double now)
{
	static const uint64_t guid[] = {1, 2, 3, 4, 5, 6};

	return decide_of(a, "ff12::1", 5, guid, n, now);
}

/* What is printed, without times. */
static void need_states(struct fab_announced *a, const char *want)
{
	size_t at = 0;
	OWN_HEAP char *text =
		TEXT_BY(out, do at = fab_announced_print(a, at, 1, 0, out); while (at));
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '=')
			from += strcspn(from, " \n");
		*to++ = *from;
	}
	*to = '\0';
	cr_assert_str_eq(text, want);
}

Test(announced, files_that_are_wrong)
{
	static const char number[] =
		"expected the number of members after the MGID, 1 to 65535";
	static const char mgid[] =
		"expected the MGID of a group, an IPv6 address from ff00:: on";
	static const char seconds[] =
		"expected a time-out in seconds after the number of members, 0 for none";
	const struct {
		const char *text, *line, *says;
	} cases[] = {
		{"ff12::1", ":1", number},
		{"# x\nff12::1 0", ":2", number},
		{"ff12::1 65536", ":1", number},
		{"ff12::1 2 x", ":1", seconds},
		{"ff12::1 2 3 4", ":1", "expected MGID MEMBERS [SECONDS]"},
		{"fe80::1 2", ":1", mgid},
		{"ff12:zz::1 2", ":1", mgid},
		{"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff 2", ":1",
		 mgid},
		{"ff12::1 2\nff12:0::1 3", "", "group ff12::1 is announced twice"},
	};
	struct fab_announcements *list;
	OWN_HEAP char *most =
		TEXT_BY(out, for (int i = 0; i < FAB_ANNOUNCED_MAX; i++)
				     fprintf(out, "ff12::%x:%x 2\n", i / 9999, i % 9999));
	OWN_HEAP char *more = fab_format("%sff12::9:9:9 2", most);

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN_HEAP char *want = fab_format("f%s: %s", cases[i].line, cases[i].says);

		FAILS_AS(fab_announcements_parse("f", cases[i].text, &list, ERR), -EINVAL,
			 want);
	}
	MUST(fab_announcements_parse("f", most, &list, ERR));
	fab_announcements_free(list);
	FAILS_AS(fab_announcements_parse("f", more, &list, ERR), -EINVAL,
		 "f:16385: expected at most 16384 groups");
}

/* Figure 4 of the paper, from the first join to the last leave, twice. */
Test(announced, a_life)
{
	OWN(fab_announced) *a = announced("ff12::1 3  # a comment\n\r\n");
	uint32_t number[N_GROUPS];

	cr_assert_eq(decide(a, 0, 1).tree, FAB_ANNOUNCED_ANY);
	need_states(a, "ff12::1 - 0/3 absent 0\n");
	for (int life = 1; life <= 2; life++) {
		struct fab_announced_order o;

		cr_assert_eq(decide(a, 1, 1).tree, FAB_ANNOUNCED_NONE);
		cr_assert(fab_announced_is_active(a, 5));
		cr_assert_eq(decide(a, 2, 2).tree, FAB_ANNOUNCED_NONE);
		cr_assert_not(fab_announced_is_computing(a));
		o = decide(a, 3, 3);
		cr_assert(o.tree == FAB_ANNOUNCED_HELD && o.is_first);
		cr_assert(o.n == 3 && o.guid[2] == 3 && fab_announced_is_computing(a));
		o = decide(a, 3, 4);
		cr_assert(o.tree == FAB_ANNOUNCED_HELD && !o.is_first, "computed once");
		/* ready when it is known to be held, of a pass before */
		cr_assert_eq(fab_announced_computing(a, 1, N_GROUPS, number), 0);
		cr_assert_eq(fab_announced_computing(a, 2, N_GROUPS, number), 1);
		cr_assert_eq(number[0], 5);
		fab_announced_note_held(a, 5, 1, 4);
		cr_assert(fab_announced_is_computing(a));
		fab_announced_note_held(a, 5, 2, 4);
		cr_assert_not(fab_announced_is_computing(a));
		cr_assert_eq(fab_announced_expire(a, 1e9, number), 0);
		/* the tree stays */
		o = decide(a, 1, 5);
		cr_assert(o.tree == FAB_ANNOUNCED_HELD && o.n == 3 && !o.is_first);
		decide(a, 0, 6);
		cr_assert_not(fab_announced_is_active(a, 5));
		cr_assert_eq(fab_announced_n_active(a), 0);
	}
	need_states(a, "ff12::1 - 0/3 absent 2 receiving-join computing ready "
		       "receiving-leave destroying absent\n");
}

Test(announced, a_time_out)
{
	OWN(fab_announced) *a = announced("ff12::1 3 10\nff12::2 3 20\nff12::3 3 0");
	uint32_t number[N_GROUPS];

	decide_of(a, "ff12::2", 6, (uint64_t[]){1}, 1, 100);
	decide_of(a, "ff12::3", 7, (uint64_t[]){1}, 1, 100); /* waits for ever */
	decide(a, 2, 100);
	cr_assert_float_eq(fab_announced_due(a, 104), 6, 1e-9);
	cr_assert_eq(fab_announced_expire(a, 109, number), 0);
	cr_assert(fab_announced_expire(a, 110, number) == 1 && number[0] == 5);
	/* whoever comes now comes too late */
	cr_assert_eq(decide(a, 3, 111).tree, FAB_ANNOUNCED_NONE);
	cr_assert_float_eq(fab_announced_due(a, 115), 5, 1e-9);
	cr_assert(fab_announced_expire(a, 120, number) == 1 && number[0] == 6);
	cr_assert(isinf(fab_announced_due(a, 120)));
	decide(a, 0, 122);
	need_states(a, "ff12::1 - 0/3 absent 0 receiving-join destroying absent\n"
		       "ff12::2 0xc006 1/3 destroying 0 receiving-join destroying\n"
		       "ff12::3 0xc007 1/3 receiving-join 0 receiving-join\n");
	/* while leaves are received, from the first one on */
	decide(a, 3, 200);
	fab_announced_note_held(a, 5, 2, 205);
	cr_assert_eq(fab_announced_expire(a, 1000, number), 0);
	decide(a, 2, 1000);
	decide(a, 1, 1009);
	cr_assert_eq(fab_announced_expire(a, 1009.5, number), 0);
	cr_assert_eq(fab_announced_expire(a, 1010, number), 1);
	cr_assert_eq(decide(a, 1, 1011).tree, FAB_ANNOUNCED_NONE);
}

Test(announced, members_leave_while_it_is_computed_and_come_again)
{
	OWN(fab_announced) *a = announced("ff12::1 3");

	decide(a, 3, 1);
	cr_assert_eq(decide(a, 2, 2).tree, FAB_ANNOUNCED_HELD);
	fab_announced_note_held(a, 5, 2, 3);
	cr_assert_eq(decide(a, 3, 4).tree, FAB_ANNOUNCED_HELD);
	need_states(a, "ff12::1 0xc005 3/3 ready 1 receiving-join computing ready "
		       "receiving-leave ready\n");
}

Test(announced, what_was_not_announced_is_given_up)
{
	OWN(fab_announced) *a = announced("ff12::1 3");
	const uint64_t others[] = {1, 2, 9};
	struct fab_mgid mgid = {{0xff, 0x12, [15] = 1}};
	const struct fab_announced_group g = {
		.number = 5, .mgid = &mgid, .guid = others, .n = 2, .has_tree = true};
	struct fab_announced_order o;
	uint32_t number[N_GROUPS];

	/* too many at once */
	o = decide(a, 4, 1);
	cr_assert_eq(o.tree, FAB_ANNOUNCED_ANY);
	cr_assert_str_eq(o.reason, "has more members than were announced");
	o = decide(a, 3, 2);
	cr_assert_eq(o.tree, FAB_ANNOUNCED_ANY);
	cr_assert_null(o.reason, "said once");
	need_states(a, "ff12::1 0xc005 3/3 given-up 0 receiving-join given-up\n");
	cr_assert_eq(fab_announced_expire(a, 1e9, number), 0);
	decide(a, 0, 3);
	/* another port after all have joined */
	decide(a, 3, 4);
	o = decide_of(a, "ff12::1", 5, others, 3, 5);
	cr_assert_eq(o.tree, FAB_ANNOUNCED_ANY);
	cr_assert_str_eq(o.reason, "was joined by a port after its tree was computed");
	cr_assert_not(fab_announced_is_computing(a));
	decide(a, 0, 6);
	/* a group that has a tree when it is announced; not that of another group */
	take(a, "");
	decide(a, 2, 7);
	take(a, "ff12::1 3");
	o = fab_announced_decide(a, &g, 8);
	cr_assert_eq(o.tree, FAB_ANNOUNCED_ANY);
	cr_assert_str_eq(o.reason, "had a tree when it was announced");
	decide(a, 0, 9);
	cr_assert_eq(fab_announced_decide(a, &g, 10).tree, FAB_ANNOUNCED_NONE);
}

/* Numbers that go from one group to another, groups that share one. */
Test(announced, numbers)
{
	OWN(fab_announced) *a = announced("ff12::1 2\nff12::2 2");
	const uint64_t guid[] = {7, 7, 8};
	const struct fab_announced_group several = {.number = 6, .guid = guid, .n = 3};

	decide(a, 2, 1);
	/* a port twice is one member */
	cr_assert_eq(decide_of(a, "ff12::2", 5, guid, 2, 2).tree, FAB_ANNOUNCED_NONE);
	need_states(a, "ff12::1 - 0/2 absent 1 receiving-join computing destroying "
		       "absent\nff12::2 0xc005 1/2 receiving-join 0 receiving-join\n");
	cr_assert_eq(decide_of(a, "ff12::2", 5, guid, 3, 3).tree, FAB_ANNOUNCED_HELD);
	/* the same group under another number is another life */
	cr_assert(decide_of(a, "ff12::2", 6, guid, 3, 4).is_first);
	cr_assert_not(fab_announced_is_active(a, 5));
	/* several groups under a number */
	cr_assert_eq(fab_announced_decide(a, &several, 5).tree, FAB_ANNOUNCED_ANY);
	cr_assert_eq(fab_announced_n_active(a), 0);
}

/* So many at once, all in turn. */
Test(announced, computing_in_turn)
{
	OWN(fab_announced) *a =
		announced("ff12::1 1\nff12::2 1\nff12::3 1\nff12::4 9\nff12::5 1");
	uint32_t number[2], n_seen[N_GROUPS] = {0};

	for (uint32_t g = 1; g <= 5; g++) {
		OWN_HEAP char *mgid = fab_format("ff12::%u", g);

		decide_of(a, mgid, g, (uint64_t[]){1}, 1, 1);
	}
	for (int i = 0; i < 4; i++) {
		cr_assert_eq(fab_announced_computing(a, 2, 2, number), 2);
		n_seen[number[0]]++;
		n_seen[number[1]]++;
	}
	for (uint32_t g = 1; g <= 5; g++)
		cr_expect_eq(n_seen[g], g == 4 ? 0 : 2);
}

/* Another file: what has members goes on as it was announced. */
Test(announced, another_file)
{
	OWN(fab_announced) *a = announced("ff12::1 3\nff12::3 1");

	decide(a, 2, 1);
	take(a, "ff12::0 2\n");
	need_states(a, "ff12:: - 0/2 absent 0\n"
		       "ff12::1 0xc005 2/3 receiving-join 0 receiving-join\n");
	cr_assert_eq(decide(a, 3, 2).tree, FAB_ANNOUNCED_HELD);
	take(a, "ff12::0 2\nff12::1 2");
	cr_assert_eq(decide(a, 3, 3).tree, FAB_ANNOUNCED_HELD);
	decide(a, 0, 4);
	cr_assert_eq(decide(a, 2, 5).tree, FAB_ANNOUNCED_HELD, "the new number");
	take(a, "");
	decide(a, 0, 6);
	cr_assert_eq(decide(a, 2, 7).tree, FAB_ANNOUNCED_ANY);
}

/* Whatever members come and go: a tree only of a group that was complete, computed once
 * in a life. */
Test(announced, random_members)
{
	struct fab_rng rng = test_rng(1);

	for (int round = 0; round < 300; round++) {
		OWN(fab_announced) *a = announced("ff12::1 4 20");
		bool was_complete = false, is_given_up = false;
		uint32_t number[N_GROUPS], n_first = 0;

		for (double now = 0; now < 60; now++) {
			uint32_t n = test_below(&rng, round % 2 ? 6 : 5);
			struct fab_announced_order o = decide(a, n, now);

			if (!n)
				was_complete = is_given_up = false;
			was_complete |= n == 4;
			is_given_up |= o.reason != NULL;
			n_first += o.is_first;
			cr_assert(!o.reason || n > 4);
			if (n)
				cr_assert_eq(o.tree == FAB_ANNOUNCED_ANY, is_given_up);
			cr_assert(o.tree != FAB_ANNOUNCED_HELD ||
				  (was_complete && o.n == 4));
			if (fab_rng_below(&rng, 2))
				fab_announced_note_held(a, 5, 2, now);
			fab_announced_expire(a, now, number);
		}
		cr_assert_leq(n_first, 60);
		decide(a, 0, 60);
		cr_assert_eq(fab_announced_n_active(a), 0);
		cr_assert_not(fab_announced_is_computing(a));
	}
}
