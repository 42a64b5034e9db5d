/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/reader.h"

#include "export/fabrics.h"
#include "fabric/builder.h"
#include "support/node.h"
#include "support/test.h"

#define SW(name, port)                                                                   \
	"{ SW Ports:24 SystemGUID:0000000000000001 NodeGUID:0000000000000001 "           \
	"PortGUID:0000000000000001 VenID:0002C9 DevID:BD36 Rev:000000A0 {" name          \
	"} LID:00FF PN:" port " }"
#define CA(name, port)                                                                   \
	"{ CA Ports:02 SystemGUID:0000000000000005 NodeGUID:0000000000000002 "           \
	"PortGUID:0000000000000003 VenID:000002C9 DevID:673C0000 Rev:000000B0 {" name    \
	"} LID:0010 PN:" port " }"

/* A cable from the switch to the adapter. */
#define LINE(sw, sw_port, ca, ca_port, rest) SW(sw, sw_port) " " CA(ca, ca_port) rest

Test(subnet_lst, reads_both_forms)
{
	OWN(fab_fabric) *f = text_open(
		LINE("leaf {1}", "1F", "n1 HCA-1", "02", " PHY=4x LOG=ACT SPD=25\n") CA(
			"n1 HCA-1", "02") " " SW("leaf {1}", "1F") " PHY=1x LOG=INI\n");
	uint32_t port = fab_port_find(f, 0, 0x1f);

	cr_expect_str_eq(f->format, "subnet-lst");
	cr_expect_eq(f->n_nodes, 2);
	cr_expect_eq(f->n_cables, 1);
	cr_expect_str_eq(fab_node_name(f, 0), "leaf {1}");
	cr_expect_eq(f->node_n_ports[0], 0x24);
	cr_expect_eq(f->node_device[0], 0xbd36);
	cr_expect_eq(f->node_device[1], 0x673c);
	cr_expect_eq(f->node_vendor[1], 0x2c9);
	cr_expect_eq(f->node_sys_guid[1], 5);
	cr_expect_eq(f->port_lid[f->node_first_port[0]], 0xff);
	cr_expect_neq(port, FAB_NONE);
	cr_expect_eq(f->port_speed[port], FAB_EDR);
	cr_expect_eq(f->port_width[port], 4);
	port = fab_port_find(f, 1, 2);
	cr_expect_eq(f->port_guid[port], 3);
	cr_expect_eq(f->port_lid[port], 0x10);
	cr_expect_eq(f->port_width[port], 1);
	cr_expect_eq(f->port_speed[port], FAB_SPEED_UNKNOWN);
	cr_expect_eq(f->n_warnings, 1, "the widths differ");
}

/* A description that plays the end of its node does not end it. */
Test(subnet_lst, descriptions_forge_nothing)
{
	static const char text[] = LINE("x} LID:0001 PN:01 } { CA Ports:02", "01",
					"y} LID:1", "01", " PHY=4x LOG=ACT SPD=14\n")
		LINE("s", "02", "y", "02", " PHY=4x LOG=ACT SPD=14\n");
	OWN(fab_fabric) *f = text_open(text);

	cr_expect_eq(f->n_switches, 1);
	cr_expect_eq(f->n_cables, 1);
	cr_expect_not_null(find_warning(f, "malformed-line", 0));
}

Test(subnet_lst, speeds)
{
	static const struct {
		const char *text;
		enum fab_speed speed;
	} speeds[] = {
		{"2.5", FAB_SDR},	   {"5", FAB_DDR},   {"10", FAB_QDR},
		{"FDR10", FAB_FDR10},	   {"14", FAB_FDR},  {"25", FAB_EDR},
		{"50", FAB_HDR},	   {"100", FAB_NDR}, {"200", FAB_XDR},
		{"??", FAB_SPEED_UNKNOWN},
	};

	for (size_t i = 0; i < FAB_COUNT(speeds); i++) {
		OWN(fab_fabric) *f = NULL;
		char text[800];

		snprintf(text, sizeof(text),
			 LINE("s", "01", "n HCA-1", "01", " PHY=12x LOG=ARM SPD=%s"),
			 speeds[i].text);
		f = text_open(text);
		cr_expect_eq(f->port_speed[f->cable_a[0]], speeds[i].speed, "%s",
			     speeds[i].text);
		cr_expect_eq(f->port_width[f->cable_a[0]], 12);
	}
}

Test(subnet_lst, notices_every_cut)
{
	static const char line[] =
		LINE("s", "01", "n HCA-1", "01", " PHY=4x LOG=ACT SPD=25");
	char text[2 * sizeof(line) + 1];

	for (size_t n = 6; n < sizeof(line) - 1; n++) {
		const char *message;

		/* Old files end a line behind LOG=. */
		if (line[n] == ' ' && strstr(line, "LOG=ACT") + 7 == line + n)
			continue;
		if (strstr(line, "LOG=ACT") + 8 == line + n)
			continue;
		snprintf(text, sizeof(text), "%s\n%.*s", line, (int)n, line);
		message = text_error(text);
		cr_expect_eq(strncmp(message, "t:2: the input ends within a record", 35),
			     0, "%zu: %s", n, message);
	}
}

Test(subnet_lst, skips_foreign_lines)
{
	OWN(fab_fabric) *f = text_open("osm log\n" LINE(
		"s", "01", "n", "01", " PHY=4x LOG=ACT\n\n") "{ SW what\nend\n");

	cr_expect_eq(find_warning(f, "foreign-line", 0)->line, 1);
	cr_expect_eq(find_warning(f, "malformed-line", 0)->line, 4);
	cr_expect_eq(f->n_cables, 1);
}

static char *write_list(const struct fab_fabric *f)
{
	return TEXT_BY(out, MUST(fab_export_subnet_lst(out, f, ERR)));
}

static uint32_t node_by_guid(const struct fab_fabric *f, uint64_t guid)
{
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (f->node_guid[i] == guid)
			return i;
	cr_assert_fail("no node 0x%llx", (unsigned long long)guid);
	return FAB_NONE;
}

/* Every cabled node is read back as it was. */
static void check_written(const struct fab_fabric *f)
{
	OWN_HEAP char *text = write_list(f);
	OWN(fab_fabric) *g = text_open(text);

	cr_expect_str_eq(g->format, "subnet-lst");
	cr_expect_eq(fab_fabric_fingerprint(g), fab_fabric_fingerprint(f));
	cr_expect_eq(g->n_hosts, f->n_hosts);
	cr_expect_eq(g->n_aggregation_nodes, f->n_aggregation_nodes);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		uint32_t was = node_by_guid(f, g->node_guid[i]);

		cr_expect_str_eq(fab_node_name(g, i), fab_node_name(f, was));
		cr_expect_eq(g->node_kind[i], f->node_kind[was]);
		cr_expect_eq(g->node_sys_guid[i], f->node_sys_guid[was]);
		cr_expect_eq(g->node_vendor[i], f->node_vendor[was]);
		cr_expect_eq(g->node_device[i], f->node_device[was]);
		for (uint32_t p = g->node_first_port[i]; p < g->node_first_port[i + 1];
		     p++) {
			uint32_t q = fab_port_find(f, was, g->port_num[p]);

			cr_assert_neq(q, FAB_NONE);
			cr_expect_eq(g->port_lid[p], f->port_lid[q]);
			cr_expect_eq(g->port_width[p], f->port_width[q]);
			cr_expect_eq(g->port_speed[p], f->port_speed[q]);
		}
	}
}

Test(subnet_lst, what_is_written_is_read_back)
{
	static const char *const specs[] = {
		"fattree:radix=6,levels=3", "torus:dims=3x3x2,hosts=2",
		"dragonfly:a=4,p=2,h=2", "kfat:dims=4x4,hosts=4"};
	static const char *const files[] = {"ibnetdiscover/topograph-ndr.txt",
					    "ibnetdiscover/selene-compute-hdr.txt",
					    "ibnetdiscover/stage-qdr.txt"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen(specs[i]);

		check_written(f);
	}
	for (size_t i = 0; i < FAB_COUNT(files); i++) {
		OWN(fab_fabric) *f = data_open(files[i]);

		check_written(f);
	}
}

/* Unknown rates, a long description, and one that would end its node early. */
Test(subnet_lst, odd_descriptions_are_written_safely)
{
	OWN(plan) plan = plan_tree(2, 1, 1);
	OWN(fab_fabric) *f = NULL, *g = NULL;
	OWN_HEAP char *text = NULL;

	snprintf(plan.nodes.v[0].name, sizeof(plan.nodes.v[0].name),
		 "x} LID:0001 PN:01 }\n{ CA");
	snprintf(plan.nodes.v[1].name, sizeof(plan.nodes.v[1].name), "%070d", 7);
	plan.cables.v[0].a.width = plan.cables.v[0].b.width = 0;
	plan.cables.v[0].a.speed = plan.cables.v[0].b.speed = 0;
	f = plan_build(&plan, 0);
	text = write_list(f);
	g = text_open(text);
	cr_expect_eq(fab_fabric_fingerprint(g), fab_fabric_fingerprint(f));
	HAS(text, "{x) LID:0001 PN:01 } { CA} LID:");
	HAS(text, " PHY=?? LOG=ACT SPD=??\n");
}

/* Two adapters joined to each other beside a switch: the list would have no switch. */
Test(subnet_lst, cables_of_adapters_only_are_refused)
{
	struct fab_builder *b = fab_builder_new();
	OWN(fab_fabric) *f = NULL;
	OWN_HEAP char *text = NULL;

	for (uint32_t i = 0; i < 3; i++)
		test_node(b, i ? FAB_ADAPTER : FAB_SWITCH, i + 1, 2, "x");
	fab_builder_add_cable(b, 1, 1, 2, 1, 4, FAB_EDR);
	MUST(fab_builder_finish(b, "test", "generated", NULL, &f, ERR));
	text = TEXT_BY(out, cr_expect_eq(fab_export_subnet_lst(out, f, ERR), -EINVAL));
	cr_expect_str_empty(text);
}
