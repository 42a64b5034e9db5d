/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints: messages become packets, packets are delivered, sources are notified. */
#include "sim/saturation.h"

#include <errno.h>
#include <inttypes.h>

static const uint64_t BIRTH_MASK = (1ull << FAB_MESSAGE_TIME_BITS) - 1;

/* An event for when an endpoint may go on, unless there is one before it. */
static void inject_at(struct sim_part *p, uint32_t e, uint64_t time)
{
	struct sim_source *src = &p->sim->source[e];

	if (src->due <= time)
		return;
	src->due = time;
	sim_event_at(p, time, SIM_SEND, e, 0);
}

/* Ask for the next message. */
static void pull(struct sim_part *p, uint32_t e)
{
	struct sim *s = p->sim;
	struct sim_source *src = &s->source[e];
	struct fab_message m = {0};
	uint32_t n;

	src->state = SIM_IDLE;
	if (!s->messages->next(s->messages->context, e, p->now, &m) ||
	    m.time >> FAB_MESSAGE_TIME_BITS)
		return;
	n = m.to_group ? s->net.n_groups : s->net.n_ends;
	if (m.target >= n)
		p->rc = fab_fail(&p->err, EINVAL,
				 "a message of endpoint %" PRIu32 " to %s %" PRIu32
				 ": there are %" PRIu32,
				 e, m.to_group ? "group" : "endpoint", m.target, n);
	else if (!m.to_group && !s->net.problem->routes)
		p->rc = fab_fail(&p->err, EINVAL,
				 "a message to an endpoint, and no tables");
	else if (!m.bytes || m.bytes > FAB_MESSAGE_BYTES_MAX)
		p->rc = fab_fail(&p->err, EINVAL,
				 "a message of endpoint %" PRIu32 " of %" PRIu32
				 " bytes: 1 to 2^30 are possible",
				 e, m.bytes);
	else if (m.time < src->birth)
		p->rc = fab_fail(&p->err, EINVAL,
				 "a message of endpoint %" PRIu32 " at %" PRIu64
				 ", after one at %" PRIu64,
				 e, m.time, src->birth);
	else if (s->is_counted && s->messages->received && m.bytes > s->params->mtu)
		p->rc = fab_fail(
			&p->err, EINVAL,
			"packets of adaptive routing overtake each other, and full buffers drop some: messages that others wait for take one packet, up to %" PRIu32,
			s->params->mtu);
	if (p->rc)
		return;
	src->state = SIM_HAS;
	src->birth = m.time;
	src->target = m.target;
	src->left = m.bytes;
	src->tag = m.tag;
	src->to_group = m.to_group;
}

static uint32_t header(const struct sim *s, bool to_group)
{
	return to_group ? s->params->group_header : s->params->header;
}

static uint64_t packets_of(const struct sim *s, uint32_t bytes)
{
	return ((uint64_t)bytes + s->params->mtu - 1) / s->params->mtu;
}

static uint64_t bytes_of(const struct sim *s, uint32_t bytes, bool to_group)
{
	return bytes + packets_of(s, bytes) * header(s, to_group);
}

/* Notify the source of an endpoint that a message of it has arrived or is lost. */
static void note_completed(struct sim_part *p, uint64_t time, struct sim_packet packet)
{
	struct sim *s = p->sim;
	uint32_t e = sim_endpoint_of(&packet), id;

	if (!s->messages->completed)
		return;
	if (s->end_part[e] != p->index) {
		sim_write(p, s->end_part[e], time, SIM_LETTER_COMPLETED, e)->packet =
			packet;
		return;
	}
	id = sim_cell_new(p);
	p->cell.v[id].packet = packet;
	sim_event_at(p, time, SIM_COMPLETED, e, id);
}

/* Row of the tables, service level and lane of the message of an endpoint; false: it has
 * no path. */
static bool find_path(struct sim_part *p, uint32_t e)
{
	const struct sim *s = p->sim;
	struct sim_source *src = &s->source[e];
	unsigned sl = 0;

	if (src->to_group) {
		src->row =
			sim_net_group_row(&s->net, src->target,
					  s->port[s->port[s->net.n_ports + e].peer].sw);
	} else {
		src->row = s->net.end_row[src->target];
		if (s->failure && s->failure->is_noticed[s->net.n_ports + e])
			return false;
		if (src->row == FAB_NONE)
			return false;
		sl = sim_net_sl(&s->net, e, src->target);
		if (sl == FAB_SL_UNKNOWN) {
			p->sums.unknown_sl++;
			sl = 0;
		}
	}
	if (sl > 15 || src->row == FAB_NONE)
		return false;
	src->sl = (uint8_t)sl;
	src->vl = (uint8_t)(s->params->chooser ? s->adaptive_vl
					       : sim_net_first_vl(&s->net, sl));
	return true;
}

/* Count the n packets of the next message of an endpoint: created ... */
static void count_born(struct sim_part *p, uint32_t e, uint64_t n)
{
	const struct sim_source *src = &p->sim->source[e];

	p->sums.born += n;
	if (!sim_in_window(p->sim, src->birth))
		return;
	p->sums.offered += bytes_of(p->sim, src->left, src->to_group);
	p->sums.window_born += n;
}

/* ... and waiting, where they have a path. */
static void count_waiting(const struct sim *s, uint32_t e, uint64_t n)
{
	const struct sim_source *src = &s->source[e];

	sim_growth_of_source(s, e, src->birth, (int32_t)n);
	if (!src->to_group)
		sim_growth_of_target(s, src->target, src->birth, (int32_t)n);
}

/* Create the next message of an endpoint and look up its path; false: unroutable. */
static bool create(struct sim_part *p, uint32_t e)
{
	const struct sim *s = p->sim;
	struct sim_source *src = &s->source[e];
	uint64_t n = packets_of(s, src->left);

	count_born(p, e, n);
	src->state = SIM_BORN;
	if (!find_path(p, e)) {
		const struct sim_packet note = {
			.source = e | (uint32_t)SIM_LOST |
				  (src->to_group ? SIM_TO_GROUP : 0),
			.target = src->target,
			.tag = src->tag,
			.birth = src->birth & BIRTH_MASK};

		p->sums.lost += n;
		note_completed(p, p->now + s->hop_delay, note);
		return false;
	}
	count_waiting(s, e, n);
	if (!src->to_group && !s->is_counted)
		return true;
	src->message = p->free_message;
	if (src->message != FAB_NONE) {
		p->free_message = p->message.v[src->message].next;
	} else {
		FAB_RESERVE(&p->message, 1);
		src->message = (uint32_t)p->message.n++;
	}
	p->message.v[src->message] = (struct sim_message){.birth = src->birth,
							  .source = e,
							  .group = src->target,
							  .packets = (uint32_t)n,
							  .tag = src->tag,
							  .to_group = src->to_group,
							  .is_open = true};
	return true;
}

/* The next packet of the message starts. */
static void send(struct sim_part *p, uint32_t e, uint32_t payload, uint32_t size)
{
	struct sim *s = p->sim;
	struct sim_source *src = &s->source[e];
	bool is_counted = src->to_group || s->is_counted;
	uint32_t id = sim_cell_new(p), out = s->net.n_ports + e;
	struct sim_packet *packet = sim_packet(p, id);
	struct sim_port *port = &s->port[out];
	uint64_t wire = sim_wire(port->per_byte, size);

	*packet = (struct sim_packet){
		.row = s->is_counted ? src->message : src->row,
		.target = src->to_group ? src->message : src->target,
		.source = e | (src->to_group ? SIM_TO_GROUP : 0u) |
			  (src->left == payload ? SIM_LAST : 0u),
		.birth = src->birth & BIRTH_MASK,
		.size = (uint16_t)size,
		.since = (uint32_t)src->birth,
		.sl = s->drops ? 0 : src->sl & 15,
		/* no transfer waits for it: its number, for detours */
		.tag = s->messages->received ? src->tag
					     : (uint16_t)(src->left / s->params->mtu),
	};
	if (sim_is_traced(p, packet->birth))
		packet->source |= SIM_TRACED;
	if (is_counted) {
		p->message.v[src->message].outstanding++;
		p->message.v[src->message].is_traced |=
			(packet->source & SIM_TRACED) != 0;
	}
	src->left -= payload;
	if (!src->left && is_counted)
		p->message.v[src->message].is_open = false;
	p->sums.injected++;
	if (!src->to_group)
		sim_growth_of_source(s, e, p->now, -1);
	if (sim_in_window(s, p->now)) {
		p->sums.sent += size;
		p->sums.window_sent++;
	}
	if (sim_in_window(s, src->birth)) {
		p->sums.window_in_flight++;
		p->sums.n_wait++;
		p->sums.wait += p->now - src->birth;
	}
	if (!s->drops)
		sim_take(s, out, src->vl, sim_units(s, size));
	port->busy = p->now + wire;
	sim_start(p, out, id, src->vl, wire, 0);
}

static void inject(struct sim_part *p, uint32_t e)
{
	struct sim *s = p->sim;
	struct sim_source *src = &s->source[e];
	uint32_t out = s->net.n_ports + e, payload, size;
	struct sim_port *port = &s->port[out];

	if (src->due == p->now)
		src->due = UINT64_MAX;
	if (port->busy > p->now) {
		if (src->state != SIM_IDLE)
			inject_at(p, e, port->busy);
		return;
	}
	while (src->state == SIM_HAS && src->birth <= p->now && !p->rc && !create(p, e))
		pull(p, e);
	if (src->state == SIM_IDLE || p->rc)
		return;
	if (src->birth > p->now) {
		inject_at(p, e, src->birth);
		return;
	}
	if (port->is_blocked)
		sim_count_blocked(s, p->now, out);
	payload = src->left < s->params->mtu ? src->left : s->params->mtu;
	if (payload < s->least_payload) {
		p->rc = fab_fail(&p->err, EINVAL,
				 "a packet of endpoint %" PRIu32 " of %" PRIu32
				 " bytes: its source promised %" PRIu32 " at least",
				 e, payload, s->least_payload);
		return;
	}
	size = payload + header(s, src->to_group);
	if (!sim_credit_has(p, out, src->vl, sim_units(s, size))) {
		sim_block(p, out, src->vl);
		return;
	}
	send(p, e, payload, size);
	if (!src->left)
		pull(p, e);
	if (src->state != SIM_IDLE)
		inject_at(p, e, src->birth > port->busy ? src->birth : port->busy);
}

/* A message has been received by an endpoint, or one that it sent is completed. */
static void notify(struct sim_part *p, uint32_t what, uint32_t id)
{
	bool is_received = what >> SIM_ID_BITS == SIM_RECEIVED;
	uint32_t e = what & SIM_ID;
	const struct sim_packet *packet = sim_packet(p, id);
	const struct fab_messages *m = p->sim->messages;
	bool to_group = packet->source & SIM_TO_GROUP;
	struct fab_delivery d = {
		.time = p->now,
		.birth = packet->birth,
		.source = sim_endpoint_of(packet),
		.target = is_received && to_group ? packet->row : packet->target,
		.tag = packet->tag,
		.to_group = to_group,
		.is_lost = !is_received && packet->source & (uint32_t)SIM_LOST};

	sim_cell_free(p, id);
	(is_received ? m->received : m->completed)(m->context, e, &d);
	if (p->sim->source[e].state != SIM_IDLE)
		return;
	pull(p, e); /* the notice may have created a message */
	if (p->sim->source[e].state != SIM_IDLE)
		FAB_PUSH(&p->dirty_ends, e);
}

/* A whole message has arrived. */
static void count_message(struct sim_part *p, uint64_t birth, uint64_t time,
			  uint32_t group)
{
	uint64_t latency = time - birth;

	if (!sim_in_window(p->sim, birth))
		return;
	fab_histogram_add(&p->message_latency, latency);
	p->sums.n_message++;
	p->sums.message += latency;
	if (group == FAB_NONE)
		return;
	p->group[group].n++;
	p->group[group].latency += latency;
	if (latency > p->group[group].most)
		p->group[group].most = latency;
}

/* More or fewer copies of a multicast message are under way. */
static void add_copies(struct sim_part *p, uint32_t id, int64_t copies, uint64_t time,
		       bool is_lost)
{
	struct sim_message *m = &p->message.v[id];
	struct sim_packet note;

	m->outstanding += copies;
	m->is_lost |= is_lost;
	if (time > m->last)
		m->last = time;
	if (m->outstanding || m->is_open)
		return;
	note = (struct sim_packet){.source = m->source |
					     (m->to_group ? SIM_TO_GROUP : 0) |
					     (m->is_lost ? (uint32_t)SIM_LOST : 0),
				   .target = m->group,
				   .birth = m->birth & BIRTH_MASK,
				   .tag = m->tag};
	if (m->to_group)
		sim_growth_of_source(p->sim, m->source, m->last, -(int32_t)m->packets);
	if (!m->is_lost)
		count_message(p, m->birth, m->last, m->to_group ? m->group : FAB_NONE);
	note_completed(p, m->last, note);
	if (m->is_traced) /* its number stays that of its steps */
		return;
	m->next = p->free_message;
	p->free_message = id;
}

void sim_message_copies(struct sim_part *p, uint32_t source, uint32_t message,
			int64_t copies, uint64_t delivered, bool is_lost)
{
	uint32_t to = p->sim->end_part[source];
	struct sim_letter *l;

	if (to == p->index) {
		add_copies(p, message, copies, delivered, is_lost);
		return;
	}
	l = sim_write(p, to, UINT64_MAX, SIM_LETTER_COPIES, (uint32_t)(int32_t)copies);
	l->time = delivered;
	l->packet.target = message;
	l->packet.source = is_lost ? (uint32_t)SIM_LOST : 0;
}

static void lost(struct sim_part *p, uint32_t id, enum sim_loss why)
{
	const struct sim *s = p->sim;
	struct sim_packet packet = *sim_packet(p, id);
	struct sim_packet note = {.source = sim_endpoint_of(&packet) | (uint32_t)SIM_LOST,
				  .target = packet.target,
				  .birth = packet.birth,
				  .tag = packet.tag};

	(void)why;
	if (s->failure)
		sim_failure_lost(p, &packet);
	if (sim_in_window(s, packet.birth))
		p->sums.window_in_flight--;
	if (!(packet.source & SIM_TO_GROUP))
		sim_growth_of_target(s, packet.target, p->now, -1);
	if (packet.source & SIM_TO_GROUP || s->is_counted)
		sim_message_copies(p, sim_endpoint_of(&packet),
				   packet.source & SIM_TO_GROUP ? packet.target
								: packet.row,
				   -1, p->now + s->hop_delay, true);
	else if (packet.source & SIM_LAST)
		note_completed(p, p->now + s->hop_delay, note);
}

static void deliver(struct sim_part *p, uint32_t e, uint32_t id, uint64_t wire)
{
	const struct sim *s = p->sim;
	const struct sim_packet *packet = sim_packet(p, id);
	uint64_t time = p->now + s->cable_delay + wire + s->host_delay;
	uint64_t latency = time - packet->birth;
	bool to_group = packet->source & SIM_TO_GROUP;
	bool is_trimmed = s->drops && packet->sl & SIM_TRIMMED;
	bool last = packet->source & SIM_LAST && !is_trimmed;

	if (s->failure && s->failure->stage != SIM_ALL_LIVE &&
	    s->failure->is_dead[s->net.n_ports + e]) {
		sim_lose(p, id, SIM_DEAD);
		return;
	}
	if (s->failure)
		sim_failure_delivered(p, packet, time, latency);
	p->sums.delivered++;
	p->sums.arrived += packet->size;
	p->sums.arrived_latency += latency;
	if (time > p->last_delivery)
		p->last_delivery = time;
	if (!to_group)
		sim_growth_of_target(s, e, time, -1);
	if (sim_in_window(s, time)) {
		p->sums.accepted += packet->size;
		p->sums.goodput += packet->size - header(s, to_group);
	}
	if (sim_in_window(s, packet->birth))
		p->sums.window_in_flight--;
	if (sim_in_window(s, packet->birth) && !is_trimmed) {
		fab_histogram_add(&p->latency, latency);
		p->sums.n_latency++;
		p->sums.latency += latency;
		p->sums.hops += packet->hops;
		if (packet->hops > p->sums.hops_max)
			p->sums.hops_max = packet->hops;
	}
	if (s->params->with_deliveries) {
		struct fab_sim_delivery d = {.birth = packet->birth,
					     .delivered = time,
					     .source = sim_endpoint_of(packet),
					     .target = e,
					     .group = to_group ? packet->row : FAB_NONE,
					     .wire = packet->size};

		FAB_PUSH(&p->deliveries, d);
	}
	if (to_group || s->is_counted) {
		sim_message_copies(p, sim_endpoint_of(packet),
				   to_group ? packet->target : packet->row, -1, time,
				   is_trimmed);
	} else if (last) {
		count_message(p, packet->birth, time, FAB_NONE);
		note_completed(p, time, *packet);
	}
	if (last && s->messages->received)
		sim_event_at(p, time, SIM_RECEIVED, e, id);
	else
		sim_cell_free(p, id);
}

static void cut(struct sim_part *p, uint32_t e)
{
	struct sim *s = p->sim;
	struct sim_source *src = &s->source[e];

	if (src->state == SIM_BORN && src->left) { /* the rest is not sent */
		uint32_t n = (uint32_t)packets_of(s, src->left);

		p->sums.lost += n;
		sim_growth_of_source(s, e, p->now, -(int32_t)n);
		sim_growth_of_target(s, src->target, p->now, -(int32_t)n);
		pull(p, e);
	}
	if (src->state != SIM_IDLE)
		inject_at(p, e, src->birth > p->now ? src->birth : p->now);
}

const struct sim_host sim_message_host = {
	.send = inject, .event = notify, .deliver = deliver, .lost = lost, .cut = cut};

void sim_part_read(struct sim_part *p, unsigned turn)
{
	struct sim *s = p->sim;

	for (uint32_t from = 0; from < s->n_parts; from++) {
		struct sim_post *post = &s->part[from].post[turn][p->index];

		for (size_t i = 0; i < post->of.n; i++) {
			const struct sim_letter *l = &post->of.v[i];
			uint32_t id;

			switch (l->kind) {
			case SIM_LETTER_CREDIT:
				sim_credit_add(p, l->id, l->packet.vl, l->packet.size,
					       l->time);
				break;
			case SIM_LETTER_COPIES:
				add_copies(p, l->packet.target, (int32_t)l->id, l->time,
					   l->packet.source & (uint32_t)SIM_LOST);
				break;
			case SIM_LETTER_PACKET:
				break;
			case SIM_LETTER_COMPLETED:
				id = sim_cell_new(p);
				p->cell.v[id].packet = l->packet;
				sim_event_at(p, l->time, SIM_COMPLETED, l->id, id);
				break;
			}
		}
		if (post->n_packets)
			sim_ring_merge(p, post);
		post->of.n = post->n_packets = 0;
		post->first = UINT64_MAX;
	}
}

void sim_part_start(struct sim_part *p)
{
	const struct sim *s = p->sim;

	for (uint32_t e = 0; e < s->net.n_ends && !p->rc; e++) {
		if (s->end_part[e] != p->index)
			continue;
		pull(p, e);
		if (s->source[e].state != SIM_IDLE)
			inject_at(p, e, s->source[e].birth);
	}
}

uint64_t sim_part_waiting(struct sim_part *p)
{
	const struct sim *s = p->sim;
	uint64_t n = 0, most = 1 << 24; /* bound for infinite sources */

	for (uint32_t e = 0; e < s->net.n_ends && !p->rc; e++) {
		struct sim_source *src = &s->source[e];

		if (s->end_part[e] != p->index)
			continue;
		if (src->state == SIM_BORN && src->left) {
			n += packets_of(s, src->left);
			pull(p, e);
		}
		while (src->state == SIM_HAS && src->birth < s->end &&
		       src->birth <= p->now && !p->rc && --most) {
			uint64_t packets = packets_of(s, src->left);

			n += packets;
			count_born(p, e, packets);
			if (src->to_group || s->net.end_row[src->target] != FAB_NONE)
				count_waiting(s, e, packets);
			pull(p, e);
		}
	}
	return n;
}
