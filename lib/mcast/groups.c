/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/groups.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "fabric/planes.h"
#include "mcast/groups_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void fab_groups_free(struct fab_groups *g)
{
	if (!g)
		return;
	free(g->first);
	free(g->member);
	free(g->sw_first);
	free(g->sw);
	free(g->same_as);
	free(g->name_at);
	free(g->names);
	free(g);
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
	free(b->seen);
	free(b->first.v);
	free(b->member.v);
	free(b->scope.v);
	free(b->name_at.v);
	free(b->names.v);
	free(b->origin.v);
	for (size_t i = 0; i < b->sources.n; i++)
		free(b->sources.v[i]);
	free(b->sources.v);
	fab_resolver_free(b->resolver);
	fab_matches_fini(&b->matches);
	free(b);
}

const struct fab_resolver *fab_groups_builder_resolver(struct fab_groups_builder *b)
{
	if (!b->resolver)
		b->resolver = fab_resolver_new(b->f);
	return b->resolver;
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
	fab_groups_builder_add_scope(b, endpoint, FAB_SCOPE_PORT);
}

void fab_groups_builder_add_scope(struct fab_groups_builder *b, fab_port_id endpoint,
				  enum fab_scope scope)
{
	/* seen holds the number of the group, from 1, that named the endpoint last */
	if (b->seen[endpoint] == b->first.n)
		return;
	b->seen[endpoint] = (uint32_t)b->first.n;
	FAB_PUSH(&b->member, endpoint);
	FAB_PUSH(&b->scope, (uint8_t)scope);
}

void fab_groups_builder_count_unknown(struct fab_groups_builder *b, uint64_t n)
{
	b->n_unknown += n;
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
	char *prefix;

	if (!o->source)
		return -EINVAL;
	prefix = o->line ? fab_format("%s:%llu", o->source, (unsigned long long)o->line)
			 : fab_strdup(o->source);
	fab_err_prefix(err, prefix);
	free(prefix);
	return -EINVAL;
}

/* Every group has a member. */
static int check_empty(const struct fab_groups_builder *b, struct fab_err *err)
{
	for (size_t i = 0; i < b->first.n; i++) {
		if (b->first.v[i] !=
		    (i + 1 < b->first.n ? b->first.v[i + 1] : b->member.n))
			continue;
		fab_fail(err, EINVAL, "group \"%.*s\" has no member", FAB_SHOWN_NAME,
			 b->names.v + b->name_at.v[i]);
		return blame(b, i, err);
	}
	return 0;
}

/* The different switches of each group, in order of first appearance. */
static int list_switches(const struct fab_groups_builder *b, struct fab_groups *g,
			 struct fab_err *err)
{
	const struct fab_fabric *f = b->f;
	uint32_t *seen = FAB_NEW0(f->n_switches, uint32_t);
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
					 "group \"%.*s\": member \"%s\" hangs on no "
					 "switch",
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
	free(seen);
	return rc;
}

/* Members of one group must reach each other. */
static int check_group(const struct fab_groups_builder *b, const struct fab_groups *g,
		       const struct fab_planes *planes, uint32_t group,
		       struct fab_err *err)
{
	const struct fab_fabric *f = b->f;

	for (uint64_t m = g->first[group] + 1; m < g->first[group + 1]; m++) {
		uint32_t x = g->member[g->first[group]], y = g->member[m];
		char *apart = fab_planes_apart(planes, f, x, y);

		if (!apart)
			continue;
		fab_fail(err, EINVAL, "group \"%.*s\": %s", FAB_SHOWN_NAME,
			 fab_group_name(g, group), apart);
		free(apart);
		return blame(b, group, err);
	}
	return 0;
}

static int check_connected(const struct fab_groups_builder *b, const struct fab_groups *g,
			   struct fab_err *err)
{
	struct fab_planes *planes = fab_planes_new(b->f);
	int rc = 0;

	for (uint32_t i = 0; i < g->n && !rc && planes->n > 1; i++)
		rc = check_group(b, g, planes, i, err);
	fab_planes_free(planes);
	return rc;
}

static bool same_switches(const struct fab_groups *g, uint32_t a, uint32_t b)
{
	uint32_t n = fab_group_n_switches(g, a);

	return n == fab_group_n_switches(g, b) &&
	       !memcmp(g->sw + g->sw_first[a], g->sw + g->sw_first[b],
		       n * sizeof(*g->sw));
}

static void find_same(struct fab_groups *g)
{
	struct fab_map64 *map = fab_map64_new(g->n);

	g->same_as = FAB_NEW(g->n, uint32_t);
	for (uint32_t i = 0; i < g->n; i++) {
		uint64_t hash =
			fab_hash_bytes(g->sw + g->sw_first[i],
				       fab_group_n_switches(g, i) * sizeof(*g->sw), 0);
		uint32_t first = fab_map64_put(map, hash, i);

		g->same_as[i] = same_switches(g, first, i) ? first : i;
	}
	fab_map64_free(map);
}

int fab_groups_builder_finish(struct fab_groups_builder *b, bool skip_empty,
			      struct fab_groups **out, struct fab_err *err)
{
	struct fab_groups *g = NULL;
	int rc = skip_empty ? 0 : check_empty(b, err);

	if (!rc && !b->member.n)
		rc = fab_fail(err, EINVAL,
			      "there is no group with a member in the fabric (%llu "
			      "members and %zu groups left out)",
			      (unsigned long long)b->n_unknown, b->first.n);
	if (!rc) {
		fab_groups_share_planes(b);
		g = take(b);
		rc = list_switches(b, g, err);
		if (!rc)
			rc = check_connected(b, g, err);
		if (!rc)
			find_same(g);
	}
	fab_groups_builder_free(b);
	if (rc)
		fab_groups_free(g);
	else
		*out = g;
	return rc;
}
