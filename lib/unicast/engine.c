/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/engine.h"

#include <string.h>

const struct fab_unicast_engine *const fab_unicast_engines[] = {
	&fab_unicast_xy,       &fab_unicast_algorithm_a, &fab_unicast_vtftr,
	&fab_unicast_vtftr_ib, &fab_unicast_minhop,	 &fab_unicast_updn,
};
const size_t fab_unicast_n_engines = FAB_COUNT(fab_unicast_engines);

const struct fab_unicast_engine *fab_unicast_engine_find(const char *name, size_t len)
{
	for (size_t i = 0; i < fab_unicast_n_engines; i++) {
		const struct fab_unicast_engine *e = fab_unicast_engines[i];

		if (strlen(e->name) == len && !memcmp(e->name, name, len))
			return e;
	}
	return NULL;
}
