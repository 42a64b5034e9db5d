/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures of the runs chosen. */
#include "compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MAX_CURVES = 64 };

/* Are there too many curves for one picture? */
static int too_many(size_t n, struct fab_err *err)
{
	if (n <= MAX_CURVES)
		return 0;
	return fab_fail(
		err, E2BIG,
		"--plot: %zu results are too many for one picture (at most %d): choose runs or use --algorithm",
		n, MAX_CURVES);
}

/* Sweeps of fabric-bootplan: time of the batches by their size, a curve an algorithm;
 * *is_drawn: whether there was a curve. */
static int plot_sweeps(FILE *script, const struct fab_work *w, bool *is_drawn,
		       struct fab_err *err)
{
	const struct compare_params *p = w->params;
	const struct compare_outcome *o = w->outcome;
	FAB_AUTOFREE FAB_VEC(struct fab_plot_series) series = {0};
	int rc;

	for (size_t i = 0; i < o->n_items; i++) {
		const struct fab_store_run *run = o->items[i].run;

		for (size_t k = 0; k < run->n_results; k++) {
			const char *name = run->results[k].algorithm;
			double *x = FAB_ARENA_NEW(w->arena, run->n_batches, double);
			double *y = FAB_ARENA_NEW(w->arena, run->n_batches, double);
			struct fab_plot_series curve = {.x = x, .y = y};

			if (o->items[i].algorithm && strcmp(o->items[i].algorithm, name))
				continue;
			for (size_t b = 0; b < run->n_batches; b++) {
				const struct fab_store_batch *batch = &run->batches[b];

				if (strcmp(batch->algorithm, name) != 0 ||
				    !(batch->boot_seconds > 0) ||
				    !isfinite(batch->boot_seconds))
					continue;
				x[curve.n] = (double)batch->nodes;
				y[curve.n++] = batch->boot_seconds;
			}
			curve.title = fab_arena_format(
				w->arena, "run %" PRIu64 " %s%s%s%s", run->id, name,
				run->label ? " (" : "", run->label ? run->label : "",
				run->label ? ")" : "");
			if (curve.n)
				FAB_PUSH(&series, curve);
		}
	}
	rc = too_many(series.n, err);
	*is_drawn = series.n > 0;
	if (series.n)
		fab_export_gnuplot_series(
			script, p->plot.terminal, "nodes that boot together",
			"seconds until all have booted", series.v, series.n);
	return rc;
}

static int plot(FILE *script, const struct fab_work *w, struct fab_err *err)
{
	const struct compare_params *p = w->params;
	const struct compare_outcome *o = w->outcome;
	FAB_AUTOFREE FAB_VEC(struct fab_plot_curve) curves = {0};
	bool is_drawn = false, are_sweeps = o->n_items > 0;
	int rc = 0;

	for (size_t i = 0; i < o->n_items; i++)
		are_sweeps &= !strcmp(o->items[i].run->command, "fabric-bootplan");
	if (are_sweeps)
		rc = plot_sweeps(script, w, &is_drawn, err);
	if (rc || is_drawn)
		return rc;
	for (size_t i = 0; i < o->n_items; i++) {
		const struct fab_store_run *run = o->items[i].run;

		for (size_t k = 0; k < run->n_results; k++) {
			const struct fab_store_result *r = &run->results[k];

			if (o->items[i].algorithm &&
			    strcmp(o->items[i].algorithm, r->algorithm) != 0)
				continue;
			if (p->plot_kind == FAB_PLOT_DISTRIBUTION
				    ? r->n_bins > 0
				    : fab_store_number_get(r->metrics, r->n_metrics,
							   "seconds.total") > 0 &&
					      fab_store_number_get(r->metrics,
								   r->n_metrics,
								   "max_efi") >= 0)
				FAB_PUSH(&curves, ((struct fab_plot_curve){run, r}));
		}
	}
	rc = curves.n ? too_many(curves.n, err)
		      : fab_fail(err, ENODATA,
				 "--plot: nothing to draw in the runs chosen");
	if (!rc)
		fab_export_gnuplot(script, p->plot_kind, p->plot.terminal, curves.v,
				   curves.n);
	return rc;
}

const struct fab_task_file compare_files[] = {{"plot", plot}, {0}};
