/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/reader.h"

#include "source/source.h"
#include "support/test.h"

#define FORMATS                                                                          \
	"expected an ibnetdiscover dump, an ibsim net file, a libibnetdisc cache, an "   \
	"opensm-subnet.lst or a cabling plan"

/* A switch with an adapter, whole. */
#define SWITCH_1                                                                         \
	"vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x1\nswitchguid=0x1(1)\n"                \
	"Switch\t36 \"S-0000000000000001\"\t\t# \"leaf\" enhanced port 0 lid 4 lmc 0\n"  \
	"[7]\t\"H-0000000000000002\"[1](3) \t\t# \"n1 HCA-1\" lid 5 4xHDR\n"
#define ADAPTER_2                                                                        \
	"\nvendid=0x2c9\ndevid=0x101b\nsysimgguid=0x2\ncaguid=0x2\n"                     \
	"Ca\t1 \"H-0000000000000002\"\t\t# \"n1 HCA-1\"\n"                               \
	"[1](3) \t\"S-0000000000000001\"[7]\t\t# lid 5 lmc 1 \"leaf\" lid 4 4xHDR\n"

static const struct refused {
	const char *text, *message;
} refused[] = {
	{"\r\n \n", "t:1: the input is empty, " FORMATS},
	{"Cannot open\nSwitch to plan B\n",
	 "t:2: no record in 2 lines (the first is \"Cannot open\"), " FORMATS},
	{"Ca\t1 \"H-0000000000000002\"\t\t# \"n1 HCA-1\"\n",
	 "t:1: the dump ends with 0 switches, 1 adapter and 0 ports with a cable, expected at least one switch and one cable"},
	{"Switch\t36 \"S-0000000000000001\"\t\t# \"a\" base port 0 lid 4 lmc 0\n",
	 "t:1: the dump ends with 1 switch, 0 adapters and 0 ports with a cable, expected at least one switch and one cable"},
	{SWITCH_1 "[8]\t\"H-00000000",
	 "t:7: the input ends within a record at \"[8] \"H-00000000\", expected a whole line"},
	{SWITCH_1 "\nvendid=0x2c9\ndevid=0x101b\n",
	 "t:9: the input ends within the record that begins in line 8, expected its node"},
	{SWITCH_1 "[8]\t\"S-0000000000000009\"[1]\t\t# \"b\" lid 6 4xHDR\n" ADAPTER_2,
	 "t:7: peer \"S-0000000000000009\" is not described anywhere, expected its record in the dump"},
	{"Switch 8 \"s\"\n[1] \"free\"[1]\n",
	 "t:2: peer \"free\" is not described anywhere, expected its record in the dump"},
	{SWITCH_1 "Switch\t99999 \"S-0000000000000009\"\n",
	 "t:7: found \"Switch 99999 \"S-0000000000000009\"\", expected TYPE PORTS \"ID\" with TYPE Switch, Ca, Hca or Rt"},
	{SWITCH_1 "Ca 2 H-0000000000000009\n",
	 "t:7: found \"Ca 2 H-0000000000000009\", expected TYPE PORTS \"ID\" with TYPE Switch, Ca, Hca or Rt"},
	{SWITCH_1
	 "Switch\t24 \"S-0000000000000001\"\t\t# \"x\" base port 0 lid 4 lmc 0\n",
	 "t:7: node \"S-0000000000000001\" was described otherwise in line 5, expected the same type and 36 ports"},
	{SWITCH_1 "Ca\t36 \"H-0000000000000001\"\t\t# \"x\"\n",
	 "t:7: node \"H-0000000000000001\" was described otherwise in line 5, expected the same type and 36 ports"},
	{"Switch\t : 0x0002c9 ports 36 devid 0xbd36 vendid 0x2c9 \"s\"\n",
	 "t:1: a list of nodes (ibnetdiscover -l) has no cables, expected the dump of ibnetdiscover without -l"},
};

Test(ibnetdiscover, refuses)
{
	for (size_t i = 0; i < FAB_COUNT(refused); i++)
		cr_expect_str_eq(text_error(refused[i].text), refused[i].message);
}

/* Wherever the input ends within a line, it is refused. */
Test(ibnetdiscover, notices_every_cut)
{
	static const char text[] = SWITCH_1 ADAPTER_2;
	size_t n_read = 0;

	for (size_t n = 0; n < sizeof(text); n++) {
		OWN(fab_fabric) *f = NULL;
		bool is_cut = n && text[n - 1] != '\n' && text[n] != '\n' && text[n];

		n_read += !fab_source_parse("t", text, n, NULL, &f, ERR);
		cr_expect(f ? !is_cut : !strncmp(test_err.text, "t:", 2),
			  "cut before \"%s\": %s", text + n, test_err.text);
	}
	cr_expect_geq(n_read, 4);
}

static void expect_warning(const struct fab_fabric *f, const char *code, uint64_t line,
			   const char *message)
{
	const struct fab_warning *w = find_warning(f, code, 0);

	cr_assert_not_null(w, "no %s", code);
	cr_expect_eq(w->line, line, "%s: line %llu", code, (unsigned long long)w->line);
	cr_expect_str_eq(w->message, message);
}

#define LOOP(mark)                                                                       \
	mark "Switch 4 \"S-0000000000000001\" # \"s\" base port 0 lid 1 lmc 0\n" mark    \
	     "[1] \"S-0000000000000001\"[2] # \"s\" lid 1 4xQDR\n" mark                  \
	     "[2] \"S-0000000000000001\"[1] # \"s\" lid 1 4xQDR\n"

/* A dump with something in it that is told by one warning, and the cables that it has. */
static const struct {
	const char *text, *code;
	uint64_t line;
	uint32_t n_cables;
	const char *message;
} warned[] = {
	{"ibwarn: [1] discovery\n" SWITCH_1 "[ mgmt ] (config) #\nCan't open\n" ADAPTER_2
	 "Switches: 1\n$ ",
	 "foreign-line", 1, 1,
	 "this line and 4 more are no part of the fabric and were skipped"},
	{SWITCH_1 ADAPTER_2
	 "Switch\t36 \"S-0000000000000001\"\t\t# \"leaf\" enhanced port 0 lid 4 lmc 0\n"
	 "[8]\t\"S-0000000000000001\"[9]\t\t# \"leaf\" lid 4 4xHDR\n"
	 "[9]\t\"S-0000000000000001\"[8]\t\t# \"leaf\" lid 4 4xHDR\n",
	 "duplicate-guid", 14, 2,
	 "node \"S-0000000000000001\" is described again (first in line 5); the two records are taken together"},
	{"switchguid=0x77(77)\n" LOOP(""), "guid-mismatch", 2, 1,
	 "node \"S-0000000000000001\" stands below GUID 0x0000000000000077; its id counts"},
	/* one side of a difference is read */
	{"1,3c1,3\n" LOOP(
		 "< ") "<\n---\n"
		       "> Switch 4 \"S-0000000000000002\" # \"t\" base port 0 lid 1 lmc 0\n"
		       "> [1] \"S-0000000000000002\"[2] # \"t\" lid 1 4xQDR\n",
	 "foreign-line", 1, 1,
	 "this line and 3 more are no part of the fabric and were skipped"},
};

Test(ibnetdiscover, warns_of_what_does_not_fit)
{
	for (size_t i = 0; i < FAB_COUNT(warned); i++) {
		OWN(fab_fabric) *f = text_open(warned[i].text);

		expect_warning(f, warned[i].code, warned[i].line, warned[i].message);
		cr_expect_eq(f->n_warnings, 1, "%zu", i);
		cr_expect_eq(f->n_switches, 1, "%zu", i);
		cr_expect_eq(f->n_cables, warned[i].n_cables, "%zu", i);
		cr_expect_eq(f->node_guid[0], 1, "%zu", i);
	}
}

Test(ibnetdiscover, makes_adapters_that_only_a_switch_knows)
{
	OWN(fab_fabric) *f = text_open(
		SWITCH_1
		"[8]\t\"H-0000000000000002\"[2](4) \t\t# \"n1 HCA-1\" lid 6 2xEDR\n"
		"[9]\t\"H-0000000000000005\"[1](6) \t\t# \"" FAB_AGGREGATION_NAME
		"\" lid 65535 4xHDR\n"
		"[10]\t\"R-0000000000000007\"[3](8) \t\t# \"gate\" lid 9 4xHDR\n");
	uint32_t port;

	expect_warning(
		f, "unknown-peer", 6,
		"peer \"H-0000000000000002\" has no record of its own; what its switch says is taken");
	cr_expect_eq(f->n_warnings, 3, "%u warnings", f->n_warnings);
	cr_expect(f->n_adapters == 2 && f->n_aggregation_nodes == 1 && f->n_routers == 1);
	cr_expect(f->n_host_links == 4 && f->n_hosts == 1);
	cr_expect_str_eq(fab_node_name(f, 1), "n1 HCA-1");
	cr_expect(f->node_guid[1] == 2 && f->node_n_ports[1] == 2);
	port = fab_port_find(f, 1, 2);
	cr_expect(f->port_guid[port] == 4 && f->port_lid[port] == 6);
	cr_expect(f->port_width[port] == 2 && f->port_speed[port] == FAB_EDR);
	cr_expect_eq(f->port_lid[fab_port_find(f, 2, 1)], 0, "65535 is no LID");
	cr_expect_eq(f->node_n_ports[3], 3);
}

Test(ibnetdiscover, warns_of_what_it_cannot_read)
{
	OWN(fab_fabric) *f = text_open(
		"[1]\t\"H-0000000000000009\"[1](9) # \"x\" lid 1 4xHDR\n" SWITCH_1
		"[12\n[13]\t\"H-0000000000000004\"[1](5) \t\t# \"n2\" lid 6 4xZDR\n" ADAPTER_2
		"vendid=cisco\n");

	cr_expect_eq(f->n_cables, 2);
	expect_warning(
		f, "malformed-line", 1,
		"a port stands before any node: \"[1]\t\"H-0000000000000009\"[1](9) # \"x\" lid 1 4xHDR\"");
	cr_expect_str_eq(find_warning(f, "malformed-line", 1)->message,
			 "no cable can be read from \"[12\"");
	cr_expect_str_eq(find_warning(f, "malformed-line", 2)->message,
			 "no number can be read from \"vendid=cisco\"");
	expect_warning(f, "unknown-speed", 9, "unknown speed of port 13");
}

/* The same fabric in every dress; all give one fingerprint. */
static const char *const dresses[] = {
	SWITCH_1 ADAPTER_2,
	/* CRLF, tabs lost */
	"switchguid=0x1(1)\r\n"
	"Switch36 \"S-0000000000000001\"# \"leaf\" enhanced port 0 lid 4 lmc 0\r\n"
	"[7]\"H-0000000000000002\"[1](3) # \"n1 HCA-1\" lid 5 4xHDR\r\ncaguid=0x2\r\n"
	"Ca  1 \"H-0000000000000002\"# \"n1 HCA-1\"\r\n"
	"[1](3) \"S-0000000000000001\"[7]# lid 5 lmc 1 \"leaf\" lid 4 4xHDR\r\n",
	/* ibnetdiscover -g -f, no newline at the end */
	"#\n# Topology file: generated on Mon Jan  5 2009\n#\n"
	"# Reported max hops discovered: 2\n# Total MADs used: 9\n"
	"# Initiated from node 0000000000000002 port 3\n\nChassis 1 (guid 0x1)\n"
	"Hostname: x\n\n# Spine Nodes\n# Line Nodes\n# Chassis Switches\nvendid=0x2c9\n"
	"devid=0xd2f0\nsysimgguid=0x1\t\t# Chassis 1 (x) slot 3\n"
	"switchguid=0x1(1)\t# Leaf Line 2\n"
	"Switch\t36 \"S-0000000000000001\"\t\t# \"leaf\" enhanced port 0 lid 4 lmc 0\n"
	"[7][ext 3]\t\"H-0000000000000002\"[1](3) \t\t# \"n1 HCA-1\" lid 5 4xHDR s=4 w=2 v=4 slot 7\n"
	"# Chassis CAs\nNon-Chassis Nodes\ncaguid=0x2\n"
	"Ca\t1 \"H-0000000000000002\"\t\t# \"n1 HCA-1\" (scp)\n"
	"[1](3) \t\"S-0000000000000001\"[7][ext 3]\t\t# lid 5 lmc 1 \"leaf\" lid 4 4xHDR s=4 w=2 v=4",
	/* adapter first, indented, upper case digits of ibsim */
	"  Ca\t1 \"H-0000000000000002\"  # \"n1 HCA-1\"\n"
	"  [1](3) \t\"S-0000000000000001\"[7] # lid 5 lmc 1 \"leaf\" lid 4 4xHDR\n"
	"  Switch\t36 \"S-0000000000000001\" # \"leaf\" enhanced port 0 lid 4 lmc 0\n"
	"  [7]\t\"H-0000000000000002\"[1] (3) # \"n1 HCA-1\" lid 5 4xHDR\n",
	/* all behind one mark of diff */
	"> Switch\t36 \"S-0000000000000001\"\t\t# \"leaf\" enhanced port 0 lid 4 lmc 0\n"
	"> [7]\t\"H-0000000000000002\"[1](3) \t\t# \"n1 HCA-1\" lid 5 4xHDR\n"
	"> Ca\t1 \"H-0000000000000002\"\t\t# \"n1 HCA-1\"\n"
	"> [1](3) \t\"S-0000000000000001\"[7]\t\t# lid 5 lmc 1 \"leaf\" lid 4 4xHDR\n",
};

Test(ibnetdiscover, reads_every_dress)
{
	for (size_t i = 0; i < FAB_COUNT(dresses); i++) {
		OWN(fab_fabric) *plain = text_open(dresses[0]),
				*f = text_open(dresses[i]);
		uint32_t port = fab_port_find(f, 1, 1);

		cr_expect_eq(fab_fabric_fingerprint(f), fab_fabric_fingerprint(plain),
			     "dress %zu", i);
		cr_expect_eq(f->n_warnings, 0, "dress %zu: %s", i,
			     f->n_warnings ? f->warnings[0].message : "");
		cr_expect_str_eq(fab_node_name(f, 0), "leaf");
		cr_expect_str_eq(fab_node_name(f, 1), "n1 HCA-1");
		cr_expect_eq(f->node_is_enhanced[0], 1);
		cr_expect_eq(f->port_lid[f->node_first_port[0]], 4);
		cr_expect(f->port_guid[port] == 3 && f->port_lid[port] == 5);
		cr_expect(f->port_lmc[port] == 1 && f->port_width[port] == 4);
		cr_expect(f->port_speed[port] == FAB_HDR && f->node_n_ports[0] == 36);
	}
}

/* They keep quotes; a port without a peer says nothing; cuts are refused. */
Test(ibnetdiscover, port_lists)
{
	OWN(fab_fabric) *f = text_open(
		"SW    51 79 0x946dae0300630bf6 4x HDR - CA    88  1 0xb83fd20300da1138 ( 'it's' - 'w mlx5_3' )\n"
		"foo\nCA x\n"
		"SW    24 1 0x946dae0300618c82 4x SDR                  'down'\n");

	cr_expect_str_eq(fab_node_name(f, 0), "it's");
	cr_expect_str_eq(fab_node_name(f, 1), "w mlx5_3");
	cr_expect(f->n_switches == 1 && f->port_speed[f->cable_a[0]] == FAB_HDR);
	cr_expect_not_null(find_warning(f, "one-sided-cable", 0));
	cr_expect_not_null(find_warning(f, "foreign-line", 0));
	cr_expect_str_eq(find_warning(f, "malformed-line", 0)->message,
			 "no port can be read from \"CA x\"");
	cr_expect_str_eq(
		text_error(
			"CA    88  1 0xb83fd20300da1138 4x HDR - SW    51 79 0x946dae03 ( 'a' - 'b' )\n"
			"CA    88  1 0xb83fd2"),
		"t:2: the input ends within a record at \"CA    88  1 0xb83fd2\", expected a whole line");
}
