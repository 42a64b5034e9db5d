/* SPDX-License-Identifier: BSD-2-Clause */
/* Senders and receivers of the transfers. */
#include "rdma/rdma.h"

#include "support/test.h"

static const struct fab_rdma_pattern_problem one = {
	.bytes = 1000, .repeats = 1, .seed = 1};

static int make(const char *gen, const char *spec, struct fab_rdma_pattern_problem p,
		struct fab_rdma_transfers *out, struct fab_err *err)
{
	OWN(fab_fabric) *f = test_gen(gen);
	OWN(fab_flow_ends) ends;

	fab_flow_ends_init(&ends, f, NULL, NULL);
	p.f = f;
	p.ends = &ends;
	return fab_rdma_pattern_make(spec, &p, out, err);
}

static struct fab_rdma_transfers of_twelve(const char *spec,
					   struct fab_rdma_pattern_problem p)
{
	struct fab_rdma_transfers t;

	cr_assert_eq(make("torus:dims=4x3,hosts=1", spec, p, &t, ERR), 0, "%s: %s", spec,
		     test_err.text);
	return t;
}

/* The transfers, as "0>13 1>2". */
Test(rdma_pattern, transfers)
{
	static const struct {
		const char *spec, *want;
		bool is_read;
		uint32_t repeats;
	} rows[] = {
		{"pair", "0>7", false, 1}, /* 2 + 1 hops: x + 2, y + 1 */
		{"pair:h3,h2", "3>2", false, 1},
		{"pair:h3,h2", "2>3", true, 1},
		{"incast:3", "1>0 4>0 8>0", false, 1},
		{"incast:1", "1>0 1>0", false, 2},
		{"permutation:shift:1",
		 "0>1 1>2 2>3 3>4 4>5 5>6 6>7 7>8 8>9 9>10 10>11 11>0", false, 1},
	};

	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		struct fab_rdma_pattern_problem p = one;
		struct fab_rdma_transfers t;
		OWN_HEAP char *text = NULL;

		p.is_read = rows[i].is_read;
		p.repeats = rows[i].repeats;
		t = of_twelve(rows[i].spec, p);
		for (size_t k = 0; k < t.of.n; k++)
			fab_append(&text, " ", "%u>%u", t.of.v[k].source,
				   t.of.v[k].target);
		free(t.of.v);
		cr_expect_str_eq(text, rows[i].want, "%s: %s", rows[i].spec, text);
	}
}

/* So many rounds: each endpoint sends to so many others, none twice, and gets from as
 * many; the rounds of all are those of the largest number. */
Test(rdma_pattern, all_to_all_by_rounds)
{
	struct fab_rdma_transfers all = of_twelve("alltoall", one);

	cr_assert_eq(all.of.n, 12 * 11);
	for (size_t rounds = 1; rounds < 12; rounds++) {
		bool has[12][12] = {{false}};
		size_t from[12] = {0}, to[12] = {0};
		FAB_AUTOFREE char *spec = fab_format("alltoall:%zu", rounds);
		struct fab_rdma_transfers t = of_twelve(spec, one);

		cr_assert_eq(t.of.n, 12 * rounds);
		for (size_t i = 0; i < t.of.n; i++) {
			const struct fab_rdma_transfer *x = &t.of.v[i];

			cr_assert(x->source != x->target && x->bytes == 1000);
			cr_assert(!has[x->source][x->target]);
			has[x->source][x->target] = true;
			from[x->source]++;
			to[x->target]++;
			cr_assert(rounds < 11 || x->target == all.of.v[i].target);
		}
		for (int e = 0; e < 12; e++)
			cr_assert(from[e] == rounds && to[e] == rounds);
		/* a sample of all distances, not the nearest ones */
		cr_assert(rounds != 4 ||
			  (has[0][1] && has[0][3] && has[0][6] && has[0][9]));
		free(t.of.v);
	}
	free(all.of.v);
}

Test(rdma_pattern, bad_ones)
{
	static const char twelve[] = "torus:dims=4x3,hosts=1";
	static const struct {
		const char *gen, *spec, *says;
	} rows[] = {
		{twelve, "pears", "there are: pair, permutation, incast:K"},
		{twelve, "pair:h1", "expected pair or pair:SOURCE,TARGET"},
		{twelve, "pair:h1,h1", "same endpoint"},
		{twelve, "pair:h1,h99", "h99"},
		{twelve, "incast:0", "expected incast:K"},
		{twelve, "incast:12", "there are 12 live endpoints"},
		{twelve, "incast", "expected incast:K"},
		{twelve, "alltoall:x", "expected alltoall or"},
		{twelve, "alltoall:0", "expected alltoall or"},
		{twelve, "alltoall:12", "there are 11 rounds"},
		{twelve, "permutation:shift:x", "shift"},
		{twelve, "permutation:shift:-1", "shift"},
		{twelve, "permutation:shift:4294967296", "shift"},
		{twelve, "permutation:tornado:2", "tornado"},
		{twelve, "permutation:bitrev:", "bitrev"},
		{twelve, "permutation:transposed", "transpose"},
		{twelve, "permutation:file", "file:PATH"},
		{twelve, "permutation:", "is empty"},
		{twelve, "file:", "is empty"},
		{twelve, "file:missing", "missing"},
		{"fattree:radix=2,levels=1", "pair:h0,h5", "h5"},
	};

	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		struct fab_rdma_transfers t;

		FAILS(make(rows[i].gen, rows[i].spec, one, &t, ERR), 0, rows[i].says);
		cr_expect(!t.of.v);
	}
}
