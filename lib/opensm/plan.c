/* SPDX-License-Identifier: BSD-2-Clause */
/* Balancing all trees on a copy, while the keeper goes on. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "mcast/bounds.h"
#include "mcast/route.h"
#include "opensm/keeper_impl.h"

/* Of the time of a plan: what the engine may take; the rest is left for single trees. */
#define ENGINE_SHARE 0.7

struct fab_plan {
	struct fab_shared_fabric *shared;
	uint32_t n_trees;	  /* groups that have one */
	uint32_t *number;	  /* [n_trees] of the group, ascending */
	struct fab_live *live;	  /* by place in `number`; what is found is left here */
	uint32_t n_moved, *moved; /* places */
};

struct fab_plan *fab_keeper_plan(const struct fab_keeper *k)
{
	struct fab_plan *p;
	uint32_t n = 0;

	for (uint32_t g = 0; k->live && g < k->n_groups; g++)
		n += fab_live_tree_of(k->live, g).root != FAB_NONE;
	if (!n)
		return NULL;
	p = FAB_NEW0(1, struct fab_plan);
	p->shared = fab_shared_fabric_hold(k->shared);
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
	fab_shared_fabric_drop(p->shared);
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

/* Check the content of `live` independently. Trees that were kept may be higher. */
static int verify(const struct fab_plan *p, const struct fab_groups *names,
		  struct fab_err *err)
{
	struct fab_mcast_engine any_height = {.may_be_higher = true};
	struct fab_mcast_result result;
	struct fab_groups *groups;
	int rc = fab_live_result(p->live, names, &groups, &result, err);

	if (rc)
		return rc;
	any_height.name = result.engine->name;
	result.engine = &any_height;
	rc = fab_mcast_verify(
		&(struct fab_mcast_problem){p->shared->f, p->shared->dist, groups},
		&result, err);
	fab_mcast_result_fini(&result);
	fab_groups_free(groups);
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
