/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/fence_ticks.h"

enum {
	SPAN_BITS = 50,	  /* ticks that a fence takes, about */
	FINEST_BITS = 60, /* a tick is 2^-60 us at least */
};

struct fence_ticks fence_ticks_for(const struct fab_fence_plan *plan,
				   const struct fab_fence_paths *paths,
				   const struct fab_fence_job *job)
{
	struct fence_ticks t = {.per_us = 1};
	struct fab_fence_load load;
	struct fab_fence_line line;
	double us;
	int bits = 0;

	fab_fence_load_init(&load, plan, paths);
	line = fab_fence_contended(&load, &job->costs);
	us = line.fixed_us + line.byte_us * (double)job->bytes;
	fab_fence_load_fini(&load);
	frexp(us, &bits); /* us < 2^bits */
	bits = SPAN_BITS - bits;
	t.per_us = ldexp(1, us > 0 && bits < FINEST_BITS ? bits : FINEST_BITS);
	t.o = fence_ticks_of(&t, job->costs.o_us);
	t.L = fence_ticks_of(&t, job->costs.L_us);
	return t;
}
