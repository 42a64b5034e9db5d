/* SPDX-License-Identifier: BSD-2-Clause */
/* One line on the terminal that says how far the work is and how long it will take. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cli/cli.h"
#include "cli/internal.h"

struct fab_cli_progress {
	char *what, *unit;
	struct fab_progress_line line;
};

/* Threads of a sweep report by turns, while the first one is heard in between. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Is a progress line on the terminal? Messages must take it off first. */
static volatile int is_visible;

/* So long after a tick a command's own progress says more than the library's. */
static const double COVERED_SECONDS = 1.0;
/* Shorter phases are not shown. */
static const double SHOWN_SECONDS = 0.1;

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
	fab_progress_line_begin(&p->line, p->what, p->unit, 0, fab_now());
	return p;
}

/* Draw the line, if it is time to. */
static void show(struct fab_progress_line *line, uint64_t done, uint64_t total)
{
	char text[FAB_PROGRESS_BYTES];

	if (!fab_progress_line_text(line, fab_now(), done, total, text))
		return;
	fprintf(stderr, "\r%s\033[K", text);
	is_visible = 1;
}

/*
 * Phases that the library reports where no progress of a command has ticked within a
 * second: each is timed from its first report, and again from the beginning when it
 * begins anew. The first second without a line is that of all of them together.
 */
static struct {
	const char *name; /* NULL: none yet */
	double covered;	  /* until then a command's own progress says more */
	uint64_t last;	  /* that was done */
	struct fab_progress_line line;
} phase;

static void hear(void *context, const char *name, const char *unit, uint64_t done,
		 uint64_t total)
{
	(void)context;
	pthread_mutex_lock(&lock);
	if (phase.name != name || done < phase.last) {
		double next = phase.line.next, now = fab_now();

		fab_progress_line_begin(&phase.line, name, unit, done, now);
		if (phase.name)
			phase.line.next = fmax(next, now + SHOWN_SECONDS);
	}
	phase.name = name;
	phase.last = done;
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
	phase.covered = fab_now() + COVERED_SECONDS;
	show(&((struct fab_cli_progress *)progress)->line, done, total);
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
