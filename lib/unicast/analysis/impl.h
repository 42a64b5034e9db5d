/* SPDX-License-Identifier: BSD-2-Clause */
/* Data shared by the parts of the analysis. */
#pragma once

#include "base/arena.h"
#include "fabric/planes.h"
#include "unicast/analysis.h"
#include "unicast/path.h"

enum {
	FAB_ANALYSIS_BLOCK = 32, /* targets whose service levels are read together */
	FAB_ANALYSIS_SLS = 16,
	FAB_ANALYSIS_DROP = 15, /* the lane of management: data on it is dropped */
};

/* Ends behind a switch, by the column that leads there; FAB_NONE: none does. */
struct fab_target {
	uint32_t root, column, weight;
	uint32_t alone; /* group of sources that is this end and no other, FAB_NONE */
};

/*
 * The channel dependency graph. Channel = arc * n_vls + lane. What follows a channel are
 * channels of the switch at its end: a row of bits, one for each of these.
 */
struct fab_cdg {
	const struct fab_fabric *f;
	uint32_t n_vls, n_channels;
	uint64_t *row_first; /* [n arcs] arcs that could follow all arcs before */
	uint64_t *bits;
	uint32_t *part; /* [n_channels] strongly connected part, FAB_NONE: alone */
	uint64_t n_in_parts;
};

struct fab_analyser {
	struct fab_arena arena;
	const struct fab_routes *r;
	const struct fab_analysis_options *options;
	uint32_t n_switches, n_arcs;
	uint8_t *direction; /* [n arcs] 1 up, 2 down, 0 neither */
	/* neighbours over live cables, each once */
	uint32_t *live_first, *live_peer;
	uint32_t (*live_pair)[2]; /* [n_live_pairs] neighbours, from both ends once */
	uint32_t n_live_pairs;
	uint32_t *weight; /* [n_switches] ends, as sources */
	/* ends of a switch by row of r->sl (FAB_NONE: SL 0) */
	uint32_t *group_first, *group_row, *group_size, *group_switch;
	uint32_t n_groups;
	FAB_VEC(struct fab_target) targets; /* by root */
	uint64_t n_ends;
	const struct fab_planes *planes;
	struct fab_planes *own_planes; /* NULL: the options have them */
	uint64_t *plane_ends;	       /* [parts] ends on each plane; 0 for other parts */
	uint64_t n_on_planes;	       /* all of these */
	/* Leaf switches whose hosts have paths of their own: some targets have no weight,
	 * and a pair is on a cycle when a path to any host of the leaf is. */
	bool has_followers;
	uint32_t *leaf_number; /* [n_switches] of targets' roots */
	uint64_t *on_cycle;    /* bits [leaf number * n_switches + source] */
	bool has_none;	       /* some pair has no service level */
	bool has_unknown;      /* of some pair it is not known */
	uint32_t *end;	       /* [n_ports] switch of each end, FAB_NONE; NULL: leaves */
	/* [fab_lane_at() * n_sls + sl] a packet needs a lane that no file contains; NULL:
	 * none is missing */
	uint8_t *is_missed;
	/* r->sl2vl with as many levels as pairs have: what is used stays near */
	uint32_t n_sls;
	uint8_t *lane;
	uint32_t levels; /* bits: that the tables name at all */
	struct fab_cdg cdg;
};

/* Working memory of a thread. */
struct fab_analysis_work {
	struct fab_arena arena;
	struct fab_walk walk; /* of the target at hand */
	uint16_t *hops;	      /* [n_switches] of it */
	uint32_t root;	      /* of the target that dist is of; FAB_NONE: none yet */
	uint32_t *dist;	      /* [n_switches] hops in the live graph */
	uint64_t in_graph;    /* ends that the live graph connects with one at the root */
	uint8_t *sl;	      /* [n_groups] of it, in block_sl */
	uint8_t *block_sl;    /* [BLOCK * n_groups] of the targets from `block` on */
	size_t block;	      /* SIZE_MAX: none yet */
	uint32_t *senders;    /* [n_switches] ends that send to the target at hand */
	/* [n_switches] service levels, bits: those of its own ends, and from bit 16 on
	 * those that leave it */
	uint32_t *mask;
	/* [n_switches * SLS] lanes on which such a level leaves the switch; on cycles:
	 * one lane of each level */
	uint16_t *lanes;

	uint64_t without_sl;
	struct fab_analysis sum; /* what fab_analysis_add() adds, but pairs */
	uint32_t vls, sls;	 /* bits */
	uint64_t *load, *flow;
	/* first target with a valley, with an unreachable source; SIZE_MAX */
	size_t valley_target, unreachable_target;
	bool drops;
};

/* Ends on other planes than a switch: there is no traffic between planes. */
static inline uint64_t fab_analysis_ends_beside(const struct fab_analyser *j, uint32_t sw)
{
	uint32_t part = j->planes->of_switch[sw];

	return j->planes->v[part].is_plane ? j->n_on_planes - j->plane_ends[part] : 0;
}

/* fab_routes_vl() for levels that pairs have. */
static inline unsigned fab_analysis_vl(const struct fab_analyser *j, uint32_t sw,
				       uint32_t in, uint32_t out, unsigned sl)
{
	uint64_t entry = (uint64_t)in * (fab_degree(j->r->f, sw) + 1) + out;

	if (j->r->lanes == FAB_LANES_ONE)
		return 0;
	if (j->r->lanes == FAB_LANES_SL)
		return sl;
	entry += j->r->vl_first[sw] / FAB_ANALYSIS_SLS;
	return j->lane[entry * j->n_sls + sl];
}

static inline const uint16_t *fab_analysis_next(const struct fab_analyser *j,
						const struct fab_target *target)
{
	return fab_routes_next(j->r, target->column);
}

/* The switch at which an end hangs, by options and faults; FAB_NONE: it is no end, or
 * dead. O(1). */
uint32_t fab_analysis_end_switch(const struct fab_analyser *j, uint32_t port);
/* Fill weight, targets, n_ends, planes, end and the groups. */
void fab_analysis_find_targets(struct fab_analyser *j);
void fab_analyser_fini(struct fab_analyser *j);

void fab_cdg_init(struct fab_cdg *g, const struct fab_fabric *f, uint32_t n_vls);
void fab_cdg_fini(struct fab_cdg *g);
/* Fill part and n_in_parts (Tarjan 1972). O(channels + bits / 64 + dependencies). */
void fab_cdg_find_parts(struct fab_cdg *g);
/* A shortest cycle; channels in order, *n of them. The caller frees. */
uint32_t *fab_cdg_shortest_cycle(const struct fab_cdg *g, uint32_t *n);

/* Follow the tables of a target: hops and walk. False: nothing leads there. */
bool fab_analysis_follow(const struct fab_analyser *j, const struct fab_target *target,
			 struct fab_analysis_work *w);
/* w->sl becomes the service levels of the sources to target `at`; those of its block are
 * read together, as they lie side by side. */
void fab_analysis_gather_sls(const struct fab_analyser *j, size_t at,
			     struct fab_analysis_work *w);
/* A service level that is a number. */
static inline bool fab_analysis_is_level(uint8_t sl)
{
	return sl < FAB_ANALYSIS_SLS;
}

/* Count and name what is missing; pairs without a service level are counted already. */
void fab_analysis_find_gaps(const struct fab_analyser *j, struct fab_analysis_work *w,
			    struct fab_analysis *out);
/* Count and collect dependencies for a target. */
void fab_analysis_work_on(struct fab_analyser *j, size_t target,
			  struct fab_analysis_work *w);
/* Name valleys and those who do not arrive. */
void fab_analysis_name_pairs(const struct fab_analyser *j, struct fab_analysis_work *w,
			     struct fab_analysis *out);
/* Count pairs towards a target whose paths are on cycles. */
void fab_analysis_find_on_cycles(const struct fab_analyser *j, size_t target,
				 struct fab_analysis_work *w);
