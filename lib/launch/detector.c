/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/detector.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "event/schedule.h"

enum { OFFSETS_MAX = 64 };
enum { TIMEOUT, NEWS, HELLO };

/* Of a node. */
struct watch {
	uint32_t emitter;    /* whom it observes */
	uint32_t generation; /* of that: timeouts of earlier ones do not count */
	double port_us;	     /* it can send again */
	uint32_t n_news;
};

struct run {
	const struct fab_detector *d;
	const struct fab_failure *failures;
	uint32_t f, n_offsets;
	uint32_t offset[OFFSETS_MAX]; /* of those that news go to, in this order */
	double *dies_us;	      /* [n] INFINITY: never */
	uint32_t *number;	      /* [n] of the failure, FAB_NONE */
	struct watch *watch;	      /* [n] */
	double *knows_us; /* [f * n] when a node hears of a failure, as far as is known */
	bool *knows;	  /* [f * n] */
	struct fab_schedule schedule; /* times are fab_time_of_seconds(), of us */
	struct fab_detection *out;
};

int fab_detector_check(const struct fab_detector *d, struct fab_err *err)
{
	const double all[] = {d->period_us, d->timeout_us, d->message_us};

	if (d->n < 2 || d->n > FAB_DETECTOR_NODES_MAX)
		return fab_fail(err, EINVAL, "%u nodes: expected 2 to %d", d->n,
				FAB_DETECTOR_NODES_MAX);
	for (size_t i = 0; i < FAB_COUNT(all); i++)
		if (!(all[i] > 0 && all[i] <= 1e15))
			return fab_fail(err, EINVAL,
					"%g us: expected a time above 0, at most 1e15",
					all[i]);
	if (d->timeout_us <= d->period_us + d->message_us)
		return fab_fail(err, EINVAL,
				"a timeout of %g us: expected more than %g us, a period "
				"and a message, or nodes that live are taken for dead",
				d->timeout_us, d->period_us + d->message_us);
	return 0;
}

double fab_detector_bound_us(const struct fab_detector *d, uint32_t f, bool *is_proven)
{
	double pairs = (double)f * (f + 1.0), log = log2(d->n);

	if (is_proven)
		*is_proven = f < floor(log);
	return pairs * d->timeout_us + f * d->message_us +
	       pairs / 2 * 8 * d->message_us * log;
}

double fab_detector_heartbeats(const struct fab_detector *d)
{
	return 1e6 / d->period_us;
}

/* Distances of those that news go to: powers of two on both sides, each node once. */
static uint32_t offsets(uint32_t n, uint32_t *out)
{
	uint32_t n_out = 0, far = 1;

	while (far < n && far << 1 < n)
		far <<= 1;
	for (; far; far /= 2)
		for (unsigned side = 0; side < 2; side++) {
			uint32_t offset = side ? n - far : far, i = 0;

			while (i < n_out && out[i] != offset)
				i++;
			if (i == n_out && offset % n)
				out[n_out++] = offset;
		}
	return n_out;
}

uint32_t fab_detector_degree(uint32_t n)
{
	uint32_t out[OFFSETS_MAX];

	return n < 2 ? 0 : offsets(n, out);
}

static bool lives(const struct run *r, uint32_t node, double now)
{
	return now < r->dies_us[node];
}

static void add(struct run *r, double time, uint8_t kind, uint32_t what, uint32_t node)
{
	fab_schedule_add(&r->schedule, fab_time_of_seconds(time), kind,
			 (uint64_t)what << 32 | node);
}

/* A message leaves when its sender is free: when it is there. */
static double send(struct run *r, uint32_t from, double now)
{
	struct watch *w = &r->watch[from];

	w->port_us = fmax(w->port_us, now) + r->d->message_us;
	return w->port_us;
}

/* When `node` misses heartbeats that it was sent from `since` on, every period. */
static void expect(struct run *r, uint32_t node, double since)
{
	struct watch *w = &r->watch[node];
	double dies = r->dies_us[w->emitter], last;

	if (isinf(dies))
		return;
	last = since + floor((dies - since) / r->d->period_us) * r->d->period_us;
	add(r, last + r->d->message_us + r->d->timeout_us, TIMEOUT, w->generation, node);
}

/* Observe the next one before that is not known to be dead. */
static void observe_next(struct run *r, uint32_t node, double now)
{
	struct watch *w = &r->watch[node];
	uint32_t e = w->emitter;

	while (r->number[e] != FAB_NONE &&
	       r->knows[(size_t)r->number[e] * r->d->n + node] && e != node)
		e = e ? e - 1 : r->d->n - 1;
	w->emitter = e;
	w->generation++;
	if (e == node) /* alone */
		return;
	add(r, send(r, node, now), HELLO, node, e);
	if (!isinf(r->dies_us[e])) /* who lives answers in time */
		add(r, now + 2 * r->d->timeout_us, TIMEOUT, w->generation, node);
}

/* A node knows now of a failure: it tells others, and looks after its own. */
static void learn(struct run *r, uint32_t node, uint32_t failure, double now)
{
	bool *knows = &r->knows[(size_t)failure * r->d->n + node];
	struct watch *w = &r->watch[node];

	if (*knows || !lives(r, node, now))
		return;
	*knows = true;
	if (r->out->first_us < 0)
		r->out->first_us = now;
	if (isinf(r->dies_us[node]))
		r->out->stable_us = fmax(r->out->stable_us, now);
	for (uint32_t i = 0; i < r->n_offsets; i++) {
		uint32_t to = (uint32_t)(((uint64_t)node + r->offset[i]) % r->d->n);
		double *best = &r->knows_us[(size_t)failure * r->d->n + to];
		double there = send(r, node, now);

		if (!lives(r, node, there - r->d->message_us))
			break;
		w->n_news++;
		if (there < *best) { /* nobody looks at what comes later */
			*best = there;
			add(r, there, NEWS, failure, to);
		}
	}
	if (w->emitter == r->failures[failure].node)
		observe_next(r, node, now);
}

static void on_timeout(struct run *r, uint32_t generation, uint32_t node, double now)
{
	struct watch *w = &r->watch[node];

	if (w->generation == generation && lives(r, node, now))
		learn(r, node, r->number[w->emitter], now);
}

/* `node` has a new observer, to which it sends heartbeats from now on. */
static void on_hello(struct run *r, uint32_t observer, uint32_t node, double now)
{
	if (!lives(r, node, now) || r->watch[observer].emitter != node)
		return;
	if (isinf(r->dies_us[node]) && isinf(r->dies_us[observer]))
		r->out->repaired_us = fmax(r->out->repaired_us, now);
	r->watch[observer].generation++; /* the first heartbeat is on its way */
	expect(r, observer, now);
}

static void follow(struct run *r)
{
	struct fab_due due;

	for (uint32_t i = 0; i < r->d->n; i++) {
		r->watch[i].emitter = i ? i - 1 : r->d->n - 1;
		expect(r, i, 0);
	}
	while (fab_schedule_take(&r->schedule, &due)) {
		uint32_t node = (uint32_t)due.item, what = (uint32_t)(due.item >> 32);
		double now = fab_seconds_of_time(due.time);

		switch (fab_due_kind(&due)) {
		case TIMEOUT:
			on_timeout(r, what, node, now);
			break;
		case NEWS:
			learn(r, node, what, now);
			break;
		default:
			on_hello(r, what, node, now);
			break;
		}
	}
}

static int set_failures(struct run *r, struct fab_err *err)
{
	for (uint32_t i = 0; i < r->f; i++) {
		const struct fab_failure *x = &r->failures[i];

		if (x->node >= r->d->n)
			return fab_fail(err, EINVAL, "node %u: there are %u, 0 to %u",
					x->node, r->d->n, r->d->n - 1);
		if (r->number[x->node] != FAB_NONE)
			return fab_fail(err, EINVAL, "node %u fails twice", x->node);
		if (!(x->time_us >= 0 && x->time_us <= 1e15))
			return fab_fail(err, EINVAL,
					"node %u fails at %g us: expected 0 to 1e15",
					x->node, x->time_us);
		r->number[x->node] = i;
		r->dies_us[x->node] = x->time_us;
	}
	return 0;
}

static void sum_up(struct run *r)
{
	struct fab_detection *out = r->out;
	double start = INFINITY;

	for (uint32_t i = 0; i < r->f; i++)
		start = fmin(start, r->failures[i].time_us);
	for (uint32_t i = 0; i < r->d->n; i++) {
		out->news += r->watch[i].n_news;
		if (r->watch[i].n_news > out->most_news)
			out->most_news = r->watch[i].n_news;
	}
	for (size_t i = 0; i < (size_t)r->f * r->d->n; i++)
		if (!r->knows[i] && isinf(r->dies_us[i % r->d->n]))
			out->stable_us = INFINITY;
	out->first_us = fmax(out->first_us, 0);
	out->bound_us = fab_detector_bound_us(r->d, r->f, NULL);
	out->is_within = !r->f || out->stable_us - start <= out->bound_us;
}

int fab_detector_run(const struct fab_detector *d, const struct fab_failure *failures,
		     uint32_t f, struct fab_detection *out, struct fab_err *err)
{
	struct run r = {.d = d, .failures = failures, .f = f, .out = out};
	int rc = fab_detector_check(d, err);

	if (rc)
		return rc;
	if (f >= d->n || f > FAB_DETECTOR_FAILURES_MAX)
		return fab_fail(err, EINVAL,
				"%u failures of %u nodes: expected at most %u", f, d->n,
				d->n - 1 < FAB_DETECTOR_FAILURES_MAX
					? d->n - 1
					: FAB_DETECTOR_FAILURES_MAX);
	if ((uint64_t)f * d->n > FAB_DETECTOR_PAIRS_MAX)
		return fab_fail(
			err, ERANGE,
			"%u failures of %u nodes: expected at most %d pairs of both", f,
			d->n, FAB_DETECTOR_PAIRS_MAX);
	*out = (struct fab_detection){.first_us = -1};
	r.n_offsets = offsets(d->n, r.offset);
	r.dies_us = FAB_NEW(d->n, double);
	r.number = FAB_NEW(d->n, uint32_t);
	r.watch = FAB_NEW0(d->n, struct watch);
	r.knows_us = FAB_NEW((size_t)f * d->n + 1, double);
	r.knows = FAB_NEW0((size_t)f * d->n + 1, bool);
	for (uint32_t i = 0; i < d->n; i++) {
		r.dies_us[i] = INFINITY;
		r.number[i] = FAB_NONE;
	}
	for (size_t i = 0; i < (size_t)f * d->n; i++)
		r.knows_us[i] = INFINITY;
	rc = set_failures(&r, err);
	if (!rc) {
		follow(&r);
		sum_up(&r);
	}
	fab_schedule_fini(&r.schedule);
	free(r.dies_us);
	free(r.number);
	free(r.watch);
	free(r.knows_us);
	free(r.knows);
	return rc;
}

void fab_detector_place(uint32_t n, uint32_t f, bool is_near,
			struct fab_failure *failures)
{
	for (uint32_t i = 0; i < f; i++)
		failures[i] = (struct fab_failure){
			.node = is_near ? (i + 1) % n : (uint32_t)((uint64_t)i * n / f)};
}
