/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mechanisms of the survey (launch/stages.h) side by side: what its tables compare,
 * computed for one job. Exchange of addresses, encodings, locks of a node's store,
 * detectors of failures, and managers by the tree or ring of their daemons.
 */
#pragma once

#include "launch/detector.h"
#include "launch/stages.h"

struct fab_mechanism {
	const char *topic; /* exchange, encoding, store, detection, manager */
	const char *name, *what;
	/* Of exchange, encoding and manager the start; of store a Get; of detection one
	 * failure. NaN: it cannot run this job. */
	double seconds;
	/* Of a start, seconds less than by `base`; NaN: not of this topic. */
	double saved_s;
	double bytes; /* contribution of a node to the exchange; NaN: not of this topic */
	double memory_bytes; /* of a node: all contributions, or locks */
	const char *risk;    /* NULL: none is known */
};
struct fab_mechanisms {
	struct {
		struct fab_mechanism *v;
		size_t n;
	} rows;
	double base_s; /* the start by `base` */
};
/*
 * Mechanisms for a job: `base` by PMIx and with the full wire-up, its fence by formula;
 * `d` its detector. Trees of managers: Slurm by tree_width, ORTE 64 (its routed_radix,
 * assumed), Hydra flat, MPD a ring, Gforker one node. All is in `memory`. Errors: those
 * of fab_stages_run() and fab_detector_risks(). O(30 stages).
 */
int fab_launch_mechanisms(struct fab_arena *memory, const struct fab_launch_start *base,
			  const struct fab_detector *d, struct fab_mechanisms *out,
			  struct fab_err *err) FAB_MUST_CHECK;
