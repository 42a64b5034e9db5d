/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the parts of the check: findings being collected, one function a subject. */
#pragma once

#include "base/mem.h"
#include "fabric/check.h"

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

void fab_checker_add(struct fab_checker *c, enum fab_severity severity, const char *code,
		     struct fab_finding at, const char *format, ...) FAB_PRINTF(5, 6);

void fab_check_links(struct fab_checker *c); /* check_links.c: widths, speeds, loops */
void fab_check_ids(struct fab_checker *c);   /* check_ids.c: LIDs, GUIDs, names */
