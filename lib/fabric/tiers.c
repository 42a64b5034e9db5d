/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/tiers.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void fab_tiers_count_hosts(const struct fab_fabric *f, uint32_t *n_host_links)
{
	memset(n_host_links, 0, f->n_switches * sizeof(*n_host_links));
	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links; c++)
		if (f->node_kind[f->port_node[f->cable_b[c]]] == FAB_ADAPTER)
			n_host_links[f->port_node[f->cable_a[c]]]++;
}

uint32_t fab_tiers(const struct fab_fabric *f, uint32_t *tier)
{
	uint32_t *queue = FAB_NEW(f->n_switches, uint32_t);
	uint32_t n = 0, highest = 0;

	fab_tiers_count_hosts(f, tier);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		if (tier[s])
			queue[n++] = s;
		tier[s] = tier[s] ? 0 : FAB_NONE;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = queue[i];

		highest = tier[s];
		for (uint32_t k = f->peer_first[s]; k < f->peer_first[s + 1]; k++)
			if (tier[f->peer[k]] == FAB_NONE) {
				tier[f->peer[k]] = tier[s] + 1;
				queue[n++] = f->peer[k];
			}
	}
	free(queue);
	return n ? highest + 1 : 0;
}

uint32_t fab_tiers_of_shape(const struct fab_fabric *f, const struct fab_shape *shape,
			    uint32_t *tier)
{
	if (!shape->level)
		return fab_tiers(f, tier);
	for (uint32_t s = 0; s < f->n_switches; s++)
		tier[s] = shape->level[s] < shape->n_levels ? shape->level[s] : FAB_NONE;
	return shape->n_levels;
}
