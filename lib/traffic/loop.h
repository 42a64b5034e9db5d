/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Endless traffic: each endpoint sends message after message, whenever one is born, to
 * whom an aim says. What is drawn for an endpoint comes from its stream, in the order:
 * birth, target, size.
 */
#pragma once

#include "event/stream.h"
#include "traffic/traffic.h"

/* Whom an endpoint's messages go to. */
struct fab_aim {
	/* The next target: an endpoint, or a group with to_group. */
	uint32_t (*choose)(const void *context, uint32_t end, uint64_t number,
			   struct fab_stream *stream);
	/* Does the endpoint send at all? NULL: each does. */
	bool (*sends)(const void *context, uint32_t end);
	bool to_group;
	void *context; /* taken over; freed by `free`, NULL: by free(3) */
	void (*free)(void *context);
};

/* Make the traffic; takes the aim over. O(ends). */
void fab_loop_make(const struct fab_traffic_problem *p, const struct fab_aim *aim,
		   struct fab_traffic *out);
