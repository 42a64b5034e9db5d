/* SPDX-License-Identifier: BSD-2-Clause */
/* From groups to trees, loads and the report. */
#include "mcroute.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "export/trees.h"
#include "mcast/bounds.h"
#include "mcast/engine/state.h"
#include "mcast/route.h"

enum { DEFAULT_MLID_CAP = 1024 };

struct raising {
	struct mcroute_outcome *o;
	int n_threads;
	bool is_low; /* trees of minimal height */
};

static uint32_t raise_bound(void *context, double until)
{
	const struct raising *r = context;

	mcroute_find_bounds(r->o, true, r->n_threads, until);
	return r->is_low ? mcroute_low_bound(r->o) : r->o->lower_bound;
}

/* Candidates of all groups for bounds and trees, if they take little memory. */
static void share_roots(const struct mcroute_params *p, struct mcroute_outcome *o)
{
	double start = fab_now();

	if (fab_roots_find_all(o->dist, o->problem.groups, FAB_GROW_ROOTS_BYTES,
			       p->run.threads, &o->roots))
		o->problem.roots = &o->roots;
	o->roots_seconds = fab_now() - start;
}

/* Distances, trees, loads and the bound: results behind those that there are. */
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
	double start = fab_now(), roots_seconds;
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
	share_roots(p, o);
	mcroute_find_bounds(o, p->bound_out != NULL, p->run.threads, mcast.until);
	mcast.bound = p->height_slack ? o->lower_bound : mcroute_low_bound(o);
	if (o->weights)
		mcast.load_bound = o->load_bound = fab_mcast_load_bound(&o->problem);
	mcast.raise_bound = raise_bound;
	mcast.raise_bound_context = &raising;
	rc = fab_mcast_route(&o->problem, p->engines, p->n_engines, &mcast,
			     o->results + o->n, &roots_seconds, err);
	o->roots_seconds += roots_seconds;
	if (!rc && p->has_sweep)
		rc = mcroute_sweep_heights(p, o, &mcast, err);
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
	return p->mlid_cap ? mcroute_share(o, p->engines, &mcast, &p->run, err) : 0;
}

/* Every result by a second path; what is wrong goes to standard error. */
static bool verify(const struct mcroute_params *p, struct mcroute_outcome *o)
{
	bool all = true;

	for (size_t i = o->has_tables; i < o->n; i++) {
		struct fab_err err;

		o->is_sound[i] = !fab_mcast_verify(&o->problem, &o->results[i], &err);
		if (!o->is_sound[i])
			fab_cli_warn(&p->run, "%s", err.text);
		all &= o->is_sound[i];
	}
	return all;
}

struct keeping {
	struct mcroute_params *p;
	const struct mcroute_outcome *o;
};

static int keep(void *context, struct fab_err *err)
{
	const struct keeping *k = context;

	return mcroute_store(k->p, k->o, err);
}

static int write_trees(const struct mcroute_params *p, const struct mcroute_outcome *o,
		       struct fab_cli_results *results, struct fab_err *err)
{
	FILE *file = fab_cli_open_result(results, p->trees_out);
	int rc = 0;

	for (size_t i = o->has_tables; i < o->n && !rc; i++)
		rc = fab_export_trees(file, &o->problem, &o->results[i], err);
	return rc;
}

/* All files and the report. */
static int write_results(struct mcroute_params *p, const struct mcroute_outcome *o,
			 struct fab_err *err)
{
	struct keeping keeping = {p, o};
	struct fab_cli_results results = {.keep = keep, .context = &keeping};
	struct fab_report_options report;
	FILE *file;
	int rc = 0;

	if (p->trees_out)
		rc = write_trees(p, o, &results, err);
	if (!rc && p->bound_out)
		rc = fab_export_bounds(fab_cli_open_result(&results, p->bound_out),
				       &o->problem, o->bounds, MCROUTE_N_BOUNDS, err);
	if (!rc && p->dot_out)
		mcroute_write_dot(p, o, &results);
	if (!rc && p->mcfdbs_out)
		rc = mcroute_write_tables(o, p->mcfdbs_out, &results, err);
	if (rc)
		return rc;
	file = fab_cli_open_report(&results, &p->output, &report);
	rc = mcroute_report(file, &report, p, o, err);
	return rc ? rc : fab_cli_commit_results(&results, err);
}

static int run_groups(struct mcroute_params *p, struct mcroute_outcome *o,
		      const struct fab_fabric *f, struct fab_err *err)
{
	struct fab_mft *tables = NULL;
	struct fab_groups *groups = NULL;
	bool is_sound = true;
	int rc = 0;

	if (p->mcfdbs)
		rc = fab_cli_read_mcfdbs(p->mcfdbs, p->groups.ignore_unknown, &p->run, f,
					 &tables, err);
	if (!rc)
		rc = fab_cli_make_groups(&p->groups, &p->run, f, tables, &groups, err);
	if (rc)
		return rc;
	o->was_verified = p->run.verify;
	o->problem = (struct fab_mcast_problem){.f = f, .groups = groups};
	o->mlid_cap = p->mlid_cap ? p->mlid_cap : DEFAULT_MLID_CAP;
	rc = mcroute_find_explained(p, o, err);
	if (rc)
		return rc;
	rc = mcroute_weigh(p, o, err);
	if (rc)
		return rc;
	mcroute_warn_mlids(o, &p->run);
	if (tables)
		rc = mcroute_analyse_tables(o, tables, err);
	if (!rc)
		rc = route(p, o, err);
	if (!rc && p->run.verify)
		is_sound = verify(p, o);
	if (!rc)
		rc = write_results(p, o, err);
	if (rc)
		return rc;
	if (p->check && o->loaded.n_broken)
		is_sound = false;
	for (size_t i = o->has_tables; i < o->n; i++)
		fab_mcast_result_fini(&o->results[i]);
	for (size_t i = 0; i < MCROUTE_N_BOUNDS; i++)
		fab_bound_fini(&o->bounds[i]);
	free(o->sweep.v);
	fab_loaded_fini(&o->loaded);
	fab_weights_free(o->weights);
	fab_mft_free(tables);
	fab_roots_fini(&o->roots);
	fab_shape_free(o->shape);
	fab_dist_free(o->dist);
	fab_groups_free(groups);
	return is_sound ? FAB_EXIT_DONE : FAB_EXIT_FOUND;
}

int mcroute_run(void *params, const struct fab_fabric *f, struct fab_err *err)
{
	struct mcroute_params *p = params;
	const struct mcroute_events_job job = {
		f, p->engines, p->n_engines, p->root_ties, &p->run, &p->output};
	struct mcroute_outcome o = {0};

	return mcroute_events_given(&p->events)
		       ? mcroute_events_run(&p->events, &job, err)
		       : run_groups(p, &o, f, err);
}
