/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/message_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/namelist.h"
#include "base/num.h"
#include "base/units.h"
#include "source/scan.h"
#include "source/unpack.h"
#include "traffic/end_names.h"

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
			"'%.*s' is no time: expected a whole number of ticks below "
			"2^48",
			shown(len), word->p);
	}
	if (n && *time < r->out->of.v[n - 1].time)
		return fab_fail(err, EINVAL,
				"time %.*s is before that of the message above: expected "
				"times in order",
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
		return fab_fail(err, EINVAL,
				"expected TIME SOURCE TARGET BYTES, found '%.*s' for "
				"BYTES",
				shown(fab_span_len(&bytes)), bytes.p);
	rc = fab_end_names_pair(&r->names, line.p, fab_span_len(&line), pair, err);
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
