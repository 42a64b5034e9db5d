/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/naive_impl.h"

#include <math.h>
#include <stdlib.h>

#include "unicast/path.h"

uint32_t naive_n_arcs(const struct naive *n, uint32_t sw)
{
	return n->p->f->arc_first[sw + 1] - n->p->f->arc_first[sw];
}

uint32_t naive_n_ports(const struct naive *n, uint32_t sw)
{
	return n->first[sw + 1] - n->first[sw];
}

/* Which endpoint hangs on a port of a switch, FAB_NONE. */
static uint32_t end_at(const struct naive *n, uint32_t sw, uint32_t port)
{
	uint32_t k = naive_n_arcs(n, sw);

	for (uint32_t e = 0; e < n->p->ends->n; e++)
		if (n->p->ends->sw[e] == sw && k++ == port)
			return e;
	return FAB_NONE;
}

uint32_t naive_port_of_end(const struct naive *n, uint32_t e)
{
	uint32_t sw = n->p->ends->sw[e], k = naive_n_arcs(n, sw);

	for (uint32_t i = 0; i < e; i++)
		k += n->p->ends->sw[i] == sw;
	return k;
}

/* Cable of an output. */
static uint32_t cable_of(const struct naive *n, uint32_t sw, uint32_t port)
{
	const struct fab_fabric *f = n->p->f;

	if (port < naive_n_arcs(n, sw))
		return f->arc_cable[f->arc_first[sw] + port];
	return f->port_cable[n->p->ends->port[end_at(n, sw, port)]];
}

uint64_t naive_wire(const struct naive *n, uint32_t cable, uint32_t size)
{
	double gbps = n->params->all_rates ? 0 : fab_cable_data_gbps(n->p->f, cable);
	long per;

	if (n->params->by_flit)
		return size;
	per = lround(8000 / (gbps > 0 ? gbps : n->params->rate_gbps) * 1048576);
	per = lround(((double)size * (double)per) / 1048576);
	return per > 0 ? (uint64_t)per : 1;
}

int naive_units(const struct naive *n, uint32_t size)
{
	return n->params->by_flit ? 1 : (int)((size + 63) / 64);
}

int naive_room(const struct naive *n, uint32_t output, unsigned vl)
{
	const int *used = &n->used[output * n->n_vls];
	int room = n->shared;

	for (unsigned v = 0; v < n->n_vls; v++)
		room -= used[v] > n->own ? used[v] - n->own : 0;
	return room + (used[vl] < n->own ? n->own - used[vl] : 0);
}

void naive_take(struct naive *n, uint32_t output, unsigned vl, int units)
{
	n->used[output * n->n_vls + vl] += units;
}

/* The output that feeds the input of a switch. */
static uint32_t feeder(const struct naive *n, uint32_t sw, uint32_t in)
{
	const struct fab_fabric *f = n->p->f;
	uint32_t a = f->arc_first[sw] + in;

	if (in >= naive_n_arcs(n, sw))
		return n->n_out - n->p->ends->n + end_at(n, sw, in);
	return n->first[f->arc_peer[a]] + f->arc_reverse[a];
}

/* In the place of one that is gone. */
void naive_add_packet(struct naive *n, struct packet p)
{
	p.serial = ++n->n_serial;
	for (size_t i = 0; i < n->packets.n; i++)
		if (!n->packets.v[i].exists) {
			n->packets.v[i] = p;
			return;
		}
	FAB_PUSH(&n->packets, p);
}

static void remove_packet(struct packet *p)
{
	free(p->out);
	free(p->vl_out);
	p->out = NULL;
	p->vl_out = NULL;
	p->exists = false;
}

static void give_back(struct naive *n, const struct packet *p, uint64_t time)
{
	struct return_ r = {time + n->params->cable_delay, feeder(n, p->sw, p->in),
			    p->vl_in, naive_units(n, p->size)};

	FAB_PUSH(&n->returns, r);
}

void naive_note(struct naive *n, uint64_t time, uint32_t e, bool is_completed,
		struct fab_delivery d)
{
	struct note x = {time, e, is_completed, d};

	d.time = time;
	x.d = d;
	if (is_completed ? n->messages->completed != NULL : n->messages->received != NULL)
		FAB_PUSH(&n->notes, x);
}

uint64_t naive_giving_up(const struct naive *n)
{
	return n->params->cable_delay + n->params->switch_delay;
}

static void flight_change(struct naive *n, uint32_t id, int by, uint64_t time, bool lost)
{
	struct flight *f = &n->flights.v[id];

	f->n += by;
	f->is_lost |= lost;
	f->last = time > f->last ? time : f->last;
	if (!f->n && !f->is_open)
		naive_note(n, f->last, f->source, true,
			   (struct fab_delivery){.birth = f->m.time,
						 .source = f->source,
						 .target = f->m.target,
						 .tag = f->m.tag,
						 .to_group = true,
						 .is_lost = f->is_lost});
}

static void drop(struct naive *n, struct packet *p)
{
	n->result->dropped++;
	give_back(n, p, n->now + naive_wire(n, cable_of(n, p->sw, p->in), p->size));
	if (p->to_group)
		flight_change(n, p->message, -1, n->now + naive_giving_up(n), true);
	else if (p->is_last)
		naive_note(n, n->now + naive_giving_up(n), p->source, true,
			   (struct fab_delivery){.birth = p->birth,
						 .source = p->source,
						 .target = p->target,
						 .tag = p->tag,
						 .is_lost = true});
	remove_packet(p);
}

static unsigned lane(const struct naive *n, const struct packet *p, uint32_t out)
{
	uint32_t d = naive_n_arcs(n, p->sw);
	unsigned vl;

	if (n->n_vls == 1)
		return 0;
	vl = fab_routes_vl(n->p->routes, p->sw, p->in < d ? p->in : d, out < d ? out : d,
			   p->sl);
	return vl >= n->n_vls && out >= d ? p->sl % n->n_vls : vl;
}

static void ask_on(struct packet *p, uint32_t out, unsigned vl)
{
	p->out = fab_realloc(p->out, p->n_out + 1, sizeof(*p->out));
	p->vl_out = fab_realloc(p->vl_out, p->n_out + 1, sizeof(*p->vl_out));
	p->out[p->n_out] = out;
	p->vl_out[p->n_out++] = vl;
}

static void ask_for(struct naive *n, struct packet *p, uint32_t out)
{
	if (lane(n, p, out) < n->n_vls)
		ask_on(p, out, lane(n, p, out));
}

/* Does a group's packet leave a switch by this output, wherever it came from? */
bool naive_is_of_group(const struct naive *n, uint32_t group, uint32_t sw, uint32_t out)
{
	const struct fab_forest *t = n->p->forest;
	const struct fab_groups *g = n->p->groups;
	uint32_t c = cable_of(n, sw, out);

	if (out >= naive_n_arcs(n, sw)) {
		for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++)
			if (n->p->f->port_cable[g->member[m]] == c)
				return true;
		return false;
	}
	for (uint64_t e = t->first[group]; e < t->first[group + 1]; e++)
		if (t->cable[e] == c && fab_cable_is_live(n->p->faults, c))
			return true;
	return false;
}

/* All outputs of a group at a switch but the one by which the packet came. */
static void ask_for_group(struct naive *n, struct packet *p)
{
	for (uint32_t out = 0; out < naive_n_ports(n, p->sw); out++)
		if (out != p->in && naive_is_of_group(n, p->target, p->sw, out))
			ask_for(n, p, out);
	if (p->n_out)
		flight_change(n, p->message, (int)p->n_out - 1, 0, false);
}

uint32_t naive_table(const struct naive *n, const struct packet *p)
{
	uint32_t next = fab_routes_next(n->p->routes, p->column)[p->sw];

	if (next == FAB_ARC_HERE && n->p->ends->sw[p->target] == p->sw)
		return naive_port_of_end(n, p->target);
	if (next < naive_n_arcs(n, p->sw) &&
	    fab_arc_is_live(n->p->faults, n->p->f->arc_first[p->sw] + next))
		return next;
	return FAB_NONE;
}

/* A head that may leave: where to? */
static void route(struct naive *n, struct packet *p)
{
	uint32_t next;

	p->order = n->n_ready++;
	p->is_asking = true;
	if (p->hops >= FAB_SIM_HOPS_MAX) {
		drop(n, p);
		return;
	}
	if (p->to_group) {
		ask_for_group(n, p);
	} else {
		next = naive_table(n, p);
		if (next != FAB_NONE)
			ask_for(n, p, next);
	}
	if (!p->n_out)
		drop(n, p);
}

/* Where the cable out is faster, the head waits. */
static uint64_t slower_by(struct naive *n, const struct packet *p)
{
	uint64_t in = naive_wire(n, cable_of(n, p->sw, p->in), p->size), most = 0;

	for (uint32_t i = 0; i < p->n_out; i++) {
		uint64_t out = naive_wire(n, cable_of(n, p->sw, p->out[i]), p->size);

		if (in > out && in - out > most)
			most = in - out;
	}
	return most;
}

void naive_go_on(struct naive *n, struct packet *p, uint32_t out, unsigned vl)
{
	p->is_asking = true;
	p->waits_since = 0;
	if (out == FAB_NONE) {
		drop(n, p);
		return;
	}
	ask_on(p, out, vl);
	p->ready = n->now + slower_by(n, p);
	p->order = p->ready << 32 | n->n_ready++;
}

void naive_record(struct naive *n, const struct packet *p, uint32_t port, unsigned vl,
		  int hop)
{
	struct naive_start s = {.time = n->now,
				.birth = p->birth,
				.source = p->source,
				.port = port,
				.size = p->size,
				.target = p->target,
				.packet = p->number,
				.vl = (uint8_t)vl,
				.hop = (uint8_t)hop,
				.to_group = p->to_group};

	FAB_PUSH(&n->result->starts, s);
}

/* A packet is at its endpoint as a whole at `time`. */
static void deliver(struct naive *n, const struct packet *copy, uint32_t e, uint64_t time)
{
	struct fab_sim_delivery d = {.birth = copy->birth,
				     .delivered = time,
				     .source = copy->source,
				     .target = e,
				     .group = copy->to_group ? copy->target : FAB_NONE,
				     .wire = copy->size};
	struct fab_delivery told = {.birth = copy->birth,
				    .source = copy->source,
				    .target = copy->target,
				    .tag = copy->tag,
				    .to_group = copy->to_group};

	FAB_PUSH(&n->result->deliveries, d);
	if (copy->to_group)
		flight_change(n, copy->message, -1, time, false);
	if (copy->is_last)
		naive_note(n, time, e, false, told);
	if (copy->is_last && !copy->to_group)
		naive_note(n, time, copy->source, true, told);
}

/* The packet (a copy of it) starts on an output of its switch. */
static void start(struct naive *n, uint32_t id, uint32_t i)
{
	const struct fab_fabric *f = n->p->f;
	struct packet *p = &n->packets.v[id], copy = *p;
	uint32_t sw = p->sw, out = p->out[i], e = end_at(n, sw, out),
		 o = n->first[sw] + out;
	uint32_t arc = f->arc_first[sw] + out;
	unsigned vl = p->vl_out[i];
	uint64_t w = naive_wire(n, cable_of(n, sw, out), p->size),
		 speed = n->params->speedup;

	n->out_busy[o] = n->now + w;
	if (n->params->kind->one_read) {
		uint32_t in = n->first[sw] + p->in;
		uint64_t end = n->now + (w + speed - 1) / speed;

		n->in_busy[in] = end > n->in_busy[in] ? end : n->in_busy[in];
		n->reading[in] = p->serial;
	}
	naive_record(n, p,
		     e == FAB_NONE ? fab_arc_port(f, sw, arc)
				   : fab_port_peer(f, n->p->ends->port[e]),
		     vl, p->hops);
	p->end = n->now + w > p->end ? n->now + w : p->end;
	p->out[i] = p->out[--p->n_out];
	p->vl_out[i] = p->vl_out[p->n_out];
	if (!p->n_out) {
		give_back(n, p, p->end);
		remove_packet(p);
	}
	copy.hops++;
	copy.vl_in = vl;
	copy.out = NULL;
	copy.vl_out = NULL;
	copy.n_out = 0;
	copy.end = 0;
	copy.is_asking = false;
	if (e == FAB_NONE) {
		if (!n->params->chooser) /* adaptive packets took it before */
			naive_take(n, o, vl, naive_units(n, p->size));
		copy.exists = true;
		copy.ready = n->now + n->params->cable_delay + n->params->switch_delay;
		copy.sw = f->arc_peer[arc];
		copy.in = f->arc_reverse[arc];
		naive_add_packet(n, copy);
		return;
	}
	deliver(n, &copy, e, n->now + w + n->params->cable_delay + n->params->host_delay);
}

/* The packet that unit `u` has for a lane of an output; FAB_NONE. *i: which of its
 * outputs. */
static uint32_t head(const struct naive *n, uint32_t sw, uint32_t u, uint32_t out,
		     unsigned vl, uint32_t *i)
{
	bool fifo = n->params->kind->is_fifo;
	uint32_t best = FAB_NONE;

	for (uint32_t k = 0; k < n->packets.n; k++) {
		const struct packet *p = &n->packets.v[k];
		bool is_mine = false;

		if (!p->exists || p->sw != sw || !p->is_asking || p->ready > n->now)
			continue;
		if ((fifo ? p->in * n->n_vls + p->vl_in : p->in) != u)
			continue;
		for (uint32_t j = 0; j < p->n_out; j++)
			is_mine |= p->out[j] == out && p->vl_out[j] == vl;
		if ((fifo || is_mine) &&
		    (best == FAB_NONE || p->order < n->packets.v[best].order))
			best = k;
	}
	for (*i = 0; best != FAB_NONE && *i < n->packets.v[best].n_out; ++*i)
		if (n->packets.v[best].out[*i] == out &&
		    n->packets.v[best].vl_out[*i] == vl)
			return best;
	return FAB_NONE;
}

/* Does a lane of an output start something? */
static bool serve(struct naive *n, uint32_t sw, uint32_t out, unsigned vl)
{
	uint32_t n_units =
		naive_n_ports(n, sw) * (n->params->kind->is_fifo ? n->n_vls : 1);
	uint32_t o = n->first[sw] + out, i;

	for (uint32_t k = 0; k < n_units; k++) {
		uint32_t u = (n->next_unit[o * n->n_vls + vl] + k) % n_units;
		uint32_t id = head(n, sw, u, out, vl, &i), in;

		if (id == FAB_NONE)
			continue;
		in = n->first[sw] + n->packets.v[id].in;
		if (n->params->kind->one_read && n->in_busy[in] > n->now &&
		    !(n->packets.v[id].to_group &&
		      n->reading[in] == n->packets.v[id].serial))
			continue;
		if (out < naive_n_arcs(n, sw) && !n->params->chooser &&
		    naive_room(n, o, vl) < naive_units(n, n->packets.v[id].size))
			continue;
		n->next_unit[o * n->n_vls + vl] = (u + 1) % n_units;
		n->next_vl[o] = (vl + 1) % n->n_vls;
		start(n, id, i);
		return true;
	}
	return false;
}

/* May the first packet of a queue start on one of its outputs? */
static bool may_start(const struct naive *n, const struct packet *p, uint32_t i)
{
	uint32_t out = p->out[i], o = n->first[p->sw] + out, in = n->first[p->sw] + p->in;
	bool fifo = n->params->kind->is_fifo;

	if (n->out_busy[o] > n->now ||
	    (out < naive_n_arcs(n, p->sw) && !n->params->chooser &&
	     naive_room(n, o, p->vl_out[i]) < naive_units(n, p->size)))
		return false;
	if (n->params->kind->one_read && n->in_busy[in] > n->now &&
	    !(p->to_group && n->reading[in] == p->serial))
		return false;
	for (size_t k = 0; k < n->packets.n; k++) {
		const struct packet *q = &n->packets.v[k];
		bool shares = fifo && q->vl_in == p->vl_in;

		if (!q->exists || q->sw != p->sw || q->in != p->in || !q->is_asking ||
		    q->ready > n->now || q->order >= p->order)
			continue;
		for (uint32_t j = 0; j < q->n_out && !fifo; j++)
			shares |= q->out[j] == out && q->vl_out[j] == p->vl_out[i];
		if (shares)
			return false;
	}
	return true;
}

/* Outputs that are idle though a packet that has credit waits for them. */
static void count_idle(struct naive *n)
{
	for (size_t k = 0; k < n->packets.n; k++) {
		const struct packet *p = &n->packets.v[k];

		for (uint32_t i = 0;
		     p->exists && p->is_asking && p->ready <= n->now && i < p->n_out; i++)
			n->result->idle += may_start(n, p, i);
	}
}

static void choose(struct naive *n, uint32_t sw)
{
	uint32_t begin = n->turn[sw], n_here = naive_n_ports(n, sw);
	bool is_first = true;

	for (uint32_t k = 0; k < n_here; k++) {
		uint32_t out = (begin + k) % n_here, o = n->first[sw] + out;
		unsigned from = n->next_vl[o];
		bool has = false;

		for (unsigned v = 0; v < n->n_vls && !has && n->out_busy[o] <= n->now;
		     v++)
			has = serve(n, sw, out, (from + v) % n->n_vls);
		if (has && is_first) {
			n->turn[sw] = (out + 1) % n_here;
			is_first = false;
		}
	}
}

/* What is due before the choices of a tick. */
static void arrive(struct naive *n)
{
	for (size_t i = 0; i < n->notes.n; i++) {
		struct note x = n->notes.v[i];

		if (x.time != n->now)
			continue;
		n->result->completed += x.is_completed;
		(x.is_completed ? n->messages->completed
				: n->messages->received)(n->messages->context, x.e, &x.d);
		if (!n->sending[x.e].is_there)
			naive_pull(n, x.e);
	}
	for (size_t i = 0; i < n->returns.n; i++)
		if (n->returns.v[i].time == n->now) {
			naive_take(n, n->returns.v[i].output, n->returns.v[i].vl,
				   -n->returns.v[i].units);
			n->is_credited[n->returns.v[i].output] = true;
		}
	if (n->params->chooser) {
		naive_adapt(n);
		return;
	}
	for (uint32_t i = 0; i < n->packets.n; i++) {
		struct packet *p = &n->packets.v[i];

		if (p->exists && !p->is_asking && p->ready == n->now) {
			route(n, p);
			p->ready += slower_by(n, p);
		}
	}
}

/* How many packets ask for each output: most are asked for by none. */
static void count_asked(struct naive *n)
{
	for (uint32_t o = 0; o < n->n_out; o++)
		n->asked[o] = 0;
	for (size_t i = 0; i < n->packets.n; i++)
		for (uint32_t k = 0; n->packets.v[i].exists && k < n->packets.v[i].n_out;
		     k++)
			n->asked[n->first[n->packets.v[i].sw] + n->packets.v[i].out[k]]++;
}

/* Forget what is over. */
static void sweep(struct naive *n)
{
	size_t k = 0;

	for (size_t i = 0; i < n->returns.n; i++)
		if (n->returns.v[i].time > n->now)
			n->returns.v[k++] = n->returns.v[i];
	n->returns.n = k;
	k = 0;
	for (size_t i = 0; i < n->notes.n; i++)
		if (n->notes.v[i].time > n->now)
			n->notes.v[k++] = n->notes.v[i];
	n->notes.n = k;
}

static void begin(struct naive *n)
{
	const struct fab_fabric *f = n->p->f;
	const struct fab_sim_params *params = n->params;
	uint64_t room = params->buffer, unit = params->by_flit ? 1 : 64;
	uint32_t sum = 0;

	n->first = FAB_NEW0(f->n_switches + 1, uint32_t);
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		n->first[sw] = sum;
		sum += naive_n_arcs(n, sw);
		for (uint32_t e = 0; e < n->p->ends->n; e++)
			sum += n->p->ends->sw[e] == sw;
	}
	n->first[f->n_switches] = sum;
	n->n_out = sum + n->p->ends->n;
	n->n_vls = n->params->n_vls ? n->params->n_vls : n->p->routes->n_vls;
	n->n_vls += n->params->chooser != 0;
	n->own = (int)(room / (params->buffer_per_vl ? 1 : n->n_vls) / unit);
	if (params->buffer_shared) {
		n->own = (int)(params->buffer_private / unit);
		n->shared = (int)((room - n->n_vls * params->buffer_private) / unit);
	}
	n->out_busy = FAB_NEW0(n->n_out, uint64_t);
	n->in_busy = FAB_NEW0(n->n_out, uint64_t);
	n->reading = FAB_NEW0(n->n_out, uint64_t);
	n->used = FAB_NEW0(n->n_out * n->n_vls, int);
	n->next_unit = FAB_NEW0(n->n_out * n->n_vls, uint32_t);
	n->next_vl = FAB_NEW0(n->n_out, unsigned);
	n->turn = FAB_NEW0(f->n_switches, uint32_t);
	n->asked = FAB_NEW0(n->n_out, uint32_t);
	n->next_choice = FAB_NEW0(f->n_switches, uint32_t);
	n->is_credited = FAB_NEW0(n->n_out, bool);
	for (uint32_t i = 0; i < n->n_out && n->n_vls > 1; i++)
		n->next_vl[i] = 1;
	n->sending = FAB_NEW0(n->p->ends->n, struct message);
	for (uint32_t e = 0; e < n->p->ends->n; e++)
		naive_pull(n, e);
}

void naive_run(const struct fab_sim_problem *problem, const struct fab_sim_params *params,
	       const struct fab_messages *messages, uint64_t end,
	       struct naive_result *result)
{
	struct naive n = {
		.p = problem, .params = params, .messages = messages, .result = result};

	*result = (struct naive_result){0};
	begin(&n);
	for (n.now = 0; n.now < end; n.now++) {
		arrive(&n);
		count_asked(&n);
		for (uint32_t sw = 0; sw < problem->f->n_switches; sw++)
			choose(&n, sw);
		count_idle(&n);
		for (uint32_t e = 0; e < problem->ends->n; e++)
			naive_inject(&n, e);
		sweep(&n);
	}
	for (size_t i = 0; i < n.packets.n; i++) {
		free(n.packets.v[i].out);
		free(n.packets.v[i].vl_out);
	}
	free(n.first);
	free(n.out_busy);
	free(n.in_busy);
	free(n.reading);
	free(n.used);
	free(n.next_unit);
	free(n.next_vl);
	free(n.turn);
	free(n.asked);
	free(n.next_choice);
	free(n.is_credited);
	free(n.packets.v);
	free(n.returns.v);
	free(n.notes.v);
	free(n.flights.v);
	free(n.sending);
}

void naive_fini(struct naive_result *result)
{
	free(result->starts.v);
	free(result->deliveries.v);
}
