/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/label.h"

#include "support/test.h"

#include <inttypes.h>

Test(label, short_names)
{
	static const struct {
		const char *description, *name;
	} cases[] = {
		{"MF0;leaf7:MQM8700/U1", "leaf7"},
		{"MF0;a:b:MQM8700/U1 ", "a:b"},
		{"MF12;core:MCS8500/L16/U2", "core/L16/U2"},
		{"MF0;core:MCS8500/U12", "core/U12"},
		{"MF0;:MQM8700/U1", "MF0;:MQM8700/U1"},
		{"MF0;plain", "MF0;plain"},
		{"MF;x:y/U1", "MF;x:y/U1"},
		{"Voltaire 4036 # hoibp0013 ", "Voltaire 4036 # hoibp0013"},
		{"", ""},
		{"   ", ""},
	};
	char out[FAB_LABEL_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_assert_str_eq(fab_label_short(cases[i].description, out, sizeof(out)),
				 cases[i].name);
}

Test(label, descriptions_inside_a_text_become_short)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{"MF0;ib5:SX6036/U1:21 -> MF0;ib8:SX6036/U1:26", "ib5:21 -> ib8:26"},
		{"MF0;core:MCS8500/L16/U2", "core/L16/U2"},
		{"to (MF0;a:M/U1), MF0;b:M/U2", "to (a), b/U2"},
		{"XMF0;a:M/U1", "XMF0;a:M/U1"},
		{"MF0;plain MF0;a:M", "MF0;plain MF0;a:M"},
		{"MF0;:M/U1", "MF0;:M/U1"},
		{"MF0;a b:M/U1", "MF0;a b:M/U1"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWN_HEAP char *shown = fab_label_shorten(cases[i].text);

		cr_expect_str_eq(shown, cases[i].shown);
	}
}

Test(label, short_names_are_cut_to_fit)
{
	char out[4];

	cr_assert_str_eq(fab_label_short("MF0;leaf7:MQM8700/U1", out, sizeof(out)),
			 "lea");
}

Test(label, hosts_without_a_name)
{
	static const struct {
		const char *name;
		bool is_unnamed;
	} cases[] = {
		{"MT4129 ConnectX7   Mellanox Technologies", true},
		{"localhost HCA-3", true},
		{" ", true},
		{"localhost2 HCA-3", false},
		{"node1 mlx5_0", false},
	};
	OWN(plan) plan = plan_tree(1, 1, 5);
	OWN(fab_fabric) *f = NULL;

	for (size_t i = 0; i < 5; i++)
		strcpy(plan.nodes.v[2 + i].name, cases[i].name);
	f = plan_build(&plan, 0);
	cr_assert_eq(f->n_hosts, 5);
	for (uint32_t h = 0; h < 5; h++)
		cr_assert_eq(fab_host_is_unnamed(f, h), cases[h].is_unnamed, "%s",
			     cases[h].name);
}

Test(label, names_of_several_nodes_have_their_guid)
{
	OWN(plan) plan = {0};
	uint32_t a = plan_switch(&plan, "same", 4), b = plan_switch(&plan, "same", 4);
	uint32_t c = plan_switch(&plan, "other", 4);
	char expected[64], *text;
	OWN(fab_fabric) *f = NULL;

	plan_cable(&plan, a, 1, b, 2);
	plan_cable(&plan, b, 3, c, 4);
	f = plan_build(&plan, 0);
	text = fab_node_text(f, c);
	cr_expect_str_eq(text, "other");
	free(text);
	text = fab_node_text(f, b);
	snprintf(expected, sizeof(expected), "same (0x%016" PRIx64 ")", f->node_guid[b]);
	cr_expect_str_eq(text, expected);
	free(text);
	for (uint32_t port = 0; port < f->n_ports; port++) {
		text = fab_cable_text(f, port);
		cr_expect_eq(!text, fab_port_peer(f, port) == FAB_NONE);
		if (f->port_node[port] == c && text) {
			snprintf(expected, sizeof(expected),
				 "other:4 -> same (0x%016" PRIx64 "):3", f->node_guid[b]);
			cr_expect_str_eq(text, expected);
		}
		free(text);
	}
	cr_expect_null(fab_cable_text(f, FAB_NONE));
}
