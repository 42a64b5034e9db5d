/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/routes.h"

#include <stdlib.h>

/* Entries from which on huge pages pay. */
enum { HUGE_AT_LEAST = 1 << 20 };

struct fab_routes *fab_routes_new(const struct fab_fabric *f,
				  const struct fab_faults *faults, uint32_t n_columns)
{
	struct fab_routes *r = FAB_NEW0(1, struct fab_routes);
	size_t entries = (size_t)n_columns * f->n_switches;

	r->f = f;
	r->faults = faults;
	r->n_columns = n_columns;
	r->column_switch = FAB_NEW(n_columns ? n_columns : 1, uint32_t);
	r->next = entries < HUGE_AT_LEAST ? fab_alloc(entries + 1, sizeof(*r->next))
					  : fab_alloc_huge(entries * sizeof(*r->next));
	r->n_vls = 1;
	r->n_sls = 1;
	return r;
}

void fab_routes_free(struct fab_routes *r)
{
	if (!r)
		return;
	free(r->column_switch);
	free(r->column_port);
	free(r->column_lid);
	free(r->next);
	free(r->sl_source);
	free(r->sl);
	free(r->vl_first);
	free(r->sl2vl);
	free(r->note);
	free(r);
}
