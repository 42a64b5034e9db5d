/* SPDX-License-Identifier: BSD-2-Clause */
/* Dimension order (engine_dor.c) between the grid and the columns filled from it. */
#pragma once

#include "fabric/shape.h"
#include "unicast/engine.h"

enum { DOR_NO_BIT = 0xff, DOR_RING_WITH_LANES = 5, DOR_RING_OF_FOUR = 4 };

enum dor_line { DOR_PATH, DOR_RING, DOR_COMPLETE };

/* One axis. */
struct dor_axis {
	enum dor_line line;
	uint32_t dim;	       /* of the shape */
	uint32_t size, stride; /* place = sum of coordinate * stride, the first slowest */
	uint32_t first_exit,
		n_exits;     /* exits of a switch: up and down, or by coordinate */
	uint8_t bit;	     /* of the service level, DOR_NO_BIT */
	uint32_t n_parallel; /* of a whole grid: cables of each exit */
	uint32_t first_row;  /* of these, in `row` */
};

struct dor {
	const struct fab_fabric *f;
	const struct fab_faults *faults;
	struct fab_shape *shape;
	struct dor_axis axis[FAB_SHAPE_DIMS_MAX];
	bool ties_go_up; /* of all rings */
	uint32_t n_axes, n_exits, n_bits;
	uint32_t *place;      /* [n_switches] */
	uint32_t *switch_at;  /* [n_switches] by place */
	uint32_t *coord;      /* [n_switches * n_axes] by place */
	uint32_t *exit_first; /* [n_switches * n_exits + 1] into exit_arc, by place */
	uint16_t *exit_arc;   /* live arcs of the switch */
	uint32_t *run; /* [n_switches * n_axes * 2] live hops on, up and down the axis */
	uint32_t n_ties, n_cables; /* alternatives of what is equally short, at most */
	/*
	 * Nothing is dead or missing, and along an axis all switches have the same number
	 * of parallel cables: then row[(first_row + (exit - first_exit) * n_parallel + k)
	 * * n_switches + place] is the arc of the k-th cable, else NULL.
	 */
	uint16_t *row;
	uint32_t n_rows;
	bool is_in_order; /* place and switch are the same number */
	struct fab_routes *r;
	bool is_cut; /* some pair has no path */
};

static inline uint32_t dor_n_live(const struct dor *x, uint32_t place, uint32_t exit)
{
	const uint32_t *first = x->exit_first + (size_t)place * x->n_exits + exit;

	return first[1] - first[0];
}

/* Places, exits and runs of the fabric; shape and axes are there. O(arcs + switches *
 * sizes of axes). */
void dor_set_grid(struct dor *x);
/* Fill the columns of x->r and service levels, where it has room for them; sets is_cut.
 * O(switches * columns). */
void dor_fill(struct dor *x, int n_threads);
