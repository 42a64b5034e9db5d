/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups written by people: NAME: MEMBER MEMBER ... */
#include "mcast/groups.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "mcast/groups_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AMBIGUOUS (FAB_NONE - 1)

/* What a member can be named by. */
struct directory {
	struct fab_strmap *name; /* description or host name to endpoint, AMBIGUOUS */
	struct fab_map64 *guid;	 /* port GUID or node GUID to endpoint */
	struct fab_map64 *lid;
};

struct token {
	const char *text;
	size_t len;
	bool is_quoted;
};

struct reading {
	struct fab_groups_builder *b;
	const struct directory *dir;
	const char *file;
	uint64_t line;
	bool ignore_unknown;
	struct fab_err *err;
};

static unsigned long long line_of(const struct reading *r)
{
	return r->line;
}

/* Bytes of a token in a message. */
static int shown(const struct token *t)
{
	return t->len < FAB_SHOWN_NAME ? (int)t->len : FAB_SHOWN_NAME;
}

/* Where a node sends and receives: its first port with a cable; a switch's port 0. */
static uint32_t endpoint_of(const struct fab_fabric *f, uint32_t node)
{
	if (fab_node_is_switch(f, node))
		return fab_port_find(f, node, 0);
	return fab_node_first_connected_port(f, node);
}

static void add_name(struct directory *d, const char *name, uint32_t endpoint)
{
	size_t len = strlen(name);

	while (len && name[len - 1] == ' ')
		len--; /* vendors leave blanks at the end */
	if (fab_strmap_put(d->name, name, len, endpoint) != endpoint)
		fab_strmap_set(d->name, name, len, AMBIGUOUS);
}

/* A number that two nodes have names neither. */
static void add_number(struct fab_map64 *map, const struct fab_fabric *f, uint64_t number,
		       uint32_t port)
{
	uint32_t old = fab_map64_put(map, number, port);

	if (old != AMBIGUOUS && f->port_node[old] != f->port_node[port])
		fab_map64_set(map, number, AMBIGUOUS);
}

/* A host's name stands for its first adapter with a cable unless a node has that name. */
static void add_hosts(const struct fab_fabric *f, struct directory *d)
{
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		const char *name = fab_host_name(f, h);
		uint32_t a = f->host_first_adapter[h], end = f->host_first_adapter[h + 1];
		uint32_t endpoint = FAB_NONE;

		while (a < end && endpoint == FAB_NONE)
			endpoint = endpoint_of(f, f->host_adapter[a++]);
		if (endpoint != FAB_NONE)
			fab_strmap_put(d->name, name, strlen(name), endpoint);
	}
}

static void directory_init(struct directory *d, const struct fab_fabric *f)
{
	d->name = fab_strmap_new(2 * (size_t)f->n_nodes);
	d->guid = fab_map64_new(2 * (size_t)f->n_nodes);
	d->lid = fab_map64_new(f->n_nodes);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		if (f->port_cable[p] == FAB_NONE && f->port_num[p])
			continue;
		if (f->port_guid[p])
			add_number(d->guid, f, f->port_guid[p], p);
		if (f->port_lid[p])
			add_number(d->lid, f, f->port_lid[p], p);
	}
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t endpoint = endpoint_of(f, i);

		if (endpoint == FAB_NONE)
			continue;
		if (f->node_guid[i])
			fab_map64_put(d->guid, f->node_guid[i], endpoint);
		add_name(d, fab_node_name(f, i), endpoint);
	}
	add_hosts(f, d);
}

static void directory_fini(struct directory *d)
{
	fab_strmap_free(d->name);
	fab_map64_free(d->guid);
	fab_map64_free(d->lid);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* A quoted token ends at a quote before a blank, a colon, a comment or the end. */
static const char *closing_quote(const char *at, const char *end)
{
	for (; at < end; at++)
		if (*at == '"' &&
		    (at + 1 == end || is_blank(at[1]) || at[1] == ':' || at[1] == '#'))
			return at;
	return NULL;
}

/* The next token of the line; len 0 at its end. A missing quote is EINVAL. */
static int next_token(const struct reading *r, const char **at, const char *end,
		      bool stops_at_colon, struct token *t)
{
	const char *start;

	while (*at < end && is_blank(**at))
		++*at;
	*t = (struct token){.text = *at};
	if (*at == end || **at == '#')
		return 0;
	if (**at == '"') {
		const char *close = closing_quote(*at + 1, end);

		if (!close)
			return fab_fail(
				r->err, EINVAL,
				"%s:%llu: a name begins with a quote, expected one at "
				"its end",
				r->file, line_of(r));
		t->text = *at + 1;
		t->len = (size_t)(close - t->text);
		t->is_quoted = true;
		*at = close + 1;
		return 0;
	}
	for (start = *at; *at < end && !is_blank(**at); ++*at)
		if (stops_at_colon && **at == ':' &&
		    (*at + 1 == end || is_blank((*at)[1])))
			break;
	t->len = (size_t)(*at - start);
	return 0;
}

static uint32_t find_member(const struct directory *d, const struct token *t)
{
	size_t len = t->len;
	uint64_t value;

	if (!t->is_quoted) {
		if (len > 4 && !memcmp(t->text, "lid:", 4))
			return fab_parse_u64(t->text + 4, len - 4, 1, UINT16_MAX - 1,
					     &value)
				       ? fab_map64_get(d->lid, value)
				       : FAB_NONE;
		if (len > 2 && !memcmp(t->text, "0x", 2) &&
		    fab_parse_guid(t->text, len, &value))
			return fab_map64_get(d->guid, value);
	}
	while (len && t->text[len - 1] == ' ')
		len--;
	return fab_strmap_get(d->name, t->text, len);
}

/* Do two neighbours make a name together? Then its quotes were forgotten. */
static bool join(const struct reading *r, const struct token *a, const struct token *b,
		 struct token *joined)
{
	if (!a->len || !b->len || a->is_quoted || b->is_quoted)
		return false;
	*joined = (struct token){.text = a->text,
				 .len = (size_t)(b->text + b->len - a->text),
				 .is_quoted = true};
	return find_member(r->dir, joined) != FAB_NONE;
}

/* Member t does not exist; `at` is what follows it, `last` the member before. */
static int unknown(const struct reading *r, const struct token *group,
		   const struct token *last, const struct token *t, const char *at,
		   const char *end)
{
	struct token next, name;

	if (next_token(r, &at, end, false, &next))
		next.len = 0;
	if (join(r, last, t, &name) || join(r, t, &next, &name))
		return fab_fail(
			r->err, EINVAL,
			"%s:%llu: group \"%.*s\": member \"%.*s\" does not exist; "
			"with quotes \"%.*s\" does",
			r->file, line_of(r), shown(group), group->text, shown(t), t->text,
			shown(&name), name.text);
	return fab_fail(
		r->err, EINVAL, "%s:%llu: group \"%.*s\": member \"%.*s\" does not exist",
		r->file, line_of(r), shown(group), group->text, shown(t), t->text);
}

static int ambiguous(const struct reading *r, const struct token *group,
		     const struct token *t)
{
	return fab_fail(r->err, EINVAL,
			"%s:%llu: group \"%.*s\": several nodes are called \"%.*s\", "
			"expected a GUID or lid:N",
			r->file, line_of(r), shown(group), group->text, shown(t),
			t->text);
}

static int read_members(const struct reading *r, const struct token *group,
			const char *at, const char *end)
{
	struct token last = {0}, t;
	int rc = next_token(r, &at, end, false, &t);

	for (; !rc && (t.len || t.is_quoted); rc = next_token(r, &at, end, false, &t)) {
		uint32_t endpoint = find_member(r->dir, &t);

		if (endpoint == AMBIGUOUS)
			return ambiguous(r, group, &t);
		if (endpoint != FAB_NONE)
			fab_groups_builder_add(r->b, endpoint);
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
	struct token group;
	int rc = next_token(r, &at, end, true, &group);

	if (rc || (!group.len && !group.is_quoted))
		return rc;
	while (at < end && is_blank(*at))
		at++;
	if (at == end || *at != ':')
		return fab_fail(
			r->err, EINVAL,
			"%s:%llu: expected NAME: MEMBER MEMBER ..., found no colon "
			"behind \"%.*s\"",
			r->file, line_of(r), shown(&group), group.text);
	at++;
	r->b->here.line = r->line;
	fab_groups_builder_begin(r->b, group.text, group.len);
	return read_members(r, &group, at, end);
}

/* Windows editors begin a file with it. */
static const char *skip_mark(const char *text, size_t len)
{
	return len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? text + 3 : text;
}

int fab_groups_read(struct fab_groups_builder *b, const char *file, const char *text,
		    size_t len, bool ignore_unknown, struct fab_err *err)
{
	struct directory dir;
	struct reading r = {b, &dir, file, 0, ignore_unknown, err};
	const char *at = skip_mark(text, len), *end = text + len;
	size_t n_before = b->first.n;
	int rc = 0;

	if (len && memchr(text, '\0', len))
		return fab_fail(err, EINVAL,
				"%s: a binary file, expected lines of groups", file);
	directory_init(&dir, b->f);
	fab_groups_builder_enter(b, file);
	while (at < end && !rc) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		r.line++;
		rc = read_line(&r, at, stop);
		at = newline ? newline + 1 : end;
	}
	fab_groups_builder_leave(b);
	directory_fini(&dir);
	if (!rc && b->first.n == n_before)
		rc = fab_fail(err, EINVAL,
			      "%s: no group, expected lines NAME: MEMBER MEMBER ...",
			      file);
	return rc;
}
