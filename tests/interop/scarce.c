/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To be preloaded into OpenSM: memory that runs out for the plug-in alone. While the file
 * named by FAB_SCARCE exists, an allocation that libfabkit-opensm.so asks for fails; a
 * file of one byte is removed by the first one.
 */
#include "../tools/alloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fails(const void *caller)
{
	static __thread bool is_asking;
	const char *path = is_asking ? NULL : getenv("FAB_SCARCE");
	struct stat file;
	Dl_info from;
	bool is_ours;

	if (!path || stat(path, &file))
		return false;
	is_asking = true; /* dladdr() may allocate */
	is_ours = dladdr(caller, &from) && from.dli_fname &&
		  strstr(from.dli_fname, "libfabkit-opensm");
	is_asking = false;
	if (is_ours && file.st_size == 1)
		unlink(path);
	if (is_ours)
		errno = ENOMEM;
	return is_ours;
}
