/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To be preloaded: the FAB_FAIL_ALLOCth allocation of the program (from 1) fails. Their
 * number is written to the file FAB_ALLOCS at the end.
 */
#include "alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

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

static bool fails(const void *caller)
{
	(void)caller;
	if (atomic_fetch_add(&n_allocs, 1) + 1 != failing)
		return false;
	errno = ENOMEM;
	return true;
}
