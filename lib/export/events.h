/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces of requests as text: what --events-out writes (fabric-formats(5)). */
#pragma once

#include <stdio.h>

#include "mcast/events.h"

/*
 * A line a request, as fab_events_read() takes it: times in seconds with nine decimals,
 * members by the GUID of their port, or by the name of their node where they have none.
 * Names of groups are written in double quotes if they are not plain words. Fails with
 * the errno of the write. O(requests).
 */
int fab_export_events(FILE *out, const struct fab_fabric *f,
		      const struct fab_events *events,
		      struct fab_err *err) FAB_MUST_CHECK;
