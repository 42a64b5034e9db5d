/* SPDX-License-Identifier: BSD-2-Clause */
/* Machine files by name: the order of the lines says nothing. */
#include "boot/machine.h"
#include "support/boots.h"
#include "support/test.h"

enum { N_PARENTS = 12, N_NODES = 30, N_SERVERS = 5 };
enum { N_LINES = N_PARENTS - 1 + N_NODES + N_SERVERS };

/* A random hierarchy of up to five levels, uneven, a line for each unit. */
static void draw_lines(struct fab_rng *rng, char line[N_LINES][64])
{
	char parent[N_PARENTS][16] = {"-"};
	size_t depth[N_PARENTS] = {0}, n = 0;

	for (size_t i = 1; i < N_PARENTS; i++) {
		size_t p = fab_rng_below(rng, i);

		while (depth[p] == 4)
			p = fab_rng_below(rng, i);
		depth[i] = depth[p] + 1;
		snprintf(parent[i], sizeof(parent[i]), "u%zu", i * 7 % 12 + 1);
		snprintf(line[n++], sizeof(line[0]), "%s %s %uG", parent[i], parent[p],
			 test_below(rng, 8) + 1);
	}
	for (size_t i = 0; i < N_NODES; i++)
		snprintf(line[n++], sizeof(line[0]), "n%zu %s 1G node", i,
			 parent[fab_rng_below(rng, N_PARENTS)]);
	for (size_t i = 0; i < N_SERVERS; i++)
		snprintf(line[n++], sizeof(line[0]), "s%zu %s %uG server", i,
			 parent[fab_rng_below(rng, N_PARENTS)], test_below(rng, 3) + 1);
}

/* The lines in a random order. */
static struct fab_machine *read_shuffled(struct fab_rng *rng, char line[N_LINES][64])
{
	OWN_HEAP uint32_t *order = test_order(N_LINES, rng);
	OWN_HEAP char *text = NULL;

	for (size_t i = 0; i < N_LINES; i++)
		fab_append(&text, "", "%s\n", line[order[i]]);
	return boots_read(text);
}

static void expect_same(const struct fab_machine *a, const struct fab_machine *b)
{
	cr_assert(a->n_levels == b->n_levels && a->n_vertices == b->n_vertices);
	for (uint32_t i = 0; i < a->n_levels; i++) {
		cr_expect_str_eq(a->level[i].unit, b->level[i].unit);
		cr_expect_eq(a->level[i].is_server, b->level[i].is_server);
	}
	for (uint32_t v = 0; v < a->n_vertices; v++) {
		char x[FAB_MACHINE_NAME_BYTES], y[FAB_MACHINE_NAME_BYTES];

		cr_expect_str_eq(fab_machine_vertex_name(a, v, x),
				 fab_machine_vertex_name(b, v, y));
		cr_expect(a->parent[v] == b->parent[v] &&
			  a->level_of[v] == b->level_of[v]);
	}
	cr_expect_arr_eq(a->capacity_mbps, b->capacity_mbps,
			 a->n_vertices * sizeof(*a->capacity_mbps));
	cr_assert(b->n_nodes == N_NODES && b->n_interfaces == N_SERVERS);
	cr_expect_arr_eq(a->node_vertex, b->node_vertex, N_NODES * sizeof(uint32_t));
	cr_expect_arr_eq(a->interface_vertex, b->interface_vertex,
			 N_SERVERS * sizeof(uint32_t));
}

Test(machine_file, shuffled_lines_are_the_same_machine)
{
	for (uint64_t seed = 0; seed < 40; seed++) {
		char line[N_LINES][64];
		struct fab_rng rng = test_rng(seed);
		OWN(fab_machine) *first = NULL;

		draw_lines(&rng, line);
		first = read_shuffled(&rng, line);
		for (int turn = 0; turn < 4; turn++) {
			OWN(fab_machine) *other = read_shuffled(&rng, line);

			expect_same(first, other);
		}
	}
}

/* Only switches have anything below them, and no line says more than it may. */
Test(machine_file, lines_that_do_not_do)
{
	static const char *const cases[][2] = {
		{"a - 1G\nn a 1G node extra\ns a 1G server\n", "m:2: expected NAME"},
		{"a - 1G\nn a\ns a 1G server\n", "m:2: expected NAME"},
		{"a - 1G\ns a 1G server\nn s 1G node\n",
		 "'s' is a node or server and has 'n' below it"},
		{"a - 1G\nn a 1G node\ns n 1G server\n",
		 "'n' is a node or server and has 's' below it"},
	};
	char wrong[] =
		"|a b 1\nb a 1\nn a 1 node\nv a 1 server\n|n - 0 node\n|"
		"n - 1 node\nv - -5 server\n|n a 1 node\nv - 1 server\n|"
		"a - 1\nn a 1 node\nn a 2 node\nv - 1 server\n|n - 1 node\nx n 1\n|"
		"level board\n|level board 2 x\n|a - 1 what\n";
	struct fab_machine *m = NULL;

	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		FAILS(fab_machine_read("m", cases[i][0], strlen(cases[i][0]), &m, ERR),
		      -EINVAL, cases[i][1]);
	for (char *text, *rest = wrong; (text = strsep(&rest, "|"));)
		FAILS(fab_machine_read("m", text, strlen(text), &m, ERR), -EINVAL, "");
}
