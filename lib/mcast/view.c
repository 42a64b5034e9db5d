/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/view.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void fab_view_init(struct fab_mcast_state *view, const struct fab_mcast_state *s)
{
	const struct fab_fabric *f = s->problem->f;

	*view = (struct fab_mcast_state){.problem = s->problem};
	view->load = FAB_NEW(f->n_switch_links, uint32_t);
	view->root_use = FAB_NEW(f->n_switches, uint32_t);
	view->adjacent = s->adjacent ? FAB_NEW(f->n_switches, uint32_t) : NULL;
	view->units = s->units ? FAB_NEW(f->n_switch_links, uint64_t) : NULL;
}

void fab_view_fini(struct fab_mcast_state *view)
{
	free(view->load);
	free(view->root_use);
	free(view->adjacent);
	free(view->units);
}

void fab_view_copy(struct fab_mcast_state *view, const struct fab_mcast_state *s)
{
	const struct fab_fabric *f = s->problem->f;

	memcpy(view->load, s->load, f->n_switch_links * sizeof(*view->load));
	memcpy(view->root_use, s->root_use, f->n_switches * sizeof(*view->root_use));
	if (view->adjacent)
		memcpy(view->adjacent, s->adjacent,
		       f->n_switches * sizeof(*view->adjacent));
	if (view->units)
		memcpy(view->units, s->units, f->n_switch_links * sizeof(*view->units));
}
