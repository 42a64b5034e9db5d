/* SPDX-License-Identifier: BSD-2-Clause */
/* From options to the report. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "fabric_sim.h"

struct keeping {
	struct sim_params *p;
	const struct sim_outcome *o;
};

static int keep(void *context, struct fab_err *err)
{
	const struct keeping *k = context;

	return k->p->pair || k->o->was_interrupted ? 0 : sim_store(k->p, k->o, err);
}

/* The last result: with it all of them are committed. */
static int print_report(struct sim_params *p, const struct sim_outcome *o,
			struct fab_cli_results *results, struct fab_err *err)
{
	struct keeping keeping = {p, o};
	struct fab_report_options report;
	FILE *file = fab_cli_open_report(results, &p->output, &report);
	int rc = sim_report(file, &report, o, err);

	return fab_cli_finish_results(results, rc, keep, &keeping, err);
}

static int write_files(const struct sim_params *p, const struct sim_outcome *o,
		       struct fab_cli_results *results, struct fab_err *err)
{
	int rc = 0;

	if (p->cables_out)
		rc = sim_write_cables(fab_cli_open_result(results, p->cables_out), o,
				      err);
	if (!rc && p->histogram_out)
		rc = sim_write_histogram(fab_cli_open_result(results, p->histogram_out),
					 o, err);
	if (!rc && p->plot.path)
		sim_plot(&p->plot, o, results);
	return rc;
}

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

static int status_of(const struct sim_params *p, const struct sim_outcome *o)
{
	for (size_t i = 0; p->check && i < o->points.n; i++)
		if (is_bad(p, &o->points.v[i]))
			return FAB_EXIT_FOUND;
	return FAB_EXIT_DONE;
}

static int work(struct sim_params *p, const struct fab_fabric *f, struct sim_outcome *o,
		struct fab_err *err)
{
	struct fab_cli_results results = {.n = 0};
	double start = fab_now();
	int rc = sim_set_up(p, f, o, err);

	if (rc)
		return rc;
	fab_cli_note_faults(&p->shard, o->dead);
	p->store.shard = &p->shard;
	rc = p->pair ? sim_try_pair(p, o, err) : sim_simulate(p, o, err);
	o->total_seconds = fab_now() - start;
	if (!rc && !p->pair && !o->points.n)
		return fab_fail(err, EINTR, "interrupted before anything was measured");
	if (!rc)
		rc = write_files(p, o, &results, err);
	if (!rc)
		rc = print_report(p, o, &results, err);
	return rc ? rc : status_of(p, o);
}

int sim_run(void *params, const struct fab_fabric *f, struct fab_err *err)
{
	struct sim_outcome *o = FAB_NEW0(1, struct sim_outcome);
	int status = work(params, f, o, err);

	sim_outcome_fini(o);
	free(o);
	return status;
}
