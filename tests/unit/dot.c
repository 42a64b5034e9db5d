/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/dot.h"

#include "support/test.h"

static char *dot_text(struct plan *plan)
{
	OWN(fab_fabric) *f = plan_end(plan);

	return TEXT_BY(out, fab_export_dot(out, f, NULL));
}

/* What whole pictures in golden cases do not have. */
Test(dot, cables_that_are_parallel_a_loop_or_to_an_aggregation_node)
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
	HAS(text,
	    "  n2 [label=\"spine1\", tooltip=\"0x0000000000100200\"];\n"
	    "  n5 [shape=point, label=\"Mellanox Technologies Aggregation Node\"];\n"
	    "  n6 [shape=ellipse, label=\"node001\"];\n"
	    "  n7 [shape=ellipse, label=\"node002\"];\n"
	    "  {rank=same; n0; n1}\n");
	HAS(text, "  n2 -- n0 [label=\"2\", penwidth=1.5, tooltip=\"2 x 4xHDR\"];\n"
		  "  n2 -- n1 [tooltip=\"4xHDR\"];\n"
		  "  n2 -- n2 [tooltip=\"4xHDR\"];\n"
		  "  n2 -- n5 [tooltip=\"4xHDR\"];\n"
		  "}\n");
}

/* Hosts with cables to the same switches are one node, with their list. */
Test(dot, hosts_of_a_switch_are_a_list)
{
	struct plan plan = plan_tree(2, 1, 30);
	OWN_HEAP char *text = dot_text(&plan);

	HAS(text, "[style=rounded, label=\"30 hosts\\nnode[001-030]\"];\n");
}

/* A fold is as fine as fits: a box with its hosts for each of a few leaves, in rows where
 * they are many, one box for all where no picture would be clear. */
Test(dot, folds_are_as_fine_as_fits)
{
	static const struct {
		const char *spec;
		size_t n_boxes;
	} cases[] = {{"fattree:radix=4,levels=2", 6},	{"fattree:radix=36,levels=2", 37},
		     {"fattree:radix=40,levels=3", 41}, {"dragonfly:a=4,p=2,h=2", 9},
		     {"dragonfly:a=8,p=4,h=4", 1},	{"torus:dims=4x4,hosts=1", 16},
		     {"torus:dims=10x10x10,hosts=1", 1}};
	const struct fab_dot_options options = {.fold = true};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_fabric) *f = test_gen(cases[i].spec);
		OWN_HEAP char *text = TEXT_BY(out, fab_export_dot(out, f, &options));
		size_t n = 0;

		for (const char *at = text; (at = strstr(at, "label=\"")); at++)
			n += at[-1] == '[' || at[-1] == ' ';
		for (const char *at = text; (at = strstr(at, " -- ")); at++)
			n -= strcspn(at, "\n") > 12 &&
			     !strncmp(strchr(at + 4, ' '), " [label", 7);
		cr_expect_eq(n - 1, cases[i].n_boxes, "%s: %zu boxes", cases[i].spec,
			     n - 1);
	}
}
