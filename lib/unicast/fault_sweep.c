/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/fault_sweep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "fabric/planes.h"
#include "unicast/kfat/segments.h"

enum { SETS_MAX = 100 * 1000 * 1000 };

/* A run: tables without any fault, results, threads of one set. */
struct run {
	const struct fab_faults_sweep *s;
	struct fab_routes **sound; /* [n_engines] NULL: there are no faults */
	struct fab_planes *planes; /* of the fabric */
	struct fab_fold *fold;	   /* one plane represents all; NULL: it does not */
	struct fab_faults_result *results;
	int n_threads;
};

/* One set of faults by one algorithm. */
struct analysed {
	struct fab_analysis j;
	struct fab_lost lost;
	struct fab_changes changes;
	uint32_t max_destinations;
	double load, load_before;
	double route_seconds, analysis_seconds;
	char *trouble;		     /* found by the verification; NULL: none */
	char *note, *instead, *dead; /* NULL: none, not needed */
	struct fab_routes *routes;   /* of the only set */
};

static void free_analysed(struct analysed *a)
{
	fab_analysis_fini(&a->j);
	fab_routes_free(a->routes);
	FAB_FREE_ALL(a->trouble, a->note, a->instead, a->dead);
}

int fab_faults_sweep_init(struct fab_faults_sweep *s, struct fab_err *err)
{
	struct fab_stream stream = fab_stream_of(s->seed, 0);
	int rc;

	s->problem.faults = s->faults;
	s->is_one_set = !s->exhaustive && (!s->random || s->count == 1);
	s->n_sets = 1;
	if (!s->exhaustive && !s->random)
		return 0;
	s->sets = (struct fab_fault_sets){.always = s->faults,
					  .k = s->exhaustive ? s->exhaustive : s->random,
					  .is_exhaustive = s->exhaustive > 0,
					  .n = s->count,
					  .seed = s->seed};
	rc = fab_fault_sets_init(&s->sets, s->of, err);
	if (!rc && s->exhaustive && s->sets.n > SETS_MAX)
		rc = fab_fail(
			err, EINVAL,
			"--exhaustive=%u of %zu %s are more than %d sets: draw some with --random=%u --count=N",
			s->exhaustive, s->sets.candidates.of.n,
			fab_fault_kind_choices.names[s->of], SETS_MAX, s->exhaustive);
	if (rc)
		return rc;
	s->n_sets = s->sets.n;
	if (s->is_one_set)
		fab_faults_draw(s->faults, &s->sets.candidates, s->random, &stream);
	return 0;
}

/* Analyse tables into *out. */
static int analyse_tables(const struct run *x, const struct fab_unicast_engine *engine,
			  const struct fab_routes *routes,
			  const struct fab_faults *faults, struct analysed *out,
			  struct fab_err *err)
{
	const struct fab_faults_sweep *s = x->s;
	const struct fab_fabric *f = routes->f;
	const struct fab_kfat *kfat = s->problem.kfat;
	const char *caveat = engine ? engine->caveat : NULL;
	const struct fab_analysis_options options = {
		.ends = s->has_ends	 ? s->ends
			: engine && kfat ? FAB_ENDS_LEAVES
					 : FAB_ENDS_HOSTS,
		.with_load = s->is_one_set,
		.n_threads = x->n_threads,
		.planes = x->fold ? NULL : x->planes};
	double start = fab_now();
	/* as exported: tables by leaf switch get columns for other switches with ends */
	FAB_AUTO(fab_routes_free_at)
	struct fab_routes *whole = options.ends == FAB_ENDS_LEAVES || routes->column_lid
					   ? NULL
					   : fab_routes_complete(routes);
	const struct fab_routes *analysed = whole ? whole : routes;
	struct fab_err found;
	int rc = fab_analyse(analysed, &options, &out->j, err);

	if (rc)
		return rc;
	out->lost = fab_lost_count(faults, kfat, options.ends, x->planes);
	out->analysis_seconds = fab_now() - start;
	if (s->verify && fab_unicast_verify(analysed, options.ends, &out->j, &found))
		out->trouble = fab_strdup(found.text);
	if (caveat && routes->note)
		out->note = fab_format("%s; %s", routes->note, caveat);
	else if (caveat || routes->note)
		out->note = fab_strdup(caveat ? caveat : routes->note);
	out->instead = routes->instead ? fab_strdup(routes->instead) : NULL;
	for (uint32_t sw = 0; out->j.destinations && sw < f->n_switches; sw++)
		FAB_EACH_ARC(f, sw, a) {
			uint32_t n = out->j.destinations[a];

			n *= x->fold ? x->fold->copies[sw] : 1;
			if (n > out->max_destinations)
				out->max_destinations = n;
		}
	if (x->fold)
		fab_fold_undo(x->fold, &out->j);
	if (faults->named.n && (s->n_kept || out->j.unreachable || !out->j.deadlock_free))
		out->dead = fab_faults_text(faults, ",");
	return 0;
}

static int route(const struct run *x, size_t engine, const struct fab_faults *faults,
		 struct fab_routes **out, struct fab_err *err)
{
	struct fab_unicast_problem problem = x->s->problem;

	if (x->fold) {
		problem.f = x->fold->f;
		problem.kfat = x->fold->kfat;
	}
	problem.faults = faults;
	problem.n_threads = x->n_threads;
	return fab_unicast_route(x->s->engines[engine], &problem, out, err);
}

/* How many hosts each leaf switch has that the tables name; 0: not all have as many, some
 * hang elsewhere, or have several LIDs, or several columns lead to a leaf. */
static uint32_t hosts_a_leaf(const struct fab_routes *r)
{
	const struct fab_fabric *f = r->f;
	FAB_AUTOFREE uint32_t *hosts = FAB_NEW0((size_t)f->n_switches + 1, uint32_t);
	bool are_alike = r->leaf && !r->column_lid && r->n_columns == r->n_leaves;
	uint32_t total = 0, n;

	for (uint32_t p = 0; are_alike && p < f->n_ports; p++) {
		uint32_t sw = FAB_NONE;

		if (f->node_kind[f->port_node[p]] == FAB_ADAPTER)
			sw = fab_faults_port_switch(f, r->faults, p);
		if (sw == FAB_NONE)
			continue;
		hosts[sw]++;
		total++;
		are_alike = fab_port_n_lids(f, p) == 1;
	}
	n = are_alike && total ? hosts[r->leaf[0]] : 0;
	for (uint32_t i = 0; are_alike && i < r->n_leaves; i++)
		are_alike = hosts[r->leaf[i]] == n && r->column_switch[i] == r->leaf[i];
	return are_alike && total == n * r->n_leaves ? n : 0;
}

/*
 * fab_uniform_load() from the load between hosts or leaves, which `known` may hold
 * already (NULL: it is unknown), where leaves are alike; of one plane for all.
 */
static int host_load(const struct run *x, const struct fab_routes *routes,
		     const struct fab_analysis *known, double *out, struct fab_err *err)
{
	const struct fab_analysis_options options = {
		.ends = FAB_ENDS_LEAVES, .only_load = true, .n_threads = x->n_threads};
	FAB_AUTO(fab_analysis_fini) struct fab_analysis j = {.load = NULL};
	uint32_t n_planes = x->fold ? x->fold->n_planes : 1;
	uint64_t n_lids;
	int rc = 0;

	if (known && known->load && known->between == FAB_ENDS_HOSTS) {
		*out = fab_load_per_host(known->max_load, known->pairs, known->ends);
		return 0;
	}
	n_lids = x->fold ? x->fold->n_lids : hosts_a_leaf(routes);
	if (!n_lids)
		return fab_uniform_load(routes, x->n_threads, out, err);
	if (!known || !known->load || known->between != FAB_ENDS_LEAVES) {
		rc = fab_analyse(routes, &options, &j, err);
		known = &j;
	}
	if (rc)
		return rc;
	/* between two leaves n_lids * n_lids pairs of LIDs, spread over the planes;
	 * others within a leaf */
	*out = fab_load_per_host(known->max_load * n_lids * (n_lids / n_planes),
				 n_lids * n_lids * known->pairs +
					 n_lids * (n_lids - 1) * known->ends,
				 n_lids * known->ends);
	return 0;
}

/* Algorithm i on one set. Loads are for the only set: they are expensive. */
static int try_engine(const struct run *x, size_t i, const struct fab_faults *faults,
		      struct analysed *out, struct fab_err *err)
{
	double start = fab_now();
	FAB_AUTO(fab_faults_free_at)
	struct fab_faults *folded = x->fold ? fab_fold_faults(x->fold, faults) : NULL;
	struct fab_routes *routes;
	int rc = route(x, i, folded ? folded : faults, &routes, err);

	if (rc)
		return rc;
	out->load = out->load_before = NAN;
	out->route_seconds = fab_now() - start;
	out->routes = routes;
	rc = analyse_tables(x, x->s->engines[i], routes, faults, out, err);
	if (!rc && x->sound[i]) {
		out->changes = fab_changes_count(routes, x->sound[i],
						 x->fold ? x->fold->copies : NULL);
		out->changes.entries *= x->fold ? x->fold->n_planes : 1;
	}
	if (!rc && x->s->is_one_set) {
		rc = host_load(x, routes, &out->j, &out->load, err);
		out->load_before = out->load;
		if (!rc && x->sound[i])
			rc = host_load(x, x->sound[i], NULL, &out->load_before, err);
	}
	if (!x->s->is_one_set || x->fold) {
		fab_routes_free(routes);
		out->routes = NULL;
	}
	return rc;
}

/* Add set `number` by one algorithm to its result; nothing of *a is left. */
static void add_analysed(const struct fab_faults_sweep *s, struct fab_faults_result *r,
			 uint64_t number, struct analysed *a)
{
	bool is_bad = a->j.unreachable || !a->j.deadlock_free;

	if (a->trouble)
		s->on_trouble(s->trouble_context, r->algorithm, a->trouble);
	r->was_verified = s->verify;
	r->is_sound = r->is_sound && !a->trouble;
	r->sets_unreachable += a->j.unreachable > 0;
	r->sets_with_cycle += a->j.cycle_channels && !a->j.is_unknown;
	r->changes.entries += a->changes.entries;
	r->changes.switches += a->changes.switches;
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
	if (!r->instead) {
		r->instead = a->instead;
		a->instead = NULL;
	}
	r->load = a->load;
	r->load_before = a->load_before;
	r->routes = a->routes;
	a->routes = NULL;
	if (number < s->n_kept) {
		const struct fab_faults_set set = {.number = number,
						   .dead = a->dead ? a->dead
								   : fab_strdup(""),
						   .pairs = a->j.pairs,
						   .unreachable = a->j.unreachable,
						   .cycle_channels = a->j.cycle_channels,
						   .max_hops = a->j.max_hops};

		a->dead = NULL;
		FAB_PUSH(&r->each, set);
	}
	fab_analysis_add(&r->sum, &a->j, !r->sets++);
	free_analysed(a);
}

static void *open_maker(void *context)
{
	return fab_fault_maker_new(&((const struct run *)context)->s->sets);
}

static void close_maker(void *context, void *maker)
{
	(void)context;
	fab_fault_maker_free(maker);
}

/* All algorithms on one set (memory NULL: the only one), an array of analysed; on failure
 * nothing is left. */
static int work_on_set(void *context, void *memory, uint64_t number, void *result,
		       struct fab_err *err)
{
	const struct run *x = context;
	const struct fab_faults *faults = x->s->faults;
	struct fab_fault_maker *maker = memory;
	struct analysed *out = result;

	if (maker) {
		fab_fault_maker_make(maker, number);
		faults = maker->faults;
	}
	for (size_t i = 0; i < x->s->n_engines; i++) {
		int rc = try_engine(x, i, faults, &out[i], err);

		if (!rc)
			continue;
		for (size_t k = 0; k <= i; k++)
			free_analysed(&out[k]);
		return rc;
	}
	return 0;
}

static void take_set(void *context, uint64_t number, void *result)
{
	const struct run *x = context;
	struct analysed *a = result;

	for (size_t i = 0; i < x->s->n_engines; i++)
		add_analysed(x->s, &x->results[i], number, &a[i]);
}

static void drop_set(void *context, void *result)
{
	struct analysed *a = result;

	for (size_t i = 0; i < ((const struct run *)context)->s->n_engines; i++)
		free_analysed(&a[i]);
}

/* The only set, or a set a thread. */
static int try_sets(struct run *x, struct fab_err *err)
{
	const struct fab_faults_sweep *s = x->s;
	const struct fab_sweep sweep = {.what = "set of faults",
					.n_items = s->n_sets,
					.shard = s->shard,
					.n_threads = s->problem.n_threads,
					.result_bytes =
						s->n_engines * sizeof(struct analysed),
					.context = x,
					.open = open_maker,
					.close = close_maker,
					.work = work_on_set,
					.take = take_set,
					.drop = drop_set,
					.progress = s->progress,
					.progress_context = s->progress_context};
	FAB_AUTOFREE struct analysed *a = NULL;
	int rc;

	if (!s->is_one_set) {
		x->n_threads = fab_sweep_inner_threads(&sweep);
		rc = fab_sweep_run(&sweep, err);
		if (rc)
			fab_err_prefix(err, s->problem.f->source);
		return rc;
	}
	a = FAB_NEW0(s->n_engines + 1, struct analysed);
	rc = work_on_set(x, NULL, 0, a, err);
	if (!rc)
		take_set(x, 0, a);
	return rc;
}

int fab_faults_sweep_run(struct fab_faults_sweep *s, struct fab_faults_result *results,
			 struct fab_err *err)
{
	struct run x = {.s = s,
			.sound = FAB_NEW0(s->n_engines + 1, struct fab_routes *),
			.planes = fab_planes_new(s->problem.f),
			.results = results,
			.n_threads = s->problem.n_threads};
	bool may_fold = s->problem.kfat && !s->verify && !s->needs_tables &&
			(!s->has_ends || s->ends == FAB_ENDS_LEAVES) &&
			((!s->random && !s->exhaustive) || s->of == FAB_FAULT_LEAVES);
	int rc = 0;

	for (size_t i = 0; i < s->n_engines; i++)
		may_fold = may_fold && s->engines[i]->treats_planes_alike;
	if (may_fold)
		x.fold = fab_fold_new(s->problem.kfat);
	if (x.fold) {
		FAB_AUTO(fab_faults_free_at)
		struct fab_faults *folded = fab_fold_faults(x.fold, s->faults);

		if (!folded) {
			fab_fold_free(x.fold);
			x.fold = NULL;
		}
	}
	for (size_t i = 0; i < s->n_engines && !rc; i++) {
		results[i].engine = s->engines[i];
		results[i].algorithm = s->engines[i]->name;
		results[i].is_sound = true;
		results[i].load = results[i].load_before = NAN;
		if (s->faults->named.n || s->random || s->exhaustive)
			rc = route(&x, i, NULL, &x.sound[i], err);
	}
	if (!rc)
		rc = try_sets(&x, err);
	for (size_t i = 0; i < s->n_engines; i++)
		fab_routes_free(x.sound[i]);
	free(x.sound);
	fab_fold_free(x.fold);
	fab_planes_free(x.planes);
	return rc;
}

int fab_faults_add_loaded(struct fab_faults_sweep *s, struct fab_routes *routes,
			  double seconds, struct fab_faults_result *result,
			  struct fab_err *err)
{
	const struct run x = {.s = s, .n_threads = s->problem.n_threads};
	struct analysed a = {
		.load_before = NAN, .routes = routes, .route_seconds = seconds};
	int rc = analyse_tables(&x, NULL, routes, s->faults, &a, err);

	result->algorithm = "loaded";
	result->is_sound = true;
	if (!rc)
		rc = host_load(&x, routes, &a.j, &a.load, err);
	if (!rc)
		add_analysed(s, result, 0, &a);
	else
		free_analysed(&a);
	return rc;
}

void fab_faults_sweep_fini(struct fab_faults_sweep *s)
{
	fab_fault_sets_fini(&s->sets);
}

void fab_faults_result_fini(struct fab_faults_result *r)
{
	fab_analysis_fini(&r->sum);
	fab_routes_free(r->routes);
	for (size_t k = 0; k < r->each.n; k++)
		free(r->each.v[k].dead);
	FAB_FREE_ALL(r->each.v, r->note, r->instead, r->worst);
}
