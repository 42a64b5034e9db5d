/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/groups.h"

#include "fabric/builder.h"
#include "support/node.h"
#include "support/routed.h"
#include "support/test.h"

/*
 * s (LID 10) with "n1 HCA-1" (LID 1, port GUID 0xa1), "n1 HCA-2" (LID 2) and an
 * aggregation node, t with two adapters both called "twin" and one with odd characters,
 * and u, apart, with "far HCA-1". On t, too: dup1 and dup2 with LID 20 and port GUID
 * 0xb9, and adapters 10 and 2, in this order, of host n2, whose first has no cable.
 */
static struct fab_fabric *small(void)
{
	struct fab_builder *b = fab_builder_new();
	uint32_t s = test_node(b, FAB_SWITCH, 0x51, 0, "s"),
		 t = test_node(b, FAB_SWITCH, 0x52, 0, "leaf t");
	uint32_t u = test_node(b, FAB_SWITCH, 0x53, 0, "u");
	static const char *const names[] = {"n1 HCA-1", "n1 HCA-2", "twin",
					    "twin",	"a \"b: c", "far HCA-1"};
	const uint32_t on[] = {s, s, t, t, t, u};
	struct fab_fabric *f = NULL;

	fab_builder_add_cable(b, s, 20, t, 20, 4, FAB_HDR);
	fab_builder_set_port(b, s, 0, 0x51, 10, 0);
	for (uint16_t i = 0; i < 6; i++) {
		uint32_t node = test_node(b, FAB_ADAPTER, 0xa0u + 16u * i, 0, names[i]);

		fab_builder_set_port(b, node, 1, 0xa1u + 16u * i, (uint16_t)(i + 1), 0);
		fab_builder_add_cable(b, node, 1, on[i], (uint16_t)(i + 1), 4, FAB_HDR);
	}
	fab_builder_add_cable(b, test_node(b, FAB_AGGREGATION, 0xff, 0, "agg"), 1, s, 36,
			      4, FAB_HDR);
	test_node(b, FAB_ADAPTER, 0x200, 0, "n2 HCA-1");
	fab_builder_add_cable(b, test_node(b, FAB_ADAPTER, 0x230, 0, "n2 HCA-10"), 1, t,
			      33, 4, FAB_HDR);
	fab_builder_add_cable(b, test_node(b, FAB_ADAPTER, 0x210, 0, "n2 HCA-2"), 1, t,
			      30, 4, FAB_HDR);
	for (uint16_t i = 1; i <= 2; i++) {
		uint32_t node = test_node(b, FAB_ADAPTER, 0x220u + i, 0,
					  i == 1 ? "dup1" : "dup2");

		fab_builder_set_port(b, node, 1, 0xb9, 20, 0);
		fab_builder_add_cable(b, node, 1, t, (uint16_t)(30 + i), 4, FAB_HDR);
	}
	MUST(fab_builder_finish(b, "test", "generated", NULL, &f, ERR));
	return f;
}

/* Read `text`; on success *out is what it gave. Returns the result of the last step. */
static int read_groups(const struct fab_fabric *f, const char *text, bool ignore_unknown,
		       struct fab_groups **out, struct fab_err *err)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	int rc = fab_groups_read(b, "g.txt", text, strlen(text), ignore_unknown, err);

	if (rc) {
		fab_groups_builder_free(b);
		return rc;
	}
	return fab_groups_builder_finish(b, ignore_unknown, out, err);
}

Test(groups, members_by_every_kind_of_name)
{
	static const char text[] =
		"# comment\n"
		"\n"
		"one: \"n1 HCA-1\" 0xa1 lid:1 0xa0 lid:2 # the same and one\r\n"
		"\"two: \": n1 s \"leaf t\"\n"
		"three: \"a \"b: c\" lid:10";
	OWN(fab_fabric) *f = small();
	FAB_AUTO(fab_groups_free_at) struct fab_groups *g = NULL;

	MUST(read_groups(f, text, false, &g, ERR));
	cr_assert_eq(g->n, 3);
	cr_assert_str_eq(fab_group_name(g, 0), "one");
	cr_assert_str_eq(fab_group_name(g, 1), "two: ");
	cr_assert_eq(fab_group_size(g, 0), 2);
	cr_assert_eq(f->port_lid[g->member[0]], 1);
	cr_assert_eq(f->port_lid[g->member[1]], 2);
	/* a host stands for its first adapter, a switch for itself */
	cr_assert_eq(fab_group_size(g, 1), 3);
	cr_assert_eq(f->port_lid[g->member[g->first[1]]], 1);
	cr_assert_eq(g->member[g->first[1] + 1], fab_port_find(f, 0, 0));
	cr_assert_eq(g->member[g->first[1] + 2], fab_port_find(f, 1, 0));
	cr_assert_eq(fab_group_n_switches(g, 1), 2);
	cr_assert_eq(fab_group_size(g, 2), 2);
}

Test(groups, errors_name_file_line_group_and_member)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"a: s\nb: nobody s",
		 "g.txt:2: group \"b\": no switch, host or adapter is called 'nobody'"},
		{"b: lid:99", "g.txt:1: group \"b\": no port has LID 99"},
		{"b: lid:x",
		 "g.txt:1: group \"b\": 'lid:x': expected lid:N, N from 1 to 49151"},
		{"b: 0x99",
		 "g.txt:1: group \"b\": no switch, host or adapter has the GUID or name '0x99'"},
		{"b: s twin",
		 "g.txt:1: group \"b\": 'twin' can be each of 2: twin "
		 "(0x00000000000000c0), twin (0x00000000000000d0); expected one, by its GUID"},
		{"no colon here",
		 "g.txt:1: expected NAME: MEMBER MEMBER ..., found no colon behind \"no\""},
		{"b: \"n1",
		 "g.txt:1: a name begins with a quote, expected one at its end"},
		{"a: s\nb: # nothing", "g.txt:2: group \"b\" has no member"},
		{"# nothing", "g.txt: no group, expected lines NAME: MEMBER MEMBER ..."},
		{"", "g.txt: no group, expected lines NAME: MEMBER MEMBER ..."},
		{"b: s \"far HCA-1\"",
		 "g.txt:1: group \"b\": no path from \"s\" (part 1) to \"far HCA-1\" "
		 "(part 2): no cable joins these parts of the fabric"},
		{"b: n1 HCA-1", "g.txt:1: group \"b\": no switch, host or adapter is "
				"called 'HCA-1'; with quotes \"n1 HCA-1\" is one"},
		{"b: leaf t",
		 "g.txt:1: group \"b\": no switch, host or adapter is called 'leaf'; with quotes \"leaf t\" is one"},
		{"b: leaf",
		 "g.txt:1: group \"b\": no switch, host or adapter is called 'leaf'"},
		{"b: s \"\" s", "g.txt:1: group \"b\": expected a name, found nothing"},
		{"b: lid:20", "g.txt:1: group \"b\": 'lid:20' can be each of 2: "},
		{"b: 0xb9", "g.txt:1: group \"b\": '0xb9' can be each of 2: "},
	};
	OWN(fab_fabric) *f = small();

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		struct fab_groups *g;

		cr_assert_eq(read_groups(f, cases[i].text, false, &g, ERR), -EINVAL, "%s",
			     cases[i].text);
		cr_assert_eq(strncmp(test_err.text, cases[i].message,
				     strlen(cases[i].message)),
			     0, "'%s' instead of '%s'", test_err.text, cases[i].message);
	}
}

Test(groups, a_host_stands_for_its_first_adapter_with_a_cable)
{
	OWN(fab_fabric) *f = small();
	FAB_AUTO(fab_groups_free_at) struct fab_groups *g = NULL;

	/* behind a byte order mark */
	MUST(read_groups(f,
			 "\xef\xbb\xbf"
			 "a: n2 dup1",
			 false, &g, ERR));
	cr_assert_str_eq(fab_group_name(g, 0), "a");
	cr_assert_eq(fab_group_size(g, 0), 2);
	cr_assert_str_eq(fab_node_name(f, f->port_node[g->member[0]]), "n2 HCA-2");
}

Test(groups, nothing_left_says_what_was_left_out)
{
	OWN(fab_fabric) *f = small();
	struct fab_groups *g = NULL;

	FAILS_AS(
		read_groups(f, "a: x y\nb: z", true, &g, ERR), -EINVAL,
		"there is no group with a member in the fabric (3 members and 2 groups left out)");
}

Test(groups, unknown_members_are_counted_when_ignored)
{
	OWN(fab_fabric) *f = small();
	FAB_AUTO(fab_groups_free_at) struct fab_groups *g = NULL;

	MUST(read_groups(f, "a: s nobody lid:77\nb: nobody\nc: u", true, &g, ERR));
	cr_assert_eq(g->n, 2);
	cr_assert_eq(g->n_unknown, 3);
	cr_assert_eq(g->n_empty, 1);
	cr_assert_str_eq(fab_group_name(g, 1), "c");
}

Test(groups, a_binary_file_is_refused)
{
	OWN(fab_fabric) *f = small();
	struct fab_groups_builder *b = fab_groups_builder_new(f);

	FAILS_AS(fab_groups_read(b, "g", "a: s\0", 5, false, ERR), -EINVAL,
		 "g: a binary file, expected lines of groups");
	fab_groups_builder_free(b);
}

Test(groups, equal_lists_of_switches_are_found)
{
	OWN(fab_fabric) *f = test_random_fabric(20, 10, 4, 1);
	FAB_AUTO(fab_groups_free_at)
	struct fab_groups *g = routed_groups(f, "grid:20x4", 1);

	/* 4 columns over all 20 switches, 20 rows on one switch each */
	cr_assert_eq(g->n, 24);
	for (uint32_t i = 0; i < 4; i++)
		cr_assert_eq(g->same_as[i], 0);
	for (uint32_t i = 4; i < 24; i++)
		cr_assert_eq(g->same_as[i], i);
}

/* A text that ends with a colon ends a name there, whatever lies behind it in memory. */
Test(groups, the_last_colon)
{
	static const char text[] = "a: s n1\nb:s n1";
	OWN(fab_fabric) *f = small();
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	struct fab_groups *g = NULL;

	MUST(fab_groups_read(b, "g.txt", text, strlen("a: s n1\nb:"), false, ERR));
	FAILS_AS(fab_groups_builder_finish(b, false, &g, ERR), -EINVAL,
		 "g.txt:2: group \"b\" has no member");
}
