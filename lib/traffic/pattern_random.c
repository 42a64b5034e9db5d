/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"

enum { GROUPS, LEAST, MOST }; /* numbers of a pattern */

/* K or K-L */
static int parse_size(struct fab_pattern *p, const char *text, size_t len,
		      struct fab_err *err)
{
	const char *dash = memchr(text, '-', len);
	size_t n = dash ? (size_t)(dash - text) : len;
	bool ok = fab_parse_u64(text, n, 1, UINT32_MAX, &p->number[LEAST]);

	p->number[MOST] = p->number[LEAST];
	if (ok && dash)
		ok = fab_parse_u64(dash + 1, len - n - 1, p->number[LEAST], UINT32_MAX,
				   &p->number[MOST]);
	return ok ? 0
		  : fab_pattern_bad(p, text, len, "is no size: expected K or K-L", err);
}

static int parse(struct fab_pattern *p, const char *key, size_t key_len,
		 const char *value, size_t len, struct fab_err *err)
{
	if (fab_pattern_is_word(key, key_len, "size"))
		return parse_size(p, value, len, err);
	return fab_pattern_number(p, "groups", key, key_len, value, len, 1, 100000000,
				  &p->number[GROUPS], err);
}

static int check(const struct fab_pattern *p, struct fab_err *err)
{
	if (!p->number[GROUPS] || !p->number[LEAST])
		return fab_fail(err, EINVAL,
				"--pattern %s: random needs groups=N and size=K",
				p->spec);
	return 0;
}

static uint64_t needs(const struct fab_pattern *p)
{
	return p->number[MOST];
}

/* K different processes a group, by the first K steps of a shuffle that goes on. */
static void make(const struct fab_pattern *p, const struct fab_seating *s)
{
	uint64_t n = s->n_processes;
	uint32_t *shuffled = FAB_NEW(n, uint32_t);
	struct fab_rng rng;

	fab_rng_init(&rng, p->seed);
	for (uint64_t i = 0; i < n; i++)
		shuffled[i] = (uint32_t)i;
	for (uint64_t g = 0; g < p->number[GROUPS]; g++) {
		uint64_t size =
			p->number[LEAST] +
			fab_rng_below(&rng, p->number[MOST] - p->number[LEAST] + 1);

		fab_seating_begin(s, "random", p->seed, g);
		for (uint64_t i = 0; i < size; i++) {
			uint64_t j = i + fab_rng_below(&rng, n - i);
			uint32_t swap = shuffled[i];

			shuffled[i] = shuffled[j];
			shuffled[j] = swap;
			fab_seating_add(s, shuffled[i]);
		}
	}
	free(shuffled);
}

const struct fab_pattern_kind fab_pattern_random = {
	.form = "random:groups=N,size=K",
	.summary = "different processes by chance; size=K-L: of a size by chance",
	.manual = "N groups of K different processes, or with `size=`K-L of a number "
		  "from K "
		  "to L. Without `seed=` the seed is that of `--seed`.",
	.takes = "random takes groups, size, seed, per, ppn, order",
	.parse = parse,
	.check = check,
	.needs = needs,
	.make = make,
};
