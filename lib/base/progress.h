/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress of long work. The listener belongs to a thread: reports of other threads are
 * dropped, so that results and their order never change.
 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

/* Callback of long work with the amount done; non-zero stops it. One type for
 * all rooms. */
typedef int (*fab_progress_fn)(void *context, uint64_t done, uint64_t total);

/* `phase` ("distances") and `unit` ("switches", "bytes") are static texts; done <= total,
 * total 0: unknown. */
typedef void fab_progress_listener(void *context, const char *phase, const char *unit,
				   uint64_t done, uint64_t total);

/* From now on this thread listens, NULL: no more. `context` is borrowed. */
void fab_progress_listen(fab_progress_listener *listener, void *context);
/* Cheap without a listener; with one some 100 ns. */
void fab_progress_report(const char *phase, const char *unit, uint64_t done,
			 uint64_t total);

/*
 * A line for people about work that has begun at `start`, when `first` was done; seconds
 * are those of any clock. No line in the first second, and then at most ten a
 * second: `routing  62% (413/666 switches)  1.8 s, ~1.1 s left`. The rest takes as long
 * for each as what was done since; nothing is said of it before anything was done.
 */
struct fab_progress_line {
	const char *what, *unit; /* borrowed */
	double start, next;	 /* next: no line before */
	uint64_t first;
};

enum { FAB_PROGRESS_BYTES = 320 };

void fab_progress_line_begin(struct fab_progress_line *line, const char *what,
			     const char *unit, uint64_t first, double now);
/* Is it time for a line? Then it is in `out`, of FAB_PROGRESS_BYTES. */
bool fab_progress_line_text(struct fab_progress_line *line, double now, uint64_t done,
			    uint64_t total, char *out);

/* Seconds on the monotonic clock. */
double fab_now(void);
