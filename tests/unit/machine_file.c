/* SPDX-License-Identifier: BSD-2-Clause */
/* Machine files by name: the order of the lines says nothing. */
#include "boot/mapping.h"
#include "support/boots.h"
#include "support/test.h"

enum { LINES_MAX = 200 };

/* A random hierarchy of up to five levels, uneven, a line for each unit. */
static size_t draw_lines(struct fab_rng *rng, char line[LINES_MAX][64])
{
	char parent[40][16] = {"-"};
	size_t depth[40] = {0}, n_parents = 1, n = 0;

	while (n_parents < 12) {
		size_t p = fab_rng_below(rng, n_parents);

		if (depth[p] == 4)
			continue;
		depth[n_parents] = depth[p] + 1;
		snprintf(parent[n_parents], sizeof(parent[0]), "u%zu",
			 (n_parents * 7) % 12 + 1);
		snprintf(line[n++], sizeof(line[0]), "%s %s %zuG", parent[n_parents],
			 parent[p], (size_t)fab_rng_below(rng, 8) + 1);
		n_parents++;
	}
	for (size_t i = 0; i < 30; i++)
		snprintf(line[n++], sizeof(line[0]), "n%zu %s 1G node", i,
			 parent[fab_rng_below(rng, n_parents)]);
	for (size_t i = 0; i < 5; i++)
		snprintf(line[n++], sizeof(line[0]), "s%zu %s %zuG server", i,
			 parent[fab_rng_below(rng, n_parents)],
			 (size_t)fab_rng_below(rng, 3) + 1);
	return n;
}

static struct fab_machine *read_lines(char line[LINES_MAX][64], size_t n)
{
	char text[LINES_MAX * 64];
	struct fab_machine *m;
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s\n", line[i]);
	MUST(fab_machine_read("m", text, len, &m, ERR));
	return m;
}

static void expect_same(const struct fab_machine *a, const struct fab_machine *b)
{
	cr_assert_eq(a->n_levels, b->n_levels);
	for (uint32_t i = 0; i < a->n_levels; i++) {
		cr_expect_str_eq(a->level[i].unit, b->level[i].unit);
		cr_expect_eq(a->level[i].is_server, b->level[i].is_server);
	}
	cr_assert_eq(a->n_vertices, b->n_vertices);
	for (uint32_t v = 0; v < a->n_vertices; v++) {
		char x[FAB_MACHINE_NAME_BYTES], y[FAB_MACHINE_NAME_BYTES];

		cr_expect_str_eq(fab_machine_vertex_name(a, v, x),
				 fab_machine_vertex_name(b, v, y));
		cr_expect_eq(a->parent[v], b->parent[v]);
		cr_expect_eq(a->level_of[v], b->level_of[v]);
		cr_expect(a->capacity_mbps[v] <= b->capacity_mbps[v] &&
			  a->capacity_mbps[v] >= b->capacity_mbps[v]);
	}
	for (size_t i = 0; i < fab_mapping_n_engines; i++) {
		const struct fab_mapping_engine *engine = &fab_mapping_engines[i];
		const char *name = engine->form;
		OWN(fab_batch) all_a = boots_batch(a, "all");
		OWN(fab_batch) all_b = boots_batch(b, "all");
		FAB_AUTOFREE uint32_t *of_a = NULL, *of_b = NULL;

		if (strchr(name, ':') || engine->needs_loaded)
			continue;
		of_a = boots_map(a, name, &all_a);
		of_b = boots_map(b, name, &all_b);
		cr_expect_arr_eq(of_a, of_b, a->n_nodes * sizeof(*of_a));
	}
}

Test(machine_file, shuffled_lines_are_the_same_machine)
{
	for (uint64_t seed = 0; seed < 40; seed++) {
		static char line[LINES_MAX][64];
		struct fab_rng rng = test_rng(seed);
		size_t n = draw_lines(&rng, line);
		OWN(fab_machine) *first = read_lines(line, n);

		for (int turn = 0; turn < 4; turn++) {
			OWN(fab_machine) *other = NULL;

			for (size_t i = n; i-- > 1;) {
				size_t k = fab_rng_below(&rng, i + 1);
				char x[64];

				memcpy(x, line[i], sizeof(x));
				memcpy(line[i], line[k], sizeof(x));
				memcpy(line[k], x, sizeof(x));
			}
			other = read_lines(line, n);
			expect_same(first, other);
		}
	}
}

/* Levels are counted from the core: the pods are the outermost whatever comes first. */
Test(machine_file, levels_go_by_depth)
{
	static char line[LINES_MAX][64] = {"s1 pod1 1G server", "n1 rack1 1G node",
					   "rack1 pod1 2G", "n2 rack1 1G node",
					   "pod1 - 4G"};
	OWN(fab_machine) *m = read_lines(line, 5);

	cr_assert_eq(m->n_levels, 5);
	cr_expect_str_eq(m->level[1].unit, "tier1");
	cr_expect_str_eq(m->level[2].unit, "tier2");
	cr_expect_str_eq(m->level[3].unit, "node");
	cr_expect_str_eq(m->level[4].unit, "server");
	cr_expect(m->level[4].is_server);
}

static void expect_refused(const char *text, const char *what)
{
	struct fab_machine *m = NULL;

	FAILS(fab_machine_read("m", text, strlen(text), &m, ERR), -EINVAL, what);
}

/* Only switches have anything below them, and no line says more than it may. */
Test(machine_file, lines_that_do_not_do)
{
	expect_refused("a - 1G\nn a 1G node extra\ns a 1G server\n",
		       "m:2: expected NAME");
	expect_refused("a - 1G\nn a\ns a 1G server\n", "m:2: expected NAME");
	expect_refused("a - 1G\ns a 1G server\nn s 1G node\n",
		       "'s' is a node or server and has 'n' below it");
	expect_refused("a - 1G\nn a 1G node\ns n 1G server\n",
		       "'n' is a node or server and has 's' below it");
}
