/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/reader.h"

#include "source/source.h"
#include "support/test.h"

OWN_POINTER(fab_name_map)

/* The syntax of infiniband-diags, and other spellings of a GUID; of lines with the same
 * one the first counts. */
Test(name_map, reads_every_spelling)
{
	static const struct {
		const char *line;
		uint64_t guid;
		const char *name;
	} rows[] = {
		{"# heading\n", 0, NULL},
		{"0x0008f10400411f56 \"leaf 12\" # remark", 0x8f10400411f56, "leaf 12"},
		{"\t0x10\t\"two words  \"\r", 0x10, "two words  "},
		{"0x10 \"a later one\"", 0x10, "two words  "},
		{"0x11 plain words # remark", 0x11, "plain words"},
		{"0x12\"close\"", 0x12, "close"},
		{"0x13", 0x13, NULL},
		{"0x14 \"up to # here\"", 0x14, "up to "},
		{"H-0002c90300080e84 gluster1", 0x2c90300080e84, "gluster1"},
		{"S-0002C90300080E85 leaf", 0x2c90300080e85, "leaf"},
		{"0002:c903:0008:0e87 colons", 0x2c90300080e87, "colons"},
		{"0002c90300080e88 bare", 0x2c90300080e88, "bare"},
		{"12 decimal", 12, "decimal"},
		{"0x15 \"open", 0x15, "open"}};
	OWN(fab_name_map) *map = NULL;
	OWN_HEAP char *text = NULL;

	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		fab_append(&text, "\n", "%s", rows[i].line);
	MUST(fab_name_map_parse("m", text, strlen(text), &map, ERR));
	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		const char *got = fab_name_map_get(map, rows[i].guid);

		cr_expect_eq(!got, !rows[i].name, "%zu", i);
		cr_expect_str_eq(got ? got : "", rows[i].name ? rows[i].name : "");
	}
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
