/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-mcroute: how low the largest EFI can be at all. */
#include "mcroute.h"

/* Cables looked at for each of the dual bounds. */
static const uint64_t DUAL_STEPS = 1500000000;

/* Cables that dual ascent looks at in every run: a constant, and for each switch of each
 * group. */
static const uint64_t QUICK_STEPS = 1000000, QUICK_STEPS_MEMBER = 20;

static void raise(uint32_t *value, const struct fab_bound *bound)
{
	*value = bound->value > *value ? bound->value : *value;
}

static uint32_t largest(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static void find_deep(struct mcroute_outcome *o, int n_threads, double until)
{
	struct fab_bound *b = o->bounds;
	const struct fab_bound_work work = {.steps = DUAL_STEPS,
				      .n_threads = n_threads,
				      .until = until,
				      .is_over = fab_cli_is_interrupted};

	if (b[MCROUTE_DUAL].is_limited) {
		fab_bound_fini(&b[MCROUTE_DUAL]);
		fab_mcast_dual_bound(&o->problem, &work, &b[MCROUTE_DUAL]);
	}
	fab_mcast_weighted_bound(
		&o->problem, &work,
		largest(b[MCROUTE_DUAL].value, b[MCROUTE_NATURAL].value),
		&b[MCROUTE_WEIGHTED]);
	fab_mcast_reach_bound(&o->problem, &work, &b[MCROUTE_REACH]);
}

static void find_dual(struct mcroute_outcome *o, int n_threads, double until)
{
	const struct fab_groups *g = o->problem.groups;
	const struct fab_bound_work work = {
		.steps = QUICK_STEPS + QUICK_STEPS_MEMBER * g->sw_first[g->n],
		.n_threads = n_threads,
		.until = until};

	fab_mcast_dual_bound(&o->problem, &work, &o->bounds[MCROUTE_DUAL]);
}

void mcroute_find_bounds(struct mcroute_outcome *o, bool is_deep, int n_threads,
			 double until)
{
	struct fab_bound *b = o->bounds;

	if (b[MCROUTE_NATURAL].kind == FAB_BOUND_NONE) {
		fab_mcast_natural_bound(&o->problem, &b[MCROUTE_NATURAL]);
		fab_mcast_matching_bound(&o->problem, &b[MCROUTE_MATCHING]);
		find_dual(o, n_threads, until);
	}
	if (is_deep && b[MCROUTE_REACH].kind == FAB_BOUND_NONE)
		find_deep(o, n_threads, until);
	raise(&o->lower_bound, &b[MCROUTE_NATURAL]);
	raise(&o->lower_bound, &b[MCROUTE_DUAL]);
	raise(&o->lower_bound, &b[MCROUTE_WEIGHTED]);
	raise(&o->height_bound, &b[MCROUTE_REACH]);
	raise(&o->height_bound, &b[MCROUTE_MATCHING]);
}

void mcroute_print_bounds(struct fab_report *r, const struct mcroute_outcome *o)
{
	static const struct fab_column columns[] = {
		{"bound", FAB_TEXT,
		 "how it was found: cut, parts, hops, dual, weighted, reach or "
		 "matching",
		 0},
		{"value", FAB_UINT, "no trees have a smaller max_efi", 0},
		{"holds_for", FAB_TEXT, "any trees, or those of minimal height", 0},
		{"complete", FAB_BOOL, "the search for it was not stopped", 0},
	};

	fab_report_table_begin(r, "bounds", "Lower bounds", columns, FAB_COUNT(columns));
	for (size_t i = 0; i < MCROUTE_N_BOUNDS; i++) {
		const struct fab_bound *b = &o->bounds[i];
		const union fab_cell cells[] = {
			{.text = fab_bound_name(b->kind)},
			{.u = b->value},
			{.text = fab_bound_is_low_only(b->kind) ? "minimal height"
								: "any trees"},
			{.u = !b->is_cut_short},
		};

		if (b->kind != FAB_BOUND_NONE)
			fab_report_row(r, cells);
	}
	fab_report_table_end(r);
}
