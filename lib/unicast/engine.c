/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/engine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define ADDRESS(row) &fab_unicast_##row,
const struct fab_unicast_engine *const fab_unicast_engines[] = {
	FAB_UNICAST_ENGINES(ADDRESS)};
const size_t fab_unicast_n_engines = FAB_COUNT(fab_unicast_engines);

static struct fab_choice choice_at(size_t i)
{
	const struct fab_unicast_engine *e = fab_unicast_engines[i];

	return (struct fab_choice){e->name, e->summary, e->manual, .is_in_all = true};
}

const struct fab_choices fab_unicast_choices = {
	"algorithm", FAB_COUNT(fab_unicast_engines), choice_at};

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
