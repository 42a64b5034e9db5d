/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/pattern.h"

#include <errno.h>

enum { FANOUT }; /* number of a pattern */

static int parse(struct fab_pattern *p, const char *key, size_t key_len,
		 const char *value, size_t len, struct fab_err *err)
{
	return fab_pattern_number(p, "fanout", key, key_len, value, len, 2, UINT32_MAX,
				  &p->number[FANOUT], err);
}

static int check(const struct fab_pattern *p, struct fab_err *err)
{
	if (!p->number[FANOUT])
		return fab_fail(err, EINVAL, "--pattern %s: tree needs fanout=K",
				p->spec);
	return 0;
}

static uint64_t needs(const struct fab_pattern *p)
{
	(void)p;
	return 1;
}

/* Neighbours by fanout; the first of each join the next level. */
static void make(const struct fab_pattern *p, const struct fab_seating *s)
{
	uint64_t stride = 1, level = 0, count = s->n_processes;

	while (count > 1) {
		for (uint64_t g = 0; g * p->number[FANOUT] < count; g++) {
			uint64_t left = count - g * p->number[FANOUT];
			uint64_t size =
				left < p->number[FANOUT] ? left : p->number[FANOUT];

			if (size < 2)
				continue;
			fab_seating_begin(s, "level", level, g);
			for (uint64_t i = 0; i < size; i++)
				fab_seating_add(s, (g * p->number[FANOUT] + i) * stride);
		}
		count = (count + p->number[FANOUT] - 1) / p->number[FANOUT];
		stride *= p->number[FANOUT];
		level++;
	}
}

const struct fab_pattern_kind fab_pattern_tree = {
	.form = "tree:fanout=K",
	.summary = "K neighbours a group, their first ones again K a group, ...",
	.manual = "K processes that follow each other are a group; the first of each are "
		  "the "
		  "processes of the next level, and so on until one group is left.",
	.takes = "a tree takes fanout, per, ppn, order, seed",
	.parse = parse,
	.check = check,
	.needs = needs,
	.make = make,
};
