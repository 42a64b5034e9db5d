/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Next action of the worker of the plug-in, and its time: decided from what the plug-in
 * knows, without OpenSM. Times are those of fab_now().
 */
#pragma once

#include "opensm/announced.h"
#include "opensm/audit.h"
#include "opensm/options.h"

enum fab_turn {
	FAB_TURN_WAIT,
	FAB_TURN_DRY_RUN, /* find trees for the log */
	FAB_TURN_READ,	  /* look for another file of announced groups */
	FAB_TURN_EXPIRE,  /* announced groups are out of time */
	FAB_TURN_CONFIRM, /* are those that were computed in the tables? */
	FAB_TURN_LOOK,	  /* have announced groups ended? */
	FAB_TURN_PUBLISH, /* write their states */
	FAB_TURN_AUDIT,	  /* compare the tables with all trees */
	FAB_TURN_BALANCE, /* a step */
	FAB_TURN_N,
};

/* The state of the plug-in. */
struct fab_turn_state {
	const struct fab_opensm_options *options;
	const struct fab_audit *audit;
	const struct fab_pace *pace;
	struct fab_announced *announced;
	bool is_dry_due;       /* dry-run: OpenSM's own trees were taken unchanged */
	bool has_found;	       /* trees that were found are not written yet */
	double written_at;     /* a tree, the last time; for FAB_TURN_CONFIRM */
	double at[FAB_TURN_N]; /* when each was done last; 0: never */
	double published_s;    /* how long writing the states took */
};

/* Action that is due now; else FAB_TURN_WAIT, and the seconds until something can be:
 * INFINITY, nothing as things are. O(1). */
enum fab_turn fab_turn_next(const struct fab_turn_state *s, double now, double *seconds);

/* A dry run is due when the subnet is up: once, and again when there are twice as many
 * groups as when one was logged. O(1). */
bool fab_turn_is_dry_run_due(uint32_t n_groups, uint32_t n_logged);
