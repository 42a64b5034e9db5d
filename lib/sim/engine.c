/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop of a part, compiled for kinds of switches and networks. */
#include "sim/choices.h"

#include <stdlib.h>
#include <string.h>

enum { HUGE_CELLS = 1 << 16, FIRST_CELLS = 1 << 10 };

void sim_cells_grow(struct sim_part *p)
{
	size_t cap = p->cell.cap ? 2 * p->cell.cap : FIRST_CELLS;
	union sim_cell *v;

	if (cap > SIM_CELLS_MAX)
		fab_oom(cap * sizeof(*v));
	if (cap < HUGE_CELLS) {
		p->cell.v = fab_realloc(p->cell.v, cap, sizeof(*v));
	} else {
		v = fab_alloc_huge(cap * sizeof(*v));
		if (p->cell.n)
			memcpy(v, p->cell.v, p->cell.n * sizeof(*v));
		free(p->cell.v);
		p->cell.v = v;
	}
	p->cell.cap = cap;
}

void sim_fifo_head(struct sim_part *p, uint32_t sw, uint32_t unit)
{
	sim_core_fifo_head(p->sim->shape, p, sw, unit);
}

uint32_t sim_smaller(const struct sim_part *p, struct sim_switch *sw, uint32_t out,
		     unsigned vl, const struct sim_lane *lane)
{
	const struct sim *s = p->sim;

	if (lane->credits <= 0 || !s->by_units)
		return FAB_NONE;
	return sim_core_search(s->shape, p, sw, out, vl, lane->last, lane->credits);
}

void sim_credit_far(struct sim_part *p, struct sim_lane *lane, uint32_t units,
		    uint64_t time)
{
	uint32_t id = sim_cell_new(p), *at = &lane->far_head;

	if (lane->far_head != FAB_NONE && p->cell.v[lane->far_tail].credit.time <= time)
		at = &p->cell.v[lane->far_tail].credit.next;
	while (*at != FAB_NONE && p->cell.v[*at].credit.time <= time)
		at = &p->cell.v[*at].credit.next;
	p->cell.v[id].credit = (struct sim_credit){*at, units, time};
	if (*at == FAB_NONE)
		lane->far_tail = id;
	*at = id;
}

void sim_credit_wait(struct sim_part *p, struct sim_lane *lane, uint32_t port)
{
	uint64_t first = UINT64_MAX;

	if (lane->is_blocked) /* wake is the time of the first credit: sim_credit_add() */
		return;
	for (unsigned i = 0; i < SIM_BAG; i++)
		if (lane->bag[i] && lane->bag[i] >> SIM_UNIT_BITS < first)
			first = lane->bag[i] >> SIM_UNIT_BITS;
	if (lane->far_head != FAB_NONE && p->cell.v[lane->far_head].credit.time < first)
		first = p->cell.v[lane->far_head].credit.time;
	lane->is_blocked = true;
	lane->wake = first;
	if (first != UINT64_MAX)
		sim_event_at(p, first, SIM_CREDIT, port, 0);
}

void sim_credit_comes(struct sim_part *p, uint32_t id)
{
	struct sim *s = p->sim;
	struct sim_port *port = &s->port[id];

	for (unsigned vl = 0; vl < s->n_vls; vl++) {
		struct sim_lane *lane = sim_lane(s->shape, s, id, vl);

		if (lane->is_blocked && lane->wake <= p->now)
			lane->is_blocked = false;
	}
	if (port->sw == FAB_NONE)
		FAB_PUSH(&p->dirty_ends, id - s->net.n_ports);
	else
		sim_mark(s->shape, p, &s->sw[port->sw], port->sw, port->local, true);
}

void sim_count_blocked(struct sim_part *p, struct sim_port *port, uint32_t id)
{
	struct sim *s = p->sim;

	port->is_blocked = false;
	for (unsigned vl = 0; vl < s->n_vls; vl++) {
		struct sim_lane_block *block =
			&s->block[sim_lane_id(s->shape, s, id, vl)];
		uint64_t from = block->since > s->begin ? block->since : s->begin;
		uint64_t to = p->now < s->end ? p->now : s->end;

		if (block->since && to > from)
			block->no_credit += to - from;
		block->since = 0;
	}
}

void sim_block(struct sim_part *p, uint32_t id, unsigned vl)
{
	struct sim *s = p->sim;

	s->block[sim_lane_id(s->shape, s, id, vl)].since = p->now ? p->now : 1;
	s->port[id].is_blocked = true;
}

void sim_ring_grow(struct sim_ring *r, size_t more)
{
	size_t n = r->tail - r->head;

	if (r->tail + more > r->cap && 2 * (n + more) > r->cap) {
		struct sim_arrival *v;

		r->cap = 4 * (n + more) > FIRST_CELLS ? 4 * (n + more) : FIRST_CELLS;
		v = FAB_NEW0(r->cap + SIM_FAR, struct sim_arrival);
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
		r->v[--to] = (struct sim_arrival){l->time, l->id, id, 0, 0};
	}
	if (r->routed > to)
		r->routed = to;
}

void sim_ends_grow(struct sim_ends *r)
{
	size_t n = r->tail - r->head;

	if (2 * (n + 1) > r->cap) {
		r->cap = r->cap ? 2 * r->cap : FIRST_CELLS;
		r->v = fab_realloc(r->v, r->cap + SIM_FAR, sizeof(*r->v));
		memset(r->v + r->tail, 0, (r->cap + SIM_FAR - r->tail) * sizeof(*r->v));
	}
	memmove(r->v, r->v + r->head, n * sizeof(*r->v));
	r->head = 0;
	r->tail = n;
}

uint64_t sim_part_first(const struct sim_part *p)
{
	uint64_t wheel = fab_wheel_first(&p->wheel), ring = sim_ring_first(&p->ring);
	uint64_t ends = sim_ends_first(&p->ends), first = wheel < ring ? wheel : ring;

	return first < ends ? first : ends;
}

bool sim_part_is_over(const struct sim_part *p)
{
	const struct sim *s = p->sim;
	const struct sim_shape k = s->shape;

	if (p->n_live || p->ring.head < p->ring.tail)
		return false;
	for (uint32_t id = 0; id < s->net.n_ports; id++) {
		const struct sim_port *port = &s->port[id];
		struct sim_switch *sw = &s->sw[port->sw];
		uint32_t unit = port->local * sim_units_of_input(k, s);

		if (sw->part != p->index)
			continue;
		if (!sim_bit(k, sim_free_outs(k, s, sw), port->local) &&
		    sim_is_waited(k, port))
			return false;
		if (k.one_read && !sim_bit(k, sim_free_units(k, s, sw), unit) &&
		    sim_any(sim_wants(k, s, sw, port->local), sim_out_words(k, sw)))
			return false;
	}
	return true;
}

enum { SOON = 4, LATER = 7 }; /* events of the wheel ahead */

/* Have in the cache what an event of the wheel needs that comes soon. No branches: kinds
 * of events come by chance. */
SIM_HOT void look_ahead(struct sim_shape k, const struct sim_part *p)
{
	const struct fab_wheel_event *event = &p->wheel.now.v[p->wheel.at - 1];
	const size_t ahead = fab_wheel_ahead(&p->wheel);
	uint32_t what = event[ahead < LATER ? ahead : LATER].what, id = what & SIM_ID;
	uint32_t is_end = -(uint32_t)(what >> SIM_ID_BITS >= SIM_INJECT), sw;
	const struct sim *s = p->sim;
	const struct sim_port *port = &s->port[id + (s->net.n_ports & is_end)];

	__builtin_prefetch(&s->source[id & is_end]);
	__builtin_prefetch(port);
	__builtin_prefetch(&port->lane);
	port = &s->port[event[ahead < SOON ? ahead : SOON].what & SIM_ID];
	sw = port->sw;
	__builtin_prefetch(&s->sw[sw < s->n_switches ? sw : 0]);
	if (k.one_read)
		__builtin_prefetch(port - port->local + port->out_from);
}

/* The output that ends next, and what is needed for those behind it. */
SIM_HOT uint32_t sim_ends_take(struct sim_shape k, struct sim_part *p)
{
	const struct sim_end *end = &p->ends.v[p->ends.head++];
	const struct sim *s = p->sim;
	const struct sim_port *port = &s->port[end[SIM_FAR].port];

	/* behind the last one are old ones, or zeroes: no harm */
	__builtin_prefetch(port);
	__builtin_prefetch(&port->lane);
	port = &s->port[end[SIM_MIDDLE].port];
	__builtin_prefetch(&s->sw[port->sw]);
	if (k.one_read)
		__builtin_prefetch(port - port->local + port->out_from);
	return end->port;
}

/* All arrivals and events of one time, then what is chosen at that time. */
SIM_HOT void run(struct sim_shape k, struct sim_part *p, uint64_t limit)
{
	struct fab_wheel *w = &p->wheel;

	while (!p->rc) {
		uint64_t ring = sim_ring_first(&p->ring);
		uint64_t end = sim_ends_first(&p->ends);
		uint64_t first = ring < end ? ring : end, time = UINT64_MAX;

		/* in picoseconds nearly each event has a time of its own, and seldom it
		 * is the wheel's */
		if (fab_wheel_first(w) <= first)
			time = fab_wheel_next(w, first < limit ? first + 1 : limit);
		if (first < time)
			time = first;
		if (time >= limit)
			return;
		p->now = time;
		for (; end == time; end = sim_ends_first(&p->ends))
			sim_core_output_free(k, p, sim_ends_take(k, p));
		for (; ring == time; ring = sim_ring_first(&p->ring)) {
			struct sim_arrival a = sim_ring_take(k, p);

			p->sums.events++;
			sim_core_arrive(k, p, &a);
		}
		while (fab_wheel_ahead(w) && w->now.v[w->at].time == time) {
			struct fab_wheel_event event = *fab_wheel_take(w);

			look_ahead(k, p);
			sim_core_handle(k, p, &event);
		}
		sim_flush(k, p);
	}
}

FAB_WIDE static void run_any(struct sim_part *p, uint64_t limit)
{
	run(p->sim->shape, p, limit);
}

FAB_WIDE static void run_oq(struct sim_part *p, uint64_t limit)
{
	run((struct sim_shape){.one_lane = true, .is_small = true}, p, limit);
}

FAB_WIDE static void run_voq(struct sim_part *p, uint64_t limit)
{
	run((struct sim_shape){.one_read = true, .one_lane = true, .is_small = true}, p,
	    limit);
}

FAB_WIDE static void run_fifo(struct sim_part *p, uint64_t limit)
{
	run((struct sim_shape){.one_read = true,
			       .is_fifo = true,
			       .one_lane = true,
			       .is_small = true},
	    p, limit);
}

/* Of switches of any size. */
FAB_WIDE static void run_large(struct sim_part *p, uint64_t limit)
{
	run((struct sim_shape){.one_read = true, .one_lane = true}, p, limit);
}

void sim_part_run(struct sim_part *p, uint64_t limit)
{
	const struct sim_shape k = p->sim->shape;

	if (k.one_lane && k.one_read && !k.is_fifo && !k.reads_apart && !k.is_small)
		run_large(p, limit);
	else if (!k.one_lane || k.reads_apart || !k.is_small)
		run_any(p, limit);
	else if (k.is_fifo)
		run_fifo(p, limit);
	else if (k.one_read)
		run_voq(p, limit);
	else
		run_oq(p, limit);
}
