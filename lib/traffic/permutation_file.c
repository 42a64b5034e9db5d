/* SPDX-License-Identifier: BSD-2-Clause */
/* Who sends to whom, by a file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "fabric/resolver.h"
#include "source/scan.h"
#include "source/unpack.h"
#include "traffic/permutation.h"

enum { TEXT_MAX = 120 };

struct flow_reader {
	const struct fab_fabric *f;
	struct fab_lookup lookup;
	struct fab_map64 *end_of; /* port to end */
	uint32_t *to;
};

/* The ends that an item of a line names; `ends` is the caller's to free. */
static int find_ends(const struct flow_reader *r, const struct fab_item *item,
		     struct fab_ids *ends, struct fab_err *err)
{
	int rc = fab_lookup_item(&r->lookup, item, ends, NULL, err);

	for (size_t i = 0; i < ends->of.n && !rc; i++) {
		uint32_t port = ends->of.v[i];

		ends->of.v[i] = fab_map64_get(r->end_of, port);
		if (ends->of.v[i] == FAB_NONE)
			rc = fab_fail(err, ENOENT,
				      "'%.*s' is no live host adapter: it, its switch or "
				      "its cable is dead, or it is no host's",
				      TEXT_MAX,
				      fab_node_name(r->f, r->f->port_node[port]));
	}
	return rc;
}

static int add_flows(const struct flow_reader *r, const struct fab_item pair[2],
		     struct fab_err *err)
{
	struct fab_ids ends[2] = {{{0}}, {{0}}};
	int rc = find_ends(r, &pair[0], &ends[0], err);

	if (!rc)
		rc = find_ends(r, &pair[1], &ends[1], err);
	if (!rc && ends[0].of.n != ends[1].of.n)
		rc = fab_fail(err, EINVAL,
			      "%zu sources and %zu targets: expected as many of both",
			      ends[0].of.n, ends[1].of.n);
	for (size_t i = 0; i < ends[0].of.n && !rc; i++) {
		uint32_t *to = &r->to[ends[0].of.v[i]];

		if (*to != FAB_NONE)
			rc = fab_fail(err, EINVAL, "'%.*s' sends twice",
				      pair[0].len > TEXT_MAX ? TEXT_MAX
							     : (int)pair[0].len,
				      pair[0].text);
		*to = ends[1].of.v[i];
	}
	free(ends[0].of.v);
	free(ends[1].of.v);
	return rc;
}

static int read_line(const struct flow_reader *r, const char *line, size_t len,
		     struct fab_err *err)
{
	struct fab_item pair[2];
	int rc;

	while (len && strchr(" \t\r\n", line[len - 1]))
		len--;
	while (len && strchr(" \t", *line)) {
		line++;
		len--;
	}
	if (!len || *line == '#')
		return 0;
	if (memchr(line, '\0', len))
		return fab_fail(err, EINVAL, "expected text, found a zero byte");
	rc = fab_lookup_pair(&r->lookup, &r->lookup, line, len, " \t", pair, err);
	return rc ? rc : add_flows(r, pair, err);
}

static int read_lines(const struct flow_reader *r, const struct fab_input *in,
		      const char *path, struct fab_err *err)
{
	struct fab_lines lines = {.at = in->bytes, .end = in->bytes + in->n};
	char prefix[TEXT_MAX + 40];
	struct fab_span line;

	while (fab_lines_next(&lines, &line)) {
		int rc = read_line(r, line.p, fab_span_len(&line), err);

		if (!rc)
			continue;
		snprintf(prefix, sizeof(prefix), "%.*s:%" PRIu64, TEXT_MAX, path,
			 (uint64_t)lines.line);
		fab_err_prefix(err, prefix);
		return rc;
	}
	return 0;
}

static int read_file(const struct fab_permutation_problem *p, const char *path,
		     uint32_t *to, struct fab_err *err)
{
	struct flow_reader r = {.f = p->f, .to = to};
	struct fab_resolver *resolver;
	struct fab_input in;
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	resolver = fab_resolver_new(p->f);
	r.lookup = fab_resolver_lookup(resolver, FAB_WANT_ADAPTER);
	r.lookup.match = NULL;
	r.end_of = fab_map64_new(p->ends->n);
	for (uint32_t i = 0; i < p->ends->n; i++)
		fab_map64_put(r.end_of, p->ends->port[i], i);
	rc = read_lines(&r, &in, path, err);
	fab_map64_free(r.end_of);
	fab_resolver_free(resolver);
	fab_input_fini(&in);
	return rc;
}

static bool takes_path(const char *argument)
{
	return *argument;
}

const struct fab_permutation fab_permutation_file = {
	.form = "file:PATH",
	.summary = "lines SOURCE TARGET of a file",
	.manual = "A file with a line `SOURCE TARGET` a flow: hosts or adapters by any "
		  "name, "
		  "apart by blanks, or two host lists of as many.",
	.takes = takes_path,
	.make = read_file,
};
