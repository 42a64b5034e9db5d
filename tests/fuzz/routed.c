/* SPDX-License-Identifier: BSD-2-Clause */
#include "routed.h"

#include "unicast/engine.h"
#include "unicast/faults.h"

enum { NODES_MAX = 160, CABLES_MAX = 400 };

bool fuzz_route(const struct fab_fabric *f, const char *engine, unsigned max_vls,
		struct fuzz_draw *d, struct fuzz_routed *out)
{
	struct fab_unicast_problem unicast = {.f = f, .max_vls = max_vls, .n_threads = 1};
	struct fab_err err;

	out->faults = fab_faults_new(f);
	for (uint32_t i = fuzz_below(d, 3); i; i--)
		fab_faults_kill_cable(out->faults, fuzz_below(d, f->n_cables));
	unicast.faults = out->faults;
	if (fab_unicast_engine_find(engine, strlen(engine))
		    ->route(&unicast, &out->routes, &err)) {
		fab_faults_free(out->faults);
		return false;
	}
	fab_flow_ends_init(&out->ends, f, out->faults->switch_is_dead,
			   out->faults->cable_is_dead);
	return true;
}

void fuzz_routed_fini(struct fuzz_routed *r)
{
	fab_flow_ends_fini(&r->ends);
	fab_routes_free(r->routes);
	fab_faults_free(r->faults);
}

int fuzz_on_small(const uint8_t *bytes, size_t n,
		  void (*try_on)(const struct fab_fabric *f, struct fuzz_draw *d))
{
	size_t n_choices = n < FUZZ_CHOICES ? n : FUZZ_CHOICES;
	struct fuzz_draw draw = {.at = 0};
	struct fab_fabric *f;

	memcpy(draw.byte, bytes, n_choices);
	f = fuzz_engines_fabric(bytes + n_choices, n - n_choices);
	if (!f)
		return 0;
	if (f->n_nodes <= NODES_MAX && f->n_cables <= CABLES_MAX && f->n_cables &&
	    f->n_switches)
		try_on(f, &draw);
	fab_fabric_free(f);
	return 0;
}
