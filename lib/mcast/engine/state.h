/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For engines: the state between two groups, trees that are taken out and put in, the
 * table of engines, and what they share.
 */
#pragma once

#include "base/arena.h"
#include "mcast/route.h"

struct fab_mcast_state {
	const struct fab_mcast_problem *problem;
	uint32_t *load;	    /* [n_switch_links] groups on each cable: its EFI so far */
	uint64_t *units;    /* [n_switch_links] their demands; NULL without weights */
	uint32_t *root_use; /* [n_switches] groups rooted there */
	uint32_t *adjacent; /* [n_switches] sum of the loads of its cables; NULL: not used
			       by the engine */
	uint32_t *mark;	    /* [n_switches] == stamp: in the tree being grown */
	uint32_t stamp;
	/* load of the fullest cable, where trees come and go (mcast/live.h); NULL: trees
	 * are only added, or it is not known */
	const uint32_t *largest;
	struct fab_forest forest;
	uint64_t n_edges; /* of the groups so far and the one being grown */
	enum fab_mcast_ended ended;
	enum fab_root_ties ties;
	struct fab_arena arena; /* of its arrays but the forest, and of scratch */
	void *scratch;		/* of the engine */
};

/* No load, no root used, an empty forest of all groups. O(switches + cables). */
void fab_mcast_state_init(struct fab_mcast_state *s,
			  const struct fab_mcast_problem *problem,
			  const struct fab_mcast_engine *engine);
void fab_mcast_state_fini(struct fab_mcast_state *s);

/* Hang switch `sw` onto its parent by `cable`. O(1). */
static inline void fab_mcast_join(struct fab_mcast_state *s, uint32_t sw, uint32_t cable)
{
	s->mark[sw] = s->stamp;
	s->forest.sw[s->n_edges] = sw;
	s->forest.cable[s->n_edges++] = cable;
}

/* Is the switch in the tree of the group at hand? O(1). */
static inline bool fab_mcast_is_joined(const struct fab_mcast_state *s, uint32_t sw)
{
	return s->mark[sw] == s->stamp;
}

/* The level that is balanced: the groups on a cable, or with weights their demands over
 * its capacity. O(1). */
static inline double fab_mcast_level(const struct fab_mcast_state *s, uint32_t cable)
{
	return s->units ? (double)s->units[cable] * s->problem->weights->per_unit[cable]
			: s->load[cable];
}

/* The root by the engine's rule or its own choice. O(switches), as the engine. */
uint32_t fab_mcast_choose_root(struct fab_mcast_state *s,
			       const struct fab_mcast_engine *engine,
			       const struct fab_roots *roots, enum fab_root_ties ties,
			       uint32_t group);
/* Members of engines with roots of least mean distance, of equal ones that used least
 * often: the beginning of their scratch. O(members + switches of the group * switches).
 */
struct fab_mean {
	uint64_t *nearest;   /* candidates with the least sum, a bit each */
	uint32_t *sw;	     /* [n_switches] candidates */
	uint32_t *sum;	     /* [stride of rows] hops of each to all members */
	uint32_t *n_members; /* [n_switches] of the group at hand */
};
void *fab_mean_new(const struct fab_mcast_problem *problem, struct fab_arena *arena);
uint32_t fab_mean_choose_root(struct fab_mcast_state *s, const struct fab_roots *roots,
			      uint32_t group);
/* Grow the tree of `group` from `root` behind the edges so far, and count it in the loads
 * and uses. `roots` has its candidates. As the engine. */
void fab_mcast_state_grow(struct fab_mcast_state *s,
			  const struct fab_mcast_engine *engine,
			  const struct fab_roots *roots, uint32_t group, uint32_t root);
/* Add a tree to the loads and uses (sign 1), or subtract it (-1): its root and the cables
 * of its edges. O(edges). */
void fab_mcast_state_count(struct fab_mcast_state *s, uint32_t group, uint32_t root,
			   const uint32_t *cable, uint64_t n_edges, int sign);

/* The largest level, and its lower bound by the options. O(cables), O(1). */
double fab_mcast_max_level(const struct fab_mcast_state *s);
double fab_mcast_bound_of(const struct fab_mcast_problem *problem,
			  const struct fab_mcast_options *options);
/* Was a search ended by its time, by is_over() or by progress? O(1). */
static inline bool fab_mcast_was_stopped(enum fab_mcast_ended ended)
{
	return ended == FAB_ENDED_TIME || ended == FAB_ENDED_STOPPED ||
	       ended == FAB_ENDED_FAILED;
}
/*
 * For solve(): trees of groups are taken out and put in, in any order and any number of
 * times; loads and uses of the state follow. From begin to end the forest of the state is
 * read by these functions only.
 */
struct fab_revision {
	struct fab_mcast_state *s;
	uint32_t *n_edges; /* [groups]; the tree of g begins at forest.first[g] */
};

/* O(groups). */
struct fab_revision fab_revision_begin(struct fab_mcast_state *s);
/* Edges in the order of the groups again. O(groups + edges). */
void fab_revision_end(struct fab_revision *r);
/* The current trees, in the order of the groups, in a forest that is empty (zeroed) or
 * has an earlier copy. O(groups + edges). */
void fab_revision_copy(const struct fab_revision *r, struct fab_forest *out);
/* Release the room of trees that were replaced, if that is most of it; borrowed lists
 * end. Amortised O(edges put). */
void fab_revision_tidy(struct fab_revision *r);
/* Put in the tree of a copy in the place of that of the group. O(edges). */
void fab_revision_restore(struct fab_revision *r, uint32_t group,
			  const struct fab_forest *copy);

/* [size] cables of the tree and the switches that they join to their parents, borrowed
 * until the next put. O(1). */
static inline uint32_t fab_revision_size(const struct fab_revision *r, uint32_t group)
{
	return r->n_edges[group];
}
static inline const uint32_t *fab_revision_cables(const struct fab_revision *r,
						  uint32_t group)
{
	return r->s->forest.cable + r->s->forest.first[group];
}
static inline const uint32_t *fab_revision_switches(const struct fab_revision *r,
						    uint32_t group)
{
	return r->s->forest.sw + r->s->forest.first[group];
}

/* Take the tree out of the loads and uses: it can still be read, and put back. O(edges).
 */
void fab_revision_take_out(struct fab_revision *r, uint32_t group);
void fab_revision_put_back(struct fab_revision *r, uint32_t group);
/* Give a group that has no tree in the loads this one: n switches, each with the cable to
 * its parent. Amortised O(n). */
void fab_revision_put(struct fab_revision *r, uint32_t group, uint32_t root,
		      uint8_t height, uint32_t n, const uint32_t *sw,
		      const uint32_t *cable);

/* Replace the trees of the state by these of all groups. O(edges). */
void fab_mcast_state_start(struct fab_mcast_state *s, const struct fab_forest *trees);
/* Copy its trees to a forest that is empty (zeroed). O(edges). */
void fab_mcast_state_copy_trees(struct fab_mcast_state *s, struct fab_forest *out);

/* An engine at work; it has grow(). */
struct fab_mcast_grower {
	const struct fab_mcast_engine *engine;
	struct fab_mcast_state *state; /* as after fab_mcast_state_init() */
	double cap;    /* stop at a level (fab_mcast_level()) as large; 0: none is */
	bool is_trial; /* only loads and uses are kept, no trees */
	bool may_stop; /* by the options' is_over() and until */
	bool is_over;  /* stopped: the rest is not grown */
	double seconds;
};

/*
 * Grow the trees of all groups by some engines side by side, which share distances and
 * root candidates; these are found where the problem has none, and *roots_seconds grows
 * by the time for that. Non-zero: progress stopped it. Trees do not depend on the number
 * of threads. O(per group: as its engine; candidates as fab_roots_find()).
 */
int fab_mcast_grow(const struct fab_mcast_problem *problem,
		   struct fab_mcast_grower *growers, size_t n_growers,
		   const struct fab_mcast_options *options, double *roots_seconds);
/*
 * Replace the trees in `state` by those of the baseline (engine of `all`) whose largest
 * level is the smallest, if it is smaller than theirs and these do not reach the bound.
 * Engines stop at the first tree that shows they are no better. True: replaced. As the
 * engines, side by side.
 */
bool fab_mcast_adopt_baseline(const struct fab_mcast_problem *problem,
			      struct fab_mcast_state *state,
			      const struct fab_mcast_options *options);

/* The engines in the order in which they are documented, fab_mcast_<row>: a file adds its
 * row here. */
#define FAB_MCAST_ENGINES(ROW)                                                           \
	ROW(minihop)                                                                     \
	ROW(minihop_new)                                                                 \
	ROW(minihop_mean)                                                                \
	ROW(sssp)                                                                        \
	ROW(sssp_new)                                                                    \
	ROW(sssp_mean)                                                                   \
	ROW(fulb)                                                                        \
	ROW(fulb_links)                                                                  \
	ROW(fulb_mean)                                                                   \
	ROW(fulb_local)                                                                  \
	ROW(opensm)                                                                      \
	ROW(balanced)                                                                    \
	ROW(optimal)

#define FAB_DECLARE(row) extern const struct fab_mcast_engine fab_mcast_##row;
FAB_MCAST_ENGINES(FAB_DECLARE)
#undef FAB_DECLARE
