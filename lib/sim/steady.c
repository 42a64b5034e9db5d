/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When has a network settled? Throughput settles with the first packets; queues near
 * saturation do not: that of a cable with load rho takes about 2 / (1 - rho)^2 packet
 * times to forget that it began empty, and its mean wait is about w = 1 / (2 (1 - rho))
 * packet times (M/D/1), so that it takes 8 w^2: the more, the higher the latency has
 * become.
 */
#include "sim/steady.h"

#include <math.h>

enum {
	THROUGHPUT = 10, /* windows that must agree */
	GROWTH = 24,	 /* windows before growth without end is seen */
	PARTS = 8,	 /* of the windows; the last six are compared */
	FITTED = 6,
	RELAXATION = 16, /* packet times of a settled queue, times the wait squared */
};

/* Of the numbers 0 .. FITTED - 1: mean, and squares around it. */
static const double CENTRE = 2.5, SPREAD = 17.5;

/* Do the last windows carry the same, as far as chance lets them? */
static bool throughput_is_level(const struct sim_windows *w)
{
	const struct sim_window *last = w->of.v + w->of.n - THROUGHPUT;
	uint64_t low = UINT64_MAX, high = 0, bytes = 0, packets = 0;
	double noise;

	for (unsigned i = 0; i < THROUGHPUT; i++) {
		low = last[i].bytes < low ? last[i].bytes : low;
		high = last[i].bytes > high ? last[i].bytes : high;
		bytes += last[i].bytes;
		packets += last[i].packets;
	}
	/* four deviations of as many independent packets */
	noise = 4 / sqrt(packets ? (double)packets / THROUGHPUT : 1);
	return (double)(high - low) * THROUGHPUT <= fmax(0.01, noise) * (double)bytes;
}

/* Latency of windows: the last half, the quarter before, and how sure their difference
 * is. */
struct latency {
	double low;	      /* least of a window */
	double before, after; /* means */
	double deviation;     /* of their difference */
	double wire;	      /* packet time */
	bool is_known;
};

/* Mean latency of windows from ... to - 1; NaN: nothing arrived. */
static double mean(const struct sim_windows *w, size_t from, size_t to)
{
	double sum = 0, n = 0;

	for (size_t i = from; i < to; i++) {
		sum += w->of.v[i].latency;
		n += (double)w->of.v[i].packets;
	}
	return n > 0 ? sum / n : (double)NAN;
}

static struct latency latency_of(const struct sim_windows *w)
{
	size_t n = w->of.n;
	struct latency l = {.low = INFINITY,
			    .before = mean(w, n / 4, n / 2),
			    .after = mean(w, n / 2, n)};
	double part[FITTED], bytes = 0, packets = 0, sum = 0, slope = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		l.low = fmin(l.low, mean(w, i, i + 1));
		bytes += (double)w->of.v[i].bytes;
		packets += (double)w->of.v[i].packets;
	}
	for (size_t i = 0; i < FITTED; i++) {
		size_t k = i + PARTS - FITTED;

		part[i] = mean(w, n * k / PARTS, n * (k + 1) / PARTS);
		sum += part[i];
		slope += part[i] * ((double)i - CENTRE) / SPREAD;
	}
	for (size_t i = 0; i < FITTED; i++)
		squares += pow(part[i] - sum / FITTED - slope * ((double)i - CENTRE), 2);
	/* around a line, of which the difference of four parts and two is taken */
	l.deviation = sqrt(squares / (FITTED - 2) * (1.0 / 4 + 1.0 / 2));
	l.wire = packets > 0 ? w->per_byte * bytes / packets : 0;
	l.is_known = isfinite(squares);
	return l;
}

enum sim_steady sim_windows_judge(const struct sim_windows *w)
{
	const double t = 2.776; /* Student, 95 %, four degrees */
	double growth, wait, waited = (double)(w->of.n * w->ticks);
	struct latency l;

	if (w->of.n < THROUGHPUT || !throughput_is_level(w))
		return SIM_UNSETTLED;
	l = latency_of(w);
	if (!l.is_known) /* next to nothing is sent */
		return SIM_SETTLED;
	growth = l.after - l.before;
	if (growth + t * l.deviation <= 0.05 * l.after)
		return SIM_SETTLED;
	wait = l.wire > 0 ? (l.after - l.low) / l.wire : 0;
	if (growth <= fmax(0.01 * l.after, 2 * l.deviation) &&
	    waited >= RELAXATION * wait * wait * l.wire)
		return SIM_SETTLED;
	if (w->of.n >= GROWTH && l.after - l.low > 1.7 * (l.before - l.low) &&
	    l.after - l.low - 1.5 * (l.before - l.low) > 3 * l.deviation)
		return SIM_GROWING;
	return SIM_UNSETTLED;
}
