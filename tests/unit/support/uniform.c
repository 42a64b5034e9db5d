/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/uniform.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Times to come are cut off there: nobody simulates so long. */
static const double TIME_MAX = 0x1p50;

/* The next birth is a whole number of slots later, or at any time. */
static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *out)
{
	struct fab_uniform *u = context;
	struct fab_uniform_end *end = &u->end[e];
	uint32_t to;

	(void)now;
	if (u->n_ends < 2)
		return false;
	if (u->slot)
		end->at += (1 + floor(log(1 - fab_stream_unit(&end->stream)) *
				      end->per_log)) *
			   (double)u->slot;
	else
		end->at += fab_stream_exponential(&end->stream, end->interval);
	end->at = fmin(end->at, TIME_MAX);
	to = (uint32_t)fab_stream_below(&end->stream, u->n_ends - 1);
	*out = (struct fab_message){
		.time = (uint64_t)end->at, .target = to + (to >= e), .bytes = u->bytes};
	return true;
}

void fab_uniform_init(struct fab_uniform *u, uint32_t n_ends, const uint64_t *wire,
		      double rate, uint32_t bytes, uint64_t slot, uint64_t seed,
		      struct fab_messages *out)
{
	*u = (struct fab_uniform){.n_ends = n_ends,
				  .bytes = bytes,
				  .slot = slot,
				  .end = FAB_NEW0(n_ends + 1, struct fab_uniform_end)};
	for (uint32_t i = 0; i < n_ends; i++) {
		struct fab_uniform_end *end = &u->end[i];
		double p;

		end->stream = fab_stream_of(seed, i);
		end->interval = (double)wire[i] / rate;
		p = fmin((double)slot / end->interval, 1);
		end->per_log = p < 1 ? 1 / log1p(-p) : 0;
		end->at = -(double)slot; /* slot 0 counts */
	}
	*out = (struct fab_messages){.context = u, .next = next};
}

void fab_uniform_fini(struct fab_uniform *u)
{
	free(u->end);
}
