/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/ends.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "fabric/resolver.h"

enum { TEXT_MAX = 120 };

void fab_flow_ends_init(struct fab_flow_ends *ends, const struct fab_fabric *f,
			const bool *switch_is_dead, const bool *cable_is_dead)
{
	ends->n = 0;
	ends->port = FAB_NEW(f->n_ports + 1, uint32_t);
	ends->sw = FAB_NEW(f->n_ports + 1, uint32_t);
	for (uint32_t p = f->node_first_port[f->n_switches]; p < f->n_ports; p++) {
		uint32_t sw = fab_port_switch(f, p);

		if (f->node_kind[f->port_node[p]] != FAB_ADAPTER || sw == FAB_NONE ||
		    (switch_is_dead && switch_is_dead[sw]) ||
		    (cable_is_dead && cable_is_dead[f->port_cable[p]]))
			continue;
		ends->port[ends->n] = p;
		ends->sw[ends->n++] = sw;
	}
}

void fab_flow_ends_fini(struct fab_flow_ends *ends)
{
	free(ends->port);
	free(ends->sw);
}

void fab_end_names_init(struct fab_end_names *names, const struct fab_fabric *f,
			const struct fab_flow_ends *ends)
{
	names->f = f;
	names->resolver = fab_resolver_new(f);
	names->hosts = fab_resolver_lookup(names->resolver, FAB_WANT_ADAPTER);
	names->one = names->hosts;
	names->one.match = NULL;
	names->end_of = fab_map64_new(ends->n);
	for (uint32_t i = 0; i < ends->n; i++)
		fab_map64_put(names->end_of, ends->port[i], i);
}

void fab_end_names_fini(struct fab_end_names *names)
{
	fab_map64_free(names->end_of);
	fab_resolver_free(names->resolver);
}

static int find(const struct fab_end_names *names, const struct fab_lookup *lookup,
		const struct fab_item *item, struct fab_ids *out, struct fab_err *err)
{
	int rc = fab_lookup_item(lookup, item, out, NULL, err);

	for (size_t i = 0; i < out->of.n && !rc; i++) {
		uint32_t port = out->of.v[i];

		out->of.v[i] = fab_map64_get(names->end_of, port);
		if (out->of.v[i] == FAB_NONE)
			rc = fab_fail(
				err, ENOENT,
				"'%.*s' is no live host adapter: it, its switch or its cable is dead, or it is no host's",
				TEXT_MAX,
				fab_node_name(names->f, names->f->port_node[port]));
	}
	return rc;
}

int fab_end_names_find(const struct fab_end_names *names, const struct fab_item *item,
		       struct fab_ids *out, struct fab_err *err)
{
	return find(names, &names->one, item, out, err);
}

int fab_end_names_mark(const struct fab_end_names *names,
		       const struct fab_flow_ends *ends, const char *list, uint32_t job,
		       uint32_t *of, struct fab_err *err)
{
	const char *at = list, *end = list + strlen(list);
	struct fab_item item;
	int rc;

	while ((rc = fab_list_next(&at, end, &item, err)) > 0) {
		struct fab_ids ids = {0};

		rc = find(names, &names->hosts, &item, &ids, err);
		for (size_t i = 0; i < ids.of.n && !rc; i++) {
			uint32_t *e = &of[ids.of.v[i]], port = ends->port[ids.of.v[i]];

			if (*e != FAB_NONE && *e != job)
				rc = fab_fail(
					err, EINVAL,
					"'%.100s' is in job %u and job %u: a host is in one",
					fab_node_name(names->f,
						      names->f->port_node[port]),
					*e + 1, job + 1);
			else
				*e = job;
		}
		free(ids.of.v);
		if (rc)
			return rc;
	}
	return rc;
}

void fab_flow_ends_keep(struct fab_flow_ends *ends, uint32_t *of)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < ends->n; e++)
		if (of[e] != FAB_NONE) {
			of[n] = of[e];
			ends->port[n] = ends->port[e];
			ends->sw[n++] = ends->sw[e];
		}
	ends->n = n;
}

int fab_flow_ends_choose(struct fab_flow_ends *ends, const struct fab_fabric *f,
			 const char *const *list, size_t n, struct fab_err *err)
{
	FAB_AUTO(fab_end_names_fini) struct fab_end_names names = {0};
	FAB_AUTOFREE uint32_t *of = fab_none_new((size_t)ends->n + 1);
	int rc = 0;

	if (!n)
		return 0;
	fab_end_names_init(&names, f, ends);
	for (size_t i = 0; i < n && !rc; i++)
		rc = fab_end_names_mark(&names, ends, list[i], 0, of, err);
	if (!rc)
		fab_flow_ends_keep(ends, of);
	return rc;
}
