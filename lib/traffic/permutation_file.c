/* SPDX-License-Identifier: BSD-2-Clause */
/* Who sends to whom, by a file. */
#include <errno.h>
#include <stdlib.h>

#include "base/namelist.h"
#include "source/unpack.h"
#include "traffic/end_names.h"
#include "traffic/permutation.h"

enum { TEXT_MAX = 120 };

struct flow_reader {
	struct fab_end_names names;
	uint32_t *to;
	bool has_flows;
};

static int add_flows(const struct flow_reader *r, const struct fab_item pair[2],
		     struct fab_err *err)
{
	struct fab_ids ends[2] = {{{0}}, {{0}}};
	int rc = fab_end_names_find(&r->names, &pair[0], &ends[0], err);

	if (!rc)
		rc = fab_end_names_find(&r->names, &pair[1], &ends[1], err);
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

static int read_line(void *context, struct fab_item line, struct fab_err *err)
{
	struct flow_reader *r = context;
	struct fab_item pair[2];
	int rc = fab_end_names_pair(&r->names, line.text, line.len, pair, err);

	r->has_flows = true;
	return rc ? rc : add_flows(r, pair, err);
}

static int read_file(const struct fab_permutation_problem *p, const char *path,
		     uint32_t *to, struct fab_err *err)
{
	struct flow_reader r = {.to = to};
	struct fab_input in;
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	fab_end_names_init(&r.names, p->f, p->ends);
	rc = fab_list_lines(path, in.bytes, in.n, read_line, &r, err);
	/* nothing would be an answer on nothing */
	if (!rc && !r.has_flows)
		rc = fab_fail(err, EINVAL,
			      "%s: no flow in it: expected lines SOURCE TARGET (of a "
			      "pipe nothing is left when it was read before)",
			      path);
	fab_end_names_fini(&r.names);
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
