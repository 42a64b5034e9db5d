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

/* Share in percent as people read it: "49.9 %". */
static double percent(double share)
{
	return share * 100;
}

static bool is_bad(const struct sim_point *x)
{
	return x->deadlocked || x->stalled;
}

/* Does much less arrive than is sent, though no queue at a source grows (yet)? */
static bool falls_short(const struct sim_point *x)
{
	return fab_tally_mean(&x->accepted) < 0.95 * fab_tally_mean(&x->born);
}

/* "vtftr-ib, uniform at 0.5" */
static char *name_of(const struct sim_outcome *o, const struct sim_point *x)
{
	char rate[32] = "";

	if (!isnan(x->rate))
		snprintf(rate, sizeof(rate), " at %g", x->rate);
	return fab_format("%s, %s%s", x->net->algorithm, o->p->traffic, rate);
}

/* Mean and 99 % of latency; nothing has arrived: why not is said elsewhere. */
static char *latency_text(const struct sim_outcome *o, const struct sim_point *x)
{
	char mean[FAB_HUMAN_BYTES], p99[FAB_HUMAN_BYTES];

	if (x->saturated)
		return fab_strdup("latency grows with the time simulated");
	if (!x->histogram.n)
		return fab_strdup("no packet that was measured has arrived");
	sim_time_text(o->p, fab_tally_mean(&x->latency), mean);
	sim_time_text(o->p, (double)fab_histogram_quantile(&x->histogram, 0.99), p99);
	return fab_format("latency %s on the mean, 99 %% within %s%s", mean, p99,
			  x->cut ? " (and some packets had not arrived)" : "");
}

static void say_endless(struct fab_report *r, const struct sim_outcome *o,
			const struct sim_point *x)
{
	char *name = name_of(o, x), *latency = latency_text(o, x);
	char *saturation = sim_saturation_text(o, x), *suffix;
	double accepted = fab_tally_mean(&x->accepted), born = fab_tally_mean(&x->born);

	suffix = saturation	  ? fab_format(": %s, %s",
					       sim_is_saturated(x) == 1
						       ? "saturated"
						       : "undecided whether saturated",
					       saturation)
		 : falls_short(x) ? fab_strdup(": not all of it has arrived")
				  : fab_strdup("");
	if (isnan(x->rate))
		fab_report_answer(r, is_bad(x) ? FAB_TONE_BAD : FAB_TONE_PLAIN,
				  "%s: hosts get %.3g %% of what their cables carry; %s.",
				  name, percent(accepted), latency);
	else
		fab_report_answer(
			r, is_bad(x) ? FAB_TONE_BAD : FAB_TONE_PLAIN,
			"%s: hosts get %.3g %% of what their cables carry, and send "
			"%.3g %%%s; %s.",
			name, percent(accepted), percent(born), suffix, latency);
	free(saturation);
	free(suffix);
	free(name);
	free(latency);
}

static void say_finite(struct fab_report *r, const struct sim_outcome *o,
		       const struct sim_point *x)
{
	char *name = name_of(o, x), *latency = latency_text(o, x);
	char end[FAB_HUMAN_BYTES];

	sim_time_text(o->p, fab_tally_mean(&x->end), end);
	if (x->stopped)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"%s: not finished when it was interrupted, after %s; %s.", name,
			end, latency);
	else if (x->unfinished || x->unroutable || x->looped || is_bad(x))
		fab_report_answer(r, FAB_TONE_BAD,
				  "%s: not finished: not all has arrived, and %u hosts "
				  "had more to send or to wait for; %s.",
				  name, x->unfinished, latency);
	else
		fab_report_answer(r, FAB_TONE_PLAIN, "%s: all has arrived after %s; %s.",
				  name, end, latency);
	free(name);
	free(latency);
}

/* On the heap. */
static char *cause_text(const struct sim_outcome *o, const struct sim_point *x,
			const struct fab_sim_cause *cause)
{
	char *at, *text;

	if (cause->kind == FAB_SIM_LOAD)
		return fab_strdup("load: no more is sent over it");
	if (cause->kind == FAB_SIM_CONTENTION)
		return fab_strdup(cause->is_full
					  ? "contention: it carries what it can"
					  : "contention: packets wait in switches while "
					    "others are read or sent");
	if (cause->waits_at == FAB_NONE)
		return fab_strdup("credits: the buffers behind it are full");
	at = fab_cable_text(o->f, x->first.cable[cause->waits_at].port);
	text = fab_format("credits: packets wait for room in the buffers, most behind %s "
			  "(no credit %.2g %% of the time)",
			  at, percent(cause->waits_no_credit));
	free(at);
	return text;
}

static void say_fullest(struct fab_report *r, const struct sim_outcome *o,
			const struct sim_point *x)
{
	struct fab_sim_cause cause = fab_sim_cause(&x->first);
	char *cable, *others, *credit, *why;
	bool names_credit;

	if (cause.cable == FAB_NONE) {
		fab_report_answer(r, FAB_TONE_WARN, "No cable carried anything.");
		return;
	}
	cable = fab_cable_text(o->f, x->first.cable[cause.cable].port);
	others = x->first.n_at_most > 1
			 ? fab_format(", as %u more %s", x->first.n_at_most - 1,
				      x->first.n_at_most == 2 ? "is" : "are")
			 : fab_strdup("");
	names_credit = cause.kind == FAB_SIM_CREDITS && cause.waits_at != FAB_NONE;
	credit = cause.no_credit >= 0.001 && !names_credit
			 ? fab_format("; packets waited there for credit %.2g %% of the "
				      "time",
				      percent(cause.no_credit))
			 : fab_strdup("");
	why = cause_text(o, x, &cause);
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "The fullest cable is %s, busy %.3g %% of the time%s; %s%s.",
			  cable, percent(x->first.cable[cause.cable].utilisation), others,
			  why, credit);
	free(why);
	free(credit);
	free(others);
	free(cable);
}

/* The point at which most arrives. */
static const struct sim_point *best_of(const struct sim_outcome *o, size_t first,
				       size_t n)
{
	const struct sim_point *best = &o->points.v[first];

	for (size_t i = first; i < first + n; i++)
		if (fab_tally_mean(&o->points.v[i].accepted) >
		    fab_tally_mean(&best->accepted))
			best = &o->points.v[i];
	return best;
}

/* A sweep by one algorithm, points first .. first + n - 1. */
static void say_sweep(struct fab_report *r, const struct sim_outcome *o, size_t first,
		      size_t n)
{
	const struct sim_point *best = best_of(o, first, n), *x = &o->points.v[first];
	size_t n_good = 0;
	char *latency;

	while (n_good < n && !sim_is_saturated(&x[n_good]) && !falls_short(&x[n_good]) &&
	       !is_bad(&x[n_good]))
		n_good++;
	latency = latency_text(o, n_good ? &x[n_good - 1] : x);
	if (n_good == n)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s, %s: all that is offered arrives up to %g; there "
				  "%s.",
				  x->net->algorithm, o->p->traffic, x[n - 1].rate,
				  latency);
	else if (n_good)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s, %s: all that is offered arrives up to %g (there "
				  "%s), at %g %s; most arrives at %g: %.3g %% of the "
				  "hosts' cables.",
				  x->net->algorithm, o->p->traffic, x[n_good - 1].rate,
				  latency, x[n_good].rate,
				  sim_is_saturated(&x[n_good]) == FAB_UNKNOWN
					  ? "that is not decided (--time)"
					  : "no more",
				  best->rate, percent(fab_tally_mean(&best->accepted)));
	else
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s, %s: more is offered than arrives from %g on; most "
				  "arrives at %g: %.3g %% of the hosts' cables.",
				  x->net->algorithm, o->p->traffic, x->rate, best->rate,
				  percent(fab_tally_mean(&best->accepted)));
	free(latency);
}

static const struct sim_point *first_stalled(const struct sim_outcome *o)
{
	for (size_t i = 0; i < o->points.n; i++)
		if (is_bad(&o->points.v[i]))
			return &o->points.v[i];
	return NULL;
}

static const char *origin_text(enum sim_cycle_origin origin)
{
	static const char *const texts[] = {
		[SIM_CYCLE_UNKNOWN] = "no unicast table says which it is",
		[SIM_CYCLE_SHORTEST] = "it is the one that fabric-faults shows",
		[SIM_CYCLE_OF_TABLES] =
			"it is one of those that fabric-faults finds in the tables",
		[SIM_CYCLE_OTHER] = "the tables have no such cycle",
	};

	return texts[origin];
}

static void say_stall(struct fab_report *r, const struct sim_outcome *o)
{
	const struct sim_point *x = first_stalled(o);
	char packets[FAB_HUMAN_BYTES], *name;
	uint64_t channels;

	if (!x)
		return;
	name = name_of(o, x);
	fab_human_count(x->first.stuck_packets, packets);
	if (x->first.cycle.n)
		fab_report_answer(r, FAB_TONE_BAD,
				  "Deadlock (%s): %s packets on %" PRIu64
				  " lanes can never move; a cycle of %zu is below, %s.",
				  name, packets, x->first.stuck_channels,
				  x->first.cycle.n,
				  origin_text(sim_cycle_origin(o, x, &channels)));
	else
		fab_report_answer(r, FAB_TONE_BAD,
				  "Stalled (%s): nothing moved any more, and no cycle "
				  "was found.",
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
			"%s: %s of %s pairs of host ports have no path, as from "
			"%s to %s.",
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
	const struct sim_point *x = o->points.v;
	char n[FAB_HUMAN_BYTES];

	while (!x->looped)
		x++;
	fab_report_answer(r, FAB_TONE_BAD, "%s packets were dropped after %d hops%s.",
			  fab_human_count(looped, n), FAB_SIM_HOPS_MAX,
			  x->net->no_path.circling ? ""
			  : x->net->routes	   ? ": their path is longer"
						   : ": the trees loop");
}

/* What keeps the rest from being the whole truth. */
static void say_doubts(struct fab_report *r, const struct sim_outcome *o)
{
	uint64_t unroutable = 0, looped = 0, unsteady = 0, limited = 0, unknown_sl = 0;
	char n[FAB_HUMAN_BYTES];

	for (size_t i = 0; i < o->points.n; i++) {
		const struct sim_point *x = &o->points.v[i];

		unroutable += x->unroutable;
		looped += x->looped;
		unknown_sl += x->unknown_sl;
		unsteady += x->unsteady && !x->saturated && !is_bad(x);
		limited = x->credit_limited > limited ? x->credit_limited : limited;
	}
	if (unroutable)
		fab_report_answer(r, FAB_TONE_BAD, "%s packets had no path.",
				  fab_human_count(unroutable, n));
	if (looped)
		say_loop(r, o, looped);
	if (unknown_sl)
		fab_report_answer(r, FAB_TONE_WARN,
				  "Of %s messages no file tells the service level: 0 is "
				  "taken.",
				  fab_human_count(unknown_sl, n));
	if (limited)
		fab_report_answer(r, FAB_TONE_WARN,
				  "The buffers of %s lanes are smaller than their "
				  "cable needs to be full (--buffer).",
				  fab_human_count(limited, n));
	if (unsteady)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"At %s rate%s throughput and latency were not steady when the "
			"measuring began (--warmup).",
			fab_human_count(unsteady, n), unsteady == 1 ? "" : "s");
}

/* What the algorithms have to say of their tables. */
static void say_notes(struct fab_report *r, const struct sim_outcome *o)
{
	for (size_t i = 0; i < o->n_nets; i++)
		if (o->nets[i].routes && o->nets[i].routes->note)
			fab_report_answer(r, FAB_TONE_WARN, "%s: %s.",
					  o->nets[i].algorithm, o->nets[i].routes->note);
}

static void say_pairs(struct fab_report *r, const struct sim_outcome *o)
{
	for (size_t i = 0; i < o->pairs.n; i++) {
		const struct sim_pair *pair = &o->pairs.v[i];
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
			  o->n_done, o->n_items);
	for (size_t i = 0; i < o->points.n; i++) {
		const struct sim_point *x = &o->points.v[i];
		char done[FAB_HUMAN_BYTES], all[FAB_HUMAN_BYTES], *name;

		if (!x->stopped || o->p->traffic_kind->is_finite)
			continue;
		name = name_of(o, x);
		sim_time_text(o->p, fab_tally_mean(&x->measured), done);
		sim_time_text(o->p, (double)o->p->sim.time, all);
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
	for (size_t i = 0, n; i < o->points.n; i += n) {
		n = sim_count_points(o, i);
		if (o->p->traffic_kind->is_finite)
			say_finite(r, o, &o->points.v[i]);
		else if (n == 1)
			say_endless(r, o, &o->points.v[i]);
		else
			say_sweep(r, o, i, n);
		say_fullest(r, o, n == 1 ? &o->points.v[i] : best_of(o, i, n));
	}
	say_notes(r, o);
	say_doubts(r, o);
}
