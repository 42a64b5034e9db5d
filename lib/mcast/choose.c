/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/choose.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

/* 2^32 by the golden section: multiples of it lie evenly. */
#define SHUFFLE 2654435769u
#define UNSHUFFLE 340573321u /* its inverse: the product is 1 */

/* The switches in the order of the multiples of SHUFFLE. */
static uint32_t *shuffled(uint32_t n)
{
	uint64_t *key = FAB_NEW(n, uint64_t);
	uint32_t *order = FAB_NEW(n, uint32_t);

	for (uint32_t s = 0; s < n; s++)
		key[s] = (uint64_t)(uint32_t)(s * SHUFFLE) << 32 | s;
	qsort(key, n, sizeof(*key), fab_cmp_u64);
	for (uint32_t i = 0; i < n; i++)
		order[i] = (uint32_t)key[i];
	free(key);
	return order;
}

/* Number the different sets; first[list] is a set of each. */
static uint32_t *find_lists(struct fab_candidates *b)
{
	const struct fab_roots *r = b->roots;
	struct fab_map64 *map = fab_map64_new(r->n_sets);
	uint32_t *first = FAB_NEW(r->n_sets, uint32_t);

	b->list_of = FAB_NEW(r->n_sets, uint32_t);
	for (uint32_t i = 0; i < r->n_sets; i++) {
		const uint64_t *bits = r->bits + i * b->words;
		size_t bytes = b->words * sizeof(*bits);
		uint32_t list =
			fab_map64_put(map, fab_hash_words(bits, b->words, 0), b->n_lists);

		if (list == b->n_lists ||
		    memcmp(r->bits + first[list] * b->words, bits, bytes)) {
			list = b->n_lists++;
			first[list] = i;
		}
		b->list_of[i] = list;
	}
	fab_map64_free(map);
	return first;
}

static void reorder(const uint64_t *from, size_t words, const uint32_t *rank,
		    uint64_t *to)
{
	memset(to, 0, words * sizeof(*to));
	for (size_t w = 0; w < words; w++)
		for (uint64_t left = from[w]; left; left &= left - 1) {
			uint32_t at = rank[w * 64 + (size_t)__builtin_ctzll(left)];

			to[at / 64] |= (uint64_t)1 << (at % 64);
		}
}

void fab_candidates_init(struct fab_candidates *b, const struct fab_roots *roots,
			 uint32_t n_switches, enum fab_root_ties ties)
{
	uint32_t *first, *rank;

	*b = (struct fab_candidates){.roots = roots, .words = roots->words};
	first = find_lists(b);
	b->bits = FAB_NEW(b->n_lists * b->words, uint64_t);
	if (ties == FAB_TIES_LOWEST) {
		for (uint32_t i = 0; i < b->n_lists; i++)
			memcpy(b->bits + i * b->words, roots->bits + first[i] * b->words,
			       b->words * sizeof(*b->bits));
		free(first);
		return;
	}
	b->order = shuffled(n_switches);
	rank = FAB_NEW(n_switches, uint32_t);
	for (uint32_t i = 0; i < n_switches; i++)
		rank[b->order[i]] = i;
	for (uint32_t i = 0; i < b->n_lists; i++)
		reorder(roots->bits + first[i] * b->words, b->words, rank,
			b->bits + i * b->words);
	free(rank);
	free(first);
}

void fab_candidates_fini(struct fab_candidates *b)
{
	free(b->order);
	free(b->list_of);
	free(b->bits);
	*b = (struct fab_candidates){0};
}

static uint32_t first_bit(const uint64_t *bits)
{
	uint32_t w = 0;

	while (!bits[w])
		w++;
	return w * 64 + (uint32_t)__builtin_ctzll(bits[w]);
}

/*
 * Least value among the list from cursor->at on; stops at the first that is no more than
 * cursor->value.
 */
static void scan(const struct fab_candidates *b, const uint64_t *bits,
		 const uint32_t *value, struct fab_cursor *cursor)
{
	uint32_t floor = cursor->value, from = cursor->at;
	struct fab_cursor best = {UINT32_MAX, 0};

	for (size_t w = from / 64; w < b->words; w++) {
		uint64_t left = bits[w];

		if (w == from / 64)
			left &= ~(uint64_t)0 << (from % 64);
		for (; left; left &= left - 1) {
			uint32_t at = (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left);
			uint32_t of_switch = value[b->order ? b->order[at] : at];

			if (of_switch >= best.value)
				continue;
			best = (struct fab_cursor){of_switch, at};
			if (best.value <= floor) {
				*cursor = best;
				return;
			}
		}
	}
	*cursor = best;
}

uint32_t fab_candidates_choose(const struct fab_candidates *b, struct fab_cursor *cursors,
			       uint32_t group, const uint32_t *value)
{
	uint32_t list = b->list_of[b->roots->set[group - b->roots->first_group]];
	const uint64_t *bits = b->bits + list * b->words;
	struct fab_cursor *cursor = &cursors[list], old = *cursor;

	if (!value)
		return first_bit(fab_roots_bits(b->roots, group));
	scan(b, bits, value, cursor);
	/* Nothing as low from the cursor on: now those before it may be the least. */
	if (cursor->value > old.value && old.at) {
		*cursor = (struct fab_cursor){old.value + 1, 0};
		scan(b, bits, value, cursor);
	}
	return b->order ? b->order[cursor->at] : cursor->at;
}

/* Smaller ones come first. */
static uint64_t key_of(uint32_t sw, enum fab_root_ties ties, const uint32_t *value)
{
	uint32_t tie = ties == FAB_TIES_LOWEST ? sw : sw * SHUFFLE;

	return (uint64_t)value[sw] << 32 | tie;
}

static uint32_t switch_of(uint64_t key, enum fab_root_ties ties)
{
	return ties == FAB_TIES_LOWEST ? (uint32_t)key : (uint32_t)key * UNSHUFFLE;
}

uint32_t fab_root_choose(const uint64_t *bits, size_t words, enum fab_root_ties ties,
			 const uint32_t *value)
{
	uint64_t best = UINT64_MAX;

	if (!value)
		return first_bit(bits);
	for (size_t w = 0; w < words; w++)
		for (uint64_t left = bits[w]; left; left &= left - 1) {
			uint32_t sw = (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left);
			uint64_t key = key_of(sw, ties, value);

			best = key < best ? key : best;
		}
	return best == UINT64_MAX ? FAB_NONE : switch_of(best, ties);
}

/* Bring all that are less than key[n / 2] before it, and all others after it, each of the
 * n different ones; where it ends up. */
static uint32_t part(uint64_t *key, uint32_t n)
{
	uint64_t middle = key[n / 2];
	uint32_t n_less = 0;

	key[n / 2] = key[n - 1];
	for (uint32_t i = 0; i + 1 < n; i++) {
		uint64_t own = key[i];

		key[i] = key[n_less];
		key[n_less] = own;
		n_less += own < middle;
	}
	key[n - 1] = key[n_less];
	key[n_less] = middle;
	return n_less;
}

uint32_t fab_root_choose_nth(const uint64_t *bits, size_t words, enum fab_root_ties ties,
			     const uint32_t *value, uint32_t nth, uint64_t *room)
{
	uint64_t *key = room;
	uint32_t n = 0;

	for (size_t w = 0; w < words; w++)
		for (uint64_t left = bits[w]; left; left &= left - 1)
			key[n++] =
				key_of((uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left),
				       ties, value);
	for (nth %= n; n > 1;) {
		uint32_t at = part(key, n);

		if (at == nth)
			return switch_of(key[at], ties);
		if (at > nth) {
			n = at;
			continue;
		}
		key += at + 1;
		n -= at + 1;
		nth -= at + 1;
	}
	return switch_of(key[0], ties);
}
