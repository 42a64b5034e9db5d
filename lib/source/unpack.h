/* SPDX-License-Identifier: BSD-2-Clause */
/* A whole input in memory, unpacked. */
#pragma once

#include <stdbool.h>

#include "base/lookup.h"

/*
 * The bytes of an input. They are followed by a NUL byte that is not counted, unless they
 * were given by the caller of fab_input_unpack() and needed no unpacking.
 */
struct fab_input {
	const char *bytes;
	size_t n;
	void *heap; /* what fab_input_fini() frees; NULL when the bytes are borrowed */
};

enum {
	FAB_INPUT_MAX_RATIO = 200,  /* unpacked bytes a packed byte ... */
	FAB_INPUT_SLACK = 16 << 20, /* ... beyond this many */
	FAB_INPUT_HEAD = 1 << 16,   /* bytes that identify an input */
};
/* No input and nothing unpacked is larger than this; lists that people write are not
 * larger than the second. */
#define FAB_INPUT_MAX_BYTES ((size_t)4 << 30)
#define FAB_INPUT_MAX_LIST ((size_t)1 << 30)

/*
 * Read a file ("-" is standard input) to its end and unpack it when it begins with the
 * magic number of gzip or zstd. Nothing is mapped: a file that another process cuts short
 * meanwhile must not kill the reader. What goes on after FAB_INPUT_HEAD bytes is read on
 * only when these are text, packed data or a cache of libibnetdisc: /dev/zero has no end.
 * Text that goes on after FAB_INPUT_SEEN bytes must have lines that end, the first with
 * content of two words (none has one word a line by the million), and no NUL byte.
 * Errors: those of open(2) and read(2), EFBIG beyond
 * FAB_INPUT_MAX_LIST, EINVAL packed bytes that are damaged or unpack to more than
 * FAB_INPUT_MAX_RATIO times their size. The caller finishes *in with fab_input_fini().
 */
int fab_input_read(const char *path, struct fab_input *in,
		   struct fab_err *err) FAB_MUST_CHECK;
/* fab_input_read() of tables that programs write, up to FAB_INPUT_MAX_BYTES. */
int fab_input_read_tables(const char *path, struct fab_input *in,
			  struct fab_err *err) FAB_MUST_CHECK;

/*
 * fab_input_read() of an input that begins with known content: when `is_known` does not
 * find it in the first FAB_INPUT_SEEN bytes of an input that is not packed, these are all
 * that is read.
 */
#define FAB_INPUT_SEEN ((size_t)16 << 20)
int fab_input_read_known(const char *path, bool (*is_known)(const char *bytes, size_t n),
			 struct fab_input *in, struct fab_err *err) FAB_MUST_CHECK;

/* fab_input_read() of bytes in memory; borrows them when they are not packed. */
int fab_input_unpack(const char *name, const void *bytes, size_t n, struct fab_input *in,
		     struct fab_err *err) FAB_MUST_CHECK;

void fab_input_fini(struct fab_input *in);

/* fab_list_lines() of a file (`-`: standard input). O(bytes). */
int fab_list_file_read(const char *path, fab_use_line *use, void *context,
		       struct fab_err *err) FAB_MUST_CHECK;
