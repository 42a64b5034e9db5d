/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "unicast/routes.h"

enum {
	ENTRIES_MIN = 1 << 20, /* below that the caches do well */
	SHARE_MIN = 4,	       /* rows a leaf */
	NUMBERS = 1 << 16,     /* of vectors */
	VECTORS_MAX = 1 << 20, /* entries of all: the second cache holds them */
	PLACES = 2 * NUMBERS,
};

/* Hosts by leaf switch. */
struct leaves {
	uint32_t *of;	  /* [n_switches] number of the leaf, FAB_NONE */
	uint32_t *first;  /* [n + 1] into row */
	uint32_t *row;	  /* rows of the routes that lead there, each once */
	uint32_t *n_rows; /* [n] */
	uint32_t n, most, total;
};

static void leaves_fini(struct leaves *l)
{
	free(l->of);
	free(l->first);
	free(l->row);
	free(l->n_rows);
}

static void number_leaves(struct leaves *l, const struct sim_net *net)
{
	const struct fab_flow_ends *ends = net->problem->ends;

	*l = (struct leaves){.of = FAB_NEW(net->n_switches + 1, uint32_t),
			     .first = FAB_NEW0(net->n_switches + 2, uint32_t),
			     .n_rows = FAB_NEW0(net->n_switches + 1, uint32_t),
			     .row = FAB_NEW(net->n_ends + 1, uint32_t)};
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		l->of[sw] = FAB_NONE;
	for (uint32_t e = 0; e < net->n_ends; e++) {
		uint32_t *leaf = &l->of[ends->sw[e]];

		if (*leaf == FAB_NONE)
			*leaf = l->n++;
		l->first[*leaf + 1]++;
	}
	for (uint32_t i = 0; i < l->n; i++)
		l->first[i + 1] += l->first[i];
}

/* Where a row is among those of its leaf: put there if it is not. */
static uint32_t slot_of(struct leaves *l, uint32_t leaf, uint32_t row)
{
	uint32_t *rows = l->row + l->first[leaf], slot = 0;

	while (slot < l->n_rows[leaf] && rows[slot] != row)
		slot++;
	if (slot == l->n_rows[leaf]) {
		rows[l->n_rows[leaf]++] = row;
		l->most = slot + 1 > l->most ? slot + 1 : l->most;
		l->total++;
	}
	return slot;
}

/* The vectors found so far. */
struct search {
	struct sim_tables *t;
	uint32_t *place;      /* [PLACES] number of a vector by its hash, FAB_NONE */
	uint16_t *differs;    /* [n_switches] not the leaf before's vector: non-zero */
	const uint16_t **row; /* [most] of the leaf */
	uint32_t n_rows;      /* 0: there was none */
};

static bool is_equal(const struct search *x, uint32_t number, uint32_t sw)
{
	const uint16_t *v = x->t->vector + ((size_t)number << x->t->bits);

	for (uint32_t i = 0; i < x->n_rows; i++)
		if (v[i] != x->row[i][sw])
			return false;
	return true;
}

/* The number of what the leaf's hosts have at a switch; FAB_NONE: too many differ. */
static uint32_t number_of(struct search *x, uint32_t sw)
{
	struct sim_tables *t = x->t;
	uint32_t at, hash = 0;
	uint16_t *v;

	for (uint32_t i = 0; i < x->n_rows; i++)
		hash = (hash + x->row[i][sw]) * 0x9e3779b1u;
	at = (hash ^ hash >> 16) % PLACES;
	for (; x->place[at] != FAB_NONE; at = (at + 1) % PLACES)
		if (is_equal(x, x->place[at], sw))
			return x->place[at];
	if (t->n_vectors == NUMBERS ||
	    ((size_t)t->n_vectors + 1) << t->bits > VECTORS_MAX)
		return FAB_NONE;
	v = t->vector + ((size_t)t->n_vectors << t->bits);
	for (uint32_t i = 0; i < 1u << t->bits; i++)
		v[i] = i < x->n_rows ? x->row[i][sw] : (uint16_t)FAB_ARC_NONE;
	x->place[at] = t->n_vectors;
	return t->n_vectors++;
}

/* The rows of a leaf, and where they differ from those of the leaf before, as they do
 * seldom. */
static void set_rows(struct search *x, const struct leaves *l, uint32_t leaf)
{
	const struct sim_tables *t = x->t;
	uint32_t n = l->n_rows[leaf];

	memset(x->differs, n == x->n_rows ? 0 : 0xff,
	       t->n_switches * sizeof(*x->differs));
	for (uint32_t i = 0; i < n; i++) {
		const uint16_t *row =
			t->next + (size_t)l->row[l->first[leaf] + i] * t->n_switches;

		for (uint32_t sw = 0; n == x->n_rows && sw < t->n_switches; sw++)
			x->differs[sw] |= x->row[i][sw] ^ row[sw];
		x->row[i] = row;
	}
	x->n_rows = n;
}

/* All switches' entries of a leaf; false: too many differ. */
static bool add_leaf(struct search *x, const struct leaves *l, uint32_t leaf)
{
	struct sim_tables *t = x->t;
	uint16_t *to = t->number + (size_t)leaf * t->n_switches;
	uint32_t number;

	set_rows(x, l, leaf);
	for (uint32_t sw = 0; sw < t->n_switches; sw++) {
		if (leaf && !x->differs[sw]) {
			to[sw] = (to - t->n_switches)[sw];
			continue;
		}
		number = number_of(x, sw);
		if (number == FAB_NONE)
			return false;
		to[sw] = (uint16_t)number;
	}
	return true;
}

/* Number all vectors; false: there are too many. */
static bool add_all(struct sim_tables *t, const struct leaves *l)
{
	struct search x = {.t = t,
			   .place = FAB_NEW(PLACES, uint32_t),
			   .differs = FAB_NEW(t->n_switches, uint16_t),
			   .row = FAB_NEW(l->most, const uint16_t *)};
	bool is_done = true;

	memset(x.place, 0xff, PLACES * sizeof(*x.place));
	t->number = fab_alloc_huge((size_t)l->n * t->n_switches * sizeof(*t->number));
	t->vector = fab_alloc_huge(VECTORS_MAX * sizeof(*t->vector));
	for (uint32_t i = 0; i < l->n && is_done; i++)
		is_done = add_leaf(&x, l, i);
	free(x.place);
	free(x.differs);
	free(x.row);
	return is_done;
}

static bool is_worth_it(const struct sim_tables *t, const struct leaves *l)
{
	return (uint64_t)l->total * t->n_switches >= ENTRIES_MIN &&
	       l->total >= (uint64_t)SHARE_MIN * l->n &&
	       (uint64_t)l->n << t->bits < FAB_NONE && 1u << t->bits <= VECTORS_MAX;
}

void sim_tables_init(struct sim_tables *t, const struct sim_net *net)
{
	const struct fab_routes *r = net->problem->routes;
	uint32_t *end_row = FAB_NEW(net->n_ends + 1, uint32_t);
	struct leaves l;

	*t = (struct sim_tables){.n_switches = net->n_switches,
				 .next = r ? r->next : NULL,
				 .end_row = FAB_NEW(net->n_ends + 1, uint32_t)};
	memcpy(t->end_row, net->end_row, net->n_ends * sizeof(*end_row));
	number_leaves(&l, net);
	for (uint32_t e = 0; e < net->n_ends; e++)
		end_row[e] = net->end_row[e] == FAB_NONE
				     ? FAB_NONE
				     : slot_of(&l, l.of[net->problem->ends->sw[e]],
					       net->end_row[e]);
	while (1u << t->bits < l.most)
		t->bits++;
	if (r && is_worth_it(t, &l) && add_all(t, &l)) {
		t->n_leaves = l.n;
		for (uint32_t e = 0; e < net->n_ends; e++)
			if (end_row[e] != FAB_NONE)
				t->end_row[e] = l.of[net->problem->ends->sw[e]]
							<< t->bits |
						end_row[e];
	} else {
		free(t->number);
		free(t->vector);
		t->number = t->vector = NULL;
	}
	leaves_fini(&l);
	free(end_row);
}

void sim_tables_fini(struct sim_tables *t)
{
	free(t->number);
	free(t->vector);
	free(t->end_row);
}

size_t sim_tables_bytes(const struct sim_tables *t)
{
	return ((size_t)t->n_leaves * t->n_switches + ((size_t)t->n_vectors << t->bits)) *
	       sizeof(*t->number);
}
