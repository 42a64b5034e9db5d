/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults --permutation: flows before and after the faults. */
#include <stdlib.h>

#include "fabric/planes.h"
#include "faults.h"

static void load_of(const struct faults_params *p, const struct faults_outcome *o,
		    const char *spec, const struct fab_routes *routes,
		    struct fab_flow_load *out)
{
	struct fab_flow_ends ends;
	struct fab_err err;
	uint32_t *to;

	fab_flow_ends_init(&ends, o->f, routes->faults);
	if (!ends.n)
		fab_cli_exit(FAB_EXIT_ERROR, "%s: no live hosts to send",
			     p->input.fabric);
	if (fab_permutation(spec, o->kfat, o->f, &ends, p->run.seed, &to, &err))
		fab_cli_die(&err);
	fab_permutation_load(routes, &ends, to, out);
	free(to);
	fab_flow_ends_fini(&ends);
}

static void add_flow(const struct faults_params *p, struct faults_outcome *o,
		     const struct faults_result *r, const char *spec)
{
	struct faults_flow flow = {.permutation = spec, .algorithm = r->algorithm};
	struct fab_unicast_problem problem = faults_problem(p, o, NULL);
	struct fab_routes *sound;
	struct fab_err err;

	load_of(p, o, spec, r->routes, &flow.after);
	flow.before = flow.after;
	if (r->engine && o->faults->named.n) {
		if (r->engine->route(&problem, &sound, &err))
			fab_cli_die(&err);
		load_of(p, o, spec, sound, &flow.before);
		fab_routes_free(sound);
	}
	FAB_PUSH(&o->flows, flow);
}

/* Permutations are of all host ports: flows from plane to plane are lost. */
static void warn_planes(const struct faults_params *p, const struct faults_outcome *o)
{
	struct fab_planes *planes = fab_planes_new(o->f);

	if (p->questions.permutations.n && planes->n_planes > 1)
		fab_cli_warn(&p->run,
			     "--permutation: the host ports are on %u planes; flows from "
			     "one to another are lost; --hca=PATTERN chooses one plane",
			     planes->n_planes);
	fab_planes_free(planes);
}

void faults_flow(const struct faults_params *p, struct faults_outcome *o)
{
	warn_planes(p, o);
	for (size_t k = 0; k < p->questions.permutations.n; k++)
		for (size_t i = 0; i < o->n; i++)
			add_flow(p, o, &o->results[i], p->questions.permutations.v[k]);
}
