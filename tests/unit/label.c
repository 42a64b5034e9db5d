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

	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		cr_assert_str_eq(fab_label_short(cases[i].description, out, sizeof(out)),
				 cases[i].name);
	cr_assert_str_eq(fab_label_short("MF0;leaf7:MQM8700/U1", out, 4), "lea");
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

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN_HEAP char *shown = fab_label_shorten(cases[i].text);

		cr_expect_str_eq(shown, cases[i].shown);
	}
}

Test(label, names_of_several_nodes_have_their_guid)
{
	struct plan plan = {0};
	uint32_t a = plan_switch(&plan, "same", 4), b = plan_switch(&plan, "same", 4);
	uint32_t c = plan_switch(&plan, "other", 4);
	OWN_HEAP char *same = NULL, *of_b = NULL, *of_c = NULL, *cable = NULL;
	OWN(fab_fabric) *f = NULL;

	plan_cable(&plan, a, 1, b, 2);
	plan_cable(&plan, b, 3, c, 4);
	f = plan_end(&plan);
	same = fab_format("same (0x%016" PRIx64 ")", f->node_guid[b]);
	cable = fab_format("other:4 -> %s:3", same);
	of_b = fab_node_text(f, b);
	of_c = fab_node_text(f, c);
	cr_expect_str_eq(of_c, "other");
	cr_expect_str_eq(of_b, same);
	for (uint32_t port = 0; port < f->n_ports; port++) {
		OWN_HEAP char *text = fab_cable_text(f, port);

		cr_expect_eq(!text, fab_port_peer(f, port) == FAB_NONE);
		if (f->port_node[port] == c && text)
			cr_expect_str_eq(text, cable);
	}
	cr_expect_null(fab_cable_text(f, FAB_NONE));
}
