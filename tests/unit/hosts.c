/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/hosts.h"

#include "support/test.h"

struct one {
	const char *name;
	uint64_t sys_guid;
	enum fab_node_kind kind; /* FAB_SWITCH, which is 0: an adapter */
};

/* A switch with these adapters, which have the GUIDs 0x10, 0x11, ...: its hosts, each
 * with the number of its adapters. */
static struct fab_fabric *expect_hosts(const struct one *adapters, size_t n,
				       const struct fab_host_options *options,
				       const char *wanted)
{
	struct fab_builder *b = fab_builder_new();
	struct fab_node_spec spec = {
		.guid = 1, .n_ports = 64, .name = "s", .name_len = 1};
	struct fab_fabric *f = NULL;
	OWN_HEAP char *hosts = NULL;

	fab_builder_add_node(b, &spec);
	for (size_t i = 0; i < n; i++) {
		spec = (struct fab_node_spec){
			.kind = adapters[i].kind ? adapters[i].kind : FAB_ADAPTER,
			.guid = 0x10 + i,
			.sys_guid = adapters[i].sys_guid,
			.n_ports = 1,
			.name = adapters[i].name,
			.name_len = strlen(adapters[i].name),
		};
		fab_builder_add_cable(b, 0, (uint16_t)(i + 1),
				      fab_builder_add_node(b, &spec), 1, 4, FAB_HDR);
	}
	MUST(fab_builder_finish(b, "t", "test", options, &f, ERR));
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
	cr_expect_str_eq(hosts, wanted);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		cr_expect_eq(f->node_host[i] == FAB_NONE, f->node_kind[i] != FAB_ADAPTER);
	return f;
}

Test(hosts, first_word_before_an_adapter)
{
	static const struct one adapters[] = {
		{"n1 mlx5_0", 1},    {"n2 HCA-1", 2},	 {"n1 mlx5_1 ", 3},
		{"n2 ibp65s0f1", 4}, {" n1  hfi1_0", 5}, {"n3 rocep3s0f0", 6},
		{"n3 ib0", 7},	     {"n1 hca-2", 8},	 {"n3 ibp1", 9},
		{"n3 ibp10", 10},
	};

	fab_fabric_free(
		expect_hosts(adapters, FAB_COUNT(adapters), NULL, "n1: 4, n2: 2, n3: 4"));
}

Test(hosts, system_image_guid_for_other_descriptions)
{
	static const struct one adapters[] = {
		{"storage node A", 7}, {"plain", 8},	      {"storage node B", 7},
		{"plain", 9},	       {"n1 eth0", 0},	      {"n1 ibx", 0},
		{"gpu HCA-", 10},      {"plain more 1 2", 8}, {"gpu mlx5_", 11},
	};

	/* "gpu mlx5_": a digit, but no number behind it */
	fab_fabric_free(expect_hosts(adapters, FAB_COUNT(adapters), NULL,
				     "storage node A: 2, plain: 2, plain: 1, n1 eth0: 1, "
				     "n1 ibx: 1, gpu HCA-: 1, gpu mlx5_: 1"));
}

Test(hosts, generic_descriptions_stay_apart)
{
	static const struct one adapters[] = {
		{"MT4129 ConnectX7   Mellanox Technologies", 5},
		{"MT4129 ConnectX7   Mellanox Technologies", 5},
		{"localhost mlx5_0", 6},
		{"localhost.localdomain HCA-1", 6},
		{"", 6},
		{"  ", 6},
		{"localhosts HCA-1", 6},
	};

	fab_fabric_free(expect_hosts(
		adapters, FAB_COUNT(adapters), NULL,
		"0x0000000000000010: 1, 0x0000000000000011: 1, 0x0000000000000012: 1, "
		"0x0000000000000013: 1, 0x0000000000000014: 1, 0x0000000000000015: 1, "
		"localhosts: 1"));
}

Test(hosts, aggregation_nodes_and_routers_are_none)
{
	static const struct one adapters[] = {
		{"Mellanox Technologies Aggregation Node", 1, FAB_AGGREGATION},
		{"n1 HCA-1", 2},
		{"gate HCA-1", 2, FAB_ROUTER},
	};

	fab_fabric_free(expect_hosts(adapters, FAB_COUNT(adapters), NULL, "n1: 1"));
}

/* A map of the GUIDs below *(const uint64_t *)map. */
static bool names_guids_below(const void *map, uint64_t guid)
{
	return guid < *(const uint64_t *)map;
}

Test(hosts, a_name_map_names_hosts)
{
	static const struct one adapters[] = {
		{"rack 1 unit 2", 1},
		{"rack 1 unit 2", 2},
		{"n1 mlx5_0", 3},
		{"n1", 4},
		{"localhost", 5},
		{"MT25408 ConnectX Mellanox Technologies", 5},
		/* these are not in the map */
		{"rack 1 unit 2", 6},
		{"plain", 7},
		{"plain", 8},
		{"n1 mlx5_1", 9},
		{"localhost mlx5_0", 5},
		{"MT25408 ConnectX Mellanox Technologies", 5},
	};
	static const uint64_t end = 0x16;
	static const struct fab_host_options options = {.is_mapped = names_guids_below,
							.name_map = &end};
	OWN(fab_fabric) *f = expect_hosts(
		adapters, FAB_COUNT(adapters), &options,
		"rack 1 unit 2: 2, n1: 3, localhost: 1, "
		"MT25408 ConnectX Mellanox Technologies: 1, rack 1 unit 2: 1, plain: 1, "
		"plain: 1, 0x000000000000001a: 1, 0x000000000000001b: 1");

	cr_expect_eq(strncmp(f->host_rule, "name map", 8), 0);
}

Test(hosts, hca_patterns)
{
	static const struct {
		const char *description, *hca;
		bool matches;
	} cases[] = {
		{"n1 mlx5_0", "mlx5_0", true},	   {"n1 mlx5_0", "mlx5_1", false},
		{"n1 mlx5_0", "mlx5_[0-3]", true}, {"n1 mlx5_0 ", "mlx5_0", true},
		{"n1 mlx5_0", "n1 *", true},	   {"n1 HCA-2", "hca-?", true},
		{"n1 mlx5_0", "n1", false},	   {"mlx5_7", "mlx5_7", true},
		{"n1 other", "other", false},	   {"", "*", true},
		{"a b mlx5_0", "mlx5_0", false},   {"a b mlx5_0", "*mlx5_0", true},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		cr_expect_eq(fab_hosts_hca_matches(cases[i].description, cases[i].hca),
			     cases[i].matches, "\"%s\" --hca '%s'", cases[i].description,
			     cases[i].hca);
}

Test(hosts, hca_chooses_a_rail)
{
	static const struct one adapters[] = {
		{"n1 mlx5_0", 1}, {"n1 mlx5_1", 1}, {"n2 mlx5_0", 2}, {"n2 mlx5_1", 2}};
	static const struct fab_host_options options = {.hca = "mlx5_1"};
	OWN(fab_fabric) *f =
		expect_hosts(adapters, FAB_COUNT(adapters), &options, "n1: 1, n2: 1");

	cr_expect_eq(f->n_adapters, 2);
	cr_expect_eq(f->n_host_links, 2);
}
