/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Root candidates of a group: the switches whose largest distance to any member's switch
 * is minimal (Chen et al. 2022, "root candidates"). Exact, over all switches.
 */
#pragma once

#include "fabric/dist.h"
#include "mcast/groups.h"

/* Candidates of the groups first_group .. first_group + n - 1. */
struct fab_roots {
	uint32_t first_group, n;
	size_t words;  /* 64-bit words of one set */
	uint32_t *set; /* [n] set of a group: groups with equal switches share */
	uint32_t n_sets;
	uint8_t *radius; /* [n_sets] largest distance from a candidate to a member */
	uint64_t *bits;	 /* [n_sets * words] bit s: switch s is a candidate */
};

/*
 * Find the candidates of as many groups from first_group on as fit into max_bytes of sets
 * (at least one group), and those up to `slack` hops farther from a member, too; radius
 * stays the least. O(sum of switches of the groups * switches), less what bounds save;
 * parallel over sets, the same result for any number of threads, which stay for the
 * trees: fab_threads_rest() ends them.
 */
void fab_roots_find(const struct fab_dist *dist, const struct fab_groups *groups,
		    uint32_t first_group, size_t max_bytes, int n_threads, unsigned slack,
		    struct fab_roots *out);
/* Those of all groups, if their sets fit into max_bytes; else false, and nothing is
 * found. Complexity of fab_roots_find(), or O(groups). */
bool fab_roots_find_all(const struct fab_dist *dist, const struct fab_groups *groups,
			size_t max_bytes, int n_threads, struct fab_roots *out);
void fab_roots_fini(struct fab_roots *roots);

/* Bytes of sets that are held at a time: while trees are only grown, and where they are
 * revised. */
enum { FAB_GROW_ROOTS_BYTES = 16 << 20, FAB_MOVES_ROOTS_BYTES = 64 << 20 };

/* The set of a group as bits. O(1). */
static inline const uint64_t *fab_roots_bits(const struct fab_roots *r, uint32_t group)
{
	return r->bits + r->set[group - r->first_group] * r->words;
}

/* Is a switch in a set? O(1). */
static inline bool fab_roots_has(const uint64_t *bits, uint32_t sw)
{
	return bits[sw / 64] >> (sw % 64) & 1;
}

/* The switches of a set in `words` of bits, ascending; returns how many. O(words +
 * switches). */
static inline uint32_t fab_roots_list(const uint64_t *bits, size_t words, uint32_t *sw)
{
	uint32_t n = 0;

	for (size_t w = 0; w < words; w++)
		for (uint64_t left = bits[w]; left; left &= left - 1)
			sw[n++] = (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left);
	return n;
}

/* Hops from a candidate to the farthest switch with members. O(1). */
static inline uint8_t fab_roots_radius(const struct fab_roots *r, uint32_t group)
{
	return r->radius[r->set[group - r->first_group]];
}

/* Room to find the candidates of one list of switches after the other. */
struct fab_roots_one {
	const struct fab_dist *dist;
	size_t words;
	unsigned slack; /* 0: candidates only; may be set between two searches */
	uint8_t *largest, *block_min;
	uint64_t *bits; /* [words] of the last one */
};

/* Borrows the distances. O(switches). */
struct fab_arena;
struct fab_roots_one *fab_roots_one_new(const struct fab_dist *dist,
					struct fab_arena *arena)
	__attribute__((returns_nonnull));
/* Candidates of the switches sw[n]; returns their radius. O(n * switches) at most. */
uint8_t fab_roots_one_find(struct fab_roots_one *one, const uint32_t *sw, uint32_t n);

/* Order of candidates that a rule finds equally good. */
enum fab_root_ties {
	FAB_TIES_SPREAD, /* a fixed shuffle of the switch ids */
	FAB_TIES_LOWEST	 /* switch id */
};

/* Length of an array of values of n switches for fab_root_choose(). */
#define FAB_ROOTS_PADDED(n) (((size_t)(n) + 63) / 64 * 64)

/* The candidate of least value[switch] in bits[words]; value[64 * words] NULL: the lowest
 * id; FAB_NONE: none. O(switches). */
uint32_t fab_root_choose(const uint64_t *bits, size_t words, enum fab_root_ties ties,
			 const uint32_t *value);
/* A random one of a set: the next one, cyclically, from a place given by `hash`.
 * O(words). */
uint32_t fab_roots_draw(const uint64_t *bits, size_t words, uint64_t hash);
