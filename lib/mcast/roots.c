/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/roots.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/progress.h"
#include "base/threads.h"
#include "mcast/balls.h"

#include <stdlib.h>
#include <string.h>

/*
 * Columns are treated in blocks, so that the running maximum of a block stays in the
 * first level cache; every BOUND_ROWS rows a block is dropped when its least maximum
 * already exceeds the best radius of an earlier block.
 */
enum { BLOCK = 1024, BOUND_ROWS = 8 };

/* Rows on demand are made when each would be asked for more often than this: they take
 * memory, and are quicker to read than to find from coordinates. */
enum { ROW_USES = 8 };

/* Groups whose radius is looked at before balls are made. */
enum { SAMPLE = 32 };

FAB_WIDE static void max_rows(uint8_t *restrict acc, const uint8_t *restrict row,
			      size_t n)
{
	for (size_t i = 0; i < n; i++)
		acc[i] = row[i] > acc[i] ? row[i] : acc[i];
}

FAB_WIDE static uint8_t least(const uint8_t *acc, size_t n)
{
	uint8_t min = UINT8_MAX;

	for (size_t i = 0; i < n; i++)
		min = acc[i] < min ? acc[i] : min;
	return min;
}

/* A step near the golden section of n that visits all of 0 .. n-1. */
static uint32_t coprime_stride(uint32_t n)
{
	uint32_t stride = (uint32_t)(n * 0.618);

	while (stride > 1 && fab_gcd(stride, n) != 1)
		stride--;
	return stride ? stride : 1;
}

/*
 * Largest distance from every switch of a block to the given switches; returns the least
 * of them, or any value above `best` once it is sure to exceed it. Rows are taken in
 * strides, since members that follow each other mostly are neighbours and tell nothing
 * new.
 */
static uint8_t block_radius(const struct fab_dist *dist, const uint32_t *sw, uint32_t n,
			    size_t from, size_t len, uint8_t best, uint8_t *acc)
{
	uint32_t stride = coprime_stride(n), at = 0;
	uint8_t min = 0, room[BLOCK];

	memset(acc, 0, len);
	for (uint32_t i = 0; i < n; i++) {
		max_rows(acc, fab_dist_part(dist, sw[at], from, len, room), len);
		if (i % BOUND_ROWS == BOUND_ROWS - 1 || i == n - 1) {
			min = least(acc, len);
			if (min > best)
				return min;
		}
		at += stride;
		at -= at >= n ? n : 0;
	}
	return min;
}

/* Never as much as what is no distance. */
static uint8_t plus(uint8_t hops, unsigned more)
{
	return hops + more < FAB_HOPS_UNREACHABLE - 1u
		       ? (uint8_t)(hops + more)
		       : (uint8_t)(hops < FAB_HOPS_UNREACHABLE - 1
					   ? FAB_HOPS_UNREACHABLE - 1
					   : hops);
}

/* Candidates of one list of switches, and those up to `slack` hops worse. `acc` is
 * [stride], `block_min` one a block. */
static uint8_t find_set(const struct fab_dist *dist, const uint32_t *sw, uint32_t n,
			unsigned slack, uint8_t *acc, uint8_t *block_min, uint64_t *bits)
{
	size_t stride = fab_dist_stride(dist);
	uint8_t best = UINT8_MAX, most;

	for (size_t from = 0; from < stride; from += BLOCK) {
		size_t len = stride - from < BLOCK ? stride - from : BLOCK;
		uint8_t min = block_radius(dist, sw, n, from, len, plus(best, slack),
					   acc + from);

		block_min[from / BLOCK] = min;
		if (min < best)
			best = min;
	}
	most = plus(best, slack);
	for (size_t from = 0; from < stride; from += BLOCK) {
		size_t len = stride - from < BLOCK ? stride - from : BLOCK;

		if (block_min[from / BLOCK] <= most)
			fab_bytes_upto(acc + from, len, most, bits + from / 64);
		else
			memset(bits + from / 64, 0, len / 8);
	}
	return best;
}

/* Which groups are treated and which of them share a set. */
static uint32_t *plan(const struct fab_groups *groups, size_t max_sets,
		      struct fab_roots *out)
{
	uint32_t *leader = FAB_NEW(groups->n - out->first_group, uint32_t);

	out->set = FAB_NEW(groups->n - out->first_group, uint32_t);
	for (uint32_t g = out->first_group; g < groups->n; g++) {
		uint32_t same = groups->same_as[g];

		if (same >= out->first_group && same < g) {
			out->set[out->n++] = out->set[same - out->first_group];
			continue;
		}
		if (out->n_sets == max_sets)
			break;
		leader[out->n_sets] = g;
		out->set[out->n++] = out->n_sets++;
	}
	return leader;
}

/* Balls for these groups, group[n], if they pay. */
static struct fab_balls *balls_for(const struct fab_dist *dist,
				   const struct fab_groups *groups, const uint32_t *group,
				   uint32_t n, int n_threads)
{
	struct fab_roots_one *one;
	uint32_t step = n / SAMPLE + 1;
	uint8_t low = UINT8_MAX, high = 0;
	uint64_t n_uses = 0;

	if (!fab_balls_fit(dist, 1))
		return NULL;
	one = fab_roots_one_new(dist);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *sw = groups->sw + groups->sw_first[group[i]];
		uint32_t n_sw = fab_group_n_switches(groups, group[i]);
		uint8_t radius;

		n_uses += n_sw;
		if (i % step)
			continue;
		radius = fab_roots_one_find(one, sw, n_sw);
		low = radius < low ? radius : low;
		high = radius > high ? radius : high;
	}
	fab_roots_one_free(one);
	return fab_balls_new(dist, n_uses, low, high, n_threads);
}

void fab_roots_find(const struct fab_dist *dist, const struct fab_groups *groups,
		    uint32_t first_group, size_t max_bytes, int n_threads,
		    struct fab_roots *out)
{
	fab_roots_find_within(dist, groups, first_group, max_bytes, n_threads, 0, out);
}

bool fab_roots_find_all(const struct fab_dist *dist, const struct fab_groups *groups,
			size_t max_bytes, int n_threads, struct fab_roots *out)
{
	size_t bytes = fab_dist_stride(dist) / 8, n_sets = 0;

	for (uint32_t g = 0; g < groups->n; g++)
		n_sets += groups->same_as[g] == g;
	if (n_sets > max_bytes / bytes)
		return false;
	fab_roots_find(dist, groups, 0, max_bytes, n_threads, out);
	return true;
}

void fab_roots_find_within(const struct fab_dist *dist, const struct fab_groups *groups,
			   uint32_t first_group, size_t max_bytes, int n_threads,
			   unsigned slack, struct fab_roots *out)
{
	size_t stride = fab_dist_stride(dist), words = stride / 64;
	size_t max_sets = max_bytes / (words * sizeof(uint64_t));
	struct fab_balls *balls = NULL;
	uint32_t *leader;
	int n_workers;

	*out = (struct fab_roots){.first_group = first_group, .words = words};
	leader = plan(groups, max_sets ? max_sets : 1, out);
	out->radius = FAB_NEW(out->n_sets, uint8_t);
	out->bits = FAB_NEW(out->n_sets * words, uint64_t);
	if (!slack && out->n_sets > SAMPLE)
		balls = balls_for(dist, groups, leader, out->n_sets, n_threads);
	if (groups->sw_first[groups->n] > (uint64_t)ROW_USES * fab_dist_n(dist))
		for (uint32_t s = 0; s < fab_dist_n(dist); s++)
			(void)fab_dist_row(dist, s);
	n_workers = fab_threads_for(n_threads, groups->sw_first[groups->n] * words);
#pragma omp parallel num_threads(n_workers)
	{
		uint8_t *acc = FAB_NEW(stride, uint8_t);
		uint8_t *block_min = FAB_NEW(stride / BLOCK + 1, uint8_t);

#pragma omp for schedule(dynamic, 4)
		for (uint32_t i = 0; i < out->n_sets; i++) {
			const uint32_t *sw = groups->sw + groups->sw_first[leader[i]];
			uint32_t n = fab_group_n_switches(groups, leader[i]);
			uint64_t *bits = out->bits + i * words;

			fab_progress_report("roots", "groups", leader[i], groups->n);
			if (!balls ||
			    !fab_balls_find(balls, sw, n, bits, &out->radius[i]))
				out->radius[i] = find_set(dist, sw, n, slack, acc,
							  block_min, bits);
		}
		free(acc);
		free(block_min);
	}
	fab_balls_free(balls);
	free(leader);
}

void fab_roots_fini(struct fab_roots *roots)
{
	free(roots->set);
	free(roots->radius);
	free(roots->bits);
	*roots = (struct fab_roots){0};
}

struct fab_roots_one *fab_roots_one_new(const struct fab_dist *dist)
{
	struct fab_roots_one *one = FAB_NEW0(1, struct fab_roots_one);
	size_t stride = fab_dist_stride(dist);

	one->dist = dist;
	one->words = stride / 64;
	one->largest = FAB_NEW(stride, uint8_t);
	one->block_min = FAB_NEW(stride / BLOCK + 1, uint8_t);
	one->bits = FAB_NEW(one->words, uint64_t);
	return one;
}

void fab_roots_one_free(struct fab_roots_one *one)
{
	if (!one)
		return;
	free(one->largest);
	free(one->block_min);
	free(one->bits);
	fab_balls_free(one->balls);
	free(one);
}

void fab_roots_one_expect(struct fab_roots_one *one, const struct fab_groups *groups,
			  int n_threads)
{
	uint32_t *group = FAB_NEW(groups->n, uint32_t), n = 0;

	for (uint32_t i = 0; i < groups->n; i++)
		if (groups->same_as[i] == i)
			group[n++] = i;
	if (n > SAMPLE && !one->balls)
		one->balls = balls_for(one->dist, groups, group, n, n_threads);
	free(group);
}

uint8_t fab_roots_one_find(struct fab_roots_one *one, const uint32_t *sw, uint32_t n)
{
	uint8_t radius;

	if (one->balls && !one->slack &&
	    fab_balls_find(one->balls, sw, n, one->bits, &radius))
		return radius;
	return find_set(one->dist, sw, n, one->slack, one->largest, one->block_min,
			one->bits);
}

uint32_t fab_roots_draw(const uint64_t *bits, size_t words, uint64_t hash)
{
	size_t word = (size_t)(hash % words);
	uint64_t left = bits[word] & ~(uint64_t)0 << (hash >> 58);

	/* at most once around, to the bits of the first word that were left out */
	for (size_t i = 0; i < words && !left; i++) {
		word = word + 1 == words ? 0 : word + 1;
		left = bits[word];
	}
	return (uint32_t)word * 64 + (uint32_t)__builtin_ctzll(left);
}
