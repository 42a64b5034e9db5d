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

void fab_hops_init(struct fab_hops *h, const struct fab_fabric *f,
		   const struct fab_dist *dist)
{
	struct fab_shape *s = fab_shape_recognize(f);
	size_t n;

	*h = (struct fab_hops){.dist = dist};
	if (!is_grid(s)) {
		fab_shape_free(s);
		return;
	}
	h->shape = s;
	n = (size_t)s->n_switches * s->n_dims;
	h->x = FAB_NEW(n, uint16_t);
	for (size_t i = 0; i < n; i++) /* less than FAB_HOPS_UNREACHABLE each */
		h->x[i] = (uint16_t)s->coords[i];
}

void fab_hops_fini(struct fab_hops *h)
{
	if (h->shape)
		fab_shape_free(h->shape);
	free(h->x);
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
	size_t room = l->room ? 2 * l->room : 64;

	l->x = fab_realloc(l->x, dims * room, sizeof(*l->x));
	for (uint32_t d = dims; d-- > 1;)
		memmove(l->x + d * room, l->x + d * l->room, l->room * sizeof(*l->x));
	l->out = fab_realloc(l->out, room, sizeof(*l->out));
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

/* Adds what lies between them in one dimension: around it of `size` if that is less, and
 * no more than `most`. */
FAB_WIDE static void add(uint16_t at, const uint16_t *restrict x, size_t n, uint16_t size,
			 uint16_t most, uint16_t *restrict out)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t hops = x[i] > at ? x[i] - at : at - x[i];
		uint16_t around = (uint16_t)(size - hops);

		hops = hops < around ? hops : around;
		out[i] = (uint16_t)(out[i] + (hops < most ? hops : most));
	}
}

FAB_WIDE static uint16_t least_of(const uint16_t *out, size_t n)
{
	uint16_t least = UINT16_MAX;

	for (size_t i = 0; i < n; i++)
		least = out[i] < least ? out[i] : least;
	return least;
}

const uint16_t *fab_hops_from(struct fab_hops_list *l, uint32_t sw, uint16_t *least)
{
	const struct fab_hops *h = l->hops;
	size_t n = l->sw.n;

	if (h->shape) {
		const struct fab_shape *s = h->shape;
		uint16_t most = s->kind == FAB_SHAPE_HYPERX ? 1 : UINT16_MAX;

		memset(l->out, 0, n * sizeof(*l->out));
		for (uint32_t d = 0; d < s->n_dims; d++)
			add(h->x[(size_t)sw * s->n_dims + d], l->x + d * l->room, n,
			    (uint16_t)(s->kind == FAB_SHAPE_MESH ? 2 * s->dims[d]
								 : s->dims[d]),
			    most, l->out);
	} else {
		const uint8_t *row = fab_dist_row(h->dist, sw);

		for (size_t i = 0; i < n; i++)
			l->out[i] = row[l->sw.v[i]];
	}
	*least = least_of(l->out, n);
	return l->out;
}
