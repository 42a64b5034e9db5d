/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recognisers of shapes, tried in the order of the table at the end; the first that
 * succeeds fills the shape.
 */
#include "fabric/shape.h"

#include "base/arena.h"
#include "fabric/graph.h"
#include "fabric/kfat.h"
#include "fabric/ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Put the dimensions of a shape in order, the largest first. */
static void sort_dims(struct fab_shape *shape)
{
	uint32_t n = shape->n_dims, order[FAB_SHAPE_DIMS_MAX], old[FAB_SHAPE_DIMS_MAX];

	for (uint32_t d = 0; d < n; d++) {
		uint32_t at = d;

		for (; at && shape->dims[order[at - 1]] < shape->dims[d]; at--)
			order[at] = order[at - 1];
		order[at] = d;
	}
	memcpy(old, shape->dims, n * sizeof(*old));
	for (uint32_t d = 0; d < n; d++)
		shape->dims[d] = old[order[d]];
	for (uint32_t v = 0; v < shape->n_switches; v++) {
		uint32_t *coords = shape->coords + (size_t)v * n;

		memcpy(old, coords, n * sizeof(*old));
		for (uint32_t d = 0; d < n; d++)
			coords[d] = old[order[d]];
	}
}

/* Levelled fabrics: the levels are the ranks of their switches. */
static bool try_tree(const struct fab_fabric *f, const uint32_t *hosts,
		     struct fab_shape *shape)
{
	FAB_AUTO(fab_ranks_fini) struct fab_ranks r;
	bool is_tree = fab_ranks_find(&r, f, hosts, FAB_LEAVES_APART) &&
		       r.n_ranks < FAB_SHAPE_LEVELS_MAX;

	if (is_tree) {
		shape->kind = FAB_SHAPE_FATTREE;
		shape->n_levels = r.n_ranks;
		shape->n_roots = r.n_roots;
		shape->level = FAB_NEW(f->n_switches, uint8_t);
		shape->is_root = FAB_NEW(f->n_switches, bool);
		memcpy(shape->is_root, r.is_root, f->n_switches * sizeof(bool));
		for (uint32_t s = 0; s < f->n_switches; s++)
			shape->level[s] = r.rank[s] == FAB_NONE ? FAB_SHAPE_NO_LEVEL
								: (uint8_t)r.rank[s];
	}
	return is_tree;
}

/* High-dimension fat trees as a shape: nothing is missing. */

enum { LEAVES_MIN = 4 };

struct fab_shape fab_shape_of_kfat(const struct fab_kfat *k)
{
	struct fab_shape shape = {.kind = FAB_SHAPE_KFAT,
				  .n_switches = k->f->n_switches,
				  .n_levels = k->has_deep_lines ? 3 : 2,
				  .n_dims = k->n_dims,
				  .n_planes = k->n_planes};

	_Static_assert(sizeof(shape.dims) == sizeof(k->dims), "as many dimensions");
	memcpy(shape.dims, k->dims, sizeof(shape.dims));
	return shape;
}

static bool try_kfat(const struct fab_fabric *f, const uint32_t *hosts,
		     struct fab_shape *shape)
{
	const struct fab_graph g = fab_graph_of_peers(f);
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	uint32_t n_leaves = 0, first = 0, n, n_dims;
	uint32_t *leaf_of_line, *order, *level;
	FAB_AUTO(fab_kfat_free_at) struct fab_kfat *k = NULL;
	struct fab_err ignored;

	/* A quick refusal: all leaves are joined to equally many switches. */
	for (uint32_t u = 0; u < g.n; u++) {
		if (!hosts[u])
			continue;
		first = n_leaves++ ? first : u;
		if (fab_graph_degree(&g, u) != fab_graph_degree(&g, first))
			return false;
	}
	if (n_leaves < LEAVES_MIN || fab_graph_degree(&g, first) < 2 ||
	    fab_kfat_recognize(f, &k, &ignored))
		return false;
	if (!fab_kfat_is_whole(k))
		return false;
	*shape = fab_shape_of_kfat(k);
	n_dims = k->n_dims;
	/* The coordinates of a line are those of any leaf of it; a switch outside all
	 * lines has none. */
	leaf_of_line = FAB_ARENA_NEW(&arena, k->n_lines, uint32_t);
	for (size_t j = 0; j < (size_t)k->n_leaves * n_dims; j++)
		leaf_of_line[k->line_of[j]] = (uint32_t)(j / n_dims);
	shape->coords = fab_none_new((size_t)g.n * n_dims);
	for (uint32_t u = 0; u < g.n; u++) {
		uint32_t line = k->switch_line[u], leaf = k->leaf_of[u];
		uint32_t *coords = shape->coords + (size_t)u * n_dims;

		if (leaf == FAB_NONE && line == FAB_NONE)
			continue;
		if (leaf != FAB_NONE)
			line = FAB_NONE;
		else
			leaf = leaf_of_line[line];
		memcpy(coords, k->coord + (size_t)leaf * n_dims,
		       n_dims * sizeof(*coords));
		if (line != FAB_NONE)
			coords[k->line_dim[line]] = FAB_NONE;
	}
	sort_dims(shape);
	/* Levels are hops to the nearest leaf; roots have nothing above them. */
	order = FAB_ARENA_NEW(&arena, (size_t)g.n + 1, uint32_t);
	level = FAB_ARENA_NEW(&arena, (size_t)g.n + 1, uint32_t);
	memcpy(order, k->leaf, k->n_leaves * sizeof(*order));
	n = fab_graph_search(&g, NULL, k->n_leaves, level, order, NULL);
	shape->n_levels = level[order[n - 1]] + 1;
	shape->level = FAB_NEW(g.n, uint8_t);
	shape->is_root = FAB_NEW0(g.n, bool);
	memset(shape->level, FAB_SHAPE_NO_LEVEL, g.n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = order[i];
		bool is_root = level[s] > 0;

		for (uint32_t e = g.first[s]; e < g.first[s + 1]; e++)
			is_root &= level[g.peer[e]] <= level[s];
		shape->level[s] = (uint8_t)level[s];
		shape->is_root[s] = is_root;
		shape->n_roots += is_root;
	}
	return true;
}

/*
 * Tori, meshes and HyperX: Cartesian products of rings, paths and complete graphs.
 *
 * 1. At one vertex, the root, the neighbours fall into dimensions: those of a complete
 *    factor are joined to each other; two neighbours along different dimensions have
 *    exactly two common neighbours, the two along one ring or path only one.
 * 2. The line through the root along a ring or path goes on with the vertex that has one
 *    common neighbour with the last but one; all others there have two.
 * 3. Every vertex has one nearest vertex on each line through the root; the place of that
 *    one on its line is the coordinate. A search from all vertices of a line hands the
 *    places on.
 * 4. All this is only a guess when the graph is no such product: at the end every edge is
 *    compared with the coordinates of its ends, and the edges are counted.
 */

enum fab_factor {
	PATH,	  /* of 2 or more */
	RING,	  /* of 5 or more */
	COMPLETE, /* of 3 or more */
};

enum { NO_DIM = 255 };

struct product {
	const struct fab_graph *g;
	struct fab_arena arena;
	uint32_t root, first, end; /* edges of the root */
	uint32_t n_dims, dims[FAB_SHAPE_DIMS_MAX];
	enum fab_factor factor[FAB_SHAPE_DIMS_MAX];
	uint8_t *dim;	       /* [edges] of the edges of the root */
	uint32_t *slot;	       /* [n] edge of the marked vertex to ... */
	uint32_t *stamp, now;  /* [n] valid where stamp[v] == now */
	uint32_t *line, *dist; /* [2n], [n] */
	uint32_t *coords;      /* [n * n_dims] */
};

/* Note for every neighbour of `v` which edge leads to it. */
static void mark_peers(struct product *w, uint32_t v)
{
	w->now++;
	for (uint32_t i = w->g->first[v]; i < w->g->first[v + 1]; i++) {
		w->stamp[w->g->peer[i]] = w->now;
		w->slot[w->g->peer[i]] = i;
	}
}

/* Neighbours of `v` among the marked vertices. */
static uint32_t count_marked(const struct product *w, uint32_t v)
{
	uint32_t n = 0;

	for (uint32_t i = w->g->first[v]; i < w->g->first[v + 1]; i++)
		n += w->stamp[w->g->peer[i]] == w->now;
	return n;
}

/* Begin a dimension with an edge of the root. */
static bool add_dim(struct product *w, uint32_t edge, enum fab_factor factor)
{
	if (w->n_dims == FAB_SHAPE_DIMS_MAX)
		return false;
	w->dim[edge] = (uint8_t)w->n_dims;
	w->factor[w->n_dims++] = factor;
	return true;
}

/* Give all edges of the root their dimensions. False: it is in no product. */
static bool find_dims(struct product *w)
{
	const struct fab_graph *g = w->g;
	uint32_t left = 0;

	/* Neighbours that are joined to each other form one complete factor. */
	for (uint32_t i = w->first; i < w->end; i++) {
		uint32_t v = g->peer[i], joined, given = 0;

		mark_peers(w, w->root);
		joined = count_marked(w, v);
		if (w->dim[i] != NO_DIM || !joined)
			continue;
		if (!add_dim(w, i, COMPLETE))
			return false;
		for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
			uint32_t x = g->peer[k];

			if (w->stamp[x] != w->now)
				continue;
			if (w->dim[w->slot[x]] != NO_DIM || count_marked(w, x) != joined)
				return false;
			w->dim[w->slot[x]] = w->dim[i];
			given++;
		}
		if (given != joined)
			return false;
	}
	/* Of the others two are along one dimension, or one. */
	for (uint32_t i = w->first; i < w->end; i++)
		left += w->dim[i] == NO_DIM;
	if (left > 2 * FAB_SHAPE_DIMS_MAX)
		return false;
	for (uint32_t i = w->first; i < w->end; i++) {
		uint32_t partner = FAB_NONE;

		if (w->dim[i] != NO_DIM)
			continue;
		mark_peers(w, g->peer[i]);
		for (uint32_t k = i + 1; k < w->end; k++) {
			uint32_t common =
				w->dim[k] == NO_DIM ? count_marked(w, g->peer[k]) : 2;

			if (common == 1 && partner == FAB_NONE)
				partner = k;
			else if (common != 2)
				return false;
		}
		if (!add_dim(w, i, PATH))
			return false;
		if (partner != FAB_NONE)
			w->dim[partner] = w->dim[i];
	}
	return true;
}

/* Go on with a line behind its last two of `n` vertices, to its end or before the root.
 * Returns its length, more than there are vertices if it has no end. */
static uint32_t follow(struct product *w, uint32_t n, bool *is_ring)
{
	const struct fab_graph *g = w->g;
	uint32_t *line = w->line;

	for (*is_ring = false; n <= g->n; n++) {
		uint32_t before = line[n - 2], at = line[n - 1], e = g->first[at];

		mark_peers(w, before);
		while (e < g->first[at + 1] &&
		       (g->peer[e] == before || count_marked(w, g->peer[e]) != 1))
			e++;
		*is_ring = e < g->first[at + 1] && g->peer[e] == w->root;
		if (e == g->first[at + 1] || *is_ring)
			return n;
		line[n] = g->peer[e];
	}
	return n;
}

/* The vertices of the line through the root along `dim`, in order; returns how many. */
static uint32_t find_line(struct product *w, uint32_t dim)
{
	uint32_t n = 1, *line = w->line;
	bool is_ring;

	line[0] = w->root;
	for (uint32_t e = w->first; e < w->end; e++) {
		if (w->dim[e] != dim)
			continue;
		line[n++] = w->g->peer[e];
		if (w->factor[dim] == COMPLETE)
			continue;
		n = follow(w, n, &is_ring);
		if (is_ring)
			w->factor[dim] = RING;
		if (is_ring || n > w->g->n || line[0] != w->root)
			break;
		/* the root comes last: go on in the other direction */
		for (uint32_t i = 0; i < n / 2; i++) {
			uint32_t x = line[i];

			line[i] = line[n - 1 - i];
			line[n - 1 - i] = x;
		}
	}
	return n;
}

static void give_coords(struct product *w, uint32_t dim)
{
	const struct fab_graph *g = w->g;
	uint32_t n = fab_graph_search(g, NULL, w->dims[dim], w->dist, w->line, NULL);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = w->line[i], e = g->first[v], place = i;

		if (i >= w->dims[dim]) {
			while (w->dist[g->peer[e]] + 1 != w->dist[v])
				e++;
			place = w->coords[(size_t)g->peer[e] * w->n_dims + dim];
		}
		w->coords[(size_t)v * w->n_dims + dim] = place;
	}
}

/* Are there as many edges as in the product, each along one dimension as its factor
 * allows, and no place taken twice? */
static bool is_product(struct product *w)
{
	uint32_t n = w->g->n, n_dims = w->n_dims;
	bool *taken = FAB_ARENA_NEW0(&w->arena, n, bool);
	uint64_t arcs = 0;

	for (uint32_t d = 0; d < n_dims; d++)
		arcs += w->factor[d] == PATH
				? 2 * (uint64_t)n * (w->dims[d] - 1) / w->dims[d]
			: w->factor[d] == RING ? 2 * (uint64_t)n
					       : (uint64_t)n * (w->dims[d] - 1);
	if (arcs != w->g->first[n])
		return false;
	for (uint32_t v = 0; v < n; v++) {
		const uint32_t *a = w->coords + (size_t)v * n_dims;
		uint32_t at = 0;

		for (uint32_t d = 0; d < n_dims; d++)
			at = at * w->dims[d] + a[d];
		if (taken[at])
			return false;
		taken[at] = true;
		for (uint32_t i = w->g->first[v]; i < w->g->first[v + 1]; i++) {
			const uint32_t *b = w->coords + (size_t)w->g->peer[i] * n_dims;
			uint32_t differ = 0;

			for (uint32_t d = 0; d < n_dims; d++) {
				uint32_t apart = a[d] > b[d] ? a[d] - b[d] : b[d] - a[d];

				differ += apart != 0;
				if (apart > 1 && w->factor[d] != COMPLETE &&
				    (w->factor[d] != RING || apart != w->dims[d] - 1))
					return false;
			}
			if (differ != 1)
				return false;
		}
	}
	return true;
}

/* Find the factors of a graph and the coordinates of its vertices. */
static bool factor(struct product *w)
{
	const struct fab_graph *g = w->g;
	struct fab_arena *arena = &w->arena;
	uint64_t all = 1;

	for (uint32_t v = 1; v < g->n; v++)
		if (fab_graph_degree(g, v) < fab_graph_degree(g, w->root))
			w->root = v;
	w->first = g->first[w->root];
	w->end = g->first[w->root + 1];
	w->dim = FAB_ARENA_NEW(arena, g->first[g->n], uint8_t);
	memset(w->dim, NO_DIM, g->first[g->n]);
	w->slot = FAB_ARENA_NEW(arena, g->n, uint32_t);
	w->stamp = FAB_ARENA_NEW0(arena, g->n, uint32_t);
	w->line = FAB_ARENA_NEW(arena, 2 * (size_t)g->n + 2, uint32_t);
	w->dist = FAB_ARENA_NEW(arena, g->n, uint32_t);
	if (!find_dims(w))
		return false;
	for (uint32_t d = 0; d < w->n_dims && all <= g->n; d++)
		all *= w->dims[d] = find_line(w, d);
	if (all != g->n)
		return false;
	w->coords = FAB_ARENA_NEW0(arena, (size_t)g->n * w->n_dims, uint32_t);
	for (uint32_t d = 0; d < w->n_dims; d++) {
		find_line(w, d);
		give_coords(w, d);
	}
	return is_product(w);
}

/* Which shape the factors of a product make: some factors only one of them can have. */
static enum fab_shape_kind kind_of(const struct product *w)
{
	uint32_t pairs = 0, paths = 0, rings = 0, completes = 0; /* 2; >= 3; >= 3; >= 4 */
	bool has_ring = false;

	for (uint32_t d = 0; d < w->n_dims; d++) {
		bool is_ring = w->factor[d] == RING || w->dims[d] == 3;

		has_ring |= w->factor[d] == RING;
		if (w->dims[d] == 2)
			pairs++;
		else if (w->factor[d] == PATH)
			paths++;
		else if (is_ring)
			rings++;
		else
			completes++;
	}
	if (paths || pairs == w->n_dims) {
		if (rings || completes)
			return FAB_SHAPE_NONE;
		return paths || pairs == 1 ? FAB_SHAPE_MESH : FAB_SHAPE_TORUS;
	}
	if (!completes)
		return FAB_SHAPE_TORUS;
	return has_ring ? FAB_SHAPE_NONE : FAB_SHAPE_HYPERX;
}

static bool try_grid(const struct fab_fabric *f, const uint32_t *hosts,
		     struct fab_shape *shape)
{
	const struct fab_graph g = fab_graph_of_peers(f);
	struct product w = {.g = &g, .arena = FAB_ARENA_INIT};
	/* Dimensions of the product that a dimension of the shape has: in a torus, pairs
	 * of dimensions of 2 are one of 4. */
	uint32_t source[FAB_SHAPE_DIMS_MAX], other[FAB_SHAPE_DIMS_MAX], open = FAB_NONE;

	(void)hosts;
	if (g.n > 1 && factor(&w))
		shape->kind = kind_of(&w);
	for (uint32_t d = 0; shape->kind != FAB_SHAPE_NONE && d < w.n_dims; d++) {
		bool is_pair = shape->kind == FAB_SHAPE_TORUS && w.dims[d] == 2;

		if (is_pair && open != FAB_NONE) {
			other[open] = d;
			shape->dims[open] = 4;
			open = FAB_NONE;
			continue;
		}
		if (is_pair)
			open = shape->n_dims;
		source[shape->n_dims] = d;
		other[shape->n_dims] = FAB_NONE;
		shape->dims[shape->n_dims++] = w.dims[d];
	}
	if (shape->n_dims) {
		shape->coords = FAB_NEW((size_t)g.n * shape->n_dims, uint32_t);
		for (uint32_t v = 0; v < g.n; v++)
			for (uint32_t d = 0; d < shape->n_dims; d++) {
				const uint32_t *c = w.coords + (size_t)v * w.n_dims;

				shape->coords[(size_t)v * shape->n_dims + d] =
					other[d] == FAB_NONE ? c[source[d]]
					: c[source[d]]	     ? 3 - c[other[d]]
							     : c[other[d]];
			}
		sort_dims(shape);
	}
	fab_arena_free(&w.arena);
	return shape->kind != FAB_SHAPE_NONE;
}

/*
 * Dragonflies. A switch of a group of a has its other a - 1 switches as neighbours, and
 * each of these has a - 2 of them as neighbours in turn. Neighbours by a global cable
 * have fewer in common. So take the neighbours with at least a - 2 in common, drop those
 * that have fewer among the rest, and so on; what is left grows as a falls, so that the
 * first a for which it is no fewer than a - 1 is the only one that can be right.
 */

enum { GROUP_MIN = 3, GROUPS_MIN = 3 };

struct fly_work {
	const struct fab_fabric *f;
	bool *is_near;		/* [n] neighbours of the switch at hand that are left */
	uint32_t *near, n_near; /* the same as a list */
	uint32_t *group;
};

/* Neighbours of `v` that are left. */
static uint32_t count_near(const struct fly_work *w, uint32_t v)
{
	const struct fab_fabric *f = w->f;
	uint32_t n = 0;

	FAB_EACH_PEER(f, v, i)
		n += w->is_near[f->peer[i]];
	return n;
}

/* Make a list of the neighbours of `u` without a group, and drop some until each of them
 * has a - 2 of the others. Returns how many switches these are with u. O(degree^2) a
 * round. */
static uint32_t gather(struct fly_work *w, uint32_t u, uint32_t a)
{
	const struct fab_fabric *f = w->f;
	uint32_t before = 0;

	w->n_near = 0;
	FAB_EACH_PEER(f, u, i)
		if (w->group[f->peer[i]] == FAB_NONE) {
			w->is_near[f->peer[i]] = true;
			w->near[w->n_near++] = f->peer[i];
		}
	while (before != w->n_near) {
		before = w->n_near;
		w->n_near = 0;
		for (uint32_t i = 0; i < before; i++) {
			uint32_t v = w->near[i];

			w->is_near[v] = count_near(w, v) + 2 >= a;
			if (w->is_near[v])
				w->near[w->n_near++] = v;
		}
	}
	for (uint32_t i = 0; i < w->n_near; i++)
		w->is_near[w->near[i]] = false;
	return w->n_near + 1;
}

/* Put all switches into groups of the size of that of switch 0; returns the size, 0 when
 * it cannot be done. What gather() leaves are a - 1 switches that each have a - 2 of the
 * others: all joined. */
static uint32_t make_groups(struct fly_work *w, struct fab_arena *arena,
			    uint32_t *n_groups)
{
	uint32_t degree = w->f->peer_first[1], a, found = 0;
	uint32_t *common = FAB_ARENA_NEW(arena, degree, uint32_t);

	for (uint32_t i = 0; i < degree; i++)
		w->is_near[w->f->peer[i]] = true;
	for (uint32_t i = 0; i < degree; i++)
		common[i] = count_near(w, w->f->peer[i]);
	for (uint32_t i = 0; i < degree; i++)
		w->is_near[w->f->peer[i]] = false;
	for (a = degree + 2; found < a && a-- > GROUP_MIN;) {
		uint32_t n = 1;

		for (uint32_t i = 0; i < degree; i++)
			n += common[i] + 2 >= a;
		found = n < a ? 0 : gather(w, 0, a);
	}
	if (found != a || a < GROUP_MIN)
		return 0;
	for (uint32_t u = 0; u < w->f->n_switches; u++) {
		if (w->group[u] != FAB_NONE)
			continue;
		if (gather(w, u, a) != a)
			return 0;
		w->group[u] = *n_groups;
		for (uint32_t i = 0; i < w->n_near; i++)
			w->group[w->near[i]] = *n_groups;
		++*n_groups;
	}
	return a;
}

static bool try_dragonfly(const struct fab_fabric *f, const uint32_t *hosts,
			  struct fab_shape *shape)
{
	uint32_t n = f->n_switches, a, groups = 0;
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct fly_work w = {.f = f};
	uint64_t missing = 0;

	(void)hosts;
	if (n < GROUP_MIN * GROUPS_MIN)
		return false;
	w.is_near = FAB_ARENA_NEW0(&arena, n, bool);
	w.near = FAB_ARENA_NEW(&arena, n, uint32_t);
	w.group = fab_none_new(n);
	a = make_groups(&w, &arena, &groups);
	if (a && groups >= GROUPS_MIN) {
		missing = (uint64_t)groups * (groups - 1);
		shape->kind = missing <= f->peer_first[n] ? FAB_SHAPE_DRAGONFLY
							  : FAB_SHAPE_NONE;
	}
	if (shape->kind != FAB_SHAPE_NONE) {
		/* Every group is joined to every other. */
		bool *joined = FAB_ARENA_NEW0(&arena, (size_t)groups * groups, bool);

		for (uint32_t u = 0; u < n; u++)
			FAB_EACH_PEER(f, u, i) {
				uint32_t g = w.group[u], h = w.group[f->peer[i]];
				bool *pair = &joined[(size_t)g * groups + h];

				missing -= g != h && !*pair;
				*pair = true;
			}
		if (missing)
			shape->kind = FAB_SHAPE_NONE;
	}
	if (shape->kind == FAB_SHAPE_NONE) {
		free(w.group);
		return false;
	}
	shape->n_groups = groups;
	shape->group_size = a;
	shape->group = w.group;
	return true;
}

struct fab_shape *fab_shape_recognize(const struct fab_fabric *f)
{
	static bool (*const recognisers[])(
		const struct fab_fabric *f, const uint32_t *hosts,
		struct fab_shape *shape) = {try_kfat, try_tree, try_grid, try_dragonfly};
	struct fab_shape *shape = FAB_NEW0(1, struct fab_shape);
	FAB_AUTOFREE uint32_t *hosts = FAB_NEW(f->n_switches, uint32_t);

	fab_ranks_count_all_hosts(f, hosts);
	shape->n_switches = f->n_switches;
	for (size_t i = 0; i < FAB_COUNT(recognisers); i++)
		if (recognisers[i](f, hosts, shape))
			break;
	return shape;
}

void fab_shape_free(struct fab_shape *shape)
{
	if (!shape)
		return;
	FAB_FREE_ALL(shape->level, shape->is_root, shape->coords, shape->group, shape);
}

const char *fab_shape_name(enum fab_shape_kind kind)
{
	static const char *const names[] = {
		[FAB_SHAPE_NONE] = NULL,
		[FAB_SHAPE_FATTREE] = "fattree",
		[FAB_SHAPE_KFAT] = "kfat",
		[FAB_SHAPE_TORUS] = "torus",
		[FAB_SHAPE_MESH] = "mesh",
		[FAB_SHAPE_HYPERX] = "hyperx",
		[FAB_SHAPE_DRAGONFLY] = "dragonfly",
	};

	return names[kind];
}

uint32_t fab_shape_diameter(const struct fab_shape *s)
{
	uint32_t hops = 0;

	if (s->kind != FAB_SHAPE_TORUS && s->kind != FAB_SHAPE_MESH &&
	    s->kind != FAB_SHAPE_HYPERX)
		return FAB_NONE;
	for (uint32_t d = 0; d < s->n_dims; d++)
		hops += s->kind == FAB_SHAPE_TORUS  ? s->dims[d] / 2
			: s->kind == FAB_SHAPE_MESH ? s->dims[d] - 1
						    : 1;
	return hops;
}

char *fab_shape_text(const struct fab_shape *shape, char *out, size_t size)
{
	const char *name = fab_shape_name(shape->kind);
	FAB_AUTOFREE char *text = fab_strdup(name ? name : "none");

	if (shape->kind == FAB_SHAPE_FATTREE)
		fab_append(&text, " ", "levels=%" PRIu32 " roots=%" PRIu32,
			   shape->n_levels, shape->n_roots);
	for (uint32_t d = 0; d < shape->n_dims; d++)
		fab_append(&text, d ? "x" : " ", "%" PRIu32, shape->dims[d]);
	if (shape->kind == FAB_SHAPE_KFAT && shape->n_levels > 2)
		fab_append(&text, " ", "levels=%" PRIu32, shape->n_levels - 1);
	if (shape->kind == FAB_SHAPE_KFAT && shape->n_planes > 1)
		fab_append(&text, " ", "planes=%" PRIu32, shape->n_planes);
	if (shape->kind == FAB_SHAPE_DRAGONFLY)
		fab_append(&text, " ", "groups=%" PRIu32 " a=%" PRIu32, shape->n_groups,
			   shape->group_size);
	snprintf(out, size, "%s", text);
	return out;
}
