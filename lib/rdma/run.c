/* SPDX-License-Identifier: BSD-2-Clause */
/* A run: the network with its host, until all transfers are done, and the results. */
#include "rdma/state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/order.h"
#include "base/rng.h"

enum {
	SLOTS = 1 << 14,     /* of the wheel, without bounds on buffers */
	SLOTS_FEW = 1 << 12, /* with fewer than MANY transfers */
	MANY = 64,
};

/* Time between looks whether it is to stop: of one endpoint, and of any number. */
static const uint64_t STEP_PS_ENDS = 2000000000, STEP_PS = 1000000;

static const double PS_PER_US = 1e6, PS_PER_S = 1e12;

/* Schemes */

#define ROW(row) &fab_rdma_scheme_##row,
const struct fab_rdma_scheme *const fab_rdma_schemes[] = {FAB_RDMA_SCHEMES(ROW)};
#undef ROW
const size_t fab_rdma_n_schemes = FAB_COUNT(fab_rdma_schemes);

FAB_CHOICES_OF(fab_rdma_scheme_choices, "scheme", FAB_COUNT(fab_rdma_schemes),
	       *fab_rdma_schemes[i], name);

/* Callbacks of the network */

static bool is_done(const struct rdma *r)
{
	return r->result->n_done + r->result->n_no_path == r->result->n_transfers;
}

static struct rdma *host(const struct sim_part *part)
{
	struct rdma *r = part->sim->context;

	r->now = part->now;
	return r;
}

static void on_send(struct sim_part *part, uint32_t end)
{
	rdma_send(host(part), end);
}

static void on_event(struct sim_part *part, uint32_t what, uint32_t item)
{
	enum rdma_event kind = (enum rdma_event)(what >> SIM_ID_BITS);
	struct rdma *r = host(part);

	if (kind == RDMA_START)
		rdma_start(r, item);
	else if (kind == RDMA_PULL_TIMER)
		rdma_rate_pull(r, item);
	else
		rdma_expire(r, kind, what & SIM_ID, item);
	part->rc = is_done(r);
}

static void on_arrival(struct sim_part *part, uint32_t end, uint32_t id)
{
	struct rdma *r = host(part);

	rdma_deliver(r, end, id);
	part->rc = is_done(r);
}

/* Cancelled? With a report of the progress by packets that have been sent at least once.
 */
static bool is_over(const struct rdma *r)
{
	const struct fab_rdma_params *p = r->params;
	const struct fab_rdma_result *result = r->result;
	uint64_t first = result->n.packets[FAB_RDMA_DATA] - result->n.retransmitted;

	fab_progress_report("simulating", "packets",
			    first < result->n_packets ? first : result->n_packets,
			    result->n_packets);
	return p->is_over && p->is_over(p->is_over_context);
}

/* Packets in buffers, none of which has moved for long. */
static bool is_stalled(const struct rdma *r)
{
	return !r->sim.open && sim_in_flight(&r->part->sums) &&
	       r->part->now > r->part->last_move + 1000 * (r->net->round_trip + r->rto);
}

/* Has a scheme sent so many copies that it will for ever (congestion collapse)? */
static bool is_hopeless(const struct rdma *r)
{
	return r->result->n.packets[FAB_RDMA_DATA] >
	       FAB_RDMA_ROUNDS_MAX * r->result->n_packets + FAB_RDMA_SENT_FREE;
}

/* Events until all transfers are done, nothing can move any more, or the end. */
static void go(struct rdma *r)
{
	const uint64_t step = STEP_PS + STEP_PS_ENDS / r->net->sim.n_ends;
	uint64_t limit = r->params->end_ps, time;

	while (!r->part->rc && (time = sim_part_first(r->part)) < limit) {
		/* at multiples of the step: the same with any queue */
		time = (time / step + 1) * step;
		r->sim.run(r->part, time < limit ? time : limit);
		r->is_over = is_over(r);
		r->result->is_stalled = !r->part->rc && is_stalled(r);
		if (r->is_over || r->result->is_stalled || is_hopeless(r))
			break;
	}
	r->now = r->part->now;
	r->result->events = r->part->sums.events;
	r->result->packet_hops = r->part->sums.packet_hops;
	r->result->n.marked = r->part->sums.marked;
	r->result->is_cut = !r->part->rc && !r->result->is_stalled &&
			    sim_part_first(r->part) != UINT64_MAX;
}

/* Beginning and end */

static int init(struct rdma *r, struct fab_err *err)
{
	const struct fab_rdma_params *params = r->params;
	const struct sim_net *s = &r->net->sim;
	uint32_t n = r->problem->n_transfers;
	struct sim_host host = {.send = on_send,
				.event = on_event,
				.arrived = on_arrival,
				.is_ordered = true,
				.counts_queues = true,
				.ends_hops = true};
	int rc = rdma_chance_init(r, err);

	if (rc)
		return rc;
	rdma_wires_host(r, &host);
	r->sim_params = r->net->sim_params;
	r->sim_params.seed = fab_mix64(params->seed + 4);
	r->sim_params.by_heap = params->by_heap;
	r->sim.net = *s; /* with an arena of this run */
	r->sim.net.arena = (struct fab_arena){0};
	if (!r->sim_params.buffer)
		sim_init_open(&r->sim, &r->sim_params, n < MANY ? SLOTS_FEW : SLOTS,
			      &host, r);
	else
		rc = sim_init(&r->sim, &r->sim_params, &host, r, err);
	if (rc)
		return rc;
	r->part = r->sim.part;
	r->rto = params->rto_ps;
	r->ask = params->ask_ps ? params->ask_ps : 4 * params->rto_ps;
	r->cap = rdma_cap(r->net, params);
	r->free_session = r->free_vector = FAB_NONE;
	r->end = FAB_ARENA_NEW(&r->arena, s->n_ends + 1, struct rdma_end);
	for (uint32_t e = 0; e < s->n_ends; e++)
		r->end[e] = (struct rdma_end){.control = {FAB_NONE, FAB_NONE},
					      .ring_head = FAB_NONE,
					      .ring_tail = FAB_NONE};
	r->pending = fab_queues_new(s->n_ends, n);
	r->refused = fab_queues_new(s->n_ends, n);
	r->session_of = FAB_ARENA_NEW(&r->arena, n + 1, uint32_t);
	r->is = FAB_ARENA_NEW0(&r->arena, n + 1, struct rdma_identity);
	r->record_of = fab_map64_new(n < 4096 ? n : 4096);
	r->result->fate = FAB_NEW(n + 1, struct fab_rdma_fate);
	for (uint32_t i = 0; i < n; i++) {
		const struct fab_rdma_transfer *t = &r->problem->transfer[i];

		r->session_of[i] = FAB_NONE;
		r->result->fate[i] = (struct fab_rdma_fate){.done_ps = UINT64_MAX};
		if (params->is_left_out && params->is_left_out[i])
			continue;
		r->result->n_transfers++;
		r->result->n_packets += rdma_packets(t->bytes, params->mtu);
		sim_event_at(r->part, t->start_ps, RDMA_START, 0, i);
	}
	r->result->no_deadlock =
		!r->net->params.buffer ? "buffers without bounds"
		: r->sim_params.drop   ? "full buffers drop"
		: r->sim_params.buffer_shared && !r->sim_params.buffer_private
			? "nothing: lanes have no part of a buffer alone"
		: r->sim_params.chooser ? "escape lanes, those of the tables"
					: "lanes of the tables";
	return 0;
}

static void fini(struct rdma *r)
{
	for (size_t i = 0; i < r->session.n; i++) {
		FAB_FREE_ALL(r->session.v[i]->block, r->session.v[i]->memory,
			     r->session.v[i]);
	}
	for (uint32_t e = 0; r->end && e < r->net->sim.n_ends; e++) {
		FAB_FREE_ALL(r->end[e].context.v, r->end[e].free_cid.v, r->end[e].slot.v,
			     r->end[e].free_slot.v, r->end[e].slot_msgid.v,
			     r->end[e].pull.v);
	}
	fab_queues_fini(&r->pending);
	fab_queues_fini(&r->refused);
	fab_map64_free(r->record_of);
	FAB_FREE_ALL(r->session.v, r->record.v, r->vector.v, r->rest);
	sim_fini(&r->sim);
	fab_arena_free(&r->arena);
}

/* Statistics of the transfers that are done. */
static void sum_up(const struct rdma *r)
{
	struct fab_rdma_result *result = r->result;
	double bits = 0, goodputs = 0;
	FAB_AUTOFREE double *us = FAB_NEW(result->n_transfers + 1, double);
	uint64_t first = UINT64_MAX, last = 0, sent = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->problem->n_transfers; i++) {
		const struct fab_rdma_transfer *t = &r->problem->transfer[i];
		const struct fab_rdma_fate *fate = &result->fate[i];
		double time;

		if (r->params->is_left_out && r->params->is_left_out[i])
			continue;

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
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
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
		go(&r);
		if (r.is_over)
			rc = fab_fail(err, ECANCELED, "stopped");
	}
	if (!rc) {
		sum_up(&r);
		result->end_ps = r.now;
		result->peak_queue_bytes = r.sim.most_queued;
		if (r.sim.longest_wait)
			result->peak_queue_bytes =
				(r.sim.longest_wait << SIM_RATE_SHIFT) /
				r.net->sim.per_byte[r.sim.longest_port];
	}
	fini(&r);
	result->simulate_seconds = cpu_seconds() - begun;
	return rc;
}
