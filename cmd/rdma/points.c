/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma: every point of a sweep under every scheme, in several runs. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "base/threads.h"
#include "fabric_rdma.h"

/* Simulated by a thread, of many transfers at once. */
static const double HOPS_A_SECOND = 4e6;

/* What an axis changes. */
static void set_axis(struct rdma_point *x, enum rdma_axis axis, double v)
{
	x->at[axis] = v;
	switch (axis) {
	case RDMA_LOSS:
		x->sim.bad.loss = v;
		break;
	case RDMA_DROP_CONTROL:
		x->sim.bad.drop_control = v;
		break;
	case RDMA_DELAYED:
		x->sim.bad.delayed = v;
		break;
	case RDMA_DELAY_NS:
		x->sim.bad.delay_ps = (uint64_t)(v * 1000);
		break;
	case RDMA_SIZE:
		x->bytes = (uint64_t)v;
		break;
	case RDMA_MTU:
		x->sim.mtu = (uint32_t)v;
		break;
	case RDMA_WINDOW:
		x->sim.window = (uint32_t)v;
		break;
	case RDMA_SENDER_WINDOW:
		x->sim.sender_window = (uint32_t)v;
		break;
	case RDMA_RTO_NS:
		x->sim.rto_ps = (uint64_t)(v * 1000);
		break;
	case RDMA_CONTEXTS:
		x->sim.contexts = (uint32_t)v;
		break;
	case RDMA_AXES:
		break;
	}
}

/* What the options say where no axis does. */
static struct rdma_point base_point(const struct rdma_params *p)
{
	const struct fab_rdma_params *s = &p->sim;
	struct rdma_point x = {.bytes = p->bytes, .sim = p->sim};

	x.at[RDMA_LOSS] = s->bad.loss;
	x.at[RDMA_DROP_CONTROL] = s->bad.drop_control;
	x.at[RDMA_DELAYED] = s->bad.delayed;
	x.at[RDMA_DELAY_NS] = (double)s->bad.delay_ps / 1000;
	x.at[RDMA_SIZE] = (double)p->bytes;
	x.at[RDMA_MTU] = s->mtu;
	x.at[RDMA_WINDOW] = s->window;
	x.at[RDMA_SENDER_WINDOW] = s->sender_window;
	x.at[RDMA_RTO_NS] = (double)s->rto_ps / 1000;
	x.at[RDMA_CONTEXTS] = s->contexts;
	return x;
}

int rdma_make_points(const struct rdma_params *p, struct rdma_outcome *o,
		     struct fab_err *err)
{
	const struct rdma_point base = base_point(p);
	double all = 1;

	for (size_t a = 0; a < p->axes.n; a++)
		all *= (double)p->axes.v[a].n;
	if (all > RDMA_MAX_POINTS)
		return fab_fail(err, EINVAL, "--over: %.0f points are more than %d", all,
				RDMA_MAX_POINTS);
	o->n_points = (size_t)all;
	o->point = FAB_NEW(o->n_points, struct rdma_point);
	for (size_t i = 0; i < o->n_points; i++) {
		size_t rest = i;

		o->point[i] = base;
		/* the last axis changes fastest */
		for (size_t a = p->axes.n; a--; rest /= p->axes.v[a].n)
			set_axis(&o->point[i], p->axes.v[a].axis,
				 p->axes.v[a].v[rest % p->axes.v[a].n]);
	}
	return 0;
}

struct work {
	struct rdma_params *p;
	struct rdma_outcome *o;
	struct rdma_traffic traffic;
	struct fab_cli_progress *progress;
	uint64_t runs_before, all_runs;
	bool has_warned, has_foretold;
};

static int tick(void *context, uint64_t done, uint64_t total)
{
	const struct work *w = context;

	(void)total;
	fab_cli_progress_tick(w->progress, w->runs_before + done, w->all_runs);
	return fab_cli_is_interrupted(NULL);
}

/* What is said of a run of the first point, and warned of. */
static void look_at_first(struct work *w, const struct rdma_point *x)
{
	struct rdma_outcome *o = w->o;
	const struct rdma_traffic *t = &w->traffic;

	o->n_transfers = (uint32_t)t->transfers.of.n;
	o->n_left_out = t->transfers.n_left_out;
	o->n_priorities = t->transfers.n_priorities;
	o->n_no_path = fab_rdma_n_no_path(t->net);
	o->n_packets = rdma_traffic_packets(t, x->sim.mtu);
	o->round_trip_ps = fab_rdma_longest_round_trip(t->net);
	o->ideal_ps = fab_rdma_ideal(t->net, 0);
}

static void warn_of_timeout(struct work *w, const struct rdma_point *x,
			    const struct fab_rdma_load *load)
{
	uint64_t rto = x->sim.rto_ps, round_trip = w->o->round_trip_ps;
	char human[FAB_HUMAN_BYTES], than[FAB_HUMAN_BYTES];

	if (w->has_warned)
		return;
	w->has_warned = rto < round_trip || rto < fab_rdma_wait(load);
	fab_human_seconds((double)rto * 1e-12, human);
	if (rto < round_trip)
		fab_cli_warn(&w->p->run,
			     "a timeout of %s is below the base round trip of %s: every "
			     "packet will be sent twice",
			     human, fab_human_seconds((double)round_trip * 1e-12, than));
	else if (rto < fab_rdma_wait(load))
		fab_cli_warn(
			&w->p->run,
			"a timeout of %s is below the %s that packets wait for each "
			"other here: much will be sent twice",
			human,
			fab_human_seconds((double)fab_rdma_wait(load) * 1e-12, than));
}

static bool is_swept(const struct rdma_params *p, enum rdma_axis axis)
{
	for (size_t a = 0; a < p->axes.n; a++)
		if (p->axes.v[a].axis == axis)
			return true;
	return false;
}

uint32_t rdma_fitting_sender_window(const struct rdma_params *p,
				    const struct fab_rdma_net *net,
				    const struct fab_rdma_params *sim)
{
	uint64_t trip = fab_rdma_in_flight(net, sim);

	if (p->has_sender_window || trip <= sim->sender_window)
		return sim->sender_window;
	return trip < RDMA_MAX_SENDER_WINDOW ? (uint32_t)trip : RDMA_MAX_SENDER_WINDOW;
}

/* What nobody gave: a timeout that is above what packets wait for each other, an end that
 * is far behind that of the slowest, a window of ssw that lets it send all the time. */
static void set_missing(const struct work *w, struct rdma_point *x,
			const struct fab_rdma_load *load)
{
	if (!w->p->has_rto && !is_swept(w->p, RDMA_RTO_NS)) {
		x->sim.rto_ps = fab_rdma_fitting_timeout(load, x->sim.rto_ps);
		x->at[RDMA_RTO_NS] = (double)x->sim.rto_ps / 1000;
	}
	if (!x->sim.end_ps)
		x->sim.end_ps = fab_rdma_late_end(load, x->sim.rto_ps);
	if (is_swept(w->p, RDMA_SENDER_WINDOW))
		return;
	x->sim.sender_window = rdma_fitting_sender_window(w->p, w->traffic.net, &x->sim);
	x->at[RDMA_SENDER_WINDOW] = x->sim.sender_window;
}

/* What there is to do about too many transfers. */
static const char *fewer(const struct rdma_params *p)
{
	return strcmp(p->pattern, "alltoall") ? "--concurrency=16 has fewer at once"
					      : "--pattern=alltoall:16 takes a sample of "
						"them, each to 16 others";
}

/* Which case is the oracle, which all are compared with: behind the others, if nobody
 * asked for it. */
static uint32_t oracle_of(const struct rdma_outcome *o)
{
	uint32_t i = 0;

	while (i < o->n_schemes && o->scheme[i] != &fab_rdma_scheme_oracle)
		i++;
	return i;
}

static uint32_t count_cases(const struct rdma_outcome *o)
{
	return (uint32_t)o->n_schemes + (oracle_of(o) == o->n_schemes);
}

/* Before a run that the machine cannot hold, or that takes long. */
static int check_effort(struct work *w, const struct rdma_point *x, struct fab_err *err)
{
	static const double LONG_S = 120, MEMORY_SHARE = 0.6;
	const struct fab_rdma_effort effort = fab_rdma_effort(w->traffic.net, &x->sim);
	double runs = (double)count_cases(w->o) * (w->p->runs ? w->p->runs : 1);
	double threads = fmin(fab_threads(w->p->run.threads), runs);
	double seconds = effort.packet_hops * (runs / threads + 1) *
			 (double)w->o->n_items / HOPS_A_SECOND;
	char count[FAB_HUMAN_BYTES], need[FAB_HUMAN_BYTES], human[FAB_HUMAN_BYTES];

	fab_human_count(w->traffic.problem.n_transfers, count);
	if (effort.bytes * threads > MEMORY_SHARE * (double)fab_memory_bytes())
		return fab_fail(
			err, ENOMEM, "%s transfers take at least %s of memory%s: %s",
			count, fab_human_bytes((uint64_t)effort.bytes, need),
			threads > 1 ? " on each of several threads" : "", fewer(w->p));
	if (seconds > LONG_S && !w->has_foretold)
		fab_cli_warn(&w->p->run, "%s transfers: this takes about %s; %s", count,
			     fab_human_seconds(seconds, human), fewer(w->p));
	w->has_foretold = true;
	return 0;
}

/* Results of the schemes that were asked for; an oracle that was not is dropped. */
static void keep_results(struct work *w, struct rdma_point *x,
			 struct fab_rdma_summary *out, const uint64_t *bits,
			 double ideal_us, double seconds)
{
	struct rdma_outcome *o = w->o;

	x->is_there = true;
	for (uint32_t i = 0; i < o->n_schemes; i++)
		FAB_PUSH(&o->results,
			 ((struct rdma_result){.point = x,
					       .scheme = o->scheme[i],
					       .sum = out[i],
					       .standing = x->choice.standing[i],
					       .bits = bits[i],
					       .ideal_us = ideal_us,
					       .total_seconds = seconds}));
	if (count_cases(o) > o->n_schemes)
		fab_rdma_summary_fini(&out[o->n_schemes]);
}

/* Is there a run of each case? */
static bool has_runs(const struct fab_rdma_summary *out, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!out[i].n_runs)
			return false;
	return true;
}

static int choose(struct work *w, struct rdma_point *x, struct fab_err *err)
{
	struct rdma_outcome *o = w->o;
	struct fab_rdma_case cases[RDMA_MAX_SCHEMES + 1];
	struct fab_rdma_summary out[RDMA_MAX_SCHEMES + 1] = {{0}};
	uint64_t bits[RDMA_MAX_SCHEMES + 1];
	const struct fab_rdma_choice_question q = {
		.runs = {.of = cases,
			 .n_cases = count_cases(o),
			 .n_runs = w->p->runs,
			 .n_threads = w->p->run.threads,
			 .progress = tick,
			 .progress_context = w},
		.context_bits = bits,
		.max_events = RDMA_MAX_EVENTS / o->n_points,
		.n_claims = (uint32_t)o->n_points};
	double start = fab_now();
	struct fab_rdma_load load;
	int rc = fab_rdma_load(w->traffic.net, &x->sim, w->traffic.problem.n_transfers,
			       &load, err);

	if (rc)
		return rc;
	set_missing(w, x, &load);
	warn_of_timeout(w, x, &load);
	for (uint32_t i = 0; i < q.runs.n_cases; i++) {
		cases[i] = (struct fab_rdma_case){
			.net = w->traffic.net,
			.params = x->sim,
			.scheme =
				i < o->n_schemes ? o->scheme[i] : &fab_rdma_scheme_oracle,
			.baseline = oracle_of(o)};
		bits[i] = rdma_context_bits(w->p, &w->traffic, &x->sim, cases[i].scheme);
	}
	rc = fab_rdma_choose(&q, out, &x->choice, err);
	if (!rc || (rc == -ECANCELED && has_runs(out, q.runs.n_cases))) {
		keep_results(w, x, out, bits, load.mean_us, fab_now() - start);
		return rc;
	}
	for (uint32_t i = 0; i < q.runs.n_cases; i++)
		fab_rdma_summary_fini(&out[i]);
	return rc;
}

static int simulate_point(struct work *w, struct rdma_point *x, struct fab_err *err)
{
	int rc = check_effort(w, x, err);

	if (!rc)
		rc = choose(w, x, err);
	w->runs_before += rc ? 0 : (uint64_t)count_cases(w->o) * w->p->runs;
	return rc;
}

static int simulate_all(struct work *w, struct fab_err *err)
{
	struct rdma_outcome *o = w->o;
	const struct fab_shard *shard = &w->p->shard.part;
	int rc = 0;

	for (uint64_t i = 0; i < o->n_items && !rc; i++) {
		struct rdma_point *x = &o->point[fab_shard_item(shard, i)];

		if (i && w->traffic.bytes != x->bytes)
			rdma_traffic_fini(&w->traffic);
		if (!w->traffic.net)
			rc = rdma_traffic_init(&w->traffic, &o->net, x->bytes, &x->sim,
					       err);
		if (!rc && !i)
			look_at_first(w, x);
		if (!rc)
			rc = simulate_point(w, x, err);
		o->n_done += !rc;
	}
	return rc;
}

int rdma_simulate(struct rdma_params *p, struct rdma_outcome *o, struct fab_err *err)
{
	struct work w = {.p = p, .o = o};
	int rc = fab_cli_count_shard(&p->shard, o->n_points, "points", err);

	if (rc)
		return rc;
	o->n_items = fab_shard_items(&p->shard.part, o->n_points);
	w.all_runs = o->n_items * count_cases(o) * p->runs;
	w.progress = fab_cli_progress_new(&p->run, "simulating", "runs");
	fab_cli_catch_interrupt();
	rc = simulate_all(&w, err);
	fab_cli_progress_free(w.progress);
	rdma_traffic_fini(&w.traffic);
	o->was_interrupted = fab_cli_is_interrupted(NULL);
	return rc == -ECANCELED && o->results.n ? 0 : rc;
}

const struct rdma_result *rdma_result_of(const struct rdma_outcome *o,
					 const struct rdma_point *point,
					 const struct fab_rdma_scheme *scheme)
{
	for (size_t i = 0; i < o->results.n; i++)
		if (o->results.v[i].point == point && o->results.v[i].scheme == scheme)
			return &o->results.v[i];
	return NULL;
}

void rdma_outcome_fini(struct rdma_outcome *o)
{
	for (size_t i = 0; i < o->results.n; i++)
		fab_rdma_summary_fini(&o->results.v[i].sum);
	free(o->results.v);
	free(o->point);
	rdma_network_fini(&o->net);
}
