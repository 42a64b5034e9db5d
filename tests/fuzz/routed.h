/* SPDX-License-Identifier: BSD-2-Clause */
/* For targets that run something on a fabric under tables, both drawn. */
#pragma once

#include "engines.h"
#include "traffic/ends.h"

/* A fabric of which cables are dead, its endpoints, and the tables of an engine. */
struct fuzz_routed {
	struct fab_faults *faults;
	struct fab_flow_ends ends;
	struct fab_routes *routes;
};

/* Draws up to two dead cables; false: the engine cannot, or there is nothing to route.
 * Then nothing is to be ended. */
bool fuzz_route(const struct fab_fabric *f, const char *engine, unsigned max_vls,
		struct fuzz_draw *d, struct fuzz_routed *out);
void fuzz_routed_fini(struct fuzz_routed *r);
