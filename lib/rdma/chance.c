/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the network does to packets, by counter: item = (transfer, number), draw =
 * (attempt, purpose), whatever the scheme has done before. Bursts of each cable alone are
 * by the number of the packet on that cable, and that depends on the scheme.
 */
#include "rdma/state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "event/stream.h"

enum {
	PURPOSES = 4,
	COPIES = 64, /* of a packet that a bound takes the best of */
};
enum purpose { LOSS, HOLD_UP, HOW_LONG };

static double draw(uint64_t seed, const struct rdma_packet *p, uint32_t attempt,
		   enum purpose purpose)
{
	uint64_t item = (uint64_t)p->transfer << 32 | p->number;

	return fab_unit(fab_stream_at(seed, item,
				      (uint64_t)attempt * PURPOSES + (uint64_t)purpose));
}

/*
 * Gilbert's chain over the numbers of one attempt: bad begins with probability enter,
 * ends with leave. Where a number's draw is below enter the state behind it is bad, above
 * 1 - leave good, whatever it was; else it stays: so it is looked for backwards.
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

/* The same chain over the packets of data that start on a cable, forwards. */
void rdma_chance_cable(struct rdma *r, uint32_t port, struct rdma_packet *p)
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

/* The number of the cable on which it is lost, from 1 on, if each loses it. */
static void lose_on_a_cable(const struct rdma *r, struct rdma_packet *p, uint32_t attempt)
{
	double u = 1 - draw(r->loss_seed, p, attempt, LOSS); /* (0, 1] */
	double cables;

	if (r->cable_chance)
		return; /* that is drawn where it takes a cable */
	cables = r->log_keep < 0 ? floor(log(u) / r->log_keep) : 0;
	if (r->params->bad.loss > 0 && cables + 1 < p->life)
		p->life = (uint8_t)(cables + 1);
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

/* How long this copy is held up; of a bound the copy that is held up least. */
static uint64_t hold_up(const struct rdma *r, const struct rdma_packet *p,
			uint32_t attempt)
{
	uint64_t least = hold_up_of(r, p, attempt);

	if (r->code->needs & RDMA_TAKES_BEST) {
		if (p->flags & RDMA_DOOMED || p->life < FAB_RDMA_HOPS_MAX)
			return 0;
		for (uint32_t i = 0; i < COPIES && least; i++) {
			uint64_t other = hold_up_of(r, p, i);

			least = other < least ? other : least;
		}
	}
	r->result->n.delayed += least > 0;
	return least;
}

uint64_t rdma_chance_data(struct rdma *r, struct rdma_packet *p, uint32_t attempt)
{
	const struct fab_rdma_impairments *bad = &r->params->bad;

	if (bad->loss > 0) {
		if (bad->per_hop)
			lose_on_a_cable(r, p, attempt);
		else if (bad->burst > 1
				 ? in_burst(r, *p, attempt)
				 : draw(r->loss_seed, p, attempt, LOSS) < bad->loss)
			p->flags |= RDMA_DOOMED;
	}
	return bad->delayed > 0 ? hold_up(r, p, attempt) : 0;
}

bool rdma_chance_control(struct rdma *r, uint32_t transfer, uint32_t sequence,
			 bool by_sender)
{
	if (r->params->bad.drop_control <= 0)
		return false;
	return fab_unit(fab_stream_at(r->control_seed, transfer,
				      (uint64_t)sequence * 2 + by_sender)) <
	       r->params->bad.drop_control;
}

/* Does the outage hit this port's cable? */
static bool hits(const struct rdma *r, const struct fab_rdma_outage *o, uint32_t port)
{
	const struct sim_net *s = &r->net->sim;
	const struct fab_fabric *f = r->problem->f;

	if (s->peer[port] == FAB_NONE)
		return false;
	if (o->cable == FAB_NONE)
		return port < s->n_ports && s->peer[port] < s->n_ports;
	return s->fabric_port[port] == f->cable_a[o->cable] ||
	       s->fabric_port[port] == f->cable_b[o->cable];
}

static int init_outages(struct rdma *r, struct fab_err *err)
{
	const struct fab_rdma_impairments *bad = &r->params->bad;
	uint32_t n = r->net->sim.n_all;
	uint64_t at = 0;

	for (size_t i = 0; i < bad->n_outages; i++)
		if (bad->outage[i].cable != FAB_NONE &&
		    bad->outage[i].cable >= r->problem->f->n_cables)
			return fab_fail(err, EINVAL, "outage %zu: there is no cable %u",
					i, bad->outage[i].cable);
	if (!bad->n_outages)
		return 0;
	r->outages.first = FAB_NEW(n + 1, uint64_t);
	r->outages.of = FAB_NEW((size_t)n * bad->n_outages + 1, struct fab_rdma_outage);
	for (uint32_t port = 0; port < n; port++) {
		r->outages.first[port] = at;
		for (size_t i = 0; i < bad->n_outages; i++)
			if (hits(r, &bad->outage[i], port))
				r->outages.of[at++] = bad->outage[i];
	}
	r->outages.first[n] = at;
	return 0;
}

int rdma_chance_init(struct rdma *r, struct fab_err *err)
{
	const struct fab_rdma_impairments *bad = &r->params->bad;
	uint64_t seed = r->params->seed;

	r->loss_seed = fab_mix64(seed + 1);
	r->delay_seed = fab_mix64(seed + 2);
	r->control_seed = fab_mix64(seed + 3);
	r->route_seed = fab_mix64(seed + 4);
	r->harms_data = bad->loss > 0 || bad->delayed > 0;
	r->may_lose_control = bad->drop_control > 0 || bad->n_outages;
	r->log_keep = log1p(-bad->loss);
	if (bad->burst > 1) {
		r->burst_leave = 1 / bad->burst;
		r->burst_enter = r->burst_leave * bad->loss / (1 - bad->loss);
	}
	if (bad->burst > 1 && bad->per_hop && bad->loss > 0)
		r->cable_chance = FAB_NEW0(r->net->sim.n_all, struct rdma_cable_chance);
	return init_outages(r, err);
}

void rdma_chance_fini(struct rdma *r)
{
	free(r->outages.first);
	free(r->outages.of);
	free(r->cable_chance);
}
