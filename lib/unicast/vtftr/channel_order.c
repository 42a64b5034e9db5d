/* SPDX-License-Identifier: BSD-2-Clause */
/* A graph that stays without cycles while edges are added: see vtftr.h. */
#include "base/order.h"
#include "unicast/vtftr/vtftr.h"

#include <stdlib.h>
#include <string.h>

struct edge {
	uint32_t from, to;
	uint32_t next_same, slot; /* of the same slot, FAB_NONE at the end */
};

/*
 * Part of an edge that searches read: the other vertex of an edge, or of one that was
 * dropped the vertex whose list it is in, which a search has always seen.
 */
struct link {
	uint32_t vertex, next; /* FAB_NONE at the end */
};

/* The vertices that one of the two searches has met; those before `at` are done with. */
struct side {
	FAB_VEC(uint32_t) met;
	size_t at;
	uint64_t n_looked; /* edges */
};

struct keyed {
	uint64_t key;
	uint32_t vertex;
};

enum { UNSEEN, AHEAD, BEHIND };

struct fab_channel_order {
	struct fab_arena arena;
	uint32_t n;
	uint64_t *label;	  /* [n] ascend along the order */
	uint32_t *after, *before; /* [n + 1] neighbours in the order; n: both ends */
	uint32_t *first_out, *first_in; /* [n] edge, FAB_NONE */
	uint8_t *is_seen;		/* [n] in the running search: by which side */
	FAB_VEC(struct edge) edges;
	FAB_VEC(struct link) out, in; /* of each edge */
	uint32_t *slot;		      /* [n_slots] edge, FAB_NONE */
	struct side ahead, behind;
	FAB_VEC(struct keyed) moved;
};

FAB_ORDER(by_key, struct keyed, key, vertex)

/* Labels with as much room between all neighbours. The ends' are 0 and the largest. */
static void relabel(struct fab_channel_order *o)
{
	uint64_t gap = UINT64_MAX / ((uint64_t)o->n + 1), label = gap;

	for (uint32_t v = o->after[o->n]; v != o->n; v = o->after[v], label += gap)
		o->label[v] = label;
}

static void join(struct fab_channel_order *o, uint32_t a, uint32_t b)
{
	o->after[a] = b;
	o->before[b] = a;
}

struct fab_channel_order *fab_channel_order_new(uint32_t n, const uint32_t *key,
						uint32_t n_slots)
{
	struct fab_channel_order *o = FAB_NEW0(1, struct fab_channel_order);
	FAB_AUTOFREE struct keyed *sorted = FAB_NEW(n + 1, struct keyed);

	o->n = n;
	o->label = FAB_ARENA_NEW(&o->arena, n + 1, uint64_t);
	o->after = FAB_ARENA_NEW(&o->arena, n + 1, uint32_t);
	o->before = FAB_ARENA_NEW(&o->arena, n + 1, uint32_t);
	o->first_out = fab_arena_none(&o->arena, n + 1);
	o->first_in = fab_arena_none(&o->arena, n + 1);
	o->is_seen = FAB_ARENA_NEW0(&o->arena, n + 1, uint8_t);
	o->slot = fab_arena_none(&o->arena, (size_t)n_slots + 1);
	for (uint32_t v = 0; v < n; v++)
		sorted[v] = (struct keyed){key[v], v};
	qsort(sorted, n, sizeof(*sorted), by_key);
	join(o, n, n);
	for (uint32_t i = 0; i < n; i++) {
		join(o, o->before[n], sorted[i].vertex);
		join(o, sorted[i].vertex, n);
	}
	relabel(o);
	return o;
}

void fab_channel_order_free(struct fab_channel_order *o)
{
	if (!o)
		return;
	FAB_FREE_ALL(o->edges.v, o->out.v, o->in.v, o->ahead.met.v, o->behind.met.v,
		     o->moved.v);
	fab_arena_free(&o->arena);
	free(o);
}

static void meet(struct fab_channel_order *o, struct side *side, uint32_t v, uint8_t mark)
{
	o->is_seen[v] = mark;
	FAB_PUSH(&side->met, v);
}

static void start(struct fab_channel_order *o, struct side *side, uint32_t v,
		  uint8_t mark)
{
	side->met.n = side->at = 0;
	side->n_looked = 0;
	meet(o, side, v, mark);
}

/*
 * Look at the next vertex of a side: its neighbours within the labels first .. last.
 * False: one of them was met by the other side.
 */
static bool look(struct fab_channel_order *o, struct side *side, uint8_t mark,
		 uint64_t first, uint64_t last)
{
	const uint32_t *heads = mark == AHEAD ? o->first_out : o->first_in;
	const struct link *links = mark == AHEAD ? o->out.v : o->in.v;
	uint32_t e = heads[side->met.v[side->at++]];

	for (; e != FAB_NONE; e = links[e].next) {
		uint32_t v = links[e].vertex;

		side->n_looked++;
		if (o->is_seen[v] == mark || o->label[v] < first || o->label[v] > last)
			continue;
		if (o->is_seen[v] != UNSEEN)
			return false;
		meet(o, side, v, mark);
	}
	return true;
}

/* Put what was met on one side between two neighbours, its order kept. */
static void move(struct fab_channel_order *o, const struct side *side, uint32_t a,
		 uint32_t b)
{
	uint64_t low, gap;

	o->moved.n = 0;
	for (size_t i = 0; i < side->met.n; i++) {
		uint32_t v = side->met.v[i];

		FAB_PUSH(&o->moved, ((struct keyed){o->label[v], v}));
		join(o, o->before[v], o->after[v]);
	}
	FAB_SORT(&o->moved, by_key);
	low = a == o->n ? 0 : o->label[a];
	gap = ((b == o->n ? UINT64_MAX : o->label[b]) - low) / (o->moved.n + 1);
	for (size_t i = 0; i < o->moved.n; i++) {
		uint32_t v = o->moved.v[i].vertex;

		join(o, a, v);
		o->label[v] = low += gap;
		a = v;
	}
	join(o, a, b);
	if (!gap)
		relabel(o);
}

/*
 * Both sides in turn, the one that has had less work first, until they meet, which is a
 * cycle, or one of them is done: then all of it moves past the other end of the edge.
 */
static bool make_room(struct fab_channel_order *o, uint32_t from, uint32_t to)
{
	uint64_t first, last;
	bool is_free = true;

	if (from == to)
		return false;
	first = o->label[to];
	last = o->label[from];
	if (last < first)
		return true;
	start(o, &o->ahead, to, AHEAD);
	start(o, &o->behind, from, BEHIND);
	while (is_free && o->ahead.at < o->ahead.met.n && o->behind.at < o->behind.met.n)
		is_free = look(o,
			       o->ahead.n_looked <= o->behind.n_looked ? &o->ahead
								       : &o->behind,
			       o->ahead.n_looked <= o->behind.n_looked ? AHEAD : BEHIND,
			       first, last);
	for (size_t i = 0; i < o->ahead.met.n; i++)
		o->is_seen[o->ahead.met.v[i]] = UNSEEN;
	for (size_t i = 0; i < o->behind.met.n; i++)
		o->is_seen[o->behind.met.v[i]] = UNSEEN;
	if (is_free && o->ahead.at == o->ahead.met.n)
		move(o, &o->ahead, from, o->after[from]);
	else if (is_free)
		move(o, &o->behind, o->before[to], to);
	return is_free;
}

/* The edge, dropped or not; FAB_NONE: it was never added. */
static uint32_t find(const struct fab_channel_order *o, uint32_t slot, uint32_t from,
		     uint32_t to)
{
	uint32_t e = o->slot[slot];

	while (e != FAB_NONE && (o->edges.v[e].from != from || o->edges.v[e].to != to))
		e = o->edges.v[e].next_same;
	return e;
}

static bool is_dropped(const struct fab_channel_order *o, uint32_t e)
{
	return o->out.v[e].vertex == o->edges.v[e].from;
}

bool fab_channel_order_has(const struct fab_channel_order *o, uint32_t slot,
			   uint32_t from, uint32_t to)
{
	uint32_t e = find(o, slot, from, to);

	return e != FAB_NONE && !is_dropped(o, e);
}

enum fab_edge fab_channel_order_add(struct fab_channel_order *o, uint32_t slot,
				    uint32_t from, uint32_t to, uint32_t *id)
{
	uint32_t known = find(o, slot, from, to);

	if (known != FAB_NONE && !is_dropped(o, known))
		return FAB_EDGE_KNOWN;
	if (!make_room(o, from, to))
		return FAB_EDGE_CYCLE;
	if (known == FAB_NONE) {
		known = (uint32_t)o->edges.n;
		FAB_PUSH(&o->edges, ((struct edge){from, to, o->slot[slot], slot}));
		FAB_PUSH(&o->out, ((struct link){to, o->first_out[from]}));
		FAB_PUSH(&o->in, ((struct link){from, o->first_in[to]}));
		o->first_out[from] = o->first_in[to] = o->slot[slot] = known;
	}
	*id = known;
	o->out.v[*id].vertex = to;
	o->in.v[*id].vertex = from;
	return FAB_EDGE_NEW;
}

/* The edge added last of all goes for good; any other is passed over from now on. */
void fab_channel_order_drop(struct fab_channel_order *o, uint32_t id)
{
	const struct edge *e = &o->edges.v[id];

	o->out.v[id].vertex = e->from;
	o->in.v[id].vertex = e->to;
	if (id != o->edges.n - 1 || o->first_out[e->from] != id ||
	    o->first_in[e->to] != id || o->slot[e->slot] != id)
		return;
	o->first_out[e->from] = o->out.v[id].next;
	o->first_in[e->to] = o->in.v[id].next;
	o->slot[e->slot] = e->next_same;
	o->edges.n = o->out.n = o->in.n = id;
}
