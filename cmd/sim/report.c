/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of fabric-sim: the answer in sentences, then fields and tables. */
#include <inttypes.h>
#include <math.h>

#include "base/units.h"
#include "fabric/label.h"
#include "fabric_sim.h"

const char *sim_time_text(const struct sim_outcome *o, double time)
{
	char text[FAB_HUMAN_BYTES];

	if (!isfinite(time))
		return "unknown";
	if (o->p->tick == SIM_TICK_FLIT)
		return fab_arena_format(o->arena, "%.4g flit times", time);
	return fab_arena_strdup(o->arena, fab_human_seconds(time * 1e-9, text));
}

static const char *end_name(const struct sim_outcome *o, uint32_t end)
{
	return fab_node_name(o->f, o->f->port_node[o->ends.port[end]]);
}

/* With the GUID, where names are ambiguous. */
static const char *end_text(const struct sim_outcome *o, uint32_t end)
{
	return sim_keep(o, fab_node_text(o->f, o->f->port_node[o->ends.port[end]]));
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

/* Share of the packets that full buffers drop, or of which they drop the payload. */
static double lost_share(const struct sim_row *x)
{
	double lost = (double)(x->sum.dropped + x->sum.trimmed);

	return lost > 0 ? lost / (double)(x->sum.packets + x->sum.dropped) : 0;
}

const char *sim_saturation_text(const struct sim_outcome *o, const struct sim_row *x)
{
	const struct fab_sim_growth *g = &x->point->first.growth;
	uint32_t others = g->n_sources + g->n_targets - 1;
	const struct fab_sim_summary *s = &x->sum;
	const char *more;

	if (!s->n_saturated && !s->n_undecided)
		return NULL;
	if (s->n_saturated && s->n_saturated < s->runs)
		return fab_arena_format(
			o->arena, "in %" PRIu64 " of %" PRIu64 " runs a backlog grows",
			s->n_saturated, s->runs);
	if (!s->n_saturated && s->is_stalled)
		return "nothing moved any more";
	if (!s->n_saturated && s->n_undecided < s->runs)
		return fab_arena_format(
			o->arena,
			"in %" PRIu64 " of %" PRIu64
			" runs a backlog grew, within what random arrivals cause in this time (--time)",
			s->n_undecided, s->runs);
	if (!s->n_saturated && g->n_undecided)
		return fab_arena_format(
			o->arena,
			"the backlog of %u host%s grew, within what random arrivals cause in this time (--time)",
			g->n_undecided, g->n_undecided == 1 ? "" : "s");
	if (!s->n_saturated)
		return "the measured time is too short (--time)";
	if (g->worst == FAB_NONE)
		return fab_arena_format(
			o->arena,
			"the backlog of all hosts together grows by %.0f %% of what they create",
			100 * g->share);
	more = others ? fab_arena_format(o->arena, ", and %u more grow%s", others,
					 others == 1 ? "s" : "")
		      : "";
	return fab_arena_format(
		o->arena,
		"the backlog of packets %s %s grows by %.0f %% of those created%s",
		g->worst_is_target ? "to" : "from", end_name(o, g->worst),
		100 * g->worst_share, more);
}

/* "vtftr-ib, uniform at 0.5" */
static const char *name_of(const struct sim_outcome *o, const struct sim_row *x)
{
	if (isnan(x->sum.rate))
		return fab_arena_format(o->arena, "%s, %s", x->algorithm, o->p->traffic);
	return fab_arena_format(o->arena, "%s, %s at %g", x->algorithm, o->p->traffic,
				x->sum.rate);
}

/* Mean and 99 % of latency; the reason why nothing has arrived is another sentence. */
static const char *latency_text(const struct sim_outcome *o, const struct sim_row *x)
{
	if (x->sum.n_saturated)
		return "latency grows with the time simulated";
	if (!x->point->latency.n)
		return "no packet that was measured has arrived";
	return fab_arena_format(o->arena, "latency %s on average, 99 %% within %s%s",
				sim_time_text(o, x->sum.latency_mean),
				sim_time_text(o, x->sum.latency_p99),
				x->sum.n_cut ? " (and some packets had not arrived)"
					     : "");
}

/* One rate of endless traffic. */
static void say_endless(struct fab_report *r, const struct sim_outcome *o,
			const struct sim_row *x)
{
	enum fab_tone tone = is_bad(x) ? FAB_TONE_BAD : FAB_TONE_PLAIN;
	const char *name = name_of(o, x), *latency = latency_text(o, x), *suffix = "";

	if (isnan(x->sum.rate)) {
		fab_report_answer(r, tone,
				  "%s: hosts get %.3g %% of what their cables carry; %s.",
				  name, 100 * x->sum.accepted, latency);
		return;
	}
	if (lost_share(x) >= 0.01)
		suffix = fab_arena_format(o->arena,
					  ": too much, full buffers drop %.3g %% of it",
					  100 * lost_share(x));
	else if (x->saturation)
		suffix = fab_arena_format(o->arena, ": %s, %s",
					  x->sum.saturated == 1
						  ? "saturated"
						  : "undecided whether saturated",
					  x->saturation);
	else if (falls_short(x))
		suffix = ": not all of it has arrived";
	fab_report_answer(
		r, tone,
		"%s: hosts get %.3g %% of what their cables carry, and send %.3g %%%s; %s.",
		name, 100 * x->sum.accepted, 100 * x->sum.born, suffix, latency);
}

/* " of 1MiB": the size of messages that was asked for. */
static const char *size_text(const struct sim_outcome *o)
{
	if (!o->p->texts.sizes || o->p->n_sizes != 1)
		return "";
	return fab_arena_format(o->arena, " of %.40s", o->p->texts.sizes);
}

/* ", 5.2 times what the host cables allow, 2.1 times what the fullest cable allows": the
 * time is at least as long as any cable is busy. */
static const char *bounds_text(const struct sim_outcome *o, const struct sim_row *x)
{
	const struct fab_sim_result *s = &x->point->first;
	double host = 0;

	if (x->cause.cable == FAB_NONE || x->sum.runs > 1)
		return "";
	for (uint32_t i = 0; i < s->n_cables; i++) {
		uint32_t port = s->cable[i].port, peer = fab_port_peer(o->f, port);

		if ((!fab_node_is_switch(o->f, o->f->port_node[port]) ||
		     !fab_node_is_switch(o->f, o->f->port_node[peer])) &&
		    s->cable[i].utilisation > host)
			host = s->cable[i].utilisation;
	}
	if (host <= 0)
		return "";
	return fab_arena_format(
		o->arena,
		", %.1f times what the host cables allow, %.1f times what the fullest cable allows",
		1 / host, 1 / x->cause.utilisation);
}

static void say_finite(struct fab_report *r, const struct sim_outcome *o,
		       const struct sim_row *x)
{
	const char *name = name_of(o, x), *latency = latency_text(o, x);
	const char *end = sim_time_text(o, x->sum.end);

	if (x->sum.n_stopped)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"%s: not finished when it was interrupted, after %s; %s.", name,
			end, latency);
	else if (x->sum.unfinished || x->sum.unroutable || x->sum.looped ||
		 x->sum.dropped || x->sum.trimmed || is_bad(x))
		fab_report_answer(r, FAB_TONE_BAD,
				  "%s: not finished: not all has arrived, and %" PRIu64
				  " hosts had more to send or to wait for; %s.",
				  name, x->sum.unfinished, latency);
	else
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s%s: all has arrived after %s%s; %s.", name,
				  size_text(o), end, bounds_text(o, x), latency);
}

static void say_fullest(struct fab_report *r, const struct sim_outcome *o,
			const struct sim_row *x)
{
	const struct fab_sim_cause *cause = &x->cause;
	const char *others = "", *credit = "", *why;
	bool names_credit;

	if (cause->cable == FAB_NONE) {
		fab_report_answer(r, FAB_TONE_WARN, "No cable carried anything.");
		return;
	}
	names_credit = cause->kind == FAB_SIM_CREDITS && x->waits_at;
	if (x->cables_at_max > 1)
		others = fab_arena_format(o->arena, ", as %" PRIu64 " more %s",
					  x->cables_at_max - 1,
					  x->cables_at_max == 2 ? "is" : "are");
	if (cause->no_credit >= 0.001 && !names_credit)
		credit = fab_arena_format(
			o->arena, "; packets waited there for credit %.2g %% of the time",
			100 * cause->no_credit);
	if (cause->kind == FAB_SIM_LOAD)
		why = "load: no more is sent over it";
	else if (cause->kind == FAB_SIM_CONTENTION)
		why = cause->is_full
			      ? "contention: it carries what it can"
			      : "contention: packets wait in switches while others are read or sent";
	else if (!names_credit)
		why = "credits: the buffers behind it are full";
	else
		why = fab_arena_format(
			o->arena,
			"credits: packets wait for room in the buffers, most behind %s (no credit %.2g %% of the time)",
			x->waits_at, 100 * cause->waits_no_credit);
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "The fullest cable is %s, busy %.3g %% of the time%s; %s%s.",
			  x->fullest, 100 * x->cause.utilisation, others, why, credit);
}

/* A sweep by one algorithm, points x[0] .. x[n - 1]; `best`: the one at which most
 * arrives. */
static void say_sweep(struct fab_report *r, const struct sim_outcome *o,
		      const struct sim_row *x, size_t n, const struct sim_row *best)
{
	const char *latency;
	size_t n_good = 0;

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
}

/* Are all channels of the cycle that was seen in that of the tables, of as many? */
static bool is_shortest(const struct fab_fabric *f, const struct fab_analysis *j,
			const struct fab_sim_result *seen)
{
	if (j->cycle.n != seen->cycle.n)
		return false;
	for (size_t i = 0; i < seen->cycle.n; i++) {
		const struct fab_sim_channel *c = &seen->cycle.v[i];
		size_t k = 0;

		while (k < j->cycle.n &&
		       (f->port_cable[c->port] !=
				f->arc_cable[f->arc_first[j->cycle.v[k].sw] +
					     j->cycle.v[k].arc] ||
			f->port_node[c->port] != j->cycle.v[k].sw ||
			c->vl != j->cycle.v[k].vl))
			k++;
		if (k == j->cycle.n)
			return false;
	}
	return true;
}

/* Do lanes share buffers without a part of their own? Then they wait for each other. */
static bool lanes_may_wait(const struct sim_params *p)
{
	return p->sim.buffer_shared && !p->sim.buffer_private && !p->sim.drop;
}

/* The first deadlock or stall, and whether its cycle is one of the tables. */
static void say_stall(struct fab_report *r, const struct sim_outcome *o)
{
	const struct fab_analysis_options options = {.ends = FAB_ENDS_HOSTS,
						     .n_threads = o->p->run.threads};
	const struct sim_row *x = o->rows, *end = x + o->n_rows;
	const char *origin = "the tables have no such cycle";
	const struct fab_sim_result *first;
	char packets[FAB_HUMAN_BYTES];
	struct fab_analysis j;
	struct fab_err err;

	while (x < end && !is_bad(x))
		x++;
	if (x == end)
		return;
	first = &x->point->first;
	if (!first->cycle.n) {
		fab_report_answer(
			r, FAB_TONE_BAD,
			"Stalled (%s): nothing moved any more, and no cycle was found.",
			name_of(o, x));
		return;
	}
	if (!x->net->routes || fab_analyse(x->net->routes, &options, &j, &err)) {
		origin = "no unicast table says which it is";
	} else {
		if (lanes_may_wait(o->p) && j.deadlock_free)
			origin =
				"of lanes that share all of a buffer: the tables have no such cycle (--set private-buffer)";
		else if (is_shortest(o->f, &j, first))
			origin = "it is the one that fabric-faults shows";
		else if (j.cycle_channels >= first->cycle.n)
			origin =
				"it is one of those that fabric-faults finds in the tables";
		fab_analysis_fini(&j);
	}
	fab_report_answer(r, FAB_TONE_BAD,
			  "Deadlock (%s): %s packets on %" PRIu64
			  " lanes can never move; a cycle of %zu is below, %s.",
			  name_of(o, x), fab_human_count(first->stuck_packets, packets),
			  first->stuck_channels, first->cycle.n, origin);
}

/* Pairs that tables do not connect, and where they send packets in a circle. */
static void say_no_path(struct fab_report *r, const struct sim_outcome *o)
{
	char pairs[FAB_HUMAN_BYTES], all[FAB_HUMAN_BYTES];

	for (const struct sim_net *net = o->nets; net < o->nets + o->n_nets; net++) {
		const struct fab_no_path *x = &net->no_path;

		if (x->without)
			fab_report_answer(
				r, FAB_TONE_BAD,
				"%s: %s of %s pairs of host ports have no path, as from %s to %s.",
				net->algorithm, fab_human_count(x->without, pairs),
				fab_human_count(x->pairs, all), end_text(o, x->from),
				end_text(o, x->to));
		if (net->circle)
			fab_report_answer(
				r, FAB_TONE_BAD,
				"%s: %s. %s pair%s of host ports lose%s packets there.",
				net->algorithm, net->circle,
				x->circling ? fab_human_count(x->circling, pairs) : "No",
				x->circling == 1 || !x->circling ? "" : "s",
				x->circling > 1 ? "" : "s");
	}
}

/* Restrictions of the results. */
static void say_doubts(struct fab_report *r, const struct sim_outcome *o)
{
	uint64_t unroutable = 0, looped = 0, unsteady = 0, limited = 0, unknown_sl = 0;
	uint64_t dropped = 0, trimmed = 0, packets = 0;
	const struct sim_net *looping = NULL;
	char n[FAB_HUMAN_BYTES];

	for (const struct sim_row *x = o->rows; x < o->rows + o->n_rows; x++) {
		unroutable += x->sum.unroutable;
		looped += x->sum.looped;
		dropped += x->sum.dropped;
		trimmed += x->sum.trimmed;
		packets += x->sum.packets + x->sum.dropped;
		if (x->sum.looped && !looping)
			looping = x->net;
		unknown_sl += x->sum.unknown_sl;
		unsteady += !x->sum.is_steady && !x->sum.n_saturated && !is_bad(x);
		limited =
			x->sum.credit_limited > limited ? x->sum.credit_limited : limited;
	}
	if (unroutable)
		fab_report_answer(r, FAB_TONE_BAD, "%s packets had no path.",
				  fab_human_count(unroutable, n));
	if (looping)
		fab_report_answer(
			r, FAB_TONE_BAD, "%s packets were dropped after %d hops%s.",
			fab_human_count(looped, n),
			o->p->sim.chooser ? FAB_SIM_ADAPTIVE_HOPS_MAX : FAB_SIM_HOPS_MAX,
			looping->no_path.circling ? ""
			: looping->routes	  ? ": their path is longer"
						  : ": the trees loop");
	if (dropped || trimmed)
		fab_report_answer(
			r, FAB_TONE_WARN,
			trimmed ? "Full buffers dropped %.3g %% of the packets, and the payload of %.3g %% more."
				: "Full buffers dropped %.3g %% of the packets.",
			100 * (double)dropped / (double)packets,
			100 * (double)trimmed / (double)packets);
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

/* Remarks of the algorithms on their tables. */
void sim_say_notes(struct fab_report *r, const struct sim_outcome *o)
{
	for (size_t i = 0; i < o->n_nets; i++)
		if (o->nets[i].note)
			fab_report_answer(r, FAB_TONE_WARN, "%s: %s.",
					  o->nets[i].algorithm, o->nets[i].note);
	if (lanes_may_wait(o->p))
		fab_report_answer(
			r, FAB_TONE_WARN,
			"Lanes share all of a buffer: they can stall whatever the tables, without --set private-buffer.");
}

/* The shard, and of an interrupted sweep how much is complete and measured. */
static void say_extent(struct fab_report *r, const struct sim_outcome *o)
{
	fab_cli_answer_shard(r, &o->p->shard);
	if (!o->was_interrupted)
		return;
	fab_report_answer(r, FAB_TONE_WARN,
			  "Interrupted: %" PRIu64 " of %" PRIu64
			  " simulations are complete.",
			  o->points.n_done, o->points.n_items);
	for (const struct sim_row *x = o->rows; x < o->rows + o->n_rows; x++)
		if (x->sum.n_stopped && !o->p->traffic_kind->is_finite)
			fab_report_answer(
				r, FAB_TONE_WARN,
				"%s was measured for %s of %s, and that is reported.",
				name_of(o, x), sim_time_text(o, x->sum.measured),
				sim_time_text(o, (double)o->p->sim.time / o->p->unit));
}

/* How good a result is: what arrives, or the time of finite traffic, less than zero. */
static double merit(const struct sim_outcome *o, const struct sim_row *x)
{
	if (!o->p->traffic_kind->is_finite)
		return is_bad(x) ? 0 : x->sum.accepted;
	return isnan(x->sum.completion) ? -INFINITY : -x->sum.completion;
}

static const char *merit_text(const struct sim_outcome *o, const struct sim_row *x)
{
	if (is_bad(x))
		return "it stalls";
	if (!o->p->traffic_kind->is_finite)
		return fab_arena_format(o->arena,
					"hosts get %.3g %% of what their cables carry",
					100 * x->sum.accepted);
	if (isnan(x->sum.completion))
		return "it is not finished";
	return fab_arena_format(o->arena, "all has arrived after %s",
				sim_time_text(o, x->sum.completion));
}

/* "16384 bytes", "8 packets" of a buffer. */
static const char *buffer_text(const struct sim_outcome *o, const struct sim_row *x)
{
	return fab_arena_format(o->arena, "%llu %s", (unsigned long long)x->sum.buffer,
				o->p->tick == SIM_TICK_FLIT ? "packets" : "bytes");
}

/* Several sizes of --buffer: the least of which more gives less than 1 % more. */
static void say_buffers(struct fab_report *r, const struct sim_outcome *o,
			const struct sim_net *net)
{
	const struct sim_row *enough = NULL, *least = NULL, *best = NULL, *last = NULL;

	for (const struct sim_row *x = o->rows; x < o->rows + o->n_rows; x++) {
		if (x->net != net)
			continue;
		least = least ? least : x;
		last = x;
		if (!best || merit(o, x) > merit(o, best))
			best = x;
	}
	for (const struct sim_row *x = o->rows; x < o->rows + o->n_rows && !enough; x++)
		if (x->net == net &&
		    merit(o, x) >= merit(o, best) - 0.01 * fabs(merit(o, best)))
			enough = x;
	if (!enough)
		return;
	fab_report_answer(
		r, FAB_TONE_PLAIN, "%s: with buffers of %s %s%s%s.", name_of(o, enough),
		buffer_text(o, enough), merit_text(o, enough),
		enough == last
			? ", with smaller ones it is worse: larger ones may carry more"
			: ", larger ones give less than 1 % more",
		enough == least
			? ""
			: fab_arena_format(o->arena, "; with %s %s",
					   buffer_text(o, least), merit_text(o, least)));
	say_fullest(r, o, enough);
}

#define AT(member) FAB_AT(struct sim_row, member)
static const struct fab_column buffer_columns[] = {
	{"algorithm", FAB_TEXT, "algorithm of tables or trees", 0, AT(algorithm)},
	{"buffer", FAB_UINT, "input buffer of a port, bytes; by flit packets", 0,
	 AT(sum.buffer)},
	{"accepted_per_live_host", FAB_REAL, "what arrived, share of the hosts' cables",
	 0, AT(sum.accepted)},
	{"completion_ns", FAB_REAL,
	 "when the last message of finite traffic has arrived; null: endless, or not all",
	 FAB_COL_EXACT, AT(sum.completion)},
	{"latency_ns_p99", FAB_REAL, "99 of 100 packets are not above; null: saturated",
	 FAB_COL_EXACT, AT(sum.latency_p99)},
	{"cause", FAB_TEXT, "contention, credits or load", 0, AT(cause_name)},
	{"deadlock", FAB_BOOL, "packets were seen that can never move again", 0,
	 AT(sum.is_deadlocked)},
};

static const struct fab_column cable_columns[] = {
	{"algorithm", FAB_TEXT, "algorithm of tables or trees", 0, AT(algorithm)},
	{"offered", FAB_REAL, "rate that was asked for; null: none", 0, AT(sum.rate)},
	{"cable", FAB_TEXT, "the direction, FROM:PORT -> TO:PORT", 0, AT(fullest)},
	{"utilisation", FAB_REAL, "share of the time that it was busy", 0,
	 AT(cause.utilisation)},
	{"mean_queue", FAB_REAL, "packets that waited for it, all lanes", 0,
	 AT(cause.mean_queue)},
	{"no_credit", FAB_REAL, "share of the time that packets waited there for credit",
	 0, AT(cause.no_credit)},
	{"cause", FAB_TEXT, "contention, credits or load", 0, AT(cause_name)},
};
#undef AT

static void print_buffers(struct fab_report *r, const struct sim_outcome *o)
{
	if (o->p->n_buffers > 1)
		fab_report_table(r, "buffers", "Buffers", buffer_columns,
				 FAB_COUNT(buffer_columns), o->rows, sizeof(*o->rows),
				 o->n_rows);
}

/* The fullest cable of each rate. */
static void print_cables(struct fab_report *r, const struct sim_outcome *o)
{
	fab_report_table_begin(r, "fullest", "Fullest cables", cable_columns,
			       FAB_COUNT(cable_columns));
	for (const struct sim_row *x = o->rows; x < o->rows + o->n_rows; x++)
		if (x->fullest)
			fab_report_record(r, x);
	fab_report_table_end(r);
}

/* Finite traffic by several algorithms: how much slower each is than the fastest. */
static void say_fastest(struct fab_report *r, const struct sim_outcome *o)
{
	const struct sim_row *best = o->rows, *end = o->rows + o->n_rows;
	const char *others = "";
	bool differ = false;

	for (const struct sim_row *x = o->rows; x < end; x++)
		if (merit(o, x) > merit(o, best))
			best = x;
	if (!o->p->traffic_kind->is_finite || isnan(best->sum.completion))
		return;
	for (const struct sim_row *x = o->rows; x < end; x++) {
		double ratio = x->sum.completion / best->sum.completion;

		if (x == best || isnan(ratio))
			continue;
		differ |= ratio >= 1.005;
		others =
			fab_arena_format(o->arena, "%s%s %s takes %.2f times as long",
					 others, *others ? "," : "", x->algorithm, ratio);
	}
	if (differ)
		fab_report_answer(r, FAB_TONE_PLAIN, "%s is fastest:%s.", best->algorithm,
				  others);
	else if (*others)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "All algorithms take equally long, within 0.5 %%.");
}

/* The rates of each algorithm, and the fullest cable where most arrives. */
static void say_rates(struct fab_report *r, const struct sim_outcome *o)
{
	for (size_t i = 0; i < o->n_nets && o->p->n_buffers > 1; i++)
		say_buffers(r, o, &o->nets[i]);
	if (o->p->n_buffers > 1)
		return;
	say_fastest(r, o);
	for (size_t i = 0, n; i < o->n_rows; i += n) {
		const struct sim_row *x = &o->rows[i], *best = x;

		n = sim_count_rows(o, i);
		for (size_t k = 1; k < n; k++)
			if (x[k].sum.accepted > best->sum.accepted)
				best = &x[k];
		if (o->p->traffic_kind->is_finite)
			say_finite(r, o, x);
		else if (n == 1)
			say_endless(r, o, x);
		else
			say_sweep(r, o, x, n, best);
		say_fullest(r, o, best);
	}
}

static const struct fab_column group_columns[] = {
	{"algorithm", FAB_TEXT, "algorithm of the trees", 0},
	{"offered", FAB_REAL, "rate that was asked for; null: closed loop", 0},
	{"group", FAB_TEXT, "name of the group", 0},
	{"messages", FAB_UINT, "messages that all members got", 0},
	{"latency_ns_mean", FAB_REAL,
	 "until the last member had them, ns (flit times by flit)", FAB_COL_EXACT},
	{"latency_ns_max", FAB_REAL, "the longest", FAB_COL_EXACT},
};

static const struct fab_column trace_columns[] = {
	{"algorithm", FAB_TEXT, "algorithm of tables or trees", 0},
	{"packet", FAB_UINT, "number of the packet, by creation", 0},
	{"birth_ns", FAB_REAL, "when the packet was created, ns (flit times by flit)",
	 FAB_COL_EXACT},
	{"source", FAB_TEXT, "host adapter that sends it", 0},
	{"target", FAB_TEXT, "host adapter or group that it is for", 0},
	{"hop", FAB_UINT, "0: the cable of the source", 0},
	{"cable", FAB_TEXT, "the direction, FROM:PORT -> TO:PORT", 0},
	{"vl", FAB_UINT, "lane", 0},
	{"arrived_ns", FAB_REAL, "its head came to that port", FAB_COL_EXACT},
	{"left_ns", FAB_REAL, "its head left by that port", FAB_COL_EXACT},
};

static const struct fab_column cycle_columns[] = {
	{"algorithm", FAB_TEXT, "algorithm of tables or trees", 0},
	{"offered", FAB_REAL, "rate that was asked for; null: none", 0},
	{"step", FAB_UINT, "position in the cycle, from 1", 0},
	{"switch", FAB_TEXT, "node that sends into the buffer", 0},
	{"port", FAB_UINT, "port it sends by", 0},
	{"peer", FAB_TEXT, "switch with the buffer", 0},
	{"vl", FAB_UINT, "virtual lane", 0},
	{"packets", FAB_UINT, "packets that it holds", 0},
	{"source", FAB_TEXT, "host adapter that sent the first of them", 0},
	{"target", FAB_TEXT, "host adapter or group that it is for", 0},
};

/* A printed time, in units of the report. */
static union fab_cell time_cell(const struct sim_outcome *o, double ticks)
{
	return (union fab_cell){.real = ticks / o->p->unit};
}

/* Deadlocks: the channels of each cycle. */
static void print_cycles(struct fab_report *r, const struct sim_outcome *o)
{
	const struct fab_fabric *f = o->f;
	size_t n = 0;

	for (const struct sim_row *x = o->rows; x < o->rows + o->n_rows; x++)
		n += x->point->first.cycle.n;
	if (!n && fab_report_how(r)->format == FAB_FORMAT_TABLE)
		return;
	fab_report_table_begin(r, "cycle", "Deadlock: each waits for the next",
			       cycle_columns, FAB_COUNT(cycle_columns));
	for (const struct sim_row *x = o->rows; x < o->rows + o->n_rows; x++)
		for (size_t k = 0; k < x->point->first.cycle.n; k++) {
			const struct fab_sim_channel *c = &x->point->first.cycle.v[k];
			uint32_t peer = fab_port_peer(f, c->port);

			fab_report_row(
				r,
				(const union fab_cell[]){
					{.text = x->algorithm},
					{.real = x->sum.rate},
					{.u = k + 1},
					{.text = sim_keep(
						 o, fab_node_text(
							    f, f->port_node[c->port]))},
					{.u = f->port_num[c->port]},
					{.text = sim_keep(
						 o,
						 fab_node_text(f, f->port_node[peer]))},
					{.u = c->vl},
					{.u = c->packets},
					{.text = end_text(o, c->source)},
					{.text = c->to_group ? fab_group_name(o->groups,
									      c->target)
							     : end_text(o, c->target)}});
		}
	fab_report_table_end(r);
}

static void print_groups(struct fab_report *r, const struct sim_outcome *o)
{
	if (!o->groups)
		return;
	fab_report_table_begin(r, "groups", "Groups", group_columns,
			       FAB_COUNT(group_columns));
	for (const struct sim_row *x = o->rows; x < o->rows + o->n_rows; x++)
		for (uint32_t g = 0; g < x->point->first.n_groups; g++) {
			const struct fab_sim_group *group = &x->point->first.group[g];
			bool has_latency =
				group->messages && !x->point->first.is_saturated;
			double mean = has_latency ? group->latency_mean : (double)NAN;
			double max =
				has_latency ? (double)group->latency_max : (double)NAN;

			fab_report_row(r, (const union fab_cell[]){
						  {.text = x->algorithm},
						  {.real = x->sum.rate},
						  {.text = fab_group_name(o->groups, g)},
						  {.u = group->messages},
						  time_cell(o, mean),
						  time_cell(o, max)});
		}
	fab_report_table_end(r);
}

static void print_trace(struct fab_report *r, const struct sim_outcome *o)
{
	if (!o->p->n_traced)
		return;
	fab_report_table_begin(r, "trace", "Packets hop by hop", trace_columns,
			       FAB_COUNT(trace_columns));
	for (const struct sim_row *x = o->rows; x < o->rows + o->n_rows; x++)
		for (size_t k = 0; k < x->point->first.trace.n; k++) {
			const struct fab_sim_step *s = &x->point->first.trace.v[k];
			const char *target =
				s->to_group ? fab_group_name(o->groups, s->target)
					    : end_name(o, s->target);

			fab_report_row(
				r, (const union fab_cell[]){
					   {.text = x->algorithm},
					   {.u = s->packet},
					   time_cell(o, (double)s->birth),
					   {.text = end_name(o, s->source)},
					   {.text = target},
					   {.u = s->hop},
					   {.text = sim_keep(
						    o, fab_cable_text(o->f, s->port))},
					   {.u = s->vl},
					   time_cell(o, (double)s->arrived),
					   time_cell(o, (double)s->left)});
		}
	fab_report_table_end(r);
}

/* Parameters of the simulation. */
void sim_print_parameters(struct fab_report *r, const struct sim_outcome *o)
{
	const struct fab_sim_params *s = &o->p->sim;
	const struct {
		const char *name;
		double value;
	} all[] = {
		{"parameters.buffer", s->buffer},
		{"parameters.private_buffer",
		 s->buffer_shared ? s->buffer_private : (double)NAN},
		{"parameters.ecn", s->ecn ? s->ecn : (double)NAN},
		{"parameters.packet", s->mtu},
		{"parameters.header", s->header},
		{"parameters.multicast_header", s->group_header},
		{"parameters.rate_gbps",
		 o->p->tick == SIM_TICK_FLIT ? (double)NAN : s->rate_gbps},
		{"parameters.switch_delay_ns", (double)s->switch_delay / o->p->unit},
		{"parameters.cable_delay_ns", (double)s->cable_delay / o->p->unit},
		{"parameters.host_delay_ns", (double)s->host_delay / o->p->unit},
		{"parameters.speedup", s->speedup},
		{"parameters.unknown_rates", o->n_unknown_rates},
		{"parameters.seed", (double)o->p->run.seed},
	};

	fab_cli_report_shard(r, &o->p->shard);
	if (!o->p->pair)
		fab_report_text(r, "traffic", o->p->traffic);
	fab_report_text(r, "route", fab_sim_route_choices.at(o->p->route).form);
	fab_report_text(r, "switch", s->kind->name);
	fab_report_text(r, "tick", o->p->tick == SIM_TICK_FLIT ? "flit" : "ps");
	for (size_t i = 0; i < FAB_COUNT(all); i++)
		fab_report_real(r, all[i].name, FAB_COL_EXTRA | FAB_COL_EXACT,
				all[i].value);
}

/* One packet in an idle network. */
static void report_pairs(struct fab_report *r, const struct fab_work *w)
{
	static const struct fab_column fields[] = {
		{"pair.source", FAB_TEXT, "host adapter that sends", 0},
		{"pair.target", FAB_TEXT, "host adapter that receives", 0},
		{"pair.hops", FAB_UINT, "switch-to-switch hops by the first algorithm",
		 0},
		{"pair.latency_ns", FAB_REAL, "its latency, ns (flit times by flit)",
		 FAB_COL_EXACT},
	};
	const struct sim_outcome *o = w->outcome;
	const struct sim_pair *first = &o->pairs[0];
	const union fab_cell cells[] = {{.text = fab_node_name(o->f, o->from.node)},
					{.text = fab_node_name(o->f, o->to.node)},
					{.u = first->hops},
					{.real = first->latency}};

	for (const struct sim_pair *x = first; x < first + o->n_nets; x++)
		if (x->why)
			fab_report_answer(r, FAB_TONE_BAD, "%s: no path: %s.",
					  x->algorithm, x->why);
		else
			fab_report_answer(
				r, FAB_TONE_PLAIN,
				"%s: %s in an idle network, %u hops between switches.",
				x->algorithm, sim_time_text(o, x->latency), x->hops);
	sim_say_notes(r, o);
	sim_print_parameters(r, o);
	for (size_t i = 0; i < FAB_COUNT(fields); i++)
		fab_report_field(r, &fields[i], cells[i]);
	fab_report_table(r, "pairs", "One packet in an idle network", w->columns.v,
			 w->columns.n, o->pairs, sizeof(*o->pairs), o->n_nets);
}

/* Fields of the sweep, and its main table. */
static void print_rates(struct fab_report *r, const struct sim_outcome *o)
{
	static const struct fab_column interrupted = {"interrupted", FAB_BOOL, "",
						      FAB_COL_EXTRA};

	fab_report_uint(r, "hosts_live", o->ends.n);
	fab_report_field(r, &interrupted, (union fab_cell){.u = o->was_interrupted});
	if (o->was_interrupted) {
		fab_report_uint(r, "simulations", o->points.n_done);
		fab_report_uint(r, "all_simulations", o->points.n_items);
	}
	fab_report_table(r, "results", "Rates", sim_columns, sim_n_columns, o->rows,
			 sizeof(*o->rows), o->n_rows);
}

/* Parts of the report, in order; each prints nothing where it does not apply. */
static void (*const parts[])(struct fab_report *r, const struct sim_outcome *o) = {
	say_no_path,  say_extent,	    say_stall,	 say_rates,	sim_say_notes,
	say_doubts,   sim_print_parameters, print_rates, print_buffers, print_cables,
	print_cycles, print_groups,	    print_trace,
};

void sim_draw(struct fab_drawing *d, const struct fab_work *w)
{
	const struct sim_outcome *o = w->outcome;
	const struct sim_row *row = o->n_rows ? &o->rows[sim_count_rows(o, 0) - 1] : NULL;
	const struct fab_sim_result *result = row ? &row->point->first : NULL;
	const char *name = row ? row->algorithm : NULL;
	double *sent;

	fab_cli_mark_faults(d, w->f, o->dead);
	/* trees on what is left have ports of another fabric */
	if (!row || o->left)
		return;
	sent = FAB_ARENA_NEW0(w->arena, (size_t)w->f->n_ports + 1, double);
	for (size_t k = 0; k < result->n_cables; k++)
		sent[result->cable[k].port] = 100 * result->cable[k].utilisation;
	fab_cli_draw_sent(
		d, w->f, sent, "% of the time",
		isnan(row->sum.rate)
			? fab_arena_format(w->arena, "How long a cable is busy, by %s",
					   name)
			: fab_arena_format(w->arena,
					   "How long a cable is busy, by %s at rate %g",
					   name, row->sum.rate));
	if (result->cycle.n)
		fab_drawing_mark(d, FAB_TONE_BAD,
				 fab_arena_format(w->arena,
						  "stalled by %s: %zu channels wait for "
						  "each other",
						  name, result->cycle.n));
	for (size_t k = 0; k < result->cycle.n; k++)
		fab_drawing_mark_cable(d, w->f->port_cable[result->cycle.v[k].port]);
}

void sim_report(struct fab_report *r, const struct fab_work *w)
{
	const struct sim_outcome *o = w->outcome;

	if (o->p->pair)
		report_pairs(r, w);
	for (size_t i = 0; i < FAB_COUNT(parts) && !o->p->pair; i++)
		parts[i](r, o);
}
