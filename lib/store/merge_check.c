/* SPDX-License-Identifier: BSD-2-Clause */
/* Do runs belong to one sweep, and are all of its shards there, once? */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event/sweep.h"
#include "store/merge_impl.h"

enum { MAX_SHARDS = 1000000, NAMED = 8 };

static const struct fab_store_shard *shard_of(const struct fab_merge_part *p)
{
	return p->run->shard;
}

static int check_sane(const struct fab_merge_part *p, struct fab_err *err)
{
	const struct fab_store_shard *s = shard_of(p);
	struct fab_shard part;

	if (!p->run->n_shard)
		return fab_fail(err, EINVAL, "%s: run %" PRIu64 " is no shard of a sweep",
				p->path, p->run->id);
	part = (struct fab_shard){s->number, s->count};
	if (!s->number || s->number > s->count || s->count > MAX_SHARDS ||
	    s->count > s->all_items || s->items != fab_shard_items(&part, s->all_items))
		return fab_fail(
			err, EINVAL,
			"%s: run %" PRIu64 " is shard %" PRIu64 " of %" PRIu64
			" with %" PRIu64 " of %" PRIu64 " items: the database is damaged",
			p->path, p->run->id, s->number, s->count, s->items, s->all_items);
	return 0;
}

static int refuse(const struct fab_merge_part *a, const struct fab_merge_part *b,
		  const char *what, const char *of_a, const char *of_b,
		  struct fab_err *err)
{
	return fab_fail(err, EINVAL,
			"%s: run %" PRIu64
			" is a shard of another sweep than run %" PRIu64
			" of %s: %s '%.120s', not '%.120s'",
			b->path, b->run->id, a->run->id, a->path, what, of_b, of_a);
}

static int refuse_numbers(const struct fab_merge_part *a, const struct fab_merge_part *b,
			  const char *what, uint64_t of_a, uint64_t of_b,
			  struct fab_err *err)
{
	return fab_fail(err, EINVAL,
			"%s: run %" PRIu64
			" is a shard of another sweep than run %" PRIu64
			" of %s: %s %" PRIu64 ", not %" PRIu64,
			b->path, b->run->id, a->run->id, a->path, what, of_b, of_a);
}

static int check_alike(const struct fab_merge_part *a, const struct fab_merge_part *b,
		       struct fab_err *err)
{
	const struct fab_store_shard *x = shard_of(a), *y = shard_of(b);
	const struct fab_store_run *p = a->run, *q = b->run;

	if (strcmp(p->command, q->command) != 0)
		return refuse(a, b, "command", p->command, q->command, err);
	if (strcmp(p->version, q->version) != 0)
		return refuse(a, b, "version", p->version, q->version, err);
	if (strcmp(x->job, y->job) != 0)
		return refuse(a, b, "arguments", x->job, y->job, err);
	if (p->fabric.fingerprint != q->fabric.fingerprint)
		return fab_fail(err, EINVAL,
				"%s: run %" PRIu64
				" is a shard of another sweep than run %" PRIu64
				" of %s: fabric 0x%016" PRIx64 ", not 0x%016" PRIx64,
				b->path, q->id, p->id, a->path, q->fabric.fingerprint,
				p->fabric.fingerprint);
	if (x->input != y->input)
		return fab_fail(err, EINVAL,
				"%s: run %" PRIu64
				" is a shard of another sweep than run %" PRIu64
				" of %s: the files that both name held something else",
				b->path, q->id, p->id, a->path);
	if (strcmp(x->unit, y->unit) != 0)
		return refuse(a, b, "items", x->unit, y->unit, err);
	if (x->count != y->count)
		return refuse_numbers(a, b, "shards", x->count, y->count, err);
	if (x->all_items != y->all_items)
		return refuse_numbers(a, b, "items", x->all_items, y->all_items, err);
	return 0;
}

/* "2, 5 and 3 more"; on the heap. */
static char *missing_numbers(size_t *at, uint64_t count, size_t *n_missing)
{
	char *text = fab_strdup("");

	*n_missing = 0;
	for (uint64_t i = 0; i < count; i++)
		if (!at[i] && (*n_missing)++ < NAMED)
			fab_append(&text, ", ", "%" PRIu64, i + 1);
	if (*n_missing > NAMED)
		fab_append(&text, " ", "and %zu more", *n_missing - NAMED);
	return text;
}

static int check_missing(const struct fab_merge_part *parts, size_t *at, uint64_t count,
			 struct fab_err *err)
{
	size_t n;
	char *numbers = missing_numbers(at, count, &n);
	int rc = !n ? 0
		    : fab_fail(err, EINVAL,
			       "%s: shard%s %s of %" PRIu64
			       " of the sweep '%.200s' %s missing",
			       parts[0].path, n == 1 ? "" : "s", numbers, count,
			       shard_of(&parts[0])->job, n == 1 ? "is" : "are");

	free(numbers);
	return rc;
}

int fab_merge_check(const struct fab_merge_part *parts, size_t n, struct fab_err *err)
{
	uint64_t count;
	size_t *at; /* of each shard, its part + 1 */
	int rc = n ? 0 : fab_fail(err, EINVAL, "there are no shards to merge");

	for (size_t i = 0; i < n && !rc; i++) {
		rc = check_sane(&parts[i], err);
		if (!rc)
			rc = check_alike(&parts[0], &parts[i], err);
	}
	if (rc)
		return rc;
	count = shard_of(&parts[0])->count;
	at = FAB_NEW0(count, size_t);
	for (size_t i = 0; i < n && !rc; i++) {
		size_t *seen = &at[shard_of(&parts[i])->number - 1];

		if (*seen)
			rc = fab_fail(err, EINVAL,
				      "%s: shard %" PRIu64 " of %" PRIu64
				      " is there twice: run %" PRIu64 " of %s and run "
				      "%" PRIu64,
				      parts[i].path, shard_of(&parts[i])->number, count,
				      parts[*seen - 1].run->id, parts[*seen - 1].path,
				      parts[i].run->id);
		*seen = i + 1;
	}
	if (!rc)
		rc = check_missing(parts, at, count, err);
	free(at);
	return rc;
}
