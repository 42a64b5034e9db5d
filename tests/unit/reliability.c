/* SPDX-License-Identifier: BSD-2-Clause */
/* Closed forms against counting, trials against closed forms, figures of the paper. */
#include "unicast/reliability.h"
#include "support/fences.h"
#include "support/test.h"
#include "support/unicast_check.h"

OWN_VALUE(kfat_net, kfat_net_fini)

/* All sets of k points of n x m, counted. */
static double count_touching(uint32_t n, uint32_t m, uint32_t k)
{
	uint32_t sets = 0, touching = 0;

	for (uint32_t set = 0; set < UINT32_C(1) << n * m; set++) {
		uint32_t rows = 0, columns = 0;

		if ((uint32_t)__builtin_popcount(set) != k)
			continue;
		for (uint32_t i = 0; i < n * m; i++)
			if (set >> i & 1) {
				rows |= 1u << i / m;
				columns |= 1u << i % m;
			}
		sets++;
		touching += rows == (1u << n) - 1 && columns == (1u << m) - 1;
	}
	return (double)touching / sets;
}

Test(reliability, touching_by_counting)
{
	static const uint32_t sizes[][2] = {{2, 2}, {3, 3}, {4, 4}, {3, 5}, {2, 7}};
	double p[32];

	for (size_t i = 0; i < FAB_COUNT(sizes); i++) {
		uint32_t n = sizes[i][0], m = sizes[i][1];

		fab_touch_all(n, m, n * m, p);
		for (uint32_t k = 1; k <= n * m; k++)
			cr_assert_float_eq(p[k], count_touching(n, m, k), 1e-12);
	}
}

Test(reliability, figures_of_the_paper_note)
{
	double p[41];

	fab_touch_all(16, 16, 40, p);
	cr_assert_eq(p[15], 0);
	test_near(p[16], 2.076e-12, 5e-4);
	test_near(p[20], 2.877e-7, 5e-4);
	test_near(p[24], 6.15e-5, 5e-3);
	test_near(p[30], 4.40e-3, 5e-3);
	test_near(p[40], 0.107, 5e-3);
	test_near(fab_touch_all_as_published(16, 20), 4.807e-22, 5e-4);
}

Test(reliability, survived)
{
	OWN(kfat_net) n = kfat_net_of(test_gen_raw("kfat:dims=16x16,hosts=1"));

	cr_assert_eq(fab_faults_survived(n.k), 29);
	cr_assert_eq(fab_cut_bound(16, 16, 29), 0);
	test_near(fab_cut_bound(16, 16, 40), 2.7e-18, 0.05);
	test_near(fab_cut_bound(16, 16, 64), 8.2e-10, 0.05);
}

/* Every set of k of 3 x 3 against trials; the same for one thread and two. */
Test(reliability, trials_agree_with_all_sets)
{
	OWN(kfat_net) net = kfat_net_of(test_gen_raw("kfat:dims=3x3,hosts=1"));
	OWN(fab_faults) *faults = fab_faults_new(net.f);
	struct fab_trials t = {.engine = &fab_unicast_vtftr_ib,
			       .kfat = net.k,
			       .max_vls = 2,
			       .seed = 5,
			       .n_trials = 3000,
			       .n_threads = 1};

	for (uint32_t k = 2; k <= 6; k++) {
		struct fab_reliability one, two;
		size_t pick[9];
		double n = 0, hits = 0;

		for (uint64_t s = 0; s < fab_faults_combinations(9, k); s++) {
			struct unicast_check c;
			OWN(fab_routes) *r = NULL;

			fab_faults_clear(faults);
			fab_faults_combination(s, k, 9, pick);
			for (size_t i = 0; i < k; i++)
				fab_faults_kill_switch(faults, net.k->leaf[pick[i]]);
			r = test_tables(net.f, faults, "vtftr-ib", 2);
			n++;
			c = unicast_check(r);
			hits += c.connected < c.pairs;
		}
		MUST(fab_reliability_try(&t, k, &one, ERR));
		cr_assert_leq(one.low, hits / n + 0.02);
		cr_assert_geq(one.high, hits / n - 0.02);
		cr_assert_eq(hits > 0, k > 3);
		t.n_threads = 2;
		MUST(fab_reliability_try(&t, k, &two, ERR));
		cr_assert_eq(one.hits, two.hits);
		cr_assert_eq(one.share, two.share);
		t.n_threads = 1;
	}
}

Test(reliability, time_to_unreachable)
{
	static const double never[] = {0, 0, 0}, at_once[] = {0, 1, 1};
	/* trials scatter: what falls counts as what it was before */
	static const double falling[] = {0, 0.5, 0.25, 1};
	bool is_whole;

	cr_assert_float_eq(fab_time_to_unreachable(never, 2, 10, 90, &is_whole),
			   9 + 10 + 90 / 8.0, 1e-9);
	cr_assert_not(is_whole);
	cr_assert_float_eq(fab_time_to_unreachable(at_once, 2, 10, 90, &is_whole), 9,
			   1e-9);
	cr_assert(is_whole);
	cr_assert_float_eq(fab_time_to_unreachable(falling, 3, 10, 90, &is_whole),
			   9 + 5 + 45 / 8.0, 1e-9);
	cr_assert(is_whole);
	fab_time_to_unreachable(falling, 2, 10, 90, &is_whole);
	cr_assert_not(is_whole);
}

/* Four switches, each down a tenth of the time: by all 16 states. */
Test(reliability, availability_by_all_states)
{
	static const double p[] = {0, 0, 0.5};
	double sum = 0;

	for (unsigned state = 0; state < 16; state++) {
		int n = __builtin_popcount(state);

		sum += pow(0.1, n) * pow(0.9, 4 - n) * (n < 3 ? p[n] : 1);
	}
	cr_expect_float_eq(fab_unavailability(p, 2, 4, 9, 1), sum, 1e-12);
	cr_expect_float_eq(fab_next_before_repair(4, 9, 1), 1 - exp(-3 / 9.0), 1e-12);
}
