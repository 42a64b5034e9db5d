/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP, TFTP, NFS and KickStart.
 *
 * http: iPXE 1.21, which announces a window of 256 KiB at most; 1448 bytes a frame with
 * time stamps; a handshake and a request.
 * tftp: RFC 1350, a block of 512 bytes at a time. tftp-1468: RFC 2348, the largest block
 * of a frame. tftp-window: RFC 7440, 16 of them.
 * nfs: Linux as client, which reads 128 KiB ahead (RHEL 8.3 on, Ubuntu 18.04 on); LOOKUP,
 * ACCESS and READ; a reply of 128 KiB has about 128 bytes of its own.
 * kickstart: packages by HTTP with Linux' TCP (tcp(7): tcp_rmem, half of 6 MiB), a
 * request each; 400 packages are assumed at least. What the node does with them is not
 * counted.
 */
#include "boot/service.h"

const struct fab_service fab_services[] = {
	{"http", 1448, 1538, 256 * 1024, 2, 1},
	{"tftp", 512, 582, 512, 1, 1},
	{"tftp-1468", 1468, 1538, 1468, 1, 1},
	{"tftp-window", 1468, 1538, 16 * 1468, 1, 1},
	{"nfs", 1447, 1538, 128 * 1024, 3, 1},
	{"kickstart", 1448, 1538, 3 * 1024 * 1024, 1, 400},
};
const size_t fab_n_services = FAB_COUNT(fab_services);

struct fab_service_time fab_service_time(const struct fab_service *s,
					 const struct fab_share *share,
					 const struct fab_transfer_options *options,
					 double efficiency, double round_trip_seconds)
{
	struct fab_service_time t = {
		.limit_mbps = s->window_bytes * 8e-6 / round_trip_seconds,
		.n_files = options->n_files > s->n_files ? options->n_files : s->n_files,
		.bandwidth_mbps = INFINITY};
	double part = 1; /* image of the slowest node */

	for (uint32_t i = 0; i < share->n_segments; i++) {
		const struct fab_share_segment *x = &share->segment[i];
		double mbps = x->share_mbps;

		if (x->level != FAB_NONE)
			mbps *= s->payload / (efficiency * s->wire);
		else if (x->name == fab_limit_name(FAB_LIMIT_TRANSFER))
			continue;
		if (mbps * part < t.bandwidth_mbps * x->part) {
			t.bandwidth_mbps = mbps;
			part = x->part;
		}
	}
	/* of the largest image */
	t.is_limited = t.limit_mbps * part < t.bandwidth_mbps;
	if (t.is_limited) {
		t.bandwidth_mbps = t.limit_mbps;
		part = 1;
	}
	t.seconds = t.n_files * s->trips * round_trip_seconds +
		    fab_transfer_image_mbit(options) * part / t.bandwidth_mbps;
	return t;
}
