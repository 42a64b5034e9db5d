/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/source.h"

#include "source/unpack.h"
#include "support/test.h"

#include <zlib.h>
#include <zstd.h>

static const char dump[] =
	"Switch\t36 \"S-0000000000000001\"\t\t# \"leaf\" enhanced port 0 lid 4 lmc 0\n"
	"[7]\t\"H-0000000000000002\"[1](3) \t\t# \"n1 HCA-1\" lid 5 4xHDR\n"
	"Ca\t1 \"H-0000000000000002\"\t\t# \"n1 HCA-1\"\n"
	"[1](3) \t\"S-0000000000000001\"[7]\t\t# lid 5 lmc 1 \"leaf\" lid 4 4xHDR\n";

struct packed {
	char *v;
	size_t n;
};

/* By gzip (0) or zstd (1). */
static struct packed pack(size_t kind, const void *bytes, size_t n)
{
	struct packed out = {.n = n + n / 100 + 1000};
	z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes,
		      .avail_in = (uInt)n,
		      .avail_out = (uInt)out.n};

	out.v = malloc(out.n);
	if (kind) {
		out.n = ZSTD_compress(out.v, out.n, bytes, n, 3);
		cr_assert(!ZSTD_isError(out.n));
		return out;
	}
	z.next_out = (Bytef *)out.v;
	cr_assert_eq(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY),
		     Z_OK);
	cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	out.n = z.total_out;
	deflateEnd(&z);
	return out;
}

static const char *const kinds[] = {"gzip", "zstd"};

/* Two streams behind each other are one text; gzip's may be filled up with zeros. */
Test(source, unpacks_what_is_packed)
{
	const size_t n = sizeof(dump) - 1;

	for (size_t i = 0; i < 3; i++) {
		struct packed one = pack(i % 2, dump, n);
		size_t zeros = i == 2 ? 3 : 0;
		OWN_HEAP char *two = FAB_NEW0(2 * one.n + zeros, char);
		OWN(fab_fabric) *f = NULL;
		FAB_AUTO(fab_input_fini) struct fab_input in = {0};

		memcpy(two, one.v, one.n);
		memcpy(two + one.n + zeros, one.v, one.n);
		MUST(fab_source_parse("t", one.v, one.n, NULL, &f, ERR));
		cr_expect_eq(f->n_cables, 1);
		MUST(fab_input_unpack("t", two, 2 * one.n + zeros, &in, ERR));
		cr_expect_eq(in.n, 2 * n);
		cr_expect_eq(memcmp(in.bytes + n, dump, n + 1), 0);
		free(one.v);
	}
}

/* Every shorter or damaged stream is refused, with the name of its kind. */
Test(source, notices_damage_of_packed_data)
{
	for (size_t i = 0; i < FAB_COUNT(kinds); i++) {
		struct packed one = pack(i, dump, sizeof(dump) - 1);
		struct fab_input in;
		char begin[16];

		snprintf(begin, sizeof(begin), "t: %s data ", kinds[i]);
		for (size_t n = 4; n < one.n; n++) {
			cr_expect_eq(fab_input_unpack("t", one.v, n, &in, ERR), -EINVAL,
				     "%s: %zu of %zu bytes", kinds[i], n, one.n);
			cr_expect_eq(strncmp(test_err.text, begin, strlen(begin)), 0,
				     "%s", test_err.text);
		}
		one.v[one.n / 2] ^= 0x55;
		one.v[one.n / 2 + 1] ^= 0x55;
		/* zstd without a checksum may unpack to other text. */
		if (!fab_input_unpack("t", one.v, one.n, &in, ERR)) {
			cr_expect_eq(i, 1);
			fab_input_fini(&in);
		}
		free(one.v);
	}
}

Test(source, bounds_what_is_unpacked)
{
	size_t n = 64 << 20;
	OWN_HEAP char *zeros = calloc(n, 1);

	for (size_t i = 0; i < FAB_COUNT(kinds); i++) {
		struct packed bomb = pack(i, zeros, n);
		struct fab_input in;
		char wanted[200];

		snprintf(wanted, sizeof(wanted),
			 "t: %s data that unpacks to more than %zu bytes, which no dump "
			 "of this size does",
			 kinds[i],
			 bomb.n * FAB_INPUT_MAX_RATIO + (size_t)FAB_INPUT_SLACK);
		FAILS_AS(fab_input_unpack("t", bomb.v, bomb.n, &in, ERR), -EINVAL,
			 wanted);
		free(bomb.v);
	}
}

Test(source, names_what_cannot_be_opened)
{
	static const struct {
		const char *spec, *message;
		int rc;
	} cases[] = {
		{"", ": No such file or directory", -ENOENT},
		{"ib:a/b",
		 "ib:a/b: expected ib:, ib:CA or ib:CA/PORT with a PORT from 1 to 254",
		 -EINVAL},
		{"ib:/1",
		 "ib:/1: expected ib:, ib:CA or ib:CA/PORT with a PORT from 1 to 254",
		 -EINVAL},
		{"ib:no_such_ca", "ib:no_such_ca: no InfiniBand adapter of this name",
		 -ENODEV},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		struct fab_fabric *f = NULL;
		int rc = fab_source_open(cases[i].spec, NULL, &f, ERR);

		if (rc == -ENOTSUP) /* built without libibnetdisc */
			continue;
		cr_expect_eq(rc, cases[i].rc, "%s: %d", cases[i].spec, rc);
		cr_expect_str_eq(test_err.text, cases[i].message);
	}
}
