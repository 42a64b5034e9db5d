/* SPDX-License-Identifier: BSD-2-Clause */
/* The network of a run: ports and cables, then trees and multicast tables as rows. */
#include "sim/network.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/rng.h"
#include "fabric/graph.h"
#include "unicast/faults.h"
#include "unicast/path.h"

enum { TOWARDS_MAX = 1 << 25 }; /* bytes */

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

unsigned sim_net_sl(const struct sim_net *net, uint32_t from, uint32_t to)
{
	const struct fab_routes *r = net->routes;

	if (net->params->spread_vls)
		return (unsigned)(fab_mix64((uint64_t)from << 32 | to) % net->n_vls);
	if (!r->sl)
		return 0;
	if (net->end_sl_row[from] == FAB_NONE)
		return r->sl_default;
	return r->sl[(size_t)net->end_sl_row[from] * r->n_columns + net->end_column[to]];
}

uint32_t sim_net_near_arcs(const struct sim_net *net, uint32_t near, uint32_t sw,
			   uint16_t *arc)
{
	const uint8_t *distance = net->distance + (size_t)near * net->n_switches;
	uint32_t n = 0, first = net->port_first[sw];

	for (uint32_t a = 0; distance[sw] != UINT8_MAX && n < SIM_NEAR_MAX &&
			     first + a < net->port_first[sw + 1];
	     a++) {
		uint32_t peer = net->peer[first + a];

		if (peer < net->n_ports &&
		    distance[net->port_sw[peer]] + 1 == distance[sw])
			arc[n++] = (uint16_t)a;
	}
	return n;
}

/* Arcs on shortest paths as bits, in the fewest bytes that hold those of a switch. */
static void add_towards(struct sim_net *net)
{
	const struct fab_fabric *f = net->problem->f;
	size_t n = (size_t)net->n_near * net->n_switches;
	uint32_t most = 0;
	uint16_t arc[SIM_NEAR_MAX];

	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		most = f->arc_first[sw + 1] - f->arc_first[sw] > most
			       ? f->arc_first[sw + 1] - f->arc_first[sw]
			       : most;
	while (8u << net->towards_log < most)
		net->towards_log++;
	if (most > 64 || (net->towards_log && n << net->towards_log > TOWARDS_MAX))
		return;
	net->towards = fab_alloc_huge((n << net->towards_log) + 1);
	fab_arena_own(&net->arena, free, net->towards);
	for (size_t i = 0; i < n; i++) {
		uint32_t k = sim_net_near_arcs(net, (uint32_t)(i / net->n_switches),
					       (uint32_t)(i % net->n_switches), arc);
		uint64_t bits = 0;

		while (k--)
			bits |= 1ull << arc[k];
		if (net->towards_log == 3)
			((uint64_t *)net->towards)[i] = bits;
		else if (net->towards_log == 2)
			((uint32_t *)net->towards)[i] = (uint32_t)bits;
		else if (net->towards_log == 1)
			((uint16_t *)net->towards)[i] = (uint16_t)bits;
		else
			((uint8_t *)net->towards)[i] = (uint8_t)bits;
	}
}

/* Adaptive routing: hops to the switches with endpoints. */
static void add_distances(struct sim_net *net)
{
	const struct fab_flow_ends *ends = net->problem->ends;
	const struct fab_graph arcs = fab_graph_of_arcs(net->problem->f);
	const bool *is_cut =
		net->problem->faults ? net->problem->faults->arc_is_dead : NULL;
	uint32_t n = net->n_switches;
	FAB_AUTOFREE uint32_t *near_of = fab_none_new(n + 1);
	FAB_AUTOFREE uint32_t *hops = FAB_NEW(n + 1, uint32_t);
	FAB_AUTOFREE uint32_t *order = FAB_NEW(n + 1, uint32_t);

	net->end_near = FAB_ARENA_NEW(&net->arena, net->n_ends + 1, uint32_t);
	net->near_sw = FAB_ARENA_NEW(&net->arena, net->n_ends + 1, uint32_t);
	net->sw_end = fab_arena_none(&net->arena, n + 1);
	for (uint32_t e = 0; e < net->n_ends; e++) {
		uint32_t sw = ends->sw[e];

		if (near_of[sw] == FAB_NONE) {
			net->sw_end[sw] = e;
			net->near_sw[net->n_near] = sw;
			near_of[sw] = net->n_near++;
		}
		net->end_near[e] = near_of[sw];
	}
	net->distance = FAB_ARENA_NEW(&net->arena, (size_t)net->n_near * n + 1, uint8_t);
	for (uint32_t near = 0; near < net->n_near; near++) {
		order[0] = net->near_sw[near];
		(void)fab_graph_search(&arcs, is_cut, 1, hops, order, NULL);
		for (uint32_t sw = 0; sw < n; sw++)
			net->distance[(size_t)near * n + sw] =
				(uint8_t)(hops[sw] < UINT8_MAX ? hops[sw] : UINT8_MAX);
	}
	add_towards(net);
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

struct copies {
	FAB_VEC(uint64_t) of; /* group << 32 | port of a switch */
};

static void add(struct copies *all, uint32_t group, uint32_t port)
{
	if (port != FAB_NONE)
		FAB_PUSH(&all->of, (uint64_t)group << 32 | port);
}

/* Copies that switches make of the packets of groups: of a tree both ends of each cable
 * and the cables of its members. Ordered, none twice, they are the rows. */
static void add_groups(struct sim_net *net)
{
	const struct fab_sim_problem *p = net->problem;
	const struct fab_groups *trees = p->tree_groups ? p->tree_groups : p->groups;
	const struct fab_fabric *f = p->f;
	struct fab_arena *a = &net->arena;
	struct copies all = {0};
	uint32_t *of, row = 0;
	size_t n = 0;

	if (!p->groups || (!p->forest && !p->mft))
		return;
	/* port of the simulation of each port of the fabric: the switch's end */
	of = fab_none_new(f->n_ports + 1);
	for (uint32_t i = 0; i < net->n_ports; i++)
		if (net->peer[i] != FAB_NONE)
			of[net->fabric_port[i]] = i;
	net->n_groups = p->groups->n;
	for (uint32_t g = 0; g < net->n_groups && p->mft; g++) {
		uint32_t r = fab_mft_find(p->mft, p->mlid[g]);

		for (uint64_t i = r == FAB_NONE ? 0 : p->mft->first[r];
		     r != FAB_NONE && i < p->mft->first[r + 1]; i++)
			if (p->mft->port[i] != FAB_NONE)
				add(&all, g, of[p->mft->port[i]]);
	}
	for (uint32_t g = 0; g < net->n_groups && !p->mft; g++) {
		uint32_t t = g % trees->n;

		for (uint64_t e = p->forest->first[t]; e < p->forest->first[t + 1]; e++) {
			add(&all, g, of[f->cable_a[p->forest->cable[e]]]);
			add(&all, g, of[f->cable_b[p->forest->cable[e]]]);
		}
		for (uint64_t m = trees->first[t]; m < trees->first[t + 1]; m++)
			if (!fab_node_is_switch(f, f->port_node[trees->member[m]]))
				add(&all, g, of[fab_port_peer(f, trees->member[m])]);
	}
	free(of);
	FAB_SORT(&all.of, fab_cmp_u64);
	for (size_t i = 0; i < all.of.n; i++)
		if (!n || all.of.v[n - 1] != all.of.v[i])
			all.of.v[n++] = all.of.v[i];
	net->group_row = FAB_ARENA_NEW0(a, net->n_groups + 1, uint32_t);
	net->row_sw = FAB_ARENA_NEW(a, n + 1, uint32_t);
	net->row_first = FAB_ARENA_NEW0(a, n + 2, uint64_t);
	net->out = FAB_ARENA_NEW(a, n + 1, uint16_t);
	net->out_row = FAB_ARENA_NEW(a, n + 1, uint32_t);
	for (size_t i = 0; i < n; i++) {
		uint32_t g = (uint32_t)(all.of.v[i] >> 32), port = (uint32_t)all.of.v[i];
		uint32_t sw = net->port_sw[port];

		if (!i || all.of.v[i - 1] >> 32 != g || net->row_sw[row - 1] != sw) {
			net->row_first[row] = i;
			net->row_sw[row++] = sw;
			net->group_row[g + 1] = row;
		}
		net->out[i] = (uint16_t)(port - net->port_first[sw]);
	}
	net->n_rows = row;
	net->row_first[row] = n;
	for (uint32_t g = 0; g < net->n_groups; g++)
		if (net->group_row[g + 1] < net->group_row[g])
			net->group_row[g + 1] = net->group_row[g];
	for (size_t i = 0; i < n; i++) {
		uint32_t g = (uint32_t)(all.of.v[i] >> 32);
		uint32_t peer = net->peer[(uint32_t)all.of.v[i]];

		net->out_row[i] = peer >= net->n_ports
					  ? g
					  : sim_net_group_row(net, g, net->port_sw[peer]);
	}
	free(all.of.v);
}

void sim_net_set_levels(struct sim_net *net, const struct fab_routes *r)
{
	const struct fab_flow_ends *ends = net->problem->ends;
	FAB_AUTOFREE uint32_t *sl_row = r->sl ? fab_routes_sl_rows(r) : NULL;

	net->routes = r;
	net->end_column = fab_path_columns(r, ends->n, ends->sw, ends->port);
	fab_arena_own(&net->arena, free, net->end_column);
	for (uint32_t e = 0; e < net->n_ends && sl_row; e++) {
		uint32_t node = r->f->port_node[ends->port[e]];

		net->end_sl_row[e] =
			sl_row[node] != FAB_NONE ? sl_row[node] : sl_row[ends->sw[e]];
	}
}

/* Rows of the unicast tables that lead to the endpoints, and those of service levels. */
static void add_tables(struct sim_net *net)
{
	const struct fab_routes *r = net->problem->routes;
	struct fab_arena *a = &net->arena;

	net->end_row = fab_arena_none(a, net->n_ends + 1);
	net->end_sl_row = fab_arena_none(a, net->n_ends + 1);
	if (!r)
		return;
	net->next = r->next;
	sim_net_set_levels(net, r);
	for (uint32_t e = 0; e < net->n_ends; e++) {
		uint32_t c = net->end_column[e];

		if (c != FAB_NONE)
			net->end_row[e] = r->column_row ? r->column_row[c] : c;
	}
}

int sim_net_init(struct sim_net *net, const struct fab_sim_problem *problem,
		 const struct fab_sim_params *params, struct fab_err *err)
{
	const struct fab_flow_ends *ends = problem->ends;
	const struct fab_fabric *f = problem->f;
	struct fab_arena *a = &net->arena;
	uint32_t *used; /* next port of an endpoint of each switch */
	uint64_t n = 0;

	*net = (struct sim_net){.problem = problem,
				.params = params,
				.n_switches = f->n_switches,
				.n_ends = ends->n,
				.is_even = true};
	net->n_table_vls = params->n_vls     ? params->n_vls
			   : problem->routes ? problem->routes->n_vls
					     : 1;
	if (problem->failure && !params->n_vls) { /* lanes of all tables that come */
		unsigned vls =
			problem->failure->dodge ? 2 : problem->failure->after->n_vls;

		net->n_table_vls = vls > net->n_table_vls ? vls : net->n_table_vls;
	}
	if (params->drop)
		net->n_table_vls = 1;
	net->n_vls = params->drop ? 1 + (params->drop == FAB_SIM_TRIM)
				  : sim_lanes(params, net->n_table_vls);
	net->port_first = FAB_ARENA_NEW0(a, f->n_switches + 2, uint32_t);
	for (uint32_t e = 0; e < ends->n; e++)
		net->port_first[ends->sw[e] + 1]++;
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		n += net->port_first[sw + 1];
		n += f->arc_first[sw + 1] - f->arc_first[sw];
		if (n + ends->n > FAB_SIM_PORTS_MAX)
			return fab_fail(err, ERANGE, "more than 2^28 ports");
		net->port_first[sw + 1] = (uint32_t)n;
	}
	net->n_ports = (uint32_t)n;
	net->n_all = (uint32_t)n + ends->n;
	net->port_sw = FAB_ARENA_NEW(a, net->n_ports + 1, uint32_t);
	net->peer = FAB_ARENA_NEW(a, net->n_all + 1, uint32_t);
	net->per_byte = FAB_ARENA_NEW(a, net->n_all + 1, uint32_t);
	net->fabric_port = FAB_ARENA_NEW(a, net->n_all + 1, uint32_t);
	net->end_port = FAB_ARENA_NEW(a, net->n_ends + 1, uint32_t);
	used = FAB_ARENA_NEW(a, net->n_switches + 1, uint32_t);
	for (uint32_t sw = 0; sw < net->n_switches; sw++) {
		uint32_t port = net->port_first[sw];

		for (uint32_t p = port; p < net->port_first[sw + 1]; p++)
			net->port_sw[p] = sw;
		for (uint32_t arc = f->arc_first[sw]; arc < f->arc_first[sw + 1]; arc++) {
			net->fabric_port[port] = fab_arc_port(f, sw, arc);
			net->per_byte[port] = sim_per_byte(f, params, f->arc_cable[arc]);
			net->peer[port++] = fab_arc_is_live(problem->faults, arc)
						    ? net->port_first[f->arc_peer[arc]] +
							      f->arc_reverse[arc]
						    : FAB_NONE;
		}
		used[sw] = port;
	}
	for (uint32_t e = 0; e < ends->n; e++) {
		uint32_t port = used[ends->sw[e]]++, own = net->n_ports + e;

		net->end_port[e] = port;
		net->peer[port] = own;
		net->peer[own] = port;
		net->fabric_port[own] = ends->port[e];
		net->fabric_port[port] = fab_port_peer(f, ends->port[e]);
		net->per_byte[port] = net->per_byte[own] =
			sim_per_byte(f, params, f->port_cable[ends->port[e]]);
	}
	for (uint32_t p = 0; p < net->n_all; p++)
		net->is_even &= net->per_byte[p] == net->per_byte[0];
	add_tables(net);
	add_groups(net);
	if (params->chooser)
		add_distances(net);
	return 0;
}
