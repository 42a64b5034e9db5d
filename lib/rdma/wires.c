/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets on cables: impairments, the choice of an output, and two kinds of buffers.
 *
 * Without bounds on buffers a packet's time of leaving is known when it has
 * chosen its output, so that a hop is one event.
 *
 * With bounds each lane of an input has a number of bytes. A packet that has chosen its
 * output waits in the queue of its lane, first come, first served, and starts when the
 * buffer behind the cable has room for all of it; it frees its own when its tail has
 * left, which the sender learns a cable delay later. Lanes take turns. Adaptive packets
 * have a lane of their own, above those of the tables: one takes it only where the buffer
 * behind has room at once, which is then its; else it continues by the tables as if it
 * came from an adapter of this switch, and stays on their lanes to its end. So packets on
 * the adaptive lane always move, and those on the lanes of the tables wait for these
 * lanes only (Duato 1993, with escapes for good).
 *
 * Impairments are drawn by counter: item = (transfer, number), draw = (attempt, purpose),
 * whatever the scheme has done before. Bursts of each cable by itself are drawn by the
 * number of the packet on that cable, which depends on the scheme.
 */
#include "rdma/state.h"

#include <errno.h>
#include <math.h>

#include "base/rng.h"
#include "event/stream.h"

/* Impairments */

enum {
	PURPOSES = 4,
	COPIES = 64, /* of a packet, the best of which counts for a bound */
};
enum purpose { LOSS, HOLD_UP, HOW_LONG, DAMAGE };

static double draw(uint64_t seed, const struct rdma_packet *p, uint32_t attempt,
		   enum purpose purpose)
{
	uint64_t item = (uint64_t)p->transfer << 32 | p->number;

	return fab_unit(fab_stream_at(seed, item,
				      (uint64_t)attempt * PURPOSES + (uint64_t)purpose));
}

/*
 * Gilbert's chain over the numbers of one attempt: a burst begins with probability enter
 * and ends with probability leave. A draw below enter means a burst, one above 1 - leave
 * none, whatever the state before; else the state stays: the search goes backwards.
 */
static bool in_burst(const struct rdma *r, struct rdma_packet p, uint32_t attempt)
{
	for (;; p.number--) {
		double u = draw(r->loss_seed, &p, attempt, LOSS);

		/* before the first number: as in the long run */
		if (!p.number)
			return u < r->burst_enter / (r->burst_enter + r->burst_leave);
		if (u < r->burst_enter)
			return true;
		if (u >= 1 - r->burst_leave)
			return false;
	}
}

/* Gilbert's chain forwards, over the packets of data that start on a cable. */
static void draw_on_cable(struct rdma *r, uint32_t port, struct rdma_packet *p)
{
	struct rdma_cable_chance *c = &r->cable_chance[port];
	double u;

	if (p->kind != FAB_RDMA_DATA)
		return;
	u = fab_unit(fab_stream_at(r->loss_seed, port, c->packets));
	if (!c->packets++)
		c->is_bad = u < r->burst_enter / (r->burst_enter + r->burst_leave);
	else if (u < r->burst_enter)
		c->is_bad = true;
	else if (u >= 1 - r->burst_leave)
		c->is_bad = false;
	if (c->is_bad)
		p->life = 1; /* this cable is its last one */
}

static uint64_t hold_up_of(const struct rdma *r, const struct rdma_packet *p,
			   uint32_t attempt)
{
	const struct fab_rdma_impairments *bad = &r->params->bad;
	double u;

	if (draw(r->delay_seed, p, attempt, HOLD_UP) >= bad->delayed)
		return 0;
	if (bad->delay == FAB_RDMA_FIXED)
		return bad->delay_ps;
	u = draw(r->delay_seed, p, attempt, HOW_LONG);
	if (bad->delay == FAB_RDMA_EXPONENTIAL)
		u = -log1p(-u);
	return (uint64_t)(u * (double)bad->delay_ps);
}

uint64_t rdma_chance_data(struct rdma *r, struct rdma_packet *p, uint32_t attempt)
{
	const struct fab_rdma_impairments *bad = &r->params->bad;
	uint64_t least;

	if (bad->loss > 0 && bad->per_hop && !r->cable_chance) {
		/* the cable that loses it, if each loses this share */
		double u = 1 - draw(r->loss_seed, p, attempt, LOSS); /* (0, 1] */
		double cables = r->log_keep < 0 ? floor(log(u) / r->log_keep) : 0;

		if (cables + 1 < p->life)
			p->life = (uint8_t)(cables + 1);
	} else if (bad->loss > 0 && !bad->per_hop &&
		   (bad->burst > 1 ? in_burst(r, *p, attempt)
				   : draw(r->loss_seed, p, attempt, LOSS) < bad->loss)) {
		p->flags |= RDMA_DOOMED;
	}
	if (bad->corrupt > 0 && draw(r->loss_seed, p, attempt, DAMAGE) < bad->corrupt) {
		p->is_spoiled = draw(r->check_seed, p, attempt, DAMAGE) <
				ldexp(1, -(int)bad->check_bits);
		p->flags |= p->is_spoiled ? 0 : RDMA_DAMAGED;
	}
	if (!(bad->delayed > 0))
		return 0;
	least = hold_up_of(r, p, attempt);
	if (r->code->needs & RDMA_TAKES_BEST) {
		if (p->flags & (RDMA_DOOMED | RDMA_DAMAGED) ||
		    p->life < FAB_RDMA_HOPS_MAX)
			return 0;
		for (uint32_t i = 0; i < COPIES && least; i++) {
			uint64_t other = hold_up_of(r, p, i);

			least = other < least ? other : least;
		}
	}
	r->result->n.delayed += least > 0;
	return least;
}

int rdma_chance_init(struct rdma *r, struct fab_err *err)
{
	const struct fab_rdma_impairments *bad = &r->params->bad;
	const struct sim_net *s = &r->net->sim;
	const struct fab_fabric *f = r->problem->f;
	uint64_t seed = r->params->seed, at = 0;
	uint32_t n = s->n_all;

	r->loss_seed = fab_mix64(seed + 1);
	r->delay_seed = fab_mix64(seed + 2);
	r->control_seed = fab_mix64(seed + 3);
	r->route_seed = fab_mix64(seed + 4);
	r->check_seed = fab_mix64(seed + 5);
	r->harms_data = bad->loss > 0 || bad->delayed > 0 || bad->corrupt > 0;
	r->may_lose_control = bad->drop_control > 0 || bad->n_outages;
	r->log_keep = log1p(-bad->loss);
	if (bad->burst > 1) {
		r->burst_leave = 1 / bad->burst;
		r->burst_enter = r->burst_leave * bad->loss / (1 - bad->loss);
	}
	if (bad->burst > 1 && bad->per_hop && bad->loss > 0)
		r->cable_chance = FAB_ARENA_NEW0(&r->arena, n, struct rdma_cable_chance);
	for (size_t i = 0; i < bad->n_outages; i++)
		if (bad->outage[i].cable != FAB_NONE &&
		    bad->outage[i].cable >= r->problem->f->n_cables)
			return fab_fail(err, EINVAL, "outage %zu: there is no cable %u",
					i, bad->outage[i].cable);
	if (!bad->n_outages)
		return 0;
	r->outages.first = FAB_ARENA_NEW(&r->arena, n + 1, uint64_t);
	r->outages.of = FAB_ARENA_NEW(&r->arena, (size_t)n * bad->n_outages + 1,
				      struct fab_rdma_outage);
	for (uint32_t port = 0; port < n; port++) {
		r->outages.first[port] = at;
		for (size_t i = 0; i < bad->n_outages && s->peer[port] != FAB_NONE; i++) {
			uint32_t cable = bad->outage[i].cable;

			if (cable == FAB_NONE
				    ? port < s->n_ports && s->peer[port] < s->n_ports
				    : s->fabric_port[port] == f->cable_a[cable] ||
					      s->fabric_port[port] == f->cable_b[cable])
				r->outages.of[at++] = bad->outage[i];
		}
	}
	r->outages.first[n] = at;
	return 0;
}

/* Is the cable of a port down now? */
static inline bool is_out(const struct rdma *r, uint32_t port)
{
	const uint64_t *first = r->outages.first;

	for (uint64_t i = first ? first[port] : 0, end = first ? first[port + 1] : 0;
	     i < end; i++)
		if (r->now >= r->outages.of[i].from_ps &&
		    r->now < r->outages.of[i].until_ps)
			return true;
	return false;
}

/* Packets */

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

void rdma_vector_free(struct rdma *r, const struct rdma_packet *p)
{
	if (p->kind != FAB_RDMA_RESEND || !(p->flags & RDMA_VECTOR))
		return;
	r->vector.v[p->value].base = r->free_vector;
	r->free_vector = p->value;
}

void rdma_lose(struct rdma *r, uint32_t id)
{
	const struct rdma_packet *p = &r->packet.v[id];
	uint32_t session = r->session_of[p->transfer];

	r->result->n.lost[p->kind]++;
	if (p->kind == FAB_RDMA_DATA && r->code->lost && session != FAB_NONE &&
	    r->session.v[session]->tx == RDMA_TX_SENDING)
		r->code->lost(r, r->session.v[session], p->number);
	rdma_vector_free(r, &r->packet.v[id]);
	rdma_packet_free(r, id);
}

/* Outputs */

/* A random number of a packet at a switch. */
static inline uint64_t chance_of(const struct rdma *r, uint32_t sw,
				 const struct rdma_packet *p)
{
	return r->route_seed ^ fab_mix64(((uint64_t)p->transfer << 32 | p->number) +
					 ((uint64_t)sw << 40) + p->life);
}

/* The output on a shortest path that is free first, of equals a random one; or any of
 * them. FAB_NONE: none. */
static inline uint32_t choose_productive(const struct rdma *r, uint32_t sw,
					 uint32_t first, const struct rdma_packet *p)
{
	uint64_t best = UINT64_MAX, now = r->now, chance = 0;
	uint32_t n, equals = 0, out = FAB_NONE;
	uint16_t arc[RDMA_ARCS_MAX];

	n = r->mask ? rdma_net_mask_arcs(r->mask[(size_t)p->row * r->n_switches + sw],
					 arc)
		    : rdma_net_productive(r->net, sw, p->row, arc);
	if (n <= 1)
		return n ? first + arc[0] : FAB_NONE;
	if (r->is_spray)
		return first + arc[fab_mix64(chance_of(r, sw, p)) % n];
	for (uint32_t i = 0; i < n; i++) {
		uint64_t busy = r->busy[first + arc[i]];

		busy = busy < now ? now : busy;
		if (busy < best) {
			best = busy;
			equals = 1;
			out = first + arc[i];
		} else if (busy == best) {
			/* the i-th of equals takes the place of those before with 1 / i
			 */
			chance = ++equals == 2 ? chance_of(r, sw, p) : chance;
			if (fab_mix64(chance + equals) % equals == 0)
				out = first + arc[i];
		}
	}
	return out;
}

/* The output that a packet takes at the switch of port `in`; FAB_NONE: none. */
static inline uint32_t choose(const struct rdma *r, uint32_t in,
			      const struct rdma_packet *p)
{
	const struct rdma_port *port = &r->port[in];
	uint32_t out;
	uint16_t next;

	if (!r->next || (r->is_adaptive && !(p->flags & RDMA_ESCAPED))) {
		if (p->row == port->sw)
			return r->end_port[p->to];
		out = choose_productive(r, port->sw, port->first, p);
	} else {
		next = r->next[(size_t)p->row * r->n_switches + port->sw];
		if (next == FAB_ARC_HERE)
			return r->end_port[p->to];
		out = next < FAB_ARC_BROKEN ? port->first + next : FAB_NONE;
	}
	return out != FAB_NONE && r->port[out].peer == FAB_NONE ? FAB_NONE : out;
}

/* Wire time of a packet that comes by port `in` beyond that on port `out`: behind a
 * slower cable the head leaves later, so that the tail is there in time. */
static uint64_t tail_wait(const struct rdma *r, uint32_t in, uint32_t out, uint32_t bytes)
{
	uint64_t before, wire;

	if (r->net->sim.is_even)
		return 0;
	before = sim_wire(r->port[in].per_byte, bytes);
	wire = sim_wire(r->port[out].per_byte, bytes);
	return before > wire ? before - wire : 0;
}

/* A packet starts on the cable of a port at `start`. */
static inline void start_on_cable(struct rdma *r, uint32_t out, uint32_t id,
				  uint64_t start, uint64_t held_up)
{
	const struct fab_rdma_params *params = &r->net->params;
	const struct rdma_port *port = &r->port[out];
	uint64_t wire = sim_wire(port->per_byte, r->packet.v[id].bytes);
	uint64_t time = start + params->cable_ps + held_up;

	if (r->cable_chance)
		draw_on_cable(r, out, &r->packet.v[id]);
	r->busy[out] = start + wire;
	r->result->packet_hops++;
	time += port->peer >= r->n_ports ? wire + params->host_ps : params->switch_ps;
	fab_wheel_add(&r->wheel, time, rdma_what(RDMA_ARRIVE, port->peer), id);
}

/* Unbounded buffers: a packet takes a port at `ready`, or when it is free. */
static inline void forward(struct rdma *r, uint32_t out, uint32_t id, uint64_t ready,
			   uint64_t held_up)
{
	uint64_t start = r->busy[out] > ready ? r->busy[out] : ready;

	if (start - ready > r->longest_wait) {
		r->longest_wait = start - ready;
		r->longest_port = out;
	}
	start_on_cable(r, out, id, start, held_up);
}

/* Bounded buffers */

static struct rdma_lane *lane_of(const struct rdma *r, uint32_t port, unsigned vl)
{
	return &r->lane[(size_t)port * r->n_vls + vl];
}

/* Have adaptive packets a lane of their own, the last one? */
static bool has_adaptive_lane(const struct rdma *r)
{
	return r->net->n_vls > r->net->sim.n_vls;
}

void rdma_wires_init(struct rdma *r)
{
	const struct sim_net *s = &r->net->sim;

	r->lane = FAB_ARENA_NEW(&r->arena, (size_t)s->n_all * r->n_vls + 1,
				struct rdma_lane);
	r->turn = FAB_ARENA_NEW0(&r->arena, s->n_all + 1, uint8_t);
	r->is_waiting = FAB_ARENA_NEW0(&r->arena, s->n_all + 1, bool);
	for (uint32_t p = 0; p < s->n_all; p++)
		for (unsigned vl = 0; vl < r->n_vls; vl++)
			*lane_of(r, p, vl) = (struct rdma_lane){
				.head = FAB_NONE,
				.tail = FAB_NONE,
				.room = s->peer[p] != FAB_NONE && s->peer[p] < s->n_ports
						? r->net->params.buffer
						: INT64_MAX / 2};
}

/* A packet leaves its buffer in `delay`; the sender learns it a cable delay later. */
static void leave_buffer(struct rdma *r, uint32_t in, uint32_t id, uint64_t delay)
{
	const struct rdma_packet *p = &r->packet.v[id];

	fab_wheel_add(&r->wheel, r->now + delay + r->net->params.cable_ps,
		      rdma_what(RDMA_ROOM, r->port[in].peer),
		      (uint32_t)p->vl << 24 | p->bytes);
}

/* A packet starts on a cable; room for it behind is taken already. */
static void start(struct rdma *r, uint32_t out, uint32_t id, unsigned vl,
		  uint64_t held_up)
{
	struct rdma_packet *p = &r->packet.v[id];

	if (r->in_port[id] != FAB_NONE) {
		leave_buffer(r, r->in_port[id], id,
			     sim_wire(r->port[out].per_byte, p->bytes));
		r->n_held--;
	}
	p->vl = vl & 15;
	r->moved = r->now;
	start_on_cable(r, out, id, r->now, held_up);
}

/* Start the packets that can start on a port that is free. */
static void serve(struct rdma *r, uint32_t out)
{
	bool waits = false;

	if (r->is_waiting[out])
		return;
	for (unsigned i = 0; i < r->n_vls && r->busy[out] <= r->now; i++) {
		unsigned vl = (r->turn[out] + i) % r->n_vls;
		struct rdma_lane *lane = lane_of(r, out, vl);
		uint32_t id = lane->head;
		struct rdma_packet *p;

		if (id == FAB_NONE)
			continue;
		p = &r->packet.v[id];
		/* adaptive packets have taken their room when they chose */
		if (vl < r->net->sim.n_vls || !has_adaptive_lane(r)) {
			if (lane->room < p->bytes)
				continue;
			lane->room -= p->bytes;
		}
		lane->head = p->next;
		if (lane->head == FAB_NONE)
			lane->tail = FAB_NONE;
		lane->waiting -= p->bytes;
		r->turn[out] = (uint8_t)((vl + 1) % r->n_vls);
		start(r, out, id, vl, 0);
	}
	if (r->busy[out] <= r->now)
		return;
	for (unsigned vl = 0; vl < r->n_vls; vl++)
		waits |= lane_of(r, out, vl)->head != FAB_NONE;
	if (waits) {
		r->is_waiting[out] = true;
		fab_wheel_add(&r->wheel, r->busy[out], rdma_what(RDMA_FREE, out), 0);
	}
}

void rdma_port_free(struct rdma *r, uint32_t port)
{
	r->is_waiting[port] = false;
	serve(r, port);
}

void rdma_port_room(struct rdma *r, uint32_t port, uint32_t item)
{
	lane_of(r, port, item >> 24)->room += item & 0xffffff;
	if (port < r->n_ports)
		serve(r, port);
}

/* Output and lane of a packet; FAB_NONE: none. */
static uint32_t route(struct rdma *r, uint32_t in, struct rdma_packet *p, unsigned *vl)
{
	const struct sim_net *s = &r->net->sim;
	const struct fab_routes *routes = r->problem->routes;
	bool chooses = has_adaptive_lane(r) && !(p->flags & RDMA_ESCAPED);
	const struct rdma_port *port = &r->port[in];
	uint32_t out = choose(r, in, p), n_arcs, source;

	*vl = 0; /* to an endpoint, which takes whatever comes */
	if (out == FAB_NONE || r->port[out].peer >= r->n_ports)
		return out;
	if (chooses) {
		struct rdma_lane *lane = lane_of(r, out, r->n_vls - 1);

		*vl = r->n_vls - 1;
		if (lane->room >= p->bytes) {
			lane->room -= p->bytes;
			return out;
		}
		/* it continues by the tables, as from an adapter of this switch */
		p->row = s->end_row[p->to];
		if (p->row == FAB_NONE)
			return FAB_NONE;
		p->flags |= RDMA_ESCAPED;
		p->sl = 0;
		source = routes->sl ? r->net->sl_row[port->sw] : FAB_NONE;
		if (routes->sl)
			p->sl = source == FAB_NONE
					? routes->sl_default
					: routes->sl[(size_t)source * routes->n_columns +
						     s->end_column[p->to]] &
						  15;
		out = choose(r, in, p);
		if (out == FAB_NONE)
			return FAB_NONE;
	}
	n_arcs = r->problem->f->arc_first[port->sw + 1] -
		 r->problem->f->arc_first[port->sw];
	if (out - port->first >= n_arcs)
		*vl = 0;
	else
		*vl = sim_net_vl(s, port->sw, chooses ? n_arcs : in - port->first,
				 out - port->first, p->sl);
	return *vl < r->n_vls ? out : FAB_NONE;
}

/* The head of a packet may leave a switch with bounded buffers: it waits for its output,
 * or is dropped. */
static void arrive_bounded(struct rdma *r, uint32_t in, uint32_t id, bool is_ready)
{
	struct rdma_packet *p = &r->packet.v[id];
	struct rdma_lane *lane;
	uint32_t out;
	uint64_t wait;
	unsigned vl;

	r->in_port[id] = in;
	if (!is_ready && !--p->life) {
		r->result->n.looped +=
			!r->params->bad.per_hop || p->kind != FAB_RDMA_DATA;
		goto drop;
	}
	if (!is_ready && !r->net->sim.is_even) {
		out = choose(r, in, p);
		wait = out == FAB_NONE ? 0 : tail_wait(r, in, out, p->bytes);
		if (wait) {
			fab_wheel_add(&r->wheel, r->now + wait, rdma_what(RDMA_READY, in),
				      id);
			return;
		}
	}
	out = route(r, in, p, &vl);
	r->result->n.unroutable += out == FAB_NONE;
	if (out == FAB_NONE)
		goto drop;
	lane = lane_of(r, out, vl);
	if (is_out(r, out)) {
		if (vl == r->n_vls - 1 && has_adaptive_lane(r))
			lane->room += p->bytes;
		goto drop;
	}
	p->next = FAB_NONE;
	if (lane->tail == FAB_NONE)
		lane->head = id;
	else
		r->packet.v[lane->tail].next = id;
	lane->tail = id;
	lane->waiting += p->bytes;
	if (lane->waiting > r->result->peak_queue_bytes)
		r->result->peak_queue_bytes = lane->waiting;
	r->n_held++;
	serve(r, out);
	return;
drop:
	leave_buffer(r, in, id, 0);
	rdma_lose(r, id);
}

/* Entries */

bool rdma_may_send(const struct rdma *r, uint32_t end, unsigned vl, uint32_t bytes)
{
	return !r->lane || lane_of(r, r->n_ports + end, vl)->room >= bytes;
}

void rdma_put(struct rdma *r, uint32_t end, uint32_t id, uint64_t held_up)
{
	uint32_t port = r->n_ports + end;
	const struct rdma_packet *p = &r->packet.v[id];

	if (is_out(r, port)) {
		r->busy[port] = r->now + sim_wire(r->port[port].per_byte, p->bytes);
		rdma_lose(r, id);
	} else if (r->lane) {
		lane_of(r, port, p->vl)->room -= p->bytes;
		r->in_port[id] = FAB_NONE;
		start(r, port, id, p->vl, held_up);
	} else {
		forward(r, port, id, r->now, held_up);
	}
}

void rdma_arrive(struct rdma *r, uint32_t in, uint32_t id, bool is_ready)
{
	struct rdma_packet *p = &r->packet.v[id];
	uint32_t out;

	if (r->lane) {
		arrive_bounded(r, in, id, is_ready);
		return;
	}
	if (!--p->life) {
		r->result->n.looped +=
			!r->params->bad.per_hop || p->kind != FAB_RDMA_DATA;
		rdma_lose(r, id);
		return;
	}
	out = choose(r, in, p);
	r->result->n.unroutable += out == FAB_NONE;
	if (out == FAB_NONE || is_out(r, out))
		rdma_lose(r, id);
	else
		forward(r, out, id, r->now + tail_wait(r, in, out, p->bytes), 0);
}
