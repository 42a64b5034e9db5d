/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups written by people: NAME: MEMBER MEMBER ... */
#include "mcast/groups.h"

#include "base/mem.h"
#include "mcast/groups_impl.h"
#include "mcast/mcfdbs.h"
#include "mcast/members.h"
#include "mcast/saquery.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reading {
	struct fab_groups_builder *b;
	const struct fab_members *dir;
	struct fab_line_place place;
	bool ignore_unknown;
};

static unsigned long long line_of(const struct reading *r)
{
	return r->place.line;
}

/* Do two neighbours make a name together? Then its quotes were forgotten. */
static bool join(const struct reading *r, const struct fab_token *a,
		 const struct fab_token *b, struct fab_token *joined)
{
	if (!a->len || !b->len || a->is_quoted || b->is_quoted)
		return false;
	*joined = (struct fab_token){.text = a->text,
				     .len = (size_t)(b->text + b->len - a->text),
				     .is_quoted = true};
	return fab_members_find(r->dir, joined) != FAB_NONE;
}

/* Member t does not exist; `at` is what follows it, `last` the member before. */
static int unknown(const struct reading *r, const struct fab_token *group,
		   const struct fab_token *last, const struct fab_token *t,
		   const char *at, const char *end)
{
	struct fab_token next, name;

	if (fab_token_next(&r->place, &at, end, false, &next))
		next.len = 0;
	if (join(r, last, t, &name) || join(r, t, &next, &name))
		return fab_fail(
			r->place.err, EINVAL,
			"%s:%llu: group \"%.*s\": member \"%.*s\" does not exist; "
			"with quotes \"%.*s\" does",
			r->place.file, line_of(r), fab_token_shown(group), group->text,
			fab_token_shown(t), t->text, fab_token_shown(&name), name.text);
	return fab_fail(r->place.err, EINVAL,
			"%s:%llu: group \"%.*s\": member \"%.*s\" does not exist",
			r->place.file, line_of(r), fab_token_shown(group), group->text,
			fab_token_shown(t), t->text);
}

static int ambiguous(const struct reading *r, const struct fab_token *group,
		     const struct fab_token *t)
{
	return fab_fail(r->place.err, EINVAL,
			"%s:%llu: group \"%.*s\": several nodes are called \"%.*s\", "
			"expected a GUID or lid:N",
			r->place.file, line_of(r), fab_token_shown(group), group->text,
			fab_token_shown(t), t->text);
}

/* How much of the fabric a token names, when it names this endpoint. */
static enum fab_scope scope_of(const struct reading *r, uint32_t endpoint,
			       const struct fab_token *t)
{
	const struct fab_fabric *f = r->b->f;
	uint32_t node = f->port_node[endpoint], host = f->node_host[node];
	size_t len = t->len;

	while (len && t->text[len - 1] == ' ')
		len--;
	if (!strncasecmp(fab_node_name(f, node), t->text, len) &&
	    !fab_node_name(f, node)[len + strspn(fab_node_name(f, node) + len, " ")])
		return FAB_SCOPE_ADAPTER;
	if (host != FAB_NONE && !strncasecmp(fab_host_name(f, host), t->text, len) &&
	    !fab_host_name(f, host)[len])
		return FAB_SCOPE_HOST;
	return FAB_SCOPE_PORT;
}

static int read_members(const struct reading *r, const struct fab_token *group,
			const char *at, const char *end)
{
	struct fab_token last = {0}, t;
	int rc = fab_token_next(&r->place, &at, end, false, &t);

	for (; !rc && (t.len || t.is_quoted);
	     rc = fab_token_next(&r->place, &at, end, false, &t)) {
		uint32_t endpoint = fab_members_find(r->dir, &t);

		if (endpoint == FAB_MEMBER_AMBIGUOUS)
			return ambiguous(r, group, &t);
		if (endpoint != FAB_NONE)
			fab_groups_builder_add_scope(r->b, endpoint,
						     scope_of(r, endpoint, &t));
		else if (r->ignore_unknown)
			fab_groups_builder_count_unknown(r->b, 1);
		else
			return unknown(r, group, &last, &t, at, end);
		last = t;
	}
	return rc;
}

static int read_line(const struct reading *r, const char *at, const char *end)
{
	struct fab_token group;
	int rc = fab_token_next(&r->place, &at, end, true, &group);

	if (rc || (!group.len && !group.is_quoted))
		return rc;
	while (at < end && fab_token_is_blank(*at))
		at++;
	if (at == end || *at != ':')
		return fab_fail(
			r->place.err, EINVAL,
			"%s:%llu: expected NAME: MEMBER MEMBER ..., found no colon "
			"behind \"%.*s\"",
			r->place.file, line_of(r), fab_token_shown(&group), group.text);
	at++;
	r->b->here.line = r->place.line;
	fab_groups_builder_begin(r->b, group.text, group.len);
	return read_members(r, &group, at, end);
}

/* Windows editors begin a file with it. */
static const char *skip_mark(const char *text, size_t len)
{
	return len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? text + 3 : text;
}

/* A group for each MLID of forwarding tables. */
static int read_tables(struct fab_groups_builder *b, const char *file, const char *text,
		       size_t len, bool ignore_unknown, struct fab_err *err)
{
	struct fab_mft *mft;
	int rc = fab_mcfdbs_read(b->f, file, text, len, ignore_unknown, &mft, err);

	if (rc)
		return rc;
	fab_groups_builder_count_unknown(b, mft->n_unknown_switches);
	fab_groups_add_mft(b, mft);
	fab_mft_free(mft);
	return 0;
}

static int read_lines(struct fab_groups_builder *b, const char *file, const char *text,
		      size_t len, bool ignore_unknown, struct fab_err *err)
{
	struct fab_members dir;
	struct reading r = {b, &dir, {file, 0, err}, ignore_unknown};
	const char *at = text, *end = text + len;
	size_t n_before = b->first.n;
	int rc = 0;

	fab_members_init(&dir, b->f);
	while (at < end && !rc) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		r.place.line++;
		rc = read_line(&r, at, stop);
		at = newline ? newline + 1 : end;
	}
	fab_members_fini(&dir);
	if (!rc && b->first.n == n_before)
		rc = fab_fail(err, EINVAL,
			      "%s: no group, expected lines NAME: MEMBER MEMBER ...",
			      file);
	return rc;
}

int fab_groups_read(struct fab_groups_builder *b, const char *file, const char *text,
		    size_t len, bool ignore_unknown, struct fab_err *err)
{
	const char *start = skip_mark(text, len);
	size_t n = len - (size_t)(start - text);
	int rc;

	if (len && memchr(text, '\0', len))
		return fab_fail(err, EINVAL,
				"%s: a binary file, expected lines of groups", file);
	fab_groups_builder_enter(b, file);
	if (fab_is_mcfdbs(start, n))
		rc = read_tables(b, file, start, n, ignore_unknown, err);
	else if (fab_is_saquery(start, n))
		rc = fab_saquery_read(b, file, start, n, ignore_unknown, err);
	else
		rc = read_lines(b, file, start, n, ignore_unknown, err);
	fab_groups_builder_leave(b);
	return rc;
}
