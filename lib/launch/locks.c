/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/locks.h"

static struct fab_choice lock_at(size_t i)
{
	static const struct fab_choice rows[] = {
		[FAB_LOCK_RWLOCK] = {"rwlock", "a reader-writer lock of POSIX", NULL,
				     true},
		[FAB_LOCK_2N] =
			{"2n", "a signal lock and a read lock for each reader",
			 "A signal lock and a read lock for each reader; the writer takes all of the first kind, then all of the second, so that it does not starve (PMIx 2.1).",
			 true},
		[FAB_LOCK_MUTEX_FLAG] = {"mutex-flag",
					 "a mutex for each reader, a flag of the writer",
					 NULL, true},
		[FAB_LOCK_POINTER] = {"pointer", "a pointer to immutable data", NULL,
				      true},
	};

	return rows[i];
}

const struct fab_choices fab_locks = {.what = "lock", .n = FAB_N_LOCKS, .at = lock_at};

struct fab_lock_cost fab_lock_model(enum fab_lock lock, uint32_t ppn,
				    const struct fab_launch_params *p)
{
	double own = FAB_PARAM(p, lock_ns), line = FAB_PARAM(p, line_ns);
	double data = FAB_PARAM(p, read_ns), n = ppn, read_ns, write_ns;

	switch (lock) {
	case FAB_LOCK_RWLOCK:
		read_ns = data + own + 2 * line * (n - 1);
		write_ns = own + line;
		break;
	case FAB_LOCK_2N:
		read_ns = data + 2 * own;
		write_ns = 2 * n * (own + line);
		break;
	case FAB_LOCK_MUTEX_FLAG:
		read_ns = data + own;
		write_ns = line + n * (own + line);
		break;
	default:
		read_ns = data;
		write_ns = line;
	}
	return (struct fab_lock_cost){.lock = lock_at(lock).form,
				      .ppn = ppn,
				      .read_ns = read_ns,
				      .get_us = read_ns / 1e3,
				      .shifted_get_us =
					      read_ns / 1e3 + FAB_PARAM(p, shift_us),
				      .write_us = write_ns / 1e3};
}

const struct fab_lock_wait fab_lock_waits[FAB_N_LOCK_WAITS] = {
	{"rwlock, readers first", 8, 0.19},
	{"rwlock, readers first", 32, 0.441},
	{"rwlock, a writer first", 8, 9e-6},
	{"rwlock, a writer first", 32, 11e-3},
	{"2n", 8, 58e-3},
	{"2n", 32, 227e-3},
	{"mutex-flag", 8, 13e-6},
	{"mutex-flag", 32, 0.25e-3},
	{"pointer", 8, 1.3e-6},
	{"pointer", 32, 10e-6},
};
