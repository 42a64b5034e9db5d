/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes of fabrics that a test builds by hand. */
#pragma once

#include "fabric/builder.h"

#include <string.h>

/* Its number; n_ports 0: 36 of a switch, 2 of others. */
static inline uint32_t test_node(struct fab_builder *b, enum fab_node_kind kind,
				 uint64_t guid, uint32_t n_ports, const char *name)
{
	const uint16_t preset = kind == FAB_SWITCH ? 36 : 2;
	const struct fab_node_spec spec = {.kind = kind,
					   .guid = guid,
					   .n_ports =
						   n_ports ? (uint16_t)n_ports : preset,
					   .name = name,
					   .name_len = strlen(name)};

	return fab_builder_add_node(b, &spec);
}
