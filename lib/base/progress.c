/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/units.h"

static _Thread_local fab_progress_listener *heard_by;
static _Thread_local void *heard_with;

static const double FIRST_SECONDS = 1.0, STEP_SECONDS = 0.1;

void fab_progress_listen(fab_progress_listener *listener, void *context)
{
	heard_by = listener;
	heard_with = context;
}

void fab_progress_report(const char *phase, const char *unit, uint64_t done,
			 uint64_t total)
{
	if (heard_by)
		heard_by(heard_with, phase, unit, done, total);
}

void fab_progress_line_begin(struct fab_progress_line *line, const char *what,
			     const char *unit, uint64_t first, double now)
{
	*line = (struct fab_progress_line){what, unit, now, now + FIRST_SECONDS, first};
}

/* "413", of bytes "12.3 MB" */
static char *count_text(const struct fab_progress_line *line, uint64_t n, char *out)
{
	if (!strcmp(line->unit, "bytes"))
		return fab_human_bytes(n, out);
	snprintf(out, FAB_HUMAN_BYTES, "%" PRIu64, n);
	return out;
}

bool fab_progress_line_text(struct fab_progress_line *line, double now, uint64_t done,
			    uint64_t total, char *out)
{
	char n[FAB_HUMAN_BYTES], all[FAB_HUMAN_BYTES], took[FAB_HUMAN_BYTES];
	char left[FAB_HUMAN_BYTES] = "";
	double spent = now - line->start;
	const char *unit = strcmp(line->unit, "bytes") ? line->unit : "";
	const char *blank = *unit ? " " : "";

	if (now < line->next)
		return false;
	line->next = now + STEP_SECONDS;
	count_text(line, done, n);
	fab_human_seconds(spent, took);
	if (!total) {
		snprintf(out, FAB_PROGRESS_BYTES, "%s %s%s%s  %s", line->what, n, blank,
			 unit, took);
		return true;
	}
	if (done > line->first && done <= total)
		fab_human_seconds(spent * (double)(total - done) /
					  (double)(done - line->first),
				  left);
	snprintf(out, FAB_PROGRESS_BYTES, "%s %3.0f%% (%s/%s%s%s)  %s%s%s%s", line->what,
		 100.0 * (double)done / (double)total, n, count_text(line, total, all),
		 blank, unit, took, *left ? ", ~" : "", left, *left ? " left" : "");
	return true;
}

double fab_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
