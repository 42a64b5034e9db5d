/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-mcroute: how low the largest EFI can be at all. */
#include "mcroute.h"

/* Cables looked at: by the search for sets, and for all groups of the dual bound. */
static const uint64_t SEARCH_STEPS = 10000000, DUAL_STEPS = 300000000,
		      DUAL_STEPS_GROUP = 50000000;

static void raise(uint32_t *value, const struct fab_bound *bound)
{
	*value = bound->value > *value ? bound->value : *value;
}

void mcroute_find_bounds(struct mcroute_outcome *o, bool is_deep, int n_threads)
{
	const struct fab_groups *g = o->problem.groups;
	uint32_t n = 0; /* groups with switches of their own */
	struct fab_bound *b = o->bounds;
	uint64_t steps;

	for (uint32_t i = 0; i < g->n; i++)
		n += g->same_as[i] == i;
	steps = DUAL_STEPS / (n ? n : 1);
	if (b[MCROUTE_NATURAL].kind == FAB_BOUND_NONE) {
		fab_mcast_natural_bound(&o->problem, &b[MCROUTE_NATURAL]);
		fab_mcast_matching_bound(&o->problem, &b[MCROUTE_MATCHING]);
	}
	if (is_deep && b[MCROUTE_DUAL].kind == FAB_BOUND_NONE) {
		fab_mcast_searched_bound(&o->problem, SEARCH_STEPS, &b[MCROUTE_SEARCHED]);
		fab_mcast_dual_bound(&o->problem,
				     steps < DUAL_STEPS_GROUP ? steps : DUAL_STEPS_GROUP,
				     n_threads, &b[MCROUTE_DUAL]);
	}
	raise(&o->lower_bound, &b[MCROUTE_NATURAL]);
	raise(&o->lower_bound, &b[MCROUTE_SEARCHED]);
	raise(&o->lower_bound, &b[MCROUTE_DUAL]);
	raise(&o->height_bound, &b[MCROUTE_MATCHING]);
}

void mcroute_print_bounds(struct fab_report *r, const struct mcroute_outcome *o)
{
	static const struct fab_column columns[] = {
		{"bound", FAB_TEXT, "how it was found: cut, parts, hops, dual, matching",
		 0},
		{"value", FAB_UINT, "no trees have a smaller max_efi", 0},
		{"holds_for", FAB_TEXT, "any trees, or those of minimal height", 0},
	};

	fab_report_table_begin(r, "bounds", "Lower bounds", columns, FAB_COUNT(columns));
	for (size_t i = 0; i < MCROUTE_N_BOUNDS; i++) {
		const struct fab_bound *b = &o->bounds[i];
		const union fab_cell cells[] = {
			{.text = fab_bound_name(b->kind)},
			{.u = b->value},
			{.text = fab_bound_is_low_only(b->kind) ? "minimal height"
								: "any trees"},
		};

		if (b->kind != FAB_BOUND_NONE)
			fab_report_row(r, cells);
	}
	fab_report_table_end(r);
}
