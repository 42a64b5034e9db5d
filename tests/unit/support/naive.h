/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What sim/sim.h says, done the plain way: every tick, every output, lists that are
 * searched from the beginning. Nothing of lib/sim is used but its parameters.
 */
#pragma once

#include "base/mem.h"
#include "sim/sim.h"

/* A packet that started on a cable. */
struct naive_start {
	uint64_t time, birth;
	uint32_t source, port; /* endpoint; port of the fabric that sends */
	uint32_t size, target, packet;
	uint8_t vl, hop;
	bool to_group;
};

struct naive_result {
	FAB_VEC(struct naive_start) starts;
	FAB_VEC(struct fab_sim_delivery) deliveries;
	uint64_t lost, dropped, completed;
	uint64_t idle; /* ticks of outputs for which a packet with credit waited */
};

/* All ticks before `end`. */
void naive_run(const struct fab_sim_problem *problem, const struct fab_sim_params *params,
	       const struct fab_messages *messages, uint64_t end,
	       struct naive_result *result);
void naive_fini(struct naive_result *result);
