/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/machine_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "fabric/label.h"
#include "fabric/resolver.h"

enum { NAME_BYTES = 256, SHOWN = 80 };

enum kind { NODES, SERVERS, INTERFACES, UNITS, N_KINDS };

/* What a lookup asks. */
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
