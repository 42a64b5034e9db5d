/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/greedy.h"

#include "base/batches.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/threads.h"
#include "mcast/cheap_tree.h"
#include "mcast/choose.h"
#include "mcast/prices.h"
#include "mcast/state.h"
#include "mcast/view.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Roots by chance that are tried beside one of little load and one of little use: of
 * groups that are grown side by side the first takes the least, the next one the next
 * and so on; where they are many, the least among so many by chance, which is quicker. */
enum { DRAWN_ROOTS = 2, SAMPLE = 16, MANY = FAB_BATCH_MOST };

/* Where members lie farther than this from the root and there are so many groups, all
 * trees are grown again from others (mcast/negotiate.h): one root is enough before. */
enum { NEAR = 3, HASTE = 1000 };

/* Groups grown side by side: some at first, one more for so many that have their tree, or
 * for fewer where trees will be grown again anyway, as long as few are outdated by the
 * others; so many may be in any case. */
enum { FIRST = 4, SHARE = 32, SHARE_HASTE = 4, LEAST = 8 };

/* What a group costs, for each switch with members: less than it does, for batches are
 * too small in short work for threads to be worth it. */
enum { STEPS_MEMBER = 256 };

/* One whose tree has become so many times as expensive meanwhile takes another. */
static const double DEARER = 2;

/* A tree of a group that is not counted yet. */
struct held {
	uint32_t group, root; /* root FAB_NONE: none */
	double price;
	FAB_VEC(uint32_t) sw, cable;
};

/* One that grows trees. */
struct lane {
	struct fab_cheap_tree *tree;
	struct fab_prices prices; /* for the group at hand */
	uint64_t *room;		  /* [n_switches] */
	/* of several: the loads before the batch at hand, of the groups before n_seen */
	struct fab_mcast_state view;
	uint32_t n_seen;
};

struct greedy {
	const struct fab_mcast_problem *problem;
	struct fab_prices prices; /* none before the first tree */
	struct fab_prices before; /* of several lanes: those before the batch at hand */
	double max;		  /* largest level (fab_mcast_level()) so far */
	FAB_VEC(struct lane) lane;
	struct held own;	    /* the tree that was chosen last */
	FAB_VEC(struct held) batch; /* those grown side by side */
};

static void add_lanes(struct greedy *x, size_t n)
{
	while (x->lane.n < n) {
		struct lane lane = {.tree = fab_cheap_tree_new(x->problem)};

		lane.room = FAB_NEW(x->problem->f->n_switches, uint64_t);
		FAB_PUSH(&x->lane, lane);
	}
}

void *fab_greedy_new(const struct fab_mcast_problem *problem)
{
	struct greedy *x = FAB_NEW0(1, struct greedy);

	x->problem = problem;
	x->own.root = FAB_NONE;
	add_lanes(x, 1);
	return x;
}

static void free_held(struct held *h)
{
	free(h->sw.v);
	free(h->cable.v);
}

void fab_greedy_free(void *scratch)
{
	struct greedy *x = scratch;

	if (!x)
		return;
	for (size_t i = 0; i < x->lane.n; i++) {
		fab_cheap_tree_free(x->lane.v[i].tree);
		free(x->lane.v[i].room);
	}
	for (size_t i = 0; i < x->batch.n; i++)
		free_held(&x->batch.v[i]);
	free_held(&x->own);
	fab_prices_fini(&x->prices);
	fab_prices_fini(&x->before);
	free(x->lane.v);
	free(x->batch.v);
	free(x);
}

/* The prices as they are now. */
static const struct fab_prices *prices_now(struct fab_mcast_state *s)
{
	struct greedy *x = s->scratch;

	if (!x->prices.load)
		fab_prices_of(&x->prices, s);
	return &x->prices;
}

/* Those, for a group. */
static void set_prices(struct fab_mcast_state *s, struct lane *lane, uint32_t group)
{
	lane->prices = *prices_now(s);
	fab_prices_set_group(&lane->prices, group);
}

/* Those before the batch, for a group, over what the lane has in view. */
static void set_prices_before(const struct greedy *x, struct lane *lane, uint32_t group)
{
	lane->prices = x->before;
	lane->prices.load = lane->view.load;
	lane->prices.state = lane->prices.state ? &lane->view : NULL;
	fab_prices_set_group(&lane->prices, group);
}

/* The tree of a root in the place of what is held, where it is cheaper. */
static void try_root(const struct greedy *x, struct lane *lane, uint32_t root,
		     struct held *h)
{
	const struct fab_groups *g = x->problem->groups;
	struct fab_grown tree = fab_cheap_tree_grow(
		lane->tree, &lane->prices, g->sw + g->sw_first[h->group],
		fab_group_n_switches(g, h->group), root, h->price);

	if (tree.price >= h->price)
		return;
	h->price = tree.price;
	h->root = root;
	h->sw.n = h->cable.n = 0;
	for (uint32_t i = 0; i < tree.n; i++) {
		FAB_PUSH(&h->sw, tree.sw[i]);
		FAB_PUSH(&h->cable, tree.cable[i]);
	}
}

/* Which of the groups that are grown side by side it is. */
struct place {
	uint32_t at, n;
};

/* The candidate with the least value for the first of them, the next one for the next. */
static uint32_t least(const struct lane *lane, const struct fab_roots *roots,
		      uint32_t group, const uint32_t *value, struct place place,
		      uint64_t seed)
{
	const uint64_t *bits = fab_roots_bits(roots, group);
	uint32_t best;

	if (!place.at)
		return fab_root_choose(bits, roots->words, FAB_TIES_SPREAD, value);
	if (place.n < MANY)
		return fab_root_choose_nth(bits, roots->words, FAB_TIES_SPREAD, value,
					   place.at, lane->room);
	best = fab_roots_draw(bits, roots->words, fab_mix64(seed));
	for (uint32_t i = 1; i < SAMPLE; i++) {
		uint32_t root = fab_roots_draw(bits, roots->words, fab_mix64(seed + i));

		best = value[root] < value[best] ? root : best;
	}
	return best;
}

/* Are there so many groups that haste is worth it? */
static bool are_many(const struct fab_groups *g)
{
	return g->n >= HASTE;
}

/* Find the cheapest tree of h->group at the prices of the lane, by loads and uses as they
 * are in view. */
static void choose(const struct greedy *x, const struct fab_mcast_state *view,
		   struct lane *lane, const struct fab_roots *roots, struct place place,
		   struct held *h)
{
	uint64_t seed = (uint64_t)h->group << 8;

	h->price = __DBL_MAX__;
	try_root(x, lane, least(lane, roots, h->group, view->adjacent, place, seed + 64),
		 h);
	if (are_many(x->problem->groups) && fab_roots_radius(roots, h->group) > NEAR)
		return;
	try_root(x, lane, least(lane, roots, h->group, view->root_use, place, seed + 128),
		 h);
	for (uint32_t i = 0; i < DRAWN_ROOTS; i++)
		try_root(x, lane,
			 fab_roots_draw(fab_roots_bits(roots, h->group), roots->words,
					fab_mix64(seed | i)),
			 h);
}

/* The root of the cheapest tree now, which becomes the one that was chosen last. */
static uint32_t choose_root(struct fab_mcast_state *s, struct lane *lane,
			    const struct fab_roots *roots, uint32_t group)
{
	struct greedy *x = s->scratch;

	x->own.group = group;
	set_prices(s, lane, group);
	choose(x, s, lane, roots, (struct place){0, 1}, &x->own);
	return x->own.root;
}

uint32_t fab_greedy_choose_root(struct fab_mcast_state *s, const struct fab_roots *roots,
				uint32_t group)
{
	struct greedy *x = s->scratch;

	return choose_root(s, &x->lane.v[0], roots, group);
}

void fab_greedy_grow(struct fab_mcast_state *s, uint32_t group)
{
	struct greedy *x = s->scratch;
	struct held *h = &x->own;

	if (h->group != group || h->root != s->forest.root[group]) {
		h->group = group;
		h->price = __DBL_MAX__;
		set_prices(s, &x->lane.v[0], group);
		try_root(x, &x->lane.v[0], s->forest.root[group], h);
	}
	fab_prices_set_group(&x->prices, group);
	for (size_t i = 0; i < h->sw.n; i++) {
		uint32_t cable = h->cable.v[i];
		double level = fab_prices_level(&x->prices, cable);

		fab_mcast_join(s, h->sw.v[i], cable);
		x->max = level > x->max ? level : x->max;
	}
	h->root = FAB_NONE; /* loads will be others */
	fab_prices_set_limit(&x->prices, x->max);
}

/* Groups with candidates at hand that are grown side by side. */
struct job {
	struct fab_mcast_state *s;
	const struct fab_mcast_engine *engine;
	const struct fab_roots *roots;
	int n_lanes;
	uint32_t share;
	struct fab_batch_size size;
	uint32_t first, n, end; /* of the batch at hand; of all */
	uint32_t n_outdated;	/* trees of the batch */
	uint64_t room;		/* of several lanes: for the trees of the batch, too */
};

/* Is there a better tree since the others of the batch have theirs? */
static bool is_outdated(const struct greedy *x, const struct held *h)
{
	if (fab_prices_sum(&x->prices, h->cable.v, h->cable.n) > DEARER * h->price)
		return true;
	for (size_t i = 0; i < h->cable.n; i++)
		if (fab_prices_level(&x->prices, h->cable.v[i]) > x->max)
			return true;
	return false;
}

/* Count a tree that was grown over the loads before its batch. */
static void take(void *context, int lane, uint32_t item)
{
	struct job *j = context;
	struct greedy *x = j->s->scratch;
	struct held *h = &x->batch.v[item];
	uint32_t group = h->group, root = h->root;

	fab_prices_set_group(&x->prices, group);
	if (is_outdated(x, h)) {
		root = choose_root(j->s, &x->lane.v[lane], j->roots, group);
		j->n_outdated++;
	} else {
		struct held own = x->own;

		x->own = *h;
		*h = own;
	}
	fab_mcast_state_grow(j->s, j->engine, j->roots, group, root);
	/* others read those before while this one is added */
	assert(j->n_lanes == 1 || j->s->forest.cap == j->room);
}

/* For several lanes: prices and trees so far stay as and where they are while those of
 * the batch are counted. */
static void hold_still(struct job *j)
{
	struct fab_mcast_state *s = j->s;
	struct greedy *x = s->scratch;
	uint64_t n_edges = s->problem->f->n_switches;

	fab_prices_copy(&x->before, prices_now(s));
	for (uint32_t i = 0; i < j->n; i++)
		n_edges += (uint64_t)fab_roots_radius(j->roots, j->first + i) *
			   fab_group_n_switches(s->problem->groups, j->first + i);
	fab_forest_reserve(&s->forest, s->n_edges, n_edges);
	j->room = s->forest.cap;
}

static uint32_t next(void *context)
{
	struct job *j = context;
	struct greedy *x = j->s->scratch;

	fab_batch_size_heed(&j->size, j->n, j->n_outdated);
	j->n_outdated = 0;
	j->first += j->n;
	j->n = j->first / j->share + FIRST;
	j->n = j->n < j->size.now ? j->n : j->size.now;
	j->n = j->n < j->end - j->first ? j->n : j->end - j->first;
	fab_progress_report("trees", "groups", j->first, x->problem->groups->n);
	for (uint32_t i = 0; i < j->n; i++)
		x->batch.v[i].group = j->first + i;
	if (j->n_lanes > 1)
		hold_still(j);
	return j->n;
}

/* Trees that were counted since the lane looked last. */
static void catch_up(const struct job *j, struct lane *lane)
{
	const struct fab_forest *t = &j->s->forest;

	for (; lane->n_seen < j->first; lane->n_seen++)
		fab_mcast_state_count(&lane->view, lane->n_seen, t->root[lane->n_seen],
				      t->cable + t->first[lane->n_seen],
				      fab_forest_size(t, lane->n_seen));
}

static void work(void *context, int number, uint32_t item)
{
	const struct job *j = context;
	struct greedy *x = j->s->scratch;
	struct lane *lane = &x->lane.v[number];
	struct fab_mcast_state *view = j->n_lanes > 1 ? &lane->view : j->s;

	/* a copy: the next item, which others write, is in the same cache line */
	struct held h = x->batch.v[item];

	if (j->n_lanes > 1) {
		catch_up(j, lane);
		set_prices_before(x, lane, h.group);
	} else {
		set_prices(j->s, lane, h.group);
	}
	choose(x, view, lane, j->roots, (struct place){item, j->n}, &h);
	x->batch.v[item] = h;
}

static bool are_far(const struct fab_roots *roots)
{
	for (uint32_t i = 0; i < roots->n_sets; i++)
		if (roots->radius[i] > NEAR)
			return true;
	return false;
}

/* The views of several lanes, as it is now. */
static void open_views(const struct job *j)
{
	struct greedy *x = j->s->scratch;

	for (int i = 0; j->n_lanes > 1 && i < j->n_lanes; i++) {
		fab_view_init(&x->lane.v[i].view, j->s);
		fab_view_copy(&x->lane.v[i].view, j->s);
		x->lane.v[i].n_seen = j->first;
	}
}

static void close_views(const struct job *j)
{
	struct greedy *x = j->s->scratch;

	for (int i = 0; j->n_lanes > 1 && i < j->n_lanes; i++)
		fab_view_fini(&x->lane.v[i].view);
}

void fab_greedy_grow_many(struct fab_mcast_state *s,
			  const struct fab_mcast_engine *engine,
			  const struct fab_roots *roots, int n_threads)
{
	const struct fab_groups *g = s->problem->groups;
	struct greedy *x = s->scratch;
	struct job j = {.s = s,
			.engine = engine,
			.roots = roots,
			.share = are_many(g) && are_far(roots) ? SHARE_HASTE : SHARE,
			.size = {.least = LEAST, .now = LEAST},
			.first = roots->first_group,
			.end = roots->first_group + roots->n};

	j.n_lanes = fab_threads_for(n_threads, STEPS_MEMBER * g->sw_first[g->n]);
	add_lanes(x, (size_t)j.n_lanes);
	open_views(&j);
	while (x->batch.n < FAB_BATCH_MOST)
		FAB_PUSH(&x->batch, ((struct held){.root = FAB_NONE}));
	fab_batches_run(&(struct fab_batches){next, work, take, &j}, j.n_lanes);
	close_views(&j);
}
