/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of a kfat that was whole: without faults a path goes along the dimensions in
 * ascending order, each of its switches knows its level and phase from coordinates, and
 * each leaf switch has one best hop. A dead cable changes what led over it: that switch
 * looks for another hop on its level, and where there is none it moves to a later level;
 * where its phase or level is another now, those whose best hop it was look again. All
 * others keep theirs: what dies takes choices away, never adds one on their level.
 */
#include "unicast/phases_impl.h"

#include "unicast/faults.h"

#include <stdlib.h>
#include <string.h>

enum { MUCH = 4 }; /* as many dead cables as a 4th of the switches */

struct cut {
	uint32_t leaf, root;
	uint16_t up, down; /* arc of the leaf, of the root */
};

struct fab_whole {
	uint32_t n_dims, width; /* largest of dims */
	uint16_t *coord;	/* [n_dims * n_switches] */
	uint16_t *up;		/* [n_dims * n_switches] arc of a leaf to its line */
	uint16_t *down;		/* [n_lines * width] arc of a line's root by coordinate */
	uint32_t *root;		/* [n_lines] */
	uint16_t *root_coord;	/* [n_lines * n_dims] its own dimension: of no leaf */
	uint8_t *path;		/* [n_leaves] without faults near: plain or dead */
	FAB_VEC(struct cut) cuts;
	FAB_VEC(uint32_t) dead;
};

/* One root switch a line, each leaf joined once to the line of each dimension. */
static bool is_regular(const struct fab_kfat *k)
{
	const struct fab_fabric *f = k->f;

	if (!fab_kfat_is_whole(k) || k->n_planes != 1 || k->has_deep_lines ||
	    f->n_switches != k->n_leaves + k->n_lines)
		return false;
	for (uint32_t i = 0; i < k->n_leaves; i++) {
		uint32_t sw = k->leaf[i];

		if (f->arc_first[sw + 1] - f->arc_first[sw] != k->n_dims)
			return false;
	}
	return true;
}

static void place_leaf(struct fab_whole *w, const struct fab_phases *ph, uint32_t leaf)
{
	const struct fab_kfat *k = ph->k;
	const struct fab_fabric *f = k->f;
	const uint32_t *coord = k->coord + (size_t)leaf * k->n_dims;
	uint32_t sw = k->leaf[leaf];

	w->path[leaf] =
		fab_switch_is_live(ph->faults, sw) ? FAB_PATH_PLAIN : FAB_PATH_NONE;
	for (uint32_t d = 0; d < k->n_dims; d++)
		w->coord[(size_t)d * f->n_switches + sw] = (uint16_t)coord[d];
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		uint32_t line = k->switch_line[f->arc_peer[a]], d = k->line_dim[line];
		struct cut cut = {sw, f->arc_peer[a], (uint16_t)(a - f->arc_first[sw]),
				  f->arc_reverse[a]};

		w->up[(size_t)d * f->n_switches + sw] = cut.up;
		w->down[(size_t)line * w->width + coord[d]] = cut.down;
		w->root[line] = cut.root;
		for (uint32_t e = 0; e < k->n_dims; e++)
			w->root_coord[(size_t)line * k->n_dims + e] =
				e == d ? UINT16_MAX : (uint16_t)coord[e];
		if (!fab_arc_is_live(ph->faults, a))
			FAB_PUSH(&w->cuts, cut);
	}
}

struct fab_whole *fab_whole_new(const struct fab_phases *ph)
{
	const struct fab_kfat *k = ph->k;
	size_t n = k->f->n_switches;
	struct fab_whole *w;

	if (!is_regular(k))
		return NULL;
	w = FAB_NEW0(1, struct fab_whole);
	w->n_dims = k->n_dims;
	for (uint32_t d = 0; d < k->n_dims; d++)
		if (k->dims[d] > w->width)
			w->width = k->dims[d];
	w->coord = FAB_NEW0(n * k->n_dims + 1, uint16_t);
	w->up = FAB_NEW0(n * k->n_dims + 1, uint16_t);
	w->down = FAB_NEW0((size_t)k->n_lines * w->width + 1, uint16_t);
	w->root = FAB_NEW0(k->n_lines + 1, uint32_t);
	w->root_coord = FAB_NEW0((size_t)k->n_lines * k->n_dims + 1, uint16_t);
	w->path = FAB_NEW(k->n_leaves + 1, uint8_t);
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++)
		place_leaf(w, ph, leaf);
	for (uint32_t sw = 0; sw < n; sw++)
		if (!fab_switch_is_live(ph->faults, sw))
			FAB_PUSH(&w->dead, sw);
	return w;
}

void fab_whole_free(struct fab_whole *w)
{
	if (!w)
		return;
	free(w->coord);
	free(w->up);
	free(w->down);
	free(w->root);
	free(w->root_coord);
	free(w->path);
	free(w->cuts.v);
	free(w->dead.v);
	free(w);
}

/* Leaves that differ from the destination in a dimension: one of its lines more. */
FAB_WIDE static void differ(const uint16_t *restrict coord, const uint16_t *restrict up,
			    uint32_t n, uint16_t to, int16_t phase_of_dim,
			    uint32_t *restrict level, int16_t *restrict phase,
			    uint16_t *restrict next)
{
	for (uint32_t i = 0; i < n; i++) {
		bool is_other = coord[i] != to;

		level[i] += is_other ? 2 : 0;
		phase[i] = is_other ? phase_of_dim : phase[i];
		next[i] = is_other ? up[i] : next[i];
	}
}

/* Level, phase and hop of a line's root, of a path in ascending order of dimensions. */
static void place_root(const struct fab_phases *ph, struct fab_phase_space *s,
		       const uint32_t *to, uint32_t line, uint16_t *next)
{
	const struct fab_whole *w = ph->whole;
	const uint16_t *coord = w->root_coord + (size_t)line * w->n_dims;
	uint32_t d = ph->k->line_dim[line], sw = w->root[line], level = 1;
	int last = (int)((ph->n_rounds - 1) * w->n_dims), phi = last + (int)w->n_dims;

	for (uint32_t e = w->n_dims; e-- > 0;)
		if (e != d && coord[e] != to[e]) {
			level += 2;
			phi = last + (int)e;
		}
	s->level[sw] = level;
	s->phase[sw] = (int16_t)fab_phase_below(phi, d, w->n_dims);
	next[sw] = w->down[(size_t)line * w->width + to[d]];
}

/* As if nothing were dead. */
static void place_all(const struct fab_phases *ph, struct fab_phase_space *s,
		      uint32_t leaf, uint16_t *next)
{
	const struct fab_whole *w = ph->whole;
	const struct fab_kfat *k = ph->k;
	uint32_t n = k->f->n_switches, sw = k->leaf[leaf];
	const uint32_t *to = k->coord + (size_t)leaf * k->n_dims;
	int last = (int)((ph->n_rounds - 1) * w->n_dims);

	memset(s->level, 0, n * sizeof(*s->level));
	for (uint32_t d = w->n_dims; d-- > 0;)
		differ(w->coord + (size_t)d * n, w->up + (size_t)d * n, n,
		       (uint16_t)to[d], (int16_t)(last + (int)d), s->level, s->phase,
		       next);
	for (uint32_t line = 0; line < k->n_lines; line++)
		place_root(ph, s, to, line, next);
	s->phase[sw] = (int16_t)(last + (int)w->n_dims);
	s->is_down[sw] = true;
	next[sw] = FAB_ARC_HERE;
}

/* What has to look for another hop, by level. */
struct search {
	const struct fab_phases *ph;
	struct fab_phase_space *s;
	uint32_t to;
	uint16_t *next;
	uint32_t *look; /* [n_look] of s->order, from its begin */
	uint32_t n_look;
	uint32_t first[2 * FAB_KFAT_DIMS_MAX + 2]; /* by level, FAB_NONE */
	uint32_t *after;			   /* [n_switches] of the same level */
	uint32_t n_moved, *moved;		   /* to a later level */
};

static void look_again(struct search *x, uint32_t sw)
{
	uint32_t level = x->s->level[sw];

	if (x->s->mark[sw] == x->s->stamp || level == FAB_NONE)
		return;
	x->s->mark[sw] = x->s->stamp;
	x->after[sw] = x->first[level];
	x->first[level] = sw;
	x->look[x->n_look++] = sw;
}

/* Those whose hop leads to a switch of that level. */
static void look_behind(struct search *x, uint32_t sw, uint32_t level)
{
	const struct fab_fabric *f = x->ph->k->f;

	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		uint32_t u = f->arc_peer[a];

		if (x->s->level[u] == level + 1 && x->next[u] == f->arc_reverse[a])
			look_again(x, u);
	}
}

/* Another hop on the same level, else it is moved. */
static void look_for(struct search *x, uint32_t sw, uint32_t level)
{
	int16_t phase = x->s->phase[sw];

	x->next[sw] = FAB_ARC_NONE;
	fab_phases_adopt(x->ph, x->s, x->to, sw, level - 1, &x->next[sw]);
	if (x->next[sw] == FAB_ARC_NONE) {
		x->s->level[sw] = FAB_NONE;
		x->moved[x->n_moved++] = sw;
	} else if (x->s->phase[sw] == phase) {
		return;
	}
	look_behind(x, sw, level);
}

/* New levels of what was moved, the nearest first. */
static void settle(struct search *x)
{
	uint32_t last = 2 * x->ph->whole->n_dims;

	for (uint32_t level = 2; x->n_moved && level <= last + 1; level++)
		for (uint32_t i = 0; i < x->n_moved;) {
			uint32_t sw = x->moved[i];

			fab_phases_adopt(x->ph, x->s, x->to, sw, level - 1, &x->next[sw]);
			if (x->next[sw] == FAB_ARC_NONE) {
				i++;
				continue;
			}
			x->s->level[sw] = level;
			if (level > last)
				last = level;
			x->moved[i] = x->moved[--x->n_moved];
		}
}

static void kill_dead(struct search *x)
{
	const struct fab_whole *w = x->ph->whole;

	for (size_t i = 0; i < w->dead.n; i++) {
		x->s->level[w->dead.v[i]] = FAB_NONE;
		x->next[w->dead.v[i]] = FAB_ARC_NONE;
	}
	for (size_t i = 0; i < w->cuts.n; i++) {
		const struct cut *c = &w->cuts.v[i];

		if (x->next[c->leaf] == c->up)
			look_again(x, c->leaf);
		if (x->next[c->root] == c->down)
			look_again(x, c->root);
	}
}

/* How the leaves that looked again stand; true: all are plain or cut off. */
static bool classify(const struct search *x, uint8_t *path)
{
	const struct fab_kfat *k = x->ph->k;
	int last_round = (int)((x->ph->n_rounds - 1) * k->n_dims);
	bool is_plain = true;

	memcpy(path, x->ph->whole->path, k->n_leaves);
	for (uint32_t i = 0; i < x->n_look; i++) {
		uint32_t sw = x->look[i], leaf = k->leaf_of[sw];

		if (leaf == FAB_NONE)
			continue;
		path[leaf] = (uint8_t)fab_phases_path_kind(x->next[sw], x->s->phase[sw],
							   last_round);
		is_plain = is_plain &&
			   (path[leaf] == FAB_PATH_PLAIN || path[leaf] == FAB_PATH_NONE);
	}
	return is_plain;
}

bool fab_whole_column(const struct fab_phases *ph, struct fab_phase_space *s,
		      uint32_t leaf, uint16_t *next, uint8_t *path, bool *is_plain)
{
	const struct fab_whole *w = ph->whole;
	uint32_t n = ph->k->f->n_switches;
	struct search x = {.ph = ph, .s = s, .to = ph->k->leaf[leaf], .next = next};

	if (!w || w->cuts.n > n / MUCH)
		return false;
	x.look = s->order;
	x.after = s->after;
	x.moved = s->moved;
	memset(x.first, 0xff, sizeof(x.first));
	s->stamp++;
	place_all(ph, s, leaf, next);
	kill_dead(&x);
	for (uint32_t level = 1; level <= 2 * w->n_dims; level++)
		for (uint32_t sw = x.first[level]; sw != FAB_NONE; sw = x.after[sw])
			look_for(&x, sw, level);
	settle(&x);
	*is_plain = classify(&x, path);
	return true;
}

/* An arc of a leaf into the line, by a coordinate along it; FAB_NONE: dead. */
static uint32_t arc_into(const struct fab_phases *ph, uint32_t line, uint32_t coord)
{
	const struct fab_fabric *f = ph->k->f;
	const struct fab_whole *w = ph->whole;
	uint32_t down =
		f->arc_first[w->root[line]] + w->down[(size_t)line * w->width + coord];

	if (!fab_arc_is_live(ph->faults, down))
		return FAB_NONE;
	return f->arc_first[f->arc_peer[down]] + f->arc_reverse[down];
}

static uint32_t n_joined(const struct fab_phases *ph, uint32_t line)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < ph->k->dims[ph->k->line_dim[line]]; c++)
		n += arc_into(ph, line, c) != FAB_NONE;
	return n;
}

/* Packets that leave a line by an arc go on to the lines of later dimensions. */
static void go_on(const struct fab_phases *ph, uint32_t down, uint32_t d,
		  const uint32_t *joined, bool (*take)(void *, uint32_t, uint32_t),
		  void *context)
{
	const struct fab_kfat *k = ph->k;
	const struct fab_whole *w = ph->whole;
	uint32_t sw = k->f->arc_peer[down], leaf = k->leaf_of[sw];

	for (uint32_t e = d + 1; e < k->n_dims; e++) {
		uint32_t up =
			k->f->arc_first[sw] + w->up[(size_t)e * k->f->n_switches + sw];
		uint32_t line = k->line_of[(size_t)leaf * k->n_dims + e];

		if (fab_arc_is_live(ph->faults, up) && joined[line] > 1)
			take(context, down, up);
	}
}

static void depend_in_line(const struct fab_phases *ph, uint32_t line,
			   const uint32_t *joined,
			   bool (*take)(void *, uint32_t, uint32_t), void *context)
{
	const struct fab_kfat *k = ph->k;
	const struct fab_whole *w = ph->whole;
	uint32_t d = k->line_dim[line];

	for (uint32_t to = 0; to < k->dims[d] && joined[line] > 1; to++) {
		uint32_t down = k->f->arc_first[w->root[line]] +
				w->down[(size_t)line * w->width + to];

		if (!fab_arc_is_live(ph->faults, down))
			continue;
		for (uint32_t from = 0; from < k->dims[d]; from++) {
			uint32_t up = arc_into(ph, line, from);

			if (from != to && up != FAB_NONE)
				take(context, up, down);
		}
		go_on(ph, down, d, joined, take, context);
	}
}

void fab_whole_dependencies(const struct fab_phases *ph,
			    bool (*take)(void *context, uint32_t from, uint32_t to),
			    void *context)
{
	uint32_t n = ph->k->n_lines, *joined = FAB_NEW(n + 1, uint32_t);

	for (uint32_t line = 0; line < n; line++)
		joined[line] = n_joined(ph, line);
	for (uint32_t line = 0; line < n; line++)
		depend_in_line(ph, line, joined, take, context);
	free(joined);
}

uint32_t fab_whole_changed(const struct fab_phases *ph, struct fab_phase_space *s,
			   uint32_t leaf, const uint16_t *next, uint32_t *changed)
{
	uint32_t n = 0;

	place_all(ph, s, leaf, s->next);
	for (uint32_t sw = 0; sw < ph->k->f->n_switches; sw++)
		if (next[sw] != s->next[sw] && fab_switch_is_live(ph->faults, sw))
			changed[n++] = sw;
	return n;
}
