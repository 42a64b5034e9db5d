/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To be preloaded into OpenSM: memory that runs out for the plug-in alone. While the file
 * named by FAB_SCARCE exists, an allocation that libfabkit-opensm.so asks for fails; a
 * file of one byte is removed by the first one.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static int fails(const void *caller)
{
	static __thread int is_asking;
	const char *path = is_asking ? NULL : getenv("FAB_SCARCE");
	struct stat file;
	Dl_info from;
	int is_ours;

	if (!path || stat(path, &file))
		return 0;
	is_asking = 1; /* dladdr() may allocate */
	is_ours = dladdr(caller, &from) && from.dli_fname &&
		  strstr(from.dli_fname, "libfabkit-opensm");
	is_asking = 0;
	if (is_ours && file.st_size == 1)
		unlink(path);
	if (is_ours)
		errno = ENOMEM;
	return is_ours;
}

#pragma GCC visibility push(default)

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
