/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/dot.h"

#include "fabric/ranks.h"
#include "support/own.h"
#include "support/plan.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *dot_text(struct plan *plan)
{
	struct fab_fabric *f = plan_build(plan, 0);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fab_export_dot(out, f, NULL);
	fclose(out);
	fab_fabric_free(f);
	plan_free(plan);
	return text;
}

Test(dot, whole_picture)
{
	struct plan plan = plan_tree(2, 1, 1);
	OWN_HEAP char *text = NULL;

	plan.nodes.v[2].n_ports = 9;
	plan.nodes.v[0].n_ports = 9;
	plan_cable(&plan, 0, 3, 2, 3);
	plan_cable(&plan, 2, 4, 2, 5);
	plan_cable(&plan, 2, 6,
		   plan_adapter(&plan, "Mellanox Technologies Aggregation Node"), 1);
	text = dot_text(&plan);
	cr_assert_str_eq(
		text,
		"graph fabric {\n"
		"  label=\"plan\";\n"
		"  node [shape=box, fontname=\"sans-serif\"];\n"
		"  n0 [label=\"leaf1\", tooltip=\"0x0000000000100000\"];\n"
		"  n1 [label=\"leaf2\", tooltip=\"0x0000000000100100\"];\n"
		"  n2 [label=\"spine1\", tooltip=\"0x0000000000100200\"];\n"
		"  n5 [shape=point, label=\"Mellanox Technologies Aggregation Node\"];\n"
		"  n6 [shape=ellipse, label=\"node001\"];\n"
		"  n7 [shape=ellipse, label=\"node002\"];\n"
		"  {rank=same; n0; n1}\n"
		"  n0 -- n6 [tooltip=\"4xHDR\"];\n"
		"  n1 -- n7 [tooltip=\"4xHDR\"];\n"
		"  n2 -- n0 [label=\"2\", penwidth=1.5, tooltip=\"2 x 4xHDR\"];\n"
		"  n2 -- n1 [tooltip=\"4xHDR\"];\n"
		"  n2 -- n2 [tooltip=\"4xHDR\"];\n"
		"  n2 -- n5 [tooltip=\"4xHDR\"];\n"
		"}\n");
}

/* The roots join the leaf switches; a switch above them that joins nothing is none. */
Test(dot, roots_of_a_tree_with_a_switch_above)
{
	OWN(plan) plan = plan_tree(4, 2, 3);
	uint32_t above = plan_switch(&plan, "management", 8);
	OWN(fab_fabric) *f = NULL;
	OWN(fab_shape) *shape = NULL;
	OWN(fab_ranks) r;

	plan.nodes.v[4].n_ports = 9;
	plan_cable(&plan, 4, 9, above, 1);
	f = plan_build(&plan, 0);
	shape = fab_shape_recognize(f);
	fab_ranks_init(&r, f, shape);
	cr_assert_eq(r.n_roots, 2);
	for (uint32_t s = 0; s < f->n_switches; s++)
		cr_assert_eq(r.is_root[s], r.rank[s] == 1);
	cr_assert_eq(r.rank[f->n_switches - 1], 0);
}
