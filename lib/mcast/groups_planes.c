/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members of a group on one plane. A member that was named by its adapter or its host can
 * be any of their ports; when the ports first thought of are on several planes, the group
 * moves to a plane on which all its members have one.
 */
#include "base/mem.h"
#include "base/text.h"
#include "fabric/planes.h"
#include "mcast/groups_impl.h"

#include <stdlib.h>
#include <string.h>

struct moving {
	struct fab_groups_builder *b;
	const struct fab_planes *planes;
	uint32_t *seen; /* [n_ports] number, from 1, of the last group that has it */
};

/* The lowest port of the adapter on a part, FAB_NONE. */
static uint32_t port_on(const struct moving *m, uint32_t adapter, uint32_t part)
{
	const struct fab_fabric *f = m->b->f;

	for (uint32_t p = f->node_first_port[adapter];
	     p < f->node_first_port[adapter + 1]; p++)
		if (f->port_cable[p] != FAB_NONE &&
		    fab_planes_of_port(m->planes, f, p) == part)
			return p;
	return FAB_NONE;
}

/* A port of the host on a part: that of its first adapter by name. */
static uint32_t port_of_host(const struct moving *m, uint32_t host, uint32_t part)
{
	const struct fab_fabric *f = m->b->f;
	uint32_t best = FAB_NONE;

	for (uint32_t i = f->host_first_adapter[host];
	     i < f->host_first_adapter[host + 1]; i++) {
		uint32_t port = port_on(m, f->host_adapter[i], part);

		if (port == FAB_NONE ||
		    (best != FAB_NONE &&
		     fab_text_natural_cmp(fab_node_name(f, f->host_adapter[i]),
					  fab_node_name(f, f->port_node[best])) >= 0))
			continue;
		best = port;
	}
	return best;
}

/* The port that a member takes on a part, FAB_NONE when it has none there. */
static uint32_t member_on(const struct moving *m, size_t i, uint32_t part)
{
	const struct fab_fabric *f = m->b->f;
	uint32_t port = m->b->member.v[i], node = f->port_node[port];

	if (fab_planes_of_port(m->planes, f, port) == part)
		return port;
	if (fab_node_is_switch(f, node) || m->b->scope.v[i] == FAB_SCOPE_PORT)
		return FAB_NONE;
	if (m->b->scope.v[i] == FAB_SCOPE_HOST && f->node_host[node] != FAB_NONE)
		return port_of_host(m, f->node_host[node], part);
	return port_on(m, node, part);
}

static bool all_on(const struct moving *m, size_t first, size_t end, uint32_t part)
{
	for (size_t i = first; i < end; i++)
		if (member_on(m, i, part) == FAB_NONE)
			return false;
	return true;
}

/* The part that the group is to be on: that of its first member if it can be. */
static uint32_t choose_part(const struct moving *m, size_t first, size_t end)
{
	uint32_t part = FAB_NONE;
	bool is_joined;

	if (first == end)
		return FAB_NONE; /* nobody is in it */
	part = fab_planes_of_port(m->planes, m->b->f, m->b->member.v[first]);
	is_joined = part != FAB_NONE;
	for (size_t i = first; i < end && is_joined; i++)
		is_joined =
			fab_planes_of_port(m->planes, m->b->f, m->b->member.v[i]) == part;
	if (is_joined)
		return FAB_NONE; /* it stays as it is */
	if (part != FAB_NONE && all_on(m, first, end, part))
		return part;
	for (uint32_t i = 0; i < m->planes->n_planes; i++)
		if (all_on(m, first, end, i))
			return i;
	return FAB_NONE;
}

/* Move the members first .. end-1 of a group to `at`, each port once. Returns the end. */
static size_t move(struct moving *m, uint32_t group, size_t first, size_t end, size_t at)
{
	uint32_t part = choose_part(m, first, end);

	for (size_t i = first; i < end; i++) {
		uint32_t port =
			part == FAB_NONE ? m->b->member.v[i] : member_on(m, i, part);

		if (m->seen[port] == group + 1)
			continue;
		m->seen[port] = group + 1;
		m->b->scope.v[at] = m->b->scope.v[i];
		m->b->member.v[at++] = port;
	}
	return at;
}

void fab_groups_share_planes(struct fab_groups_builder *b)
{
	struct moving m = {.b = b};
	struct fab_planes *planes = fab_planes_new(b->f);
	size_t at = 0;

	m.planes = planes;
	m.seen = FAB_NEW0(b->f->n_ports, uint32_t);
	for (size_t g = 0; g < b->first.n && planes->n_planes > 1; g++) {
		size_t first = b->first.v[g];
		size_t end = g + 1 < b->first.n ? b->first.v[g + 1] : b->member.n;

		b->first.v[g] = at;
		at = move(&m, (uint32_t)g, first, end, at);
	}
	if (planes->n_planes > 1)
		b->member.n = b->scope.n = at;
	free(m.seen);
	fab_planes_free(planes);
}
