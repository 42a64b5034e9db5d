/* SPDX-License-Identifier: BSD-2-Clause */
/* Which pairs use a cable. */
#include "unicast/columns.h"
#include "unicast/trace.h"
#include "unicast/walk.h"

#include <stdlib.h>
#include <string.h>

struct search {
	const struct fab_routes *r;
	struct fab_columns columns;
	uint32_t *first, *port; /* [n_switches + 1] into port: ports of hosts by switch */
	struct fab_walk walk;	/* of the column at hand */
	bool *goes_through;	/* [n_switches] */
	struct fab_cable_use *use; /* direction at hand */
	uint32_t sw, arc, end;	   /* its switch and arc; end: port of the adapter of a
				      host cable, FAB_NONE */
};

static void list_ports(struct search *s)
{
	const struct fab_fabric *f = s->r->f;
	uint32_t first = f->n_switch_links, last = first + f->n_host_links;

	s->first = FAB_NEW0(f->n_switches + 2, uint32_t);
	s->port = FAB_NEW(f->n_host_links, uint32_t);
	for (uint32_t c = first; c < last; c++)
		if (f->node_kind[f->port_node[f->cable_b[c]]] == FAB_ADAPTER)
			s->first[f->port_node[f->cable_a[c]] + 2]++;
	for (uint32_t i = 0; i < f->n_switches; i++)
		s->first[i + 2] += s->first[i + 1];
	for (uint32_t c = first; c < last; c++)
		if (f->node_kind[f->port_node[f->cable_b[c]]] == FAB_ADAPTER)
			s->port[s->first[f->port_node[f->cable_a[c]] + 1]++] =
				f->cable_b[c];
}

/* Who sends through the direction at hand along the column being walked. */
static void find_senders(struct search *s)
{
	const struct fab_fabric *f = s->r->f;
	const struct fab_walk *w = &s->walk;

	memset(s->goes_through, false, f->n_switches * sizeof(*s->goes_through));
	for (uint32_t i = 1; i < w->n_order; i++) {
		uint32_t sw = w->order[i], out = w->next[sw];

		s->goes_through[sw] =
			(sw == s->sw && out == s->arc) ||
			s->goes_through[f->arc_peer[f->arc_first[sw] + out]];
	}
}

static void mark(bool *set, uint32_t *n, uint32_t host)
{
	*n += !set[host];
	set[host] = true;
}

static void add_pair(struct search *s, uint32_t from, uint32_t to)
{
	const struct fab_fabric *f = s->r->f;

	if (from == to)
		return;
	s->use->pairs++;
	mark(s->use->sends, &s->use->n_senders, f->node_host[f->port_node[from]]);
	mark(s->use->receives, &s->use->n_receivers, f->node_host[f->port_node[to]]);
}

/* Does the cable carry what this switch's ports send to the port? */
static bool carries(struct search *s, uint32_t sw, uint32_t from, uint32_t to,
		    bool is_outward)
{
	if (s->end == FAB_NONE)
		return s->goes_through[sw];
	return s->walk.hops[sw] < FAB_HOPS_NEVER && (is_outward ? to : from) == s->end;
}

/* All senders to one port by its column. */
static void add_target(struct search *s, uint32_t to, bool is_outward)
{
	const struct fab_fabric *f = s->r->f;

	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		for (uint32_t i = s->first[sw]; i < s->first[sw + 1]; i++)
			if (carries(s, sw, s->port[i], to, is_outward))
				add_pair(s, s->port[i], to);
}

static void add_column(struct search *s, uint32_t column, bool is_outward)
{
	const struct fab_routes *r = s->r;
	uint32_t sw = r->column_switch[column], port;

	if ((s->end == FAB_NONE && fab_routes_next(r, column)[s->sw] != s->arc) ||
	    !fab_walk_all(&s->walk, fab_routes_next(r, column), sw))
		return;
	if (s->end == FAB_NONE)
		find_senders(s);
	if (!r->column_port) {
		for (uint32_t i = s->first[sw]; i < s->first[sw + 1]; i++)
			for (uint32_t k = 0; k < fab_port_n_lids(r->f, s->port[i]); k++)
				if (fab_columns_of(&s->columns, s->port[i], k) == column)
					add_target(s, s->port[i], is_outward);
		return;
	}
	port = r->column_port[column];
	if (r->f->node_kind[r->f->port_node[port]] != FAB_ADAPTER)
		return;
	if (s->end == FAB_NONE || !is_outward || port == s->end)
		add_target(s, port, is_outward);
}

/* One direction: from the port `use->from`. */
static void search(struct search *s)
{
	const struct fab_fabric *f = s->r->f;
	uint32_t from = s->use->from, to = fab_port_peer(f, from);
	uint32_t a = f->port_node[from], b = f->port_node[to];
	bool is_outward = fab_node_is_switch(f, a);

	s->end = !is_outward ? from : fab_node_is_switch(f, b) ? FAB_NONE : to;
	s->sw = is_outward ? a : b;
	s->arc = 0;
	while (s->end == FAB_NONE &&
	       f->arc_cable[f->arc_first[s->sw] + s->arc] != f->port_cable[from])
		s->arc++;
	for (uint32_t c = 0; c < s->r->n_columns; c++)
		add_column(s, c, is_outward);
}

void fab_cable_use_init(struct fab_cable_use use[2], const struct fab_routes *r,
			fab_cable_id cable)
{
	const struct fab_fabric *f = r->f;
	struct search s = {.r = r, .goes_through = FAB_NEW(f->n_switches + 1, bool)};

	fab_columns_init(&s.columns, r);
	fab_walk_init(&s.walk, f, r->faults);
	list_ports(&s);
	for (int i = 0; i < 2; i++) {
		use[i] = (struct fab_cable_use){.from = i ? f->cable_b[cable]
							  : f->cable_a[cable],
						.sends = FAB_NEW0(f->n_hosts, bool),
						.receives = FAB_NEW0(f->n_hosts, bool)};
		s.use = &use[i];
		if (f->port_node[f->cable_a[cable]] != f->port_node[f->cable_b[cable]])
			search(&s);
	}
	fab_columns_fini(&s.columns);
	free(s.first);
	free(s.port);
	free(s.goes_through);
	fab_walk_fini(&s.walk);
}

void fab_cable_use_fini(struct fab_cable_use use[2])
{
	for (int i = 0; i < 2; i++) {
		free(use[i].sends);
		free(use[i].receives);
	}
}
