/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/fdbs.h"

#include "base/mem.h"
#include "export/lid_rows.h"
#include "unicast/faults.h"
#include "unicast/path.h"

#include <stdlib.h>
#include <string.h>

enum { NOT_SHORTEST = 0x8000, HOPS = 0x7fff, UNKNOWN = 0xffff };

/* Hops of every switch to `root` along a row, and whether the live graph needs fewer;
 * UNKNOWN: it does not get there. */
static void row_hops(const struct fab_routes *r, struct fab_walk *walk,
		     const uint16_t *next, uint32_t root, uint16_t *hops, uint32_t *dist)
{
	const struct fab_fabric *f = r->f;

	fab_walk_begin(walk, next, root);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint16_t h = fab_walk_hops(walk, s);

		hops[s] = h >= FAB_HOPS_NEVER ? UNKNOWN : h < HOPS ? h : HOPS - 1;
	}
	fab_faults_search(f, r->faults, root, dist, walk->order);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (hops[s] != UNKNOWN && hops[s] > dist[s])
			hops[s] |= NOT_SHORTEST;
}

static uint16_t *hops_of_rows(const struct fab_lid_rows *t)
{
	const struct fab_routes *r = t->routes;
	uint32_t n = r->f->n_switches, *dist = FAB_NEW(n, uint32_t);
	uint32_t *root = FAB_NEW(t->n_rows + 1, uint32_t);
	uint16_t *hops = FAB_NEW((size_t)t->n_rows * n + 1, uint16_t);
	struct fab_walk walk;

	fab_walk_init(&walk, r->f, r->faults);
	memset(root, 0xff, t->n_rows * sizeof(*root));
	for (uint32_t i = 0; i < t->n; i++)
		if (t->row[i] != FAB_NONE)
			root[t->row[i]] = t->sw[i];
	for (uint32_t row = 0; row < t->n_rows; row++) {
		if (root[row] == FAB_NONE)
			continue;
		row_hops(r, &walk, fab_lid_row(t, row), root[row], hops + (size_t)row * n,
			 dist);
	}
	free(root);
	fab_walk_fini(&walk);
	free(dist);
	return hops;
}

static void put_switch(FILE *out, const struct fab_lid_rows *t, const uint16_t *hops,
		       uint32_t sw)
{
	const struct fab_fabric *f = t->routes->f;

	fprintf(out,
		"dump_ucast_routes: Switch 0x%016llx\nLID    : Port : Hops : Optimal\n",
		(unsigned long long)f->node_guid[sw]);
	for (uint32_t i = 0; i < t->n; i++) {
		unsigned port = fab_lid_out(t, sw, i), h = UNKNOWN;
		bool is_adapter = !fab_node_is_switch(f, f->port_node[t->port[i]]);

		if (t->row[i] != FAB_NONE)
			h = hops[(size_t)t->row[i] * f->n_switches + sw];
		if (port == FAB_OUT_NONE || h == UNKNOWN)
			fprintf(out, "0x%04X : UNREACHABLE\n", t->lid[i]);
		else
			fprintf(out, "0x%04X : %03u  : %02u   : %s\n", t->lid[i], port,
				(h & HOPS) + is_adapter, h & NOT_SHORTEST ? "no" : "yes");
	}
	putc_unlocked('\n', out);
}

int fab_export_fdbs(FILE *out, const struct fab_routes *routes, struct fab_err *err)
{
	struct fab_lid_rows *t = NULL;
	int rc = fab_lid_rows_new(routes, &t, err);
	uint16_t *hops;

	if (rc)
		return rc;
	hops = hops_of_rows(t);
	for (uint32_t sw = 0; sw < routes->f->n_switches; sw++)
		if (fab_live_switch(routes, sw))
			put_switch(out, t, hops, sw);
	free(hops);
	fab_lid_rows_free(t);
	return 0;
}
