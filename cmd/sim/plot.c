/* SPDX-License-Identifier: BSD-2-Clause */
/* A picture of a sweep: what arrives and how late, against what is offered. */
#include <math.h>
#include <stdlib.h>

#include "fabric_sim.h"

int sim_plot(FILE *script, const struct fab_work *w, struct fab_err *err)
{
	const struct sim_outcome *o = w->outcome;
	struct fab_plot_series *accepted = FAB_NEW0(o->n_nets, struct fab_plot_series);
	struct fab_plot_series *latency = FAB_NEW0(o->n_nets, struct fab_plot_series);
	double *x = FAB_NEW(o->points.n, double), *y = FAB_NEW(o->points.n, double);
	double *z = FAB_NEW(o->points.n, double);

	(void)err;
	for (size_t i = 0; i < o->points.n; i++) {
		const struct sim_point *point = &o->points.v[i];
		size_t n = (size_t)(point->net - o->nets);

		x[i] = point->rate;
		y[i] = fab_tally_mean(&point->accepted);
		z[i] = point->saturated ? (double)NAN
					: sim_time(o->p, fab_tally_mean(&point->latency));
		if (!accepted[n].n++)
			accepted[n] = (struct fab_plot_series){point->net->algorithm,
							       x + i, y + i, 1};
		if (!latency[n].n++)
			latency[n] = (struct fab_plot_series){point->net->algorithm,
							      x + i, z + i, 1};
	}
	fab_export_gnuplot_load(script, o->p->plot.terminal,
				o->p->tick == SIM_TICK_FLIT ? "mean latency, flit times"
							    : "mean latency, ns",
				accepted, latency, o->n_nets);
	free(accepted);
	free(latency);
	free(x);
	free(y);
	free(z);
	return 0;
}
