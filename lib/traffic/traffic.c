/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/traffic.h"

#include <errno.h>
#include <string.h>

#define ADDRESS(row) &fab_traffic_##row,
const struct fab_traffic_kind *const fab_traffic_kinds[] = {FAB_TRAFFIC_KINDS(ADDRESS)};

FAB_CHOICES_OF(fab_traffic_choices, "traffic", FAB_COUNT(fab_traffic_kinds),
	       *fab_traffic_kinds[i], form);

int fab_traffic_check(const char *spec, const struct fab_traffic_kind **kind,
		      const char **argument, struct fab_err *err)
{
	size_t len = fab_choice_name_len(spec);
	uint32_t i = fab_choices_find(&fab_traffic_choices, spec, len);
	const struct fab_traffic_kind *k;
	struct fab_err why;

	if (i == FAB_NONE)
		return fab_choices_refuse(&fab_traffic_choices, spec, len, NULL, err);
	*kind = k = fab_traffic_kinds[i];
	*argument = spec[len] ? spec + len + 1 : "";
	if (!spec[len] && (!k->check || k->argument_is_optional))
		return 0;
	if (!spec[len])
		return fab_fail(err, EINVAL, "'%s' lacks its argument: expected %s", spec,
				k->form);
	if (!k->check)
		return fab_fail(err, EINVAL, "'%s': %s takes no argument", spec, k->form);
	if (k->check(*argument, &why))
		return fab_fail(err, EINVAL, "'%s': %s", spec, why.text);
	return 0;
}

int fab_traffic_make(const char *spec, const struct fab_traffic_problem *p,
		     struct fab_traffic *out, struct fab_err *err)
{
	const struct fab_traffic_kind *kind = NULL;
	const char *argument = "";
	int rc = fab_traffic_check(spec, &kind, &argument, err);

	*out = (struct fab_traffic){.kind = NULL};
	if (rc)
		return rc;
	if (kind->needs_groups && !p->n_groups)
		return fab_fail(err, EINVAL, "traffic %s needs groups", spec);
	rc = kind->make(p, argument, out, err);
	out->kind = kind;
	if (!rc && !out->n_senders)
		rc = fab_fail(err, EINVAL,
			      "traffic %s: no host sends anything: of %u live hosts %s",
			      spec, p->ends->n,
			      kind->needs_groups ? "no two are in one group"
						 : "none has another one to send to");
	if (rc)
		fab_traffic_fini(out);
	return rc;
}

uint32_t fab_traffic_unfinished(const struct fab_traffic *t)
{
	return t->unfinished ? t->unfinished(t->messages.context) : 0;
}

void fab_traffic_fini(struct fab_traffic *t)
{
	fab_arena_free(&t->arena);
	*t = (struct fab_traffic){.kind = NULL};
}
