/* SPDX-License-Identifier: BSD-2-Clause */
/* Uniform traffic, open loop. */
#pragma once

#include "event/stream.h"
#include "traffic/messages.h"

/* State of an endpoint. */
struct fab_uniform_end {
	struct fab_stream stream;
	double at;	 /* time of the last birth */
	double interval; /* ticks from birth to birth, on the mean */
	double per_log;	 /* Bernoulli: 1 / log(1 - probability); 0: each slot */
};

/* Each endpoint sends messages of one size to others by chance, never to itself. */
struct fab_uniform {
	uint32_t n_ends;
	uint32_t bytes;
	/* Bernoulli: a birth is at a multiple of so many ticks, at each with the same
	 * probability; 0: Poisson. */
	uint64_t slot;
	struct fab_uniform_end *end; /* [n_ends] */
};

/*
 * Endpoint i gets a message of `bytes` each wire[i] / rate ticks, on the mean (wire: what
 * the message takes on its cable, sim/sim.h), 0 < rate <= 1. Fewer than two endpoints
 * send nothing. The caller ends *u, to which *out refers. O(n_ends).
 */
void fab_uniform_init(struct fab_uniform *u, uint32_t n_ends, const uint64_t *wire,
		      double rate, uint32_t bytes, uint64_t slot, uint64_t seed,
		      struct fab_messages *out);
void fab_uniform_fini(struct fab_uniform *u);
