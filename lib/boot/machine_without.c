/* SPDX-License-Identifier: BSD-2-Clause */
/* A machine that some of its nodes have been taken from. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boot/machine_impl.h"
#include "boot/machine_names.h"

int fab_machine_find_nodes(const struct fab_machine *m, const char *list, bool *mark,
			   struct fab_matches *matches, struct fab_err *err)
{
	struct fab_machine_names *names = fab_machine_names_new(m);
	const struct fab_lookup nodes = fab_machine_node_lookup(names);
	struct fab_ids ids = {0};
	int rc = fab_lookup_list(&nodes, list, strlen(list), &ids, matches, err);

	for (size_t i = 0; i < ids.of.n && !rc; i++)
		mark[ids.of.v[i]] = true;
	free(ids.of.v);
	fab_machine_names_free(names);
	return rc;
}

/* The vertices that stay as raw ones: numbers are made of their places. */
static void add_vertices(const struct fab_machine *m, const bool *is_gone,
			 struct fab_machine_builder *b)
{
	uint32_t *place = FAB_NEW(m->n_vertices, uint32_t), node = 0, interface = 0;
	char name[256];

	place[0] = 0;
	for (uint32_t v = 1; v < m->n_vertices; v++) {
		bool is_node = node < m->n_nodes && m->node_vertex[node] == v;
		bool is_interface = interface < m->n_interfaces &&
				    m->interface_vertex[interface] == v;
		struct fab_raw_vertex raw = {.parent = place[m->parent[v]],
					     .capacity_mbps = m->capacity_mbps[v],
					     .owner = FAB_NONE,
					     .port = FAB_NONE,
					     .level = m->level_of[v]};

		if (is_node && is_gone[node++])
			continue;
		if (is_node) {
			raw.kind = FAB_VERTEX_NODE;
			raw.owner = m->node_host[node - 1];
			raw.port = m->node_port[node - 1];
			raw.name = fab_strdup(
				fab_machine_node_name(m, node - 1, name, sizeof(name)));
		} else if (is_interface) {
			raw.kind = FAB_VERTEX_INTERFACE;
			raw.owner = m->interface_server[interface];
			raw.port = m->interface_port[interface];
			raw.name = fab_strdup(fab_machine_interface_name(
				m, interface++, name, sizeof(name)));
		} else if (m->name[v] != FAB_NONE) {
			raw.name = fab_strdup(m->names + m->name[v]);
		}
		place[v] = (uint32_t)b->raw.n;
		FAB_PUSH(&b->raw, raw);
	}
	free(place);
}

int fab_machine_without(struct fab_machine *m, const bool *is_gone, uint32_t *old_node,
			struct fab_machine **out, struct fab_err *err)
{
	struct fab_machine_builder b;
	uint32_t n = 0;
	int rc;

	fab_machine_builder_init(&b);
	free(b.level[0].unit);
	free(b.level[0].segment);
	b.n_levels = m->n_levels;
	for (uint32_t l = 0; l < m->n_levels; l++) {
		b.level[l] = m->level[l];
		b.level[l].unit = fab_strdup(m->level[l].unit);
		b.level[l].segment = fab_strdup(m->level[l].segment);
	}
	add_vertices(m, is_gone, &b);
	b.n_servers = m->n_servers;
	if (m->server_host) {
		b.server_host = FAB_NEW((size_t)m->n_servers + 1, uint32_t);
		memcpy(b.server_host, m->server_host,
		       m->n_servers * sizeof(*m->server_host));
	}
	rc = fab_machine_builder_finish(&b, m->source, out, err);
	if (rc)
		return rc;
	(*out)->n_unnamed = m->n_unnamed;
	(*out)->fabric = m->fabric;
	(*out)->limits = m->limits;
	(*out)->resolver = m->resolver;
	m->resolver = NULL;
	memcpy((*out)->server_is_down, m->server_is_down,
	       m->n_servers * sizeof(*m->server_is_down));
	for (uint32_t i = 0; i < m->n_nodes; i++)
		if (!is_gone[i])
			old_node[n++] = i;
	return 0;
}
