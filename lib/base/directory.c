/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/directory.h"

#include "base/map.h"
#include "base/text.h"

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

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void trim(const char **name, size_t *len)
{
	while (*len && is_blank((*name)[*len - 1]))
		--*len;
	while (*len && is_blank(**name)) {
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
	free(d->chains.v);
	free(d->entries.v);
	free(d->names.v);
	free(d);
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

	trim(&name, &len);
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

	trim(&name, &len);
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

	trim(&name, &len);
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
