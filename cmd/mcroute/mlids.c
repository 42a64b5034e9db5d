/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-mcroute: do the groups fit into the switches' multicast tables? */
#include "mcroute.h"

#include <stdlib.h>

#include "mcast/route.h"

/* A row of a table. */
struct record {
	const char *algorithm;
	uint64_t max_efi, max_efi_shared;
};

static const struct fab_column sharing_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	FAB_COLUMN(max_efi, UINT,
		   "largest number of groups on a cable, each with its own MLID"),
	FAB_COLUMN(max_efi_shared, UINT, "the same with MLIDs that groups share"),
};

void mcroute_warn_mlids(const struct mcroute_outcome *o, const struct fab_cli_run *run)
{
	uint32_t n = o->problem.groups->n;

	if (n > o->mlid_cap)
		fab_cli_warn(run,
			     "%u groups need a multicast LID each, switches hold %u "
			     "(--mlid-cap): OpenSM would refuse %u of them",
			     n, o->mlid_cap, n - o->mlid_cap);
}

int mcroute_share(struct mcroute_outcome *o,
		  const struct fab_mcast_engine *const *engines,
		  const struct fab_mcast_options *options, const struct fab_cli_run *run,
		  struct fab_err *err)
{
	struct fab_mcast_problem problem = o->problem;
	size_t n = o->n - o->has_tables;
	struct fab_mcast_result results[MCROUTE_MAX_ENGINES];
	struct fab_groups *groups;
	struct fab_err why;
	double seconds;
	int rc;

	if (o->problem.groups->n <= o->mlid_cap || !n)
		return 0;
	if (fab_groups_share(problem.f, problem.groups, o->mlid_cap, &groups, &why)) {
		fab_cli_warn(run, "groups cannot share multicast LIDs: %s", why.text);
		return 0;
	}
	problem.groups = groups;
	problem.roots = NULL;	/* those are of the other groups */
	problem.weights = NULL; /* what shares is counted in groups */
	rc = fab_mcast_route(&problem, engines, n, options, results, &seconds, err);
	for (size_t i = 0; i < n && !rc; i++) {
		o->shared_efi[o->has_tables + i] = fab_shared_max_efi(
			problem.f, &results[i], o->problem.groups->n, o->mlid_cap);
		fab_mcast_result_fini(&results[i]);
	}
	o->has_sharing = !rc;
	fab_groups_free(groups);
	return rc;
}

void mcroute_print_sharing(struct fab_report *r, const struct mcroute_outcome *o)
{
	fab_report_table_begin(r, "sharing", "Groups that share multicast LIDs",
			       sharing_columns, FAB_COUNT(sharing_columns));
	for (size_t i = o->has_tables; i < o->n; i++) {
		const struct record row = {
			.algorithm = o->results[i].engine->name,
			.max_efi = o->efi[i].max,
			.max_efi_shared = o->shared_efi[i],
		};

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}
