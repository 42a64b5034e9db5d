/* SPDX-License-Identifier: BSD-2-Clause */
/* A whole input in memory, unpacked. */
#pragma once

#include <stdbool.h>

#include "base/lookup.h"

/* Followed by a NUL byte that is not counted, unless fab_input_unpack() borrows them. */
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
 * Read a file ("-": standard input) and unpack gzip and zstd. Nothing is mapped: a file
 * that another process truncates must not kill the reader. Endless input is refused:
 * beyond FAB_INPUT_HEAD bytes all that is not text, packed or a cache of libibnetdisc,
 * beyond FAB_INPUT_SEEN bytes text with a NUL byte, with lines that do not end, or whose
 * first line has one word. Errors: those of open(2) and read(2); EFBIG beyond
 * FAB_INPUT_MAX_LIST; EINVAL: packed bytes that are damaged or unpack to more than
 * FAB_INPUT_MAX_RATIO times their size. The caller ends *in.
 */
int fab_input_read(const char *path, struct fab_input *in,
		   struct fab_err *err) FAB_MUST_CHECK;
/* fab_input_read() of tables that programs write, up to FAB_INPUT_MAX_BYTES. */
int fab_input_read_tables(const char *path, struct fab_input *in,
			  struct fab_err *err) FAB_MUST_CHECK;

/* fab_input_read() that ends after FAB_INPUT_SEEN bytes which are not packed and in which
 * `is_known` does not find its content. */
#define FAB_INPUT_SEEN ((size_t)16 << 20)
int fab_input_read_known(const char *path, bool (*is_known)(const char *bytes, size_t n),
			 struct fab_input *in, struct fab_err *err) FAB_MUST_CHECK;

/* fab_input_read() of bytes in memory; borrows them when they are not packed. */
int fab_input_unpack(const char *name, const void *bytes, size_t n, struct fab_input *in,
		     struct fab_err *err) FAB_MUST_CHECK;

void fab_input_fini(struct fab_input *in);

/* Is the path that of an input, "-" or something that is no directory? The name of an
 * input in messages: "standard input" or the path. Borrowed. */
bool fab_input_exists(const char *path);
const char *fab_input_name(const char *path);

/* fab_list_lines() of a file (`-`: standard input). O(bytes). */
int fab_list_file_read(const char *path, fab_use_line *use, void *context,
		       struct fab_err *err) FAB_MUST_CHECK;
