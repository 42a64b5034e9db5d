/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/threads.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/mem.h"
#include "base/progress.h"

enum { LOOKS_A_TIME = 32 }; /* at the barrier, between two at the clock */

#ifdef _OPENMP
static void *wait_for_end(void *end)
{
	pthread_mutex_lock(end);
	pthread_mutex_unlock(end);
	return NULL;
}

#endif

int fab_threads(int wanted)
{
#ifdef _OPENMP
	static _Atomic int tried = 1, most = 1; /* most of `tried` could be started */
	int n = wanted > 0 ? wanted : omp_get_max_threads();

	if (n > atomic_load(&tried) && !omp_in_parallel()) {
		pthread_t *thread = FAB_NEW(n, pthread_t);
		pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
		int started = 1;

		/* How many of n threads can run at once, this one among them. OpenMP
		 * itself ends the process when it cannot start one. */
		pthread_mutex_lock(&end);
		while (started < n &&
		       pthread_create(&thread[started], NULL, wait_for_end, &end) == 0)
			started++;
		pthread_mutex_unlock(&end);
		for (int i = 1; i < started; i++)
			pthread_join(thread[i], NULL);
		free(thread);
		atomic_store(&most, started);
		atomic_store(&tried, n);
	}
	return n > atomic_load(&most) ? atomic_load(&most) : n;
#else
	(void)wanted;
	return 1;
#endif
}

int fab_threads_for(int wanted, uint64_t steps)
{
	/* about ten milliseconds */
	return steps >= 4000000 ? fab_threads(wanted) : 1;
}

void fab_threads_rest(int n_threads)
{
#if defined(_OPENMP) && _OPENMP >= 201811
	if (n_threads > 1 && !omp_in_parallel())
		(void)omp_pause_resource_all(omp_pause_soft);
#else
	(void)n_threads;
#endif
}

/* Spin until the turn ends, for one wake-up latency at most; false: it goes on.
 * Fruitless spins mean that others have the processors: the next ones are shorter. */
static bool spin(struct fab_barrier *b, uint32_t turn)
{
	const uint32_t most = 4; /* halvings */
	uint32_t failures = atomic_load_explicit(&b->failures, memory_order_relaxed);
	double begun = fab_now(), limit = 100e-6 / (1u << failures); /* seconds */

	for (unsigned i = 1; atomic_load(&b->turn) == turn; i++) {
		if (i % LOOKS_A_TIME == 0 && fab_now() - begun > limit) {
			if (failures < most)
				atomic_store_explicit(&b->failures, failures + 1,
						      memory_order_relaxed);
			return false;
		}
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#endif
	}
	if (failures)
		atomic_store_explicit(&b->failures, failures - 1, memory_order_relaxed);
	return true;
}

void fab_barrier_wait(struct fab_barrier *b)
{
	uint32_t turn = atomic_load(&b->turn);

	if (atomic_fetch_add(&b->arrived, 1) + 1 == b->n) {
		atomic_store(&b->arrived, 0);
		atomic_fetch_add(&b->turn, 1);
		if (atomic_load(&b->asleep))
			(void)syscall(SYS_futex, &b->turn, FUTEX_WAKE_PRIVATE, INT_MAX,
				      NULL, NULL, 0);
	} else if (!spin(b, turn)) {
		atomic_fetch_add(&b->asleep, 1);
		while (atomic_load(&b->turn) == turn)
			(void)syscall(SYS_futex, &b->turn, FUTEX_WAIT_PRIVATE, turn, NULL,
				      NULL, 0);
		atomic_fetch_sub(&b->asleep, 1);
	}
}
