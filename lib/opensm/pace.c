/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/pace.h"

#include "base/map.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

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
