/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/size.h"
#include "support/test.h"

static const struct fab_size_layout library = {.opts = FAB_SIZE_LIBRARY};

/* What libpmix 4.2.2 gave to a server of ours; more of it is in the golden case
 * launch-size. */
Test(launch_size, as_the_library_packs_it)
{
	static const struct {
		uint32_t first, ppn, keys, chars, bytes, expected;
	} measured[] = {{0, 4, 1, 14, 51, 264},
			{0, 2, 1, 14, 0, 41},
			{0, 2, 66, 5, 1, 1273},
			{0, 2, 130, 5, 1, 2494},
			{0, 2, 130, 2, 1, 2095},
			/* ranks from 126 on: the last takes two bytes */
			{126, 3, 1, 14, 5, 66},
			{0, 2, 1, 2, 1, 31}};
	/* the last of them byte by byte */
	static const unsigned char real[] = {
		0x02, 0x1d, 0x02, 0x03, 0x02, 0x01, 0x02, 0x06, 'a',  'a',  0x00,
		0x02, 0x08, 0x02, 0x00, 0x02, 0x00, 0x02, 0x1b, 0x01, 0xee, 0x02,
		0x08, 0x02, 0x01, 0x02, 0x00, 0x02, 0x1b, 0x01, 0xee,
	};
	FAB_AUTOFREE unsigned char *encoded = NULL;
	size_t n;

	for (size_t i = 0; i < FAB_COUNT(measured); i++) {
		struct fab_put put = {measured[i].chars, measured[i].keys,
				      measured[i].bytes};
		struct fab_puts puts = {.of = {&put, 1, 1}};

		free(encoded);
		encoded = fab_size_encode(&puts, &library, measured[i].first,
					  measured[i].ppn, &n);
		cr_expect_eq(n, measured[i].expected, "case %zu, encoded", i);
	}
	for (size_t i = 0; i < sizeof(real); i++)
		cr_expect(encoded[i] == (real[i] == 'a' ? '!' : real[i]), "byte %zu", i);
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

Test(launch_size, lists_of_keys)
{
	struct fab_puts puts = {0}, exchanged = {0};
	char a[FAB_KEY_MAX_CHARS + 1], b[FAB_KEY_MAX_CHARS + 1];
	uint64_t sum = 0;

	MUST(fab_puts_parse("14:51,9:8:4", &puts, ERR));
	cr_expect(puts.of.n == 2 && fab_puts_keys(&puts) == 5);
	cr_expect_eq(fab_puts_bytes(&puts), 83);
	/* a job is its nodes */
	for (uint32_t i = 0; i < 300; i++)
		sum += fab_size_node(&puts, &library, i * 60, 60);
	cr_expect_eq(fab_size_job(&puts, &library, 300, 60), sum);
	/* names are distinct */
	puts.of.n = 0;
	MUST(fab_puts_parse("2:8:100,1:3:94,2:1:100", &puts, ERR));
	for (uint64_t i = 0; i < 294; i++)
		for (uint64_t k = 0; k < i; k++) {
			fab_puts_name(&puts, i, a);
			fab_puts_name(&puts, k, b);
			cr_assert(strcmp(a, b) != 0, "%d and %d", (int)i, (int)k);
		}
	/* keys of the node, of a process and of the node level do not enter a fence */
	puts.of.n = 0;
	MUST(fab_puts_parse(
		"14:51:global,9:8:4:node,9:8:process,5:3:2:remote,6:1:node-level", &puts,
		ERR));
	cr_expect_eq(fab_puts_keys(&puts), 9);
	fab_puts_exchanged(&puts, &exchanged);
	cr_expect(exchanged.of.n == 2 && fab_puts_bytes(&exchanged) == 51 + 2 * 3);
	exchanged.of.n = 0;
	cr_expect_eq(fab_size_node(&exchanged, &library, 0, 3), 0);
	free(puts.of.v);
	free(exchanged.of.v);
}

Test(launch_size, lists_that_are_none)
{
	char bad[] =
		"|14|14:|:51|14:51:|14:51,|14:-5|-1:5|0:5|512:8|14:8:0|14:8:1:1|14:51;9|"
		"1:8:95|1:8:94,1:8|14:2147483649|14:2147483648,14:1|14:1:1048576,9:1|a:b|"
		"14:51:99999999999999999999|14 :51|14:51:nod|14:51:node:2|14:51:2:|"
		"14:51:2:node,";

	for (char *list = bad, *text; (text = strsep(&list, "|"));) {
		struct fab_puts puts = {0};

		FAILS(fab_puts_parse(text, &puts, ERR), -EINVAL, "");
		cr_expect(test_err.text[0] != '\0', "'%s'", text);
		free(puts.of.v);
	}
}
