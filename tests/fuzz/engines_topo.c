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
	MUST(*text);
	MUST(check->n_problems <= check->n_findings);
	MUST(has_twins(f) || !diff->n_changes);
	fab_diff_free(diff);
	cause = fab_causes(f, check->findings, check->n_findings, &check->arena,
			   &n_causes);
	for (uint32_t k = 0; k < n_causes; k++)
		n_explained += cause[k].n;
	MUST(n_explained == check->n_findings);
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
	FAB_AUTOFREE char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	bool refused = is_refused(fab_export_subnet_lst(out, f, ERR));

	fclose(out);
	MUST(refused == (has_twins(f) || has_adapters_only(f)));
	if (!refused && f->n_cables) {
		OK(fab_source_parse("subnet", text, n, NULL, &again, ERR));
		MUST(again->n_cables == f->n_cables);
		fab_fabric_free(again);
	}
}

void fuzz_topo(const struct fab_fabric *f)
{
	const struct fab_dot_options all = {.without_hosts = false};
	FAB_AUTOFREE char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	look(f);
	write_subnet(f);
	fab_export_dot(out, f, &all);
	is_refused(fab_export_slurm(out, f, NULL, ERR));
	is_refused(fab_export_slurm_yaml(out, f, NULL, ERR));
	is_refused(fab_export_slurm_block(out, f, NULL, ERR));
	fclose(out);
	MUST(n > 0);
}
