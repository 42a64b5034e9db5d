/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/settings.h"

#include <math.h>

static const struct fab_fence_algorithm *const fences[] = {&fab_fence_tree,
							   &fab_fence_ring};
static const double widths[] = {2, 4, 8, 16, 32, 50, 64, 128};
static const double fanouts[] = {2, 4, 8};
static const enum fab_launch_wireup wireups[] = {FAB_WIREUP_BACKGROUND, FAB_WIREUP_DIRECT,
						 FAB_WIREUP_DIRECT_BARRIER};
static const enum fab_stage_in stage_ins[] = {FAB_STAGE_TREE, FAB_STAGE_CACHE};

static const size_t n_values[FAB_N_SETTINGS] = {
	[FAB_SETTING_FENCE] = FAB_COUNT(fences),
	[FAB_SETTING_TREE_WIDTH] = FAB_COUNT(widths),
	[FAB_SETTING_FANOUT] = FAB_COUNT(fanouts),
	[FAB_SETTING_WIREUP] = FAB_COUNT(wireups),
	[FAB_SETTING_STAGE_IN] = FAB_COUNT(stage_ins),
};

double fab_launch_worth(enum fab_launch_setting setting)
{
	return setting == FAB_SETTING_TREE_WIDTH ? FAB_WORTH_CLUSTER : FAB_WORTH_JOB;
}

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
	case FAB_SETTING_FANOUT:
		to->fanout = fanouts[i];
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

/* One setting of `from` into *to. */
static void copy(struct fab_launch_settings *to, enum fab_launch_setting setting,
		 const struct fab_launch_settings *from)
{
	struct fab_launch_settings all = *from;

	switch (setting) {
	case FAB_SETTING_FENCE:
		to->fence = all.fence;
		break;
	case FAB_SETTING_TREE_WIDTH:
		to->tree_width = all.tree_width;
		break;
	case FAB_SETTING_FANOUT:
		to->fanout = all.fanout;
		break;
	case FAB_SETTING_WIREUP:
		to->wireup = all.wireup;
		break;
	case FAB_SETTING_STAGE_IN:
		to->stage_in = all.stage_in;
		break;
	case FAB_N_SETTINGS:
		break;
	}
}

bool fab_launch_differs(const struct fab_launch_settings *a,
			const struct fab_launch_settings *b,
			enum fab_launch_setting setting)
{
	switch (setting) {
	case FAB_SETTING_FENCE:
		return a->fence != b->fence;
	case FAB_SETTING_TREE_WIDTH:
		return fabs(a->tree_width - b->tree_width) > 0;
	case FAB_SETTING_FANOUT:
		return fabs(a->fanout - b->fanout) > 0;
	case FAB_SETTING_WIREUP:
		return a->wireup != b->wireup;
	case FAB_SETTING_STAGE_IN:
		return a->stage_in != b->stage_in;
	case FAB_N_SETTINGS:
		break;
	}
	return false;
}

void fab_launch_apply(const struct fab_launch_settings *is,
		      struct fab_launch_params *params, struct fab_launch_start *start)
{
	bool is_tree = is->fence == &fab_fence_tree;

	params->of[FAB_CONST_tree_width].value = is->tree_width;
	params->of[FAB_CONST_fanout].value = is->fanout;
	start->stage_in = is->stage_in;
	start->wireup = is->wireup;
	start->fence = (struct fab_fence_chosen){is->fence,
						 is_tree ? (uint32_t)is->tree_width : 0};
}

/* Time that a change saves; with is_share of the start before it. */
struct saved {
	const struct fab_launch_change *change;
	bool is_share;
};

static int saved_of(void *context, const struct fab_launch_params *params, double *out,
		    struct fab_err *err)
{
	const struct saved *s = context;
	double total_s[2] = {0, 0};
	int rc = 0;

	for (size_t i = 0; i < 2 && !rc; i++) {
		struct fab_launch_params with = *params;
		struct fab_launch_start start = s->change->start[i];

		if (s->change->with[i])
			fab_launch_apply(s->change->with[i], &with, &start);
		rc = fab_launch_total_of(&start, &with, &total_s[i], err);
	}
	*out = (total_s[0] - total_s[1]) / (s->is_share ? total_s[0] : 1);
	return rc;
}

int fab_launch_judge(const struct fab_launch_params *params, const bool *uses,
		     const struct fab_launch_change *change, double worth, double saved_s,
		     double total_s, struct fab_launch_judgement *out,
		     struct fab_err *err)
{
	struct saved saved = {.change = change};
	int rc = fab_launch_range_find(params, uses, saved_s, saved_of, &saved,
				       &out->seconds, err);

	saved.is_share = true;
	if (!rc)
		rc = fab_launch_range_find(params, uses, saved_s / total_s, saved_of,
					   &saved, &out->share, err);
	out->verdict = FAB_ADVICE_NO;
	if (!rc && saved_s > 0 && saved_s >= worth * total_s)
		out->verdict = out->share.least < (worth > FAB_WORTH_JOB ? worth : 0)
				       ? FAB_ADVICE_DEPENDS
				       : FAB_ADVICE_YES;
	return rc;
}

/* The start that is searched, and the parameters that it and its timer use. */
struct search {
	const struct fab_launch_start *start;
	struct fab_launch_params *params;
	const bool *uses;
	bool may_change[FAB_N_SETTINGS];
	struct fab_err *err;
};

static int time_with(struct search *s, const struct fab_launch_settings *with,
		     double *total_s)
{
	double width = FAB_PARAM(s->params, tree_width);
	double fanout = FAB_PARAM(s->params, fanout);
	struct fab_launch_start start = *s->start;
	int rc;

	fab_launch_apply(with, s->params, &start);
	rc = fab_stages_total_s(&start, total_s, s->err);
	s->params->of[FAB_CONST_tree_width].value = width;
	s->params->of[FAB_CONST_fanout].value = fanout;
	return rc;
}

/* Take these settings, if they are faster than all before. */
static int try(struct search *s, const struct fab_launch_settings *with,
	       struct fab_launch_timed *best)
{
	double total_s;
	int rc = time_with(s, with, &total_s);

	if (!rc && total_s < best->total_s)
		*best = (struct fab_launch_timed){*with, total_s};
	return rc;
}

/* All values of settings from `setting` on, that of `with` first. */
static int try_all(struct search *s, struct fab_launch_settings with,
		   enum fab_launch_setting setting, struct fab_launch_timed *best)
{
	/* the fan-out of what is not spread changes nothing */
	bool is_idle = setting == FAB_SETTING_FANOUT && with.stage_in != FAB_STAGE_TREE;
	int rc;

	if (setting == FAB_N_SETTINGS)
		return try(s, &with, best);
	rc = try_all(s, with, setting + 1, best);
	for (size_t i = 0; i < n_values[setting] && !rc; i++) {
		if (is_idle || !s->may_change[setting])
			break;
		put(&with, setting, i);
		rc = try_all(s, with, setting + 1, best);
	}
	return rc;
}

/* Each setting alone, and whether it may be among those that are taken together. */
static int try_alone(struct search *s, struct fab_launch_advice *out)
{
	int rc = 0;

	for (enum fab_launch_setting k = 0; k < FAB_N_SETTINGS && !rc; k++) {
		out->alone[k].total_s = INFINITY;
		for (size_t i = 0; i < n_values[k] && !rc; i++) {
			struct fab_launch_settings with = out->now.is;

			put(&with, k, i);
			rc = try(s, &with, &out->alone[k]);
		}
		if (!rc) {
			const struct fab_launch_change change = {
				.start = {*s->start, *s->start},
				.with = {&out->now.is, &out->alone[k].is}};

			rc = fab_launch_judge(
				s->params, s->uses, &change, fab_launch_worth(k),
				out->now.total_s - out->alone[k].total_s,
				out->now.total_s, &out->of_alone[k], s->err);
		}
		s->may_change[k] = fab_launch_worth(k) <= FAB_WORTH_JOB ||
				   out->of_alone[k].verdict == FAB_ADVICE_YES;
	}
	return rc;
}

/* Undo changes whose own effect, beside the others, is not worth it, the least first. */
static int prune(struct search *s, struct fab_launch_advice *out)
{
	for (int rc = 0;;) {
		enum fab_launch_setting least = FAB_N_SETTINGS;
		struct fab_launch_timed without = {.total_s = INFINITY};

		for (enum fab_launch_setting k = 0; k < FAB_N_SETTINGS; k++) {
			struct fab_launch_timed t = {.is = out->together.is};

			out->own_s[k] = 0;
			if (!fab_launch_differs(&t.is, &out->now.is, k))
				continue;
			copy(&t.is, k, &out->now.is);
			rc = time_with(s, &t.is, &t.total_s);
			if (rc)
				return rc;
			out->own_s[k] = t.total_s - out->together.total_s;
			if (out->own_s[k] < fab_launch_worth(k) * out->now.total_s &&
			    (least == FAB_N_SETTINGS || t.total_s < without.total_s)) {
				least = k;
				without = t;
			}
		}
		if (least == FAB_N_SETTINGS)
			return 0;
		out->together = without;
	}
}

int fab_launch_advise(const struct fab_launch_start *start,
		      struct fab_launch_params *params, const bool *uses,
		      struct fab_launch_advice *out, struct fab_err *err)
{
	const struct fab_launch_settings now = {.fence = start->fence.algorithm,
						.tree_width =
							FAB_PARAM(params, tree_width),
						.fanout = FAB_PARAM(params, fanout),
						.wireup = start->wireup,
						.stage_in = start->stage_in};
	struct search s = {.start = start, .params = params, .uses = uses, .err = err};
	int rc;

	*out = (struct fab_launch_advice){.now = {now, INFINITY},
					  .together = {now, INFINITY}};
	rc = try(&s, &now, &out->now);
	if (!rc)
		rc = try_alone(&s, out);
	if (!rc)
		rc = try_all(&s, now, 0, &out->together);
	return rc ? rc : prune(&s, out);
}
