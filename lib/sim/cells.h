/* SPDX-License-Identifier: BSD-2-Clause */
/* Cells, letters and credits of a part: what is short and used everywhere. All O(1). */
#pragma once

#include "sim/state.h"

/* Where a constant shape is worth its while. */
#define SIM_HOT static inline __attribute__((always_inline))

enum { SIM_CELLS_MAX = 1 << 30 };

/* Room for more of them: pointers to cells are stale then. */
void sim_cells_grow(struct sim_part *p);

static inline uint32_t sim_cell_new(struct sim_part *p)
{
	uint32_t id = p->free_cell;

	if (id != FAB_NONE) {
		p->free_cell = p->cell.v[id].packet.next;
		return id;
	}
	if (p->cell.n == p->cell.cap)
		sim_cells_grow(p);
	return (uint32_t)p->cell.n++;
}

static inline void sim_cell_free(struct sim_part *p, uint32_t id)
{
	p->cell.v[id].packet.next = p->free_cell;
	p->free_cell = id;
}

static inline struct sim_packet *sim_packet(const struct sim_part *p, uint32_t id)
{
	return &p->cell.v[id].packet;
}

static inline uint32_t sim_endpoint_of(const struct sim_packet *packet)
{
	return packet->source & SIM_ID;
}

/* Credits that a packet of so many bytes (flits) takes. */
static inline int32_t sim_units(const struct sim *s, uint32_t size)
{
	return s->by_units ? (int32_t)((size + FAB_SIM_CREDIT_BYTES - 1) /
				       FAB_SIM_CREDIT_BYTES)
			   : 1;
}

SIM_HOT unsigned sim_n_vls(struct sim_shape k, const struct sim *s)
{
	return k.one_lane ? 1 : s->n_vls;
}

/* Index of a lane of an output. */
SIM_HOT size_t sim_lane_id(struct sim_shape k, const struct sim *s, uint32_t port,
			   unsigned vl)
{
	return k.one_lane ? port : (size_t)port * s->n_vls + vl;
}

SIM_HOT struct sim_lane *sim_lane(struct sim_shape k, const struct sim *s, uint32_t port,
				  unsigned vl)
{
	if (k.one_lane || !vl)
		return &s->port[port].lane;
	return &s->lane[(size_t)port * (s->n_vls - 1) + vl - 1];
}

static inline bool sim_in_window(const struct sim *s, uint64_t time)
{
	return time >= s->begin && time < s->end;
}

static inline struct sim_letter *sim_write(struct sim_part *p, uint32_t to, uint64_t time,
					   enum sim_letter_kind kind, uint32_t id)
{
	struct sim_post *post = &p->post[p->turn][to];

	FAB_RESERVE(&post->of, 1);
	post->of.v[post->of.n] =
		(struct sim_letter){.time = time, .id = id, .kind = kind};
	post->n_packets += kind == SIM_LETTER_PACKET;
	if (time < post->first)
		post->first = time;
	return &post->of.v[post->of.n++];
}

/* An event of the wheel that makes something happen. */
static inline void sim_event_at(struct sim_part *p, uint64_t time,
				enum sim_event_kind kind, uint32_t id, uint32_t item)
{
	p->n_live++;
	fab_wheel_add(&p->wheel, time, sim_what(kind, id), item);
}

/* Has the credit in a place of the bag come by now? If so, it is taken. */
static inline bool sim_credit_take(const struct sim_part *p, struct sim_lane *lane,
				   unsigned i)
{
	const uint64_t units = (1u << SIM_UNIT_BITS) - 1;
	bool has_come = lane->bag[i] <= (p->now << SIM_UNIT_BITS | units);

	lane->credits += (int32_t)(lane->bag[i] & units & -(uint64_t)has_come);
	lane->bag[i] &= (uint64_t)has_come - 1;
	return has_come;
}

/* The credits that have come by now. */
static inline void sim_credit_collect(struct sim_part *p, struct sim_lane *lane)
{
	for (unsigned i = 0; i < SIM_BAG; i++)
		(void)sim_credit_take(p, lane, i);
	while (lane->far_head != FAB_NONE) {
		uint32_t id = lane->far_head;
		const struct sim_credit *c = &p->cell.v[id].credit;

		if (c->time > p->now)
			break;
		lane->credits += (int32_t)c->units;
		lane->far_head = c->next;
		sim_cell_free(p, id);
	}
}

/* A credit behind those that the lane has room for. */
void sim_credit_far(struct sim_part *p, struct sim_lane *lane, uint32_t units,
		    uint64_t time);

/* A credit that will come to an output of this part. */
SIM_HOT void sim_credit_add(struct sim_shape k, struct sim_part *p, uint32_t port,
			    unsigned vl, uint32_t units, uint64_t time)
{
	struct sim_lane *lane = sim_lane(k, p->sim, port, vl);

	unsigned at = lane->at++ % SIM_BAG;

	/* the place that is the oldest is free, as a rule: no branches */
	if (sim_credit_take(p, lane, at))
		lane->bag[at] = time << SIM_UNIT_BITS | units;
	else
		sim_credit_far(p, lane, units, time);
	if (lane->is_blocked && time < lane->wake) {
		lane->wake = time;
		sim_event_at(p, time, SIM_CREDIT, port, 0);
	}
}

/* No room: an event for when there may be some. */
void sim_credit_wait(struct sim_part *p, struct sim_lane *lane, uint32_t port);

/* Room for a packet at the other end now? If not: an event when there may be. */
SIM_HOT bool sim_credit_has(struct sim_part *p, struct sim_lane *lane, uint32_t port,
			    int32_t units)
{
	if (lane->credits >= units)
		return true;
	sim_credit_collect(p, lane);
	if (lane->credits >= units)
		return true;
	sim_credit_wait(p, lane, port);
	return false;
}

/* A buffer behind a port gets free: its sender learns it at `time`. */
SIM_HOT void sim_release(struct sim_shape k, struct sim_part *p,
			 const struct sim_port *port, unsigned vl, uint32_t units,
			 uint64_t time)
{
	struct sim_letter *l;

	if (port->part == p->index) {
		sim_credit_add(k, p, port->peer, vl, units, time);
		return;
	}
	l = sim_write(p, port->part, time, SIM_LETTER_CREDIT, port->peer);
	l->packet.vl = vl & 15;
	l->packet.size = (uint16_t)units;
}

/* Where a packet goes from a switch. */
struct sim_copy {
	uint32_t out;
	unsigned vl;
};

/*
 * Of any packet in the buffer of an input (of multicast: with its fan) all outputs, into
 * to[] if there is one only, or with `n` of room. Returns how many.
 */
uint32_t sim_outputs(const struct sim_part *p, uint32_t sw, uint32_t in, uint32_t packet,
		     struct sim_copy *to, uint32_t n);

/* The first packet of a fifo unit asks for its output. */
void sim_fifo_head(struct sim_part *p, uint32_t sw, uint32_t unit);
/* Of group packets at a switch: one has come by a port, one is the first of a fifo unit.
 */
void sim_group_arrive(struct sim_part *p, uint32_t port, uint32_t packet,
		      bool has_waited);
void sim_group_head(struct sim_part *p, uint32_t sw, uint32_t unit, uint32_t packet);
/* The copy that a unit has for an output starts, for `wire` ticks: out of its queue.
 * Returns its cell. */
uint32_t sim_group_copy(struct sim_part *p, uint32_t sw, uint32_t unit, uint32_t out,
			unsigned vl, uint64_t wire);

/* Events of endpoints. */
void sim_inject(struct sim_part *p, uint32_t end);
void sim_received(struct sim_part *p, uint32_t end, uint32_t packet);
void sim_completed(struct sim_part *p, uint32_t end, uint32_t packet);
/* A packet starts on the cable to its endpoint, for so many ticks. */
void sim_deliver(struct sim_part *p, uint32_t end, uint32_t packet, uint64_t wire);
/* A packet goes no further; `wire`: of the cable by which it came. */
void sim_drop(struct sim_part *p, uint32_t in, uint32_t packet);
/* Copies more (less: below zero) of a multicast message are on their way. */
void sim_message_copies(struct sim_part *p, uint32_t source, uint32_t message,
			int64_t copies, uint64_t delivered, bool is_lost);
/* Is a packet created at `birth` that is sent now to be traced? O(log traced). */
bool sim_is_traced(struct sim_part *p, uint64_t birth);
/* A step of a traced packet: it starts on the cable of a port. */
void sim_trace(struct sim_part *p, const struct sim_packet *packet, uint32_t port,
	       unsigned vl);
/* Credit has come to an output for which one waits. */
void sim_credit_comes(struct sim_part *p, uint32_t port);
/* What the lanes of a port waited for credit since they were looked at last. */
void sim_count_blocked(struct sim_part *p, struct sim_port *port, uint32_t id);
/* A lane of an output waits for credit from now on. */
void sim_block(struct sim_part *p, uint32_t port, unsigned vl);
