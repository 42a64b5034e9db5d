/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/turn.h"

#include <math.h>

/* How often the file of announced groups is looked at, and OpenSM for groups that ended;
 * how often time-outs are looked for; how soon computed groups are looked for in the
 * tables, longer when nothing was written for long; how often states are written at most,
 * and with what part of a processor; how long steps wait for a comparison. */
static const double READ_S = 0.02, LOOK_S = 1, EXPIRE_S = 0.1, CONFIRM_S = 0.005,
		    CONFIRM_MAX_S = 0.2, PUBLISH_S = 0.01, PUBLISH_PART = 0.05,
		    PATIENCE_S = 10;

/* When announced groups are to be seen to: each is due at a time, INFINITY: it is not. */
static void see_to_announced(const struct fab_turn_state *s, double now,
			     double due[FAB_TURN_N])
{
	const struct fab_announced *a = s->announced;
	double quiet = now - s->written_at;

	if (s->options->groups[0])
		due[FAB_TURN_READ] = s->at[FAB_TURN_READ] + READ_S;
	due[FAB_TURN_EXPIRE] =
		fmax(now + fab_announced_due(a, now), s->at[FAB_TURN_EXPIRE] + EXPIRE_S);
	if (fab_announced_n_active(a))
		due[FAB_TURN_LOOK] = s->at[FAB_TURN_LOOK] + LOOK_S;
	if (fab_announced_is_computing(a))
		due[FAB_TURN_CONFIRM] = s->at[FAB_TURN_CONFIRM] +
					fmin(fmax(CONFIRM_S, quiet / 10), CONFIRM_MAX_S);
	if (s->options->states[0] && fab_announced_is_changed(a))
		due[FAB_TURN_PUBLISH] = s->at[FAB_TURN_PUBLISH] +
					fmax(PUBLISH_S, s->published_s / PUBLISH_PART);
}

/* Is a comparison to be made before trees are moved? What was written before is to be
 * known to be in the tables, unless groups change all the time. */
static bool is_audit_first(const struct fab_turn_state *s, double now)
{
	const struct fab_pace_limits *limits = &s->options->pace;

	return s->audit->is_due &&
	       (now - s->audit->since < fmax(limits->min_interval_s, PATIENCE_S) ||
		fab_pace_due(s->pace, limits, now) > 0);
}

enum fab_turn fab_turn_next(const struct fab_turn_state *s, double now, double *seconds)
{
	double due[FAB_TURN_N], first = INFINITY;

	for (int i = 0; i < FAB_TURN_N; i++)
		due[i] = INFINITY;
	if (s->options->mode == FAB_OPENSM_DRY_RUN && s->is_dry_due)
		due[FAB_TURN_DRY_RUN] = now;
	if (s->options->mode == FAB_OPENSM_ON) {
		see_to_announced(s, now, due);
		if (is_audit_first(s, now))
			due[FAB_TURN_AUDIT] = s->audit->at;
		else if (!s->has_found)
			due[FAB_TURN_BALANCE] =
				now + fab_pace_due(s->pace, &s->options->pace, now);
	}
	for (int i = FAB_TURN_WAIT + 1; i < FAB_TURN_N; i++) {
		if (due[i] <= now)
			return (enum fab_turn)i;
		first = fmin(first, due[i]);
	}
	*seconds = first - now;
	return FAB_TURN_WAIT;
}

bool fab_turn_is_dry_run_due(uint32_t n_groups, uint32_t n_logged)
{
	return n_groups >= 2 * n_logged;
}
