/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch modex: each asks for what it needs, beside a fence that brings it all. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/human.h"
#include "launch.h"
#include "launch/exchange.h"
#include "launch/range.h"

static const enum fab_launch_constant constants[] = {
	FAB_CONST_o_us,		FAB_CONST_latency_us,
	FAB_CONST_gap_ns_per_B, FAB_CONST_copy_ns_per_B,
	FAB_CONST_tree_width,	FAB_CONST_get_us,
	FAB_CONST_get_first_us, FAB_CONST_get_remote_us,
	FAB_CONST_serve_us,	FAB_CONST_unpack_ns_per_B,
	FAB_CONST_fence_us,
};

struct outcome {
	struct launch_timing t;
	struct fab_fence_chosen fence;
	struct fab_exchange exchange;
	double degree, fence_us, barrier_us;
	uint64_t bytes;
	uint32_t crossing; /* FAB_NONE: none */
	struct launch_modex_row rows[2];
	char *fence_text;
	struct fab_launch_range full; /* seconds of the full fence */
};

static struct fab_exchange_costs costs_of(const struct launch_params *p,
					  const struct fab_launch_params *c)
{
	return (struct fab_exchange_costs){.get_us = FAB_PARAM(c, get_us),
					   .local_us = FAB_PARAM(c, get_first_us),
					   .remote_us = FAB_PARAM(c, get_remote_us),
					   .serve_us = FAB_PARAM(c, serve_us),
					   .unpack_ns = FAB_PARAM(c, unpack_ns_per_B),
					   .has_no_cache = p->no_cache};
}

static int follow_peers(const struct launch_params *p, struct outcome *o,
			struct fab_err *err)
{
	struct fab_exchange_costs costs = costs_of(p, &p->constants);
	struct fab_peers peers;
	int rc = fab_exchange_costs_check(&costs, err);

	if (!rc)
		rc = fab_peers_make(p->peers, o->t.n_nodes, p->ppn, p->run.seed, &peers,
				    err);
	if (rc)
		return rc;
	o->degree = fab_peers_mean_degree(&peers);
	rc = fab_exchange_run(&peers, &costs, &o->exchange, err);
	fab_peers_fini(&peers);
	return rc;
}

/* The fence with data, and one without. */
static int time_fences(const struct launch_params *p, struct outcome *o,
		       struct fab_err *err)
{
	struct fab_size_layout layout = {FAB_SIZE_LIBRARY, p->namespace_chars};
	int rc;

	o->bytes = fab_size_node(&p->keys, &layout, 0, p->ppn);
	rc = launch_choose_fence(&p->fences.of.v[0], &o->t, o->bytes, &o->fence, err);
	if (rc)
		return rc;
	o->fence_us = launch_fence_us(&o->t, o->fence, o->bytes, err);
	if (o->fence_us >= 0)
		o->barrier_us = launch_fence_us(&o->t, o->fence, 0, err);
	return o->fence_us < 0	   ? (int)o->fence_us
	       : o->barrier_us < 0 ? (int)o->barrier_us
				   : 0;
}

/* Seconds of the full exchange, its fence by formula. */
struct full_figure {
	const struct launch_params *p;
	const struct outcome *o;
};

static int full_of(void *context, const struct fab_launch_params *params, double *out,
		   struct fab_err *err)
{
	const struct full_figure *figure = context;
	const struct outcome *o = figure->o;
	struct fab_exchange_costs costs = costs_of(figure->p, params);
	struct fab_exchange_full full = {.bytes = o->bytes};
	struct fab_fence_job job =
		launch_fence_job(params, o->t.n_nodes, o->t.nodes.sw, o->bytes);
	int rc = fab_fence_plain_us(fab_fence_stands_for(o->fence, &job), &job,
				    &full.fence_us, err);

	full.fence_us += figure->p->ppn * FAB_PARAM(params, fence_us);
	*out = fab_exchange_full_us(o->t.n_nodes, o->degree, &full, &costs) / 1e6;
	return rc;
}

static void fill_rows(const struct launch_params *p, struct outcome *o)
{
	struct fab_exchange_costs costs = costs_of(p, &p->constants);
	struct fab_exchange_full full = {
		o->fence_us + p->ppn * FAB_PARAM(&p->constants, fence_us), 0, o->bytes};
	struct fab_exchange_memory m =
		fab_exchange_memory(o->t.n_nodes, p->ppn, o->bytes, &o->exchange);
	const struct fab_exchange *x = &o->exchange;

	o->crossing = fab_exchange_crossing(o->t.n_nodes, p->ppn, &full, &costs);
	o->rows[0] = (struct launch_modex_row){.method = "direct",
					       .degree = o->degree,
					       .total_us = x->total_us,
					       .mean_us = x->mean_us,
					       .gets = (double)x->gets,
					       .local = (double)x->local,
					       .requests = (double)x->requests,
					       .shared = (double)x->shared,
					       .most_served = (double)x->most_served,
					       .longest_wait_us = x->longest_wait_us,
					       .busy_share = x->busy_share,
					       .memory_bytes = m.direct,
					       .memory_each_bytes = m.direct * p->ppn,
					       .is_model = x->is_model};
	o->rows[1] = (struct launch_modex_row){
		.method = "full",
		.fence = o->fence_text,
		.degree = o->degree,
		.total_us = fab_exchange_full_us(o->t.n_nodes, o->degree, &full, &costs),
		.mean_us = (double)NAN,
		.gets = (double)x->gets,
		.local = (double)NAN,
		.requests = (double)NAN,
		.shared = (double)NAN,
		.most_served = (double)NAN,
		.longest_wait_us = (double)NAN,
		.busy_share = (double)NAN,
		.memory_bytes = m.full,
		.memory_each_bytes = m.full_each,
		.is_model = true};
}

static void answer(struct fab_report *r, const struct launch_params *p,
		   const struct outcome *o)
{
	const struct launch_modex_row *direct = &o->rows[0], *full = &o->rows[1];
	char a[FAB_HUMAN_BYTES], b[FAB_HUMAN_BYTES];
	char *job = launch_job_text(o->t.n_nodes, p->ppn, ""), *faster;

	fab_human_seconds(direct->total_us / 1e6, a);
	fab_human_seconds(full->total_us / 1e6, b);
	if (o->full.least < direct->total_us / 1e6 &&
	    o->full.most > direct->total_us / 1e6)
		faster = fab_format("which is faster is unknown, it depends on %s",
				    fab_launch_constants.at(o->full.by).form);
	else
		faster = fab_format("%s is faster", direct->total_us < full->total_us
							    ? "asking"
							    : "the fence");
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "%s, %.6g peer%s each: asking directly takes "
			  "%s, a full fence (%s) %s: %s.",
			  job, o->degree, o->degree > 1 || o->degree < 1 ? "s" : "", a,
			  o->fence_text, b, faster);
	launch_answer_range(r, p, "The fence", &o->full);
	free(faster);
	free(job);
	if (direct->is_model)
		fab_report_answer(r, FAB_TONE_WARN,
				  "There are too many Gets to follow: asking is by the "
				  "model of peers by chance.");
	if (o->crossing == FAB_NONE)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"By the model the fence is faster at no number of peers.");
	else
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "By the model the fence is no slower from %u peer%s a "
				  "process on.",
				  o->crossing, o->crossing == 1 ? "" : "s");
	fab_human_bytes((uint64_t)full->memory_bytes, a);
	fab_human_bytes((uint64_t)full->memory_each_bytes, b);
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"A node keeps %s after the fence, once in shared memory; %s with "
		"a copy for each process, as PMI-1.",
		a, b);
}

static void print(struct fab_report *r, const struct launch_params *p, const void *of,
		  enum fab_format format)
{
	static const struct fab_column crossing = {"crossing_degree", FAB_NUMBER, "", 0};
	static const struct fab_column us[] = {{"fence_us", FAB_REAL, "", 0},
					       {"barrier_us", FAB_REAL, "", 0}};
	const struct outcome *o = of;

	(void)format;
	answer(r, p, o);
	launch_answer_cut(r, &o->t);
	fab_report_text(r, "peers", p->peers);
	fab_report_text(r, "keys", p->keys_text);
	fab_report_text(r, "tables", o->t.job.algorithm);
	fab_report_uint(r, "nodes", o->t.n_nodes);
	fab_report_uint(r, "ppn", p->ppn);
	fab_report_uint(r, "bytes", o->bytes);
	fab_report_field(r, &us[0], (union fab_cell){.real = o->fence_us});
	fab_report_field(r, &us[1], (union fab_cell){.real = o->barrier_us});
	fab_report_field(r, &crossing,
			 (union fab_cell){.real = o->crossing == FAB_NONE ? (double)NAN
									  : o->crossing});
	launch_print_range(r, &o->full);
	fab_report_table(r, "results", "Exchange", launch_modex_columns,
			 launch_modex_n_columns, o->rows, sizeof(*o->rows), 2);
	launch_print_constants(r, p);
}

static void keep(struct fab_draft *d, const struct launch_params *p, const void *of)
{
	const struct outcome *o = of;

	fab_draft_table(d, launch_modex_columns, launch_modex_n_columns);
	fab_draft_asked(d, "verb", fab_strdup("modex"));
	fab_draft_asked(d, "peers", fab_strdup(p->peers));
	if (!o->t.has_fabric)
		d->run.fabric.source = "none";
	for (size_t i = 0; i < 2; i++)
		fab_draft_result(d, o->rows[i].method, launch_modex_columns,
				 launch_modex_n_columns, &o->rows[i]);
}

static int run(struct launch_params *p, const struct fab_fabric *f, struct fab_err *err)
{
	struct outcome o = {.fence_us = 0};
	struct launch_result result = {"results", print, keep, &o};
	int rc;

	launch_use_constants(p, constants, FAB_COUNT(constants));
	rc = launch_timing_init(p, f, &o.t, err);
	if (!rc)
		rc = follow_peers(p, &o, err);
	if (!rc)
		rc = time_fences(p, &o, err);
	if (!rc) {
		struct full_figure figure = {p, &o};

		o.fence_text = fab_fence_text(o.fence);
		fill_rows(p, &o);
		rc = fab_launch_range_find(&p->constants, p->uses,
					   o.rows[1].total_us / 1e6, full_of, &figure,
					   &o.full, err);
	}
	if (!rc) {
		rc = launch_finish(p, f, &result, NULL, err);
	}
	free(o.fence_text);
	launch_timing_fini(&o.t);
	return rc;
}

const struct launch_work launch_modex = {launch_modex_columns, &launch_modex_n_columns,
					 run};
