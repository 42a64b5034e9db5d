/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-mcroute: what higher trees would give. */
#include "mcroute.h"

#include "base/clock.h"

#include "base/mem.h"
#include "mcast/engine/state.h"
#include "mcast/route.h"

enum { DEFAULT_LAST = 3 };

#define AT(member) FAB_AT(struct mcroute_sweep_row, member)
static const struct fab_column columns[] = {
	{"height_slack", FAB_UINT, "hops that trees may be higher than the least", 0,
	 AT(slack)},
	{"max_height", FAB_UINT,
	 "switch hops from a root to its farthest member, largest", 0,
	 AT(efi.max_height)},
	{"max_efi", FAB_UINT, "largest number of trees on a switch-to-switch cable", 0,
	 AT(efi.max)},
	{"links_at_max", FAB_UINT, "switch-to-switch cables with the largest number", 0,
	 AT(efi.n_at_max)},
	{"bound", FAB_UINT, "no such trees can have a smaller max_efi", 0, AT(bound)},
	{"tree_links", FAB_UINT, "switch-to-switch cables of all trees together", 0,
	 AT(efi.tree_links)},
	{"ended", FAB_TEXT,
	 "why the search stopped: bound, exact, stall, time or interrupt", 0, AT(ended)},
	{"verified", FAB_BOOL, "every tree was checked by --verify; null without it",
	 FAB_COL_EXTRA | FAB_COL_BAD_IF_NO, AT(verified)},
	{"seconds", FAB_REAL, "time for the trees", FAB_COL_EXTRA | FAB_COL_SECONDS,
	 AT(seconds)},
};
#undef AT

int mcroute_sweep_heights(const struct mcroute_params *p, struct mcroute_outcome *o,
			  const struct fab_mcast_options *options, struct fab_err *err)
{
	const struct fab_mcast_engine *engine = &fab_mcast_optimal;
	uint32_t last = p->has_height_slack ? p->height_slack : DEFAULT_LAST;

	struct fab_mcast_result last_result = {0};

	mcroute_find_bounds(o, true, p->run.threads, fab_now() + p->time_limit_s / 4);
	for (uint32_t slack = 0; slack <= last; slack++) {
		struct fab_mcast_options own = *options;
		struct mcroute_sweep_row row = {.slack = slack,
						.bound = slack ? o->lower_bound
							       : mcroute_low_bound(o),
						.verified = FAB_UNKNOWN};
		struct fab_mcast_result result;
		struct fab_err found;
		double roots;
		int rc;

		own.until = 0; /* the limit is that of each height */
		own.height_slack = slack;
		own.bound = row.bound;
		own.raise_bound = NULL;
		own.start = slack ? &last_result.forest : NULL; /* never worse */
		rc = fab_mcast_route(&o->problem, &engine, 1, &own, &result, &roots, err);
		fab_mcast_result_fini(&last_result);
		if (rc)
			return rc;
		fab_efi_of(&o->problem, &result, &row.efi);
		row.ended = fab_mcast_ended_name(result.ended);
		row.seconds = result.trees_seconds;
		if (p->run.verify) {
			row.verified = !fab_mcast_verify(&o->problem, &result, &found);
			if (!row.verified)
				fab_cli_warn(&p->run, "%s", found.text);
		}
		last_result = result;
		if (result.ended == FAB_ENDED_EXACT)
			row.bound = row.efi.max;
		FAB_PUSH(&o->sweep, row);
		if (row.efi.max <= o->lower_bound)
			break; /* no height gives less */
	}
	fab_mcast_result_fini(&last_result);
	return 0;
}

void mcroute_print_sweep(struct fab_report *r, const struct mcroute_outcome *o)
{
	fab_report_table_begin(r, "sweep", "Largest EFI by height", columns,
			       FAB_COUNT(columns));
	for (size_t i = 0; i < o->sweep.n; i++)
		fab_report_record(r, &o->sweep.v[i]);
	fab_report_table_end(r);
}
