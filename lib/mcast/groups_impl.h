/* SPDX-License-Identifier: BSD-2-Clause */
/* What collects groups, shared by files and patterns. */
#pragma once

#include "base/mem.h"
#include "fabric/resolver.h"
#include "mcast/groups.h"
#include "mcast/members.h"

/* Where a group comes from: FILE and line, or a pattern and line 0. */
struct fab_group_origin {
	const char *source; /* NULL: from neither */
	uint64_t line;
};

struct fab_groups_builder {
	const struct fab_fabric *f;
	uint32_t *seen; /* [n_ports] number, from 1, of the last group that named it */
	FAB_VEC(size_t) first;
	FAB_VEC(uint32_t) member;
	FAB_VEC(uint8_t) scope; /* enum fab_scope of each member */
	FAB_VEC(uint64_t) name_at;
	FAB_VEC(char) names;
	FAB_VEC(struct fab_group_origin) origin; /* of each group */
	struct fab_group_origin here;		 /* of the next group */
	FAB_VEC(char *) sources;		 /* what origins point to */
	uint64_t n_unknown;
	struct fab_resolver *resolver; /* NULL until a file names members */
	struct fab_matches matches;
};

/* The groups that follow come from `source`, which is copied. */
void fab_groups_builder_enter(struct fab_groups_builder *b, const char *source);
void fab_groups_builder_leave(struct fab_groups_builder *b);
/* Names of members; the builder keeps it. */
const struct fab_resolver *fab_groups_builder_resolver(struct fab_groups_builder *b);

/*
 * Where the members of a group are on several planes and each could be on the same one,
 * as far as its scope goes, put it there (groups_planes.c). O(members * planes of them *
 * ports of a host).
 */
void fab_groups_share_planes(struct fab_groups_builder *b);
