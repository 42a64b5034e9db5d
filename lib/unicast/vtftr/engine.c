/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VTFTR for InfiniBand (after Liu et al. 2022, for destination tables): any usable line,
 * any number of dimensions and planes, dead root switches and links, too. Tables are
 * in-trees in phase order (phases.c); lanes come with service levels:
 *
 *   one lane     when every pair has its path within one round of dimension order
 *   variant I    service level = lane: 1 for all other paths, where that closes no cycle
 *   variant II   lanes by service level, in- and out-port: for each path the lowest level
 *                and first word of lanes that close no cycle, with other tables for a
 *                column that would need one more; where that leads nowhere, paths in
 *                phase order have the lanes of their phases, and left-overs the first
 *                word that closes none (lanes.c)
 *   turns        two dimensions, where that takes more than max_sls service levels and
 *                three lanes are allowed: two levels, three lanes (lanes.c)
 *
 * Alternatives of a leaf have the same paths in the same lines, by other switches of them
 * (unicast/kfat/segments.h), each with a service level of its own; where one of them gets
 * no lanes for some pair and another one does, that takes its place.
 *
 * Pairs without a word are tried again with one lane more, up to max_vls; then with
 * longer paths in phase order for their destination. Of 11 200 random fault sets (4x4 to
 * 16x16, 3x3x3, 4x4x4; 2 and 3 lanes; leaves, roots, links) each method decides some:
 * one lane or variant I 4 900, words by phases 5 000, lane 1 first 270, turns 40, phases
 * alone 600.
 */
#include "unicast/vtftr/vtftr.h"

#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS_FIRST = 2, TRIES_MAX = 4, CHOICES = 4, CHOICES_LARGE = 2, FEW_LEVELS = 3 };

/* Entries from which on tables are expensive to grow. */
static const uint64_t LARGE = 4000000;

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
		FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
		struct fab_phase_space *space = fab_phase_space_new(ph, &arena);
		uint8_t *path = FAB_ARENA_NEW(&arena, k->n_leaves + 1, uint8_t);

#pragma omp for schedule(dynamic, 16)
		for (uint32_t i = 0; i < r->n_columns; i++)
			if (!fab_routes_alternative(r, i) &&
			    !v->is_settled[vtftr_ib_leaf(v, i)]) {
				uint32_t sw = r->column_switch[i], leaf = k->leaf_of[sw];
				const struct fab_phase_rows rows = {
					.n = r->n_alternatives ? r->n_alternatives[sw]
							       : 1,
					.next = r->next + (size_t)i * k->f->n_switches};
				bool is_plain = fab_phases_column(
					ph, space, leaf, v->is_longer[leaf], &rows, path);

				/* Tables of a leaf's columns, from the first on; path[]
				 * of those that are not plain all over, else NULL. */
				v->is_settled[leaf] = !fab_phases_has_chosen(space);
				for (uint32_t m = i; m < i + rows.n; m++) {
					free(v->path[m]);
					v->path[m] = NULL;
					if (!is_plain) {
						v->path[m] =
							FAB_NEW(k->n_leaves + 1, uint8_t);
						memcpy(v->path[m], path, k->n_leaves);
					}
				}
			}
	}
	fab_threads_rest(n_threads);
}

/* Trees, and lanes of the first variant that suffices; false: none so far. */
static bool try_plain(struct vtftr_ib *v, struct fab_phases *ph)
{
	struct fab_routes *r = v->routes;
	uint64_t n_others = 0;

	grow_trees(v, ph);
	v->n_left = 0;
	for (uint32_t i = 0; i < r->n_columns; i++)
		VTFTR_IB_EACH_OTHER(v, i, s) {
			n_others++;
			v->n_left += vtftr_ib_kind(v, i, s) == FAB_PATH_LEFT;
		}
	if (!n_others)
		return true;
	if (v->problem->max_vls < 2 || vtftr_ib_levels(v) < 2 ||
	    !vtftr_ib_fits_one_lane(v))
		return false;
	fab_routes_new_levels(r);
	for (uint32_t i = 0; i < r->n_columns; i++)
		VTFTR_IB_EACH_OTHER(v, i, s)
			r->sl[(size_t)s * r->n_columns + i] = 1;
	r->lanes = FAB_LANES_SL;
	r->n_vls = r->n_sls = 2;
	return true;
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
static bool try_trees(struct vtftr_ib *v, struct fab_phases *ph)
{
	uint64_t entries = (uint64_t)v->routes->n_columns * v->routes->f->n_switches;
	uint64_t least = UINT64_MAX;
	uint32_t best = 0;
	uint32_t modes = ph->plain ? 2 : 1;
	uint32_t n = (entries < LARGE ? CHOICES : CHOICES_LARGE) * modes;

	for (uint32_t i = 0; i < n; i++) {
		choose(ph, i, n);
		if (try_plain(v, ph))
			return true;
		if (v->n_left < least || (v->n_left == least && i == n - modes)) {
			least = v->n_left;
			best = i;
		}
	}
	if (best + 1 < n) {
		choose(ph, best, n);
		grow_trees(v, ph);
	}
	v->n_left = least;
	return false;
}

/* Tables and lanes that were placed, kept while others are tried. */
struct placed {
	uint16_t *next; /* of columns of leaves that had a choice, in sequence */
	uint8_t *sl, *sl2vl;
	uint64_t *vl_first;
	uint8_t n_sls, n_vls;
};

/* Exchange the columns of leaves that had a choice and the lanes with *p. */
static void swap_placed(struct vtftr_ib *v, struct placed *p)
{
	struct fab_routes *r = v->routes;
	struct placed was = {p->next, r->sl, r->sl2vl, r->vl_first, r->n_sls, r->n_vls};
	uint16_t *at = p->next;

	for (size_t i = 0; i < r->n_columns; i++)
		for (uint32_t s = 0; s < r->f->n_switches &&
				     !v->is_settled[vtftr_ib_leaf(v, (uint32_t)i)];
		     s++, at++) {
			uint16_t *own = &r->next[i * r->f->n_switches + s], next = *own;

			*own = *at;
			*at = next;
		}
	r->sl = p->sl;
	r->sl2vl = p->sl2vl;
	r->vl_first = p->vl_first;
	r->n_sls = p->n_sls;
	r->n_vls = p->n_vls;
	*p = was;
}

/* By one order of words; where that takes many levels, by the better of both orders. */
static int place(struct vtftr_ib *v, struct fab_phases *ph, bool *is_done,
		 struct fab_err *err)
{
	struct fab_routes *r = v->routes;
	struct placed first = {0};
	bool was_done;
	int rc;

	fab_routes_new_levels(r);
	rc = vtftr_ib_place(v, ph, VTFTR_IB_PHASES_FIRST, is_done, err);
	was_done = *is_done;
	if (rc || (was_done && r->n_sls <= FEW_LEVELS))
		return rc;
	if (was_done) {
		first.next =
			FAB_NEW0((size_t)r->n_columns * r->f->n_switches + 1, uint16_t);
		swap_placed(v, &first);
	}
	grow_trees(v, ph);
	fab_routes_new_levels(r);
	rc = vtftr_ib_place(v, ph, VTFTR_IB_ONES_FIRST, is_done, err);
	if (!rc && was_done && !(*is_done && r->n_sls <= first.n_sls)) {
		swap_placed(v, &first);
		r->lanes = FAB_LANES_TABLE;
		*is_done = true;
	} else if (!rc && !*is_done) {
		grow_trees(v, ph);
	}
	FAB_FREE_ALL(first.next, first.sl, first.sl2vl, first.vl_first);
	return rc;
}

/* Tables and lanes with n_rounds. */
static int assign(struct vtftr_ib *v, unsigned n_rounds, bool *is_done,
		  struct fab_err *err)
{
	FAB_AUTO(fab_phases_fini) struct fab_phases ph;
	int rc = 0;

	fab_phases_init(&ph, &v->alternatives, n_rounds);
	memset(v->is_settled, 0, ph.k->n_leaves * sizeof(*v->is_settled));
	*is_done = try_trees(v, &ph);
	if (!*is_done && n_rounds > 1)
		rc = place(v, &ph, is_done, err);
	if (!rc && !*is_done && n_rounds == ROUNDS_FIRST) {
		fab_routes_new_levels(v->routes);
		rc = vtftr_ib_order_turns(v, is_done, err);
	}
	if (!rc && !*is_done) {
		fab_routes_new_levels(v->routes);
		rc = vtftr_ib_pack(v, n_rounds, err);
		*is_done = !rc && !v->n_stuck;
	}
	return rc;
}

/* The note of the tables. */
static void note(struct vtftr_ib *v, unsigned n_rounds)
{
	unsigned max_sls = vtftr_ib_levels(v);
	uint64_t n_longer = 0;
	FAB_AUTOFREE char *limits = NULL;

	for (uint32_t i = 0; i < v->problem->kfat->n_leaves; i++)
		n_longer += v->is_longer[i];
	limits = max_sls == FAB_SLS_MAX
			 ? fab_format("%u lanes are too few", n_rounds)
			 : fab_format("%u lanes with %u service level%s are too few",
				      n_rounds, max_sls, max_sls == 1 ? "" : "s");
	if (v->n_stuck)
		v->routes->note = fab_format("%s: %llu pairs are left without a path",
					     limits, (unsigned long long)v->n_stuck);
	else if (n_longer)
		v->routes->note = fab_format(
			"%s for shortest paths: %llu destinations have longer ones",
			limits, (unsigned long long)n_longer);
	else if (n_rounds > ROUNDS_FIRST)
		v->routes->note =
			fab_format("2 lanes are too few, %u are enough", n_rounds);
}

static int solve(struct vtftr_ib *v, struct fab_err *err)
{
	unsigned max = v->problem->max_vls;
	unsigned n_rounds = max < ROUNDS_FIRST ? max : ROUNDS_FIRST;

	for (unsigned i = 0; i < TRIES_MAX + max; i++) {
		bool is_done, has_new = false;
		int rc = assign(v, n_rounds, &is_done, err);

		if (rc)
			return rc;
		if (is_done)
			break;
		if (n_rounds < max) {
			n_rounds++;
			continue;
		}
		/* destinations with pairs that have no lanes take longer paths */
		for (uint32_t k = 0; k < v->problem->kfat->n_leaves; k++) {
			has_new |= v->is_stuck[k] && !v->is_longer[k];
			v->is_longer[k] |= v->is_stuck[k];
		}
		if (!has_new)
			break;
	}
	if (v->n_stuck)
		v->n_stuck = fab_alternatives_settle(v->routes);
	note(v, n_rounds);
	return 0;
}

/* No paths yet, and trees of all leaves open. */
static void begin(struct vtftr_ib *v, const struct fab_unicast_problem *problem,
		  struct fab_arena *arena)
{
	uint32_t n = problem->kfat->n_leaves + 1;

	*v = (struct vtftr_ib){.problem = problem,
			       .is_longer = FAB_ARENA_NEW0(arena, n, bool),
			       .is_settled = FAB_ARENA_NEW0(arena, n, bool),
			       .is_stuck = FAB_ARENA_NEW0(arena, n, bool)};
	fab_alternatives_init(&v->alternatives, problem->kfat, problem->faults);
	v->routes = fab_alternatives_routes(&v->alternatives);
	v->path = FAB_ARENA_NEW0(arena, v->routes->n_columns + 1, uint8_t *);
}

/* The routes become the caller's unless rc is an error. */
static int finish(struct vtftr_ib *v, int rc, struct fab_routes **out)
{
	for (uint32_t i = 0; i < v->routes->n_columns; i++)
		free(v->path[i]);
	fab_alternatives_fini(&v->alternatives);
	if (rc)
		fab_routes_free(v->routes);
	else
		*out = v->routes;
	return rc;
}

static int route_vtftr_ib(const struct fab_unicast_engine *self,
			  const struct fab_unicast_problem *problem,
			  struct fab_routes **out, struct fab_err *err)
{
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct vtftr_ib v;

	(void)self;
	begin(&v, problem, &arena);
	return finish(&v, solve(&v, err), out);
}

const struct fab_unicast_engine fab_unicast_vtftr_ib = {
	.name = "vtftr-ib",
	.summary = "any usable line, with service levels for InfiniBand",
	.manual =
		"Any usable row or column, any number of dimensions and planes, dead root switches and links, too; shortest paths as long as lanes suffice. Service level and lane are the same where that has no cycles, nearly always while some row and some column are without faults; else lanes follow from service level, in-port and out-port (SL2VL), with as few levels as are found.",
	.needs_kfat = true,
	.route = route_vtftr_ib,
};

/*
 * Engine intermediate: after the algorithm that Liu et al. 2022 compare with (their
 * reference 31), which knows no turns: where the dimension-order path is cut, a packet
 * goes to an intermediate leaf switch first, from there to the next one or to its
 * destination, always by dimension order, and changes to another lane at each of them.
 * That is a path in phase order; as few lanes as all pairs need, up to max_vls. Pairs
 * that need more intermediate switches have no path.
 */
static int route_intermediate(const struct fab_unicast_engine *self,
			      const struct fab_unicast_problem *problem,
			      struct fab_routes **out, struct fab_err *err)
{
	uint32_t n = problem->kfat->n_leaves;
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct vtftr_ib v;
	struct fab_routes *r;
	uint64_t n_left = 1, n_others = 0;
	int rc = 0;

	(void)self;
	begin(&v, problem, &arena);
	r = v.routes;
	memset(v.is_longer, true, n * sizeof(*v.is_longer));
	for (unsigned lanes = 1; lanes <= problem->max_vls && n_left && !rc; lanes++) {
		FAB_AUTO(fab_phases_fini) struct fab_phases ph;

		fab_phases_init(&ph, &v.alternatives, lanes);
		memset(v.is_settled, 0, n * sizeof(*v.is_settled));
		grow_trees(&v, &ph);
		n_left = n_others = 0;
		for (uint32_t i = 0; i < r->n_columns; i++)
			VTFTR_IB_EACH_OTHER(&v, i, s) {
				n_others++;
				n_left += vtftr_ib_kind(&v, i, s) == FAB_PATH_LEFT;
			}
		if (!n_others || (n_left && lanes < problem->max_vls))
			continue;
		fab_routes_new_levels(r);
		rc = vtftr_ib_pack(&v, lanes, err);
	}
	for (uint32_t i = 0; n_others && !rc && i < r->n_columns; i++)
		VTFTR_IB_EACH_OTHER(&v, i, s)
			if (vtftr_ib_kind(&v, i, s) == FAB_PATH_LEFT)
				r->sl[(size_t)s * r->n_columns + i] = FAB_SL_NONE;
	if (n_left || v.n_stuck)
		r->note = fab_format(
			"%u lanes are too few: %llu pairs are left without a path",
			problem->max_vls, (unsigned long long)(n_left + v.n_stuck));
	return finish(&v, rc, out);
}

const struct fab_unicast_engine fab_unicast_intermediate = {
	.name = "intermediate",
	.summary = "by intermediate leaf switches, a lane more for each",
	.manual =
		"Where dimension order is cut, first to an intermediate leaf switch and on from there by dimension order, with another lane behind each of them: the algorithm that VTFTR is compared with for its lanes (Liu et al. 2022, reference 31). As few lanes as all pairs need, up to `--set max-vls`; what needs more has no path.",
	.needs_kfat = true,
	.route = route_intermediate,
};
