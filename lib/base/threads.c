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
