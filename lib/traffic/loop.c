/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/loop.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Times to come are cut off there: nobody simulates so long. */
static const double TIME_MAX = 0x1p47;

enum { AHEAD = 4 };

/* A message that was drawn. */
struct draw {
	uint64_t time;
	uint32_t target, bytes;
};

struct end {
	struct fab_stream stream;
	uint64_t number; /* of its messages so far */
	bool sends;
	/* open loop */
	double at;	 /* time of the last birth */
	double interval; /* ticks from birth to birth, on the mean */
	double slot;
	double per_log; /* Bernoulli: 1 / log(1 - probability); 0: each slot */
	/* Several are drawn at a time, which the processor does side by side. Those
	 * before n_ahead are left, the next one is the last. */
	uint32_t n_ahead;
	struct draw ahead[AHEAD];
	/* closed loop: births that are due, around; ready[0] is the first's place */
	uint32_t n_ready, first_ready;
};

struct loop {
	struct fab_aim aim;
	struct fab_traffic_options how;
	uint32_t *size; /* [how.n_sizes] a copy */
	struct end *end;
	uint64_t *ready; /* [n_ends * window] */
};

/* The next birth of an open loop: any time, or a whole number of slots later. */
static double next_birth(const struct loop *l, struct end *end)
{
	double gap;

	if (l->how.arrivals == FAB_ARRIVALS_POISSON)
		return end->at + fab_stream_exponential(&end->stream, end->interval);
	gap = log(1 - fab_stream_unit(&end->stream)) * end->per_log;
	return end->at + (1 + floor(gap)) * end->slot;
}

static bool next_of_closed(const struct loop *l, uint32_t e, uint64_t *time)
{
	struct end *end = &l->end[e];

	if (!end->n_ready)
		return false;
	*time = l->ready[(size_t)e * l->how.window + end->first_ready];
	end->first_ready = (end->first_ready + 1) % l->how.window;
	end->n_ready--;
	return true;
}

/* The next message, born at `time`. */
static struct draw draw_at(const struct loop *l, uint32_t e, uint64_t time)
{
	struct end *end = &l->end[e];
	struct draw draw = {.time = time, .bytes = l->size[0]};

	draw.target = l->aim.choose(l->aim.context, e, end->number++, &end->stream);
	if (l->how.n_sizes > 1)
		draw.bytes = l->size[fab_stream_below(&end->stream, l->how.n_sizes)];
	return draw;
}

/* Of an open loop the next ones. */
static void draw_ahead(const struct loop *l, uint32_t e)
{
	struct end *end = &l->end[e];

	for (uint32_t i = AHEAD; i--;) {
		end->at = fmin(next_birth(l, end), TIME_MAX);
		end->ahead[i] = draw_at(l, e, (uint64_t)end->at);
	}
	end->n_ahead = AHEAD;
}

static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *out)
{
	const struct loop *l = context;
	struct end *end = &l->end[e];
	struct draw draw;
	uint64_t time;

	(void)now;
	if (!end->sends)
		return false;
	if (l->ready) {
		if (!next_of_closed(l, e, &time))
			return false;
		draw = draw_at(l, e, time);
	} else {
		if (!end->n_ahead)
			draw_ahead(l, e);
		draw = end->ahead[--end->n_ahead];
	}
	*out = (struct fab_message){.time = draw.time,
				    .target = draw.target,
				    .bytes = draw.bytes,
				    .to_group = l->aim.to_group};
	return true;
}

static void prepare(const void *context, uint32_t e)
{
	const struct loop *l = context;
	const struct end *end = &l->end[e];

	__builtin_prefetch(end);
	__builtin_prefetch((const char *)(end + 1) - 1);
}

/* A message of a closed loop has arrived, or was given up: the next one thinks first. */
static void completed(void *context, uint32_t e, const struct fab_delivery *d)
{
	const struct loop *l = context;
	struct end *end = &l->end[e];
	uint32_t at = (end->first_ready + end->n_ready++) % l->how.window;

	l->ready[(size_t)e * l->how.window + at] = d->time + l->how.think;
}

static void free_loop(void *context)
{
	struct loop *l = context;

	if (l->aim.free)
		l->aim.free(l->aim.context);
	else
		free(l->aim.context);
	free(l->size);
	free(l->end);
	free(l->ready);
	free(l);
}

/* What an endpoint of an open loop draws its births with. */
static void set_births(const struct fab_traffic_problem *p, bool to_group, uint32_t e,
		       struct end *end)
{
	const struct fab_traffic_options *how = &p->how;
	uint32_t largest = 0;
	double wire = 0, probability;

	for (size_t i = 0; i < how->n_sizes; i++) {
		wire += (double)p->wire(p->wire_context, e, how->size[i], to_group);
		if (how->size[i] > largest)
			largest = how->size[i];
	}
	end->interval = wire / (double)how->n_sizes / how->rate;
	end->slot = (double)how->slot;
	if (!how->slot)
		end->slot = (double)p->wire(p->wire_context, e,
					    largest < how->mtu ? largest : how->mtu,
					    to_group);
	probability = end->slot / end->interval;
	end->per_log = probability < 1 ? 1 / log1p(-probability) : 0;
	if (how->arrivals == FAB_ARRIVALS_BERNOULLI)
		end->at = -end->slot; /* slot 0 counts */
}

/* Of the sizes the one with the least rest behind the last full packet. */
static uint32_t least_payload(const struct fab_traffic_options *how)
{
	uint32_t least = how->mtu;

	for (size_t i = 0; i < how->n_sizes; i++) {
		uint32_t payload = fab_last_payload(how->size[i], how->mtu);

		least = payload < least ? payload : least;
	}
	return least;
}

void fab_loop_make(const struct fab_traffic_problem *p, const struct fab_aim *aim,
		   struct fab_traffic *out)
{
	bool is_closed = p->how.arrivals == FAB_ARRIVALS_CLOSED;
	struct loop *l = FAB_NEW(1, struct loop);
	uint32_t n = p->ends->n;

	*l = (struct loop){.aim = *aim, .how = p->how};
	l->size = FAB_NEW(p->how.n_sizes, uint32_t);
	for (size_t i = 0; i < p->how.n_sizes; i++)
		l->size[i] = p->how.size[i];
	l->end = FAB_NEW0((size_t)n + 1, struct end);
	if (is_closed)
		l->ready = FAB_NEW0((size_t)n * p->how.window + 1, uint64_t);
	out->n_senders = 0;
	for (uint32_t e = 0; e < n; e++) {
		struct end *end = &l->end[e];

		end->stream = fab_stream_of(p->how.seed, e);
		end->sends = !aim->sends || aim->sends(aim->context, e);
		end->n_ready = p->how.window;
		out->n_senders += end->sends;
		if (!is_closed)
			set_births(p, aim->to_group, e, end);
	}
	out->messages = (struct fab_messages){.context = l,
					      .least_payload = least_payload(&p->how),
					      .next = next,
					      .prepare = prepare,
					      .completed = is_closed ? completed : NULL};
	out->free = free_loop;
}
