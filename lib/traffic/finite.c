/* SPDX-License-Identifier: BSD-2-Clause */
/* Finite traffic: a message from each to each, messages of a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/stream.h"
#include "traffic/messages.h"
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
		"Once a message from each host to each other: the next, the next but one ...; `alltoall:random`: each in a random order.",
	.is_finite = true,
	.argument_is_optional = true,
	.check = check_alltoall,
	.make = make_alltoall,
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
	.manual = "Once the messages of a file, each at its time (`fabric-formats`(5)).",
	.is_finite = true,
	.check = check_trace,
	.make = make_trace,
};
