/* SPDX-License-Identifier: BSD-2-Clause */
/* A picture of a sweep: completion times over its first axis of several values, a line a
 * scheme. */
#include <math.h>
#include <stdlib.h>

#include "fabric_rdma.h"

/* The first axis that has more than one value. */
static enum rdma_axis axis_of(const struct rdma_params *p)
{
	for (size_t a = 0; a < p->axes.n; a++)
		if (p->axes.v[a].n > 1)
			return p->axes.v[a].axis;
	return p->axes.n ? p->axes.v[0].axis : RDMA_LOSS;
}

/* Nothing on a logarithmic axis is 0: no loss stands at a tenth of the least. */
static double least_of(const struct rdma_outcome *o, enum rdma_axis axis)
{
	double least = INFINITY;

	for (size_t i = 0; i < o->n_points; i++)
		if (o->point[i].at[axis] > 0)
			least = fmin(least, o->point[i].at[axis]);
	return isfinite(least) ? least / 10 : 1;
}

void rdma_plot(const struct fab_cli_plot *plot, const struct rdma_outcome *o,
	       struct fab_cli_results *results)
{
	struct fab_plot_series *series = FAB_NEW0(o->n_schemes, struct fab_plot_series);
	double *x = FAB_NEW(o->results.n + 1, double);
	double *y = FAB_NEW(o->results.n + 1, double), least;
	enum rdma_axis axis = axis_of(o->p);
	size_t n = 0;
	FILE *script;

	least = least_of(o, axis);
	for (size_t s = 0; s < o->n_schemes; s++) {
		series[s] = (struct fab_plot_series){o->scheme[s]->name, x + n, y + n, 0};
		for (size_t i = 0; i < o->results.n; i++) {
			const struct rdma_result *r = &o->results.v[i];

			if (r->scheme != o->scheme[s])
				continue;
			x[n] = fmax(r->point->at[axis], least);
			y[n++] = rdma_mean(r);
			series[s].n++;
		}
	}
	script = fab_cli_begin_plot(results);
	fab_export_gnuplot_series(script, plot->terminal, rdma_axis_name[axis],
				  "mean completion time, us", series, o->n_schemes);
	fab_cli_end_plot(script, plot->path, results);
	free(series);
	free(x);
	free(y);
}
