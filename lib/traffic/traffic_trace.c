/* SPDX-License-Identifier: BSD-2-Clause */
/* Finite traffic of a file. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "traffic/message_trace.h"
#include "traffic/traffic.h"

/* Messages by source, then time. */
struct replay {
	uint32_t n_ends;
	struct fab_message_trace trace;
	uint32_t *first; /* [n_ends + 1] into order */
	uint32_t *order; /* [messages] */
	uint32_t *at;	 /* [n_ends] next in order */
	uint64_t *sent;	 /* [n_ends] bytes of that message, so far */
};

/* Long messages are several, none is empty. */
static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *out)
{
	const struct replay *r = context;
	const struct fab_traced_message *m;
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

static uint32_t unsent(const void *context)
{
	const struct replay *r = context;
	uint32_t n = 0;

	for (uint32_t e = 0; e < r->n_ends; e++)
		n += r->at[e] < r->first[e + 1];
	return n;
}

static void free_replay(void *context)
{
	struct replay *r = context;

	free(r->trace.of.v);
	free(r->first);
	free(r->order);
	free(r->at);
	free(r->sent);
	free(r);
}

/* Sort the messages by source; of one source they stay in order. */
static void sort_by_source(struct replay *r, uint32_t n_ends)
{
	size_t n = r->trace.of.n;

	r->first = FAB_NEW0((size_t)n_ends + 2, uint32_t);
	r->order = FAB_NEW(n + 1, uint32_t);
	r->at = FAB_NEW((size_t)n_ends + 1, uint32_t);
	r->sent = FAB_NEW0((size_t)n_ends + 1, uint64_t);
	for (size_t i = 0; i < n; i++)
		r->first[r->trace.of.v[i].from + 1]++;
	for (uint32_t e = 0; e < n_ends; e++) {
		r->at[e] = r->first[e];
		r->first[e + 1] += r->first[e];
	}
	for (size_t i = 0; i < n; i++)
		r->order[r->at[r->trace.of.v[i].from]++] = (uint32_t)i;
	for (uint32_t e = 0; e < n_ends; e++)
		r->at[e] = r->first[e];
}

static int check(const char *argument, struct fab_err *err)
{
	return *argument ? 0 : fab_fail(err, EINVAL, "expected trace:FILE");
}

static int make(const struct fab_traffic_problem *p, const char *argument,
		struct fab_traffic *out, struct fab_err *err)
{
	struct replay *r = FAB_NEW0(1, struct replay);
	uint32_t n = p->ends->n;
	int rc = fab_message_trace_read(p->f, p->ends, p->how.in_ticks, argument,
					&r->trace, err);

	if (!rc && r->trace.of.n >= UINT32_MAX)
		rc = fab_fail(err, E2BIG, "%s: more than 2^32 messages", argument);
	if (rc) {
		free_replay(r);
		return rc;
	}
	r->n_ends = n;
	sort_by_source(r, n);
	out->n_left_out = r->trace.n_to_self;
	for (uint32_t e = 0; e < n; e++)
		out->n_senders += r->first[e + 1] > r->first[e];
	out->messages = (struct fab_messages){.context = r, .next = next};
	out->unfinished = unsent;
	out->free = free_replay;
	return 0;
}

const struct fab_traffic_kind fab_traffic_trace = {
	.form = "trace:FILE",
	.summary = "the messages of a file: TIME SOURCE TARGET BYTES",
	.manual = "Once the messages of a file, each at its time "
		  "(fabric-formats(5)); messages of a host to itself are left out.",
	.is_finite = true,
	.check = check,
	.make = make,
};
