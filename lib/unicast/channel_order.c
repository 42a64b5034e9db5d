/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/channel_order.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct edge {
	uint32_t from, to;
	uint32_t next_same, slot; /* of the same slot, FAB_NONE at the end */
};

/*
 * What searches look at, apart from the rest: the other vertex of an edge, or of one that
 * was dropped the vertex whose list it is in, which a search has always seen.
 */
struct link {
	uint32_t vertex, next; /* FAB_NONE at the end */
};

struct fab_channel_order {
	uint32_t n;
	uint32_t *place;		/* [n] position in the order */
	uint32_t *at;			/* [n] vertex in a position */
	uint32_t *first_out, *first_in; /* [n] edge, FAB_NONE */
	uint8_t *is_seen;		/* [n] in the running search */
	FAB_VEC(struct edge) edges;
	FAB_VEC(struct link) out, in; /* of each edge */
	uint32_t *slot;		      /* [n_slots] edge, FAB_NONE */
	FAB_VEC(uint32_t) ahead, behind;
	uint32_t *places; /* of both, merged and apart: twice n_places */
	size_t n_places;  /* room */
};

/* Up to so many are sorted by insertion. */
enum { FEW = 24 };

struct keyed {
	uint32_t key, vertex;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

static void put(struct fab_channel_order *o, uint32_t vertex, uint32_t place)
{
	o->place[vertex] = place;
	o->at[place] = vertex;
}

struct fab_channel_order *fab_channel_order_new(uint32_t n, const uint32_t *key,
						uint32_t n_slots)
{
	struct fab_channel_order *o = FAB_NEW0(1, struct fab_channel_order);
	struct keyed *sorted = FAB_NEW(n + 1, struct keyed);

	o->n = n;
	o->place = FAB_NEW(n + 1, uint32_t);
	o->at = FAB_NEW(n + 1, uint32_t);
	o->first_out = FAB_NEW(n + 1, uint32_t);
	o->first_in = FAB_NEW(n + 1, uint32_t);
	o->is_seen = FAB_NEW0(n + 1, uint8_t);
	o->slot = FAB_NEW((size_t)n_slots + 1, uint32_t);
	memset(o->slot, 0xff, n_slots * sizeof(*o->slot));
	memset(o->first_out, 0xff, n * sizeof(*o->first_out));
	memset(o->first_in, 0xff, n * sizeof(*o->first_in));
	for (uint32_t v = 0; v < n; v++)
		sorted[v] = (struct keyed){key[v], v};
	qsort(sorted, n, sizeof(*sorted), by_key);
	for (uint32_t i = 0; i < n; i++)
		put(o, sorted[i].vertex, i);
	free(sorted);
	return o;
}

void fab_channel_order_free(struct fab_channel_order *o)
{
	if (!o)
		return;
	free(o->place);
	free(o->first_out);
	free(o->first_in);
	free(o->is_seen);
	free(o->edges.v);
	free(o->out.v);
	free(o->in.v);
	free(o->ahead.v);
	free(o->behind.v);
	free(o->places);
	free(o->at);
	free(o->slot);
	free(o);
}

/* What `from` leads to up to place `last`; false when that is `target`, too. */
static bool look_ahead(struct fab_channel_order *o, uint32_t from, uint32_t target)
{
	uint32_t last = o->place[target];

	o->ahead.n = 0;
	o->is_seen[from] = 1;
	FAB_PUSH(&o->ahead, from);
	for (size_t i = 0; i < o->ahead.n; i++) {
		uint32_t e = o->first_out[o->ahead.v[i]];

		for (; e != FAB_NONE; e = o->out.v[e].next) {
			uint32_t v = o->out.v[e].vertex;

			if (o->is_seen[v] || o->place[v] > last)
				continue;
			if (v == target)
				return false;
			o->is_seen[v] = 1;
			FAB_PUSH(&o->ahead, v);
		}
	}
	return true;
}

static void look_behind(struct fab_channel_order *o, uint32_t to, uint32_t first)
{
	o->behind.n = 0;
	o->is_seen[to] = 1;
	FAB_PUSH(&o->behind, to);
	for (size_t i = 0; i < o->behind.n; i++) {
		uint32_t e = o->first_in[o->behind.v[i]];

		for (; e != FAB_NONE; e = o->in.v[e].next) {
			uint32_t v = o->in.v[e].vertex;

			if (o->is_seen[v] || o->place[v] < first)
				continue;
			o->is_seen[v] = 1;
			FAB_PUSH(&o->behind, v);
		}
	}
}

static void forget(struct fab_channel_order *o, const uint32_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		o->is_seen[v[i]] = 0;
}

static uint32_t middle_of(uint32_t a, uint32_t b, uint32_t c)
{
	if (a > b)
		return a < c ? a : b > c ? b : c;
	return b < c ? b : a > c ? a : c;
}

/* Hoare's partition; qsort() takes three times as long. */
static void sort(uint32_t *v, size_t n)
{
	while (n > FEW) {
		uint32_t pivot = middle_of(v[0], v[n / 2], v[n - 1]);
		size_t i = 0, j = n - 1;

		for (;; i++, j--) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			uint32_t moved = v[i];

			v[i] = v[j];
			v[j] = moved;
		}
		if (j + 1 < n - j - 1) {
			sort(v, j + 1);
			v += j + 1;
			n -= j + 1;
		} else {
			sort(v + j + 1, n - j - 1);
			n = j + 1;
		}
	}
	for (size_t i = 1; i < n; i++) {
		uint32_t moved = v[i];
		size_t j = i;

		for (; j && v[j - 1] > moved; j--)
			v[j] = v[j - 1];
		v[j] = moved;
	}
}

/* Vertices in the order of their places, which go to `places`. */
static void in_order(const struct fab_channel_order *o, uint32_t *v, size_t n,
		     uint32_t *places)
{
	for (size_t i = 0; i < n; i++)
		places[i] = o->place[v[i]];
	sort(places, n);
	for (size_t i = 0; i < n; i++)
		v[i] = o->at[places[i]];
}

static void merge(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b,
		  uint32_t *out)
{
	while (n_a && n_b) {
		if (*a < *b) {
			*out++ = *a++;
			n_a--;
		} else {
			*out++ = *b++;
			n_b--;
		}
	}
	memcpy(out, n_a ? a : b, (n_a + n_b) * sizeof(*out));
}

/* What is behind takes the first of all their places, what is ahead the others. */
static void reorder(struct fab_channel_order *o)
{
	size_t n_behind = o->behind.n, n_ahead = o->ahead.n, n = n_behind + n_ahead;
	uint32_t *places;

	if (n > o->n_places) {
		o->n_places = 2 * n;
		o->places = fab_realloc(o->places, 2 * o->n_places, sizeof(*o->places));
	}
	places = o->places + n;
	in_order(o, o->behind.v, n_behind, places);
	in_order(o, o->ahead.v, n_ahead, places + n_behind);
	merge(places, n_behind, places + n_behind, n_ahead, o->places);
	for (size_t i = 0; i < n_behind; i++)
		put(o, o->behind.v[i], o->places[i]);
	for (size_t i = 0; i < n_ahead; i++)
		put(o, o->ahead.v[i], o->places[n_behind + i]);
}

static bool make_room(struct fab_channel_order *o, uint32_t from, uint32_t to)
{
	bool is_free;

	if (from == to)
		return false;
	if (o->place[from] < o->place[to])
		return true;
	is_free = look_ahead(o, to, from);
	forget(o, o->ahead.v, o->ahead.n);
	if (!is_free)
		return false;
	look_behind(o, from, o->place[to]);
	forget(o, o->behind.v, o->behind.n);
	reorder(o);
	return true;
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

static uint32_t add_edge(struct fab_channel_order *o, uint32_t slot, uint32_t from,
			 uint32_t to)
{
	uint32_t e = (uint32_t)o->edges.n;

	FAB_PUSH(&o->edges, ((struct edge){from, to, o->slot[slot], slot}));
	FAB_PUSH(&o->out, ((struct link){to, o->first_out[from]}));
	FAB_PUSH(&o->in, ((struct link){from, o->first_in[to]}));
	return o->first_out[from] = o->first_in[to] = o->slot[slot] = e;
}

enum fab_edge fab_channel_order_add(struct fab_channel_order *o, uint32_t slot,
				    uint32_t from, uint32_t to, uint32_t *id)
{
	uint32_t known = find(o, slot, from, to);

	if (known != FAB_NONE && !is_dropped(o, known))
		return FAB_EDGE_KNOWN;
	if (!make_room(o, from, to))
		return FAB_EDGE_CYCLE;
	*id = known != FAB_NONE ? known : add_edge(o, slot, from, to);
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
