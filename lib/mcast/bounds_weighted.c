/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cables of one kind that all groups need most decide: those count for more. Which
 * weights, is searched for kind by kind, by dual ascent for some of the groups.
 */
#include "mcast/bounds_dual.h"

#include "base/mem.h"
#include "fabric/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weights begin with FIRST and are at most LARGEST; groups that estimates go by; and of
 * the steps one in SHARE for each estimate. */
enum { FIRST = 8, LARGEST = 512, SAMPLE = 32, SHARE = 24 };

struct search {
	const struct fab_mcast_problem *p;
	struct fab_bound_work work; /* of an estimate */
	uint8_t *kind;		    /* [n_switch_links] */
	uint32_t n_kinds;
	uint32_t by_kind[FAB_SHAPE_DIMS_MAX], best[FAB_SHAPE_DIMS_MAX];
	double value; /* of the best */
	uint32_t *weight;
	uint32_t sample[SAMPLE], n_sample;
};

/* The dimension in which two switches differ. */
static uint8_t dimension_of(const struct fab_shape *shape, uint32_t a, uint32_t b)
{
	uint8_t dim = 0;

	while (dim + 1u < shape->n_dims && shape->coords[a * shape->n_dims + dim] ==
						   shape->coords[b * shape->n_dims + dim])
		dim++;
	return dim;
}

static void find_kinds(struct search *x, const struct fab_shape *shape)
{
	const struct fab_fabric *f = x->p->f;
	bool is_grid = shape->kind == FAB_SHAPE_TORUS || shape->kind == FAB_SHAPE_MESH ||
		       shape->kind == FAB_SHAPE_HYPERX;

	x->n_kinds = is_grid ? shape->n_dims : shape->group ? 2 : 1;
	for (uint32_t c = 0; c < f->n_switch_links && x->n_kinds > 1; c++) {
		uint32_t a = f->port_node[f->cable_a[c]];
		uint32_t b = f->port_node[f->cable_b[c]];

		x->kind[c] = is_grid ? dimension_of(shape, a, b)
				     : shape->group[a] != shape->group[b];
	}
}

static void set_weights(struct search *x, const uint32_t *by_kind)
{
	for (uint32_t c = 0; c < x->p->f->n_switch_links; c++)
		x->weight[c] = by_kind[x->kind[c]];
}

/* Is it better to give one kind another weight? */
static bool try_weight(struct search *x, uint32_t kind, uint32_t weight)
{
	double value;

	if (weight > LARGEST || weight == x->best[kind])
		return false;
	memcpy(x->by_kind, x->best, sizeof(x->best));
	x->by_kind[kind] = weight;
	set_weights(x, x->by_kind);
	value = fab_dual_estimate(x->p, &x->work, x->weight, x->sample, x->n_sample);
	if (!(value > x->value))
		return false;
	x->value = value;
	memcpy(x->best, x->by_kind, sizeof(x->best));
	return true;
}

/* By factors of four while one helps, then of two. */
static void search_weights(struct search *x)
{
	for (uint32_t factor = 4; factor > 1; factor /= 2) {
		bool helps = true;

		while (helps && !fab_bound_is_over(&x->work)) {
			helps = false;
			for (uint32_t k = 0; k < x->n_kinds; k++)
				helps |= try_weight(x, k, x->best[k] / factor) ||
					 try_weight(x, k, x->best[k] * factor);
		}
	}
}

void fab_mcast_weighted_bound(const struct fab_mcast_problem *problem,
			      const struct fab_bound_work *work, uint32_t least,
			      struct fab_bound *out)
{
	uint32_t n = problem->groups->n, n_cables = problem->f->n_switch_links;
	struct fab_shape *own_shape;
	struct search x = {.p = problem,
			   .work = *work,
			   .kind = FAB_NEW0((size_t)n_cables + 1, uint8_t),
			   .weight = FAB_NEW0((size_t)n_cables + 1, uint32_t)};

	*out = (struct fab_bound){.kind = FAB_BOUND_NONE};
	x.work.steps = work->steps / SHARE;
	find_kinds(&x, fab_mcast_shape(problem, &own_shape));
	fab_shape_free(own_shape);
	for (uint32_t i = 0; i < SAMPLE && i < n; i++)
		x.sample[x.n_sample++] =
			(uint32_t)((uint64_t)i * n / (n < SAMPLE ? n : SAMPLE));
	for (uint32_t k = 0; k < x.n_kinds; k++)
		x.best[k] = FIRST;
	if (x.n_kinds > 1)
		search_weights(&x);
	if (ceil(x.value) > least) {
		set_weights(&x, x.best);
		fab_mcast_dual_bound_of(problem, work, x.weight, out);
		x.weight = NULL;
	}
	free(x.weight);
	free(x.kind);
}
