/* SPDX-License-Identifier: BSD-2-Clause */
/* Endless traffic between pairs: to anyone, to one other, to few. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "traffic/loop.h"
#include "traffic/permutation.h"

/* Ends, and those of them that are hot: evenly apart, the first is number 0. */
struct pairs {
	uint32_t n, n_hot;
	double share; /* of the messages, to hot ones */
	uint32_t *to; /* [n] FAB_NONE or itself: sends nothing */
};

static void free_pairs(void *context)
{
	struct pairs *pairs = context;

	free(pairs->to);
	free(pairs);
}

static struct pairs *new_pairs(const struct fab_traffic_problem *p)
{
	struct pairs *pairs = FAB_NEW(1, struct pairs);

	*pairs = (struct pairs){.n = p->ends->n};
	return pairs;
}

/* Any end but this. */
static uint32_t choose_any(const void *context, uint32_t e, uint64_t number,
			   struct fab_stream *stream)
{
	const struct pairs *pairs = context;
	uint32_t to = (uint32_t)fab_stream_below(stream, pairs->n - 1);

	(void)number;
	return to + (to >= e);
}

static bool has_others(const void *context, uint32_t e)
{
	const struct pairs *pairs = context;

	(void)e;
	return pairs->n > 1;
}

static int make_uniform(const struct fab_traffic_problem *p, const char *argument,
			struct fab_traffic *out, struct fab_err *err)
{
	const struct fab_aim aim = {
		.choose = choose_any, .sends = has_others, .context = new_pairs(p)};

	(void)argument;
	(void)err;
	fab_loop_make(p, &aim, out);
	return 0;
}

/* Number `i` of `n` evenly apart among the ends. */
static uint32_t spread(const struct pairs *pairs, uint32_t i, uint32_t n)
{
	return (uint32_t)((uint64_t)i * pairs->n / n);
}

/* A hot one with the probability `share`, unless it is this; else any. */
static uint32_t choose_hot(const void *context, uint32_t e, uint64_t number,
			   struct fab_stream *stream)
{
	const struct pairs *pairs = context;

	if (fab_stream_unit(stream) < pairs->share) {
		uint32_t i = (uint32_t)fab_stream_below(stream, pairs->n_hot);
		uint32_t to = spread(pairs, i, pairs->n_hot);

		if (to != e)
			return to;
	}
	return choose_any(context, e, number, stream);
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
	return fab_fail(err, EINVAL,
			"expected hotspot:N:SHARE, a number of hosts and a share of the "
			"messages from 0 to 1");
}

static int make_hotspot(const struct fab_traffic_problem *p, const char *argument,
			struct fab_traffic *out, struct fab_err *err)
{
	struct fab_aim aim = {.choose = choose_hot, .sends = has_others};
	struct pairs *pairs;
	double share;
	uint64_t n;

	if (!parse_hotspot(argument, &n, &share))
		return check_hotspot(argument, err);
	if (n > p->ends->n)
		return fab_fail(err, EINVAL,
				"traffic hotspot:%s: there are %u live hosts", argument,
				p->ends->n);
	aim.context = pairs = new_pairs(p);
	pairs->n_hot = (uint32_t)n;
	pairs->share = share;
	fab_loop_make(p, &aim, out);
	return 0;
}

static uint32_t choose_one(const void *context, uint32_t e, uint64_t number,
			   struct fab_stream *stream)
{
	const struct pairs *pairs = context;

	(void)number;
	(void)stream;
	return pairs->to[e];
}

static bool has_one(const void *context, uint32_t e)
{
	const struct pairs *pairs = context;

	return pairs->to[e] != FAB_NONE && pairs->to[e] != e;
}

/* Takes over to[]. */
static void make_fixed(const struct fab_traffic_problem *p, uint32_t *to,
		       struct fab_traffic *out)
{
	struct fab_aim aim = {.choose = choose_one, .sends = has_one, .free = free_pairs};
	struct pairs *pairs = new_pairs(p);

	pairs->to = to;
	aim.context = pairs;
	fab_loop_make(p, &aim, out);
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
	uint32_t n = p->ends->n, *to;
	uint64_t k;

	if (!fab_parse_u64(argument, strlen(argument), 1, UINT32_MAX, &k))
		return check_incast(argument, err);
	if (k + 1 > n)
		return fab_fail(err, EINVAL,
				"traffic incast:%s: there are %u live hosts, one of them "
				"the target",
				argument, n);
	to = FAB_NEW((size_t)n + 1, uint32_t);
	memset(to, 0xff, n * sizeof(*to));
	for (uint64_t i = 0; i < k; i++)
		to[1 + i * (n - 1) / k] = 0;
	make_fixed(p, to, out);
	return 0;
}

static int make_permutation(const struct fab_traffic_problem *p, const char *argument,
			    struct fab_traffic *out, struct fab_err *err)
{
	const struct fab_permutation_problem problem = {p->f, p->kfat, p->ends,
							p->how.seed};
	uint32_t *to;
	int rc = fab_permutation_make(argument, &problem, &to, err);

	if (!rc)
		make_fixed(p, to, out);
	return rc;
}

const struct fab_traffic_kind fab_traffic_uniform = {
	.form = "uniform",
	.summary = "each message to any other host",
	.manual = "Each message goes to any other host, each as likely.",
	.make = make_uniform,
};

const struct fab_traffic_kind fab_traffic_permutation = {
	.form = "permutation:SPEC",
	.summary = "each host to one other, as --permutation of fabric-faults",
	.manual = "Each host sends to one other, by a permutation below; what has nobody "
		  "to "
		  "send to, or itself, sends nothing.",
	.check = fab_permutation_check,
	.make = make_permutation,
};

const struct fab_traffic_kind fab_traffic_hotspot = {
	.form = "hotspot:N:SHARE",
	.summary = "a share of the messages to N hosts, the others to any",
	.manual =
		"N hosts, evenly apart in the order of the fabric, get the share of all "
		"messages; the others go to any host.",
	.check = check_hotspot,
	.make = make_hotspot,
};

const struct fab_traffic_kind fab_traffic_incast = {
	.form = "incast:K",
	.summary = "K hosts send to the first one",
	.manual = "K hosts, evenly apart in the order of the fabric, send to the first "
		  "host.",
	.check = check_incast,
	.make = make_incast,
};
