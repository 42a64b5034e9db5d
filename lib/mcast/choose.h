/* SPDX-License-Identifier: BSD-2-Clause */
/* Which candidate becomes the root: the least by some value, ties in a fixed order. */
#pragma once

#include "mcast/engine.h"

/*
 * The candidate sets of some groups as lists in the order in which ties are broken; equal
 * sets share a list. Made once and shared by all engines.
 */
struct fab_candidates {
	const struct fab_roots *roots;
	size_t words;
	uint32_t *order; /* [n_switches] switch at each position, NULL: ids as they are */
	uint32_t *list_of; /* [roots->n_sets] */
	uint32_t n_lists;
	uint64_t *bits; /* [n_lists * words] bit i: the switch at position i is in the
			   list */
};

/*
 * `roots` is borrowed until the candidates ends. O(switches log switches + candidates of
 * all different sets).
 */
void fab_candidates_init(struct fab_candidates *candidates, const struct fab_roots *roots,
			 uint32_t n_switches, enum fab_root_ties ties);
void fab_candidates_fini(struct fab_candidates *candidates);

/*
 * Where an engine stands in a list: the least value last seen in it and its position.
 * Values (uses, loads) never fall, so that no switch before `at` can have as little as
 * `value`, and none less. Starts as zeroes.
 */
struct fab_cursor {
	uint32_t value, at;
};

/*
 * The root of a group: the candidate of least value[switch], the first in the order of
 * the candidates among equals; value NULL: the lowest id. `cursors` is the engine's,
 * [n_lists]. Amortised O(1) for values that rise by one, at most O(switches).
 */
uint32_t fab_candidates_choose(const struct fab_candidates *candidates,
			       struct fab_cursor *cursors, uint32_t group,
			       const uint32_t *value);

/*
 * The same by the plain definition, for values that also fall: `bits` are the candidates
 * of one group, `words` of them; FAB_NONE: there are none. O(switches).
 */
uint32_t fab_root_choose(const uint64_t *bits, size_t words, enum fab_root_ties ties,
			 const uint32_t *value);

/*
 * The one that comes `nth` in that order (0: the same), from the first on again where
 * there are fewer; there is one. `room` is for [switches]. O(switches) in the mean.
 */
uint32_t fab_root_choose_nth(const uint64_t *bits, size_t words, enum fab_root_ties ties,
			     const uint32_t *value, uint32_t nth, uint64_t *room);
