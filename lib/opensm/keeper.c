/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/keeper.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/order.h"
#include "fabric/dist.h"
#include "fabric/shape.h"
#include "mcast/bounds.h"
#include "mcast/route.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	struct shared_fabric *shared; /* NULL: none */
	struct fab_live *live;	      /* NULL without a fabric */
};

/* Balancing all trees on a copy, while the keeper goes on. */

/* Of the time of a plan: what the engine may take; the rest is left for single trees. */
#define ENGINE_SHARE 0.7

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
			       fab_mcast_engine_find("fulb-links", 10), FAB_TIES_SPREAD);
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
	free(p->number);
	free(p->moved);
	free(p);
}

struct deadline {
	double seconds; /* of the clock */
	const atomic_bool *stop;
};

static int is_late(void *context, uint64_t done, uint64_t total)
{
	const struct deadline *d = context;

	(void)done;
	(void)total;
	return (d->stop && atomic_load(d->stop)) || fab_now() > d->seconds;
}

/* All groups by the engine; taken only where the fullest cable has fewer trees. */
static int route_all(struct fab_plan *p, const struct fab_mcast_problem *problem,
		     const struct fab_plan_options *o, struct deadline *deadline,
		     struct fab_plan_result *r, struct fab_err *err)
{
	const struct fab_mcast_options options = {.n_threads = 1,
						  .bound = r->bound,
						  .progress = is_late,
						  .progress_context = deadline};
	struct fab_mcast_result result;
	uint32_t max = 0;
	double seconds;
	int rc;

	rc = fab_mcast_route(problem, &o->engine, 1, &options, &result, &seconds, err);
	if (rc == -ECANCELED) {
		r->is_out_of_time = true;
		return 0;
	}
	if (rc)
		return rc;
	for (uint32_t c = 0; c < problem->f->n_switch_links; c++)
		if (result.load[c] > max)
			max = result.load[c];
	rc = fab_mcast_verify(problem, &result, err);
	if (!rc && max < r->before) {
		/* The engine's trees in place of those that are there. */
		for (uint32_t i = 0; i < p->n_trees; i++) {
			struct fab_live_tree t = fab_live_tree_of(p->live, i), new = t;

			new.root = result.forest.root[i];
			new.height = result.forest.height[i];
			new.n_edges = fab_forest_size(&result.forest, i);
			new.sw = result.forest.sw + result.forest.first[i];
			new.cable = result.forest.cable + result.forest.first[i];
			if (t.n_edges && t.root == new.root &&t.n_edges == new.n_edges &&
			    !memcmp(t.sw, new.sw, t.n_edges * sizeof(*t.sw)) &&
			    !memcmp(t.cable, new.cable, t.n_edges * sizeof(*t.cable)))
				continue;
			p->moved[p->n_moved++] = i;
			fab_live_adopt(p->live, i, &new);
		}
	}
	fab_mcast_result_fini(&result);
	return rc;
}

static int solve(struct fab_plan *p, const struct fab_groups *groups,
		 const struct fab_plan_options *o, struct fab_plan_result *r,
		 struct fab_err *err)
{
	const struct fab_mcast_problem problem = {.f = p->shared->f,
						  .dist = p->shared->dist,
						  .groups = groups,
						  .shape = p->shared->shape};
	double start = fab_now(), limit = o->time_limit_ms / 1e3;
	struct deadline deadline = {start + limit * ENGINE_SHARE, o->stop};
	uint32_t of_height = fab_mcast_height_bound(&problem);
	struct fab_mcast_engine any_height = {.may_be_higher = true};
	struct fab_mcast_result result;
	struct fab_groups *found;
	int rc = 0;

	r->bound = fab_mcast_lower_bound(&problem);
	if (of_height > r->bound)
		r->bound = of_height;
	if (r->before <= r->bound)
		return 0;
	if (o->max_moved >= p->n_trees)
		rc = route_all(p, &problem, o, &deadline, r, err);
	if (!rc && !p->n_moved && (o->max_moved < p->n_trees || r->is_out_of_time)) {
		uint32_t most = o->max_moved < p->n_trees ? o->max_moved : p->n_trees;

		deadline.seconds = start + limit;
		p->n_moved =
			fab_live_improve(p->live, most, p->moved, is_late, &deadline);
	}
	if (!rc)
		rc = fab_live_result(p->live, groups, &found, &result, err);
	if (rc)
		return rc;
	/* Check the content of `live` independently. Trees that were kept may be higher.
	 */
	any_height.name = result.engine->name;
	result.engine = &any_height;
	rc = fab_mcast_verify(
		&(struct fab_mcast_problem){p->shared->f, p->shared->dist, found},
		&result, err);
	fab_mcast_result_fini(&result);
	fab_groups_free(found);
	return rc;
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
	free(k);
}

/*
 * The ports with these GUIDs, ascending, each once, all connected, into port[n]; how many
 * or a negative errno.
 */
static int find_ports(const struct shared_fabric *s, const uint64_t *guid, uint32_t n,
		      uint32_t *port, struct fab_err *err)
{
	uint32_t n_ports = 0;
	const uint8_t *row;

	for (uint32_t i = 0; i < n; i++) {
		port[i] = fab_map64_get(s->port_of, guid[i]);
		if (port[i] == FAB_NONE || fab_port_switch(s->f, port[i]) == FAB_NONE)
			return fab_fail(
				err, ENOENT,
				"port 0x%016llx is on no switch that does multicast",
				(unsigned long long)guid[i]);
	}
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

int fab_keeper_route(struct fab_keeper *k, uint32_t group, const uint64_t *guid,
		     uint32_t n, struct fab_err *err)
{
	struct fab_live_tree t;
	uint32_t *port;
	int rc = 1, found;

	if (!k->live || group >= k->n_groups)
		return fab_fail(err, ENXIO, "nothing is known of the subnet yet");
	port = FAB_NEW(n, uint32_t);
	found = find_ports(k->shared, guid, n, port, err);
	t = fab_live_tree_of(k->live, group);
	if (found >= 0 && t.n_members == (uint32_t)found &&
	    (!found || !memcmp(t.member, port, (size_t)found * sizeof(*port))))
		rc = 0;
	else
		fab_live_route(k->live, group, port, found < 0 ? 0 : (uint32_t)found);
	free(port);
	return found < 0 ? found : rc;
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

/* The members hang where they did, on the switches with the same GUIDs. */
static bool members_stay(const struct shared_fabric *from,
			 const struct fab_live_tree *old, const struct shared_fabric *to,
			 const uint32_t *port, uint32_t n)
{
	if (old->root == FAB_NONE || old->n_members != n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t now =
			fab_map64_get(to->port_of, from->f->port_guid[old->member[i]]);
		uint32_t was_on = fab_port_switch(from->f, old->member[i]);

		if (now == FAB_NONE ||
		    !bsearch(&now, port, n, sizeof(*port), fab_cmp_u32) ||
		    fab_port_switch(to->f, now) != same_switch(from, to, was_on))
			return false;
	}
	return true;
}

/* The old tree in the new fabric, if all of it is there. */
static bool carry_over(const struct shared_fabric *from, const struct fab_live_tree *old,
		       struct fab_keeper *k, uint32_t group, uint32_t *port, uint32_t n)
{
	const struct shared_fabric *to = k->shared;
	struct fab_live_tree new = *old;
	uint32_t *sw, *cable;
	bool is_there = members_stay(from, old, to, port, n);

	if (!is_there)
		return false;
	sw = FAB_NEW(old->n_edges, uint32_t);
	cable = FAB_NEW(old->n_edges, uint32_t);
	new.root = same_switch(from, to, old->root);
	for (uint32_t e = 0; e < old->n_edges && is_there; e++) {
		uint32_t a = same_port(from, to, from->f->cable_a[old->cable[e]]);
		uint32_t b = same_port(from, to, from->f->cable_b[old->cable[e]]);

		sw[e] = same_switch(from, to, old->sw[e]);
		is_there = sw[e] != FAB_NONE && a != FAB_NONE && b != FAB_NONE &&
			   fab_port_peer(to->f, a) == b;
		cable[e] = is_there ? to->f->port_cable[a] : FAB_NONE;
	}
	new.member = port;
	new.sw = sw;
	new.cable = cable;
	if (is_there && new.root != FAB_NONE)
		fab_live_adopt(k->live, group, &new);
	free(sw);
	free(cable);
	return is_there && new.root != FAB_NONE;
}

/* First what stays, so that the others are routed over its loads. */
static void settle(struct fab_keeper *k, const struct fab_keeper *old,
		   const struct fab_membership *m, bool is_first,
		   struct fab_keeper_counts *counts)
{
	for (uint32_t g = 0; g < m->n; g++) {
		uint32_t n = (uint32_t)(m->first[g + 1] - m->first[g]);
		uint32_t *port = FAB_NEW(n, uint32_t);
		int found = find_ports(k->shared, m->guid + m->first[g], n, port, NULL);
		struct fab_live_tree t;

		if (is_first && old->live && found > 1) {
			t = fab_live_tree_of(old->live, g);
			counts->kept +=
				carry_over(old->shared, &t, k, g, port, (uint32_t)found);
		}
		t = fab_live_tree_of(k->live, g);
		if (!is_first && found > 0 && t.root == FAB_NONE) {
			fab_live_route(k->live, g, port, (uint32_t)found);
			counts->routed += found > 1;
		}
		if (!is_first)
			counts->left += found < 0;
		free(port);
	}
}

int fab_keeper_renew(struct fab_keeper *k, struct fab_fabric *f,
		     const struct fab_membership *members,
		     struct fab_keeper_counts *counts, struct fab_err *err)
{
	const struct fab_mcast_engine *quick = fab_mcast_engine_find("fulb-links", 10);
	struct fab_keeper old = *k;

	*counts = (struct fab_keeper_counts){0};
	k->live = NULL;
	k->shared = share(f, err);
	if (k->shared) {
		k->live = fab_live_new(f, k->shared->dist, k->n_groups, quick,
				       FAB_TIES_SPREAD);
		settle(k, &old, members, true, counts);
		settle(k, &old, members, false, counts);
	}
	fab_keeper_clear(&old);
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
