/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "launch/locks.h"

/* Only the reader-writer lock gets slower with readers; writers pay for 2N. */
Test(launch_locks, model)
{
	struct fab_launch_params p;
	struct fab_lock_cost x;

	fab_launch_params_init(&p);
	x = fab_lock_model(FAB_LOCK_RWLOCK, 168, &p);
	cr_expect(epsilon_eq(dbl, x.read_ns, 5 + 15 + 2 * 75 * 167, 1e-9));
	cr_expect(epsilon_eq(dbl, x.shifted_get_us - x.get_us, 5, 1e-9));
	for (enum fab_lock lock = FAB_LOCK_2N; lock < FAB_N_LOCKS; lock++)
		cr_expect(epsilon_eq(dbl, fab_lock_model(lock, 168, &p).read_ns,
				     fab_lock_model(lock, 1, &p).read_ns, 1e-9));
	cr_expect(epsilon_eq(dbl, fab_lock_model(FAB_LOCK_2N, 168, &p).write_us,
			     336 * 0.09, 1e-9));
	cr_expect(lt(dbl, fab_lock_model(FAB_LOCK_POINTER, 168, &p).write_us,
		     fab_lock_model(FAB_LOCK_MUTEX_FLAG, 168, &p).write_us));
}
