/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Candidates are found from rows of distances: the running maximum over the members'
 * rows, for a block of switches at a time so that it stays in the first level cache;
 * every BOUND_ROWS rows a block is dropped when its least maximum already exceeds the
 * best radius of an earlier block. Where every switch is in several groups, the balls of
 * a few radii are made first, as bits: the candidates are the common part of the members'
 * balls of the least radius that has one, a word for 64 switches at a time (1.3 times as
 * fast for 100 000 groups on a fat tree of radix 64).
 */
#include "mcast/roots.h"

#include "base/arena.h"
#include "base/num.h"
#include "base/progress.h"
#include "base/threads.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, BOUND_ROWS = 8 };

/* Rows on demand are made when each would be needed more often than this: they take
 * memory, and are quicker to read than to find from coordinates. */
enum { ROW_USES = 8 };

/* Balls are made when each would be read more often than this, for as many radii and in
 * as many bytes at most; these are the radii of some groups and one less. */
enum { BALL_USES = 4, MAX_RADII = 8, MAX_BALL_BYTES = 64 << 20, SAMPLE = 32 };

/* For each radius and each switch the switches that are no farther, as bits. */
struct balls {
	size_t words;
	unsigned low, n;	 /* radii low .. low + n - 1; n == 0: none */
	uint64_t *of[MAX_RADII]; /* [switches * words] of each radius */
};

/* 2^32 by the golden section, whose multiples lie evenly; and its inverse. */
#define SHUFFLE 2654435769u
#define UNSHUFFLE 340573321u
/* Candidates of 64 switches that are looked at one by one; the others together. */
enum { FEW = 4 };

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

/* Bit i: byte i is `most` or less; n is a multiple of 64. Eight bytes of 0 or 1 are
 * gathered into eight bits by one multiplication. */
FAB_WIDE static void bytes_upto(const uint8_t *bytes, size_t n, uint8_t most,
				uint64_t *bits)
{
	for (size_t w = 0; w < n / 64; w++) {
		uint8_t is_low[64];
		uint64_t eight[8], word = 0;

		for (unsigned i = 0; i < 64; i++)
			is_low[i] = bytes[64 * w + i] <= most;
		memcpy(eight, is_low, sizeof(eight));
		for (unsigned i = 0; i < 8; i++)
			word |= (le64toh(eight[i]) * 0x0102040810204080u) >> 56 << 8 * i;
		bits[w] = word;
	}
}

/*
 * Largest distance from every switch of a block to the given switches; returns the least
 * of them, or any value above `best` once it is sure to exceed it. Rows are taken in a
 * stride near the golden section, since neighbours in the list mostly are neighbours in
 * the fabric and add no information.
 */
static uint8_t block_radius(const struct fab_dist *dist, const uint32_t *sw, uint32_t n,
			    size_t from, size_t len, uint8_t best, uint8_t *acc)
{
	uint32_t stride = (uint32_t)(n * 0.618), at = 0;
	uint8_t min = 0, room[BLOCK];

	while (stride > 1 && fab_gcd(stride, n) != 1)
		stride--;
	stride = stride ? stride : 1;
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

/* `hops` and `more`, but never FAB_HOPS_UNREACHABLE. */
static uint8_t plus(uint8_t hops, unsigned more)
{
	unsigned most = FAB_HOPS_UNREACHABLE - 1u;

	return hops + more < most ? (uint8_t)(hops + more)
				  : (uint8_t)(hops < most ? most : hops);
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
		best = min < best ? min : best;
	}
	most = plus(best, slack);
	for (size_t from = 0; from < stride; from += BLOCK) {
		size_t len = stride - from < BLOCK ? stride - from : BLOCK;

		if (block_min[from / BLOCK] <= most)
			bytes_upto(acc + from, len, most, bits + from / 64);
		else
			memset(bits + from / 64, 0, len / 8);
	}
	return best;
}

/* For the sets of these groups, leader[n], where they save work. */
static struct balls make_balls(const struct fab_dist *dist,
			       const struct fab_groups *groups, const uint32_t *leader,
			       uint32_t n, int n_threads)
{
	size_t stride = fab_dist_stride(dist);
	uint64_t n_switches = fab_dist_n(dist), n_uses = 0;
	struct fab_arena arena = FAB_ARENA_INIT;
	struct fab_roots_one *one;
	struct balls b = {.words = stride / 64};
	unsigned low = UINT8_MAX, high = 0, n_radii;

	for (uint32_t i = 0; i < n; i++)
		n_uses += fab_group_n_switches(groups, leader[i]);
	if (n <= SAMPLE || n_uses < BALL_USES * n_switches)
		return b;
	one = fab_roots_one_new(dist, &arena);
	for (uint32_t i = 0; i < n; i += n / SAMPLE + 1) {
		unsigned radius =
			fab_roots_one_find(one, groups->sw + groups->sw_first[leader[i]],
					   fab_group_n_switches(groups, leader[i]));

		low = radius < low ? radius : low;
		high = radius > high ? radius : high;
	}
	fab_arena_free(&arena);
	b.low = low - (low > 0);
	n_radii = high - b.low + 1;
	if (n_radii > MAX_RADII || n_radii * n_switches * (stride / 8) > MAX_BALL_BYTES ||
	    n_uses < BALL_USES * n_radii * n_switches)
		return b;
	for (; b.n < n_radii; b.n++) {
		uint64_t *bits = b.of[b.n] = FAB_NEW(n_switches * b.words, uint64_t);
		int n_workers = fab_threads_for(n_threads, n_switches * b.words);

#pragma omp parallel for schedule(static) num_threads(n_workers)
		for (uint32_t s = 0; s < n_switches; s++)
			bytes_upto(fab_dist_row(dist, s), stride, (uint8_t)(b.low + b.n),
				   bits + s * b.words);
	}
	return b;
}

FAB_WIDE static uint64_t keep_common(uint64_t *restrict bits,
				     const uint64_t *restrict other, size_t words)
{
	uint64_t any = 0;

	for (size_t w = 0; w < words; w++)
		any |= bits[w] &= other[w];
	return any;
}

/* Candidates by balls. False: no ball has that radius, or it may be less. */
static bool find_common(const struct balls *b, const uint32_t *sw, uint32_t n,
			uint64_t *bits, uint8_t *radius)
{
	for (unsigned r = 0; r < b->n; r++) {
		uint64_t any = 1;

		memcpy(bits, b->of[r] + sw[0] * b->words, b->words * sizeof(*bits));
		for (uint32_t i = 1; i < n && any; i++)
			any = keep_common(bits, b->of[r] + sw[i] * b->words, b->words);
		*radius = (uint8_t)(b->low + r);
		if (any)
			return r > 0 || b->low == 0;
	}
	return false;
}

bool fab_roots_find_all(const struct fab_dist *dist, const struct fab_groups *groups,
			size_t max_bytes, int n_threads, struct fab_roots *out)
{
	size_t bytes = fab_dist_stride(dist) / 8, n_sets = 0;

	for (uint32_t g = 0; g < groups->n; g++)
		n_sets += groups->same_as[g] == g;
	if (n_sets > max_bytes / bytes)
		return false;
	fab_roots_find(dist, groups, 0, max_bytes, n_threads, 0, out);
	return true;
}

void fab_roots_find(const struct fab_dist *dist, const struct fab_groups *groups,
		    uint32_t first_group, size_t max_bytes, int n_threads, unsigned slack,
		    struct fab_roots *out)
{
	size_t stride = fab_dist_stride(dist), words = stride / 64;
	size_t max_sets = max_bytes / (words * sizeof(uint64_t));
	uint32_t *leader = FAB_NEW(groups->n - first_group, uint32_t); /* of each set */
	struct balls balls = {0};
	int n_workers;

	*out = (struct fab_roots){.first_group = first_group, .words = words};
	out->set = FAB_NEW(groups->n - first_group, uint32_t);
	for (uint32_t g = first_group; g < groups->n; g++) {
		uint32_t same = groups->same_as[g];

		if (same >= first_group && same < g) {
			out->set[out->n++] = out->set[same - first_group];
			continue;
		}
		if (out->n_sets && out->n_sets >= max_sets)
			break;
		leader[out->n_sets] = g;
		out->set[out->n++] = out->n_sets++;
	}
	out->radius = FAB_NEW(out->n_sets, uint8_t);
	out->bits = FAB_NEW(out->n_sets * words, uint64_t);
	if (!first_group && !fab_dist_is_whole(dist) &&
	    groups->sw_first[groups->n] > (uint64_t)ROW_USES * fab_dist_n(dist))
		for (uint64_t i = 0; i < groups->sw_first[groups->n]; i++)
			(void)fab_dist_row(dist, groups->sw[i]);
	if (!slack)
		balls = make_balls(dist, groups, leader, out->n_sets, n_threads);
	n_workers = fab_threads_for(n_threads, groups->sw_first[groups->n] * words);
#pragma omp parallel num_threads(n_workers)
	{
		FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
		struct fab_roots_one *one = fab_roots_one_new(dist, &arena);

#pragma omp for schedule(dynamic, 4)
		for (uint32_t i = 0; i < out->n_sets; i++) {
			const uint32_t *sw = groups->sw + groups->sw_first[leader[i]];
			uint32_t n = fab_group_n_switches(groups, leader[i]);
			uint64_t *bits = out->bits + i * words;

			fab_progress_report("roots", "groups", leader[i], groups->n);
			if (!find_common(&balls, sw, n, bits, &out->radius[i]))
				out->radius[i] =
					find_set(dist, sw, n, slack, one->largest,
						 one->block_min, bits);
		}
	}
	for (unsigned i = 0; i < balls.n; i++)
		free(balls.of[i]);
	free(leader);
}

void fab_roots_fini(struct fab_roots *roots)
{
	FAB_FREE_ALL(roots->set, roots->radius, roots->bits);
	*roots = (struct fab_roots){0};
}

struct fab_roots_one *fab_roots_one_new(const struct fab_dist *dist, struct fab_arena *a)
{
	struct fab_roots_one *one = FAB_ARENA_NEW0(a, 1, struct fab_roots_one);
	size_t stride = fab_dist_stride(dist);

	one->dist = dist;
	one->words = stride / 64;
	one->largest = FAB_ARENA_NEW(a, stride, uint8_t);
	one->block_min = FAB_ARENA_NEW(a, stride / BLOCK + 1, uint8_t);
	one->bits = FAB_ARENA_NEW(a, one->words, uint64_t);
	return one;
}

uint8_t fab_roots_one_find(struct fab_roots_one *one, const uint32_t *sw, uint32_t n)
{
	return find_set(one->dist, sw, n, one->slack, one->largest, one->block_min,
			one->bits);
}

typedef uint64_t eight __attribute__((vector_size(8 * sizeof(uint64_t))));
typedef uint32_t eight_values __attribute__((vector_size(8 * sizeof(uint32_t))));

/* The least key, value and then id times factor, of 64 switches from sw on that `bits`
 * has. */
FAB_WIDE static uint64_t least_key(uint64_t bits, const uint32_t *value, uint32_t sw,
				   uint32_t factor)
{
	eight_values tie = {0, 1, 2, 3, 4, 5, 6, 7}, own;
	eight bit = {1, 2, 4, 8, 16, 32, 64, 128}, best = {0}, key, is_less;
	uint64_t least = UINT64_MAX;

	best = ~best;
	tie = (tie + sw) * factor;
	for (uint32_t i = 0; i < 64; i += 8, bit <<= 8, tie += 8 * factor) {
		memcpy(&own, value + i, sizeof(own));
		key = __builtin_convertvector(own, eight) << 32;
		key |= __builtin_convertvector(tie, eight);
		key |= (eight)((bit & bits) == 0);
		is_less = (eight)(key < best);
		best = (key & is_less) | (best & ~is_less);
	}
	for (uint32_t i = 0; i < 8; i++)
		least = best[i] < least ? best[i] : least;
	return least;
}

uint32_t fab_root_choose(const uint64_t *bits, size_t words, enum fab_root_ties ties,
			 const uint32_t *value)
{
	uint32_t factor = ties == FAB_TIES_LOWEST ? 1 : SHUFFLE;
	uint64_t best = UINT64_MAX, key;

	for (size_t w = 0; w < words; w++) {
		uint32_t first = (uint32_t)w * 64;
		uint64_t left = bits[w];

		for (uint32_t i = 0; left && i < FEW; i++, left &= left - 1) {
			uint32_t sw = first + (uint32_t)__builtin_ctzll(left);

			if (!value)
				return sw;
			key = (uint64_t)value[sw] << 32 | sw * factor;
			best = key < best ? key : best;
		}
		key = left ? least_key(left, value + first, first, factor) : best;
		best = key < best ? key : best;
	}
	if (best == UINT64_MAX)
		return FAB_NONE;
	return ties == FAB_TIES_LOWEST ? (uint32_t)best : (uint32_t)best * UNSHUFFLE;
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
