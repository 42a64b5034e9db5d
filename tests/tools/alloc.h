/* SPDX-License-Identifier: BSD-2-Clause */
/* The allocations of a program that preloads this: those that fails() says fail. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>

/* Should the allocation fail that this caller asks for? Sets errno. */
static bool fails(const void *caller);

#pragma GCC visibility push(default)

/* of glibc, for programs that replace malloc() and want its own */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t bytes)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return fails(__builtin_return_address(0)) ? NULL
						  : __libc_memalign(alignment, bytes);
}

#pragma GCC visibility pop
