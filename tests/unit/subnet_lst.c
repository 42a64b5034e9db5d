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
	cr_expect(f->n_nodes == 2 && f->n_cables == 1);
	cr_expect_str_eq(fab_node_name(f, 0), "leaf {1}");
	cr_expect(f->node_n_ports[0] == 0x24 && f->node_device[0] == 0xbd36);
	cr_expect(f->node_device[1] == 0x673c && f->node_vendor[1] == 0x2c9);
	cr_expect(f->node_sys_guid[1] == 5 && f->port_lid[f->node_first_port[0]] == 0xff);
	cr_expect_neq(port, FAB_NONE);
	cr_expect(f->port_speed[port] == FAB_EDR && f->port_width[port] == 4);
	port = fab_port_find(f, 1, 2);
	cr_expect(f->port_guid[port] == 3 && f->port_lid[port] == 0x10);
	cr_expect(f->port_width[port] == 1 && f->port_speed[port] == FAB_SPEED_UNKNOWN);
	cr_expect_eq(f->n_warnings, 1, "the widths differ");
}

/* A description that plays the end of its node does not end it. */
Test(subnet_lst, descriptions_forge_nothing)
{
	static const char text[] = LINE("x} LID:0001 PN:01 } { CA Ports:02", "01",
					"y} LID:1", "01", " PHY=4x LOG=ACT SPD=14\n")
		LINE("s", "02", "y", "02", " PHY=4x LOG=ACT SPD=14\n");
	OWN(fab_fabric) *f = text_open(text);

	cr_expect(f->n_switches == 1 && f->n_cables == 1);
	cr_expect_not_null(find_warning(f, "malformed-line", 0));
}

Test(subnet_lst, speeds)
{
	/* in the order of enum fab_speed */
	static const char *const speeds[] = {"??", "2.5", "5",	"10",  "FDR10",
					     "14", "25",  "50", "100", "200"};

	for (size_t i = 0; i < FAB_COUNT(speeds); i++) {
		OWN_HEAP char *text = fab_format(
			LINE("s", "01", "n HCA-1", "01", " PHY=12x LOG=ARM SPD=%s"),
			speeds[i]);
		OWN(fab_fabric) *f = text_open(text);

		cr_expect_eq(f->port_speed[f->cable_a[0]], i, "%s", speeds[i]);
		cr_expect_eq(f->port_width[f->cable_a[0]], 12);
	}
}

Test(subnet_lst, notices_every_cut)
{
	static const char line[] =
		LINE("s", "01", "n HCA-1", "01", " PHY=4x LOG=ACT SPD=25");
	char text[2 * sizeof(line) + 1];

	for (size_t n = 6; n < sizeof(line) - 1; n++) {
		/* Old files end a line behind LOG=. */
		const size_t old = (size_t)(strstr(line, "LOG=ACT") + 7 - line);

		if (n == old || n == old + 1)
			continue;
		snprintf(text, sizeof(text), "%s\n%.*s", line, (int)n, line);
		HAS(text_error(text), "t:2: the input ends within a record");
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

static void check_written(struct fab_fabric *f)
{
	OWN_HEAP char *text = write_list(f);
	OWN(fab_fabric) *g = text_open(text);

	cr_expect_str_eq(g->format, "subnet-lst");
	test_same_fabric(f, g);
	fab_fabric_free(f);
}

Test(subnet_lst, what_is_written_is_read_back)
{
	static const char *const specs[] = {
		"fattree:radix=6,levels=3", "torus:dims=3x3x2,hosts=2",
		"dragonfly:a=4,p=2,h=2", "kfat:dims=4x4,hosts=4"};
	static const char *const files[] = {"ibnetdiscover/topograph-ndr.txt",
					    "ibnetdiscover/selene-compute-hdr.txt",
					    "ibnetdiscover/stage-qdr.txt"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		check_written(test_gen(specs[i]));
	for (size_t i = 0; i < FAB_COUNT(files); i++)
		check_written(data_open(files[i]));
}

/* Unknown rates, a long description, and one that would end its node early. */
Test(subnet_lst, odd_descriptions_are_written_safely)
{
	OWN(plan) plan = plan_tree(2, 1, 1);
	OWN(fab_fabric) *f = NULL, *g = NULL;
	OWN_HEAP char *text = NULL;

	strcpy(plan.nodes.v[0].name, "x} LID:0001 PN:01 }\n{ CA");
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
