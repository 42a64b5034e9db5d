/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/advice.h"
#include "boot/mapping.h"
#include "support/boots.h"
#include "support/test.h"

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
	char specs[] =
		"|preset:none|boards=0,servers=1|boards=4@0,servers=1|boards=4|"
		"boards=4@-1,servers=1|boards|servers=4|b=1/s=1/t=1|"
		"boards=4,boards=4/servers=1|boards=16777216,cpus=16777216/servers=1";
	struct fab_machine *m;

	for (char *spec, *rest = specs; (spec = strsep(&rest, "|"));)
		cr_expect_neq(fab_machine_parse(spec, &m, ERR), 0, "%s", spec);
}

Test(boot, fabrics_without_nodes_or_servers)
{
	static const char *const patterns[] = {"*", "nobody"};
	OWN(fab_fabric) *f = test_gen("fattree:radix=4,levels=2");
	struct fab_machine *m;

	for (int i = 0; i < 2; i++)
		FAILS(fab_machine_of_fabric(
			      f, &(struct fab_machine_servers){&patterns[i], 1, 0}, &m,
			      ERR),
		      0, i ? "nobody" : "there is no node to boot");
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
	for (uint32_t l = 0; l < m->n_levels; l++) {
		const char *segment = m->level[l].segment;

		cr_expect_eq(levels[0].levels >> l & 1,
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

/* A level is called in the singular, whatever the machine says. */
Test(boot, units_in_the_singular)
{
	static const char *const cases[][2] = {
		{"boards", "board"},  {"switches", "switch"}, {"boxes", "box"},
		{"classes", "class"}, {"class", "class"},     {"chassis", "chassis"},
		{"brushes", "brush"}, {"gpus", "gpu"},	      {"s", "s"},
		{"racks", "rack"}};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		const char *told = cases[i][0];
		OWN_HEAP char *spec = fab_format("%s=3@1Gbps,cpus=2,servers=2", told);
		OWN(fab_machine) *m = boots_machine(spec);

		cr_expect_str_eq(m->level[1].unit, cases[i][1]);
		cr_expect_eq(fab_machine_find_level(m, told, strlen(told)), 1);
	}
}
