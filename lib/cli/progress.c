/* SPDX-License-Identifier: BSD-2-Clause */
/* One line on the terminal that says how far the work is and how long it will take. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/internal.h"

struct fab_cli_progress {
	char *what, *unit;
	double start, next; /* seconds on the clock */
};

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

int fab_cli_progress_tick(void *progress, uint64_t done, uint64_t total)
{
	struct fab_cli_progress *p = progress;
	char line[160];
	double now, spent;
	int n;

	if (!p)
		return 0;
	now = fab_now();
	if (now < p->next)
		return 0;
	p->next = now + STEP_SECONDS;
	spent = now - p->start;
	n = snprintf(line, sizeof(line),
		     "%s %3.0f%% (%" PRIu64 "/%" PRIu64 " %s)  %.1f s", p->what,
		     total ? 100.0 * (double)done / (double)total : 0.0, done, total,
		     p->unit, spent);
	if (done && done <= total && n > 0 && (size_t)n < sizeof(line))
		snprintf(line + n, sizeof(line) - (size_t)n, ", ~%.1f s left",
			 spent * (double)(total - done) / (double)done);
	fprintf(stderr, "\r%s\033[K", line);
	is_visible = 1;
	return 0;
}

void fab_cli_progress_free(struct fab_cli_progress *progress)
{
	if (!progress)
		return;
	fab_cli_progress_hide();
	free(progress->what);
	free(progress->unit);
	free(progress);
}
