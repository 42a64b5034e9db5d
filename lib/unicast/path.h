/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths through tables: one path, hop by hop; the paths of all switches to one
 * destination; what uses a cable; what has no path; columns to all switches. */
#pragma once

#include "base/lookup.h"
#include "unicast/routes.h"

enum { FAB_PATH_MAX = 256 };

/* Steps from an arc to another: first[a] is the number of those that arcs before `a`
 * could have, one for each arc of the switch at its end. Returns that of all. O(arcs). */
uint64_t fab_arc_steps(const struct fab_fabric *f, uint64_t *first);

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
 * Columns of n destinations, each at the first LID of its port: column[n] of ports
 * port[i] (FAB_NONE: the switch) on switches sw[i]. The caller frees. O(columns + ports
 * + n).
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

/* Part of a path that was followed. All is borrowed. */
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

/* One hop on by p->arc. False: the path ends, see fab_path_end(); after n_switches + 1
 * hops at the latest. O(1). */
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

/* One hop on, with its description. O(1). */
static inline bool fab_path_hop(struct fab_path *p, struct fab_hop *hop)
{
	const struct fab_fabric *f = p->f;
	uint32_t sw = p->at;

	hop->sw = sw;
	hop->in =
		p->arc != FAB_NONE ? f->arc_reverse[p->arc] : (uint16_t)fab_degree(f, sw);
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

enum { FAB_HOPS_NEVER = 0xfffd }; /* from there on hops of switches that are not led */

/* Of a row at a time; fabric, faults and row are borrowed. */
struct fab_walk {
	const struct fab_fabric *f;
	const struct fab_faults *faults; /* NULL: nothing is dead */
	const uint16_t *next;
	uint16_t *hops; /* [n_switches] to the root, at most FAB_HOPS_NEVER - 1 */
	/* [n_order] switches that are led to the root: that first, every other one after
	 * the switch that it sends to */
	uint32_t *order;
	uint32_t n_order;
	/* [n_order] the arc by which each of these sends, and the switch at its end; of
	 * the root nothing */
	uint32_t *arc, *to;
	/* [arcs] 1: up, 2: down, 0: neither; borrowed. NULL: turns are not asked for */
	const uint8_t *direction;
	uint8_t *turns; /* [n_switches] of those led to the root: the path from there goes
			   1 up at some point, 2 up after it went down */
	uint32_t *path; /* [n_switches] scratch */
	struct fab_arena arena;
};

/* The caller frees it. At most FAB_HOPS_NEVER switches. 19 bytes a switch. */
void fab_walk_init(struct fab_walk *w, const struct fab_fabric *f,
		   const struct fab_faults *faults);
void fab_walk_fini(struct fab_walk *w);

/* Hops and order of all switches along the row `next` that leads to switch `root`. False:
 * the root has no right entry, and no switch is led there. O(switches). */
bool fab_walk_all(struct fab_walk *w, const uint16_t *next, uint32_t root);

/* End of a port. ENOENT: it has no cable to a switch. O(1). */
int fab_trace_end_of(const struct fab_fabric *f, uint32_t port, struct fab_endpoint *out,
		     struct fab_err *err) FAB_MUST_CHECK;

/* "FROM,TO": two ends by any name (`lookup` finds ports of endpoints). EINVAL, ENOENT:
 * no pair, an unknown name, an end without a cable to a switch, ends on two planes. */
int fab_trace_pair(const struct fab_fabric *f, const struct fab_lookup *lookup,
		   const char *text, struct fab_endpoint ends[2],
		   struct fab_err *err) FAB_MUST_CHECK;

/* The service level of packets from an end, FAB_SL_NONE: none, FAB_SL_UNKNOWN: in no
 * file. O(sources). */
uint8_t fab_trace_sl(const struct fab_routes *r, const struct fab_endpoint *from,
		     uint32_t column);

/* Port ids: from where, to where; the cables of the two adapters are hops, too. */
struct fab_trace_hop {
	uint32_t out, in;
	/* between switches; FAB_VL_UNKNOWN: cable of an adapter, or in no file */
	unsigned vl;
};

struct fab_trace {
	FAB_VEC(struct fab_trace_hop) hops;
	unsigned sl;	     /* FAB_SL_UNKNOWN: in no file */
	const char *stopped; /* why it goes no further; NULL: it arrives */
};

/* Follow the tables; from an end to itself there is no hop. The caller frees with
 * fab_trace_fini(). O(hops * ports of a switch). */
void fab_trace_init(struct fab_trace *trace, const struct fab_routes *r,
		    const struct fab_endpoint *from, const struct fab_endpoint *to);
void fab_trace_fini(struct fab_trace *trace);

/* One direction of a cable. */
struct fab_cable_use {
	uint32_t from;			 /* port at which packets enter the cable */
	uint64_t pairs;			 /* ports of hosts to LIDs of others */
	uint32_t n_senders, n_receivers; /* hosts */
	bool *sends, *receives;		 /* [n_hosts] */
};

/* Pairs of ports of hosts that use a cable with a switch, by direction: use[0] from
 * cable_a; not those without a service level, which send nothing. The caller frees both.
 * O(columns * switches + pairs * sources of levels). */
void fab_cable_use_init(struct fab_cable_use use[2], const struct fab_routes *r,
			fab_cable_id cable);
void fab_cable_use_fini(struct fab_cable_use use[2]);

struct fab_no_path {
	/* Ordered pairs of different ends that could have a path: not of two planes. */
	uint64_t pairs;
	uint64_t without;  /* of these: no path, or no service level to send with */
	uint64_t circling; /* of these: their packets come into a circle */
	/* The first of `without` by target, then source: ends; FAB_NONE: all have one. */
	uint32_t from, to;
	/* Columns with a circle somewhere, also where no end's packets come; the lowest
	 * of them, FAB_NONE: no circle. */
	uint32_t circles, column;
	/* Arcs (ids) of a circle of that column, from its lowest switch on. */
	FAB_VEC(uint32_t) circle;
};

/*
 * Follow every row of the tables from every switch. Ends are end port port[i] on switch
 * sw[i], i < n. The caller frees *out. O(rows * switches + columns * sources), a source:
 * the ends of a switch that share a row of levels.
 */
void fab_no_path_find(const struct fab_routes *routes, uint32_t n, const uint32_t *sw,
		      const uint32_t *port, struct fab_no_path *out);
/* Zeroed is allowed. O(1). */
void fab_no_path_fini(struct fab_no_path *x);

/*
 * "LFTs send LID 7 (n1 HCA-1) in a circle: A:3, B:5" (switches and the ports by which
 * they send, at most 8 of them), with how many other LIDs there are; NULL: no circle. The
 * caller frees. O(circle * nodes).
 */
char *fab_no_path_circle_text(const struct fab_routes *routes,
			      const struct fab_no_path *x);

/*
 * Exported form of tables by leaf switch: with a column more for each live switch
 * without one (a root switch), made from a neighbour's: towards it, and over its cable;
 * switches without an entry there take the shortest path to one that has one. Service
 * level 0 towards them. Columns keep their numbers; leaf names those that were there.
 * The caller frees. O(columns * switches + new columns * (switches + cables)).
 */
struct fab_routes *fab_routes_complete(const struct fab_routes *routes)
	__attribute__((returns_nonnull));
