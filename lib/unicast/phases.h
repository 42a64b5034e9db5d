/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In-trees of a kfat in phase order (after Liu et al. 2022, for destination tables):
 * phases p = 0 .. lanes * D - 1 stand for dimension p mod D on lane p / D of that many
 * rounds; a path uses ascending phases, so that paths in phase order close no cycle of
 * channels. Seen from the destination, each switch takes the path on that leaves the most
 * phases before it.
 */
#pragma once

#include "unicast/alternatives.h"
#include "unicast/engine.h"

struct fab_phases {
	const struct fab_kfat *k;
	const struct fab_faults *faults;
	const struct fab_alternatives *alternatives;
	unsigned n_rounds;
	/* two dimensions: detours begin in the row where they can, so that all of them
	 * go through columns; set by the caller */
	bool rows_first;
	uint32_t salt;	  /* another choice among equals; set by the caller */
	bool concentrate; /* detours along as few lines as can be; set by the caller */
	uint8_t *n_whole; /* [n_leaves * D] whole lines of a leaf but that along d */
	/* [n_leaves * D] the larger, the fewer parts miss on the leaf's lines but that
	 * along d; the same order for all destinations */
	uint32_t *soundness;
	uint8_t *has_leaf; /* [n_switches] a line's switch that is joined to leaves */
	/* one root switch a line and two dimensions: the tables of a destination whose
	 * column is sound follow from a template; else NULL */
	struct fab_plain *plain;
	struct fab_whole *whole; /* no part missing but by faults; else NULL */
};

/* The caller frees it; alternatives, with their kfat and faults, are borrowed. O(leaves *
 * dims + arcs). */
void fab_phases_init(struct fab_phases *phases,
		     const struct fab_alternatives *alternatives, unsigned n_rounds);
void fab_phases_fini(struct fab_phases *phases);

/* How a leaf stands to a destination. */
enum fab_path_kind {
	FAB_PATH_PLAIN,	 /* in phase order, in the last round only */
	FAB_PATH_PHASED, /* in phase order */
	FAB_PATH_LEFT,	 /* against the phase order */
	FAB_PATH_NONE,	 /* not connected */
};

/* Of fab_phases_column(): a destination whose row, column and rows' turns are sound. */
bool fab_phases_sound_column(const struct fab_phases *phases, uint32_t leaf,
			     uint16_t *next);

struct fab_phase_space; /* room for one search */
struct fab_phase_space *fab_phase_space_new(const struct fab_phases *phases);
void fab_phase_space_free(struct fab_phase_space *space);

/* Where entries go: of alternatives first .. first + n - 1 of a destination, next[n *
 * n_switches]. */
struct fab_phase_rows {
	uint32_t first, n;
	uint16_t *next;
};

/*
 * Entries of all switches for a destination leaf, and the path of each leaf,
 * path[n_leaves]: with all alternatives the same, which differ in the cables between a
 * leaf and the switches of one line only. With `longer` paths in phase order come first,
 * however long; else all are shortest. Returns whether all sound leaves but the cut-off
 * ones are plain. O(arcs), less where the destination's row and column are sound;
 * O(arcs + switches) for each alternative more.
 */
bool fab_phases_column(const struct fab_phases *phases, struct fab_phase_space *space,
		       uint32_t leaf, bool longer, const struct fab_phase_rows *rows,
		       uint8_t *path);
/* Was there a choice for the last column: would it differ with another salt, with rows
 * first or concentrated? O(1). */
bool fab_phases_has_chosen(const struct fab_phase_space *space);
