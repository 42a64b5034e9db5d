/* SPDX-License-Identifier: BSD-2-Clause */
/* A routed fabric to simulate. */
#pragma once

#include "sim/sim.h"

struct simulated {
	struct fab_fabric *f;
	struct fab_kfat *kfat;
	struct fab_faults *faults;
	uint32_t root;		    /* of updn */
	bool has_root, fills_roots; /* fills: it takes one where there is none */
	struct fab_flow_ends ends;
	struct fab_routes *routes;
	struct fab_sim_problem problem;
};

/* A generated fabric under an engine's tables. */
void simulated_init(struct simulated *s, const char *spec, const char *engine);
/* Route again with what is dead in s->faults (made when it is NULL). */
void simulated_route(struct simulated *s, const char *engine);
void simulated_fini(struct simulated *s);

/* Run uniform traffic of one size; asserts that it succeeds. Seed 1. */
void simulated_uniform(const struct simulated *s, const struct fab_sim_params *params,
		       double rate, uint32_t size, struct fab_sim_result *r);

/* The same with another seed. */
void simulated_seed(const struct simulated *s, const struct fab_sim_params *params,
		    double rate, uint32_t size, uint64_t seed, struct fab_sim_result *r);

/* Of a ring: packets of a column leave every switch to the next one up by id. */
void simulated_turn_right(struct simulated *s, uint32_t column);
