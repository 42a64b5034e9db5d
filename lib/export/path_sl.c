/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/path_sl.h"

#include "base/map.h"
#include "base/mem.h"
#include "export/lid_rows.h"
#include "fabric/fabric.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t switch_of(const struct fab_routes *r, uint32_t node)
{
	const struct fab_fabric *f = r->f;

	for (uint32_t p = f->node_first_port[node]; p < f->node_first_port[node + 1];
	     p++) {
		uint32_t sw = fab_port_switch(f, p);

		if (sw != FAB_NONE && fab_live_switch(r, sw) &&
		    fab_live_cable(r, f->port_cable[p]))
			return sw;
	}
	return FAB_NONE;
}

/* Index of each node in sl_source. */
static uint32_t *sources(const struct fab_routes *r)
{
	uint32_t *source = FAB_NEW(r->f->n_nodes, uint32_t);

	memset(source, 0xff, r->f->n_nodes * sizeof(*source));
	for (uint32_t i = 0; i < r->n_sl_sources; i++)
		source[r->sl_source[i]] = i;
	return source;
}

static void put_adapter(FILE *out, const struct fab_lid_rows *t, uint32_t node,
			uint32_t source)
{
	const struct fab_routes *r = t->routes;
	unsigned long long guid = r->f->node_guid[node];

	for (uint32_t i = 0; i < t->n; i++) {
		unsigned sl = 0;

		if (r->sl && source != FAB_NONE && t->row[i] < r->n_columns)
			sl = r->sl[(size_t)source * r->n_columns + t->row[i]];
		fprintf(out, "0x%016llx %u %u\n", guid, t->lid[i], sl);
	}
}

static bool has_none(const struct fab_routes *r)
{
	size_t n = r->sl ? (size_t)r->n_sl_sources * r->n_columns : 0;

	return n && memchr(r->sl, FAB_SL_NONE, n);
}

int fab_export_path_sl(FILE *out, const struct fab_routes *r, struct fab_err *err)
{
	struct fab_lid_rows *t = NULL;
	int rc = fab_lid_rows_new(r, &t, err);
	uint32_t *source;

	if (rc)
		return rc;
	rc = fab_guids_differ(r->f, r->f->n_nodes, "service levels", err);
	if (rc) {
		fab_lid_rows_free(t);
		return rc;
	}
	if (has_none(r)) {
		fab_lid_rows_free(t);
		return fab_fail(err, EINVAL,
				"pairs without a service level cannot be written: more "
				"virtual lanes are needed");
	}
	source = sources(r);
	for (uint32_t node = r->f->n_switches; node < r->f->n_nodes; node++) {
		uint32_t sw = switch_of(r, node);

		if (sw != FAB_NONE)
			put_adapter(out, t, node,
				    source[source[node] != FAB_NONE ? node : sw]);
	}
	free(source);
	fab_lid_rows_free(t);
	return 0;
}
