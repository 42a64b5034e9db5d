/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <math.h>

#include "launch/calibrate.h"
#include "launch/locks.h"

/* Readers never see half of a write, whatever the lock, and all get on. */
Test(launch_locks, no_read_is_torn)
{
	for (enum fab_lock lock = 0; lock < FAB_N_LOCKS; lock++)
		for (uint32_t readers = 1; readers <= 4; readers += 3) {
			struct fab_lock_loop loop = {lock, readers, 0.03, true};
			struct fab_lock_times times;

			cr_assert(zero(int, fab_lock_measure(&loop, &times, NULL)));
			cr_expect(gt(u64, times.reads, 0), "%s", fab_locks.at(lock).form);
			cr_expect(zero(u64, times.torn), "%s, %u readers",
				  fab_locks.at(lock).form, readers);
			cr_expect(gt(dbl, times.read_ns, 0));
		}
}

Test(launch_locks, numbers_of_readers)
{
	struct fab_lock_loop loop = {FAB_LOCK_2N, 0, 0.01, false};
	struct fab_lock_times times;

	cr_expect(eq(int, fab_lock_measure(&loop, &times, NULL), -EINVAL));
	loop.readers = FAB_LOCK_READERS_MAX + 1;
	cr_expect(eq(int, fab_lock_measure(&loop, &times, NULL), -EINVAL));
}

/* Only the reader-writer lock gets slower with readers; writers pay for 2N. */
Test(launch_locks, model)
{
	struct fab_launch_params p;

	fab_launch_params_init(&p);
	cr_expect(epsilon_eq(dbl, fab_lock_model(FAB_LOCK_RWLOCK, 168, &p).read_ns,
			     5 + 15 + 2 * 75 * 167, 1e-9));
	for (enum fab_lock lock = FAB_LOCK_2N; lock < FAB_N_LOCKS; lock++)
		cr_expect(epsilon_eq(dbl, fab_lock_model(lock, 168, &p).read_ns,
				     fab_lock_model(lock, 1, &p).read_ns, 1e-9));
	cr_expect(epsilon_eq(dbl, fab_lock_model(FAB_LOCK_2N, 168, &p).write_ns, 336 * 90,
			     1e-9));
	cr_expect(lt(dbl, fab_lock_model(FAB_LOCK_POINTER, 168, &p).write_ns,
		     fab_lock_model(FAB_LOCK_MUTEX_FLAG, 168, &p).write_ns));
}

Test(launch_locks, calibration)
{
	struct fab_calibration c;
	size_t n = 0;

	fab_launch_params_init(&c.params);
	cr_assert(zero(int, fab_calibrate(0.002, ".", &c, NULL)));
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++) {
		n += c.is_measured[i];
		if (!c.is_measured[i])
			continue;
		cr_expect(gt(dbl, c.params.of[i].value, 0));
		cr_expect(ge(dbl, c.params.of[i].spread, 0));
		cr_expect(c.params.of[i].origin == FAB_MEASURED);
	}
	cr_expect(gt(sz, n, 5));
	cr_expect(gt(u32, c.params.cores, 0));
	cr_expect(c.params.host[0] != '\0' && c.params.date[0] != '\0');
}
