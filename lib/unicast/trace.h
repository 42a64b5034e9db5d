/* SPDX-License-Identifier: BSD-2-Clause */
/* One path through forwarding tables, and everything that uses one cable. */
#pragma once

#include "base/lookup.h"
#include "unicast/path.h"

/* The end that a port stands for. ENOENT: it has no cable to a switch. O(1). */
int fab_trace_end_of(const struct fab_fabric *f, uint32_t port, struct fab_endpoint *out,
		     struct fab_err *err) FAB_MUST_CHECK;

/*
 * "FROM,TO": the two ends by any name (fabric/resolver.h; `lookup` finds ports of
 * endpoints). EINVAL, ENOENT with a sentence: what is no pair, an unknown name, an end
 * without a cable to a switch, ends on two planes, which no tables can join.
 */
int fab_trace_pair(const struct fab_fabric *f, const struct fab_lookup *lookup,
		   const char *text, struct fab_endpoint ends[2],
		   struct fab_err *err) FAB_MUST_CHECK;

/* The service level of packets from an end, FAB_SL_NONE: none, FAB_SL_UNKNOWN: no file
 * tells. O(sources). */
uint8_t fab_trace_sl(const struct fab_routes *r, const struct fab_endpoint *from,
		     uint32_t column);

/* Port ids: from where, to where; the cables of the two adapters are hops, too. */
struct fab_trace_hop {
	uint32_t out, in;
	/* between switches; FAB_VL_UNKNOWN: of the cable of an adapter, or no file tells
	 */
	unsigned vl;
};

struct fab_trace {
	FAB_VEC(struct fab_trace_hop) hops;
	unsigned sl;	     /* FAB_SL_UNKNOWN: no file tells */
	const char *stopped; /* why it goes no further; NULL: it arrives */
};

/* Follow the tables; from an end to itself there is no hop. The caller frees with
 * fab_trace_fini(). O(hops * ports of a switch). */
void fab_trace_init(struct fab_trace *trace, const struct fab_routes *r,
		    const struct fab_endpoint *from, const struct fab_endpoint *to);
void fab_trace_fini(struct fab_trace *trace);

/* One direction of a cable. */
struct fab_cable_use {
	uint32_t from;			 /* port at which packets enter the cable */
	uint64_t pairs;			 /* ports of hosts to LIDs of others */
	uint32_t n_senders, n_receivers; /* hosts */
	bool *sends, *receives;		 /* [n_hosts] */
};

/*
 * Which pairs of ports of hosts use a cable with a switch, in each direction: `use` gets
 * two directions, that from cable_a first. Pairs on one switch use no cable between
 * switches. The caller frees both. O(columns * switches).
 */
void fab_cable_use_init(struct fab_cable_use use[2], const struct fab_routes *r,
			fab_cable_id cable);
void fab_cable_use_fini(struct fab_cable_use use[2]);
