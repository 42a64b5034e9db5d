/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * d-mod-k on fat trees: up until a switch above the destination, by a cable that the
 * destination's number chooses, then down. Destinations are numbered switch by switch, a
 * LID each. At level l, with k(i) cables up at level i, it is cable number
 *
 *   d / (k(0) * ... * k(l-1)) mod k(l)
 *
 * of those, by port, that lead there on a shortest path up and down. On a full tree, and
 * hosts in the order of the switches, no two flows of a shift share a cable. Down, the
 * cable is that which the switch below would send up by, so that parallel cables carry
 * the same both ways. Paths turn once: one lane is free of deadlock.
 *
 * Source: Zahavi: D-Mod-K routing providing non-blocking traffic for shift permutations
 * on real life fat trees (2010); here for fat trees that are no PGFT, too.
 */
#include "unicast/engine.h"

#include "base/threads.h"
#include "fabric/shape.h"
#include "unicast/kfat/segments.h"

#include <errno.h>
#include <stdlib.h>

struct dmodk {
	const struct fab_fabric *f;
	const struct fab_faults *faults;
	struct fab_shape *shape;
	uint64_t power[FAB_SHAPE_LEVELS_MAX + 1]; /* cables up of all levels below */
	uint32_t *by_level;			  /* [n_switches] the highest first */
	struct fab_routes *r;
	bool is_cut; /* some live switch has no path */
};

/* Distances to one switch. */
struct goal {
	uint32_t root;
	uint32_t *down; /* [n_switches] hops down to it, FAB_NONE */
	uint32_t *hops; /* [n_switches] up and down */
};

static int look(struct dmodk *x, const struct fab_unicast_problem *problem,
		struct fab_err *err)
{
	char text[256];

	*x = (struct dmodk){.f = problem->f, .faults = problem->faults};
	x->shape = fab_shape_recognize(problem->f);
	if (x->shape->kind == FAB_SHAPE_FATTREE)
		return 0;
	return fab_fail(err, EINVAL, "d-mod-k needs a fat tree, the shape is %s",
			x->shape->kind == FAB_SHAPE_NONE
				? "none that is known"
				: fab_shape_text(x->shape, text, sizeof(text)));
}

static int fits(const struct fab_unicast_engine *self,
		const struct fab_unicast_problem *problem, struct fab_err *err)
{
	struct dmodk x;
	int rc = look(&x, problem, err);

	(void)self;
	fab_shape_free(x.shape);
	return rc;
}

static bool goes_up(const struct dmodk *x, uint32_t sw, uint32_t arc)
{
	return x->shape->level[x->f->arc_peer[arc]] > x->shape->level[sw];
}

static void sort_by_level(struct dmodk *x)
{
	uint32_t first[FAB_SHAPE_LEVELS_MAX + 2] = {0}, n = x->f->n_switches;

	x->by_level = FAB_NEW((size_t)n + 1, uint32_t);
	for (uint32_t sw = 0; sw < n; sw++)
		first[FAB_SHAPE_LEVELS_MAX - x->shape->level[sw] + 1]++;
	for (uint32_t i = 1; i <= FAB_SHAPE_LEVELS_MAX; i++)
		first[i] += first[i - 1];
	for (uint32_t sw = 0; sw < n; sw++)
		x->by_level[first[FAB_SHAPE_LEVELS_MAX - x->shape->level[sw]]++] = sw;
}

/* Switches above the goal, from below; then who gets to one of those. */
static void set_hops(const struct dmodk *x, struct goal *g)
{
	const struct fab_fabric *f = x->f;

	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		g->down[sw] = FAB_NONE;
	if (fab_switch_is_live(x->faults, g->root))
		g->down[g->root] = 0;
	for (uint32_t i = f->n_switches; i-- > 0;) {
		uint32_t sw = x->by_level[i];

		for (uint32_t a = f->arc_first[sw];
		     g->down[sw] != FAB_NONE && a < f->arc_first[sw + 1]; a++)
			if (goes_up(x, sw, a) && fab_arc_is_live(x->faults, a) &&
			    g->down[sw] + 1 < g->down[f->arc_peer[a]])
				g->down[f->arc_peer[a]] = g->down[sw] + 1;
	}
	for (uint32_t i = 0; i < f->n_switches; i++) {
		uint32_t sw = x->by_level[i], *hops = &g->hops[sw];

		*hops = g->down[sw];
		for (uint32_t a = f->arc_first[sw];
		     g->down[sw] == FAB_NONE && a < f->arc_first[sw + 1]; a++)
			if (goes_up(x, sw, a) && fab_arc_is_live(x->faults, a) &&
			    g->hops[f->arc_peer[a]] < *hops - 1)
				*hops = g->hops[f->arc_peer[a]] + 1;
	}
}

/* Down: the cable by which the switch below would send up, if that is one of these. */
static uint16_t choose_down(const struct dmodk *x, uint64_t number, uint32_t sw,
			    const uint16_t *arc, uint32_t n)
{
	const struct fab_fabric *f = x->f;
	uint32_t first = f->arc_first[sw], below = f->arc_peer[first + arc[0]];
	uint64_t key = number / x->power[x->shape->level[below]];
	uint32_t n_up = 0, at;

	FAB_EACH_ARC(f, below, a)
		n_up += goes_up(x, below, a) && fab_arc_is_live(x->faults, a);
	at = (uint32_t)(key % n_up);
	FAB_EACH_ARC(f, below, a) {
		if (!goes_up(x, below, a) || !fab_arc_is_live(x->faults, a) || at--)
			continue;
		for (uint32_t i = 0; i < n && f->arc_peer[a] == sw; i++)
			if (arc[i] == f->arc_reverse[a])
				return arc[i];
		break;
	}
	return arc[key % n];
}

static bool fill_column(const struct dmodk *x, const struct goal *g, uint32_t column,
			uint16_t *arc)
{
	uint64_t d = column; /* number of the destination */
	uint16_t *next = x->r->next + (size_t)column * x->f->n_switches;
	bool is_cut = false;

	for (uint32_t sw = 0; sw < x->f->n_switches; sw++) {
		bool up = g->down[sw] == FAB_NONE;
		uint32_t n;
		const struct fab_fabric *f = x->f;
		const uint32_t *left;
		uint32_t i = 0;

		next[sw] = FAB_ARC_NONE;
		if (g->hops[sw] == FAB_NONE) {
			is_cut |= fab_switch_is_live(x->faults, sw);
			continue;
		}
		if (sw == g->root) {
			next[sw] = FAB_ARC_HERE;
			continue;
		}
		/* Cables of a switch that lead on, counted from its first: up or down. */
		left = up ? g->hops : g->down;
		FAB_EACH_ARC(f, sw, a)
			if (fab_arc_is_live(x->faults, a) && goes_up(x, sw, a) == up &&
			    left[f->arc_peer[a]] != FAB_NONE &&
			    left[f->arc_peer[a]] + 1 == left[sw])
				arc[i++] = (uint16_t)(a - f->arc_first[sw]);
		n = i;
		next[sw] = up ? arc[d / x->power[x->shape->level[sw]] % n]
			      : choose_down(x, d, sw, arc, n);
	}
	return is_cut;
}

static void fill_all(struct dmodk *x, int n_threads)
{
	const struct fab_fabric *f = x->f;
	struct fab_routes *r = x->r;
	bool is_cut = false;

	n_threads = fab_threads_for(n_threads,
				    (uint64_t)r->n_columns * f->arc_first[f->n_switches]);
#pragma omp parallel num_threads(n_threads) reduction(|| : is_cut)
	{
		struct goal g = {.root = FAB_NONE,
				 .down = FAB_NEW((size_t)f->n_switches + 1, uint32_t),
				 .hops = FAB_NEW((size_t)f->n_switches + 1, uint32_t)};
		FAB_AUTOFREE uint16_t *arc =
			FAB_NEW((size_t)f->arc_first[f->n_switches] + 1, uint16_t);

#pragma omp for schedule(dynamic, 16)
		for (uint32_t c = 0; c < r->n_columns; c++) {
			if (r->column_switch[c] != g.root) {
				g.root = r->column_switch[c];
				set_hops(x, &g);
			}
			is_cut = fill_column(x, &g, c, arc) || is_cut;
		}
		free(g.down);
		free(g.hops);
	}
	fab_threads_rest(n_threads);
	x->is_cut = is_cut;
}

static int route(const struct fab_unicast_engine *self,
		 const struct fab_unicast_problem *problem, struct fab_routes **out,
		 struct fab_err *err)
{
	struct dmodk x;
	int rc = look(&x, problem, err);

	(void)self;
	if (!rc) {
		const struct fab_fabric *f = x.f;
		uint32_t width[FAB_SHAPE_LEVELS_MAX + 1] = {0};
		uint32_t *leaf, n_leaves;

		/* Cables up of a level: the most that a switch there has, dead ones too.
		 */
		for (uint32_t sw = 0; sw < f->n_switches; sw++) {
			uint32_t n = 0;

			FAB_EACH_ARC(f, sw, a)
				n += goes_up(&x, sw, a);
			if (n > width[x.shape->level[sw]])
				width[x.shape->level[sw]] = n;
		}
		x.power[0] = 1;
		for (uint32_t l = 0; l < FAB_SHAPE_LEVELS_MAX; l++) {
			uint64_t k = width[l] ? width[l] : 1;

			if (__builtin_mul_overflow(x.power[l], k, &x.power[l + 1]))
				x.power[l + 1] = UINT64_MAX;
		}
		sort_by_level(&x);
		leaf = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
		n_leaves = fab_destination_switches(f, x.faults, NULL, leaf);
		/* Each destination switch has as many columns as LIDs behind it. */
		x.r = fab_alternatives_new_routes(f, x.faults, leaf, n_leaves,
						  UINT16_MAX);
		x.r->leaf = leaf;
		x.r->n_leaves = n_leaves;
		fill_all(&x, problem->n_threads);
		if (x.is_cut)
			x.r->note = fab_strdup(
				"some switches have no path up and down to some hosts");
		*out = x.r;
	}
	fab_shape_free(x.shape);
	free(x.by_level);
	return rc;
}

const struct fab_unicast_engine fab_unicast_dmodk = {
	.name = "d-mod-k",
	.summary = "up a fat tree by the number of the destination, then down",
	.manual =
		"Up a fat tree until above the destination, by the cable that its number chooses (d-mod-k), then down: shifts of hosts in the order of the fabric share no cable on a full tree. One lane. With faults the other cables in turn; what they do not join has no path.",
	.fits = fits,
	.route = route,
};
