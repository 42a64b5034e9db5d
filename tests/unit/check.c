/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/check.h"

#include "support/test.h"

/* The findings of a plan, which ends, in order: their codes, joined by blanks; a note's
 * in brackets. */
static void expect(struct plan plan, const char *wanted)
{
	OWN(fab_fabric) *f = plan_end(&plan);
	OWN(fab_check) *check = fab_check_new(f);
	OWN_HEAP char *got = fab_strdup("");

	for (uint32_t i = 0; i < check->n_findings; i++) {
		const struct fab_finding *x = &check->findings[i];
		bool is_note = x->severity == FAB_NOTE;

		cr_assert_eq(is_note, i >= check->n_problems);
		fab_append(&got, i ? " " : "", is_note ? "(%s)" : "%s", x->code);
	}
	cr_assert_str_eq(got, wanted);
	cr_assert_eq(fab_check_worst(check) == NULL, check->n_problems == 0);
}

/* Both ends. */
static void set_rate(struct plan *plan, size_t cable, uint8_t width, enum fab_speed speed)
{
	struct plan_cable *c = &plan->cables.v[cable];

	c->a.width = c->b.width = width;
	c->a.speed = c->b.speed = (uint8_t)speed;
}

/* leaf1 .. leaf4: nodes 0 to 3, spines 4 and 5, hosts from 6 on, cables from 8 on. */
static struct plan tree(void)
{
	return plan_tree(4, 2, 3);
}

Test(check, cables)
{
	struct plan plan = tree();

	expect(plan_copy(&plan), "");
	plan.cables.v[0].a.width = 1; /* ends that disagree */
	plan.cables.v[1].b.speed = FAB_EDR;
	expect(plan, "width-mismatch speed-mismatch");

	plan = tree(); /* what is unknown agrees */
	plan.cables.v[0].a.width = 0;
	plan.cables.v[1].b.speed = FAB_SPEED_UNKNOWN;
	expect(plan, "");

	/* All host links EDR: usual among host links, so nothing to report. */
	plan = tree();
	for (size_t i = 8; i < plan.cables.n; i++)
		set_rate(&plan, i, 4, FAB_EDR);
	set_rate(&plan, 9, 4, FAB_QDR);
	set_rate(&plan, 10, 1, FAB_EDR);
	set_rate(&plan, 2, 4, FAB_EDR);
	expect(plan, "slow-link slow-link narrow-link");

	plan = plan_tree(4, 1, 1); /* of as many of each the lower rate is usual */
	set_rate(&plan, 0, 4, FAB_EDR);
	set_rate(&plan, 1, 4, FAB_EDR);
	expect(plan, "");

	/* What the builder says: the same port twice, told by both ends; ports that the
	 * switch does not have. */
	plan = tree();
	plan_cable(&plan, 0, 1, 1, 6);
	plan.nodes.v[2].n_ports = 4;
	expect(plan,
	       "port-out-of-range port-out-of-range conflicting-cable conflicting-cable");
}

Test(check, lids)
{
	static const struct {
		uint8_t lmc;
		uint16_t lid[3]; /* of hosts, of which the first has the LMC */
		const char *wanted;
	} ranges[] = {{0, {64, 64, 65}, "duplicate-lid"},
		      {2, {64, 67, 68}, "duplicate-lid"},
		      /* both within the longer one that came earlier */
		      {3, {64, 65, 70}, "duplicate-lid duplicate-lid"}};
	struct plan plan = tree();
	uint32_t s;

	plan.nodes.v[0].lid[0] = 0;
	plan.nodes.v[7].lid[1] = UINT16_MAX;
	expect(plan, "missing-lid missing-lid");

	plan = tree(); /* none at all is one note */
	for (size_t i = 0; i < plan.nodes.n; i++)
		plan.nodes.v[i].lid[0] = plan.nodes.v[i].lid[1] = 0;
	expect(plan, "(missing-lids)");

	for (size_t i = 0; i < FAB_COUNT(ranges); i++) {
		plan = tree();
		plan.nodes.v[6].lmc = ranges[i].lmc;
		for (int h = 0; h < 3; h++)
			plan.nodes.v[6 + h].lid[1] = ranges[i].lid[h];
		expect(plan, ranges[i].wanted);
	}

	plan = tree(); /* those of an unconnected part are its own */
	s = plan_switch(&plan, "lonely", 8);
	plan_host(&plan, s, "far HCA-1");
	plan.nodes.v[s].lid[0] = plan.nodes.v[0].lid[0];
	plan_switch(&plan, "lonelier", 8);
	expect(plan, "unconnected-part unconnected-part");
}

Test(check, nodes)
{
	/* Node 7 is that of host node2; NULL: as it was. */
	static const struct {
		uint32_t first;
		const char *name[3], *wanted;
	} names[] = {
		/* One finding a name, however many have it; trailing blanks do not tell
		 * apart. Cards of two systems are two hosts. */
		{1, {"leaf1 ", "leaf1"}, "duplicate-name"},
		{8, {"node001 HCA-1"}, "duplicate-name"},
		{7, {"node7", "node7 "}, "duplicate-name"},
		{7,
		 {"MT4129 ConnectX7   Mellanox Technologies",
		  "MT4129 ConnectX7   Mellanox Technologies", "localhost HCA-1"},
		 "(unnamed-adapter) (unnamed-adapter) (unnamed-adapter)"},
	};
	struct plan plan = tree();
	uint32_t a, b;

	plan.nodes.v[8].guid = plan.nodes.v[7].guid;
	plan.nodes.v[9].port_guid[1] = plan.nodes.v[10].port_guid[1];
	expect(plan, "duplicate-guid duplicate-port-guid");

	for (size_t i = 0; i < FAB_COUNT(names); i++) {
		plan = tree();
		for (uint32_t k = 0; k < 3 && names[i].name[k]; k++)
			strcpy(plan.nodes.v[names[i].first + k].name, names[i].name[k]);
		expect(plan, names[i].wanted);
	}
	plan = tree(); /* those of one system are one host */
	strcpy(plan.nodes.v[7].name, "node7");
	strcpy(plan.nodes.v[8].name, "node7 ");
	plan.nodes.v[8].sys_guid = plan.nodes.v[7].sys_guid;
	expect(plan, "");

	plan = tree();
	a = plan_adapter(&plan, "x HCA-1");
	b = plan_adapter(&plan, "y HCA-1");
	plan_cable(&plan, a, 1, b, 1);
	plan_adapter(&plan, "z HCA-1");
	expect(plan,
	       "adapter-without-switch adapter-without-switch adapter-without-switch");

	plan = tree();
	a = plan_adapter(&plan, "Mellanox Technologies Aggregation Node");
	set_rate(&plan, plan_cable(&plan, 4, 7, 4, 8), 4, FAB_FDR10);
	plan_cable(&plan, 4, 9, a, 1);
	plan.nodes.v[4].n_ports = 9;
	expect(plan, "(self-loop) (aggregation-nodes)");
}

/* What a finding says does not depend on the order of the input. */
static void expect_first(struct plan plan, const char *message, const char *key)
{
	for (uint64_t seed = 0; seed < 3; seed++) {
		OWN(fab_fabric) *f = plan_build(&plan, seed);
		OWN(fab_check) *check = fab_check_new(f);

		cr_assert_eq(check->n_findings, 1);
		cr_assert_str_eq(check->findings[0].message, message);
		cr_assert_str_eq(check->findings[0].key, key);
	}
	plan_free(&plan);
}

/* A tree with two cables between each leaf switch and spine. */
static struct plan doubled_tree(uint32_t leaves, uint32_t spines, uint32_t hosts)
{
	struct plan plan = plan_tree(leaves, spines, hosts);

	for (uint32_t s = 0; s < spines; s++)
		for (uint32_t l = 0; l < leaves; l++)
			plan_cable(&plan, l, (uint16_t)(hosts + spines + s + 1),
				   leaves + s, (uint16_t)(leaves + l + 1));
	for (uint32_t i = 0; i < leaves + spines; i++)
		plan.nodes.v[i].n_ports = 64;
	return plan;
}

Test(check, cables_of_pairs_and_levels)
{
	struct plan plan = doubled_tree(4, 2, 3);

	expect(plan_copy(&plan), "");
	plan.cables.v[1].is_gone = true; /* leaf2 to spine1 */
	expect_first(
		plan,
		"1 cable joins \"leaf2\" and \"spine1\"; most of the 4 switches below \"spine1\" have 2 to it",
		"0x0000000000100100 0x0000000000100400");

	/* a pair without a cable is told by its leaf */
	plan = doubled_tree(5, 4, 6);
	plan.cables.v[2].is_gone = true; /* leaf3 to spine1 */
	plan.cables.v[2 + 20 + 30].is_gone = true;
	expect_first(plan, "\"leaf3\" has 6 cables up, where 4 of 5 leaf switches have 8",
		     "0x0000000000100200");

	/* a leaf whose every pair has fewer is told once, not once a pair */
	plan = doubled_tree(5, 4, 6);
	for (uint32_t s = 0; s < 4; s++)
		plan.cables.v[s * 5 + 1].is_gone = true;
	expect(plan, "few-uplinks");

	/* a leaf with little below it may have few uplinks */
	plan = plan_tree(5, 2, 6);
	plan.cables.v[0].is_gone = true;
	for (uint32_t i = 10; i < 14; i++)
		plan.cables.v[i].is_gone = plan.nodes.v[7 + i - 10].is_gone = true;
	expect(plan, "(small-switch)");
}

/* Leaves 2i and 2i + 1 of a tree of 16 and 2 spines are joined, in place of a host each:
 * these are without a switch. */
Test(check, few_cables_between_leaves)
{
	for (uint32_t n = 1; n <= 3; n++) {
		struct plan plan = plan_tree(16, 2, 3);
		OWN_HEAP char *wanted = NULL;

		for (uint32_t i = 0; i < 2 * n; i++) {
			plan.cables.v[32 + 3 * i].is_gone = true;
			if (i % 2)
				plan_cable(&plan, i - 1, 1, i, 1);
			fab_append(&wanted, " ", "adapter-without-switch");
		}
		for (uint32_t i = 0; i < n && n < 3; i++)
			fab_append(&wanted, " ", "(side-cable)");
		expect(plan, wanted);
	}
}

/* Two trees of equal hosts: each host has an adapter on either. */
static struct plan two_planes(void)
{
	struct plan plan = {0};

	plan_switches(&plan, 5, "p0s", 16);
	plan_switches(&plan, 5, "p1s", 16);
	for (uint32_t plane = 0; plane < 2; plane++)
		for (uint32_t leaf = 0; leaf < 3; leaf++)
			for (uint32_t top = 3; top < 5; top++)
				plan_join(&plan, plane * 5 + leaf, plane * 5 + top);
	for (uint32_t h = 0; h < 12; h++)
		plan_host(&plan, h % 2 * 5 + h / 4, "node%u mlx5_%u", h / 2, h % 2);
	return plan;
}

Test(check, unequal_planes)
{
	struct plan plan = two_planes();

	expect(plan_copy(&plan), "(planes)");
	plan.cables.v[12 + 3].is_gone = true; /* node1 mlx5_1 */
	plan.nodes.v[10 + 3].is_gone = true;
	plan.cables.v[6].is_gone = true;
	expect(plan, "unequal-plane few-uplinks (planes)");

	plan = two_planes(); /* of another kind */
	for (uint32_t i = 6; i < 10; i++)
		plan.nodes.v[i].is_gone = true;
	for (uint32_t i = 6; i < 12; i++)
		plan.cables.v[i].is_gone = true;
	for (uint32_t h = 1; h < 12; h += 2)
		plan.cables.v[12 + h].a =
			(struct plan_end){5, (uint16_t)(h + 1), 4, FAB_HDR};
	expect(plan, "(small-plane) (planes)");
}

static const struct fab_cause *causes_of(const struct fab_fabric *f,
					 struct fab_check *check, uint32_t *n)
{
	return fab_causes(f, check->findings, check->n_findings, &check->arena, n);
}

/* The text of the only cause of a plan's findings holds this. */
static void expect_cause(struct plan plan, const char *text)
{
	OWN(fab_fabric) *f = plan_end(&plan);
	OWN(fab_check) *check = fab_check_new(f);
	uint32_t n;
	const struct fab_cause *cause = causes_of(f, check, &n);

	cr_assert_eq(n, 1, "%u causes of %u findings", n, check->n_findings);
	HAS(cause->text, text);
}

Test(check, causes_name_what_to_look_at)
{
	struct plan plan = plan_tree(6, 3, 4);

	/* leaf3 lost its cable to spine2, which has one port too many */
	plan.nodes.v[7].n_ports = 6;
	for (size_t i = 0; i < plan.cables.n; i++)
		plan.cables.v[i].is_gone =
			plan.cables.v[i].a.node == 2 && plan.cables.v[i].b.node == 7;
	expect_cause(
		plan,
		"\"leaf3\" has 2 of 3 uplinks; missing: 1 to \"spine2\" (port 3 free there, port 6 free here)");

	plan = tree();
	for (size_t i = 8; i < 11; i++) /* all hosts of leaf1 */
		set_rate(&plan, i, 4, FAB_EDR);
	expect_cause(
		plan,
		"3 host cables: EDR, where host links usually have HDR: all hosts of 1 switch (\"leaf1\"): by design?");

	/* leaves 1 to 3 of 9 have half of the uplinks */
	plan = plan_tree(9, 4, 4);
	for (size_t i = 0; i < plan.cables.n; i++)
		plan.cables.v[i].is_gone = plan.cables.v[i].a.node < 3 &&
					   plan.cables.v[i].b.node >= 11 &&
					   plan.cables.v[i].b.node < 13;
	expect_cause(
		plan,
		"3 switches have 2 uplinks each, where others have 4 (\"leaf1\", \"leaf2\", \"leaf3\"): by design?");

	/* spine1 lost them; the last of its 41 ports is internal */
	plan = plan_tree(9, 4, 4);
	plan.nodes.v[9].n_ports = 41;
	for (size_t i = 0; i < plan.cables.n; i++)
		plan.cables.v[i].is_gone =
			plan.cables.v[i].a.node < 3 && plan.cables.v[i].b.node == 9;
	expect_cause(
		plan,
		"\"spine1\" lacks 3 cables to 3 switches of the level below: \"leaf1\", \"leaf2\", \"leaf3\" (34 ports free there)");

	plan = tree();
	set_rate(&plan, 9, 2, FAB_HDR);
	expect_cause(plan,
		     "2x, where host links usually have 4x: reseat or replace the cable");

	plan = tree();
	for (size_t i = 0; i < 4; i++)
		plan.nodes.v[7 + i].lid[1] = 0;
	expect_cause(plan, "4 ports have no LID: all of 4 hosts (");
}

/* Of a generated tree one cable between switches is missing: both its ends are named,
 * with ports where the others show them. */
Test(check, a_missing_cable_is_named_by_both_ends)
{
	OWN(fab_fabric) *whole = test_gen("fattree:radix=8,levels=3");
	struct fab_rng rng = test_rng(5);
	uint32_t n_by_port = 0, n;

	for (int round = 0; round < 40; round++) {
		uint32_t gone = test_below(&rng, whole->n_switch_links);
		OWN(fab_fabric) *f = test_without_cable(whole, gone);
		OWN(fab_check) *check = fab_check_new(f);
		const struct fab_cause *cause = causes_of(f, check, &n);
		const uint32_t ends[] = {whole->cable_a[gone], whole->cable_b[gone]};

		cr_assert(n && (n == 1 || cause[1].severity == FAB_NOTE));
		for (int k = 0; k < 2; k++) {
			OWN_HEAP char *name = fab_format(
				"\"%s\"",
				fab_node_name(whole, whole->port_node[ends[k]]));

			HAS(cause->text, name);
		}
		n_by_port += strstr(cause->text, "missing: port ") != NULL;
	}
	cr_expect_gt(n_by_port, 20);
}

/* All findings are explained, each by one cause, problems first. */
Test(check, causes_explain_all_findings)
{
	for (const char *const *dump = data_dumps; *dump; dump++) {
		OWN(fab_fabric) *f = data_open(*dump);
		OWN(fab_check) *check = fab_check_new(f);
		uint32_t n_causes, n = 0;
		const struct fab_cause *cause = causes_of(f, check, &n_causes);

		for (uint32_t i = 0; i < n_causes; i++) {
			n += cause[i].n;
			cr_expect_str_eq(cause[i].code,
					 check->findings[cause[i].first].code);
			cr_expect(!i || cause[i].severity <= cause[i - 1].severity);
		}
		cr_expect_eq(n, check->n_findings, "%s: %u of %u", *dump, n,
			     check->n_findings);
		cr_expect_leq(n_causes, 12, "%s: %u", *dump, n_causes);
	}
}

/* Two rails of five hosts; the cables of one host are exchanged. */
Test(check, mixed_rails)
{
	for (uint32_t exchanged = 0; exchanged < 2; exchanged++) {
		struct plan plan = {0};

		plan_switches(&plan, 2, "s", 8);
		plan_join(&plan, 0, 1);
		for (uint32_t i = 0; i < 10; i++)
			plan_host(&plan, (i % 2) ^ (i / 2 == 2 && exchanged),
				  "n%u mlx5_%u", i / 2, i % 2);
		expect(plan, exchanged ? "mixed-rails" : "");
	}
}

/* By both ports, by a switch and a port, by all nodes of a name. */
Test(check, keys)
{
	static const char *const keys[] = {"0x0000000000100000/4 0x0000000000100400/1",
					   "0x0000000000100000/0 0x0000000000100700/1",
					   "0x0000000000100800 0x0000000000100900"};
	struct plan plan = tree();
	OWN(fab_fabric) *f = NULL;
	OWN(fab_check) *check = NULL;

	plan.cables.v[0].a.width = 1;
	plan.nodes.v[7].lid[1] = plan.nodes.v[0].lid[0];
	strcpy(plan.nodes.v[8].name, "leaf1");
	strcpy(plan.nodes.v[9].name, "leaf1");
	f = plan_end(&plan);
	check = fab_check_new(f);
	cr_assert_eq(check->n_findings, 3);
	for (uint32_t i = 0; i < 3; i++)
		cr_assert_str_eq(check->findings[i].key, keys[i]);
}
