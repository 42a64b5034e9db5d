/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch modex: direct exchange, compared with a fence that brings all data. */
#include <math.h>

#include "base/units.h"
#include "launch.h"
#include "launch/exchange.h"

struct outcome {
	struct launch_timing t;
	struct fab_fence_chosen fence;
	struct fab_exchange exchange;
	double degree, fence_us, barrier_us;
	uint64_t bytes;
	uint32_t crossing; /* FAB_NONE: none */
	struct launch_modex_row rows[2];
	struct fab_launch_range full; /* seconds of the full fence */
};

static int follow_peers(struct fab_work *w, struct fab_err *err)
{
	const struct launch_params *p = w->params;
	struct outcome *o = w->outcome;
	struct fab_exchange_costs costs =
		fab_exchange_costs_of(&p->constants, p->no_cache);
	FAB_AUTO(fab_arena_free) struct fab_arena memory = FAB_ARENA_INIT;
	struct fab_peers peers;
	int rc = fab_exchange_costs_check(&costs, err);

	if (!rc)
		rc = fab_peers_make(&memory, p->peers, o->t.clock.n_nodes, p->ppn,
				    p->run.seed, &peers, err);
	if (!rc) {
		o->degree = fab_peers_mean_degree(&peers);
		rc = fab_exchange_run(&peers, &costs, &o->exchange, err);
	}
	return rc;
}

/* Seconds of the full exchange, its fence by formula. */
static int full_of(void *context, const struct fab_launch_params *params, double *out,
		   struct fab_err *err)
{
	const struct fab_work *w = context;
	const struct launch_params *p = w->params;
	const struct outcome *o = w->outcome;
	struct fab_exchange_costs costs = fab_exchange_costs_of(params, p->no_cache);
	struct fab_exchange_full full = {.bytes = o->bytes};
	uint32_t n = o->t.clock.n_nodes;
	struct fab_fence_job job =
		fab_fence_daemon_job_of(params, n, o->t.nodes.sw, o->bytes);
	int rc = fab_fence_plain_us(o->fence, &job, &full.fence_us, err);

	full.fence_us += p->ppn * FAB_PARAM(params, fence_us);
	*out = fab_exchange_full_us(n, o->degree, &full, &costs) / 1e6;
	return rc;
}

static void fill_rows(struct fab_work *w)
{
	const struct launch_params *p = w->params;
	struct outcome *o = w->outcome;
	struct fab_exchange_costs costs =
		fab_exchange_costs_of(&p->constants, p->no_cache);
	struct fab_exchange_full full = {
		o->fence_us + p->ppn * FAB_PARAM(&p->constants, fence_us), o->bytes};
	uint32_t n = o->t.clock.n_nodes;
	const struct fab_exchange *x = &o->exchange;
	struct fab_exchange_memory m = fab_exchange_memory(n, p->ppn, o->bytes, x);

	o->crossing = fab_exchange_crossing(n, p->ppn, &full, &costs);
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
		.fence = fab_fence_text(w->arena, o->fence),
		.degree = o->degree,
		.total_us = fab_exchange_full_us(n, o->degree, &full, &costs),
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

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct launch_params *p = w->params;
	struct outcome *o = w->outcome;
	struct fab_size_layout layout = {FAB_SIZE_LIBRARY, p->namespace_chars};
	int rc = launch_read_constants(p, err);

	if (!rc)
		rc = launch_timing_init(w, &o->t, err);
	if (!rc)
		rc = follow_peers(w, err);
	o->bytes = fab_size_node(&p->exchanged, &layout, 0, p->ppn);
	if (!rc)
		rc = launch_choose_fence(p, &o->t, o->bytes, &o->fence, err);
	if (rc)
		return rc;
	o->fence_us = fab_fence_clock_us(&o->t.clock, o->fence, o->bytes, err);
	if (o->fence_us < 0)
		return (int)o->fence_us;
	o->barrier_us = fab_fence_clock_us(&o->t.clock, o->fence, 0, err);
	if (o->barrier_us < 0)
		return (int)o->barrier_us;
	fill_rows(w);
	return fab_launch_range_find(&p->constants, p->uses, o->rows[1].total_us / 1e6,
				     full_of, w, &o->full, err);
}

static void answer(struct fab_report *r, const struct fab_work *w)
{
	const struct launch_params *p = w->params;
	const struct outcome *o = w->outcome;
	const struct launch_modex_row *direct = &o->rows[0], *full = &o->rows[1];
	char a[FAB_HUMAN_BYTES], b[FAB_HUMAN_BYTES];
	double direct_s = direct->total_us / 1e6;
	const char *faster = direct->total_us < full->total_us ? "asking is faster"
							       : "the fence is faster";

	fab_human_seconds(direct_s, a);
	fab_human_seconds(full->total_us / 1e6, b);
	if (o->full.least < direct_s && o->full.most > direct_s)
		faster = fab_arena_format(w->arena,
					  "which is faster is unknown, it depends on %s",
					  fab_launch_constants.at(o->full.by).form);
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"%s, %.6g peer%s each: asking directly takes %s, a full fence (%s) %s: %s.",
		launch_job_text(w->arena, o->t.clock.n_nodes, p->ppn, ""), o->degree,
		o->degree > 1 || o->degree < 1 ? "s" : "", a, full->fence, b, faster);
	launch_answer_range(r, p, "The fence", &o->full);
	if (direct->is_model)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"There are too many Gets to follow: asking is by the model of random peers.");
	if (o->crossing == FAB_NONE)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"By the model the fence is faster at no number of peers.");
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"By the model the fence is no slower from %u peer%s a process on.",
			o->crossing, o->crossing == 1 ? "" : "s");
	launch_answer_cut(r, &o->t);
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct launch_params *p = w->params;
	const struct outcome *o = w->outcome;
	double crossing = o->crossing == FAB_NONE ? (double)NAN : o->crossing;

	answer(r, w);
	fab_report_text(r, "peers", p->peers);
	fab_report_text(r, "keys", p->keys_text);
	fab_report_text(r, "tables", o->t.job.algorithm);
	fab_report_uint(r, "nodes", o->t.clock.n_nodes);
	fab_report_uint(r, "ppn", p->ppn);
	fab_report_uint(r, "bytes", o->bytes);
	fab_report_real(r, "fence_us", 0, o->fence_us);
	fab_report_real(r, "barrier_us", 0, o->barrier_us);
	fab_report_field(r, &(struct fab_column){"crossing_degree", FAB_NUMBER},
			 (union fab_cell){.real = crossing});
	launch_report_range(r, &o->full);
	fab_report_table(r, "results", "Exchange", launch_modex_columns,
			 launch_modex_n_columns, o->rows, sizeof(*o->rows), 2);
	launch_report_constants(r, p);
}

static void store(struct fab_draft *d, const struct fab_work *w)
{
	const struct launch_params *p = w->params;
	const struct outcome *o = w->outcome;

	launch_store_begin(d, w, "peers", p->peers);
	for (size_t i = 0; i < 2; i++)
		fab_draft_result(d, o->rows[i].method, launch_modex_columns,
				 launch_modex_n_columns, &o->rows[i]);
}

/* The fence of the full exchange. */
static void draw(struct fab_drawing *d, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;

	launch_draw_fence(d, w, &o->t.job, &o->t.nodes, o->fence, o->bytes);
}

LAUNCH_TASK(modex, struct outcome, .solve = solve, .report = report, .draw = draw,
	    .store = store);
