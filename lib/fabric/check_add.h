/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of fabric/check: findings that are being collected. */
#pragma once

#include "base/arena.h"
#include "fabric/check.h"

struct fab_checker {
	const struct fab_fabric *f;
	struct fab_check *check;
	FAB_VEC(struct fab_finding) found;
	struct fab_arena scratch; /* of the rule at work */
	bool has_duplicate_guid;
};

/* Where a finding points: node, port, cable, line. */
#define AT_PORT(n, p)                                                                    \
	((struct fab_finding){.node = (n),                                               \
			      .port = (p),                                               \
			      .cable = FAB_NONE,                                         \
			      .peer_node = FAB_NONE,                                     \
			      .peer_port = FAB_NONE})
#define AT_NODE(n) AT_PORT(n, FAB_NONE)

/* Add a finding; its message is formatted, its key is that of `at` where it has none.
 * O(length). */
void fab_checker_add(struct fab_checker *c, enum fab_severity severity, const char *code,
		     struct fab_finding at, const char *format, ...) FAB_PRINTF(5, 6);
/* Key of n nodes by GUID, which sorts `nodes`. O(n log n). */
char *fab_check_key_nodes(struct fab_checker *c, uint32_t *nodes, size_t n);

/* Compare switches with those of their level and pairs of switches with their peers.
 * O(cables log cables). */
void fab_check_levels(struct fab_checker *c);
