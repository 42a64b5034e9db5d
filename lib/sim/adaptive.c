/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Minimal adaptive routing. Hosts send on the adaptive lane, the last one. A packet that
 * comes to a switch on it goes on to one of the neighbours nearest to its target behind
 * which that lane has room, and takes the room at once; where none has, it leaves by the
 * table on the lane of the tables, and stays there to its end. On a fat tree all ports up
 * are near, and one leads down: packets go up adaptively and down by the table.
 *
 * No deadlock, if the tables have none from any switch: a packet that has taken its room
 * waits for its output alone, which is free after finitely many packets; a packet on the
 * lanes of the tables, which goes on as if it came from an adapter of the switch where it
 * escaped, waits for packets on these lanes, along paths of the tables, and these waits
 * have no cycle (Duato 1993: escape channels).
 *
 * Packets that come to a switch at one time choose in the order of its ports, after all
 * other events of that time: equal inputs give equal bytes, whatever the threads.
 */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sim/state.h"
#include "unicast/faults.h"

/* Outputs that a packet may take, and a number of its own. */
struct candidates {
	const struct sim *s;
	struct sim_switch *sw;
	uint32_t n, *port; /* of the simulation */
	uint64_t random;
};

/* Room in the buffer behind an output. */
static int32_t room(const struct candidates *c, uint32_t i)
{
	return sim_lane(c->s, c->port[i], c->s->adaptive_vl)->credits;
}

static uint32_t at_random(const struct candidates *c)
{
	return (uint32_t)(c->random % c->n);
}

static uint32_t by_most_room(const struct candidates *c)
{
	uint32_t best = at_random(c);

	for (uint32_t i = 0; i < c->n; i++)
		if (room(c, i) > room(c, best))
			best = i;
	return best;
}

static uint32_t by_two(const struct candidates *c)
{
	uint32_t a = at_random(c), b = (uint32_t)((c->random >> 32) % c->n);

	return room(c, b) > room(c, a) ? b : a;
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
	 "The output behind which the adaptive lane has most room, of equals a random one.",
	 by_most_room},
	{"random", "any", "Any of them, with the same probability.", at_random},
	{"two", "the better of two random ones",
	 "Of two random ones the one with more room (Mitzenmacher 2001).", by_two},
	{"robin", "one after another", "Round-robin at each switch.", by_turns},
};

static struct fab_choice choice_at(size_t i)
{
	return (struct fab_choice){.form = choosers[i].name,
				   .summary = choosers[i].summary,
				   .manual = choosers[i].manual};
}

const struct fab_choices fab_sim_chooser_choices = {
	.what = "chooser", .n = FAB_COUNT(choosers), .at = choice_at};

void sim_net_add_distances(struct sim_net *net)
{
	const struct fab_flow_ends *ends = net->problem->ends;
	const struct fab_fabric *f = net->problem->f;
	FAB_AUTOFREE uint32_t *row_of = FAB_NEW(f->n_switches + 1, uint32_t);
	uint32_t n = 0;
	FAB_AUTOFREE uint32_t *queue = FAB_NEW(f->n_switches + 1, uint32_t);

	memset(row_of, 0xff, f->n_switches * sizeof(*row_of));
	net->end_near = FAB_ARENA_NEW(&net->arena, net->n_ends + 1, uint32_t);
	for (uint32_t e = 0; e < net->n_ends; e++) {
		if (row_of[ends->sw[e]] == FAB_NONE)
			row_of[ends->sw[e]] = n++;
		net->end_near[e] = row_of[ends->sw[e]];
	}
	net->distance =
		FAB_ARENA_NEW(&net->arena, (size_t)n * f->n_switches + 1, uint8_t);
	memset(net->distance, 0xff, (size_t)n * f->n_switches);
	for (uint32_t target = 0; target < f->n_switches; target++) {
		uint8_t *d = net->distance + (size_t)row_of[target] * f->n_switches;
		uint32_t from = 0, to = 1;

		if (row_of[target] == FAB_NONE)
			continue;
		d[target] = 0;
		for (queue[0] = target; from < to; from++) {
			uint32_t sw = queue[from];

			for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
				if (d[f->arc_peer[a]] == UINT8_MAX &&
				    d[sw] + 1 < UINT8_MAX &&
				    fab_arc_is_live(net->problem->faults, a)) {
					d[f->arc_peer[a]] = (uint8_t)(d[sw] + 1);
					queue[to++] = f->arc_peer[a];
				}
		}
	}
}

bool sim_choose(struct sim_part *p, uint32_t in_id, uint32_t id, struct sim_copy *to)
{
	struct sim *s = p->sim;
	struct sim_packet *packet = sim_packet(p, id);
	const struct sim_port *in = &s->port[in_id];
	struct sim_switch *sw = &s->sw[in->sw];
	const uint8_t *distance =
		s->net.distance + (size_t)s->net.end_near[packet->target] * s->n_switches;
	int32_t units = sim_units(s, packet->size);
	struct candidates c = {
		.s = s,
		.sw = sw,
		.port = p->candidate,
		.random = fab_mix64(s->params->seed ^
				    fab_mix64(p->now ^ (uint64_t)in_id << 40))};

	for (uint32_t port = sw->port_first; port < sw->port_first + sw->n_arcs; port++) {
		uint32_t peer = s->port[port].peer;
		struct sim_lane *lane = sim_lane(s, port, s->adaptive_vl);

		if (peer == FAB_NONE ||
		    distance[s->port[peer].sw] + 1 != distance[in->sw])
			continue;
		if (lane->credits < units)
			sim_credit_collect(p, lane);
		if (lane->credits >= units)
			c.port[c.n++] = port;
	}
	if (!c.n) { /* as from an adapter of this switch */
		packet->sl = sim_net_escape_sl(&s->net, in->sw, packet->target) & 15;
		return sim_look_up(s, in->sw, sw->n_arcs, packet, to) &&
		       s->port[sw->port_first + to->out].peer != FAB_NONE;
	}
	c.port[0] = c.port[choosers[s->params->chooser - 1].choose(&c)];
	*to = (struct sim_copy){c.port[0] - sw->port_first, s->adaptive_vl};
	sim_lane(s, c.port[0], s->adaptive_vl)->credits -= units;
	return true;
}
