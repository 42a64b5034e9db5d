/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/fence_run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

const struct fab_fence_chosen fab_fence_candidates[] = {
	{&fab_fence_bruck, 0}, {&fab_fence_bruck_even, 0}, {&fab_fence_recdbl, 0},
	{&fab_fence_ring, 0},  {&fab_fence_leaf, 0},	   {&fab_fence_tree, 2},
	{&fab_fence_tree, 16}};
const size_t fab_n_fence_candidates = FAB_COUNT(fab_fence_candidates);

int fab_fence_setup_init(struct fab_fence_setup *setup, struct fab_fence_chosen chosen,
			 const struct fab_fence_job *job,
			 const struct fab_launch_nodes *nodes,
			 const struct fab_routes *routes, struct fab_err *err)
{
	int rc;

	*setup = (struct fab_fence_setup){
		.chosen = chosen, .is = fab_fence_stands_for(chosen, job), .job = *job};
	rc = fab_fence_plan_make(chosen, job, &setup->plan, err);
	if (!rc)
		rc = fab_fence_paths_init(&setup->paths, &setup->plan, nodes, routes,
					  err);
	if (rc) {
		fab_fence_setup_fini(setup);
		return rc;
	}
	fab_fence_load_init(&setup->load, &setup->plan, &setup->paths);
	setup->contended = fab_fence_contended(&setup->load, &job->costs);
	return 0;
}

void fab_fence_setup_fini(struct fab_fence_setup *setup)
{
	fab_fence_plan_fini(&setup->plan);
	fab_fence_paths_fini(&setup->paths);
	fab_fence_load_fini(&setup->load);
}

static int simulate(const struct fab_fence_setup *setup, uint64_t bytes,
		    const struct fab_fence_sim_options *options,
		    struct fab_fence_sim *out, struct fab_err *err)
{
	struct fab_fence_job job = setup->job;

	job.bytes = bytes;
	return fab_fence_simulate(&setup->plan, &setup->paths, setup->contended, &job,
				  options, out, err);
}

int fab_fence_setup_time(const struct fab_fence_setup *setup, uint64_t bytes,
			 const struct fab_fence_sim_options *options,
			 struct fab_fence_time *out, struct fab_err *err)
{
	struct fab_fence_job job = setup->job;
	int rc;

	out->sim = (struct fab_fence_sim){.us = NAN};
	rc = options ? simulate(setup, bytes, options, &out->sim, err) : 0;
	if (rc)
		return rc;
	job.bytes = bytes;
	out->simulated_us = out->sim.us;
	out->model_us = fab_fence_model_us(setup->is, &job, &setup->plan);
	out->contended_us = fab_fence_line_us(setup->contended, bytes);
	return 0;
}

double fab_fence_best_known_us(const struct fab_fence_time *time)
{
	return isnan(time->simulated_us) ? time->contended_us : time->simulated_us;
}

/* Is b no slower? 1, 0, or an error. */
static int is_faster(const struct fab_fence_setup *a, const struct fab_fence_setup *b,
		     uint64_t bytes, const struct fab_fence_sim_options *options,
		     struct fab_err *err)
{
	struct fab_fence_sim ta, tb;
	int rc = simulate(a, bytes, options, &ta, err);

	if (!rc)
		rc = simulate(b, bytes, options, &tb, err);
	if (rc)
		return rc;
	if (isnan(ta.us) || isnan(tb.us))
		return fab_fail(err, EOVERFLOW,
				"the simulation of %" PRIu64 " B has too many events",
				bytes);
	return tb.us <= ta.us;
}

int fab_fence_crossing_simulated(const struct fab_fence_setup *a,
				 const struct fab_fence_setup *b, uint64_t most,
				 const struct fab_fence_sim_options *options,
				 double *bytes, struct fab_err *err)
{
	uint64_t slower = 1, faster = most;
	int rc = is_faster(a, b, 1, options, err);

	*bytes = 0;
	if (rc)
		return rc < 0 ? rc : 0;
	rc = is_faster(a, b, most, options, err);
	*bytes = INFINITY;
	if (rc <= 0)
		return rc;
	while (faster - slower > 1 + slower / 1000) {
		uint64_t at = faster > 2 * slower
				      ? (uint64_t)sqrt((double)slower * (double)faster)
				      : slower + (faster - slower) / 2;

		if (at <= slower)
			at = slower + 1;
		rc = is_faster(a, b, at, options, err);
		if (rc < 0)
			return rc;
		if (rc)
			faster = at;
		else
			slower = at;
	}
	*bytes = (double)faster;
	return 0;
}
