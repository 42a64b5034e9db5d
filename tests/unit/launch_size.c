/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/size.h"
#include "support/test.h"

static const struct fab_size_layout library = {.opts = FAB_SIZE_LIBRARY};

/* Sizes that libpmix 4.2.2 gave to a server of ours. */
static const struct {
	uint32_t ppn, keys, chars;
	uint64_t bytes, expected;
} measured[] = {
	{4, 1, 14, 51, 264},
	{4, 2, 14, 51, 504},
	{4, 8, 14, 51, 1948},
	{4, 1, 14, 21, 144},
	{1, 1, 14, 51, 78},
	{1, 3, 14, 200, 670},
	{2, 2, 62, 127, 674},
	{2, 2, 63, 128, 686},
	{3, 1, 127, 16400, 49378},
	{8, 4, 9, 8, 500},
	{16, 1, 14, 21, 504},
	{2, 1, 2, 1, 31},
	{2, 1, 14, 1, 43},
	{2, 1, 14, 127, 298},
	{2, 1, 14, 128, 302},
	{2, 1, 14, 16383, 32815},
	{2, 1, 14, 16384, 32819},
	/* what a law without the library's choice of the table would miss */
	{2, 1, 1, 5, 34},
	{2, 1, 14, 0, 41},
	{2, 66, 5, 1, 1273},
	{2, 130, 5, 1, 2494},
	{2, 130, 2, 1, 2095},
};

static uint64_t node_bytes(const char *keys, unsigned opts, uint32_t first, uint32_t ppn)
{
	struct fab_size_layout layout = {.opts = opts, .namespace_chars = 10};
	struct fab_puts puts = {0};
	uint64_t bytes;

	cr_assert_eq(fab_puts_parse(keys, &puts, NULL), 0);
	bytes = fab_size_node(&puts, &layout, first, ppn);
	free(puts.of.v);
	return bytes;
}

Test(launch_size, as_the_library_packs_it)
{
	for (size_t i = 0; i < FAB_COUNT(measured); i++) {
		struct fab_put put = {measured[i].chars, measured[i].keys,
				      measured[i].bytes};
		struct fab_puts puts = {.of = {&put, 1, 1}};
		size_t n;
		FAB_AUTOFREE unsigned char *encoded =
			fab_size_encode(&puts, &library, 0, measured[i].ppn, &n);

		cr_expect_eq(fab_size_node(&puts, &library, 0, measured[i].ppn),
			     measured[i].expected, "case %zu", i);
		cr_expect_eq(n, measured[i].expected, "case %zu, encoded", i);
	}
	/* ranks from 126 on: the last takes two bytes */
	cr_expect_eq(node_bytes("14:5", FAB_SIZE_LIBRARY, 126, 3), 66);
}

/* What the library really sent, byte by byte. */
Test(launch_size, bytes_are_those_of_the_library)
{
	static const unsigned char real[] = {
		0x02, 0x1d, 0x02, 0x03, 0x02, 0x01, 0x02, 0x06, 'a',  'a',  0x00,
		0x02, 0x08, 0x02, 0x00, 0x02, 0x00, 0x02, 0x1b, 0x01, 0xee, 0x02,
		0x08, 0x02, 0x01, 0x02, 0x00, 0x02, 0x1b, 0x01, 0xee,
	};
	struct fab_put put = {2, 1, 1};
	struct fab_puts puts = {.of = {&put, 1, 1}};
	size_t n;
	FAB_AUTOFREE unsigned char *encoded = fab_size_encode(&puts, &library, 0, 2, &n);

	cr_assert_eq(n, sizeof(real));
	for (size_t i = 0; i < n; i++)
		cr_expect(encoded[i] == (real[i] == 'a' ? '!' : real[i]), "byte %zu", i);
}

/* Version 2.1.4, counted by hand from its source: four bytes a count, a length and a
 * rank, two a type, ten a size. */
Test(launch_size, the_old_layout)
{
	/* one process, one key of 14 characters, 51 bytes, namespace of 10 */
	uint64_t id = 4 + (4 + 11) + 4;
	uint64_t key = 4 + (4 + 15) + 2 + 10 + 51;
	uint64_t process = 4 + 10 + id + key;
	uint64_t node = 4 + 10 + 4 + 1 + process;

	cr_expect_eq(node_bytes("14:51", 0, 0, 1), node);
	cr_expect_eq(node_bytes("14:51", 0, 0, 3), node + 2 * process);
	/* each switch takes off what it says */
	cr_expect_eq(node_bytes("14:51", FAB_SIZE_ADDR, 0, 3),
		     node + 2 * process - 3 * 30);
	cr_expect_eq(node_bytes("14:51", FAB_SIZE_PROCID, 0, 3),
		     node + 2 * process - 3 * 15);
	/* N(s+4) becomes (s+4) + 4N, and counts of the library's own: the table has two
	 * and its size, an index in its place has one */
	cr_expect_eq(node_bytes("14:51", FAB_SIZE_KEYINDEX, 0, 64),
		     node + 63 * process - (64 * 19) + 19 + 64 * 8 + 12);
	cr_expect(node_bytes("14:51", FAB_SIZE_LEB128, 0, 3) < node + 2 * process);
}

Test(launch_size, count_is_what_is_encoded)
{
	struct fab_rng rng = test_rng(17);

	for (int trial = 0; trial < 3000; trial++) {
		struct fab_put put[3];
		struct fab_puts puts = {.of = {put, 1 + fab_rng_below(&rng, 3), 3}};
		struct fab_size_layout layout = {
			.opts = (unsigned)fab_rng_below(&rng, 16),
			.namespace_chars = 1 + test_below(&rng, 200)};
		uint32_t ppn = 1 + test_below(&rng, 5);
		uint32_t first = test_below(&rng, 3) * 16382;
		FAB_AUTOFREE unsigned char *encoded = NULL;
		size_t n;

		for (size_t i = 0; i < puts.of.n; i++)
			put[i] = (struct fab_put){
				.chars = 1 + test_below(&rng, 140),
				.count = 1 + test_below(&rng, 90) / 2,
				.bytes = fab_rng_below(&rng, 3) ? 51 : rng.s[0] % 300};
		encoded = fab_size_encode(&puts, &layout, first, ppn, &n);
		cr_expect_eq(fab_size_node(&puts, &layout, first, ppn), n,
			     "trial %d, switches %u", trial, layout.opts);
	}
}

Test(launch_size, a_job_is_its_nodes)
{
	struct fab_put put = {14, 2, 51};
	struct fab_puts puts = {.of = {&put, 1, 1}};
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 300; i++)
		sum += fab_size_node(&puts, &library, i * 60, 60);
	cr_expect_eq(fab_size_job(&puts, &library, 300, 60), sum);
}

Test(launch_size, names_are_distinct)
{
	struct fab_puts puts = {0};
	char a[FAB_KEY_MAX_CHARS + 1], b[FAB_KEY_MAX_CHARS + 1];

	cr_assert_eq(fab_puts_parse("2:8:100,1:3:94,2:1:100", &puts, NULL), 0);
	for (uint64_t i = 0; i < 294; i++)
		for (uint64_t k = 0; k < i; k++) {
			fab_puts_name(&puts, i, a);
			fab_puts_name(&puts, k, b);
			cr_assert(strcmp(a, b) != 0, "%d and %d", (int)i, (int)k);
		}
	free(puts.of.v);
}

Test(launch_size, lists_of_keys)
{
	struct fab_puts puts = {0};

	cr_assert_eq(fab_puts_parse("14:51,9:8:4", &puts, NULL), 0);
	cr_expect_eq(puts.of.n, 2);
	cr_expect_eq(fab_puts_keys(&puts), 5);
	cr_expect_eq(fab_puts_bytes(&puts), 83);
	free(puts.of.v);
}

/* Keys of the node, of a process and of the node level do not enter a fence. */
Test(launch_size, scopes_of_keys)
{
	struct fab_puts puts = {0}, exchanged = {0};
	struct fab_size_layout layout = {FAB_SIZE_LIBRARY, 21};

	MUST(fab_puts_parse(
		"14:51:global,9:8:4:node,9:8:process,5:3:2:remote,6:1:node-level", &puts,
		ERR));
	cr_expect_eq(fab_puts_keys(&puts), 9);
	fab_puts_exchanged(&puts, &exchanged);
	cr_expect_eq(exchanged.of.n, 2);
	cr_expect_eq(fab_puts_bytes(&exchanged), 51 + 2 * 3);
	exchanged.of.n = 0;
	for (uint32_t ppn = 1; ppn < 5; ppn++)
		cr_expect_eq(fab_size_node(&exchanged, &layout, 0, ppn), 0);
	free(puts.of.v);
	free(exchanged.of.v);
}

static const char *const bad[] = {
	"",
	"14",
	"14:",
	":51",
	"14:51:",
	"14:51,",
	"14:-5",
	"-1:5",
	"0:5",
	"512:8",
	"14:8:0",
	"14:8:1:1",
	"14:51;9",
	"1:8:95",
	"1:8:94,1:8",
	"14:2147483649",
	"14:2147483648,14:1",
	"14:1:1048576,9:1",
	"a:b",
	"14:51:99999999999999999999",
	"14 :51",
	"14:51:",
	"14:51:nod",
	"14:51:node:2",
	"14:51:2:",
	"14:51:2:node,",
};

Test(launch_size, lists_that_are_none)
{
	for (size_t i = 0; i < FAB_COUNT(bad); i++) {
		struct fab_puts puts = {0};

		cr_expect_eq(fab_puts_parse(bad[i], &puts, ERR), -EINVAL, "'%s'", bad[i]);
		cr_expect(test_err.text[0] != '\0', "'%s'", bad[i]);
		free(puts.of.v);
	}
}
