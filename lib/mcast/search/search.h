/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search for trees of low loads behind `balanced` and `optimal`: prices of cables,
 * cheap trees for one group at these prices, and the two searches over all groups.
 */
#pragma once

#include "base/arena.h"
#include "mcast/engine/state.h"

/* Room in an arena for a list (FAB_VEC) that never grows beyond n entries. */
#define FAB_ROOM(arena, list, n)                                                         \
	((list)->v = fab_arena_alloc((arena), (n), sizeof(*(list)->v)), (list)->cap = (n))

/*
 * Price of a cable for a tree: the higher, the nearer its load is to a target, and much
 * higher where it would exceed it. A cable one group nearer to the target costs four
 * times as much, but never less than a floor, so that of trees over empty cables the
 * smaller is cheaper. Each cable may have a factor of its own, which rises while more
 * trees use it than the target allows (McMurchie and Ebeling, "PathFinder: a
 * negotiation-based performance-driven router for FPGAs", 1995).
 *
 * With weights (mcast/weights.h) demands over capacity take the place of groups: the step
 * of four is the mean load that a group adds.
 */
struct fab_prices {
	const struct fab_mcast_state *state;
	const uint32_t *load; /* of the state, without the group at hand */
	double *by_load;      /* [n] of one group more; those above cost as the last */
	uint32_t n, target;
	double *factor; /* [n_switch_links]; NULL: 1 each */
	/* with weights */
	uint64_t group_units;	/* of the group at hand */
	double limit, per_step; /* largest level that is allowed; 1 / step */
	double over;		/* price of the first step above it */
	double *by_gap;		/* [] by parts of a step below it; NULL: no weights */
};

/* The target 1 for a state, borrowed, with its weights if there are any. O(1). */
void fab_prices_init(struct fab_prices *prices, const struct fab_mcast_state *state);
void fab_prices_fini(struct fab_prices *prices);
/* With weights: prices are for this group, not in the loads, from now on. O(1). */
void fab_prices_set_group(struct fab_prices *prices, uint32_t group);
/* Prices for a target that is not to be exceeded: a tree that would do so on one cable
 * costs more than any other, one that exceeds a level above it already more than
 * any number of those. O(target). */
void fab_prices_set_limit(struct fab_prices *prices, double target);
/* Prices for a target that may be exceeded: each group in excess costs `excess` more.
 * O(target). */
void fab_prices_set_target(struct fab_prices *prices, double target, double excess);
/* Prices that rise smoothly with the load, so that trees of few cables are cheap: an
 * empty cable costs 1, one that reaches the largest load `max` eleven times as much.
 * O(max). */
void fab_prices_set_smooth(struct fab_prices *prices, double max);

/* All factors are 1; and those of cables above a level rise, by `step` for each unit of
 * the excess. O(cables). */
void fab_prices_reset_factors(struct fab_prices *prices);
void fab_prices_raise_factors(struct fab_prices *prices, double level, double step);

/* The level (fab_mcast_level()) of a cable with the group at hand on it, too. O(1). */
static inline double fab_prices_level(const struct fab_prices *p, uint32_t cable)
{
	const struct fab_mcast_state *s = p->state;

	return s->units ? (double)(s->units[cable] + p->group_units) *
				  s->problem->weights->per_unit[cable]
			: s->load[cable] + 1;
}

/* Parts of a step, and steps below the target, that have prices of their own. */
enum { FAB_PRICES_PARTS = 16, FAB_PRICES_STEPS = 16 };

/* The price of a cable with the group at hand on it. Inline: the innermost loop of all
 * searches. O(1). */
static inline double fab_price(const struct fab_prices *p, uint32_t cable)
{
	double price, steps;

	if (!p->by_gap) {
		uint32_t load = p->load[cable];

		price = p->by_load[load < p->n ? load : p->n - 1];
	} else {
		steps = (p->limit - fab_prices_level(p, cable)) * p->per_step;
		if (steps < 0)
			price = p->over * (1 - steps);
		else
			price = p->by_gap[steps < FAB_PRICES_STEPS
						  ? (int)(steps * FAB_PRICES_PARTS)
						  : FAB_PRICES_PARTS * FAB_PRICES_STEPS];
	}
	return p->factor ? price * p->factor[cable] : price;
}

/* The sum over the cables of a tree. O(n). */
double fab_prices_sum(const struct fab_prices *prices, const uint32_t *cable, uint64_t n);

/* A tree in lists of the search that found it, valid until its next one. */
struct fab_grown {
	uint32_t n;
	const uint32_t *sw, *cable; /* [n] edge i hangs sw[i] on its parent by cable[i] */
	double price;		    /* of its cables together */
	uint64_t steps;		    /* cables that were looked at for it */
};

/*
 * A tree of minimal height that avoids full cables: level by level from the farthest
 * members towards the root, each switch is hung on the parent that costs least, where a
 * parent that several switches can share is cheap for each of them; of equal ones that
 * behind the lowest port. Stops at a price of `limit`, then the edges are not complete.
 * `sw`: the n switches of the group. O(edges * cables of a switch).
 */
struct fab_cheap_tree; /* room for one tree */
struct fab_cheap_tree *fab_cheap_tree_new(const struct fab_mcast_problem *problem,
					  struct fab_arena *arena);
struct fab_grown fab_cheap_tree_grow(struct fab_cheap_tree *tree,
				     const struct fab_prices *prices, const uint32_t *sw,
				     uint32_t n, uint32_t root, double limit);

/*
 * A cheap tree in which members may be deeper than their distance from the root, up to
 * `height`, which is at least the distance of the farthest: where rows of members lie in
 * parallel, as on a torus, it has far fewer cables than one of shortest paths.
 *
 * Members are joined one by one, the farthest from the root first (ties by `seed`), each
 * by the cheapest path to a switch of the tree that is high enough; other members on that
 * path are nearly free. A path that would end too deep runs on towards the root, and the
 * switches that it meets are hung on it from then on. Cables that are kept from another
 * tree are nearly free: only paths over others change. Without edges where it costs
 * `most` or more. O(cables within reach * log(cables)) a member.
 */
struct fab_kept {
	const uint32_t *cable; /* [n]; those that cost `least` or more are not kept */
	uint32_t n;
	double least;
	double per_hop; /* added to the price of every cable: other paths are short */
};
struct fab_deep_tree; /* room for one tree */
struct fab_deep_tree *fab_deep_tree_new(const struct fab_mcast_problem *problem,
					struct fab_arena *arena);
struct fab_grown fab_deep_tree_grow(struct fab_deep_tree *tree,
				    const struct fab_prices *prices, const uint32_t *sw,
				    uint32_t n, uint32_t root, unsigned height,
				    uint64_t seed, const struct fab_kept *kept,
				    double most);

/*
 * A short tree from the best of some roots (n_roots > 0, each a candidate): first only
 * its branches are chosen, by hops alone, where those along a longer dimension of a torus
 * or mesh cost more, for there are more of them. Members are attached one by one,
 * the farthest first, on the way between two others where that takes fewest hops. Then,
 * for the root of the shortest such plan, members near each other are taken out and
 * attached in another order, n_changes times, which stays if it is no longer (Shaw,
 * "Using constraint programming and local search methods to solve vehicle routing
 * problems", 1998). Then each way becomes the cheapest of the shortest paths. At most
 * FAB_SHORT_SWITCHES switches and FAB_SHORT_ROOTS roots. O((roots + changes) * n^2 +
 * switches between the ends of ways * cables of each).
 */
enum { FAB_SHORT_SWITCHES = 512, FAB_SHORT_ROOTS = 32 };
struct fab_grown fab_short_tree_grow(struct fab_deep_tree *tree,
				     const struct fab_prices *prices, const uint32_t *sw,
				     uint32_t n, const uint32_t *root, uint32_t n_roots,
				     uint32_t n_changes, unsigned height, uint64_t seed,
				     uint32_t *best);
/* An old tree of the switches sw[n], at most FAB_SHORT_SWITCHES, from the same root with
 * the same branches: each way becomes the cheapest of the shortest paths. O(n^2 + edges +
 * switches between the ends of ways * cables of each). */
struct fab_grown fab_same_branches_grow(struct fab_deep_tree *tree,
					const struct fab_prices *prices,
					const uint32_t *sw, uint32_t n, uint32_t root,
					const struct fab_grown *old);

/*
 * Estimates of the cheapest tree of each candidate, where none is farther than two hops
 * from a member: each member's cheapest path, a cable that several members would share
 * divided by them. In a fat tree, where a root leaves no choice but of parallel cables,
 * that is the price of its tree.
 */
struct fab_root_prices; /* room for one group */
struct fab_root_prices *fab_root_prices_new(const struct fab_mcast_problem *problem,
					    struct fab_arena *arena);
/* The `want` cheapest roots of the switches sw[n] among those in `bits`, cheapest first,
 * equal ones in an order by `seed`; writes at most `want` to `out` and returns how many:
 * 0 where a candidate is farther away (radius > 2) or it would take too long. O(n *
 * cables of a switch^2 + candidates * n). */
uint32_t fab_root_prices_best(struct fab_root_prices *room,
			      const struct fab_prices *prices, const uint32_t *sw,
			      uint32_t n, const uint64_t *bits, unsigned radius,
			      uint64_t seed, uint32_t want, uint32_t *out);

/* Trees in sequence over the loads so far: the cheapest of a few roots. Members
 * of engines that grow trees so (struct fab_mcast_engine); choose_root: O(roots tried *
 * tree + candidates). */
void *fab_greedy_new(const struct fab_mcast_problem *problem, struct fab_arena *arena);
uint32_t fab_greedy_choose_root(struct fab_mcast_state *state,
				const struct fab_roots *roots, uint32_t group);
void fab_greedy_grow(struct fab_mcast_state *state, uint32_t group);

/* Members no farther than this from the root are near it: deeper trees of another shape
 * gain little there. Is there a group that is not? O(groups). */
enum { FAB_NEAR_HOPS = 3 };
bool fab_mcast_is_far(const struct fab_mcast_state *state);

/* On a dragonfly, for groups with members in most groups of switches in the place of
 * trees of height 3: trees from one of these, the hub, by a cable to each other one, hubs
 * in turn; and other trees within one group of switches. They stay if the largest level
 * is less, else nothing changes. O(switches of the groups * hosts and cables of
 * a switch). */
void fab_hubs_try(struct fab_mcast_state *state, const struct fab_mcast_options *options);

/* Hops from the root to the farthest member of a tree; `parent` is room for all switches.
 * O(edges + members * height). */
uint8_t fab_tree_height(const struct fab_fabric *f, uint32_t root, const uint32_t *sw,
			const uint32_t *cable, uint32_t n_edges, const uint32_t *member,
			uint32_t n_members, uint32_t *parent);

/* Other trees for batches of groups. */
struct fab_reroute; /* room of each thread, and the candidates of groups */
enum fab_reroute_how {
	FAB_REROUTE_ROOTS, /* trees of several roots */
	FAB_REROUTE_DEEP,  /* trees of the old root; nothing where members are near it */
	FAB_REROUTE_SHORT, /* short trees; nothing where members are near the root */
	FAB_REROUTE_WAYS,  /* trees of the same branches; else as above */
	FAB_REROUTE_PATHS  /* other paths in the place of cables of the old tree that cost
			      `least`; nothing where members are near its root */
};
struct fab_reroute_try {
	enum fab_reroute_how how;
	double least;	    /* ROOTS: deep trees only while all cost this; PATHS */
	double per_hop;	    /* PATHS: added to the price of every cable */
	uint32_t n_changes; /* SHORT: of plans */
	uint64_t turn;	    /* seed of this round */
};
/* For the trees of a revision at these prices, both borrowed, and batches of at most
 * n_batch groups. O(as fab_roots_find() + n_batch * switches). */
struct fab_reroute *fab_reroute_new(struct fab_revision *revision,
				    const struct fab_prices *prices,
				    const struct fab_mcast_options *options,
				    uint32_t n_batch);
void fab_reroute_free(struct fab_reroute *reroute);
/* Find trees for the n groups of a batch, each at the loads without its own: side by
 * side, independent of the number of threads. O(n * roots tried * tree). */
void fab_reroute_find(struct fab_reroute *reroute, const uint32_t *group, uint32_t n,
		      const struct fab_reroute_try *how);
/* The *n cables of the tree that was found for group i of the batch; NULL: none is
 * cheaper than its own. O(1). */
const uint32_t *fab_reroute_found(const struct fab_reroute *reroute, uint32_t i,
				  uint32_t *n);
/* Give group i of the batch the tree that was found for it, if there is one that is
 * cheaper than its own at the loads of now. O(edges). */
void fab_reroute_take(struct fab_reroute *reroute, uint32_t i);
/* Cables that were looked at so far: a measure of time that repeats. O(1). */
uint64_t fab_reroute_steps(const struct fab_reroute *reroute);

/*
 * Improve the trees in `state`, which stay as low as the slack of the options allows, for
 * a largest load that is set beforehand, one less than there is: trees on cables above it
 * are taken out and grown again in turn, loads may exceed the target meanwhile, and a
 * cable that is above it for long becomes expensive (McMurchie and Ebeling 1995). When
 * none is above the target, the next one is one less.
 *
 * The result is the best forest found: the least largest load, then on fewest cables;
 * loads and uses follow. Returns the reason of the end. Depends on trees and options
 * only, unless time or is_over() stops it. O(rounds * (edges of all trees + rerouted
 * groups * (roots tried * tree))).
 */
struct fab_negotiation {
	const struct fab_mcast_options
		*options;  /* bound, seed, until, is_over, progress */
	uint64_t n_steps;  /* stop after looking at that many cables; 0: no limit */
	uint32_t n_rounds; /* give a target up after that many rounds without progress */
	uint32_t n_attempts; /* and stop after that many targets given up; from the second
				on each begins with all trees grown again */
	/* first grow all trees again at prices that hardly rise with the load: the
	 * negotiation then starts from less load in all */
	bool is_afresh;
	/* targets that seem too far away are given up at once, and where members lie far
	 * apart trees of a batch of groups are found side by side */
	bool is_hasty;
	bool is_reported; /* progress in words (base/progress.h) */
};
enum fab_mcast_ended fab_negotiate(struct fab_mcast_state *state,
				   const struct fab_negotiation *negotiation);

/*
 * Trees of the least largest level by branch and bound over all trees of all groups, for
 * problems of a few switches and groups (those on one switch do not count); larger ones
 * are not tried. Improves the trees in `state` to the least largest level
 * (fab_mcast_level()) of all trees whose heights are at most options->height_slack above
 * the least; without an improvement the trees stay. FAB_ENDED_EXACT: none are better;
 * FAB_ENDED_DONE: the problem is too large, nothing was done; FAB_ENDED_TIME and
 * FAB_ENDED_STOPPED: ended by the options, with the best trees so far. Exponential.
 */
enum { FAB_EXACT_SWITCHES = 8, FAB_EXACT_GROUPS = 8 };
enum fab_mcast_ended fab_exact_solve(struct fab_mcast_state *state,
				     const struct fab_mcast_options *options);
