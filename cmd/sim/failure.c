/* SPDX-License-Identifier: BSD-2-Clause */
/* --fail-at: parts die under load, and how the fabric recovers. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "event/stream.h"
#include "fabric_sim.h"

/* Runs, unless --runs says how many: chance decides when latency is as before. */
enum { RUNS = 4 };

/* Recovery by one algorithm with one sort of dodging in one run. */
struct recovery {
	const struct sim_net *net;
	uint64_t run; /* from 1 */
	const struct fab_sim_point *point;
	struct fab_sim_summary sum;
	struct fab_sim_recovery c;
	const char *algorithm, *dodge;
	struct fab_names failed;
	uint64_t in_flight, has_cycle, mixed_has_cycle;
	double noticed, first_table, last_table, last_loss, recovered; /* printed; NaN */
	double before, peak, in_the_end;
};

struct moment {
	const char *algorithm, *dodge;
	double time, accepted, mean, most;
	uint64_t lost;
};

struct outcome {
	struct sim_outcome sim; /* first */
	struct recovery *rows;	/* by net, then run */
	size_t n;
	struct moment *moments; /* of the first runs */
	size_t n_moments;
};

/* A printed time; UINT64_MAX: not within the run. */
static double time_of(const struct sim_params *p, uint64_t ticks)
{
	return ticks == UINT64_MAX ? (double)NAN : (double)ticks / p->unit;
}

static double after(const struct sim_params *p, const struct fab_sim_recovery *r,
		    uint64_t ticks)
{
	return time_of(p, ticks == UINT64_MAX ? ticks : ticks - r->failed);
}

/* Do tables alone have a cycle? Into *has, which stays true. */
static int find_cycle(const struct sim_outcome *o, const struct fab_routes *routes,
		      uint64_t *has, struct fab_err *err)
{
	const struct fab_analysis_options options = {.ends = FAB_ENDS_HOSTS,
						     .n_threads = o->p->run.threads};
	struct fab_analysis j;
	int rc = fab_analyse(routes, &options, &j, err);

	if (rc)
		return rc;
	*has |= j.cycle_channels > 0;
	fab_analysis_fini(&j);
	return 0;
}

static int make_row(const struct sim_outcome *o, const struct fab_sim_point *x,
		    uint64_t run, struct fab_names failed, struct recovery *row,
		    struct fab_err *err)
{
	const struct sim_params *p = o->p;
	const struct sim_net *net = &o->nets[x->net];
	const struct fab_sim_recovery *c = &x->first.recovery;
	int rc = 0;

	*row = (struct recovery){
		.net = net,
		.run = run,
		.point = x,
		.sum = x->sum,
		.c = *c,
		.algorithm = net->algorithm,
		.dodge = fab_sim_dodge_choices.at(net->failure.dodge).form,
		.failed = failed,
		.in_flight = x->first.in_flight,
		.noticed = after(p, c, c->noticed),
		.first_table = after(p, c, c->first_table),
		.last_table = after(p, c, c->last_table),
		.last_loss = after(p, c, c->last_loss),
		.recovered = time_of(p, c->recovered),
		.before = c->latency_before / p->unit,
		.peak = c->latency_peak / p->unit,
		.in_the_end = c->latency_after / p->unit};
	if (run > 1) { /* the tables are the same */
		row->has_cycle = row[-1].has_cycle;
		row->mixed_has_cycle = row[-1].mixed_has_cycle;
	} else {
		row->mixed_has_cycle = fab_sim_mixed_has_cycle(&net->problem);
		if (!net->failure.dodge)
			rc = find_cycle(o, net->routes, &row->has_cycle, err);
		if (!net->failure.dodge && !rc)
			rc = find_cycle(o, net->after, &row->has_cycle, err);
	}
	return rc;
}

static void make_moments(struct outcome *x)
{
	const struct sim_outcome *o = &x->sim;
	double hosts = 0; /* bytes of an interval that the hosts' cables carry */
	size_t n = 0;

	for (size_t i = 0; i < x->n; i++)
		n += x->rows[i].c.moments.n;
	x->moments = FAB_ARENA_NEW(o->arena, n + 1, struct moment);
	for (size_t i = 0; i < x->n; i++) {
		const struct fab_sim_result *s = &x->rows[i].point->first;
		const struct fab_sim_recovery *r = &x->rows[i].c;

		if (x->rows[i].run > 1)
			continue;
		/* the measured time has such shares as a whole */
		hosts = s->accepted > 0 && s->time
				? (double)s->accepted_bytes / s->accepted /
					  (double)s->time * (double)r->interval
				: 0;
		for (size_t k = 0; k < r->moments.n; k++) {
			const struct fab_sim_moment *m = &r->moments.v[k];

			x->moments[x->n_moments++] = (struct moment){
				.algorithm = x->rows[i].algorithm,
				.dodge = x->rows[i].dodge,
				.time = time_of(o->p, (k + 1) * r->interval),
				.accepted = hosts > 0 ? (double)m->bytes / hosts
						      : (double)NAN,
				.mean = m->packets
						? (double)m->latency_sum /
							  (double)m->packets / o->p->unit
						: (double)NAN,
				.most = m->packets ? (double)m->latency_most / o->p->unit
						   : (double)NAN,
				.lost = m->lost};
		}
	}
}

/* Times of the failure, in ticks, for each net: with each sort of dodging. */
static int set_up(const struct sim_params *p, struct sim_outcome *o, struct fab_err *err)
{
	size_t n_dodges = p->dodges.of.n ? p->dodges.of.n : 1, n = o->n_nets;
	bool has_cables = false;

	if (!o->dead->named.n)
		return fab_fail(
			err, EINVAL,
			"--fail-at: nothing is named that dies (--fail, --fail-link, --set random)");
	if (n * n_dodges > SIM_MAX_NETS)
		return fab_fail(
			err, EINVAL,
			"--set dodge: %zu algorithms of %zu sorts are more than %d", n,
			n_dodges, SIM_MAX_NETS);
	for (size_t i = 0; i < o->dead->named.n; i++)
		has_cables |= o->dead->named.v[i].is_cable;
	for (size_t i = n; i--;)
		for (size_t k = n_dodges; k--;) {
			struct sim_net *net = &o->nets[i * n_dodges + k];
			uint32_t row = p->dodges.of.n ? p->dodges.of.v[k].row : 0;

			if (row && (!fab_sim_can_dodge(o->kfat, o->dead) || has_cables ||
				    (o->nets[i].engine != &fab_unicast_vtftr &&
				     o->nets[i].engine != &fab_unicast_xy)))
				return fab_fail(
					err, EINVAL,
					"--set dodge=%s: expected one or two dead leaf switches of a kfat of two dimensions with one level of switches in its lines, and algorithm vtftr or xy",
					fab_sim_dodge_choices.at(row).form);
			if (net != &o->nets[i]) {
				*net = o->nets[i];
				net->is_copy = true;
			}
			net->failure = p->failure;
			net->failure.dead = o->dead;
			net->failure.after = net->after;
			net->failure.kfat = o->kfat;
			net->failure.dodge = (enum fab_sim_dodge)row;
			net->problem.failure = &net->failure;
		}
	o->n_nets = n * n_dodges;
	/* the first one keeps what all copies have */
	for (size_t i = 0; i < o->n_nets; i++)
		o->nets[i].is_copy = i % n_dodges != 0;
	return 0;
}

/* Each run is a sweep of its own, so that its points are kept; the first one has the seed
 * as given. */
static int simulate(struct fab_work *w, struct fab_err *err)
{
	struct sim_params *p = w->params;
	const struct sim_outcome *o = w->outcome;
	uint32_t n = p->has_runs ? p->runs : RUNS;
	uint64_t seed = p->run.seed;
	int rc = 0;

	p->runs = 1;
	for (uint32_t run = 0; run < n && !rc && !o->was_interrupted; run++) {
		p->run.seed = run ? fab_stream_at(seed, run, 0) : seed;
		rc = sim_simulate(w, err);
	}
	p->run.seed = seed;
	p->runs = n;
	return o->points.of.n ? 0 : rc;
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct sim_params *p = w->params;
	struct outcome *x = w->outcome;
	struct sim_outcome *o = &x->sim;
	bool fails = false;
	struct fab_names failed;
	int rc = sim_set_up(w, err);

	if (!rc)
		rc = set_up(p, o, err);
	if (!rc)
		rc = simulate(w, err);
	if (rc)
		return rc;
	failed = sim_failed_names(o);
	x->rows = FAB_ARENA_NEW(o->arena, o->points.of.n + 1, struct recovery);
	for (uint32_t net = 0; net < o->n_nets; net++) {
		uint64_t run = 0;

		for (size_t i = 0; i < o->points.of.n; i++) {
			struct recovery *row = &x->rows[x->n];

			if (o->points.of.v[i].net != net)
				continue;
			rc = make_row(o, &o->points.of.v[i], ++run, failed, row, err);
			if (rc)
				return rc;
			fails |= row->sum.is_stalled || row->sum.is_deadlocked ||
				 row->mixed_has_cycle || isnan(row->recovered);
			x->n++;
		}
	}
	make_moments(x);
	return p->check && fails ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

/* Least and greatest of a number over runs. */
struct span {
	size_t n;
	double low, high;
};

static void widen(struct span *s, double value)
{
	if (isnan(value))
		return;
	s->low = !s->n || value < s->low ? value : s->low;
	s->high = !s->n || value > s->high ? value : s->high;
	s->n++;
}

static const char *span_text(const struct sim_outcome *o, const struct span *s)
{
	const char *low = sim_time_text(o, s->low), *high = sim_time_text(o, s->high);

	return strcmp(low, high) ? fab_arena_format(o->arena, "%s to %s", low, high)
				 : low;
}

/* Sums of the runs of an algorithm with a sort of dodging. */
struct runs {
	const struct recovery *first;
	size_t n, n_failed, n_recovered, n_stuck, n_unchanged;
	struct span lost, last_loss, before, peak, in_the_end, recovered;
};

static struct runs sum_up(const struct recovery *x, size_t n)
{
	struct runs s = {.first = x, .n = n};

	for (size_t i = 0; i < n; i++) {
		s.n_failed += x[i].c.has_failed;
		s.n_recovered += isfinite(x[i].recovered);
		s.n_stuck += x[i].sum.is_stalled || x[i].sum.is_deadlocked;
		s.n_unchanged += isnan(x[i].last_table);
		widen(&s.lost, (double)x[i].c.lost_live);
		widen(&s.last_loss, x[i].last_loss);
		widen(&s.before, x[i].before);
		widen(&s.peak, x[i].peak);
		widen(&s.in_the_end, x[i].in_the_end);
		widen(&s.recovered, x[i].recovered);
	}
	return s;
}

static const char *lost_text(const struct sim_outcome *o, const struct runs *s)
{
	char low[FAB_HUMAN_BYTES], high[FAB_HUMAN_BYTES];
	bool is_one = s->lost.high <= 1;

	if (!(s->lost.high > 0))
		return "no packet of live hosts is lost";
	fab_human_count((uint64_t)s->lost.low, low);
	fab_human_count((uint64_t)s->lost.high, high);
	return fab_arena_format(
		o->arena, "%s%s%s packet%s of live hosts %s lost, the last %s later", low,
		s->lost.low < s->lost.high ? " to " : "",
		s->lost.low < s->lost.high ? high : "", is_one ? "" : "s",
		is_one ? "is" : "are", span_text(o, &s->last_loss));
}

static const char *recovery_text(const struct sim_outcome *o, const struct runs *s)
{
	const char *missing =
		"it does not recover in the measured time, or that cannot be seen (--time, --fail-at)";

	if (!s->n_recovered)
		return missing;
	return fab_arena_format(
		o->arena, "recovered after %s%s", span_text(o, &s->recovered),
		s->n_recovered < s->n
			? fab_arena_format(o->arena, "; in %zu of %zu runs %s",
					   s->n - s->n_recovered, s->n, missing)
			: "");
}

/* All runs of an algorithm with a sort of dodging. */
static void say(struct fab_report *r, const struct sim_outcome *o,
		const struct recovery *x, size_t n)
{
	const struct runs s = sum_up(x, n);
	const char *latency = "", *dodging = "no dodging";

	if (x->net->failure.dodge)
		dodging = fab_arena_format(o->arena, "dodging by %s", x->dodge);
	if (!s.n_failed) {
		fab_report_answer(r, FAB_TONE_WARN,
				  "%s: it was over before anything died.", x->algorithm);
		return;
	}
	if (s.before.n && s.peak.n)
		latency = fab_arena_format(
			o->arena, "; the mean latency %s %s (%s before%s)",
			s.peak.high > FAB_SIM_CALM * s.before.high ? "rises to"
								   : "stays at",
			span_text(o, &s.peak), span_text(o, &s.before),
			s.in_the_end.high > FAB_SIM_CALM * s.before.high
				? fab_arena_format(o->arena, ", %s in the end",
						   span_text(o, &s.in_the_end))
				: "");
	fab_report_answer(r, s.n_recovered < n ? FAB_TONE_WARN : FAB_TONE_PLAIN,
			  "%s, %s: %s%s; %s (%s).", x->algorithm, dodging,
			  lost_text(o, &s), latency, recovery_text(o, &s),
			  n > 1 ? fab_arena_format(o->arena, "%zu runs", n)
				: "one run: --runs shows how much results vary");
	if (s.n_stuck)
		fab_report_answer(r, FAB_TONE_BAD,
				  "%s, %s: in %zu of %zu runs packets stop moving.",
				  x->algorithm, dodging, s.n_stuck, n);
	if (x->mixed_has_cycle)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"%s: %s, packets can wait for each other in a circle; %s.",
			x->algorithm,
			x->has_cycle
				? "by the tables before or after alone"
				: "while some switches have the old table and others the new one",
			s.n_stuck ? "here they do" : "here none did");
	if (s.n_unchanged)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"%s: the tables were not all changed in the simulated time.",
			x->algorithm);
}

#define AT(member) FAB_AT(struct recovery, member)
static const struct fab_column columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm, before and after", 0, AT(algorithm)},
	{"dodge", FAB_TEXT, "local dodging, as in --set dodge", 0, AT(dodge)},
	{"run", FAB_UINT, "run, from 1 on", 0, AT(run)},
	{"failed", FAB_NAMES, "what dies, switches by name, links as NAME:PORT",
	 FAB_COL_EXTRA, AT(failed)},
	{"lost", FAB_UINT, "packets lost from and to hosts that are not cut off", 0,
	 AT(c.lost_live)},
	{"lost_dead", FAB_UINT,
	 "packets lost in what died, or sent to it before the neighbours knew, all hosts",
	 FAB_COL_EXTRA, AT(c.lost_dead)},
	{"lost_down", FAB_UINT, "packets dropped at ports known to be down, all hosts",
	 FAB_COL_EXTRA, AT(c.lost_down)},
	{"no_path", FAB_UINT,
	 "packets without an entry, or not sent for want of a path, all hosts",
	 FAB_COL_EXTRA, AT(sum.unroutable)},
	{"looped", FAB_UINT, "packets dropped after 64 hops, adaptive ones after 192",
	 FAB_COL_EXTRA | FAB_COL_BAD_IF_ANY, AT(sum.looped)},
	{"dodged", FAB_UINT, "packets that arrived by local dodging", 0, AT(c.dodged)},
	{"last_loss_ns", FAB_REAL,
	 "from the failure to the last of lost, ns (flit times by flit); null: none",
	 FAB_COL_EXACT, AT(last_loss)},
	{"recovered_ns", FAB_REAL,
	 "from the failure until nothing is lost any more, and no interval has a mean latency 10 % above the highest before, or latency_after_ns; null: not in the measured time",
	 FAB_COL_EXACT, AT(recovered)},
	{"latency_before_ns", FAB_REAL, "mean of the time before", FAB_COL_EXACT,
	 AT(before)},
	{"latency_peak_ns", FAB_REAL, "highest mean of an interval after", FAB_COL_EXACT,
	 AT(peak)},
	{"latency_after_ns", FAB_REAL,
	 "mean of the last fifth of the time; null: tables still change there",
	 FAB_COL_EXTRA | FAB_COL_EXACT, AT(in_the_end)},
	{"noticed_ns", FAB_REAL, "from the failure until neighbours know",
	 FAB_COL_EXTRA | FAB_COL_EXACT, AT(noticed)},
	{"first_table_ns", FAB_REAL, "until the first switch has its new table",
	 FAB_COL_EXTRA | FAB_COL_EXACT, AT(first_table)},
	{"last_table_ns", FAB_REAL, "until all have; null: not in the simulated time",
	 FAB_COL_EXACT, AT(last_table)},
	{"switches", FAB_UINT, "switches whose table changes", FAB_COL_EXTRA,
	 AT(c.switches)},
	{"blocks", FAB_UINT, "blocks of 64 entries that change", FAB_COL_EXTRA,
	 AT(c.blocks)},
	{"hosts_cut_off", FAB_UINT, "host ports that die with it", FAB_COL_EXTRA,
	 AT(c.cut_ends)},
	{"delivered", FAB_UINT, "packets that arrived, all of the run", FAB_COL_EXTRA,
	 AT(sum.packets)},
	{"in_flight", FAB_UINT, "packets in the network at the end", FAB_COL_EXTRA,
	 AT(in_flight)},
	{"completion_ns", FAB_REAL,
	 "when the last message of finite traffic has arrived; null: endless, or not all",
	 FAB_COL_EXTRA | FAB_COL_EXACT, AT(sum.completion)},
	{"mixed_cycle", FAB_BOOL,
	 "packets can wait for each other in a circle while old and new tables are mixed",
	 FAB_COL_BAD_IF_ANY, AT(mixed_has_cycle)},
	{"tables_cycle", FAB_BOOL, "by the tables before or after alone", FAB_COL_EXTRA,
	 AT(has_cycle)},
	{"stalled", FAB_BOOL, "nothing moved for as long as --set stall says",
	 FAB_COL_EXTRA | FAB_COL_BAD_IF_ANY, AT(sum.is_stalled)},
	{"deadlock", FAB_BOOL, "packets were seen that can never move again",
	 FAB_COL_BAD_IF_ANY, AT(sum.is_deadlocked)},
};
#undef AT

#define AT(member) FAB_AT(struct moment, member)
static const struct fab_column moment_columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm", 0, AT(algorithm)},
	{"dodge", FAB_TEXT, "local dodging", 0, AT(dodge)},
	{"time_ns", FAB_REAL, "end of the interval, of the measured time", FAB_COL_EXACT,
	 AT(time)},
	{"accepted", FAB_REAL, "what arrived, share of the hosts' cables", 0,
	 AT(accepted)},
	{"latency_mean_ns", FAB_REAL, "mean latency of what arrived; null: nothing",
	 FAB_COL_EXACT, AT(mean)},
	{"latency_max_ns", FAB_REAL, "the longest", FAB_COL_EXACT, AT(most)},
	{"lost", FAB_UINT, "packets lost of live hosts", 0, AT(lost)},
};
#undef AT

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct outcome *x = w->outcome;
	const struct sim_outcome *o = &x->sim;

	for (size_t i = 0, n; i < x->n; i += n) {
		n = 1;
		while (i + n < x->n && x->rows[i + n].net == x->rows[i].net)
			n++;
		say(r, o, &x->rows[i], n);
	}
	sim_say_notes(r, o);
	sim_print_parameters(r, o);
	fab_report_table(r, "recoveries", "Recovery", w->columns.v, w->columns.n, x->rows,
			 sizeof(*x->rows), x->n);
	if (fab_report_how(r)->format != FAB_FORMAT_TABLE)
		fab_report_table(r, "moments", "Moments", moment_columns,
				 FAB_COUNT(moment_columns), x->moments,
				 sizeof(*x->moments), x->n_moments);
}

/* Mean latency over time, of the first runs. */
static int write_plot(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct outcome *x = w->outcome;
	const struct sim_outcome *o = &x->sim;
	struct fab_plot_series *series =
		FAB_ARENA_NEW(o->arena, x->n + 1, struct fab_plot_series);
	double *at = FAB_ARENA_NEW(o->arena, 2 * x->n_moments + 1, double);
	double *mean = at + x->n_moments;
	bool by_flit = o->p->tick == SIM_TICK_FLIT;
	struct fab_picture picture;
	size_t from = 0, n_series = 0;

	(void)err;
	for (size_t i = 0; i < x->n_moments; i++) {
		at[i] = x->moments[i].time;
		mean[i] = x->moments[i].mean;
	}
	for (size_t i = 0; i < x->n; i++) {
		size_t n = x->rows[i].c.moments.n;

		if (x->rows[i].run > 1)
			continue;
		series[n_series++] = (struct fab_plot_series){
			fab_arena_format(o->arena, "%s, %s", x->rows[i].algorithm,
					 x->rows[i].dodge),
			at + from, mean + from, n};
		from += n;
	}
	picture = fab_cli_picture(w, &o->p->plot, "Latency while parts die", "");
	fab_curves_write(out, &picture,
			 (const struct fab_curves[]){
				 {.x_label = by_flit ? "measured time, flit times"
						     : "measured time, ns",
				  .y_label = by_flit ? "mean latency, flit times"
						     : "mean latency, ns",
				  .from_zero = true,
				  .series = series,
				  .n = n_series}},
			 1);
	return 0;
}

static void draw(struct fab_drawing *d, const struct fab_work *w)
{
	fab_cli_mark_faults(d, w->f, ((const struct outcome *)w->outcome)->sim.dead);
}

static const struct fab_task_file files[] = {{"plot", write_plot}, {0}};

const struct fab_task sim_failure_task = {
	.primary = "recoveries",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct outcome),
	.solve = solve,
	.files = files,
	.report = report,
	.draw = draw,
	.fini = sim_outcome_fini,
};
