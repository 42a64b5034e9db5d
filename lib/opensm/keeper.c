/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/keeper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/progress.h"
#include "fabric/dist.h"
#include "fabric/shape.h"
#include "mcast/bounds.h"
#include "mcast/relief.h"
#include "mcast/route.h"

/* A fabric and what is known of it; plans hold on to it. */
struct shared_fabric {
	atomic_uint n_users;
	struct fab_fabric *f;
	struct fab_dist *dist;
	struct fab_shape *shape;
	struct fab_map64 *port_of;   /* by GUID: adapters' ports, port 0 of switches */
	struct fab_map64 *switch_of; /* by GUID of the node */
};

struct fab_keeper {
	uint32_t n_groups;
	const struct fab_mcast_engine *step; /* of groups that are new */
	struct shared_fabric *shared;	     /* NULL: none */
	struct fab_live *live;		     /* NULL without a fabric */
	FAB_VEC(uint64_t) changed; /* ports that joined or left the last group */
};

/* Balancing all trees on a copy, while the keeper goes on. */

struct fab_plan {
	struct shared_fabric *shared;
	uint32_t n_trees;	  /* groups that have one */
	uint32_t *number;	  /* [n_trees] of the group, ascending */
	struct fab_live *live;	  /* by place in `number`; what is found is left here */
	uint32_t n_moved, *moved; /* places */
};

static void shared_fabric_drop(struct shared_fabric *s)
{
	if (!s || atomic_fetch_sub(&s->n_users, 1) > 1)
		return;
	fab_shape_free(s->shape);
	fab_dist_free(s->dist);
	fab_map64_free(s->port_of);
	fab_map64_free(s->switch_of);
	fab_fabric_free(s->f);
	free(s);
}

struct fab_plan *fab_keeper_plan(const struct fab_keeper *k)
{
	struct fab_plan *p;
	uint32_t n = 0;

	for (uint32_t g = 0; k->live && g < k->n_groups; g++)
		n += fab_live_tree_of(k->live, g).root != FAB_NONE;
	if (!n)
		return NULL;
	p = FAB_NEW0(1, struct fab_plan);
	p->shared = k->shared;
	atomic_fetch_add(&p->shared->n_users, 1);
	p->number = FAB_NEW(n, uint32_t);
	p->moved = FAB_NEW(n, uint32_t);
	p->live = fab_live_new(p->shared->f, p->shared->dist, n,
			       fab_mcast_engine_find("balanced", 8), FAB_TIES_SPREAD);
	for (uint32_t g = 0; g < k->n_groups; g++) {
		struct fab_live_tree t = fab_live_tree_of(k->live, g);

		if (t.root == FAB_NONE)
			continue;
		fab_live_adopt(p->live, p->n_trees, &t);
		p->number[p->n_trees++] = g;
	}
	return p;
}

void fab_plan_free(struct fab_plan *p)
{
	if (!p)
		return;
	fab_live_free(p->live);
	shared_fabric_drop(p->shared);
	FAB_FREE_ALL(p->number, p->moved, p);
}

uint32_t fab_plan_n_trees(const struct fab_plan *p)
{
	return p->n_trees;
}

struct deadline {
	double seconds; /* of the clock */
	const atomic_bool *stop;
};

static bool is_late(void *context)
{
	const struct deadline *d = context;

	return (d->stop && atomic_load(d->stop)) || fab_now() > d->seconds;
}

static int is_late_at(void *context, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	return is_late(context);
}

/* All groups by the engine; -ECANCELED: out of time. */
static int route_all(const struct fab_mcast_problem *problem,
		     const struct fab_plan_options *o, struct deadline *deadline,
		     struct fab_plan_result *r, struct fab_forest *trees,
		     struct fab_err *err)
{
	const struct fab_mcast_options options = {.n_threads = 1,
						  .bound = r->bound,
						  .progress = is_late_at,
						  .progress_context = deadline};
	FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result result = {0};
	uint32_t max = 0;
	double seconds;
	int rc =
		fab_mcast_route(problem, &o->engine, 1, &options, &result, &seconds, err);

	if (rc)
		return rc;
	for (uint32_t c = 0; c < problem->f->n_switch_links; c++)
		max = result.load[c] > max ? result.load[c] : max;
	rc = fab_mcast_verify(problem, &result, err);
	if (!rc && max < r->before) {
		struct fab_forest worse = *trees;

		*trees = result.forest;
		result.forest = worse;
	}
	return rc;
}

/* Put the trees of a forest that are others into the copy. */
static void adopt(struct fab_plan *p, const struct fab_forest *forest)
{
	for (uint32_t i = 0; i < p->n_trees; i++) {
		struct fab_live_tree t = fab_live_tree_of(p->live, i), new = t;

		new.root = forest->root[i];
		new.height = forest->height[i];
		new.n_routed = t.n_members;
		new.n_edges = fab_forest_size(forest, i);
		new.sw = forest->sw + forest->first[i];
		new.cable = forest->cable + forest->first[i];
		if (t.root == new.root && t.n_edges == new.n_edges &&
		    (!t.n_edges ||
		     (!memcmp(t.sw, new.sw, t.n_edges * sizeof(*t.sw)) &&
		      !memcmp(t.cable, new.cable, t.n_edges * sizeof(*t.cable)))))
			continue;
		p->moved[p->n_moved++] = i;
		fab_live_adopt(p->live, i, &new);
	}
}

/* Check the trees of the copy independently. Trees that were kept may be higher. */
static int verify(const struct fab_plan *p, const struct fab_groups *groups,
		  struct fab_err *err)
{
	struct fab_mcast_engine any_height = {.may_be_higher = true};
	FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result result = {0};
	FAB_AUTO(fab_groups_free_at) struct fab_groups *found = NULL;
	int rc = fab_live_result(p->live, groups, &found, &result, err);

	if (rc)
		return rc;
	any_height.name = result.engine->name;
	result.engine = &any_height;
	return fab_mcast_verify(
		&(struct fab_mcast_problem){p->shared->f, p->shared->dist, found},
		&result, err);
}

static int solve(struct fab_plan *p, const struct fab_groups *groups,
		 const struct fab_plan_options *o, struct fab_plan_result *r,
		 struct fab_err *err)
{
	const struct fab_mcast_problem problem = {.f = p->shared->f,
						  .dist = p->shared->dist,
						  .groups = groups,
						  .shape = p->shared->shape};
	struct deadline deadline = {fab_now() + o->time_limit_ms / 1e3, o->stop};
	uint32_t of_height = fab_mcast_height_bound(&problem);
	struct fab_mcast_result now;
	struct fab_groups *same;
	int rc;

	r->bound = fab_mcast_lower_bound(&problem);
	if (of_height > r->bound)
		r->bound = of_height;
	if (r->before <= r->bound)
		return 0;
	rc = fab_live_result(p->live, groups, &same, &now, err);
	if (rc)
		return rc;
	if (o->engine) {
		rc = route_all(&problem, o, &deadline, r, &now.forest, err);
	} else {
		const struct fab_mcast_options options = {.n_threads = 1,
							  .bound = r->bound,
							  .is_over = is_late,
							  .is_over_context = &deadline};
		struct fab_relief relief;

		fab_mcast_relieve(&problem, &now.forest, &options, o->max_moved, &relief);
		r->n_needed = relief.n_needed;
		r->is_out_of_time = relief.is_out_of_time;
	}
	if (rc == -ECANCELED) {
		r->is_out_of_time = true;
		rc = 0;
	}
	if (!rc)
		adopt(p, &now.forest);
	fab_mcast_result_fini(&now);
	fab_groups_free(same);
	return rc ? rc : verify(p, groups, err);
}

int fab_plan_solve(struct fab_plan *p, const struct fab_plan_options *options,
		   struct fab_plan_result *r, struct fab_err *err)
{
	struct fab_groups *groups;
	int rc;
	struct fab_groups_builder *b = fab_groups_builder_new(p->shared->f);
	char name[16];

	/* The groups under their numbers; O(members). */
	for (uint32_t i = 0; i < p->n_trees; i++) {
		struct fab_live_tree t = fab_live_tree_of(p->live, i);
		int len = snprintf(name, sizeof(name), "%u", p->number[i]);

		fab_groups_builder_begin(b, name, (size_t)len);
		for (uint32_t m = 0; m < t.n_members; m++)
			fab_groups_builder_add(b, t.member[m]);
	}
	rc = fab_groups_builder_finish(b, false, &groups, err);
	*r = (struct fab_plan_result){.n_groups = p->n_trees,
				      .before = fab_live_max_load(p->live)};
	if (!rc) {
		rc = solve(p, groups, options, r, err);
		fab_groups_free(groups);
	}
	if (rc)
		p->n_moved = 0;
	r->n_moved = p->n_moved;
	r->after = rc ? r->before : fab_live_max_load(p->live);
	return rc;
}

uint32_t fab_keeper_take(struct fab_keeper *k, const struct fab_plan *p, uint32_t *moved)
{
	uint32_t n = 0;

	if (k->shared != p->shared)
		return 0;
	for (uint32_t i = 0; i < p->n_moved; i++) {
		struct fab_live_tree new = fab_live_tree_of(p->live, p->moved[i]);
		uint32_t group = p->number[p->moved[i]];
		struct fab_live_tree now = fab_live_tree_of(k->live, group);

		if (now.n_members != new.n_members ||
		    memcmp(now.member, new.member, now.n_members * sizeof(*now.member)) !=
			    0)
			continue;
		fab_live_adopt(k->live, group, &new);
		moved[n++] = group;
	}
	return n;
}

/* Takes the fabric, whatever happens. */
static struct shared_fabric *share(struct fab_fabric *f, struct fab_err *err)
{
	struct shared_fabric *s = FAB_NEW0(1, struct shared_fabric);

	atomic_init(&s->n_users, 1);
	s->f = f;
	s->port_of = fab_map64_new(f->n_ports);
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (f->port_guid[p])
			fab_map64_put(s->port_of, f->port_guid[p], p);
	s->switch_of = fab_map64_new(f->n_switches);
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		fab_map64_put(s->switch_of, f->node_guid[sw], sw);
	if (fab_dist_new(f, 1, &s->dist, err)) {
		shared_fabric_drop(s);
		return NULL;
	}
	s->shape = fab_shape_recognize(f);
	return s;
}

struct fab_keeper *fab_keeper_new(uint32_t n_groups)
{
	struct fab_keeper *k = FAB_NEW0(1, struct fab_keeper);

	k->n_groups = n_groups;
	k->step = fab_mcast_engine_find("balanced", 8);
	return k;
}

void fab_keeper_clear(struct fab_keeper *k)
{
	fab_live_free(k->live);
	shared_fabric_drop(k->shared);
	k->live = NULL;
	k->shared = NULL;
}

void fab_keeper_free(struct fab_keeper *k)
{
	if (!k)
		return;
	fab_keeper_clear(k);
	free(k->changed.v);
	free(k);
}

/*
 * The ports with these GUIDs, ascending, each once, all connected, into port[n]; how many
 * or a negative errno. Held: those that are not there are left out.
 */
static int find_ports(const struct shared_fabric *s, const uint64_t *guid, uint32_t n,
		      bool is_held, uint32_t *port, struct fab_err *err)
{
	uint32_t n_ports = 0, n_there = 0;
	const uint8_t *row;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t p = fab_map64_get(s->port_of, guid[i]);

		if (p != FAB_NONE && fab_port_switch(s->f, p) != FAB_NONE)
			port[n_there++] = p;
		else if (!is_held)
			return fab_fail(
				err, ENOENT,
				"port 0x%016llx is on no switch that supports multicast",
				(unsigned long long)guid[i]);
	}
	n = n_there;
	if (!n)
		return 0;
	qsort(port, n, sizeof(*port), fab_cmp_u32);
	row = fab_dist_row(s->dist, fab_port_switch(s->f, port[0]));
	for (uint32_t i = 0; i < n; i++) {
		if (row[fab_port_switch(s->f, port[i])] == FAB_HOPS_UNREACHABLE)
			return fab_fail(err, EHOSTUNREACH,
					"ports 0x%016llx and 0x%016llx are not connected",
					(unsigned long long)s->f->port_guid[port[0]],
					(unsigned long long)s->f->port_guid[port[i]]);
		if (!n_ports || port[i] != port[n_ports - 1])
			port[n_ports++] = port[i];
	}
	return (int)n_ports;
}

/* List the ports of only one of two ascending lists; returns how many are in both. */
static uint32_t list_changes(struct fab_keeper *k, const uint32_t *a, uint32_t n_a,
			     const uint32_t *b, uint32_t n_b)
{
	uint32_t i = 0, j = 0, n_both = 0;

	k->changed.n = 0;
	while (i < n_a || j < n_b) {
		uint32_t port;

		if (i < n_a && j < n_b && a[i] == b[j]) {
			i++;
			j++;
			n_both++;
			continue;
		}
		port = j == n_b || (i < n_a && a[i] < b[j]) ? a[i++] : b[j++];
		FAB_PUSH(&k->changed, k->shared->f->port_guid[port]);
	}
	return n_both;
}

int fab_keeper_route(struct fab_keeper *k, uint32_t group, const uint64_t *guid,
		     uint32_t n, bool is_held, struct fab_err *err)
{
	struct fab_live_tree t;
	uint32_t n_now, n_stay;
	FAB_AUTOFREE uint32_t *port = NULL;
	int found;

	if (!k->live || group >= k->n_groups)
		return fab_fail(err, ENXIO, "nothing is known of the subnet yet");
	port = FAB_NEW(n, uint32_t);
	found = find_ports(k->shared, guid, n, is_held, port, err);
	n_now = found < 0 ? 0 : (uint32_t)found;
	t = fab_live_tree_of(k->live, group);
	n_stay = list_changes(k, t.member, t.n_members, port, n_now);
	if (2 * n_stay < t.n_members) /* another group under the same number */
		fab_live_route(k->live, group, port, n_now);
	else if (k->changed.n)
		fab_live_change(k->live, group, port, n_now);
	return found < 0 ? found : k->changed.n > 0;
}

void fab_keeper_set_step(struct fab_keeper *k, const struct fab_mcast_engine *engine)
{
	k->step = engine;
}

uint32_t fab_keeper_changed(const struct fab_keeper *k, const uint64_t **guid)
{
	*guid = k->changed.v;
	return (uint32_t)k->changed.n;
}

/* FAB_NONE: it is gone. */
static uint32_t same_switch(const struct shared_fabric *from,
			    const struct shared_fabric *to, uint32_t sw)
{
	return fab_map64_get(to->switch_of, from->f->node_guid[sw]);
}

/* The port of a switch that has the place of a port of `from`; FAB_NONE: it is gone. */
static uint32_t same_port(const struct shared_fabric *from,
			  const struct shared_fabric *to, uint32_t port)
{
	uint32_t sw = same_switch(from, to, from->f->port_node[port]);

	return sw == FAB_NONE ? FAB_NONE
			      : fab_port_find(to->f, sw, from->f->port_num[port]);
}

/* Members of the old tree that are among port[n], ascending, on the same switches as
 * before, ascending into stay[]; how many. */
static uint32_t find_stay(const struct shared_fabric *from,
			  const struct fab_live_tree *old, const struct shared_fabric *to,
			  const uint32_t *port, uint32_t n, uint32_t *stay)
{
	uint32_t n_stay = 0;

	for (uint32_t i = 0; i < old->n_members; i++) {
		uint32_t was_on = fab_port_switch(from->f, old->member[i]);
		uint32_t now =
			fab_map64_get(to->port_of, from->f->port_guid[old->member[i]]);

		if (now != FAB_NONE &&
		    bsearch(&now, port, n, sizeof(*port), fab_cmp_u32) &&
		    fab_port_switch(to->f, now) == same_switch(from, to, was_on))
			stay[n_stay++] = now;
	}
	qsort(stay, n_stay, sizeof(*stay), fab_cmp_u32);
	return n_stay;
}

/* The old tree in the new fabric, if all of it is there and at least half of its members
 * stay; true: its members are the same. */
static bool carry_over(const struct shared_fabric *from, const struct fab_live_tree *old,
		       struct fab_keeper *k, uint32_t group, const uint32_t *port,
		       uint32_t n)
{
	const struct shared_fabric *to = k->shared;
	struct fab_live_tree new = *old;
	FAB_AUTOFREE uint32_t *sw = FAB_NEW(old->n_edges, uint32_t);
	FAB_AUTOFREE uint32_t *cable = FAB_NEW(old->n_edges, uint32_t);
	bool is_there;

	new.member = FAB_NEW(old->n_members, uint32_t);
	new.n_members = find_stay(from, old, to, port, n, new.member);
	new.sw = sw;
	new.cable = cable;
	new.root = same_switch(from, to, old->root);
	is_there = new.root != FAB_NONE && 2 * new.n_members >= old->n_members;
	for (uint32_t e = 0; e < old->n_edges && is_there; e++) {
		uint32_t a = same_port(from, to, from->f->cable_a[old->cable[e]]);
		uint32_t b = same_port(from, to, from->f->cable_b[old->cable[e]]);

		sw[e] = same_switch(from, to, old->sw[e]);
		is_there = sw[e] != FAB_NONE && a != FAB_NONE && b != FAB_NONE &&
			   fab_port_peer(to->f, a) == b;
		cable[e] = is_there ? to->f->port_cable[a] : FAB_NONE;
	}
	if (is_there)
		fab_live_adopt(k->live, group, &new);
	free(new.member);
	return is_there && new.n_members == n && old->n_members == n;
}

/* First what stays, so that the others are routed over its loads. */
static void settle(struct fab_keeper *k, const struct fab_keeper *old,
		   const struct fab_membership *m, bool is_first, bool *is_kept,
		   struct fab_keeper_counts *counts)
{
	for (uint32_t g = 0; g < m->n; g++) {
		uint32_t n = (uint32_t)(m->first[g + 1] - m->first[g]);
		FAB_AUTOFREE uint32_t *port = FAB_NEW(n, uint32_t);
		bool is_held = m->is_held && m->is_held[g];
		int found = find_ports(k->shared, m->guid + m->first[g], n, is_held, port,
				       NULL);
		struct fab_live_tree t;

		if (is_first && old->live && found > 1) {
			t = fab_live_tree_of(old->live, g);
			is_kept[g] =
				t.root != FAB_NONE &&
				carry_over(old->shared, &t, k, g, port, (uint32_t)found);
		}
		if (!is_first && found > 0) {
			if (!is_kept[g])
				fab_live_change(k->live, g, port, (uint32_t)found);
			counts->kept += is_kept[g];
			counts->routed += found > 1 && !is_kept[g];
		}
		if (!is_first)
			counts->left += found < 0;
	}
}

int fab_keeper_renew(struct fab_keeper *k, struct fab_fabric *f,
		     const struct fab_membership *members,
		     struct fab_keeper_counts *counts, struct fab_err *err)
{
	struct fab_keeper old = {.shared = k->shared, .live = k->live};
	bool *is_kept = FAB_NEW0(members->n, bool); /* before anything is lost */

	*counts = (struct fab_keeper_counts){0};
	k->live = NULL;
	k->shared = share(f, err);
	if (k->shared) {
		k->live = fab_live_new(f, k->shared->dist, k->n_groups, k->step,
				       FAB_TIES_SPREAD);
		settle(k, &old, members, true, is_kept, counts);
		settle(k, &old, members, false, is_kept, counts);
	}
	fab_keeper_clear(&old);
	free(is_kept);
	return k->shared ? 0 : -EINVAL;
}

struct fab_live_tree fab_keeper_tree(const struct fab_keeper *k, uint32_t group)
{
	if (!k->live || group >= k->n_groups)
		return (struct fab_live_tree){.root = FAB_NONE};
	return fab_live_tree_of(k->live, group);
}

const struct fab_fabric *fab_keeper_fabric(const struct fab_keeper *k)
{
	return k->shared ? k->shared->f : NULL;
}

uint32_t fab_keeper_max_efi(const struct fab_keeper *k)
{
	return k->live ? fab_live_max_load(k->live) : 0;
}
