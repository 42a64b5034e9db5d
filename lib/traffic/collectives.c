/* SPDX-License-Identifier: BSD-2-Clause */
/* Finite traffic of all hosts together: everyone to everyone, and sums of vectors. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "event/stream.h"
#include "traffic/collective.h"
#include "traffic/traffic.h"

/*
 * Everyone to everyone: message i of an end goes to the one i + 1 further on, or by
 * chance, to another permutation of the others each.
 */
struct alltoall {
	uint32_t n, bytes;
	bool by_chance;
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
	if (a->by_chance)
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

static void free_alltoall(void *context)
{
	struct alltoall *a = context;

	free(a->sent);
	free(a);
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
	struct alltoall *a = FAB_NEW(1, struct alltoall);

	(void)err;
	*a = (struct alltoall){.n = p->ends->n,
			       .bytes = p->how.size[0],
			       .by_chance = *argument,
			       .seed = p->how.seed,
			       .sent = FAB_NEW0((size_t)p->ends->n + 1, uint32_t)};
	out->n_senders = a->n > 1 ? a->n : 0;
	out->messages = (struct fab_messages){
		.context = a,
		.least_payload = fab_last_payload(a->bytes, p->how.mtu),
		.next = next_of_alltoall};
	out->unfinished = unsent_of_alltoall;
	out->free = free_alltoall;
	return 0;
}

/* Where a rank is. Of what has arrived: a ring counts, others have a bit a round. */
struct rank {
	uint64_t arrived;
	uint64_t time; /* of the last arrival that it waited for */
	uint32_t round;
};

struct allreduce {
	const struct fab_collective *kind;
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

static void free_allreduce(void *context)
{
	struct allreduce *a = context;

	free(a->rank);
	free(a);
}

static int check_allreduce(const char *argument, struct fab_err *err)
{
	if (fab_allreduce_find(argument))
		return 0;
	return fab_fail(err, EINVAL,
			"expected allreduce:ring, allreduce:recdbl or allreduce:tree");
}

static int make_allreduce(const struct fab_traffic_problem *p, const char *argument,
			  struct fab_traffic *out, struct fab_err *err)
{
	struct allreduce *a = FAB_NEW(1, struct allreduce);
	uint32_t n = p->ends->n;

	(void)err;
	*a = (struct allreduce){.kind = fab_allreduce_find(argument),
				.n = n,
				.bytes = p->how.size[0],
				.rank = FAB_NEW0((size_t)n + 1, struct rank)};
	a->n_rounds = a->kind->n_rounds(n);
	out->n_senders = n > 1 ? n : 0;
	out->messages = (struct fab_messages){
		.context = a, .next = next_of_allreduce, .received = receive};
	out->unfinished = waiting_in_allreduce;
	out->free = free_allreduce;
	return 0;
}

const struct fab_traffic_kind fab_traffic_alltoall = {
	.form = "alltoall",
	.summary = "one message from each to each",
	.manual =
		"Once a message from each host to each other one: to the next, to the next but one and so on; with `alltoall:random` each in an order of its own by chance.",
	.is_finite = true,
	.argument_is_optional = true,
	.check = check_alltoall,
	.make = make_alltoall,
};

const struct fab_traffic_kind fab_traffic_allreduce = {
	.form = "allreduce:KIND",
	.summary = "a sum of vectors of all hosts: ring, recdbl or tree",
	.manual =
		"Once the sum of a vector, of `--size` bytes, of all hosts for all hosts: `ring` (reduce-scatter and allgather), `recdbl` (recursive doubling) or `tree` (binomial reduce and broadcast). A host sends what belongs to a round when all of the rounds before has arrived.",
	.is_finite = true,
	.check = check_allreduce,
	.make = make_allreduce,
};
