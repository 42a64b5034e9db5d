/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/routed.h"
#include "support/test.h"

OWN_POINTER(fab_groups)

/* The processes of each group of a pattern on n hosts, by their names h<N>. */
static char *groups_of(uint32_t n, const char *pattern)
{
	OWN(fab_fabric) *f = test_random_fabric(n, 5, 1, 3);
	OWN(fab_groups) *g = routed_groups(f, pattern, 5);
	char *text = NULL;

	for (uint32_t k = 0; k < g->n; k++)
		for (uint64_t i = g->first[k]; i < g->first[k + 1]; i++)
			fab_append(&text, i == g->first[k] ? "; " : " ", "%s",
				   fab_node_name(f, f->port_node[g->member[i]]) + 1);
	return text;
}

Test(pattern, members)
{
	static const struct {
		uint32_t n;
		const char *pattern, *groups;
	} cases[] = {
		/* every line of a grid; axes of length one make no groups */
		{12, "grid:2x3x2",
		 "0 6; 1 7; 2 8; 3 9; 4 10; 5 11; " /* the first axis */
		 "0 2 4; 1 3 5; 6 8 10; 7 9 11; "
		 "0 1; 2 3; 4 5; 6 7; 8 9; 10 11"},
		{8, "grid:1x8x1", "0 1 2 3 4 5 6 7"},
		/* processes of one endpoint are one member */
		{4, "grid:4x2,ppn=2", "0 1 2 3; 0 1 2 3; 0; 1; 2; 3"},
		/* leaders of groups are groups; one that is left over is none, two are */
		{18, "tree:fanout=4",
		 "0 1 2 3; 4 5 6 7; 8 9 10 11; 12 13 14 15; 16 17; 0 4 8 12; 0 16"},
		{4, "tree:fanout=2", "0 1; 2 3; 0 2"},
		/* h2 before h10 */
		{12, "grid:12,order=name", "0 1 2 3 4 5 6 7 8 9 10 11"},
		{12, "grid:12,order=lid", "0 1 2 3 4 5 6 7 8 9 10 11"},
	};
	OWN_HEAP char *by_chance = groups_of(12, "grid:12,order=random,seed=3");

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN_HEAP char *text = groups_of(cases[i].n, cases[i].pattern);

		cr_expect_str_eq(text, cases[i].groups, "%s: %s", cases[i].pattern, text);
	}
	cr_expect_str_neq(by_chance, "0 1 2 3 4 5 6 7 8 9 10 11");
}

/* A member that is drawn again would make a group too small. */
Test(pattern, random_groups_are_distinct)
{
	OWN(fab_fabric) *f = test_random_fabric(10, 5, 5, 3);
	OWN(fab_groups) *g = routed_groups(f, "random:groups=200,size=3-9,seed=7", 5);
	uint32_t sizes = 0;

	cr_assert_eq(g->n, 200);
	for (uint32_t i = 0; i < g->n; i++)
		sizes |= 1u << fab_group_size(g, i);
	cr_assert_eq(sizes, 0x3f8, "all sizes come, and no other");
}

Test(pattern, bad_specs)
{
#define SIZES " is no grid: expected sizes such as 160x100 or 8x8x8"
#define KINDS "' is unknown: expected grid:AxB, random:groups=N,size=K or tree:fanout=K"
#define HAS_8 "processes, the fabric has 8 (8 adapters, ppn=1)"
	/* what is said of --pattern SPEC */
	static const struct {
		const char *spec, *begin, *end;
	} cases[] = {
		{"grid", "'", KINDS},
		{"ring:5", "'", KINDS},
		{"grid:", "", ": ''" SIZES},
		{"grid:3x", "", ": '3x'" SIZES},
		{"grid:0x3", "", ": '0x3'" SIZES},
		{"grid:99999x99999", "", ": '99999x99999'" SIZES},
		{"grid:3x3,size=2", "",
		 ": 'size' is unknown: a grid takes per, ppn, order, seed"},
		{"grid:3x3,ppn=0", "", ": 'ppn=0' is not a number from 1 to 4096"},
		{"grid:3x3,order=up", "",
		 ": 'up' is no order: expected fabric, name, lid or random"},
		{"grid:3x3,per=node", "",
		 ": 'node' is no endpoint: expected adapter or host"},
		{"grid:3x3,x", "", ": 'x' is no parameter: expected KEY=VALUE"},
		{"random:size=3", "", ": random needs groups=N and size=K"},
		{"random:groups=3,size=5-4", "", ": '5-4' is no size: expected K or K-L"},
		{"tree:", "", ": '' is no parameter: expected KEY=VALUE"},
		{"tree:fanout=1", "",
		 ": 'fanout=1' is not a number from 2 to 4294967295"},
		{"grid:1x1", "", " makes no group of two processes or more"},
		{"grid:5x5", "", " needs 25 " HAS_8},
		{"random:groups=1,size=9", "", " needs 9 " HAS_8},
	};
	OWN(fab_fabric) *f = test_random_fabric(4, 2, 2, 3);

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		struct fab_groups_builder *b = fab_groups_builder_new(f);
		OWN_HEAP char *said = fab_format("--pattern %s%s%s", cases[i].begin,
						 cases[i].spec, cases[i].end);

		FAILS_AS(fab_groups_add_pattern(b, cases[i].spec, 1, ERR), -EINVAL, said);
		fab_groups_builder_free(b);
	}
}
