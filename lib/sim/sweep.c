/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sweep of simulations. Items are by network, rate of the shard, and run; results are
 * taken in that order into the point of their network and rate.
 */
#include "sim/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "event/stream.h"

/* Packets sent while a head is under way, from which on threads pay in one simulation. */
enum { LEAST_PACKETS_A_WINDOW = 256 };

/* Sums of the point that is being taken. */
struct tallies {
	struct fab_tally born, accepted, goodput, latency, network, source_wait;
	struct fab_tally message, hops, backlog, end, measured;
	uint64_t n_stalled, n_deadlocked, n_unsteady;
};

struct work {
	const struct fab_sim_sweep *s;
	struct fab_sim_points *out;
	struct tallies t;
	size_t first; /* points of sweeps before */
	bool is_finite;
	int n_threads; /* of one simulation */
};

struct item {
	bool was_run; /* not after an interrupt */
	struct fab_sim_result r;
	uint32_t unfinished;
};

struct place {
	uint32_t net;
	uint64_t rate, run;
};

static struct place place_of(const struct fab_sim_sweep *s, uint64_t item)
{
	uint64_t n_rates = fab_shard_items(&s->shard, s->n_rates);
	uint64_t point = item / s->runs;

	return (struct place){.net = (uint32_t)(point / n_rates),
			      .rate = fab_shard_item(&s->shard, point % n_rates),
			      .run = item % s->runs};
}

static int tick(void *context, uint64_t done, uint64_t total)
{
	const struct fab_sim_sweep *s = ((const struct work *)context)->s;

	if (((const struct work *)context)->out->n_items == 1 && s->progress)
		s->progress(s->progress_context, done, total);
	return s->is_interrupted && s->is_interrupted(NULL);
}

static int simulate(void *context, void *memory, uint64_t number, void *result,
		    struct fab_err *err)
{
	struct work *w = context;
	const struct fab_sim_sweep *s = w->s;
	const struct place at = place_of(s, number);
	const struct fab_sim_wires wires = {s->nets[at.net], &s->params};
	struct fab_traffic_problem problem = s->problem;
	struct fab_sim_params params = s->params;
	struct item *item = result;
	FAB_AUTO(fab_traffic_fini) struct fab_traffic traffic = {0};
	int rc;

	(void)memory;
	if (s->is_interrupted && s->is_interrupted(NULL))
		return 0;
	problem.wire = fab_sim_wire;
	problem.wire_context = &wires;
	problem.how.rate = s->rates[at.rate];
	/* the first run has the given seed */
	problem.how.seed = at.run ? fab_stream_at(s->seed, at.run, 0) : s->seed;
	rc = fab_traffic_make(s->traffic, &problem, &traffic, err);
	if (rc)
		return rc;
	params.n_threads = w->n_threads;
	params.seed = problem.how.seed;
	params.progress = tick;
	params.progress_context = w;
	rc = fab_sim_run(wires.net, &params, &traffic.messages, &item->r, err);
	item->was_run = !rc;
	item->unfinished = rc ? 0 : fab_traffic_unfinished(&traffic);
	return rc;
}

static void set_quantiles(const struct fab_histogram *h, double unit, double *p50,
			  double *p99, double *max)
{
	*p50 = h->n ? (double)fab_histogram_quantile(h, 0.5) / unit : (double)NAN;
	*p99 = h->n ? (double)fab_histogram_quantile(h, 0.99) / unit : (double)NAN;
	*max = h->n ? (double)fab_histogram_quantile(h, 1) / unit : (double)NAN;
}

/* Means and intervals of the last point. */
static void finish(struct work *w)
{
	struct fab_sim_points *out = w->out;
	const struct tallies *t = &w->t;
	double unit = w->s->unit;
	struct fab_sim_point *x;
	struct fab_sim_summary *s;

	if (out->of.n == w->first)
		return;
	x = &out->of.v[out->of.n - 1];
	s = &x->sum;
	s->n_vls = x->first.n_vls;
	s->born = fab_tally_mean(&t->born);
	s->accepted = fab_tally_mean(&t->accepted);
	s->accepted_ci95 = fab_tally_half(&t->accepted);
	s->goodput = fab_tally_mean(&t->goodput);
	s->hops_mean = fab_tally_mean(&t->hops);
	s->backlog = (uint64_t)fmax(fab_tally_mean(&t->backlog), 0);
	s->end = fab_tally_mean(&t->end) / unit;
	s->measured = fab_tally_mean(&t->measured) / unit;
	s->saturated = s->n_saturated == s->runs	  ? 1
		       : s->n_saturated || s->n_undecided ? UINT64_MAX
							  : 0;
	s->is_deadlocked = t->n_deadlocked > 0;
	s->is_stalled = t->n_stalled > 0;
	s->is_steady = !t->n_unsteady;
	s->is_stopped = s->n_stopped > 0;
	s->completion = w->is_finite && !s->unfinished && !s->unroutable && !s->looped &&
					!s->dropped && !s->trimmed && !s->is_stalled &&
					!s->is_stopped
				? s->end
				: (double)NAN;
	s->latency_mean = fab_tally_mean(&t->latency) / unit;
	s->latency_ci95 = fab_tally_half(&t->latency) / unit;
	s->network_mean = fab_tally_mean(&t->network) / unit;
	s->source_wait_mean = fab_tally_mean(&t->source_wait) / unit;
	s->message_mean = fab_tally_mean(&t->message) / unit;
	set_quantiles(&x->latency, unit, &s->latency_p50, &s->latency_p99,
		      &s->latency_max);
	set_quantiles(&x->message_latency, unit, &s->message_p50, &s->message_p99,
		      &s->message_max);
	if (s->n_saturated)
		s->latency_mean = s->latency_p50 = s->latency_p99 = s->latency_max =
			s->latency_ci95 = s->network_mean = s->source_wait_mean =
				s->message_mean = s->message_p50 = s->message_p99 =
					s->message_max = NAN;
}

/* An empty point. */
static void begin(struct work *w, const struct place *at, struct fab_sim_point *x)
{
	w->t = (struct tallies){.n_stalled = 0};
	*x = (struct fab_sim_point){.net = at->net,
				    .sum = {.rate = w->s->rates[at->rate],
					    .number = at->rate,
					    .traffic = w->s->traffic,
					    .buffer = w->s->params.buffer,
					    .least_carried = 1}};
}

static void add_result(struct tallies *t, struct fab_sim_summary *s,
		       const struct fab_sim_result *r)
{
	fab_tally_add(&t->born, r->offered);
	fab_tally_add(&t->accepted, r->accepted);
	fab_tally_add(&t->goodput, r->goodput);
	fab_tally_add(&t->backlog, (double)r->backlog);
	fab_tally_add(&t->end, (double)r->end);
	fab_tally_add(&t->measured, (double)r->time);
	if (r->latency.n) {
		fab_tally_add(&t->latency, r->latency_mean);
		fab_tally_add(&t->network, r->network_mean);
		fab_tally_add(&t->source_wait, r->source_wait_mean);
		fab_tally_add(&t->message, r->message_latency_mean);
		fab_tally_add(&t->hops, r->hops_mean);
	}
	t->n_stalled += r->is_stalled;
	t->n_deadlocked += r->is_deadlocked;
	t->n_unsteady += !r->is_steady;
	s->packets += r->delivered;
	s->packet_hops += r->packet_hops;
	s->events += r->events;
	s->unroutable += r->lost + r->unroutable;
	s->looped += r->looped;
	s->dropped += r->dropped;
	s->trimmed += r->trimmed;
	s->marked += r->marked;
	s->copied += r->copied;
	s->unknown_sl += r->unknown_sl;
	if (r->hops_max > s->hops_max)
		s->hops_max = r->hops_max;
	s->n_saturated += r->is_saturated;
	s->n_undecided += r->is_undecided;
	s->n_cut += r->is_cut;
	s->n_stopped += r->is_stopped;
	s->least_carried = fmin(s->least_carried, r->growth.least_carried);
	s->credit_limited = r->credit_limited;
	s->simulate_seconds += r->simulate_seconds;
}

static void drop(void *context, void *result)
{
	(void)context;
	fab_sim_result_fini(&((struct item *)result)->r);
}

static void take(void *context, uint64_t number, void *result)
{
	struct work *w = context;
	const struct place at = place_of(w->s, number);
	struct item *item = result;
	struct fab_sim_result *r = &item->r;
	struct fab_sim_point *x;

	if (!item->was_run)
		return;
	if (r->is_stopped && !r->time) { /* nothing was measured */
		drop(w, result);
		return;
	}
	x = w->out->of.n > w->first ? &w->out->of.v[w->out->of.n - 1] : NULL;
	if (!x || x->net != at.net || x->sum.number != at.rate) {
		finish(w);
		FAB_RESERVE(&w->out->of, 1);
		x = &w->out->of.v[w->out->of.n++];
		begin(w, &at, x);
	}
	if (r->is_stopped && x->sum.runs > x->sum.n_stopped) {
		drop(w, result);
		return;
	}
	if (!r->is_stopped && x->sum.n_stopped) { /* a complete run replaces others */
		fab_sim_result_fini(&x->first);
		begin(w, &at, x);
	}
	add_result(&w->t, &x->sum, r);
	fab_histogram_merge(&x->latency, &r->latency);
	fab_histogram_merge(&x->message_latency, &r->message_latency);
	if (item->unfinished > x->sum.unfinished)
		x->sum.unfinished = item->unfinished;
	w->out->n_done += !r->is_stopped;
	if (!x->sum.runs++ || (r->is_stalled && !x->first.is_stalled)) {
		fab_sim_result_fini(&x->first);
		x->first = *r;
	} else {
		drop(w, result);
	}
}

int fab_sim_sweep(const struct fab_sim_sweep *s, struct fab_sim_points *out,
		  struct fab_err *err)
{
	const struct fab_traffic_kind *kind = NULL;
	struct work w = {.s = s, .out = out, .first = out->of.n};
	struct fab_sweep sweep = {.what = "simulation",
				  .n_threads = s->n_threads,
				  .result_bytes = sizeof(struct item),
				  .context = &w,
				  .work = simulate,
				  .take = take,
				  .drop = drop};
	const char *argument;
	double delay, packet;
	int rc = fab_traffic_check(s->traffic, &kind, &argument, err);

	if (rc)
		return rc;
	w.is_finite = kind->is_finite;
	sweep.n_items = s->n_nets * fab_shard_items(&s->shard, s->n_rates) * s->runs;
	out->n_items += sweep.n_items;
	if (out->n_items > 1) {
		sweep.progress = s->progress;
		sweep.progress_context = s->progress_context;
	}
	delay = (double)(s->params.switch_delay + s->params.cable_delay);
	packet = (double)fab_sim_wire(&(struct fab_sim_wires){s->nets[0], &s->params}, 0,
				      s->params.mtu, false);
	w.n_threads = delay / packet * s->problem.ends->n < LEAST_PACKETS_A_WINDOW
			      ? 1
			      : fab_sweep_inner_threads(&sweep);
	rc = fab_sweep_run(&sweep, err);
	finish(&w);
	return rc;
}

void fab_sim_points_fini(struct fab_sim_points *points)
{
	for (size_t i = 0; i < points->of.n; i++)
		fab_sim_result_fini(&points->of.v[i].first);
	free(points->of.v);
}
