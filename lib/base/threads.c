/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/threads.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/clock.h"

enum { LOOKS_A_TIME = 32 }; /* at the barrier, between two at the clock */

int fab_threads(int wanted)
{
#ifdef _OPENMP
	return wanted > 0 ? wanted : omp_get_max_threads();
#else
	(void)wanted;
	return 1;
#endif
}

bool fab_threads_pay(uint64_t steps)
{
	return steps >= 4000000; /* about ten milliseconds */
}

int fab_threads_for(int wanted, uint64_t steps)
{
	return fab_threads_pay(steps) ? fab_threads(wanted) : 1;
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

static void pause_thread(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* Turn round for a while until the turn is over. Is it? Where it was for nothing, others
 * have the processors: then less of it next time, and more again where it was not. */
static bool turn_round(struct fab_barrier *b, uint32_t turn)
{
	const uint32_t most = 4; /* doublings of the least */
	uint32_t patience = atomic_load_explicit(&b->patience, memory_order_relaxed);
	double begun = fab_now(), worth = 6e-6 * (1u << patience); /* seconds */

	for (unsigned i = 1; atomic_load(&b->turn) == turn; i++) {
		if (i % LOOKS_A_TIME == 0 && fab_now() - begun > worth) {
			if (patience)
				atomic_store_explicit(&b->patience, patience - 1,
						      memory_order_relaxed);
			return false;
		}
		pause_thread();
	}
	if (patience < most)
		atomic_store_explicit(&b->patience, patience + 1, memory_order_relaxed);
	return true;
}

void fab_barrier_wait(struct fab_barrier *b)
{
	uint32_t turn = atomic_load(&b->turn);

	if (atomic_fetch_add(&b->arrived, 1) + 1 == b->n) {
		atomic_store(&b->arrived, 0);
		atomic_store(&b->turn, turn + 1);
		if (atomic_load(&b->asleep))
			(void)syscall(SYS_futex, &b->turn, FUTEX_WAKE_PRIVATE, INT_MAX,
				      NULL, NULL, 0);
		return;
	}
	if (turn_round(b, turn))
		return;
	atomic_fetch_add(&b->asleep, 1);
	while (atomic_load(&b->turn) == turn)
		(void)syscall(SYS_futex, &b->turn, FUTEX_WAIT_PRIVATE, turn, NULL, NULL,
			      0);
	atomic_fetch_sub(&b->asleep, 1);
}
