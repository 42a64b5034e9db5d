/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets put into the network and taken out of it, and impairments.
 *
 * Impairments are drawn by counter: item = (transfer, number), draw = (attempt, purpose),
 * whatever the scheme has done before. Bursts of each cable by itself are drawn by the
 * number of the packet on that cable, which depends on the scheme. A packet that is lost
 * on one of its cables begins with so many hops that this cable is the last one allowed.
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

/* Count the time that a packet takes a cable, and go on in Gilbert's chain forwards, over
 * the packets of data that start on it. */
static void on_cable(struct sim_part *part, uint32_t port, uint32_t id)
{
	struct rdma *r = part->sim->context;
	const struct sim_net *net = &part->sim->net;
	struct rdma_cable_chance *c = r->cable_chance ? &r->cable_chance[port] : NULL;
	double u;

	if (r->params->busy_ps)
		r->params->busy_ps[net->fabric_port[port]] +=
			sim_wire(net->per_byte[port], sim_packet(part, id)->size);
	if (!c || r->rest[id].kind != FAB_RDMA_DATA)
		return;
	u = fab_unit(fab_stream_at(r->loss_seed, port, c->packets));
	if (!c->packets++)
		c->is_bad = u < r->burst_enter / (r->burst_enter + r->burst_leave);
	else if (u < r->burst_enter)
		c->is_bad = true;
	else if (u >= 1 - r->burst_leave)
		c->is_bad = false;
	if (c->is_bad)
		sim_packet(part, id)->hops = FAB_SIM_HOPS_MAX - 1;
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

		if (cables + 1 < FAB_SIM_HOPS_MAX)
			p->hops = (uint8_t)(FAB_SIM_HOPS_MAX - 1 - cables);
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
		if (p->flags & (RDMA_DOOMED | RDMA_DAMAGED) || p->hops)
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
	r->check_seed = fab_mix64(seed + 5);
	r->harms_data = bad->loss > 0 || bad->delayed > 0 || bad->corrupt > 0;
	r->may_lose_control = bad->drop_control > 0 || bad->n_outages || r->params->drop;
	r->log_keep = log1p(-bad->loss);
	if (bad->burst > 1) {
		r->burst_leave = 1 / bad->burst;
		r->burst_enter = r->burst_leave * bad->loss / (1 - bad->loss);
	}
	if (bad->burst > 1 && bad->per_hop && bad->loss > 0)
		r->cable_chance = FAB_ARENA_NEW0(&r->arena, n, struct rdma_cable_chance);
	for (size_t i = 0; i < bad->n_outages; i++)
		if (bad->outage[i].cable != FAB_NONE &&
		    bad->outage[i].cable >=
			    (bad->outage[i].is_switch ? f->n_switches : f->n_cables))
			return fab_fail(err, EINVAL, "outage %zu: there is no %s %u", i,
					bad->outage[i].is_switch ? "switch" : "cable",
					bad->outage[i].cable);
	if (!bad->n_outages)
		return 0;
	r->outages.first = FAB_ARENA_NEW(&r->arena, n + 1, uint64_t);
	r->outages.of = FAB_ARENA_NEW(&r->arena, (size_t)n * bad->n_outages + 1,
				      struct fab_rdma_outage);
	for (uint32_t port = 0; port < n; port++) {
		r->outages.first[port] = at;
		for (size_t i = 0; i < bad->n_outages && s->peer[port] != FAB_NONE; i++) {
			uint32_t id = bad->outage[i].cable, peer = s->peer[port];
			bool is_hit;

			if (id == FAB_NONE)
				is_hit = port < s->n_ports && peer < s->n_ports;
			else if (bad->outage[i].is_switch)
				is_hit = (port < s->n_ports && s->port_sw[port] == id) ||
					 (peer < s->n_ports && s->port_sw[peer] == id);
			else
				is_hit = s->fabric_port[port] == f->cable_a[id] ||
					 s->fabric_port[port] == f->cable_b[id];
			if (is_hit)
				r->outages.of[at++] = bad->outage[i];
		}
	}
	r->outages.first[n] = at;
	return 0;
}

static bool is_down(const struct sim_part *part, uint32_t port)
{
	const struct rdma *r = part->sim->context;
	const uint64_t *first = r->outages.first;

	for (uint64_t i = first[port]; i < first[port + 1]; i++)
		if (part->now >= r->outages.of[i].from_ps &&
		    part->now < r->outages.of[i].until_ps)
			return true;
	return false;
}

/* Packets */

uint32_t rdma_packet_new(struct rdma *r, const struct rdma_packet *p)
{
	uint32_t id = sim_cell_new(r->part);
	unsigned sl = !r->sim.drops ? p->sl : p->kind == FAB_RDMA_DATA ? 0 : SIM_URGENT;

	if (id >= r->n_rest) { /* as many as there are cells */
		r->rest = fab_grow_huge(r->rest, r->n_rest, r->part->cell.cap,
					sizeof(*r->rest));
		r->n_rest = r->part->cell.cap;
		r->sim.beside = (const uint64_t *)r->rest;
	}
	*sim_packet(r->part, id) = (struct sim_packet){.next = FAB_NONE,
						       .row = p->row,
						       .target = p->to,
						       .source = p->transfer,
						       .birth = p->number,
						       .size = p->bytes,
						       .tag = p->transmission,
						       .hops = p->hops,
						       .sl = sl & 15,
						       .vl = p->vl & 15};
	r->rest[id] = (struct rdma_rest){.value = p->value,
					 .cid = p->cid,
					 .kind = p->kind & 15,
					 .flags = p->flags & 15,
					 .is_spoiled = p->is_spoiled,
					 .is_marked = p->is_marked};
	return id;
}

struct rdma_packet rdma_packet_get(const struct rdma *r, uint32_t id)
{
	const struct sim_packet *packet = sim_packet(r->part, id);
	const struct rdma_rest *rest = &r->rest[id];
	bool is_trimmed = r->sim.drops && packet->sl & SIM_TRIMMED;

	return (struct rdma_packet){
		.transfer = packet->source,
		.number = (uint32_t)packet->birth,
		.value = rest->value,
		.bytes = packet->size,
		.cid = rest->cid,
		.kind = rest->kind,
		.flags = rest->flags | (is_trimmed ? RDMA_DAMAGED : 0),
		.is_trimmed = is_trimmed,
		.is_marked = rest->kind == FAB_RDMA_DATA
				     ? r->sim.drops && packet->sl & SIM_MARKED
				     : rest->is_marked,
		.transmission = packet->tag,
		.hops = packet->hops,
		.vl = packet->vl,
		.is_spoiled = rest->is_spoiled};
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
	struct rdma_packet p = rdma_packet_get(r, id);
	uint32_t session = r->session_of[p.transfer];

	r->result->n.lost[p.kind]++;
	if (p.kind == FAB_RDMA_DATA && r->code->lost && session != FAB_NONE &&
	    r->session.v[session]->tx == RDMA_TX_SENDING)
		r->code->lost(r, r->session.v[session], p.number);
	rdma_vector_free(r, &p);
}

/* A packet that the network has lost. */
static void lost(struct sim_part *part, uint32_t id, enum sim_loss why)
{
	struct rdma *r = part->sim->context;

	r->now = part->now;
	r->result->n.looped += why == SIM_LOOPED && (!r->params->bad.per_hop ||
						     r->rest[id].kind != FAB_RDMA_DATA);
	r->result->n.unroutable += why == SIM_UNROUTABLE;
	r->result->n.dropped += why == SIM_FULL;
	rdma_lose(r, id);
}

void rdma_wires_host(const struct rdma *r, struct sim_host *host)
{
	host->lost = lost;
	host->starts = r->cable_chance || r->params->busy_ps ? on_cable : NULL;
	host->is_down = r->outages.first ? is_down : NULL;
}

/* The wire of an endpoint */

uint64_t rdma_wire_free(const struct rdma *r, uint32_t end)
{
	uint32_t port = r->sim.net.n_ports + end;

	return r->sim.open ? r->sim.busy[port] : r->sim.port[port].busy;
}

bool rdma_may_send(const struct rdma *r, uint32_t end, unsigned vl, uint32_t bytes)
{
	const struct sim *s = &r->sim;
	uint32_t port = s->net.n_ports + end;

	return s->open || sim_credit_has(r->part, port, vl, sim_units(s, bytes));
}

void rdma_put(struct rdma *r, uint32_t end, uint32_t id, uint64_t held_up)
{
	struct sim *s = &r->sim;
	uint32_t port = s->net.n_ports + end;
	const struct sim_packet *packet = sim_packet(r->part, id);
	uint64_t *busy = s->open ? &s->busy[port] : &s->port[port].busy;
	uint64_t wire = sim_wire(s->net.per_byte[port], packet->size);

	if (s->host.is_down && s->host.is_down(r->part, port)) {
		*busy = r->now + wire;
		rdma_lose(r, id);
		sim_cell_free(r->part, id);
	} else if (s->open) {
		sim_open_put(r->part, end, id, held_up);
	} else {
		*busy = r->now + wire;
		r->part->sums.injected++;
		if (!s->drops)
			sim_take(s, port, packet->vl, sim_units(s, packet->size));
		sim_start(r->part, port, id, packet->vl, wire, held_up);
	}
}
