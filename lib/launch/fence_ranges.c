/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/fence_ranges.h"

#include <math.h>

double fab_fence_crossing(struct fab_fence_line a, struct fab_fence_line b)
{
	double bytes = (b.fixed_us - a.fixed_us) / (a.byte_us - b.byte_us);

	if (b.byte_us >= a.byte_us)
		return b.fixed_us < a.fixed_us && b.byte_us == a.byte_us ? 0 : INFINITY;
	return bytes > 0 ? bytes : 0;
}

/* The lowest at 0, of those the least steep. */
static size_t first_of(const struct fab_fence_line *lines, size_t n)
{
	size_t now = 0;

	for (size_t i = 1; i < n; i++)
		if (lines[i].fixed_us < lines[now].fixed_us ||
		    (lines[i].fixed_us <= lines[now].fixed_us &&
		     lines[i].byte_us < lines[now].byte_us))
			now = i;
	return now;
}

/* The first that the line of `now` crosses, of several at one size the least steep; line
 * n: none up to `most`. */
static struct fab_fence_range next_of(const struct fab_fence_line *lines, size_t n,
				      struct fab_fence_range now, double most)
{
	struct fab_fence_range then = {.line = n};

	for (size_t i = 0; i < n; i++) {
		double x = fab_fence_crossing(lines[now.line], lines[i]);

		if (lines[i].byte_us >= lines[now.line].byte_us || x > most)
			continue;
		if (then.line == n || x < then.from_bytes ||
		    (x <= then.from_bytes && lines[i].byte_us < lines[then.line].byte_us))
			then = (struct fab_fence_range){i, x};
	}
	then.from_bytes = fmax(then.from_bytes, now.from_bytes);
	return then;
}

size_t fab_fence_ranges(const struct fab_fence_line *lines, size_t n, double most,
			struct fab_fence_range *out)
{
	struct fab_fence_range now = {.line = n ? first_of(lines, n) : n};
	size_t n_ranges = 0;

	for (; now.line < n; now = next_of(lines, n, now, most))
		out[n_ranges++] = now;
	return n_ranges;
}
