/* SPDX-License-Identifier: BSD-2-Clause */
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
 *    hangs together without the edges along d.
 * 4. Everything above is only a guess when the graph is no such product: at the end
 *    every edge is compared with the coordinates of its ends, and the edges are counted.
 */
#include "fabric/shape_impl.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { NO_DIM = 255 };

struct work {
	const struct fab_graph *g;
	struct fab_product *grid;
	uint32_t root;
	uint8_t *dim;	 /* of every arc */
	uint32_t *slot;	 /* arc of the marked vertex to ... */
	uint32_t *stamp; /* valid where stamp[v] == now */
	uint32_t now;
	uint32_t *queue, *parent;
};

/* Remember for every neighbour of `v` which arc leads to it. */
static void mark_peers(struct work *w, uint32_t v)
{
	w->now++;
	for (uint32_t i = w->g->first[v]; i < w->g->first[v + 1]; i++) {
		w->stamp[w->g->peer[i]] = w->now;
		w->slot[w->g->peer[i]] = i;
	}
}

/* Neighbours of `v` among the marked vertices. */
static uint32_t count_marked(const struct work *w, uint32_t v)
{
	uint32_t n = 0;

	for (uint32_t i = w->g->first[v]; i < w->g->first[v + 1]; i++)
		n += w->stamp[w->g->peer[i]] == w->now;
	return n;
}

static bool add_dim(struct work *w, enum fab_factor factor)
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
static bool find_cliques(struct work *w)
{
	const struct fab_graph *g = w->g;

	for (uint32_t i = g->first[w->root]; i < g->first[w->root + 1]; i++) {
		uint32_t v = g->peer[i], joined, given = 0;

		mark_peers(w, w->root);
		joined = count_marked(w, v);
		if (w->dim[i] != NO_DIM || !joined)
			continue;
		if (!add_dim(w, FAB_COMPLETE))
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
static bool find_lines(struct work *w)
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
		if (!add_dim(w, FAB_PATH))
			return false;
		w->dim[i] = (uint8_t)(w->grid->n_dims - 1);
		if (partner != FAB_NONE)
			w->dim[partner] = w->dim[i];
	}
	return true;
}

/* The edge of the marked vertex v that is opposite to u-x along `dim` in their square. */
static bool close_square(struct work *w, uint32_t u, uint32_t x, uint8_t dim)
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
static bool label_vertex(struct work *w, uint32_t v, uint32_t u)
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
static bool label_all(struct work *w)
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
static uint32_t step(const struct work *w, uint32_t v, uint32_t from, uint32_t dim)
{
	for (uint32_t i = w->g->first[v]; i < w->g->first[v + 1]; i++)
		if (w->dim[i] == dim && w->g->peer[i] != from)
			return w->g->peer[i];
	return FAB_NONE;
}

static void reverse(uint32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t x = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = x;
	}
}

/*
 * The vertices of the line through the root in their order along `dim`; how many, 0 when
 * it is longer than the graph.
 */
static uint32_t walk_line(struct work *w, uint32_t dim, uint32_t *line)
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
		w->grid->factor[dim] = FAB_RING;
		return n;
	}
	reverse(line, n); /* the root comes last: go on in the other direction */
	from = n > 1 ? line[n - 2] : FAB_NONE;
	for (at = w->root; (next = step(w, at, from, dim)) != FAB_NONE; at = next) {
		if (n == w->g->n)
			return 0;
		line[n++] = next;
		from = at;
	}
	return n;
}

static uint32_t list_clique(const struct work *w, uint32_t dim, uint32_t *line)
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
static bool number_layers(struct work *w, uint32_t dim, const uint32_t *line, uint32_t n)
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

static bool give_coords(struct work *w)
{
	struct fab_product *grid = w->grid;
	uint32_t *line = FAB_NEW((size_t)w->g->n + 1, uint32_t);
	size_t n_coords = (size_t)w->g->n * grid->n_dims;
	bool is_good = true;

	grid->coords = FAB_NEW(n_coords, uint32_t);
	for (uint32_t d = 0; d < grid->n_dims && is_good; d++) {
		uint32_t n = grid->factor[d] == FAB_COMPLETE ? list_clique(w, d, line)
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
static bool fits(const struct fab_product *grid, uint32_t d, uint32_t a, uint32_t b)
{
	uint32_t diff = a > b ? a - b : b - a;

	switch (grid->factor[d]) {
	case FAB_PATH:
		return diff == 1;
	case FAB_RING:
		return diff == 1 || diff == grid->dims[d] - 1;
	case FAB_COMPLETE:
		return diff > 0;
	}
	return false;
}

/* Every edge along one dimension, as its factor allows. */
static bool check_edges(const struct work *w)
{
	const struct fab_product *grid = w->grid;
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
static bool check_counts(const struct work *w)
{
	const struct fab_product *grid = w->grid;
	uint32_t n = w->g->n;
	uint64_t all = 1, arcs = 0;
	bool *taken, is_good = true;

	for (uint32_t d = 0; d < grid->n_dims && all <= n; d++) {
		uint32_t size = grid->dims[d];

		all *= size;
		arcs += grid->factor[d] == FAB_PATH ? 2 * (uint64_t)n * (size - 1) / size
			: grid->factor[d] == FAB_RING ? 2 * (uint64_t)n
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

static uint32_t least_degree(const struct fab_graph *g)
{
	uint32_t best = 0;

	for (uint32_t v = 1; v < g->n; v++)
		if (fab_graph_degree(g, v) < fab_graph_degree(g, best))
			best = v;
	return best;
}

bool fab_shape_factor(const struct fab_graph *g, struct fab_product *grid)
{
	struct work w = {.g = g, .grid = grid};
	bool is_good;

	*grid = (struct fab_product){0};
	if (g->n < 2)
		return false;
	w.root = least_degree(g);
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
