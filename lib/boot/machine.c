/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/machine.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/machine_impl.h"
#include "boot/machine_names.h"
#include "fabric/resolver.h"

/* Length of the singular: boards -> board, switches -> switch, boxes -> box; class and
 * chassis are one as they are. */
static size_t singular(const char *unit, size_t len)
{
	static const char *const es[] = {"ches", "shes", "xes", "sses"};

	for (size_t i = 0; i < FAB_COUNT(es); i++) {
		size_t n = strlen(es[i]);

		if (len > n && !strncmp(unit + len - n, es[i], n))
			return len - 2;
	}
	if (len > 1 && unit[len - 1] == 's' && unit[len - 2] != 's' &&
	    unit[len - 2] != 'i')
		return len - 1;
	return len;
}

void fab_machine_builder_init(struct fab_machine_builder *b)
{
	*b = (struct fab_machine_builder){.n_levels = 1};
	b->level[0] = (struct fab_machine_level){.unit = fab_strdup("core"),
						 .segment = fab_strdup("core")};
	FAB_PUSH(&b->raw, ((struct fab_raw_vertex){.parent = FAB_NONE,
						   .owner = FAB_NONE,
						   .port = FAB_NONE,
						   .capacity_mbps = INFINITY}));
}

uint32_t fab_machine_builder_level(struct fab_machine_builder *b, const char *unit,
				   size_t len, bool is_server)
{
	size_t n = singular(unit, len);

	for (uint32_t i = 0; i < b->n_levels; i++)
		if (strlen(b->level[i].unit) == n && !strncmp(b->level[i].unit, unit, n))
			return i;
	if (b->n_levels == FAB_MACHINE_LEVELS_MAX)
		return FAB_NONE;
	b->level[b->n_levels] =
		(struct fab_machine_level){.unit = fab_strndup(unit, n),
					   .segment = fab_strndup(unit, n),
					   .is_server = is_server};
	return b->n_levels++;
}

void fab_machine_builder_fini(struct fab_machine_builder *b)
{
	for (size_t i = 0; i < b->raw.n; i++)
		free(b->raw.v[i].name);
	free(b->raw.v);
	for (uint32_t i = 0; i < b->n_levels; i++) {
		free(b->level[i].unit);
		free(b->level[i].segment);
	}
	for (size_t i = 0; i < b->warnings.n; i++)
		free(b->warnings.v[i]);
	free(b->warnings.v);
	free(b->server_host);
	fab_resolver_free(b->resolver);
	*b = (struct fab_machine_builder){0};
}

void fab_machine_free(struct fab_machine *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->n_levels; i++) {
		free(m->level[i].unit);
		free(m->level[i].segment);
	}
	for (uint32_t i = 0; i < m->n_warnings; i++)
		free(m->warnings[i]);
	free(m->warnings);
	free(m->source);
	free(m->parent);
	free(m->level_of);
	free(m->number);
	free(m->capacity_mbps);
	free(m->name);
	free(m->first_node);
	free(m->end_node);
	free(m->first_interface);
	free(m->end_interface);
	free(m->node_vertex);
	free(m->node_host);
	free(m->node_port);
	free(m->interface_port);
	free(m->interface_vertex);
	free(m->interface_server);
	free(m->server_host);
	free(m->server_is_down);
	free(m->names);
	fab_resolver_free(m->resolver);
	free(m);
}

/* Raw vertices in preorder, children in the order in which they were added; how many. */
static uint32_t order_of(const struct fab_machine_builder *b, uint32_t *order)
{
	uint32_t n = (uint32_t)b->raw.n, done = 0, depth = 0;
	uint32_t *first = FAB_NEW(n, uint32_t), *next = FAB_NEW(n, uint32_t);
	uint32_t *stack = FAB_NEW(n, uint32_t);

	for (uint32_t i = 0; i < n; i++)
		first[i] = next[i] = FAB_NONE;
	for (uint32_t i = n; i-- > 1;) {
		next[i] = first[b->raw.v[i].parent];
		first[b->raw.v[i].parent] = i;
	}
	stack[depth++] = 0;
	while (depth) {
		uint32_t v = stack[--depth];

		order[done++] = v;
		if (next[v] != FAB_NONE)
			stack[depth++] = next[v];
		if (first[v] != FAB_NONE)
			stack[depth++] = first[v];
	}
	free(first);
	free(next);
	free(stack);
	return done;
}

static void alloc(struct fab_machine *m, uint32_t n)
{
	m->n_vertices = n;
	m->parent = FAB_NEW(n, uint32_t);
	m->level_of = FAB_NEW(n, uint8_t);
	m->number = FAB_NEW(n, uint32_t);
	m->capacity_mbps = FAB_NEW(n, double);
	m->name = FAB_NEW(n, uint32_t);
	m->first_node = FAB_NEW(n, uint32_t);
	m->end_node = FAB_NEW(n, uint32_t);
	m->first_interface = FAB_NEW(n, uint32_t);
	m->end_interface = FAB_NEW(n, uint32_t);
	m->node_vertex = FAB_NEW(n, uint32_t);
	m->node_host = FAB_NEW(n, uint32_t);
	m->node_port = FAB_NEW(n, uint32_t);
	m->interface_port = FAB_NEW(n, uint32_t);
	m->interface_vertex = FAB_NEW(n, uint32_t);
	m->interface_server = FAB_NEW(n, uint32_t);
}

static void add_name(struct fab_machine *m, const char *name, uint32_t *at)
{
	size_t len;

	*at = FAB_NONE;
	if (!name)
		return;
	len = strlen(name) + 1;
	m->names = fab_realloc(m->names, m->names_bytes + len, 1);
	memcpy(m->names + m->names_bytes, name, len);
	*at = (uint32_t)m->names_bytes;
	m->names_bytes += len;
}

static void copy_vertices(struct fab_machine *m, const struct fab_machine_builder *b,
			  const uint32_t *order)
{
	uint32_t *number = FAB_NEW(m->n_vertices, uint32_t);
	uint32_t of_level[FAB_MACHINE_LEVELS_MAX] = {0};

	for (uint32_t v = 0; v < m->n_vertices; v++)
		number[order[v]] = v;
	for (uint32_t v = 0; v < m->n_vertices; v++) {
		const struct fab_raw_vertex *r = &b->raw.v[order[v]];

		m->parent[v] = v ? number[r->parent] : FAB_NONE;
		m->level_of[v] = r->level;
		m->number[v] = of_level[r->level]++;
		m->capacity_mbps[v] = v ? r->capacity_mbps : INFINITY;
		if (v && isfinite(r->capacity_mbps))
			m->level[r->level].is_limited = true;
		add_name(m, r->name, &m->name[v]);
		m->first_node[v] = m->n_nodes;
		m->first_interface[v] = m->n_interfaces;
		if (r->kind == FAB_VERTEX_NODE) {
			m->node_host[m->n_nodes] = r->owner;
			m->node_port[m->n_nodes] = r->port;
			m->node_vertex[m->n_nodes++] = v;
		} else if (r->kind == FAB_VERTEX_INTERFACE) {
			m->interface_server[m->n_interfaces] =
				b->n_servers ? r->owner : m->n_interfaces;
			m->interface_port[m->n_interfaces] = r->port;
			m->interface_vertex[m->n_interfaces++] = v;
		}
		m->end_node[v] = m->n_nodes;
		m->end_interface[v] = m->n_interfaces;
	}
	for (uint32_t v = m->n_vertices; v-- > 1;) {
		uint32_t p = m->parent[v];

		if (m->end_node[p] < m->end_node[v])
			m->end_node[p] = m->end_node[v];
		if (m->end_interface[p] < m->end_interface[v])
			m->end_interface[p] = m->end_interface[v];
	}
	free(number);
}

int fab_machine_builder_finish(struct fab_machine_builder *b, const char *source,
			       struct fab_machine **out, struct fab_err *err)
{
	uint32_t n = (uint32_t)b->raw.n, *order = FAB_NEW(n, uint32_t);
	struct fab_machine *m = FAB_NEW0(1, struct fab_machine);
	int rc = 0;

	m->source = fab_strdup(source);
	if (order_of(b, order) < n)
		rc = fab_fail(
			err, EINVAL,
			"%s: the hierarchy has a cycle: the root does not reach every "
			"vertex",
			source);
	if (!rc) {
		alloc(m, n);
		m->n_levels = b->n_levels;
		memcpy(m->level, b->level, sizeof(m->level));
		b->n_levels = 0;
		copy_vertices(m, b, order);
		m->n_servers = b->n_servers ? b->n_servers : m->n_interfaces;
		m->server_is_down = FAB_NEW0(m->n_servers + 1, bool);
		m->server_host = b->server_host;
		m->warnings = b->warnings.v;
		m->n_warnings = (uint32_t)b->warnings.n;
		b->server_host = NULL;
		m->n_unnamed = b->n_unnamed;
		m->resolver = b->resolver;
		b->resolver = NULL;
		b->warnings.v = NULL;
		b->warnings.n = 0;
	}
	if (!rc && !m->n_nodes)
		rc = fab_fail(err, EINVAL, "%s: there is no node to boot", source);
	if (!rc && !m->n_interfaces)
		rc = fab_fail(err, EINVAL, "%s: there is no server", source);
	free(order);
	fab_machine_builder_fini(b);
	if (rc) {
		fab_machine_free(m);
		return rc;
	}
	*out = m;
	return 0;
}

int fab_machine_find_servers(const struct fab_machine *m, const char *list, bool *mark,
			     struct fab_matches *matches, struct fab_err *err)
{
	struct fab_machine_names *names = fab_machine_names_new(m);
	const struct fab_lookup servers = fab_machine_server_lookup(names);
	struct fab_ids ids = {0};
	int rc = fab_lookup_list(&servers, list, strlen(list), &ids, matches, err);

	for (size_t i = 0; i < ids.of.n && !rc; i++)
		mark[ids.of.v[i]] = true;
	free(ids.of.v);
	fab_machine_names_free(names);
	return rc;
}

int fab_machine_fail_server(struct fab_machine *m, const char *list,
			    struct fab_matches *matches, struct fab_err *err)
{
	uint32_t up = 0;
	int rc = fab_machine_find_servers(m, list, m->server_is_down, matches, err);

	for (uint32_t s = 0; s < m->n_servers; s++)
		up += !m->server_is_down[s];
	if (!rc && !up)
		rc = fab_fail(err, EINVAL, "'%.80s' leaves no server that is up", list);
	return rc;
}

static char *made_up(const struct fab_machine *m, uint32_t vertex, uint32_t number,
		     char *out, size_t size)
{
	if (m->name[vertex] != FAB_NONE)
		snprintf(out, size, "%s", m->names + m->name[vertex]);
	else
		snprintf(out, size, "%s%u", m->level[m->level_of[vertex]].unit, number);
	return out;
}

char *fab_machine_vertex_name(const struct fab_machine *m, uint32_t vertex, char *out,
			      size_t size)
{
	return made_up(m, vertex, m->number[vertex], out, size);
}

char *fab_machine_node_name(const struct fab_machine *m, uint32_t node, char *out,
			    size_t size)
{
	return made_up(m, m->node_vertex[node], node, out, size);
}

char *fab_machine_interface_name(const struct fab_machine *m, uint32_t interface,
				 char *out, size_t size)
{
	return made_up(m, m->interface_vertex[interface], interface, out, size);
}

char *fab_machine_server_name(const struct fab_machine *m, uint32_t server, char *out,
			      size_t size)
{
	if (m->fabric && m->server_host) {
		snprintf(out, size, "%s",
			 fab_host_name(m->fabric, m->server_host[server]));
		return out;
	}
	return fab_machine_interface_name(m, server, out, size);
}

uint32_t fab_machine_find_level(const struct fab_machine *m, const char *unit, size_t len)
{
	size_t n = singular(unit, len);

	for (uint32_t i = 0; i < m->n_levels; i++)
		if (strlen(m->level[i].unit) == n && !strncmp(m->level[i].unit, unit, n))
			return i;
	return FAB_NONE;
}
