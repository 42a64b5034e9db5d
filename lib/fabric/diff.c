/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which node, then which cable of one fabric is which of the other; then the differences.
 * Side 0 is the old fabric, side 1 the new one.
 */
#include "fabric/diff.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/order.h"
#include "fabric/fabric.h"
#include "fabric/label.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct differ {
	const struct fab_fabric *f[2];
	uint32_t *mate[2]; /* [nodes] node of the other side, FAB_NONE */
	uint32_t
		*twin[2]; /* [cables] the same or moved one of the other side, FAB_NONE */
	struct fab_diff *diff;
	FAB_VEC(struct fab_change) found;
};

static void add_node(struct differ *d, enum fab_change_kind kind, uint32_t old_node,
		     uint32_t new_node)
{
	FAB_PUSH(&d->found,
		 ((struct fab_change){kind, old_node, new_node, FAB_NONE, FAB_NONE}));
}

static void add_cable(struct differ *d, enum fab_change_kind kind, uint32_t old_cable,
		      uint32_t new_cable)
{
	FAB_PUSH(&d->found,
		 ((struct fab_change){kind, FAB_NONE, FAB_NONE, old_cable, new_cable}));
}

/* Switches are matched with switches, adapters of any kind with each other. */
static bool same_kind(const struct differ *d, uint32_t old_node, uint32_t new_node)
{
	return fab_node_is_switch(d->f[0], old_node) ==
	       fab_node_is_switch(d->f[1], new_node);
}

static void join_nodes(struct differ *d, uint32_t old_node, uint32_t new_node)
{
	d->mate[0][old_node] = new_node;
	d->mate[1][new_node] = old_node;
}

/* The short name in lower case, led by the kind of node. Returns the length. */
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
	size_t na = name_key(d->f[0], old_node, a), nb = name_key(d->f[1], new_node, b);

	return na == nb && !memcmp(a, b, na);
}

/* Match nodes by their GUIDs, then those that are left by their names. */
static void match_keys(struct differ *d)
{
	struct fab_map64 *by_guid[2];
	struct fab_strmap *by_name[2]; /* FAB_SHARED where several have the name */
	char key[FAB_LABEL_SIZE];

	for (int side = 0; side < 2; side++)
		by_guid[side] = fab_guids_new(d->f[side], d->f[side]->n_nodes);
	for (uint32_t i = 0; i < d->f[0]->n_nodes; i++) {
		uint64_t guid = d->f[0]->node_guid[i];
		uint32_t k = guid ? fab_map64_get(by_guid[1], guid) : FAB_NONE;

		if (k >= FAB_SHARED || fab_map64_get(by_guid[0], guid) != i ||
		    !same_kind(d, i, k))
			continue;
		join_nodes(d, i, k);
		d->diff->by_guid = true;
	}
	for (int side = 0; side < 2; side++) {
		by_name[side] = fab_strmap_new(d->f[side]->n_nodes);
		for (uint32_t i = 0; i < d->f[side]->n_nodes; i++) {
			size_t len;

			if (d->mate[side][i] != FAB_NONE)
				continue;
			len = name_key(d->f[side], i, key);
			if (fab_strmap_put(by_name[side], key, len, i) != i)
				fab_strmap_set(by_name[side], key, len, FAB_SHARED);
		}
	}
	for (uint32_t i = 0; i < d->f[0]->n_nodes; i++) {
		size_t len = name_key(d->f[0], i, key);
		uint32_t k = fab_strmap_get(by_name[1], key, len);

		if (d->mate[0][i] == FAB_NONE && len > 1 && k < FAB_SHARED &&
		    fab_strmap_get(by_name[0], key, len) == i)
			join_nodes(d, i, k);
	}
	for (int side = 0; side < 2; side++) {
		fab_map64_free(by_guid[side]);
		fab_strmap_free(by_name[side]);
	}
}

/*
 * The node found at more than half of the places that a node had, counting only cables to
 * matched nodes; FAB_NONE without such a majority.
 */
static uint32_t majority(const struct differ *d, uint32_t node, uint32_t *votes)
{
	const struct fab_fabric *old = d->f[0], *new = d->f[1];
	uint32_t n = 0, n_cables = 0, n_middle = 0, middle;

	FAB_EACH_PORT(old, node, p) {
		uint32_t peer = fab_port_peer(old, p), at, k;

		if (peer == FAB_NONE || d->mate[0][old->port_node[peer]] == FAB_NONE)
			continue;
		n_cables++;
		/* Node of the new fabric where this port's cable led in the old one. */
		at = fab_port_find(new, d->mate[0][old->port_node[peer]],
				   old->port_num[peer]);
		at = at == FAB_NONE ? FAB_NONE : fab_port_peer(new, at);
		if (at == FAB_NONE)
			continue;
		k = new->port_node[at];
		if (d->mate[1][k] == FAB_NONE && same_kind(d, node, k) &&
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

/* The port of the new fabric that is this one of the old, FAB_NONE. */
static uint32_t new_port(const struct differ *d, uint32_t port)
{
	uint32_t node = d->mate[0][d->f[0]->port_node[port]];

	return node == FAB_NONE ? FAB_NONE
				: fab_port_find(d->f[1], node, d->f[0]->port_num[port]);
}

static void join_cables(struct differ *d, uint32_t old_cable, uint32_t new_cable)
{
	d->twin[0][old_cable] = new_cable;
	d->twin[1][new_cable] = old_cable;
}

/* Lost, or gained. */
static bool is_single(const struct differ *d, int side, uint32_t cable)
{
	return d->twin[side][cable] == FAB_NONE;
}

/* The node of a port in terms of the new fabric, FAB_NONE. */
static uint32_t new_node(const struct differ *d, int side, uint32_t port)
{
	uint32_t node = d->f[side]->port_node[port];

	return side ? node : d->mate[0][node];
}

/* Are both nodes of a cable in the other fabric, too? */
static bool is_whole(const struct differ *d, int side, uint32_t cable)
{
	const struct fab_fabric *f = d->f[side];

	return d->mate[side][f->port_node[f->cable_a[cable]]] != FAB_NONE &&
	       d->mate[side][f->port_node[f->cable_b[cable]]] != FAB_NONE;
}

/* Pair a lost cable with the gained one at the same port of its end a or b. */
static void move_at_end(struct differ *d, uint32_t cable, bool at_b)
{
	uint32_t port =
		new_port(d, at_b ? d->f[0]->cable_b[cable] : d->f[0]->cable_a[cable]);
	uint32_t gained = port == FAB_NONE ? FAB_NONE : d->f[1]->port_cable[port];

	if (is_single(d, 0, cable) && gained != FAB_NONE && is_single(d, 1, gained) &&
	    (is_whole(d, 0, cable) || is_whole(d, 1, gained)))
		join_cables(d, cable, gained);
}

/* Key of a cable: both nodes, or the adapter that it serves, in terms of the new fabric;
 * UINT64_MAX: it has none. */
static uint64_t key_of(const struct differ *d, int side, uint32_t cable, bool of_adapter)
{
	const struct fab_fabric *f = d->f[side];
	uint64_t a = new_node(d, side, f->cable_a[cable]);
	uint64_t b = new_node(d, side, f->cable_b[cable]);

	if (!of_adapter)
		return a < b ? a << 32 | b : b << 32 | a;
	return cable < f->n_switch_links || b == FAB_NONE ? UINT64_MAX : b;
}

/* Pair lost and gained cables of equal keys in order of their ids. */
static void pair_by_key(struct differ *d, bool of_adapter)
{
	struct fab_map64 *first = fab_map64_new(0); /* key: first gained cable with it */
	FAB_AUTOFREE uint32_t *next = FAB_NEW(d->f[1]->n_cables, uint32_t);

	for (uint32_t i = d->f[1]->n_cables; i-- > 0;) {
		uint64_t key = key_of(d, 1, i, of_adapter);

		if (!is_single(d, 1, i) || !is_whole(d, 1, i) || key == UINT64_MAX)
			continue;
		next[i] = fab_map64_get(first, key);
		fab_map64_set(first, key, i);
	}
	for (uint32_t i = 0; i < d->f[0]->n_cables; i++) {
		uint64_t key = key_of(d, 0, i, of_adapter);
		uint32_t gained = fab_map64_get(first, key);

		if (!is_single(d, 0, i) || key == UINT64_MAX || gained == FAB_NONE)
			continue;
		join_cables(d, i, gained);
		fab_map64_set(first, key, next[gained]);
	}
	fab_map64_free(first);
}

static void match_cables(struct differ *d)
{
	const struct fab_fabric *old = d->f[0];

	for (uint32_t k = 0; k < old->n_cables; k++) {
		uint32_t a = new_port(d, old->cable_a[k]);
		uint32_t b = new_port(d, old->cable_b[k]);

		if (a != FAB_NONE && b != FAB_NONE && fab_port_peer(d->f[1], a) == b)
			join_cables(d, k, d->f[1]->port_cable[a]);
	}
	/* Cables that keep an end; that of the adapter says more than that of the switch.
	 */
	for (uint32_t i = old->n_switch_links; i < old->n_cables; i++)
		move_at_end(d, i, true);
	for (int at_b = 0; at_b < 2; at_b++)
		for (uint32_t i = 0; i < old->n_cables; i++)
			move_at_end(d, i, at_b);
	pair_by_key(d, false);
	pair_by_key(d, true);
}

static void report_cables(struct differ *d)
{
	const struct fab_fabric *old = d->f[0], *new = d->f[1];

	for (uint32_t i = 0; i < old->n_cables; i++) {
		uint32_t twin = d->twin[0][i], a, b;
		uint8_t speed[2], width[2];
		bool may_be_fdr10;

		if (twin == FAB_NONE) {
			if (is_whole(d, 0, i))
				add_cable(d, FAB_CHANGE_MISSING, i, FAB_NONE);
			continue;
		}
		/* Same or moved: a cable whose ends are not both where they were. */
		a = new_port(d, old->cable_a[i]);
		b = new_port(d, old->cable_b[i]);
		if (a == FAB_NONE || b == FAB_NONE || new->port_cable[a] != twin ||
		    new->port_cable[b] != twin)
			add_cable(d, FAB_CHANGE_MOVED, i, twin);
		/*
		 * Another rate, as far as both fabrics know it. A cache of libibnetdisc
		 * holds the answer of each port, not the vendor's attribute that
		 * distinguishes FDR10 from QDR.
		 */
		speed[0] = fab_cable_speed(old, i);
		speed[1] = fab_cable_speed(new, twin);
		width[0] = fab_cable_width(old, i);
		width[1] = fab_cable_width(new, twin);
		may_be_fdr10 = (speed[0] == FAB_QDR && speed[1] == FAB_FDR10 &&
				!strcmp(old->format, "cache")) ||
			       (speed[0] == FAB_FDR10 && speed[1] == FAB_QDR &&
				!strcmp(new->format, "cache"));
		if (speed[0] && speed[1] && speed[0] != speed[1] && !may_be_fdr10)
			add_cable(d, FAB_CHANGE_SPEED, i, twin);
		if (width[0] && width[1] && width[0] != width[1])
			add_cable(d, FAB_CHANGE_WIDTH, i, twin);
	}
	for (uint32_t i = 0; i < new->n_cables; i++)
		if (is_single(d, 1, i) && is_whole(d, 1, i))
			add_cable(d, FAB_CHANGE_NEW, FAB_NONE, i);
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
	struct differ d = {.f = {old, new}, .diff = FAB_NEW0(1, struct fab_diff)};
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	uint32_t most = 0, *votes;

	for (int side = 0; side < 2; side++) {
		d.mate[side] = fab_none_new(d.f[side]->n_nodes);
		d.twin[side] = fab_arena_none(&arena, d.f[side]->n_cables);
	}
	d.diff->new_of = d.mate[0];
	d.diff->old_of = d.mate[1];
	match_keys(&d);
	for (uint32_t j = 0; j < old->n_nodes; j++)
		if (old->node_first_port[j + 1] - old->node_first_port[j] > most)
			most = old->node_first_port[j + 1] - old->node_first_port[j];
	votes = FAB_ARENA_NEW(&arena, most, uint32_t);
	/* Switches before adapters, which depend on them. */
	for (uint32_t j = 0; j < old->n_nodes; j++) {
		uint32_t m = d.mate[0][j] == FAB_NONE ? majority(&d, j, votes) : FAB_NONE;

		if (m != FAB_NONE)
			join_nodes(&d, j, m);
	}
	for (uint32_t i = 0; i < old->n_nodes; i++) {
		uint32_t k = d.mate[0][i];

		if (k == FAB_NONE) {
			add_node(&d, FAB_CHANGE_MISSING, i, FAB_NONE);
			continue;
		}
		if (!diff_same_name(&d, i, k))
			add_node(&d, FAB_CHANGE_RENAMED, i, k);
		if (d.diff->by_guid && old->node_guid[i] && new->node_guid[k] &&
		    old->node_guid[i] != new->node_guid[k])
			add_node(&d, FAB_CHANGE_REPLACED, i, k);
	}
	for (uint32_t i = 0; i < new->n_nodes; i++)
		if (d.mate[1][i] == FAB_NONE)
			add_node(&d, FAB_CHANGE_NEW, FAB_NONE, i);
	match_cables(&d);
	report_cables(&d);
	FAB_SORT(&d.found, by_kind);
	d.diff->changes = d.found.v;
	d.diff->n_changes = (uint32_t)d.found.n;
	return d.diff;
}

void fab_diff_free(struct fab_diff *diff)
{
	if (!diff)
		return;
	FAB_FREE_ALL(diff->changes, diff->new_of, diff->old_of, diff);
}
