/* SPDX-License-Identifier: BSD-2-Clause */
/* What the searches for in-trees in phase order share. */
#pragma once

#include "unicast/phases.h"

struct fab_phase_space {
	uint32_t *level;  /* [n_switches] hops to the destination, FAB_NONE */
	uint32_t *order;  /* [n_switches] switches by level */
	int16_t *phase;	  /* [n_switches] leaf: phi; line: p; -1: against the order */
	uint8_t *is_down; /* [n_switches] the path goes down in the line from here */
	uint16_t *usable; /* [arcs of a switch] room */
	uint32_t *after;  /* [n_switches] a list, and another, of whoever searches */
	uint32_t *moved;
	uint16_t *next; /* [n_switches] of whoever needs it */
	uint32_t *mark; /* [n_switches] == stamp: looked at for this destination */
	uint32_t stamp;
	bool has_chosen; /* among equals, for this destination */
};

/* The largest phase of dimension d below phi, -1: none. */
static inline int fab_phase_below(int phi, unsigned d, unsigned n_dims)
{
	int below = phi - 1 - (int)d;

	return below < 0 ? -1 : (int)d + below / (int)n_dims * (int)n_dims;
}

/* How a leaf with that hop and phase stands. */
static inline enum fab_path_kind fab_phases_path_kind(uint16_t next, int phase,
						      int last_round)
{
	if (next == FAB_ARC_NONE)
		return FAB_PATH_NONE;
	if (phase < 0)
		return FAB_PATH_LEFT;
	return phase >= last_round ? FAB_PATH_PLAIN : FAB_PATH_PHASED;
}

/*
 * The best hop from a switch over switches of a level to the destination `to`: *next,
 * unchanged where there is none; phase and is_down of the switch. False: against the
 * phase order.
 */
bool fab_phases_adopt(const struct fab_phases *ph, struct fab_phase_space *s, uint32_t to,
		      uint32_t sw, uint32_t level, uint16_t *next);

/*
 * Kfats of which no part is missing before anything died, one root switch a line: what
 * a destination's tables are without faults follows from coordinates, and only what
 * leads over dead parts is looked for.
 */
struct fab_whole;
/* NULL: it is no such kfat. The caller frees. O(arcs + switches * dims). */
struct fab_whole *fab_whole_new(const struct fab_phases *ph);
void fab_whole_free(struct fab_whole *whole);
/*
 * The tables of a destination as fab_phases_column() has them, shortest paths; *is_plain
 * is what it returns. False: too much is dead, nothing is done. O(switches * dims + arcs
 * of what leads over dead parts).
 */
bool fab_whole_column(const struct fab_phases *ph, struct fab_phase_space *s,
		      uint32_t leaf, uint16_t *next, uint8_t *path, bool *is_plain);
/*
 * The dependencies from arc to arc of all paths that nothing dead is on, in ascending
 * order of dimensions, over all destinations: each handed to `take` once. O(arcs *
 * leaves of a line).
 */
void fab_whole_dependencies(const struct fab_phases *ph,
			    bool (*take)(void *context, uint32_t from, uint32_t to),
			    void *context);
/*
 * Switches alive whose hop to a destination leaf is another than without faults:
 * changed[n_switches] gets them. Returns how many. O(switches * dims).
 */
uint32_t fab_whole_changed(const struct fab_phases *ph, struct fab_phase_space *s,
			   uint32_t leaf, const uint16_t *next, uint32_t *changed);
