/* SPDX-License-Identifier: BSD-2-Clause */
/* What every fuzz target defines, and how it tells refusals. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* Was the call, with ERR, refused? Then with a sentence; `_at`: that names the input. */
static inline bool is_refused(int rc)
{
	if (rc && !*fuzz_err.text)
		abort();
	return rc != 0;
}

static inline bool is_refused_at(int rc)
{
	if (rc && strncmp(fuzz_err.text, "input:", 6) != 0)
		abort();
	return rc != 0;
}
