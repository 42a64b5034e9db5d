/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Max-min fair rates from one event to the next.
 *
 * Nodes with the same path and capacity are a class. A pipe is a segment in one
 * direction, or a disk. Every class that receives is in one group: that of the pipe that
 * holds it back, or that of its own capacity. All of a group get the same rate, so that a
 * group has one clock, the Mbit that a node in it all the time would have: a new rate
 * changes one number. The rates are max-min fair (Bertsekas, Gallager, Data Networks,
 * 6.5.2) as long as
 *   - each pipe with a group is full, and no class on it is faster than the group;
 *   - no pipe without a group is more than full;
 *   - no class is faster than its own capacity.
 * An event changes the rates of a few groups. check_pipe() restores the three conditions
 * pipe by pipe: a full pipe takes the classes into its group that are faster than fair.
 *
 * A pipe that is watched knows its load. Others have a bound for it, from rates that
 * their groups do not exceed, so that few pipes need to know of a change.
 */
#include "boot/fair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/order.h"
#include "event/schedule.h"

/* Rates that differ by less are equal; changes by less than SAME are none. */
#define EPSILON 1e-9
#define SAME 1e-12
/* The rate of a group may change from a third of its upper bound to all of it before
 * pipes get another bound. */
#define UPPER 1.5

enum {
	PATH_MAX_PIPES = 2 * FAB_MACHINE_LEVELS_MAX + 2,
	FEW = 64,	/* classes that begin at once and are placed one by one */
	ROUNDS = 8,	/* of new rates before groups change */
	MANY = 10000000 /* checks of pipes after an event; tests need up to 370 */
};

struct list {
	uint32_t *v;
	size_t n, cap;
};

/* Binary heap of numbers below the length of `key` and `place`, the least key first. */
struct heap {
	uint32_t *v, n;
	const double *key;
	uint32_t *place;
};

struct member {
	uint32_t at;   /* in the batch */
	double target; /* Mbit of a member since time 0 when this one is done */
};

struct class
{
	double cap_mbps;
	double offset; /* Mbit of a member since time 0 beyond the clock of the group;
			  without a group all of its Mbit */
	uint32_t interface;
	uint32_t first, n;	 /* its nodes in `member` */
	uint32_t next, done;	 /* members started, members finished, ever */
	uint32_t first_on, n_on; /* its pipes in `on` */
	uint32_t own_group;	 /* that of its capacity */
	uint32_t group;		 /* FAB_NONE: none */
	uint32_t counted;	 /* members that the group counts */
	bool is_changed;
};

struct pipe {
	double capacity;
	double bound;		      /* the load is no more */
	double others;		      /* watched: load of all but its own group */
	double most;		      /* watched: no class of another group is faster */
	uint32_t first_user, n_users; /* its classes in `user` */
	uint32_t n_active;	      /* nodes on it that receive */
	uint32_t n_changes;	      /* of `others` since it was summed up */
	uint32_t epoch;		      /* times that it was summed up */
	bool is_watched, is_dirty, is_unchecked;
};

/* Members of a group on a watched pipe that is not its own. */
struct pair {
	uint32_t pipe, epoch, n;
	bool is_listed; /* among the pairs of the group */
};

/* 0 .. n_pipes-1 are held back by a pipe, the others by a capacity of their own. */
struct group {
	uint64_t n; /* members that receive */
	double rate, upper;
	double clock, since; /* Mbit at a time */
	double least_cap;    /* of its classes, or less */
	struct heap classes; /* the next to have a member done first */
	struct list pairs;
	bool is_touched;
};

struct fab_fair {
	const struct fab_machine *m;
	const struct fab_batch *batch;
	struct fab_arena arena;
	double image_mbit, now;
	struct class *class;
	struct member *member; /* [batch->n] class by class */
	uint32_t *class_of;    /* [batch->n] */
	struct pipe *pipe;
	struct group *group;
	uint32_t n_classes, n_pipes, n_groups, n_attached;
	uint32_t *on;	 /* pipes of the classes */
	uint32_t *user;	 /* classes of the pipes */
	double *key;	 /* [n_classes] clock of its group when the next member is done */
	double *finish;	 /* [n_groups] time when the next member is done */
	struct heap due; /* groups by it */
	FAB_VEC(struct pair) pair;
	struct fab_map64 *pair_of; /* group and pipe to their pair */
	/* after an event: classes that begin, groups with another next member, pipes with
	 * another load, pipes that may not be fair */
	struct list changed, touched, dirty, unchecked;
};

/* ---- heaps ---- */

static void put(struct heap *h, uint32_t at, uint32_t item)
{
	h->v[at] = item;
	h->place[item] = at;
}

/* The item at a place goes where its key belongs. */
static void sift(struct heap *h, uint32_t at)
{
	uint32_t item = h->v[at];
	double key = h->key[item];

	while (at && h->key[h->v[(at - 1) / 2]] > key) {
		put(h, at, h->v[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (uint32_t k = 2 * at + 1; k < h->n; k = 2 * at + 1) {
		k += k + 1 < h->n && h->key[h->v[k + 1]] < h->key[h->v[k]];
		if (h->key[h->v[k]] >= key)
			break;
		put(h, at, h->v[k]);
		at = k;
	}
	put(h, at, item);
}

static void add_item(struct heap *h, uint32_t item)
{
	put(h, h->n++, item);
	sift(h, h->n - 1);
}

static void remove_item(struct heap *h, uint32_t item)
{
	uint32_t at = h->place[item], last = h->v[--h->n];

	h->place[item] = FAB_NONE;
	if (last == item)
		return;
	put(h, at, last);
	sift(h, at);
}

/* ---- classes, pipes and groups of a batch ---- */

/* A node by the vertex above it: pipes of a path come from there. */
struct key {
	uint32_t parent, interface, at;
	double cap;
};

static int cmp_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order;

	FAB_ORDER_BY(x, y, parent);
	FAB_ORDER_BY(x, y, interface);
	order = fab_cmp_double(&x->cap, &y->cap);
	return order ? order : fab_cmp_u32(&x->at, &y->at);
}

static struct key *make_classes(struct fab_fair *s, const uint32_t *interface_of)
{
	const struct fab_machine *m = s->m;
	uint32_t n = s->batch->n;
	struct key *key = FAB_NEW((size_t)n + 1, struct key);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = s->batch->node[i], v = m->node_vertex[node];
		double cap = m->capacity_mbps[v];

		if (m->limits.flow_mbps > 0)
			cap = fmin(cap, m->limits.flow_mbps);
		key[i] = (struct key){m->parent[v], interface_of[node], i, cap};
	}
	qsort(key, n, sizeof(*key), cmp_key);
	for (uint32_t i = 0; i < n; i++)
		s->n_classes += !i || key[i - 1].parent != key[i].parent ||
				key[i - 1].interface != key[i].interface ||
				key[i - 1].cap < key[i].cap;
	s->class = FAB_ARENA_NEW0(&s->arena, (size_t)s->n_classes + 1, struct class);
	s->member = FAB_ARENA_NEW0(&s->arena, (size_t)n + 1, struct member);
	s->class_of = FAB_ARENA_NEW(&s->arena, (size_t)n + 1, uint32_t);
	for (uint32_t i = 0, k = FAB_NONE; i < n; i++) {
		struct class *c = &s->class[i ? k : 0];

		if (!i || key[c->first].parent != key[i].parent ||
		    c->interface != key[i].interface || c->cap_mbps < key[i].cap) {
			c = &s->class[++k];
			*c = (struct class){.interface = key[i].interface,
					    .cap_mbps = key[i].cap,
					    .group = FAB_NONE,
					    .first = i};
		}
		c->n++;
		s->class_of[key[i].at] = k;
	}
	return key;
}

/* The segments with a capacity between a vertex and an interface: down 2v, up 2v + 1,
 * disks behind them. */
static uint32_t path_of(const struct fab_machine *m, uint32_t a, uint32_t interface,
			uint32_t pipes[PATH_MAX_PIPES])
{
	uint32_t v = m->interface_vertex[interface], n = 0;

	while (a != v) {
		uint32_t *at = a > v ? &a : &v;

		if (isfinite(m->capacity_mbps[*at]))
			pipes[n++] = 2 * *at + (at == &v);
		*at = m->parent[*at];
	}
	if (m->limits.disk_mbps > 0)
		pipes[n++] = 2 * m->n_vertices + m->interface_server[interface];
	return n;
}

static void make_pipes(struct fab_fair *s, const struct key *key)
{
	const struct fab_machine *m = s->m;
	uint32_t n_raw = 2 * m->n_vertices + m->n_servers, raw[PATH_MAX_PIPES], at = 0;
	uint32_t *number = FAB_NEW((size_t)n_raw, uint32_t);
	FAB_VEC(struct pipe) pipes = {0};
	struct list on = {0};

	memset(number, 0xff, n_raw * sizeof(*number));
	for (uint32_t i = 0; i < s->n_classes; i++) {
		struct class *c = &s->class[i];

		c->first_on = (uint32_t)on.n;
		c->n_on = path_of(m, key[c->first].parent, c->interface, raw);
		for (uint32_t k = 0; k < c->n_on; k++) {
			uint32_t *p = &number[raw[k]];

			if (*p == FAB_NONE) {
				*p = (uint32_t)pipes.n;
				FAB_PUSH(&pipes,
					 ((struct pipe){
						 .capacity =
							 raw[k] < 2 * m->n_vertices
								 ? m->capacity_mbps
									   [raw[k] / 2]
								 : m->limits.disk_mbps}));
			}
			FAB_PUSH(&on, *p);
			pipes.v[*p].n_users++;
		}
	}
	free(number);
	s->pipe = pipes.v;
	s->n_pipes = (uint32_t)pipes.n;
	s->on = on.v;
	fab_arena_own(&s->arena, free, pipes.v);
	fab_arena_own(&s->arena, free, on.v);
	s->user = FAB_ARENA_NEW(&s->arena, on.n + 1, uint32_t);
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

/* A group for each pipe, and behind them for each capacity of a class. */
static void make_groups(struct fab_fair *s)
{
	struct fab_map64 *by_cap = fab_map64_new(16);
	uint32_t *n = FAB_NEW0((size_t)s->n_pipes + s->n_classes + 1, uint32_t);
	uint32_t *place = FAB_ARENA_NEW(&s->arena, (size_t)s->n_classes + 1, uint32_t);

	s->n_groups = s->n_pipes;
	for (uint32_t i = 0; i < s->n_classes; i++) {
		struct class *c = &s->class[i];

		c->own_group = fab_map64_put(by_cap, fab_time_of_seconds(c->cap_mbps),
					     s->n_groups);
		s->n_groups += c->own_group == s->n_groups;
		n[c->own_group]++;
	}
	fab_map64_free(by_cap);
	s->group = FAB_ARENA_NEW0(&s->arena, (size_t)s->n_groups + 1, struct group);
	s->key = FAB_ARENA_NEW(&s->arena, (size_t)s->n_classes + 1, double);
	s->finish = FAB_ARENA_NEW(&s->arena, (size_t)s->n_groups + 1, double);
	s->due = (struct heap){
		.v = FAB_ARENA_NEW(&s->arena, (size_t)s->n_groups + 1, uint32_t),
		.place = FAB_ARENA_NEW(&s->arena, (size_t)s->n_groups + 1, uint32_t),
		.key = s->finish};
	for (uint32_t g = 0; g < s->n_groups; g++) {
		uint32_t room = g < s->n_pipes ? s->pipe[g].n_users : n[g];

		s->due.place[g] = FAB_NONE;
		s->group[g].least_cap = INFINITY;
		s->group[g].classes = (struct heap){
			.v = FAB_ARENA_NEW(&s->arena, (size_t)room + 1, uint32_t),
			.place = place,
			.key = s->key};
	}
	free(n);
	for (uint32_t i = 0; i < s->n_classes; i++) {
		struct group *own = &s->group[s->class[i].own_group];

		own->rate = own->upper = s->class[i].cap_mbps;
	}
}

/* ---- loads ---- */

/* Members of a class that receive. */
static uint32_t active(const struct class *c)
{
	return c->next - c->done;
}

/* The member of a class that started as number k; one that is done makes room. */
static struct member *member_of(const struct fab_fair *s, const struct class *c,
				uint32_t k)
{
	return &s->member[c->first + k % c->n];
}

/* Mbit that a node in the group all the time would have now. */
static double clock_of(const struct fab_fair *s, const struct group *g)
{
	return s->now > g->since && isfinite(g->rate)
		       ? g->clock + g->rate * (s->now - g->since)
		       : g->clock;
}

static void mark(struct fab_fair *s, uint32_t pipe)
{
	if (!s->pipe[pipe].is_watched || s->pipe[pipe].is_dirty)
		return;
	s->pipe[pipe].is_dirty = true;
	FAB_PUSH(&s->dirty, pipe);
}

static void touch(struct fab_fair *s, uint32_t group)
{
	if (s->group[group].is_touched)
		return;
	s->group[group].is_touched = true;
	FAB_PUSH(&s->touched, group);
}

/* More or fewer members of another group on a watched pipe. */
static void add_others(struct fab_fair *s, uint32_t group, uint32_t pipe, int64_t more)
{
	struct group *g = &s->group[group];
	struct pipe *p = &s->pipe[pipe];
	struct pair *x;
	uint32_t id;

	p->others += (double)more * g->rate;
	p->most = fmax(p->most, g->rate);
	p->n_changes++;
	if (group >= s->n_pipes)
		return; /* its rate never changes */
	id = fab_map64_put(s->pair_of, (uint64_t)group << 32 | pipe, (uint32_t)s->pair.n);
	if (id == s->pair.n)
		FAB_PUSH(&s->pair, ((struct pair){.pipe = pipe}));
	x = &s->pair.v[id];
	if (x->epoch != p->epoch)
		x->n = 0;
	x->epoch = p->epoch;
	x->n = (uint32_t)((int64_t)x->n + more);
	if (!x->is_listed)
		FAB_PUSH(&g->pairs, id);
	x->is_listed = true;
}

/* Sum up the load of a pipe: it is known exactly from then on. */
static void watch(struct fab_fair *s, uint32_t pipe)
{
	struct pipe *p = &s->pipe[pipe];

	p->is_watched = true;
	p->others = p->most = 0;
	p->epoch++;
	for (uint32_t i = 0; i < p->n_users; i++) {
		const struct class *c = &s->class[s->user[p->first_user + i]];

		if (c->counted && c->group != pipe)
			add_others(s, c->group, pipe, c->counted);
	}
	p->n_changes = 0;
	mark(s, pipe);
}

/* Pipes with members of the group get another bound. */
static void set_upper(struct fab_fair *s, uint32_t group, double upper)
{
	struct group *g = &s->group[group];
	double more = upper - g->upper;

	g->upper = upper;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < g->classes.n; i++) {
			const struct class *c = &s->class[g->classes.v[i]];

			for (uint32_t k = 0; k < c->n_on; k++) {
				struct pipe *p = &s->pipe[s->on[c->first_on + k]];

				if (!pass)
					p->bound += c->counted * more;
				else if (p->bound > p->capacity && !p->is_watched)
					watch(s, s->on[c->first_on + k]);
			}
		}
}

static void set_rate(struct fab_fair *s, uint32_t group, double rate)
{
	struct group *g = &s->group[group];
	double more = rate - g->rate;

	g->clock = clock_of(s, g);
	g->since = s->now;
	g->rate = rate;
	for (size_t i = 0; i < g->pairs.n;) {
		struct pair *x = &s->pair.v[g->pairs.v[i]];
		struct pipe *p = &s->pipe[x->pipe];

		x->is_listed = p->is_watched && x->epoch == p->epoch && x->n;
		if (!x->is_listed) {
			g->pairs.v[i] = g->pairs.v[--g->pairs.n];
			continue;
		}
		p->others += x->n * more;
		p->most = fmax(p->most, rate);
		p->n_changes++;
		mark(s, x->pipe);
		i++;
	}
	touch(s, group);
	if (rate > g->upper || rate < g->upper / 3)
		set_upper(s, group, UPPER * rate);
}

/* The group counts more or fewer members of the class. */
static void count(struct fab_fair *s, struct class *c, int64_t more)
{
	struct group *g = &s->group[c->group];

	c->counted = (uint32_t)((int64_t)c->counted + more);
	g->n = (uint64_t)((int64_t)g->n + more);
	for (uint32_t k = 0; k < c->n_on; k++) {
		uint32_t pipe = s->on[c->first_on + k];
		struct pipe *p = &s->pipe[pipe];

		p->n_active = (uint32_t)((int64_t)p->n_active + more);
		p->bound += (double)more * g->upper;
		if (!p->is_watched && p->bound > p->capacity)
			watch(s, pipe);
		else if (p->is_watched && pipe != c->group)
			add_others(s, c->group, pipe, more);
		mark(s, pipe);
	}
}

static void attach(struct fab_fair *s, uint32_t class, uint32_t group)
{
	struct class *c = &s->class[class];
	struct group *g = &s->group[group];

	if (group < s->n_pipes && !s->pipe[group].is_watched)
		watch(s, group);
	c->offset -= clock_of(s, g);
	c->group = group;
	s->key[class] = member_of(s, c, c->done)->target - c->offset;
	s->n_attached++;
	g->least_cap = fmin(g->least_cap, c->cap_mbps);
	add_item(&g->classes, class);
	touch(s, group);
	count(s, c, active(c));
}

static void detach(struct fab_fair *s, uint32_t class)
{
	struct class *c = &s->class[class];
	struct group *g = &s->group[c->group];

	count(s, c, -(int64_t)c->counted);
	remove_item(&g->classes, class);
	touch(s, c->group);
	s->n_attached--;
	c->offset += clock_of(s, g);
	c->group = FAB_NONE;
	if (!g->classes.n) {
		g->clock = 0;
		g->since = s->now;
		g->least_cap = INFINITY;
	}
}

static void move(struct fab_fair *s, uint32_t class, uint32_t group)
{
	if (s->class[class].group != FAB_NONE)
		detach(s, class);
	attach(s, class, group);
}

/* A class has another number of active members, or another first one. */
static void change(struct fab_fair *s, uint32_t class)
{
	struct class *c = &s->class[class];

	if (c->group == FAB_NONE) {
		if (!c->is_changed)
			FAB_PUSH(&s->changed, class);
		c->is_changed = true;
	} else if (!active(c)) {
		detach(s, class);
		c->offset = 0;
	} else {
		count(s, c, (int64_t)active(c) - c->counted);
		s->key[class] = member_of(s, c, c->done)->target - c->offset;
		sift(&s->group[c->group].classes,
		     s->group[c->group].classes.place[class]);
		touch(s, c->group);
	}
}

/* ---- rates ---- */

/*
 * The group that a class which begins would be in if all others stayed in theirs. With
 * n_on, nodes on each pipe when many begin at once: that of the pipe that leaves them
 * least if all share alike.
 */
static uint32_t likely_group(const struct fab_fair *s, const struct class *c,
			     const uint32_t *n_on, double *rate)
{
	uint32_t group = c->own_group;

	*rate = c->cap_mbps;
	for (uint32_t k = 0; k < c->n_on; k++) {
		uint32_t pipe = s->on[c->first_on + k];
		const struct pipe *p = &s->pipe[pipe];
		uint64_t n = s->group[pipe].n;
		double level = n_on ? p->capacity / n_on[pipe]
				    : (p->capacity - p->others) / (double)(n + active(c));

		if ((n || n_on) && level < *rate) {
			*rate = level;
			group = pipe;
		}
	}
	return group;
}

static void begin(struct fab_fair *s)
{
	bool is_many = s->changed.n > FEW && s->changed.n > s->n_attached / 8;
	uint32_t *n_on = is_many ? FAB_NEW0((size_t)s->n_pipes + 1, uint32_t) : NULL;

	for (uint32_t p = 0; p < s->n_pipes && is_many; p++)
		n_on[p] = s->pipe[p].n_active;
	for (size_t i = 0; i < s->changed.n && is_many; i++) {
		const struct class *c = &s->class[s->changed.v[i]];

		for (uint32_t k = 0; k < c->n_on; k++)
			n_on[s->on[c->first_on + k]] += active(c);
	}
	for (size_t i = 0; i < s->changed.n; i++) {
		struct class *c = &s->class[s->changed.v[i]];
		uint32_t group;
		double rate;

		c->is_changed = false;
		if (!active(c)) {
			c->offset = 0;
			continue;
		}
		group = likely_group(s, c, n_on, &rate);
		if (!s->group[group].n && group < s->n_pipes)
			set_rate(s, group, rate);
		attach(s, s->changed.v[i], group);
	}
	s->changed.n = 0;
	free(n_on);
}

/* The rate at which a pipe is full if it holds back its group and the classes that are
 * faster; `rate` is no more than that. */
static double fair_rate(const struct fab_fair *s, uint32_t pipe, double rate)
{
	const struct pipe *p = &s->pipe[pipe];

	for (double least = -1; rate > least * (1 + EPSILON);) {
		double slower = 0;
		uint64_t n = 0;

		for (uint32_t i = 0; i < p->n_users; i++) {
			const struct class *c = &s->class[s->user[p->first_user + i]];

			if (c->group == FAB_NONE)
				continue;
			if (c->group == pipe || s->group[c->group].rate > rate)
				n += c->counted;
			else
				slower += c->counted * s->group[c->group].rate;
		}
		least = rate;
		if (n)
			rate = fmax(rate, (p->capacity - slower) / (double)n);
	}
	return rate;
}

/* A pipe takes the classes on it that are faster than fair into its group. */
static void pull(struct fab_fair *s, uint32_t pipe, double rate)
{
	struct pipe *p = &s->pipe[pipe];
	double most = 0, above = fair_rate(s, pipe, rate) * (1 + EPSILON);

	for (uint32_t i = 0; i < p->n_users; i++) {
		uint32_t class = s->user[p->first_user + i];
		const struct class *c = &s->class[class];

		if (c->group == FAB_NONE || c->group == pipe)
			continue;
		if (s->group[c->group].rate > above)
			move(s, class, pipe);
		else
			most = fmax(most, s->group[c->group].rate);
	}
	p->most = most;
}

/* Classes in the group of a pipe that are faster than their own capacity leave it. */
static void release(struct fab_fair *s, uint32_t pipe, double rate)
{
	struct pipe *p = &s->pipe[pipe];
	double least = INFINITY;

	for (uint32_t i = 0; i < p->n_users; i++) {
		uint32_t class = s->user[p->first_user + i];
		const struct class *c = &s->class[class];

		if (c->group != pipe)
			continue;
		if (c->cap_mbps < rate) {
			move(s, class, c->own_group);
		} else {
			least = fmin(least, c->cap_mbps);
		}
	}
	s->group[pipe].least_cap = least;
}

/* A pipe whose load or group has changed: its group gets the rate that fills it. */
static void refresh(struct fab_fair *s, uint32_t pipe)
{
	struct pipe *p = &s->pipe[pipe];
	const struct group *g = &s->group[pipe];
	double rate;

	p->is_dirty = false;
	if (p->n_changes >= p->n_users)
		watch(s, pipe); /* sums that change in part only drift */
	p->is_dirty = false;
	if (!p->is_unchecked)
		FAB_PUSH(&s->unchecked, pipe);
	p->is_unchecked = true;
	rate = fmax(0, (p->capacity - p->others) / (double)g->n);
	if (g->n && fabs(rate - g->rate) > SAME * rate)
		set_rate(s, pipe, rate);
}

/* Change groups where a pipe is not fair. */
static void check_pipe(struct fab_fair *s, uint32_t pipe)
{
	struct pipe *p = &s->pipe[pipe];
	const struct group *g = &s->group[pipe];
	double above = g->rate * (1 + EPSILON), below = g->rate * (1 - EPSILON);

	p->is_unchecked = false;
	if (g->n) {
		if (p->most > above)
			pull(s, pipe, g->rate);
		if (g->least_cap < below)
			release(s, pipe, below);
	} else if (p->others > p->capacity * (1 + EPSILON)) {
		pull(s, pipe, p->capacity / p->n_active);
	} else if (p->bound < p->capacity / 2) {
		p->is_watched = false;
	}
}

/* The slowest last; of equal ones, and of those without a group, that with the fewest
 * classes last. */
static int by_rate(const void *a, const void *b, void *simulation)
{
	const struct fab_fair *s = simulation;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double r = s->group[x].n ? s->group[x].rate : (double)INFINITY;
	double q = s->group[y].n ? s->group[y].rate : (double)INFINITY;
	int order = fab_cmp_double(&q, &r);

	if (!order)
		order = fab_cmp_u32(&s->pipe[y].n_users, &s->pipe[x].n_users);
	return order ? order : fab_cmp_u32(&y, &x);
}

/*
 * Refresh and check pipes until nothing changes, the slowest first, as a change reaches
 * only those that are as fast or faster. Groups change when all rates are known, or after
 * ROUNDS of new rates. False: no end was found.
 */
static bool settle_pipes(struct fab_fair *s)
{
	struct list batch = {0};
	uint32_t n_steps = 0, n_rounds = 0;
	size_t n_sorted = 0;

	while ((s->dirty.n || s->unchecked.n) && n_steps < MANY) {
		if (s->dirty.n && (n_rounds++ < ROUNDS || !s->unchecked.n)) {
			struct list old = batch;

			batch = s->dirty;
			s->dirty = (struct list){old.v, 0, old.cap};
			qsort_r(batch.v, batch.n, sizeof(*batch.v), by_rate, s);
			n_steps += batch.n;
			for (size_t i = batch.n; i-- > 0;)
				refresh(s, batch.v[i]);
			n_sorted = 0;
			continue;
		}
		if (s->unchecked.n != n_sorted)
			qsort_r(s->unchecked.v, s->unchecked.n, sizeof(*s->unchecked.v),
				by_rate, s);
		n_sorted = s->unchecked.n - 1;
		n_rounds = 0;
		n_steps++;
		check_pipe(s, s->unchecked.v[--s->unchecked.n]);
	}
	free(batch.v);
	return n_steps < MANY;
}

/* Groups that were touched have their place among those due. */
static void place_touched(struct fab_fair *s)
{
	for (size_t i = 0; i < s->touched.n; i++) {
		uint32_t group = s->touched.v[i];
		struct group *g = &s->group[group];
		double left;

		g->is_touched = false;
		if (s->due.place[group] != FAB_NONE && !g->classes.n)
			remove_item(&s->due, group);
		if (!g->classes.n)
			continue;
		left = s->key[g->classes.v[0]] - clock_of(s, g);
		s->finish[group] =
			left > 0 && isfinite(g->rate) ? s->now + left / g->rate : s->now;
		if (s->due.place[group] == FAB_NONE)
			add_item(&s->due, group);
		else
			sift(&s->due, s->due.place[group]);
	}
	s->touched.n = 0;
}

bool fab_fair_settle(struct fab_fair *s)
{
	bool is_fair;

	begin(s);
	is_fair = settle_pipes(s);
	place_touched(s);
	return is_fair;
}

/* ---- nodes ---- */

struct fab_fair *fab_fair_new(const struct fab_machine *m, const struct fab_batch *batch,
			      const uint32_t *interface_of, double image_mbit)
{
	struct fab_fair *s = FAB_NEW0(1, struct fab_fair);
	struct key *key;

	s->m = m;
	s->batch = batch;
	s->image_mbit = image_mbit;
	key = make_classes(s, interface_of);
	make_pipes(s, key);
	free(key);
	make_groups(s);
	s->pair_of = fab_map64_new(s->n_pipes);
	return s;
}

void fab_fair_free(struct fab_fair *s)
{
	for (uint32_t g = 0; g < s->n_groups; g++)
		free(s->group[g].pairs.v);
	free(s->pair.v);
	fab_map64_free(s->pair_of);
	free(s->changed.v);
	free(s->touched.v);
	free(s->dirty.v);
	free(s->unchecked.v);
	fab_arena_free(&s->arena);
	free(s);
}

uint32_t fab_fair_class(const struct fab_fair *s, uint32_t at)
{
	return s->class_of[at];
}

uint32_t fab_fair_first(const struct fab_fair *s, uint32_t class)
{
	const struct class *c = &s->class[class];

	return active(c) ? member_of(s, c, c->done)->at : FAB_NONE;
}

void fab_fair_start(struct fab_fair *s, uint32_t at)
{
	struct class *c = &s->class[s->class_of[at]];
	double received = c->offset;

	if (c->group != FAB_NONE)
		received += clock_of(s, &s->group[c->group]);
	*member_of(s, c, c->next++) = (struct member){at, received + s->image_mbit};
	change(s, s->class_of[at]);
}

void fab_fair_end(struct fab_fair *s, uint32_t class)
{
	s->class[class].done++;
	change(s, class);
}

double fab_fair_next(const struct fab_fair *s)
{
	return s->due.n ? s->finish[s->due.v[0]] : (double)INFINITY;
}

void fab_fair_advance(struct fab_fair *s, double now)
{
	s->now = now;
}

uint32_t fab_fair_done(struct fab_fair *s)
{
	const struct group *g;
	uint32_t class;

	place_touched(s);
	if (!s->due.n)
		return FAB_NONE;
	g = &s->group[s->due.v[0]];
	class = g->classes.v[0];
	return isfinite(g->rate) &&
			       s->key[class] > clock_of(s, g) + s->image_mbit * EPSILON
		       ? FAB_NONE
		       : class;
}

double fab_fair_least(const struct fab_fair *s)
{
	double least = INFINITY;

	for (uint32_t g = 0; g < s->n_groups; g++)
		if (s->group[g].n)
			least = fmin(least, s->group[g].rate);
	return least;
}
