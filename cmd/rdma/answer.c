/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma: which scheme to take here and why, before everything else. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/mem.h"
#include "fabric_rdma.h"

/* As fast as the fastest, for who has to choose; and what is worth a word. */
static const double AS_FAST = 1.02, SLOW = 1.25;
enum { MOST_TOLD = 3 };

static bool is_real(const struct fab_rdma_scheme *scheme)
{
	return scheme != &fab_rdma_scheme_oracle;
}

static bool is_sound(const struct rdma_result *r)
{
	return fab_rdma_all_ended(&r->sum);
}

static uint64_t bits_of(const struct rdma_outcome *o, const struct rdma_result *r)
{
	struct rdma_row row;

	rdma_row_init(&row, o, r);
	return row.context_bits;
}

/* The fastest at a point of those that come to their end; NULL: none does. */
static const struct rdma_result *fastest_at(const struct rdma_outcome *o,
					    const struct rdma_point *x)
{
	const struct rdma_result *best = NULL;

	for (size_t i = 0; i < o->results.n; i++) {
		const struct rdma_result *r = &o->results.v[i];

		if (r->point == x && is_real(r->scheme) && is_sound(r) &&
		    (!best || rdma_mean(r) < rdma_mean(best)))
			best = r;
	}
	return best;
}

/* Of those as fast as the fastest the one that keeps least. */
static const struct rdma_result *choose_at(const struct rdma_outcome *o,
					   const struct rdma_point *x)
{
	const struct rdma_result *fastest = fastest_at(o, x), *best = fastest;

	for (size_t i = 0; fastest && i < o->results.n; i++) {
		const struct rdma_result *r = &o->results.v[i];

		if (r->point == x && is_real(r->scheme) && is_sound(r) &&
		    rdma_mean(r) <= AS_FAST * rdma_mean(fastest) &&
		    bits_of(o, r) < bits_of(o, best))
			best = r;
	}
	return best;
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

/* "irn, sack-ro": others as fast as this one; on the heap, NULL: none. */
static char *equals_of(const struct rdma_outcome *o, const struct rdma_result *best,
		       const struct rdma_result *fastest)
{
	char *text = NULL;

	for (size_t i = 0; i < o->results.n; i++) {
		const struct rdma_result *r = &o->results.v[i];

		if (r != best && r->point == best->point && is_real(r->scheme) &&
		    is_sound(r) && rdma_mean(r) <= AS_FAST * rdma_mean(fastest))
			fab_append(&text, ", ", "%s", r->scheme->name);
	}
	return text;
}

/* The next behind those. */
static const struct rdma_result *next_of(const struct rdma_outcome *o,
					 const struct rdma_result *fastest)
{
	const struct rdma_result *next = NULL;

	for (size_t i = 0; i < o->results.n; i++) {
		const struct rdma_result *r = &o->results.v[i];

		if (r->point == fastest->point && is_real(r->scheme) && is_sound(r) &&
		    rdma_mean(r) > AS_FAST * rdma_mean(fastest) &&
		    (!next || rdma_mean(r) < rdma_mean(next)))
			next = r;
	}
	return next;
}

static void say_choice(struct fab_report *r, const struct rdma_outcome *o,
		       const struct rdma_result *best, const struct rdma_result *fastest)
{
	const struct rdma_result *next = next_of(o, fastest);
	double share = fab_tally_mean(&best->sum.share);
	char *equals = equals_of(o, best, fastest), *why = NULL;
	char mean[FAB_HUMAN_BYTES], other[FAB_HUMAN_BYTES];

	if (equals)
		fab_append(&why, "",
			   "; %s %s as fast within 2 %%, and it keeps least "
			   "(%" PRIu64 " bits a transfer)",
			   equals, strchr(equals, ',') ? "are" : "is", bits_of(o, best));
	if (next)
		fab_append(&why, "", "; next is %s with %s", next->scheme->name,
			   us_text(rdma_mean(next), other));
	fab_report_answer(r, FAB_TONE_GOOD,
			  "Take %s here: a transfer takes %s on the mean, %.3g %% of the "
			  "pace of the oracle%s%s.",
			  best->scheme->name, us_text(rdma_mean(best), mean), 100 * share,
			  share > AS_FAST ? ", which sends all at once" : "",
			  why ? why : "");
	free(equals);
	free(why);
}

/* How much slower than the fastest, worst first; NaN counts as endless. */
static double slowness(const struct rdma_result *r, const struct rdma_result *fastest)
{
	return is_sound(r) ? rdma_mean(r) / rdma_mean(fastest) : INFINITY;
}

static void say_slow(struct fab_report *r, const struct rdma_outcome *o,
		     const struct rdma_result *fastest)
{
	double below = INFINITY;
	char *text = NULL;

	for (int told = 0; told < MOST_TOLD; told++) {
		const struct rdma_result *worst = NULL;
		char *cause;

		for (size_t i = 0; i < o->results.n; i++) {
			const struct rdma_result *x = &o->results.v[i];

			if (x->point == fastest->point && is_sound(x) &&
			    slowness(x, fastest) > SLOW && slowness(x, fastest) < below &&
			    (!worst || slowness(x, fastest) > slowness(worst, fastest)))
				worst = x;
		}
		if (!worst)
			break;
		below = slowness(worst, fastest);
		cause = cause_of(o, worst);
		fab_append(&text, "; ", "%s takes %.3g times as long%s%s",
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
	const struct rdma_result *best = choose_at(o, x), *fastest = fastest_at(o, x);

	if (best)
		say_choice(r, o, best, fastest);
	else if (o->n_schemes == 1 && !is_real(o->scheme[0]) && is_sound(o->results.v))
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "The oracle cannot be built: it says what is possible, "
				  "%.4g us a transfer.",
				  rdma_mean(o->results.v));
	else
		fab_report_answer(r, FAB_TONE_BAD, "Take none of these here: %s.",
				  o->n_no_path == o->n_transfers
					  ? "no transfer has a path"
					  : "under no scheme did all transfers come to "
					    "their end");
	if (fastest)
		say_slow(r, o, fastest);
}

/* What a scheme is at all points: how often the one to take, how slow on the mean and
 * at worst against the fastest. */
struct record_of {
	size_t n_best, n_points;
	double log_sum, worst;
	const struct rdma_point *worst_at;
};

static struct record_of record_of(const struct rdma_outcome *o,
				  const struct fab_rdma_scheme *scheme)
{
	struct record_of record = {0};

	for (size_t i = 0; i < o->n_points; i++) {
		const struct rdma_result *r = rdma_result_of(o, &o->point[i], scheme);
		const struct rdma_result *fastest = fastest_at(o, &o->point[i]);
		double slow;

		if (!r || !fastest)
			continue;
		slow = slowness(r, fastest);
		record.n_points++;
		record.n_best += choose_at(o, &o->point[i]) == r;
		record.log_sum += log(slow);
		if (slow > record.worst) {
			record.worst = slow;
			record.worst_at = &o->point[i];
		}
	}
	return record;
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

/* Points at which no scheme that can be built brings all transfers to their end. */
static size_t say_hopeless(struct fab_report *r, const struct rdma_outcome *o)
{
	const struct rdma_point *first = NULL;
	size_t n = 0, n_points = 0;
	char *where;

	for (size_t i = 0; i < o->n_points; i++) {
		const struct rdma_point *x = &o->point[i];
		bool is_there = false;

		for (size_t k = 0; k < o->n_schemes; k++)
			is_there = is_there || (is_real(o->scheme[k]) &&
						rdma_result_of(o, x, o->scheme[k]));
		n_points += is_there;
		if (!is_there || fastest_at(o, x))
			continue;
		n++;
		first = first ? first : x;
	}
	if (!n || n == n_points)
		return n;
	where = point_text(o, first);
	fab_report_answer(r, FAB_TONE_BAD,
			  "At %zu of the %zu points no scheme brings all transfers to "
			  "their end (the first: %s).",
			  n, n_points, where);
	free(where);
	return n;
}

static void answer_sweep(struct fab_report *r, const struct rdma_outcome *o)
{
	const char *at = say_hopeless(r, o) ? " elsewhere" : "";
	const struct fab_rdma_scheme *best = NULL;
	struct record_of of_best = {.log_sum = INFINITY};

	for (size_t i = 0; i < o->n_schemes; i++) {
		struct record_of record = record_of(o, o->scheme[i]);

		if (is_real(o->scheme[i]) && record.n_points &&
		    record.log_sum < of_best.log_sum) {
			best = o->scheme[i];
			of_best = record;
		}
	}
	if (!best) {
		fab_report_answer(r, FAB_TONE_BAD,
				  "Take none of these here: none brings all transfers to "
				  "their end at all points of the sweep.");
		return;
	}
	if (of_best.worst > 1.005) {
		char *where = point_text(o, of_best.worst_at);

		fab_report_answer(r, FAB_TONE_GOOD,
				  "Take %s%s: of the %zu points it is the one to take at "
				  "%zu, and at worst %.3g times as slow as the fastest "
				  "there (%s).",
				  best->name, at, of_best.n_points, of_best.n_best,
				  of_best.worst, where);
		free(where);
	} else if (of_best.n_points > 1) {
		fab_report_answer(r, FAB_TONE_GOOD,
				  "Take %s%s: none is faster at any of the %zu points.",
				  best->name, at, of_best.n_points);
	} else {
		fab_report_answer(r, FAB_TONE_GOOD, "Take %s%s: none is faster.",
				  best->name, at);
	}
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

		if (fastest && is_sound(x) && slowness(x, fastest) > most) {
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

uint64_t rdma_runs_for_losses(double lost)
{
	return (uint64_t)fmin(ceil(3 * RDMA_FEW_LOSSES / lost), RDMA_MAX_RUNS);
}

static uint64_t runs_for(const struct rdma_result *r)
{
	return rdma_runs_for_losses(r->point->sim.bad.loss * (double)r->sum.n_packets /
				    r->sum.n_runs);
}

/* The fewest of all points with losses; UINT64_MAX: there is none. */
static uint64_t least_runs(const struct rdma_outcome *o)
{
	uint64_t runs = UINT64_MAX;

	for (size_t i = 0; i < o->results.n; i++) {
		const struct rdma_result *x = &o->results.v[i];

		if (x->point->sim.bad.loss > 0 && x->sum.n_packets)
			runs = runs_for(x) < runs ? runs_for(x) : runs;
	}
	return runs;
}

static void say_luck(struct fab_report *r, const struct rdma_outcome *o)
{
	uint64_t most = 0, runs = least_runs(o);

	for (size_t i = 0; i < o->results.n; i++) {
		const struct rdma_result *x = &o->results.v[i];
		uint64_t lost = x->sum.n.lost[FAB_RDMA_DATA];

		if (x->point->sim.bad.loss > 0)
			most = lost > most ? lost : most;
	}
	if (most && most < RDMA_FEW_LOSSES && runs != UINT64_MAX && runs > o->p->runs)
		fab_report_answer(r, FAB_TONE_WARN,
				  "Under no scheme were more than %" PRIu64
				  " data packet%s lost: luck decides; --runs=%" PRIu64
				  " would say more.",
				  most, most == 1 ? "" : "s", runs);
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

/* Is anything but loss of data packets asked for that could lose some? */
static bool may_lose_otherwise(const struct rdma_outcome *o)
{
	for (size_t i = 0; i < o->results.n; i++) {
		const struct fab_rdma_impairments *bad = &o->results.v[i].point->sim.bad;

		if (bad->drop_control > 0 || bad->n_outages)
			return true;
	}
	return false;
}

/* An answer without losses says nothing of them. */
static void say_no_loss(struct fab_report *r, const struct rdma_outcome *o)
{
	uint64_t runs = least_runs(o);
	char more[64] = " (--loss=1e-4)";

	for (size_t i = 0; i < o->results.n; i++)
		for (int kind = 0; kind < FAB_RDMA_KINDS; kind++)
			if (o->results.v[i].sum.n.lost[kind])
				return;
	if (runs >= RDMA_MAX_RUNS && runs != UINT64_MAX)
		snprintf(more, sizeof(more),
			 "; more transfers would say more (--transfers)");
	else if (runs != UINT64_MAX)
		snprintf(more, sizeof(more), "; --runs=%" PRIu64 " would say more", runs);
	else if (may_lose_otherwise(o))
		*more = '\0';
	fab_report_answer(r, FAB_TONE_WARN,
			  "No packet was lost: this says nothing of how the schemes bear "
			  "loss%s.",
			  more);
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
	say_luck(r, o);
	say_unsound(r, o);
}
