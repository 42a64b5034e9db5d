/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/lfts.h"

#include "base/text.h"
#include "export/lid_rows.h"

static const char *kind_text(const struct fab_fabric *f, uint32_t node)
{
	if (fab_node_is_switch(f, node))
		return "Switch";
	return f->node_kind[node] == FAB_ROUTER ? "Router" : "Channel Adapter";
}

/* OpenSM finds a destination again by its port GUID; that of a switch may be its own. */
static uint64_t guid_of(const struct fab_fabric *f, uint32_t port)
{
	uint32_t node = f->port_node[port];

	if (f->port_guid[port] || !fab_node_is_switch(f, node))
		return f->port_guid[port];
	return f->node_guid[node];
}

static void put_switch(FILE *out, const struct fab_lid_rows *t, uint32_t sw)
{
	const struct fab_fabric *f = t->routes->f;
	unsigned n = 0;

	fprintf(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016llx ('",
		t->n ? t->lid[t->n - 1] : 0, f->port_lid[f->node_first_port[sw]],
		(unsigned long long)f->node_guid[sw]);
	fab_text_put_blanked(out, fab_node_name(f, sw));
	fputs("'):\n", out);
	for (uint32_t i = 0; i < t->n; i++) {
		unsigned port = fab_lid_out(t, sw, i);
		uint32_t node = f->port_node[t->port[i]];

		if (port == FAB_OUT_NONE)
			continue;
		fprintf(out, "0x%04x %03u # %s portguid 0x%016llx: '", t->lid[i], port,
			kind_text(f, node), (unsigned long long)guid_of(f, t->port[i]));
		fab_text_put_blanked(out, fab_node_name(f, node));
		fputs("'\n", out);
		n++;
	}
	fprintf(out, "%u lids dumped\n", n);
}

int fab_export_lfts(FILE *out, const struct fab_routes *routes, struct fab_err *err)
{
	struct fab_lid_rows *t = NULL;
	int rc = fab_lid_rows_new(routes, &t, err);

	if (rc)
		return rc;
	for (uint32_t sw = 0; sw < routes->f->n_switches; sw++)
		if (fab_live_switch(routes, sw))
			put_switch(out, t, sw);
	fab_lid_rows_free(t);
	return 0;
}
