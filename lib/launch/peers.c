/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/peers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "event/stream.h"
#include "launch/peers_impl.h"
#include "source/unpack.h"

static const struct fab_choice rows[] = {
	[FAB_PEERS_RING] = {.form = "ring", .summary = "the process before and behind"},
	[FAB_PEERS_STENCIL] = {.form = "stencil:D",
			       .summary = "neighbours in a grid of D dimensions"},
	[FAB_PEERS_RANDOM] = {.form = "random:K", .summary = "K others by chance"},
	[FAB_PEERS_ALL] = {.form = "all", .summary = "all others"},
	[FAB_PEERS_FILE] = {.form = "file:PATH", .summary = "as a file says"},
};

static struct fab_choice row_at(size_t i)
{
	return rows[i];
}

const struct fab_choices fab_peers_choices = {
	.what = "peers", .n = FAB_COUNT(rows), .at = row_at};

/* The kind, and D or K. */
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

int peers_begin(struct fab_peers *p, enum fab_peers_kind kind, uint32_t n_nodes,
		uint32_t ppn, struct fab_err *err)
{
	*p = (struct fab_peers){.kind = kind, .n_nodes = n_nodes, .ppn = ppn};
	if (!n_nodes || !ppn)
		return fab_fail(err, EINVAL,
				"%u nodes of %u processes: expected at "
				"least 1 of each",
				n_nodes, ppn);
	if ((uint64_t)n_nodes * ppn > FAB_PEERS_PROCESSES_MAX)
		return fab_fail(err, ERANGE, "%llu processes: expected at most %d",
				(unsigned long long)n_nodes * ppn,
				FAB_PEERS_PROCESSES_MAX);
	p->n = n_nodes * ppn;
	return 0;
}

/* Graphs that grow process by process. */
struct maker {
	struct fab_peers *p;
	FAB_VEC(uint32_t) peers;
};

/* One more of process r, unless it is r itself or there already. */
static void add(struct maker *m, uint32_t r, uint32_t peer)
{
	for (uint64_t i = m->p->first[r]; i < m->peers.n; i++)
		if (m->peers.v[i] == peer)
			return;
	if (peer != r)
		FAB_PUSH(&m->peers, peer);
}

static void add_ring(struct maker *m, uint32_t r, uint64_t unused)
{
	uint32_t n = m->p->n;

	(void)unused;
	add(m, r, r + 1 < n ? r + 1 : 0);
	add(m, r, r ? r - 1 : n - 1);
}

/* Sizes as equal as can be: the largest prime factors first, each to the least size. */
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

static void add_stencil(struct maker *m, uint32_t r, uint64_t n_dims)
{
	uint32_t dims[FAB_PEERS_DIMS_MAX], stride = 1;

	factors(m->p->n, (uint32_t)n_dims, dims);
	for (uint32_t d = 0; d < n_dims; d++) {
		uint32_t at = r / stride % dims[d], base = r - at * stride;

		add(m, r, base + (at + 1) % dims[d] * stride);
		add(m, r, base + (at + dims[d] - 1) % dims[d] * stride);
		stride *= dims[d];
	}
}

/* K of the others, each set as likely (Floyd), in an order by chance. */
static void choose(const struct fab_peers *p, uint64_t seed, uint32_t r, uint32_t k,
		   uint32_t *out, bool *is_in)
{
	struct fab_stream stream = fab_stream_of(seed, r);
	uint32_t others = p->n - 1;

	for (uint32_t i = 0; i < k; i++) {
		uint32_t top = others - k + i;
		uint32_t pick = (uint32_t)fab_stream_below(&stream, (uint64_t)top + 1);

		if (is_in[pick])
			pick = top;
		is_in[pick] = true;
		out[i] = pick;
	}
	for (uint32_t i = 0; i < k; i++)
		is_in[out[i]] = false;
	for (uint32_t i = k; i > 1; i--) {
		uint32_t j = (uint32_t)fab_stream_below(&stream, i), swap = out[j];

		out[j] = out[i - 1];
		out[i - 1] = swap;
	}
	for (uint32_t i = 0; i < k; i++)
		out[i] += out[i] >= r; /* numbers of others: r is none */
}

static int make_random(struct fab_peers *p, uint64_t k, uint64_t seed,
		       struct fab_err *err)
{
	bool *is_in;

	if (k >= p->n)
		return fab_fail(err, EINVAL, "random:%llu: a process has only %u others",
				(unsigned long long)k, p->n - 1);
	if (k * p->n > FAB_PEERS_MAX)
		return fab_fail(err, ERANGE, "random:%llu: more than %d peers in all",
				(unsigned long long)k, FAB_PEERS_MAX);
	is_in = FAB_NEW0(p->n, bool);
	p->first = FAB_NEW((size_t)p->n + 1, uint64_t);
	p->peer = FAB_NEW(k * p->n + 1, uint32_t);
	for (uint32_t r = 0; r <= p->n; r++)
		p->first[r] = k * r;
	for (uint32_t r = 0; r < p->n; r++)
		choose(p, seed, r, (uint32_t)k, p->peer + k * r, is_in);
	free(is_in);
	return 0;
}

static int make_each(struct fab_peers *p,
		     void (*add_all)(struct maker *m, uint32_t r, uint64_t number),
		     uint64_t number, struct fab_err *err)
{
	struct maker m = {.p = p};

	if (2 * number * p->n > FAB_PEERS_MAX)
		return fab_fail(err, ERANGE, "more than %d peers in all", FAB_PEERS_MAX);
	p->first = FAB_NEW0((size_t)p->n + 1, uint64_t);
	for (uint32_t r = 0; r < p->n; r++) {
		p->first[r] = m.peers.n;
		add_all(&m, r, number);
	}
	p->first[p->n] = m.peers.n;
	p->peer = m.peers.v;
	return 0;
}

static int make_file(const char *path, struct fab_peers *p, struct fab_err *err)
{
	uint32_t n_nodes = p->n_nodes, ppn = p->ppn;
	struct fab_input in;
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	rc = fab_peers_parse(path, in.bytes, in.n, n_nodes, ppn, p, err);
	fab_input_fini(&in);
	return rc;
}

int fab_peers_make(const char *spec, uint32_t n_nodes, uint32_t ppn, uint64_t seed,
		   struct fab_peers *out, struct fab_err *err)
{
	enum fab_peers_kind kind = FAB_PEERS_ALL;
	const char *argument = "";
	uint64_t number = 0;
	int rc = parse(spec, &kind, &argument, &number, err);

	if (!rc)
		rc = peers_begin(out, kind, n_nodes, ppn, err);
	if (rc)
		return rc;
	if (kind == FAB_PEERS_RING)
		return make_each(out, add_ring, 1, err);
	if (kind == FAB_PEERS_STENCIL)
		return make_each(out, add_stencil, number, err);
	if (kind == FAB_PEERS_RANDOM)
		return make_random(out, number, seed, err);
	return kind == FAB_PEERS_FILE ? make_file(argument, out, err) : 0;
}

void fab_peers_fini(struct fab_peers *peers)
{
	free(peers->first);
	free(peers->peer);
	*peers = (struct fab_peers){0};
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
