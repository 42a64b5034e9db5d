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
#include "boot/machine.h"
#include "boot/machine_impl.h"
#include "fabric/label.h"
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
			"%s: the hierarchy has a cycle: the root does not reach every vertex",
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

/* ---- names ---- */

enum { NAME_BYTES = 256, SHOWN = 80 };

enum kind { NODES, SERVERS, INTERFACES, UNITS, N_KINDS };

/* Names and kind that a lookup asks for. */
struct view {
	const struct fab_machine_names *names;
	enum kind kind;
};

struct fab_machine_names {
	const struct fab_machine *m;
	struct fab_directory *of[N_KINDS];
	uint32_t *node_of_host, *server_of_host; /* [hosts]; NULL without a fabric */
	struct fab_map64 *interface_of_port;
	uint32_t *first_interface; /* [n_servers] */
	struct view view[N_KINDS];
};

static const struct {
	const char *one, *many;
} words[N_KINDS] = {
	[NODES] = {"node", "nodes"},
	[SERVERS] = {"server", "servers"},
	[INTERFACES] = {"server", "servers"},
	[UNITS] = {"unit", "units"},
};

static char *name_of(const struct fab_machine *m, enum kind kind, uint32_t id,
		     char out[NAME_BYTES])
{
	switch (kind) {
	case NODES:
		return fab_machine_node_name(m, id, out, NAME_BYTES);
	case SERVERS:
		return fab_machine_server_name(m, id, out, NAME_BYTES);
	case INTERFACES:
		return fab_machine_interface_name(m, id, out, NAME_BYTES);
	default:
		return fab_machine_vertex_name(m, id, out, NAME_BYTES);
	}
}

static void add_all(struct fab_machine_names *n, enum kind kind, uint32_t count)
{
	char name[NAME_BYTES], label[FAB_LABEL_SIZE];

	n->of[kind] = fab_directory_new(count);
	for (uint32_t i = 0; i < count; i++) {
		if (kind == UNITS && n->m->end_node[i] == n->m->first_node[i])
			continue;
		name_of(n->m, kind, i, name);
		fab_directory_add(n->of[kind], name, strlen(name), i);
		fab_label_short(name, label, sizeof(label));
		fab_directory_add(n->of[kind], label, strlen(label), i);
	}
}

/* Hosts to nodes and servers, ports to interfaces. */
static void add_hosts(struct fab_machine_names *n)
{
	const struct fab_machine *m = n->m;
	size_t bytes = ((size_t)m->fabric->n_hosts + 1) * sizeof(uint32_t);

	n->node_of_host = fab_alloc(bytes, 1);
	n->server_of_host = fab_alloc(bytes, 1);
	memset(n->node_of_host, 0xff, bytes);
	memset(n->server_of_host, 0xff, bytes);
	for (uint32_t i = 0; i < m->n_nodes; i++)
		n->node_of_host[m->node_host[i]] = i;
	for (uint32_t i = 0; m->server_host && i < m->n_servers; i++)
		n->server_of_host[m->server_host[i]] = i;
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		fab_map64_put(n->interface_of_port, m->interface_port[i], i);
}

struct fab_machine_names *fab_machine_names_new(const struct fab_machine *m)
{
	struct fab_machine_names *n = FAB_NEW0(1, struct fab_machine_names);

	n->m = m;
	for (int kind = 0; kind < N_KINDS; kind++)
		n->view[kind] = (struct view){n, (enum kind)kind};
	add_all(n, NODES, m->n_nodes);
	add_all(n, SERVERS, m->n_servers);
	add_all(n, INTERFACES, m->n_interfaces);
	add_all(n, UNITS, m->n_vertices);
	n->interface_of_port = fab_map64_new(m->n_interfaces);
	n->first_interface = FAB_NEW((size_t)m->n_servers + 1, uint32_t);
	for (uint32_t i = m->n_interfaces; i-- > 0;)
		n->first_interface[m->interface_server[i]] = i;
	if (m->fabric && m->resolver)
		add_hosts(n);
	return n;
}

void fab_machine_names_free(struct fab_machine_names *n)
{
	if (!n)
		return;
	for (int kind = 0; kind < N_KINDS; kind++)
		fab_directory_free(n->of[kind]);
	free(n->node_of_host);
	free(n->server_of_host);
	fab_map64_free(n->interface_of_port);
	free(n->first_interface);
	free(n);
}

static int shown(const struct fab_item *name)
{
	return name->len > SHOWN ? SHOWN : (int)name->len;
}

static int say_several(enum kind kind, const struct fab_item *name, uint32_t n,
		       struct fab_err *err)
{
	return fab_fail(err, EINVAL, "%u %s are called '%.*s'", n, words[kind].many,
			shown(name), name->text);
}

static int say_none(const struct view *v, const struct fab_item *name,
		    struct fab_err *err)
{
	struct fab_near near = {0};

	if (!err)
		return -ENOENT;
	fab_directory_nearest(v->names->of[v->kind], name->text, name->len, &near);
	return fab_fail(err, ENOENT, "no %s is called '%.*s'%s%.*s%s", words[v->kind].one,
			shown(name), name->text, near.name ? "; did you mean '" : "",
			SHOWN, near.name ? near.name : "", near.name ? "'?" : "");
}

/* By the machine's own names. */
static int find_own(const struct view *v, const struct fab_item *name, uint32_t *id,
		    struct fab_err *err)
{
	const struct fab_directory *d = v->names->of[v->kind];

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
	return say_none(v, name, err);
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
	*id = v->kind == NODES ? n->node_of_host[host] : n->server_of_host[host];
	if (*id != FAB_NONE)
		return 0;
	if (n->node_of_host[host] == FAB_NONE && n->server_of_host[host] == FAB_NONE)
		return fab_fail(err, EINVAL, "'%.*s' is a host that does not boot",
				shown(name), name->text);
	return fab_fail(err, EINVAL, "'%.*s' is a %s: expected a %s", shown(name),
			name->text, v->kind == NODES ? "server" : "node",
			words[v->kind].one);
}

/* An interface: its own name, its port, or its server. */
static int find_interface(const struct view *v, const struct fab_item *name, uint32_t *id,
			  struct fab_err *err)
{
	const struct view servers = {v->names, SERVERS};
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
	if (v->kind == UNITS)
		return find_unit(v, name, id, err);
	if (v->kind == INTERFACES)
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
	char text[NAME_BYTES];

	return fab_strdup(name_of(v->names->m, v->kind, id, text));
}

static struct fab_lookup lookup(const struct fab_machine_names *n, enum kind kind)
{
	const struct fab_machine *m = n->m;

	return (struct fab_lookup){.of = &n->view[kind],
				   .one = words[kind].one,
				   .many = words[kind].many,
				   .n_known = m->n_vertices,
				   .find = find,
				   .match = match,
				   .name = name};
}

struct fab_lookup fab_machine_node_lookup(const struct fab_machine_names *n)
{
	return lookup(n, NODES);
}

struct fab_lookup fab_machine_server_lookup(const struct fab_machine_names *n)
{
	return lookup(n, SERVERS);
}

struct fab_lookup fab_machine_interface_lookup(const struct fab_machine_names *n)
{
	return lookup(n, INTERFACES);
}

struct fab_lookup fab_machine_unit_lookup(const struct fab_machine_names *n)
{
	return lookup(n, UNITS);
}

/* ---- nodes taken away ---- */

/* A machine that some of its nodes have been taken from. */
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
