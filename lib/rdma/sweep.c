/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every point of a sweep under every scheme, and plans of several schemes: axes and their
 * values, transfers, parameters that the user left open, results with their figures.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/progress.h"
#include "base/threads.h"
#include "base/units.h"
#include "rdma/choice.h"

/* Axes */

const char *const fab_rdma_axis_name[FAB_RDMA_AXES] = {
	"loss", "drop-control",	 "delayed", "delay",   "size", "mtu",
	"W",	"sender-window", "rto",	    "contexts"};

/* Range of an axis, and the parameter that it sets: a real number, or an integer that is
 * `scale` times the value. */
enum axis_kind { SHARE, NUMBER, BYTES, TIME };
#define PART(member) offsetof(struct fab_rdma_point, member)
static const struct {
	double low, high;
	enum axis_kind kind;
	size_t at;
} ranges[FAB_RDMA_AXES] = {
	{0, 1, SHARE, PART(params.bad.loss)},
	{0, 1, SHARE, PART(params.bad.drop_control)},
	{0, 1, SHARE, PART(params.bad.delayed)},
	{0, 1e9, TIME, PART(params.bad.delay_ps)},
	{1, 1125899906842624.0, BYTES, PART(bytes)},
	{256, 4096, NUMBER, PART(params.mtu)},
	{1, FAB_RDMA_WINDOW_MAX, NUMBER, PART(params.window)},
	{1, FAB_RDMA_SENDER_WINDOW_MAX, NUMBER, PART(params.sender_window)},
	{1, 1e10, TIME, PART(params.rto_ps)},
	{1, FAB_RDMA_CONTEXTS_MAX, NUMBER, PART(params.contexts)},
};
#undef PART

static void set_axis(struct fab_rdma_point *x, enum fab_rdma_axis a, double v)
{
	void *part = (char *)x + ranges[a].at;

	x->at[a] = v;
	switch (ranges[a].kind) {
	case SHARE:
		*(double *)part = v;
		break;
	case NUMBER:
		*(uint32_t *)part = (uint32_t)v;
		break;
	case BYTES:
		*(uint64_t *)part = (uint64_t)v;
		break;
	case TIME:
		*(uint64_t *)part = (uint64_t)(v * 1000); /* ns to ps */
	}
}

static bool parse_value(enum fab_rdma_axis a, const char *text, size_t len, double *out)
{
	uint64_t n;

	if (ranges[a].kind == SHARE)
		return fab_parse_real(text, len, ranges[a].low, ranges[a].high, out);
	if (ranges[a].kind == NUMBER ? !fab_parse_u64(text, len, 0, UINT32_MAX, &n)
	    : ranges[a].kind == BYTES
		    ? fab_parse_size_bytes(text, len, &n, NULL)
		    : fab_parse_time_ns(text, len, (uint64_t)ranges[a].high, &n, NULL))
		return false;
	*out = (double)n;
	return *out >= ranges[a].low && *out <= ranges[a].high;
}

static bool push(struct fab_rdma_values *values, double v)
{
	if (values->n == FAB_RDMA_VALUES_MAX)
		return false;
	values->v[values->n++] = v;
	return true;
}

/* FROM:TO:STEP, FROM..TO (doubled each time, TO itself last), or values between slashes.
 */
static bool parse_values(struct fab_rdma_values *values, const char *text, size_t len)
{
	enum fab_rdma_axis a = values->axis;
	const char *end = text + len, *colon = memchr(text, ':', len), *at = text;
	const char *dots = memmem(text, len, "..", 2), *second;
	double from, to, step;

	if (colon) {
		second = memchr(colon + 1, ':', (size_t)(end - colon - 1));
		if (!second || !parse_value(a, text, (size_t)(colon - text), &from) ||
		    !parse_value(a, colon + 1, (size_t)(second - colon - 1), &to))
			return false;
		len = (size_t)(end - second - 1);
		if (ranges[a].kind == SHARE
			    ? !fab_parse_real(second + 1, len, 1e-12, 1, &step)
			    : !parse_value(a, second + 1, len, &step))
			return false;
		if (from > to || !(step > 0) ||
		    (to - from) / step > FAB_RDMA_VALUES_MAX - 1)
			return false;
		/* whole steps: adding would sum up errors */
		for (size_t i = 0; i <= (size_t)((to - from) / step + 1e-9); i++)
			if (!push(values, fmin(from + (double)i * step, to)))
				return false;
		return true;
	}
	if (dots) {
		if (!parse_value(a, text, (size_t)(dots - text), &from) ||
		    !parse_value(a, dots + 2, (size_t)(end - dots - 2), &to) ||
		    !(from > 0) || from > to)
			return false;
		for (; from < to; from *= 2)
			if (!push(values, from))
				return false;
		return push(values, to);
	}
	for (const char *slash = text; slash; at = slash + 1) {
		slash = memchr(at, '/', (size_t)(end - at));
		if (!parse_value(a, at, (size_t)((slash ? slash : end) - at), &from) ||
		    !push(values, from))
			return false;
	}
	return true;
}

int fab_rdma_axes_parse(struct fab_rdma_axes *axes, const char *text, struct fab_err *err)
{
	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ","), name = strcspn(at, "=,");
		const struct fab_choices names = {.n = FAB_RDMA_AXES,
						  .names = fab_rdma_axis_name};
		bool is_window = name == 6 && !memcmp(at, "window", 6);
		uint32_t axis = is_window ? FAB_RDMA_AXIS_WINDOW
					  : fab_choices_find(&names, at, name);
		struct fab_rdma_values values = {.axis = (enum fab_rdma_axis)axis};
		const char *option;

		if (name >= len || axis == FAB_NONE)
			return fab_fail(
				err, EINVAL,
				"'%.*s': expected AXIS=VALUES of loss, drop-control, delayed, delay, size, mtu, W, sender-window, rto and contexts",
				(int)len, at);
		option = fab_rdma_axis_name[values.axis];
		for (size_t i = 0; i < axes->of.n; i++)
			if (axes->of.v[i].axis == values.axis)
				return fab_fail(err, EINVAL, "%s is there twice", option);
		if (!parse_values(&values, at + name + 1, len - name - 1))
			return fab_fail(
				err, EINVAL,
				"'%.*s': expected FROM:TO:STEP, FROM..TO (doubled each time) or A/B/C within the range of --%s, at most %d values",
				(int)len, at,
				values.axis == FAB_RDMA_AXIS_WINDOW ? "window" : option,
				FAB_RDMA_VALUES_MAX);
		FAB_PUSH(&axes->of, values);
		at += len;
		if (!*at)
			return 0;
	}
}

/* Points */

int fab_rdma_sweep_init(struct fab_rdma_sweep *s, const struct fab_rdma_question *q,
			struct fab_err *err)
{
	const struct fab_rdma_params *p = &q->params;
	const struct fab_rdma_point base = {
		.bytes = q->pattern.bytes,
		.params = *p,
		.at = {p->bad.loss, p->bad.drop_control, p->bad.delayed,
		       (double)p->bad.delay_ps / 1000, (double)q->pattern.bytes, p->mtu,
		       p->window, p->sender_window, (double)p->rto_ps / 1000,
		       p->contexts}};
	double all = 1;

	for (size_t a = 0; a < q->axes->of.n; a++)
		all *= (double)q->axes->of.v[a].n;
	if (all > FAB_RDMA_POINTS_MAX)
		return fab_fail(err, EINVAL, "--over: %.0f points are more than %d", all,
				FAB_RDMA_POINTS_MAX);
	s->n_points = (size_t)all;
	s->point = FAB_NEW(s->n_points, struct fab_rdma_point);
	for (size_t i = 0; i < s->n_points; i++) {
		size_t rest = i;

		s->point[i] = base;
		/* the last axis changes fastest */
		for (size_t a = q->axes->of.n; a--;) {
			const struct fab_rdma_values *values = &q->axes->of.v[a];

			set_axis(&s->point[i], values->axis, values->v[rest % values->n]);
			rest /= values->n;
		}
	}
	return 0;
}

static bool is_swept(const struct fab_rdma_question *q, enum fab_rdma_axis swept)
{
	for (size_t a = 0; q->axes && a < q->axes->of.n; a++)
		if (q->axes->of.v[a].axis == swept)
			return true;
	return false;
}

/* Transfers */

/* Those of a job, between its ends. */
static int add_job(struct fab_rdma_traffic *t,
		   const struct fab_rdma_pattern_problem *pattern,
		   const struct fab_job *job, struct fab_err *err)
{
	FAB_AUTOFREE uint32_t *port = FAB_NEW(2 * (size_t)job->n + 1, uint32_t);
	const struct fab_flow_ends ends = {job->n, port, port + job->n};
	struct fab_rdma_pattern_problem own = *pattern;
	struct fab_rdma_transfers some;
	int rc;

	for (uint32_t i = 0; i < job->n; i++) {
		ends.port[i] = pattern->ends->port[job->end[i]];
		ends.sw[i] = pattern->ends->sw[job->end[i]];
	}
	own.ends = &ends;
	own.bytes = job->size ? job->size : own.bytes;
	rc = fab_rdma_pattern_make(job->traffic, &own, &some, err);
	for (size_t i = 0; i < some.of.n && !rc; i++) {
		some.of.v[i].source = job->end[some.of.v[i].source];
		some.of.v[i].target = job->end[some.of.v[i].target];
		FAB_PUSH(&t->transfers.of, some.of.v[i]);
	}
	free(some.of.v);
	return rc;
}

int fab_rdma_traffic_init(struct fab_rdma_traffic *t, const struct fab_rdma_question *q,
			  uint64_t bytes, const struct fab_rdma_params *params,
			  struct fab_err *err)
{
	struct fab_rdma_pattern_problem pattern = q->pattern;
	int rc = 0;

	pattern.bytes = t->bytes = bytes;
	for (uint32_t i = 0; i < q->n_jobs && !rc; i++) {
		rc = add_job(t, &pattern, &q->job[i], err);
		t->first[i + 1] = (uint32_t)t->transfers.of.n;
	}
	if (!q->n_jobs)
		rc = fab_rdma_pattern_make(q->spec, &pattern, &t->transfers, err);
	if (rc && !q->names_file)
		fab_err_prefix(err, q->n_jobs ? "--job" : "--pattern");
	if (rc)
		return rc;
	t->problem =
		(struct fab_rdma_problem){.f = pattern.f,
					  .faults = q->faults,
					  .ends = pattern.ends,
					  .routes = q->routes,
					  .transfer = t->transfers.of.v,
					  .n_transfers = (uint32_t)t->transfers.of.n};
	return fab_rdma_net_new(&t->problem, params, &t->net, err);
}

void fab_rdma_traffic_fini(struct fab_rdma_traffic *t)
{
	fab_rdma_net_free(t->net);
	free(t->transfers.of.v);
	*t = (struct fab_rdma_traffic){.bytes = 0};
}

/* Packets of data of all transfers that have a path, and of the longest transfer. */
struct amount {
	uint64_t packets, most;
	uint32_t n_no_path; /* transfers */
};

static struct amount amount_of(const struct fab_rdma_traffic *t, uint32_t mtu)
{
	struct amount x = {.most = 1};

	for (uint32_t i = 0; i < t->problem.n_transfers; i++) {
		uint64_t n = (t->problem.transfer[i].bytes + mtu - 1) / mtu;
		bool has_path = fab_rdma_has_path(t->net, i);

		x.n_no_path += !has_path;
		x.packets += has_path ? n : 0;
		x.most = n > x.most ? n : x.most;
	}
	return x;
}

/* Bits of a context of a scheme for transfers of up to `packets`; 0: it cannot be built.
 */
static uint64_t context_bits(const struct fab_rdma_question *q,
			     const struct fab_rdma_net *net,
			     const struct fab_rdma_params *params,
			     const struct fab_rdma_scheme *scheme, uint64_t packets)
{
	struct fab_rdma_widths widths = q->widths;
	struct fab_rdma_context c;
	uint32_t width = fab_rdma_width(net, params, scheme, packets);

	widths.mtu = params->mtu;
	widths.buffer = params->sender_window;
	return fab_rdma_cost(scheme->name, width, &widths, &c) ? c.bits : 0;
}

/* The sender window of ssw: as given, or at least the packets of a round trip. */
static uint32_t fitting_window(const struct fab_rdma_question *q,
			       const struct fab_rdma_net *net,
			       const struct fab_rdma_params *params)
{
	uint64_t trip = fab_rdma_in_flight(net, params);

	if (q->has_sender_window || trip <= params->sender_window)
		return params->sender_window;
	return trip < FAB_RDMA_SENDER_WINDOW_MAX ? (uint32_t)trip
						 : FAB_RDMA_SENDER_WINDOW_MAX;
}

/* Sweeps */

struct work {
	const struct fab_rdma_question *q;
	struct fab_rdma_sweep *s;
	struct fab_rdma_traffic traffic;
	uint32_t oracle; /* its case: behind the others if it was not asked for */
	uint32_t n_cases;
	uint64_t runs_before;
	bool has_warned, has_foretold;
};

static int tick(void *context, uint64_t done, uint64_t total)
{
	const struct work *w = context;

	(void)total;
	return w->q->progress(w->q->context, w->runs_before + done,
			      w->s->n_items * w->n_cases * w->q->n_runs);
}

/* Refuse `runs` simulations at once that need more memory than the machine has; with
 * `warns` warn when `times` such sets take long. */
static int check_effort(const struct fab_rdma_question *q,
			const struct fab_rdma_traffic *traffic,
			const struct fab_rdma_params *params, double runs, double times,
			bool warns, struct fab_err *err)
{
	static const double LONG_S = 120, MEMORY_SHARE = 0.6, HOPS_A_SECOND = 4e6;
	const struct fab_rdma_effort effort = fab_rdma_effort(traffic->net, params);
	double threads = fmin(fab_threads(q->n_threads), runs);
	double seconds =
		effort.packet_hops * (runs / threads + 1) * times / HOPS_A_SECOND;
	char count[FAB_HUMAN_BYTES], need[FAB_HUMAN_BYTES];
	FAB_AUTOFREE char *text = NULL;
	const char *fewer =
		q->n_jobs || strcmp(q->spec, "alltoall")
			? "--set concurrency=16 has fewer at once"
			: "--pattern=alltoall:16 takes a sample of them, each to 16 others";

	fab_human_count(traffic->problem.n_transfers, count);
	if (effort.bytes * threads > MEMORY_SHARE * (double)fab_memory_bytes())
		return fab_fail(err, ENOMEM,
				"%s transfers take at least %s of memory%s: %s", count,
				fab_human_bytes((uint64_t)effort.bytes, need),
				threads > 1 ? " on each of several threads" : "", fewer);
	if (seconds > LONG_S && warns) {
		text = fab_format("%s transfers: this takes about %s; %s", count,
				  fab_human_seconds(seconds, need), fewer);
		q->warn(q->context, text);
	}
	return 0;
}

/* Result of scheme i at a point, with its figures from the sums over the runs. */
static void keep_result(struct work *w, const struct fab_rdma_point *x,
			const struct fab_rdma_case *of, uint32_t i,
			const struct fab_rdma_summary *s, uint64_t bits, double ideal_us,
			double seconds)
{
	const uint64_t *from = (const uint64_t *)&s->n;
	const uint64_t n = s->n_runs, half = n / 2;
	struct fab_rdma_outcome r = {
		.point = x,
		.scheme = w->q->scheme[i],
		.name = w->q->scheme[i]->name,
		.standing = fab_rdma_standing_name[x->choice.standing[i]],
		.verdict = fab_rdma_verdict_name[x->choice.verdict],
		.params = of->params,
		.bytes = x->bytes,
		.delay_us = x->at[FAB_RDMA_AXIS_DELAY] / 1000,
		.rto_us = x->at[FAB_RDMA_AXIS_RTO] / 1000,
		.sum = *s,
		.ideal_us = ideal_us,
		.context_bits = bits,
		.contexts = bits ? fab_rdma_contexts_in(w->q->memory_bytes, bits) : 0,
		.total_seconds = seconds,
		.mean = fab_tally_mean(&s->completion_mean),
		.p50 = fab_tally_mean(&s->completion_p50),
		.p99 = fab_tally_mean(&s->completion_p99),
		.max = s->completion_max.n ? fab_tally_max(&s->completion_max)
					   : (double)NAN,
		.ci95 = fab_tally_half(&s->completion_mean),
		.goodput = fab_tally_mean(&s->goodput_gbps),
		.goodput_mean = fab_tally_mean(&s->goodput_mean),
		.rounds = fab_tally_mean(&s->rounds),
		.difference = fab_tally_mean(&s->difference),
		.difference_ci95 = fab_tally_half(&s->difference),
		.packets = (s->n_packets + half) / n,
		.reorder_p99 =
			s->reorder.n ? fab_histogram_quantile(&s->reorder, 0.99) : 0,
		.ahead_p99 = s->ahead.n ? fab_histogram_quantile(&s->ahead, 0.99) : 0,
	};
	uint64_t *to = (uint64_t *)&r.each;

	r.ideal_ratio = r.ideal_us / r.mean;
	for (size_t k = 0; k < sizeof(r.each) / sizeof(*to); k++)
		to[k] = (from[k] + half) / n; /* mean of a run */
	for (int kind = 0; kind < FAB_RDMA_KINDS; kind++) {
		r.control += kind == FAB_RDMA_DATA ? 0 : s->n.packets[kind];
		r.control_bytes += kind == FAB_RDMA_DATA ? 0 : s->n.bytes[kind];
	}
	r.lost = (fab_rdma_lost(&s->n) + half) / n;
	r.control = (r.control + half) / n;
	r.control_bytes = (r.control_bytes + half) / n;
	r.resends =
		(s->n.packets[FAB_RDMA_RESEND] + s->n.packets[FAB_RDMA_NAK] + half) / n;
	FAB_PUSH(&w->s->results, r);
}

/* Parameters that the user did not give: a timeout above the time that packets wait for
 * each other, an end far behind that of the slowest, a window that lets ssw send all the
 * time. Warns of a timeout that is too short. */
static void set_missing(struct work *w, struct fab_rdma_point *x,
			const struct fab_rdma_load *load)
{
	struct fab_rdma_params *p = &x->params;
	uint64_t trip = w->s->round_trip_ps, wait = fab_rdma_wait(load);
	char human[FAB_HUMAN_BYTES], than[FAB_HUMAN_BYTES];
	FAB_AUTOFREE char *text = NULL;

	if (!w->q->has_rto && !is_swept(w->q, FAB_RDMA_AXIS_RTO))
		set_axis(x, FAB_RDMA_AXIS_RTO,
			 (double)fab_rdma_fitting_timeout(load, p->rto_ps) / 1000);
	if (!p->end_ps)
		p->end_ps = fab_rdma_late_end(load, p->rto_ps);
	if (!is_swept(w->q, FAB_RDMA_AXIS_SENDER_WINDOW))
		set_axis(x, FAB_RDMA_AXIS_SENDER_WINDOW,
			 fitting_window(w->q, w->traffic.net, p));
	if (w->has_warned || (p->rto_ps >= trip && p->rto_ps >= wait))
		return;
	w->has_warned = true;
	fab_human_seconds((double)p->rto_ps * 1e-12, human);
	fab_human_seconds((double)(p->rto_ps < trip ? trip : wait) * 1e-12, than);
	text = p->rto_ps < trip
		       ? fab_format(
				 "a timeout of %s is below the base round trip of %s: every packet will be sent twice",
				 human, than)
		       : fab_format(
				 "a timeout of %s is below the %s that packets wait for each other here: much will be sent twice",
				 human, than);
	w->q->warn(w->q->context, text);
}

/* All runs of a point, and the choice. */
static int simulate_point(struct work *w, struct fab_rdma_point *x, struct fab_err *err)
{
	const struct fab_rdma_question *q = w->q;
	struct fab_rdma_case cases[FAB_RDMA_CASES_MAX];
	struct fab_rdma_summary out[FAB_RDMA_CASES_MAX] = {{0}};
	const uint64_t most = amount_of(&w->traffic, x->params.mtu).most;
	uint64_t bits[FAB_RDMA_CASES_MAX];
	const struct fab_rdma_choice_question choice = {
		.runs = {.of = cases,
			 .n_cases = w->n_cases,
			 .n_runs = q->n_runs,
			 .n_threads = q->n_threads,
			 .progress = tick,
			 .progress_context = w},
		.context_bits = bits,
		.max_events = q->max_events / w->s->n_points,
		.n_claims = (uint32_t)w->s->n_points};
	double start = fab_now();
	struct fab_rdma_load load;
	bool is_kept = true;
	int rc = check_effort(q, &w->traffic, &x->params,
			      (double)w->n_cases * (q->n_runs ? q->n_runs : 1),
			      (double)w->s->n_items, !w->has_foretold, err);

	w->has_foretold = true;
	if (!rc)
		rc = fab_rdma_load(w->traffic.net, &x->params,
				   w->traffic.problem.n_transfers, &load, err);
	if (rc)
		return rc;
	set_missing(w, x, &load);
	for (uint32_t i = 0; i < w->n_cases; i++) {
		cases[i] = (struct fab_rdma_case){
			.net = w->traffic.net,
			.params = x->params,
			.scheme =
				i < q->n_schemes ? q->scheme[i] : &fab_rdma_scheme_oracle,
			.baseline = w->oracle};
		bits[i] = context_bits(q, w->traffic.net, &x->params, cases[i].scheme,
				       most);
		if (q->memory_limits && bits[i]) {
			struct fab_rdma_params *own = &cases[i].params;
			uint64_t n = fab_rdma_contexts_in(q->memory_bytes, bits[i]);

			n = n ? n : 1;
			own->contexts = n < own->contexts ? (uint32_t)n : own->contexts;
			if (!own->concurrency || own->concurrency > own->contexts)
				own->concurrency = own->contexts;
		}
	}
	rc = fab_rdma_choose(&choice, out, &x->choice, err);
	for (uint32_t i = 0; i < w->n_cases; i++)
		is_kept &= out[i].n_runs > 0;
	x->is_there = is_kept && (!rc || rc == -ECANCELED);
	for (uint32_t i = 0; i < w->n_cases; i++)
		if (x->is_there && i < q->n_schemes)
			keep_result(w, x, &cases[i], i, &out[i], bits[i], load.mean_us,
				    fab_now() - start);
		else
			fab_rdma_summary_fini(&out[i]);
	return rc;
}

int fab_rdma_sweep(struct fab_rdma_sweep *s, const struct fab_rdma_question *q,
		   struct fab_err *err)
{
	struct work w = {.q = q, .s = s};
	const struct fab_rdma_traffic *t = &w.traffic;
	int rc = 0;

	while (w.oracle < q->n_schemes && q->scheme[w.oracle] != &fab_rdma_scheme_oracle)
		w.oracle++;
	w.n_cases = q->n_schemes + (w.oracle == q->n_schemes);
	s->n_items = fab_shard_items(&q->shard, s->n_points);
	for (uint64_t i = 0; i < s->n_items && !rc; i++) {
		struct fab_rdma_point *x = &s->point[fab_shard_item(&q->shard, i)];
		struct amount amount;

		if (i && t->bytes != x->bytes)
			fab_rdma_traffic_fini(&w.traffic);
		if (!t->net)
			rc = fab_rdma_traffic_init(&w.traffic, q, x->bytes, &x->params,
						   err);
		if (!rc && !i) {
			s->n_transfers = t->problem.n_transfers;
			s->n_left_out = t->transfers.n_left_out;
			s->n_priorities = t->transfers.n_priorities;
			amount = amount_of(t, x->params.mtu);
			s->n_no_path = amount.n_no_path;
			s->n_packets = amount.packets;
			s->round_trip_ps = fab_rdma_longest_round_trip(t->net);
			s->ideal_ps = fab_rdma_ideal(t->net, 0);
		}
		if (!rc)
			rc = simulate_point(&w, x, err);
		w.runs_before += rc ? 0 : (uint64_t)w.n_cases * q->n_runs;
		s->n_done += !rc;
	}
	fab_rdma_traffic_fini(&w.traffic);
	return rc;
}

void fab_rdma_sweep_fini(struct fab_rdma_sweep *s)
{
	for (size_t i = 0; i < s->results.n; i++)
		fab_rdma_summary_fini(&s->results.v[i].sum);
	free(s->results.v);
	free(s->point);
}

int fab_rdma_busy(const struct fab_rdma_question *q, const struct fab_rdma_outcome *r,
		  double *busy, struct fab_err *err)
{
	uint32_t n = q->pattern.f->n_ports;
	FAB_AUTOFREE uint64_t *busy_ps = FAB_NEW0((size_t)n + 1, uint64_t);
	FAB_AUTO(fab_rdma_traffic_fini) struct fab_rdma_traffic t = {0};
	FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result result = {0};
	struct fab_rdma_params params = r->params;
	int rc = fab_rdma_traffic_init(&t, q, r->bytes, &params, err);

	params.seed = fab_rdma_run_seed(params.seed, 0);
	params.busy_ps = busy_ps;
	if (!rc)
		rc = fab_rdma_run(t.net, &params, r->scheme, &result, err);
	for (uint32_t p = 0; p < n && !rc; p++)
		busy[p] = (double)busy_ps[p] / (double)(result.end_ps + !result.end_ps);
	return rc;
}

/* Comparison of results */

const struct fab_rdma_outcome *fab_rdma_result_at(const struct fab_rdma_sweep *s,
						  const struct fab_rdma_question *q,
						  const struct fab_rdma_point *x,
						  uint32_t scheme)
{
	for (size_t i = 0; scheme != FAB_NONE && x->is_there && i < s->results.n; i++)
		if (s->results.v[i].point == x &&
		    s->results.v[i].scheme == q->scheme[scheme])
			return &s->results.v[i];
	return NULL;
}

double fab_rdma_slowness(const struct fab_rdma_outcome *r,
			 const struct fab_rdma_outcome *fastest)
{
	if (!r || !fastest || r->standing != fab_rdma_standing_name[FAB_RDMA_SLOWER])
		return NAN;
	return fab_rdma_ratio_of(&r->sum, &fastest->sum).value;
}

char *fab_rdma_cause(const struct fab_rdma_sweep *s, const struct fab_rdma_outcome *r)
{
	const struct fab_rdma_params *p = &r->params;
	uint64_t sent = r->each.packets[FAB_RDMA_DATA], timeouts = r->each.timeouts;
	double dropped = sent ? (double)r->each.beyond / (double)sent : 0;
	double window_ps =
		p->sender_window * 8000.0 * (p->mtu + p->header) / p->rate_gbps;

	if (r->scheme == &fab_rdma_scheme_rc && r->rounds > 1.1)
		return fab_format("it sends the whole transfer %.3g times", r->rounds);
	if (dropped > 0.1)
		return fab_format("%.0f %% of its %.3g times the packets are dropped %s",
				  dropped * 100, r->rounds,
				  r->scheme == &fab_rdma_scheme_gbn
					  ? "out of order"
					  : "beyond the window and asked for again");
	if (r->rounds > 1.1 && timeouts)
		return fab_format("it sends %.3g times the packets and waits for %" PRIu64
				  " timers a run",
				  r->rounds, timeouts);
	if (r->rounds > 1.1)
		return fab_format("it sends %.3g times the packets", r->rounds);
	if (timeouts)
		return fab_format("it waits for timers, %" PRIu64 " a run", timeouts);
	if (r->scheme == &fab_rdma_scheme_ssw && window_ps < (double)s->round_trip_ps &&
	    p->sender_window < (r->bytes + p->mtu - 1) / p->mtu)
		return fab_format(
			"its window of %u packets is less than a round trip carries",
			p->sender_window);
	return NULL;
}

uint32_t fab_rdma_sweep_best(const struct fab_rdma_sweep *s,
			     const struct fab_rdma_question *q,
			     struct fab_rdma_standing_of *best)
{
	uint32_t best_scheme = 0;

	*best = (struct fab_rdma_standing_of){.worst = INFINITY};
	for (uint32_t k = 0; k < q->n_schemes; k++) {
		struct fab_rdma_standing_of own = {.worst = 1};

		for (size_t i = 0; i < s->n_points; i++) {
			const struct fab_rdma_point *x = &s->point[i];
			const struct fab_rdma_choice *c = &x->choice;
			double slow;

			if (!x->is_there || c->verdict != FAB_RDMA_TAKE)
				continue;
			own.n_fast += c->standing[k] == FAB_RDMA_FAST;
			slow = c->standing[k] == FAB_RDMA_UNSOUND
				       ? INFINITY
				       : fab_rdma_slowness(
						 fab_rdma_result_at(s, q, x, k),
						 fab_rdma_result_at(s, q, x, c->fastest));
			if (slow > own.worst) {
				own.worst = slow;
				own.worst_at = x;
			}
		}
		if (own.n_fast > best->n_fast ||
		    (own.n_fast == best->n_fast && own.worst < best->worst)) {
			best_scheme = k;
			*best = own;
		}
	}
	return best_scheme;
}

/* Plans */

int fab_rdma_plan_all(struct fab_rdma_plans *p, const struct fab_rdma_question *q,
		      struct fab_err *err)
{
	struct fab_rdma_plan plans[FAB_RDMA_CASES_MAX];
	uint64_t bits[FAB_RDMA_CASES_MAX];
	struct fab_rdma_params params = q->params;
	struct amount amount;
	struct fab_rdma_load load;
	int rc = fab_rdma_traffic_init(&p->traffic, q, q->pattern.bytes, &params, err);

	if (rc)
		return rc;
	amount = amount_of(&p->traffic, params.mtu);
	p->n_no_path = amount.n_no_path;
	p->n_packets = amount.packets;
	if (p->n_no_path == p->traffic.problem.n_transfers)
		return fab_fail(err, EINVAL, "--pattern=%s: no transfer has a path",
				q->spec);
	rc = fab_rdma_load(p->traffic.net, &params, p->traffic.problem.n_transfers, &load,
			   err);
	params.sender_window = p->sender_window =
		fitting_window(q, p->traffic.net, &params);
	/* a scheme that reaches the target is done by then */
	if (!rc && !params.end_ps)
		params.end_ps = (uint64_t)fmin(
			(double)fab_rdma_late_end(&load, params.rto_ps) / q->target,
			(double)FAB_RDMA_END_MAX_PS);
	for (uint32_t i = 0; i < q->n_schemes && !rc; i++) {
		const struct fab_rdma_plan_question question = {
			.net = p->traffic.net,
			.params = params,
			.scheme = q->scheme[i],
			.wait_ps = fab_rdma_wait(&load),
			.most_packets = amount.most,
			.target = q->target,
			.n_runs = q->n_runs,
			.n_threads = q->n_threads,
			.progress = q->progress,
			.progress_context = q->context};
		struct fab_rdma_planned *x = &p->of[p->n];
		struct fab_rdma_params own = params;

		if (q->scheme[i] == &fab_rdma_scheme_oracle)
			continue;
		x->name = q->scheme[i]->name;
		rc = fab_rdma_plan(&question, &x->plan, err);
		if (rc)
			break;
		if (x->plan.answer.window)
			own.window = x->plan.answer.window;
		x->context_bits =
			context_bits(q, p->traffic.net, &own, q->scheme[i], amount.most);
		x->contexts = x->context_bits ? fab_rdma_contexts_in(q->memory_bytes,
								     x->context_bits)
					      : 0;
		plans[p->n] = x->plan;
		bits[p->n++] = x->context_bits;
	}
	p->best = fab_rdma_plan_best(plans, bits, p->n);
	return rc;
}

/* Jobs */

struct jobs {
	const struct fab_rdma_question *q;
	struct fab_rdma_traffic traffic;
	struct fab_rdma_params params;
	struct fab_job_times *out;
};

/* A scheme of them. */
struct job_scheme {
	const struct jobs *jobs;
	const struct fab_rdma_scheme *scheme;
};

static int run_jobs(void *context, uint64_t set, bool is_last, uint64_t *end,
		    struct fab_job_times *job, struct fab_err *err)
{
	const struct job_scheme *own = context;
	const struct fab_rdma_traffic *t = &own->jobs->traffic;
	FAB_AUTOFREE bool *is_left_out = FAB_NEW0(t->problem.n_transfers, bool);
	FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result result = {.n_transfers = 0};
	struct fab_rdma_params params = own->jobs->params;
	int rc;

	(void)is_last;
	params.is_left_out = is_left_out;
	for (uint32_t k = 0; k < own->jobs->q->n_jobs; k++)
		for (uint32_t i = t->first[k]; i < t->first[k + 1]; i++)
			is_left_out[i] = !(set >> k & 1);
	rc = fab_rdma_run(t->net, &params, own->scheme, &result, err);
	for (uint32_t k = 0; k < own->jobs->q->n_jobs && !rc; k++) {
		uint32_t unfinished = 0;

		end[k] = 0;
		for (uint32_t i = t->first[k]; i < t->first[k + 1] && set >> k & 1; i++) {
			const struct fab_rdma_fate *fate = &result.fate[i];
			bool is_done = fate->done_ps != UINT64_MAX && !fate->is_wrong;

			unfinished += !is_done;
			if (is_done && fate->done_ps > end[k])
				end[k] = fate->done_ps;
		}
		if (unfinished > job[k].unfinished)
			job[k].unfinished = unfinished;
	}
	return rc;
}

static int simulate_jobs(void *context, void *memory, uint64_t item, void *result,
			 struct fab_err *err)
{
	const struct jobs *j = context;
	struct job_scheme own = {j, j->q->scheme[item]};
	const struct fab_job_runs runs = {j->q->n_jobs, run_jobs, &own};

	(void)memory;
	return fab_jobs_compare(&runs, result, err);
}

static void take_jobs(void *context, uint64_t item, void *result)
{
	const struct jobs *j = context;
	uint32_t n = j->q->n_jobs;

	memcpy(&j->out[item * n], result, n * sizeof(*j->out));
}

int fab_rdma_jobs(const struct fab_rdma_question *q, struct fab_job_times *job,
		  struct fab_err *err)
{
	struct jobs j = {.q = q, .params = q->params, .out = job};
	struct fab_sweep sweep = {.what = "scheme",
				  .n_items = q->n_schemes,
				  .n_threads = q->n_threads,
				  .result_bytes = q->n_jobs * sizeof(*job),
				  .context = &j,
				  .work = simulate_jobs,
				  .take = take_jobs,
				  .progress = q->progress,
				  .progress_context = q->context};
	struct fab_rdma_load load;
	int rc = fab_rdma_traffic_init(&j.traffic, q, q->pattern.bytes, &j.params, err);

	if (!rc)
		rc = check_effort(q, &j.traffic, &j.params, q->n_schemes,
				  2 + (q->n_jobs > 2 ? q->n_jobs - 1 : 0), true, err);
	if (!rc)
		rc = fab_rdma_load(j.traffic.net, &j.params,
				   j.traffic.problem.n_transfers, &load, err);
	if (!rc) {
		if (!q->has_rto)
			j.params.rto_ps =
				fab_rdma_fitting_timeout(&load, j.params.rto_ps);
		if (!j.params.end_ps)
			j.params.end_ps = fab_rdma_late_end(&load, j.params.rto_ps);
		j.params.sender_window = fitting_window(q, j.traffic.net, &j.params);
		rc = fab_sweep_run(&sweep, err);
	}
	fab_rdma_traffic_fini(&j.traffic);
	return rc;
}
