/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/hosts.h"

#include "support/node.h"
#include "support/test.h"

/* A map of the GUIDs below *(const uint64_t *)map. */
static bool names_guids_below(const void *map, uint64_t guid)
{
	return guid < *(const uint64_t *)map;
}

static const uint64_t mapped_end = 0x16;
static const struct fab_host_options by_map = {.is_mapped = names_guids_below,
					       .name_map = &mapped_end},
				     second_rail = {.hca = "mlx5_1"};

/* Adapters of one switch, which have the GUIDs 0x10, 0x11, ...: GUID OF THE SYSTEM,
 * '=' (an aggregation node: 'a', a router: 'r') and description, between bars; their
 * hosts, each with the number of its adapters. */
static const struct {
	const struct fab_host_options *options;
	const char *adapters, *wanted;
} cases[] = {
	/* the first word before the name of an adapter */
	{NULL,
	 "1=n1 mlx5_0|2=n2 HCA-1|3=n1 mlx5_1 |4=n2 ibp65s0f1|5= n1  hfi1_0|6=n3 rocep3s0f0|"
	 "7=n3 ib0|8=n1 hca-2|9=n3 ibp1|10=n3 ibp10",
	 "n1: 4, n2: 2, n3: 4"},
	/* of other descriptions the GUID of the system; "gpu mlx5_": a digit, but no
	 * number behind it */
	{NULL,
	 "7=storage node A|8=plain|7=storage node B|9=plain|0=n1 eth0|0=n1 ibx|10=gpu HCA-|"
	 "8=plain more 1 2|11=gpu mlx5_",
	 "storage node A: 2, plain: 2, plain: 1, n1 eth0: 1, n1 ibx: 1, gpu HCA-: 1, "
	 "gpu mlx5_: 1"},
	/* generic descriptions stay apart */
	{NULL,
	 "5=MT4129 ConnectX7   Mellanox Technologies|5=MT4129 ConnectX7   Mellanox Technologies|"
	 "6=localhost mlx5_0|6=localhost.localdomain HCA-1|6=|6=  |6=localhosts HCA-1",
	 "0x0000000000000010: 1, 0x0000000000000011: 1, 0x0000000000000012: 1, "
	 "0x0000000000000013: 1, 0x0000000000000014: 1, 0x0000000000000015: 1, "
	 "localhosts: 1"},
	{NULL, "1aMellanox Technologies Aggregation Node|2=n1 HCA-1|2rgate HCA-1",
	 "n1: 1"},
	/* the first six are in the map */
	{&by_map,
	 "1=rack 1 unit 2|2=rack 1 unit 2|3=n1 mlx5_0|4=n1|5=localhost|"
	 "5=MT25408 ConnectX Mellanox Technologies|6=rack 1 unit 2|7=plain|8=plain|"
	 "9=n1 mlx5_1|5=localhost mlx5_0|5=MT25408 ConnectX Mellanox Technologies",
	 "rack 1 unit 2: 2, n1: 3, localhost: 1, MT25408 ConnectX Mellanox Technologies: 1, "
	 "rack 1 unit 2: 1, plain: 1, plain: 1, 0x000000000000001a: 1, "
	 "0x000000000000001b: 1"},
	{&second_rail, "1=n1 mlx5_0|1=n1 mlx5_1|2=n2 mlx5_0|2=n2 mlx5_1", "n1: 1, n2: 1"},
};

Test(hosts, of_adapters)
{
	for (size_t c = 0; c < FAB_COUNT(cases); c++) {
		struct fab_builder *b = fab_builder_new();
		OWN(fab_fabric) *f = NULL;
		OWN_HEAP char *hosts = NULL, *text = fab_strdup(cases[c].adapters);
		char *left = text, *one;

		test_node(b, FAB_SWITCH, 1, 64, "s");
		for (uint16_t i = 0; (one = strsep(&left, "|")); i++) {
			uint64_t sys_guid = strtoul(one, &one, 10);
			enum fab_node_kind kind = *one == 'a'	? FAB_AGGREGATION
						  : *one == 'r' ? FAB_ROUTER
								: FAB_ADAPTER;
			const struct fab_node_spec spec = {.kind = kind,
							   .guid = 0x10 + i,
							   .sys_guid = sys_guid,
							   .n_ports = 1,
							   .name = one + 1,
							   .name_len = strlen(one + 1)};

			fab_builder_add_cable(b, 0, (uint16_t)(i + 1),
					      fab_builder_add_node(b, &spec), 1, 4,
					      FAB_HDR);
		}
		MUST(fab_builder_finish(b, "t", "test", cases[c].options, &f, ERR));
		for (uint32_t h = 0; h < f->n_hosts; h++) {
			const uint32_t first = f->host_first_adapter[h];

			fab_append(&hosts, ", ", "%s: %u", fab_host_name(f, h),
				   f->host_first_adapter[h + 1] - first);
			FAB_EACH_ADAPTER(f, h, i) {
				cr_expect_eq(f->node_host[f->host_adapter[i]], h);
				cr_expect(i == first ||
					  f->host_adapter[i - 1] < f->host_adapter[i]);
			}
		}
		cr_expect_str_eq(hosts, cases[c].wanted);
		for (uint32_t i = 0; i < f->n_nodes; i++)
			cr_expect_eq(f->node_host[i] == FAB_NONE,
				     f->node_kind[i] != FAB_ADAPTER);
		cr_expect_eq(!strncmp(f->host_rule, "name map", 8),
			     cases[c].options == &by_map);
	}
}

Test(hosts, hca_patterns)
{
	static const struct {
		const char *description, *hca;
		bool matches;
	} rows[] = {
		{"n1 mlx5_0", "mlx5_0", true},	   {"n1 mlx5_0", "mlx5_1", false},
		{"n1 mlx5_0", "mlx5_[0-3]", true}, {"n1 mlx5_0 ", "mlx5_0", true},
		{"n1 mlx5_0", "n1 *", true},	   {"n1 HCA-2", "hca-?", true},
		{"n1 mlx5_0", "n1", false},	   {"mlx5_7", "mlx5_7", true},
		{"n1 other", "other", false},	   {"", "*", true},
		{"a b mlx5_0", "mlx5_0", false},   {"a b mlx5_0", "*mlx5_0", true},
	};

	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		cr_expect_eq(fab_hosts_hca_matches(rows[i].description, rows[i].hca),
			     rows[i].matches, "\"%s\" --hca '%s'", rows[i].description,
			     rows[i].hca);
}
