/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif

int fab_threads(int wanted)
{
#ifdef _OPENMP
	return wanted > 0 ? wanted : omp_get_max_threads();
#else
	(void)wanted;
	return 1;
#endif
}

int fab_threads_for(int wanted, uint64_t steps)
{
	const uint64_t worth_a_thread = 4000000; /* about ten milliseconds */

	return steps < worth_a_thread ? 1 : fab_threads(wanted);
}

void fab_threads_rest(int n_threads)
{
#if defined(_OPENMP) && _OPENMP >= 201811
	if (n_threads > 1 && !omp_in_parallel())
		(void)omp_pause_resource_all(omp_pause_soft);
#else
	(void)n_threads;
#endif
}
