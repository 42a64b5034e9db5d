/* SPDX-License-Identifier: BSD-2-Clause */
/* Closed forms against counting, trials against closed forms, figures of the paper. */
#include "unicast/reliability.h"
#include "support/fences.h"
#include "support/test.h"
#include "support/unicast_check.h"

/* All sets of k points of n x m, counted. */
Test(reliability, touching_by_counting)
{
	static const uint32_t sizes[][2] = {{2, 2}, {3, 3}, {4, 4}, {3, 5}, {2, 7}};

	for (size_t i = 0; i < FAB_COUNT(sizes); i++) {
		uint32_t n = sizes[i][0], m = sizes[i][1];
		double sets[32] = {0}, touching[32] = {0}, p[32];

		for (uint32_t set = 0; set < UINT32_C(1) << n * m; set++) {
			uint32_t rows = 0, columns = 0, k = 0;

			for (uint32_t at = 0; at < n * m; at++)
				if (set >> at & 1) {
					rows |= 1u << at / m;
					columns |= 1u << at % m;
					k++;
				}
			sets[k]++;
			touching[k] += rows == (1u << n) - 1 && columns == (1u << m) - 1;
		}
		fab_touch_all(n, m, n * m, p);
		for (uint32_t k = 1; k <= n * m; k++)
			cr_assert_float_eq(p[k], touching[k] / sets[k], 1e-12);
	}
}

Test(reliability, figures_of_the_paper_note)
{
	OWN(kfat_net) n = kfat_net("kfat:dims=16x16,hosts=1", NULL);
	double p[41];

	fab_touch_all(16, 16, 40, p);
	cr_assert_eq(p[15], 0);
	test_near(p[16], 2.076e-12, 5e-4);
	test_near(p[20], 2.877e-7, 5e-4);
	test_near(p[24], 6.15e-5, 5e-3);
	test_near(p[30], 4.40e-3, 5e-3);
	test_near(p[40], 0.107, 5e-3);
	test_near(fab_touch_all_as_published(16, 20), 4.807e-22, 5e-4);
	cr_assert_eq(fab_faults_survived(n.k), 29);
	cr_assert_eq(fab_cut_bound(16, 16, 29), 0);
	test_near(fab_cut_bound(16, 16, 40), 2.7e-18, 0.05);
	test_near(fab_cut_bound(16, 16, 64), 8.2e-10, 0.05);
}

/* Every set of k of 3 x 3 against trials; the same for one thread and two. */
Test(reliability, trials_agree_with_all_sets)
{
	OWN(kfat_net) net = kfat_net("kfat:dims=3x3,hosts=1", NULL);
	struct fab_trials t = {.engine = &fab_unicast_vtftr_ib,
			       .kfat = net.k,
			       .max_vls = 2,
			       .seed = 5,
			       .n_trials = 3000};

	for (uint32_t k = 2; k <= 6; k++) {
		uint64_t n = fab_faults_combinations(9, k);
		struct fab_reliability of[2];
		size_t pick[9];
		double hits = 0;

		for (uint64_t s = 0; s < n; s++) {
			OWN(fab_routes) *r = NULL;
			OWN(fab_analysis) j;

			fab_faults_clear(net.faults);
			fab_faults_combination(s, k, 9, pick);
			for (size_t i = 0; i < k; i++)
				fab_faults_kill_switch(net.faults, net.k->leaf[pick[i]]);
			r = test_tables(net.f, net.faults, "vtftr-ib", 2);
			j = test_verified(r, FAB_ENDS_LEAVES);
			hits += j.unreachable > 0;
		}
		for (t.n_threads = 1; t.n_threads <= 2; t.n_threads++)
			MUST(fab_reliability_try(&t, k, &of[t.n_threads - 1], ERR));
		cr_assert_leq(of[0].low, hits / (double)n + 0.02);
		cr_assert_geq(of[0].high, hits / (double)n - 0.02);
		cr_assert_eq(hits > 0, k > 3);
		cr_assert(of[0].hits == of[1].hits && of[0].share == of[1].share);
	}
}

Test(reliability, time_to_unreachable)
{
	static const struct {
		double p[4];
		uint32_t k_max;
		double is;
		bool is_whole;
	} cases[] = {{{0, 0, 0}, 2, 9 + 10 + 90 / 8.0, false},
		     {{0, 1, 1}, 2, 9, true},
		     /* trials scatter: what falls counts as what it was before */
		     {{0, 0.5, 0.25, 1}, 3, 9 + 5 + 45 / 8.0, true},
		     {{0, 0.5, 0.25, 1}, 2, 9 + 5 + 45 / 8.0, false}};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		bool is_whole;

		cr_expect_float_eq(fab_time_to_unreachable(cases[i].p, cases[i].k_max, 10,
							   90, &is_whole),
				   cases[i].is, 1e-9, "%zu", i);
		cr_expect_eq(is_whole, cases[i].is_whole, "%zu", i);
	}
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
