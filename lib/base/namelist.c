/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/namelist.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
			return fab_fail(err, EINVAL,
					"'%.*s': expected \" and , at the end of a name "
					"in \"\"",
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

bool fab_is_pattern(const char *text, size_t len)
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

static int too_many(const char *text, size_t len, uint64_t max, struct fab_err *err)
{
	return fab_fail(err, EINVAL,
			"'%.*s' stands for more names than can be meant: expected at "
			"most %" PRIu64,
			shown(len), text, max);
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
		return too_many(text, len, max, err);
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
	free(list->ranges.v);
	free(list->name);
	free(list);
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
