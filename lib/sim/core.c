/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network of a run made ready: switches, ports, lanes, and the parts of the fabric
 * that threads work on.
 */
#include "sim/hot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"

enum { SLOTS_LEAST = 1 << 9, SLOTS_MOST = 1 << 15, FEW_ENDS = 256 };

/*
 * Parts of about the same number of ports with few cables between them: first the
 * switches with endpoints in the order of their numbers, with the same number of
 * endpoints for each part (neighbours usually have near numbers), then level by level the
 * switches next to them, each to the part of most of its neighbours of lower levels: of
 * several the lightest, and none that has its share.
 */
static void cut(struct sim *s)
{
	const struct fab_fabric *f = s->net.problem->f;
	FAB_AUTOFREE uint32_t *levels = FAB_NEW(s->n_switches + 1, uint32_t);
	FAB_AUTOFREE uint32_t *count = FAB_NEW(s->n_parts + 1, uint32_t);
	uint64_t n_ends = 0;
	FAB_AUTOFREE uint64_t *load = FAB_NEW0(s->n_parts + 1, uint64_t);
	uint64_t share = s->net.n_ports / s->n_parts + 1;
	uint32_t done = 0, before = 0;

	for (uint32_t id = 0; id < s->n_switches; id++) {
		struct sim_switch *sw = &s->sw[id];

		levels[id] = sw->n_ports > sw->n_arcs ? 0 : FAB_NONE;
		if (levels[id])
			continue;
		sw->part = (uint16_t)(n_ends * s->n_parts / s->net.n_ends);
		load[sw->part] += sw->n_ports;
		n_ends += (uint32_t)(sw->n_ports - sw->n_arcs);
		done++;
	}
	for (uint32_t level = 1; done < s->n_switches; level++) {
		bool is_apart = done == before; /* no switch is next to them */

		before = done;
		for (uint32_t id = 0; id < s->n_switches; id++) {
			uint32_t best = FAB_NONE, n_next = 0;

			memset(count, 0, s->n_parts * sizeof(*count));
			for (uint32_t a = f->arc_first[id];
			     a < f->arc_first[id + 1] && levels[id] == FAB_NONE; a++) {
				bool is_next = levels[f->arc_peer[a]] < level;

				n_next += is_next;
				count[is_next ? s->sw[f->arc_peer[a]].part : 0] +=
					is_next;
			}
			if (levels[id] != FAB_NONE || (!is_apart && !n_next))
				continue;
			for (uint32_t i = 0; i < s->n_parts; i++)
				if (load[i] < share &&
				    (best == FAB_NONE || count[i] > count[best] ||
				     (count[i] == count[best] && load[i] < load[best])))
					best = i;
			s->sw[id].part =
				(uint16_t)(best == FAB_NONE ? s->n_parts - 1 : best);
			load[s->sw[id].part] += s->sw[id].n_ports;
			levels[id] = level;
			done++;
		}
	}
	for (uint32_t e = 0; e < s->net.n_ends; e++)
		s->end_part[e] = s->sw[s->net.port_sw[s->net.end_port[e]]].part;
	for (uint32_t p = 0; p < s->net.n_all; p++) {
		struct sim_port *port = &s->port[p];
		uint32_t sw = port->sw;

		if (sw == FAB_NONE ||
		    (port->peer != FAB_NONE && s->port[port->peer].sw != FAB_NONE))
			sw = s->port[port->peer].sw;
		port->part = s->sw[sw].part;
	}
}

/* A large array that lives as long as the run. */
static void *huge(struct sim *s, size_t n, size_t size)
{
	void *v = fab_alloc_huge((n + 1) * size);

	fab_arena_own(&s->net.arena, free, v);
	return v;
}

static int init_switches(struct sim *s, struct fab_err *err)
{
	const struct sim_net *net = &s->net;
	const struct fab_fabric *f = net->problem->f;
	uint64_t queues = 0, words = 0;

	s->sw = huge(s, net->n_switches, sizeof(*s->sw));
	s->all_small = true;
	for (uint32_t id = 0; id < net->n_switches; id++) {
		struct sim_switch *sw = &s->sw[id];
		uint64_t n = net->port_first[id + 1] - net->port_first[id];
		uint64_t units = s->drops ? 1 : n * (s->is_fifo ? s->n_vls : 1);

		*sw = (struct sim_switch){
			.turned = UINT64_MAX,
			.word_first = (uint32_t)words,
			.port_first = net->port_first[id],
			.n_ports = (uint16_t)n,
			.n_arcs = (uint16_t)(f->arc_first[id + 1] - f->arc_first[id]),
			.n_units = (uint16_t)units,
			.unit_words = (uint16_t)((units + SIM_WORD - 1) / SIM_WORD),
			.out_words = (uint16_t)((n + SIM_WORD - 1) / SIM_WORD),
			.is_small = units <= SIM_WORD && n <= SIM_WORD};
		if (units > UINT16_MAX)
			return fab_fail(err, ERANGE,
					"a switch with %" PRIu64
					" ports and %u lanes: too many",
					n, s->n_vls);
		s->all_small &= sw->is_small;
		queues += n * (s->is_fifo || s->drops ? 1 : n);
		if (!sw->is_small)
			words += sw->unit_words * (1 + n * s->n_vls) +
				 sw->out_words * (2 + n);
	}
	if (queues > UINT32_MAX || words > UINT32_MAX)
		return fab_fail(err, ERANGE, "too many ports of switches: %" PRIu32,
				net->n_ports);
	s->n_queues = queues;
	s->queue = huge(s, queues * s->n_vls, sizeof(*s->queue));
	for (uint64_t i = 0; i < queues * s->n_vls; i++)
		s->queue[i].first = FAB_NONE;
	s->word = FAB_ARENA_NEW0(&s->net.arena, words + 1, uint64_t);
	for (struct sim_switch *sw = s->sw; sw < s->sw + net->n_switches; sw++) {
		for (uint32_t unit = 0; unit < sw->n_units; unit++)
			sim_set(sim_free_units(s, sw), unit);
		for (uint32_t out = 0; out < sw->n_ports; out++)
			sim_set(sim_free_outs(s, sw), out);
	}
	return 0;
}

static void init_ports(struct sim *s)
{
	const struct sim_net *net = &s->net;
	size_t lanes = (size_t)net->n_all * s->n_vls;
	uint64_t queues = 0;

	s->port = huge(s, net->n_all, sizeof(*s->port));
	s->lane = huge(s, lanes - net->n_all, sizeof(*s->lane));
	s->sums = huge(s, lanes, sizeof(*s->sums));
	memset(s->sums, 0, lanes * sizeof(*s->sums));
	if (s->params->chooser)
		s->adaptive_credits = huge(s, lanes, sizeof(*s->adaptive_credits));
	for (uint32_t p = 0; p < net->n_all; p++) {
		bool is_end = p >= net->n_ports;
		uint32_t sw = is_end ? FAB_NONE : net->port_sw[p];
		bool to_end = net->peer[p] != FAB_NONE && net->peer[p] >= net->n_ports;

		s->port[p] = (struct sim_port){
			.peer = net->peer[p],
			.sw = sw,
			.per_byte = net->per_byte[p],
			.reading = FAB_NONE,
			.queue = (uint32_t)queues,
			.local = (uint16_t)(is_end ? 0 : p - net->port_first[sw])};
		if (!is_end)
			queues += s->is_fifo || s->drops ? 1 : s->sw[sw].n_ports;
		for (unsigned vl = 0; vl < s->n_vls; vl++) {
			*sim_lane(s, p, vl) = (struct sim_lane){0};
			*sim_credits(s, p, vl) = s->drops && !is_end ? s->lane_room
						 : to_end	     ? INT32_MAX
								     : s->credits;
		}
		if (s->pool)
			s->pool[p] = to_end ? 0 : s->shared;
	}
	if (s->drops && s->params->buffer_shared)
		s->room = FAB_ARENA_NEW(&s->net.arena, s->n_switches + 1, int64_t);
	for (uint32_t sw = 0; s->room && sw < s->n_switches; sw++)
		s->room[sw] = s->params->buffer -
			      (int64_t)s->sw[sw].n_ports * s->params->buffer_private;
	if (s->host.counts_queues)
		s->queued = FAB_ARENA_NEW0(&s->net.arena, lanes + 1, uint64_t);
	if (!s->messages)
		return;
	s->source = FAB_ARENA_NEW0(&s->net.arena, net->n_ends + 1, struct sim_source);
	for (uint32_t e = 0; e < net->n_ends; e++)
		s->source[e].due = UINT64_MAX;
	if (!s->params->time)
		return;
	s->flow = huge(s, 2 * (size_t)net->n_ends, sizeof(*s->flow));
	s->bins_a_tick = SIM_BINS / (double)s->params->time;
}

/* Slots of the wheel are narrow enough for a few events each, and the wheel is wide
 * enough for most events. */
static void init_parts(struct sim *s, uint32_t slowest)
{
	struct fab_arena *a = &s->net.arena;
	uint64_t span = s->hop_delay +
			2 * sim_wire(slowest, s->params->mtu + s->params->group_header) +
			s->cable_delay;
	uint32_t n_slots = SLOTS_LEAST;
	unsigned slot_bits = 0;

	while (n_slots < s->net.n_ends / s->n_parts && n_slots < SLOTS_MOST)
		n_slots *= 2;
	while (span >> slot_bits > n_slots / 2)
		slot_bits++;
	s->end_part = FAB_ARENA_NEW(a, s->net.n_ends + 1, uint32_t);
	cut(s);
	s->part = FAB_ARENA_NEW0(a, s->n_parts + 1, struct sim_part);
	for (uint32_t i = 0; i < s->n_parts; i++) {
		struct sim_part *p = &s->part[i];

		p->sim = s;
		p->index = i;
		p->dirty = FAB_ARENA_NEW(a, s->n_switches + 1, uint32_t);
		p->choice =
			FAB_ARENA_NEW0(a, s->net.n_ports + SIM_CHOICES_ROOM, uint32_t);
		if (s->params->chooser)
			p->waiting =
				FAB_ARENA_NEW0(a, s->n_switches + 1, struct sim_waiting);
		p->free_cell = p->free_message = FAB_NONE;
		fab_wheel_init(&p->wheel, slot_bits, s->params->by_heap ? 0 : n_slots);
		for (unsigned t = 0; t < 2; t++) {
			p->post[t] = FAB_ARENA_NEW0(a, s->n_parts, struct sim_post);
			for (uint32_t to = 0; to < s->n_parts; to++)
				p->post[t][to].first = UINT64_MAX;
		}
		p->group = FAB_ARENA_NEW0(a, s->net.n_groups + 1, struct sim_group_sums);
	}
}

int sim_init(struct sim *s, const struct fab_sim_params *params,
	     const struct sim_host *host, void *context, struct fab_err *err)
{
	uint32_t fastest = UINT32_MAX, slowest = 0, header = params->header;
	uint64_t notice;
	int rc;

	s->params = params;
	s->host = *host;
	s->context = context;
	s->drops = params->drop != FAB_SIM_LOSSLESS;
	s->is_counted = s->drops || params->chooser;
	s->one_read = params->kind->one_read && !s->drops;
	s->is_fifo = params->kind->is_fifo && !s->drops;
	s->with_groups = s->net.n_groups;
	s->n_vls = s->net.n_vls;
	s->adaptive_vl =
		params->chooser ? s->n_vls - (params->detour ? 2 : 1) : FAB_VL_UNKNOWN;
	s->n_switches = s->net.n_switches;
	s->speedup = params->speedup ? params->speedup : 1;
	s->reads_apart = s->with_groups || s->speedup != 1;
	s->cable_delay = params->cable_delay;
	s->hop_delay = params->cable_delay + params->switch_delay;
	s->host_delay = params->host_delay;
	s->by_units = !params->by_flit;
	s->credits = s->drops ? INT32_MAX : (int32_t)sim_lane_units(params, s->n_vls);
	s->shared = s->drops ? 0 : (int32_t)sim_shared_units(params, s->n_vls);
	s->lane_room = params->buffer_shared ? INT32_MAX : (int32_t)params->buffer;
	if (params->buffer_shared && !s->drops)
		s->pool = FAB_ARENA_NEW(&s->net.arena, s->net.n_all + 1, int32_t);
	s->begin = s->end = UINT64_MAX;
	s->least_payload = s->least_payload ? s->least_payload : 1;
	if (s->least_payload > params->mtu)
		s->least_payload = params->mtu;
	for (uint32_t p = 0; p < s->net.n_all; p++) {
		fastest = s->net.per_byte[p] < fastest ? s->net.per_byte[p] : fastest;
		slowest = s->net.per_byte[p] > slowest ? s->net.per_byte[p] : slowest;
	}
	/* lookahead: heads take a hop, credits and notices of deliveries leave when a
	 * tail has left */
	if (s->net.n_groups && params->group_header < header)
		header = params->group_header;
	s->least_units = s->messages ? sim_units(s, s->least_payload + header) : 1;
	notice = s->cable_delay + sim_wire(fastest, s->least_payload + header);
	s->window = s->hop_delay < notice ? s->hop_delay : notice;
	rc = init_switches(s, err);
	if (rc)
		return rc;
	s->run = s->drops ? sim_part_run_drops : sim_part_run;
	s->arrive = sim_part_arrive;
	if (!s->reads_apart && host->deliver && !s->drops && !s->pool &&
	    !s->net.problem->failure) {
		if (s->n_vls == 1)
			s->run = s->all_small ? sim_part_run_plain : sim_part_run_large;
		else if (s->n_vls == 2 && s->all_small && params->chooser &&
			 s->one_read && !s->is_fifo)
			s->run = sim_part_run_adaptive;
	}
	init_ports(s);
	s->n_parts = (uint32_t)fab_threads(params->n_threads);
	if (!params->n_threads && s->net.n_ends < FEW_ENDS)
		s->n_parts = 1;
	if (s->n_parts > s->net.n_switches)
		s->n_parts = s->net.n_switches;
	if (s->n_parts > UINT16_MAX)
		s->n_parts = UINT16_MAX;
	init_parts(s, slowest);
	return 0;
}

void sim_fini(struct sim *s)
{
	for (uint32_t i = 0; s->part && i < s->n_parts; i++) {
		struct sim_part *p = &s->part[i];

		fab_wheel_fini(&p->wheel);
		FAB_FREE_ALL(p->ring.v, p->ends.v, p->short_ends.v, p->credits.v,
			     p->cell.v, p->dirty_ends.v, p->undecided.v, p->credited.v,
			     p->message.v);
		for (uint32_t sw = 0; p->waiting && sw < s->n_switches; sw++)
			free(p->waiting[sw].of.v);
		for (uint32_t to = 0; p->post[0] && to < s->n_parts; to++) {
			free(p->post[0][to].of.v);
			free(p->post[1][to].of.v);
		}
		FAB_FREE_ALL(p->trace.v, p->earliest.v, p->deliveries.v, p->batch.v,
			     p->sorted.v);
	}
	sim_failure_fini(s);
	fab_arena_free(&s->net.arena);
}
