/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/engine.h"

#include <errno.h>
#include <inttypes.h>
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

int fab_unicast_fits(const struct fab_unicast_engine *engine, const struct fab_kfat *kfat,
		     struct fab_err *err)
{
	if (engine->needs_kfat && !kfat)
		return fab_fail(err, EINVAL, "%s needs a high-dimension fat tree",
				engine->name);
	if (kfat && engine->n_dims && engine->n_dims != kfat->n_dims)
		return fab_fail(err, EINVAL,
				"%s is for %" PRIu32
				" dimensions, the fabric has %" PRIu32,
				engine->name, engine->n_dims, kfat->n_dims);
	return 0;
}
