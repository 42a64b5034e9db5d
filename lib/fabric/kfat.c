/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which switches of a high-dimension fat tree are leaves, which line a root switch
 * belongs to, and along which dimension a line runs; parts may be missing.
 *
 *   pieces  parts of the fabric without its leaf switches
 *   lines   pieces that share two leaf switches or more are planes of one line: in a grid
 *           two lines meet in one point at most
 *   runs    lines that run along the same dimension
 */
#include "fabric/kfat.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/order.h"
#include "base/sets.h"
#include "fabric/ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Lines of leaf i, in the order of its ports: at[first[i] .. first[i + 1]). */
struct kfat_lines {
	uint32_t *first, *at;
};

/* Along which dimension the lines of a kfat run. */

enum { UNKNOWN = 0xff, NEAR = 8 };

struct runs {
	struct fab_kfat *k;
	const struct kfat_lines *l;
	struct fab_arena arena;
	uint32_t *first, *member; /* leaves of a line: member[first[line] ..] */
	uint32_t *parent;	  /* lines that are known to run alike */
	struct fab_map64 *cross;  /* two lines -> the leaf where they meet */
};

/*
 * Two dimensions: colour lines in turn, each part of the fabric from its lowest leaf. The
 * first line of a leaf runs along dimension 0.
 */
static int colour(struct runs *r, struct fab_err *err)
{
	const struct kfat_lines *l = r->l;
	uint8_t *dim = r->k->line_dim;
	uint32_t *queue = FAB_ARENA_NEW(&r->arena, r->k->n_lines + 1, uint32_t);
	uint32_t bad = FAB_NONE;

	for (uint32_t start = 0; start < r->k->n_leaves; start++) {
		uint32_t head = 0, tail = 0;

		if (l->first[start] == l->first[start + 1] ||
		    dim[l->at[l->first[start]]] != UNKNOWN)
			continue;
		queue[tail++] = l->at[l->first[start]];
		dim[queue[0]] = 0;
		while (head < tail) {
			uint32_t line = queue[head++];

			for (uint32_t i = r->first[line]; i < r->first[line + 1]; i++) {
				uint32_t leaf = r->member[i];

				for (uint32_t j = l->first[leaf]; j < l->first[leaf + 1];
				     j++) {
					uint32_t other = l->at[j];

					if (other == line)
						continue;
					if (dim[other] == UNKNOWN) {
						dim[other] = !dim[line];
						queue[tail++] = other;
					} else if (dim[other] == dim[line] &&
						   bad == FAB_NONE) {
						bad = leaf;
					}
				}
			}
		}
	}
	if (bad != FAB_NONE)
		return fab_fail(
			err, EINVAL,
			"no kfat: the two lines that meet in leaf switch '%.64s' would run along the same dimension",
			fab_node_name(r->k->f, r->k->leaf[bad]));
	return 0;
}

static uint64_t pair_key(uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* b on line_b through a, c on line_c through a: the fourth corner d joins them. */
static void close_rectangle(struct runs *r, uint32_t a, uint32_t line_b, uint32_t b,
			    uint32_t line_c, uint32_t c)
{
	const struct kfat_lines *l = r->l;

	for (uint32_t i = l->first[b]; i < l->first[b + 1]; i++)
		for (uint32_t j = l->first[c]; j < l->first[c + 1]; j++) {
			uint32_t from_b = l->at[i], from_c = l->at[j], d;

			if (from_b == line_b || from_c == line_c || from_b == from_c)
				continue;
			d = fab_map64_get(r->cross, pair_key(from_b, from_c));
			if (d == FAB_NONE || d == a || d == b || d == c)
				continue;
			fab_sets_unite(r->parent, from_b, line_c);
			fab_sets_unite(r->parent, from_c, line_b);
		}
}

/* Place of a leaf on a line. */
static uint32_t position(const struct runs *r, uint32_t line, uint32_t leaf)
{
	const uint32_t *first = &r->member[r->first[line]];
	const uint32_t *at = bsearch(&leaf, first, r->first[line + 1] - r->first[line],
				     sizeof(leaf), fab_cmp_u32);

	return (uint32_t)(at - first);
}

/* Lines that are opposite sides of rectangles through leaf `a` run alike: its lines are
 * taken two by two, on each the next NEAR leaves behind `a` in a circle. */
static void close_rectangles(struct runs *r, uint32_t a)
{
	const struct kfat_lines *l = r->l;

	for (uint32_t i = l->first[a]; i < l->first[a + 1]; i++)
		for (uint32_t j = l->first[a]; j < i; j++) {
			uint32_t b = l->at[i], c = l->at[j];
			uint32_t nb = r->first[b + 1] - r->first[b];
			uint32_t nc = r->first[c + 1] - r->first[c];
			uint32_t at_b = position(r, b, a), at_c = position(r, c, a);

			for (uint32_t k = 1; k < nb && k <= NEAR; k++)
				for (uint32_t m = 1; m < nc && m <= NEAR; m++)
					close_rectangle(
						r, a, b,
						r->member[r->first[b] + (at_b + k) % nb],
						c,
						r->member[r->first[c] + (at_c + m) % nc]);
		}
}

/* Runs become dimensions: those that meet in the first leaf with all its lines in the
 * order of its ports, then each by the first that no other line through its leaves has.
 */
static int name_runs(struct runs *r, struct fab_err *err)
{
	const struct kfat_lines *l = r->l;
	uint32_t n = r->k->n_lines, leaf = 0;
	uint8_t *of_run = FAB_ARENA_NEW(&r->arena, n + 1, uint8_t), next = 0;
	uint32_t *head = fab_arena_none(&r->arena, n + 1);
	uint32_t *follower = FAB_ARENA_NEW(&r->arena, n + 1, uint32_t);

	memset(of_run, UNKNOWN, n);
	for (uint32_t line = n; line-- > 0;) { /* the lines of each run, ascending */
		uint32_t run = fab_sets_root(r->parent, line);

		follower[line] = head[run];
		head[run] = line;
	}
	while (l->first[leaf + 1] - l->first[leaf] < r->k->n_dims)
		leaf++;
	for (uint32_t i = l->first[leaf]; i < l->first[leaf + 1]; i++) {
		uint32_t run = fab_sets_root(r->parent, l->at[i]);

		if (of_run[run] == UNKNOWN)
			of_run[run] = next++;
	}
	for (uint32_t line = 0; line < n; line++) {
		uint32_t run = fab_sets_root(r->parent, line), used = 0;
		uint8_t d = 0;

		for (uint32_t of = head[run]; of_run[run] == UNKNOWN && of != FAB_NONE;
		     of = follower[of])
			for (uint32_t i = r->first[of]; i < r->first[of + 1]; i++) {
				const uint32_t *first = &l->first[r->member[i]];

				for (uint32_t j = first[0]; j < first[1]; j++) {
					uint32_t other =
						fab_sets_root(r->parent, l->at[j]);

					if (other != run && of_run[other] != UNKNOWN)
						used |= UINT32_C(1) << of_run[other];
				}
			}
		while (used >> d & 1)
			d++;
		if (of_run[run] == UNKNOWN && d >= r->k->n_dims)
			return fab_fail(
				err, EINVAL,
				"no kfat: the lines through leaf switch '%.64s' leave no dimension to one of them",
				fab_node_name(r->k->f,
					      r->k->leaf[r->member[r->first[line]]]));
		if (of_run[run] == UNKNOWN)
			of_run[run] = d;
		r->k->line_dim[line] = of_run[run];
	}
	return 0;
}

static int find_runs(struct fab_kfat *k, const struct kfat_lines *l, struct fab_err *err)
{
	uint32_t n = l->first[k->n_leaves];
	struct runs r = {.k = k, .l = l};
	int rc;

	k->line_dim = FAB_ARENA_NEW(&k->arena, k->n_lines + 1, uint8_t);
	memset(k->line_dim, UNKNOWN, k->n_lines);
	/* Leaves of each line, ascending: first[line + 1] moves on from where they begin
	 * to where they end. */
	r.first = FAB_ARENA_NEW0(&r.arena, k->n_lines + 2, uint32_t);
	r.member = FAB_ARENA_NEW(&r.arena, n + 1, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		r.first[l->at[i] + 2]++;
	for (uint32_t i = 0; i < k->n_lines; i++)
		r.first[i + 2] += r.first[i + 1];
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++)
		for (uint32_t i = l->first[leaf]; i < l->first[leaf + 1]; i++)
			r.member[r.first[l->at[i] + 1]++] = leaf;
	if (k->n_dims == 2) {
		rc = colour(&r, err);
	} else {
		r.parent = FAB_ARENA_NEW(&r.arena, k->n_lines + 1, uint32_t);
		for (uint32_t i = 0; i < k->n_lines; i++)
			r.parent[i] = i;
		r.cross = fab_map64_new((size_t)k->n_leaves * k->n_dims);
		for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++)
			for (uint32_t i = l->first[leaf]; i < l->first[leaf + 1]; i++)
				for (uint32_t j = l->first[leaf]; j < i; j++)
					fab_map64_put(r.cross,
						      pair_key(l->at[i], l->at[j]), leaf);
		for (uint32_t a = 0; a < k->n_leaves; a++)
			close_rectangles(&r, a);
		rc = name_runs(&r, err);
		fab_map64_free(r.cross);
	}
	fab_arena_free(&r.arena);
	return rc;
}

enum { FILLED_AT_LEAST = 4 };

static uint32_t n_peers(const struct fab_fabric *f, uint32_t sw)
{
	return f->peer_first[sw + 1] - f->peer_first[sw];
}

/*
 * Leaves are the switches with hosts; with `idle` also those that lost all of theirs:
 * joined to no leaf and to no more switches than a leaf is, in a part with hosts.
 */
static int find_leaves(struct fab_kfat *k, struct fab_arena *arena, bool idle,
		       struct fab_err *err)
{
	const struct fab_fabric *f = k->f;
	uint32_t *hosts = FAB_ARENA_NEW(arena, f->n_switches + 1, uint32_t), uplinks = 0;
	uint32_t *part = FAB_ARENA_NEW(arena, f->n_switches + 1, uint32_t);
	bool *has_hosts = FAB_ARENA_NEW0(arena, f->n_switches + 1, bool);

	fab_fabric_components(f, part);
	fab_ranks_count_all_hosts(f, hosts);
	for (uint32_t u = 0; u < f->n_switches; u++) {
		has_hosts[part[u]] |= hosts[u] > 0;
		if (hosts[u] && n_peers(f, u) > uplinks)
			uplinks = n_peers(f, u);
	}
	for (uint32_t u = 0; u < f->n_switches; u++) {
		bool is_leaf =
			hosts[u] || (idle && n_peers(f, u) && n_peers(f, u) <= uplinks &&
				     has_hosts[part[u]]);

		FAB_EACH_PEER(f, u, i)
			is_leaf &= hosts[u] || !hosts[f->peer[i]];
		k->leaf_of[u] = is_leaf ? k->n_leaves : FAB_NONE;
		if (is_leaf)
			k->leaf[k->n_leaves++] = u;
	}
	if (k->n_leaves < 2)
		return fab_fail(err, EINVAL,
				"no kfat: %" PRIu32
				" switches have hosts, expected 2 or more",
				k->n_leaves);
	for (uint32_t i = 0; i < k->n_leaves; i++) {
		uint32_t u = k->leaf[i];

		FAB_EACH_PEER(f, u, j)
			if (k->leaf_of[f->peer[j]] != FAB_NONE)
				return fab_fail(
					err, EINVAL,
					"no kfat: '%.64s' and '%.64s' both have hosts and are joined directly",
					fab_node_name(f, u),
					fab_node_name(f, f->peer[j]));
	}
	return 0;
}

/* The lines: switches without hosts that are joined are of one piece, and pieces that
 * share two leaves are planes of one line. Those that have two leaves or more are
 * numbered by their lowest switch. */
static void find_lines(struct fab_kfat *k, struct fab_arena *arena)
{
	const struct fab_fabric *f = k->f;
	uint32_t *parent = FAB_ARENA_NEW(arena, f->n_switches + 1, uint32_t);
	uint32_t *piece = FAB_ARENA_NEW(arena, f->n_switches + 1, uint32_t);
	uint32_t *first_leaf = fab_arena_none(arena, f->n_switches + 1);
	uint32_t *number = fab_arena_none(arena, f->n_switches + 1);
	FAB_AUTO(fab_map64_free_at)
	struct fab_map64 *seen = fab_map64_new(k->n_leaves);

	for (uint32_t u = 0; u < f->n_switches; u++)
		parent[u] = u;
	for (uint32_t u = 0; u < f->n_switches; u++)
		FAB_EACH_PEER(f, u, i)
			if (k->leaf_of[u] == FAB_NONE &&
			    k->leaf_of[f->peer[i]] == FAB_NONE)
				fab_sets_unite(parent, u, f->peer[i]);
	for (uint32_t u = 0; u < f->n_switches; u++)
		piece[u] = fab_sets_root(parent, u);
	for (uint32_t i = 0; i < k->n_leaves; i++) {
		uint32_t u = k->leaf[i];

		FAB_EACH_PEER(f, u, a)
			for (uint32_t b = f->peer_first[u]; b < a; b++) {
				uint32_t p = piece[f->peer[a]], q = piece[f->peer[b]];

				if (fab_sets_root(parent, p) !=
					    fab_sets_root(parent, q) &&
				    fab_map64_put(seen, pair_key(p, q), i) != i)
					fab_sets_unite(parent, p, q);
			}
	}
	for (uint32_t i = 0; i < k->n_leaves; i++) {
		uint32_t u = k->leaf[i];

		FAB_EACH_PEER(f, u, a) {
			uint32_t line = fab_sets_root(parent, f->peer[a]);

			if (first_leaf[line] == FAB_NONE)
				first_leaf[line] = i;
			else if (first_leaf[line] != i)
				number[line] = 0; /* two leaves */
		}
	}
	for (uint32_t u = 0; u < f->n_switches; u++) {
		uint32_t line = fab_sets_root(parent, u);

		k->switch_line[u] = FAB_NONE;
		if (k->leaf_of[u] != FAB_NONE || number[line] == FAB_NONE)
			continue;
		if (line == u)
			number[line] = k->n_lines++;
		k->switch_line[u] = number[line];
		FAB_EACH_PEER(f, u, i)
			k->has_deep_lines |= k->leaf_of[f->peer[i]] == FAB_NONE;
	}
}

/* Lines of each leaf in the order of its ports, each once. */
static void list_lines(const struct fab_kfat *k, struct fab_arena *arena,
		       struct kfat_lines *l)
{
	const struct fab_fabric *f = k->f;
	size_t arcs = 0;

	for (uint32_t i = 0; i < k->n_leaves; i++)
		arcs += f->arc_first[k->leaf[i] + 1] - f->arc_first[k->leaf[i]];
	l->first = FAB_ARENA_NEW(arena, k->n_leaves + 1, uint32_t);
	l->at = FAB_ARENA_NEW(arena, arcs + 1, uint32_t);
	l->first[0] = 0;
	for (uint32_t i = 0; i < k->n_leaves; i++) {
		uint32_t u = k->leaf[i], from = l->first[i], to = from;

		FAB_EACH_ARC(f, u, a) {
			uint32_t line = k->switch_line[f->arc_peer[a]], j = from;

			while (j < to && l->at[j] != line)
				j++;
			if (j == to && line != FAB_NONE)
				l->at[to++] = line;
		}
		l->first[i + 1] = to;
	}
}

static int count_dims(struct fab_kfat *k, const struct kfat_lines *l, struct fab_err *err)
{
	uint32_t most = 0;

	k->n_dims = 0;
	for (uint32_t i = 0; i < k->n_leaves; i++)
		if (l->first[i + 1] - l->first[i] > k->n_dims) {
			k->n_dims = l->first[i + 1] - l->first[i];
			most = i;
		}
	if (k->n_dims < 2)
		return fab_fail(
			err, EINVAL,
			"no kfat: leaf switch '%.64s' is joined to %" PRIu32
			" line of switches without hosts, and no other to more: expected 2, one a dimension",
			fab_node_name(k->f, k->leaf[most]), k->n_dims);
	if (k->n_dims > FAB_KFAT_DIMS_MAX)
		return fab_fail(
			err, EINVAL,
			"no kfat: leaf switch '%.64s' is joined to %" PRIu32
			" lines of switches without hosts, more than %d dimensions",
			fab_node_name(k->f, k->leaf[most]), k->n_dims, FAB_KFAT_DIMS_MAX);
	return 0;
}

/* line_of by dimension; a leaf has one line along a dimension. */
static int place_lines(struct fab_kfat *k, const struct kfat_lines *l,
		       struct fab_err *err)
{
	size_t n = (size_t)k->n_leaves * k->n_dims;

	k->line_of = fab_arena_none(&k->arena, n);
	for (uint32_t i = 0; i < k->n_leaves; i++)
		for (uint32_t j = l->first[i]; j < l->first[i + 1]; j++) {
			uint32_t d = k->line_dim[l->at[j]];
			uint32_t *at = &k->line_of[(size_t)i * k->n_dims + d];

			if (*at != FAB_NONE)
				return fab_fail(
					err, EINVAL,
					"no kfat: leaf switch '%.64s' is joined to two lines along dimension %" PRIu32,
					fab_node_name(k->f, k->leaf[i]), d);
			*at = l->at[j];
		}
	return 0;
}

/* Has leaf i a line along dimension d, and along no other? */
static bool is_stray(const struct fab_kfat *k, uint32_t i, uint32_t d)
{
	const uint32_t *line_of = k->line_of + (size_t)i * k->n_dims;

	for (uint32_t e = 0; e < k->n_dims; e++)
		if ((line_of[e] == FAB_NONE) != (e != d))
			return false;
	return true;
}

/*
 * Leaves of one coordinate d are `parent`'s sets. A stray leaf, whose other lines are
 * dead, joins the first set that has no leaf on its line: where it may have stood.
 */
static void place_strays(const struct fab_kfat *k, uint32_t d, uint32_t *parent)
{
	FAB_AUTO(fab_map64_free_at)
	struct fab_map64 *taken = fab_map64_new(k->n_leaves);  /* set, line */
	struct fab_map64 *number = fab_map64_new(k->n_leaves); /* root -> set */
	FAB_VEC(uint32_t) sets = {0};			       /* a leaf of each */

	for (uint32_t i = 0; i < k->n_leaves; i++) {
		uint32_t root = fab_sets_root(parent, i), set;
		uint32_t line = k->line_of[(size_t)i * k->n_dims + d];

		if (is_stray(k, i, d))
			continue;
		set = fab_map64_put(number, root, (uint32_t)sets.n);
		if (set == sets.n)
			FAB_PUSH(&sets, root);
		if (line != FAB_NONE)
			fab_map64_put(taken, (uint64_t)set << 32 | line, i);
	}
	for (uint32_t i = 0; i < k->n_leaves; i++) {
		uint32_t line = k->line_of[(size_t)i * k->n_dims + d], set = 0;

		if (!is_stray(k, i, d))
			continue;
		while (set < sets.n &&
		       fab_map64_get(taken, (uint64_t)set << 32 | line) != FAB_NONE)
			set++;
		if (set == sets.n)
			FAB_PUSH(&sets, i);
		fab_sets_unite(parent, sets.v[set], i);
		fab_map64_put(taken, (uint64_t)set << 32 | line, i);
	}
	free(sets.v);
	fab_map64_free(number);
}

/*
 * Coordinate d is the same for leaves that lines along other dimensions join; with
 * `strays` also for those that may have been joined.
 */
static void number_coords(struct fab_kfat *k, bool strays)
{
	FAB_AUTOFREE uint32_t *parent = FAB_NEW(k->n_leaves + 1, uint32_t);
	FAB_AUTOFREE uint32_t *first = FAB_NEW(k->n_lines + 1, uint32_t);

	k->coord = FAB_ARENA_NEW(&k->arena, (size_t)k->n_leaves * k->n_dims, uint32_t);
	for (uint32_t d = 0; d < k->n_dims; d++) {
		for (uint32_t i = 0; i < k->n_leaves; i++)
			parent[i] = i;
		memset(first, 0xff, k->n_lines * sizeof(*first));
		for (uint32_t i = 0; i < k->n_leaves; i++)
			for (uint32_t e = 0; e < k->n_dims; e++) {
				uint32_t line = k->line_of[(size_t)i * k->n_dims + e];

				if (e == d || line == FAB_NONE)
					continue;
				if (first[line] == FAB_NONE)
					first[line] = i;
				fab_sets_unite(parent, first[line], i);
			}
		if (strays)
			place_strays(k, d, parent);
		k->dims[d] = 0;
		for (uint32_t i = 0; i < k->n_leaves; i++) {
			uint32_t root = fab_sets_root(parent, i);

			k->coord[(size_t)i * k->n_dims + d] =
				root == i ? k->dims[d]++
					  : k->coord[(size_t)root * k->n_dims + d];
		}
	}
}

/* Points of the grid; those beyond `limit` are not counted exactly. */
static uint64_t n_points(const struct fab_kfat *k, uint64_t limit)
{
	uint64_t all = 1;

	for (uint32_t d = 0; d < k->n_dims && all <= limit; d++)
		all *= k->dims[d];
	return all;
}

/* Leaves that differ in no coordinate, or a grid that is nearly empty. */
static int check_grid(const struct fab_kfat *k, struct fab_err *err)
{
	uint64_t limit = (uint64_t)k->n_leaves * FILLED_AT_LEAST;
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *seen = fab_map64_new(k->n_leaves);
	int rc = 0;

	if (n_points(k, limit) > limit)
		rc = fab_fail(
			err, EINVAL,
			"no kfat: %" PRIu32
			" leaf switches fill less than a quarter of the grid that their lines make",
			k->n_leaves);
	for (uint32_t i = 0; i < k->n_leaves && !rc; i++) {
		uint64_t at = 0;
		uint32_t other;

		for (uint32_t d = 0; d < k->n_dims; d++)
			at = at * k->dims[d] + k->coord[(size_t)i * k->n_dims + d];
		other = fab_map64_put(seen, at, i);
		if (other != i)
			rc = fab_fail(
				err, EINVAL,
				"no kfat: leaf switches '%.64s' and '%.64s' stand in the same point of the grid",
				fab_node_name(k->f, k->leaf[other]),
				fab_node_name(k->f, k->leaf[i]));
	}
	return rc;
}

/* Switches that join leaf i to its line in each dimension. */
static void count_joints(const struct fab_kfat *k, uint32_t i, uint32_t *n)
{
	const struct fab_fabric *f = k->f;
	uint32_t u = k->leaf[i];

	memset(n, 0, k->n_dims * sizeof(*n));
	FAB_EACH_PEER(f, u, a) {
		uint32_t line = k->switch_line[f->peer[a]];

		if (line != FAB_NONE)
			n[k->line_dim[line]]++;
	}
}

bool fab_kfat_is_whole(const struct fab_kfat *k)
{
	uint32_t n[FAB_KFAT_DIMS_MAX];

	if (n_points(k, k->n_leaves) != k->n_leaves)
		return false;
	for (uint32_t i = 0; i < k->n_leaves; i++) {
		count_joints(k, i, n);
		for (uint32_t d = 0; d < k->n_dims; d++)
			if (n[d] != k->n_planes)
				return false;
	}
	return true;
}

static int recognize(const struct fab_fabric *f, bool idle, struct fab_kfat **out,
		     struct fab_err *err)
{
	struct fab_kfat *k = FAB_NEW0(1, struct fab_kfat);
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct kfat_lines l;
	struct fab_err ignored;
	int rc;

	k->f = f;
	k->leaf = FAB_ARENA_NEW(&k->arena, f->n_switches + 1, uint32_t);
	k->leaf_of = FAB_ARENA_NEW(&k->arena, f->n_switches + 1, uint32_t);
	k->switch_line = FAB_ARENA_NEW(&k->arena, f->n_switches + 1, uint32_t);
	rc = find_leaves(k, &arena, idle, err);
	if (!rc) {
		find_lines(k, &arena);
		list_lines(k, &arena, &l);
		rc = count_dims(k, &l, err);
	}
	if (!rc)
		rc = find_runs(k, &l, err);
	if (!rc)
		rc = place_lines(k, &l, err);
	if (!rc) {
		number_coords(k, true);
		if (check_grid(k, &ignored)) {
			number_coords(k, false);
			rc = check_grid(k, err);
		}
	}
	for (uint32_t i = 0; i < k->n_leaves && !rc; i++) {
		uint32_t n[FAB_KFAT_DIMS_MAX];

		count_joints(k, i, n);
		for (uint32_t d = 0; d < k->n_dims; d++)
			k->n_planes = n[d] > k->n_planes ? n[d] : k->n_planes;
	}
	if (rc)
		fab_kfat_free(k);
	else
		*out = k;
	return rc;
}

/* Points of the grid without a leaf. */
static uint64_t n_holes(const struct fab_kfat *k)
{
	return n_points(k, UINT64_MAX) - k->n_leaves;
}

int fab_kfat_recognize(const struct fab_fabric *f, struct fab_kfat **out,
		       struct fab_err *err)
{
	struct fab_kfat *idle;
	struct fab_err ignored;
	int rc = recognize(f, false, out, err);

	if (!rc && !n_holes(*out))
		return 0;
	if (recognize(f, true, &idle, &ignored))
		return rc;
	if (rc || n_holes(idle) < n_holes(*out)) {
		if (!rc)
			fab_kfat_free(*out);
		*out = idle;
	} else {
		fab_kfat_free(idle);
	}
	return 0;
}

void fab_kfat_free(struct fab_kfat *k)
{
	if (!k)
		return;
	fab_arena_free(&k->arena);
	free(k);
}
