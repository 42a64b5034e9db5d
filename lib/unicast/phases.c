/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/phases_impl.h"

#include "unicast/faults.h"
#include <stdlib.h>
#include <string.h>

/* Reached, but not yet part of a level. */
static const uint32_t NEW_LEVEL = FAB_NONE - 1;

struct fab_phase_space *fab_phase_space_new(const struct fab_phases *ph)
{
	struct fab_phase_space *s = FAB_NEW(1, struct fab_phase_space);
	uint32_t n = ph->k->f->n_switches + 1;

	s->level = FAB_NEW(n, uint32_t);
	s->order = FAB_NEW(n, uint32_t);
	s->phase = FAB_NEW(n, int16_t);
	s->is_down = FAB_NEW0(n, uint8_t);
	s->usable = FAB_NEW((size_t)UINT16_MAX + 1, uint16_t);
	s->mark = FAB_NEW0(n, uint32_t);
	s->after = FAB_NEW(n, uint32_t);
	s->moved = FAB_NEW(n, uint32_t);
	s->next = FAB_NEW(n, uint16_t);
	s->stamp = 0;
	s->has_chosen = false;
	return s;
}

void fab_phase_space_free(struct fab_phase_space *s)
{
	free(s->level);
	free(s->order);
	free(s->phase);
	free(s->is_down);
	free(s->usable);
	free(s->mark);
	free(s->after);
	free(s->moved);
	free(s->next);
	free(s);
}

/* What sw would be worth if it went on over its arc to u. */
struct offer {
	int phase;
	uint32_t score; /* the larger the better among equal phases */
	bool is_down;
};

static uint32_t shuffle(uint32_t to, uint32_t by, uint32_t salt)
{
	uint32_t h = (to + 1) * 0x9e3779b1u ^ (by + salt) * 0x85ebca6bu;

	return (h ^ h >> 15) * 0x2c1b3c6du >> 8;
}

static struct offer offer_to_line(const struct fab_phases *ph,
				  const struct fab_phase_space *s, uint32_t to,
				  uint32_t sw, uint32_t u)
{
	const struct fab_kfat *k = ph->k;
	uint32_t line = k->switch_line[sw];
	struct offer o = {
		.phase = -1, .score = shuffle(to, u, ph->salt), .is_down = true};

	if (line == FAB_NONE)
		return o;
	if (k->leaf_of[u] != FAB_NONE) {
		unsigned d = k->line_dim[line];
		size_t at = (size_t)k->leaf_of[u] * k->n_dims + d;

		if (s->phase[u] >= 0)
			o.phase = fab_phase_below(s->phase[u], d, k->n_dims);
		if (ph->concentrate)
			o.score = ph->soundness[at];
		o.score |= (uint32_t)ph->n_whole[at] << 24;
		return o;
	}
	o.is_down = ph->has_leaf[u] && !ph->has_leaf[sw];
	if (ph->has_leaf[u] == ph->has_leaf[sw] || (o.is_down && !s->is_down[u]))
		return o;
	o.phase = s->phase[u];
	return o;
}

static struct offer offer_to_leaf(const struct fab_phases *ph,
				  const struct fab_phase_space *s, uint32_t to,
				  uint32_t u)
{
	const struct fab_kfat *k = ph->k;
	struct offer o = {.phase = s->phase[u], .score = shuffle(to, u, ph->salt)};

	if (k->switch_line[u] == FAB_NONE)
		o.phase = -1;
	return o;
}

static bool is_better(const struct fab_phases *ph, const struct offer *a,
		      const struct offer *b, bool is_leaf)
{
	bool in_detour = is_leaf && ph->rows_first && ph->n_rounds == 2 &&
			 a->phase >= 0 && a->phase < 2 && b->phase >= 0 && b->phase < 2;

	if (in_detour && (a->phase == 0) != (b->phase == 0))
		return a->phase == 0;
	if (a->phase != b->phase)
		return a->phase > b->phase;
	return a->score > b->score;
}

/* Would other settings of the phases choose otherwise between the two? */
static bool is_choice(const struct fab_phases *ph, const struct offer *a,
		      const struct offer *b)
{
	return a->phase == b->phase || (ph->plain && a->phase < 2 && b->phase < 2);
}

bool fab_phases_adopt(const struct fab_phases *ph, struct fab_phase_space *s, uint32_t to,
		      uint32_t sw, uint32_t level, uint16_t *next)
{
	const struct fab_fabric *f = ph->k->f;
	bool is_leaf = ph->k->leaf_of[sw] != FAB_NONE, has_any = false;
	struct offer best = {.phase = -1};

	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		uint32_t u = f->arc_peer[a];
		struct offer o;

		if (s->level[u] != level || !fab_arc_is_live(ph->faults, a))
			continue;
		o = is_leaf ? offer_to_leaf(ph, s, to, u)
			    : offer_to_line(ph, s, to, sw, u);
		s->has_chosen = s->has_chosen || (has_any && is_choice(ph, &o, &best));
		if (has_any && !is_better(ph, &o, &best, is_leaf))
			continue;
		has_any = true;
		best = o;
		*next = (uint16_t)(a - f->arc_first[sw]);
	}
	s->phase[sw] = (int16_t)best.phase;
	s->is_down[sw] = best.is_down;
	return best.phase >= 0;
}

/* The arcs of a leaf to switches of one line that are as good as this one. */
static uint32_t find_usable(const struct fab_phases *ph, struct fab_phase_space *s,
			    uint32_t sw, uint32_t level, uint16_t arc)
{
	const struct fab_fabric *f = ph->k->f;
	uint32_t first = f->arc_first[sw], like = f->arc_peer[first + arc], n = 0;

	for (uint32_t a = first; a < f->arc_first[sw + 1]; a++) {
		uint32_t u = f->arc_peer[a];

		if (s->level[u] == level && fab_arc_is_live(ph->faults, a) &&
		    ph->k->switch_line[u] == ph->k->switch_line[like] &&
		    s->phase[u] == s->phase[like])
			s->usable[n++] = (uint16_t)(a - first);
	}
	return n;
}

/* A switch goes on by this arc, over a switch of the level, and so with alternatives. */
static void take(const struct fab_phases *ph, struct fab_phase_space *s, uint32_t to,
		 uint32_t sw, uint32_t level, uint16_t arc,
		 const struct fab_phase_rows *rows)
{
	const struct fab_alternatives *al = ph->alternatives;
	const struct fab_kfat *k = ph->k;
	uint32_t leaf = k->leaf_of[sw], u = k->f->arc_peer[k->f->arc_first[sw] + arc];
	uint32_t dest = k->leaf_of[to], line = k->switch_line[u], n = 0;

	rows->next[sw] = arc;
	if (!fab_alternatives_has(al, dest))
		return;
	if (leaf != FAB_NONE && line != FAB_NONE)
		n = find_usable(ph, s, sw, level, arc);
	for (uint32_t i = 0; i < rows->n; i++) {
		uint32_t number = fab_alternatives_number(al, dest, rows->first + i);
		uint16_t *next = rows->next + (size_t)i * k->f->n_switches;

		next[sw] = arc;
		if (n)
			next[sw] = fab_alternatives_up(al, leaf, k->line_dim[line],
						       number, s->usable, n);
		else if (k->switch_line[sw] != FAB_NONE && k->leaf_of[u] != FAB_NONE)
			next[sw] =
				fab_alternatives_down(al, sw, k->leaf_of[u], number, arc);
	}
}

static void start(const struct fab_phases *ph, struct fab_phase_space *s, uint32_t to,
		  const struct fab_phase_rows *rows)
{
	size_t n = ph->k->f->n_switches;

	memset(rows->next, 0xff, rows->n * n * sizeof(*rows->next));
	for (uint32_t i = 0; i < rows->n; i++)
		rows->next[i * n + to] = FAB_ARC_HERE;
	s->phase[to] = (int16_t)(ph->n_rounds * ph->k->n_dims);
	s->is_down[to] = true;
}

static void shortest(const struct fab_phases *ph, struct fab_phase_space *s, uint32_t to,
		     const struct fab_phase_rows *rows)
{
	uint32_t n = fab_faults_search(ph->k->f, ph->faults, to, s->level, s->order);

	start(ph, s, to, rows);
	for (uint32_t i = 1; i < n; i++) {
		uint32_t sw = s->order[i], level = s->level[sw] - 1;
		uint16_t arc = FAB_ARC_NONE;

		fab_phases_adopt(ph, s, to, sw, level, &arc);
		take(ph, s, to, sw, level, arc, rows);
	}
}

/*
 * Grow from the switches order[from .. to) of a level: their neighbours that are not
 * reached yet and, but for the last resort, keep the phase order. Returns the new end.
 */
static uint32_t grow(const struct fab_phases *ph, struct fab_phase_space *s,
		     uint32_t dest, uint32_t from, uint32_t to, bool any,
		     const struct fab_phase_rows *rows)
{
	const struct fab_fabric *f = ph->k->f;
	uint32_t tail = to;

	for (uint32_t i = from; i < to; i++) {
		uint32_t u = s->order[i], level = s->level[u];

		for (uint32_t a = f->arc_first[u]; a < f->arc_first[u + 1]; a++) {
			uint32_t v = f->arc_peer[a];
			uint16_t by = FAB_ARC_NONE;

			if (s->level[v] != FAB_NONE || !fab_arc_is_live(ph->faults, a) ||
			    (!fab_phases_adopt(ph, s, dest, v, level, &by) && !any))
				continue;
			take(ph, s, dest, v, level, by, rows);
			s->level[v] = NEW_LEVEL;
			s->order[tail++] = v;
		}
	}
	return tail;
}

static void set_level(struct fab_phase_space *s, uint32_t from, uint32_t to,
		      uint32_t level)
{
	for (uint32_t i = from; i < to; i++)
		s->level[s->order[i]] = level;
}

/* In phase order first; what that does not reach joins level by level behind it. */
static void phased(const struct fab_phases *ph, struct fab_phase_space *s, uint32_t to,
		   const struct fab_phase_rows *rows)
{
	uint32_t from = 0, end = 1, all = 1, level = 0;

	memset(s->level, 0xff, ph->k->f->n_switches * sizeof(*s->level));
	start(ph, s, to, rows);
	s->order[0] = to;
	set_level(s, 0, 1, 0);
	while (from < end) {
		all = grow(ph, s, to, from, end, false, rows);
		set_level(s, end, all, ++level);
		from = end;
		end = all;
	}
	/* the last resort: all that is reached counts as one level */
	for (from = 0; from < all;) {
		uint32_t reached = all;

		set_level(s, 0, all, ++level);
		all = grow(ph, s, to, from, all, true, rows);
		from = reached;
	}
}

static bool classify(const struct fab_phases *ph, const struct fab_phase_space *s,
		     const uint16_t *next, uint8_t *path)
{
	const struct fab_kfat *k = ph->k;
	int last_round = (int)((ph->n_rounds - 1) * k->n_dims);
	bool all_plain = true;

	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		uint32_t sw = k->leaf[leaf];

		path[leaf] =
			(uint8_t)fab_phases_path_kind(next[sw], s->phase[sw], last_round);
		all_plain = all_plain &&
			    (path[leaf] == FAB_PATH_PLAIN || path[leaf] == FAB_PATH_NONE);
	}
	return all_plain;
}

bool fab_phases_column(const struct fab_phases *ph, struct fab_phase_space *s,
		       uint32_t leaf, bool longer, const struct fab_phase_rows *rows,
		       uint8_t *path)
{
	uint32_t to = ph->k->leaf[leaf];
	bool is_plain;

	s->has_chosen = false;
	if (fab_phases_sound_column(ph, leaf, rows->next))
		return true;
	if (!longer && fab_whole_column(ph, s, leaf, rows->next, path, &is_plain))
		return is_plain;
	if (longer)
		phased(ph, s, to, rows);
	else
		shortest(ph, s, to, rows);
	return classify(ph, s, rows->next, path);
}

bool fab_phases_has_chosen(const struct fab_phase_space *space)
{
	return space->has_chosen;
}
