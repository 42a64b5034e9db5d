/* SPDX-License-Identifier: BSD-2-Clause */
/* Cables: the same, lost, gained, and of these the moved ones. */
#include "base/map.h"
#include "fabric/check.h"
#include "fabric/diff_impl.h"

#include <stdlib.h>
#include <string.h>

struct cables {
	struct fab_differ *d;
	uint32_t
		*twin_of_old; /* [cables of the old fabric] the same or moved, FAB_NONE */
	uint32_t *twin_of_new;
};

/* The port of the new fabric that is this one of the old, FAB_NONE. */
static uint32_t new_port(const struct fab_differ *d, uint32_t port)
{
	uint32_t node = d->diff->new_of[d->old->port_node[port]];

	return node == FAB_NONE ? FAB_NONE
				: fab_port_find(d->new, node, d->old->port_num[port]);
}

static void join(struct cables *c, uint32_t old_cable, uint32_t new_cable)
{
	c->twin_of_old[old_cable] = new_cable;
	c->twin_of_new[new_cable] = old_cable;
}

static void find_same(struct cables *c)
{
	const struct fab_differ *d = c->d;

	for (uint32_t i = 0; i < d->old->n_cables; i++) {
		uint32_t a = new_port(d, d->old->cable_a[i]);
		uint32_t b = new_port(d, d->old->cable_b[i]);

		if (a != FAB_NONE && b != FAB_NONE && fab_port_peer(d->new, a) == b)
			join(c, i, d->new->port_cable[a]);
	}
}

static bool is_lost(const struct cables *c, uint32_t old_cable)
{
	return c->twin_of_old[old_cable] == FAB_NONE;
}

static bool is_gained(const struct cables *c, uint32_t new_cable)
{
	return c->twin_of_new[new_cable] == FAB_NONE;
}

/* Are both nodes of a cable in the other fabric, too? */
static bool old_is_whole(const struct fab_differ *d, uint32_t cable)
{
	return d->diff->new_of[d->old->port_node[d->old->cable_a[cable]]] != FAB_NONE &&
	       d->diff->new_of[d->old->port_node[d->old->cable_b[cable]]] != FAB_NONE;
}

static bool new_is_whole(const struct fab_differ *d, uint32_t cable)
{
	return d->diff->old_of[d->new->port_node[d->new->cable_a[cable]]] != FAB_NONE &&
	       d->diff->old_of[d->new->port_node[d->new->cable_b[cable]]] != FAB_NONE;
}

/* A cable to a missing node and one to a new node are these nodes' business. */
static bool may_have_moved(const struct cables *c, uint32_t old_cable, uint32_t new_cable)
{
	return is_gained(c, new_cable) &&
	       (old_is_whole(c->d, old_cable) || new_is_whole(c->d, new_cable));
}

/* Pair a lost cable with the gained one at the same port of its end a or b. */
static void move_at_end(struct cables *c, uint32_t old_cable, bool at_b)
{
	const struct fab_differ *d = c->d;
	uint32_t port = new_port(d, at_b ? d->old->cable_b[old_cable]
					 : d->old->cable_a[old_cable]);
	uint32_t gained = port == FAB_NONE ? FAB_NONE : d->new->port_cable[port];

	if (gained != FAB_NONE && may_have_moved(c, old_cable, gained))
		join(c, old_cable, gained);
}

/* Cables that keep an end; that of the adapter says more than that of the switch. */
static void find_moved_ends(struct cables *c)
{
	const struct fab_fabric *old = c->d->old;

	for (uint32_t i = old->n_switch_links; i < old->n_cables; i++)
		if (is_lost(c, i))
			move_at_end(c, i, true);
	for (int at_b = 0; at_b < 2; at_b++)
		for (uint32_t i = 0; i < old->n_cables; i++)
			if (is_lost(c, i))
				move_at_end(c, i, at_b);
}

/* Two nodes as one key; in terms of the new fabric, FAB_NONE for either is kept. */
static uint64_t pair_key(uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static uint64_t old_pair(const struct fab_differ *d, uint32_t cable)
{
	return pair_key(d->diff->new_of[d->old->port_node[d->old->cable_a[cable]]],
			d->diff->new_of[d->old->port_node[d->old->cable_b[cable]]]);
}

static uint64_t new_pair(const struct fab_differ *d, uint32_t cable)
{
	return pair_key(d->new->port_node[d->new->cable_a[cable]],
			d->new->port_node[d->new->cable_b[cable]]);
}

/* The adapter that a cable serves, in terms of the new fabric; FAB_NONE between switches.
 */
static uint64_t old_adapter(const struct fab_differ *d, uint32_t cable)
{
	return cable < d->old->n_switch_links
		       ? FAB_NONE
		       : d->diff->new_of[d->old->port_node[d->old->cable_b[cable]]];
}

static uint64_t new_adapter(const struct fab_differ *d, uint32_t cable)
{
	return cable < d->new->n_switch_links ? FAB_NONE
					      : d->new->port_node[d->new->cable_b[cable]];
}

typedef uint64_t (*key_fn)(const struct fab_differ *d, uint32_t cable);

/* Pair lost and gained cables of equal keys in order of their ids; `none` is no key. */
static void pair_by_key(struct cables *c, key_fn old_key, key_fn new_key, uint64_t none)
{
	const struct fab_differ *d = c->d;
	struct fab_map64 *first = fab_map64_new(0); /* key: first gained cable with it */
	uint32_t *next = FAB_NEW(d->new->n_cables, uint32_t);

	for (uint32_t i = d->new->n_cables; i-- > 0;) {
		uint64_t key = new_key(d, i);

		if (!is_gained(c, i) || !new_is_whole(d, i) || key == none)
			continue;
		next[i] = fab_map64_get(first, key);
		fab_map64_set(first, key, i);
	}
	for (uint32_t i = 0; i < d->old->n_cables; i++) {
		uint64_t key = old_key(d, i);
		uint32_t gained;

		if (!is_lost(c, i) || key == none)
			continue;
		gained = fab_map64_get(first, key);
		if (gained == FAB_NONE)
			continue;
		join(c, i, gained);
		fab_map64_set(first, key, next[gained]);
	}
	free(next);
	fab_map64_free(first);
}

/*
 * Are they the same as far as both sources can tell? A cache of libibnetdisc holds what
 * every port answers, not the vendor's attribute that tells FDR10 from QDR.
 */
static bool same_speed(const struct fab_differ *d, uint8_t a, uint8_t b)
{
	bool may_be_fdr10 =
		(a == FAB_QDR && b == FAB_FDR10 && !strcmp(d->old->format, "cache")) ||
		(a == FAB_FDR10 && b == FAB_QDR && !strcmp(d->new->format, "cache"));

	return !a || !b || a == b || may_be_fdr10;
}

/* Another rate than before, as far as both fabrics know it. */
static void compare_rates(struct fab_differ *d, uint32_t old_cable, uint32_t new_cable)
{
	uint8_t speed[2] = {fab_cable_speed(d->old, old_cable),
			    fab_cable_speed(d->new, new_cable)};
	uint8_t width[2] = {fab_cable_width(d->old, old_cable),
			    fab_cable_width(d->new, new_cable)};

	if (!same_speed(d, speed[0], speed[1]))
		fab_differ_cable(d, FAB_CHANGE_SPEED, old_cable, new_cable);
	if (width[0] && width[1] && width[0] != width[1])
		fab_differ_cable(d, FAB_CHANGE_WIDTH, old_cable, new_cable);
}

/* Same or moved: a cable whose ends are not both where they were. */
static bool has_moved(const struct fab_differ *d, uint32_t old_cable, uint32_t new_cable)
{
	uint32_t a = new_port(d, d->old->cable_a[old_cable]);
	uint32_t b = new_port(d, d->old->cable_b[old_cable]);

	return a == FAB_NONE || b == FAB_NONE || d->new->port_cable[a] != new_cable ||
	       d->new->port_cable[b] != new_cable;
}

static void report(struct cables *c)
{
	struct fab_differ *d = c->d;

	for (uint32_t i = 0; i < d->old->n_cables; i++) {
		uint32_t twin = c->twin_of_old[i];

		if (twin == FAB_NONE) {
			if (old_is_whole(d, i))
				fab_differ_cable(d, FAB_CHANGE_MISSING, i, FAB_NONE);
			continue;
		}
		if (has_moved(d, i, twin))
			fab_differ_cable(d, FAB_CHANGE_MOVED, i, twin);
		compare_rates(d, i, twin);
	}
	for (uint32_t i = 0; i < d->new->n_cables; i++)
		if (is_gained(c, i) && new_is_whole(d, i))
			fab_differ_cable(d, FAB_CHANGE_NEW, FAB_NONE, i);
}

void fab_diff_cables(struct fab_differ *d)
{
	struct cables c = {.d = d,
			   .twin_of_old = FAB_NEW(d->old->n_cables, uint32_t),
			   .twin_of_new = FAB_NEW(d->new->n_cables, uint32_t)};

	memset(c.twin_of_old, 0xff, d->old->n_cables * sizeof(uint32_t));
	memset(c.twin_of_new, 0xff, d->new->n_cables * sizeof(uint32_t));
	find_same(&c);
	find_moved_ends(&c);
	pair_by_key(&c, old_pair, new_pair, pair_key(FAB_NONE, FAB_NONE));
	pair_by_key(&c, old_adapter, new_adapter, FAB_NONE);
	report(&c);
	free(c.twin_of_old);
	free(c.twin_of_new);
}
