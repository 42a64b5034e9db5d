/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said of one rate by one algorithm. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/human.h"
#include "base/mem.h"
#include "fabric/label.h"
#include "fabric_sim.h"

char *sim_time_text(const struct sim_params *p, double ticks, char *out)
{
	if (!isfinite(ticks))
		snprintf(out, FAB_HUMAN_BYTES, "unknown");
	else if (p->tick == SIM_TICK_FLIT)
		snprintf(out, FAB_HUMAN_BYTES, "%.4g flit times", ticks);
	else
		fab_human_seconds(ticks * 1e-12, out);
	return out;
}

uint64_t sim_is_saturated(const struct sim_point *x)
{
	if (x->saturated == x->runs)
		return 1;
	return x->saturated || x->undecided ? FAB_UNKNOWN : 0;
}

char *sim_saturation_text(const struct sim_outcome *o, const struct sim_point *x)
{
	const struct fab_sim_growth *g = &x->first.growth;
	uint32_t others = g->n_sources + g->n_targets - 1;
	char *more, *text;

	if (!x->saturated && !x->undecided)
		return NULL;
	if (x->saturated && x->saturated < x->runs)
		return fab_format("in %u of %u runs a backlog grows", x->saturated,
				  x->runs);
	if (!x->saturated && x->stalled)
		return fab_strdup("nothing moved any more");
	if (!x->saturated && x->undecided < x->runs)
		return fab_format("in %u of %u runs a backlog grew, within what random "
				  "arrivals cause in this time (--time)",
				  x->undecided, x->runs);
	if (!x->saturated && g->n_undecided)
		return fab_format("the backlog of %u host%s grew, within what random "
				  "arrivals cause in this time (--time)",
				  g->n_undecided, g->n_undecided == 1 ? "" : "s");
	if (!x->saturated)
		return fab_strdup("the measured time is too short (--time)");
	if (g->worst == FAB_NONE)
		return fab_format("the backlog of all hosts together grows by %.0f %% of "
				  "what they create",
				  100 * g->share);
	more = others ? fab_format(", and %u more grow%s", others, others == 1 ? "s" : "")
		      : fab_strdup("");
	text = fab_format("the backlog of packets %s %s grows by %.0f %% of those "
			  "created%s",
			  g->worst_is_target ? "to" : "from",
			  fab_node_name(o->f, o->f->port_node[o->ends.port[g->worst]]),
			  100 * g->worst_share, more);
	free(more);
	return text;
}

/* Half of the interval of 95 %; NaN: one run has none. */
static double half_interval(const struct fab_tally *t)
{
	struct fab_interval i = fab_tally_interval(t, FAB_ALPHA);

	return t->n > 1 ? (i.high - i.low) / 2 : (double)NAN;
}

static double quantile(const struct sim_params *p, const struct fab_histogram *h,
		       double q)
{
	return h->n ? sim_time(p, (double)fab_histogram_quantile(h, q)) : (double)NAN;
}

static void set_times(struct sim_row *row, const struct sim_params *p,
		      const struct sim_point *x)
{
	row->latency_mean = sim_time(p, fab_tally_mean(&x->latency));
	row->latency_p50 = quantile(p, &x->histogram, 0.5);
	row->latency_p99 = quantile(p, &x->histogram, 0.99);
	row->latency_max = quantile(p, &x->histogram, 1);
	row->latency_ci95 = sim_time(p, half_interval(&x->latency));
	row->network_mean = sim_time(p, fab_tally_mean(&x->network));
	row->source_wait_mean = sim_time(p, fab_tally_mean(&x->source_wait));
	row->message_mean = sim_time(p, fab_tally_mean(&x->message_latency));
	row->message_p50 = quantile(p, &x->message_histogram, 0.5);
	row->message_p99 = quantile(p, &x->message_histogram, 0.99);
	row->message_max = quantile(p, &x->message_histogram, 1);
	row->measured = sim_time(p, fab_tally_mean(&x->measured));
	row->interrupted = x->stopped > 0;
	if (x->saturated)
		row->latency_mean = row->latency_p50 = row->latency_p99 =
			row->latency_max = row->latency_ci95 = row->network_mean =
				row->source_wait_mean = row->message_mean =
					row->message_p50 = row->message_p99 =
						row->message_max = NAN;
	row->completion = NAN;
	if (p->traffic_kind->is_finite && !x->unfinished && !x->unroutable &&
	    !x->looped && !x->stalled && !x->stopped)
		row->completion = sim_time(p, fab_tally_mean(&x->end));
}

static void set_cables(struct sim_row *row, const struct sim_outcome *o,
		       const struct sim_point *x)
{
	struct fab_sim_cause cause = fab_sim_cause(&x->first);

	row->max_utilisation = row->mean_utilisation = row->no_credit = NAN;
	row->waiting = row->waiting_for_credit = NAN;
	if (cause.cable == FAB_NONE)
		return;
	row->max_utilisation = x->first.cable[cause.cable].utilisation;
	row->mean_utilisation = x->first.utilisation_mean;
	row->cables_at_max = x->first.n_at_most;
	row->cause = fab_sim_cause_names[cause.kind];
	row->no_credit = cause.no_credit;
	row->waiting = cause.waiting;
	row->waiting_for_credit = cause.waiting_for_credit;
	if (cause.waits_at != FAB_NONE)
		row->waits_at = fab_cable_text(o->f, x->first.cable[cause.waits_at].port);
	row->fullest_text = fab_cable_text(o->f, x->first.cable[cause.cable].port);
	row->fullest = row->fullest_text;
}

void sim_row_init(struct sim_row *row, const struct sim_outcome *o,
		  const struct sim_point *x)
{
	const struct sim_params *p = o->p;

	*row = (struct sim_row){
		.algorithm = x->net->algorithm,
		.traffic = p->traffic,
		.switch_kind = p->sim.kind->name,
		.tick = p->tick == SIM_TICK_FLIT ? "flit" : "ps",
		.faults = o->dead->named.n,
		.vls = x->first.n_vls,
		.buffer = p->sim.buffer,
		.packet = p->sim.mtu,
		.runs = x->runs,
		.offered = x->rate,
		.born = fab_tally_mean(&x->born),
		.accepted_per_live_host = fab_tally_mean(&x->accepted),
		.accepted_per_host =
			fab_tally_mean(&x->accepted) * o->ends.n / o->n_all_ends,
		.accepted_ci95 = half_interval(&x->accepted),
		.goodput = fab_tally_mean(&x->goodput),
		.hops_mean = fab_tally_mean(&x->hops),
		.hops_max = x->hops_max,
		.backlog = (uint64_t)fmax(fab_tally_mean(&x->backlog), 0),
		.saturated = sim_is_saturated(x),
		.saturated_sources = x->first.growth.n_sources,
		.saturated_receivers = x->first.growth.n_targets,
		.saturation_text = sim_saturation_text(o, x),
		.deadlock = x->deadlocked > 0,
		.stalled = x->stalled > 0,
		.steady = !x->unsteady,
		.unroutable = x->unroutable,
		.looped = x->looped,
		.unfinished = x->unfinished,
		.packets = x->packets,
		.copied = x->copied,
		.packet_hops = x->packet_hops,
		.events = x->events,
		.setup_seconds = x->net->seconds,
		.simulate_seconds = x->simulate_seconds,
		.total_seconds = x->net->seconds + x->simulate_seconds,
		.note = x->net->routes ? x->net->routes->note : NULL,
		.shard = fab_cli_shard_text(&p->shard),
	};
	row->pairs_without_path = row->looping_destinations = NAN;
	if (x->net->routes) {
		row->pairs_without_path = (double)x->net->no_path.without;
		row->looping_destinations = x->net->no_path.circles;
		row->circle = fab_no_path_circle_text(x->net->routes, &x->net->no_path);
	}
	row->saturation = row->saturation_text;
	set_times(row, p, x);
	set_cables(row, o, x);
}

void sim_row_fini(struct sim_row *row)
{
	free(row->fullest_text);
	free(row->waits_at);
	free(row->circle);
	free(row->saturation_text);
}

size_t sim_count_points(const struct sim_outcome *o, size_t first)
{
	size_t n = 1;

	while (first + n < o->points.n &&
	       o->points.v[first + n].net == o->points.v[first].net)
		n++;
	return n;
}
