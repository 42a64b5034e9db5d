/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of the picture of a page: what is placed, and what is drawn of it. */
#pragma once

#include "base/arena.h"
#include "base/mem.h"
#include "export/dot.h"
#include "export/drawing.h"

/* Units of the picture, about a pixel each. */
enum {
	ROW = 1600,
	MOST_IN_ROW = 64,
	LEAST_PITCH = 26,
	MOST_PITCH = 170,
	FLAT_PITCH = 92, /* from here on labels are written horizontally */
	FLAT_HEIGHT = 56,
	TALL_HEIGHT = 132,
	MARGIN = 14,
	RING_BOX = 28,
	RING_LABEL = 130,
	CHARACTER = 7, /* of a label of 11 units */
	LINE = 13,
};

struct spot {
	double x, y, w, h; /* corner, size */
};

struct place {
	bool is_cable;
	uint32_t id; /* switch or cable */
};

struct mark {
	enum fab_tone tone;
	char *text;
	FAB_VEC(struct place) at;
};

/* A cable between switches, with its boxes. */
struct line {
	uint32_t box_a, box_b, sw_a, sw_b, cable;
};

struct fab_drawing {
	const struct fab_fabric *f;
	struct fab_boxes boxes;
	struct fab_arena arena;
	uint32_t *order;  /* boxes by rank and name */
	uint32_t *sorted; /* switches by box, those of one as they lie there */
	struct spot *box, *sw;
	bool *is_open; /* [boxes] its switches are in the picture */
	double width, height;
	double *angle; /* [boxes] in a ring; NULL: rows */
	struct line *lines;
	uint32_t n_lines;
	double *load, most_load;
	bool is_whole; /* all loads are whole numbers */
	char *unit, *what;
	FAB_VEC(struct mark) marks;
	uint64_t n_more_marks;
	struct fab_strmap *names; /* of switches; FAB_SHARED: of several */
};

/* Lay out boxes and the switches in them. O(n log n) and O(n^1.5) in the largest box. */
void fab_drawing_place(struct fab_drawing *d);
