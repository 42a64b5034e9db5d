/* SPDX-License-Identifier: BSD-2-Clause */
/* Finite traffic: a message from each to each, sums of vectors, messages of a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/stream.h"
#include "traffic/collective.h"
#include "traffic/message_file.h"
#include "traffic/traffic.h"

/*
 * Each to each: message i of an end goes to the one i + 1 further on, or to place i of a
 * permutation of the others for each end.
 */
struct alltoall {
	uint32_t n, bytes;
	bool is_random;
	uint64_t seed;
	uint32_t *sent; /* [n] */
};

enum { FEISTEL_ROUNDS = 4 };

/*
 * Place i of a permutation of 0 .. n-1: a Feistel network on the next even number of
 * bits, walked until it is below n (Black, Rogaway 2002).
 */
static uint32_t shuffled(uint64_t seed, uint32_t end, uint32_t i, uint32_t n)
{
	unsigned half = 1;

	while ((uint64_t)1 << (2 * half) < n)
		half++;
	do {
		uint32_t mask = (1u << half) - 1, left = i >> half, right = i & mask;

		for (unsigned r = 0; r < FEISTEL_ROUNDS; r++) {
			uint32_t mixed = (uint32_t)fab_stream_at(
				seed, (uint64_t)end << 32 | r, right);
			uint32_t swap = right;

			right = left ^ (mixed & mask);
			left = swap;
		}
		i = left << half | right;
	} while (i >= n);
	return i;
}

static bool next_of_alltoall(void *context, uint32_t e, uint64_t now,
			     struct fab_message *out)
{
	const struct alltoall *a = context;
	uint32_t i = a->sent[e];

	(void)now;
	if (i + 1 >= a->n)
		return false;
	a->sent[e]++;
	if (a->is_random)
		i = shuffled(a->seed, e, i, a->n - 1);
	*out = (struct fab_message){.target = (uint32_t)(((uint64_t)e + i + 1) % a->n),
				    .bytes = a->bytes};
	return true;
}

static uint32_t unsent_of_alltoall(const void *context)
{
	const struct alltoall *a = context;
	uint32_t n = 0;

	for (uint32_t e = 0; e < a->n; e++)
		n += a->sent[e] + 1 < a->n;
	return n;
}

static int check_alltoall(const char *argument, struct fab_err *err)
{
	if (!strcmp(argument, "random"))
		return 0;
	return fab_fail(err, EINVAL, "expected alltoall, or alltoall:random");
}

static int make_alltoall(const struct fab_traffic_problem *p, const char *argument,
			 struct fab_traffic *out, struct fab_err *err)
{
	struct alltoall *a = FAB_ARENA_NEW(&out->arena, 1, struct alltoall);

	(void)err;
	*a = (struct alltoall){
		.n = p->ends->n,
		.bytes = p->how.size[0],
		.is_random = *argument,
		.seed = p->how.seed,
		.sent = FAB_ARENA_NEW0(&out->arena, (size_t)p->ends->n + 1, uint32_t)};
	out->n_senders = a->n > 1 ? a->n : 0;
	out->messages = (struct fab_messages){
		.context = a,
		.least_payload = fab_last_payload(a->bytes, p->how.mtu),
		.next = next_of_alltoall};
	out->unfinished = unsent_of_alltoall;
	return 0;
}

const struct fab_traffic_kind fab_traffic_alltoall = {
	.form = "alltoall",
	.summary = "one message from each to each",
	.manual =
		"Once a message from each host to each other one: to the next, to the next but one and so on; with `alltoall:random` in a random order of each host.",
	.is_finite = true,
	.argument_is_optional = true,
	.check = check_alltoall,
	.make = make_alltoall,
};

static uint32_t ring_rounds(uint32_t n)
{
	return n > 1 ? 2 * (n - 1) : 0;
}

/* Reduce-scatter sends block rank - round; the allgather goes on with what is complete.
 */
static struct fab_round ring_round(uint32_t n, uint32_t rank, uint32_t round)
{
	uint32_t back = round % n; /* 0 .. 2n-3, less than twice around */

	return (struct fab_round){.to = (rank + 1) % n,
				  .from = (rank + n - 1) % n,
				  .first_block = (rank + n - back) % n,
				  .n_blocks = 1,
				  .is_sum = round < n - 1};
}

/* Largest power of two that is not above n > 0, as its logarithm. */
static uint32_t log_below(uint32_t n)
{
	return 31 - (uint32_t)__builtin_clz(n);
}

static uint32_t recdbl_rounds(uint32_t n)
{
	bool folds = n & (n - 1);

	return n > 1 ? log_below(n) + 2 * folds : 0;
}

/* In the first and the last round of n that is no power of two, rank `pow` + k gives its
 * vector to rank k, and gets the sum from it. */
static struct fab_round recdbl_round(uint32_t n, uint32_t rank, uint32_t round)
{
	uint32_t rounds = recdbl_rounds(n), pow = 1u << log_below(n);
	struct fab_round r = {FAB_NONE, FAB_NONE, 0, n, true};
	bool is_extra = rank >= pow, is_before = !round;

	if (pow < n && (is_before || round + 1 == rounds)) {
		r.is_sum = is_before;
		*(is_extra == is_before ? &r.to : &r.from) = is_extra	      ? rank - pow
							     : rank + pow < n ? rank + pow
									      : FAB_NONE;
	} else if (!is_extra) {
		r.to = r.from = rank ^ 1u << (round - (pow < n));
	}
	return r;
}

static uint32_t tree_rounds(uint32_t n)
{
	return n > 1 ? 2 * (log_below(n - 1) + 1) : 0;
}

/* Upwards level by level, the nearest first; downwards the other way. */
static struct fab_round tree_round(uint32_t n, uint32_t rank, uint32_t round)
{
	uint32_t depth = tree_rounds(n) / 2;
	bool is_up = round < depth;
	uint32_t bit = 1u << (is_up ? round : 2 * depth - 1 - round);
	struct fab_round r = {FAB_NONE, FAB_NONE, 0, n, is_up};

	if (rank % (2 * bit) == bit)
		*(is_up ? &r.to : &r.from) = rank - bit;
	else if (rank % (2 * bit) == 0 && bit < n - rank)
		*(is_up ? &r.from : &r.to) = rank + bit;
	return r;
}

const struct fab_allreduce fab_allreduces[] = {
	{"ring", true, ring_rounds, ring_round},
	{"recdbl", false, recdbl_rounds, recdbl_round},
	{"tree", false, tree_rounds, tree_round},
	{0},
};

uint64_t fab_block_bytes(uint64_t bytes, uint32_t n_ranks, uint32_t first_block,
			 uint32_t n_blocks)
{
	uint64_t each = bytes / n_ranks, longer = bytes % n_ranks, sum = 0;

	if (n_blocks == n_ranks)
		return bytes;
	for (uint32_t i = 0; i < n_blocks; i++)
		sum += each + ((first_block + i) % n_ranks < longer);
	return sum;
}

/* State of a rank. Its arrivals: a ring counts, others have a bit a round. */
struct rank {
	uint64_t arrived;
	uint64_t time; /* of the last arrival that it waited for */
	uint32_t round;
};

struct allreduce {
	const struct fab_allreduce *kind;
	uint32_t n, n_rounds, bytes;
	struct rank *rank; /* [n] */
};

/* Has what the rank receives in a round arrived? */
static bool is_there(const struct allreduce *a, const struct rank *rank, uint32_t round)
{
	return a->kind->is_ring ? rank->arrived > round : rank->arrived >> round & 1;
}

static bool next_of_allreduce(void *context, uint32_t e, uint64_t now,
			      struct fab_message *out)
{
	const struct allreduce *a = context;
	struct rank *rank = &a->rank[e];

	(void)now;
	for (; rank->round < a->n_rounds; rank->round++) {
		struct fab_round r = a->kind->round(a->n, e, rank->round);
		uint32_t before = rank->round - 1;
		uint64_t bytes;

		if (rank->round && a->kind->round(a->n, e, before).from != FAB_NONE &&
		    !is_there(a, rank, before))
			return false;
		if (r.to == FAB_NONE)
			continue;
		bytes = fab_block_bytes(a->bytes, a->n, r.first_block, r.n_blocks);
		*out = (struct fab_message){.time = rank->time,
					    .target = r.to,
					    .bytes = bytes ? (uint32_t)bytes : 1,
					    .tag = (uint16_t)rank->round++};
		return true;
	}
	return false;
}

static void receive(void *context, uint32_t e, const struct fab_delivery *d)
{
	const struct allreduce *a = context;
	struct rank *rank = &a->rank[e];

	if (a->kind->is_ring)
		rank->arrived++;
	else
		rank->arrived |= (uint64_t)1 << d->tag;
	rank->time = d->time;
}

/* The last receive of a rank is its result, or comes before its last send. */
static uint32_t waiting_in_allreduce(const void *context)
{
	const struct allreduce *a = context;
	uint32_t n = 0;

	for (uint32_t e = 0; e < a->n; e++) {
		const struct rank *rank = &a->rank[e];
		uint32_t last = a->n_rounds;

		while (last && a->kind->round(a->n, e, last - 1).from == FAB_NONE)
			last--;
		n += rank->round < a->n_rounds || (last && !is_there(a, rank, last - 1));
	}
	return n;
}

static const struct fab_allreduce *find_allreduce(const char *name)
{
	const struct fab_allreduce *a = fab_allreduces;

	while (a->name && strcmp(name, a->name) != 0)
		a++;
	return a;
}

static int check_allreduce(const char *argument, struct fab_err *err)
{
	if (find_allreduce(argument)->name)
		return 0;
	return fab_fail(err, EINVAL,
			"expected allreduce:ring, allreduce:recdbl or allreduce:tree");
}

static int make_allreduce(const struct fab_traffic_problem *p, const char *argument,
			  struct fab_traffic *out, struct fab_err *err)
{
	struct allreduce *a = FAB_ARENA_NEW(&out->arena, 1, struct allreduce);
	uint32_t n = p->ends->n;

	(void)err;
	*a = (struct allreduce){
		.kind = find_allreduce(argument),
		.n = n,
		.bytes = p->how.size[0],
		.rank = FAB_ARENA_NEW0(&out->arena, (size_t)n + 1, struct rank)};
	a->n_rounds = a->kind->n_rounds(n);
	out->n_senders = n > 1 ? n : 0;
	out->messages = (struct fab_messages){
		.context = a, .next = next_of_allreduce, .received = receive};
	out->unfinished = waiting_in_allreduce;
	return 0;
}

const struct fab_traffic_kind fab_traffic_allreduce = {
	.form = "allreduce:KIND",
	.summary = "a sum of vectors of all hosts: ring, recdbl or tree",
	.manual =
		"Once the sum of a vector, of `--size` bytes, of all hosts for all hosts: `ring` (reduce-scatter and allgather), `recdbl` (recursive doubling) or `tree` (binomial reduce and broadcast). A host sends what belongs to a round when all of the rounds before has arrived.",
	.is_finite = true,
	.check = check_allreduce,
	.make = make_allreduce,
};

/* Messages by source, then time. */
struct replay {
	uint32_t n_ends;
	struct fab_message_file trace;
	uint32_t *first; /* [n_ends + 1] into order */
	uint32_t *order; /* [messages] */
	uint32_t *at;	 /* [n_ends] next in order */
	uint64_t *sent;	 /* [n_ends] bytes of that message, so far */
};

/* Long messages are several, none is empty. */
static bool next_of_trace(void *context, uint32_t e, uint64_t now,
			  struct fab_message *out)
{
	const struct replay *r = context;
	const struct fab_timed_message *m;
	uint64_t left;

	(void)now;
	if (r->at[e] == r->first[e + 1])
		return false;
	m = &r->trace.of.v[r->order[r->at[e]]];
	left = m->bytes - r->sent[e];
	*out = (struct fab_message){
		.time = m->time, .target = m->to, .bytes = left ? (uint32_t)left : 1};
	if (left > FAB_MESSAGE_BYTES_MAX) {
		out->bytes = FAB_MESSAGE_BYTES_MAX;
		r->sent[e] += FAB_MESSAGE_BYTES_MAX;
	} else {
		r->sent[e] = 0;
		r->at[e]++;
	}
	return true;
}

static uint32_t unsent_of_trace(const void *context)
{
	const struct replay *r = context;
	uint32_t n = 0;

	for (uint32_t e = 0; e < r->n_ends; e++)
		n += r->at[e] < r->first[e + 1];
	return n;
}

static int check_trace(const char *argument, struct fab_err *err)
{
	return *argument ? 0 : fab_fail(err, EINVAL, "expected trace:FILE");
}

/* The messages are sorted by source; of one source they stay in order. */
static int make_trace(const struct fab_traffic_problem *p, const char *argument,
		      struct fab_traffic *out, struct fab_err *err)
{
	struct replay *r = FAB_ARENA_NEW0(&out->arena, 1, struct replay);
	uint32_t n_ends = p->ends->n;
	size_t n;
	int rc = fab_message_file_read(
		p->f, p->ends, p->how.in_ticks ? FAB_MESSAGES_TICKS : FAB_MESSAGES_TRACE,
		argument, &r->trace, err);

	if (rc)
		return rc;
	n = r->trace.of.n;
	fab_arena_own(&out->arena, free, r->trace.of.v);
	if (n >= UINT32_MAX)
		return fab_fail(err, E2BIG, "%s: more than 2^32 messages", argument);
	r->n_ends = n_ends;
	r->first = FAB_ARENA_NEW0(&out->arena, (size_t)n_ends + 2, uint32_t);
	r->order = FAB_ARENA_NEW(&out->arena, n + 1, uint32_t);
	r->at = FAB_ARENA_NEW(&out->arena, (size_t)n_ends + 1, uint32_t);
	r->sent = FAB_ARENA_NEW0(&out->arena, (size_t)n_ends + 1, uint64_t);
	for (size_t i = 0; i < n; i++)
		r->first[r->trace.of.v[i].from + 1]++;
	for (uint32_t e = 0; e < n_ends; e++) {
		out->n_senders += r->first[e + 1] > 0;
		r->at[e] = r->first[e];
		r->first[e + 1] += r->first[e];
	}
	for (size_t i = 0; i < n; i++)
		r->order[r->at[r->trace.of.v[i].from]++] = (uint32_t)i;
	memcpy(r->at, r->first, n_ends * sizeof(*r->at));
	out->n_left_out = r->trace.n_to_self;
	out->messages = (struct fab_messages){.context = r, .next = next_of_trace};
	out->unfinished = unsent_of_trace;
	return 0;
}

const struct fab_traffic_kind fab_traffic_trace = {
	.form = "trace:FILE",
	.summary = "the messages of a file: TIME SOURCE TARGET BYTES",
	.manual =
		"Once the messages of a file, each at its time (fabric-formats(5)); messages of a host to itself are left out.",
	.is_finite = true,
	.check = check_trace,
	.make = make_trace,
};
