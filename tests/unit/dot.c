/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/dot.h"

#include "fabric/ranks.h"
#include "support/plan.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *dot_text(struct plan *plan, bool without_hosts)
{
	struct fab_fabric *f = plan_build(plan, 0);
	struct fab_dot_options options = {.without_hosts = without_hosts};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fab_export_dot(out, f, &options);
	fclose(out);
	fab_fabric_free(f);
	plan_free(plan);
	return text;
}

Test(dot, whole_picture)
{
	struct plan plan = plan_tree(2, 1, 1);
	char *text;

	plan.nodes.v[2].n_ports = 9;
	plan.nodes.v[0].n_ports = 9;
	plan_cable(&plan, 0, 3, 2, 3);
	plan_cable(&plan, 2, 4, 2, 5);
	plan_cable(&plan, 2, 6,
		   plan_adapter(&plan, "Mellanox Technologies Aggregation Node"), 1);
	text = dot_text(&plan, false);
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
	free(text);
}

Test(dot, without_hosts)
{
	struct plan plan = plan_tree(2, 1, 1);
	char *text = dot_text(&plan, true);

	cr_assert_null(strstr(text, "node001"));
	cr_assert_null(strstr(text, "n0 -- "));
	cr_assert_not_null(strstr(text, "n2 -- n0 "));
	free(text);
}

/* No name can close its quotes, start an escape of Graphviz or steer a terminal. */
Test(dot, names_are_escaped)
{
	struct plan plan = plan_tree(2, 1, 1);
	char *text;

	strcpy(plan.nodes.v[0].name, "a\"]; evil -- n0 [\\N");
	strcpy(plan.nodes.v[1].name, "esc\x1b[2J\xff");
	text = dot_text(&plan, false);
	cr_assert_not_null(strstr(text, "n0 [label=\"a\\\"]; evil -- n0 [\\\\N\", "));
	cr_assert_not_null(strstr(text, "n1 [label=\"esc\\\\x1b[2J\\\\xff\", "));
	cr_assert_null(strchr(text, '\x1b'));
	free(text);
}

/* The roots join the leaf switches; a switch above them that joins nothing is none. */
Test(dot, roots_of_a_tree_with_a_switch_above)
{
	struct plan plan = plan_tree(4, 2, 3);
	uint32_t above = plan_switch(&plan, "management", 8);
	struct fab_fabric *f;
	struct fab_shape *shape;
	struct fab_ranks r;

	plan.nodes.v[4].n_ports = 9;
	plan_cable(&plan, 4, 9, above, 1);
	f = plan_build(&plan, 0);
	shape = fab_shape_recognize(f);
	fab_ranks_init(&r, f, shape);
	cr_assert_eq(r.n_roots, 2);
	for (uint32_t s = 0; s < f->n_switches; s++)
		cr_assert_eq(r.is_root[s], r.rank[s] == 1);
	cr_assert_eq(r.rank[f->n_switches - 1], 0);
	fab_ranks_fini(&r);
	fab_shape_free(shape);
	fab_fabric_free(f);
	plan_free(&plan);
}
