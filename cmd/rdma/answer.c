/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma: the scheme to take and why, before everything else. The choice is that of
 * rdma/choice.h; here it is put into words. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/mem.h"
#include "fabric_rdma.h"

/* Slower than that is worth a sentence. */
static const double SLOW = 1.25;
enum { MOST_SLOW = 3, MOST_OPEN = 4 };

static bool is_real(const struct fab_rdma_scheme *scheme)
{
	return scheme != &fab_rdma_scheme_oracle;
}

/* The result of a case of a point's choice; NULL: FAB_NONE. */
static const struct rdma_result *result_at(const struct rdma_outcome *o,
					   const struct rdma_point *x, uint32_t i)
{
	return i == FAB_NONE ? NULL : rdma_result_of(o, x, o->scheme[i]);
}

static const struct rdma_result *fastest_at(const struct rdma_outcome *o,
					    const struct rdma_point *x)
{
	return x->is_there ? result_at(o, x, x->choice.fastest) : NULL;
}

static const char *us_text(double us, char *out)
{
	return fab_human_seconds(us * 1e-6, out);
}

/* Are the packets that ssw may have in flight there before the first is acknowledged?
 */
static bool is_window_short(const struct rdma_outcome *o, const struct rdma_point *x)
{
	double ps = 8000.0 * (x->sim.mtu + x->sim.header) / x->sim.rate_gbps;

	return x->sim.sender_window * ps < (double)o->round_trip_ps &&
	       x->sim.sender_window < (x->bytes + x->sim.mtu - 1) / x->sim.mtu;
}

/* Why a scheme is slow, by what it did; on the heap, NULL: nothing stands out. */
static char *cause_of(const struct rdma_outcome *o, const struct rdma_result *r)
{
	struct rdma_row row;
	double dropped;

	rdma_row_init(&row, o, r);
	dropped = row.packets_sent ? (double)row.beyond / (double)row.packets_sent : 0;
	if (r->scheme == &fab_rdma_scheme_rc && row.rounds > 1.1)
		return fab_format("it sends the whole transfer %.3g times", row.rounds);
	if (dropped > 0.1)
		return fab_format("%.0f %% of its %.3g times the packets are dropped %s",
				  dropped * 100, row.rounds,
				  r->scheme == &fab_rdma_scheme_gbn
					  ? "out of order"
					  : "beyond the window and asked for again");
	if (row.rounds > 1.1 && row.timeouts)
		return fab_format("it sends %.3g times the packets and waits for %" PRIu64
				  " timers a run",
				  row.rounds, row.timeouts);
	if (row.rounds > 1.1)
		return fab_format("it sends %.3g times the packets", row.rounds);
	if (row.timeouts)
		return fab_format("it waits for timers, %" PRIu64 " a run", row.timeouts);
	if (r->scheme == &fab_rdma_scheme_ssw && is_window_short(o, r->point))
		return fab_format("its window of %" PRIu64
				  " packets is less than a round "
				  "trip carries",
				  row.sender_window);
	return NULL;
}

/* "irn, sack-ro": the schemes of a point with this standing but the one chosen; on the
 * heap, NULL: none. */
static char *names_with(const struct rdma_outcome *o, const struct rdma_point *x,
			enum fab_rdma_standing standing)
{
	char *text = NULL;

	for (uint32_t i = 0; i < o->n_schemes; i++)
		if (i != x->choice.best && x->choice.standing[i] == standing)
			fab_append(&text, ", ", "%s", o->scheme[i]->name);
	return text;
}

/* The fastest of those that are known to be slower. */
static const struct rdma_result *next_of(const struct rdma_outcome *o,
					 const struct rdma_point *x)
{
	const struct rdma_result *next = NULL;

	for (uint32_t i = 0; i < o->n_schemes; i++) {
		const struct rdma_result *r = result_at(o, x, i);

		if (x->choice.standing[i] == FAB_RDMA_SLOWER &&
		    (!next || rdma_mean(r) < rdma_mean(next)))
			next = r;
	}
	return next;
}

/* "25.7 us (+- 0.2 us)"; without an interval, or with one of 0, the mean alone. */
static char *mean_text(const struct rdma_result *r)
{
	double half = rdma_half_interval(&r->sum.completion_mean);
	char mean[FAB_HUMAN_BYTES], more[FAB_HUMAN_BYTES];

	us_text(rdma_mean(r), mean);
	return half > 0 ? fab_format("%s (+- %s)", mean, us_text(half, more))
			: fab_strdup(mean);
}

/* ", 96.3 % of the pace of the oracle"; on the heap. */
static char *share_text(const struct rdma_result *r)
{
	double share = r->sum.share.value;

	return fab_format(", %.3g %% of the pace of the oracle%s", 100 * share,
			  share > FAB_RDMA_AS_FAST
				  ? ", which is a bound for one transfer alone"
				  : "");
}

static void say_choice(struct fab_report *r, const struct rdma_outcome *o,
		       const struct rdma_point *x)
{
	const struct rdma_result *best = result_at(o, x, x->choice.best);
	const struct rdma_result *next = next_of(o, x);
	char *equals = names_with(o, x, FAB_RDMA_FAST), *why = NULL;
	char *mean = mean_text(best), *share = share_text(best);
	char other[FAB_HUMAN_BYTES];

	if (equals)
		fab_append(&why, "",
			   "; %s %s as fast within 2 %%, and it keeps least "
			   "(%" PRIu64 " bits a transfer)",
			   equals, strchr(equals, ',') ? "are" : "is", best->bits);
	if (next)
		fab_append(&why, "", "; next is %s with %s", next->scheme->name,
			   us_text(rdma_mean(next), other));
	fab_report_answer(
		r, FAB_TONE_GOOD,
		"Take %s here%s: a transfer takes %s on the mean of %u run%s%s; "
		"no other is more than 2 %% faster (95 %% confidence)%s.",
		best->scheme->name,
		fab_rdma_pattern_is_drawn(o->p->pattern)
			? ", for the permutation that --seed draws"
			: "",
		mean, x->choice.n_runs, x->choice.n_runs == 1 ? "" : "s", share,
		why ? why : "");
	free(equals);
	free(why);
	free(mean);
	free(share);
}

uint64_t rdma_runs_for_losses(double lost)
{
	return (uint64_t)fmin(ceil(3 * FAB_RDMA_FEW / lost), RDMA_MAX_RUNS);
}

/* "; --runs=84 would say more": what it takes to lose enough packets at a point; on the
 * heap. */
static char *more_losses(const struct rdma_outcome *o, const struct rdma_point *x)
{
	const struct rdma_result *r = result_at(o, x, x->choice.best);
	const struct fab_rdma_impairments *bad = &x->sim.bad;
	uint64_t runs;

	if (!(bad->loss > 0))
		return fab_strdup(bad->drop_control > 0 || bad->n_outages || !r
					  ? ""
					  : " (--loss=1e-4)");
	if (!r)
		return fab_strdup("");
	runs = rdma_runs_for_losses(bad->loss * (double)r->sum.n_packets / r->sum.n_runs);
	return runs >= RDMA_MAX_RUNS
		       ? fab_strdup("; more transfers would say more (--transfers)")
		       : fab_format("; --runs=%" PRIu64 " would say more", runs);
}

/* The least mean of the schemes that are not known to be slower, and not named yet;
 * FAB_NONE: there is no other. */
static uint32_t least_open(const struct rdma_outcome *o, const struct rdma_point *x,
			   const bool *is_named)
{
	uint32_t least = FAB_NONE;

	for (uint32_t i = 0; i < o->n_schemes; i++)
		if (x->choice.standing[i] >= FAB_RDMA_OPEN && !is_named[i] &&
		    (least == FAB_NONE ||
		     rdma_mean(result_at(o, x, i)) < rdma_mean(result_at(o, x, least))))
			least = i;
	return least;
}

/* "irn (25.7 us) and sack-ro (25.9 us)": the fastest, and those that are not known to be
 * slower, by their means; on the heap. */
static char *open_text(const struct rdma_outcome *o, const struct rdma_point *x)
{
	bool is_named[RDMA_MAX_SCHEMES] = {false};
	char *text = NULL, mean[FAB_HUMAN_BYTES];
	int n_open = 0;
	uint32_t i;

	for (uint32_t k = 0; k < o->n_schemes; k++)
		n_open += x->choice.standing[k] >= FAB_RDMA_OPEN;
	for (int n = 0; n < MOST_OPEN; n++) {
		i = least_open(o, x, is_named);
		if (i == FAB_NONE)
			break;
		is_named[i] = true;
		fab_append(&text, n + 1 == n_open ? " and " : ", ", "%s (%s)",
			   o->scheme[i]->name,
			   us_text(rdma_mean(result_at(o, x, i)), mean));
	}
	if (n_open > MOST_OPEN)
		fab_append(&text, "", " and %d more", n_open - MOST_OPEN);
	return text;
}

static void say_undecided(struct fab_report *r, const struct rdma_outcome *o,
			  const struct rdma_point *x)
{
	const struct fab_rdma_choice *c = &x->choice;
	char *open = open_text(o, x), *more = NULL, *runs;

	runs = c->n_runs == 1 ? fab_strdup("one run") : fab_format("%u runs", c->n_runs);
	if (c->reason == FAB_RDMA_FEW_LOST)
		more = more_losses(o, x);
	if (c->reason == FAB_RDMA_TOO_CLOSE)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"Undecided between %s: %s cannot tell them apart by 2 %% "
			"at 95 %% confidence (--runs=%u may).",
			open, runs,
			4 * c->n_runs < RDMA_MAX_RUNS ? 4 * c->n_runs : RDMA_MAX_RUNS);
	else
		fab_report_answer(
			r, FAB_TONE_WARN,
			"Undecided between %s: in %s only %" PRIu64 " packet%s %s"
			"%s.",
			open, runs, more ? c->n_lost : c->n_delayed,
			(more ? c->n_lost : c->n_delayed) == 1 ? " was" : "s were",
			more ? "lost" : "held up", more ? more : "");
	free(open);
	free(more);
	free(runs);
}

/* Nothing was lost or late: the schemes were not put to any test. */
static void say_untouched(struct fab_report *r, const struct rdma_outcome *o,
			  const struct rdma_point *x)
{
	const struct rdma_result *fastest = fastest_at(o, x);
	char *more = more_losses(o, x), mean[FAB_HUMAN_BYTES];

	fab_report_answer(r, FAB_TONE_WARN,
			  "No scheme is recommended: no packet was lost or late, which "
			  "says nothing of how the schemes bear it%s. The fastest "
			  "transfers take %s on the mean.",
			  more, us_text(rdma_mean(fastest), mean));
	free(more);
}

static void say_alone(struct fab_report *r, const struct rdma_outcome *o,
		      const struct rdma_point *x)
{
	const struct rdma_result *best = result_at(o, x, x->choice.best);
	char *mean = mean_text(best), *share = share_text(best);

	fab_report_answer(r, FAB_TONE_PLAIN,
			  "%s: a transfer takes %s on the mean of %u run%s%s; it was "
			  "compared with no other scheme.",
			  best->scheme->name, mean, x->choice.n_runs,
			  x->choice.n_runs == 1 ? "" : "s", share);
	free(mean);
	free(share);
}

/* Times as long as the fastest takes, over the runs that both have; NaN: not known to be
 * slower. */
static double slowness(const struct rdma_result *r, const struct rdma_result *fastest)
{
	if (!r || !fastest || r->standing != FAB_RDMA_SLOWER)
		return NAN;
	return fab_rdma_ratio_of(&r->sum, &fastest->sum).value;
}

static void say_slow(struct fab_report *r, const struct rdma_outcome *o,
		     const struct rdma_result *fastest)
{
	double below = INFINITY;
	char *text = NULL;

	for (int n = 0; n < MOST_SLOW; n++) {
		const struct rdma_result *worst = NULL;
		char *cause;

		for (size_t i = 0; i < o->results.n; i++) {
			const struct rdma_result *x = &o->results.v[i];

			if (x->point == fastest->point && slowness(x, fastest) > SLOW &&
			    slowness(x, fastest) < below &&
			    (!worst || slowness(x, fastest) > slowness(worst, fastest)))
				worst = x;
		}
		if (!worst)
			break;
		below = slowness(worst, fastest);
		cause = cause_of(o, worst);
		fab_append(&text, "; ", "%s takes about %.2g times as long%s%s",
			   worst->scheme->name, below, cause ? ": " : "",
			   cause ? cause : "");
		free(cause);
	}
	if (text)
		fab_report_answer(r, FAB_TONE_PLAIN, "%s.", text);
	free(text);
}

/* Transfers that did not come to their end, of all points. */
static void say_unsound(struct fab_report *r, const struct rdma_outcome *o)
{
	uint64_t hung = 0, wrong = 0, all = 0, stalled = 0;

	for (size_t i = 0; i < o->results.n; i++) {
		const struct fab_rdma_summary *s = &o->results.v[i].sum;

		hung += s->n_hung;
		wrong += s->n_wrong;
		stalled += s->n_stalled;
		all += s->n_transfers;
	}
	if (!hung && !wrong)
		return;
	fab_report_answer(r, FAB_TONE_BAD,
			  "Of %" PRIu64 " transfers of all schemes and runs %" PRIu64
			  " did not end and %" PRIu64 " were wrong%s.",
			  all, hung, wrong, stalled ? "; they stalled for ever" : "");
}

static void answer_point(struct fab_report *r, const struct rdma_outcome *o,
			 const struct rdma_point *x)
{
	const struct rdma_result *fastest = fastest_at(o, x);

	switch (x->choice.verdict) {
	case FAB_RDMA_TAKE:
		say_choice(r, o, x);
		break;
	case FAB_RDMA_ALONE:
		say_alone(r, o, x);
		break;
	case FAB_RDMA_UNDECIDED:
		say_undecided(r, o, x);
		break;
	case FAB_RDMA_UNTOUCHED:
		say_untouched(r, o, x);
		break;
	case FAB_RDMA_NO_END:
		if (o->n_schemes == 1 && !is_real(o->scheme[0]) &&
		    fab_rdma_all_ended(&o->results.v[0].sum))
			fab_report_answer(r, FAB_TONE_PLAIN,
					  "The oracle cannot be built: it says what is "
					  "possible, %.4g us a transfer.",
					  rdma_mean(o->results.v));
		else
			fab_report_answer(r, FAB_TONE_BAD, "Take none of these here: %s.",
					  o->n_no_path == o->n_transfers
						  ? "no transfer has a path"
						  : "under no scheme did all transfers "
						    "come to their end");
		break;
	}
	if (fastest)
		say_slow(r, o, fastest);
}

/* "loss = 0.005, size = 256 KiB": what tells a point from the others; on the heap. */
static char *point_text(const struct rdma_outcome *o, const struct rdma_point *x)
{
	char *text = NULL;

	for (size_t a = 0; a < o->p->axes.n; a++) {
		enum rdma_axis axis = o->p->axes.v[a].axis;
		char human[FAB_HUMAN_BYTES];

		if (o->p->axes.v[a].n < 2)
			continue;
		if (axis == RDMA_RTO_NS || axis == RDMA_DELAY_NS)
			fab_append(&text, ", ", "%s = %s", rdma_axis_name[axis],
				   fab_human_seconds(x->at[axis] * 1e-9, human));
		else
			fab_append(&text, ", ", "%s = %.10g", rdma_axis_name[axis],
				   x->at[axis]);
	}
	return text ? text : fab_strdup("the only point");
}

/* How many points have this verdict; *first: the first of them, NULL: none. */
static size_t count_points(const struct rdma_outcome *o, enum fab_rdma_verdict verdict,
			   const struct rdma_point **first)
{
	size_t n = 0;

	*first = NULL;
	for (size_t i = 0; i < o->n_points; i++) {
		const struct rdma_point *x = &o->point[i];

		if (!x->is_there || x->choice.verdict != verdict)
			continue;
		*first = *first ? *first : x;
		n++;
	}
	return n;
}

/* A scheme at all points at which one may be taken: at how many it may be, and how slow
 * it is at worst, over the fastest there. */
struct record_of {
	size_t n_fast;
	double worst;
	const struct rdma_point *worst_at;
};

static struct record_of record_of(const struct rdma_outcome *o, uint32_t scheme)
{
	struct record_of record = {.worst = 1};

	for (size_t i = 0; i < o->n_points; i++) {
		const struct rdma_point *x = &o->point[i];
		double slow;

		if (!x->is_there || x->choice.verdict != FAB_RDMA_TAKE)
			continue;
		record.n_fast += x->choice.standing[scheme] == FAB_RDMA_FAST;
		slow = x->choice.standing[scheme] == FAB_RDMA_UNSOUND
			       ? INFINITY
			       : slowness(result_at(o, x, scheme), fastest_at(o, x));
		if (slow > record.worst) {
			record.worst = slow;
			record.worst_at = x;
		}
	}
	return record;
}

/* The scheme that may be taken at most points; of several the one that is less slow at
 * worst. */
static uint32_t best_of_sweep(const struct rdma_outcome *o, struct record_of *record)
{
	uint32_t best = 0;

	*record = (struct record_of){.worst = INFINITY};
	for (uint32_t i = 0; i < o->n_schemes; i++) {
		struct record_of own = record_of(o, i);

		if (own.n_fast > record->n_fast ||
		    (own.n_fast == record->n_fast && own.worst < record->worst)) {
			best = i;
			*record = own;
		}
	}
	return best;
}

/* Points of this verdict, of all, with the first of them; nothing for 0. */
static void say_points(struct fab_report *r, const struct rdma_outcome *o,
		       enum fab_rdma_verdict verdict, const char *what)
{
	const struct rdma_point *first;
	size_t n = count_points(o, verdict, &first);
	enum fab_tone tone = verdict == FAB_RDMA_NO_END ? FAB_TONE_BAD : FAB_TONE_WARN;
	char *where;

	if (!n)
		return;
	where = n < o->n_done ? point_text(o, first) : NULL;
	if (where)
		fab_report_answer(r, tone,
				  "At %zu of the %" PRIu64 " points %s (the first: %s).",
				  n, o->n_done, what, where);
	else
		fab_report_answer(r, tone, "At all %zu points %s.", n, what);
	free(where);
}

static void say_best(struct fab_report *r, const struct rdma_outcome *o, size_t n_take)
{
	struct record_of record;
	const char *name = o->scheme[best_of_sweep(o, &record)]->name;
	char *where;

	if (record.n_fast == n_take) {
		fab_report_answer(r, FAB_TONE_GOOD,
				  "Take %s at %zu of the %" PRIu64 " points: no other is "
				  "more than 2 %% faster there (95 %% confidence).",
				  name, n_take, o->n_done);
		return;
	}
	where = record.worst_at ? point_text(o, record.worst_at) : NULL;
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"No one scheme is the one to take at all of the %zu points that "
		"are decided: %s is at %zu%s%s.",
		n_take, name, record.n_fast,
		!where		      ? ""
		: isinf(record.worst) ? "; at others its transfers do not end"
				      : "; it is slowest, by the fastest, at ",
		where && !isinf(record.worst) ? where : "");
	free(where);
}

static void answer_sweep(struct fab_report *r, const struct rdma_outcome *o)
{
	const struct rdma_point *first;
	size_t n_take = count_points(o, FAB_RDMA_TAKE, &first);
	size_t n_alone = count_points(o, FAB_RDMA_ALONE, &first);

	if (n_take)
		say_best(r, o, n_take);
	else if (n_alone)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "One scheme: it was compared with no other.");
	else
		fab_report_answer(r, FAB_TONE_WARN,
				  "No scheme is recommended at any of the %" PRIu64
				  " points.",
				  o->n_done);
	say_points(r, o, FAB_RDMA_UNDECIDED, "it is undecided");
	say_points(r, o, FAB_RDMA_UNTOUCHED, "no packet was lost or late");
	say_points(r, o, FAB_RDMA_NO_END, "no scheme brings all transfers to their end");
}

/* Where the schemes are farthest apart: why. */
static void say_worst_point(struct fab_report *r, const struct rdma_outcome *o)
{
	const struct rdma_result *worst = NULL;
	double most = SLOW;
	char *where;

	for (size_t i = 0; i < o->results.n; i++) {
		const struct rdma_result *x = &o->results.v[i];
		const struct rdma_result *fastest = fastest_at(o, x->point);

		if (fastest && slowness(x, fastest) > most) {
			most = slowness(x, fastest);
			worst = x;
		}
	}
	if (!worst)
		return;
	where = point_text(o, worst->point);
	fab_report_answer(r, FAB_TONE_PLAIN, "Farthest apart they are at %s:", where);
	say_slow(r, o, fastest_at(o, worst->point));
	free(where);
}

/* What was chosen for ssw where nobody did. */
static void say_window(struct fab_report *r, const struct rdma_outcome *o)
{
	uint32_t least = o->p->sim.sender_window, most = least;
	bool has_ssw = false, is_given = o->p->has_sender_window;

	for (size_t a = 0; a < o->p->axes.n; a++)
		is_given |= o->p->axes.v[a].axis == RDMA_SENDER_WINDOW;
	for (size_t i = 0; i < o->results.n; i++) {
		const struct rdma_result *x = &o->results.v[i];
		uint32_t w = x->point->sim.sender_window;

		has_ssw |= x->scheme == &fab_rdma_scheme_ssw;
		most = w > most ? w : most;
	}
	if (has_ssw && !is_given && most > least)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "ssw sends up to %u packets before the first is "
				  "acknowledged, what a round trip carries "
				  "(--sender-window).",
				  most);
}

/* An answer that rests on late packets alone says nothing of losses. */
static void say_no_loss(struct fab_report *r, const struct rdma_outcome *o)
{
	const struct rdma_point *x = &o->point[0];
	char *more;

	if (o->n_points > 1 || x->choice.verdict == FAB_RDMA_UNTOUCHED)
		return;
	for (size_t i = 0; i < o->results.n; i++)
		for (int kind = 0; kind < FAB_RDMA_KINDS; kind++)
			if (o->results.v[i].sum.n.lost[kind])
				return;
	more = more_losses(o, x);
	fab_report_answer(r, FAB_TONE_WARN,
			  "No packet was lost: this says nothing of how the schemes bear "
			  "loss%s.",
			  more);
	free(more);
}

void rdma_say_no_path(struct fab_report *r, uint64_t n, uint64_t of)
{
	if (n)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"%" PRIu64 " of %" PRIu64
			" transfers have no path, there or back, and are left out.",
			n, of);
}

void rdma_answer(struct fab_report *r, const struct rdma_outcome *o)
{
	fab_cli_answer_shard(r, &o->p->shard);
	if (o->was_interrupted)
		fab_report_answer(r, FAB_TONE_WARN,
				  "Interrupted: %" PRIu64 " of %" PRIu64
				  " points are there.",
				  o->n_done, o->n_items);
	if (!o->results.n)
		return;
	if (o->n_points == 1) {
		answer_point(r, o, &o->point[0]);
	} else {
		answer_sweep(r, o);
		say_worst_point(r, o);
	}
	if (o->n_no_path == o->n_transfers)
		return;
	rdma_say_no_path(r, o->n_no_path, o->n_transfers);
	say_window(r, o);
	say_no_loss(r, o);
	say_unsound(r, o);
}
