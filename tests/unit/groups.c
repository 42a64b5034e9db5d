/* SPDX-License-Identifier: BSD-2-Clause */
/* Members by name; the golden case mcroute-errors has most of what is refused. */
#include "mcast/groups.h"

#include "fabric/builder.h"
#include "support/node.h"
#include "support/test.h"

/*
 * s (LID 10) with "n1 HCA-1" (LID 1, port GUID 0xa1) and "n1 HCA-2" (LID 2); t with an
 * adapter with odd characters, dup1 and dup2 with LID 20 and port GUID 0xb9, and adapters
 * 10 and 2, in this order, of host n2, whose first has no cable.
 */
static struct fab_fabric *small(void)
{
	static const struct {
		const char *name;
		uint32_t guid, port_guid;
		uint16_t lid, port; /* up to 9 of s */
	} adapters[] = {
		{"n1 HCA-1", 0xa0, 0xa1, 1, 1},	 {"n1 HCA-2", 0xb0, 0xb1, 2, 2},
		{"a \"b: c", 0xe0, 0xe1, 5, 15}, {"n2 HCA-10", 0x230, 0, 0, 33},
		{"n2 HCA-2", 0x210, 0, 0, 30},	 {"dup1", 0x221, 0xb9, 20, 31},
		{"dup2", 0x222, 0xb9, 20, 32},
	};
	struct fab_builder *b = fab_builder_new();
	uint32_t s = test_node(b, FAB_SWITCH, 0x51, 0, "s"),
		 t = test_node(b, FAB_SWITCH, 0x52, 0, "leaf t");
	struct fab_fabric *f = NULL;

	fab_builder_add_cable(b, s, 20, t, 20, 4, FAB_HDR);
	fab_builder_set_port(b, s, 0, 0x51, 10, 0);
	test_node(b, FAB_ADAPTER, 0x200, 0, "n2 HCA-1");
	for (size_t i = 0; i < FAB_COUNT(adapters); i++) {
		uint32_t node =
			test_node(b, FAB_ADAPTER, adapters[i].guid, 0, adapters[i].name);

		if (adapters[i].lid)
			fab_builder_set_port(b, node, 1, adapters[i].port_guid,
					     adapters[i].lid, 0);
		fab_builder_add_cable(b, node, 1, adapters[i].port < 10 ? s : t,
				      adapters[i].port, 4, FAB_HDR);
	}
	MUST(fab_builder_finish(b, "test", "generated", NULL, &f, ERR));
	return f;
}

/* Read `len` bytes; on success *out is what they gave. */
static int read_groups(const struct fab_fabric *f, const char *text, size_t len,
		       bool ignore_unknown, struct fab_groups **out, struct fab_err *err)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	int rc = fab_groups_read(b, "g.txt", text, len, ignore_unknown, err);

	if (rc) {
		fab_groups_builder_free(b);
		return rc;
	}
	return fab_groups_builder_finish(b, ignore_unknown, out, err);
}

/* A host stands for its first adapter with a cable, a switch for itself. */
Test(groups, members_by_every_kind_of_name)
{
	static const char text[] =
		"\xef\xbb\xbf# behind a byte order mark\n"
		"\n"
		"one: \"n1 HCA-1\" 0xa1 lid:1 0xa0 lid:2 # the same and one\r\n"
		"\"two: \": n1 s \"leaf t\"\n"
		"three: n2 dup1\n"
		"four: \"a \"b: c\" lid:10";
	OWN(fab_fabric) *f = small();
	FAB_AUTO(fab_groups_free_at) struct fab_groups *g = NULL;
	const uint32_t *member;

	MUST(read_groups(f, text, strlen(text), false, &g, ERR));
	cr_assert_eq(g->n, 4);
	cr_assert_str_eq(fab_group_name(g, 0), "one");
	cr_assert_str_eq(fab_group_name(g, 1), "two: ");
	cr_assert(fab_group_size(g, 0) == 2 && fab_group_size(g, 1) == 3);
	cr_assert(fab_group_size(g, 2) == 2 && fab_group_size(g, 3) == 2);
	cr_assert_eq(fab_group_n_switches(g, 1), 2);
	member = g->member + g->first[0];
	cr_assert(f->port_lid[member[0]] == 1 && f->port_lid[member[1]] == 2);
	member = g->member + g->first[1];
	cr_assert_eq(f->port_lid[member[0]], 1);
	cr_assert_eq(member[1], fab_port_find(f, 0, 0));
	cr_assert_eq(member[2], fab_port_find(f, 1, 0));
	member = g->member + g->first[2];
	cr_assert_str_eq(fab_node_name(f, f->port_node[member[0]]), "n2 HCA-2");
}

Test(groups, errors_name_file_line_group_and_member)
{
	static const struct {
		const char *text, *message;
		size_t len; /* 0: all */
		bool ignore_unknown;
	} cases[] = {
		{"b: lid:x",
		 "g.txt:1: group \"b\": 'lid:x': expected lid:N, N from 1 to 49151"},
		{"b: leaf t",
		 "g.txt:1: group \"b\": no switch, host or adapter is called 'leaf'; with quotes \"leaf t\" is one"},
		{"b: leaf",
		 "g.txt:1: group \"b\": no switch, host or adapter is called 'leaf'"},
		{"b: s \"\" s", "g.txt:1: group \"b\": expected a name, found nothing"},
		{"b: lid:20", "g.txt:1: group \"b\": 'lid:20' can be each of 2: "},
		{"b: 0xb9", "g.txt:1: group \"b\": '0xb9' can be each of 2: "},
		{"no colon here",
		 "g.txt:1: expected NAME: MEMBER MEMBER ..., found no colon behind \"no\""},
		{"b: \"n1",
		 "g.txt:1: a name begins with a quote, expected one at its end"},
		{"# nothing", "g.txt: no group, expected lines NAME: MEMBER MEMBER ..."},
		{"", "g.txt: no group, expected lines NAME: MEMBER MEMBER ..."},
		{"a: s\0", "g.txt: a binary file, expected lines of groups", 5},
		/* ends with a colon, whatever lies behind it in memory */
		{"a: s n1\nb:s n1", "g.txt:2: group \"b\" has no member", 10},
		{"a: x y\nb: z",
		 "there is no group with a member in the fabric (3 members and 2 groups left out)",
		 0, true},
	};
	OWN(fab_fabric) *f = small();

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		size_t len = cases[i].len ? cases[i].len : strlen(cases[i].text);
		struct fab_groups *g;

		FAILS(read_groups(f, cases[i].text, len, cases[i].ignore_unknown, &g,
				  ERR),
		      -EINVAL, cases[i].message);
	}
}
