/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-launch fence has computed. */
#pragma once

#include <math.h>

#include "launch.h"
#include "launch/range.h"

/* What one algorithm does with nodes in one order: a row for each size. */
struct fence_item {
	FAB_VEC(struct launch_fence_row) rows;
	struct fab_fence_line line;
	char *name, *stands_for[2]; /* on the heap */
	bool is_alias;		    /* it is another one, which may hang on the size */
	struct fab_fence_load load;
	uint32_t *port; /* [load.n_steps] that sends on the fullest cable of a step */
	bool is_there;
};

/* Most nodes for which crossings are simulated. */
enum { FENCE_MAX_CROSSED = 2048 };

/* An algorithm is the fastest in a range of sizes, by the lines of the contended form. */
struct fence_range {
	const char *order, *algorithm;
	uint32_t nodes;
	double from_bytes, to_bytes;
	double simulated_to_bytes; /* where the next one is faster by simulation */
};

/* One set of nodes. */
struct fence_group {
	struct fab_launch_nodes nodes;
	const char *order;
};

struct fence_outcome {
	struct launch_params *p;
	struct launch_job job;
	FAB_VEC(struct fence_group) groups;
	FAB_VEC(struct fab_fence_chosen) fences;
	size_t n_shown; /* of fences: what is behind is tried for auto */
	bool has_auto;
	FAB_VEC(struct launch_fence_row) autos; /* why and stands_for on the heap */
	FAB_VEC(struct fence_item) items;	/* by group, then fence */
	FAB_VEC(struct fence_range) ranges;
	/* Seconds of the fastest fence of the first nodes at the largest size. */
	struct fab_launch_range seconds;
};

static inline const struct fence_group *fence_group_of(const struct fence_outcome *o,
						       uint64_t item)
{
	return &o->groups.v[item / o->fences.n];
}

/* Was the fence of this item asked for? */
static inline bool fence_is_shown(const struct fence_outcome *o, size_t item)
{
	return item % o->fences.n < o->n_shown;
}

/* What a row takes: simulated where that is known. */
static inline double fence_us(const struct launch_fence_row *row)
{
	return isnan(row->simulated_us) ? row->contended_us : row->simulated_us;
}

/* The fastest of a group at size number `i`; NULL: none of the shard. */
const struct fence_item *fence_best(const struct fence_outcome *o, size_t group,
				    size_t i);
void fence_print(struct fab_report *r, const struct launch_params *p, const void *of,
		 enum fab_format format);
