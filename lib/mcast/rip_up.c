/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/rip_up.h"

#include "base/mem.h"
#include "base/rng.h"
#include "mcast/cheap_tree.h"
#include "mcast/choose.h"
#include "mcast/revise.h"
#include "mcast/state.h"

#include <stdlib.h>
#include <string.h>

/* Roots by chance beside the old one and the two of least load and use. */
enum { DRAWN_ROOTS = 4 };

/* What counts as cheaper: less than rounding could make it. */
static const double CHEAPER = 1 - 1e-9;

struct rip_up {
	struct fab_mcast_state *s;
	const struct fab_rip_up_options *o;
	struct fab_cheap_tree *tree;
	struct fab_roots_one *roots;
	struct fab_revision revision;
	uint32_t max, n_at_max;
	uint32_t pass;
	struct {
		uint32_t root, n;
		double price;
		uint32_t *sw, *cable; /* [switches] */
	} best;
};

static void find_max(struct rip_up *r)
{
	const struct fab_fabric *f = r->s->problem->f;

	r->max = r->n_at_max = 0;
	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		if (r->s->load[c] > r->max) {
			r->max = r->s->load[c];
			r->n_at_max = 0;
		}
		r->n_at_max += r->s->load[c] == r->max;
	}
}

static bool touches(const struct rip_up *r, uint32_t group, uint32_t least)
{
	const uint32_t *cable = fab_revision_cables(&r->revision, group);

	for (uint32_t i = 0; i < fab_revision_size(&r->revision, group); i++)
		if (r->s->load[cable[i]] >= least)
			return true;
	return false;
}

static void try_root(struct rip_up *r, uint32_t group, uint32_t root)
{
	const struct fab_groups *g = r->s->problem->groups;
	double price = fab_cheap_tree_grow(
		r->tree, r->s->load, g->sw + g->sw_first[group],
		fab_group_n_switches(g, group), root, r->best.price * CHEAPER);
	uint32_t n = fab_cheap_tree_n_edges(r->tree);

	if (!(price < r->best.price * CHEAPER))
		return;
	r->best.root = root;
	r->best.price = price;
	r->best.n = n;
	memcpy(r->best.sw, fab_cheap_tree_sw(r->tree), n * sizeof(*r->best.sw));
	memcpy(r->best.cable, fab_cheap_tree_cable(r->tree), n * sizeof(*r->best.cable));
}

static void try_roots(struct rip_up *r, uint32_t group, uint32_t old)
{
	struct fab_mcast_state *s = r->s;
	const struct fab_groups *g = s->problem->groups;
	uint32_t tried[DRAWN_ROOTS + 3], n = 0;

	fab_roots_one_find(r->roots, g->sw + g->sw_first[group],
			   fab_group_n_switches(g, group));
	tried[n++] = old;
	tried[n++] = fab_root_choose(r->roots->bits, r->roots->words, FAB_TIES_SPREAD,
				     s->adjacent);
	tried[n++] = fab_root_choose(r->roots->bits, r->roots->words, FAB_TIES_SPREAD,
				     s->root_use);
	for (uint32_t i = 0; i < DRAWN_ROOTS; i++)
		tried[n++] = fab_roots_draw(
			r->roots->bits, r->roots->words,
			fab_mix64((uint64_t)r->pass << 40 | (uint64_t)i << 32 | group));
	for (uint32_t i = 0; i < n; i++) {
		bool is_new = true;

		for (uint32_t j = 0; j < i; j++)
			is_new = is_new && tried[j] != tried[i];
		if (is_new)
			try_root(r, group, tried[i]);
	}
}

/* Returns whether the group has a cheaper tree now. */
static bool reroute(struct rip_up *r, uint32_t group)
{
	struct fab_mcast_state *s = r->s;
	uint32_t old = fab_revision_root(&r->revision, group);

	fab_revision_take_out(&r->revision, group);
	r->best.root = FAB_NONE;
	r->best.price = fab_cheap_tree_price(r->tree, s->load,
					     fab_revision_cables(&r->revision, group),
					     fab_revision_size(&r->revision, group));
	try_roots(r, group, old);
	if (r->best.root == FAB_NONE)
		fab_revision_put_back(&r->revision, group);
	else
		fab_revision_put(&r->revision, group, r->best.root,
				 s->forest.height[group], r->best.n, r->best.sw,
				 r->best.cable);
	return r->best.root != FAB_NONE;
}

/* All groups that use a cable of `least` or more when their turn comes. */
static bool run_pass(struct rip_up *r, uint32_t least)
{
	uint32_t n = r->s->problem->groups->n;
	bool is_stopped = false;

	fab_cheap_tree_set_max(r->tree, r->max - 1);
	for (uint32_t i = 0; i < n && !is_stopped; i++) {
		/* forth and back by turns, so that none is always last */
		uint32_t group = r->pass & 1 ? n - 1 - i : i;

		if (touches(r, group, least))
			reroute(r, group);
		if (r->o->progress && i % 256 == 255)
			is_stopped =
				r->o->progress(r->o->progress_context, i + 1, n) != 0;
	}
	return !is_stopped;
}

static void begin(struct rip_up *r)
{
	const struct fab_mcast_problem *p = r->s->problem;
	uint32_t n = p->f->n_switches;

	r->tree = fab_cheap_tree_new(p);
	r->roots = fab_roots_one_new(p->dist);
	r->best.sw = FAB_NEW(n, uint32_t);
	r->best.cable = FAB_NEW(n, uint32_t);
	r->revision = fab_revision_begin(r->s);
	find_max(r);
}

static void end(struct rip_up *r)
{
	fab_revision_end(&r->revision);
	fab_cheap_tree_free(r->tree);
	fab_roots_one_free(r->roots);
	free(r->best.sw);
	free(r->best.cable);
}

int fab_rip_up(struct fab_mcast_state *s, const struct fab_rip_up_options *o)
{
	struct rip_up r = {.s = s, .o = o};
	uint32_t stalls = 0;
	bool is_stopped = false;

	begin(&r);
	while (r.max > o->bound && r.max > 1 && r.pass < o->n_passes &&
	       stalls < o->n_stalls) {
		uint32_t max = r.max, n_at_max = r.n_at_max;

		/* where only the fullest are moved nothing gives way at some point */
		is_stopped = !run_pass(&r, stalls ? r.max - 1 : r.max);
		if (is_stopped)
			break;
		find_max(&r);
		stalls = r.max < max || r.n_at_max < n_at_max ? 0 : stalls + 1;
		r.pass++;
	}
	end(&r);
	return is_stopped;
}
