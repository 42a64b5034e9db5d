/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/jobs.h"

#include <math.h>

/* Slowdown from which on a job counts as slowed. */
static const double SLOWED = 1.01;

struct fab_cli_job fab_cli_job_row(const char *by, const struct fab_job *job,
				   const struct fab_job_times *times, uint32_t k,
				   double unit)
{
	const struct fab_job_times *x = &times[k];
	bool is_done = !x->unfinished;
	struct fab_cli_job row = {
		.by = by,
		.number = k + 1,
		.traffic = job[k].traffic,
		.hosts = job[k].n,
		.unfinished = x->unfinished,
		.alone = is_done ? (double)x->alone / unit : NAN,
		.together = is_done ? (double)x->together / unit : NAN,
		.slowdown = is_done && x->alone ? (double)x->together / (double)x->alone
						: NAN,
		.with = NAN,
		.runs = 1};

	row.least = row.most = row.slowdown;
	if (x->slowed_by == FAB_NONE || !is_done)
		return row;
	row.slowed_by = job[x->slowed_by].traffic;
	row.slowed_by_number = x->slowed_by + 1;
	row.with = (double)x->with / unit;
	return row;
}

static double mean(double of_n, double one, uint64_t n)
{
	return (of_n * (double)n + one) / (double)(n + 1);
}

void fab_cli_job_add(struct fab_cli_job *to, const struct fab_cli_job *run)
{
	uint64_t n = to->runs;

	if (!n) {
		*to = *run;
		return;
	}
	to->alone = mean(to->alone, run->alone, n);
	to->together = mean(to->together, run->together, n);
	to->with = mean(to->with, run->with, n);
	to->slowdown = to->together / to->alone;
	to->least = run->slowdown < to->least ? run->slowdown : to->least;
	to->most = run->slowdown > to->most ? run->slowdown : to->most;
	if (run->unfinished > to->unfinished)
		to->unfinished = run->unfinished;
	if (run->slowed_by_number != to->slowed_by_number) { /* by chance */
		to->slowed_by = NULL;
		to->slowed_by_number = 0;
		to->with = NAN;
	}
	to->runs++;
}

/* The job that is slowed most, of several runs: in all of them, in none, or undecided. */
static void say_runs(struct fab_report *r, struct fab_arena *arena,
		     const struct fab_cli_job *x, bool has_others, double most,
		     const char *(*text_of)(void *context, double time), void *context)
{
	unsigned long long number = x->number, runs = x->runs;
	const char *together = text_of(context, x->together);
	const char *alone = text_of(context, x->alone);

	if (most < SLOWED)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s: no job slows another by more than 1 %% in any of %llu runs: job %llu most, %s together, %s alone on average.",
			x->by, runs, number, together, alone);
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s: %sjob %llu (%s) is slowed most: on average %s together, %.2f times as long as the %s alone, %.2f to %.2f times over %llu runs%s.",
			x->by,
			x->least < SLOWED ? "undecided whether jobs slow each other: "
					  : "",
			number, x->traffic, together, x->slowdown, alone, x->least,
			x->most, runs,
			x->slowed_by && has_others
				? fab_arena_format(
					  arena, "; most by job %llu (%s)",
					  (unsigned long long)x->slowed_by_number,
					  x->slowed_by)
				: "");
}

void fab_cli_say_jobs(struct fab_report *r, struct fab_arena *arena,
		      const struct fab_cli_job *x, size_t n, bool has_load,
		      const char *(*text_of)(void *context, double time), void *context)
{
	const struct fab_cli_job *most = x;
	double greatest = 0;

	for (size_t k = 0; k < n; k++) {
		if (x[k].unfinished)
			fab_report_answer(
				r, FAB_TONE_BAD,
				"%s: job %zu (%s) is not finished: in one of its runs not all packets have arrived.",
				x->by, k + 1, x[k].traffic);
		if (x[k].slowdown > most->slowdown || isnan(most->slowdown))
			most = &x[k];
		greatest = x[k].most > greatest ? x[k].most : greatest;
	}
	if (isnan(most->slowdown))
		return;
	if (n == 1)
		fab_report_answer(
			r, FAB_TONE_PLAIN, "%s: the job (%s) takes %s%s.", x->by,
			x->traffic, text_of(context, x->together),
			has_load
				? fab_arena_format(
					  arena,
					  " with the load, %.2f times as long as the %s without",
					  x->slowdown, text_of(context, x->alone))
				: "");
	else if (most->runs > 1)
		say_runs(r, arena, most, n > 2, greatest, text_of, context);
	else if (most->slowdown < SLOWED)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s: no job slows another by more than 1 %%: job %llu most, %s together, %s alone.",
			x->by, (unsigned long long)most->number,
			text_of(context, most->together), text_of(context, most->alone));
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s: job %llu (%s) is slowed most: %s together, %.2f times as long as the %s alone%s.",
			x->by, (unsigned long long)most->number, most->traffic,
			text_of(context, most->together), most->slowdown,
			text_of(context, most->alone),
			n > 2 ? fab_arena_format(
					arena, "; most by job %llu (%s): %.2f times",
					(unsigned long long)most->slowed_by_number,
					most->slowed_by, most->with / most->alone)
			      : "");
}
