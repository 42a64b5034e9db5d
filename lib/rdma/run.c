/* SPDX-License-Identifier: BSD-2-Clause */
/* A run from its beginning to its results. */
#include "rdma/state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/order.h"

enum { SLOT_BITS = 14, SLOTS = 1 << 14, SLOTS_FEW = 1 << 12, MANY = 64 };

static const double PS_PER_US = 1e6, PS_PER_S = 1e12;

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void init_ports(struct rdma *r)
{
	const struct sim_net *s = &r->net->sim;

	r->n_ports = s->n_ports;
	r->n_switches = s->n_switches;
	r->end_port = s->end_port;
	r->next = r->problem->routes ? r->problem->routes->next : NULL;
	r->is_spray = r->net->params.routing == FAB_RDMA_SPRAY;
	r->mask = r->net->mask;
	r->is_adaptive = r->net->params.routing != FAB_RDMA_BY_TABLE;
	r->port = FAB_NEW(s->n_all + 1, struct rdma_port);
	r->busy = FAB_NEW0(s->n_all + 1, uint64_t);
	for (uint32_t p = 0; p < s->n_all; p++) {
		bool is_end = p >= s->n_ports;

		r->port[p] = (struct rdma_port){
			.per_byte = s->per_byte[p],
			.peer = s->peer[p],
			.sw = is_end ? FAB_NONE : s->port_sw[p],
			.first = is_end ? FAB_NONE : s->port_first[s->port_sw[p]]};
	}
	r->n_marks = s->n_all + s->n_ends;
	r->marks = FAB_NEW0(r->n_marks / 64 + 1, uint64_t);
	r->marks_used = FAB_NEW0(r->n_marks / 4096 + 1, uint64_t);
	r->marked = FAB_NEW(r->n_marks + 1, uint32_t);
	r->end = FAB_NEW0(s->n_ends + 1, struct rdma_end);
	for (uint32_t e = 0; e < s->n_ends; e++) {
		struct rdma_end *end = &r->end[e];

		end->control_head = end->control_tail = FAB_NONE;
		end->ring_head = end->ring_tail = FAB_NONE;
		end->pending_head = end->pending_tail = FAB_NONE;
	}
}

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

/* Packets in flight that irn and sack-ro allow. */
static uint64_t cap_of(const struct fab_rdma_net *net,
		       const struct fab_rdma_params *params)
{
	return params->cap ? params->cap : fab_rdma_in_flight(net, params);
}

uint32_t fab_rdma_width(const struct fab_rdma_net *net,
			const struct fab_rdma_params *params,
			const struct fab_rdma_scheme *scheme, uint64_t packets)
{
	uint64_t cap = scheme->has_window ? params->window : cap_of(net, params);

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

static void init_transfers(struct rdma *r)
{
	uint32_t n = r->problem->n_transfers;

	r->next_pending = FAB_NEW(n + 1, uint32_t);
	r->session_of = FAB_NEW(n + 1, uint32_t);
	r->is = FAB_NEW0(n + 1, struct rdma_identity);
	r->record_of = fab_map64_new(n < 4096 ? n : 4096);
	r->result->n_transfers = n;
	r->result->fate = FAB_NEW(n + 1, struct fab_rdma_fate);
	for (uint32_t i = 0; i < n; i++) {
		r->session_of[i] = FAB_NONE;
		r->result->fate[i] =
			(struct fab_rdma_fate){.done_ps = UINT64_MAX, .has_path = true};
		r->result->n_packets +=
			rdma_packets(r->problem->transfer[i].bytes, r->params->mtu);
		fab_wheel_add(&r->wheel, r->problem->transfer[i].start_ps,
			      rdma_what(RDMA_START, 0), i);
	}
}

static int init(struct rdma *r, struct fab_err *err)
{
	const struct fab_rdma_params *params = r->params;
	uint32_t n = r->problem->n_transfers;

	r->free_packet = r->free_session = FAB_NONE;
	r->n_vls = r->net->n_vls;
	r->rto = params->rto_ps;
	r->ask = params->ask_ps ? params->ask_ps : 4 * params->rto_ps;
	fab_wheel_init(&r->wheel, SLOT_BITS,
		       params->by_heap ? 0
		       : n < MANY      ? SLOTS_FEW
				       : SLOTS);
	init_ports(r);
	if (r->net->params.buffer)
		rdma_bounded_init(r);
	init_transfers(r);
	r->cap = cap_of(r->net, params);
	r->result->no_deadlock = !r->net->params.buffer ? "buffers without bounds"
				 : r->net->n_vls > r->net->sim.n_vls
					 ? "escape lanes, those of the tables"
					 : "lanes of the tables";
	return rdma_chance_init(r, err);
}

static void fini(struct rdma *r)
{
	fab_wheel_fini(&r->wheel);
	for (size_t i = 0; i < r->session.n; i++) {
		free(r->session.v[i]->block);
		free(r->session.v[i]->memory);
		free(r->session.v[i]);
	}
	for (uint32_t e = 0; r->end && e < r->net->sim.n_ends; e++) {
		free(r->end[e].context.v);
		free(r->end[e].free_cid.v);
		free(r->end[e].slot.v);
		free(r->end[e].free_slot.v);
		free(r->end[e].slot_msgid.v);
		free(r->end[e].queue.v);
	}
	free(r->session.v);
	fab_free_big(r->packet.v, r->packet.cap, sizeof(*r->packet.v));
	free(r->port);
	free(r->busy);
	free(r->end);
	free(r->next_pending);
	free(r->session_of);
	free(r->is);
	fab_map64_free(r->record_of);
	free(r->record.v);
	free(r->lane);
	free(r->turn);
	free(r->is_waiting);
	free(r->in_port);
	free(r->batch.v);
	free(r->spare.v);
	free(r->marks);
	free(r->marks_used);
	free(r->marked);
	rdma_chance_fini(r);
}

static size_t bytes_used(const struct rdma *r)
{
	size_t sum = fab_wheel_bytes(&r->wheel) + r->packet.cap * sizeof(*r->packet.v) +
		     r->net->sim.n_all * (sizeof(*r->port) + sizeof(*r->busy)) +
		     r->net->sim.n_ends * sizeof(*r->end) +
		     r->session.n * sizeof(**r->session.v) +
		     r->problem->n_transfers * (sizeof(*r->is) + 2 * sizeof(uint32_t) +
						sizeof(struct fab_rdma_fate));

	return sum;
}

/* Times of those that are done. */
static void sum_up(const struct rdma *r)
{
	struct fab_rdma_result *result = r->result;
	double *us = FAB_NEW(result->n_transfers + 1, double), bits = 0, goodputs = 0;
	uint64_t first = UINT64_MAX, last = 0, sent = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < result->n_transfers; i++) {
		const struct fab_rdma_transfer *t = &r->problem->transfer[i];
		const struct fab_rdma_fate *fate = &result->fate[i];
		double time;

		sent += fate->sent;
		if (t->start_ps < first)
			first = t->start_ps;
		if (fate->done_ps == UINT64_MAX)
			continue;
		time = (double)(fate->done_ps - t->start_ps);
		us[n++] = time / PS_PER_US;
		bits += 8 * (double)t->bytes;
		goodputs += 8 * (double)t->bytes / time * PS_PER_S / 1e9;
		if (fate->done_ps > last)
			last = fate->done_ps;
	}
	result->completion_mean = result->completion_p50 = NAN;
	result->completion_p99 = result->completion_max = NAN;
	if (n) {
		double sum = 0;

		qsort(us, n, sizeof(*us), fab_cmp_double);
		for (uint32_t i = 0; i < n; i++)
			sum += us[i];
		result->completion_mean = sum / n;
		result->completion_p50 = fab_quantile(us, n, 0.5);
		result->completion_p99 = fab_quantile(us, n, 0.99);
		result->completion_max = us[n - 1];
		result->goodput_gbps = bits / (double)(last - first) * PS_PER_S / 1e9;
		result->goodput_mean = goodputs / n;
	}
	result->rounds = result->n_packets ? (double)sent / (double)result->n_packets : 0;
	result->n_hung = result->n_transfers - result->n_done - result->n_no_path;
	free(us);
}

void fab_rdma_result_fini(struct fab_rdma_result *result)
{
	free(result->fate);
	free(result->trace.v);
	*result = (struct fab_rdma_result){0};
}

int fab_rdma_run(const struct fab_rdma_net *net, const struct fab_rdma_params *params,
		 const struct fab_rdma_scheme *scheme, struct fab_rdma_result *result,
		 struct fab_err *err)
{
	struct fab_rdma_params used = *params;
	struct rdma r = {.net = net,
			 .problem = net->problem,
			 .params = &used,
			 .code = scheme->code,
			 .result = result};
	double begun = cpu_seconds();
	int rc;

	*result = (struct fab_rdma_result){.scheme = scheme};
	rc = fab_rdma_check(net->problem, params, err);
	if (rc)
		return rc;
	if (!used.end_ps)
		used.end_ps = FAB_RDMA_TIME_MAX_PS;
	if (!used.concurrency || used.concurrency > FAB_RDMA_CONTEXTS_MAX)
		used.concurrency = FAB_RDMA_CONTEXTS_MAX;
	rc = init(&r, err);
	if (!rc) {
		rdma_go(&r);
		if (r.is_over)
			rc = fab_fail(err, ECANCELED, "stopped");
	}
	if (!rc) {
		sum_up(&r);
		result->end_ps = r.now;
		if (r.longest_wait)
			result->peak_queue_bytes = (r.longest_wait << SIM_RATE_SHIFT) /
						   r.port[r.longest_port].per_byte;
		result->bytes = bytes_used(&r);
	}
	fini(&r);
	result->simulate_seconds = cpu_seconds() - begun;
	return rc;
}
