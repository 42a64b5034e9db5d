/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/weights.h"

#include "base/mem.h"
#include "base/num.h"
#include "fabric/fabric.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Units of all demands together are 2 to this at most: sums stay exact, also as double.
 * A unit is no less than 2 to the second, so that its inverse is a number. */
enum { LOG_UNITS = 52, LOG_LEAST = -900 };

/* A power of two, so that demands with few digits are whole numbers of it. */
static double unit_of(double sum)
{
	int exponent = 0;

	(void)frexp(sum, &exponent);
	exponent -= LOG_UNITS;
	return ldexp(1, exponent > LOG_LEAST ? exponent : LOG_LEAST);
}

static double even_capacity(const struct fab_weights *w)
{
	for (uint32_t c = 1; c < w->n_cables; c++)
		if (w->capacity[c] < w->capacity[0] || w->capacity[c] > w->capacity[0])
			return 0;
	return w->n_cables ? w->capacity[0] : 0;
}

static void set_demands(struct fab_weights *w, const struct fab_groups *g,
			const double *demand)
{
	double sum = 0, unit;
	uint64_t units = 0;

	for (uint32_t i = 0; i < g->n; i++)
		sum += demand ? demand[i] : 1;
	unit = demand && sum > 0 ? unit_of(sum) : 1;
	for (uint32_t i = 0; i < g->n; i++) {
		w->units[i] = (uint64_t)llround((demand ? demand[i] : 1) / unit);
		w->demand[i] = (double)w->units[i] * unit;
		units = fab_gcd(w->units[i], units);
	}
	w->granule = (double)units * unit;
	w->even = even_capacity(w);
	w->step = g->n ? sum / g->n : 0;
	for (uint32_t c = 0; c < w->n_cables; c++)
		w->per_unit[c] = unit / w->capacity[c];
}

static int set_capacities(struct fab_weights *w, const struct fab_fabric *f, bool by_rate,
			  struct fab_err *err)
{
	struct fab_rates rates = fab_rates_of(f, 0, w->n_cables);
	char *text;
	int rc;

	for (uint32_t c = 0; c < w->n_cables; c++)
		w->capacity[c] = by_rate ? fab_cable_data_gbps(f, c) : 1;
	if (!by_rate || !rates.n_unknown)
		return 0;
	text = fab_rates_unknown_text(f, &rates);
	rc = fab_fail(err, EINVAL, "%s: no capacity of a cable between switches: %s",
		      f->source, text);
	free(text);
	return rc;
}

int fab_weights_new(const struct fab_fabric *f, const struct fab_groups *groups,
		    const double *demand, bool by_rate, struct fab_weights **out,
		    struct fab_err *err)
{
	struct fab_weights *w = FAB_NEW0(1, struct fab_weights);
	double inverse = 0;

	w->has_demands = demand;
	w->has_capacities = by_rate;
	w->n_cables = f->n_switch_links;
	w->demand = FAB_NEW(groups->n, double);
	w->units = FAB_NEW(groups->n, uint64_t);
	w->capacity = FAB_NEW(w->n_cables, double);
	w->per_unit = FAB_NEW(w->n_cables, double);
	if (set_capacities(w, f, by_rate, err)) {
		fab_weights_free(w);
		return -EINVAL;
	}
	set_demands(w, groups, demand);
	for (uint32_t c = 0; c < w->n_cables; c++)
		inverse += 1 / w->capacity[c];
	w->step *= w->n_cables ? inverse / w->n_cables : 1;
	*out = w;
	return 0;
}

void fab_weights_free(struct fab_weights *w)
{
	if (!w)
		return;
	free(w->demand);
	free(w->capacity);
	free(w->units);
	free(w->per_unit);
	free(w);
}
