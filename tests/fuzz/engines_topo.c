/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-topo does with a fabric. */
#include "engines.h"
#include "export/dot.h"
#include "export/fabrics.h"
#include "export/slurm.h"
#include "fabric/check.h"
#include "fabric/diff.h"
#include "fabric/summary.h"
#include "source/source.h"

static bool has_twins(const struct fab_fabric *f)
{
	for (uint32_t i = 0; i < f->n_nodes; i++)
		for (uint32_t k = 0; k < i; k++)
			if (f->node_guid[i] == f->node_guid[k])
				return true;
	return false;
}

static void look(const struct fab_fabric *f)
{
	struct fab_summary *summary = fab_summary_new(f, 1);
	struct fab_check *check = fab_check_new(f);
	uint32_t n_causes, n_explained = 0;
	const struct fab_cause *cause;
	struct fab_diff *diff = fab_diff_new(f, f);
	char text[128];

	fab_shape_text(summary->shape, text, sizeof(text));
	fuzz_must(*text, "a shape without words", "summary");
	fuzz_must(check->n_problems <= check->n_findings, "more problems than findings",
		  "check");
	fuzz_must(has_twins(f) || !diff->n_changes, "differs from itself", "diff");
	fab_diff_free(diff);
	cause = fab_causes(f, check->findings, check->n_findings, &check->arena,
			   &n_causes);
	for (uint32_t k = 0; k < n_causes; k++)
		n_explained += cause[k].n;
	fuzz_must(n_explained == check->n_findings, "causes of all findings", "check");
	fab_check_free(check);
	fab_summary_free(summary);
}

/* Every node with a cable has a line, and what is read back is the same. */
/* Cables between adapters only are no fabric that a list of links could tell. */
static bool has_adapters_only(const struct fab_fabric *f)
{
	for (uint32_t c = 0; c < f->n_cables; c++)
		if (fab_node_is_switch(f, f->port_node[f->cable_a[c]]) ||
		    fab_node_is_switch(f, f->port_node[f->cable_b[c]]))
			return false;
	return f->n_cables > 0;
}

static void write_subnet(const struct fab_fabric *f)
{
	struct fab_fabric *again = NULL;
	struct fab_err err = {""};
	FAB_AUTOFREE char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	bool is_refused =
		fuzz_refused(fab_export_subnet_lst(out, f, &err), &err, "subnet-lst");

	fclose(out);
	fuzz_must(is_refused == (has_twins(f) || has_adapters_only(f)),
		  "refused for another reason", "subnet-lst");
	if (!is_refused && f->n_cables) {
		fuzz_sound(fab_source_parse("subnet", text, n, NULL, &again, &err), &err,
			   "subnet-lst");
		fuzz_must(again->n_cables == f->n_cables, "other cables", "subnet-lst");
		fab_fabric_free(again);
	}
}

void fuzz_topo(const struct fab_fabric *f)
{
	const struct fab_dot_options all = {.without_hosts = false};
	struct fab_err err = {""};
	FAB_AUTOFREE char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	look(f);
	write_subnet(f);
	fab_export_dot(out, f, &all);
	fuzz_refused(fab_export_slurm(out, f, NULL, &err), &err, "slurm");
	fuzz_refused(fab_export_slurm_yaml(out, f, NULL, &err), &err, "slurm-yaml");
	fuzz_refused(fab_export_slurm_block(out, f, NULL, &err), &err, "slurm-block");
	fclose(out);
	fuzz_must(n > 0, "nothing is drawn", "dot");
}
