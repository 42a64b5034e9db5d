/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults --permutation: flows before and after the faults. */
#include <errno.h>
#include <stdlib.h>

#include "fabric/planes.h"
#include "faults.h"

/* Nothing goes from one plane to another: such a flow is a mistake, not a loss. */
static int refuse_across_planes(const struct fab_fabric *f, const char *spec,
				const struct fab_flow_ends *ends, const uint32_t *to,
				struct fab_err *err)
{
	struct fab_planes *planes = fab_planes_new(f);
	int rc = 0;

	for (uint32_t i = 0; i < ends->n && !rc; i++) {
		uint32_t from = planes->of_switch[ends->sw[i]];

		if (to[i] != FAB_NONE &&
		    fab_planes_are_parallel(planes, from,
					    planes->of_switch[ends->sw[to[i]]]))
			rc = fab_fail(err, EINVAL, "--permutation=%s: %s", spec,
				      fab_planes_apart(planes, f, ends->port[i],
						       ends->port[to[i]]));
	}
	fab_planes_free(planes);
	return rc;
}

static int load_of(const struct faults_params *p, const struct faults_outcome *o,
		   const char *spec, const struct fab_routes *routes,
		   struct fab_flow_load *out, struct fab_err *err)
{
	const struct fab_faults *faults = routes->faults;
	struct fab_flow_ends ends;
	const struct fab_permutation_problem problem = {o->f, o->kfat, &ends,
							p->run.seed};
	uint32_t *to = NULL;
	int rc;

	fab_flow_ends_init(&ends, o->f, faults ? faults->switch_is_dead : NULL,
			   faults ? faults->cable_is_dead : NULL);
	rc = ends.n ? fab_permutation_make(spec, &problem, &to, err)
		    : fab_fail(err, ENOENT, "%s: no live hosts to send", p->input.fabric);
	if (!rc)
		rc = refuse_across_planes(o->f, spec, &ends, to, err);
	if (!rc)
		fab_permutation_load(routes, &ends, to, out);
	free(to);
	fab_flow_ends_fini(&ends);
	return rc;
}

static int add_flow(const struct faults_params *p, struct faults_outcome *o,
		    const struct faults_result *r, const char *spec, struct fab_err *err)
{
	struct faults_flow flow = {.permutation = spec, .algorithm = r->algorithm};
	struct fab_unicast_problem problem = faults_problem(p, o, NULL);
	struct fab_routes *sound;
	int rc = load_of(p, o, spec, r->routes, &flow.after, err);

	flow.before = flow.after;
	if (!rc && r->engine && o->faults->named.n) {
		rc = r->engine->route(&problem, &sound, err);
		if (rc)
			return rc;
		rc = load_of(p, o, spec, sound, &flow.before, err);
		fab_routes_free(sound);
	}
	FAB_PUSH(&o->flows, flow);
	return rc;
}

int faults_flow(const struct faults_params *p, struct faults_outcome *o,
		struct fab_err *err)
{
	int rc = 0;

	for (size_t k = 0; k < p->questions.permutations.n; k++)
		for (size_t i = 0; i < o->n && !rc; i++)
			rc = add_flow(p, o, &o->results[i],
				      p->questions.permutations.v[k], err);
	return rc;
}
