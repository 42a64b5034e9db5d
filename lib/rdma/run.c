/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run: events in order until all transfers are done, and the results.
 *
 * Two measures keep the loop fast on large fabrics: memory of packets and ports is
 * fetched some events ahead, and events of one time are sorted by the bytes of their
 * keys.
 */
#include "rdma/state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/order.h"

enum {
	SLOT_BITS = 14, /* of the wheel: ticks of a slot */
	SLOTS = 1 << 14,
	SLOTS_FEW = 1 << 12, /* with fewer than MANY transfers */
	MANY = 64,
	AHEAD = 12,		/* events whose packets are fetched into the cache */
	NEAR = 5,		/* whose outputs are */
	FEW = 16,		/* events that are sorted by insertion */
	SLOTS_A_LOOK = 1 << 12, /* of the wheel, between calls of is_over() */
};

static const double PS_PER_US = 1e6, PS_PER_S = 1e12;

/* Schemes */

#define ROW(row) &fab_rdma_scheme_##row,
const struct fab_rdma_scheme *const fab_rdma_schemes[] = {FAB_RDMA_SCHEMES(ROW)};
#undef ROW
const size_t fab_rdma_n_schemes = FAB_COUNT(fab_rdma_schemes);

static struct fab_choice scheme_at(size_t i)
{
	const struct fab_rdma_scheme *s = fab_rdma_schemes[i];

	return (struct fab_choice){s->name, s->summary, s->manual, true};
}

const struct fab_choices fab_rdma_scheme_choices = {
	.what = "scheme", .n = FAB_COUNT(fab_rdma_schemes), .at = scheme_at};

const struct fab_rdma_scheme *fab_rdma_scheme_find(const char *name, size_t len)
{
	uint32_t i = fab_choices_find(&fab_rdma_scheme_choices, name, len);

	return i == FAB_NONE ? NULL : fab_rdma_schemes[i];
}

/* Events */

static void handle(struct rdma *r, uint32_t what, uint32_t item)
{
	enum rdma_event kind = (enum rdma_event)(what >> RDMA_ID_BITS);
	uint32_t id = what & RDMA_ID;

	switch (kind) {
	case RDMA_ARRIVE:
	case RDMA_READY:
		if (id >= r->n_ports)
			rdma_deliver(r, id - r->n_ports, item);
		else
			rdma_arrive(r, id, item, kind == RDMA_READY);
		break;
	case RDMA_FREE:
		rdma_port_free(r, id);
		break;
	case RDMA_ROOM:
		rdma_port_room(r, id, item);
		if (id >= r->n_ports)
			rdma_wake(r, id - r->n_ports);
		break;
	case RDMA_SEND:
		rdma_send(r, id);
		break;
	case RDMA_START:
		rdma_start(r, item);
		break;
	case RDMA_TX_TIMER:
	case RDMA_RX_TIMER:
	case RDMA_ASK_TIMER:
	case RDMA_RETRY:
		rdma_expire(r, kind, id, item);
		break;
	}
}

/* Fetch the packet and the port of an event. */
static inline void fetch(const struct rdma *r, uint32_t what, uint32_t item)
{
	if (what >> RDMA_ID_BITS == RDMA_ARRIVE) {
		__builtin_prefetch(&r->packet.v[item]);
		__builtin_prefetch(&r->port[what & RDMA_ID]);
		__builtin_prefetch(&r->busy[what & RDMA_ID]);
	}
}

/* Fetch its entry of the tables: packet and port are there by now. */
static inline void fetch_route(const struct rdma *r, uint32_t what, uint32_t item)
{
	uint32_t in = what & RDMA_ID;
	size_t at;

	if (what >> RDMA_ID_BITS != RDMA_ARRIVE || in >= r->n_ports)
		return;
	at = (size_t)r->packet.v[item].row * r->n_switches + r->port[in].sw;
	if (!r->is_adaptive)
		__builtin_prefetch(&r->next[at]);
	else if (r->mask)
		__builtin_prefetch(&r->mask[at]);
}

/* The next event; memory of later ones is fetched. */
static inline struct fab_wheel_event take(struct rdma *r)
{
	struct fab_wheel_event e = *fab_wheel_take(&r->wheel);
	const struct fab_wheel_event *next = &r->wheel.now.v[r->wheel.at];

	if (fab_wheel_ahead(&r->wheel) > AHEAD)
		fetch(r, next[AHEAD].what, next[AHEAD].item);
	if (fab_wheel_ahead(&r->wheel) > NEAR)
		fetch_route(r, next[NEAR].what, next[NEAR].item);
	return e;
}

/* Sort keys, kind and place above the item: the upper half by its bytes, the lowest
 * first, where bytes that all share are passed over; the rest by insertion. */
static void sort_keys(struct rdma *r)
{
	size_t n = r->batch.n;
	uint64_t *v = r->batch.v, *to;

	r->sorted.n = 0;
	FAB_RESERVE(&r->sorted, n);
	to = r->sorted.v;
	for (unsigned shift = 32; shift < 64 && n > FEW; shift += 8) {
		uint32_t at[256] = {0}, sum = 0;
		uint64_t *last = v;

		for (size_t i = 0; i < n; i++)
			at[v[i] >> shift & 255]++;
		if (at[v[0] >> shift & 255] == n)
			continue;
		for (unsigned b = 0; b < 256; b++) {
			sum += at[b];
			at[b] = sum - at[b];
		}
		for (size_t i = 0; i < n; i++)
			to[at[v[i] >> shift & 255]++] = v[i];
		v = to;
		to = last;
	}
	for (size_t i = 1; i < n; i++) {
		uint64_t key = v[i];
		size_t at = i;

		for (; at && v[at - 1] > key; at--)
			v[at] = v[at - 1];
		v[at] = key;
	}
	if (v != r->batch.v)
		memcpy(r->batch.v, v, n * sizeof(*v));
}

/* Events of one time, in an order that the queue does not affect. */
static void handle_several(struct rdma *r, struct fab_wheel_event e)
{
	r->batch.n = 0;
	FAB_PUSH(&r->batch, (uint64_t)e.what << 32 | e.item);
	while (fab_wheel_ahead(&r->wheel) && r->wheel.now.v[r->wheel.at].time == r->now) {
		e = take(r);
		FAB_PUSH(&r->batch, (uint64_t)e.what << 32 | e.item);
	}
	sort_keys(r);
	for (size_t i = 0; i < r->batch.n; i++) {
		const uint64_t *key = &r->batch.v[i];

		if (i + AHEAD < r->batch.n)
			fetch(r, (uint32_t)(key[AHEAD] >> 32), (uint32_t)key[AHEAD]);
		if (i + NEAR < r->batch.n)
			fetch_route(r, (uint32_t)(key[NEAR] >> 32), (uint32_t)key[NEAR]);
		handle(r, (uint32_t)(*key >> 32), (uint32_t)*key);
	}
	r->result->events += r->batch.n;
}

/* Cancelled? Asked now and then, with a report of the progress by packets that have been
 * sent at least once. */
static bool is_over(struct rdma *r)
{
	const struct fab_rdma_params *p = r->params;
	const struct fab_rdma_result *result = r->result;
	uint64_t first = result->n.packets[FAB_RDMA_DATA] - result->n.retransmitted;

	if (r->n_slots++ % SLOTS_A_LOOK)
		return r->is_over;
	fab_progress_report("simulating", "packets",
			    first < result->n_packets ? first : result->n_packets,
			    result->n_packets);
	r->is_over = p->is_over && p->is_over(p->is_over_context);
	return r->is_over;
}

/* Events until all transfers are done, nothing can move any more, or the end. */
static void go(struct rdma *r)
{
	uint64_t limit = r->params->end_ps, time;

	while ((time = fab_wheel_next(&r->wheel, limit)) != UINT64_MAX) {
		struct fab_wheel_event e = take(r);

		r->now = time;
		if (r->wheel.at == 1) { /* a new slot: its first events */
			for (size_t i = 1; i < AHEAD && i < r->wheel.now.n; i++)
				fetch(r, r->wheel.now.v[i].what, r->wheel.now.v[i].item);
			if (is_over(r))
				break;
		}
		if (fab_wheel_ahead(&r->wheel) &&
		    r->wheel.now.v[r->wheel.at].time == time) {
			handle_several(r, e);
		} else {
			handle(r, e.what, e.item);
			r->result->events++;
		}
		if (r->result->n_done + r->result->n_no_path == r->problem->n_transfers)
			break;
		if (r->lane && r->n_held &&
		    r->now - r->moved > 1000 * (r->net->round_trip + r->rto)) {
			r->result->is_stalled = true;
			break;
		}
	}
	r->result->is_cut = !r->result->is_stalled && time == UINT64_MAX &&
			    fab_wheel_first(&r->wheel) != UINT64_MAX;
}

/* Beginning and end */

static int init(struct rdma *r, struct fab_err *err)
{
	const struct fab_rdma_params *params = r->params;
	const struct sim_net *s = &r->net->sim;
	uint32_t n = r->problem->n_transfers;

	r->n_ports = s->n_ports;
	r->n_switches = s->n_switches;
	r->end_port = s->end_port;
	r->next = r->problem->routes ? r->problem->routes->next : NULL;
	r->is_spray = r->net->params.routing == FAB_RDMA_SPRAY;
	r->is_adaptive = r->net->params.routing != FAB_RDMA_BY_TABLE;
	r->mask = r->net->mask;
	r->n_vls = r->net->n_vls;
	r->rto = params->rto_ps;
	r->ask = params->ask_ps ? params->ask_ps : 4 * params->rto_ps;
	r->cap = rdma_cap(r->net, params);
	r->free_packet = r->free_session = r->free_vector = FAB_NONE;
	r->port = FAB_ARENA_NEW(&r->arena, s->n_all + 1, struct rdma_port);
	r->busy = FAB_ARENA_NEW0(&r->arena, s->n_all + 1, uint64_t);
	for (uint32_t p = 0; p < s->n_all; p++) {
		bool is_end = p >= s->n_ports;

		r->port[p] = (struct rdma_port){
			.per_byte = s->per_byte[p],
			.peer = s->peer[p],
			.sw = is_end ? FAB_NONE : s->port_sw[p],
			.first = is_end ? FAB_NONE : s->port_first[s->port_sw[p]]};
	}
	if (r->net->params.buffer)
		rdma_wires_init(r);
	r->end = FAB_ARENA_NEW(&r->arena, s->n_ends + 1, struct rdma_end);
	for (uint32_t e = 0; e < s->n_ends; e++)
		r->end[e] = (struct rdma_end){.control_head = FAB_NONE,
					      .control_tail = FAB_NONE,
					      .ring_head = FAB_NONE,
					      .ring_tail = FAB_NONE,
					      .pending_head = FAB_NONE,
					      .pending_tail = FAB_NONE};
	fab_wheel_init(&r->wheel, SLOT_BITS,
		       params->by_heap ? 0
		       : n < MANY      ? SLOTS_FEW
				       : SLOTS);
	r->next_pending = FAB_ARENA_NEW(&r->arena, n + 1, uint32_t);
	r->session_of = FAB_ARENA_NEW(&r->arena, n + 1, uint32_t);
	r->is = FAB_ARENA_NEW0(&r->arena, n + 1, struct rdma_identity);
	r->record_of = fab_map64_new(n < 4096 ? n : 4096);
	r->result->n_transfers = n;
	r->result->fate = FAB_NEW(n + 1, struct fab_rdma_fate);
	for (uint32_t i = 0; i < n; i++) {
		const struct fab_rdma_transfer *t = &r->problem->transfer[i];

		r->session_of[i] = FAB_NONE;
		r->result->fate[i] =
			(struct fab_rdma_fate){.done_ps = UINT64_MAX, .has_path = true};
		r->result->n_packets += rdma_packets(t->bytes, params->mtu);
		fab_wheel_add(&r->wheel, t->start_ps, rdma_what(RDMA_START, 0), i);
	}
	r->result->no_deadlock = !r->net->params.buffer ? "buffers without bounds"
				 : r->net->n_vls > s->n_vls
					 ? "escape lanes, those of the tables"
					 : "lanes of the tables";
	return rdma_chance_init(r, err);
}

static void fini(struct rdma *r)
{
	fab_wheel_fini(&r->wheel);
	for (size_t i = 0; i < r->session.n; i++) {
		FAB_FREE_ALL(r->session.v[i]->block, r->session.v[i]->memory,
			     r->session.v[i]);
	}
	for (uint32_t e = 0; r->end && e < r->net->sim.n_ends; e++) {
		FAB_FREE_ALL(r->end[e].context.v, r->end[e].free_cid.v, r->end[e].slot.v,
			     r->end[e].free_slot.v, r->end[e].slot_msgid.v,
			     r->end[e].queue.v);
	}
	free(r->session.v);
	fab_free_big(r->packet.v, r->packet.cap, sizeof(*r->packet.v));
	fab_map64_free(r->record_of);
	FAB_FREE_ALL(r->record.v, r->vector.v, r->in_port, r->batch.v, r->sorted.v);
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
		if (r.longest_wait)
			result->peak_queue_bytes = (r.longest_wait << SIM_RATE_SHIFT) /
						   r.port[r.longest_port].per_byte;
		result->bytes =
			fab_wheel_bytes(&r.wheel) + r.packet.cap * sizeof(*r.packet.v) +
			r.net->sim.n_all * (sizeof(*r.port) + sizeof(*r.busy)) +
			r.net->sim.n_ends * sizeof(*r.end) +
			r.session.n * sizeof(**r.session.v) +
			r.problem->n_transfers * (sizeof(*r.is) + 2 * sizeof(uint32_t) +
						  sizeof(struct fab_rdma_fate));
	}
	fini(&r);
	result->simulate_seconds = cpu_seconds() - begun;
	return rc;
}
