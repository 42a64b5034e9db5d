/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Segments: the paths along one line of a kfat, from leaf to leaf. Algorithms that think
 * in rows and columns say where each line sends the packets of a destination; the entries
 * of its switches follow from that.
 */
#pragma once

#include "unicast/alternatives.h"
#include "unicast/engine.h"

struct fab_segments {
	const struct fab_kfat *k;
	const struct fab_faults *faults;
	struct fab_alternatives alternatives;
	uint32_t width;		/* largest of dims */
	uint32_t *leaf_at;	/* [n_lines * width] leaf by its coordinate, FAB_NONE */
	uint32_t *switch_first; /* [n_lines + 1] into line_switch */
	uint32_t *line_switch;	/* switches of a line, ascending */
	uint32_t *in_line;	/* [n_switches] position of a line switch in its line */
	/* path[path_first[line] + (coordinate of the target * n_choices + w) *
	 * path_width[line]
	 * + i]: arc of the leaf with coordinate i < width, of switch i - width of the
	 * line; counted from its first arc, FAB_ARC_NONE: no path along the line. w = 0:
	 * of a destination without alternatives, 1 + i: of alternative i. */
	uint32_t n_choices;
	size_t *path_first;
	uint32_t *path_width;
	uint16_t *path;
	uint16_t *nowhere; /* [width] FAB_ARC_NONE */
	/* [n_leaves * D] line of a leaf and its coordinate there; n_lines: none, or the
	 * leaf is dead */
	struct fab_seat {
		uint32_t line, coord;
	} * seat;
};

/* The caller frees it; what it is made of is borrowed. O(lines * leaves of a line *
 * cables of a line). */
void fab_segments_init(struct fab_segments *segments, const struct fab_kfat *k,
		       const struct fab_faults *faults);
void fab_segments_fini(struct fab_segments *segments);

enum { FAB_SEGMENT_NONE = 0xff };

/* What a destination asks of every line and every leaf. */
struct fab_segment_plan {
	uint32_t *target;      /* [n_lines] leaf to send to, FAB_NONE */
	uint8_t *dim;	       /* [n_leaves] dimension to leave by, FAB_SEGMENT_NONE */
	const uint16_t **path; /* [n_lines + 1] scratch of fab_segments_fill() */
};

void fab_segment_plan_init(struct fab_segment_plan *plan, const struct fab_kfat *k);
void fab_segment_plan_fini(struct fab_segment_plan *plan);
/* Entries of all switches for alternative i of the destination leaf: next[n_switches].
 * O(switches). */
void fab_segments_fill(const struct fab_segments *segments, struct fab_segment_plan *plan,
		       uint32_t leaf, uint32_t i, uint16_t *next);

/* Fills the plan of one destination leaf. */
typedef void fab_segment_planner(const struct fab_segments *segments, uint32_t to,
				 struct fab_segment_plan *plan);
/* Tables for all sound leaf switches and their alternatives, one lane; the caller frees.
 */
struct fab_routes *fab_segments_route(const struct fab_unicast_problem *problem,
				      fab_segment_planner *planner)
	__attribute__((returns_nonnull));

/* Leaf of a line with a coordinate along it, FAB_NONE: none or dead. */
static inline uint32_t fab_segments_leaf(const struct fab_segments *segments,
					 uint32_t line, uint32_t coord)
{
	return line == FAB_NONE
		       ? FAB_NONE
		       : segments->leaf_at[(size_t)line * segments->width + coord];
}

/* Is there a path along the line from leaf to leaf? */
bool fab_segments_has(const struct fab_segments *segments, uint32_t line, uint32_t from,
		      uint32_t to);
