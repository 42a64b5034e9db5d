/* SPDX-License-Identifier: BSD-2-Clause */
/* One line on the terminal that says how far the work is and how long it will take. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cli/cli.h"
#include "cli/internal.h"

struct fab_cli_progress {
	char *what, *unit;
	double start, next; /* seconds on the clock */
	uint64_t first;	    /* what was done at the start */
};

/* Threads of a sweep report by turns, while the first one is heard in between. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Is a progress line on the terminal? Messages must take it off first. */
static volatile int is_visible;

static const double FIRST_SECONDS = 1.0, STEP_SECONDS = 0.1;

void fab_cli_progress_hide(void)
{
	if (!is_visible)
		return;
	is_visible = 0;
	fputs("\r\033[K", stderr);
}

struct fab_cli_progress *fab_cli_progress_new(const struct fab_cli_run *run,
					      const char *what, const char *unit)
{
	struct fab_cli_progress *p;

	if (run->quiet || !isatty(STDERR_FILENO))
		return NULL;
	p = FAB_NEW0(1, struct fab_cli_progress);
	p->what = fab_strdup(what);
	p->unit = fab_strdup(unit);
	p->start = fab_now();
	p->next = p->start + FIRST_SECONDS;
	return p;
}

/* Draw the line, if it is time to. */
static void show(struct fab_cli_progress *p, uint64_t done, uint64_t total)
{
	char line[256], took[FAB_HUMAN_BYTES], left[FAB_HUMAN_BYTES] = "";
	double now = fab_now(), spent = now - p->start;

	if (now < p->next)
		return;
	p->next = now + STEP_SECONDS;
	if (done > p->first && done <= total)
		fab_human_seconds(
			spent * (double)(total - done) / (double)(done - p->first), left);
	snprintf(line, sizeof(line), "%s %3.0f%% (%" PRIu64 "/%" PRIu64 " %s)  %s%s%s%s",
		 p->what, total ? 100.0 * (double)done / (double)total : 0.0, done, total,
		 p->unit, fab_human_seconds(spent, took), *left ? ", ~" : "", left,
		 *left ? " left" : "");
	fprintf(stderr, "\r%s\033[K", line);
	is_visible = 1;
}

/*
 * Phases that the library reports where no progress of a command has ticked within a
 * second: each is timed from its first report.
 */
static struct {
	const char *name; /* NULL: none yet */
	double covered;	  /* until then a command's own progress says more */
	struct fab_cli_progress line;
} phase;

static void hear(void *context, const char *name, const char *unit, uint64_t done,
		 uint64_t total)
{
	(void)context;
	pthread_mutex_lock(&lock);
	if (phase.name != name || done < phase.line.first) {
		phase.name = name;
		phase.line.start = fab_now();
		phase.line.next = phase.line.start + FIRST_SECONDS;
		phase.line.first = done;
	}
	phase.line.what = (char *)(uintptr_t)name;
	phase.line.unit = (char *)(uintptr_t)unit;
	if (fab_now() >= phase.covered)
		show(&phase.line, done, total);
	pthread_mutex_unlock(&lock);
}

void fab_cli_progress_listen(const struct fab_cli_run *run)
{
	if (!run->quiet && isatty(STDERR_FILENO))
		fab_progress_listen(hear, NULL);
}

int fab_cli_progress_tick(void *progress, uint64_t done, uint64_t total)
{
	if (!progress)
		return 0;
	pthread_mutex_lock(&lock);
	phase.covered = fab_now() + FIRST_SECONDS;
	show(progress, done, total);
	pthread_mutex_unlock(&lock);
	return 0;
}

void fab_cli_progress_free(struct fab_cli_progress *progress)
{
	if (!progress)
		return;
	fab_cli_progress_hide();
	phase.covered = 0;
	free(progress->what);
	free(progress->unit);
	free(progress);
}
