/* SPDX-License-Identifier: BSD-2-Clause */
/* A fabric with groups by chance, routed by every engine and verified. */
#pragma once

#include "mcast/route.h"
#include "support/own.h"

OWN_VALUE(fab_mcast_result, fab_mcast_result_fini)

enum { ROUTED_MAX_ENGINES = 16 };

struct routed {
	struct fab_fabric *f;
	struct fab_dist *dist;
	struct fab_groups *groups;
	struct fab_mcast_problem problem;
};

/*
 * Takes the fabric; n_groups groups of 1 to `most` endpoints, each within one connected
 * part. Aborts the test when it fails.
 */
void routed_init(struct routed *s, struct fab_fabric *f, uint32_t n_groups, uint32_t most,
		 uint64_t seed);
/* Takes the fabric; groups of patterns, up to the NULL. */
void routed_init_patterns(struct routed *s, struct fab_fabric *f,
			  const char *const *patterns, uint64_t seed);
/* A generated fabric with the groups of a pattern. */
void routed_init_pattern(struct routed *s, const char *spec, const char *pattern);
/* Takes the fabric, and the groups of a builder. */
void routed_init_builder(struct routed *s, struct fab_fabric *f,
			 struct fab_groups_builder *b);
/* Groups of one pattern. */
struct fab_groups *routed_groups(const struct fab_fabric *f, const char *pattern,
				 uint64_t seed);
void routed_fini(struct routed *s);

/* By one engine, with options (NULL: one thread). */
struct fab_mcast_result routed_by(const struct fab_mcast_problem *problem,
				  const struct fab_mcast_engine *engine,
				  const struct fab_mcast_options *options);
/* The figures of trees, which must be sound. */
struct fab_efi routed_efi(const struct fab_mcast_problem *problem,
			  const struct fab_mcast_result *r);
/* By every engine, [ROUTED_MAX_ENGINES]; asserts that they are sound, and that no engine
 * of minimal height is below `balanced`, nor that below `optimal`. */
void routed_all(const struct routed *s, struct fab_mcast_result *results,
		struct fab_efi *efi);
void routed_end(struct fab_mcast_result *results);

/* Hops from a switch to the farthest of some. */
uint8_t routed_farthest(const struct fab_dist *dist, uint32_t from, const uint32_t *sw,
			uint32_t n);
