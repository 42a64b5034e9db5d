/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/lid_rows.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "fabric/fabric.h"
#include "unicast/routes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool fab_live_switch(const struct fab_routes *r, uint32_t sw)
{
	const struct fab_fabric *f = r->f;

	if (r->faults && r->faults->switch_is_dead[sw])
		return false;
	for (uint32_t p = f->node_first_port[sw]; p < f->node_first_port[sw + 1]; p++)
		if (f->port_cable[p] != FAB_NONE && fab_live_cable(r, f->port_cable[p]))
			return true;
	return false;
}

bool fab_live_cable(const struct fab_routes *r, uint32_t cable)
{
	return !r->faults || !r->faults->cable_is_dead[cable];
}

/* The switch at which packets to a port leave, FAB_NONE: it takes none or is dead. */
static uint32_t exit_switch(const struct fab_routes *r, uint32_t port)
{
	const struct fab_fabric *f = r->f;
	uint32_t node = f->port_node[port], sw;

	if (fab_node_is_switch(f, node))
		return !f->port_num[port] && fab_live_switch(r, node) ? node : FAB_NONE;
	sw = fab_port_switch(f, port);
	if (sw == FAB_NONE || !fab_live_switch(r, sw) ||
	    !fab_live_cable(r, f->port_cable[port]))
		return FAB_NONE;
	return sw;
}

static int check_count(const struct fab_routes *r, struct fab_err *err)
{
	uint64_t n = 0;

	for (uint32_t p = 0; p < r->f->n_ports; p++)
		if (exit_switch(r, p) != FAB_NONE)
			n += fab_port_n_lids(r->f, p);
	if (n <= FAB_LID_LAST_UNICAST)
		return 0;
	return fab_fail(err, EINVAL,
			"%s: switches and adapters need %llu LIDs, but a subnet has %d: "
			"no forwarding tables",
			r->f->source, (unsigned long long)n, FAB_LID_LAST_UNICAST);
}

static int claim(const struct fab_routes *r, uint32_t *owner, uint32_t port,
		 struct fab_err *err)
{
	const struct fab_fabric *f = r->f;
	uint32_t lid = f->port_lid[port], end = lid + fab_port_n_lids(f, port);
	char name[128], other[128];

	fab_text_safe(fab_node_name(f, f->port_node[port]), name, sizeof(name));
	if (lid == FAB_LID_NONE)
		return fab_fail(err, EINVAL,
				"%s: port %u of %s has no LID, which forwarding tables "
				"need (--subnet takes LIDs from an opensm-subnet.lst)",
				f->source, f->port_num[port], name);
	if (end - 1 > FAB_LID_LAST_UNICAST)
		return fab_fail(err, EINVAL,
				"%s: port %u of %s has LID %u, expected at most %d",
				f->source, f->port_num[port], name, end - 1,
				FAB_LID_LAST_UNICAST);
	for (; lid < end; lid++) {
		if (owner[lid] != FAB_NONE) {
			fab_text_safe(fab_node_name(f, f->port_node[owner[lid]]), other,
				      sizeof(other));
			return fab_fail(err, EINVAL, "%s: LID %u belongs to %s and to %s",
					f->source, lid, other, name);
		}
		owner[lid] = port;
	}
	return 0;
}

static void rows_by_switch(struct fab_lid_rows *t)
{
	const struct fab_routes *r = t->routes = t->whole =
		fab_routes_complete(t->routes);
	struct fab_columns columns;

	fab_columns_init(&columns, r);
	t->n_rows = r->n_columns;
	for (uint32_t i = 0; i < t->n; i++)
		t->row[i] =
			fab_columns_of(&columns, t->port[i],
				       t->lid[i] - (uint32_t)r->f->port_lid[t->port[i]]);
	fab_columns_fini(&columns);
}

static void rows_by_lid(struct fab_lid_rows *t)
{
	const struct fab_routes *r = t->routes;
	uint32_t *row_of = FAB_NEW(UINT16_MAX + 1, uint32_t);

	memset(row_of, 0xff, (UINT16_MAX + 1) * sizeof(*row_of));
	for (uint32_t c = 0; c < r->n_columns; c++)
		row_of[r->column_lid[c]] = c;
	t->n_rows = r->n_columns;
	for (uint32_t i = 0; i < t->n; i++)
		t->row[i] = row_of[t->lid[i]];
	free(row_of);
}

int fab_lid_rows_new(const struct fab_routes *r, struct fab_lid_rows **out,
		     struct fab_err *err)
{
	uint32_t *owner = FAB_NEW(FAB_LID_LAST_UNICAST + 1, uint32_t);
	struct fab_lid_rows *t;
	int rc = fab_guids_differ(r->f, r->f->n_switches, "forwarding tables", err);

	if (!rc)
		rc = check_count(r, err);
	memset(owner, 0xff, (FAB_LID_LAST_UNICAST + 1) * sizeof(*owner));
	for (uint32_t p = 0; !rc && p < r->f->n_ports; p++)
		if (exit_switch(r, p) != FAB_NONE)
			rc = claim(r, owner, p, err);
	if (rc) {
		free(owner);
		return rc;
	}
	t = FAB_NEW0(1, struct fab_lid_rows);
	t->routes = r;
	t->lid = FAB_NEW(FAB_LID_LAST_UNICAST + 1, uint16_t);
	t->port = FAB_NEW(FAB_LID_LAST_UNICAST + 1, uint32_t);
	t->sw = FAB_NEW(FAB_LID_LAST_UNICAST + 1, uint32_t);
	t->row = FAB_NEW(FAB_LID_LAST_UNICAST + 1, uint32_t);
	for (uint32_t lid = 1; lid <= FAB_LID_LAST_UNICAST; lid++) {
		if (owner[lid] == FAB_NONE)
			continue;
		t->lid[t->n] = (uint16_t)lid;
		t->port[t->n] = owner[lid];
		t->sw[t->n++] = exit_switch(r, owner[lid]);
	}
	free(owner);
	if (r->column_lid)
		rows_by_lid(t);
	else
		rows_by_switch(t);
	*out = t;
	return 0;
}

void fab_lid_rows_free(struct fab_lid_rows *t)
{
	if (!t)
		return;
	free(t->lid);
	free(t->port);
	free(t->sw);
	free(t->row);
	fab_routes_free(t->whole);
	free(t);
}

const uint16_t *fab_lid_row(const struct fab_lid_rows *t, uint32_t row)
{
	return fab_routes_next(t->routes, row);
}

unsigned fab_lid_out(const struct fab_lid_rows *t, uint32_t sw, uint32_t i)
{
	const struct fab_fabric *f = t->routes->f;
	unsigned next;

	if (t->row[i] == FAB_NONE)
		return FAB_OUT_NONE;
	next = fab_lid_row(t, t->row[i])[sw];
	if (sw == t->sw[i] && (next == FAB_ARC_HERE || !t->routes->column_lid)) {
		if (f->port_node[t->port[i]] == sw)
			return 0;
		return f->port_num[fab_port_peer(f, t->port[i])];
	}
	return next < FAB_ARC_BROKEN
		       ? f->port_num[fab_arc_port(f, sw, f->arc_first[sw] + next)]
		       : FAB_OUT_NONE;
}
