/* SPDX-License-Identifier: BSD-2-Clause */
/* Who sends to whom, by the places of the switches on a grid. */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "fabric/shape.h"
#include "traffic/permutation.h"

enum { MAX_RANK = 1 << 16 };

/* Number of each end among those of its switch, which follow each other. */
static uint32_t *rank_ends(const struct fab_flow_ends *ends)
{
	uint32_t *rank = FAB_NEW((size_t)ends->n + 1, uint32_t);

	for (uint32_t i = 0; i < ends->n; i++)
		rank[i] = i && ends->sw[i] == ends->sw[i - 1] ? rank[i - 1] + 1 : 0;
	return rank;
}

/* Has the fabric a grid that its host switches have places on? */
static bool has_grid(const struct fab_shape *s)
{
	return s->kind == FAB_SHAPE_TORUS || s->kind == FAB_SHAPE_MESH ||
	       s->kind == FAB_SHAPE_HYPERX || s->kind == FAB_SHAPE_KFAT;
}

/* Where end `rank` of the switch by[d] further on in each dimension stands, as one
 * number; false: the switch has no place, or too many ends. */
static bool place_of(const struct fab_shape *s, uint32_t sw, uint32_t rank,
		     const uint32_t *by, uint64_t *place)
{
	const uint32_t *at = s->coords + (size_t)sw * s->n_dims;

	*place = 0;
	for (uint32_t d = 0; d < s->n_dims; d++) {
		if (at[d] == FAB_NONE)
			return false;
		*place = *place * s->dims[d] + ((uint64_t)at[d] + by[d]) % s->dims[d];
	}
	*place = *place * MAX_RANK + rank;
	return rank < MAX_RANK;
}

/* To the end of the same rank on the switch by[d] further on in each dimension. */
static void move_on_grid(const struct fab_flow_ends *ends, const struct fab_shape *s,
			 const uint32_t *by, uint32_t *to)
{
	static const uint32_t nowhere[FAB_SHAPE_DIMS_MAX];
	struct fab_map64 *end_at = fab_map64_new(ends->n);
	uint32_t *rank = rank_ends(ends);
	uint64_t place;

	for (uint32_t i = 0; i < ends->n; i++)
		if (place_of(s, ends->sw[i], rank[i], nowhere, &place))
			fab_map64_put(end_at, place, i);
	for (uint32_t i = 0; i < ends->n; i++)
		if (place_of(s, ends->sw[i], rank[i], by, &place))
			to[i] = fab_map64_get(end_at, place);
	free(rank);
	fab_map64_free(end_at);
}

/* Steps in a ring of `size`. */
typedef uint32_t (*steps_fn)(uint32_t size);

static uint32_t nearly_half(uint32_t size)
{
	return size ? (size + 1) / 2 - 1 : 0;
}

static uint32_t one(uint32_t size)
{
	return size > 1;
}

/* Where there is no grid the hosts stand in one ring. */
static int move(const struct fab_permutation_problem *p, steps_fn steps, uint32_t *to)
{
	struct fab_shape *shape = fab_shape_recognize(p->f);
	const struct fab_flow_ends *ends = p->ends;
	uint32_t by[FAB_SHAPE_DIMS_MAX];

	if (has_grid(shape)) {
		for (uint32_t d = 0; d < shape->n_dims; d++)
			by[d] = steps(shape->dims[d]);
		move_on_grid(ends, shape, by, to);
	} else {
		for (uint32_t i = 0; i < ends->n; i++)
			to[i] = (uint32_t)(((uint64_t)i + steps(ends->n)) % ends->n);
	}
	fab_shape_free(shape);
	return 0;
}

static int tornado(const struct fab_permutation_problem *p, const char *argument,
		   uint32_t *to, struct fab_err *err)
{
	(void)argument;
	(void)err;
	return move(p, nearly_half, to);
}

static int neighbour(const struct fab_permutation_problem *p, const char *argument,
		     uint32_t *to, struct fab_err *err)
{
	(void)argument;
	(void)err;
	return move(p, one, to);
}

const struct fab_permutation fab_permutation_tornado = {
	.form = "tornado",
	.summary = "nearly half around in every dimension",
	.manual = "On a torus, mesh, hyperx or kfat to the host of the same number on "
		  "the "
		  "switch ceil(k/2) - 1 further on, around, in every dimension of size "
		  "k; "
		  "elsewhere all N hosts are one ring. What has no such host sends "
		  "nothing.",
	.make = tornado,
};

const struct fab_permutation fab_permutation_neighbour = {
	.form = "neighbour",
	.summary = "one further on in every dimension",
	.manual = "The same, one further on in every dimension.",
	.make = neighbour,
};
