/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/lookup.h"

#include "base/map.h"
#include "base/num.h"
#include "base/progress.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR_MAX_LEN = 200, NEAR_MAX_DISTANCE = 3, STACK_KEY = 256 };
static const uint64_t NEAR_MAX_STEPS = 100 * 1000 * 1000;

struct entry {
	size_t name;	  /* offset in names */
	uint32_t next[2]; /* of the same name: by case, without */
	uint32_t id;
	uint32_t len;
};

/* All entries of a name. */
struct chain {
	uint32_t first, last, n;
};

struct fab_directory {
	struct fab_strmap *map[2]; /* to chains; [1]: lower case */
	FAB_VEC(struct chain) chains;
	FAB_VEC(struct entry) entries;
	FAB_VEC(char) names;
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_name_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void trim_name(const char **name, size_t *len)
{
	while (*len && is_name_blank((*name)[*len - 1]))
		--*len;
	while (*len && is_name_blank(**name)) {
		++*name;
		--*len;
	}
}

struct fab_directory *fab_directory_new(size_t expected)
{
	struct fab_directory *d = FAB_NEW0(1, struct fab_directory);

	d->map[0] = fab_strmap_new(expected);
	d->map[1] = fab_strmap_new(expected);
	return d;
}

void fab_directory_free(struct fab_directory *d)
{
	if (!d)
		return;
	fab_strmap_free(d->map[0]);
	fab_strmap_free(d->map[1]);
	FAB_FREE_ALL(d->chains.v, d->entries.v, d->names.v, d);
}

/* Lower case, on the heap unless `room` holds it. */
static char *lowered(const char *name, size_t len, char room[STACK_KEY])
{
	char *out = len <= STACK_KEY ? room : fab_alloc(len, 1);

	for (size_t i = 0; i < len; i++)
		out[i] = lower(name[i]);
	return out;
}

/* Put the entry into the chain of its name; false: its id is there already. */
static bool link_entry(struct fab_directory *d, int which, const char *key, size_t len,
		       uint32_t entry)
{
	uint32_t fresh = (uint32_t)d->chains.n;
	uint32_t at = fab_strmap_put(d->map[which], key, len, fresh);
	struct chain *c;

	d->entries.v[entry].next[which] = FAB_NONE;
	if (at == fresh) {
		FAB_PUSH(&d->chains, ((struct chain){entry, entry, 1}));
		return true;
	}
	c = &d->chains.v[at];
	if (d->entries.v[c->last].id == d->entries.v[entry].id)
		return false;
	d->entries.v[c->last].next[which] = entry;
	c->last = entry;
	c->n++;
	return true;
}

void fab_directory_add(struct fab_directory *d, const char *name, size_t len, uint32_t id)
{
	uint32_t entry = (uint32_t)d->entries.n;
	char room[STACK_KEY], *key;

	trim_name(&name, &len);
	if (!len)
		return;
	FAB_PUSH(&d->entries,
		 ((struct entry){.name = d->names.n, .len = (uint32_t)len, .id = id}));
	if (!link_entry(d, 0, name, len, entry)) {
		d->entries.n--;
		return;
	}
	FAB_RESERVE(&d->names, len + 1);
	memcpy(d->names.v + d->names.n, name, len);
	d->names.v[d->names.n + len] = '\0';
	d->names.n += len + 1;
	key = lowered(name, len, room);
	link_entry(d, 1, key, len, entry);
	if (key != room)
		free(key);
}

struct fab_hits fab_directory_find(const struct fab_directory *d, const char *name,
				   size_t len, bool by_case)
{
	struct fab_hits hits = {.next = FAB_NONE, .by_case = by_case};
	uint32_t chain;

	trim_name(&name, &len);
	if (by_case) {
		chain = fab_strmap_get(d->map[0], name, len);
	} else {
		char room[STACK_KEY] = "", *key = lowered(name, len, room);

		chain = fab_strmap_get(d->map[1], key, len);
		if (key != room)
			free(key);
	}
	if (chain == FAB_NONE)
		return hits;
	hits.n = d->chains.v[chain].n;
	hits.next = d->chains.v[chain].first;
	return hits;
}

uint32_t fab_directory_hit(const struct fab_directory *d, struct fab_hits *hits)
{
	const struct entry *e = &d->entries.v[hits->next];

	hits->next = e->next[!hits->by_case];
	return e->id;
}

void fab_directory_match(const struct fab_directory *d, const char *pattern,
			 struct fab_ids *out)
{
	size_t before = out->of.n;

	for (size_t i = 0; i < d->entries.n; i++) {
		const struct entry *e = &d->entries.v[i];

		if (out->of.n > before && out->of.v[out->of.n - 1] == e->id)
			continue;
		if (fab_text_glob(pattern, d->names.v + e->name))
			FAB_PUSH(&out->of, e->id);
	}
}

/*
 * Edits (change, omission, insertion of a character) from a to b, case ignored;
 * limit + 1 when there are more. Only the band around the diagonal is looked at.
 */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb,
			 unsigned limit)
{
	unsigned row[NEAR_MAX_LEN + 2], too_far = limit + 1;

	for (size_t j = 0; j <= nb; j++)
		row[j] = j <= limit ? (unsigned)j : too_far;
	for (size_t i = 1; i <= na; i++) {
		size_t from = i > limit ? i - limit : 1;
		size_t to = i + limit < nb ? i + limit : nb;
		unsigned diagonal = row[from - 1], least = too_far;

		row[from - 1] = from == 1 && i <= limit ? (unsigned)i : too_far;
		for (size_t j = from; j <= to; j++) {
			unsigned up = row[j], best = diagonal;

			best += lower(a[i - 1]) != lower(b[j - 1]);
			best = up + 1 < best ? up + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			row[j] = best < too_far ? best : too_far;
			least = row[j] < least ? row[j] : least;
			diagonal = up;
		}
		if (least == too_far)
			return too_far;
	}
	return row[nb];
}

void fab_directory_nearest(const struct fab_directory *d, const char *name, size_t len,
			   struct fab_near *best)
{
	uint64_t steps = 0;
	unsigned limit;

	trim_name(&name, &len);
	if (!len || len > NEAR_MAX_LEN || (best->name && !best->distance))
		return;
	limit = len < 3 ? 1 : len < 9 ? (unsigned)(len / 3) : NEAR_MAX_DISTANCE;
	if (best->name)
		limit = best->distance - 1;
	for (size_t i = 0; i < d->entries.n && steps < NEAR_MAX_STEPS; i++) {
		const struct entry *e = &d->entries.v[i];
		unsigned far;

		steps++;
		if (e->len > NEAR_MAX_LEN || e->len + limit < len || len + limit < e->len)
			continue;
		steps += len * (2 * limit + 1);
		far = distance(name, len, d->names.v + e->name, e->len, limit);
		if (far > limit)
			continue;
		*best = (struct fab_near){d->names.v + e->name, far};
		if (!far)
			return;
		limit = far - 1;
	}
}

enum { BRACKETS_MAX = 16, SHOWN = 80, DIGITS_MAX = 18 };

static int shown(size_t len)
{
	return len > SHOWN ? SHOWN : (int)len;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Behind the bracket of a host list that begins at `at`; NULL when none does. */
static const char *behind_ranges(const char *at, const char *end)
{
	if (at == end || *at != '[')
		return NULL;
	for (at++; at < end && (*at == '-' || *at == ',' || (*at >= '0' && *at <= '9'));)
		at++;
	return at < end && *at == ']' ? at + 1 : NULL;
}

/* The end of an item in "": the last quote before a comma or the end of the list. */
static const char *closing_quote(const char *at, const char *end)
{
	for (; at < end; at++) {
		const char *next = at + 1;

		if (*at != '"')
			continue;
		while (next < end && is_blank(*next))
			next++;
		if (next == end || *next == ',')
			return at;
	}
	return NULL;
}

static const char *comma_or_end(const char *at, const char *end)
{
	while (at < end && *at != ',') {
		const char *behind = behind_ranges(at, end);

		at = behind ? behind : at + 1;
	}
	return at;
}

int fab_list_next(const char **at, const char *end, struct fab_item *item,
		  struct fab_err *err)
{
	const char *start = *at, *stop;

	if (!start)
		return 0;
	while (start < end && is_blank(*start))
		start++;
	*item = (struct fab_item){.text = start};
	if (start < end && *start == '"') {
		stop = closing_quote(start + 1, end);
		if (!stop)
			return fab_fail(
				err, EINVAL,
				"'%.*s': expected \" and , at the end of a name in \"\"",
				shown((size_t)(end - start)), start);
		item->text = start + 1;
		item->is_quoted = true;
		item->len = (size_t)(stop - item->text);
		stop = comma_or_end(stop + 1, end);
	} else {
		stop = comma_or_end(start, end);
		item->len = (size_t)(stop - start);
		while (item->len && is_blank(start[item->len - 1]))
			item->len--;
	}
	*at = stop < end ? stop + 1 : NULL;
	if (!item->len)
		return fab_fail(err, EINVAL, "expected a name, found nothing%s",
				stop < end ? " before a comma" : "");
	return 1;
}

static struct fab_item list_line(const char *at, const char *end)
{
	const char *stop = at;
	bool is_quoted = false;

	for (; stop < end; stop++) {
		bool begins_word = stop == at || is_blank(stop[-1]) || stop[-1] == ',';

		if (*stop == '#' && !is_quoted && (stop == at || is_blank(stop[-1])))
			break;
		if (*stop == '"' && (is_quoted || begins_word))
			is_quoted = !is_quoted;
	}
	while (at < stop && is_blank(*at))
		at++;
	while (stop > at && is_blank(stop[-1]))
		stop--;
	return (struct fab_item){.text = at, .len = (size_t)(stop - at)};
}

int fab_list_lines(const char *file, const char *text, size_t len, fab_use_line *use,
		   void *context, struct fab_err *err)
{
	uint64_t number = 0;
	int rc = 0;

	for (const char *at = text, *end = text + len; at < end && !rc;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct fab_item line = list_line(at, stop ? stop : end);
		char where[300];

		at = stop ? stop + 1 : end;
		if (++number % 4096 == 0)
			fab_progress_report("reading", "bytes", (uint64_t)(at - text),
					    len);
		if (!line.len)
			continue;
		rc = memchr(line.text, '\0', line.len)
			     ? fab_fail(err, EINVAL, "expected text, found a zero byte")
			     : use(context, line, err);
		if (!rc)
			continue;
		snprintf(where, sizeof(where), "%.250s:%llu", file,
			 (unsigned long long)number);
		fab_err_prefix(err, where);
	}
	return rc;
}

bool fab_is_hostlist(const char *text, size_t len)
{
	for (const char *at = text, *end = text + len; at < end; at++)
		if (behind_ranges(at, end))
			return true;
	return false;
}

/* A `*` or `?`, or a closed bracket of no host list. */
static bool is_pattern(const char *text, size_t len)
{
	for (const char *at = text, *end = text + len; at < end; at++) {
		const char *behind = behind_ranges(at, end);

		if (*at == '*' || *at == '?')
			return true;
		if (behind)
			at = behind - 1;
		else if (*at == '[' && memchr(at, ']', (size_t)(end - at)))
			return true;
	}
	return false;
}

struct range {
	uint64_t low, high;
	int width;
};

/* Numbers, and the text before them. */
struct bracket {
	const char *before;
	size_t before_len;
	size_t first, end; /* of its ranges */
	size_t at;	   /* range and number that are next */
	uint64_t value;
};

struct fab_hostlist {
	struct bracket bracket[BRACKETS_MAX];
	size_t n_brackets;
	FAB_VEC(struct range) ranges;
	const char *rest;
	size_t rest_len;
	uint64_t n, done;
	char *name;
};

static int bad_range(const char *text, size_t len, const char *range, size_t range_len,
		     struct fab_err *err)
{
	return fab_fail(err, EINVAL,
			"'%.*s': '%.*s' is no range: expected N or N-M, N not above M",
			shown(len), text, shown(range_len), range);
}

/* N or N-M. */
static bool parse_range(const char *at, size_t len, struct range *out)
{
	const char *dash = memchr(at, '-', len);
	size_t n = dash ? (size_t)(dash - at) : len;

	if (n > DIGITS_MAX || len - n > DIGITS_MAX + 1 ||
	    !fab_parse_u64(at, n, 0, UINT64_MAX, &out->low))
		return false;
	out->width = (int)n;
	out->high = out->low;
	if (dash && !fab_parse_u64(dash + 1, len - n - 1, 0, UINT64_MAX, &out->high))
		return false;
	return out->low <= out->high;
}

/* The ranges between `at` and `end`; how many numbers they hold, 0 when they are wrong.
 */
static uint64_t parse_ranges(struct fab_hostlist *list, const char *text, size_t len,
			     const char *at, const char *end, struct fab_err *err)
{
	uint64_t n = 0;

	for (;; at++) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		size_t range_len = (size_t)((comma ? comma : end) - at);
		struct range range;

		if (!parse_range(at, range_len, &range)) {
			bad_range(text, len, at, range_len, err);
			return 0;
		}
		FAB_PUSH(&list->ranges, range);
		n += range.high - range.low + 1;
		if (!comma)
			return n;
		at = comma;
	}
}

static int add_bracket(struct fab_hostlist *list, const char *text, size_t len,
		       const char *open, const char *behind, uint64_t max,
		       struct fab_err *err)
{
	struct bracket *b = &list->bracket[list->n_brackets];
	uint64_t n;

	if (list->n_brackets == BRACKETS_MAX)
		return fab_fail(err, EINVAL, "'%.*s': expected at most %d brackets",
				shown(len), text, BRACKETS_MAX);
	list->n_brackets++;
	b->before = list->rest;
	b->before_len = (size_t)(open - list->rest);
	b->first = b->at = list->ranges.n;
	list->rest = behind;
	n = parse_ranges(list, text, len, open + 1, behind - 1, err);
	if (!n)
		return -EINVAL;
	b->end = list->ranges.n;
	b->value = list->ranges.v[b->first].low;
	if (n > max || __builtin_mul_overflow(list->n, n, &list->n) || list->n > max)
		return fab_fail(
			err, EINVAL,
			"'%.*s' stands for more names than can be meant: expected at most %" PRIu64,
			shown(len), text, max);
	return 0;
}

int fab_hostlist_new(const char *text, size_t len, uint64_t max,
		     struct fab_hostlist **out, struct fab_err *err)
{
	struct fab_hostlist *list = FAB_NEW0(1, struct fab_hostlist);
	const char *end = text + len;
	int rc = 0;

	list->n = 1;
	list->rest = text;
	for (const char *at = text; at < end && !rc;) {
		const char *behind = behind_ranges(at, end);

		if (behind)
			rc = add_bracket(list, text, len, at, behind, max, err);
		at = behind ? behind : at + 1;
	}
	if (rc) {
		fab_hostlist_free(list);
		return rc;
	}
	list->rest_len = (size_t)(end - list->rest);
	list->name = fab_alloc(len + list->n_brackets * (DIGITS_MAX + 2) + 1, 1);
	*out = list;
	return 0;
}

void fab_hostlist_free(struct fab_hostlist *list)
{
	if (!list)
		return;
	FAB_FREE_ALL(list->ranges.v, list->name, list);
}

uint64_t fab_hostlist_count(const struct fab_hostlist *list)
{
	return list->n;
}

/* To the next combination, the last bracket first. */
static void step(struct fab_hostlist *list)
{
	for (size_t i = list->n_brackets; i-- > 0;) {
		struct bracket *b = &list->bracket[i];

		if (b->value++ < list->ranges.v[b->at].high)
			return;
		if (++b->at == b->end)
			b->at = b->first;
		b->value = list->ranges.v[b->at].low;
		if (b->at != b->first)
			return;
	}
}

const char *fab_hostlist_next(struct fab_hostlist *list)
{
	char *at = list->name;

	if (list->done == list->n)
		return NULL;
	if (list->done++)
		step(list);
	for (size_t i = 0; i < list->n_brackets; i++) {
		const struct bracket *b = &list->bracket[i];

		memcpy(at, b->before, b->before_len);
		at += b->before_len;
		at += sprintf(at, "%0*" PRIu64, list->ranges.v[b->at].width, b->value);
	}
	memcpy(at, list->rest, list->rest_len);
	at[list->rest_len] = '\0';
	return list->name;
}

enum { MISSING_SHOWN = 3, MATCHES_KEPT = 20, NAMES_MIN = 65536, IDS_MAX = 1 << 28 };

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
		FAB_AUTOFREE char *name = l->name(l->of, ids->of.v[i]);
		size_t len = strlen(name);
		bool is_odd = strpbrk(name, ", ") != NULL;

		FAB_RESERVE(&text, len + 4);
		text.n +=
			(size_t)sprintf(text.v + text.n, "%s%s%s%s", i > first ? "," : "",
					is_odd ? "\"" : "", name, is_odd ? "\"" : "");
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

static int match_pattern(const struct fab_lookup *l, const char *pattern,
			 struct fab_ids *out)
{
	size_t before = out->of.n;

	l->match(l->of, pattern, out);
	return out->of.n > before ? 0 : -ENOENT;
}

/* One name of a host list; it may be a pattern besides. */
static int take_member(const struct fab_lookup *l, const char *name, bool as_pattern,
		       struct fab_ids *out, struct fab_err *err)
{
	struct fab_item one = {.text = name, .len = strlen(name)};
	uint32_t id;
	int rc;

	if (as_pattern)
		return match_pattern(l, name, out);
	rc = l->find(l->of, &one, &id, err);
	if (!rc)
		FAB_PUSH(&out->of, id);
	return rc;
}

/* A host list; `as_pattern`: its names are patterns besides. Names that do not exist are
 * counted, or named in a sentence. */
static int expand(const struct fab_lookup *l, const struct fab_item *item,
		  struct fab_ids *out, struct fab_err *err)
{
	bool as_pattern = l->match && is_pattern(item->text, item->len);
	uint64_t max = l->n_known > NAMES_MIN ? l->n_known : NAMES_MIN, n_missing = 0;
	char missing[3 * (SHOWN / 2) + 40] = "", more[40] = "";
	int rc, shown_len = item->len > SHOWN / 2 ? SHOWN / 2 : (int)item->len;
	struct fab_err first = {""};
	FAB_AUTO(fab_hostlist_free_at) struct fab_hostlist *list = NULL;
	bool has_first = false;
	const char *name;

	rc = fab_hostlist_new(item->text, item->len, max, &list, err);
	if (rc)
		return rc;
	while (!rc && (name = fab_hostlist_next(list))) {
		size_t at = strlen(missing);

		rc = take_member(l, name, as_pattern, out, NULL);
		if (!rc)
			continue;
		if (rc != -ENOENT) {
			/* several have the name, or it is something else */
			rc = err ? take_member(l, name, false, out, err) : rc;
			continue;
		}
		if (!n_missing && err && !as_pattern)
			has_first = take_member(l, name, false, out, &first) != 0;
		if (n_missing++ < MISSING_SHOWN)
			snprintf(missing + at, sizeof(missing) - at, "%s'%.*s'",
				 at ? ", " : "", SHOWN / 2, name);
		rc = 0;
	}
	if (!rc && n_missing && l->n_missing) {
		*l->n_missing += n_missing;
	} else if (!rc && n_missing == 1 && has_first) {
		rc = fab_fail(err, ENOENT, "'%.*s': %.250s", shown_len, item->text,
			      first.text);
	} else if (!rc && n_missing) {
		if (n_missing > MISSING_SHOWN)
			snprintf(more, sizeof(more), " and %" PRIu64 " more",
				 n_missing - MISSING_SHOWN);
		rc = fab_fail(err, ENOENT,
			      "'%.*s': %" PRIu64 " of its %" PRIu64
			      " names are no %s: %s%s",
			      shown_len, item->text, n_missing, fab_hostlist_count(list),
			      l->one, missing, more);
	}
	return rc;
}

/* Missing names are counted if l->n_missing is set. */
static int count_missing(const struct fab_lookup *l)
{
	++*l->n_missing;
	return 0;
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
		"'%.*s' is the name of a %s, and a %s of others: put the name into \"\"",
		shown(item->len), item->text, l->one, other);
}

int fab_lookup_item(const struct fab_lookup *l, const struct fab_item *item,
		    struct fab_ids *out, struct fab_matches *matches, struct fab_err *err)
{
	bool is_list = fab_is_hostlist(item->text, item->len);
	bool is_many = !item->is_quoted &&
		       (is_list || (l->match && is_pattern(item->text, item->len)));
	size_t first = out->of.n;
	struct fab_err *problem;
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
	problem = is_name ? NULL : err;
	if (is_list) {
		rc = expand(l, item, out, problem);
	} else {
		FAB_AUTOFREE char *pattern = fab_strndup(item->text, item->len);

		rc = match_pattern(l, pattern, out);
		if (rc && l->n_missing)
			rc = count_missing(l);
		else if (rc)
			rc = fab_fail(problem, ENOENT, "no %s matches '%.*s'", l->one,
				      shown(item->len), item->text);
	}
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

int fab_list_pair(const char *text, size_t len, const char *separators,
		  struct fab_item pair[2], struct fab_err *err)
{
	const struct fab_item all = trimmed(text, text + len, blanks);
	size_t n;
	const char *at = all.text;
	const char *end = all.text + all.len;
	size_t count = 0;

	/* How many words there are; the first two. */
	while (at < end) {
		const char *stop = word_end(at, end, separators);

		if (count++ < 2) {
			struct fab_item word = trimmed(at, stop, blanks);

			/* Without its quotes. */
			if (word.len > 1 && word.text[0] == '"' &&
			    word.text[word.len - 1] == '"')
				word = (struct fab_item){word.text + 1, word.len - 2,
							 true};
			pair[count - 1] = word;
		}
		for (at = stop; at < end && is_one_of(*at, blanks);)
			at++;
		if (at < end && is_one_of(*at, separators) && !is_one_of(*at, blanks))
			at++;
		while (at < end && is_one_of(*at, blanks))
			at++;
	}
	n = count;
	if (n == 2 && pair[0].len && pair[1].len)
		return 0;
	return fab_fail(err, EINVAL, "'%.*s': expected two names%s%s", shown(all.len),
			all.text,
			is_one_of(',', separators) ? " and a comma between" : "",
			n > 2 ? "; put names that hold a separator into \"\"" : "");
}

/* Target of a list in lines. */
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
