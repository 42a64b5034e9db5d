/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes of subnet management packets as they travel: 64 bytes, big endian. Offsets
 * from the InfiniBand specification, volume 1, chapter 14 (NodeInfo, PortInfo).
 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"
#include "fabric/fabric.h"

enum { FAB_SMP_BYTES = 64 };

/* Node types of NodeInfo. */
enum { FAB_SMP_ADAPTER = 1, FAB_SMP_SWITCH = 2, FAB_SMP_ROUTER = 3 };

static inline uint64_t fab_smp_be64(const uint8_t *p)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | p[i];
	return value;
}

static inline uint64_t fab_smp_system_guid(const uint8_t *node_info)
{
	return fab_smp_be64(node_info + 4);
}

static inline uint64_t fab_smp_port_guid(const uint8_t *node_info)
{
	return fab_smp_be64(node_info + 20);
}

static inline uint32_t fab_smp_device(const uint8_t *node_info)
{
	return (uint32_t)node_info[30] << 8 | node_info[31];
}

static inline uint32_t fab_smp_vendor(const uint8_t *node_info)
{
	return (uint32_t)node_info[37] << 16 | (uint32_t)node_info[38] << 8 |
	       node_info[39];
}

/* CapabilityMask, bit 14: extended speeds are supported. */
static inline bool fab_smp_has_ext_speeds(const uint8_t *port_info)
{
	return port_info[22] & 0x40;
}

/*
 * Active width and speed of a port. `has_ext` is what fab_smp_has_ext_speeds() says of
 * the port, for a switch of its port 0; `is_fdr10` comes from a vendor's attribute.
 */
void fab_smp_rate(const uint8_t *port_info, bool has_ext, bool is_fdr10, uint8_t *width,
		  uint8_t *speed);

/* Kind of model node of a NodeInfo type and description; false for an unknown type. */
bool fab_smp_kind(unsigned type, const char *name, size_t name_len,
		  enum fab_node_kind *kind);
