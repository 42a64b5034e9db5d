/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/uniform.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Times to come are cut off there: nobody simulates so long. */
static const double TIME_MAX = 0x1p50;

/* The next birth: a whole number of slots later, or any time. */
static double next_birth(struct fab_uniform_end *end, uint64_t slot)
{
	double gap;

	if (!slot)
		return end->at + fab_stream_exponential(&end->stream, end->interval);
	gap = log(1 - fab_stream_unit(&end->stream)) * end->per_log;
	return end->at + (1 + floor(gap)) * (double)slot;
}

/* The next messages, the first of them last. */
static void draw(struct fab_uniform *u, uint32_t e)
{
	struct fab_uniform_end *end = &u->end[e];

	for (end->n_ahead = FAB_UNIFORM_AHEAD; end->n_ahead; end->n_ahead--) {
		uint32_t to;

		end->at = fmin(next_birth(end, u->slot), TIME_MAX);
		to = (uint32_t)fab_stream_below(&end->stream, u->n_ends - 1);
		end->time[end->n_ahead - 1] = (uint64_t)end->at;
		end->target[end->n_ahead - 1] = to + (to >= e);
	}
	end->n_ahead = FAB_UNIFORM_AHEAD;
}

static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *out)
{
	struct fab_uniform *u = context;
	struct fab_uniform_end *end = &u->end[e];

	(void)now;
	if (u->n_ends < 2)
		return false;
	if (!end->n_ahead)
		draw(u, e);
	end->n_ahead--;
	*out = (struct fab_message){.time = end->time[end->n_ahead],
				    .target = end->target[end->n_ahead],
				    .bytes = u->bytes};
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
	*u = (struct fab_uniform){0};
}
