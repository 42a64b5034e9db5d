/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/excerpt.h"

#include "base/mem.h"
#include "base/order.h"
#include "fabric/builder.h"

#include <stdlib.h>
#include <string.h>

struct fab_excerpts {
	const struct fab_fabric *f;
	const struct fab_planes *planes;
	uint32_t *first, *sw; /* switches of each part, ascending */
	uint32_t *id;	      /* [n_nodes] in the excerpt at hand, else FAB_NONE */
	FAB_VEC(uint32_t) nodes;
};

struct fab_excerpts *fab_excerpts_new(const struct fab_fabric *f,
				      const struct fab_planes *planes)
{
	struct fab_excerpts *e = FAB_NEW0(1, struct fab_excerpts);
	uint32_t *at = FAB_NEW(planes->n, uint32_t), n = 0;

	e->f = f;
	e->planes = planes;
	e->first = FAB_NEW((size_t)planes->n + 1, uint32_t);
	e->sw = FAB_NEW(f->n_switches, uint32_t);
	e->id = FAB_NEW(f->n_nodes, uint32_t);
	memset(e->id, 0xff, f->n_nodes * sizeof(*e->id));
	for (uint32_t i = 0; i < planes->n; i++) {
		e->first[i] = at[i] = n;
		n += planes->v[i].n_switches;
	}
	e->first[planes->n] = n;
	for (uint32_t s = 0; s < f->n_switches; s++)
		e->sw[at[planes->of_switch[s]]++] = s;
	free(at);
	return e;
}

void fab_excerpts_free(struct fab_excerpts *e)
{
	if (!e)
		return;
	free(e->first);
	free(e->sw);
	free(e->id);
	free(e->nodes.v);
	free(e);
}

/* The switches of a part, then what hangs on them, each ascending. */
static void list_nodes(struct fab_excerpts *e, uint32_t part)
{
	const struct fab_fabric *f = e->f;
	uint32_t n_switches = e->first[part + 1] - e->first[part];

	e->nodes.n = 0;
	for (uint32_t i = e->first[part]; i < e->first[part + 1]; i++)
		FAB_PUSH(&e->nodes, e->sw[i]);
	for (uint32_t i = 0; i < n_switches; i++) {
		uint32_t s = e->nodes.v[i];

		for (uint32_t p = f->node_first_port[s]; p < f->node_first_port[s + 1];
		     p++) {
			uint32_t peer = fab_port_peer(f, p), node;

			if (peer == FAB_NONE)
				continue;
			node = f->port_node[peer];
			if (fab_node_is_switch(f, node) || e->id[node] != FAB_NONE)
				continue;
			e->id[node] = 0; /* listed */
			FAB_PUSH(&e->nodes, node);
		}
	}
	if (e->nodes.n > n_switches)
		qsort(e->nodes.v + n_switches, e->nodes.n - n_switches,
		      sizeof(*e->nodes.v), fab_cmp_u32);
}

struct fab_fabric *fab_excerpt(struct fab_excerpts *e, uint32_t part)
{
	const struct fab_plane *v = &e->planes->v[part];
	struct fab_builder *b;
	struct fab_fabric *out = NULL;
	const struct fab_fabric *f = e->f;

	if (!v->n_switch_links && !v->n_host_links)
		return NULL;
	b = fab_builder_new();
	list_nodes(e, part);
	for (size_t i = 0; i < e->nodes.n; i++)
		e->id[e->nodes.v[i]] = fab_builder_copy_node(b, e->f, e->nodes.v[i]);
	/* All cables of the part are at its switches. */
	for (uint32_t k = e->first[part]; k < e->first[part + 1]; k++) {
		uint32_t s = e->sw[k];

		for (uint32_t p = f->node_first_port[s]; p < f->node_first_port[s + 1];
		     p++)
			if (f->port_cable[p] != FAB_NONE &&
			    f->cable_a[f->port_cable[p]] == p)
				fab_builder_copy_cable(b, f, f->port_cable[p], e->id);
	}
	for (size_t i = 0; i < e->nodes.n; i++)
		e->id[e->nodes.v[i]] = FAB_NONE;
	if (fab_builder_finish(b, e->f->source, e->f->format, NULL, &out, NULL))
		return NULL;
	return out;
}
