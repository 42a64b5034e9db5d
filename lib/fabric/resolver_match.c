/* SPDX-License-Identifier: BSD-2-Clause */
/* Patterns, and the resolver as something that lists can ask. */
#include "fabric/resolver_impl.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SWITCH:PORT, both of them patterns. */
static void match_cables(const struct fab_resolver *r, const char *pattern,
			 struct fab_ids *out)
{
	const struct fab_fabric *f = r->f;
	const char *colon = strrchr(pattern, ':');
	bool *is_taken = FAB_NEW0((size_t)f->n_cables + 1, bool);
	struct fab_ids switches = {0};
	char *name, number[8];

	name = fab_strndup(pattern, colon ? (size_t)(colon - pattern) : 0);
	if (colon)
		fab_directory_match(r->names[FAB_THING_SWITCH], name, &switches);
	for (size_t i = 0; i < switches.of.n; i++) {
		uint32_t s = switches.of.v[i];

		for (uint32_t p = f->node_first_port[s]; p < f->node_first_port[s + 1];
		     p++) {
			uint32_t cable = f->port_cable[p];

			snprintf(number, sizeof(number), "%u", f->port_num[p]);
			if (cable == FAB_NONE || is_taken[cable] ||
			    !fab_text_glob(colon + 1, number))
				continue;
			is_taken[cable] = true;
			FAB_PUSH(&out->of, cable);
		}
	}
	free(is_taken);
	free(name);
	free(switches.of.v);
}

static int cmp_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Ids from `first` on, each once. */
static void drop_doubles(struct fab_ids *ids, size_t first)
{
	size_t n = first;

	if (ids->of.n == first)
		return;
	qsort(ids->of.v + first, ids->of.n - first, sizeof(*ids->of.v), cmp_u32);
	for (size_t i = first; i < ids->of.n; i++)
		if (n == first || ids->of.v[n - 1] != ids->of.v[i])
			ids->of.v[n++] = ids->of.v[i];
	ids->of.n = n;
}

static void match(const void *of, const char *pattern, struct fab_ids *out)
{
	static const enum fab_thing_kind order[] = {FAB_THING_HOST, FAB_THING_ADAPTER,
						    FAB_THING_SWITCH};
	const struct fab_view *v = of;
	size_t first = out->of.n;

	if (v->want == FAB_WANT_CABLE) {
		match_cables(v->r, pattern, out);
		return;
	}
	for (size_t i = 0; i < FAB_COUNT(order) && out->of.n == first; i++) {
		struct fab_ids ids = {0};

		if (!(fab_want_kinds(v->want) >> order[i] & 1))
			continue;
		fab_directory_match(v->r->names[order[i]], pattern, &ids);
		for (size_t k = 0; k < ids.of.n; k++) {
			const struct fab_thing t = {order[i], ids.of.v[k]};
			uint32_t id = fab_thing_as(v->r->f, &t, v->want);

			if (id != FAB_NONE)
				FAB_PUSH(&out->of, id);
		}
		free(ids.of.v);
	}
	drop_doubles(out, first);
}

static int find(const void *of, const struct fab_item *name, uint32_t *id,
		struct fab_err *err)
{
	const struct fab_view *v = of;

	return fab_resolve(v->r, v->want, name, id, err);
}

static char *name_of_cable(const struct fab_fabric *f, uint32_t cable)
{
	uint32_t port = f->cable_a[cable];

	return fab_format("%s:%u", fab_node_name(f, f->port_node[port]),
			  f->port_num[port]);
}

static char *name(const void *of, uint32_t id)
{
	const struct fab_view *v = of;
	const struct fab_fabric *f = v->r->f;
	enum fab_member_kind kind;

	switch (v->want) {
	case FAB_WANT_MEMBER:
		return fab_strdup(
			fab_node_name(f, f->port_node[fab_member_port(f, id, &kind)]));
	case FAB_WANT_SWITCH:
		return fab_strdup(fab_node_name(f, id));
	case FAB_WANT_HOST:
		return fab_strdup(fab_host_name(f, id));
	case FAB_WANT_CABLE:
		return name_of_cable(f, id);
	default:
		return fab_strdup(fab_node_name(f, f->port_node[id]));
	}
}

struct fab_lookup fab_resolver_lookup(const struct fab_resolver *r, enum fab_want want)
{
	static const struct {
		const char *one, *many;
	} words[FAB_N_WANTS] = {
		[FAB_WANT_SWITCH] = {"switch", "switches"},
		[FAB_WANT_HOST] = {"host", "hosts"},
		[FAB_WANT_ENDPOINT] = {"member", "members"},
		[FAB_WANT_ADAPTER] = {"adapter", "adapters"},
		[FAB_WANT_CABLE] = {"link", "links"},
		[FAB_WANT_MEMBER] = {"member", "members"},
	};
	const struct fab_fabric *f = r->f;

	return (struct fab_lookup){
		.of = &r->view[want],
		.one = words[want].one,
		.many = words[want].many,
		.n_known = want == FAB_WANT_CABLE ? 2 * (uint64_t)f->n_cables
						  : (uint64_t)f->n_nodes + f->n_hosts,
		.find = find,
		.match = match,
		.name = name,
	};
}
