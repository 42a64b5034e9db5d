/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Edits of a small fabric with odd names: the first byte says whether the rest is a text
 * or a file. What is left is a fabric in which no port has two cables, and each end of a
 * cable can be named and taken out.
 */
#include "fabric/edit.h"
#include "small.h"

static void expect_sound(const struct fab_fabric *f)
{
	for (uint32_t i = 0; i < f->n_warnings; i++)
		NEVER(strcmp(f->warnings[i].code, "duplicate-guid") != 0);
	for (uint32_t c = 0; c < f->n_cables; c++) {
		uint32_t a = f->cable_a[c], b = f->cable_b[c];

		NEVER(f->port_cable[a] != c || f->port_cable[b] != c ||
		      f->port_node[a] == f->port_node[b] ||
		      f->port_num[a] > f->node_n_ports[f->port_node[a]] ||
		      f->port_num[b] > f->node_n_ports[f->port_node[b]]);
	}
}

/* Every cable at a switch, by the name of its end there, can be removed. */
static void remove_each(const struct fab_fabric *f)
{
	FAB_AUTO(fab_resolver_free_at) struct fab_resolver *r = fab_resolver_new(f);

	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		uint32_t port = f->cable_a[c];
		FAB_AUTOFREE char *end = fab_editor_end_text(
			f, r, (struct fab_socket){f->port_node[port], f->port_num[port]});
		FAB_AUTOFREE char *text = fab_format("remove %s", end);
		struct fab_editor *e = fab_editor_new(f);

		OK(fab_editor_add(e, text, strlen(text), ERR));
		fab_editor_free(e);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *out = NULL;
	const char *text = (const char *)bytes + 1;
	struct fab_editor *e;

	if (!n)
		return 0;
	e = fab_editor_new(fuzz_small_fabric());
	NEVER(!is_refused(bytes[0] == 'F'
				  ? fab_editor_add_lines(e, "plan", text, n - 1, ERR)
				  : fab_editor_add(e, text, n - 1, ERR)) &&
	      !fab_editor_count(e));
	if (!is_refused(fab_editor_finish(e, NULL, &out, ERR))) {
		expect_sound(out);
		remove_each(out);
	}
	fab_editor_free(e);
	return 0;
}
