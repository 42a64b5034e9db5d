/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network that packets go through, ready to be looked up: ports, cables, tables and
 * trees. Nothing in it changes in a run but by sim/failure.c.
 *
 * Ports. A switch has the ports port_first[sw] .. port_first[sw + 1] - 1: one for each
 * arc, in the order of the arcs (so that the entries of tables are ports), then one for
 * each endpoint. A port is an output and an input. Behind them come the ports of the
 * endpoints: n_ports + endpoint.
 */
#pragma once

#include "base/arena.h"
#include "sim/sim.h"

/* A byte on the slowest cable, FAB_SIM_GBPS_MIN, still fits into 32 bits. */
enum { SIM_RATE_SHIFT = 16 };
enum { SIM_NEAR_MAX = 256 }; /* outputs on shortest paths that are looked at: the first */

struct sim_net {
	struct fab_arena arena; /* of all arrays */
	const struct fab_sim_problem *problem;
	const struct fab_sim_params *params;
	uint32_t n_switches, n_ports, n_ends, n_all; /* n_all = n_ports + n_ends */
	unsigned n_vls,
		n_table_vls;  /* n_table_vls: of the tables, for each part of a way */
	uint32_t *port_first; /* [n_switches + 1] */
	uint32_t *port_sw;    /* [n_ports] */
	uint32_t *peer;	      /* [n_all] port at the other end; FAB_NONE: no live cable */
	uint32_t *per_byte;   /* [n_all] ticks of a byte on the cable << SIM_RATE_SHIFT */
	uint32_t *fabric_port; /* [n_all] FAB_NONE */
	uint32_t *end_port;    /* [n_ends] port of the switch */
	bool is_even;	       /* all cables have one rate */
	/* Adaptive routing: hops to the switch of an endpoint, distance[end_near[e] *
	 * n_switches + sw]; 255: none. NULL: by tables. */
	uint8_t *distance;
	uint32_t n_near;
	uint32_t *end_near; /* [n_ends] */
	uint32_t *near_sw;  /* [n_near] */
	uint32_t *sw_end;   /* [n_switches] an endpoint of it; FAB_NONE */
	/* In the order of distance: bits of arcs on shortest paths, 2^towards_log bytes
	 * each; NULL: to be looked up in distance. */
	void *towards;
	unsigned towards_log;

	const uint16_t *next; /* [row * n_switches + sw] of the routes; NULL: none */
	const struct fab_routes *routes;	 /* of service levels */
	const struct fab_routes **switch_routes; /* [n_switches] of lanes; NULL: routes */
	uint32_t *end_row;    /* [n_ends] row that leads to it; FAB_NONE */
	uint32_t *end_column; /* [n_ends] */
	uint32_t *end_sl_row; /* [n_ends] row of sl; FAB_NONE: sl_default */

	/*
	 * Multicast. A row is a group on a switch: copies go to out[row_first[row] ..
	 * row_first[row + 1] - 1], ports counted from the switch's first, and are at row
	 * out_row there (of an endpoint: the group; FAB_NONE: the group is not there).
	 */
	uint32_t n_groups, n_rows;
	uint32_t *group_row; /* [n_groups + 1] the rows of a group, by switch */
	uint32_t *row_sw;    /* [n_rows] ascending within a group */
	uint64_t *row_first; /* [n_rows + 1] */
	uint16_t *out;
	uint32_t *out_row;
};

/* The caller frees the arena, also after an error. O(ports + columns + trees). */
int sim_net_init(struct sim_net *net, const struct fab_sim_problem *problem,
		 const struct fab_sim_params *params, struct fab_err *err) FAB_MUST_CHECK;
/* Take service levels from other tables. O(columns + endpoints). */
void sim_net_set_levels(struct sim_net *net, const struct fab_routes *routes);

/* Ticks of a byte on a cable << SIM_RATE_SHIFT. O(1). */
uint32_t sim_per_byte(const struct fab_fabric *f, const struct fab_sim_params *params,
		      uint32_t cable);
/* Credits of a lane's own part of a buffer. O(1). */
uint32_t sim_lane_units(const struct fab_sim_params *params, unsigned n_vls);
/* Credits of the part that the lanes of a port share. O(1). */
uint32_t sim_shared_units(const struct fab_sim_params *params, unsigned n_vls);

/* Row of a group on a switch; FAB_NONE: the switch is not in it. O(log rows). */
uint32_t sim_net_group_row(const struct sim_net *net, uint32_t group, uint32_t sw);

/* Ticks that `bytes` (flits) take on a port's cable, at least 1. O(1). */
static inline __attribute__((always_inline)) uint64_t sim_wire(uint32_t per_byte,
							       uint32_t bytes)
{
	uint64_t ticks = ((uint64_t)bytes * per_byte + (1u << (SIM_RATE_SHIFT - 1))) >>
			 SIM_RATE_SHIFT;

	return ticks ? ticks : 1;
}

/* Service level from endpoint to endpoint; FAB_SL_NONE: it must not send. O(1). */
unsigned sim_net_sl(const struct sim_net *net, uint32_t from, uint32_t to);

/*
 * Adaptive routing: arcs of `sw`, counted from its first, on shortest live paths to the
 * switch of row `near` (end_near[]), into arc[SIM_NEAR_MAX]; returns how many, 0 also
 * there. O(arcs).
 */
uint32_t sim_net_near_arcs(const struct sim_net *net, uint32_t near, uint32_t sw,
			   uint16_t *arc);
/* The place of a switch in net->towards, which is not NULL. O(1). */
static inline const void *sim_net_towards_at(const struct sim_net *net, uint32_t near,
					     uint32_t sw)
{
	size_t at = (size_t)near * net->n_switches + sw;

	return (const uint8_t *)net->towards + (at << net->towards_log);
}

/* Arcs on shortest paths as bits. O(1). */
static inline uint64_t sim_net_towards(const struct sim_net *net, uint32_t near,
				       uint32_t sw)
{
	const void *at = sim_net_towards_at(net, near, sw);

	switch (net->towards_log) {
	case 0:
		return *(const uint8_t *)at;
	case 1:
		return *(const uint16_t *)at;
	case 2:
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

static inline uint32_t sim_net_near(const struct sim_net *net, uint32_t near, uint32_t sw,
				    uint16_t *arc)
{
	uint32_t n = 0;

	if (!net->towards)
		return sim_net_near_arcs(net, near, sw, arc);
	for (uint64_t bits = sim_net_towards(net, near, sw); bits; bits &= bits - 1)
		arc[n++] = (uint16_t)__builtin_ctzll(bits);
	return n;
}

/* Lanes of each cable, of which the tables have n: of adaptive packets another one, all
 * for both parts of a detour. O(1). */
static inline unsigned sim_lanes(const struct fab_sim_params *params, unsigned n)
{
	if (!params->chooser)
		return n;
	return (n + 1) * (params->detour != FAB_SIM_MINIMAL ? 2 : 1);
}

/* The entry of a row's table at a switch: an arc, counted from the switch's first. O(1).
 */
static inline __attribute__((always_inline)) uint32_t
sim_net_next(const struct sim_net *net, uint32_t row, uint32_t sw)
{
	return net->next[(size_t)row * net->n_switches + sw];
}

/* The lane on which a packet leaves a switch by a port, counted as `out`; n_vls and more:
 * none. O(1). */
static inline __attribute__((always_inline)) unsigned
sim_net_vl(const struct sim_net *net, uint32_t sw, uint32_t in, uint32_t out, unsigned sl)
{
	const struct fab_routes *r =
		net->switch_routes ? net->switch_routes[sw] : net->routes;
	uint32_t d;

	if (net->n_table_vls == 1)
		return 0;
	if (net->params->spread_vls || !r || r->lanes != FAB_LANES_TABLE)
		return sl;
	d = r->f->arc_first[sw + 1] - r->f->arc_first[sw];
	return fab_routes_vl(r, sw, in < d ? in : d, out < d ? out : d, sl);
}

/* The lane on an endpoint's own cable. O(1). */
static inline __attribute__((always_inline)) unsigned
sim_net_first_vl(const struct sim_net *net, unsigned sl)
{
	return sl < net->n_table_vls ? sl : sl % net->n_table_vls;
}
