/* SPDX-License-Identifier: BSD-2-Clause */
/* Probabilities and their intervals, from the trials of all shards together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/merge_impl.h"
#include "unicast/reliability.h"

static bool is_one_of(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

bool fab_merge_is_sum_of_trials(const char *name)
{
	static const char *const names[] = {"trials", "hits", "unreachable_pairs", NULL};

	return is_one_of(names, name);
}

bool fab_merge_follows_from_trials(const char *name)
{
	static const char *const names[] = {"probability",
					    "low",
					    "high",
					    "unreachable_share",
					    "seconds_to_unreachable",
					    NULL};

	return is_one_of(names, name);
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

static void set(struct fab_store_detail *v, size_t n, const char *name, double value)
{
	struct fab_store_detail *d = find(v, n, name);

	if (d)
		d->value = value;
}

/* One part: a number of faults. */
static void sum_up(struct fab_store_detail *v, size_t n)
{
	struct fab_reliability r = {.trials = count_of(v, n, "trials"),
				    .hits = count_of(v, n, "hits"),
				    .unreachable = count_of(v, n, "unreachable_pairs"),
				    .pairs = count_of(v, n, "pairs_per_trial")};

	if (!r.trials || !r.pairs)
		return; /* exact: the same in all shards */
	fab_reliability_sum_up(&r);
	set(v, n, "probability", r.probability);
	set(v, n, "low", r.low);
	set(v, n, "high", r.high);
	set(v, n, "unreachable_share", r.share);
}

/* The mean time stands in the last part, and follows from the probabilities of all. */
static void add_time(const struct fab_merging *m, struct fab_store_detail *details,
		     size_t n)
{
	const struct fab_store_run *run = m->parts[0].run;
	double mtbf = fab_store_number_get(run->facts, run->n_facts, "mtbf_seconds");
	double leaves = fab_store_number_get(run->facts, run->n_facts, "leaves");
	struct fab_store_detail *time = find(details, n, "seconds_to_unreachable");
	double *probability = FAB_NEW0(n + 2, double);
	uint32_t k = 0;
	bool is_whole;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(details[i].name, "probability"))
			probability[++k] = details[i].value;
	if (time && mtbf > 0 && leaves >= 1 && leaves < 0x1p32)
		time->value = fab_time_to_unreachable(probability, k, (uint32_t)leaves,
						      mtbf, &is_whole);
	free(probability);
}

size_t fab_merge_trials(const struct fab_merging *m, struct fab_store_detail *details,
			size_t n)
{
	bool has_trials = false;

	for (size_t from = 0, to; from < n; from = to) {
		for (to = from; to < n && details[to].position == details[from].position;
		     to++)
			has_trials |= !strcmp(details[to].name, "trials");
		sum_up(details + from, to - from);
	}
	if (has_trials) /* else all is exact, and what is in the file stays */
		add_time(m, details, n);
	return n;
}
