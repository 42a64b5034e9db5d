/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the parts of the check: findings being collected, one function a subject. */
#pragma once

#include "base/mem.h"
#include "fabric/check.h"
#include "fabric/shape.h"

struct fab_checker {
	const struct fab_fabric *f;
	struct fab_check *check;
	FAB_VEC(struct fab_finding) found;
};

/* Where a finding points: node, port, cable, line. */
#define FAB_AT_NODE(n)                                                                   \
	((struct fab_finding){.node = (n), .port = FAB_NONE, .cable = FAB_NONE})
#define FAB_AT_PORT(n, p)                                                                \
	((struct fab_finding){.node = (n), .port = (p), .cable = FAB_NONE})

/* Keys of findings (check_key.c), on the heap. Of ids in any order; [n], sorted here. */
char *fab_check_key_nodes(const struct fab_fabric *f, uint32_t *nodes, size_t n);
char *fab_check_key_ports(const struct fab_fabric *f, uint32_t a, uint32_t b);
char *fab_check_key_text(const char *text);

/*
 * Add a finding. at.key is taken over; NULL: the ends of at.cable, else at.port, else
 * at.node, else the message.
 */
void fab_checker_add(struct fab_checker *c, enum fab_severity severity, const char *code,
		     struct fab_finding at, const char *format, ...) FAB_PRINTF(5, 6);

void fab_check_links(struct fab_checker *c); /* check_links.c: widths, speeds, loops */

/*
 * Switches by levels and, where the shape has such, by directions: what should be alike.
 */
struct fab_check_levels {
	struct fab_shape *shape;
	uint32_t *level;     /* [n_switches] rank, FAB_NONE: no host in its part */
	uint32_t *n_missing; /* [n_switches] cables up that check_pairs.c found missing */
};
/* check_pairs.c: pairs of switches with fewer cables than their peers */
void fab_check_pairs(struct fab_checker *c, struct fab_check_levels *levels);
/* check_uplinks.c: switches with fewer cables up than others of their level */
void fab_check_uplinks(struct fab_checker *c, const struct fab_check_levels *levels);
void fab_check_planes(struct fab_checker *c); /* check_planes.c: parts, planes */
void fab_check_ids(struct fab_checker *c);    /* check_ids.c: LIDs, GUIDs, names */
