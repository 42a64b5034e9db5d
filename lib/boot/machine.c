/* SPDX-License-Identifier: BSD-2-Clause */
/* Machines: vertices in order, their names and the lookup of names, machines without some
 * nodes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "boot/impl.h"
#include "boot/machine.h"
#include "fabric/label.h"
#include "fabric/resolver.h"

/* Length of the singular: boards -> board, switches -> switch, boxes -> box; class and
 * chassis have no plural. */
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

void fab_machine_builder_init(struct fab_machine_builder *b, const char *source)
{
	struct fab_machine *m = FAB_NEW0(1, struct fab_machine);

	m->source = fab_arena_strdup(&m->arena, source);
	m->n_levels = 1;
	m->level[0] = (struct fab_machine_level){.unit = "core", .segment = "core"};
	*b = (struct fab_machine_builder){.m = m};
	FAB_PUSH(&b->raw, fab_raw_vertex(FAB_NONE, INFINITY, 0, FAB_VERTEX_SWITCH));
}

struct fab_raw_vertex fab_raw_vertex(uint32_t parent, double capacity_mbps,
				     uint32_t level, enum fab_vertex_kind kind)
{
	return (struct fab_raw_vertex){.parent = parent,
				       .capacity_mbps = capacity_mbps,
				       .owner = FAB_NONE,
				       .port = FAB_NONE,
				       .level = (uint8_t)level,
				       .kind = (uint8_t)kind};
}

uint32_t fab_machine_builder_level(struct fab_machine_builder *b, const char *unit,
				   size_t len, bool is_server)
{
	struct fab_machine *m = b->m;
	uint32_t level = fab_machine_find_level(m, unit, len);
	const char *name;

	if (level != FAB_NONE || m->n_levels == FAB_MACHINE_LEVELS_MAX)
		return level;
	name = fab_arena_format(&m->arena, "%.*s", (int)singular(unit, len), unit);
	m->level[m->n_levels] = (struct fab_machine_level){
		.unit = name, .segment = name, .is_server = is_server};
	return m->n_levels++;
}

void fab_machine_free(struct fab_machine *m)
{
	if (!m)
		return;
	fab_resolver_free(m->resolver);
	fab_arena_free(&m->arena);
	free(m);
}

/* Raw vertices in preorder, children in the order in which they were added; how many. */
static uint32_t order_of(const struct fab_machine_builder *b, uint32_t *order)
{
	uint32_t n = (uint32_t)b->raw.n, done = 0, depth = 0;
	FAB_AUTOFREE uint32_t *first = fab_none_new(n), *next = fab_none_new(n);
	FAB_AUTOFREE uint32_t *stack = FAB_NEW(n, uint32_t);

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
	return done;
}

/* Room for the vertices of a machine, of which some are nodes and interfaces. */
static void alloc(struct fab_machine *m, uint32_t n, uint32_t n_nodes,
		  uint32_t n_interfaces)
{
	struct fab_arena *a = &m->arena;

	m->parent = FAB_ARENA_NEW(a, n, uint32_t);
	m->level_of = FAB_ARENA_NEW(a, n, uint8_t);
	m->number = FAB_ARENA_NEW(a, n, uint32_t);
	m->capacity_mbps = FAB_ARENA_NEW(a, n, double);
	m->name = FAB_ARENA_NEW(a, n, const char *);
	m->first_node = FAB_ARENA_NEW(a, n, uint32_t);
	m->end_node = FAB_ARENA_NEW(a, n, uint32_t);
	m->first_interface = FAB_ARENA_NEW(a, n, uint32_t);
	m->end_interface = FAB_ARENA_NEW(a, n, uint32_t);
	m->node_vertex = FAB_ARENA_NEW(a, n_nodes, uint32_t);
	m->node_host = FAB_ARENA_NEW(a, n_nodes, uint32_t);
	m->node_port = FAB_ARENA_NEW(a, n_nodes, uint32_t);
	m->interface_port = FAB_ARENA_NEW(a, n_interfaces, uint32_t);
	m->interface_vertex = FAB_ARENA_NEW(a, n_interfaces, uint32_t);
	m->interface_server = FAB_ARENA_NEW(a, n_interfaces, uint32_t);
}

/* Add a vertex behind the others; they come in preorder. */
static void add_vertex(struct fab_machine *m, uint32_t parent, uint32_t number,
		       const struct fab_raw_vertex *r)
{
	uint32_t v = m->n_vertices++;

	m->parent[v] = parent;
	m->level_of[v] = r->level;
	m->number[v] = number;
	m->capacity_mbps[v] = r->capacity_mbps;
	m->level[r->level].is_limited |= isfinite(r->capacity_mbps);
	m->name[v] = r->name;
	m->first_node[v] = m->n_nodes;
	m->first_interface[v] = m->n_interfaces;
	if (r->kind == FAB_VERTEX_NODE) {
		m->node_host[m->n_nodes] = r->owner;
		m->node_port[m->n_nodes] = r->port;
		m->node_vertex[m->n_nodes++] = v;
	} else if (r->kind == FAB_VERTEX_INTERFACE) {
		m->interface_server[m->n_interfaces] = r->owner;
		m->interface_port[m->n_interfaces] = r->port;
		m->interface_vertex[m->n_interfaces++] = v;
	}
	for (uint32_t p = v; p != FAB_NONE && r->kind != FAB_VERTEX_SWITCH;
	     p = m->parent[p]) {
		m->end_node[p] = m->n_nodes;
		m->end_interface[p] = m->n_interfaces;
	}
	if (r->kind == FAB_VERTEX_SWITCH) {
		m->end_node[v] = m->n_nodes;
		m->end_interface[v] = m->n_interfaces;
	}
}

int fab_machine_builder_finish(struct fab_machine_builder *b, int rc,
			       struct fab_machine **out, struct fab_err *err)
{
	uint32_t n = (uint32_t)b->raw.n;
	FAB_AUTOFREE uint32_t *order = FAB_NEW(n, uint32_t);
	uint32_t n_of[3] = {0}, of_level[FAB_MACHINE_LEVELS_MAX] = {0};
	FAB_AUTOFREE uint32_t *place = FAB_NEW(n, uint32_t);
	struct fab_machine *m = b->m;

	for (uint32_t i = 0; i < n; i++)
		n_of[b->raw.v[i].kind]++;
	if (!rc && order_of(b, order) < n)
		rc = fab_fail(
			err, EINVAL,
			"%s: the hierarchy has a cycle: the root does not reach every vertex",
			m->source);
	else if (!rc && !n_of[FAB_VERTEX_NODE])
		rc = fab_fail(err, EINVAL, "%s: there is no node to boot", m->source);
	else if (!rc && !n_of[FAB_VERTEX_INTERFACE])
		rc = fab_fail(err, EINVAL, "%s: there is no server", m->source);
	if (!rc)
		alloc(m, n, n_of[FAB_VERTEX_NODE], n_of[FAB_VERTEX_INTERFACE]);
	for (uint32_t v = 0; v < n && !rc; v++) {
		struct fab_raw_vertex *r = &b->raw.v[order[v]];

		place[order[v]] = v;
		/* without hosts every interface is a server */
		if (r->kind == FAB_VERTEX_INTERFACE && !m->server_host)
			r->owner = m->n_servers++;
		add_vertex(m, v ? place[r->parent] : FAB_NONE, of_level[r->level]++, r);
	}
	for (uint32_t p = 0; m->port_vertex && !rc && p < m->fabric->n_ports; p++)
		if (m->port_vertex[p] != FAB_NONE)
			m->port_vertex[p] = place[m->port_vertex[p]];
	m->server_is_down = FAB_ARENA_NEW0(&m->arena, (size_t)m->n_servers + 1, bool);
	m->warnings = b->warnings.v;
	m->n_warnings = (uint32_t)b->warnings.n;
	fab_arena_own(&m->arena, free, b->warnings.v);
	free(b->raw.v);
	if (rc)
		fab_machine_free(m);
	else
		*out = m;
	return rc;
}

/* A machine that some of its nodes have been taken from. */
int fab_machine_without(struct fab_machine *old, const bool *is_gone, uint32_t *old_node,
			struct fab_machine **out, struct fab_err *err)
{
	struct fab_machine *m = FAB_NEW0(1, struct fab_machine);
	uint32_t *place = FAB_NEW(old->n_vertices, uint32_t), node = 0, interface = 0;
	char name[FAB_MACHINE_NAME_BYTES];

	alloc(m, old->n_vertices, old->n_nodes, old->n_interfaces);
	memcpy(m->level, old->level, sizeof(m->level));
	m->n_levels = old->n_levels;
	for (uint32_t v = 0; v < old->n_vertices; v++) {
		struct fab_raw_vertex r =
			fab_raw_vertex(FAB_NONE, old->capacity_mbps[v], old->level_of[v],
				       FAB_VERTEX_SWITCH);

		r.name = old->name[v];
		if (node < old->n_nodes && old->node_vertex[node] == v) {
			if (is_gone[node++])
				continue;
			old_node[m->n_nodes] = node - 1;
			r.kind = FAB_VERTEX_NODE;
			r.owner = old->node_host[node - 1];
			r.port = old->node_port[node - 1];
			fab_machine_node_name(old, node - 1, name);
		} else if (interface < old->n_interfaces &&
			   old->interface_vertex[interface] == v) {
			r.kind = FAB_VERTEX_INTERFACE;
			r.owner = old->interface_server[interface];
			r.port = old->interface_port[interface];
			fab_machine_interface_name(old, interface++, name);
		}
		if (r.kind != FAB_VERTEX_SWITCH) /* made of another number from now on */
			r.name = fab_arena_strdup(&m->arena, name);
		place[v] = m->n_vertices;
		add_vertex(m, v ? place[old->parent[v]] : FAB_NONE, old->number[v], &r);
	}
	if (old->port_vertex)
		m->port_vertex = FAB_ARENA_NEW(
			&m->arena, (size_t)old->fabric->n_ports + 1, uint32_t);
	for (uint32_t p = 0; m->port_vertex && p < old->fabric->n_ports; p++)
		m->port_vertex[p] = old->port_vertex[p] == FAB_NONE
					    ? FAB_NONE
					    : place[old->port_vertex[p]];
	free(place);
	m->source = old->source;
	m->n_unnamed = old->n_unnamed;
	m->fabric = old->fabric;
	m->limits = old->limits;
	m->n_servers = old->n_servers;
	m->server_host = old->server_host;
	m->server_is_down = old->server_is_down;
	if (!m->n_nodes) {
		fab_machine_free(m);
		return fab_fail(err, EINVAL, "%s: there is no node to boot", old->source);
	}
	m->resolver = old->resolver;
	old->resolver = NULL;
	*out = m;
	return 0;
}

static char *made_up(const struct fab_machine *m, uint32_t vertex, uint32_t number,
		     char out[FAB_MACHINE_NAME_BYTES])
{
	if (m->name[vertex])
		snprintf(out, FAB_MACHINE_NAME_BYTES, "%s", m->name[vertex]);
	else
		snprintf(out, FAB_MACHINE_NAME_BYTES, "%s%u",
			 m->level[m->level_of[vertex]].unit, number);
	return out;
}

char *fab_machine_vertex_name(const struct fab_machine *m, uint32_t vertex,
			      char out[FAB_MACHINE_NAME_BYTES])
{
	return made_up(m, vertex, m->number[vertex], out);
}

char *fab_machine_node_name(const struct fab_machine *m, uint32_t node,
			    char out[FAB_MACHINE_NAME_BYTES])
{
	return made_up(m, m->node_vertex[node], node, out);
}

char *fab_machine_interface_name(const struct fab_machine *m, uint32_t interface,
				 char out[FAB_MACHINE_NAME_BYTES])
{
	return made_up(m, m->interface_vertex[interface], interface, out);
}

char *fab_machine_server_name(const struct fab_machine *m, uint32_t server,
			      char out[FAB_MACHINE_NAME_BYTES])
{
	if (m->fabric && m->server_host) {
		snprintf(out, FAB_MACHINE_NAME_BYTES, "%s",
			 fab_host_name(m->fabric, m->server_host[server]));
		return out;
	}
	return fab_machine_interface_name(m, server, out);
}

uint32_t fab_machine_find_level(const struct fab_machine *m, const char *unit, size_t len)
{
	size_t n = singular(unit, len);

	for (uint32_t i = 0; i < m->n_levels; i++)
		if (strlen(m->level[i].unit) == n && !strncmp(m->level[i].unit, unit, n))
			return i;
	return FAB_NONE;
}

/* ---- names ---- */

enum { SHOWN = 80 };

/* Names and kind that a lookup asks for. */
struct view {
	const struct fab_machine_names *names;
	enum fab_machine_kind kind;
};

struct fab_machine_names {
	const struct fab_machine *m;
	struct fab_directory *of[FAB_MACHINE_N_KINDS];
	uint32_t *node_of_host, *server_of_host; /* [hosts]; NULL without a fabric */
	struct fab_map64 *interface_of_port;
	uint32_t *first_interface; /* [n_servers] */
	struct view view[FAB_MACHINE_N_KINDS];
};

static const struct {
	const char *one, *many;
	char *(*name)(const struct fab_machine *m, uint32_t id,
		      char out[FAB_MACHINE_NAME_BYTES]);
} kinds[FAB_MACHINE_N_KINDS] = {
	[FAB_MACHINE_NODES] = {"node", "nodes", fab_machine_node_name},
	[FAB_MACHINE_SERVERS] = {"server", "servers", fab_machine_server_name},
	[FAB_MACHINE_INTERFACES] = {"server", "servers", fab_machine_interface_name},
	[FAB_MACHINE_UNITS] = {"unit", "units", fab_machine_vertex_name},
};

struct fab_machine_names *fab_machine_names_new(const struct fab_machine *m)
{
	const uint32_t count[FAB_MACHINE_N_KINDS] = {m->n_nodes, m->n_servers,
						     m->n_interfaces, m->n_vertices};
	struct fab_machine_names *n = FAB_NEW0(1, struct fab_machine_names);
	char name[FAB_MACHINE_NAME_BYTES], label[FAB_LABEL_SIZE];

	n->m = m;
	for (int kind = 0; kind < FAB_MACHINE_N_KINDS; kind++) {
		struct fab_directory *d = fab_directory_new(count[kind]);

		n->view[kind] = (struct view){n, (enum fab_machine_kind)kind};
		n->of[kind] = d;
		for (uint32_t i = 0; i < count[kind]; i++) {
			if (kind == FAB_MACHINE_UNITS &&
			    m->end_node[i] == m->first_node[i])
				continue;
			kinds[kind].name(m, i, name);
			fab_directory_add(d, name, strlen(name), i);
			fab_label_short(name, label, sizeof(label));
			fab_directory_add(d, label, strlen(label), i);
		}
	}
	n->interface_of_port = fab_map64_new(m->n_interfaces);
	n->first_interface = FAB_NEW((size_t)m->n_servers + 1, uint32_t);
	for (uint32_t i = m->n_interfaces; i-- > 0;)
		n->first_interface[m->interface_server[i]] = i;
	if (m->fabric && m->resolver) {
		n->node_of_host = fab_none_new((size_t)m->fabric->n_hosts + 1);
		n->server_of_host = fab_none_new((size_t)m->fabric->n_hosts + 1);
		for (uint32_t i = 0; i < m->n_nodes; i++)
			n->node_of_host[m->node_host[i]] = i;
		for (uint32_t i = 0; m->server_host && i < m->n_servers; i++)
			n->server_of_host[m->server_host[i]] = i;
		for (uint32_t i = 0; i < m->n_interfaces; i++)
			fab_map64_put(n->interface_of_port, m->interface_port[i], i);
	}
	return n;
}

void fab_machine_names_free(struct fab_machine_names *n)
{
	if (!n)
		return;
	for (int kind = 0; kind < FAB_MACHINE_N_KINDS; kind++)
		fab_directory_free(n->of[kind]);
	fab_map64_free(n->interface_of_port);
	FAB_FREE_ALL(n->node_of_host, n->server_of_host, n->first_interface, n);
}

static int shown(const struct fab_item *name)
{
	return name->len > SHOWN ? SHOWN : (int)name->len;
}

static int say_several(enum fab_machine_kind kind, const struct fab_item *name,
		       uint32_t n, struct fab_err *err)
{
	return fab_fail(err, EINVAL, "%u %s are called '%.*s'", n, kinds[kind].many,
			shown(name), name->text);
}

/* By the machine's own names. */
static int find_own(const struct view *v, const struct fab_item *name, uint32_t *id,
		    struct fab_err *err)
{
	const struct fab_directory *d = v->names->of[v->kind];

	struct fab_near near = {0};

	for (int by_case = 1; by_case >= 0; by_case--) {
		struct fab_hits hits =
			fab_directory_find(d, name->text, name->len, by_case);

		if (hits.n > 1)
			return say_several(v->kind, name, hits.n, err);
		if (hits.n) {
			*id = fab_directory_hit(d, &hits);
			return 0;
		}
	}
	if (!err)
		return -ENOENT;
	fab_directory_nearest(d, name->text, name->len, &near);
	return fab_fail(err, ENOENT, "no %s is called '%.*s'%s%.*s%s", kinds[v->kind].one,
			shown(name), name->text, near.name ? "; did you mean '" : "",
			SHOWN, near.name ? near.name : "", near.name ? "'?" : "");
}

/* A node or server by the name of a host. */
static int find_host(const struct view *v, const struct fab_item *name, uint32_t *id,
		     struct fab_err *err)
{
	const struct fab_machine_names *n = v->names;
	uint32_t host;
	int rc = fab_resolve(n->m->resolver, FAB_WANT_HOST, name, &host, err);

	if (rc)
		return rc;
	*id = v->kind == FAB_MACHINE_NODES ? n->node_of_host[host]
					   : n->server_of_host[host];
	if (*id != FAB_NONE)
		return 0;
	if (n->node_of_host[host] == FAB_NONE && n->server_of_host[host] == FAB_NONE)
		return fab_fail(err, EINVAL, "'%.*s' is a host that does not boot",
				shown(name), name->text);
	return fab_fail(err, EINVAL, "'%.*s' is a %s: expected a %s", shown(name),
			name->text, v->kind == FAB_MACHINE_NODES ? "server" : "node",
			kinds[v->kind].one);
}

/* An interface: its own name, its port, or its server. */
static int find_interface(const struct view *v, const struct fab_item *name, uint32_t *id,
			  struct fab_err *err)
{
	const struct view servers = {v->names, FAB_MACHINE_SERVERS};
	struct fab_err ignored;
	uint32_t port;
	int rc = find_own(v, name, id, v->names->node_of_host ? &ignored : err);

	if (rc != -ENOENT || !v->names->node_of_host) {
		if (rc == -EINVAL)
			say_several(v->kind, name, 2, err);
		return rc;
	}
	if (!fab_resolve(v->names->m->resolver, FAB_WANT_ADAPTER, name, &port, NULL)) {
		*id = fab_map64_get(v->names->interface_of_port, port);
		if (*id != FAB_NONE)
			return 0;
	}
	rc = find_host(&servers, name, id, err);
	if (!rc)
		*id = v->names->first_interface[*id];
	return rc;
}

/* A unit; of a fabric also by any name of a switch. */
static int find_unit(const struct view *v, const struct fab_item *name, uint32_t *id,
		     struct fab_err *err)
{
	const struct fab_machine *m = v->names->m;
	struct fab_item full = {.is_quoted = true};
	uint32_t sw;
	int rc = find_own(v, name, id, NULL);

	if (rc == -ENOENT && m->resolver &&
	    !fab_resolve(m->resolver, FAB_WANT_SWITCH, name, &sw, NULL)) {
		full.text = fab_node_name(m->fabric, sw);
		full.len = strlen(full.text);
		if (!find_own(v, &full, id, NULL))
			return 0;
	}
	return rc ? find_own(v, name, id, err) : 0;
}

static int find(const void *of, const struct fab_item *name, uint32_t *id,
		struct fab_err *err)
{
	const struct view *v = of;

	if (!name->len)
		return fab_fail(err, EINVAL, "expected a name, found nothing");
	if (v->kind == FAB_MACHINE_UNITS)
		return find_unit(v, name, id, err);
	if (v->kind == FAB_MACHINE_INTERFACES)
		return find_interface(v, name, id, err);
	return v->names->node_of_host ? find_host(v, name, id, err)
				      : find_own(v, name, id, err);
}

static void match(const void *of, const char *pattern, struct fab_ids *out)
{
	const struct view *v = of;

	fab_directory_match(v->names->of[v->kind], pattern, out);
}

static char *name(const void *of, uint32_t id)
{
	const struct view *v = of;
	char text[FAB_MACHINE_NAME_BYTES];

	return fab_strdup(kinds[v->kind].name(v->names->m, id, text));
}

struct fab_lookup fab_machine_lookup(const struct fab_machine_names *n,
				     enum fab_machine_kind kind)
{
	return (struct fab_lookup){.of = &n->view[kind],
				   .one = kinds[kind].one,
				   .many = kinds[kind].many,
				   .n_known = n->m->n_vertices,
				   .find = find,
				   .match = match,
				   .name = name};
}

int fab_machine_find(const struct fab_machine *m, enum fab_machine_kind kind,
		     const char *list, bool *mark, struct fab_matches *matches,
		     struct fab_err *err)
{
	FAB_AUTO(fab_machine_names_free_at)
	struct fab_machine_names *names = fab_machine_names_new(m);
	const struct fab_lookup lookup = fab_machine_lookup(names, kind);
	FAB_AUTOFREE struct fab_ids ids = {0};
	int rc = fab_lookup_list(&lookup, list, strlen(list), &ids, matches, err);

	for (size_t i = 0; i < ids.of.n && !rc; i++)
		mark[ids.of.v[i]] = true;
	return rc;
}
