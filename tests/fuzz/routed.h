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
static inline bool fuzz_route(const struct fab_fabric *f, const char *engine,
			      unsigned max_vls, struct fuzz_draw *d,
			      struct fuzz_routed *out)
{
	struct fab_unicast_problem unicast = {.f = f, .max_vls = max_vls, .n_threads = 1};

	if (!f->n_cables || !f->n_switches)
		return false;
	out->faults = fab_faults_new(f);
	for (uint32_t i = fuzz_below(d, 3); i; i--)
		fab_faults_kill_cable(out->faults, fuzz_below(d, f->n_cables));
	unicast.faults = out->faults;
	if (fab_unicast_route(fab_unicast_engine_find(engine, strlen(engine)), &unicast,
			      &out->routes, ERR)) {
		fab_faults_free(out->faults);
		return false;
	}
	fab_flow_ends_init(&out->ends, f, out->faults->switch_is_dead,
			   out->faults->cable_is_dead);
	return true;
}

static inline void fuzz_routed_fini(struct fuzz_routed *r)
{
	fab_flow_ends_fini(&r->ends);
	fab_routes_free(r->routes);
	fab_faults_free(r->faults);
}
