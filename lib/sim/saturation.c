/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is a flow saturated: does its backlog grow? Of each source: packets created and not
 * sent; of each receiver: packets created for it and not delivered; and of all of either
 * together.
 *
 * The backlog at the ends of the bins of the measured time is compared between the first
 * and the last quarter. A backlog that grows by itself is distinguished from one that
 * random arrivals moved by the spread of the bins: in a queue that is just full the
 * changes are independent, in one that is not they cancel each other, so that the test
 * errs on the side of "no". With n flows the level of each test is that of all, divided
 * by n (Bonferroni).
 */
#include "sim/saturation.h"

#include <math.h>
#include <string.h>

#include "event/stats.h"

static const double GROWTH = 0.01;    /* of what was created: less is not saturated */
static const double SUSTAINED = 0.35; /* of the growth, in the second half */
static const double LEVEL = 0.01;     /* probability of a wrong "yes" in a run */

enum {
	BINS_LEAST = 6,
	PACKETS_LEAST = 16, /* of a flow: fewer are judged with all others only */
	PACKETS_MOST = 3,   /* that a backlog may grow by */
	MANY = 64,	    /* flows: some of them always grow by a deviation */
	SETTLED = 4,	    /* idle latencies: bins that end before are left out */
};

enum verdict { NO, UNDECIDED, YES };

struct trend {
	double created, growth; /* packets */
	double noise;		/* of the growth, if all changes were random */
	double end;		/* backlog at the end */
	bool is_sustained, has_returned;
};

/* The bins that can be judged: from ... to - 1. */
struct span {
	unsigned from, to;
	double times; /* growth of this number of deviations is certain */
	double doubt; /* growth below this number is taken as random */
};

void sim_growth_reset(struct sim *s)
{
	if (s->flow)
		memset(s->flow, 0, 2 * (size_t)s->net.n_ends * sizeof(*s->flow));
}

static struct trend trend_of(const double *change, double created, struct span span)
{
	unsigned n = span.to - span.from, quarter = n / 4;
	struct trend t = {.created = created * n / SIM_BINS, .has_returned = false};
	double first = 0, last = 0, sum = 0, squares = 0, middle = 0, low = INFINITY;

	for (unsigned i = 0; i < n; i++) {
		double d = change[span.from + i];

		sum += d;
		squares += d * d;
		if (i < quarter)
			first += sum / quarter;
		if (i + 1 == n / 2)
			middle = sum;
		if (i + quarter < n)
			continue;
		last += sum / quarter;
		low = fmin(low, sum);
	}
	t.growth = (last - first) * n / (n - quarter);
	t.noise = sqrt(fmax((squares - sum * sum / n) * n / (n - 1), 1));
	t.end = sum;
	t.is_sustained = sum - middle >= SUSTAINED * t.growth;
	t.has_returned = low <= first + 1;
	return t;
}

static enum verdict judge(const struct trend *t, struct span span)
{
	if (t->growth <= GROWTH * t->created || t->growth <= PACKETS_MOST)
		return NO;
	if (t->is_sustained && t->growth > span.times * t->noise)
		return YES;
	return t->has_returned || t->growth < span.doubt * t->noise ? NO : UNDECIDED;
}

/* The bins that ended, but for those at the beginning in which the first packets may
 * still have been under way. */
static struct span span_of(const struct sim *s, const struct fab_sim_result *r,
			   uint64_t idle_latency)
{
	double bin = (double)s->params->time / SIM_BINS;
	double unsettled = (double)(SETTLED * idle_latency) - (double)s->begin;
	struct span span = {.to = (unsigned)((double)r->time / bin + 1e-9)};
	uint32_t tests = 2; /* all sources, all receivers */

	for (uint32_t i = 0; i < 2 * s->net.n_ends; i++)
		tests += s->flow[i].created >= PACKETS_LEAST;
	span.doubt = fmin((double)tests / MANY, 1);
	if (unsettled > 0)
		span.from = (unsigned)fmin(ceil(unsettled / bin), SIM_BINS);
	if (span.to > SIM_BINS)
		span.to = SIM_BINS;
	if (span.to >= span.from + BINS_LEAST)
		span.times = fab_student_above(LEVEL / tests, span.to - span.from - 1);
	return span;
}

static void take(struct fab_sim_growth *g, const struct trend *t, uint32_t end,
		 bool is_target)
{
	double share = t->growth / t->created;
	double carried = fmax(1 - t->end / t->created, 0);

	if (is_target)
		g->n_targets++;
	else
		g->n_sources++;
	if (carried < g->least_carried)
		g->least_carried = carried;
	if (is_target == g->worst_is_target && share < g->worst_share)
		return; /* a receiver is reported rather than its senders */
	g->worst = end;
	g->worst_is_target = is_target;
	g->worst_share = share;
}

/* All flows of one side: sources, or receivers. */
static enum verdict judge_side(const struct sim *s, struct span span, bool targets,
			       struct fab_sim_growth *g)
{
	const struct sim_flow *flow = s->flow + (targets ? s->net.n_ends : 0);
	double all[SIM_BINS] = {0}, created = 0;
	enum verdict verdict = NO, one;
	struct trend t;

	for (uint32_t e = 0; e < s->net.n_ends; e++) {
		double change[SIM_BINS];

		for (unsigned i = 0; i < SIM_BINS; i++) {
			change[i] = flow[e].change[i];
			all[i] += change[i];
		}
		created += flow[e].created;
		if (flow[e].created < PACKETS_LEAST)
			continue;
		t = trend_of(change, flow[e].created, span);
		one = judge(&t, span);
		if (one == YES)
			take(g, &t, e, targets);
		g->n_undecided += one == UNDECIDED;
		verdict = one > verdict ? one : verdict;
	}
	t = trend_of(all, created, span);
	one = judge(&t, span);
	if (created > 0)
		g->share = fmax(g->share, t.growth / t.created);
	g->packets = fmax(g->packets, created);
	return one > verdict ? one : verdict;
}

void sim_growth(const struct sim *s, uint64_t idle_latency, struct fab_sim_result *r)
{
	struct fab_sim_growth *g = &r->growth;
	struct span span;
	enum verdict sources, targets;

	*g = (struct fab_sim_growth){.worst = FAB_NONE, .least_carried = 1};
	if (!s->flow)
		return;
	span = span_of(s, r, idle_latency);
	if (span.to < span.from + BINS_LEAST || r->is_stalled) {
		r->is_undecided = true;
		return;
	}
	sources = judge_side(s, span, false, g);
	targets = judge_side(s, span, true, g);
	r->is_saturated = sources == YES || targets == YES;
	r->is_undecided =
		!r->is_saturated && (sources == UNDECIDED || targets == UNDECIDED ||
				     g->packets < PACKETS_LEAST);
}

/*
 * When has a network settled? Throughput settles with the first packets; queues near
 * saturation do not: that of a cable with load rho takes about 2 / (1 - rho)^2 packet
 * times to forget that it began empty, and its mean wait is about w = 1 / (2 (1 - rho))
 * packet times (M/D/1), so that it takes 8 w^2: the more, the higher the latency has
 * become.
 */
enum {
	THROUGHPUT = 10,    /* windows that must agree */
	WINDOWS_LEAST = 24, /* windows before growth without end is seen */
	PARTS = 8,	    /* of the windows; the last six are compared */
	FITTED = 6,
	RELAXATION = 16, /* packet times of a settled queue, times the wait squared */
};

/* Of the numbers 0 .. FITTED - 1: mean, and squares around it. */
static const double CENTRE = 2.5, SPREAD = 17.5;

/* Do the last windows carry the same, within random variation? */
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
	if (w->of.n >= WINDOWS_LEAST && l.after - l.low > 1.7 * (l.before - l.low) &&
	    l.after - l.low - 1.5 * (l.before - l.low) > 3 * l.deviation)
		return SIM_GROWING;
	return SIM_UNSETTLED;
}
