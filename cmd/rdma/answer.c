/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric-rdma run and sweep: the scheme to take and why, before everything else. The
 * choice is that of the library; here it is put into words.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "fabric_rdma.h"

/* A scheme that is slower by this factor gets a sentence. */
static const double SLOW = 1.25;
enum { MOST_SLOW = 3, MOST_OPEN = 4 };

/* The sentences of a point or a sweep. */
struct answer {
	struct fab_report *r;
	const struct rdma_params *p;
	const struct fab_rdma_question *q;
	const struct fab_rdma_sweep *s;
	struct fab_arena *arena; /* of texts */
};

static const char *us_text(const struct answer *a, double us)
{
	char text[FAB_HUMAN_BYTES];

	return fab_arena_strdup(a->arena, fab_human_seconds(us * 1e-6, text));
}

static const struct fab_rdma_outcome *
result_at(const struct answer *a, const struct fab_rdma_point *x, uint32_t scheme)
{
	return fab_rdma_result_at(a->s, a->q, x, scheme);
}

static const struct fab_rdma_outcome *fastest_at(const struct answer *a,
						 const struct fab_rdma_point *x)
{
	return result_at(a, x, x->choice.fastest);
}

uint64_t rdma_runs_for_losses(double lost)
{
	return (uint64_t)fmin(ceil(3 * FAB_RDMA_FEW / lost), FAB_RDMA_ASKED_RUNS_MAX);
}

/* "; --runs=84 would say more": how to lose enough packets at a point. */
static const char *more_losses(const struct answer *a, const struct fab_rdma_point *x)
{
	const struct fab_rdma_outcome *r = result_at(a, x, x->choice.best);
	const struct fab_rdma_impairments *bad = &x->params.bad;
	uint64_t runs;

	if (!(bad->loss > 0))
		return bad->drop_control > 0 || bad->corrupt > 0 || bad->n_outages || !r
			       ? ""
			       : " (--loss=1e-4)";
	if (!r)
		return "";
	runs = rdma_runs_for_losses(bad->loss * (double)r->sum.n_packets / r->sum.n_runs);
	return runs >= FAB_RDMA_ASKED_RUNS_MAX
		       ? "; more transfers would say more (--transfers)"
		       : fab_arena_format(a->arena, "; --runs=%" PRIu64 " would say more",
					  runs);
}

/* "25.7 us (+- 0.2 us) on average over 8 runs, 96.3 % of the pace of the oracle" */
static const char *mean_text(const struct answer *a, const struct fab_rdma_outcome *r,
			     uint32_t n_runs)
{
	double share = r->sum.share.value;
	const char *half =
		r->ci95 > 0 ? fab_arena_format(a->arena, " (+- %s)", us_text(a, r->ci95))
			    : "";

	return fab_arena_format(
		a->arena,
		"%s%s on average over %u run%s, %.3g %% of the pace of the oracle%s",
		us_text(a, r->mean), half, n_runs, n_runs == 1 ? "" : "s", 100 * share,
		share > FAB_RDMA_AS_FAST ? ", which is a bound for one transfer alone"
					 : "");
}

static void say_choice(const struct answer *a, const struct fab_rdma_point *x)
{
	const struct fab_rdma_choice *c = &x->choice;
	const struct fab_rdma_outcome *best = result_at(a, x, c->best), *next = NULL;
	const char *why = "", *then = "";
	FAB_AUTOFREE char *equals = NULL;

	for (uint32_t i = 0; i < a->q->n_schemes; i++) {
		const struct fab_rdma_outcome *r = result_at(a, x, i);

		if (i != c->best && c->standing[i] == FAB_RDMA_FAST)
			fab_append(&equals, ", ", "%s", r->name);
		if (c->standing[i] == FAB_RDMA_SLOWER && (!next || r->mean < next->mean))
			next = r;
	}
	if (equals)
		why = fab_arena_format(
			a->arena,
			"; %s %s as fast within 2 %%, and it keeps least (%" PRIu64
			" bits a transfer)",
			equals, strchr(equals, ',') ? "are" : "is", best->context_bits);
	if (next)
		then = fab_arena_format(a->arena, "; next is %s with %s", next->name,
					us_text(a, next->mean));
	fab_report_answer(
		a->r, FAB_TONE_GOOD,
		"Take %s here%s: a transfer takes %s; no other is more than 2 %% faster (95 %% confidence)%s%s.",
		best->name,
		fab_rdma_pattern_is_drawn(a->p->pattern)
			? ", for the permutation that --seed draws"
			: "",
		mean_text(a, best, c->n_runs), why, then);
}

static int by_mean(const void *a, const void *b)
{
	const struct fab_rdma_outcome *x = *(const struct fab_rdma_outcome *const *)a;
	const struct fab_rdma_outcome *y = *(const struct fab_rdma_outcome *const *)b;

	return x->mean < y->mean ? -1 : x->mean > y->mean;
}

static void say_undecided(const struct answer *a, const struct fab_rdma_point *x)
{
	const struct fab_rdma_choice *c = &x->choice;
	const struct fab_rdma_outcome *open[RDMA_MAX_SCHEMES];
	bool is_lost = c->reason == FAB_RDMA_FEW_LOST;
	const char *what =
		!is_lost		       ? "held up"
		: !(x->params.bad.corrupt > 0) ? "lost"
		: !(x->params.bad.loss > 0) && !(x->params.bad.drop_control > 0)
			? "damaged"
			: "lost or damaged";
	uint64_t count = is_lost ? c->n_lost : c->n_delayed;
	const char *runs = c->n_runs == 1
				   ? "one run"
				   : fab_arena_format(a->arena, "%u runs", c->n_runs);
	FAB_AUTOFREE char *names = NULL;
	size_t n = 0;

	for (uint32_t i = 0; i < a->q->n_schemes; i++)
		if (c->standing[i] >= FAB_RDMA_OPEN)
			open[n++] = result_at(a, x, i);
	qsort(open, n, sizeof(*open), by_mean);
	for (size_t i = 0; i < n && i < MOST_OPEN; i++)
		fab_append(&names, i + 1 == n ? " and " : ", ", "%s (%s)", open[i]->name,
			   us_text(a, open[i]->mean));
	fab_append_rest(&names, n, MOST_OPEN);
	if (c->reason == FAB_RDMA_TOO_CLOSE)
		fab_report_answer(
			a->r, FAB_TONE_WARN,
			"Undecided between %s: %s cannot separate them by 2 %% at 95 %% confidence (--runs=%u may).",
			names, runs,
			4 * c->n_runs < FAB_RDMA_ASKED_RUNS_MAX
				? 4 * c->n_runs
				: (uint32_t)FAB_RDMA_ASKED_RUNS_MAX);
	else
		fab_report_answer(a->r, FAB_TONE_WARN,
				  "Undecided between %s: in %s only %" PRIu64
				  " packet%s %s%s.",
				  names, runs, count, count == 1 ? " was" : "s were",
				  what, is_lost ? more_losses(a, x) : "");
}

/* The slowest schemes of a point and their causes. */
static void say_slow(const struct answer *a, const struct fab_rdma_point *x)
{
	const struct fab_rdma_outcome *fastest = fastest_at(a, x);
	double below = INFINITY;
	FAB_AUTOFREE char *text = NULL;

	for (int n = 0; n < MOST_SLOW; n++) {
		const struct fab_rdma_outcome *worst = NULL;
		double most = SLOW;
		FAB_AUTOFREE char *cause = NULL;

		for (uint32_t i = 0; i < a->q->n_schemes; i++) {
			double slow = fab_rdma_slowness(result_at(a, x, i), fastest);

			if (slow > most && slow < below) {
				most = slow;
				worst = result_at(a, x, i);
			}
		}
		if (!worst)
			break;
		below = most;
		cause = fab_rdma_cause(a->s, worst);
		fab_append(&text, "; ", "%s takes about %.2g times as long%s%s",
			   worst->name, below, cause ? ": " : "", cause ? cause : "");
	}
	if (text)
		fab_report_answer(a->r, FAB_TONE_PLAIN, "%s.", text);
}

static void answer_point(const struct answer *a, const struct fab_rdma_point *x)
{
	const struct fab_rdma_outcome *best = result_at(a, x, x->choice.best);

	switch (x->choice.verdict) {
	case FAB_RDMA_TAKE:
		say_choice(a, x);
		break;
	case FAB_RDMA_ALONE:
		fab_report_answer(
			a->r, FAB_TONE_PLAIN,
			"%s: a transfer takes %s; it was compared with no other scheme.",
			best->name, mean_text(a, best, x->choice.n_runs));
		break;
	case FAB_RDMA_UNDECIDED:
		say_undecided(a, x);
		break;
	case FAB_RDMA_UNTOUCHED:
		fab_report_answer(
			a->r, FAB_TONE_WARN,
			"No scheme is recommended: no packet was lost or late, which says nothing about loss%s. The fastest transfers take %s on average.",
			more_losses(a, x), us_text(a, fastest_at(a, x)->mean));
		break;
	case FAB_RDMA_NO_END:
		if (a->q->n_schemes == 1 && a->q->scheme[0] == &fab_rdma_scheme_oracle &&
		    fab_rdma_all_ended(&a->s->results.v[0].sum))
			fab_report_answer(
				a->r, FAB_TONE_PLAIN,
				"The oracle cannot be built: it says what is possible, %.4g us a transfer.",
				a->s->results.v[0].mean);
		else
			fab_report_answer(
				a->r, FAB_TONE_BAD, "Take none of these here: %s.",
				a->s->n_no_path == a->s->n_transfers
					? "no transfer has a path"
					: "transfers hang, or bytes are wrong, under all schemes");
		break;
	}
	if (fastest_at(a, x))
		say_slow(a, x);
}

/* "loss = 0.005, size = 262144": the values that distinguish a point from the others. */
static const char *point_text(const struct answer *a, const struct fab_rdma_point *x)
{
	const char *text = NULL;

	for (size_t i = 0; i < a->p->axes.of.n; i++) {
		enum fab_rdma_axis axis = a->p->axes.of.v[i].axis;
		bool is_time = axis == FAB_RDMA_AXIS_RTO || axis == FAB_RDMA_AXIS_DELAY;
		const char *value =
			is_time ? us_text(a, x->at[axis] * 1e-3)
				: fab_arena_format(a->arena, "%.10g", x->at[axis]);

		if (a->p->axes.of.v[i].n > 1)
			text = fab_arena_format(a->arena, "%s%s%s = %s", text ? text : "",
						text ? ", " : "",
						fab_rdma_axis_name[axis], value);
	}
	return text ? text : "the only point";
}

/* How many points have this verdict; *first: the first of them, NULL: none. */
static size_t count_points(const struct answer *a, enum fab_rdma_verdict verdict,
			   const struct fab_rdma_point **first)
{
	size_t n = 0;

	*first = NULL;
	for (size_t i = a->s->n_points; i--;) {
		const struct fab_rdma_point *x = &a->s->point[i];

		if (!x->is_there || x->choice.verdict != verdict)
			continue;
		*first = x;
		n++;
	}
	return n;
}

/* The scheme that may be taken at most points, and where it is slowest. */
static void say_best(const struct answer *a, size_t n_take)
{
	struct fab_rdma_standing_of best;
	const char *name = a->q->scheme[fab_rdma_sweep_best(a->s, a->q, &best)]->name;

	if (best.n_fast == n_take)
		fab_report_answer(
			a->r, FAB_TONE_GOOD,
			"Take %s at %zu of the %" PRIu64
			" points: no other is more than 2 %% faster there (95 %% confidence).",
			name, n_take, a->s->n_done);
	else
		fab_report_answer(
			a->r, FAB_TONE_PLAIN,
			"No one scheme is the one to take at all of the %zu points that are decided: %s is at %zu%s%s.",
			n_take, name, best.n_fast,
			!best.worst_at	    ? ""
			: isinf(best.worst) ? "; at others its transfers do not end"
					    : "; it is slowest, by the fastest, at ",
			best.worst_at && !isinf(best.worst) ? point_text(a, best.worst_at)
							    : "");
}

static void answer_sweep(const struct answer *a)
{
	static const struct {
		enum fab_rdma_verdict verdict;
		enum fab_tone tone;
		const char *text;
	} of[] = {
		{FAB_RDMA_UNDECIDED, FAB_TONE_WARN, "it is undecided"},
		{FAB_RDMA_UNTOUCHED, FAB_TONE_WARN, "no packet was lost or late"},
		{FAB_RDMA_NO_END, FAB_TONE_BAD,
		 "transfers hang, or bytes are wrong, under all schemes"},
	};
	const struct fab_rdma_point *first;
	size_t n = count_points(a, FAB_RDMA_TAKE, &first);
	const struct fab_rdma_outcome *worst = NULL;
	double most = SLOW;

	if (n)
		say_best(a, n);
	else if (count_points(a, FAB_RDMA_ALONE, &first))
		fab_report_answer(a->r, FAB_TONE_PLAIN,
				  "One scheme: it was compared with no other.");
	else
		fab_report_answer(a->r, FAB_TONE_WARN,
				  "No scheme is recommended at any of the %" PRIu64
				  " points.",
				  a->s->n_done);
	for (size_t i = 0; i < FAB_COUNT(of); i++) {
		n = count_points(a, of[i].verdict, &first);
		if (n && n < a->s->n_done)
			fab_report_answer(
				a->r, of[i].tone,
				"At %zu of the %" PRIu64 " points %s (the first: %s).", n,
				a->s->n_done, of[i].text, point_text(a, first));
		else if (n)
			fab_report_answer(a->r, of[i].tone, "At all %zu points %s.", n,
					  of[i].text);
	}
	/* where the schemes are farthest apart */
	for (size_t i = 0; i < a->s->results.n; i++) {
		const struct fab_rdma_outcome *x = &a->s->results.v[i];
		double slow = fab_rdma_slowness(x, fastest_at(a, x->point));

		if (slow > most) {
			most = slow;
			worst = x;
		}
	}
	if (!worst)
		return;
	fab_report_answer(a->r, FAB_TONE_PLAIN,
			  "Farthest apart they are at %s:", point_text(a, worst->point));
	say_slow(a, worst->point);
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

/* Contexts that --memory holds. */
static void say_contexts(const struct answer *a)
{
	char *text = NULL, memory[FAB_HUMAN_BYTES];

	for (size_t i = 0; a->q->memory_limits && i < a->s->results.n; i++) {
		const struct fab_rdma_outcome *r = &a->s->results.v[i];

		if (r->context_bits)
			fab_append(&text, ", ", "%u of %s", r->params.contexts, r->name);
	}
	if (text)
		fab_report_answer(a->r, FAB_TONE_PLAIN,
				  "In %s a node has contexts for transfers: %s.",
				  fab_human_bytes(a->p->memory, memory), text);
	free(text);
}

/* Limits of the answer: a window that was chosen for ssw, no loss, transfers that did not
 * end. */
static void say_limits(const struct answer *a)
{
	const struct fab_rdma_point *x = &a->s->point[0];
	bool has_ssw = false, is_given = a->q->has_sender_window;
	uint64_t hung = 0, wrong = 0, all = 0, stalled = 0, lost = 0;
	uint32_t most = a->q->params.sender_window;

	for (size_t i = 0; i < a->p->axes.of.n; i++)
		is_given |= a->p->axes.of.v[i].axis == FAB_RDMA_AXIS_SENDER_WINDOW;
	for (size_t i = 0; i < a->s->results.n; i++) {
		const struct fab_rdma_outcome *r = &a->s->results.v[i];

		has_ssw |= r->scheme == &fab_rdma_scheme_ssw;
		if (r->params.sender_window > most)
			most = r->params.sender_window;
		hung += r->sum.n_hung;
		wrong += r->sum.n_wrong;
		stalled += r->sum.n_stalled;
		all += r->sum.n_transfers;
		lost += r->sum.n.damaged + r->sum.n_wrong + fab_rdma_lost(&r->sum.n);
	}
	if (has_ssw && !is_given && most > a->q->params.sender_window)
		fab_report_answer(
			a->r, FAB_TONE_PLAIN,
			"ssw sends up to %u packets before the first is acknowledged, what a round trip carries (--set sender-window).",
			most);
	if (!lost && a->s->n_points == 1 && x->choice.verdict != FAB_RDMA_UNTOUCHED)
		fab_report_answer(a->r, FAB_TONE_WARN,
				  "No packet was lost: this says nothing about loss%s.",
				  more_losses(a, x));
	if (hung || wrong)
		fab_report_answer(
			a->r, FAB_TONE_BAD,
			"Of %" PRIu64 " transfers of all schemes and runs %" PRIu64
			" did not end and %" PRIu64 " were wrong%s%s.",
			all, hung, wrong, stalled ? "; they stalled for ever" : "",
			wrong && a->q->params.bad.corrupt > 0
				? "; damaged packets pass the receiver's check (--set check-bits)"
				: "");
}

void rdma_answer(struct fab_report *r, const struct fab_work *w)
{
	const struct rdma_outcome *o = w->outcome;
	const struct fab_rdma_sweep *s = &o->sweep;
	const struct answer a = {r, w->params, &o->q, s, w->arena};

	fab_cli_answer_shard(r, &a.p->shard);
	if (o->was_interrupted)
		fab_report_answer(r, FAB_TONE_WARN,
				  "Interrupted: %" PRIu64 " of %" PRIu64
				  " points are there.",
				  s->n_done, s->n_items);
	if (!s->results.n)
		return;
	if (s->n_points == 1)
		answer_point(&a, &s->point[0]);
	else
		answer_sweep(&a);
	if (s->n_no_path == s->n_transfers)
		return;
	rdma_say_no_path(r, s->n_no_path, s->n_transfers);
	if (s->n_points == 1)
		say_contexts(&a);
	say_limits(&a);
}
