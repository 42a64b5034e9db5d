/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups written by people: NAME: MEMBER MEMBER ... */
#include "base/mem.h"
#include "mcast/groups.h"
#include "mcast/groups/collect.h"
#include "mcast/tables.h"

#include <errno.h>
#include <string.h>

struct reading {
	struct fab_groups_builder *b;
	struct fab_lookup lookup;
	struct fab_line_place place;
};

/* Do two neighbours make a name together? Then its quotes were forgotten. */
static bool join(const struct reading *r, const struct fab_token *a,
		 const struct fab_token *b, struct fab_item *joined)
{
	uint32_t port;

	if (!a->len || !b->len || a->is_quoted || b->is_quoted)
		return false;
	*joined = (struct fab_item){.text = a->text,
				    .len = (size_t)(b->text + b->len - a->text),
				    .is_quoted = true};
	return !r->lookup.find(r->lookup.of, joined, &port, NULL);
}

/* Put file, line and group in front of what is wrong with a member. */
static int blame(const struct reading *r, const struct fab_token *group)
{
	FAB_AUTOFREE char *prefix = fab_format("%s:%llu: group \"%.*s\"", r->place.file,
					       (unsigned long long)r->place.line,
					       fab_token_shown(group), group->text);

	fab_err_prefix(r->place.err, prefix);
	return -EINVAL;
}

/* Report unknown member t; `at` follows it, `last` is the member before. */
static int unknown(const struct reading *r, const struct fab_token *group,
		   const struct fab_token *last, const struct fab_token *t,
		   const char *at, const char *end)
{
	struct fab_token next;
	struct fab_item name;

	if (fab_token_next(&r->place, &at, end, false, &next))
		next.len = 0;
	if (join(r, last, t, &name) || join(r, t, &next, &name))
		fab_fail(
			r->place.err, EINVAL,
			"no switch, host or adapter is called '%.*s'; with quotes \"%.*s\" is one",
			fab_token_shown(t), t->text,
			name.len < FAB_SHOWN_NAME ? (int)name.len : FAB_SHOWN_NAME,
			name.text);
	return blame(r, group);
}

static int read_member(const struct reading *r, const struct fab_token *t)
{
	const struct fab_item name = {
		.text = t->text, .len = t->len, .is_quoted = t->is_quoted};
	FAB_AUTOFREE struct fab_ids members = {0};
	int rc = t->is_quoted ? fab_lookup_item(&r->lookup, &name, &members, NULL,
						r->place.err)
			      : fab_lookup_list(&r->lookup, t->text, t->len, &members,
						&r->b->matches, r->place.err);

	for (size_t i = 0; i < members.of.n && !rc; i++) {
		enum fab_member_kind kind;
		uint32_t port = fab_member_port(r->b->f, members.of.v[i], &kind);

		fab_groups_builder_add_scope(r->b, port, kind);
	}
	return rc;
}

static int read_line(void *context, const char *at, const char *end)
{
	const struct reading *r = context;
	struct fab_token group, last = {0}, t;
	bool has_colon;
	int rc = fab_name_next(&r->place, &at, end, &group, &has_colon);

	if (rc || (!group.len && !group.is_quoted))
		return rc;
	if (!has_colon)
		return fab_line_fail(
			&r->place,
			"expected NAME: MEMBER MEMBER ..., found no colon behind \"%.*s\"",
			fab_token_shown(&group), group.text);
	r->b->here.line = r->place.line;
	fab_groups_builder_begin(r->b, group.text, group.len);
	rc = fab_token_next(&r->place, &at, end, false, &t);
	for (; !rc && (t.len || t.is_quoted);
	     rc = fab_token_next(&r->place, &at, end, false, &t)) {
		rc = read_member(r, &t);
		if (rc == -ENOENT)
			return unknown(r, &group, &last, &t, at, end);
		if (rc)
			return blame(r, &group);
		last = t;
	}
	return rc;
}

int fab_groups_read(struct fab_groups_builder *b, const char *file, const char *text,
		    size_t len, bool ignore_unknown, struct fab_err *err)
{
	struct reading r = {.b = b, .place = {file, 0, err}};
	const char *start =
		len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? text + 3 : text;
	size_t n = len - (size_t)(start - text), n_before = b->first.n;
	struct fab_mft *mft;
	int rc;

	fab_groups_builder_enter(b, file);
	if (len && memchr(text, '\0', len)) {
		rc = fab_fail(err, EINVAL, "%s: a binary file, expected lines of groups",
			      file);
	} else if (fab_is_mcfdbs(start, n)) {
		rc = fab_mcfdbs_read(b->f, file, start, n, ignore_unknown, &mft, err);
		if (!rc) { /* a group for each MLID */
			b->n_unknown += mft->n_unknown_switches;
			fab_groups_add_mft(b, mft);
			fab_mft_free(mft);
		}
	} else if (fab_is_saquery(start, n)) {
		rc = fab_saquery_read(b, file, start, n, ignore_unknown, err);
	} else {
		if (!b->resolver)
			b->resolver = fab_resolver_new(b->f);
		r.lookup = fab_resolver_lookup(b->resolver, FAB_WANT_MEMBER);
		if (ignore_unknown)
			r.lookup.n_missing = &b->n_unknown;
		rc = fab_lines_each(&r.place, "lines of groups", text, len, read_line,
				    &r);
		if (!rc && b->first.n == n_before)
			rc = fab_fail(
				err, EINVAL,
				"%s: no group, expected lines NAME: MEMBER MEMBER ...",
				file);
	}
	fab_groups_builder_leave(b);
	return rc;
}
