/* SPDX-License-Identifier: BSD-2-Clause */
/* The index of all names, GUIDs and LIDs of a fabric. */
#include "fabric/resolver_impl.h"

#include "base/mem.h"
#include "base/text.h"
#include "fabric/guids.h"
#include "fabric/label.h"
#include "fabric/plain_names.h"

#include <stdlib.h>
#include <string.h>

uint32_t fab_host_endpoint(const struct fab_fabric *f, uint32_t host)
{
	uint32_t best = FAB_NONE;
	bool best_on_switch = false;

	for (uint32_t i = f->host_first_adapter[host];
	     i < f->host_first_adapter[host + 1]; i++) {
		uint32_t adapter = f->host_adapter[i];
		uint32_t port = fab_node_first_connected_port(f, adapter);
		bool on_switch;

		if (port == FAB_NONE)
			continue;
		on_switch = fab_port_switch(f, port) != FAB_NONE;
		if (best != FAB_NONE &&
		    (on_switch < best_on_switch ||
		     (on_switch == best_on_switch &&
		      fab_text_natural_cmp(fab_node_name(f, adapter),
					   fab_node_name(f, f->port_node[best])) >= 0)))
			continue;
		best = port;
		best_on_switch = on_switch;
	}
	return best;
}

uint64_t fab_host_guid(const struct fab_fabric *f, uint32_t host)
{
	return f->node_guid[f->host_adapter[f->host_first_adapter[host]]];
}

/* A name, as reports print it in any locale, and as dumps have it: control characters are
 * blanks. */
static void add(struct fab_directory *d, const char *name, uint32_t id)
{
	size_t len = strlen(name), size = 4 * len + 1;
	char *other = fab_text_safe(name, fab_alloc(size, 1), size);
	char *ascii = fab_text_ascii(fab_strdup(other));

	fab_directory_add(d, name, len, id);
	if (strcmp(ascii, other) != 0)
		fab_directory_add(d, ascii, strlen(ascii), id);
	free(ascii);
	if (strcmp(other, name) != 0) {
		fab_directory_add(d, other, strlen(other), id);
		fab_text_blank(strcpy(other, name));
		fab_directory_add(d, other, len, id);
	}
	free(other);
}

/* The coordinates behind `leaf-` at the end of a name; NULL: it has none. */
static const char *coordinates_of(const char *name)
{
	static const char leaf[] = "leaf-";
	const char *at = NULL;

	for (const char *next = name; (next = strstr(next, leaf)); next++)
		at = next + sizeof(leaf) - 1;
	if (!at || !strchr(at, '.') || strspn(at, "0123456789.") != strlen(at))
		return NULL;
	return at;
}

static void add_switches(struct fab_resolver *r, const struct fab_plain_names *plain)
{
	struct fab_directory *d = r->names[FAB_THING_SWITCH];
	char label[FAB_LABEL_SIZE];

	for (uint32_t s = 0; s < r->f->n_switches; s++) {
		const char *name = fab_node_name(r->f, s);
		const char *coordinates = coordinates_of(name);

		add(d, name, s);
		add(d, fab_label_short(name, label, sizeof(label)), s);
		add(d, plain->of_switch[s], s);
		if (coordinates)
			add(d, coordinates, s);
	}
}

static void add_others(struct fab_resolver *r, const struct fab_plain_names *plain)
{
	const struct fab_fabric *f = r->f;

	for (uint32_t i = f->n_switches; i < f->n_nodes; i++) {
		const char *name = fab_node_name(f, i);

		if (f->node_host[i] == FAB_NONE ||
		    strcmp(name, fab_host_name(f, f->node_host[i])) != 0)
			add(r->names[FAB_THING_ADAPTER], name, i);
	}
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		add(r->names[FAB_THING_HOST], fab_host_name(f, h), h);
		add(r->names[FAB_THING_HOST], plain->of_host[h], h);
	}
}

static void add_guids(struct fab_resolver *r)
{
	const struct fab_fabric *f = r->f;

	for (uint32_t p = 0; p < f->n_ports; p++)
		if (f->port_guid[p] &&
		    fab_map64_put(r->port_guid, f->port_guid[p], p) != p)
			fab_map64_set(r->port_guid, f->port_guid[p], FAB_SHARED);
}

static void add_lids(struct fab_resolver *r)
{
	const struct fab_fabric *f = r->f;

	memset(r->lid, 0xff, FAB_LIDS * sizeof(*r->lid));
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t lid = f->port_lid[p];
		uint32_t end = lid + fab_port_n_lids(f, p);

		for (; lid && lid < end && lid < FAB_LIDS; lid++)
			r->lid[lid] = r->lid[lid] == FAB_NONE ? p : FAB_SHARED;
	}
}

struct fab_resolver *fab_resolver_new(const struct fab_fabric *f)
{
	struct fab_resolver *r = FAB_NEW0(1, struct fab_resolver);
	struct fab_plain_names plain;

	r->f = f;
	r->names[FAB_THING_SWITCH] = fab_directory_new(2 * (size_t)f->n_switches);
	r->names[FAB_THING_ADAPTER] = fab_directory_new(f->n_nodes - f->n_switches);
	r->names[FAB_THING_HOST] = fab_directory_new(f->n_hosts);
	r->node_guid = fab_guids_new(f, f->n_nodes);
	r->port_guid = fab_map64_new(f->n_nodes);
	r->lid = FAB_NEW(FAB_LIDS, uint32_t);
	for (int want = 0; want < FAB_N_WANTS; want++)
		r->view[want] = (struct fab_view){r, (enum fab_want)want};
	fab_plain_names_init(&plain, f);
	add_switches(r, &plain);
	add_others(r, &plain);
	add_guids(r);
	add_lids(r);
	fab_plain_names_fini(&plain, f);
	return r;
}

void fab_resolver_free(struct fab_resolver *r)
{
	if (!r)
		return;
	for (int kind = 0; kind < FAB_N_NAMED; kind++)
		fab_directory_free(r->names[kind]);
	fab_map64_free(r->node_guid);
	fab_map64_free(r->port_guid);
	free(r->lid);
	free(r);
}
