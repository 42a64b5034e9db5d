/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/diff.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/order.h"
#include "fabric/check.h"
#include "fabric/fabric.h"
#include "fabric/label.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct differ {
	const struct fab_fabric *old, *new;
	struct fab_diff *diff;
	FAB_VEC(struct fab_change) found;
};

/* One difference more. */

static void differ_node(struct differ *d, enum fab_change_kind kind, uint32_t old_node,
			uint32_t new_node)
{
	FAB_PUSH(&d->found,
		 ((struct fab_change){kind, old_node, new_node, FAB_NONE, FAB_NONE}));
}

static void differ_cable(struct differ *d, enum fab_change_kind kind, uint32_t old_cable,
			 uint32_t new_cable)
{
	FAB_PUSH(&d->found,
		 ((struct fab_change){kind, FAB_NONE, FAB_NONE, old_cable, new_cable}));
}

/* Which node of one fabric is which of the other. */

/* Switches are matched with switches, adapters of any kind with each other. */
static bool same_kind(const struct differ *d, uint32_t old_node, uint32_t new_node)
{
	return fab_node_is_switch(d->old, old_node) ==
	       fab_node_is_switch(d->new, new_node);
}

static void join_nodes(struct differ *d, uint32_t old_node, uint32_t new_node)
{
	d->diff->new_of[old_node] = new_node;
	d->diff->old_of[new_node] = old_node;
}

static void match_guids(struct differ *d)
{
	struct fab_map64 *old = fab_guids_new(d->old, d->old->n_nodes);
	struct fab_map64 *new = fab_guids_new(d->new, d->new->n_nodes);

	for (uint32_t i = 0; i < d->old->n_nodes; i++) {
		uint64_t guid = d->old->node_guid[i];
		uint32_t k = guid ? fab_map64_get(new, guid) : FAB_NONE;

		if (k >= FAB_SHARED || fab_map64_get(old, guid) != i ||
		    !same_kind(d, i, k))
			continue;
		join_nodes(d, i, k);
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

static bool diff_same_name(const struct differ *d, uint32_t old_node, uint32_t new_node)
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

static void match_names(struct differ *d)
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
			join_nodes(d, i, k);
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

/* Node of the new fabric where this port's cable led in the old one; else FAB_NONE.
 */
static uint32_t at_same_place(const struct differ *d, uint32_t port)
{
	uint16_t num = 0, back = 0;
	uint32_t peer = neighbour(d->old, port, &num), there;

	if (peer == FAB_NONE || d->diff->new_of[peer] == FAB_NONE)
		return FAB_NONE;
	there = fab_port_find(d->new, d->diff->new_of[peer], num);
	return there == FAB_NONE ? FAB_NONE : neighbour(d->new, there, &back);
}

/*
 * The node found at more than half of the places that a node had, counting only cables to
 * matched nodes; FAB_NONE without such a majority.
 */
static uint32_t majority(const struct differ *d, uint32_t node, uint32_t *votes)
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
		if (k != FAB_NONE && d->diff->old_of[k] == FAB_NONE &&
		    same_kind(d, node, k) &&
		    (!d->diff->by_guid || diff_same_name(d, node, k)))
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

/* Cables: the same, lost, gained, and of these the moved ones. */

struct cables {
	struct differ *d;
	uint32_t
		*twin_of_old; /* [cables of the old fabric] the same or moved, FAB_NONE */
	uint32_t *twin_of_new;
};

/* The port of the new fabric that is this one of the old, FAB_NONE. */
static uint32_t new_port(const struct differ *d, uint32_t port)
{
	uint32_t node = d->diff->new_of[d->old->port_node[port]];

	return node == FAB_NONE ? FAB_NONE
				: fab_port_find(d->new, node, d->old->port_num[port]);
}

static void join_cables(struct cables *c, uint32_t old_cable, uint32_t new_cable)
{
	c->twin_of_old[old_cable] = new_cable;
	c->twin_of_new[new_cable] = old_cable;
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
static bool old_is_whole(const struct differ *d, uint32_t cable)
{
	return d->diff->new_of[d->old->port_node[d->old->cable_a[cable]]] != FAB_NONE &&
	       d->diff->new_of[d->old->port_node[d->old->cable_b[cable]]] != FAB_NONE;
}

static bool new_is_whole(const struct differ *d, uint32_t cable)
{
	return d->diff->old_of[d->new->port_node[d->new->cable_a[cable]]] != FAB_NONE &&
	       d->diff->old_of[d->new->port_node[d->new->cable_b[cable]]] != FAB_NONE;
}

/* Pair a lost cable with the gained one at the same port of its end a or b. */
static void move_at_end(struct cables *c, uint32_t old_cable, bool at_b)
{
	const struct differ *d = c->d;
	uint32_t port = new_port(d, at_b ? d->old->cable_b[old_cable]
					 : d->old->cable_a[old_cable]);
	uint32_t gained = port == FAB_NONE ? FAB_NONE : d->new->port_cable[port];

	if (gained != FAB_NONE && is_gained(c, gained) &&
	    (old_is_whole(c->d, old_cable) || new_is_whole(c->d, gained)))
		join_cables(c, old_cable, gained);
}

/* Two nodes as one key; in terms of the new fabric, FAB_NONE for either is kept. */
static uint64_t pair_key(uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static uint64_t old_pair(const struct differ *d, uint32_t cable)
{
	return pair_key(d->diff->new_of[d->old->port_node[d->old->cable_a[cable]]],
			d->diff->new_of[d->old->port_node[d->old->cable_b[cable]]]);
}

static uint64_t new_pair(const struct differ *d, uint32_t cable)
{
	return pair_key(d->new->port_node[d->new->cable_a[cable]],
			d->new->port_node[d->new->cable_b[cable]]);
}

/* The adapter that a cable serves, in terms of the new fabric; FAB_NONE between switches.
 */
static uint64_t old_adapter(const struct differ *d, uint32_t cable)
{
	return cable < d->old->n_switch_links
		       ? FAB_NONE
		       : d->diff->new_of[d->old->port_node[d->old->cable_b[cable]]];
}

static uint64_t new_adapter(const struct differ *d, uint32_t cable)
{
	return cable < d->new->n_switch_links ? FAB_NONE
					      : d->new->port_node[d->new->cable_b[cable]];
}

typedef uint64_t (*key_fn)(const struct differ *d, uint32_t cable);

/* Pair lost and gained cables of equal keys in order of their ids; `none` is no key. */
static void pair_by_key(struct cables *c, key_fn old_key, key_fn new_key, uint64_t none)
{
	const struct differ *d = c->d;
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
		join_cables(c, i, gained);
		fab_map64_set(first, key, next[gained]);
	}
	free(next);
	fab_map64_free(first);
}

/* Another rate than before, as far as both fabrics know it. */
static void compare_rates(struct differ *d, uint32_t old_cable, uint32_t new_cable)
{
	uint8_t speed[2] = {fab_cable_speed(d->old, old_cable),
			    fab_cable_speed(d->new, new_cable)};
	uint8_t width[2] = {fab_cable_width(d->old, old_cable),
			    fab_cable_width(d->new, new_cable)};
	uint8_t a = speed[0];
	uint8_t b = speed[1];
	bool may_be_fdr10 =
		(a == FAB_QDR && b == FAB_FDR10 && !strcmp(d->old->format, "cache")) ||
		(a == FAB_FDR10 && b == FAB_QDR && !strcmp(d->new->format, "cache"));

	/*
	 * Equal as far as both sources know? A cache of libibnetdisc
	 * holds what every port answers, not the vendor's attribute that distinguishes
	 * FDR10 from QDR.
	 */

	if (!(!a || !b || a == b || may_be_fdr10))
		differ_cable(d, FAB_CHANGE_SPEED, old_cable, new_cable);
	if (width[0] && width[1] && width[0] != width[1])
		differ_cable(d, FAB_CHANGE_WIDTH, old_cable, new_cable);
}

static void report(struct cables *c)
{
	struct differ *d = c->d;

	for (uint32_t i = 0; i < d->old->n_cables; i++) {
		uint32_t twin = c->twin_of_old[i];
		uint32_t a;
		uint32_t b;

		if (twin == FAB_NONE) {
			if (old_is_whole(d, i))
				differ_cable(d, FAB_CHANGE_MISSING, i, FAB_NONE);
			continue;
		}
		/* Same or moved: a cable whose ends are not both where they were. */
		a = new_port(d, d->old->cable_a[i]);
		b = new_port(d, d->old->cable_b[i]);
		if ((a == FAB_NONE || b == FAB_NONE || d->new->port_cable[a] != twin ||
		     d->new->port_cable[b] != twin))
			differ_cable(d, FAB_CHANGE_MOVED, i, twin);
		compare_rates(d, i, twin);
	}
	for (uint32_t i = 0; i < d->new->n_cables; i++)
		if (is_gained(c, i) && new_is_whole(d, i))
			differ_cable(d, FAB_CHANGE_NEW, FAB_NONE, i);
}

static void diff_cables(struct differ *d)
{
	struct cables c = {.d = d,
			   .twin_of_old = FAB_NEW(d->old->n_cables, uint32_t),
			   .twin_of_new = FAB_NEW(d->new->n_cables, uint32_t)};
	const struct fab_fabric *old;

	memset(c.twin_of_old, 0xff, d->old->n_cables * sizeof(uint32_t));
	memset(c.twin_of_new, 0xff, d->new->n_cables * sizeof(uint32_t));
	for (uint32_t k = 0; k < d->old->n_cables; k++) {
		uint32_t a = new_port(d, d->old->cable_a[k]);
		uint32_t b = new_port(d, d->old->cable_b[k]);

		if (a != FAB_NONE && b != FAB_NONE && fab_port_peer(d->new, a) == b)
			join_cables(&c, k, d->new->port_cable[a]);
	}
	/* Cables that keep an end; that of the adapter says more than that of the switch.
	 */
	old = c.d->old;
	for (uint32_t i = old->n_switch_links; i < old->n_cables; i++)
		if (is_lost(&c, i))
			move_at_end(&c, i, true);
	for (int at_b = 0; at_b < 2; at_b++)
		for (uint32_t i = 0; i < old->n_cables; i++)
			if (is_lost(&c, i))
				move_at_end(&c, i, at_b);
	pair_by_key(&c, old_pair, new_pair, pair_key(FAB_NONE, FAB_NONE));
	pair_by_key(&c, old_adapter, new_adapter, FAB_NONE);
	report(&c);
	free(c.twin_of_old);
	free(c.twin_of_new);
}

const char *fab_change_name(enum fab_change_kind kind)
{
	static const char *const names[] = {
		[FAB_CHANGE_MISSING] = "missing",   [FAB_CHANGE_NEW] = "new",
		[FAB_CHANGE_MOVED] = "moved",	    [FAB_CHANGE_RENAMED] = "renamed",
		[FAB_CHANGE_REPLACED] = "replaced", [FAB_CHANGE_SPEED] = "speed",
		[FAB_CHANGE_WIDTH] = "width",
	};

	return names[kind];
}

/* Nodes before cables, then kind, then ids; FAB_NONE sorts last. */
static int by_kind(const void *x, const void *y)
{
	const struct fab_change *a = x, *b = y;
	bool a_cable = a->old_node == FAB_NONE && a->new_node == FAB_NONE;
	bool b_cable = b->old_node == FAB_NONE && b->new_node == FAB_NONE;

	if (a_cable != b_cable)
		return a_cable ? 1 : -1;
	FAB_ORDER_BY(a, b, kind);
	FAB_ORDER_BY(a, b, old_node);
	FAB_ORDER_BY(a, b, new_node);
	FAB_ORDER_BY(a, b, old_cable);
	return (a->new_cable > b->new_cable) - (a->new_cable < b->new_cable);
}

struct fab_diff *fab_diff_new(const struct fab_fabric *old, const struct fab_fabric *new)
{
	struct differ d = {.old = old, .new = new, .diff = FAB_NEW0(1, struct fab_diff)};
	const struct fab_fabric *f;
	uint32_t most = 0;
	uint32_t *votes;

	d.diff->new_of = FAB_NEW(d.old->n_nodes, uint32_t);
	d.diff->old_of = FAB_NEW(d.new->n_nodes, uint32_t);
	memset(d.diff->new_of, 0xff, d.old->n_nodes * sizeof(uint32_t));
	memset(d.diff->old_of, 0xff, d.new->n_nodes * sizeof(uint32_t));
	match_guids(&d);
	match_names(&d);
	/* Switches before adapters, which depend on them. */
	f = d.old;
	for (uint32_t j = 0; j < f->n_nodes; j++)
		if (f->node_first_port[j + 1] - f->node_first_port[j] > most)
			most = f->node_first_port[j + 1] - f->node_first_port[j];
	votes = FAB_NEW(most, uint32_t);
	for (uint32_t j = 0; j < f->n_nodes; j++) {
		uint32_t m;

		if (d.diff->new_of[j] != FAB_NONE)
			continue;
		m = majority(&d, j, votes);
		if (m != FAB_NONE)
			join_nodes(&d, j, m);
	}
	free(votes);
	for (uint32_t i = 0; i < d.old->n_nodes; i++) {
		uint32_t k = d.diff->new_of[i];

		if (k == FAB_NONE) {
			differ_node(&d, FAB_CHANGE_MISSING, i, FAB_NONE);
			continue;
		}
		if (!diff_same_name(&d, i, k))
			differ_node(&d, FAB_CHANGE_RENAMED, i, k);
		if (d.diff->by_guid && d.old->node_guid[i] && d.new->node_guid[k] &&
		    d.old->node_guid[i] != d.new->node_guid[k])
			differ_node(&d, FAB_CHANGE_REPLACED, i, k);
	}
	for (uint32_t i = 0; i < d.new->n_nodes; i++)
		if (d.diff->old_of[i] == FAB_NONE)
			differ_node(&d, FAB_CHANGE_NEW, FAB_NONE, i);
	diff_cables(&d);
	if (d.found.n)
		qsort(d.found.v, d.found.n, sizeof(*d.found.v), by_kind);
	d.diff->changes = d.found.v;
	d.diff->n_changes = (uint32_t)d.found.n;
	return d.diff;
}

void fab_diff_free(struct fab_diff *diff)
{
	if (!diff)
		return;
	free(diff->changes);
	free(diff->new_of);
	free(diff->old_of);
	free(diff);
}
