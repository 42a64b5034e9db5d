/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees on a dragonfly, each from a hub, a group of switches ("part" here, where groups
 * are those of members). From one of its switches the tree goes to those with a cable to
 * a part with members, over these cables, and from their ends to the members. Where
 * groups have members in all parts, trees from each hub in turn use all cables between
 * parts alike. Where trees may be higher, a way within a part may take two hops, and
 * trees are grown again while cables that stay too full become expensive.
 */
#include "base/mem.h"
#include "base/order.h"
#include "mcast/search/search.h"

#include <stdlib.h>

/* Height of trees over several parts; times that trees are grown, if ways may have a hop
 * more and else; price of a group in excess of the bound, and growth of the factor of
 * such a cable each time. */
enum { HEIGHT = 3, TIMES_TURN = 20, TIMES = 2 };
static const double EXCESS = 64, FACTOR_STEP = 0.5;

struct hubs {
	const struct fab_fabric *f;
	struct fab_prices prices;
	const uint32_t *part;	 /* [n_switches] */
	uint32_t size;		 /* switches of a part */
	uint32_t *sw, *place;	 /* [n_switches] by part, and where it is in that order */
	uint32_t *local;	 /* [n_switches * size] cable to each of its part */
	uint32_t *head, *next;	 /* [parts], [n_switches] members of a part */
	FAB_VEC(uint32_t) parts; /* with members */
	uint32_t *arc;		 /* [parts] the cheapest from the hub, FAB_NONE */
	double *price;		 /* [parts] of that, and of the members there */
	/* the tree at hand */
	uint32_t root, stamp;
	uint32_t *wanted,
		*is_near; /* [n_switches] == stamp: to be joined; one hop away */
	FAB_VEC(uint32_t) child, cable;
	uint32_t *parent; /* [n_switches] */
};

static void init(struct hubs *x, const struct fab_fabric *f,
		 const struct fab_shape *shape, struct fab_arena *a)
{
	uint32_t n = f->n_switches, size = shape->group_size;

	*x = (struct hubs){.f = f, .size = size, .part = shape->group};
	x->place = FAB_ARENA_NEW(a, n, uint32_t);
	x->sw = FAB_ARENA_NEW(a, n, uint32_t);
	x->local = FAB_ARENA_NEW(a, (size_t)n * size, uint32_t);
	x->head = fab_arena_none(a, shape->n_groups);
	x->next = FAB_ARENA_NEW0(a, n, uint32_t);
	x->arc = FAB_ARENA_NEW(a, shape->n_groups, uint32_t);
	x->price = FAB_ARENA_NEW(a, shape->n_groups, double);
	x->wanted = FAB_ARENA_NEW0(a, n, uint32_t);
	x->is_near = FAB_ARENA_NEW0(a, n, uint32_t);
	x->parent = FAB_ARENA_NEW(a, n, uint32_t);
	FAB_ROOM(a, &x->parts, shape->n_groups);
	FAB_ROOM(a, &x->child, n);
	FAB_ROOM(a, &x->cable, n);
	for (uint32_t s = 0; s < n; s++) { /* `next` counts the switches of a part */
		x->place[s] = x->part[s] * size + x->next[x->part[s]]++;
		x->sw[x->place[s]] = s;
	}
	for (uint32_t s = 0; s < n; s++)
		for (uint32_t i = f->arc_first[s]; i < f->arc_first[s + 1]; i++)
			if (x->part[f->arc_peer[i]] == x->part[s])
				x->local[s * size + x->place[f->arc_peer[i]] % size] =
					f->arc_cable[i];
}

/* The members of a group by parts; they are wanted. */
static void set_members(struct hubs *x, const uint32_t *sw, uint32_t n)
{
	x->stamp++;
	x->child.n = x->cable.n = 0;
	while (x->parts.n)
		x->head[x->parts.v[--x->parts.n]] = FAB_NONE;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *head = &x->head[x->part[sw[i]]];

		if (*head == FAB_NONE)
			FAB_PUSH(&x->parts, x->part[sw[i]]);
		x->next[sw[i]] = *head;
		*head = sw[i];
		x->wanted[sw[i]] = x->stamp;
	}
}

/* The cable between two switches of a part, and its price. */
static uint32_t local_cable(const struct hubs *x, uint32_t from, uint32_t to)
{
	return x->local[from * x->size + x->place[to] % x->size];
}

static double local_price(const struct hubs *x, uint32_t from, uint32_t to)
{
	return from == to ? 0 : fab_price(&x->prices, local_cable(x, from, to));
}

static void join(struct hubs *x, uint32_t sw, uint32_t cable)
{
	FAB_PUSH(&x->child, sw);
	FAB_PUSH(&x->cable, cable);
}

/* Hang a switch on another one of its part; where that makes a cable too full and
 * `may_turn`, on a third one that is near that or else not of the tree. */
static void hang(struct hubs *x, uint32_t from, uint32_t sw, bool may_turn)
{
	double least = local_price(x, from, sw);
	uint32_t by = from;

	if (x->wanted[sw] != x->stamp || x->is_near[sw] == x->stamp)
		return;
	for (uint32_t i = 0; i < x->size && may_turn && least >= EXCESS; i++) {
		uint32_t turn = x->sw[x->part[sw] * x->size + i];
		double cost = local_price(x, turn, sw);

		if (x->is_near[turn] != x->stamp)
			cost += local_price(x, from, turn);
		if (cost >= least ||
		    (x->wanted[turn] == x->stamp && x->is_near[turn] != x->stamp))
			continue;
		by = turn;
		least = cost;
	}
	if (x->is_near[by] != x->stamp) {
		join(x, by, local_cable(x, from, by));
		x->is_near[by] = x->stamp;
	}
	join(x, sw, local_cable(x, by, sw));
	if (by == from)
		x->is_near[sw] = x->stamp;
}

/* Join the parts with members by the cables from the hub that cost least together with
 * the members there; their ends are wanted. */
static void join_parts(struct hubs *x, uint32_t hub)
{
	const struct fab_fabric *f = x->f;

	for (size_t i = 0; i < x->parts.n; i++)
		x->arc[x->parts.v[i]] = FAB_NONE;
	for (uint32_t i = hub * x->size; i < (hub + 1) * x->size; i++)
		for (uint32_t a = f->arc_first[x->sw[i]]; a < f->arc_first[x->sw[i] + 1];
		     a++) {
			uint32_t to = f->arc_peer[a], part = x->part[to];
			double price = fab_price(&x->prices, f->arc_cable[a]);

			for (uint32_t m = x->head[part]; m != FAB_NONE && part != hub;
			     m = x->next[m])
				price += local_price(x, to, m);
			if (part == hub || x->head[part] == FAB_NONE ||
			    (x->arc[part] != FAB_NONE && price >= x->price[part]))
				continue;
			x->arc[part] = a;
			x->price[part] = price;
		}
	for (size_t i = 0; i < x->parts.n; i++) {
		uint32_t a = x->arc[x->parts.v[i]], to, cable;

		if (x->parts.v[i] == hub)
			continue;
		to = f->arc_peer[a];
		cable = f->arc_cable[a];
		join(x, to, cable);
		x->is_near[to] = x->stamp;
		x->wanted[fab_cable_peer(f, cable, to)] = x->stamp;
	}
}

/* Grow the tree of a hub. */
static void grow(struct hubs *x, uint32_t hub, bool may_turn)
{
	const uint32_t *sw = x->sw + hub * x->size;
	double least = __DBL_MAX__;
	size_t n_ends;

	join_parts(x, hub);
	n_ends = x->child.n;
	for (uint32_t r = 0; r < x->size; r++) {
		double cost = 0;

		for (uint32_t i = 0; i < x->size; i++)
			if (x->wanted[sw[i]] == x->stamp)
				cost += local_price(x, sw[r], sw[i]);
		x->root = cost < least ? sw[r] : x->root;
		least = cost < least ? cost : least;
	}
	x->is_near[x->root] = x->stamp;
	for (uint32_t i = 0; i < x->size; i++)
		hang(x, x->root, sw[i], may_turn);
	for (size_t i = 0; i < n_ends; i++) {
		uint32_t to = x->child.v[i],
			 from = fab_cable_peer(x->f, x->cable.v[i], to);

		for (uint32_t m = x->head[x->part[to]]; m != FAB_NONE; m = x->next[m])
			hang(x, to, m, may_turn && x->is_near[from] == x->stamp);
	}
}

/* Grow the trees of n groups, again and again as long as that may help. */
static void grow_all(struct hubs *x, struct fab_revision *r, const uint64_t *order,
		     uint32_t n, const struct fab_mcast_options *o)
{
	const struct fab_groups *g = r->s->problem->groups;
	double bound = fab_mcast_bound_of(r->s->problem, o);
	bool may_turn = o->height_slack > 0;

	for (int times = 0; times < (may_turn ? TIMES_TURN : TIMES); times++) {
		if (times && (fab_mcast_max_level(r->s) <= bound || fab_mcast_is_over(o)))
			break;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t group = (uint32_t)order[i];
			const uint32_t *sw = g->sw + g->sw_first[group];
			uint32_t n_sw = fab_group_n_switches(g, group), n_edges;

			fab_revision_take_out(r, group);
			set_members(x, sw, n_sw);
			fab_prices_set_group(&x->prices, group);
			grow(x, x->parts.v[i % x->parts.n], may_turn);
			n_edges = (uint32_t)x->child.n;
			fab_revision_put(r, group, x->root,
					 fab_tree_height(x->f, x->root, x->child.v,
							 x->cable.v, n_edges, sw, n_sw,
							 x->parent),
					 n_edges, x->child.v, x->cable.v);
		}
		if (may_turn)
			fab_prices_raise_factors(&x->prices, bound, FACTOR_STEP);
	}
}

void fab_hubs_try(struct fab_mcast_state *s, const struct fab_mcast_options *o)
{
	const struct fab_groups *g = s->problem->groups;
	FAB_AUTO(fab_shape_free_at) struct fab_shape *own = NULL;
	const struct fab_shape *shape = fab_mcast_shape(s->problem, &own);
	double bound = fab_mcast_bound_of(s->problem, o), level = fab_mcast_max_level(s);
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	FAB_AUTO(fab_forest_fini) struct fab_forest before = {0};
	uint32_t *n_same = FAB_ARENA_NEW0(&arena, g->n, uint32_t), n = 0;
	uint64_t *order = FAB_ARENA_NEW(&arena, g->n, uint64_t);
	bool is_wide, has_wide = false; /* members in most parts */
	struct fab_revision r;
	struct hubs x;
	uint8_t radius;

	if (shape->kind != FAB_SHAPE_DRAGONFLY || !s->problem->roots || level <= bound)
		return;
	init(&x, s->problem->f, shape, &arena);
	for (uint32_t i = 0; i < g->n; i++) {
		set_members(&x, g->sw + g->sw_first[i], fab_group_n_switches(g, i));
		radius = fab_roots_radius(s->problem->roots, i);
		is_wide = radius == HEIGHT && x.parts.n > shape->n_groups / 2;
		has_wide |= is_wide;
		/* groups of the same switches have hubs far apart */
		if (is_wide || (radius == 1 && x.parts.n == 1))
			order[n++] = (uint64_t)n_same[g->same_as[i]]++ << 32 | i;
	}
	if (!has_wide)
		return;
	qsort(order, n, sizeof(*order), fab_cmp_u64);
	fab_prices_init(&x.prices, s);
	fab_prices_set_target(&x.prices, bound, EXCESS);
	fab_prices_reset_factors(&x.prices);
	r = fab_revision_begin(s);
	fab_revision_copy(&r, &before);
	grow_all(&x, &r, order, n, o);
	fab_prices_fini(&x.prices);
	if (fab_mcast_max_level(s) >= level)
		for (uint32_t i = 0; i < g->n; i++)
			fab_revision_restore(&r, i, &before);
	fab_revision_end(&r);
}
