/* SPDX-License-Identifier: BSD-2-Clause */
/* Boxes of the picture of a fabric: which switches share one, and the hosts below. */
#pragma once

#include "base/arena.h"
#include "fabric/fabric.h"
#include "fabric/label.h"

/* Points of a row of boxes: 3000 pixels of 96 an inch, without margins. */
enum { FAB_BOXES_ROW_POINTS = 2250 - 150 };

struct fab_box {
	uint32_t first, last; /* switches of its lowest rank, first and last by name */
	uint32_t rank;	      /* lowest of its switches; FAB_NONE: none has one */
	uint32_t n_lowest;    /* switches of that rank */
	uint32_t n_switches;
	uint32_t n_hosts; /* cables to host adapters */
	const char
		*hosts; /* of a fold: how many, and a host list, in lines; NULL: none */
};

struct fab_boxes {
	const struct fab_fabric *f;
	struct fab_box *v; /* [n] */
	uint32_t n;
	uint32_t *of_switch; /* [n_switches] */
	uint32_t *rank;	     /* [n_switches] FAB_NONE: in a part without hosts */
	bool has_ranks;	     /* there are roots */
	uint32_t *group_of;  /* [n_hosts] the first host that is cabled to the same
				switches; NULL: of a fold */
	struct fab_plain_names names;
	struct fab_arena
		arena; /* has all of this, and what the picture needs for a while */
};

/* How much is folded. */
enum fab_boxes_fold {
	FAB_BOXES_EACH,	   /* a box for each switch */
	FAB_BOXES_PICTURE, /* as few as make a picture of 3000 pixels */
	FAB_BOXES_PODS,	   /* pods and groups of a picture that can be enlarged: of more
			      than 64 switches at most 48 boxes a rank */
};
/* Free with fab_boxes_fini(). O(cables log cables). */
void fab_boxes_init(struct fab_boxes *boxes, const struct fab_fabric *f,
		    enum fab_boxes_fold fold);
void fab_boxes_fini(struct fab_boxes *boxes);

/* The boxes by rank, from the lowest, and name; of the arena. O(n log n). */
uint32_t *fab_boxes_sort(struct fab_boxes *boxes);

/* Width of a box, with the gap to the next one. O(its text). */
uint32_t fab_box_points(const struct fab_boxes *boxes, const struct fab_box *box);

/* "20 hosts" and their list in a few lines, cut at commas; of the arena. O(n log n). */
const char *fab_boxes_hosts(struct fab_boxes *boxes, const char *const *names,
			    uint32_t n);
