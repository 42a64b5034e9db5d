/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/pace.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "opensm/announced.h"
#include "opensm/audit.h"
#include "opensm/options.h"

/* Budgets are for this long. */
static const double WINDOW_S = 60;

struct fab_pace {
	uint32_t n_changes; /* since trees were balanced */
	double changed_at;  /* the first of them */
	bool is_asked;
	double begun_at;	    /* -INFINITY: never */
	uint32_t max_efi, n_needed; /* of the last time */
	double window_at;
	bool is_told;		/* of a port that has used up its budget in the window */
	struct fab_map64 *n_of; /* changes of each port in the window */
};

struct fab_pace *fab_pace_new(void)
{
	struct fab_pace *p = FAB_NEW0(1, struct fab_pace);

	p->begun_at = p->window_at = -INFINITY;
	p->max_efi = UINT32_MAX;
	return p;
}

void fab_pace_free(struct fab_pace *p)
{
	if (!p)
		return;
	fab_map64_free(p->n_of);
	free(p);
}

uint64_t fab_pace_change(struct fab_pace *p, const struct fab_pace_limits *l,
			 const uint64_t *guid, uint32_t n, double now)
{
	bool counts = false;
	uint64_t spent = 0;

	if (now - p->window_at >= WINDOW_S) {
		fab_map64_free(p->n_of);
		p->n_of = fab_map64_new(n);
		p->window_at = now;
		p->is_told = false;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t before = fab_map64_get(p->n_of, guid[i]);
		uint32_t own = before == FAB_NONE ? 1 : before + 1;

		fab_map64_set(p->n_of, guid[i], own);
		counts |= !l->port_changes || own <= l->port_changes;
		if (l->port_changes && own == l->port_changes + 1 && !p->is_told) {
			spent = guid[i];
			p->is_told = true;
		}
	}
	if (counts && !p->n_changes++)
		p->changed_at = now;
	return spent;
}

void fab_pace_ask(struct fab_pace *p)
{
	p->is_asked = true;
}

double fab_pace_due(const struct fab_pace *p, const struct fab_pace_limits *l, double now)
{
	double at = INFINITY;

	if (p->is_asked || (l->changes && p->n_changes >= l->changes))
		at = now;
	else if (p->n_changes && l->seconds)
		at = p->changed_at + l->seconds;
	return fmax(0, fmax(at, p->begun_at + l->min_interval_s) - now);
}

void fab_pace_begin(struct fab_pace *p, double now)
{
	if (p->n_changes) /* the result of the last step is that of other members */
		p->n_needed = UINT32_MAX;
	p->n_changes = 0;
	p->is_asked = false;
	p->begun_at = now;
}

void fab_pace_end(struct fab_pace *p, uint32_t max_efi, uint32_t n_moved,
		  uint32_t n_needed)
{
	if (n_moved && n_needed > n_moved &&
	    (max_efi < p->max_efi || n_needed < p->n_needed))
		p->is_asked = true;
	p->max_efi = max_efi;
	p->n_needed = n_needed;
}

/* How often the file of announced groups is looked at, and OpenSM for groups that ended;
 * how often time-outs are looked for; how soon computed groups are looked for in the
 * tables, longer when nothing was written for long; how often states are written at most,
 * and with what part of a processor. */
static const double READ_S = 0.02, LOOK_S = 1, EXPIRE_S = 0.1, CONFIRM_S = 0.005,
		    CONFIRM_MAX_S = 0.2, PUBLISH_S = 0.01, PUBLISH_PART = 0.05;

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

enum fab_turn fab_turn_next(const struct fab_turn_state *s, double now, double *seconds)
{
	double due[FAB_TURN_N], first = INFINITY;

	for (int i = 0; i < FAB_TURN_N; i++)
		due[i] = INFINITY;
	if (s->options->mode == FAB_OPENSM_DRY_RUN && s->is_dry_due)
		due[FAB_TURN_DRY_RUN] = now;
	if (s->options->mode == FAB_OPENSM_ON) {
		see_to_announced(s, now, due);
		if (fab_audit_is_first(s->audit, s->pace, &s->options->pace, now))
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
