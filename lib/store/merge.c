/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shards of a sweep as the run that they are together. First: do they belong to one
 * sweep, and is each of its shards there once? Then the numbers of all shards are sorted
 * by result, part and name; numbers of the same place are folded into one by a rule of
 * the metric. What follows from sums of trials is computed again.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "event/sweep.h"
#include "store/store.h"
#include "unicast/reliability.h"

enum { MAX_SHARDS = 1000000, NAMED = 8 };

/* Items of sweeps that can be merged. */
enum unit { SETS, TRIALS, BATCHES, PARTS, FENCES, POINTS, N_UNITS };
static const char *const units[N_UNITS] = {"sets of faults", "trials", "batches",
					   "parts",	     "fences", "points"};

struct merging {
	const struct fab_merge_part *parts; /* [n], by number of the shard */
	size_t n;
	const struct fab_store_kind *kinds;
	size_t n_kinds;
	enum unit unit;
	struct fab_arena *arena;
	struct fab_store_run *run;
};

typedef FAB_VEC(struct fab_store_detail) numbers;

static int check_sane(const struct fab_merge_part *p, struct fab_err *err)
{
	const struct fab_store_shard *s = p->run->shard;
	struct fab_shard part;

	if (!p->run->n_shard)
		return fab_fail(err, EINVAL, "%s: run %" PRIu64 " is no shard of a sweep",
				p->path, p->run->id);
	part = (struct fab_shard){s->number, s->count};
	if (s->number && s->number <= s->count && s->count <= MAX_SHARDS &&
	    s->count <= s->all_items && s->items == fab_shard_items(&part, s->all_items))
		return 0;
	return fab_fail(err, EINVAL,
			"%s: run %" PRIu64 " is shard %" PRIu64 " of %" PRIu64
			" with %" PRIu64 " of %" PRIu64 " items: the database is damaged",
			p->path, p->run->id, s->number, s->count, s->items, s->all_items);
}

static int check_alike(const struct fab_merge_part *a, const struct fab_merge_part *b,
		       struct fab_arena *arena, struct fab_err *err)
{
	const struct fab_store_shard *x = a->run->shard, *y = b->run->shard;
	const struct fab_store_run *p = a->run, *q = b->run;
#define NUMBER(format, value) fab_arena_format(arena, "%" format, value)
	const struct {
		const char *what, *of_a, *of_b;
	} facts[] = {
		{"command", p->command, q->command},
		{"version", p->version, q->version},
		{"arguments", x->job, y->job},
		{"unit", x->unit, y->unit},
		{"fabric", NUMBER("#018" PRIx64, p->fabric.fingerprint),
		 NUMBER("#018" PRIx64, q->fabric.fingerprint)},
		{"digest of the files", NUMBER(PRIx64, x->input),
		 NUMBER(PRIx64, y->input)},
		{"shards", NUMBER(PRIu64, x->count), NUMBER(PRIu64, y->count)},
		{"items", NUMBER(PRIu64, x->all_items), NUMBER(PRIu64, y->all_items)},
	};
#undef NUMBER

	for (size_t i = 0; i < FAB_COUNT(facts); i++)
		if (strcmp(facts[i].of_a, facts[i].of_b) != 0)
			return fab_fail(err, EINVAL,
					"%s: run %" PRIu64
					" is a shard of another sweep than run %" PRIu64
					" of %s: %s '%.120s', not '%.120s'",
					b->path, q->id, p->id, a->path, facts[i].what,
					facts[i].of_b, facts[i].of_a);
	return 0;
}

/* The part of each shard into at[count]; all must be there, once. */
static int place(const struct fab_merge_part *parts, size_t n, uint64_t count,
		 struct fab_merge_part *at, struct fab_err *err)
{
	FAB_AUTOFREE char *missing = NULL;
	size_t n_missing = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		const struct fab_store_run *run = parts[i].run;
		struct fab_merge_part *seen = &at[run->shard->number - 1];

		if (seen->run)
			return fab_fail(err, EINVAL,
					"%s: shard %" PRIu64 " of %" PRIu64
					" is there twice: run %" PRIu64
					" of %s and run %" PRIu64,
					parts[i].path, run->shard->number, count,
					seen->run->id, seen->path, run->id);
		*seen = parts[i];
	}
	for (uint64_t i = 0; i < count; i++)
		if (!at[i].run && n_missing++ < NAMED)
			fab_append(&missing, ", ", "%" PRIu64, i + 1);
	fab_append_rest(&missing, n_missing, NAMED);
	if (n_missing)
		rc = fab_fail(err, EINVAL,
			      "%s: shard%s %s of %" PRIu64
			      " of the sweep '%.200s' %s missing",
			      parts[0].path, n_missing == 1 ? "" : "s", missing, count,
			      parts[0].run->shard->job, n_missing == 1 ? "is" : "are");
	return rc;
}

static int disagree(const struct merging *m, const char *what, struct fab_err *err)
{
	return fab_fail(
		err, EINVAL,
		"%s: the shards of '%.200s' do not agree: %.64s differs or is in some of them only",
		m->parts[0].path, m->parts[0].run->shard->job, what);
}

static bool is_text_same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static bool is_number_same(double a, double b)
{
	return !(a < b) && !(a > b);
}

/* All shards must have the same facts, requests and algorithms. */
static int check_facts(const struct merging *m, struct fab_err *err)
{
	const struct fab_store_run *a = m->run;

	for (size_t i = 1; i < m->n; i++) {
		const struct fab_store_run *b = m->parts[i].run;
		bool is_alike = a->n_facts == b->n_facts && a->n_asked == b->n_asked &&
				a->n_results == b->n_results;

		for (size_t k = 0; is_alike && k < a->n_facts; k++)
			is_alike = !strcmp(a->facts[k].name, b->facts[k].name) &&
				   is_number_same(a->facts[k].value, b->facts[k].value);
		for (size_t k = 0; is_alike && k < a->n_asked; k++)
			is_alike = !strcmp(a->asked[k].name, b->asked[k].name) &&
				   is_text_same(a->asked[k].value, b->asked[k].value);
		for (size_t k = 0; is_alike && k < a->n_results; k++)
			is_alike =
				!strcmp(a->results[k].algorithm, b->results[k].algorithm);
		if (!is_alike)
			return disagree(m, "what was asked for", err);
	}
	return 0;
}

static bool is_one_of(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

/* How numbers of one place become one. */
enum rule {
	SUM,
	MAX,
	ALL,   /* one that is not true in a shard is not; unknown in one is unknown */
	SAME,  /* they must be */
	ONCE,  /* a part is in one shard only */
	FIRST, /* computed again later */
};

/* Of parts whose loss is tried, each in one shard: all shards have the whole result, and
 * each spent time. */
static enum rule rule_of_metric(const struct merging *m, const char *name)
{
	static const enum rule rules[] = {[FAB_MERGE_NONE] = SAME,
					  [FAB_MERGE_SUM] = SUM,
					  [FAB_MERGE_MAX] = MAX,
					  [FAB_MERGE_ALL] = ALL};

	for (size_t i = 0; i < m->n_kinds; i++)
		if (!strcmp(m->kinds[i].command, m->run->command) &&
		    !strcmp(m->kinds[i].name, name))
			return m->unit != PARTS	     ? rules[m->kinds[i].merge]
			       : m->kinds[i].is_time ? SUM
						     : SAME;
	return SAME;
}

static enum rule rule_of_detail(const struct merging *m, const char *name)
{
	static const char *const sums[] = {"trials", "hits", "unreachable_pairs", NULL};
	static const char *const follow[] = {"probability",
					     "low",
					     "high",
					     "unreachable_share",
					     "seconds_to_unreachable",
					     NULL};

	if (m->unit == SETS)
		return ONCE;
	if (m->unit == TRIALS && is_one_of(sums, name))
		return SUM;
	return m->unit == TRIALS && is_one_of(follow, name) ? FIRST : SAME;
}

/* Numbers of one place, into the first. false: they do not go together. */
static bool fold(enum rule rule, struct fab_store_detail *v, size_t n)
{
	double *out = &v[0].value;

	for (size_t i = 1; i < n; i++) {
		double x = v[i].value;

		if (rule == ONCE || (rule == SAME && !is_number_same(*out, x)))
			return false;
		*out = rule == SUM   ? *out + x
		       : rule == MAX ? fmax(*out, x)
		       : rule == ALL ? fmin(*out, x)
				     : *out;
	}
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct fab_store_detail *x = a, *y = b;

	FAB_ORDER_BY(x, y, position);
	return strcmp(x->name, y->name);
}

/* All numbers of a result, sorted, each place once. Metrics must be in all shards where
 * that matters, parts need not. */
static int fold_all(const struct merging *m, numbers *all, bool are_metrics,
		    struct fab_err *err)
{
	size_t n = 0;

	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), by_place);
	for (size_t from = 0, to; from < all->n; from = to) {
		struct fab_store_detail *v = &all->v[from];
		enum rule rule = are_metrics ? rule_of_metric(m, v->name)
					     : rule_of_detail(m, v->name);

		for (to = from; to < all->n && !by_place(&all->v[to], v); to++)
			if (!are_metrics && strcmp(all->v[to].part, v->part) != 0)
				return disagree(m, v->part, err);
		if (!fold(rule, v, to - from) ||
		    (are_metrics && to - from != m->n && (rule == SUM || rule == SAME)))
			return disagree(m, v->name, err);
		if (rule == ALL && v->value > 0 && to - from != m->n)
			v->value = NAN;
		all->v[n++] = *v;
	}
	all->n = n;
	return 0;
}

static struct fab_store_detail *find(struct fab_store_detail *v, size_t n,
				     const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].name, name))
			return &v[i];
	return NULL;
}

static uint64_t count_of(struct fab_store_detail *v, size_t n, const char *name)
{
	const struct fab_store_detail *d = find(v, n, name);

	return d && d->value >= 0 && d->value <= 0x1p53 ? (uint64_t)d->value : 0;
}

/* One part of trials, a number of faults: the probability and its interval. */
static void sum_up(struct fab_store_detail *v, size_t n)
{
	struct fab_reliability r = {.trials = count_of(v, n, "trials"),
				    .hits = count_of(v, n, "hits"),
				    .unreachable = count_of(v, n, "unreachable_pairs"),
				    .pairs = count_of(v, n, "pairs_per_trial")};
	const struct {
		const char *name;
		const double *value;
	} results[] = {{"probability", &r.probability},
		       {"low", &r.low},
		       {"high", &r.high},
		       {"unreachable_share", &r.share}};

	if (!r.trials || !r.pairs)
		return; /* exact: the same in all shards */
	fab_reliability_sum_up(&r);
	for (size_t i = 0; i < FAB_COUNT(results); i++) {
		struct fab_store_detail *d = find(v, n, results[i].name);

		if (d)
			d->value = *results[i].value;
	}
}

/* Numbers as metrics of the result; the numbers of one position. */
static void take_metrics(const struct merging *m, const numbers *all, uint64_t position,
			 struct fab_store_result *out)
{
	struct fab_store_number *v =
		FAB_ARENA_NEW(m->arena, all->n, struct fab_store_number);
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].position == position)
			v[n++] = (struct fab_store_number){all->v[i].name,
							   all->v[i].value};
	out->metrics = v;
	out->n_metrics = n;
}

static int merge_result(const struct merging *m, size_t k, struct fab_store_result *out,
			struct fab_err *err)
{
	bool ends_in_result = m->unit == TRIALS || m->unit == FENCES || m->unit == POINTS;
	numbers details = {0}, metrics = {0};
	int rc;

	for (size_t i = 0; i < m->n; i++) {
		const struct fab_store_result *r = &m->parts[i].run->results[k];

		for (size_t d = 0; d < r->n_details; d++)
			FAB_PUSH(&details, r->details[d]);
		for (size_t d = 0; d < r->n_metrics; d++)
			FAB_PUSH(&metrics,
				 ((struct fab_store_detail){0, "", r->metrics[d].name,
							    r->metrics[d].value}));
	}
	rc = fold_all(m, &details, false, err);
	if (!rc && m->unit == TRIALS) {
		const struct fab_store_run *run = m->run;
		double mtbf =
			fab_store_number_get(run->facts, run->n_facts, "mtbf_seconds");
		double leaves = fab_store_number_get(run->facts, run->n_facts, "leaves");
		struct fab_store_detail *time =
			find(details.v, details.n, "seconds_to_unreachable");
		double *probability = FAB_ARENA_NEW0(m->arena, details.n + 2, double);
		uint32_t j = 0;
		bool is_whole;

		/* Values derived from the trials of all shards: of each part, and the
		 * mean time in the last part, which follows from the probabilities of
		 * all. */
		for (size_t from = 0, to; from < details.n; from = to) {
			for (to = from;
			     to < details.n &&
			     details.v[to].position == details.v[from].position;)
				to++;
			sum_up(details.v + from, to - from);
		}
		for (size_t i = 0; i < details.n; i++)
			if (!strcmp(details.v[i].name, "probability"))
				probability[++j] = details.v[i].value;
		/* without trials all is exact, and what is in the file stays */
		if (find(details.v, details.n, "trials") && time && mtbf > 0 &&
		    leaves >= 1 && leaves < 0x1p32)
			time->value = fab_time_to_unreachable(
				probability, j, (uint32_t)leaves, mtbf, &is_whole);
	}
	/* of these the numbers of the last part are those of the result */
	if (!rc && ends_in_result && details.n)
		take_metrics(m, &details, details.v[details.n - 1].position, out);
	if (!rc && !ends_in_result)
		rc = fold_all(m, &metrics, true, err);
	if (!rc && !ends_in_result)
		take_metrics(m, &metrics, 0, out);
	out->details = details.v;
	out->n_details = details.n;
	fab_arena_own(m->arena, free, details.v);
	free(metrics.v);
	return rc;
}

FAB_ORDER(by_batch, struct fab_store_batch, position)

static int merge_all(struct merging *m, struct fab_err *err)
{
	const char *unit = m->run->shard->unit;
	struct fab_store_result *results;
	int rc = check_facts(m, err);
	struct fab_store_run *run = m->run;
	char *hosts;

	while (m->unit < N_UNITS && strcmp(units[m->unit], unit) != 0)
		m->unit++;
	if (!rc && m->unit == N_UNITS)
		rc = fab_fail(err, EINVAL,
			      "%s: this program cannot merge shards of '%.40s'",
			      m->parts[0].path, unit);
	if (rc)
		return rc;
	/* Hosts that computed, each once; a label that all have; the end of the last one.
	 */
	hosts = fab_strdup(run->host);
	for (size_t i = 1; i < m->n; i++) {
		const struct fab_store_run *other = m->parts[i].run;
		bool is_new = true;

		if (strcmp(other->time, run->time) > 0)
			run->time = other->time;
		if (!is_text_same(run->label, other->label))
			run->label = NULL;
		for (size_t k = 0; k < i && is_new; k++)
			is_new = strcmp(m->parts[k].run->host, other->host) != 0;
		if (is_new)
			fab_append(&hosts, ",", "%s", other->host);
	}
	fab_arena_own(m->arena, free, hosts);
	run->host = hosts;
	run->arguments = m->parts[0].run->shard->job;
	run->shard = NULL;
	run->n_shard = 0;
	run->batches = NULL;
	run->n_batches = 0;
	run->kinds = m->kinds;
	run->n_kinds = m->n_kinds;
	if (m->unit == BATCHES) {
		const struct fab_store_shard *s = m->parts[0].run->shard;
		size_t last = (size_t)((s->all_items - 1) % s->count);
		FAB_VEC(struct fab_store_batch) all = {0};

		/* The batches of all; the results are those of the largest batch, which
		 * is the last. */
		m->run->results = m->parts[last].run->results;
		for (size_t i = 0; i < m->n; i++)
			for (size_t k = 0; k < m->parts[i].run->n_batches; k++)
				FAB_PUSH(&all, m->parts[i].run->batches[k]);
		fab_arena_own(m->arena, free, all.v);
		if (all.n)
			qsort(all.v, all.n, sizeof(*all.v), by_batch);
		for (size_t i = 1; i < all.n; i++)
			if (all.v[i].position == all.v[i - 1].position)
				return disagree(m, all.v[i].name, err);
		m->run->batches = all.v;
		m->run->n_batches = all.n;
		return 0;
	}
	results = FAB_ARENA_NEW0(m->arena, m->run->n_results, struct fab_store_result);
	for (size_t k = 0; k < m->run->n_results && !rc; k++) {
		results[k].algorithm = m->run->results[k].algorithm;
		rc = merge_result(m, k, &results[k], err);
	}
	m->run->results = results;
	return rc;
}

int fab_store_merge(const struct fab_merge_part *parts, size_t n,
		    const struct fab_store_kind *kinds, size_t n_kinds,
		    struct fab_arena *arena, struct fab_store_run *out,
		    struct fab_err *err)
{
	int rc = n ? 0 : fab_fail(err, EINVAL, "there are no shards to merge");
	struct fab_merge_part *at;
	struct merging m;

	for (size_t i = 0; i < n && !rc; i++) {
		rc = check_sane(&parts[i], err);
		if (!rc)
			rc = check_alike(&parts[0], &parts[i], arena, err);
	}
	if (rc)
		return rc;
	at = FAB_ARENA_NEW0(arena, parts[0].run->shard->count, struct fab_merge_part);
	rc = place(parts, n, parts[0].run->shard->count, at, err);
	if (rc)
		return rc;
	*out = *at[0].run;
	m = (struct merging){at, n, kinds, n_kinds, SETS, arena, out};
	return merge_all(&m, err);
}
