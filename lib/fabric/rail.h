/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What --hca leaves of what was added to a builder: the adapters that match, of these one
 * port where the pattern names it, and the switches. Switches (with their aggregation
 * nodes and routers) of a part whose adapters are all left out are of another rail and
 * are left out, too; a part that had no adapters before stays.
 */
#pragma once

#include "fabric/builder.h"

struct fab_rail {
	bool *is_kept;	      /* [nodes added] */
	bool is_port;	      /* the pattern names a port */
	uint32_t n_left_out;  /* switches */
	uint32_t n_adapters;  /* that stay, aggregation nodes not counted */
	uint32_t n_connected; /* of these: with a cable to a switch that is kept */
};

/*
 * `hca` is "GLOB" or "GLOB/PORT" (PORT: decimal digits), NULL all. Takes ends, cables and
 * notes of other ports of adapters away from the builder. End with fab_rail_fini().
 * O(nodes + ends).
 */
void fab_rail_choose(struct fab_builder *b, const char *hca, struct fab_rail *out);
void fab_rail_fini(struct fab_rail *rail);
