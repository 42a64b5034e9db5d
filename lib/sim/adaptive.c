/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adaptive routing. A packet that comes to a switch goes on to one of the neighbours
 * nearest to its target behind which the adaptive lane, the last one, has room; where
 * none has, by the table, on the lanes of the tables, if these have room; where these
 * have none either, it waits and chooses again when room comes. It takes the room when it
 * chooses. On a fat tree all ports up are near, and one leads down: packets go up
 * adaptively and down by the table.
 *
 * Detours (Valiant 1982; UGAL: Singh 2005) lead over a random switch with endpoints, the
 * middle: there first, then to the target, both ways adaptive as above, each on lanes of
 * its own, those of the tables too. UGAL makes a detour where room taken * hops of the
 * shortest way is more than that of the detour, seen from the first switch.
 *
 * No deadlock (Duato 1993: escape channels). Packets that have room wait for their output
 * alone, which is free after finitely many packets. All others wait for a lane of the
 * tables, among others, and get it when it has room: they are asked in order of arrival.
 * A packet that comes to the lanes of the tables at a switch goes on as from a host of
 * it, and stays on its path or leaves these lanes: channels of the tables wait for each
 * other along paths of the tables alone, without a cycle, on the way to the middle for
 * those to the target besides, never the other way. After SIM_RETURN_HOPS hops a packet
 * stays on the lanes of the tables to its end; after FAB_SIM_ADAPTIVE_HOPS_MAX it is
 * lost.
 *
 * Packets that come to a switch at one time choose in the order of its ports, after all
 * other events of that time: equal inputs give equal bytes, whatever the threads.
 */
#include <string.h>

#include "base/rng.h"
#include "sim/hot.h"

/* Outputs that a packet may take, and a number of its own. */
struct candidates {
	struct sim_switch *sw;
	uint64_t random;
	uint32_t n;
	uint16_t arc[SIM_NEAR_MAX];
	int32_t room[SIM_NEAR_MAX]; /* in the buffer behind it */
};

static uint32_t at_random(const struct candidates *c)
{
	return (uint32_t)(c->random % c->n);
}

static uint32_t by_most_room(const struct candidates *c)
{
	int32_t most = c->room[0];
	uint32_t n = 0, i, left;

	for (uint32_t k = 1; k < c->n; k++)
		most = c->room[k] > most ? c->room[k] : most;
	for (uint32_t k = 0; k < c->n; k++)
		n += c->room[k] == most;
	left = (uint32_t)(c->random % n);
	for (i = 0; c->room[i] < most || left; i++)
		left -= c->room[i] == most;
	return i;
}

static uint32_t by_two(const struct candidates *c)
{
	uint32_t a = at_random(c), b = (uint32_t)((c->random >> 32) % c->n);

	return c->room[b] > c->room[a] ? b : a;
}

static uint32_t by_turns(const struct candidates *c)
{
	return c->sw->next_choice++ % c->n;
}

static const struct {
	const char *name, *summary, *manual; /* as struct fab_choice has them */
	uint32_t (*choose)(const struct candidates *c);
} choosers[] = {
	{"least", "most room behind it",
	 "Most room in the adaptive lane, of equals a random one.", by_most_room},
	{"random", "any", "Any of them, with the same probability.", at_random},
	{"two", "the better of two random ones",
	 "Of two random ones the one with more room (Mitzenmacher 2001).", by_two},
	{"robin", "one after another", "Round-robin at each switch.", by_turns},
};

FAB_CHOICES_OF(fab_sim_chooser_choices, "chooser", FAB_COUNT(choosers), choosers[i],
	       name);

/* The switch over which the detour of a packet leads, as a row of distances: the same at
 * every switch of the way, whatever the threads. */
static uint32_t middle_of(const struct sim *s, const struct sim_packet *packet)
{
	uint64_t flow = (uint64_t)sim_endpoint_of(packet) << 32 | packet->target;
	uint64_t number = (uint64_t)packet->tag << 48 | packet->birth;

	return (uint32_t)(fab_mix64(s->params->seed ^
				    fab_mix64(flow ^ fab_mix64(number))) %
			  s->net.n_near);
}

static const uint8_t *distances(const struct sim *s, uint32_t near)
{
	return s->net.distance + (size_t)near * s->n_switches;
}

/* The outputs towards a switch behind which a lane has room for `units` now. */
SIM_HOT void find_outputs(struct sim_part *p, struct candidates *c, uint32_t sw_id,
			  uint32_t near, unsigned vl, int32_t units)
{
	const struct sim *s = p->sim;
	uint32_t n = sim_net_near(&s->net, near, sw_id, c->arc);
	uint32_t first = c->sw->port_first, to = 0;
	const int32_t *credits = sim_credits(s, first, vl);
	bool is_simple = !s->pool && !s->host.is_down;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t port = first + c->arc[i];

		c->arc[to] = c->arc[i];
		c->room[to] = is_simple ? credits[c->arc[i]] : sim_room(s, port, vl);
		/* a switch knows which of its cables are down */
		to += c->room[to] >= units &&
		      (is_simple || !s->host.is_down || !s->host.is_down(p, port));
	}
	c->n = to;
}

/* Room that packets have taken behind the emptiest of the outputs towards a switch. */
static int64_t queue_towards(struct sim_part *p, const struct sim_switch *sw,
			     uint32_t sw_id, uint32_t near)
{
	struct sim *s = p->sim;
	uint16_t arc[SIM_NEAR_MAX];
	uint32_t n = sim_net_near(&s->net, near, sw_id, arc);
	int64_t least = INT32_MAX;

	for (uint32_t i = 0; i < n; i++) {
		int64_t taken = 0;

		for (unsigned vl = s->adaptive_vl; vl < s->n_vls; vl++)
			taken +=
				s->credits - *sim_credits(s, sw->port_first + arc[i], vl);
		least = taken < least ? taken : least;
	}
	return least;
}

/* Does a packet that has come from its host make a detour? */
static bool takes_detour(struct sim_part *p, const struct sim_switch *sw, uint32_t sw_id,
			 const struct sim_packet *packet)
{
	const struct sim *s = p->sim;
	uint32_t middle = middle_of(s, packet), near = s->net.end_near[packet->target];
	const uint8_t *there = distances(s, near), *aside = distances(s, middle);
	uint32_t second = there[s->net.near_sw[middle]];

	if (!there[sw_id] || !aside[sw_id] || !second || aside[sw_id] == UINT8_MAX ||
	    second == UINT8_MAX)
		return false;
	if (s->params->detour == FAB_SIM_VALIANT)
		return true;
	return queue_towards(p, sw, sw_id, near) * there[sw_id] >
	       queue_towards(p, sw, sw_id, middle) * (int64_t)(aside[sw_id] + second);
}

/* Is a packet on a lane of those that are on the way to the middle of their detour? */
static bool is_aside(const struct sim *s, unsigned vl)
{
	unsigned n = s->net.n_table_vls;

	return s->params->detour && ((vl >= n && vl < 2 * n) || vl + 2 == s->n_vls);
}

/* The hop of the tables towards an endpoint; false: none. A packet that has been
 * on another lane goes on as from a host of this switch. */
static bool escape(const struct sim *s, const struct sim_port *in,
		   struct sim_packet *packet, uint32_t end, bool is_first,
		   struct sim_copy *to)
{
	const struct sim_net *net = &s->net;
	const struct sim_switch *sw = &s->sw[in->sw];
	uint32_t from = is_first ? sw->n_arcs : in->local;
	uint32_t row = net->end_row[end];
	unsigned sl = packet->sl;

	if (row == FAB_NONE)
		return false;
	to->vl = 0;
	to->out = sim_net_next(net, row, in->sw);
	if (to->out == FAB_ARC_HERE) {
		to->out = net->end_port[end] - sw->port_first;
		return to->out < sw->n_ports; /* of its switch */
	}
	if (to->out >= sw->n_arcs || s->port[sw->port_first + to->out].peer == FAB_NONE)
		return false;
	if (is_first)
		sl = net->sw_end[in->sw] == FAB_NONE
			     ? 0
			     : sim_net_sl(net, net->sw_end[in->sw], end);
	if (sl > 15)
		return false;
	packet->sl = sl & 15;
	to->vl = fab_routes_vl(net->problem->routes, in->sw, from, to->out, sl);
	return to->vl < net->n_table_vls;
}

enum sim_choice sim_choose(struct sim_part *p, uint32_t in_id, uint32_t id,
			   struct sim_copy *to)
{
	struct sim *s = p->sim;
	struct sim_packet *packet = sim_packet(p, id);
	const struct sim_port *in = &s->port[in_id];
	struct sim_switch *sw = &s->sw[in->sw];
	bool is_first = in->local >= sw->n_arcs || packet->vl >= s->adaptive_vl;
	bool aside = in->local >= sw->n_arcs
			     ? s->params->detour && takes_detour(p, sw, in->sw, packet)
			     : is_aside(s, packet->vl);
	uint32_t middle = aside ? middle_of(s, packet) : 0, end = packet->target;
	int32_t units = s->drops ? 0 : sim_units(s, packet->size);
	struct candidates c; /* large */
	unsigned vl;

	if (aside && s->net.near_sw[middle] == in->sw) {
		aside = false;
		is_first = true;
	}
	if (aside)
		end = s->net.sw_end[s->net.near_sw[middle]];
	vl = s->drops ? 0 : s->n_vls - 1 - aside;
	c.sw = sw;
	c.n = 0;
	if (packet->hops < SIM_RETURN_HOPS || packet->vl >= s->adaptive_vl)
		find_outputs(p, &c, in->sw, s->net.end_near[end], vl, units);
	if (c.n) {
		c.random = fab_mix64(s->params->seed ^
				     fab_mix64(p->now ^ (uint64_t)in_id << 40));
		to->out = c.arc[choosers[s->params->chooser - 1].choose(&c)];
		to->vl = vl;
		sim_take(s, sw->port_first + to->out, vl, units);
		return SIM_CHOSEN;
	}
	if (!escape(s, in, packet, end, is_first, to))
		return SIM_NO_PATH;
	if (to->out >= sw->n_arcs || s->drops) {
		to->vl = 0;
		return SIM_CHOSEN;
	}
	to->vl += aside ? s->net.n_table_vls : 0;
	if (sim_room(s, sw->port_first + to->out, to->vl) < units)
		return SIM_LATER;
	sim_take(s, sw->port_first + to->out, to->vl, units);
	return SIM_CHOSEN;
}

void sim_wait(struct sim_part *p, uint64_t which)
{
	const struct sim *s = p->sim;
	struct sim_packet *packet = sim_packet(p, (uint32_t)which);
	const struct sim_port *in = &s->port[which >> 32];
	const struct sim_switch *sw = &s->sw[in->sw];
	uint32_t end[2] = {packet->target, FAB_NONE};
	bool is_new = in->local >= sw->n_arcs, aside = !is_new && is_aside(s, packet->vl);
	bool is_first = is_new || packet->vl >= s->adaptive_vl;
	struct sim_waiter w = {.which = which,
			       .out = {UINT16_MAX, UINT16_MAX},
			       .units = sim_units(s, packet->size)};

	if (s->params->detour && (is_new || aside)) {
		uint32_t middle = s->net.near_sw[middle_of(s, packet)];

		if (middle != in->sw)
			end[1] = s->net.sw_end[middle];
		if (aside)
			end[middle == in->sw ? 1 : 0] = FAB_NONE;
		is_first |= middle == in->sw;
	}
	for (unsigned i = 0; i < 2; i++) {
		struct sim_copy to;

		if (end[i] == FAB_NONE)
			continue;
		w.bits[i] = s->net.towards
				    ? sim_net_towards(&s->net, s->net.end_near[end[i]],
						      in->sw)
				    : UINT64_MAX;
		if (packet->hops >= SIM_RETURN_HOPS && packet->vl < s->adaptive_vl)
			w.bits[i] = 0;
		if (!escape(s, in, packet, end[i], is_first, &to))
			continue;
		w.out[i] = (uint16_t)to.out;
		w.vl[i] = (uint16_t)(to.vl + (i ? s->net.n_table_vls : 0));
	}
	FAB_PUSH(&p->waiting[in->sw].of, w);
	p->n_waiting++;
}
