/* SPDX-License-Identifier: BSD-2-Clause */
/* Random streams, clocks, queues and statistics of simulations. */
#include "event/stream.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* Known answers of philox2x64 with 10 rounds: kat_vectors of the authors' Random123. */
Test(event, streams_have_the_known_answers)
{
	static const struct {
		uint64_t draw, item, seed, first, second;
	} cases[] = {
		{0, 0, 0, 0xca00a0459843d731, 0x66c24222c9a845b5},
		/* digits of pi */
		{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0,
		 0x0a5e742c2997341c, 0xb0f883d38000de5d},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t draw = cases[i].draw * 2;

		cr_assert_eq(fab_stream_at(cases[i].seed, cases[i].item, draw),
			     cases[i].first);
		cr_assert_eq(fab_stream_at(cases[i].seed, cases[i].item, draw + 1),
			     cases[i].second);
	}
}

Test(event, a_draw_depends_on_seed_item_and_number_only)
{
	struct fab_stream a = fab_stream_of(7, 3), b = fab_stream_of(7, 4);

	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t of_a = fab_stream_next(&a), of_b = fab_stream_next(&b);

		cr_assert_eq(of_a, fab_stream_at(7, 3, i));
		cr_assert_eq(of_b, fab_stream_at(7, 4, i));
		cr_assert_neq(of_a, of_b);
		cr_assert_neq(of_a, fab_stream_at(8, 3, i));
	}
	/* a stream set to a draw goes on from there */
	a = fab_stream_of(7, 3);
	a.draw = 501;
	cr_assert_eq(fab_stream_next(&a), fab_stream_at(7, 3, 501));
	cr_assert_eq(fab_stream_next(&a), fab_stream_at(7, 3, 502));
	cr_assert_eq(fab_stream_next(&a), fab_stream_at(7, 3, 503));
}

Test(event, streams_are_uniform_across_items_and_draws)
{
	enum { N = 70000 };
	unsigned by_draw[7] = {0}, by_item[7] = {0}, ones = 0;
	double sum = 0, exponential = 0;
	struct fab_stream s = fab_stream_of(1, 1);

	for (unsigned i = 0; i < N; i++) {
		struct fab_stream other = fab_stream_of(1, i);
		double unit = fab_stream_unit(&s), time;

		cr_assert(unit >= 0 && unit < 1);
		sum += unit;
		by_draw[fab_stream_below(&s, 7)]++;
		by_item[fab_stream_below(&other, 7)]++;
		ones += (unsigned)__builtin_popcountll(fab_stream_next(&s));
		time = fab_stream_exponential(&s, 3);
		cr_assert(time >= 0 && isfinite(time));
		exponential += time;
	}
	/* five standard deviations */
	cr_assert_lt(fabs(sum / N - 0.5), 5 * sqrt(1.0 / 12 / N));
	cr_assert_lt(fabs(exponential / N - 3), 5 * 3 / sqrt(N));
	cr_assert_lt(fabs(ones / 64.0 / N - 0.5), 5 * 0.5 / sqrt(64.0 * N));
	for (int i = 0; i < 7; i++) {
		cr_assert_lt(fabs(by_draw[i] - N / 7.0), 5 * sqrt(N * 6 / 49.0));
		cr_assert_lt(fabs(by_item[i] - N / 7.0), 5 * sqrt(N * 6 / 49.0));
	}
}
