/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/guid_lists.h"

#include "base/mem.h"
#include "base/text.h"
#include "fabric/label.h"
#include "fabric/tiers.h"

#include <errno.h>
#include <stdlib.h>

struct entry {
	uint64_t guid;
	uint32_t node;
};

static int by_guid(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static void put_entries(FILE *out, const struct fab_fabric *f, struct entry *v, size_t n)
{
	char safe[4 * FAB_LABEL_SIZE];

	qsort(v, n, sizeof(*v), by_guid);
	for (size_t i = 0; i < n; i++) {
		fab_text_safe(fab_node_name(f, v[i].node), safe, sizeof(safe));
		fprintf(out, "0x%016llx %s\n", (unsigned long long)v[i].guid, safe);
	}
}

int fab_export_root_guids(FILE *out, const struct fab_fabric *f, struct fab_err *err)
{
	struct fab_shape *shape = fab_shape_recognize(f);
	uint32_t *tier = FAB_NEW(f->n_switches, uint32_t);
	struct entry *v = FAB_NEW(f->n_switches, struct entry);
	uint32_t top = fab_tiers_top(f, shape, tier);
	const char *name = fab_shape_name(shape->kind);
	size_t n = 0;
	int rc = 0;

	if (top == FAB_NONE)
		rc = fab_fail(err, EINVAL,
			      "%s: no roots: the switches of a %s stand in no ranks; "
			      "updn and ftree are for trees",
			      f->source, name ? name : "fabric of no known shape");
	for (uint32_t s = 0; !rc && s < f->n_switches; s++)
		if (tier[s] == top)
			v[n++] = (struct entry){f->node_guid[s], s};
	if (!rc) {
		fputs("# root_guid_file of OpenSM: switches of the top rank\n", out);
		put_entries(out, f, v, n);
	}
	free(v);
	free(tier);
	fab_shape_free(shape);
	return rc;
}

void fab_export_cn_guids(FILE *out, const struct fab_fabric *f)
{
	struct entry *v = FAB_NEW(f->n_host_links, struct entry);
	size_t n = 0;

	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links;
	     c++) {
		uint32_t port = f->cable_b[c];

		if (f->node_kind[f->port_node[port]] == FAB_ADAPTER)
			v[n++] = (struct entry){f->port_guid[port], f->port_node[port]};
	}
	fputs("# cn_guid_file of OpenSM: ports of hosts\n", out);
	put_entries(out, f, v, n);
	free(v);
}
