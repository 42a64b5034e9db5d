/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/stats.h"

#include <math.h>

void fab_tally_add(struct fab_tally *t, double sample)
{
	double from = t->n ? sample - t->sum / (double)t->n : 0;

	if (!t->n || sample < t->min)
		t->min = sample;
	if (!t->n || sample > t->max)
		t->max = sample;
	t->n++;
	t->sum += sample;
	t->squares += from * (sample - t->sum / (double)t->n);
}

double fab_tally_mean(const struct fab_tally *t)
{
	return t->n ? t->sum / (double)t->n : (double)NAN;
}

double fab_tally_max(const struct fab_tally *t)
{
	return t->n ? t->max : (double)NAN;
}

double fab_tally_deviation(const struct fab_tally *t)
{
	return t->n > 1 ? sqrt(t->squares / (double)(t->n - 1)) : (double)NAN;
}

struct fab_interval fab_tally_interval(const struct fab_tally *t, double alpha)
{
	double mean = fab_tally_mean(t), half;

	if (t->n < 2)
		return (struct fab_interval){-INFINITY, INFINITY};
	half = fab_student_above(alpha / 2, (double)(t->n - 1)) * fab_tally_deviation(t) /
	       sqrt((double)t->n);
	return (struct fab_interval){mean - half, mean + half};
}

double fab_tally_half(const struct fab_tally *t)
{
	struct fab_interval i = fab_tally_interval(t, FAB_ALPHA);

	return t->n > 1 ? (i.high - i.low) / 2 : (double)NAN;
}

struct fab_interval fab_wilson(uint64_t hits, uint64_t trials, double alpha)
{
	double n = (double)trials, p = (double)hits / n;
	double z = fab_normal_above(alpha / 2);
	double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
	double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

	return (struct fab_interval){hits ? middle - half : 0,
				     hits < trials ? middle + half : 1};
}

/* Newton's steps on the logarithm, kept in an interval that closes. p <= 0.5: erfc loses
 * nothing there. */
static double upper_half(double p)
{
	double low = 0, high = 39, x = 0; /* the least double p is exceeded by no more */

	for (int i = 0; i < 200; i++) {
		double above = 0.5 * erfc(x * M_SQRT1_2);
		double density = exp(-x * x / 2) * M_SQRT1_2 / sqrt(M_PI);
		double next = x + above / density * log(above / p);

		if (above < p)
			high = x;
		else
			low = x;
		if (!(next >= low && next <= high))
			next = (low + high) / 2;
		if (fabs(next - x) <= 1e-16 * x)
			return next;
		x = next;
	}
	return x;
}

double fab_normal_above(double p)
{
	return p <= 0.5 ? upper_half(p) : -upper_half(1 - p);
}

/*
 * The incomplete beta function's continued fraction (Abramowitz, Stegun 26.5.8) by the
 * method of Lentz (1976).
 */
static double beta_fraction(double a, double b, double x)
{
	double tiny = 1e-300, c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step = 1;

		for (int k = 0; k < 2; k++) {
			double term = k ? odd : even;

			d = 1 + term * d;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = 1 + term / c;
			c = fabs(c) < tiny ? tiny : c;
			step *= c * d;
			f *= c * d;
		}
		if (fabs(step - 1) < 1e-16)
			break;
	}
	return f;
}

/* Regularised: 0 at x = 0, 1 at x = 1. */
static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
					 : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double fab_student_above(double p, double freedom)
{
	double both = 2 * (p < 0.5 ? p : 1 - p), low = 0, high = 1, t;

	/* `both` is the probability of |t| or more: of x = freedom / (freedom + t^2) or
	 * less */
	for (;;) {
		double x = (low + high) / 2;

		if (x <= low || x >= high)
			break;
		if (incomplete_beta(freedom / 2, 0.5, x) < both)
			low = x;
		else
			high = x;
	}
	t = sqrt(freedom * (1 - high) / high);
	return p < 0.5 ? t : -t;
}

/* Values below 2^7 have a bucket each, of each power of two above 2^6 buckets share. */
static unsigned bucket_of(uint64_t x)
{
	unsigned shift = 0;

	if (x >> (FAB_HISTOGRAM_BITS + 1))
		shift = 63 - (unsigned)__builtin_clzll(x) - FAB_HISTOGRAM_BITS;
	return (shift << FAB_HISTOGRAM_BITS) + (unsigned)(x >> shift);
}

uint64_t fab_histogram_top(unsigned bucket)
{
	unsigned shift = bucket >> FAB_HISTOGRAM_BITS;
	uint64_t mantissa;

	shift -= shift > 0;
	mantissa = bucket - ((uint64_t)shift << FAB_HISTOGRAM_BITS);
	return (mantissa << shift) + (((uint64_t)1 << shift) - 1);
}

void fab_histogram_add(struct fab_histogram *h, uint64_t sample)
{
	h->n++;
	h->count[bucket_of(sample)]++;
	if (sample > h->max)
		h->max = sample;
}

void fab_histogram_merge(struct fab_histogram *h, const struct fab_histogram *o)
{
	h->n += o->n;
	h->max = o->max > h->max ? o->max : h->max;
	for (unsigned i = 0; i < FAB_HISTOGRAM_BUCKETS; i++)
		h->count[i] += o->count[i];
}

uint64_t fab_histogram_quantile(const struct fab_histogram *h, double q)
{
	uint64_t left;

	if (!h->n)
		return 0;
	left = fab_quantile_rank(q, h->n);
	for (unsigned i = 0; i < FAB_HISTOGRAM_BUCKETS; i++) {
		if (left < h->count[i])
			return fab_histogram_top(i) < h->max ? fab_histogram_top(i)
							     : h->max;
		left -= h->count[i];
	}
	return h->max;
}
