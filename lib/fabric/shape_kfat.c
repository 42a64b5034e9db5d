/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * High-dimension fat trees: what is left of the fabric without its host switches falls
 * into lines, and the host switches of the lines make a grid of complete graphs.
 *
 * In two dimensions the lines are the vertices and the host switches the edges of a
 * complete bipartite graph; in more, the graph of the host switches that share a line is
 * factored.
 */
#include "fabric/shape_impl.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF_ARCS_MAX = 1 << 26 };

struct lines {
	const struct fab_fabric *f;
	uint32_t n_leaves, n_lines, n_dims;
	uint32_t *leaf;	   /* [n_leaves] switch */
	uint32_t *leaf_of; /* [n_switches] number of a host switch, else FAB_NONE */
	uint32_t *line;	   /* [n_switches] line of a switch without hosts */
	uint32_t *of_leaf; /* [n_leaves * n_dims] lines of a host switch */
	uint32_t *first;   /* [n_lines + 1] into member */
	uint32_t *member;  /* leaves of a line */
	uint32_t *coords;  /* [n_leaves * n_dims] */
	uint32_t dims[FAB_SHAPE_DIMS_MAX];
};

static void find_leaves(struct lines *l, const uint32_t *hosts)
{
	uint32_t n = l->f->n_switches;

	l->leaf = FAB_NEW(n, uint32_t);
	l->leaf_of = FAB_NEW(n, uint32_t);
	for (uint32_t u = 0; u < n; u++) {
		l->leaf_of[u] = hosts[u] ? l->n_leaves : FAB_NONE;
		if (hosts[u])
			l->leaf[l->n_leaves++] = u;
	}
}

/* Number the parts that the switches without hosts fall into. */
static void find_lines(struct lines *l)
{
	const struct fab_fabric *f = l->f;
	uint32_t *queue = FAB_NEW(f->n_switches, uint32_t);

	l->line = FAB_NEW(f->n_switches, uint32_t);
	memset(l->line, 0xff, f->n_switches * sizeof(*l->line));
	for (uint32_t start = 0; start < f->n_switches; start++) {
		uint32_t tail = 0;

		if (l->leaf_of[start] != FAB_NONE || l->line[start] != FAB_NONE)
			continue;
		l->line[start] = l->n_lines;
		queue[tail++] = start;
		for (uint32_t head = 0; head < tail; head++) {
			uint32_t u = queue[head];

			for (uint32_t i = f->peer_first[u]; i < f->peer_first[u + 1];
			     i++) {
				uint32_t v = f->peer[i];

				if (l->leaf_of[v] != FAB_NONE || l->line[v] != FAB_NONE)
					continue;
				l->line[v] = l->n_lines;
				queue[tail++] = v;
			}
		}
		l->n_lines++;
	}
	free(queue);
}

/* Every leaf on the same number of lines, by one switch each, and on no other leaf. */
static bool join_leaves(struct lines *l)
{
	const struct fab_fabric *f = l->f;
	uint32_t first = l->leaf[0];

	l->n_dims = f->peer_first[first + 1] - f->peer_first[first];
	if (l->n_dims < 2 || l->n_dims > FAB_SHAPE_DIMS_MAX)
		return false;
	l->of_leaf = FAB_NEW((size_t)l->n_leaves * l->n_dims, uint32_t);
	for (uint32_t i = 0; i < l->n_leaves; i++) {
		uint32_t u = l->leaf[i], *of = l->of_leaf + (size_t)i * l->n_dims;

		if (f->peer_first[u + 1] - f->peer_first[u] != l->n_dims)
			return false;
		for (uint32_t d = 0; d < l->n_dims; d++) {
			of[d] = l->line[f->peer[f->peer_first[u] + d]];
			for (uint32_t e = 0; e < d; e++)
				if (of[e] == of[d])
					return false;
			if (of[d] == FAB_NONE)
				return false;
		}
	}
	return true;
}

static bool list_members(struct lines *l)
{
	size_t n = (size_t)l->n_leaves * l->n_dims;
	uint32_t *at;
	bool is_good = true;

	l->first = FAB_NEW0((size_t)l->n_lines + 1, uint32_t);
	l->member = FAB_NEW(n, uint32_t);
	for (size_t i = 0; i < n; i++)
		l->first[l->of_leaf[i] + 1]++;
	for (uint32_t i = 0; i < l->n_lines; i++) {
		is_good = is_good && l->first[i + 1] >= 2;
		l->first[i + 1] += l->first[i];
	}
	at = FAB_NEW(l->n_lines, uint32_t);
	memcpy(at, l->first, l->n_lines * sizeof(*at));
	for (size_t i = 0; i < n; i++)
		l->member[at[l->of_leaf[i]]++] = (uint32_t)(i / l->n_dims);
	free(at);
	return is_good;
}

/* The sizes of the lines of one leaf multiply to the number of leaves: a quick refusal.
 */
static bool fills_grid(const struct lines *l)
{
	uint64_t all = 1;

	for (uint32_t d = 0; d < l->n_dims && all <= l->n_leaves; d++) {
		uint32_t line = l->of_leaf[d];

		all *= l->first[line + 1] - l->first[line];
	}
	return all == l->n_leaves;
}

/*
 * Two dimensions: colour the lines in turn; side[] becomes number * 2 + colour, numbered
 * within the colour. False when two lines of one colour meet or some are not reached.
 */
static bool colour_lines(struct lines *l, uint32_t *side, uint32_t *queue)
{
	uint32_t tail = 0;

	memset(side, 0xff, l->n_lines * sizeof(*side));
	side[0] = l->dims[1]++ * 2;
	queue[tail++] = 0;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t line = queue[head], colour = side[line] & 1;

		for (uint32_t i = l->first[line]; i < l->first[line + 1]; i++) {
			const uint32_t *of = l->of_leaf + (size_t)l->member[i] * 2;
			uint32_t other = of[0] == line ? of[1] : of[0];

			if (side[other] == FAB_NONE) {
				side[other] = l->dims[colour]++ * 2 + !colour;
				queue[tail++] = other;
			} else if ((side[other] & 1) == colour) {
				return false;
			}
		}
	}
	return tail == l->n_lines;
}

/* Lines of colour 0 run along dimension 0 and are numbered by coordinate 1. */
static bool place_in_plane(struct lines *l)
{
	uint32_t *side = FAB_NEW(l->n_lines, uint32_t);
	uint32_t *queue = FAB_NEW(l->n_lines, uint32_t);
	bool is_good = colour_lines(l, side, queue) &&
		       (uint64_t)l->dims[0] * l->dims[1] == l->n_leaves;
	bool *taken = is_good ? FAB_NEW0(l->n_leaves, bool) : NULL;

	l->coords = FAB_NEW((size_t)l->n_leaves * 2, uint32_t);
	for (uint32_t i = 0; i < l->n_leaves && is_good; i++) {
		uint32_t *c = l->coords + (size_t)i * 2, at;

		for (uint32_t d = 0; d < 2; d++) {
			uint32_t s = side[l->of_leaf[(size_t)i * 2 + d]];

			c[!(s & 1)] = s / 2;
		}
		at = c[0] * l->dims[1] + c[1];
		is_good = !taken[at];
		taken[at] = true;
	}
	free(taken);
	free(queue);
	free(side);
	return is_good;
}

/* The graph of the leaves that share a line; false when it would be too large. */
static bool join_members(const struct lines *l, uint32_t **first_out, uint32_t **peer_out)
{
	uint32_t *first = FAB_NEW0((size_t)l->n_leaves + 1, uint32_t), *peer, *at;
	uint64_t arcs = 0;

	for (uint32_t i = 0; i < l->n_lines; i++) {
		uint64_t n = l->first[i + 1] - l->first[i];

		arcs += n * (n - 1);
	}
	if (arcs > LEAF_ARCS_MAX) {
		free(first);
		return false;
	}
	for (uint32_t i = 0; i < l->n_leaves; i++) {
		first[i + 1] = first[i];
		for (uint32_t d = 0; d < l->n_dims; d++) {
			uint32_t line = l->of_leaf[(size_t)i * l->n_dims + d];

			first[i + 1] += l->first[line + 1] - l->first[line] - 1;
		}
	}
	peer = FAB_NEW(arcs, uint32_t);
	at = FAB_NEW(l->n_leaves, uint32_t);
	memcpy(at, first, l->n_leaves * sizeof(*at));
	/* i ascends, so that it comes behind the smaller peers of each of its peers */
	for (uint32_t i = 0; i < l->n_leaves; i++)
		for (uint32_t d = 0; d < l->n_dims; d++) {
			uint32_t line = l->of_leaf[(size_t)i * l->n_dims + d];

			for (uint32_t k = l->first[line]; k < l->first[line + 1]; k++)
				if (l->member[k] != i)
					peer[at[l->member[k]]++] = i;
		}
	free(at);
	*first_out = first;
	*peer_out = peer;
	return true;
}

/* Do the leaves of every line differ in one coordinate only, and fill it? */
static bool check_lines(const struct lines *l)
{
	uint32_t n = l->n_dims;

	for (uint32_t i = 0; i < l->n_lines; i++) {
		const uint32_t *a = l->coords + (size_t)l->member[l->first[i]] * n;
		uint32_t along = FAB_NONE;

		for (uint32_t k = l->first[i] + 1; k < l->first[i + 1]; k++) {
			const uint32_t *b = l->coords + (size_t)l->member[k] * n;

			for (uint32_t d = 0; d < n; d++) {
				if (a[d] == b[d])
					continue;
				if (along != FAB_NONE && along != d)
					return false;
				along = d;
			}
		}
		if (along == FAB_NONE || l->first[i + 1] - l->first[i] != l->dims[along])
			return false;
	}
	return true;
}

static bool place_in_space(struct lines *l)
{
	struct fab_graph_view g = {.n = l->n_leaves};
	uint32_t *first, *peer;
	struct fab_grid grid;
	bool is_good;

	if (!join_members(l, &first, &peer))
		return false;
	g.first = first;
	g.peer = peer;
	is_good = fab_shape_factor(&g, true, &grid);
	free(first);
	free(peer);
	if (!is_good)
		return false;
	l->coords = grid.coords;
	memcpy(l->dims, grid.dims, sizeof(l->dims));
	return grid.n_dims == l->n_dims && check_lines(l);
}

/* The dimension along which a line runs: where its first two leaves differ. */
static uint32_t direction(const struct lines *l, uint32_t line)
{
	const uint32_t *a = l->coords + (size_t)l->member[l->first[line]] * l->n_dims;
	const uint32_t *b = l->coords + (size_t)l->member[l->first[line] + 1] * l->n_dims;
	uint32_t d = 0;

	while (a[d] == b[d])
		d++;
	return d;
}

static void fill(const struct lines *l, struct fab_shape *shape)
{
	const struct fab_fabric *f = l->f;
	uint32_t n = l->n_dims, *queue = FAB_NEW(f->n_switches, uint32_t);

	shape->kind = FAB_SHAPE_KFAT;
	shape->n_dims = n;
	memcpy(shape->dims, l->dims, n * sizeof(*l->dims));
	shape->coords = FAB_NEW((size_t)f->n_switches * n, uint32_t);
	for (uint32_t u = 0; u < f->n_switches; u++) {
		bool is_leaf = l->leaf_of[u] != FAB_NONE;
		uint32_t leaf = is_leaf ? l->leaf_of[u] : l->member[l->first[l->line[u]]];
		uint32_t *coords = shape->coords + (size_t)u * n;

		memcpy(coords, l->coords + (size_t)leaf * n, n * sizeof(*coords));
		if (!is_leaf)
			coords[direction(l, l->line[u])] = FAB_NONE;
	}
	fab_shape_sort_dims(shape);
	memcpy(queue, l->leaf, l->n_leaves * sizeof(*queue));
	shape->level = FAB_NEW(f->n_switches, uint8_t);
	shape->n_levels = fab_shape_levels(f, queue, l->n_leaves, shape->level);
	shape->n_roots = fab_shape_count_roots(f, shape->level);
	free(queue);
}

bool fab_shape_try_kfat(const struct fab_fabric *f, const uint32_t *hosts,
			struct fab_shape *shape)
{
	struct lines l = {.f = f};
	bool is_good;

	find_leaves(&l, hosts);
	find_lines(&l);
	is_good = l.n_leaves >= 4 && l.n_lines >= 4 && join_leaves(&l) &&
		  list_members(&l) && fills_grid(&l) &&
		  (l.n_dims == 2 ? place_in_plane(&l) : place_in_space(&l));
	if (is_good)
		fill(&l, shape);
	free(l.leaf);
	free(l.leaf_of);
	free(l.line);
	free(l.of_leaf);
	free(l.first);
	free(l.member);
	free(l.coords);
	return is_good;
}
