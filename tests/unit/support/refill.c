/* SPDX-License-Identifier: BSD-2-Clause */
#include "refill.h"

#include "support/test.h"

enum { MAX_NODES = 256 };
enum state { COMING, QUEUED, RECEIVING, OVER };

struct node {
	enum state state;
	uint32_t id, interface, server, attempts;
	double cap, arrival, deadline, left, rate;
	uint64_t turn; /* of nodes that come, or have started, the lower first */
	bool is_frozen;
};

/* Segments in both directions, disks of servers and nodes are pipes. */
struct refill {
	const struct fab_machine *m;
	const struct fab_transfer_options *o;
	struct node node[MAX_NODES];
	uint32_t n, n_pipes;
	bool *is_on;	  /* [n_pipes][n] */
	double *capacity; /* [n_pipes] */
	double now, image;
	uint64_t turns;
	struct fab_transfer *out;
};

/* Is a node's path through the pipe? Of segment v the pipe 2 v leads down, the next up.
 */
static bool is_through(const struct refill *x, const struct node *n, uint32_t pipe)
{
	const struct fab_machine *m = x->m;
	uint32_t v = pipe / 2, disk = pipe - 2 * m->n_vertices;
	bool in, sv;

	if (v >= m->n_vertices)
		return disk < m->n_servers ? disk == n->server
					   : disk - m->n_servers == n - x->node;
	in = n->id >= m->first_node[v] && n->id < m->end_node[v];
	sv = n->interface >= m->first_interface[v] && n->interface < m->end_interface[v];
	return in != sv && sv == (pipe & 1);
}

static double capacity_of(const struct refill *x, uint32_t pipe)
{
	const struct fab_machine *m = x->m;
	uint32_t disk = pipe - 2 * m->n_vertices;

	if (pipe / 2 < m->n_vertices)
		return m->capacity_mbps[pipe / 2];
	if (disk >= m->n_servers)
		return x->node[disk - m->n_servers].cap;
	return m->limits.disk_mbps > 0 ? m->limits.disk_mbps : (double)INFINITY;
}

/* All rates anew: the pipe that is full next gives its level to those that have none. */
static void fill(struct refill *x)
{
	double level;

	for (uint32_t i = 0; i < x->n; i++) {
		x->node[i].is_frozen = x->node[i].state != RECEIVING;
		x->node[i].rate = 0;
	}
	do {
		const bool *is_on = NULL;

		level = INFINITY;
		for (uint32_t p = 2; p < x->n_pipes; p++) {
			const bool *on = x->is_on + (size_t)p * x->n;
			double left = x->capacity[p], n = 0;

			for (uint32_t i = 0; i < x->n; i++) {
				left -= on[i] ? x->node[i].rate : 0;
				n += on[i] && !x->node[i].is_frozen;
			}
			if (n > 0 && fmax(0, left / n) < level) {
				level = fmax(0, left / n);
				is_on = on;
			}
		}
		for (uint32_t i = 0; i < x->n && is_on; i++)
			if (is_on[i] && !x->node[i].is_frozen) {
				x->node[i].is_frozen = true;
				x->node[i].rate = level;
			}
	} while (isfinite(level));
}

static void start(struct refill *x, struct node *n)
{
	n->state = RECEIVING;
	n->left = x->image;
	n->turn = x->turns++;
}

/* Of nodes that do the same at one time, the one with the lower key is first. */
static bool is_before(const struct refill *x, const struct node *a, const struct node *b)
{
	double key[2][5];

	for (int k = 0; k < 2; k++) {
		const struct node *n = k ? b : a;
		const double receives[] = {0, x->m->parent[x->m->node_vertex[n->id]],
					   n->interface, n->cap, (double)n->turn};
		const double waits[] = {1, n->server, (double)n->turn, 0, 0};

		memcpy(key[k], n->state == RECEIVING ? receives : waits, sizeof(key[k]));
	}
	for (int i = 0; i < 4; i++)
		if (key[0][i] < key[1][i] || key[0][i] > key[1][i])
			return key[0][i] < key[1][i];
	return key[0][4] < key[1][4];
}

static void expire(struct refill *x)
{
	for (;;) {
		struct node *first = NULL;

		for (struct node *n = x->node; n < x->node + x->n; n++)
			if ((n->state == RECEIVING || n->state == QUEUED) &&
			    n->deadline <= x->now && (!first || is_before(x, n, first)))
				first = n;
		if (!first)
			return;
		if (first->attempts++ < x->o->retries) {
			first->state = COMING;
			first->arrival = x->now + x->o->n_files * x->o->request_seconds;
			first->turn = x->turns++;
			x->out->n_retries++;
		} else {
			first->state = OVER;
			x->out->finish_s[first - x->node] = INFINITY;
			x->out->n_failed++;
		}
	}
}

static bool has_room(const struct refill *x, uint32_t server)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n; i++)
		n += x->node[i].state == RECEIVING && x->node[i].server == server;
	return !x->m->limits.connections || n < x->m->limits.connections;
}

/* The first that waits for the server, or of all that have come. */
static struct node *first_in(struct refill *x, enum state state, uint32_t server)
{
	struct node *first = NULL;

	for (struct node *n = x->node; n < x->node + x->n; n++)
		if (n->state == state && (!first || n->turn < first->turn) &&
		    (state == QUEUED ? n->server == server : n->arrival <= x->now))
			first = n;
	return first;
}

static void admit(struct refill *x)
{
	struct node *n;

	for (uint32_t v = 0; v < x->m->n_servers; v++)
		while (has_room(x, v) && (n = first_in(x, QUEUED, v)))
			start(x, n);
	while ((n = first_in(x, COMING, 0))) {
		if (x->o->timeout_seconds > 0)
			n->deadline = x->now + x->o->timeout_seconds;
		if (has_room(x, n->server)) {
			start(x, n);
		} else {
			n->state = QUEUED;
			n->turn = x->turns++;
		}
	}
}

/* When anything happens next. */
static double next_time(const struct refill *x)
{
	double next = INFINITY;

	for (const struct node *n = x->node; n < x->node + x->n; n++) {
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
	for (uint32_t i = 0; i < x->n; i++) {
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
	struct refill x = {.m = m,
			   .o = options,
			   .n = batch->n,
			   .n_pipes = 2 * m->n_vertices + m->n_servers + batch->n,
			   .image = (double)options->image_bytes * 8e-6,
			   .now = -1,
			   .turns = batch->n,
			   .out = &out};
	double last = 0, flow = m->limits.flow_mbps;

	cr_assert_leq(batch->n, MAX_NODES);
	for (uint32_t i = 0; i < x.n; i++) {
		uint32_t id = batch->node[i], interface = interface_of[id];
		double cap = m->capacity_mbps[m->node_vertex[id]];

		last = options->n_files * options->request_seconds +
		       i * options->stagger_seconds;
		x.node[i] = (struct node){.id = id,
					  .interface = interface,
					  .server = m->interface_server[interface],
					  .cap = flow > 0 ? fmin(cap, flow) : cap,
					  .arrival = last,
					  .deadline = INFINITY,
					  .turn = i};
	}
	x.is_on = FAB_NEW((size_t)x.n_pipes * x.n, bool);
	x.capacity = FAB_NEW(x.n_pipes, double);
	for (uint32_t p = 0; p < x.n_pipes; p++) {
		x.capacity[p] = capacity_of(&x, p);
		for (uint32_t i = 0; i < x.n; i++)
			x.is_on[p * x.n + i] = is_through(&x, &x.node[i], p);
	}
	for (double to = next_time(&x); isfinite(to); to = next_time(&x)) {
		bool was_full = x.now >= last;

		advance(&x, to);
		expire(&x);
		admit(&x);
		fill(&x);
		for (uint32_t i = 0; i < x.n && to >= last && !was_full; i++)
			if (x.node[i].state == RECEIVING)
				out.first_rate_mbps =
					fmin(out.first_rate_mbps, x.node[i].rate);
	}
	FAB_FREE_ALL(x.is_on, x.capacity);
	return out;
}
