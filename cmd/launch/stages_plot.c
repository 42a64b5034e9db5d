/* SPDX-License-Identifier: BSD-2-Clause */
/* A timeline: phase by phase, from the first node that begins to the last that ends. */
#include <stdlib.h>

#include "verb_stages.h"

void stages_plot(const struct fab_cli_plot *plot, const struct stages_outcome *o,
		 struct fab_cli_results *results)
{
	FAB_VEC(struct fab_plot_bar) bars = {0};
	FAB_VEC(char *) rows = {0};
	const char *phases[FAB_N_PHASES];
	FILE *script;

	for (enum fab_phase i = 0; i < FAB_N_PHASES; i++)
		phases[i] = fab_phase_name(i);
	for (size_t i = 0; i < o->cases.n; i++) {
		const struct stages_case *c = &o->cases.v[i];

		FAB_PUSH(&rows,
			 fab_format("%s, %s",
				    fab_launch_interfaces.at(c->start.interface).form,
				    fab_launch_wireups.at(c->start.wireup).form));
		for (size_t k = 0; k < c->stages.n_critical; k++) {
			const struct fab_critical *x = &c->stages.critical[k];

			FAB_PUSH(&bars, ((struct fab_plot_bar){.row = (uint32_t)i,
							       .kind = (uint32_t)x->phase,
							       .from = x->start_s,
							       .to = x->end_s}));
		}
	}
	script = fab_cli_begin_plot(results);
	fab_export_gnuplot_timeline(script, plot->terminal,
				    "seconds from submission, along the critical path",
				    (const char *const *)rows.v, rows.n, phases,
				    FAB_N_PHASES, bars.v, bars.n);
	fab_cli_end_plot(script, plot->path, results);
	for (size_t i = 0; i < rows.n; i++)
		free(rows.v[i]);
	free(rows.v);
	free(bars.v);
}
