/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/scarce.h"

#include <stdlib.h>

/* The linker sends calls of malloc() to __wrap_malloc(), and __real_malloc() to it. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

/* Of the sanitizer, where there is one. */
void __lsan_disable(void) __attribute__((weak));

void scarce_may_lose(void)
{
	if (__lsan_disable)
		__lsan_disable();
}

static _Thread_local int64_t left = -1;
static _Thread_local bool has_failed;

void scarce_after(int64_t n)
{
	left = n;
	has_failed = false;
}

bool scarce_failed(void)
{
	return has_failed;
}

static bool fails(void)
{
	if (left < 0)
		return false;
	has_failed |= left == 0;
	return left-- == 0;
}

void *__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t bytes)
{
	return fails() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, bytes);
}
