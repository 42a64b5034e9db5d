/* SPDX-License-Identifier: BSD-2-Clause */
/* What should be unique or present: LIDs, GUIDs, names. */
#include "fabric/check_impl.h"
#include "fabric/label.h"

#include <stdlib.h>
#include <string.h>

/* Does the port take part in the subnet: a switch's port 0, an adapter's cabled port? */
static bool is_end_port(const struct fab_fabric *f, uint32_t port)
{
	if (fab_node_is_switch(f, f->port_node[port]))
		return f->port_num[port] == 0;
	return f->port_cable[port] != FAB_NONE;
}

static bool has_lid(const struct fab_fabric *f, uint32_t port)
{
	return f->port_lid[port] != FAB_LID_NONE && f->port_lid[port] != UINT16_MAX;
}

static void check_missing_lids(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	bool any = false;

	for (uint32_t p = 0; p < f->n_ports && !any; p++)
		any = has_lid(f, p);
	if (!any) {
		fab_checker_add(
			c, FAB_NOTE, "missing-lids", FAB_AT_NODE(FAB_NONE),
			"no port has a LID: this input has none, or no subnet manager "
			"has been at work");
		return;
	}
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (is_end_port(f, p) && !has_lid(f, p))
			fab_checker_add(c, FAB_PROBLEM, "missing-lid",
					FAB_AT_PORT(f->port_node[p], p),
					"port %u of \"%s\" has no LID", f->port_num[p],
					fab_node_name(f, f->port_node[p]));
}

/* The LIDs of one port, in one part of the fabric: parts are subnets of their own, and so
 * are two adapters joined to each other. */
struct lids {
	uint32_t part, first, last, port;
};

static int by_lid(const void *x, const void *y)
{
	const struct lids *a = x, *b = y;

	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->port < b->port ? -1 : a->port > b->port;
}

/* At the first of two ports; about both. */
static struct fab_finding at_ports(const struct fab_fabric *f, uint32_t port,
				   uint32_t other)
{
	struct fab_finding at = FAB_AT_PORT(f->port_node[port], port);

	at.key = fab_check_key_ports(f, port, other);
	return at;
}

static void report_lids(struct fab_checker *c, const struct lids *lids, size_t n)
{
	const struct fab_fabric *f = c->f;
	size_t reaching = 0; /* the range so far that reaches farthest */

	for (size_t i = 1; i < n; i++) {
		const struct lids *a = &lids[reaching], *b = &lids[i];

		if (a->part == b->part && b->first <= a->last)
			fab_checker_add(
				c, FAB_PROBLEM, "duplicate-lid",
				at_ports(f, b->port, a->port),
				"LID %u belongs to port %u of \"%s\" and to port %u "
				"of \"%s\"",
				b->first, f->port_num[a->port],
				fab_node_name(f, f->port_node[a->port]),
				f->port_num[b->port],
				fab_node_name(f, f->port_node[b->port]));
		if (a->part != b->part || b->last > a->last)
			reaching = i;
	}
}

/* The number of the port's part; those behind n_parts are cables between adapters. */
static uint32_t part_of(const struct fab_fabric *f, const uint32_t *component,
			uint32_t n_parts, uint32_t port)
{
	uint32_t sw = fab_port_switch(f, port);

	return sw != FAB_NONE ? component[sw] : n_parts + f->port_cable[port];
}

static void check_duplicate_lids(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	uint32_t *component = FAB_NEW(f->n_switches, uint32_t);
	uint32_t n_parts = fab_fabric_components(f, component);
	struct lids *lids = FAB_NEW(f->n_ports, struct lids);
	size_t n = 0;

	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t lmc = f->port_lmc[p] <= 7 ? f->port_lmc[p] : 0;

		if (!is_end_port(f, p) || !has_lid(f, p))
			continue;
		lids[n++] = (struct lids){.part = part_of(f, component, n_parts, p),
					  .first = f->port_lid[p],
					  .last = f->port_lid[p] + (1u << lmc) - 1,
					  .port = p};
	}
	qsort(lids, n, sizeof(*lids), by_lid);
	report_lids(c, lids, n);
	free(lids);
	free(component);
}

struct guid {
	uint64_t guid;
	uint32_t id; /* node or port */
};

static int by_guid(const void *x, const void *y)
{
	const struct guid *a = x, *b = y;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static void check_node_guids(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	struct guid *g = FAB_NEW(f->n_nodes, struct guid);
	size_t n = 0, first = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (f->node_guid[i])
			g[n++] = (struct guid){f->node_guid[i], i};
	qsort(g, n, sizeof(*g), by_guid);
	for (size_t i = 1; i < n; i++) {
		if (g[i].guid != g[first].guid)
			first = i;
		else
			fab_checker_add(
				c, FAB_PROBLEM, "duplicate-guid", FAB_AT_NODE(g[i].id),
				"node GUID 0x%016llx belongs to \"%s\" and to \"%s\"",
				(unsigned long long)g[i].guid,
				fab_node_name(f, g[first].id), fab_node_name(f, g[i].id));
	}
	free(g);
}

static void check_port_guids(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	struct guid *g = FAB_NEW(f->n_ports, struct guid);
	size_t n = 0, first = 0;

	for (uint32_t p = 0; p < f->n_ports; p++)
		if (f->port_guid[p])
			g[n++] = (struct guid){f->port_guid[p], p};
	qsort(g, n, sizeof(*g), by_guid);
	for (size_t i = 1; i < n; i++) {
		uint32_t a = f->port_node[g[first].id], b = f->port_node[g[i].id];

		if (g[i].guid != g[first].guid)
			first = i;
		else if (a == b || f->node_guid[a] != f->node_guid[b])
			fab_checker_add(
				c, FAB_PROBLEM, "duplicate-port-guid",
				at_ports(f, g[i].id, g[first].id),
				"port GUID 0x%016llx belongs to port %u of \"%s\" and "
				"to port %u of \"%s\"",
				(unsigned long long)g[i].guid, f->port_num[g[first].id],
				fab_node_name(f, a), f->port_num[g[i].id],
				fab_node_name(f, b));
	}
	free(g);
}

static size_t trimmed_len(const char *s)
{
	size_t n = strlen(s);

	while (n && s[n - 1] == ' ')
		n--;
	return n;
}

static int name_cmp(const char *a, const char *b)
{
	size_t na = trimmed_len(a), nb = trimmed_len(b);
	int order = memcmp(a, b, na < nb ? na : nb);

	return order ? order : (na > nb) - (na < nb);
}

static int by_name(const void *x, const void *y, void *fabric)
{
	const struct fab_fabric *f = fabric;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int order = name_cmp(fab_node_name(f, a), fab_node_name(f, b));

	return order ? order : (a > b) - (a < b);
}

/* At the first of several nodes; about all of them. */
static struct fab_finding at_nodes(const struct fab_fabric *f, const uint32_t *nodes,
				   size_t n)
{
	struct fab_finding at = FAB_AT_NODE(nodes[0]);
	uint32_t *sorted = FAB_NEW(n, uint32_t);

	memcpy(sorted, nodes, n * sizeof(*sorted));
	at.key = fab_check_key_nodes(f, sorted, n);
	free(sorted);
	return at;
}

static void report_names(struct fab_checker *c, const char *what, const uint32_t *node,
			 size_t n)
{
	const struct fab_fabric *f = c->f;

	for (size_t i = 0, end; i < n; i = end) {
		const char *name = fab_node_name(f, node[i]);

		end = i + 1;
		while (end < n && !name_cmp(name, fab_node_name(f, node[end])))
			end++;
		if (end - i > 1)
			fab_checker_add(c, FAB_PROBLEM, "duplicate-name",
					at_nodes(f, node + i, end - i),
					"%zu %s are called \"%s\" (GUIDs 0x%016llx, "
					"0x%016llx%s)",
					end - i, what, name,
					(unsigned long long)f->node_guid[node[i]],
					(unsigned long long)f->node_guid[node[i + 1]],
					end - i > 2 ? ", ..." : "");
	}
}

/*
 * Adapters without a name of their own are told apart by GUID and noted elsewhere. Those
 * that have but the name of their host are no duplicates of each other: a node name map
 * gives it to all of them, and so do cards that are several nodes; the first one counts.
 */
static bool counts_for_names(const struct fab_fabric *f, uint32_t node, bool switches)
{
	uint32_t host = f->node_host[node];

	if (fab_node_is_switch(f, node))
		return switches;
	if (switches || host == FAB_NONE || fab_host_is_unnamed(f, host))
		return false;
	return name_cmp(fab_node_name(f, node), fab_host_name(f, host)) != 0 ||
	       f->host_adapter[f->host_first_adapter[host]] == node;
}

static void check_names(struct fab_checker *c, bool switches)
{
	const struct fab_fabric *f = c->f;
	uint32_t *node = FAB_NEW(f->n_nodes, uint32_t);
	size_t n = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (counts_for_names(f, i, switches))
			node[n++] = i;
	qsort_r(node, n, sizeof(*node), by_name, (void *)(uintptr_t)f);
	report_names(c, switches ? "switches" : "adapters", node, n);
	free(node);
}

void fab_check_ids(struct fab_checker *c)
{
	check_missing_lids(c);
	check_duplicate_lids(c);
	check_node_guids(c);
	check_port_guids(c);
	check_names(c, true);
	check_names(c, false);
}
