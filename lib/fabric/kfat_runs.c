/* SPDX-License-Identifier: BSD-2-Clause */
/* Along which dimension the lines of a kfat run. */
#include "fabric/kfat_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = 0xff, NEAR = 8 };

struct runs {
	struct fab_kfat *k;
	const struct kfat_lines *l;
	uint32_t *first, *member; /* leaves of a line: member[first[line] ..] */
	uint32_t *parent;	  /* lines that are known to run alike */
	uint32_t *head, *next;	  /* lines of a run, a list */
	struct fab_map64 *cross;  /* two lines -> the leaf where they meet */
};

static void list_members(struct runs *r)
{
	const struct kfat_lines *l = r->l;
	uint32_t n = l->first[r->k->n_leaves], *at;

	r->first = FAB_NEW0(r->k->n_lines + 2, uint32_t);
	r->member = FAB_NEW(n + 1, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		r->first[l->at[i] + 1]++;
	for (uint32_t i = 0; i < r->k->n_lines; i++)
		r->first[i + 1] += r->first[i];
	at = FAB_NEW(r->k->n_lines + 1, uint32_t);
	memcpy(at, r->first, r->k->n_lines * sizeof(*at));
	for (uint32_t leaf = 0; leaf < r->k->n_leaves; leaf++)
		for (uint32_t i = l->first[leaf]; i < l->first[leaf + 1]; i++)
			r->member[at[l->at[i]]++] = leaf;
	free(at);
}

/*
 * Two dimensions: colour lines in turn, each part of the fabric from its lowest leaf. The
 * first line of a leaf runs along dimension 0.
 */
static int colour(struct runs *r, struct fab_err *err)
{
	const struct kfat_lines *l = r->l;
	uint8_t *dim = r->k->line_dim;
	uint32_t *queue = FAB_NEW(r->k->n_lines + 1, uint32_t), bad = FAB_NONE;

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
	free(queue);
	if (bad != FAB_NONE)
		return fab_fail(err, EINVAL,
				"no kfat: the two lines that meet in leaf switch '%.64s' "
				"would run along the same dimension",
				fab_node_name(r->k->f, r->k->leaf[bad]));
	return 0;
}

static uint64_t pair_key(uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static void list_crossings(struct runs *r)
{
	const struct kfat_lines *l = r->l;

	r->cross = fab_map64_new((size_t)r->k->n_leaves * r->k->n_dims);
	for (uint32_t leaf = 0; leaf < r->k->n_leaves; leaf++)
		for (uint32_t i = l->first[leaf]; i < l->first[leaf + 1]; i++)
			for (uint32_t j = l->first[leaf]; j < i; j++)
				fab_map64_put(r->cross, pair_key(l->at[i], l->at[j]),
					      leaf);
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

/* The member of `line` that follows leaf `a` in a circle at distance `step`. */
static uint32_t follower(const struct runs *r, uint32_t line, uint32_t at, uint32_t step)
{
	uint32_t n = r->first[line + 1] - r->first[line];

	return r->member[r->first[line] + (at + step) % n];
}

static uint32_t position(const struct runs *r, uint32_t line, uint32_t leaf)
{
	uint32_t low = r->first[line], high = r->first[line + 1] - 1;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (r->member[mid] < leaf)
			low = mid + 1;
		else
			high = mid;
	}
	return low - r->first[line];
}

static void close_rectangles(struct runs *r, uint32_t a, uint32_t line_b, uint32_t line_c)
{
	uint32_t nb = r->first[line_b + 1] - r->first[line_b];
	uint32_t nc = r->first[line_c + 1] - r->first[line_c];
	uint32_t at_b = position(r, line_b, a), at_c = position(r, line_c, a);

	for (uint32_t i = 1; i < nb && i <= NEAR; i++)
		for (uint32_t j = 1; j < nc && j <= NEAR; j++)
			close_rectangle(r, a, line_b, follower(r, line_b, at_b, i),
					line_c, follower(r, line_c, at_c, j));
}

/* A dimension that no other line through the leaves of `line` has, UNKNOWN: none. */
static uint8_t free_dim(const struct runs *r, uint32_t run, const uint8_t *of_run)
{
	uint32_t taken = 0;

	for (uint32_t line_b = r->head[run]; line_b != FAB_NONE;
	     line_b = r->next[line_b]) {
		for (uint32_t i = r->first[line_b]; i < r->first[line_b + 1]; i++) {
			uint32_t leaf = r->member[i];

			for (uint32_t j = r->l->first[leaf]; j < r->l->first[leaf + 1];
			     j++) {
				uint32_t other = fab_sets_root(r->parent, r->l->at[j]);

				if (other != run && of_run[other] != UNKNOWN)
					taken |= UINT32_C(1) << of_run[other];
			}
		}
	}
	for (uint8_t d = 0; d < r->k->n_dims; d++)
		if (!(taken >> d & 1))
			return d;
	return UNKNOWN;
}

static void list_runs(struct runs *r)
{
	r->head = FAB_NEW(r->k->n_lines + 1, uint32_t);
	r->next = FAB_NEW(r->k->n_lines + 1, uint32_t);
	memset(r->head, 0xff, r->k->n_lines * sizeof(*r->head));
	for (uint32_t line = r->k->n_lines; line-- > 0;) {
		uint32_t run = fab_sets_root(r->parent, line);

		r->next[line] = r->head[run];
		r->head[run] = line;
	}
}

/*
 * Runs become dimensions: those that meet in the first leaf with all its lines in the
 * order of its ports, then each by what is free at its leaves.
 */
static int name_runs(struct runs *r, struct fab_err *err)
{
	const struct kfat_lines *l = r->l;
	uint8_t *of_run = FAB_NEW(r->k->n_lines + 1, uint8_t), next = 0;
	uint32_t leaf = 0, bad = FAB_NONE;

	memset(of_run, UNKNOWN, r->k->n_lines);
	while (l->first[leaf + 1] - l->first[leaf] < r->k->n_dims)
		leaf++;
	for (uint32_t i = l->first[leaf]; i < l->first[leaf + 1]; i++) {
		uint32_t run = fab_sets_root(r->parent, l->at[i]);

		if (of_run[run] == UNKNOWN)
			of_run[run] = next++;
	}
	for (uint32_t line = 0; line < r->k->n_lines; line++) {
		uint32_t run = fab_sets_root(r->parent, line);

		if (of_run[run] == UNKNOWN)
			of_run[run] = free_dim(r, run, of_run);
		if (of_run[run] == UNKNOWN) {
			bad = line;
			break;
		}
		r->k->line_dim[line] = of_run[run];
	}
	free(of_run);
	if (bad != FAB_NONE)
		return fab_fail(
			err, EINVAL,
			"no kfat: the lines through leaf switch '%.64s' leave no "
			"dimension to one of them",
			fab_node_name(r->k->f, r->k->leaf[r->member[r->first[bad]]]));
	return 0;
}

static int place_in_space(struct runs *r, struct fab_err *err)
{
	const struct kfat_lines *l = r->l;

	r->parent = FAB_NEW(r->k->n_lines + 1, uint32_t);
	for (uint32_t i = 0; i < r->k->n_lines; i++)
		r->parent[i] = i;
	list_crossings(r);
	for (uint32_t a = 0; a < r->k->n_leaves; a++)
		for (uint32_t i = l->first[a]; i < l->first[a + 1]; i++)
			for (uint32_t j = l->first[a]; j < i; j++)
				close_rectangles(r, a, l->at[i], l->at[j]);
	list_runs(r);
	return name_runs(r, err);
}

int fab_kfat_find_runs(struct fab_kfat *k, const struct kfat_lines *l,
		       struct fab_err *err)
{
	struct runs r = {.k = k, .l = l};
	int rc;

	k->line_dim = FAB_NEW(k->n_lines + 1, uint8_t);
	memset(k->line_dim, UNKNOWN, k->n_lines);
	list_members(&r);
	rc = k->n_dims == 2 ? colour(&r, err) : place_in_space(&r, err);
	free(r.first);
	free(r.member);
	free(r.parent);
	free(r.head);
	free(r.next);
	fab_map64_free(r.cross);
	return rc;
}
