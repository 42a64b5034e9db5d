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

/* More curves than can be told apart? */
static int too_many(size_t n, struct fab_err *err)
{
	if (n <= MAX_CURVES)
		return 0;
	return fab_fail(
		err, E2BIG,
		"--plot: %zu results are too many for one picture (at most %d): choose runs or use --algorithm",
		n, MAX_CURVES);
}

/* Sweeps of fabric-bootplan: how long the batches take, a curve an algorithm. */
struct sweeps {
	FAB_VEC(struct fab_plot_series) series;
	FAB_VEC(char *) titles;
	double *x, *y;
	size_t n_points;
};

static void add_curve(struct sweeps *s, const struct fab_store_run *run,
		      const char *algorithm)
{
	struct fab_plot_series curve = {.x = s->x + s->n_points, .y = s->y + s->n_points};

	for (size_t i = 0; i < run->n_batches; i++) {
		const struct fab_store_batch *b = &run->batches[i];

		if (strcmp(b->algorithm, algorithm) != 0 || !(b->boot_seconds > 0) ||
		    !isfinite(b->boot_seconds))
			continue;
		s->x[s->n_points] = (double)b->nodes;
		s->y[s->n_points++] = b->boot_seconds;
		curve.n++;
	}
	if (!curve.n)
		return;
	FAB_PUSH(&s->titles,
		 fab_format("run %" PRIu64 " %s%s%s%s", run->id, algorithm,
			    run->label ? " (" : "", run->label ? run->label : "",
			    run->label ? ")" : ""));
	curve.title = s->titles.v[s->titles.n - 1];
	FAB_PUSH(&s->series, curve);
}

/* Sweeps of fabric-bootplan; *is_drawn: whether there was a curve. */
static int plot_sweeps(FILE *script, const struct compare_params *p,
		       const struct compare_outcome *o, bool *is_drawn,
		       struct fab_err *err)
{
	struct sweeps s = {.n_points = 0};
	size_t n = 1;
	int rc;

	for (size_t i = 0; i < o->n_items; i++)
		n += o->items[i].run->n_batches;
	s.x = FAB_NEW(n, double);
	s.y = FAB_NEW(n, double);
	for (size_t i = 0; i < o->n_items; i++)
		for (size_t k = 0; k < o->items[i].run->n_results; k++) {
			const char *name = o->items[i].run->results[k].algorithm;

			if (!o->items[i].algorithm ||
			    !strcmp(o->items[i].algorithm, name))
				add_curve(&s, o->items[i].run, name);
		}
	rc = too_many(s.series.n, err);
	*is_drawn = s.series.n > 0;
	if (s.series.n)
		fab_export_gnuplot_series(
			script, p->plot.terminal, "nodes that boot together",
			"seconds until all have booted", s.series.v, s.series.n);
	for (size_t i = 0; i < s.titles.n; i++)
		free(s.titles.v[i]);
	free(s.titles.v);
	free(s.series.v);
	free(s.x);
	free(s.y);
	return rc;
}

int compare_plot(FILE *script, const struct fab_work *w, struct fab_err *err)
{
	const struct compare_params *p = w->params;
	const struct compare_outcome *o = w->outcome;
	FAB_VEC(struct fab_plot_curve) curves = {0};
	bool is_drawn = false, are_sweeps = o->n_items > 0;
	int rc = 0;

	for (size_t i = 0; i < o->n_items; i++)
		are_sweeps &= !strcmp(o->items[i].run->command, "fabric-bootplan");
	if (are_sweeps)
		rc = plot_sweeps(script, p, o, &is_drawn, err);
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
	free(curves.v);
	return rc;
}

const struct fab_task_file compare_files[] = {{"plot", compare_plot}, {0}};
