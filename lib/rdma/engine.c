/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets on cables, without bounds on buffers: when a packet has chosen its output, the
 * time at which it leaves is known, so that a hop is one event.
 */
#include "rdma/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum {
	AHEAD = 12,		/* events whose packets are fetched into the cache */
	NEAR = 5,		/* whose outputs are */
	FEW = 16,		/* events that are sorted by insertion */
	SLOTS_A_LOOK = 1 << 12, /* of the wheel, until is_over() asks again */
};

uint32_t rdma_packet_new(struct rdma *r)
{
	uint32_t id = r->free_packet;

	if (id != FAB_NONE) {
		r->free_packet = r->packet.v[id].next;
		return id;
	}
	FAB_RESERVE_BIG(&r->packet, 1);
	if (r->lane)
		r->in_port = fab_realloc(r->in_port, r->packet.cap, sizeof(*r->in_port));
	return (uint32_t)r->packet.n++;
}

void rdma_packet_free(struct rdma *r, uint32_t id)
{
	r->packet.v[id].next = r->free_packet;
	r->free_packet = id;
}

bool rdma_is_out(const struct rdma *r, uint32_t port)
{
	const uint64_t *first = r->outages.first;

	for (uint64_t i = first[port]; i < first[port + 1]; i++)
		if (r->now >= r->outages.of[i].from_ps &&
		    r->now < r->outages.of[i].until_ps)
			return true;
	return false;
}

void rdma_lose(struct rdma *r, uint32_t id)
{
	const struct rdma_packet *p = &r->packet.v[id];
	uint32_t session = r->session_of[p->transfer];

	r->result->n.lost[p->kind]++;
	if (p->kind == FAB_RDMA_DATA && r->code->lost && session != FAB_NONE &&
	    r->session.v[session]->tx == RDMA_TX_SENDING)
		r->code->lost(r, r->session.v[session], p->number);
	rdma_packet_free(r, id);
}

/* The output of several that is free first; of equals by chance. */
static uint32_t least_busy(const struct rdma *r, uint32_t first, const uint16_t *arc,
			   uint32_t n, uint64_t chance)
{
	uint64_t best = UINT64_MAX;
	uint32_t out = FAB_NONE, equals = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t busy = r->busy[first + arc[i]];

		if (busy < r->now)
			busy = r->now;
		if (busy > best)
			continue;
		equals = busy == best ? equals + 1 : 1;
		best = busy;
		/* the i-th of equals takes the place of those before with 1 / i */
		if (equals == 1 || fab_mix64(chance + equals) % equals == 0)
			out = first + arc[i];
	}
	return out;
}

static uint64_t chance_of(const struct rdma *r, uint32_t sw, const struct rdma_packet *p)
{
	return r->route_seed ^ fab_mix64(((uint64_t)p->transfer << 32 | p->number) +
					 ((uint64_t)sw << 40) + p->life);
}

/* The same of the arcs of a mask, without branches but for equals. */
static inline uint32_t least_busy_of(const struct rdma *r, uint32_t sw, uint32_t first,
				     unsigned mask, const struct rdma_packet *p)
{
	const uint64_t *busy = &r->busy[first];
	uint64_t best = UINT64_MAX, now = r->now, chance;
	unsigned equals = 0;
	uint32_t out, n = 2;

	for (unsigned left = mask; left; left &= left - 1) {
		unsigned bit = left & -left;
		uint64_t at = busy[__builtin_ctz(left)];

		at = at < now ? now : at;
		equals = at < best ? bit : at == best ? equals | bit : equals;
		best = at < best ? at : best;
	}
	out = (uint32_t)__builtin_ctz(equals);
	equals &= equals - 1;
	if (!equals)
		return first + out;
	chance = chance_of(r, sw, p);
	for (; equals; equals &= equals - 1, n++)
		if (fab_mix64(chance + n) % n == 0)
			out = (uint32_t)__builtin_ctz(equals);
	return first + out;
}

static uint32_t spray(const struct rdma *r, uint32_t sw, uint32_t first,
		      const uint16_t *arc, uint32_t n, const struct rdma_packet *p)
{
	return first + arc[fab_mix64(chance_of(r, sw, p)) % n];
}

/* On a shortest path. */
static uint32_t choose_productive(const struct rdma *r, uint32_t sw, uint32_t first,
				  const struct rdma_packet *p)
{
	uint16_t arc[RDMA_ARCS_MAX];
	uint32_t n = rdma_net_productive(r->net, sw, p->row, arc);

	if (n <= 1)
		return n ? first + arc[0] : FAB_NONE;
	if (r->net->params.routing == FAB_RDMA_SPRAY)
		return spray(r, sw, first, arc, n, p);
	return least_busy(r, first, arc, n, chance_of(r, sw, p));
}

/* The same by masks. */
static inline uint32_t choose_of_mask(const struct rdma *r, uint32_t sw, uint32_t first,
				      const struct rdma_packet *p)
{
	unsigned mask = r->mask[(size_t)p->row * r->n_switches + sw];
	uint16_t arc[RDMA_MASK_PORTS];

	if (!mask)
		return FAB_NONE;
	if (!r->is_spray)
		return least_busy_of(r, sw, first, mask, p);
	if (!(mask & (mask - 1)))
		return first + (uint32_t)__builtin_ctz(mask);
	return spray(r, sw, first, arc, rdma_net_mask_arcs(mask, arc), p);
}

static inline uint32_t choose(struct rdma *r, uint32_t in, const struct rdma_packet *p)
{
	const struct rdma_port *port = &r->port[in];
	uint16_t next;

	if (!r->next || (r->is_adaptive && !(p->flags & RDMA_ESCAPED))) {
		if (p->row == port->sw)
			return r->end_port[p->to];
		return r->mask ? choose_of_mask(r, port->sw, port->first, p)
			       : choose_productive(r, port->sw, port->first, p);
	}
	next = r->next[(size_t)p->row * r->n_switches + port->sw];
	if (next == FAB_ARC_HERE)
		return r->end_port[p->to];
	if (next >= FAB_ARC_BROKEN)
		return FAB_NONE;
	return port->first + next;
}

uint32_t rdma_choose(struct rdma *r, uint32_t in, const struct rdma_packet *p)
{
	return choose(r, in, p);
}

/* A packet takes a port at `ready` or when it is free, and is at the other end when? */
static inline void forward(struct rdma *r, uint32_t out, uint32_t id, uint64_t ready,
			   uint64_t held_up)
{
	const struct rdma_port *port = &r->port[out];
	uint64_t wire = sim_wire(port->per_byte, r->packet.v[id].bytes);
	uint64_t start = r->busy[out] > ready ? r->busy[out] : ready;
	uint64_t waits = start - ready;
	const struct fab_rdma_params *params = &r->net->params;

	if (r->cable_chance)
		rdma_chance_cable(r, out, &r->packet.v[id]);
	r->busy[out] = start + wire;
	if (waits > r->longest_wait) {
		r->longest_wait = waits;
		r->longest_port = out;
	}
	r->result->packet_hops++;
	start += params->cable_ps + held_up;
	start += port->peer >= r->n_ports ? wire + params->host_ps : params->switch_ps;
	fab_wheel_add(&r->wheel, start, rdma_what(RDMA_ARRIVE, port->peer), id);
}

void rdma_put(struct rdma *r, uint32_t end, uint32_t id, uint64_t held_up)
{
	uint32_t port = r->n_ports + end;

	if (r->outages.first && rdma_is_out(r, port)) {
		r->busy[port] =
			r->now + sim_wire(r->port[port].per_byte, r->packet.v[id].bytes);
		rdma_lose(r, id);
		return;
	}
	if (r->lane)
		rdma_bounded_put(r, end, id, held_up);
	else
		forward(r, port, id, r->now, held_up);
}

/* The head of a packet may leave a switch. */
static void arrive(struct rdma *r, uint32_t in, uint32_t id)
{
	struct rdma_packet *p = &r->packet.v[id];
	uint64_t ready = r->now;
	uint32_t out;

	if (!--p->life) {
		r->result->n.looped +=
			!r->params->bad.per_hop || p->kind != FAB_RDMA_DATA;
		rdma_lose(r, id);
		return;
	}
	out = choose(r, in, p);
	if (out == FAB_NONE || r->port[out].peer == FAB_NONE) {
		r->result->n.unroutable++;
		rdma_lose(r, id);
		return;
	}
	if (!r->net->sim.is_even) {
		uint64_t before = sim_wire(r->port[in].per_byte, p->bytes);
		uint64_t wire = sim_wire(r->port[out].per_byte, p->bytes);

		ready += before > wire ? before - wire : 0;
	}
	if (r->outages.first && rdma_is_out(r, out))
		rdma_lose(r, id);
	else
		forward(r, out, id, ready, 0);
}

static void on_packet(struct rdma *r, uint32_t in, uint32_t id, bool is_ready)
{
	if (in >= r->n_ports)
		rdma_deliver(r, in - r->n_ports, id);
	else if (r->lane)
		rdma_bounded_arrive(r, in, id, is_ready);
	else
		arrive(r, in, id);
}

static void handle(struct rdma *r, const struct fab_wheel_event *e)
{
	enum rdma_event kind = (enum rdma_event)(e->what >> RDMA_ID_BITS);
	uint32_t id = e->what & RDMA_ID;

	switch (kind) {
	case RDMA_ARRIVE:
		on_packet(r, id, e->item, false);
		break;
	case RDMA_READY:
		on_packet(r, id, e->item, true);
		break;
	case RDMA_FREE:
		rdma_bounded_free(r, id);
		break;
	case RDMA_ROOM:
		rdma_bounded_room(r, id, e->item);
		break;
	case RDMA_SEND:
		rdma_send(r, id);
		break;
	case RDMA_START:
		rdma_start(r, e->item);
		break;
	case RDMA_TX_TIMER:
	case RDMA_RX_TIMER:
	case RDMA_ASK_TIMER:
	case RDMA_RETRY:
		rdma_expire(r, kind, id, e->item);
		break;
	}
}

/* Memory of what comes soon. */
static inline void fetch(const struct rdma *r, const struct fab_wheel_event *e)
{
	if (e->what >> RDMA_ID_BITS == RDMA_ARRIVE) {
		__builtin_prefetch(&r->packet.v[e->item]);
		__builtin_prefetch(&r->port[e->what & RDMA_ID]);
		__builtin_prefetch(&r->busy[e->what & RDMA_ID]);
	}
}

/* Where it looks up its output: packet and port have come by now. */
static inline void fetch_route(const struct rdma *r, const struct fab_wheel_event *e)
{
	uint32_t in = e->what & RDMA_ID;
	size_t at;

	if (e->what >> RDMA_ID_BITS != RDMA_ARRIVE || in >= r->n_ports)
		return;
	at = (size_t)r->packet.v[e->item].row * r->n_switches + r->port[in].sw;
	if (!r->is_adaptive)
		__builtin_prefetch(&r->next[at]);
	else if (r->mask)
		__builtin_prefetch(&r->mask[at]);
}

/* By kind, then place, then item. */
static inline uint64_t key_of(const struct fab_wheel_event *e)
{
	return (uint64_t)e->what << 32 | e->item;
}

static inline void sort_few(struct fab_wheel_event *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct fab_wheel_event e = v[i];
		uint64_t key = key_of(&e);
		size_t at = i;

		for (; at && key_of(&v[at - 1]) > key; at--)
			v[at] = v[at - 1];
		v[at] = e;
	}
}

/* Where an event is marked: packets by port, behind them endpoints that send. */
static inline uint32_t mark_of(const struct rdma *r, const struct fab_wheel_event *e)
{
	uint32_t kind = e->what >> RDMA_ID_BITS, id = e->what & RDMA_ID;

	if (kind == RDMA_ARRIVE)
		return id;
	return kind == RDMA_SEND ? r->n_ports + r->net->sim.n_ends + id : FAB_NONE;
}

/* Mark those events; the rest, and of two with one mark the one of the higher item, go
 * into `spare`. */
static void mark(struct rdma *r)
{
	r->spare.n = 0;
	FAB_RESERVE(&r->spare, r->batch.n);
	for (size_t i = 0; i < r->batch.n; i++) {
		struct fab_wheel_event *e = &r->batch.v[i];
		uint32_t at = mark_of(r, e);

		if (at == FAB_NONE) {
			r->spare.v[r->spare.n++] = *e;
			continue;
		}
		if (rdma_bit_set(r->marks, at)) {
			r->marks_used[at >> 12] |= UINT64_C(1) << (at >> 6 & 63);
			r->marked[at] = e->item;
			continue;
		}
		r->spare.v[r->spare.n] = *e;
		if (e->item < r->marked[at]) {
			r->spare.v[r->spare.n].item = r->marked[at];
			r->marked[at] = e->item;
		}
		r->spare.n++;
	}
}

static int by_what(const void *a, const void *b)
{
	uint64_t x = key_of(a), y = key_of(b);

	return x > y ? 1 : -(x < y);
}

static void sort_rest(struct rdma *r)
{
	if (r->spare.n <= FEW)
		sort_few(r->spare.v, r->spare.n);
	else
		qsort(r->spare.v, r->spare.n, sizeof(*r->spare.v), by_what);
}

/* The marked ones in their order, then the rest in theirs. */
static void sort_many(struct rdma *r)
{
	uint32_t n_all = r->n_ports + r->net->sim.n_ends, n = 0;

	mark(r);
	for (uint32_t i = 0; i <= r->n_marks >> 12; i++)
		for (; r->marks_used[i]; r->marks_used[i] &= r->marks_used[i] - 1) {
			uint32_t word =
				i << 6 | (uint32_t)__builtin_ctzll(r->marks_used[i]);

			for (uint64_t *w = &r->marks[word]; *w; *w &= *w - 1) {
				uint32_t at = word << 6 | (uint32_t)__builtin_ctzll(*w);

				r->batch.v[n++] = (struct fab_wheel_event){
					r->now,
					at < n_all ? rdma_what(RDMA_ARRIVE, at)
						   : rdma_what(RDMA_SEND, at - n_all),
					r->marked[at]};
			}
		}
	sort_rest(r);
	memcpy(r->batch.v + n, r->spare.v, r->spare.n * sizeof(*r->spare.v));
}

/* The next event; memory of those behind it is asked for. */
static inline struct fab_wheel_event take(struct rdma *r)
{
	struct fab_wheel_event e = *fab_wheel_take(&r->wheel);

	if (fab_wheel_ahead(&r->wheel) > AHEAD)
		fetch(r, &r->wheel.now.v[r->wheel.at + AHEAD]);
	if (fab_wheel_ahead(&r->wheel) > NEAR)
		fetch_route(r, &r->wheel.now.v[r->wheel.at + NEAR]);
	return e;
}

/* Events of one time, the queue's order of which means nothing. */
static void handle_several(struct rdma *r, struct fab_wheel_event first)
{
	r->batch.n = 0;
	FAB_PUSH(&r->batch, first);
	while (fab_wheel_ahead(&r->wheel) && r->wheel.now.v[r->wheel.at].time == r->now) {
		struct fab_wheel_event e = take(r);

		FAB_PUSH(&r->batch, e);
	}
	if (r->batch.n <= FEW)
		sort_few(r->batch.v, r->batch.n);
	else
		sort_many(r);
	for (size_t i = 0; i < r->batch.n; i++) {
		if (i + AHEAD < r->batch.n)
			fetch(r, &r->batch.v[i + AHEAD]);
		if (i + NEAR < r->batch.n)
			fetch_route(r, &r->batch.v[i + NEAR]);
		handle(r, &r->batch.v[i]);
	}
	r->result->events += r->batch.n;
}

/* Nothing has moved for so long that nothing will. */
static bool is_stuck(const struct rdma *r)
{
	return r->n_held && r->now - r->moved > 1000 * (r->net->round_trip + r->rto);
}

/* Packets that have been sent at least once, of all of the transfers: a run may be long.
 */
static void report_progress(const struct fab_rdma_result *result)
{
	const struct fab_rdma_counts *n = &result->n;
	uint64_t first = n->packets[FAB_RDMA_DATA] - n->retransmitted;

	fab_progress_report("simulating", "packets",
			    first < result->n_packets ? first : result->n_packets,
			    result->n_packets);
}

/* Does nobody want the result any more? */
static bool is_over(struct rdma *r)
{
	const struct fab_rdma_params *p = r->params;

	if (r->n_slots++ % SLOTS_A_LOOK)
		return r->is_over;
	report_progress(r->result);
	r->is_over = p->is_over && p->is_over(p->is_over_context);
	return r->is_over;
}

/* The first events of a slot that has just come. */
static inline void fetch_slot(const struct rdma *r)
{
	size_t n = r->wheel.now.n < AHEAD ? r->wheel.now.n : AHEAD;

	for (size_t i = 1; i < n; i++)
		fetch(r, &r->wheel.now.v[i]);
}

void rdma_go(struct rdma *r)
{
	uint64_t limit = r->params->end_ps, time;

	while ((time = fab_wheel_next(&r->wheel, limit)) != UINT64_MAX) {
		struct fab_wheel_event e = take(r);

		r->now = time;
		if (r->wheel.at == 1) {
			fetch_slot(r);
			if (is_over(r))
				break;
		}
		if (fab_wheel_ahead(&r->wheel) &&
		    r->wheel.now.v[r->wheel.at].time == time) {
			handle_several(r, e);
		} else {
			handle(r, &e);
			r->result->events++;
		}
		if (r->result->n_done + r->result->n_no_path == r->problem->n_transfers)
			break;
		if (r->lane && is_stuck(r)) {
			r->result->is_stalled = true;
			break;
		}
	}
	r->result->is_cut = !r->result->is_stalled && time == UINT64_MAX &&
			    fab_wheel_first(&r->wheel) != UINT64_MAX;
}
