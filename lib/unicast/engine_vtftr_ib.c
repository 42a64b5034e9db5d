/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VTFTR for InfiniBand (after Liu et al. 2022, for destination tables): any usable line,
 * any number of dimensions and planes, dead root switches and links, too. Tables are
 * in-trees in phase order (unicast/phases.h); lanes come with service levels:
 *
 *   one lane     when every pair has its path within one round of dimension order
 *   variant I    service level = lane: 1 for all other paths, where that closes no cycle
 *   variant II   lanes by service level, in- and out-port: for each path the lowest level
 *                and first word of lanes that close no cycle, with other tables for a
 *                column that would need one more (vtftr_ib_place.c); where that leads
 *                nowhere, paths in phase order have the lanes of their phases, and
 *                left-overs the first word that closes none (vtftr_ib_lanes.c)
 *   turns        two dimensions, where that takes more than max_sls service levels and
 *                three lanes are allowed: two levels, three lanes (vtftr_ib_turns.c)
 *
 * Alternatives of a leaf have the same paths in the same lines, by other switches of them
 * (unicast/alternatives.h), each with a service level of its own; where one of them gets
 * no lanes for some pair and another one does, that takes its place.
 *
 * What no word is found for is tried again with one lane more, up to max_vls; then with
 * longer paths in phase order for its destination.
 */
#include "unicast/vtftr_ib.h"

#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS_FIRST = 2, TRIES_MAX = 4, CHOICES = 4, CHOICES_LARGE = 2, FEW_LEVELS = 3 };

/* Entries from which on tables are dear to grow. */
static const uint64_t LARGE = 4000000;

/* Tables of a leaf's columns, from the first on; path[] of those that are not plain all
 * over, else NULL. */
static void grow_tree(struct vtftr_ib *v, const struct fab_phases *ph,
		      struct fab_phase_space *space, uint32_t column, uint8_t *path)
{
	const struct fab_kfat *k = ph->k;
	struct fab_routes *r = v->routes;
	uint32_t sw = r->column_switch[column];
	const struct fab_phase_rows rows = {
		.n = r->n_alternatives ? r->n_alternatives[sw] : 1,
		.next = r->next + (size_t)column * k->f->n_switches};
	bool is_plain = fab_phases_column(ph, space, k->leaf_of[sw],
					  v->is_longer[k->leaf_of[sw]], &rows, path);

	v->is_settled[k->leaf_of[sw]] = !fab_phases_has_chosen(space);
	for (uint32_t i = column; i < column + rows.n; i++) {
		free(v->path[i]);
		v->path[i] = NULL;
		if (!is_plain) {
			v->path[i] = FAB_NEW(k->n_leaves + 1, uint8_t);
			memcpy(v->path[i], path, k->n_leaves);
		}
		vtftr_ib_note_others(v, i);
	}
}

static void grow_trees(struct vtftr_ib *v, const struct fab_phases *ph)
{
	const struct fab_kfat *k = ph->k;
	struct fab_routes *r = v->routes;
	uint64_t n_left = 0;
	int n_threads;

	for (uint32_t i = 0; i < r->n_columns; i++)
		n_left += !v->is_settled[vtftr_ib_leaf(v, i)];
	n_threads = fab_threads_for(v->problem->n_threads, n_left * k->f->n_switches);

#pragma omp parallel num_threads(n_threads)
	{
		struct fab_phase_space *space = fab_phase_space_new(ph);
		uint8_t *path = FAB_NEW(k->n_leaves + 1, uint8_t);

#pragma omp for schedule(dynamic, 16)
		for (uint32_t i = 0; i < r->n_columns; i++)
			if (!fab_routes_alternative(r, i) &&
			    !v->is_settled[vtftr_ib_leaf(v, i)])
				grow_tree(v, ph, space, i, path);
		free(path);
		fab_phase_space_free(space);
	}
	fab_threads_rest(n_threads);
}

static uint64_t count_paths(const struct vtftr_ib *v, enum fab_path_kind path)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < v->routes->n_columns; i++)
		for (uint32_t k = 0; k < v->others[i].n; k++)
			n += v->others[i].kind[k] == path;
	return n;
}

/* Variant I: all that is not plain on lane 1. */
static void use_variant_1(struct vtftr_ib *v)
{
	struct fab_routes *r = v->routes;

	fab_routes_new_levels(r);
	for (uint32_t i = 0; i < r->n_columns; i++)
		for (uint32_t k = 0; k < v->others[i].n; k++)
			r->sl[(size_t)v->others[i].source[k] * r->n_columns + i] = 1;
	r->lanes = FAB_LANES_SL;
	r->n_vls = r->n_sls = 2;
}

/* Trees, and lanes of the first variant that does; VTFTR_IB_OPEN: none so far. */
static enum vtftr_ib_result try_plain(struct vtftr_ib *v, struct fab_phases *ph)
{
	grow_trees(v, ph);
	v->n_left = count_paths(v, FAB_PATH_LEFT);
	if (!v->n_left && !count_paths(v, FAB_PATH_PHASED))
		return VTFTR_IB_DONE;
	if (v->problem->max_vls < 2 || vtftr_ib_levels(v) < 2 ||
	    !vtftr_ib_one_lane_does(v))
		return VTFTR_IB_OPEN;
	use_variant_1(v);
	return VTFTR_IB_DONE;
}

/* The choice number i of n: detours spread by several rules, in the end along few lines.
 */
static void choose(struct fab_phases *ph, uint32_t i, uint32_t n)
{
	uint32_t modes = ph->plain ? 2 : 1;

	ph->rows_first = ph->plain && i % modes == 0;
	ph->salt = i / modes;
	ph->concentrate = i + modes >= n;
}

/*
 * Other choices among equals, until variant I closes no cycle: detours through columns
 * and through rows, spread and not. Where none does, the tables with the fewest
 * left-overs remain, those along few lines first: there the fewest paths exclude
 * each other.
 */
static enum vtftr_ib_result try_trees(struct vtftr_ib *v, struct fab_phases *ph)
{
	uint64_t entries = (uint64_t)v->routes->n_columns * v->routes->f->n_switches;
	uint64_t least = UINT64_MAX;
	uint32_t best = 0;
	uint32_t modes = ph->plain ? 2 : 1;
	uint32_t n = (entries < LARGE ? CHOICES : CHOICES_LARGE) * modes;

	for (uint32_t i = 0; i < n; i++) {
		choose(ph, i, n);
		if (try_plain(v, ph) == VTFTR_IB_DONE)
			return VTFTR_IB_DONE;
		if (v->n_left < least || (v->n_left == least && i == n - modes)) {
			least = v->n_left;
			best = i;
		}
	}
	choose(ph, best, n);
	grow_trees(v, ph);
	v->n_left = least;
	return VTFTR_IB_OPEN;
}

/* Destinations with pairs that have no lanes take longer paths next time. */
static bool lengthen(struct vtftr_ib *v)
{
	bool has_new = false;

	for (uint32_t i = 0; i < v->problem->kfat->n_leaves; i++) {
		if (!v->is_stuck[i] || v->is_longer[i])
			continue;
		v->is_longer[i] = true;
		has_new = true;
	}
	return has_new;
}

/* Lanes for tables as they were grown. */
static int try_place(struct vtftr_ib *v, struct fab_phases *ph, enum vtftr_ib_first first,
		     bool *is_done, struct fab_err *err)
{
	fab_routes_new_levels(v->routes);
	return vtftr_ib_place(v, ph, first, is_done, err);
}

/* Tables and lanes that were placed, kept while others are tried. */
struct placed {
	uint16_t *next; /* of columns of leaves that had a choice, one after the other */
	uint8_t *sl, *sl2vl;
	uint64_t *vl_first;
	uint8_t n_sls, n_vls;
};

/* Copy the columns of leaves that had a choice, to or from `next`. */
static void copy_columns(const struct vtftr_ib *v, uint16_t *next, bool to)
{
	const struct fab_routes *r = v->routes;
	size_t n = r->f->n_switches;

	for (uint32_t i = 0; i < r->n_columns; i++) {
		uint16_t *own = r->next + i * n;

		if (v->is_settled[vtftr_ib_leaf(v, i)])
			continue;
		memcpy(to ? next : own, to ? own : next, n * sizeof(*next));
		next += n;
	}
}

/* Takes the tables of lanes away. */
static struct placed keep(const struct vtftr_ib *v)
{
	struct fab_routes *r = v->routes;
	struct placed p = {.sl = r->sl,
			   .sl2vl = r->sl2vl,
			   .vl_first = r->vl_first,
			   .n_sls = r->n_sls,
			   .n_vls = r->n_vls};
	size_t n = 0;

	for (uint32_t i = 0; i < r->n_columns; i++)
		n += !v->is_settled[vtftr_ib_leaf(v, i)];
	p.next = FAB_NEW(n * r->f->n_switches + 1, uint16_t);
	copy_columns(v, p.next, true);
	r->sl = r->sl2vl = NULL;
	r->vl_first = NULL;
	return p;
}

static void take_back(struct vtftr_ib *v, struct placed *p)
{
	struct fab_routes *r = v->routes;

	copy_columns(v, p->next, false);
	free(r->sl);
	free(r->sl2vl);
	free(r->vl_first);
	r->sl = p->sl;
	r->sl2vl = p->sl2vl;
	r->vl_first = p->vl_first;
	r->n_sls = p->n_sls;
	r->n_vls = p->n_vls;
	r->lanes = FAB_LANES_TABLE;
	free(p->next);
	*p = (struct placed){0};
}

static void drop(struct placed *p)
{
	free(p->next);
	free(p->sl);
	free(p->sl2vl);
	free(p->vl_first);
}

/* By one order of words; where that takes many levels, by the better of both orders. */
static int place(struct vtftr_ib *v, struct fab_phases *ph, bool *is_done,
		 struct fab_err *err)
{
	struct placed first = {0};
	bool was_done;
	int rc = try_place(v, ph, VTFTR_IB_PHASES_FIRST, is_done, err);

	was_done = *is_done;
	if (rc || (was_done && v->routes->n_sls <= FEW_LEVELS))
		return rc;
	if (was_done)
		first = keep(v);
	grow_trees(v, ph);
	rc = try_place(v, ph, VTFTR_IB_ONES_FIRST, is_done, err);
	if (!rc && was_done && !(*is_done && v->routes->n_sls <= first.n_sls)) {
		take_back(v, &first);
		*is_done = true;
	} else if (!rc && !*is_done) {
		grow_trees(v, ph);
	}
	drop(&first);
	return rc;
}

static int assign(struct vtftr_ib *v, unsigned n_rounds, bool *is_done,
		  struct fab_err *err)
{
	struct fab_phases ph;
	int rc = 0;

	fab_phases_init(&ph, &v->alternatives, n_rounds);
	memset(v->is_settled, 0, ph.k->n_leaves * sizeof(*v->is_settled));
	*is_done = try_trees(v, &ph) == VTFTR_IB_DONE;
	if (!*is_done && n_rounds > 1)
		rc = place(v, &ph, is_done, err);
	if (!rc && !*is_done && n_rounds == ROUNDS_FIRST) {
		fab_routes_new_levels(v->routes);
		rc = vtftr_ib_order_turns(v, is_done, err);
	}
	if (!rc && !*is_done) {
		fab_routes_new_levels(v->routes);
		rc = vtftr_ib_pack(v, &ph, err);
		*is_done = !rc && !v->n_stuck;
	}
	fab_phases_fini(&ph);
	return rc;
}

static void say(struct vtftr_ib *v, unsigned n_rounds)
{
	unsigned max_sls = vtftr_ib_levels(v);
	uint64_t n_longer = 0;
	char *limits;

	for (uint32_t i = 0; i < v->problem->kfat->n_leaves; i++)
		n_longer += v->is_longer[i];
	limits = max_sls == FAB_SLS_MAX
			 ? fab_format("%u lanes do not suffice", n_rounds)
			 : fab_format("%u lanes with %u service level%s do not suffice",
				      n_rounds, max_sls, max_sls == 1 ? "" : "s");
	free(v->routes->note);
	v->routes->note = NULL;
	if (v->n_stuck)
		v->routes->note = fab_format("%s: %llu pairs are left without a path",
					     limits, (unsigned long long)v->n_stuck);
	else if (n_longer)
		v->routes->note = fab_format("%s for shortest paths: %llu destinations "
					     "have longer ones",
					     limits, (unsigned long long)n_longer);
	else if (n_rounds > ROUNDS_FIRST)
		v->routes->note = fab_format("2 lanes do not suffice, %u do", n_rounds);
	free(limits);
}

static int solve(struct vtftr_ib *v, struct fab_err *err)
{
	unsigned max = v->problem->max_vls;
	unsigned n_rounds = max < ROUNDS_FIRST ? max : ROUNDS_FIRST;
	bool is_done = false;
	int rc = 0;

	for (unsigned i = 0; i < TRIES_MAX + max && !is_done; i++) {
		rc = assign(v, n_rounds, &is_done, err);
		if (rc)
			return rc;
		if (is_done)
			break;
		if (n_rounds < max)
			n_rounds++;
		else if (!lengthen(v))
			break;
	}
	if (v->n_stuck)
		v->n_stuck = fab_alternatives_settle(v->routes);
	say(v, n_rounds);
	return 0;
}

static void end(struct vtftr_ib *v)
{
	for (uint32_t i = 0; i < v->routes->n_columns; i++)
		free(v->path[i]);
	free(v->path);
	vtftr_ib_free_others(v);
	free(v->is_longer);
	free(v->is_settled);
	free(v->is_stuck);
	free(v->source_leaf);
	free(v->source_of);
	fab_alternatives_fini(&v->alternatives);
}

static void number_sources(struct vtftr_ib *v)
{
	const struct fab_kfat *k = v->problem->kfat;

	v->source_leaf = FAB_NEW(k->n_leaves + 1, uint32_t);
	v->source_of = FAB_NEW(k->n_leaves + 1, uint32_t);
	memset(v->source_of, 0xff, k->n_leaves * sizeof(*v->source_of));
	v->is_ascending = true;
	for (uint32_t i = 0; i < v->routes->n_leaves; i++) {
		uint32_t leaf = k->leaf_of[v->routes->leaf[i]];

		v->is_ascending = v->is_ascending && (!i || leaf > v->source_leaf[i - 1]);
		v->source_leaf[i] = leaf;
		v->source_of[leaf] = i;
	}
}

static int route_vtftr_ib(const struct fab_unicast_problem *problem,
			  struct fab_routes **out, struct fab_err *err)
{
	struct vtftr_ib v = {.problem = problem};
	uint32_t n;
	int rc;

	fab_alternatives_init(&v.alternatives, problem->kfat, problem->faults);
	v.routes = fab_alternatives_routes(&v.alternatives);
	n = problem->kfat->n_leaves;
	v.path = FAB_NEW0(v.routes->n_columns + 1, uint8_t *);
	v.others = FAB_NEW0(v.routes->n_columns + 1, struct vtftr_ib_others);
	v.is_longer = FAB_NEW0(n + 1, bool);
	v.is_settled = FAB_NEW0(n + 1, bool);
	v.is_stuck = FAB_NEW0(n + 1, bool);
	number_sources(&v);
	rc = solve(&v, err);
	end(&v);
	if (rc)
		fab_routes_free(v.routes);
	else
		*out = v.routes;
	return rc;
}

const struct fab_unicast_engine fab_unicast_vtftr_ib = {
	.name = "vtftr-ib",
	.summary = "any usable line, with service levels for InfiniBand",
	.manual = "Any usable row or column, any number of dimensions and planes, "
		  "dead root switches and links, too; always shortest paths, as "
		  "long as the lanes suffice. Service level and lane are the same "
		  "where that is free of cycles, which is nearly always so while "
		  "some row and some column are without faults; else lanes follow "
		  "from service level, in-port and out-port (SL2VL), as few "
		  "service levels as are found.",
	.needs_kfat = true,
	.route = route_vtftr_ib,
};
