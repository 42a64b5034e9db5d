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
 * The same for a piece of work of so many elementary steps (some nanoseconds each): 1
 * when starting threads would cost more than they save.
 */
int fab_threads_for(int wanted, uint64_t steps);
/* Are threads worth it for so many steps, where there are any? The same on all machines.
 */
bool fab_threads_pay(uint64_t steps);

/*
 * After a piece of work on so many threads: let them end, lest they wait for the next one
 * by turning round and round, which is what OMP_WAIT_POLICY or the library itself may
 * have them do. Without effect on one thread and within other parallel work. Starting
 * them anew takes some 50 us.
 */
void fab_threads_rest(int n_threads);

/*
 * A number that is counted up and that others wait for, again and again: for work in
 * short steps, on machines where others want the processors, too. Who waits turns round
 * for as long as it takes to be woken, less where that was for nothing before, then
 * sleeps. Zeroed: 0, and nobody waits.
 */
struct fab_signal {
	_Atomic uint32_t count, asleep, failures;
};

/* Until it is not `seen`, which it was at some time. */
void fab_signal_wait(struct fab_signal *signal, uint32_t seen);
/* One more; those who wait go on, and see what was written before. */
void fab_signal_give(struct fab_signal *signal);

/* Where n threads wait for each other in this way. Zeroed but for n: nobody has come. */
struct fab_barrier {
	uint32_t n;
	_Atomic uint32_t arrived;
	struct fab_signal turn;
};

/* Until all n threads have called it. What they wrote before is seen after. */
void fab_barrier_wait(struct fab_barrier *barrier);
