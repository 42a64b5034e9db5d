/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/fabrics.h"

#include "fabric/builder.h"
#include "source/source.h"
#include "support/test.h"

#include <criterion/parameterized.h>

static char *dump_of(const struct fab_fabric *f)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	cr_assert_eq(fab_export_ibnetdiscover(out, f, NULL), 0);
	cr_assert_eq(fclose(out), 0);
	return text;
}

/* What is written is read back as the same fabric, and written again as the same text. */
static void check_fixed_point(const char *what, struct fab_fabric *first)
{
	FAB_AUTOFREE char *text = dump_of(first), *again = NULL;
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *second = text_open(text);

	again = dump_of(second);
	cr_expect_str_eq(text, again, "%s: the second dump differs", what);
	cr_expect_eq(fab_fabric_fingerprint(first), fab_fabric_fingerprint(second),
		     "%s: another fabric", what);
	cr_expect_eq(first->n_hosts, second->n_hosts, "%s: hosts", what);
	cr_expect_eq(first->n_aggregation_nodes, second->n_aggregation_nodes,
		     "%s: aggregation nodes", what);
	for (uint32_t p = 0; p < first->n_ports; p++) {
		cr_assert_eq(first->port_speed[p], second->port_speed[p], "%s: speed",
			     what);
		cr_assert_eq(first->port_width[p], second->port_width[p], "%s: width",
			     what);
		cr_assert_eq(first->port_lid[p], second->port_lid[p], "%s: LID", what);
		cr_assert_eq(first->port_guid[p], second->port_guid[p], "%s: GUID", what);
	}
	for (uint32_t i = 0; i < first->n_nodes; i++) {
		cr_assert_str_eq(fab_node_name(first, i), fab_node_name(second, i));
		cr_assert_eq(first->node_device[i], second->node_device[i]);
		cr_assert_eq(first->node_sys_guid[i], second->node_sys_guid[i]);
	}
	fab_fabric_free(first);
}

static const char *const files[] = {
	"ibnetdiscover/selene-compute-hdr.txt",
	"ibnetdiscover/ufm-director-puttylog.txt",
	"ibnetdiscover/topograph-ndr.txt",
	"ibnetdiscover/stage-qdr.txt",
	"ibnetdiscover/psmn-x5-qdr.txt",
	"ibnetdiscover/ufm-lab-mixed.txt",
	"ibnetdiscover/ibtopotool-1.txt",
	"ibnetdiscover/ibtopotool-2.txt",
	"ibsim/net",
	"ibsim/net.1",
	"ibsim/net.2sw2path",
	"ibsim/net.2sw2path4hca",
	"ibsim/net.2sw2path4hca2port",
	"opensm-dumps/ibutils-subnet.lst",
};

ParameterizedTestParameters(export_ibnetdiscover, real_dumps)
{
	static size_t index[FAB_COUNT(files)];

	for (size_t i = 0; i < FAB_COUNT(files); i++)
		index[i] = i;
	return cr_make_param_array(size_t, index, FAB_COUNT(files), NULL);
}

ParameterizedTest(size_t *index, export_ibnetdiscover, real_dumps)
{
	check_fixed_point(files[*index], data_open(files[*index]));
}

static const char *const specs[] = {
	"gen:fattree:radix=8,levels=3",
	"gen:torus:dims=3x3x2,hosts=2",
	"gen:dragonfly:a=4,p=2,h=2",
	"gen:kfat:dims=4x4,hosts=4",
};

ParameterizedTestParameters(export_ibnetdiscover, generated)
{
	static size_t index[FAB_COUNT(specs)];

	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		index[i] = i;
	return cr_make_param_array(size_t, index, FAB_COUNT(specs), NULL);
}

ParameterizedTest(size_t *index, export_ibnetdiscover, generated)
{
	struct fab_fabric *f = NULL;

	cr_assert_eq(fab_source_open(specs[*index], NULL, &f, ERR), 0, "%s",
		     specs[*index]);
	check_fixed_point(specs[*index], f);
}

static uint32_t add(struct fab_builder *b, enum fab_node_kind kind, uint64_t guid,
		    const char *name)
{
	struct fab_node_spec spec = {.kind = kind,
				     .guid = guid,
				     .n_ports = kind == FAB_SWITCH ? 8 : 2,
				     .name = name,
				     .name_len = strlen(name)};

	return fab_builder_add_node(b, &spec);
}

static struct fab_fabric *hostile_fabric(void)
{
	static const char *const names[] = {
		"a\" lid 7 4xQDR", "\"", "# \"x\"", "", " lid 3 lmc 1 \"q\" lid 9 1xSDR",
		"' [1] (2)",
	};
	struct fab_builder *b = fab_builder_new();
	uint32_t sw = add(b, FAB_SWITCH, 0x10, "s\" enhanced port 0 lid 5 lmc 0"), node;
	struct fab_fabric *f = NULL;

	fab_builder_set_port(b, sw, 0, 0x10, 5, 0);
	for (uint32_t i = 0; i < FAB_COUNT(names); i++) {
		node = add(b, FAB_ADAPTER, 0x20 + i, names[i]);
		fab_builder_add_cable(b, sw, (uint16_t)(i + 1), node, 1, 4, FAB_HDR);
	}
	node = add(b, FAB_ROUTER, 0x30, "router");
	fab_builder_add_cable(b, sw, 7, node, 1, 0, FAB_SPEED_UNKNOWN);
	/* Two adapters back to back. */
	fab_builder_add_cable(b, 1, 2, 2, 2, 12, FAB_XDR);
	MUST(fab_builder_finish(b, "hostile", "test", NULL, &f, ERR));
	return f;
}

Test(export_ibnetdiscover, hostile_descriptions_come_back)
{
	check_fixed_point("hostile", hostile_fabric());
}

Test(export_ibnetdiscover, control_characters_become_blanks)
{
	struct fab_builder *b = fab_builder_new();
	uint32_t sw = add(b, FAB_SWITCH, 1, "s\n[1]\t\"H-\x1b\x7f\xc3\xbc");
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = NULL, *back = NULL;
	FAB_AUTOFREE char *text = NULL;

	fab_builder_add_cable(b, sw, 1, add(b, FAB_ADAPTER, 2, "h"), 1, 4, FAB_EDR);
	MUST(fab_builder_finish(b, "x", "test", NULL, &f, ERR));
	text = dump_of(f);
	back = text_open(text);
	cr_assert_str_eq(fab_node_name(back, 0), "s [1] \"H-  \xc3\xbc");
	cr_assert_eq(back->n_cables, 1);
}

Test(export_ibnetdiscover, writes_the_layout_of_ibnetdiscover)
{
	static const char wanted[] =
		"#\n# Topology file: generated by fabkit\n#\n"
		"# Initiated from node 0000000000000002 port 0000000000000003\n"
		"\nvendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x1\nswitchguid=0x1(1)\n"
		"Switch\t36 \"S-0000000000000001\"\t\t# \"leaf\" enhanced port 0 lid 4 "
		"lmc 0\n"
		"[7]\t\"H-0000000000000002\"[1](3) \t\t# \"n1 HCA-1\" lid 5 4xHDR\n"
		"\nvendid=0x2c9\ndevid=0x101b\nsysimgguid=0x2\ncaguid=0x2\n"
		"Ca\t1 \"H-0000000000000002\"\t\t# \"n1 HCA-1\"\n"
		"[1](3) \t\"S-0000000000000001\"[7]\t\t# lid 5 lmc 1 \"leaf\" lid 4 "
		"2xHDR\n";
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = text_open(wanted);
	FAB_AUTOFREE char *text = dump_of(f);

	cr_assert_str_eq(text, wanted);
}
