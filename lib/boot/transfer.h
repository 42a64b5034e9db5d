/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What TCP-like transfers get: max-min fair rates by progressive filling over the real
 * paths, followed through time as nodes start, finish and free bandwidth.
 */
#pragma once

#include "boot/share.h"

struct fab_transfer_options {
	uint64_t image_bytes; /* all files together */
	uint32_t n_files;     /* one request each, one after the other; at least 1 */
	double efficiency;    /* of the payload on the wire, 0 < e <= 1 (HTTP ~ 0.94) */
	double flow_cap_mbps; /* a single transfer gets no more: TFTP block * window / RTT
				 (fab_transfer_tftp_mbps), 0: none */
	double request_seconds;	     /* before each file: round trips of the request */
	double stagger_seconds;	     /* node i of the batch starts at i * stagger */
	double server_disk_mbps;     /* a server reads no faster; 0: no limit */
	uint32_t server_connections; /* at once; the others wait in order; 0: no limit */
	double timeout_seconds;	     /* a node that waited this long for a connection asks
					again      at the end of the queue after retry_seconds;
					0:      never */
	double retry_seconds;
};

struct fab_transfer {
	double *start_s, *finish_s; /* [batch->n] */
	double first_s, median_s, last_s;
	uint32_t slowest_node;
	uint32_t slowest_vertex;    /* the unit (parent's level of the nodes or above, see
				       level argument) that finishes last */
	uint32_t bottleneck_vertex; /* segment that held the last node back at its end */
	bool bottleneck_is_up;
	uint64_t n_events; /* times at which rates changed */
	uint64_t n_retries;
	double first_rate_mbps; /* least rate of any node when all run: the max-min
				   minimum */
};

/* block bytes * window blocks per round trip. */
double fab_transfer_tftp_mbps(uint32_t block_bytes, uint32_t window_blocks,
			      double rtt_seconds);

/*
 * Simulate. Nodes with the same path are one class. EINVAL as fab_share_of(); ERANGE when
 * nothing would ever finish. The caller ends *out. Deterministic.
 */
int fab_transfer_run(const struct fab_machine *m, const struct fab_batch *batch,
		     const uint32_t *interface_of,
		     const struct fab_transfer_options *options, struct fab_transfer *out,
		     struct fab_err *err) FAB_MUST_CHECK;
void fab_transfer_fini(struct fab_transfer *t);

/* Seconds by the equal-share model with the same options where they apply (efficiency,
 * flow cap, disk, request times): the paper's figure when they are neutral. */
double fab_transfer_equal_share_seconds(const struct fab_machine *m,
					const struct fab_batch *batch,
					const uint32_t *interface_of,
					const struct fab_share *share,
					const struct fab_transfer_options *options);
