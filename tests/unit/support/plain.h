/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables analysed plainly: walk the path of each pair, try all cycles. */
#pragma once

#include "unicast/analysis.h"

enum { PLAIN_FAR = 100000, PLAIN_MAX_PATH = 64, PLAIN_LANES = 3 };

/* What plain looking comes to. */
struct plain {
	const struct fab_routes *r;
	enum fab_ends ends;
	uint32_t n, n_arcs, n_channels;
	uint32_t *dist;	 /* [n * n] live */
	uint32_t *reach; /* [n_channels ^ 2] dependencies to get from one to the other */
	uint32_t *rank;
	uint64_t *load;
	struct fab_analysis got;
	unsigned vls, sls;
	uint8_t *is_missed; /* [fab_lane_at() * 16 + sl] a packet needs it, no file has it
			     */
};

/* Channels, and the switches before, between and after. */
struct plain_path {
	uint32_t n, channel[PLAIN_MAX_PATH]; /* FAB_NONE: the lane is unknown */
	uint32_t arc[PLAIN_MAX_PATH], at[PLAIN_MAX_PATH + 1];
	bool arrives;
};

/* Measure the graph; routes must have faults and lanes below PLAIN_LANES. */
void plain_init(struct plain *x, const struct fab_routes *r, enum fab_ends ends);
void plain_fini(struct plain *x);
/* Fill got, vls, sls, load, reach: of got.cycle only the length, no lists. */
void plain_analysis(struct plain *x);

/* The arc of a switch behind one of its ports, their number: none. */
uint32_t plain_arc_of(const struct fab_fabric *f, uint32_t sw, uint32_t port);
bool plain_arc_is_live(const struct fab_routes *r, uint32_t sw, uint32_t arc);
struct plain_path plain_walk(const struct plain *x, uint32_t from, uint32_t column,
			     unsigned sl);
bool plain_has_valley(const struct plain *x, const struct plain_path *p);
