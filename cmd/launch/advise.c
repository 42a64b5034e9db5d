/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch advise: the seconds that settings save, for these nodes of this fabric.
 */
#include "launch/advise.h"

#include "base/human.h"
#include "launch.h"

struct outcome {
	struct launch_timing t;
	struct fab_launch_report r;
};

static int solve(struct fab_work *w, struct fab_err *err)
{
	static const char *const orders[] = {"fabric", "name", "switch"};
	struct launch_params *p = w->params;
	struct outcome *o = w->outcome;
	struct fab_launch_nodes *nodes =
		FAB_ARENA_NEW0(w->arena, FAB_COUNT(orders), struct fab_launch_nodes);
	int rc = launch_read_constants(p, err);

	if (!rc)
		rc = launch_timing_init(w, &o->t, err);
	for (size_t i = 0; i < FAB_COUNT(orders) && !rc; i++)
		rc = launch_job_nodes(p, &o->t.job, o->t.clock.n_nodes, orders[i],
				      w->arena, &nodes[i], err);
	if (rc)
		return rc;
	o->r = (struct fab_launch_report){.start = launch_start(p, &o->t),
					  .memory = w->arena,
					  .params = &p->constants,
					  .uses = p->uses,
					  .clock = &o->t.clock,
					  .order = p->orders.v[0],
					  .orders = orders,
					  .nodes_of = nodes,
					  .n_orders = FAB_COUNT(orders)};
	o->r.start.fence = (struct fab_fence_chosen){FAB_FENCE_SLURM_AUTO, 0};
	return fab_launch_report_make(&o->r, err);
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct launch_params *p = w->params;
	const struct outcome *o = w->outcome;
	const struct fab_launch_report *x = &o->r;
	char now[FAB_HUMAN_BYTES], then[FAB_HUMAN_BYTES];
	char *job = launch_job_text(w->arena, o->t.clock.n_nodes, p->ppn, "start");

	fab_human_seconds(x->advice.now.total_s, now);
	if (!x->best_text) {
		fab_report_answer(
			r, FAB_TONE_GOOD,
			"%s in %s by PMIx under Slurm as it is; no setting of Slurm or Open MPI saves as much as %g %% of it.",
			job, now, FAB_WORTH_JOB * 100);
		launch_answer_range(r, p, "It", &x->total);
	} else {
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s in %s by PMIx under Slurm as it is, in %s with %s.",
				  job, now,
				  fab_human_seconds(x->rows[x->n_rows - 1].total_s, then),
				  x->best_text);
		launch_answer_range(r, p, "With these, it", &x->best);
		fab_report_answer(r, FAB_TONE_PLAIN, "How: %s.", x->best_how);
	}
	launch_answer_cut(r, &o->t);
	fab_report_text(r, "keys", p->keys_text);
	fab_report_text(r, "tables", o->t.job.algorithm);
	fab_report_uint(r, "nodes", o->t.clock.n_nodes);
	fab_report_uint(r, "ppn", p->ppn);
	fab_report_real(r, "total_s", FAB_COL_SECONDS, o->r.advice.now.total_s);
	launch_report_range(r, &o->r.total);
	fab_report_table(r, "results", "Settings, each alone", launch_advise_columns,
			 launch_advise_n_columns, o->r.rows, sizeof(*o->r.rows),
			 o->r.n_rows);
	launch_report_constants(r, p);
}

static void store(struct fab_draft *d, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;

	launch_store_begin(d, w, NULL, NULL);
	for (size_t i = 0; i < o->r.n_rows; i++)
		fab_draft_result(d, o->r.rows[i].setting, launch_advise_columns,
				 launch_advise_n_columns, &o->r.rows[i]);
}

LAUNCH_TASK(advise, struct outcome, .solve = solve, .report = report, .store = store);
