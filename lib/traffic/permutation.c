/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/permutation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"

static bool parse_shift(const char *argument, uint64_t *by)
{
	return fab_parse_u64(argument, strlen(argument), 0, UINT32_MAX, by);
}

static bool takes_shift(const char *argument)
{
	uint64_t by;

	return parse_shift(argument, &by);
}

static int shift(const struct fab_permutation_problem *p, const char *argument,
		 uint32_t *to, struct fab_err *err)
{
	uint64_t by = 0;

	(void)err;
	(void)parse_shift(argument, &by);
	for (uint32_t i = 0; i < p->ends->n; i++)
		to[i] = (uint32_t)((i + by) % p->ends->n);
	return 0;
}

static int reverse(const struct fab_permutation_problem *p, const char *argument,
		   uint32_t *to, struct fab_err *err)
{
	(void)argument;
	(void)err;
	for (uint32_t i = 0; i < p->ends->n; i++)
		to[i] = p->ends->n - 1 - i;
	return 0;
}

static bool is_identity(const uint32_t *to, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (to[i] != i)
			return false;
	return true;
}

/* Each permutation as likely (Fisher, Yates; Durstenfeld 1964), but for that in which
 * nobody sends. */
static int shuffle(const struct fab_permutation_problem *p, const char *argument,
		   uint32_t *to, struct fab_err *err)
{
	struct fab_rng rng;

	(void)argument;
	(void)err;
	fab_rng_init(&rng, p->seed);
	for (uint32_t i = 0; i < p->ends->n; i++)
		to[i] = i;
	do {
		for (uint32_t i = p->ends->n; i > 1; i--) {
			uint32_t j = (uint32_t)fab_rng_below(&rng, i), swap = to[i - 1];

			to[i - 1] = to[j];
			to[j] = swap;
		}
	} while (p->ends->n > 1 && is_identity(to, p->ends->n));
	return 0;
}

/* The host of leaf y.x that stands where this one stands among those of x.y. */
static int transpose(const struct fab_permutation_problem *p, const char *argument,
		     uint32_t *to, struct fab_err *err)
{
	const struct fab_flow_ends *ends = p->ends;
	const struct fab_kfat *k = p->kfat;
	struct fab_map64 *at;
	uint32_t rank = 0;

	(void)argument;
	if (!k || k->n_dims != 2 || k->dims[0] != k->dims[1])
		return fab_fail(err, EINVAL,
				"permutation transpose needs a kfat of two equal "
				"dimensions");
	at = fab_map64_new(ends->n);
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < ends->n; i++) {
			uint32_t leaf = k->leaf_of[ends->sw[i]];
			uint64_t x, y, key;

			rank = i && ends->sw[i] == ends->sw[i - 1] ? rank + 1 : 0;
			if (leaf == FAB_NONE)
				continue;
			x = k->coord[(size_t)leaf * 2 + (pass == 1)];
			y = k->coord[(size_t)leaf * 2 + (pass == 0)];
			key = (x * k->dims[0] + y) << 16 | (rank & 0xffff);
			if (pass)
				to[i] = fab_map64_get(at, key);
			else
				fab_map64_put(at, key, i);
		}
	fab_map64_free(at);
	return 0;
}

const struct fab_permutation fab_permutation_shift = {
	.form = "shift:K",
	.summary = "to the host K further on, around",
	.manual = "Each host sends to the host K further on; the last ones to the first.",
	.takes = takes_shift,
	.make = shift,
};

const struct fab_permutation fab_permutation_reverse = {
	.form = "reverse",
	.summary = "first to last",
	.manual = "The first host sends to the last, the second to the last but one.",
	.make = reverse,
};

const struct fab_permutation fab_permutation_random = {
	.form = "random",
	.summary = "by chance",
	.manual =
		"Each permutation as likely but that in which nobody sends, by `--seed`.",
	.make = shuffle,
};

const struct fab_permutation fab_permutation_transpose = {
	.form = "transpose",
	.summary = "kfat of two equal dimensions: leaf x.y to leaf y.x",
	.manual = "The hosts of leaf x.y of a square kfat send to those of leaf y.x.",
	.make = transpose,
};

#define ADDRESS(row) &fab_permutation_##row,
const struct fab_permutation *const fab_permutations[] = {FAB_PERMUTATIONS(ADDRESS)};

static struct fab_choice choice_at(size_t i)
{
	return (struct fab_choice){fab_permutations[i]->form,
				   fab_permutations[i]->summary,
				   fab_permutations[i]->manual, true};
}

const struct fab_choices fab_permutation_choices = {
	"permutation", FAB_COUNT(fab_permutations), choice_at};

/* The row of a spec and its argument ("" without one); NULL: there is none. */
static const struct fab_permutation *find(const char *spec, const char **argument)
{
	size_t len = fab_choice_name_len(spec);
	uint32_t i = fab_choices_find(&fab_permutation_choices, spec, len);
	const struct fab_permutation *p;

	if (i == FAB_NONE)
		return NULL;
	p = fab_permutations[i];
	*argument = spec[len] ? spec + len + 1 : "";
	if (p->takes ? !p->takes(*argument) : spec[len])
		return NULL;
	return p;
}

int fab_permutation_check(const char *spec, struct fab_err *err)
{
	const char *argument;
	char *forms;
	int rc;

	if (find(spec, &argument))
		return 0;
	forms = fab_choices_text(&fab_permutation_choices, "or");
	rc = fab_fail(err, EINVAL, "'%s' is unknown: expected %s", spec, forms);
	free(forms);
	return rc;
}

int fab_permutation_make(const char *spec, const struct fab_permutation_problem *problem,
			 uint32_t **out, struct fab_err *err)
{
	const char *argument = "";
	const struct fab_permutation *p = find(spec, &argument);
	uint32_t n = problem->ends->n, *to;
	int rc;

	if (!p)
		return fab_permutation_check(spec, err);
	to = FAB_NEW((size_t)n + 1, uint32_t);
	memset(to, 0xff, n * sizeof(*to));
	rc = p->make(problem, argument, to, err);
	if (rc)
		free(to);
	else
		*out = to;
	return rc;
}
