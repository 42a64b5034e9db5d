/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/shape.h"

#include "base/mem.h"
#include "fabric/graph.h"
#include "fabric/kfat.h"
#include "fabric/ranks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A factor of a Cartesian product. */
enum fab_factor {
	PATH,	  /* of 2 or more */
	RING,	  /* of 5 or more */
	COMPLETE, /* of 3 or more */
};

/* A Cartesian product and where each vertex lies in it. */
struct product {
	uint32_t n_dims;
	uint32_t dims[FAB_SHAPE_DIMS_MAX];
	enum fab_factor factor[FAB_SHAPE_DIMS_MAX];
	uint32_t *coords; /* [n * n_dims] */
};

/* Helpers of several recognisers. */

static void shape_sort_dims(struct fab_shape *shape)
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

static bool shape_try_tree(const struct fab_fabric *f, const uint32_t *hosts,
			   struct fab_shape *shape)
{
	struct fab_ranks r;
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
	fab_ranks_fini(&r);
	return is_tree;
}

/* High-dimension fat trees as a shape: nothing is missing. */

enum { LEAVES_MIN = 4 };

static uint32_t n_peers(const struct fab_fabric *f, uint32_t sw)
{
	return f->peer_first[sw + 1] - f->peer_first[sw];
}

/* Four host switches or more, all joined to equally many others: a quick refusal. */
static bool is_even(const struct fab_fabric *f, const uint32_t *hosts)
{
	uint32_t n_leaves = 0, first = FAB_NONE;

	for (uint32_t u = 0; u < f->n_switches; u++) {
		if (!hosts[u])
			continue;
		if (first == FAB_NONE)
			first = u;
		else if (n_peers(f, u) != n_peers(f, first))
			return false;
		n_leaves++;
	}
	return n_leaves >= LEAVES_MIN && n_peers(f, first) >= 2;
}

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

static bool has_higher_peer(const struct fab_fabric *f, const uint32_t *level, uint32_t s)
{
	for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1]; i++)
		if (level[f->peer[i]] > level[s])
			return true;
	return false;
}

static void fill(const struct fab_kfat *k, struct fab_shape *shape)
{
	const struct fab_fabric *f = k->f;
	struct fab_graph g;
	uint32_t *order;
	uint32_t n;
	uint32_t *level;
	uint32_t count = k->n_dims;
	uint32_t n_switches = k->f->n_switches;
	uint32_t *leaf_of_line;

	*shape = fab_shape_of_kfat(k);
	/* The coordinates of a line are those of any leaf of it; a switch outside all
	 * lines has none. */
	leaf_of_line = FAB_NEW(k->n_lines, uint32_t);
	for (size_t j = 0; j < (size_t)k->n_leaves * count; j++)
		leaf_of_line[k->line_of[j]] = (uint32_t)(j / count);
	shape->coords = FAB_NEW((size_t)n_switches * count, uint32_t);
	for (uint32_t u = 0; u < n_switches; u++) {
		bool is_leaf = k->leaf_of[u] != FAB_NONE;
		uint32_t line = k->switch_line[u], leaf = k->leaf_of[u];
		uint32_t *coords = shape->coords + (size_t)u * count;

		if (!is_leaf && line == FAB_NONE) {
			memset(coords, 0xff, count * sizeof(*coords));
			continue;
		}
		if (!is_leaf)
			leaf = leaf_of_line[line];
		memcpy(coords, k->coord + (size_t)leaf * count, count * sizeof(*coords));
		if (!is_leaf)
			coords[k->line_dim[line]] = FAB_NONE;
	}
	free(leaf_of_line);
	shape_sort_dims(shape);
	/* Levels are hops to the nearest leaf; roots have nothing above them. */
	g = fab_graph_of_peers(f);
	order = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	level = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	memcpy(order, k->leaf, k->n_leaves * sizeof(*order));
	n = fab_graph_search(&g, NULL, k->n_leaves, level, order, NULL);
	shape->n_levels = level[order[n - 1]] + 1;
	shape->level = FAB_NEW(f->n_switches, uint8_t);
	shape->is_root = FAB_NEW0(f->n_switches, bool);
	memset(shape->level, FAB_SHAPE_NO_LEVEL, f->n_switches);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = order[i];

		shape->level[s] = (uint8_t)level[s];
		shape->is_root[s] = level[s] && !has_higher_peer(f, level, s);
		shape->n_roots += shape->is_root[s];
	}
	free(order);
	free(level);
}

static bool shape_try_kfat(const struct fab_fabric *f, const uint32_t *hosts,
			   struct fab_shape *shape)
{
	struct fab_kfat *k;
	struct fab_err ignored;
	bool is_good;

	if (!is_even(f, hosts) || fab_kfat_recognize(f, &k, &ignored))
		return false;
	is_good = fab_kfat_is_whole(k);
	if (is_good)
		fill(k, shape);
	fab_kfat_free(k);
	return is_good;
}

/*
 * Factors of a Cartesian product of paths, rings and complete graphs.
 *
 * 1. At one vertex the neighbours fall into dimensions: those of a complete factor are
 *    joined to each other; two neighbours along different dimensions have exactly two
 *    common neighbours, the two along one ring or path only one.
 * 2. The dimension of every other edge follows by squares: let u be labelled, v its
 *    neighbour along d, and w another along f; then v and w have besides u one common
 *    neighbour x, and v-x runs along f. What is left at v runs along d.
 * 3. The line through the first vertex along d numbers the layers of d; a layer is what
 *    is connected without the edges along d.
 * 4. Everything above is only a guess when the graph is no such product: at the end
 *    every edge is compared with the coordinates of its ends, and the edges are counted.
 */

enum { NO_DIM = 255 };

struct grid_work {
	const struct fab_graph *g;
	struct product *grid;
	uint32_t root;
	uint8_t *dim;	 /* of every arc */
	uint32_t *slot;	 /* arc of the marked vertex to ... */
	uint32_t *stamp; /* valid where stamp[v] == now */
	uint32_t now;
	uint32_t *queue, *parent;
};

/* Remember for every neighbour of `v` which arc leads to it. */
static void mark_peers(struct grid_work *w, uint32_t v)
{
	w->now++;
	for (uint32_t i = w->g->first[v]; i < w->g->first[v + 1]; i++) {
		w->stamp[w->g->peer[i]] = w->now;
		w->slot[w->g->peer[i]] = i;
	}
}

/* Neighbours of `v` among the marked vertices. */
static uint32_t count_marked(const struct grid_work *w, uint32_t v)
{
	uint32_t n = 0;

	for (uint32_t i = w->g->first[v]; i < w->g->first[v + 1]; i++)
		n += w->stamp[w->g->peer[i]] == w->now;
	return n;
}

static bool add_dim(struct grid_work *w, enum fab_factor factor)
{
	if (w->grid->n_dims == FAB_SHAPE_DIMS_MAX)
		return false;
	w->grid->factor[w->grid->n_dims++] = factor;
	return true;
}

/*
 * Neighbours of the root that are joined to each other form one complete factor; true
 * when all those that are joined at all do. Leaves the others without a dimension.
 */
static bool find_cliques(struct grid_work *w)
{
	const struct fab_graph *g = w->g;

	for (uint32_t i = g->first[w->root]; i < g->first[w->root + 1]; i++) {
		uint32_t v = g->peer[i], joined, given = 0;

		mark_peers(w, w->root);
		joined = count_marked(w, v);
		if (w->dim[i] != NO_DIM || !joined)
			continue;
		if (!add_dim(w, COMPLETE))
			return false;
		w->dim[i] = (uint8_t)(w->grid->n_dims - 1);
		for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
			uint32_t x = g->peer[k], at;

			if (w->stamp[x] != w->now)
				continue;
			at = w->slot[x];
			if (w->dim[at] != NO_DIM || count_marked(w, x) != joined)
				return false;
			w->dim[at] = w->dim[i];
			given++;
		}
		if (given != joined)
			return false;
	}
	return true;
}

/* The other neighbours of the root: two of one dimension, or one. */
static bool find_lines(struct grid_work *w)
{
	const struct fab_graph *g = w->g;
	uint32_t first = g->first[w->root], end = g->first[w->root + 1], left = 0;

	for (uint32_t i = first; i < end; i++)
		left += w->dim[i] == NO_DIM;
	if (left > 2 * FAB_SHAPE_DIMS_MAX)
		return false;
	for (uint32_t i = first; i < end; i++) {
		uint32_t partner = FAB_NONE;

		if (w->dim[i] != NO_DIM)
			continue;
		mark_peers(w, g->peer[i]);
		for (uint32_t k = i + 1; k < end; k++) {
			uint32_t common;

			if (w->dim[k] != NO_DIM)
				continue;
			common = count_marked(w, g->peer[k]);
			if (common == 1 && partner == FAB_NONE)
				partner = k;
			else if (common != 2)
				return false;
		}
		if (!add_dim(w, PATH))
			return false;
		w->dim[i] = (uint8_t)(w->grid->n_dims - 1);
		if (partner != FAB_NONE)
			w->dim[partner] = w->dim[i];
	}
	return true;
}

/* The edge of the marked vertex v that is opposite to u-x along `dim` in their square. */
static bool close_square(struct grid_work *w, uint32_t u, uint32_t x, uint8_t dim)
{
	uint32_t at = FAB_NONE;

	for (uint32_t i = w->g->first[x]; i < w->g->first[x + 1]; i++) {
		uint32_t y = w->g->peer[i];

		if (y == u || w->stamp[y] != w->now)
			continue;
		if (at != FAB_NONE)
			return false;
		at = w->slot[y];
	}
	if (at == FAB_NONE || (w->dim[at] != NO_DIM && w->dim[at] != dim))
		return false;
	w->dim[at] = dim;
	return true;
}

/* Give all edges of `v` their dimensions, which those of its parent `u` have. */
static bool label_vertex(struct grid_work *w, uint32_t v, uint32_t u)
{
	const struct fab_graph *g = w->g;
	uint32_t left = 0;
	uint8_t along;

	mark_peers(w, u);
	along = w->dim[w->slot[v]];
	mark_peers(w, v);
	w->dim[w->slot[u]] = along;
	for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
		uint32_t x = g->peer[i];

		if (x == v)
			continue;
		if (w->dim[i] != along) {
			if (!close_square(w, u, x, w->dim[i]))
				return false;
		} else if (w->stamp[x] == w->now) {
			w->dim[w->slot[x]] = along;
		}
	}
	for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++)
		if (w->dim[i] == NO_DIM) {
			w->dim[i] = along;
			left++;
		}
	return left <= 1;
}

/* Breadth first, giving up at the first vertex that fits no product. */
static bool label_all(struct grid_work *w)
{
	const struct fab_graph *g = w->g;
	uint32_t tail = 0;

	memset(w->parent, 0xff, g->n * sizeof(*w->parent));
	w->parent[w->root] = w->root;
	w->queue[tail++] = w->root;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t v = w->queue[head];

		if (v != w->root && !label_vertex(w, v, w->parent[v]))
			return false;
		for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++)
			if (w->parent[g->peer[i]] == FAB_NONE) {
				w->parent[g->peer[i]] = v;
				w->queue[tail++] = g->peer[i];
			}
	}
	return tail == g->n;
}

/* The next vertex along `dim` behind `v`, coming from `from`; FAB_NONE at the end. */
static uint32_t step(const struct grid_work *w, uint32_t v, uint32_t from, uint32_t dim)
{
	for (uint32_t i = w->g->first[v]; i < w->g->first[v + 1]; i++)
		if (w->dim[i] == dim && w->g->peer[i] != from)
			return w->g->peer[i];
	return FAB_NONE;
}

/*
 * The vertices of the line through the root in their order along `dim`; how many, 0 when
 * it is longer than the graph.
 */
static uint32_t walk_line(struct grid_work *w, uint32_t dim, uint32_t *line)
{
	uint32_t n = 0, at = w->root, from = FAB_NONE, next;

	line[n++] = at;
	while ((next = step(w, at, from, dim)) != FAB_NONE && next != w->root) {
		if (n == w->g->n)
			return 0;
		line[n++] = next;
		from = at;
		at = next;
	}
	if (next == w->root) {
		w->grid->factor[dim] = RING;
		return n;
	}
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t x = line[i];

		line[i] = line[n - 1 - i];
		line[n - 1 - i] = x;
	} /* the root comes last: go on in the other direction */
	from = n > 1 ? line[n - 2] : FAB_NONE;
	for (at = w->root; (next = step(w, at, from, dim)) != FAB_NONE; at = next) {
		if (n == w->g->n)
			return 0;
		line[n++] = next;
		from = at;
	}
	return n;
}

static uint32_t list_clique(const struct grid_work *w, uint32_t dim, uint32_t *line)
{
	uint32_t n = 0;

	line[n++] = w->root;
	for (uint32_t i = w->g->first[w->root]; i < w->g->first[w->root + 1]; i++)
		if (w->dim[i] == dim)
			line[n++] = w->g->peer[i];
	return n;
}

/* Number the layers of a dimension, parts of the graph without its edges, as the line
 * through the root meets them. False: it meets one twice. */
static bool number_layers(struct grid_work *w, uint32_t dim, const uint32_t *line,
			  uint32_t n)
{
	uint32_t n_dims = w->grid->n_dims, *part = w->queue, *number = w->parent;
	bool *is_along = FAB_NEW((size_t)w->g->first[w->g->n] + 1, bool), is_good = true;

	for (uint32_t i = 0; i < w->g->first[w->g->n]; i++)
		is_along[i] = w->dim[i] == dim;
	fab_graph_parts(w->g, is_along, part);
	memset(number, 0xff, w->g->n * sizeof(*number));
	for (uint32_t i = 0; i < n; i++) {
		is_good &= number[part[line[i]]] == FAB_NONE;
		number[part[line[i]]] = i;
	}
	for (uint32_t v = 0; v < w->g->n; v++)
		w->grid->coords[(size_t)v * n_dims + dim] = number[part[v]];
	free(is_along);
	return is_good;
}

static bool give_coords(struct grid_work *w)
{
	struct product *grid = w->grid;
	uint32_t *line = FAB_NEW((size_t)w->g->n + 1, uint32_t);
	size_t n_coords = (size_t)w->g->n * grid->n_dims;
	bool is_good = true;

	grid->coords = FAB_NEW(n_coords, uint32_t);
	for (uint32_t d = 0; d < grid->n_dims && is_good; d++) {
		uint32_t n = grid->factor[d] == COMPLETE ? list_clique(w, d, line)
							 : walk_line(w, d, line);

		grid->dims[d] = n;
		is_good = n >= 2 && number_layers(w, d, line, n);
	}
	free(line);
	for (size_t i = 0; i < n_coords && is_good; i++)
		is_good = grid->coords[i] != FAB_NONE;
	return is_good;
}

/* May an edge join the coordinates a and b of this dimension? */
static bool fits(const struct product *grid, uint32_t d, uint32_t a, uint32_t b)
{
	uint32_t diff = a > b ? a - b : b - a;

	switch (grid->factor[d]) {
	case PATH:
		return diff == 1;
	case RING:
		return diff == 1 || diff == grid->dims[d] - 1;
	case COMPLETE:
		return diff > 0;
	}
	return false;
}

/* Every edge along one dimension, as its factor allows. */
static bool check_edges(const struct grid_work *w)
{
	const struct product *grid = w->grid;
	uint32_t n = grid->n_dims;

	for (uint32_t v = 0; v < w->g->n; v++)
		for (uint32_t i = w->g->first[v]; i < w->g->first[v + 1]; i++) {
			const uint32_t *a = grid->coords + (size_t)v * n;
			const uint32_t *b = grid->coords + (size_t)w->g->peer[i] * n;
			uint32_t differ = 0;

			for (uint32_t d = 0; d < n; d++)
				if (a[d] != b[d]) {
					differ++;
					if (!fits(grid, d, a[d], b[d]))
						return false;
				}
			if (differ != 1)
				return false;
		}
	return true;
}

/* As many vertices and edges as the product has, and no place taken twice. */
static bool check_counts(const struct grid_work *w)
{
	const struct product *grid = w->grid;
	uint32_t n = w->g->n;
	uint64_t all = 1, arcs = 0;
	bool *taken, is_good = true;

	for (uint32_t d = 0; d < grid->n_dims && all <= n; d++) {
		uint32_t size = grid->dims[d];

		all *= size;
		arcs += grid->factor[d] == PATH	  ? 2 * (uint64_t)n * (size - 1) / size
			: grid->factor[d] == RING ? 2 * (uint64_t)n
						  : (uint64_t)n * (size - 1);
	}
	if (all != n || arcs != w->g->first[n])
		return false;
	taken = FAB_NEW0(n, bool);
	for (uint32_t v = 0; v < n && is_good; v++) {
		uint32_t at = 0;

		for (uint32_t d = 0; d < grid->n_dims; d++)
			at = at * grid->dims[d] +
			     grid->coords[(size_t)v * grid->n_dims + d];
		is_good = !taken[at];
		taken[at] = true;
	}
	free(taken);
	return is_good;
}

static bool shape_factor(const struct fab_graph *g, struct product *grid)
{
	struct grid_work w = {.g = g, .grid = grid};
	bool is_good;
	uint32_t best = 0;

	*grid = (struct product){0};
	if (g->n < 2)
		return false;
	for (uint32_t v = 1; v < g->n; v++)
		if (fab_graph_degree(g, v) < fab_graph_degree(g, best))
			best = v;
	w.root = best;
	w.dim = FAB_NEW(g->first[g->n], uint8_t);
	memset(w.dim, NO_DIM, g->first[g->n]);
	w.slot = FAB_NEW(g->n, uint32_t);
	w.stamp = FAB_NEW0(g->n, uint32_t);
	w.queue = FAB_NEW(g->n, uint32_t);
	w.parent = FAB_NEW(g->n, uint32_t);
	is_good = find_cliques(&w) && find_lines(&w) && label_all(&w) &&
		  give_coords(&w) && check_edges(&w) && check_counts(&w);
	free(w.parent);
	free(w.queue);
	free(w.stamp);
	free(w.slot);
	free(w.dim);
	if (!is_good) {
		free(grid->coords);
		grid->coords = NULL;
	}
	return is_good;
}

/* Tori, meshes and HyperX: which of them the factors of a product make. */

/* Kinds of factors of a product that only one of the shapes can have. */
struct census {
	uint32_t pairs, paths, rings, completes; /* of 2; >= 3; >= 3; >= 4 */
};

static enum fab_shape_kind kind_of(const struct product *grid, struct census *c)
{
	*c = (struct census){0};
	for (uint32_t d = 0; d < grid->n_dims; d++) {
		if (grid->dims[d] == 2)
			c->pairs++;
		else if (grid->factor[d] == PATH)
			c->paths++;
		else if (grid->factor[d] == RING || grid->dims[d] == 3)
			c->rings++;
		else
			c->completes++;
	}
	if (c->paths || c->pairs == grid->n_dims) {
		if (c->rings || c->completes)
			return FAB_SHAPE_NONE;
		return c->paths || c->pairs == 1 ? FAB_SHAPE_MESH : FAB_SHAPE_TORUS;
	}
	if (!c->completes)
		return FAB_SHAPE_TORUS;
	for (uint32_t d = 0; d < grid->n_dims; d++)
		if (grid->factor[d] == RING)
			return FAB_SHAPE_NONE;
	return FAB_SHAPE_HYPERX;
}

static bool shape_try_grid(const struct fab_fabric *f, struct fab_shape *shape)
{
	struct fab_graph g = {f->n_switches, f->peer_first, f->peer};
	enum fab_shape_kind kind;
	struct product grid;
	struct census census;

	if (!shape_factor(&g, &grid))
		return false;
	kind = kind_of(&grid, &census);
	if (kind != FAB_SHAPE_NONE) {
		bool merge;
		uint32_t source[FAB_SHAPE_DIMS_MAX] = {0};
		uint32_t other[FAB_SHAPE_DIMS_MAX] = {0};
		uint32_t open = FAB_NONE;

		shape->kind = kind;
		/* Copy sizes and coordinates; with `merge`, pairs of dimensions of 2 as
		 * one of 4. */
		merge = kind == FAB_SHAPE_TORUS;
		for (uint32_t d = 0; d < grid.n_dims; d++) {
			if (merge && grid.dims[d] == 2 && open != FAB_NONE) {
				other[open] = d;
				shape->dims[open] = 4;
				open = FAB_NONE;
				continue;
			}
			if (merge && grid.dims[d] == 2)
				open = shape->n_dims;
			source[shape->n_dims] = d;
			other[shape->n_dims] = FAB_NONE;
			shape->dims[shape->n_dims++] = grid.dims[d];
		}
		shape->coords =
			FAB_NEW((size_t)shape->n_switches * shape->n_dims, uint32_t);
		for (uint32_t v = 0; v < shape->n_switches; v++)
			for (uint32_t d = 0; d < shape->n_dims; d++) {
				const uint32_t *c = grid.coords + (size_t)v * grid.n_dims;

				shape->coords[(size_t)v * shape->n_dims + d] =
					other[d] == FAB_NONE ? c[source[d]]
					: c[source[d]]	     ? 3 - c[other[d]]
							     : c[other[d]];
			}
		shape_sort_dims(shape);
	}
	free(grid.coords);
	return kind != FAB_SHAPE_NONE;
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
	bool *is_near;	/* neighbours of the switch at hand that are left */
	uint32_t *near; /* the same as a list */
	uint32_t n_near;
	uint32_t *group;
};

/* Neighbours of `v` that are left. */
static uint32_t count_near(const struct fly_work *w, uint32_t v)
{
	const struct fab_fabric *f = w->f;
	uint32_t n = 0;

	for (uint32_t i = f->peer_first[v]; i < f->peer_first[v + 1]; i++)
		n += w->is_near[f->peer[i]];
	return n;
}

/* Start with all neighbours of `u` that have no group yet. */
static void take_near(struct fly_work *w, uint32_t u)
{
	const struct fab_fabric *f = w->f;

	w->n_near = 0;
	for (uint32_t i = f->peer_first[u]; i < f->peer_first[u + 1]; i++)
		if (w->group[f->peer[i]] == FAB_NONE) {
			w->is_near[f->peer[i]] = true;
			w->near[w->n_near++] = f->peer[i];
		}
}

static void drop_near(struct fly_work *w)
{
	for (uint32_t i = 0; i < w->n_near; i++)
		w->is_near[w->near[i]] = false;
}

/* Drop neighbours until each of them has a - 2 of the others. O(degree^2) a round. */
static void narrow(struct fly_work *w, uint32_t a)
{
	uint32_t kept, before;

	do {
		kept = 0;
		before = w->n_near;
		for (uint32_t i = 0; i < before; i++) {
			uint32_t v = w->near[i];

			if (count_near(w, v) + 2 < a)
				w->is_near[v] = false;
			else
				w->near[kept++] = v;
		}
		w->n_near = kept;
	} while (kept < before);
}

/* The size of the group that switch 0 is in, 0 when unknown. */
static uint32_t find_size(struct fly_work *w)
{
	uint32_t degree = w->f->peer_first[1], n, a, *common;

	take_near(w, 0);
	common = FAB_NEW(degree, uint32_t);
	for (uint32_t i = 0; i < degree; i++)
		common[i] = count_near(w, w->near[i]);
	drop_near(w);
	for (a = degree + 1; a >= GROUP_MIN; a--) {
		n = 0;
		for (uint32_t i = 0; i < degree; i++)
			n += common[i] + 2 >= a;
		if (n + 1 < a)
			continue;
		take_near(w, 0);
		narrow(w, a);
		drop_near(w);
		if (w->n_near + 1 >= a)
			break;
	}
	free(common);
	return a >= GROUP_MIN && w->n_near + 1 == a ? a : 0;
}

/*
 * Put all switches into groups of a; how many groups, 0 when it cannot be done. What
 * narrow() leaves are a - 1 switches that each have a - 2 of the others: all joined.
 */
static uint32_t make_groups(struct fly_work *w, uint32_t a)
{
	uint32_t n = w->f->n_switches, groups = 0;

	for (uint32_t u = 0; u < n; u++) {
		if (w->group[u] != FAB_NONE)
			continue;
		take_near(w, u);
		narrow(w, a);
		drop_near(w);
		if (w->n_near + 1 != a)
			return 0;
		w->group[u] = groups;
		for (uint32_t i = 0; i < w->n_near; i++)
			w->group[w->near[i]] = groups;
		groups++;
	}
	return groups;
}

/* Is every group joined to every other? */
static bool all_joined(const struct fly_work *w, uint32_t groups)
{
	const struct fab_fabric *f = w->f;
	uint64_t pairs = (uint64_t)groups * (groups - 1), seen = 0;
	bool *joined;

	if (pairs > f->peer_first[f->n_switches])
		return false;
	joined = FAB_NEW0((size_t)groups * groups, bool);
	for (uint32_t u = 0; u < f->n_switches; u++)
		for (uint32_t i = f->peer_first[u]; i < f->peer_first[u + 1]; i++) {
			uint32_t g = w->group[u], h = w->group[f->peer[i]];
			bool *pair = &joined[(size_t)g * groups + h];

			seen += g != h && !*pair;
			*pair = true;
		}
	free(joined);
	return seen == pairs;
}

static bool shape_try_dragonfly(const struct fab_fabric *f, struct fab_shape *shape)
{
	uint32_t n = f->n_switches, a, groups;
	struct fly_work w = {.f = f};
	bool is_good;

	if (n < GROUP_MIN * GROUPS_MIN)
		return false;
	w.is_near = FAB_NEW0(n, bool);
	w.near = FAB_NEW(n, uint32_t);
	w.group = FAB_NEW(n, uint32_t);
	memset(w.group, 0xff, n * sizeof(*w.group));
	a = find_size(&w);
	groups = a ? make_groups(&w, a) : 0;
	is_good = groups >= GROUPS_MIN && all_joined(&w, groups);
	free(w.near);
	free(w.is_near);
	if (!is_good) {
		free(w.group);
		return false;
	}
	shape->kind = FAB_SHAPE_DRAGONFLY;
	shape->n_groups = groups;
	shape->group_size = a;
	shape->group = w.group;
	return true;
}

struct fab_shape *fab_shape_recognize(const struct fab_fabric *f)
{
	struct fab_shape *shape = FAB_NEW0(1, struct fab_shape);
	uint32_t *hosts = FAB_NEW(f->n_switches, uint32_t);

	fab_ranks_count_all_hosts(f, hosts);
	shape->n_switches = f->n_switches;
	if (!shape_try_kfat(f, hosts, shape) && !shape_try_tree(f, hosts, shape) &&
	    !shape_try_grid(f, shape))
		shape_try_dragonfly(f, shape);
	free(hosts);
	return shape;
}

void fab_shape_free(struct fab_shape *shape)
{
	if (!shape)
		return;
	free(shape->level);
	free(shape->is_root);
	free(shape->coords);
	free(shape->group);
	free(shape);
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

/* Append formatted text as far as there is room. */
static void append(char *out, size_t size, const char *format, ...) FAB_PRINTF(3, 4);
static void append(char *out, size_t size, const char *format, ...)
{
	size_t at = strlen(out);
	va_list ap;

	va_start(ap, format);
	vsnprintf(out + at, size - at, format, ap);
	va_end(ap);
}

char *fab_shape_text(const struct fab_shape *shape, char *out, size_t size)
{
	const char *name = fab_shape_name(shape->kind);

	if (!size)
		return out;
	out[0] = '\0';
	append(out, size, "%s", name ? name : "none");
	if (shape->kind == FAB_SHAPE_FATTREE)
		append(out, size, " levels=%" PRIu32 " roots=%" PRIu32, shape->n_levels,
		       shape->n_roots);
	for (uint32_t d = 0; d < shape->n_dims; d++)
		append(out, size, "%s%" PRIu32, d ? "x" : " ", shape->dims[d]);
	if (shape->kind == FAB_SHAPE_KFAT && shape->n_levels > 2)
		append(out, size, " levels=%" PRIu32, shape->n_levels - 1);
	if (shape->kind == FAB_SHAPE_KFAT && shape->n_planes > 1)
		append(out, size, " planes=%" PRIu32, shape->n_planes);
	if (shape->kind == FAB_SHAPE_DRAGONFLY)
		append(out, size, " groups=%" PRIu32 " a=%" PRIu32, shape->n_groups,
		       shape->group_size);
	return out;
}
