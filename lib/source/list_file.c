/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/list_file.h"

#include "source/scan.h"
#include "source/unpack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096, NAME_MAX_BYTES = 120 };

static int take_line(const struct fab_span *line, fab_list_line_fn take, void *context,
		     struct fab_err *err)
{
	size_t len = fab_span_len(line);

	if (len > LINE_MAX_BYTES)
		return fab_fail(err, EINVAL, "expected a line of at most %d bytes",
				LINE_MAX_BYTES);
	if (!len || *line->p == '#')
		return 0;
	if (memchr(line->p, '\0', len))
		return fab_fail(err, EINVAL, "expected text, found a zero byte");
	return take(context, line->p, len, err);
}

int fab_list_file_read(const char *path, fab_list_line_fn take, void *context,
		       struct fab_err *err)
{
	char prefix[NAME_MAX_BYTES + 40];
	struct fab_lines lines;
	struct fab_input in;
	struct fab_span line;
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	lines = (struct fab_lines){.at = in.bytes, .end = in.bytes + in.n};
	while (!rc && fab_lines_next(&lines, &line)) {
		rc = take_line(&line, take, context, err);
		if (!rc)
			continue;
		snprintf(prefix, sizeof(prefix), "%.*s:%" PRIu64, NAME_MAX_BYTES,
			 strcmp(path, "-") ? path : "(stdin)", (uint64_t)lines.line);
		fab_err_prefix(err, prefix);
	}
	fab_input_fini(&in);
	return rc;
}
