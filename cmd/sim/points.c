/* SPDX-License-Identifier: BSD-2-Clause */
/* Every rate by every algorithm, in several runs: simulated and summed. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "event/sweep.h"
#include "fabric_sim.h"

struct work {
	struct sim_params *p;
	struct sim_outcome *o;
	int n_threads;			   /* of one simulation */
	struct fab_cli_progress *progress; /* of the only simulation, else NULL */
};

/* What one simulation gave. */
struct simulated {
	bool was_run; /* not when it was interrupted before */
	struct fab_sim_result r;
	uint32_t unfinished;
	uint64_t n_left_out;
};

static uint64_t wire(const void *context, uint32_t end, uint32_t bytes, bool to_group)
{
	const struct work *w = ((const void *const *)context)[0];
	const struct sim_net *net = ((const void *const *)context)[1];

	return fab_sim_wire_ticks(&net->problem, &w->p->sim, end, bytes, to_group);
}

static struct fab_traffic_options how(const struct sim_params *p, double rate,
				      uint64_t seed)
{
	struct fab_traffic_options options = {
		.arrivals = p->is_closed		 ? FAB_ARRIVALS_CLOSED
			    : p->arrivals == SIM_POISSON ? FAB_ARRIVALS_POISSON
							 : FAB_ARRIVALS_BERNOULLI,
		.rate = rate,
		.window = p->window,
		.think = p->think,
		.size = p->size,
		.n_sizes = p->n_sizes,
		.mtu = p->sim.mtu,
		.in_ticks = p->tick == SIM_TICK_FLIT,
		.seed = seed};

	if (p->arrivals == SIM_BERNOULLI && p->tick == SIM_TICK_FLIT)
		options.slot = 1;
	return options;
}

/* The first run has the seed as it was given. */
static uint64_t seed_of(const struct sim_params *p, uint64_t run)
{
	return run ? fab_stream_at(p->run.seed, run, 0) : p->run.seed;
}

static int tick(void *context, uint64_t done, uint64_t total)
{
	const struct work *w = context;

	if (w->progress)
		fab_cli_progress_tick(w->progress, done, total);
	return fab_cli_is_interrupted(NULL);
}

static int simulate(struct work *w, const struct sim_net *net, double rate, uint64_t run,
		    struct simulated *out, struct fab_err *err)
{
	const struct sim_outcome *o = w->o;
	const void *wire_context[] = {w, net};
	const struct fab_traffic_problem problem = {
		.f = o->f,
		.kfat = o->kfat,
		.ends = &o->ends,
		.n_groups = o->groups ? o->groups->n : 0,
		.group_first = o->group_first,
		.group_end = o->group_end,
		.wire = wire,
		.wire_context = wire_context,
		.how = how(w->p, rate, seed_of(w->p, run))};
	struct fab_sim_params params = w->p->sim;
	struct fab_traffic traffic;
	int rc = fab_traffic_make(w->p->traffic, &problem, &traffic, err);

	if (rc)
		return rc;
	params.n_threads = w->n_threads;
	params.progress = tick;
	params.progress_context = w;
	rc = fab_sim_run(&net->problem, &params, &traffic.messages, &out->r, err);
	out->was_run = !rc;
	out->unfinished = rc ? 0 : fab_traffic_unfinished(&traffic);
	out->n_left_out = traffic.n_left_out;
	fab_traffic_fini(&traffic);
	return rc;
}

/* Which simulation an item of the sweep is: by algorithm, rate of the shard, and run. */
struct place {
	size_t net;
	uint64_t rate, run;
};

static struct place place_of(const struct sim_params *p, uint64_t item)
{
	uint64_t n_rates = fab_shard_items(&p->shard.part, p->n_rates);
	uint64_t point = item / p->runs;

	return (struct place){
		.net = (size_t)(point / n_rates),
		.rate = fab_shard_item(&p->shard.part, point % n_rates),
		.run = item % p->runs,
	};
}

/* Simulations take as long as there are packets: the higher the rate the more. */
static double cost(const void *context, uint64_t item)
{
	const struct work *w = context;
	double rate = w->p->rates[place_of(w->p, item).rate];

	return isnan(rate) ? 0 : rate;
}

static int work_on_item(void *context, void *memory, uint64_t item, void *result,
			struct fab_err *err)
{
	struct work *w = context;
	const struct place at = place_of(w->p, item);

	(void)memory;
	if (fab_cli_is_interrupted(NULL))
		return 0;
	return simulate(w, &w->o->nets[at.net], w->p->rates[at.rate], at.run, result,
			err);
}

static void add_times(struct sim_point *point, const struct fab_sim_result *r)
{
	fab_tally_add(&point->latency, r->latency_mean);
	fab_tally_add(&point->network, r->network_mean);
	fab_tally_add(&point->source_wait, r->source_wait_mean);
	fab_tally_add(&point->message_latency, r->message_latency_mean);
	fab_tally_add(&point->hops, r->hops_mean);
	fab_histogram_merge(&point->histogram, &r->latency);
	fab_histogram_merge(&point->message_histogram, &r->message_latency);
}

static void add_result(struct sim_point *point, const struct fab_sim_result *r)
{
	fab_tally_add(&point->born, r->offered);
	fab_tally_add(&point->accepted, r->accepted);
	fab_tally_add(&point->goodput, r->goodput);
	fab_tally_add(&point->backlog, (double)r->backlog);
	fab_tally_add(&point->end, (double)r->end);
	fab_tally_add(&point->measured, (double)r->time);
	if (r->latency.n)
		add_times(point, r);
	point->packets += r->delivered;
	point->packet_hops += r->packet_hops;
	point->events += r->events;
	point->unroutable += r->lost + r->unroutable;
	point->looped += r->looped;
	point->copied += r->copied;
	point->unknown_sl += r->unknown_sl;
	if (r->hops_max > point->hops_max)
		point->hops_max = r->hops_max;
	point->saturated += r->is_saturated;
	point->undecided += r->is_undecided;
	if (r->growth.least_carried < point->least_carried)
		point->least_carried = r->growth.least_carried;
	point->stalled += r->is_stalled;
	point->deadlocked += r->is_deadlocked;
	point->unsteady += !r->is_steady;
	point->cut += r->is_cut;
	point->stopped += r->is_stopped;
	point->credit_limited = r->credit_limited;
	point->simulate_seconds += r->simulate_seconds;
}

/* The last point, or a new one when this item is of another. */
static struct sim_point *point_of(struct work *w, const struct place *at)
{
	struct sim_outcome *o = w->o;
	const struct sim_point point = {.net = &o->nets[at->net],
					.rate = w->p->rates[at->rate],
					.number = at->rate,
					.least_carried = 1};
	struct sim_point *last = o->points.n ? &o->points.v[o->points.n - 1] : NULL;

	if (!last || last->net != point.net || last->number != point.number) {
		FAB_PUSH(&o->points, point);
		last = &o->points.v[o->points.n - 1];
	}
	return last;
}

static void drop_item(void *context, void *result)
{
	(void)context;
	fab_sim_result_fini(&((struct simulated *)result)->r);
}

/* Of a point with complete runs no run that was cut short counts. */
static void take_result(struct work *w, const struct place *at, struct simulated *s)
{
	struct sim_point *point = point_of(w, at);

	if (s->r.is_stopped && point->runs > point->stopped) {
		drop_item(w, s);
		return;
	}
	if (!s->r.is_stopped && point->stopped) {
		fab_sim_result_fini(&point->first);
		*point = (struct sim_point){
			.net = point->net, .rate = point->rate, .number = point->number};
	}
	add_result(point, &s->r);
	if (s->unfinished > point->unfinished)
		point->unfinished = s->unfinished;
	point->n_left_out = s->n_left_out;
	w->o->n_done += !s->r.is_stopped;
	if (!point->runs || (s->r.is_stalled && !point->first.is_stalled)) {
		fab_sim_result_fini(&point->first);
		point->first = s->r;
	} else {
		fab_sim_result_fini(&s->r);
	}
	point->runs++;
}

static void take_item(void *context, uint64_t item, void *result)
{
	struct work *w = context;
	const struct place at = place_of(w->p, item);
	struct simulated *s = result;

	if (s->was_run && s->r.is_stopped && !s->r.time)
		drop_item(context, result); /* nothing was measured */
	else if (s->was_run)
		take_result(w, &at, s);
}

/* Packets that are sent while a head is under way: threads work apart for so long. */
enum { LEAST_PACKETS_A_WINDOW = 256 };

/* Threads of one simulation: where they would wait for each other more than they work,
 * one is faster. */
static int inner_threads(const struct work *w, const struct fab_sweep *sweep)
{
	const struct fab_sim_params *s = &w->p->sim;
	double delay = (double)(s->switch_delay + s->cable_delay);
	double wire =
		(double)fab_sim_wire_ticks(&w->o->nets[0].problem, s, 0, s->mtu, false);

	if (delay / wire * w->o->ends.n < LEAST_PACKETS_A_WINDOW)
		return 1;
	return fab_sweep_inner_threads(sweep);
}

int sim_simulate(struct sim_params *p, struct sim_outcome *o, struct fab_err *err)
{
	struct work w = {.p = p, .o = o};
	struct fab_sweep sweep = {.what = "simulation",
				  .n_threads = p->run.threads,
				  .result_bytes = sizeof(struct simulated),
				  .context = &w,
				  .work = work_on_item,
				  .cost = cost,
				  .take = take_item,
				  .drop = drop_item};
	struct fab_cli_progress *progress;
	int rc;

	/* All algorithms and runs of a rate are in one shard: so shards have the same
	 * results, and merge. */
	rc = fab_cli_count_shard(&p->shard, p->n_rates, "points", err);
	if (rc)
		return rc;
	o->n_items = o->n_nets * fab_shard_items(&p->shard.part, p->n_rates) * p->runs;
	sweep.n_items = o->n_items;
	w.n_threads = inner_threads(&w, &sweep);
	progress = fab_cli_progress_new(&p->run, "simulating",
					o->n_items > 1 ? "simulations" : "ticks");
	if (o->n_items > 1) {
		sweep.progress = fab_cli_progress_tick;
		sweep.progress_context = progress;
	} else {
		w.progress = progress;
	}
	fab_cli_catch_interrupt();
	rc = fab_sweep_run(&sweep, err);
	fab_cli_progress_free(progress);
	o->was_interrupted = fab_cli_is_interrupted(NULL);
	if (rc && o->n_items == 1) { /* one of one need not be said */
		const char *text = strstr(err->text, ": ");

		if (text && !strncmp(err->text, "simulation ", 11))
			memmove(err->text, text + 2, strlen(text + 2) + 1);
	}
	return rc;
}
