/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of dimension order. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "unicast/dor.h"

/* Paths that are equally short are told apart by this. */
struct goal {
	uint32_t place, turn; /* alternative of its switch */
	const uint32_t *coord;
};

/* Does a packet that enters a ring go down it where up is as short? */
static bool tie_goes_down(const struct dor *x, const struct goal *to, uint32_t d,
			  uint32_t from)
{
	uint32_t sum = from;

	if (x->ties_go_up)
		return false;
	if (x->axis[d].size == DOR_RING_OF_FOUR)
		return from & 1;
	for (uint32_t e = d + 1; e < x->n_axes; e++)
		sum += to->coord[e];
	return (sum + to->turn % x->n_ties) & 1;
}

/* The exit towards the goal's place along axis d, at a place that has `from` there;
 * FAB_NONE: the line is cut. */
static uint32_t exit_towards(const struct dor *x, const struct goal *to, uint32_t d,
			     uint32_t place, uint32_t from)
{
	const struct dor_axis *a = &x->axis[d];
	const uint32_t *run = x->run + ((size_t)place * x->n_axes + d) * 2;
	uint32_t goal = to->coord[d], up = (goal + a->size - from) % a->size;
	uint32_t down = a->size - up;
	bool has_up, has_down, is_down;

	if (a->line == DOR_COMPLETE)
		return dor_n_live(x, place, a->first_exit + goal) ? a->first_exit + goal
								  : FAB_NONE;
	has_up = run[0] >= up && (a->line == DOR_RING || goal > from);
	has_down = run[1] >= down && (a->line == DOR_RING || goal < from);
	if (!has_up && !has_down)
		return FAB_NONE;
	is_down = up == down ? tie_goes_down(x, to, d, from) : down < up;
	if (!has_up || !has_down)
		is_down = has_down;
	return a->first_exit + is_down;
}

/* How far two places are on a circle. */
static uint32_t around(uint32_t a, uint32_t b, uint32_t size)
{
	uint32_t up = (a + size - b) % size;

	return up < size - up ? up : size - up;
}

/* The lane along a ring. Cable i joins the places i and i + 1; the last is the dateline.
 */
static bool takes_lane_1(const struct dor_axis *a, uint32_t from, uint32_t goal,
			 bool is_down)
{
	uint32_t k = a->size, dateline = k - 1, other = k / 2 - 1;
	uint32_t first = is_down ? goal : from, last = is_down ? from : goal;
	uint32_t n = (last + k - first) % k, middle = 2 * first + n - 1;
	uint32_t to_dateline, to_other;

	if ((dateline + k - first) % k < n)
		return true;
	if ((other + k - first) % k < n)
		return false;
	to_dateline = around(middle % (2 * k), 2 * dateline, 2 * k);
	to_other = around(middle % (2 * k), 2 * other, 2 * k);
	return to_dateline == to_other ? first & 1 : to_dateline > to_other;
}

/* Its bit of the service level, for a packet that leaves by an exit. */
static uint8_t level_bit(const struct dor_axis *a, uint32_t from, uint32_t goal,
			 uint32_t exit)
{
	if (a->bit == DOR_NO_BIT || !takes_lane_1(a, from, goal, exit != a->first_exit))
		return 0;
	return (uint8_t)(1u << a->bit);
}

/* Which of n parallel cables. */
static uint32_t cable_of(const struct dor *x, const struct goal *to, uint32_t n)
{
	uint32_t number = 0;

	if (n > 1) {
		number = to->turn / x->n_ties;
		for (uint32_t e = 0; e < x->n_axes; e++)
			number += to->coord[e];
	}
	return n ? number % n : 0;
}

/* One column: arcs, and the service level from each place (NULL: there is one). */
struct column {
	struct goal to;
	uint16_t *next;
	uint8_t *level; /* [n_switches] by place */
};

/* A place that differs from the goal along axis d first; `corner` is where it is right
 * there. */
static void fill_place(const struct dor *x, const struct column *c, uint32_t d,
		       uint32_t place, uint32_t corner)
{
	const struct dor_axis *a = &x->axis[d];
	uint32_t from = x->coord[(size_t)place * x->n_axes + d];
	uint32_t sw = x->switch_at[place], exit, n;

	c->level[place] = 0;
	c->next[sw] = FAB_ARC_NONE;
	exit = exit_towards(x, &c->to, d, place, from);
	if (c->next[x->switch_at[corner]] == FAB_ARC_NONE || exit == FAB_NONE)
		return;
	n = dor_n_live(x, place, exit);
	c->next[sw] = x->exit_arc[x->exit_first[(size_t)place * x->n_exits + exit] +
				  cable_of(x, &c->to, n)];
	c->level[place] = c->level[corner];
	c->level[place] |= level_bit(a, from, c->to.coord[d], exit);
}

/* Axes backwards: what is right along the first d axes comes before what is not. */
static bool fill_column(const struct dor *x, const struct column *c)
{
	uint32_t base = c->to.place;
	bool is_cut = false;

	c->next[x->switch_at[base]] = FAB_ARC_HERE;
	c->level[base] = 0;
	for (uint32_t d = x->n_axes; d-- > 0;) {
		const struct dor_axis *a = &x->axis[d];
		uint32_t block = base - base % (a->size * a->stride);
		uint32_t right = block + c->to.coord[d] * a->stride;

		for (uint32_t i = 0; i < a->size * a->stride; i++) {
			uint32_t place = block + i;

			if (place >= right && place < right + a->stride)
				continue;
			fill_place(x, c, d, place, right + i % a->stride);
			is_cut |= c->next[x->switch_at[place]] == FAB_ARC_NONE &&
				  fab_switch_is_live(x->faults, x->switch_at[place]);
		}
	}
	return is_cut;
}

static void keep_levels(const struct dor *x, uint32_t column, const uint8_t *level)
{
	struct fab_routes *r = x->r;

	for (uint32_t i = 0; r->sl && i < r->n_sl_sources; i++)
		r->sl[(size_t)i * r->n_columns + column] =
			level[x->place[r->sl_source[i]]];
}

static struct goal goal_of(const struct dor *x, uint32_t column)
{
	uint32_t place = x->place[x->r->column_switch[column]];

	return (struct goal){place, fab_routes_alternative(x->r, column),
			     x->coord + (size_t)place * x->n_axes};
}

/* Column by column, place by place. */
static void fill_each(struct dor *x, int n_threads)
{
	struct fab_routes *r = x->r;
	size_t n = x->f->n_switches;
	bool is_cut = false;

#pragma omp parallel num_threads(n_threads) reduction(|| : is_cut)
	{
		uint8_t *level = FAB_NEW0(n + 1, uint8_t);

#pragma omp for schedule(dynamic, 16)
		for (uint32_t i = 0; i < r->n_columns; i++) {
			const struct column c = {.to = goal_of(x, i),
						 .next = r->next + i * n,
						 .level = level};

			is_cut = fill_column(x, &c) || is_cut;
			keep_levels(x, i, level);
		}
		free(level);
	}
	x->is_cut = is_cut;
}

/* Of a whole grid: what is different along axis d first takes the exit and cable that its
 * place along this axis alone decides, so that arcs are copied in pieces. */
static void copy_arcs(const struct dor *x, const struct goal *to, uint32_t d,
		      uint32_t from, uint32_t exit, uint16_t *next)
{
	const struct dor_axis *a = &x->axis[d];
	uint32_t first = to->place - to->place % (a->size * a->stride) + from * a->stride;
	size_t row = a->first_row + (size_t)(exit - a->first_exit) * a->n_parallel +
		     cable_of(x, to, a->n_parallel);
	const uint16_t *arc = x->row + row * x->f->n_switches + first;

	if (x->is_in_order) {
		memcpy(next + first, arc, a->stride * sizeof(*next));
		return;
	}
	for (uint32_t i = 0; i < a->stride; i++)
		next[x->switch_at[first + i]] = arc[i];
}

/* Columns of a whole grid that are filled together: bits of their service levels by
 * axis and place along it, bit[(line of the axis + place) * BLOCK + column]. */
enum { BLOCK = 256 };

static void fill_whole(const struct dor *x, uint32_t column, uint8_t *bit)
{
	const struct goal to = goal_of(x, column);
	uint16_t *next = x->r->next + (size_t)column * x->f->n_switches;

	next[x->switch_at[to.place]] = FAB_ARC_HERE;
	for (uint32_t d = 0; d < x->n_axes; d++) {
		const struct dor_axis *a = &x->axis[d];

		for (uint32_t from = 0; from < a->size; from++, bit += BLOCK) {
			uint32_t exit;

			*bit = 0;
			if (from == to.coord[d])
				continue;
			/* any place that has `from` there */
			exit = exit_towards(x, &to, d, from * a->stride, from);
			copy_arcs(x, &to, d, from, exit, next);
			*bit = level_bit(a, from, to.coord[d], exit);
		}
	}
}

/* Service levels of a block from one source: the bits of all axes. */
static void join_bits(const struct dor *x, uint32_t place, const uint8_t *bits,
		      uint32_t n, uint8_t *level)
{
	for (uint32_t d = 0; d < x->n_axes; d++) {
		const struct dor_axis *a = &x->axis[d];
		const uint8_t *bit =
			bits + (size_t)x->coord[(size_t)place * x->n_axes + d] * BLOCK;

		for (uint32_t i = 0; i < n && a->bit != DOR_NO_BIT; i++)
			level[i] |= bit[i];
		bits += (size_t)a->size * BLOCK;
	}
}

static void fill_blocks(struct dor *x, int n_threads)
{
	struct fab_routes *r = x->r;
	size_t n_lines = 0;

	for (uint32_t d = 0; d < x->n_axes; d++)
		n_lines += x->axis[d].size;
#pragma omp parallel num_threads(n_threads)
	{
		uint8_t *bits = FAB_NEW(n_lines * BLOCK + 1, uint8_t);

#pragma omp for schedule(dynamic, 1)
		for (uint32_t first = 0; first < r->n_columns; first += BLOCK) {
			uint32_t n = r->n_columns - first;

			n = n < BLOCK ? n : BLOCK;
			for (uint32_t i = 0; i < n; i++)
				fill_whole(x, first + i, bits + i);
			for (uint32_t i = 0; r->sl && i < r->n_sl_sources; i++)
				join_bits(x, x->place[r->sl_source[i]], bits, n,
					  r->sl + (size_t)i * r->n_columns + first);
		}
		free(bits);
	}
}

void dor_fill(struct dor *x, int n_threads)
{
	n_threads = fab_threads_for(n_threads,
				    (uint64_t)x->r->n_columns * x->f->n_switches * 8);
	if (x->row)
		fill_blocks(x, n_threads);
	else
		fill_each(x, n_threads);
	fab_threads_rest(n_threads);
}
