/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of samples: means, spread, histograms, intervals. */
#pragma once

#include "base/macros.h"
#include "base/num.h"

/* Samples that are summed up, not kept. All zero: none. */
struct fab_tally {
	uint64_t n;
	double sum, min, max; /* min, max: undefined while n is 0 */
	double squares;	      /* of the distances from the mean */
};

/* O(1) (Welford 1962). */
void fab_tally_add(struct fab_tally *t, double sample);
/* NaN without samples. O(1). */
double fab_tally_mean(const struct fab_tally *t);
double fab_tally_max(const struct fab_tally *t);
/* Standard deviation of the population that the samples are from; NaN below two. O(1). */
double fab_tally_deviation(const struct fab_tally *t);

struct fab_interval {
	double low, high;
};

/* The share of intervals of 95 % that miss: what is meant by alpha here. */
#define FAB_ALPHA 0.05

/*
 * Where the mean of a normal population lies with probability 1 - alpha (Student's t).
 * Endless below two samples. 0 < alpha < 1. O(1).
 */
struct fab_interval fab_tally_interval(const struct fab_tally *t, double alpha);
/* Half of that of 95 %; NaN below two samples. O(1). */
double fab_tally_half(const struct fab_tally *t);
/*
 * Where the probability of an event lies that was seen `hits` times in `trials` > 0
 * (Wilson 1927): right for few hits, too. No hit: from 0; nothing but hits: to 1. O(1).
 */
struct fab_interval fab_wilson(uint64_t hits, uint64_t trials, double alpha);
/* The number that a standard normal variable exceeds with probability p, 0 < p < 1; to
 * some units of the last place. O(1). */
double fab_normal_above(double p);
/* The number that Student's t exceeds with probability p, with `freedom` >= 1 degrees; to
 * 1e-10 of it. O(1). */
double fab_student_above(double p, double freedom);

/*
 * Counts of integers in buckets of equal ratio: 0 .. 127 exactly, larger ones to less
 * than 1/64 of the value. 30 KiB whatever the samples.
 */
enum {
	FAB_HISTOGRAM_BITS = 6,
	FAB_HISTOGRAM_BUCKETS = (64 - FAB_HISTOGRAM_BITS + 1) << 6
};

struct fab_histogram {
	uint64_t n, max;
	uint64_t count[FAB_HISTOGRAM_BUCKETS];
};

/* The greatest value that a bucket counts. O(1). */
uint64_t fab_histogram_top(unsigned bucket);
/* Count a value. O(1). */
void fab_histogram_add(struct fab_histogram *h, uint64_t sample);
/* O(buckets). */
void fab_histogram_merge(struct fab_histogram *h, const struct fab_histogram *other);
/*
 * A value that the quantile q of the samples (base/num.h) does not exceed, and that
 * is less than 1/64 above it; the greatest sample for q = 1; 0 without samples.
 * O(buckets).
 */
uint64_t fab_histogram_quantile(const struct fab_histogram *h, double q);
