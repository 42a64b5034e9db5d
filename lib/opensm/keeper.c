/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "opensm/keeper_impl.h"

struct fab_shared_fabric *fab_shared_fabric_hold(struct fab_shared_fabric *s)
{
	atomic_fetch_add(&s->n_users, 1);
	return s;
}

void fab_shared_fabric_drop(struct fab_shared_fabric *s)
{
	if (!s || atomic_fetch_sub(&s->n_users, 1) > 1)
		return;
	fab_shape_free(s->shape);
	fab_dist_free(s->dist);
	fab_map64_free(s->port_of);
	fab_map64_free(s->switch_of);
	fab_fabric_free(s->f);
	free(s);
}

/* Takes the fabric, whatever happens. */
static struct fab_shared_fabric *share(struct fab_fabric *f, struct fab_err *err)
{
	struct fab_shared_fabric *s = FAB_NEW0(1, struct fab_shared_fabric);

	atomic_init(&s->n_users, 1);
	s->f = f;
	s->port_of = fab_map64_new(f->n_ports);
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (f->port_guid[p])
			fab_map64_put(s->port_of, f->port_guid[p], p);
	s->switch_of = fab_map64_new(f->n_switches);
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		fab_map64_put(s->switch_of, f->node_guid[sw], sw);
	if (fab_dist_new(f, 1, &s->dist, err)) {
		fab_shared_fabric_drop(s);
		return NULL;
	}
	s->shape = fab_shape_recognize(f);
	return s;
}

struct fab_keeper *fab_keeper_new(uint32_t n_groups)
{
	struct fab_keeper *k = FAB_NEW0(1, struct fab_keeper);

	k->n_groups = n_groups;
	return k;
}

void fab_keeper_clear(struct fab_keeper *k)
{
	fab_live_free(k->live);
	fab_shared_fabric_drop(k->shared);
	k->live = NULL;
	k->shared = NULL;
}

void fab_keeper_free(struct fab_keeper *k)
{
	if (!k)
		return;
	fab_keeper_clear(k);
	free(k);
}

/*
 * The ports with these GUIDs, ascending, each once, all connected, into port[n]; how many
 * or a negative errno.
 */
static int find_ports(const struct fab_shared_fabric *s, const uint64_t *guid, uint32_t n,
		      uint32_t *port, struct fab_err *err)
{
	uint32_t n_ports = 0;
	const uint8_t *row;

	for (uint32_t i = 0; i < n; i++) {
		port[i] = fab_map64_get(s->port_of, guid[i]);
		if (port[i] == FAB_NONE || fab_port_switch(s->f, port[i]) == FAB_NONE)
			return fab_fail(err, ENOENT,
					"port 0x%016llx is on no switch that does "
					"multicast",
					(unsigned long long)guid[i]);
	}
	if (!n)
		return 0;
	qsort(port, n, sizeof(*port), fab_cmp_u32);
	row = fab_dist_row(s->dist, fab_port_switch(s->f, port[0]));
	for (uint32_t i = 0; i < n; i++) {
		if (row[fab_port_switch(s->f, port[i])] == FAB_HOPS_UNREACHABLE)
			return fab_fail(err, EHOSTUNREACH,
					"ports 0x%016llx and 0x%016llx are not connected",
					(unsigned long long)s->f->port_guid[port[0]],
					(unsigned long long)s->f->port_guid[port[i]]);
		if (!n_ports || port[i] != port[n_ports - 1])
			port[n_ports++] = port[i];
	}
	return (int)n_ports;
}

static bool is_same(const struct fab_live_tree *t, const uint32_t *port, uint32_t n)
{
	return t->n_members == n && (!n || !memcmp(t->member, port, n * sizeof(*port)));
}

int fab_keeper_route(struct fab_keeper *k, uint32_t group, const uint64_t *guid,
		     uint32_t n, struct fab_err *err)
{
	struct fab_live_tree t;
	uint32_t *port;
	int rc = 1, found;

	if (!k->live || group >= k->n_groups)
		return fab_fail(err, ENXIO, "nothing is known of the subnet yet");
	port = FAB_NEW(n, uint32_t);
	found = find_ports(k->shared, guid, n, port, err);
	t = fab_live_tree_of(k->live, group);
	if (found >= 0 && is_same(&t, port, (uint32_t)found))
		rc = 0;
	else
		fab_live_route(k->live, group, port, found < 0 ? 0 : (uint32_t)found);
	free(port);
	return found < 0 ? found : rc;
}

/* FAB_NONE: it is gone. */
static uint32_t same_switch(const struct fab_shared_fabric *from,
			    const struct fab_shared_fabric *to, uint32_t sw)
{
	return fab_map64_get(to->switch_of, from->f->node_guid[sw]);
}

/* The port of a switch that has the place of a port of `from`; FAB_NONE: it is gone. */
static uint32_t same_port(const struct fab_shared_fabric *from,
			  const struct fab_shared_fabric *to, uint32_t port)
{
	uint32_t sw = same_switch(from, to, from->f->port_node[port]);

	return sw == FAB_NONE ? FAB_NONE
			      : fab_port_find(to->f, sw, from->f->port_num[port]);
}

/* This cable in `to`; FAB_NONE: gone. */
static uint32_t same_cable(const struct fab_shared_fabric *from,
			   const struct fab_shared_fabric *to, uint32_t cable)
{
	uint32_t a = same_port(from, to, from->f->cable_a[cable]);
	uint32_t b = same_port(from, to, from->f->cable_b[cable]);

	if (a == FAB_NONE || b == FAB_NONE || fab_port_peer(to->f, a) != b)
		return FAB_NONE;
	return to->f->port_cable[a];
}

/* The members hang where they did, on the switches with the same GUIDs. */
static bool members_stay(const struct fab_shared_fabric *from,
			 const struct fab_live_tree *old,
			 const struct fab_shared_fabric *to, const uint32_t *port,
			 uint32_t n)
{
	if (old->root == FAB_NONE || old->n_members != n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t now =
			fab_map64_get(to->port_of, from->f->port_guid[old->member[i]]);
		uint32_t was_on = fab_port_switch(from->f, old->member[i]);

		if (now == FAB_NONE ||
		    !bsearch(&now, port, n, sizeof(*port), fab_cmp_u32) ||
		    fab_port_switch(to->f, now) != same_switch(from, to, was_on))
			return false;
	}
	return true;
}

/* The old tree in the new fabric, if all of it is there. */
static bool carry_over(const struct fab_shared_fabric *from,
		       const struct fab_live_tree *old, struct fab_keeper *k,
		       uint32_t group, const uint32_t *port, uint32_t n)
{
	const struct fab_shared_fabric *to = k->shared;
	struct fab_live_tree new = *old;
	uint32_t *sw, *cable;
	bool is_there = members_stay(from, old, to, port, n);

	if (!is_there)
		return false;
	sw = FAB_NEW(old->n_edges, uint32_t);
	cable = FAB_NEW(old->n_edges, uint32_t);
	new.root = same_switch(from, to, old->root);
	for (uint32_t e = 0; e < old->n_edges && is_there; e++) {
		sw[e] = same_switch(from, to, old->sw[e]);
		cable[e] = same_cable(from, to, old->cable[e]);
		is_there = sw[e] != FAB_NONE && cable[e] != FAB_NONE;
	}
	new.member = port;
	new.sw = sw;
	new.cable = cable;
	if (is_there && new.root != FAB_NONE)
		fab_live_adopt(k->live, group, &new);
	free(sw);
	free(cable);
	return is_there && new.root != FAB_NONE;
}

/* First what stays, so that the others are routed over its loads. */
static void settle(struct fab_keeper *k, const struct fab_keeper *old,
		   const struct fab_membership *m, bool is_first,
		   struct fab_keeper_counts *counts)
{
	for (uint32_t g = 0; g < m->n; g++) {
		uint32_t n = (uint32_t)(m->first[g + 1] - m->first[g]);
		uint32_t *port = FAB_NEW(n, uint32_t);
		int found = find_ports(k->shared, m->guid + m->first[g], n, port, NULL);
		struct fab_live_tree t;

		if (is_first && old->live && found > 1) {
			t = fab_live_tree_of(old->live, g);
			counts->kept +=
				carry_over(old->shared, &t, k, g, port, (uint32_t)found);
		}
		t = fab_live_tree_of(k->live, g);
		if (!is_first && found > 0 && t.root == FAB_NONE) {
			fab_live_route(k->live, g, port, (uint32_t)found);
			counts->routed += found > 1;
		}
		if (!is_first)
			counts->left += found < 0;
		free(port);
	}
}

int fab_keeper_renew(struct fab_keeper *k, struct fab_fabric *f,
		     const struct fab_membership *members,
		     struct fab_keeper_counts *counts, struct fab_err *err)
{
	const struct fab_mcast_engine *quick = fab_mcast_engine_find("fulb-links", 10);
	struct fab_keeper old = *k;

	*counts = (struct fab_keeper_counts){0};
	k->live = NULL;
	k->shared = share(f, err);
	if (k->shared) {
		k->live = fab_live_new(f, k->shared->dist, k->n_groups, quick,
				       FAB_TIES_SPREAD);
		settle(k, &old, members, true, counts);
		settle(k, &old, members, false, counts);
	}
	fab_keeper_clear(&old);
	return k->shared ? 0 : -EINVAL;
}

struct fab_live_tree fab_keeper_tree(const struct fab_keeper *k, uint32_t group)
{
	if (!k->live || group >= k->n_groups)
		return (struct fab_live_tree){.root = FAB_NONE};
	return fab_live_tree_of(k->live, group);
}

const struct fab_fabric *fab_keeper_fabric(const struct fab_keeper *k)
{
	return k->shared ? k->shared->f : NULL;
}

uint32_t fab_keeper_max_efi(const struct fab_keeper *k)
{
	return k->live ? fab_live_max_load(k->live) : 0;
}
