/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two methods to give lanes share: the path at hand, what is fixed so far. */
#pragma once

#include "base/map.h"
#include "base/mem.h"
#include "unicast/channel_order.h"
#include "unicast/vtftr_ib.h"

enum { VTFTR_IB_LEGS_MAX = 12 };

struct vtftr_ib_lanes {
	struct vtftr_ib *v;
	const struct fab_kfat *k;
	unsigned n_rounds;
	struct fab_sl_packer *packer;
	struct fab_channel_order *order; /* channel = arc * n_rounds + lane; NULL until
					    there is a left-over */
	uint32_t *slot_first; /* [arcs + 1] of dependencies, by the port out after it */
	FAB_VEC(uint32_t) added;   /* dependencies, to take them back */
	size_t n_before;	   /* of them before the path at hand */
	size_t n_kept;		   /* of them that stay; SIZE_MAX: all */
	struct fab_map64 *refused; /* from << 32 | to -> n_back then, or for good */
	uint32_t n_back;	   /* how often some were taken back */
	uint32_t *walked, stamp;   /* for vtftr_ib_walk() */
	/* the path at hand */
	uint32_t n_hops, n_segments;
	struct fab_hop hops[FAB_PATH_MAX];
	uint8_t segment_of[FAB_PATH_MAX]; /* of a hop */
	uint8_t dim[FAB_PATH_MAX];	  /* of a segment */
	uint8_t segment_lane[FAB_PATH_MAX];
	uint8_t lane[FAB_PATH_MAX]; /* of a hop */
};

/* Nothing fixed; service level 0 for all. The caller frees it. */
int vtftr_ib_begin_lanes(struct vtftr_ib *v, unsigned n_rounds,
			 struct vtftr_ib_lanes **out, struct fab_err *err) FAB_MUST_CHECK;
/* Hand the tables of lanes over to the routes. */
void vtftr_ib_end_lanes(struct vtftr_ib_lanes *l);

/* The order of channels with the dependencies of the plain paths, and with `phased` of
 * all in phase order. */
void vtftr_ib_begin_order(struct vtftr_ib_lanes *l, const struct fab_phases *phases,
			  bool phased);
/* A dependency of plain paths, which are on lane 0: what vtftr_ib_walk() is told with the
 * lanes as context. */
bool vtftr_ib_take_plain(void *lanes, uint32_t from, uint32_t to);
/* The dependencies of the plain paths of all columns. O(columns * switches). */
void vtftr_ib_add_all_plain(struct vtftr_ib_lanes *l, const struct fab_phases *phases);

/* Take the path from a source at hand: hops, and which segments they make. False: none.
 */
bool vtftr_ib_read_path(struct vtftr_ib_lanes *l, uint32_t source, uint32_t column);
/* Lanes of the phases, from the destination back, of a path in phase order. */
void vtftr_ib_lanes_of_phases(struct vtftr_ib_lanes *l);
/* Lanes of hops from those of segments. */
void vtftr_ib_spread_lanes(struct vtftr_ib_lanes *l);
/* The next word of lanes of segments, from all 0 on; false after the last one. */
bool vtftr_ib_next_word(struct vtftr_ib_lanes *l);
/* Add the dependencies of the path at hand; false: they would close a cycle. */
bool vtftr_ib_add_path(struct vtftr_ib_lanes *l);
/* The same of the plain paths of a column; on false some of them are added. */
bool vtftr_ib_add_plain(struct vtftr_ib_lanes *l, uint32_t column);
/* What was added so far stays, what comes may be taken back. */
void vtftr_ib_keep_paths(struct vtftr_ib_lanes *l);
/* Take all back that was added since. */
void vtftr_ib_drop_paths(struct vtftr_ib_lanes *l);
/* The level of a pair, and how many levels and lanes that makes. */
void vtftr_ib_note_levels(struct vtftr_ib_lanes *l, uint32_t source, uint32_t column,
			  unsigned sl);
