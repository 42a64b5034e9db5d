/* SPDX-License-Identifier: BSD-2-Clause */
/* --prices: the cheapest machine that keeps to the target, and cost against boot time. */

#include "base/units.h"
#include "bootplan.h"

int bootplan_add_costs(const struct bootplan_params *p, struct bootplan_outcome *o,
		       struct fab_err *err)
{
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	struct bootplan_costs *c = &o->costs;
	struct fab_prices prices;
	int rc;

	if (!p->prices)
		return 0;
	rc = fab_input_read(p->prices, &in, err);
	if (!rc)
		rc = fab_prices_read(o->m, fab_input_name(p->prices), in.bytes, in.n,
				     &prices, err);
	if (rc)
		return rc;
	prices.efficiency = p->efficiency;
	c->is_given = true;
	c->is_kept = p->target_seconds > 0 &&
		     fab_cost_cheapest(o->m, o->largest, &p->transfer, &prices,
				       p->target_seconds, &c->cheapest);
	c->n = fab_cost_frontier(o->m, o->largest, &p->transfer, &prices,
				 FAB_COUNT(c->frontier), c->frontier);
	return 0;
}

/* "2 x 10 Gb/s on each supernode, ..."; NULL: no level has prices. */
static const char *uplinks_text(struct fab_arena *a, const struct bootplan_outcome *o,
				const struct fab_cost_plan *plan)
{
	const char *text = NULL;
	char rate[FAB_HUMAN_BYTES];

	for (uint32_t i = 0; i < plan->n_levels; i++) {
		const struct fab_cost_uplinks *u = &plan->uplinks[i];

		text = fab_arena_format(a, "%s%s%s: %u x %s", text ? text : "",
					text ? ", " : "", o->m->level[u->level].segment,
					u->n, fab_human_mbps(u->mbps, rate));
	}
	return text;
}

void bootplan_answer_costs(struct fab_report *r, struct fab_arena *a,
			   const struct bootplan_outcome *o)
{
	const struct bootplan_costs *c = &o->costs;
	const struct fab_cost_plan *plan = &c->cheapest;
	const char *uplinks = uplinks_text(a, o, plan);
	char target[FAB_HUMAN_BYTES], rate[FAB_HUMAN_BYTES];

	if (!c->is_given || !(o->p->target_seconds > 0))
		return;
	fab_human_seconds(o->p->target_seconds, target);
	if (c->is_kept)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"With equal servers, and equal links on each level, %s for %s costs %.10g: %u server%s with NICs of %s%s%s%s.",
			plan->is_exact ? "the cheapest plan" : "a plan", target,
			plan->cost, plan->n_servers, plan->n_servers == 1 ? "" : "s",
			fab_human_mbps(plan->nic_mbps, rate), uplinks ? "; " : "",
			uplinks ? uplinks : "",
			plan->is_exact ? "" : "; a cheaper one is possible");
	else
		fab_report_answer(r, FAB_TONE_BAD,
				  plan->is_exact
					  ? "No plan of these prices keeps to %s."
					  : "No plan of these prices was found for %s.",
				  target);
}

void bootplan_report_costs(struct fab_report *r, struct fab_arena *a,
			   const struct bootplan_outcome *o)
{
	static const struct fab_column columns[] = {
		{"for", FAB_TEXT, "target, or frontier", 0},
		{"cost", FAB_REAL, "by --prices", 0},
		{"servers", FAB_UINT, "that are bought", 0},
		{"nic_mbps", FAB_REAL, "of each server", FAB_COL_MBPS},
		{"uplinks", FAB_TEXT, "of each segment of levels that have prices", 0},
		{"boot_seconds", FAB_REAL, "by the best mapping", FAB_COL_SECONDS},
		{"is_cheapest", FAB_BOOL, "no plan that takes no longer is cheaper", 0},
	};
	const struct bootplan_costs *c = &o->costs;

	if (!c->is_given)
		return;
	FAB_TABLE_BEGIN(r, "costs", "Cost against time", columns);
	for (uint32_t i = 0; i < c->n + c->is_kept; i++) {
		const struct fab_cost_plan *plan =
			i < c->n ? &c->frontier[i] : &c->cheapest;

		fab_report_row(r, (const union fab_cell[]){
					  {.text = i < c->n ? "frontier" : "target"},
					  {.real = plan->cost},
					  {.u = plan->n_servers},
					  {.real = plan->nic_mbps},
					  {.text = uplinks_text(a, o, plan)},
					  {.real = plan->seconds},
					  {.u = plan->is_exact}});
	}
	fab_report_table_end(r);
}
