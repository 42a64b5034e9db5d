/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/hops.h"

#include <stdlib.h>
#include <string.h>

/* With coordinates of all switches? */
static bool is_grid(const struct fab_shape *s)
{
	if (s->kind != FAB_SHAPE_TORUS && s->kind != FAB_SHAPE_MESH &&
	    s->kind != FAB_SHAPE_HYPERX)
		return false;
	for (uint32_t i = 0; i < s->n_switches; i++)
		for (uint32_t d = 0; d < s->n_dims; d++)
			if (s->coords[i * s->n_dims + d] >= s->dims[d])
				return false;
	return true;
}

void fab_hops_init(struct fab_hops *h, const struct fab_mcast_problem *problem)
{
	const struct fab_shape *s;
	size_t n;

	*h = (struct fab_hops){.dist = problem->dist};
	s = fab_mcast_shape(problem, &h->own_shape);
	if (!is_grid(s))
		return;
	h->shape = s;
	n = (size_t)s->n_switches * s->n_dims;
	h->x = FAB_NEW(n, uint16_t);
	for (size_t i = 0; i < n; i++) /* less than FAB_HOPS_UNREACHABLE each */
		h->x[i] = (uint16_t)s->coords[i];
	h->size = FAB_NEW(s->n_dims, uint16_t);
	for (uint32_t d = 0; d < s->n_dims; d++) /* a mesh has no path around */
		h->size[d] = (uint16_t)(s->kind == FAB_SHAPE_MESH ? 2 * s->dims[d]
								  : s->dims[d]);
}

void fab_hops_fini(struct fab_hops *h)
{
	fab_shape_free(h->own_shape);
	free(h->x);
	free(h->size);
	*h = (struct fab_hops){0};
}

void fab_hops_list_init(struct fab_hops_list *l, const struct fab_hops *hops)
{
	*l = (struct fab_hops_list){.hops = hops};
}

void fab_hops_list_fini(struct fab_hops_list *l)
{
	free(l->sw.v);
	free(l->x);
	free(l->out);
	*l = (struct fab_hops_list){0};
}

static void make_room(struct fab_hops_list *l, uint32_t dims)
{
	size_t room = l->room ? 2 * l->room : 2 * FAB_HOPS_ALIGN;
	uint16_t *x = FAB_NEW0(dims * room, uint16_t);

	for (uint32_t d = 0; d < dims && l->room; d++)
		memcpy(x + d * room, l->x + d * l->room, l->room * sizeof(*x));
	free(l->x);
	free(l->out);
	l->x = x;
	l->out = FAB_NEW0(room, uint16_t);
	l->room = room;
}

void fab_hops_list_add(struct fab_hops_list *l, uint32_t sw)
{
	const struct fab_hops *h = l->hops;
	uint32_t dims = h->shape ? h->shape->n_dims : 1;

	if (l->sw.n == l->room)
		make_room(l, dims);
	for (uint32_t d = 0; h->shape && d < dims; d++)
		l->x[d * l->room + l->sw.n] = h->x[(size_t)sw * dims + d];
	FAB_PUSH(&l->sw, sw);
}

void fab_hops_list_drop(struct fab_hops_list *l, size_t i)
{
	const struct fab_hops *h = l->hops;
	size_t last = --l->sw.n;

	l->sw.v[i] = l->sw.v[last];
	for (uint32_t d = 0; h->shape && d < h->shape->n_dims; d++)
		l->x[d * l->room + i] = l->x[d * l->room + last];
}

/* What lies between them in each dimension, added: around it of size[d] if that is less,
 * and no more than `most`; to so many times FAB_HOPS_ALIGN entries, x[d * room] each. */
FAB_WIDE static void add_up(const uint16_t *restrict at, const uint16_t *restrict size,
			    uint32_t dims, uint16_t most, const uint16_t *restrict x,
			    size_t room, size_t n, uint16_t *restrict out)
{
	for (size_t b = 0; b < n * FAB_HOPS_ALIGN; b += FAB_HOPS_ALIGN) {
		uint16_t sum[FAB_HOPS_ALIGN] = {0};

		for (uint32_t d = 0; d < dims; d++)
			for (size_t i = 0; i < FAB_HOPS_ALIGN; i++) {
				uint16_t to = x[d * room + b + i];
				uint16_t hops = to > at[d] ? to - at[d] : at[d] - to;
				uint16_t around = (uint16_t)(size[d] - hops);

				hops = hops < around ? hops : around;
				sum[i] = (uint16_t)(sum[i] + (hops < most ? hops : most));
			}
		for (size_t i = 0; i < FAB_HOPS_ALIGN; i++)
			out[b + i] = sum[i];
	}
}

const uint16_t *fab_hops_from(struct fab_hops_list *l, uint32_t sw)
{
	const struct fab_hops *h = l->hops;
	size_t n = l->sw.n;

	if (h->shape) {
		uint32_t dims = h->shape->n_dims;

		add_up(h->x + (size_t)sw * dims, h->size, dims,
		       h->shape->kind == FAB_SHAPE_HYPERX ? 1 : UINT16_MAX, l->x, l->room,
		       fab_hops_padded(n) / FAB_HOPS_ALIGN, l->out);
	} else {
		/* of rows that stay, near what was read for a neighbour of the switch */
		for (size_t i = 0; i < n; i++)
			l->out[i] = fab_dist_row(h->dist, l->sw.v[i])[sw];
	}
	return l->out;
}
