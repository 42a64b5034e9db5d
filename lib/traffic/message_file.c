/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of messages: lines of traces, lines of connection matrices. */
#include "traffic/messages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/lookup.h"
#include "base/num.h"
#include "base/units.h"
#include "source/scan.h"
#include "source/unpack.h"

enum { TEXT_MAX = 120 };

struct reader {
	struct fab_end_names names;
	enum fab_message_form form;
	uint32_t n_ends;
	bool has_nodes, has_count;
	uint64_t n_connections; /* as the heading says */
	struct fab_message_file *out;
};

/* Arguments of %.*s for a word. */
#define SHOWN(word)                                                                      \
	(fab_span_len(&(word)) > TEXT_MAX ? TEXT_MAX : (int)fab_span_len(&(word))),      \
		(word).p

/* The time of a trace, in order. */
static int read_time(const struct reader *r, struct fab_span word, uint64_t *time,
		     struct fab_err *err)
{
	size_t len = fab_span_len(&word), n = r->out->of.n;

	if (r->form == FAB_MESSAGES_TRACE) {
		int rc = fab_parse_time_ps(word.p, len, FAB_TIMED_TIME_MAX, time, err);

		if (rc)
			return rc;
	} else if (!fab_parse_u64(word.p, len, 0, FAB_TIMED_TIME_MAX, time)) {
		return fab_fail(
			err, EINVAL,
			"'%.*s' is no time: expected a whole number of ticks below 2^48",
			SHOWN(word));
	}
	if (n && *time < r->out->of.v[n - 1].time)
		return fab_fail(
			err, EINVAL,
			"time %.*s is before that of the message above: expected times in order",
			SHOWN(word));
	return 0;
}

/* TIME SOURCE TARGET BYTES */
static int read_message(struct reader *r, struct fab_span line, struct fab_err *err)
{
	struct fab_span time = fab_take_word(&line), bytes = {line.end, line.end};
	struct fab_timed_message m;
	struct fab_item pair[2];
	uint32_t *to[] = {&m.from, &m.to};
	int rc = read_time(r, time, &m.time, err);

	if (rc)
		return rc;
	while (bytes.p > line.p && !fab_is_blank(bytes.p[-1]))
		bytes.p--;
	line.end = bytes.p;
	while (line.end > line.p && fab_is_blank(line.end[-1]))
		line.end--;
	if (!fab_parse_u64(bytes.p, fab_span_len(&bytes), 0, FAB_TIMED_BYTES_MAX,
			   &m.bytes) ||
	    line.p == line.end)
		return fab_fail(
			err, EINVAL,
			"expected TIME SOURCE TARGET BYTES, found '%.*s' for BYTES",
			SHOWN(bytes));
	rc = fab_list_pair(line.p, fab_span_len(&line), " \t", pair, err);
	for (size_t i = 0; i < 2 && !rc; i++) {
		struct fab_span word = {pair[i].text, pair[i].text + pair[i].len};
		struct fab_ids ends = {{0}};

		rc = fab_end_names_find(&r->names, &pair[i], &ends, err);
		if (!rc && ends.of.n != 1)
			rc = fab_fail(err, EINVAL, "'%.*s' is %zu hosts: expected one",
				      SHOWN(word), ends.of.n);
		if (!rc)
			*to[i] = ends.of.v[0];
		free(ends.of.v);
	}
	if (rc)
		return rc;
	if (m.from == m.to)
		r->out->n_to_self++;
	else
		FAB_PUSH(&r->out->of, m);
	return 0;
}

static bool is_word(struct fab_span word, const char *text)
{
	return fab_span_len(&word) == strlen(text) && !memcmp(word.p, text, strlen(text));
}

static int take_number(struct fab_span *line, const char *of, uint64_t min, uint64_t max,
		       uint64_t *out, struct fab_err *err)
{
	struct fab_span word = fab_take_word(line);

	if (fab_parse_u64(word.p, fab_span_len(&word), min, max, out))
		return 0;
	return fab_fail(err, EINVAL,
			"%s '%.*s': expected a number from %" PRIu64 " to %" PRIu64, of,
			SHOWN(word), min, max);
}

/* A number of a node, with a node that is there. */
static int take_node(const struct reader *r, struct fab_span word, uint32_t *out,
		     struct fab_err *err)
{
	uint64_t n;

	if (!fab_parse_u64(word.p, fab_span_len(&word), 0, UINT32_MAX, &n))
		return fab_fail(
			err, EINVAL,
			"'%.*s' is no node: expected a number from 0 on, as in 0->13",
			SHOWN(word));
	if (r->has_nodes && n >= r->out->n_nodes)
		return fab_fail(err, EINVAL, "node %" PRIu64 ": Nodes says 0 to %u", n,
				r->out->n_nodes - 1);
	if (n >= r->n_ends)
		return fab_fail(err, EINVAL,
				"node %" PRIu64
				": the fabric has %u live endpoints, 0 to %u",
				n, r->n_ends, r->n_ends - 1);
	*out = (uint32_t)n;
	return 0;
}

/* A number of a connection; start: a decimal number of picoseconds. */
static int take_property(struct reader *r, struct fab_span name, struct fab_span *line,
			 struct fab_timed_message *m, bool given[2], struct fab_err *err)
{
	static const struct {
		const char *name, *of;
		uint64_t min, max;
	} numbers[] = {{"size", "size", 1, FAB_TIMED_BYTES_MAX},
		       {"id", "id", 1, UINT32_MAX},
		       {"prio", "prio", 0, UINT32_MAX},
		       {"send_done_trigger", "trigger", 1, UINT32_MAX},
		       {"recv_done_trigger", "trigger", 1, UINT32_MAX}};
	uint64_t ignored;

	if (is_word(name, "start")) {
		struct fab_span word = fab_take_word(line);
		double ps;

		if (!fab_parse_real(word.p, fab_span_len(&word), 0,
				    (double)FAB_TIMED_TIME_MAX, &ps))
			return fab_fail(err, EINVAL,
					"start '%.*s': expected picoseconds below 2^48",
					SHOWN(word));
		m->time = (uint64_t)(ps + 0.5);
		given[0] = true;
		return 0;
	}
	given[1] |= is_word(name, "size");
	r->out->n_priorities += is_word(name, "prio");
	for (size_t i = 0; i < FAB_COUNT(numbers); i++)
		if (is_word(name, numbers[i].name))
			return take_number(line, numbers[i].of, numbers[i].min,
					   numbers[i].max, i ? &ignored : &m->bytes, err);
	if (is_word(name, "trigger") || is_word(name, "addon"))
		return fab_fail(
			err, EINVAL,
			"a connection that starts by a trigger is not simulated: expected start PICOSECONDS");
	return fab_fail(
		err, EINVAL,
		"'%.*s' is no property of a connection: expected start, size, id or prio",
		SHOWN(name));
}

/* A->B start T size S */
static int read_connection(struct reader *r, struct fab_span pair, const char *arrow,
			   struct fab_span line, struct fab_err *err)
{
	struct fab_timed_message m = {0};
	bool given[2] = {false, false}; /* start, size */
	int rc = take_node(r, (struct fab_span){pair.p, arrow}, &m.from, err);

	if (!rc)
		rc = take_node(r, (struct fab_span){arrow + 2, pair.end}, &m.to, err);
	if (!rc && m.from == m.to)
		rc = fab_fail(err, EINVAL, "node %u sends to itself", m.from);
	while (!rc && line.p < line.end) {
		struct fab_span name = fab_take_word(&line);

		rc = take_property(r, name, &line, &m, given, err);
	}
	if (!rc && !given[0])
		rc = fab_fail(err, EINVAL,
			      "start is missing: expected start PICOSECONDS");
	if (!rc && !given[1])
		rc = fab_fail(err, EINVAL, "size is missing: expected size BYTES");
	if (!rc && r->out->of.n == FAB_CONNECTIONS_MAX)
		rc = fab_fail(err, EINVAL, "more than %d connections",
			      FAB_CONNECTIONS_MAX);
	if (!rc)
		FAB_PUSH(&r->out->of, m);
	return rc;
}

static int read_line(void *context, struct fab_item item, struct fab_err *err)
{
	struct reader *r = context;
	struct fab_span line = {item.text, item.text + item.len}, word;
	const char *arrow;
	bool is_nodes, *has;
	uint64_t n = 0;
	int rc;

	if (r->form != FAB_MESSAGES_HTSIM)
		return read_message(r, line, err);
	word = fab_take_word(&line);
	is_nodes = is_word(word, "Nodes");
	if (is_nodes || is_word(word, "Connections")) {
		has = is_nodes ? &r->has_nodes : &r->has_count;
		if (*has)
			return fab_fail(err, EINVAL, "%.*s stands here a second time",
					SHOWN(word));
		*has = true;
		rc = take_number(&line, is_nodes ? "Nodes" : "Connections", is_nodes,
				 is_nodes ? UINT32_MAX : FAB_CONNECTIONS_MAX, &n, err);
		if (is_nodes)
			r->out->n_nodes = (uint32_t)n;
		else
			r->n_connections = n;
		return rc;
	}
	if (is_word(word, "Triggers") || is_word(word, "trigger"))
		return 0; /* connections that start by one are refused */
	if (is_word(word, "Failures"))
		return take_number(&line, "Failures", 0, 0, &n, err);
	arrow = memmem(word.p, fab_span_len(&word), "->", 2);
	if (arrow)
		return read_connection(r, word, arrow, line, err);
	return fab_fail(err, EINVAL,
			"'%.*s': expected Nodes N, Connections N or A->B start T size S",
			SHOWN(word));
}

int fab_message_file_parse(const struct fab_fabric *f, const struct fab_flow_ends *ends,
			   enum fab_message_form form, const char *file, const char *text,
			   size_t len, struct fab_message_file *out, struct fab_err *err)
{
	struct reader r = {.form = form, .n_ends = ends->n, .out = out};
	bool has_names = form != FAB_MESSAGES_HTSIM;
	int rc;

	*out = (struct fab_message_file){.n_nodes = 0};
	if (has_names)
		fab_end_names_init(&r.names, f, ends);
	rc = fab_list_lines(file, text, len, read_line, &r, err);
	if (!rc && !out->of.n)
		rc = fab_fail(err, EINVAL, "%.*s: no %s", TEXT_MAX, file,
			      has_names
				      ? "message: expected lines TIME SOURCE TARGET BYTES"
				      : "connection: expected lines A->B start T size S");
	if (!rc && r.has_count && r.n_connections != out->of.n)
		rc = fab_fail(err, EINVAL,
			      "%.*s: Connections says %" PRIu64 ", there are %zu",
			      TEXT_MAX, file, r.n_connections, out->of.n);
	if (has_names)
		fab_end_names_fini(&r.names);
	if (rc) {
		free(out->of.v);
		*out = (struct fab_message_file){.n_nodes = 0};
	}
	return rc;
}

int fab_message_file_read(const struct fab_fabric *f, const struct fab_flow_ends *ends,
			  enum fab_message_form form, const char *path,
			  struct fab_message_file *out, struct fab_err *err)
{
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	return fab_message_file_parse(f, ends, form,
				      strcmp(path, "-") ? path : "standard input",
				      in.bytes, in.n, out, err);
}
