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

/* The first metric of which less or more is better, of all algorithms. */
void compare_show_answer(struct fab_report *r, const struct fab_store_runs *runs,
			 const struct compare_item *item)
{
	const struct fab_store_run *run = item->run;
	const struct fab_store_kind *kind = NULL;
	const struct fab_store_result *best = NULL;
	double least = NAN;

	fab_report_answer(
		r, FAB_TONE_PLAIN, "Run %" PRIu64 " of %s: %s on %s, %zu result%s.",
		run->id, run->time, run->command, run->source ? run->source : "no fabric",
		run->n_results, run->n_results == 1 ? "" : "s");
	for (size_t k = 0; k < runs->n_kinds && !best; k++) {
		kind = &runs->kinds[k];
		for (size_t i = 0; kind->better && !kind->is_time && i < run->n_results &&
				   !strcmp(kind->command, run->command);
		     i++) {
			const struct fab_store_result *x = &run->results[i];
			double value = fab_store_number_get(x->metrics, x->n_metrics,
							    kind->name);

			if (!isnan(value) &&
			    (!best ||
			     (kind->better < 0 ? value < least : value > least))) {
				best = x;
				least = value;
			}
		}
	}
	if (best && run->n_results > 1 && !item->algorithm)
		fab_report_answer(r, FAB_TONE_PLAIN, "Best by %s: %s with %.4g.",
				  kind->name, best->algorithm, least);
}

void compare_diff_answer(struct fab_report *r, const struct compare_counts *counts)
{
	char better[FAB_HUMAN_BYTES], worse[FAB_HUMAN_BYTES], same[FAB_HUMAN_BYTES];

	fab_human_count(counts->better, better);
	fab_human_count(counts->worse, worse);
	fab_human_count(counts->same, same);
	if (!counts->better && !counts->worse && !counts->same)
		fab_report_answer(r, FAB_TONE_WARN,
				  "Nothing was compared: no metric with a better and a "
				  "worse is on both sides.");
	else
		fab_report_answer(r, counts->worse ? FAB_TONE_BAD : FAB_TONE_PLAIN,
				  "Beside the base %s metric%s became worse, %s better, "
				  "%s the same (times apart).",
				  worse, counts->worse == 1 ? "" : "s", better, same);
}

void compare_change_answer(struct fab_report *r, const char *verdict, const char *metric,
			   const char *algorithm, double base, double value)
{
	fab_report_answer(r, FAB_TONE_PLAIN, "Most %s: %s of %s, from %.6g to %.6g.",
			  verdict, metric, algorithm, base, value);
}
