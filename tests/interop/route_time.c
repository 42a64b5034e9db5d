/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To be preloaded into opensm: how long does it compute multicast trees?
 *
 * OpenSM's osm_mcast_mgr_process() takes the lock of the subnet, computes the trees of
 * all groups and then asks for buffers to send the tables with. From the lock to the
 * first buffer, or to the unlocking when nothing is sent, is computing; a line on
 * standard error for each time: "mcast_cpu_us MICROSECONDS BUFFERS", CPU time of the
 * thread. A line "ucast" when unicast tables are computed: the trees that follow are
 * those of all groups, others only those of groups that have changed.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#pragma GCC visibility push(default)
int pthread_rwlock_wrlock(pthread_rwlock_t *lock);
int pthread_rwlock_unlock(pthread_rwlock_t *lock);
void *osm_vendor_get(void *handle, uint32_t size, void *wrapper);
#pragma GCC visibility pop

/* What the thread is at. */
static __thread struct {
	pthread_rwlock_t *lock; /* NULL: not computing multicast trees */
	double start_us, end_us;
	unsigned n_buffers;
} pass;

static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static bool is_in(const void *caller, const char *function)
{
	Dl_info info;

	return dladdr(caller, &info) && info.dli_sname &&
	       !strcmp(info.dli_sname, function);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	int (*next)(pthread_rwlock_t *);
	int rc;

	*(void **)&next = dlsym(RTLD_NEXT, "pthread_rwlock_wrlock");
	rc = next(lock);
	if (is_in(__builtin_return_address(0), "osm_ucast_mgr_process"))
		fprintf(stderr, "ucast\n");
	if (!rc && is_in(__builtin_return_address(0), "osm_mcast_mgr_process")) {
		pass.lock = lock;
		pass.n_buffers = 0;
		pass.start_us = cpu_us();
	}
	return rc;
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	int (*next)(pthread_rwlock_t *);

	if (pass.lock && pass.lock == lock) {
		if (!pass.n_buffers)
			pass.end_us = cpu_us();
		fprintf(stderr, "mcast_cpu_us %.0f %u\n", pass.end_us - pass.start_us,
			pass.n_buffers);
		pass.lock = NULL;
	}
	*(void **)&next = dlsym(RTLD_NEXT, "pthread_rwlock_unlock");
	return next(lock);
}

void *osm_vendor_get(void *handle, uint32_t size, void *wrapper)
{
	void *(*next)(void *, uint32_t, void *);

	if (pass.lock && !pass.n_buffers++)
		pass.end_us = cpu_us();
	*(void **)&next = dlsym(RTLD_NEXT, "osm_vendor_get");
	return next(handle, size, wrapper);
}
