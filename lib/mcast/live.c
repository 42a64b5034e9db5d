/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees of groups that change, over the loads of all others. */
#include "mcast/live.h"
#include "base/mem.h"
#include "base/order.h"
#include "mcast/engine/state.h"
#include "mcast/graft.h"
#include "mcast/roots.h"

#include <stdlib.h>
#include <string.h>

/* Largest height of a changed tree, as a multiple of the least one. */
enum { MOST_HEIGHT = 2 };

struct fab_live {
	struct fab_mcast_problem problem; /* of one group, the one being routed */
	struct fab_groups one;
	uint64_t first[2], sw_first[2];
	uint32_t same_as;
	const struct fab_mcast_engine *engine;
	enum fab_root_ties ties;
	struct fab_mcast_state state;
	struct fab_graft *graft;
	struct fab_roots_one *radius;
	uint32_t *seen; /* [n_switches] == round: listed */
	uint32_t round;
	FAB_VEC(uint32_t) n_at; /* cables by their loads */
	uint32_t largest, peak; /* load of a cable: now, at any time */
	uint32_t n_trees;
	struct fab_live_tree *trees;
};

struct fab_live *fab_live_new(const struct fab_fabric *f, const struct fab_dist *dist,
			      uint32_t n_groups, const struct fab_mcast_engine *engine,
			      enum fab_root_ties ties)
{
	struct fab_live *l = FAB_NEW0(1, struct fab_live);
	struct fab_arena *a = &l->state.arena;

	l->problem = (struct fab_mcast_problem){f, dist, &l->one, NULL};
	l->one = (struct fab_groups){.n = 1,
				     .first = l->first,
				     .sw_first = l->sw_first,
				     .same_as = &l->same_as};
	fab_mcast_state_init(&l->state, &l->problem, engine);
	l->one.sw = FAB_ARENA_NEW(a, f->n_switches, uint32_t);
	l->engine = engine;
	l->ties = ties;
	l->state.largest = &l->largest;
	FAB_PUSH(&l->n_at, f->n_switch_links);
	l->graft = fab_graft_new(f, a);
	l->radius = fab_roots_one_new(dist, a);
	l->seen = FAB_ARENA_NEW0(a, f->n_switches, uint32_t);
	l->n_trees = n_groups;
	l->trees = FAB_ARENA_NEW0(a, n_groups, struct fab_live_tree);
	for (uint32_t i = 0; i < n_groups; i++)
		l->trees[i].root = FAB_NONE;
	return l;
}

static void tree_fini(struct fab_live_tree *t)
{
	FAB_FREE_ALL(t->member, t->sw, t->cable);
}

void fab_live_free(struct fab_live *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->n_trees; i++)
		tree_fini(&l->trees[i]);
	fab_mcast_state_fini(&l->state);
	free(l->n_at.v);
	free(l);
}

static void *copy(const void *from, size_t n, size_t size)
{
	void *to = fab_alloc(n, size);

	if (n)
		memcpy(to, from, n * size);
	return to;
}

/* The loads of these cables have risen by one (sign 1), or fallen. */
static void note_loads(struct fab_live *l, const uint32_t *cable, uint32_t n, int sign)
{
	for (uint32_t e = 0; e < n; e++) {
		uint32_t load = l->state.load[cable[e]];

		l->n_at.v[load - (uint32_t)sign]--;
		if (load == l->n_at.n)
			FAB_PUSH(&l->n_at, 0);
		l->n_at.v[load]++;
		l->largest = load > l->largest ? load : l->largest;
	}
	while (l->largest && !l->n_at.v[l->largest])
		l->largest--;
	l->peak = l->largest > l->peak ? l->largest : l->peak;
}

/* Add a tree to the loads (sign 1), or subtract it (-1). */
static void count(struct fab_live *l, const struct fab_live_tree *t, int sign)
{
	if (t->root == FAB_NONE)
		return;
	fab_mcast_state_count(&l->state, 0, t->root, t->cable, t->n_edges, sign);
	note_loads(l, t->cable, t->n_edges, sign);
}

/* The members and their different switches become the one group of the problem. */
static void set_group(struct fab_live *l, const struct fab_live_tree *t)
{
	uint64_t at = 0;

	l->one.member = t->member;
	l->first[1] = t->n_members;
	l->round++;
	for (uint32_t i = 0; i < t->n_members; i++) {
		uint32_t sw = fab_port_switch(l->problem.f, t->member[i]);

		if (l->seen[sw] == l->round)
			continue;
		l->seen[sw] = l->round;
		l->one.sw[at++] = sw;
	}
	l->sw_first[1] = at;
}

/* The tree of the members, from nothing. */
static void grow(struct fab_live *l, struct fab_live_tree *t)
{
	struct fab_mcast_state *s = &l->state;
	FAB_AUTO(fab_roots_fini) struct fab_roots roots = {0};

	set_group(l, t);
	fab_roots_find(l->problem.dist, &l->one, 0, 0, 1, 0, &roots);
	t->root = fab_mcast_choose_root(s, l->engine, &roots, l->ties, 0);
	s->n_edges = 0;
	fab_mcast_state_grow(s, l->engine, &roots, 0, t->root);
	t->n_routed = t->n_members;
	t->height = s->forest.height[0];
	t->n_edges = (uint32_t)s->n_edges;
	t->sw = copy(s->forest.sw, t->n_edges, sizeof(*t->sw));
	t->cable = copy(s->forest.cable, t->n_edges, sizeof(*t->cable));
	note_loads(l, t->cable, t->n_edges, 1);
}

/* Is the group not much larger or smaller than when it was routed? */
static bool is_similar(const struct fab_live_tree *old, uint32_t n)
{
	return old->root != FAB_NONE && 2 * (uint64_t)n < 3 * (uint64_t)old->n_routed &&
	       2 * (uint64_t)n > old->n_routed;
}

/* The tree that these cables, which are not in the loads, become for the members. False:
 * it would be more than `most_height` times as high as needed, or not reach all. */
static bool graft(struct fab_live *l, const uint32_t *cable, uint32_t n_cables,
		  uint32_t most_height, struct fab_live_tree *t)
{
	struct fab_grafted g;
	uint32_t n_sw;

	set_group(l, t);
	n_sw = (uint32_t)l->sw_first[1];
	g = fab_graft_change(l->graft, l->state.load, l->largest, cable, n_cables,
			     l->one.sw, n_sw);
	if (g.height > most_height * fab_roots_one_find(l->radius, l->one.sw, n_sw))
		return false;
	l->round++;
	l->seen[g.root] = l->round;
	for (uint32_t i = 0; i < g.n; i++)
		l->seen[g.sw[i]] = l->round;
	for (uint32_t i = 0; i < n_sw; i++)
		if (l->seen[l->one.sw[i]] != l->round)
			return false;
	t->root = g.root;
	t->height = g.height;
	t->n_edges = g.n;
	t->sw = copy(g.sw, g.n, sizeof(*t->sw));
	t->cable = copy(g.cable, g.n, sizeof(*t->cable));
	count(l, t, 1);
	return true;
}

/* The ports of switches that the tree's packets leave by, ascending; *n of them. */
static uint32_t *ports_of(const struct fab_fabric *f, const struct fab_live_tree *t,
			  size_t *n)
{
	uint32_t *ports = FAB_NEW(2 * (size_t)t->n_edges + t->n_members, uint32_t);

	*n = 0;
	if (t->root == FAB_NONE)
		return ports;
	for (uint32_t e = 0; e < t->n_edges; e++) {
		ports[(*n)++] = f->cable_a[t->cable[e]];
		ports[(*n)++] = f->cable_b[t->cable[e]];
	}
	for (uint32_t i = 0; i < t->n_members; i++) {
		uint32_t port = t->member[i];
		bool is_switch = fab_node_is_switch(f, f->port_node[port]);

		ports[(*n)++] = is_switch ? port : fab_port_peer(f, port);
	}
	qsort(ports, *n, sizeof(*ports), fab_cmp_u32);
	return ports;
}

static uint64_t replace(struct fab_live *l, uint32_t group, const fab_port_id *member,
			uint32_t n, bool may_graft)
{
	struct fab_live_tree *old = &l->trees[group];
	struct fab_live_tree new = {.root = FAB_NONE,
				    .n_members = n,
				    .member = copy(member, n, sizeof(*member))};
	size_t n_old, n_new, i = 0, j = 0;
	uint32_t last = FAB_NONE;
	FAB_AUTOFREE uint32_t *a = NULL, *b = NULL;
	uint64_t changed = 0;

	count(l, old, -1);
	if (n > 1 && may_graft && is_similar(old, n) &&
	    graft(l, old->cable, old->n_edges, MOST_HEIGHT, &new))
		new.n_routed = old->n_routed;
	else if (n > 1)
		grow(l, &new);
	/* Switches with a port that only one of the trees uses. Ports stand switch by
	 * switch. */
	a = ports_of(l->problem.f, old, &n_old);
	b = ports_of(l->problem.f, &new, &n_new);
	while (i < n_old || j < n_new) {
		uint32_t port;

		if (i < n_old && j < n_new && a[i] == b[j]) {
			i++;
			j++;
			continue;
		}
		port = j == n_new || (i < n_old && a[i] < b[j]) ? a[i++] : b[j++];
		changed += l->problem.f->port_node[port] != last;
		last = l->problem.f->port_node[port];
	}
	tree_fini(old);
	*old = new;
	return changed;
}

uint64_t fab_live_route(struct fab_live *l, uint32_t group, const fab_port_id *member,
			uint32_t n)
{
	return replace(l, group, member, n, false);
}

uint64_t fab_live_change(struct fab_live *l, uint32_t group, const fab_port_id *member,
			 uint32_t n)
{
	return replace(l, group, member, n, true);
}

void fab_live_put(struct fab_live *l, uint32_t group, const fab_port_id *member,
		  uint32_t n, const uint32_t *cable, uint32_t n_cables)
{
	struct fab_live_tree *old = &l->trees[group];
	struct fab_live_tree new = {.root = FAB_NONE,
				    .n_members = n,
				    .n_routed = n,
				    .member = copy(member, n, sizeof(*member))};

	count(l, old, -1);
	if (n > 1 && !graft(l, cable, n_cables, UINT8_MAX, &new))
		grow(l, &new);
	tree_fini(old);
	*old = new;
}

struct fab_live_tree fab_live_tree_of(const struct fab_live *l, uint32_t group)
{
	return l->trees[group];
}

void fab_live_adopt(struct fab_live *l, uint32_t group, const struct fab_live_tree *from)
{
	struct fab_live_tree new = *from;

	new.member = copy(from->member, from->n_members, sizeof(*from->member));
	new.sw = copy(from->sw, from->n_edges, sizeof(*from->sw));
	new.cable = copy(from->cable, from->n_edges, sizeof(*from->cable));
	count(l, &l->trees[group], -1);
	tree_fini(&l->trees[group]);
	l->trees[group] = new;
	count(l, &new, 1);
}

uint32_t fab_live_max_load(const struct fab_live *l)
{
	return l->largest;
}

uint32_t fab_live_peak(const struct fab_live *l)
{
	return l->peak;
}

int fab_live_result(const struct fab_live *l, const struct fab_groups *names,
		    struct fab_groups **groups, struct fab_mcast_result *result,
		    struct fab_err *err)
{
	struct fab_groups_builder *b = fab_groups_builder_new(l->problem.f);
	uint32_t n = 0, at = 0;
	int rc;

	*groups = NULL;
	for (uint32_t i = 0; i < l->n_trees; i++) {
		const char *name = fab_group_name(names, i);

		if (!l->trees[i].n_members)
			continue;
		n++;
		fab_groups_builder_begin(b, name, strlen(name));
		for (uint32_t m = 0; m < l->trees[i].n_members; m++)
			fab_groups_builder_add(b, l->trees[i].member[m]);
	}
	if (n) {
		rc = fab_groups_builder_finish(b, false, groups, err);
		if (rc)
			return rc;
	} else {
		fab_groups_builder_free(b);
	}
	*result = (struct fab_mcast_result){.engine = l->engine};
	result->load =
		copy(l->state.load, l->problem.f->n_switch_links, sizeof(uint32_t));
	fab_forest_init(&result->forest, n);
	for (uint32_t i = 0; i < l->n_trees; i++) {
		const struct fab_live_tree *t = &l->trees[i];
		struct fab_forest *forest = &result->forest;
		uint64_t first = forest->first[at];

		if (!t->n_members)
			continue;
		forest->root[at] = t->root != FAB_NONE
					   ? t->root
					   : fab_port_switch(l->problem.f, t->member[0]);
		forest->height[at] = t->height;
		fab_forest_reserve(forest, first, t->n_edges);
		if (t->n_edges) {
			memcpy(forest->sw + first, t->sw, t->n_edges * sizeof(*t->sw));
			memcpy(forest->cable + first, t->cable,
			       t->n_edges * sizeof(*t->cable));
		}
		forest->first[++at] = first + t->n_edges;
	}
	return 0;
}
