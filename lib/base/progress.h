/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far long work is, for whoever started it. The listener belongs to a thread: what
 * workers report is heard only where it is the listening thread that works, too, so that
 * results and their order are never touched.
 */
#pragma once

#include "base/macros.h"

/* `phase` ("distances") and `unit` ("switches") are static texts; done <= total. */
typedef void fab_progress_listener(void *context, const char *phase, const char *unit,
				   uint64_t done, uint64_t total);

/* From now on this thread listens, NULL: no more. `context` is borrowed. */
void fab_progress_listen(fab_progress_listener *listener, void *context);
/* Cheap when nobody listens; with a listener some 100 ns. */
void fab_progress_report(const char *phase, const char *unit, uint64_t done,
			 uint64_t total);
