/* SPDX-License-Identifier: BSD-2-Clause */
/* Every set of faults by every algorithm: routed, judged, summed. */
#include "faults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "unicast/complete.h"
#include "unicast/verify.h"

/* Sets of faults that go into the database one by one. */
enum { SETS_STORED_MAX = 100000, SETS_MAX = 100 * 1000 * 1000 };

struct sets {
	const struct faults_params *p;
	struct faults_outcome *o;
	struct fab_fault_list candidates;
	struct fab_rng rng;
	size_t *pick;
	struct fab_routes *sound[FAULTS_MAX_ENGINES]; /* tables without any fault */
	struct fab_cli_progress *progress;
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
					    .n_threads = p->run.threads};
}

static struct fab_routes *route(const struct sets *s,
				const struct fab_unicast_engine *engine,
				const struct fab_faults *faults)
{
	struct fab_unicast_problem problem = faults_problem(s->p, s->o, faults);
	struct fab_routes *routes;
	struct fab_err err;

	if (engine->route(&problem, &routes, &err))
		fab_cli_die(&err);
	return routes;
}

static struct fab_judgement judge(const struct sets *s, const struct fab_routes *routes,
				  enum fab_ends ends, bool with_load)
{
	const struct fab_judge_options options = {
		.ends = ends, .with_load = with_load, .n_threads = s->p->run.threads};
	struct fab_judgement j;
	struct fab_err err;

	if (fab_judge(routes, &options, &j, &err))
		fab_cli_die(&err);
	return j;
}

/* Between what tables are judged: an engine's on a kfat between leaf switches. */
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

/* Is it the same destination? A port with several LIDs has them side by side. */
static bool is_same_column(const struct fab_routes *a, uint32_t i,
			   const struct fab_routes *b, uint32_t k)
{
	if (a->column_port)
		return a->column_port[i] == b->column_port[k];
	return a->column_switch[i] == b->column_switch[k];
}

/* Entries that differ from those without faults, of destinations that are still there. */
static void count_changes(struct faults_result *r, const struct fab_routes *now,
			  const struct fab_routes *sound)
{
	uint32_t n = now->f->n_switches, at = 0;
	bool *is_changed = FAB_NEW0(n + 1, bool);

	for (uint32_t i = 0; i < now->n_columns; i++, at++) {
		const uint16_t *a = fab_routes_next(now, i), *b;

		while (!is_same_column(sound, at, now, i))
			at++;
		b = fab_routes_next(sound, at);
		for (uint32_t sw = 0; sw < n; sw++) {
			if (a[sw] == b[sw] ||
			    (now->faults && now->faults->switch_is_dead[sw]))
				continue;
			r->entries_changed++;
			is_changed[sw] = true;
		}
	}
	for (uint32_t sw = 0; sw < n; sw++)
		r->switches_changed += is_changed[sw];
	free(is_changed);
}

/* A load in what one host sends to all others that it has a path to. */
static double per_host(const struct fab_judgement *j)
{
	return j->pairs ? (double)j->max_load / ((double)j->pairs / (double)j->ends)
			: NAN;
}

static double uniform_load(const struct sets *s, const struct fab_routes *routes)
{
	struct fab_routes *whole = complete(routes, FAB_ENDS_HOSTS);
	struct fab_judgement j = judge(s, whole ? whole : routes, FAB_ENDS_HOSTS, true);
	double load = per_host(&j);

	fab_judgement_fini(&j);
	fab_routes_free(whole);
	return load;
}

static char *names_of(const struct fab_faults *faults)
{
	char *text = fab_strdup("");

	for (size_t i = 0; i < faults->named.n; i++) {
		char *name = fab_fault_text(faults->f, faults->named.v[i]);
		char *longer = fab_format("%s%s%s", text, i ? "," : "", name);

		free(text);
		free(name);
		text = longer;
	}
	return text;
}

static void add_lost(struct faults_result *r, const struct fab_lost *lost)
{
	r->lost.hosts += lost->hosts;
	r->lost.adapters += lost->adapters;
	r->lost.pairs += lost->pairs;
}

static void add_judgement(struct faults_result *r, struct fab_judgement *j,
			  const struct fab_faults *faults)
{
	struct fab_judgement *sum = &r->sum;
	bool is_bad = j->unreachable || !j->deadlock_free;

	r->sets++;
	r->sets_unreachable += j->unreachable > 0;
	r->sets_with_cycle += j->cycle_channels > 0;
	sum->pairs += j->pairs;
	sum->pairs_across_planes += j->pairs_across_planes;
	sum->connected += j->connected;
	sum->unreachable += j->unreachable;
	sum->connected_in_graph += j->connected_in_graph;
	sum->minimal += j->minimal;
	for (size_t i = 0; i < FAB_COUNT(sum->hops); i++)
		sum->hops[i] += j->hops[i];
	if (j->max_hops > sum->max_hops)
		sum->max_hops = j->max_hops;
	if (j->vls > sum->vls)
		sum->vls = j->vls;
	if (j->sls > sum->sls)
		sum->sls = j->sls;
	if (is_bad && !r->worst && faults->named.n)
		r->worst = names_of(faults);
	if (r->sets == 1) {
		sum->deadlock_free = true;
		sum->gaps = j->gaps;
		memset(&j->gaps, 0, sizeof(j->gaps));
		sum->valleys.v = j->valleys.v;
		sum->valleys.n = j->valleys.n;
		memset(&j->valleys, 0, sizeof(j->valleys));
		sum->unreached.v = j->unreached.v;
		sum->unreached.n = j->unreached.n;
		memset(&j->unreached, 0, sizeof(j->unreached));
	}
	if (!sum->cycle_channels && j->cycle_channels) {
		sum->cycle.v = j->cycle.v;
		sum->cycle.n = j->cycle.n;
		memset(&j->cycle, 0, sizeof(j->cycle));
	}
	sum->deadlock_free = sum->deadlock_free && j->deadlock_free;
	sum->cycle_channels += j->cycle_channels;
	sum->is_unknown = (sum->is_unknown || j->is_unknown) && !sum->cycle_channels;
	sum->pairs_on_cycles += j->pairs_on_cycles;
	sum->valley_pairs += j->valley_pairs;
}

/* The port of a switch to another that most destinations go by. */
static void count_destinations(struct faults_result *r, const struct fab_fabric *f,
			       const uint32_t *destinations)
{
	for (uint32_t a = 0; a < f->arc_first[f->n_switches]; a++)
		if (destinations[a] > r->max_destinations)
			r->max_destinations = destinations[a];
}

static void keep_set(struct faults_result *r, const struct fab_judgement *j,
		     const struct fab_faults *faults)
{
	const struct faults_set set = {.dead = names_of(faults),
				       .pairs = j->pairs,
				       .unreachable = j->unreachable,
				       .cycle_channels = j->cycle_channels,
				       .max_hops = j->max_hops};

	FAB_PUSH(&r->each, set);
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

/* Judge tables, keep what is asked for. */
static void judge_result(struct sets *s, struct faults_result *r,
			 struct fab_routes *routes, const struct fab_faults *faults)
{
	enum fab_ends ends = ends_of(s, r);
	double start = fab_now();
	struct fab_routes *whole = complete(routes, ends);
	const struct fab_routes *judged = whole ? whole : routes;
	struct fab_judgement j = judge(s, judged, ends, s->o->is_one_set);
	struct fab_lost lost =
		fab_lost_count(faults, s->o->kfat, ends, fab_routes_tell_lids(routes));
	struct fab_err err;

	r->judge_seconds += fab_now() - start;
	if (s->p->run.verify) {
		r->was_verified = true;
		if (fab_unicast_verify(judged, ends, &j, &err)) {
			r->is_sound = false;
			fab_cli_warn(&s->p->run, "%s: %s", r->algorithm, err.text);
		}
	}
	if (!r->note)
		r->note = note_of(r->engine, routes);
	if (j.destinations)
		count_destinations(r, s->o->f, j.destinations);
	if (s->p->store.path && r->each.n < SETS_STORED_MAX)
		keep_set(r, &j, faults);
	add_judgement(r, &j, faults);
	add_lost(r, &lost);
	fab_judgement_fini(&j);
	fab_routes_free(whole);
}

static void solve_set(struct sets *s, const struct fab_faults *faults)
{
	for (size_t i = 0; i < s->p->n_engines; i++) {
		struct faults_result *r = &s->o->results[i + (s->p->files.lfts != NULL)];
		double start = fab_now();
		struct fab_routes *routes = route(s, r->engine, faults);

		r->route_seconds += fab_now() - start;
		judge_result(s, r, routes, faults);
		if (s->sound[i])
			count_changes(r, routes, s->sound[i]);
		if (s->o->is_one_set) {
			r->load = uniform_load(s, routes);
			r->load_before =
				s->sound[i] ? uniform_load(s, s->sound[i]) : r->load;
			r->routes = routes;
		} else {
			fab_routes_free(routes);
		}
	}
}

static void solve_loaded(struct sets *s)
{
	struct faults_result *r = &s->o->results[0];
	double start = fab_now();

	r->algorithm = "loaded";
	r->is_sound = true;
	r->routes = faults_read_tables(s->p, s->o);
	r->route_seconds = fab_now() - start;
	judge_result(s, r, r->routes, s->o->faults);
	r->load = uniform_load(s, r->routes);
	r->load_before = NAN;
}

/* Candidates for more faults; exits when there are too few. */
static void list_candidates(struct sets *s, uint32_t k)
{
	const struct faults_wish *w = &s->p->wish;

	fab_faults_candidates(s->o->f, w->of, s->o->faults, &s->candidates);
	if (s->candidates.of.n < k)
		fab_cli_exit(FAB_EXIT_ERROR, "%s: %u faults are asked for, of %zu %s",
			     s->p->input.fabric, k, s->candidates.of.n,
			     fab_fault_kind_name(w->of));
}

/* What is dead in every set. */
static struct fab_faults *copy_named(const struct faults_outcome *o)
{
	struct fab_faults *copy = fab_faults_new(o->f);

	for (size_t i = 0; i < o->faults->named.n; i++)
		fab_faults_kill(copy, o->faults->named.v[i]);
	return copy;
}

static void solve_random(struct sets *s)
{
	const struct faults_wish *w = &s->p->wish;

	list_candidates(s, w->random);
	for (uint64_t i = 0; i < w->count; i++) {
		struct fab_faults *faults =
			s->o->is_one_set ? s->o->faults : copy_named(s->o);

		fab_faults_draw(faults, &s->candidates, w->random, &s->rng);
		solve_set(s, faults);
		fab_cli_progress_tick(s->progress, i + 1, w->count);
		if (!s->o->is_one_set)
			fab_faults_free(faults);
	}
}

static void solve_exhaustive(struct sets *s)
{
	uint32_t k = s->p->wish.exhaustive;
	uint64_t done = 0;

	list_candidates(s, k);
	s->o->n_sets = fab_faults_combinations(s->candidates.of.n, k);
	if (s->o->n_sets > SETS_MAX)
		fab_cli_exit(
			FAB_EXIT_ERROR,
			"%s: --exhaustive=%u of %zu %s are more than %d sets: draw some "
			"with --random=%u --count=N",
			s->p->input.fabric, k, s->candidates.of.n,
			fab_fault_kind_name(s->p->wish.of), SETS_MAX, k);
	s->pick = FAB_NEW(k + 1, size_t);
	for (size_t i = 0; i < k; i++)
		s->pick[i] = i;
	do {
		struct fab_faults *faults = copy_named(s->o);

		for (size_t i = 0; i < k; i++)
			fab_faults_kill(faults, s->candidates.of.v[s->pick[i]]);
		solve_set(s, faults);
		fab_faults_free(faults);
		fab_cli_progress_tick(s->progress, ++done, s->o->n_sets);
	} while (fab_faults_next_combination(s->pick, k, s->candidates.of.n));
}

static void begin_results(struct sets *s)
{
	const struct faults_params *p = s->p;
	struct faults_outcome *o = s->o;

	o->n = p->n_engines + (p->files.lfts != NULL);
	for (size_t i = 0; i < p->n_engines; i++) {
		struct faults_result *r = &o->results[i + (p->files.lfts != NULL)];

		r->engine = p->engines[i];
		r->algorithm = r->engine->name;
		r->is_sound = true;
		r->load = r->load_before = NAN;
		if (o->faults->named.n || p->wish.random || p->wish.exhaustive)
			s->sound[i] = route(s, r->engine, NULL);
	}
}

void faults_solve(const struct faults_params *p, struct faults_outcome *o)
{
	struct sets s = {.p = p, .o = o};

	o->is_one_set = !p->wish.exhaustive && (!p->wish.random || p->wish.count == 1);
	o->n_sets = p->wish.random ? p->wish.count : 1;
	fab_rng_init(&s.rng, p->run.seed);
	s.progress = fab_cli_progress_new(&p->run, "routing", "sets");
	if (p->files.lfts)
		solve_loaded(&s);
	begin_results(&s);
	if (p->wish.exhaustive)
		solve_exhaustive(&s);
	else if (p->wish.random)
		solve_random(&s);
	else
		solve_set(&s, o->faults);
	fab_cli_progress_free(s.progress);
	for (size_t i = 0; i < p->n_engines; i++)
		fab_routes_free(s.sound[i]);
	free(s.candidates.of.v);
	free(s.pick);
}
