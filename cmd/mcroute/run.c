/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From groups to trees, loads and bounds: the tables of --mcfdbs, the algorithms, the
 * sweep over heights, the groups that share multicast LIDs.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/progress.h"
#include "export/dot.h"
#include "export/tables.h"
#include "fabric/resolver.h"
#include "mcroute.h"
#include "source/unpack.h"

enum { DEFAULT_MLID_CAP = 1024, DEFAULT_SLACK = 3 };

/* Cables looked at for each of the dual bounds; for the one of every run a constant, and
 * for each switch of each group. */
static const uint64_t DUAL_STEPS = 1500000000;
static const uint64_t QUICK_STEPS = 1000000, QUICK_STEPS_MEMBER = 20;

static const struct fab_mcast_engine loaded_engine = {
	.name = "loaded",
	.summary = "the tables of --mcfdbs",
};

/* The demands of --weight and the capacities of --capacity, for the problem. */
static int weigh(const struct mcroute_params *p, struct mcroute_outcome *o,
		 struct fab_err *err)
{
	const char *name =
		p->weight && strcmp(p->weight, "-") ? p->weight : "standard input";
	double *demand = NULL;
	uint64_t n_left_out = 0;
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc = 0;

	if (!p->weight && p->capacity == MCROUTE_EQUAL)
		return 0;
	if (p->weight) {
		rc = fab_input_read(p->weight, &in, err);
		if (rc)
			return rc;
		demand = FAB_ARENA_NEW(o->arena, o->groups->n, double);
		rc = fab_demands_read(o->problem.groups, name, in.bytes, in.n,
				      p->groups.ignore_unknown ? &n_left_out : NULL,
				      demand, err);
	}
	if (!rc && n_left_out)
		fab_cli_warn(&p->run,
			     "left out: demands of %llu groups that do not exist",
			     (unsigned long long)n_left_out);
	if (!rc)
		rc = fab_weights_new(o->problem.f, o->problem.groups, demand,
				     p->capacity == MCROUTE_RATE, &o->weights, err);
	o->problem.weights = rc ? NULL : o->weights;
	return rc;
}

/* The group of --explain and the cable of --explain-cable. */
static int find_explained(struct mcroute_params *p, const struct mcroute_outcome *o,
			  struct fab_err *err)
{
	const struct fab_groups *g = o->problem.groups;
	uint32_t n_named = 0;
	int rc = 0;

	p->explained_group = FAB_NONE;
	for (uint32_t i = 0; i < g->n && p->explain; i++) {
		if (!strcmp(fab_group_name(g, i), p->explain)) {
			p->explained_group = i;
			n_named++;
		}
	}
	if (n_named > 1)
		return fab_fail(
			err, EINVAL,
			"--explain: %u groups are called \"%s\", expected the name of one",
			n_named, p->explain);
	if (p->explain && p->explained_group == FAB_NONE)
		return fab_fail(
			err, EINVAL,
			"--explain: there is no group \"%s\", expected a name such as \"%s\"",
			p->explain, fab_group_name(g, 0));
	if (p->explain_cable) {
		FAB_AUTO(fab_resolver_free_at)
		struct fab_resolver *r = fab_resolver_new(o->problem.f);

		rc = fab_resolve_text(r, FAB_WANT_CABLE, p->explain_cable,
				      strlen(p->explain_cable), &p->explained_cable, err);
		if (!rc && p->explained_cable >= o->problem.f->n_switch_links)
			rc = fab_fail(err, EINVAL,
				      "--explain-cable: %s is no cable between switches",
				      p->explain_cable);
	}
	return rc;
}

/* Make the tables a result. */
static int analyse_tables(struct mcroute_outcome *o, const struct fab_mft *tables,
			  struct fab_err *err)
{
	uint16_t *mlid = FAB_ARENA_NEW(o->arena, o->groups->n, uint16_t);
	struct fab_mcast_result *result = &o->results[o->n];
	int rc = fab_groups_mlids(o->problem.groups, mlid, err);

	if (!rc)
		fab_loaded_of(o->problem.f, o->problem.groups, mlid, tables,
			      o->problem.weights, &o->loaded);
	if (rc)
		return rc;
	*result = (struct fab_mcast_result){.engine = &loaded_engine,
					    .load = o->loaded.load,
					    .weighted = o->loaded.weighted,
					    .trees_seconds = (double)NAN};
	fab_efi_of(&o->problem, result, &o->efi[o->n]);
	o->efi[o->n].max_height = o->loaded.max_height;
	o->is_sound[o->n++] = !o->loaded.n_broken;
	o->has_tables = true;
	return 0;
}

static void raise(uint32_t *value, const struct fab_bound *bound)
{
	*value = bound->value > *value ? bound->value : *value;
}

/* Bounds of the outcome: those found quickly, and with `is_deep` the others, until that
 * time (fab_now(); 0: any time). */
static void find_bounds(struct mcroute_outcome *o, bool is_deep, int n_threads,
			double until)
{
	const struct fab_groups *g = o->problem.groups;
	struct fab_bound *b = o->bounds;
	struct fab_mcast_options work = {.n_threads = n_threads, .until = until};
	uint32_t least = 0;

	if (b[MCROUTE_NATURAL].kind == FAB_BOUND_NONE) {
		fab_mcast_natural_bound(&o->problem, &b[MCROUTE_NATURAL]);
		fab_mcast_matching_bound(&o->problem, &b[MCROUTE_MATCHING]);
		fab_mcast_dual_bound(&o->problem, &work,
				     QUICK_STEPS + QUICK_STEPS_MEMBER * g->sw_first[g->n],
				     &b[MCROUTE_DUAL]);
		for (size_t i = 0; i < MCROUTE_N_BOUNDS; i++)
			raise(&least, &b[i]);
		fab_mcast_forced_bound(&o->problem, least, &b[MCROUTE_FORCED]);
	}
	if (is_deep && !o->has_deep_bounds && b[MCROUTE_DUAL].is_limited) {
		work.is_over = fab_cli_is_interrupted;
		fab_bound_fini(&b[MCROUTE_DUAL]);
		fab_mcast_dual_bound(&o->problem, &work, DUAL_STEPS, &b[MCROUTE_DUAL]);
	}
	o->has_deep_bounds |= is_deep;
	raise(&o->lower_bound, &b[MCROUTE_NATURAL]);
	raise(&o->lower_bound, &b[MCROUTE_DUAL]);
	raise(&o->height_bound, &b[MCROUTE_FORCED]);
	raise(&o->height_bound, &b[MCROUTE_MATCHING]);
}

/* With --sweep: optimal with one height after the other. */
static int sweep_heights(const struct mcroute_params *p, struct mcroute_outcome *o,
			 const struct fab_mcast_options *options, struct fab_err *err)
{
	const struct fab_mcast_engine *engine = fab_mcast_engine_find("optimal", 7);
	uint32_t last = p->has_height_slack ? p->height_slack : DEFAULT_SLACK;
	FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result last_result = {0};

	find_bounds(o, true, p->run.threads, fab_now() + p->time_limit_s / 4);
	for (uint32_t slack = 0; slack <= last; slack++) {
		struct fab_mcast_options own = *options;
		struct mcroute_sweep_row row = {.slack = slack,
						.bound = slack ? o->lower_bound
							       : mcroute_low_bound(o),
						.verified = FAB_UNKNOWN};
		struct fab_mcast_result result;
		struct fab_err found;
		double roots;
		int rc;

		own.until = 0; /* the limit is that of each height */
		own.height_slack = slack;
		own.bound = row.bound;
		own.raise_bound = NULL;
		own.start = slack ? &last_result.forest : NULL; /* never worse */
		rc = fab_mcast_route(&o->problem, &engine, 1, &own, &result, &roots, err);
		fab_mcast_result_fini(&last_result);
		if (rc)
			return rc;
		fab_efi_of(&o->problem, &result, &row.efi);
		row.ended = fab_mcast_ended_name(result.ended);
		row.seconds = result.trees_seconds;
		if (p->run.verify) {
			row.verified = !fab_mcast_verify(&o->problem, &result, &found);
			if (!row.verified)
				fab_cli_warn(&p->run, "%s", found.text);
		}
		last_result = result;
		if (result.ended == FAB_ENDED_EXACT)
			row.bound = row.efi.max;
		FAB_PUSH(&o->sweep, row);
		if (row.efi.max <= o->lower_bound)
			break; /* no height gives less */
	}
	return 0;
}

/* With --mlid-cap and more groups: route them once more, sharing the multicast LIDs. */
static int share(struct mcroute_outcome *o, const struct mcroute_params *p,
		 const struct fab_mcast_options *options, struct fab_err *err)
{
	struct fab_mcast_problem problem = o->problem;
	size_t n = o->n - o->has_tables;
	struct fab_mcast_result results[MCROUTE_MAX_ENGINES];
	FAB_AUTO(fab_groups_free_at) struct fab_groups *groups = NULL;
	struct fab_err why;
	double seconds;
	int rc;

	if (o->problem.groups->n <= o->mlid_cap || !n)
		return 0;
	if (fab_groups_share(problem.f, problem.groups, o->mlid_cap, &groups, &why)) {
		fab_cli_warn(&p->run, "groups cannot share multicast LIDs: %s", why.text);
		return 0;
	}
	problem.groups = groups;
	problem.roots = NULL;	/* those are of the other groups */
	problem.weights = NULL; /* bounds count groups */
	rc = fab_mcast_route(&problem, p->engines, n, options, results, &seconds, err);
	for (size_t i = 0; i < n && !rc; i++) {
		o->shared_efi[o->has_tables + i] = fab_shared_max_efi(
			problem.f, &results[i], o->problem.groups->n, o->mlid_cap);
		fab_mcast_result_fini(&results[i]);
	}
	o->has_sharing = !rc;
	return rc;
}

struct raising {
	struct mcroute_outcome *o;
	int n_threads;
	bool is_low; /* trees of minimal height */
};

static uint32_t raise_bound(void *context, double until)
{
	const struct raising *r = context;

	find_bounds(r->o, true, r->n_threads, until);
	return r->is_low ? mcroute_low_bound(r->o) : r->o->lower_bound;
}

/* Distances, trees, loads and the bound: results behind the others. */
static int route(const struct mcroute_params *p, struct mcroute_outcome *o,
		 struct fab_err *err)
{
	struct fab_cli_progress *progress =
		fab_cli_progress_new(&p->run, "routing", "groups");
	struct fab_mcast_options mcast = {.n_threads = p->run.threads,
					  .root_ties = p->root_ties,
					  .seed = p->run.seed,
					  .height_slack = p->height_slack,
					  .time_limit_s = p->time_limit_s,
					  .is_over = fab_cli_is_interrupted,
					  .progress = fab_cli_progress_tick,
					  .progress_context = progress};
	struct raising raising = {o, p->run.threads, !p->height_slack};
	double start = fab_now(), roots_start, roots_seconds;
	int rc;

	if (p->has_time_limit)
		mcast.until = start + p->time_limit_s;
	if (p->has_search)
		mcast.begin_search = fab_cli_catch_interrupt;
	rc = fab_dist_new(o->problem.f, p->run.threads, &o->dist, err);
	if (rc)
		return rc;
	o->shape = fab_shape_recognize(o->problem.f);
	o->distances_seconds = fab_now() - start;
	o->problem.dist = o->dist;
	o->problem.shape = o->shape;
	/* candidates of all groups for bounds and trees, if they take little memory */
	roots_start = fab_now();
	if (fab_roots_find_all(o->dist, o->problem.groups, FAB_GROW_ROOTS_BYTES,
			       p->run.threads, &o->roots))
		o->problem.roots = &o->roots;
	o->roots_seconds = fab_now() - roots_start;
	find_bounds(o, p->bound_out != NULL, p->run.threads, mcast.until);
	mcast.bound = p->height_slack ? o->lower_bound : mcroute_low_bound(o);
	if (o->weights)
		mcast.load_bound = o->load_bound = fab_mcast_load_bound(&o->problem);
	mcast.raise_bound = raise_bound;
	mcast.raise_bound_context = &raising;
	rc = fab_mcast_route(&o->problem, p->engines, p->n_engines, &mcast,
			     o->results + o->n, &roots_seconds, err);
	o->roots_seconds += roots_seconds;
	if (!rc && p->has_sweep)
		rc = sweep_heights(p, o, &mcast, err);
	fab_cli_progress_free(progress);
	if (rc)
		return rc;
	mcast.progress = NULL;
	for (size_t i = 0; i < p->n_engines; i++, o->n++) {
		const struct fab_mcast_result *r = &o->results[o->n];

		fab_efi_of(&o->problem, r, &o->efi[o->n]);
		if (r->ended == FAB_ENDED_EXACT && !r->height_slack && !o->weights)
			o->height_bound = o->efi[o->n].max;
	}
	return p->mlid_cap ? share(o, p, &mcast, err) : 0;
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct mcroute_params *p = w->params;
	struct mcroute_outcome *o = w->outcome;
	bool is_sound = true;
	uint32_t n;
	int rc = 0;

	o->arena = w->arena;
	if (p->mcfdbs)
		rc = fab_cli_read_mcfdbs(p->mcfdbs, p->groups.ignore_unknown, &p->run,
					 w->f, &o->tables, err);
	if (!rc)
		rc = fab_cli_make_groups(&p->groups, &p->run, w->f, o->tables, &o->groups,
					 err);
	if (rc)
		return rc;
	n = o->groups->n;
	o->was_verified = p->run.verify;
	o->problem = (struct fab_mcast_problem){.f = w->f, .groups = o->groups};
	o->mlid_cap = p->mlid_cap ? p->mlid_cap : DEFAULT_MLID_CAP;
	rc = find_explained(p, o, err);
	if (!rc)
		rc = weigh(p, o, err);
	if (rc)
		return rc;
	if (n > o->mlid_cap)
		fab_cli_warn(
			&p->run,
			"%u groups need a multicast LID each, switches hold %u (--mlid-cap): OpenSM would refuse %u of them",
			n, o->mlid_cap, n - o->mlid_cap);
	if (o->tables)
		rc = analyse_tables(o, o->tables, err);
	if (!rc)
		rc = route(p, o, err);
	if (rc)
		return rc;
	/* Every result by a second path; what is wrong goes to standard error. */
	for (size_t i = o->has_tables; i < o->n && p->run.verify; i++) {
		struct fab_err found;

		o->is_sound[i] = !fab_mcast_verify(&o->problem, &o->results[i], &found);
		if (!o->is_sound[i])
			fab_cli_warn(&p->run, "%s", found.text);
		is_sound &= o->is_sound[i];
	}
	return is_sound && !(p->check && o->loaded.n_broken) ? FAB_EXIT_DONE
							     : FAB_EXIT_FOUND;
}

static void fini(void *outcome)
{
	struct mcroute_outcome *o = outcome;

	for (size_t i = o->has_tables; i < o->n; i++)
		fab_mcast_result_fini(&o->results[i]);
	for (size_t i = 0; i < MCROUTE_N_BOUNDS; i++)
		fab_bound_fini(&o->bounds[i]);
	free(o->sweep.v);
	fab_loaded_fini(&o->loaded);
	fab_weights_free(o->weights);
	fab_mft_free(o->tables);
	fab_roots_fini(&o->roots);
	fab_shape_free(o->shape);
	fab_dist_free(o->dist);
	fab_groups_free(o->groups);
}

static int write_trees(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct mcroute_outcome *o = w->outcome;
	int rc = 0;

	for (size_t i = o->has_tables; i < o->n && !rc; i++)
		rc = fab_export_trees(out, &o->problem, &o->results[i], err);
	return rc;
}

static int write_bounds(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct mcroute_outcome *o = w->outcome;

	return fab_export_bounds(out, &o->problem, o->bounds, MCROUTE_N_BOUNDS, err);
}

static int write_dot(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct mcroute_params *p = w->params;
	const struct mcroute_outcome *o = w->outcome;
	const struct fab_mcast_result *r = &o->results[o->n - 1];

	(void)err;
	if (p->explain)
		fab_export_tree_dot(out, &o->problem, r, p->explained_group);
	else
		fab_export_loads_dot(out, &o->problem, r);
	return 0;
}

/* The trees of the last result as tables. */
static int write_mcfdbs(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct mcroute_outcome *o = w->outcome;
	uint16_t *mlid = FAB_ARENA_NEW(w->arena, o->problem.groups->n, uint16_t);
	int rc = fab_groups_give_mlids(o->problem.groups, mlid, err);

	if (rc)
		fab_err_prefix(err, "--mcfdbs-out");
	else
		rc = fab_export_mcfdbs(out, &o->problem, &o->results[o->n - 1], mlid,
				       err);
	return rc;
}

static const struct fab_task_file files[] = {
	{"trees-out", write_trees},
	{"bound-out", write_bounds},
	{"dot-out", write_dot},
	{"mcfdbs-out", write_mcfdbs},
	{0},
};

const struct fab_task mcroute_task = {
	.primary = "results",
	.columns = mcroute_columns,
	.n_columns = &mcroute_n_columns,
	.outcome_bytes = sizeof(struct mcroute_outcome),
	.solve = solve,
	.files = files,
	.report = mcroute_report,
	.draw = mcroute_draw,
	.store = mcroute_store,
	.fini = fini,
};
