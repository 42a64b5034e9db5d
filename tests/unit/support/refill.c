/* SPDX-License-Identifier: BSD-2-Clause */
#include "refill.h"

#include "support/test.h"

enum { MAX_NODES = 256 };
enum state { COMING, QUEUED, RECEIVING, OVER };

struct node {
	enum state state;
	double arrival, deadline, left, rate;
	uint32_t attempts;
	uint64_t turn; /* of nodes that come, or have started, the lower first */
	bool is_frozen;
};

struct refill {
	const struct fab_machine *m;
	const struct fab_batch *batch;
	const uint32_t *of;
	const struct fab_transfer_options *o;
	struct node node[MAX_NODES];
	double now, image;
	uint64_t turns;
	struct fab_transfer *out;
};

static uint32_t server_of(const struct refill *x, uint32_t i)
{
	return x->m->interface_server[x->of[x->batch->node[i]]];
}

static double cap_of(const struct refill *x, uint32_t i)
{
	double cap = x->m->capacity_mbps[x->m->node_vertex[x->batch->node[i]]];

	return x->m->limits.flow_mbps > 0 ? fmin(cap, x->m->limits.flow_mbps) : cap;
}

/* Is a node's path on the segment above v in this direction? */
static bool is_on(const struct refill *x, uint32_t i, uint32_t v, bool up)
{
	const struct fab_machine *m = x->m;
	uint32_t k = x->batch->node[i], s = x->of[k];
	bool in = k >= m->first_node[v] && k < m->end_node[v];
	bool sv = s >= m->first_interface[v] && s < m->end_interface[v];

	return in != sv && sv == up;
}

/* What a segment or disk has left for each that is not frozen; INFINITY: none is. */
static double share_left(const struct refill *x, double capacity, const bool *on)
{
	double n = 0;

	for (uint32_t i = 0; i < x->batch->n; i++) {
		if (!on[i] || x->node[i].state != RECEIVING)
			continue;
		if (x->node[i].is_frozen)
			capacity -= x->node[i].rate;
		else
			n++;
	}
	return n > 0 ? fmax(0, capacity / n) : (double)INFINITY;
}

/* The next segment, disk or node that is full: who uses it, at what level. */
static double next_full(const struct refill *x, bool *of)
{
	const struct fab_machine *m = x->m;
	double least = INFINITY;
	bool on[MAX_NODES];

	for (uint32_t p = 2; p < 2 * m->n_vertices + m->n_servers; p++) {
		bool is_disk = p >= 2 * m->n_vertices;
		double share;

		if (is_disk && !(x->m->limits.disk_mbps > 0))
			continue;
		for (uint32_t i = 0; i < x->batch->n; i++)
			on[i] = is_disk ? server_of(x, i) == p - 2 * m->n_vertices
					: is_on(x, i, p / 2, p & 1);
		share = share_left(
			x, is_disk ? x->m->limits.disk_mbps : m->capacity_mbps[p / 2],
			on);
		if (!(share < least))
			continue;
		least = share;
		for (uint32_t i = 0; i < x->batch->n; i++)
			of[i] = on[i];
	}
	for (uint32_t i = 0; i < x->batch->n; i++)
		if (x->node[i].state == RECEIVING && !x->node[i].is_frozen &&
		    cap_of(x, i) < least) {
			least = cap_of(x, i);
			for (uint32_t k = 0; k < x->batch->n; k++)
				of[k] = k == i;
		}
	return least;
}

static void fill(struct refill *x)
{
	bool of[MAX_NODES] = {0};

	for (uint32_t i = 0; i < x->batch->n; i++) {
		x->node[i].is_frozen = false;
		x->node[i].rate = 0;
	}
	for (;;) {
		double level = next_full(x, of);

		if (isinf(level))
			return;
		for (uint32_t i = 0; i < x->batch->n; i++)
			if (of[i] && x->node[i].state == RECEIVING &&
			    !x->node[i].is_frozen) {
				x->node[i].is_frozen = true;
				x->node[i].rate = level;
			}
	}
}

static void start(struct refill *x, uint32_t i)
{
	x->node[i].state = RECEIVING;
	x->node[i].left = x->image;
	x->node[i].turn = x->turns++;
}

/* Is node a before b among those that do the same, at one time? */
static bool is_before(const struct refill *x, uint32_t a, uint32_t b)
{
	const struct fab_machine *m = x->m;
	uint32_t na = x->batch->node[a], nb = x->batch->node[b];
	uint32_t pa = m->parent[m->node_vertex[na]], pb = m->parent[m->node_vertex[nb]];

	if (x->node[a].state != RECEIVING || x->node[b].state != RECEIVING) {
		if (x->node[a].state != x->node[b].state)
			return x->node[a].state == RECEIVING;
		return server_of(x, a) != server_of(x, b)
			       ? server_of(x, a) < server_of(x, b)
			       : x->node[a].turn < x->node[b].turn;
	}
	if (pa != pb)
		return pa < pb;
	if (x->of[na] != x->of[nb])
		return x->of[na] < x->of[nb];
	if (cap_of(x, a) < cap_of(x, b) || cap_of(x, a) > cap_of(x, b))
		return cap_of(x, a) < cap_of(x, b);
	return x->node[a].turn < x->node[b].turn;
}

static void expire(struct refill *x)
{
	for (;;) {
		uint32_t first = FAB_NONE;

		for (uint32_t i = 0; i < x->batch->n; i++)
			if ((x->node[i].state == RECEIVING ||
			     x->node[i].state == QUEUED) &&
			    x->node[i].deadline <= x->now &&
			    (first == FAB_NONE || is_before(x, i, first)))
				first = i;
		if (first == FAB_NONE)
			return;
		if (x->node[first].attempts++ < x->o->retries) {
			x->node[first].state = COMING;
			x->node[first].arrival =
				x->now + x->o->n_files * x->o->request_seconds;
			x->node[first].turn = x->turns++;
			x->out->n_retries++;
		} else {
			x->node[first].state = OVER;
			x->out->finish_s[first] = INFINITY;
			x->out->n_failed++;
		}
	}
}

static uint32_t n_served(const struct refill *x, uint32_t server)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->batch->n; i++)
		n += x->node[i].state == RECEIVING && server_of(x, i) == server;
	return n;
}

/* The node in a state with the lowest turn, of a server or all. */
static uint32_t first_in(const struct refill *x, enum state state, uint32_t server)
{
	uint32_t first = FAB_NONE;

	for (uint32_t i = 0; i < x->batch->n; i++)
		if (x->node[i].state == state &&
		    (state == QUEUED ? server_of(x, i) == server
				     : x->node[i].arrival <= x->now) &&
		    (first == FAB_NONE || x->node[i].turn < x->node[first].turn))
			first = i;
	return first;
}

static void admit(struct refill *x)
{
	for (uint32_t v = 0; v < x->m->n_servers && x->m->limits.connections; v++)
		while (n_served(x, v) < x->m->limits.connections) {
			uint32_t i = first_in(x, QUEUED, v);

			if (i == FAB_NONE)
				break;
			start(x, i);
		}
}

static void arrive(struct refill *x)
{
	uint32_t i;

	while ((i = first_in(x, COMING, 0)) != FAB_NONE) {
		if (x->o->timeout_seconds > 0)
			x->node[i].deadline = x->now + x->o->timeout_seconds;
		if (!x->m->limits.connections ||
		    n_served(x, server_of(x, i)) < x->m->limits.connections) {
			start(x, i);
		} else {
			x->node[i].state = QUEUED;
			x->node[i].turn = x->turns++;
		}
	}
}

/* When anything happens next. */
static double next_time(const struct refill *x)
{
	double next = INFINITY;

	for (uint32_t i = 0; i < x->batch->n; i++) {
		const struct node *n = &x->node[i];

		if (n->state == COMING)
			next = fmin(next, n->arrival);
		if (n->state == QUEUED || n->state == RECEIVING)
			next = fmin(next, n->deadline);
		if (n->state == RECEIVING)
			next = fmin(next, x->now + n->left / n->rate);
	}
	return next;
}

static void advance(struct refill *x, double to)
{
	for (uint32_t i = 0; i < x->batch->n; i++) {
		struct node *n = &x->node[i];

		if (n->state != RECEIVING)
			continue;
		n->left -= n->rate * (to - x->now);
		if (n->left <= x->image * 1e-9) {
			n->state = OVER;
			x->out->finish_s[i] = to;
		}
	}
	x->now = to;
}

struct fab_transfer refill_run(const struct fab_machine *m, const struct fab_batch *batch,
			       const uint32_t *interface_of,
			       const struct fab_transfer_options *options)
{
	struct fab_transfer out = {.finish_s = FAB_NEW0((size_t)batch->n + 1, double),
				   .first_rate_mbps = INFINITY};
	FAB_AUTOFREE struct refill *x = FAB_NEW0(1, struct refill);
	double last = options->n_files * options->request_seconds +
		      (batch->n - 1) * options->stagger_seconds;
	bool was_full = false;

	cr_assert_leq(batch->n, MAX_NODES);
	*x = (struct refill){.m = m,
			     .batch = batch,
			     .of = interface_of,
			     .o = options,
			     .image = (double)options->image_bytes * 8e-6,
			     .turns = batch->n,
			     .out = &out};
	for (uint32_t i = 0; i < batch->n; i++)
		x->node[i] = (struct node){.arrival = options->n_files *
							      options->request_seconds +
						      i * options->stagger_seconds,
					   .deadline = INFINITY,
					   .turn = i};
	for (double to = next_time(x); isfinite(to); to = next_time(x)) {
		advance(x, to);
		expire(x);
		admit(x);
		arrive(x);
		fill(x);
		if (to >= last && !was_full) {
			was_full = true;
			for (uint32_t i = 0; i < batch->n; i++)
				if (x->node[i].state == RECEIVING)
					out.first_rate_mbps = fmin(out.first_rate_mbps,
								   x->node[i].rate);
		}
	}
	return out;
}
