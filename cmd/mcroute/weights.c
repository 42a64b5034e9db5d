/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-mcroute: demands of groups, capacities of cables. */
#include "mcroute.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "source/unpack.h"

/* The demands of --weight, on the heap. */
static int read_demands(const struct mcroute_params *p, const struct mcroute_outcome *o,
			double *demand, struct fab_err *err)
{
	const char *name = strcmp(p->weight, "-") ? p->weight : "standard input";
	uint64_t n_left_out = 0;
	struct fab_input in;
	int rc = fab_input_read(p->weight, &in, err);

	if (rc)
		return rc;
	rc = fab_demands_read(o->problem.groups, name, in.bytes, in.n,
			      p->groups.ignore_unknown ? &n_left_out : NULL, demand, err);
	fab_input_fini(&in);
	if (!rc && n_left_out)
		fab_cli_warn(&p->run,
			     "left out: demands of %llu groups that there are not",
			     (unsigned long long)n_left_out);
	return rc;
}

int mcroute_weigh(const struct mcroute_params *p, struct mcroute_outcome *o,
		  struct fab_err *err)
{
	double *demand = NULL;
	int rc = 0;

	if (!p->weight && p->capacity == MCROUTE_EQUAL)
		return 0;
	if (p->weight) {
		demand = FAB_NEW(o->problem.groups->n, double);
		rc = read_demands(p, o, demand, err);
	}
	if (!rc)
		rc = fab_weights_new(o->problem.f, o->problem.groups, demand,
				     p->capacity == MCROUTE_RATE, &o->weights, err);
	free(demand);
	o->problem.weights = rc ? NULL : o->weights;
	return rc;
}
