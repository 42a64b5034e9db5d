/* SPDX-License-Identifier: BSD-2-Clause */
/* What collects groups, shared by files and patterns. */
#pragma once

#include "base/mem.h"
#include "mcast/groups.h"

struct fab_groups_builder {
	const struct fab_fabric *f;
	uint32_t *seen; /* [n_ports] number, from 1, of the last group that named it */
	FAB_VEC(size_t) first;
	FAB_VEC(uint32_t) member;
	FAB_VEC(uint64_t) name_at;
	FAB_VEC(char) names;
	uint64_t n_unknown;
};
