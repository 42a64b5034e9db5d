/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch stages: where the seconds of a job start go. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "launch.h"
#include "verb_stages.h"

static const enum fab_launch_constant pmi_constants[] = {
	FAB_CONST_pmi1_us, FAB_CONST_pmi2_us, FAB_CONST_hex_factor};

void launch_use_start_constants(struct launch_params *p)
{
	static const enum fab_launch_constant constants[] = {
		FAB_CONST_o_us,
		FAB_CONST_latency_us,
		FAB_CONST_gap_ns_per_B,
		FAB_CONST_copy_ns_per_B,
		FAB_CONST_tree_width,
		FAB_CONST_fanout,
		FAB_CONST_submit_ms,
		FAB_CONST_allocate_ms,
		FAB_CONST_daemon_ms,
		FAB_CONST_skew_ms,
		FAB_CONST_fork_ms,
		FAB_CONST_previous_end_s,
		FAB_CONST_blob_B,
		FAB_CONST_image_MB,
		FAB_CONST_files,
		FAB_CONST_fs_MBps,
		FAB_CONST_node_MBps,
		FAB_CONST_fs_ops,
		FAB_CONST_init_ms,
		FAB_CONST_register_ms,
		FAB_CONST_register_us,
		FAB_CONST_put_us,
		FAB_CONST_commit_us,
		FAB_CONST_fence_us,
		FAB_CONST_get_us,
		FAB_CONST_get_first_us,
		FAB_CONST_get_remote_us,
		FAB_CONST_serve_us,
		FAB_CONST_unpack_ns_per_B,
		FAB_CONST_peers,
		FAB_CONST_nic_init_ms,
		FAB_CONST_channel_us,
		FAB_CONST_inline_keys,
	};

	launch_use_constants(p, constants, FAB_COUNT(constants));
}

/* A fence on the fabric, prepared once for all sizes. */
static struct fab_fence_setup *setup_of(struct launch_timing *t,
					struct fab_fence_chosen is,
					const struct fab_fence_job *job,
					struct fab_err *err)
{
	struct fab_fence_setup *setup;

	for (size_t i = 0; i < t->setups.n; i++)
		if (t->setups.v[i]->is.algorithm == is.algorithm &&
		    t->setups.v[i]->is.width == is.width)
			return t->setups.v[i];
	setup = FAB_NEW0(1, struct fab_fence_setup);
	if (fab_fence_setup_init(setup, is, job, &t->nodes, t->job.routes, err)) {
		free(setup);
		return NULL;
	}
	FAB_PUSH(&t->setups, setup);
	return setup;
}

double launch_fence_us(void *context, struct fab_fence_chosen fence, uint64_t bytes,
		       struct fab_err *err)
{
	struct launch_timing *t = context;
	struct fab_fence_job job =
		launch_fence_job(&t->p->constants, t->n_nodes, t->nodes.sw, bytes);
	struct fab_fence_sim_options options = {0};
	struct fab_fence_setup *setup;
	struct fab_fence_time time;
	double us;
	int rc;

	if (!t->has_fabric) {
		rc = fab_fence_plain_us(fence, &job, &us, err);
		return rc ? rc : us;
	}
	setup = setup_of(t, fab_fence_stands_for(fence, &job), &job, err);
	if (!setup)
		return -EINVAL;
	for (size_t i = 0; i < t->known.n; i++)
		if (t->known.v[i].setup == setup && t->known.v[i].bytes == bytes)
			return t->known.v[i].us;
	rc = fab_fence_setup_time(setup, bytes, t->p->model_only ? NULL : &options, &time,
				  err);
	if (rc)
		return rc;
	t->n_cut += !t->p->model_only && isnan(time.simulated_us);
	FAB_PUSH(&t->known,
		 ((struct launch_known){setup, bytes, fab_fence_best_known_us(&time)}));
	return t->known.v[t->known.n - 1].us;
}

void launch_answer_cut(struct fab_report *r, const struct launch_timing *t)
{
	if (t->n_cut)
		fab_report_answer(r, FAB_TONE_WARN,
				  "%u fence%s would take too long to simulate: each step "
				  "was taken to wait for its fullest cable.",
				  t->n_cut, t->n_cut == 1 ? "" : "s");
}

int launch_fastest_fence(struct launch_timing *t, uint64_t bytes,
			 struct fab_fence_chosen *out, struct fab_err *err)
{
	double best = INFINITY;

	for (size_t i = 0; i < fab_n_fence_candidates; i++) {
		double us = launch_fence_us(t, fab_fence_candidates[i], bytes, err);

		if (us < 0)
			return (int)us;
		if (us < best) {
			best = us;
			*out = fab_fence_candidates[i];
		}
	}
	return 0;
}

int launch_timing_init(const struct launch_params *p, const struct fab_fabric *f,
		       struct launch_timing *t, struct fab_err *err)
{
	int rc;

	*t = (struct launch_timing){.p = p, .n_nodes = launch_n_nodes(p)};
	if (!f)
		return 0;
	t->has_fabric = true;
	rc = launch_job_init(p, f, &t->job, err);
	if (!rc)
		rc = launch_job_nodes(&t->job, t->n_nodes, p->orders.v[0], &t->nodes,
				      err);
	if (rc)
		return rc;
	t->n_nodes = t->nodes.n;
	if ((uint64_t)t->n_nodes * p->ppn > UINT32_MAX)
		return fab_fail(err, EINVAL,
				"%u nodes of %u are more than 2^32 processes", t->n_nodes,
				p->ppn);
	return 0;
}

void launch_timing_fini(struct launch_timing *t)
{
	for (size_t i = 0; i < t->setups.n; i++) {
		fab_fence_setup_fini(t->setups.v[i]);
		free(t->setups.v[i]);
	}
	free(t->setups.v);
	free(t->known.v);
	fab_launch_nodes_fini(&t->nodes);
	launch_job_fini(&t->job);
}

struct fab_launch_start launch_start(const struct launch_params *p,
				     struct launch_timing *t)
{
	return (struct fab_launch_start){
		.n_nodes = t->n_nodes,
		.ppn = p->ppn,
		.interface = FAB_PMIX,
		.keys = &p->keys,
		.layout = {FAB_SIZE_LIBRARY, p->namespace_chars},
		.degree = (double)NAN,
		.has_socket_store = p->socket_store,
		.params = &p->constants,
		.timer = {t->has_fabric ? launch_fence_us : NULL, t},
		.seed = p->run.seed,
	};
}

/* "auto" is the fastest for what a node contributes. */
int launch_choose_fence(const struct fab_chosen *chosen, struct launch_timing *t,
			uint64_t bytes, struct fab_fence_chosen *out, struct fab_err *err)
{
	int rc = fab_fence_parse(chosen->text, chosen->len, out, err);

	if (!rc && out->algorithm == &fab_fence_auto)
		rc = launch_fastest_fence(t, bytes, out, err);
	return rc;
}

static int add_case(struct stages_outcome *o, enum fab_launch_interface interface,
		    enum fab_launch_wireup wireup, struct fab_err *err)
{
	const struct launch_params *p = o->p;
	struct fab_launch_start s = launch_start(p, &o->t);
	struct stages_case c = {0};
	int rc;

	s.interface = interface;
	s.wireup = wireup;
	s.stage_in = p->stage_in;
	s.fence = o->fence;
	if (wireup == FAB_WIREUP_INSTANT)
		s.stage_in = FAB_STAGE_TREE;
	rc = fab_stages_run(&s, &c.stages, err);
	c.start = s;
	if (!rc)
		rc = fab_launch_goal_find(&s, p->goal_s, &c.goal, err);
	if (rc)
		fab_stages_fini(&c.stages);
	else
		FAB_PUSH(&o->cases, c);
	return rc;
}

/* Every interface by every wire-up that it knows. */
static int run_cases(struct stages_outcome *o, struct fab_err *err)
{
	const struct launch_params *p = o->p;
	int rc = 0;

	for (size_t i = 0; i < p->ifaces.of.n && !rc; i++)
		for (size_t k = 0; k < p->wireups.of.n && !rc; k++) {
			enum fab_launch_interface a = p->ifaces.of.v[i].row;
			enum fab_launch_wireup b = p->wireups.of.v[k].row;

			if (fab_launch_knows(a, b))
				rc = add_case(o, a, b, err);
		}
	if (!rc && !o->cases.n)
		rc = fab_fail(
			err, EINVAL,
			"--wireup: PMI-1 and PMI-2 know only full: nothing is left");
	return rc;
}

/* The processes that replace failed ones, by PMI-2. */
static int run_respawn(struct stages_outcome *o, struct fab_err *err)
{
	const struct launch_params *p = o->p;
	struct fab_launch_start s = launch_start(p, &o->t);
	uint32_t n = p->respawn;

	s.interface = FAB_PMI2;
	s.stage_in = FAB_STAGE_NONE;
	s.is_respawn = true;
	s.all_nodes = s.n_nodes;
	s.ppn = n < p->ppn ? n : p->ppn;
	s.n_nodes = (n + p->ppn - 1) / p->ppn;
	s.timer.us = NULL;
	return fab_stages_run(&s, &o->respawn, err);
}

/* On top of the first start by PMIx, which has most of them; else of the first one. */
static int improve(struct stages_outcome *o, struct fab_err *err)
{
	for (size_t i = o->cases.n; i-- > 0;)
		if (o->cases.v[i].start.interface == FAB_PMIX)
			o->base = i;
	return fab_launch_improve(&o->cases.v[o->base].start, o->fastest, o->improvements,
				  err);
}

static int compute(struct stages_outcome *o, const struct fab_fabric *f,
		   struct fab_err *err)
{
	struct launch_params *p = o->p;
	struct fab_launch_start s;
	uint64_t bytes;
	int rc = launch_timing_init(p, f, &o->t, err);

	if (rc)
		return rc;
	if (p->respawn && (uint64_t)o->t.n_nodes * p->ppn < p->respawn)
		return fab_fail(err, EINVAL,
				"--respawn=%u: the job has only %llu processes",
				p->respawn, (unsigned long long)o->t.n_nodes * p->ppn);
	s = launch_start(p, &o->t);
	bytes = fab_size_node(&p->keys, &s.layout, 0, p->ppn);
	rc = launch_choose_fence(&p->fences.of.v[0], &o->t, bytes, &o->fence, err);
	if (!rc)
		rc = launch_fastest_fence(&o->t, bytes, &o->fastest, err);
	if (!rc)
		rc = run_cases(o, err);
	if (!rc)
		rc = improve(o, err);
	if (!rc)
		rc = fab_launch_range_find(
			&p->constants, p->uses, o->cases.v[0].stages.total_s,
			fab_launch_total_of, &o->cases.v[0].start, &o->total, err);
	if (!rc && p->respawn)
		rc = run_respawn(o, err);
	return rc;
}

static void keep(struct fab_draft *d, const struct launch_params *p, const void *of)
{
	const struct stages_outcome *o = of;

	fab_draft_table(d, launch_stages_columns, launch_stages_n_columns);
	fab_draft_asked(d, "verb", fab_strdup("stages"));
	fab_draft_asked(d, "keys", fab_strdup(p->keys_text));
	fab_draft_fact(d, "nodes", o->t.n_nodes);
	if (!o->t.has_fabric)
		d->run.fabric.source = "none";
	for (size_t i = 0; i < o->cases.n; i++) {
		struct launch_stages_row row;
		char *name;

		stages_row(o, i, &row);
		name = fab_format("%s/%s", row.interface, row.wireup);
		fab_draft_result(d, name, launch_stages_columns, launch_stages_n_columns,
				 &row);
		free(name);
		free(row.fence);
		free(row.critical_path);
	}
}

static int run(struct launch_params *p, const struct fab_fabric *f, struct fab_err *err)
{
	struct stages_outcome o = {.p = p};
	struct launch_result result = {"results", stages_print, keep, &o};
	struct fab_cli_results files = {.n = 0};
	int rc;

	launch_use_start_constants(p);
	launch_use_constants(p, pmi_constants, FAB_COUNT(pmi_constants));
	rc = compute(&o, f, err);
	if (!rc && p->plot.path)
		stages_plot(&p->plot, &o, &files);
	if (!rc)
		rc = launch_finish(p, f, &result, &files, err);
	for (size_t i = 0; i < o.cases.n; i++)
		fab_stages_fini(&o.cases.v[i].stages);
	free(o.cases.v);
	fab_stages_fini(&o.respawn);
	launch_timing_fini(&o.t);
	return rc;
}

const struct launch_work launch_stages = {launch_stages_columns, &launch_stages_n_columns,
					  run};
