/* SPDX-License-Identifier: BSD-2-Clause */
/* Number of threads, with and without OpenMP. */
#pragma once

#include "base/macros.h"

/* `wanted`, or with 0 as many as OpenMP gives (OMP_NUM_THREADS, processors); at least 1.
 */
int fab_threads(int wanted);

/*
 * The same for a piece of work of so many elementary steps (some nanoseconds each): 1
 * when starting threads would cost more than they save.
 */
int fab_threads_for(int wanted, uint64_t steps);
