/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/units.h"
#include "boot/advice.h"
#include "boot/mapping.h"
#include "boot/share.h"
#include "source/source.h"
#include "support/boots.h"
#include "support/test.h"

Test(boot, sizes_are_exact)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"50 MB", 50000000}, {"50MiB", 52428800}, {"1e3B", 1000},
		    {"1.5KiB", 1536},	 {"7B", 7},	      {"2 GB", 2000000000}};
	static const char *const bad[] = {"",	   "0B",    "-1B",  "7",   "1e3",
					  "64m",   "50Mb",  "50mb", "x",   "1.5B",
					  "1e99B", "0x10B", "50 ",  "nan", "MB"};
	uint64_t bytes;
	double mbps;

	for (size_t i = 0; i < FAB_COUNT(good); i++) {
		MUST(fab_parse_size_bytes(good[i].text, strlen(good[i].text), &bytes,
					  ERR));
		cr_expect_eq(bytes, good[i].bytes, "%s", good[i].text);
	}
	for (size_t i = 0; i < FAB_COUNT(bad); i++)
		cr_expect_neq(fab_parse_size_bytes(bad[i], strlen(bad[i]), &bytes, NULL),
			      0, "%s", bad[i]);
	MUST(fab_parse_rate_mbps("20Gbps", 6, &mbps, ERR));
	cr_expect_float_eq(mbps, 20000, 1e-9);
	MUST(fab_parse_rate_mbps("125MB/s", 7, &mbps, ERR));
	cr_expect_float_eq(mbps, 1000, 1e-9);
	cr_expect_neq(fab_parse_rate_mbps("0Gbps", 5, &mbps, NULL), 0);
}

Test(boot, preset_is_the_machine_of_the_paper)
{
	OWN(fab_machine) *m = boots_machine("preset:taihulight");

	cr_expect_eq(m->n_nodes, 40960);
	cr_expect_eq(m->n_servers, 160);
	cr_expect_str_eq(m->level[m->level_of[m->node_vertex[0]]].segment, "N1");
	cr_expect_str_eq(m->level[m->level_of[m->interface_vertex[0]]].segment, "N5");
	for (uint32_t i = 1; i < m->n_vertices; i++)
		cr_assert_lt(m->parent[i], i);
}

Test(boot, robust_is_at_least_bcda_for_prefixes_and_racks)
{
	static const char *const units[] = {"board", "supernode", "cabinet"};
	OWN(fab_machine) *m = boots_machine("preset:taihulight");
	struct fab_batch b;
	OWN(fab_batch) all = boots_batch(m, "all");
	FAB_AUTOFREE uint32_t *robust = boots_map(m, "robust", &all),
			      *bcda = boots_map(m, "bcda", &all);
	char text[40];

	for (uint32_t boards = 1; boards <= 5120; boards += 1 + boards / 3) {
		snprintf(text, sizeof(text), "first:%u:board", boards);
		b = boots_batch(m, text);
		cr_expect_geq(boots_share(m, &b, robust) * (1 + 1e-9),
			      boots_share(m, &b, bcda), "%s", text);
		fab_batch_fini(&b);
	}
	for (size_t u = 0; u < FAB_COUNT(units); u++)
		for (int k = 0; k < 40; k += 13) {
			snprintf(text, sizeof(text), "unit:%s%d", units[u], k);
			b = boots_batch(m, text);
			cr_expect_geq(boots_share(m, &b, robust) * (1 + 1e-9),
				      boots_share(m, &b, bcda), "%s", text);
			fab_batch_fini(&b);
		}
}

Test(boot, stable_moves_few)
{
	OWN(fab_machine) *m = boots_machine("boards=200@10G,cpus=20@1G,servers=50@10G");
	OWN(fab_batch) all = boots_batch(m, "all");
	uint32_t n_moved = 0;
	FAB_AUTOFREE uint32_t *before = boots_map(m, "stable", &all), *after = NULL;

	boots_fail_server(m, "server17");
	after = boots_map(m, "stable", &all);
	for (uint32_t i = 0; i < m->n_nodes; i++)
		n_moved += before[i] != after[i];
	cr_expect_lt(n_moved, m->n_nodes / 10);
}

Test(boot, machines_that_are_wrong)
{
	static const char *const specs[] = {"preset:none",
					    "",
					    "boards=0,servers=1",
					    "boards=4@0,servers=1",
					    "boards=4@-1,servers=1",
					    "boards=4",
					    "servers=4",
					    "boards=4,boards=4/servers=1",
					    "boards=16777216,cpus=16777216/servers=1",
					    "b=1/s=1/t=1",
					    "boards"};
	static const char *const files[] = {
		"",
		"a b 1\nb a 1\nn a 1 node\nv a 1 server\n",
		"n - 0 node\n",
		"n - 1 node\nv - -5 server\n",
		"n a 1 node\nv - 1 server\n",
		"a - 1\nn a 1 node\nn a 2 node\nv - 1 server\n",
		"n - 1 node\nx n 1\n",
		"level board\n",
		"level board 2 x\n",
		"a - 1 what\n"};
	struct fab_machine *m;

	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		cr_expect_neq(fab_machine_parse(specs[i], &m, ERR), 0, "%s", specs[i]);
	for (size_t i = 0; i < FAB_COUNT(files); i++)
		cr_expect_neq(
			fab_machine_read("file", files[i], strlen(files[i]), &m, ERR), 0,
			"%s", files[i]);
}

Test(boot, hierarchy_of_a_generated_fat_tree)
{
	OWN(fab_fabric) *f = NULL;
	struct fab_machine *m;
	const char *pattern = "*";
	struct fab_machine_servers servers = {.patterns = &pattern, .n = 1};
	char first[256];

	MUST(fab_source_open("gen:fattree:radix=8,levels=3", NULL, &f, ERR));
	cr_expect_neq(fab_machine_of_fabric(f, &servers, &m, ERR), 0);
	snprintf(first, sizeof(first), "%s", fab_host_name(f, 0));
	pattern = first;
	MUST(fab_machine_of_fabric(f, &servers, &m, ERR));
	cr_expect_eq(m->n_nodes, 127);
	cr_expect_eq(m->n_servers, 1);
	cr_expect_neq(fab_machine_find_level(m, "pods", 4), FAB_NONE);
	cr_expect_neq(fab_machine_find_level(m, "leaf", 4), FAB_NONE);
	fab_machine_free(m);
	pattern = "nobody";
	cr_expect_neq(fab_machine_of_fabric(f, &servers, &m, ERR), 0);
}

Test(boot, advice_on_the_preset)
{
	OWN(fab_machine) *m = boots_machine("preset:taihulight");
	OWN(fab_batch)
	all = boots_batch(m, "all"), one = boots_batch(m, "first:1:supernode");
	const struct fab_transfer_options plain = {.image_bytes = 50000000, .n_files = 1};
	struct fab_advice levels[FAB_ADVICE_MAX];
	struct fab_mapping_problem problem = {.m = m, .batch = &all};
	uint32_t n;

	/* 102.4 s need all 160 servers, twice as much half of them, less cannot be had */
	cr_expect_eq(fab_advice_servers(m, &all, &plain, 102.4).n, 160);
	cr_expect_eq(fab_advice_servers(m, &all, &plain, 204.8).n, 80);
	cr_expect_eq(fab_advice_servers(m, &all, &plain, 60).n, 0);
	/* cascades and servers limit together: raising one of them alone gives nothing */
	MUST(fab_advice_raise(&problem, &plain, levels, &n, ERR));
	cr_expect_eq(n, 6);
	cr_expect_eq(__builtin_popcount(levels[0].levels), 2);
	for (uint32_t l = 0; l < m->n_levels; l++) {
		const char *segment = m->level[l].segment;
		bool is_raised = levels[0].levels >> l & 1;

		cr_expect_eq(is_raised,
			     l && (!strcmp(segment, "N4") || !strcmp(segment, "N5")));
	}
	cr_expect_float_eq(levels[0].bandwidth_mbps, 1000 / 128.0, 1e-6);
	cr_expect_float_eq(levels[1].bandwidth_mbps, 1000 / 256.0, 1e-6);
	/* a supernode: 256 nodes behind 20 Gb/s */
	problem.batch = &one;
	MUST(fab_advice_raise(&problem, &plain, levels, &n, ERR));
	cr_expect_str_eq(m->level[__builtin_ctz(levels[0].levels)].segment, "N3");
	cr_expect_float_eq(levels[0].bandwidth_mbps, 125, 1e-6);
}

Test(boot, failover_counts_who_moves)
{
	OWN(fab_machine) *m = boots_machine("rack=2@10G,node=4@1G/server=4@1G");
	OWN(fab_batch) batch = boots_batch(m, "first:6");
	const uint32_t before[] = {0, 0, 1, 1, 2, 2, 3, 3};
	const uint32_t after[] = {0, 3, 2, 3, 3, 2, 0, 0};
	FAB_AUTO(fab_failover_fini) struct fab_failover f;

	boots_fail_server(m, "server1");
	fab_failover_of(m, &batch, before, after, &f);
	/* server 3 from 0 to 3; 2 keeps two and 0 loses one; nodes 6, 7 do not boot */
	cr_expect_eq(f.n_moved, 4);
	cr_assert_eq(f.n, 1);
	cr_expect_eq(f.grown[0].server, 3);
	cr_expect_eq(f.grown[0].nodes_before, 0);
	cr_expect_eq(f.grown[0].nodes, 3);
}

/* A level is called in the singular, whatever the machine says. */
Test(boot, units_in_the_singular)
{
	static const struct {
		const char *told, *unit;
	} cases[] = {
		{"boards", "board"},  {"switches", "switch"}, {"boxes", "box"},
		{"classes", "class"}, {"class", "class"},     {"chassis", "chassis"},
		{"brushes", "brush"}, {"gpus", "gpu"},	      {"s", "s"},
		{"racks", "rack"},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		char spec[64];
		OWN(fab_machine) *m = NULL;

		snprintf(spec, sizeof(spec), "%s=3@1Gbps,cpus=2,servers=2",
			 cases[i].told);
		m = boots_machine(spec);
		cr_expect_str_eq(m->level[1].unit, cases[i].unit, "%s", m->level[1].unit);
		cr_expect_eq(
			fab_machine_find_level(m, cases[i].told, strlen(cases[i].told)),
			1);
	}
}
