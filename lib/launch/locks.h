/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A node's store in shared memory: the cost of a Get under different locks, by a model,
 * and recorded waits of a writer.
 *
 * Locks: a reader-writer lock of POSIX that prefers readers; N locks, one for each
 * reader, all of which the writer takes (the static algorithm of the survey); 2N locks, a
 * signal lock and a read lock for each reader, of which the writer takes all signal locks
 * and then all read locks (PMIx 2.1, dstore 2.1); a mutex for each reader and a flag that
 * the writer raises; a pointer that the writer publishes to immutable data.
 */
#pragma once

#include "base/choice.h"
#include "launch/params.h"

enum fab_lock {
	FAB_LOCK_RWLOCK,
	FAB_LOCK_N,
	FAB_LOCK_2N,
	FAB_LOCK_MUTEX_FLAG,
	FAB_LOCK_POINTER,
	FAB_N_LOCKS,
};
extern const struct fab_choices fab_locks;

/*
 * Model for `ppn` readers on cores of their own. A lock and unlock take lock_ns, the data
 * read_ns. Under the reader-writer lock all readers write one cache line, twice a read,
 * and it moves each time: 2 line_ns for each other reader. The others touch lines of
 * their own.
 *
 * The writer takes 1, N or 2N locks, each on a line that moves to it, while each reader
 * holds its lock for read_share of the time, exponentially long. Under the reader-writer
 * lock it waits until no reader holds it; of N locks for each reader that holds its own
 * when its turn comes; signal locks and a flag keep readers from reading again, so that
 * it waits once, for the last of the reads in progress, about log(1 + read_share N)
 * reads. All of it is extrapolation from constants, not a measurement.
 */
#define FAB_LOCK_STARVES_NS 1e18 /* more than 30 years: the writer starves */
struct fab_lock_cost {
	const char *lock;
	uint32_t ppn;
	double read_ns;	       /* a read, lock included */
	double get_us;	       /* a Get without a thread shift */
	double shifted_get_us; /* a Get that shifts threads first */
	double wait_us;	       /* until a writer has its locks; NaN: it starves */
};
/* O(ppn). */
struct fab_lock_cost fab_lock_model(enum fab_lock lock, uint32_t ppn,
				    const struct fab_launch_params *params);

/* Mean wait of a writer, one write each millisecond, recorded on two cores; NaN: it never
 * finished. */
struct fab_lock_wait {
	const char *lock;
	uint32_t readers;
	double wait_s;
};
enum { FAB_N_LOCK_WAITS = 8 };
extern const struct fab_lock_wait fab_lock_waits[FAB_N_LOCK_WAITS];
