/* SPDX-License-Identifier: BSD-2-Clause */
/* What the builder holds between adding (builder.c) and finishing (assemble.c). */
#pragma once

#include "base/mem.h"
#include "fabric/builder.h"

enum { FAB_WARNINGS_OF_LINES = 100 }; /* stored of each code */

struct port_note {
	uint32_t node;
	uint16_t port, lid;
	uint64_t guid;
	uint8_t lmc;
};

/* How often a warning code came up; the messages beyond the limit are only counted. */
struct code_count {
	const char *code;
	uint64_t n, n_stored;
};

struct fab_builder {
	FAB_VEC(struct fab_node_spec) nodes;
	FAB_VEC(size_t) name_at; /* [nodes] offset into names */
	FAB_VEC(char) names;
	FAB_VEC(struct port_note) notes;
	FAB_VEC(struct fab_end) ends;	/* told by one end each */
	FAB_VEC(struct fab_end) cables; /* known whole */
	FAB_VEC(struct fab_warning) warnings;
	FAB_VEC(struct code_count) codes;
	uint64_t n_warnings_total;
	bool has_warned; /* the warning given last was stored */
};
