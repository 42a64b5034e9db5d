/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine vtftr-ib from the inside: in-trees in phase order (phases.c), lanes for their
 * paths (lanes.c), the order of channels without cycles (channel_order.c). engine.c
 * describes the method.
 */
#pragma once

#include "base/arena.h"
#include "unicast/engine.h"
#include "unicast/kfat/segments.h"

/*
 * In-trees of a kfat in phase order (after Liu et al. 2022, for destination tables):
 * phases p = 0 .. lanes * D - 1 are of dimension p mod D on lane p / D of that many
 * rounds; a path uses ascending phases, so that paths in phase order close no cycle of
 * channels.
 */
struct fab_phases {
	struct fab_arena arena;
	const struct fab_kfat *k;
	const struct fab_faults *faults;
	const struct fab_alternatives *alternatives;
	unsigned n_rounds;
	/* The caller sets these three. Two dimensions: detours begin in the row where
	 * they can, so that all of them go through columns; another choice among equals;
	 * detours along as few lines as can be. */
	bool rows_first;
	uint32_t salt;
	bool concentrate;
	uint8_t *n_whole; /* [n_leaves * D] whole lines of a leaf but that along d */
	/* [n_leaves * D] the larger, the fewer parts miss on the leaf's lines but that
	 * along d; the same order for all destinations */
	uint32_t *soundness;
	uint16_t *round; /* [phases + 1] first phase of the round of each */
	bool *has_leaf;	 /* [n_switches] a line's switch that is joined to leaves */
	/* template of the tables of a destination whose column is sound; NULL: lines are
	 * no single switches, or there are not two dimensions */
	struct fab_plain *plain;
};

/* Alternatives, with their kfat and faults, are borrowed. O(leaves * dims + arcs). */
void fab_phases_init(struct fab_phases *phases,
		     const struct fab_alternatives *alternatives, unsigned n_rounds);
void fab_phases_fini(struct fab_phases *phases);

/* Position of a leaf relative to a destination. */
enum fab_path_kind {
	FAB_PATH_PLAIN,	 /* in phase order, in the last round only */
	FAB_PATH_PHASED, /* in phase order */
	FAB_PATH_LEFT,	 /* against the phase order */
	FAB_PATH_NONE,	 /* not connected */
};

/* Scratch of one search; it lives in the arena. */
struct fab_phase_space;
struct fab_phase_space *fab_phase_space_new(const struct fab_phases *phases,
					    struct fab_arena *arena);

/* Entries of alternatives first .. first + n - 1 of a destination: next[n * n_switches].
 */
struct fab_phase_rows {
	uint32_t first, n;
	uint16_t *next;
};

/*
 * Entries of all switches for a destination leaf, and the enum fab_path_kind of each
 * leaf, path[n_leaves], which all alternatives share: they differ in the cables between a
 * leaf and the switches of one line only. With `longer` paths in phase order come first,
 * however long; else all are shortest. Returns whether all sound leaves but the cut-off
 * ones are plain; path may be unset then. O(arcs), less where the destination's row and
 * column are sound; O(arcs + switches) for each alternative more.
 */
bool fab_phases_column(const struct fab_phases *phases, struct fab_phase_space *space,
		       uint32_t leaf, bool longer, const struct fab_phase_rows *rows,
		       uint8_t *path);
/* Was there a choice for the last column: would it differ with other settings? O(1). */
bool fab_phases_has_chosen(const struct fab_phase_space *space);

/* Tables of the engine at work. */
struct vtftr_ib {
	const struct fab_unicast_problem *problem;
	struct fab_alternatives alternatives;
	struct fab_routes *routes;
	uint8_t **path;	 /* [columns][leaf] enum fab_path_kind; NULL: all plain or none */
	bool *is_longer; /* [leaves of the kfat] phase order before length */
	bool *is_settled; /* [leaves of the kfat] grown, any choice gives the same */
	bool *is_stuck;	  /* [leaves of the kfat] some pair has no lanes */
	uint64_t n_left, n_stuck; /* pairs against the phase order; without lanes */
};

/* Service levels that may be used. */
static inline unsigned vtftr_ib_levels(const struct vtftr_ib *v)
{
	return v->problem->max_sls ? v->problem->max_sls : FAB_SLS_MAX;
}

/* Leaf to which a column leads, by its number in the kfat. */
static inline uint32_t vtftr_ib_leaf(const struct vtftr_ib *v, uint32_t column)
{
	return v->problem->kfat->leaf_of[v->routes->column_switch[column]];
}

/* Kind of the path of a column from a source, a number of routes->leaf. */
static inline enum fab_path_kind vtftr_ib_kind(const struct vtftr_ib *v, uint32_t column,
					       uint32_t source)
{
	const uint8_t *path = v->path[column];

	return path ? path[v->problem->kfat->leaf_of[v->routes->leaf[source]]]
		    : FAB_PATH_PLAIN;
}

/* The first source from `source` on whose path is phased or left, FAB_NONE: no more. */
static inline uint32_t vtftr_ib_other(const struct vtftr_ib *v, uint32_t column,
				      uint32_t source)
{
	for (; v->path[column] && source < v->routes->n_leaves; source++) {
		enum fab_path_kind kind = vtftr_ib_kind(v, column, source);

		if (kind == FAB_PATH_PHASED || kind == FAB_PATH_LEFT)
			return source;
	}
	return FAB_NONE;
}
#define VTFTR_IB_EACH_OTHER(v, column, s)                                                \
	for (uint32_t s = vtftr_ib_other(v, column, 0); s != FAB_NONE;                   \
	     s = vtftr_ib_other(v, column, s + 1))

/* Do all paths that are not plain, put on one lane of their own, close no cycle there?
 * O(columns * switches). */
bool vtftr_ib_fits_one_lane(const struct vtftr_ib *v);

/* The word of lanes that a path tries first. */
enum vtftr_ib_first {
	VTFTR_IB_PHASES_FIRST, /* that of its phases: better with very many faults */
	VTFTR_IB_ONES_FIRST,   /* lane 1 throughout: better on small grids */
};

/*
 * Each path that is not plain gets the lowest service level that has a word of lanes for
 * it which closes no cycle in the exact graph of channel dependencies, in sequence. A
 * column that would need one level more is grown by other choices among equals first.
 * Fewer levels than by phases alone; but a path may find none: then *is_done is false and
 * the tables must be grown again. O(pairs * levels * words * choices).
 */
int vtftr_ib_place(struct vtftr_ib *v, struct fab_phases *phases,
		   enum vtftr_ib_first first, bool *is_done,
		   struct fab_err *err) FAB_MUST_CHECK;

/*
 * Lanes for all pairs that are not plain, packed into service levels from 1 on; fills
 * routes->sl, the SL2VL tables, is_stuck and n_stuck. The exact graph of channel
 * dependencies is kept while there are left-overs.
 */
int vtftr_ib_pack(struct vtftr_ib *v, unsigned n_rounds,
		  struct fab_err *err) FAB_MUST_CHECK;

/*
 * Two service levels and three lanes by the direction of turns (lanes.c); *is_done is
 * false, and only service levels have changed, where a path turns twice, the kfat has not
 * two dimensions, or lines of several levels of switches. O(pairs).
 */
int vtftr_ib_order_turns(struct vtftr_ib *v, bool *is_done,
			 struct fab_err *err) FAB_MUST_CHECK;

/*
 * A graph that stays without cycles while edges are added: a topological order that is
 * mended locally, after a search from both ends of an edge at once that ends with the
 * smaller one (Alpern, Hoover, Rosen, Sweeney, Zadeck 1990), kept as labels with room
 * between them (Dietz 1982).
 *
 * n vertices, no edges. key[v]: the order to begin with, equal keys by number; edges that
 * run from lower to higher keys cost nothing. The caller gives each edge a slot, by which
 * it is looked up: edges of one slot are searched in sequence. The caller frees.
 * O(n log n + slots).
 */
struct fab_channel_order;
struct fab_channel_order *fab_channel_order_new(uint32_t n, const uint32_t *key,
						uint32_t n_slots);
void fab_channel_order_free(struct fab_channel_order *order);

enum fab_edge { FAB_EDGE_NEW, FAB_EDGE_KNOWN, FAB_EDGE_CYCLE };
/*
 * Add an edge unless it closes a cycle; *id gets its number for fab_channel_order_drop()
 * when it is new. O(vertices and edges between the two in the order): as many as the
 * smaller of both searches has, twice; sometimes all labels.
 */
enum fab_edge fab_channel_order_add(struct fab_channel_order *order, uint32_t slot,
				    uint32_t from, uint32_t to, uint32_t *id);
/* Is the edge there? O(edges of the slot). */
bool fab_channel_order_has(const struct fab_channel_order *order, uint32_t slot,
			   uint32_t from, uint32_t to);
/* Take a new edge back; cheapest in the reverse order of adding. O(1). */
void fab_channel_order_drop(struct fab_channel_order *order, uint32_t id);
