/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/pattern.h"

#include <string.h>

#include "base/num.h"

/* AxBxC */
static int parse(struct fab_pattern *p, const char *key, size_t key_len, const char *text,
		 size_t len, struct fab_err *err)
{
	const char *end = text + len, *at = text;
	uint64_t product = 1;

	(void)key_len;
	if (key)
		return 1;
	for (p->n_numbers = 0; at <= end; p->n_numbers++) {
		const char *x = memchr(at, 'x', (size_t)(end - at));
		size_t n = (size_t)((x ? x : end) - at);

		if (p->n_numbers == FAB_PATTERN_NUMBERS ||
		    !fab_parse_u64(at, n, 1, UINT32_MAX, &p->number[p->n_numbers]) ||
		    __builtin_mul_overflow(product, p->number[p->n_numbers], &product) ||
		    product > UINT32_MAX)
			return fab_pattern_bad(
				p, text, len,
				"is no grid: expected sizes such as 160x100 or 8x8x8",
				err);
		at += n + 1;
	}
	return 0;
}

static uint64_t needs(const struct fab_pattern *p)
{
	uint64_t total = 1;

	for (unsigned k = 0; k < p->n_numbers; k++)
		total *= p->number[k];
	return total;
}

/* Lines along axis k: `stride` apart, `size` long, one for each start. */
static void make(const struct fab_pattern *p, const struct fab_seating *s)
{
	uint64_t total = needs(p);

	for (unsigned k = 0; k < p->n_numbers; k++) {
		uint64_t size = p->number[k], stride = 1;

		for (unsigned j = k + 1; j < p->n_numbers; j++)
			stride *= p->number[j];
		if (size < 2)
			continue;
		for (uint64_t line = 0; line < total / size; line++) {
			uint64_t start = line / stride * stride * size + line % stride;

			fab_seating_begin(s, "axis", k, line);
			for (uint64_t i = 0; i < size; i++)
				fab_seating_add(s, start + i * stride);
		}
	}
}

const struct fab_pattern_kind fab_pattern_grid = {
	.form = "grid:AxB",
	.summary = "every line of the grid along every axis, last axis fastest",
	.manual =
		"The processes form a grid AxB or AxBxC..., of up to 8 axes, the last "
		"one "
		"varying fastest. Every line of the grid along every axis is a group, so "
		"that a process is in as many groups as there are axes longer than 1.",
	.takes = "a grid takes per, ppn, order, seed",
	.parse = parse,
	.first_is_bare = true,
	.needs = needs,
	.make = make,
};
