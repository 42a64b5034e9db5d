/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To be preloaded: after FAB_THREADS threads pthread_create() fails, as under ulimit -u
 * or with too few pids. Threads that have ended count, too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#pragma GCC visibility push(default)

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*run)(void *), void *context)
{
	static _Atomic int n;
	const char *most = getenv("FAB_THREADS");
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (most && atomic_fetch_add(&n, 1) >= atoi(most))
		return EAGAIN;
	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return real(thread, attributes, run, context);
}
