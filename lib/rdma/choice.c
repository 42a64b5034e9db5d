/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/choice.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

/* Many runs */

uint64_t fab_rdma_run_seed(uint64_t seed, uint32_t run)
{
	return fab_mix64(fab_mix64(seed) + run);
}

/* One run: results are large, so that items of the sweep are pointers to them. */
typedef struct fab_rdma_result *item;

struct work {
	const struct fab_rdma_runs *runs;
	struct fab_rdma_summary *out;
	uint32_t *active; /* [n_active] cases that get runs */
	uint32_t n_active;
};

static void drop(void *context, void *out)
{
	item r = *(item *)out;

	(void)context;
	if (r)
		fab_rdma_result_fini(r);
	free(r);
}

/* Runs of one number are neighbours, so that an interrupted sweep has all cases. */
static int work(void *context, void *memory, uint64_t number, void *out,
		struct fab_err *err)
{
	const struct work *w = context;
	const struct fab_rdma_case *c = &w->runs->of[w->active[number % w->n_active]];
	struct fab_rdma_params params = c->params;
	item *r = out;
	int rc;

	(void)memory;
	params.seed = fab_rdma_run_seed(
		params.seed, w->runs->first_run + (uint32_t)(number / w->n_active));
	*r = FAB_NEW(1, struct fab_rdma_result);
	rc = fab_rdma_run(c->net, &params, c->scheme, *r, err);
	if (rc) {
		drop(context, out);
		*r = NULL;
	}
	return rc;
}

#define RAISE(most, one) (most) = (one) > (most) ? (one) : (most)

/* Add a run to the summary of its case. */
static void take(void *context, uint64_t number, void *out)
{
	const struct work *w = context;
	struct fab_rdma_summary *s = &w->out[w->active[number % w->n_active]];
	const struct fab_rdma_result *r = *(item *)out;
	const uint64_t *from = (const uint64_t *)&r->n;
	uint64_t *to = (uint64_t *)&s->n;

	_Static_assert(sizeof(s->n) % sizeof(*to) == 0, "counts are uint64_t");
	for (size_t i = 0; i < sizeof(s->n) / sizeof(*to); i++)
		to[i] += from[i];
	s->n_transfers += r->n_transfers;
	s->n_done += r->n_done;
	s->n_hung += r->n_hung;
	s->n_wrong += r->n_wrong;
	s->n_no_path += r->n_no_path;
	s->n_packets += r->n_packets;
	s->events += r->events;
	s->packet_hops += r->packet_hops;
	s->n_stalled += r->is_stalled;
	s->simulate_seconds += r->simulate_seconds;
	s->no_deadlock = r->no_deadlock;
	RAISE(s->peak_contexts, r->peak_contexts);
	RAISE(s->peak_tombstones, r->peak_tombstones);
	RAISE(s->peak_send_buffer, r->peak_send_buffer);
	RAISE(s->peak_queue_bytes, r->peak_queue_bytes);
	fab_histogram_merge(&s->reorder, &r->reorder);
	fab_histogram_merge(&s->ahead, &r->ahead);
	s->run[s->n_runs++] = r->completion_mean;
	if (r->n_done) {
		fab_tally_add(&s->completion_mean, r->completion_mean);
		fab_tally_add(&s->completion_p50, r->completion_p50);
		fab_tally_add(&s->completion_p99, r->completion_p99);
		fab_tally_add(&s->completion_max, r->completion_max);
		fab_tally_add(&s->goodput_gbps, r->goodput_gbps);
		fab_tally_add(&s->goodput_mean, r->goodput_mean);
		fab_tally_add(&s->rounds, r->rounds);
	}
	drop(context, out);
}

bool fab_rdma_all_ended(const struct fab_rdma_summary *s)
{
	return s->n_done && s->n_done + s->n_no_path == s->n_transfers && !s->n_wrong;
}

struct fab_rdma_ratio fab_rdma_ratio_of(const struct fab_rdma_summary *over,
					const struct fab_rdma_summary *under)
{
	uint32_t n = over->n_runs < under->n_runs ? over->n_runs : under->n_runs;
	struct fab_tally above = {0}, below = {0}, residual = {0};
	struct fab_rdma_ratio ratio = {NAN, NAN};

	for (uint32_t i = 0; i < n; i++) {
		if (isnan(over->run[i]) || isnan(under->run[i]))
			continue;
		fab_tally_add(&above, over->run[i]);
		fab_tally_add(&below, under->run[i]);
	}
	ratio.value = fab_tally_mean(&above) / fab_tally_mean(&below);
	for (uint32_t i = 0; i < n; i++) {
		double left = over->run[i] - ratio.value * under->run[i];

		if (!isnan(left))
			fab_tally_add(&residual, left);
	}
	if (residual.n > 1)
		ratio.half = fab_student_above(FAB_ALPHA / 2, (double)residual.n - 1) *
			     fab_tally_deviation(&residual) / sqrt((double)residual.n) /
			     fab_tally_mean(&below);
	return ratio;
}

int fab_rdma_compare(const struct fab_rdma_runs *runs, struct fab_rdma_summary *out,
		     struct fab_err *err)
{
	FAB_AUTOFREE uint32_t *active = FAB_NEW(runs->n_cases + 1, uint32_t);
	struct work context = {runs, out, active, 0};
	struct fab_sweep sweep = {.what = "run",
				  .n_threads = runs->n_threads,
				  .result_bytes = sizeof(item),
				  .context = &context,
				  .work = work,
				  .take = take,
				  .drop = drop,
				  .progress = runs->progress,
				  .progress_context = runs->progress_context};
	int rc;

	for (uint32_t i = 0; i < runs->n_cases; i++) {
		struct fab_rdma_summary *s = &out[i];

		if (runs->is_left_out && runs->is_left_out[i])
			continue;
		s->run = fab_realloc(s->run, s->n_runs + runs->n_runs + 1,
				     sizeof(*s->run));
		context.active[context.n_active++] = i;
	}
	sweep.n_items = (uint64_t)context.n_active * runs->n_runs;
	rc = fab_sweep_run(&sweep, err);
	for (uint32_t i = 0; i < runs->n_cases; i++) {
		struct fab_rdma_summary *s = &out[i], *with;

		if (runs->of[i].baseline == FAB_NONE)
			continue;
		with = &out[runs->of[i].baseline];
		s->difference = (struct fab_tally){0};
		for (uint32_t k = 0; k < s->n_runs && k < with->n_runs; k++)
			if (!isnan(s->run[k] - with->run[k]))
				fab_tally_add(&s->difference, s->run[k] - with->run[k]);
		s->share = fab_rdma_ratio_of(with, s);
	}
	return rc;
}

void fab_rdma_summary_fini(struct fab_rdma_summary *summary)
{
	free(summary->run);
	*summary = (struct fab_rdma_summary){0};
}

/* The scheme to take */

const char *const fab_rdma_verdict_name[] = {[FAB_RDMA_TAKE] = "take",
					     [FAB_RDMA_ALONE] = "alone",
					     [FAB_RDMA_UNDECIDED] = "undecided",
					     [FAB_RDMA_UNTOUCHED] = "untouched",
					     [FAB_RDMA_NO_END] = "no_end"};
const char *const fab_rdma_standing_name[] = {[FAB_RDMA_REFERENCE] = "reference",
					      [FAB_RDMA_UNSOUND] = "unsound",
					      [FAB_RDMA_SLOWER] = "slower",
					      [FAB_RDMA_OPEN] = "open",
					      [FAB_RDMA_FAST] = "fast"};

struct judge {
	const struct fab_rdma_choice_question *q;
	const struct fab_rdma_summary *out;
	double log_odds; /* ln(2/D) of one comparison */
};

static double mean(const struct fab_rdma_summary *s)
{
	return fab_tally_mean(&s->completion_mean);
}

bool fab_rdma_is_random(const struct fab_rdma_params *p)
{
	return p->bad.loss > 0 || p->bad.drop_control > 0 || p->bad.delayed > 0 ||
	       p->bad.corrupt > 0 || p->routing >= FAB_SIM_BY_QUEUE ||
	       p->retry == FAB_RDMA_RETRY_BACKOFF;
}

/* Is the mean of `own` below `factor` times that of `other`, at the confidence wanted?
 * The range is at least the cost of one more timeout of a transfer to the mean of a run,
 * us.
 */
static bool is_below(const struct judge *j, uint32_t own, uint32_t other, double factor)
{
	const struct fab_rdma_case *c = &j->q->runs.of[own];
	const struct fab_rdma_params *p = &c->params;
	const struct fab_rdma_summary *a = &j->out[own], *b = &j->out[other];
	uint32_t n_both = a->n_runs < b->n_runs ? a->n_runs : b->n_runs;
	uint64_t timer = p->rto_ps;
	struct fab_tally d = {0};
	double n, cost, range;

	for (uint32_t i = 0; i < n_both; i++)
		fab_tally_add(&d, a->run[i] - factor * b->run[i]);
	if (!fab_rdma_is_random(p))
		return fab_tally_mean(&d) <= 0;
	if (d.n < 2)
		return false;
	if (c->scheme == &fab_rdma_scheme_irn && p->rto_high_ps > timer)
		timer = p->rto_high_ps;
	if (p->bad.drop_control > 0 || p->bad.n_outages)
		timer += p->ask_ps ? p->ask_ps : 4 * p->rto_ps;
	cost = ((double)timer / 1e6 + fab_tally_mean(&a->completion_p50)) /
	       fmax((double)a->n_done / a->n_runs, 1);
	n = (double)d.n;
	range = fmax(d.max - d.min, cost);
	return fab_tally_mean(&d) + sqrt(2 * d.squares / (n - 1) * j->log_odds / n) +
		       7 * range * j->log_odds / (3 * (n - 1)) <=
	       0;
}

/* Compare each case with the fastest, and find those that may be taken. */
static void set_standings(const struct judge *j, struct fab_rdma_choice *c)
{
	uint32_t n = j->q->runs.n_cases;

	for (uint32_t i = 0; i < n; i++)
		if (c->standing[i] > FAB_RDMA_UNSOUND && i != c->fastest &&
		    is_below(j, c->fastest, i, 1 / FAB_RDMA_AS_FAST))
			c->standing[i] = FAB_RDMA_SLOWER;
	for (uint32_t i = 0; i < n; i++) {
		bool is_fast = c->standing[i] == FAB_RDMA_OPEN;

		for (uint32_t k = 0; k < n && is_fast; k++)
			is_fast = k == i || c->standing[k] <= FAB_RDMA_UNSOUND ||
				  c->standing[k] == FAB_RDMA_SLOWER ||
				  is_below(j, i, k, FAB_RDMA_AS_FAST);
		if (is_fast)
			c->standing[i] = FAB_RDMA_FAST;
	}
}

void fab_rdma_judge(const struct fab_rdma_choice_question *q,
		    const struct fab_rdma_summary *out, uint32_t n_looks,
		    struct fab_rdma_choice *c)
{
	uint32_t n = q->runs.n_cases, n_real = 0, best = FAB_NONE;
	const struct fab_rdma_impairments *bad;
	const struct fab_rdma_counts *lost;
	struct judge j = {q, out, 0};
	bool is_touched = false;

	*c = (struct fab_rdma_choice){
		.verdict = FAB_RDMA_NO_END, .best = FAB_NONE, .fastest = FAB_NONE};
	for (uint32_t i = 0; i < n; i++) {
		if (q->runs.of[i].scheme == &fab_rdma_scheme_oracle)
			continue;
		n_real++;
		/* was any packet lost, held up or overtaken? */
		is_touched |= fab_rdma_lost(&out[i].n) || out[i].n.damaged ||
			      out[i].n.delayed || out[i].reorder.max > 1;
		c->standing[i] =
			fab_rdma_all_ended(&j.out[i]) ? FAB_RDMA_OPEN : FAB_RDMA_UNSOUND;
		if (c->standing[i] == FAB_RDMA_OPEN &&
		    (c->fastest == FAB_NONE || mean(&out[i]) < mean(&out[c->fastest])))
			c->fastest = i;
	}
	if (c->fastest == FAB_NONE)
		return;
	j.log_odds = log(4. * (n_real > 1 ? n_real - 1 : 1) * n_looks * q->n_claims /
			 FAB_ALPHA);
	c->n_runs = out[c->fastest].n_runs;
	if (n_real > 1)
		set_standings(&j, c);
	/* of those that may be taken the one with the least context, then the fastest */
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t *bits = q->context_bits;

		if (c->standing[i] == FAB_RDMA_FAST &&
		    (best == FAB_NONE || bits[i] < bits[best] ||
		     (bits[i] == bits[best] && mean(&out[i]) < mean(&out[best]))))
			best = i;
	}
	c->best = best == FAB_NONE ? c->fastest : best;
	lost = &out[c->best].n;
	c->n_lost = fab_rdma_lost(lost) + lost->damaged;
	c->n_delayed = lost->delayed;
	/* were few packets lost, or held up, of the kinds that were asked for? */
	bad = &q->runs.of[c->best].params.bad;
	if ((bad->loss > 0 && lost->lost[FAB_RDMA_DATA] < FAB_RDMA_FEW) ||
	    (bad->corrupt > 0 && lost->damaged < FAB_RDMA_FEW) ||
	    (bad->drop_control > 0 &&
	     fab_rdma_lost(lost) - lost->lost[FAB_RDMA_DATA] < FAB_RDMA_FEW))
		c->reason = FAB_RDMA_FEW_LOST;
	else if (bad->delayed > 0 && lost->delayed < FAB_RDMA_FEW)
		c->reason = FAB_RDMA_FEW_DELAYED;
	else
		c->reason = FAB_RDMA_TOO_CLOSE;
	c->verdict = n_real == 1   ? FAB_RDMA_ALONE
		     : !is_touched ? FAB_RDMA_UNTOUCHED
		     : c->reason != FAB_RDMA_TOO_CLOSE || best == FAB_NONE
			     ? FAB_RDMA_UNDECIDED
			     : FAB_RDMA_TAKE;
}

/* Would further runs change nothing? Or could as many as the bounds allow not lose, or
 * hold up, enough packets, by expected numbers? */
static bool is_settled(const struct fab_rdma_choice_question *q,
		       const struct fab_rdma_summary *out,
		       const struct fab_rdma_choice *c, double events)
{
	const struct fab_rdma_params *p = &q->runs.of[0].params;
	const struct fab_rdma_impairments *bad = &p->bad;
	const struct fab_rdma_summary *s;
	double runs, data, control = 0;
	struct fab_interval i;

	if (c->best == FAB_NONE || !fab_rdma_is_random(p) || c->verdict == FAB_RDMA_TAKE)
		return true;
	s = &out[c->best];
	/* one scheme: its mean is known to 2 %, half of the interval of 95 % */
	i = fab_tally_interval(&s->completion_mean, FAB_ALPHA);
	if (c->verdict == FAB_RDMA_ALONE && c->reason == FAB_RDMA_TOO_CLOSE &&
	    i.high - i.low <= 2 * (FAB_RDMA_AS_FAST - 1) * mean(s))
		return true;
	if (c->verdict == FAB_RDMA_UNTOUCHED && !(bad->loss > 0) &&
	    !(bad->drop_control > 0) && !(bad->delayed > 0) && !(bad->corrupt > 0))
		return c->n_runs >= 4;
	runs = fmin(FAB_RDMA_RUNS_MAX, s->n_runs * (double)q->max_events / events);
	data = (double)s->n_packets / s->n_runs * runs;
	for (int kind = 0; kind < FAB_RDMA_KINDS; kind++)
		control += kind == FAB_RDMA_DATA
				   ? 0
				   : (double)s->n.packets[kind] / s->n_runs * runs;
	return (bad->loss > 0 && bad->loss * data < FAB_RDMA_FEW / 2.) ||
	       (bad->corrupt > 0 && bad->corrupt * data < FAB_RDMA_FEW / 2.) ||
	       (bad->drop_control > 0 &&
		bad->drop_control * control < FAB_RDMA_FEW / 2.) ||
	       (bad->delayed > 0 && bad->delayed * data < FAB_RDMA_FEW / 2.);
}

/* Events of the cases that get more runs. */
static double events_of(const struct fab_rdma_summary *out, const bool *is_left_out,
			uint32_t n_cases)
{
	double sum = 0;

	for (uint32_t i = 0; i < n_cases; i++)
		sum += is_left_out[i] ? 0 : (double)out[i].events;
	return sum;
}

int fab_rdma_choose(const struct fab_rdma_choice_question *q,
		    struct fab_rdma_summary *out, struct fab_rdma_choice *c,
		    struct fab_err *err)
{
	struct fab_rdma_runs runs = q->runs;
	bool is_left_out[FAB_RDMA_CASES_MAX] = {false};
	uint32_t n_looks = q->runs.n_runs ? 1 : FAB_RDMA_LOOKS;
	double all = 0, next;
	int rc;

	runs.is_left_out = is_left_out;
	runs.n_runs = q->runs.n_runs ? q->runs.n_runs : 1;
	for (;;) {
		rc = fab_rdma_compare(&runs, out, err);
		if (rc && rc != -ECANCELED)
			return rc;
		fab_rdma_judge(q, out, n_looks, c);
		next = events_of(out, is_left_out, runs.n_cases);
		/* those were counted before, but for the second half of their runs */
		all += runs.first_run ? next / 2 : next;
		if (rc || n_looks == 1 || is_settled(q, out, c, next))
			break;
		for (uint32_t i = 0; i < runs.n_cases; i++)
			is_left_out[i] |= c->standing[i] == FAB_RDMA_SLOWER ||
					  c->standing[i] == FAB_RDMA_UNSOUND;
		next = events_of(out, is_left_out, runs.n_cases);
		runs.first_run += runs.n_runs;
		runs.n_runs = runs.first_run;
		if (2 * runs.first_run > FAB_RDMA_RUNS_MAX ||
		    all + next > (double)q->max_events)
			break;
	}
	return rc;
}

/* The least window and timeout */

int fab_rdma_load(const struct fab_rdma_net *net, const struct fab_rdma_params *params,
		  uint32_t n_transfers, struct fab_rdma_load *out, struct fab_err *err)
{
	struct fab_rdma_params sound = *params;
	FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result result = {.n_transfers = 0};
	int rc;

	sound.bad = (struct fab_rdma_impairments){.loss = 0};
	*out = (struct fab_rdma_load){.mean_us = NAN};
	rc = fab_rdma_run(net, &sound, &fab_rdma_scheme_oracle, &result, err);
	if (!rc && result.n_done) {
		out->mean_us = result.completion_mean;
		out->most_ps = (uint64_t)(result.completion_max * 1e6);
	}
	for (uint32_t i = 0; i < n_transfers && !rc; i++) {
		uint64_t alone = fab_rdma_ideal(net, i);

		out->alone_ps = alone > out->alone_ps ? alone : out->alone_ps;
	}
	return rc;
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value > least ? value : least;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

uint64_t fab_rdma_fitting_timeout(const struct fab_rdma_load *load, uint64_t rto_ps)
{
	return at_most(at_least(rto_ps, 2 * fab_rdma_wait(load)), FAB_RDMA_TIME_MAX_PS);
}

uint64_t fab_rdma_late_end(const struct fab_rdma_load *load, uint64_t rto_ps)
{
	const uint64_t least = UINT64_C(50000000000); /* 50 ms */
	const uint64_t most = FAB_RDMA_END_MAX_PS;
	uint64_t end = at_least(50 * at_most(load->most_ps, most),
				2000 * at_most(load->alone_ps, most));

	return at_most(at_least(at_least(end, 1000 * at_most(rto_ps, most)), least),
		       most);
}

void fab_rdma_timeouts(const struct fab_rdma_net *net, uint64_t wait_ps,
		       uint64_t rto_ps[FAB_RDMA_TIMEOUTS])
{
	static const double times[FAB_RDMA_TIMEOUTS] = {1.25, 1.6, 2,  2.5, 3.2, 4,
							5,    6.4, 10, 16,  32,	 64};
	double round_trip = (double)(fab_rdma_longest_round_trip(net) + wait_ps);

	for (size_t i = 0; i < FAB_RDMA_TIMEOUTS; i++)
		rto_ps[i] = at_most((uint64_t)ceil(round_trip * times[i]),
				    FAB_RDMA_TIME_MAX_PS);
}

struct search {
	const struct fab_rdma_plan_question *q;
	struct fab_rdma_plan *out;
	struct fab_rdma_summary oracle; /* of the parameters of the question */
	uint64_t rto_ps[FAB_RDMA_TIMEOUTS];
	size_t last;	 /* the timeout that reached the target last: tried first */
	uint64_t n_done; /* simulations, for the progress */
};

static int tick(void *context, uint64_t done, uint64_t total)
{
	const struct search *s = context;

	(void)total;
	if (!s->q->progress)
		return 0;
	return s->q->progress(s->q->progress_context, s->n_done + done, 0);
}

/* More runs of one case, up to n_runs. */
static int add_runs(struct search *s, const struct fab_rdma_case *of, uint32_t n_runs,
		    struct fab_rdma_summary *sum, struct fab_err *err)
{
	const struct fab_rdma_runs runs = {.of = of,
					   .n_cases = 1,
					   .first_run = sum->n_runs,
					   .n_runs = n_runs - sum->n_runs,
					   .n_threads = s->q->n_threads,
					   .progress = tick,
					   .progress_context = s};
	int rc = fab_rdma_compare(&runs, sum, err);

	s->n_done += runs.n_runs;
	return rc;
}

/* Half of an interval of 99.9 % over half of one of 95 %, as for many runs. */
static const double SURE = 1.68;

/* One window with one timeout. */
static int try_one(struct search *s, uint32_t window, uint64_t rto_ps,
		   struct fab_rdma_trial *out, struct fab_err *err)
{
	struct fab_rdma_case c = {.net = s->q->net,
				  .params = s->q->params,
				  .scheme = s->q->scheme,
				  .baseline = FAB_NONE};
	FAB_AUTO(fab_rdma_summary_fini) struct fab_rdma_summary sum = {0};
	struct fab_rdma_ratio share;
	uint32_t n_runs = s->q->n_runs, few = n_runs / 8 > 2 ? n_runs / 8 : n_runs;
	int rc;

	c.params.rto_ps = rto_ps;
	c.params.rto_low_ps = rto_ps;
	c.params.rto_high_ps = at_most(rto_ps * 16 / 5, FAB_RDMA_TIME_MAX_PS);
	if (window)
		c.params.window = window;
	rc = add_runs(s, &c, few, &sum, err);
	share = fab_rdma_ratio_of(&s->oracle, &sum);
	/* go on unless transfers hang, or the share is too far below */
	if (!rc && few < n_runs && fab_rdma_all_ended(&sum) &&
	    !(share.value + SURE * share.half < s->q->target))
		rc = add_runs(s, &c, n_runs, &sum, err);
	if (!rc) {
		*out = (struct fab_rdma_trial){
			.window = window,
			.rto_ps = rto_ps,
			.rto_us = (double)rto_ps / 1e6,
			.n_runs = sum.n_runs,
			.share = fab_rdma_ratio_of(&s->oracle, &sum),
			.rounds = fab_tally_mean(&sum.rounds),
			.is_done = fab_rdma_all_ended(&sum)};
		s->out->n_trials++;
	}
	return rc;
}

static bool reaches(const struct search *s, const struct fab_rdma_trial *t)
{
	return t->is_done && t->share.value >= s->q->target;
}

/* A window with any timeout: *out is the first that reaches the target, or the best. */
static int try_window(struct search *s, uint32_t window, struct fab_rdma_trial *out,
		      struct fab_err *err)
{
	*out = (struct fab_rdma_trial){.rto_us = NAN, .share = {NAN, NAN}};
	for (size_t k = 0; k < FAB_RDMA_TIMEOUTS; k++) {
		size_t i = (s->last + k) % FAB_RDMA_TIMEOUTS;
		struct fab_rdma_trial t;
		int rc = try_one(s, window, s->rto_ps[i], &t, err);

		if (rc)
			return rc;
		if (!k || (t.is_done != out->is_done ? t.is_done
						     : t.share.value > out->share.value ||
							       isnan(out->share.value)))
			*out = t;
		if (reaches(s, &t)) {
			s->last = i;
			*out = t;
			return 0;
		}
	}
	return 0;
}

/* The least window of those that reach the target, and its least timeout. */
static int search(struct search *s, struct fab_err *err)
{
	const struct fab_rdma_plan_question *q = s->q;
	struct fab_rdma_trial *answer = &s->out->answer, t;
	uint32_t widest = 0, low = 0; /* low: does not reach it */
	int rc;

	if (q->scheme->has_window)
		widest = q->most_packets < FAB_RDMA_WINDOW_MAX ? (uint32_t)q->most_packets
							       : FAB_RDMA_WINDOW_MAX;
	rc = try_window(s, widest, answer, err);
	if (rc || !reaches(s, answer))
		return rc;
	s->out->is_found = true;
	while (!rc && widest && answer->window - low > 1) {
		rc = try_window(s, low + (answer->window - low) / 2, &t, err);
		if (!rc && reaches(s, &t))
			*answer = t;
		else
			low = t.window;
	}
	/* shares need not grow with the window: look below */
	while (!rc && answer->window > 1) {
		rc = try_window(s, answer->window - 1, &t, err);
		s->out->below = t;
		if (rc || !reaches(s, &t))
			break;
		*answer = t;
	}
	if (answer->window <= 1)
		s->out->below =
			(struct fab_rdma_trial){.rto_us = NAN, .share = {NAN, NAN}};
	for (size_t i = 0; !rc && i < FAB_RDMA_TIMEOUTS && s->rto_ps[i] < answer->rto_ps;
	     i++) {
		rc = try_one(s, answer->window, s->rto_ps[i], &t, err);
		if (!rc && reaches(s, &t))
			*answer = t;
	}
	return rc;
}

int fab_rdma_plan(const struct fab_rdma_plan_question *q, struct fab_rdma_plan *out,
		  struct fab_err *err)
{
	const struct fab_rdma_case oracle = {.net = q->net,
					     .params = q->params,
					     .scheme = &fab_rdma_scheme_oracle,
					     .baseline = FAB_NONE};
	struct search s = {.q = q, .out = out};
	int rc;

	*out = (struct fab_rdma_plan){.below = {.rto_us = NAN, .share = {NAN, NAN}}};
	fab_rdma_timeouts(q->net, q->wait_ps, s.rto_ps);
	rc = add_runs(&s, &oracle, q->n_runs, &s.oracle, err);
	if (!rc)
		rc = search(&s, err);
	fab_rdma_summary_fini(&s.oracle);
	return rc;
}

static bool wastes(const struct fab_rdma_plan *plan)
{
	return plan->answer.rounds > FAB_RDMA_WASTE;
}

uint32_t fab_rdma_plan_best(const struct fab_rdma_plan *plans, const uint64_t *bits,
			    uint32_t n)
{
	uint32_t best = FAB_NONE;

	for (uint32_t i = 0; i < n; i++) {
		if (!plans[i].is_found)
			continue;
		if (best == FAB_NONE ||
		    (wastes(&plans[i]) == wastes(&plans[best]) ? bits[i] < bits[best]
							       : wastes(&plans[best])))
			best = i;
	}
	return best;
}
