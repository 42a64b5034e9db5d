/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/reader.h"

#include "source/source.h"
#include "support/test.h"

OWN_POINTER(fab_name_map)

static struct fab_name_map *map_of(const char *text)
{
	struct fab_name_map *map = NULL;

	MUST(fab_name_map_parse("m", text, strlen(text), &map, ERR));
	return map;
}

static void expect_name(const struct fab_name_map *map, uint64_t guid, const char *name)
{
	const char *got = fab_name_map_get(map, guid);

	if (!name) {
		cr_expect_null(got, "0x%llx", (unsigned long long)guid);
		return;
	}
	cr_assert_not_null(got, "0x%llx", (unsigned long long)guid);
	cr_expect_str_eq(got, name);
}

Test(name_map, reads_the_syntax_of_infiniband_diags)
{
	OWN(fab_name_map) *map = map_of("# heading\n\n"
					"0x0008f10400411f56 \"leaf 12\" # remark\n"
					"\t0x10\t\"two words  \"\r\n"
					"0x10 \"a later one\"\n"
					"0x11 plain words # remark\n"
					"0x12\"close\"\n"
					"0x13\n"
					"0x14 \"up to # here\"\n"
					"0x15 \"open");

	expect_name(map, 0x8f10400411f56, "leaf 12");
	expect_name(map, 0x10, "two words  ");
	expect_name(map, 0x11, "plain words");
	expect_name(map, 0x12, "close");
	expect_name(map, 0x13, NULL);
	expect_name(map, 0x14, "up to ");
	expect_name(map, 0x15, "open");
	expect_name(map, 0x16, NULL);
}

Test(name_map, takes_other_spellings_of_a_guid)
{
	OWN(fab_name_map) *map = map_of("H-0002c90300080e84 gluster1\n"
					"S-0002C90300080E85 leaf\n"
					"0002:c903:0008:0e87 colons\n"
					"0002c90300080e88 bare\n12 decimal\n");

	expect_name(map, 0x2c90300080e84, "gluster1");
	expect_name(map, 0x2c90300080e85, "leaf");
	expect_name(map, 0x2c90300080e87, "colons");
	expect_name(map, 0x2c90300080e88, "bare");
	expect_name(map, 12, "decimal");
}

Test(name_map, refuses_a_line_without_guid)
{
	struct fab_name_map *map = NULL;

	FAILS_AS(fab_name_map_parse("m", "0x1 \"a\"\nleaf \"b\"\n", 17, &map, ERR),
		 -EINVAL, "m:2: no GUID in \"leaf \"b\"\", expected GUID \"NAME\"");
	FAILS_AS(fab_name_map_parse("m", "0x1 \"a\0\"\n", 9, &map, ERR), -EINVAL,
		 "m: binary data (a NUL byte), expected lines of GUID \"NAME\"");
	FAILS_AS(fab_name_map_open("/nonexistent/map", &map, ERR), -ENOENT,
		 "/nonexistent/map: No such file or directory");
	cr_expect_null(map);
}

Test(name_map, names_the_hosts_of_a_real_fabric)
{
	OWN_HEAP char *dump = data_path("ibnetdiscover/psmn-x5-qdr.txt");
	OWN_HEAP char *path = data_path("cabling/psmn-x5-guid-host.map");
	struct fab_source_options options = {.node_name_map = path};
	OWN(fab_fabric) *f = NULL;
	uint32_t named = 0;

	MUST(fab_source_open(dump, &options, &f, ERR));
	for (uint32_t i = f->n_switches; i < f->n_nodes; i++)
		named += !strstr(fab_node_name(f, i), "Mellanox");
	cr_expect_eq(named, 86, "%u adapters named", named);
	cr_expect_eq(f->n_hosts, 89);
}
