/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups that ask for more than others, cables that carry more than others: the load of a
 * cable is the sum of the demands of the groups on it over its capacity.
 *
 * Where all demands and capacities are 1, that is the edge forwarding index. Demands are
 * kept as whole numbers of a small unit, so that a load does not depend on the order in
 * which groups came and went.
 */
#pragma once

#include <stdbool.h>

#include "mcast/groups.h"

/* The largest demand that is accepted. */
#define FAB_DEMAND_MAX 1e9

/* Sums of demands are exact: two loads that differ by a smaller part are equal. */
#define FAB_LOAD_ROUNDING 1e-12

struct fab_weights {
	bool has_capacities; /* else they are 1 each */
	uint32_t n_cables;   /* between switches */
	double *demand;	     /* [groups] rounded to whole units */
	double *capacity;    /* [n_switch_links] */
	uint64_t *units;     /* [groups] the demand in units */
	double *per_unit;    /* [n_switch_links] load of a unit on the cable */
	double step;	     /* load that a group adds to a cable, on average */
	double granule;	     /* every demand is a multiple of it; 0: all demands are 0 */
	double even;	     /* capacity of every cable; 0: they differ */
};

/*
 * `demand` is of the groups [groups->n], NULL: 1 each; borrowed during the call. With
 * by_rate the capacity of a cable is its data rate in Gbit/s, else 1; EINVAL names the
 * first cable between switches whose rate is not known. The caller frees *out with
 * fab_weights_free(). O(groups + cables).
 */
int fab_weights_new(const struct fab_fabric *f, const struct fab_groups *groups,
		    const double *demand, bool by_rate, struct fab_weights **out,
		    struct fab_err *err) FAB_MUST_CHECK;
/* NULL is allowed. O(1). */
void fab_weights_free(struct fab_weights *w);

/*
 * Read demands from text: a line a group, `NAME: NUMBER`, from 0 to FAB_DEMAND_MAX; names
 * and comments as in the file of the groups (mcast/groups.h). demand[groups->n] is
 * filled. EINVAL `FILE:LINE: ...`: no such line, no such number, a name that no group has
 * (unless n_left_out counts such lines), or that several have, a group twice; or a group
 * without a line. O(text + groups).
 */
int fab_demands_read(const struct fab_groups *groups, const char *file, const char *text,
		     size_t len, uint64_t *n_left_out, double *demand,
		     struct fab_err *err) FAB_MUST_CHECK;
