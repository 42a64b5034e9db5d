/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts counted, added up. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "sim/state.h"

/* All members of struct sim_sums are 64-bit counters but the last, a maximum. */
static struct sim_sums add_up(const struct sim *s)
{
	struct sim_sums all = {0};
	uint64_t *to = (uint64_t *)&all;
	const size_t n = offsetof(struct sim_sums, hops_max) / sizeof(uint64_t);

	for (uint32_t i = 0; i < s->n_parts; i++) {
		const struct sim_sums *one = &s->part[i].sums;
		const uint64_t *from = (const uint64_t *)one;

		for (size_t k = 0; k < n; k++)
			to[k] += from[k];
		if (one->hops_max > all.hops_max)
			all.hops_max = one->hops_max;
	}
	return all;
}

static double mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : 0;
}

/* Bytes that all endpoints' cables carry in a time. */
static double capacity(const struct sim *s, uint64_t time)
{
	double bytes = 0;

	for (uint32_t e = 0; e < s->net.n_ends; e++)
		bytes += (double)time * (1u << SIM_RATE_SHIFT) /
			 s->net.per_byte[s->net.n_ports + e];
	return bytes;
}

static void take_sums(const struct sim *s, const struct sim_sums *sums,
		      struct fab_sim_result *r)
{
	double room = capacity(s, r->time);

	r->born = sums->born;
	r->injected = sums->injected;
	r->copied = sums->copied;
	r->delivered = sums->delivered;
	r->lost = sums->lost;
	r->unroutable = sums->unroutable;
	r->looped = sums->looped;
	r->unknown_sl = sums->unknown_sl;
	r->in_flight = r->injected + r->copied - r->delivered - r->unroutable - r->looped;
	r->packet_hops = sums->packet_hops;
	r->events = sums->events;
	r->backlog = sums->window_born > sums->window_sent
			     ? sums->window_born - sums->window_sent
			     : 0;
	r->offered_bytes = sums->offered;
	r->accepted_bytes = sums->accepted;
	r->goodput_bytes = sums->goodput;
	if (room > 0) {
		r->offered = (double)sums->offered / room;
		r->sent = (double)sums->sent / room;
		r->accepted = (double)sums->accepted / room;
		r->goodput = (double)sums->goodput / room;
	}
	r->latency_mean = mean(sums->latency, sums->n_latency);
	r->source_wait_mean = mean(sums->wait, sums->n_wait);
	r->network_mean = r->latency_mean - r->source_wait_mean;
	r->message_latency_mean = mean(sums->message, sums->n_message);
	r->hops_mean = mean(sums->hops, sums->n_latency);
	r->hops_max = sums->hops_max;
}

static void take_cables(struct sim *s, struct fab_sim_result *r)
{
	uint32_t busy = 0;
	double sum = 0, most = 0;

	r->n_cables = s->net.n_all;
	r->n_vls = s->n_vls;
	r->fullest = FAB_NONE;
	r->cable = FAB_NEW0(r->n_cables + 1, struct fab_sim_cable);
	r->lane = FAB_NEW0((size_t)r->n_cables * r->n_vls + 1, struct fab_sim_lane);
	for (uint32_t p = 0; p < r->n_cables; p++) {
		struct fab_sim_cable *c = &r->cable[p];
		uint64_t ticks = 0;

		c->port = s->net.fabric_port[p];
		for (unsigned vl = 0; vl < s->n_vls; vl++) {
			size_t id = (size_t)p * s->n_vls + vl;
			const struct sim_lane_sums *from = &s->sums[id];
			struct fab_sim_lane *lane = &r->lane[id];

			lane->packets = from->packets;
			lane->mean_queue = mean(from->waited, r->time);
			lane->no_credit = mean(from->no_credit, r->time);
			c->packets += from->packets;
			c->bytes += from->bytes;
			ticks += from->busy;
		}
		c->utilisation = mean(ticks, r->time);
		if (c->utilisation > 1)
			c->utilisation = 1;
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

static void take_groups(const struct sim *s, struct fab_sim_result *r)
{
	r->n_groups = s->net.n_groups;
	if (!r->n_groups)
		return;
	r->group = FAB_NEW0(r->n_groups, struct fab_sim_group);
	for (uint32_t g = 0; g < r->n_groups; g++) {
		struct sim_group_sums sums = {0};

		for (uint32_t i = 0; i < s->n_parts; i++) {
			const struct sim_group_sums *one = &s->part[i].group[g];

			sums.n += one->n;
			sums.latency += one->latency;
			if (one->most > sums.most)
				sums.most = one->most;
		}
		r->group[g] =
			(struct fab_sim_group){.messages = sums.n,
					       .latency_mean = mean(sums.latency, sums.n),
					       .latency_max = sums.most};
	}
}

static int cmp_delivery(const void *pa, const void *pb)
{
	const struct fab_sim_delivery *a = pa, *b = pb;

	FAB_ORDER_BY(a, b, delivered);
	FAB_ORDER_BY(a, b, target);
	FAB_ORDER_BY(a, b, source);
	return 0;
}

static void take_deliveries(const struct sim *s, struct fab_sim_result *r)
{
	for (uint32_t i = 0; i < s->n_parts; i++)
		for (size_t k = 0; k < s->part[i].deliveries.n; k++)
			FAB_PUSH(&r->deliveries, s->part[i].deliveries.v[k]);
	if (r->deliveries.n)
		qsort(r->deliveries.v, r->deliveries.n, sizeof(*r->deliveries.v),
		      cmp_delivery);
}

/* Lanes that can never be busy all the time: their buffer is too small. */
static uint64_t count_limited(const struct sim *s, struct fab_sim_result *r)
{
	uint64_t n = 0;

	for (uint32_t p = 0; p < s->net.n_all; p++) {
		uint32_t size = s->params->mtu + s->params->header;
		uint64_t wire = sim_wire(s->net.per_byte[p], size);
		uint64_t trip = s->hop_delay + wire + s->cable_delay;
		uint64_t packets = (uint64_t)s->credits / (uint64_t)sim_units(s, size);

		r->cable[p].is_credit_limited =
			s->net.peer[p] < s->net.n_ports && packets * wire < trip;
		n += r->cable[p].is_credit_limited ? s->n_vls : 0;
	}
	return n;
}

static size_t bytes_of(const struct sim *s)
{
	size_t n = s->net.n_all * sizeof(*s->port) +
		   (size_t)s->net.n_all * ((s->n_vls - 1) * sizeof(*s->lane) +
					   s->n_vls * sizeof(*s->sums)) +
		   s->n_queues * sizeof(*s->queue) + s->n_words * sizeof(*s->word) +
		   s->net.n_ends *
			   (sizeof(*s->source) + (s->flow ? 2 * sizeof(*s->flow) : 0));

	for (uint32_t i = 0; i < s->n_parts; i++) {
		const struct sim_part *p = &s->part[i];

		n += sizeof(*p) + p->cell.cap * sizeof(*p->cell.v) +
		     p->ring.cap * sizeof(*p->ring.v) + p->ends.cap * sizeof(*p->ends.v) +
		     fab_wheel_bytes(&p->wheel);
		for (uint32_t to = 0; to < s->n_parts; to++)
			n += (p->post[0][to].of.cap + p->post[1][to].of.cap) *
			     sizeof(struct sim_letter);
	}
	return n;
}

void sim_results(struct sim *s, struct fab_sim_result *r)
{
	uint64_t waiting = 0;
	struct sim_sums sums;

	for (uint32_t i = 0; i < s->n_parts; i++)
		waiting += sim_part_waiting(&s->part[i]);
	for (uint32_t p = 0; p < s->net.n_all; p++)
		sim_count_blocked(s, s->part[0].now, p);
	sums = add_up(s);
	r->waiting = waiting;
	r->warmup = s->begin;
	r->time = (r->end < s->end ? r->end : s->end) - s->begin;
	take_sums(s, &sums, r);
	for (uint32_t i = 0; i < s->n_parts; i++) {
		fab_histogram_merge(&r->latency, &s->part[i].latency);
		fab_histogram_merge(&r->message_latency, &s->part[i].message_latency);
	}
	take_cables(s, r);
	take_groups(s, r);
	take_deliveries(s, r);
	sim_take_trace(s, r);
	r->credit_limited = count_limited(s, r);
	r->bytes = bytes_of(s);
}

void fab_sim_result_fini(struct fab_sim_result *r)
{
	free(r->group);
	free(r->cable);
	free(r->lane);
	free(r->cycle.v);
	free(r->trace.v);
	free(r->deliveries.v);
	*r = (struct fab_sim_result){0};
}

/*
 * Why does a network carry no more? A cable that is never idle is a bottleneck. Where
 * there is none, packets wait while the cables that they wait for are idle: for credit,
 * or for the input of a switch that is read by another packet. The waiting time of all
 * packets tells which of them it is. A source that has no credit waits for what the
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

/* Share of the idle time of a cable in which packets waited for credit. */
static double blocked_share(const struct fab_sim_result *r, uint32_t cable)
{
	double idle = 1 - r->cable[cable].utilisation;
	double share = idle > 0 ? no_credit_of(r, cable) / idle : 0;

	return share < 1 ? share : 1;
}

/* The fullest cable; where it is not full, of those as full the one most in want of
 * credit, which the cables behind it never are. */
static uint32_t telling_cable(const struct fab_sim_result *r)
{
	uint32_t best = r->fullest;
	double most = best == FAB_NONE ? 0 : r->cable[best].utilisation;

	for (uint32_t i = 0; most < FULL && best != FAB_NONE && i < r->n_cables; i++)
		if (r->cable[i].utilisation >= 0.99 * most &&
		    no_credit_of(r, i) > no_credit_of(r, best))
			best = i;
	return best;
}

/* All waiting time, that for credit, and where each is the longest. */
static void add_waiting(const struct fab_sim_result *r, struct fab_sim_cause *c)
{
	uint32_t longest = FAB_NONE, blocked = FAB_NONE;
	double most = 0, most_blocked = 0;

	for (uint32_t i = 0; i < r->n_cables; i++) {
		bool is_source = i >= r->n_cables - r->n_ends;
		double queue = queue_of(r, i), part = queue * blocked_share(r, i);

		if (is_source && !r->cable[i].is_credit_limited)
			continue;
		c->waiting += queue;
		c->waiting_for_credit += part;
		if (queue > most) {
			most = queue;
			longest = i;
		}
		if (part > most_blocked) {
			most_blocked = part;
			blocked = i;
		}
	}
	c->is_credit = c->waiting_for_credit >= c->waiting / 2 && blocked != FAB_NONE;
	c->waits_at = c->is_credit ? blocked : longest;
}

struct fab_sim_cause fab_sim_cause(const struct fab_sim_result *r)
{
	struct fab_sim_cause c = {.cable = telling_cable(r), .waits_at = FAB_NONE};

	if (c.cable == FAB_NONE)
		return c;
	add_waiting(r, &c);
	c.no_credit = no_credit_of(r, c.cable);
	c.mean_queue = queue_of(r, c.cable);
	c.is_full = r->cable[c.cable].utilisation >= FULL;
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
