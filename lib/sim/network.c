/* SPDX-License-Identifier: BSD-2-Clause */
/* The network of a run: ports and cables, then trees and multicast tables as rows. */
#include "sim/network.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "unicast/faults.h"
#include "unicast/path.h"

static const double PS_PER_BYTE = 8000; /* at 1 Gbit/s */
static const double SLOWEST = 8000 / FAB_SIM_GBPS_MIN;

uint32_t sim_per_byte(const struct fab_fabric *f, const struct fab_sim_params *params,
		      uint32_t cable)
{
	double gbps;

	if (params->by_flit)
		return 1u << SIM_RATE_SHIFT;
	gbps = params->all_rates ? 0 : fab_cable_data_gbps(f, cable);
	if (gbps <= 0)
		gbps = params->rate_gbps;
	return (uint32_t)lround(fmin(PS_PER_BYTE / gbps, SLOWEST) *
				(1u << SIM_RATE_SHIFT));
}

static int count_ports(struct sim_net *net, struct fab_err *err)
{
	const struct fab_fabric *f = net->problem->f;
	const struct fab_flow_ends *ends = net->problem->ends;
	uint64_t n = 0;

	net->n_switches = f->n_switches;
	net->n_ends = ends->n;
	net->port_first = FAB_NEW0(f->n_switches + 2, uint32_t);
	for (uint32_t i = 0; i < ends->n; i++)
		net->port_first[ends->sw[i] + 1]++;
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		n += net->port_first[sw + 1];
		n += f->arc_first[sw + 1] - f->arc_first[sw];
		if (n + ends->n > FAB_SIM_PORTS_MAX)
			return fab_fail(err, ERANGE, "more than 2^28 ports");
		net->port_first[sw + 1] = (uint32_t)n;
	}
	net->n_ports = (uint32_t)n;
	net->n_all = (uint32_t)n + ends->n;
	return 0;
}

static void add_ends(struct sim_net *net)
{
	const struct fab_fabric *f = net->problem->f;
	const struct fab_flow_ends *ends = net->problem->ends;
	uint32_t *used = FAB_NEW(net->n_switches + 1, uint32_t);

	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		used[sw] = f->arc_first[sw + 1] - f->arc_first[sw];
	for (uint32_t e = 0; e < ends->n; e++) {
		uint32_t sw = ends->sw[e], port = net->port_first[sw] + used[sw]++;
		uint32_t own = net->n_ports + e;

		net->end_port[e] = port;
		net->peer[port] = own;
		net->peer[own] = port;
		net->fabric_port[own] = ends->port[e];
		net->fabric_port[port] = fab_port_peer(f, ends->port[e]);
		net->per_byte[port] = net->per_byte[own] =
			sim_per_byte(f, net->params, f->port_cable[ends->port[e]]);
	}
	free(used);
}

static void add_tables(struct sim_net *net)
{
	const struct fab_flow_ends *ends = net->problem->ends;
	const struct fab_routes *r = net->problem->routes;
	uint32_t *sl_row;

	net->end_row = FAB_NEW(net->n_ends + 1, uint32_t);
	net->end_sl_row = FAB_NEW(net->n_ends + 1, uint32_t);
	for (uint32_t e = 0; e < net->n_ends; e++)
		net->end_row[e] = net->end_sl_row[e] = FAB_NONE;
	if (!r)
		return;
	net->next = r->next;
	net->end_column = fab_path_columns(r, ends->n, ends->sw, ends->port);
	for (uint32_t e = 0; e < net->n_ends; e++) {
		uint32_t c = net->end_column[e];

		if (c != FAB_NONE)
			net->end_row[e] = r->column_row ? r->column_row[c] : c;
	}
	if (!r->sl)
		return;
	sl_row = fab_routes_sl_rows(r);
	for (uint32_t e = 0; e < net->n_ends; e++) {
		uint32_t node = r->f->port_node[ends->port[e]];

		net->end_sl_row[e] =
			sl_row[node] != FAB_NONE ? sl_row[node] : sl_row[ends->sw[e]];
	}
	free(sl_row);
}

unsigned sim_net_sl(const struct sim_net *net, uint32_t from, uint32_t to)
{
	const struct fab_routes *r = net->problem->routes;

	if (net->params->spread_vls)
		return (unsigned)(fab_mix64((uint64_t)from << 32 | to) % net->n_vls);
	if (!r->sl)
		return 0;
	if (net->end_sl_row[from] == FAB_NONE)
		return r->sl_default;
	return r->sl[(size_t)net->end_sl_row[from] * r->n_columns + net->end_column[to]];
}

/* A copy that a switch makes of a group's packets. */
struct copy {
	uint32_t group, sw, port; /* port: of the simulation */
};

struct copies {
	FAB_VEC(struct copy) of;
};

static int cmp_copy(const void *pa, const void *pb)
{
	const struct copy *a = pa, *b = pb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	return a->port < b->port ? -1 : a->port > b->port;
}

static void add(struct copies *all, uint32_t group, const struct sim_net *net,
		uint32_t port)
{
	struct copy copy;

	if (port == FAB_NONE)
		return;
	copy = (struct copy){group, net->port_sw[port], port};
	FAB_PUSH(&all->of, copy);
}

/* Both ends of each cable of a group's tree, and the cables of the tree's members. */
static void add_tree(const struct sim_net *net, const uint32_t *of, uint32_t g,
		     struct copies *all)
{
	const struct fab_sim_problem *p = net->problem;
	const struct fab_groups *groups = p->tree_groups ? p->tree_groups : p->groups;
	const struct fab_fabric *f = p->f;
	uint32_t t = g % groups->n;

	for (uint64_t e = p->forest->first[t]; e < p->forest->first[t + 1]; e++) {
		add(all, g, net, of[f->cable_a[p->forest->cable[e]]]);
		add(all, g, net, of[f->cable_b[p->forest->cable[e]]]);
	}
	for (uint64_t m = groups->first[t]; m < groups->first[t + 1]; m++) {
		uint32_t member = groups->member[m];

		if (!fab_node_is_switch(f, f->port_node[member]))
			add(all, g, net, of[fab_port_peer(f, member)]);
	}
}

uint32_t sim_net_group_row(const struct sim_net *net, uint32_t group, uint32_t sw)
{
	uint32_t low = net->group_row[group], high = net->group_row[group + 1];

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (net->row_sw[mid] < sw)
			low = mid + 1;
		else
			high = mid;
	}
	return low < net->group_row[group + 1] && net->row_sw[low] == sw ? low : FAB_NONE;
}

/* Rows of copies that are in order, none twice. */
static void make_rows(struct sim_net *net, const struct copies *all)
{
	uint32_t row = 0;

	net->row_sw = FAB_NEW(all->of.n + 1, uint32_t);
	net->row_first = FAB_NEW0(all->of.n + 2, uint64_t);
	net->out = FAB_NEW(all->of.n + 1, uint16_t);
	net->out_row = FAB_NEW(all->of.n + 1, uint32_t);
	for (size_t i = 0; i < all->of.n; i++) {
		const struct copy *c = &all->of.v[i];

		if (!i || c->group != c[-1].group || c->sw != c[-1].sw) {
			net->row_first[row] = i;
			net->row_sw[row++] = c->sw;
			net->group_row[c->group + 1] = row;
		}
		net->out[i] = (uint16_t)(c->port - net->port_first[c->sw]);
	}
	net->n_rows = row;
	net->row_first[row] = all->of.n;
	for (uint32_t g = 0; g < net->n_groups; g++)
		if (net->group_row[g + 1] < net->group_row[g])
			net->group_row[g + 1] = net->group_row[g];
	for (size_t i = 0; i < all->of.n; i++) {
		uint32_t peer = net->peer[all->of.v[i].port];

		net->out_row[i] = peer >= net->n_ports
					  ? all->of.v[i].group
					  : sim_net_group_row(net, all->of.v[i].group,
							      net->port_sw[peer]);
	}
}

static void add_groups(struct sim_net *net)
{
	const struct fab_sim_problem *p = net->problem;
	const struct fab_fabric *f = p->f;
	struct copies all = {0};
	uint32_t *of;
	size_t n = 0;

	if (!p->groups || (!p->forest && !p->mft))
		return;
	/* port of the simulation of each port of the fabric: the switch's end */
	of = FAB_NEW(f->n_ports + 1, uint32_t);
	memset(of, 0xff, f->n_ports * sizeof(*of));
	for (uint32_t i = 0; i < net->n_ports; i++)
		if (net->peer[i] != FAB_NONE)
			of[net->fabric_port[i]] = i;
	net->n_groups = p->groups->n;
	net->group_row = FAB_NEW0(p->groups->n + 1, uint32_t);
	for (uint32_t g = 0; g < net->n_groups; g++) {
		uint32_t row = p->mft ? fab_mft_find(p->mft, p->mlid[g]) : FAB_NONE;

		if (!p->mft)
			add_tree(net, of, g, &all);
		for (uint64_t i = row == FAB_NONE ? 0 : p->mft->first[row];
		     row != FAB_NONE && i < p->mft->first[row + 1]; i++)
			if (p->mft->port[i] != FAB_NONE)
				add(&all, g, net, of[p->mft->port[i]]);
	}
	if (all.of.n)
		qsort(all.of.v, all.of.n, sizeof(*all.of.v), cmp_copy);
	for (size_t i = 0; i < all.of.n; i++)
		if (!n || cmp_copy(&all.of.v[n - 1], &all.of.v[i]))
			all.of.v[n++] = all.of.v[i];
	all.of.n = n;
	make_rows(net, &all);
	free(all.of.v);
	free(of);
}

int sim_net_init(struct sim_net *net, const struct fab_sim_problem *problem,
		 const struct fab_sim_params *params, struct fab_err *err)
{
	const struct fab_fabric *f = problem->f;
	int rc;

	*net = (struct sim_net){.problem = problem, .params = params};
	net->n_vls = params->n_vls     ? params->n_vls
		     : problem->routes ? problem->routes->n_vls
				       : 1;
	rc = count_ports(net, err);
	if (rc)
		return rc;
	net->port_sw = FAB_NEW(net->n_ports + 1, uint32_t);
	net->peer = FAB_NEW(net->n_all + 1, uint32_t);
	net->per_byte = FAB_NEW(net->n_all + 1, uint32_t);
	net->fabric_port = FAB_NEW(net->n_all + 1, uint32_t);
	net->end_port = FAB_NEW(net->n_ends + 1, uint32_t);
	for (uint32_t sw = 0; sw < net->n_switches; sw++) {
		for (uint32_t p = net->port_first[sw]; p < net->port_first[sw + 1]; p++)
			net->port_sw[p] = sw;
		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
			uint32_t port = net->port_first[sw] + a - f->arc_first[sw];

			net->fabric_port[port] = fab_arc_port(f, sw, a);
			net->per_byte[port] = sim_per_byte(f, params, f->arc_cable[a]);
			net->peer[port] = fab_arc_is_live(problem->faults, a)
						  ? net->port_first[f->arc_peer[a]] +
							    f->arc_reverse[a]
						  : FAB_NONE;
		}
	}
	add_ends(net);
	net->is_even = true;
	for (uint32_t p = 0; p < net->n_all; p++)
		net->is_even &= net->per_byte[p] == net->per_byte[0];
	add_tables(net);
	add_groups(net);
	return 0;
}

void sim_net_fini(struct sim_net *net)
{
	free(net->port_first);
	free(net->port_sw);
	free(net->peer);
	free(net->per_byte);
	free(net->fabric_port);
	free(net->end_port);
	free(net->end_row);
	free(net->end_column);
	free(net->end_sl_row);
	free(net->group_row);
	free(net->row_sw);
	free(net->row_first);
	free(net->out);
	free(net->out_row);
	*net = (struct sim_net){0};
}
