/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast trees: the problem, the algorithms ("engines"), the trees of all groups, and
 * figures of them: loads of cables, heights, explanations, verification.
 *
 * An engine grows trees group by group (a rule that picks the root among a group's
 * candidates, and grow()), or solves all groups at once (solve()), or both: then it
 * revises what was grown. Trees are of minimal height unless the engine says otherwise.
 */
#pragma once

#include <stdbool.h>

#include "base/choice.h"
#include "base/mem.h"
#include "base/progress.h"
#include "fabric/dist.h"
#include "fabric/shape.h"
#include "mcast/groups.h"
#include "mcast/roots.h"
#include "mcast/weights.h"

/* Input shared by all engines of a run. */
struct fab_mcast_problem {
	const struct fab_fabric *f;
	const struct fab_dist *dist;
	const struct fab_groups *groups;
	/* used by engines that balance weighted loads; NULL: every group and cable counts
	 * 1 */
	const struct fab_weights *weights;
	const struct fab_roots *roots; /* of all groups; NULL: found when needed */
	const struct fab_shape *shape; /* of the fabric; NULL: recognised when needed */
};

/* The shape of the fabric: the problem's, or else recognised, which the caller frees from
 * *own (NULL: nothing to free). As fab_shape_recognize(). */
const struct fab_shape *fab_mcast_shape(const struct fab_mcast_problem *problem,
					struct fab_shape **own);

/*
 * Trees of many groups in flat arrays. The tree of group i has the switch root[i] and
 * fab_forest_size() more, each with the cable to its parent: sw[e] and cable[e] for e in
 * first[i] .. first[i+1]-1. The parent is the switch at the other end of the cable. Edges
 * come in no particular order.
 */
struct fab_forest {
	uint32_t n;
	uint32_t *root;	 /* [n] */
	uint8_t *height; /* [n] switch hops from the root to the farthest member's switch
			  */
	uint64_t *first; /* [n + 1] */
	uint32_t *sw, *cable;
	uint64_t cap;
};

/* An empty forest for n groups, without roots: trees are added then. O(size). */
void fab_forest_init(struct fab_forest *forest, uint32_t n);
void fab_forest_fini(struct fab_forest *forest);
/* Make room for `more` edges behind the first `at`. Amortised O(1) an edge. */
void fab_forest_reserve(struct fab_forest *forest, uint64_t at, uint64_t more);
/* Cables of the tree of a group. O(1). */
static inline uint32_t fab_forest_size(const struct fab_forest *forest, uint32_t group)
{
	return (uint32_t)(forest->first[group + 1] - forest->first[group]);
}

/* Reason for which an engine that improves trees stopped. */
enum fab_mcast_ended {
	FAB_ENDED_DONE,	   /* its work is done */
	FAB_ENDED_BOUND,   /* a lower bound is reached */
	FAB_ENDED_EXACT,   /* all trees of the heights allowed were compared */
	FAB_ENDED_STALL,   /* no move improves the trees */
	FAB_ENDED_TIME,	   /* time limit: more time may give better trees */
	FAB_ENDED_STOPPED, /* stopped by is_over(): the trees are sound */
	FAB_ENDED_FAILED   /* stopped by progress(): there is no result */
};

/* "done", "bound", "exact", "stall", "time", "interrupt". O(1). */
const char *fab_mcast_ended_name(enum fab_mcast_ended ended);

struct fab_mcast_options {
	int n_threads; /* 0: as many as OpenMP gives */
	enum fab_root_ties root_ties;
	uint32_t bound;		  /* lower bound of the largest load; 0: not known */
	double load_bound;	  /* the same of weighted loads */
	fab_progress_fn progress; /* may be NULL */
	void *progress_context;
	unsigned
		height_slack; /* hops above the minimal height, of engines that take it */
	uint64_t seed;
	/* `optimal` without `until`: seconds from its first trees on; 0: no limit */
	double time_limit_s;
	double until; /* searches stop at this time (fab_now()); 0: no limit */
	/* trees of this problem that searches start from, instead of a search without
	 * height_slack; none higher than that allows. NULL: none */
	const struct fab_forest *start;
	/* called when all first trees exist and searches begin; may be NULL */
	void (*begin_search)(void);
	/* called once, after some work, by engines above `bound`: a larger one that takes
	 * long to find; `until` this time (fab_now()), 0: no limit. May be NULL */
	uint32_t (*raise_bound)(void *context, double until);
	void *raise_bound_context;
	/* called after each tree, by any thread: stop with the trees so far? May be NULL
	 */
	bool (*is_over)(void *context);
	void *is_over_context;
};

/* Is the time of a search over (FAB_ENDED_TIME), or was it asked to stop
 * (FAB_ENDED_STOPPED)? FAB_ENDED_DONE: neither. Any thread. O(1). */
enum fab_mcast_ended fab_mcast_why_over(const struct fab_mcast_options *options);
static inline bool fab_mcast_is_over(const struct fab_mcast_options *options)
{
	return fab_mcast_why_over(options) != FAB_ENDED_DONE;
}

/* Value that the chosen root has least of. */
enum fab_root_rule {
	FAB_ROOT_FIRST,		/* switch id */
	FAB_ROOT_LEAST_USED,	/* groups rooted there so far */
	FAB_ROOT_LEAST_ADJACENT /* sum of loads on its cables */
};

struct fab_mcast_state; /* mcast/engine/state.h */
struct fab_arena;

struct fab_mcast_engine {
	const char *name;
	const char *summary;
	const char *manual; /* as in struct fab_choice */
	enum fab_root_rule root_rule;
	bool is_in_all; /* in `--algorithm all`, and a baseline of engines that revise */
	/* Can its trees be better than those of all engines of `all`? Then it is a
	 * baseline, too. NULL: no. */
	bool (*is_baseline)(const struct fab_mcast_problem *problem);
	bool may_be_higher; /* its trees need not be of minimal height */
	bool takes_slack;   /* it uses height_slack of the options */
	/* Scratch of the engine in the arena of its state. NULL: none. */
	void *(*scratch_new)(const struct fab_mcast_problem *problem,
			     struct fab_arena *arena);
	/* Chooses the root of `group`, which `roots` has candidates for: any switch that
	 * the members can be reached from. NULL: by root_rule. */
	uint32_t (*choose_root)(struct fab_mcast_state *state,
				const struct fab_roots *roots, uint32_t group);
	/* Grows the tree of `group` from forest.root[group]: calls fab_mcast_join() for
	 * every edge; mark/stamp are fresh but for the root. NULL: solve() only. */
	void (*grow)(struct fab_mcast_state *state, uint32_t group);
	/* Changes the trees that were grown, or without grow() makes all. Non-zero:
	 * progress stopped it; the trees are sound. NULL: nothing. */
	int (*solve)(const struct fab_mcast_problem *problem,
		     struct fab_mcast_state *state,
		     const struct fab_mcast_options *options);
};

/* All engines, in the order in which they are documented; and by name (NULL: none has
 * it). O(engines). */
extern const struct fab_mcast_engine *const fab_mcast_engines[];
extern const size_t fab_mcast_n_engines;
extern const struct fab_choices fab_mcast_choices;
const struct fab_mcast_engine *fab_mcast_engine_find(const char *name, size_t len);

struct fab_mcast_result {
	const struct fab_mcast_engine *engine;
	struct fab_forest forest;
	uint32_t *load;	  /* [n_switch_links] EFI of every switch-to-switch cable */
	double *weighted; /* [n_switch_links] weighted loads; NULL without weights */
	double trees_seconds;
	enum fab_mcast_ended ended;
	unsigned height_slack; /* hops that trees may be higher than the least */
};

/*
 * Route all groups: result[i] is that of engine[i]; the caller frees each with
 * fab_mcast_result_fini(). *roots_seconds: time of finding candidates. Independent of the
 * number of threads: engines run side by side, groups of one engine in their order.
 * ECANCELED when progress stops it (then there is nothing to free). O(per group: as its
 * engine; candidates as fab_roots_find()).
 */
int fab_mcast_route(const struct fab_mcast_problem *problem,
		    const struct fab_mcast_engine *const *engines, size_t n_engines,
		    const struct fab_mcast_options *options,
		    struct fab_mcast_result *results, double *roots_seconds,
		    struct fab_err *err) FAB_MUST_CHECK;
void fab_mcast_result_fini(struct fab_mcast_result *result);

/* Loads of a routing: the edge forwarding index (EFI) of every cable. */
struct fab_efi {
	uint32_t max;	   /* over switch-to-switch cables */
	uint32_t max_all;  /* host cables too */
	double mean;	   /* over all switch-to-switch cables, unused ones too */
	uint32_t n_at_max; /* switch-to-switch cables with the largest EFI; 0 if that is 0
			    */
	uint32_t max_height; /* switch hops */
	uint64_t tree_links; /* switch-to-switch, summed over groups */
	/* weighted load of a switch-to-switch cable, NaN without weights */
	double max_load, mean_load;
};

/* O(cables + members). */
void fab_efi_of(const struct fab_mcast_problem *problem,
		const struct fab_mcast_result *result, struct fab_efi *out);
/* count[e]: switch-to-switch cables of EFI e, e = 0 .. max; the caller frees. O(cables).
 */
uint32_t *fab_efi_histogram(const struct fab_fabric *f, const uint32_t *load,
			    uint32_t max);
/*
 * The `want` fullest switch-to-switch cables that are used, fullest first, then by cable
 * id; by their weighted loads unless `weighted` is NULL. Writes at most `want` ids to
 * `out`, returns how many. O(cables log want).
 */
uint32_t fab_efi_fullest(const struct fab_fabric *f, const uint32_t *load,
			 const double *weighted, uint32_t want, uint32_t *out);

/*
 * Rate of data that all trees carry at once: the least share of a cable that trees use,
 * hosts' cables included: its data rate, or with is_signalling its nominal one, over the
 * trees on it. load: [switch links] of a result. default_mbps replaces unknown rates.
 * INFINITY: no tree uses a cable. O(cables + members).
 */
double fab_mcast_slowest_mbps(const struct fab_mcast_problem *problem,
			      const uint32_t *load, double default_mbps,
			      bool is_signalling);

/* A cable of a tree, from a switch to its parent. */
struct fab_tree_link {
	uint32_t sw, parent, cable;
	uint32_t depth;	    /* hops from the root to sw */
	uint32_t load;	    /* groups on the cable, this one included */
	uint32_t n_choices; /* cables from sw to switches as near to the root as parent */
	uint32_t least;	    /* the least load of these, as if the group were on it */
	uint32_t n_members; /* members of the group whose switch is sw or below it */
};

/* A tree compared with its alternatives. */
struct fab_explained {
	uint32_t root;
	uint32_t n_candidates;		    /* switches as near to all members as any */
	bool is_candidate;		    /* the root is one of them */
	uint32_t radius;		    /* their hops to the farthest member */
	uint32_t n_rooted;		    /* groups with this root */
	uint32_t least_rooted;		    /* of a candidate, the least */
	FAB_VEC(struct fab_tree_link) link; /* by depth, then switch */
};

/* *out is freed by fab_explained_fini(). O(switches * switches of the group + groups +
 * edges * cables of a switch + members * height). */
void fab_mcast_explain(const struct fab_mcast_problem *problem,
		       const struct fab_mcast_result *result, uint32_t group,
		       struct fab_explained *out);
void fab_explained_fini(struct fab_explained *explained);

/* A group on a cable, and the end of the cable that is farther from the root. */
struct fab_sharer {
	uint32_t group, sw;
};

/* The groups on a cable, in their order: as many as its load, [*n], the caller frees.
 * O(edges of all trees). */
struct fab_sharer *fab_mcast_sharers(const struct fab_mcast_result *result,
				     uint32_t cable, uint32_t *n);

/*
 * Groups that share multicast LIDs. A switch holds as many multicast LIDs as its table
 * has rows (SwitchInfo MulticastFDBCap, often 1024), and the least of all switches
 * counts. OpenSM 3.3.23 gives every group an MLID of its own and refuses a group when
 * none is left; only IPv6 solicited-node groups share one (consolidate_ipv6_snm_req).
 * Groups that share an MLID have one tree over the members of all of them, and each sends
 * along the whole of it.
 *
 * Number m of *out has the members of the groups m, m + n_mlids, m + 2 n_mlids and so on,
 * n_mlids > 0, and the name of the first. The caller frees *out with fab_groups_free().
 * EINVAL when members of groups that would share are not connected. O(members + ports).
 */
int fab_groups_share(const struct fab_fabric *f, const struct fab_groups *groups,
		     uint32_t n_mlids, struct fab_groups **out,
		     struct fab_err *err) FAB_MUST_CHECK;
/* Largest EFI of a switch-to-switch cable, counted in groups, not in trees: `result`
 * routes what fab_groups_share() made of n_groups groups. O(tree edges + cables). */
uint32_t fab_shared_max_efi(const struct fab_fabric *f,
			    const struct fab_mcast_result *result, uint32_t n_groups,
			    uint32_t n_mlids);

/*
 * Check every tree without using anything that the engines used: its edges are cables
 * between switches, each switch but the root has exactly one to its parent, every
 * member's switch is in it, walking up from every switch ends at the root, the farthest
 * member is `height` hops down the tree, no switch of the fabric is nearer to all members
 * than that (unless trees may be higher), and the loads, weighted ones too, are the sums
 * over the trees. Distances are checked against plain searches from the roots. EPROTO
 * with a sentence that names the group and the fault. O(tree edges * height + switches *
 * (distinct groups' switches + roots)).
 */
int fab_mcast_verify(const struct fab_mcast_problem *problem,
		     const struct fab_mcast_result *result,
		     struct fab_err *err) FAB_MUST_CHECK;
