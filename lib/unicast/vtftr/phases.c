/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In-trees of a kfat in phase order. A search from the destination goes through the
 * switches by distance; each takes the hop whose rest leaves the most phases before it.
 * The common case has a template: two dimensions, one root switch a line, and a
 * destination that every sound leaf reaches by row, then column.
 */
#include "unicast/vtftr/vtftr.h"

#include <string.h>

enum { SCORE_MAX = (1 << 24) - 1 };

/* Reached, but not yet part of a level. */
static const uint32_t NEW_LEVEL = FAB_NONE - 1;

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

/* Parts of a line that are missing or dead: leaves, and cables of its switches. */
static uint32_t *count_missing(struct fab_phases *ph)
{
	const struct fab_kfat *k = ph->k;
	uint32_t *missing = FAB_ARENA_NEW(&ph->arena, k->n_lines + 1, uint32_t);

	for (uint32_t line = 0; line < k->n_lines; line++)
		missing[line] = k->dims[k->line_dim[line]];
	for (uint32_t i = 0; i < k->n_leaves * k->n_dims; i++)
		if (k->line_of[i] != FAB_NONE &&
		    fab_switch_is_live(ph->faults, k->leaf[i / k->n_dims]))
			missing[k->line_of[i]]--;
	for (uint32_t sw = 0; sw < k->f->n_switches; sw++)
		for (uint32_t a = k->f->arc_first[sw];
		     k->switch_line[sw] != FAB_NONE && a < k->f->arc_first[sw + 1]; a++)
			missing[k->switch_line[sw]] += !fab_arc_is_live(ph->faults, a);
	return missing;
}

/* Fewest missing parts first, then by number: that many lines stand behind a line. */
static uint32_t *rank_lines(struct fab_phases *ph, const uint32_t *missing)
{
	uint32_t n = ph->k->n_lines, most = 0, *first;
	uint32_t *behind = FAB_ARENA_NEW(&ph->arena, n + 1, uint32_t);

	for (uint32_t line = 0; line < n; line++)
		if (missing[line] > most)
			most = missing[line];
	first = FAB_ARENA_NEW0(&ph->arena, (size_t)most + 2, uint32_t);
	for (uint32_t line = 0; line < n; line++)
		first[missing[line] + 1]++;
	for (uint32_t m = 0; m <= most; m++)
		first[m + 1] += first[m];
	for (uint32_t line = 0; line < n; line++)
		behind[line] = n - 1 - first[missing[line]]++;
	return behind;
}

/* One switch a line, one cable a leaf and line. */
static bool has_plain_lines(struct fab_phases *ph)
{
	const struct fab_kfat *k = ph->k;
	bool *is_met = FAB_ARENA_NEW0(&ph->arena, k->n_lines + 1, bool);

	if (k->n_dims != 2 || k->n_planes != 1 || k->has_deep_lines ||
	    (uint64_t)k->dims[0] * k->dims[1] > 4 * (uint64_t)k->n_leaves + 16)
		return false;
	for (uint32_t sw = 0; sw < k->f->n_switches; sw++) {
		uint32_t line = k->switch_line[sw];

		if (line != FAB_NONE && is_met[line])
			return false;
		if (line != FAB_NONE)
			is_met[line] = true;
		if (k->leaf_of[sw] != FAB_NONE &&
		    k->f->arc_first[sw + 1] - k->f->arc_first[sw] !=
			    k->f->peer_first[sw + 1] - k->f->peer_first[sw])
			return false;
	}
	return true;
}

static void *filled(struct fab_arena *arena, size_t n, size_t size)
{
	return memset(fab_arena_alloc(arena, n + 1, size), 0xff, n * size);
}

static struct fab_plain *make_plain(struct fab_phases *ph)
{
	const struct fab_kfat *k = ph->k;
	struct fab_arena *arena = &ph->arena;
	struct fab_plain *p = FAB_ARENA_NEW0(arena, 1, struct fab_plain);
	size_t n = (size_t)k->dims[0] * k->dims[1];
	bool *row_counts = FAB_ARENA_NEW0(arena, k->dims[1] + 1, bool), all_enter = true;

	p->n_x = k->dims[0];
	p->n_y = k->dims[1];
	p->row = filled(arena, p->n_y, sizeof(*p->row));
	p->column = filled(arena, p->n_x, sizeof(*p->column));
	p->row_arc = filled(arena, n, sizeof(*p->row_arc));
	p->column_arc = filled(arena, n, sizeof(*p->column_arc));
	p->leaf_at = filled(arena, n, sizeof(*p->leaf_at));
	p->to_row = filled(arena, k->f->n_switches, sizeof(*p->to_row));
	p->to_column = filled(arena, k->f->n_switches, sizeof(*p->to_column));
	p->is_sound = FAB_ARENA_NEW0(arena, p->n_x + 1, bool);
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		const struct fab_fabric *f = k->f;
		uint32_t i = k->leaf[leaf], m = k->coord[(size_t)leaf * 2];
		uint32_t e = k->coord[(size_t)leaf * 2 + 1];

		if (!fab_switch_is_live(ph->faults, i))
			continue;
		/* The arcs between a sound leaf and its two roots. */
		p->leaf_at[(size_t)m * p->n_y + e] = i;
		FAB_EACH_ARC(f, i, a) {
			uint32_t root = f->arc_peer[a], line = k->switch_line[root];

			if (line == FAB_NONE || !fab_arc_is_live(ph->faults, a))
				continue;
			if (k->line_dim[line] == 0) {
				p->row[e] = root;
				p->to_row[i] = (uint16_t)(a - f->arc_first[i]);
				p->row_arc[(size_t)e * p->n_x + m] = f->arc_reverse[a];
			} else {
				p->column[m] = root;
				p->to_column[i] = (uint16_t)(a - f->arc_first[i]);
				p->column_arc[(size_t)m * p->n_y + e] = f->arc_reverse[a];
			}
		}
		row_counts[e] = true;
		all_enter = all_enter && p->to_row[i] != FAB_ARC_NONE;
	}
	/* every row with a sound leaf can turn into column x, and the column is joined */
	for (uint32_t x = 0; x < p->n_x; x++) {
		p->is_sound[x] = all_enter;
		for (uint32_t y = 0; y < p->n_y && p->is_sound[x]; y++) {
			uint32_t sw = p->leaf_at[(size_t)x * p->n_y + y];

			p->is_sound[x] =
				!row_counts[y] ||
				(sw != FAB_NONE && p->to_column[sw] != FAB_ARC_NONE &&
				 p->row_arc[(size_t)y * p->n_x + x] != FAB_ARC_NONE);
		}
	}
	return p;
}

void fab_phases_init(struct fab_phases *ph, const struct fab_alternatives *alternatives,
		     unsigned n_rounds)
{
	const struct fab_kfat *k = alternatives->k;
	uint32_t *missing, *behind;
	size_t n;

	*ph = (struct fab_phases){.k = k,
				  .faults = alternatives->faults,
				  .alternatives = alternatives,
				  .n_rounds = n_rounds};
	/* Rate each leaf as part of a detour by its lines in the other dimensions. */
	missing = count_missing(ph);
	behind = rank_lines(ph, missing);
	n = (size_t)k->n_leaves * k->n_dims;
	ph->n_whole = FAB_ARENA_NEW0(&ph->arena, n + 1, uint8_t);
	ph->soundness = FAB_ARENA_NEW0(&ph->arena, n + 1, uint32_t);
	for (size_t at = 0; at < n; at++) {
		const uint32_t *line_of = k->line_of + at / k->n_dims * k->n_dims;
		uint64_t sum = 0;

		for (uint32_t e = 0; e < k->n_dims; e++) {
			if (e == at % k->n_dims || line_of[e] == FAB_NONE)
				continue;
			ph->n_whole[at] += !missing[line_of[e]];
			sum += behind[line_of[e]];
		}
		ph->soundness[at] = sum < SCORE_MAX ? (uint32_t)sum : SCORE_MAX;
	}
	ph->round = FAB_ARENA_NEW(&ph->arena, n_rounds * k->n_dims + 1, uint16_t);
	for (uint32_t p = 0; p <= n_rounds * k->n_dims; p++)
		ph->round[p] = (uint16_t)(p - p % k->n_dims);
	ph->has_leaf = fab_kfat_low_switches(k, &ph->arena);
	if (has_plain_lines(ph)) {
		ph->plain = make_plain(ph);
		ph->rows_first = true;
	}
}

void fab_phases_fini(struct fab_phases *ph)
{
	fab_arena_free(&ph->arena);
}

/* The template; false: the column of the destination is not sound. */
static bool sound_column(const struct fab_phases *ph, uint32_t leaf, uint16_t *next)
{
	const struct fab_plain *p = ph->plain;
	uint32_t xd, yd;

	if (!p)
		return false;
	xd = ph->k->coord[(size_t)leaf * 2];
	yd = ph->k->coord[(size_t)leaf * 2 + 1];
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
	/* the roots of other columns send their own packets only: by any arc */
	for (uint32_t x = 0; x < p->n_x; x++) {
		const uint16_t *arc = p->column_arc + (size_t)x * p->n_y;
		uint16_t any = FAB_ARC_NONE;

		for (uint32_t i = 0; i < p->n_y && any == FAB_ARC_NONE; i++)
			any = arc[(yd + i) % p->n_y];
		if (p->column[x] != FAB_NONE)
			next[p->column[x]] = any;
	}
	next[ph->k->leaf[leaf]] = FAB_ARC_HERE;
	return true;
}

struct fab_phase_space {
	uint32_t *level;  /* [n_switches] hops to the destination, FAB_NONE */
	uint32_t *order;  /* [n_switches] switches by level */
	int16_t *phase;	  /* [n_switches] leaf: phi; line: p; -1: against the order */
	uint8_t *is_down; /* [n_switches] the path goes down in the line from here */
	uint16_t *usable; /* [arcs of a switch] scratch */
	bool has_chosen;  /* among equals, for this destination */
	bool has_alternatives; /* of this destination */
};

struct fab_phase_space *fab_phase_space_new(const struct fab_phases *ph,
					    struct fab_arena *arena)
{
	struct fab_phase_space *s = FAB_ARENA_NEW0(arena, 1, struct fab_phase_space);
	uint32_t n = ph->k->f->n_switches + 1;

	s->level = FAB_ARENA_NEW(arena, n, uint32_t);
	s->order = FAB_ARENA_NEW(arena, n, uint32_t);
	s->phase = FAB_ARENA_NEW(arena, n, int16_t);
	s->is_down = FAB_ARENA_NEW0(arena, n, uint8_t);
	s->usable = FAB_ARENA_NEW(arena, (size_t)UINT16_MAX + 1, uint16_t);
	return s;
}

/* A hop that a switch could take. */
struct offer {
	int phase;
	uint32_t score; /* the larger the better among equal phases */
	bool is_down;
};

static inline struct offer offer_to_line(const struct fab_phases *ph,
					 const struct fab_phase_space *s, uint32_t sw,
					 uint32_t u, uint32_t score)
{
	const struct fab_kfat *k = ph->k;
	uint32_t line = k->switch_line[sw], leaf = k->leaf_of[u];
	struct offer o = {.phase = -1, .score = score, .is_down = true};

	if (line == FAB_NONE)
		return o;
	if (leaf != FAB_NONE) {
		unsigned d = k->line_dim[line];
		size_t at = (size_t)leaf * k->n_dims + d;
		int below = s->phase[u] - 1 - (int)d;

		/* the largest phase of dimension d below that of the leaf */
		if (below >= 0)
			o.phase = (int)d + ph->round[below];
		if (ph->concentrate)
			o.score = ph->soundness[at];
		o.score |= (uint32_t)ph->n_whole[at] << 24;
		return o;
	}
	o.is_down = ph->has_leaf[u] && !ph->has_leaf[sw];
	if (ph->has_leaf[u] != ph->has_leaf[sw] && (!o.is_down || s->is_down[u]))
		o.phase = s->phase[u];
	return o;
}

/* Best hop from a switch so far; arc FAB_ARC_NONE: none yet. */
struct hop {
	struct offer best;
	uint16_t arc;
};

/* Compare the hop by arc `a`, to a switch one level nearer to the destination `to`. */
static inline void consider(const struct fab_phases *ph, struct fab_phase_space *s,
			    uint32_t to, uint32_t sw, uint32_t a, struct hop *hop)
{
	const struct fab_kfat *k = ph->k;
	uint32_t u = k->f->arc_peer[a];
	uint32_t mix = (to + 1) * 0x9e3779b1u ^ (u + ph->salt) * 0x85ebca6bu;
	bool is_leaf = k->leaf_of[sw] != FAB_NONE, has_any = hop->arc != FAB_ARC_NONE;
	struct offer o = {.phase = -1, .score = (mix ^ mix >> 15) * 0x2c1b3c6du >> 8};

	if (!is_leaf)
		o = offer_to_line(ph, s, sw, u, o.score);
	else if (k->switch_line[u] != FAB_NONE)
		o.phase = s->phase[u];
	/* would other settings of the phases choose otherwise between the two? */
	if (has_any && (o.phase == hop->best.phase ||
			(ph->plain && o.phase < 2 && hop->best.phase < 2)))
		s->has_chosen = true;
	if (has_any && is_leaf && ph->rows_first && ph->n_rounds == 2 && o.phase >= 0 &&
	    o.phase < 2 && hop->best.phase >= 0 && hop->best.phase < 2 &&
	    !o.phase != !hop->best.phase) {
		if (o.phase)
			return;
	} else if (has_any && (o.phase != hop->best.phase ? o.phase < hop->best.phase
							  : o.score <= hop->best.score))
		return;
	/* member by member: the struct is copied by wide loads of what was just stored */
	hop->best.phase = o.phase;
	hop->best.score = o.score;
	hop->best.is_down = o.is_down;
	hop->arc = (uint16_t)(a - k->f->arc_first[sw]);
}

/* Alternatives of a switch that goes on by this arc, over a switch of the level. */
static void take_alternatives(const struct fab_phases *ph, struct fab_phase_space *s,
			      uint32_t to, uint32_t sw, uint32_t level, uint16_t arc,
			      const struct fab_phase_rows *rows)
{
	const struct fab_alternatives *al = ph->alternatives;
	const struct fab_kfat *k = ph->k;
	const struct fab_fabric *f = k->f;
	uint32_t first = f->arc_first[sw], u = f->arc_peer[first + arc];
	uint32_t leaf = k->leaf_of[sw], dest = k->leaf_of[to], line = k->switch_line[u];
	uint32_t n = 0;

	/* The arcs of a leaf to switches of the line that are as good as this one. */
	for (uint32_t a = first;
	     leaf != FAB_NONE && line != FAB_NONE && a < f->arc_first[sw + 1]; a++) {
		uint32_t v = f->arc_peer[a];

		if (s->level[v] == level && fab_arc_is_live(ph->faults, a) &&
		    k->switch_line[v] == line && s->phase[v] == s->phase[u])
			s->usable[n++] = (uint16_t)(a - first);
	}
	for (uint32_t i = 0; i < rows->n; i++) {
		uint32_t number = fab_alternatives_number(al, dest, rows->first + i);
		uint16_t *next = &rows->next[(size_t)i * f->n_switches + sw];

		*next = arc;
		if (n)
			*next = fab_alternatives_up(al, leaf, k->line_dim[line], number,
						    s->usable, n);
		else if (k->switch_line[sw] != FAB_NONE && k->leaf_of[u] != FAB_NONE)
			*next = fab_alternatives_down(al, sw, k->leaf_of[u], number, arc);
	}
}

/* The switch goes on by its best hop, over a switch of the level. */
static inline void adopt(const struct fab_phases *ph, struct fab_phase_space *s,
			 uint32_t to, uint32_t sw, uint32_t level, const struct hop *hop,
			 const struct fab_phase_rows *rows)
{
	s->phase[sw] = (int16_t)hop->best.phase;
	s->is_down[sw] = hop->best.is_down;
	rows->next[sw] = hop->arc;
	if (s->has_alternatives)
		take_alternatives(ph, s, to, sw, level, hop->arc, rows);
}

#define NO_HOP ((struct hop){.best = {.phase = -1}, .arc = FAB_ARC_NONE})

/* Breadth first; a switch chooses its hop when it is its turn. */
static void shortest(const struct fab_phases *ph, struct fab_phase_space *s, uint32_t to,
		     const struct fab_phase_rows *rows)
{
	const struct fab_fabric *f = ph->k->f;
	const uint32_t *first = f->arc_first, *peer = f->arc_peer;
	uint32_t *level_of = s->level, *order = s->order;
	uint32_t n = fab_switch_is_live(ph->faults, to);

	memset(level_of, 0xff, f->n_switches * sizeof(*level_of));
	order[0] = to;
	level_of[to] = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = order[i], level = level_of[sw], end = first[sw + 1];
		struct hop hop = NO_HOP;

		for (uint32_t a = first[sw]; a < end; a++) {
			uint32_t u = peer[a], of_u = level_of[u];

			if ((of_u != FAB_NONE && of_u + 1 != level) ||
			    !fab_arc_is_live(ph->faults, a))
				continue;
			if (of_u != FAB_NONE) {
				consider(ph, s, to, sw, a, &hop);
				continue;
			}
			level_of[u] = level + 1;
			order[n++] = u;
		}
		if (i)
			adopt(ph, s, to, sw, level - 1, &hop, rows);
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

		FAB_EACH_ARC(f, u, a) {
			uint32_t v = f->arc_peer[a];
			struct hop hop = NO_HOP;

			if (s->level[v] != FAB_NONE || !fab_arc_is_live(ph->faults, a))
				continue;
			FAB_EACH_ARC(f, v, b)
				if (s->level[f->arc_peer[b]] == level &&
				    fab_arc_is_live(ph->faults, b))
					consider(ph, s, dest, v, b, &hop);
			if (hop.best.phase < 0 && !any)
				continue;
			adopt(ph, s, dest, v, level, &hop, rows);
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

/* In phase order first; switches that this does not reach join level by level behind it.
 */
static void phased(const struct fab_phases *ph, struct fab_phase_space *s, uint32_t to,
		   const struct fab_phase_rows *rows)
{
	uint32_t from = 0, end = 1, all = 1, level = 0;

	memset(s->level, 0xff, ph->k->f->n_switches * sizeof(*s->level));
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

bool fab_phases_column(const struct fab_phases *ph, struct fab_phase_space *s,
		       uint32_t leaf, bool longer, const struct fab_phase_rows *rows,
		       uint8_t *path)
{
	const struct fab_kfat *k = ph->k;
	size_t n = k->f->n_switches;
	uint32_t to = k->leaf[leaf];
	int last_round = (int)((ph->n_rounds - 1) * k->n_dims);
	bool all_plain = true;

	s->has_chosen = false;
	s->has_alternatives = fab_alternatives_has(ph->alternatives, leaf);
	if (sound_column(ph, leaf, rows->next))
		return true;
	memset(rows->next, 0xff, rows->n * n * sizeof(*rows->next));
	for (uint32_t i = 0; i < rows->n; i++)
		rows->next[i * n + to] = FAB_ARC_HERE;
	s->phase[to] = (int16_t)(ph->n_rounds * k->n_dims);
	s->is_down[to] = true;
	if (longer)
		phased(ph, s, to, rows);
	else
		shortest(ph, s, to, rows);
	for (uint32_t i = 0; i < k->n_leaves; i++) {
		uint32_t sw = k->leaf[i];

		path[i] = rows->next[sw] == FAB_ARC_NONE ? FAB_PATH_NONE
			  : s->phase[sw] < 0		 ? FAB_PATH_LEFT
			  : s->phase[sw] >= last_round	 ? FAB_PATH_PLAIN
							 : FAB_PATH_PHASED;
		all_plain = all_plain &&
			    (path[i] == FAB_PATH_PLAIN || path[i] == FAB_PATH_NONE);
	}
	return all_plain;
}

bool fab_phases_has_chosen(const struct fab_phase_space *space)
{
	return space->has_chosen;
}
