/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/lookup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHOWN = 80,
	MISSING_SHOWN = 3,
	MATCHES_KEPT = 20,
	NAMES_MIN = 65536,
	IDS_MAX = 1 << 28
};

static int shown(size_t len)
{
	return len > SHOWN ? SHOWN : (int)len;
}

static int shown_short(size_t len)
{
	return len > SHOWN / 2 ? SHOWN / 2 : (int)len;
}

void fab_matches_fini(struct fab_matches *matches)
{
	for (size_t i = 0; i < matches->of.n; i++) {
		free(matches->of.v[i].item);
		free(matches->of.v[i].which);
	}
	free(matches->of.v);
	*matches = (struct fab_matches){0};
}

/* Names of ids from `first` on, separated by commas; on the heap. */
static char *names_of(const struct fab_lookup *l, const struct fab_ids *ids, size_t first)
{
	FAB_VEC(char) text = {0};

	for (size_t i = first; i < ids->of.n; i++) {
		char *name = l->name(l->of, ids->of.v[i]);
		size_t len = strlen(name);
		bool is_odd = strpbrk(name, ", ") != NULL;

		FAB_RESERVE(&text, len + 4);
		text.n +=
			(size_t)sprintf(text.v + text.n, "%s%s%s%s", i > first ? "," : "",
					is_odd ? "\"" : "", name, is_odd ? "\"" : "");
		free(name);
	}
	FAB_PUSH(&text, '\0');
	return text.v;
}

static void note(struct fab_matches *matches, const struct fab_lookup *l,
		 const struct fab_item *item, const struct fab_ids *ids, size_t first)
{
	if (!matches)
		return;
	matches->one = l->one;
	matches->many = l->many;
	if (matches->of.n == MATCHES_KEPT) {
		matches->n_others++;
		return;
	}
	FAB_PUSH(&matches->of,
		 ((struct fab_match){
			 .item = fab_strndup(item->text, item->len),
			 .n = ids->of.n - first,
			 .which = matches->with_names ? names_of(l, ids, first) : NULL}));
}

/* Members of a host list that do not exist. */
struct missing {
	uint64_t n;
	char text[3 * (SHOWN / 2) + 40];
	struct fab_err first;
	bool has_first;
};

static void miss(struct missing *m, const char *name)
{
	size_t at = strlen(m->text);

	if (m->n++ < MISSING_SHOWN)
		snprintf(m->text + at, sizeof(m->text) - at, "%s'%.*s'", at ? ", " : "",
			 SHOWN / 2, name);
}

static int say_missing(const struct fab_lookup *l, const struct fab_item *item,
		       const struct missing *m, uint64_t n, struct fab_err *err)
{
	char more[40] = "";

	if (m->has_first && m->n == 1)
		return fab_fail(err, ENOENT, "'%.*s': %.250s", shown_short(item->len),
				item->text, m->first.text);
	if (m->n > MISSING_SHOWN)
		snprintf(more, sizeof(more), " and %" PRIu64 " more",
			 m->n - MISSING_SHOWN);
	return fab_fail(err, ENOENT,
			"'%.*s': %" PRIu64 " of its %" PRIu64 " names are no %s: %s%s",
			shown_short(item->len), item->text, m->n, n, l->one, m->text,
			more);
}

static int match_pattern(const struct fab_lookup *l, const char *pattern,
			 struct fab_ids *out)
{
	size_t before = out->of.n;

	l->match(l->of, pattern, out);
	return out->of.n > before ? 0 : -ENOENT;
}

/* One name of a host list; it may be a pattern besides. */
static int take_member(const struct fab_lookup *l, const char *name, bool is_pattern,
		       struct fab_ids *out, struct fab_err *err)
{
	struct fab_item one = {.text = name, .len = strlen(name)};
	uint32_t id;
	int rc;

	if (is_pattern)
		return match_pattern(l, name, out);
	rc = l->find(l->of, &one, &id, err);
	if (!rc)
		FAB_PUSH(&out->of, id);
	return rc;
}

static int expand(const struct fab_lookup *l, const struct fab_item *item,
		  struct fab_ids *out, struct fab_err *err)
{
	bool is_pattern = l->match && fab_is_pattern(item->text, item->len);
	uint64_t max = l->n_known > NAMES_MIN ? l->n_known : NAMES_MIN;
	struct fab_hostlist *list;
	struct missing missing = {0};
	const char *name;
	int rc = fab_hostlist_new(item->text, item->len, max, &list, err);

	if (rc)
		return rc;
	while (!rc && (name = fab_hostlist_next(list))) {
		rc = take_member(l, name, is_pattern, out, NULL);
		if (!rc)
			continue;
		if (rc == -ENOENT) {
			if (!missing.n && err && !is_pattern)
				missing.has_first = take_member(l, name, false, out,
								&missing.first) != 0;
			miss(&missing, name);
			rc = 0;
		} else if (err) {
			/* several have the name, or it is something else */
			rc = take_member(l, name, false, out, err);
		}
	}
	if (!rc && missing.n && l->n_missing)
		*l->n_missing += missing.n;
	else if (!rc && missing.n)
		rc = say_missing(l, item, &missing, fab_hostlist_count(list), err);
	fab_hostlist_free(list);
	return rc;
}

/* What does not exist is counted where that is asked for. */
static int count_missing(const struct fab_lookup *l)
{
	++*l->n_missing;
	return 0;
}

/* What a host list or pattern stands for. */
static int take_many(const struct fab_lookup *l, const struct fab_item *item,
		     struct fab_ids *out, struct fab_err *err)
{
	char *pattern;
	int rc;

	if (fab_is_hostlist(item->text, item->len))
		return expand(l, item, out, err);
	pattern = fab_strndup(item->text, item->len);
	rc = match_pattern(l, pattern, out);
	free(pattern);
	if (rc && l->n_missing)
		rc = count_missing(l);
	else if (rc)
		rc = fab_fail(err, ENOENT, "no %s matches '%.*s'", l->one,
			      shown(item->len), item->text);
	return rc;
}

static bool holds(const struct fab_ids *ids, size_t first, uint32_t id)
{
	for (size_t i = first; i < ids->of.n; i++)
		if (ids->of.v[i] == id)
			return true;
	return false;
}

static int two_readings(const struct fab_lookup *l, const struct fab_item *item,
			const char *other, struct fab_err *err)
{
	return fab_fail(
		err, EINVAL,
		"'%.*s' is the name of a %s, and a %s of others: put the name into "
		"\"\"",
		shown(item->len), item->text, l->one, other);
}

int fab_lookup_item(const struct fab_lookup *l, const struct fab_item *item,
		    struct fab_ids *out, struct fab_matches *matches, struct fab_err *err)
{
	bool is_list = fab_is_hostlist(item->text, item->len);
	bool is_many = !item->is_quoted &&
		       (is_list || (l->match && fab_is_pattern(item->text, item->len)));
	size_t first = out->of.n;
	uint32_t id = 0;
	bool is_name;
	int rc;

	if (!is_many) {
		rc = l->find(l->of, item, &id, l->n_missing ? NULL : err);
		if (!rc)
			FAB_PUSH(&out->of, id);
		if (!rc || !l->n_missing)
			return rc;
		return rc == -ENOENT ? count_missing(l) : l->find(l->of, item, &id, err);
	}
	is_name = !l->find(l->of, item, &id, NULL);
	rc = take_many(l, item, out, is_name ? NULL : err);
	if (!is_name) {
		if (!rc)
			note(matches, l, item, out, first);
		return rc;
	}
	if (!rc && holds(out, first, id)) {
		note(matches, l, item, out, first);
		return 0;
	}
	out->of.n = first;
	if (!rc)
		return two_readings(l, item, is_list ? "host list" : "pattern", err);
	FAB_PUSH(&out->of, id);
	return 0;
}

static int take_items(const struct fab_lookup *l, const char *text, const char *end,
		      struct fab_ids *out, struct fab_matches *matches,
		      struct fab_err *err)
{
	struct fab_item item;
	int rc;

	while ((rc = fab_list_next(&text, end, &item, err)) > 0) {
		rc = fab_lookup_item(l, &item, out, matches, err);
		if (rc)
			return rc;
	}
	return rc;
}

int fab_lookup_list(const struct fab_lookup *l, const char *text, size_t len,
		    struct fab_ids *out, struct fab_matches *matches, struct fab_err *err)
{
	const struct fab_item whole = {.text = text, .len = len};
	size_t first = out->of.n;
	uint32_t id;
	int rc;

	/* a name that holds a comma, or begins with a quote, needs no more quotes when
	 * it can be read in no other way */
	if (!len || (!memchr(text, ',', len) && text[0] != '"') ||
	    l->find(l->of, &whole, &id, NULL))
		return take_items(l, text, text + len, out, matches, err);
	rc = take_items(l, text, text + len, out, NULL, NULL);
	if (!rc && out->of.n == first + 1 && out->of.v[first] == id)
		return 0;
	out->of.n = first;
	if (!rc)
		return two_readings(l, &whole, "list", err);
	FAB_PUSH(&out->of, id);
	return 0;
}

static const char blanks[] = " \t\r";

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c) != NULL;
}

static struct fab_item trimmed(const char *from, const char *to, const char *set)
{
	while (from < to && is_one_of(*from, set))
		from++;
	while (to > from && is_one_of(to[-1], set))
		to--;
	return (struct fab_item){.text = from, .len = (size_t)(to - from)};
}

/* The quote that ends the word which one begins; NULL when none does. */
static const char *word_quote(const char *at, const char *end, const char *separators)
{
	while (++at < end)
		if (*at == '"' && (at + 1 == end || is_one_of(at[1], separators)))
			return at;
	return NULL;
}

/* The end of the word at `at`: quotes and brackets hold it together. */
static const char *word_end(const char *at, const char *end, const char *separators)
{
	const char *close = *at == '"' ? word_quote(at, end, separators) : NULL;

	for (at = close ? close + 1 : at; at < end && !is_one_of(*at, separators); at++) {
		close = *at == '[' ? memchr(at, ']', (size_t)(end - at)) : NULL;
		at = close ? close : at;
	}
	return at;
}

/* What stands in "" is a name to the letter. */
static struct fab_item unquoted(struct fab_item word)
{
	if (word.len > 1 && word.text[0] == '"' && word.text[word.len - 1] == '"')
		word = (struct fab_item){word.text + 1, word.len - 2, true};
	return word;
}

/* How many words there are; the first two. */
static size_t split_words(const char *at, const char *end, const char *separators,
			  struct fab_item pair[2])
{
	size_t n = 0;

	while (at < end) {
		const char *stop = word_end(at, end, separators);

		if (n++ < 2)
			pair[n - 1] = unquoted(trimmed(at, stop, blanks));
		for (at = stop; at < end && is_one_of(*at, blanks);)
			at++;
		if (at < end && is_one_of(*at, separators) && !is_one_of(*at, blanks))
			at++;
		while (at < end && is_one_of(*at, blanks))
			at++;
	}
	return n;
}

int fab_lookup_pair(const struct fab_lookup *first, const struct fab_lookup *second,
		    const char *text, size_t len, const char *separators,
		    struct fab_item pair[2], struct fab_err *err)
{
	const struct fab_item all = trimmed(text, text + len, blanks);
	const char *end = all.text + all.len;
	bool has_comma = is_one_of(',', separators);
	unsigned n = 0;

	if (split_words(all.text, end, separators, pair) == 2 && pair[0].len &&
	    pair[1].len)
		return 0;
	for (const char *at = all.text + 1; at < end; at++) {
		struct fab_item a = trimmed(all.text, at, blanks);
		struct fab_item b = trimmed(at, end, has_comma ? ", \t" : " \t");
		uint32_t id;

		if (!is_one_of(*at, separators) || !b.len || at != a.text + a.len ||
		    is_one_of(at[-1], separators))
			continue;
		a = unquoted(a);
		b = unquoted(b);
		if (first->find(first->of, &a, &id, NULL) ||
		    second->find(second->of, &b, &id, NULL))
			continue;
		pair[0] = a;
		pair[1] = b;
		n++;
	}
	if (n == 1)
		return 0;
	return fab_fail(err, EINVAL, "'%.*s': expected two names%s%s%s", shown(all.len),
			all.text, has_comma ? " and a comma between" : "",
			n ? "; it can be read by several rules" : "",
			n ? ": put names into \"\"" : "");
}

/* What a list in lines is added to. */
struct adding_lines {
	const struct fab_lookup *l;
	struct fab_ids *out;
	struct fab_matches *matches;
};

static int add_line(void *context, struct fab_item line, struct fab_err *err)
{
	struct adding_lines *a = context;
	int rc = fab_lookup_list(a->l, line.text, line.len, a->out, a->matches, err);

	/* many patterns may match the same: the sum is bounded */
	if (!rc && a->out->of.n > IDS_MAX)
		return fab_fail(err, EINVAL, "too many names and patterns");
	return rc;
}

int fab_lookup_lines(const struct fab_lookup *l, const char *file, const char *text,
		     size_t len, struct fab_ids *out, struct fab_matches *matches,
		     struct fab_err *err)
{
	struct adding_lines adding = {l, out, matches};
	size_t first = out->of.n;
	int rc = fab_list_lines(file, text, len, add_line, &adding, err);

	if (!rc && out->of.n == first)
		rc = fab_fail(err, EINVAL, "%s: no %s is named in it", file, l->one);
	return rc;
}
