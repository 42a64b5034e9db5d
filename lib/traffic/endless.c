/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Endless traffic: each endpoint creates message after message, at times that the
 * arrivals give, for targets that the kind chooses. The numbers of an endpoint come from
 * its stream, in the order: time, target, size.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "event/stream.h"
#include "traffic/traffic.h"

/* Latest time of a message. */
static const double TIME_MAX = 0x1p47;

struct end {
	struct fab_stream stream;
	uint64_t number; /* of its messages so far */
	bool sends;
	/* open loop */
	double at;	 /* time of the last message */
	double interval; /* mean ticks between messages */
	double slot;
	double per_log; /* Bernoulli: 1 / log(1 - probability); 0: each slot */
	/* closed loop: messages that may be created, in a ring of how.window times */
	uint32_t n_ready, first_ready;
};

struct endless;
typedef uint32_t (*choose_fn)(const struct endless *l, uint32_t e, uint64_t number,
			      struct fab_stream *stream);

struct endless {
	struct fab_traffic_options how;
	uint32_t *size; /* [how.n_sizes] a copy */
	uint32_t n_ends;
	struct end *end; /* [n_ends] */
	uint64_t *ready; /* [n_ends * window] of a closed loop */
	choose_fn choose;
	bool to_group;
	uint32_t n_hot; /* hot ends, evenly spaced; number 0 is the first */
	double share;	/* of the messages, to hot ends */
	/* Targets of an end: to[first[e]] .. to[first[e + 1] - 1], in turn; first NULL:
	 * one each, FAB_NONE or itself: sends nothing. */
	uint32_t *to, *first;
};

static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *out)
{
	const struct endless *l = context;
	struct end *end = &l->end[e];
	double gap;

	(void)now;
	if (!end->sends || (l->ready && !end->n_ready))
		return false;
	*out = (struct fab_message){.bytes = l->size[0], .to_group = l->to_group};
	if (l->ready) {
		out->time = l->ready[(size_t)e * l->how.window + end->first_ready];
		end->first_ready = (end->first_ready + 1) % l->how.window;
		end->n_ready--;
	} else {
		/* any time, or a whole number of slots later */
		if (l->how.arrivals == FAB_ARRIVALS_POISSON)
			gap = fab_stream_exponential(&end->stream, end->interval);
		else
			gap = (1 + floor(log(1 - fab_stream_unit(&end->stream)) *
					 end->per_log)) *
			      end->slot;
		end->at = fmin(end->at + gap, TIME_MAX);
		out->time = (uint64_t)end->at;
	}
	out->target = l->choose(l, e, end->number++, &end->stream);
	if (l->how.n_sizes > 1)
		out->bytes = l->size[fab_stream_below(&end->stream, l->how.n_sizes)];
	return true;
}

/* A message of a closed loop has arrived, or is lost: the next one follows after `think`.
 */
static void completed(void *context, uint32_t e, const struct fab_delivery *d)
{
	const struct endless *l = context;
	struct end *end = &l->end[e];
	uint32_t at = (end->first_ready + end->n_ready++) % l->how.window;

	l->ready[(size_t)e * l->how.window + at] = d->time + l->how.think;
}

/* Interval and slot of an endpoint of an open loop. */
static void set_arrivals(const struct fab_traffic_problem *p, bool to_group, uint32_t e,
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

/* Make the traffic of a kind, whose members are in `kind`. */
static void make(const struct fab_traffic_problem *p, const struct endless *kind,
		 struct fab_traffic *out)
{
	bool is_closed = p->how.arrivals == FAB_ARRIVALS_CLOSED;
	struct endless *l = FAB_ARENA_NEW(&out->arena, 1, struct endless);
	uint32_t n = p->ends->n, least = p->how.mtu;

	*l = *kind;
	l->how = p->how;
	l->n_ends = n;
	l->size = FAB_ARENA_NEW(&out->arena, p->how.n_sizes, uint32_t);
	for (size_t i = 0; i < p->how.n_sizes; i++) {
		uint32_t payload = fab_last_payload(p->how.size[i], p->how.mtu);

		l->size[i] = p->how.size[i];
		least = payload < least ? payload : least;
	}
	l->end = FAB_ARENA_NEW0(&out->arena, (size_t)n + 1, struct end);
	if (is_closed)
		l->ready = FAB_ARENA_NEW0(&out->arena, (size_t)n * p->how.window + 1,
					  uint64_t);
	for (uint32_t e = 0; e < n; e++) {
		struct end *end = &l->end[e];

		end->stream = fab_stream_of(p->how.seed, e);
		end->sends = l->first ? l->first[e + 1] > l->first[e]
			     : l->to  ? l->to[e] != FAB_NONE && l->to[e] != e
				      : n > 1;
		end->n_ready = p->how.window;
		out->n_senders += end->sends;
		if (!is_closed)
			set_arrivals(p, l->to_group, e, end);
	}
	out->messages = (struct fab_messages){.context = l,
					      .least_payload = least,
					      .next = next,
					      .completed = is_closed ? completed : NULL};
}

/* Any end but this. */
static uint32_t choose_any(const struct endless *l, uint32_t e, uint64_t number,
			   struct fab_stream *stream)
{
	uint32_t to = (uint32_t)fab_stream_below(stream, l->n_ends - 1);

	(void)number;
	return to + (to >= e);
}

static int make_uniform(const struct fab_traffic_problem *p, const char *argument,
			struct fab_traffic *out, struct fab_err *err)
{
	(void)argument;
	(void)err;
	make(p, &(struct endless){.choose = choose_any}, out);
	return 0;
}

/* A hot end with probability `share`, unless it is this one; else any. */
static uint32_t choose_hot(const struct endless *l, uint32_t e, uint64_t number,
			   struct fab_stream *stream)
{
	if (fab_stream_unit(stream) < l->share) {
		uint64_t i = fab_stream_below(stream, l->n_hot);
		uint32_t to = (uint32_t)(i * l->n_ends / l->n_hot);

		if (to != e)
			return to;
	}
	return choose_any(l, e, number, stream);
}

/* N:SHARE */
static bool parse_hotspot(const char *argument, uint64_t *n, double *share)
{
	size_t len = strcspn(argument, ":");

	return argument[len] && fab_parse_u64(argument, len, 1, UINT32_MAX, n) &&
	       fab_parse_real(argument + len + 1, strlen(argument + len + 1), 0, 1,
			      share);
}

static int check_hotspot(const char *argument, struct fab_err *err)
{
	double share;
	uint64_t n;

	if (parse_hotspot(argument, &n, &share))
		return 0;
	return fab_fail(
		err, EINVAL,
		"expected hotspot:N:SHARE, a number of hosts and a share of the messages from 0 to 1");
}

static int make_hotspot(const struct fab_traffic_problem *p, const char *argument,
			struct fab_traffic *out, struct fab_err *err)
{
	struct endless kind = {.choose = choose_hot};
	uint64_t n = 0;

	(void)parse_hotspot(argument, &n, &kind.share);
	if (n > p->ends->n)
		return fab_fail(err, EINVAL,
				"traffic hotspot:%s: there are %u live hosts", argument,
				p->ends->n);
	kind.n_hot = (uint32_t)n;
	make(p, &kind, out);
	return 0;
}

static uint32_t choose_one(const struct endless *l, uint32_t e, uint64_t number,
			   struct fab_stream *stream)
{
	(void)number;
	(void)stream;
	return l->to[e];
}

static int check_incast(const char *argument, struct fab_err *err)
{
	uint64_t k;

	if (fab_parse_u64(argument, strlen(argument), 1, UINT32_MAX, &k))
		return 0;
	return fab_fail(err, EINVAL, "expected incast:K, a number of senders");
}

static int make_incast(const struct fab_traffic_problem *p, const char *argument,
		       struct fab_traffic *out, struct fab_err *err)
{
	struct endless kind = {.choose = choose_one};
	uint32_t n = p->ends->n;
	uint64_t k = 0;

	(void)fab_parse_u64(argument, strlen(argument), 1, UINT32_MAX, &k);
	if (k + 1 > n)
		return fab_fail(
			err, EINVAL,
			"traffic incast:%s: there are %u live hosts, one of them the target",
			argument, n);
	kind.to = fab_arena_none(&out->arena, (size_t)n + 1);
	for (uint64_t i = 0; i < k; i++)
		kind.to[1 + i * (n - 1) / k] = 0;
	make(p, &kind, out);
	return 0;
}

static int make_permutation(const struct fab_traffic_problem *p, const char *argument,
			    struct fab_traffic *out, struct fab_err *err)
{
	const struct fab_permutation_problem problem = {p->f, p->kfat, p->ends,
							p->how.seed};
	struct endless kind = {.choose = choose_one};
	int rc = fab_permutation_make(argument, &problem, &kind.to, err);

	if (rc)
		return rc;
	fab_arena_own(&out->arena, free, kind.to);
	make(p, &kind, out);
	return 0;
}

/* The groups that an end sends to, in turn. */
static uint32_t choose_group(const struct endless *l, uint32_t e, uint64_t number,
			     struct fab_stream *stream)
{
	uint32_t n = l->first[e + 1] - l->first[e];

	(void)stream;
	return l->to[l->first[e] + (uint32_t)(number % n)];
}

static int check_groups(const char *argument, struct fab_err *err)
{
	if (!strcmp(argument, "all"))
		return 0;
	return fab_fail(err, EINVAL, "expected groups, or groups:all");
}

/* The senders of a group of at least two live members: the first of them, or all. */
static int make_groups(const struct fab_traffic_problem *p, const char *argument,
		       struct fab_traffic *out, struct fab_err *err)
{
	struct endless kind = {.choose = choose_group, .to_group = true};
	uint32_t n = p->ends->n;

	(void)err;
	kind.first = FAB_ARENA_NEW0(&out->arena, (size_t)n + 2, uint32_t);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t g = 0; g < p->n_groups; g++) {
			uint32_t n_live = 0, n_senders;

			for (uint64_t m = p->group_first[g]; m < p->group_first[g + 1];
			     m++)
				n_live += p->group_end[m] != FAB_NONE;
			n_senders = n_live < 2 ? 0 : *argument ? n_live : 1;
			out->n_left_out += pass && !n_senders;
			for (uint64_t m = p->group_first[g]; n_senders; m++) {
				uint32_t e = p->group_end[m];

				if (e == FAB_NONE)
					continue;
				n_senders--;
				if (pass) /* first[e] runs ahead */
					kind.to[kind.first[e]++] = g;
				else
					kind.first[e + 1]++;
			}
		}
		if (pass)
			break;
		for (uint32_t e = 0; e < n; e++)
			kind.first[e + 1] += kind.first[e];
		kind.to = FAB_ARENA_NEW(&out->arena, (size_t)kind.first[n] + 1, uint32_t);
	}
	memmove(kind.first + 1, kind.first, n * sizeof(*kind.first));
	kind.first[0] = 0;
	make(p, &kind, out);
	return 0;
}

const struct fab_traffic_kind fab_traffic_uniform = {
	.form = "uniform",
	.summary = "each message to any other host",
	.manual = "Each message to any other host with equal probability.",
	.make = make_uniform,
};

const struct fab_traffic_kind fab_traffic_permutation = {
	.form = "permutation:SPEC",
	.summary = "each host to one other, as --permutation of fabric-faults",
	.manual =
		"By `--permutation` of `fabric-faults`(1) each host sends to one other, or nothing where that is none or itself.",
	.check = fab_permutation_check,
	.make = make_permutation,
};

const struct fab_traffic_kind fab_traffic_hotspot = {
	.form = "hotspot:N:SHARE",
	.summary = "a share of the messages to N hosts, the others to any",
	.manual =
		"N hosts, evenly apart in the order of the fabric, get the share of all messages; the others go to any host.",
	.check = check_hotspot,
	.make = make_hotspot,
};

const struct fab_traffic_kind fab_traffic_incast = {
	.form = "incast:K",
	.summary = "K hosts send to the first one",
	.manual = "K hosts, as evenly apart, send to the first host.",
	.check = check_incast,
	.make = make_incast,
};

const struct fab_traffic_kind fab_traffic_groups = {
	.form = "groups",
	.summary = "multicast: the first member of each group to the others",
	.manual =
		"Multicast: each group's first live member (`groups:all`: all) sends by its tree; a sender alternates between groups.",
	.needs_groups = true,
	.argument_is_optional = true,
	.check = check_groups,
	.make = make_groups,
};
