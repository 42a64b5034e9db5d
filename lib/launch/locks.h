/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A node's store in shared memory: what a Get costs under different locks, by a model,
 * and by loops of readers and a writer on this machine.
 *
 * Locks: a reader-writer lock of POSIX; 2N locks, a signal lock and a read lock for each
 * reader, of which the writer takes all signal locks and then all read locks (PMIx 2.1,
 * dstore 2.1); a mutex for each reader and a flag that the writer raises; a pointer that
 * the writer publishes to data that nobody changes.
 */
#pragma once

#include "base/choice.h"
#include "launch/params.h"

enum fab_lock {
	FAB_LOCK_RWLOCK,
	FAB_LOCK_2N,
	FAB_LOCK_MUTEX_FLAG,
	FAB_LOCK_POINTER,
	FAB_N_LOCKS,
};
enum { FAB_LOCK_READERS_MAX = 1024 };
extern const struct fab_choices fab_locks;

/*
 * Model for `readers` on cores of their own. A lock and unlock take lock_ns, the data
 * read_ns. Under the reader-writer lock all readers write one cache line, twice a read,
 * and it moves each time: 2 line_ns for each other reader. The others touch lines of
 * their own. A writer takes so many locks, each on a line that moves to it. All of it is
 * extrapolation from constants, not a measurement. O(1).
 */
struct fab_lock_model {
	double read_ns;	 /* a read, lock included */
	double write_ns; /* until a writer has what it needs, readers apart */
};
struct fab_lock_model fab_lock_model(enum fab_lock lock, uint32_t readers,
				     const struct fab_launch_params *params);

/* Loops of so many threads over memory that is shared between processes. */
struct fab_lock_loop {
	enum fab_lock lock;
	uint32_t readers; /* 1 .. FAB_LOCK_READERS_MAX */
	double seconds;
	bool has_writer; /* one more, that writes each millisecond */
};
struct fab_lock_times {
	double read_ns; /* processor time of readers by their reads */
	uint64_t reads, writes;
	uint64_t torn;	   /* reads that saw half of a write: none */
	double wait_us;	   /* of a write until it may, the mean; NaN: none came to it */
	double longest_us; /* the longest, also of one that did not come to it */
};
/* EINVAL: no readers or too many; EAGAIN: no thread for them. Takes `seconds`. */
int fab_lock_measure(const struct fab_lock_loop *loop, struct fab_lock_times *out,
		     struct fab_err *err) FAB_MUST_CHECK;
