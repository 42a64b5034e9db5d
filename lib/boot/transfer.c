/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transfers through time: nodes ask their server, wait for a connection, receive at
 * max-min fair rates, are done or give up.
 *
 * Nodes with the same path, capacity and image are a class; they are done in the order in
 * which they start. A pipe is a segment in one direction, or a disk. Its level is the
 * rate that it leaves to the classes that nothing else holds back further; a class
 * receives at the least level of its pipes or at its own capacity. The rates are max-min
 * fair (Bertsekas, Gallager, Data Networks, 6.5.2) when each level fills its pipe, given
 * the other levels. So one rule is enough: a pipe whose classes changed, or another level
 * of one of them, computes its level again. This ends, as the lowest levels become final
 * first (Charny, Clark, Jain 1995).
 */
#include "boot/transfer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/order.h"
#include "base/queues.h"
#include "boot/impl.h"
#include "event/schedule.h"
#include "event/stats.h"

/* Events in the order in which they happen at one time. The item is the node. */
enum { EXPIRY, ARRIVAL, ARRIVAL_AGAIN };

enum {
	PATH_MAX_PIPES = 2 * FAB_MACHINE_LEVELS_MAX + 2,
	MANY = 1000 /* levels of each pipe computed after an event; tests need up to 10 */
};

/* Transfers end together when one lacks no more than this part of the image. */
#define EPSILON 1e-9
/* Part of the time by which such ends differ at most. */
#define SAME_TIME 1e-8
/* Levels that differ by less are equal. */
#define SAME 1e-12
/* A pipe with a smaller part of its capacity free may be full: sums are rounded. */
#define SPARE 1e-6

struct member {
	uint32_t at;   /* in the batch */
	double target; /* clock of the class when it is done */
};

struct class
{
	double cap_mbps, rate, image_mbit;
	double clock, since;	 /* Mbit that a member received since time 0, at a time */
	uint32_t first, n;	 /* its nodes in `member` */
	uint32_t next, done;	 /* members started, members finished, ever */
	uint32_t first_on, n_on; /* its pipes in `on` */
	bool is_touched;
};

struct pipe {
	double capacity, level;	      /* INFINITY: not full */
	double load;		      /* of a pipe that is not full, but for rounding */
	uint32_t first_user, n_users; /* its classes in `user` */
	bool is_dirty;
};

/* A class on a pipe: the rate that the rest of its path allows, and its nodes. */
struct use {
	double elsewhere;
	uint32_t n;
};

struct simulation {
	const struct fab_machine *m;
	const struct fab_batch *batch;
	const uint32_t *interface_of;
	const struct fab_transfer_options *o;
	struct fab_arena arena;
	double now, image_mbit;

	struct class *class;
	struct member *member; /* [batch->n] class by class */
	uint32_t *class_of;    /* [batch->n] */
	struct pipe *pipe;
	uint32_t n_classes, n_pipes;
	uint32_t *on;	   /* pipes of the classes */
	uint32_t *user;	   /* classes of the pipes */
	struct use *use;   /* room for the classes of a pipe */
	uint32_t *touched; /* [n_classes] classes with other levels, n_touched of them */
	uint32_t
		*dirty; /* [n_pipes] pipes to compute: n_dirty in turn from first_dirty */
	uint32_t n_touched, first_dirty, n_dirty;
	/* [2 * n_leaves] binary tree of the times at which classes have their next member
	 * done: leaves behind inner vertices, each the least of its two */
	double *finish;
	uint32_t n_leaves;

	uint32_t *connections;	      /* [n_servers] */
	struct fab_queues queues;     /* nodes that wait for each server */
	FAB_VEC(uint32_t) ending;     /* classes of which a node may be done */
	FAB_VEC(uint32_t) freed;      /* servers that may have connections left */
	FAB_VEC(double) finishes;     /* times at which nodes were done, in order */
	uint32_t arrived;	      /* nodes that have asked a first time */
	double *deadline;	      /* [batch->n] when it gives up; INFINITY: never */
	uint32_t *attempts;	      /* [batch->n] that were given up */
	struct fab_schedule schedule; /* times: fab_time_of_seconds() */
};

/* ---- classes and pipes of a batch ---- */

/* A node by the vertex above it: pipes of a path come from there. */
struct key {
	uint32_t parent, interface, at;
	uint32_t node; /* vertex; 0: its links are those of the others here */
	double cap, part;
};

FAB_ORDER_MIXED(by_path, struct key,
		FAB_UP(parent) FAB_UP(interface) FAB_UP(node) FAB_UP(cap) FAB_UP(part)
			FAB_UP(at))

/* The links that can be full between what is above a node and an interface: down 2 *
 * link, up 2 * link + 1, disks behind them. inflow[2 * n_vertices]: most that a segment
 * gets from those next to it on the way. */
static uint32_t path_of(const struct fab_machine *m, const double *inflow,
			const struct key *key, uint32_t pipes[PATH_MAX_PIPES])
{
	uint32_t from = m->interface_vertex[key->interface], n = 0;

	for (struct fab_climb c = {key->parent, from}; fab_climb_next(&c, m);)
		if (inflow[2 * c.at + c.is_up] > fab_link_mbps(m, c.at))
			pipes[n++] = 2 * fab_link_of(m, c.at, key->node, from) + c.is_up;
	if (m->limits.disk_mbps > 0)
		pipes[n++] = 2 * m->n_vertices * fab_links_most(m) +
			     m->interface_server[key->interface];
	return n;
}

/* Keys of the nodes of the batch, in order; the caller frees. */
static struct key *keys_of(const struct simulation *s)
{
	const struct fab_machine *m = s->m;
	uint32_t n = s->batch->n;
	struct key *key = FAB_NEW((size_t)n + 1, struct key);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = s->batch->node[i], v = m->node_vertex[node];
		double cap = fab_link_mbps(m, v);

		if (m->limits.flow_mbps > 0)
			cap = fmin(cap, m->limits.flow_mbps);
		key[i] = (struct key){.parent = m->parent[v],
				      .interface = s->interface_of[node],
				      .at = i,
				      .node = fab_links_most(m) > 1 ? v : 0,
				      .cap = cap,
				      .part = fab_machine_part(m, node)};
	}
	qsort(key, n, sizeof(*key), by_path);
	return key;
}

/* The inflow of path_of(); the caller frees. */
static double *inflow_of(const struct fab_machine *m)
{
	double *inflow = FAB_NEW0(2 * (size_t)m->n_vertices, double);

	for (uint32_t v = m->n_vertices; v-- > 1;) {
		bool has_nodes = m->end_node[v] > m->first_node[v];
		bool is_interface = m->end_interface[v] > m->first_interface[v];
		double *up = &inflow[2 * v + 1];

		/* an interface sends as much as it can */
		if (is_interface && !(*up > 0))
			*up = INFINITY;
		inflow[2 * m->parent[v]] += has_nodes ? m->capacity_mbps[v] : 0;
		inflow[2 * m->parent[v] + 1] += is_interface ? m->capacity_mbps[v] : 0;
	}
	return inflow;
}

/* The classes of each pipe, once the pipes of each class are known. */
static void make_users(struct simulation *s, size_t n_on)
{
	uint32_t at = 0;

	s->user = FAB_ARENA_NEW(&s->arena, n_on + 1, uint32_t);
	for (uint32_t p = 0; p < s->n_pipes; p++) {
		s->pipe[p].first_user = at;
		at += s->pipe[p].n_users;
		s->pipe[p].n_users = 0;
	}
	for (uint32_t i = 0; i < s->n_classes; i++)
		for (uint32_t k = 0; k < s->class[i].n_on; k++) {
			struct pipe *p = &s->pipe[s->on[s->class[i].first_on + k]];

			s->user[p->first_user + p->n_users++] = i;
		}
}

/* Nodes of a batch as members of classes, in the order of their keys. */
static void make_classes(struct simulation *s)
{
	const struct fab_machine *m = s->m;
	uint32_t n = s->batch->n, raw[PATH_MAX_PIPES];
	uint32_t most = fab_links_most(m), n_links = m->n_vertices * most;
	uint32_t n_raw = 2 * n_links + m->n_servers;
	FAB_AUTOFREE uint32_t *number = fab_none_new(n_raw);
	FAB_AUTOFREE struct key *key = keys_of(s);
	FAB_AUTOFREE double *inflow = inflow_of(m);
	FAB_VEC(struct class) classes = {0};
	FAB_VEC(struct pipe) pipes = {0};
	FAB_VEC(uint32_t) on = {0};

	s->class_of = FAB_ARENA_NEW(&s->arena, (size_t)n + 1, uint32_t);
	for (uint32_t i = 0; i < n; i++) {
		if (!i || key[i - 1].parent < key[i].parent ||
		    key[i - 1].interface != key[i].interface ||
		    key[i - 1].node != key[i].node || key[i - 1].cap < key[i].cap ||
		    key[i - 1].part < key[i].part) {
			struct class c = {.cap_mbps = key[i].cap,
					  .image_mbit = s->image_mbit * key[i].part,
					  .first = i};

			c.first_on = (uint32_t)on.n;
			c.n_on = path_of(m, inflow, &key[i], raw);
			FAB_PUSH(&classes, c);
			for (uint32_t k = 0; k < c.n_on; k++) {
				uint32_t *p = &number[raw[k]];
				double capacity =
					raw[k] < 2 * n_links
						? fab_link_mbps(m, raw[k] / 2 / most)
						: m->limits.disk_mbps;

				if (*p == FAB_NONE) {
					*p = (uint32_t)pipes.n;
					FAB_PUSH(&pipes,
						 ((struct pipe){.capacity = capacity,
								.level = INFINITY}));
				}
				FAB_PUSH(&on, *p);
				pipes.v[*p].n_users++;
			}
		}
		classes.v[classes.n - 1].n++;
		s->class_of[key[i].at] = (uint32_t)classes.n - 1;
	}
	s->class = classes.v;
	s->n_classes = (uint32_t)classes.n;
	s->pipe = pipes.v;
	s->n_pipes = (uint32_t)pipes.n;
	s->on = on.v;
	fab_arena_own(&s->arena, free, classes.v);
	fab_arena_own(&s->arena, free, pipes.v);
	fab_arena_own(&s->arena, free, on.v);
	make_users(s, on.n);
}

/* ---- rates ---- */

static uint32_t active(const struct class *c)
{
	return c->next - c->done;
}

/* The member of a class that started as number k; one that is done makes room. */
static struct member *member_of(const struct simulation *s, const struct class *c,
				uint32_t k)
{
	return &s->member[c->first + k % c->n];
}

static double clock_of(const struct simulation *s, const struct class *c)
{
	return s->now > c->since && isfinite(c->rate)
		       ? c->clock + c->rate * (s->now - c->since)
		       : c->clock;
}

/* Time at which the next member of a class is done. */
static void set_finish(struct simulation *s, uint32_t class)
{
	const struct class *c = &s->class[class];
	uint32_t at = s->n_leaves + class;
	double finish = INFINITY;

	if (active(c)) {
		double left = member_of(s, c, c->done)->target - clock_of(s, c);

		finish = left > 0 && isfinite(c->rate) ? s->now + left / c->rate : s->now;
	}
	s->finish[at] = finish;
	for (at /= 2; at; at /= 2) {
		double a = s->finish[2 * at], b = s->finish[2 * at + 1];
		double least = a < b ? a : b;

		if (s->finish[at] <= least && s->finish[at] >= least)
			break;
		s->finish[at] = least;
	}
}

/* Has the node of a class that started first its image? */
static bool has_done(const struct simulation *s, const struct class *c)
{
	return active(c) &&
	       (isinf(c->rate) || member_of(s, c, c->done)->target <=
					  clock_of(s, c) + c->image_mbit * EPSILON);
}

static void touch(struct simulation *s, uint32_t class)
{
	if (!s->class[class].is_touched)
		s->touched[s->n_touched++] = class;
	s->class[class].is_touched = true;
}

/* The least level of a class's pipes but one (FAB_NONE: of all), or its own capacity. */
static double rate_without(const struct simulation *s, const struct class *c,
			   uint32_t pipe)
{
	double rate = c->cap_mbps;

	for (uint32_t k = 0; k < c->n_on; k++) {
		uint32_t p = s->on[c->first_on + k];

		if (p != pipe && s->pipe[p].level < rate)
			rate = s->pipe[p].level;
	}
	return rate;
}

/* A pipe is to be computed, unless it was not full and is not with `more` load. */
static void mark(struct simulation *s, uint32_t pipe, double more)
{
	struct pipe *p = &s->pipe[pipe];

	p->load += more;
	if (p->is_dirty || (isinf(p->level) && p->load < p->capacity * (1 - SPARE)))
		return;
	p->is_dirty = true;
	s->dirty[(s->first_dirty + s->n_dirty++) % s->n_pipes] = pipe;
}

/* A class has some members more, or less. */
static void change(struct simulation *s, uint32_t class, double more)
{
	const struct class *c = &s->class[class];
	/* the rate of a class without members is an earlier one */
	double rate = more < 0 ? c->rate : rate_without(s, c, FAB_NONE);

	touch(s, class);
	for (uint32_t k = 0; k < c->n_on; k++)
		mark(s, s->on[c->first_on + k], more * rate);
}

/* The level that fills a pipe: classes that are held back further elsewhere take what
 * they can, the others share the rest; INFINITY: there are no others. */
static double level_of(struct simulation *s, uint32_t pipe)
{
	struct pipe *p = &s->pipe[pipe];
	double left = p->capacity;
	uint64_t n = 0;
	uint32_t n_left = 0, was;

	p->load = 0;
	for (uint32_t i = 0; i < p->n_users; i++) {
		const struct class *c = &s->class[s->user[p->first_user + i]];
		double elsewhere;

		if (!active(c))
			continue;
		elsewhere = rate_without(s, c, pipe);
		n += active(c);
		p->load += active(c) * elsewhere;
		s->use[n_left++] = (struct use){elsewhere, active(c)};
	}
	do {
		double fair = left / (double)n;

		was = n_left;
		n_left = 0;
		for (uint32_t i = 0; i < was; i++)
			if (s->use[i].elsewhere < fair) {
				left -= s->use[i].elsewhere * s->use[i].n;
				n -= s->use[i].n;
			} else {
				s->use[n_left++] = s->use[i];
			}
	} while (n_left && n_left < was);
	return n_left ? left / (double)n : (double)INFINITY;
}

/* Other pipes of its classes follow a level where it is, or was, below theirs. */
static void set_level(struct simulation *s, uint32_t pipe, double level)
{
	struct pipe *p = &s->pipe[pipe];
	double before = p->level, least = fmin(level, before);

	p->level = level;
	for (uint32_t i = 0; i < p->n_users; i++) {
		uint32_t class = s->user[p->first_user + i];
		const struct class *c = &s->class[class];
		double elsewhere, more;

		if (!active(c) || (elsewhere = rate_without(s, c, pipe)) <= least)
			continue;
		touch(s, class);
		more = active(c) * (fmin(elsewhere, level) - fmin(elsewhere, before));
		for (uint32_t k = 0; k < c->n_on; k++) {
			uint32_t other = s->on[c->first_on + k];

			if (other != pipe && s->pipe[other].level > least)
				mark(s, other, more);
		}
	}
}

/* Make rates fair after starts and ends; false: no end was found. */
static bool settle(struct simulation *s)
{
	uint64_t steps_left = (uint64_t)MANY * s->n_pipes;

	for (; s->n_dirty && steps_left; steps_left--) {
		uint32_t pipe = s->dirty[s->first_dirty];
		double level, was = s->pipe[pipe].level;

		s->first_dirty = (s->first_dirty + 1) % s->n_pipes;
		s->n_dirty--;
		s->pipe[pipe].is_dirty = false;
		level = level_of(s, pipe);
		if (isinf(level) ? isfinite(was) : !(fabs(level - was) <= SAME * level))
			set_level(s, pipe, level);
	}
	for (uint32_t i = 0; i < s->n_touched; i++) {
		struct class *c = &s->class[s->touched[i]];

		c->is_touched = false;
		c->clock = active(c) ? clock_of(s, c) : 0;
		c->since = s->now;
		c->rate = rate_without(s, c, FAB_NONE);
		set_finish(s, s->touched[i]);
	}
	s->n_touched = 0;
	return !s->n_dirty;
}

/* ---- nodes ---- */

static uint32_t server_of(const struct simulation *s, uint32_t at)
{
	return s->m->interface_server[s->interface_of[s->batch->node[at]]];
}

static void start_node(struct simulation *s, uint32_t at)
{
	struct class *c = &s->class[s->class_of[at]];

	s->connections[server_of(s, at)]++;
	*member_of(s, c, c->next) = (struct member){at, clock_of(s, c) + c->image_mbit};
	c->next++;
	change(s, s->class_of[at], 1);
}

/* The node of a class that started first; FAB_NONE: none receives. */
static uint32_t first_of(const struct simulation *s, uint32_t class)
{
	const struct class *c = &s->class[class];

	return active(c) ? member_of(s, c, c->done)->at : FAB_NONE;
}

/* It leaves; returns it. change() follows. */
static uint32_t end_node(struct simulation *s, uint32_t class)
{
	uint32_t at = first_of(s, class), server = server_of(s, at);

	s->class[class].done++;
	s->connections[server]--;
	if (s->m->limits.connections)
		FAB_PUSH(&s->freed, server);
	return at;
}

/* The classes below a vertex of the tree of times, of which a node may be done now. */
static void find_ending(struct simulation *s, uint32_t vertex)
{
	if (s->finish[vertex] > s->now * (1 + SAME_TIME))
		return;
	if (vertex >= s->n_leaves) {
		FAB_PUSH(&s->ending, vertex - s->n_leaves);
		return;
	}
	find_ending(s, 2 * vertex);
	find_ending(s, 2 * vertex + 1);
}

/* Nodes that have their image now leave. */
static void end_done(struct simulation *s, struct fab_transfer *out)
{
	s->ending.n = 0;
	find_ending(s, 1);
	for (size_t i = 0; i < s->ending.n; i++) {
		uint32_t class = s->ending.v[i], n = 0;

		for (; has_done(s, &s->class[class]); n++) {
			uint32_t at = end_node(s, class);

			out->finish_s[at] = s->now;
			s->deadline[at] = INFINITY;
			FAB_PUSH(&s->finishes, s->now);
		}
		if (n)
			change(s, class, -(double)n);
	}
}

static void add_due(struct simulation *s, double time, uint8_t kind, uint32_t at)
{
	fab_schedule_add(&s->schedule, fab_time_of_seconds(time), kind, at);
}

/* Take the next event of these kinds that is due now; false: no event. */
static bool take_due(struct simulation *s, uint8_t first, uint8_t last,
		     struct fab_due *due)
{
	const struct fab_due *next = fab_schedule_peek(&s->schedule);

	return next && fab_seconds_of_time(next->time) <= s->now &&
	       fab_due_kind(next) >= first && fab_due_kind(next) <= last &&
	       fab_schedule_take(&s->schedule, due);
}

static double requests_of(const struct fab_transfer_options *o)
{
	return o->n_files * o->request_seconds;
}

/* The next node that asks for the first time. */
static void expect_arrival(struct simulation *s)
{
	if (s->arrived < s->batch->n)
		add_due(s, requests_of(s->o) + s->arrived * s->o->stagger_seconds,
			ARRIVAL, s->arrived);
}

/* Nodes ask their server: they start, or wait for a connection. */
static void arrive(struct simulation *s)
{
	uint32_t most = s->m->limits.connections;
	struct fab_due due;

	while (take_due(s, ARRIVAL, ARRIVAL_AGAIN, &due)) {
		uint32_t at = (uint32_t)due.item, server = server_of(s, at);

		if (s->o->timeout_seconds > 0) {
			s->deadline[at] = s->now + s->o->timeout_seconds;
			add_due(s, s->deadline[at], EXPIRY, at);
		}
		if (!most || s->connections[server] < most)
			start_node(s, at);
		else
			fab_queues_append(&s->queues, server, at);
		if (fab_due_kind(&due) == ARRIVAL) {
			s->arrived++;
			expect_arrival(s);
		}
	}
}

static void give_up(struct simulation *s, uint32_t at, struct fab_transfer *out)
{
	s->deadline[at] = INFINITY;
	if (s->attempts[at]++ < s->o->retries) {
		add_due(s, s->now + requests_of(s->o), ARRIVAL_AGAIN, at);
		out->n_retries++;
	} else {
		out->finish_s[at] = INFINITY;
		out->n_failed++;
	}
}

/* Nodes of a class, and of a server's queue, give up in the order in which they asked. */
static void expire(struct simulation *s, struct fab_transfer *out)
{
	FAB_VEC(uint32_t) classes = {0}, servers = {0};
	struct fab_due due;

	while (take_due(s, EXPIRY, EXPIRY, &due)) {
		FAB_PUSH(&classes, s->class_of[due.item]);
		FAB_PUSH(&servers, server_of(s, (uint32_t)due.item));
	}
	if (!classes.n)
		return;
	qsort(classes.v, classes.n, sizeof(*classes.v), fab_cmp_u32);
	qsort(servers.v, servers.n, sizeof(*servers.v), fab_cmp_u32);
	for (size_t i = 0; i < classes.n; i++) {
		uint32_t class = classes.v[i], at = first_of(s, class), n = 0;

		for (; at != FAB_NONE && s->deadline[at] <= s->now;
		     at = first_of(s, class), n++)
			give_up(s, end_node(s, class), out);
		if (n)
			change(s, class, -(double)n);
	}
	for (size_t i = 0; i < servers.n; i++) {
		uint32_t *first = &s->queues.head[servers.v[i]];

		while (*first != FAB_NONE && s->deadline[*first] <= s->now)
			give_up(s, fab_queues_pop(&s->queues, servers.v[i]), out);
	}
	free(classes.v);
	free(servers.v);
}

/* Time of the next event; drops expiries of nodes that are done, or have asked again. */
static double next_time(struct simulation *s)
{
	const struct fab_due *due;
	struct fab_due stale;

	while ((due = fab_schedule_peek(&s->schedule)) && fab_due_kind(due) == EXPIRY &&
	       fab_seconds_of_time(due->time) < s->deadline[due->item])
		(void)fab_schedule_take(&s->schedule, &stale);
	return due ? fmin(fab_seconds_of_time(due->time), s->finish[1]) : s->finish[1];
}

static int simulate(struct simulation *s, struct fab_transfer *out, struct fab_err *err)
{
	uint32_t most = s->m->limits.connections;
	bool was_full = false;

	expect_arrival(s);
	for (double to = next_time(s); isfinite(to); to = next_time(s)) {
		s->now = to;
		end_done(s, out);
		expire(s, out);
		/* nodes that wait take the connections that became free */
		for (size_t i = 0; i < s->freed.n; i++) {
			uint32_t v = s->freed.v[i];

			while (s->queues.head[v] != FAB_NONE && s->connections[v] < most)
				start_node(s, fab_queues_pop(&s->queues, v));
		}
		s->freed.n = 0;
		arrive(s);
		if (!settle(s))
			return fab_fail(err, ELOOP,
					"the rates of transfers do not settle");
		out->n_events++;
		for (uint32_t c = 0;
		     c < s->n_classes && s->arrived == s->batch->n && !was_full; c++)
			if (active(&s->class[c]))
				out->first_rate_mbps =
					fmin(out->first_rate_mbps, s->class[c].rate);
		was_full = s->arrived == s->batch->n;
	}
	return 0;
}

static void sum_up(struct simulation *s, struct fab_transfer *out)
{
	const struct fab_batch *batch = s->batch;

	for (uint32_t i = 0; i < batch->n; i++)
		if (!i || out->finish_s[i] > out->last_s) {
			out->last_s = out->finish_s[i];
			out->slowest_node = batch->node[i];
		}
	while (s->finishes.n < batch->n)
		FAB_PUSH(&s->finishes, (double)INFINITY);
	if (batch->n) {
		out->first_s = s->finishes.v[0];
		out->median_s = fab_quantile(s->finishes.v, batch->n, 0.5);
	}
}

int fab_transfer_run(const struct fab_machine *m, const struct fab_batch *batch,
		     const uint32_t *interface_of,
		     const struct fab_transfer_options *options, struct fab_transfer *out,
		     struct fab_err *err)
{
	struct simulation s = {.m = m,
			       .batch = batch,
			       .interface_of = interface_of,
			       .o = options,
			       .image_mbit = fab_transfer_image_mbit(options),
			       .n_leaves = 1};
	size_t n = (size_t)batch->n + 1;
	int rc;

	for (uint32_t i = 0; i < batch->n; i++)
		if (interface_of[batch->node[i]] >= m->n_interfaces)
			return fab_fail(err, EINVAL, "a node of the batch has no server");
	*out = (struct fab_transfer){.finish_s = FAB_NEW0(n, double),
				     .slowest_node = FAB_NONE,
				     .first_rate_mbps = INFINITY};
	make_classes(&s);
	s.member = FAB_ARENA_NEW(&s.arena, n, struct member);
	s.use = FAB_ARENA_NEW(&s.arena, (size_t)s.n_classes + 1, struct use);
	s.touched = FAB_ARENA_NEW(&s.arena, (size_t)s.n_classes + 1, uint32_t);
	s.dirty = FAB_ARENA_NEW(&s.arena, (size_t)s.n_pipes + 1, uint32_t);
	while (s.n_leaves < s.n_classes)
		s.n_leaves *= 2;
	s.finish = FAB_ARENA_NEW(&s.arena, 2 * (size_t)s.n_leaves, double);
	for (uint32_t i = 0; i < 2 * s.n_leaves; i++)
		s.finish[i] = INFINITY;
	s.connections = FAB_ARENA_NEW0(&s.arena, (size_t)m->n_servers + 1, uint32_t);
	s.deadline = FAB_ARENA_NEW(&s.arena, n, double);
	s.attempts = FAB_ARENA_NEW0(&s.arena, n, uint32_t);
	s.queues = fab_queues_new(m->n_servers, batch->n);
	rc = simulate(&s, out, err);
	if (!rc)
		sum_up(&s, out);
	free(s.finishes.v);
	fab_queues_fini(&s.queues);
	fab_schedule_fini(&s.schedule);
	free(s.freed.v);
	free(s.ending.v);
	fab_arena_free(&s.arena);
	if (rc)
		fab_transfer_fini(out);
	return rc;
}

void fab_transfer_fini(struct fab_transfer *t)
{
	free(t->finish_s);
	*t = (struct fab_transfer){0};
}

double fab_transfer_tftp_mbps(uint32_t block_bytes, uint32_t window_blocks,
			      double rtt_seconds)
{
	return 8e-6 * block_bytes * window_blocks / rtt_seconds;
}

double fab_transfer_image_mbit(const struct fab_transfer_options *options)
{
	return (double)options->image_bytes * 8e-6;
}

double fab_transfer_equal_share_seconds(const struct fab_share *share,
					const struct fab_transfer_options *options)
{
	return requests_of(options) +
	       fab_transfer_image_mbit(options) * share->part / share->bandwidth_mbps;
}

bool fab_transfer_is_timed(const struct fab_machine *m,
			   const struct fab_transfer_options *options)
{
	return m->limits.connections || m->image_part || options->stagger_seconds > 0 ||
	       options->timeout_seconds > 0;
}
