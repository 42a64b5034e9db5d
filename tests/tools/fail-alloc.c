/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To be preloaded: the FAB_FAIL_ALLOCth allocation of the program (from 1) fails. Their
 * number is written to the file FAB_ALLOCS at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#pragma GCC visibility push(default)

/* of glibc, for programs that replace malloc() and want its own */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static _Atomic long n_allocs;
static long failing;

/* Allocations are counted from main() on: what fails before it is the loader's. */
__attribute__((constructor)) static void begin(void)
{
	const char *n = getenv("FAB_FAIL_ALLOC");

	n_allocs = 0;
	failing = n ? atol(n) : 0;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAB_ALLOCS");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

	if (fd >= 0) {
		dprintf(fd, "%ld\n", n_allocs);
		close(fd);
	}
}

static bool fails(void)
{
	if (atomic_fetch_add(&n_allocs, 1) + 1 != failing)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t bytes)
{
	return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t bytes)
{
	return fails() ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return fails() ? NULL : __libc_memalign(alignment, bytes);
}
