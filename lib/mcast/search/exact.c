/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Branch and bound over all trees of all groups. Parallel cables are one link. How low
 * the levels of its cables can be for each set of groups is found beforehand, so that a
 * partial choice of trees is a set of groups for each link. A choice is given up when a
 * link reaches the best level so far, or when a remaining group has no tree left.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/progress.h"
#include "mcast/graft.h"
#include "mcast/search/search.h"

enum {
	N = FAB_EXACT_SWITCHES,
	LINKS = N * (N - 1) / 2,
	GROUPS = FAB_EXACT_GROUPS,
	SETS = 1 << GROUPS,
	LOOK = 1024 /* steps between two checks of the time */
};

/* Parallel cables. */
struct link {
	uint32_t sw[2];
	double capacity; /* of all its cables: units, or groups without weights */
	uint32_t *cable, n_cables;
	uint8_t *on;	    /* [cables * SETS] best part of each set for the last of the
			     * first cables */
	double level[SETS]; /* least largest level of its cables, for each set of groups
			     */
};

/* A group: its trees as sets of links, a bit each. */
struct member_group {
	uint32_t id;
	uint32_t switches; /* bits */
	double need;	   /* capacity that it takes on a link */
	unsigned height;   /* of its trees at most */
};

struct exact {
	const struct fab_mcast_problem *p;
	const struct fab_mcast_options *o;
	struct fab_arena *arena;
	uint32_t n, n_links, n_groups;
	struct link link[LINKS];
	uint32_t link_of[N][N]; /* FAB_NONE: no cable */
	struct member_group group[GROUPS];
	uint64_t steps;
	enum fab_mcast_ended ended; /* DONE: not yet */
	/* the choice at hand, and the best */
	uint8_t on_link[LINKS]; /* groups, bits */
	uint32_t tree[GROUPS], best_tree[GROUPS];
	double best; /* level; trees must be below it */
	bool is_better;
	FAB_VEC(uint32_t) room; /* trees that are left, of all depths */
};

/* Enumerates the trees of a group. */
struct growth {
	struct exact *x;
	struct member_group *g;
	uint32_t all;	    /* switches of the tree, bits */
	uint8_t hops[N][N]; /* between switches that are joined */
};

static bool is_over(struct exact *x)
{
	if (x->ended == FAB_ENDED_DONE && ++x->steps % LOOK == 0)
		x->ended = fab_mcast_why_over(x->o);
	return x->ended != FAB_ENDED_DONE;
}

/* Levels that differ by rounding only are equal. */
static bool is_less(double level, double other)
{
	return level < other * (1 - FAB_LOAD_ROUNDING);
}

/* The best division of each set of groups among the cables of a link: of the first i
 * cables from that of the first i - 1. */
static void fill_link(const struct exact *x, struct link *l)
{
	const struct fab_weights *w = x->p->weights;
	uint32_t n_sets = 1u << x->n_groups;
	double own[SETS], before[SETS];

	l->on = FAB_ARENA_NEW(x->arena, (size_t)l->n_cables * SETS, uint8_t);
	for (uint32_t set = 0; set < n_sets; set++)
		l->level[set] = set ? HUGE_VAL : 0;
	for (size_t c = 0; c < l->n_cables; c++) {
		uint8_t *on = l->on + c * SETS;

		memcpy(before, l->level, sizeof(before));
		for (uint32_t set = 0; set < n_sets; set++) {
			own[set] = 0;
			for (uint32_t g = 0; g < x->n_groups; g++)
				if (set >> g & 1)
					own[set] +=
						w ? (double)w->units[x->group[g].id] : 1;
			own[set] *= w ? w->per_unit[l->cable[c]] : 1;
		}
		for (uint32_t set = 0; set < n_sets; set++) {
			l->level[set] = before[set];
			on[set] = 0;
			for (uint32_t part = set; part; part = (part - 1) & set) {
				double level = fmax(own[part], before[set ^ part]);

				if (level >= l->level[set])
					continue;
				l->level[set] = level;
				on[set] = (uint8_t)part;
			}
		}
	}
}

static void find_links(struct exact *x)
{
	const struct fab_fabric *f = x->p->f;
	const struct fab_weights *w = x->p->weights;

	memset(x->link_of, 0xff, sizeof(x->link_of));
	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		uint32_t a = f->port_node[f->cable_a[c]];
		uint32_t b = f->port_node[f->cable_b[c]];
		struct link *l;

		if (a == b)
			continue;
		if (x->link_of[a][b] == FAB_NONE) {
			x->link[x->n_links] = (struct link){
				.sw = {a, b},
				.cable = FAB_ARENA_NEW(x->arena, f->n_switch_links,
						       uint32_t)};
			x->link_of[a][b] = x->link_of[b][a] = x->n_links++;
		}
		l = &x->link[x->link_of[a][b]];
		l->cable[l->n_cables++] = c;
		l->capacity += w ? 1 / w->per_unit[c] : 1;
	}
	for (uint32_t l = 0; l < x->n_links; l++)
		fill_link(x, &x->link[l]);
}

/* Switches that `from` reaches within `in` by links out of `links`. */
static uint32_t reachable(const struct exact *x, uint32_t from, uint32_t in,
			  uint32_t links)
{
	uint32_t seen = from, last = 0;

	while (seen != last) {
		last = seen;
		for (uint32_t left = links; left; left &= left - 1) {
			const struct link *l = &x->link[__builtin_ctz(left)];
			uint32_t ends = 1u << l->sw[0] | 1u << l->sw[1];

			seen |= ends & seen ? ends & in : 0;
		}
	}
	return seen;
}

/* Join switch `to` to the tree by its switch `from`; false: two are too far apart. */
static bool join(struct growth *y, uint32_t in, uint32_t from, uint32_t to)
{
	uint32_t most = 2 * y->g->height;

	for (uint32_t left = in; left; left &= left - 1) {
		uint32_t sw = (uint32_t)__builtin_ctz(left);

		y->hops[to][sw] = y->hops[sw][to] = (uint8_t)(y->hops[from][sw] + 1);
		if (y->hops[to][sw] > most)
			return false;
	}
	return true;
}

/* All trees over y->all that have `tree`, which joins the switches `in`, and else links
 * out of `links`. */
static void grow(struct growth *y, uint32_t in, uint32_t tree, uint32_t links)
{
	struct exact *x = y->x;
	uint32_t own = FAB_NONE, a, b;

	if (is_over(x))
		return;
	if (in == y->all) {
		/* Every switch that is no member must have two links: else the tree is
		 * one of fewer switches with a link too many. */
		for (uint32_t left = y->all & ~y->g->switches; left; left &= left - 1) {
			uint32_t sw = (uint32_t)__builtin_ctz(left), n = 0;

			for (uint32_t k = 0; k < x->n; k++)
				n += x->link_of[sw][k] != FAB_NONE &&
				     tree >> x->link_of[sw][k] & 1;
			if (n < 2)
				return;
		}
		FAB_PUSH(&x->room, tree);
		return;
	}
	if (reachable(x, in, y->all, links) != y->all)
		return;
	for (uint32_t left = links; left && own == FAB_NONE; left &= left - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(left);

		a = x->link[l].sw[0];
		b = x->link[l].sw[1];
		if ((in >> a & 1) != (in >> b & 1) && (y->all >> a & y->all >> b & 1))
			own = l;
	}
	links &= ~(1u << own);
	a = x->link[own].sw[0];
	b = x->link[own].sw[1];
	if (in >> a & 1 ? join(y, in, a, b) : join(y, in, b, a))
		grow(y, in | 1u << a | 1u << b, tree | 1u << own, links);
	grow(y, in, tree, links);
}

/* List the trees of a group whose ends are members; of those with switches of few links
 * first. */
static void list_trees(struct exact *x, struct member_group *g)
{
	struct growth y = {.x = x, .g = g};
	uint32_t others = ((1u << x->n) - 1) & ~g->switches;

	for (uint32_t n = 0; n <= x->n; n++)
		for (uint32_t more = others;; more = (more - 1) & others) {
			if ((uint32_t)__builtin_popcount(more) == n) {
				y.all = g->switches | more;
				grow(&y, y.all & -y.all, 0,
				     (uint32_t)(((uint64_t)1 << x->n_links) - 1));
			}
			if (!more)
				break;
		}
}

/* Links that a group may use without reaching the best level. */
static uint32_t usable(const struct exact *x, uint32_t g)
{
	uint32_t links = 0;

	for (uint32_t l = 0; l < x->n_links; l++)
		links |= (uint32_t)is_less(x->link[l].level[x->on_link[l] | 1 << g],
					   x->best)
			 << l;
	return links;
}

/* Of trees that are left, from `first` on in the room. */
struct choice {
	size_t first, n;
};

static void put(struct exact *x, uint32_t g, uint32_t tree)
{
	x->tree[g] = tree;
	for (; tree; tree &= tree - 1)
		x->on_link[__builtin_ctz(tree)] |= (uint8_t)(1 << g);
}

static double level_of(const struct exact *x)
{
	double level = 0;

	for (uint32_t l = 0; l < x->n_links; l++)
		level = fmax(level, x->link[l].level[x->on_link[l]]);
	return level;
}

/* All choices for the groups of `left`, whose trees that are left are those of `from`. */
static void branch(struct exact *x, uint32_t left, const struct choice *from)
{
	struct choice own[GROUPS];
	size_t room = x->room.n;
	uint32_t g = FAB_NONE, links;

	if (is_over(x))
		return;
	if (!left) {
		x->best = level_of(x); /* less than before: all its links are */
		memcpy(x->best_tree, x->tree, sizeof(x->best_tree));
		x->is_better = true;
		return;
	}
	for (uint32_t i = 0; i < x->n_groups; i++) {
		if (!(left >> i & 1))
			continue;
		/* Copy the trees that the group has left to the end of the room. */
		links = usable(x, i);
		own[i].first = x->room.n;
		for (size_t k = 0; k < from[i].n; k++) {
			uint32_t tree = x->room.v[from[i].first + k];

			if (!(tree & ~links))
				FAB_PUSH(&x->room, tree);
		}
		own[i].n = x->room.n - own[i].first;
		if (g == FAB_NONE || own[i].n < own[g].n)
			g = i;
		if (!own[i].n)
			break;
	}
	for (size_t i = 0; i < own[g].n; i++) {
		uint32_t tree = x->room.v[own[g].first + i];
		/* the best level may have become less since the trees were listed */
		bool is_new = !(tree & ~usable(x, g));

		/* Groups of equal switches and demands are exchangeable: their trees are
		 * in the order in which they were chosen. */
		for (uint32_t h = 0; h < x->n_groups && is_new; h++) {
			const struct member_group *a = &x->group[h], *b = &x->group[g];

			is_new = left >> h & 1 || a->switches != b->switches ||
				 a->need < b->need || a->need > b->need ||
				 tree >= x->tree[h];
		}
		if (!is_new)
			continue;
		put(x, g, tree);
		branch(x, left & ~(1u << g), own);
		for (uint32_t l = tree; l; l &= l - 1)
			x->on_link[__builtin_ctz(l)] &= (uint8_t) ~(1 << g);
		if (is_over(x) || !is_less(level_of(x), x->best))
			break;
	}
	x->room.n = room;
}

/* Give a group its best tree. */
static void hand_over(const struct exact *x, struct fab_revision *r,
		      struct fab_graft *graft, uint32_t g)
{
	const struct fab_groups *groups = x->p->groups;
	uint32_t id = x->group[g].id, cable[N], n = 0;
	struct fab_grafted tree;

	for (uint32_t left = x->best_tree[g]; left; left &= left - 1, n++) {
		const struct link *l = &x->link[__builtin_ctz(left)];

		/* The cable of the link that the group is on. */
		for (size_t c = l->n_cables, set = x->on_link[l - x->link]; c-- > 0;) {
			uint8_t part = l->on[c * SETS + set];

			cable[n] = l->cable[c];
			if (part >> g & 1)
				break;
			set ^= part;
		}
	}
	tree = fab_graft_change(graft, r->s->load, 0, cable, n,
				groups->sw + groups->sw_first[id],
				fab_group_n_switches(groups, id));
	fab_revision_put(r, id, tree.root, tree.height, tree.n, tree.sw, tree.cable);
}

/* The groups of several switches; false: there are too many. */
static bool find_groups(struct exact *x)
{
	const struct fab_groups *groups = x->p->groups;
	struct fab_roots_one *one = fab_roots_one_new(x->p->dist, x->arena);
	const struct fab_weights *w = x->p->weights;

	for (uint32_t i = 0; i < groups->n; i++) {
		const uint32_t *sw = groups->sw + groups->sw_first[i];
		uint32_t n = fab_group_n_switches(groups, i);
		struct member_group *g = &x->group[x->n_groups];

		if (n < 2)
			continue;
		if (x->n_groups == GROUPS)
			return false;
		g->id = i;
		g->need = w ? (double)w->units[i] : 1;
		for (uint32_t k = 0; k < n; k++)
			g->switches |= 1u << sw[k];
		g->height = fab_roots_one_find(one, sw, n) + x->o->height_slack;
		x->n_groups++;
	}
	return true;
}

enum fab_mcast_ended fab_exact_solve(struct fab_mcast_state *s,
				     const struct fab_mcast_options *options)
{
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct exact *x;
	enum fab_mcast_ended ended;

	if (s->problem->f->n_switches > FAB_EXACT_SWITCHES)
		return FAB_ENDED_DONE;
	x = FAB_ARENA_NEW0(&arena, 1, struct exact);
	x->arena = &arena;
	x->p = s->problem;
	x->o = options;
	x->n = x->p->f->n_switches;
	if (find_groups(x)) {
		find_links(x);
		x->best = fab_mcast_max_level(s);
		struct choice all[GROUPS] = {0};

		for (uint32_t g = 0; g < x->n_groups; g++) {
			all[g].first = x->room.n;
			list_trees(x, &x->group[g]);
			all[g].n = x->room.n - all[g].first;
		}
		if (x->ended == FAB_ENDED_DONE)
			branch(x, (1u << x->n_groups) - 1, all);
		if (x->ended == FAB_ENDED_DONE)
			x->ended = FAB_ENDED_EXACT;
	}
	if (x->is_better) {
		struct fab_revision r = fab_revision_begin(s);
		struct fab_graft *graft = fab_graft_new(x->p->f, &arena);

		memset(x->on_link, 0, sizeof(x->on_link));
		for (uint32_t g = 0; g < x->n_groups; g++) {
			fab_revision_take_out(&r, x->group[g].id);
			put(x, g, x->best_tree[g]);
		}
		for (uint32_t g = 0; g < x->n_groups; g++)
			hand_over(x, &r, graft, g);
		fab_revision_end(&r);
	}
	ended = x->ended;
	free(x->room.v);
	return ended;
}
