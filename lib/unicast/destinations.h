/* SPDX-License-Identifier: BSD-2-Clause */
/* The LIDs of a fabric that tables lead to, in the order in which OpenSM routes them. */
#pragma once

#include "unicast/routes.h"

struct fab_destination {
	uint32_t port, sw; /* end port; the switch at which packets leave */
	uint32_t offset;   /* LID counted from the port's first */
	uint32_t column;   /* by port, then offset: what tables by LID have */
};

/*
 * All LIDs of live ends: port 0 of switches, and ports of adapters whose cable and switch
 * are alive. First the first LID of each port, then the second of each that has several:
 * ports of adapters by switch (most of them first, then by GUID as it lies on the wire),
 * then by port number; switches by GUID. Source: OpenSM 3.3, its unicast manager. The
 * caller frees *out. Returns how many. O(ports log ports).
 */
uint32_t fab_destinations(const struct fab_fabric *f, const struct fab_faults *faults,
			  struct fab_destination **out);

/*
 * Destinations of engines with a column a switch: sound leaf switches of a kfat, or
 * without one the sound switches with hosts, ascending; sw_of[n_switches]. Returns how
 * many. O(switches + cables).
 */
struct fab_kfat;
uint32_t fab_destination_switches(const struct fab_fabric *f,
				  const struct fab_faults *faults,
				  const struct fab_kfat *kfat, uint32_t *sw_of);
