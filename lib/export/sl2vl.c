/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/sl2vl.h"

#include "base/map.h"
#include "base/mem.h"
#include "export/lid_rows.h"
#include "fabric/fabric.h"

#include <stdlib.h>

enum { N_SLS = 16 };

static void put_line(FILE *out, uint64_t guid, unsigned in, unsigned to,
		     const unsigned *vl)
{
	fprintf(out, "0x%016llx %u %u", (unsigned long long)guid, in, to);
	for (int sl = 0; sl < N_SLS; sl += 2)
		fprintf(out, " 0x%x%x", vl[sl] & 15, vl[sl + 1] & 15);
	putc_unlocked('\n', out);
}

/* The arc of a switch behind one of its ports, its number of arcs: none (an adapter, or
 * the switch itself). */
static uint32_t arc_of(const struct fab_fabric *f, uint32_t sw, uint32_t port)
{
	uint32_t d = f->arc_first[sw + 1] - f->arc_first[sw];

	for (uint32_t i = 0; i < d; i++)
		if (f->arc_cable[f->arc_first[sw] + i] == f->port_cable[port])
			return i;
	return d;
}

static bool is_live_port(const struct fab_routes *r, uint32_t port)
{
	return r->f->port_cable[port] != FAB_NONE &&
	       fab_live_cable(r, r->f->port_cable[port]);
}

static void put_switch(FILE *out, const struct fab_routes *r, uint32_t sw)
{
	const struct fab_fabric *f = r->f;
	uint32_t first = f->node_first_port[sw], n = f->node_first_port[sw + 1] - first;
	uint32_t *arc = FAB_NEW(n + 1, uint32_t);
	unsigned vl[N_SLS];

	for (uint32_t i = 0; i < n; i++)
		arc[i] = arc_of(f, sw, first + i);
	for (uint32_t in = 0; in < n; in++) {
		if (f->port_num[first + in] && !is_live_port(r, first + in))
			continue;
		for (uint32_t to = 0; to < n; to++) {
			if (!is_live_port(r, first + to))
				continue;
			for (unsigned sl = 0; sl < N_SLS; sl++)
				vl[sl] = fab_routes_vl(r, sw, arc[in], arc[to], sl);
			put_line(out, f->node_guid[sw], f->port_num[first + in],
				 f->port_num[first + to], vl);
		}
	}
	free(arc);
}

int fab_export_sl2vl(FILE *out, const struct fab_routes *r, struct fab_err *err)
{
	const struct fab_fabric *f = r->f;
	int rc = fab_guids_differ(f, f->n_nodes, "lanes of service levels", err);
	unsigned vl[N_SLS];

	if (rc)
		return rc;
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (fab_live_switch(r, sw))
			put_switch(out, r, sw);
	for (unsigned sl = 0; sl < N_SLS; sl++)
		vl[sl] = r->lanes == FAB_LANES_SL ? sl : 0;
	for (uint32_t node = f->n_switches; node < f->n_nodes; node++)
		for (uint32_t p = f->node_first_port[node];
		     p < f->node_first_port[node + 1]; p++)
			if (is_live_port(r, p))
				put_line(out, f->node_guid[node], 0, f->port_num[p], vl);
	return 0;
}
