/* SPDX-License-Identifier: BSD-2-Clause */
/* Number of threads, with and without OpenMP. */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

/*
 * `wanted`, or with 0 as many as OpenMP gives (OMP_NUM_THREADS, processors); at least 1,
 * and at most the number that could be started at once when this was first asked for it:
 * limits of processes (ulimit -u, pids of a cgroup) or of memory lead to fewer threads,
 * not to a failure. O(threads) the first time, then O(1).
 */
int fab_threads(int wanted);

/*
 * Threads for work of this many elementary steps (some nanoseconds each): 1
 * when starting threads would cost more than they save.
 */
int fab_threads_for(int wanted, uint64_t steps);

/*
 * Shut the team of threads down, so that idle workers do not spin, which OMP_WAIT_POLICY
 * or the library itself may make them do. No effect on one thread and within parallel
 * work. Starting a team takes some 50 us.
 */
void fab_threads_rest(int n_threads);

/*
 * A barrier of n threads, for work in short steps on machines with other load. Waiters
 * spin for about one wake-up latency (less after fruitless spins), then block. Zeroed but
 * for n.
 */
struct fab_barrier {
	uint32_t n;
	_Atomic uint32_t arrived, turn, asleep, failures;
};

/* Returns when all n threads have called it; their earlier writes are seen then. */
void fab_barrier_wait(struct fab_barrier *barrier);
