/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/routed.h"
#include "support/test.h"

OWN_POINTER(fab_groups)

/* Number of the process that the i-th member of a group is, from its name h<N>. */
static uint32_t process(const struct fab_fabric *f, const struct fab_groups *g,
			uint32_t group, uint32_t i)
{
	const char *name = fab_node_name(f, f->port_node[g->member[g->first[group] + i]]);

	cr_assert_eq(name[0], 'h');
	return (uint32_t)strtoul(name + 1, NULL, 10);
}

Test(pattern, every_line_of_a_grid_is_a_group)
{
	enum { A = 3, B = 4, C = 5 };
	OWN(fab_fabric) *f = test_random_fabric(10, 5, 6, 3);
	OWN(fab_groups) *g = routed_groups(f, "grid:3x4x5", 5);
	uint32_t at = 0;

	cr_assert_eq(g->n, B * C + A * C + A * B);
	for (uint32_t line = 0; line < B * C; line++, at++)
		for (uint32_t i = 0; i < A; i++)
			cr_assert_eq(process(f, g, at, i), i * B * C + line);
	for (uint32_t line = 0; line < A * C; line++, at++)
		for (uint32_t i = 0; i < B; i++)
			cr_assert_eq(process(f, g, at, i),
				     line / C * B * C + i * C + line % C);
	for (uint32_t line = 0; line < A * B; line++, at++) {
		cr_assert_eq(fab_group_size(g, at), C);
		for (uint32_t i = 0; i < C; i++)
			cr_assert_eq(process(f, g, at, i), line * C + i);
	}
}

Test(pattern, axes_of_length_one_make_no_groups)
{
	OWN(fab_fabric) *f = test_random_fabric(4, 2, 2, 3);
	OWN(fab_groups) *g = routed_groups(f, "grid:1x8x1", 5);

	cr_assert_eq(g->n, 1);
	cr_assert_eq(fab_group_size(g, 0), 8);
}

Test(pattern, processes_of_one_endpoint_are_one_member)
{
	OWN(fab_fabric) *f = test_random_fabric(4, 2, 2, 3);
	OWN(fab_groups) *g = routed_groups(f, "grid:8x4,ppn=4", 5);

	cr_assert_eq(g->n, 4 + 8);
	cr_assert_eq(fab_group_size(g, 0), 8);
	for (uint32_t i = 4; i < 12; i++)
		cr_assert_eq(fab_group_size(g, i), 1);
}

Test(pattern, random_groups_are_distinct_and_repeat)
{
	OWN(fab_fabric) *f = test_random_fabric(10, 5, 5, 3);
	OWN(fab_groups) *g = routed_groups(f, "random:groups=200,size=3-9,seed=7", 5);
	OWN(fab_groups) *same = routed_groups(f, "random:groups=200,size=3-9,seed=7", 5);
	OWN(fab_groups) *other = routed_groups(f, "random:groups=200,size=3-9", 5);
	bool size_seen[10] = {false};

	cr_assert_eq(g->n, 200);
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t size = fab_group_size(g, i);

		/* members are kept once each: a repeated one would make a group too small
		 */
		cr_assert(size >= 3 && size <= 9);
		size_seen[size] = true;
	}
	for (uint32_t size = 3; size <= 9; size++)
		cr_assert(size_seen[size]);
	cr_assert_eq(same->first[200], g->first[200]);
	cr_assert_arr_eq(same->member, g->member, g->first[200] * sizeof(*g->member));
	cr_assert(other->first[200] != g->first[200] ||
		  memcmp(other->member, g->member, g->first[200] * sizeof(*g->member)));
}

Test(pattern, a_tree_has_levels_of_leaders)
{
	OWN(fab_fabric) *f = test_random_fabric(10, 5, 5, 3); /* 50 hosts */
	OWN(fab_groups) *g = routed_groups(f, "tree:fanout=4", 5);

	/* 13 groups of 50 (the last of 2), 4 of 13 (the last of 1: none), 1 of 4 */
	cr_assert_eq(g->n, 13 + 3 + 1);
	cr_assert_eq(fab_group_size(g, 12), 2);
	cr_assert_eq(process(f, g, 13, 1), 4);
	cr_assert_eq(process(f, g, 14, 0), 16);
	cr_assert_eq(process(f, g, 16, 3), 48);
}

/* The last two leaders are a level, too. */
Test(pattern, a_tree_ends_with_two_leaders)
{
	OWN(fab_fabric) *f = test_ring(4);
	OWN(fab_groups) *g = routed_groups(f, "tree:fanout=2", 5);

	cr_assert_eq(g->n, 3);
	for (uint32_t i = 0; i < g->n; i++)
		cr_assert_eq(fab_group_size(g, i), 2);
	cr_assert_eq(process(f, g, 2, 0), 0);
	cr_assert_eq(process(f, g, 2, 1), 2);
}

Test(pattern, order_of_endpoints)
{
	OWN(fab_fabric) *f = test_random_fabric(12, 5, 1, 3);
	OWN(fab_groups) *by_name = routed_groups(f, "grid:12,order=name", 5);
	OWN(fab_groups) *by_lid = routed_groups(f, "grid:12,order=lid", 5);
	OWN(fab_groups) *by_chance = routed_groups(f, "grid:12,order=random,seed=3", 5);
	bool is_moved = false;

	for (uint32_t i = 0; i < 12; i++) {
		cr_assert_eq(process(f, by_name, 0, i), i); /* h2 before h10 */
		cr_assert_eq(process(f, by_lid, 0, i), i);
		is_moved |= process(f, by_chance, 0, i) != i;
	}
	cr_assert(is_moved);
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
