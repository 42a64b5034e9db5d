/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search of remedies: sets of cables that are left out, the order of what is tried,
 * and remedies that leave the cables alone. Trials and moves of cables are in moves.c.
 */
#include "unicast/cure/impl.h"

#include "base/order.h"
#include "base/threads.h"
#include "unicast/faults.h"
#include "unicast/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Sets of cables that are left out, built up along the paths that close the loop: each
 * cable alone, then the best with one more.
 */

enum {
	BEAM = 6,	     /* sets that are built up further */
	COLUMNS_LOOKED = 64, /* destinations of which paths are looked at */
};

/* Does a tree have no path that goes on so? Up, then down is right; 0: on one rank. */
static bool is_turn(const struct fab_cure_search *s, uint32_t from, uint32_t at,
		    uint32_t to)
{
	const uint32_t *rank = s->ranks.rank;

	return rank[at] <= rank[from] && rank[to] >= rank[at];
}

/* Count the cables of the paths to a column that leave `from` by `first` and go on by
 * `second`. */
static void count_paths(const struct fab_cure_search *s, const struct fab_routes *r,
			uint32_t column, uint32_t first, uint32_t second, uint32_t *uses)
{
	const struct fab_fabric *f = s->f;

	for (uint32_t u = 0; u < f->n_switches; u++) {
		struct fab_path p = fab_path_from(r, u, column);
		uint32_t before = FAB_NONE;
		bool is_on = false;

		if (!s->n_hosts[u])
			continue;
		while (!is_on && fab_path_step(&p)) {
			is_on = before == first && p.arc == second;
			before = p.arc;
		}
		if (!is_on)
			continue;
		p = fab_path_from(r, u, column);
		while (fab_path_step(&p))
			uses[f->arc_cable[p.arc]]++;
	}
}

struct use {
	uint32_t cable, n;
};

FAB_ORDER_MIXED(by_uses, struct use, FAB_DOWN(n) FAB_UP(cable))

/*
 * The cables on paths that close the shortest cycle: those of a tree that turn up again,
 * where there are any, else all that follow a step of it. Most used first.
 */
static void find_candidates(const struct fab_cure_search *s,
			    const struct fab_cure_tables *x, struct fab_cure_set *out)
{
	const struct fab_fabric *f = s->f;
	const struct fab_routes *r = x->routes;
	FAB_AUTOFREE uint32_t *uses = FAB_NEW0((size_t)f->n_cables + 1, uint32_t);
	size_t n = x->j.cycle.n, n_turns = 0;
	FAB_AUTOFREE FAB_VEC(struct use) list = {.n = 0};

	for (int only_turns = 1; only_turns >= 0 && (only_turns || !n_turns);
	     only_turns--)
		for (size_t i = 0; i < n; i++) {
			const struct fab_channel *a = &x->j.cycle.v[i];
			const struct fab_channel *b = &x->j.cycle.v[(i + 1) % n];
			uint32_t first = f->arc_first[a->sw] + a->arc;
			uint32_t second = f->arc_first[b->sw] + b->arc, looked = 0;

			if (only_turns && !is_turn(s, a->sw, b->sw, f->arc_peer[second]))
				continue;
			n_turns++;
			uses[f->arc_cable[first]]++;
			uses[f->arc_cable[second]]++;
			for (uint32_t c = 0; c < r->n_columns && looked < COLUMNS_LOOKED;
			     c++) {
				const uint16_t *next = fab_routes_next(r, c);

				if (next[a->sw] != a->arc || next[b->sw] != b->arc)
					continue;
				looked++;
				count_paths(s, r, c, first, second, uses);
			}
		}
	for (uint32_t c = 0; c < f->n_switch_links; c++)
		if (uses[c])
			FAB_PUSH(&list, ((struct use){c, uses[c]}));
	FAB_SORT(&list, by_uses);
	for (size_t i = 0; i < list.n && out->n_more < FAB_CURE_CANDIDATES; i++)
		out->more[out->n_more++] = list.v[i].cable;
}

/* Route and analyse without the cables of a set. */
static void try_set(const struct fab_cure_search *s, struct fab_cure_set *set)
{
	FAB_AUTO(fab_faults_free_at) struct fab_faults *faults = fab_faults_new(s->f);
	struct fab_unicast_problem p = s->problem;
	struct fab_cure_tables x;

	for (size_t i = 0; i < set->n; i++) {
		fab_faults_kill_cable(faults, set->cables[i]);
		set->n_proper += fab_cure_is_proper(s, set->cables[i]);
	}
	p.faults = faults;
	p.n_threads = 1;
	set->rc = fab_cure_judge(s, &p, s->engine, &x, &set->err);
	set->is_done = true;
	if (!set->rc) {
		set->is_cured = fab_cure_works(s, &x.j, 0);
		set->channels = x.j.cycle_channels;
		set->pairs = x.j.pairs_on_cycles;
		set->turns = x.j.valley_pairs;
		if (!set->is_cured && x.j.cycle.n && set->n < FAB_CURE_DEPTH)
			find_candidates(s, &x, set);
		fab_cure_tables_fini(&x);
	}
}

/* The best first; sets whose cables cut pairs off are no way further. */
static int by_loop(const void *a, const void *b)
{
	const struct fab_cure_set *x = a, *y = b;

	if (x->is_cured != y->is_cured)
		return x->is_cured ? -1 : 1;
	if (!x->n_more != !y->n_more)
		return x->n_more ? -1 : 1;
	FAB_ORDER_BY(x, y, channels);
	FAB_ORDER_BY(x, y, pairs);
	FAB_ORDER_BY(x, y, n_proper);
	FAB_ORDER_BY(x, y, turns);
	return memcmp(x->cables, y->cables, sizeof(x->cables));
}

/* A set and one cable more; false: it has that cable. */
static bool extend(const struct fab_cure_set *set, uint32_t cable,
		   struct fab_cure_set *out)
{
	size_t i = 0;

	*out = (struct fab_cure_set){.n = 0};
	for (; i < set->n && set->cables[i] < cable; i++)
		out->cables[out->n++] = set->cables[i];
	if (i < set->n && set->cables[i] == cable)
		return false;
	out->cables[out->n++] = cable;
	for (; i < set->n; i++)
		out->cables[out->n++] = set->cables[i];
	return true;
}

/* The sets of one cable more than those of `from`, each once, as many as may be tried. */
static void extend_all(struct fab_cure_search *s, const struct fab_cure_set *from,
		       size_t n, struct fab_cure_sets *out)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < from[i].n_more; k++) {
			struct fab_cure_set set;
			bool is_new = extend(&from[i], from[i].more[k], &set);

			for (size_t m = 0; m < out->of.n && is_new; m++)
				is_new = memcmp(set.cables, out->of.v[m].cables,
						sizeof(set.cables)) != 0;
			if (!is_new)
				continue;
			if (!s->sets_left) {
				s->out->has_given_up = true;
				return;
			}
			s->sets_left--;
			FAB_PUSH(&out->of, set);
		}
}

/* Try all of them, a set a thread. */
static int try_sets(struct fab_cure_search *s, struct fab_cure_sets *sets,
		    struct fab_err *err)
{
	int n_threads = fab_threads_for(s->problem.n_threads, UINT64_MAX);
	bool stop = false;

#pragma omp parallel for num_threads(n_threads) schedule(dynamic) if (n_threads > 1)
	for (size_t i = 0; i < sets->of.n; i++) {
		bool ends;

#pragma omp atomic read
		ends = stop;
		if (ends)
			continue;
		try_set(s, &sets->of.v[i]);
#pragma omp critical
		if (fab_cure_is_stopped(s, s->out->n_tried++, 0)) {
#pragma omp atomic write
			stop = true;
		}
	}
	fab_threads_rest(n_threads);
	if (stop)
		return fab_fail(err, ECANCELED, "stopped");
	for (size_t i = 0; i < sets->of.n; i++)
		if (sets->of.v[i].rc) {
			*err = sets->of.v[i].err;
			return sets->of.v[i].rc;
		}
	return 0;
}

/* The smallest sets of cables without which there is no loop, *n_cured of them
 * first in *out, which the caller frees. */
static int find_sets(struct fab_cure_search *s, struct fab_cure_sets *out,
		     size_t *n_cured, struct fab_err *err)
{
	struct fab_cure_sets last = {.of = {0}};
	struct fab_cure_set none = {.n = 0};
	int rc = 0;

	*n_cured = 0;
	find_candidates(s, &s->now, &none);
	FAB_PUSH(&last.of, none);
	for (size_t depth = 1; depth <= s->most_cables && !*n_cured && !rc; depth++) {
		struct fab_cure_sets next = {.of = {0}};

		extend_all(s, last.of.v, last.of.n < BEAM ? last.of.n : BEAM, &next);
		free(last.of.v);
		last = next;
		if (!last.of.n)
			break;
		rc = try_sets(s, &last, err);
		if (rc)
			break;
		s->out->n_searched = (uint32_t)depth;
		qsort(last.of.v, last.of.n, sizeof(*last.of.v), by_loop);
		while (*n_cured < last.of.n && last.of.v[*n_cured].is_cured)
			++*n_cured;
	}
	*out = last;
	return rc;
}

/* The search. */

enum {
	SETS_KEPT = 12, /* cures by leaving out that are reported */
	SETS_MOVED = 4, /* of these: cables are moved instead */
	SETS_LEAST = 60,
	SETS_MOST = 600,
	PAIRS_DROPPED = 8, /* switch pairs that are tried one by one */
};

/* Tables in which the pairs that are marked must not send: [switch pair of the list]. */
static void forbid(const struct fab_cure_search *s, struct fab_routes *r,
		   const bool *is_in)
{
	const struct fab_pair_list *list = &s->loop->valleys;
	FAB_AUTOFREE uint32_t *row = fab_routes_sl_rows(r);

	memset(r->sl, 0, (size_t)r->n_sl_sources * r->n_columns);
	for (size_t i = 0; i < list->n; i++)
		for (uint32_t c = 0; c < r->n_columns && is_in[i]; c++)
			if (r->column_switch[c] == list->v[i].to)
				r->sl[(size_t)row[list->v[i].from] * r->n_columns + c] =
					FAB_SL_NONE;
}

/* Is there no loop without these pairs? Then x->j is the analysis. */
static int try_pairs(const struct fab_cure_search *s, struct fab_cure_tables *x,
		     const bool *is_in, bool *works, struct fab_err *err)
{
	int rc;

	forbid(s, x->routes, is_in);
	fab_analysis_fini(&x->j);
	rc = fab_cure_analyse(s, &s->problem, x, err);
	*works = !rc && fab_cure_works(s, &x->j, UINT64_MAX / 2);
	return rc;
}

/* The pairs of switches whose paths turn up again, as few of them as possible. */
static int find_pairs(struct fab_cure_search *s, struct fab_err *err)
{
	const struct fab_pair_list *list = &s->loop->valleys;
	bool *is_in = FAB_ARENA_NEW0(&s->out->arena, list->n + 1, bool);
	struct fab_cure cure = {.kind = FAB_CURE_PAIRS, .engine = s->engine};
	FAB_AUTO(fab_cure_tables_fini) struct fab_cure_tables x = {.routes = NULL};
	uint64_t n_turning = 0;
	bool works = false;
	int rc;

	for (size_t i = 0; i < list->n; i++) {
		n_turning += list->v[i].pairs;
		is_in[i] = true;
	}
	/* the list is cut at FAB_PAIRS_MAX; other tables have levels already */
	if (!list->n || n_turning != s->loop->valley_pairs ||
	    !s->now.routes->column_lid || s->now.routes->lanes != FAB_LANES_ONE)
		return 0;
	rc = fab_unicast_route(s->engine, &s->problem, &x.routes, err);
	if (rc)
		return rc;
	x.routes->n_sl_sources = s->f->n_switches;
	x.routes->sl_source = FAB_NEW((size_t)s->f->n_switches + 1, uint32_t);
	for (uint32_t i = 0; i < s->f->n_switches; i++)
		x.routes->sl_source[i] = i;
	x.routes->sl =
		FAB_NEW0((size_t)s->f->n_switches * x.routes->n_columns + 1, uint8_t);
	rc = try_pairs(s, &x, is_in, &works, err);
	for (size_t i = 0; i < list->n && works && !rc && list->n <= PAIRS_DROPPED; i++) {
		bool is_needed;

		is_in[i] = false;
		rc = try_pairs(s, &x, is_in, &is_needed, err);
		is_in[i] = !is_needed;
	}
	if (works && !rc)
		rc = try_pairs(s, &x, is_in, &works, err);
	if (works && !rc) {
		cure.pairs = FAB_ARENA_NEW(&s->out->arena, list->n + 1, struct fab_pairs);
		for (size_t i = 0; i < list->n; i++)
			if (is_in[i])
				cure.pairs[cure.n_switch_pairs++] = list->v[i];
		/* all that are forbidden, and no others */
		cure.n_pairs = x.j.unreachable - s->loop->unreachable;
		rc = fab_cure_keep(s, &cure, &x, err);
	}
	return rc;
}

/* Another algorithm for the unchanged fabric; `fills_roots`: updn that is given roots. */
static int try_engine(struct fab_cure_search *s, const struct fab_unicast_engine *engine,
		      bool fills_roots, struct fab_err *err)
{
	struct fab_cure cure = {.kind = fills_roots ? FAB_CURE_ROOTS : FAB_CURE_ENGINE,
				.engine = engine};
	struct fab_unicast_problem p = s->problem;
	struct fab_cure_tables x;
	int rc = 0;

	p.fills_roots = fills_roots;
	if (fab_unicast_fits(engine, &p, NULL) || fab_cure_judge(s, &p, engine, &x, NULL))
		return 0;
	if (fab_cure_works(s, &x.j, 0))
		rc = fab_cure_keep(s, &cure, &x, err);
	fab_cure_tables_fini(&x);
	return rc;
}

/* The least change first. */
static int by_change(const void *a, const void *b)
{
	const struct fab_cure *x = a, *y = b;

	if (!x->n_cables != !y->n_cables)
		return x->n_cables ? -1 : 1;
	FAB_ORDER_BY(x, y, n_cables);
	FAB_ORDER_BY(x, y, n_proper);
	if (x->n_cables && !x->valley_pairs != !y->valley_pairs)
		return x->valley_pairs ? 1 : -1;
	FAB_ORDER_BY(x, y, kind);
	FAB_ORDER_BY(x, y, valley_pairs);
	FAB_ORDER_BY(x, y, entries);
	return x->edit && y->edit ? strcmp(x->edit, y->edit) : 0;
}

static int find_all(struct fab_cure_search *s, struct fab_err *err)
{
	struct fab_cure_sets sets = {.of = {0}};
	size_t n_cured;
	int rc = fab_cure_judge(s, &s->problem, s->engine, &s->now, err);

	if (!rc)
		rc = fab_cure_search_moves(s, err);
	if (!rc)
		rc = find_sets(s, &sets, &n_cured, err);
	for (size_t i = 0; !rc && i < n_cured && i < SETS_KEPT; i++) {
		rc = fab_cure_keep_set(s, &sets.of.v[i], false, err);
		if (!rc && i < SETS_MOVED)
			rc = fab_cure_keep_set(s, &sets.of.v[i], true, err);
	}
	free(sets.of.v);
	if (!rc)
		rc = find_pairs(s, err);
	/* updn that finds its own roots is among the algorithms */
	if (!rc)
		rc = try_engine(s, &fab_unicast_updn, true, err);
	/* another program would take seconds for each of its engines */
	for (size_t i = 0; i < fab_unicast_n_engines && !rc; i++)
		if (fab_unicast_engines[i] != s->engine &&
		    !fab_unicast_engines[i]->is_outside)
			rc = try_engine(s, fab_unicast_engines[i], false, err);
	if (!rc && s->out->of.n)
		qsort(s->out->of.v, s->out->of.n, sizeof(*s->out->of.v), by_change);
	return rc;
}

int fab_cures_find(const struct fab_unicast_problem *problem,
		   const struct fab_unicast_engine *engine,
		   const struct fab_analysis *loop,
		   const struct fab_cure_options *options, struct fab_cures *out,
		   struct fab_err *err)
{
	struct fab_effort effort = fab_unicast_effort(engine, problem);
	double sets = options->cpu_seconds / (effort.cpu_seconds + 1e-3);
	struct fab_cure_search s = {.problem = *problem,
				    .engine = engine,
				    .options = options,
				    .loop = loop,
				    .f = problem->f,
				    .resolver = fab_resolver_new(problem->f),
				    .sets_left = sets < SETS_LEAST  ? SETS_LEAST
						 : sets > SETS_MOST ? SETS_MOST
								    : (uint32_t)sets,
				    .most_cables = FAB_CURE_DEPTH,
				    .out = out};
	FAB_AUTO(fab_shape_free_at)
	struct fab_shape *shape = fab_shape_recognize(problem->f);
	int rc;

	*out = (struct fab_cures){.n_tried = 0};
	fab_ranks_init(&s.ranks, s.f, shape);
	s.n_hosts = FAB_NEW((size_t)s.f->n_switches + 1, uint32_t);
	fab_ranks_count_hosts(s.f, s.n_hosts);
	rc = find_all(&s, err);
	if (s.now.routes)
		fab_cure_tables_fini(&s.now);
	free(s.n_hosts);
	fab_ranks_fini(&s.ranks);
	fab_resolver_free(s.resolver);
	return rc;
}

void fab_cures_fini(struct fab_cures *cures)
{
	free(cures->of.v);
	fab_arena_free(&cures->arena);
	*cures = (struct fab_cures){.n_tried = 0};
}
