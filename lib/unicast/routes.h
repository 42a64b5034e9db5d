/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unicast forwarding: tables and lanes, made by an engine or read from files.
 *
 * A column is a destination: a switch at which packets leave the graph of switches, or a
 * LID. Engines of kfats have a column for each sound leaf switch, which all hosts behind
 * it share, or where lines have several switches or cables side by side a few for each:
 * alternatives, which the LIDs behind the leaf take in turn. minhop, updn and tables
 * that were read have a column for each LID. A row says where each switch sends the
 * packets of a column; columns whose paths are the same share a row.
 */
#pragma once

#include "base/lookup.h"
#include "base/mem.h"
#include "fabric/fabric.h"

#include <stdbool.h>

/* A pair that has no service level: it must not send. Unknown: it sends, but no file says
 * with which (where there is more than one lane only). */
enum { FAB_SL_NONE = 0xff, FAB_SL_UNKNOWN = 0xfe, FAB_VL_UNKNOWN = 0xff };

enum { FAB_ARC_NONE = 0xffff, FAB_ARC_HERE = 0xfffe, FAB_ARC_BROKEN = 0xfffd };

/* A dead switch or a dead cable. */
struct fab_fault {
	bool is_cable;
	uint32_t id;
};

/* Dead parts; the fabric itself does not change. Made by unicast/faults.h. */
struct fab_faults {
	const struct fab_fabric *f;
	bool *switch_is_dead; /* [n_switches] */
	bool *cable_is_dead;  /* [n_cables]; those of a dead switch, too */
	bool *arc_is_dead;    /* [arcs] the same for cables between switches */
	/* what was named dead, in that order; cables of dead switches are not in it */
	FAB_VEC(struct fab_fault) named;
	struct fab_resolver *resolver; /* NULL until something is named by text */
	struct fab_matches matches;    /* what host lists and patterns stood for */
};

/* Live graph. Faults NULL: nothing is dead. O(1). */
static inline bool fab_switch_is_live(const struct fab_faults *faults, uint32_t sw)
{
	return !faults || !faults->switch_is_dead[sw];
}

/* Is a cable alive? O(1). */
static inline bool fab_cable_is_live(const struct fab_faults *faults, uint32_t cable)
{
	return !faults || !faults->cable_is_dead[cable];
}

/* Is an arc alive: its cable and both ends? O(1). */
static inline bool fab_arc_is_live(const struct fab_faults *faults, uint32_t arc)
{
	return !faults || !faults->arc_is_dead[arc];
}

/* How the lane of a hop follows from the service level. */
enum fab_lanes { FAB_LANES_ONE, FAB_LANES_SL, FAB_LANES_TABLE };

/* Contents and gaps of files of tables. "Strange" parts are not in the fabric. */
struct fab_table_files {
	bool *has_table; /* [n_switches] there is one, with all lines that it should have
			  */
	FAB_VEC(uint16_t) strange_lids;	    /* of no port on a switch */
	FAB_VEC(uint64_t) strange_switches; /* node GUIDs */
	bool has_sls, has_lanes;	    /* a file of these was read */
	/*
	 * with has_lanes: is there a line for the lanes from a port of a switch to an
	 * arc of it? has_lane[lane_first[sw] + port * (d + 1) + out]; port counted from
	 * node_first_port, out from arc_first, d = number of arcs: to an adapter
	 */
	bool *has_lane;
	uint64_t *lane_first; /* [n_switches + 1] */
};

struct fab_routes {
	const struct fab_fabric *f;
	const struct fab_faults *faults; /* borrowed; NULL: nothing is dead */
	uint32_t n_columns;
	uint32_t *column_switch; /* [n_columns] */
	uint32_t *column_port; /* [n_columns] end port of the LID; NULL: a leaf switch */
	/* [n_columns]; NULL: a leaf switch; all 0: the fabric has no LIDs (yet) */
	uint16_t *column_lid;
	/* Alternatives, of columns that are switches; NULL: one column leads to each. The
	 * columns of a switch lie side by side. */
	uint16_t *n_alternatives; /* [n_switches] 0: no column leads there */
	uint16_t *turn; /* [n_ports] of end ports: the alternative of the first LID; the
			   port's next LIDs take the next ones, around */
	uint32_t n_rows;
	uint32_t *column_row; /* [n_columns]; NULL: a column has the row of its number */
	/*
	 * next[row * n_switches + sw]: arc of sw, counted from f->arc_first[sw];
	 * FAB_ARC_HERE at the destination switch, FAB_ARC_BROKEN a port without a live
	 * cable to a switch or to the wrong adapter, FAB_ARC_NONE no entry
	 */
	uint16_t *next;
	uint32_t row_cap; /* allocated rows */
	/* The leaf switches that an engine routed for, ascending; NULL: those of the
	 * columns, of tables by LID the switches with hosts. */
	uint32_t n_leaves;
	uint32_t *leaf;

	enum fab_lanes lanes;
	uint8_t n_vls, n_sls;
	/*
	 * SL of a packet: sl[source * n_columns + column], source = index in sl_source
	 * (node ids ascending): that of the adapter that sends, else that of its switch;
	 * neither: sl_default; NULL: 0. Engines have switches only.
	 */
	uint8_t sl_default;
	uint32_t n_sl_sources;
	uint32_t *sl_source;
	uint8_t *sl;
	/* FAB_LANES_TABLE: lane of (switch, in, out, sl): sl2vl[vl_first[sw] + (in * (d +
	 * 1) + out) * 16 + sl]; in/out: arc of the switch counted from arc_first, d = its
	 * number of arcs: from or to an adapter */
	uint64_t *vl_first; /* [n_switches + 1] */
	uint8_t *sl2vl;
	struct fab_table_files *files; /* NULL: made by an engine */
	/* Note for readers of the results ("no roots found: min hops"), NULL: none. */
	char *note;
	char *instead; /* OpenSM's engine that made them, not the one asked for; NULL */
};

/* Frees everything but f and faults; NULL is allowed. O(size). */
void fab_routes_free(struct fab_routes *routes);
FAB_AUTO_POINTER(fab_routes)
/*
 * Zeroed but for f, faults, n_columns, column_switch (unset) and next (unset); one lane.
 * The caller frees. n_columns * n_switches * 2 bytes. O(columns * switches).
 */
struct fab_routes *fab_routes_new(const struct fab_fabric *f,
				  const struct fab_faults *faults, uint32_t n_columns);
/* Routes with columns of LIDs, all unset, that share rows: no row yet. O(columns). */
struct fab_routes *fab_routes_new_by_lid(const struct fab_fabric *f,
					 const struct fab_faults *faults,
					 uint32_t n_columns);
/* A row more, unset; returns its number. Pointers into next are stale then. Amortised
 * O(n_switches). */
uint32_t fab_routes_add_row(struct fab_routes *routes);

/*
 * A column for each leaf switch, in their order: its own (the first alternative), in
 * tables by LID that of the first adapter behind it, else the switch's own LID. Tables
 * by LID that name no leaves have none. The caller frees. Returns how many. O(columns +
 * switches).
 */
uint32_t fab_routes_leaf_columns(const struct fab_routes *routes, uint32_t **out);

/* Service levels from all leaf switches to all columns: 0. Needs leaf. O(leaves *
 * columns). */
void fab_routes_new_levels(struct fab_routes *routes);
/* Row of sl by which each node sends: [n_nodes], FAB_NONE: none of its own. The caller
 * frees. O(nodes). */
uint32_t *fab_routes_sl_rows(const struct fab_routes *routes)
	__attribute__((returns_nonnull));

/* Of a column that is a switch: which alternative. O(alternatives). */
static inline uint32_t fab_routes_alternative(const struct fab_routes *r, uint32_t column)
{
	uint32_t i = 0;

	while (r->n_alternatives && i < column &&
	       r->column_switch[column - i - 1] == r->column_switch[column])
		i++;
	return i;
}

/* Where each switch sends packets of a column. Borrowed. O(1). */
static inline const uint16_t *fab_routes_next(const struct fab_routes *r, uint32_t column)
{
	uint32_t row = r->column_row ? r->column_row[column] : column;

	return r->next + (size_t)row * r->f->n_switches;
}

/* Service level to a column of a source with this row of sl, FAB_NONE: no row. O(1). */
static inline uint8_t fab_routes_level(const struct fab_routes *r, uint32_t row,
				       uint32_t column)
{
	if (!r->sl)
		return 0;
	return row == FAB_NONE ? r->sl_default
			       : r->sl[(size_t)row * r->n_columns + column];
}

/* Index into has_lane of the lanes from a port of sw to an arc. O(1). */
static inline uint64_t fab_lane_at(const struct fab_routes *r, uint32_t sw, uint32_t port,
				   uint32_t out)
{
	uint32_t d = fab_degree(r->f, sw);

	return r->files->lane_first[sw] +
	       (uint64_t)(port - r->f->node_first_port[sw]) * (d + 1) + out;
}

/* Lane on which a packet of service level sl leaves sw by arc `out`, having come by arc
 * `in` (number of arcs: from an adapter). O(1). */
static inline unsigned fab_routes_vl(const struct fab_routes *r, uint32_t sw, uint32_t in,
				     uint32_t out, unsigned sl)
{
	uint64_t entry = (uint64_t)in * (fab_degree(r->f, sw) + 1) + out;

	if (r->lanes == FAB_LANES_ONE)
		return 0;
	return r->lanes == FAB_LANES_SL ? sl
					: r->sl2vl[r->vl_first[sw] + entry * 16 + sl];
}

struct fab_columns {
	const struct fab_routes *r;
	uint32_t *first; /* of tables by LID [n_ports], else [n_switches]: the first
			    column that leads there, FAB_NONE */
};

/* The caller frees it; routes are borrowed. O(columns + ports). */
void fab_columns_init(struct fab_columns *columns, const struct fab_routes *routes);
void fab_columns_fini(struct fab_columns *columns);

/*
 * The column of an end port's LID: number `offset`, counted from the first that leads to
 * the port; FAB_NONE: none does. O(1), of tables by LID O(LIDs of a port).
 */
uint32_t fab_columns_of(const struct fab_columns *columns, uint32_t port,
			uint32_t offset);

struct fab_changes {
	uint64_t entries;  /* of destinations that both have */
	uint64_t switches; /* that have such an entry */
};

/*
 * Entries of live switches in `now` that differ from `before`, which has all columns of
 * `now`, in the same order, and maybe more; a switch represents copies[n_switches] of
 * them (NULL: 1). O(columns * switches).
 */
struct fab_changes fab_changes_count(const struct fab_routes *now,
				     const struct fab_routes *before,
				     const uint32_t *copies);
