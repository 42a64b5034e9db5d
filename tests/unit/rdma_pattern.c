/* SPDX-License-Identifier: BSD-2-Clause */
/* Senders and receivers of the transfers. */
#include "rdma/rdma.h"

#include "support/process.h"
#include "support/test.h"

static const char twelve[] = "torus:dims=4x3,hosts=1";

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

static const struct fab_rdma_pattern_problem one = {
	.bytes = 1000, .repeats = 1, .seed = 1};

/* The transfers, as "0>13 1>2". */
static void check(const char *spec, const struct fab_rdma_pattern_problem *p,
		  const char *want)
{
	struct fab_rdma_transfers t;
	FAB_AUTOFREE char *text = NULL;

	cr_assert_eq(make(twelve, spec, *p, &t, ERR), 0, "%s: %s", spec, test_err.text);
	for (size_t i = 0; i < t.of.n; i++) {
		cr_assert_neq(t.of.v[i].source, t.of.v[i].target);
		fab_append(&text, " ", "%u>%u", t.of.v[i].source, t.of.v[i].target);
	}
	free(t.of.v);
	cr_expect_str_eq(text, want, "%s: %s", spec, text);
}

Test(rdma_pattern, transfers)
{
	const struct fab_rdma_pattern_problem read = {
		.bytes = 1, .repeats = 1, .is_read = true};
	const struct fab_rdma_pattern_problem twice = {.bytes = 1, .repeats = 2};

	check("pair", &one, "0>7"); /* 2 + 1 hops: x + 2, y + 1 */
	check("pair:h3,h2", &one, "3>2");
	check("pair:h3,h2", &read, "2>3");
	check("incast:3", &one, "1>0 4>0 8>0");
	check("incast:1", &twice, "1>0 1>0");
	check("permutation:shift:1", &one,
	      "0>1 1>2 2>3 3>4 4>5 5>6 6>7 7>8 8>9 9>10 10>11 11>0");
}

Test(rdma_pattern, all_to_all_is_every_pair_once)
{
	struct fab_rdma_transfers t;
	bool has[12][12] = {{false}};

	MUST(make(twelve, "alltoall", one, &t, ERR));
	cr_assert_eq(t.of.n, 12 * 11);
	for (size_t i = 0; i < t.of.n; i++) {
		cr_assert(!has[t.of.v[i].source][t.of.v[i].target]);
		has[t.of.v[i].source][t.of.v[i].target] = true;
		cr_assert_eq(t.of.v[i].bytes, 1000);
	}
	free(t.of.v);
}

/* So many rounds: each endpoint sends to so many others and gets from as many; the rounds
 * of all are those of the largest number. */
Test(rdma_pattern, all_to_all_by_rounds)
{
	struct fab_rdma_transfers all, t;

	MUST(make(twelve, "alltoall", one, &all, ERR));
	for (int rounds = 1; rounds < 12; rounds++) {
		bool has[12][12] = {{false}};
		int from[12] = {0}, to[12] = {0};
		char spec[24];

		(void)snprintf(spec, sizeof(spec), "alltoall:%d", rounds);
		MUST(make(twelve, spec, one, &t, ERR));
		cr_assert_eq(t.of.n, 12 * rounds);
		for (size_t i = 0; i < t.of.n; i++) {
			cr_assert_neq(t.of.v[i].source, t.of.v[i].target);
			cr_assert(!has[t.of.v[i].source][t.of.v[i].target]);
			has[t.of.v[i].source][t.of.v[i].target] = true;
			from[t.of.v[i].source]++;
			to[t.of.v[i].target]++;
			cr_assert(rounds < 11 || t.of.v[i].target == all.of.v[i].target);
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

Test(rdma_pattern, files)
{
	FAB_AUTO(folder_fini) struct folder folder;
	struct fab_rdma_transfers t;

	folder_init(&folder);
	put("m", "Nodes 12\nConnections 1\n3->2 start 5 size 7\n");
	put("t", "1us h3 h2 7\n2us h1 h1 9\n2us h1 h0 0\n");
	MUST(make(twelve, "file:m", one, &t, ERR));
	cr_assert(t.of.n == 1 && t.of.v[0].start_ps == 5 && t.of.v[0].bytes == 7);
	free(t.of.v);
	MUST(make(twelve, "trace:t", one, &t, ERR));
	cr_assert(t.of.n == 1 && t.of.v[0].start_ps == 1000000 && t.n_left_out == 2);
	free(t.of.v);
}

Test(rdma_pattern, bad_ones)
{
	static const struct {
		const char *spec, *says;
	} cases[] = {
		{"pears", "there are: pair, permutation, incast:K"},
		{"pair:h1", "expected pair or pair:SOURCE,TARGET"},
		{"pair:h1,h1", "same endpoint"},
		{"pair:h1,h99", "h99"},
		{"incast:0", "expected incast:K"},
		{"incast:12", "there are 12 live endpoints"},
		{"incast", "expected incast:K"},
		{"alltoall:x", "expected alltoall or"},
		{"alltoall:0", "expected alltoall or"},
		{"alltoall:12", "there are 11 rounds"},
		{"permutation:shift:x", "shift"},
		{"permutation:", "is empty"},
		{"file:", "is empty"},
		{"file:missing", "missing"},
	};
	struct fab_rdma_transfers t;

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		cr_expect(make(twelve, cases[i].spec, one, &t, ERR) < 0, "%s",
			  cases[i].spec);
		cr_expect(strstr(test_err.text, cases[i].says), "%s: %s", cases[i].spec,
			  test_err.text);
		cr_expect(!t.of.v);
	}
	cr_expect(make("fattree:radix=2,levels=1", "pair:h0,h5", one, &t, ERR) < 0);
	HAS(test_err.text, "h5");
}
