/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths through tables: one path, hop by hop, and the paths of all switches to one
 * destination, each switch looked at once. Whoever follows tables does it here.
 *
 * A packet is asked for a column once, before it is sent (fab_path_column()); every
 * switch then sends it on by that column.
 */
#pragma once

#include "unicast/routes.h"

enum { FAB_PATH_MAX = 256 };

/* A hop: packets leave sw by arc `out`, having come by arc `in`; both counted from
 * arc_first[sw]; in = number of arcs of sw: from an adapter. */
struct fab_hop {
	uint32_t sw;
	uint16_t in, out;
};

/* Where a path begins or ends: a port of an adapter, or with FAB_NONE the switch. */
struct fab_endpoint {
	uint32_t port, node, sw;
	uint16_t lid; /* of the port, to which packets go; 0: its first */
};

/* The column by which packets for a destination are sent, FAB_NONE: none. O(columns). */
uint32_t fab_path_column(const struct fab_routes *r, const struct fab_endpoint *to);

/*
 * The same for n destinations at once, each at the first LID of its port: column[n] of
 * ports port[i] (FAB_NONE: the switch) on switches sw[i]. The caller frees. O(columns +
 * ports + n).
 */
uint32_t *fab_path_columns(const struct fab_routes *r, uint32_t n, const uint32_t *sw,
			   const uint32_t *port);

/* Why a path goes no further. */
enum fab_path_end {
	FAB_PATH_ARRIVES,
	FAB_PATH_NO_ENTRY, /* the switch has none for the destination */
	FAB_PATH_BROKEN,   /* it leads to no live cable, or to the wrong adapter */
	FAB_PATH_CIRCLE,   /* the switches were met before */
};

/* A path as far as it was followed. All is borrowed. */
struct fab_path {
	const struct fab_fabric *f;
	const struct fab_faults *faults; /* NULL: nothing is dead */
	const uint16_t *next;
	uint32_t root;	 /* the switch of the column */
	uint32_t at;	 /* the switch that packets have come to */
	uint32_t arc;	 /* by which, its id; FAB_NONE: from an adapter */
	uint32_t n_hops; /* between switches, up to now */
};

/* Nothing followed yet: packets are at the switch of their source. O(1). */
static inline struct fab_path fab_path_from(const struct fab_routes *r, uint32_t sw,
					    uint32_t column)
{
	return (struct fab_path){.f = r->f,
				 .faults = r->faults,
				 .next = fab_routes_next(r, column),
				 .root = r->column_switch[column],
				 .at = sw,
				 .arc = FAB_NONE};
}

/* The arc (an id) by which packets leave the switch they are at, FAB_NONE: none. O(1). */
static inline uint32_t fab_path_out(const struct fab_path *p)
{
	const struct fab_fabric *f = p->f;
	uint32_t arc = f->arc_first[p->at] + p->next[p->at];

	if (arc >= f->arc_first[p->at + 1] || !fab_arc_is_live(p->faults, arc))
		return FAB_NONE;
	return arc;
}

/*
 * One hop on; p->arc is the cable. False: the path ends here, fab_path_end() says why. It
 * ends after n_switches + 1 hops at the latest: then it leads in a circle. O(1).
 */
static inline bool fab_path_step(struct fab_path *p)
{
	uint32_t arc = fab_path_out(p);

	if (arc == FAB_NONE || p->n_hops > p->f->n_switches)
		return false;
	p->arc = arc;
	p->at = p->f->arc_peer[arc];
	p->n_hops++;
	return true;
}

/* The same, telling the hop. O(1). */
static inline bool fab_path_hop(struct fab_path *p, struct fab_hop *hop)
{
	const struct fab_fabric *f = p->f;
	uint32_t sw = p->at;

	hop->sw = sw;
	hop->in = p->arc != FAB_NONE
			  ? f->arc_reverse[p->arc]
			  : (uint16_t)(f->arc_first[sw + 1] - f->arc_first[sw]);
	hop->out = p->next[sw];
	return fab_path_step(p);
}

/* Of a path that goes no further. O(1). */
static inline enum fab_path_end fab_path_end(const struct fab_path *p)
{
	uint16_t next = p->next[p->at];

	if (next == FAB_ARC_HERE)
		return p->at == p->root ? FAB_PATH_ARRIVES : FAB_PATH_BROKEN;
	if (next == FAB_ARC_NONE)
		return FAB_PATH_NO_ENTRY;
	return fab_path_out(p) == FAB_NONE ? FAB_PATH_BROKEN : FAB_PATH_CIRCLE;
}

/*
 * Follow it to its end. Returns the hops between switches, FAB_NONE: it does not arrive.
 * O(hops).
 */
static inline uint32_t fab_path_length(const struct fab_routes *r, uint32_t sw,
				       uint32_t column)
{
	struct fab_path p = fab_path_from(r, sw, column);

	while (fab_path_step(&p))
		;
	return fab_path_end(&p) == FAB_PATH_ARRIVES ? p.n_hops : FAB_NONE;
}

/*
 * The hops from a switch to the column's, at most FAB_PATH_MAX. Returns their number; 0:
 * the path is longer or does not arrive, or the source is the destination. O(hops).
 */
uint32_t fab_path_hops(const struct fab_routes *r, uint32_t sw, uint32_t column,
		       struct fab_hop *hops);
