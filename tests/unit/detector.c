/* SPDX-License-Identifier: BSD-2-Clause */
/* Failure detection: within its proven bound; the ring of MPD splits. */
#include "launch/detector.h"
#include "support/test.h"

static struct fab_arena memory = FAB_ARENA_INIT; /* ends with the process */

static struct fab_detector of(uint32_t n)
{
	return (struct fab_detector){
		.n = n, .period_us = 1e6, .timeout_us = 1e7, .message_us = 3.5};
}

static struct fab_detection run(const struct fab_detector *d, const uint32_t *failed,
				uint32_t f)
{
	struct fab_detection x;

	MUST(fab_detector_run(d, failed, f, &x, ERR));
	return x;
}

/* Each placement of f failures among 64, but those that turn into each other (Burnside),
 * and among 23. */
Test(detector, every_placement_of_few_failures_is_within_the_bound)
{
	static const uint64_t placements[] = {0, 1, 32, 651, 9936};

	for (uint32_t i = 1; i <= 14; i++) {
		uint32_t k = i <= 7 ? i : i - 7, f = k <= 4 ? k : k - 4;
		struct fab_detector d = of(i <= 7 ? 64 : 23);
		struct fab_detector_worst w;

		d.message_us = k <= 4 ? 3.5 : 1e6; /* so slow that the news decide */
		MUST(fab_detector_worst(&memory, &d, f, &w, ERR));
		cr_assert(i > 7 || w.n_placements == placements[f], "%u", f);
		cr_assert_eq(w.n_beyond, 0, "%u failures", f);
		cr_assert(w.worst.stable_us <= w.worst.bound_us);
		cr_assert(w.worst.repaired_us <= w.worst.bound_us &&
			  w.worst.first_us > 1e7);
		cr_assert_leq(w.worst.news, (uint64_t)d.n * f * fab_detector_degree(d.n));
		/* side by side is the worst: one timeout, then two for each more */
		cr_assert(w.worst.stable_us >= (2 * f - 1) * d.timeout_us);
		for (k = 1; k < f; k++)
			cr_assert_eq(w.failed[k], k);
	}
}

Test(detector, by_hand)
{
	/* 1, 2, 4, 8 from 1 */
	static const uint32_t all[] = {0, 2, 3, 5, 7, 9};
	static const uint32_t degree[][2] = {{2, 1}, {3, 2}, {4, 3}, {64, 11}, {100, 14}};
	struct fab_detector d = of(64);
	struct fab_detection x = run(&d, (const uint32_t[]){7}, 1);
	bool is_proven;

	/* one failure is missed a timeout after its last heartbeat has come */
	cr_assert_float_eq(x.first_us, 1e7 + 3.5, 1e-6);
	cr_assert(x.stable_us > x.first_us + 3.5 &&
		  x.stable_us <= x.first_us + 8 * 3.5 * 6);
	cr_assert_float_eq(x.bound_us, 2e7 + 3.5 + 8 * 3.5 * 6, 1e-6);
	cr_assert_eq(x.most_news, fab_detector_degree(64));
	cr_assert_eq(x.news, 63 * fab_detector_degree(64));
	/* node 8 asks node 6, behind its news */
	cr_assert_float_eq(x.repaired_us, x.first_us + 12 * 3.5, 1e-6);
	cr_assert(x.is_within);
	/* news go to powers of two: of 4 to 1, 3 and 2 */
	for (size_t i = 0; i < FAB_COUNT(degree); i++)
		cr_assert_eq(fab_detector_degree(degree[i][0]), degree[i][1]);
	/* the bound is proven below the logarithm */
	fab_detector_bound_us(&d, 5, &is_proven);
	cr_assert(is_proven);
	fab_detector_bound_us(&d, 6, &is_proven);
	cr_assert_not(is_proven);
	cr_assert_float_eq(fab_detector_bound_us(&d, 2, NULL),
			   6 * 1e7 + 2 * 3.5 + 3 * 8 * 3.5 * 6, 1e-6);
	/* with as many failures as a node has others to tell, some may never hear */
	d = of(10);
	x = run(&d, all, 6);
	cr_assert(fab_detector_degree(10) == 6 && isinf(x.stable_us) && !x.is_within);
	cr_assert(isfinite(run(&d, all, 5).stable_us));
}

/* Gaps between arrivals that exceed the timeout, heartbeat by heartbeat. */
static double followed(const struct fab_detector *d, double delay_us, double loss)
{
	uint64_t n_arrived = 0, n_missed = 0;
	double last = 0, due = d->timeout_us;
	struct fab_rng rng = test_rng(11);

	for (uint64_t i = 1; i <= 2000000; i++) {
		double at = (double)i * d->period_us -
			    delay_us * log1p(-fab_unit(fab_rng_next(&rng)));

		if (fab_unit(fab_rng_next(&rng)) < loss || at < last)
			continue;
		n_missed += at > due;
		n_arrived++;
		last = at;
		due = at + d->timeout_us;
	}
	return (double)n_missed / (double)n_arrived;
}

Test(detector, false_suspicions_are_those_of_a_simulation)
{
	static const struct {
		double timeout, delay, loss;
	} rows[] = {{1.01, 0.01, 1e-4}, {1.5, 0.1, 0.1}, {2.2, 0.1, 0.1},
		    {3.05, 0.05, 0.05}, {1.2, 0.1, 0},	 {2.5, 0, 0.05}};

	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		struct fab_detector d = {.n = 100,
					 .period_us = 1e6,
					 .timeout_us = rows[i].timeout * 1e6,
					 .message_us = 1};
		double delay_us = rows[i].delay * 1e6;
		struct fab_suspicion s =
			fab_detector_suspicion(&d, delay_us, rows[i].loss);
		double ours = followed(&d, delay_us, rows[i].loss);

		cr_assert(fabs(s.probability - ours) < 0.1 * ours + 1e-6, "%zu: %g %g", i,
			  s.probability, ours);
		cr_assert_float_eq(s.every_us * 100 * s.probability * (1 - rows[i].loss),
				   1e6, 1);
	}
}

/* One period that may be missed: loss, or a delay beyond the rest of the timeout. */
Test(detector, risk_in_closed_form)
{
	struct fab_detector d = {
		.n = 10, .period_us = 1e6, .timeout_us = 1.01e6, .message_us = 1};
	struct fab_risk_row rows[FAB_N_RISKS];

	cr_assert_float_eq(fab_detector_suspicion(&d, 1e4, 1e-4).probability,
			   1e-4 + (1 - 1e-4) * exp(-1) / 2, 1e-6);
	d.timeout_us = 3.5e6;
	cr_assert_float_eq(fab_detector_suspicion(&d, 0, 1e-2).probability, 1e-6, 1e-12);
	cr_assert(isinf(fab_detector_suspicion(&d, 0, 0).every_us));
	MUST(fab_detector_risks(&d, 1e4, 1e-2, rows, ERR));
	cr_assert(rows[0].is_present && !rows[1].is_present);
	/* a shorter period: more heartbeats, less risk; a longer timeout: less risk */
	for (size_t i = 2; i < FAB_N_RISKS; i++)
		cr_assert(i == 5 ||
			  rows[i].false_suspicion < rows[i - 1].false_suspicion);
	FAILS(fab_detector_risks(&d, 1e9, 0, rows, ERR), -EINVAL, "100 periods");
}

/* Parts of MPD's ring of n daemons and nodes of the largest one. */
static void check_mpd(uint32_t n, const uint32_t *failed, uint32_t f, uint64_t parts,
		      uint64_t largest)
{
	struct fab_detector d = of(n);
	struct fab_detection x = {0};
	struct fab_failure_row row;

	fab_failure_row_fill(&d, &x, failed, f, &row);
	cr_assert(row.mpd_parts == parts && row.mpd_largest == largest, "%u of %u", f, n);
}

/* Two failures split it exactly if there are nodes between both, on both sides. */
Test(detector, parts_of_mpd)
{
	check_mpd(8, NULL, 0, 1, 8);
	check_mpd(8, (const uint32_t[]){3}, 1, 1, 7);
	check_mpd(8, (const uint32_t[]){0, 2, 4, 6}, 4, 4, 1);
	check_mpd(3, (const uint32_t[]){0, 1, 2}, 3, 0, 0);
	check_mpd(1, NULL, 0, 1, 1);
	for (uint32_t n = 2; n < 30; n++)
		for (uint32_t i = 0; i < n * n; i++) {
			uint32_t two[] = {i % n, i / n};
			uint32_t inner = (two[1] + n - two[0]) % n - 1,
				 outer = n - 2 - inner;

			if (two[0] != two[1])
				check_mpd(n, two, 2, (inner > 0) + (outer > 0),
					  inner > outer ? inner : outer);
		}
}

Test(detector, bad_input)
{
	struct fab_detector d = of(4);
	struct fab_detector_worst w;
	struct fab_failure_row rows[3];

	d.timeout_us = d.period_us;
	FAILS(fab_detector_check(&d, ERR), -EINVAL, "considered dead");
	d = of(1);
	FAILS(fab_detector_check(&d, ERR), -EINVAL, "expected 2 to");
	d = of(1 << 20);
	cr_assert_eq(fab_detector_worst(&memory, &d, 3, &w, NULL), -ERANGE);
	FAILS(fab_detector_table(&memory, &d, 1000, false, rows, ERR), -ERANGE, "pairs");
}
