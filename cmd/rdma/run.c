/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric-rdma run and sweep: endpoints and tables of the fabric, the question for the
 * library, and the report of its results.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "export/curves.h"
#include "fabric_rdma.h"
#include "sim/sim.h"
#include "store/store.h"
#include "unicast/lfts.h"

/* The network */

static int make_tables(struct fab_work *w, const struct fab_unicast_engine *engine,
		       const struct fab_unicast_problem *problem, struct fab_err *err)
{
	const struct rdma_params *p = w->params;
	struct rdma_network *n = &((struct rdma_outcome *)w->outcome)->net;
	int rc;

	if (fab_unicast_fits(engine, problem, NULL))
		return fab_unicast_refuse(p->input.fabric, engine, problem,
					  &n->kfat_error, err);
	n->algorithm = engine->name;
	rc = fab_unicast_route(engine, problem, &n->routes, err);
	if (!rc)
		fab_cli_tell_tables(&p->run, engine->name, n->routes);
	return rc;
}

/* Route and tables that were asked for, and the tables of the escape lanes where buffers
 * are bounded. Without --route: dimension order where there are dimensions. */
static int set_tables(struct fab_work *w, struct fab_err *err)
{
	const struct rdma_params *p = w->params;
	struct rdma_network *n = &((struct rdma_outcome *)w->outcome)->net;
	struct fab_unicast_problem problem = {.f = w->f,
					      .faults = n->dead,
					      .kfat = n->kfat,
					      .max_vls = p->max_vls,
					      .opensm = &p->opensm.outside,
					      .n_threads = p->run.threads};
	const struct fab_unicast_engine *engine =
		n->kfat ? &fab_unicast_vtftr_ib : &fab_unicast_minhop;
	bool has_dor = !fab_unicast_fits(&fab_unicast_dor, &problem, NULL);

	n->route = p->has_route ? (enum fab_sim_routing)p->route
		   : p->tables.lfts || p->has_algorithm || !has_dor ? FAB_SIM_BY_TABLE
								    : FAB_SIM_BY_DOR;
	if (p->tables.lfts) {
		n->algorithm = "loaded";
		return fab_routes_read(w->f, n->dead, p->tables.lfts, p->tables.path_sl,
				       p->tables.sl2vl, &n->routes, err);
	}
	if (n->route >= FAB_SIM_BY_QUEUE) {
		if (!p->buffer)
			return 0;
		engine = has_dor ? &fab_unicast_dor : &fab_unicast_updn;
		problem.fills_roots = true;
	} else if (n->route == FAB_SIM_BY_DOR) {
		engine = &fab_unicast_dor;
	} else if (p->has_algorithm) {
		engine = fab_unicast_engines[p->algorithms.of.v[0].row];
	}
	return make_tables(w, engine, &problem, err);
}

static int tick(void *context, uint64_t done, uint64_t total)
{
	const struct rdma_outcome *o = ((const struct fab_work *)context)->outcome;

	fab_cli_progress_tick(o->progress, done, total);
	return fab_cli_is_interrupted(NULL);
}

static void warn(void *context, const char *text)
{
	const struct rdma_params *p = ((const struct fab_work *)context)->params;

	fab_cli_warn(&p->run, "%s", text);
}

/* The question, of all but the axes. */
static struct fab_rdma_question question_of(struct fab_work *w)
{
	const struct rdma_params *p = w->params;
	const struct rdma_network *n = &((struct rdma_outcome *)w->outcome)->net;
	struct fab_rdma_question q = {.pattern = {.f = w->f,
						  .kfat = n->kfat,
						  .ends = &n->ends,
						  .bytes = p->bytes,
						  .repeats = p->repeats,
						  .is_read = p->op == 1,
						  .seed = p->run.seed},
				      .spec = p->pattern,
				      .job = n->jobs,
				      .n_jobs = (uint32_t)p->jobs.n,
				      .names_file = p->has_pattern_file,
				      .faults = n->dead,
				      .routes = n->routes,
				      .params = p->sim,
				      .has_rto = p->has_rto,
				      .has_sender_window = p->has_sender_window,
				      .axes = &p->axes,
				      .shard = p->shard.part,
				      .target = p->target,
				      .n_runs = p->runs,
				      .max_events = RDMA_MAX_EVENTS,
				      .n_threads = p->run.threads,
				      .widths = p->widths,
				      .memory_bytes = p->memory,
				      .memory_limits = p->has_memory,
				      .progress = tick,
				      .warn = warn,
				      .context = w};

	q.params.routing = n->route;
	q.params.bad.outage = n->outage;
	q.params.bad.n_outages = p->link_down.n;
	for (size_t i = 0; i < p->schemes.of.n; i++)
		q.scheme[q.n_schemes++] = fab_rdma_schemes[p->schemes.of.v[i].row];
	return q;
}

int rdma_set_up(struct fab_work *w, struct fab_err *err)
{
	struct rdma_params *p = w->params;
	struct rdma_outcome *o = w->outcome;
	struct rdma_network *n = &o->net;
	struct fab_sim_problem problem = {.f = w->f};
	int rc;

	if (fab_kfat_recognize(w->f, &n->kfat, &n->kfat_error))
		n->kfat = NULL;
	rc = fab_cli_draw_faults(&p->faults, &p->run, w->f, &n->dead, err);
	if (rc)
		return rc;
	fab_flow_ends_init(&n->ends, w->f, n->dead->switch_is_dead,
			   n->dead->cable_is_dead);
	rc = fab_flow_ends_choose(&n->ends, w->f, p->hosts.v, p->hosts.n, err);
	if (rc) {
		fab_err_prefix(err, "--hosts");
		return rc;
	}
	rc = !p->jobs.n ? 0
			: fab_jobs_read(p->jobs.v, p->jobs.n, w->f, &n->ends, false,
					w->arena, n->jobs, err);
	if (rc) {
		fab_err_prefix(err, "--job");
		return rc;
	}
	if (n->ends.n < 2)
		return fab_fail(err, EINVAL,
				"%s: %u live endpoints: a transfer needs two",
				p->input.fabric, n->ends.n);
	rc = set_tables(w, err);
	if (rc)
		return rc;
	n->outage = FAB_ARENA_NEW0(w->arena, p->link_down.n + 1, struct fab_rdma_outage);
	rc = rdma_read_link_down(p, w->f, n->outage, err);
	problem.faults = n->dead;
	if (!(p->cable_mbps > 0))
		n->n_unknown_rates = fab_sim_unknown_rates(&problem);
	if (n->n_unknown_rates && !(p->default_mbps > 0))
		fab_cli_warn(
			&p->run,
			"the rate of %u cables is not known: taken as %g Gb/s (--set default-rate)",
			n->n_unknown_rates, p->sim.rate_gbps);
	o->q = question_of(w);
	return rc;
}

void rdma_outcome_fini(void *outcome)
{
	struct rdma_outcome *o = outcome;

	fab_rdma_sweep_fini(&o->sweep);
	fab_rdma_traffic_fini(&o->plans.traffic);
	fab_routes_free(o->net.routes);
	fab_flow_ends_fini(&o->net.ends);
	fab_faults_free(o->net.dead);
	fab_kfat_free(o->net.kfat);
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct rdma_params *p = w->params;
	struct rdma_outcome *o = w->outcome;
	struct fab_rdma_sweep *s = &o->sweep;
	int rc = rdma_set_up(w, err);

	if (!rc)
		rc = fab_rdma_sweep_init(s, &o->q, err);
	if (rc)
		return rc;
	fab_cli_note_faults(&p->shard, o->net.dead);
	rc = fab_cli_count_shard(&p->shard, s->n_points, "points", err);
	if (rc)
		return rc;
	o->progress = fab_cli_progress_new(&p->run, "simulating", "runs");
	fab_cli_catch_interrupt();
	rc = fab_rdma_sweep(s, &o->q, err);
	fab_cli_progress_free(o->progress);
	w->is_partial = o->was_interrupted = fab_cli_is_interrupted(NULL);
	if (o->was_interrupted && !s->results.n)
		return fab_fail(err, EINTR, "interrupted before anything was simulated");
	if (rc && rc != -ECANCELED)
		return rc;
	for (size_t i = 0; p->check && i < s->results.n; i++) {
		const struct fab_rdma_summary *sum = &s->results.v[i].sum;

		if (sum->n_hung || sum->n_wrong || sum->n_no_path)
			return FAB_EXIT_FOUND;
	}
	return FAB_EXIT_DONE;
}

/* The report */

/* One number of the document. */
static void put(struct fab_report *r, const char *name, double value)
{
	const struct fab_column column = {name, FAB_NUMBER, "", FAB_COL_EXTRA};

	fab_report_field(r, &column, (union fab_cell){.real = value});
}

/* A text that tables leave out. */
static void put_text(struct fab_report *r, const char *name, const char *text)
{
	const struct fab_column column = {name, FAB_TEXT, "", FAB_COL_EXTRA};

	fab_report_field(r, &column, (union fab_cell){.text = text});
}

void rdma_print_parameters(struct fab_report *r, const struct fab_work *w)
{
	const struct rdma_params *p = w->params;
	const struct rdma_outcome *o = w->outcome;
	const struct rdma_network *n = &o->net;
	const struct fab_rdma_params *s = &o->q.params;
	const struct {
		const char *name;
		double value;
	} number[] = {
		{"size", (double)p->bytes},
		{"mtu", s->mtu},
		{"window", s->window},
		{"sender_window",
		 o->plans.sender_window ? o->plans.sender_window : s->sender_window},
		{"rto_us", (double)s->rto_ps / 1e6},
		{"header", s->header},
		{"control", s->control},
		{"rate_gbps", s->rate_gbps},
		{"unknown_rates", n->n_unknown_rates},
		{"switch_delay_ns", (double)s->switch_ps / 1000},
		{"cable_delay_ns", (double)s->cable_ps / 1000},
		{"host_delay_ns", (double)s->host_ps / 1000},
		{"contexts", s->contexts},
		{"singles", s->singles},
		{"gap_nak", p->has_gap ? p->gap : NAN},
		{"credit", p->has_credit && !s->credit ? 0 : fab_rdma_credit_packets(s)},
		{"timers", s->timers},
		{"rto_low_us", (double)s->rto_low_ps / 1e6},
		{"rto_high_us", (double)s->rto_high_ps / 1e6},
		{"nacks", s->nacks ? s->nacks : NAN},
		{"reorder_us", s->reorder_ps ? (double)s->reorder_ps / 1e6 : NAN},
		{"runs", p->runs ? p->runs : NAN},
		{"seed", (double)p->run.seed},
	};

	if (p->pattern)
		fab_report_text(r, "pattern", p->pattern);
	fab_report_text(r, "op", p->op ? "read" : "write");
	fab_report_text(r, "route", fab_sim_route_choices.at(n->route).form);
	fab_report_text(r, "algorithm", n->algorithm);
	if (s->rate_control)
		fab_report_text(r, "rate_control",
				fab_rdma_rate_choices.at(s->rate_control).form);
	for (size_t i = 0; i < FAB_COUNT(number); i++) {
		FAB_AUTOFREE char *name = fab_format("parameters.%s", number[i].name);

		put(r, name, number[i].value);
	}
}

/* Simplifications of the model. */
void rdma_print_approximations(struct fab_report *r, const struct rdma_params *p)
{
	FAB_AUTOFREE char *text = fab_strdup(
		p->sim.rate_control
			? "no host bus, no cache of contexts"
			: "no congestion control, no host bus, no cache of contexts");

	if (!p->sim.buffer)
		fab_append(&text, "; ", "queues without bounds");
	if (!p->sim.no_handshake)
		fab_append(&text, "; ",
			   "all schemes ask for a context first, gbn and irn too");
	if (p->sim.bad.per_hop && p->sim.bad.burst > 1)
		fab_append(&text, "; ", "bursts of a cable differ between schemes");
	if (p->pattern && fab_rdma_pattern_is_drawn(p->pattern))
		fab_append(&text, "; ",
			   "one permutation, drawn by the seed, for all runs");
	put_text(r, "approximations", text);
}

static struct rdma_row row_of(const struct fab_work *w, const struct fab_rdma_outcome *r)
{
	const struct rdma_params *p = w->params;
	const struct rdma_outcome *o = w->outcome;

	return (struct rdma_row){.r = *r,
				 .route = fab_sim_route_choices.at(o->net.route).form,
				 .pattern = p->pattern,
				 .op = p->op ? "read" : "write",
				 .shard = fab_cli_shard_text(&p->shard)};
}

static const char *const axis_column[FAB_RDMA_AXES] = {
	"loss", "drop_control", "delayed",	 "delay_us", "size",
	"mtu",	"window",	"sender_window", "rto_us",   "contexts_limit"};

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct rdma_params *p = w->params;
	const struct rdma_outcome *o = w->outcome;
	const struct fab_rdma_sweep *s = &o->sweep;
	const struct fab_rdma_choice *c = &s->point[0].choice;
	const struct fab_column interrupted = {"interrupted", FAB_BOOL, "",
					       FAB_COL_EXTRA};
	FAB_AUTOFREE char *columns = NULL;

	rdma_answer(r, w);
	fab_report_text(r, "verb", p->verb == RDMA_SWEEP ? "sweep" : "run");
	fab_cli_report_shard(r, &p->shard);
	if (s->n_points == 1 && s->point[0].is_there) {
		put_text(r, "verdict", fab_rdma_verdict_name[c->verdict]);
		put_text(r, "take",
			 c->verdict == FAB_RDMA_TAKE ? o->q.scheme[c->best]->name : NULL);
	}
	rdma_print_parameters(r, w);
	fab_report_uint(r, "transfers", s->n_transfers);
	fab_report_uint_as(r, "no_path", FAB_COL_EXTRA, s->n_no_path);
	fab_report_uint(r, "packets", s->n_packets);
	put(r, "base_round_trip_us",
	    s->round_trip_ps ? (double)s->round_trip_ps / 1e6 : NAN);
	put(r, "ideal_us", s->ideal_ps ? (double)s->ideal_ps / 1e6 : NAN);
	if (s->n_left_out)
		fab_report_uint(r, "left_out", s->n_left_out);
	if (s->n_priorities)
		fab_report_uint(r, "priorities_left_out", s->n_priorities);
	if (s->results.n)
		fab_report_text(r, "no_deadlock", s->results.v[0].sum.no_deadlock);
	rdma_print_approximations(r, p);
	fab_report_field(r, &interrupted, (union fab_cell){.u = o->was_interrupted});
	if (o->was_interrupted) {
		fab_report_uint(r, "points", s->n_done);
		fab_report_uint(r, "all_points", s->n_items);
	}
	for (size_t a = 0; a < p->axes.of.n; a++)
		fab_append(&columns, ",", "%s", axis_column[p->axes.of.v[a].axis]);
	fab_append(
		&columns, ",",
		"scheme,completion_us.mean,completion_us.p99,ratio_to_oracle,rounds,hung%s%s",
		p->axes.of.n ? "" : ",context_bits",
		p->has_memory ? ",contexts_limit,peak_contexts" : "");
	fab_report_prefer(r, columns);
	fab_report_table_begin(r, "results", "Schemes", rdma_columns, rdma_n_columns);
	for (size_t i = 0; i < s->results.n; i++) {
		const struct rdma_row row = row_of(w, &s->results.v[i]);

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

/* Of the first point: its scheme to take, else the first one; of one run. */
static void draw(struct fab_drawing *d, const struct fab_work *w)
{
	const struct rdma_outcome *o = w->outcome;
	const struct fab_rdma_sweep *s = &o->sweep;
	const struct fab_rdma_outcome *r = s->results.n ? s->results.v : NULL, *best;
	double *busy;
	struct fab_err ignored;

	fab_cli_mark_faults(d, w->f, o->net.dead);
	if (!r || o->was_interrupted)
		return;
	best = fab_rdma_result_at(s, &o->q, r->point, r->point->choice.best);
	r = best ? best : r;
	busy = FAB_ARENA_NEW0(w->arena, (size_t)w->f->n_ports + 1, double);
	if (fab_rdma_busy(&o->q, r, busy, &ignored))
		return;
	for (uint32_t p = 0; p < w->f->n_ports; p++)
		busy[p] *= 100;
	fab_cli_draw_sent(
		d, w->f, busy, "% of the time",
		fab_arena_format(
			w->arena,
			"How long a cable is busy, in its fuller direction, in a run of %s%s",
			r->name, s->n_points > 1 ? " at the first point" : ""));
}

/* Files and the store */

/* A line for each bucket with packets. */
static void write_buckets(FILE *out, const struct rdma_outcome *o,
			  const struct fab_rdma_outcome *r, const char *kind,
			  const struct fab_histogram *h)
{
	uint64_t from = 0;

	for (unsigned b = 0; b < FAB_HISTOGRAM_BUCKETS; b++) {
		uint64_t top = fab_histogram_top(b);

		if (h->count[b])
			fprintf(out,
				"{\"scheme\": \"%s\", \"point\": %zu, \"what\": \"%s\", \"from\": %" PRIu64
				", \"to\": %" PRIu64 ", \"packets\": %" PRIu64 "}\n",
				r->name, (size_t)(r->point - o->sweep.point), kind, from,
				top, h->count[b]);
		from = top + 1;
	}
}

static int write_histogram(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct rdma_outcome *o = w->outcome;

	(void)err;
	for (size_t i = 0; i < o->sweep.results.n; i++) {
		const struct fab_rdma_outcome *r = &o->sweep.results.v[i];

		write_buckets(out, o, r, "reorder_degree", &r->sum.reorder);
		write_buckets(out, o, r, "ahead", &r->sum.ahead);
	}
	return 0;
}

/* Completion times over the first axis of several values, a line a scheme. */
static int write_plot(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct rdma_params *p = w->params;
	const struct rdma_outcome *o = w->outcome;
	const struct fab_rdma_sweep *s = &o->sweep;
	struct fab_plot_series *series =
		FAB_ARENA_NEW0(w->arena, o->q.n_schemes, struct fab_plot_series);
	double *x = FAB_ARENA_NEW(w->arena, 2 * s->results.n + 2, double);
	double *y = x + s->results.n + 1;
	size_t n = 0, a = 0;
	enum fab_rdma_axis axis;
	struct fab_picture picture;

	if (!p->axes.of.n)
		return fab_fail(err, ENODATA, "--plot: nothing to draw: no axis");
	while (a < p->axes.of.n && p->axes.of.v[a].n < 2)
		a++;
	axis = p->axes.of.v[a < p->axes.of.n ? a : 0].axis;
	for (size_t k = 0; k < o->q.n_schemes; k++) {
		series[k] =
			(struct fab_plot_series){o->q.scheme[k]->name, x + n, y + n, 0};
		for (size_t i = 0; i < s->results.n; i++) {
			const struct fab_rdma_outcome *r = &s->results.v[i];

			if (r->scheme != o->q.scheme[k])
				continue;
			x[n] = r->point->at[axis];
			y[n++] = r->mean;
			series[k].n++;
		}
	}
	picture = fab_cli_picture(
		w, &p->plot,
		fab_arena_format(w->arena, "Time to completion, %s", p->pattern), "");
	fab_curves_write(out, &picture,
			 &(struct fab_curves){.x_label = fab_rdma_axis_name[axis],
					      .y_label = "mean completion time, us",
					      .log_by_range = true,
					      .from_zero = true,
					      .series = series,
					      .n = o->q.n_schemes},
			 1);
	return 0;
}

/* A result has the numbers of the last point of its scheme, and each point of a sweep is
 * a part: "loss=0.001,size=262144". */
static void store_scheme(struct fab_draft *d, const struct fab_work *w,
			 const struct fab_rdma_scheme *scheme)
{
	const struct rdma_params *p = w->params;
	const struct fab_rdma_sweep *s =
		&((const struct rdma_outcome *)w->outcome)->sweep;
	size_t last = s->results.n;
	struct rdma_row row;

	while (last && s->results.v[last - 1].scheme != scheme)
		last--;
	if (!last)
		return;
	row = row_of(w, &s->results.v[last - 1]);
	fab_draft_result(d, scheme->name, rdma_columns, rdma_n_columns, &row);
	for (size_t i = 0; i < last && p->axes.of.n; i++) {
		const struct fab_rdma_outcome *r = &s->results.v[i];
		FAB_AUTOFREE char *part = NULL;

		if (r->scheme != scheme)
			continue;
		for (size_t a = 0; a < p->axes.of.n; a++)
			fab_append(&part, ",", "%s=%.10g",
				   fab_rdma_axis_name[p->axes.of.v[a].axis],
				   r->point->at[p->axes.of.v[a].axis]);
		row = row_of(w, r);
		fab_draft_part(d, (uint64_t)(r->point - s->point), part, rdma_columns,
			       rdma_n_columns, &row);
	}
}

static void store(struct fab_draft *d, const struct fab_work *w)
{
	const struct rdma_params *p = w->params;
	const struct rdma_outcome *o = w->outcome;

	fab_draft_table(d, rdma_columns, rdma_n_columns);
	fab_draft_fact(d, "faults", (double)o->net.dead->named.n);
	fab_draft_fact(d, "endpoints", o->net.ends.n);
	fab_draft_fact(d, "transfers", o->sweep.n_transfers);
	fab_draft_asked(d, "pattern", fab_strdup(p->pattern));
	fab_draft_asked(d, "route",
			fab_strdup(fab_sim_route_choices.at(o->net.route).form));
	fab_draft_asked(d, "seed", fab_format("%" PRIu64, p->run.seed));
	if (o->net.dead->named.n)
		fab_draft_asked(d, "failed", fab_faults_text(o->net.dead, ","));
	if (p->tables.lfts)
		fab_draft_asked(d, "tables", fab_strdup(p->tables.lfts));
	for (uint32_t i = 0; i < o->q.n_schemes; i++)
		store_scheme(d, w, o->q.scheme[i]);
}

static const struct fab_task_file files[] = {
	{"histogram-out", write_histogram},
	{"plot", write_plot},
	{0},
};

const struct fab_task rdma_results_task = {
	.primary = "results",
	.columns = rdma_columns,
	.n_columns = &rdma_n_columns,
	.outcome_bytes = sizeof(struct rdma_outcome),
	.solve = solve,
	.files = files,
	.report = report,
	.draw = draw,
	.store = store,
	.fini = rdma_outcome_fini,
};
