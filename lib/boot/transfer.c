/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/transfer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Nodes that are treated alike at any time. */
struct class
{
	uint32_t parent, interface;
	double cap_mbps;
	uint32_t first, n;     /* its nodes in `member` */
	uint32_t next, done;   /* members started, members finished */
	double rate, received; /* Mb/s; Mbit that a member since time 0 would have */
	bool is_frozen;
};

/* A segment with the classes that use it. */
struct pipe {
	double capacity, frozen;
	uint32_t first, n, active;
};

struct entry {
	double level;
	uint32_t pipe;
};

struct member {
	uint32_t at;   /* in the batch */
	double target; /* `received` of its class when it is done */
};

struct simulation {
	const struct fab_machine *m;
	const struct fab_batch *batch;
	const struct fab_transfer_options *o;
	double image_mbit;
	struct class *class;
	uint32_t n_classes;
	struct member *member; /* [batch->n] class by class */
	uint32_t *class_of;    /* [batch->n] */
	struct pipe *pipe;     /* down, up of every vertex, then disks */
	uint32_t n_pipes;
	uint32_t *user;	  /* classes of the pipes */
	uint32_t *by_cap; /* classes by ascending cap */
	struct entry *heap;
	uint32_t n_heap;
	uint32_t *connections;		   /* [n_servers] */
	uint32_t *queue_next;		   /* [batch->n] */
	uint32_t *queue_head, *queue_tail; /* [n_servers] */
	double now;
};

double fab_transfer_tftp_mbps(uint32_t block_bytes, uint32_t window_blocks,
			      double rtt_seconds)
{
	return 8e-6 * block_bytes * window_blocks / rtt_seconds;
}

struct key {
	uint32_t parent, interface, at;
	double cap;
};

static int cmp_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->interface != y->interface)
		return x->interface < y->interface ? -1 : 1;
	if (x->cap < y->cap || x->cap > y->cap)
		return x->cap < y->cap ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void make_classes(struct simulation *s, const uint32_t *interface_of)
{
	const struct fab_machine *m = s->m;
	uint32_t n = s->batch->n;
	struct key *key = FAB_NEW((size_t)n + 1, struct key);

	s->class = FAB_NEW((size_t)n + 1, struct class);
	s->member = FAB_NEW((size_t)n + 1, struct member);
	s->class_of = FAB_NEW((size_t)n + 1, uint32_t);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = s->batch->node[i], v = m->node_vertex[node];
		double cap = m->capacity_mbps[v];

		if (s->o->flow_cap_mbps > 0)
			cap = fmin(cap, s->o->flow_cap_mbps);
		key[i] = (struct key){m->parent[v], interface_of[node], i, cap};
	}
	qsort(key, n, sizeof(*key), cmp_key);
	for (uint32_t i = 0; i < n; i++) {
		struct class *c = s->n_classes ? &s->class[s->n_classes - 1] : NULL;

		if (!c || c->parent != key[i].parent ||
		    c->interface != key[i].interface || c->cap_mbps < key[i].cap) {
			c = &s->class[s->n_classes++];
			*c = (struct class){.parent = key[i].parent,
					    .interface = key[i].interface,
					    .cap_mbps = key[i].cap,
					    .first = i};
		}
		c->n++;
		s->member[i].at = key[i].at;
		s->class_of[key[i].at] = s->n_classes - 1;
	}
	free(key);
}

/* The pipes of a class: down segments, up segments, disk. */
static uint32_t path_of(const struct simulation *s, const struct class *c,
			uint32_t pipes[2 * FAB_MACHINE_LEVELS_MAX + 2])
{
	const struct fab_machine *m = s->m;
	uint32_t a = c->parent, v = m->interface_vertex[c->interface], n = 0;

	while (a != v) {
		uint32_t *at = a > v ? &a : &v;

		if (isfinite(m->capacity_mbps[*at]))
			pipes[n++] = 2 * *at + (at == &v);
		*at = m->parent[*at];
	}
	if (s->o->server_disk_mbps > 0)
		pipes[n++] = 2 * m->n_vertices + m->interface_server[c->interface];
	return n;
}

static void make_pipes(struct simulation *s)
{
	const struct fab_machine *m = s->m;
	uint32_t on[2 * FAB_MACHINE_LEVELS_MAX + 2], total = 0;

	s->n_pipes = 2 * m->n_vertices + m->n_servers;
	s->pipe = FAB_NEW0(s->n_pipes, struct pipe);
	for (uint32_t p = 0; p < s->n_pipes; p++)
		s->pipe[p].capacity = p < 2 * m->n_vertices ? m->capacity_mbps[p / 2]
							    : s->o->server_disk_mbps;
	for (uint32_t c = 0; c < s->n_classes; c++)
		for (uint32_t n = path_of(s, &s->class[c], on), k = 0; k < n; k++)
			s->pipe[on[k]].n++;
	for (uint32_t p = 0; p < s->n_pipes; p++) {
		s->pipe[p].first = total;
		total += s->pipe[p].n;
		s->pipe[p].n = 0;
	}
	s->user = FAB_NEW((size_t)total + 1, uint32_t);
	for (uint32_t c = 0; c < s->n_classes; c++)
		for (uint32_t n = path_of(s, &s->class[c], on), k = 0; k < n; k++) {
			struct pipe *p = &s->pipe[on[k]];

			s->user[p->first + p->n++] = c;
		}
}

struct cap {
	double cap;
	uint32_t class;
};

static int cmp_cap(const void *a, const void *b)
{
	const struct cap *x = a, *y = b;

	if (x->cap < y->cap || x->cap > y->cap)
		return x->cap < y->cap ? -1 : 1;
	return x->class < y->class ? -1 : x->class > y->class;
}

static void sort_caps(struct simulation *s)
{
	struct cap *cap = FAB_NEW((size_t)s->n_classes + 1, struct cap);

	for (uint32_t c = 0; c < s->n_classes; c++)
		cap[c] = (struct cap){s->class[c].cap_mbps, c};
	qsort(cap, s->n_classes, sizeof(*cap), cmp_cap);
	s->by_cap = FAB_NEW((size_t)s->n_classes + 1, uint32_t);
	for (uint32_t c = 0; c < s->n_classes; c++)
		s->by_cap[c] = cap[c].class;
	free(cap);
}

static void sift_down(struct simulation *s, uint32_t i)
{
	for (;;) {
		uint32_t k = 2 * i + 1;
		struct entry swap;

		if (k >= s->n_heap)
			return;
		k += k + 1 < s->n_heap && s->heap[k + 1].level < s->heap[k].level;
		if (s->heap[i].level <= s->heap[k].level)
			return;
		swap = s->heap[i];
		s->heap[i] = s->heap[k];
		s->heap[k] = swap;
		i = k;
	}
}

static uint32_t active(const struct class *c)
{
	return c->next - c->done;
}

static void freeze(struct simulation *s, struct class *c, double level)
{
	uint32_t on[2 * FAB_MACHINE_LEVELS_MAX + 2], n = path_of(s, c, on);

	c->is_frozen = true;
	c->rate = level;
	for (uint32_t k = 0; k < n; k++) {
		s->pipe[on[k]].active -= active(c);
		s->pipe[on[k]].frozen += level * active(c);
	}
}

static double level_of(const struct pipe *p)
{
	return fmax(0, (p->capacity - p->frozen) / p->active);
}

static void start_filling(struct simulation *s)
{
	uint32_t on[2 * FAB_MACHINE_LEVELS_MAX + 2];

	for (uint32_t p = 0; p < s->n_pipes; p++)
		s->pipe[p].active = 0;
	for (uint32_t i = 0; i < s->n_classes; i++) {
		struct class *c = &s->class[i];

		c->is_frozen = !active(c);
		c->rate = 0;
		if (c->is_frozen)
			continue;
		for (uint32_t n = path_of(s, c, on), k = 0; k < n; k++)
			s->pipe[on[k]].active += active(c);
	}
	s->n_heap = 0;
	for (uint32_t p = 0; p < s->n_pipes; p++) {
		s->pipe[p].frozen = 0;
		if (s->pipe[p].active)
			s->heap[s->n_heap++] = (struct entry){level_of(&s->pipe[p]), p};
	}
	for (uint32_t i = s->n_heap / 2; i-- > 0;)
		sift_down(s, i);
}

/*
 * Progressive filling (Bertsekas, Gallager, Data Networks, 6.5.2): all rates rise
 * together until a segment is full or a class has its cap; what uses it stays there. The
 * level of a segment only rises while others freeze, so that an old entry of the heap is
 * never too high.
 */
static void fill(struct simulation *s)
{
	uint32_t next_cap = 0;

	start_filling(s);
	for (;;) {
		struct pipe *p = s->n_heap ? &s->pipe[s->heap[0].pipe] : NULL;
		struct class *c = NULL;

		while (next_cap < s->n_classes && s->class[s->by_cap[next_cap]].is_frozen)
			next_cap++;
		if (next_cap < s->n_classes)
			c = &s->class[s->by_cap[next_cap]];
		if (p && (!p->active || level_of(p) > s->heap[0].level)) {
			if (p->active)
				s->heap[0].level = level_of(p);
			else
				s->heap[0] = s->heap[--s->n_heap];
			sift_down(s, 0);
			continue;
		}
		if (!p && !c)
			return;
		if (c && (!p || c->cap_mbps <= s->heap[0].level)) {
			freeze(s, c, c->cap_mbps);
			continue;
		}
		for (uint32_t k = 0; k < p->n; k++) {
			struct class *user = &s->class[s->user[p->first + k]];

			if (!user->is_frozen)
				freeze(s, user, s->heap[0].level);
		}
	}
}

static void start_node(struct simulation *s, uint32_t at)
{
	struct class *c = &s->class[s->class_of[at]];
	struct member *member = &s->member[c->first + c->next++];

	member->at = at;
	member->target = c->received + s->image_mbit;
	s->connections[s->m->interface_server[c->interface]]++;
}

/* A node asks its server: it starts, or waits for a connection. */
static void arrive(struct simulation *s, uint32_t at)
{
	uint32_t server = s->m->interface_server[s->class[s->class_of[at]].interface];

	if (!s->o->server_connections ||
	    s->connections[server] < s->o->server_connections) {
		start_node(s, at);
		return;
	}
	s->queue_next[at] = FAB_NONE;
	if (s->queue_head[server] == FAB_NONE)
		s->queue_head[server] = at;
	else
		s->queue_next[s->queue_tail[server]] = at;
	s->queue_tail[server] = at;
}

/* When the next member of any class is done. */
static double next_finish(const struct simulation *s)
{
	double least = INFINITY;

	for (uint32_t i = 0; i < s->n_classes; i++) {
		const struct class *c = &s->class[i];

		if (active(c))
			least = fmin(least, (s->member[c->first + c->done].target -
					     c->received) /
						    c->rate);
	}
	return s->now + least;
}

static void advance(struct simulation *s, double to)
{
	for (uint32_t i = 0; i < s->n_classes; i++)
		s->class[i].received += s->class[i].rate * (to - s->now);
	s->now = to;
}

static void finish_members(struct simulation *s, struct fab_transfer *out)
{
	double slack = s->image_mbit * 1e-9;

	for (uint32_t i = 0; i < s->n_classes; i++) {
		struct class *c = &s->class[i];
		uint32_t server = s->m->interface_server[c->interface];

		while (active(c) &&
		       s->member[c->first + c->done].target <= c->received + slack) {
			out->finish_s[s->member[c->first + c->done].at] = s->now;
			c->done++;
			s->connections[server]--;
		}
	}
	for (uint32_t v = 0; v < s->m->n_servers && s->o->server_connections; v++)
		while (s->queue_head[v] != FAB_NONE &&
		       s->connections[v] < s->o->server_connections) {
			uint32_t at = s->queue_head[v];

			s->queue_head[v] = s->queue_next[at];
			start_node(s, at);
		}
}

static int cmp_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void sum_up(const struct fab_batch *batch, struct fab_transfer *out)
{
	double *sorted = FAB_NEW((size_t)batch->n + 1, double);

	out->slowest_node = FAB_NONE;
	for (uint32_t i = 0; i < batch->n; i++) {
		sorted[i] = out->finish_s[i];
		if (out->slowest_node == FAB_NONE || out->finish_s[i] > out->last_s) {
			out->last_s = out->finish_s[i];
			out->slowest_node = batch->node[i];
		}
	}
	qsort(sorted, batch->n, sizeof(*sorted), cmp_double);
	if (batch->n) {
		out->first_s = sorted[0];
		out->median_s = sorted[batch->n / 2];
	}
	free(sorted);
}

static void simulate(struct simulation *s, struct fab_transfer *out)
{
	double requests = s->o->n_files * s->o->request_seconds;
	uint32_t arrived = 0, n = s->batch->n;

	out->first_rate_mbps = INFINITY;
	for (uint64_t finished = 0;;) {
		double arrival = arrived < n ? requests + arrived * s->o->stagger_seconds
					     : INFINITY;
		double finish = next_finish(s);

		if (!isfinite(arrival) && !isfinite(finish))
			break;
		advance(s, fmin(arrival, finish));
		if (finish <= s->now * (1 + 1e-12))
			finish_members(s, out);
		while (arrived < n &&
		       requests + arrived * s->o->stagger_seconds <= s->now)
			arrive(s, arrived++);
		fill(s);
		out->n_events++;
		if (arrived == n && !finished++)
			for (uint32_t i = 0; i < s->n_classes; i++)
				if (active(&s->class[i]))
					out->first_rate_mbps = fmin(out->first_rate_mbps,
								    s->class[i].rate);
	}
}

int fab_transfer_run(const struct fab_machine *m, const struct fab_batch *batch,
		     const uint32_t *interface_of,
		     const struct fab_transfer_options *options, struct fab_transfer *out,
		     struct fab_err *err)
{
	struct simulation s = {.m = m, .batch = batch, .o = options};

	for (uint32_t i = 0; i < batch->n; i++)
		if (interface_of[batch->node[i]] >= m->n_interfaces)
			return fab_fail(err, EINVAL, "a node of the batch has no server");
	s.image_mbit = (double)options->image_bytes * 8e-6 / options->efficiency;
	*out = (struct fab_transfer){.finish_s = FAB_NEW0((size_t)batch->n + 1, double)};
	make_classes(&s, interface_of);
	make_pipes(&s);
	sort_caps(&s);
	s.heap = FAB_NEW((size_t)s.n_pipes + 1, struct entry);
	s.connections = FAB_NEW0(m->n_servers, uint32_t);
	s.queue_next = FAB_NEW((size_t)batch->n + 1, uint32_t);
	s.queue_head = FAB_NEW(m->n_servers, uint32_t);
	s.queue_tail = FAB_NEW(m->n_servers, uint32_t);
	for (uint32_t v = 0; v < m->n_servers; v++)
		s.queue_head[v] = FAB_NONE;
	simulate(&s, out);
	sum_up(batch, out);
	free(s.class);
	free(s.member);
	free(s.class_of);
	free(s.pipe);
	free(s.user);
	free(s.by_cap);
	free(s.heap);
	free(s.connections);
	free(s.queue_next);
	free(s.queue_head);
	free(s.queue_tail);
	return 0;
}

void fab_transfer_fini(struct fab_transfer *t)
{
	free(t->finish_s);
	*t = (struct fab_transfer){0};
}

double fab_transfer_equal_share_seconds(const struct fab_machine *m,
					const struct fab_batch *batch,
					const uint32_t *interface_of,
					const struct fab_share *share,
					const struct fab_transfer_options *options)
{
	double rate = share->bandwidth_mbps;
	uint32_t *of_server = FAB_NEW0(m->n_servers, uint32_t), most = 1;

	for (uint32_t i = 0; i < batch->n; i++) {
		uint32_t server = m->interface_server[interface_of[batch->node[i]]];

		if (++of_server[server] > most)
			most = of_server[server];
	}
	free(of_server);
	if (options->server_disk_mbps > 0)
		rate = fmin(rate, options->server_disk_mbps / most);
	if (options->flow_cap_mbps > 0)
		rate = fmin(rate, options->flow_cap_mbps);
	return options->n_files * options->request_seconds +
	       (double)options->image_bytes * 8e-6 / options->efficiency / rate;
}
