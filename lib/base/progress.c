/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/progress.h"

#include <stddef.h>

static _Thread_local fab_progress_listener *heard_by;
static _Thread_local void *heard_with;

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
