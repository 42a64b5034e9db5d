/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readers of cabling plans and of netlists. Of any fabric that is read: its own plan
 * finds nothing different in it, and the text itself, if it is a plan, nothing but what
 * is said.
 */
#include "fuzz.h"
#include "source.h"

#include "fabric/diff_plan.h"
#include "source/netlist.h"
#include "source/reader.h"

/* Both can be compared, with no more changes than cables. */
static void compare(const struct fab_fabric *plan, const struct fab_fabric *f,
		    bool is_equal)
{
	struct fab_plan_diff *diff = NULL;
	struct fab_err err = {""};

	if (fab_plan_diff_new(plan, f, &diff, &err)) {
		if (!*err.text || is_equal) {
			fprintf(stderr, "%s\n", err.text);
			abort();
		}
		return;
	}
	if (diff->n_changes > plan->n_cables + f->n_cables ||
	    (is_equal && diff->n_changes)) {
		fprintf(stderr, "%u changes\n", diff->n_changes);
		abort();
	}
	fab_plan_diff_free(diff);
}

static void plan_of(const struct fab_fabric *f)
{
	struct fab_fabric *plan = NULL;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	struct fab_err err = {""};
	int rc = fab_export_plan(out, f, &err);

	fclose(out);
	if (!rc && fab_source_parse("plan", text, n, NULL, &plan, &err)) {
		/* a plan of a fabric with cables inside directors only has none */
		if (!strstr(err.text, "the plan has no cable") &&
		    !strstr(err.text, "no switch in it")) {
			fprintf(stderr, "%s\n%s", err.text, text);
			abort();
		}
	} else if (!rc) {
		compare(plan, f, true);
		fab_fabric_free(plan);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *text = (const char *)bytes;
	struct fab_netlists all = {0};
	const struct fab_netlist *list;
	struct fab_fabric *f = NULL;
	struct fab_err err = {""};

	for (int k = 0; k < 2; k++) {
		struct fab_builder *b = fab_builder_new();

		*err.text = '\0';
		NEVER((k ? fab_cabling_topo_read : fab_cabling_csv_read)(b, "input", text,
									 n, &err) &&
		      !*err.text);
		fab_builder_free(b);
	}
	if (!fab_netlists_parse(&all, "input", text, n, &err) &&
	    !fab_netlist_get(&all, "T", "leaf1=R, leaf2=12x", &list, &err) && list)
		for (uint32_t i = 0; i < list->n_ports; i++)
			NEVER(list->ports[i].end.chip >= list->n_chips);
	fab_netlists_fini(&all);
	if (!fab_source_parse("input", bytes, n, NULL, &f, &err)) {
		plan_of(f);
		compare(f, f, false);
		fab_fabric_free(f);
	}
	fuzz_source(bytes, n);
	return 0;
}
