/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/cabling.h"

#include "source/netlist.h"
#include "source/source.h"
#include "support/test.h"

#define HEAD "StartDevice,StartPort,EndDevice,EndPort\n"

static uint32_t port_of(const struct fab_fabric *f, const char *name, unsigned port)
{
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (!strcmp(fab_node_name(f, i), name))
			return fab_port_find(f, i, port);
	return FAB_NONE;
}

static void expect_cable(const struct fab_fabric *f, const char *a, unsigned port_a,
			 const char *b, unsigned port_b)
{
	uint32_t p = port_of(f, a, port_a);

	cr_assert_neq(p, FAB_NONE, "no port %u of %s", port_a, a);
	cr_expect_eq(fab_port_peer(f, p), port_of(f, b, port_b), "%s:%u", a, port_a);
}

Test(cabling, forms_of_ports)
{
	OWN(fab_fabric) *f = text_open(HEAD "leaf1,Port 1,node1,node1 HCA-1\n"
					    "leaf1,P2,node2,mlx5_0\n"
					    "Leaf1 ,3,node3 ibp65s0,Port 1\n"
					    "node4,node4 HCA-1/2,LEAF1,port_4\n"
					    "leaf1,5,node5,HCA-2 Port 2\n"
					    "leaf1,6,node6,1\n"
					    "leaf1,7,core,Blade 16_Port 2/20\n"
					    "leaf1,8,core,Blade 3_Port 7\n");
	OWN(fab_fabric) *quoted =
		text_open(HEAD "\"a \"\"left\"\", 1\",1,\"#b\",2\n\"#b\",3,n,HCA-1\n");

	cr_expect_str_eq(f->format, "plan");
	cr_expect(fab_fabric_is_plan(f));
	expect_cable(f, "leaf1", 1, "node1 HCA-1", 1);
	expect_cable(f, "leaf1", 2, "node2 mlx5_0", 1);
	expect_cable(f, "leaf1", 3, "node3 ibp65s0", 1);
	expect_cable(f, "leaf1", 4, "node4 HCA-1", 2);
	expect_cable(f, "leaf1", 5, "node5 HCA-2", 2);
	expect_cable(f, "leaf1", 6, "node6", 1);
	expect_cable(f, "leaf1", 7, "core/L16/U2", 20);
	expect_cable(f, "leaf1", 8, "core/L03/U1", 7);
	expect_cable(quoted, "a \"left\", 1", 1, "#b", 2);
	/* inside the director: port 20 + s of chip c, board b to port 20 (c-1) + b of s
	 */
	expect_cable(f, "core/L16/U2", 21, "core/S01/U1", 36);
	expect_cable(f, "core/L03/U1", 40, "core/S20/U1", 3);
	cr_expect(f->n_switches == 1 + 2 + 20 && f->n_adapters == 6);
	cr_expect_not_null(find_warning(f, "chassis-assumed", 0));
}

/* A port that an MCS8500 does not have: how the boards are joined is not known. */
Test(cabling, other_directors_stay_in_parts)
{
	static const char *const ports[] = {"Blade 1_Port 1/21", "Blade 21_Port 1/1",
					    "Blade 1_Port 3/1"};

	for (size_t i = 0; i < FAB_COUNT(ports); i++) {
		OWN_HEAP char *text = fab_format(HEAD "leaf1,7,core,%s\n"
						      "leaf1,8,core,Blade 2_Port 1/1\n",
						 ports[i]);
		OWN(fab_fabric) *f = text_open(text);

		cr_expect(f->n_switches == 3 && f->n_cables == 2);
		cr_expect_not_null(find_warning(f, "chassis-unknown", 0));
		cr_expect_null(find_warning(f, "chassis-assumed", 0));
	}
}

/* The layout that the real director has, from its plan. What differs from the plan is in
 * tests/golden/topo-plan-real. */
Test(cabling, director_is_completed_as_the_real_one)
{
	OWN_HEAP char *paths = NULL, *a = data_path("cabling/ufm-switch-to-switch.ndt"),
		      *b = data_path("cabling/ufm-switch-to-host.ndt");
	OWN(fab_fabric) *real = data_open("ibnetdiscover/ufm-director-puttylog.txt");
	OWN(fab_fabric) *plan = NULL;
	OWN(fab_plan_diff) *diff = NULL;
	uint32_t n_inside = 0, n_same = 0;

	paths = fab_format("%s,%s", a, b);
	MUST(fab_source_open(paths, NULL, &plan, ERR));
	MUST(fab_plan_diff_new(plan, real, &diff, ERR));
	for (uint32_t i = 0; i < plan->n_cables; i++) {
		uint32_t x = plan->cable_a[i], y = plan->cable_b[i], p;

		if (!fab_cable_is_inside(plan, i))
			continue;
		n_inside++;
		cr_assert_lt(diff->end_node[x], real->n_switches);
		p = fab_port_peer(
			real, fab_port_find(real, diff->end_node[x], plan->port_num[x]));
		n_same += real->port_node[p] == diff->end_node[y] &&
			  real->port_num[p] == plan->port_num[y];
	}
	cr_expect_eq(n_inside, 3200);
	cr_expect_eq(n_same, n_inside);
}

Test(cabling, tables_of_spreadsheets)
{
	static const char *const texts[] = {
		HEAD "a,1,b,1\na,2,n HCA-1,Port 1\n",
		"#StartDevice,StartPort,EndDevice,EndPort,LinkType\r\n"
		"a,Port 1,b,Port 1, Data\r\na,Port 2,n,n HCA-1,Data\r\n",
		"\xef\xbb\xbf#Fields:StartDevice,StartPort,EndDevice,EndPort\n"
		"b,1,a,1\nn,HCA-1,a,2",
		"\xef\xbb\xbf\"Start Device\";\"Start Port\";\"End Device\";\"End Port\"\r\n"
		"\"a\";1;\"b\";1\r\n;;;\r\n\"a\";\"2\" ; n;\"HCA-1\"\r\n",
		"Rack\tend_port\tEND_DEVICE\tstart_device\tstart_port\n"
		"r1\t1\tb\ta\t1\nr2\tHCA-1\tn\ta\t2\n",
		"Plan of the machine\n\n" HEAD "# comment\na,1,b,1\nb,1,a,1\n" HEAD
		"a,2,n,HCA-1\n",
	};
	OWN(fab_fabric) *first = text_open(texts[0]);

	cr_assert_eq(first->n_cables, 2);
	for (size_t i = 1; i < FAB_COUNT(texts); i++) {
		OWN(fab_fabric) *f = text_open(texts[i]);

		cr_expect_eq(f->n_cables, 2, "text %zu", i);
		cr_expect_eq(fab_fabric_fingerprint(f), fab_fabric_fingerprint(first),
			     "text %zu", i);
	}
}

/* What tests/golden/topo-plan-errors does not say. */
Test(cabling, bad_lines)
{
	static const char *const texts[][2] = {
		{HEAD "a,1,A,1\n",
		 "t:2: port 1 of \"a\" is both ends of the cable, expected two ports"},
		{HEAD ",1,b,2\n",
		 "t:2: StartDevice is empty in \",1,b,2\", expected the name of a device"},
		{HEAD "a,Port 0,b,1\n",
		 "t:2: port \"Port 0\", expected \"Port N\", \"Blade N_Port CHIP/PORT\" or an adapter such as \"HCA-1\" or \"node1 mlx5_0\""},
		{HEAD "a,70000,b,1\n", "t:2: port \"70000\", expected at most 65534"},
		{"StartDevice,StartPort,EndDevice,EndPort,EndPort\na,1,b,1,1\n",
		 "t:1: a column is there twice in \"StartDevice,StartPort,EndDevice,EndPort,EndPort\", expected StartDevice, StartPort, EndDevice and EndPort"},
		/* topology files */
		{"MTS800 s\n P9 -> Cougar n P1\n",
		 "t:2: port P9 of \"s\", expected P1 to P8 of a MTS800"},
		{"MTS800 s\n P1 -> Cougar n P1\n P2 -> Cougar n P1\n",
		 "t:3: port 1 of \"n\" is used twice: for port 2 of \"s\" here, for port 1 of \"s\" in line 2"},
		{"MTS800 s\n P1 -> Cougar n P1\nMTS2400 t\n P1 -> Cougar s P2\n",
		 "t:4: system \"s\" is of type Cougar here, expected MTS800 as before"},
		{"MTS800 s\n P1 -> Cougar n P1\n P2 -> Cougar\n",
		 "t:3: found \"P2 -> Cougar\", expected TYPE NAME, or PORT -> TYPE NAME PORT"},
		{" P1 -> Cougar n P1\n",
		 "t:1: found \"P1 -> Cougar n P1\", expected a line TYPE NAME of a system before its ports"},
	};

	for (size_t i = 0; i < FAB_COUNT(texts); i++)
		cr_expect_str_eq(text_error(texts[i][0]), texts[i][1]);
}

static const char netlist[] =
	"SYSTEM LEAF,LEAF:4x\n"
	"NODE SW 4 X U1\n 1 -> P1\n 2 -> P2\n 3 -> P3\n 4 -> P4\n"
	"SYSTEM LEAF:12x\n"
	"NODE SW 3 X U1\n 1 -> P1\n 2 -> P2\n 3 -> P3\n"
	"# comment\n"
	"TOPSYSTEM Box,Crate\n\n"
	"leaf1/U1=isMain\n"
	"SUBSYSTEM LEAF leaf1\n P1 -> L1/P1\n P2 -4x-10G-> leaf2 P2\n"
	" P4 -> chip 1\n"
	"SUBSYSTEM LEAF leaf2\n P1 -> L2/P1\n P2 -> leaf1 P2\n"
	"NODE CA 2 Y chip\n 1 -> leaf1 P4\n 2 -> P9\n";

Test(cabling, netlists)
{
	FAB_AUTO(fab_netlists_fini) struct fab_netlists all = {0};
	const struct fab_netlist *list;

	MUST(fab_netlists_parse(&all, "t", netlist, strlen(netlist), ERR));
	MUST(fab_netlist_get(&all, "crate", NULL, &list, ERR));
	cr_assert_not_null(list);
	cr_expect_eq(list->n_chips, 3);
	cr_expect_str_eq(list->chips[1].name, "leaf2/U1");
	cr_expect(list->chips[2].kind == FAB_ADAPTER && list->n_ports == 3);
	cr_expect_str_eq(list->ports[1].name, "L2/P1");
	cr_expect_eq(list->ports[1].end.chip, 1);
	cr_expect_eq(list->n_cables, 4, "each is written from both its ends");
	MUST(fab_netlist_get(&all, "Box", "leaf2=R", &list, ERR));
	cr_expect(list->n_chips == 2 && list->n_cables == 2);
	MUST(fab_netlist_get(&all, "Box", "leaf1=R, leaf2=12x", &list, ERR));
	cr_expect_eq(list->chips[0].n_ports, 3);
	MUST(fab_netlist_get(&all, "Ox", NULL, &list, ERR));
	cr_expect_null(list);
	FAILS_AS(fab_netlist_get(&all, "Box", "leaf1=8x", &list, ERR), 0,
		 "t: board \"LEAF:8x\" of \"leaf1\" is not in the netlist");
	FAILS_AS(
		fab_netlists_parse(&all, "t", "NODE SW\n", 8, ERR), 0,
		"t:1: found \"NODE SW\", expected a line of a netlist (ibdm-ibnl-file(1))");
}

/* A board within itself ends. */
Test(cabling, netlists_without_end)
{
	static const char text[] = "SYSTEM A\nSUBSYSTEM A x\nSUBSYSTEM A y\n"
				   "TOPSYSTEM T\nSUBSYSTEM A a\n";
	FAB_AUTO(fab_netlists_fini) struct fab_netlists all = {0};
	const struct fab_netlist *list;

	MUST(fab_netlists_parse(&all, "t", text, strlen(text), ERR));
	cr_expect_lt(fab_netlist_get(&all, "T", NULL, &list, ERR), 0);
}
