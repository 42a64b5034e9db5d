/* SPDX-License-Identifier: BSD-2-Clause */
/* A fabric with groups by chance, routed by every engine and verified. */
#pragma once

#include "mcast/efi.h"

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
void routed_fini(struct routed *s);

/* By every engine, [ROUTED_MAX_ENGINES]; asserts that they are sound. */
void routed_all(const struct routed *s, struct fab_mcast_result *results,
		struct fab_efi *efi);
void routed_end(struct fab_mcast_result *results);
