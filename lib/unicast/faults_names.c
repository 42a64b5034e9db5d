/* SPDX-License-Identifier: BSD-2-Clause */
/* Switches and cables that die by name. */
#include "unicast/faults.h"

#include "source/scan.h"
#include "source/unpack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096, TEXT_MAX = 120 };

/* Kill what a list names. */
static int add_list(struct fab_faults *faults, enum fab_want want, const char *text,
		    size_t len, struct fab_err *err)
{
	const struct fab_lookup lookup =
		fab_resolver_lookup(fab_faults_resolver(faults), want);
	struct fab_ids ids = {0};
	int rc = fab_lookup_list(&lookup, text, len, &ids, &faults->matches, err);

	for (size_t i = 0; i < ids.of.n; i++)
		fab_faults_kill(faults,
				(struct fab_fault){.is_cable = want == FAB_WANT_CABLE,
						   .id = ids.of.v[i]});
	free(ids.of.v);
	return rc;
}

int fab_faults_add_switches(struct fab_faults *faults, const char *text,
			    struct fab_err *err)
{
	return add_list(faults, FAB_WANT_SWITCH, text, strlen(text), err);
}

int fab_faults_add_cables(struct fab_faults *faults, const char *text,
			  struct fab_err *err)
{
	return add_list(faults, FAB_WANT_CABLE, text, strlen(text), err);
}

static int add_line(struct fab_faults *faults, const char *line, size_t len,
		    struct fab_err *err)
{
	static const char link[] = "link ";

	while (len && (line[len - 1] == '\n' || line[len - 1] == '\r' ||
		       line[len - 1] == ' ' || line[len - 1] == '\t'))
		len--;
	while (len && (*line == ' ' || *line == '\t')) {
		line++;
		len--;
	}
	if (!len || *line == '#')
		return 0;
	if (memchr(line, '\0', len))
		return fab_fail(err, EINVAL, "expected text, found a zero byte");
	if (len > sizeof(link) - 1 && !memcmp(line, link, sizeof(link) - 1))
		return add_list(faults, FAB_WANT_CABLE, line + sizeof(link) - 1,
				len - (sizeof(link) - 1), err);
	return add_list(faults, FAB_WANT_SWITCH, line, len, err);
}

static int add_lines(struct fab_faults *faults, const struct fab_input *in,
		     const char *path, struct fab_err *err)
{
	struct fab_lines lines = {.at = in->bytes, .end = in->bytes + in->n};
	char prefix[TEXT_MAX + 40];
	struct fab_span line;
	int rc = 0;

	while (!rc && fab_lines_next(&lines, &line)) {
		size_t len = fab_span_len(&line);

		if (len > LINE_MAX_BYTES)
			rc = fab_fail(err, EINVAL, "expected a line of at most %d bytes",
				      LINE_MAX_BYTES);
		else
			rc = add_line(faults, line.p, len, err);
		if (!rc)
			continue;
		snprintf(prefix, sizeof(prefix), "%.*s:%" PRIu64, TEXT_MAX, path,
			 (uint64_t)lines.line);
		fab_err_prefix(err, prefix);
	}
	return rc;
}

int fab_faults_add_file(struct fab_faults *faults, const char *path, struct fab_err *err)
{
	struct fab_input in;
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	rc = add_lines(faults, &in, strcmp(path, "-") ? path : "(stdin)", err);
	fab_input_fini(&in);
	return rc;
}
