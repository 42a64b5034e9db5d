/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups from any source are collected by a builder, then checked and put into flat
 * arrays. A member that was named by its adapter or its host can be any of their ports;
 * when the ports first thought of are on several planes, the group moves to a plane on
 * which all its members have one.
 */
#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "fabric/planes.h"
#include "mcast/groups/collect.h"
#include "traffic/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void fab_groups_free(struct fab_groups *g)
{
	if (!g)
		return;
	FAB_FREE_ALL(g->first, g->member, g->sw_first, g->sw, g->same_as, g->name_at,
		     g->names, g);
}

struct fab_groups_builder *fab_groups_builder_new(const struct fab_fabric *f)
{
	struct fab_groups_builder *b = FAB_NEW0(1, struct fab_groups_builder);

	b->f = f;
	b->seen = FAB_NEW0(f->n_ports, uint32_t);
	return b;
}

void fab_groups_builder_free(struct fab_groups_builder *b)
{
	if (!b)
		return;
	FAB_FREE_ALL(b->seen, b->first.v, b->member.v, b->scope.v, b->name_at.v,
		     b->names.v, b->origin.v);
	for (size_t i = 0; i < b->sources.n; i++)
		free(b->sources.v[i]);
	free(b->sources.v);
	fab_resolver_free(b->resolver);
	fab_matches_fini(&b->matches);
	free(b);
}

struct fab_matches *fab_groups_builder_matches(struct fab_groups_builder *b)
{
	return &b->matches;
}

void fab_groups_builder_enter(struct fab_groups_builder *b, const char *source)
{
	char *copy = fab_strdup(source);

	FAB_PUSH(&b->sources, copy);
	b->here = (struct fab_group_origin){.source = copy};
}

void fab_groups_builder_leave(struct fab_groups_builder *b)
{
	b->here = (struct fab_group_origin){0};
}

void fab_groups_builder_begin(struct fab_groups_builder *b, const char *name, size_t len)
{
	FAB_PUSH(&b->first, b->member.n);
	FAB_PUSH(&b->name_at, b->names.n);
	FAB_PUSH(&b->origin, b->here);
	FAB_RESERVE(&b->names, len + 1);
	memcpy(b->names.v + b->names.n, name, len);
	b->names.v[b->names.n + len] = '\0';
	b->names.n += len + 1;
}

void fab_groups_builder_add(struct fab_groups_builder *b, fab_port_id endpoint)
{
	fab_groups_builder_add_scope(b, endpoint, FAB_MEMBER_PORT);
}

void fab_groups_builder_add_scope(struct fab_groups_builder *b, fab_port_id endpoint,
				  enum fab_member_kind scope)
{
	/* seen holds the number of the group, from 1, that named the endpoint last */
	if (b->seen[endpoint] == b->first.n)
		return;
	b->seen[endpoint] = (uint32_t)b->first.n;
	FAB_PUSH(&b->member, endpoint);
	FAB_PUSH(&b->scope, (uint8_t)scope);
}

/* Move what was collected into flat arrays, leaving out empty groups. */
static struct fab_groups *take(struct fab_groups_builder *b)
{
	struct fab_groups *g = FAB_NEW0(1, struct fab_groups);

	g->first = FAB_NEW(b->first.n + 1, uint64_t);
	g->name_at = FAB_NEW(b->first.n, uint64_t);
	for (size_t i = 0; i < b->first.n; i++) {
		size_t end = i + 1 < b->first.n ? b->first.v[i + 1] : b->member.n;

		if (end == b->first.v[i]) {
			g->n_empty++;
			continue;
		}
		b->origin.v[g->n] = b->origin.v[i];
		g->first[g->n] = b->first.v[i];
		g->name_at[g->n++] = b->name_at.v[i];
	}
	g->first[g->n] = b->member.n;
	g->member = b->member.v;
	g->names = b->names.v;
	g->n_unknown = b->n_unknown;
	b->member.v = NULL;
	b->names.v = NULL;
	return g;
}

/* Put in front of a sentence where the group comes from. Returns -EINVAL. */
static int blame(const struct fab_groups_builder *b, size_t group, struct fab_err *err)
{
	const struct fab_group_origin *o = &b->origin.v[group];
	FAB_AUTOFREE char *prefix = NULL;

	if (!o->source)
		return -EINVAL;
	prefix = o->line ? fab_format("%s:%llu", o->source, (unsigned long long)o->line)
			 : fab_strdup(o->source);
	fab_err_prefix(err, prefix);
	return -EINVAL;
}

/* The different switches of each group, in order of first appearance. */
static int list_switches(const struct fab_groups_builder *b, struct fab_groups *g,
			 struct fab_err *err)
{
	const struct fab_fabric *f = b->f;
	FAB_AUTOFREE uint32_t *seen = FAB_NEW0(f->n_switches, uint32_t);
	uint64_t at = 0;
	int rc = 0;

	g->sw_first = FAB_NEW((size_t)g->n + 1, uint64_t);
	g->sw = FAB_NEW(g->first[g->n], uint32_t);
	for (uint32_t i = 0; i < g->n && !rc; i++) {
		g->sw_first[i] = at;
		for (uint64_t m = g->first[i]; m < g->first[i + 1]; m++) {
			uint32_t s = fab_port_switch(f, g->member[m]);

			if (s == FAB_NONE) {
				fab_fail(err, EINVAL,
					 "group \"%.*s\": member \"%s\" is on no switch",
					 FAB_SHOWN_NAME, fab_group_name(g, i),
					 fab_node_name(f, f->port_node[g->member[m]]));
				rc = blame(b, i, err);
				break;
			}
			if (seen[s] == i + 1)
				continue;
			seen[s] = i + 1;
			g->sw[at++] = s;
		}
	}
	g->sw_first[g->n] = at;
	g->sw = fab_realloc(g->sw, at, sizeof(*g->sw));
	return rc;
}

/* Members of one group must reach each other. */
static int check_connected(const struct fab_groups_builder *b, const struct fab_groups *g,
			   struct fab_err *err)
{
	FAB_AUTO(fab_planes_free_at) struct fab_planes *planes = fab_planes_new(b->f);
	int rc = 0;

	for (uint32_t i = 0; i < g->n && !rc && planes->n > 1; i++)
		for (uint64_t m = g->first[i] + 1; m < g->first[i + 1] && !rc; m++) {
			FAB_AUTOFREE char *apart = fab_planes_apart(
				planes, b->f, g->member[g->first[i]], g->member[m]);

			if (!apart)
				continue;
			fab_fail(err, EINVAL, "group \"%.*s\": %s", FAB_SHOWN_NAME,
				 fab_group_name(g, i), apart);
			rc = blame(b, i, err);
		}
	return rc;
}

struct moving {
	const struct fab_groups_builder *b;
	const struct fab_planes *planes;
};

/* The lowest port of the adapter on a part, FAB_NONE. */
static uint32_t port_on(const struct moving *m, uint32_t adapter, uint32_t part)
{
	const struct fab_fabric *f = m->b->f;

	for (uint32_t p = f->node_first_port[adapter];
	     p < f->node_first_port[adapter + 1]; p++)
		if (f->port_cable[p] != FAB_NONE &&
		    fab_planes_of_port(m->planes, f, p) == part)
			return p;
	return FAB_NONE;
}

/* The port that a member takes on a part, of a host that of its first adapter by name;
 * FAB_NONE when it has none there. */
static uint32_t member_on(const struct moving *m, size_t i, uint32_t part)
{
	const struct fab_fabric *f = m->b->f;
	uint32_t own = m->b->member.v[i], node = f->port_node[own], best = FAB_NONE;
	uint32_t host = f->node_host[node];

	if (fab_planes_of_port(m->planes, f, own) == part)
		return own;
	if (fab_node_is_switch(f, node) || m->b->scope.v[i] == FAB_MEMBER_PORT)
		return FAB_NONE;
	if (m->b->scope.v[i] != FAB_MEMBER_HOST || host == FAB_NONE)
		return port_on(m, node, part);
	for (uint32_t k = f->host_first_adapter[host];
	     k < f->host_first_adapter[host + 1]; k++) {
		uint32_t adapter = f->host_adapter[k], port = port_on(m, adapter, part);

		if (port != FAB_NONE &&
		    (best == FAB_NONE ||
		     fab_text_natural_cmp(fab_node_name(f, adapter),
					  fab_node_name(f, f->port_node[best])) < 0))
			best = port;
	}
	return best;
}

/* The part that the group is to be on: that of its first member if it can be. */
static uint32_t choose_part(const struct moving *m, size_t first, size_t end)
{
	uint32_t own;
	bool is_joined;

	if (first == end)
		return FAB_NONE; /* empty */
	own = fab_planes_of_port(m->planes, m->b->f, m->b->member.v[first]);
	is_joined = own != FAB_NONE;
	for (size_t i = first; i < end && is_joined; i++)
		is_joined =
			fab_planes_of_port(m->planes, m->b->f, m->b->member.v[i]) == own;
	if (is_joined)
		return FAB_NONE; /* unchanged */
	for (uint32_t k = own == FAB_NONE; k <= m->planes->n_planes; k++) {
		uint32_t part = k ? k - 1 : own;
		size_t i = first;

		while (i < end && member_on(m, i, part) != FAB_NONE)
			i++;
		if (i == end)
			return part;
	}
	return FAB_NONE;
}

/* Put all members of a group on one plane, where each can be on it. */
static void share_planes(struct fab_groups_builder *b)
{
	FAB_AUTO(fab_planes_free_at) struct fab_planes *planes = fab_planes_new(b->f);
	const struct moving m = {b, planes};
	FAB_AUTOFREE uint32_t *seen =
		FAB_NEW0(b->f->n_ports, uint32_t); /* last group + 1 */
	size_t at = 0;

	for (size_t g = 0; g < b->first.n && planes->n_planes > 1; g++) {
		size_t first = b->first.v[g];
		size_t end = g + 1 < b->first.n ? b->first.v[g + 1] : b->member.n;
		uint32_t part = choose_part(&m, first, end);

		b->first.v[g] = at;
		/* move the members to `at`, each port once */
		for (size_t i = first; i < end; i++) {
			uint32_t port = part == FAB_NONE ? b->member.v[i]
							 : member_on(&m, i, part);

			if (seen[port] == g + 1)
				continue;
			seen[port] = (uint32_t)g + 1;
			b->scope.v[at] = b->scope.v[i];
			b->member.v[at++] = port;
		}
	}
	if (planes->n_planes > 1)
		b->member.n = b->scope.n = at;
}

int fab_groups_builder_finish(struct fab_groups_builder *b, bool skip_empty,
			      struct fab_groups **out, struct fab_err *err)
{
	struct fab_groups *g = NULL;
	int rc = 0;

	for (size_t i = 0; i < b->first.n && !skip_empty && !rc; i++) {
		if (b->first.v[i] !=
		    (i + 1 < b->first.n ? b->first.v[i + 1] : b->member.n))
			continue;
		fab_fail(err, EINVAL, "group \"%.*s\" has no member", FAB_SHOWN_NAME,
			 b->names.v + b->name_at.v[i]);
		rc = blame(b, i, err);
	}
	if (!rc && !b->member.n)
		rc = fab_fail(
			err, EINVAL,
			"there is no group with a member in the fabric (%llu members and %zu groups left out)",
			(unsigned long long)b->n_unknown, b->first.n);
	if (!rc) {
		share_planes(b);
		g = take(b);
		rc = list_switches(b, g, err);
		if (!rc)
			rc = check_connected(b, g, err);
	}
	if (!rc) { /* groups with the same switches */
		struct fab_map64 *map = fab_map64_new(g->n);

		g->same_as = FAB_NEW(g->n, uint32_t);
		for (uint32_t i = 0; i < g->n; i++) {
			const uint32_t *sw = g->sw + g->sw_first[i];
			size_t n = fab_group_n_switches(g, i), bytes = n * sizeof(*sw);
			uint32_t first =
				fab_map64_put(map, fab_hash_bytes(sw, bytes, 0), i);
			bool is_same = fab_group_n_switches(g, first) == n &&
				       !memcmp(g->sw + g->sw_first[first], sw, bytes);

			g->same_as[i] = is_same ? first : i;
		}
		fab_map64_free(map);
	}
	fab_groups_builder_free(b);
	if (rc)
		fab_groups_free(g);
	else
		*out = g;
	return rc;
}

/* Groups of a pattern. */

struct taker {
	struct fab_groups_builder *b;
	enum fab_member_kind scope;
};

static void begin_group(void *context, const char *name, size_t len)
{
	fab_groups_builder_begin(((struct taker *)context)->b, name, len);
}

static void add_member(void *context, uint32_t port)
{
	const struct taker *t = context;

	fab_groups_builder_add_scope(t->b, port, t->scope);
}

int fab_groups_add_pattern(struct fab_groups_builder *b, const char *spec, uint64_t seed,
			   struct fab_err *err)
{
	struct taker taker = {.b = b};
	const struct fab_pattern_sink sink = {begin_group, add_member, &taker};
	size_t n_before = b->first.n;
	struct fab_pattern p;
	FAB_AUTOFREE char *source = NULL;
	int rc = fab_pattern_parse(spec, seed, &p, err);

	if (rc)
		return rc;
	taker.scope = p.per_host ? FAB_MEMBER_HOST : FAB_MEMBER_ADAPTER;
	source = fab_format("--pattern %s", spec);
	fab_groups_builder_enter(b, source);
	rc = fab_pattern_make(&p, b->f, &sink, err);
	fab_groups_builder_leave(b);
	if (!rc && b->first.n == n_before)
		rc = fab_fail(err, EINVAL,
			      "--pattern %s makes no group of two processes or more",
			      spec);
	return rc;
}

int fab_groups_check_pattern(const char *spec, struct fab_err *err)
{
	struct fab_pattern p;

	return fab_pattern_parse(spec, 0, &p, err);
}
