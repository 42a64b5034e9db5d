/* SPDX-License-Identifier: BSD-2-Clause */
/* The tasks of fabric-sim: simulations, and one packet of --pair. */
#include <errno.h>
#include <stdlib.h>

#include "fabric_sim.h"

/* Does the point do what --check asks for? */
static bool is_bad(const struct sim_params *p, const struct sim_point *x)
{
	if (x->stalled || x->deadlocked || x->unroutable || x->looped || x->unfinished ||
	    x->net->no_path.circles)
		return true;
	if (!p->has_min_throughput || !sim_is_saturated(x))
		return false;
	return fab_tally_mean(&x->accepted) < p->min_throughput ||
	       x->rate * x->least_carried < p->min_throughput;
}

static int set_up(struct fab_work *w, struct fab_err *err)
{
	struct sim_params *p = w->params;
	struct sim_outcome *o = w->outcome;
	int rc = sim_set_up(p, w->f, o, err);

	if (!rc)
		fab_cli_note_faults(&p->shard, o->dead);
	return rc;
}

static int solve_results(struct fab_work *w, struct fab_err *err)
{
	struct sim_params *p = w->params;
	struct sim_outcome *o = w->outcome;
	int rc = set_up(w, err);

	if (!rc)
		rc = sim_simulate(p, o, err);
	if (rc)
		return rc;
	o->total_seconds = fab_cli_seconds(&p->run);
	w->is_partial = o->was_interrupted;
	if (!o->points.n)
		return fab_fail(err, EINTR, "interrupted before anything was measured");
	for (size_t i = 0; p->check && i < o->points.n; i++)
		if (is_bad(p, &o->points.v[i]))
			return FAB_EXIT_FOUND;
	return FAB_EXIT_DONE;
}

static int solve_pairs(struct fab_work *w, struct fab_err *err)
{
	int rc = set_up(w, err);

	return rc ? rc : sim_try_pair(w->params, w->outcome, err);
}

static const struct fab_task_file files[] = {
	{"cables-out", sim_write_cables},
	{"histogram-out", sim_write_histogram},
	{"plot", sim_plot},
	{0},
};

const struct fab_task sim_results_task = {
	.primary = "results",
	.columns = sim_columns,
	.n_columns = &sim_n_columns,
	.outcome_bytes = sizeof(struct sim_outcome),
	.solve = solve_results,
	.files = files,
	.report = sim_report,
	.store = sim_store,
	.fini = sim_outcome_fini,
};

const struct fab_task sim_pairs_task = {
	.primary = "pairs",
	.columns = sim_pair_columns,
	.n_columns = &sim_n_pair_columns,
	.outcome_bytes = sizeof(struct sim_outcome),
	.solve = solve_pairs,
	.report = sim_report,
	.fini = sim_outcome_fini,
};
