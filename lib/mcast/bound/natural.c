/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounds by cuts and parts that the fabric suggests, and by distances of members. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/progress.h"
#include "fabric/graph.h"
#include "fabric/shape.h"
#include "mcast/bounds.h"

enum {
	MAX_SLABS = 256,    /* longer dimensions have too many slabs to count */
	MAX_SPANNED = 1024, /* larger groups have too many pairs of switches */
};

/* Less capacity than this is a rounding error. */
static const double FAINT = 1e-6;

/* The best bound so far and its proof; all borrowed. */
struct best {
	const struct fab_mcast_problem *p;
	struct fab_bound *out;
	/* of weighted loads, else both NULL: the largest so far, without a certificate */
	const struct fab_weights *weights;
	double *load;
	struct fab_arena *arena; /* scratch until all bounds were tried */
};

static double demand_of(const struct best *b, uint32_t group)
{
	return b->weights ? b->weights->demand[group] : 1;
}

static double capacity_of(const struct best *b, uint32_t cable)
{
	return b->weights ? b->weights->capacity[cable] : 1;
}

/* The least largest share of a cable; groups are whole, and so are demands of one
 * granule on cables that are all the same. */
static double share(const struct best *b, double demand, double capacity)
{
	const struct fab_weights *w = b->weights;
	double granules;

	if (!w)
		return ceil(demand / capacity);
	if (!(w->granule > 0) || !(w->even > 0))
		return demand / capacity;
	granules = demand / w->granule / (capacity / w->even);
	return ceil(granules - FAB_LOAD_ROUNDING * granules) * w->granule / w->even;
}

static bool is_better(const struct best *b, double value)
{
	return value > (b->weights ? *b->load : b->out->value);
}

static void offer(const struct best *b, enum fab_bound_kind kind, double value)
{
	if (b->weights) {
		*b->load = value;
		return;
	}
	fab_bound_fini(b->out);
	*b->out = (struct fab_bound){.kind = kind, .value = (uint32_t)value};
	if (kind == FAB_BOUND_CUT || kind == FAB_BOUND_PARTS)
		b->out->part = FAB_NEW(b->p->f->n_switches, uint32_t);
}

/* The switches of a part against all others. */
static void offer_cut(const struct best *b, double value, const uint32_t *part,
		      uint32_t inside)
{
	if (!is_better(b, value))
		return;
	offer(b, FAB_BOUND_CUT, value);
	if (b->weights)
		return;
	for (uint32_t s = 0; s < b->p->f->n_switches; s++)
		b->out->part[s] = part[s] == inside ? 0 : FAB_NONE;
}

/* Demand of a division into parts on the cables between them. */
struct demand {
	double *crossing; /* [n_parts] groups with members in the part and outside it */
	double *largest;  /* [n_parts] demand of one of them */
	double joins;	  /* cables between parts that all groups need together */
};

static void count_demand(const struct best *b, const uint32_t *part, uint32_t n_parts,
			 struct demand *d)
{
	const struct fab_groups *g = b->p->groups;
	uint32_t *seen = FAB_ARENA_NEW0(b->arena, n_parts, uint32_t);

	d->crossing = FAB_ARENA_NEW0(b->arena, n_parts, double);
	d->largest = FAB_ARENA_NEW0(b->arena, n_parts, double);
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t first = part[g->sw[g->sw_first[i]]], touched = 0;
		bool is_split = false;

		for (uint64_t s = g->sw_first[i]; s < g->sw_first[i + 1] && !is_split;
		     s++)
			is_split = part[g->sw[s]] != first;
		if (!is_split)
			continue;
		for (uint64_t s = g->sw_first[i]; s < g->sw_first[i + 1]; s++) {
			uint32_t p = part[g->sw[s]];

			if (p == FAB_NONE || seen[p] == i + 1)
				continue;
			seen[p] = i + 1;
			d->crossing[p] += demand_of(b, i);
			d->largest[p] = fmax(d->largest[p], demand_of(b, i));
			touched++;
		}
		/* a tree over k parts has k-1 cables between parts, whatever lies within
		 */
		d->joins += touched ? (touched - 1) * demand_of(b, i) : 0;
	}
}

/* The bounds of a division into parts. */
static void try_parts(const struct best *b, const uint32_t *part, uint32_t n_parts)
{
	const struct fab_fabric *f = b->p->f;
	double *across =
		FAB_ARENA_NEW0(b->arena, n_parts, double); /* capacity out of a part */
	double *widest = FAB_ARENA_NEW0(b->arena, n_parts, double); /* of one cable */
	double between = 0;
	struct demand d = {0};

	count_demand(b, part, n_parts, &d);
	for (uint32_t s = 0; s < f->n_switches; s++)
		for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++) {
			double capacity = capacity_of(b, f->arc_cable[a]);
			uint32_t t = f->arc_peer[a];

			if (part[s] == part[t])
				continue;
			if (part[s] != FAB_NONE) {
				across[part[s]] += capacity;
				widest[part[s]] = fmax(widest[part[s]], capacity);
			}
			if (s < t || part[s] == FAB_NONE || part[t] == FAB_NONE)
				between += capacity;
		}
	for (uint32_t p = 0; p < n_parts; p++)
		if (across[p] > 0) {
			offer_cut(b, share(b, d.crossing[p], across[p]), part, p);
			offer_cut(b, share(b, d.largest[p], widest[p]), part, p);
		}
	if (between > 0 && is_better(b, share(b, d.joins, between))) {
		offer(b, FAB_BOUND_PARTS, share(b, d.joins, between));
		if (!b->weights)
			memcpy(b->out->part, part, f->n_switches * sizeof(*part));
	}
}

/*
 * Slabs of a grid: the switches with a coordinate from low to high-1 in one dimension.
 * Counts for each value: groups, and cables to each other value.
 */
struct slabs {
	uint32_t size;
	bool *is_on;	/* [size] the group has a member there */
	double *cables; /* [size * size] between two values */
	double *split;	/* [size * size] groups cut by low .. high-1 */
};

/* The values of the best interval, low to high. */
static double best_slab(const struct best *b, const struct slabs *x, uint32_t *first,
			uint32_t *last)
{
	double bound = 0;

	for (uint32_t low = 0; low < x->size; low++) {
		double across = 0;

		for (uint32_t high = low; high < x->size; high++) {
			double value;

			/* `high` joins the interval: its cables out are new, those in go
			 */
			for (uint32_t v = 0; v < x->size; v++) {
				double cables = x->cables[high * x->size + v];

				if (v >= low && v < high)
					across -= cables;
				else if (v != high)
					across += cables;
			}
			value = across > FAINT
					? share(b, x->split[low * x->size + high], across)
					: 0;
			if (value <= bound)
				continue;
			bound = value;
			*first = low;
			*last = high;
		}
	}
	return bound;
}

static void try_slabs(const struct best *b, const struct fab_shape *shape, uint32_t dim,
		      uint32_t *part)
{
	const struct fab_fabric *f = b->p->f;
	const struct fab_groups *g = b->p->groups;
	uint32_t n_dims = shape->n_dims, size = shape->dims[dim], low = 0, high = 0;
	uint32_t total;
	double bound;
	struct slabs x = {.size = size,
			  .is_on = FAB_ARENA_NEW(b->arena, size, bool),
			  .cables = FAB_ARENA_NEW0(b->arena, (size_t)size * size, double),
			  .split = FAB_ARENA_NEW0(b->arena, (size_t)size * size, double)};

	for (uint32_t s = 0; s < f->n_switches; s++)
		for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++)
			x.cables[shape->coords[s * n_dims + dim] * size +
				 shape->coords[f->arc_peer[a] * n_dims + dim]] +=
				capacity_of(b, f->arc_cable[a]);
	for (uint32_t i = 0; i < g->n; i++) {
		memset(x.is_on, 0, size * sizeof(*x.is_on));
		for (uint64_t s = g->sw_first[i]; s < g->sw_first[i + 1]; s++)
			x.is_on[shape->coords[g->sw[s] * n_dims + dim]] = true;
		/* Every interval that holds some of its values and not all. */
		total = 0;
		for (uint32_t v = 0; v < size; v++)
			total += x.is_on[v];
		for (uint32_t from = 0; from < size && total > 1; from++) {
			uint32_t inside = 0;

			for (uint32_t to = from; to < size; to++) {
				inside += x.is_on[to];
				if (inside && inside < total)
					x.split[from * size + to] += demand_of(b, i);
			}
		}
	}
	bound = best_slab(b, &x, &low, &high);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint32_t at = shape->coords[s * n_dims + dim];

		part[s] = at >= low && at <= high ? 0 : FAB_NONE;
	}
	offer_cut(b, bound, part, 0);
}

/* Hops of the least spanning tree of n switches, joined by their distances (Prim). From
 * coordinates where there is a grid, else all distances are known. */
static uint64_t spanning_hops(const struct best *b, const struct fab_shape *grid,
			      const uint32_t *sw, uint32_t n)
{
	uint16_t nearest[MAX_SPANNED]; /* 0: in the tree */
	uint32_t last = 0;
	uint64_t hops = 0;

	memset(nearest, 0xff, n * sizeof(*nearest));
	nearest[0] = 0;
	for (uint32_t joined = 1; joined < n; joined++) {
		const uint8_t *row = grid ? NULL : fab_dist_row(b->p->dist, sw[last]);
		uint32_t best = 0;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t own;

			if (!nearest[i])
				continue;
			own = grid ? 0 : row[sw[i]];
			for (uint32_t d = 0; grid && d < grid->n_dims; d++) {
				uint32_t x = grid->coords[sw[last] * grid->n_dims + d];
				uint32_t y = grid->coords[sw[i] * grid->n_dims + d];
				uint32_t apart = x < y ? y - x : x - y;

				if (grid->kind == FAB_SHAPE_TORUS &&
				    grid->dims[d] - apart < apart)
					apart = grid->dims[d] - apart;
				own += grid->kind == FAB_SHAPE_HYPERX ? apart != 0
								      : apart;
			}
			nearest[i] = own < nearest[i] ? (uint16_t)own : nearest[i];
			if (!best || nearest[i] < nearest[best])
				best = i;
		}
		hops += nearest[best];
		nearest[best] = 0;
		last = best;
	}
	return hops;
}

/*
 * The edges that all trees need together, over all cables. A tree that joins k switches
 * has at least k-1 edges, and at least k / (2(k-1)) of their least spanning tree: walking
 * round it visits all of them, leave out the longest step (Kou, Markowsky, Berman 1981).
 * Distances that would have to be made first are not used.
 */
static double metric_bound(const struct best *b)
{
	const struct fab_mcast_problem *problem = b->p;
	const struct fab_groups *g = problem->groups;
	bool is_whole = fab_dist_is_whole(problem->dist);
	FAB_AUTO(fab_shape_free_at) struct fab_shape *own_shape = NULL;
	const struct fab_shape *grid =
		is_whole ? NULL : fab_mcast_shape(problem, &own_shape);
	uint64_t *edges = FAB_ARENA_NEW(b->arena, g->n, uint64_t);
	double capacity = 0, total = 0;

	if (grid && grid->kind != FAB_SHAPE_TORUS && grid->kind != FAB_SHAPE_MESH &&
	    grid->kind != FAB_SHAPE_HYPERX)
		grid = NULL;
	for (uint32_t i = 0; i < g->n; i++) {
		uint64_t k = fab_group_n_switches(g, i), half;

		fab_progress_report("lower bound", "groups", i, g->n);
		edges[i] = edges[g->same_as[i]];
		if (g->same_as[i] == i) {
			edges[i] = k - 1;
			if ((grid || is_whole) && k > 1 && k <= MAX_SPANNED) {
				half = spanning_hops(b, grid, g->sw + g->sw_first[i],
						     (uint32_t)k) *
				       k;
				half = (half + 2 * k - 3) / (2 * k - 2);
				edges[i] = half > edges[i] ? half : edges[i];
			}
		}
		total += (double)edges[i] * demand_of(b, i);
	}
	for (uint32_t c = 0; c < problem->f->n_switch_links; c++)
		capacity += capacity_of(b, c);
	return capacity > 0 ? share(b, total, capacity) : 0;
}

/* Try all bounds; `b` has no arena yet. */
static void try_all(struct best *b)
{
	const struct fab_fabric *f = b->p->f;
	const struct fab_groups *groups = b->p->groups;
	const struct fab_graph g = fab_graph_of_peers(f);
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	uint32_t *part = FAB_ARENA_NEW(&arena, f->n_switches, uint32_t);
	bool *is_cut = FAB_ARENA_NEW(&arena, g.first[g.n], bool);
	uint32_t *rank = fab_arena_none(&arena, g.n);
	uint32_t *order = FAB_ARENA_NEW(&arena, g.n, uint32_t), n = 0;
	FAB_AUTO(fab_shape_free_at) struct fab_shape *own = NULL;
	const struct fab_shape *shape = fab_mcast_shape(b->p, &own);
	double hops;

	b->arena = &arena;
	for (uint32_t s = 0; s < f->n_switches; s++)
		part[s] = s;
	try_parts(b, part, f->n_switches);
	/* Parts that remain when the levels above `limit`, counted from the switches that
	 * endpoints of the groups are on, are taken away, for each limit. */
	for (uint64_t i = 0; i < groups->sw_first[groups->n]; i++)
		if (rank[groups->sw[i]] == FAB_NONE) {
			rank[groups->sw[i]] = 0;
			order[n++] = groups->sw[i];
		}
	n = fab_graph_search(&g, NULL, n, rank, order, NULL);
	for (uint32_t limit = 0; n && limit < rank[order[n - 1]]; limit++) {
		for (uint32_t s = 0; s < g.n; s++)
			for (uint32_t i = g.first[s]; i < g.first[s + 1]; i++)
				is_cut[i] = rank[s] > limit || rank[g.peer[i]] > limit;
		try_parts(b, part, fab_graph_parts(&g, is_cut, part));
	}
	/* Parts that the shape of the fabric names: groups of a dragonfly, slabs of a
	 * grid. */
	if (shape->group)
		try_parts(b, shape->group, shape->n_groups);
	if (shape->kind == FAB_SHAPE_TORUS || shape->kind == FAB_SHAPE_MESH ||
	    shape->kind == FAB_SHAPE_HYPERX)
		for (uint32_t dim = 0; dim < shape->n_dims; dim++)
			if (shape->dims[dim] <= MAX_SLABS)
				try_slabs(b, shape, dim, part);
	hops = metric_bound(b);
	if (is_better(b, hops))
		offer(b, FAB_BOUND_HOPS, hops);
}

void fab_mcast_natural_bound(const struct fab_mcast_problem *problem,
			     struct fab_bound *out)
{
	struct best best = {.p = problem, .out = out};

	*out = (struct fab_bound){.kind = FAB_BOUND_NONE};
	try_all(&best);
}

double fab_mcast_load_bound(const struct fab_mcast_problem *problem)
{
	double load = 0;
	struct best best = {.p = problem, .weights = problem->weights, .load = &load};

	try_all(&best);
	return load;
}

uint32_t fab_mcast_lower_bound(const struct fab_mcast_problem *problem)
{
	FAB_AUTO(fab_bound_fini) struct fab_bound bound;

	fab_mcast_natural_bound(problem, &bound);
	return bound.value;
}

void fab_bound_fini(struct fab_bound *bound)
{
	FAB_FREE_ALL(bound->part, bound->group, bound->cable, bound->first, bound->turn,
		     bound->weight);
	*bound = (struct fab_bound){.kind = FAB_BOUND_NONE};
}

const char *fab_bound_name(enum fab_bound_kind kind)
{
	static const char *const names[] = {
		[FAB_BOUND_NONE] = "none",	   [FAB_BOUND_CUT] = "cut",
		[FAB_BOUND_PARTS] = "parts",	   [FAB_BOUND_HOPS] = "hops",
		[FAB_BOUND_DUAL] = "dual",	   [FAB_BOUND_FORCED] = "forced",
		[FAB_BOUND_MATCHING] = "matching",
	};

	return names[kind];
}
