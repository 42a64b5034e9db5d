/* SPDX-License-Identifier: BSD-2-Clause */
/* What improvements are worth, one at a time, and what a goal asks of the file system. */
#include <math.h>

#include "launch/stages.h"

enum { HALVINGS = 60 };
static const double ENDLESS = 1e8, LEAST = 1e-3;

static void by_tree(struct fab_launch_start *s)
{
	s->stage_in = FAB_STAGE_TREE;
}

static void by_cache(struct fab_launch_start *s)
{
	s->stage_in = FAB_STAGE_CACHE;
}

static void by_pmi2(struct fab_launch_start *s)
{
	if (s->interface == FAB_PMI1)
		s->interface = FAB_PMI2;
}

static void by_pmix(struct fab_launch_start *s)
{
	s->interface = FAB_PMIX;
}

static void by_layout(struct fab_launch_start *s)
{
	if (s->interface == FAB_PMIX)
		s->layout.opts = FAB_SIZE_ALL;
}

static void by_store(struct fab_launch_start *s)
{
	if (s->interface == FAB_PMIX)
		s->has_socket_store = false;
}

static void by_wireup(struct fab_launch_start *s, enum fab_launch_wireup wireup)
{
	if (s->interface == FAB_PMIX)
		s->wireup = wireup;
}

static void by_background(struct fab_launch_start *s)
{
	by_wireup(s, FAB_WIREUP_BACKGROUND);
}

static void by_direct(struct fab_launch_start *s)
{
	by_wireup(s, FAB_WIREUP_DIRECT);
}

static void by_instant(struct fab_launch_start *s)
{
	by_wireup(s, FAB_WIREUP_INSTANT);
}

static const struct {
	const char *name, *what;
	void (*apply)(struct fab_launch_start *s); /* NULL: the fastest fence */
} improvements[FAB_N_IMPROVEMENTS] = {
	{"stage-in-cache", "a node opens and reads its files once (SPINDLE and the like)",
	 by_cache},
	{"stage-in-tree", "files are spread from node to node (sbcast, pre-staging)",
	 by_tree},
	{"pmi2", "PMI-2 in place of PMI-1", by_pmi2},
	{"pmix", "PMIx in place of PMI-1 or PMI-2, same wire-up", by_pmix},
	{"sizes", "L8 to L11: short addresses, process ids, key indexes, LEB128",
	 by_layout},
	{"shared-store", "L6: Gets from shared memory, not from the server", by_store},
	{"fence", "the fastest fence in place of this one", NULL},
	{"background", "the fence runs while adapters are opened; no barrier",
	 by_background},
	{"direct", "ask for what is needed; no fence, no barrier", by_direct},
	{"instant", "all is known before; files come while the previous job ends",
	 by_instant},
};

static bool is_same(const struct fab_launch_start *a, const struct fab_launch_start *b)
{
	return a->interface == b->interface && a->wireup == b->wireup &&
	       a->stage_in == b->stage_in && a->layout.opts == b->layout.opts &&
	       a->has_socket_store == b->has_socket_store &&
	       a->fence.algorithm == b->fence.algorithm &&
	       a->fence.width == b->fence.width;
}

int fab_launch_improve(const struct fab_launch_start *start,
		       struct fab_fence_chosen fastest,
		       struct fab_improvement out[FAB_N_IMPROVEMENTS],
		       struct fab_err *err)
{
	double base;
	int rc = fab_stages_total_s(start, &base, err);

	for (size_t i = 0; i < FAB_N_IMPROVEMENTS && !rc; i++) {
		struct fab_launch_start s = *start;

		if (improvements[i].apply)
			improvements[i].apply(&s);
		else if (s.interface == FAB_PMIX)
			s.fence = fastest;
		out[i] = (struct fab_improvement){.name = improvements[i].name,
						  .what = improvements[i].what,
						  .applies = !is_same(start, &s),
						  .total_s = base};
		if (out[i].applies)
			rc = fab_stages_total_s(&s, &out[i].total_s, err);
		out[i].saved_s = base - out[i].total_s;
	}
	return rc;
}

/* How long it takes with such a file system. */
static int try(const struct fab_launch_start *start, double MBps, double ops,
	       double *total_s, struct fab_err *err)
{
	struct fab_launch_params params = *start->params;
	struct fab_launch_start s = *start;

	params.of[FAB_CONST_fs_MBps].value = MBps;
	params.of[FAB_CONST_fs_ops].value = ops;
	s.params = &params;
	return fab_stages_total_s(&s, total_s, err);
}

/* The least value of one of both within the goal, the other given; NaN: none is. */
static int find_least(const struct fab_launch_start *start, double goal_s, bool is_ops,
		      double other, double *out, struct fab_err *err)
{
	double low = log(LEAST), high = log(ENDLESS), total;
	int rc = is_ops ? try(start, other, ENDLESS, &total, err)
			: try(start, ENDLESS, other, &total, err);

	*out = (double)NAN;
	if (rc || total > goal_s)
		return rc;
	for (int i = 0; i < HALVINGS && !rc && high - low > 1e-5; i++) {
		double mid = (low + high) / 2;

		rc = is_ops ? try(start, other, exp(mid), &total, err)
			    : try(start, exp(mid), other, &total, err);
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
	int rc = try(start, MBps, ops, &total, err);

	*out = (struct fab_launch_goal){.is_met = !rc && total <= goal_s};
	if (!rc)
		rc = try(start, ENDLESS, ENDLESS, &out->least_s, err);
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
