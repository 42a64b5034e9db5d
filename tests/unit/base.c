/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/arena.h"
#include "base/map.h"
#include "base/num.h"
#include "base/order.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/units.h"
#include "support/test.h"

static void note_release(void *text)
{
	strcat(test_err.text, text);
}

/* Blocks are aligned, zeroed where asked, and apart; the last that is owned goes first.
 */
Test(base, arena_keeps_all_blocks_until_it_is_freed)
{
	static const size_t sizes[] = {1, 16, 17, 300, 20000, 100000, 1, 0, 65536};
	enum { N = 20 * FAB_COUNT(sizes) };
	struct fab_arena a = FAB_ARENA_INIT;
	unsigned char *blocks[N];

	for (size_t i = 0; i < N; i++) {
		size_t size = sizes[i % FAB_COUNT(sizes)];

		blocks[i] = i % 2 ? FAB_ARENA_NEW0(&a, size, unsigned char)
				  : FAB_ARENA_NEW(&a, size, unsigned char);
		cr_assert_eq((uintptr_t)blocks[i] % 16, 0);
		for (size_t k = 0; i % 2 && k < size; k++)
			cr_assert_eq(blocks[i][k], 0);
		memset(blocks[i], (int)i, size);
	}
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < sizes[i % FAB_COUNT(sizes)]; k++)
			cr_assert_eq(blocks[i][k], (unsigned char)i);
	test_err_empty();
	fab_arena_own(&a, note_release, fab_arena_strdup(&a, "abc"));
	fab_arena_own(&a, note_release, fab_arena_format(&a, "%d %s, ", 5, "x"));
	fab_arena_free(&a);
	cr_assert_str_eq(test_err.text, "5 x, abc");
}

/* The content of a block stays when it grows, in the heap and beyond. */
Test(base, big_blocks_keep_what_they_hold)
{
	FAB_VEC(uint64_t) list = {0};

	for (uint64_t i = 0; i < 1000000; i++) {
		FAB_RESERVE_BIG(&list, 1);
		list.v[list.n++] = i * i;
	}
	for (uint64_t i = 0; i < list.n; i++)
		cr_assert_eq(list.v[i], i * i);
	fab_free_big(list.v, list.cap, sizeof(*list.v));
	fab_free_big(NULL, 0, sizeof(*list.v));
}

Test(base, maps_agree_with_an_array)
{
	enum { KEYS = 5000 };
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *map = fab_map64_new(0);
	FAB_AUTO(fab_strmap_free_at) struct fab_strmap *texts = fab_strmap_new(0);
	OWN_HEAP uint32_t *truth = FAB_NEW(KEYS, uint32_t);
	struct fab_rng rng = test_rng(1);
	char text[16];

	memset(truth, 0xff, KEYS * sizeof(*truth));
	for (uint32_t i = 0; i < 4 * KEYS; i++) {
		uint64_t key = fab_rng_below(&rng, KEYS);
		size_t n = (size_t)sprintf(text, "k%lu", key);

		if (i % 3) {
			if (truth[key] == FAB_NONE)
				truth[key] = i;
			cr_assert_eq(fab_map64_put(map, key << 40, i), truth[key]);
			cr_assert_eq(fab_strmap_put(texts, text, n, i), truth[key]);
		} else {
			truth[key] = i;
			fab_map64_set(map, key << 40, i);
			fab_strmap_set(texts, text, n, i);
		}
	}
	/* NUL bytes and nothing are keys */
	fab_strmap_set(texts, "a\0b", 3, 70);
	fab_strmap_set(texts, "", 0, 71);
	cr_assert_eq(fab_strmap_get(texts, "a", 1), FAB_NONE);
	cr_assert_eq(fab_strmap_get(texts, "a\0b", 3), 70);
	cr_assert_eq(fab_strmap_get(texts, "", 0), 71);
	for (uint64_t key = 0; key < KEYS; key++) {
		size_t n = (size_t)sprintf(text, "k%lu", key);

		cr_assert_eq(fab_map64_get(map, key << 40), truth[key]);
		cr_assert_eq(fab_strmap_get(texts, text, n), truth[key]);
	}
}

enum kind { WHOLE, REAL, NS, PS, BYTES, MBPS };

/* Reals up to 1 and rates in thousandths. */
static int parse(enum kind kind, const char *text, uint64_t max, uint64_t *value)
{
	size_t n = strlen(text);
	double x = 0;
	int rc = 0;

	switch (kind) {
	case WHOLE:
		return fab_parse_u64(text, n, 6, max, value) ? 0 : -EINVAL;
	case NS:
		return fab_parse_time_ns(text, n, max, value, ERR);
	case PS:
		return fab_parse_time_ps(text, n, max, value, ERR);
	case BYTES:
		return fab_parse_size_bytes(text, n, value, ERR);
	case REAL:
		rc = fab_parse_real(text, n, 0, (double)max, &x) ? 0 : -EINVAL;
		break;
	case MBPS:
		rc = fab_parse_rate_mbps(text, n, &x, ERR);
		break;
	}
	*value = rc ? *value : (uint64_t)lround(1000 * x);
	return rc;
}

/* Texts with | between them: what each is worth, and what is refused. */
Test(base, numbers)
{
	static const struct {
		enum kind kind;
		uint64_t max;
		const char *good, *bad;
	} rows[] = {
		{WHOLE, UINT64_MAX,
		 "6=6|18446744073709551615=18446744073709551615|0x1f=31",
		 "18446744073709551616|0x||-1|7 |7e3|5"},
		{WHOLE, 9, "9=9", "10"},
		{REAL, 1, "0.25=250|1=1000", "1.01|-0||+1|nan|0x1|1e|1 "},
		{NS, 10000000000,
		 "0=0|1.5ms=1500000|0.000000001s=1|0.0000000010s=1|2us=2000|7ns=7|7.0ns=7|"
		 "9s=9000000000|10s=10000000000|1 s=1000000000|0.1min=6000000000|"
		 "0.001h=3600000000",
		 "1|0.0000000011s|7.1ns|10.000000001s|18446744073709551616ns|18446744074s||s|"
		 ".5|5.|1.5.2|-1|+1| 1|1  s|20000|0.0|1d|0x10|1e3|1m|7ps"},
		{NS, UINT64_MAX, "2w=1209600000000000|0.5y=15778800000000000", "600y"},
		{PS, 1500, "1.5ns=1500|7ps=7", "1.501ns|0.0001ns"},
		{PS, UINT64_MAX, "0.25us=250000", "1h"},
		{BYTES, 0,
		 "50 MB=50000000|50MiB=52428800|1e3B=1000|1.5KiB=1536|7B=7|2 GB=2000000000",
		 "|0B|-1B|7|1e3|64m|50Mb|50mb|x|1.5B|1e99B|0x10B|50 |nan|MB"},
		{MBPS, 0, "20Gbps=20000000|125MB/s=1000000", "0Gbps"},
	};
	static const struct {
		enum kind kind;
		const char *text, *said;
	} bare[] = {
		{NS, "20000", "'20000' has no unit: expected a time such as 20000us"},
		{PS, "1.5", "'1.5' has no unit: expected a time such as 1.5us"},
		{BYTES, "2", "'2' has no unit: expected a size such as 2B"},
		{MBPS, "1000", "'1000' has no unit: expected a rate such as 1000Mb/s"},
	};
	uint64_t value;

	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		OWN_HEAP char *good = fab_strdup(rows[i].good);
		OWN_HEAP char *bad = fab_strdup(rows[i].bad);

		for (char *text, *rest = good; (text = strsep(&rest, "|"));) {
			char *worth = strchr(text, '=');

			*worth = '\0';
			cr_expect_eq(parse(rows[i].kind, text, rows[i].max, &value), 0,
				     "'%s'", text);
			cr_expect_eq(value, strtoull(worth + 1, NULL, 10), "'%s': %lu",
				     text, value);
		}
		for (char *text, *rest = bad; (text = strsep(&rest, "|"));)
			cr_expect_neq(parse(rows[i].kind, text, rows[i].max, &value), 0,
				      "'%s'", text);
	}
	value = 5;
	for (size_t i = 0; i < FAB_COUNT(bare); i++)
		FAILS_AS(parse(bare[i].kind, bare[i].text, UINT64_MAX, &value), -EINVAL,
			 bare[i].said);
	cr_expect_eq(value, 5);
}

Test(base, guids)
{
	static const char *const good[] = {"0x2c903000a1b2c3", "0002c903000A1B2C",
					   "2:c903:ab:cdef", "0002:c903:00ab:cdef"};
	static const char *const bad[] = {"0002c903000a1b2c3", "2c903", "0002:c903:00ab",
					  "0002:c903:00ab:cdef:1", "0xg"};
	uint64_t guid;

	for (size_t i = 0; i < FAB_COUNT(bad); i++)
		cr_expect_not(fab_parse_guid(bad[i], strlen(bad[i]), &guid), "%s",
			      bad[i]);
	for (size_t i = 0; i < FAB_COUNT(good); i++)
		cr_expect(fab_parse_guid(good[i], strlen(good[i]), &guid), "%s", good[i]);
	cr_assert_eq(guid, 0x0002c90300abcdefu);
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
	for (size_t i = 0; i < 3; i++)
		known[n++] = fab_hash_words(two + i / 2, 2, i % 2);
	qsort(known, n, sizeof(*known), fab_cmp_u64);
	for (size_t i = 1; i < n; i++)
		cr_expect_neq(known[i], known[i - 1]);
}

/* A terminal is told the bytes that it would obey. Tables of other programs have blanks
 * for these, byte by byte. */
Test(base, hostile_text)
{
	static const struct {
		const char *in, *safe, *blanked;
	} cases[] = {
		{"plain \"x\"", "plain \"x\"", "plain \"x\""},
		{"\x1b[31m", "\\x1b[31m", " [31m"},
		{"\xc3\xa4", "\xc3\xa4", "\xc3\xa4"},
		{"\xc3\xa4\xe9", "\xc3\xa4\\xe9", "\xc3\xa4\xe9"},
		{"\xc0\xaf", "\\xc0\\xaf", "\xc0\xaf"},
		{"\xc2\x9bx", "\\xc2\\x9bx", "  x"},
		{"\x9b[2J", "\\x9b[2J", " [2J"},
		{"\xe2\x80\xae", "\\xe2\\x80\\xae", "   "},
		{"\xe2\x80", "\\xe2\\x80", "\xe2 "},
		{"a\nb", "a\\x0ab", "a b"},
		{"a\tb\x7f", "a\\x09b\\x7f", "a b "},
		{"\xff", "\\xff", "\xff"},
	};
	char out[64];

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN_HEAP char *text = fab_strdup(cases[i].in);

		fab_text_blank(text);
		cr_expect_str_eq(text, cases[i].blanked, "%zu", i);
		fab_text_safe(cases[i].in, out, sizeof(out));
		cr_expect_str_eq(out, cases[i].safe, "%zu", i);
	}
	for (size_t size = 1; size < 8; size++) {
		memset(out, 'z', sizeof(out));
		fab_text_safe("\x1b\x1b\xc3\xa4", out, size);
		cr_assert_lt(strlen(out), size);
	}
}

Test(base, glob)
{
	static const struct {
		const char *pattern, *text;
		bool ok;
	} cases[] = {{"mlx5_[0-3]", "mlx5_2", true},
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
		     {"[a", "a", true}};

	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		cr_expect_eq(fab_text_glob(cases[i].pattern, cases[i].text), cases[i].ok,
			     "%s %s", cases[i].pattern, cases[i].text);
}

/* By a clock that the test turns: nothing in the first second, then ten a second at most.
 * No time left is invented where nothing was done yet, or more than there is; what was
 * done before took no time that is known; a pipe does not tell how much there is. */
Test(base, progress_lines)
{
	static const struct {
		double now;
		uint64_t done, total;
		const char *text, *unit; /* unit: of a line that begins */
	} rows[] = {
		{100, 0, 0, NULL, "switches"},
		{100, 1, 600, "", NULL},
		{100.99, 100, 600, "", NULL},
		{101, 150, 600, "x  25% (150/600 switches)  1 s, ~3 s left", NULL},
		{101.05, 151, 600, "", NULL},
		{102.5, 600, 600, "x 100% (600/600 switches)  2.5 s, ~0 s left", NULL},
		{110, 0, 600, "x   0% (0/600 switches)  10 s", NULL},
		{111, 700, 600, "x 117% (700/600 switches)  11 s", NULL},
		{160, 1, 600, "x   0% (1/600 switches)  1 min, ~9 h 59 min left", NULL},
		{10, 500, 0, NULL, "groups"},
		{12, 500, 1000, "x  50% (500/1000 groups)  2 s", NULL},
		{14, 750, 1000, "x  75% (750/1000 groups)  4 s, ~4 s left", NULL},
		{0, 0, 0, NULL, "bytes"},
		{2, 30000000, 120000000, "x  25% (30 MB/120 MB)  2 s, ~6 s left", NULL},
		{4, 1250000, 0, "x 1.25 MB  4 s", NULL},
	};
	struct fab_progress_line line;

	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		char text[FAB_PROGRESS_BYTES] = "";

		if (rows[i].unit) {
			fab_progress_line_begin(&line, "x", rows[i].unit, rows[i].done,
						rows[i].now);
			continue;
		}
		cr_expect_eq(fab_progress_line_text(&line, rows[i].now, rows[i].done,
						    rows[i].total, text),
			     *rows[i].text != '\0');
		cr_expect_str_eq(text, rows[i].text);
	}
}
