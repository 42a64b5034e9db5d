/* SPDX-License-Identifier: BSD-2-Clause */
/* Demands of groups from a file (NAME: NUMBER), and capacities of cables. */
#include "mcast/weights.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "fabric/fabric.h"
#include "mcast/groups/collect.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Units of all demands together are 2 to this at most: sums stay exact, also as double.
 * A unit is no less than 2 to the second, so that its inverse is a number. */
enum { LOG_UNITS = 52, LOG_LEAST = -900 };

int fab_weights_new(const struct fab_fabric *f, const struct fab_groups *groups,
		    const double *demand, bool by_rate, struct fab_weights **out,
		    struct fab_err *err)
{
	struct fab_rates rates = fab_rates_of(f, 0, f->n_switch_links);
	struct fab_weights *w;
	double inverse = 0, sum = 0, unit = 1;
	uint64_t units = 0;
	int exponent = 0;

	if (by_rate && rates.n_unknown) {
		FAB_AUTOFREE char *text = fab_rates_unknown_text(f, &rates);

		return fab_fail(err, EINVAL,
				"%s: no capacity of a cable between switches: %s",
				f->source, text);
	}
	w = FAB_NEW0(1, struct fab_weights);
	w->has_capacities = by_rate;
	w->n_cables = f->n_switch_links;
	w->demand = FAB_NEW(groups->n, double);
	w->units = FAB_NEW(groups->n, uint64_t);
	w->capacity = FAB_NEW(w->n_cables, double);
	w->per_unit = FAB_NEW(w->n_cables, double);
	for (uint32_t i = 0; i < groups->n; i++)
		sum += demand ? demand[i] : 1;
	/* A power of two, so that demands with few digits are whole numbers of it. */
	(void)frexp(sum, &exponent);
	exponent -= LOG_UNITS;
	if (demand && sum > 0)
		unit = ldexp(1, exponent > LOG_LEAST ? exponent : LOG_LEAST);
	for (uint32_t i = 0; i < groups->n; i++) {
		w->units[i] = (uint64_t)llround((demand ? demand[i] : 1) / unit);
		w->demand[i] = (double)w->units[i] * unit;
		units = fab_gcd(w->units[i], units);
	}
	w->granule = (double)units * unit;
	for (uint32_t c = 0; c < w->n_cables; c++) {
		w->capacity[c] = by_rate ? fab_cable_data_gbps(f, c) : 1;
		w->per_unit[c] = unit / w->capacity[c];
		inverse += 1 / w->capacity[c];
	}
	w->even = w->n_cables ? w->capacity[0] : 0;
	for (uint32_t c = 1; c < w->n_cables; c++)
		if (w->capacity[c] < w->capacity[0] || w->capacity[c] > w->capacity[0])
			w->even = 0;
	w->step = groups->n ? sum / groups->n : 0;
	w->step *= w->n_cables ? inverse / w->n_cables : 1;
	*out = w;
	return 0;
}

void fab_weights_free(struct fab_weights *w)
{
	if (!w)
		return;
	FAB_FREE_ALL(w->demand, w->capacity, w->units, w->per_unit, w);
}

/* Demands of groups, written by people: NAME: NUMBER */

struct reading {
	const struct fab_groups *groups;
	struct fab_strmap *by_name; /* group, FAB_SHARED: of several */
	struct fab_line_place place;
	uint64_t *n_left_out; /* NULL: every name is a group's */
	double *demand;	      /* NaN: no line yet */
};

/* NAME: NUMBER and nothing else. */
static int split(const struct reading *r, const char *at, const char *end,
		 struct fab_token *name, struct fab_token *number)
{
	struct fab_token rest;
	bool has_colon;
	int rc = fab_name_next(&r->place, &at, end, name, &has_colon);

	if (rc || (!name->len && !name->is_quoted))
		return rc;
	rc = fab_token_next(&r->place, &at, end, false, number);
	if (!rc)
		rc = fab_token_next(&r->place, &at, end, false, &rest);
	if (!rc && (!has_colon || !number->len || rest.len || rest.is_quoted))
		rc = fab_line_fail(
			&r->place,
			"expected NAME: NUMBER, found \"%.*s\" without a colon and one number behind it",
			fab_token_shown(name), name->text);
	return rc;
}

static int read_line(void *context, const char *at, const char *end)
{
	const struct reading *r = context;
	const char *what = NULL;
	struct fab_token name, number;
	uint32_t group;
	double demand;
	int rc = split(r, at, end, &name, &number);

	if (rc || (!name.len && !name.is_quoted))
		return rc;
	group = fab_strmap_get(r->by_name, name.text, name.len);
	if (group == FAB_NONE && r->n_left_out) {
		++*r->n_left_out;
		return 0;
	}
	if (group == FAB_NONE)
		what = "no group has this name";
	else if (group == FAB_SHARED)
		what = "several groups have this name, expected names that differ";
	else if (!isnan(r->demand[group]))
		what = "the group has a demand already, expected one line a group";
	if (what)
		return fab_line_fail(&r->place, "group \"%.*s\": %s",
				     fab_token_shown(&name), name.text, what);
	if (!fab_parse_real(number.text, number.len, 0, FAB_DEMAND_MAX, &demand))
		return fab_line_fail(
			&r->place,
			"group \"%.*s\": expected a demand from 0 to %g, found \"%.*s\"",
			fab_token_shown(&name), name.text, FAB_DEMAND_MAX,
			fab_token_shown(&number), number.text);
	r->demand[group] = demand;
	return 0;
}

int fab_demands_read(const struct fab_groups *groups, const char *file, const char *text,
		     size_t len, uint64_t *n_left_out, double *demand,
		     struct fab_err *err)
{
	struct reading r = {.groups = groups,
			    .by_name = fab_strmap_new(groups->n),
			    .place = {file, 0, err},
			    .n_left_out = n_left_out,
			    .demand = demand};
	uint32_t n_missing = 0, first = 0;
	int rc;

	for (uint32_t i = 0; i < groups->n; i++) {
		const char *name = fab_group_name(groups, i);

		demand[i] = (double)NAN;
		if (fab_strmap_put(r.by_name, name, strlen(name), i) != i)
			fab_strmap_set(r.by_name, name, strlen(name), FAB_SHARED);
	}
	rc = fab_lines_each(&r.place, "lines NAME: NUMBER", text, len, read_line, &r);
	fab_strmap_free(r.by_name);
	for (uint32_t i = groups->n; i-- > 0 && !rc;)
		if (isnan(demand[i])) {
			n_missing++;
			first = i;
		}
	if (!rc && n_missing)
		rc = fab_fail(
			err, EINVAL,
			"%s: %u of %u groups have no demand (the first: \"%.*s\"), expected a line NAME: NUMBER for each",
			file, n_missing, groups->n, FAB_SHOWN_NAME,
			fab_group_name(groups, first));
	return rc;
}
