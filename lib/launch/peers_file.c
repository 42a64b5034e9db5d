/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"
#include "base/num.h"
#include "launch/peers_impl.h"

enum { SHOWN = 40 };

/* Ranks that a line names. */
struct range {
	uint32_t of, first, last;
};

struct reader {
	struct fab_peers *p;
	FAB_VEC(struct range) ranges;
	uint64_t n_peers; /* of all ranges, at most */
};

static bool is_gap(char c)
{
	return c == ' ' || c == '\t' || c == ',' || c == '\r';
}

/* A rank in a word of the file. */
static int read_rank(const struct reader *r, struct fab_item word, const char *text,
		     size_t len, uint32_t *out, struct fab_err *err)
{
	uint64_t rank;

	if (!fab_parse_u64(text, len, 0, UINT64_MAX, &rank))
		return fab_fail(err, EINVAL, "'%.*s': expected a rank, or A-B",
				word.len < SHOWN ? (int)word.len : SHOWN, word.text);
	if (rank >= r->p->n)
		return fab_fail(err, EINVAL,
				"rank %llu: the job has %u processes, 0 to %u",
				(unsigned long long)rank, r->p->n, r->p->n - 1);
	*out = (uint32_t)rank;
	return 0;
}

static int read_range(struct reader *r, uint32_t of, struct fab_item word,
		      struct fab_err *err)
{
	const char *dash = memchr(word.text, '-', word.len);
	size_t n = dash ? (size_t)(dash - word.text) : word.len;
	struct range range = {.of = of};
	int rc = read_rank(r, word, word.text, n, &range.first, err);

	range.last = range.first;
	if (!rc && dash)
		rc = read_rank(r, word, dash + 1, word.len - n - 1, &range.last, err);
	if (rc)
		return rc;
	if (range.last < range.first)
		return fab_fail(err, EINVAL, "'%.*s': the range runs backwards",
				word.len < SHOWN ? (int)word.len : SHOWN, word.text);
	r->n_peers += (uint64_t)range.last - range.first + 1;
	if (r->n_peers > FAB_PEERS_MAX)
		return fab_fail(err, ERANGE, "more than %d peers in all", FAB_PEERS_MAX);
	FAB_PUSH(&r->ranges, range);
	return 0;
}

static int read_line(void *context, struct fab_item line, struct fab_err *err)
{
	struct reader *r = context;
	const char *at = line.text, *end = line.text + line.len;
	uint32_t of = FAB_NONE;
	int rc = 0;

	while (!rc) {
		struct fab_item word = {0};

		while (at < end && is_gap(*at))
			at++;
		for (word.text = at; at < end && !is_gap(*at); at++)
			word.len++;
		if (!word.len)
			break;
		if (of == FAB_NONE)
			rc = read_rank(r, word, word.text, word.len, &of, err);
		else
			rc = read_range(r, of, word, err);
	}
	if (!rc && of == FAB_NONE)
		rc = fab_fail(err, EINVAL, "expected a rank and those that it talks to");
	return rc;
}

static int cmp(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Ranges, sorted, to lists of peers: each once, ascending. */
static void make_lists(struct reader *r)
{
	struct fab_peers *p = r->p;
	uint64_t n = 0;
	size_t i = 0;

	if (r->ranges.n)
		qsort(r->ranges.v, r->ranges.n, sizeof(*r->ranges.v), cmp);
	p->first = FAB_NEW((size_t)p->n + 1, uint64_t);
	p->peer = FAB_NEW(r->n_peers + 1, uint32_t);
	for (uint32_t of = 0; of < p->n; of++) {
		uint64_t next = 0; /* the least that is not in the list yet */

		p->first[of] = n;
		for (; i < r->ranges.n && r->ranges.v[i].of == of; i++) {
			const struct range *range = &r->ranges.v[i];

			if (next < range->first)
				next = range->first;
			for (; next <= range->last; next++)
				if (next != of)
					p->peer[n++] = (uint32_t)next;
		}
	}
	p->first[p->n] = n;
}

int fab_peers_parse(const char *file, const char *text, size_t len, uint32_t n_nodes,
		    uint32_t ppn, struct fab_peers *out, struct fab_err *err)
{
	struct reader r = {.p = out};
	int rc = peers_begin(out, FAB_PEERS_FILE, n_nodes, ppn, err);

	if (!rc)
		rc = fab_list_lines(file, text, len, read_line, &r, err);
	if (!rc)
		make_lists(&r);
	free(r.ranges.v);
	return rc;
}
