/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/settings.h"

#include <math.h>

static const struct fab_fence_algorithm *const fences[] = {&fab_fence_tree,
							   &fab_fence_ring};
static const double widths[] = {2, 4, 8, 16, 32, 50, 64, 128};
static const enum fab_launch_wireup wireups[] = {FAB_WIREUP_BACKGROUND, FAB_WIREUP_DIRECT,
						 FAB_WIREUP_DIRECT_BARRIER};
static const enum fab_stage_in stage_ins[] = {FAB_STAGE_TREE, FAB_STAGE_CACHE};

static const size_t n_values[FAB_N_SETTINGS] = {
	[FAB_SETTING_FENCE] = FAB_COUNT(fences),
	[FAB_SETTING_TREE_WIDTH] = FAB_COUNT(widths),
	[FAB_SETTING_WIREUP] = FAB_COUNT(wireups),
	[FAB_SETTING_STAGE_IN] = FAB_COUNT(stage_ins),
};

/* Value number i of a setting. */
static void put(struct fab_launch_settings *to, enum fab_launch_setting setting, size_t i)
{
	switch (setting) {
	case FAB_SETTING_FENCE:
		to->fence = fences[i];
		break;
	case FAB_SETTING_TREE_WIDTH:
		to->tree_width = widths[i];
		break;
	case FAB_SETTING_WIREUP:
		to->wireup = wireups[i];
		break;
	case FAB_SETTING_STAGE_IN:
		to->stage_in = stage_ins[i];
		break;
	case FAB_N_SETTINGS:
		break;
	}
}

/* What is searched, and with what. */
struct search {
	const struct fab_launch_start *start;
	struct fab_launch_params *params;
	struct fab_err *err;
};

/* Take these settings, if they are faster than all before. */
static int try(struct search *s, const struct fab_launch_settings *with,
	       struct fab_launch_timed *best)
{
	double *width = &s->params->of[FAB_CONST_tree_width].value, was = *width, total_s;
	bool is_tree = with->fence == &fab_fence_tree;
	struct fab_launch_start start = *s->start;
	int rc;

	*width = with->tree_width;
	start.stage_in = with->stage_in;
	start.wireup = with->wireup;
	start.fence = (struct fab_fence_chosen){with->fence,
						is_tree ? (uint32_t)with->tree_width : 0};
	rc = fab_stages_total_s(&start, &total_s, s->err);
	*width = was;
	if (!rc && total_s < best->total_s)
		*best = (struct fab_launch_timed){*with, total_s};
	return rc;
}

/* All values of settings from `setting` on, that of `with` first. */
static int try_all(struct search *s, struct fab_launch_settings with,
		   enum fab_launch_setting setting, struct fab_launch_timed *best)
{
	int rc;

	if (setting == FAB_N_SETTINGS)
		return try(s, &with, best);
	rc = try_all(s, with, setting + 1, best);
	for (size_t i = 0; i < n_values[setting] && !rc; i++) {
		put(&with, setting, i);
		rc = try_all(s, with, setting + 1, best);
	}
	return rc;
}

int fab_launch_advise(const struct fab_launch_start *start,
		      struct fab_launch_params *params, struct fab_launch_advice *out,
		      struct fab_err *err)
{
	const struct fab_launch_settings now = {.fence = start->fence.algorithm,
						.tree_width =
							FAB_PARAM(params, tree_width),
						.wireup = start->wireup,
						.stage_in = start->stage_in};
	struct search s = {start, params, err};
	int rc;

	out->now = out->together = (struct fab_launch_timed){now, INFINITY};
	rc = try(&s, &now, &out->now);
	for (enum fab_launch_setting k = 0; k < FAB_N_SETTINGS && !rc; k++) {
		out->alone[k].total_s = INFINITY;
		for (size_t i = 0; i < n_values[k] && !rc; i++) {
			struct fab_launch_settings with = now;

			put(&with, k, i);
			rc = try(&s, &with, &out->alone[k]);
		}
	}
	return rc ? rc : try_all(&s, now, 0, &out->together);
}
