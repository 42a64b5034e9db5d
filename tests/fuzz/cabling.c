/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readers of cabling plans and of netlists. Of any fabric that is read: its own plan
 * finds nothing different in it, and the text itself, if it is a plan, nothing but what
 * is said.
 */
#include "fabric/diff_plan.h"
#include "source.h"
#include "source/netlist.h"

/* Both can be compared, with no more changes than cables. */
static void compare(const struct fab_fabric *plan, const struct fab_fabric *f,
		    bool is_equal)
{
	struct fab_plan_diff *diff = NULL;

	if (is_refused(fab_plan_diff_new(plan, f, &diff, ERR))) {
		NEVER(is_equal);
		return;
	}
	NEVER(diff->n_changes > plan->n_cables + f->n_cables ||
	      (is_equal && diff->n_changes));
	fab_plan_diff_free(diff);
}

static void plan_of(const struct fab_fabric *f)
{
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *plan = NULL;
	size_t n;
	FAB_AUTOFREE char *text = fuzz_export(fab_export_plan, f, &n);

	if (!text)
		return;
	if (!is_refused(fab_source_parse("plan", text, n, NULL, &plan, ERR)))
		compare(plan, f, true);
	else /* of a fabric with cables inside directors only */
		MUST(strstr(fuzz_err.text, "the plan has no cable") ||
		     strstr(fuzz_err.text, "no switch in it"));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *text = (const char *)bytes;
	struct fab_netlists all = {0};
	const struct fab_netlist *list;
	struct fab_builder *b;
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = NULL;

	if (!is_refused(fab_netlists_parse(&all, "input", text, n, ERR)) &&
	    !is_refused(fab_netlist_get(&all, "T", "leaf1=R, leaf2=12x", &list, ERR)) &&
	    list)
		for (uint32_t i = 0; i < list->n_ports; i++)
			NEVER(list->ports[i].end.chip >= list->n_chips);
	fab_netlists_fini(&all);
	if (!is_refused(fab_source_parse("input", bytes, n, NULL, &f, ERR))) {
		plan_of(f);
		compare(f, f, false);
	}
	b = fab_builder_new();
	(void)is_refused(fab_cabling_topo_read(b, "input", text, n, ERR));
	fab_builder_free(b);
	return fuzz_read(fab_cabling_csv_read, bytes, n);
}
