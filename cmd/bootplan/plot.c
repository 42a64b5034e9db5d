/* SPDX-License-Identifier: BSD-2-Clause */
/* A picture of a sweep: time to boot against the size of the batch. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bootplan.h"

/* Results that belong to one curve have the place of their batch in common. */
static size_t results_a_batch(const struct bootplan_outcome *o)
{
	size_t n = 0;

	while (n < o->results.n && o->results.v[n].batch == o->results.v[0].batch)
		n++;
	return n;
}

/* The points of one curve; how many can be drawn. */
static size_t fill(const struct bootplan_outcome *o, size_t at, size_t step, double *x,
		   double *y)
{
	size_t n = 0;

	for (size_t i = at; i < o->results.n; i += step) {
		const struct bootplan_result *r = &o->results.v[i];

		if (!isfinite(r->boot_seconds) || !(r->boot_seconds > 0))
			continue;
		x[n] = r->batch->n;
		y[n++] = r->boot_seconds;
	}
	return n;
}

void bootplan_plot(const struct fab_cli_plot *plot, const struct bootplan_outcome *o,
		   struct fab_cli_results *results)
{
	size_t step = results_a_batch(o), n_points = 0;
	struct fab_plot_series *series = FAB_NEW0(step, struct fab_plot_series);
	double *x = FAB_NEW(o->results.n, double), *y = FAB_NEW(o->results.n, double);
	char **titles = FAB_NEW(step, char *);
	struct fab_err err;
	FILE *script;

	for (size_t i = 0; i < step; i++) {
		const struct bootplan_result *r = &o->results.v[i];
		size_t at = i * o->n_batches;

		titles[i] = fab_format("%s%s", r->algorithm,
				       strcmp(r->model, "max-min") ? "" : ", max-min");
		series[i] = (struct fab_plot_series){titles[i], x + at, y + at,
						     fill(o, i, step, x + at, y + at)};
		n_points += series[i].n;
	}
	if (!n_points)
		fab_cli_fail_results(results,
				     fab_fail(&err, ENODATA,
					      "--plot: nothing to draw: no batch takes "
					      "time"),
				     &err);
	script = fab_cli_begin_plot(results);
	fab_export_gnuplot_series(script, plot->terminal, "nodes that boot together",
				  "seconds until all have booted", series, step);
	fab_cli_end_plot(script, plot->path, results);
	for (size_t i = 0; i < step; i++)
		free(titles[i]);
	free(titles);
	free(series);
	free(x);
	free(y);
}
