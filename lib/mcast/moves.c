/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/moves.h"

#include "base/batches.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/threads.h"
#include "mcast/state.h"
#include "mcast/view.h"

#include <stdlib.h>
#include <string.h>

/* Groups moved side by side: some, one more for so many of the round, and at most. Trees
 * whose members lie far from the root take longer and are more alike in price: more of
 * these, and more yet where the work is long. */
enum { LEAST = 2, LEAST_LONG = 4, SHARE = 64, SHARE_FAR = 32, MOST = 32 };

/* A tree that has become so many times as expensive meanwhile is looked for again. */
static const double DEARER = 1.1;

/* What moving a group costs, for each edge of its tree; and less, where trees that
 * conflict are looked for side by side, too, which in short work ends with worse ones. */
enum { STEPS_EDGE = 128, STEPS_EDGE_LONG = 64 };

/* One that moves groups. The first has the state itself in view, the others a copy of its
 * loads and uses. */
struct lane {
	struct fab_mcast_state view;
	struct fab_prices prices;
	struct fab_reroute *reroute;
	size_t n_seen; /* changes that the copy has */
};

/* A tree that was found for a group. */
struct found {
	uint32_t group;
	bool is_again;		      /* others had made the one before dearer */
	struct fab_reroute_tree tree; /* root FAB_NONE: none */
	uint32_t room;		      /* of its arrays */
};

/* A tree that was taken out or put in. */
struct change {
	uint32_t group, root, n;
	bool is_in;
	size_t first; /* in `cable` */
};

struct fab_moves {
	struct fab_revision *revision;
	struct fab_prices *prices;
	const struct fab_mcast_options *options;
	const struct fab_roots *roots; /* of the first groups: the problem's or these */
	struct fab_roots own_roots;
	struct fab_hops hops;
	bool is_far;  /* some members lie far from the root */
	bool is_long; /* and there is so much to do that threads are worth it */
	int n_lanes;
	struct lane *lane;
	struct found batch[MOST];
	FAB_VEC(struct change) change; /* that not all lanes have seen */
	FAB_VEC(uint32_t) cable;
	/* the round at hand */
	const struct fab_moves_round *round;
	uint32_t n_asked, n_moved, n_batch;
	uint32_t n_expected; /* to be moved: at first as many as in the last one */
	bool is_over;
};

/* Groups of the next batch: more, the more there are in a round. */
static uint32_t most_of(const struct fab_moves *m)
{
	uint32_t n = m->n_moved > m->n_expected ? m->n_moved : m->n_expected;
	uint32_t most =
		n / (m->is_far ? SHARE_FAR : SHARE) + (m->is_long ? LEAST_LONG : LEAST);

	return most < MOST ? most : MOST;
}

/* Candidates of the first groups: all of the problem's, if they can be had. */
static void find_roots(struct fab_moves *m)
{
	const struct fab_mcast_problem *p = m->revision->s->problem;
	unsigned slack = m->options->height_slack;

	m->roots = slack ? NULL : p->roots;
	if (m->roots)
		return;
	fab_roots_find_within(p->dist, p->groups, 0, FAB_MOVES_ROOTS_BYTES,
			      m->options->n_threads, slack, &m->own_roots);
	m->roots = &m->own_roots;
}

struct fab_moves *fab_moves_new(struct fab_revision *revision, struct fab_prices *prices,
				const struct fab_mcast_options *options)
{
	struct fab_moves *m = FAB_NEW0(1, struct fab_moves);
	const struct fab_mcast_problem *p = revision->s->problem;

	m->revision = revision;
	m->prices = prices;
	m->options = options;
	find_roots(m);
	m->hops.dist = p->dist;
	m->is_far = fab_reroute_is_far(revision->s);
	if (m->is_far)
		fab_hops_init(&m->hops, p);
	m->is_long = m->is_far && fab_threads_pay(STEPS_EDGE_LONG * revision->s->n_edges);
	m->n_lanes =
		fab_threads_for(options->n_threads, STEPS_EDGE * revision->s->n_edges);
	m->n_lanes = m->n_lanes < MOST ? m->n_lanes : MOST;
	m->lane = FAB_NEW0(m->n_lanes, struct lane);
	for (int i = 0; i < m->n_lanes; i++) {
		struct lane *lane = &m->lane[i];

		if (i)
			fab_view_init(&lane->view, revision->s);
		lane->reroute = fab_reroute_new(i ? &lane->view : revision->s, m->roots,
						&m->hops, options);
	}
	return m;
}

void fab_moves_free(struct fab_moves *m)
{
	if (!m)
		return;
	for (int i = 0; i < m->n_lanes; i++) {
		fab_view_fini(&m->lane[i].view);
		fab_reroute_free(m->lane[i].reroute);
	}
	for (size_t i = 0; i < FAB_COUNT(m->batch); i++) {
		free(m->batch[i].tree.sw);
		free(m->batch[i].tree.cable);
	}
	fab_roots_fini(&m->own_roots);
	fab_hops_fini(&m->hops);
	free(m->lane);
	free(m->change.v);
	free(m->cable.v);
	free(m);
}

uint64_t fab_moves_steps(const struct fab_moves *m)
{
	uint64_t steps = 0;

	for (int i = 0; i < m->n_lanes; i++)
		steps += fab_reroute_steps(m->lane[i].reroute);
	return steps;
}

/* Let the lanes know that the tree of a group is taken out, or was put in. */
static void tell(struct fab_moves *m, uint32_t group, bool is_in)
{
	uint32_t n = fab_revision_size(m->revision, group);
	const uint32_t *cable = fab_revision_cables(m->revision, group);

	if (m->n_lanes < 2)
		return;
	FAB_PUSH(&m->change,
		 ((struct change){group, fab_revision_root(m->revision, group), n, is_in,
				  m->cable.n}));
	for (uint32_t i = 0; i < n; i++)
		FAB_PUSH(&m->cable, cable[i]);
}

static void catch_up(const struct fab_moves *m, struct lane *lane)
{
	for (; lane->n_seen < m->change.n; lane->n_seen++) {
		const struct change *c = &m->change.v[lane->n_seen];
		const uint32_t *cable = m->cable.v + c->first;

		if (c->is_in)
			fab_mcast_state_count(&lane->view, c->group, c->root, cable,
					      c->n);
		else
			fab_mcast_state_drop(&lane->view, c->group, c->root, cable, c->n);
	}
}

/* Forget changes that all lanes have seen. */
static void forget(struct fab_moves *m)
{
	for (int i = 1; i < m->n_lanes; i++)
		if (m->lane[i].n_seen < m->change.n)
			return;
	for (int i = 1; i < m->n_lanes; i++)
		m->lane[i].n_seen = 0;
	m->change.n = m->cable.n = 0;
}

/* Put in what was found, if it is cheaper. False: others have made that dearer, and it is
 * looked for again in the next batch, once; at once where that takes little. */
static bool take(struct fab_moves *m, const struct found *x)
{
	struct fab_revision *r = m->revision;
	const struct fab_reroute_tree *t = &x->tree;
	double old, new;

	if (t->root == FAB_NONE || !m->round->is_wanted(m->round->context, x->group))
		return true;
	fab_revision_take_out(r, x->group);
	fab_prices_set_group(m->prices, x->group);
	new = fab_prices_sum(m->prices, t->cable, t->n);
	if (new > DEARER * t->price && m->is_long && !x->is_again) {
		fab_revision_put_back(r, x->group);
		return false;
	}
	tell(m, x->group, false);
	old = fab_prices_sum(m->prices, fab_revision_cables(r, x->group),
			     fab_revision_size(r, x->group));
	if (new > DEARER * t->price && !m->is_long)
		t = fab_reroute_find(m->lane[0].reroute, r, m->prices, x->group,
				     &m->round->how);
	else if (!fab_reroute_is_cheaper(new, old))
		t = NULL;
	if (t)
		fab_revision_put(r, x->group, t->root, t->height, t->n, t->sw, t->cable);
	else
		fab_revision_put_back(r, x->group);
	tell(m, x->group, true);
	return true;
}

/* The group that is asked at a place of the round. */
static uint32_t group_at(const struct fab_moves *m, uint32_t i)
{
	uint32_t n = m->revision->s->forest.n;
	uint64_t turn = m->round->how.turn;
	uint32_t shift = (uint32_t)(fab_mix64(turn ^ m->options->seed) % n);
	/* forth and back by turns, so that none is always last */
	uint32_t group = (turn & 1 ? n - 1 - i : i) + shift;

	return group - (group >= n ? n : 0);
}

/* Take what the last batch found; those that are looked for again come first in the next
 * one. How many these are. */
static uint32_t take_all(struct fab_moves *m)
{
	uint32_t n_again = 0;

	for (uint32_t i = 0; i < m->n_batch; i++) {
		struct found *x = &m->batch[i];

		if (!take(m, x) && !m->is_over) {
			m->batch[n_again].group = x->group;
			m->batch[n_again++].is_again = true;
			continue;
		}
		m->n_moved++;
		if (!m->is_over)
			m->is_over = m->round->is_over(m->round->context, m->n_asked);
	}
	return m->is_over ? 0 : n_again;
}

static uint32_t next(void *context)
{
	struct fab_moves *m = context;
	const struct fab_moves_round *round = m->round;
	uint32_t n = m->revision->s->forest.n, most = most_of(m);

	forget(m);
	m->n_batch = take_all(m);
	while (!m->is_over && m->n_asked < n && m->n_batch < most) {
		uint32_t group = group_at(m, m->n_asked++);

		if (!round->is_wanted(round->context, group))
			continue;
		m->batch[m->n_batch].group = group;
		m->batch[m->n_batch++].is_again = false;
	}
	return m->n_batch;
}

static void keep(struct found *x, const struct fab_reroute_tree *t)
{
	uint32_t *sw = x->tree.sw, *cable = x->tree.cable;

	x->tree.root = FAB_NONE;
	if (!t)
		return;
	if (t->n > x->room) {
		x->room = t->n;
		sw = fab_realloc(sw, x->room, sizeof(*sw));
		cable = fab_realloc(cable, x->room, sizeof(*cable));
	}
	if (t->n) {
		memcpy(sw, t->sw, t->n * sizeof(*sw));
		memcpy(cable, t->cable, t->n * sizeof(*cable));
	}
	x->tree = *t;
	x->tree.sw = sw;
	x->tree.cable = cable;
}

static void work(void *context, int number, uint32_t item)
{
	struct fab_moves *m = context;
	struct lane *lane = &m->lane[number];
	struct fab_mcast_state *view = number ? &lane->view : m->revision->s;
	struct found *x = &m->batch[item];
	uint32_t root = fab_revision_root(m->revision, x->group);
	uint32_t n = fab_revision_size(m->revision, x->group);
	const uint32_t *cable = fab_revision_cables(m->revision, x->group);

	if (number)
		catch_up(m, lane);
	x->tree.root = FAB_NONE;
	if (fab_mcast_is_over(m->options))
		return;
	fab_mcast_state_drop(view, x->group, root, cable, n);
	fab_prices_set_group(&lane->prices, x->group);
	keep(x, fab_reroute_find(lane->reroute, m->revision, &lane->prices, x->group,
				 &m->round->how));
	fab_mcast_state_count(view, x->group, root, cable, n);
}

bool fab_moves_run(struct fab_moves *m, const struct fab_moves_round *round)
{
	m->round = round;
	m->n_expected = round->n_expected ? round->n_expected : m->n_moved;
	m->n_asked = m->n_moved = m->n_batch = 0;
	m->is_over = false;
	for (int i = 0; i < m->n_lanes; i++) {
		struct lane *lane = &m->lane[i];

		lane->prices = *m->prices;
		if (!i)
			continue;
		fab_view_copy(&lane->view, m->revision->s);
		lane->n_seen = m->change.n;
		lane->prices.load = lane->view.load;
		lane->prices.state = lane->prices.state ? &lane->view : NULL;
	}
	fab_batches_run(&(struct fab_batches){.next = next, .work = work, .context = m},
			m->n_lanes);
	return !m->is_over;
}
