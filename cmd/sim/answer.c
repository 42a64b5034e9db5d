/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-sim: the answer in words, before everything else. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/mem.h"
#include "fabric/label.h"
#include "fabric_sim.h"

char *sim_time_text(const struct sim_params *p, double time, char *out)
{
	if (!isfinite(time))
		snprintf(out, FAB_HUMAN_BYTES, "unknown");
	else if (p->tick == SIM_TICK_FLIT)
		snprintf(out, FAB_HUMAN_BYTES, "%.4g flit times", time);
	else
		fab_human_seconds(time * 1e-9, out);
	return out;
}

static bool is_bad(const struct sim_row *x)
{
	return x->sum.is_deadlocked || x->sum.is_stalled;
}

/* Does much less arrive than is sent, though no queue at a source grows (yet)? */
static bool falls_short(const struct sim_row *x)
{
	return x->sum.accepted < 0.95 * x->sum.born;
}

char *sim_saturation_text(const struct sim_outcome *o, const struct sim_row *x)
{
	const struct fab_sim_growth *g = &x->point->first.growth;
	uint32_t others = g->n_sources + g->n_targets - 1;
	const struct fab_sim_summary *s = &x->sum;
	char *more, *text;

	if (!s->n_saturated && !s->n_undecided)
		return NULL;
	if (s->n_saturated && s->n_saturated < s->runs)
		return fab_format("in %" PRIu64 " of %" PRIu64 " runs a backlog grows",
				  s->n_saturated, s->runs);
	if (!s->n_saturated && s->is_stalled)
		return fab_strdup("nothing moved any more");
	if (!s->n_saturated && s->n_undecided < s->runs)
		return fab_format(
			"in %" PRIu64 " of %" PRIu64
			" runs a backlog grew, within what random arrivals cause in this time (--time)",
			s->n_undecided, s->runs);
	if (!s->n_saturated && g->n_undecided)
		return fab_format(
			"the backlog of %u host%s grew, within what random arrivals cause in this time (--time)",
			g->n_undecided, g->n_undecided == 1 ? "" : "s");
	if (!s->n_saturated)
		return fab_strdup("the measured time is too short (--time)");
	if (g->worst == FAB_NONE)
		return fab_format(
			"the backlog of all hosts together grows by %.0f %% of what they create",
			100 * g->share);
	more = others ? fab_format(", and %u more grow%s", others, others == 1 ? "s" : "")
		      : fab_strdup("");
	text = fab_format(
		"the backlog of packets %s %s grows by %.0f %% of those created%s",
		g->worst_is_target ? "to" : "from",
		fab_node_name(o->f, o->f->port_node[o->ends.port[g->worst]]),
		100 * g->worst_share, more);
	free(more);
	return text;
}

/* "vtftr-ib, uniform at 0.5" */
static char *name_of(const struct sim_outcome *o, const struct sim_row *x)
{
	char rate[32] = "";

	if (!isnan(x->sum.rate))
		snprintf(rate, sizeof(rate), " at %g", x->sum.rate);
	return fab_format("%s, %s%s", x->algorithm, o->p->traffic, rate);
}

/* Mean and 99 % of latency; nothing has arrived: why not is said elsewhere. */
static char *latency_text(const struct sim_outcome *o, const struct sim_row *x)
{
	char mean[FAB_HUMAN_BYTES], p99[FAB_HUMAN_BYTES];

	if (x->sum.n_saturated)
		return fab_strdup("latency grows with the time simulated");
	if (!x->point->latency.n)
		return fab_strdup("no packet that was measured has arrived");
	sim_time_text(o->p, x->sum.latency_mean, mean);
	sim_time_text(o->p, x->sum.latency_p99, p99);
	return fab_format("latency %s on average, 99 %% within %s%s", mean, p99,
			  x->sum.n_cut ? " (and some packets had not arrived)" : "");
}

static void say_endless(struct fab_report *r, const struct sim_outcome *o,
			const struct sim_row *x)
{
	char *name = name_of(o, x), *latency = latency_text(o, x);
	char *saturation = sim_saturation_text(o, x), *suffix;
	double accepted = x->sum.accepted, born = x->sum.born;

	suffix = saturation	  ? fab_format(": %s, %s",
					       x->sum.saturated == 1
						       ? "saturated"
						       : "undecided whether saturated",
					       saturation)
		 : falls_short(x) ? fab_strdup(": not all of it has arrived")
				  : fab_strdup("");
	if (isnan(x->sum.rate))
		fab_report_answer(r, is_bad(x) ? FAB_TONE_BAD : FAB_TONE_PLAIN,
				  "%s: hosts get %.3g %% of what their cables carry; %s.",
				  name, 100 * accepted, latency);
	else
		fab_report_answer(
			r, is_bad(x) ? FAB_TONE_BAD : FAB_TONE_PLAIN,
			"%s: hosts get %.3g %% of what their cables carry, and send %.3g %%%s; %s.",
			name, 100 * accepted, 100 * born, suffix, latency);
	free(saturation);
	free(suffix);
	free(name);
	free(latency);
}

static void say_finite(struct fab_report *r, const struct sim_outcome *o,
		       const struct sim_row *x)
{
	char *name = name_of(o, x), *latency = latency_text(o, x);
	char end[FAB_HUMAN_BYTES];

	sim_time_text(o->p, x->sum.end, end);
	if (x->sum.n_stopped)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"%s: not finished when it was interrupted, after %s; %s.", name,
			end, latency);
	else if (x->sum.unfinished || x->sum.unroutable || x->sum.looped || is_bad(x))
		fab_report_answer(r, FAB_TONE_BAD,
				  "%s: not finished: not all has arrived, and %" PRIu64
				  " hosts had more to send or to wait for; %s.",
				  name, x->sum.unfinished, latency);
	else
		fab_report_answer(r, FAB_TONE_PLAIN, "%s: all has arrived after %s; %s.",
				  name, end, latency);
	free(name);
	free(latency);
}

/* On the heap. */
static char *cause_text(const struct sim_outcome *o, const struct sim_row *x,
			const struct fab_sim_cause *cause)
{
	char *at, *text;

	if (cause->kind == FAB_SIM_LOAD)
		return fab_strdup("load: no more is sent over it");
	if (cause->kind == FAB_SIM_CONTENTION)
		return fab_strdup(
			cause->is_full
				? "contention: it carries what it can"
				: "contention: packets wait in switches while others are read or sent");
	if (cause->waits_at == FAB_NONE)
		return fab_strdup("credits: the buffers behind it are full");
	at = fab_cable_text(o->f, x->point->first.cable[cause->waits_at].port);
	text = fab_format(
		"credits: packets wait for room in the buffers, most behind %s (no credit %.2g %% of the time)",
		at, 100 * cause->waits_no_credit);
	free(at);
	return text;
}

static void say_fullest(struct fab_report *r, const struct sim_outcome *o,
			const struct sim_row *x)
{
	struct fab_sim_cause cause = fab_sim_cause(&x->point->first);
	char *cable, *others, *credit, *why;
	bool names_credit;

	if (cause.cable == FAB_NONE) {
		fab_report_answer(r, FAB_TONE_WARN, "No cable carried anything.");
		return;
	}
	cable = fab_cable_text(o->f, x->point->first.cable[cause.cable].port);
	others = x->point->first.n_at_most > 1
			 ? fab_format(", as %u more %s", x->point->first.n_at_most - 1,
				      x->point->first.n_at_most == 2 ? "is" : "are")
			 : fab_strdup("");
	names_credit = cause.kind == FAB_SIM_CREDITS && cause.waits_at != FAB_NONE;
	credit =
		cause.no_credit >= 0.001 && !names_credit
			? fab_format(
				  "; packets waited there for credit %.2g %% of the time",
				  100 * cause.no_credit)
			: fab_strdup("");
	why = cause_text(o, x, &cause);
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "The fullest cable is %s, busy %.3g %% of the time%s; %s%s.",
			  cable, 100 * x->point->first.cable[cause.cable].utilisation,
			  others, why, credit);
	free(why);
	free(credit);
	free(others);
	free(cable);
}

/* The point at which most arrives. */
static const struct sim_row *best_of(const struct sim_outcome *o, size_t first, size_t n)
{
	const struct sim_row *best = &o->rows[first];

	for (size_t i = first; i < first + n; i++)
		if (o->rows[i].sum.accepted > best->sum.accepted)
			best = &o->rows[i];
	return best;
}

/* A sweep by one algorithm, points first .. first + n - 1. */
static void say_sweep(struct fab_report *r, const struct sim_outcome *o, size_t first,
		      size_t n)
{
	const struct sim_row *best = best_of(o, first, n), *x = &o->rows[first];
	size_t n_good = 0;
	char *latency;

	while (n_good < n && !x[n_good].sum.saturated && !falls_short(&x[n_good]) &&
	       !is_bad(&x[n_good]))
		n_good++;
	latency = latency_text(o, n_good ? &x[n_good - 1] : x);
	if (n_good == n)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s, %s: all that is offered arrives up to %g; there %s.",
			x->algorithm, o->p->traffic, x[n - 1].sum.rate, latency);
	else if (n_good)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s, %s: all that is offered arrives up to %g (there %s), at %g %s; most arrives at %g: %.3g %% of the hosts' cables.",
			x->algorithm, o->p->traffic, x[n_good - 1].sum.rate, latency,
			x[n_good].sum.rate,
			x[n_good].sum.saturated == FAB_UNKNOWN
				? "that is not decided (--time)"
				: "no more",
			best->sum.rate, 100 * best->sum.accepted);
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s, %s: more is offered than arrives from %g on; most arrives at %g: %.3g %% of the hosts' cables.",
			x->algorithm, o->p->traffic, x->sum.rate, best->sum.rate,
			100 * best->sum.accepted);
	free(latency);
}

/* Channel `k` of the tables' cycle, as the simulation has it? */
static bool is_same(const struct fab_fabric *f, const struct fab_channel *of_tables,
		    const struct fab_sim_channel *seen)
{
	uint32_t arc = f->arc_first[of_tables->sw] + of_tables->arc;
	uint32_t cable = f->arc_cable[arc];

	return f->port_cable[seen->port] == cable &&
	       f->port_node[seen->port] == of_tables->sw && seen->vl == of_tables->vl;
}

/* Are all channels of the cycle seen in that of the tables? */
static bool is_shortest(const struct fab_fabric *f, const struct fab_analysis *j,
			const struct fab_sim_result *seen)
{
	if (j->cycle.n != seen->cycle.n)
		return false;
	for (size_t i = 0; i < seen->cycle.n; i++) {
		bool is_there = false;

		for (size_t k = 0; k < j->cycle.n && !is_there; k++)
			is_there = is_same(f, &j->cycle.v[k], &seen->cycle.v[i]);
		if (!is_there)
			return false;
	}
	return true;
}

/* Where the tables have the cycle of a deadlock. */
static const char *origin_text(const struct sim_outcome *o, const struct sim_row *x)
{
	const struct fab_analysis_options options = {.ends = FAB_ENDS_HOSTS,
						     .n_threads = o->p->run.threads};
	const char *text = "the tables have no such cycle";
	struct fab_analysis j;
	struct fab_err err;

	if (!x->net->routes || fab_analyse(x->net->routes, &options, &j, &err))
		return "no unicast table says which it is";
	if (is_shortest(o->f, &j, &x->point->first))
		text = "it is the one that fabric-faults shows";
	else if (j.cycle_channels >= x->point->first.cycle.n)
		text = "it is one of those that fabric-faults finds in the tables";
	fab_analysis_fini(&j);
	return text;
}

static void say_stall(struct fab_report *r, const struct sim_outcome *o)
{
	const struct sim_row *x = o->rows, *end = x + o->n_rows;
	char packets[FAB_HUMAN_BYTES], *name;

	while (x < end && !is_bad(x))
		x++;
	if (x == end)
		return;
	name = name_of(o, x);
	fab_human_count(x->point->first.stuck_packets, packets);
	if (x->point->first.cycle.n)
		fab_report_answer(r, FAB_TONE_BAD,
				  "Deadlock (%s): %s packets on %" PRIu64
				  " lanes can never move; a cycle of %zu is below, %s.",
				  name, packets, x->point->first.stuck_channels,
				  x->point->first.cycle.n, origin_text(o, x));
	else
		fab_report_answer(
			r, FAB_TONE_BAD,
			"Stalled (%s): nothing moved any more, and no cycle was found.",
			name);
	free(name);
}

/* Pairs that tables do not connect, and where they send packets in a circle. */
static void say_no_path(struct fab_report *r, const struct sim_outcome *o,
			const struct sim_net *net)
{
	const struct fab_no_path *x = &net->no_path;
	char *circle = net->routes ? fab_no_path_circle_text(net->routes, x) : NULL;
	char pairs[FAB_HUMAN_BYTES], all[FAB_HUMAN_BYTES];

	if (x->without) {
		char *from = fab_node_text(o->f, o->f->port_node[o->ends.port[x->from]]);
		char *to = fab_node_text(o->f, o->f->port_node[o->ends.port[x->to]]);

		fab_report_answer(
			r, FAB_TONE_BAD,
			"%s: %s of %s pairs of host ports have no path, as from %s to %s.",
			net->algorithm, fab_human_count(x->without, pairs),
			fab_human_count(x->pairs, all), from, to);
		free(from);
		free(to);
	}
	if (circle)
		fab_report_answer(r, FAB_TONE_BAD,
				  "%s: %s. %s pair%s of host ports lose%s packets there.",
				  net->algorithm, circle,
				  x->circling ? fab_human_count(x->circling, pairs)
					      : "No",
				  x->circling == 1 || !x->circling ? "" : "s",
				  x->circling > 1 ? "" : "s");
	free(circle);
}

static void say_loop(struct fab_report *r, const struct sim_outcome *o, uint64_t looped)
{
	const struct sim_row *x = o->rows;
	char n[FAB_HUMAN_BYTES];

	while (!x->sum.looped)
		x++;
	fab_report_answer(r, FAB_TONE_BAD, "%s packets were dropped after %d hops%s.",
			  fab_human_count(looped, n), FAB_SIM_HOPS_MAX,
			  x->net->no_path.circling ? ""
			  : x->net->routes	   ? ": their path is longer"
						   : ": the trees loop");
}

/* Restrictions of the results. */
static void say_doubts(struct fab_report *r, const struct sim_outcome *o)
{
	uint64_t unroutable = 0, looped = 0, unsteady = 0, limited = 0, unknown_sl = 0;
	char n[FAB_HUMAN_BYTES];

	for (size_t i = 0; i < o->n_rows; i++) {
		const struct sim_row *x = &o->rows[i];

		unroutable += x->sum.unroutable;
		looped += x->sum.looped;
		unknown_sl += x->sum.unknown_sl;
		unsteady += !x->sum.is_steady && !x->sum.n_saturated && !is_bad(x);
		limited =
			x->sum.credit_limited > limited ? x->sum.credit_limited : limited;
	}
	if (unroutable)
		fab_report_answer(r, FAB_TONE_BAD, "%s packets had no path.",
				  fab_human_count(unroutable, n));
	if (looped)
		say_loop(r, o, looped);
	if (unknown_sl)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"No file contains the service level of %s messages: 0 is used.",
			fab_human_count(unknown_sl, n));
	if (limited)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"The buffers of %s lanes are smaller than their cable needs to be full (--buffer).",
			fab_human_count(limited, n));
	if (unsteady)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"At %s rate%s throughput and latency were not steady when the measuring began (--warmup).",
			fab_human_count(unsteady, n), unsteady == 1 ? "" : "s");
}

/* Notes of the algorithms on their tables. */
static void say_notes(struct fab_report *r, const struct sim_outcome *o)
{
	for (size_t i = 0; i < o->n_nets; i++)
		if (o->nets[i].note)
			fab_report_answer(r, FAB_TONE_WARN, "%s: %s.",
					  o->nets[i].algorithm, o->nets[i].note);
}

static void say_pairs(struct fab_report *r, const struct sim_outcome *o)
{
	for (size_t i = 0; i < o->n_nets; i++) {
		const struct sim_pair *pair = &o->pairs[i];
		char time[FAB_HUMAN_BYTES];

		if (pair->why)
			fab_report_answer(r, FAB_TONE_BAD, "%s: no path: %s.",
					  pair->algorithm, pair->why);
		else
			fab_report_answer(
				r, FAB_TONE_PLAIN,
				"%s: %s in an idle network, %u hops between switches.",
				pair->algorithm, sim_time_text(o->p, pair->latency, time),
				pair->hops);
	}
}

/* How much of what was asked for is complete, and how much of the rest was measured. */
static void say_interrupt(struct fab_report *r, const struct sim_outcome *o)
{
	fab_report_answer(r, FAB_TONE_WARN,
			  "Interrupted: %" PRIu64 " of %" PRIu64
			  " simulations are complete.",
			  o->points.n_done, o->points.n_items);
	for (size_t i = 0; i < o->n_rows; i++) {
		const struct sim_row *x = &o->rows[i];
		char done[FAB_HUMAN_BYTES], all[FAB_HUMAN_BYTES], *name;

		if (!x->sum.n_stopped || o->p->traffic_kind->is_finite)
			continue;
		name = name_of(o, x);
		sim_time_text(o->p, x->sum.measured, done);
		sim_time_text(o->p, (double)o->p->sim.time / o->p->unit, all);
		fab_report_answer(r, FAB_TONE_WARN,
				  "%s was measured for %s of %s, and that is reported.",
				  name, done, all);
		free(name);
	}
}

void sim_answer(struct fab_report *r, const struct sim_outcome *o)
{
	if (o->p->pair) {
		say_pairs(r, o);
		say_notes(r, o);
		return;
	}
	for (size_t i = 0; i < o->n_nets; i++)
		say_no_path(r, o, &o->nets[i]);
	fab_cli_answer_shard(r, &o->p->shard);
	if (o->was_interrupted)
		say_interrupt(r, o);
	say_stall(r, o);
	for (size_t i = 0, n; i < o->n_rows; i += n) {
		n = sim_count_rows(o, i);
		if (o->p->traffic_kind->is_finite)
			say_finite(r, o, &o->rows[i]);
		else if (n == 1)
			say_endless(r, o, &o->rows[i]);
		else
			say_sweep(r, o, i, n);
		say_fullest(r, o, n == 1 ? &o->rows[i] : best_of(o, i, n));
	}
	say_notes(r, o);
	say_doubts(r, o);
}
