/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/fence_paths.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "unicast/path.h"

/* Being made: cables between switches by arc, the list of all messages' cables. */
struct maker {
	struct fab_fence_paths *paths;
	const struct fab_launch_nodes *nodes;
	const struct fab_routes *routes;
	uint32_t *column;    /* [n] by which packets for a node are sent */
	uint32_t *sl_row;    /* [n_nodes of the fabric] */
	uint32_t *number_of; /* [arcs] number of the cable, FAB_NONE: not met yet */
	FAB_VEC(uint32_t) cables;
	FAB_VEC(uint32_t) ports;
};

/* Has the pair a service level, if there are any? */
static bool has_level(const struct maker *m, uint32_t from, uint32_t column)
{
	const struct fab_routes *r = m->routes;
	uint32_t node = r->f->port_node[m->nodes->port[from]], row;

	if (!r->sl)
		return true;
	row = m->sl_row[node];
	if (row == FAB_NONE)
		row = m->sl_row[m->nodes->sw[from]];
	return row == FAB_NONE ||
	       r->sl[(size_t)row * r->n_columns + column] != FAB_SL_NONE;
}

static uint32_t cable_of_arc(struct maker *m, uint32_t sw, uint32_t arc)
{
	uint32_t *number = &m->number_of[arc];

	if (*number == FAB_NONE) {
		*number = (uint32_t)m->ports.n;
		FAB_PUSH(&m->ports, fab_arc_port(m->nodes->f, sw, arc));
	}
	return *number;
}

static int lost(const struct maker *m, uint32_t from, uint32_t to, struct fab_err *err)
{
	const struct fab_fabric *f = m->nodes->f;

	return fab_fail(err, EHOSTUNREACH,
			"the tables have no path from '%s' to '%s': a fence needs one",
			fab_host_name(f, m->nodes->host[from]),
			fab_host_name(f, m->nodes->host[to]));
}

static int add_path(struct maker *m, uint32_t from, uint32_t to, struct fab_err *err)
{
	uint32_t column, at = m->nodes->sw[from];
	struct fab_path path;

	FAB_PUSH(&m->cables, from);
	column = m->column[to];
	if (column == FAB_NONE || !has_level(m, from, column))
		return lost(m, from, to, err);
	path = fab_path_from(m->routes, at, column);
	while (fab_path_step(&path)) {
		FAB_PUSH(&m->cables, cable_of_arc(m, at, path.arc));
		at = path.at;
	}
	if (fab_path_end(&path) != FAB_PATH_ARRIVES || at != m->nodes->sw[to])
		return lost(m, from, to, err);
	FAB_PUSH(&m->cables, m->paths->n_nodes + to);
	return 0;
}

static void add_ideal(struct maker *m, uint32_t from, uint32_t to)
{
	FAB_PUSH(&m->cables, from);
	FAB_PUSH(&m->cables, m->paths->n_nodes + to);
}

/* Of the adapters: what sends is the adapter's port, or the switch's at the other end. */
static void add_own_cables(struct maker *m)
{
	const struct fab_launch_nodes *nodes = m->nodes;

	for (uint32_t i = 0; i < m->paths->n_nodes; i++)
		FAB_PUSH(&m->ports, nodes ? nodes->port[i] : FAB_NONE);
	for (uint32_t i = 0; i < m->paths->n_nodes; i++)
		FAB_PUSH(&m->ports,
			 nodes ? fab_port_peer(nodes->f, nodes->port[i]) : FAB_NONE);
}

static void begin(struct maker *m)
{
	const struct fab_fabric *f;
	uint32_t n_arcs;

	add_own_cables(m);
	if (!m->nodes)
		return;
	f = m->nodes->f;
	n_arcs = f->arc_first[f->n_switches];
	m->column =
		fab_path_columns(m->routes, m->nodes->n, m->nodes->sw, m->nodes->port);
	m->sl_row = fab_routes_sl_rows(m->routes);
	m->number_of = FAB_NEW((size_t)n_arcs + 1, uint32_t);
	for (uint32_t i = 0; i < n_arcs; i++)
		m->number_of[i] = FAB_NONE;
}

static void set_slowness(struct maker *m)
{
	struct fab_fence_paths *p = m->paths;
	double fastest = 0;

	p->slowness = FAB_NEW((size_t)p->n_cables + 1, double);
	for (uint32_t i = 0; i < p->n_cables; i++) {
		p->slowness[i] = 0;
		if (m->nodes)
			p->slowness[i] = fab_cable_data_gbps(
				m->nodes->f, m->nodes->f->port_cable[p->port[i]]);
		if (i < p->n_nodes && p->slowness[i] > fastest)
			fastest = p->slowness[i];
	}
	for (uint32_t i = 0; i < p->n_cables; i++)
		p->slowness[i] =
			p->slowness[i] > 0 && fastest > 0 ? fastest / p->slowness[i] : 1;
}

int fab_fence_paths_init(struct fab_fence_paths *paths, const struct fab_fence_plan *plan,
			 const struct fab_launch_nodes *nodes,
			 const struct fab_routes *routes, struct fab_err *err)
{
	struct maker m = {.paths = paths, .nodes = nodes, .routes = routes};
	int rc = 0;

	*paths = (struct fab_fence_paths){.n_nodes = plan->n_nodes};
	if (nodes && nodes->n != plan->n_nodes)
		return fab_fail(err, EINVAL, "a fence of %u nodes for a job of %u",
				plan->n_nodes, nodes->n);
	begin(&m);
	paths->first = FAB_NEW0(plan->messages.n + 1, uint64_t);
	for (size_t i = 0; i < plan->messages.n && !rc; i++) {
		const struct fab_fence_message *msg = &plan->messages.v[i];

		if (nodes)
			rc = add_path(&m, msg->from, msg->to, err);
		else
			add_ideal(&m, msg->from, msg->to);
		paths->first[i + 1] = m.cables.n;
	}
	paths->cable = m.cables.v;
	paths->port = m.ports.v;
	paths->n_cables = (uint32_t)m.ports.n;
	if (!rc)
		set_slowness(&m);
	else
		fab_fence_paths_fini(paths);
	free(m.column);
	free(m.sl_row);
	free(m.number_of);
	return rc;
}

void fab_fence_paths_fini(struct fab_fence_paths *paths)
{
	free(paths->first);
	free(paths->cable);
	free(paths->port);
	free(paths->slowness);
	*paths = (struct fab_fence_paths){0};
}
