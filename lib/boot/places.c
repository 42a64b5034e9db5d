/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/impl.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"

/* Names of nodes, then servers, then units: one range of ids for all. */
struct fab_places {
	const struct fab_machine *m;
	struct fab_machine_names *names;
	struct fab_lookup kind[3];
	uint32_t base[3];
};

struct fab_places *fab_places_new(const struct fab_machine *m)
{
	struct fab_places *p = FAB_NEW(1, struct fab_places);

	*p = (struct fab_places){.m = m,
				 .names = fab_machine_names_new(m),
				 .base = {0, m->n_nodes, m->n_nodes + m->n_servers}};
	p->kind[0] = fab_machine_lookup(p->names, FAB_MACHINE_NODES);
	p->kind[1] = fab_machine_lookup(p->names, FAB_MACHINE_SERVERS);
	p->kind[2] = fab_machine_lookup(p->names, FAB_MACHINE_UNITS);
	return p;
}

void fab_places_free(struct fab_places *places)
{
	if (places)
		fab_machine_names_free(places->names);
	free(places);
}

static int find(const void *of, const struct fab_item *name, uint32_t *id,
		struct fab_err *err)
{
	const struct fab_places *p = of;

	for (int k = 0; k < 3; k++) {
		int rc = p->kind[k].find(p->kind[k].of, name, id, NULL);

		if (!rc) {
			*id += p->base[k];
			return 0;
		}
	}
	if (p->kind[0].find(p->kind[0].of, name, id, err) != -ENOENT)
		return -EINVAL;
	return fab_fail(err, ENOENT, "no node, server or unit is called '%.*s'",
			name->len > 80 ? 80 : (int)name->len, name->text);
}

/* Hosts that the pattern matches; units where it matches no host. */
static void match(const void *of, const char *pattern, struct fab_ids *out)
{
	const struct fab_places *p = of;
	size_t before = out->of.n;

	for (int k = 0; k < 3; k++) {
		size_t from = out->of.n;

		if (k == 2 && out->of.n > before)
			return;
		p->kind[k].match(p->kind[k].of, pattern, out);
		for (size_t i = from; i < out->of.n; i++)
			out->of.v[i] += p->base[k];
	}
}

static char *name_of(const void *of, uint32_t id)
{
	const struct fab_places *p = of;
	int k = id >= p->base[2] ? 2 : id >= p->base[1];

	return p->kind[k].name(p->kind[k].of, id - p->base[k]);
}

int fab_places_each(const struct fab_places *p, const char *list, size_t len,
		    fab_use_place *use, void *context, struct fab_err *err)
{
	const struct fab_machine *m = p->m;
	const struct fab_lookup lookup = {.of = p,
					  .one = "node, server or unit",
					  .many = "nodes, servers or units",
					  .n_known = m->n_vertices,
					  .find = find,
					  .match = match,
					  .name = name_of};
	FAB_AUTOFREE struct fab_ids ids = {0};
	int rc = fab_lookup_list(&lookup, list, len, &ids, NULL, err);

	for (size_t i = 0; i < ids.of.n && !rc; i++) {
		uint32_t id = ids.of.v[i];
		int k = id >= p->base[2] ? 2 : id >= p->base[1];

		id -= p->base[k];
		if (k == 0)
			rc = use(context, true, id, err);
		for (uint32_t n = 0; k == 1 && n < m->n_interfaces && !rc; n++)
			if (m->interface_server[n] == id)
				rc = use(context, false, n, err);
		for (uint32_t n = m->first_node[id]; k == 2 && n < m->end_node[id] && !rc;
		     n++)
			rc = use(context, true, n, err);
	}
	return rc;
}
