/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rates of TCP-like transfers: max-min fair rates by progressive filling over the real
 * paths, followed through time as nodes start, finish and free bandwidth.
 */
#pragma once

#include "boot/share.h"

struct fab_transfer_options {
	uint64_t image_bytes;	/* all files together; of nodes with the largest image */
	uint32_t n_files;	/* requested in sequence; at least 1 */
	double request_seconds; /* round trips of a request; all of them before the data
				 */
	double stagger_seconds; /* node i of the batch starts at i * stagger */
	/*
	 * A node without its image timeout_seconds after its request gives up, loses what
	 * it has, and asks again (with the time of its requests), `retries` times; 0: it
	 * waits for ever.
	 */
	double timeout_seconds;
	uint32_t retries;
};

struct fab_transfer {
	double *finish_s; /* [batch->n]; INFINITY: it gave up */
	double first_s, median_s, last_s;
	uint32_t slowest_node;	/* finishes last */
	uint64_t n_retries;	/* requests made again */
	uint32_t n_failed;	/* nodes that gave up for good */
	uint64_t n_events;	/* times at which rates changed */
	double first_rate_mbps; /* least rate of a node when all run at once */
};

/* Rate of one TFTP transfer: window blocks per round trip. O(1). */
double fab_transfer_tftp_mbps(uint32_t block_bytes, uint32_t window_blocks,
			      double rtt_seconds);

/*
 * Simulate. An event computes only the rates that it changes. Times closer than 1e-9 of
 * each other are one event. EINVAL as fab_share_of(); ELOOP: rates that do not settle (no
 * case is known). The caller frees *out. O(events * (levels + groups whose rate changes)
 * * log), without classes that change their group.
 */
int fab_transfer_run(const struct fab_machine *m, const struct fab_batch *batch,
		     const uint32_t *interface_of,
		     const struct fab_transfer_options *options, struct fab_transfer *out,
		     struct fab_err *err) FAB_MUST_CHECK;
void fab_transfer_fini(struct fab_transfer *t);

/* The largest image in Mbit. O(1). */
double fab_transfer_image_mbit(const struct fab_transfer_options *options);

/* Seconds by the equal-share model: requests, then the image at the bandwidth of the
 * slowest node. O(1). */
double fab_transfer_equal_share_seconds(const struct fab_share *share,
					const struct fab_transfer_options *options);

/*
 * May the end by max-min be another one than by equal shares: do nodes start late, wait
 * for a connection, give up, or load images of several sizes? Otherwise the nodes on the
 * tightest segment share it until all of them are done, so that both models have the same
 * end. O(1).
 */
bool fab_transfer_is_timed(const struct fab_machine *m,
			   const struct fab_transfer_options *options);
