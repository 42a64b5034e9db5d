/* SPDX-License-Identifier: BSD-2-Clause */
/* Slow paths of the short operations of sim/hot.h: growth, packets that
 * are lost, events in order. */
#include "sim/hot.h"

#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 1 << 30, FIRST_CELLS = 1 << 10 };

void sim_lose(struct sim_part *p, uint32_t id, enum sim_loss why)
{
	p->sums.dropped[why]++;
	p->sim->host.lost(p, id, why);
	sim_cell_free(p, id);
}

void sim_drop(struct sim_part *p, uint32_t in, uint32_t id, enum sim_loss why)
{
	const struct sim *s = p->sim;
	const struct sim_packet *packet = sim_packet(p, id);
	uint64_t wire = sim_wire(s->port[in].per_byte, packet->size);

	if (!s->drops)
		sim_release(p, &s->port[in], packet->vl,
			    (uint32_t)sim_units(s, packet->size),
			    p->now + wire + s->cable_delay);
	p->last_move = p->now;
	sim_lose(p, id, why);
}

enum { FEW = 24 }; /* keys that are sorted by insertion */
enum { DIGIT_BITS = 6, DIGITS = 1 << DIGIT_BITS };

/* The upper half by its digits, the lowest first, where bits that all share are passed
 * over; the rest by insertion. */
void sim_sort_more(struct sim_part *p, uint64_t *keys, size_t n)
{
	uint64_t *v = keys, *to, differ = 0;

	p->sorted.n = 0;
	FAB_RESERVE(&p->sorted, n);
	to = p->sorted.v;
	for (size_t i = 1; i < n && n > FEW; i++)
		differ |= v[i] ^ v[0];
	for (differ &= ~0ull << 32; differ;) {
		unsigned shift = (unsigned)__builtin_ctzll(differ);
		uint32_t at[DIGITS] = {0}, sum = 0;
		uint64_t *last = v;

		for (size_t i = 0; i < n; i++)
			at[v[i] >> shift & (DIGITS - 1)]++;
		for (unsigned b = 0; b < DIGITS; b++) {
			sum += at[b];
			at[b] = sum - at[b];
		}
		for (size_t i = 0; i < n; i++)
			to[at[v[i] >> shift & (DIGITS - 1)]++] = v[i];
		v = to;
		to = last;
		differ &= ~((uint64_t)(DIGITS - 1) << shift);
	}
	for (size_t i = 1; i < n; i++) {
		uint64_t key = v[i];
		size_t at = i;

		for (; at && v[at - 1] > key; at--)
			v[at] = v[at - 1];
		v[at] = key;
	}
	if (v != keys)
		memcpy(keys, v, n * sizeof(*v));
}

void sim_batch(struct sim_part *p)
{
	struct fab_wheel *w = &p->wheel;

	p->batch.n = 0;
	while (fab_wheel_ahead(w) && w->now.v[w->at].time == p->now) {
		const struct fab_wheel_event *e = fab_wheel_take(w);

		if (e->item < p->cell.n) /* of most events it is a packet */
			__builtin_prefetch(&p->cell.v[e->item]);
		FAB_PUSH(&p->batch, (uint64_t)e->what << 32 | e->item);
	}
	sim_sort(p, p->batch.v, p->batch.n);
}

void sim_cells_grow(struct sim_part *p)
{
	size_t cap = p->cell.cap ? 2 * p->cell.cap : FIRST_CELLS;

	if (cap > CELLS_MAX)
		fab_oom(cap * sizeof(*p->cell.v));
	p->cell.v = fab_grow_huge(p->cell.v, p->cell.n, cap, sizeof(*p->cell.v));
	p->cell.cap = cap;
}

void sim_count_blocked(struct sim *s, uint64_t now, uint32_t port)
{
	s->port[port].is_blocked = false;
	for (unsigned vl = 0; vl < s->n_vls; vl++) {
		struct sim_lane_sums *sums = sim_lane_sums(s, port, vl);
		uint64_t from = sums->since > s->begin ? sums->since : s->begin;
		uint64_t to = now < s->end ? now : s->end;

		if (sums->since && to > from)
			sums->no_credit += to - from;
		sums->since = 0;
	}
}

void sim_credits_add_due(struct sim_part *p)
{
	for (; sim_ring_first(&p->credits) <= p->now; p->credits.head++) {
		const struct sim_arrival *a = &p->credits.v[p->credits.head];

		*sim_credits(p->sim, a->port, a->packet >> SIM_UNIT_BITS) +=
			(int32_t)(a->packet & ((1u << SIM_UNIT_BITS) - 1));
	}
}

void sim_ring_grow(struct sim_ring *r, size_t more)
{
	size_t n = r->tail - r->head;

	if (r->tail + more > r->cap && 3 * (n + more) > 2 * r->cap) {
		struct sim_arrival *v;

		r->cap = 3 * (n + more) > FIRST_CELLS ? 3 * (n + more) : FIRST_CELLS;
		v = FAB_NEW0(r->cap + SIM_RING_ROOM, struct sim_arrival);
		if (n)
			memcpy(v, r->v + r->head, n * sizeof(*v));
		free(r->v);
		r->v = v;
	} else if (n) {
		memmove(r->v, r->v + r->head, n * sizeof(*r->v));
	}
	r->routed -= r->head;
	r->head = 0;
	r->tail = n;
}

void sim_ring_merge(struct sim_part *p, const struct sim_post *post)
{
	struct sim_ring *r = &p->ring;
	size_t own, to;

	if (r->tail + post->n_packets > r->cap)
		sim_ring_grow(r, post->n_packets);
	own = r->tail;
	to = r->tail += post->n_packets;
	for (size_t i = post->of.n; i && to > own;) {
		const struct sim_letter *l = &post->of.v[--i];
		uint32_t id;

		if (l->kind != SIM_LETTER_PACKET)
			continue;
		while (own > r->head && r->v[own - 1].time > l->time)
			r->v[--to] = r->v[--own];
		id = sim_cell_new(p);
		p->cell.v[id].packet = l->packet;
		r->v[--to] = (struct sim_arrival){l->time, l->id, id};
	}
	if (r->routed > to)
		r->routed = to;
}

uint64_t sim_part_first(const struct sim_part *p)
{
	uint64_t wheel = fab_wheel_first(&p->wheel), ring = sim_ring_first(&p->ring);
	uint64_t ends = sim_ring_first(&p->ends), credits = sim_credit_first(p);
	uint64_t short_ends = sim_ring_first(&p->short_ends);

	ring = wheel < ring ? wheel : ring;
	ends = short_ends < ends ? short_ends : ends;
	ends = credits < ends ? credits : ends;
	return ring < ends ? ring : ends;
}

bool sim_part_is_over(const struct sim_part *p)
{
	const struct sim *s = p->sim;

	if (p->n_live || p->ring.head < p->ring.tail ||
	    sim_credit_first(p) != UINT64_MAX ||
	    (p->n_early && (p->n_waiting || p->n_blocked)))
		return false;
	for (uint32_t id = 0; id < s->net.n_ports; id++) {
		const struct sim_port *port = &s->port[id];
		struct sim_switch *sw = &s->sw[port->sw];
		const uint64_t *wants = sim_wants(s, sw, port->local);
		uint64_t any = 0;

		if (sw->part != p->index)
			continue;
		if (port->waited &&
		    (s->drops ? port->busy : !sim_bit(sim_free_outs(s, sw), port->local)))
			return false;
		for (uint32_t w = 0; w < sw->out_words && s->one_read; w++)
			any |= wants[w];
		if (any &&
		    !sim_bit(sim_free_units(s, sw), port->local * sim_units_of_input(s)))
			return false;
	}
	return true;
}
