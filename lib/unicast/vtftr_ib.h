/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the tables and the lanes of engine vtftr-ib. */
#pragma once

#include "unicast/phases.h"
#include "unicast/service_levels.h"

enum vtftr_ib_result { VTFTR_IB_DONE, VTFTR_IB_OPEN };

/* The sources of a column whose paths are not plain, ascending: numbers of routes->leaf;
 * and what kind they are of. */
struct vtftr_ib_others {
	uint32_t n, *source;
	uint8_t *kind; /* enum fab_path_kind: phased or left */
};

struct vtftr_ib {
	const struct fab_unicast_problem *problem;
	struct fab_alternatives alternatives;
	struct fab_routes *routes;
	uint8_t **path; /* [columns][leaf] enum fab_path_kind; NULL: all plain or none */
	struct vtftr_ib_others *others; /* [columns] */
	uint32_t *source_leaf;		/* [routes->n_leaves] number in the kfat */
	uint32_t *source_of; /* [leaves of the kfat] the other way round, FAB_NONE */
	bool is_ascending;   /* so do numbers in the kfat */
	bool *is_longer;     /* [leaves of the kfat] phase order before length */
	bool *is_settled;    /* [leaves of the kfat] grown, any choice gives the same */
	bool *is_stuck;	     /* [leaves of the kfat] some pair has no lanes */
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

/* After v->path[column] has changed: the others. O(leaves). */
void vtftr_ib_note_others(struct vtftr_ib *v, uint32_t column);
void vtftr_ib_free_others(struct vtftr_ib *v);

/*
 * The dependencies of a column's paths, from one channel (arc) to the next: each that no
 * other path of the column had before is handed to `take`; where it says false the walk
 * ends. Paths are those of the kinds in `paths`, 1 << enum fab_path_kind.
 */
struct vtftr_ib_walk {
	const struct vtftr_ib *v;
	unsigned paths;
	bool (*take)(void *context, uint32_t from, uint32_t to);
	void *context;
	uint32_t *walked; /* [switches], 0 at first */
	uint32_t stamp;	  /* 0 at first */
};
enum {
	VTFTR_IB_PLAIN = 1 << FAB_PATH_PLAIN,
	VTFTR_IB_OTHER = 1 << FAB_PATH_PHASED | 1 << FAB_PATH_LEFT,
};
/* False: `take` said so. O(switches). */
bool vtftr_ib_walk(struct vtftr_ib_walk *walk, uint32_t column);
/* The same from the leaf switches sw[n] only. */
bool vtftr_ib_walk_from(struct vtftr_ib_walk *walk, uint32_t column, const uint32_t *sw,
			uint32_t n);

/*
 * Do all paths that are not plain, put on one lane of their own, close no cycle there?
 * O(columns * switches).
 */
bool vtftr_ib_one_lane_does(const struct vtftr_ib *v);

/* Which word of lanes a path tries first. */
enum vtftr_ib_first {
	VTFTR_IB_PHASES_FIRST, /* those of its phases: better with very many faults */
	VTFTR_IB_ONES_FIRST,   /* lane 1 throughout: better on small grids */
};

/*
 * Each path that is not plain gets the lowest service level that has a word of lanes for
 * it which closes no cycle in the exact graph of channel dependencies, one after the
 * other. A column that would need one level more is grown anew by other choices among
 * equals first. Fewer levels than by phases alone; but a path may find none: then
 * *is_done is false and the tables are to be grown anew. O(pairs * levels * words *
 * choices).
 */
int vtftr_ib_place(struct vtftr_ib *v, struct fab_phases *phases,
		   enum vtftr_ib_first first, bool *is_done,
		   struct fab_err *err) FAB_MUST_CHECK;

/*
 * Lanes for all pairs that are not plain, packed into service levels from 1 on; fills
 * routes->sl, the SL2VL tables, is_stuck and n_stuck. The exact graph of channel
 * dependencies is kept while there are left-overs.
 */
int vtftr_ib_pack(struct vtftr_ib *v, const struct fab_phases *phases,
		  struct fab_err *err) FAB_MUST_CHECK;

/*
 * Two service levels and three lanes by the direction of turns, see the file; *is_done is
 * false, and only service levels have changed, where a path turns twice, the kfat has
 * not two dimensions, or lines of several levels of switches. O(pairs).
 */
int vtftr_ib_order_turns(struct vtftr_ib *v, bool *is_done,
			 struct fab_err *err) FAB_MUST_CHECK;
