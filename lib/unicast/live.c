/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/live.h"

#include "fabric/tiers.h"
#include "unicast/engine.h"

#include <stdlib.h>
#include <string.h>

void fab_live_init(struct fab_live *live, const struct fab_fabric *f,
		   const struct fab_faults *faults)
{
	uint32_t arcs = f->arc_first[f->n_switches];
	uint32_t *other = FAB_NEW(f->n_cables + 1, uint32_t);

	live->f = f;
	live->faults = faults;
	live->arc_is_live = FAB_NEW(arcs + 1, bool);
	live->back = FAB_NEW(arcs + 1, uint16_t);
	memset(other, 0xff, f->n_cables * sizeof(*other));
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
			uint32_t cable = f->arc_cable[a], b = other[cable];

			live->arc_is_live[a] = !faults || !faults->cable_is_dead[cable];
			other[cable] = a;
			if (b == FAB_NONE)
				continue;
			live->back[a] = (uint16_t)(b - f->arc_first[f->arc_peer[a]]);
			live->back[b] = (uint16_t)(a - f->arc_first[sw]);
		}
	free(other);
}

void fab_live_fini(struct fab_live *live)
{
	free(live->arc_is_live);
	free(live->back);
}

uint32_t fab_live_search(const struct fab_live *live, uint32_t to, uint32_t *dist,
			 uint32_t *order)
{
	const struct fab_fabric *f = live->f;
	uint32_t tail = 0;

	memset(dist, 0xff, f->n_switches * sizeof(*dist));
	if (!fab_switch_is_live(live, to))
		return 0;
	dist[to] = 0;
	order[tail++] = to;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t u = order[head];

		for (uint32_t a = f->arc_first[u]; a < f->arc_first[u + 1]; a++) {
			uint32_t v = f->arc_peer[a];

			if (dist[v] != FAB_NONE || !live->arc_is_live[a])
				continue;
			dist[v] = dist[u] + 1;
			order[tail++] = v;
		}
	}
	return tail;
}

uint32_t fab_live_columns(const struct fab_live *live, const struct fab_kfat *kfat,
			  uint32_t *columns)
{
	const struct fab_fabric *f = live->f;
	uint32_t *hosts = FAB_NEW(f->n_switches + 1, uint32_t), n = 0;

	fab_tiers_count_hosts(f, hosts);
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (fab_switch_is_live(live, sw) &&
		    (kfat ? kfat->leaf_of[sw] != FAB_NONE : hosts[sw] > 0))
			columns[n++] = sw;
	free(hosts);
	return n;
}
