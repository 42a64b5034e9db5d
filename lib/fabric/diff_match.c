/* SPDX-License-Identifier: BSD-2-Clause */
/* Which node of one fabric is which of the other. */
#include "base/map.h"
#include "base/order.h"
#include "fabric/diff_impl.h"
#include "fabric/guids.h"
#include "fabric/label.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Switches are matched with switches, adapters of any kind with each other. */
static bool same_kind(const struct fab_differ *d, uint32_t old_node, uint32_t new_node)
{
	return fab_node_is_switch(d->old, old_node) ==
	       fab_node_is_switch(d->new, new_node);
}

static void join(struct fab_differ *d, uint32_t old_node, uint32_t new_node)
{
	d->diff->new_of[old_node] = new_node;
	d->diff->old_of[new_node] = old_node;
}

static void match_guids(struct fab_differ *d)
{
	struct fab_map64 *old = fab_guids_new(d->old, d->old->n_nodes);
	struct fab_map64 *new = fab_guids_new(d->new, d->new->n_nodes);

	for (uint32_t i = 0; i < d->old->n_nodes; i++) {
		uint64_t guid = d->old->node_guid[i];
		uint32_t k = guid ? fab_map64_get(new, guid) : FAB_NONE;

		if (k >= FAB_SHARED || fab_map64_get(old, guid) != i ||
		    !same_kind(d, i, k))
			continue;
		join(d, i, k);
		d->diff->by_guid = true;
	}
	fab_map64_free(old);
	fab_map64_free(new);
}

/* The short name in lower case, led by what kind of node it is. Returns the length. */
static size_t name_key(const struct fab_fabric *f, uint32_t node,
		       char key[FAB_LABEL_SIZE])
{
	size_t len;

	key[0] = fab_node_is_switch(f, node) ? 's' : 'a';
	fab_label_short(fab_node_name(f, node), key + 1, FAB_LABEL_SIZE - 1);
	len = strlen(key);
	for (size_t i = 1; i < len; i++)
		key[i] = (char)tolower((unsigned char)key[i]);
	return len;
}

bool fab_diff_same_name(const struct fab_differ *d, uint32_t old_node, uint32_t new_node)
{
	char a[FAB_LABEL_SIZE], b[FAB_LABEL_SIZE];
	size_t na = name_key(d->old, old_node, a), nb = name_key(d->new, new_node, b);

	return na == nb && !memcmp(a, b, na);
}

/* Name to node among those not matched yet; FAB_SHARED where several have it. */
static struct fab_strmap *name_map(const struct fab_fabric *f, const uint32_t *mate)
{
	struct fab_strmap *map = fab_strmap_new(f->n_nodes);
	char key[FAB_LABEL_SIZE];

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		size_t len;

		if (mate[i] != FAB_NONE)
			continue;
		len = name_key(f, i, key);
		if (fab_strmap_put(map, key, len, i) != i)
			fab_strmap_set(map, key, len, FAB_SHARED);
	}
	return map;
}

static void match_names(struct fab_differ *d)
{
	struct fab_strmap *old = name_map(d->old, d->diff->new_of);
	struct fab_strmap *new = name_map(d->new, d->diff->old_of);
	char key[FAB_LABEL_SIZE];

	for (uint32_t i = 0; i < d->old->n_nodes; i++) {
		size_t len;
		uint32_t k;

		if (d->diff->new_of[i] != FAB_NONE)
			continue;
		len = name_key(d->old, i, key);
		k = fab_strmap_get(new, key, len);
		if (len > 1 && k < FAB_SHARED && fab_strmap_get(old, key, len) == i)
			join(d, i, k);
	}
	fab_strmap_free(old);
	fab_strmap_free(new);
}

/* The node at the other end of a port's cable and its port there. */
static uint32_t neighbour(const struct fab_fabric *f, uint32_t port, uint16_t *num)
{
	uint32_t peer = fab_port_peer(f, port);

	if (peer == FAB_NONE)
		return FAB_NONE;
	*num = f->port_num[peer];
	return f->port_node[peer];
}

/* What sits in the new fabric where this port's cable led in the old one; else FAB_NONE.
 */
static uint32_t at_same_place(const struct fab_differ *d, uint32_t port)
{
	uint16_t num = 0, back = 0;
	uint32_t peer = neighbour(d->old, port, &num), there;

	if (peer == FAB_NONE || d->diff->new_of[peer] == FAB_NONE)
		return FAB_NONE;
	there = fab_port_find(d->new, d->diff->new_of[peer], num);
	return there == FAB_NONE ? FAB_NONE : neighbour(d->new, there, &back);
}

static bool may_stand_for(const struct fab_differ *d, uint32_t old_node,
			  uint32_t new_node)
{
	return new_node != FAB_NONE && d->diff->old_of[new_node] == FAB_NONE &&
	       same_kind(d, old_node, new_node) &&
	       (!d->diff->by_guid || fab_diff_same_name(d, old_node, new_node));
}

/*
 * The node found at more than half of the places that a node had, counting only cables to
 * matched nodes; FAB_NONE without such a majority.
 */
static uint32_t majority(const struct fab_differ *d, uint32_t node, uint32_t *votes)
{
	const struct fab_fabric *f = d->old;
	uint32_t n = 0, n_cables = 0, n_middle = 0, middle;

	for (uint32_t p = f->node_first_port[node]; p < f->node_first_port[node + 1];
	     p++) {
		uint16_t num;
		uint32_t peer = neighbour(f, p, &num), k = at_same_place(d, p);

		if (peer == FAB_NONE || d->diff->new_of[peer] == FAB_NONE)
			continue;
		n_cables++;
		if (may_stand_for(d, node, k))
			votes[n++] = k;
	}
	if (2 * n <= n_cables)
		return FAB_NONE;
	qsort(votes, n, sizeof(*votes), fab_cmp_u32);
	middle = votes[n / 2];
	for (uint32_t i = 0; i < n; i++)
		n_middle += votes[i] == middle;
	return 2 * n_middle > n_cables ? middle : FAB_NONE;
}

/* Switches before adapters: these hang on those. */
static void match_places(struct fab_differ *d)
{
	const struct fab_fabric *f = d->old;
	uint32_t most = 0;
	uint32_t *votes;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (f->node_first_port[i + 1] - f->node_first_port[i] > most)
			most = f->node_first_port[i + 1] - f->node_first_port[i];
	votes = FAB_NEW(most, uint32_t);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t k;

		if (d->diff->new_of[i] != FAB_NONE)
			continue;
		k = majority(d, i, votes);
		if (k != FAB_NONE)
			join(d, i, k);
	}
	free(votes);
}

void fab_diff_match(struct fab_differ *d)
{
	d->diff->new_of = FAB_NEW(d->old->n_nodes, uint32_t);
	d->diff->old_of = FAB_NEW(d->new->n_nodes, uint32_t);
	memset(d->diff->new_of, 0xff, d->old->n_nodes * sizeof(uint32_t));
	memset(d->diff->old_of, 0xff, d->new->n_nodes * sizeof(uint32_t));
	match_guids(d);
	match_names(d);
	match_places(d);
}
