/* SPDX-License-Identifier: BSD-2-Clause */
/* For all targets whose input is a fabric in some format. */
#pragma once

#include "export/fabrics.h"
#include "fuzz.h"
#include "source/reader.h"
#include "source/source.h"

#include <stdio.h>

/* As a dump; NULL: refused, as nodes that share a GUID cannot be told apart in one. */
static inline char *fuzz_dump(const struct fab_fabric *f, size_t *n)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, n);
	struct fab_err err = {""};
	int rc = fab_export_ibnetdiscover(out, f, &err);

	fclose(out);
	if (!rc)
		return text;
	free(text);
	if (!strstr(err.text, "to have its own"))
		abort();
	return NULL;
}

/* What is read can be written, read back as the same fabric, and written alike. */
static inline void fuzz_source(const uint8_t *bytes, size_t n)
{
	struct fab_fabric *f = NULL, *g = NULL;
	struct fab_err err;
	char *first, *second;
	size_t n_first, n_second;

	if (fab_source_parse("input", bytes, n, NULL, &f, &err))
		return;
	first = fuzz_dump(f, &n_first);
	if (first) {
		if (fab_source_parse("dump", first, n_first, NULL, &g, &err)) {
			fprintf(stderr, "%s\n%s", err.text, first);
			abort();
		}
		second = fuzz_dump(g, &n_second);
		if (!second || fab_fabric_fingerprint(f) != fab_fabric_fingerprint(g) ||
		    n_first != n_second || memcmp(first, second, n_first)) {
			fprintf(stderr, "%s\nis read as\n%s", first, second);
			abort();
		}
		free(second);
		fab_fabric_free(g);
	}
	free(first);
	fab_fabric_free(f);
}

/* Past the recognition of formats by a reader, and as any input. Returns 0. */
static inline int fuzz_read(int (*read)(struct fab_builder *b, const char *name,
					const char *text, size_t n, struct fab_err *err),
			    const uint8_t *bytes, size_t n)
{
	struct fab_builder *b = fab_builder_new();

	(void)is_refused(read(b, "input", (const char *)bytes, n, ERR));
	fab_builder_free(b);
	fuzz_source(bytes, n);
	return 0;
}
