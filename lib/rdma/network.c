/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Before a run: names and defaults, a check of problem and parameters, the network made
 * ready (round trips, times of an idle network), and estimates of effort and width that
 * need no simulation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/units.h"
#include "rdma/state.h"

/* Names and defaults */

static const char *const retries[] = {"delay", "backoff", "queue"};
const struct fab_choices fab_rdma_retry_choices = {
	.what = "retry policy", .n = FAB_COUNT(retries), .names = retries};

static const char *const multis[] = {"consecutive", "same"};
const struct fab_choices fab_rdma_multi_choices = {
	.what = "rule", .n = FAB_COUNT(multis), .names = multis};

static const char *const delays[] = {"U", "E", "F"};
const struct fab_choices fab_rdma_delay_choices = {
	.what = "distribution", .n = FAB_COUNT(delays), .names = delays};

struct fab_rdma_params fab_rdma_defaults(void)
{
	const uint64_t ns = 1000, us = 1000 * ns;

	return (struct fab_rdma_params){.mtu = 2048,
					.header = 26,
					.control = 30,
					.rate_gbps = 100,
					.switch_ps = 100 * ns,
					.cable_ps = 10 * ns,
					.contexts = 4096,
					.retry_ps = 10 * us,
					.msgid_bits = 20,
					.bad.check_bits = 32,
					.window = 128,
					.rto_ps = 20 * us,
					.singles = 3,
					.plus = FAB_RDMA_PLUS,
					.timers = 4,
					.rto_low_ps = 100 * us,
					.rto_high_ps = 320 * us,
					.few = 3,
					.seed = 1};
}

static const char PS[] = "ps"; /* unit of times */

/* Ranges of numbers and times. */
static int check_ranges(const struct fab_rdma_params *p, struct fab_err *err)
{
	const uint64_t time = FAB_RDMA_TIME_MAX_PS;
	const struct {
		const char *what, *unit;
		uint64_t value, low, high;
	} range[] = {
		{"MTU", " bytes", p->mtu, 1, FAB_RDMA_MTU_MAX},
		{"headers of a data packet", " bytes", p->header, 0, 4096},
		{"a control packet", " bytes", p->control, 1, 4096},
		{"contexts of an endpoint", "", p->contexts, 1, FAB_RDMA_CONTEXTS_MAX},
		{"width of the MSGID", " bits", p->msgid_bits, 1, 32},
		{"width of the transport check", " bits", p->bad.check_bits, 0, 64},
		{"window of the receiver", " packets", p->window, 1, FAB_RDMA_WINDOW_MAX},
		{"window of the sender", " packets", p->sender_window, 0,
		 FAB_RDMA_PACKETS_MAX},
		{"retransmission timeout", PS, p->rto_ps, 1, time},
		{"timeout with few packets in flight", PS, p->rto_low_ps, 1, time},
		{"timeout with many packets in flight", PS, p->rto_high_ps, 1, time},
		{"timers of a context", "", p->timers, 1, FAB_RDMA_TIMERS_MAX},
		{"delay of a refused request", PS, p->retry_ps, 1, time},
		{"time after which a sender asks", PS, p->ask_ps, 0, time},
		{"time by which packets may come late", PS, p->reorder_ps, 0, time},
		{"delay of packets that are held up", PS, p->bad.delay_ps, 0, time},
		{"delay of a switch", PS, p->switch_ps, 0, time},
		{"delay of a cable", PS, p->cable_ps, 0, time},
		{"delay of a host", PS, p->host_ps, 0, time},
		{"delay of a switch and a cable together", PS, p->switch_ps + p->cable_ps,
		 1, 2 * time},
		{"simulated time", PS, p->end_ps, 0, FAB_RDMA_END_MAX_PS},
		{"parts of rsw+", "", p->plus, 0, FAB_RDMA_PLUS},
	};
	char value[FAB_HUMAN_BYTES], high[FAB_HUMAN_BYTES];

	for (size_t i = 0; i < FAB_COUNT(range); i++) {
		uint64_t v = range[i].value, low = range[i].low, most = range[i].high;

		if (v >= low && v <= most)
			continue;
		if (range[i].unit != PS)
			return fab_fail(err, EINVAL, "%s: %llu%s, expected %llu to %llu",
					range[i].what, (unsigned long long)v,
					range[i].unit, (unsigned long long)low,
					(unsigned long long)most);
		return fab_fail(err, EINVAL, "%s: %s, expected %s %s", range[i].what,
				fab_human_seconds((double)v * 1e-12, value),
				low ? "more than 0 and at most" : "at most",
				fab_human_seconds((double)most * 1e-12, high));
	}
	return 0;
}

/* The network as lib/sim takes it. */
static struct fab_sim_problem sim_problem_of(const struct fab_rdma_problem *p)
{
	return (struct fab_sim_problem){
		.f = p->f, .faults = p->faults, .ends = p->ends, .routes = p->routes};
}

static struct fab_sim_params sim_params_of(const struct fab_rdma_params *p)
{
	/* a RESEND may have a vector of the window's gaps */
	uint32_t control = p->control + (p->window + 7) / 8;
	struct fab_sim_params s = fab_sim_defaults();

	fab_sim_set_routing(&s, p->routing,
			    fab_choices_find(&fab_sim_chooser_choices, "least", 5));
	s.seed = fab_mix64(p->seed + 4);
	s.buffer = p->buffer;
	s.buffer_per_vl = !p->buffer_shared;
	s.drop = p->drop;
	s.buffer_shared = p->buffer_shared;
	s.buffer_private = p->buffer_private;
	s.ecn = p->ecn;
	s.mtu = p->mtu;
	s.header = control > p->mtu + p->header ? control - p->mtu : p->header;
	s.rate_gbps = p->rate_gbps;
	s.all_rates = p->all_rates;
	s.switch_delay = p->switch_ps;
	s.cable_delay = p->cable_ps;
	s.host_delay = p->host_ps;
	s.n_threads = 1;
	s.by_heap = p->by_heap;
	return s;
}

int fab_rdma_check(const struct fab_rdma_problem *problem,
		   const struct fab_rdma_params *params, struct fab_err *err)
{
	const struct fab_rdma_impairments *bad = &params->bad;
	const struct fab_sim_problem sim_problem = sim_problem_of(problem);
	const struct {
		const char *what;
		double value;
	} share[] = {{"loss", bad->loss},
		     {"loss of control packets", bad->drop_control},
		     {"share of packets that arrive damaged", bad->corrupt},
		     {"share of packets that are held up", bad->delayed}};
	const struct fab_rule rules[] = {
		{params->routing >= FAB_SIM_BY_VALIANT && !params->buffer,
		 "detours need buffers with bounds: a size of them"},
		{(params->rate_control == FAB_RDMA_DCTCP ||
		  params->rate_control == FAB_RDMA_DCQCN) &&
			 !params->ecn,
		 "rate control by marks: no packet is marked without a threshold"},
		{!problem->routes && params->routing < FAB_SIM_BY_QUEUE,
		 "no tables to route by"},
		{!params->buffer && params->drop,
		 "buffers without bounds drop nothing: give their size (--buffer)"},
		{!params->buffer && params->buffer_shared,
		 "buffers without bounds are not shared: give their size (--buffer)"},
	};
	struct fab_sim_params sim_params;
	int rc = check_ranges(params, err);

	if (!rc)
		rc = fab_fail_first(err, rules, FAB_COUNT(rules));
	if (rc)
		return rc;
	if (!(params->rate_gbps >= FAB_SIM_GBPS_MIN &&
	      params->rate_gbps <= FAB_SIM_GBPS_MAX))
		return fab_fail(err, EINVAL,
				"a data rate of %g Gb/s: %g to %g are possible",
				params->rate_gbps, FAB_SIM_GBPS_MIN, FAB_SIM_GBPS_MAX);
	for (size_t i = 0; i < FAB_COUNT(share); i++)
		if (!(share[i].value >= 0 && share[i].value <= 1))
			return fab_fail(err, EINVAL,
					"%s: %g is no share, 0 .. 1 was expected",
					share[i].what, share[i].value);
	if (bad->burst != 0 && !(bad->burst >= 1 && bad->burst <= 1e6))
		return fab_fail(err, EINVAL,
				"burst: %g losses in a row, 1 .. 1000000 was expected",
				bad->burst);
	if (bad->burst > 1 && bad->loss > bad->burst / (bad->burst + 1))
		return fab_fail(
			err, EINVAL,
			"a loss of %g in bursts of %g on average is impossible: at most %g",
			bad->loss, bad->burst, bad->burst / (bad->burst + 1));
	for (size_t i = 0; i < bad->n_outages; i++)
		if (bad->outage[i].from_ps > bad->outage[i].until_ps)
			return fab_fail(err, EINVAL, "outage %zu ends before it begins",
					i);
	if (problem->n_transfers > FAB_RDMA_TRANSFERS_MAX)
		return fab_fail(err, EINVAL, "more than %d transfers",
				FAB_RDMA_TRANSFERS_MAX);
	if (problem->ends->n > FAB_RDMA_ENDS_MAX)
		return fab_fail(err, EINVAL, "more than %d endpoints", FAB_RDMA_ENDS_MAX);
	if (!params->buffer)
		return 0;
	sim_params = sim_params_of(params);
	return fab_sim_check(&sim_problem, &sim_params, err);
}

/* The network made ready */

static bool by_table(const struct fab_rdma_net *net)
{
	return net->params.routing < FAB_SIM_BY_QUEUE;
}

uint32_t rdma_net_path(const struct fab_rdma_net *net, uint32_t from, uint32_t to,
		       uint32_t port[FAB_RDMA_HOPS_MAX])
{
	const struct sim_net *s = &net->sim;
	uint32_t sw = s->port_sw[s->end_port[from]], goal = s->port_sw[s->end_port[to]];
	uint32_t n = 0;
	uint16_t arc[SIM_NEAR_MAX];

	port[n++] = s->n_ports + from;
	while (sw != goal || (by_table(net) && s->end_row[to] == FAB_NONE)) {
		uint32_t out;

		if (by_table(net)) {
			if (s->end_row[to] == FAB_NONE)
				return 0;
			out = net->problem->routes
				      ->next[(size_t)s->end_row[to] * s->n_switches + sw];
		} else {
			out = sim_net_near(s, s->end_near[to], sw, arc) ? arc[0]
									: FAB_ARC_NONE;
		}
		if (out >=
		    net->problem->f->arc_first[sw + 1] - net->problem->f->arc_first[sw])
			return 0;
		out += s->port_first[sw];
		if (s->peer[out] == FAB_NONE || n + 1 == FAB_RDMA_HOPS_MAX)
			return 0;
		port[n++] = out;
		sw = s->port_sw[s->peer[out]];
	}
	port[n++] = s->end_port[to];
	return n;
}

/* Time of delivery of a packet that is put on the first port at `time`; the ports are
 * then busy until busy[]. */
static uint64_t send_along(const struct fab_rdma_net *net, const uint32_t *port,
			   uint32_t n, uint32_t bytes, uint64_t time, uint64_t *busy)
{
	const struct fab_rdma_params *params = &net->params;
	uint64_t before = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t wire = sim_wire(net->sim.per_byte[port[i]], bytes);

		if (before > wire)
			time += before - wire;
		if (busy[i] > time)
			time = busy[i];
		busy[i] = time + wire;
		time += params->cable_ps + (i + 1 < n ? params->switch_ps : wire);
		before = wire;
	}
	return time + params->host_ps;
}

/* Time from the start of a packet on the wire to its delivery in an idle network; 0: no
 * path. */
static uint64_t latency(const struct fab_rdma_net *net, uint32_t from, uint32_t to,
			uint32_t bytes)
{
	uint32_t port[FAB_RDMA_HOPS_MAX], n = rdma_net_path(net, from, to, port);
	uint64_t busy[FAB_RDMA_HOPS_MAX] = {0};

	return n ? send_along(net, port, n, bytes, 0, busy) : 0;
}

uint64_t fab_rdma_round_trip(const struct fab_rdma_net *net, uint32_t transfer)
{
	const struct fab_rdma_transfer *t = &net->problem->transfer[transfer];
	uint32_t from = rdma_sender(t), to = rdma_receiver(t);
	uint32_t payload =
		t->bytes < net->params.mtu ? (uint32_t)t->bytes : net->params.mtu;
	uint64_t there = latency(net, from, to, payload + net->params.header);
	uint64_t back = latency(net, to, from, net->params.control);

	return there && back ? there + back : 0;
}

uint64_t fab_rdma_longest_round_trip(const struct fab_rdma_net *net)
{
	return net->round_trip;
}

uint64_t fab_rdma_ideal(const struct fab_rdma_net *net, uint32_t transfer)
{
	const struct fab_rdma_transfer *t = &net->problem->transfer[transfer];
	const struct fab_rdma_params *params = &net->params;
	uint32_t from = rdma_sender(t), to = rdma_receiver(t);
	uint64_t there = latency(net, from, to, params->control);
	uint64_t back = latency(net, to, from, params->control);
	uint64_t busy[FAB_RDMA_HOPS_MAX] = {0}, done = 0;
	uint32_t port[FAB_RDMA_HOPS_MAX], n = rdma_net_path(net, from, to, port);
	uint64_t packets = rdma_packets(t->bytes, params->mtu);

	if (!there || !back)
		return 0;
	for (uint64_t i = 0; i < packets; i++)
		done = send_along(net, port, n,
				  rdma_payload(t->bytes, params->mtu, i) + params->header,
				  busy[0], busy);
	/* a READ: the request, then the data; a WRITE: request, answer, completion, too
	 */
	if (t->is_read)
		return done + back;
	return done + back + (params->no_handshake ? 0 : there + back);
}

bool fab_rdma_has_path(const struct fab_rdma_net *net, uint32_t transfer)
{
	const struct fab_rdma_transfer *t = &net->problem->transfer[transfer];
	uint32_t port[FAB_RDMA_HOPS_MAX];

	return rdma_net_path(net, t->source, t->target, port) &&
	       rdma_net_path(net, t->target, t->source, port);
}

int fab_rdma_net_new(const struct fab_rdma_problem *problem,
		     const struct fab_rdma_params *params, struct fab_rdma_net **out,
		     struct fab_err *err)
{
	struct fab_rdma_net *net;
	int rc = fab_rdma_check(problem, params, err);

	if (rc)
		return rc;
	net = FAB_NEW0(1, struct fab_rdma_net);
	net->problem = problem;
	net->params = *params;
	net->sim_problem = sim_problem_of(problem);
	net->sim_params = sim_params_of(params);
	if (params->buffer && net->sim_params.chooser && !params->drop)
		rc = fab_sim_check_escape(&net->sim_problem, err);
	if (!rc)
		rc = sim_net_init(&net->sim, &net->sim_problem, &net->sim_params, err);
	for (uint32_t i = 0; i < problem->n_transfers && !rc; i++) {
		const struct fab_rdma_transfer *t = &problem->transfer[i];

		if (t->source >= problem->ends->n || t->target >= problem->ends->n)
			rc = fab_fail(err, EINVAL,
				      "transfer %u: no such endpoint, there are %u", i,
				      problem->ends->n);
		else if (t->source == t->target)
			rc = fab_fail(err, EINVAL, "transfer %u is to its own source", i);
		else if (!t->bytes)
			rc = fab_fail(err, EINVAL, "transfer %u has no bytes", i);
		else if (rdma_packets(t->bytes, params->mtu) > FAB_RDMA_PACKETS_MAX)
			rc = fab_fail(
				err, EINVAL,
				"transfer %u of %llu bytes has more than %d packets of %u: a smaller size or a larger MTU is needed",
				i, (unsigned long long)t->bytes, FAB_RDMA_PACKETS_MAX,
				params->mtu);
	}
	for (uint32_t i = 0; i < problem->n_transfers && !rc; i++) {
		uint64_t trip = fab_rdma_round_trip(net, i);

		net->round_trip = trip > net->round_trip ? trip : net->round_trip;
	}
	if (rc) {
		fab_rdma_net_free(net);
		return rc;
	}
	*out = net;
	return 0;
}

void fab_rdma_net_free(struct fab_rdma_net *net)
{
	if (!net)
		return;
	fab_arena_free(&net->sim.arena);
	free(net);
}

/* Estimates */

uint64_t fab_rdma_in_flight(const struct fab_rdma_net *net,
			    const struct fab_rdma_params *params)
{
	const struct fab_rdma_impairments *bad = &params->bad;
	uint64_t trip = net->round_trip, wire, most = 0;

	for (uint32_t e = 0; e < net->sim.n_ends; e++) {
		wire = sim_wire(net->sim.per_byte[net->sim.n_ports + e],
				params->mtu + params->header);
		if (!most || wire < most)
			most = wire;
	}
	/* those that are held up are in flight for longer */
	if (bad->delayed > 0)
		trip += bad->delay_ps;
	return most ? trip / most + 2 : 1;
}

uint64_t rdma_cap(const struct fab_rdma_net *net, const struct fab_rdma_params *params)
{
	return params->cap ? params->cap : fab_rdma_in_flight(net, params);
}

uint32_t fab_rdma_width(const struct fab_rdma_net *net,
			const struct fab_rdma_params *params,
			const struct fab_rdma_scheme *scheme, uint64_t packets)
{
	uint64_t cap = scheme->has_window ? params->window : rdma_cap(net, params);

	if (!scheme->has_window && packets < cap)
		cap = packets;
	return (uint32_t)cap;
}

struct fab_rdma_effort fab_rdma_effort(const struct fab_rdma_net *net,
				       const struct fab_rdma_params *params)
{
	enum { SAMPLE = 1000 };
	const struct fab_rdma_problem *problem = net->problem;
	const double each = sizeof(struct rdma_identity) + sizeof(struct fab_rdma_fate) +
			    2 * sizeof(uint32_t) + sizeof(struct rdma_record);
	uint32_t n = problem->n_transfers, step = n / SAMPLE + 1, port[FAB_RDMA_HOPS_MAX];
	double packets = 0, hops = 0, at_once = n, limit;

	for (uint32_t i = 0; i < n; i++)
		packets += (double)rdma_packets(problem->transfer[i].bytes, params->mtu);
	for (uint32_t i = 0; i < n; i += step)
		hops += rdma_net_path(net, rdma_sender(&problem->transfer[i]),
				      rdma_receiver(&problem->transfer[i]), port);
	limit = (double)net->sim.n_ends *
		(params->concurrency ? params->concurrency : FAB_RDMA_CONTEXTS_MAX);
	if (limit < at_once)
		at_once = limit;
	if (!n)
		return (struct fab_rdma_effort){.packet_hops = 0};
	/* of a packet each session counts how often it was sent, and whether it has come
	 */
	return (struct fab_rdma_effort){
		.packet_hops = packets * hops / ((n - 1) / step + 1),
		.bytes = n * each + at_once * ((double)sizeof(struct rdma_session) +
					       packets / n * 4.125)};
}
