/* SPDX-License-Identifier: BSD-2-Clause */
/* Random streams, clocks, queues and statistics of simulations. */
#include "base/order.h"
#include "event/schedule.h"
#include "event/stats.h"
#include "event/stream.h"
#include "support/test.h"

/* Known answers of philox2x64 with 10 rounds: kat_vectors of the authors' Random123. */
Test(event, streams_have_the_known_answers)
{
	static const uint64_t cases[][5] = {
		{0, 0, 0, 0xca00a0459843d731, 0x66c24222c9a845b5},
		/* digits of pi */
		{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0,
		 0x0a5e742c2997341c, 0xb0f883d38000de5d},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		for (uint64_t k = 0; k < 2; k++) {
			uint64_t item = cases[i][1], seed = cases[i][2];
			uint64_t draw = cases[i][0] * 2 + k;
			struct fab_stream s = fab_stream_of(seed, item);

			cr_assert_eq(fab_stream_at(seed, item, draw), cases[i][3 + k]);
			/* a stream set to a draw goes on from there */
			s.draw = draw;
			for (uint64_t n = 0; n < 4; n++)
				cr_assert_eq(fab_stream_next(&s),
					     fab_stream_at(seed, item, draw + n));
		}
}

Test(event, streams_are_uniform_across_items_and_draws)
{
	enum { N = 70000 };
	unsigned by_draw[7] = {0}, by_item[7] = {0};
	double sum = 0, exponential = 0;
	struct fab_stream s = fab_stream_of(1, 1);

	for (unsigned i = 0; i < N; i++) {
		struct fab_stream other = fab_stream_of(1, i);
		double unit = fab_stream_unit(&s), time = fab_stream_exponential(&s, 3);

		cr_assert(unit >= 0 && unit < 1 && time >= 0 && isfinite(time));
		sum += unit;
		exponential += time;
		by_draw[fab_stream_below(&s, 7)]++;
		by_item[fab_stream_below(&other, 7)]++;
	}
	/* five standard deviations */
	cr_assert_lt(fabs(sum / N - 0.5), 5 * sqrt(1.0 / 12 / N));
	cr_assert_lt(fabs(exponential / N - 3), 5 * 3 / sqrt(N));
	for (int i = 0; i < 7; i++) {
		cr_assert_lt(fabs(by_draw[i] - N / 7.0), 5 * sqrt(N * 6 / 49.0));
		cr_assert_lt(fabs(by_item[i] - N / 7.0), 5 * sqrt(N * 6 / 49.0));
	}
}

Test(event, seconds_are_times_in_the_same_order)
{
	static const double seconds[] = {0, 5e-324,    1e-9, 0.1,
					 1, 1 + 1e-15, 3e8,  INFINITY};

	for (size_t i = 0; i < FAB_COUNT(seconds); i++) {
		uint64_t time = fab_time_of_seconds(seconds[i]);

		cr_assert_eq(fab_seconds_of_time(time), seconds[i]);
		cr_assert(!i || time > fab_time_of_seconds(seconds[i - 1]));
	}
	cr_assert(fab_time_of_seconds(-0.0) == 0 && fab_time_add(5, 6) == 11);
	cr_assert_eq(fab_time_add(5, UINT64_MAX - 4), UINT64_MAX);
}

Test(event, a_tally_is_what_two_passes_say)
{
	enum { N = 1000 };
	struct fab_tally all = {0}, one = {0};
	struct fab_stream chance = fab_stream_of(4, 0);
	static double v[N];
	double mean = 0, squares = 0;
	struct fab_interval within;

	cr_assert(isnan(fab_tally_mean(&all)) && isnan(fab_tally_deviation(&all)) &&
		  isnan(fab_tally_max(&all)));
	for (int i = 0; i < N; i++) {
		v[i] = 1e6 + fab_stream_exponential(&chance, 10);
		mean += v[i] / N;
		fab_tally_add(&all, v[i]);
	}
	for (int i = 0; i < N; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	qsort(v, N, sizeof(*v), fab_cmp_double);
	cr_assert_eq(all.n, N);
	cr_assert_float_eq(fab_tally_mean(&all), mean, 1e-6);
	cr_assert_float_eq(fab_tally_deviation(&all), sqrt(squares / (N - 1)), 1e-6);
	cr_assert(all.min == v[0] && fab_tally_max(&all) == v[N - 1]);
	within = fab_tally_interval(&all, FAB_ALPHA);
	cr_assert_float_eq(within.high - mean, 1.9623414611 * sqrt(squares / (N - 1) / N),
			   1e-6);
	cr_assert_float_eq(mean - within.low, within.high - mean, 1e-6);
	fab_tally_add(&one, 3);
	within = fab_tally_interval(&one, FAB_ALPHA);
	cr_assert(isinf(within.low) && isinf(within.high) && within.low < within.high);
}

/* The probability that Student's t exceeds t >= 0, by Simpson's rule over its density. */
static double student_tail(double t, double freedom)
{
	enum { STEPS = 20000 };
	double front = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) /
		       sqrt(freedom * M_PI);
	double sum = 0;

	for (int i = 0; i <= STEPS; i++) {
		double x = t * i / STEPS;
		double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;

		sum += weight * front * pow(1 + x * x / freedom, -(freedom + 1) / 2);
	}
	return 0.5 - sum * t / STEPS / 3;
}

Test(event, quantiles_of_distributions)
{
	static const double freedom[] = {1, 2, 3, 4.5, 9, 30, 999, 1e5};
	static const double tail[] = {0.4, 0.1, 0.025, 0.005};

	cr_assert_eq(fab_normal_above(0.025), 1.959963984540054);
	cr_assert_eq(fab_normal_above(0.5), 0);
	for (double p = 1e-300; p < 0.5; p *= 3) {
		double x = fab_normal_above(p);

		cr_assert_float_eq(0.5 * erfc(x / sqrt(2)) / p, 1, 1e-11);
		cr_assert_float_eq(fab_normal_above(1 - p),
				   -fab_normal_above(1 - (1 - p)), 1e-12);
	}
	for (size_t f = 0; f < FAB_COUNT(freedom); f++)
		for (size_t i = 0; i < FAB_COUNT(tail); i++) {
			double t = fab_student_above(tail[i], freedom[f]);

			cr_assert_float_eq(student_tail(t, freedom[f]), tail[i], 1e-9,
					   "%g %g", freedom[f], tail[i]);
			cr_assert_float_eq(fab_student_above(1 - tail[i], freedom[f]), -t,
					   1e-9);
		}
	cr_assert_float_eq(fab_student_above(0.025, 1), 12.706204736174694, 1e-9);
}

/* Both ends solve |p - hits / trials| = z sqrt(p (1 - p) / trials). */
Test(event, wilson_solves_its_equation)
{
	for (uint64_t trials = 1; trials < 60; trials += 7)
		for (uint64_t hits = 0; hits <= trials; hits++) {
			struct fab_interval w = fab_wilson(hits, trials, FAB_ALPHA);
			double n = (double)trials, p = (double)hits / n;
			double z = 1.959963984540054;

			cr_assert(w.low <= p && p <= w.high);
			cr_assert_float_eq(p - w.low, z * sqrt(w.low * (1 - w.low) / n),
					   1e-12);
			cr_assert_float_eq(w.high - p,
					   z * sqrt(w.high * (1 - w.high) / n), 1e-12);
		}
}

Test(event, quantiles_of_samples)
{
	static const double v[] = {1, 2, 3, 4};
	static const double of_four[][2] = {{0, 1},   {0.25, 1}, {0.26, 2},
					    {0.5, 2}, {0.75, 3}, {1, 4}};
	static struct fab_histogram h, other;
	static uint64_t sample[20000];
	static double sorted[20000];
	struct fab_stream chance = fab_stream_of(5, 0);

	for (size_t i = 0; i < FAB_COUNT(of_four); i++)
		cr_assert_eq(fab_quantile(v, 4, of_four[i][0]), of_four[i][1]);
	cr_assert_eq(fab_quantile(v, 3, 0.5), 2);
	for (uint64_t n = 1; n <= 2000; n++) /* k of n are not above number k */
		for (uint64_t k = 1; k <= n; k += 1 + n / 50)
			cr_assert_eq(fab_quantile_rank((double)k / (double)n, n), k - 1);
	for (uint64_t percent = 1; percent <= 100; percent++)
		cr_assert_eq(fab_quantile_rank((double)percent / 100, 100), percent - 1);
	cr_assert_eq(fab_histogram_quantile(&h, 0.5), 0);
	for (int i = 0; i < 20000; i++) {
		sample[i] = fab_stream_next(&chance) >> fab_stream_below(&chance, 64);
		if (i < 3)
			sample[i] = UINT64_MAX - (uint64_t)i; /* none is too large */
		sorted[i] = (double)sample[i];
		fab_histogram_add(i % 3 ? &h : &other, sample[i]);
	}
	fab_histogram_merge(&h, &other);
	cr_assert(h.n == 20000 && fab_histogram_quantile(&h, 1) == UINT64_MAX);
	qsort(sorted, 20000, sizeof(*sorted), fab_cmp_double);
	for (double q = 0; q <= 1; q += 1.0 / 512) {
		double exact = fab_quantile(sorted, 20000, q);
		double got = (double)fab_histogram_quantile(&h, q);

		cr_assert(got >= exact && got <= exact * (1 + 1.0 / 64), "%g: %g for %g",
			  q, got, exact);
		if (exact < 128)
			cr_assert_eq(got, exact);
	}
}
