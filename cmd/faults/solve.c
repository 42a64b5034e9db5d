/* SPDX-License-Identifier: BSD-2-Clause */
/* Every set of faults by every algorithm: routed, analysed, summed. */
#include "faults.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "event/sweep.h"
#include "unicast/analysis.h"
#include "unicast/faults.h"
#include "unicast/routes.h"

/* Sets of faults that go into the database one by one. */
enum { SETS_STORED_MAX = 100000, SETS_MAX = 100 * 1000 * 1000 };

struct sets {
	const struct faults_params *p;
	struct faults_outcome *o;
	struct fab_fault_sets all;
	int n_threads;				      /* of one set */
	struct fab_routes *sound[FAULTS_MAX_ENGINES]; /* tables without any fault */
};

/* What one algorithm makes of one set of faults. */
struct analysed {
	struct fab_analysis j;
	struct fab_lost lost;
	struct fab_changes changes;
	uint32_t max_destinations;
	double load, load_before;
	double route_seconds, analysis_seconds;
	char *trouble;		   /* that --verify found; NULL: none */
	char *note, *dead;	   /* NULL: none, not needed */
	struct fab_routes *routes; /* of the only set */
};

struct fab_unicast_problem faults_problem(const struct faults_params *p,
					  const struct faults_outcome *o,
					  const struct fab_faults *faults)
{
	return (struct fab_unicast_problem){.f = o->f,
					    .faults = faults,
					    .kfat = o->kfat,
					    .max_vls = p->max_vls,
					    .max_sls = p->max_sls,
					    .roots = o->roots.of.v,
					    .n_roots = (uint32_t)o->roots.of.n,
					    .fills_roots =
						    fab_cli_fills_roots(p->root_guids),
					    .n_threads = p->run.threads};
}

static int route(const struct sets *s, const struct fab_unicast_engine *engine,
		 const struct fab_faults *faults, struct fab_routes **out,
		 struct fab_err *err)
{
	struct fab_unicast_problem problem = faults_problem(s->p, s->o, faults);

	problem.n_threads = s->n_threads;
	return engine->route(&problem, out, err);
}

static int analyse(const struct sets *s, const struct fab_routes *routes,
		   enum fab_ends ends, bool with_load, struct fab_analysis *out,
		   struct fab_err *err)
{
	const struct fab_analysis_options options = {
		.ends = ends, .with_load = with_load, .n_threads = s->n_threads};

	return fab_analyse(routes, &options, out, err);
}

/* Between what tables are analysed: an engine's on a kfat between leaf switches. */
static enum fab_ends ends_of(const struct sets *s, const struct faults_result *r)
{
	if (s->p->has_ends)
		return s->p->ends;
	return r->engine && s->o->kfat ? FAB_ENDS_LEAVES : FAB_ENDS_HOSTS;
}

/* What is exported: tables by leaf switch get columns for what hangs elsewhere. */
static struct fab_routes *complete(const struct fab_routes *routes, enum fab_ends ends)
{
	bool is_complete = ends == FAB_ENDS_LEAVES || routes->column_lid;

	return is_complete ? NULL : fab_routes_complete(routes);
}

/* What the tables and their engine have to say; on the heap, NULL: nothing. */
static char *note_of(const struct fab_unicast_engine *engine,
		     const struct fab_routes *routes)
{
	const char *caveat = engine ? engine->caveat : NULL;

	if (caveat && routes->note)
		return fab_format("%s; %s", routes->note, caveat);
	if (!caveat && !routes->note)
		return NULL;
	return fab_strdup(caveat ? caveat : routes->note);
}

/* Most destinations that a switch sends by one port to another switch. */
static uint32_t count_destinations(const struct fab_fabric *f,
				   const uint32_t *destinations)
{
	uint32_t most = 0;

	for (uint32_t a = 0; destinations && a < f->arc_first[f->n_switches]; a++)
		if (destinations[a] > most)
			most = destinations[a];
	return most;
}

/* Analyse tables into *out. */
static int analyse_tables(const struct sets *s, const struct faults_result *r,
			  const struct fab_routes *routes,
			  const struct fab_faults *faults, struct analysed *out,
			  struct fab_err *err)
{
	enum fab_ends ends = ends_of(s, r);
	double start = fab_now();
	struct fab_routes *whole = complete(routes, ends);
	const struct fab_routes *analysed = whole ? whole : routes;
	struct fab_err found;
	int rc = analyse(s, analysed, ends, s->o->is_one_set, &out->j, err);

	if (rc) {
		fab_routes_free(whole);
		return rc;
	}
	out->lost = fab_lost_count(faults, s->o->kfat, ends);
	out->analysis_seconds = fab_now() - start;
	if (s->p->run.verify && fab_unicast_verify(analysed, ends, &out->j, &found))
		out->trouble = fab_strdup(found.text);
	out->note = note_of(r->engine, routes);
	out->max_destinations = count_destinations(s->o->f, out->j.destinations);
	if (faults->named.n &&
	    (s->p->store.path || out->j.unreachable || !out->j.deadlock_free))
		out->dead = fab_faults_text(faults, ",");
	fab_routes_free(whole);
	return 0;
}

static void free_analysed(struct analysed *a)
{
	fab_analysis_fini(&a->j);
	fab_routes_free(a->routes);
	free(a->trouble);
	free(a->note);
	free(a->dead);
}

/* Loads are for one set only: they are dear. */
static int add_loads(const struct sets *s, const struct fab_routes *sound,
		     struct analysed *a, struct fab_err *err)
{
	int rc = fab_uniform_load(a->routes, &a->j, s->n_threads, &a->load, err);

	a->load_before = a->load;
	return rc || !sound ? rc
			    : fab_uniform_load(sound, NULL, s->n_threads, &a->load_before,
					       err);
}

/* Algorithm i on one set. */
static int try_engine(const struct sets *s, size_t i, const struct fab_faults *faults,
		      struct analysed *out, struct fab_err *err)
{
	const struct faults_result *r = &s->o->results[i + (s->p->files.in.lfts != NULL)];
	double start = fab_now();
	struct fab_routes *routes;
	int rc = route(s, r->engine, faults, &routes, err);

	if (rc)
		return rc;
	out->load = out->load_before = NAN;
	out->route_seconds = fab_now() - start;
	out->routes = routes;
	rc = analyse_tables(s, r, routes, faults, out, err);
	if (!rc && s->sound[i])
		out->changes = fab_changes_count(routes, s->sound[i]);
	if (!rc && s->o->is_one_set)
		return add_loads(s, s->sound[i], out, err);
	fab_routes_free(routes);
	out->routes = NULL;
	return rc;
}

static void keep_set(struct faults_result *r, uint64_t number, struct analysed *a)
{
	const struct faults_set set = {.number = number,
				       .dead = a->dead ? a->dead : fab_strdup(""),
				       .pairs = a->j.pairs,
				       .unreachable = a->j.unreachable,
				       .cycle_channels = a->j.cycle_channels,
				       .max_hops = a->j.max_hops};

	a->dead = NULL;
	FAB_PUSH(&r->each, set);
}

/* Add set `number` by one algorithm to its result; nothing of *a is left. */
static void add_analysed(const struct sets *s, struct faults_result *r, uint64_t number,
			 struct analysed *a)
{
	bool is_bad = a->j.unreachable || !a->j.deadlock_free;

	if (a->trouble)
		fab_cli_warn(&s->p->run, "%s: %s", r->algorithm, a->trouble);
	r->was_verified = s->p->run.verify;
	r->is_sound = r->is_sound && !a->trouble;
	r->sets_unreachable += a->j.unreachable > 0;
	r->sets_with_cycle += a->j.cycle_channels && !a->j.is_unknown;
	r->entries_changed += a->changes.entries;
	r->switches_changed += a->changes.switches;
	r->route_seconds += a->route_seconds;
	r->analysis_seconds += a->analysis_seconds;
	r->lost.hosts += a->lost.hosts;
	r->lost.rail_hosts += a->lost.rail_hosts;
	r->lost.adapters += a->lost.adapters;
	r->lost.pairs += a->lost.pairs;
	if (a->max_destinations > r->max_destinations)
		r->max_destinations = a->max_destinations;
	if (is_bad && !r->worst && a->dead)
		r->worst = fab_strdup(a->dead);
	if (!r->note) {
		r->note = a->note;
		a->note = NULL;
	}
	r->load = a->load;
	r->load_before = a->load_before;
	r->routes = a->routes;
	a->routes = NULL;
	if (s->p->store.path && number < SETS_STORED_MAX)
		keep_set(r, number, a);
	fab_analysis_add(&r->sum, &a->j, !r->sets++);
	free_analysed(a);
}

/* All algorithms on one set, an array of analysed; on failure nothing is left. */
static int try_set(const struct sets *s, const struct fab_faults *faults,
		   struct analysed *out, struct fab_err *err)
{
	for (size_t i = 0; i < s->p->n_engines; i++) {
		int rc = try_engine(s, i, faults, &out[i], err);

		if (!rc)
			continue;
		for (size_t k = 0; k <= i; k++)
			free_analysed(&out[k]);
		return rc;
	}
	return 0;
}

static void *open_maker(void *context)
{
	const struct sets *s = context;
	struct fab_fault_maker *maker = FAB_NEW(1, struct fab_fault_maker);

	fab_fault_maker_init(maker, &s->all);
	return maker;
}

static void close_maker(void *context, void *maker)
{
	(void)context;
	fab_fault_maker_fini(maker);
	free(maker);
}

static int work_on_set(void *context, void *memory, uint64_t number, void *result,
		       struct fab_err *err)
{
	struct fab_fault_maker *maker = memory;

	fab_fault_maker_make(maker, number);
	return try_set(context, maker->faults, result, err);
}

static void take_set(void *context, uint64_t number, void *result)
{
	const struct sets *s = context;
	struct analysed *a = result;

	for (size_t i = 0; i < s->p->n_engines; i++)
		add_analysed(s, &s->o->results[i + (s->p->files.in.lfts != NULL)], number,
			     &a[i]);
}

static void drop_set(void *context, void *result)
{
	const struct sets *s = context;
	struct analysed *a = result;

	for (size_t i = 0; i < s->p->n_engines; i++)
		free_analysed(&a[i]);
}

static int solve_loaded(struct sets *s, struct fab_err *err)
{
	struct faults_result *r = &s->o->results[0];
	struct analysed a = {.load_before = NAN};
	double start = fab_now();
	int rc = faults_read_tables(s->p, s->o, &a.routes, err);

	if (rc)
		return rc;
	r->algorithm = "loaded";
	r->is_sound = true;
	a.route_seconds = fab_now() - start;
	rc = analyse_tables(s, r, a.routes, s->o->faults, &a, err);
	if (!rc)
		rc = fab_uniform_load(a.routes, &a.j, s->n_threads, &a.load, err);
	if (!rc)
		add_analysed(s, r, 0, &a);
	return rc;
}

static int solve_one(struct sets *s, struct fab_err *err)
{
	struct analysed *a = FAB_NEW0(s->p->n_engines + 1, struct analysed);
	int rc = try_set(s, s->o->faults, a, err);

	if (!rc)
		take_set(s, 0, a);
	free(a);
	return rc;
}

/* Many sets: one a thread. */
static int solve_sets(struct sets *s, struct fab_err *err)
{
	struct fab_sweep sweep = {.what = "set of faults",
				  .n_items = s->all.n,
				  .shard = s->p->shard.part,
				  .n_threads = s->p->run.threads,
				  .result_bytes =
					  s->p->n_engines * sizeof(struct analysed),
				  .context = s,
				  .open = open_maker,
				  .close = close_maker,
				  .work = work_on_set,
				  .take = take_set,
				  .drop = drop_set,
				  .progress = fab_cli_progress_tick};
	int rc;

	s->n_threads = fab_sweep_inner_threads(&sweep);
	sweep.progress_context = fab_cli_progress_new(&s->p->run, "routing", "sets");
	rc = fab_sweep_run(&sweep, err);
	if (rc)
		fab_err_prefix(err, s->p->input.fabric);
	fab_cli_progress_free(sweep.progress_context);
	return rc;
}

/* Number the sets. EINVAL: there are too few faults, or too many sets. */
static int number_sets(struct sets *s, struct fab_err *err)
{
	const struct faults_wish *w = &s->p->wish;
	int rc = w->exhaustive ? fab_fault_sets_all(s->o->f, s->o->faults, w->dead.of,
						    w->exhaustive, &s->all, err)
			       : fab_fault_sets_random(s->o->f, s->o->faults, w->dead.of,
						       w->dead.random, w->count,
						       s->p->run.seed, &s->all, err);

	if (!rc && w->exhaustive && s->all.n > SETS_MAX)
		rc = fab_fail(err, EINVAL,
			      "--exhaustive=%u of %zu %s are more than %d sets: draw "
			      "some with --random=%u --count=N",
			      w->exhaustive, s->all.candidates.of.n,
			      fab_fault_kind_choices.names[w->dead.of], SETS_MAX,
			      w->exhaustive);
	if (rc)
		fab_err_prefix(err, s->p->input.fabric);
	s->o->n_sets = s->all.n;
	return rc;
}

/* The only set by chance is what is dead in all that follows. */
static void draw_one(struct sets *s)
{
	struct fab_fault_maker maker;

	fab_fault_maker_init(&maker, &s->all);
	fab_fault_maker_make(&maker, 0);
	for (size_t i = 0; i < maker.faults->named.n; i++)
		fab_faults_kill(s->o->faults, maker.faults->named.v[i]);
	fab_fault_maker_fini(&maker);
}

static int begin_results(struct sets *s, struct fab_err *err)
{
	const struct faults_params *p = s->p;
	struct faults_outcome *o = s->o;
	int rc = 0;

	o->n = p->n_engines + (p->files.in.lfts != NULL);
	for (size_t i = 0; i < p->n_engines && !rc; i++) {
		struct faults_result *r = &o->results[i + (p->files.in.lfts != NULL)];

		r->engine = p->engines[i];
		r->algorithm = r->engine->name;
		r->is_sound = true;
		r->shard = o->is_one_set ? NULL : fab_cli_shard_text(&p->shard);
		r->load = r->load_before = NAN;
		if (o->faults->named.n || p->wish.dead.random || p->wish.exhaustive)
			rc = route(s, r->engine, NULL, &s->sound[i], err);
	}
	return rc;
}

int faults_solve(struct faults_params *p, struct faults_outcome *o, struct fab_err *err)
{
	struct sets s = {.p = p, .o = o, .n_threads = p->run.threads};
	int rc = 0;

	o->n_sets = 1;
	if (p->files.in.lfts)
		rc = solve_loaded(&s, err);
	if (!rc)
		rc = begin_results(&s, err);
	if (!rc && (p->wish.dead.random || p->wish.exhaustive))
		rc = number_sets(&s, err);
	if (!rc && !o->is_one_set)
		rc = fab_cli_count_shard(&p->shard, o->n_sets, "sets of faults", err);
	if (!rc && o->is_one_set && p->wish.dead.random)
		draw_one(&s);
	if (!rc)
		rc = o->is_one_set ? solve_one(&s, err) : solve_sets(&s, err);
	for (size_t i = 0; i < p->n_engines; i++)
		fab_routes_free(s.sound[i]);
	fab_fault_sets_fini(&s.all);
	return rc;
}
