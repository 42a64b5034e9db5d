/* SPDX-License-Identifier: BSD-2-Clause */
/* A routed fabric to simulate, what is sent in it, and what holds for every result. */
#pragma once

#include "sim/sim.h"
#include "support/own.h"

/* Rows of fab_sim_switches. */
enum { OQ, VOQ, FIFO };

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
/* The same after these switches died. */
void simulated_fail(struct simulated *s, const char *switches, const char *engine);
void simulated_fini(struct simulated *s);
OWN_VALUE(simulated, simulated_fini)
OWN_VALUE(fab_sim_result, fab_sim_result_fini)

/* By flit, measured from the beginning for `time` ticks, on one thread; a kind of switch
 * with buffers of so many packets for each lane. */
struct fab_sim_params simulated_flits(unsigned kind, uint32_t mtu, uint32_t buffer,
				      uint64_t time);

/* Messages of one size, one each `every` ticks from 0 on. */
struct source {
	uint32_t size, least_payload;
	uint64_t every, most;			/* most: of an endpoint; 0: without end */
	uint32_t first, n_senders;		/* endpoints that send; 0: all */
	uint32_t shift;				/* targets are so many further */
	uint32_t (*to)(uint32_t e, uint64_t i); /* or this of message i, around */
	bool to_group;
	uint32_t n_ends;
	uint64_t sent[512];
};

/* Run them, with ERR, or uniform traffic of one size, which must succeed. Asserts that
 * no packet disappears without a cause. */
int simulated_send(const struct simulated *s, const struct fab_sim_params *params,
		   struct source source, struct fab_sim_result *r);
void simulated_uniform(const struct simulated *s, const struct fab_sim_params *params,
		       double rate, uint32_t size, uint64_t seed,
		       struct fab_sim_result *r);
void simulated_balance(const struct fab_sim_result *r);

/* Are deliveries equal? */
bool simulated_alike(const struct fab_sim_result *a, const struct fab_sim_result *b);
/* Asserts that results are equal, as they are by any number of threads. */
void simulated_same(const struct fab_sim_result *a, const struct fab_sim_result *b);
/* Asserts that a deadlock has a cycle of channels with packets, each once. */
void simulated_cycle(const struct fab_sim_result *r);
