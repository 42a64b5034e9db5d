/* SPDX-License-Identifier: BSD-2-Clause */
/* The builder between adding (builder.c) and finishing (assembly.c), and the choice of a
 * rail (hosts.c). */
#pragma once

#include "base/arena.h"
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
	FAB_VEC(struct fab_end) ends;	/* known from one end each */
	FAB_VEC(struct fab_end) cables; /* known whole */
	FAB_VEC(struct fab_warning) warnings;
	FAB_VEC(struct code_count) codes;
	struct fab_arena arena; /* texts of warnings */
	uint64_t n_warnings_total;
	bool has_warned; /* the warning given last was stored */
};

/*
 * The part of a builder's nodes that --hca keeps: the adapters that match, of these one
 * port where the pattern names it, and the switches. Switches (with their aggregation
 * nodes and routers) of a part whose adapters are all left out are of another rail and
 * are left out, too; a part that had no adapters before stays.
 */
struct fab_rail {
	bool *is_kept;	      /* [nodes added] */
	bool is_port;	      /* the pattern names a port */
	uint32_t n_left_out;  /* switches */
	uint32_t n_adapters;  /* that stay, aggregation nodes not counted */
	uint32_t n_connected; /* of these: with a cable to a switch that is kept */
};

/*
 * `hca` is "GLOB" or "GLOB/PORT" (PORT: decimal digits), NULL all. Takes ends, cables and
 * notes of other ports of adapters away from the builder. *out is in `arena`.
 * O(nodes + ends).
 */
void fab_rail_choose(struct fab_builder *b, const char *hca, struct fab_arena *arena,
		     struct fab_rail *out);

/* End, or cable, number i of all, in the order of adding. O(1). */
const struct fab_end *fab_builder_end(const struct fab_builder *b, size_t i);
