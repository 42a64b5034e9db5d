/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/trees.h"

#include "base/mem.h"
#include "present/jsonl.h"

#include <stdlib.h>

/* An edge of a tree, to be sorted by its cable. */
struct edge {
	uint32_t cable, child;
};

static int by_cable(const void *x, const void *y)
{
	const struct edge *a = x, *b = y;

	return (a->cable > b->cable) - (a->cable < b->cable);
}

static void add_end(json_t *list, const struct fab_fabric *f, uint32_t port)
{
	json_array_append_new(list, fab_json_guid(f->node_guid[f->port_node[port]]));
	json_array_append_new(list, fab_json_uint(f->port_num[port]));
}

static json_t *link_of(const struct fab_fabric *f, const struct edge *e)
{
	uint32_t a = f->cable_a[e->cable], b = f->cable_b[e->cable];
	bool a_is_child = f->port_node[a] == e->child;
	json_t *link = json_array();

	add_end(link, f, a_is_child ? b : a);
	add_end(link, f, a_is_child ? a : b);
	return link;
}

static json_t *links_of(const struct fab_fabric *f, const struct fab_forest *t,
			uint32_t group)
{
	uint32_t n = fab_forest_size(t, group);
	struct edge *edges = FAB_NEW(n, struct edge);
	json_t *links = json_array();

	for (uint32_t i = 0; i < n; i++) {
		edges[i].cable = t->cable[t->first[group] + i];
		edges[i].child = t->sw[t->first[group] + i];
	}
	qsort(edges, n, sizeof(*edges), by_cable);
	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(links, link_of(f, &edges[i]));
	free(edges);
	return links;
}

static json_t *hosts_of(const struct fab_fabric *f, const struct fab_groups *g,
			uint32_t group)
{
	json_t *hosts = json_array();

	for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++) {
		uint32_t port = g->member[m];
		bool is_switch = fab_node_is_switch(f, f->port_node[port]);
		json_t *host = json_array();

		add_end(host, f, is_switch ? port : fab_port_peer(f, port));
		json_array_append_new(host, fab_json_guid(f->port_guid[port]));
		json_array_append_new(hosts, host);
	}
	return hosts;
}

int fab_export_trees(FILE *out, const struct fab_mcast_problem *problem,
		     const struct fab_mcast_result *result, struct fab_err *err)
{
	const struct fab_fabric *f = problem->f;
	const struct fab_forest *t = &result->forest;
	int rc = 0;

	for (uint32_t i = 0; i < t->n && !rc; i++) {
		json_t *line = json_object();

		json_object_set_new(line, "algorithm",
				    fab_json_text(result->engine->name));
		json_object_set_new(line, "group",
				    fab_json_text(fab_group_name(problem->groups, i)));
		json_object_set_new(line, "root",
				    fab_json_guid(f->node_guid[t->root[i]]));
		json_object_set_new(line, "height", fab_json_uint(t->height[i]));
		json_object_set_new(line, "links", links_of(f, t, i));
		json_object_set_new(line, "hosts", hosts_of(f, problem->groups, i));
		rc = fab_jsonl_write(out, line, err);
	}
	return rc;
}
