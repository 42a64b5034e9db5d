/* SPDX-License-Identifier: BSD-2-Clause */
/* Services that nodes load from: what of a cable, and of a round trip, each can use. */
#pragma once

#include "boot/transfer.h"

/*
 * A row of the table. Sizes are those of Ethernet with frames of 1500 bytes, which take
 * 1538 on the cable.
 */
struct fab_service {
	const char *name;
	uint32_t payload,
		wire;	       /* bytes of the image in a full frame, and all its bytes */
	uint32_t window_bytes; /* under way in one transfer */
	uint32_t trips;	       /* round trips of a file before its data */
	uint32_t n_files;      /* at least; of the image */
};
extern const struct fab_service fab_services[];
extern const size_t fab_n_services;

struct fab_service_time {
	double limit_mbps;     /* of one transfer: a window each round trip */
	double bandwidth_mbps; /* of the slowest node */
	double seconds;	       /* until it has its image */
	uint32_t n_files;
	bool is_limited; /* the window holds it back */
};

/* By the shares of a mapping, of cables that carry `efficiency` of their bytes as image
 * there; a limit of transfers is that of the service. O(levels). */
struct fab_service_time fab_service_time(const struct fab_service *service,
					 const struct fab_share *share,
					 const struct fab_transfer_options *options,
					 double efficiency, double round_trip_seconds);
