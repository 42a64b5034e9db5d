/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/locks.h"

static struct fab_choice lock_at(size_t i)
{
	static const struct fab_choice rows[] = {
		[FAB_LOCK_RWLOCK] = {"rwlock", "a reader-writer lock of POSIX", NULL,
				     true},
		[FAB_LOCK_2N] =
			{"2n", "a signal lock and a read lock for each reader",
			 "A signal lock and a read lock for each reader; the writer "
			 "takes all of the first kind, then all of the second, so "
			 "that it does not starve (PMIx 2.1).",
			 true},
		[FAB_LOCK_MUTEX_FLAG] = {"mutex-flag",
					 "a mutex for each reader, a flag of the writer",
					 NULL, true},
		[FAB_LOCK_POINTER] = {"pointer", "a pointer to data that nobody changes",
				      NULL, true},
	};

	return rows[i];
}

const struct fab_choices fab_locks = {.what = "lock", .n = FAB_N_LOCKS, .at = lock_at};

struct fab_lock_model fab_lock_model(enum fab_lock lock, uint32_t readers,
				     const struct fab_launch_params *p)
{
	double own = FAB_PARAM(p, lock_ns), line = FAB_PARAM(p, line_ns);
	double data = FAB_PARAM(p, read_ns), n = readers;

	switch (lock) {
	case FAB_LOCK_RWLOCK:
		return (struct fab_lock_model){data + own + 2 * line * (n - 1),
					       own + line};
	case FAB_LOCK_2N:
		return (struct fab_lock_model){data + 2 * own, 2 * n * (own + line)};
	case FAB_LOCK_MUTEX_FLAG:
		return (struct fab_lock_model){data + own, line + n * (own + line)};
	default:
		return (struct fab_lock_model){data, line};
	}
}
