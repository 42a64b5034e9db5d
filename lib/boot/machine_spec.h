/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/boot: machines whose levels are regular. */
#pragma once

#include "boot/machine_impl.h"

struct fab_machine_spec {
	uint32_t count[FAB_MACHINE_LEVELS_MAX]; /* in each of the level before */
	double capacity_mbps[FAB_MACHINE_LEVELS_MAX];
};

/* A level behind those there are. EINVAL: no name, there already, too many. */
int fab_machine_spec_add(struct fab_machine_builder *b, struct fab_machine_spec *spec,
			 const char *unit, size_t unit_len, uint32_t count,
			 double capacity_mbps, bool is_server, struct fab_err *err);
/* Make the vertices. EINVAL: too many, no nodes, no servers. O(vertices). */
int fab_machine_spec_grow(struct fab_machine_builder *b,
			  const struct fab_machine_spec *spec, struct fab_err *err);
