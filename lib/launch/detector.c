/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Failure detection followed event by event, its bound, the worst of all placements of
 * failures, and the parts of MPD's ring.
 */
#include "launch/detector.h"

#include "base/units.h"
#include "event/schedule.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { OFFSETS_MAX = 64 };
#define PLACEMENTS_MAX ((uint64_t)1 << 24)
enum { TIMEOUT, NEWS }; /* a node learns of a failure: item failure << 32 | node */

/* State of a node. */
struct watch {
	uint32_t emitter; /* the node that it observes */
	double port_us;	  /* it can send again */
	uint32_t n_news;
};

struct run {
	const struct fab_detector *d;
	const uint32_t *failed;
	uint32_t n_offsets;
	uint32_t offset[OFFSETS_MAX]; /* of the receivers of news, in this order */
	uint32_t *number;	      /* [n] of the failure, FAB_NONE: it lives */
	struct watch *watch;	      /* [n] */
	double *knows_us; /* [f * n] earliest news of a failure at a node, so far */
	bool *knows;	  /* [f * n] */
	struct fab_schedule schedule; /* times are fab_time_of_seconds(), of us */
	struct fab_detection *out;
};

int fab_detector_check(const struct fab_detector *d, struct fab_err *err)
{
	const double all[] = {d->period_us, d->timeout_us, d->message_us};
	char text[FAB_HUMAN_BYTES];

	if (d->n < 2 || d->n > FAB_DETECTOR_NODES_MAX)
		return fab_fail(err, EINVAL, "%u nodes: expected 2 to %d", d->n,
				FAB_DETECTOR_NODES_MAX);
	for (size_t i = 0; i < FAB_COUNT(all); i++)
		if (!(all[i] > 0 && all[i] <= 1e15))
			return fab_fail(err, EINVAL,
					"%g us: expected a time above 0, at most 1e15",
					all[i]);
	if (d->timeout_us <= d->period_us + d->message_us)
		return fab_fail(
			err, EINVAL,
			"a timeout of %s (timeout_s): expected more than a period of %.6g s and a message, or live nodes are considered dead",
			fab_human_seconds(d->timeout_us / 1e6, text), d->period_us / 1e6);
	return 0;
}

double fab_detector_bound_us(const struct fab_detector *d, uint32_t f, bool *is_proven)
{
	double pairs = (double)f * (f + 1.0), log = log2(d->n);

	if (is_proven)
		*is_proven = f < floor(log);
	return pairs * d->timeout_us + f * d->message_us +
	       pairs / 2 * 8 * d->message_us * log;
}

struct fab_suspicion fab_detector_suspicion(const struct fab_detector *d, double delay_us,
					    double loss)
{
	enum { POINTS = 1000, TERMS = 100000 };
	struct fab_suspicion s = {.probability = 0, .every_us = INFINITY};

	for (int i = 0; i < POINTS; i++) {
		double slack = d->timeout_us - delay_us * log1p(-(i + 0.5) / POINTS);
		double all_missed = 1;

		for (int j = 1; j < TERMS && all_missed > 0; j++) {
			double left_us = slack - j * d->period_us;

			if (left_us <= 0)
				break;
			all_missed *=
				loss +
				(1 - loss) *
					(delay_us > 0 ? exp(-left_us / delay_us) : 0);
		}
		s.probability += all_missed / POINTS;
	}
	if (s.probability > 0)
		s.every_us = d->period_us / (d->n * (1 - loss) * s.probability);
	return s;
}

int fab_detector_risks(const struct fab_detector *d, double delay_us, double loss,
		       struct fab_risk_row out[FAB_N_RISKS], struct fab_err *err)
{
	static const double factors[4] = {1.1, 2.1, 3.1, 5.1};

	if (delay_us > 100 * d->period_us)
		return fab_fail(
			err, EINVAL,
			"a mean delay of %g us: expected at most 100 periods of %g us",
			delay_us, d->period_us);
	for (size_t i = 0; i < FAB_N_RISKS; i++) {
		struct fab_detector x = *d;
		struct fab_suspicion s;

		if (i && i <= FAB_COUNT(factors))
			x.period_us = d->timeout_us / factors[i - 1];
		else if (i)
			x.timeout_us = d->period_us * factors[(i - 1) % 4];
		s = fab_detector_suspicion(&x, delay_us, loss);
		out[i] = (struct fab_risk_row){
			.heartbeat_s = x.period_us / 1e6,
			.timeout_s = x.timeout_us / 1e6,
			.heartbeats_a_second = 1e6 / x.period_us * d->n,
			.detected_s = (x.timeout_us + x.message_us) / 1e6,
			.false_suspicion = s.probability,
			.false_every_s = s.every_us / 1e6,
			.is_present = !i};
	}
	return 0;
}

/* Distances of the receivers of news: powers of two on both sides, each node once. */
static uint32_t offsets(uint32_t n, uint32_t *out)
{
	uint32_t n_out = 0, far = 1;

	while (far < n && far << 1 < n)
		far <<= 1;
	for (; far; far /= 2)
		for (unsigned side = 0; side < 2; side++) {
			uint32_t offset = side ? n - far : far, i = 0;

			while (i < n_out && out[i] != offset)
				i++;
			if (i == n_out && offset % n)
				out[n_out++] = offset;
		}
	return n_out;
}

uint32_t fab_detector_degree(uint32_t n)
{
	uint32_t out[OFFSETS_MAX];

	return n < 2 ? 0 : offsets(n, out);
}

static void add(struct run *r, double time, uint8_t kind, uint32_t failure, uint32_t node)
{
	fab_schedule_add(&r->schedule, fab_time_of_seconds(time), kind,
			 (uint64_t)failure << 32 | node);
}

/* A message leaves when its sender is free; returns its arrival. */
static double send(struct run *r, uint32_t from, double now)
{
	struct watch *w = &r->watch[from];

	w->port_us = fmax(w->port_us, now) + r->d->message_us;
	return w->port_us;
}

/* Observe the nearest node before that is not known to be dead: from its first heartbeat
 * on, or until the timeout of one that never comes. */
static void observe_next(struct run *r, uint32_t node, double now)
{
	uint32_t e = r->watch[node].emitter;
	double there;

	while (r->number[e] != FAB_NONE &&
	       r->knows[(size_t)r->number[e] * r->d->n + node] && e != node)
		e = e ? e - 1 : r->d->n - 1;
	r->watch[node].emitter = e;
	if (e == node) /* alone */
		return;
	there = send(r, node, now);
	if (r->number[e] == FAB_NONE)
		r->out->repaired_us = fmax(r->out->repaired_us, there);
	else
		add(r, now + 2 * r->d->timeout_us, TIMEOUT, r->number[e], node);
}

/* A node learns of a failure: it sends news, and replaces its emitter if that failed. */
static void learn(struct run *r, uint32_t node, uint32_t failure, double now)
{
	bool *knows = &r->knows[(size_t)failure * r->d->n + node];
	struct watch *w = &r->watch[node];

	if (*knows || r->number[node] != FAB_NONE)
		return;
	*knows = true;
	if (r->out->first_us < 0)
		r->out->first_us = now;
	r->out->stable_us = fmax(r->out->stable_us, now);
	for (uint32_t i = 0; i < r->n_offsets; i++) {
		uint32_t to = (uint32_t)(((uint64_t)node + r->offset[i]) % r->d->n);
		double *best = &r->knows_us[(size_t)failure * r->d->n + to];
		double there = send(r, node, now);

		w->n_news++;
		if (there < *best) { /* later news change nothing */
			*best = there;
			add(r, there, NEWS, failure, to);
		}
	}
	if (w->emitter == r->failed[failure])
		observe_next(r, node, now);
}

int fab_detector_run(const struct fab_detector *d, const uint32_t *failed, uint32_t f,
		     struct fab_detection *out, struct fab_err *err)
{
	FAB_AUTO(fab_arena_free) struct fab_arena memory = FAB_ARENA_INIT;
	struct run r = {.d = d, .failed = failed, .out = out};
	size_t n_pairs = (size_t)f * d->n;
	struct fab_due due;

	if (n_pairs > FAB_DETECTOR_PAIRS_MAX)
		return fab_fail(
			err, ERANGE,
			"%u failures of %u nodes: expected at most %d pairs of both", f,
			d->n, FAB_DETECTOR_PAIRS_MAX);
	*out = (struct fab_detection){.first_us = -1};
	r.n_offsets = offsets(d->n, r.offset);
	r.number = fab_arena_none(&memory, d->n);
	r.watch = FAB_ARENA_NEW0(&memory, d->n, struct watch);
	r.knows_us = FAB_ARENA_NEW(&memory, n_pairs + 1, double);
	r.knows = FAB_ARENA_NEW0(&memory, n_pairs + 1, bool);
	for (size_t i = 0; i < n_pairs; i++)
		r.knows_us[i] = INFINITY;
	for (uint32_t i = 0; i < f; i++)
		r.number[failed[i]] = i;
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t e = r.watch[i].emitter = i ? i - 1 : d->n - 1;

		if (r.number[e] != FAB_NONE)
			add(&r, d->message_us + d->timeout_us, TIMEOUT, r.number[e], i);
	}
	while (fab_schedule_take(&r.schedule, &due))
		learn(&r, (uint32_t)due.item, (uint32_t)(due.item >> 32),
		      fab_seconds_of_time(due.time));
	for (uint32_t i = 0; i < d->n; i++) {
		out->news += r.watch[i].n_news;
		if (r.watch[i].n_news > out->most_news)
			out->most_news = r.watch[i].n_news;
	}
	for (size_t i = 0; i < n_pairs; i++)
		if (!r.knows[i] && r.number[i % d->n] == FAB_NONE)
			out->stable_us = INFINITY;
	out->first_us = fmax(out->first_us, 0);
	out->bound_us = fab_detector_bound_us(d, f, NULL);
	out->is_within = out->stable_us <= out->bound_us;
	fab_schedule_fini(&r.schedule);
	return 0;
}

void fab_detector_place(uint32_t n, uint32_t f, bool is_near, uint32_t *failed)
{
	for (uint32_t i = 0; i < f; i++)
		failed[i] = is_near ? (i + 1) % n : (uint32_t)((uint64_t)i * n / f);
}

int fab_detector_worst(struct fab_arena *memory, const struct fab_detector *d, uint32_t f,
		       struct fab_detector_worst *out, struct fab_err *err)
{
	uint32_t *place = FAB_ARENA_NEW(memory, f, uint32_t);
	uint32_t *gap = FAB_ARENA_NEW(memory, f, uint32_t), i;
	struct fab_detection x;
	double n_all = 1; /* placements with one failure at node 0 */
	int rc;

	*out = (struct fab_detector_worst){.failed = FAB_ARENA_NEW(memory, f, uint32_t)};
	for (i = 1; i < f; i++)
		n_all = n_all * (d->n - i) / i;
	if (n_all > (double)PLACEMENTS_MAX * f)
		return fab_fail(err, ERANGE,
				"%u failures of %u nodes: more than %llu placements", f,
				d->n, (unsigned long long)PLACEMENTS_MAX);
	for (i = 0; i < f; i++)
		place[i] = i;
	do {			      /* all lists of f - 1 places behind 0, ascending */
		bool is_least = true; /* of the gaps, turned so that each comes first */

		for (i = 0; i < f; i++)
			gap[i] = (i + 1 < f ? place[i + 1] : d->n) - place[i];
		for (uint32_t turn = 1; turn < f && is_least; turn++) {
			for (i = 0; i < f && gap[(turn + i) % f] == gap[i];)
				i++;
			is_least = i == f || gap[(turn + i) % f] > gap[i];
		}
		if (is_least) {
			rc = fab_detector_run(d, place, f, &x, err);
			if (rc)
				return rc;
			out->n_beyond += !x.is_within;
			if (!out->n_placements++ || x.stable_us > out->worst.stable_us) {
				out->worst = x;
				memcpy(out->failed, place, f * sizeof(*place));
			}
		}
		for (i = f; i > 1 && place[i - 1] == d->n - f + i - 1;)
			i--;
		if (i > 1)
			place[i - 1]++;
		for (uint32_t k = i; i > 1 && k < f; k++)
			place[k] = place[k - 1] + 1;
	} while (i > 1);
	return 0;
}

void fab_failure_row_fill(const struct fab_detector *d, const struct fab_detection *x,
			  const uint32_t *failed, uint32_t f, struct fab_failure_row *row)
{
	FAB_AUTOFREE bool *is_dead = FAB_NEW0((size_t)d->n + 1, bool);
	uint32_t start = 0, size = 0; /* a node that failed; nodes of the part so far */

	*row = (struct fab_failure_row){
		.nodes = d->n,
		.failures = f,
		.first_s = x->first_us / 1e6,
		.stable_s = isfinite(x->stable_us) ? x->stable_us / 1e6 : (double)NAN,
		.repaired_s = x->repaired_us / 1e6,
		.bound_s = x->bound_us / 1e6,
		.within = x->is_within,
		.news = x->news,
		.most_news = x->most_news,
		.placements = 1};
	fab_detector_bound_us(d, f, &row->proven);
	/* parts of MPD's ring, each between two nodes that failed */
	for (uint32_t i = 0; i < f; i++)
		is_dead[start = failed[i]] = true;
	for (uint32_t i = 1; i <= d->n; i++) {
		bool is_end = is_dead[(start + i) % d->n] || (!f && i == d->n);

		size += !is_dead[(start + i) % d->n];
		if (!is_end)
			continue;
		row->mpd_parts += size > 0;
		row->mpd_largest = size > row->mpd_largest ? size : row->mpd_largest;
		size = 0;
	}
}

int fab_detector_table(struct fab_arena *memory, const struct fab_detector *d, uint32_t f,
		       bool is_exhaustive, struct fab_failure_row out[3],
		       struct fab_err *err)
{
	static const char *const names[] = {"near", "far"};
	uint32_t *failed = FAB_ARENA_NEW(memory, f, uint32_t);
	struct fab_detector_worst worst;
	struct fab_detection x;
	int rc = 0;

	for (uint32_t i = 0; i < 2 && !rc; i++) {
		fab_detector_place(d->n, f, !i, failed);
		rc = fab_detector_run(d, failed, f, &x, err);
		if (!rc)
			fab_failure_row_fill(d, &x, failed, f, &out[i]);
		out[i].placement = names[i];
	}
	if (rc || !is_exhaustive)
		return rc;
	rc = fab_detector_worst(memory, d, f, &worst, err);
	if (rc)
		return rc;
	fab_failure_row_fill(d, &worst.worst, worst.failed, f, &out[2]);
	out[2].placement = "worst";
	out[2].within = !worst.n_beyond;
	out[2].placements = worst.n_placements;
	return 0;
}

/* Fences without a node. */

enum { TRIED_MAX = 64 };

/* Effects of one lost node. */
struct loss {
	uint32_t waiting, direct;
	double sent;
};

/* A node whose message never arrives is stuck from that step on. */
static void follow_loss(const struct fab_fence_plan *plan, uint32_t lost,
			uint32_t *stuck_at, struct loss *out)
{
	size_t n = plan->messages.n;
	uint32_t n_sent = 0;

	*out = (struct loss){0};
	for (uint32_t i = 0; i < plan->n_nodes; i++)
		stuck_at[i] = UINT32_MAX; /* the first step that it cannot end */
	stuck_at[lost] = 0;
	for (size_t i = 0; i < n; i++) {
		const struct fab_fence_message *m = &plan->messages.v[i];

		/* messages of a step go out before its own ones must be there */
		if (m->from != lost && stuck_at[m->from] >= m->step)
			n_sent++;
		else if (stuck_at[m->to] > m->step)
			stuck_at[m->to] = m->step;
		out->direct += m->from == lost;
	}
	for (uint32_t i = 0; i < plan->n_nodes; i++)
		out->waiting += i != lost && stuck_at[i] != UINT32_MAX;
	out->sent = n ? (double)n_sent / (double)n : 0;
}

int fab_hang_find(struct fab_arena *memory, struct fab_fence_chosen fence,
		  const struct fab_fence_job *job, struct fab_hang *out,
		  struct fab_err *err)
{
	FAB_AUTO(fab_arena_free) struct fab_arena scratch = FAB_ARENA_INIT;
	struct fab_fence_plan plan;
	int rc = fab_fence_plan_make(&scratch, fence, job, &plan, err);
	uint32_t *stuck_at, n = job->n_nodes, n_tried = n < TRIED_MAX ? n : TRIED_MAX;

	*out = (struct fab_hang){.fence = fab_fence_text(memory, fence),
				 .waiting_least = UINT32_MAX,
				 .direct_least = UINT32_MAX,
				 .sent_least = 1};
	if (rc)
		return rc;
	stuck_at = FAB_ARENA_NEW(&scratch, n, uint32_t);
	for (uint32_t i = 0; i < n_tried; i++) {
		/* of a ring: the steps are the same, the k-th node behind the lost one
		 * receives k - 1 messages of n - 1 */
		struct loss x = {.waiting = n - 1, .direct = 1, .sent = n > 1 ? 0.5 : 0};

		if (plan.n_repeats <= 1)
			follow_loss(&plan, (uint32_t)((uint64_t)i * n / n_tried),
				    stuck_at, &x);
		out->waiting_least =
			x.waiting < out->waiting_least ? x.waiting : out->waiting_least;
		out->waiting_most =
			x.waiting > out->waiting_most ? x.waiting : out->waiting_most;
		out->direct_least =
			x.direct < out->direct_least ? x.direct : out->direct_least;
		out->direct_most =
			x.direct > out->direct_most ? x.direct : out->direct_most;
		out->sent_least = fmin(out->sent_least, x.sent);
		out->sent_most = fmax(out->sent_most, x.sent);
	}
	return 0;
}

void fab_hang_settings(const struct fab_launch_params *p,
		       struct fab_hang_setting out[FAB_N_HANG_SETTINGS], double *least_s,
		       double *most_s)
{
	double slurmd_s = FAB_PARAM(p, slurmd_timeout_s);
	double pmix_s = FAB_PARAM(p, pmix_timeout_s);
	const struct fab_hang_setting all[FAB_N_HANG_SETTINGS] = {
		{"PMIxTimeout", "mpi.conf", pmix_s,
		 "a fence that takes longer fails, and MPI_Init; of a job SLURM_PMIX_TIMEOUT",
		 true},
		{"SlurmdTimeout", "slurm.conf", slurmd_s,
		 "a node that does not answer is set DOWN and its jobs end; 0: never",
		 true},
		{"MessageTimeout", "slurm.conf", FAB_PARAM(p, message_timeout_s),
		 "a message through the lost daemon fails, once for each level of the tree",
		 false},
		{"TCPTimeout", "slurm.conf", 2, "a connection to the node fails", false},
		{"TreeWidth", "slurm.conf", (double)NAN,
		 "wide trees have fewer daemons behind a lost one", false},
		{"KillOnBadExit", "slurm.conf", (double)NAN,
		 "a process that fails ends the step; a lost node does not", false},
		{"WaitTime", "slurm.conf", (double)NAN,
		 "counts from the end of the first process: none ends in a fence", false},
		{"KillWait", "slurm.conf", 30,
		 "between SIGTERM and SIGKILL at the time limit of the job", false},
		{"UnkillableStepTimeout", "slurm.conf", FAB_PARAM(p, unkillable_s),
		 "a process that SIGKILL does not end drains its node", false}};

	memcpy(out, all, sizeof(all));
	*least_s =
		fmin(pmix_s > 0 ? pmix_s : INFINITY, slurmd_s > 0 ? slurmd_s : INFINITY);
	*most_s = fmin(pmix_s > 0 ? pmix_s : INFINITY,
		       slurmd_s > 0 ? slurmd_s * 4 / 3 : INFINITY);
}
