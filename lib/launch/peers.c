/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphs of processes: made by a rule, or read from a file. */
#include "launch/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"
#include "base/num.h"
#include "base/order.h"
#include "event/stream.h"
#include "source/unpack.h"

enum { SHOWN = 40 };

static const struct fab_choice rows[] = {
	[FAB_PEERS_RING] = {.form = "ring", .summary = "the process before and behind"},
	[FAB_PEERS_STENCIL] = {.form = "stencil:D",
			       .summary = "neighbours in a grid of D dimensions"},
	[FAB_PEERS_RANDOM] = {.form = "random:K", .summary = "K random others"},
	[FAB_PEERS_ALL] = {.form = "all", .summary = "all others"},
	[FAB_PEERS_FILE] = {.form = "file:PATH", .summary = "read from a file"},
};

FAB_CHOICES(fab_peers_choices, "peers", rows);

/* The kind, and its D, K or PATH. */
static int parse(const char *spec, enum fab_peers_kind *kind, const char **argument,
		 uint64_t *number, struct fab_err *err)
{
	size_t len = strcspn(spec, ":");
	uint32_t row = fab_choices_find(&fab_peers_choices, spec, len);
	uint64_t most;

	if (row == FAB_NONE)
		return fab_choices_refuse(&fab_peers_choices, spec, len, NULL, err);
	*kind = row;
	*argument = spec[len] ? spec + len + 1 : "";
	most = row == FAB_PEERS_STENCIL ? FAB_PEERS_DIMS_MAX : FAB_PEERS_PROCESSES_MAX;
	if (row == FAB_PEERS_STENCIL || row == FAB_PEERS_RANDOM) {
		if (fab_parse_u64(*argument, strlen(*argument), 1, most, number))
			return 0;
		return fab_fail(err, EINVAL, "'%.80s': expected %s, from 1 to %llu", spec,
				rows[row].form, (unsigned long long)most);
	}
	if ((spec[len] != '\0') != (row == FAB_PEERS_FILE) ||
	    (row == FAB_PEERS_FILE && !**argument))
		return fab_fail(err, EINVAL, "'%.80s': expected %s", spec,
				rows[row].form);
	return 0;
}

int fab_peers_check(const char *spec, struct fab_err *err)
{
	enum fab_peers_kind kind;
	const char *argument;
	uint64_t number;

	return parse(spec, &kind, &argument, &number, err);
}

static int begin(struct fab_peers *p, enum fab_peers_kind kind, uint32_t n_nodes,
		 uint32_t ppn, struct fab_err *err)
{
	*p = (struct fab_peers){.kind = kind, .n_nodes = n_nodes, .ppn = ppn};
	if (!n_nodes || !ppn)
		return fab_fail(err, EINVAL,
				"%u nodes of %u processes: expected at least 1 of each",
				n_nodes, ppn);
	if ((uint64_t)n_nodes * ppn > FAB_PEERS_PROCESSES_MAX)
		return fab_fail(err, ERANGE, "%llu processes: expected at most %d",
				(unsigned long long)n_nodes * ppn,
				FAB_PEERS_PROCESSES_MAX);
	p->n = n_nodes * ppn;
	return 0;
}

/* Sizes as equal as possible: the largest prime factors first, each to the least size. */
static void factors(uint32_t n, uint32_t n_dims, uint32_t *dims)
{
	uint32_t prime[32], n_primes = 0;

	for (uint32_t f = 2; n > 1; f++) {
		if ((uint64_t)f * f > n)
			f = n;
		for (; n % f == 0; n /= f)
			prime[n_primes++] = f;
	}
	for (uint32_t d = 0; d < n_dims; d++)
		dims[d] = 1;
	while (n_primes) {
		uint32_t least = 0;

		for (uint32_t d = 1; d < n_dims; d++)
			if (dims[d] < dims[least])
				least = d;
		dims[least] *= prime[--n_primes];
	}
}

/* Neighbours in a grid that closes around, each once. */
static int make_stencil(struct fab_peers *p, uint32_t n_dims, struct fab_arena *memory,
			struct fab_err *err)
{
	uint32_t dims[FAB_PEERS_DIMS_MAX];
	uint64_t n = 0;

	if (2 * (uint64_t)n_dims * p->n > FAB_PEERS_MAX)
		return fab_fail(err, ERANGE, "more than %d peers in all", FAB_PEERS_MAX);
	p->first = FAB_ARENA_NEW(memory, (size_t)p->n + 1, uint64_t);
	p->peer = FAB_ARENA_NEW(memory, 2 * (size_t)n_dims * p->n, uint32_t);
	factors(p->n, n_dims, dims);
	for (uint32_t r = 0; r < p->n; r++) {
		p->first[r] = n;
		for (uint32_t i = 0, stride = 1; i < 2 * n_dims; i++) {
			uint32_t size = dims[i / 2], at = r / stride % size;
			uint32_t to = (at + (i % 2 ? size - 1 : 1)) % size;
			uint32_t peer = r - at * stride + to * stride;
			uint64_t k = p->first[r];

			while (k < n && p->peer[k] != peer)
				k++;
			if (k == n && peer != r)
				p->peer[n++] = peer;
			stride *= i % 2 ? size : 1;
		}
	}
	p->first[p->n] = n;
	return 0;
}

static int make_random(struct fab_peers *p, uint64_t k, uint64_t seed,
		       struct fab_arena *memory, struct fab_err *err)
{
	FAB_AUTOFREE bool *is_in = NULL;

	if (k >= p->n)
		return fab_fail(err, EINVAL, "random:%llu: a process has only %u others",
				(unsigned long long)k, p->n - 1);
	if (k * p->n > FAB_PEERS_MAX)
		return fab_fail(err, ERANGE, "random:%llu: more than %d peers in all",
				(unsigned long long)k, FAB_PEERS_MAX);
	is_in = FAB_NEW0(p->n, bool);
	p->first = FAB_ARENA_NEW(memory, (size_t)p->n + 1, uint64_t);
	p->peer = FAB_ARENA_NEW(memory, k * p->n, uint32_t);
	for (uint32_t r = 0; r <= p->n; r++)
		p->first[r] = k * r;
	for (uint32_t r = 0; r < p->n; r++) {
		/* each set equally likely (Floyd), in random order */
		struct fab_stream stream = fab_stream_of(seed, r);
		uint32_t *out = p->peer + k * r, n = (uint32_t)k;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t top = p->n - 1 - n + i;
			uint32_t pick =
				(uint32_t)fab_stream_below(&stream, (uint64_t)top + 1);

			out[i] = is_in[pick] ? top : pick;
			is_in[out[i]] = true;
		}
		for (uint32_t i = 0; i < n; i++)
			is_in[out[i]] = false;
		for (uint32_t i = n; i > 1; i--) {
			uint32_t j = (uint32_t)fab_stream_below(&stream, i);
			uint32_t swap = out[j];

			out[j] = out[i - 1];
			out[i - 1] = swap;
		}
		for (uint32_t i = 0; i < n; i++)
			out[i] += out[i] >= r; /* numbers of others, without r */
	}
	return 0;
}

/* Files. */

/* Ranks that a line names. */
struct range {
	uint32_t of, first, last;
};

struct reader {
	struct fab_peers *p;
	FAB_VEC(struct range) ranges;
	uint64_t n_peers; /* of all ranges, at most */
};

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

/* A rank, then ranks and ranges A-B. */
static int read_line(void *context, struct fab_item line, struct fab_err *err)
{
	struct reader *r = context;
	const char *end = line.text + line.len;
	struct range range = {.of = FAB_NONE};

	for (const char *at = line.text; at < end;) {
		size_t len = 0;
		const char *dash;
		struct fab_item word;
		int rc;

		while (at + len < end && !strchr(" \t,\r", at[len]))
			len++;
		word = (struct fab_item){.text = at, .len = len};
		at += len + 1;
		if (!len)
			continue;
		if (range.of == FAB_NONE) {
			rc = read_rank(r, word, word.text, len, &range.of, err);
			if (rc)
				return rc;
			continue;
		}
		dash = memchr(word.text, '-', len);
		rc = read_rank(r, word, word.text,
			       dash ? (size_t)(dash - word.text) : len, &range.first,
			       err);
		range.last = range.first;
		if (!rc && dash)
			rc = read_rank(r, word, dash + 1,
				       (size_t)(word.text + len - dash - 1), &range.last,
				       err);
		if (rc)
			return rc;
		if (range.last < range.first)
			return fab_fail(err, EINVAL, "'%.*s': the range runs backwards",
					len < SHOWN ? (int)len : SHOWN, word.text);
		r->n_peers += (uint64_t)range.last - range.first + 1;
		if (r->n_peers > FAB_PEERS_MAX)
			return fab_fail(err, ERANGE, "more than %d peers in all",
					FAB_PEERS_MAX);
		FAB_PUSH(&r->ranges, range);
	}
	return range.of == FAB_NONE
		       ? fab_fail(err, EINVAL, "expected a rank and its peers")
		       : 0;
}

FAB_ORDER(cmp, struct range, of, first)

/* Ranges, sorted, to lists of peers: each once, ascending. */
static void make_lists(struct reader *r, struct fab_arena *memory)
{
	struct fab_peers *p = r->p;
	uint64_t n = 0;
	size_t i = 0;

	FAB_SORT(&r->ranges, cmp);
	p->first = FAB_ARENA_NEW(memory, (size_t)p->n + 1, uint64_t);
	p->peer = FAB_ARENA_NEW(memory, r->n_peers, uint32_t);
	for (uint32_t of = 0; of < p->n; of++) {
		uint64_t next = 0; /* the least rank that is not in the list yet */

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

int fab_peers_parse(struct fab_arena *memory, const char *file, const char *text,
		    size_t len, uint32_t n_nodes, uint32_t ppn, struct fab_peers *out,
		    struct fab_err *err)
{
	struct reader r = {.p = out};
	int rc = begin(out, FAB_PEERS_FILE, n_nodes, ppn, err);

	if (!rc)
		rc = fab_list_lines(file, text, len, read_line, &r, err);
	if (!rc)
		make_lists(&r, memory);
	free(r.ranges.v);
	return rc;
}

int fab_peers_make(struct fab_arena *memory, const char *spec, uint32_t n_nodes,
		   uint32_t ppn, uint64_t seed, struct fab_peers *out,
		   struct fab_err *err)
{
	enum fab_peers_kind kind = FAB_PEERS_ALL;
	const char *argument = "";
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	uint64_t number = 1;
	int rc = parse(spec, &kind, &argument, &number, err);

	if (!rc)
		rc = begin(out, kind, n_nodes, ppn, err);
	if (rc)
		return rc;
	switch (kind) {
	case FAB_PEERS_RING: /* a grid of one dimension */
	case FAB_PEERS_STENCIL:
		return make_stencil(out, (uint32_t)number, memory, err);
	case FAB_PEERS_RANDOM:
		return make_random(out, number, seed, memory, err);
	case FAB_PEERS_FILE:
		rc = fab_input_read(argument, &in, err);
		if (rc)
			return rc;
		return fab_peers_parse(memory, argument, in.bytes, in.n, n_nodes, ppn,
				       out, err);
	case FAB_PEERS_ALL:
		break;
	}
	return 0;
}

uint32_t fab_peers_degree(const struct fab_peers *p, uint32_t process)
{
	return p->first ? (uint32_t)(p->first[process + 1] - p->first[process])
			: p->n - 1;
}

uint32_t fab_peers_at(const struct fab_peers *p, uint32_t process, uint32_t i)
{
	if (p->first)
		return p->peer[p->first[process] + i];
	return (uint32_t)(((uint64_t)process + 1 + i) % p->n);
}

double fab_peers_mean_degree(const struct fab_peers *p)
{
	return p->first ? (double)p->first[p->n] / p->n : p->n - 1.0;
}
