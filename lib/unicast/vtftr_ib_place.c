/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Few service levels: path by path the lowest with a word of lanes that closes no cycle.
 * Short paths, which have no choice, come first; then column by column the others, and a
 * column that needs another level is tried with other tables first.
 */
#include "unicast/vtftr_ib_lanes.h"

#include <stdlib.h>
#include <string.h>

/* Paths of two segments have one order of dimensions that is sound. */
enum { SHORT_LEGS = 2, CHOICES = 24, HOPS_ONE_BY_ONE = 8 };

struct place {
	struct vtftr_ib_lanes *l;
	struct fab_phases *phases, base; /* as the tables were grown */
	struct fab_phase_space *space;
	enum vtftr_ib_first first;
};

/* What can be taken back. */
struct mark {
	size_t n_fixed;
	uint8_t n_sls, n_vls;
};

static struct mark set_mark(struct vtftr_ib_lanes *l)
{
	vtftr_ib_keep_paths(l);
	return (struct mark){.n_fixed = fab_sl_packer_mark(l->packer),
			     .n_sls = l->v->routes->n_sls,
			     .n_vls = l->v->routes->n_vls};
}

static void go_back(struct vtftr_ib_lanes *l, struct mark mark)
{
	fab_sl_packer_back(l->packer, mark.n_fixed);
	vtftr_ib_drop_paths(l);
	l->v->routes->n_sls = mark.n_sls;
	l->v->routes->n_vls = mark.n_vls;
}

/* The path at hand with its lanes in that service level, if both allow it. */
static bool try_lanes(struct vtftr_ib_lanes *l, unsigned sl)
{
	if (!fab_sl_packer_fits(l->packer, l->hops, l->lane, l->n_hops, sl) ||
	    !vtftr_ib_add_path(l))
		return false;
	fab_sl_packer_add(l->packer, l->hops, l->lane, l->n_hops, sl);
	return true;
}

/* Lanes that change within a segment, too. */
static bool try_hops(struct vtftr_ib_lanes *l, unsigned sl)
{
	if (l->n_hops > HOPS_ONE_BY_ONE)
		return false;
	for (unsigned word = 0; word < 1U << l->n_hops; word++) {
		for (uint32_t i = 0; i < l->n_hops; i++)
			l->lane[i] = word >> i & 1;
		if (try_lanes(l, sl))
			return true;
	}
	return false;
}

static bool try_ones(struct vtftr_ib_lanes *l, unsigned sl)
{
	memset(l->segment_lane, 1, l->n_segments);
	vtftr_ib_spread_lanes(l);
	return try_lanes(l, sl);
}

static bool try_phases(struct vtftr_ib_lanes *l, unsigned sl)
{
	vtftr_ib_lanes_of_phases(l);
	return try_lanes(l, sl);
}

static bool try_level(struct vtftr_ib_lanes *l, bool phases_first, unsigned sl)
{
	if ((phases_first && try_phases(l, sl)) || try_ones(l, sl))
		return true;
	memset(l->segment_lane, 0, l->n_segments);
	do {
		vtftr_ib_spread_lanes(l);
		if (try_lanes(l, sl))
			return true;
	} while (vtftr_ib_next_word(l));
	return try_hops(l, sl);
}

/* The lowest service level up to `last` for the path at hand. */
static unsigned find_level(struct vtftr_ib_lanes *l, bool phases_first, unsigned last)
{
	if (l->n_segments > VTFTR_IB_LEGS_MAX)
		return FAB_SL_NONE;
	for (unsigned sl = 1; sl <= last; sl++)
		if (try_level(l, phases_first, sl))
			return sl;
	return FAB_SL_NONE;
}

/* Place the paths of a column of so many segments at most. */
static bool place_paths(const struct place *p, uint32_t column, uint32_t max_segments,
			unsigned last)
{
	struct vtftr_ib_lanes *l = p->l;
	const struct vtftr_ib *v = l->v;
	const struct fab_routes *r = v->routes;

	for (uint32_t i = 0; i < v->others[column].n; i++) {
		uint32_t s = v->others[column].source[i];
		uint8_t path = v->others[column].kind[i];
		unsigned sl;

		if (!vtftr_ib_read_path(l, r->leaf[s], column) ||
		    l->n_segments > max_segments)
			continue;
		sl = find_level(
			l, p->first == VTFTR_IB_PHASES_FIRST && path == FAB_PATH_PHASED,
			last);
		if (sl == FAB_SL_NONE)
			return false;
		vtftr_ib_note_levels(l, s, column, sl);
	}
	return true;
}

/* Along few lines first, then spread; by rows and by columns in turn. */
static void choose(struct fab_phases *phases, uint32_t i)
{
	phases->rows_first = phases->plain && i % 2 == 0;
	phases->concentrate = i < 2;
	phases->salt = i / 2;
}

/* Another table; false: its plain paths close a cycle. */
static bool grow_column(struct place *p, uint32_t column)
{
	struct vtftr_ib *v = p->l->v;
	struct fab_routes *r = v->routes;
	uint32_t leaf = vtftr_ib_leaf(v, column);
	const struct fab_phase_rows rows = {.first = fab_routes_alternative(r, column),
					    .n = 1,
					    .next = r->next +
						    (size_t)column * r->f->n_switches};

	for (uint32_t s = 0; s < r->n_leaves; s++)
		r->sl[(size_t)s * r->n_columns + column] = 0;
	fab_phases_column(p->phases, p->space, leaf, v->is_longer[leaf], &rows,
			  v->path[column]);
	vtftr_ib_note_others(v, column);
	return vtftr_ib_add_plain(p->l, column);
}

static bool place_column(struct place *p, uint32_t column)
{
	struct vtftr_ib_lanes *l = p->l;
	struct mark mark = set_mark(l);
	unsigned most = vtftr_ib_levels(l->v) - 1;
	unsigned last = l->v->routes->n_sls > 1 ? l->v->routes->n_sls - 1U : 1;

	if (last > most)
		last = most;
	if (place_paths(p, column, UINT32_MAX, last))
		return true;
	for (uint32_t i = 0; i < CHOICES; i++) {
		go_back(l, mark);
		choose(p->phases, i);
		if (grow_column(p, column) && place_paths(p, column, UINT32_MAX, last))
			return true;
	}
	go_back(l, mark);
	*p->phases = p->base;
	return grow_column(p, column) && place_paths(p, column, UINT32_MAX, most);
}

static bool place_all(struct place *p)
{
	const struct vtftr_ib *v = p->l->v;
	uint32_t n = v->routes->n_columns;

	for (uint32_t i = 0; i < n; i++)
		if (!place_paths(p, i, SHORT_LEGS, vtftr_ib_levels(v) - 1))
			return false;
	for (uint32_t i = 0; i < n; i++)
		if (v->path[i] && !place_column(p, i))
			return false;
	return true;
}

int vtftr_ib_place(struct vtftr_ib *v, struct fab_phases *phases,
		   enum vtftr_ib_first first, bool *is_done, struct fab_err *err)
{
	struct place p = {.phases = phases, .base = *phases, .first = first};
	int rc = vtftr_ib_begin_lanes(v, phases->n_rounds, &p.l, err);

	if (rc)
		return rc;
	p.space = fab_phase_space_new(phases);
	vtftr_ib_begin_order(p.l, phases, false);
	*is_done = place_all(&p);
	*phases = p.base;
	fab_phase_space_free(p.space);
	vtftr_ib_end_lanes(p.l);
	return 0;
}
