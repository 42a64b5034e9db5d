/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/engines.h"

#include <string.h>

const struct fab_mcast_engine *const fab_mcast_engines[] = {
	&fab_mcast_minihop,  &fab_mcast_minihop_new, &fab_mcast_sssp,
	&fab_mcast_sssp_new, &fab_mcast_sssp_heap,   &fab_mcast_sssp_heap_new,
	&fab_mcast_fulb,     &fab_mcast_fulb_links,  &fab_mcast_opensm,
	&fab_mcast_balanced,
};
const size_t fab_mcast_n_engines = FAB_COUNT(fab_mcast_engines);

const struct fab_mcast_engine *fab_mcast_engine_find(const char *name, size_t len)
{
	for (size_t i = 0; i < fab_mcast_n_engines; i++)
		if (strlen(fab_mcast_engines[i]->name) == len &&
		    !memcmp(fab_mcast_engines[i]->name, name, len))
			return fab_mcast_engines[i];
	return NULL;
}
