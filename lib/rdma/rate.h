/* SPDX-License-Identifier: BSD-2-Clause */
/* State of the rate control of a transfer, and the steps of DCQCN, which need no network:
 * Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015. */
#pragma once

#include <stdint.h>

/* Rate control of a transfer. */
struct rdma_rate {
	/* sender */
	uint32_t sent, heard;	      /* transmissions; up to the latest one reported */
	uint64_t news;		      /* the last report, or the first packet in flight */
	uint64_t armed;		      /* UINT64_MAX: no */
	double alpha;		      /* moving average of marks */
	double window;		      /* packets */
	uint32_t round;		      /* transmission with which the round ends */
	uint32_t n_reports, n_marked; /* of the round */
	double share, target; /* of the rate of the cable: now, before it was lowered */
	uint64_t next;	      /* start of the next packet */
	uint64_t decay_at, raise_at; /* UINT64_MAX: never lowered */
	uint64_t bytes;
	uint32_t n_by_time, n_by_bytes; /* raises since it was lowered */
	/* receiver */
	uint64_t next_report;
	uint32_t pulls; /* packets that the sender was given */
};

/* A transfer that has not been slowed down; at most `cap` packets in flight at first.
 * O(1). */
void rdma_rate_init(struct rdma_rate *c, uint64_t cap);

/* Decay of alpha and raises of the rate by time, up to `now` (ps). O(time since). */
void rdma_dcqcn_advance(struct rdma_rate *c, uint64_t now);
/* Raise of the rate by bytes sent. O(1). */
void rdma_dcqcn_count(struct rdma_rate *c, uint32_t bytes);
/* Cut of the rate by a report at `now` (ps). O(1). */
void rdma_dcqcn_lower(struct rdma_rate *c, uint64_t now);
