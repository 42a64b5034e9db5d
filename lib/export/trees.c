/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast trees and lower bounds as JSON lines, traces of requests as text. */
#include "export/tables.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"
#include "present/jsonl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An edge of a tree, to be sorted by its cable. */
struct edge {
	uint32_t cable, child;
};

FAB_ORDER(by_cable, struct edge, cable)

static void add_end(json_t *list, const struct fab_fabric *f, uint32_t port)
{
	json_array_append_new(list, fab_json_guid(f->node_guid[f->port_node[port]]));
	json_array_append_new(list, fab_json_uint(f->port_num[port]));
}

/* [[switch GUID, port, switch GUID, port]...] by cable, the end nearer to the root first.
 */
static json_t *links_of(const struct fab_fabric *f, const struct fab_forest *t,
			uint32_t group)
{
	uint32_t n = fab_forest_size(t, group);
	FAB_AUTOFREE struct edge *edges = FAB_NEW(n, struct edge);
	json_t *links = json_array();

	for (uint32_t i = 0; i < n; i++)
		edges[i] = (struct edge){t->cable[t->first[group] + i],
					 t->sw[t->first[group] + i]};
	qsort(edges, n, sizeof(*edges), by_cable);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t a = f->cable_a[edges[i].cable], b = f->cable_b[edges[i].cable];
		bool a_is_child = f->port_node[a] == edges[i].child;
		json_t *link = json_array();

		add_end(link, f, a_is_child ? b : a);
		add_end(link, f, a_is_child ? a : b);
		json_array_append_new(links, link);
	}
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
		json_t *line = json_pack(
			"{s:o, s:o, s:o, s:o, s:o, s:o}", "algorithm",
			fab_json_text(result->engine->name), "group",
			fab_json_text(fab_group_name(problem->groups, i)), "root",
			fab_json_guid(f->node_guid[t->root[i]]), "height",
			fab_json_uint(t->height[i]), "links", links_of(f, t, i), "hosts",
			hosts_of(f, problem->groups, i));

		rc = fab_jsonl_write(out, line, err);
	}
	return rc;
}

static json_t *numbers(const uint32_t *v, uint64_t n)
{
	json_t *list = json_array();

	for (uint64_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer(v[i]));
	return list;
}

static json_t *fabric_line(const struct fab_fabric *f, uint32_t *place)
{
	json_t *guids = json_array(), *cables = json_array();
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->n_switches; s++)
		json_array_append_new(guids, fab_json_guid(f->node_guid[s]));
	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		const uint32_t ends[] = {f->port_node[f->cable_a[c]],
					 f->port_node[f->cable_b[c]]};

		place[c] = n;
		if (ends[0] == ends[1])
			continue;
		n++;
		json_array_append_new(cables, numbers(ends, 2));
	}
	return json_pack("{s:o, s:o}", "switches", guids, "cables", cables);
}

static json_t *bound_line(const struct fab_mcast_problem *p, const struct fab_bound *b,
			  const uint32_t *place)
{
	const struct fab_fabric *f = p->f;
	json_t *list = json_array(), *groups;
	json_t *line =
		json_pack("{s:s, s:i, s:s, s:b}", "bound", fab_bound_name(b->kind),
			  "value", b->value, "holds_for",
			  fab_bound_is_low_only(b->kind) ? "minimal height" : "any trees",
			  "complete", !b->is_cut_short);

	switch (b->kind) {
	case FAB_BOUND_CUT: /* the switches of the set */
		for (uint32_t s = 0; s < f->n_switches; s++)
			if (b->part[s] == 0)
				json_array_append_new(list, json_integer(s));
		json_object_set(line, "inside", list);
		break;
	case FAB_BOUND_PARTS: /* the part of each switch, null for none */
		for (uint32_t s = 0; s < f->n_switches; s++)
			json_array_append_new(list, b->part[s] == FAB_NONE
							    ? json_null()
							    : json_integer(b->part[s]));
		json_object_set(line, "parts", list);
		break;
	case FAB_BOUND_FORCED: /* weight of each cable, in the order of the fabric's line
				*/
		for (uint32_t c = 0; c < f->n_switch_links; c++)
			if (f->port_node[f->cable_a[c]] != f->port_node[f->cable_b[c]])
				json_array_append_new(list, json_integer(b->weight[c]));
		break;
	case FAB_BOUND_MATCHING:
		for (uint32_t i = 0; i < b->n_cables; i++)
			json_array_append_new(list, json_integer(place[b->cable[i]]));
		break;
	default:
		break;
	}
	groups = b->first ? json_array() : NULL;
	for (uint32_t g = 0; groups && g < p->groups->n; g++)
		json_array_append_new(groups, numbers(b->turn + b->first[g],
						      b->first[g + 1] - b->first[g]));
	if (groups)
		json_object_set_new(line, "turns", groups);
	if (b->kind == FAB_BOUND_FORCED)
		json_object_set(line, "weights", list);
	if (b->kind == FAB_BOUND_MATCHING) {
		json_object_set_new(line, "switch", json_integer(b->sw));
		json_object_set_new(line, "groups", numbers(b->group, b->n_groups));
		json_object_set(line, "cables", list);
	}
	json_decref(list);
	return line;
}

int fab_export_bounds(FILE *out, const struct fab_mcast_problem *p,
		      const struct fab_bound *bounds, size_t n_bounds,
		      struct fab_err *err)
{
	const struct fab_groups *g = p->groups;
	FAB_AUTOFREE uint32_t *place =
		FAB_NEW((size_t)p->f->n_switch_links + 1, uint32_t);
	int rc = fab_jsonl_write(out, fabric_line(p->f, place), err);

	for (uint32_t i = 0; i < g->n && !rc; i++) {
		json_t *line = json_pack(
			"{s:o, s:o}", "group", fab_json_text(fab_group_name(g, i)),
			"switches",
			numbers(g->sw + g->sw_first[i], fab_group_n_switches(g, i)));

		rc = fab_jsonl_write(out, line, err);
	}
	for (size_t i = 0; i < n_bounds && !rc; i++)
		if (bounds[i].kind != FAB_BOUND_NONE)
			rc = fab_jsonl_write(out, bound_line(p, &bounds[i], place), err);
	return rc;
}

enum { NS = 1000000000 };

static void write_name(FILE *out, const char *name, bool is_quoted)
{
	size_t size = 4 * strlen(name) + 8;
	FAB_AUTOFREE char *safe = fab_text_safe(name, fab_alloc(size, 1), size);

	fprintf(out, is_quoted ? "\"%s\"" : "%s", safe);
}

int fab_export_events(FILE *out, const struct fab_fabric *f,
		      const struct fab_events *events, struct fab_err *err)
{
	fputs("# TIME join GROUP MEMBER COUNT [lost] | TIME leave GROUP MEMBER [lost]\n",
	      out);
	for (size_t i = 0; i < events->n && !ferror(out); i++) {
		const struct fab_event *e = &events->v[i];
		const char *name;
		uint32_t port;

		fprintf(out, "%" PRIu64 ".%09" PRIu64 "s %s ", e->time_ns / NS,
			e->time_ns % NS, e->is_leave ? "leave" : "join");
		name = fab_group_name(events->groups, e->group);
		write_name(out, name,
			   !*name || *name == '"' || *name == '#' ||
				   strpbrk(name, " \t\r"));
		fputc(' ', out);
		port = events->groups->member[e->seat];
		if (f->port_guid[port])
			fprintf(out, "0x%016" PRIx64, f->port_guid[port]);
		else
			write_name(out, fab_node_name(f, f->port_node[port]), true);
		if (!e->is_leave)
			fprintf(out, " %" PRIu32, e->count);
		fputs(e->is_lost ? " lost\n" : "\n", out);
	}
	if (ferror(out))
		return fab_fail(err, errno ? errno : EIO, "cannot write: %s",
				strerror(errno ? errno : EIO));
	return 0;
}
