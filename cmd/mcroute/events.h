/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-mcroute --events: groups that are made and given up by the clock of a trace. */
#pragma once

#include "cli/cli.h"
#include "mcast/route.h"

/* --events FILE, --events-pattern SPEC and what belongs to them. */
struct mcroute_events {
	const char *path, *pattern, *out; /* NULL: not given */
	uint64_t compute_ns, timeout_ns, poll_ns, notify_ns;
	double loss;
};

/* What the command was asked for besides. */
struct mcroute_events_job {
	const struct fab_fabric *f;
	const struct fab_mcast_engine *const *engines;
	size_t n_engines;
	enum fab_root_ties root_ties;
	const struct fab_cli_run *run;
	const struct fab_cli_output *output;
};

/* Columns of the main table. */
extern const struct fab_column mcroute_events_columns[];
extern const size_t mcroute_events_n_columns;

/* Is there a trace? */
bool mcroute_events_given(const struct mcroute_events *e);
/* Replay the trace by every engine in all behaviours and print it: the exit status. */
int mcroute_events_run(const struct mcroute_events *e,
		       const struct mcroute_events_job *job,
		       struct fab_err *err) FAB_MUST_CHECK;
