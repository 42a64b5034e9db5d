/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces of messages: reading them, and the finite traffic that replays one. */
#include "traffic/message_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"
#include "base/num.h"
#include "base/units.h"
#include "source/scan.h"
#include "source/unpack.h"
#include "traffic/traffic.h"

enum { TEXT_MAX = 120 };

struct reader {
	struct fab_end_names names;
	bool in_ticks;
	struct fab_message_trace *out;
};

static int shown(size_t len)
{
	return len > TEXT_MAX ? TEXT_MAX : (int)len;
}

/* The last word of the line, taken off it. */
static struct fab_span take_last(struct fab_span *line)
{
	struct fab_span word = {line->end, line->end};

	while (word.p > line->p && !fab_is_blank(word.p[-1]))
		word.p--;
	line->end = word.p;
	while (line->end > line->p && fab_is_blank(line->end[-1]))
		line->end--;
	return word;
}

static int read_time(const struct reader *r, const struct fab_span *word, uint64_t *time,
		     struct fab_err *err)
{
	size_t len = fab_span_len(word), n = r->out->of.n;

	if (!r->in_ticks) {
		int rc = fab_parse_time_ps(word->p, len, FAB_TRACE_MAX_TIME, time, err);

		if (rc)
			return rc;
	} else if (!fab_parse_u64(word->p, len, 0, FAB_TRACE_MAX_TIME, time)) {
		return fab_fail(
			err, EINVAL,
			"'%.*s' is no time: expected a whole number of ticks below 2^48",
			shown(len), word->p);
	}
	if (n && *time < r->out->of.v[n - 1].time)
		return fab_fail(
			err, EINVAL,
			"time %.*s is before that of the message above: expected times in order",
			shown(len), word->p);
	return 0;
}

/* The one end that an item names. */
static int read_end(const struct reader *r, const struct fab_item *item, uint32_t *end,
		    struct fab_err *err)
{
	struct fab_ids ends = {{0}};
	int rc = fab_end_names_find(&r->names, item, &ends, err);

	if (!rc && ends.of.n != 1)
		rc = fab_fail(err, EINVAL, "'%.*s' is %zu hosts: expected one",
			      shown(item->len), item->text, ends.of.n);
	if (!rc)
		*end = ends.of.v[0];
	free(ends.of.v);
	return rc;
}

static int read_message(void *context, struct fab_item item, struct fab_err *err)
{
	struct reader *r = context;
	struct fab_traced_message m;
	struct fab_span line = {item.text, item.text + item.len};
	struct fab_span time = fab_take_word(&line), bytes = take_last(&line);
	struct fab_item pair[2];
	int rc = read_time(r, &time, &m.time, err);

	if (rc)
		return rc;
	if (!fab_parse_u64(bytes.p, fab_span_len(&bytes), 0, FAB_TRACE_MAX_BYTES,
			   &m.bytes) ||
	    line.p == line.end)
		return fab_fail(
			err, EINVAL,
			"expected TIME SOURCE TARGET BYTES, found '%.*s' for BYTES",
			shown(fab_span_len(&bytes)), bytes.p);
	rc = fab_list_pair(line.p, fab_span_len(&line), " \t", pair, err);
	if (!rc)
		rc = read_end(r, &pair[0], &m.from, err);
	if (!rc)
		rc = read_end(r, &pair[1], &m.to, err);
	if (rc)
		return rc;
	if (m.from == m.to)
		r->out->n_to_self++;
	else
		FAB_PUSH(&r->out->of, m);
	return 0;
}

int fab_message_trace_parse(const struct fab_fabric *f, const struct fab_flow_ends *ends,
			    bool in_ticks, const char *file, const char *text, size_t len,
			    struct fab_message_trace *out, struct fab_err *err)
{
	struct reader r = {.in_ticks = in_ticks, .out = out};
	int rc;

	*out = (struct fab_message_trace){{0}, 0};
	fab_end_names_init(&r.names, f, ends);
	rc = fab_list_lines(file, text, len, read_message, &r, err);
	if (!rc && !out->of.n)
		rc = fab_fail(err, EINVAL,
			      "%s: no message: expected lines TIME SOURCE TARGET BYTES",
			      file);
	fab_end_names_fini(&r.names);
	if (rc) {
		free(out->of.v);
		*out = (struct fab_message_trace){{0}, 0};
	}
	return rc;
}

int fab_message_trace_read(const struct fab_fabric *f, const struct fab_flow_ends *ends,
			   bool in_ticks, const char *path, struct fab_message_trace *out,
			   struct fab_err *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct fab_input in;
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	rc = fab_message_trace_parse(f, ends, in_ticks, name, in.bytes, in.n, out, err);
	fab_input_fini(&in);
	return rc;
}

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

static int check_trace(const char *argument, struct fab_err *err)
{
	return *argument ? 0 : fab_fail(err, EINVAL, "expected trace:FILE");
}

static int make_trace(const struct fab_traffic_problem *p, const char *argument,
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
	.manual =
		"Once the messages of a file, each at its time (fabric-formats(5)); messages of a host to itself are left out.",
	.is_finite = true,
	.check = check_trace,
	.make = make_trace,
};
