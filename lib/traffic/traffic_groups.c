/* SPDX-License-Identifier: BSD-2-Clause */
/* Endless multicast: to groups along their trees. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "traffic/loop.h"

/* Groups that each end sends to, in compressed rows; it goes through them in turn. */
struct senders {
	uint32_t *first; /* [n_ends + 1] */
	uint32_t *group;
};

static uint32_t choose_group(const void *context, uint32_t e, uint64_t number,
			     struct fab_stream *stream)
{
	const struct senders *s = context;
	uint32_t n = s->first[e + 1] - s->first[e];

	(void)stream;
	return s->group[s->first[e] + (uint32_t)(number % n)];
}

static bool has_group(const void *context, uint32_t e)
{
	const struct senders *s = context;

	return s->first[e + 1] > s->first[e];
}

static void free_senders(void *context)
{
	struct senders *s = context;

	free(s->first);
	free(s->group);
	free(s);
}

/* Live members of a group, at most two. */
static unsigned count_two(const struct fab_traffic_problem *p, uint32_t group)
{
	unsigned n = 0;

	for (uint64_t m = p->group_first[group]; m < p->group_first[group + 1] && n < 2;
	     m++)
		n += p->group_end[m] != FAB_NONE;
	return n;
}

/* The members that send to a group: the first live one, or all; each to `take`. */
static void each_sender(const struct fab_traffic_problem *p, uint32_t group, bool all,
			void (*take)(struct senders *s, uint32_t end, uint32_t group),
			struct senders *s)
{
	if (count_two(p, group) < 2)
		return;
	for (uint64_t m = p->group_first[group]; m < p->group_first[group + 1]; m++) {
		if (p->group_end[m] == FAB_NONE)
			continue;
		take(s, p->group_end[m], group);
		if (!all)
			return;
	}
}

static void count_one(struct senders *s, uint32_t end, uint32_t group)
{
	(void)group;
	s->first[end + 1]++;
}

/* first[end] runs ahead while rows are filled. */
static void add_one(struct senders *s, uint32_t end, uint32_t group)
{
	s->group[s->first[end]++] = group;
}

static struct senders *find_senders(const struct fab_traffic_problem *p, bool all)
{
	struct senders *s = FAB_NEW(1, struct senders);
	uint32_t n = p->ends->n;

	s->first = FAB_NEW0((size_t)n + 2, uint32_t);
	for (uint32_t g = 0; g < p->n_groups; g++)
		each_sender(p, g, all, count_one, s);
	for (uint32_t e = 0; e < n; e++)
		s->first[e + 1] += s->first[e];
	s->group = FAB_NEW((size_t)s->first[n] + 1, uint32_t);
	for (uint32_t g = 0; g < p->n_groups; g++)
		each_sender(p, g, all, add_one, s);
	for (uint32_t e = n; e > 0; e--)
		s->first[e] = s->first[e - 1];
	s->first[0] = 0;
	return s;
}

static int check(const char *argument, struct fab_err *err)
{
	if (!strcmp(argument, "all"))
		return 0;
	return fab_fail(err, EINVAL, "expected groups, or groups:all");
}

static int make(const struct fab_traffic_problem *p, const char *argument,
		struct fab_traffic *out, struct fab_err *err)
{
	struct fab_aim aim = {.choose = choose_group,
			      .sends = has_group,
			      .to_group = true,
			      .free = free_senders};

	(void)err;
	aim.context = find_senders(p, *argument);
	fab_loop_make(p, &aim, out);
	for (uint32_t g = 0; g < p->n_groups; g++)
		out->n_left_out += count_two(p, g) < 2;
	return 0;
}

const struct fab_traffic_kind fab_traffic_groups = {
	.form = "groups",
	.summary = "multicast: the first member of each group to the others",
	.manual = "Multicast: the first live member of each group sends to the group "
		  "along "
		  "its tree; with `groups:all` every member does. Who sends to several "
		  "groups "
		  "takes them in turn.",
	.needs_groups = true,
	.argument_is_optional = true,
	.check = check,
	.make = make,
};
