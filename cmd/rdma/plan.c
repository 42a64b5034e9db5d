/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma plan: the least window and timeout for a share of the ideal. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/human.h"
#include "base/mem.h"
#include "fabric_rdma.h"

struct row {
	const char *scheme;
	bool found;
	uint64_t runs, window, window_below;
	double rto_us, share, ci95, rounds, share_below, rto_below_us;
	uint64_t trials, bits, contexts;
};

#define AT(member) FAB_AT(struct row, member)
const struct fab_column rdma_plan_columns[] = {
	{"scheme", FAB_TEXT, "reliability scheme", 0, AT(scheme)},
	{"found", FAB_BOOL, "it reaches the target", FAB_COL_BAD_IF_NO, AT(found)},
	{"window", FAB_UINT,
	 "least width of its window, else the widest that was tried; null: it has none",
	 FAB_COL_NULL_ZERO, AT(window)},
	{"rto_us", FAB_REAL, "least timeout for it, us", 0, AT(rto_us)},
	{"ratio_to_oracle", FAB_REAL,
	 "mean of the oracle / mean of the scheme with these, simulated", 0, AT(share)},
	{"ratio_ci95", FAB_REAL, "half of its 95 % interval; null: one run",
	 FAB_COL_EXTRA, AT(ci95)},
	{"rounds", FAB_REAL, "packets of data sent / packets there are", 0, AT(rounds)},
	{"window_below", FAB_UINT, "the window below; null: none", FAB_COL_NULL_ZERO,
	 AT(window_below)},
	{"ratio_below", FAB_REAL, "the best that it reaches with any timeout", 0,
	 AT(share_below)},
	{"rto_below_us", FAB_REAL, "with this timeout, us", FAB_COL_EXTRA,
	 AT(rto_below_us)},
	{"runs", FAB_UINT, "runs of each that this is made of", FAB_COL_EXTRA, AT(runs)},
	{"trials", FAB_UINT, "sets of runs that were simulated", FAB_COL_EXTRA,
	 AT(trials)},
	{"context_bits", FAB_UINT, "of a context with that window", FAB_COL_NULL_ZERO,
	 AT(bits)},
	{"contexts", FAB_UINT, "that --memory holds", FAB_COL_NULL_ZERO | FAB_COL_EXTRA,
	 AT(contexts)},
};
#undef AT
const size_t rdma_n_plan_columns = FAB_COUNT(rdma_plan_columns);

struct planning {
	struct rdma_params *p;
	struct rdma_network net;
	struct rdma_traffic traffic;
	struct fab_cli_progress *progress;
	FAB_VEC(struct row) rows;
	struct fab_rdma_plan plan[RDMA_MAX_SCHEMES]; /* of each row */
	uint64_t bits[RDMA_MAX_SCHEMES];
};

static int tick(void *context, uint64_t done, uint64_t total)
{
	const struct planning *x = context;

	fab_cli_progress_tick(x->progress, done, total);
	return fab_cli_is_interrupted(NULL);
}

static int make_ready(struct planning *x, struct fab_err *err)
{
	int rc = rdma_traffic_init(&x->traffic, &x->net, x->p->bytes, &x->p->sim, err);

	if (rc || fab_rdma_n_no_path(x->traffic.net) < x->traffic.problem.n_transfers)
		return rc;
	return fab_fail(err, EINVAL, "--pattern=%s: no transfer has a path",
			x->p->pattern);
}

static void add_row(struct planning *x, const struct fab_rdma_scheme *scheme,
		    const struct fab_rdma_plan *plan)
{
	struct fab_rdma_params sim = x->p->sim;
	struct row row = {
		.scheme = scheme->name,
		.found = plan->is_found,
		.window = plan->answer.window,
		.rto_us = (double)plan->answer.rto_ps / 1e6,
		.share = plan->answer.share.value,
		.ci95 = plan->answer.share.half,
		.runs = plan->answer.n_runs,
		.rounds = plan->answer.rounds,
		.window_below = plan->below.window,
		.share_below = plan->below.window ? plan->below.share.value : (double)NAN,
		.rto_below_us = plan->below.window ? (double)plan->below.rto_ps / 1e6
						   : (double)NAN,
		.trials = plan->n_trials};

	if (row.window)
		sim.window = (uint32_t)row.window;
	row.bits = rdma_context_bits(x->p, &x->traffic, &sim, scheme);
	row.contexts = row.bits ? fab_rdma_contexts_in(x->p->memory, row.bits) : 0;
	x->plan[x->rows.n] = *plan;
	x->bits[x->rows.n] = row.bits;
	FAB_PUSH(&x->rows, row);
}

static int plan_all(struct planning *x, struct fab_err *err)
{
	struct rdma_params *p = x->p;
	const struct fab_rdma_net *net = x->traffic.net;
	struct fab_rdma_params sim;
	struct fab_rdma_load load;
	int rc = fab_rdma_load(net, &p->sim, x->traffic.problem.n_transfers, &load, err);

	p->sim.sender_window = rdma_fitting_sender_window(p, net, &p->sim);
	p->widths.buffer = p->sim.sender_window;
	sim = p->sim;
	/* who reaches the target is done by then */
	if (!rc && !sim.end_ps)
		sim.end_ps = (uint64_t)fmin(
			(double)fab_rdma_late_end(&load, p->sim.rto_ps) / p->target,
			(double)FAB_RDMA_END_MAX_PS);
	for (size_t i = 0; i < p->schemes.of.n && !rc; i++) {
		const struct fab_rdma_scheme *scheme =
			fab_rdma_schemes[p->schemes.of.v[i].row];
		const struct fab_rdma_plan_question q = {
			.net = net,
			.params = sim,
			.scheme = scheme,
			.wait_ps = fab_rdma_wait(&load),
			.most_packets = rdma_traffic_most_packets(&x->traffic, p->mtu),
			.target = p->target,
			.n_runs = p->runs,
			.n_threads = p->run.threads,
			.progress = tick,
			.progress_context = x};
		struct fab_rdma_plan plan;

		if (scheme == &fab_rdma_scheme_oracle)
			continue;
		rc = fab_rdma_plan(&q, &plan, err);
		if (!rc)
			add_row(x, scheme, &plan);
	}
	return rc;
}

/* What it takes, in words; on the heap. */
static char *row_text(const struct row *row)
{
	char rto[FAB_HUMAN_BYTES], *text;

	fab_human_seconds(row->rto_us * 1e-6, rto);
	text = row->window ? fab_format("W = %llu and a timeout of %s",
					(unsigned long long)row->window, rto)
			   : fab_format("a timeout of %s", rto);
	fab_append(&text, "", ": %.3g %%", 100 * row->share);
	if (row->ci95 > 0)
		fab_append(&text, "", " (+- %.2g)", 100 * row->ci95);
	fab_append(&text, "", " simulated");
	if (row->rounds > FAB_RDMA_WASTE)
		fab_append(&text, "", " at %.3g times the packets", row->rounds);
	if (row->window_below)
		fab_append(&text, "", ", %.3g %% at best with W = %llu",
			   100 * row->share_below, (unsigned long long)row->window_below);
	return text;
}

/* Can packets be lost or late here at all? */
static bool is_harmless(const struct planning *x)
{
	const struct fab_rdma_impairments *bad = &x->p->sim.bad;

	return !(bad->loss > 0) && !(bad->drop_control > 0) && !(bad->delayed > 0) &&
	       !bad->n_outages && x->p->sim.routing == FAB_RDMA_BY_TABLE;
}

/* Data packets that all runs of a trial lose, expected. */
static double losses_of(const struct planning *x)
{
	return x->p->sim.bad.loss * x->p->runs *
	       (double)rdma_traffic_packets(&x->traffic, x->p->mtu);
}

static bool has_few_losses(const struct planning *x)
{
	return x->p->sim.bad.loss > 0 && losses_of(x) < FAB_RDMA_FEW;
}

/* A plan rests on the losses that it has seen. */
static void say_few_losses(struct fab_report *r, const struct planning *x)
{
	const struct fab_rdma_impairments *bad = &x->p->sim.bad;

	if (is_harmless(x))
		fab_report_answer(
			r, FAB_TONE_WARN,
			"No plan is recommended: no packet is lost or late here "
			"(--loss=1e-4, --delay=0.1:U:2us).");
	else if (has_few_losses(x))
		fab_report_answer(
			r, FAB_TONE_WARN,
			"No plan is recommended: about %.2g data packets are lost in %u "
			"runs; --runs=%llu would say more.",
			losses_of(x), x->p->runs,
			(unsigned long long)rdma_runs_for_losses(losses_of(x) /
								 x->p->runs));
	else if (!(bad->loss > 0) && !(bad->drop_control > 0) && !bad->n_outages)
		fab_report_answer(r, FAB_TONE_WARN,
				  "No packet is lost here: this says nothing of how the "
				  "schemes bear loss (--loss=1e-4).");
}

static void say_plan(struct fab_report *r, const struct planning *x,
		     const struct row *best)
{
	char *text = row_text(best);

	fab_report_answer(r, FAB_TONE_GOOD,
			  "Take %s for %.3g %% of the ideal, with %s; a context has %llu "
			  "bits, the fewest of those that reach it%s.",
			  best->scheme, 100 * x->p->target, text,
			  (unsigned long long)best->bits,
			  best->rounds > FAB_RDMA_WASTE
				  ? ""
				  : " without sending much more than there is");
	free(text);
}

static void answer(struct fab_report *r, const struct planning *x)
{
	uint32_t found = fab_rdma_plan_best(x->plan, x->bits, (uint32_t)x->rows.n);
	const struct row *best = found == FAB_NONE ? NULL : &x->rows.v[found];
	const struct row *nearest = NULL;

	for (size_t i = 0; i < x->rows.n; i++)
		if (!nearest || x->rows.v[i].share > nearest->share)
			nearest = &x->rows.v[i];
	if (best && !is_harmless(x) && !has_few_losses(x))
		say_plan(r, x, best);
	else if (!best && nearest)
		fab_report_answer(r, FAB_TONE_BAD,
				  "No scheme reaches %.3g %% of the ideal here with any "
				  "window and timeout; nearest is %s with %.3g %%.",
				  100 * x->p->target, nearest->scheme,
				  100 * nearest->share);
	for (size_t i = 0; i < x->rows.n && best; i++)
		if (!x->rows.v[i].found)
			fab_report_answer(r, FAB_TONE_WARN,
					  "%s does not reach it: %.3g %% at best.",
					  x->rows.v[i].scheme, 100 * x->rows.v[i].share);
	rdma_say_no_path(r, fab_rdma_n_no_path(x->traffic.net),
			 x->traffic.problem.n_transfers);
	say_few_losses(r, x);
}

static int print(const struct planning *x, struct fab_err *err)
{
	struct fab_cli_results results = {.n = 0};
	struct fab_report_options options;
	FILE *out = fab_cli_open_report(&results, &x->p->output, &options);
	struct fab_report *r =
		fab_cli_begin_report(out, &options, "fabric-rdma", "results", x->net.f);
	const struct fab_column target = {"target", FAB_REAL, "", 0};
	int rc;

	answer(r, x);
	fab_report_text(r, "verb", "plan");
	fab_report_field(r, &target, (union fab_cell){.real = x->p->target});
	rdma_print_parameters(r, x->p, &x->net);
	fab_report_uint(r, "transfers", x->traffic.problem.n_transfers);
	rdma_print_no_path(r, fab_rdma_n_no_path(x->traffic.net));
	fab_report_table(r, "results", "Least windows and timeouts", rdma_plan_columns,
			 rdma_n_plan_columns, x->rows.v, sizeof(*x->rows.v), x->rows.n);
	rc = fab_report_finish(r, err);
	return rc ? rc : fab_cli_commit_results(&results, err);
}

int rdma_plan(struct rdma_params *p, const struct fab_fabric *f, struct fab_err *err)
{
	struct planning x = {.p = p};
	int rc = rdma_set_up(p, f, &x.net, err);

	if (!rc)
		rc = make_ready(&x, err);
	x.progress = fab_cli_progress_new(&p->run, "simulating", "runs");
	fab_cli_catch_interrupt();
	if (!rc)
		rc = plan_all(&x, err);
	fab_cli_progress_free(x.progress);
	if (rc == -ECANCELED)
		rc = fab_fail(err, EINTR, "interrupted before the plan was made");
	if (!rc)
		rc = print(&x, err);
	rdma_traffic_fini(&x.traffic);
	free(x.rows.v);
	rdma_network_fini(&x.net);
	return rc;
}
