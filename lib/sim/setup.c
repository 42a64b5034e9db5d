/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a run at its beginning, and its parts. */
#include "sim/setup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "sim/queues.h"

enum { WORD = 64, SLOTS = 1 << 9, FEW_ENDS = 256 };

/* The part in which most neighbours of a switch are that belong to one before `level`;
 * of several the lightest, and none that has its share. */
static uint32_t part_of_most(const struct sim *s, uint32_t sw, const uint32_t *levels,
			     uint32_t level, const uint64_t *load, uint32_t *count)
{
	const struct fab_fabric *f = s->net.problem->f;
	uint64_t share = s->net.n_ports / s->n_parts + 1;
	uint32_t best = FAB_NONE;

	for (uint32_t i = 0; i < s->n_parts; i++)
		count[i] = 0;
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
		if (levels[f->arc_peer[a]] < level)
			count[s->sw[f->arc_peer[a]].part]++;
	for (uint32_t i = 0; i < s->n_parts; i++) {
		if (load[i] >= share)
			continue;
		if (best == FAB_NONE || count[i] > count[best] ||
		    (count[i] == count[best] && load[i] < load[best]))
			best = i;
	}
	return best == FAB_NONE ? s->n_parts - 1 : best;
}

/* Is a switch beside one of the level before? */
static bool is_next(const struct sim *s, uint32_t sw, const uint32_t *levels,
		    uint32_t level)
{
	const struct fab_fabric *f = s->net.problem->f;

	if (levels[sw] != FAB_NONE)
		return false;
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
		if (levels[f->arc_peer[a]] < level)
			return true;
	return false;
}

/* Switches with endpoints, in the order of their numbers, as many endpoints to each part:
 * neighbours have numbers near each other, as a rule. Returns how many there are. */
static uint32_t cut_leaves(struct sim *s, uint32_t *levels, uint64_t *load)
{
	uint32_t n = 0;
	uint64_t done = 0;

	for (uint32_t id = 0; id < s->n_switches; id++) {
		struct sim_switch *sw = &s->sw[id];
		uint32_t n_ends = (uint32_t)(sw->n_ports - sw->n_arcs);

		levels[id] = n_ends ? 0 : FAB_NONE;
		if (!n_ends)
			continue;
		sw->part = (uint32_t)(done * s->n_parts / s->net.n_ends);
		load[sw->part] += sw->n_ports;
		done += n_ends;
		n++;
	}
	return n;
}

/* Parts of as many ports each that send each other little: first the switches with
 * endpoints, then level by level those beside them, each to most of its neighbours. */
static void cut_switches(struct sim *s)
{
	uint32_t *levels = FAB_NEW(s->n_switches + 1, uint32_t);
	uint32_t *count = FAB_NEW(s->n_parts + 1, uint32_t);
	uint64_t *load = FAB_NEW0(s->n_parts + 1, uint64_t);
	uint32_t done = cut_leaves(s, levels, load), before = 0;

	for (uint32_t level = 1; done < s->n_switches; level++) {
		bool is_apart = done == before; /* nobody is beside them */

		before = done;
		for (uint32_t id = 0; id < s->n_switches; id++) {
			if (levels[id] != FAB_NONE ||
			    (!is_apart && !is_next(s, id, levels, level)))
				continue;
			s->sw[id].part = part_of_most(s, id, levels, level, load, count);
			load[s->sw[id].part] += s->sw[id].n_ports;
			levels[id] = level;
			done++;
		}
	}
	free(levels);
	free(count);
	free(load);
}

static void cut(struct sim *s)
{
	cut_switches(s);
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

/* All inputs and outputs of a switch are. */
static void set_free(const struct sim *s, struct sim_switch *sw)
{
	const struct sim_shape k = s->shape;

	for (uint32_t unit = 0; unit < sw->n_units; unit++)
		sim_set(k, sim_free_units(k, s, sw), unit);
	for (uint32_t out = 0; out < sw->n_ports; out++)
		sim_set(k, sim_free_outs(k, s, sw), out);
}

static int init_switches(struct sim *s, struct fab_err *err)
{
	const struct sim_net *net = &s->net;
	const struct fab_fabric *f = net->problem->f;
	uint64_t queues = 0, words = 0;

	s->sw = FAB_NEW0(net->n_switches + 1, struct sim_switch);
	for (uint32_t id = 0; id < net->n_switches; id++) {
		struct sim_switch *sw = &s->sw[id];
		uint64_t n = net->port_first[id + 1] - net->port_first[id];
		uint64_t units = n * (s->shape.is_fifo ? s->n_vls : 1);

		*sw = (struct sim_switch){
			.turned = UINT64_MAX,
			.word_first = words,
			.port_first = net->port_first[id],
			.n_ports = (uint16_t)n,
			.n_arcs = (uint16_t)(f->arc_first[id + 1] - f->arc_first[id]),
			.n_units = (uint16_t)units,
			.unit_words = (uint16_t)((units + WORD - 1) / WORD),
			.out_words = (uint16_t)((n + WORD - 1) / WORD),
			.is_small = units <= WORD};
		if (units > UINT16_MAX)
			return fab_fail(err, ERANGE,
					"a switch with %" PRIu64 " ports and %u lanes: "
					"too many",
					n, s->n_vls);
		queues += s->shape.is_fifo ? units : n * n * s->n_vls;
		if (!sw->is_small)
			words += sw->unit_words * (1 + n * s->n_vls) +
				 sw->out_words * (2 + n);
	}
	s->shape.is_small = true;
	for (uint32_t id = 0; id < net->n_switches; id++)
		s->shape.is_small &= s->sw[id].is_small;
	s->n_queues = queues;
	s->n_words = words;
	s->queue = fab_alloc_huge((queues + 1) * sizeof(*s->queue));
	for (uint64_t i = 0; i < queues; i++)
		s->queue[i].first = FAB_NONE;
	s->word = FAB_NEW0(words + 1, uint64_t);
	for (uint32_t id = 0; id < net->n_switches; id++)
		set_free(s, &s->sw[id]);
	return 0;
}

/* Of an input. */
static uint32_t queues_of(const struct sim *s, uint32_t sw)
{
	return s->shape.is_fifo ? s->n_vls : s->sw[sw].n_ports * s->n_vls;
}

static void init_ports(struct sim *s)
{
	const struct sim_net *net = &s->net;
	size_t lanes = (size_t)net->n_all * s->n_vls;
	uint64_t queues = 0;

	s->port = fab_alloc_huge((net->n_all + 1) * sizeof(*s->port));
	s->lane = fab_alloc_huge((lanes - net->n_all + 1) * sizeof(*s->lane));
	s->sums = fab_alloc_huge((lanes + 1) * sizeof(*s->sums));
	memset(s->sums, 0, (lanes + 1) * sizeof(*s->sums));
	s->block = FAB_NEW0(lanes + 1, struct sim_lane_block);
	for (uint32_t p = 0; p < net->n_all; p++) {
		bool is_end = p >= net->n_ports;
		uint32_t sw = is_end ? FAB_NONE : net->port_sw[p];
		bool to_end = net->peer[p] != FAB_NONE && net->peer[p] >= net->n_ports;

		s->port[p] = (struct sim_port){
			.peer = net->peer[p],
			.sw = sw,
			.per_byte = net->per_byte[p],
			.reading = FAB_NONE,
			.queue = queues,
			.local = (uint16_t)(is_end ? 0 : p - net->port_first[sw])};
		queues += is_end ? 0 : queues_of(s, sw);
		for (unsigned vl = 0; vl < s->n_vls; vl++)
			*sim_lane(s->shape, s, p, vl) = (struct sim_lane){
				.credits = to_end ? INT32_MAX : s->credits,
				.far_head = FAB_NONE,
				.far_tail = FAB_NONE};
	}
	s->source = FAB_NEW0(net->n_ends + 1, struct sim_source);
	for (uint32_t e = 0; e < net->n_ends; e++)
		s->source[e].due = UINT64_MAX;
	if (!s->params->time)
		return;
	s->flow = fab_alloc_huge(2 * (size_t)net->n_ends * sizeof(*s->flow));
	s->bins_a_tick = SIM_BINS / (double)s->params->time;
}

/* Slots as narrow as that some events come in each, and a wheel as wide as that most come
 * within it. */
static unsigned slot_bits(const struct sim *s, uint32_t slowest)
{
	uint64_t span = s->hop_delay +
			2 * sim_wire(slowest, s->params->mtu + s->params->group_header) +
			s->cable_delay;
	unsigned bits = 0;

	while (span >> bits > SLOTS / 2)
		bits++;
	return bits;
}

static void init_parts(struct sim *s, uint32_t slowest)
{
	s->end_part = FAB_NEW(s->net.n_ends + 1, uint32_t);
	cut(s);
	s->part = FAB_NEW0(s->n_parts + 1, struct sim_part);
	for (uint32_t i = 0; i < s->n_parts; i++) {
		struct sim_part *p = &s->part[i];

		p->sim = s;
		p->index = i;
		p->dirty = FAB_NEW(s->n_switches + 1, uint32_t);
		p->choice = FAB_NEW0(s->net.n_ports + SIM_CHOICES_ROOM, uint32_t);
		p->free_cell = p->free_message = FAB_NONE;
		fab_wheel_init(&p->wheel, slot_bits(s, slowest),
			       s->params->by_heap ? 0 : SLOTS);
		for (unsigned t = 0; t < 2; t++) {
			p->post[t] = FAB_NEW0(s->n_parts, struct sim_post);
			for (uint32_t to = 0; to < s->n_parts; to++)
				p->post[t][to].first = UINT64_MAX;
		}
		p->group = FAB_NEW0(s->net.n_groups + 1, struct sim_group_sums);
	}
}

/* Nothing of a part makes anything happen in another one before: lookahead. Heads take a
 * hop, credits and news of deliveries leave when a tail has left. */
static uint64_t window(const struct sim *s, uint32_t fastest)
{
	const struct fab_sim_params *params = s->params;
	uint32_t header = params->header < params->group_header || !s->net.n_groups
				  ? params->header
				  : params->group_header;
	uint64_t notice = s->cable_delay + sim_wire(fastest, s->least_payload + header);

	return s->hop_delay < notice ? s->hop_delay : notice;
}

int sim_setup(struct sim *s, const struct fab_sim_problem *problem,
	      const struct fab_sim_params *params, const struct fab_messages *messages,
	      struct fab_err *err)
{
	uint32_t fastest = UINT32_MAX, slowest = 0;
	int rc;

	*s = (struct sim){.params = params, .messages = messages};
	rc = sim_net_init(&s->net, problem, params, err);
	if (rc)
		return rc;
	s->shape.one_read = params->kind->one_read;
	s->shape.is_fifo = params->kind->is_fifo;
	s->shape.with_groups = s->net.n_groups;
	s->n_vls = s->net.n_vls;
	s->shape.one_lane = s->n_vls == 1;
	s->n_switches = s->net.n_switches;
	sim_tables_init(&s->tables, &s->net);
	s->speedup = params->speedup ? params->speedup : 1;
	s->shape.reads_apart = s->shape.with_groups || s->speedup != 1;
	s->cable_delay = params->cable_delay;
	s->hop_delay = params->cable_delay + params->switch_delay;
	s->host_delay = params->host_delay;
	s->by_units = !params->by_flit;
	s->credits = (int32_t)sim_lane_units(params, s->n_vls);
	s->begin = s->end = UINT64_MAX;
	s->least_payload = messages->least_payload ? messages->least_payload : 1;
	if (s->least_payload > params->mtu)
		s->least_payload = params->mtu;
	for (uint32_t p = 0; p < s->net.n_all; p++) {
		fastest = s->net.per_byte[p] < fastest ? s->net.per_byte[p] : fastest;
		slowest = s->net.per_byte[p] > slowest ? s->net.per_byte[p] : slowest;
	}
	s->window = window(s, fastest);
	rc = init_switches(s, err);
	if (rc)
		return rc;
	init_ports(s);
	s->n_parts = (uint32_t)fab_threads(params->n_threads);
	if (!params->n_threads && s->net.n_ends < FEW_ENDS)
		s->n_parts = 1;
	if (s->n_parts > s->net.n_switches)
		s->n_parts = s->net.n_switches;
	init_parts(s, slowest);
	return 0;
}

static void part_fini(struct sim *s, struct sim_part *p)
{
	fab_wheel_fini(&p->wheel);
	free(p->ring.v);
	free(p->ends.v);
	free(p->cell.v);
	free(p->dirty);
	free(p->choice);
	free(p->dirty_ends.v);
	free(p->message.v);
	for (unsigned t = 0; t < 2; t++) {
		for (uint32_t to = 0; to < s->n_parts; to++)
			free(p->post[t][to].of.v);
		free(p->post[t]);
	}
	free(p->group);
	free(p->trace.v);
	free(p->earliest.v);
	free(p->deliveries.v);
}

void sim_fini(struct sim *s)
{
	for (uint32_t i = 0; s->part && i < s->n_parts; i++)
		part_fini(s, &s->part[i]);
	free(s->part);
	free(s->end_part);
	free(s->port);
	free(s->lane);
	free(s->sums);
	free(s->block);
	free(s->sw);
	free(s->source);
	free(s->flow);
	free(s->queue);
	free(s->word);
	sim_tables_fini(&s->tables);
	sim_net_fini(&s->net);
}
