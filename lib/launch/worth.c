/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts by several interfaces and wire-ups side by side: the value of each improvement,
 * and the file system that a goal needs.
 */
#include <errno.h>
#include <math.h>

#include "launch/stages.h"

enum { HALVINGS = 60 };
static const double ENDLESS = 1e8, LEAST = 1e-3;

/* Each improvement with the first interface that has it, and the change to a start: the
 * fields that are not 0. */
static const struct {
	const char *name, *what;
	enum fab_launch_interface from, interface;
	enum fab_stage_in stage_in;
	enum fab_launch_wireup wireup;
	unsigned does, opts;
	bool has_shared_store, has_fastest_fence;
} improvements[FAB_N_IMPROVEMENTS] = {
	{"stage-in-cache", "a node opens and reads its files once (SPINDLE and the like)",
	 .stage_in = FAB_STAGE_CACHE},
	{"stage-in-tree", "files are spread from node to node (sbcast, pre-staging)",
	 .stage_in = FAB_STAGE_TREE},
	{"topology", "one process finds the hardware of its node for all (HWLOC_XMLFILE)",
	 .does = FAB_DOES_TOPOLOGY},
	{"pmi2", "PMI-2 in place of PMI-1", .interface = FAB_PMI2},
	{"pmix", "PMIx in place of PMI-1 or PMI-2, same wire-up", .interface = FAB_PMIX},
	{"manager-data",
	 "keys that the manager knows (all but addresses) need no Put and no fence",
	 .does = FAB_DOES_MANAGER_DATA},
	{"predefined",
	 "as manager-data, and a process gets each key once, not from each peer",
	 FAB_PMI2, .does = FAB_DOES_PREDEFINED},
	{"scopes", "these keys have the scope of the node: put, not exchanged", FAB_PMIX,
	 .does = FAB_DOES_SCOPES},
	{"static-ports", "addresses are known before: no Put, no fence", FAB_PMIX,
	 .does = FAB_DOES_STATIC_PORTS},
	{"non-blocking-get", "all Gets at once, while the adapter is opened", FAB_PMIX,
	 .does = FAB_DOES_NONBLOCKING},
	{"sizes", "short addresses, process ids, key indexes, LEB128", FAB_PMIX,
	 .opts = FAB_SIZE_ALL},
	{"shared-store", "Gets from shared memory, not from the server", FAB_PMIX,
	 .has_shared_store = true},
	{"fence", "the fastest fence in place of this one", FAB_PMIX,
	 .has_fastest_fence = true},
	{"background", "the fence runs while adapters are opened; no barrier", FAB_PMIX,
	 .wireup = FAB_WIREUP_BACKGROUND},
	{"direct", "processes request the data they need; no fence, no barrier", FAB_PMIX,
	 .wireup = FAB_WIREUP_DIRECT},
	{"instant", "all is known before; files come while the previous job ends",
	 FAB_PMIX, .wireup = FAB_WIREUP_INSTANT},
};

static void improve(struct fab_launch_start *s, size_t by,
		    struct fab_fence_chosen fastest)
{
	if (s->interface < improvements[by].from)
		return;
	if (s->interface < improvements[by].interface)
		s->interface = improvements[by].interface;
	if (improvements[by].stage_in)
		s->stage_in = improvements[by].stage_in;
	if (improvements[by].wireup)
		s->wireup = improvements[by].wireup;
	if (improvements[by].opts)
		s->layout.opts = improvements[by].opts;
	if (improvements[by].has_shared_store)
		s->has_socket_store = false;
	if (improvements[by].has_fastest_fence)
		s->fence = fastest;
	s->does |= improvements[by].does;
}

int fab_launch_improve(const struct fab_launch_start *start,
		       struct fab_fence_chosen fastest,
		       struct fab_improvement out[FAB_N_IMPROVEMENTS],
		       struct fab_err *err)
{
	double base;
	int rc = fab_stages_total_s(start, &base, err);

	for (size_t i = 0; i < FAB_N_IMPROVEMENTS && !rc; i++) {
		FAB_AUTO(fab_arena_free) struct fab_arena memory = FAB_ARENA_INIT;
		struct fab_launch_start s = *start;
		struct fab_stages stages = {0};

		improve(&s, i, fastest);
		out[i] = (struct fab_improvement){
			.name = improvements[i].name,
			.what = improvements[i].what,
			.applies = s.interface != start->interface ||
				   s.wireup != start->wireup ||
				   s.stage_in != start->stage_in ||
				   s.layout.opts != start->layout.opts ||
				   s.does != start->does ||
				   s.has_socket_store != start->has_socket_store ||
				   !fab_fence_equal(s.fence, start->fence),
			.total_s = base};
		rc = fab_stages_run(&memory, &s, &stages, err);
		if (out[i].applies)
			out[i].total_s = stages.total_s;
		out[i].bytes = stages.bytes;
		out[i].memory_bytes = stages.memory_bytes;
		out[i].saved_s = base - out[i].total_s;
	}
	return rc;
}

/* Total time with a given file system. */
static int time_with(const struct fab_launch_start *start, double MBps, double ops,
		     double *total_s, struct fab_err *err)
{
	struct fab_launch_params params = *start->params;
	struct fab_launch_start s = *start;

	params.of[FAB_CONST_fs_MBps].value = MBps;
	params.of[FAB_CONST_fs_ops].value = ops;
	s.params = &params;
	return fab_stages_total_s(&s, total_s, err);
}

/* The least operations or rate within the goal, the other one given; NaN: none is. */
static int find_least(const struct fab_launch_start *start, double goal_s, bool is_ops,
		      double other, double *out, struct fab_err *err)
{
	double low = log(LEAST), high = log(ENDLESS), at = ENDLESS, total;
	int rc = time_with(start, is_ops ? other : at, is_ops ? at : other, &total, err);

	*out = (double)NAN;
	if (rc || total > goal_s)
		return rc;
	for (int i = 0; i < HALVINGS && !rc && high - low > 1e-5; i++) {
		double mid = (low + high) / 2;

		at = exp(mid);
		rc = time_with(start, is_ops ? other : at, is_ops ? at : other, &total,
			       err);
		if (total > goal_s)
			low = mid;
		else
			high = mid;
	}
	*out = exp(high);
	return rc;
}

int fab_launch_goal_find(const struct fab_launch_start *start, double goal_s,
			 struct fab_launch_goal *out, struct fab_err *err)
{
	double MBps = FAB_PARAM(start->params, fs_MBps);
	double ops = FAB_PARAM(start->params, fs_ops), total;
	int rc = time_with(start, MBps, ops, &total, err);

	*out = (struct fab_launch_goal){.is_met = !rc && total <= goal_s};
	if (!rc)
		rc = time_with(start, ENDLESS, ENDLESS, &out->least_s, err);
	if (!rc)
		rc = find_least(start, goal_s, false, ops, &out->fs_MBps, err);
	if (!rc)
		rc = find_least(start, goal_s, true,
				isnan(out->fs_MBps) || out->is_met ? MBps : out->fs_MBps,
				&out->fs_ops, err);
	if (!rc && isnan(out->fs_ops))
		rc = find_least(start, goal_s, true, ENDLESS, &out->fs_ops, err);
	return rc;
}

int fab_launch_compare(struct fab_launch_comparison *c,
		       const struct fab_launch_start *base,
		       struct fab_fence_chosen fastest,
		       const struct fab_chosen_list *interfaces,
		       const struct fab_chosen_list *wireups, const bool *uses,
		       struct fab_err *err)
{
	int rc = 0;

	c->cases.v = FAB_ARENA_NEW(c->memory, interfaces->of.n * wireups->of.n,
				   struct fab_launch_case);
	for (size_t i = 0; i < interfaces->of.n && !rc; i++)
		for (size_t k = 0; k < wireups->of.n && !rc; k++)
			if (fab_launch_knows(interfaces->of.v[i].row,
					     wireups->of.v[k].row)) {
				struct fab_launch_case *x = &c->cases.v[c->cases.n++];

				*x = (struct fab_launch_case){.start = *base};
				x->start.interface = interfaces->of.v[i].row;
				x->start.wireup = wireups->of.v[k].row;
				if (wireups->of.v[k].row == FAB_WIREUP_INSTANT)
					x->start.stage_in = FAB_STAGE_TREE;
				rc = fab_stages_run(c->memory, &x->start, &x->stages,
						    err);
				if (!rc)
					rc = fab_launch_goal_find(&x->start, c->goal_s,
								  &x->goal, err);
			}
	if (rc)
		return rc;
	if (!c->cases.n)
		return fab_fail(
			err, EINVAL,
			"--set wireup: PMI-1 and PMI-2 know only full: nothing is left");
	/* improvements are on top of the first start of PMIx, else of the first */
	for (size_t i = c->cases.n; i-- > 0;)
		if (c->cases.v[i].start.interface == FAB_PMIX)
			c->base = i;
	rc = fab_launch_improve(&c->cases.v[c->base].start, fastest, c->improvements,
				err);
	return rc ? rc
		  : fab_launch_range_find(
			    base->params, uses, c->cases.v[0].stages.total_s,
			    fab_launch_total_of, &c->cases.v[0].start, &c->total, err);
}

int fab_launch_respawn(struct fab_arena *memory, const struct fab_launch_start *base,
		       uint32_t n, struct fab_stages *out, struct fab_err *err)
{
	struct fab_launch_start s = *base;

	s.interface = FAB_PMI2;
	s.wireup = FAB_WIREUP_FULL;
	s.stage_in = FAB_STAGE_NONE;
	s.is_respawn = true;
	s.all_nodes = s.n_nodes;
	s.n_nodes = (n + s.ppn - 1) / s.ppn;
	s.ppn = n < s.ppn ? n : s.ppn;
	s.timer.us = NULL;
	return fab_stages_run(memory, &s, out, err);
}
