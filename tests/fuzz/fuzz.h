/* SPDX-License-Identifier: BSD-2-Clause */
/* What every fuzz target defines, and how it tells refusals. */
#pragma once

#include "base/err.h"
#include "base/mem.h"

/* Try one input. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* For the argument `struct fab_err *` of a call: what it said, emptied. */
static struct fab_err fuzz_err;
#define ERR fuzz_err_empty()
static inline struct fab_err *fuzz_err_empty(void)
{
	fuzz_err.text[0] = '\0';
	return &fuzz_err;
}

/* What is being tried, for reports. */
static const char *fuzz_who = "";

static inline void fuzz_broken(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s: %s (%s)\n", file, line, fuzz_who, what,
		fuzz_err.text);
	abort();
}

/* What must, and what must never hold; else where it was that it did not, and the end. */
#define MUST(holds) ((holds) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #holds))
#define NEVER(holds) (!(holds) ? (void)0 : fuzz_broken(__FILE__, __LINE__, "not " #holds))
/* The call, with ERR, gives 0. */
#define OK(call) MUST(!(call))

/* Was the call, with ERR, refused? Then with a sentence; `_at`: that names the input. */
static inline bool is_refused(int rc)
{
	NEVER(rc && !*fuzz_err.text);
	return rc != 0;
}

static inline bool is_refused_at(int rc)
{
	NEVER(rc && strncmp(fuzz_err.text, "input:", 6) != 0);
	return rc != 0;
}

/* Bytes of an input that are read one by one; 0 where there are none left. */
struct fuzz_input {
	const uint8_t *bytes;
	size_t n;
};

static inline uint8_t fuzz_next(struct fuzz_input *in)
{
	if (!in->n)
		return 0;
	in->n--;
	return *in->bytes++;
}

/* A file in memory that a call writes:
 * OK(fuzz_close(&file, fab_export_dot(fuzz_open(&file), ...))). */
struct fuzz_file {
	char *text;
	size_t n;
	FILE *out;
};

static inline FILE *fuzz_open(struct fuzz_file *file)
{
	return file->out = open_memstream(&file->text, &file->n);
}

static inline int fuzz_close(struct fuzz_file *file, int rc)
{
	fclose(file->out);
	return rc;
}

static inline void fuzz_file_fini(struct fuzz_file *file)
{
	free(file->text);
}
