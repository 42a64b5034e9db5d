/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/choice.h"

#include <errno.h>
#include <math.h>

#include "base/mem.h"

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

/* Can one run differ from another with another seed? */
static bool is_random(const struct fab_rdma_params *p)
{
	return p->bad.loss > 0 || p->bad.drop_control > 0 || p->bad.delayed > 0 ||
	       p->routing != FAB_RDMA_BY_TABLE || p->retry == FAB_RDMA_RETRY_BACKOFF;
}

/* Cost of one more timeout of a transfer to the mean of a run, us. */
static double timeout_cost(const struct judge *j, uint32_t i)
{
	const struct fab_rdma_case *c = &j->q->runs.of[i];
	const struct fab_rdma_summary *s = &j->out[i];
	const struct fab_rdma_params *p = &c->params;
	uint64_t timer = p->rto_ps;
	double each = (double)s->n_done / s->n_runs;

	if (c->scheme == &fab_rdma_scheme_irn && p->rto_high_ps > timer)
		timer = p->rto_high_ps;
	if (p->bad.drop_control > 0 || p->bad.n_outages)
		timer += p->ask_ps ? p->ask_ps : 4 * p->rto_ps;
	return ((double)timer / 1e6 + fab_tally_mean(&s->completion_p50)) / fmax(each, 1);
}

/* Is the mean of `own` below `factor` times that of `other`, at the confidence wanted? */
static bool is_below(const struct judge *j, uint32_t own, uint32_t other, double factor)
{
	const struct fab_rdma_summary *a = &j->out[own], *b = &j->out[other];
	uint32_t n_both = a->n_runs < b->n_runs ? a->n_runs : b->n_runs;
	struct fab_tally d = {0};
	double n, range;

	for (uint32_t i = 0; i < n_both; i++)
		fab_tally_add(&d, a->run[i].completion_mean -
					  factor * b->run[i].completion_mean);
	if (!is_random(&j->q->runs.of[own].params))
		return fab_tally_mean(&d) <= 0;
	if (d.n < 2)
		return false;
	n = (double)d.n;
	range = fmax(d.max - d.min, timeout_cost(j, own));
	return fab_tally_mean(&d) + sqrt(2 * d.squares / (n - 1) * j->log_odds / n) +
		       7 * range * j->log_odds / (3 * (n - 1)) <=
	       0;
}

static bool is_candidate(const struct fab_rdma_choice *c, uint32_t i)
{
	return c->standing[i] > FAB_RDMA_UNSOUND;
}

/* Each case beside the fastest, and the cases that may be taken. */
static void set_standings(const struct judge *j, struct fab_rdma_choice *c)
{
	uint32_t n = j->q->runs.n_cases;

	for (uint32_t i = 0; i < n; i++)
		if (is_candidate(c, i) && i != c->fastest &&
		    is_below(j, c->fastest, i, 1 / FAB_RDMA_AS_FAST))
			c->standing[i] = FAB_RDMA_SLOWER;
	for (uint32_t i = 0; i < n; i++) {
		bool is_fast = c->standing[i] == FAB_RDMA_OPEN;

		for (uint32_t k = 0; k < n && is_fast; k++)
			is_fast = k == i || !is_candidate(c, k) ||
				  c->standing[k] == FAB_RDMA_SLOWER ||
				  is_below(j, i, k, FAB_RDMA_AS_FAST);
		if (is_fast)
			c->standing[i] = FAB_RDMA_FAST;
	}
}

/* Of those that may be taken the one with the least context, then the fastest. */
static uint32_t best_of(const struct judge *j, const struct fab_rdma_choice *c)
{
	const uint64_t *bits = j->q->context_bits;
	uint32_t best = FAB_NONE;

	for (uint32_t i = 0; i < j->q->runs.n_cases; i++)
		if (c->standing[i] == FAB_RDMA_FAST &&
		    (best == FAB_NONE || bits[i] < bits[best] ||
		     (bits[i] == bits[best] && mean(&j->out[i]) < mean(&j->out[best]))))
			best = i;
	return best;
}

static uint64_t sum_lost(const struct fab_rdma_counts *n)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < FAB_RDMA_KINDS; kind++)
		sum += n->lost[kind];
	return sum;
}

/* Was any packet of any real scheme lost, held up or overtaken? */
static bool is_touched(const struct judge *j)
{
	for (uint32_t i = 0; i < j->q->runs.n_cases; i++) {
		const struct fab_rdma_summary *s = &j->out[i];

		if (j->q->runs.of[i].scheme != &fab_rdma_scheme_oracle &&
		    (sum_lost(&s->n) || s->n.delayed || s->reorder.max > 1))
			return true;
	}
	return false;
}

/* Were few packets lost, or held up, of the kinds that were asked for? */
static bool is_few(const struct fab_rdma_impairments *bad,
		   const struct fab_rdma_counts *n, enum fab_rdma_reason *reason)
{
	uint64_t data = n->lost[FAB_RDMA_DATA];

	if ((bad->loss > 0 && data < FAB_RDMA_FEW) ||
	    (bad->drop_control > 0 && sum_lost(n) - data < FAB_RDMA_FEW))
		*reason = FAB_RDMA_FEW_LOST;
	else if (bad->delayed > 0 && n->delayed < FAB_RDMA_FEW)
		*reason = FAB_RDMA_FEW_DELAYED;
	else
		*reason = FAB_RDMA_TOO_CLOSE;
	return *reason != FAB_RDMA_TOO_CLOSE;
}

static uint32_t find_fastest(const struct judge *j, struct fab_rdma_choice *c)
{
	uint32_t fastest = FAB_NONE;

	for (uint32_t i = 0; i < j->q->runs.n_cases; i++) {
		if (j->q->runs.of[i].scheme == &fab_rdma_scheme_oracle)
			continue;
		if (!fab_rdma_all_ended(&j->out[i])) {
			c->standing[i] = FAB_RDMA_UNSOUND;
			continue;
		}
		c->standing[i] = FAB_RDMA_OPEN;
		if (fastest == FAB_NONE || mean(&j->out[i]) < mean(&j->out[fastest]))
			fastest = i;
	}
	return fastest;
}

/* Real schemes that are compared. */
static uint32_t count_real(const struct fab_rdma_choice_question *q)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < q->runs.n_cases; i++)
		n += q->runs.of[i].scheme != &fab_rdma_scheme_oracle;
	return n;
}

void fab_rdma_judge(const struct fab_rdma_choice_question *q,
		    const struct fab_rdma_summary *out, uint32_t n_looks,
		    struct fab_rdma_choice *c)
{
	uint32_t n_real = count_real(q), n_pairs = 2 * (n_real > 1 ? n_real - 1 : 1);
	const struct judge j = {q, out,
				log(2. * n_pairs * n_looks * q->n_claims / FAB_ALPHA)};
	bool has_few;
	uint32_t best;

	*c = (struct fab_rdma_choice){.verdict = FAB_RDMA_NO_END, .best = FAB_NONE};
	c->best = c->fastest = find_fastest(&j, c);
	if (c->fastest == FAB_NONE)
		return;
	c->n_runs = out[c->fastest].n_runs;
	if (n_real > 1)
		set_standings(&j, c);
	best = best_of(&j, c);
	c->best = best == FAB_NONE ? c->fastest : best;
	c->n_lost = sum_lost(&out[c->best].n);
	c->n_delayed = out[c->best].n.delayed;
	has_few = is_few(&q->runs.of[c->best].params.bad, &out[c->best].n, &c->reason);
	c->verdict = n_real == 1		   ? FAB_RDMA_ALONE
		     : !is_touched(&j)		   ? FAB_RDMA_UNTOUCHED
		     : has_few || best == FAB_NONE ? FAB_RDMA_UNDECIDED
						   : FAB_RDMA_TAKE;
}

/* Is a mean known to 2 %: half of its interval of 95 %? */
static bool is_precise(const struct fab_rdma_summary *s)
{
	struct fab_interval i = fab_tally_interval(&s->completion_mean, FAB_ALPHA);

	return i.high - i.low <= 2 * (FAB_RDMA_AS_FAST - 1) * mean(s);
}

/* Could as many runs as the bounds allow lose, or hold up, enough packets? Expected
 * numbers. */
static bool is_out_of_reach(const struct fab_rdma_choice_question *q,
			    const struct fab_rdma_summary *s, double events)
{
	const struct fab_rdma_impairments *bad = &q->runs.of[0].params.bad;
	double runs = fmin(FAB_RDMA_RUNS_MAX, s->n_runs * (double)q->max_events / events);
	double data = (double)s->n_packets / s->n_runs * runs, control = 0;

	for (int kind = 0; kind < FAB_RDMA_KINDS; kind++)
		control += kind == FAB_RDMA_DATA
				   ? 0
				   : (double)s->n.packets[kind] / s->n_runs * runs;
	return (bad->loss > 0 && bad->loss * data < FAB_RDMA_FEW / 2.) ||
	       (bad->drop_control > 0 &&
		bad->drop_control * control < FAB_RDMA_FEW / 2.) ||
	       (bad->delayed > 0 && bad->delayed * data < FAB_RDMA_FEW / 2.);
}

/* Is there nothing more that further runs could tell? */
static bool is_settled(const struct fab_rdma_choice_question *q,
		       const struct fab_rdma_summary *out,
		       const struct fab_rdma_choice *c, double events)
{
	const struct fab_rdma_params *p = &q->runs.of[0].params;
	bool may_harm = p->bad.loss > 0 || p->bad.drop_control > 0 || p->bad.delayed > 0;

	if (c->best == FAB_NONE || !is_random(p))
		return true;
	if (c->verdict == FAB_RDMA_ALONE && c->reason == FAB_RDMA_TOO_CLOSE &&
	    is_precise(&out[c->best]))
		return true;
	if (c->verdict == FAB_RDMA_UNTOUCHED && !may_harm)
		return c->n_runs >= 4;
	return c->verdict == FAB_RDMA_TAKE || is_out_of_reach(q, &out[c->best], events);
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
