/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/hosts.h"

#include "support/test.h"

struct one {
	const char *name;
	uint64_t sys_guid;
	enum fab_node_kind kind; /* FAB_SWITCH, which is 0: an adapter */
};

/* A switch with these adapters, which have the GUIDs 0x10, 0x11, ... */
static struct fab_fabric *fabric_of(const struct one *adapters, size_t n,
				    const struct fab_host_options *options)
{
	struct fab_builder *b = fab_builder_new();
	struct fab_node_spec spec = {
		.guid = 1, .n_ports = 64, .name = "s", .name_len = 1};
	struct fab_fabric *f = NULL;

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
	return f;
}

static void expect_host(const struct fab_fabric *f, uint32_t host, const char *name,
			uint32_t n_adapters)
{
	cr_assert_lt(host, f->n_hosts);
	cr_expect_str_eq(fab_host_name(f, host), name);
	cr_expect_eq(f->host_first_adapter[host + 1] - f->host_first_adapter[host],
		     n_adapters, "%s", name);
	for (uint32_t i = f->host_first_adapter[host];
	     i < f->host_first_adapter[host + 1]; i++)
		cr_expect_eq(f->node_host[f->host_adapter[i]], host, "%s", name);
}

Test(hosts, first_word_before_an_adapter)
{
	static const struct one adapters[] = {
		{"n1 mlx5_0", 1},    {"n2 HCA-1", 2},	 {"n1 mlx5_1 ", 3},
		{"n2 ibp65s0f1", 4}, {" n1  hfi1_0", 5}, {"n3 rocep3s0f0", 6},
		{"n3 ib0", 7},	     {"n1 hca-2", 8},	 {"n3 ibp1", 9},
		{"n3 ibp10", 10},
	};
	OWN(fab_fabric) *f = fabric_of(adapters, FAB_COUNT(adapters), NULL);

	cr_expect_eq(f->n_hosts, 3);
	expect_host(f, 0, "n1", 4);
	expect_host(f, 1, "n2", 2);
	expect_host(f, 2, "n3", 4);
	cr_expect_eq(f->host_adapter[1], 3, "adapters in ascending order");
	cr_expect_eq(f->node_host[0], FAB_NONE, "a switch has no host");
}

Test(hosts, system_image_guid_for_other_descriptions)
{
	static const struct one adapters[] = {
		{"storage node A", 7}, {"plain", 8},	      {"storage node B", 7},
		{"plain", 9},	       {"n1 eth0", 0},	      {"n1 ibx", 0},
		{"gpu HCA-", 10},      {"plain more 1 2", 8}, {"gpu mlx5_", 11},
	};
	OWN(fab_fabric) *f = fabric_of(adapters, FAB_COUNT(adapters), NULL);

	cr_expect_eq(f->n_hosts, 7, "%u hosts", f->n_hosts);
	expect_host(f, 0, "storage node A", 2);
	expect_host(f, 1, "plain", 2);
	expect_host(f, 2, "plain", 1);
	expect_host(f, 3, "n1 eth0", 1);
	expect_host(f, 5, "gpu HCA-", 1);
	expect_host(f, 6, "gpu mlx5_", 1); /* a digit, but no number behind it */
}

Test(hosts, generic_descriptions_stay_apart)
{
	static const struct one adapters[] = {
		{"MT4129 ConnectX7   Mellanox Technologies", 5},
		{"MT4129 ConnectX7   Mellanox Technologies", 5},
		{"localhost mlx5_0", 6},
		{"localhost mlx5_1", 6},
		{"localhost.localdomain HCA-1", 6},
		{"", 6},
		{"  ", 6},
		{"localhosts HCA-1", 6},
	};
	OWN(fab_fabric) *f = fabric_of(adapters, FAB_COUNT(adapters), NULL);

	cr_expect_eq(f->n_hosts, 8);
	expect_host(f, 0, "0x0000000000000010", 1);
	expect_host(f, 3, "0x0000000000000013", 1);
	expect_host(f, 7, "localhosts", 1);
}

Test(hosts, aggregation_nodes_and_routers_are_none)
{
	static const struct one adapters[] = {
		{"Mellanox Technologies Aggregation Node", 1, FAB_AGGREGATION},
		{"n1 HCA-1", 2},
		{"gate HCA-1", 2, FAB_ROUTER},
	};
	OWN(fab_fabric) *f = fabric_of(adapters, FAB_COUNT(adapters), NULL);

	cr_expect_eq(f->n_hosts, 1);
	cr_expect_eq(f->node_host[1], FAB_NONE);
	expect_host(f, 0, "n1", 1);
	cr_expect_eq(f->node_host[3], FAB_NONE);
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
	OWN(fab_fabric) *f = fabric_of(adapters, FAB_COUNT(adapters), &options);

	cr_expect_eq(f->n_hosts, 9, "%u hosts", f->n_hosts);
	expect_host(f, 0, "rack 1 unit 2", 2);
	expect_host(f, 1, "n1", 3);
	expect_host(f, 2, "localhost", 1);
	expect_host(f, 3, "MT25408 ConnectX Mellanox Technologies", 1);
	expect_host(f, 4, "rack 1 unit 2", 1);
	expect_host(f, 5, "plain", 1);
	expect_host(f, 6, "plain", 1);
	expect_host(f, 7, "0x000000000000001a", 1);
	expect_host(f, 8, "0x000000000000001b", 1);
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
	OWN(fab_fabric) *f = fabric_of(adapters, FAB_COUNT(adapters), &options);

	cr_expect_eq(f->n_hosts, 2);
	cr_expect_eq(f->n_adapters, 2);
	cr_expect_eq(f->n_host_links, 2);
	expect_host(f, 1, "n2", 1);
}
