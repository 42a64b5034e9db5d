/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of a kfat before any destination; and the common case: two dimensions,
 * one root switch a line, and a destination that every sound leaf reaches by row, then
 * column.
 */
#include "unicast/phases_impl.h"

#include <stdlib.h>
#include <string.h>

enum { SCORE_MAX = (1 << 24) - 1 };

struct fab_plain {
	uint32_t n_x, n_y;
	uint32_t *row, *column; /* root switch by y, by x; FAB_NONE: none */
	uint16_t *row_arc; /* [n_y * n_x] arc of a row's root to the leaf in column x */
	uint16_t
		*column_arc; /* [n_x * n_y] arc of a column's root to the leaf in row y */
	uint32_t *leaf_at;   /* [n_x * n_y] switch, FAB_NONE */
	uint16_t *to_row, *to_column; /* [n_switches] arc of a leaf, FAB_ARC_NONE */
	bool *is_sound;		      /* [n_x] every leaf can turn into the column */
};

static uint32_t x_of(const struct fab_kfat *k, uint32_t leaf)
{
	return k->coord[(size_t)leaf * 2];
}

static uint32_t y_of(const struct fab_kfat *k, uint32_t leaf)
{
	return k->coord[(size_t)leaf * 2 + 1];
}

/* Parts of a line that are missing or dead: leaves, and cables of its switches. */
static uint32_t *count_missing(const struct fab_phases *ph)
{
	const struct fab_kfat *k = ph->k;
	uint32_t *missing = FAB_NEW(k->n_lines + 1, uint32_t);

	for (uint32_t line = 0; line < k->n_lines; line++)
		missing[line] = k->dims[k->line_dim[line]];
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++)
		for (uint32_t d = 0; d < k->n_dims; d++) {
			uint32_t line = k->line_of[(size_t)leaf * k->n_dims + d];

			if (line != FAB_NONE &&
			    fab_switch_is_live(ph->faults, k->leaf[leaf]))
				missing[line]--;
		}
	for (uint32_t sw = 0; sw < k->f->n_switches; sw++)
		for (uint32_t a = k->f->arc_first[sw];
		     k->switch_line[sw] != FAB_NONE && a < k->f->arc_first[sw + 1]; a++)
			missing[k->switch_line[sw]] += !fab_arc_is_live(ph->faults, a);
	return missing;
}

/* Fewest missing parts first, then by number: that many lines stand behind a line. */
static uint32_t *rank_lines(const struct fab_kfat *k, const uint32_t *missing)
{
	uint32_t *behind = FAB_NEW(k->n_lines + 1, uint32_t), most = 0, *first;

	for (uint32_t line = 0; line < k->n_lines; line++)
		if (missing[line] > most)
			most = missing[line];
	first = FAB_NEW0((size_t)most + 2, uint32_t);
	for (uint32_t line = 0; line < k->n_lines; line++)
		first[missing[line] + 1]++;
	for (uint32_t m = 0; m <= most; m++)
		first[m + 1] += first[m];
	for (uint32_t line = 0; line < k->n_lines; line++)
		behind[line] = k->n_lines - 1 - first[missing[line]]++;
	free(first);
	return behind;
}

/* What speaks for a leaf on a detour: its lines in the other dimensions. */
static void rate_leaf(struct fab_phases *ph, uint32_t leaf, const uint32_t *missing,
		      const uint32_t *behind)
{
	const struct fab_kfat *k = ph->k;
	const uint32_t *line_of = k->line_of + (size_t)leaf * k->n_dims;

	for (uint32_t d = 0; d < k->n_dims; d++) {
		size_t at = (size_t)leaf * k->n_dims + d;
		uint64_t sum = 0;

		for (uint32_t e = 0; e < k->n_dims; e++) {
			if (e == d || line_of[e] == FAB_NONE)
				continue;
			ph->n_whole[at] += !missing[line_of[e]];
			sum += behind[line_of[e]];
		}
		ph->soundness[at] = sum < SCORE_MAX ? (uint32_t)sum : SCORE_MAX;
	}
}

static void rate_leaves(struct fab_phases *ph)
{
	const struct fab_kfat *k = ph->k;
	uint32_t *missing = count_missing(ph), *behind = rank_lines(k, missing);
	size_t n = (size_t)k->n_leaves * k->n_dims;

	ph->n_whole = FAB_NEW0(n + 1, uint8_t);
	ph->soundness = FAB_NEW0(n + 1, uint32_t);
	ph->has_leaf = FAB_NEW0(k->f->n_switches + 1, uint8_t);
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		uint32_t sw = k->leaf[leaf];

		rate_leaf(ph, leaf, missing, behind);
		for (uint32_t i = k->f->peer_first[sw]; i < k->f->peer_first[sw + 1]; i++)
			ph->has_leaf[k->f->peer[i]] = 1;
	}
	free(missing);
	free(behind);
}

/* One switch a line, one cable a leaf and line. */
static bool has_plain_lines(const struct fab_kfat *k)
{
	uint32_t *n = FAB_NEW0(k->n_lines + 1, uint32_t);
	bool is_plain =
		k->n_dims == 2 && k->n_planes == 1 && !k->has_deep_lines &&
		(uint64_t)k->dims[0] * k->dims[1] <= 4 * (uint64_t)k->n_leaves + 16;

	for (uint32_t sw = 0; sw < k->f->n_switches && is_plain; sw++)
		if (k->switch_line[sw] != FAB_NONE)
			is_plain = ++n[k->switch_line[sw]] == 1;
	for (uint32_t i = 0; i < k->n_leaves && is_plain; i++) {
		uint32_t sw = k->leaf[i];

		is_plain = k->f->arc_first[sw + 1] - k->f->arc_first[sw] ==
			   k->f->peer_first[sw + 1] - k->f->peer_first[sw];
	}
	free(n);
	return is_plain;
}

static void *filled(size_t n, size_t size)
{
	void *v = fab_alloc(n + 1, size);

	memset(v, 0xff, n * size);
	return v;
}

static struct fab_plain *new_plain(const struct fab_kfat *k)
{
	struct fab_plain *p = FAB_NEW0(1, struct fab_plain);
	size_t n = (size_t)k->dims[0] * k->dims[1];

	p->n_x = k->dims[0];
	p->n_y = k->dims[1];
	p->row = filled(p->n_y, sizeof(*p->row));
	p->column = filled(p->n_x, sizeof(*p->column));
	p->row_arc = filled(n, sizeof(*p->row_arc));
	p->column_arc = filled(n, sizeof(*p->column_arc));
	p->leaf_at = filled(n, sizeof(*p->leaf_at));
	p->to_row = filled(k->f->n_switches, sizeof(*p->to_row));
	p->to_column = filled(k->f->n_switches, sizeof(*p->to_column));
	p->is_sound = FAB_NEW0(p->n_x + 1, bool);
	return p;
}

static void free_plain(struct fab_plain *p)
{
	if (!p)
		return;
	free(p->row);
	free(p->column);
	free(p->row_arc);
	free(p->column_arc);
	free(p->leaf_at);
	free(p->to_row);
	free(p->to_column);
	free(p->is_sound);
	free(p);
}

/* The arcs between a sound leaf and its two roots. */
static void place_leaf(const struct fab_phases *ph, struct fab_plain *p, uint32_t leaf)
{
	const struct fab_fabric *f = ph->k->f;
	uint32_t sw = ph->k->leaf[leaf], x = x_of(ph->k, leaf), y = y_of(ph->k, leaf);

	p->leaf_at[(size_t)x * p->n_y + y] = sw;
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		uint32_t root = f->arc_peer[a], line = ph->k->switch_line[root];

		if (line == FAB_NONE || !fab_arc_is_live(ph->faults, a))
			continue;
		if (ph->k->line_dim[line] == 0) {
			p->row[y] = root;
			p->to_row[sw] = (uint16_t)(a - f->arc_first[sw]);
			p->row_arc[(size_t)y * p->n_x + x] = f->arc_reverse[a];
		} else {
			p->column[x] = root;
			p->to_column[sw] = (uint16_t)(a - f->arc_first[sw]);
			p->column_arc[(size_t)x * p->n_y + y] = f->arc_reverse[a];
		}
	}
}

/* Every row with a sound leaf can turn into column x, and the column is joined. */
static bool column_is_sound(const struct fab_plain *p, const bool *row_counts, uint32_t x)
{
	for (uint32_t y = 0; y < p->n_y; y++) {
		uint32_t sw = p->leaf_at[(size_t)x * p->n_y + y];

		if (!row_counts[y])
			continue;
		if (sw == FAB_NONE || p->to_column[sw] == FAB_ARC_NONE ||
		    p->row_arc[(size_t)y * p->n_x + x] == FAB_ARC_NONE)
			return false;
	}
	return true;
}

static struct fab_plain *make_plain(const struct fab_phases *ph)
{
	const struct fab_kfat *k = ph->k;
	struct fab_plain *p = new_plain(k);
	bool *row_counts = FAB_NEW0(p->n_y + 1, bool), all_enter = true;

	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		if (!fab_switch_is_live(ph->faults, k->leaf[leaf]))
			continue;
		place_leaf(ph, p, leaf);
		row_counts[y_of(k, leaf)] = true;
		all_enter = all_enter && p->to_row[k->leaf[leaf]] != FAB_ARC_NONE;
	}
	for (uint32_t x = 0; x < p->n_x; x++)
		p->is_sound[x] = all_enter && column_is_sound(p, row_counts, x);
	free(row_counts);
	return p;
}

/* The columns of other leaves serve their roots' own packets only. */
static uint16_t any_arc(const struct fab_plain *p, uint32_t x, uint32_t y)
{
	const uint16_t *arc = p->column_arc + (size_t)x * p->n_y;

	for (uint32_t i = 0; i < p->n_y; i++)
		if (arc[(y + i) % p->n_y] != FAB_ARC_NONE)
			return arc[(y + i) % p->n_y];
	return FAB_ARC_NONE;
}

bool fab_phases_sound_column(const struct fab_phases *ph, uint32_t leaf, uint16_t *next)
{
	const struct fab_plain *p = ph->plain;
	uint32_t xd, yd;

	if (!p)
		return false;
	xd = x_of(ph->k, leaf);
	yd = y_of(ph->k, leaf);
	if (!p->is_sound[xd])
		return false;
	memcpy(next, p->to_row, ph->k->f->n_switches * sizeof(*next));
	for (uint32_t y = 0; y < p->n_y; y++) {
		uint32_t sw = p->leaf_at[(size_t)xd * p->n_y + y];

		if (sw != FAB_NONE)
			next[sw] = p->to_column[sw];
		if (p->row[y] != FAB_NONE)
			next[p->row[y]] = p->row_arc[(size_t)y * p->n_x + xd];
	}
	for (uint32_t x = 0; x < p->n_x; x++)
		if (p->column[x] != FAB_NONE)
			next[p->column[x]] = any_arc(p, x, yd);
	next[ph->k->leaf[leaf]] = FAB_ARC_HERE;
	return true;
}

void fab_phases_init(struct fab_phases *ph, const struct fab_alternatives *alternatives,
		     unsigned n_rounds)
{
	*ph = (struct fab_phases){.k = alternatives->k,
				  .faults = alternatives->faults,
				  .alternatives = alternatives,
				  .n_rounds = n_rounds};
	rate_leaves(ph);
	if (has_plain_lines(ph->k)) {
		ph->plain = make_plain(ph);
		ph->rows_first = true;
	}
	ph->whole = fab_whole_new(ph);
}

void fab_phases_fini(struct fab_phases *ph)
{
	free(ph->n_whole);
	free(ph->soundness);
	free(ph->has_leaf);
	free_plain(ph->plain);
	fab_whole_free(ph->whole);
}
