/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/locks.h"

#include <math.h>

static const struct fab_choice locks[] = {
	[FAB_LOCK_RWLOCK] =
		{"rwlock", "a reader-writer lock of POSIX",
		 "A reader-writer lock of POSIX that prefers readers, as that of glibc does by default. Every read moves one line twice, `line_ns` for each other reader. A writer waits until no reader holds it, for a time exponential in readers (`wait_us` null: over 30 years).",
		 true},
	[FAB_LOCK_N] =
		{"n", "a lock for each reader, all of them for the writer",
		 "The static algorithm: a lock for each reader. The writer takes them one by one and waits for each reader that holds its own then.",
		 true},
	[FAB_LOCK_2N] =
		{"2n", "a signal lock and a read lock for each reader",
		 "A signal lock and a read lock for each reader (PMIx 2.1). The writer takes all of the first kind, which keep readers from reading again, then all of the second: it waits once, for the last read in progress, and does not starve.",
		 true},
	[FAB_LOCK_MUTEX_FLAG] =
		{"mutex-flag", "a mutex for each reader, a flag of the writer",
		 "A mutex for each reader, as signal a flag of the writer.", true},
	[FAB_LOCK_POINTER] = {"pointer", "a pointer to immutable data", NULL, true},
};
FAB_CHOICES(fab_locks, "lock", locks);

/*
 * Mean time until none of `n` readers holds the lock: a random walk on the number of
 * readers, its passage times from k holders to k - 1, k + 1 to k .. weighted by the
 * binomial distribution of holders.
 */
static double until_idle_ns(uint32_t n, double share, double hold_ns)
{
	double idle_ns = hold_ns * (1 - share) / share, passage = 0, tail = 0, sum = 0;

	for (uint32_t k = n; k > 0; k--) {
		passage = hold_ns / k * (1 + (n - k) / idle_ns * passage);
		tail += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) +
			    k * log(share) + (n - k) * log1p(-share));
		if (tail > 0)
			sum += passage * tail;
	}
	return sum;
}

struct fab_lock_cost fab_lock_model(enum fab_lock lock, uint32_t ppn,
				    const struct fab_launch_params *p)
{
	double own = FAB_PARAM(p, lock_ns), line = FAB_PARAM(p, line_ns);
	double data = FAB_PARAM(p, read_ns), share = FAB_PARAM(p, read_share);
	double n = ppn, hold = data + own, all = n * (own + line);
	/* the last of the reads in progress, none of which is followed by another */
	double last = hold * log1p(share * n);
	double read_ns = data + own, wait_ns;

	switch (lock) {
	case FAB_LOCK_RWLOCK:
		read_ns += 2 * line * (n - 1);
		wait_ns = own + line + until_idle_ns(ppn, share, hold);
		break;
	case FAB_LOCK_N:
		wait_ns = all + n * share * hold;
		break;
	case FAB_LOCK_2N:
		read_ns += own;
		wait_ns = 2 * all + last;
		break;
	case FAB_LOCK_MUTEX_FLAG:
		wait_ns = line + all + last;
		break;
	default:
		read_ns = data;
		wait_ns = line;
	}
	return (struct fab_lock_cost){
		.lock = locks[lock].form,
		.ppn = ppn,
		.read_ns = read_ns,
		.get_us = read_ns / 1e3,
		.shifted_get_us = read_ns / 1e3 + FAB_PARAM(p, shift_us),
		.wait_us = wait_ns < FAB_LOCK_STARVES_NS ? wait_ns / 1e3 : (double)NAN};
}

const struct fab_lock_wait fab_lock_waits[FAB_N_LOCK_WAITS] = {
	{"rwlock, readers first", 4, 104e-3},
	{"rwlock, readers first", 8, (double)NAN},
	{"rwlock, a writer first", 8, 9e-6},
	{"rwlock, a writer first", 32, 11e-3},
	{"2n", 16, 56e-3},
	{"mutex-flag", 32, 23e-6},
	{"pointer", 8, 1.3e-6},
	{"pointer", 32, 10e-6},
};
