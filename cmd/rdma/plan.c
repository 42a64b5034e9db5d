/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma plan: the least window and timeout for a share of the ideal. */
#include <errno.h>
#include <inttypes.h>

#include "base/mem.h"
#include "base/units.h"
#include "fabric_rdma.h"

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct rdma_params *p = w->params;
	struct rdma_outcome *o = w->outcome;
	int rc = rdma_set_up(w, err);

	if (rc)
		return rc;
	o->progress = fab_cli_progress_new(&p->run, "simulating", "runs");
	fab_cli_catch_interrupt();
	rc = fab_rdma_plan_all(&o->plans, &o->q, err);
	fab_cli_progress_free(o->progress);
	if (rc == -ECANCELED)
		return fab_fail(err, EINTR, "interrupted before the plan was made");
	return rc;
}

/* "W = 24 and a timeout of 20 us: 95.3 % (+- 0.2) simulated, ..."; on the heap. */
static char *plan_text(const struct fab_rdma_planned *x)
{
	const struct fab_rdma_trial *t = &x->plan.answer, *below = &x->plan.below;
	char rto[FAB_HUMAN_BYTES], *text = NULL;

	if (t->window)
		fab_append(&text, "", "W = %u and ", t->window);
	fab_append(&text, "", "a timeout of %s: %.3g %%",
		   fab_human_seconds(t->rto_us * 1e-6, rto), 100 * t->share.value);
	if (t->share.half > 0)
		fab_append(&text, "", " (+- %.2g)", 100 * t->share.half);
	fab_append(&text, "", " simulated");
	if (t->rounds > FAB_RDMA_WASTE)
		fab_append(&text, "", " at %.3g times the packets", t->rounds);
	if (below->window)
		fab_append(&text, "", ", %.3g %% at best with W = %u",
			   100 * below->share.value, below->window);
	return text;
}

static void answer(struct fab_report *r, const struct fab_work *w)
{
	const struct rdma_params *p = w->params;
	const struct rdma_outcome *o = w->outcome;
	const struct fab_rdma_plans *plans = &o->plans;
	const struct fab_rdma_impairments *bad = &o->q.params.bad;
	const struct fab_rdma_planned *best =
		plans->best == FAB_NONE ? NULL : &plans->of[plans->best];
	const struct fab_rdma_planned *nearest = NULL;
	/* data packets that all runs of a trial lose, expected */
	double losses = bad->loss * p->runs * (double)plans->n_packets;
	bool has_few = bad->loss > 0 && losses < FAB_RDMA_FEW;
	bool may_lose = bad->loss > 0 || bad->corrupt > 0 || bad->drop_control > 0 ||
			bad->n_outages;
	bool is_harmless = !may_lose && !(bad->delayed > 0) &&
			   o->q.params.routing < FAB_SIM_BY_QUEUE;

	for (uint32_t i = 0; i < plans->n; i++)
		if (!nearest || plans->of[i].plan.answer.share.value >
					nearest->plan.answer.share.value)
			nearest = &plans->of[i];
	if (best && !is_harmless && !has_few) {
		FAB_AUTOFREE char *text = plan_text(best);

		fab_report_answer(
			r, FAB_TONE_GOOD,
			"Take %s for %.3g %% of the ideal, with %s; a context has %" PRIu64
			" bits, the fewest of those that reach it%s.",
			best->name, 100 * p->target, text, best->context_bits,
			best->plan.answer.rounds > FAB_RDMA_WASTE
				? ""
				: " without sending much more than there is");
	} else if (!best && nearest) {
		fab_report_answer(
			r, FAB_TONE_BAD,
			"No scheme reaches %.3g %% of the ideal here with any window and timeout; nearest is %s with %.3g %%.",
			100 * p->target, nearest->name,
			100 * nearest->plan.answer.share.value);
	}
	for (uint32_t i = 0; i < plans->n && best; i++)
		if (!plans->of[i].plan.is_found)
			fab_report_answer(r, FAB_TONE_WARN,
					  "%s does not reach it: %.3g %% at best.",
					  plans->of[i].name,
					  100 * plans->of[i].plan.answer.share.value);
	rdma_say_no_path(r, plans->n_no_path, plans->traffic.problem.n_transfers);
	if (is_harmless)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"No plan is recommended: no packet is lost or late here (--loss=1e-4, --delay=0.1:U:2us).");
	else if (has_few)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"No plan is recommended: about %.2g data packets are lost in %u runs; --runs=%" PRIu64
			" would say more.",
			losses, p->runs, rdma_runs_for_losses(losses / p->runs));
	else if (!may_lose)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"No packet is lost here: this says nothing about loss (--loss=1e-4).");
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct rdma_params *p = w->params;
	const struct fab_rdma_plans *plans =
		&((const struct rdma_outcome *)w->outcome)->plans;

	answer(r, w);
	fab_report_text(r, "verb", "plan");
	fab_report_real(r, "target", 0, p->target);
	rdma_print_parameters(r, w);
	fab_report_uint(r, "transfers", plans->traffic.problem.n_transfers);
	fab_report_uint_as(r, "no_path", FAB_COL_EXTRA, plans->n_no_path);
	fab_report_table(r, "results", "Least windows and timeouts", rdma_plan_columns,
			 rdma_n_plan_columns, plans->of, sizeof(*plans->of), plans->n);
}

const struct fab_task rdma_plan_task = {
	.primary = "results",
	.columns = rdma_plan_columns,
	.n_columns = &rdma_n_plan_columns,
	.outcome_bytes = sizeof(struct rdma_outcome),
	.solve = solve,
	.report = report,
	.fini = rdma_outcome_fini,
};
