/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search of remedies as a whole: what is tried, in which order; and remedies that
 * leave the cables alone.
 */
#include "unicast/cure/impl.h"

#include "base/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	FAB_AUTOFREE uint32_t *row = fab_none_new((size_t)s->f->n_switches + 1);

	for (uint32_t i = 0; i < r->n_sl_sources; i++)
		row[r->sl_source[i]] = i;
	memset(r->sl, 0, (size_t)r->n_sl_sources * r->n_columns);
	for (size_t i = 0; i < list->n; i++)
		for (uint32_t c = 0; c < r->n_columns && is_in[i]; c++)
			if (r->column_switch[c] == list->v[i].to)
				r->sl[(size_t)row[list->v[i].from] * r->n_columns + c] =
					FAB_SL_NONE;
}

/* Is there no loop without these pairs? Then x->j is the analysis. */
static int try_pairs(const struct fab_cure_search *s, struct fab_cure_tables *x,
		     const bool *is_in, uint64_t n_pairs, bool *works,
		     struct fab_err *err)
{
	int rc;

	forbid(s, x->routes, is_in);
	fab_analysis_fini(&x->j);
	rc = fab_cure_analyse(s, &s->problem, x, err);
	*works = !rc && fab_cure_works(s, &x->j, n_pairs);
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
	rc = s->engine->route(&s->problem, &x.routes, err);
	if (rc)
		return rc;
	x.routes->n_sl_sources = s->f->n_switches;
	x.routes->sl_source = FAB_NEW((size_t)s->f->n_switches + 1, uint32_t);
	for (uint32_t i = 0; i < s->f->n_switches; i++)
		x.routes->sl_source[i] = i;
	free(x.routes->sl);
	x.routes->sl =
		FAB_NEW0((size_t)s->f->n_switches * x.routes->n_columns + 1, uint8_t);
	rc = try_pairs(s, &x, is_in, UINT64_MAX / 2, &works, err);
	for (size_t i = 0; i < list->n && works && !rc && list->n <= PAIRS_DROPPED; i++) {
		bool is_needed;

		is_in[i] = false;
		rc = try_pairs(s, &x, is_in, UINT64_MAX / 2, &is_needed, err);
		is_in[i] = !is_needed;
	}
	if (works && !rc)
		rc = try_pairs(s, &x, is_in, UINT64_MAX / 2, &works, err);
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

/* Another algorithm for the fabric as it is; `fills_roots`: updn that is given roots. */
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
		rc = fab_cure_find_sets(s, &sets, &n_cured, err);
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
