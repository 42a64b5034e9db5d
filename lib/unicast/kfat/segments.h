/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kfats whose lines several switches (planes) or parallel cables join: which of them a
 * LID takes. A leaf switch has as many alternatives as there are cables from a leaf into
 * a line, at most as many as there are LIDs behind it; its LIDs take them in turn.
 *
 * LIDs of all leaves are numbered on. In each line that its packets cross, LID number n
 * takes cable n mod m of each leaf, of the m that the leaf has into the line, in the
 * order of the switches there. Where all cables are alive, the LIDs behind a leaf so use
 * all planes equally, up and down, and one LID stays on its plane throughout. Where a
 * cable leads nowhere, because it, its switch or what the switch needs is dead, only the
 * LIDs that would take it are spread over the others of that leaf, in this line only.
 *
 * No deadlock comes of it. A segment of a path, from leaf to leaf along one line, goes up
 * to one switch (or to the top of one tree) of the line and down from it; so its channels
 * ascend when those of a line are ordered "up, then down", whichever switch they are at,
 * and a dependency from a channel down leads out of the line, to the next segment. That
 * leaves orders of segments, and these are the engines': by dimension (xy), by lane and
 * dimension (vtftr, phases), by the columns of turns (vtftr_ib_turns.c). They give a
 * segment its place by the dimension of its line, the lane, and the leaves at its ends,
 * and ask of each path by itself that its segments ascend; so do the paths of an
 * alternative, whose cables are chosen among those to switches of one line that stand at
 * the same place of the order. Two paths that turn at one leaf by different planes share
 * the leaf, not a channel, and the order is one of the channels of all planes. Where
 * vtftr-ib asks the exact graph of channels instead (words of lanes, left-over pairs),
 * the paths of all alternatives are in it.
 */
#pragma once

#include "base/arena.h"
#include "unicast/engine.h"

struct fab_alternatives {
	struct fab_arena arena;
	const struct fab_kfat *k;
	const struct fab_faults *faults;
	uint32_t n_most; /* of a leaf; 1: there are no choices, and the rest is unset */
	uint32_t *n;	 /* [n_leaves] columns that lead to a leaf */
	uint32_t *first_lid;  /* [n_leaves] number of the first LID behind a leaf */
	uint32_t *slot_first; /* [n_leaves * n_dims + 1] into slot */
	uint16_t *slot; /* arcs of a leaf into its line, dead ones too, by switch, then in
			   their order */
	bool has_parallel; /* several cables between a leaf and a switch of a line */
};

/* Coordinate of a leaf in a dimension. O(1). */
static inline uint32_t fab_kfat_coord(const struct fab_kfat *k, uint32_t leaf,
				      uint32_t dim)
{
	return k->coord[(size_t)leaf * k->n_dims + dim];
}

/* Switches of lines that are joined to a leaf: [n_switches], of the arena. O(arcs). */
bool *fab_kfat_low_switches(const struct fab_kfat *k, struct fab_arena *arena);

/* The caller frees it; kfat and faults (NULL: none) are borrowed. O(ports + arcs * cables
 * of a leaf into a line). */
void fab_alternatives_init(struct fab_alternatives *a, const struct fab_kfat *k,
			   const struct fab_faults *faults);
void fab_alternatives_fini(struct fab_alternatives *a);

/* Tables with a column for each alternative of each sound leaf switch, the entries unset;
 * one lane. The caller frees. O(ports). */
struct fab_routes *fab_alternatives_routes(const struct fab_alternatives *a)
	__attribute__((returns_nonnull));

/*
 * The cable of a leaf into its line of a dimension for a LID, by number: arc[n] are those
 * that lead on, n > 0. O(n).
 */
uint16_t fab_alternatives_up(const struct fab_alternatives *a, uint32_t leaf,
			     uint32_t dim, uint32_t number, const uint16_t *arc,
			     uint32_t n);
/* The cable from a switch, which is of a line, down to a leaf; `any` is one that is
 * alive. O(1), with parallel cables O(arcs of the switch). */
uint16_t fab_alternatives_down(const struct fab_alternatives *a, uint32_t sw,
			       uint32_t leaf, uint32_t number, uint16_t any);

/* Number of a LID that takes alternative i of a leaf. */
static inline uint32_t fab_alternatives_number(const struct fab_alternatives *a,
					       uint32_t leaf, uint32_t i)
{
	return a->first_lid[leaf] + i;
}

/* Has a leaf alternatives? Else its tables are what they would be without others. */
static inline bool fab_alternatives_has(const struct fab_alternatives *a, uint32_t leaf)
{
	return a->n_most > 1 && a->n[leaf] > 1;
}

/*
 * Tables of switches sw[n] with a column for each turn, that the LIDs behind a switch
 * take; of one lane, the entries unset. The caller frees. O(ports).
 */
struct fab_routes *
fab_alternatives_new_routes(const struct fab_fabric *f, const struct fab_faults *faults,
			    const uint32_t *sw, uint32_t n, uint32_t most)
	__attribute__((returns_nonnull));

/*
 * Where some pairs have no service level by one alternative, and fewer by another of the
 * same leaf, that one takes its place: all alternatives of a leaf are reached from the
 * same switches. Copies of paths and their lanes, which close no new cycle. Returns how
 * many pairs of leaf switches have none then. O(sources * columns).
 */
uint64_t fab_alternatives_settle(struct fab_routes *routes);

/*
 * Segments: the paths along one line of a kfat, from leaf to leaf. Algorithms that think
 * in rows and columns say where each line sends the packets of a destination; the entries
 * of its switches follow from that.
 */

struct fab_segments {
	struct fab_arena arena;
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

/* Plan of one destination. */
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

/* Tables for all sound leaf switches and their alternatives, one lane: `route` of engines
 * with a plan. */
int fab_segments_route(const struct fab_unicast_engine *self,
		       const struct fab_unicast_problem *problem, struct fab_routes **out,
		       struct fab_err *err);

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

/* One plane of a kfat whose planes are copies, with one host a leaf. */
struct fab_fold {
	const struct fab_kfat *of;
	struct fab_fabric *f;
	struct fab_kfat *kfat;
	uint32_t n_planes, n_lids; /* LIDs behind each leaf, a multiple of the planes */
	uint32_t *original;	   /* [switches of f] */
	uint32_t *copies;	   /* [switches of f] 1 leaf switch, n_planes others */
};

/* NULL: planes differ, or leaves in their number of LIDs. The caller frees. O(ports). */
struct fab_fold *fab_fold_new(const struct fab_kfat *k);
void fab_fold_free(struct fab_fold *fold);
/* Dead leaf switches in one plane; NULL: others are dead, too. The caller frees. O(ports
 * of what is dead). */
struct fab_faults *fab_fold_faults(const struct fab_fold *fold,
				   const struct fab_faults *faults);
/* Of one plane between leaf switches, made that of all planes, but for loads. O(lists).
 */
struct fab_analysis;
void fab_fold_undo(const struct fab_fold *fold, struct fab_analysis *analysis);
