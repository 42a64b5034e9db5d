/* SPDX-License-Identifier: BSD-2-Clause */
/* --max-faults, --set count: throughput over the number of faults, in drawn sets. */
#include <errno.h>
#include <math.h>

#include "event/stream.h"
#include "fabric_sim.h"

/* A number of faults by an algorithm. */
struct row {
	const char *algorithm;
	uint64_t faults, sets, saturated, without_path, deadlocks;
	double mean, least, ci95, per_host, latency, p99;
	const char *worst; /* the set with least; NULL: no faults */
	struct fab_tally accepted, all, latencies, quantiles;
};

struct outcome {
	struct sim_outcome sim; /* first */
	struct row *rows;	/* by algorithm, then number of faults */
	size_t n, n_numbers;
};

/* Simulate one set of faults by all algorithms, and add the results to rows of it. */
static int add_set(struct fab_work *w, struct fab_faults *faults, uint64_t number,
		   struct row *rows, size_t stride, struct fab_err *err)
{
	const struct sim_params *p = w->params;
	struct sim_outcome *o = w->outcome;
	const struct fab_sim_problem *nets[SIM_MAX_NETS];
	struct fab_sim_problem problem[SIM_MAX_NETS];
	struct fab_routes *routes[SIM_MAX_NETS] = {NULL};
	struct fab_no_path no_path[SIM_MAX_NETS] = {0};
	struct fab_sim_points points = {0};
	struct fab_flow_ends ends;
	struct fab_sim_sweep sweep;
	int rc = 0;

	fab_flow_ends_init(&ends, o->f, faults->switch_is_dead, faults->cable_is_dead);
	if (ends.n < 2)
		rc = fab_fail(err, EINVAL, "%zu faults leave no two live hosts",
			      (size_t)faults->named.n);
	for (size_t i = 0; i < o->n_nets && !rc; i++) {
		rc = sim_route(p, o, o->nets[i].engine, faults, &routes[i], err);
		problem[i] = (struct fab_sim_problem){
			.f = o->f, .faults = faults, .ends = &ends, .routes = routes[i]};
		nets[i] = &problem[i];
		if (!rc)
			rc = sim_check_problem(p, &problem[i], o->nets[i].algorithm, err);
		if (!rc)
			fab_no_path_find(routes[i], ends.n, ends.sw, ends.port,
					 &no_path[i]);
	}
	sim_sweep_of(o, &sweep);
	sweep.nets = nets;
	sweep.problem.ends = &ends;
	sweep.seed = number ? fab_stream_at(p->run.seed, number, 0) : p->run.seed;
	if (!rc)
		rc = fab_sim_sweep(&sweep, &points, err);
	for (size_t i = 0; i < points.of.n && !rc; i++) {
		const struct fab_sim_summary *s = &points.of.v[i].sum;
		struct row *x = &rows[points.of.v[i].net * stride];

		if (s->is_stopped)
			continue;
		if (!x->sets++ || s->accepted < x->least) {
			x->least = s->accepted;
			x->worst = faults->named.n
					   ? sim_keep(o, fab_faults_text(faults, ", "))
					   : NULL;
		}
		fab_tally_add(&x->accepted, s->accepted);
		fab_tally_add(&x->all, s->accepted * ends.n / o->n_all_ends);
		if (isfinite(s->latency_mean)) {
			fab_tally_add(&x->latencies, s->latency_mean);
			fab_tally_add(&x->quantiles, s->latency_p99);
		}
		x->saturated += s->saturated != 0;
		x->without_path += no_path[points.of.v[i].net].without > 0;
		x->deadlocks += s->is_deadlocked;
	}
	for (size_t i = 0; i < o->n_nets; i++) {
		fab_no_path_fini(&no_path[i]);
		fab_routes_free(routes[i]);
	}
	fab_sim_points_fini(&points);
	fab_flow_ends_fini(&ends);
	return rc;
}

static void finish(struct row *x)
{
	x->mean = fab_tally_mean(&x->accepted);
	x->ci95 = fab_tally_half(&x->accepted);
	x->per_host = fab_tally_mean(&x->all);
	x->latency = x->latencies.n ? fab_tally_mean(&x->latencies) : (double)NAN;
	x->p99 = x->quantiles.n ? fab_tally_mean(&x->quantiles) : (double)NAN;
}

/* All sets of a number of faults. */
static int add_number(struct fab_work *w, uint32_t k, size_t at, struct fab_err *err)
{
	const struct sim_params *p = w->params;
	struct outcome *x = w->outcome;
	struct fab_fault_sets sets = {
		.always = x->sim.dead, .k = k, .n = p->count, .seed = p->run.seed};
	struct fab_fault_maker *maker;
	int rc = fab_fault_sets_init(&sets, p->faults.of, err);

	if (rc)
		return rc;
	maker = fab_fault_maker_new(&sets);
	for (uint64_t i = 0; i < p->count && !rc && !fab_cli_is_interrupted(NULL); i++) {
		fab_fault_maker_make(maker, i);
		rc = add_set(w, maker->faults, i, &x->rows[at], x->n_numbers, err);
	}
	fab_fault_maker_free(maker);
	fab_fault_sets_fini(&sets);
	return rc;
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct sim_params *p = w->params;
	struct outcome *x = w->outcome;
	struct sim_outcome *o = &x->sim;
	uint32_t random = p->faults.random, last = p->max_faults ? p->max_faults : random;
	bool fails = false;
	void *progress;
	int rc;

	p->faults.random = 0; /* of a set at a time */
	rc = sim_set_up(w, err);
	if (rc)
		return rc;
	x->n_numbers = p->max_faults ? last + 1 : 2;
	x->n = x->n_numbers * o->n_nets;
	x->rows = FAB_ARENA_NEW0(o->arena, x->n + 1, struct row);
	for (size_t i = 0; i < x->n; i++) {
		x->rows[i].algorithm = o->nets[i / x->n_numbers].algorithm;
		x->rows[i].faults = i % x->n_numbers;
		if (!p->max_faults && i % x->n_numbers)
			x->rows[i].faults = last;
	}
	progress = fab_cli_progress_new(&p->run, "simulating", "numbers of faults");
	fab_cli_catch_interrupt();
	for (size_t at = 0; at < x->n_numbers && !rc; at++) {
		rc = add_number(w, (uint32_t)x->rows[at].faults, at, err);
		fab_cli_progress_tick(progress, at + 1, x->n_numbers);
	}
	fab_cli_progress_free(progress);
	w->is_partial = o->was_interrupted = fab_cli_is_interrupted(NULL);
	for (size_t i = 0; i < x->n && !rc; i++) {
		finish(&x->rows[i]);
		fails |= x->rows[i].deadlocks || x->rows[i].without_path;
	}
	if (rc)
		return rc;
	if (!x->rows[0].sets)
		return fab_fail(err, EINTR, "interrupted before anything was measured");
	return p->check && fails ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

/* One algorithm: x[0] without, x[n - 1] with the most faults. */
static void say(struct fab_report *r, const struct sim_outcome *o, const struct row *x,
		size_t n)
{
	const struct row *last = &x[n - 1];
	double less = x->mean - last->mean, doubt = hypot(x->ci95, last->ci95);
	const char *verdict;
	uint64_t deadlocks = 0, without = 0;

	for (size_t i = 0; i < n; i++) {
		deadlocks += x[i].deadlocks;
		without += x[i].without_path;
	}
	if (!last->sets) {
		fab_report_answer(r, FAB_TONE_WARN, "%s: interrupted before %llu faults.",
				  x->algorithm, (unsigned long long)last->faults);
		return;
	}
	if (last->sets < 2 || x->sets < 2)
		verdict = "undecided, of one set each (--set count)";
	else if (fabs(less) <= doubt)
		verdict =
			"undecided, within what sets and random traffic change (--set count, --time)";
	else
		verdict = fab_arena_format(o->arena, "%.2g %% %s, with 95 %% confidence",
					   100 * fabs(less) / x->mean,
					   less > 0 ? "less" : "more");
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"%s, %s: with %llu fault%s live hosts get %.3g %% of what their cables carry, in the worst of %llu set%s %.3g %%; without %.3g %%: %s.",
		x->algorithm, o->p->traffic, (unsigned long long)last->faults,
		last->faults == 1 ? "" : "s", 100 * last->mean,
		(unsigned long long)last->sets, last->sets == 1 ? "" : "s",
		100 * last->least, 100 * x->mean, verdict);
	if (deadlocks)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"%s: packets that can never move again in %llu simulations.",
			x->algorithm, (unsigned long long)deadlocks);
	if (without)
		fab_report_answer(r, FAB_TONE_BAD,
				  "%s: pairs of live hosts have no path in %llu sets.",
				  x->algorithm, (unsigned long long)without);
}

#define AT(member) FAB_AT(struct row, member)
static const struct fab_column columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm", 0, AT(algorithm)},
	{"faults", FAB_UINT, "parts that are dead, besides those named", 0, AT(faults)},
	{"sets", FAB_UINT, "sets that were simulated", FAB_COL_EXTRA, AT(sets)},
	{"accepted_mean", FAB_REAL,
	 "what arrived, share of the cable of each live host, mean of the sets", 0,
	 AT(mean)},
	{"accepted_min", FAB_REAL, "the least of a set", 0, AT(least)},
	{"accepted_ci95", FAB_REAL,
	 "half of the 95 % interval of the mean; null: one set", 0, AT(ci95)},
	{"accepted_per_host", FAB_REAL, "mean for each host, dead ones too",
	 FAB_COL_EXTRA, AT(per_host)},
	{"latency_ns_mean", FAB_REAL,
	 "mean of the sets that are not saturated, ns (flit times by flit)",
	 FAB_COL_EXACT, AT(latency)},
	{"latency_ns_p99", FAB_REAL, "mean of their 99 %", FAB_COL_EXTRA | FAB_COL_EXACT,
	 AT(p99)},
	{"saturated", FAB_UINT, "sets in which a backlog grew, or may have", 0,
	 AT(saturated)},
	{"without_path", FAB_UINT, "sets in which pairs of live hosts have no path",
	 FAB_COL_EXTRA | FAB_COL_BAD_IF_ANY, AT(without_path)},
	{"deadlocks", FAB_UINT, "sets in which packets can never move again",
	 FAB_COL_BAD_IF_ANY, AT(deadlocks)},
	{"worst", FAB_TEXT, "the set of accepted_min", FAB_COL_EXTRA, AT(worst)},
};
#undef AT

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct outcome *x = w->outcome;
	const struct sim_outcome *o = &x->sim;

	for (size_t i = 0; i < x->n; i += x->n_numbers)
		say(r, o, &x->rows[i], x->n_numbers);
	sim_say_notes(r, o);
	sim_print_parameters(r, o);
	fab_report_table(r, "faults", "Throughput over faults", w->columns.v,
			 w->columns.n, x->rows, sizeof(*x->rows), x->n);
}

static int write_plot(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct outcome *x = w->outcome;
	const struct sim_outcome *o = &x->sim;
	struct fab_plot_series *series =
		FAB_ARENA_NEW(o->arena, 2 * o->n_nets + 1, struct fab_plot_series);
	double *v = FAB_ARENA_NEW(o->arena, 3 * x->n + 1, double);
	struct fab_picture picture;

	(void)err;
	for (size_t i = 0; i < x->n; i++) {
		v[i] = (double)x->rows[i].faults;
		v[x->n + i] = x->rows[i].mean;
		v[2 * x->n + i] = x->rows[i].least;
	}
	for (size_t i = 0; i < o->n_nets; i++) {
		size_t at = i * x->n_numbers;

		series[2 * i] = (struct fab_plot_series){x->rows[at].algorithm, v + at,
							 v + x->n + at, x->n_numbers};
		series[2 * i + 1] = (struct fab_plot_series){
			fab_arena_format(o->arena, "%s, worst set",
					 x->rows[at].algorithm),
			v + at, v + 2 * x->n + at, x->n_numbers};
	}
	picture = fab_cli_picture(w, &o->p->plot, "Throughput while parts are dead", "");
	fab_curves_write(out, &picture,
			 &(struct fab_curves){
				 .x_label = "faults",
				 .y_label = "arrives, share of the live hosts' cables",
				 .from_zero = true,
				 .series = series,
				 .n = 2 * o->n_nets},
			 1);
	return 0;
}

static const struct fab_task_file files[] = {{"plot", write_plot}, {0}};

const struct fab_task sim_faults_task = {
	.primary = "faults",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct outcome),
	.solve = solve,
	.files = files,
	.report = report,
	.fini = sim_outcome_fini,
};
