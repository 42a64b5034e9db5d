/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-compare: the answers in words, before everything else. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "compare.h"

void compare_list_answer(struct fab_report *r, const struct fab_store_runs *runs)
{
	const struct fab_store_run *last;

	if (!runs->n) {
		fab_report_answer(r, FAB_TONE_PLAIN, "No runs are kept here.");
		return;
	}
	last = &runs->v[runs->n - 1];
	fab_report_answer(r, FAB_TONE_PLAIN, "%zu run%s; the last, %" PRIu64 ", of %s.",
			  runs->n, runs->n == 1 ? "" : "s", last->id, last->time);
}

/* The best of a metric's values; NaN: it says nothing of which algorithm to take. */
static double best_of(const struct fab_store_run *run, const struct fab_store_kind *kind)
{
	double best = NAN;
	bool differ = false;

	if (!kind->better || kind->is_time || strcmp(kind->command, run->command))
		return NAN;
	for (size_t i = 0; i < run->n_results; i++) {
		const struct fab_store_result *x = &run->results[i];
		double value = fab_store_number_get(x->metrics, x->n_metrics, kind->name);

		if (isnan(value))
			continue;
		differ |= !isnan(best) && (value < best || value > best);
		if (isnan(best) || (kind->better < 0 ? value < best : value > best))
			best = value;
	}
	return differ ? best : (double)NAN;
}

/* Half of the 95 % interval of a metric of a result, which another metric holds; 0: it
 * has none. */
static double half_interval(const struct fab_store_result *x, const char *metric)
{
	static const char *const of[][2] = {{"completion_us.mean", "completion_ci95"},
					    {"ratio_to_oracle", "ratio_ci95"},
					    {"behind_oracle_us", "behind_oracle_ci95"}};
	double half = NAN;

	for (size_t i = 0; i < FAB_COUNT(of); i++)
		if (!strcmp(metric, of[i][0]))
			half = fab_store_number_get(x->metrics, x->n_metrics, of[i][1]);
	return isnan(half) ? 0 : half;
}

static double value_of(const struct fab_store_result *x, const char *metric)
{
	return fab_store_number_get(x->metrics, x->n_metrics, metric);
}

/* Those that have the best value, or whose 95 % interval meets that of one that has it;
 * *is_close: there are such. On the heap. */
static char *best_names(const struct fab_store_run *run, const char *metric, double best,
			bool *is_close)
{
	double half = 0;
	char *names = NULL;

	for (size_t i = 0; i < run->n_results; i++)
		if (fabs(value_of(&run->results[i], metric) - best) <= 0)
			half = fmax(half, half_interval(&run->results[i], metric));
	for (size_t i = 0; i < run->n_results; i++) {
		const struct fab_store_result *x = &run->results[i];
		double apart = fabs(value_of(x, metric) - best);

		if (!(apart <= half + half_interval(x, metric)))
			continue;
		*is_close |= apart > 0;
		fab_append(&names, ", ", "%s", x->algorithm);
	}
	return names;
}

/* The first metric in which algorithms differ, and which is best by it; of several whose
 * intervals meet none is. */
static void answer_best(struct fab_report *r, const struct fab_store_runs *runs,
			const struct fab_store_run *run)
{
	double best = NAN;
	bool is_close = false;
	char *names;
	size_t k = 0;

	while (k < runs->n_kinds && isnan(best = best_of(run, &runs->kinds[k])))
		k++;
	if (isnan(best)) {
		if (run->n_results > 1)
			fab_report_answer(
				r, FAB_TONE_PLAIN,
				"They are alike by every metric (times apart).");
		return;
	}
	names = best_names(run, runs->kinds[k].name, best, &is_close);
	if (is_close)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "Undecided by %s: the 95 %% intervals of %s meet (best "
				  "%.4g).",
				  runs->kinds[k].name, names, best);
	else
		fab_report_answer(r, FAB_TONE_PLAIN, "Best by %s: %s with %.4g.",
				  runs->kinds[k].name, names, best);
	free(names);
}

void compare_show_answer(struct fab_report *r, const struct fab_store_runs *runs,
			 const struct compare_item *item)
{
	const struct fab_store_run *run = item->run;

	fab_report_answer(r, FAB_TONE_PLAIN,
			  "Run %" PRIu64 " of %s: %s on %s, %zu result%s.", run->id,
			  run->time, run->command,
			  run->fabric.source ? run->fabric.source : "no fabric",
			  run->n_results, run->n_results == 1 ? "" : "s");
	if (run->n_shard)
		fab_report_answer(r, FAB_TONE_WARN,
				  "It is shard %" PRIu64 " of %" PRIu64 ": %" PRIu64
				  " of %" PRIu64 " %s.",
				  run->shard->number, run->shard->count,
				  run->shard->items, run->shard->all_items,
				  run->shard->unit);
	if (!item->algorithm)
		answer_best(r, runs, run);
}

/* How far apart, of the larger; what becomes 0 or was 0 is 1. */
static double change_of(const struct compare_row *row)
{
	double larger = fmax(fabs(row->base), fabs(row->value));

	return larger > 0 ? fabs(row->value - row->base) / larger : 0;
}

/* The first of the largest changes of this verdict. */
static void answer_most(struct fab_report *r, const struct compare_rows *rows,
			enum compare_verdict verdict)
{
	const struct compare_row *most = NULL;
	char *base, *value;

	for (size_t i = 0; i < rows->of.n; i++) {
		const struct compare_row *row = &rows->of.v[i];

		if (row->verdict == verdict && !row->part && !row->kind->is_time &&
		    (!most || change_of(row) > change_of(most)))
			most = row;
	}
	if (!most)
		return;
	base = compare_value_text(most, most->base);
	value = compare_value_text(most, most->value);
	fab_report_answer(r, FAB_TONE_PLAIN, "Most %s: %s of %s, from %s to %s.",
			  compare_verdict_name(verdict), most->metric,
			  most->pair->other->algorithm, base, value);
	free(base);
	free(value);
}

static void answer_counts(struct fab_report *r, const struct compare_counts *c)
{
	char better[FAB_HUMAN_BYTES], worse[FAB_HUMAN_BYTES], same[FAB_HUMAN_BYTES];

	fab_human_count(c->better, better);
	fab_human_count(c->worse, worse);
	fab_human_count(c->same, same);
	if (!c->better && !c->worse && !c->same)
		fab_report_answer(r, FAB_TONE_WARN,
				  "Nothing was compared: no metric with a better and a "
				  "worse is on both sides.");
	else
		fab_report_answer(r, c->worse ? FAB_TONE_BAD : FAB_TONE_PLAIN,
				  "Beside the base %s metric%s became worse, %s better, "
				  "%s the same (times apart).",
				  worse, c->worse == 1 ? "" : "s", better, same);
}

void compare_diff_answer(struct fab_report *r, const struct compare_rows *rows)
{
	const struct compare_counts *p = &rows->parts;
	uint64_t vanished = rows->counts.vanished + p->vanished;
	char text[4][FAB_HUMAN_BYTES];

	answer_counts(r, &rows->counts);
	if (vanished)
		fab_report_answer(r, FAB_TONE_BAD,
				  "%s value%s of the base %s missing beside it.",
				  fab_human_count(vanished, text[0]),
				  vanished == 1 ? "" : "s", vanished == 1 ? "is" : "are");
	answer_most(r, rows, COMPARE_WORSE);
	answer_most(r, rows, COMPARE_BETTER);
	if (p->better || p->worse || p->same)
		fab_report_answer(r, p->worse ? FAB_TONE_BAD : FAB_TONE_PLAIN,
				  "Of the parts (sets of faults, batches, segments) %s "
				  "value%s became worse, %s better, %s the same.",
				  fab_human_count(p->worse, text[1]),
				  p->worse == 1 ? "" : "s",
				  fab_human_count(p->better, text[2]),
				  fab_human_count(p->same, text[3]));
}
