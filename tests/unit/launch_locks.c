/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/locks.h"
#include "support/test.h"

/* Only the reader-writer lock gets slower with readers. Signal locks and flags shorten
 * the wait of a writer; without them it starves. */
Test(launch_locks, reads_and_waits)
{
	struct fab_lock_cost cost[FAB_N_LOCKS];
	struct fab_launch_params p;

	fab_launch_params_init(&p);
	for (enum fab_lock lock = 0; lock < FAB_N_LOCKS; lock++) {
		cost[lock] = fab_lock_model(lock, 168, &p);
		if (lock >= FAB_LOCK_N)
			cr_expect_float_eq(cost[lock].read_ns,
					   fab_lock_model(lock, 1, &p).read_ns, 1e-9);
	}
	cr_expect_float_eq(cost[FAB_LOCK_RWLOCK].read_ns, 340 + 15 + 2 * 75 * 167, 1e-9);
	cr_expect_float_eq(cost[FAB_LOCK_RWLOCK].shifted_get_us * 1e3 /
				   cost[FAB_LOCK_2N].read_ns,
			   82.2, 0.05);
	cr_expect(isnan(cost[FAB_LOCK_RWLOCK].wait_us));
	cr_expect_gt(cost[FAB_LOCK_N].wait_us, cost[FAB_LOCK_2N].wait_us);
	cr_expect_gt(cost[FAB_LOCK_2N].wait_us, cost[FAB_LOCK_MUTEX_FLAG].wait_us);
	cr_expect_gt(cost[FAB_LOCK_MUTEX_FLAG].wait_us, cost[FAB_LOCK_POINTER].wait_us);
	cr_expect(isnan(fab_lock_waits[1].wait_s) && fab_lock_waits[1].readers == 8);
}

/* Readers that hold and let go of a lock at random, from a random moment until none
 * holds it: the mean waits from k holders on, by what follows the next change, again and
 * again until they stay; each reader holds the lock at that moment or not. */
static double followed_ns(uint32_t n, double share, double hold_ns)
{
	double idle_ns = hold_ns * (1 - share) / share, sum = 0, wait[8] = {0}, most;

	do {
		most = 0;
		for (uint32_t k = 1; k <= n; k++) {
			double up = (n - k) / idle_ns, down = k / hold_ns;
			double next =
				(1 + up * wait[k + 1] + down * wait[k - 1]) / (up + down);

			most = fmax(most, fabs(next - wait[k]) / next);
			wait[k] = next;
		}
	} while (most > 1e-14);
	for (uint32_t set = 0; set < 1u << n; set++) {
		uint32_t k = (uint32_t)__builtin_popcount(set);

		sum += pow(share, k) * pow(1 - share, n - k) * wait[k];
	}
	return sum;
}

Test(launch_locks, a_writer_waits_until_no_reader_holds_the_lock)
{
	static const double shares[] = {0.1, 0.5, 0.8};
	struct fab_launch_params p;

	fab_launch_params_init(&p);
	for (size_t i = 0; i < FAB_COUNT(shares); i++)
		for (uint32_t n = 1; n <= 6; n++) {
			double ours, all = followed_ns(n, shares[i], 355);

			p.of[FAB_CONST_read_share].value = shares[i];
			ours = fab_lock_model(FAB_LOCK_RWLOCK, n, &p).wait_us * 1e3 - 90;
			cr_expect_lt(fabs(ours - all), 1e-9 * all, "%g %u: %g %g",
				     shares[i], n, ours, all);
		}
}
