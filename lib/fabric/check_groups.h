/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings that repeat, put together for people: those of one code about cables between
 * one node and one host (or switch) that say the same of them, and those of one code
 * about ports of one host.
 */
#pragma once

#include "fabric/check.h"

struct fab_finding_group {
	uint32_t first; /* index of its first finding */
	uint32_t n;
	char *text; /* what is said of all; names as the fabric has them */
};

struct fab_finding_groups {
	struct fab_finding_group *v; /* [n] in the order of the first findings */
	uint32_t n;
};

/* The caller frees *out. O(findings log findings). */
void fab_finding_groups_init(const struct fab_fabric *f, const struct fab_check *check,
			     struct fab_finding_groups *out);
void fab_finding_groups_fini(struct fab_finding_groups *groups);

/* The finding that is most urgent, NULL without a problem: parts that are cut off, then
 * cables that are missing or wrong, then identities, then rates; codes unknown here
 * before rates. O(findings). */
const struct fab_finding *fab_check_worst(const struct fab_check *check);
