/* SPDX-License-Identifier: BSD-2-Clause */
/* A fabric with groups by chance, routed by every engine and verified. */
#pragma once

#include "mcast/route.h"

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

/* What balanced comes to on a generated fabric with the groups of a pattern; asserts that
 * it is sound. */
struct fab_efi routed_balanced(const char *spec, const char *pattern);

/* Progress of whoever does not want to go on. */
int routed_stop(void *context, uint64_t done, uint64_t total);
