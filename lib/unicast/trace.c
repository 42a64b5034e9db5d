/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/trace.h"

#include "base/num.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

int fab_trace_end_of(const struct fab_fabric *f, uint32_t port, struct fab_trace_end *out,
		     struct fab_err *err)
{
	*out = (struct fab_trace_end){
		.port = port, .node = f->port_node[port], .sw = fab_port_switch(f, port)};
	if (out->sw == FAB_NONE)
		return fab_fail(err, ENOENT,
				"port %u of \"%s\" is not cabled to a switch",
				f->port_num[port], fab_node_name(f, out->node));
	if (fab_node_is_switch(f, out->node))
		out->port = FAB_NONE;
	return 0;
}

uint16_t fab_trace_lid(const struct fab_item *name)
{
	uint64_t lid;

	if (name->is_quoted || name->len <= 4 || strncasecmp(name->text, "lid:", 4) ||
	    !fab_parse_u64(name->text + 4, name->len - 4, 1, UINT16_MAX, &lid))
		return 0;
	return (uint16_t)lid;
}

/* Is the column that of the LID? Of any, when none is asked for or known. */
static bool is_lid(const struct fab_routes *r, uint32_t column, uint16_t lid)
{
	return !lid || !r->column_lid || !r->column_lid[column] ||
	       r->column_lid[column] == lid;
}

uint32_t fab_trace_column(const struct fab_routes *r, const struct fab_trace_end *to)
{
	for (uint32_t i = 0; i < r->n_columns; i++) {
		if (r->column_port && to->port != FAB_NONE) {
			if (r->column_port[i] == to->port && is_lid(r, i, to->lid))
				return i;
		} else if (r->column_switch[i] == to->sw &&
			   (!r->column_port ||
			    fab_node_is_switch(r->f, r->f->port_node[r->column_port[i]])))
			return i;
	}
	return FAB_NONE;
}

uint8_t fab_trace_sl(const struct fab_routes *r, const struct fab_trace_end *from,
		     uint32_t column)
{
	uint8_t level = r->sl ? r->sl_default : 0;

	for (uint32_t i = 0; r->sl && i < r->n_sl_sources; i++) {
		uint32_t source = r->sl_source[i];

		/* switches come first: what the adapter has of its own counts */
		if (source == from->sw || source == from->node)
			level = r->sl[(size_t)i * r->n_columns + column];
	}
	return level;
}

/* The port of sw at the cable of its arc, counted from the first. */
static uint32_t port_of_arc(const struct fab_fabric *f, uint32_t sw, uint32_t arc)
{
	uint32_t cable = f->arc_cable[f->arc_first[sw] + arc];
	uint32_t a = f->cable_a[cable];

	return f->port_node[a] == sw ? a : f->cable_b[cable];
}

/* The arc of sw with this cable; the number of arcs: it comes from an adapter. */
static uint32_t arc_of_cable(const struct fab_fabric *f, uint32_t sw, uint32_t cable)
{
	uint32_t n = f->arc_first[sw + 1] - f->arc_first[sw];

	for (uint32_t i = 0; i < n; i++)
		if (f->arc_cable[f->arc_first[sw] + i] == cable)
			return i;
	return n;
}

static void add_hop(struct fab_trace *t, const struct fab_fabric *f, uint32_t out,
		    unsigned vl)
{
	struct fab_trace_hop hop = {out, fab_port_peer(f, out), vl};

	FAB_PUSH(&t->hops, hop);
}

/* Lane of a hop; tables that were read without those of lanes tell none. */
static unsigned lane_of(const struct fab_routes *r, uint32_t sw, uint32_t in,
			uint32_t out, unsigned sl)
{
	bool is_told = !r->told || (r->told->has_sls && r->told->has_lanes);

	if (!is_told || sl == FAB_SL_UNKNOWN)
		return FAB_VL_UNKNOWN;
	return fab_routes_vl(r, sw, in, out, sl);
}

/* From switch to switch as far as the tables lead. */
static void follow(struct fab_trace *t, const struct fab_routes *r, uint32_t sw,
		   uint32_t column, uint32_t cable)
{
	const uint16_t *next = fab_routes_next(r, column);
	const struct fab_fabric *f = r->f;

	for (uint32_t n = 0; next[sw] != FAB_ARC_HERE; n++) {
		uint32_t out;

		if (next[sw] == FAB_ARC_NONE)
			t->stopped = "this switch has no entry for the destination";
		else if (next[sw] == FAB_ARC_BROKEN)
			t->stopped =
				"the entry of this switch leads to no cable, or to the "
				"wrong adapter";
		else if (n > f->n_switches)
			t->stopped = "the tables lead in a circle";
		if (t->stopped)
			return;
		out = port_of_arc(f, sw, next[sw]);
		add_hop(t, f, out,
			lane_of(r, sw, arc_of_cable(f, sw, cable), next[sw], t->sl));
		cable = f->port_cable[out];
		sw = f->port_node[fab_port_peer(f, out)];
	}
}

void fab_trace_init(struct fab_trace *t, const struct fab_routes *r,
		    const struct fab_trace_end *from, const struct fab_trace_end *to)
{
	const struct fab_fabric *f = r->f;
	uint32_t column = fab_trace_column(r, to), cable = FAB_NONE;
	/* between two ports of one switch its table decides, too */
	bool is_self = from->sw == to->sw && from->port == to->port;

	*t = (struct fab_trace){.sl = 0};
	if (from->port != FAB_NONE) {
		cable = f->port_cable[from->port];
		add_hop(t, f, from->port, FAB_VL_UNKNOWN);
	}
	if (column == FAB_NONE &&
	    (from->sw != to->sw ||
	     (!is_self && to->port != FAB_NONE && r->column_port))) {
		t->stopped = "the tables have no such destination";
		return;
	}
	if (r->told && !r->told->has_sls)
		t->sl = FAB_SL_UNKNOWN;
	else if (column != FAB_NONE)
		t->sl = fab_trace_sl(r, from, column);
	if (t->sl == FAB_SL_NONE) {
		t->stopped = "the pair has no service level: no lanes without a cycle";
		return;
	}
	if (column != FAB_NONE && !is_self)
		follow(t, r, from->sw, column, cable);
	if (!t->stopped && to->port != FAB_NONE && to->port != from->port)
		add_hop(t, f, fab_port_peer(f, to->port), FAB_VL_UNKNOWN);
}

void fab_trace_fini(struct fab_trace *t)
{
	free(t->hops.v);
}
