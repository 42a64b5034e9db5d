/* SPDX-License-Identifier: BSD-2-Clause */
/* The result of a run: sums of the parts, and the cause that limits the throughput. */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "sim/hot.h"

static double mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : 0;
}

struct sim_sums sim_all_sums(const struct sim *s)
{
	/* all members are 64-bit counters except the last, a maximum */
	const size_t n = offsetof(struct sim_sums, hops_max) / sizeof(uint64_t);
	struct sim_sums sums = {0};

	for (uint32_t i = 0; i < s->n_parts; i++) {
		const struct sim_sums *one = &s->part[i].sums;

		for (size_t k = 0; k < n; k++)
			((uint64_t *)&sums)[k] += ((const uint64_t *)one)[k];
		if (one->hops_max > sums.hops_max)
			sums.hops_max = one->hops_max;
	}
	return sums;
}

uint64_t sim_in_flight(const struct sim_sums *sums)
{
	uint64_t n = sums->injected + sums->copied - sums->delivered;

	for (unsigned why = 0; why < SIM_LOSSES; why++)
		n -= sums->dropped[why];
	return n;
}

static void take_sums(const struct sim *s, struct fab_sim_result *r)
{
	const struct sim_sums sums = sim_all_sums(s);
	double room = 0; /* bytes that the endpoints' cables carry in the time */

	for (uint32_t e = 0; e < s->net.n_ends; e++)
		room += (double)r->time * (1u << SIM_RATE_SHIFT) /
			s->net.per_byte[s->net.n_ports + e];
	r->born = sums.born;
	r->injected = sums.injected;
	r->copied = sums.copied;
	r->delivered = sums.delivered;
	r->lost = sums.lost;
	r->unroutable = sums.dropped[SIM_UNROUTABLE];
	r->looped = sums.dropped[SIM_LOOPED];
	r->dropped = sums.dropped[SIM_FULL];
	r->trimmed = sums.trimmed;
	r->marked = sums.marked;
	r->unknown_sl = sums.unknown_sl;
	r->in_flight = sim_in_flight(&sums);
	r->packet_hops = sums.packet_hops;
	r->events = sums.events;
	r->backlog = sums.window_born > sums.window_sent
			     ? sums.window_born - sums.window_sent
			     : 0;
	r->accepted_bytes = sums.accepted;
	r->goodput_bytes = sums.goodput;
	if (room > 0) {
		r->offered = (double)sums.offered / room;
		r->sent = (double)sums.sent / room;
		r->accepted = (double)sums.accepted / room;
		r->goodput = (double)sums.goodput / room;
	}
	r->latency_mean = mean(sums.latency, sums.n_latency);
	r->source_wait_mean = mean(sums.wait, sums.n_wait);
	r->network_mean = r->latency_mean - r->source_wait_mean;
	r->message_latency_mean = mean(sums.message, sums.n_message);
	r->hops_mean = mean(sums.hops, sums.n_latency);
	r->hops_max = sums.hops_max;
}

static void take_cables(struct sim *s, struct fab_sim_result *r)
{
	uint32_t busy = 0, size = s->params->mtu + s->params->header;
	uint64_t packets =
		(uint64_t)(s->credits + s->shared) / (uint64_t)sim_units(s, size);
	double sum = 0, most = 0;

	r->n_cables = s->net.n_all;
	r->n_vls = s->n_vls;
	r->fullest = FAB_NONE;
	r->cable = FAB_NEW0(r->n_cables + 1, struct fab_sim_cable);
	r->lane = FAB_NEW0((size_t)r->n_cables * r->n_vls + 1, struct fab_sim_lane);
	for (uint32_t p = 0; p < r->n_cables; p++) {
		struct fab_sim_cable *c = &r->cable[p];
		uint64_t wire = sim_wire(s->net.per_byte[p], size), ticks = 0;

		c->port = s->net.fabric_port[p];
		for (unsigned vl = 0; vl < s->n_vls; vl++) {
			const struct sim_lane_sums *from = sim_lane_sums(s, p, vl);
			struct fab_sim_lane *lane = &r->lane[(size_t)p * s->n_vls + vl];

			lane->packets = from->packets;
			lane->mean_queue = mean(from->waited, r->time);
			lane->no_credit = mean(from->no_credit, r->time);
			c->packets += from->packets;
			c->bytes += from->bytes;
			ticks += from->busy;
		}
		/* too small a buffer: its lanes can never be busy all the time */
		c->is_credit_limited =
			s->net.peer[p] < s->net.n_ports &&
			packets * wire < s->hop_delay + wire + s->cable_delay;
		r->credit_limited += c->is_credit_limited ? s->n_vls : 0;
		c->utilisation = fmin(mean(ticks, r->time), 1);
		if (!c->packets)
			continue;
		busy++;
		sum += c->utilisation;
		if (c->utilisation > most) {
			most = c->utilisation;
			r->fullest = p;
		}
	}
	r->utilisation_mean = busy ? sum / busy : 0;
	for (uint32_t p = 0; p < r->n_cables; p++)
		r->n_at_most += most > 0 && r->cable[p].utilisation >= 0.99 * most;
}

FAB_ORDER(cmp_delivery, struct fab_sim_delivery, delivered, target, source)

void sim_results(struct sim *s, struct fab_sim_result *r)
{
	const struct sim_net *net = &s->net;

	for (uint32_t i = 0; i < s->n_parts; i++)
		r->waiting += sim_part_waiting(&s->part[i]);
	for (uint32_t p = 0; p < net->n_all; p++)
		sim_count_blocked(s, s->part[0].now, p);
	r->warmup = s->begin;
	r->time = (r->end < s->end ? r->end : s->end) - s->begin;
	take_sums(s, r);
	take_cables(s, r);
	r->n_groups = net->n_groups;
	if (r->n_groups)
		r->group = FAB_NEW0(r->n_groups, struct fab_sim_group);
	for (uint32_t g = 0; g < r->n_groups; g++) {
		uint64_t latency = 0;

		for (uint32_t i = 0; i < s->n_parts; i++) {
			const struct sim_group_sums *one = &s->part[i].group[g];

			latency += one->latency;
			r->group[g].messages += one->n;
			if (one->most > r->group[g].latency_max)
				r->group[g].latency_max = one->most;
		}
		r->group[g].latency_mean = mean(latency, r->group[g].messages);
	}
	sim_take_trace(s, r);
	for (uint32_t i = 0; i < s->n_parts; i++) {
		const struct sim_part *p = &s->part[i];

		fab_histogram_merge(&r->latency, &p->latency);
		fab_histogram_merge(&r->message_latency, &p->message_latency);
		for (size_t k = 0; k < p->deliveries.n; k++)
			FAB_PUSH(&r->deliveries, p->deliveries.v[k]);
	}
	FAB_SORT(&r->deliveries, cmp_delivery);
}

void fab_sim_result_fini(struct fab_sim_result *r)
{
	FAB_FREE_ALL(r->group, r->cable, r->lane, r->cycle.v, r->trace.v, r->deliveries.v,
		     r->recovery.moments.v);
	*r = (struct fab_sim_result){0};
}

/*
 * Why does a network carry no more? A cable that is never idle is a bottleneck. Without
 * one, packets wait while the cables that they wait for are idle: for credit,
 * or for the input of a switch that is read by another packet. The waiting time of all
 * packets decides which of them it is. A source that has no credit waits for what the
 * packets in the buffer behind it wait for, which is counted there, unless that buffer is
 * too small for its cable.
 */
/* A cable is full, and time without credit counts, from these shares on. */
static const double FULL = 0.9, SHORT_OF_CREDIT = 0.1;

const char *const fab_sim_cause_names[] = {[FAB_SIM_LOAD] = "load",
					   [FAB_SIM_CONTENTION] = "contention",
					   [FAB_SIM_CREDITS] = "credits"};

static double queue_of(const struct fab_sim_result *r, uint32_t cable)
{
	double sum = 0;

	for (unsigned vl = 0; vl < r->n_vls; vl++)
		sum += r->lane[(size_t)cable * r->n_vls + vl].mean_queue;
	return sum;
}

/* Of the worst lane. */
static double no_credit_of(const struct fab_sim_result *r, uint32_t cable)
{
	double most = 0;

	for (unsigned vl = 0; vl < r->n_vls; vl++) {
		const struct fab_sim_lane *lane = &r->lane[(size_t)cable * r->n_vls + vl];

		if (lane->no_credit > most)
			most = lane->no_credit;
	}
	return most;
}

struct fab_sim_cause fab_sim_cause(const struct fab_sim_result *r)
{
	struct fab_sim_cause c = {.cable = r->fullest,
				  .waits_at = FAB_NONE,
				  .utilisation = NAN,
				  .no_credit = NAN,
				  .waiting = NAN,
				  .waiting_for_credit = NAN};
	double full = r->fullest == FAB_NONE ? 0 : r->cable[r->fullest].utilisation;
	double most = 0, most_blocked = 0;
	uint32_t longest = FAB_NONE, blocked = FAB_NONE;

	if (c.cable == FAB_NONE)
		return c;
	c.waiting = c.waiting_for_credit = 0;
	/* if the fullest cable is not full: of those as full the one that lacks credit
	 * most, which the cables behind it never do */
	for (uint32_t i = 0; full < FULL && i < r->n_cables; i++)
		if (r->cable[i].utilisation >= 0.99 * full &&
		    no_credit_of(r, i) > no_credit_of(r, c.cable))
			c.cable = i;
	for (uint32_t i = 0; i < r->n_cables; i++) {
		bool is_source = i >= r->n_cables - r->n_ends;
		double idle = 1 - r->cable[i].utilisation, queue = queue_of(r, i);
		/* packets that wait for credit: its share of the idle time */
		double part = queue * (idle > 0 ? fmin(no_credit_of(r, i) / idle, 1) : 0);

		if (is_source && !r->cable[i].is_credit_limited)
			continue;
		c.waiting += queue;
		c.waiting_for_credit += part;
		if (queue > most) {
			most = queue;
			longest = i;
		}
		if (part > most_blocked) {
			most_blocked = part;
			blocked = i;
		}
	}
	c.is_credit = c.waiting_for_credit >= c.waiting / 2 && blocked != FAB_NONE;
	c.waits_at = c.is_credit ? blocked : longest;
	c.no_credit = no_credit_of(r, c.cable);
	c.mean_queue = queue_of(r, c.cable);
	c.utilisation = r->cable[c.cable].utilisation;
	c.is_full = c.utilisation >= FULL;
	if (c.waits_at != FAB_NONE)
		c.waits_no_credit = no_credit_of(r, c.waits_at);
	if (c.is_full)
		c.kind = FAB_SIM_CONTENTION;
	else if (r->is_stalled || (c.is_credit && (r->is_saturated ||
						   c.waits_no_credit >= SHORT_OF_CREDIT)))
		c.kind = FAB_SIM_CREDITS;
	else if (r->is_saturated || c.mean_queue >= 1)
		c.kind = FAB_SIM_CONTENTION;
	return c;
}
