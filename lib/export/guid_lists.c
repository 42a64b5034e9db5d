/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/tables.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"
#include "fabric/graph.h"
#include "fabric/label.h"
#include "fabric/ranks.h"
#include "unicast/engine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	uint64_t guid;
	uint32_t node;
};

FAB_ORDER(by_guid, struct entry, guid, node)

static void put_entries(FILE *out, const struct fab_fabric *f, struct entry *v, size_t n)
{
	char safe[4 * FAB_LABEL_SIZE];

	qsort(v, n, sizeof(*v), by_guid);
	for (size_t i = 0; i < n; i++) {
		fab_text_safe(fab_node_name(f, v[i].node), safe, sizeof(safe));
		fprintf(out, "0x%016llx %s\n", (unsigned long long)v[i].guid, safe);
	}
}

/* rank[switch], the caller's: 0 for the roots of the trees, FAB_NONE for others. */
static int find_roots(const struct fab_fabric *f, uint32_t *rank, const char *what,
		      struct fab_err *err)
{
	FAB_AUTO(fab_shape_free_at) struct fab_shape *shape = fab_shape_recognize(f);
	const char *name = fab_shape_name(shape->kind);
	FAB_AUTO(fab_ranks_fini) struct fab_ranks ranks;
	int rc = 0;

	fab_ranks_init(&ranks, f, shape);
	if (!ranks.n_roots)
		rc = fab_fail(
			err, EINVAL,
			"%s: no %s: the switches of a %s stand in no ranks; updn and ftree are for trees",
			f->source, what, name ? name : "fabric of no known shape");
	for (uint32_t s = 0; s < f->n_switches; s++)
		rank[s] = ranks.is_root[s] ? 0 : FAB_NONE;
	return rc;
}

/* EINVAL where updn finds no path from these roots for a pair of hosts that cables join.
 */
static int check_roots(const struct fab_fabric *f, const uint32_t *roots, uint32_t n,
		       int n_threads, struct fab_err *err)
{
	const struct fab_updn_loss loss =
		fab_updn_try_roots(f, NULL, roots, n, n_threads);
	FAB_AUTOFREE uint32_t *none = fab_none_new(f->n_switches);
	FAB_AUTOFREE uint32_t *root = FAB_NEW(f->n_switches, uint32_t);
	FAB_AUTOFREE char *text = NULL;

	if (!loss.pairs)
		return 0;
	if (fab_updn_fill_roots(f, NULL, none, root, 0) == 1 &&
	    !fab_updn_try_roots(f, NULL, root, 1, n_threads).pairs)
		text = fab_format("; with the one root '%.64s' (0x%016" PRIx64
				  ") every pair has one",
				  fab_node_name(f, *root), f->node_guid[*root]);
	return fab_fail(
		err, EINVAL,
		"%s: no roots: with the %" PRIu32
		" switch%s of the top rank as roots updn leaves %" PRIu64 " of %" PRIu64
		" pairs of host ports without a path, such as '%.64s' to '%.64s'%s",
		f->source, n, n == 1 ? "" : "es", loss.pairs, loss.all,
		fab_node_name(f, loss.from), fab_node_name(f, loss.to), text ? text : "");
}

int fab_export_root_guids(FILE *out, const struct fab_fabric *f, int n_threads,
			  struct fab_err *err)
{
	FAB_AUTOFREE uint32_t *rank = FAB_NEW(f->n_switches, uint32_t);
	uint32_t n = 0;
	FAB_AUTOFREE uint32_t *roots = FAB_NEW(f->n_switches, uint32_t);
	FAB_AUTOFREE struct entry *v = FAB_NEW(f->n_switches, struct entry);
	int rc = find_roots(f, rank, "roots", err);

	for (uint32_t s = 0; !rc && s < f->n_switches; s++)
		if (!rank[s]) {
			v[n] = (struct entry){f->node_guid[s], s};
			roots[n++] = s;
		}
	if (!rc)
		rc = check_roots(f, roots, n, n_threads, err);
	if (!rc) {
		fputs("# root_guid_file of OpenSM: switches of the top rank\n", out);
		put_entries(out, f, v, n);
	}
	return rc;
}

/* The rank of the switch at a cable of a host adapter; FAB_NONE: without a rank, or no
 * host. */
static uint32_t rank_of_host(const struct fab_fabric *f, const uint32_t *rank,
			     uint32_t cable)
{
	if (f->node_kind[f->port_node[f->cable_b[cable]]] != FAB_ADAPTER)
		return FAB_NONE;
	return rank[f->port_node[f->cable_a[cable]]];
}

int fab_export_cn_guids(FILE *out, const struct fab_fabric *f, uint32_t *n_left_out,
			struct fab_err *err)
{
	FAB_AUTOFREE uint32_t *rank = FAB_NEW(f->n_switches, uint32_t);
	int rc = find_roots(f, rank, "compute nodes", err);

	const struct fab_graph arcs = fab_graph_of_arcs(f);
	FAB_AUTOFREE uint32_t *order = FAB_NEW(f->n_switches, uint32_t);
	FAB_AUTOFREE struct entry *v = FAB_NEW(f->n_host_links, struct entry);
	uint32_t first = f->n_switch_links, end = first + f->n_host_links;
	uint32_t n = 0, lowest = 0;
	size_t count = 0;

	*n_left_out = 0;
	if (rc)
		return rc;
	/* Hops from the switches of rank 0 to all others. */
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (!rank[s])
			order[n++] = s;
	fab_graph_search(&arcs, NULL, n, rank, order, NULL);
	for (uint32_t c = first; c < end; c++) {
		uint32_t r = rank_of_host(f, rank, c);

		if (r != FAB_NONE && r > lowest)
			lowest = r;
	}
	for (uint32_t c = first; c < end; c++) {
		uint32_t port = f->cable_b[c];

		if (f->node_kind[f->port_node[port]] != FAB_ADAPTER)
			continue;
		if (rank_of_host(f, rank, c) == lowest)
			v[count++] =
				(struct entry){f->port_guid[port], f->port_node[port]};
		else
			++*n_left_out;
	}
	fputs("# cn_guid_file of OpenSM: ports of hosts on leaf switches\n", out);
	put_entries(out, f, v, count);
	return 0;
}
