/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-sim keeps with --store. */
#include "store/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "fabric_sim.h"

/* A result has the numbers of the last rate of its algorithm, and each rate is a part. */
static void add_points(struct fab_draft *d, const struct sim_outcome *o, size_t first,
		       size_t n)
{
	struct sim_row row;

	sim_row_init(&row, o, &o->points.v[first + n - 1]);
	fab_draft_result(d, row.algorithm, sim_columns, sim_n_columns, &row);
	sim_row_fini(&row);
	for (size_t i = 0; i < n; i++) {
		const struct sim_point *x = &o->points.v[first + i];
		char *part;

		if (isnan(x->rate))
			continue;
		part = fab_format("rate=%g", x->rate);
		sim_row_init(&row, o, x);
		fab_draft_part(d, x->number, part, sim_columns, sim_n_columns, &row);
		sim_row_fini(&row);
		free(part);
	}
}

static void add_asked(struct fab_draft *d, const struct sim_params *p,
		      const struct sim_outcome *o)
{
	fab_draft_asked(d, "traffic", fab_strdup(p->traffic));
	fab_draft_asked(d, "switch", fab_strdup(p->sim.kind->name));
	fab_draft_asked(d, "seed", fab_format("%" PRIu64, p->run.seed));
	if (o->dead->named.n)
		fab_draft_asked(d, "failed", fab_faults_text(o->dead, ","));
	if (p->tables.lfts)
		fab_draft_asked(d, "tables", fab_strdup(p->tables.lfts));
	if (p->mcfdbs)
		fab_draft_asked(d, "multicast_tables", fab_strdup(p->mcfdbs));
}

void sim_store(struct fab_draft *d, const struct fab_work *w)
{
	const struct sim_outcome *o = w->outcome;

	fab_draft_table(d, sim_columns, sim_n_columns);
	fab_draft_fact(d, "faults", (double)o->dead->named.n);
	fab_draft_fact(d, "hosts_live", o->ends.n);
	add_asked(d, w->params, o);
	for (size_t i = 0, n; i < o->points.n; i += n) {
		n = sim_count_points(o, i);
		add_points(d, o, i, n);
	}
}
