/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tables amount to, whoever made them: reachability, hops, lanes, and the exact
 * channel dependency graph (Dally, Seitz 1987: deadlock-free if it has no cycle). A
 * channel is a lane of one direction of a cable between switches; adapters end a path and
 * join no cycle.
 */
#pragma once

#include "base/mem.h"
#include "unicast/routes.h"

enum fab_ends {
	FAB_ENDS_LEAVES,   /* ordered pairs of leaf switches (kfat engines) */
	FAB_ENDS_HOSTS,	   /* end ports of host adapters */
	FAB_ENDS_ADAPTERS, /* aggregation nodes and routers, too */
	FAB_ENDS_ALL,	   /* switches' management ports, too */
};

struct fab_judge_options {
	enum fab_ends ends;
	bool with_load; /* fill load */
	int n_threads;
};

struct fab_channel {
	uint32_t sw, arc; /* leaves sw by this arc (counted from arc_first[sw]) */
	uint8_t vl;
};

struct fab_judgement {
	uint64_t pairs, connected, unreachable;
	uint64_t connected_in_graph; /* pairs that the live graph connects at all */
	uint64_t hops[256];	     /* pairs by switch-to-switch hops of their path */
	uint32_t max_hops;
	uint64_t minimal;  /* pairs whose path is as short as the live graph allows */
	unsigned vls, sls; /* that are used */
	bool deadlock_free;
	uint64_t cycle_channels;  /* in strongly connected parts of two and more */
	uint64_t pairs_on_cycles; /* whose path uses two such, one after the other */
	uint64_t valley_pairs;	  /* whose path turns from down to up (by tiers) */
	FAB_VEC(struct fab_channel) cycle; /* one shortest cycle, in order */
	uint32_t valley_at, valley_from,
		valley_to; /* first: switch, source and target switch */
	uint64_t *load;	   /* [n arcs] pairs over each cable direction; NULL */
	uint64_t max_load;
};

/* Judge. The caller ends *out. O(columns * switches + dependencies). */
int fab_judge(const struct fab_routes *routes, const struct fab_judge_options *options,
	      struct fab_judgement *out, struct fab_err *err) FAB_MUST_CHECK;
void fab_judgement_fini(struct fab_judgement *j);
