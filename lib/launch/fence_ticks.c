/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/fence_ticks.h"

enum {
	SPAN_BITS = 50,	  /* ticks that a fence takes, about */
	FINEST_BITS = 60, /* a tick is 2^-60 us at least */
};

struct fence_ticks fence_ticks_for(struct fab_fence_line contended,
				   const struct fab_fence_job *job)
{
	struct fence_ticks t = {.per_us = 1};
	double us = fab_fence_line_us(contended, job->bytes);
	int bits = 0;

	frexp(us, &bits); /* us < 2^bits */
	bits = SPAN_BITS - bits;
	t.per_us = ldexp(1, us > 0 && bits < FINEST_BITS ? bits : FINEST_BITS);
	t.o = fence_ticks_of(&t, job->costs.o_us);
	t.L = fence_ticks_of(&t, job->costs.L_us);
	return t;
}
