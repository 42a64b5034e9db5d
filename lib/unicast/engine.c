/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/engine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ADDRESS(row) &fab_unicast_##row,
const struct fab_unicast_engine *const fab_unicast_engines[] = {
	FAB_UNICAST_ENGINES(ADDRESS)};
const size_t fab_unicast_n_engines = FAB_COUNT(fab_unicast_engines);

static struct fab_choice choice_at(size_t i)
{
	const struct fab_unicast_engine *e = fab_unicast_engines[i];

	return (struct fab_choice){e->name, e->summary, e->manual, .is_in_all = true};
}

/* Routing engines of OpenSM that have no row. */
static const char *hint_on(const char *name, size_t len)
{
	static const char *const engines[] = {"dnup", "file", "ftree",	"lash",
					      "nue",  "sssp", "dfsssp", "torus-2QoS"};

	for (size_t i = 0; i < FAB_COUNT(engines); i++)
		if (len == strlen(engines[i]) && !strncasecmp(name, engines[i], len))
			return "a routing engine of OpenSM, whose tables are read with "
			       "--lfts=FILE (opensm-lfts.dump, opensm.fdbs or dump_fts)";
	return NULL;
}

const struct fab_choices fab_unicast_choices = {.what = "algorithm",
						.n = FAB_COUNT(fab_unicast_engines),
						.at = choice_at,
						.hint = hint_on};

const struct fab_unicast_engine *fab_unicast_engine_find(const char *name, size_t len)
{
	uint32_t i = fab_choices_find(&fab_unicast_choices, name, len);

	return i == FAB_NONE ? NULL : fab_unicast_engines[i];
}

int fab_unicast_fits(const struct fab_unicast_engine *engine,
		     const struct fab_unicast_problem *problem, struct fab_err *err)
{
	const struct fab_kfat *kfat = problem->kfat;

	if (engine->needs_kfat && !kfat)
		return fab_fail(err, EINVAL, "%s needs a high-dimension fat tree",
				engine->name);
	if (kfat && engine->n_dims && engine->n_dims != kfat->n_dims)
		return fab_fail(err, EINVAL,
				"%s is for %" PRIu32
				" dimensions, the fabric has %" PRIu32,
				engine->name, engine->n_dims, kfat->n_dims);
	return engine->fits ? engine->fits(problem, err) : 0;
}

int fab_unicast_refuse(const char *source, const struct fab_unicast_engine *engine,
		       const struct fab_unicast_problem *problem,
		       const struct fab_err *no_kfat, struct fab_err *err)
{
	bool wants_kfat = engine->needs_kfat && !problem->kfat;
	char *names = fab_strdup("");
	struct fab_err why = {""};

	if (!fab_unicast_fits(engine, problem, &why))
		why.text[0] = '\0';
	for (size_t i = 0; i < fab_unicast_n_engines; i++)
		if (!fab_unicast_fits(fab_unicast_engines[i], problem, NULL))
			fab_append(&names, ", ", "%s", fab_unicast_engines[i]->name);
	fab_fail(err, EINVAL, "%s: algorithm %s%s%s; what routes it: %s", source,
		 why.text, wants_kfat ? "; " : "", wants_kfat ? no_kfat->text : "",
		 names);
	free(names);
	return -EINVAL;
}
