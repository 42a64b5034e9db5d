/* SPDX-License-Identifier: BSD-2-Clause */
/* The tasks of fabric-sim: simulations and their files, and one packet of --pair. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "base/mem.h"
#include "fabric/label.h"
#include "fabric/resolver.h"
#include "fabric_sim.h"
#include "present/jsonl.h"
#include "store/store.h"

/* Columns of --pair. */
#define AT(member) FAB_AT(struct sim_pair, member)
static const struct fab_column pair_columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm", 0, AT(algorithm)},
	{"hops", FAB_UINT, "switch-to-switch hops", 0, AT(hops)},
	{"latency_ns", FAB_REAL,
	 "from creation to the target's memory, ns (flit times by flit); null: no path",
	 FAB_COL_EXACT, AT(latency)},
	{"no_path", FAB_TEXT, "reason, if there is no path", FAB_COL_EXTRA, AT(why)},
};
#undef AT

/* A point of the sweep with names. */
static void make_row(const struct sim_outcome *o, const struct fab_sim_point *x,
		     struct fab_names failed, struct sim_row *row)
{
	const struct sim_params *p = o->p;
	const struct sim_net *net = &o->nets[x->net];
	const struct fab_sim_result *r = &x->first;

	*row = (struct sim_row){
		.net = net,
		.point = x,
		.sum = x->sum,
		.cause = fab_sim_cause(r),
		.algorithm = net->algorithm,
		.route = fab_sim_route_choices.at(p->route).form,
		.switch_kind = p->sim.kind->name,
		.tick = p->tick == SIM_TICK_FLIT ? "flit" : "ps",
		.failed = failed,
		.packet = p->sim.mtu,
		.accepted_per_host = x->sum.accepted * o->ends.n / o->n_all_ends,
		.saturated_sources = r->growth.n_sources,
		.saturated_receivers = r->growth.n_targets,
		.setup_seconds = net->seconds,
		.total_seconds = net->seconds + x->sum.simulate_seconds,
		.note = net->note,
		.shard = fab_cli_shard_text(&p->shard),
	};
	row->saturation = sim_saturation_text(o, row);
	row->pairs_without_path = row->looping_destinations = NAN;
	if (net->routes) {
		row->pairs_without_path = (double)net->no_path.without;
		row->looping_destinations = net->no_path.circles;
		row->circle = net->circle;
	}
	row->mean_utilisation = NAN;
	if (row->cause.cable == FAB_NONE)
		return;
	row->mean_utilisation = r->utilisation_mean;
	row->cables_at_max = r->n_at_most;
	row->cause_name = fab_sim_cause_names[row->cause.kind];
	row->fullest = sim_keep(o, fab_cable_text(o->f, r->cable[row->cause.cable].port));
	if (row->cause.waits_at != FAB_NONE)
		row->waits_at = sim_keep(
			o, fab_cable_text(o->f, r->cable[row->cause.waits_at].port));
}

struct fab_traffic_problem sim_traffic_of(const struct sim_outcome *o)
{
	const struct sim_params *p = o->p;
	bool by_flit = p->tick == SIM_TICK_FLIT;

	return (struct fab_traffic_problem){
		.f = o->f,
		.kfat = o->kfat,
		.ends = &o->ends,
		.n_groups = o->groups ? o->groups->n : 0,
		.group_first = o->groups ? o->groups->first : NULL,
		.group_end = o->group_end,
		.how = {.arrivals = p->is_closed		 ? FAB_ARRIVALS_CLOSED
				    : p->arrivals == SIM_POISSON ? FAB_ARRIVALS_POISSON
								 : FAB_ARRIVALS_BERNOULLI,
			.window = p->window,
			.think = p->think,
			.size = p->size,
			.n_sizes = p->n_sizes,
			.mtu = p->sim.mtu,
			.slot = p->arrivals == SIM_BERNOULLI && by_flit,
			.in_ticks = by_flit}};
}

void sim_sweep_of(const struct sim_outcome *o, struct fab_sim_sweep *out)
{
	const struct sim_params *p = o->p;

	*out = (struct fab_sim_sweep){.n_nets = o->n_nets,
				      .rates = p->rates,
				      .n_rates = p->n_rates,
				      .runs = p->runs,
				      .traffic = p->traffic,
				      .problem = sim_traffic_of(o),
				      .params = p->sim,
				      .seed = p->run.seed,
				      .unit = p->unit,
				      .n_threads = p->run.threads,
				      .is_interrupted = fab_cli_is_interrupted};
}

int sim_simulate(struct fab_work *w, struct fab_err *err)
{
	struct sim_params *p = w->params;
	struct sim_outcome *o = w->outcome;
	const struct fab_sim_problem *nets[SIM_MAX_NETS];
	struct fab_sim_sweep sweep;
	/* all algorithms and runs of a rate are in one shard: shards have the same
	 * results, and merge */
	int rc = fab_cli_count_shard(&p->shard, p->n_rates, "points", err);

	if (rc)
		return rc;
	for (size_t i = 0; i < o->n_nets; i++)
		nets[i] = &o->nets[i].problem;
	sim_sweep_of(o, &sweep);
	sweep.nets = nets;
	sweep.shard = p->shard.part;
	sweep.progress = fab_cli_progress_tick;
	sweep.progress_context = fab_cli_progress_new(
		&p->run, "simulating",
		p->n_rates * o->n_nets * p->runs > 1 ? "simulations" : "ticks");
	fab_cli_catch_interrupt();
	for (size_t i = 0; i < p->n_buffers * o->n_methods && !rc; i++) {
		sweep.params.buffer = p->buffer[i % p->n_buffers];
		sweep.traffic = o->methods[i / p->n_buffers];
		if (o->trees_by)
			sim_take_groups(o, sim_is_by_tree(p, sweep.traffic));
		rc = fab_sim_sweep(&sweep, &o->points, err);
	}
	fab_cli_progress_free(sweep.progress_context);
	w->is_partial = o->was_interrupted = fab_cli_is_interrupted(NULL);
	if (rc)
		return rc;
	if (!o->points.of.n)
		return fab_fail(err, EINTR, "interrupted before anything was measured");
	return 0;
}

int sim_solve(struct fab_work *w, struct fab_err *err)
{
	int rc = sim_set_up(w, err);

	return rc ? rc : sim_simulate(w, err);
}

struct fab_names sim_failed_names(const struct sim_outcome *o)
{
	size_t n = o->dead->named.n;
	const char **names = FAB_ARENA_NEW(o->arena, n + 1, const char *);

	for (size_t i = 0; i < n; i++)
		names[i] = sim_keep(o, fab_fault_text(o->dead->f, o->dead->named.v[i]));
	return (struct fab_names){names, n};
}

static int solve_results(struct fab_work *w, struct fab_err *err)
{
	struct sim_params *p = w->params;
	struct sim_outcome *o = w->outcome;
	struct fab_names failed;
	bool fails = false;
	int rc = sim_solve(w, err);

	if (rc)
		return rc;
	failed = sim_failed_names(o);
	o->n_rows = o->points.of.n;
	o->rows = FAB_ARENA_NEW(o->arena, o->n_rows + 1, struct sim_row);
	for (size_t i = 0; i < o->n_rows; i++) {
		const struct fab_sim_summary *x = &o->points.of.v[i].sum;
		bool is_short = p->has_min_throughput && x->saturated &&
				(x->accepted < p->min_throughput ||
				 x->rate * x->least_carried < p->min_throughput);

		make_row(o, &o->points.of.v[i], failed, &o->rows[i]);
		fails |= is_short || x->is_stalled || x->is_deadlocked || x->unroutable ||
			 x->looped || x->unfinished || o->rows[i].net->no_path.circles;
	}
	return p->check && fails ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

/* One packet in an idle network. */
static int solve_pairs(struct fab_work *w, struct fab_err *err)
{
	struct sim_params *p = w->params;
	struct sim_outcome *o = w->outcome;
	struct fab_endpoint ends[2];
	struct fab_lookup lookup;
	uint32_t number[2]; /* among the ends of traffic */
	int rc = sim_set_up(w, err);

	if (rc)
		return rc;
	lookup = fab_resolver_lookup(fab_faults_resolver(o->faults), FAB_WANT_ADAPTER);
	rc = fab_trace_pair(o->f, &lookup, p->pair, ends, err);
	if (rc) {
		fab_err_prefix(err, "--pair");
		return rc;
	}
	o->from = ends[0];
	o->to = ends[1];
	for (size_t k = 0; k < 2; k++) {
		uint32_t *e = &number[k];

		for (*e = 0; *e < o->ends.n && o->ends.port[*e] != ends[k].port;)
			++*e;
		if (*e == o->ends.n)
			return fab_fail(
				err, EINVAL,
				"--pair: '%.100s' is no live host adapter: it, its switch or its cable is dead, or it is no host's",
				fab_node_name(o->f, o->f->port_node[ends[k].port]));
	}
	if (number[0] == number[1])
		return fab_fail(err, EINVAL, "--pair: expected two different hosts");
	for (size_t i = 0; i < o->n_nets; i++) {
		struct sim_pair *pair = &o->pairs[i];
		uint64_t latency;
		struct fab_err why;

		*pair = (struct sim_pair){.algorithm = o->nets[i].algorithm,
					  .latency = NAN};
		if (fab_sim_pair(&o->nets[i].problem, &p->sim, number[0], number[1],
				 p->size[0], &latency, &pair->hops, &why))
			pair->why = fab_arena_strdup(w->arena, why.text);
		else
			pair->latency = (double)latency / p->unit;
	}
	return FAB_EXIT_DONE;
}

/* A record of JSON lines. */
static json_t *record_of(const struct sim_row *x)
{
	json_t *object = json_object();

	json_object_set_new(object, "algorithm", fab_json_text(x->algorithm));
	json_object_set_new(object, "offered",
			    isnan(x->sum.rate) ? json_null()
					       : fab_json_real(x->sum.rate, false));
	return object;
}

static void add_port(json_t *object, const struct fab_fabric *f, const char *name,
		     const char *guid, const char *number, uint32_t port)
{
	uint32_t node = f->port_node[port];

	json_object_set_new(object, name, fab_json_text(fab_node_name(f, node)));
	json_object_set_new(object, guid, fab_json_guid(f->node_guid[node]));
	json_object_set_new(object, number, fab_json_uint(f->port_num[port]));
}

static int write_cables(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct sim_outcome *o = w->outcome;
	int rc = 0;

	for (size_t i = 0; i < o->n_rows; i++) {
		const struct fab_sim_result *s = &o->rows[i].point->first;

		for (size_t k = 0; k < (size_t)s->n_cables * s->n_vls && !rc; k++) {
			const struct fab_sim_cable *c = &s->cable[k / s->n_vls];
			const struct fab_sim_lane *lane = &s->lane[k];
			json_t *object = record_of(&o->rows[i]);

			add_port(object, o->f, "from", "from_guid", "from_port", c->port);
			add_port(object, o->f, "to", "to_guid", "to_port",
				 fab_port_peer(o->f, c->port));
			json_object_set_new(object, "vl", fab_json_uint(k % s->n_vls));
			json_object_set_new(object, "utilisation",
					    fab_json_real(c->utilisation, false));
			json_object_set_new(object, "packets", fab_json_uint(c->packets));
			json_object_set_new(object, "lane_packets",
					    fab_json_uint(lane->packets));
			json_object_set_new(object, "mean_queue",
					    fab_json_real(lane->mean_queue, false));
			json_object_set_new(object, "no_credit",
					    fab_json_real(lane->no_credit, false));
			rc = fab_jsonl_write(out, object, err);
		}
	}
	return rc;
}

static int write_histogram(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct sim_outcome *o = w->outcome;
	int rc = 0;

	for (size_t i = 0; i < o->n_rows; i++) {
		const struct fab_histogram *h = &o->rows[i].point->latency;

		for (unsigned k = 0; k < FAB_HISTOGRAM_BUCKETS && !rc; k++) {
			json_t *object;

			if (!h->count[k])
				continue;
			object = record_of(&o->rows[i]);
			json_object_set_new(
				object, "latency_ns",
				fab_json_real((double)fab_histogram_top(k) / o->p->unit,
					      true));
			json_object_set_new(object, "packets",
					    fab_json_uint(h->count[k]));
			rc = fab_jsonl_write(out, object, err);
		}
	}
	return rc;
}

/* Throughput and latency against the rate. */
static int write_plot(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct sim_outcome *o = w->outcome;
	static const double ends[] = {0, 1};
	struct fab_plot_series accepted[SIM_MAX_NETS + 1], latency[SIM_MAX_NETS];
	double *x = FAB_ARENA_NEW(w->arena, 3 * o->n_rows, double);
	double *y = x + o->n_rows, *z = y + o->n_rows;
	const char *offered = "offered, share of the hosts' cables";
	struct fab_picture picture;
	size_t n_nets = 0;

	(void)err;
	for (size_t i = 0; i < o->n_rows; i++) {
		const struct sim_row *row = &o->rows[i];

		x[i] = row->sum.rate;
		y[i] = row->sum.accepted;
		z[i] = row->sum.latency_mean;
		if (!i || row->net != row[-1].net) {
			accepted[n_nets] =
				(struct fab_plot_series){row->algorithm, x + i, y + i, 0};
			latency[n_nets++] =
				(struct fab_plot_series){row->algorithm, x + i, z + i, 0};
		}
		accepted[n_nets - 1].n++;
		latency[n_nets - 1].n++;
	}
	accepted[n_nets] =
		(struct fab_plot_series){"offered", ends, ends, 2, .is_guide = true};
	picture = fab_cli_picture(
		w, &o->p->plot,
		fab_arena_format(w->arena, "Load and latency, %s", o->p->traffic), "");
	fab_curves_write(out, &picture,
			 (const struct fab_curves[]){
				 {.x_label = offered,
				  .y_label = "arrives, share of the cable",
				  .from_zero = true,
				  .series = accepted,
				  .n = n_nets + 1},
				 {.x_label = offered,
				  .y_label = o->p->tick == SIM_TICK_FLIT
						     ? "mean latency, flit times"
						     : "mean latency, ns",
				  .log_y = true,
				  .from_zero = true,
				  .x_shown = 1,
				  .series = latency,
				  .n = n_nets}},
			 2);
	return 0;
}

/* A result has the numbers of the last rate of its algorithm, and each rate is a part. */
static void store(struct fab_draft *d, const struct fab_work *w)
{
	const struct sim_params *p = w->params;
	const struct sim_outcome *o = w->outcome;

	fab_draft_table(d, sim_columns, sim_n_columns);
	fab_draft_fact(d, "faults", (double)o->dead->named.n);
	fab_draft_fact(d, "hosts_live", o->ends.n);
	fab_draft_asked(d, "traffic", fab_strdup(p->traffic));
	if (p->route != FAB_SIM_BY_TABLE)
		fab_draft_asked(d, "route",
				fab_strdup(fab_sim_route_choices.at(p->route).form));
	fab_draft_asked(d, "switch", fab_strdup(p->sim.kind->name));
	fab_draft_asked(d, "seed", fab_format("%" PRIu64, p->run.seed));
	if (o->dead->named.n)
		fab_draft_asked(d, "failed", fab_faults_text(o->dead, ","));
	if (p->tables.lfts)
		fab_draft_asked(d, "tables", fab_strdup(p->tables.lfts));
	if (p->mcfdbs)
		fab_draft_asked(d, "multicast_tables", fab_strdup(p->mcfdbs));
	for (size_t i = 0, n; i < o->n_rows; i += n) {
		n = sim_count_rows(o, i);
		fab_draft_result(d, o->rows[i].algorithm, sim_columns, sim_n_columns,
				 &o->rows[i + n - 1]);
		for (const struct sim_row *x = &o->rows[i]; x < &o->rows[i + n]; x++)
			if (!isnan(x->sum.rate))
				fab_draft_part(d, x->sum.number,
					       fab_arena_format(w->arena, "rate=%g",
								x->sum.rate),
					       sim_columns, sim_n_columns, x);
	}
}

static const struct fab_task_file files[] = {
	{"cables-out", write_cables},
	{"histogram-out", write_histogram},
	{"plot", write_plot},
	{0},
};

const struct fab_task sim_results_task = {
	.primary = "results",
	.columns = sim_columns,
	.n_columns = &sim_n_columns,
	.outcome_bytes = sizeof(struct sim_outcome),
	.solve = solve_results,
	.files = files,
	.report = sim_report,
	.draw = sim_draw,
	.store = store,
	.fini = sim_outcome_fini,
};

const struct fab_task sim_pairs_task = {
	.primary = "pairs",
	FAB_TASK_COLUMNS(pair_columns),
	.outcome_bytes = sizeof(struct sim_outcome),
	.solve = solve_pairs,
	.report = sim_report,
	.fini = sim_outcome_fini,
};
