/* SPDX-License-Identifier: BSD-2-Clause */
/* TIME join GROUP MEMBER COUNT, TIME leave GROUP MEMBER: a request a line. */
#include "mcast/events.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/units.h"
#include "fabric/resolver.h"
#include "mcast/groups/collect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A request and where it stands; seats are known when all lines are read. */
struct request {
	struct fab_event event;
	uint32_t port;
	uint64_t line;
};

struct name {
	const char *text; /* borrowed */
	size_t len;
};

struct reading {
	const struct fab_fabric *f;
	const struct fab_resolver *resolver;
	struct fab_line_place place;
	struct fab_strmap *group_of; /* name to number */
	FAB_VEC(struct name) groups;
	FAB_VEC(struct request) requests;
};

void fab_events_free(struct fab_events *e)
{
	if (!e)
		return;
	fab_groups_free(e->groups);
	free(e->v);
	free(e);
}

static bool is_word(const struct fab_token *t, const char *word)
{
	return !t->is_quoted && t->len == strlen(word) && !memcmp(t->text, word, t->len);
}

static int expected(const struct reading *r, const char *what, const struct fab_token *t)
{
	if (!t->len && !t->is_quoted)
		return fab_fail(r->place.err, EINVAL,
				"%s:%llu: expected %s, found the end of the line",
				r->place.file, (unsigned long long)r->place.line, what);
	return fab_fail(r->place.err, EINVAL, "%s:%llu: expected %s, found \"%.*s\"",
			r->place.file, (unsigned long long)r->place.line, what,
			fab_token_shown(t), t->text);
}

static int take(const struct reading *r, const char **at, const char *end,
		struct fab_token *t)
{
	return fab_token_next(&r->place, at, end, false, t);
}

static int read_time(const struct reading *r, const struct fab_token *t,
		     struct fab_event *e)
{
	const struct request *last;

	if (t->is_quoted ||
	    fab_parse_time_ns(t->text, t->len, FAB_MAX_EVENT_NS, &e->time_ns, NULL))
		return expected(r, "a time with its unit, such as 1.5ms", t);
	if (!r->requests.n)
		return 0;
	last = &r->requests.v[r->requests.n - 1];
	if (e->time_ns >= last->event.time_ns)
		return 0;
	return fab_fail(r->place.err, EINVAL,
			"%s:%llu: time %.*s is before that of line %llu, expected "
			"ascending times",
			r->place.file, (unsigned long long)r->place.line,
			fab_token_shown(t), t->text, (unsigned long long)last->line);
}

static uint32_t number_of(struct reading *r, const struct fab_token *t)
{
	uint32_t next = (uint32_t)r->groups.n;
	uint32_t group = fab_strmap_put(r->group_of, t->text, t->len, next);

	if (group == next)
		FAB_PUSH(&r->groups, ((struct name){t->text, t->len}));
	return group;
}

static int read_member(const struct reading *r, const struct fab_token *t, uint32_t *port)
{
	const struct fab_item name = {
		.text = t->text, .len = t->len, .is_quoted = t->is_quoted};
	char prefix[256];

	if (!t->len && !t->is_quoted)
		return expected(r, "a member", t);
	if (!fab_resolve(r->resolver, FAB_WANT_ENDPOINT, &name, port, r->place.err))
		return 0;
	snprintf(prefix, sizeof(prefix), "%.200s:%llu: member", r->place.file,
		 (unsigned long long)r->place.line);
	fab_err_prefix(r->place.err, prefix);
	return -EINVAL;
}

/* What follows the member: COUNT of a join, then perhaps `lost`. */
static int read_rest(const struct reading *r, const char *at, const char *end,
		     struct fab_event *e)
{
	struct fab_token t;
	uint64_t count;
	int rc = take(r, &at, end, &t);

	if (rc)
		return rc;
	if (!e->is_leave) {
		if (t.is_quoted || !fab_parse_u64(t.text, t.len, 1, UINT32_MAX, &count))
			return expected(r, "the number of members of the group", &t);
		e->count = (uint32_t)count;
		rc = take(r, &at, end, &t);
	}
	if (!rc && is_word(&t, "lost")) {
		e->is_lost = true;
		rc = take(r, &at, end, &t);
	}
	if (!rc && (t.len || t.is_quoted))
		rc = expected(r,
			      e->is_lost ? "the end of the line"
					 : "lost or the end of the line",
			      &t);
	return rc;
}

static int read_line(struct reading *r, const char *at, const char *end)
{
	struct request q = {.line = r->place.line};
	struct fab_token t, group;
	int rc = take(r, &at, end, &t);

	if (rc || (!t.len && !t.is_quoted))
		return rc;
	rc = read_time(r, &t, &q.event);
	if (!rc)
		rc = take(r, &at, end, &t);
	if (rc)
		return rc;
	q.event.is_leave = is_word(&t, "leave");
	if (!q.event.is_leave && !is_word(&t, "join"))
		return expected(r, "join or leave", &t);
	rc = take(r, &at, end, &group);
	if (!rc && !group.len)
		rc = expected(r, "the name of a group", &group);
	if (!rc)
		rc = take(r, &at, end, &t);
	if (!rc)
		rc = read_member(r, &t, &q.port);
	if (!rc)
		rc = read_rest(r, at, end, &q.event);
	if (rc)
		return rc;
	q.event.group = number_of(r, &group);
	FAB_PUSH(&r->requests, q);
	return 0;
}

/* The requests of each group together: indexes into requests; first[group] of them. */
static size_t *sort_by_group(const struct reading *r, size_t *first)
{
	size_t *order = FAB_NEW(r->requests.n, size_t);

	memset(first, 0, (r->groups.n + 1) * sizeof(*first));
	for (size_t i = 0; i < r->requests.n; i++)
		first[r->requests.v[i].event.group + 1]++;
	for (size_t g = 0; g < r->groups.n; g++)
		first[g + 1] += first[g];
	for (size_t i = 0; i < r->requests.n; i++)
		order[first[r->requests.v[i].event.group]++] = i;
	for (size_t g = r->groups.n; g > 0; g--)
		first[g] = first[g - 1];
	first[0] = 0;
	return order;
}

/* All groups with all members that are ever named. */
static int make_groups(const struct reading *r, struct fab_groups **out)
{
	struct fab_groups_builder *b = fab_groups_builder_new(r->f);
	size_t *first = FAB_NEW(r->groups.n + 1, size_t);
	size_t *order = sort_by_group(r, first);

	fab_groups_builder_enter(b, r->place.file);
	for (size_t g = 0; g < r->groups.n; g++) {
		b->here.line = r->requests.v[order[first[g]]].line;
		fab_groups_builder_begin(b, r->groups.v[g].text, r->groups.v[g].len);
		for (size_t i = first[g]; i < first[g + 1]; i++)
			fab_groups_builder_add(b, r->requests.v[order[i]].port);
	}
	fab_groups_builder_leave(b);
	free(first);
	free(order);
	return fab_groups_builder_finish(b, false, out, r->place.err);
}

static int finish(const struct reading *r, struct fab_events **out)
{
	struct fab_groups *g;
	struct fab_map64 *seat_of;
	struct fab_events *e;
	int rc = make_groups(r, &g);

	if (rc)
		return rc;
	seat_of = fab_map64_new(g->first[g->n]);
	for (uint32_t i = 0; i < g->n; i++)
		for (uint64_t s = g->first[i]; s < g->first[i + 1]; s++)
			fab_map64_put(seat_of, (uint64_t)i << 32 | g->member[s],
				      (uint32_t)s);
	e = FAB_NEW0(1, struct fab_events);
	e->groups = g;
	e->n = r->requests.n;
	e->v = FAB_NEW(e->n, struct fab_event);
	for (size_t i = 0; i < e->n; i++) {
		const struct request *q = &r->requests.v[i];

		e->v[i] = q->event;
		e->v[i].seat =
			fab_map64_get(seat_of, (uint64_t)q->event.group << 32 | q->port);
	}
	fab_map64_free(seat_of);
	*out = e;
	return 0;
}

static int read_lines(struct reading *r, const char *at, const char *end)
{
	int rc = 0;

	while (at < end && !rc) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		r->place.line++;
		rc = read_line(r, at, stop);
		at = newline ? newline + 1 : end;
	}
	if (!rc && !r->requests.n)
		rc = fab_fail(r->place.err, EINVAL,
			      "%s: no request, expected lines TIME join|leave GROUP "
			      "MEMBER ...",
			      r->place.file);
	return rc;
}

int fab_events_read(const struct fab_fabric *f, const char *file, const char *text,
		    size_t len, struct fab_events **out, struct fab_err *err)
{
	struct reading r = {.f = f, .place = {file, 0, err}};
	struct fab_resolver *resolver;
	bool is_marked = len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3);
	int rc;

	if (len && memchr(text, '\0', len))
		return fab_fail(err, EINVAL,
				"%s: a binary file, expected lines of requests", file);
	r.resolver = resolver = fab_resolver_new(f);
	r.group_of = fab_strmap_new(64);
	rc = read_lines(&r, is_marked ? text + 3 : text, text + len);
	if (!rc)
		rc = finish(&r, out);
	fab_resolver_free(resolver);
	fab_strmap_free(r.group_of);
	free(r.groups.v);
	free(r.requests.v);
	return rc;
}
