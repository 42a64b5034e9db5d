/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/kfat/segments.h"

#include "base/arena.h"
#include "base/threads.h"
#include "unicast/engine.h"

#include <string.h>

bool *fab_kfat_low_switches(const struct fab_kfat *k, struct fab_arena *arena)
{
	const struct fab_fabric *f = k->f;
	bool *is_low = FAB_ARENA_NEW0(arena, f->n_switches + 1U, bool);

	for (uint32_t i = 0; i < k->n_leaves; i++)
		FAB_EACH_PEER(f, k->leaf[i], p)
			is_low[f->peer[p]] = true;
	return is_low;
}

/* LIDs of the adapter at a port of a switch, 0: none. */
static uint32_t lids_at(const struct fab_fabric *f, uint32_t port)
{
	uint32_t peer = fab_port_peer(f, port);

	if (peer == FAB_NONE || fab_node_is_switch(f, f->port_node[peer]))
		return 0;
	return fab_port_n_lids(f, peer);
}

static uint32_t lids_behind(const struct fab_fabric *f, uint32_t sw)
{
	uint32_t n = 0;

	FAB_EACH_PORT(f, sw, p)
		n += lids_at(f, p);
	return n;
}

void fab_alternatives_init(struct fab_alternatives *a, const struct fab_kfat *k,
			   const struct fab_faults *faults)
{
	const struct fab_fabric *f = k->f;
	uint32_t e = 0, n_lids = 0, most = 1; /* slots of a leaf in one line */

	*a = (struct fab_alternatives){.k = k, .faults = faults, .n_most = 1};
	a->slot_first =
		FAB_ARENA_NEW(&a->arena, (size_t)k->n_leaves * k->n_dims + 1, uint32_t);
	a->slot = FAB_ARENA_NEW(&a->arena, (size_t)f->arc_first[f->n_switches] + 1,
				uint16_t);
	for (uint32_t i = 0; i < k->n_leaves * k->n_dims; i++) {
		uint32_t sw = k->leaf[i / k->n_dims], first = e;

		a->slot_first[i] = first;
		FAB_EACH_ARC(f, sw, arc) {
			uint32_t line = k->switch_line[f->arc_peer[arc]], m = e - first;
			uint16_t *slot = a->slot + first;

			if (line == FAB_NONE || k->line_dim[line] != i % k->n_dims)
				continue;
			/* behind those to lower switches */
			for (; m && f->arc_peer[f->arc_first[sw] + slot[m - 1]] >
					    f->arc_peer[arc];
			     m--)
				slot[m] = slot[m - 1];
			slot[m] = (uint16_t)(arc - f->arc_first[sw]);
			a->has_parallel |=
				m && f->arc_peer[f->arc_first[sw] + slot[m - 1]] ==
					     f->arc_peer[arc];
			e++;
		}
		if (e - first > most)
			most = e - first;
	}
	a->slot_first[(size_t)k->n_leaves * k->n_dims] = e;
	if (most < 2)
		return;
	a->n = FAB_ARENA_NEW(&a->arena, (size_t)k->n_leaves + 1, uint32_t);
	a->first_lid = FAB_ARENA_NEW(&a->arena, (size_t)k->n_leaves + 1, uint32_t);
	for (uint32_t i = 0; i < k->n_leaves; i++) {
		uint32_t n = lids_behind(k->f, k->leaf[i]);

		a->first_lid[i] = n_lids;
		n_lids += n;
		a->n[i] = n < 1 ? 1 : n < most ? n : most;
		if (a->n[i] > a->n_most)
			a->n_most = a->n[i];
	}
}

void fab_alternatives_fini(struct fab_alternatives *a)
{
	fab_arena_free(&a->arena);
}

/*
 * The LIDs behind a switch take up to `most` alternatives in turn: the turn of the first
 * LID of each port there (turn[n_ports] of end ports). Returns how many there are: at
 * least 1, at most one a LID. O(ports of the switch).
 */
static uint32_t turns_of(const struct fab_fabric *f, uint32_t sw, uint32_t most,
			 uint16_t *turn)
{
	uint32_t n = lids_behind(f, sw), at = 0;

	n = n < 1 ? 1 : n < most ? n : most;
	FAB_EACH_PORT(f, sw, p) {
		uint32_t n_lids = lids_at(f, p);

		if (n_lids)
			turn[fab_port_peer(f, p)] = (uint16_t)(at % n);
		at += n_lids;
	}
	return n;
}

struct fab_routes *fab_alternatives_new_routes(const struct fab_fabric *f,
					       const struct fab_faults *faults,
					       const uint32_t *sw, uint32_t n,
					       uint32_t most)
{
	uint16_t *turn = FAB_NEW0((size_t)f->n_ports + 1, uint16_t);
	uint16_t *turns = FAB_NEW0((size_t)f->n_switches + 1, uint16_t);
	uint32_t n_columns = 0;
	struct fab_routes *r;

	for (uint32_t i = 0; i < n; i++)
		n_columns += turns[sw[i]] = (uint16_t)turns_of(f, sw[i], most, turn);
	r = fab_routes_new(f, faults, n_columns);
	n_columns = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < turns[sw[i]]; k++)
			r->column_switch[n_columns++] = sw[i];
	if (most > 1) {
		r->n_alternatives = turns;
		r->turn = turn;
	} else {
		FAB_FREE_ALL(turns, turn);
	}
	return r;
}

struct fab_routes *fab_alternatives_routes(const struct fab_alternatives *a)
{
	const struct fab_fabric *f = a->k->f;
	uint32_t *leaf = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	uint32_t n = fab_destination_switches(f, a->faults, a->k, leaf);
	struct fab_routes *r =
		fab_alternatives_new_routes(f, a->faults, leaf, n, a->n_most);

	r->leaf = leaf;
	r->n_leaves = n;
	return r;
}

/* How many slots a leaf has in a dimension; *slot: the first. */
static uint32_t slots_of(const struct fab_alternatives *a, uint32_t leaf, uint32_t dim,
			 const uint16_t **slot)
{
	size_t at = (size_t)leaf * a->k->n_dims + dim;

	*slot = a->slot + a->slot_first[at];
	return a->slot_first[at + 1] - a->slot_first[at];
}

uint16_t fab_alternatives_up(const struct fab_alternatives *a, uint32_t leaf,
			     uint32_t dim, uint32_t number, const uint16_t *arc,
			     uint32_t n)
{
	const uint16_t *slot;
	uint32_t n_slots = slots_of(a, leaf, dim, &slot), sum = number / n_slots;

	for (uint32_t i = 0; i < n; i++)
		if (arc[i] == slot[number % n_slots])
			return arc[i];
	/* the sum of the coordinates is another one for each leaf of a line */
	for (uint32_t d = 0; d < a->k->n_dims; d++)
		sum += fab_kfat_coord(a->k, leaf, d);
	return arc[sum % n];
}

uint16_t fab_alternatives_down(const struct fab_alternatives *a, uint32_t sw,
			       uint32_t leaf, uint32_t number, uint16_t any)
{
	const struct fab_fabric *f = a->k->f;
	const uint16_t *slot;
	uint32_t n_slots, n = 0, first = f->arc_first[a->k->leaf[leaf]], arc;

	if (!a->has_parallel)
		return any;
	n_slots = slots_of(a, leaf, a->k->line_dim[a->k->switch_line[sw]], &slot);
	arc = first + slot[number % n_slots];
	if (f->arc_peer[arc] == sw && fab_arc_is_live(a->faults, arc))
		return f->arc_reverse[arc];
	for (uint32_t i = 0; i < n_slots; i++)
		n += f->arc_peer[first + slot[i]] == sw &&
		     fab_arc_is_live(a->faults, first + slot[i]);
	n = number / n_slots % n;
	for (uint32_t i = 0; i < n_slots; i++)
		if (f->arc_peer[first + slot[i]] == sw &&
		    fab_arc_is_live(a->faults, first + slot[i]) && !n--)
			return f->arc_reverse[first + slot[i]];
	return any;
}

uint64_t fab_alternatives_settle(struct fab_routes *r)
{
	FAB_AUTOFREE uint32_t *n_none =
		FAB_NEW0((size_t)r->n_columns + 1, uint32_t); /* pairs */
	uint64_t n_without = 0;

	for (uint32_t s = 0; r->sl && s < r->n_sl_sources; s++)
		for (uint32_t c = 0; c < r->n_columns; c++)
			n_none[c] += r->sl[(size_t)s * r->n_columns + c] == FAB_SL_NONE;
	for (uint32_t c = 0, n = 1; c < r->n_columns; c += n) {
		uint32_t best = c;

		if (r->n_alternatives)
			n = r->n_alternatives[r->column_switch[c]];
		/* The alternative that fewest pairs lack, for all that more lack. */
		for (uint32_t k = c + 1; k < c + n; k++)
			if (n_none[k] < n_none[best])
				best = k;
		for (uint32_t k = c; k < c + n; k++)
			if (k != best && n_none[k]) {
				uint32_t i = r->f->n_switches;

				memcpy(r->next + (size_t)k * i,
				       r->next + (size_t)best * i, i * sizeof(*r->next));
				for (uint32_t s = 0; s < r->n_sl_sources; s++)
					r->sl[(size_t)s * r->n_columns + k] =
						r->sl[(size_t)s * r->n_columns + best];
			}
		n_without += n_none[best];
	}
	return n_without;
}

static void list_leaves(struct fab_segments *segments)
{
	const struct fab_kfat *k = segments->k;
	size_t n;

	for (uint32_t d = 0; d < k->n_dims; d++)
		if (k->dims[d] > segments->width)
			segments->width = k->dims[d];
	n = (size_t)k->n_lines * segments->width;
	segments->leaf_at = fab_arena_none(&segments->arena, n + 1);
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		if (!fab_switch_is_live(segments->faults, k->leaf[leaf]))
			continue;
		for (uint32_t d = 0; d < k->n_dims; d++) {
			uint32_t line = k->line_of[(size_t)leaf * k->n_dims + d];

			if (line != FAB_NONE)
				segments->leaf_at[(size_t)line * segments->width +
						  fab_kfat_coord(k, leaf,
								 k->line_dim[line])] =
					leaf;
		}
	}
}

/* A search along one line, against the traffic, from the target leaf. */
struct walk {
	const struct fab_segments *segments;
	uint32_t line, target;
	uint32_t *hops;	  /* [switches of the line] to the target, FAB_NONE */
	uint8_t *is_down; /* [switches of the line] the path goes down only */
	bool *has_leaf;	  /* [n_switches] joined to a leaf: the lower level */
	uint16_t *path;	  /* [n_choices * path_width] of this target */
	uint16_t *usable; /* [arcs of a switch] room */
};

/*
 * May switch sw send by arc a? To the target; or up; or down to where the path on goes
 * down, too. The number of hops it has then, FAB_NONE: no.
 */
static uint32_t hops_by(const struct walk *w, uint32_t sw, uint32_t a, bool *is_down)
{
	const struct fab_kfat *k = w->segments->k;
	uint32_t peer = k->f->arc_peer[a], at;
	bool goes_down;

	if (!fab_arc_is_live(w->segments->faults, a))
		return FAB_NONE;
	*is_down = true;
	if (k->leaf_of[peer] != FAB_NONE)
		return k->leaf_of[peer] == w->target ? 1 : FAB_NONE;
	at = w->segments->in_line[peer];
	goes_down = w->has_leaf[peer] && !w->has_leaf[sw];
	if (w->hops[at] == FAB_NONE || (goes_down && !w->is_down[at]) ||
	    (!goes_down && (w->has_leaf[peer] || !w->has_leaf[sw])))
		return FAB_NONE;
	*is_down = goes_down;
	return w->hops[at] + 1;
}

/* Note by which arc the i-th of the line goes on, alternatives alike. */
static void note(const struct walk *w, uint32_t i, uint32_t sw, uint16_t arc)
{
	const struct fab_segments *segments = w->segments;
	uint32_t width = segments->path_width[w->line];
	const struct fab_fabric *f = segments->k->f;
	bool is_last =
		f->arc_peer[f->arc_first[sw] + arc] == segments->k->leaf[w->target];

	w->path[i] = arc;
	for (uint32_t path = 1; path < segments->n_choices; path++) {
		uint32_t number = fab_alternatives_number(&segments->alternatives,
							  w->target, path - 1);

		w->path[(size_t)path * width + i] =
			is_last ? fab_alternatives_down(&segments->alternatives, sw,
							w->target, number, arc)
				: arc;
	}
}

/* Switches that are `hops` away: returns how many are new. */
static uint32_t reach(struct walk *w, uint32_t hops)
{
	const struct fab_segments *segments = w->segments;
	const struct fab_fabric *f = segments->k->f;
	uint32_t first = segments->switch_first[w->line], n_new = 0;

	for (uint32_t i = first; i < segments->switch_first[w->line + 1]; i++) {
		uint32_t sw = segments->line_switch[i];
		uint32_t d = fab_degree(f, sw);

		if (w->hops[i - first] != FAB_NONE)
			continue;
		for (uint32_t j = 0; j < d; j++) { /* targets begin at different arcs */
			uint32_t at = (j + w->target) % d;
			bool is_down;

			if (hops_by(w, sw, f->arc_first[sw] + at, &is_down) != hops)
				continue;
			w->hops[i - first] = hops;
			w->is_down[i - first] = is_down;
			note(w, segments->width + i - first, sw, (uint16_t)at);
			n_new++;
			break;
		}
	}
	return n_new;
}

/* The arc of a leaf into the line with the fewest hops to the target; all that have as
 * many: usable[*n]. */
static uint16_t enter(const struct walk *w, uint32_t leaf, uint32_t *n)
{
	const struct fab_segments *segments = w->segments;
	const struct fab_kfat *k = segments->k;
	uint32_t sw = k->leaf[leaf], first = k->f->arc_first[sw];
	uint32_t d = k->f->arc_first[sw + 1] - first, best = FAB_NONE;
	uint16_t arc = FAB_ARC_NONE;

	*n = 0;
	for (uint32_t j = 0; j < d; j++) {
		uint32_t at = (j + w->target) % d, peer = k->f->arc_peer[first + at];
		uint32_t hops;

		if (!fab_arc_is_live(segments->faults, first + at) ||
		    k->switch_line[peer] != w->line)
			continue;
		hops = w->hops[segments->in_line[peer]];
		if (hops < best) {
			best = hops;
			arc = (uint16_t)at;
			*n = 0;
		}
		if (hops == best && best != FAB_NONE)
			w->usable[(*n)++] = (uint16_t)at;
	}
	return arc;
}

static void walk_to(struct walk *w, uint32_t target)
{
	const struct fab_segments *segments = w->segments;
	uint32_t n =
		segments->switch_first[w->line + 1] - segments->switch_first[w->line];

	w->target = target;
	memset(w->hops, 0xff, n * sizeof(*w->hops));
	for (uint32_t hops = 1; reach(w, hops); hops++)
		;
	for (uint32_t c = 0; c < segments->width; c++) {
		uint32_t leaf = fab_segments_leaf(segments, w->line, c);

		if (leaf != FAB_NONE && leaf != target) {
			const struct fab_alternatives *a = &segments->alternatives;
			uint32_t i, dim = segments->k->line_dim[w->line];
			uint16_t arc = enter(w, leaf, &i);

			/* How a leaf enters the line, with each alternative. */
			w->path[c] = arc;
			for (uint32_t path = 1; path < segments->n_choices && i; path++)
				w->path[(size_t)path * segments->path_width[w->line] +
					c] = fab_alternatives_up(a, leaf, dim,
								 fab_alternatives_number(
									 a, w->target,
									 path - 1),
								 w->usable, i);
		}
	}
}

void fab_segments_init(struct fab_segments *segments, const struct fab_kfat *k,
		       const struct fab_faults *faults)
{
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	uint32_t n = k->f->n_switches, *first;
	struct walk w;
	size_t all = 0;

	*segments = (struct fab_segments){.k = k, .faults = faults};
	fab_alternatives_init(&segments->alternatives, k, faults);
	segments->n_choices =
		segments->alternatives.n_most > 1 ? segments->alternatives.n_most + 1 : 1;
	list_leaves(segments);
	first = FAB_ARENA_NEW0(&segments->arena, k->n_lines + 2, uint32_t);
	segments->switch_first = first;
	segments->line_switch = FAB_ARENA_NEW(&segments->arena, n + 1, uint32_t);
	segments->in_line = FAB_ARENA_NEW0(&segments->arena, n + 1, uint32_t);
	for (uint32_t sw = 0; sw < n; sw++)
		if (k->switch_line[sw] != FAB_NONE)
			segments->in_line[sw] = first[k->switch_line[sw] + 1]++;
	for (uint32_t line = 0; line < k->n_lines; line++)
		first[line + 1] += first[line];
	for (uint32_t sw = 0; sw < n; sw++)
		if (k->switch_line[sw] != FAB_NONE)
			segments->line_switch[first[k->switch_line[sw]] +
					      segments->in_line[sw]] = sw;
	w = (struct walk){.segments = segments,
			  .has_leaf = fab_kfat_low_switches(k, &arena)};
	segments->path_first = FAB_ARENA_NEW(&segments->arena, k->n_lines + 1, size_t);
	segments->path_width = FAB_ARENA_NEW(&segments->arena, k->n_lines + 1, uint32_t);
	for (uint32_t line = 0; line < k->n_lines; line++) {
		segments->path_first[line] = all;
		segments->path_width[line] = segments->width +
					     segments->switch_first[line + 1] -
					     segments->switch_first[line];
		all += (size_t)segments->width * segments->n_choices *
		       segments->path_width[line];
	}
	segments->path = FAB_ARENA_NEW(&segments->arena, all + 1, uint16_t);
	memset(segments->path, 0xff, all * sizeof(*segments->path));
	w.hops = FAB_ARENA_NEW(&arena, n + 1, uint32_t);
	w.is_down = FAB_ARENA_NEW(&arena, n + 1, uint8_t);
	w.usable = FAB_ARENA_NEW(&arena, (size_t)UINT16_MAX + 1, uint16_t);
	for (w.line = 0; w.line < k->n_lines; w.line++)
		for (uint32_t c = 0; c < segments->width; c++) {
			uint32_t target = fab_segments_leaf(segments, w.line, c);

			w.path = segments->path + segments->path_first[w.line] +
				 (size_t)c * segments->n_choices *
					 segments->path_width[w.line];
			if (target != FAB_NONE)
				walk_to(&w, target);
		}
	segments->nowhere =
		FAB_ARENA_NEW(&segments->arena, segments->width + 1, uint16_t);
	memset(segments->nowhere, 0xff, segments->width * sizeof(*segments->nowhere));
	segments->seat = FAB_ARENA_NEW(
		&segments->arena, (size_t)k->n_leaves * k->n_dims + 1, struct fab_seat);
	for (size_t i = 0; i < (size_t)k->n_leaves * k->n_dims; i++) {
		uint32_t leaf = (uint32_t)(i / k->n_dims), line = k->line_of[i];
		bool is_live = fab_switch_is_live(segments->faults, k->leaf[leaf]);

		segments->seat[i] = (struct fab_seat){.line = k->n_lines};
		if (is_live && line != FAB_NONE)
			segments->seat[i] = (struct fab_seat){
				line, fab_kfat_coord(k, leaf, k->line_dim[line])};
	}
}

void fab_segments_fini(struct fab_segments *segments)
{
	fab_alternatives_fini(&segments->alternatives);
	fab_arena_free(&segments->arena);
}

static const uint16_t *paths_to(const struct fab_segments *segments, uint32_t line,
				uint32_t to, uint32_t path)
{
	size_t n = (size_t)fab_kfat_coord(segments->k, to, segments->k->line_dim[line]) *
			   segments->n_choices +
		   path;

	return segments->path + segments->path_first[line] +
	       n * segments->path_width[line];
}

bool fab_segments_has(const struct fab_segments *segments, uint32_t line, uint32_t from,
		      uint32_t to)
{
	return paths_to(segments, line, to, 0)[fab_kfat_coord(
		       segments->k, from, segments->k->line_dim[line])] != FAB_ARC_NONE;
}

void fab_segment_plan_init(struct fab_segment_plan *plan, const struct fab_kfat *k)
{
	plan->target = FAB_NEW(k->n_lines + 1, uint32_t);
	plan->dim = FAB_NEW(k->n_leaves + 1, uint8_t);
	plan->path = FAB_NEW(k->n_lines + 1, const uint16_t *);
}

void fab_segment_plan_fini(struct fab_segment_plan *plan)
{
	FAB_FREE_ALL(plan->target, plan->dim, plan->path);
}

void fab_segments_fill(const struct fab_segments *segments, struct fab_segment_plan *plan,
		       uint32_t to, uint32_t i, uint16_t *next)
{
	const struct fab_kfat *k = segments->k;
	uint32_t by = fab_alternatives_has(&segments->alternatives, to) ? 1 + i : 0;

	memset(next, 0xff, k->f->n_switches * sizeof(*next));
	plan->path[k->n_lines] = segments->nowhere;
	for (uint32_t line = 0; line < k->n_lines; line++) {
		const uint32_t *sw = segments->line_switch + segments->switch_first[line];
		uint32_t n =
			segments->switch_first[line + 1] - segments->switch_first[line];
		const uint16_t *path;

		plan->path[line] = segments->nowhere;
		if (plan->target[line] == FAB_NONE)
			continue;
		path = paths_to(segments, line, plan->target[line], by);
		plan->path[line] = path;
		for (uint32_t s = 0; s < n; s++)
			next[sw[s]] = path[segments->width + s];
	}
	/* Entries of the leaves: a target has none to itself, a dead leaf none at all. */
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		const struct fab_seat *seat =
			&segments->seat[(size_t)leaf * k->n_dims + plan->dim[leaf]];

		if (plan->dim[leaf] != FAB_SEGMENT_NONE)
			next[k->leaf[leaf]] = plan->path[seat->line][seat->coord];
	}
	next[k->leaf[to]] = FAB_ARC_HERE;
}

int fab_segments_route(const struct fab_unicast_engine *self,
		       const struct fab_unicast_problem *problem, struct fab_routes **out,
		       struct fab_err *err)
{
	const struct fab_kfat *k = problem->kfat;
	FAB_AUTO(fab_segments_fini) struct fab_segments segments;
	struct fab_routes *r;
	int n_threads;

	(void)err;
	fab_segments_init(&segments, k, problem->faults);
	r = fab_alternatives_routes(&segments.alternatives);
	n_threads = fab_threads_for(problem->n_threads,
				    (uint64_t)r->n_columns * k->f->n_switches);
#pragma omp parallel num_threads(n_threads)
	{
		FAB_AUTO(fab_segment_plan_fini) struct fab_segment_plan plan;

		fab_segment_plan_init(&plan, k);
#pragma omp for schedule(static)
		for (uint32_t i = 0; i < r->n_columns; i++) {
			uint32_t to = k->leaf_of[r->column_switch[i]];

			self->plan(&segments, to, &plan);
			fab_segments_fill(&segments, &plan, to,
					  fab_routes_alternative(r, i),
					  r->next + (size_t)i * k->f->n_switches);
		}
	}
	fab_threads_rest(n_threads);
	*out = r;
	return 0;
}
