/* SPDX-License-Identifier: BSD-2-Clause */
/* For all targets whose input is a fabric in some format. */
#pragma once

#include "export/fabrics.h"
#include "fuzz.h"
#include "source/reader.h"
#include "source/source.h"

/* What is written of a fabric; NULL: refused. */
static inline char *fuzz_export(int (*write)(FILE *out, const struct fab_fabric *f,
					     struct fab_err *err),
				const struct fab_fabric *f, size_t *n)
{
	struct fuzz_file file = {0};
	bool refused = is_refused(fuzz_close(&file, write(fuzz_open(&file), f, ERR)));

	*n = file.n;
	if (!refused)
		return file.text;
	free(file.text);
	return NULL;
}

/* As a dump; NULL: refused, as nodes that share a GUID cannot be told apart in one. */
static inline char *fuzz_dump(const struct fab_fabric *f, size_t *n)
{
	char *text = fuzz_export(fab_export_ibnetdiscover, f, n);

	MUST(text || strstr(fuzz_err.text, "to have its own"));
	return text;
}

/* What is read can be written, read back as the same fabric, and written alike. */
static inline void fuzz_source(const uint8_t *bytes, size_t n)
{
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = NULL, *g = NULL;
	FAB_AUTOFREE char *first = NULL, *second = NULL;
	size_t n_first, n_second;

	if (is_refused(fab_source_parse("input", bytes, n, NULL, &f, ERR)))
		return;
	first = fuzz_dump(f, &n_first);
	if (!first)
		return;
	OK(fab_source_parse("dump", first, n_first, NULL, &g, ERR));
	MUST(fab_fabric_fingerprint(f) == fab_fabric_fingerprint(g));
	second = fuzz_dump(g, &n_second);
	MUST(second && n_first == n_second && !memcmp(first, second, n_first));
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
