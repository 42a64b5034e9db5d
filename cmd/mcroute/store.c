/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-mcroute keeps with --store. */
#include "mcroute.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/store.h"

/* Where groups come from, as the command line has it; on the heap. */
static char *join_groups(const struct mcroute_params *p, bool is_pattern)
{
	char *text = NULL;

	for (size_t i = 0; i < p->groups.of.n; i++)
		if (p->groups.of.v[i].is_pattern == is_pattern)
			fab_append(&text, " ", "%s", p->groups.of.v[i].text);
	return text;
}

/* Where a pattern is drawn; on the heap. */
static char *seed_of(const struct mcroute_params *p)
{
	for (size_t i = 0; i < p->groups.of.n; i++)
		if (p->groups.of.v[i].is_pattern &&
		    !strncmp(p->groups.of.v[i].text, "random", 6))
			return fab_format("%" PRIu64, p->run.seed);
	return NULL;
}

int mcroute_store(const struct mcroute_params *p, const struct mcroute_outcome *o,
		  struct fab_err *err)
{
	const struct fab_groups *g = o->problem.groups;
	struct fab_draft d = {0};
	int rc;

	fab_draft_fact(&d, "groups", g->n);
	fab_draft_fact(&d, "members", (double)g->first[g->n]);
	fab_draft_fact(&d, "unknown_members", (double)g->n_unknown);
	fab_draft_asked(&d, "pattern", join_groups(p, true));
	fab_draft_asked(&d, "groups", join_groups(p, false));
	if (p->weight)
		fab_draft_asked(&d, "weight", fab_strdup(p->weight));
	if (p->capacity == MCROUTE_RATE)
		fab_draft_asked(&d, "capacity", fab_strdup("rate"));
	fab_draft_asked(&d, "seed", seed_of(p));
	if (o->has_tables)
		fab_draft_asked(&d, "tables", fab_strdup(p->mcfdbs));
	for (size_t i = 0; i < o->n; i++) {
		const struct mcroute_row row = mcroute_row_of(o, i);
		uint32_t max = o->efi[i].max;
		uint32_t *count =
			fab_efi_histogram(o->problem.f, o->results[i].load, max);

		fab_draft_result(&d, row.algorithm, mcroute_columns, mcroute_n_columns,
				 &row);
		for (uint32_t e = 0; e <= max; e++)
			if (count[e])
				fab_draft_bin(&d, e, count[e]);
		free(count);
	}
	rc = fab_cli_add_run(&p->store, &p->run, o->problem.f, fab_draft_run(&d), err);
	fab_draft_fini(&d);
	return rc;
}
