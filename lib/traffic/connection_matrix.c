/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/connection_matrix.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/lookup.h"
#include "base/num.h"
#include "source/scan.h"
#include "source/unpack.h"

enum { TEXT_MAX = 120 };

struct reader {
	uint32_t n_ends;
	bool has_nodes, has_count;
	uint64_t n_connections; /* as the heading says */
	struct fab_connection_matrix *out;
};

static int shown(const struct fab_span *word)
{
	size_t len = fab_span_len(word);

	return len > TEXT_MAX ? TEXT_MAX : (int)len;
}

static bool is_word(const struct fab_span *word, const char *text)
{
	return fab_span_len(word) == strlen(text) && !memcmp(word->p, text, strlen(text));
}

static int take_number(struct fab_span *line, const char *of, uint64_t min, uint64_t max,
		       uint64_t *out, struct fab_err *err)
{
	struct fab_span word = fab_take_word(line);

	if (fab_parse_u64(word.p, fab_span_len(&word), min, max, out))
		return 0;
	return fab_fail(err, EINVAL,
			"%s '%.*s': expected a number from %" PRIu64 " to %" PRIu64, of,
			shown(&word), word.p, min, max);
}

/* Picoseconds; htsim writes them as a decimal number. */
static int take_start(struct fab_span *line, uint64_t *out, struct fab_err *err)
{
	struct fab_span word = fab_take_word(line);
	double ps;

	if (!fab_parse_real(word.p, fab_span_len(&word), 0, (double)FAB_CONNECTION_MAX_PS,
			    &ps))
		return fab_fail(err, EINVAL,
				"start '%.*s': expected picoseconds below 2^48",
				shown(&word), word.p);
	*out = (uint64_t)(ps + 0.5);
	return 0;
}

/* A number of a node, with a node that is there. */
static int take_node(const struct reader *r, const char *text, size_t len, uint32_t *out,
		     struct fab_err *err)
{
	uint64_t n;

	if (!fab_parse_u64(text, len, 0, UINT32_MAX, &n))
		return fab_fail(
			err, EINVAL,
			"'%.*s' is no node: expected a number from 0 on, as in 0->13",
			(int)(len > TEXT_MAX ? TEXT_MAX : len), text);
	if (r->has_nodes && n >= r->out->n_nodes)
		return fab_fail(err, EINVAL,
				"node %" PRIu64 " is none of the %u that Nodes says", n,
				r->out->n_nodes);
	if (n >= r->n_ends)
		return fab_fail(err, EINVAL,
				"node %" PRIu64
				": the fabric has %u live endpoints, 0 to %u",
				n, r->n_ends, r->n_ends - 1);
	*out = (uint32_t)n;
	return 0;
}

struct given {
	bool start, size;
};

/* One property of a connection, whose name was taken. */
static int take_property(struct reader *r, const struct fab_span *name,
			 struct fab_span *line, struct fab_connection *c,
			 struct given *given, struct fab_err *err)
{
	uint64_t ignored;

	if (is_word(name, "start")) {
		given->start = true;
		return take_start(line, &c->start_ps, err);
	}
	if (is_word(name, "size")) {
		given->size = true;
		return take_number(line, "size", 1, FAB_CONNECTION_MAX_BYTES, &c->bytes,
				   err);
	}
	if (is_word(name, "id"))
		return take_number(line, "id", 1, UINT32_MAX, &ignored, err);
	if (is_word(name, "prio")) {
		r->out->n_priorities++;
		return take_number(line, "prio", 0, UINT32_MAX, &ignored, err);
	}
	if (is_word(name, "send_done_trigger") || is_word(name, "recv_done_trigger"))
		return take_number(line, "trigger", 1, UINT32_MAX, &ignored, err);
	if (is_word(name, "trigger") || is_word(name, "addon"))
		return fab_fail(
			err, EINVAL,
			"a connection that starts by a trigger is not simulated: expected start PICOSECONDS");
	return fab_fail(
		err, EINVAL,
		"'%.*s' is no property of a connection: expected start, size, id or prio",
		shown(name), name->p);
}

static int read_connection(struct reader *r, const struct fab_span *ends,
			   struct fab_span line, struct fab_err *err)
{
	const char *arrow = memmem(ends->p, fab_span_len(ends), "->", 2);
	struct fab_connection c = {0};
	struct given given = {false, false};
	int rc = take_node(r, ends->p, (size_t)(arrow - ends->p), &c.from, err);

	if (!rc)
		rc = take_node(r, arrow + 2, (size_t)(ends->end - arrow - 2), &c.to, err);
	if (!rc && c.from == c.to)
		rc = fab_fail(err, EINVAL, "node %u sends to itself", c.from);
	while (!rc && line.p < line.end) {
		struct fab_span name = fab_take_word(&line);

		rc = take_property(r, &name, &line, &c, &given, err);
	}
	if (!rc && !given.start)
		rc = fab_fail(err, EINVAL,
			      "start is missing: expected start PICOSECONDS");
	if (!rc && !given.size)
		rc = fab_fail(err, EINVAL, "size is missing: expected size BYTES");
	if (!rc && r->out->of.n == FAB_CONNECTIONS_MAX)
		rc = fab_fail(err, EINVAL, "more than %d connections",
			      FAB_CONNECTIONS_MAX);
	if (!rc)
		FAB_PUSH(&r->out->of, c);
	return rc;
}

/* A number of the heading. */
static int read_heading(const char *of, bool *has, uint64_t min, uint64_t max,
			struct fab_span *line, uint64_t *out, struct fab_err *err)
{
	if (*has)
		return fab_fail(err, EINVAL, "%s stands here a second time", of);
	*has = true;
	return take_number(line, of, min, max, out, err);
}

static int read_line(void *context, struct fab_item item, struct fab_err *err)
{
	struct reader *r = context;
	struct fab_span line = {item.text, item.text + item.len};
	struct fab_span word = fab_take_word(&line);
	uint64_t n = 0;
	int rc;

	if (is_word(&word, "Nodes")) {
		rc = read_heading("Nodes", &r->has_nodes, 1, UINT32_MAX, &line, &n, err);
		r->out->n_nodes = (uint32_t)n;
		return rc;
	}
	if (is_word(&word, "Connections"))
		return read_heading("Connections", &r->has_count, 0, FAB_CONNECTIONS_MAX,
				    &line, &r->n_connections, err);
	if (is_word(&word, "Triggers") || is_word(&word, "trigger"))
		return 0; /* what starts by one is refused */
	if (is_word(&word, "Failures"))
		return take_number(&line, "Failures", 0, 0, &n, err);
	if (memmem(word.p, fab_span_len(&word), "->", 2))
		return read_connection(r, &word, line, err);
	return fab_fail(err, EINVAL,
			"'%.*s': expected Nodes N, Connections N or A->B start T size S",
			shown(&word), word.p);
}

static int check_end(const struct reader *r, const char *file, struct fab_err *err)
{
	if (!r->out->of.n)
		return fab_fail(err, EINVAL,
				"%.*s: no connection: expected lines A->B start T size S",
				TEXT_MAX, file);
	if (r->has_count && r->n_connections != r->out->of.n)
		return fab_fail(err, EINVAL,
				"%.*s: Connections says %" PRIu64 ", there are %zu",
				TEXT_MAX, file, r->n_connections, r->out->of.n);
	return 0;
}

int fab_connection_matrix_parse(uint32_t n_ends, const char *file, const char *text,
				size_t len, struct fab_connection_matrix *out,
				struct fab_err *err)
{
	struct reader r = {.n_ends = n_ends, .out = out};
	int rc;

	*out = (struct fab_connection_matrix){0};
	rc = fab_list_lines(file, text, len, read_line, &r, err);
	if (!rc)
		rc = check_end(&r, file, err);
	if (rc) {
		free(out->of.v);
		*out = (struct fab_connection_matrix){0};
	}
	return rc;
}

int fab_connection_matrix_read(uint32_t n_ends, const char *path,
			       struct fab_connection_matrix *out, struct fab_err *err)
{
	struct fab_input in;
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	rc = fab_connection_matrix_parse(n_ends, path, in.bytes, in.n, out, err);
	fab_input_fini(&in);
	return rc;
}
