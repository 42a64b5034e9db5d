/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/arena.h"
#include "base/map.h"
#include "base/num.h"
#include "base/order.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/units.h"
#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

Test(base, fail_keeps_one_line)
{
	struct fab_err err;

	cr_assert_eq(fab_fail(&err, 22, "x\n%s", "a\tb\x1b"), -22);
	cr_assert_str_eq(err.text, "x a b ");
	cr_assert_eq(fab_fail(NULL, 5, "x"), -5);
	fab_err_prefix(&err, "f:3");
	cr_assert_str_eq(err.text, "f:3: x a b ");
}

static int released[3], n_released;

static void note_release(void *object)
{
	released[n_released++] = *(int *)object;
}

Test(base, arena_keeps_all_blocks_until_it_is_freed)
{
	struct fab_arena a = FAB_ARENA_INIT;
	static const size_t sizes[] = {1, 16, 17, 300, 20000, 100000, 1, 0, 65536};
	unsigned char *blocks[200];
	int values[] = {7, 8, 9};

	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < FAB_COUNT(blocks); i++) {
			size_t size = sizes[i % FAB_COUNT(sizes)];

			blocks[i] = i % 2 ? FAB_ARENA_NEW0(&a, size, unsigned char)
					  : FAB_ARENA_NEW(&a, size, unsigned char);
			cr_assert_eq((uintptr_t)blocks[i] % 16, 0);
			for (size_t k = 0; i % 2 && k < size; k++)
				cr_assert_eq(blocks[i][k], 0);
			memset(blocks[i], (int)i, size);
		}
		for (size_t i = 0; i < FAB_COUNT(blocks); i++)
			for (size_t k = 0; k < sizes[i % FAB_COUNT(sizes)]; k++)
				cr_assert_eq(blocks[i][k], (unsigned char)i);
		cr_assert_str_eq(fab_arena_strdup(&a, "abc"), "abc");
		cr_assert_str_eq(fab_arena_format(&a, "%d %s", 5, "x"), "5 x");
		n_released = 0;
		for (int i = 0; i < 3; i++)
			fab_arena_own(&a, note_release, &values[i]);
		fab_arena_free(&a);
		cr_assert(n_released == 3 && released[0] == 9 && released[2] == 7);
	}
}

Test(base, map64_agrees_with_an_array)
{
	enum { KEYS = 5000 };
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *map = fab_map64_new(0);
	OWN_HEAP uint32_t *truth = FAB_NEW(KEYS, uint32_t);
	struct fab_rng rng = test_rng(1);

	memset(truth, 0xff, KEYS * sizeof(*truth));
	for (uint32_t i = 0; i < 4 * KEYS; i++) {
		uint64_t key = fab_rng_below(&rng, KEYS);

		if (i % 3) {
			if (truth[key] == FAB_NONE)
				truth[key] = i;
			cr_assert_eq(fab_map64_put(map, key << 40, i), truth[key]);
		} else {
			truth[key] = i;
			fab_map64_set(map, key << 40, i);
		}
	}
	for (uint64_t key = 0; key < KEYS; key++)
		cr_assert_eq(fab_map64_get(map, key << 40), truth[key]);
}

Test(base, strmap_tells_prefixes_and_nul_bytes_apart)
{
	FAB_AUTO(fab_strmap_free_at) struct fab_strmap *map = fab_strmap_new(0);
	char key[16];

	for (uint32_t i = 0; i < 3000; i++) {
		int n = snprintf(key, sizeof(key), "k%u", i);

		cr_assert_eq(fab_strmap_put(map, key, (size_t)n, i), i);
		cr_assert_eq(fab_strmap_put(map, key, (size_t)n, 7), i);
	}
	fab_strmap_set(map, "a\0b", 3, 70);
	fab_strmap_set(map, "", 0, 71);
	cr_assert_eq(fab_strmap_get(map, "a", 1), FAB_NONE);
	cr_assert_eq(fab_strmap_get(map, "a\0b", 3), 70);
	cr_assert_eq(fab_strmap_get(map, "", 0), 71);
	cr_assert_eq(fab_strmap_get(map, "k2999", 5), 2999);
	cr_assert_eq(fab_strmap_get(map, "k299", 4), 299);
}

Test(base, numbers)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t value;
	} cases[] = {
		{"0", true, 0},
		{"18446744073709551615", true, UINT64_MAX},
		{"18446744073709551616", false, 0},
		{"0x1f", true, 31},
		{"0x", false, 0},
		{"", false, 0},
		{"-1", false, 0},
		{"1 ", false, 0},
		{"1e3", false, 0},
	};
	uint64_t value;

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		bool ok = fab_parse_u64(cases[i].text, strlen(cases[i].text), 0,
					UINT64_MAX, &value);

		cr_assert_eq(ok, cases[i].ok, "'%s'", cases[i].text);
		if (ok)
			cr_assert_eq(value, cases[i].value, "'%s'", cases[i].text);
	}
	cr_assert_not(fab_parse_u64("5", 1, 6, 9, &value));
	cr_assert_not(fab_parse_u64("10", 2, 6, 9, &value));
}

Test(base, times_and_probabilities)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t ns;
	} times[] = {
		{"0", true, 0},
		{"1", false, 0},
		{"1.5ms", true, 1500000},
		{"0.000000001s", true, 1},
		{"0.0000000010s", true, 1},
		{"0.0000000011s", false, 0},
		{"2us", true, 2000},
		{"7ns", true, 7},
		{"7.0ns", true, 7},
		{"7.1ns", false, 0},
		{"9s", true, 9000000000},
		{"10s", true, 10000000000},
		{"10.000000001s", false, 0},
		{"18446744073709551616ns", false, 0},
		{"18446744074s", false, 0},
		{"", false, 0},
		{"s", false, 0},
		{".5", false, 0},
		{"5.", false, 0},
		{"1.5.2", false, 0},
		{"-1", false, 0},
		{"+1", false, 0},
		{" 1", false, 0},
		{"1 s", true, 1000000000},
		{"1  s", false, 0},
		{"20000", false, 0},
		{"0.0", false, 0},
		{"0.1min", true, 6000000000},
		{"0.001h", true, 3600000000},
		{"1d", false, 0},
		{"0x10", false, 0},
		{"1e3", false, 0},
		{"1m", false, 0},
	};
	double p;

	for (size_t i = 0; i < FAB_COUNT(times); i++) {
		uint64_t ns = 0;
		bool ok = !fab_parse_time_ns(times[i].text, strlen(times[i].text),
					     10000000000, &ns, NULL);

		cr_assert_eq(ok, times[i].ok, "'%s'", times[i].text);
		cr_assert_eq(ns, times[i].ns, "'%s'", times[i].text);
	}
	cr_assert(fab_parse_real("0.25", 4, 0, 1, &p) && p == 0.25);
	cr_assert(fab_parse_real("1", 1, 0, 1, &p) && p == 1);
	cr_assert_not(fab_parse_real("1.01", 4, 0, 1, &p));
	cr_assert_not(fab_parse_real("-0", 2, 0, 1, &p));
	cr_assert_not(fab_parse_real("", 0, 0, 1, &p));
}

Test(base, numbers_without_a_unit_are_refused_by_name)
{
	uint64_t n = 7;
	double mbps = 7;

	FAILS_AS(fab_parse_time_ns("20000", 5, UINT64_MAX, &n, ERR), -EINVAL,
		 "'20000' has no unit: expected a time such as 20000us");
	FAILS_AS(fab_parse_time_ps("1.5", 3, UINT64_MAX, &n, ERR), -EINVAL,
		 "'1.5' has no unit: expected a time such as 1.5us");
	FAILS_AS(fab_parse_size_bytes("2", 1, &n, ERR), -EINVAL,
		 "'2' has no unit: expected a size such as 2B");
	FAILS_AS(fab_parse_rate_mbps("1000", 4, &mbps, ERR), -EINVAL,
		 "'1000' has no unit: expected a rate such as 1000Mb/s");
	cr_assert_eq(n, 7);
	cr_assert_eq(mbps, 7);
}

Test(base, other_units_of_time)
{
	uint64_t ns, ps;

	cr_assert(!fab_parse_time_ns("2w", 2, UINT64_MAX, &ns, NULL) &&
		  ns == UINT64_C(14) * 86400 * 1000000000);
	cr_assert(!fab_parse_time_ns("0.5y", 4, UINT64_MAX, &ns, NULL) &&
		  ns == UINT64_C(15778800) * 1000000000);
	cr_assert(fab_parse_time_ns("600y", 4, UINT64_MAX, &ns, NULL));
	cr_assert(!fab_parse_time_ps("1.5ns", 5, 1500, &ps, NULL) && ps == 1500);
	cr_assert(!fab_parse_time_ps("7ps", 3, 1500, &ps, NULL) && ps == 7);
	cr_assert(!fab_parse_time_ps("0.25us", 6, 1u << 30, &ps, NULL) && ps == 250000);
	cr_assert(fab_parse_time_ps("1.5ns", 5, 1499, &ps, NULL));
	cr_assert(fab_parse_time_ps("0.0001ns", 8, 1500, &ps, NULL));
	cr_assert(fab_parse_time_ps("1h", 2, UINT64_MAX, &ps, NULL));
	cr_assert(fab_parse_time_ns("7ps", 3, 1500, &ps, NULL));
}

Test(base, guids)
{
	static const struct {
		const char *text;
		bool ok;
	} cases[] = {
		{"0x2c903000a1b2c3", true},
		{"0002c903000a1b2c3", false},
		{"0002c903000A1B2C", true},
		{"2c903", false},
		{"0002:c903:00ab:cdef", true},
		{"0002:c903:00ab", false},
		{"2:c903:ab:cdef", true},
		{"0002:c903:00ab:cdef:1", false},
		{"0xg", false},
	};
	uint64_t guid;

	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		cr_assert_eq(fab_parse_guid(cases[i].text, strlen(cases[i].text), &guid),
			     cases[i].ok, "'%s'", cases[i].text);
	cr_assert(fab_parse_guid("0002:c903:00ab:cdef", 19, &guid));
	cr_assert_eq(guid, 0x0002c90300abcdefu);
}

Test(base, rng_is_fixed_and_unbiased)
{
	struct fab_rng rng = test_rng(42);
	unsigned seen[7] = {0};

	for (int i = 0; i < 70000; i++)
		seen[fab_rng_below(&rng, 7)]++;
	for (int i = 0; i < 7; i++)
		cr_assert(seen[i] > 9500 && seen[i] < 10500, "%d: %u", i, seen[i]);
	cr_assert_neq(fab_mix64(0), fab_mix64(1));
	cr_assert_neq(fab_hash_bytes("a", 1, 0), fab_hash_bytes("a\0", 2, 0));
}

/* Every bit of every word counts, and so do their number, their order and the seed. */
Test(base, hash_of_words_tells_them_apart)
{
	static const uint64_t two[] = {1, 2, 1};
	uint64_t words[9] = {0}, known[9 * 64 + 13];
	size_t n = 0;

	for (size_t i = 0; i < 9 * 64; i++) {
		words[i / 64] ^= (uint64_t)1 << (i % 64);
		known[n++] = fab_hash_words(words, 9, 0);
		words[i / 64] ^= (uint64_t)1 << (i % 64);
	}
	for (size_t i = 0; i <= 9; i++)
		known[n++] = fab_hash_words(words, i, 0);
	known[n++] = fab_hash_words(two, 2, 0);
	known[n++] = fab_hash_words(two, 2, 1);
	known[n++] = fab_hash_words(two + 1, 2, 0);
	cr_assert_eq(n, FAB_COUNT(known));
	qsort(known, n, sizeof(*known), fab_cmp_u64);
	for (size_t i = 1; i < n; i++)
		cr_expect_neq(known[i], known[i - 1]);
}

Test(base, safe_text)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"plain \"x\"", "plain \"x\""},
		{"\x1b[31m", "\\x1b[31m"},
		{"\xc3\xa4", "\xc3\xa4"},
		{"\xc0\xaf", "\\xc0\\xaf"},
		{"\xc2\x9b", "\\xc2\\x9b"},
		{"\xe2\x80\xae", "\\xe2\\x80\\xae"},
		{"a\nb", "a\\x0ab"},
		{"\xff", "\\xff"},
	};
	char out[64];

	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		cr_assert_str_eq(fab_text_safe(cases[i].in, out, sizeof(out)),
				 cases[i].out);
	for (size_t size = 1; size < 8; size++) {
		char small[8];

		memset(small, 'z', sizeof(small));
		fab_text_safe("\x1b\x1b\xc3\xa4", small, size);
		cr_assert_lt(strlen(small), size);
	}
}

/* Tables of other programs have blanks for what a terminal would obey, byte by byte. */
Test(base, blanked_text)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"plain", "plain"},	 {"a\tb\x7f", "a b "},
		{"\xc2\x9bx", "  x"},	 {"\x9b[2J", " [2J"},
		{"\xe2\x80\xae", "   "}, {"\xc3\xa4\xe9", "\xc3\xa4\xe9"},
		{"\xe2\x80", "\xe2 "},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN_HEAP char *text = fab_strdup(cases[i].in);

		fab_text_blank(text);
		cr_expect_str_eq(text, cases[i].out, "%zu", i);
	}
}

Test(base, natural_order_is_total)
{
	static const char *const sorted[] = {"",    "a",    "a01", "a1",   "a2",
					     "a10", "a10b", "b",   "b1c2", "b1c10"};

	for (size_t i = 0; i < FAB_COUNT(sorted); i++)
		for (size_t j = 0; j < FAB_COUNT(sorted); j++) {
			int order = fab_text_natural_cmp(sorted[i], sorted[j]);

			cr_assert_eq((order > 0) - (order < 0), (i > j) - (i < j),
				     "%s %s", sorted[i], sorted[j]);
		}
}

Test(base, glob)
{
	static const struct {
		const char *pattern, *text;
		bool ok;
	} cases[] = {
		{"mlx5_[0-3]", "mlx5_2", true},
		{"mlx5_[0-3]", "mlx5_4", false},
		{"*HCA-?", "n1 hca-2", true},
		{"*", "", true},
		{"", "", true},
		{"", "a", false},
		{"a*b*c", "aXbYbZc", true},
		{"a*b*c", "aXbYbZ", false},
		{"[!a]b", "cb", true},
		{"[!a]b", "ab", false},
		{"[]]", "]", true},
		{"[a", "a", true},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		cr_assert_eq(fab_text_glob(cases[i].pattern, cases[i].text), cases[i].ok,
			     "%s %s", cases[i].pattern, cases[i].text);
}

static void note_phase(void *context, const char *phase, const char *unit, uint64_t done,
		       uint64_t total)
{
	char *text = context;

	sprintf(text + strlen(text), "%s %u/%u %s;", phase, (unsigned)done,
		(unsigned)total, unit);
}

Test(base, progress_is_heard_by_who_listens)
{
	char text[128] = "";

	fab_progress_report("before", "x", 1, 2);
	fab_progress_listen(note_phase, text);
	fab_progress_report("distances", "switches", 3, 4);
	fab_progress_listen(NULL, NULL);
	fab_progress_report("after", "x", 1, 2);
	cr_assert_str_eq(text, "distances 3/4 switches;");
}

/* ---- progress, by a clock that the test turns ---- */

static struct fab_progress_line progress_line;
static char progress_text[FAB_PROGRESS_BYTES];

static const char *line_at(double now, uint64_t done, uint64_t total)
{
	*progress_text = '\0';
	return fab_progress_line_text(&progress_line, now, done, total, progress_text)
		       ? progress_text
		       : "";
}

Test(base, progress_line)
{
	fab_progress_line_begin(&progress_line, "routing", "switches", 0, 100);
	/* nothing in the first second, then ten a second at most */
	cr_assert_str_empty(line_at(100, 1, 600));
	cr_assert_str_empty(line_at(100.99, 100, 600));
	cr_assert_str_eq(line_at(101, 150, 600),
			 "routing  25% (150/600 switches)  1 s, ~3 s left");
	cr_assert_str_empty(line_at(101.05, 151, 600));
	cr_assert_str_eq(line_at(102.5, 600, 600),
			 "routing 100% (600/600 switches)  2.5 s, ~0 s left");
	/* nothing was done yet, or more than there is: no time left is invented */
	cr_assert_str_eq(line_at(110, 0, 600), "routing   0% (0/600 switches)  10 s");
	cr_assert_str_eq(line_at(111, 700, 600), "routing 117% (700/600 switches)  11 s");
	/* hours */
	cr_assert_str_eq(line_at(160, 1, 600),
			 "routing   0% (1/600 switches)  1 min, ~9 h 59 min left");
}

Test(base, progress_line_that_begins_late)
{
	/* what was done before took no time that is known */
	fab_progress_line_begin(&progress_line, "trees", "groups", 500, 10);
	cr_assert_str_eq(line_at(12, 500, 1000), "trees  50% (500/1000 groups)  2 s");
	cr_assert_str_eq(line_at(14, 750, 1000),
			 "trees  75% (750/1000 groups)  4 s, ~4 s left");
}

Test(base, progress_line_of_bytes)
{
	fab_progress_line_begin(&progress_line, "reading", "bytes", 0, 0);
	cr_assert_str_eq(line_at(2, 30000000, 120000000),
			 "reading  25% (30 MB/120 MB)  2 s, ~6 s left");
	/* a pipe does not tell how much there is */
	cr_assert_str_eq(line_at(4, 1250000, 0), "reading 1.25 MB  4 s");
}

Test(base, append_puts_a_separator_between_texts)
{
	OWN_HEAP char *text = NULL;

	fab_append(&text, ", ", "%s", "");
	cr_assert_str_eq(text, "");
	fab_append(&text, ", ", "%d", 1);
	fab_append(&text, ", ", "%s", "two");
	fab_append(&text, " ", "and %zu more", (size_t)3);
	cr_assert_str_eq(text, "1, two and 3 more");
}

enum { TURNS = 3000, MEET = 3 };

struct meeting {
	struct fab_barrier barrier;
	_Atomic uint32_t next;
	_Atomic uint32_t done[MEET], early;
};

/* Each may be one turn ahead of the others at most, whoever sleeps. */
static void *meet(void *context)
{
	struct meeting *m = context;
	uint32_t me = m->next++;

	for (uint32_t turn = 1; turn <= TURNS; turn++) {
		if (turn % 500 == 0 && me == turn / 500 % MEET)
			usleep(2000);
		m->done[me] = turn;
		fab_barrier_wait(&m->barrier);
		for (uint32_t i = 0; i < MEET; i++)
			m->early += m->done[i] < turn;
		fab_barrier_wait(&m->barrier);
	}
	return NULL;
}

Test(base, barrier_holds_until_all_have_come)
{
	struct meeting m = {.barrier = {.n = MEET}};
	pthread_t threads[MEET];

	for (size_t i = 0; i < MEET; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, meet, &m), 0);
	for (size_t i = 0; i < MEET; i++)
		pthread_join(threads[i], NULL);
	cr_expect_eq(m.early, 0);
	cr_expect_eq(m.barrier.turn, 2 * TURNS);
	cr_expect_eq(m.barrier.asleep, 0);
}

/* The content of a block stays when it grows, in the heap and beyond. */
Test(base, big_blocks_keep_what_they_hold)
{
	struct {
		uint64_t *v;
		size_t n, cap;
	} list = {0};

	for (uint64_t i = 0; i < 1000000; i++) {
		FAB_RESERVE_BIG(&list, 1);
		list.v[list.n++] = i * i;
	}
	for (uint64_t i = 0; i < list.n; i++)
		cr_assert_eq(list.v[i], i * i);
	fab_free_big(list.v, list.cap, sizeof(*list.v));
	fab_free_big(NULL, 0, sizeof(*list.v));
}
